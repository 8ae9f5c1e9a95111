//! Whatever a file holds, the command answers: soon, in little memory, with a place and a cause.
//!
//! Inputs are made here, some of them large. Each run has a limit on processor time and on address
//! space; who reaches one is killed and has no exit status. The limits are generous, for a build
//! without optimisation on a busy machine: they catch what is not linear.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::{loomir, scratch, shown};
use insta::assert_snapshot;

/// Seconds of processor time, and KiB of address space.
const LIMITS: &str = "ulimit -t 60; ulimit -v 4000000";

/// Runs `loomir opt` on a text under the limits.
fn opt(text: &[u8]) -> Output {
    let mut child = Command::new("sh")
        .args(["-c", &format!("{LIMITS}; exec \"$0\" opt --allow-unregistered-dialect -o /dev/null")])
        .arg(env!("CARGO_BIN_EXE_loomir"))
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("there is a shell");
    // It reads everything before it writes anything.
    let _ = child.stdin.take().expect("a pipe").write_all(text);
    child.wait_with_output().expect("it ends")
}

/// Exit status and the first diagnostic, as `LINE:COLUMN: message`.
fn answer(text: &str) -> String {
    let output = opt(text.as_bytes());
    let said = String::from_utf8_lossy(&output.stderr);
    let Some(status) = output.status.code() else { return format!("killed: {said}") };
    let message = said.lines().next().unwrap_or_default();
    let place = said.lines().find_map(|line| line.split_once("<stdin>:")).map_or("", |(_, place)| place);
    format!("exit {status} {place} {message}").trim_end().to_owned()
}

/// A row for each input.
fn table<'a>(inputs: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let mut table = String::new();
    for (name, text) in inputs {
        let _ = writeln!(table, "{name}: {}", answer(&text));
    }
    table
}

/// Returns texts that nest: each with its name, and the text around `depth` levels.
fn nested(depth: usize) -> Vec<(&'static str, String)> {
    let around = |before: &str, open: &str, inner: &str, close: &str, behind: &str| {
        format!("{before}{}{inner}{}{behind}", open.repeat(depth), close.repeat(depth))
    };
    let ty = |open, close| around("func.func private @f(", open, "i32", close, ")");
    let attr = |open, close| around("module attributes {a.b = ", open, "1", close, "} {}");
    let affine =
        |open, close| around("module attributes {a.b = affine_map<(d0) -> (", open, "d0", close, ")>} {}");
    let loc = |open, close| around("\"t.x\"() : () -> () loc(", open, "unknown", close, ")");
    vec![
        ("tuples", ty("tuple<", ">")),
        ("memrefs", ty("memref<2x", ">")),
        ("function types", ty("() -> (", ")")),
        ("arrays", attr("[", "]")),
        ("dictionaries", attr("{a = ", "}")),
        ("affine parentheses", affine("(", ")")),
        ("affine signs", affine("-", "")),
        ("fused locations", loc("fused[", "]")),
        ("call sites", loc("callsite(", " at unknown)")),
        ("named locations", loc("\"a\"(", ")")),
        ("regions", around("", "\"t.x\"() ({ ", "", "}) : () -> ()", "")),
        ("modules", around("", "module { ", "", "}", "")),
        ("custom regions", around("func.func @f(%c: i1) { ", "scf.if %c { ", "", "} ", "return }")),
    ]
}

#[test]
fn a_thousand_levels_are_read() {
    for (name, text) in nested(1000) {
        assert_eq!(answer(&text), "exit 0", "{name}");
    }
}

#[test]
fn a_million_levels_are_refused_and_the_limit_is_named() {
    for (name, text) in nested(1_000_000) {
        let answer = answer(&text);
        assert!(answer.starts_with("exit 1 1:"), "{name}: {answer}");
        assert!(
            answer.ends_with("error: nested too deeply: at most 1100 levels can be read"),
            "{name}: {answer}"
        );
    }
}

/// A bit of everything that a file may hold.
const EVERYTHING: &str = "\
#map = affine_map<(d0)[s0] -> (d0 + s0 mod 4)>
!t = vector<4xf32>
module attributes {t.e = dense<[1, -2]> : tensor<2xi8>, t.s = \"a\\22b\", t.o = #t.x<[1]>} {
  func.func private @g(!t, memref<?xf32, #map>) -> (i32, f64)
  func.func @f(%a: i32 loc(\"f.c\":1:2), %c: i1) -> i32 {
    %r:2 = scf.if %c -> (i32, i32) {
      scf.yield %a, %a : i32, i32
    } else {
      %0 = arith.constant 0x1F : i32
      scf.yield %0, %a : i32, i32
    }
    cf.br ^bb1(%r#1 : i32)
  ^bb1(%x: i32):  // pred
    return %x : i32 loc(#l)
  }
} loc(fused<\"m\">[unknown, callsite(\"n\" at \"o\")])
#l = loc(\"g\":3:4 to :9)
{-# external_resources: { t: { k: \"0x04000000\", b: true } } #-}
";

#[test]
fn files_that_end_too_early_are_read_or_refused() {
    let whole = EVERYTHING;
    assert_eq!(answer(whole), "exit 0");
    for end in 0..whole.len() {
        let output = loomir(&["opt", "--allow-unregistered-dialect"], &whole.as_bytes()[..end]);
        let said = String::from_utf8_lossy(&output.stderr);
        let placed = said.contains("--> <stdin>:");
        assert!(
            matches!((output.status.code(), placed), (Some(0), false) | (Some(1), true)),
            "at {end}: {said}"
        );
    }
}

#[test]
fn brackets_that_mean_nothing_are_refused() {
    let million = 1_000_000;
    let elements = |depth: usize| {
        format!(
            "module attributes {{a.b = dense<{}1{}> : tensor<1xi32>}} {{}}",
            "[".repeat(depth),
            "]".repeat(depth)
        )
    };
    assert_snapshot!(table([
        ("squares", "[".repeat(million)),
        ("braces", "{".repeat(million)),
        ("parentheses", "(".repeat(million)),
        ("angles", "func.func private @f(!t.x".to_owned() + &"<".repeat(million)),
        ("elements", elements(million)),
        ("elements, open", elements(million).split(']').next().expect("text").to_owned()),
    ]), @"
    squares: exit 1 1:1 error: expected operation name in quotes
    braces: exit 1 1:1 error: expected operation name in quotes
    parentheses: exit 1 1:1 error: expected operation name in quotes
    angles: exit 1 1:1000026 error: unexpected end of file in dialect symbol
    elements: exit 1 1:1133 error: nested too deeply: at most 1100 levels can be read
    elements, open: exit 1 1:1000033 error: expected '>'
    ");
}

#[test]
fn values_and_blocks_that_are_not_there() {
    let function = |body: &str| format!("func.func @f(%a: i32, %b: f32) {{\n  {body}\n}}\n");
    assert_snapshot!(table([
        ("undefined", function("%0 = arith.addi %a, %x : i32\n  return")),
        ("defined twice", function("%a = arith.constant 1 : i32\n  return")),
        ("used before it is defined", function("%0 = arith.addi %1, %1 : i32\n  %1 = arith.constant 1 : i32\n  return")),
        ("of another type", function("%0 = arith.addi %a, %b : i32\n  return")),
        ("no such block", function("cf.br ^nowhere")),
        ("the entry block", function("^entry:\n  cf.br ^entry")),
        ("a block with other arguments", function("cf.br ^bb1(%a : i32)\n^bb1(%x: f32):\n  return")),
        ("a block twice", function("cf.br ^bb1\n^bb1:\n  cf.br ^bb1\n^bb1:\n  return")),
        ("no terminator", function("%0 = arith.constant 1 : i32")),
        ("too many results", "%0:4000000000 = \"t.x\"() : () -> i32".into()),
        ("a million errors", "nonsense\n".repeat(1_000_000)),
    ]), @"
    undefined: exit 1 2:23 error: use of undeclared SSA value name '%x'
    defined twice: exit 1 2:3 error: redefinition of SSA value '%a'
    used before it is defined: exit 1 2:8 error: operand #0 does not dominate this use
    of another type: exit 1 2:23 error: use of value '%b' expects different type than prior uses: 'i32' vs 'f32'
    no such block: exit 1 2:9 error: reference to an undefined block '^nowhere'
    the entry block: exit 1 2:3 error: invalid block name in region with named arguments
    a block with other arguments: exit 1 2:3 error: type mismatch for bb argument #0 of successor #0
    a block twice: exit 1 5:1 error: redefinition of block '^bb1'
    no terminator: exit 1 2:8 error: block with no terminator, has 'arith.constant'
    too many results: exit 1 1:1 error: operation defines 1 results but was provided 4000000000 to bind
    a million errors: exit 1 1:1 error: custom op 'nonsense' is unknown (tried 'builtin.nonsense' as well)
    ");
}

#[test]
fn numbers_and_literals_that_do_not_fit() {
    let attr = |text: &str| format!("module attributes {{a.b = {text}}} {{}}");
    let ty = |text: &str| format!("func.func private @f({text})");
    let digits = "9".repeat(1_000_000);
    assert_snapshot!(table([
        ("a wide integer", ty("i99999999")),
        ("a wider integer", ty(&format!("i{digits}"))),
        ("a long size", ty(&format!("tensor<{digits}xi8>"))),
        ("an integer out of range", attr("256 : i8")),
        ("an integer of a million digits", attr(&format!("{digits} : i64"))),
        ("hexadecimal elements of a wrong size", attr("dense<\"0x0102\"> : tensor<4xi8>")),
        ("half a byte", attr("dense<\"0x012\"> : tensor<1xi8>")),
        ("no digits", attr("dense<\"0xzz\"> : tensor<1xi8>")),
        ("ragged elements", attr("dense<[[1, 2], [3]]> : tensor<2x2xi8>")),
        ("elements of another shape", attr("dense<[1, 2, 3]> : tensor<2xi8>")),
        ("an index out of bounds", attr("sparse<[[9]], [1]> : tensor<4xi8>")),
        ("an open string", attr("\"abc\n\"")),
    ]), @r#"
    a wide integer: exit 1 1:22 error: integer bitwidth is limited to 16777215 bits
    a wider integer: exit 1 1:22 error: integer bitwidth is limited to 16777215 bits
    a long size: exit 1 1:29 error: invalid dimension
    an integer out of range: exit 1 1:26 error: integer constant out of range for attribute
    an integer of a million digits: exit 1 1:26 error: integer constant out of range for attribute
    hexadecimal elements of a wrong size: exit 1 1:32 error: elements hex data size is invalid for provided type: 2 bytes
    half a byte: exit 1 1:32 error: elements hex string should start with '0x' and have two digits a byte
    no digits: exit 1 1:32 error: elements hex string should start with '0x' and have two digits a byte
    ragged elements: exit 1 1:44 error: tensor literal is invalid; ranks are not consistent between elements
    elements of another shape: exit 1 1:32 error: inferred shape of elements literal ([3]) does not match type ([2]) of tensor<2xi8>
    an index out of bounds: exit 1 1:33 error: sparse index [9] is not within the shape of the type, [4]
    an open string: exit 1 1:26 error: expected '"' in string literal
    "#);
}

/// Reads inputs that are large, but say what they say.
#[test]
fn large_inputs_are_read() {
    let attr = |text: &str| format!("module attributes {{a.b = {text}}} {{}}");
    let megabyte = 1 << 20;
    for (name, text) in [
        ("a splat of a terabyte", attr("dense<1> : tensor<1000000000000xi8>")),
        ("a splat of more bytes than there are", attr("dense<1> : tensor<99999999999x99999999999xi64>")),
        ("sparse elements", attr("sparse<[[0]], [1]> : tensor<1000000000000xi8>")),
        (
            "elements of 100 MB",
            attr(&format!("dense<\"0x{}\"> : tensor<{}xi8>", "01".repeat(50 * megabyte), 50 * megabyte)),
        ),
        (
            "elements one by one",
            attr(&format!("dense<[{}1]> : tensor<{}xi8>", "1,".repeat(5 * megabyte), 5 * megabyte + 1)),
        ),
        ("a string of 100 MB", attr(&format!("\"{}\"", "x".repeat(100 * megabyte)))),
        ("a comment of 100 MB", format!("//{}", "x".repeat(100 * megabyte))),
        ("a million sizes", format!("func.func private @f(tensor<{}i8>)", "1x".repeat(1_000_000))),
        ("a long sum", attr(&format!("affine_map<(d0) -> ({}d0)>", "d0 mod 2 + ".repeat(100_000)))),
        (
            "a thousand dimensions",
            attr(&format!(
                "affine_map<({}e) -> (e)>",
                (0..1000).map(|i| format!("d{i}, ")).collect::<String>()
            )),
        ),
        ("nothing", String::new()),
    ] {
        assert_eq!(answer(&text), "exit 0", "{name}");
    }
}

/// Sixty lines that stand for 2⁶⁰ things.
#[test]
fn aliases_of_aliases_are_limited() {
    let doubled =
        |sigil: char, first: &str, twice: &dyn Fn(&str) -> String, last: &dyn Fn(&str) -> String| {
            let mut text = format!("{sigil}a0 = {first}\n");
            for i in 1..60 {
                let _ = writeln!(text, "{sigil}a{i} = {}", twice(&format!("{sigil}a{}", i - 1)));
            }
            text + &last(&format!("{sigil}a59"))
        };
    let module = |alias: &str| format!("module attributes {{a.b = {alias}}} {{}}");
    let function = |alias: &str| format!("func.func private @f({alias})");
    let refused = table([
        ("arrays", doubled('#', "[1, 1]", &|a| format!("[{a}, {a}]"), &module)),
        ("unregistered attributes", doubled('#', "#t.x<1>", &|a| format!("#t.x<{a}, {a}>"), &module)),
        ("tuples", doubled('!', "i1", &|a| format!("tuple<{a}, {a}>"), &function)),
        (
            "types in types seen before",
            doubled('!', "i1", &|a| format!("tuple<tuple<{a}>, tuple<{a}>>"), &function),
        ),
    ]);
    assert_eq!(
        refused.matches("error: aliases stand for too much: all of it together may be 67").count(),
        4,
        "{refused}"
    );
    let locations = doubled('#', "loc(\"f\":1:1)", &|a| format!("loc(callsite({a} at {a}))"), &|a| {
        format!("module {{}} loc({a})")
    });
    assert_eq!(answer(&locations), "exit 0", "their text is not printed in full");
}

#[test]
fn a_place_in_another_file_is_named() {
    let text = "func.func @f() {\n  cf.br ^bb1 loc(\"other.c\":3:4)\n^bb1:  // no return\n}\n\"cf.br\"() : () -> () loc(\"other.c\":5:6)\n";
    assert_snapshot!(String::from_utf8_lossy(&opt(text.as_bytes()).stderr), @"
    error: 'cf.br' op requires one successor but found 0
    --> other.c:5:6

    error: empty block: expect at least a terminator
     --> <stdin>:1:1
      |
    1 | func.func @f() {
      | ^^^^^^^^^
    ");
}

#[test]
fn a_place_far_to_the_right_is_shown() {
    let text = format!(
        "module attributes {{{}a.z = }} {{}}",
        (0..100).map(|i| format!("a.a{i} = 1, ")).collect::<String>()
    );
    assert_snapshot!(String::from_utf8_lossy(&opt(text.as_bytes()).stderr), @"
    error: expected attribute value
     --> <stdin>:1:1116
      |
    1 | ...1, a.a95 = 1, a.a96 = 1, a.a97 = 1, a.a98 = 1, a.a99 = 1, a.z = } {}
      |                                                                    ^
    ");
}

#[test]
fn bytes_that_are_no_text_are_shown() {
    let output = opt(b"module attributes {\n  a.b = \"\xff\"\n} {}\n");
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(String::from_utf8_lossy(&output.stderr), @r#"
    error: this byte is not UTF-8
     --> <stdin>:2:10
      |
    2 |   a.b = "�"
      |          ^
      |
    help: MLIR's text is ASCII, UTF-8 in strings
    "#);
    for text in [&b"\x00"[..], b"\xef\xbb\xbfmodule {}", b"\xff\xfe", b"func.func @f() {\x00 return }"] {
        assert_eq!(opt(text).status.code(), Some(1), "{text:?}");
    }
}

#[test]
fn files_that_can_not_be_read_or_written() {
    let folder = env!("CARGO_TARGET_TMPDIR");
    let missing = scratch("no-such-folder").join("out.mlir");
    let missing = missing.to_str().expect("text");
    let crash = format!("--mlir-generate-reproducer={missing}");
    for args in [
        &["opt", "no/such/file.mlir"][..],
        &["opt", folder],
        &["opt", "-", "-o", folder],
        &["opt", "-", "-o", missing],
        &["opt", "-", &crash],
    ] {
        let output = loomir(args, b"module {}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(
            said.starts_with("error: cannot read '") || said.starts_with("error: cannot write '"),
            "{said}"
        );
    }
    assert!(!Path::new(missing).exists());
}

#[test]
fn pipelines_that_make_no_sense() {
    for (pipeline, message) in [
        ("builtin.module(", "expected ')'"),
        ("builtin.module(canonicalize))", "expected the end of the pipeline"),
        ("builtin.module(,)", "expected the name of a pass or operation"),
        ("builtin.module(canonicalise)", "there is no pass called 'canonicalise'"),
        ("builtin.module(loop-fusion)", "pass 'loop-fusion' runs on func.func"),
        ("builtin.module(func.func(loop-fusion{alias}))", "option 'alias': 'true' is none of"),
        ("builtin.module(func.func(loop-fusion{alias=distint}))", "did you mean 'distinct'?"),
        ("builtin.module(func.func(loop-fusion{alis=may}))", "did you mean 'alias'?"),
        ("builtin.module(func.func(loop-fusion{dependence=polyhedrl}))", "did you mean 'polyhedral'?"),
        ("builtin.module(func.func(loop-fusion{alias='may}))", "unterminated string"),
        ("builtin.module(func.func(loop-fusion{alias={may}))", "expected"),
        (&"any(".repeat(10_000), "a pipeline nests at most 64 deep"),
    ] {
        let shown = shown(&["opt", "-p", pipeline], "module {}");
        assert!(shown.starts_with("exit 2\n--- stdout\n--- stderr\nerror: "), "{shown}");
        assert!(shown.contains(message), "{shown}");
        assert!(shown.contains("^\n"), "the place is shown: {shown}");
    }
}
