"""Operations, regions, blocks and values of a module, as handles.

A handle is the module and a number. The native module knows which numbers are alive: a handle to
an erased operation raises `Error`, and so does each handle from before a pass ran.
"""

from __future__ import annotations

from typing import (
    TYPE_CHECKING,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
    Union,
)

from . import _loomir
from ._diagnostics import Error, Location
from ._loomir import Attribute, Type

if TYPE_CHECKING:
    from ._module import Module

TypeLike = Union[Type, str]
AttributeLike = Union[Attribute, Type, bool, int, float, str]
_Part = TypeVar("_Part", bound="Union[Value, Operation, Block]")


def attribute_text(value: AttributeLike) -> str:
    """Returns the text of an attribute: an integer is an `i64`, a float an `f64`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError(
                f"{value} has no text; write its bits, such as '0x7FF0000000000000 : f64'"
            )
        return f"{value:.17e} : f64"
    if isinstance(value, (str, Attribute, Type)):
        return str(value)
    raise TypeError(f"an attribute is expected, and this is a {type(value).__name__}")


class Value:
    """A result of an operation, or an argument of a block."""

    __slots__ = ("module", "owner", "index")

    def __init__(self, module: Module, owner: Union[Operation, Block], index: int) -> None:
        self.module = module
        self.owner = owner
        self.index = index

    @property
    def key(self) -> Tuple[int, int]:
        """The name that the native module knows the value by."""
        return (self.owner.number, self.index)

    @property
    def type(self) -> Type:
        """The type."""
        return _loomir.value_type(self.module.native, self.key)

    @property
    def is_argument(self) -> bool:
        """True for an argument of a block."""
        return isinstance(self.owner, Block)

    @property
    def defining_op(self) -> Optional[Operation]:
        """The operation that has this result, or `None` for an argument."""
        return self.owner if isinstance(self.owner, Operation) else None

    @property
    def uses(self) -> List[Tuple[Operation, int]]:
        """The operations that use the value, and which operand it is there."""
        uses = _loomir.value_uses(self.module.native, self.key)
        return [(Operation(self.module, number), index) for number, index in uses]

    def replace_all_uses_with(self, other: Value) -> None:
        """Makes all uses of this value uses of another one of the same type."""
        same_module(self.module, other)
        _loomir.replace_all_uses(self.module.native, self.key, other.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and self.module is other.module and self.key == other.key

    def __hash__(self) -> int:
        return hash((id(self.module), self.key))

    def __repr__(self) -> str:
        return f"<loomir.Value: {'argument' if self.is_argument else 'result'} {self.index}>"


class Region(NamedTuple):
    """A region of an operation."""

    operation: Operation
    position: int

    @property
    def blocks(self) -> List[Block]:
        """The blocks, the entry first."""
        operation = self.operation
        numbers = _loomir.region_blocks(operation.module.native, operation.number, self.position)
        return [Block(operation.module, number) for number in numbers]

    def add_block(self, arguments: Sequence[TypeLike] = ()) -> Block:
        """Adds a block at the end, with arguments of these types."""
        module, texts = self.operation.module, [str(own) for own in arguments]
        number = _loomir.add_block(module.native, self.operation.number, self.position, texts)
        return Block(module, number)


class Handle:
    """An operation or a block of a module."""

    __slots__ = ("module", "number")

    def __init__(self, module: Module, number: int) -> None:
        self.module = module
        self.number = number

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and isinstance(other, Handle)
            and (self.module is other.module and self.number == other.number)
        )

    def __hash__(self) -> int:
        return hash((id(self.module), self.number))


class Block(Handle):
    """A list of operations with arguments."""

    __slots__ = ()

    @property
    def operations(self) -> List[Operation]:
        """The operations in order."""
        numbers = _loomir.block_ops(self.module.native, self.number)
        return [Operation(self.module, number) for number in numbers]

    @property
    def arguments(self) -> List[Value]:
        """The arguments."""
        count = _loomir.block_arguments(self.module.native, self.number)
        return [Value(self.module, self, index) for index in range(count)]

    @property
    def region(self) -> Region:
        """The region that the block stands in."""
        number, index = _loomir.block_parent(self.module.native, self.number)
        return Region(Operation(self.module, number), index)

    def __iter__(self) -> Iterator[Operation]:
        return iter(self.operations)


class Operation(Handle):
    """An operation."""

    __slots__ = ()

    @property
    def name(self) -> str:
        """The full name, `arith.addi`."""
        return _loomir.op_name(self.module.native, self.number)

    @property
    def operands(self) -> List[Value]:
        """The operands."""
        values = []
        for number, index, is_argument in _loomir.op_operands(self.module.native, self.number):
            owner = Block(self.module, number) if is_argument else Operation(self.module, number)
            values.append(Value(self.module, owner, index))
        return values

    @property
    def results(self) -> List[Value]:
        """The results."""
        count = _loomir.op_results(self.module.native, self.number)
        return [Value(self.module, self, index) for index in range(count)]

    @property
    def result(self) -> Value:
        """The result of an operation that has exactly one."""
        results = self.results
        if len(results) != 1:
            raise ValueError(f"'{self.name}' has {len(results)} results, not one; use 'results'")
        return results[0]

    @property
    def regions(self) -> List[Region]:
        """The regions."""
        count = _loomir.op_regions(self.module.native, self.number)
        return [Region(self, index) for index in range(count)]

    @property
    def body(self) -> Block:
        """The first block of the first region."""
        for region in self.regions[:1]:
            for block in region.blocks[:1]:
                return block
        raise ValueError(f"'{self.name}' has no block")

    @property
    def successors(self) -> List[Block]:
        """The blocks that the operation may branch to."""
        numbers = _loomir.op_successors(self.module.native, self.number)
        return [Block(self.module, number) for number in numbers]

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """The attributes by name, inherent ones first. A copy: set one with `set_attribute`."""
        return dict(_loomir.op_attributes(self.module.native, self.number))

    @property
    def symbol_name(self) -> Optional[str]:
        """The name of a symbol, such as a function."""
        name = self.attributes.get("sym_name")
        value = name.value if name is not None else None
        return value if isinstance(value, str) else None

    @property
    def location(self) -> Optional[Location]:
        """The place in the source, if it is known."""
        return _loomir.op_location(self.module.native, self.number)

    @property
    def block(self) -> Optional[Block]:
        """The block around the operation; `None` for the module itself."""
        number = _loomir.op_block(self.module.native, self.number)
        return None if number is None else Block(self.module, number)

    @property
    def parent(self) -> Optional[Operation]:
        """The operation around this one; `None` for the module itself."""
        block = self.block
        return None if block is None else block.region.operation

    @property
    def is_alive(self) -> bool:
        """True if the operation is still there."""
        try:
            _loomir.op_results(self.module.native, self.number)
        except Error:
            return False
        return True

    def walk(self) -> Iterator[Operation]:
        """Yields the operation and all inside it, an operation before what it holds.

        Operations that are erased during the walk, and those inside them, are left out.
        """
        stack = [self]
        while stack:
            operation = stack.pop()
            if not operation.is_alive:
                continue
            yield operation
            if not operation.is_alive:
                continue
            blocks = [block for region in operation.regions for block in region.blocks]
            stack.extend(reversed([inner for block in blocks for inner in block.operations]))

    def set_attribute(self, name: str, value: AttributeLike) -> None:
        """Sets an attribute; a `str` is its text in MLIR."""
        _loomir.set_attribute(self.module.native, self.number, name, attribute_text(value))

    def remove_attribute(self, name: str) -> None:
        """Removes an attribute."""
        _loomir.remove_attribute(self.module.native, self.number, name)

    def set_operand(self, index: int, value: Value) -> None:
        """Replaces an operand."""
        same_module(self.module, value)
        _loomir.set_operand(self.module.native, self.number, index, value.key)

    def replace_with(self, *values: Union[Value, Operation]) -> None:
        """Replaces the results by values, or by the results of operations, and erases this one."""
        own = flattened(self.module, values)
        _loomir.replace_op(self.module.native, self.number, [value.key for value in own])

    def erase(self) -> None:
        """Erases the operation with all it holds. Its results may have no uses."""
        _loomir.erase_op(self.module.native, self.number)

    def move(self, point: InsertionPoint) -> None:
        """Moves the operation to another place in its function."""
        same_module(self.module, point.anchor)
        _loomir.move_op(self.module.native, self.number, (point.side, point.anchor.number))

    def __str__(self) -> str:
        return _loomir.op_text(self.module.native, self.number).rstrip("\n")

    def __repr__(self) -> str:
        return f"<loomir.Operation {self.name}>" if self.is_alive else "<loomir.Operation, erased>"


class InsertionPoint(NamedTuple):
    """A place for new operations: `before` or `after` one, at the `start` or `end` of a block."""

    side: str
    anchor: Union[Operation, Block]

    @staticmethod
    def before(operation: Operation) -> InsertionPoint:
        """Returns the place before an operation."""
        return InsertionPoint("before", operation)

    @staticmethod
    def after(operation: Operation) -> InsertionPoint:
        """Returns the place after an operation. Several go there in reverse."""
        return InsertionPoint("after", operation)

    @staticmethod
    def at_start(block: Block) -> InsertionPoint:
        """Returns the place before all operations of a block."""
        return InsertionPoint("start", block)

    @staticmethod
    def at_end(block: Block) -> InsertionPoint:
        """Returns the place behind all operations of a block."""
        return InsertionPoint("end", block)

    def create(
        self,
        name: str,
        operands: Sequence[Union[Value, Operation, Sequence[Value]]] = (),
        results: Optional[Sequence[TypeLike]] = None,
        attributes: Optional[Mapping[str, AttributeLike]] = None,
        successors: Sequence[Block] = (),
        regions: Optional[int] = None,
    ) -> Operation:
        """Makes an operation here.

        An operand that is a list belongs to a variadic operand of the definition. Without
        `results`, their types follow from the operands. Without `regions`, there are as many as
        the definition says.
        """
        module = self.anchor.module
        groups = [flattened(module, [own]) for own in operands]
        new = NewOp(
            name=name,
            operands=[value.key for group in groups for value in group],
            segments=[len(group) for group in groups],
            results=None if results is None else [str(own) for own in results],
            attributes=[(key, attribute_text(own)) for key, own in (attributes or {}).items()],
            successors=[same_module(module, block).number for block in successors],
            regions=regions,
        )
        number = _loomir.create_op(module.native, (self.side, self.anchor.number), new)
        return Operation(module, number)


class NewOp(NamedTuple):
    """The parts of a new operation, as the native module takes them."""

    name: str
    operands: List[Tuple[int, int]]
    segments: List[int]
    results: Optional[List[str]]
    attributes: List[Tuple[str, str]]
    successors: List[int]
    regions: Optional[int]


def flattened(module: Module, values: Sequence[object]) -> List[Value]:
    """Returns values, the results of operations, and what lists hold, one after the other."""
    flat: List[Value] = []
    for own in values:
        if isinstance(own, Operation):
            flat.extend(same_module(module, own).results)
        elif isinstance(own, Value):
            flat.append(same_module(module, own))
        elif isinstance(own, (list, tuple)):
            flat.extend(flattened(module, own))
        else:
            raise TypeError(f"a loomir.Value is expected, and this is a {type(own).__name__}")
    return flat


def same_module(module: Module, own: _Part) -> _Part:
    """Returns a part of a module, and refuses one of another module."""
    if getattr(own, "module", None) is not module:
        raise Error("this is a part of another module; handles cannot be used across modules")
    return own
