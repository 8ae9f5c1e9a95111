//! Reading and writing of `.ll` text: accepted text and its output, refused text and its errors. No
//! text makes the reader panic, recurse without bound, or take more than linear time.

use std::fmt::Write;

use loomir_ir::Body;
use loomir_ir::text::{PrintOptions, print};
use loomir_ir::verifier::verify;
use loomir_lowering::{from_ll, to_ll};

use crate::fixture::{accepts, context, tool};
use crate::llvm;

const EVERYTHING: &str = include_str!("fixtures/ll/everything.ll");

/// The separator of programs in a file.
const SEPARATOR: &str = "; -----\n";

/// Returns the verified module of a text, or its errors.
fn read(source: &str) -> Result<Body, String> {
    let ctx = context();
    let module = from_ll(&ctx, source, "-").map_err(|errors| errors.to_text(&ctx))?;
    let errors = verify(&module);
    if errors.has_errors() { Err(errors.to_text(&ctx)) } else { Ok(module) }
}

fn written(module: &Body) -> String {
    to_ll(module).unwrap_or_else(|errors| panic!("{}", errors.to_text(module.ctx())))
}

#[test]
fn everything() {
    let module = read(EVERYTHING).unwrap_or_else(|errors| panic!("{errors}"));
    let text = written(&module);
    insta::assert_snapshot!("ll.everything.ll", text);
    let mlir = print(&module, &PrintOptions::default());
    insta::assert_snapshot!("ll.everything.mlir", mlir);
    assert_eq!(written(&read(&text).unwrap_or_else(|errors| panic!("{errors}"))), text);
    if let Some(folder) = llvm() {
        tool(&folder, "opt", &["-passes=verify", "-S", "-", "-o", "-"], &text);
    }
}

/// Parts without a place in the dialect survive, and the written text means the same to LLVM. The
/// same holds through MLIR's text.
#[test]
fn kept() {
    let mut report = String::new();
    for program in include_str!("fixtures/ll/kept.ll").split(SEPARATOR) {
        let module = read(program).unwrap_or_else(|errors| panic!("{errors}"));
        let text = written(&module);
        let mlir = print(&module, &PrintOptions::default());
        let again = loomir_ir::text::parse(module.ctx(), &mlir, "-")
            .unwrap_or_else(|e| panic!("{}", e.to_text(module.ctx())));
        assert_eq!(written(&again), text);
        if let Some(folder) = llvm() {
            let [read, wrote] = [program, &text].map(|text| normal_form(&folder, text));
            assert_eq!(read, wrote);
        }
        report.push_str(&text);
    }
    insta::assert_snapshot!("ll.kept", report);
}

/// A splat of an address fills all lanes of a vector, however many there are.
#[test]
fn splats_of_scalable_vectors() {
    let splat = "<vscale x 2 x ptr> splat (ptr @x)";
    let text = format!("@x = global i32 0\ndefine <vscale x 2 x ptr> @f() {{\n  ret {splat}\n}}\n");
    let module = read(&text).unwrap_or_else(|errors| panic!("{errors}"));
    let text = written(&module);
    assert_eq!(text.matches("insertelement <vscale x 2 x ptr> poison, ptr @x, i32 0").count(), 1, "{text}");
    let lanes = "<vscale x 2 x ptr> poison, <vscale x 2 x i32> zeroinitializer";
    assert!(text.contains("shufflevector") && text.contains(lanes), "{text}");
    if let Some(folder) = llvm() {
        tool(&folder, "opt", &["-passes=verify", "-S", "-", "-o", "-"], &text);
    }
}

/// Returns a text as LLVM writes it. Metadata, which is numbered anew, the name of the file, and
/// remains of its upgrade are left out.
fn normal_form(folder: &std::path::Path, text: &str) -> Vec<String> {
    let text = String::from_utf8(tool(folder, "opt", &["-passes=verify", "-S", "-", "-o", "-"], text))
        .expect("UTF-8");
    let lines = text.lines().filter(|line| {
        !line.starts_with(['!', ';'])
            && !line.starts_with("source_filename")
            && !line.contains("lifetime.start.i64")
    });
    let mut lines: Vec<String> = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
    lines.sort();
    lines
}

/// A function that a pass changes is written without the additional parts of its text; the others
/// keep them.
#[test]
fn changed_functions_are_written_plain() {
    let text = "define i32 @f(i32 %x) {\n  %y = add i32 %x, 1\n  %z = add i32 %y, 2\n  ret i32 %y\n}\n";
    let module = read(text).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(written(&module).contains("%y = add i32 %x, 1"));
    let mut changed = module.duplicate();
    for function in changed.nested_in_order() {
        let block = function.entry_block(function.region(function.root(), 0)).expect("a definition");
        let unused = function.ops(block).filter(|op| function.op_ref(*op).name() == "llvm.add").last();
        function.erase(unused.expect("two of them"));
    }
    let text = written(&changed);
    assert!(text.contains("%2 = add i32 %0, 1"), "{text}");
}

/// Returns each program of a file with its errors. `peer_refuses` is true if LLVM must refuse each
/// too, false if it must accept it.
fn refusals(source: &str, peer_refuses: bool) -> String {
    let (mut report, mut accepted_here) = (String::new(), String::new());
    for program in source.split(SEPARATOR) {
        let said = match read(program) {
            Ok(_) => {
                accepted_here.push_str(program);
                continue;
            }
            Err(said) => said,
        };
        if let Some(folder) = llvm() {
            let accepted = accepts(&folder, "opt", &["-passes=verify", "-disable-output", "-"], program);
            assert_eq!(accepted, !peer_refuses, "LLVM of\n{program}\n{said}");
        }
        let _ = write!(report, "{program}  => {}\n\n", said.trim_end().replace('\n', "\n     "));
    }
    assert!(accepted_here.is_empty(), "accepted:\n{accepted_here}");
    report
}

#[test]
fn malformed() {
    insta::assert_snapshot!(refusals(include_str!("fixtures/ll/malformed.ll"), true));
}

#[test]
fn unsupported() {
    insta::assert_snapshot!(refusals(include_str!("fixtures/ll/unsupported.ll"), false));
}

/// Reads an arbitrary text. If it is a module, writes it and reads it again.
fn answer(source: &str) {
    if let Ok(module) = read(source)
        && let Ok(text) = to_ll(&module)
    {
        let again = read(&text).unwrap_or_else(|errors| panic!("of\n{source}\ncame\n{text}\n{errors}"));
        assert_eq!(written(&again), text, "of\n{source}");
    }
}

/// Returns the approximate starts of tokens.
fn starts(text: &str) -> Vec<usize> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
    let mut before = ' ';
    let mut starts = Vec::new();
    for (at, c) in text.char_indices() {
        let goes_on = is_word(before) && is_word(c);
        if !c.is_whitespace() && !goes_on {
            starts.push(at);
        }
        before = c;
    }
    starts
}

/// Returns the text of one function and its references, so that there are not too many tokens to
/// damage.
fn small() -> String {
    let (head, rest) = EVERYTHING.split_once("define dso_local fastcc").expect("the function");
    let attributes = rest.find("attributes #0").expect("its attributes");
    format!("{head}{}", &rest[attributes..])
}

#[test]
fn truncated_texts_are_answered() {
    for start in starts(EVERYTHING).into_iter().step_by(2) {
        answer(&EVERYTHING[..start]);
    }
}

#[test]
fn damaged_texts_are_answered() {
    let text = small();
    let starts = starts(&text);
    let others = ["}", "(", "-1", "\"", "i999999999", "%0", "!9", "label", "<"];
    for (n, pair) in starts.windows(2).enumerate() {
        let (before, token, behind) = (&text[..pair[0]], &text[pair[0]..pair[1]], &text[pair[1]..]);
        answer(&format!("{before}{behind}"));
        answer(&format!("{before}{token}{token}{behind}"));
        answer(&format!("{before}{} {behind}", others[n % others.len()]));
    }
}

// Large texts, which would expose a quadratic step, take little time.

/// Reads, verifies, writes.
fn take(source: &str) {
    let module = read(source).unwrap_or_else(|errors| panic!("{}", &errors[..errors.len().min(2000)]));
    assert!(written(&module).len() > source.len() / 8);
}

#[test]
fn a_switch_of_ten_thousands() {
    let mut text = "define i32 @f(i32 %n) {\n  switch i32 %n, label %d [\n".to_owned();
    (0..40_000).for_each(|case| _ = writeln!(text, "    i32 {case}, label %b{}", case % 100));
    text.push_str("  ]\nd:\n  ret i32 -1\n");
    (0..100).for_each(|block| _ = writeln!(text, "b{block}:\n  ret i32 {block}"));
    take(&(text + "}\n"));
}

#[test]
fn a_hundred_thousand_blocks() {
    let mut text = "define i32 @f(i32 %n) {\n  br label %b0\n".to_owned();
    let (mut from, mut value) = ("%0".to_owned(), "%n".to_owned());
    for block in 0..100_000 {
        let _ = writeln!(text, "b{block}:\n  %p{block} = phi i32 [ {value}, {from} ]");
        let _ = writeln!(text, "  %v{block} = add i32 %p{block}, {block}\n  br label %b{}", block + 1);
        (from, value) = (format!("%b{block}"), format!("%v{block}"));
    }
    take(&(text + "b100000:\n  ret i32 0\n}\n"));
}

#[test]
fn large_constants() {
    let list = |element: &str, count: usize| format!("{element}{}", format!(", {element}").repeat(count - 1));
    take(&format!("@x = global [200000 x i32] [{}]\n", list("i32 -7", 200_000)));
    take(&format!("@x = global [{} x i8] c\"{}\"\n", 1 << 20, "\\41".repeat(1 << 20)));
    take(&format!("@x = global [100000 x ptr] [{}]\n", list("ptr @x", 100_000)));
    take(&format!("@x = global <100000 x ptr> <{}>\n", list("ptr @x", 100_000)));
}

#[test]
fn nesting_is_bounded() {
    let deep = 100_000;
    let texts = [
        format!("@x = global {}i32{} zeroinitializer\n", "[1 x ".repeat(deep), "]".repeat(deep)),
        format!("@x = global {{}} {}{}\n", "{ i32 ".repeat(deep), "}".repeat(deep)),
        format!("@x = global i64 {}0{}\n", "add (i64 ".repeat(deep), ")".repeat(deep)),
        format!("!0 = {}{}\n", "!{".repeat(deep), "}".repeat(deep)),
        format!("define void @f({}", "(".repeat(deep)),
        (0..deep).map(|n| format!("%t{n} = type {{ %t{} }}\n", n + 1)).collect::<String>()
            + &format!("%t{deep} = type {{}}\n@x = global %t0 zeroinitializer\n"),
    ];
    for text in texts {
        answer(&text);
    }
}
