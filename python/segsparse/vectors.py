"""Sparse matrices times vectors, and linear systems."""

from __future__ import annotations

from ctypes import byref, c_void_p, memmove
from typing import Any, Callable, NamedTuple

import numpy as np

from . import _header as h
from ._arrays import REAL, Array, Output, View, array_of, place, typestr_of, view
from ._context import Handle
from ._errors import INT, ArgumentError, ConvergenceError, UnsupportedError, choose, real, whole
from ._families import HOST, TYPES, Family, family_of
from ._library import as_dict, lib
from ._matrix import Matrix, Operand, Sparse, operand, size_of, with_values
from .products import SEMIRINGS, multiply

METHODS = {lib.lsp_spmv_method_name(i).decode(): i for i in range(h.LSP_SPMV_METHODS)}


def _typestr(a: Operand, dtype: Any) -> str:
    """The type of vectors: as asked for, or as the values."""
    typestr = typestr_of(dtype) if dtype is not None else a.typestr if a.typestr in REAL else "<f8"
    if typestr not in REAL:
        raise UnsupportedError(f"vectors have float32 or float64, and not {np.dtype(typestr)}")
    if a.typestr not in REAL and a.typestr is not None:
        raise UnsupportedError(f"the matrix has values of {np.dtype(a.typestr)}: products with vectors take float32, "
                               "float64 or a pattern")
    return typestr


def _vector(x: Any, typestr: str, length: int, family: Family, what: str, write: bool = False) -> View:
    v = view(x, frozenset((typestr,)), what, write, dims=(1, 2))
    if family_of(v.array).ordinal != family.ordinal:
        raise ArgumentError(f"{what} does not lie where the matrix does, on {place(family)}")
    if v.shape[0] != length:
        raise ArgumentError(f"{what} has the shape {v.shape}: its length must be {length}")
    return v


def _columns(x: Any) -> int:
    """How many vectors; 0: it is a vector itself."""
    return x.shape[1] if len(x.shape) == 2 else 0


def _shaped(columns: int) -> str:
    return f"a matrix of {columns} columns" if columns else "a vector"


def _result(like: View, family: Family, shape: tuple, typestr: str) -> Any:
    """A new vector, of the family of another one."""
    other = family_of(like.array)
    return (other if other.ordinal == family.ordinal else family).empty(shape, typestr)


class _Product:
    """What spmv and SpmvPlan share: Y = alpha op(A) X + beta Y."""

    def __init__(self, A: Sparse, transpose: bool, dtype: Any, semiring: str, method: str, vectors: int):
        self.A = operand(A)
        self.shape = tuple(reversed(self.A.shape)) if transpose else self.A.shape
        self.typestr = _typestr(self.A, dtype)
        self.options = h.lsp_spmv_options(transpose=bool(transpose), semiring=choose(SEMIRINGS, semiring, "semiring"),
                                          vectors=whole("vectors", vectors, *INT), type=TYPES[self.typestr],
                                          method=choose(METHODS, method, "method"))

    def run(self, call: Callable, x: Any, y: Any, alpha: float, beta: float) -> Any:
        family = self.A.family
        X = _vector(x, self.typestr, self.shape[1], family, "x")
        shape = (self.shape[0], *X.shape[1:])
        if y is None:
            if real("beta", beta):
                raise ArgumentError(f"beta is {beta}, but there is no y")
            y = _result(X, family, shape, self.typestr)
        Y = _vector(y, self.typestr, self.shape[0], family, "y", write=True)
        if Y.shape != shape:
            raise ArgumentError(f"y has the shape {Y.shape}, and not {shape}")
        call(byref(h.lsp_spmv_vectors(alpha=real("alpha", alpha), beta=real("beta", beta), x=X.pointer, y=Y.pointer)))
        family_of(Y.array).finish()
        return y


def spmv(A: Sparse, x: Array, y: Output | None = None, *, alpha: float = 1, beta: float = 0, transpose: bool = False,
         semiring: str = "plus-times", dtype: Any = None, method: str = "auto") -> Any:
    """y = alpha op(A) x + beta y, where x is a vector or has several columns. Without y a new vector is made.

    >>> import numpy, segsparse
    >>> A = segsparse.generate("poisson2d:3")
    >>> segsparse.spmv(A, numpy.ones(9)).tolist()
    [2.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 2.0]
    """
    x = array_of(x, None, "x")
    product = _Product(A, transpose, dtype, semiring, method, _columns(x))
    context = product.A.family.context()
    return product.run(lambda vectors: context.call(lib.lsp_spmv, byref(product.A.csr), byref(product.options),
                                                    vectors, None, size=0), x, y, alpha, beta)


def _times(A: Matrix, other: Any) -> Any:
    """A @ other: a vector or a matrix."""
    vector = hasattr(other, "__len__") and not hasattr(other, "indptr")
    return spmv(A, other) if vector else multiply(A, other)


Matrix.__matmul__ = _times


class SpmvPlan(_Product):
    """A matrix that is multiplied by many vectors: plan @ x. scipy.sparse.linalg takes it as an operator.

    >>> import numpy, segsparse
    >>> A = segsparse.generate("poisson2d:3")
    >>> plan = segsparse.SpmvPlan(A)
    >>> bool((plan @ numpy.ones(9) == A @ numpy.ones(9)).all())
    True
    >>> plan.update(2 * A.data)
    >>> (plan @ numpy.ones(9)).tolist()
    [4.0, 2.0, 4.0, 2.0, 0.0, 2.0, 4.0, 2.0, 4.0]

    vectors: how many columns x has (0: x is a vector). expected_calls: 0 is many; few may not pay for a plan.
    """

    def __init__(self, A: Sparse, *, transpose: bool = False, semiring: str = "plus-times", dtype: Any = None,
                 method: str = "auto", vectors: int = 0, expected_calls: int = 0):
        super().__init__(A, transpose, dtype, semiring, method, vectors)
        self.options.expected_calls = whole("expected_calls", expected_calls)
        self.dtype = np.dtype(self.typestr)
        self._context = self.A.family.context()
        handle = c_void_p()
        self._context.call(lib.lsp_spmv_plan_create, byref(self.A.csr), byref(self.options), byref(handle),
                           size=size_of(self.A))
        self._handle = Handle(self._context, lib.lsp_spmv_plan_destroy, handle.value)

    def __matmul__(self, x: Array) -> Any:
        return self.multiply(x)

    def matvec(self, x: Array) -> Any:
        """plan @ x."""
        return self.multiply(x)

    def multiply(self, x: Array, y: Output | None = None, *, alpha: float = 1, beta: float = 0) -> Any:
        """y = alpha op(A) x + beta y."""
        x = array_of(x, None, "x")
        columns = _columns(x)
        if columns != self.options.vectors:
            raise ArgumentError(f"x is {_shaped(columns)}; the plan is for {_shaped(self.options.vectors)}")
        return self.run(lambda vectors: self._context.run(lib.lsp_spmv_execute, self._handle.value, vectors, size=0),
                        x, y, alpha, beta)  # size 0: once it writes y, a product with vectors goes on to its end

    def update(self, values: Array) -> None:
        """Takes new values: an array, or a matrix of the same structure."""
        A = with_values(self.A, values)
        self._context.run(lib.lsp_spmv_update, self._handle.value, byref(A.csr), size=size_of(A))
        self.A = A

    @property
    def info(self) -> dict:
        """The method and why, predicted seconds, bytes."""
        info = h.lsp_spmv_info()
        self._context.run(lib.lsp_spmv_plan_get_info, self._handle.value, byref(info), size=0)
        return as_dict(info)


# ---- linear systems ------------------------------------------------------------------------------------------------


class Solution(NamedTuple):
    """What a solver ends with: x, and how it ended (iterations, residual, reason in words ...).

    >>> import numpy, segsparse
    >>> segsparse.cg(segsparse.generate("poisson2d:5"), numpy.ones(25)).info["iterations"] < 25
    True
    """

    x: Any
    info: dict


def _reals(a: Operand) -> Operand:
    """A matrix that solvers take: whole numbers become float64."""
    if a.typestr in ("<i4", "<i8", "|b1") and hasattr(a.data, "astype"):
        return with_values(a, a.data.astype("<f8"))
    return a


class _Solver:
    """A solver's options, and the functions of the caller that C calls."""

    def __init__(self, A: Sparse, n: int | None, dtype: Any, rtol: float, atol: float, maxiter: int, M: Any,
                 callback: Callable | None, method: str, use_x0: bool):
        self.operator = callable(A) and not hasattr(A, "format") and not hasattr(A, "layout")
        self.A = None if self.operator else _reals(operand(A))
        self.family = HOST if self.A is None else self.A.family
        if self.A is not None and self.A.shape[0] != self.A.shape[1]:
            raise ArgumentError(f"the matrix is not square: its shape is {self.A.shape}")
        self.n = n if self.A is None else self.A.shape[0]
        self.typestr = _typestr(self.A, dtype) if self.A is not None else typestr_of(dtype or "<f8")
        if self.typestr not in REAL:
            raise UnsupportedError(f"vectors have float32 or float64, and not {np.dtype(self.typestr)}")
        self.context = self.family.context()
        self.options = h.lsp_solve_options(type=TYPES[self.typestr], rtol=real("rtol", rtol), atol=real("atol", atol),
                                           max_iterations=whole("maxiter", maxiter), use_x0=use_x0,
                                           method=choose(METHODS, method, "method"))
        if isinstance(M, str) and M in ("jacobi", "multigrid"):
            self.options.precondition = getattr(h, f"LSP_PRECONDITION_{M.upper()}")
        elif callable(M):
            self.options.precondition = h.LSP_PRECONDITION_USER
            self.options.precondition_apply = self._applied(M)
        elif M is not None:
            raise ArgumentError(f'M is {M!r}: it must be None, "jacobi", "multigrid" or a function')
        if self.operator:
            self.options.operator_apply = self._applied(A)
            self.options.n = self.n

        def after(user, iteration, residual):
            return bool(callback is not None and callback(iteration, residual))

        self.options.on_iteration = h.lsp_iteration_fn(self.context.guarded(after, True))

    def _applied(self, function: Callable) -> Any:
        if self.family.ordinal is not None:
            raise UnsupportedError("functions as a matrix or as a preconditioner are for vectors on the host")
        n, typestr = self.n, self.typestr

        def apply(user, context, x, y):
            given = np.empty(n, typestr)
            memmove(given.ctypes.data, x, given.nbytes)
            answer = np.ascontiguousarray(function(given), typestr)
            if answer.shape != (n,):
                raise ArgumentError(f"a function of a solver returns the shape {answer.shape}, and not {(n,)}")
            memmove(y, answer.ctypes.data, answer.nbytes)
            return h.LSP_OK

        return h.lsp_apply_fn(self.context.guarded(apply, h.LSP_ERR_ARGUMENT))

    def _one(self, x: Any, what: str) -> View:
        v = _vector(x, self.typestr, self.n, self.family, what)
        if v.shape not in ((self.n,), (self.n, 1)):
            raise ArgumentError(f"{what} has the shape {v.shape}: solve for one column after the other")
        return v

    def run(self, call: Callable, b: Any, x0: Any) -> Solution:
        b = self._one(b, "b")
        x = _result(b, self.family, (self.n,), self.typestr)
        X = view(x, None)
        if x0 is not None:
            first = self._one(x0, "x0")
            where = int(self.family.ordinal is not None)
            self.context.call(lib.lsp_array_copy, X.pointer, where, first.pointer, where, self.n * X.itemsize)
        info = h.lsp_solve_info()
        try:
            call(b.pointer, X.pointer, byref(info))
        except ConvergenceError as error:
            error.solution = Solution(x, as_dict(info))
            raise
        return Solution(x, as_dict(info))


def _solve(name: str, A: Sparse, b: Any, x0: Any, rtol: float, atol: float, maxiter: int, M: Any, callback: Any,
           dtype: Any, method: str) -> Solution:
    n = len(b) if getattr(b, "shape", True) and hasattr(b, "__len__") else 0
    solver = _Solver(A, n, dtype, rtol, atol, maxiter, M, callback, method, x0 is not None)
    matrix = None if solver.A is None else byref(solver.A.csr)
    return solver.run(lambda b, x, info: solver.context.call(getattr(lib, name), matrix, b, byref(solver.options), x,
                                                             info), b, x0)


def cg(A: Sparse, b: Array, x0: Array | None = None, *, rtol: float = 0, atol: float = 0, maxiter: int = 0,
       M: Any = None, callback: Callable[[int, float], Any] | None = None, dtype: Any = None,
       method: str = "auto") -> Solution:
    """Solves A x = b by conjugate gradients, for a symmetric positive definite A, which may be a function of x.

    >>> import numpy, segsparse
    >>> A = segsparse.generate("poisson2d:20")
    >>> x, info = segsparse.cg(A, numpy.ones(400), M="multigrid")
    >>> bool(abs(A @ x - 1).max() < 1e-6), info["iterations"] < 20
    (True, True)

    rtol: of the residual |b - A x| / |b|; 0 is 1e-8, with float32 1e-4. maxiter: 0 is 10 n, at most 100,000.
    M: the preconditioner: "jacobi", "multigrid" or a function of the residual. callback(iteration, residual): True ends
    the solver.
    Raises ConvergenceError, whose `solution` holds the last iterate, if the tolerance is not reached.
    """
    return _solve("lsp_cg", A, b, x0, rtol, atol, maxiter, M, callback, dtype, method)


def bicgstab(A: Sparse, b: Array, x0: Array | None = None, *, rtol: float = 0, atol: float = 0, maxiter: int = 0,
             M: Any = None, callback: Callable[[int, float], Any] | None = None, dtype: Any = None,
             method: str = "auto") -> Solution:
    """Solves A x = b by BiCGStab, for any square A. All else is as in cg.

    >>> import numpy, segsparse
    >>> A = segsparse.triu(segsparse.generate("poisson2d:20"))
    >>> x, info = segsparse.bicgstab(A, numpy.ones(400))
    >>> bool(abs(A @ x - 1).max() < 1e-6)
    True
    """
    return _solve("lsp_bicgstab", A, b, x0, rtol, atol, maxiter, M, callback, dtype, method)


class SolvePlan:
    """A system that is solved for several right-hand sides, or with several values of one structure.

    >>> import numpy, segsparse
    >>> A = segsparse.generate("poisson2d:20")
    >>> plan = segsparse.SolvePlan(A, solver="cg", M="jacobi")
    >>> x, info = plan.solve(numpy.ones(400))
    >>> plan.update(2 * A.data)
    >>> y, info = plan.solve(numpy.ones(400))
    >>> bool(abs(2 * y - x).max() < 1e-6)
    True
    """

    def __init__(self, A: Sparse, *, solver: str = "cg", rtol: float = 0, atol: float = 0, maxiter: int = 0,
                 M: Any = None, callback: Callable[[int, float], Any] | None = None, dtype: Any = None,
                 method: str = "auto"):
        choose({"cg": 0, "bicgstab": 0}, solver, "solver")
        self._solver = _Solver(A, None, dtype, rtol, atol, maxiter, M, callback, method, False)
        if self._solver.A is None:
            raise UnsupportedError("a plan needs a matrix, and not a function")
        self._context, handle = self._solver.context, c_void_p()
        self._context.call(getattr(lib, f"lsp_{solver}_plan_create"), byref(self._solver.A.csr),
                           byref(self._solver.options), byref(handle))
        self._handle = Handle(self._context, lib.lsp_solve_plan_destroy, handle.value)

    def solve(self, b: Array) -> Solution:
        """The solution for one right-hand side."""
        return self._solver.run(lambda b, x, info: self._context.run(lib.lsp_solve_execute, self._handle.value, b, x,
                                                                     info), b, None)

    def update(self, values: Array) -> None:
        """Takes new values: an array, or a matrix of the same structure."""
        A = _reals(with_values(self._solver.A, values))
        self._context.run(lib.lsp_solve_update, self._handle.value, byref(A.csr))
        self._solver.A = A
