"""What people bring who have read nothing: every form and width of SciPy, empty and unsorted matrices, strides, NaN, wrong
types, threads, forks."""

import concurrent.futures
import ctypes
import multiprocessing
import os
import signal
import socket
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
import segsparse
from conftest import matrix, same

FORMS = ["csr_array", "csr_matrix", "csc_array", "csc_matrix", "coo_array", "coo_matrix", "bsr_array", "dia_array",
         "dok_array", "lil_matrix"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_forms_of_scipy(form, index):
    A = matrix(30, 30, index=index)
    given = getattr(sp, form)(A)
    C = segsparse.multiply(given, A)
    assert type(C) is (sp.csr_array if form.endswith("array") else sp.csr_matrix)
    same(C, A @ A)
    assert (segsparse.spmv(given, np.ones(30)) == A @ np.ones(30)).all()


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (5, 5)])
def test_empty_matrices(shape, tmp_path):
    E, B = sp.csr_array(shape), sp.csr_array((shape[1], 3))
    for C in (segsparse.multiply(E, B), segsparse.multiply(E, B, keep=2), segsparse.MultiplyPlan(E, B).execute()):
        assert C.shape == (shape[0], 3) and C.nnz == 0
    assert segsparse.transpose(E).shape == shape[::-1] and segsparse.add(E, E).shape == shape
    assert segsparse.spmv(E, np.ones(shape[1])).tolist() == [0] * shape[0]
    assert segsparse.reduce(E, "sum", axis=0).tolist() == [0] * shape[1] and segsparse.reduce(E) == 0
    assert segsparse.to_dense(E).shape == shape and segsparse.diagonal(E).shape == (min(shape),)
    assert segsparse.from_dense(np.zeros(shape)).shape == shape
    segsparse.write_mtx(tmp_path / "E.mtx", E)
    assert segsparse.read_mtx(tmp_path / "E.mtx").shape == shape


def test_empty_arrays():
    for function in (segsparse.sort, segsparse.argsort):
        assert len(function(np.zeros(0))) == 0
    assert len(segsparse.gather(np.zeros(3), np.zeros(0, int))) == 0 and len(segsparse.suffix_array(b"")) == 0


def test_unsorted_rows_with_duplicates_are_sums_and_stay_as_they_are():
    rng, n = np.random.default_rng(1), 40
    indices, data = rng.integers(0, n, 8 * n), rng.integers(1, 5, 8 * n).astype(float)
    U = sp.csr_array((data.copy(), indices.copy(), np.arange(0, 8 * n + 1, 8)), shape=(n, n))
    D = U.toarray()
    assert (segsparse.multiply(U, U).toarray() == D @ D).all()
    assert (segsparse.multiply(U, U, mask=U).toarray() == (D @ D) * (D != 0)).all()
    assert (segsparse.transpose(U).toarray() == D.T).all() and (segsparse.add(U, U).toarray() == 2 * D).all()
    assert (segsparse.hadamard(U, U).toarray() == D * D).all() and (segsparse.to_dense(U) == D).all()
    assert (segsparse.diagonal(U) == D.diagonal()).all() and (segsparse.tril(U).toarray() == np.tril(D)).all()
    assert (segsparse.spmv(U, np.ones(n)) == D.sum(axis=1)).all()
    assert (segsparse.block(U, (3, 9), (2, 20)).toarray() == D[3:9, 2:20]).all()
    assert (U.indices == indices).all() and (U.data == data).all()


def test_nan():
    D = matrix(40, 40).toarray()
    D[3, 4], D[5, 5] = np.nan, np.inf
    A = sp.csr_array(D)
    assert (np.isnan(segsparse.multiply(A, A).toarray()) == np.isnan((A @ A).toarray())).all()
    assert np.isnan(segsparse.multiply(A, A, keep=1).data).any()  # larger than all numbers
    with pytest.raises(segsparse.FormatError, match="row 3.*column 4"):
        segsparse.check(A, finite=True)
    assert np.isnan(segsparse.sort(np.array([np.nan, 1, -np.inf]))).tolist() == [False, False, True]
    with pytest.raises(segsparse.ConvergenceError, match="nan"):
        segsparse.cg(A, np.ones(40))


def test_arrays_with_gaps_and_read_only_ones():
    A, x = matrix(30, 30), np.arange(60.0)[::2]
    B = segsparse.Matrix(A.shape, A.indptr, np.repeat(A.indices, 2)[::2], np.repeat(A.data, 2)[::2])
    assert (segsparse.multiply(B, B).data == (A @ A).sorted_indices().data).all()
    assert (segsparse.spmv(A, x) == A @ x).all()
    X = np.asfortranarray(np.arange(90.0).reshape(30, 3))
    assert (segsparse.spmv(A, X) == A @ X).all()
    for array in (A.indptr, A.indices, A.data):
        array.flags.writeable = False
    same(segsparse.multiply(A, A), A @ A)
    x = x.copy()
    x.flags.writeable = False
    assert (segsparse.spmv(A, x) == A @ x).all()
    with pytest.raises(segsparse.ArgumentError, match="read-only"):
        segsparse.spmv(A, np.ones(30), x)
    with pytest.raises(segsparse.UnsupportedError, match="gaps"):
        segsparse.spmv(A, np.ones(30), np.zeros(60)[::2])


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint64, np.bool_, np.float16, np.float32, ">f8"])
def test_vectors_are_widened(dtype):
    A, x = matrix(30, 30), np.arange(30).astype(dtype)
    assert (segsparse.spmv(A, x) == A @ x.astype(float)).all()
    with pytest.raises(segsparse.UnsupportedError, match="y"):
        segsparse.spmv(A, x, np.zeros(30, dtype))
    with pytest.raises(segsparse.UnsupportedError, match="float64"):  # nothing is narrowed
        segsparse.spmv(A.astype(np.float32), np.ones(30))


@pytest.mark.parametrize("wrong", [None, 3, "abc", [[1, 2]], np.eye(3), object()])
def test_what_is_no_matrix(wrong):
    A = matrix(30, 30)
    for arguments in ((wrong, A), (A, wrong)):
        with pytest.raises(segsparse.ArgumentError, match="a matrix by rows is wanted"):
            segsparse.multiply(*arguments)


def test_wrong_types_and_options():
    A = matrix(30, 30)
    with pytest.raises(segsparse.UnsupportedError, match="uint64"):
        segsparse.multiply(A.astype(np.uint64), A)
    with pytest.raises(segsparse.UnsupportedError, match="indptr.*float64"):
        segsparse.multiply(segsparse.Matrix(A.shape, A.indptr.astype(float), A.indices, A.data), A)
    for options, text in (({"keep": 0}, "keep is 0"), ({"drop": -1}, "-1"), ({"drop": np.nan}, "nan"),
                          ({"complement": True}, "mask"), ({"mask": sp.csr_array((5, 5))}, "5 x 5"),
                          ({"semiring": 3}, "min-plus"), ({"dtype": object}, "object"), ({"dtype": "i8"}, "real")):
        with pytest.raises(segsparse.Error, match=text):
            segsparse.multiply(A, A, **options)
    with pytest.raises(TypeError):
        segsparse.multiply(A, A, maks=A)


def test_indices_of_64_bits_address_beyond_32_bits():
    """2^33 columns: every column of C is beyond 2^32."""
    far = 2**33
    A = sp.csr_array((np.array([2.0, 3.0]), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
    B = sp.csr_array((np.array([5.0, 7.0]), np.array([far - 2, far - 1]), np.array([0, 1, 2])), shape=(2, far))
    C = segsparse.multiply(A, B)
    assert C.indices.dtype == np.int64 and C.indices.tolist() == [far - 2, far - 1] and C.data.tolist() == [10, 21]
    assert segsparse.block(B, (0, 2), (far - 1, far)).toarray().tolist() == [[0], [7]]
    assert segsparse.add(B, B).indices.tolist() == [far - 2, far - 1]


def test_more_than_2_to_the_31_entries():
    """A pattern of 2^31 + 2^16 entries, whose columns are the same 4 MiB of memory mapped 2,049 times."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    cols, rows, piece = 2**16, 2**15 + 1, 2**22
    size = -(-4 * cols * rows // piece) * piece
    file = os.memfd_create("columns")
    os.write(file, np.tile(np.arange(cols, dtype=np.int32), piece // cols // 4).tobytes())
    begin = libc.mmap(None, size, 0, 0x22, -1, 0)  # private and anonymous: addresses alone
    if begin == ctypes.c_void_p(-1).value:
        pytest.skip("no room for 8 GiB of addresses")
    for at in range(0, size, piece):
        assert libc.mmap(begin + at, piece, 1, 0x11, file, 0) == begin + at  # shared, at this place, to be read
    indices = np.frombuffer((ctypes.c_int32 * (cols * rows)).from_address(begin), np.int32)
    A = segsparse.Matrix((rows, cols), np.arange(0, cols * rows + 1, cols), indices, None)
    assert A.nnz == 2**31 + 2**16
    y = segsparse.spmv(A, np.arange(float(cols)))
    assert len(y) == rows and (y == cols * (cols - 1) // 2).all()
    B = segsparse.block(A, (rows - 2, rows), (cols - 3, cols))
    assert B.indptr.tolist() == [0, 3, 6] and B.indices.tolist() == [0, 1, 2] * 2
    last = segsparse.Matrix((1, rows), np.array([0, 1]), np.array([rows - 1]), None)
    assert (segsparse.multiply(last, A).indices == np.arange(cols)).all()
    del A, B, indices
    libc.munmap(ctypes.c_void_p(begin), ctypes.c_size_t(size))
    os.close(file)


def products(seed):
    A = matrix(300, 300, seed=seed)
    return int((segsparse.multiply(A, A) != A @ A).nnz)


def test_threads_with_one_context_and_one_plan():
    A, context = matrix(300, 300), segsparse.Context(threads=2)
    plan = segsparse.SpmvPlan(A)

    def work(i):
        with context:
            return (segsparse.multiply(A, A) != A @ A).nnz + int((plan @ np.ones(300) != A @ np.ones(300)).sum())

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(work, range(20))) == 0


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_pools_of_processes_by_fork():
    assert products(0) == 0
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(products, range(6)) == [0] * 6


def test_fork_by_a_thread_while_another_multiplies():
    """The child has the handlers of signals that the parent had before its call."""
    A, status = segsparse.generate("er:20000:40"), []

    def fork():
        time.sleep(0.05)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(5)
            except KeyboardInterrupt:
                code = 0 if segsparse.generate("er:10:3").shape == (10, 10) else 2
            finally:
                os._exit(code)
        status.append(os.waitpid(child, 0)[1])

    thread = threading.Thread(target=fork)
    thread.start()
    with segsparse.Context(threads=1):
        while thread.is_alive():
            segsparse.multiply(A, A, keep=1)
    thread.join()
    assert status == [0]


def test_cancel_from_another_thread():
    A = segsparse.generate("er:20000:60")
    with segsparse.Context(threads=1) as context:
        timer = threading.Timer(0.05, context.cancel)
        timer.start()
        with pytest.raises(segsparse.CancelledError) as caught:
            segsparse.multiply(A, A)
        timer.join()
        assert caught.value.status == "LSP_ERR_CANCELLED"
        with pytest.raises(segsparse.CancelledError):
            segsparse.transpose(A)
        context.cancel(False)
        assert segsparse.transpose(A).nnz == A.nnz


def test_ctrl_c_after_the_call_leaves_the_context_usable():
    """The listener's thread must not cancel a call that has ended."""
    A = matrix(100, 100)
    for _ in range(20):
        with pytest.raises(KeyboardInterrupt):
            segsparse.generate("er:3000:8")
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        same(segsparse.multiply(A, A), A @ A)


def test_wakeup_of_others_still_works():
    ours, theirs = socket.socketpair()
    ours.setblocking(False), theirs.setblocking(False)
    before = signal.set_wakeup_fd(theirs.fileno())
    try:
        segsparse.generate("er:3000:8")
        assert signal.set_wakeup_fd(theirs.fileno()) == theirs.fileno()
    finally:
        signal.set_wakeup_fd(before)
        ours.close(), theirs.close()


def test_what_strangers_asked_for():
    points = np.arange(12.0).reshape(4, 3)
    for k, b, others in ((4, None, 3), (5, points, 4), (1, points[:0], 0)):
        with pytest.raises(segsparse.ArgumentError, match=f"k is {k}: each point has {others} others"):
            segsparse.nearest(points, k, b)
    A = matrix(5, 5)
    assert segsparse.extract(A, rows=[], cols=[]).shape == (0, 0)
    assert segsparse.from_coo([], [], [], (2, 3)).shape == (2, 3)
    table = np.zeros(3, [("a", np.int32), ("b", np.float64)])
    table["b"] = [1, 2, 3]
    found = segsparse.gather(table, [2, 0])
    assert found.dtype == table.dtype and found["b"].tolist() == [3, 1]
    with pytest.raises(segsparse.ArgumentError, match="NUL"):
        segsparse.write_mtx("A.mtx\0.gz", A)
    for wrong in ([], [[]], [[A], []], 3):
        with pytest.raises(segsparse.ArgumentError):
            segsparse.stack(wrong)
    with pytest.raises(segsparse.ArgumentError, match="rows is"):
        segsparse.block(A, (1,))
    with pytest.raises(segsparse.ArgumentError, match="shape"):
        segsparse.extract(A, rows=[[0, 1], [2, 3]])
