//! Loads first: runs the loads of an innermost loop before the stores they need not wait for.
//!
//! ```text
//!     b[j] = 2 * a[j]                          x, y, z = a[j - 1], a[j], a[j + 1]
//!     c[j] = a[j - 1] + a[j] + a[j + 1]        b[j] = 2 * y
//!                                              c[j] = x + y + z
//! ```
//!
//! Fusion and unroll-and-jam put stores between loads of neighbouring elements, as on the left.
//! LLVM keeps `a[j + 1]` in a register for the next iteration, where it is `a[j]`. Its vectorizer
//! then cannot run several iterations at once, because the store of `b[j]` would have to wait for
//! the load behind it. On the right nothing waits. Only such loops are changed.
//!
//! Reference: LLVM's fixed-order recurrences, whose users are sunk behind the value they wait for
//! unless they access memory.
//!
//! **Not in `.ll`.** `loomir fuse` and `loomir optimize` do this in the loops of LLVM IR that they
//! change.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<10xf64>, %b: memref<2x10xf64>) {
//!   affine.for %i = 1 to 9 {
//!     %x = affine.load %a[%i] : memref<10xf64>
//!     affine.store %x, %b[0, %i] : memref<2x10xf64>
//!     %l = affine.load %a[%i - 1] : memref<10xf64>
//!     %r = affine.load %a[%i + 1] : memref<10xf64>
//!     %s = arith.addf %l, %r : f64
//!     affine.store %s, %b[1, %i] : memref<2x10xf64>
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-loads-first=alias=distinct --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=iota --arg=zeros --order=images/loads-first-0.svg
//! ```
//!
//! The order of stores is the same before and after:
//!
//! ![The order of stores](images/loads-first-0.svg)
//!
//! Loads stay where they are, with a remark, if one of them may read what a store before it writes.
//! Then those of objects that the loop does not write are tried alone.

use hashbrown::{HashMap, HashSet};
use loomir_ir::pass::Options;
use loomir_ir::{Body, Diagnostic, Loc, Value};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::Class;
use crate::access::base::{AliasMode, Base};
use crate::affine::AffineForm;
use crate::remark::Remarks;
use crate::tree::Change;
use crate::tree::program::StatementInfo;

/// The most accesses of a loop that is changed. The judge compares each with each.
const MAX_ACCESSES: u64 = 400;

/// The most iterations between two accesses of an element that LLVM keeps in registers.
const MAX_DISTANCE: i64 = 2;

/// Proposes to run loads first.
pub struct LoadsFirst;

impl Transformation for LoadsFirst {
    const INFO: Info = Info {
        name: "loop-loads-first",
        source: include_str!("loads_first.rs"),
        summary: "Run loads before stores, in loops that access neighbouring elements behind stores",
        options: &[AliasMode::UNTESTED],
        samples: &[""],
        passed: "LoadsFirst",
        missed: "LoadsNotFirst",
        what_missed: "Loads stay behind stores",
        then: "run first",
    };

    fn of(_: &Options) -> Result<LoadsFirst, String> {
        Ok(LoadsFirst)
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in loops {
            let Some(statements) = target.only_statements() else { continue };
            if target.num_accesses() > MAX_ACCESSES {
                out.missed(&target, "it has too many accesses");
                continue;
            }
            let Some(first_store) = statements.iter().position(|own| own.writes()) else { continue };
            let order = |other_objects| {
                let front = in_front(target.body(), &statements, first_store, other_objects)?;
                let moved =
                    statements.iter().zip(&front).skip(first_store).filter(|(_, is_first)| **is_first);
                has_neighbours(&statements, moved.map(|(own, _)| *own), target.level()).then_some(front)
            };
            let orders = [false, true].into_iter().filter_map(order);
            out.first_legal(&target, orders.map(|front| Change::Arrange { order: with_first(&front) }));
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, _: &Change) -> Diagnostic {
        remarks.passed(Self::INFO.passed, loc, "Loads run before stores in each iteration")
    }
}

/// Returns the statements to run first, all in front of the first store among them; with
/// `other_objects`, only loads of objects that the loop does not write. `None` if these are in
/// front already. Linear.
fn in_front(
    body: &Body,
    statements: &[&StatementInfo],
    first_store: usize,
    other_objects: bool,
) -> Option<Vec<bool>> {
    let writes = statements.iter().flat_map(|own| classes(own)).filter(|class| class.writes);
    let all_written: HashSet<Base> = writes.map(|class| class.base).collect();
    if statements.iter().any(|own| own.effects.world.is_some()) {
        return None;
    }
    let mut stored: HashMap<Base, HashSet<&Option<Vec<Option<AffineForm>>>>> = HashMap::new();
    let mut made_by: HashMap<Value, usize> = HashMap::new();
    let mut is_first = vec![false; statements.len()];
    let mut may_move = vec![false; statements.len()];
    for (at, own) in statements.iter().enumerate() {
        let waits = |class: &Class| {
            let of_object = stored.get(&class.base);
            other_objects && all_written.contains(&class.base)
                || of_object.is_some_and(|stored| stored.contains(&class.subscripts))
        };
        let reads = classes(own).all(|class| !class.writes && !waits(class));
        let is_simple = own.ops.iter().all(|op| body.own_regions(*op).next().is_none());
        let is_load = reads && is_simple && !own.effects.classes.is_empty();
        let operands = || own.ops.iter().flat_map(|op| body.operands(*op));
        let makers = || operands().filter_map(|value| made_by.get(&value));
        may_move[at] =
            (is_load || is_simple && own.is_speculatable(body)) && makers().all(|maker| may_move[*maker]);
        is_first[at] = at < first_store || is_load && may_move[at];
        for class in classes(own).filter(|class| class.writes) {
            stored.entry(class.base).or_default().insert(&class.subscripts);
        }
        made_by.extend(own.ops.iter().flat_map(|op| body.results(*op)).map(|value| (value, at)));
    }
    for at in (0..statements.len()).rev().filter(|at| *at >= first_store) {
        if is_first[at] {
            let operands = statements[at].ops.iter().flat_map(|op| body.operands(*op));
            operands.filter_map(|value| made_by.get(&value)).for_each(|maker| is_first[*maker] = true);
        }
    }
    is_first[first_store..].contains(&true).then_some(is_first)
}

/// Returns the accesses of a statement.
fn classes(statement: &StatementInfo) -> impl Iterator<Item = &Class> {
    statement.effects.classes.iter().map(|(class, _)| class)
}

/// True if one of the loads that would move accesses an element that is accessed in an iteration
/// close by, too. The loop is at this level.
fn has_neighbours<'a>(
    statements: &[&StatementInfo],
    mut moved: impl Iterator<Item = &'a StatementInfo>,
    level: u32,
) -> bool {
    let mut places: HashMap<_, HashSet<i64>> = HashMap::new();
    for (row, place, _) in statements.iter().flat_map(|own| classes(own)).filter_map(|own| row_of(own, level))
    {
        places.entry(row).or_default().insert(place);
    }
    let is_near = |(row, place, step): (Row, i64, i64)| {
        let near = |times: i64| step.checked_mul(times).and_then(|apart| place.checked_add(apart));
        let mut all = (1..=MAX_DISTANCE).flat_map(|times| [times, -times]).filter_map(near);
        all.any(|at| places[&row].contains(&at))
    };
    moved.any(|own| classes(own).filter_map(|own| row_of(own, level)).any(is_near))
}

/// An object, and the subscripts in it without the last constant.
type Row = (Base, Option<Value>, Vec<AffineForm>);

/// Returns the row of an access, its place there, and its step from one iteration to the next.
/// `None` if it does not move along the row.
fn row_of(class: &Class, level: u32) -> Option<(Row, i64, i64)> {
    let mut forms = class.subscripts.iter().flatten().cloned().collect::<Option<Vec<AffineForm>>>()?;
    let (last, others) = forms.split_last_mut()?;
    let (step, place) = (last.coefficient_of_level(level), last.constant_part());
    if step == 0 || others.iter().any(|form| form.coefficient_of_level(level) != 0) {
        return None;
    }
    *last = last.plus(&AffineForm::constant(place), -1)?;
    Some(((class.base, class.origin, forms), place, step))
}

/// Returns the numbers of the marked statements, then those of the others.
fn with_first(is_first: &[bool]) -> Box<[usize]> {
    let (first, others): (Vec<usize>, Vec<usize>) = (0..is_first.len()).partition(|at| is_first[*at]);
    first.into_iter().chain(others).collect()
}
