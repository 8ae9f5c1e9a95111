"""Machine code: the program as LLVM IR, compiled by an installed clang, called through ctypes.

Memrefs go to the code as MLIR's descriptors (`llvm.emit_c_interface`), which point to the memory
of the arrays. Each argument is checked against the function's type before the call. The program
itself is not checked: an access out of bounds is undefined behaviour, as in C. `Module.interpret`
reports it.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

from . import _arrays
from ._diagnostics import Error
from ._ir import Operation
from ._loomir import Type

if TYPE_CHECKING:
    from ._module import Module

_PREFIX = "_mlir_ciface_"
# What reads a memref that is its first operand, and writes nothing.
_READERS = ("affine.load", "memref.load", "affine.vector_load", "vector.load", "memref.dim")


@dataclass(frozen=True)
class Toolchain:
    """A clang and its flags. Without a path it is `$CLANG`, or `clang` in the search path."""

    clang: Optional[str] = None
    flags: Tuple[str, ...] = ("-O2",)

    def path(self) -> str:
        """Returns the path of clang, or raises `Error`."""
        names = ["clang", *(f"clang-{version}" for version in range(26, 17, -1))]
        asked = self.clang or os.environ.get("CLANG")
        for name in [asked] if asked else names:
            found = shutil.which(name)
            if found is not None:
                return found
        missing = f"'{asked}' is no program" if asked else "no clang was found"
        raise Error(f"{missing}; install clang 18 or newer, or name it: CLANG=/path/to/clang")


class Compiled:
    """The functions of a compiled program: `compiled.f(x, y)` or `compiled["f"](x, y)`."""

    def __init__(self, functions: Dict[str, Function], refused: Dict[str, str]) -> None:
        self._functions = functions
        self._refused = refused

    @property
    def functions(self) -> List[str]:
        """The names of the functions that can be called."""
        return list(self._functions)

    def __getitem__(self, name: str) -> Function:
        if name in self._refused:
            raise Error(self._refused[name])
        if name not in self._functions:
            known = ", ".join(self._functions)
            raise Error(f"there is no compiled function `@{name}`; there are: {known}")
        return self._functions[name]

    def __getattr__(self, name: str) -> Function:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except Error as error:
            raise AttributeError(str(error)) from None


@dataclass(frozen=True)
class Signature:
    """The types of a function, as in the program and as in C, and which memrefs it may write."""

    name: str
    parameters: Sequence[Type]
    results: Sequence[Type]
    scalars: Sequence[Any]
    returned: Sequence[Any]
    written: Sequence[bool]


class Function:
    """A compiled function. Numbers go in and out as they are, arrays without a copy."""

    def __init__(self, signature: Signature, library: ctypes.CDLL) -> None:
        self.signature = signature
        # Holds the library, and is an object of its own: its types are not shared.
        self._code = library[_PREFIX + signature.name]
        self._library = library
        self._code.restype = signature.returned[0] if len(signature.returned) == 1 else None

    def __call__(self, *arguments: object) -> Any:
        name, parameters = self.signature.name, self.signature.parameters
        if len(arguments) != len(parameters):
            types = ", ".join(str(own) for own in parameters)
            takes = f"@{name} takes {len(parameters)} arguments ({types})"
            raise Error(f"{takes}, and {len(arguments)} are given")
        values: List[Any] = []
        alive: List[object] = []
        for at, (argument, ty, scalar) in enumerate(
            zip(arguments, parameters, self.signature.scalars)
        ):
            try:
                if scalar is not None:
                    values.append(_number(argument, ty, scalar))
                    continue
                array = _arrays.view(argument)
                _arrays.check(array, ty, self.signature.written[at])
            except Error as error:
                raise Error(f"argument {at} of @{name}: {error}") from None
            descriptor = _descriptor(array, ty)
            alive += [array, descriptor]
            values.append(ctypes.byref(descriptor))
        return self._call(values)

    def _call(self, values: List[Any]) -> Any:
        returned = self.signature.returned
        if len(returned) < 2:
            result = self._code(*values)
            return _python(result, self.signature.results[0]) if returned else None
        fields = [(f"result{at}", own) for at, own in enumerate(returned)]
        several = type("Results", (ctypes.Structure,), {"_fields_": fields})()
        self._code(ctypes.byref(several), *values)
        pairs = zip(fields, self.signature.results)
        return tuple(_python(getattr(several, field), ty) for (field, _), ty in pairs)


def _scalar(ty: Type, place: str) -> Any:
    """Returns the type of C that a scalar is passed as."""
    widths = {
        1: ctypes.c_uint8,
        8: ctypes.c_int8,
        16: ctypes.c_int16,
        32: ctypes.c_int32,
        64: ctypes.c_int64,
    }
    if ty.kind == "index":
        return ctypes.c_int64
    if ty.kind == "integer" and ty.width in widths:
        return widths[ty.width]
    if ty.kind in ("f32", "f64"):
        return ctypes.c_float if ty.kind == "f32" else ctypes.c_double
    if ty.kind == "memref":
        raise Error(f"{place} is a memref nobody would free; let the function write to an argument")
    can = "Python can pass integers of up to 64 bits, f32, f64 and memrefs"
    raise Error(f"{place} has the type {ty}; {can}")


def _number(value: object, ty: Type, scalar: Any) -> Any:
    """Returns a number as C takes it, and refuses one that does not fit."""
    if ty.kind in ("f32", "f64"):
        if isinstance(value, bool) or not hasattr(value, "__float__"):
            raise Error(f"a number of type {ty} is expected, and this is a {type(value).__name__}")
        try:
            return scalar(float(value))
        except OverflowError:
            raise Error(f"{value} does not fit {ty}") from None
    if not hasattr(value, "__index__"):
        raise Error(f"an integer of type {ty} is expected, and this is a {type(value).__name__}")
    number, width = value.__index__(), ty.width or 64
    lowest = 0 if width == 1 or ty.signedness == "unsigned" else -(1 << (width - 1))
    if not lowest <= number < 1 << width:
        raise Error(f"{number} does not fit {ty}")
    return scalar(number)


def _python(value: Any, ty: Type) -> Any:
    if ty.kind == "integer" and ty.width == 1:
        return bool(value & 1)
    if ty.signedness == "unsigned" and value < 0:
        return value + (1 << (ty.width or 64))
    return value


def _descriptor(array: _arrays.ArrayView, memref: Type) -> Any:
    """Returns the descriptor of a memref that is the memory of an array."""
    rank = len(array.shape)
    pointers = [
        ("allocated", ctypes.c_void_p),
        ("aligned", ctypes.c_void_p),
        ("offset", ctypes.c_int64),
    ]
    numbers = ctypes.c_int64 * rank
    fields: List[Tuple[str, Any]] = [*pointers, ("sizes", numbers), ("strides", numbers)]
    layout_of = {"_fields_": fields if rank else pointers}
    descriptor: Any = type("Descriptor", (ctypes.Structure,), layout_of)()
    # A type with a constant offset means that many elements behind the pointer.
    layout = memref.layout
    offset = (layout[1] if layout is not None else 0) or 0
    start = array.address - offset * array.itemsize
    descriptor.allocated, descriptor.aligned, descriptor.offset = start, start, offset
    if rank:
        descriptor.sizes[:] = array.shape
        descriptor.strides[:] = [stride // array.itemsize for stride in array.strides]
    return descriptor


def build(module: Module, toolchain: Toolchain) -> Compiled:
    """Compiles a module."""
    copy = module.clone()
    signatures: List[Signature] = []
    refused: Dict[str, str] = {}
    for own in [own for own in copy.body if own.name == "func.func" and _is_public(own)]:
        try:
            signatures.append(_signature(copy, own))
        except Error as error:
            refused[own.symbol_name or ""] = str(error)
    if not signatures:
        reason = "the module defines no public 'func.func'; pointers of 'llvm.func' have no sizes"
        raise Error(next(iter(refused.values()), reason))
    for signature in signatures:
        copy.function(signature.name).set_attribute("llvm.emit_c_interface", "unit")
    library = _shared_object(copy.to_ll(), toolchain)
    return Compiled({own.name: Function(own, library) for own in signatures}, refused)


def _is_public(function: Operation) -> bool:
    visibility = function.attributes.get("sym_visibility")
    is_defined = any(region.blocks for region in function.regions)
    return is_defined and (visibility is None or visibility.value == "public")


def _signature(module: Module, function: Operation) -> Signature:
    name = function.symbol_name or ""
    if "llvm.bareptr" in function.attributes:
        raise Error(f"@{name} takes bare pointers, whose sizes are unknown; drop 'llvm.bareptr'")
    parameters, results = module.signature(name)
    for ty in parameters:
        if ty.kind == "memref":
            _arrays.check_type(ty)
    written = [
        any(index != 0 or user.name not in _READERS for user, index in argument.uses)
        for argument in function.body.arguments
    ]
    scalars = [
        None if ty.kind == "memref" else _scalar(ty, f"argument {at} of @{name}")
        for at, ty in enumerate(parameters)
    ]
    returned = [_scalar(ty, f"result {at} of @{name}") for at, ty in enumerate(results)]
    return Signature(name, parameters, results, scalars, returned, written)


def _shared_object(text: str, toolchain: Toolchain) -> ctypes.CDLL:
    clang = toolchain.path()
    with tempfile.TemporaryDirectory(prefix="loomir-") as folder:
        source, target = os.path.join(folder, "program.ll"), os.path.join(folder, "program.so")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        command = [clang, *toolchain.flags, "-Wno-override-module", "-fPIC", "-shared"]
        command += ["-x", "ir", source, "-o", target, "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Error(f"'{clang}' cannot compile the program:\n{done.stderr.strip()}")
        try:
            return ctypes.CDLL(target)
        except OSError as error:
            raise Error(f"the compiled program cannot be loaded: {error}") from None
