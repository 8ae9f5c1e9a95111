//! `--load-dialect`: dialects from text files, for every subcommand.

use std::ffi::OsString;

use clap::{Arg, ArgAction};
use loomir_ir::{Context, Diagnostic, Registry};

use super::Failure;
use super::console::Stream;
use super::input::Input;
use super::remarks::{self, RemarkFormat};
use crate::DialectFiles;

/// The names of the option.
const NAMES: [&str; 2] = ["load-dialect", "irdl-file"];

/// The option. It is read before all others, because they depend on what is loaded.
pub(super) fn arg() -> Arg {
    Arg::new(NAMES[0])
        .long(NAMES[0])
        .alias(NAMES[1])
        .value_name("FILE")
        .action(ArgAction::Append)
        .global(true)
        .help("Load the dialects that a file of IRDL defines")
}

/// Returns the files that a command line names.
fn files(words: &[OsString]) -> Vec<String> {
    let mut files = Vec::new();
    let mut words = words.iter().filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        let Some(rest) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else { continue };
        let (name, value) = rest.split_once('=').map_or((rest, None), |(name, value)| (name, Some(value)));
        if NAMES.contains(&name) {
            files.extend(value.or_else(|| words.next()).map(str::to_owned));
        }
    }
    files
}

/// Returns the context that a command line asks for.
pub(super) fn context(registry: Registry, words: &[OsString]) -> Result<Loaded, Failure> {
    let names = files(words);
    if names.is_empty() {
        return Ok(Loaded { ctx: Context::new(registry), files: None });
    }
    let mut texts = Vec::new();
    for name in &names {
        let read = std::fs::read_to_string(name);
        texts.push(read.map_err(|error| Failure::input(format!("cannot read '{name}': {error}")))?);
    }
    let sources: Vec<(&str, &str)> =
        names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
    let files = DialectFiles::load(registry, &sources).map_err(|failed| {
        let place = |own: &Diagnostic| own.loc.file_line_col(failed.ctx()).map(|(file, ..)| file);
        let first = failed.diagnostics().iter().find_map(place);
        let at = sources.iter().position(|(name, _)| first == Some(*name)).unwrap_or(0);
        let (name, text) = sources[at];
        let input = Input { name: name.into(), text: text.into(), form: RemarkFormat::default() };
        Failure::Input(remarks::say(failed.ctx(), failed.diagnostics(), &input, Stream::Err))
    })?;
    Ok(Loaded { ctx: files.ctx().clone(), files: Some(files) })
}

/// A context with what it needs.
pub(super) struct Loaded {
    pub(super) ctx: Context,
    pub(super) files: Option<DialectFiles>,
}
