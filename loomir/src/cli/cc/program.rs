//! Loomir's part: fusing the loops of a program in LLVM IR.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::super::raised::{counted, summary};
use super::Tools;
use crate::lowering::raising::Facts;
use crate::{ContractionOptions, Extent, FuseOptions, ProgramOptions};

/// A changed program.
pub(super) struct Changed {
    pub(super) text: String,
    /// A summary of the changes.
    pub(super) said: String,
}

/// Fuses the loops of a program.
///
/// # Errors
/// The reason why nothing changed.
pub(super) fn fused(tools: &Tools, source: &str, name: &str) -> Result<Changed, String> {
    // A defect of Loomir is no reason not to compile a program.
    std::panic::set_hook(Box::new(|_| {}));
    let done = catch_unwind(AssertUnwindSafe(|| transformed(tools, source, name)));
    drop(std::panic::take_hook());
    done.unwrap_or_else(|_| Err("left to clang: an internal error of Loomir".to_owned()))
}

fn transformed(tools: &Tools, source: &str, name: &str) -> Result<Changed, String> {
    let refused = |errors: crate::ir::Diagnostics| {
        format!("left to clang: {}", errors.to_text(&tools.ctx).lines().next().unwrap_or_default())
    };
    let (mut module, _) = crate::parse_ll_in_part(&tools.ctx, source, name).map_err(refused)?;
    let options = FuseOptions { remarks: false, ..FuseOptions::default() };
    let contraction = ContractionOptions::after(&options);
    let program = ProgramOptions {
        contraction: Some(&contraction),
        extent: Extent::Direct,
        only_loops: true,
        facts: Facts::Told,
        ..ProgramOptions::of(&options)
    };
    let done = crate::fuse_program(&mut module, &program);
    let kept = match done.raised.in_part {
        0 => String::new(),
        kept => format!("; {} raised in part, because of branches on data", counted(kept, "function")),
    };
    let summary = summary(&done.raised, &done.fusion);
    let said = match summary.trim_end() {
        "" => "no loops".to_owned(),
        summary => format!("{summary}{kept}"),
    };
    if done.changed.is_empty() {
        return Err(format!("unchanged; {said}"));
    }
    let text = crate::lowering::splice(source, &module, &done.changed).map_err(refused)?;
    let said = format!("{} changed; {said}", counted(done.changed.len(), "function"));
    tools.console.forget(module);
    Ok(Changed { text, said })
}
