"""Parts of matrices, stacks of them, and matrices as dense arrays. Results are new matrices in the form of A."""

from __future__ import annotations

from ctypes import addressof, byref, c_void_p
from typing import Any, Sequence

from . import _header as h
from ._arrays import INDEX, Array, beside, view
from ._errors import ArgumentError, pair, whole
from ._families import TYPES
from ._library import lib
from ._matrix import Sparse, common, made, operand, unary


def block(A: Sparse, rows: tuple[int, int], cols: tuple[int, int] | None = None) -> Any:
    """Rows rows[0] .. rows[1]-1 and columns cols[0] .. cols[1]-1 of A.

    >>> import segsparse
    >>> segsparse.block(segsparse.generate("poisson2d:10"), (10, 20)).shape
    (10, 100)
    """
    a, (top, bottom) = operand(A), pair("rows", rows, -2**62, 2**62)
    left, right = (0, a.shape[1]) if cols is None else pair("cols", cols, -2**62, 2**62)
    return unary(lib.lsp_csr_block, a, top, bottom - top, left, right - left)


def extract(A: Sparse, rows: Array | None = None, cols: Array | None = None) -> Any:
    """B[i][j] = A[rows[i]][cols[j]], for lists in any order, with repeats; None: all.

    >>> import segsparse
    >>> A = segsparse.from_dense([[1.0, 2.0], [0.0, 3.0]])
    >>> segsparse.extract(A, rows=[1, 1], cols=[1]).toarray().tolist()
    [[3.0], [3.0]]
    """
    a, lists, kept = operand(A), [], []
    for name, chosen in (("rows", rows), ("cols", cols)):
        v = None if chosen is None else beside(chosen, INDEX, name, a.family)
        kept.append(v)
        lists.append(None if v is None else byref(h.lsp_index_list(v.pointer, v.shape[0], v.type)))
    return unary(lib.lsp_csr_extract, a, *lists)


def tril(A: Sparse, k: int = 0) -> Any:
    """The entries with column - row <= k.

    >>> import segsparse
    >>> segsparse.tril(segsparse.generate("poisson2d:3"), -1).nnz
    12
    """
    return unary(lib.lsp_csr_triangle, A, h.LSP_TRIANGLE_LOWER, whole("k", k))


def triu(A: Sparse, k: int = 0) -> Any:
    """The entries with column - row >= k.

    >>> import segsparse
    >>> segsparse.triu(segsparse.generate("poisson2d:3")).nnz
    21
    """
    return unary(lib.lsp_csr_triangle, A, h.LSP_TRIANGLE_UPPER, whole("k", k))


def stack(blocks: Sequence[Sequence]) -> Any:
    """Blocks side by side and below one another; None stands for zeros.

    >>> import segsparse
    >>> A = segsparse.generate("poisson2d:3")
    >>> segsparse.stack([[A, None], [None, A]]).shape
    (18, 18)
    """
    try:
        widths = {len(row) for row in blocks}
    except TypeError:
        raise ArgumentError(f"blocks is {blocks!r}: a list of lists of matrices is wanted") from None
    if len(widths) != 1:
        raise ArgumentError(f"rows of blocks have the lengths {sorted(widths)}: they must be equal")
    (width,) = widths
    all_of = [None if one is None else operand(one) for row in blocks for one in row]
    given = [one for one in all_of if one is not None]
    if not given:
        raise ArgumentError("no block is given")
    context, B = common(*given), h.lsp_csr()
    pointers = (c_void_p * len(all_of))(*(None if one is None else addressof(one.csr) for one in all_of))
    return made(context, B, given[0], lib.lsp_csr_stack, pointers, len(blocks), width, byref(B))


def to_dense(A: Sparse) -> Any:
    """A as an array of two dimensions, where A lies.

    >>> import segsparse
    >>> segsparse.to_dense(segsparse.Matrix((1, 2), [0, 1], [1], [5.0])).tolist()
    [[0.0, 5.0]]
    """
    a = operand(A)
    typestr = a.typestr or "<f8"
    result = a.family.empty(a.shape, typestr)
    dense = h.lsp_dense(rows=a.shape[0], cols=a.shape[1], val=view(result, dims=(2,)).pointer, val_type=TYPES[typestr],
                        where=a.csr.where)
    common(a).call(lib.lsp_csr_to_dense, byref(a.csr), byref(dense))
    return result
