"""Indexed reads and writes of whole arrays."""

from __future__ import annotations

import math
from ctypes import addressof, byref
from typing import Any

from . import _header as h
from ._arrays import INDEX, SOME, Array, Output, beside, view
from ._errors import ArgumentError, UnsupportedError, choose
from ._families import HOST, TYPES, family_of
from ._library import lib

RULES = {"distinct": h.LSP_SCATTER_DISTINCT, "last": h.LSP_SCATTER_LAST, "add": h.LSP_SCATTER_ADD}


def _args(source: Any, target: Any, index: Any, extent: int, check: bool, rule: int = 0) -> Any:
    column = h.lsp_column(source.pointer, target.pointer, source.itemsize * math.prod(source.shape[1:]),
                          source.type if rule == h.LSP_SCATTER_ADD else h.LSP_NONE)
    args = h.lsp_gather_args(n=index.shape[0], extent=extent, index=index.pointer, index_type=index.type,
                             column_count=1, rule=rule, flags=bool(check) * h.LSP_GATHER_CHECK,
                             where=int(family_of(index.array).ordinal is not None))
    args.columns, args.column = addressof(column), column  # the second keeps it alive
    return args


def gather(source: Array, index: Array, *, check: bool = True) -> Any:
    """source[index]: elements, or rows of up to 64 bytes.

    >>> import numpy, segsparse
    >>> segsparse.gather(numpy.array([10.0, 20.0, 30.0]), numpy.array([2, 0, 2])).tolist()
    [30.0, 10.0, 30.0]

    check=False looks for indices out of range only where that costs nothing: on a GPU synchronize() tells.
    """
    s = view(source, None, "the source", dims=SOME)
    family = family_of(s.array)
    i = beside(index, INDEX, "the index", family)
    result = family.empty((i.shape[0], *s.shape[1:]), s.array.dtype if family is HOST else s.typestr)
    args = _args(s, view(result, None, dims=None), i, s.shape[0], check)
    family.context().call(lib.lsp_gather, byref(args), None, size=i.shape[0])
    family.finish()
    return result


def scatter(values: Array, index: Array, target: Output, *, rule: str = "distinct", check: bool = True) -> Any:
    """target[index] = values, in place; returns the target. rule: "distinct" (no two indices are equal), "last" (the
    last of equal ones counts) or "add" (values are added, in their order: the same bits always).

    >>> import numpy, segsparse
    >>> segsparse.scatter(numpy.ones(3), numpy.array([0, 2, 2]), numpy.zeros(3), rule="add").tolist()
    [1.0, 0.0, 2.0]
    """
    t = view(target, None, "the target", write=True, dims=SOME)
    v = view(values, frozenset((t.typestr,)), "values", dims=SOME)
    i, number = view(index, INDEX, "the index"), choose(RULES, rule, "rule")
    if number == h.LSP_SCATTER_ADD and t.typestr not in TYPES:
        raise UnsupportedError(f"the target has elements of type {t.typestr}, which cannot be added")
    if v.shape[:1] != i.shape or t.shape[1:] != v.shape[1:]:
        raise ArgumentError(f"shapes do not fit: values {v.shape}, index {i.shape}, target {t.shape}")
    family = family_of(t.array)
    if not family.ordinal == family_of(v.array).ordinal == family_of(i.array).ordinal:
        raise ArgumentError("values, index and target do not lie in one place")
    args = _args(v, t, i, t.shape[0], check, number)
    family.context().call(lib.lsp_scatter, byref(args), None, size=i.shape[0])
    family.finish()
    return target
