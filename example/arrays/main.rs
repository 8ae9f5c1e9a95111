//! A small language of arrays, with Loomir's whole command beside it.
//!
//! `arrays show FILE` prints a program as loops, `arrays compile FILE` as LLVM IR with fused loops.
#![forbid(unsafe_code)]
// A command-line program talks to its user.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use loomir::ir::{Diagnostics, verifier};
use loomir::{AliasMode, ContractionOptions, FuseOptions};

mod lexer;
mod lower;
mod parser;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let done = match &words[..] {
        [task, file] if task == "show" => compile(file, false),
        [task, file] if task == "compile" => compile(file, true),
        _ => return loomir::main(loomir::registry(), loomir::passes()),
    };
    match done {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprint!("{text}");
            ExitCode::FAILURE
        }
    }
}

/// Returns a program as loops, or as LLVM IR with fused loops.
fn compile(file: &str, fuses: bool) -> Result<String, String> {
    let source = std::fs::read_to_string(file).map_err(|error| format!("error: {file}: {error}\n"))?;
    let ctx = loomir::context();
    let rendered = |said: &Diagnostics| loomir::render(&ctx, said, &[(file, &source)], false);
    let tokens = lexer::tokens(&ctx, file, &source);
    let program = tokens.and_then(parser::program);
    let mut module = program.and_then(|own| lower::module(&ctx, &own)).map_err(|e| rendered(&e))?;
    let errors = verifier::verify(&module);
    if errors.has_errors() {
        return Err(rendered(&errors));
    }
    if !fuses {
        return Ok(loomir::print(&module));
    }
    // Arrays of this language never overlap.
    let options = FuseOptions { alias: AliasMode::Distinct, remarks: true, ..FuseOptions::default() };
    let contraction = ContractionOptions::after(&options);
    let (fused, contracted) = loomir::fuse_and_contract(&mut module, &options, &contraction);
    eprint!("{}{}", rendered(&fused.remarks), rendered(&contracted.remarks));
    loomir::to_ll(&module).map_err(|errors| rendered(&errors))
}
