//! The rules of definitions that the table cannot say.

use loomir_ir::opdef::OpDef;
use loomir_ir::symbols::{SymbolTable, SymbolUser};
use loomir_ir::text::attr_to_string;
use loomir_ir::verifier::op_error;
use loomir_ir::{AttrKind, Context, Diagnostics, OpRef};

use crate::syntax::texts;

use super::{
    AttributeOp, AttributesOp, BaseOp, DialectOp, OperandsOp, OperationOp, ParametersOp, ParametricOp,
    RegionsOp, ResultsOp, TypeOp, variadicities,
};

/// Definitions that constraints stand in.
const DEFINITIONS: [&OpDef; 3] = [TypeOp::DEF, AttributeOp::DEF, OperationOp::DEF];

/// Returns the name that an operation of the dialect defines.
pub(super) fn symbol(op: OpRef<'_>) -> &str {
    op.attr("sym_name").and_then(|name| name.as_str(op.ctx())).unwrap_or_default()
}

pub(super) fn dialect(op: OpRef<'_>, out: &mut Diagnostics) {
    let name = symbol(op);
    let may_begin = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_valid = name.starts_with(may_begin)
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$'));
    if !is_valid {
        out.push(op_error(op, "invalid dialect name").help("use letters, digits and '_'"));
    }
}

/// Reports a name that is not one of MLIR's definitions.
fn verify_name(op: OpRef<'_>, what: &str, name: &str, out: &mut Diagnostics) {
    let problem = if name.is_empty() {
        "is empty"
    } else if name.chars().any(|c| c.is_ascii_uppercase()) {
        "should not contain uppercase letters"
    } else if !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
        "must contain only lowercase letters, digits and underscores"
    } else if name.starts_with('_') || name.contains("__") {
        "should not contain leading or double underscores"
    } else {
        return;
    };
    out.push(op_error(op, format!("name of {what} {problem}, and is '{name}'")));
}

pub(super) fn definition(op: OpRef<'_>, out: &mut Diagnostics) {
    let parts = [ParametersOp::DEF];
    verify_definition(op, &parts, out);
}

fn verify_definition(op: OpRef<'_>, parts: &[&'static OpDef], out: &mut Diagnostics) {
    expect_parent(op, &[DialectOp::DEF], out);
    let what = op.name().strip_prefix("irdl.").unwrap_or_default();
    verify_name(op, what, symbol(op), out);
    let body = op.body();
    let Some(block) = body.entry_block(op.region(0)) else { return };
    if body.num_arguments(block) > 0 {
        out.push(op_error(op, "region should have no arguments"));
    }
    for part in parts {
        let mut same = body.ops(block).filter(|own| body.is(*own, part)).skip(1);
        if let Some(second) = same.next() {
            let message = format!("'{}' has '{}' twice", symbol(op), part.name);
            out.push(op_error(body.op_ref(second), message).help("put all in one list"));
        }
    }
}

pub(super) fn operation(op: OpRef<'_>, out: &mut Diagnostics) {
    let before = out.len();
    verify_definition(op, &[OperandsOp::DEF, ResultsOp::DEF, AttributesOp::DEF, RegionsOp::DEF], out);
    let body = op.body();
    let Some(block) = body.entry_block(op.region(0)).filter(|_| out.len() == before) else { return };
    let mut seen = hashbrown::HashMap::new();
    let lists = [(RegionsOp::DEF, "regions"), (OperandsOp::DEF, "operands"), (ResultsOp::DEF, "results")];
    for (def, what) in lists {
        for list in body.ops(block).filter(|own| body.is(*own, def)) {
            for name in texts(body.op_ref(list), "names") {
                if let Some(other) = seen.insert(name, what).filter(|other| *other != what) {
                    let message = format!("contains a value named '{name}' for both its {other} and {what}");
                    return out.push(op_error(op, message).help("give each of the two a name of its own"));
                }
            }
        }
    }
}

fn expect_parent(op: OpRef<'_>, parents: &[&'static OpDef], out: &mut Diagnostics) {
    let is_right = op.parent().is_some_and(|parent| parents.iter().any(|def| parent.is(def)));
    if !is_right {
        let names: Vec<_> = parents.iter().map(|def| format!("'{}'", def.name)).collect();
        out.push(op_error(op, format!("expects parent op {}", names.join(" or "))));
    }
}

/// Checks that there are as many names as values, and that they differ.
fn verify_names(op: OpRef<'_>, what: &str, out: &mut Diagnostics) {
    let names = texts(op, "names");
    if names.len() != op.num_operands() {
        let (values, names) = (op.num_operands(), names.len());
        let message = format!("has {values} {what}s and {names} names");
        return out.push(op_error(op, message).help("give each a name"));
    }
    let mut seen = hashbrown::HashMap::new();
    for (at, name) in names.into_iter().enumerate() {
        verify_name(op, &format!("{what} #{at}"), name, out);
        if let Some(first) = seen.insert(name, at) {
            let message =
                format!("name of {what} #{at} is a duplicate of the name of {what} #{first}: '{name}'");
            out.push(op_error(op, message));
        }
    }
}

pub(super) fn parameters(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_parent(op, &[TypeOp::DEF, AttributeOp::DEF], out);
    verify_names(op, "parameter", out);
}

pub(super) fn values(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_parent(op, &[OperationOp::DEF], out);
    let what = if op.is(OperandsOp::DEF) { "operand" } else { "result" };
    verify_names(op, what, out);
    let arities = op.attr("variadicity").and_then(|attr| variadicities(op.ctx(), attr));
    let arities = arities.map_or(0, |arities| arities.len());
    if arities != op.num_operands() {
        let values = op.num_operands();
        let message = format!(
            "the number of {what}s and their variadicities must be the same, but got {values} and \
             {arities} respectively"
        );
        out.push(op_error(op, message));
    }
}

pub(super) fn attributes(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_parent(op, &[OperationOp::DEF], out);
    let names = texts(op, "attributeValueNames").len();
    if names != op.num_operands() {
        let message = format!(
            "the number of attribute names and their constraints must be the same but got {names} and \
             {} respectively",
            op.num_operands()
        );
        out.push(op_error(op, message));
    }
}

pub(super) fn region(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_parent(op, &[OperationOp::DEF], out);
    if let Some(blocks) = op.attr("numberOfBlocks").and_then(|number| number.as_int(op.ctx()))
        && blocks < 1
    {
        out.push(op_error(op, format!("the number of blocks is expected to be >= 1 but got {blocks}")));
    }
}

pub(super) fn regions(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_parent(op, &[OperationOp::DEF], out);
    verify_names(op, "region", out);
}

pub(super) fn constraint(op: OpRef<'_>, out: &mut Diagnostics) {
    expect_parent(op, &DEFINITIONS, out);
}

pub(super) fn choice(op: OpRef<'_>, out: &mut Diagnostics) {
    constraint(op, out);
    if op.num_operands() == 0 {
        out.push(op_error(op, "expected 1 or more operands, but found 0"));
    }
}

pub(super) fn base(op: OpRef<'_>, out: &mut Diagnostics) {
    constraint(op, out);
    let name = op.attr("base_name").and_then(|name| name.as_str(op.ctx()));
    if op.attr("base_ref").is_some() == op.attr("base_name").is_some() {
        let message = "the base type or attribute should be specified by either a name or a reference";
        out.push(op_error(op, message));
    } else if name.is_some_and(|name| !name.starts_with(['!', '#'])) {
        out.push(op_error(op, "the base type or attribute name should start with '!' or '#'"));
    }
}

/// Returns the dialect and the definition that a reference names.
pub(super) fn reference<'b>(op: OpRef<'b>) -> Option<(&'b str, &'b str)> {
    let ctx: &'b Context = op.ctx();
    let attr = op.attr(if op.is(BaseOp::DEF) { "base_ref" } else { "base_type" })?;
    match attr.kind(ctx) {
        AttrKind::Symbol { root, nested } => match nested[..] {
            [] => Some(("", ctx.str(*root))),
            [name] => Some((ctx.str(*root), ctx.str(name))),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the text of the reference to a definition.
pub(super) fn reference_text(op: OpRef<'_>) -> String {
    let attr = op.attr(if op.is(BaseOp::DEF) { "base_ref" } else { "base_type" });
    attr.map(|attr| attr_to_string(op.ctx(), attr)).unwrap_or_default()
}

/// Checks references to definitions: those of the dialect itself, and names of other dialects.
/// Loading checks the rest.
pub(super) struct References;

impl SymbolUser for References {
    fn verify_symbols(&self, op: OpRef<'_>, table: &SymbolTable, out: &mut Diagnostics) {
        let (body, ctx) = (op.body(), op.ctx());
        let own = SymbolTable::of(body);
        for user in body.all_ops().map(|user| body.op_ref(user)) {
            if !(user.is(ParametricOp::DEF) || user.is(BaseOp::DEF) && user.attr("base_ref").is_some()) {
                continue;
            }
            let (dialect, name) = reference(user).unwrap_or_default();
            let text = reference_text(user);
            let found = match table.get(ctx.name(dialect)) {
                Some(_) if dialect == symbol(op) => own.get(ctx.name(name)).map(|symbol| symbol.name),
                Some(other) if ctx.op_str(other.name) == DialectOp::DEF.name => continue,
                _ => None,
            };
            let Some(found) = found.map(|found| ctx.op_str(found)) else {
                let error = op_error(user, format!("symbol '{text}' not found"));
                let help = format!("name a type or attribute with its dialect: @{}::@{name}", symbol(op));
                out.push(error.help(help));
                continue;
            };
            if ![TypeOp::DEF, AttributeOp::DEF].iter().any(|def| def.name == found) {
                let message = format!(
                    "symbol '{text}' does not refer to a type or attribute definition (refers to '{found}')"
                );
                out.push(op_error(user, message));
            }
        }
    }
}
