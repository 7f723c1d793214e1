"""Errors, and the numbers and strings of callers: C gets them as they are, or they are refused by name."""

from __future__ import annotations

import ctypes
import operator
import os
from typing import Any


# ---- errors --------------------------------------------------------------------------------------------------------


class Error(Exception):
    """A call failed. Its text is the sentence of the library; `status` is the name of the status in C.

    >>> import segsparse
    >>> try:
    ...     segsparse.generate("none:3")
    ... except segsparse.Error as error:
    ...     print(error.status)
    LSP_ERR_ARGUMENT
    """

    status = "LSP_ERR"


class ArgumentError(Error, ValueError):
    """An argument makes no sense: sizes that do not match, an index out of range, an unknown name."""


class FormatError(Error, ValueError):
    """The input is malformed: a file, or arrays that form no matrix."""


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""


class OutOfMemoryError(Error, MemoryError):
    """Out of memory, or beyond the budget of the context."""


class DeviceError(Error, RuntimeError):
    """There is no such device, no driver, or the device failed."""


class UnsupportedError(Error, NotImplementedError):
    """A sensible request that the library does not offer."""


class RangeError(Error, OverflowError):
    """A size, an index or an integer value does not fit its type."""


class ConvergenceError(Error, ArithmeticError):
    """A solver ended before it reached its tolerance. `solution` holds its last iterate."""

    solution: Any = None


class CancelledError(Error):
    """The call was stopped by Context.cancel()."""


# ---- arguments that are no arrays ----------------------------------------------------------------------------------

INT = -2**31, 2**31 - 1  # what fits an int of C


def whole(name: str, value: Any, low: int = -2**63, high: int = 2**63 - 1) -> int:
    """A whole number for C, which would cut it to its type in silence."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} is {value!r}: a whole number is wanted") from None
    if not low <= number <= high:
        raise RangeError(f"{name} is {number}: it must be from {low} to {high}")
    return number


def real(name: str, value: Any) -> float:
    """A number for C."""
    try:
        return ctypes.c_double(value).value
    except TypeError:
        raise ArgumentError(f"{name} is {value!r}: a number is wanted") from None
    except OverflowError:
        raise RangeError(f"{name} is {value}: it is too large for a double") from None


def characters(name: str, value: Any) -> bytes:
    """A string or a path for C, which would cut it at NUL."""
    try:
        text = os.fsencode(value) if isinstance(value, (bytes, os.PathLike)) else value.encode(errors="surrogateescape")
    except (AttributeError, ValueError):
        raise ArgumentError(f"{name} is {value!r}: a string is wanted") from None
    if b"\0" in text:
        raise ArgumentError(f"{name} is {value!r}: it has a NUL within")
    return text


def pair(name: str, value: Any, low: int = -2**63, high: int = 2**63 - 1) -> tuple[int, int]:
    """Two whole numbers for C."""
    try:
        first, second = value
    except (TypeError, ValueError):
        raise ArgumentError(f"{name} is {value!r}: two whole numbers are wanted") from None
    return whole(name, first, low, high), whole(name, second, low, high)


def choose(names: dict[str, int], name: Any, what: str) -> int:
    """The number of a name."""
    if not isinstance(name, str) or name not in names:
        raise ArgumentError(f"no {what} has the name {name!r}: they are {', '.join(names)}")
    return names[name]
