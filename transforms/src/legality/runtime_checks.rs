//! What to assume of parameters so that two accesses keep their order.
//!
//! What every conflict of the two satisfies, as far as it is about parameters alone, is a list of
//! inequalities; where one of them fails there is no conflict. So the assumption is that one does.
//! Inequalities that the others or the surroundings imply are dropped, and so is the failing of one
//! that would keep a loop from running long: a version for loops that hardly run is of no use.
//!
//! **Assumptions.**
//! - What is tested is computed before the trees, in as many bits as it needs. Tried with
//!   `fixtures/fusion/versioned_numbers.mlir` and `versioned_limits.mlir`.
//! - Facts about parameters hold where the test stands, not only where the loops run. Tried with
//!   `fixtures/fusion/guards_versioned.mlir`.
//!
//! **Cost.** One elimination, and a few conjunctions for each inequality.

use loomir_polyhedra::{Emptiness, Limits};

use super::DependenceOracle;
use crate::access::{LoopContext, Question};
use crate::affine::system::System;
use crate::affine::{AffineForm, Atom};
use crate::assumption::{Assumption, is_testable};
use crate::tree::Program;

/// Most inequalities of which one is assumed to fail.
const MAX_ALTERNATIVES: usize = 4;
/// Of how many iterations more than the first a loop that may run so many has to be able under an
/// assumption: the greatest of these.
const LONG: [i64; 4] = [15, 7, 3, 1];

/// What is tested before the trees of `program` so that there are no two instances as asked.
/// Nothing if that is not known, or of no use.
pub(super) fn avoiding(question: &Question<'_>, oracle: &DependenceOracle<'_>) -> Option<Assumption> {
    let program = oracle.tested_before?;
    let mut left = oracle.dependence.necessary(question, &|atom| is_known_before(program, atom))?;
    let loop_context = question.loop_context;
    // Those of many terms first: they are implied by others more often than these by them.
    left.sort_by_key(|form| std::cmp::Reverse(form.terms().len()));
    let mut at = 0;
    while at < left.len() {
        let fails = negated(&left[at])?;
        let others = left.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, form)| form);
        let is_implied =
            is_never(loop_context, 0, &others.chain([&fails]).collect::<Vec<_>>(), oracle.limits);
        if is_implied {
            left.remove(at);
        } else {
            at += 1;
        }
    }
    let runs_long = |form: &AffineForm| {
        [question.first, question.second].into_iter().all(|class| {
            let constraints: Vec<&AffineForm> = class.domain.constraints.iter().collect();
            let levels: Vec<AffineForm> = (0..class.domain.levels).map(AffineForm::level).collect();
            is_useful(loop_context, class.domain.levels, &constraints, &levels, &[form], oracle.limits)
        })
    };
    let alternatives = left.iter().filter_map(negated).filter(|form| is_simple(form) && runs_long(form));
    let alternatives: Vec<AffineForm> = alternatives.collect();
    let is_one = (1..=MAX_ALTERNATIVES).contains(&alternatives.len());
    is_one.then_some(Assumption::Natural(alternatives))
}

/// True if something is known before the trees of a program, and can be tested there.
fn is_known_before(program: &Program, atom: &Atom) -> bool {
    is_testable(atom) && program.is_known(&AffineForm::atom(atom.clone()), 0)
}

/// That a form is zero, over parameters known before the trees of `program`, and that loops around
/// which so many loops stand and that run `trips` iterations still may run long then. Nothing if
/// that is not so.
pub fn zero(
    form: &AffineForm,
    trips: &[AffineForm],
    loop_context: &LoopContext,
    program: &Program,
    limits: &Limits,
) -> Option<Assumption> {
    if !form.all_atoms(&|atom| is_known_before(program, atom)) || !is_simple(form) {
        return None;
    }
    let assumption = Assumption::zero(form)?;
    let facts = assumption.facts();
    let behind_first: Option<Vec<AffineForm>> =
        trips.iter().map(|trips| trips.minus(&AffineForm::constant(1))).collect();
    is_useful(
        loop_context,
        loop_context.depth,
        &[],
        &behind_first?,
        &facts.iter().collect::<Vec<_>>(),
        limits,
    )
    .then_some(assumption)
}

/// True if a form is a sum of few times a value each: it has less than 128 bits then.
fn is_simple(form: &AffineForm) -> bool {
    let is_small = |coefficient: i64| i32::try_from(coefficient).is_ok();
    form.terms().iter().all(|(atom, coefficient)| is_testable(atom) && is_small(*coefficient))
}

/// True if what is assumed may hold where none of `constraints` is negative, and each of `counts`
/// that may be great there may be so then, too.
fn is_useful(
    loop_context: &LoopContext,
    levels: u32,
    constraints: &[&AffineForm],
    counts: &[AffineForm],
    assumed: &[&AffineForm],
    limits: &Limits,
) -> bool {
    let may_be = |more: &[&AffineForm]| {
        let all: Vec<&AffineForm> = constraints.iter().chain(more).copied().collect();
        !is_never(loop_context, levels, &all, limits)
    };
    let may_run_long = |count: &AffineForm| {
        let beyond = LONG.into_iter().filter_map(|least| count.plus(&AffineForm::constant(least), -1));
        let greatest = beyond.into_iter().find(|beyond| may_be(&[beyond]));
        greatest.is_none_or(|beyond| may_be(&[assumed, &[&beyond]].concat()))
    };
    may_be(assumed) && counts.iter().all(may_run_long)
}

/// True if one of the forms, over at least the levels of the loop_context, is negative wherever the
/// loop_context is entered.
fn is_never(loop_context: &LoopContext, levels: u32, forms: &[&AffineForm], limits: &Limits) -> bool {
    let levels = levels.max(loop_context.depth);
    let system = System::over(levels, loop_context.constraints.iter().chain(forms.iter().copied()));
    matches!(system.is_empty(&loop_context.facts, limits), Emptiness::Empty)
}

/// The form that is not negative where this one is.
fn negated(form: &AffineForm) -> Option<AffineForm> {
    form.times(-1)?.plus(&AffineForm::constant(1), -1)
}
