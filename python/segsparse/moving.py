"""Indexed reads and writes of whole arrays."""

from __future__ import annotations

import math
from ctypes import addressof, byref
from typing import Any

from . import _header as h
from ._arrays import INDEX, family_of, view
from ._library import ArgumentError, lib

RULES = {"distinct": h.LSP_SCATTER_DISTINCT, "last": h.LSP_SCATTER_LAST, "add": h.LSP_SCATTER_ADD}


def _args(source: Any, target: Any, index: Any, extent: int, check: bool, rule: int = 0) -> Any:
    column = h.lsp_column(source.pointer, target.pointer, source.itemsize * math.prod(source.shape[1:]),
                          source.type if rule == h.LSP_SCATTER_ADD else h.LSP_NONE)
    args = h.lsp_gather_args(n=index.shape[0], extent=extent, index=index.pointer, index_type=index.type,
                             column_count=1, rule=rule, flags=check * h.LSP_GATHER_CHECK,
                             where=int(family_of(index.array).ordinal is not None))
    args.columns, args.column = addressof(column), column  # the second keeps it alive
    return args


def gather(source: Any, index: Any, *, check: bool = True) -> Any:
    """source[index]: elements, or rows of up to 64 bytes.

    >>> import numpy, segsparse
    >>> segsparse.gather(numpy.array([10.0, 20.0, 30.0]), numpy.array([2, 0, 2])).tolist()
    [30.0, 10.0, 30.0]

    check=False looks for indices out of range only where that costs nothing: on a GPU synchronize() tells.
    """
    s, i = view(source, None, "the source"), view(index, INDEX, "the index")
    family = family_of(s.array)
    if family_of(i.array).ordinal != family.ordinal:
        raise ArgumentError("the index does not lie where the source does")
    if len(i.shape) != 1:
        raise ArgumentError(f"the index has the shape {i.shape}: one dimension is needed")
    result = family.empty((i.shape[0], *s.shape[1:]), s.typestr)
    args = _args(s, view(result, None), i, s.shape[0], check)
    family.context().call(lib.lsp_gather, byref(args), None)
    family.finish()
    return result


def scatter(values: Any, index: Any, target: Any, *, rule: str = "distinct", check: bool = True) -> Any:
    """target[index] = values, in place; returns the target. rule: "distinct" (no two indices are equal), "last" (the
    last of equal ones counts) or "add" (values are added, in their order: the same bits always).

    >>> import numpy, segsparse
    >>> segsparse.scatter(numpy.ones(3), numpy.array([0, 2, 2]), numpy.zeros(3), rule="add").tolist()
    [1.0, 0.0, 2.0]
    """
    if rule not in RULES:
        raise ArgumentError(f"no rule has the name {rule!r}: they are {', '.join(RULES)}")
    v, i = view(values, None, "values"), view(index, INDEX, "the index")
    t = view(target, frozenset((v.typestr,)), "the target", write=True)
    if len(i.shape) != 1 or v.shape[:1] != i.shape or t.shape[1:] != v.shape[1:]:
        raise ArgumentError(f"shapes do not fit: values {v.shape}, index {i.shape}, target {t.shape}")
    family = family_of(t.array)
    if not family.ordinal == family_of(v.array).ordinal == family_of(i.array).ordinal:
        raise ArgumentError("values, index and target do not lie in one place")
    args = _args(v, t, i, t.shape[0], check, RULES[rule])
    family.context().call(lib.lsp_scatter, byref(args), None)
    family.finish()
    return target
