//! The interpreter against MLIR and LLVM. A program must give the same bits as it is, after MLIR's
//! own lowering to the `llvm` dialect, and compiled by clang. Without LLVM (see `support`) only the
//! first is run.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use crate::support;
use loomir_dialects::interp::{ArgSpec, Argument, Arguments, Flat, Limits, Outcome, run, signature};
use loomir_ir::{Body, Context, FloatKind, Type};

const LOWERING: &[&str] = &[
    "--lower-affine",
    "--convert-scf-to-cf",
    "--expand-strided-metadata",
    "--lower-affine",
    "--convert-math-to-llvm",
    "--convert-math-to-libm",
    "--finalize-memref-to-llvm",
    "--convert-func-to-llvm",
    "--convert-arith-to-llvm",
    "--convert-index-to-llvm",
    "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts",
];

fn limits() -> Limits {
    Limits { steps: 10_000_000, call_depth: 100, memory: 1 << 24 }
}

fn read(ctx: &Context, source: &str) -> Body {
    support::read(ctx, source).unwrap_or_else(|message| panic!("{message}"))
}

fn execute(body: &Body, entry: &str, texts: &[String]) -> Outcome {
    let specs: Result<Vec<_>, _> = texts.iter().map(|text| ArgSpec::parse(body.ctx(), text)).collect();
    let outcome = specs.and_then(|specs| run(body, entry, &specs, &limits()));
    let mut outcome = outcome.unwrap_or_else(|fault| panic!("@{entry}: {}", fault.diagnostic.message));
    outcome.steps = 0;
    outcome
}

/// Returns the arguments with their types, in the form that a lowered function needs.
fn typed(ctx: &Context, texts: &[String], parameters: &[Type]) -> Vec<String> {
    let ty = |ty: &Type| loomir_ir::text::type_to_string(ctx, *ty);
    let wanted = |ty: &Type| ty.shape(ctx).is_some();
    texts
        .iter()
        .zip(parameters)
        .map(|(text, p)| if wanted(p) { format!("{text} : {}", ty(p)) } else { text.clone() })
        .collect()
}

#[test]
fn lowering_and_compiling_give_the_same_bits() {
    let source = support::fixture("lowered/programs.mlir");
    let ctx = loomir_dialects::context();
    let body = read(&ctx, &source);
    let lowered = support::mlir_opt(&source, LOWERING).map(|text| text.expect("mlir-opt lowers the fixture"));
    let lowered_body = lowered.as_ref().map(|text| read(&ctx, text));
    let mut report = String::new();
    let mut calls = Vec::new();
    for line in source.lines() {
        let Some(call) = line.strip_prefix("// run @") else { continue };
        let (entry, arguments) = call.split_once('(').expect("a call");
        let texts: Vec<String> =
            arguments.strip_suffix(')').expect("a call").split(" ; ").map(str::to_owned).collect();
        let outcome = execute(&body, entry, &texts);
        let _ = write!(report, "@{call}\n{}", outcome.to_text());
        if let Some(lowered) = &lowered_body {
            let (parameters, _) = signature(&body, entry).expect("the function is there");
            let again = execute(lowered, entry, &typed(&ctx, &texts, &parameters));
            support::pretty_eq(&format!("@{call} after lowering"), &again.to_text(), &outcome.to_text());
        }
        calls.push((entry.to_owned(), texts, outcome));
    }
    insta::assert_snapshot!(report);
    if let Some(lowered) = &lowered {
        compile(&ctx, &body, lowered, &calls);
    }
}

/// Compiles the program with a driver in C that makes every call, and compares the bytes it leaves.
fn compile(ctx: &Context, body: &Body, lowered: &str, calls: &[(String, Vec<String>, Outcome)]) {
    let Some(llvm) = support::peers::llvm().map(|folder| folder.join("bin")) else { return };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = |name: &str| folder.join(name);
    let (mut driver, mut all) = (String::from(DRIVER), Vec::new());
    let mut main = String::new();
    for (k, (entry, texts, _)) in calls.iter().enumerate() {
        let (parameters, results) = signature(body, entry).expect("the function is there");
        let specs: Result<Vec<_>, _> = texts.iter().map(|text| ArgSpec::parse(ctx, text)).collect();
        let arguments =
            Arguments::materialise(ctx, &parameters, &specs.expect("arguments")).expect("arguments");
        declare_call(ctx, &mut driver, &mut main, k, entry, &arguments, &results);
        all.push((arguments, results));
    }
    let _ = writeln!(driver, "int main(void) {{\n{main}  return 0;\n}}");
    std::fs::write(file("driver.c"), driver).expect("the folder is ours");
    std::fs::write(file("lowered.mlir"), lowered).expect("the folder is ours");
    let step = |program: &str, arguments: &[&str]| {
        let output = Command::new(llvm.join(program)).current_dir(&folder).args(arguments).output();
        let output = output.unwrap_or_else(|e| panic!("{program}: {e}"));
        assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    };
    step("mlir-translate", &["--mlir-to-llvmir", "lowered.mlir", "-o", "lowered.ll"]);
    let lib = llvm.with_file_name("lib").display().to_string();
    let (search, load) = (format!("-L{lib}"), format!("-Wl,-rpath,{lib}"));
    let sources = ["-O1", "-w", "driver.c", "lowered.ll", "-o", "driver"];
    step("clang", &[&sources[..], &[&search, &load, "-lmlir_c_runner_utils", "-lm"]].concat());
    let output = Command::new(file("driver")).output().expect("what was compiled runs");
    assert!(output.status.success(), "{output:?}");
    let output = String::from_utf8(output.stdout).expect("hexadecimal digits");
    let mut lines = output.lines().map(|line| -> Vec<u8> {
        let digits = line.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("digits"));
        digits.map(|pair| u8::from_str_radix(pair, 16).expect("digits")).collect()
    });
    for ((arguments, results), (entry, texts, expected)) in all.iter().zip(calls) {
        let buffers: Vec<Vec<u8>> = arguments.buffers.iter().map(|_| lines.next().expect("a line")).collect();
        let buffers: Vec<&[u8]> = buffers.iter().map(Vec::as_slice).collect();
        let numbers: Vec<(Type, u128)> = results
            .iter()
            .map(|ty| {
                let mut wide = [0; 16];
                let bytes = lines.next().expect("a line");
                wide[..bytes.len()].copy_from_slice(&bytes);
                (*ty, u128::from_le_bytes(wide))
            })
            .collect();
        let outcome = Outcome::from_bytes(ctx, arguments, &buffers, &numbers).expect("an outcome");
        support::pretty_eq(&format!("@{entry}{texts:?} compiled"), &outcome.to_text(), &expected.to_text());
    }
}

const DRIVER: &str = "#include <stdint.h>
#include <stdio.h>
#include <string.h>
static void show(const void *p, unsigned long n) {
  for (unsigned long i = 0; i < n; i++) printf(\"%02x\", ((const unsigned char *)p)[i]);
  printf(\"\\n\");
}
";

/// Buffers and prototype of a call, and the call itself in `main`.
fn declare_call(
    ctx: &Context,
    driver: &mut String,
    main: &mut String,
    k: usize,
    entry: &str,
    arguments: &Arguments,
    results: &[Type],
) {
    for (b, buffer) in arguments.buffers.iter().enumerate() {
        let bytes: Vec<String> = buffer.bytes.iter().map(u8::to_string).collect();
        let _ = writeln!(
            driver,
            "static unsigned char b{k}_{b}[] __attribute__((aligned({}))) = {{{}}};",
            buffer.align,
            bytes.join(",")
        );
    }
    let (mut types, mut values) = (Vec::new(), Vec::new());
    for flat in arguments.flattened().expect("scalars") {
        match flat {
            Flat::Integer { width, bits } => {
                types.push(format!("uint{}_t", width.next_power_of_two().max(8)));
                values.push(format!("{bits}u"));
            }
            Flat::Float { kind, bits } => {
                let name = if kind == FloatKind::F32 { "float" } else { "double" };
                types.push(name.to_owned());
                let number = if kind == FloatKind::F32 {
                    f64::from(f32::from_bits(bits as u32))
                } else {
                    f64::from_bits(bits as u64)
                };
                values.push(format!("{number:?}"));
            }
            Flat::Address { buffer, offset } => {
                types.push("void *".to_owned());
                values.push(format!("b{k}_{buffer} + {offset}"));
            }
        }
    }
    let result = match results {
        [] => "void".to_owned(),
        [ty] => match ty.integer_width(ctx) {
            Some(width) => format!("int{width}_t"),
            None if *ty == Type::F32 => "float".to_owned(),
            None => "double".to_owned(),
        },
        _ => panic!("one result at most"),
    };
    let _ = writeln!(driver, "{result} {entry}({});", types.join(", "));
    let call = format!("{entry}({})", values.join(", "));
    let _ = match results {
        [] => writeln!(main, "  {call};"),
        _ => writeln!(main, "  {result} r{k} = {call};"),
    };
    for (b, buffer) in arguments.buffers.iter().enumerate() {
        let _ = writeln!(main, "  show(b{k}_{b}, {});", buffer.bytes.len());
    }
    if !results.is_empty() {
        let _ = writeln!(main, "  show(&r{k}, sizeof r{k});");
    }
    // Scalars alone would not test the passing of views.
    debug_assert!(arguments.arguments.iter().all(|a| !matches!(a, Argument::View(v) if v.unranked)));
}
