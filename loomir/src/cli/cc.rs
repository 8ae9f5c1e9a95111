//! `loomir cc`: clang, with Loomir between its front end and its back end.
//!
//! It takes clang's command line and does what clang does with it: the same files, diagnostics and
//! exit status. In a makefile it stands for the compiler: `make CC="loomir cc"`. Inputs in C that
//! are optimised go through Loomir. A file in which nothing changes is compiled by clang as if
//! Loomir was not there, as is everything that Loomir does not know or cannot read.
//!
//! | module | holds |
//! | --- | --- |
//! | `options` | tables of clang's options |
//! | `response`, `arguments` | reading a command line |
//! | `plan` | the steps of a command |
//! | `source` | a look at a file, to spare the front end |
//! | `clang`, `program`, `compile` | running clang, Loomir, and both |
//! | `pragmas`, `directed` | OpenMP's loop transformations, which Loomir applies in place of clang |
//! | `report`, `pages` | a line about each input, and a page |
//!
//! # Limits
//!
//! - Left to clang are commands that make no object, that do not optimise or optimise for debuggers
//!   (`-Og`), or that have an option that is about files beside the object, measuring, sanitizers,
//!   link-time optimisation, precompiled headers, plugins or clang's internals (`-Xclang`).
//! - In commands that are left to clang, clang applies OpenMP's loop transformations, unchecked.
//! - Languages other than C, and standard input, are left to clang. So are files with fewer than
//!   two words that make loops outside of comments, unless they include other files than headers.

use std::ffi::OsString;

use arguments::CommandLine;
use clang::Clang;
use clap::{Arg, ArgAction, Command};
use pages::Pages;
use program::Goal;
use report::Report;

use super::{Failure, Tools};

mod arguments;
mod clang;
mod compile;
mod directed;
mod options;
mod pages;
mod plan;
mod pragmas;
mod program;
mod report;
mod response;
mod source;

/// The name of the command.
pub(super) const NAME: &str = "cc";

/// Describes the command for the list of all commands. Its options are clang's.
pub(super) fn command() -> Command {
    let words = Arg::new("arguments").num_args(0..).action(ArgAction::Append);
    Command::new(NAME)
        .about("Compiles C as clang does, with loops fused in between: make CC=\"loomir cc\"")
        .arg(words.allow_hyphen_values(true).trailing_var_arg(true).help("The arguments of clang"))
        .disable_help_flag(true)
}

/// Carries out a command line of clang.
pub(super) fn main(tools: &Tools, words: Vec<OsString>) -> Result<(), Failure> {
    let clang = Clang::find()?;
    let line = CommandLine::of(response::expanded(words.clone()));
    let words: Vec<OsString> = words.into_iter().filter(|word| !is_own(word)).collect();
    let report = Report::new(line.reports);
    let pages = Pages::of(&line)?;
    let goal = Goal::of(&line)?;
    if let Some(reason) = plan::left_to_clang(&line).or_else(|| line.not_files()) {
        for input in line.c_inputs() {
            let name = line.arguments[input].words[0].to_string_lossy();
            report.line(&tools.console, &name, &format!("left to clang: {reason}"));
            if pages.is_some() {
                tools.console.say(&format!("loomir: {name}: no page: left to clang: {reason}\n"));
            }
        }
        return clang.become_it(&words);
    }
    compile::run(tools, (&clang, &line), &goal, &words, &report, pages.as_ref())
}

/// True if a word is an option of Loomir.
fn is_own(word: &OsString) -> bool {
    word.to_str().is_some_and(|word| options::role(word).0.is_own())
}
