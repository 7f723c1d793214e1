import numpy as np
import pytest
import scipy.sparse as sp
import segsparse
from conftest import matrix, same


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int32])
def test_whole_matrices(place, dtype):
    A, B = matrix(40, 30, dtype=dtype), matrix(40, 30, seed=2, dtype=dtype)
    a, b = place.put(A), place.put(B)
    same(place.get(segsparse.transpose(a)), A.T.tocsr())
    same(place.get(segsparse.add(a, b, 2, -1)), (2 * A - B).astype(dtype))
    same(place.get(segsparse.hadamard(a, b)), A.multiply(B).tocsr())
    same(place.get(segsparse.tril(a, 2)), sp.csr_array(sp.tril(A, 2)))
    same(place.get(segsparse.triu(a, 1)), sp.csr_array(sp.triu(A, 1)))
    same(place.get(segsparse.block(a, (5, 20), (3, 9))), A[5:20, 3:9])
    same(place.get(segsparse.stack([[a, b], [None, a]])), sp.csr_array(sp.bmat([[A, B], [None, A]])))
    assert (place.get(segsparse.to_dense(a)) == A.toarray()).all()
    assert (place.get(segsparse.diagonal(a)) == A.diagonal()).all()
    same(place.get(segsparse.filter(a, mask=b)), A.multiply(B != 0).tocsr().astype(dtype))
    rows, cols = np.array([3, 3, 0]), np.array([7, 1])
    same(place.get(segsparse.extract(a, place.put(rows), place.put(cols))), A[rows][:, cols])
    order = np.random.default_rng(1).permutation(40)
    same(place.get(segsparse.permute(a, rows=place.put(order))), A[order])


def test_values(place):
    A = matrix(40, 30)
    a = place.put(A)
    same(place.get(segsparse.apply(a, "power", 2)), A.power(2))
    same(place.get(segsparse.scale(a, rows=place.put(np.arange(40.0)))), sp.csr_array(sp.diags(np.arange(40.0)) @ A))
    same(place.get(a), A)  # the argument is as it was
    assert (place.get(segsparse.reduce(a, "sum", axis=0)) == A.sum(axis=0)).all()
    assert (place.get(segsparse.reduce(a, "count", axis=1)) == np.diff(A.indptr)).all()
    total = segsparse.reduce(a, "norm-max")
    assert np.asarray(place.get(total)).item() == 4
    with pytest.raises(segsparse.ArgumentError, match="norm-max"):
        segsparse.reduce(A, "largest")


def test_forms(place):
    row, col, data = np.array([2, 0, 2]), np.array([1, 0, 1]), np.array([1.0, 2.0, 3.0])
    A = segsparse.from_coo(place.put(row), place.put(col), place.put(data), (3, 2))
    assert place.get(A).toarray().tolist() == [[2, 0], [0, 0], [0, 4]]
    D = np.array([[0, 1.5], [2, 0]])
    assert (place.get(segsparse.from_dense(place.put(D))).toarray() == D).all()
    assert segsparse.from_diagonal(4).toarray().tolist() == np.eye(4).tolist()
    unsorted = segsparse.Matrix((1, 3), np.array([0, 2]), np.array([2, 0]), np.array([1.0, 2.0]))
    assert place.get(segsparse.sort_rows(place.put(unsorted))).indices.tolist() == [0, 2]
    with pytest.raises(segsparse.FormatError, match="row 0"):
        segsparse.check(unsorted, sorted=True)
    assert segsparse.expand(sp.csr_array(np.tril(np.ones((3, 3))))).nnz == 9
    assert segsparse.stats(place.put(segsparse.generate("poisson2d:5")))["symmetric"]


def test_files(tmp_path):
    A = matrix(40, 30)
    for name in ("A.mtx", "A.mtx.gz"):
        segsparse.write_mtx(tmp_path / name, A)
        same(segsparse.read_mtx(tmp_path / name), A)
    assert segsparse.read_mtx(tmp_path / "A.mtx", dtype="pattern").data is None
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n")
    with pytest.raises(segsparse.FormatError, match=r"bad\.mtx:3"):
        segsparse.read_mtx(tmp_path / "bad.mtx")
    with pytest.raises(OSError, match="none.mtx"):
        segsparse.read_mtx(tmp_path / "none.mtx")


def test_generators():
    assert type(segsparse.generate("er:100:3")) is sp.csr_array
    assert (segsparse.generate("er:100:3", 2) != segsparse.generate("er:100:3", 1)).nnz > 0
    with pytest.raises(segsparse.ArgumentError, match="rectangle"):
        segsparse.generate("rectangle:3")
