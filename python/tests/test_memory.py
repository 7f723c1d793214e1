"""What is copied, who owns what and until when, threads, forks, the end of Python, Ctrl-C."""

import gc
import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
import segsparse
from conftest import matrix, same
from segsparse import _arrays
from segsparse._matrix import operand


def python(program, *arguments):
    """Runs a program in a Python of its own; returns what it has printed."""
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-W", "ignore", "-c", program, *arguments],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.complex128, np.int64, np.int32, np.bool_])
def test_nothing_is_copied_in(dtype):
    before = _arrays.copied_bytes
    for index in (np.int32, np.int64):
        A = matrix(50, 50, dtype=dtype, index=index)
        for form in (A, sp.csr_matrix(A), segsparse.Matrix(A.shape, A.indptr, A.indices, A.data)):
            a = operand(form)
            assert a.csr.val == form.data.ctypes.data and a.csr.col == form.indices.ctypes.data
            assert a.csr.rowptr == form.indptr.ctypes.data
            segsparse.multiply(form, form)
    A, x = matrix(50, 50), np.ones(50)
    segsparse.spmv(A, x), segsparse.SpmvPlan(A) @ x, segsparse.cg(segsparse.generate("poisson2d:5"), np.ones(25))
    segsparse.sort(x), segsparse.gather(x, np.arange(3)), segsparse.transpose(A), segsparse.add(A, A)
    segsparse.radius_join(np.ones((5, 3)), 1), segsparse.suffix_array(b"banana")
    assert _arrays.copied_bytes == before


def test_what_must_be_converted_is_counted():
    before = _arrays.copied_bytes
    A = matrix(50, 50)
    B = segsparse.Matrix(A.shape, A.indptr, A.indices, A.data.astype(np.int16))
    assert segsparse.multiply(B, B).data.dtype == np.int32
    assert _arrays.copied_bytes == before + 2 * 4 * A.nnz - 4 * A.nnz  # A is given twice and converted once
    segsparse.sort(np.arange(10.0)[::2])
    assert _arrays.copied_bytes == before + 4 * A.nnz + 40
    with pytest.raises(segsparse.UnsupportedError, match="float128|longdouble"):
        segsparse.multiply(sp.csr_array(A.astype(np.longdouble)), A)


def test_results_are_handed_over(place):
    A = matrix(500, 500)
    a = place.put(A)
    C = segsparse.multiply(a, a)
    if not place.cuda:
        for array in (C.indptr, C.indices, C.data):
            assert isinstance(array.base.owner, segsparse._header.lsp_array) and array.flags.writeable
            assert array.base.owner.memory == array.ctypes.data
    data = C.data
    del a, C
    gc.collect()
    assert place.get(data).sum() == (A @ A).sum()


def test_memory_is_given_back():
    with segsparse.Context() as context:
        A = matrix(1000, 1000)
        segsparse.multiply(A, A)
        first = context.info["host_bytes"]
        for _ in range(5):
            C = segsparse.multiply(A, A)
            plan = segsparse.MultiplyPlan(A, A)
            plan.execute()
            batch = segsparse.multiply_batch([A, A], [A, A])
        del C, plan, batch
        segsparse.multiply(A, A)
        context.trim()
        assert context.info["host_bytes"] <= first


@pytest.mark.parametrize("order", ["plan, C, context", "context, plan, C", "C, context, plan"])
def test_any_order_of_death(order):
    context = segsparse.Context()
    A = matrix(100, 100)
    with context:
        plan = segsparse.MultiplyPlan(A, A)
        C = plan.execute()
        solver = segsparse.SpmvPlan(A)
    things = {"plan": plan, "C": C, "context": context}
    data = C.data
    del plan, C, context
    for name in order.split(", "):
        del things[name]
        gc.collect()
    assert data.sum() == (A @ A).sum()
    assert (solver @ np.ones(100) == A @ np.ones(100)).all()


def test_exit_of_python_with_everything_alive():
    python("""
import numpy, segsparse, threading
A = segsparse.generate("poisson2d:50")
C = segsparse.multiply(A, A)
plan = segsparse.MultiplyPlan(A, A)
kept = plan.execute(), segsparse.multiply_batch([A], [A]), segsparse.SpmvPlan(A), segsparse.Context(threads=2)
class Cycle: pass
cycle = Cycle()
cycle.me, cycle.C, cycle.plan = cycle, C, plan
thread = threading.Thread(target=lambda: kept.__class__([segsparse.multiply(A, A)]))
thread.start()
thread.join()
if segsparse.cuda_device_count():
    on_gpu = segsparse.to_device(A)
    kept += segsparse.multiply(on_gpu, on_gpu), segsparse.MultiplyPlan(on_gpu, on_gpu)
""")


def test_child_of_a_fork_has_contexts_of_its_own():
    assert python("""
import os, segsparse
A = segsparse.generate("poisson2d:100")
plan = segsparse.MultiplyPlan(A, A)
C = segsparse.multiply(A, A)
child = os.fork()
if child == 0:
    same = (segsparse.multiply(A, A) != C).nnz == 0
    try:
        plan.execute()
    except segsparse.DeviceError as error:
        same = same and "fork" in str(error)
    os._exit(0 if same else 1)
print(os.waitpid(child, 0)[1], plan.execute().nnz == C.nnz)
""") == "0 True\n"


def test_results_survive_pickle():
    C = segsparse.multiply(matrix(50, 50), matrix(50, 50))
    same(pickle.loads(pickle.dumps(C)), C)


def test_threads_work_side_by_side():
    A = [matrix(300, 300, seed=i) for i in range(4)]
    products, shared = [None] * 4, segsparse.MultiplyPlan(A[0], A[0])
    wrong = []

    def work(i):
        for _ in range(10):
            products[i] = segsparse.multiply(A[i], A[i])
            if (shared.execute() != A[0] @ A[0]).nnz:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    for one, product in zip(A, products):
        same(product, one @ one)


def test_other_threads_run_during_a_call():
    A = segsparse.generate("er:30000:16")
    turns, done = [], threading.Event()

    def count():
        while not done.is_set():
            turns.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    with segsparse.Context(threads=1):
        begin = time.monotonic()
        segsparse.multiply(A, A)
        end = time.monotonic()
    done.set()
    thread.join()
    assert sum(begin < turn < end for turn in turns) > 3


def test_control_c_stops_long_calls():
    program = """
import os, segsparse, signal, sys, threading
A = segsparse.generate("poisson2d:200")
hit = lambda: os.kill(os.getpid(), signal.SIGINT)
calls = []
def block(row, rows):
    calls.append(row)
    if len(calls) == 2:
        hit()
try:
    if sys.argv[1] == "product":
        B = segsparse.generate("er:200000:12")
        with segsparse.Context(threads=1):
            threading.Timer(0.05, hit).start()
            segsparse.multiply(B, B)
    elif sys.argv[1] == "largest":
        B = segsparse.generate("er:20000:60")
        with segsparse.Context(threads=1):
            threading.Timer(0.1, hit).start()
            segsparse.multiply(B, B, keep=10)
    elif sys.argv[1] == "blocks":
        segsparse.multiply(A, A, out_of_core=block, block_bytes=100000)
    else:
        threading.Timer(0.5, hit).start()
        segsparse.cg(A, A @ range(40000), rtol=1e-300, maxiter=10**8)
except KeyboardInterrupt:
    print("stopped", len(calls) < 10)
print(segsparse.multiply(A, A).nnz > 0)
"""
    for what in ("product", "largest", "blocks", "solver"):
        assert python(program, what) == "stopped True\nTrue\n"


@pytest.mark.parametrize("call", ["pair_count(points, [.5])", "pair_histogram(points, .5, 100)", "nearest(points, 400)",
                                  "radius_join(points, .1)", "suffix_array(text)"])
def test_control_c_stops_c_within_each_long_call(call):
    assert python("""
import numpy, os, segsparse, signal, sys, threading
from segsparse import _context, _header
random = numpy.random.default_rng(1)
points, text = random.random((200000, 3)), random.integers(0, 4, 20000000).astype(numpy.uint8)
ended = []
fail = _context.Context._fail
_context.Context._fail = lambda context, status: ended.append(status) or fail(context, status)
threading.Timer(.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    with segsparse.Context(threads=1):
        segsparse.CALL
except KeyboardInterrupt:
    print(ended == [_header.LSP_ERR_CANCELLED])
""".replace("CALL", call)) == "True\n"


def test_errors_are_a_family_and_tell_numbers():
    A = matrix(30, 40)
    with pytest.raises(segsparse.ArgumentError, match="40.*30|30.*40") as caught:
        segsparse.multiply(A, A)
    assert isinstance(caught.value, (segsparse.Error, ValueError)) and caught.value.status == "LSP_ERR_ARGUMENT"
    with segsparse.Context(max_bytes=100000), pytest.raises(MemoryError, match="97.66 KiB"):
        segsparse.generate("poisson2d:1000")
    with pytest.raises(segsparse.Error):
        segsparse.multiply(sp.csr_array(A), np.ones(3))
    with pytest.raises(OverflowError):
        segsparse.multiply(*[sp.csr_array(np.array([[2**30]], np.int32))] * 2)
    with pytest.raises(segsparse.ArgumentError, match="cuda:N"):
        segsparse.Context("gpu")


def test_broken_arrays_are_refused():
    broken = sp.csr_array(matrix(5, 5, 0.5))
    broken.indices[0] = 77
    with pytest.raises(segsparse.FormatError, match="row 0"):
        segsparse.multiply(broken, broken)
    with pytest.raises(segsparse.ArgumentError, match="form no matrix"):
        segsparse.multiply(segsparse.Matrix((5, 5), np.zeros(3, int), np.zeros(0, int), np.zeros(0)), broken)


def test_hooks():
    lines, shares = [], []
    with segsparse.Context(log=lines.append, progress=lambda phase, share: shares.append((phase, share))):
        A = segsparse.generate("er:2000:8")
        segsparse.multiply(A, A)
    assert lines and shares[-1] == ("multiply", 1.0)

    def fail(phase, share):
        raise KeyError("mine")

    with segsparse.Context(progress=fail), pytest.raises(KeyError, match="mine"):
        segsparse.multiply(A, A)
