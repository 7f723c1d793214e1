"""Products of sparse matrices, at once, in plans, many in one call, and larger than memory."""

from __future__ import annotations

from ctypes import addressof, byref, c_void_p
from typing import Any, Callable, Sequence

from . import _header as h
from ._arrays import Array
from ._context import Context, Handle
from ._errors import ArgumentError, choose, real, whole
from ._library import Arrays, as_dict, lib, members_of
from ._matrix import Operand, Sparse, common, csr_types, made, operand, products_of, with_values, wrapped

SEMIRINGS = {lib.lsp_semiring_name(i).decode(): i for i in range(h.LSP_SEMIRINGS)}


def _options(operands: tuple, semiring: str = "plus-times", transpose_a: bool = False, transpose_b: bool = False,
             dtype: Any = None, mask: Sparse | None = None, complement: bool = False, drop: float | None = None,
             keep: int | None = None, place: int = h.LSP_PLACE_SOURCE) -> h.lsp_spgemm_options:
    chosen = filter_of(operands, mask, complement, drop, keep)
    options = h.lsp_spgemm_options(semiring=choose(SEMIRINGS, semiring, "semiring"), transpose_a=bool(transpose_a),
                                   transpose_b=bool(transpose_b), types=csr_types(dtype, place), filter=chosen)
    options.kept = chosen  # its mask
    return options


def filter_of(operands: tuple, mask: Any, complement: bool, drop: float | None, keep: int | None) -> h.lsp_filter:
    """The filter of these arguments. It keeps the mask alive."""
    most = 0 if keep is None else whole("keep", keep)
    if keep is not None and most < 1:
        raise ArgumentError(f"keep is {keep}: at least 1 entry of a row is kept")
    chosen = h.lsp_filter(complement=bool(complement), drop=drop is not None, largest=most,
                          tolerance=0 if drop is None else real("drop", drop))
    if mask is not None:
        chosen.kept = operand(mask)
        common(*operands, chosen.kept)
        chosen.mask = addressof(chosen.kept.csr)
    return chosen


def multiply(A: Sparse, B: Sparse, *, mask: Sparse | None = None, complement: bool = False,
             semiring: str = "plus-times", drop: float | None = None, keep: int | None = None,
             transpose_a: bool = False, transpose_b: bool = False, dtype: Any = None,
             out_of_core: Callable[[int, Any], Any] | None = None, block_bytes: int = 0) -> Any:
    """C = A B, with sorted rows, in the form of A. The bits are the same on every device, for any number of threads.

    >>> import numpy, scipy.sparse, segsparse
    >>> A = scipy.sparse.csr_array(numpy.array([[1.0, 2.0], [0.0, 3.0]]))
    >>> segsparse.multiply(A, A).toarray().tolist()
    [[1.0, 8.0], [0.0, 9.0]]
    >>> segsparse.multiply(A, A, keep=1).toarray().tolist()
    [[0.0, 8.0], [0.0, 9.0]]

    mask: C only where this matrix has entries; complement=True: only where it has none.
    semiring: "plus-times", "min-plus", "max-times", "or-and" or "plus-pair".
    drop: entries with |value| <= drop are left out. keep: in each row only so many of the largest |value|.
    dtype: of C; "pattern" is a matrix without values. None: the wider type of A and B.
    out_of_core: a function of (first_row, block), called with one block of rows after another, for a C larger than
    memory; then nothing is returned. block_bytes bounds a block before it is filtered.
    """
    if block_bytes != 0:
        block_bytes = whole("block_bytes", block_bytes)
    a = operand(A)
    b = a if B is A else operand(B)
    context = common(a, b)
    options = None
    plain = mask is None and drop is None and keep is None and not complement
    if not (plain and dtype is None and semiring == "plus-times" and not transpose_a and not transpose_b
            and out_of_core is None):
        on_gpu = context.cuda and a.family.ordinal is None and not (plain and out_of_core is None)
        options = byref(_options((a, b), semiring, transpose_a, transpose_b, dtype, mask, complement, drop, keep,
                                 h.LSP_PLACE_CUDA if on_gpu else h.LSP_PLACE_SOURCE))
    if out_of_core is None:
        C = h.lsp_csr()
        return made(context, C, a, lib.lsp_spgemm, byref(a.csr), byref(b.csr), options, byref(C), None,
                    size=products_of(a, b))
    def sink(user, first_row, rows):
        block, arrays = h.lsp_csr(), Arrays()
        copy = context.taken(lib.lsp_csr_copy(context.pointer, rows, None, byref(block)), block, arrays)
        out_of_core(first_row, wrapped(context, copy, arrays, a))
        return h.LSP_OK

    context.call(lib.lsp_spgemm_stream, byref(a.csr), byref(b.csr), options, block_bytes,
                 h.lsp_spgemm_sink(context.guarded(sink, h.LSP_ERR_ARGUMENT)), None, None)
    return None


def explain(A: Sparse, B: Sparse, *, semiring: str = "plus-times", transpose_a: bool = False, transpose_b: bool = False,
            dtype: Any = None) -> dict:
    """How A B would be made: method, reason, multiplications, bounds of its entries and bytes.

    >>> import segsparse
    >>> A = segsparse.generate("poisson2d:10")
    >>> segsparse.explain(A, A)["products"]
    2148
    """
    a, b, info = operand(A), operand(B), h.lsp_spgemm_info()
    options = _options((a, b), semiring, transpose_a, transpose_b, dtype)
    common(a, b).call(lib.lsp_spgemm_explain, byref(a.csr), byref(b.csr), byref(options), byref(info),
                      size=products_of(a, b))
    return as_dict(info)


def triple(R: Sparse, A: Sparse, P: Sparse, *, semiring: str = "plus-times", dtype: Any = None) -> Any:
    """C = R A P; R None stands for P transposed. The product with fewer multiplications is made first.

    >>> import segsparse
    >>> A = segsparse.generate("poisson2d:8")
    >>> P = segsparse.generate("amg:8:T")
    >>> segsparse.triple(None, A, P).shape == (P.shape[1], P.shape[1])
    True
    """
    r, a, p, C = None if R is None else operand(R), operand(A), operand(P), h.lsp_csr()
    context = common(a, p) if r is None else common(a, p, r)
    options = _options((a, p), semiring, dtype=dtype)
    return made(context, C, a, lib.lsp_spgemm_triple, byref(r.csr) if r else None, byref(a.csr), byref(p.csr),
                byref(options), byref(C), None, size=products_of(a, p))


# ---- many products in one call -------------------------------------------------------------------------------------


class _Batch:
    """The memory of a batch, as long as an array of one of its products is used."""

    def __init__(self, context: Context, products: Any):
        self.context, self.products = context, products

    def __del__(self) -> None:
        self.context.bury(self._free, (self.context, self.products))

    @staticmethod
    def _free(both: tuple, free: Any = lib.lsp_spgemm_batch_free) -> None:
        context, products = both
        free(context.pointer, len(products), products)


def multiply_batch(A: Sequence, B: Sequence, *, semiring: str = "plus-times", transpose_a: bool = False,
                   transpose_b: bool = False, dtype: Any = None) -> list:
    """The products A[i] B[i]: for many small matrices, which take longer one by one.

    >>> import segsparse
    >>> A = segsparse.generate("poisson2d:3")
    >>> len(segsparse.multiply_batch([A] * 10, [A] * 10))
    10
    """
    if len(A) != len(B):
        raise ArgumentError(f"{len(A)} matrices cannot be multiplied by {len(B)}, one by one")
    if not len(A):
        return []
    known: dict[int, Operand] = {}
    for matrix in (*A, *B):
        if id(matrix) not in known:
            known[id(matrix)] = operand(matrix)
    a, b = [known[id(matrix)] for matrix in A], [known[id(matrix)] for matrix in B]
    context = common(*known.values())
    options = _options((), semiring, transpose_a, transpose_b, dtype)
    products = (h.lsp_csr * len(a))()
    context.call(lib.lsp_spgemm_batch, len(a), (h.lsp_csr * len(a))(*(one.csr for one in a)),
                 (h.lsp_csr * len(a))(*(one.csr for one in b)), byref(options), products, None,
                 size=sum(map(products_of, a, b)))
    batch = _Batch(context, products)
    return [wrapped(context, members_of(product), (batch,) * 3, one) for product, one in zip(products, a)]


# ---- plans ---------------------------------------------------------------------------------------------------------


class _Plan:
    """A call whose matrices keep their structure while values change."""

    _name = ""  # in C: lsp_NAME_plan_create, lsp_NAME_execute, lsp_NAME_refill

    def __init__(self, operands: tuple, options: Any):
        self._operands = operands
        self._context = common(*(one for one in operands if one is not None))
        first = next(one for one in operands if one is not None)
        self._form, self._result, self._csr = first, None, None
        given = [one for one in operands if one is not None]
        handle, self._size = c_void_p(), products_of(given[0], given[-1])
        extra = () if options is None else (byref(options),)
        self._context.call(getattr(lib, f"lsp_{self._name}_plan_create"), *self._pointers(), *extra, byref(handle),
                           size=self._size)
        self._handle = Handle(self._context, getattr(lib, f"lsp_{self._name}_plan_destroy"), handle.value)

    def _pointers(self) -> list:
        return [None if one is None else byref(one.csr) for one in self._operands]

    def _arguments(self) -> list:
        return self._pointers()

    def execute(self) -> Any:
        """The result, in new arrays."""
        C = h.lsp_csr()
        arrays = Arrays()
        csr = self._context.make(C, arrays, getattr(lib, f"lsp_{self._name}_execute"), self._handle.value,
                                 *self._arguments(), byref(C), size=self._size)
        self._result = wrapped(self._context, csr, arrays, self._form)
        self._csr = operand(self._result)
        return self._result

    def update(self, *values: Array) -> Any:
        """Computes the result again, into the same arrays, and returns it. `values`: new ones for each matrix, in
        order, as an array or as a matrix of the same structure; None keeps the old ones, or what they are now."""
        if len(values) > len(self._operands):
            raise ArgumentError(f"new values of {len(values)} matrices are given; the plan has {len(self._operands)}")
        self._operands = tuple(one if one is None else with_values(one, new) for one, new in
                               zip(self._operands, values + (None,) * (len(self._operands) - len(values))))
        if self._result is None:
            return self.execute()
        self._context.run(getattr(lib, f"lsp_{self._name}_refill"), self._handle.value, *self._arguments(),
                          byref(self._csr.csr), size=self._size)
        return self._result

    @property
    def info(self) -> dict:
        """What the plan is: method, reason, bytes."""
        info = h.lsp_spgemm_info() if self._name.startswith("spgemm") else h.lsp_csr_plan_info()
        both = (None, byref(info)) if self._name == "spgemm_triple" else (byref(info),)
        self._context.run(getattr(lib, f"lsp_{self._name}_plan_get_info"), self._handle.value, *both, size=0)
        return as_dict(info)


class MultiplyPlan(_Plan):
    """Products A B of one structure, whose values change.

    >>> import segsparse
    >>> A = segsparse.generate("poisson2d:10")
    >>> plan = segsparse.MultiplyPlan(A, A)
    >>> C = plan.execute()
    >>> C is plan.update(2 * A.data)
    True
    >>> float(C[0, 0])
    36.0
    """

    _name = "spgemm"

    def __init__(self, A: Sparse, B: Sparse, *, semiring: str = "plus-times", transpose_a: bool = False,
                 transpose_b: bool = False, dtype: Any = None):
        operands = operand(A), operand(B)
        super().__init__(operands, _options(operands, semiring, transpose_a, transpose_b, dtype))


class TriplePlan(_Plan):
    """Products R A P of one structure; R None stands for P transposed.

    >>> import segsparse
    >>> A, P = segsparse.generate("poisson2d:8"), segsparse.generate("amg:8:T")
    >>> plan = segsparse.TriplePlan(None, A, P)
    >>> C = plan.execute()
    >>> C = plan.update(None, 2 * A.data)
    """

    _name = "spgemm_triple"

    def __init__(self, R: Sparse, A: Sparse, P: Sparse, *, semiring: str = "plus-times", dtype: Any = None):
        operands = None if R is None else operand(R), operand(A), operand(P)
        super().__init__(operands, _options(operands[1:], semiring, dtype=dtype))
        self._form = operands[1]


class TransposePlan(_Plan):
    """Transposes of one structure.

    >>> import segsparse
    >>> A = segsparse.generate("er:10:3")
    >>> plan = segsparse.TransposePlan(A)
    >>> T = plan.execute()
    >>> T = plan.update(-A.data)
    """

    _name = "csr_transpose"

    def __init__(self, A: Sparse):
        super().__init__((operand(A),), None)


class AddPlan(_Plan):
    """Sums alpha A + beta B of one structure; alpha and beta may be changed.

    >>> import segsparse
    >>> A = segsparse.generate("poisson2d:10")
    >>> plan = segsparse.AddPlan(1, A, 2, A)
    >>> float(plan.execute()[0, 0])
    12.0
    """

    _name = "csr_add"

    def __init__(self, alpha: float, A: Sparse, beta: float, B: Sparse):
        self.alpha, self.beta = real("alpha", alpha), real("beta", beta)
        super().__init__((operand(A), operand(B)), None)

    def _arguments(self) -> list:
        a, b = self._pointers()
        return [real("alpha", self.alpha), a, real("beta", self.beta), b]
