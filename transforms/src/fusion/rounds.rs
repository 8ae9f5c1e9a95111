//! Rounds of fusion: a function is fused until nothing changes.
//!
//! The result of a round may offer new fusions: loops inside of loops that became neighbours, the
//! original loops behind a run-time check, loops whose version was too expensive. A second run of
//! fusion would find work. To prevent this, the first run ends with a round that changes nothing.
//!
//! Rounds terminate, because each fuses loops, and loops added by fusion are
//! [marked](crate::marks). Remainders are not fused. Nothing behind a run-time check is versioned
//! again. A loop that took in a part of another loop gives no part to others. Each round therefore
//! leaves fewer loops, or fewer that may be distributed. Loops that have become neighbours are
//! [concatenated](super::concatenate) at the beginning of a round.
//!
//! **Assumptions.**
//! - A block without two neighbouring loops or conditionals has nothing to fuse, whatever a round
//!   would find out. Neither do original loops behind a check that buffers are distinct, if nothing
//!   in them was fused. Tried with all fixtures, each fused twice.
//!
//! **Cost.** That of a round for each, and one more if something may be left to fuse. At most
//! [`MAX_ROUNDS`] rounds.

use hashbrown::{HashMap, HashSet};
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Loc, Value};

use super::concatenate::concatenate;
use super::side_by_side::SideBySide;
use super::{Fusion, Options, Profitability, Report, remarks, whole_memrefs};
use crate::access::LoopContext;
use crate::assumption;
use crate::cost::OnMachine;
use crate::legality::Checker;
use crate::naming::called;
use crate::regenerate::{Rewrite, regenerate};
use crate::tree::raise::{raise_by, roots};
use crate::tree::{Green, If, Item, Mark, Node, TreeStore};
use crate::while_to_for;

/// The default limit on rounds. Random programs take at most five.
pub(super) const MAX_ROUNDS: usize = 16;

/// Fuses the loops of a function. The result is well formed if `body` was, and computes the same. A
/// second call changes nothing.
pub fn fuse(body: &mut Body, options: &Options) -> Report {
    options.progress.begin("loop-fusion", body, body.root());
    while_to_for::uplift(body);
    let expanded = whole_memrefs::expand(body);
    let mut report = rounds(body, options);
    expanded.restore(body);
    expanded.once(&mut report.remarks);
    report
}

/// Fuses the loops of a function until nothing changes, or as often as the options say.
fn rounds(body: &mut Body, options: &Options) -> Report {
    let mut report = round(body, options);
    let mut changed = report.changed;
    for _ in 1..options.max_rounds {
        if !(changed && report.has_neighbours) {
            break;
        }
        let more = round(body, options);
        changed = more.changed;
        report.go_on(more);
    }
    report
}

impl Report {
    /// Returns true if the function changed.
    pub fn changed(&self) -> bool {
        self.changed
    }

    /// Adds the report of a later round on the same function. A loop is refused once, and not
    /// anymore if it was fused later.
    pub fn go_on(&mut self, mut later: Report) {
        let refused: HashSet<Loc> =
            self.remarks.iter().filter(|own| own.is_missed()).map(|own| own.loc).collect();
        later.remarks.retain_from(0, |own| match own.is_missed() {
            true => !refused.contains(&own.loc),
            false => !self.remarks.iter().any(|other| other == own),
        });
        let before = Groups::of(self.remarks.iter());
        let now = Groups::of(self.remarks.iter().chain(later.remarks.iter()));
        self.remarks.retain_from(0, |own| !own.is_missed() || before.are_one(own) || !now.are_one(own));
        self.remarks.append(later.remarks);
        self.fused += later.fused;
        self.assumed.extend(later.assumed);
        self.has_neighbours = later.has_neighbours;
        self.changed |= later.changed;
    }
}

/// The loops that are one, as remarks say.
struct Groups(HashMap<Loc, Loc>);

impl Groups {
    fn of<'d>(remarks: impl Iterator<Item = &'d Diagnostic>) -> Groups {
        let mut groups = Groups(HashMap::new());
        for own in remarks.filter(|own| own.is_passed()) {
            if let Some((first, _)) = own.notes.first() {
                let (second, first) = (groups.first(own.loc), groups.first(*first));
                if second != first {
                    groups.0.insert(second, first);
                }
            }
        }
        groups
    }

    /// Returns the loop that stands for a group.
    fn first(&self, mut own: Loc) -> Loc {
        while let Some(first) = self.0.get(&own) {
            own = *first;
        }
        own
    }

    /// True if the two loops of a remark are one.
    fn are_one(&self, remark: &Diagnostic) -> bool {
        remark.notes.first().is_some_and(|(first, _)| self.first(*first) == self.first(remark.loc))
    }
}

/// Fuses the loops of a function once.
fn round(body: &mut Body, options: &Options) -> Report {
    let (concatenated, said) = concatenate(body, options);
    // Blocks inside statements come first, because a copy of a statement copies its changed blocks.
    let blocks = roots(body, &options.analyses);
    let mut analyses = options.analyses.for_one_function();
    let mut parts = Vec::with_capacity(blocks.len());
    for block in blocks.iter().rev() {
        // A version inside of code that may be versioned would double it again.
        let is_inside = body.block_of(body.region_parent(body.block_region(*block))).is_some();
        let alias = if is_inside { options.alias.untested() } else { options.alias };
        let part =
            fuse_block(body, *block, &Options { alias, analyses: analyses.clone(), ..options.clone() });
        if part.changed {
            analyses = options.analyses.for_one_function();
        }
        parts.push(part);
    }
    let changed = concatenated > 0;
    let remarks = if options.remarks { said } else { Diagnostics::default() };
    let mut report = Report { remarks, changed, fused: concatenated, ..Report::default() };
    for part in parts.into_iter().rev() {
        report.names.extend(part.names.iter().map(|(value, name)| (*value, name.clone())));
        for assumption in &part.assumed {
            if !report.assumed.contains(assumption) {
                report.assumed.push(assumption.clone());
            }
        }
        report.append(part);
    }
    assumption::sort(&mut report.assumed);
    let names = std::mem::take(&mut report.names);
    let name = |value: Value| names.get(&value).cloned().unwrap_or_default();
    if options.remarks {
        for said in remarks::remarks(body).assumed(&report.assumed, options.alias, "Fused", &name) {
            report.remarks.push(said);
        }
    }
    report
}

/// Fuses the loops of one block.
fn fuse_block(body: &mut Body, block: Block, options: &Options) -> Report {
    let mut trees = TreeStore::default();
    let program = raise_by(&options.analyses, body, block, &mut trees, options.alias);
    let mut fusion = Fusion::new(body, &program, &mut trees, options);
    let root = fusion.sequence(program.root, &LoopContext::outside(&program.surroundings));
    let (mut report, settled, done) = (fusion.report, fusion.settled, fusion.done);
    report.has_neighbours = has_neighbours(&trees, &settled, root);
    let checker = Checker::new(body, &program, options.alias, options.limits);
    let checker = checker.with_dependence(&*options.analyses.dependence);
    let jammed = match options.may_jam(done.len()) {
        true => {
            let cost = OnMachine::of_function(&*options.cost, body);
            SideBySide::find((body, &program, &mut trees), root, &cost)
        }
        false => None,
    };
    let place = jammed.as_ref().map(|own| body.loc(program.loop_info(own.of).op));
    let jammed = jammed.and_then(|own| own.judged((body, &program, &mut trees), &checker, options.max_tests));
    let place = place.filter(|_| jammed.is_some());
    let judged = match jammed {
        Some((approved, more)) => {
            assumption::add(&mut report.assumed, more);
            Ok(approved)
        }
        None => checker.judge(&mut trees, root),
    };
    if options.remarks {
        if let Some(place) = place {
            report.remarks.push(remarks::jammed(body, place));
        }
        // Values may be gone afterwards.
        let assumed = std::mem::take(&mut report.assumed);
        let mut note = |value| _ = report.names.entry(value).or_insert_with(|| called(body, value));
        assumed.iter().for_each(|assumption| assumption.each_value(&mut note));
        report.assumed = assumed;
    }
    match judged {
        Ok(approved) => {
            match regenerate(body, &program, &trees, &approved, Rewrite::Changed) {
                Ok(()) => {
                    report.changed = root != program.root;
                    done.into_iter().chain(place).for_each(|loc| options.edits.made("loop-fusion", loc));
                }
                Err(why) => report.remarks.push(why.remark(remarks::remarks(body), "fused")),
            }
            report
        }
        Err(verdict) => Report {
            remarks: verdict.not_approved(remarks::remarks(body), block, "fused").into(),
            refused: report.refused + report.fused,
            choice: report.choice,
            ..Report::default()
        },
    }
}

impl Options {
    /// True if a loop may be unrolled and jammed after so many fusions.
    fn may_jam(&self, fused: usize) -> bool {
        let is_within_limit = self.edits.left().is_none_or(|left| left > fused as u64);
        self.unroll_and_jam && self.profitability == Profitability::Cost && fused > 0 && is_within_limit
    }
}

/// True if two loops or conditionals are in one sequence that is not `settled`. Recurses once a
/// loop or guard. Their nesting depth is bounded when they are raised.
fn has_neighbours(trees: &TreeStore, settled: &HashSet<Green>, sequence: Green) -> bool {
    if settled.contains(&sequence) {
        return false;
    }
    let mut candidates = 0;
    for item in trees.with_ifs(sequence) {
        let inside = match item {
            Item::If(If { bodies, .. }) => bodies,
            Item::Other(item) => match trees.get(item) {
                Node::Loop { header, .. } if trees.header(header).mark == Some(Mark::Remainder) => continue,
                Node::Loop { body, .. } => [Some(body), None],
                Node::Versioned { fast, fallback, .. } => [Some(fast), Some(fallback)],
                _ => continue,
            },
        };
        candidates += 1;
        if candidates > 1 || inside.into_iter().flatten().any(|body| has_neighbours(trees, settled, body)) {
            return true;
        }
    }
    false
}
