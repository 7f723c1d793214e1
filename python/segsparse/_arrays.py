"""Arrays in and out: NumPy's, CuPy's, PyTorch's, and any with __cuda_array_interface__. Nothing is copied if the type
is one of the library's and the array is contiguous; `copied_bytes` counts what is."""

from __future__ import annotations

import ctypes
import math
import sys
from ctypes import byref
from typing import Any, Callable

import numpy as np

from . import _header as h
from ._errors import INT, ArgumentError, UnsupportedError, whole
from ._library import Arrays, Context, current, lib, pool_of, quick

# What the annotations of public functions say: an array that is read, and one that is written.
Array = Output = Any

TYPES = {"<i4": h.LSP_I32, "<i8": h.LSP_I64, "<u4": h.LSP_U32, "<u8": h.LSP_U64, "<f4": h.LSP_F32, "<f8": h.LSP_F64,
         "<c16": h.LSP_C64, "|b1": h.LSP_BOOL}
TYPESTR = {value: key for key, value in TYPES.items()}
DTYPES = {key: np.dtype(key) for key in TYPES}
_TYPESTR_OF = {value: key for key, value in DTYPES.items()}
MATRIX_TYPES = {DTYPES[key]: value for key, value in TYPES.items() if key[1] != "u"}
INDEX_TYPES = {DTYPES[key]: TYPES[key] for key in ("<i4", "<i8")}
# Types of other widths become these, with a copy. "|u1" of a matrix or key, not of what is only moved.
_WIDER = {"|i1": "<i4", "|u1": "<i4", "<i2": "<i4", "<u2": "<i4", "<u4": "<i8", "<f2": "<f4", "<c8": "<c16"}
_TO_F64 = frozenset(("<i4", "<i8", "<u4", "<u8", "|b1", "<f4"))  # where float64 alone is taken, as of vectors
MATRIX = frozenset(("<f8", "<f4", "<i8", "<i4", "<c16", "|b1"))
INDEX = frozenset(("<i4", "<i8"))
KEY = frozenset(("<i4", "<i8", "<u4", "<u8", "<f4", "<f8"))
REAL = frozenset(("<f4", "<f8"))
_F8 = frozenset(("<f8",))
SOME = range(1, 65)  # numbers of dimensions: at least one
_OF_LISTS = ("<i8", "<f8", "<f4", "<i4", "<c16")  # numbers without a type get the first of these that is taken

copied_bytes = 0  # by all conversions of inputs so far


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


# ---- arrays that C reads and writes --------------------------------------------------------------------------------


class View:
    """What C needs of an array: pointer, type (a typestr), shape. `array` keeps the memory alive."""

    __slots__ = ("array", "pointer", "typestr", "shape")

    def __init__(self, array: Any, pointer: int, typestr: str, shape: tuple):
        self.array, self.pointer, self.typestr, self.shape = array, pointer, typestr, shape

    @property
    def type(self) -> int:
        return TYPES[self.typestr]

    @property
    def itemsize(self) -> int:
        return np.dtype(self.typestr).itemsize


def interface_of(x: Any) -> dict:
    """The array interface of an array: NumPy's, or that of a GPU."""
    if type(x) is np.ndarray:
        return x.__array_interface__
    if type(x).__module__.startswith("torch"):
        return x.numpy().__array_interface__ if x.device.type == "cpu" else x.__cuda_array_interface__
    interface = getattr(x, "__cuda_array_interface__", None)
    return x.__array_interface__ if interface is None else interface


def view(x: Any, types: frozenset | None = MATRIX, what: str = "the array", write: bool = False,
         dims: tuple | None = (1,)) -> View:
    """Every array that C reads or writes comes from here: contiguous, with one of these types and numbers of dimensions
    (None: any). A list, an array of another type or with gaps is copied, unless it is to be written or lies on a GPU:
    then it is refused."""
    if type(x) is np.ndarray and x.flags.c_contiguous and (x.flags.writeable or not write):
        typestr = _TYPESTR_OF.get(x.dtype)
        if typestr is not None and (types is None or typestr in types) and (dims is None or x.ndim in dims):
            return View(x, address(x), typestr, x.shape)  # the same as below, faster
    if type(x).__module__.startswith("torch"):
        x = x.detach()
    elif isinstance(x, np.generic) or not (hasattr(x, "__cuda_array_interface__") or hasattr(x, "__array_interface__")):
        x = np.from_dlpack(x) if hasattr(x, "__dlpack__") else _from_list(x, types, what)
        if write and x.base is None:
            raise ArgumentError(f"{what} is no array: nothing can be written into it")
        return view(x, types, what, write, dims)
    interface = interface_of(x)
    if dims is not None and len(interface["shape"]) not in dims:
        wanted = " or ".join(map(str, dims)) if dims is not SOME else "1 or more"
        raise ArgumentError(f"{what} has the shape {tuple(interface['shape'])}: its number of dimensions must be "
                            f"{wanted}")
    typestr = interface["typestr"]
    if interface.get("strides") is not None and math.prod(interface["shape"]) > 1 and not _dense(interface) \
            or (types is not None and typestr not in types):
        x = _converted(x, interface, types, what, write)
        interface = x.__array_interface__
        typestr = interface["typestr"]
    if typestr[1] in "OV" and getattr(x, "dtype", np.dtype("O")).hasobject:
        raise UnsupportedError(f"{what} holds Python's objects: only plain data can be moved")
    pointer, read_only = interface["data"]
    if write and read_only:
        raise ArgumentError(f"{what} is read-only")
    return View(x, pointer, typestr, interface["shape"])


def array_of(x: Any, types: frozenset | None, what: str, dims: tuple | None = SOME) -> Any:
    """An array as it is; a list as an array."""
    return x if hasattr(x, "shape") else view(x, types, what, dims=dims).array


def beside(x: Any, types: frozenset | None, what: str, family: Family, length: int | None = None) -> View:
    """The view of a vector that must lie where arrays of the family do."""
    v = view(x, types, what)
    if family_of(v.array).ordinal != family.ordinal:
        raise ArgumentError(f"{what} does not lie on {place(family)}, where the other arrays do")
    if length is not None and v.shape != (length,):
        raise ArgumentError(f"{what} has the shape {v.shape}: {length} elements are needed")
    return v


def numbers(x: Any, what: str) -> np.ndarray:
    """One number or several, as float64 on the host."""
    v = view(x, _F8, what, dims=(0, 1))
    if family_of(v.array).ordinal is not None:
        raise ArgumentError(f"{what} lies on a GPU: numbers of the host are wanted")
    return np.asarray(v.array).reshape(-1)


def place(family: Family) -> str:
    return "the host" if family.ordinal is None else f"GPU {family.ordinal}"


def _from_list(x: Any, types: frozenset | None, what: str) -> np.ndarray:
    """A list, or a number, as an array. Numbers of Python have no type: they get one that is taken and holds them."""
    try:
        array = np.asarray(x)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"{what} forms no array: {error}") from None
    if types is None or array.dtype.str in types:
        return array
    for wanted in _OF_LISTS:
        if wanted in types and (not array.size or np.can_cast(array.dtype, wanted, "same_kind")):
            made = array.astype(wanted)
            if made.dtype.kind != "i" or (made == array).all():
                return made
    return array


def _dense(interface: dict) -> bool:
    """Strides of C's order, or those of dimensions with one element?"""
    expected = np.dtype(interface["typestr"]).itemsize
    for size, stride in zip(reversed(interface["shape"]), reversed(interface["strides"])):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def _converted(x: Any, interface: dict, types: frozenset | None, what: str, write: bool) -> np.ndarray:
    global copied_bytes
    typestr = interface["typestr"]
    wanted = typestr
    if types is not None and typestr not in types:
        native = "<" + typestr[1:] if typestr[0] == ">" else typestr
        wanted = native if native in types else _WIDER.get(native, native)
        if wanted not in types and wanted in _TO_F64 and types <= REAL and "<f8" in types:
            wanted = "<f8"
    if types is not None and wanted not in types:
        raise UnsupportedError(f"{what} has elements of type {np.dtype(typestr)}; these are taken: "
                               + ", ".join(str(np.dtype(name)) for name in sorted(types)))
    if write or getattr(x, "__cuda_array_interface__", None) is not None:
        raise UnsupportedError(f"{what} has type {np.dtype(typestr)} or gaps, and would have to be copied")
    result = np.ascontiguousarray(x if isinstance(x, np.ndarray) else np.asarray(x), dtype=wanted)
    copied_bytes += result.nbytes
    return result


def to_device(x: Array, ordinal: int = 0) -> Any:
    """A copy of an array or of a matrix on a GPU, as DeviceArray or segsparse.Matrix.

    >>> import numpy, segsparse
    >>> segsparse.cuda_device_count() == 0 or len(segsparse.to_device(numpy.ones(4))) == 4
    True
    """
    from ._matrix import Matrix, operand
    family = OnDevice(whole("ordinal", ordinal, *INT))
    if isinstance(x, np.ndarray):
        return family.put(x)
    A = operand(x)
    data = None if A.data is None else family.put(np.asarray(A.data))
    return Matrix(A.shape, family.put(np.asarray(A.indptr)), family.put(np.asarray(A.indices)), data)


def typestr_of(dtype: Any) -> str:
    """The typestr of whatever NumPy takes for a dtype, or of PyTorch's."""
    if "torch" in sys.modules and isinstance(dtype, sys.modules["torch"].dtype):
        dtype = str(dtype).replace("torch.", "")
    try:
        return np.dtype(dtype).str
    except TypeError:
        raise ArgumentError(f"dtype is {dtype!r}: the name of a type is wanted") from None


def host_copy(x: Any) -> np.ndarray:
    """The array on the host: itself, if it lies there."""
    if hasattr(x, "get"):
        return x.get()
    if type(x).__module__.startswith("torch"):
        return x.detach().cpu().numpy()
    return np.asarray(x)
