"""Arrays in and out: NumPy's, CuPy's, PyTorch's, and any with __cuda_array_interface__. Nothing is copied if the type
is one of the library's and the array is contiguous; `copied_bytes` counts what is."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from . import _header as h
from ._errors import ArgumentError, UnsupportedError
from ._families import DTYPES, TYPES, Family, address, family_of

# What the annotations of public functions say: an array that is read, and one that is written.
Array = Output = Any

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
