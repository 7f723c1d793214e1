"""The shared library: loaded once, what its structs hold, and memory of other libraries for it."""

from __future__ import annotations

import ctypes
import struct
import sys
from pathlib import Path
from typing import Any, Callable

from . import _header as h
from ._errors import (ArgumentError, CancelledError, ConvergenceError, DeviceError, Error, FileError, FormatError,
                      OutOfMemoryError, RangeError, UnsupportedError)

_path = str(Path(__file__).with_name("libsparse.so"))
lib = ctypes.CDLL(_path)
quick = ctypes.PyDLL(_path)  # keeps the interpreter's lock: for calls that take less time than giving it away
for _name, (_result, _arguments) in h.SIGNATURES.items():
    for _function in getattr(lib, _name), getattr(quick, _name):
        _function.restype, _function.argtypes = _result, _arguments

_ERRORS = {
    h.LSP_ERR_ARGUMENT: ArgumentError, h.LSP_ERR_FORMAT: FormatError, h.LSP_ERR_IO: FileError,
    h.LSP_ERR_MEMORY: OutOfMemoryError, h.LSP_ERR_DEVICE: DeviceError, h.LSP_ERR_UNSUPPORTED: UnsupportedError,
    h.LSP_ERR_OVERFLOW: RangeError, h.LSP_ERR_CONVERGENCE: ConvergenceError, h.LSP_ERR_CANCELLED: CancelledError,
}


def failure(status: int, sentence: bytes) -> Error:
    """The exception of a status."""
    error = _ERRORS.get(status, Error)(sentence.decode(errors="replace"))
    error.status = lib.lsp_status_name(status).decode()
    return error


# rows, cols, nnz, rowptr, col, val, rowptr_type, col_type, val_type, where: faster than one by one.
_csr = struct.Struct("3q3P4i")
members_of, set_members = _csr.unpack, _csr.pack_into
assert _csr.size == ctypes.sizeof(h.lsp_csr)
Arrays = h.lsp_array * 3  # of a matrix, given away by a context

_libc = ctypes.CDLL(None)
_libc.aligned_alloc.restype, _libc.aligned_alloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t, ctypes.c_size_t]
_libc.free.restype, _libc.free.argtypes = None, [ctypes.c_void_p]


def pool_of(allocate: Callable[[int], int], release: Callable[[int], Any]) -> h.lsp_allocator:
    """Device memory of another library, as C takes it. It never ends, because arrays of it may outlive everything."""

    def alloc(user, size, where):
        if where == h.LSP_HOST:
            return _libc.aligned_alloc(64, -(-size // 64) * 64)
        try:
            return allocate(size)
        except Exception:  # out of memory: C says so
            return None

    def free(user, memory, size, where):
        if where == h.LSP_HOST:
            _libc.free(memory)
        elif not sys.is_finalizing():  # then the pool is gone already, with all that it held
            release(memory)

    kinds = dict(h.lsp_allocator._fields_)
    pool = h.lsp_allocator(kinds["alloc"](alloc), kinds["free"](free))
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(pool))
    return pool


def as_dict(filled: ctypes.Structure) -> dict:
    """The members of a struct that the library has filled."""
    result = {}
    for name, kind in filled._fields_:
        value = getattr(filled, name)
        if name == "reserved":
            continue
        if isinstance(value, bytes):
            value = value.decode()
        elif isinstance(value, ctypes.Array):
            value = list(value)
        elif isinstance(value, ctypes.Structure):
            value = as_dict(value)
        result[name] = value
    return result


def cuda_device_count() -> int:
    """How many GPUs the library can use here.

    >>> import segsparse
    >>> segsparse.cuda_device_count() >= 0
    True
    """
    return lib.lsp_cuda_device_count()
