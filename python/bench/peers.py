"""Times beside other libraries, those that are installed: peers.py [cpu|cuda] [ROUNDS] [FILE.mtx ...]. Prints a table
for docs/measurements/python.md, with a row for the square of each file: least milliseconds of alternating runs. Products with sorted rows; on a CPU all libraries use all threads that they can.
"""

import importlib
import os
import platform
import sys
import time
from datetime import date

import numpy as np
import scipy.sparse as sp
import segsparse


def module(name):
    try:
        return importlib.import_module(name)
    except (ImportError, OSError):
        return None


def entries_of(result):
    """The entries of a matrix, or how many elements a vector has."""
    if hasattr(result, "crow_indices"):
        return result._nnz() if str(result.layout) == "torch.sparse_csr" else len(result)
    count = getattr(result, "nnz", None)
    return getattr(result, "nvals", len(result) if hasattr(result, "__len__") else None) if count is None else count


def least(peers, rounds):
    """The least seconds of each function, run in turns. Matrices must have as many entries as ours."""
    best, failed, entries = {}, {}, None
    for _ in range(rounds):
        for name, function in peers.items():
            if name in failed:
                continue
            try:
                begin = time.perf_counter()
                result = function()
                seconds = time.perf_counter() - begin
                count = entries_of(result)
                entries = count if entries is None else entries
                if count != entries:
                    failed[name] = f"wrong: {count:,} entries"
                best[name] = min(best.get(name, np.inf), seconds)
                del result
            except Exception as error:  # a peer's failure is a row of the table
                failed[name] = type(error).__name__
                print(f"{name}: {str(error)[:200]}", file=sys.stderr)
            if name == "torch":
                module("torch").cuda.empty_cache()
            if name == "cupy":
                module("cupy").get_default_memory_pool().free_all_blocks()
    return {name: failed.get(name) or best[name] for name in peers}


def sorted_rows(C):
    C.sort_indices()
    return C


def cpu_cases(files):
    mkl, topn, gb = module("sparse_dot_mkl"), module("sparse_dot_topn"), module("graphblas")

    def product(A):
        peers = {"segsparse": lambda: segsparse.multiply(A, A), "scipy": lambda: sorted_rows(A @ A)}
        if mkl:
            M = sp.csr_matrix(A)
            peers["sparse_dot_mkl"] = lambda: mkl.dot_product_mkl(M, M, reorder_output=True)
        if gb:
            G = gb.io.from_scipy_sparse(A)
            peers["graphblas"] = lambda: gb.io.to_scipy_sparse(G.mxm(G).new(), "csr")
        return peers

    for spec in ("er:262144:8", "poisson2d:700", "rmat:14:8"):
        yield f"A·A, `{spec}`", product(segsparse.generate(spec))
    for file in files:
        yield f"A·A, {os.path.basename(file).partition('.')[0]}", product(segsparse.read_mtx(file, dtype=np.float64))

    A = segsparse.generate("er:20000:60")
    peers = {"segsparse": lambda: segsparse.multiply(A, A, keep=10), "scipy": None}
    if topn:
        M = sp.csr_matrix(A)
        peers["sparse_dot_topn"] = lambda: topn.sp_matmul_topn(M, M, top_n=10, sort=False, n_threads=os.cpu_count())
    yield "10 largest of each row of A·A, `er:20000:60`", peers

    L = segsparse.tril(segsparse.generate("rmat:14:8"), -1)
    L.data[:] = 1
    peers = {"segsparse": lambda: segsparse.multiply(L, L, mask=L), "scipy": lambda: (L @ L).multiply(L).tocsr()}
    if gb:
        G = gb.io.from_scipy_sparse(L)
        peers["graphblas"] = lambda: G.mxm(G).new(mask=G.S).wait()
    yield "triangles: L·L where L has entries, `rmat:14:8`", peers

    B = segsparse.generate("poisson2d:700")
    B.indices, B.indptr = B.indices.astype(np.int64), B.indptr.astype(np.int64)
    plan, x = segsparse.SpmvPlan(B), np.ones(B.shape[1])
    yield "A·x, `poisson2d:700` with int64 indices, a plan", {"segsparse": lambda: plan @ x, "scipy": lambda: B @ x}

    T = sp.csr_array(np.eye(3))

    def thousand(function):
        return lambda: [function() for _ in range(1000)][0]

    t = np.ones(3)
    yield "1,000 products of 3 x 3", {"segsparse": thousand(lambda: segsparse.multiply(T, T)),
                                      "scipy": thousand(lambda: T @ T)}
    yield "1,000 times A·x, 3 x 3", {"segsparse": thousand(lambda: segsparse.spmv(T, t)),
                                     "scipy": thousand(lambda: T @ t)}


def gpu_cases(files):
    cupy, torch = module("cupy"), module("torch")
    import cupyx.scipy.sparse as csp

    def wait(function):
        def run():
            result = function()
            cupy.cuda.Device().synchronize()
            return result
        return run

    def of_torch(A):
        return torch.sparse_csr_tensor(torch.from_numpy(A.indptr), torch.from_numpy(A.indices),
                                       torch.from_numpy(A.data), size=A.shape, device="cuda")

    for spec in ("er:262144:8", "poisson2d:1000", "rmat:16:8"):
        A = segsparse.generate(spec)
        a, t = csp.csr_matrix(sp.csr_matrix(A)), of_torch(A)
        yield f"A·A, `{spec}`", {"segsparse": wait(lambda: segsparse.multiply(a, a)), "cupy": wait(lambda: a @ a),
                                 "torch": wait(lambda: t @ t)}
    for rows in (20000, 50000):
        X = segsparse.generate(f"er:{rows}:2500", dtype=np.float32)
        X = segsparse.block(X, (0, rows), (0, 5000))
        x, t, tt = csp.csr_matrix(sp.csr_matrix(X)), of_torch(X), of_torch(segsparse.transpose(X))
        yield f"XᵀX, {rows:,} x 5,000, {X.nnz / rows / 5000:.3f} full, float32", {
            "segsparse": wait(lambda: segsparse.multiply(x, x, transpose_a=True)),
            "cupy": wait(lambda: x.T.tocsr() @ x), "torch": wait(lambda: tt @ t)}
    D = sp.csr_matrix(np.random.default_rng(1).random((600, 600)))
    d, t = csp.csr_matrix(D), of_torch(D)
    yield "two dense 600 x 600 as CSR", {"segsparse": wait(lambda: segsparse.multiply(d, d)),
                                         "cupy": wait(lambda: d @ d), "torch": wait(lambda: t @ t)}
    A = segsparse.generate("poisson2d:2000")
    a, t, x = csp.csr_matrix(sp.csr_matrix(A)), of_torch(A), cupy.ones(A.shape[0])
    plan, tx = segsparse.SpmvPlan(a), torch.ones(A.shape[0], dtype=torch.float64, device="cuda")
    yield "A·x, `poisson2d:2000`, a plan", {"segsparse": wait(lambda: plan @ x), "cupy": wait(lambda: a @ x),
                                            "torch": wait(lambda: t @ tx)}


def processor():
    with open("/proc/cpuinfo") as lines:
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} threads"


def main():
    device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with segsparse.Context(device) as context:
        name = context.info["device_name"] if device != "cpu" else processor()
    peers = ["scipy", "sparse_dot_mkl", "sparse_dot_topn", "graphblas"] if device == "cpu" else ["cupy", "torch"]
    peers = [peer for peer in peers if module(peer)]
    versions = ", ".join(f"{peer} {getattr(module(peer), '__version__', '?')}" for peer in ["numpy", *peers])
    print(f"{name}; {date.today()}; least of {rounds}, in ms; segsparse {segsparse.__version__}, {versions}\n")
    print("| | segsparse | " + " | ".join(peers) + " |")
    print("|---|" + "---:|" * (1 + len(peers)))
    for what, functions in (cpu_cases if device == "cpu" else gpu_cases)(sys.argv[3:]):
        times = least({name: function for name, function in functions.items() if function}, rounds)
        cells = [times.get(name) for name in ("segsparse", *peers)]
        text = ["" if cell is None else cell if isinstance(cell, str) else f"{1000 * cell:.3g}" for cell in cells]
        print(f"| {what} | " + " | ".join(text) + " |", flush=True)


if __name__ == "__main__":
    main()
