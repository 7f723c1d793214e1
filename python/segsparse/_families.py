"""Whose arrays are these, and how are results made? NumPy's, CuPy's, PyTorch's, and DeviceArray for everything else
on a GPU. Below them, the memory that C has given away."""

from __future__ import annotations

import ctypes
import math
import sys
from ctypes import byref
from typing import Any, Callable

import numpy as np

from . import _header as h
from ._context import Context, current
from ._errors import ArgumentError
from ._library import Arrays, lib, pool_of, quick

TYPES = {"<i4": h.LSP_I32, "<i8": h.LSP_I64, "<u4": h.LSP_U32, "<u8": h.LSP_U64, "<f4": h.LSP_F32, "<f8": h.LSP_F64,
         "<c16": h.LSP_C64, "|b1": h.LSP_BOOL}
TYPESTR = {value: key for key, value in TYPES.items()}
DTYPES = {key: np.dtype(key) for key in TYPES}

# ---- arrays that C made --------------------------------------------------------------------------------------------


def _free(self: Any, free: Any = lib.lsp_array_free, free_small: Any = quick.lsp_array_free, byref: Any = byref,
          addressof: Any = ctypes.addressof, one: Any = h.lsp_array, three: Any = Arrays,
          size: int = ctypes.sizeof(h.lsp_array)) -> None:
    """The end of memory that `owner` kept: an lsp_array or three are freed, any other object ends by itself."""
    owner = self.owner
    if type(owner) is one:
        free(byref(owner))
    elif type(owner) is three:
        at = addressof(owner)
        free_small(at)
        free_small(at + size)
        free_small(at + 2 * size)


class HostMemory(ctypes.c_char * (sys.maxsize // 2)):
    """The base of NumPy's arrays in memory of C, a ctypes array because NumPy takes nothing faster. It begins at address
    1 and covers all others, because a type for each size would take longer to make than a small product."""

    __slots__ = ("owner",)
    __del__ = _free


def host_memory(owner: Any, begin: Callable = HostMemory.from_address) -> HostMemory:
    """Memory of the host that `owner` keeps: what C has given away, or any other object."""
    memory = begin(1)
    memory.owner = owner
    return memory


def host_array(memory: HostMemory, pointer: int, dtype: np.dtype, shape: tuple) -> np.ndarray:
    """An array in this memory."""
    return np.ndarray(shape, dtype, memory, pointer - 1)


def _address(array: np.ndarray) -> int:
    """Where the elements of an array begin."""
    return array.__array_interface__["data"][0]


if sys.implementation.name == "cpython":
    # NumPy's ABI has this pointer first in its object. Reading it there takes a tenth of the time of the dictionary.
    def _first_member(array: np.ndarray, at: Any = ctypes.c_void_p.from_address,
                      head: int = object.__basicsize__) -> int:
        return at(id(array) + head).value

    if all(_first_member(probe) == _address(probe) for probe in (np.zeros(3), np.zeros((2, 2), "<i4")[1:])):
        address = _first_member
    else:
        address = _address
else:
    address = _address


class DeviceArray:
    """An array on a GPU. CuPy and PyTorch take it as it is (cupy.asarray, torch.as_tensor); get() copies it to the
    host. Its memory is freed once, when nothing refers to it.

    >>> import numpy, segsparse
    >>> x = numpy.arange(3.0)
    >>> segsparse.cuda_device_count() == 0 or segsparse.to_device(x).get().tolist() == [0, 1, 2]
    True
    """

    __del__ = _free

    def __init__(self, owner: Any, pointer: int | None, typestr: str, shape: tuple, ordinal: int):
        self.owner, self.shape, self.dtype, self.ordinal = owner, shape, np.dtype(typestr), ordinal
        self.__cuda_array_interface__ = {"data": (pointer or 0, False), "shape": shape, "typestr": typestr,
                                         "version": 3, "strides": None, "stream": None}

    def __len__(self) -> int:
        return self.shape[0]

    def __reduce__(self) -> Any:
        raise ArgumentError("an array on a GPU cannot be copied or pickled: get() copies it to the host")

    def first(self, *shape: int) -> "DeviceArray":
        """Its first elements, in another shape. They keep this array alive."""
        return DeviceArray(self, self.__cuda_array_interface__["data"][0], self.dtype.str, shape, self.ordinal)

    def get(self) -> np.ndarray:
        """A copy on the host."""
        result = np.empty(self.shape, self.dtype)
        if result.nbytes:
            current(self.ordinal).call(lib.lsp_array_copy, result.ctypes.data, h.LSP_HOST,
                                       self.__cuda_array_interface__["data"][0], h.LSP_CUDA, result.nbytes)
        return result


# ---- families: whose arrays are these, and how are results made? ---------------------------------------------------


class Family:
    """NumPy and SciPy: arrays of the host."""

    ordinal: int | None = None  # of the GPU
    stream: int | None = None
    keep: Any = None  # the object that owns the stream
    pool: Any = None  # whose memory results get

    def context(self) -> Context:
        return current(self.ordinal, self.stream, self.keep, self.pool)

    def wrap(self, owner: Any, pointer: int | None, typestr: str, shape: tuple) -> Any:
        """An array in memory that `owner` keeps: an lsp_array that C has given away, or any other object."""
        if not pointer:
            return np.empty(shape, typestr)
        return host_array(host_memory(owner), pointer, DTYPES[typestr], shape)

    def empty(self, shape: tuple, typestr: str) -> Any:
        return np.empty(shape, typestr)

    def put(self, array: np.ndarray) -> Any:
        """An array of the family from one of NumPy."""
        return array

    def finish(self) -> None:
        """Ends a call that has written into arrays of the family."""


class OnDevice(Family):
    """DeviceArray, and whatever else has __cuda_array_interface__."""

    def __init__(self, ordinal: int, stream: int | None = None, keep: Any = None):
        self.ordinal, self.stream, self.keep = ordinal, stream, keep

    def wrap(self, owner: Any, pointer: int | None, typestr: str, shape: tuple) -> Any:
        return DeviceArray(owner, pointer, typestr, shape, self.ordinal)

    def empty(self, shape: tuple, typestr: str) -> Any:
        array = h.lsp_array()
        self.context().call(lib.lsp_array_create, math.prod(shape) * np.dtype(typestr).itemsize, h.LSP_CUDA,
                            byref(array))
        return self.wrap(array, array.memory, typestr, shape)

    def put(self, array: np.ndarray) -> Any:
        array = np.ascontiguousarray(array)
        result = self.empty(array.shape, array.__array_interface__["typestr"])
        if array.nbytes:
            self.context().call(lib.lsp_array_copy, result.__cuda_array_interface__["data"][0], h.LSP_CUDA,
                                array.ctypes.data, h.LSP_HOST, array.nbytes)
        return result

    def finish(self) -> None:
        self.context().synchronize()


_pools: dict[tuple, Any] = {}


class OfCupy(OnDevice):
    """CuPy's arrays, on CuPy's current stream, in memory of CuPy's pool."""

    @property
    def pool(self) -> Any:
        key = "cupy", self.ordinal, self.stream
        if key not in _pools:
            import cupy
            held, stream = {}, self.keep

            def allocate(size):
                with cupy.cuda.Device(self.ordinal), stream:
                    memory = cupy.cuda.alloc(size)
                held[memory.ptr] = memory
                return memory.ptr

            _pools[key] = pool_of(allocate, held.pop)
        return _pools[key]

    def wrap(self, owner: Any, pointer: int | None, typestr: str, shape: tuple) -> Any:
        import cupy
        with cupy.cuda.Device(self.ordinal):
            if not pointer:
                return cupy.empty(shape, typestr)
            return cupy.asarray(DeviceArray(owner, pointer, typestr, shape, self.ordinal))

    def empty(self, shape: tuple, typestr: str) -> Any:
        import cupy
        with cupy.cuda.Device(self.ordinal):
            return cupy.empty(shape, typestr)

    def finish(self) -> None:
        """The stream is the caller's: what follows on it finds the results."""


class OfTorch(OnDevice):
    """PyTorch's tensors on a GPU, on PyTorch's current stream, in memory of PyTorch's pool."""

    @property
    def pool(self) -> Any:
        key = "torch", self.ordinal, self.stream
        if key not in _pools:
            from torch import cuda
            ordinal, stream = self.ordinal, self.keep
            _pools[key] = pool_of(lambda size: cuda.caching_allocator_alloc(size, ordinal, stream),
                                  cuda.caching_allocator_delete)
        return _pools[key]

    def wrap(self, owner: Any, pointer: int | None, typestr: str, shape: tuple) -> Any:
        import torch
        if not pointer:
            return self.empty(shape, typestr)
        return torch.as_tensor(DeviceArray(owner, pointer, typestr, shape, self.ordinal), device=f"cuda:{self.ordinal}")

    def empty(self, shape: tuple, typestr: str) -> Any:
        import torch
        kind = torch.from_numpy(np.empty(0, typestr)).dtype
        return torch.empty(shape, dtype=kind, device=f"cuda:{self.ordinal}")

    def finish(self) -> None:
        """The stream is the caller's: what follows on it finds the results."""


class OfTorchHost(Family):
    """PyTorch's tensors on the host."""

    def wrap(self, owner: Any, pointer: int | None, typestr: str, shape: tuple) -> Any:
        import torch
        return torch.from_numpy(super().wrap(owner, pointer, typestr, shape))

    def empty(self, shape: tuple, typestr: str) -> Any:
        import torch
        return torch.from_numpy(np.empty(shape, typestr))

    def put(self, array: np.ndarray) -> Any:
        import torch
        return torch.from_numpy(array)


HOST = Family()


def family_of(x: Any) -> Family:
    """The family of an array."""
    if type(x) is np.ndarray:
        return HOST
    module = type(x).__module__.partition(".")[0]
    if module == "torch":
        import torch
        if x.device.type == "cpu":
            return OfTorchHost()
        stream = torch.cuda.current_stream(x.device)
        return OfTorch(x.device.index, stream.cuda_stream or 1, stream)  # 1: cudaStreamLegacy, CUDA's stream 0
    if module == "cupy":
        import cupy
        stream = cupy.cuda.get_current_stream()
        return OfCupy(x.device.id, stream.ptr or 1, stream)
    if isinstance(x, DeviceArray):
        return OnDevice(x.ordinal)
    interface = getattr(x, "__cuda_array_interface__", None)
    return OnDevice(0, interface.get("stream")) if interface is not None else HOST
