//! Compares two functions by executing both on generated inputs.
//!
//! An input on which the first function is undefined requires nothing of the second and is skipped.
//! On all others the second function must end in the same way, return the same results and leave
//! the same contents in every buffer. Numbers are compared bit by bit; any NaN equals any NaN.
//!
//! A difference is certain unless the first function leaves its results open: by fast-math flags,
//! by `freeze` of poison, by parallel iterations that race. Such differences are *doubtful*, and a
//! doubtful difference decides nothing ([`doubts`]).
//!
//! | module | holds |
//! | --- | --- |
//! | [`input`] | one input: its arguments, and the text that `loomir run` takes |
//! | [`parameters`] | the parameters of a function, as far as inputs can be made for them |
//! | [`generate`] | the inputs of a function, in the order in which they are tried |
//! | [`difference`] | the first difference of two endings |
//! | [`shrink`] | a smaller input with the same difference |
//! | [`instance`] | the operation and the iterations that wrote an element last |
//!
//! **Cost.** Bounded by [`Options`]: a number of inputs, and of interpreter steps. Never by time.

use loomir_dialects::interp::{self, ArgSpec, Fault, FaultKind, Limits, Outcome, Parts, Watch};
use loomir_ir::{Body, Op};

pub mod difference;
pub mod doubts;
pub mod generate;
pub mod input;
pub mod instance;
pub mod parameters;
pub mod shrink;

use difference::{Difference, Place};
use input::Input;
use instance::Instance;
use parameters::Parameter;

/// Bounds of a comparison, and assumptions that it may make.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Two buffers among the arguments never overlap.
    pub distinct: bool,
    /// One function is lowered and the other is not. There several results are one struct, and a
    /// failed assertion prints.
    pub of_two_levels: bool,
    /// The most inputs that are tried.
    pub inputs: usize,
    /// The most steps of one run of the first function.
    pub steps: u64,
    /// The most steps of all runs of the first function together.
    pub total_steps: u64,
}

impl Default for Options {
    /// 480 inputs, one million steps each, twenty million together.
    fn default() -> Options {
        Options {
            distinct: false,
            of_two_levels: false,
            inputs: 480,
            steps: 1_000_000,
            total_steps: 20_000_000,
        }
    }
}

/// One of the two functions.
#[derive(Clone, Copy, Debug)]
pub struct Side<'s> {
    /// The module around the function.
    pub module: &'s Body,
    /// The symbols that the function may reach; all of the module if absent.
    pub symbols: Option<&'s [Op]>,
    /// The name of the function.
    pub name: &'s str,
}

/// The number of inputs that were tried, by what came of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tried {
    /// Both functions were executed, and compared.
    pub executed: usize,
    /// The first function is undefined.
    pub undefined: usize,
    /// The first function takes more steps or memory than it may.
    pub limited: usize,
}

/// The outcome of a comparison.
#[derive(Clone, Debug)]
pub enum Compared {
    /// No difference was found.
    Alike,
    /// A difference that is certain.
    Different(Box<Counterexample>),
    /// A difference that the first function allows, or that cannot be judged: the reason.
    Doubtful(String),
    /// An operation cannot be executed, or no input can be made: the reason.
    Impossible(String),
}

/// An input on which two functions differ.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// The arguments, as `loomir run` takes them.
    pub arguments: Vec<String>,
    /// The first difference.
    pub difference: Difference,
    /// The instances that wrote the element last, before and after, if an element differs.
    pub writers: [Option<Instance>; 2],
}

/// The end of a run, as far as it is compared.
#[derive(Clone, PartialEq, Debug)]
pub enum Ending {
    /// The function returned.
    Returned(Outcome),
    /// The program ended itself, and left this behind.
    Trapped(Option<Outcome>),
}

/// Compares two functions of equal signature by executing both. `parameters` are those of the
/// function as its user sees it; they may be memrefs where the function has pointers.
pub fn compare(
    before: Side<'_>,
    after: Side<'_>,
    parameters: &[Parameter],
    options: &Options,
) -> (Compared, Tried) {
    let mut pair = Pair {
        before,
        after,
        left: options.total_steps,
        steps: options.steps,
        is_patient: true,
        of_two_levels: options.of_two_levels,
    };
    let mut tried = Tried::default();
    let mut doubt = None;
    for input in generate::inputs(parameters, options.distinct).into_iter().take(options.inputs) {
        match pair.run(&input) {
            Ran::Alike => tried.executed += 1,
            Ran::Undefined => tried.undefined += 1,
            Ran::Limited => tried.limited += 1,
            Ran::Unfit => {}
            Ran::Impossible(reason) => return (Compared::Impossible(reason), tried),
            Ran::Doubtful(reason) => {
                tried.executed += 1;
                doubt = doubt.or(Some(reason));
            }
            Ran::Different(difference) => {
                tried.executed += 1;
                match doubts::about(before, &input, &difference) {
                    Some(reason) => doubt = doubt.or(Some(reason)),
                    None => return (Compared::Different(Box::new(pair.explain(input))), tried),
                }
            }
        }
        if pair.left == 0 {
            break;
        }
    }
    (doubt.map_or(Compared::Alike, Compared::Doubtful), tried)
}

/// The outcome of one input.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Ran {
    Alike,
    Different(Difference),
    /// The first function is undefined.
    Undefined,
    /// The first function reaches a limit.
    Limited,
    /// The arguments do not fit the function.
    Unfit,
    Impossible(String),
    /// They differ perhaps, but the interpreter cannot tell: the reason.
    Doubtful(String),
}

/// Two functions that are executed side by side.
pub(crate) struct Pair<'p> {
    pub(crate) before: Side<'p>,
    after: Side<'p>,
    /// Steps that the first function may still take, in all runs.
    left: u64,
    steps: u64,
    /// The second function gets more time before it counts as one that does not end.
    is_patient: bool,
    of_two_levels: bool,
}

/// The second function may take so many times the steps of the first one.
const SLOWDOWN: u64 = 64;
/// And so many more.
const ADDED_STEPS: u64 = 100_000;
/// And so many times these before it counts as one that does not end.
const PATIENCE: u64 = 100;
/// Bytes that a run may use.
const MEMORY: u64 = 1 << 26;
/// Calls that may be active at once.
const CALL_DEPTH: usize = 512;
/// Steps that making an input and a module cost at least, so that runs of no steps are bounded too.
const STEPS_OF_A_RUN: u64 = 1_000;

impl Pair<'_> {
    /// Executes both functions on an input and compares the endings.
    pub(crate) fn run(&mut self, input: &Input) -> Ran {
        let limits = Limits { steps: self.steps.min(self.left), call_depth: CALL_DEPTH, memory: MEMORY };
        let interp::Ran { outcome, steps, .. } = execute(self.before, input, &limits, None);
        self.left = self.left.saturating_sub(steps.max(STEPS_OF_A_RUN));
        let expected = match ending(self.before, outcome) {
            Ok(ending) => ending,
            Err((FaultKind::Limit, _)) => return Ran::Limited,
            Err((FaultKind::Arguments, _)) => return Ran::Unfit,
            Err((FaultKind::Unsupported, reason)) => return Ran::Impossible(reason),
            Err(_) => return Ran::Undefined,
        };
        let steps = steps.saturating_mul(SLOWDOWN).saturating_add(ADDED_STEPS);
        let mut limits = Limits { steps, ..limits };
        let mut actual = execute(self.after, input, &limits, None).outcome;
        if self.is_patient && is_out_of_steps(&actual) {
            limits.steps = limits.steps.saturating_mul(PATIENCE);
            actual = execute(self.after, input, &limits, None).outcome;
        }
        if let Err(fault) = &actual
            && let Some(reason) = doubts::about_fault(fault)
        {
            return Ran::Doubtful(reason);
        }
        match ending(self.after, actual) {
            Ok(actual) => {
                difference::between(&expected, &actual, self.of_two_levels).map_or(Ran::Alike, Ran::Different)
            }
            Err((FaultKind::Unsupported, reason)) => Ran::Impossible(reason),
            Err((FaultKind::Arguments, _)) => Ran::Unfit,
            Err((kind, reason)) => Ran::Different(Difference {
                place: Place::Ending,
                before: difference::named(&expected).into(),
                after: match kind {
                    FaultKind::Limit => format!("takes more than {} steps: {reason}", limits.steps),
                    _ => format!("is undefined: {reason}"),
                },
            }),
        }
    }

    /// Shrinks an input on which the functions differ, and says all that is known of the
    /// difference.
    fn explain(mut self, input: Input) -> Counterexample {
        self.left = self.left.max(self.steps);
        // Each step of a search for a smaller input would wait for a loop without end.
        self.is_patient = false;
        let (mut small, mut difference) = shrink::shrink(&mut self, input.clone());
        self.is_patient = true;
        if difference.place == Place::Ending {
            self.left = self.left.max(self.steps);
            match self.run(&small) {
                Ran::Different(confirmed) => difference = confirmed,
                _ => small = input,
            }
        }
        let input = small;
        let watch = match &difference.place {
            Place::Element { argument, index, .. } => Some(Watch { argument: *argument, element: *index }),
            _ => None,
        };
        let writer = |side: Side<'_>| {
            let limits = Limits { steps: self.steps * SLOWDOWN, call_depth: CALL_DEPTH, memory: MEMORY };
            instance::of(side.module, &execute(side, &input, &limits, watch).written)
        };
        let writers = [writer(self.before), writer(self.after)];
        Counterexample { arguments: input.to_texts(), difference, writers }
    }
}

/// True if a run ended because it took too many steps.
fn is_out_of_steps(outcome: &Result<Outcome, Box<Fault>>) -> bool {
    matches!(outcome, Err(fault) if fault.kind == FaultKind::Limit && doubts::about_fault(fault).is_none())
}

/// Executes one function on an input.
pub(crate) fn execute(side: Side<'_>, input: &Input, limits: &Limits, watch: Option<Watch>) -> interp::Ran {
    let ctx = side.module.ctx();
    let texts = input.to_texts();
    let specs: Result<Vec<ArgSpec>, _> = texts.iter().map(|text| ArgSpec::parse(ctx, text)).collect();
    let parts = Parts { module: side.module, symbols: side.symbols };
    match specs {
        Ok(specs) => interp::run_parts(parts, side.name, &specs, limits, watch),
        Err(fault) => interp::Ran { outcome: Err(fault), written: Vec::new(), steps: 0 },
    }
}

/// Returns the end of a run, or the kind of fault and its text.
fn ending(side: Side<'_>, outcome: Result<Outcome, Box<Fault>>) -> Result<Ending, (FaultKind, String)> {
    match outcome {
        Ok(outcome) => Ok(Ending::Returned(outcome)),
        Err(fault) if fault.kind == FaultKind::Trap => Ok(Ending::Trapped(fault.left)),
        Err(fault) => {
            let place = fault.diagnostic.loc.file_line_col(side.module.ctx());
            let place = place.map(|(file, line, column)| format!(" ({file}:{line}:{column})"));
            Err((fault.kind, fault.diagnostic.message + &place.unwrap_or_default()))
        }
    }
}
