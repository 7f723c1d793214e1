"""The header in ctypes is what a C compiler reads."""

import ctypes
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from segsparse import _header as h
from segsparse._library import lib

INCLUDE = Path(__file__).parents[2] / "include"
STRUCTS = {name: kind for name, kind in vars(h).items() if isinstance(kind, type)
           and issubclass(kind, ctypes.Structure) and name.startswith("lsp_")}
NUMBERS = {name: value for name, value in vars(h).items() if name.startswith("LSP_")}
TEXT = re.sub(r"/\*.*?\*/", " ", "".join(path.read_text() for path in sorted(INCLUDE.glob("libsparse/*.h"))
                                         if path.name != "unstable.h"), flags=re.S).replace("#define LSP_API", "")


def test_all_of_the_header_is_there():
    assert set(h.SIGNATURES) == set(re.findall(r"LSP_API [^;(]*?(\w+)\(", TEXT))
    assert set(STRUCTS) == set(re.findall(r"typedef struct \w+ \{[^}]*\} (\w+);", TEXT))
    assert set(NUMBERS) >= set(re.findall(r"\b(LSP_\w+)(?: = [^,}]*)?[,}]", " ".join(
        re.findall(r"enum \w* ?(\{[^}]*\})", re.sub(r"\s+", " ", TEXT)))))
    for name, (result, arguments) in h.SIGNATURES.items():
        function = getattr(lib, name)
        assert function.restype is result and function.argtypes == arguments


def test_sizes_offsets_and_numbers(tmp_path):
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler")
    lines = [f'    printf("{name} %zu\\n", sizeof({name}));' for name in STRUCTS]
    lines += [f'    printf("{name}.{member} %zu %zu\\n", offsetof({name}, {member}), sizeof((({name} *)0)->{member}));'
              for name, kind in STRUCTS.items() for member, _ in kind._fields_]
    lines += [f'    printf("{name} %lld\\n", (long long){name});' for name in NUMBERS]
    (tmp_path / "sizes.c").write_text("#include <libsparse.h>\n#include <stdio.h>\nint main(void) {\n"
                                      + "\n".join(lines) + "\n    return 0;\n}\n")
    subprocess.run([compiler, "-I", str(INCLUDE), str(tmp_path / "sizes.c"), "-o", str(tmp_path / "sizes")], check=True)
    told = subprocess.run([str(tmp_path / "sizes")], check=True, capture_output=True, text=True).stdout
    expected = [f"{name} {ctypes.sizeof(kind)}" for name, kind in STRUCTS.items()]
    expected += [f"{name}.{member} {getattr(kind, member).offset} {ctypes.sizeof(of)}"
                 for name, kind in STRUCTS.items() for member, of in kind._fields_]
    expected += [f"{name} {value}" for name, value in NUMBERS.items()]
    assert told.splitlines() == expected
