"""Loomir from Python: read, transform, check and run programs with loops.

    >>> import loomir
    >>> module = loomir.parse("func.func @f() { return }")
    >>> module.run("canonicalize")
    []

`parse` returns a `Module`. Its operations, blocks and values are handles, which raise `Error` once
what they name is gone. Everything that fails raises `Error` with the text of the command and the
diagnostics as objects.
"""

from ._check import Comparison, Counterexample, FunctionCheck, Instance, check
from ._compile import Compiled, Toolchain
from ._diagnostics import Access, Diagnostic, Error, Location, Note, Witness
from ._ir import Block, InsertionPoint, Operation, Region, Value
from ._loomir import Attribute, Type
from ._module import Context, Fused, FuseOptions, Module, Outcome, load_dialect, parse
from ._rewrite import Pattern, apply_patterns

__all__ = [
    "Access",
    "Attribute",
    "Block",
    "Comparison",
    "Compiled",
    "Context",
    "Counterexample",
    "Diagnostic",
    "Error",
    "FuseOptions",
    "Fused",
    "FunctionCheck",
    "InsertionPoint",
    "Instance",
    "Location",
    "Module",
    "Note",
    "Operation",
    "Outcome",
    "Pattern",
    "Region",
    "Toolchain",
    "Type",
    "Value",
    "Witness",
    "apply_patterns",
    "check",
    "load_dialect",
    "parse",
]
