"""Sparse matrices on all cores and on NVIDIA GPUs: products, sums, sorts, solvers, with the same bits in every run.

Matrices are SciPy's, CuPy's or PyTorch's, or segsparse.Matrix; nothing is copied. python/README.md has a table.
"""

from ._context import Context, synchronize
from ._errors import (ArgumentError, CancelledError, ConvergenceError, DeviceError, Error, FileError, FormatError,
                      OutOfMemoryError, RangeError, UnsupportedError)
from ._families import DeviceArray
from ._library import cuda_device_count, lib
from ._matrix import Matrix, to_device
from .matrices import (add, apply, check, copy, diagonal, expand, filter, from_coo, from_dense, from_diagonal,
                       generate, hadamard, permute, read_mtx, reduce, scale, sort_rows, stats, transpose, write_mtx)
from .moving import gather, scatter
from .parts import block, extract, stack, to_dense, tril, triu
from .points import nearest, pair_count, pair_histogram, radius_join
from .products import (AddPlan, MultiplyPlan, TransposePlan, TriplePlan, explain, multiply, multiply_batch, triple)
from .sorting import Groups, Top, argsort, groups, segargsort, segsort, sort, top_k
from .texts import common_prefixes, find, suffix_array
from .vectors import Solution, SolvePlan, SpmvPlan, bicgstab, cg, spmv

__version__ = lib.lsp_version().decode()
__all__ = [name for name, thing in list(globals().items())
           if not name.startswith("_") and getattr(thing, "__module__", "").startswith(__name__)]
