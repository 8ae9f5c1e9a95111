//! Equivalence of two programs by execution. Both run in the reference interpreter, and their
//! outcomes are compared.
//!
//! An undefined run of the original requires nothing. Otherwise the other program must end the same
//! way: with equal results, or both with a trap, and with equal contents of every buffer. Its
//! parallel iterations may race only if those of the original do. [`same_interleaved`] also runs
//! them in random interleavings. Inputs are generated from the signature. Some of them pass one
//! buffer as several arguments, because a transformation that assumes distinct arguments is wrong.

use loomir::dialects::interp::{self, ArgSpec, Fault, FaultKind, Interleaving, Limits, Outcome};
use loomir::ir::{Body, Context, Type, TypeKind};

use crate::random::Random;

/// The arguments of one call, in the syntax of `loomir run`.
pub type Input = Vec<String>;

/// The numbers of compared and skipped runs of two programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Agreement {
    /// Calls that gave the same.
    pub compared: usize,
    /// Calls that prove nothing: the original is undefined, or reaches a limit.
    pub skipped: usize,
    /// Runs in random interleavings that gave the same.
    pub interleaved: usize,
}

/// The end of a run.
#[derive(Clone, PartialEq, Debug)]
pub enum Ending {
    /// The run returns.
    Returned(Outcome),
    /// The run traps, with this outcome.
    Trapped(Option<Outcome>),
    /// The run is undefined, or reached a limit: the reason.
    Unspecified(String),
}

/// Calls `entry` of a verified module.
///
/// # Errors
/// If there is no such function, the input does not fit, or an operation can't be executed.
pub fn call(module: &Body, entry: &str, input: &[String], limits: &Limits) -> Result<Ending, String> {
    call_by(&interp::run, module, entry, input, limits)
}

/// A function that executes.
type Run<'r> = &'r dyn Fn(&Body, &str, &[ArgSpec], &Limits) -> Result<Outcome, Box<Fault>>;

fn call_by(
    run: Run<'_>,
    module: &Body,
    entry: &str,
    input: &[String],
    limits: &Limits,
) -> Result<Ending, String> {
    let ctx = module.ctx();
    let specs: Result<Vec<ArgSpec>, _> = input.iter().map(|text| ArgSpec::parse(ctx, text)).collect();
    match specs.and_then(|specs| run(module, entry, &specs, limits)) {
        Ok(outcome) => Ok(Ending::Returned(Outcome { steps: 0, ..outcome })),
        Err(fault) => {
            let (kind, left) = (fault.kind, fault.left);
            let text = loomir::ir::Diagnostics::from(fault.diagnostic).to_text(ctx);
            match kind {
                FaultKind::Trap => Ok(Ending::Trapped(left.map(|left| Outcome { steps: 0, ..left }))),
                FaultKind::Undefined | FaultKind::Limit => Ok(Ending::Unspecified(text)),
                FaultKind::Unsupported | FaultKind::Arguments => Err(text),
            }
        }
    }
}

/// Calls `entry` of both modules with each input and compares. The modules may belong to different
/// contexts.
///
/// # Errors
/// The first difference, with both endings.
pub fn same_behaviour(
    before: &Body,
    after: &Body,
    entry: &str,
    inputs: &[Input],
    limits: &Limits,
) -> Result<Agreement, String> {
    same_interleaved(before, after, entry, inputs, limits, &[])
}

/// As [`same_behaviour`], and runs the changed program in a random interleaving for each seed too,
/// unless the original races. The order of iterations must not change a result: combined floats
/// must not round, and iterations must not print.
///
/// # Errors
/// The first difference, with both endings.
pub fn same_interleaved(
    before: &Body,
    after: &Body,
    entry: &str,
    inputs: &[Input],
    limits: &Limits,
    seeds: &[u64],
) -> Result<Agreement, String> {
    let mut agreement = Agreement::default();
    for input in inputs {
        let mut run: Run<'_> = &interp::run_finding_races;
        let mut seeds = seeds;
        let mut expected = call_by(run, before, entry, input, limits)?;
        if let Ending::Unspecified(_) = expected {
            // If the original races, the other program may do so.
            (run, seeds) = (&interp::run, &[]);
            expected = call_by(run, before, entry, input, limits)?;
        }
        if let Ending::Unspecified(_) = expected {
            agreement.skipped += 1;
            continue;
        }
        // Duplicated work takes longer. Only the original is held to the given limits.
        let limits = Limits { steps: limits.steps.saturating_mul(8), ..*limits };
        let compare = |run: Run<'_>, how: &str| {
            let actual = call_by(run, after, entry, input, &limits)?;
            match actual == expected {
                true => Ok(()),
                false => Err(format!(
                    "@{entry}({}) differs{how}\nbefore: {}after: {}",
                    input.join(", "),
                    show(&expected),
                    show(&actual)
                )),
            }
        };
        compare(run, "")?;
        for seed in seeds {
            let interleaving = Interleaving { seed: *seed, finds_races: true };
            let run: Run<'_> = &|module, entry, specs, limits| {
                interp::run_interleaving(module, entry, specs, limits, interleaving)
            };
            compare(run, &format!(" with interleaving {seed}"))?;
        }
        agreement.interleaved += seeds.len();
        agreement.compared += 1;
    }
    Ok(agreement)
}

/// Describes the end of a run.
pub fn show(ending: &Ending) -> String {
    match ending {
        Ending::Returned(outcome) => format!("returned\n{}", outcome.to_text()),
        Ending::Trapped(left) => {
            format!("trapped\n{}", left.as_ref().map(Outcome::to_text).unwrap_or_default())
        }
        Ending::Unspecified(reason) => reason.clone(),
    }
}

/// Returns calls of a function for a comparison of programs: with numbers, and with numbered and
/// random buffers. If two parameters have one type, a call passes one buffer for both. Parameters
/// of unknown size get small sizes. `None` if there is no such function.
pub fn inputs(module: &Body, entry: &str, random: &mut Random) -> Option<Vec<Input>> {
    let (parameters, _) = interp::signature(module, entry)?;
    let ctx = module.ctx();
    let plain: Vec<Input> = [None, Some(random.bits() >> 1)]
        .into_iter()
        .map(|seed| {
            let text = |(i, ty): (usize, &Type)| argument(ctx, *ty, seed.map(|s| s.wrapping_add(i as u64)));
            parameters.iter().enumerate().map(text).collect()
        })
        .collect();
    let mut all = plain.clone();
    for base in plain {
        let mut shared = base.clone();
        for i in 1..parameters.len() {
            let same = |j: &usize| is_buffer(ctx, parameters[i]) && parameters[*j] == parameters[i];
            if let Some(j) = (0..i).find(same) {
                shared[i] = format!("@{j}");
            }
        }
        if shared != base {
            all.push(shared);
        }
    }
    Some(all)
}

fn is_buffer(ctx: &Context, ty: Type) -> bool {
    matches!(ty.kind(ctx), TypeKind::MemRef { .. })
}

/// Returns the text of one argument: random with a seed, numbered without.
fn argument(ctx: &Context, ty: Type, seed: Option<u64>) -> String {
    let contents = match seed {
        Some(seed) => format!("random:{seed}"),
        None => "iota".into(),
    };
    match ty.kind(ctx) {
        TypeKind::MemRef { .. } => {
            let text = loomir::ir::text::type_to_string(ctx, ty);
            // Unknown sizes become 8.
            if text.contains('?') { format!("{contents} : {}", text.replace('?', "8")) } else { contents }
        }
        TypeKind::Index => seed.map_or(4, |seed| seed % 8).to_string(),
        TypeKind::Float(_) => "1.5".into(),
        _ => seed.map_or(1, |seed| seed % 2).to_string(),
    }
}

/// Drops the calls that pass one buffer as several arguments: a promise that arguments are distinct
/// does not apply to them.
pub fn retain_distinct(calls: &mut Vec<Input>) {
    calls.retain(|call| !call.iter().any(|argument| argument.starts_with('@')));
}
