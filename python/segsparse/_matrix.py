"""Matrices in and out: SciPy's, CuPy's, PyTorch's, and Matrix, for everything else. Results have the form of the
first argument."""

from __future__ import annotations

import sys
from ctypes import byref
from typing import Any, Callable

import numpy as np

from . import _header as h
from ._arrays import INDEX, INDEX_TYPES, MATRIX, MATRIX_TYPES, Array, array_of, host_copy, place, typestr_of, view
from ._context import Context
from ._errors import INT, ArgumentError, UnsupportedError, pair, whole
from ._families import HOST, TYPES, TYPESTR, DeviceArray, OnDevice, address, family_of, host_array, host_memory
from ._library import Arrays, lib, set_members

Sparse = Any  # what the annotations of public functions say: a matrix


class Matrix:
    """A matrix by rows (CSR) in arrays of NumPy or of a GPU, where there is no SciPy, CuPy or PyTorch, or where it has
    no values (data is None: a pattern, which counts as ones).

    >>> import segsparse
    >>> A = segsparse.Matrix((2, 2), [0, 1, 2], [1, 0], None)
    >>> segsparse.multiply(A, A).indices.tolist()
    [0, 1]
    """

    format = "csr"

    def __init__(self, shape: tuple[int, int], indptr: Array, indices: Array, data: Array | None):
        self.shape, self.data = pair("shape", shape), None if data is None else array_of(data, MATRIX, "data")
        self.indptr, self.indices = array_of(indptr, INDEX, "indptr"), array_of(indices, INDEX, "indices")

    @property
    def nnz(self) -> int:
        return self.indices.shape[0]

    @property
    def dtype(self) -> np.dtype | None:
        return None if self.data is None else self.data.dtype

    def get(self) -> "Matrix":
        """A copy on the host."""
        return Matrix(self.shape, host_copy(self.indptr), host_copy(self.indices),
                      None if self.data is None else host_copy(self.data))

    def __repr__(self) -> str:
        values = "a pattern" if self.data is None else f"of {self.dtype}"
        return f"<segsparse.Matrix {self.shape[0]} x {self.shape[1]}, {self.nnz} entries, {values}>"

    __matmul__: Callable[["Matrix", Any], Any]  # set in vectors.py: products stand above matrices


class Operand:
    """What C needs of a matrix. It keeps the arrays alive."""

    __slots__ = ("csr", "nnz", "family", "form", "shape", "indptr", "indices", "data")

    @property
    def typestr(self) -> str | None:
        return TYPESTR.get(self.csr.val_type)


def operand(A: Any) -> Operand:
    """The matrix as C takes it. Other forms of SciPy and CuPy (csc, coo, ...) are converted by their tocsr()."""
    if isinstance(A, Operand):
        return A
    result = Operand()
    form = getattr(A, "format", None)
    if form == "csr":
        indptr, indices, data = A.indptr, A.indices, A.data
    elif type(A).__module__.startswith("torch") and str(A.layout) == "torch.sparse_csr":
        indptr, indices, data = A.crow_indices(), A.col_indices(), A.values()
    elif hasattr(A, "tocsr"):
        return operand(A.tocsr())
    else:
        raise ArgumentError(f"a matrix by rows is wanted (SciPy's csr_array, CuPy's csr_matrix, PyTorch's sparse_csr "
                            f"tensor, segsparse.Matrix), and not a {type(A).__name__}")
    shape = A.shape
    if len(shape) != 2:
        raise ArgumentError(f"a matrix has 2 dimensions, and not {len(shape)}")
    if type(indptr) is np.ndarray and type(indices) is np.ndarray and type(data) is np.ndarray:
        # The way of all small products: the same as below, without objects in between.
        at, column, value = INDEX_TYPES.get(indptr.dtype), INDEX_TYPES.get(indices.dtype), MATRIX_TYPES.get(data.dtype)
        nnz = indices.size
        if (at and column and value and indptr.flags.c_contiguous and indices.flags.c_contiguous
                and data.flags.c_contiguous and indptr.shape == (shape[0] + 1,)
                and indices.shape == data.shape == (nnz,)):
            csr = result.csr = h.lsp_csr()
            set_members(csr, 0, shape[0], shape[1], nnz, address(indptr), address(indices), address(data), at, column,
                        value, 0)
            result.family, result.form, result.shape, result.nnz = HOST, A, shape, nnz
            result.indptr, result.indices, result.data = indptr, indices, data
            return result
    result.family = family_of(indptr)
    at, column = view(indptr, INDEX, "indptr"), view(indices, INDEX, "indices")
    value = None if data is None else view(data, MATRIX, "data")
    _check_lengths(shape, at.shape, column.shape, column.shape if value is None else value.shape)
    result.csr = h.lsp_csr(shape[0], shape[1], column.shape[0], at.pointer, column.pointer,
                           value.pointer if value else None, at.type, column.type, value.type if value else h.LSP_NONE,
                           h.LSP_HOST if result.family.ordinal is None else h.LSP_CUDA)
    result.form, result.shape, result.nnz = A, tuple(shape), column.shape[0]
    result.indptr, result.indices, result.data = at.array, column.array, value.array if value else None
    return result


def _check_lengths(shape: tuple, indptr: tuple, indices: tuple, data: tuple) -> None:
    if len(indptr) != 1 or indptr[0] != shape[0] + 1 or len(indices) != 1 or data != indices:
        raise ArgumentError(f"arrays of lengths {indptr}, {indices}, {data} form no matrix of shape {shape}")


def with_values(A: Operand, values: Any) -> Operand:
    """The matrix with other values: an array of as many, or a matrix of the same structure."""
    if values is None:
        return A
    if hasattr(values, "format") or hasattr(values, "layout") and str(values.layout) == "torch.sparse_csr":
        other = operand(values)
        if other.nnz != A.nnz or other.shape != A.shape:
            raise ArgumentError(f"new values come in a matrix of shape {other.shape} with {other.nnz} entries; "
                                f"the plan has {A.shape} and {A.nnz}")
        return other
    value = view(values, MATRIX, "the new values")
    if value.shape != (A.nnz,):
        raise ArgumentError(f"new values have the shape {value.shape}; the matrix has {A.nnz} entries")
    result = Operand()
    result.family, result.form, result.shape, result.nnz = A.family, A.form, A.shape, A.nnz
    result.indptr, result.indices, result.data = A.indptr, A.indices, value.array
    a = A.csr
    result.csr = h.lsp_csr(a.rows, a.cols, a.nnz, a.rowptr, a.col, value.pointer, a.rowptr_type, a.col_type,
                           value.type, a.where)
    return result


# ---- results -------------------------------------------------------------------------------------------------------

_templates: dict[type, dict] = {}
INDEX_DTYPES = {value: key for key, value in INDEX_TYPES.items()}
MATRIX_DTYPES = {value: key for key, value in MATRIX_TYPES.items()}


def _scipy(kind: type, shape: tuple, indptr: Any, indices: Any, data: Any) -> Any:
    """A matrix of SciPy without the checks of its constructor, which take longer than a small product."""
    template = _templates.get(kind)
    if template is None:
        members = kind((0, 0)).__dict__.items()
        template = _templates[kind] = {name: value for name, value in members if not name.startswith("_has_")}
    if "_shape" not in template:  # a SciPy to come
        return kind((data, indices, indptr), shape=shape, copy=False)
    result = kind.__new__(kind)
    members = result.__dict__
    members.update(template)
    members["_shape"], members["indptr"], members["indices"], members["data"] = shape, indptr, indices, data
    return result


def made(context: Context, csr: h.lsp_csr, like: Any, function: Any, *arguments: Any, size: int = sys.maxsize) -> Any:
    """The matrix that function(context, *arguments) makes in `csr`, in the form of the operand `like`, or of a Family's
    arrays. Its arrays leave the context. size: see Context.call."""
    arrays = Arrays()
    return wrapped(context, context.make(csr, arrays, function, context.pointer, *arguments, size=size), arrays, like)


_SMALL = 2000  # rows and entries of a matrix whose arrays end together


def wrapped(context: Context, members: tuple, owners: Any, like: Any) -> Any:
    """A matrix, by the members of its lsp_csr, in memory that `owners` keep."""
    rows, cols, nnz, rowptr, col, val, rowptr_type, col_type, val_type, where = members
    family, form = (like.family, like.form) if type(like) is Operand else (like, _new_form())
    kind = type(form)
    if kind in _templates and not where and rowptr_type == col_type and val_type and val:
        # The way of all small products: the same as below.
        index = INDEX_DTYPES[rowptr_type]
        memory = [host_memory(owners)] * 3 if rows + nnz < _SMALL else [host_memory(owner) for owner in owners]
        return _scipy(kind, (rows, cols), host_array(memory[0], rowptr, index, (rows + 1,)),
                      host_array(memory[1], col, index, (nnz,)),
                      host_array(memory[2], val, MATRIX_DTYPES[val_type], (nnz,)))
    if (where == h.LSP_CUDA) != (family.ordinal is not None):
        family = OnDevice(context.ordinal) if where == h.LSP_CUDA else HOST
    at, column, value = TYPESTR[rowptr_type], TYPESTR[col_type], TYPESTR.get(val_type)
    indptr = family.wrap(owners[0], rowptr, at, (rows + 1,))
    indices = family.wrap(owners[1], col, column, (nnz,))
    data = None if value is None else family.wrap(owners[2], val, value, (nnz,))
    if at != column and not isinstance(indptr, DeviceArray):  # 2^31 entries and more: one type for both, as they ask
        indptr, indices = _as_long(indptr), _as_long(indices)
    return assemble((rows, cols), indptr, indices, data, form)


def _as_long(array: Any) -> Any:
    return array.long() if type(array).__module__.startswith("torch") else array.astype("<i8", copy=False)


def assemble(shape: tuple, indptr: Any, indices: Any, data: Any, form: Any) -> Any:
    """The matrix of these arrays, in the form of `form` (None: of the arrays)."""
    module = type(indptr).__module__
    if data is None or isinstance(form, Matrix) or isinstance(indptr, DeviceArray):
        return Matrix(shape, indptr, indices, data)
    if module.startswith("cupy"):
        import cupyx.scipy.sparse
        return cupyx.scipy.sparse.csr_matrix((data, indices, indptr), shape=shape)
    if module.startswith("torch"):
        import torch
        return torch.sparse_csr_tensor(indptr, indices, data, size=shape, check_invariants=False)
    if form is None or not type(form).__module__.startswith("scipy"):
        return Matrix(shape, indptr, indices, data)
    return _scipy(type(form) if form.format == "csr" else type(form.tocsr()), shape, indptr, indices, data)


_empty: Any = None


def _new_form() -> Any:
    """The form of a matrix that comes from no other: SciPy's csr_array; None without SciPy."""
    global _empty
    if _empty is None:
        try:
            from scipy.sparse import csr_array
        except ImportError:
            return None
        _empty = csr_array((0, 0))
    return _empty


# ---- types asked for -----------------------------------------------------------------------------------------------


def csr_types(dtype: Any, place: int = h.LSP_PLACE_SOURCE) -> h.lsp_csr_types:
    """The types of a matrix to be made; dtype "pattern" is one without values."""
    types = h.lsp_csr_types(place=place)
    if isinstance(dtype, str) and dtype == "pattern":
        types.drop_values = True
    elif dtype is not None:
        typestr = typestr_of(dtype)
        if typestr not in MATRIX:
            raise UnsupportedError(f"dtype is {np.dtype(typestr)}; a matrix may have "
                                   + ", ".join(sorted(str(np.dtype(name)) for name in MATRIX)) + ' or "pattern"')
        types.val_type = TYPES[typestr]
    return types


def size_of(*operands: Operand) -> int:
    """The work of a call that reads operands, see Context.call: their entries and rows."""
    return sum([one.nnz + one.shape[0] for one in operands])


def products_of(a: Operand, b: Operand) -> int:
    """The work of a product: what its number of multiplications would be if entries were spread evenly."""
    rows, cols = a.shape
    return a.nnz * b.nnz // ((rows if rows < cols else cols) or 1) + a.nnz + b.nnz


def common(*operands: Operand) -> Context:
    """The context for operands, which lie in one place."""
    first = operands[0].family
    if operands[-1].family is first and len(operands) < 3:
        return first.context()
    for other in operands[1:]:
        if other.family.ordinal != first.ordinal:
            raise ArgumentError(f"matrices lie in different places: {place(first)} and {place(other.family)}")
    return first.context()


# ---- functions of one matrix ---------------------------------------------------------------------------------------


def unary(function: Any, A: Sparse, *arguments: Any) -> Any:
    """function(context, A, arguments, B) as a matrix B."""
    a, B = operand(A), h.lsp_csr()
    context = common(a)
    return made(context, B, a, function, byref(a.csr), *arguments, byref(B), size=size_of(a))


def changed(function: Any, A: Sparse, *arguments: Any) -> Any:
    """A copy of A that function(context, copy, arguments) has changed in place."""
    a, B = operand(A), h.lsp_csr()
    context = common(a)
    size = size_of(a)
    context.call(lib.lsp_csr_copy, byref(a.csr), None, byref(B), size=size)
    try:
        return made(context, B, a, function, byref(B), *arguments, size=size)
    except BaseException:
        context.call(lib.lsp_csr_free, byref(B))
        raise


def to_device(x: Array, ordinal: int = 0) -> Any:
    """A copy of an array or of a matrix on a GPU, as DeviceArray or segsparse.Matrix.

    >>> import numpy, segsparse
    >>> segsparse.cuda_device_count() == 0 or len(segsparse.to_device(numpy.ones(4))) == 4
    True
    """
    family = OnDevice(whole("ordinal", ordinal, *INT))
    if isinstance(x, np.ndarray):
        return family.put(x)
    A = operand(x)
    data = None if A.data is None else family.put(np.asarray(A.data))
    return Matrix(A.shape, family.put(np.asarray(A.indptr)), family.put(np.asarray(A.indices)), data)
