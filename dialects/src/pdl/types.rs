//! The types of the parts of patterns, and the list of attributes of an operation.

use loomir_ir::OpRef;
use loomir_ir::opdef::TypeDef;
use loomir_ir::text::{DirectiveArg, DirectiveDef, OpPrinter};

use crate::syntax::{parse_attributes, print_attributes};

/// `!pdl.attribute`.
pub(super) const ATTRIBUTE: TypeDef = plain("pdl.attribute");
/// `!pdl.operation`.
pub(super) const OPERATION: TypeDef = plain("pdl.operation");
/// `!pdl.type`.
pub(super) const TYPE: TypeDef = plain("pdl.type");
/// `!pdl.value`.
pub(super) const VALUE: TypeDef = plain("pdl.value");

const fn plain(name: &'static str) -> TypeDef {
    TypeDef { name, parse: |_| Ok(Vec::new()), print: |_, _| {} }
}

/// `{"name" = %attribute, …}`, or nothing.
pub(super) const ATTRIBUTES: DirectiveDef =
    DirectiveDef { name: "OperationOpAttributes", parse: parse_attributes, print: print_behind_space };

/// Writes the list behind a space of its own, as MLIR does.
fn print_behind_space(p: &mut OpPrinter<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let is_empty = matches!(args.first(), Some(DirectiveArg::Values(values)) if values.is_empty());
    if !is_empty {
        p.write(" ");
        print_attributes(p, op, args);
    }
}
