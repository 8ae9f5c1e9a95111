//! Reading the input: a file by name, or `-` for standard input.

use std::io::IsTerminal;

use crate::ir::pass::Progress;
use crate::ir::text::{Chunk, ParseOptions};
use crate::ir::{Body, Context, Diagnostic, Diagnostics, Loc, LocKind};
use clap::{Arg, ArgMatches};

use super::console::Stream;
use super::flags::{flag, is_on};
use super::progress::{self, Line};
use super::remarks::{self, RemarkFormat};
use super::tool;
use super::{Failure, Tools};

/// The flag that lets what nobody registered be read.
pub(super) const ALLOW_UNREGISTERED: &str = "allow-unregistered-dialect";

/// A source text with its name.
pub(super) struct Input {
    pub(super) name: String,
    pub(super) text: String,
    /// The form in which its diagnostics are shown.
    pub(super) form: RemarkFormat,
}

/// The bytes that MLIR's bytecode begins with.
const MLIR_BYTECODE: &[u8] = b"ML\xefR";

/// The bytes that LLVM's bitcode begins with, without and with a wrapper.
const LLVM_BITCODE: [&[u8]; 2] = [b"BC\xc0\xde", b"\xde\xc0\x17\x0b"];

/// The arguments that say what to read, and how.
pub(super) fn args() -> [Arg; 2] {
    [
        Arg::new("input")
            .value_name("IN")
            .default_value("-")
            .help("The file to read, or - for standard input"),
        flag(ALLOW_UNREGISTERED, "Read operations, types and attributes that nobody registered, as opaque"),
    ]
}

/// Reads what the argument names.
pub(super) fn read(tools: &Tools, matches: &ArgMatches) -> Result<Input, Failure> {
    read_named(tools, matches, matches.get_one::<String>("input").map_or("-", String::as_str))
}

/// Reads the file of a name, or standard input.
pub(super) fn read_named(tools: &Tools, matches: &ArgMatches, name: &str) -> Result<Input, Failure> {
    let ctx = &tools.ctx;
    let (shown, bytes) =
        if name == "-" { ("<stdin>", from_stdin(tools)) } else { (name, std::fs::read(name)) };
    let input = |text| Input { name: shown.into(), text, form: RemarkFormat::of(tools, matches) };
    let refused = |message: String, help: Option<&str>| {
        let error = Diagnostic::error(Loc::UNKNOWN, message);
        let error = help.into_iter().fold(error, |error, help| error.help(help));
        input(String::new()).failure(ctx, &error.into())
    };
    let bytes = bytes.map_err(|error| refused(format!("cannot read '{shown}': {error}"), None))?;
    if bytes.starts_with(MLIR_BYTECODE) {
        let help = "write it as text first: mlir-opt IN -o OUT.mlir";
        return Err(refused(format!("'{shown}' is MLIR bytecode, and only text is read"), Some(help)));
    }
    if LLVM_BITCODE.iter().any(|magic| bytes.starts_with(magic)) {
        let why = match tool::run("llvm-dis", "-o -", &bytes) {
            Ok(text) if !text.trim().is_empty() => return Ok(input(text)),
            Ok(_) => "has no module".to_owned(),
            Err(failure) => first_line(&failure),
        };
        let help = "write it as text first: llvm-dis IN -o OUT.ll";
        return Err(refused(format!("'{shown}' is LLVM bitcode, and {why}"), Some(help)));
    }
    String::from_utf8(bytes).map(input).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        input(String::from_utf8_lossy(error.as_bytes()).into_owned()).not_utf8(ctx, valid)
    })
}

/// Reads standard input. A person who types it sees no line on the way.
fn from_stdin(tools: &Tools) -> std::io::Result<Vec<u8>> {
    let is_typed = std::io::stdin().is_terminal();
    let progress = if is_typed { Progress::default() } else { progress::of(&tools.console) };
    progress.tell("reading standard input");
    let _line = Line::show(&progress);
    tools.console.read()
}

/// Returns the first line of a tool's failure, without its prefix.
fn first_line(failure: &Failure) -> String {
    let text = match failure {
        Failure::Input(text) | Failure::Usage(text) => text.lines().next().unwrap_or_default(),
        Failure::Status(_) => "",
    };
    text.trim_start_matches("error: ").trim_end_matches(", and says:").to_owned()
}

/// Returns the options of the parser that the arguments give.
pub(super) fn options(matches: &ArgMatches) -> ParseOptions {
    let allow_unregistered_dialects = is_on(matches, ALLOW_UNREGISTERED);
    ParseOptions { allow_unregistered_dialects, ..ParseOptions::default() }
}

impl Input {
    /// Reads and verifies the module.
    pub(super) fn parse(&self, ctx: &Context, matches: &ArgMatches) -> Result<Body, Failure> {
        let whole = Chunk { text: &self.text, first_line: 1 };
        self.parse_chunk(ctx, whole, options(matches)).map_err(|diagnostics| self.failure(ctx, &diagnostics))
    }

    /// Reads and verifies a piece.
    pub(super) fn parse_chunk(
        &self,
        ctx: &Context,
        chunk: Chunk<'_>,
        options: ParseOptions,
    ) -> Result<Body, Diagnostics> {
        let options = ParseOptions { first_line: chunk.first_line, ..options };
        crate::parse_with(ctx, chunk.text, &self.name, &options)
    }

    /// Diagnostics about this input, rendered.
    pub(super) fn failure(&self, ctx: &Context, diagnostics: &Diagnostics) -> Failure {
        Failure::Input(remarks::say(ctx, diagnostics, self, Stream::Err))
    }

    /// This text has been made from bytes that are no text from byte `valid` on.
    fn not_utf8(&self, ctx: &Context, valid: usize) -> Failure {
        let before = &self.text[..valid];
        let line = before.matches('\n').count() as u32 + 1;
        let column = (valid - before.rfind('\n').map_or(0, |at| at + 1)) as u32 + 1;
        let loc = ctx.loc(LocKind::File { file: ctx.name(&self.name), line, column });
        let error =
            Diagnostic::error(loc, "this byte is not UTF-8").help("MLIR's text is ASCII, UTF-8 in strings");
        self.failure(ctx, &error.into())
    }
}
