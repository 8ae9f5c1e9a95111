//! Random programs before and after their loops become parallel, operations on vectors, and both.
//!
//! Both programs are executed, and a race of two iterations is a difference. Without one, any order
//! and overlap of the iterations computes the same. So that this does not rest on the search for
//! races alone, each changed program with a parallel loop also runs in a random interleaving.
//! Results are compared bit for bit. Sums of floats that may be reordered add small whole numbers,
//! so that no order rounds.
//!
//! Three of four programs are made for this: loops that combine values, with conditions that
//! differ from iteration to iteration, and strided, reversed, indexed and guarded accesses. The
//! others are those of the other campaigns. One in ten is lowered, and `lli` computes a sum over
//! its memory.

use loomir::dialects::interp::Limits;
use loomir::ir::Body;

use crate::behaviour::{Agreement, Ending, Input, call, same_interleaved, show};
use crate::check::Checker;
use crate::peers::Peer;
use crate::pipelines::{Case, Comparison};
use crate::random::Random;

mod write;

/// The numbers of compared programs and runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Programs.
    pub cases: u64,
    /// Programs with a loop that became parallel.
    pub parallel: usize,
    /// Programs with operations on vectors, counted once for each pipeline.
    pub vectorized: usize,
    /// Of those, programs with masks.
    pub masked: usize,
    /// Of those, programs with gathers or scatters.
    pub gathered: usize,
    /// Of the programs with operations on vectors, those that combine lanes.
    pub combined: usize,
    /// Defined calls that were compared before and after a pipeline.
    pub compared: usize,
    /// Calls that are not.
    pub skipped: usize,
    /// Runs of changed programs in random interleavings.
    pub interleaved: usize,
    /// Programs that `lli` ran.
    pub native: usize,
}

/// One program in this many is another campaign's.
const REGULAR: u64 = 4;
/// One program in this many is lowered.
const LOWERED: u64 = 10;
/// The numbers of lanes.
const LANES: [usize; 8] = [2, 2, 3, 4, 5, 8, 16, MANY_LANES];
/// With so many lanes, one access a lane is too many for `lli` and for the pairs of accesses that
/// the judge asks about.
const MANY_LANES: usize = 256;

/// Runs the programs of these numbers before and after random pipelines. Without `lli`, no program
/// is run as machine code.
///
/// # Errors
/// The first call that behaves differently afterwards, with the program.
pub fn run(
    seed: u64,
    (first, count): (u64, u64),
    lli: Option<&Peer>,
    tally: &mut Tally,
) -> Result<(), String> {
    let checker = Checker::default();
    for index in first..first + count {
        let mut random = Random::of_case(seed, index);
        let failed = |error: String| format!("case {index}: {error}");
        match index % REGULAR {
            0 => regular(&checker, &mut random, tally).map_err(failed)?,
            _ => {
                let lli = lli.filter(|_| index % LOWERED == 1);
                made(&checker, &mut random, lli, tally).map_err(failed)?;
            }
        }
        tally.cases += 1;
    }
    Ok(())
}

/// Returns the text of one program made for this campaign.
pub fn program(seed: u64, index: u64) -> String {
    write::program(&mut Random::of_case(seed, index)).0
}

/// Returns the pipelines that are compared, and true if the first one makes few lanes.
fn pipelines(random: &mut Random, alias: &str) -> ([String; 4], bool) {
    let (lanes, level) = (*random.pick(&LANES), usize::from(random.chance(25)));
    let remainder = *random.pick(&["loop", "mask"]);
    let gathers = *random.pick(&["none", "masked", "all"]);
    let options = format!("lanes={lanes} level={level} remainder={remainder} gathers={gathers}");
    let vectors = format!("loop-vectorize{{{options} alias={alias}}}");
    let parallel = format!("loop-parallelize{{min-cycles=0 alias={alias}}}");
    let both = match lanes {
        MANY_LANES => format!("{parallel},{vectors}"),
        _ => format!("{vectors},{parallel}"),
    };
    let clean = format!("{vectors},canonicalize,cse");
    let all = [vectors, parallel, both, clean].map(|passes| format!("builtin.module(func.func({passes}))"));
    (all, lanes != MANY_LANES)
}

/// Returns the seeds of the interleavings in which a changed program runs.
fn seeds(random: &mut Random, changed: &str) -> Vec<u64> {
    if is_parallel(changed) { vec![random.bits()] } else { Vec::new() }
}

fn is_parallel(changed: &str) -> bool {
    changed.contains("affine.parallel") || changed.contains("scf.parallel")
}

fn regular(checker: &Checker, random: &mut Random, tally: &mut Tally) -> Result<(), String> {
    let mut case = Case::regular(checker, random)?;
    for pipeline in pipelines(random, "may").0 {
        let changed = case.transformed(checker, &pipeline)?;
        case.seeds = seeds(random, &changed);
        let comparison = case.compare(checker, &pipeline, &changed, None)?;
        let Comparison { compared, skipped, interleaved, .. } = comparison;
        tally.add(&changed, Agreement { compared, skipped, interleaved });
    }
    Ok(())
}

fn made(checker: &Checker, random: &mut Random, lli: Option<&Peer>, tally: &mut Tally) -> Result<(), String> {
    let (text, calls) = write::program(random);
    let failed = |what: &str, error: String| format!("{what}: {error}\n{text}");
    let before = checker.read(&text).map_err(|errors| failed("as it is", checker.lines(&errors)))?;
    let (all, is_few) = pipelines(random, "distinct");
    for pipeline in &all {
        let after = checker.transformed(pipeline, &text);
        let (after, _) = after.map_err(|errors| failed(pipeline, checker.lines(&errors)))?;
        let printed = loomir::print(&after);
        let differs = |error| failed(pipeline, format!("{error}\n{printed}"));
        let (seeds, limits) = (seeds(random, &printed), Limits::default());
        let agreement = same_interleaved(&before, &after, "kernel", &calls, &limits, &seeds);
        tally.add(&printed, agreement.map_err(differs)?);
    }
    // The functions that round to 'bf16' are not in `lli`.
    if let (Some(lli), [vectors, ..]) = (lli.filter(|_| is_few && !text.contains("bf16")), &all) {
        let after = checker.transformed(vectors, &text);
        let (after, _) = after.map_err(|errors| failed(vectors, checker.lines(&errors)))?;
        let ran = native(checker, &before, &after, lli);
        tally.native += usize::from(ran.map_err(|error| {
            failed(vectors, format!("as machine code: {error}\n{}", loomir::print(&after)))
        })?);
    }
    Ok(())
}

/// Compares what `lli` prints for the changed program with what the interpreter computes for the
/// original one. Returns false if the call is not defined.
fn native(checker: &Checker, before: &Body, after: &Body, lli: &Peer) -> Result<bool, String> {
    let expected = call(before, "sum", &Input::new(), &Limits::default())?;
    let Ending::Returned(outcome) = &expected else { return Ok(false) };
    let words = outcome.to_text();
    let ll = loomir::to_ll(after).map_err(|errors| checker.lines(&errors))?;
    let main = "@format = private constant [5 x i8] c\"%ld\\0A\\00\"\ndeclare i32 @printf(ptr, ...)\n\
                define i32 @main() {\n  %sum = call i64 @sum()\n  \
                %done = call i32 (ptr, ...) @printf(ptr @format, i64 %sum)\n  ret i32 0\n}\n";
    let printed = lli.run(&format!("{ll}\n{main}"), &["-"])?;
    match words.split_whitespace().any(|word| word == printed.trim()) {
        true => Ok(true),
        false => Err(format!("expected {}, and lli printed {printed}", show(&expected))),
    }
}

impl Tally {
    fn add(&mut self, changed: &str, agreement: Agreement) {
        self.parallel += usize::from(is_parallel(changed));
        self.vectorized += usize::from(changed.contains("vector<"));
        self.masked += usize::from(changed.contains("xi1>"));
        self.gathered +=
            usize::from(["vector.gather", "vector.scatter"].iter().any(|own| changed.contains(own)));
        self.combined += usize::from(
            changed.lines().any(|line| line.contains("vector.reduction") && !line.contains("xi1>")),
        );
        self.compared += agreement.compared;
        self.skipped += agreement.skipped;
        self.interleaved += agreement.interleaved;
    }
}
