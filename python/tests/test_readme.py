"""The programs that the README shows run."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", README.read_text(), re.S)


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_program(number, tmp_path, monkeypatch):
    program = PROGRAMS[number]
    if "cupy" in program or "torch" in program:
        pytest.importorskip("cupy" if "cupy" in program else "torch")
    monkeypatch.chdir(tmp_path)
    exec(compile(program, f"README.md, program {number + 1}", "exec"), {})
