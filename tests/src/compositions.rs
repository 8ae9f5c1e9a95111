//! Random compositions of up to five edits, by schedules and as edits of trees.
//!
//! - **Schedules.** Up to five steps, each on one loop: alone, in chains that are judged step by
//!   step, and in chains that are judged at the end. The program behind them must compute the same,
//!   and the checker must not find a difference.
//! - **Trees.** Up to five edits at once. The judge is asked once. A legal tree is written,
//!   executed and checked. A tree that is illegal for certain is executed with operations that are
//!   [hashes](crate::hashed), to see how many of them can be told from the program.

use std::collections::BTreeMap;

use loomir::AliasMode;
use loomir::check::proof::ProofOptions;
use loomir::dialects::interp::Limits;
use loomir::ir::{Block, Body};
use loomir::transforms::legality::{Checker as Judge, Verdict, Witness};
use loomir::transforms::regenerate::{Rewrite, regenerate};
use loomir::transforms::tree::raise::raise;
use loomir::transforms::tree::{Green, Program, TreeStore};

use crate::behaviour::{inputs, retain_distinct, same_behaviour};
use crate::blocks::each_block;
use crate::check::Checker;
use crate::edits::{KINDS, edit};
use crate::generate::generate;
use crate::hashed::{Objects, Of, Outcome, outcome};
use crate::instances::{Direction, Finding, Instance, Values, run as instances, simultaneous};
use crate::pipelines::{Case, scheduled};
use crate::random::Random;
use crate::schedules::composition;
use crate::twin::compared;
use crate::verdicts::is_proved;

/// The most edits of a composition.
const EDITS: usize = 5;
/// The checker is asked about one program in this many.
const CHECKED: u64 = 5;
/// The number of trees for each program.
const TREES: usize = 6;
/// The number of values of parameters that an illegal tree runs with, and those of a legal tree.
const RUNS: [usize; 2] = [24, 3];

/// The numbers of compositions, by what became of them.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Programs.
    pub cases: u64,
    /// Schedules, and those that ended with an error.
    pub schedules: [usize; 2],
    /// Programs that schedules changed.
    pub scheduled: usize,
    /// Edited trees, and how many edits made them.
    pub trees: [usize; 2],
    /// Legal trees, and those that were written.
    pub legal: [usize; 2],
    /// Trees that are illegal for certain.
    pub illegal: usize,
    /// Trees among the illegal ones that ran with hashes.
    pub hashed: usize,
    /// Trees among these that left other memory.
    pub shown: usize,
    /// Trees among the others in which some operation computed something else.
    pub computed: usize,
    /// Trees among the others that write some location in another order or another number of times.
    pub rewritten: usize,
    /// Trees among the others that show if operations hash their iteration too.
    pub by_instance: usize,
    /// Trees among the others that use a value out of its loop, so they are no programs.
    pub out_of_scope: usize,
    /// Trees that may be illegal, or that no answer was found for.
    pub unknown: usize,
    /// Defined calls that were compared, and those that are not defined.
    pub calls: [usize; 2],
    /// Programs that race by themselves, as an edit showed.
    pub racing: usize,
    /// Programs that the checker was asked about, and those that it proves equal.
    pub asked: [usize; 2],
    /// The legal and the illegal trees of each kind of edit.
    pub kinds: BTreeMap<&'static str, [usize; 2]>,
    /// The illegal trees that do not run with hashes, by the reason.
    pub not_hashed: BTreeMap<&'static str, usize>,
    /// The witnesses of illegal trees that left the same memory, by their kind.
    pub unseen: BTreeMap<String, usize>,
}

/// Runs the programs of these numbers.
///
/// # Errors
/// The first wrong result, with the program.
pub fn run(seed: u64, (first, count): (u64, u64), tally: &mut Tally) -> Result<(), String> {
    let checker = Checker::default();
    for index in first..first + count {
        let mut random = Random::of_case(seed, index);
        let proves = index % CHECKED == 0;
        let failed = |error: String| format!("case {index}: {error}");
        by_schedules(&checker, index % 3 == 2, proves, &mut random, tally).map_err(failed)?;
        of_trees(&checker, proves, &mut random, tally).map_err(failed)?;
        tally.cases += 1;
    }
    Ok(())
}

/// Runs schedules of up to five steps in all, one after the other.
fn by_schedules(
    checker: &Checker,
    hazardous: bool,
    proves: bool,
    random: &mut Random,
    tally: &mut Tally,
) -> Result<(), String> {
    let case = if hazardous { Case::hazardous(checker, random) } else { Case::regular(checker, random) }?;
    let (mut text, mut all, mut left) = (case.printed.clone(), String::new(), EDITS);
    while left > 0 {
        let steps = 1 + random.below(left);
        left -= steps;
        let schedule = composition(&text, steps, random);
        let (changed, succeeded) =
            scheduled(checker, &text, &schedule).map_err(|error| format!("{schedule}\n{error}\n{text}"))?;
        tally.schedules[0] += 1;
        tally.schedules[1] += usize::from(!succeeded);
        all += &schedule;
        text = changed;
    }
    let is_changed = text != case.printed;
    let proves = (is_changed && proves).then(ProofOptions::default);
    let comparison = match case.compare(checker, &all, &text, proves) {
        Err(error) if is_of_race(&error, &case.printed) => {
            tally.racing += 1;
            return Ok(());
        }
        comparison => comparison?,
    };
    tally.scheduled += usize::from(is_changed);
    count(tally, (comparison.compared, comparison.skipped), comparison.proved);
    Ok(())
}

fn count(tally: &mut Tally, (compared, skipped): (usize, usize), proved: Option<bool>) {
    tally.calls[0] += compared;
    tally.calls[1] += skipped;
    tally.asked[0] += usize::from(proved.is_some());
    tally.asked[1] += usize::from(proved == Some(true));
}

/// Edits the trees of a program.
fn of_trees(checker: &Checker, proves: bool, random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let text = generate(random).to_mlir().mlir;
    let read = |text: &str| checker.read(text).map_err(|errors| checker.lines(&errors));
    let mut module = read(&text)?;
    let mut edits = Ok(String::new());
    each_block(&mut module, &mut |body, block| {
        let name = body.attr(body.root(), "sym_name").and_then(|name| name.as_str(body.ctx()));
        if name == Some("kernel") {
            edits = edit_block(body, block, random, tally);
        }
    });
    let edits = edits.map_err(|error| format!("{error}\n{text}"))?;
    if edits.is_empty() {
        return Ok(());
    }
    let printed = loomir::print(&module);
    let failed = |error: String| format!("{edits}: {error}\n{text}\n{printed}");
    let [before, after] = compared(&text, &printed).map(|text| read(&text));
    let (before, after) = (before.map_err(failed)?, after.map_err(failed)?);
    let mut calls = inputs(&before, "kernel", random).unwrap_or_default();
    retain_distinct(&mut calls);
    let agreement = same_behaviour(&before, &after, "kernel", &calls, &Limits::default());
    let agreement = match agreement {
        Err(error) if is_of_race(&error.to_string(), &text) => {
            tally.racing += 1;
            return Ok(());
        }
        agreement => agreement.map_err(|error| failed(error.to_string()))?,
    };
    let limits = ProofOptions { distinct: true, ..ProofOptions::default() };
    let ask = || is_proved([&before, &after], "kernel", limits);
    let proved = proves.then(ask).transpose().map_err(failed)?;
    count(tally, (agreement.compared, agreement.skipped), proved);
    Ok(())
}

/// True if a difference is a race of a program with a parallel loop in another one. The interpreter
/// compares iterations of the outermost parallel loop alone. If an edit runs that one in order, the
/// race of the program itself shows.
pub fn is_of_race(difference: &str, program: &str) -> bool {
    let mut around = Vec::new();
    let has_nested = program.lines().any(|line| {
        let indent = line.len() - line.trim_start().len();
        around.retain(|own| *own < indent);
        let is_parallel = line.trim_start().starts_with("scf.parallel");
        let is_inside = is_parallel && !around.is_empty();
        around.extend(is_parallel.then_some(indent));
        is_inside
    });
    has_nested && difference.contains("of a parallel loop race for one element")
}

/// Tries several trees of a block, and writes the last legal one. Returns its edits.
///
/// # Errors
/// A legal tree leaves other memory when it runs with hashes.
fn edit_block(
    body: &mut Body,
    block: Block,
    random: &mut Random,
    tally: &mut Tally,
) -> Result<String, String> {
    let mut trees = TreeStore::default();
    let program = raise(body, block, &mut trees, AliasMode::Distinct);
    let judge = Judge::new(body, &program, AliasMode::Distinct, Default::default());
    let mut last = None;
    for _ in 0..TREES {
        let (mut tree, mut kinds) = (program.root, Vec::new());
        for _ in 0..random.range(1, EDITS as i64) {
            if let Some((new, kind)) = edit(body, &mut trees, &program, tree, random) {
                (tree, _) = (new, kinds.push(KINDS[kind]));
            }
        }
        if tree == program.root {
            continue;
        }
        tally.trees[0] += 1;
        tally.trees[1] += kinds.len();
        let verdict = judge.check(&mut trees, tree);
        let outcome = match &verdict {
            Verdict::Legal { .. } => Some(0),
            Verdict::Illegal(_) => Some(1),
            _ => None,
        };
        for kind in outcome.iter().flat_map(|_| &kinds) {
            tally.kinds.entry(kind).or_default()[outcome.unwrap_or(0)] += 1;
        }
        match verdict {
            Verdict::Legal { assumed } => {
                tally.legal[0] += 1;
                let seen = seen(body, &program, (&trees, tree), RUNS[1], random);
                if assumed.is_empty() && seen == Ok(Seen::Memory) {
                    return Err(format!("{kinds:?}: legal, but with hashes it leaves other memory"));
                }
                last = Some((tree, kinds));
            }
            Verdict::Illegal(witness) => {
                tally.illegal += 1;
                let seen = seen(body, &program, (&trees, tree), RUNS[0], random);
                tally.hashed += usize::from(seen.is_ok());
                match seen {
                    Ok(Seen::Memory) => tally.shown += 1,
                    _ if matches!(witness, Witness::Unavailable { .. }) => tally.out_of_scope += 1,
                    Ok(Seen::Results) => tally.computed += 1,
                    Ok(Seen::Writes) => tally.rewritten += 1,
                    Ok(Seen::Instances) => tally.by_instance += 1,
                    Ok(Seen::Nothing) => {
                        let kind = format!("{witness:?}");
                        let kind = kind.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_owned();
                        *tally.unseen.entry(kind).or_default() += 1;
                    }
                    Err(why) => *tally.not_hashed.entry(why).or_default() += 1,
                }
            }
            _ => tally.unknown += 1,
        }
    }
    let Some((tree, kinds)) = last else { return Ok(String::new()) };
    let Ok(approved) = judge.judge(&mut trees, tree) else { return Ok(String::new()) };
    Ok(match regenerate(body, &program, &trees, &approved, Rewrite::Changed) {
        Ok(()) => {
            tally.legal[1] += 1;
            format!("{kinds:?}")
        }
        Err(_) => String::new(),
    })
}

/// A difference of a tree from its program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Nothing,
    /// One of the others, if each iteration of an operation is an operation of its own.
    Instances,
    /// It writes some location in another order, or another number of times.
    Writes,
    /// Some operation computes something else.
    Results,
    /// It leaves other memory, or may do so because two updates run at once.
    Memory,
}

/// Returns the greatest difference between two runs.
fn difference(before: &Outcome, after: &Outcome) -> Seen {
    if after.memory != before.memory {
        Seen::Memory
    } else if after.results != before.results {
        Seen::Results
    } else if after.written != before.written {
        Seen::Writes
    } else {
        Seen::Nothing
    }
}

/// Returns the greatest difference of a tree from its program, for some values of the parameters
/// and all orders of parallel loops.
///
/// # Errors
/// The reason why it does not run with hashes.
fn seen(
    body: &Body,
    program: &Program,
    (trees, tree): (&TreeStore, Green),
    runs: usize,
    random: &mut Random,
) -> Result<Seen, &'static str> {
    let mut seen: Result<Seen, &str> = Err("no run");
    for _ in 0..runs {
        let values = Values { seed: Some(random.bits()), body };
        let mut objects = Objects::new();
        let listed =
            |tree, way| instances(program, trees, tree, values, way).ok_or("a loop over unknown values");
        let mut run = |all: &Result<Vec<Instance>, &'static str>, of| match all {
            Ok(all) => outcome(body, program, all, (values, of), &mut objects),
            Err(why) => Err(*why),
        };
        let original = listed(program.root, Direction::Forwards);
        let before = [Of::Operands, Of::Instances].map(|of| run(&original, of));
        // Iterations of its own parallel loops may race. Then a difference says nothing of an edit.
        let own = Direction::ALL.map(|way| listed(program.root, way));
        let mut is_racing = |all: &Result<Vec<Instance>, _>| {
            *all != original && run(all, Of::Instances).as_ref().ok() != before[1].as_ref().ok()
        };
        if own.iter().any(&mut is_racing) {
            seen = seen.or(Err("a race of the program itself"));
            continue;
        }
        let mut last = None;
        for way in Direction::ALL {
            let all = listed(tree, way);
            if last.as_ref() == Some(&all) {
                continue;
            }
            let mut compared = |number: usize, of| {
                let before = before[number].as_ref().map_err(|why| *why)?;
                Ok(difference(before, &run(&all, of)?))
            };
            let difference = match compared(0, Of::Operands) {
                Ok(Seen::Nothing) => compared(1, Of::Instances).map(|own| own.min(Seen::Instances)),
                own => own,
            };
            last = Some(all);
            seen = match (seen, difference) {
                (Ok(seen), Ok(difference)) => Ok(seen.max(difference)),
                (Ok(seen), Err(_)) => Ok(seen),
                (Err(_), difference) => difference,
            };
            if seen == Ok(Seen::Memory) {
                return seen;
            }
        }
        let both = [Direction::Forwards, Direction::Backwards].map(|way| listed(tree, way));
        if let [Ok(forwards), Ok(backwards)] = &both
            && matches!(simultaneous(program, [forwards, backwards], values), Finding::Fault(_))
        {
            return Ok(Seen::Memory);
        }
    }
    seen
}
