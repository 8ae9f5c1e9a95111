"""Patterns in Python: match an operation, replace it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable, Optional, Sequence

from ._diagnostics import Error
from ._ir import Operation

if TYPE_CHECKING:
    from ._module import Module


@dataclass(frozen=True)
class Pattern:
    """A function that is called with each operation of a name, or with all if that is `None`.

    It returns true if it changed the program. A pattern that matches leaves something that it does
    not match again.
    """

    operation: Optional[str]
    rewrite: Callable[[Operation], object]


def apply_patterns(module: Module, patterns: Sequence[Pattern], max_rounds: int = 32) -> int:
    """Applies patterns to all operations until nothing matches. Returns how often one matched.

    Each round walks over the program once. After `max_rounds` rounds that all changed something,
    `Error` is raised.
    """
    matched = 0
    for _ in range(max_rounds):
        before = matched
        for operation in module.walk():
            matched += _match(operation, patterns)
        if matched == before:
            return matched
    raise Error(
        f"patterns still match after {max_rounds} rounds; does one of them match what it made? "
        "Raise 'max_rounds' if the program needs more"
    )


def _match(operation: Operation, patterns: Sequence[Pattern]) -> int:
    name = operation.name
    for pattern in patterns:
        if pattern.operation in (None, name) and pattern.rewrite(operation):
            return 1
    return 0
