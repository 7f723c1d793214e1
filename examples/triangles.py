"""Triangles of a graph: common neighbours of neighbours. The graph is the mask of the product: no other pair is made."""

import numpy as np
import scipy.sparse as sp
import segsparse

A = segsparse.generate("rmat:12:8", dtype="pattern")
L = segsparse.tril(segsparse.add(A, segsparse.transpose(A)), -1)  # each edge once, without loops
common = segsparse.multiply(L, L, transpose_b=True, semiring="plus-pair", mask=L)
triangles = int(segsparse.reduce(common))
print(f"{L.nnz} edges, {triangles} triangles")

S = sp.csr_array((np.ones(L.nnz), L.indices, L.indptr), shape=L.shape)  # as SciPy counts: all pairs first
assert triangles == int((S @ S.T).multiply(S).sum())
