#!/usr/bin/env python3
"""Peers of `sparse-bench two_body` in Python: scipy, scikit-learn, vesin, freud and Corrfunc, and KeOps on a GPU by
PyTorch; those that import.

    bench/peers/two_body.py [--bits 15] [--small-bits 14] [--threads 2] [--repeats 5] [--json peers.json]

Makes the clouds of bench/subjects/two_body.c (the same draws), runs each peer on the statistics that it offers and prints
the median time in milliseconds and what came out: counts, entries, a sum of densities. Trees and cells are part of each
time, as they are part of a call of the library. scipy and vesin work in double precision."""
import argparse
import json
import statistics
import time

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
        found = NeighborList(cutoff=join_reach(len(x)), full_list=True).compute(
            points=x.astype(np.float64), box=np.eye(3), periodic=False, quantities="ijd")
        return len(found[0])

    return "vesin", {"join": join}


def freud_peers():
    import freud

    def distribution(x, threads):
        freud.parallel.set_num_threads(threads)
        rdf = freud.density.RDF(bins=256, r_max=0.25)
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
        "gr": count(np.concatenate([[1e-9], 0.25 * np.arange(1, 257) / 256]), True),
    }


def keops_peers():
    import torch
    from pykeops.torch import LazyTensor

    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch sees no GPU")

    def squares(x):
        at = torch.from_numpy(x).cuda()
        return ((LazyTensor(at[:, None, :]) - LazyTensor(at[None, :, :])) ** 2).sum(-1)

    def count(x, threads):
        rows = (0.1**2 - squares(x)).step().sum(1)
        return (int(rows.double().sum()) - len(x)) // 2

    return "keops", {
        "count": count,
        "nearest": lambda x, threads: int((squares(x).argKmin(17, dim=1).cpu().numpy() >= 0).sum()) - len(x),
        "density": lambda x, threads: float((-squares(x) / (2 * 0.02**2)).exp().sum(1).double().sum()),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bits", type=int, default=15)
    parser.add_argument("--small-bits", type=int, default=14, help="of nearest and density")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json")
    args = parser.parse_args()
    peers = []
    for make in (scipy_peers, sklearn_peers, vesin_peers, freud_peers, corrfunc_peers, keops_peers):
        try:
            peers.append(make())
        except Exception as error:  # not installed, or not for this interpreter
            print(f"{make.__name__.split('_')[0]}: not measured: {error}")
    rows = []
    work = [(verb, cloud, args.small_bits if verb in ("nearest", "density") else args.bits, 3)
            for verb in ("count", "radii", "gr", "join", "nearest", "density")
            for cloud in ("uniform", "blobs", "lattice")] + [("nearest", "uniform", args.small_bits, 8)]
    work += [(verb, "uniform", 19, 3) for verb in ("count", "join", "nearest", "density")]
    for verb, cloud, bits, dimensions in work:
        x = make_cloud(cloud, bits, dimensions)
        for name, offers in peers:
            if verb not in offers or (dimensions != 3 and name not in ("scipy", "sklearn", "keops")):
                continue
            if bits > 16 and verb in ("count", "density") and name != "keops":  # minutes on a CPU
                continue
            title = f"two_body/{verb}{dimensions if dimensions != 3 else ''}/{cloud}/n{bits}/{name}"
            try:
                times = []
                for repeat in range(args.repeats + 1):  # the first one warms up
                    start = time.perf_counter()
                    result = offers[verb](x, args.threads)
                    times.append(time.perf_counter() - start)
                    if sum(times) > 20:
                        break
                median = statistics.median(times[1:] or times)
                print(f"{title:52} {1e3 * median:10.3f} ms  {result}", flush=True)
                rows.append({"name": title, "real_time": 1e3 * median, "time_unit": "ms", "result": result})
            except Exception as error:
                print(f"{title:52} failed: {str(error)[:120]}", flush=True)
    if args.json:
        with open(args.json, "w") as out:
            json.dump({"context": vars(args), "benchmarks": rows}, out, indent=1)


if __name__ == "__main__":
    main()
