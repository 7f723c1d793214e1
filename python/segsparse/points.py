"""Pairs of points: counted, binned, and as matrices of distances. Points are arrays of n rows and up to 8 columns."""

from __future__ import annotations

from ctypes import byref
from typing import Any, Sequence

import numpy as np

from . import _header as h
from ._arrays import REAL, family_of, view
from ._library import ArgumentError, lib
from ._matrix import made


class _Points:
    """One or two sets of points, and the box that they lie in."""

    def __init__(self, a: Any, b: Any, box: Sequence[float] | None):
        self.kept: list = []
        self.a = self._set(a, "a")
        self.b = None if b is None else self._set(b, "b")
        self.family = family_of(self.kept[0].array)
        self.context = self.family.context()
        self.options = h.lsp_pair_options()
        if box is not None:
            if len(box) != self.a.dimensions:
                raise ArgumentError(f"the box has {len(box)} sides, and the points {self.a.dimensions} dimensions")
            self.options.box[:len(box)] = box
        self.first = (byref(self.a), None if self.b is None else byref(self.b), byref(self.options))

    def _set(self, points: Any, what: str) -> h.lsp_points:
        v = view(points, REAL, what)
        if len(v.shape) != 2 or not 1 <= v.shape[1] <= h.LSP_MOST_DIMENSIONS:
            raise ArgumentError(f"{what} has the shape {v.shape}: n rows of 1 to {h.LSP_MOST_DIMENSIONS} coordinates "
                                "are wanted")
        self.kept.append(v)
        struct = h.lsp_points(n=v.shape[0], dimensions=v.shape[1], type=v.type, stride=v.shape[1],
                              where=int(family_of(v.array).ordinal is not None))
        struct.at[:v.shape[1]] = [v.pointer + v.itemsize * k for k in range(v.shape[1])]
        return struct


def pair_count(a: Any, radii: Any, b: Any = None, *, box: Sequence[float] | None = None) -> np.ndarray:
    """How many pairs of points are at most each radius apart: of two different points of a, or of a and b. In a
    periodic box the nearest images count.

    >>> import numpy, segsparse
    >>> segsparse.pair_count(numpy.array([[0.0], [1.0], [3.0]]), [1, 2, 3]).tolist()
    [1, 2, 3]
    """
    points = _Points(a, b, box)
    radii = np.atleast_1d(np.asarray(radii, np.float64))
    counts = np.empty(len(radii), np.uint64)
    points.context.call(lib.lsp_pair_count, *points.first, radii.ctypes.data, len(radii), counts.ctypes.data, None)
    return counts


def pair_histogram(a: Any, range: float, bins: int, b: Any = None, *,
                   box: Sequence[float] | None = None) -> np.ndarray:
    """How many pairs have a distance in each of `bins` equal bins from 0 to `range`.

    >>> import numpy, segsparse
    >>> segsparse.pair_histogram(numpy.array([[0.0], [1.0], [3.0]]), 4, 4).tolist()
    [0, 1, 1, 1]
    """
    points = _Points(a, b, box)
    counts = np.empty(bins, np.uint64)
    points.context.call(lib.lsp_pair_histogram, *points.first, range, bins, counts.ctypes.data, None)
    return counts


def radius_join(a: Any, radius: float, b: Any = None, *, box: Sequence[float] | None = None, half: bool = False) -> Any:
    """The matrix of the distances of all pairs at most `radius` apart. half: only columns above the row.

    >>> import numpy, segsparse
    >>> segsparse.radius_join(numpy.array([[0.0], [1.0], [3.0]]), 1).toarray()[0].tolist()
    [0.0, 1.0, 0.0]
    """
    points, C, join = _Points(a, b, box), h.lsp_csr(), h.lsp_join_options(half=half)
    return made(points.context, C, points.family, lib.lsp_radius_join, *points.first, radius, byref(join), byref(C),
                None)


def nearest(a: Any, k: int, b: Any = None, *, box: Sequence[float] | None = None) -> Any:
    """The matrix of the distances of each point of a to its k nearest points (of b, or the others of a).

    >>> import numpy, segsparse
    >>> segsparse.nearest(numpy.array([[0.0], [1.0], [3.0]]), 1).indices.tolist()
    [1, 0, 1]
    """
    points, C = _Points(a, b, box), h.lsp_csr()
    return made(points.context, C, points.family, lib.lsp_nearest, *points.first, k, None, byref(C), None)
