"""Every test of a result runs on the CPU and, where there is a GPU, on arrays of the GPU too."""

import numpy as np
import pytest
import scipy.sparse as sp
import segsparse


class Place:
    """Where the arrays of a test lie."""

    def __init__(self, name):
        self.cuda = name == "cuda"

    def put(self, x):
        """An array or a matrix there."""
        return segsparse.to_device(x) if self.cuda else x

    def get(self, x):
        """A result on the host: an array, or a csr_array."""
        x = x.get() if hasattr(x, "get") else x
        if isinstance(x, segsparse.Matrix):
            data = np.ones(x.nnz) if x.data is None else x.data
            return sp.csr_array((data, x.indices, x.indptr), shape=x.shape)
        return x


@pytest.fixture(params=["cpu", "cuda"])
def place(request):
    if request.param == "cuda" and segsparse.cuda_device_count() == 0:
        pytest.skip("no GPU")
    return Place(request.param)


def matrix(rows, cols, density=0.1, seed=1, dtype=np.float64, index=np.int32):
    """A random matrix of small whole numbers: all sums are exact in every order."""
    rng = np.random.default_rng(seed)
    A = sp.random(rows, cols, density, format="csr", random_state=rng)
    values = rng.integers(1, 5, A.nnz)
    data = values + 1j * values if np.dtype(dtype).kind == "c" else values
    return sp.csr_array((data.astype(dtype), A.indices.astype(index), A.indptr.astype(index)), shape=A.shape)


def same(A, B):
    """Equal as dense arrays, with the same type."""
    A, B = np.asarray(A.todense()), np.asarray(B.todense())
    assert A.dtype == B.dtype and A.shape == B.shape
    assert (A == B).all()
