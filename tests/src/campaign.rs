//! The fusion campaign: random programs are fused and checked by two oracles.
//!
//! Each case is a [`Program`]. Its text is read, verified, fused under each assumption about
//! aliasing, verified again and printed. Then its arrays are contracted, and its loops are
//! distributed and fused again. The interpreter executes the program before, between and after, on
//! distinct buffers and (unless they were assumed distinct) on shared ones.
//!
//! The program's own executor is the second oracle. It computes the expected values, and its trace
//! decides the legality of each fused pair. No fused pair may have a reversed dependence. No
//! refusal may claim a certain dependence that does not exist, or an obstacle that is none. For
//! affine programs with constant sizes, every refusal must be necessary and nothing may stay
//! undecided.
//!
//! A failure carries the smallest program that still fails the same way.

use std::panic::{AssertUnwindSafe, catch_unwind};

use loomir::check::proof::ProofOptions;
use loomir::dialects::interp::Limits;
use loomir::dialects::interp::outcome::Output;
use loomir::ir::{Body, Context, Diagnostic, Diagnostics, Loc, verifier};
use loomir::{
    AliasMode, ContractionOptions, DistributeOptions, Expand, FuseOptions, FuseReport, Profitability,
    ProgramOptions,
};

use crate::behaviour::{Ending, Input, call, show};
use crate::generate::{aliasings, generate};
use crate::oracle::Groups;
use crate::program::{
    Aliasing, Element, Execution, LoopId, POISON, Program, ROUNDED, Text, is_parallel, nest_of,
};
use crate::random::Random;
use crate::twin::integers;
use crate::verdicts::is_proved;

pub use tally::Tally;

mod tally;

/// A case that went wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The kind of failure. It is the same after the program was made smaller.
    pub kind: &'static str,
    /// A description of the failure.
    pub detail: String,
    /// The smallest program found.
    pub program: String,
}

/// Runs case `index` of the campaign of `seed`.
///
/// # Errors
/// If anything about it is wrong.
pub fn run_case(seed: u64, index: u64, tally: &mut Tally) -> Result<(), Box<Failure>> {
    let mut random = Random::of_case(seed, index);
    let program = generate(&mut random);
    let ways = aliasings(&program, &mut random);
    let Err((kind, _)) = check(&program, &ways, tally) else { return Ok(()) };
    let mut scratch = Tally::default();
    let smallest = program
        .reduced(&mut |smaller| check(smaller, &ways, &mut scratch).is_err_and(|(own, _)| own == kind));
    let detail = check(&smallest, &ways, &mut scratch).err().map(|(_, detail)| detail).unwrap_or_default();
    Err(Box::new(Failure { kind, detail, program: smallest.to_mlir().mlir }))
}

/// Returns the text of case `index`, unmodified.
pub fn text_of_case(seed: u64, index: u64) -> String {
    generate(&mut Random::of_case(seed, index)).to_mlir().mlir
}

type Wrong = (&'static str, String);

/// The checker is asked about one program in this many.
const CHECKED: u64 = 10;

/// The fusion modes of each program: every legal fusion under each alias assumption, and fusion by
/// cost.
const MODES: [(AliasMode, Profitability); 4] = [
    (AliasMode::Version, Profitability::Always),
    (AliasMode::May, Profitability::Always),
    (AliasMode::Distinct, Profitability::Always),
    (AliasMode::Distinct, Profitability::Cost),
];

/// Checks one program under all assumptions on all inputs.
fn check(program: &Program, ways: &[Aliasing], tally: &mut Tally) -> Result<(), Wrong> {
    let text = program.to_mlir();
    caught(|| check_text(program, &text, ways, tally)).unwrap_or_else(|panic| Err(("panic", panic)))
}

/// One program under test, with its runs.
struct Case<'c> {
    ctx: &'c Context,
    program: &'c Program,
    text: &'c Text,
    before: &'c Body,
    runs: &'c [Run],
}

fn check_text(program: &Program, text: &Text, ways: &[Aliasing], tally: &mut Tally) -> Result<(), Wrong> {
    let ctx = &loomir::context();
    let before = &read(ctx, &text.mlir)?;
    let runs = &executions(program, ways, before)?;
    tally.cases += 1;
    tally.undefined += u64::from(runs.is_empty());
    let (mut fused, mut refused) = (false, false);
    let unconfirmed = tally.unconfirmed;
    let versioned = tally.pairs_versioned;
    let (reshaped, by_dependence) = (tally.reshaped_pairs(), tally.pairs_refused_by_dependence());
    let case = Case { ctx, program, text, before, runs };
    for (alias, profitability) in MODES {
        let options = FuseOptions { alias, profitability, ..FuseOptions::default() };
        let report = fused_and_contracted(&case, &options, tally)?;
        fused |= report.fused > 0;
        refused |= report.refused > 0;
    }
    distributed_and_back(ctx, text, runs, tally)?;
    tally.programs_unconfirmed += u64::from(tally.unconfirmed > unconfirmed);
    tally.versioned += u64::from(tally.pairs_versioned > versioned);
    tally.fused += u64::from(fused);
    tally.refused += u64::from(refused);
    tally.mixed += u64::from(fused && refused);
    let now = tally.reshaped_pairs();
    for (programs, (now, before)) in tally.reshaped.iter_mut().zip(now.into_iter().zip(reshaped)) {
        *programs += u64::from(now > before);
    }
    tally.refused_by_dependence += u64::from(tally.pairs_refused_by_dependence() > by_dependence);
    Ok(())
}

/// Fuses a program, then contracts its arrays, then does both at once. Returns the report of the
/// first round of fusion.
fn fused_and_contracted(
    case: &Case<'_>,
    options: &FuseOptions,
    tally: &mut Tally,
) -> Result<FuseReport, Wrong> {
    let &Case { ctx, text, runs, .. } = case;
    // What was assumed must hold.
    let is_distinct = options.alias == AliasMode::Distinct;
    let runs: Vec<&Run> = runs.iter().filter(|run| !is_distinct || run.distinct).collect();
    let mut after = read(ctx, &text.mlir)?;
    // The remarks of a single round refer to the loops of the program.
    let report = loomir::fuse(&mut after, &FuseOptions { max_rounds: 1, ..options.clone() });
    confirmed(case, options, &report, tally)?;
    loomir::fuse(&mut after, options);
    verified(ctx, &after, "not verified")?;
    let printed = loomir::print(&after);
    settled(ctx, &printed, "fused again", &|module| _ = loomir::fuse(module, options))?;
    if tally.cases.is_multiple_of(CHECKED) && report.fused > 0 {
        let limits = ProofOptions { distinct: is_distinct, ..ProofOptions::default() };
        let proved = is_proved([case.before, &after], "kernel", limits);
        tally.asked += 1;
        tally.proved += u64::from(proved.map_err(|error| ("checked", error))?);
    }
    judge_remarks(case, options.alias, &report, tally)?;
    let mode = format!("fused ({:?}, {:?})", options.alias, options.profitability);
    compare(&after, &runs, "different", &format!("{mode}:\n{printed}"), tally)?;
    contracted(ctx, &mut after, &runs, &format!("{mode}:\n{printed}"), tally)?;
    let work = |module: &mut Body| {
        _ = loomir::fuse_and_contract(module, options, &ContractionOptions::default());
    };
    work(&mut after);
    verified(ctx, &after, "fused and contracted, not verified")?;
    let printed = loomir::print(&after);
    settled(ctx, &printed, "fused and contracted again", &work)?;
    compare(&after, &runs, "fused and contracted, different", &printed, tally)?;
    if MODES[(tally.cases % MODES.len() as u64) as usize] == (options.alias, options.profitability) {
        optimized(case, options, &runs, tally)?;
    }
    Ok(report)
}

/// Takes the fastest of several programs.
fn optimized(case: &Case<'_>, options: &FuseOptions, runs: &[&Run], tally: &mut Tally) -> Result<(), Wrong> {
    let mut after = read(case.ctx, &case.text.mlir)?;
    let contraction = ContractionOptions::after(options);
    let program =
        ProgramOptions { contraction: Some(&contraction), optimizes: true, ..ProgramOptions::of(options) };
    let done = loomir::fuse_program(&mut after, &program);
    if done.edits == 0 {
        return Ok(());
    }
    tally.optimized += 1;
    verified(case.ctx, &after, "optimised, not verified")?;
    compare(&after, runs, "optimised, different", &loomir::print(&after), tally)
}

/// Checks that the judge confirmed the fusion. Blocks in doubt are counted, except that an exact
/// test, where one is possible, may leave nothing in doubt and reach no limit.
fn confirmed(
    case: &Case<'_>,
    options: &FuseOptions,
    report: &FuseReport,
    tally: &mut Tally,
) -> Result<(), Wrong> {
    if report.remarks.has_errors() {
        return Err(("judged illegal", report.remarks.to_text(case.ctx)));
    }
    let is_doubt = |remark: &&Diagnostic| remark.message.contains("are not proved legal");
    let words = |remark: &Diagnostic| Diagnostics::from(remark.clone()).to_text(case.ctx);
    if options.alias == AliasMode::Distinct && case.program.is_affine() {
        let is_open = |remark: &&Diagnostic| {
            remark.notes.iter().any(|(_, note)| note.contains("limit was reached")) || is_doubt(remark)
        };
        if let Some(remark) = report.remarks.iter().find(is_open) {
            return Err(("left open", words(remark)));
        }
        tally.affine_confirmed += u64::from(report.fused > 0);
    }
    for remark in report.remarks.iter().filter(is_doubt) {
        tally.unconfirmed += 1;
        *tally.doubts.entry(doubt(remark)).or_default() += 1;
        let words = format!("{:?}, {:?}: {}", options.alias, options.profitability, words(remark));
        tally.doubtful.push((tally.cases, words));
    }
    Ok(())
}

/// Compares what each remark says of a pair of loops with what the runs show.
fn judge_remarks(
    case: &Case<'_>,
    alias: AliasMode,
    report: &FuseReport,
    tally: &mut Tally,
) -> Result<(), Wrong> {
    let &Case { ctx, program, text, runs, .. } = case;
    let exact = alias == AliasMode::Distinct && program.is_affine();
    // The tested assumptions hold wherever the fused loops run.
    let judged: Vec<&Run> = runs.iter().filter(|run| alias == AliasMode::May || run.distinct).collect();
    let mut groups = Groups::new();
    for remark in report.remarks.iter() {
        tally.merged += u64::from(remark.message.ends_with("Conditionals of one condition merged"));
        let Some(said) = Said::of(ctx, remark, text) else {
            // A copy of a whole memref is no loop of the program, so no run shows its time.
            if remark.message.contains("Loops fused") {
                let places = [Some(remark.loc), remark.notes.first().map(|(loc, _)| *loc)];
                groups.reshape(places.into_iter().flatten().filter_map(|loc| loop_at(ctx, loc, text)));
            }
            continue;
        };
        tally.pairs_guarded += u64::from(said.guarded);
        let words = Diagnostics::from(remark.clone()).to_text(ctx);
        let before_this = groups.clone();
        if let Some(change) = said.change {
            tally.pairs_fused += 1;
            match change {
                Change::Interchanged => tally.pairs_interchanged += 1,
                Change::Distributed => tally.pairs_distributed += 1,
                Change::Blocks => tally.pairs_in_blocks += 1,
                Change::Backwards => tally.pairs_reversed += 1,
                Change::Moved => tally.pairs_moved += 1,
            }
        }
        let is_open = |groups: &Groups| [said.first, said.second].iter().any(|id| groups.is_reshaped(*id));
        // If the run-time check fails, the original loops run. Such runs say nothing about the
        // order.
        let is_versioned = said.versioned && said.change.is_none();
        tally.pairs_fused += u64::from(is_versioned);
        tally.pairs_versioned += u64::from(said.versioned);
        if said.change.is_some() || is_versioned || (said.reason.is_none() && is_open(&groups)) {
            let nests = [said.first, said.second].map(|id| nest_of(&program.body, id, false));
            groups.reshape(nests.concat());
            continue;
        }
        judge(&said, exact, &mut groups, &judged, &words, tally)?;
        if said.reason.is_none()
            && is_parallel(&program.body, said.first)
            && is_parallel(&program.body, said.second)
        {
            stays_parallel(&said, &before_this, &judged, &words)?;
        }
    }
    Ok(())
}

/// Contracts the arrays of a fused program, shown as `fused`, and compares its outcome.
fn contracted(
    ctx: &Context,
    after: &mut Body,
    runs: &[&Run],
    fused: &str,
    tally: &mut Tally,
) -> Result<(), Wrong> {
    let report = loomir::contract(after, &ContractionOptions::default());
    tally.loads_forwarded += report.forwarded as u64;
    tally.stores_erased += report.stores_erased as u64;
    tally.arrays_erased += report.arrays_erased as u64;
    tally.arrays_folded += report.arrays_folded as u64;
    verified(ctx, after, "contracted, not verified")?;
    let shown = format!("{fused}contracted:\n{}", loomir::print(after));
    compare(after, runs, "contracted, different", &shown, tally)
}

/// Repeats the work on the printed result. The second time must change nothing, except that reading
/// simplifies maps.
fn settled(ctx: &Context, printed: &str, kind: &'static str, work: &dyn Fn(&mut Body)) -> Result<(), Wrong> {
    let mut module = read(ctx, printed)?;
    let printed = loomir::print(&module);
    work(&mut module);
    let again = loomir::print(&module);
    if again == printed { Ok(()) } else { Err((kind, format!("{printed}becomes\n{again}"))) }
}

/// Returns the doubtful property of an unconfirmed block.
fn doubt(remark: &Diagnostic) -> &'static str {
    let known = [
        ("limit was reached", "limit"),
        ("the trip count of this loop is not known", "extent"),
        ("hands values on", "carried"),
        ("which is not there", "unavailable"),
        ("this could be first", "order"),
        ("could not run", "lost"),
        ("could run more than once", "repeated"),
        ("could run and did not", "added"),
    ];
    let says = |words: &str| remark.notes.iter().any(|(_, note)| note.contains(words));
    known.into_iter().find(|(words, _)| says(words)).map_or("assumed", |(_, name)| name)
}

/// Distributes all loops where legal, with and without scalar expansion. Then fuses and contracts
/// the result.
fn distributed_and_back(ctx: &Context, text: &Text, runs: &[Run], tally: &mut Tally) -> Result<(), Wrong> {
    let runs: Vec<&Run> = runs.iter().collect();
    for (expand, alias) in [(Expand::Cost, AliasMode::Version), (Expand::UpTo(2), AliasMode::May)] {
        let mut after = read(ctx, &text.mlir)?;
        let options = DistributeOptions { alias, expand, ..DistributeOptions::default() };
        let report = loomir::distribute(&mut after, &options);
        tally.loops_distributed += report.distributed as u64;
        tally.values_expanded += report.expanded as u64;
        if report.distributed == 0 {
            continue;
        }
        let distributed = loomir::print(&after);
        verified(ctx, &after, "distributed, not verified")?;
        compare(&after, &runs, "distributed, different", &distributed, tally)?;
        loomir::fuse(&mut after, &FuseOptions { alias, ..FuseOptions::default() });
        loomir::contract(&mut after, &ContractionOptions::default());
        verified(ctx, &after, "distributed and fused, not verified")?;
        let shown = format!("{distributed}fused:\n{}", loomir::print(&after));
        compare(&after, &runs, "distributed and fused, different", &shown, tally)?;
    }
    Ok(())
}

fn verified(ctx: &Context, module: &Body, kind: &'static str) -> Result<(), Wrong> {
    let errors = verifier::verify(module);
    if errors.has_errors() { Err((kind, errors.to_text(ctx))) } else { Ok(()) }
}

/// Runs the changed program, shown as `changed`, and compares its outcome with the original's.
fn compare(
    after: &Body,
    runs: &[&Run],
    kind: &'static str,
    changed: &str,
    tally: &mut Tally,
) -> Result<(), Wrong> {
    let mut twin: Option<Body> = None;
    for run in runs {
        if let Some((input, expected)) = &run.twin {
            let module = match twin.take() {
                Some(module) => module,
                None => read(after.ctx(), &integers(&loomir::print(after)))?,
            };
            let ending = call(&module, "kernel", input, &limits()).map_err(|e| ("twin not executed", e))?;
            tally.twins += 1;
            if ending != *expected {
                let (before, after) = (show(expected), show(&ending));
                let input = input.join("' '");
                return Err((
                    kind,
                    format!("as integers: '{input}'\nbefore: {before}after: {after}{changed}"),
                ));
            }
            twin = Some(module);
        }
        let ending = call(after, "kernel", &run.input, &limits()).map_err(|e| ("not executed", e))?;
        tally.runs += 1;
        if closed(&ending, &run.trace) != closed(&run.ending, &run.trace) {
            let (before, after) = (show(&run.ending), show(&ending));
            let input = run.input.join("' '");
            return Err((kind, format!("'{input}'\nbefore: {before}after: {after}{changed}")));
        }
    }
    Ok(())
}

/// Returns the end of a run without the numbers that may be rounded differently.
fn closed(ending: &Ending, run: &Execution) -> Ending {
    let mut ending = ending.clone();
    let Ending::Returned(outcome) = &mut ending else { return ending };
    let (arguments, results) = &run.open;
    for (result, is_open) in outcome.results.iter_mut().zip(results) {
        if let (Output::Number(number), true) = (result, is_open) {
            number.bits = 0;
        }
    }
    for ((_, buffer), open) in outcome.buffers.iter_mut().zip(arguments) {
        if let Output::Contents(contents) = buffer {
            let numbers = contents.numbers.iter_mut().zip(open).filter(|(_, is_open)| **is_open);
            numbers.for_each(|(number, _)| number.bits = 0);
        }
    }
    ending
}

fn limits() -> Limits {
    Limits { steps: 5_000_000, ..Limits::default() }
}

/// Runs `f` and converts a panic to its message.
fn caught<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        text.or_else(|| payload.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default()
    })
}

fn read(ctx: &Context, text: &str) -> Result<Body, Wrong> {
    loomir::parse(ctx, text, "kernel.mlir").map_err(|errors| ("not read", errors.to_text(ctx)))
}

/// A defined run of the original.
struct Run {
    input: Input,
    ending: Ending,
    trace: Execution,
    /// The call of its twin and its end, if the program has sums that may be reassociated.
    twin: Option<(Input, Ending)>,
    /// True if all arguments are different buffers.
    distinct: bool,
}

/// Runs the original on every input, in the interpreter and by the program's own rules. Both must
/// agree.
fn executions(program: &Program, ways: &[Aliasing], module: &Body) -> Result<Vec<Run>, Wrong> {
    let has_twin = program.element == Element::F32 && program.style.flags;
    let twin = match has_twin {
        true => Some((read(module.ctx(), &integers(&program.to_mlir().mlir))?, program.with_integers())),
        false => None,
    };
    let fewer: Vec<i64> = program.parameters.iter().map(|p| p - 1).collect();
    let mut runs = Vec::new();
    let mut all = vec![program.parameters.clone(), fewer];
    // The order of two parameters decides which version runs.
    if let [first, second] = program.parameters[..] {
        all.extend([vec![first.min(second); 2], vec![first, 0]]);
    }
    for parameters in &all {
        for way in ways {
            let input = input(program, parameters, way);
            let ending = call(module, "kernel", &input, &limits()).map_err(|e| ("not executed", e))?;
            let distinct = way.0.iter().enumerate().all(|(i, same)| i == *same);
            match (program.execute(parameters, way), ending) {
                (Err(_), Ending::Unspecified(_)) | (Err(POISON | ROUNDED), _) => {}
                (Ok(trace), Ending::Returned(outcome)) => {
                    let ending = Ending::Returned(outcome);
                    if let Some(difference) = differs(program, &trace, &ending) {
                        return Err(("interpreter", format!("{}: {difference}", input.join(" "))));
                    }
                    let twin = match &twin {
                        Some((module, program)) => {
                            let input = self::input(program, parameters, way);
                            let ending = call(module, "kernel", &input, &limits());
                            Some((input, ending.map_err(|e| ("twin not executed", e))?))
                        }
                        None => None,
                    };
                    runs.push(Run { input, ending, trace, twin, distinct });
                }
                (own, ending) => {
                    let expected = own.map_or_else(|e| e.to_owned(), |_| "a return".into());
                    let input = input.join("' '");
                    return Err((
                        "interpreter",
                        format!("'{input}': expected {expected}, got {}", show(&ending)),
                    ));
                }
            }
        }
    }
    Ok(runs)
}

/// Returns the arguments of a call, as text.
fn input(program: &Program, parameters: &[i64], way: &Aliasing) -> Input {
    let mut input: Input = parameters.iter().map(i64::to_string).collect();
    for (i, memref) in program.argument_memrefs().enumerate() {
        let shape = &program.memrefs[memref].shape;
        input.push(match way.0.get(i) {
            Some(same) if *same != i => format!("@{}", same + parameters.len()),
            _ => {
                let values = program.initial(i, shape.iter().product());
                let texts: Vec<String> = values.iter().map(|v| program.element.literal(*v)).collect();
                nested(&texts, shape)
            }
        });
    }
    input
}

fn nested(texts: &[String], shape: &[i64]) -> String {
    match shape {
        [] | [_] => format!("[{}]", texts.join(", ")),
        [_, inner @ ..] => {
            let size = inner.iter().product::<i64>().max(1) as usize;
            let rows: Vec<String> = texts.chunks(size).map(|row| nested(row, inner)).collect();
            format!("[{}]", rows.join(", "))
        }
    }
}

/// Returns the first difference between the interpreter and the program's own executor.
fn differs(program: &Program, own: &Execution, ending: &Ending) -> Option<String> {
    let Ending::Returned(outcome) = ending else { return None };
    let number = |value: i64| match program.element {
        crate::program::Element::I64 => u128::from(value as u64),
        _ => u128::from(value as u32),
    };
    let numbers = |output: &Output| match output {
        Output::Number(n) => vec![n.bits],
        Output::Contents(contents) => contents.numbers.iter().map(|n| n.bits).collect(),
        _ => Vec::new(),
    };
    let results: Vec<u128> = outcome.results.iter().flat_map(numbers).collect();
    let expected: Vec<u128> = own.results.iter().map(|v| number(*v)).collect();
    if results != expected {
        return Some(format!("results are {results:?}, expected {expected:?}"));
    }
    for ((position, buffer), expected) in outcome.buffers.iter().zip(&own.arguments) {
        let (found, expected): (Vec<u128>, Vec<u128>) =
            (numbers(buffer), expected.iter().map(|v| number(*v)).collect());
        if found != expected {
            return Some(format!("argument {position} holds {found:?}, expected {expected:?}"));
        }
    }
    None
}

/// A change of one of two loops before their fusion.
#[derive(Clone, Copy)]
enum Change {
    Interchanged,
    Distributed,
    Backwards,
    Blocks,
    /// Equal values of the variables come together, or one loop runs behind the other. A trace does
    /// not know values.
    Moved,
}

impl Change {
    /// Parses the change at the start of a remark's text. Returns the change and the rest of the
    /// text.
    fn of(message: &str) -> (Option<Change>, &str) {
        let known = [
            (", the first run backwards", Change::Backwards),
            (", the loops of the first interchanged", Change::Interchanged),
            (", the loops of the second interchanged", Change::Interchanged),
            (", a part of the first", Change::Distributed),
            (", a part of the second", Change::Distributed),
        ];
        if message.contains("concatenated") {
            return (Some(Change::Moved), "");
        }
        if let Some(rest) = message.strip_prefix(" at equal values of the induction variables") {
            return (Some(Change::Moved), rest);
        }
        let found =
            known.into_iter().find_map(|(words, change)| Some((change, message.strip_prefix(words)?)));
        let in_blocks = || {
            let (size, rest) = message.strip_prefix(", ")?.split_once(" iterations of the ")?;
            let rest = rest.split_once(" at a time")?.1;
            size.parse::<u64>().is_ok().then_some((Change::Blocks, rest))
        };
        found.or_else(in_blocks).map_or((None, message), |(change, rest)| (Some(change), rest))
    }
}

/// The content of a remark about two loops.
struct Said {
    first: LoopId,
    second: LoopId,
    /// `None`: they were fused.
    reason: Option<String>,
    /// The change of one of the loops before fusion.
    change: Option<Change>,
    /// The shift of the second loop in iterations.
    shift: u64,
    /// True if the second loop runs backwards.
    backwards: bool,
    /// True if all iterations of both loops are merged.
    whole: bool,
    /// True if the reason is a dependence through elements of one object.
    by_dependence: bool,
    /// True if the dependence is certain.
    certain: bool,
    /// The operations between the loops cannot move, because they access an element in common:
    /// first with other operations before them or with the first loop, second with the second loop.
    in_the_way: [bool; 2],
    /// The loops run fused only under a run-time condition on numbers.
    versioned: bool,
    /// One of the loops was the whole body of a conditional.
    guarded: bool,
}

impl Said {
    fn of(ctx: &Context, remark: &Diagnostic, text: &Text) -> Option<Said> {
        if remark.message.contains("not concatenated") {
            return None;
        }
        let second = loop_at(ctx, remark.loc, text)?;
        let first = loop_at(ctx, remark.notes.first()?.0, text)?;
        let reason = remark.message.split_once("not fused [").and_then(|(_, rest)| rest.split_once(']'));
        let reason = reason.map(|(reason, _)| reason.to_owned());
        let how = remark.message.split_once("Loops fused").map_or("", |(_, how)| how);
        let how = if remark.message.contains("concatenated") { "concatenated" } else { how };
        let (change, way) = Change::of(how);
        let shift = shift(way)?;
        let backwards = way == ", the second run backwards";
        let whole = way.is_empty() || backwards;
        let says = |what: &str| remark.notes.iter().any(|(_, note)| note.contains(what));
        // For parallel loops the remark is about every order; a run shows only one.
        let in_order = !remark.message.contains("any order") && !remark.message.contains("at equal values");
        let in_the_way =
            ["before the first, this would be first", "before it, this would be first"].map(says);
        let is_between = reason.as_deref() == Some("NonAdjacent");
        let by_dependence =
            in_order && !is_between && (says(" element [") || says("one that may be the same"));
        let certain = in_order && says("this would be first");
        let versioned = says("assumes ");
        let guarded = says("this condition is asked inside");
        Some(Said {
            first,
            second,
            reason,
            change,
            shift,
            backwards,
            whole,
            by_dependence,
            certain,
            in_the_way,
            versioned,
            guarded,
        })
    }
}

/// Returns the loop of the program at a place.
fn loop_at(ctx: &Context, loc: Loc, text: &Text) -> Option<LoopId> {
    let (_, line, _) = loc.file_line_col(ctx)?;
    text.lines.iter().find(|(_, own)| **own == line).map(|(id, _)| *id)
}

/// Returns the shift that a remark on fused loops names, in the words behind `Loops fused`.
fn shift(way: &str) -> Option<u64> {
    match way.strip_prefix(", the second ") {
        None => Some(0),
        Some("one iteration later") => Some(1),
        Some("run backwards") => Some(0),
        Some(rest) => rest.strip_suffix(" iterations later")?.parse().ok(),
    }
}

/// Checks the fusion of two parallel loops against the traces. No iteration of one may write
/// elements that a later iteration of the other touches, or the other way round.
fn stays_parallel(said: &Said, groups: &Groups, runs: &[&Run], words: &str) -> Result<(), Wrong> {
    let across = |run: &&Run| groups.turned_around(&run.trace.trace, said.second, said.first, 0);
    match runs.iter().find_map(across) {
        None => Ok(()),
        Some((p, q)) => {
            let detail =
                format!("fused, though iteration {p} of the second depends on {q} of the first\n{words}");
            Err(("in order", detail))
        }
    }
}

/// Checks a remark against the traces. `words` are the words of the remark, for messages. With
/// `exact`, an exact test can be right about the pair.
fn judge(
    said: &Said,
    exact: bool,
    groups: &mut Groups,
    runs: &[&Run],
    words: &str,
    tally: &mut Tally,
) -> Result<(), Wrong> {
    if said.backwards {
        tally.pairs_reversed += 1;
        groups.join_reversed(said.first, said.second);
        return Ok(());
    }
    let turned = |run: &&Run| groups.turned_around(&run.trace.trace, said.first, said.second, said.shift);
    let witness = runs.iter().find_map(turned);
    match (&said.reason, witness) {
        (None, Some((p, q))) => {
            let detail =
                format!("fused, though time {p} of the first comes before {q} of the second\n{words}");
            return Err(("dependence turned around", detail));
        }
        (None, None) => {
            tally.pairs_fused += 1;
            tally.pairs_shifted += u64::from(said.shift > 0);
            tally.pairs_cut += u64::from(said.shift == 0 && !said.whole);
            groups.join(said.first, said.second, said.shift, said.whole);
        }
        (Some(reason), witness) => {
            *tally.reasons.entry(reason.clone()).or_default() += 1;
            let judged = !groups.has_backwards(said.first)
                && !groups.is_reshaped(said.first)
                && !groups.is_reshaped(said.second)
                && !runs.iter().any(|run| groups.is_inside_cut(&run.trace.trace, said.first));
            if said.in_the_way != [false; 2] && exact && judged && !runs.is_empty() {
                tally.affine_in_the_way += 1;
                let found = runs.iter().fold([false; 2], |found, run| {
                    let own = groups.in_the_way(&run.trace.trace, said.first, said.second);
                    [found[0] || own[0], found[1] || own[1]]
                });
                if said.in_the_way.iter().zip(found).any(|(said, found)| *said && !found) {
                    let kind = "in the way without cause";
                    return Err((kind, format!("no run has such an element\n{words}")));
                }
            }
            if said.by_dependence && exact && judged && !runs.is_empty() {
                tally.affine_refusals += 1;
                if witness.is_none() {
                    let kind = if said.certain { "certain without cause" } else { "refused without need" };
                    return Err((kind, format!("no run has this dependence\n{words}")));
                }
            }
        }
    }
    Ok(())
}
