//! Reading the input: a file by name, or `-` for standard input.

use std::io::Read;

use clap::{Arg, ArgMatches};
use loomir::ir::text::{Chunk, ParseOptions};
use loomir::ir::{Body, Context, Diagnostic, Diagnostics, Loc, LocKind};

use super::Failure;
use super::flags::{flag, is_on};
use super::remarks::{self, RemarkFormat};
use super::render::Stream;

/// The flag that lets what nobody registered be read.
pub(super) const ALLOW_UNREGISTERED: &str = "allow-unregistered-dialect";

/// A source text with its name.
pub(super) struct Input {
    pub(super) name: String,
    pub(super) text: String,
    /// The form in which its diagnostics are shown.
    pub(super) form: RemarkFormat,
}

/// Binary forms of programs, by the bytes they begin with: their names, and how to get text.
const BINARIES: [(&[u8], &str, &str); 3] = [
    (b"ML\xefR", "MLIR bytecode", "write it as text first: mlir-opt IN -o OUT.mlir"),
    (b"BC\xc0\xde", "LLVM bitcode", "write it as text first: llvm-dis IN -o OUT.ll"),
    (b"\xde\xc0\x17\x0b", "LLVM bitcode", "write it as text first: llvm-dis IN -o OUT.ll"),
];

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
pub(super) fn read(matches: &ArgMatches) -> Result<Input, Failure> {
    read_named(matches, matches.get_one::<String>("input").map_or("-", String::as_str))
}

/// Reads the file of a name, or standard input.
pub(super) fn read_named(matches: &ArgMatches, name: &str) -> Result<Input, Failure> {
    let (shown, bytes) = if name == "-" {
        let mut bytes = Vec::new();
        ("<stdin>", std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes))
    } else {
        (name, std::fs::read(name))
    };
    let input = |text| Input { name: shown.into(), text, form: RemarkFormat::of(matches) };
    let refused = |message: String, help: Option<&str>| {
        let error = Diagnostic::error(Loc::UNKNOWN, message);
        let error = help.into_iter().fold(error, |error, help| error.help(help));
        input(String::new()).failure(&loomir::context(), &error.into())
    };
    let bytes = bytes.map_err(|error| refused(format!("cannot read '{shown}': {error}"), None))?;
    if let Some((_, what, help)) = BINARIES.iter().find(|(magic, ..)| bytes.starts_with(magic)) {
        return Err(refused(format!("'{shown}' is {what}, and only text is read"), Some(help)));
    }
    String::from_utf8(bytes).map(input).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        input(String::from_utf8_lossy(error.as_bytes()).into_owned()).not_utf8(valid)
    })
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
        loomir::parse_with(ctx, chunk.text, &self.name, &options)
    }

    /// Diagnostics about this input, rendered.
    pub(super) fn failure(&self, ctx: &Context, diagnostics: &Diagnostics) -> Failure {
        Failure::Input(remarks::say(ctx, diagnostics, self, Stream::Err))
    }

    /// This text has been made from bytes that are no text from byte `valid` on.
    fn not_utf8(&self, valid: usize) -> Failure {
        let ctx = loomir::context();
        let before = &self.text[..valid];
        let line = before.matches('\n').count() as u32 + 1;
        let column = (valid - before.rfind('\n').map_or(0, |at| at + 1)) as u32 + 1;
        let loc = ctx.loc(LocKind::File { file: ctx.name(&self.name), line, column });
        let error =
            Diagnostic::error(loc, "this byte is not UTF-8").help("MLIR's text is ASCII, UTF-8 in strings");
        self.failure(&ctx, &error.into())
    }
}
