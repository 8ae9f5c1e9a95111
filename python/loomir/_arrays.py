"""Arrays as memrefs: what their memory looks like, and if it fits a type.

Anything with `__array_interface__` (NumPy's arrays) or a writable buffer (`array.array`,
`bytearray`, `memoryview`) is an array. Nothing is copied.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Tuple

from ._diagnostics import Error
from ._loomir import Type

NATIVE = "<" if sys.byteorder == "little" else ">"


@dataclass(frozen=True)
class ArrayView:
    """The memory of an array. Strides count bytes. `owner` keeps the memory alive."""

    address: int
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    kind: str
    itemsize: int
    is_writable: bool
    owner: object


def is_array(value: object) -> bool:
    """True if `view` can look at a value."""
    if hasattr(value, "__array_interface__"):
        return True
    try:
        memoryview(value).release()  # type: ignore[arg-type]
    except (TypeError, BufferError, ValueError):
        return False
    return True


def view(value: object) -> ArrayView:
    """Returns the memory of an array, or raises `Error`."""
    interface = getattr(value, "__array_interface__", None)
    if interface is not None:
        return _of_interface(value, interface)
    if not is_array(value):
        raise Error(f"an array is expected, and this is a {type(value).__name__}")
    return _of_buffer(value)


def _of_interface(value: object, interface: Any) -> ArrayView:
    try:
        typestr, shape, data = interface["typestr"], tuple(interface["shape"]), interface["data"]
        address, is_read_only = data
        order, kind, itemsize = typestr[0], typestr[1], int(typestr[2:] or 0)
        strides = interface.get("strides")
        strides = dense(shape, itemsize) if strides is None else tuple(strides)
        numbers = [address, *shape, *strides]
        is_sound = all(isinstance(own, int) for own in numbers) and len(shape) == len(strides)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        is_sound = False
    if not is_sound or interface.get("mask") is not None:
        name = type(value).__name__
        raise Error(f"the '__array_interface__' of this {name} is not that of an array in memory")
    if order not in (NATIVE, "|"):
        raise Error("the array has the other byte order; convert it with 'astype'")
    return ArrayView(address, shape, strides, kind, itemsize, not is_read_only, value)


def _of_buffer(value: Any) -> ArrayView:
    memory = memoryview(value)
    if memory.readonly or not memory.c_contiguous:
        raise Error(
            "this buffer is read-only or not contiguous; use a NumPy array, or a copy of it"
        )
    code = memory.format.lstrip("@=" + NATIVE)
    kinds = {"?": "b"}
    for letters, kind in (("bhilqn", "i"), ("BHILQN", "u"), ("efd", "f")):
        kinds.update(dict.fromkeys(letters, kind))
    if code not in kinds:
        raise Error(
            f"the elements of this buffer have the format '{memory.format}', which no type has"
        )
    owner, address = memory, 0
    if memory.nbytes > 0:
        # Holds the buffer, so that it cannot be resized.
        owner = (ctypes.c_char * memory.nbytes).from_buffer(memory)  # type: ignore[assignment]
        address = ctypes.addressof(owner)  # type: ignore[arg-type]
    shape, strides = tuple(memory.shape or ()), tuple(memory.strides or ())
    return ArrayView(address, shape, strides, kinds[code], memory.itemsize, True, (owner, value))


def dense(shape: Sequence[int], itemsize: int) -> Tuple[int, ...]:
    """Returns the strides of an array without gaps, the last dimension running fastest."""
    strides: List[int] = []
    stride = itemsize
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))


def check_type(memref: Type) -> None:
    """Raises `Error` if no array can be used as a memref of this type."""
    if memref.shape is None:
        raise Error(f"{memref} has no rank; compiled functions take memrefs with one")
    if memref.memory_space is not None:
        raise Error(f"{memref} may be in the memory of another device; drop the memory space")
    if memref.layout is None:
        raise Error(
            f"the layout of {memref} is not strided; compiled functions take strided memrefs"
        )
    _dtypes(memref)


def check(array: ArrayView, memref: Type, is_written: bool) -> None:
    """Raises `Error` if an array cannot be used as a memref of this type."""
    wanted_dtypes = _dtypes(memref)
    if (array.kind, array.itemsize) not in wanted_dtypes:
        names = " or ".join(_dtype(letter, size) for letter, size in wanted_dtypes)
        own = _dtype(array.kind, array.itemsize)
        raise Error(f"the array has elements of type {own}, and {memref} needs {names}")
    shape = memref.shape or []
    wanted = str(tuple("?" if size is None else size for size in shape)).replace("'", "")
    fits = len(shape) == len(array.shape) and all(
        size in (None, own) for size, own in zip(shape, array.shape)
    )
    if not fits:
        raise Error(f"the array has the shape {array.shape}, and {memref} needs {wanted}")
    if is_written and not array.is_writable:
        raise Error("the array is read-only, and the function may write to it; pass a copy")
    if array.shape and 0 in array.shape:
        return
    if array.address == 0:
        raise Error("the array has no memory")
    part = array.itemsize // 2 if array.kind == "c" else array.itemsize
    if array.address % part != 0 or any(stride % array.itemsize != 0 for stride in array.strides):
        raise Error("the elements of the array are not aligned; pass a copy")
    _check_strides(array, memref)


def _dtypes(memref: Type) -> List[Tuple[str, int]]:
    """Returns the kinds and sizes of elements that an array may have."""
    element = memref.element
    assert element is not None
    kind, width = element.kind, element.width or 0
    if kind == "index":
        return [("i", 8), ("u", 8)]
    if kind == "integer" and width == 1:
        return [("b", 1)]
    if kind == "integer" and width in (8, 16, 32, 64):
        letters = {"signed": "i", "unsigned": "u"}.get(element.signedness or "", "iu")
        return [(letter, width // 8) for letter in letters]
    if kind in ("f16", "f32", "f64"):
        return [("f", width // 8)]
    part = element.element
    if kind == "complex" and part is not None and part.kind in ("f32", "f64"):
        return [("c", (part.width or 0) // 4)]
    raise Error(f"no array has elements of type {element}; change the element type of {memref}")


def _dtype(kind: str, itemsize: int) -> str:
    names = {"i": "int", "u": "uint", "f": "float", "c": "complex"}
    if kind in names:
        return f"{names[kind]}{8 * itemsize}"
    return {"b": "bool", "O": "object"}.get(kind, f"'{kind}'")


def _check_strides(array: ArrayView, memref: Type) -> None:
    layout = memref.layout
    assert layout is not None
    strides = [stride // array.itemsize for stride in array.strides]
    # A dimension of one element is never stepped along.
    long = [at for at, size in enumerate(array.shape) if size > 1]
    wanted: Sequence[Optional[int]] = layout[0]
    if memref.is_contiguous:
        wanted = dense(array.shape, 1)
    for at in long:
        if wanted[at] not in (None, strides[at]):
            text = f"the array has the strides {tuple(strides)} in elements"
            help = "pass a copy, or give the argument a strided layout"
            raise Error(f"{text}, and {memref} needs {tuple(wanted)}; {help}")
    extent = 0
    for at in sorted(long, key=lambda at: abs(strides[at])):
        if strides[at] <= extent:
            raise Error("strides of the array are negative, or its elements overlap; pass a copy")
        extent += (array.shape[at] - 1) * strides[at]


def argument_text(value: object, memref: Optional[Type] = None) -> str:
    """Returns an argument as `loomir run --arg` takes it. A text stays as it is."""
    if isinstance(value, str):
        return value
    if not isinstance(value, (bool, int, float, list, tuple)):
        to_list = getattr(value, "tolist", None)
        if to_list is None and is_array(value):
            to_list = memoryview(value).tolist  # type: ignore[arg-type]
        if to_list is None:
            name = type(value).__name__
            raise TypeError(f"a number, a list or an array is expected, and this is a {name}")
        value = to_list()
    text = _elements(value, 0)
    sizes = None if memref is None else memref.shape
    if memref is not None and memref.kind == "memref" and sizes is not None and None in sizes:
        own = "".join(f"{size}x" for size in _shape(value, len(sizes)))
        return f"{text} : memref<{own}{memref.element}>"
    return text


def _elements(value: object, depth: int) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)) and depth < 32:
        return "[" + ", ".join(_elements(own, depth + 1) for own in value) + "]"
    raise TypeError(f"a number is expected in an argument, and this is a {type(value).__name__}")


def _shape(value: object, rank: int) -> List[int]:
    sizes = []
    for _ in range(rank):
        is_list = isinstance(value, (list, tuple))
        sizes.append(len(value) if is_list else 0)  # type: ignore[arg-type]
        value = value[0] if is_list and value else None  # type: ignore[index]
    return sizes
