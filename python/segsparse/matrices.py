"""Matrices made, read, written, changed and reduced. Results are new matrices in the form of A."""

from __future__ import annotations

from ctypes import byref
from typing import Any

import numpy as np

from . import _header as h
from ._arrays import INDEX, MATRIX, Array, beside, view
from ._context import current
from ._errors import ArgumentError, characters, choose, pair, real, whole
from ._families import HOST, family_of
from ._library import as_dict, lib
from ._matrix import Sparse, changed, common, csr_types, made, operand, size_of, unary
from .products import filter_of


def _names(prefix: str, count: int) -> dict[str, int]:
    """The enumerators of a prefix by their names: "LSP_REDUCE_NORM1" is "norm1"."""
    return {key[len(prefix):].lower().replace("_", "-"): value for key, value in vars(h).items()
            if key.startswith(prefix) and isinstance(value, int) and value < count}


FUNCTIONS = _names("LSP_APPLY_", h.LSP_FUNCTIONS)
REDUCTIONS = {name: number for name, number in _names("LSP_REDUCE_", h.LSP_REDUCTIONS).items()
              if name not in ("each-row", "each-col", "all")}
SYMMETRIES = _names("LSP_SYMMETRY_", 4)


# ---- made, read and written ----------------------------------------------------------------------------------------


def generate(spec: str, seed: int = 1, *, dtype: Any = None) -> Any:
    """A matrix by name: poisson2d:K stencil27:K fem3:K er:N:D rmat:SCALE:EF web:N:ALPHA:DMAX perm:N nascg:CLASS
    amg:K:PART. It is the same on every machine. Its form is SciPy's csr_array, or Matrix without SciPy.

    >>> import segsparse
    >>> segsparse.generate("poisson2d:100").shape
    (10000, 10000)
    """
    context, A, types = current(), h.lsp_csr(), csr_types(dtype)
    return made(context, A, HOST, lib.lsp_generate, characters("spec", spec), whole("seed", seed, 0, 2**64 - 1),
                byref(types), byref(A))


def read_mtx(path: Any, *, dtype: Any = None, keep_triangle: bool = False) -> Any:
    """Reads a Matrix Market file, plain or gzip, with all threads. Its form is SciPy's csr_array, or Matrix without
    SciPy or values. A mistake in the file raises FormatError with path, line and reason.

    >>> import os, segsparse, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "A.mtx.gz")
    >>> segsparse.write_mtx(path, segsparse.generate("poisson2d:3"))
    >>> segsparse.read_mtx(path).nnz
    33
    """
    context, A = current(), h.lsp_csr()
    options = h.lsp_mtx_read_options(types=csr_types(dtype), keep_triangle=keep_triangle)
    return made(context, A, HOST, lib.lsp_mtx_read, characters("path", path), byref(options), byref(A), None)


def write_mtx(path: Any, A: Sparse, *, symmetry: str = "general", comment: str | None = None) -> None:
    """Writes a Matrix Market file, compressed if the path ends in ".gz". Numbers read back to the same bits.

    >>> import os, segsparse, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "A.mtx")
    >>> segsparse.write_mtx(path, segsparse.generate("poisson2d:3"), symmetry="symmetric", comment="a grid")
    """
    a = operand(A)
    options = h.lsp_mtx_write_options(symmetry=choose(SYMMETRIES, symmetry, "symmetry"),
                                      comment=None if comment is None else characters("comment", comment))
    common(a).call(lib.lsp_mtx_write, characters("path", path), byref(a.csr), byref(options))


def from_coo(row: Array, col: Array, data: Array | None, shape: tuple[int, int], *, dtype: Any = None) -> Any:
    """The matrix of triples in any order; those at the same place are summed in their order.

    >>> import segsparse
    >>> segsparse.from_coo([1, 0, 1], [0, 1, 0], [1.0, 2.0, 3.0], (2, 2)).toarray().tolist()
    [[0.0, 2.0], [4.0, 0.0]]
    """
    r, c, v = view(row, INDEX, "row"), view(col, INDEX, "col"), None if data is None else view(data, MATRIX, "data")
    if r.typestr != c.typestr:
        raise ArgumentError(f"row has elements of {np.dtype(r.typestr)} and col of {np.dtype(c.typestr)}")
    if r.shape != c.shape or (v is not None and v.shape != r.shape):
        raise ArgumentError(f"row, col and data have the shapes {r.shape}, {c.shape}, {v and v.shape}")
    family = family_of(r.array)
    if any(family_of(one.array).ordinal != family.ordinal for one in (c, v) if one is not None):
        raise ArgumentError("row, col and data do not lie in one place")
    rows, cols = pair("shape", shape)
    triples = h.lsp_coo(rows=rows, cols=cols, nnz=r.shape[0], row=r.pointer, col=c.pointer,
                        val=v.pointer if v else None, index_type=r.type, val_type=v.type if v else h.LSP_NONE,
                        where=int(family.ordinal is not None))
    context, B, types = family.context(), h.lsp_csr(), csr_types(dtype)
    return made(context, B, family, lib.lsp_coo_to_csr, byref(triples), byref(types), byref(B), None)


def from_dense(D: Array) -> Any:
    """The matrix of the elements of an array that are not 0.

    >>> import numpy, segsparse
    >>> segsparse.from_dense(numpy.eye(3)).nnz
    3
    """
    v = view(D, MATRIX, "D", dims=(2,))
    family = family_of(v.array)
    dense = h.lsp_dense(rows=v.shape[0], cols=v.shape[1], val=v.pointer, val_type=v.type,
                        where=int(family.ordinal is not None))
    context, B = family.context(), h.lsp_csr()
    return made(context, B, family, lib.lsp_dense_to_csr, byref(dense), byref(B))


def copy(A: Sparse, *, dtype: Any = None) -> Any:
    """A in other types; dtype "pattern" leaves its values out.

    >>> import segsparse
    >>> segsparse.copy(segsparse.generate("poisson2d:3"), dtype="float32").dtype
    dtype('float32')
    """
    types = csr_types(dtype)
    return unary(lib.lsp_csr_copy, A, byref(types))


# ---- whole matrices ------------------------------------------------------------------------------------------------


def transpose(A: Sparse) -> Any:
    """A transposed, with sorted rows.

    >>> import segsparse
    >>> segsparse.transpose(segsparse.generate("amg:8:T")).shape[1]
    64
    """
    return unary(lib.lsp_csr_transpose, A)


def sort_rows(A: Sparse) -> Any:
    """A with the entries of each row sorted by column.

    >>> import segsparse
    >>> A = segsparse.Matrix((1, 3), [0, 2], [2, 0], [1.0, 2.0])
    >>> segsparse.sort_rows(A).indices.tolist()
    [0, 2]
    """
    return changed(lib.lsp_csr_sort, A)


def add(A: Sparse, B: Sparse, alpha: float = 1, beta: float = 1) -> Any:
    """alpha A + beta B.

    >>> import segsparse
    >>> A = segsparse.generate("poisson2d:3")
    >>> float(segsparse.add(A, A, 1, -3)[0, 0])
    -8.0
    """
    a, b, C = operand(A), operand(B), h.lsp_csr()
    context = common(a, b)
    return made(context, C, a, lib.lsp_csr_add, real("alpha", alpha), byref(a.csr), real("beta", beta), byref(b.csr),
                byref(C), size=size_of(a, b))


def hadamard(A: Sparse, B: Sparse) -> Any:
    """A B, entry by entry, where both have one.

    >>> import segsparse
    >>> A = segsparse.generate("poisson2d:3")
    >>> float(segsparse.hadamard(A, A)[0, 0])
    16.0
    """
    a, b, C = operand(A), operand(B), h.lsp_csr()
    return made(common(a, b), C, a, lib.lsp_csr_hadamard, byref(a.csr), byref(b.csr), byref(C), size=size_of(a, b))


def filter(A: Sparse, *, mask: Sparse | None = None, complement: bool = False, drop: float | None = None,
           keep: int | None = None) -> Any:
    """The entries of A that the mask has (or has not), with |value| > drop, the `keep` largest of each row.

    >>> import segsparse
    >>> A = segsparse.generate("poisson2d:3")
    >>> segsparse.filter(A, keep=1).nnz
    9
    """
    a = operand(A)
    chosen = filter_of((a,), mask, complement, drop, keep)
    return unary(lib.lsp_csr_filter, a, byref(chosen))


def permute(A: Sparse, rows: Array | None = None, cols: Array | None = None) -> Any:
    """B[i][j] = A[rows[i]][cols[j]]; None keeps the order.

    >>> import segsparse
    >>> A = segsparse.from_dense([[1.0, 2.0], [0.0, 3.0]])
    >>> segsparse.permute(A, rows=[1, 0]).toarray().tolist()
    [[0.0, 3.0], [1.0, 2.0]]
    """
    a = operand(A)
    r = None if rows is None else beside(rows, INDEX, "rows", a.family, a.shape[0])
    c = None if cols is None else beside(cols, INDEX, "cols", a.family, a.shape[1])
    if r and c and r.typestr != c.typestr:
        raise ArgumentError("rows and cols have different types")
    given = r or c
    return unary(lib.lsp_csr_permute, a, r and r.pointer, c and c.pointer, given.type if given else h.LSP_NONE)


def expand(A: Sparse, symmetry: str = "symmetric") -> Any:
    """The whole matrix of one triangle: "symmetric", "skew" or "hermitian".

    >>> import segsparse
    >>> segsparse.expand(segsparse.from_dense([[1.0, 0.0], [2.0, 3.0]])).toarray().tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    return unary(lib.lsp_csr_expand, A, choose(SYMMETRIES, symmetry, "symmetry"))


def check(A: Sparse, *, sorted: bool = False, unique: bool = False, finite: bool = False) -> None:
    """Raises FormatError, which names the first offending row, if the arrays form no matrix.

    >>> import segsparse
    >>> segsparse.check(segsparse.generate("er:10:3"), sorted=True, unique=True, finite=True)
    """
    a = operand(A)
    flags = (bool(sorted) * h.LSP_CHECK_SORTED | bool(unique) * h.LSP_CHECK_UNIQUE
             | bool(finite) * h.LSP_CHECK_FINITE)
    common(a).call(lib.lsp_csr_check, byref(a.csr), flags)


def stats(A: Sparse) -> dict:
    """Facts of a matrix: lengths of rows, bandwidths, symmetry, what A A would need.

    >>> import segsparse
    >>> segsparse.stats(segsparse.generate("poisson2d:10"))["symmetric"]
    True
    """
    a, facts = operand(A), h.lsp_csr_stats()
    common(a).call(lib.lsp_csr_get_stats, byref(a.csr), byref(facts))
    return as_dict(facts)


# ---- values --------------------------------------------------------------------------------------------------------


def scale(A: Sparse, rows: Array | None = None, cols: Array | None = None) -> Any:
    """B[i][j] = rows[i] A[i][j] cols[j]; None stands for ones.

    >>> import segsparse
    >>> A = segsparse.from_dense([[1.0, 2.0], [0.0, 3.0]])
    >>> segsparse.scale(A, rows=[1.0, 10.0]).toarray().tolist()
    [[1.0, 2.0], [0.0, 30.0]]
    """
    a = operand(A)
    types = frozenset((a.typestr or "<f8",))
    r = None if rows is None else beside(rows, types, "rows", a.family, a.shape[0])
    c = None if cols is None else beside(cols, types, "cols", a.family, a.shape[1])
    return changed(lib.lsp_csr_scale, a, r and r.pointer, c and c.pointer)


def apply(A: Sparse, function: str, parameter: float = 0) -> Any:
    """A function of each stored value: "abs", "negate", "reciprocal", "sqrt", "sign", "conjugate", "multiply", "add",
    "power", "constant"; the last four have a parameter.

    >>> import segsparse
    >>> segsparse.apply(segsparse.from_dense([[4.0, 9.0]]), "sqrt").toarray().tolist()
    [[2.0, 3.0]]
    """
    return changed(lib.lsp_csr_apply, A, choose(FUNCTIONS, function, "function"), real("parameter", parameter))


def reduce(A: Sparse, reduction: str = "sum", axis: int | None = None) -> Any:
    """The stored entries of each row (axis 1), of each column (axis 0), or all together (None): "sum", "min", "max",
    "count", "norm1", "norm2", "norm-max". The order of a sum depends on their number alone.

    >>> import segsparse
    >>> A = segsparse.from_dense([[1.0, 2.0], [0.0, 3.0]])
    >>> segsparse.reduce(A, "sum", axis=1).tolist(), float(segsparse.reduce(A, "norm2"))
    ([3.0, 3.0], 3.7416573867739413)
    """
    a, number = operand(A), choose(REDUCTIONS, reduction, "reduction")
    axis = axis if axis is None else whole("axis", axis)
    if axis not in (None, 0, 1):
        raise ArgumentError(f"axis is {axis}: it must be 0, 1 or None")
    own, integer = a.typestr, a.typestr in ("<i4", "<i8", "|b1")
    if number == h.LSP_REDUCE_COUNT:
        typestr = "<i8"
    elif own is None or (number >= h.LSP_REDUCE_NORM1 and (integer or own == "<c16")):
        typestr = "<f8"
    else:
        typestr = "<i8" if integer else own
    shape = (1,) if axis is None else (a.shape[1 - axis],)
    results = a.family.empty(shape, typestr)
    where = h.LSP_REDUCE_ALL if axis is None else h.LSP_REDUCE_EACH_ROW if axis == 1 else h.LSP_REDUCE_EACH_COL
    common(a).call(lib.lsp_csr_reduce, byref(a.csr), number, where, view(results).pointer,
                   size=size_of(a) + a.shape[1])
    return results[0] if axis is None and hasattr(results, "__getitem__") else results


def diagonal(A: Sparse) -> Any:
    """A[i][i]; 0 where A has no entry.

    >>> import segsparse
    >>> segsparse.diagonal(segsparse.from_dense([[1.0, 2.0], [0.0, 3.0]])).tolist()
    [1.0, 3.0]
    """
    a = operand(A)
    result = a.family.empty((min(a.shape),), a.typestr or "<f8")
    common(a).call(lib.lsp_csr_diagonal, byref(a.csr), view(result).pointer, size=size_of(a))
    a.family.finish()
    return result


def from_diagonal(x: Array | int) -> Any:
    """The matrix with this diagonal; a number n stands for the identity of n rows.

    >>> import segsparse
    >>> segsparse.from_diagonal(3).nnz, segsparse.from_diagonal([1.0, 2.0]).toarray().tolist()
    (3, [[1.0, 0.0], [0.0, 2.0]])
    """
    B = h.lsp_csr()
    if isinstance(x, (int, np.integer)):
        return made(current(), B, HOST, lib.lsp_csr_from_diagonal, whole("x", x), None, h.LSP_F64, h.LSP_HOST, byref(B))
    v = view(x, MATRIX, "x")
    family = family_of(v.array)
    return made(family.context(), B, family, lib.lsp_csr_from_diagonal, v.shape[0], v.pointer, v.type,
                int(family.ordinal is not None), byref(B))
