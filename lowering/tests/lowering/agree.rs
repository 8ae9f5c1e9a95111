//! Agreement of the interpreter and LLVM: each function of the programs that takes and returns
//! numbers alone is called on the same arguments by both.
//!
//! LLVM's calls are in a `main` appended to the program, each in a process of its own, so that they
//! do not share variables. A call that the interpreter doesn't finish (undefined behaviour,
//! external functions, too many steps) is not made by LLVM.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use loomir_dialects::interp::{self, ArgSpec, Limits, Output};
use loomir_dialects::llvm;
use loomir_ir::{Body, Context, FloatKind, Type, TypeKind};
use loomir_lowering::{from_ll, to_ll};

use crate::fixture::context;
use crate::programs::{for_each, output, programs, translated};

/// Arguments of integer type; each is wrapped to its width.
const INTEGERS: &[i64] = &[0, 1, 5, 12, -3, 1000];

/// Returns the type of a number in LLVM's syntax. `None` for other types, and for floats that C
/// does not pass unchanged.
fn number(ctx: &Context, ty: Type) -> Option<&'static str> {
    match ty.kind(ctx) {
        TypeKind::Integer { width, .. } => [(8, "i8"), (16, "i16"), (32, "i32"), (64, "i64")]
            .into_iter()
            .find_map(|(own, text)| (own == *width).then_some(text)),
        TypeKind::Float(FloatKind::F32) => Some("float"),
        TypeKind::Float(FloatKind::F64) => Some("double"),
        _ => None,
    }
}

/// Returns the defined functions on numbers, with the types of arguments and result.
fn functions(module: &Body) -> Vec<(String, Vec<Type>, Type)> {
    let ctx = module.ctx();
    let blocks = module.own_regions(module.root()).flat_map(|region| module.blocks(region));
    let ops = blocks.flat_map(|block| module.ops(block)).map(|op| module.op_ref(op));
    let defined = ops.filter(|op| op.is(llvm::FuncOp::DEF) && op.body().entry_block(op.region(0)).is_some());
    let names = defined.filter_map(|op| Some(op.attr("sym_name")?.as_str(ctx)?.to_owned()));
    names
        .filter(|name| name != "main")
        .filter_map(|name| {
            let (parameters, results) = interp::signature(module, &name)?;
            let [result] = results[..] else { return None };
            let are_numbers = parameters.iter().chain([&result]).all(|ty| number(ctx, *ty).is_some());
            are_numbers.then_some((name, parameters, result))
        })
        .collect()
}

/// Adds the calls of a function that the interpreter finishes: instructions to `main`, and LLVM's
/// expected output to `expected`.
fn calls(module: &Body, function: &(String, Vec<Type>, Type), main: &mut String, expected: &mut String) {
    let ctx = module.ctx();
    let (name, parameters, result) = function;
    let limits = Limits { steps: 1_000_000, call_depth: 500, ..Limits::default() };
    let count = if parameters.is_empty() { 1 } else { INTEGERS.len() };
    for first in 0..count {
        let (mut specs, mut arguments) = (Vec::new(), Vec::new());
        for (n, ty) in parameters.iter().enumerate() {
            let value = INTEGERS[(first + n) % INTEGERS.len()];
            let ty_text = number(ctx, *ty).unwrap_or_default();
            let is_float = ty.integer_width(ctx).is_none();
            let value = match ty_text {
                "i8" => i64::from(value as i8),
                _ => value,
            };
            let text = if is_float { format!("{value}.5") } else { value.to_string() };
            let mut spec = ArgSpec::parse(ctx, &text).expect("an argument");
            spec.ty = Some(*ty);
            specs.push(spec);
            arguments.push(format!("{ty_text} {text}"));
        }
        let Ok(outcome) = interp::run(module, name, &specs, &limits) else { continue };
        let [Output::Number(value)] = outcome.results[..] else { continue };
        let id = main.matches("fork").count();
        let ty = number(ctx, *result).unwrap_or_default();
        let _ = writeln!(main, "  %p{id} = call i32 @fork()\n  %is{id} = icmp eq i32 %p{id}, 0");
        let _ = writeln!(main, "  br i1 %is{id}, label %child{id}, label %parent{id}\nchild{id}:");
        let _ = writeln!(main, "  %r{id} = call {ty} @\"{name}\"({})", arguments.join(", "));
        let bits = match ty {
            "i64" => format!("  %b{id} = add i64 %r{id}, 0"),
            "double" => format!("  %b{id} = bitcast double %r{id} to i64"),
            "float" => format!("  %i{id} = bitcast float %r{id} to i32\n  %b{id} = zext i32 %i{id} to i64"),
            ty => format!("  %b{id} = zext {ty} %r{id} to i64"),
        };
        let _ =
            writeln!(main, "{bits}\n  %w{id} = call i32 (ptr, ...) @printf(ptr @agree.format, i64 %b{id})");
        let _ = writeln!(main, "  call void @exit(i32 0)\n  unreachable\nparent{id}:");
        let _ = writeln!(main, "  %d{id} = call i32 @wait(ptr null)");
        let _ = writeln!(expected, "{name}({}) {:x}", arguments.join(", "), value.bits);
    }
}

fn check(llvm: &Path, program: &Path, count: &AtomicUsize) -> Result<(), String> {
    let source = translated(llvm, program, "-O1")?;
    let ctx = context();
    let module = from_ll(&ctx, &source, "input.ll").map_err(|errors| errors.to_text(&ctx))?;
    let (mut main, mut expected) = (String::new(), String::new());
    for function in functions(&module) {
        calls(&module, &function, &mut main, &mut expected);
    }
    if expected.is_empty() {
        return Ok(());
    }
    let text = to_ll(&module).map_err(|errors| errors.to_text(&ctx))?.replace("@main(", "@agree.main(");
    let mut text = format!("{text}\n@agree.format = private constant [6 x i8] c\"%llx\\0A\\00\"\n");
    for declaration in ["i32 @fork()", "i32 @wait(ptr)", "void @exit(i32)", "i32 @printf(ptr, ...)"] {
        let name = &declaration[declaration.find('@').unwrap_or(0)..=declaration.find('(').unwrap_or(0)];
        if !text.lines().any(|line| line.starts_with("declare") && line.contains(name)) {
            let _ = writeln!(text, "declare {declaration}");
        }
    }
    let _ = write!(text, "define i32 @main() {{\n{main}  ret i32 0\n}}\n");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(program.file_name().expect("a file"));
    let file = file.with_added_extension("agree.ll");
    fs::write(&file, text).map_err(|error| error.to_string())?;
    let printed = output(llvm, program, &file)?;
    count.fetch_add(expected.lines().count(), Ordering::Relaxed);
    for (expected, printed) in expected.lines().zip(printed.lines().chain(std::iter::repeat(""))) {
        let (call, value) = expected.rsplit_once(' ').unwrap_or_default();
        if value != printed {
            return Err(format!("{call}: the interpreter says {value}, LLVM says {printed}"));
        }
    }
    Ok(())
}

#[test]
fn interpreter_and_llvm_agree_on_functions_of_numbers() {
    let Some(llvm) = crate::llvm() else { return };
    let count = AtomicUsize::new(0);
    let failures = for_each(&programs(), |program| check(&llvm, program, &count));
    assert!(failures.is_empty(), "{} fail\n{}", failures.len(), failures.join("\n"));
    let count = count.into_inner();
    assert!(count >= 200, "only {count} calls were compared");
}
