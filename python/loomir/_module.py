"""Contexts and modules: reading, passes, fusion, execution."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Union

from . import _loomir
from ._arrays import argument_text
from ._compile import Compiled, Toolchain, build
from ._diagnostics import Diagnostic, Error
from ._ir import Block, Operation
from ._loomir import Attribute, Type

Pass = Callable[["Module"], object]


@dataclass(frozen=True)
class FuseOptions:
    """The options of `fuse`, `optimize` and `explain`. `loomir fuse --help` describes each."""

    alias: str = "version"
    profitability: str = "cost"
    cost: str = "static"
    #: A known machine, such as "znver4", or the text that `loomir machine` prints.
    machine: str = "generic"
    max_shift: int = 8
    shift_multiple: int = 1
    max_tests: int = 8
    unroll_and_jam: bool = True
    limit: Optional[int] = None
    analyses: Mapping[str, str] = field(default_factory=dict)
    contract: bool = True
    optimize: bool = False
    parallel: bool = False


@dataclass(frozen=True)
class Fused:
    """The results of `fuse` and `optimize`."""

    fused: int
    refused: int
    other_edits: int
    remarks: List[Diagnostic]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run in the interpreter.

    Memrefs are nested lists: the results, and the final contents of each argument by its position.
    """

    results: List[Any]
    buffers: Dict[int, Any]
    printed: str
    steps: int
    text: str

    def __str__(self) -> str:
        return self.text


class Context:
    """Loomir's dialects, and perhaps dialects of text files, to read modules with."""

    def __init__(self, *dialects: str) -> None:
        """Makes a context. Each of `dialects` is the text of a dialect file."""
        names = [f"dialect{number}.irdl" for number in range(1, len(dialects) + 1)]
        self._native = _loomir.Context(list(zip(names, dialects)))

    @property
    def dialects(self) -> List[str]:
        """The names of the dialects that were loaded from text."""
        return self._native.dialects()

    def parse(self, source: str, file_name: str = "<string>") -> Module:
        """Reads and verifies a module, MLIR or LLVM IR by its content."""
        return Module(self._native.parse(source, file_name), self)

    def parse_file(self, path: Union[str, "os.PathLike[str]"]) -> Module:
        """Reads and verifies the module of a file."""
        with open(path, encoding="utf-8") as file:
            return self.parse(file.read(), os.fspath(path))

    def type(self, text: str) -> Type:
        """Reads a type."""
        return self._native.parse_type(text)

    def attribute(self, text: str) -> Attribute:
        """Reads an attribute."""
        return self._native.parse_attribute(text)


def load_dialect(*dialects: str) -> Context:
    """Returns a context that knows dialects, each the text of a file in the form of IRDL."""
    return Context(*dialects)


def parse(source: str, file_name: str = "<string>", context: Optional[Context] = None) -> Module:
    """Reads and verifies a module, MLIR or LLVM IR by its content."""
    return (context or Context()).parse(source, file_name)


class Module:
    """A program.

    A method that changes the program does so completely or, if it raises, not at all. Handles to
    operations end when `run`, `fuse` or another rewriting method has changed the program.
    """

    def __init__(self, native: _loomir.Module, context: Context) -> None:
        self.native = native
        self.context = context

    # Looking.

    @property
    def operation(self) -> Operation:
        """The module's own operation."""
        return Operation(self, _loomir.root(self.native))

    @property
    def body(self) -> Block:
        """The block of the module."""
        return self.operation.body

    def walk(self) -> Iterator[Operation]:
        """Yields all operations, the module's own first."""
        return self.operation.walk()

    def function(self, name: str) -> Operation:
        """Returns the operation of a symbol, such as a function."""
        number = _loomir.symbol(self.native, name)
        if number is None:
            raise Error(f"the module has no symbol `@{name}`")
        return Operation(self, number)

    def to_mlir(self, generic: bool = False, locations: bool = False) -> str:
        """Returns the text, in generic form on demand or if the module is not well formed."""
        return self.native.print(generic, locations)

    def __str__(self) -> str:
        return self.to_mlir()

    def verify(self) -> List[Diagnostic]:
        """Returns everything that is wrong with the module."""
        return self.native.verify()

    def clone(self) -> Module:
        """Returns a copy. It is cheap until one of the two is changed."""
        return Module(self.native.clone(), self.context)

    # Changing.

    def run(self, *passes: Union[str, Pass]) -> List[Diagnostic]:
        """Runs passes, and returns their remarks.

        A text is a pipeline, as in `canonicalize,cse`. A function is called with the module, which
        is verified afterwards. If one fails, the module is as before all of them.
        """
        before, remarks = self.native.clone(), []
        try:
            for own in passes:
                if isinstance(own, str):
                    remarks += _loomir.run_passes(self.native, own)
                else:
                    own(self)
                    self.native.check()
        except BaseException:
            self.native.restore(before)
            raise
        return remarks

    def schedule(
        self, source: str, alias: str = "may", file_name: str = "<schedule>"
    ) -> List[Diagnostic]:
        """Runs a schedule in the transform dialect, and returns its remarks."""
        return _loomir.run_schedule(self.native, source, file_name, alias)

    def fuse(self, options: FuseOptions = FuseOptions(), **changes: Any) -> Fused:
        """Fuses loops and contracts arrays. `changes` are fields of `FuseOptions`."""
        return Fused(**_loomir.fuse(self.native, replace(options, **changes)))

    def optimize(self, options: FuseOptions = FuseOptions(), **changes: Any) -> Fused:
        """Fuses, interchanges, unrolls and jams loops, as is estimated to be fastest."""
        return self.fuse(options, optimize=True, **changes)

    def explain(self, options: FuseOptions = FuseOptions(), **changes: Any) -> List[Diagnostic]:
        """Says of each pair of neighbouring loops if it may be fused, and why not."""
        return _loomir.explain(self.native, replace(options, **changes))

    # Going on.

    def to_ll(self) -> str:
        """Returns the program as LLVM IR."""
        return self.native.to_ll()

    def signature(self, function: str) -> Tuple[List[Type], List[Type]]:
        """Returns the types of the parameters and of the results of a function."""
        return _loomir.signature(self.native, function)

    def interpret(
        self,
        function: str,
        *arguments: object,
        max_steps: int = 10_000_000_000,
        max_memory: int = 1 << 26,
    ) -> Outcome:
        """Executes a function in the interpreter, which reports undefined behaviour.

        `max_memory` bounds the bytes of all buffers; the outcome takes many times as much.

        Arguments are numbers, nested lists, arrays, or texts as `loomir run --arg` takes them.
        Arrays are copied; their final contents are in the outcome.
        """
        parameters: List[Optional[Type]] = list(self.signature(function)[0])
        parameters += [None] * (len(arguments) - len(parameters))
        texts = [argument_text(own, ty) for own, ty in zip(arguments, parameters)]
        return Outcome(**_loomir.interpret(self.native, function, texts, (max_steps, max_memory)))

    def compile(self, toolchain: Optional[Toolchain] = None) -> Compiled:
        """Compiles the program with clang, and returns its functions to be called."""
        return build(self, toolchain or Toolchain())
