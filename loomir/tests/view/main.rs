//! The page that `loomir view` writes: well-formed, complete, harmless, small, and the same as the
//! remarks.

use std::path::PathBuf;

use serde_json::Value;

#[allow(dead_code, unreachable_pub)]
#[path = "../../../testing/src/peers.rs"]
mod peers;
#[path = "../support/mod.rs"]
mod support;

mod browser;
#[allow(unreachable_pub, reason = "the benchmarks include it")]
mod chromium;
mod contrast;
mod markup;

use markup::Markup;
use support::{loomir, scratch};

/// A fusion, a refusal and a versioned nest.
const PROGRAM: &str = include_str!("program.mlir");

/// Writes a program to a file, and returns the file and the page on it.
fn page(name: &str, program: &str) -> (PathBuf, String) {
    let file = scratch(name);
    std::fs::write(&file, program).expect("the file is written");
    let output = loomir(&["view", &file.to_string_lossy()], b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (file, String::from_utf8(output.stdout).expect("text"))
}

/// The remarks of `fuse` as JSON.
fn remarks(file: &std::path::Path) -> Vec<Value> {
    let output = loomir(&["fuse", "--remarks=json", "-o", "/dev/null", &file.to_string_lossy()], b"");
    let text = String::from_utf8(output.stderr).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

#[test]
fn the_page_is_well_formed_and_holds_the_remarks() {
    let (file, page) = page("view.mlir", PROGRAM);
    let markup = Markup::read(&page).expect("well-formed");
    assert_eq!(markup.dangling(), [""; 0]);
    let expected = remarks(&file);
    assert_eq!(markup.script("application/json").as_array(), Some(&expected));
    let names: Vec<&str> = expected.iter().filter_map(|own| own["name"].as_str()).collect();
    assert_eq!(names, ["Fused", "InvalidDependencies", "Fused", "Versioned"]);
    // A message begins with the name of the function, which the page shows elsewhere.
    for (at, remark) in expected.iter().enumerate() {
        let card = markup.text_of(&format!("r{at}")).expect("a card");
        let message = remark["message"].as_str().expect("a text");
        assert!(card.contains(message.split_once("]: ").expect("a function").1), "{card}");
        for note in remark["notes"].as_array().expect("notes") {
            assert!(card.contains(note["message"].as_str().expect("a text")), "{card}");
        }
    }
}

#[test]
fn a_refusal_says_why_and_what_would_have_to_change() {
    let (_, page) = page("refusal.mlir", PROGRAM);
    let card = Markup::read(&page).expect("well-formed").text_of("r1").expect("a card");
    assert!(card.contains("Kept apart"), "{card}");
    assert!(card.contains("would come too late"), "{card}");
    assert!(card.contains("The thick arrow points back:"), "{card}");
    assert!(card.contains("What would have to change"), "{card}");
}

#[test]
fn other_commands_write_the_same_page() {
    let (file, page) = page("same.mlir", PROGRAM);
    let name = file.to_string_lossy().into_owned();
    let report = scratch("same.html");
    let option = format!("--report={}", report.display());
    let output = loomir(&["fuse", "-q", &option, "-o", "/dev/null", &name], b"");
    assert!(output.status.success() && output.stderr.is_empty());
    let fused = std::fs::read_to_string(&report).expect("a page");
    assert_eq!(fused.replace("loomir fuse", "loomir view"), page);

    let output = loomir(&["opt", "--loop-fusion", &option, "-o", "/dev/null", &name], b"");
    assert!(output.status.success());
    let opt = std::fs::read_to_string(&report).expect("a page");
    let markup = Markup::read(&opt).expect("well-formed");
    assert!(markup.text_of("r0").is_some_and(|card| card.contains("Loops fused")), "{opt}");
    let output = loomir(&["opt", "--split-input-file", &option, &name], b"");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn texts_of_a_program_are_never_markup() {
    let evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";
    let program = PROGRAM.replace("@late", &format!("@\"{evil}\"")).replace(
        "return",
        &format!("\"x.y\"() {{a = \"{evil}\"}} : () -> () // {evil} <!-- ' \" & \u{202e}\n return"),
    );
    let file = scratch("'\"&<img src=x onerror=alert(3)>.mlir");
    std::fs::write(&file, program).expect("the file is written");
    let output = loomir(&["view", "--allow-unregistered-dialect", &file.to_string_lossy()], b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = String::from_utf8(output.stdout).expect("text");
    let markup = Markup::read(&page).expect("well-formed");
    // Reading refuses all but known elements and attributes, so that this is about what is shown.
    assert_eq!(markup.scripts(), 2);
    assert!(!page.contains("<img") && !page.contains('\u{202e}'));
    assert!(markup.text_of("f2").is_some_and(|text| text.contains(evil)));
}

#[test]
fn names_of_debug_information_are_shown_and_never_markup() {
    let evil = "<img src=x onerror=alert(1)>";
    let back = "br i1 %i.done, label %between, label %first";
    let program = include_str!("program.ll")
        .replace("ptr %a, ptr %b, ptr %c) {", "ptr %a, ptr %b, ptr %c) !dbg !3 {")
        .replace(back, &format!("{back}, !dbg !1, !llvm.loop !2"));
    let variables = ["<b>in", "between", "out"].into_iter().zip(1..).map(|(name, at)| {
        let number = at + 4;
        format!("!{number} = !DILocalVariable(name: \"{name}\", arg: {at}, scope: !3, file: !4, line: 2)\n")
    });
    let metadata = format!(
        "
!1 = !DILocation(line: 5, column: 1, scope: !3)
!2 = distinct !{{!2, !1}}
!3 = distinct !DISubprogram(name: \"copy\", scope: !4, file: !4, line: 2)
!4 = !DIFile(filename: \"{evil}\", directory: \"\")
"
    );
    let (_, page) = page("debug.ll", &format!("{program}{metadata}{}", variables.collect::<String>()));
    let markup = Markup::read(&page).expect("well-formed");
    assert!(!page.contains("<img") && !page.contains("<b>"));
    let function = markup.text_of("f0").expect("a function");
    assert!(function.contains(&format!("{evil}:5")), "{function}");
    assert!(function.contains("#0 is <b>in, #1 is between, #2 is out"), "{function}");
}

#[test]
fn llvm_ir_has_its_control_flow_and_the_reasons_of_explain() {
    let (_, page) = page("view.ll", include_str!("program.ll"));
    let markup = Markup::read(&page).expect("well-formed");
    assert_eq!(markup.dangling(), [""; 0]);
    assert!(markup.text_of("control-flow").is_some_and(|text| text.contains("header")));
    let all = markup.script("application/json");
    let names: Vec<&str> =
        all.as_array().expect("a list").iter().filter_map(|own| own["name"].as_str()).collect();
    assert_eq!(names, ["DependsOnData", "Fused", "Versioned"]);
}

#[test]
fn pages_are_small_and_large_programs_are_cut() {
    let function = |at: usize| {
        let body = "affine.for %i = 0 to 64 {
            %0 = affine.load %a[63 - %i] : memref<64xf32>
            %1 = arith.addf %0, %0 : f32
            affine.store %1, %b[%i] : memref<64xf32>
            affine.store %1, %a[%i] : memref<64xf32>
          }\n";
        format!("func.func @f{at}(%a: memref<64xf32>, %b: memref<64xf32>) {{\n{}return\n}}\n", body.repeat(4))
    };
    // 26 operations each.
    let program: String = (0..40).map(function).collect();
    let (_, small) = page("thousand.mlir", &program);
    assert!(small.len() < 1_000_000, "{}", small.len());
    Markup::read(&small).expect("well-formed");

    let loops = "func.func @f(%a: memref<8xf32>, %v: f32) { affine.for %i = 0 to 8 { affine.store %v, %a[%i] : memref<8xf32> } return }\n";
    let many: String = (0..500).map(|at| loops.replace("@f", &format!("@f{at}"))).collect();
    let long = format!("{many}{}", "// A line.\n".repeat(25_000));
    let (_, cut) = page("many.mlir", &long);
    let markup = Markup::read(&cut).expect("well-formed");
    assert_eq!(markup.dangling(), [""; 0]);
    assert!(cut.contains("100 functions are left out") && cut.contains("lines are left out"));
}

/// Three loops that are fused by two edits, and a loop by itself.
const TWO_EDITS: &str = "func.func @three(%a: memref<8xi32>, %v: i32) {
  affine.for %i = 0 to 8 {
    affine.store %v, %a[%i] : memref<8xi32>
  }
  affine.for %i = 0 to 8 {
    %0 = affine.load %a[%i] : memref<8xi32>
    affine.store %0, %a[%i] : memref<8xi32>
  }
  affine.for %i = 0 to 8 {
    %0 = affine.load %a[%i] : memref<8xi32>
    %1 = arith.addi %0, %0 : i32
    affine.store %1, %a[%i] : memref<8xi32>
  }
  return
}
func.func @alone(%a: memref<8xi32>, %v: i32) {
  affine.for %i = 0 to 8 {
    affine.store %v, %a[%i] : memref<8xi32>
  }
  return
}
";

#[test]
fn the_edits_of_passes_are_shown_one_after_the_other() {
    let file = scratch("edits.mlir");
    std::fs::write(&file, TWO_EDITS).expect("the file is written");
    let name = file.to_string_lossy().into_owned();
    let shown = |arguments: &[&str]| {
        let report = scratch("edits.html");
        let option = format!("--report={}", report.display());
        let output = loomir(&[arguments, &[&option, "-o", "/dev/null", &name]].concat(), b"");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let page = std::fs::read_to_string(&report).expect("a page");
        Markup::read(&page).expect("well-formed")
    };
    let commands: [(&[&str], &str); 2] =
        [(&["fuse", "-q"], "The 3 edits"), (&["opt", "--loop-fusion", "--canonicalize"], "The 2 edits")];
    for (command, edits) in commands {
        let markup = shown(command);
        let three = markup.text_of("f0").expect("a function");
        assert!(three.contains(&format!("{edits}, one after the other")), "{command:?}: {three}");
        assert!(
            three.contains("Edit 1 by loop-fusion") && three.contains("Edit 2 by loop-fusion"),
            "{three}"
        );
        // Names that are printed anew are no change.
        let alone = markup.text_of("f1").expect("a function");
        assert!(alone.contains("The same: nothing was changed."), "{alone}");
    }
    // One edit needs no list, and the limit of a command holds for its page.
    let limited = shown(&["opt", "--loop-fusion", "--limit=1"]).text_of("f0").expect("a function");
    assert!(!limited.contains("one after the other"), "{limited}");
}

#[test]
fn nothing_to_show_is_said() {
    let (_, empty) = page("empty.mlir", "func.func @f() { return }");
    assert!(empty.contains("There are no loops."));
    let file = scratch("wrong.mlir");
    std::fs::write(&file, "func.func @f(").expect("the file is written");
    assert_eq!(loomir(&["view", &file.to_string_lossy()], b"").status.code(), Some(1));
}
