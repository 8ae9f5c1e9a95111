//! Running our `.ll` by LLVM: a `main` in LLVM IR is appended. It calls the function on the very
//! bytes that the interpreter gets, and writes buffers and results to the standard output.

use std::fmt::Write;
use std::path::Path;

use loomir_dialects::interp::{self, Arguments, Flat, Outcome, Output};
use loomir_ir::{Body, Context, Diagnostics, FloatKind, Type, TypeKind};

use crate::fixture::{Call, observed, specs, tool};

/// Returns the LLVM IR type and the size in bytes of a scalar result, or of a vector's elements.
fn scalar(ctx: &Context, ty: Type) -> (String, usize) {
    match ty.kind(ctx) {
        TypeKind::Index => ("i64".into(), 8),
        TypeKind::Integer { width, .. } => (format!("i{width}"), width.div_ceil(8) as usize),
        TypeKind::Float(FloatKind::F16) => ("half".into(), 2),
        TypeKind::Float(FloatKind::BF16) => ("bfloat".into(), 2),
        TypeKind::Float(FloatKind::F32) => ("float".into(), 4),
        TypeKind::Float(FloatKind::F64) => ("double".into(), 8),
        _ => panic!("a result that is no scalar"),
    }
}

/// Returns the parts of a function's results, including those of vectors: type of the whole, type
/// of the part, number.
fn parts(ctx: &Context, ty: Type) -> (String, Type, usize) {
    match ty.kind(ctx) {
        TypeKind::Vector { shape, element, .. } => {
            let (element_text, _) = scalar(ctx, *element);
            (format!("<{} x {element_text}>", shape[0]), *element, shape[0] as usize)
        }
        _ => (scalar(ctx, ty).0, ty, 1),
    }
}

fn escaped(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "\\{byte:02X}");
        text
    })
}

/// Returns the outcome of `call` on `ll`, which was made from `original`.
pub(crate) fn run(
    folder: &Path,
    original: &Body,
    ll: &str,
    call: &Call,
) -> (Vec<Output>, Vec<(usize, Output)>) {
    let ctx = original.ctx();
    let (parameters, results) = interp::signature(original, &call.entry).expect("the function");
    let arguments = specs(ctx, call, &parameters, false)
        .and_then(|specs| Arguments::materialise(ctx, &parameters, &specs))
        .unwrap_or_else(|fault| panic!("{}", Diagnostics::from(fault.diagnostic).to_text(ctx)));
    let results: Vec<Returned> = results.iter().map(|ty| Returned::of(ctx, *ty)).collect();
    let writes = if ll.contains("@write(") { "" } else { "declare i64 @write(i32, ptr, i64)\n" };
    let main = main(&call.entry, &arguments, &results);
    let written = tool(folder, "lli", &["-"], &format!("{ll}\n{writes}{main}"));
    let outcome = outcome(ctx, &arguments, &results, &written);
    observed(outcome.unwrap_or_else(|fault| panic!("{}", Diagnostics::from(fault.diagnostic).to_text(ctx))))
}

/// A result of the function, a scalar or a vector.
struct Returned {
    /// The LLVM IR type of the whole.
    text: String,
    /// The type of the result, or of its elements.
    element: Type,
    /// The size in bytes of the scalar or of one element.
    size: usize,
    count: usize,
}

impl Returned {
    fn of(ctx: &Context, ty: Type) -> Self {
        let (text, element, count) = parts(ctx, ty);
        Returned { text, element, size: scalar(ctx, element).1, count }
    }
}

/// Returns a `main` that calls the function on the arguments and writes results and buffers.
fn main(entry: &str, arguments: &Arguments, results: &[Returned]) -> String {
    let mut main = String::new();
    for (i, buffer) in arguments.buffers.iter().enumerate() {
        let (size, bytes) = (buffer.bytes.len(), escaped(&buffer.bytes));
        let _ = writeln!(main, "@test.buffer{i} = global [{size} x i8] c\"{bytes}\", align {}", buffer.align);
    }
    for (i, result) in results.iter().enumerate() {
        let _ = writeln!(main, "@test.result{i} = global {} zeroinitializer, align 16", result.text);
    }
    let returned = match results {
        [] => "void".to_owned(),
        [one] => one.text.clone(),
        several => {
            let types: Vec<&str> = several.iter().map(|result| result.text.as_str()).collect();
            format!("{{ {} }}", types.join(", "))
        }
    };
    let flat = arguments.flattened().expect("arguments of compiled code");
    let operands: Vec<String> = flat.into_iter().map(operand).collect();
    main.push_str("define i32 @main() {\n");
    let result = if results.is_empty() { "" } else { "%r = " };
    let _ = writeln!(main, "  {result}call {returned} @{entry}({})", operands.join(", "));
    for (i, Returned { text, size, count, .. }) in results.iter().enumerate() {
        if results.len() == 1 {
            let _ = writeln!(main, "  store {text} %r, ptr @test.result0");
        } else {
            let _ = writeln!(main, "  %r{i} = extractvalue {returned} %r, {i}");
            let _ = writeln!(main, "  store {text} %r{i}, ptr @test.result{i}");
        }
        let _ = writeln!(main, "  call i64 @write(i32 1, ptr @test.result{i}, i64 {})", size * count);
    }
    for (i, buffer) in arguments.buffers.iter().enumerate() {
        let size = buffer.bytes.len();
        let _ = writeln!(main, "  call i64 @write(i32 1, ptr @test.buffer{i}, i64 {size})");
    }
    main.push_str("  ret i32 0\n}\n");
    main
}

/// Returns an argument as an operand of a call.
fn operand(flat: Flat) -> String {
    match flat {
        Flat::Integer { width, bits } => {
            let shift = 128 - width;
            format!("i{width} {}", ((bits as i128) << shift) >> shift)
        }
        Flat::Float { kind: FloatKind::F32, bits } => {
            let wide = f64::from(f32::from_bits(bits as u32));
            format!("float 0x{:016X}", wide.to_bits())
        }
        Flat::Float { kind: FloatKind::F64, bits } => format!("double 0x{:016X}", bits as u64),
        Flat::Float { .. } => panic!("an argument of another float type"),
        Flat::Address { buffer, offset } => {
            format!("ptr getelementptr (i8, ptr @test.buffer{buffer}, i64 {offset})")
        }
    }
}

/// Reads the results and buffers that `main` wrote.
fn outcome(
    ctx: &Context,
    arguments: &Arguments,
    results: &[Returned],
    written: &[u8],
) -> Result<Outcome, Box<interp::Fault>> {
    let mut rest = written;
    let mut take = |size: usize| {
        let (own, others) = rest.split_at(size);
        rest = others;
        own
    };
    let mut numbers: Vec<(Type, u128)> = Vec::new();
    for Returned { element, size, count, .. } in results {
        for chunk in take(size * count).chunks_exact(*size) {
            let mut wide = [0; 16];
            wide[..chunk.len()].copy_from_slice(chunk);
            numbers.push((*element, u128::from_le_bytes(wide)));
        }
    }
    let contents: Vec<&[u8]> = arguments.buffers.iter().map(|b| take(b.bytes.len())).collect();
    Outcome::from_bytes(ctx, arguments, &contents, &numbers)
}
