//! The campaign that compares Loomir's fusion of control flow graphs with that of `opt`: random
//! functions of [neighbouring loops](crate::neighbours), before and after both fusions.
//!
//! The interpreter runs all of them. Loomir's functions must behave as before. If `opt`'s do too,
//! Loomir must have fused each pair of loops that `opt` fused. Alternatively it must fuse the pair
//! when asked for that pair alone, because fusing one of them with another neighbour is as good.
//!
//! Some pairs are exempt. Accesses may order those of other threads. An operation may not return,
//! and `opt` does not check that operations moved before it are defined. A run may show that a
//! dependence is reversed, and only the values hide it. Before `opt` is said to be right where
//! Loomir refuses, its function is called with many more arguments.
//!
//! Loops are copied here wherever that enables fusion, because `opt` ignores profitability too.

use std::collections::BTreeMap;
use std::fmt::Write;

use loomir::dialects::interp::Limits;
use loomir::ir::symbols::{SymbolTable, lookup};
use loomir::ir::{Body, Diagnostic};
use loomir::lowering::cfg::Analysis;
use loomir::lowering::cfg::loop_fusion::{Options, fuse_pair};
use loomir::lowering::cfg::roles::Roles;
use loomir::transforms::fusion::Profitability;

use super::turned::turns_around;
use super::{Groups, Loop, Theirs, ours, written};
use crate::behaviour::{Ending, Input, call, show};
use crate::check::Checker;
use crate::neighbours::{CALLED, Neighbours, neighbours};
use crate::peers::Peer;
use crate::random::Random;

/// The statistics of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Functions.
    pub cases: u64,
    /// Loops in them.
    pub loops: u64,
    /// Runs of Loomir's functions that were compared with the original.
    pub runs: u64,
    /// Pairs of loops that Loomir fused.
    pub ours: u64,
    /// Results of `opt` without peeling.
    pub plain: Rival,
    /// Results of `opt` with up to three peeled iterations of the first loop.
    pub peeling: Rival,
    /// The functions that `opt` without peeling gets wrong.
    pub wrong: Vec<String>,
}

/// The results of `opt` compared with Loomir's.
#[derive(Clone, Debug, Default)]
pub struct Rival {
    /// Functions on which `opt` crashes, or does not terminate.
    pub crashed: u64,
    /// Functions in which `opt` fused loops.
    pub fused: u64,
    /// Fused functions that behave differently afterwards.
    pub wrong: u64,
    /// Pairs of loops that `opt` fused, in functions with unchanged behaviour.
    pub pairs: u64,
    /// Pairs that Loomir fused too.
    pub both: u64,
    /// Pairs that Loomir fuses only when asked for them alone. It fused one of the loops with
    /// another.
    pub otherwise: u64,
    /// Pairs that Loomir does not fuse and that order accesses of other threads.
    pub ordered: u64,
    /// Pairs that Loomir does not fuse because an operation may not return. Operations that would
    /// run before it are not known to be defined.
    pub unreturned: u64,
    /// Pairs that Loomir does not fuse and in which a dependence [is reversed](turns_around). The
    /// values happen to hide the difference.
    pub turned: u64,
    /// Pairs that Loomir does not fuse for other reasons.
    pub missed: u64,
    /// The reasons, and their counts.
    pub reasons: BTreeMap<String, u64>,
    /// An example of each.
    pub examples: BTreeMap<String, String>,
    /// Pairs that Loomir fused and `opt` did not, in all functions.
    pub ours_alone: u64,
}

/// The number of functions in a batch.
const BATCH: u64 = 100;

/// Runs `cases` functions of the campaign of `seed`, from number `first` on.
///
/// # Errors
/// The first function whose behaviour Loomir changes, or that can't be judged.
pub fn run(seed: u64, first: u64, cases: u64, opt: &Peer, tally: &mut Tally) -> Result<(), String> {
    let mut at = first;
    while at < first + cases {
        let end = (at + BATCH).min(first + cases);
        let batch: Vec<(String, Neighbours)> = (at..end).map(|index| case(seed, index)).collect();
        compare(CALLED, &batch, opt, tally)?;
        at = end;
    }
    Ok(())
}

/// Returns a case of a campaign, with its name.
pub fn case(seed: u64, index: u64) -> (String, Neighbours) {
    let name = format!("f{index}");
    let function = neighbours(&mut Random::of_case(seed, index), &name);
    (name, function)
}

/// Compares functions of a text that begins with `head`.
///
/// # Errors
/// As for [`run`].
pub fn compare(
    head: &str,
    functions: &[(String, Neighbours)],
    opt: &Peer,
    tally: &mut Tally,
) -> Result<(), String> {
    let checker = Checker::default();
    let text = functions.iter().fold(head.to_owned(), |text, (_, function)| text + &function.text);
    let read = |text: &str| {
        loomir::lowering::from_ll(&checker.ctx, text, "case.ll").map_err(|errors| checker.lines(&errors))
    };
    let before = read(&text)?;
    let loops = written(&text, opt)?;
    let own = |peel: u32| {
        let mut after = read(&text)?;
        let options = format!("peel-max-count={peel} fusion-profitability=always");
        let pipeline = format!("builtin.module(llvm.func(loop-fusion{{{options}}}))");
        let remarks = checker.run(&pipeline, &mut after).map_err(|errors| checker.lines(&errors))?;
        let groups = ours(&loops, &checker.ctx, &remarks);
        Ok::<_, String>((after, groups))
    };
    let ours = [own(0)?, own(3)?];
    let [mut plain, mut peeling] = [0, 3].map(|peel| Fused { peel, ..Fused::default() });
    plain.add(head, functions, opt, &checker)?;
    peeling.add(head, functions, opt, &checker)?;
    let none = Groups::apart(0);
    for (name, function) in functions {
        let expected = Expected::of(&before, name, function.calls.clone())?;
        tally.cases += 1;
        tally.loops += loops.get(name).map_or(0, Vec::len) as u64;
        tally.ours += ours[0].1.get(name).unwrap_or(&none).pairs().len() as u64;
        for (after, ..) in &ours {
            match expected.difference(after, name)? {
                None => tally.runs += expected.runs.len() as u64,
                Some(difference) => return Err(format!("{difference}\n{}", function.text)),
            }
        }
        for (theirs, (_, own), is_plain) in [(&plain, &ours[0], true), (&peeling, &ours[1], false)] {
            let own = own.get(name).unwrap_or(&none);
            let rival = if is_plain { &mut tally.plain } else { &mut tally.peeling };
            let Some((groups, module)) = theirs.of(name) else {
                rival.crashed += 1;
                continue;
            };
            rival.ours_alone += own.pairs().iter().filter(|pair| !groups.are_one(**pair)).count() as u64;
            let pairs = groups.pairs();
            if pairs.is_empty() {
                continue;
            }
            rival.fused += 1;
            let is_refused = |pair: &&(usize, usize)| !own.are_one(**pair);
            let is_wrong = match pairs.iter().any(|pair| is_refused(&pair)) {
                false => expected.difference(module, name)?,
                true => {
                    let calls = [function.calls.clone(), (function.more)()].concat();
                    let expected = Expected::of(&before, name, calls)?;
                    expected.difference(module, name)?
                }
            };
            if is_wrong.is_some() {
                rival.wrong += 1;
                if is_plain {
                    tally.wrong.push(name.clone());
                }
                continue;
            }
            rival.pairs += pairs.len() as u64;
            rival.both += pairs.iter().filter(|pair| own.are_one(**pair)).count() as u64;
            for pair in pairs.iter().filter(is_refused) {
                let pair = [pair.0, pair.1].map(|index| &loops[name][index]);
                rival.count_refused(&checker, &before, (name, function), pair, theirs.peel)?;
            }
        }
    }
    Ok(())
}

impl Rival {
    /// Counts a pair that the rival fused and Loomir did not.
    fn count_refused(
        &mut self,
        checker: &Checker,
        before: &Body,
        (name, function): (&str, &Neighbours),
        pair: [&Loop; 2],
        peel: u32,
    ) -> Result<(), String> {
        let lines = pair.map(|own| own.line);
        if ["acquire", "release", "seq_cst"].iter().any(|order| function.text.contains(order)) {
            self.ordered += 1;
            return Ok(());
        }
        let Some(missed) = missed_alone(checker, before, name, lines, peel)? else {
            self.otherwise += 1;
            return Ok(());
        };
        let (reason, is_barrier) = reason(&missed);
        let calls = [function.calls.clone(), (function.more)()].concat();
        if is_barrier && function.text.contains("@ends_at(") {
            self.unreturned += 1;
        } else if turns_around(before, name, lines, &calls, peel > 0) {
            self.turned += 1;
        } else {
            self.missed += 1;
            *self.reasons.entry(reason.clone()).or_default() += 1;
            let example = || format!("{:?} of\n{}", pair.map(|own| &own.header), function.text);
            self.examples.entry(reason).or_insert_with(example);
        }
        Ok(())
    }
}

/// Returns Loomir's remark against fusing the loops with latches in these lines, when asked for
/// these alone. `None` if it fuses them. Reports loops that are not adjacent as such.
fn missed_alone(
    checker: &Checker,
    before: &Body,
    name: &str,
    lines: [u32; 2],
    peel: u32,
) -> Result<Option<Diagnostic>, String> {
    let mut module = before.duplicate();
    let forms = "builtin.module(llvm.func(loop-simplify,lcssa,loop-rotate))";
    checker.run(forms, &mut module).map_err(|errors| checker.lines(&errors))?;
    let symbols = SymbolTable::of(&module);
    let apart = Diagnostic::remark(module.loc(module.root()), "the loops are not adjacent");
    let Some(function) = lookup(&module, name).and_then(|op| module.nested_mut(op)) else {
        return Ok(Some(apart));
    };
    let mut analysis = Analysis::of(function);
    let loop_at = |line: u32| {
        analysis.loops().iter().map(|(id, _)| id).find(|id| {
            let latch = Roles::of(&analysis, *id).latch().map(|node| analysis.block(node));
            let place = latch.and_then(|block| function.terminator(block)).map(|op| function.loc(op));
            let place = place.and_then(|loc| loc.file_line_col(&checker.ctx));
            place.is_some_and(|(_, own, _)| own == line)
        })
    };
    let [Some(first), Some(second)] = lines.map(loop_at) else { return Ok(Some(apart)) };
    let profitability = Profitability::Always;
    let options = Options { peel_max_count: peel, profitability, ..Options::default() };
    // Inner loops come first.
    let around = [first, second].map(|id| {
        let mut around: Vec<_> = analysis.loops_around(analysis.loops().get(id).header()).collect();
        around.reverse();
        around
    });
    for pair in around[0].iter().zip(&around[1]).filter(|(first, second)| first != second) {
        let report = fuse_pair(function, &mut analysis, &symbols, [*pair.0, *pair.1], &options);
        if report.fused == 0 {
            return Ok(Some(report.remarks.into_iter().next().unwrap_or(apart)));
        }
    }
    Ok(None)
}

/// Functions as `opt` made them.
#[derive(Default)]
struct Fused {
    peel: u32,
    modules: Vec<Body>,
    /// The number of each function's module, and its fused groups.
    functions: BTreeMap<String, (usize, Groups)>,
}

impl Fused {
    /// Runs `opt`. If it crashes, tries fewer functions at once.
    fn add(
        &mut self,
        head: &str,
        functions: &[(String, Neighbours)],
        opt: &Peer,
        checker: &Checker,
    ) -> Result<(), String> {
        let text = functions.iter().fold(head.to_owned(), |text, (_, function)| text + &function.text);
        let theirs = match Theirs::of(&text, opt, self.peel) {
            Ok(theirs) => theirs,
            Err(_) if functions.len() == 1 => return Ok(()),
            Err(_) => {
                let (some, others) = functions.split_at(functions.len() / 2);
                self.add(head, some, opt, checker)?;
                return self.add(head, others, opt, checker);
            }
        };
        let module = loomir::lowering::from_ll(&checker.ctx, &theirs.text, "opt.ll");
        let module = module.map_err(|errors| checker.lines(&errors))?;
        let place = self.modules.len();
        self.functions.extend(theirs.groups.into_iter().map(|(name, groups)| (name, (place, groups))));
        self.modules.push(module);
        Ok(())
    }

    /// Returns the groups of fused loops of a function, and its module. `None` after a crash.
    fn of(&self, name: &str) -> Option<(&Groups, &Body)> {
        let (place, groups) = self.functions.get(name)?;
        Some((groups, &self.modules[*place]))
    }
}

/// The ends of the defined calls of a function.
struct Expected {
    runs: Vec<(Input, Ending)>,
}

impl Expected {
    fn of(before: &Body, entry: &str, calls: Vec<Input>) -> Result<Expected, String> {
        let mut runs = Vec::new();
        for input in calls {
            match call(before, entry, &input, &Limits::default())? {
                Ending::Unspecified(_) => {}
                ending => runs.push((input, ending)),
            }
        }
        Ok(Expected { runs })
    }

    /// Returns the first call with a different ending.
    fn difference(&self, after: &Body, entry: &str) -> Result<Option<String>, String> {
        for (input, expected) in &self.runs {
            let ending = call(after, entry, input, &Limits::default())?;
            if ending != *expected {
                let [before, after] = [expected, &ending].map(show);
                let input = input.join(", ");
                return Ok(Some(format!("@{entry}({input}) differs\nbefore: {before}after: {after}")));
            }
        }
        Ok(None)
    }
}

/// Returns the reason of a remark in short, and true if an operation that may not return keeps the
/// loops apart.
fn reason(missed: &Diagnostic) -> (String, bool) {
    let mut found = missed.remark.as_deref().map_or("NonAdjacent", |about| about.name).to_owned();
    let keeps = ["MayThrowException", "NonEmptyExitBlock", "NonEmptyGuardBlock", "NonEmptyPreheader"];
    let is_barrier = keeps.contains(&found.as_str());
    if found == "InvalidDependencies" {
        let text = missed.message.rsplit(": ").next().unwrap_or_default();
        let _ = write!(found, ": {text}");
        for (_, note) in &missed.notes {
            let op = note.split('\'').nth(1).filter(|_| note.contains("iteration"));
            op.into_iter().for_each(|op| found += &format!(", {op}"));
        }
    }
    (found, is_barrier)
}
