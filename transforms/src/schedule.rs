//! Schedules: programs of the `transform` dialect that transform loops.
//!
//! A schedule finds loops of a program (the *payload*) and transforms them step by step. Each step
//! proposes edits of the loop tree. The judge of `legality` decides about every step, so a schedule
//! never changes what a program computes. A step that is refused says which iterations would swap.
//!
//! ```text
//!     handle ──> loop of a tree ──step──> edits ──judge──> tree' ──(text)──> block'
//! ```
//!
//! A refused step is a *silenceable* failure, as MLIR has them: `transform.alternatives` tries
//! another way, and a sequence with `failures(suppress)` goes on with its next operation. Inside
//! `loomir.together`, steps are judged once, at the end.
//!
//! **Assumptions.**
//! - None about legality. A step is judged with the top-level items that it concerns. All steps of
//!   a block are judged again before they are written, and only that approves them. Tried with
//!   `fixtures/schedules/together.mlir`.
//!
//! **Cost.** A step costs what the nest costs that it concerns. Operations that need the text, such
//! as matching, write the trees of a function first, which is linear in the function. So does the
//! end of a sequence that suppresses failures, to a copy. A question about dependences may cost ten
//! million steps, about a fifth of a second.
//!
//! # Limits
//!
//! - Registered passes run on functions and modules, not on single loops.
//! - A tile, an unrolled or a skewed loop needs a trip count that is an affine form.
//! - A skew changes no order by itself, so it is not written. It lasts until something needs the
//!   text: a pass, a match or `print`. The interchange has to come before.

use hashbrown::HashMap;
use loomir_dialects::transform;
use loomir_ir::pass::PassRegistry;
use loomir_ir::symbols::lookup;
use loomir_ir::{Body, Diagnostic, Diagnostics, Op};

use crate::access::base::AliasMode;
use interpreter::{Handle, Interpreter, Run};
use payload::Payload;

pub use obey::{PASS as OBEY_DIRECTIVES, obey};

mod control;
mod directed;
mod edits;
mod failure;
mod followed;
mod interpreter;
mod loops;
mod move_loop;
mod navigate;
mod obey;
mod outline;
mod passes;
mod payload;
mod rewrites;
mod shift;
mod site;
mod values;

/// The settings of a run.
pub struct Settings<'a> {
    /// The named sequence to run.
    pub entry: &'a str,
    /// The assumption about arguments.
    pub alias: AliasMode,
    /// The passes that `transform.apply_registered_pass` finds.
    pub passes: &'a PassRegistry,
    /// True if the schedule is a copy of the program itself. A step must not change the schedule
    /// then.
    pub is_inside: bool,
}

/// The results of a schedule besides the program.
#[derive(Debug, Default)]
pub struct Report {
    /// Remarks of the schedule and of its passes.
    pub remarks: Diagnostics,
    /// Printed texts, each with a title.
    pub dumps: Vec<(String, String)>,
    /// The number of operations of the schedule that ran.
    pub steps: u64,
}

/// Runs a schedule on a module. Both belong to one context. The schedule is a module with named
/// sequences, which may be a copy of the program itself.
///
/// # Errors
///
/// The first failure that is not silenced. The module is then well formed and computes the same,
/// with some steps made.
pub fn apply(module: &mut Body, schedule: &Body, settings: &Settings<'_>) -> Result<Report, Diagnostics> {
    let Some((schedule, entry, around)) = entry_point(schedule, settings.entry) else {
        let text = format!("could not find a nested named sequence with name: {}", settings.entry);
        let error = Diagnostic::error(schedule.root_ref().loc(), text);
        return Err(error.help("a schedule is a 'transform.named_sequence' of this name").into());
    };
    let mut payload = Payload::new(module, settings.alias);
    let root = payload.root();
    let report = Report::default();
    let around = if settings.is_inside { around } else { Vec::new() };
    let (passes, operations) = (settings.passes, operations());
    let mut run = Interpreter { schedule, around, operations, payload, passes, report };
    let loc = schedule.loc(entry);
    let outcome = run.sequence_of(entry, vec![Handle::Ops(vec![root])], 0);
    let outcome = outcome.and_then(|_| run.payload.flush_below(&[], loc));
    match outcome {
        Ok(()) => Ok(run.report),
        Err(failure) => Err(failure.into_diagnostic().into()),
    }
}

/// Returns the functions that run operations, by the names of the operations.
fn operations<'a>() -> HashMap<&'static str, Run<'a>> {
    let tables = [
        control::operations(),
        values::operations(),
        navigate::operations(),
        passes::operations(),
        loops::operations(),
        move_loop::operations(),
        shift::operations(),
        outline::operations(),
        rewrites::operations(),
    ];
    tables.into_iter().flatten().map(|(def, run)| (&*def.name, run)).collect()
}

/// Returns the named sequence of a name, in a module or in one inside of it, with its module and
/// the numbers of the operations around it, from the root to itself. Recurses once for each body in
/// a body. Reading bounds their nesting depth.
fn entry_point<'s>(module: &'s Body, name: &str) -> Option<(&'s Body, Op, Vec<usize>)> {
    let root = module.root().index();
    let found = lookup(module, name).filter(|own| module.is(*own, transform::NamedSequenceOp::DEF));
    let inside = || {
        module.all_ops().find_map(|around| {
            let (body, own, inside) = entry_point(module.nested(around)?, name)?;
            let numbers = [root, around.index()].into_iter().chain(inside.into_iter().skip(1));
            Some((body, own, numbers.collect()))
        })
    };
    found.map(|own| (module, own, vec![root, own.index()])).or_else(inside)
}
