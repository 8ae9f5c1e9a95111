"""A dialect as text, a pass over it, and a fused program that runs on arrays."""

from array import array
from pathlib import Path

import loomir

here = Path(__file__).parent
context = loomir.load_dialect((here / "activation.irdl").read_text())
module = context.parse_file(here / "activation.mlir")


def drop_abs_of_square(operation: loomir.Operation) -> bool:
    """A square is never negative."""
    squared = operation.operands[0].defining_op
    if squared is None or squared.name != "act.square":
        return False
    operation.replace_with(squared)
    return True


def simplify(module: loomir.Module) -> None:
    """A pass: one pattern, until it matches no more."""
    loomir.apply_patterns(module, [loomir.Pattern("act.abs", drop_abs_of_square)])


# The square and its absolute value are in two loops; fusion brings them together.
before = module.clone()
fused = module.fuse(alias="distinct")
print(fused.fused, "fused,", loomir.check(before, module, distinct=True).answer)
module.run("canonicalize", simplify, "cse")
print(module)

x, y = array("f", [1, -2, 3]), array("f", [0, 0, 0])
print(module.interpret("energy", x, y, 3).buffers[1])
module.compile().energy(x, y, 3)
print(y.tolist())
