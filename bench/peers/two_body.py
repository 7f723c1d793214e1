#!/usr/bin/env python3
"""`sparse-bench two_body` in Python, beside the neighbour lists and trees that people use: scipy, scikit-learn, vesin,
freud and Corrfunc; on a GPU vesin, and KeOps by PyTorch; those that import.

    bench/peers/two_body.py [--device cpu|cuda] [--bits 15] [--small-bits 14] [--threads 2] [--repeats 5]
        [--json bench/results/cpu/neighbours.json]

Makes the clouds of bench/subjects/two_body.c (the same draws), runs segsparse and each peer in turns on the statistics
that it offers, and prints the median time in milliseconds and what came out: counts, entries, a sum of densities. A peer
whose result is not ours, within 1e-4, has failed. Trees and cells are part of each time, as they are part of a call of the
library. On a GPU the points lie there. scipy and vesin work in double precision. --json writes a record."""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from importlib import metadata

import numpy as np

BLOBS, WIDTH, MOST_DIMENSIONS = 64, 0.02, 8
GAMMA = np.uint64(0x9E3779B97F4A7C15)


def mix(z):
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def part(seed, k):
    """Draw k of the generator with this seed, 0 <= x < 1."""
    with np.errstate(over="ignore"):
        z = mix(mix(np.uint64(seed) + GAMMA) + (k.astype(np.uint64) + np.uint64(1)) * GAMMA)
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53


def make_cloud(cloud, bits, dimensions=3):
    n = 1 << bits
    if cloud == "lattice":
        side = int(round(n ** (1 / 3) - 0.5 + 1e-9)) if round(n ** (1 / 3)) ** 3 != n else round(n ** (1 / 3))
        i = np.arange(side**3)
        x = np.stack([i % side, i // side % side, i // side // side], 1) / side
    else:
        draw = np.arange(n)[:, None] * MOST_DIMENSIONS + np.arange(dimensions)
        x = part(10, draw)
        if cloud == "blobs":
            middle = part(11, (np.arange(n) % BLOBS)[:, None] * MOST_DIMENSIONS + np.arange(dimensions))
            x = middle + WIDTH * np.sqrt(-2 * np.log(1 - part(12, draw))) * np.cos(2 * np.pi * part(13, draw))
            x -= np.floor(x)
    return np.ascontiguousarray(x.astype(np.float32))


def join_reach(n):
    return float(np.cbrt(8.4 * 0.75 / np.pi / n))


# ---- peers: name -> statistic -> function(points, threads), which returns what came out ----

RADII = 0.1 * np.arange(1, 17) / 16
GR_RANGE = 0.251


def segsparse_peers():
    import segsparse

    def entries(C):
        return C._nnz() if hasattr(C, "_nnz") else C.nnz

    return "libsparse", {
        "count": lambda x, threads: int(segsparse.pair_count(x, [0.1])[0]),
        "radii": lambda x, threads: int(segsparse.pair_count(x, RADII)[-1]),
        "gr": lambda x, threads: int(segsparse.pair_histogram(x, GR_RANGE, 256, box=[1, 1, 1]).sum()),
        "join": lambda x, threads: entries(segsparse.radius_join(x, join_reach(len(x)))),
        "nearest": lambda x, threads: entries(segsparse.nearest(x, 16)),
    }


def scipy_peers():
    from scipy.spatial import cKDTree

    def pairs(x, radii):
        tree = cKDTree(x)
        return (tree.count_neighbors(tree, radii) - len(x)) // 2

    def join(x, threads):
        tree = cKDTree(x)
        return tree.sparse_distance_matrix(tree, join_reach(len(x)), output_type="coo_matrix").tocsr().nnz - len(x)

    return "scipy", {
        "count": lambda x, threads: int(pairs(x, 0.1)),
        "radii": lambda x, threads: int(pairs(x, RADII)[-1]),
        "join": join,
        "nearest": lambda x, threads: cKDTree(x).query(x, 17, workers=threads)[1].size - len(x),
    }


def sklearn_peers():
    from sklearn.neighbors import KernelDensity, NearestNeighbors

    def join(x, threads):
        model = NearestNeighbors(radius=join_reach(len(x)), algorithm="kd_tree", n_jobs=threads).fit(x)
        return model.radius_neighbors_graph(mode="distance").nnz

    def nearest(x, threads):
        return NearestNeighbors(n_neighbors=16, algorithm="kd_tree", n_jobs=threads).fit(x).kneighbors_graph().nnz

    def density(x, threads):
        model = KernelDensity(bandwidth=0.02, kernel="gaussian", atol=0, rtol=1e-6).fit(x)
        return float(np.exp(model.score_samples(x)).sum())

    return "sklearn", {"join": join, "nearest": nearest, "density": density}


def vesin_peers():
    from vesin import NeighborList

    def join(x, threads):
        box = np.eye(3)
        if isinstance(x, np.ndarray):
            x = x.astype(np.float64)
        else:
            x, box = x.double(), x.new_tensor(box).double()
        found = NeighborList(cutoff=join_reach(len(x)), full_list=True).compute(
            points=x, box=box, periodic=False, quantities="ijd")
        return len(found[0])

    return "vesin", {"join": join}


def freud_peers():
    import freud

    def distribution(x, threads):
        freud.parallel.set_num_threads(threads)
        rdf = freud.density.RDF(bins=256, r_max=GR_RANGE)
        rdf.compute(system=(freud.box.Box.cube(1), x - np.float32(0.5)))
        return int(rdf.bin_counts.sum()) // 2

    def nearest(x, threads):
        freud.parallel.set_num_threads(threads)
        box = freud.box.Box.cube(4)  # so large that no image is near
        query = freud.locality.AABBQuery(box, x - np.float32(0.5)).query(
            x - np.float32(0.5), dict(num_neighbors=16, exclude_ii=True))
        return len(query.toNeighborList())

    return "freud", {"gr": distribution, "nearest": nearest}


def corrfunc_peers():
    from Corrfunc.theory.DD import DD

    def count(edges, periodic):
        def run(x, threads):
            columns = [np.ascontiguousarray(x[:, k]) for k in range(3)]
            found = DD(autocorr=1, nthreads=threads, binfile=edges, X1=columns[0], Y1=columns[1], Z1=columns[2],
                       periodic=periodic, boxsize=1.0)
            return int(found["npairs"].sum()) // 2

        return run

    return "corrfunc", {
        "count": count(np.array([1e-9, 0.1]), False),
        "radii": count(np.concatenate([[1e-9], RADII]), False),
        "gr": count(np.concatenate([[1e-9], GR_RANGE * np.arange(1, 257) / 256]), True),
    }


def keops_peers():
    import torch
    from pykeops.torch import LazyTensor

    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch sees no GPU")

    def squares(at):
        return ((LazyTensor(at[:, None, :]) - LazyTensor(at[None, :, :])) ** 2).sum(-1)

    def count(x, threads):
        rows = (0.1**2 - squares(x)).step().sum(1)
        return (int(rows.double().sum()) - len(x)) // 2

    return "keops", {
        "count": count,
        "nearest": lambda x, threads: int((squares(x).argKmin(17, dim=1).cpu().numpy() >= 0).sum()) - len(x),
        "density": lambda x, threads: float((-squares(x) / (2 * 0.02**2)).exp().sum(1).double().sum()),
    }


def race(offers, x, args, wait):
    """Runs the functions in turns. name -> median milliseconds, result; or why it failed."""
    times, results, failed = {name: [] for name in offers}, {}, {}
    for _ in range(args.repeats + 1):  # the first one warms up
        for name, function in offers.items():
            if name in failed or sum(times[name]) > 20:
                continue
            try:
                start = time.perf_counter()
                result = function(x, args.threads)
                wait()
                times[name].append(time.perf_counter() - start)
                results.setdefault(name, result)
                right = next(iter(results.values()))
                if abs(result - right) > 1e-4 * abs(right):
                    failed[name] = f"{result} in place of {right}"
            except Exception as error:
                failed[name] = f"{type(error).__name__}: {str(error)[:120]}"
    return {name: failed.get(name) or (1e3 * statistics.median(t[1:] or t), results[name]) for name, t in times.items()}


def clock():
    """Seconds: by the clock, those of all processors, those of this process."""
    with open("/proc/stat") as stat:
        times = [int(ticks) for ticks in stat.readline().split()[1:9]]
    return np.array([time.monotonic(), (sum(times) - sum(times[3:5])) / os.sysconf("SC_CLK_TCK"), time.process_time()])


def context_of(args, peers, device, begin):
    seconds, busy, own = clock() - begin
    git = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"], text=True,
                         capture_output=True, cwd=pathlib.Path(__file__).parent)
    versions = {}
    for name in set(peers) - {"libsparse"}:
        try:
            versions[name] = metadata.version({"sklearn": "scikit-learn", "freud": "freud-analysis",
                                               "keops": "pykeops"}.get(name, name))
        except metadata.PackageNotFoundError:
            versions[name] = ""
    with open("/proc/cpuinfo") as lines:
        cpu = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "a CPU")
    return {"date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "executable": "bench/peers/two_body.py",
            "command": " ".join(["bench/peers/two_body.py", *sys.argv[1:]]), "commit": git.stdout.strip() or "unknown",
            "cpu": cpu, **({"gpu": device} if device else {}), "peers": versions, "num_cpus": os.cpu_count(),
            "threads": args.threads, "quick": False, "load_avg": os.getloadavg(),
            "processors_busy_for_others": round(max(busy - own, 0) / seconds, 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--bits", type=int, default=15)
    parser.add_argument("--small-bits", type=int, default=14, help="of nearest and density")
    parser.add_argument("--large-bits", type=int, default=19, help="of a last join, a count and nearest points")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json")
    args = parser.parse_args()
    makers, device, here, wait = [scipy_peers, sklearn_peers, vesin_peers, freud_peers, corrfunc_peers], "", None, None
    if args.device == "cuda":
        import torch
        makers, device, here = [vesin_peers, keops_peers], torch.cuda.get_device_name(), lambda x: torch.from_numpy(x).cuda()
        wait = torch.cuda.synchronize
    peers = {}
    for make in [segsparse_peers, *makers]:
        try:
            name, offers = make()
            peers[name] = offers
        except Exception as error:  # not installed, or not for this interpreter
            print(f"{make.__name__.split('_')[0]}: not measured: {error}")
    if "libsparse" in peers:
        import segsparse
        segsparse.Context(args.device, threads=args.threads).__enter__()
    rows, begin = [], clock()
    work = [(verb, cloud, args.small_bits if verb in ("nearest", "density") else args.bits, 3)
            for verb in ("count", "radii", "gr", "join", "nearest", "density")
            for cloud in ("uniform", "blobs", "lattice")] + [("nearest", "uniform", args.small_bits, 8)]
    work += [(verb, "uniform", args.large_bits, 3) for verb in ("count", "join", "nearest", "density")]
    for verb, cloud, bits, dimensions in work:
        x = make_cloud(cloud, bits, dimensions)
        offers = {name: of[verb] for name, of in peers.items() if verb in of and not (
            (dimensions != 3 and name not in ("libsparse", "scipy", "sklearn", "keops")) or
            (bits > 16 and verb in ("count", "density") and name not in ("libsparse", "keops")))}  # minutes on a CPU
        found = race(offers, here(x) if here else x, args, wait or (lambda: None))
        fastest = min((f[0] for name, f in found.items() if name != "libsparse" and not isinstance(f, str)), default=0)
        for name, f in found.items():
            title = f"two_body/{verb}{dimensions if dimensions != 3 else ''}/{cloud}/n{bits}/f32/{name}"
            row = {"name": title, "run_type": "iteration", "time_unit": "ms", "threads": args.threads}
            if isinstance(f, str):
                row.update(real_time=0, error_occurred=True, error_message=f.replace('"', "'"), checked=False)
            else:
                row.update(real_time=float(f"{f[0]:.6g}"), result=f[1], checked=True)
                if name == "libsparse" and fastest:
                    row["best_peer_ratio"] = float(f"{fastest / f[0]:.6g}")
            print(f"{title:52} " + (f"failed: {f}" if isinstance(f, str) else f"{f[0]:10.3f} ms  {f[1]}"), flush=True)
            rows.append(row)
    if args.json:
        with open(args.json, "w") as out:
            out.write('{"context": ' + json.dumps(context_of(args, peers, device, begin)) + ',\n"benchmarks": [\n')
            out.write(",\n".join(map(json.dumps, rows)) + "\n]}\n")


if __name__ == "__main__":
    main()
