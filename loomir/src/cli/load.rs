//! `--load-dialect` and `--patterns`: dialects and patterns from text files, for every subcommand.

use std::ffi::OsString;

use clap::{Arg, ArgAction};
use loomir_ir::{Context, Diagnostic, Registry};

use super::Failure;
use super::console::Stream;
use super::input::Input;
use super::remarks::{self, RemarkFormat};
use crate::DialectFiles;

/// The names of the option for dialects.
const DIALECTS: [&str; 2] = ["load-dialect", "irdl-file"];

/// The name of the option for patterns.
pub(super) const PATTERNS: &str = "patterns";

/// The options. They are read before all others, because those depend on what is loaded.
pub(super) fn args() -> [Arg; 2] {
    let option = |name: &'static str, help| {
        Arg::new(name).long(name).value_name("FILE").action(ArgAction::Append).global(true).help(help)
    };
    [
        option(DIALECTS[0], "Load the dialects that a file of IRDL defines").alias(DIALECTS[1]),
        option(PATTERNS, "Load the patterns of a file of PDL; 'opt' applies them where this stands"),
    ]
}

/// A file that a command line names.
struct File {
    name: String,
    has_patterns: bool,
}

/// Returns the files that a command line names, those of patterns last: they use the dialects.
fn files(words: &[OsString]) -> Vec<File> {
    let mut files = Vec::new();
    let mut words = words.iter().filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        let Some(rest) = word.strip_prefix("--").or_else(|| word.strip_prefix('-')) else { continue };
        let (name, value) = rest.split_once('=').map_or((rest, None), |(name, value)| (name, Some(value)));
        let has_patterns = name == PATTERNS;
        if has_patterns || DIALECTS.contains(&name) {
            let value = value.or_else(|| words.next()).map(str::to_owned);
            files.extend(value.map(|name| File { name, has_patterns }));
        }
    }
    files.sort_by_key(|file| file.has_patterns);
    files
}

/// Returns the context that a command line asks for.
pub(super) fn context(registry: Registry, words: &[OsString]) -> Result<Loaded, Failure> {
    let named = files(words);
    if named.is_empty() {
        return Ok(Loaded { ctx: Context::new(registry), files: None });
    }
    let mut texts = Vec::new();
    for File { name, .. } in &named {
        let read = std::fs::read_to_string(name);
        texts.push(read.map_err(|error| Failure::input(format!("cannot read '{name}': {error}")))?);
    }
    let sources: Vec<(&str, &str)> =
        named.iter().map(|file| &*file.name).zip(texts.iter().map(String::as_str)).collect();
    let files = DialectFiles::load(registry, &sources).map_err(|failed| {
        let place = |own: &Diagnostic| own.loc.file_line_col(failed.ctx()).map(|(file, ..)| file);
        let first = failed.diagnostics().iter().find_map(place);
        let at = sources.iter().position(|(name, _)| first == Some(*name)).unwrap_or(0);
        let (name, text) = sources[at];
        let input = Input { name: name.into(), text: text.into(), form: RemarkFormat::default() };
        Failure::Input(remarks::say(failed.ctx(), failed.diagnostics(), &input, Stream::Err))
    })?;
    let is_empty = |(at, file): &(usize, &File)| file.has_patterns && files.num_patterns(*at) == 0;
    if let Some((_, File { name, .. })) = named.iter().enumerate().find(is_empty) {
        let help = "write 'pdl.pattern' in it, or load a dialect with --load-dialect";
        return Err(Failure::input(format!("'{name}' has no patterns\nhelp: {help}")));
    }
    Ok(Loaded { ctx: files.ctx().clone(), files: Some(files) })
}

/// A context with what it needs.
pub(super) struct Loaded {
    pub(super) ctx: Context,
    pub(super) files: Option<DialectFiles>,
}
