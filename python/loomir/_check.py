"""The comparison of two modules: equal with a proof, different with an input, or unknown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

from . import _loomir
from ._diagnostics import Location
from ._module import Module


@dataclass(frozen=True)
class Instance:
    """A statement in one iteration of the loops around it, the outermost first."""

    operation: str
    function: str
    location: Optional[Location]
    iteration: Tuple[int, ...]


@dataclass(frozen=True)
class Counterexample:
    """An input on which two functions differ.

    `arguments` are texts for `Module.interpret`. `place` is what differs. If it is an element of a
    buffer, `written_before` and `written_after` say which iteration wrote it last.
    """

    arguments: List[str]
    place: str
    before: str
    after: str
    written_before: Optional[Instance]
    written_after: Optional[Instance]


@dataclass(frozen=True)
class FunctionCheck:
    """The answer about one function: `equal`, `different` or `unknown`.

    An answer `equal` is proved under `assumptions`. `reasons` say what kept the answer open.
    """

    name: str
    answer: str
    location: Optional[Location]
    assumptions: List[str]
    reasons: List[str]
    inputs_tried: int
    counterexample: Optional[Counterexample]


@dataclass(frozen=True)
class Comparison:
    """The answers about all functions."""

    functions: List[FunctionCheck]

    @property
    def answer(self) -> str:
        """`different` if a function is, `unknown` if something is open, `equal` otherwise."""
        answers = {own.answer for own in self.functions}
        return next((own for own in ("different", "unknown") if own in answers), "equal")

    @property
    def is_equal(self) -> bool:
        """True if all functions are proved equal."""
        return self.answer == "equal"


def check(
    before: Module,
    after: Module,
    function: Optional[str] = None,
    distinct: bool = False,
    max_inputs: Optional[int] = None,
) -> Comparison:
    """Compares two modules function by function.

    With `distinct`, buffers among the arguments are assumed not to overlap. A module of another
    context is read again in that of the first.
    """
    if before.context is not after.context:
        after = before.context.parse(after.to_mlir(locations=True), "<after>")
    answers = _loomir.check(before.native, after.native, function, distinct, max_inputs)
    if function is not None and not answers:
        before.function(function)
    return Comparison([_function(own) for own in answers])


def _function(fields: Dict[str, Any]) -> FunctionCheck:
    example = fields.pop("counterexample")
    if example is not None:
        for key in ("written_before", "written_after"):
            example[key] = _instance(example[key])
        example = Counterexample(**example)
    return FunctionCheck(**fields, counterexample=example)


def _instance(fields: Optional[Dict[str, Any]]) -> Optional[Instance]:
    if fields is None:
        return None
    return Instance(**{**fields, "iteration": tuple(fields["iteration"])})
