//! Inputs with OpenMP's loop transformations: Loomir applies them, checked, in place of clang.
//!
//! ```text
//!     C ──clang -E──> text ──labels──> clang ──> LLVM IR with directives ──obeyed──> LLVM IR
//!                                                                                     │
//!                          object <──back end── fused loops <──Loomir── simple passes ┘
//! ```
//!
//! Directives are about loops as they are written, so they are obeyed before any pass runs. Passes
//! would hoist loads out of inner loops, which are then no perfect nest, or inline a loop twice.
//!
//! A directive that is refused is an error. So is everything for which another input would be left
//! to clang, which would apply the pragmas without a check.

use std::ffi::OsString;
use std::path::Path;

use super::super::raised::counted;
use super::arguments::CommandLine;
use super::clang::{Clang, colors, exit_code};
use super::plan::{self, Source};
use super::pragmas::{Label, Labelled, Place, label};
use super::program::{self, Changed, Goal, Obeyed};
use super::{Failure, Tools};
use crate::ir::{Context, Diagnostics, Loc};
use crate::report::Origins;

/// Compiles an input that has directives. Returns what it changed, or `None` without directives.
///
/// # Errors
/// The input cannot be compiled as it asks for.
pub(super) fn compile(
    (tools, goal): (&Tools, &Goal),
    (clang, line): (&Clang, &CommandLine),
    (input, name, written): (usize, &str, &Path),
) -> Result<Option<String>, Failure> {
    if !line.has_openmp() {
        return Ok(None);
    }
    let Some((text, said)) = preprocessed(clang, line, (input, name)) else { return Ok(None) };
    let labelled = label(&text).map_err(|(place, why)| at(&place, "error", &why)).map_err(Failure::Input)?;
    for (place, why) in &labelled.left {
        tools.console.say(&at(place, "warning", why));
    }
    if labelled.labels.is_empty() {
        return Ok(None);
    }
    tools.console.say(&said);
    let front = Front { clang, line, input, labelled: &labelled };
    let (source, lost, warnings) = front.read(&[])?;
    tools.console.say(&warnings);
    for Label { directives, place } in lost {
        let why = format!("'{directives}' has no loop: clang removed it, or took it apart");
        tools.console.say(&at(place, "warning", &why));
    }
    let Obeyed { text, number } = match program::obeyed(tools, &source, name) {
        Ok(obeyed) => obeyed,
        Err(errors) => return Err(Failure::Input(front.explained(tools, name, &errors)?)),
    };
    let source = from_clang(clang, &plan::passes(line), text)?.0;
    let (text, fused) = match program::transformed(tools, goal, &source, name) {
        Ok(Changed { text, said }) => (text, said),
        Err(why) => (source, why),
    };
    let made = clang.fed(&plan::back_end(line, written), text)?;
    tools.console.say(&String::from_utf8_lossy(&made.stderr));
    tools.console.print(&String::from_utf8_lossy(&made.stdout))?;
    let said = format!("{} obeyed; {fused}", counted(number, "directive"));
    if made.status.success() { Ok(Some(said)) } else { Err(Failure::Status(exit_code(made.status))) }
}

/// Returns the input without macros, and what the preprocessor said. `None` if it fails: clang will
/// say why.
fn preprocessed(clang: &Clang, line: &CommandLine, (input, name): (usize, &str)) -> Option<(String, String)> {
    let is_done = Path::new(name).extension().is_some_and(|own| own == "i");
    if is_done {
        return Some((std::fs::read_to_string(name).ok()?, String::new()));
    }
    let mut words = plan::preprocessor(line, input);
    words.extend(colors(line));
    let made = clang.printed(&words).ok().filter(|made| made.status.success())?;
    Some((String::from_utf8(made.stdout).ok()?, String::from_utf8_lossy(&made.stderr).into_owned()))
}

/// Returns the LLVM IR and the messages that clang prints for a text.
///
/// # Errors
/// Clang fails, or prints no text.
fn from_clang(clang: &Clang, words: &[OsString], text: String) -> Result<(String, String), Failure> {
    let made = clang.fed(words, text)?;
    let printed = String::from_utf8_lossy(&made.stderr).into_owned();
    match String::from_utf8(made.stdout) {
        Ok(source) if made.status.success() => Ok((source, printed)),
        Ok(_) => Err(Failure::Input(printed)),
        Err(_) => Err(Failure::Input("error: clang's LLVM IR is not UTF-8\n".to_owned())),
    }
}

/// Returns a message about a place.
fn at(Place { file, line }: &Place, severity: &str, text: &str) -> String {
    format!("{file}:{line}: {severity}: {text}\n")
}

/// The front end for an input with labels.
struct Front<'c> {
    clang: &'c Clang,
    line: &'c CommandLine,
    input: usize,
    labelled: &'c Labelled,
}

impl Front<'_> {
    /// Returns LLVM IR with directives, the labels that clang lost, and what clang printed.
    fn read(&self, options: &[&str]) -> Result<(String, Vec<&Label>, String), Failure> {
        let mut words = plan::front_end(self.line, self.input, Source::Preprocessed);
        words.extend(colors(self.line));
        words.extend(options.iter().map(OsString::from));
        let (source, printed) = from_clang(self.clang, &words, self.labelled.text.clone())?;
        let (source, lost) = self.labelled.named(&source);
        Ok((source, lost, printed))
    }

    /// Returns errors with the lines of C. They are found anew, in a text that has these lines.
    fn explained(&self, tools: &Tools, name: &str, errors: &Diagnostics) -> Result<String, Failure> {
        let (source, ..) = self.read(&["-gline-tables-only"])?;
        Ok(match program::obeyed(tools, &source, name) {
            Err(errors) => in_c(&tools.ctx, &errors, &source),
            Ok(_) => errors.to_text(&tools.ctx),
        })
    }
}

/// Returns diagnostics about LLVM IR with lines of C.
fn in_c(ctx: &Context, errors: &Diagnostics, source: &str) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let origins = Origins::of(&lines);
    let row = |loc: Loc| loc.file_line_col(ctx).map_or(0, |(_, line, _)| line as usize);
    let of_loop = |loc: Loc| origins.of_loop(&lines, row(loc));
    let of_access = |loc: Loc| origins.of_instruction(&lines, row(loc)).or_else(|| of_loop(loc));
    let mut blocks: Vec<(usize, String)> = Vec::new();
    for error in errors.iter() {
        let place = of_loop(error.loc);
        let line = place.as_ref().and_then(|own| own.rsplit(':').next()?.parse().ok());
        let mut text = String::new();
        let mut say = |place: &Option<String>, severity: &str, said: &str| {
            let place = place.as_ref().map(|own| format!("{own}: ")).unwrap_or_default();
            text += &format!("{place}{severity}: {said}\n");
        };
        say(&place, "error", &error.message);
        for (loc, note) in &error.notes {
            say(&of_access(*loc), "note", note);
        }
        if let Some(help) = &error.help {
            // C has a word for the attribute.
            say(
                &place,
                "help",
                &help.replace("--alias=distinct or the attribute llvm.noalias", "'restrict'"),
            );
        }
        blocks.push((line.unwrap_or(0), text));
    }
    blocks.sort_by_key(|(line, _)| *line);
    blocks.into_iter().map(|(_, text)| text).collect()
}
