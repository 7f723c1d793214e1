"""Pairs of points: counted, binned, and as matrices of distances. Points are arrays of n rows and up to 8 columns."""

from __future__ import annotations

from ctypes import byref
from typing import Any

import numpy as np

from . import _header as h
from ._arrays import REAL, Array, numbers, view
from ._errors import ArgumentError, real, whole
from ._families import family_of
from ._library import lib
from ._matrix import made


class _Points:
    """One or two sets of points, and the box that they lie in."""

    def __init__(self, a: Any, b: Any, box: Any):
        self.kept: list = []
        self.a = self._set(a, "a")
        self.b = None if b is None else self._set(b, "b")
        self.family = family_of(self.kept[0].array)
        self.context = self.family.context()
        self.options = h.lsp_pair_options()
        if box is not None:
            sides = numbers(box, "box")
            if len(sides) != self.a.dimensions:
                raise ArgumentError(f"the box has {len(sides)} sides, and the points {self.a.dimensions} dimensions")
            self.options.box[:len(sides)] = sides.tolist()
        if self.b is not None and self.a.where != self.b.where:
            raise ArgumentError("a and b do not lie in one place")
        self.size = self.a.n * (self.a if self.b is None else self.b).n
        self.first = (byref(self.a), None if self.b is None else byref(self.b), byref(self.options))

    def _set(self, points: Any, what: str) -> h.lsp_points:
        v = view(points, REAL, what, dims=(2,))
        if not 1 <= v.shape[1] <= h.LSP_MOST_DIMENSIONS:
            raise ArgumentError(f"{what} has the shape {v.shape}: n rows of 1 to {h.LSP_MOST_DIMENSIONS} coordinates "
                                "are wanted")
        self.kept.append(v)
        struct = h.lsp_points(n=v.shape[0], dimensions=v.shape[1], type=v.type, stride=v.shape[1],
                              where=int(family_of(v.array).ordinal is not None))
        struct.at[:v.shape[1]] = [v.pointer + v.itemsize * k for k in range(v.shape[1])]
        return struct


def pair_count(a: Array, radii: Array, b: Array | None = None, *, box: Array | None = None) -> np.ndarray:
    """How many pairs of points are at most each radius apart: of two different points of a, or of a and b. In a
    periodic box the nearest images count.

    >>> import numpy, segsparse
    >>> segsparse.pair_count(numpy.array([[0.0], [1.0], [3.0]]), [1, 2, 3]).tolist()
    [1, 2, 3]
    """
    points = _Points(a, b, box)
    radii = numbers(radii, "radii")
    counts = np.empty(len(radii), np.uint64)
    points.context.call(lib.lsp_pair_count, *points.first, radii.ctypes.data, len(radii), counts.ctypes.data, None,
                        size=points.size)
    return counts


def pair_histogram(a: Array, range: float, bins: int, b: Array | None = None, *,
                   box: Array | None = None) -> np.ndarray:
    """How many pairs have a distance in each of `bins` equal bins from 0 to `range`.

    >>> import numpy, segsparse
    >>> segsparse.pair_histogram(numpy.array([[0.0], [1.0], [3.0]]), 4, 4).tolist()
    [0, 1, 1, 1]
    """
    points = _Points(a, b, box)
    bins = whole("bins", bins)
    counts = np.empty(max(bins, 0) if bins <= 2**22 else 0, np.uint64)  # the library refuses more
    points.context.call(lib.lsp_pair_histogram, *points.first, real("range", range), bins, counts.ctypes.data,
                        None, size=points.size)
    return counts


def radius_join(a: Array, radius: float, b: Array | None = None, *, box: Array | None = None,
                half: bool = False) -> Any:
    """The matrix of the distances of all pairs at most `radius` apart. half: only columns above the row.

    >>> import numpy, segsparse
    >>> segsparse.radius_join(numpy.array([[0.0], [1.0], [3.0]]), 1).toarray()[0].tolist()
    [0.0, 1.0, 0.0]
    """
    points, C, join = _Points(a, b, box), h.lsp_csr(), h.lsp_join_options(half=bool(half))
    return made(points.context, C, points.family, lib.lsp_radius_join, *points.first, real("radius", radius),
                byref(join), byref(C), None, size=points.size)


def nearest(a: Array, k: int, b: Array | None = None, *, box: Array | None = None) -> Any:
    """The matrix of the distances of each point of a to its k nearest points (of b, or the others of a).

    >>> import numpy, segsparse
    >>> segsparse.nearest(numpy.array([[0.0], [1.0], [3.0]]), 1).indices.tolist()
    [1, 0, 1]
    """
    points, C, k = _Points(a, b, box), h.lsp_csr(), whole("k", k)
    most = points.a.n - 1 if b is None else points.b.n
    if k > max(most, 0):
        raise ArgumentError(f"k is {k}: each point has {max(most, 0)} others")
    return made(points.context, C, points.family, lib.lsp_nearest, *points.first, k, None, byref(C), None,
                size=points.size)
