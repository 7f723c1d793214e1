import numpy as np
import pytest
import scipy.sparse as sp
import segsparse
from conftest import matrix, same


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64, np.int32, np.bool_])
def test_product_is_scipys(place, dtype, index):
    A, B = matrix(60, 50, dtype=dtype, index=index), matrix(50, 70, seed=2, dtype=dtype, index=index)
    C = place.get(segsparse.multiply(place.put(A), place.put(B)))
    same(C, A @ B)
    C.check_format(full_check=True)


def test_result_has_the_form_of_the_first_argument():
    A = matrix(20, 20)
    for kind in (sp.csr_array, sp.csr_matrix):
        C = segsparse.multiply(kind(A), A)
        assert type(C) is kind
        C += C  # a whole matrix of SciPy
        assert C.T.tocsr().shape == (20, 20) and (C @ np.ones(20)).shape == (20,)
    plain = segsparse.Matrix(A.shape, A.indptr, A.indices, A.data)
    assert type(segsparse.multiply(plain, A)) is segsparse.Matrix
    for form in ("csc", "coo", "bsr", "lil"):
        assert type(segsparse.multiply(A.asformat(form), A)) is sp.csr_array


def test_patterns_have_no_values(place):
    A = matrix(30, 30)
    P = place.put(segsparse.Matrix(A.shape, A.indptr, A.indices, None))
    C = segsparse.multiply(P, P)
    assert C.data is None
    assert (place.get(C).todense() == ((A @ A).todense() > 0)).all()
    counts = place.get(segsparse.multiply(P, P, semiring="plus-pair"))
    ones = sp.csr_array((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
    same(counts, ones @ ones)
    assert segsparse.multiply(place.put(A), place.put(A), dtype="pattern").data is None


def test_transposes_and_type(place):
    A, B = matrix(40, 30), matrix(40, 20, seed=2)
    a, b = place.put(A), place.put(B)
    same(place.get(segsparse.multiply(a, b, transpose_a=True)), (A.T @ B).tocsr())
    same(place.get(segsparse.multiply(b, b, transpose_b=True)), (B @ B.T).tocsr())
    assert place.get(segsparse.multiply(a, b, transpose_a=True, dtype=np.complex128)).dtype == np.complex128


def test_semirings(place):
    A = matrix(25, 25, 0.2)
    D = np.where(A.toarray() == 0, np.inf, A.toarray())
    a = place.put(A)
    C = place.get(segsparse.multiply(a, a, semiring="min-plus"))
    expected = (D[:, :, None] + D[None, :, :]).min(axis=1)
    assert (C.toarray()[expected < np.inf] == expected[expected < np.inf]).all()
    assert C.nnz == (expected < np.inf).sum()
    with pytest.raises(segsparse.ArgumentError, match="min-plus"):
        segsparse.multiply(A, A, semiring="min")


def test_mask_drop_and_keep(place):
    A, M = matrix(50, 50), matrix(50, 50, seed=3)
    a, m = place.put(A), place.put(M)
    full = (A @ A).toarray()
    inside = M.toarray() != 0
    assert (place.get(segsparse.multiply(a, a, mask=m)).toarray() == full * inside).all()
    assert (place.get(segsparse.multiply(a, a, mask=m, complement=True)).toarray() == full * ~inside).all()
    assert (place.get(segsparse.multiply(a, a, drop=6)).toarray() == np.where(full > 6, full, 0)).all()
    top = place.get(segsparse.multiply(a, a, keep=3))
    assert np.diff(top.indptr).max() == 3
    for i in range(50):
        kept = np.sort(top.toarray()[i][top.toarray()[i] > 0])
        assert (kept == np.sort(full[i])[::-1][:len(kept)][::-1]).all()


def test_out_of_core_gives_the_same_rows(place):
    A = matrix(300, 300)
    a, blocks = place.put(A), []
    assert segsparse.multiply(a, a, out_of_core=lambda row, block: blocks.append((row, place.get(block))),
                              block_bytes=20000) is None
    assert len(blocks) > 1 and [row for row, _ in blocks] == list(np.cumsum([0] + [b.shape[0] for _, b in blocks])[:-1])
    same(sp.csr_array(sp.vstack([block for _, block in blocks])), A @ A)


def test_out_of_core_function_may_multiply_and_raise():
    A = matrix(200, 200)
    rows = []
    segsparse.multiply(A, A, out_of_core=lambda row, block: rows.append(segsparse.multiply(block, A).shape[0]),
                       block_bytes=20000)
    assert sum(rows) == 200 and len(rows) > 1

    def fail(row, block):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        segsparse.multiply(A, A, out_of_core=fail)
    same(segsparse.multiply(A, A), A @ A)  # the context works on


def test_triple(place):
    A, P = matrix(40, 40), matrix(40, 10, seed=2)
    a, p = place.put(A), place.put(P)
    same(place.get(segsparse.triple(None, a, p)), (P.T @ A @ P).tocsr())
    same(place.get(segsparse.triple(place.put(P.T.tocsr()), a, p)), (P.T @ A @ P).tocsr())


def test_batch_lives_as_long_as_a_product(place):
    A = [matrix(n, 9, seed=n) for n in (3, 9, 5)]
    B = [matrix(9, n, seed=n) for n in (4, 1, 9)]
    products = segsparse.multiply_batch([place.put(one) for one in A], [place.put(one) for one in B])
    del products[0]
    for C, a, b in zip(products, A[1:], B[1:]):
        same(place.get(C), a @ b)
    assert segsparse.multiply_batch([], []) == []


def test_plans(place):
    A, P = matrix(40, 40), matrix(40, 10, seed=2)
    a, p = place.put(A), place.put(P)
    doubled = place.put(2 * A.data)
    plan = segsparse.MultiplyPlan(a, p)
    C = plan.execute()
    same(place.get(C), A @ P)
    assert plan.update(doubled) is C
    same(place.get(C), 2 * (A @ P))
    assert plan.update(None, place.put(3 * P)) is C
    same(place.get(C), 6 * (A @ P))
    assert plan.info["nnz"] == C.nnz

    plan = segsparse.TriplePlan(None, a, p)
    C = plan.execute()
    plan.update(None, doubled)
    same(place.get(C), 2 * (P.T @ A @ P).tocsr())

    plan = segsparse.TransposePlan(a)
    C = plan.execute()
    plan.update(doubled)
    same(place.get(C), 2 * A.T.tocsr())

    plan = segsparse.AddPlan(1, a, 2, a)
    C = plan.execute()
    plan.alpha = 5
    plan.update()
    same(place.get(C), 7 * A)
    with pytest.raises(segsparse.ArgumentError, match="the matrix has"):
        plan.update(np.ones(3))


def test_explain():
    A = segsparse.generate("poisson2d:10")
    assert segsparse.explain(A, A)["reason"]
