"""Sorts of whole arrays and of segments: stable, NaN last, -0 before +0. Results are new arrays."""

from __future__ import annotations

import math
from ctypes import byref
from typing import Any, Callable, NamedTuple

import numpy as np

from . import _header as h
from ._arrays import INDEX, KEY, SOME, Array, View, array_of, beside, host_copy, view
from ._errors import INT, ArgumentError, UnsupportedError, choose, pair, whole
from ._families import HOST, DeviceArray, Family, family_of
from ._library import lib
from .moving import gather

METHODS = {lib.lsp_sort_method_name(i).decode(): i for i in range(h.LSP_SORT_METHODS)}


class _Sort:
    """The parts that all sorts share: keys, values or positions, and the arrays that receive them."""

    def __init__(self, keys: Any, values: Any, positions: bool, flags: int, wants_keys: bool = True, dims: Any = SOME):
        self.keys = view(keys, KEY, "keys", dims=dims)
        self.dtype = keys.dtype if isinstance(keys, np.ndarray) else None
        self.family = family_of(self.keys.array)
        self.n = math.prod(self.keys.shape)
        self.keys_out = self.family.empty(self.keys.shape, self.keys.typestr) if wants_keys else None
        self.values_out, self.members = None, {
            "n": self.n, "key_type": self.keys.type, "keys": self.keys.pointer, "flags": flags,
            "keys_out": view(self.keys_out, None, dims=None).pointer if wants_keys else None,
            "where": int(self.family.ordinal is not None)}
        if positions:
            self.values_out = self.family.empty(self.keys.shape, "<i8")
            self.members.update(value_bytes=8, flags=flags | h.LSP_SORT_POSITIONS)
        elif values is not None:
            v = self.given = view(values, None, "values", dims=dims)
            if family_of(v.array).ordinal != self.family.ordinal:
                raise ArgumentError("values do not lie where the keys do")
            if v.shape != self.keys.shape or v.itemsize not in (4, 8, 16):
                raise ArgumentError(f"values have the shape {v.shape} and {v.itemsize} bytes each: they must have the "
                                    f"shape of the keys, {self.keys.shape}, and 4, 8 or 16 bytes")
            self.values_out = self.family.empty(v.shape, v.typestr)
            self.members.update(value_bytes=v.itemsize, values=v.pointer)
        if self.values_out is not None:
            self.members["values_out"] = view(self.values_out, None, dims=None).pointer

    def run(self, function: Any, args: Any) -> Any:
        self.family.context().call(function, byref(args), None, size=self.n)
        self.family.finish()
        if self.keys_out is None:
            return self.values_out
        if self.dtype is not None and self.family is HOST:
            self.keys_out = self.keys_out.astype(self.dtype, copy=False)  # 16 bits were sorted as 32
        return self.keys_out if self.values_out is None else (self.keys_out, self.values_out)


def _flags(descending: bool, equal_zeros: bool = False) -> int:
    return bool(descending) * h.LSP_SORT_DESCENDING | bool(equal_zeros) * h.LSP_SORT_EQUAL_ZEROS


def _along(keys: Any, values: Any, axis: int | None, sort: Callable) -> Any:
    """sort(keys, values, by_rows) along an axis, as NumPy means it; None: of all keys, in one dimension."""
    keys, values = array_of(keys, KEY, "keys"), None if values is None else array_of(values, None, "values")
    rank = len(keys.shape) or 1
    if axis is None:
        return sort(_flat(keys), values if values is None else _flat(values), False)
    axis = whole("axis", axis)
    if not -rank <= axis < rank:
        raise ArgumentError(f"axis is {axis}: keys have {rank} dimensions")
    if axis % rank == rank - 1:
        return sort(keys, values, rank > 1)
    if not (hasattr(keys, "swapaxes") and (values is None or hasattr(values, "swapaxes"))):
        raise UnsupportedError(f"axis is {axis}: here only the last one can be sorted")
    result = sort(keys.swapaxes(axis, -1), values if values is None else values.swapaxes(axis, -1), True)
    turned = [one.swapaxes(axis, -1) for one in (result if isinstance(result, tuple) else (result,))]
    return tuple(turned) if isinstance(result, tuple) else turned[0]


def sort(keys: Array, values: Array | None = None, *, descending: bool = False, equal_zeros: bool = False,
         axis: int | None = -1, bits: tuple[int, int] = (0, 0), method: str = "auto") -> Any:
    """The sorted keys, or (keys, values), along an axis (None: of all), by the fastest method for their number. `bits`
    (begin, end) of integers alone decide.

    >>> import numpy, segsparse
    >>> segsparse.sort(numpy.array([3, 1, 2])).tolist()
    [1, 2, 3]
    >>> keys, values = segsparse.sort(numpy.array([3.0, 1.0]), numpy.array([10, 20]), descending=True)
    >>> values.tolist()
    [10, 20]
    >>> segsparse.sort(numpy.array([0x31, 0x12, 0x21]), bits=(0, 4), method="radix").tolist()
    [49, 33, 18]
    """
    flags, number = _flags(descending, equal_zeros), choose(METHODS, method, "method")
    begin, end = pair("bits", bits, *INT)

    def one(keys: Any, values: Any, by_rows: bool) -> Any:
        if by_rows and number:
            raise UnsupportedError(f"rows are sorted by one method, and not by {method!r}")
        s = _Sort(keys, values, False, flags)
        s.members.update(begin_bit=begin, end_bit=end)
        if by_rows:
            return s.run(lib.lsp_segsort, h.lsp_segsort_args(**s.members, **_Segments(s.keys, None, s.family).members))
        return s.run(lib.lsp_sort, h.lsp_sort_args(method=number, **s.members))

    return _along(keys, values, axis, one)


def argsort(keys: Array, *, descending: bool = False, equal_zeros: bool = False, axis: int | None = -1) -> Any:
    """Where each sorted key came from, along an axis (None: of all keys).

    >>> import numpy, segsparse
    >>> segsparse.argsort(numpy.array([3, 1, 2])).tolist()
    [1, 2, 0]
    """
    flags = _flags(descending, equal_zeros)

    def one(keys: Any, values: Any, by_rows: bool) -> Any:
        s = _Sort(keys, None, True, flags, wants_keys=False)
        if by_rows:
            return s.run(lib.lsp_segsort, h.lsp_segsort_args(**s.members, **_Segments(s.keys, None, s.family).members))
        return s.run(lib.lsp_sort, h.lsp_sort_args(**s.members))

    return _along(keys, None, axis, one)


# ---- segments ------------------------------------------------------------------------------------------------------


class _Segments:
    """Segments by offsets, by a length, or the rows of keys with two dimensions."""

    def __init__(self, keys: View, offsets: Any, family: Family):
        self.offsets = None
        n = math.prod(keys.shape)
        if offsets is None:
            if len(keys.shape) < 2:
                raise ArgumentError("offsets are needed unless keys have two dimensions")
            offsets = keys.shape[-1]
        if isinstance(offsets, (int, np.integer)):
            offsets = whole("offsets", offsets)
            if offsets < 1 and n:
                raise ArgumentError(f"segments have a length of {offsets}: at least 1 is needed")
            self.count = -(-n // offsets) if n else 0
            self.members = {"length": max(offsets, 1), "segments": self.count, "offset_type": h.LSP_I64}
            return
        self.offsets = beside(offsets, INDEX, "offsets", family)
        if self.offsets.shape[0] < 1:
            raise ArgumentError(f"offsets have the shape {self.offsets.shape}: one more than segments are needed")
        self.count = self.offsets.shape[0] - 1
        self.members = {"offsets": self.offsets.pointer, "segments": self.count, "offset_type": self.offsets.type}


def segsort(keys: Array, offsets: Array | int | None = None, values: Array | None = None, *, descending: bool = False,
            equal_zeros: bool = False) -> Any:
    """The keys sorted within segments, or (keys, values). Segment s has the items offsets[s] .. offsets[s+1]-1;
    a number stands for segments of that length; keys of two dimensions are sorted row by row.

    >>> import numpy, segsparse
    >>> segsparse.segsort(numpy.array([3, 1, 2, 5, 4]), numpy.array([0, 3, 5])).tolist()
    [1, 2, 3, 4, 5]
    """
    s = _Sort(keys, values, False, _flags(descending, equal_zeros))
    segments = _Segments(s.keys, offsets, s.family)
    return s.run(lib.lsp_segsort, h.lsp_segsort_args(**s.members, **segments.members))


def segargsort(keys: Array, offsets: Array | int | None = None, *, descending: bool = False, equal_zeros: bool = False,
               whole: bool = False) -> Any:
    """Where each sorted key came from, counted from the start of its segment, or of the array (whole=True).

    >>> import numpy, segsparse
    >>> segsparse.segargsort(numpy.array([3, 1, 2, 5, 4]), numpy.array([0, 3, 5])).tolist()
    [1, 2, 0, 1, 0]
    """
    s = _Sort(keys, None, True, _flags(descending, equal_zeros), wants_keys=False)
    segments = _Segments(s.keys, offsets, s.family)
    if whole:
        s.members["flags"] = s.members["flags"] & ~h.LSP_SORT_POSITIONS | h.LSP_SORT_GLOBAL_POSITIONS
    return s.run(lib.lsp_segsort, h.lsp_segsort_args(**s.members, **segments.members))


class Top(NamedTuple):
    """The first items. Without offsets keys and positions have a row for each row of the array, and positions count
    from its start. With offsets the items of segment s are offsets[s] .. offsets[s+1]-1, and positions count from the
    start of the array.

    >>> import segsparse
    >>> segsparse.top_k([3.0, 5.0, 4.0], 2).keys.tolist()
    [5.0, 4.0]
    """

    keys: Any
    positions: Any
    offsets: Any


def top_k(keys: Array, k: int = 1, offsets: Array | int | None = None, *, largest: bool = True) -> Top:
    """The k largest keys (largest=False: the smallest) of each row or segment, sorted, ties by position; all of a
    shorter one. Without offsets an array of one dimension is one row.

    >>> import numpy, segsparse
    >>> segsparse.top_k(numpy.array([[3, 1, 2], [5, 4, 6]]), 2).positions.tolist()
    [[0, 2], [2, 0]]
    >>> top = segsparse.top_k(numpy.array([3, 1, 2, 5, 4]), 2, numpy.array([0, 3, 5]))
    >>> top.keys.tolist(), top.positions.tolist(), top.offsets.tolist()
    ([3, 2, 5, 4], [0, 2, 3, 4], [0, 2, 4])
    """
    k = whole("k", k)
    if k < 1:
        raise ArgumentError(f"k is {k}: at least 1 is needed")
    s = _Sort(keys, None, True, _flags(largest))
    width = s.keys.shape[-1] if len(s.keys.shape) else 1
    segments = _Segments(s.keys, max(width, 1) if offsets is None else offsets, s.family)
    if offsets is not None:
        s.members["flags"] = s.members["flags"] & ~h.LSP_SORT_POSITIONS | h.LSP_SORT_GLOBAL_POSITIONS
    s.run(lib.lsp_segsort, h.lsp_segsort_args(first=k, **s.members, **segments.members))
    if segments.offsets is None:
        starts = np.minimum(np.arange(segments.count + 1) * segments.members["length"], s.n)
    else:
        starts = host_copy(segments.offsets.array).astype("<i8", copy=False)
    taken = np.minimum(np.diff(starts), k)
    ends = np.concatenate(([0], np.cumsum(taken)))
    put = s.family.put
    index = put(np.arange(ends[-1]) + np.repeat(starts[:-1] - ends[:-1], taken))  # of the items that stay
    found = [gather(_flat(x), index) for x in (s.keys_out, s.values_out)]
    if offsets is not None:
        return Top(*found, put(ends))
    shape = s.keys.shape[:-1] + (min(k, width),)
    return Top(*(x.first(*shape) if isinstance(x, DeviceArray) else x.reshape(shape) for x in found), None)


def _flat(x: Any) -> Any:
    return x.first(math.prod(x.shape)) if isinstance(x, DeviceArray) else x.reshape(-1)


class Groups(NamedTuple):
    """Group g has the items starts[g] .. starts[g+1]-1 of keys and positions; all its keys are equal.

    >>> import segsparse
    >>> segsparse.groups([2, 1, 2]).starts.tolist()
    [0, 1, 3]
    """

    keys: Any
    positions: Any
    starts: Any


def groups(keys: Array, offsets: Array | int | None = None, *, descending: bool = False,
           equal_zeros: bool = False) -> Groups:
    """Groups of equal keys within segments; without offsets in the whole array: a finished group-by.

    >>> import numpy, segsparse
    >>> found = segsparse.groups(numpy.array([7, 5, 7, 5, 5]))
    >>> found.keys.tolist(), found.positions.tolist(), found.starts.tolist()
    ([5, 5, 5, 7, 7], [1, 3, 4, 0, 2], [0, 3, 5])
    """
    s = _Sort(keys, None, True, _flags(descending, equal_zeros))
    segments = _Segments(s.keys, max(s.n, 1) if offsets is None else offsets, s.family)
    typestr = "<i8" if segments.offsets is None else segments.offsets.typestr
    starts = s.family.empty((s.n + 1,), typestr)
    count = s.family.empty((1,), "<i8")
    s.members["flags"] = s.members["flags"] & ~h.LSP_SORT_POSITIONS | h.LSP_SORT_GLOBAL_POSITIONS
    s.run(lib.lsp_segsort, h.lsp_segsort_args(group_at=view(starts, None).pointer, group_count=view(count).pointer,
                                              **s.members, **segments.members))
    found = int(host_copy(count)[0]) + 1
    starts = starts.first(found) if isinstance(starts, DeviceArray) else starts[:found]
    return Groups(s.keys_out, s.values_out, starts)
