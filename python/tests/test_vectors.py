import numpy as np
import pytest
import segsparse
from conftest import matrix


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_product_with_vectors_is_scipys(place, dtype, index):
    A = matrix(60, 50, dtype=dtype, index=index)
    a = place.put(A)
    x, X, y = (np.arange(np.prod(shape), dtype=dtype).reshape(shape) for shape in ((50,), (50, 3), (60,)))
    assert (place.get(segsparse.spmv(a, place.put(x))) == A @ x).all()
    assert (place.get(segsparse.spmv(a, place.put(X))) == A @ X).all()
    assert (place.get(segsparse.spmv(a, place.put(y), transpose=True)) == A.T @ y).all()
    out = place.put(y.copy())
    assert segsparse.spmv(a, place.put(x), out, alpha=2, beta=-1) is out
    assert (place.get(out) == 2 * (A @ x) - y).all()


def test_plan(place):
    A = matrix(60, 60)
    a, x = place.put(A), place.put(np.arange(60.0))
    plan = segsparse.SpmvPlan(a)
    assert (place.get(plan @ x) == A @ np.arange(60.0)).all()
    plan.update(place.put(3 * A.data))
    assert (place.get(plan @ x) == 3 * (A @ np.arange(60.0))).all()
    assert plan.info["method"] and plan.shape == (60, 60)


def test_plan_is_an_operator_of_scipy():
    from scipy.sparse.linalg import aslinearoperator
    A = segsparse.generate("poisson2d:10")
    assert (aslinearoperator(segsparse.SpmvPlan(A)) @ np.ones(100) == A @ np.ones(100)).all()


def test_vectors_that_do_not_fit_are_refused():
    A = matrix(60, 50)
    with pytest.raises(segsparse.ArgumentError, match="length must be 50"):
        segsparse.spmv(A, np.ones(60))
    with pytest.raises(segsparse.ArgumentError, match="read-only"):
        y = np.ones(60)
        y.flags.writeable = False
        segsparse.spmv(A, np.ones(50), y)
    with pytest.raises(segsparse.UnsupportedError, match="int64"):
        segsparse.spmv(matrix(60, 50, dtype=np.int64), np.ones(50))
    plan = segsparse.SpmvPlan(A)
    with pytest.raises(segsparse.ArgumentError, match="columns"):
        plan @ np.ones((50, 2))


def test_solvers(place):
    A = segsparse.generate("poisson2d:30")
    n = A.shape[0]
    b = np.random.default_rng(1).random(n)
    for solve in (segsparse.cg, segsparse.bicgstab):
        for M in (None, "jacobi"):
            x, info = solve(place.put(A), place.put(b), M=M)
            assert np.linalg.norm(A @ place.get(x) - b) < 1e-7 * np.linalg.norm(b) and info["iterations"] > 10
    x, info = segsparse.cg(place.put(A), place.put(b), place.put(np.linalg.solve(A.toarray(), b)))
    assert info["iterations"] == 0
    plan = segsparse.SolvePlan(place.put(A), solver="bicgstab")
    first = place.get(plan.solve(place.put(b)).x)
    plan.update(place.put(2 * A.data))
    assert abs(2 * place.get(plan.solve(place.put(b)).x) - first).max() < 1e-6


def test_solvers_take_whole_numbers_and_refuse_several_columns():
    A = segsparse.generate("poisson2d:10")
    b = np.arange(100.0)
    for integers in (A.astype(np.int32), A.astype(np.int64)):
        assert (segsparse.cg(integers, b).x == segsparse.cg(A, b).x).all()
        plan = segsparse.SolvePlan(integers)
        plan.update(2 * integers.data)
        assert abs(2 * plan.solve(b).x - segsparse.cg(A, b).x).max() < 1e-5
    assert (segsparse.cg(A, b[:, None]).x == segsparse.cg(A, b).x).all()
    for wrong in (np.ones((100, 2)), np.ones((100, 0)), [[1.0, 2.0]] * 100):
        for solve in (lambda: segsparse.cg(A, wrong), lambda: segsparse.bicgstab(A, b, wrong),
                      lambda: segsparse.SolvePlan(A).solve(wrong)):
            with pytest.raises(segsparse.ArgumentError, match="column"):
                solve()


def test_plan_for_a_vector_says_so():
    plan = segsparse.SpmvPlan(segsparse.generate("poisson2d:3"))
    with pytest.raises(segsparse.ArgumentError, match="x is a matrix of 2 columns; the plan is for a vector"):
        plan @ np.ones((9, 2))
    assert (plan @ ([1] * 9) == plan @ np.ones(9)).all()


def test_callback_stops_and_raises(place):
    A, b = place.put(segsparse.generate("poisson2d:30")), place.put(np.ones(900))
    seen = []
    segsparse.cg(A, b, callback=lambda iteration, residual: seen.append(residual) or iteration == 5)
    assert len(seen) >= 5 and all(residual > 0 for residual in seen)

    def fail(iteration, residual):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        segsparse.cg(A, b, callback=fail)
    with pytest.raises(segsparse.ConvergenceError, match="iterations") as caught:
        segsparse.cg(A, b, maxiter=3)
    assert caught.value.solution.info["iterations"] == 3 and len(caught.value.solution.x) == 900


def test_functions_as_matrix_and_preconditioner():
    A = segsparse.generate("poisson2d:20")
    x, info = segsparse.cg(lambda x: A @ x, np.ones(400), M=lambda r: r / 4)
    assert abs(A @ x - 1).max() < 1e-6
    with pytest.raises(ZeroDivisionError):
        segsparse.cg(A, np.ones(400), M=lambda r: 1 / 0)
