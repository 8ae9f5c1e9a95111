//! A call of a function by `lli`: a `main` behind the program passes the bytes that the interpreter
//! gets, and writes the results and buffers to standard output.

use std::fmt::Write;

use loomir::dialects::interp::{self, ArgSpec, Arguments, Flat};
use loomir::ir::{Body, FloatKind, Type, TypeKind};
use loomir_tests::peers::Peer;

/// Returns the bytes that a call leaves behind, and the ending of the process.
pub(crate) fn run(module: &Body, entry: &str, arguments: &[String], lli: &Peer) -> (Vec<u8>, Option<i32>) {
    let ctx = module.ctx();
    let (parameters, results) = interp::signature(module, entry).expect("the function is there");
    let specs: Result<Vec<ArgSpec>, _> = arguments.iter().map(|text| ArgSpec::parse(ctx, text)).collect();
    let made = specs.and_then(|specs| Arguments::materialise(ctx, &parameters, &specs));
    let made = made.unwrap_or_else(|fault| panic!("{}", fault.diagnostic.message));
    // A copy is lowered.
    let mut lowered = module.duplicate();
    loomir::lowering::lower_to_llvm(&mut lowered).expect("it can be lowered");
    let mut text = loomir::lowering::to_ll(&lowered).expect("it can be written");
    if !text.contains("@write(") {
        text += "declare i64 @write(i32, ptr, i64)\n";
    }
    for (i, buffer) in made.buffers.iter().enumerate() {
        let bytes: String = buffer.bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "\\{byte:02X}");
            text
        });
        let size = buffer.bytes.len();
        let _ = writeln!(text, "@test.buffer{i} = global [{size} x i8] c\"{bytes}\", align {}", buffer.align);
    }
    let flat = made.flattened().expect("arguments of compiled code");
    let operands: Vec<String> = flat.iter().map(operand).collect();
    let types: Vec<&str> = results.iter().map(|ty| scalar(module, *ty)).collect();
    let returned = match types.as_slice() {
        [] => "void".to_owned(),
        [one] => (*one).to_owned(),
        several => format!("{{ {} }}", several.join(", ")),
    };
    let _ = writeln!(text, "@test.results = global {} zeroinitializer", returned.replace("void", "i8"));
    let assigned = if types.is_empty() { "" } else { "%r = " };
    let call = format!("{assigned}call {returned} @{entry}({})", operands.join(", "));
    let _ = writeln!(text, "define i32 @main() {{\n  {call}");
    if !types.is_empty() {
        let _ = writeln!(text, "  store {returned} %r, ptr @test.results");
        let _ = writeln!(text, "  %size = ptrtoint ptr getelementptr ({returned}, ptr null, i32 1) to i64");
        let _ = writeln!(text, "  call i64 @write(i32 1, ptr @test.results, i64 %size)");
    }
    for (i, buffer) in made.buffers.iter().enumerate() {
        let size = buffer.bytes.len();
        let _ = writeln!(text, "  call i64 @write(i32 1, ptr @test.buffer{i}, i64 {size})");
    }
    text += "  ret i32 0\n}\n";
    let output = lli.output(&text, &["-"]).expect("lli runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("error:"), "{said}\n{text}");
    (output.stdout, output.status.code())
}

fn operand(flat: &Flat) -> String {
    match flat {
        Flat::Integer { width, bits } => {
            let shift = 128 - width;
            format!("i{width} {}", ((*bits as i128) << shift) >> shift)
        }
        Flat::Float { kind: FloatKind::F32, bits } => {
            format!("float 0x{:016X}", f64::from(f32::from_bits(*bits as u32)).to_bits())
        }
        Flat::Float { bits, .. } => format!("double 0x{:016X}", *bits as u64),
        Flat::Address { buffer, offset } => {
            format!("ptr getelementptr (i8, ptr @test.buffer{buffer}, i64 {offset})")
        }
    }
}

/// Returns the type of a result in LLVM's syntax.
fn scalar(module: &Body, ty: Type) -> &'static str {
    match ty.kind(module.ctx()) {
        TypeKind::Index => "i64",
        TypeKind::Integer { width: 64, .. } => "i64",
        TypeKind::Integer { width: 32, .. } => "i32",
        TypeKind::Integer { width: 1, .. } => "i1",
        TypeKind::Float(FloatKind::F32) => "float",
        TypeKind::Float(FloatKind::F64) => "double",
        other => panic!("results of type {other:?} are not read"),
    }
}
