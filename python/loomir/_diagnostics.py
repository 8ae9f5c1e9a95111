"""Diagnostics and remarks as objects, and the exception that carries them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, NamedTuple, Optional, Tuple


class Location(NamedTuple):
    """A place in a text. Lines and columns begin at 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Note(NamedTuple):
    """A further place or cause."""

    message: str
    location: Optional[Location]


@dataclass(frozen=True)
class Access:
    """An operation of a witness, perhaps in one iteration of the loops around it."""

    operation: Optional[str]
    location: Optional[Location]
    iteration: Tuple[Optional[int], ...] = ()
    writes: Optional[bool] = None


@dataclass(frozen=True)
class Witness:
    """The reason why a change of loops would be wrong.

    Of kind `order`, two accesses to `element` of `memref` would swap: `first` and `second`. Of kind
    `lost`, `repeated` or `added`, `first` would run too seldom or too often. `facts` has all that
    is known, by keys.
    """

    kind: str
    is_certain: bool
    cause: Optional[str]
    memref: Optional[str]
    element: Tuple[int, ...]
    first: Optional[Access]
    second: Optional[Access]
    facts: Dict[str, Any]


def _access(fields: Any) -> Optional[Access]:
    if not isinstance(fields, dict):
        return None
    numbers = [
        own.get("number") if isinstance(own, dict) else own for own in fields.get("iteration") or ()
    ]
    return Access(fields.get("op"), fields.get("at"), tuple(numbers), fields.get("writes"))


def _witness(facts: Dict[str, Any]) -> Witness:
    return Witness(
        kind=facts.get("kind", "unknown"),
        is_certain=bool(facts.get("certain")),
        cause=facts.get("cause"),
        memref=facts.get("memref"),
        element=tuple(facts.get("element") or ()),
        first=_access(facts.get("first", facts.get("of"))),
        second=_access(facts.get("second")),
        facts=facts,
    )


@dataclass(frozen=True)
class Diagnostic:
    """An error, a warning, or a remark on what a pass did or did not do.

    A remark has a `kind` (`passed`, `missed` or `analysis`), the pass, a `name` for its subject,
    the function, and `facts`: values by their keys.
    """

    severity: str
    message: str
    location: Optional[Location] = None
    notes: List[Note] = field(default_factory=list)
    help: Optional[str] = None
    kind: Optional[str] = None
    pass_name: Optional[str] = None
    name: Optional[str] = None
    function: Optional[str] = None
    facts: Dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", [Note(*note) for note in self.notes])

    @property
    def witnesses(self) -> List[Witness]:
        """The reasons of a refusal, of a remark on what was not done."""
        return [_witness(own) for own in self.facts.get("faults") or ()]

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        return f"{place}{self.severity}: {self.message}"


class Error(Exception):
    """Something was refused. The text is what the command prints."""

    __module__ = "loomir"

    def __init__(self, message: str, diagnostics: Optional[List[Diagnostic]] = None) -> None:
        super().__init__(message)
        self.diagnostics: List[Diagnostic] = diagnostics if diagnostics is not None else []
