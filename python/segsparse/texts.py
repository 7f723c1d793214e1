"""Suffix arrays of texts, and what is made of them."""

from __future__ import annotations

from ctypes import addressof, byref, c_int64
from typing import Any

import numpy as np

from . import _header as h
from ._arrays import INDEX, Array, beside, typestr_of, view
from ._context import current
from ._errors import ArgumentError
from ._families import family_of
from ._library import lib

_SYMBOLS = frozenset(("|u1", "<u2", "<u4"))


def _text(text: Any) -> tuple:
    """The struct of a text: bytes, str (as UTF-8), or an array of unsigned numbers of 1, 2 or 4 bytes."""
    if isinstance(text, str):
        text = text.encode()
    if isinstance(text, (bytes, bytearray, memoryview)):
        text = np.frombuffer(text, np.uint8)
    v = view(text, _SYMBOLS, "the text")
    family = family_of(v.array)
    struct = h.lsp_text(n=v.shape[0], symbol_bytes=v.itemsize, symbols=v.pointer,
                        where=int(family.ordinal is not None))
    struct.kept = v
    return struct, family


def suffix_array(text: Array, *, dtype: Any = None) -> Any:
    """The beginnings of all suffixes of a text, in their order. The text is bytes, str (as UTF-8) or an array.

    >>> import segsparse
    >>> segsparse.suffix_array("banana").tolist()
    [5, 3, 1, 0, 4, 2]
    """
    struct, family = _text(text)
    typestr = typestr_of(dtype or ("<i4" if struct.n < 2**31 else "<i8"))
    if typestr not in INDEX:
        raise ArgumentError(f"dtype is {np.dtype(typestr)}: int32 or int64 is wanted")
    result = family.empty((struct.n,), typestr)
    v = view(result)
    family.context().call(lib.lsp_suffix_array, byref(struct), None, v.type, v.pointer, None, size=10 * struct.n)
    family.finish()
    return result


def common_prefixes(text: Array, suffixes: Array) -> np.ndarray:
    """How many first symbols each suffix has in common with the one before it.

    >>> import segsparse
    >>> segsparse.common_prefixes("banana", segsparse.suffix_array("banana")).tolist()
    [0, 1, 3, 0, 0, 2]
    """
    struct, family = _text(text)
    s = beside(suffixes, INDEX, "suffixes", family, struct.n)
    result = family.empty((struct.n,), s.typestr)
    family.context().call(lib.lsp_suffix_lcp, byref(struct), s.type, s.pointer, view(result).pointer, size=struct.n)
    family.finish()
    return result


def find(text: Array, suffixes: Array, pattern: Array) -> np.ndarray:
    """Where a pattern occurs in the text, in the order of the suffix array.

    >>> import segsparse
    >>> sorted(segsparse.find("banana", segsparse.suffix_array("banana"), "ana").tolist())
    [1, 3]
    """
    struct, family = _text(text)
    wanted, other = _text(pattern)
    s = beside(suffixes, INDEX, "suffixes", family, struct.n)
    if not family.ordinal is other.ordinal is None:
        raise ArgumentError("text, suffixes and pattern are searched on the host")
    starts = (c_int64 * 2)(0, wanted.n)
    patterns = h.lsp_text(n=wanted.n, symbol_bytes=wanted.symbol_bytes, symbols=wanted.symbols, strings=1,
                          where=h.LSP_HOST)
    patterns.starts = addressof(starts)
    first, count = c_int64(), c_int64()
    current().call(lib.lsp_suffix_search, byref(struct), s.type, s.pointer, byref(patterns), byref(first),
                   byref(count))
    return s.array[first.value:first.value + count.value].copy()


