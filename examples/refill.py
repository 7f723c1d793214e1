"""A product whose values change while its structure stays: the plan is made once, each step computes values alone."""

import numpy as np
import segsparse

A = segsparse.generate("poisson2d:200")
P = segsparse.generate("amg:200:T")
plan = segsparse.TriplePlan(None, A, P)  # P^T A P, the coarse matrix of a multigrid
C = plan.execute()
for step in range(1, 4):
    coefficients = 1 + step * np.arange(A.nnz) / A.nnz
    assert plan.update(None, A.data * coefficients) is C  # the same arrays, with new values
    print(f"step {step}: {C.nnz} entries, sum {segsparse.reduce(C):.3f}")
B = A.copy()
B.data = A.data * coefficients
assert (segsparse.triple(None, B, P).data == C.data).all()  # the bits of one call
