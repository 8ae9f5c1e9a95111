//! Run-time checks: conditions on parameters under which two accesses keep their order.
//!
//! Every conflict of the two satisfies a list of inequalities about parameters alone. If one of
//! them fails, there is no conflict, so the assumption is that one fails. Inequalities that follow
//! from the others or from the surroundings are dropped. An inequality whose failure would keep a
//! loop short is dropped too: a version for loops that hardly run is useless.
//!
//! **Assumptions.**
//! - Tested values are computed before the trees, in as many bits as they need. Tried with
//!   `fixtures/fusion/versioned_numbers.mlir` and `versioned_limits.mlir`.
//! - Facts about parameters hold where the test is, not only where the loops run. Tried with
//!   `fixtures/fusion/guards_versioned.mlir`.
//!
//! **Cost.** One elimination, and a few conjunctions for each inequality.
//!
//! # Limits
//!
//! - A run-time check compares sums of single values. That nothing wraps is checked for accesses
//!   through pointers alone, by limits on the values: 2^30, or 2^19 and 2^15 for 32 bits.
//! - Inequalities that a conflict implies are found over the rationals, with at most 64 on the way.
//!   At most four may be left, and one of them has to fail.

use loomir_polyhedra::{Emptiness, Limits};

use super::DependenceOracle;
use super::meeting::Meeting;
use crate::access::base::Overlap;
use crate::access::{Answer, LoopContext, Question};
use crate::affine::system::System;
use crate::affine::{AffineForm, Atom};
use crate::assumption::{Assumption, is_testable};
use crate::tree::Program;

/// The maximal number of inequalities one of which is assumed to fail.
const MAX_ALTERNATIVES: usize = 4;
/// Trip counts beyond the first iteration that mark a long loop. If a loop may run this many, it
/// must still be able to under the assumption. The greatest possible one counts.
const LONG: [i64; 4] = [15, 7, 3, 1];

/// Returns assumptions, tested before the trees of a program, under which two accesses touch known
/// elements and the conflict in question is impossible. The list is empty if nothing needs a test.
/// `None` if there is no such list.
pub(super) fn apart_under_conditions(
    question: &Question<'_>,
    overlap: Overlap,
    oracle: &DependenceOracle<'_>,
) -> Option<Vec<Assumption>> {
    let (meeting, conditions) = Meeting::conditional(question.first, question.second, overlap)?;
    let is_open = |form: &&AffineForm| !question.loop_context.implies(form, oracle.limits);
    let open: Vec<AffineForm> = conditions.into_iter().filter(is_open).cloned().collect();
    let is_testable = |form: &AffineForm, program: &Program| {
        is_tested_before(program, form) && runs_long(question, form, oracle)
    };
    if !open.is_empty() {
        let program = oracle.tested_before?;
        open.iter().all(|form| is_testable(form, program)).then_some(())?;
    }
    let loop_context = &question.loop_context.with_facts(open.iter().cloned());
    let question = Question { loop_context, equal: &meeting.pairs, ..*question };
    let mut assumed: Vec<Assumption> = open.into_iter().map(|form| Assumption::Natural(vec![form])).collect();
    if !matches!(oracle.dependence.meet(&question), Answer::Never) {
        assumed.push(avoiding(&question, oracle)?);
    }
    Some(assumed)
}

/// Returns a condition, tested before the trees of `program`, under which the conflict in question
/// is impossible. `None` if no useful condition is known.
pub(super) fn avoiding(question: &Question<'_>, oracle: &DependenceOracle<'_>) -> Option<Assumption> {
    let program = oracle.tested_before?;
    let mut left = oracle.dependence.necessary(question, &|atom| is_known_before(program, atom))?;
    let loop_context = question.loop_context;
    // Forms with many terms come first: other forms imply them more often than they imply others.
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
    let is_useful = |form: &AffineForm| is_simple(form) && runs_long(question, form, oracle);
    let alternatives = left.iter().filter_map(negated).filter(is_useful);
    let alternatives: Vec<AffineForm> = alternatives.collect();
    let is_one = (1..=MAX_ALTERNATIVES).contains(&alternatives.len());
    is_one.then_some(Assumption::Natural(alternatives))
}

/// True if the loops around both accesses may run long where a form is not negative.
fn runs_long(question: &Question<'_>, form: &AffineForm, oracle: &DependenceOracle<'_>) -> bool {
    let loop_context = question.loop_context;
    [question.first, question.second].into_iter().all(|class| {
        let constraints: Vec<&AffineForm> = class.domain.constraints.iter().collect();
        let levels: Vec<AffineForm> = (0..class.domain.levels).map(AffineForm::level).collect();
        is_useful(loop_context, class.domain.levels, &constraints, &levels, &[form], oracle.limits)
    })
}

/// True if an unknown is available before the trees of a program and can be tested there.
fn is_known_before(program: &Program, atom: &Atom) -> bool {
    is_testable(atom) && program.is_known(&AffineForm::atom(atom.clone()), 0)
}

/// True if a test of a form can be made before the trees of a program.
fn is_tested_before(program: &Program, form: &AffineForm) -> bool {
    form.all_atoms(&|atom| is_known_before(program, atom)) && is_simple(form)
}

/// Returns the assumption that a form over parameters known before the trees of `program` is at
/// least a number. `None` for a constant, and if the form is unsuitable.
pub fn at_least(form: &AffineForm, number: i64, program: &Program) -> Option<Assumption> {
    let beyond = form.plus(&AffineForm::constant(number), -1)?;
    let is_open = is_tested_before(program, &beyond) && beyond.as_constant().is_none();
    is_open.then(|| Assumption::Natural(vec![beyond]))
}

/// Returns the assumption that a form over parameters known before the trees of `program` is zero.
/// `None` if loops with trip counts `trips` could then not run long, or if the form is unsuitable.
pub fn zero(
    form: &AffineForm,
    trips: &[AffineForm],
    loop_context: &LoopContext,
    program: &Program,
    limits: &Limits,
) -> Option<Assumption> {
    let assumption = is_tested_before(program, form).then(|| Assumption::zero(form))??;
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

/// True if a form is a sum of few multiples of single values, so it needs less than 128 bits.
fn is_simple(form: &AffineForm) -> bool {
    let is_small = |coefficient: i64| i32::try_from(coefficient).is_ok();
    form.terms().iter().all(|(atom, coefficient)| is_testable(atom) && is_small(*coefficient))
}

/// True if the assumption is compatible with `constraints`, all nonnegative, and each of `counts`
/// that may be large stays possibly large under it.
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

/// True if one of the forms is negative whenever the loop context is entered. The forms are over at
/// least its levels.
fn is_never(loop_context: &LoopContext, levels: u32, forms: &[&AffineForm], limits: &Limits) -> bool {
    let levels = levels.max(loop_context.depth);
    let system = System::over(levels, loop_context.constraints.iter().chain(forms.iter().copied()));
    matches!(system.is_empty(&loop_context.facts, limits), Emptiness::Empty)
}

/// Returns the form that is not negative exactly where this form is negative.
fn negated(form: &AffineForm) -> Option<AffineForm> {
    form.times(-1)?.plus(&AffineForm::constant(1), -1)
}
