//! Dialects from text files: the same programs are accepted as by `mlir-opt`, and mistakes are
//! reported.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use loomir::CommandOutput;

use crate::peers;
use crate::support::scratch;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/text_dialect")
}

/// Runs a subcommand with a loaded file.
fn run(file: &Path, line: &str, input: &str) -> CommandOutput {
    let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
    let line = format!("{command} --load-dialect={} {rest}", file.display());
    loomir::run_command(loomir::registry(), loomir::passes(), &line, input)
}

/// Writes a dialect to a file.
fn written(name: &str, text: &str) -> PathBuf {
    let file = scratch(&format!("{name}.irdl"));
    std::fs::write(&file, text).expect("the file can be written");
    file
}

/// Returns the outcome of a command as text, without the names of folders.
fn shown(output: &CommandOutput) -> String {
    let text = format!("exit {}\n{}{}", output.status, output.out, output.err);
    text.replace(&format!("{}/", env!("CARGO_TARGET_TMPDIR")), "")
}

/// Asks `mlir-opt` about a program, if there is one: what it prints, or nothing if it refuses.
fn peer(file: &Path, program: &str) -> Option<Option<String>> {
    let tool = peers::tool("mlir-opt")?;
    let input = file.with_extension("in.mlir");
    std::fs::write(&input, program).expect("the file can be written");
    let output = Command::new(tool).arg(format!("--irdl-file={}", file.display())).arg(&input).output();
    let output = output.expect("mlir-opt starts");
    Some(output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// Compares the verdict about a program, and the printed text, with those of `mlir-opt`.
fn compare(place: &str, file: &Path, program: &str, ours: &CommandOutput) {
    let Some(theirs) = peer(file, program) else { return };
    let own = (ours.status == 0).then(|| ours.out.clone());
    let trimmed = |text: &Option<String>| text.as_ref().map(|text| text.trim().to_owned());
    assert_eq!(trimmed(&own), trimmed(&theirs), "{place}: {}\n{program}", ours.err);
}

/// Each file holds a dialect, and programs that use it.
#[test]
fn programs_are_accepted_as_by_mlir_opt() {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder().join("irdl")).expect("a folder").flatten().map(|own| own.path()).collect();
    files.sort();
    assert!(files.len() >= 10, "{} files", files.len());
    let mut text = String::new();
    for path in files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&path).expect("a file");
        let (dialect, programs) = source.split_once("// -----\n").expect("a program");
        let file = written(&name, dialect);
        let _ = writeln!(text, "===== {name}");
        for program in programs.split("// -----\n") {
            let ours = run(&file, "opt", program);
            compare(&name, &file, program, &ours);
            let _ = write!(text, "{program}----- {}", shown(&ours));
        }
    }
    insta::assert_snapshot!("text_dialect_programs", text);
}

/// Each chunk is a file that cannot be loaded.
#[test]
fn wrong_definitions_are_refused_as_by_mlir_opt() {
    let program = "func.func @f() {\n  return\n}\n";
    let source = std::fs::read_to_string(folder().join("irdl_errors.mlir")).expect("a file");
    let mut text = String::new();
    for (number, dialect) in source.split("// -----\n").enumerate() {
        let file = written(&format!("wrong{number}"), dialect);
        let ours = run(&file, "opt", program);
        assert_eq!(ours.status, 1, "{dialect}");
        if !dialect.contains("// DIFFERS: ") {
            compare("irdl_errors", &file, program, &ours);
        }
        let _ = writeln!(text, "{}", shown(&ours));
    }
    insta::assert_snapshot!("text_dialect_errors", text);
}

/// Each chunk is a file with a mistake in what Loomir adds.
#[test]
fn wrong_meanings_are_refused() {
    let source = std::fs::read_to_string(folder().join("meaning_errors.mlir")).expect("a file");
    let mut text = String::new();
    for (number, dialect) in source.split("// -----\n").enumerate() {
        let file = written(&format!("meaning{number}"), dialect);
        let ours = run(&file, "opt", "func.func @f() { return }");
        assert_eq!(ours.status, 1, "{dialect}");
        let _ = writeln!(text, "{}", shown(&ours));
    }
    insta::assert_snapshot!("text_dialect_meaning_errors", text);
}

const FIXED: &str = "
func.func @twice(%a: memref<8xi32>, %b: memref<8xi32>, %c: memref<8xi32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %a[%i] : memref<8xi32>
    %1 = fx.of_int %0 : !fx.fixed
    %2 = fx.square %1 : !fx.fixed
    %3 = fx.to_int %2 : !fx.fixed
    affine.store %3, %b[%i] : memref<8xi32>
  }
  affine.for %i = 0 to 8 {
    %0 = affine.load %b[%i] : memref<8xi32>
    %1 = fx.of_int %0 : !fx.fixed
    %2 = fx.mul %1, %1 : !fx.fixed
    %3 = fx.to_int %2 : !fx.fixed
    affine.store %3, %c[%i] : memref<8xi32>
  }
  return
}
func.func @through(%x: !fx.fixed) -> !fx.fixed { return %x : !fx.fixed }
";

/// Loops around loaded operations fuse, run, are lowered, and stay equal.
#[test]
fn meanings_run_and_fuse() {
    let file = folder().join("fixed.irdl");
    let fused = run(&file, "fuse --alias=distinct", FIXED);
    assert_eq!(fused.out.matches("affine.for").count(), 1, "{}", shown(&fused));
    let arguments = "--entry=twice --arg=iota --arg=zeros --arg=zeros";
    let before = run(&file, &format!("run {arguments}"), FIXED);
    let after = run(&file, &format!("run {arguments}"), &fused.out);
    assert!(before.out.contains("argument 2: [0, 1, 16, 81, 256, 625, 1296, 2401]"), "{}", shown(&before));
    assert_eq!(before.out, after.out);
    let copy = scratch("fixed.fused.mlir");
    std::fs::write(&copy, &fused.out).expect("the file can be written");
    let checked = run(&file, &format!("check --distinct - {}", copy.display()), FIXED);
    assert!(checked.out.contains("2 equal, 0 different, 0 not decided"), "{}", shown(&checked));
    let mut text = shown(&run(&file, "opt --lower-loaded", FIXED));
    text += &shown(&run(&file, "doc", ""));
    insta::assert_snapshot!("text_dialect_fixed", text);
    let code = run(&file, "opt --emit=ll", FIXED);
    assert!(code.out.contains("define i32 @through(i32"), "{}", shown(&code));
}

/// Programs whose loaded operations touch memory or may be undefined, each with its command.
const EFFECTS: [(&str, &str); 6] = [
    // The effects follow from the body: the operation touches `%b`, and the loops do not.
    ("fuse --alias=distinct", "mem.bump %b : memref<8xi32>"),
    // The operation touches what the loops touch.
    ("fuse --alias=distinct", "mem.bump %c : memref<8xi32>"),
    ("fuse --alias=distinct", "%x = \"mem.peek\"(%b) : (memref<8xi32>) -> i32"),
    ("fuse --alias=distinct", "\"mem.unknown\"() : () -> ()"),
    // Division by zero is undefined: it is not moved in front of a loop that may not run.
    (
        "opt --loop-invariant-code-motion",
        "affine.for %i = 0 to %n { %x = mem.div %y, %y : i32 affine.store %x, %b[0] : memref<8xi32> }",
    ),
    // Constants fold, with the attribute as an operand.
    (
        "opt --canonicalize",
        "%k = arith.constant 4 : i32 %x = mem.add %k {by = 3 : i32} : i32 affine.store %x, %b[0] : memref<8xi32>",
    ),
];

#[test]
fn effects_are_those_of_the_meaning() {
    let file = folder().join("effects.irdl");
    let mut text = String::new();
    for (command, line) in EFFECTS {
        let program = format!(
            "func.func @f(%a: memref<8xi32>, %b: memref<8xi32>, %c: memref<8xi32>, %n: index, %y: i32) {{
  affine.for %i = 0 to 8 {{
    %0 = affine.load %a[%i] : memref<8xi32>
    affine.store %0, %c[%i] : memref<8xi32>
  }}
  {line}
  affine.for %i = 0 to 8 {{
    %0 = affine.load %c[%i] : memref<8xi32>
    affine.store %0, %a[%i] : memref<8xi32>
  }}
  return
}}"
        );
        let _ = writeln!(
            text,
            "$ {command}: {line}\n{}",
            run(&file, &format!("{command} --remarks=none"), &program).out
        );
    }
    insta::assert_snapshot!("text_dialect_effects", text);
}

/// Commands on programs with constants and symbols of a loaded dialect.
const TRAITS: [(&str, &str); 6] = [
    // Constants fold to constants of the same dialect, and equal ones are one.
    (
        "opt --canonicalize",
        "func.func @f(%a: !q.fixed) -> (!q.fixed, !q.fixed) {
  %0 = q.constant 1 : i32 : !q.fixed
  %1 = q.constant 2 : i32 : !q.fixed
  %2 = q.one_more %1 : !q.fixed
  %3 = q.add %0, %a : !q.fixed
  %4 = q.constant 1 : i32 : !q.fixed
  %5 = q.add %4, %3 : !q.fixed
  return %2, %5 : !q.fixed, !q.fixed
}",
    ),
    (
        "run --entry=f",
        "func.func @f() -> i32 {
  %0 = q.constant 5 : i32 : !q.fixed
  %1 = q.one_more %0 : !q.fixed
  %2 = q.raw %1 : !q.fixed
  return %2 : i32
}",
    ),
    (
        "opt --lower-loaded",
        "func.func @f() -> !q.fixed {
  %0 = q.constant 5 : i32 : !q.fixed
  return %0 : !q.fixed
}",
    ),
    // The value has another type than the storage.
    (
        "opt",
        "func.func @f() -> !q.fixed {
  %0 = q.constant 5 : i64 : !q.fixed
  return %0 : !q.fixed
}",
    ),
    // Symbols have a name each, and those that nothing uses go.
    ("opt", "q.unit @metre\nq.unit @metre"),
    ("opt --symbol-dce", "q.unit @metre\nq.unit @second {sym_visibility = \"private\"}"),
];

#[test]
fn constants_and_symbols_are_those_of_compiled_dialects() {
    let file = folder().join("traits.irdl");
    let mut text = String::new();
    for (command, program) in TRAITS {
        let _ = writeln!(text, "$ {command}\n{program}\n----- {}", shown(&run(&file, command, program)));
    }
    insta::assert_snapshot!("text_dialect_traits", text);
}

/// Whole dialects of ten operations and more. Each file has the dialect, a program of two loops, a
/// function of constants, and a wrong program.
#[test]
fn dialects_of_ten_operations_do_all_that_compiled_ones_do() {
    let mut text = String::new();
    for name in ["bits", "fixed", "modular", "pixels", "tropical"] {
        let source = folder().join("ten").join(format!("{name}.mlir"));
        let source = std::fs::read_to_string(source).expect("a file");
        let parts: Vec<&str> = source.split("// -----\n").collect();
        let [dialect, program, constants, wrong] = parts[..] else { panic!("{name} has other parts") };
        let operations = dialect.matches("irdl.operation").count();
        assert!(operations >= 10 && dialect.lines().count() <= 100, "{name}: {operations} operations");
        let file = written(&format!("ten_{name}"), dialect);
        let printed = run(&file, "opt", program);
        assert_eq!(run(&file, "opt", &printed.out).out, printed.out, "{name}");
        let generic = run(&file, "opt --emit=generic", program);
        assert_eq!(run(&file, "opt", &generic.out).out, printed.out, "{name}");
        let arguments = "run --entry=work --arg=iota --arg=zeros --arg=zeros";
        let fused = run(&file, "fuse --alias=distinct --remarks=none", program);
        let results = run(&file, arguments, program);
        assert_eq!(run(&file, arguments, &fused.out), results, "{name}");
        let copy = scratch(&format!("ten_{name}.fused.mlir"));
        std::fs::write(&copy, &fused.out).expect("the file can be written");
        let checked = run(&file, &format!("check --distinct - {}", copy.display()), program);
        assert!(checked.out.contains("1 equal, 0 different, 0 not decided"), "{name}: {}", shown(&checked));
        let code = run(&file, "opt --emit=ll", &fused.out);
        assert_eq!(code.status, 0, "{name}: {}", shown(&code));
        let called = run(&file, "run --entry=folds", constants);
        let folded = run(&file, "opt --canonicalize", constants);
        let refused = run(&file, "opt", wrong);
        assert_eq!(refused.status, 1, "{name}");
        let _ = writeln!(text, "===== {name}: {operations} operations");
        for output in [fused, results, called, folded, refused] {
            text += &shown(&output);
        }
    }
    insta::assert_snapshot!("text_dialect_ten", text);
}

/// A chain of operations, each of which means two of the next, is refused before it is large.
#[test]
fn meanings_do_not_grow_without_bound() {
    let mut file = "irdl.dialect @chain {\n".to_owned();
    for number in 0..40 {
        let _ = writeln!(
            file,
            "irdl.operation @op_{number} attributes {{loomir.meaning = @f{number}, loomir.format = \"$x attr-dict\"}} {{
  %0 = irdl.is i32
  irdl.operands(x: %0)
  irdl.results(y: %0)
}}"
        );
    }
    file += "}\n";
    for number in 0..40 {
        let next = match number {
            39 => "arith.addi %x, %x : i32".to_owned(),
            _ => format!("chain.op_{} %x", number + 1),
        };
        let again = next.replace("%x", "%0");
        let _ = writeln!(
            file,
            "func.func @f{number}(%x: i32) -> i32 {{ %0 = {next} %1 = {again} return %1 : i32 }}"
        );
    }
    let refused = run(&written("chain", &file), "opt", "func.func @f() { return }");
    assert!(refused.err.contains("more than 10000 operations"), "{}", shown(&refused));
}

/// Formats that nest without bound are refused, and do not overflow the stack.
#[test]
fn formats_do_not_nest_without_bound() {
    let repeat = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{} attr-dict", open.repeat(20_000), close.repeat(20_000))
    };
    let formats = [
        repeat("(`a` ", "$x^", ")?"),
        repeat("(`a`) : (", "$x^", ")?"),
        repeat("oilist(`a` ", "$x", ")"),
        repeat("type(", "$x", ")"),
    ];
    for (number, format) in formats.iter().enumerate() {
        let file = format!(
            "irdl.dialect @deep {{
  irdl.operation @op attributes {{loomir.format = \"{format}\"}} {{
    %0 = irdl.any
    irdl.operands(x: optional %0)
  }}
}}"
        );
        let refused = run(&written(&format!("deep{number}"), &file), "opt", "func.func @f() { return }");
        assert!(refused.err.contains("nest more than 32 deep"), "{number}: {}", refused.err);
    }
}

/// A long chain of storages is followed; only one that ends in itself contains itself.
#[test]
fn storages_may_be_long_chains() {
    let chain = |last: &str| {
        let mut file = "irdl.dialect @chain {\n".to_owned();
        for number in 0..10_000 {
            let next = match number {
                9_999 => last.to_owned(),
                _ => format!("!chain.t{}", number + 1),
            };
            let _ = writeln!(file, "irdl.type @t{number} attributes {{loomir.storage = {next}}}");
        }
        file + "}\n"
    };
    let program = "func.func @f(%x: !chain.t0) -> !chain.t9999 {
  %0 = builtin.unrealized_conversion_cast %x : !chain.t0 to !chain.t9999
  return %0 : !chain.t9999
}";
    let lowered = run(&written("storages", &chain("i32")), "opt --lower-loaded", program);
    assert!(lowered.out.contains("@f(%arg0: i32) -> i32"), "{}", shown(&lowered));
    let refused = run(&written("circle", &chain("!chain.t0")), "opt", program);
    assert!(refused.err.contains("contains itself"), "{:.400}", refused.err);
}

/// Returns the operations that `mlir-opt` prints after it applied patterns, if there is one.
fn patterned(name: &str, patterns: &str, program: &str) -> Option<Vec<String>> {
    let tool = peers::tool("mlir-opt")?;
    let input = scratch(&format!("{name}.patterned.mlir"));
    let text = format!("module @patterns {{\n{patterns}}}\nmodule @ir {{\n{program}}}\n");
    std::fs::write(&input, text).expect("the file can be written");
    let arguments = ["-allow-unregistered-dialect", "-test-pdl-bytecode-pass"];
    let output = Command::new(tool).args(arguments).arg(&input).output().expect("mlir-opt starts");
    Some(operations(&String::from_utf8_lossy(&output.stdout)))
}

/// Returns the lines of a printed module that are no braces and no module.
fn operations(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "}");
    lines.filter(|line| !line.starts_with("module")).map(str::to_owned).collect()
}

#[test]
fn patterns_rewrite_as_in_mlir_opt() {
    let source = std::fs::read_to_string(folder().join("patterns.mlir")).expect("a file");
    for (number, case) in source.split("// =====\n").enumerate() {
        let (patterns, program) = case.split_once("// -----\n").expect("a program");
        let name = format!("patterns{number}");
        let file = written(&name, patterns);
        let ours = run(&file, "opt --allow-unregistered-dialect --apply-patterns", program);
        assert_eq!(ours.status, 0, "{}", shown(&ours));
        if let Some(theirs) = patterned(&name, patterns, program) {
            assert_eq!(operations(&ours.out), theirs, "{case}");
        }
    }
}

#[test]
fn patterns_that_cannot_be_applied_are_refused() {
    let source = std::fs::read_to_string(folder().join("pattern_errors.mlir")).expect("a file");
    let mut text = String::new();
    for (number, patterns) in source.split("// -----\n").enumerate() {
        let ours = run(&written(&format!("pattern{number}"), patterns), "opt", "func.func @f() { return }");
        assert_eq!(ours.status, 1, "{patterns}");
        let _ = writeln!(text, "{}", shown(&ours));
    }
    insta::assert_snapshot!("text_dialect_pattern_errors", text);
}

const NEGATIONS: &str = "
func.func @f(%a: i32, %b: i32) -> (i32, i32) {
  %0 = alg.neg %a : i32
  %1 = alg.neg %0 : i32
  %2 = alg.neg %b : i32
  %3 = arith.addi %1, %2 : i32
  %4 = arith.constant 7 : i32
  %5 = alg.neg %4 : i32
  return %3, %5 : i32, i32
}";

/// Patterns of loaded operations keep what a program computes; constants fold by the meaning.
#[test]
fn patterns_and_folds_keep_the_meaning() {
    let file = folder().join("algebra.irdl");
    let rewritten = run(&file, "opt --apply-patterns", NEGATIONS);
    assert_eq!(rewritten.out.matches("alg.neg").count(), 0, "{}", shown(&rewritten));
    assert!(rewritten.out.contains("arith.subi %arg0, %arg1"), "{}", shown(&rewritten));
    assert!(rewritten.out.contains("arith.constant -7"), "{}", shown(&rewritten));
    let checked = run(&file, "check --passes=apply-patterns", NEGATIONS);
    assert!(checked.out.contains("equal"), "{}", shown(&checked));
}

/// A pattern that makes what it matches ends with a diagnostic that names it; one that replaces a
/// value by another type does so too.
#[test]
fn patterns_are_bounded() {
    let forever = "pdl.pattern @forever : benefit(1) {
  %0 = operation \"foo.a\"
  rewrite %0 {
    %1 = operation \"foo.a\"
    erase %0
  }
}";
    let other_type = "pdl.pattern @other_type : benefit(1) {
  %t = type
  %x = operand
  %0 = operation \"foo.b\"(%x : !pdl.value) -> (%t : !pdl.type)
  rewrite %0 { replace %0 with (%x : !pdl.value) }
}";
    let program = "func.func @f(%x: i32) {
  \"foo.a\"() : () -> ()
  %0 = \"foo.b\"(%x) : (i32) -> f32
  \"foo.c\"(%0) : (f32) -> ()
  return
}";
    for (name, patterns) in [("forever", forever), ("other_type", other_type)] {
        let file = written(name, patterns);
        let ours = run(&file, "opt --allow-unregistered-dialect --apply-patterns", program);
        assert_eq!(ours.status, 1);
        assert!(ours.err.contains(name), "{}", shown(&ours));
    }
}

/// A pattern for any program, without a dialect.
const DOUBLE: &str = "pdl.pattern @double : benefit(1) {
  %t = type : i32
  %x = operand : %t
  %sum = operation \"arith.addi\"(%x, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  rewrite %sum {
    %two = attribute = 2 : i32
    %constant = operation \"arith.constant\" {\"value\" = %two} -> (%t : !pdl.type)
    %factor = result 0 of %constant
    %product = operation \"arith.muli\"(%x, %factor : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    replace %sum with %product
  }
}";

/// `--patterns` is a pass where it stands, and knows the dialects that are loaded.
#[test]
fn patterns_of_a_file_are_applied_where_the_option_stands() {
    let (double, plain) = (written("double", DOUBLE), written("plain", "func.func @f() { return }"));
    let again = written(
        "again",
        "pdl.pattern @again : benefit(1) {
  %t = type : i32
  %x = operand : %t
  %0 = operation \"arith.addi\"(%x, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  rewrite %0 {
    %1 = operation \"arith.addi\"(%x, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    replace %0 with %1
  }
}",
    );
    let (double, again) = (double.display(), again.display());
    let unused = folder().join("algebra.irdl");
    let program = "func.func @f(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  %1 = arith.addi %x, %x : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}";
    let lines = [
        format!("opt --patterns={double}"),
        format!("opt --patterns={double} --cse"),
        format!("opt --patterns={double} --pass-pipeline=builtin.module(func.func(cse),apply-patterns)"),
        format!("opt --patterns={double} --pass-pipeline=cse"),
        format!("check - --patterns={double} --passes=apply-patterns"),
        format!("opt --patterns={double} --load-dialect={}", unused.display()),
        format!("opt --patterns={}", plain.display()),
        format!("opt --patterns={again}"),
        "opt --patterns=missing.pdl".to_owned(),
        "opt --apply-patterns".to_owned(),
    ];
    let mut text = String::new();
    for line in lines {
        let done = loomir::run_command(loomir::registry(), loomir::passes(), &line, program);
        let line = line.replace(&format!("{}/", env!("CARGO_TARGET_TMPDIR")), "");
        let line = line.replace(&format!("{}/", folder().display()), "");
        let _ = writeln!(text, "$ {line}\n{}", shown(&done));
    }
    insta::assert_snapshot!("text_dialect_patterns", text);
}

/// Without the owner of the meanings, operations are still known, and are not executed.
#[test]
fn meanings_live_as_long_as_their_owner() {
    let text = std::fs::read_to_string(folder().join("algebra.irdl")).expect("a file");
    let files = loomir::DialectFiles::load(loomir::registry(), &[("algebra.irdl", &text)]);
    let files = files.expect("it can be loaded");
    let ctx = files.ctx().clone();
    let mut module = loomir::parse(&ctx, NEGATIONS, "f.mlir").expect("it can be read");
    let mut run = || loomir::execute(&mut module, "f", &["1", "2"], Default::default(), &Default::default());
    assert!(run().is_ok());
    drop(files);
    assert!(run().is_err());
}
