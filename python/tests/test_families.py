"""Arrays of CuPy and PyTorch, where they are installed: in and out without a copy, on their streams."""

import numpy as np
import pytest
import scipy.sparse as sp
import segsparse
from conftest import matrix, same
from segsparse import _arrays
from segsparse._matrix import operand

needs_gpu = pytest.mark.skipif(segsparse.cuda_device_count() == 0, reason="no GPU")


@needs_gpu
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128])
def test_cupy(dtype):
    cupy = pytest.importorskip("cupy")
    import cupyx.scipy.sparse as csp
    A = matrix(300, 300, dtype=dtype)
    a = csp.csr_matrix(sp.csr_matrix(A))
    assert operand(a).csr.val == a.data.data.ptr and operand(a).csr.where == 1
    before = _arrays.copied_bytes
    for stream in (cupy.cuda.Stream.null, cupy.cuda.Stream(non_blocking=True)):
        with stream:
            b = a * 2  # on this stream: the product must wait for it
            C = segsparse.multiply(b, b)
            D = C + C
        assert type(C) is csp.csr_matrix
        stream.synchronize()
        same(sp.csr_array(D.get()), (8 * (A @ A)).astype(dtype))
    assert _arrays.copied_bytes == before
    if np.dtype(dtype).kind == "f":
        x = cupy.arange(300, dtype=dtype)
        y = segsparse.spmv(a, x)
        assert type(y) is cupy.ndarray and (y.get() == A @ np.arange(300, dtype=dtype)).all()
        assert (segsparse.sort(x, descending=True).get() == np.arange(300, dtype=dtype)[::-1]).all()


@needs_gpu
def test_device_arrays_become_cupys_and_pytorchs():
    x = segsparse.to_device(np.arange(1000.0))
    pointer = x.__cuda_array_interface__["data"][0]
    cupy = pytest.importorskip("cupy")
    y = cupy.asarray(x)
    assert y.data.ptr == pointer
    torch = pytest.importorskip("torch")
    z = torch.as_tensor(x, device="cuda")
    assert z.data_ptr() == pointer
    del x, y
    assert z.sum().item() == 499500


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=needs_gpu)])
def test_pytorch(device):
    torch = pytest.importorskip("torch")
    A = matrix(300, 300)
    for index in (np.int32, np.int64):
        a = torch.sparse_csr_tensor(*(torch.from_numpy(x.astype(index)) for x in (A.indptr, A.indices)),
                                    torch.from_numpy(A.data), size=A.shape, device=device)
        before = _arrays.copied_bytes
        assert operand(a).csr.val == a.values().data_ptr()
        C = segsparse.multiply(a, a)
        assert C.layout == torch.sparse_csr and C.device.type == device
        assert (C.to_dense().cpu().numpy() == (A @ A).toarray()).all()
        x = torch.arange(300, dtype=torch.float64, device=device)
        y = segsparse.spmv(a, x)
        assert y.device.type == device and (y.cpu().numpy() == A @ np.arange(300.0)).all()
        assert (segsparse.spmv(a, x.requires_grad_()).cpu().numpy() == y.cpu().numpy()).all()
        assert _arrays.copied_bytes == before
    if device == "cuda":
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            z = segsparse.spmv(a, 2 * torch.arange(300, dtype=torch.float64, device=device))
        stream.synchronize()
        assert (z == 2 * y).all()


def test_other_arrays_of_the_host():
    class Exchange:  # whatever has DLPack
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **arguments):
            return self.array.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    assert segsparse.sort(Exchange(np.array([3.0, 1.0]))).tolist() == [1, 3]
    assert segsparse.sort([3, 1, 2]).tolist() == [1, 2, 3]
