//! Loomir's part: transforming the loops of a program in LLVM IR.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::super::fuse::Task;
use super::super::raised::{counted, summary};
use super::super::{machine, remarks, report};
use super::arguments::CommandLine;
use super::{Failure, Tools};
use crate::ir::pass::EditLimit;
use crate::ir::{Body, Diagnostics};
use crate::lowering::raising::Facts;
use crate::report::Seen;
use crate::transforms::cost::Machine;
use crate::{ContractionOptions, CostSource, Extent, FuseOptions, Fused, ProgramOptions};

/// The task of Loomir, and the machine that it is for.
pub(super) struct Goal {
    pub(super) task: Task,
    pub(super) machine: Machine,
}

impl Goal {
    /// Returns the goal of a command line.
    ///
    /// # Errors
    /// A machine that nobody knows.
    pub(super) fn of(line: &CommandLine) -> Result<Goal, Failure> {
        let machine = line.machine.as_deref().map(machine::named).transpose()?.unwrap_or_default();
        Ok(Goal { task: line.task, machine })
    }

    fn options(&self) -> FuseOptions {
        FuseOptions { cost: CostSource::Static.cost(self.machine.clone()), ..FuseOptions::default() }
    }
}

/// A changed program.
pub(super) struct Changed {
    pub(super) text: String,
    /// A summary of the changes.
    pub(super) said: String,
}

/// Transforms the loops of a program.
///
/// # Errors
/// The reason why nothing changed.
pub(super) fn transformed(tools: &Tools, goal: &Goal, source: &str, name: &str) -> Result<Changed, String> {
    caught(|| changed(tools, goal, source, name))
}

/// Returns the page on a program.
///
/// # Errors
/// The reason why there is none.
pub(super) fn shown(tools: &Tools, goal: &Goal, source: &str, name: &str) -> Result<String, String> {
    caught(|| page(tools, goal, source, name))
}

/// A defect of Loomir is no reason not to compile a program.
fn caught<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    std::panic::set_hook(Box::new(|_| {}));
    let done = catch_unwind(AssertUnwindSafe(work));
    drop(std::panic::take_hook());
    done.unwrap_or_else(|_| Err("left to clang: an internal error of Loomir".to_owned()))
}

/// The results of transforming the loops of a program.
struct Done {
    module: Body,
    /// Remarks on functions that could not be read.
    unread: Diagnostics,
    fused: Fused,
}

fn run(
    tools: &Tools,
    goal: &Goal,
    (source, name): (&str, &str),
    options: &FuseOptions,
) -> Result<Done, String> {
    let read = crate::parse_ll_in_part(&tools.ctx, source, name);
    let (module, unread) = read.map_err(|errors| refused(tools, &errors))?;
    Ok(worked_on(goal.task, module, unread, options))
}

/// Transforms the loops of a module.
fn worked_on(task: Task, mut module: Body, unread: Diagnostics, options: &FuseOptions) -> Done {
    let contraction = ContractionOptions::after(options);
    let program = ProgramOptions {
        contraction: Some(&contraction),
        optimizes: task == Task::Optimize,
        extent: Extent::Direct,
        only_loops: true,
        facts: Facts::Told,
        ..ProgramOptions::of(options)
    };
    let fused = crate::fuse_program(&mut module, &program);
    Done { module, unread, fused }
}

/// A program whose directives were obeyed.
pub(super) struct Obeyed {
    pub(super) text: String,
    /// The number of remarks about directives.
    pub(super) number: usize,
}

/// Obeys the directives of a program.
///
/// # Errors
/// The directives that are refused. Their places are lines of `source`.
pub(super) fn obeyed(tools: &Tools, source: &str, name: &str) -> Result<Obeyed, Diagnostics> {
    let (mut module, unread) = crate::parse_ll_in_part(&tools.ctx, source, name)?;
    let how = (FuseOptions::default().alias.untested(), Facts::Told);
    let obeyed = crate::directives::obey_all(&mut module, (source, &unread), how)?;
    let text = crate::lowering::splice(source, &module, &obeyed.changed)?;
    tools.console.forget(module);
    Ok(Obeyed { text, number: obeyed.remarks.len() })
}

fn refused(tools: &Tools, errors: &Diagnostics) -> String {
    format!("left to clang: {}", errors.to_text(&tools.ctx).lines().next().unwrap_or_default())
}

fn changed(tools: &Tools, goal: &Goal, source: &str, name: &str) -> Result<Changed, String> {
    let options = FuseOptions { remarks: false, ..goal.options() };
    let done = run(tools, goal, (source, name), &options)?;
    let said = said(&done);
    let Done { module, fused: done, .. } = done;
    if done.changed.is_empty() {
        return Err(format!("unchanged; {said}"));
    }
    let text = crate::lowering::splice(source, &module, &done.changed);
    let text = text.map_err(|errors| refused(tools, &errors))?;
    let said = format!("{} changed; {said}", counted(done.changed.len(), "function"));
    tools.console.forget(module);
    Ok(Changed { text, said })
}

/// Returns a summary of the loops of a program, and of those that were fused.
fn said(Done { fused, .. }: &Done) -> String {
    let kept = match fused.raised.in_part {
        0 => String::new(),
        kept => format!("; {} raised in part, because of branches on data", counted(kept, "function")),
    };
    match summary(&fused.raised, &fused.fusion, fused.edits).trim_end() {
        "" => "no loops".to_owned(),
        summary => format!("{summary}{kept}"),
    }
}

fn page(tools: &Tools, goal: &Goal, source: &str, name: &str) -> Result<String, String> {
    let options = goal.options();
    let mut done = run(tools, goal, (source, name), &options)?;
    let read = || crate::parse_ll_in_part(&tools.ctx, source, name).ok().map(|(module, _)| module);
    let said = report::remarks(done.unread, read(), &options, &done.fused);
    let again = |edits| {
        let options = FuseOptions { remarks: false, edits, ..options.clone() };
        run(tools, goal, (source, name), &options).ok().map(|done| done.module)
    };
    Ok(crate::report::page(Seen {
        ctx: &tools.ctx,
        source: (name, source),
        command: super::NAME,
        json: remarks::json,
        remarks: &said,
        read: &read,
        after: &mut done.module,
        options: &options,
        repeat: Some(&|edits| report::repeated(edits, &EditLimit::default(), again)),
    }))
}
