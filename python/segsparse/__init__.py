"""Sparse matrices on all cores and on NVIDIA GPUs: products, sums, sorts, solvers, with the same bits in every run.

Matrices are SciPy's, CuPy's or PyTorch's, or segsparse.Matrix; nothing is copied. python/README.md has a table.
"""

from ._arrays import DeviceArray, to_device
from ._errors import (ArgumentError, CancelledError, ConvergenceError, DeviceError, Error, FileError, FormatError,
                      OutOfMemoryError, RangeError, UnsupportedError)
from ._library import Context, cuda_device_count, lib, synchronize
from ._matrix import Matrix
from .matrices import (add, apply, block, check, copy, diagonal, expand, extract, filter, from_coo, from_dense,
                       from_diagonal, generate, hadamard, permute, read_mtx, reduce, scale, sort_rows, stack, stats,
                       to_dense, transpose, tril, triu, write_mtx)
from .moving import gather, scatter
from .points import nearest, pair_count, pair_histogram, radius_join
from .products import (AddPlan, MultiplyPlan, TransposePlan, TriplePlan, explain, multiply, multiply_batch, triple)
from .sorting import Groups, Top, argsort, groups, radix_sort, segargsort, segsort, sort, top_k
from .texts import common_prefixes, find, suffix_array
from .vectors import Solution, SolvePlan, SpmvPlan, bicgstab, cg, spmv

__version__ = lib.lsp_version().decode()
__all__ = [name for name, thing in list(globals().items())
           if not name.startswith("_") and getattr(thing, "__module__", "").startswith(__name__)]
