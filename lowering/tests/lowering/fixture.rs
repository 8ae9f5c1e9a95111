//! A program with calls for the comparison of its stages: lines
//! `// CALL: function ; argument ; argument`.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use loomir_dialects::interp::{self, ArgSpec, Limits, Outcome, Output};
use loomir_ir::text::{PrintOptions, parse, print};
use loomir_ir::{Body, Context, Diagnostics, Registry, Type, verifier};
use loomir_lowering::linalg_to_loops::Loops;
use loomir_lowering::{convert_linalg_to_loops, convert_scf_to_cf, convert_to_llvm, lower_affine, to_ll};

use crate::{lli, llvm};

/// A call of a function with arguments as text.
pub(crate) struct Call {
    pub(crate) entry: String,
    pub(crate) arguments: Vec<String>,
}

/// A program and calls.
pub(crate) struct Fixture {
    source: String,
    calls: Vec<Call>,
    /// True if calls are long: they are executed at the first and the last stage only.
    long: bool,
}

/// Returns a context with all dialects and their lowering.
pub(crate) fn context() -> Context {
    let mut registry = Registry::new();
    loomir_dialects::register_all(&mut registry);
    loomir_lowering::register(&mut registry);
    Context::new(registry)
}

/// Reads and verifies.
pub(crate) fn read(ctx: &Context, source: &str) -> Result<Body, String> {
    let text = |d: Diagnostics| d.to_text(ctx);
    let module = parse(ctx, source, "input.mlir").map_err(text)?;
    let diagnostics = verifier::verify(&module);
    if diagnostics.has_errors() { Err(diagnostics.to_text(ctx)) } else { Ok(module) }
}

/// Returns the outcome of a call as far as all engines agree on it: results one by one, and
/// buffers.
pub(crate) fn observed(outcome: Outcome) -> (Vec<Output>, Vec<(usize, Output)>) {
    let mut results = Vec::new();
    let mut stack: Vec<Output> = outcome.results.into_iter().rev().collect();
    while let Some(output) = stack.pop() {
        match output {
            Output::Aggregate(parts) => stack.extend(parts.into_iter().rev()),
            other => results.push(other),
        }
    }
    (results, outcome.buffers)
}

impl Fixture {
    pub(crate) fn read(source: &str) -> Fixture {
        let calls = source.lines().filter_map(|line| line.strip_prefix("// CALL: "));
        let calls = calls.map(|line| {
            let mut words = line.split(';').map(|word| word.trim().to_owned());
            let entry = words.next().unwrap_or_default();
            Call { entry, arguments: words.filter(|word| !word.is_empty()).collect() }
        });
        Fixture { calls: calls.collect(), source: source.to_owned(), long: false }
    }

    /// Marks the calls of a fixture as long.
    pub(crate) fn long(self) -> Fixture {
        Fixture { long: true, ..self }
    }

    /// Runs the program at all stages. With a name, each stage is compared with a snapshot.
    pub(crate) fn check(&self, name: Option<&str>) {
        let ctx = context();
        let mut module = read(&ctx, &self.source).unwrap_or_else(|errors| panic!("{errors}"));
        let original = read(&ctx, &self.source).unwrap_or_else(|errors| panic!("{errors}"));
        let expected: Vec<_> =
            self.calls.iter().map(|call| self.call(&original, &module, call, false)).collect();
        type Stage = fn(&mut Body) -> Result<(), Diagnostics>;
        let stages: [(&str, Stage); 4] = [
            ("loops", |module| convert_linalg_to_loops(module, Loops::Scf)),
            ("scf", lower_affine),
            ("cf", convert_scf_to_cf),
            ("llvm", convert_to_llvm),
        ];
        let mut before = print(&module, &PrintOptions::default());
        for (stage, lower) in stages {
            lower(&mut module).unwrap_or_else(|errors| panic!("{stage}:\n{}", errors.to_text(&ctx)));
            let errors = verifier::verify(&module);
            let text = print(&module, &PrintOptions::default());
            assert!(!errors.has_errors(), "{stage}:\n{}\n{text}", errors.to_text(&ctx));
            let again = read(&ctx, &text).unwrap_or_else(|errors| panic!("{stage}:\n{errors}\n{text}"));
            assert_eq!(print(&again, &PrintOptions::default()), text, "{stage}: read back");
            let is_last = stage == "llvm";
            for (call, expected) in self.calls.iter().zip(&expected).filter(|_| is_last || !self.long) {
                let actual = self.call(&original, &module, call, is_last);
                assert_eq!(actual, *expected, "{stage}: @{}({})", call.entry, call.arguments.join(", "));
            }
            if let Some(name) = name.filter(|_| text != before) {
                insta::assert_snapshot!(format!("{name}.{stage}"), text);
            }
            before.clone_from(&text);
            if let Some(folder) = llvm() {
                tool(&folder, "mlir-opt", &["-", "-o", "-"], &text);
            }
        }
        let text = to_ll(&module).unwrap_or_else(|errors| panic!("{}", errors.to_text(&ctx)));
        if let Some(name) = name {
            insta::assert_snapshot!(format!("{name}.ll"), text);
        }
        if let Some(folder) = llvm() {
            tool(&folder, "opt", &["-passes=verify", "-S", "-", "-o", "-"], &text);
            for (call, expected) in self.calls.iter().zip(&expected) {
                let actual = lli::run(&folder, &original, &text, call);
                assert_eq!(actual, *expected, "lli: @{}({})", call.entry, call.arguments.join(", "));
            }
        }
    }

    /// Runs the calls of a function that something else has compiled from the program, and
    /// compares them with the interpreter.
    pub(crate) fn check_compiled(&self, folder: &Path, original: &Body, function: &str, ll: &str) {
        for call in self.calls.iter().filter(|call| call.entry == function) {
            let expected = self.call(original, original, call, false);
            let actual = lli::run(folder, original, ll, call);
            assert_eq!(actual, expected, "lli: @{}({})", call.entry, call.arguments.join(", "));
        }
    }

    fn call(
        &self,
        original: &Body,
        module: &Body,
        call: &Call,
        is_lowered: bool,
    ) -> (Vec<Output>, Vec<(usize, Output)>) {
        let ctx = original.ctx();
        let what = format!("@{}({})", call.entry, call.arguments.join(", "));
        let (parameters, _) = interp::signature(original, &call.entry).expect("the function");
        let outcome = specs(ctx, call, &parameters, is_lowered)
            .and_then(|specs| interp::run(module, &call.entry, &specs, &Limits::default()))
            .map_err(|fault| Diagnostics::from(fault.diagnostic).to_text(ctx));
        observed(outcome.unwrap_or_else(|errors| panic!("{what}:\n{errors}")))
    }
}

/// Returns the arguments of a call of a function with these parameters. In a lowered program they
/// must name their original types.
pub(crate) fn specs(
    ctx: &Context,
    call: &Call,
    parameters: &[Type],
    is_lowered: bool,
) -> Result<Vec<ArgSpec>, Box<interp::Fault>> {
    let mut specs = Vec::new();
    for (text, ty) in call.arguments.iter().zip(parameters) {
        let mut spec = ArgSpec::parse(ctx, text)?;
        if is_lowered {
            spec.ty = spec.ty.or(Some(if ty.is_index() { Type::I64 } else { *ty }));
        }
        specs.push(spec);
    }
    Ok(specs)
}

/// Runs a tool of LLVM on a text and returns its output.
pub(crate) fn tool(folder: &Path, name: &str, arguments: &[&str], input: &str) -> Vec<u8> {
    let output = run(folder, name, arguments, input);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {}\n{errors}\n{input}", output.status);
    output.stdout
}

/// True if a tool of LLVM accepts a text.
pub(crate) fn accepts(folder: &Path, name: &str, arguments: &[&str], input: &str) -> bool {
    run(folder, name, arguments, input).status.success()
}

fn run(folder: &Path, name: &str, arguments: &[&str], input: &str) -> std::process::Output {
    let program = folder.join("bin").join(name);
    let mut command = Command::new(&program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let mut stdin = child.stdin.take().expect("a pipe");
    let text = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("its output");
    let _ = writer.join();
    output
}
