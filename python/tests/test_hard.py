"""Products that fail or take far too much elsewhere; python/README.md has their rows."""

import numpy as np
import pytest
import scipy.sparse as sp
import segsparse
from conftest import matrix, same


def test_gram_matrix_of_a_tall_one(place):
    """XᵀX of 50,000 x 5,000 with density .05 on a GPU (CuPy 14.2: INSUFFICIENT_RESOURCES); a tenth on the CPU."""
    rows, cols = (50000, 5000) if place.cuda else (5000, 500)
    X = segsparse.block(segsparse.generate(f"er:{rows}:{rows // 20}", dtype=np.float32), (0, rows), (0, cols))
    x = place.put(X)
    C = place.get(segsparse.multiply(x, x, transpose_a=True))
    expected = (X[:, :50].T @ X).toarray()
    assert C.shape == (cols, cols) and abs(C[:50].toarray() - expected).max() <= 1e-4 * abs(expected).max()


def test_dense_matrices_as_csr(place):
    """Two dense 600 x 600 matrices (cuSPARSE's product takes 6 GB)."""
    n = 600 if place.cuda else 200
    D = np.random.default_rng(1).integers(1, 9, (n, n)).astype(float)
    d = place.put(sp.csr_array(D))
    assert (place.get(segsparse.multiply(d, d)).toarray() == D @ D).all()


def test_bits_of_one_thread():
    """The product on all cores has the bits of one thread."""
    A = segsparse.generate("rmat:10:8")
    A.data[:] = np.random.default_rng(1).random(A.nnz)
    with segsparse.Context(threads=1):
        C = segsparse.multiply(A, A)
    for threads in (2, 3, 8):
        with segsparse.Context(threads=threads):
            D = segsparse.multiply(A, A)
        assert (C.data.view(np.int64) == D.data.view(np.int64)).all() and (C.indices == D.indices).all()


def test_int64_indices_times_a_vector(place):
    A = matrix(500, 500, index=np.int64)
    x = np.arange(500.0)
    assert (place.get(segsparse.SpmvPlan(place.put(A)) @ place.put(x)) == A @ x).all()


def test_top_of_rows_without_the_product_in_memory():
    """The 2 largest of each row, within a budget that the whole product exceeds."""
    A = segsparse.generate("er:20000:30")
    with segsparse.Context(max_bytes=64_000_000, threads=1):
        C = segsparse.multiply(A, A, keep=2)
        with pytest.raises(MemoryError, match="MiB"):
            segsparse.multiply(A, A)
    top = (A[:100] @ A).max(axis=1).toarray().ravel()
    assert abs(C[:100].max(axis=1).toarray().ravel() - top).max() < 1e-12 and C.nnz == 40000


@pytest.mark.skipif(segsparse.cuda_device_count() == 0, reason="no GPU")
def test_product_on_a_gpu_from_and_to_the_host():
    """Factors and result stay on the host, the GPU multiplies block by block."""
    A, rows = matrix(2000, 2000, 0.01), []
    with segsparse.Context("cuda"):
        segsparse.multiply(A, A, out_of_core=lambda row, block: rows.append(block), block_bytes=100000)
    assert len(rows) > 1
    same(sp.csr_array(sp.vstack(rows)), A @ A)
