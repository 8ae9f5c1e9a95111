//! The rules of well-formed IR.
//!
//! Checked for every operation, in this order; an operation that fails one group is not asked the
//! next:
//! 1. its place: a terminator ends its block, a block ends with a terminator where its operation
//!    asks for one, blocks of one region only branch within it;
//! 2. numbers of operands, results, regions and successors, and their segments, as the definition
//!    says;
//! 3. attributes: those required are there, each satisfies its constraint;
//! 4. types of operands and results; traits about types; what else the definition says of
//!    attributes and types ([`OpDef::verify_signature`]);
//! 5. numbers of blocks in its regions; names of symbols are unique in a table;
//! 6. the definition's own hook;
//! 7. every operand is defined where it is used (dominance), or anywhere in the region for graph
//!    regions; nothing isolated uses a value from outside;
//! 8. symbols are in a table; references to them are right ([`SymbolUser`]).
//!
//! All violations are reported. Of operations nobody registered only 1 and 7 are checked, and that
//! their dialect is not one that would know them. Linear in the program (times the depth of nesting
//! for 7).

mod signature;

use hashbrown::HashMap;

use crate::body::{Body, OpRef, Signatures, ValueDef};
use crate::context::{Name, OpInfo};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::entity::{Block, Op, Region, Value};
use crate::graph::Dominance;
use crate::opdef::runtime::OperationRule;
use crate::opdef::{OpDef, RegionKind, Trait};
use crate::symbols::{self, SymbolTable, SymbolUser};
pub(crate) use signature::{counts_hold, has_one_each};

/// Checks a body and the bodies inside it. Nothing is returned for IR that is well formed.
pub fn verify(body: &Body) -> Diagnostics {
    let mut out = Diagnostics::new();
    let mut users = Vec::new();
    let mut valid = Signatures::<()>::default();
    // Each body with the nearest one around it, or itself, that is a table of symbols.
    let mut stack: Vec<(&Body, Option<&Body>)> = vec![(body, None)];
    while let Some((body, around)) = stack.pop() {
        let table = if body.has_trait(body.root(), Trait::SymbolTable) { Some(body) } else { around };
        let mut dominance = Dominance::new();
        let mark = stack.len();
        for op in body.preorder(body.root()) {
            let info = body.info(op);
            if info.has_trait(Trait::Symbol) {
                verify_symbol(body, op, &mut out);
            }
            if let Some(nested) = body.nested(op) {
                // Verified as the root of its own body; here only its place counts.
                stack.push((nested, table.filter(|_| !is_inside_unregistered(body, op))));
                continue;
            }
            let before = out.len();
            verify_op(body.op_ref(op), info, &mut valid, &mut out);
            if out.len() == before {
                verify_uses(body, op, &mut dominance, &mut out);
            }
            let near = if op == body.root() { around } else { table };
            if let (Some(table), Some(user)) = (near, info.interface::<dyn SymbolUser>())
                && !is_inside_unregistered(body, op)
            {
                users.push((body.op_ref(op), user, table));
            }
        }
        stack[mark..].reverse();
    }
    verify_references(&users, &mut out);
    out
}

/// Runs the hook of an operation's definition. A valid operation that was moved or copied needs no
/// other check of itself.
pub fn verify_in_place(body: &Body, op: Op) -> Diagnostics {
    let mut out = Diagnostics::new();
    if let Some(verify) = body.info(op).def().and_then(|def| def.verify) {
        verify(body.op_ref(op), &mut out);
    }
    out
}

/// True if an operation that nobody registered stands around another: it may be a table of symbols,
/// so what is inside it refers to nobody knows what.
fn is_inside_unregistered(body: &Body, op: Op) -> bool {
    std::iter::successors(body.parent_op(op), |op| body.parent_op(*op))
        .any(|op| body.info(op).def().is_none())
}

/// Has every operation that refers to symbols check them in the nearest table around it.
fn verify_references(users: &[(OpRef<'_>, &dyn SymbolUser, &Body)], out: &mut Diagnostics) {
    let mut tables: HashMap<u32, SymbolTable> = HashMap::new();
    for (op, user, body) in users {
        let table = tables.entry(body.arena_number()).or_insert_with(|| SymbolTable::of(body));
        user.verify_symbols(*op, table, out);
    }
}

/// A symbol stands directly in a table, has a name and one of three visibilities.
fn verify_symbol(body: &Body, op: Op, out: &mut Diagnostics) {
    let parent = body.parent_op(op);
    if let Some(parent) = parent
        && body.info(parent).def().is_some()
        && !body.has_trait(parent, Trait::SymbolTable)
        && body.attr_named(op, Name::SYMBOL_NAME).is_some()
    {
        out.push(op_error(body.op_ref(op), "symbol's parent must have the SymbolTable trait"));
    }
    if body.nested(op).is_some() {
        // Its attributes are those of its own body's root.
        return;
    }
    let visibility = body.attr_named(op, Name::SYMBOL_VISIBILITY).and_then(|attr| attr.as_str(body.ctx()));
    if let Some(other) = visibility.filter(|v| !["public", "private", "nested"].contains(v)) {
        let message = format!(
            "visibility expected to be one of [\"public\", \"private\", \"nested\"], but got {other:?}"
        );
        out.push(op_error(body.op_ref(op), message));
    }
}

/// `'arith.addi' op `: how MLIR begins what it says of an operation.
fn prefix(op: OpRef<'_>) -> String {
    format!("'{}' op ", op.name())
}

/// Checks an operation of which `info` is known: looking that up in each group of rules takes a
/// fifth of the time.
fn verify_op(op: OpRef<'_>, info: &OpInfo, valid: &mut Signatures<()>, out: &mut Diagnostics) {
    let before = out.len();
    verify_blocks(op, info, out);
    let Some(def) = info.def() else { return verify_unknown(op, out) };
    if out.len() == before {
        signature::verify(op, def, valid, out);
    }
    if out.len() == before && !def.regions.is_empty() {
        verify_regions(op, def, out);
    }
    if out.len() == before
        && let Some(verify) = def.verify
    {
        verify(op, out);
    }
    // What an operation that was loaded at run time has instead of a hook.
    if out.len() == before
        && info.is_loaded()
        && let Some(rule) = info.interface::<dyn OperationRule>()
    {
        rule.verify(op, out);
    }
}

/// Reports an operation that its dialect would know if there were one.
fn verify_unknown(op: OpRef<'_>, out: &mut Diagnostics) {
    let dialect = op.ctx().str(op.info().dialect());
    let is_closed = match op.ctx().dialect(dialect) {
        Some(dialect) => !dialect.allows_unknown_ops,
        None => op.ctx().is_registered_dialect(dialect),
    };
    if is_closed {
        let name = op.name();
        let message = format!(
            "unregistered operation '{name}' found in dialect ('{dialect}') that does not allow unknown operations"
        );
        out.push(Diagnostic::error(op.loc(), message));
    }
}

/// An error about an operation, beginning as MLIR's do.
pub fn op_error(op: OpRef<'_>, message: impl AsRef<str>) -> Diagnostic {
    Diagnostic::error(op.loc(), prefix(op) + message.as_ref())
}

fn verify_blocks(op: OpRef<'_>, info: &OpInfo, out: &mut Diagnostics) {
    let (body, is_terminator) = (op.body(), info.has_trait(Trait::Terminator));
    if !is_terminator && body.is_plain(op.op()) {
        return;
    }
    let successors = op.successors();
    let is_last = body.next_op(op.op()).is_none();
    if is_terminator && !is_last {
        out.push(op_error(op, "must be the last operation in the parent block"));
    }
    if successors.len() > 0 && !is_last {
        out.push(op_error(op, "with block successors must terminate its parent block"));
    }
    if successors.len() > 0 && info.def().is_some() && !is_terminator {
        out.push(op_error(op, "has successors and is no terminator"));
    }
    for successor in successors {
        if Some(body.block_region(successor)) != body.region_of(op.op()) {
            out.push(op_error(op, "branching to block of a different region"));
        } else if body.is_entry(successor) {
            let entry = Diagnostic::error(op.loc(), "entry block of region may not have predecessors");
            out.push(entry);
        }
    }
    for region in op.regions() {
        let several = body.single_block(region).is_none();
        for block in body.blocks(region) {
            verify_block_end(op, block, several, out);
        }
    }
}

fn verify_block_end(op: OpRef<'_>, block: Block, several: bool, out: &mut Diagnostics) {
    let body = op.body();
    let needs_no_terminator = op.info().has_trait(Trait::NoTerminator) || op.def().is_none();
    match body.last_op(block) {
        None if !needs_no_terminator || several => {
            out.push(Diagnostic::error(op.loc(), "empty block: expect at least a terminator"));
        }
        None => {}
        Some(last) => {
            let last = body.op_ref(last);
            let may_end = last.def().is_none() || last.info().has_trait(Trait::Terminator);
            if !may_end && (!needs_no_terminator || several) {
                out.push(
                    Diagnostic::error(last.loc(), format!("block with no terminator, has '{}'", last.name()))
                        .help("end the block with a terminator such as a return, yield or branch"),
                );
            }
        }
    }
}

fn verify_regions(op: OpRef<'_>, def: &OpDef, out: &mut Diagnostics) {
    let body = op.body();
    for (i, region) in op.regions().enumerate() {
        let Some(entry) = def.regions.get(i).or(def.regions.last()) else { break };
        let blocks = body.blocks(region).take(2).count();
        let problem = match entry.kind {
            RegionKind::NonEmpty if blocks == 0 => "region with at least 1 blocks",
            RegionKind::SingleBlock if blocks != 1 => "region with 1 blocks",
            RegionKind::AtMostOneBlock if blocks > 1 => "region with at most 1 block",
            _ => continue,
        };
        let message = format!("region #{i} ('{}') failed to verify constraint: {problem}", entry.name);
        out.push(op_error(op, message));
    }
    if def.traits.has(Trait::SymbolTable) {
        let mut seen: HashMap<_, Op> = HashMap::new();
        for region in op.regions() {
            for inner in body.blocks(region).flat_map(|block| body.ops(block)) {
                let Some(name) = symbols::symbol_attr(body, inner) else { continue };
                if let Some(first) = seen.insert(name, inner) {
                    let text = name.as_str(op.ctx()).unwrap_or_default();
                    let message = format!("redefinition of symbol named '{text}'");
                    out.push(
                        Diagnostic::error(body.loc(inner), message)
                            .note(body.loc(first), "see existing symbol definition here"),
                    );
                    seen.insert(name, first);
                }
            }
        }
    }
}

/// Reports operands that are not defined where they are used. In code that is never reached
/// everything is.
fn verify_uses(body: &Body, op: Op, dominance: &mut Dominance, out: &mut Diagnostics) {
    let Some(block) = body.block_of(op) else { return };
    for (i, value) in body.operands(op).enumerate() {
        if is_defined_above(body, value, op, block) {
            continue;
        }
        let is_visible = is_visible(body, value, op);
        if is_visible && dominance.value_dominates(body, value, op) {
            continue;
        }
        if !dominance.is_reachable(body, block) {
            return;
        }
        if !is_visible {
            let message = format!("using value defined outside the region (operand #{i})");
            let error = op_error(body.op_ref(op), message);
            out.push(error.note(value_loc(body, value), "required by region isolation constraints"));
        } else if !in_graph_region(body, value) {
            let message = format!("operand #{i} does not dominate this use");
            let error = Diagnostic::error(body.loc(op), message);
            out.push(error.note(value_loc(body, value), "operand defined here"));
        }
    }
}

/// True if a value is defined further up in the block of its user: then nothing else need be asked.
fn is_defined_above(body: &Body, value: Value, user: Op, block: Block) -> bool {
    match body.def(value) {
        ValueDef::BlockArgument { block: home, .. } => home == block,
        ValueDef::OpResult { op, .. } => {
            body.block_of(op) == Some(block) && body.is_before_in_block(op, user)
        }
    }
}

/// True if no operation isolated from above stands between a value and its user.
fn is_visible(body: &Body, value: Value, user: Op) -> bool {
    let Some(home) = body.value_block(value).map(|b| body.block_region(b)) else { return true };
    let mut region = body.region_of(user);
    while let Some(r) = region {
        if r == home {
            return true;
        }
        let parent = body.region_parent(r);
        if body.has_trait(parent, Trait::IsolatedFromAbove) {
            return false;
        }
        region = body.region_of(parent);
    }
    // Not an ancestor at all: a matter of dominance.
    true
}

/// Returns true if the order of operations does not matter where a value is defined. Nobody knows
/// that of the regions of an unregistered operation; as in MLIR, their order may not matter either.
fn in_graph_region(body: &Body, value: Value) -> bool {
    body.value_block(value).is_some_and(|block| {
        let region: Region = body.block_region(block);
        let parent = body.region_parent(region);
        body.has_trait(parent, Trait::GraphRegion) || body.op_ref(parent).def().is_none()
    })
}

fn value_loc(body: &Body, value: Value) -> crate::Loc {
    match body.def(value) {
        ValueDef::OpResult { op, .. } => body.loc(op),
        ValueDef::BlockArgument { block, .. } => body.loc(body.region_parent(body.block_region(block))),
    }
}
