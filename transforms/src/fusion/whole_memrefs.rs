//! Copies and fills of whole memrefs beside loops, which fuse as the nests that they are.
//!
//! `memref.copy`, `linalg.copy` and `linalg.fill` beside a loop are written as nests before the
//! first round. After the last one, each nest that is still there as a whole becomes the operation
//! that it was. A nest that fused with a neighbour, or a part of one, stays.
//!
//! # Assumptions
//!
//! - A copy between memrefs that overlap, or that have different sizes, is undefined, so its
//!   elements may be copied in any order. Tried with `fixtures/fusion/whole_memrefs.mlir`.
//! - Iterations of a parallel nest store to different elements, and to none that others load. So
//!   its target has no layout, and `linalg.copy`, which may overlap, becomes no parallel loop.
//! - `linalg.copy` runs over its source, and its target may be larger when the program runs. Tried
//!   with `fixtures/fusion/whole_memrefs.mlir`.
//! - A nest with the mark is the copy if it accesses the same memrefs, and runs over all elements
//!   of one of them. Marks of the program itself are removed first.
//!
//! **Cost.** Linear in the operations.
//!
//! # Limits
//!
//! - Copies and fills of memrefs of known rank from 1 to 8, without conversion of elements, with a
//!   loop in their block. Other operations of `linalg` are statements.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::{linalg, memref, scf};
use loomir_ir::{Block, Body, Builder, Diagnostic, Diagnostics, Loc, Op, OpDef, Trait};

use crate::access::structure::Structure;
use crate::idioms::has_layout;
use crate::idioms::whole::{Content, Kind, Whole, write_nest};
use crate::marks;

/// The places of operations that were written as nests.
pub(super) struct Expanded(HashSet<Loc>);

/// Returns the copies and fills of a body that fusion reads as loops.
pub fn read_as_loops(body: &Body) -> HashSet<Op> {
    candidates(body).into_iter().map(|(op, ..)| op).collect()
}

/// Returns the copies and fills with a loop in their block. The nearest loop before them, or else
/// the first one, says which loops they become.
fn candidates(body: &Body) -> Vec<(Op, Whole, Kind)> {
    let kind = |op: Op| match Structure::of(body, op)? {
        Structure::Loop { .. } if body.is(op, scf::ForOp::DEF) => Some(Kind::Scf),
        Structure::Loop { .. } => Some(Kind::Affine),
        Structure::Parallel { .. } => Some(Kind::Parallel),
        Structure::If { .. } => None,
    };
    let mut found = Vec::new();
    let mut last: HashMap<Block, Kind> = HashMap::new();
    let mut first: HashMap<Block, Kind> = HashMap::new();
    for op in body.all_ops() {
        let Some(block) = body.block_of(op) else { continue };
        if let Some(kind) = kind(op) {
            first.entry(block).or_insert(kind);
            last.insert(block, kind);
        } else if let Some(whole) = Whole::of_operation(body, op) {
            found.push((op, whole, block, last.get(&block).copied()));
        }
    }
    let is_unordered =
        |op: Op, whole: &Whole| !body.is(op, linalg::CopyOp::DEF) && !has_layout(body, whole.target);
    let beside = |(op, whole, block, last): (Op, Whole, Block, Option<Kind>)| {
        let kind = last.or_else(|| first.get(&block).copied())?;
        (kind != Kind::Parallel || is_unordered(op, &whole)).then_some((op, whole, kind))
    };
    found.into_iter().filter_map(beside).collect()
}

/// Writes copies and fills beside loops as nests.
pub(super) fn expand(body: &mut Body) -> Expanded {
    let marked: Vec<Op> = body.all_ops().filter(|op| body.attr(*op, marks::WHOLE).is_some()).collect();
    marked.into_iter().for_each(|op| body.remove_attr(op, marks::WHOLE));
    let mut places = places_of_nests(body);
    for (op, whole, kind) in candidates(body) {
        places.insert(body.loc(op));
        let name = body.ctx().string_attr(body.op_ref(op).name());
        let nest = write_nest(body, op, &whole, kind);
        body.set_attr(nest, marks::WHOLE, name);
        body.erase(op);
    }
    Expanded(places)
}

/// Returns the places that a loop shares with the loop around it, as after an operation of `linalg`
/// was written as loops.
fn places_of_nests(body: &Body) -> HashSet<Loc> {
    let is_loop = |op: Op| matches!(Structure::of(body, op), Some(Structure::Loop { .. }));
    let is_inner = |op: &Op| {
        body.parent_op(*op).is_some_and(|around| body.loc(around) == body.loc(*op) && is_loop(around))
    };
    body.all_ops().filter(|op| is_loop(*op)).filter(is_inner).map(|op| body.loc(op)).collect()
}

impl Expanded {
    /// Writes the nests that are still whole as the operations that they were, and erases bounds
    /// that nothing uses any more.
    pub(super) fn restore(&self, body: &mut Body) {
        if self.0.is_empty() {
            return;
        }
        let nests: Vec<Op> = body.all_ops().filter(|op| body.attr(*op, marks::WHOLE).is_some()).collect();
        nests.into_iter().for_each(|nest| restore(body, nest));
        let is_bound = |body: &Body, op: Op| {
            let is_one = body.has_trait(op, Trait::ConstantLike) || body.is(op, memref::DimOp::DEF);
            is_one && self.0.contains(&body.loc(op))
        };
        let bounds: Vec<Op> = body.all_ops().filter(|op| is_bound(body, *op)).collect();
        // A size comes behind the number of its dimension.
        for op in bounds.into_iter().rev() {
            if !body.has_used_results(op) {
                body.erase(op);
            }
        }
    }

    /// Removes repeated remarks: the loops of one nest have one place.
    pub(super) fn once(&self, remarks: &mut Diagnostics) {
        let mut said: Vec<Diagnostic> = Vec::new();
        remarks.retain_from(0, |own| {
            let is_here = self.0.contains(&own.loc) || own.notes.iter().any(|(loc, _)| self.0.contains(loc));
            let is_new = !is_here || !said.contains(own);
            if is_here && is_new {
                said.push(own.clone());
            }
            is_new
        });
    }
}

/// Writes a nest that is still whole as the operation that it was.
fn restore(body: &mut Body, nest: Op) {
    let mark = body.attr(nest, marks::WHOLE).and_then(|mark| mark.as_str(body.ctx())).map(str::to_owned);
    body.remove_attr(nest, marks::WHOLE);
    let was = |def: &OpDef| mark.as_deref() == Some(&*def.name);
    let whole = Whole::of(body, nest).filter(|whole| match whole.content {
        Content::Fill(_) => whole.fits_target && was(linalg::FillOp::DEF),
        Content::Copy(_) if was(linalg::CopyOp::DEF) => whole.fits_source,
        Content::Copy(_) => (whole.fits_source || whole.fits_target) && was(memref::CopyOp::DEF),
    });
    if let Some(whole) = whole {
        whole.write(&mut Builder::before(body, nest), was(linalg::CopyOp::DEF));
        body.erase(nest);
    }
}
