"""The programs that the README shows run, and so do the examples; each public name has one."""

import doctest
import re
import runpy
from pathlib import Path

import pytest
import segsparse

README = Path(__file__).parents[1] / "README.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", README.read_text(), re.S)


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_program(number, tmp_path, monkeypatch):
    program = PROGRAMS[number]
    if "cupy" in program or "torch" in program:
        pytest.importorskip("cupy" if "cupy" in program else "torch")
    monkeypatch.chdir(tmp_path)
    exec(compile(program, f"README.md, program {number + 1}", "exec"), {})


@pytest.mark.parametrize("path", sorted((README.parents[1] / "examples").glob("*.py")), ids=lambda path: path.name)
def test_example(path):
    runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize("name", segsparse.__all__)
def test_public_name_has_an_example(name):
    """Kinds of errors share that of Error. The examples run as doctests."""
    thing = getattr(segsparse, name)
    kind_of_error = isinstance(thing, type) and issubclass(thing, segsparse.Error) and thing is not segsparse.Error
    assert thing.__doc__ and (kind_of_error or doctest.DocTestParser().get_examples(thing.__doc__))
