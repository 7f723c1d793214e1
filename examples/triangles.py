"""Triangles of a graph: common neighbours of neighbours. The graph is the mask of the product: no other pair is made."""

import numpy as np
import segsparse

A = segsparse.generate("rmat:12:8", dtype="pattern")
L = segsparse.tril(segsparse.add(A, segsparse.transpose(A)), -1)  # each edge once, without loops
common = segsparse.multiply(L, L, transpose_b=True, semiring="plus-pair", mask=L)
triangles = int(segsparse.reduce(common))
print(f"{L.nnz} edges, {triangles} triangles")

dense = np.zeros(A.shape)
dense[np.repeat(np.arange(L.shape[0]), np.diff(L.indptr)), L.indices] = 1
assert triangles == int(((dense @ dense.T) * dense).sum())
