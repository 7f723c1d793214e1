"""Markov clustering of a graph in SciPy's form: walks of two steps, of which only the likely ones are kept."""

import numpy as np
import scipy.sparse as sp
import segsparse


def clusters(graph, *, keep=20, inflation=2):
    """The cluster of each vertex. A row never has more than `keep` entries, so memory stays small."""

    def walks(A):  # rows that sum to 1
        return segsparse.scale(A, rows=1 / segsparse.reduce(A, "sum", axis=1))

    A = walks(segsparse.add(graph, segsparse.from_diagonal(graph.shape[0])))
    for _ in range(50):
        B = walks(segsparse.apply(segsparse.multiply(A, A, drop=1e-5, keep=keep), "power", inflation))
        if A.nnz == B.nnz and abs(A - B).max() < 1e-9:
            break
        A = B
    return np.unique(A.toarray().argmax(axis=1), return_inverse=True)[1]


# Four groups of eight vertices, all joined within, and a ring of single edges between the groups.
blocks = sp.block_diag([np.ones((8, 8)) - np.eye(8)] * 4, format="lil")
for group in range(4):
    a, b = 8 * group, (8 * group + 15) % 32
    blocks[a, b] = blocks[b, a] = 1
found = clusters(sp.csr_array(blocks.tocsr()))
assert (found == np.repeat(found[::8], 8)).all() and len(set(found)) == 4
print("clusters:", found.tolist())
