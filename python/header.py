"""Writes segsparse/_header.py, the public header of libsparse in ctypes: header.py INCLUDE OUTPUT.

Every enumerator, struct, type of callback and function of include/libsparse/*.h gets its name there. A pointer is a
c_void_p, `const char *` a c_char_p. tests/test_header.py compares the result with what a C compiler says.
"""

import re
import sys
from pathlib import Path

SCALARS = {
    "bool": "c_bool", "char": "c_char", "unsigned char": "c_ubyte", "int": "c_int", "unsigned": "c_uint",
    "int32_t": "c_int32", "int64_t": "c_int64", "uint64_t": "c_uint64", "size_t": "c_size_t", "double": "c_double",
    "void": "None",
}
ITEM = re.compile(
    r"typedef enum \w+ \{(?P<enumerators>[^}]*)\} (?P<enum>\w+);"
    r"|enum \{(?P<numbers>[^}]*)\};"
    r"|typedef struct (?P<struct>\w+) \{(?P<fields>[^}]*)\} \w+;"
    r"|typedef (?P<result>[\w ]+?\*?) ?\(\*(?P<callback>\w+)\)\((?P<taken>[^)]*)\);"
    r"|LSP_API (?P<returned>[\w ]+?\*?) ?(?P<function>\w+)\((?P<arguments>(?:[^()]|\([^()]*\))*)\);"
)


def ctype(text):
    """The ctypes name of a C type, without the name that it declares."""
    text = " ".join(word for word in text.replace("*", " * ").split() if word not in ("const", "struct"))
    if text == "char *":
        return "c_char_p"
    if "*" in text:
        return "c_void_p"
    return SCALARS.get(text, text)


def parameters(text):
    """The ctypes names of a list of parameters."""
    names = []
    for parameter in re.sub(r"\([^()]*\)\(", "*(", text).split(","):
        parameter = parameter.strip()
        if parameter in ("", "void"):
            continue
        if "[" in parameter or "(" in parameter:
            names.append("c_void_p")
        else:
            names.append(ctype(re.sub(r"\w+$", "", parameter)))
    return names


def fields(text):
    """(name, ctypes expression) of the members of a struct."""
    for member in filter(None, (part.strip() for part in text.split(";"))):
        function = re.match(r"(.+?)\(\*(\w+)\)\((.*)\)$", member)
        if function:
            types = [ctype(function[1]), *parameters(function[3])]
            yield function[2], f"CFUNCTYPE({', '.join(types)})"
            continue
        base = re.match(r"((?:const )?(?:unsigned char|struct \w+|\w+))\s*", member)
        for declared in member[base.end():].split(","):
            name, sizes = re.search(r"(\w+)\s*((?:\[[^]]*\])*)$", declared.strip()).groups()
            expression = ctype(base[1] + "*" * declared.partition("[")[0].count("*"))
            for size in re.findall(r"\[([^]]*)\]", sizes):
                expression = f"{expression} * ({size})"
            yield name, expression


def enumerators(text):
    last = "-1"
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = item.partition("=")
        last = value.strip() or f"{last} + 1"
        yield f"{name.strip()} = {last}"
        last = name.strip()


def translate(include):
    text = "".join(path.read_text() for path in ordered(include))
    lines = ['"""Made from the public header by header.py."""', "from ctypes import *", "", "SIGNATURES = {}"]
    lines += [f"{name} = {value}" for name, value in re.findall(r"^#define (LSP_\w+) (\d+)$", text, re.M)]
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^#.*(\\\n.*)*$", "", text, flags=re.M)
    text = re.sub(r"\s+", " ", text)
    for item in ITEM.finditer(text):
        if item["enum"]:
            lines += ["", f"{item['enum']} = c_int", *enumerators(item["enumerators"])]
        elif item["numbers"]:
            lines += enumerators(item["numbers"])
        elif item["struct"]:
            members = ", ".join(f'("{name}", {expression})' for name, expression in fields(item["fields"]))
            lines += ["", f"class {item['struct']}(Structure):", f"    _fields_ = [{members}]"]
        elif item["callback"]:
            types = ", ".join([ctype(item["result"]), *parameters(item["taken"])])
            lines.append(f"{item['callback']} = CFUNCTYPE({types})")
        else:
            types = ", ".join(parameters(item["arguments"]))
            lines.append(f"SIGNATURES[\"{item['function']}\"] = ({ctype(item['returned'])}, [{types}])")
    return "\n".join(lines) + "\n"


def ordered(include):
    """The headers that libsparse.h includes, each behind those that it includes."""
    done = []

    def add(path):
        if path not in done:
            for name in re.findall(r'#include "(?:libsparse/)?(\w+\.h)"', path.read_text()):
                add(Path(include) / "libsparse" / name)
            done.append(path)

    add(Path(include) / "libsparse.h")
    return done


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(translate(sys.argv[1]))
