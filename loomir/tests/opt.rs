//! `loomir opt` beside `mlir-opt`: the same flags do the same.

use std::process::Command;

use crate::peers;
use crate::support::{loomir, scratch, shown};
use insta::assert_snapshot;

/// Three programs; the second is wrong, in line 8 of the file.
const SPLIT: &str = "\
func.func @a() {
  return
}
// -----

func.func @b() {
  %0 = arith.constant 1 : i32
  return %0 : i32
}
// -----
func.func @c() {
  return
}
";

/// Something to fold, twice.
const FOLD: &str = "\
func.func @f() -> i32 {
  %0 = arith.constant 1 : i32
  %1 = arith.addi %0, %0 : i32
  return %1 : i32
}
func.func @g(%a: i32) -> i32 {
  return %a : i32
}
";

fn stdout(args: &[&str], input: &str) -> String {
    let output = loomir(args, input.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

fn stderr(args: &[&str], input: &str) -> String {
    let output = loomir(args, input.as_bytes());
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn split_input_is_read_piece_by_piece() {
    assert_snapshot!(shown(&["opt", "--split-input-file"], SPLIT), @"
    exit 1
    --- stdout
    module {
      func.func @a() {
        return
      }
    }

    // -----
    // -----
    module {
      func.func @c() {
        return
      }
    }

    --- stderr
    error: 'func.return' op has 1 operands, but enclosing function (@b) returns 0
     --> <stdin>:8:3
      |
    8 |   return %0 : i32
      |   ^^^^^^
    ");
}

#[test]
fn markers_may_be_others() {
    let source = SPLIT.replace("// -----", "//===").replace("return %0 : i32", "return");
    let args = ["opt", "-", "-split-input-file=//===", "-output-split-marker=// next"];
    let printed = stdout(&args, &source);
    assert_eq!(printed.matches("}\n\n// next\nmodule {").count(), 2, "{printed}");
}

#[test]
fn expected_diagnostics_are_no_errors() {
    let expected = SPLIT.replace("  return %0", "  // expected-error @+1 {{has 1 operands}}\n  return %0");
    assert_eq!(stderr(&["opt", "--split-input-file", "--verify-diagnostics"], &expected), "");
    // Remarks are diagnostics too.
    let fused = "\
        // expected-note@+4 {{with this loop}}\n\
        // expected-remark@+4 {{Loops fused}}\n\
        func.func @f(%a: memref<4xf32>) {\n\
        %c = arith.constant 0.0 : f32\n\
        affine.for %i = 0 to 4 { affine.store %c, %a[%i] : memref<4xf32> }\n\
        affine.for %i = 0 to 4 { affine.store %c, %a[%i] : memref<4xf32> }\n\
        return }\n";
    assert_eq!(stderr(&["opt", "--loop-fusion", "--verify-diagnostics"], fused), "");
}

#[test]
fn differences_from_expected_diagnostics_are_errors() {
    let source = format!("// expected-warning@+1 {{{{nothing}}}}\n{SPLIT}");
    assert_snapshot!(shown(&["opt", "--split-input-file", "--verify-diagnostics"], &source), @r#"
    exit 1
    --- stdout
    module {
      func.func @a() {
        return
      }
    }

    // -----
    // -----
    module {
      func.func @c() {
        return
      }
    }

    --- stderr
    error: expected warning "nothing" was not produced
     --> <stdin>:1:4
      |
    1 | // expected-warning@+1 {{nothing}}
      |    ^^^^^^^^

    error: unexpected error: 'func.return' op has 1 operands, but enclosing function (@b) returns 0
     --> <stdin>:9:3
      |
    9 |   return %0 : i32
      |   ^^^^^^
    "#);
    let only = shown(&["opt", "--split-input-file", "--verify-diagnostics=only-expected"], &source);
    assert!(only.contains("was not produced") && !only.contains("unexpected"), "{only}");
}

#[test]
fn what_nobody_registered_needs_a_flag() {
    let source =
        "func.func @f(%a: !t.x) attributes {t.y = #t.z<1>} {\n  \"t.op\"() : () -> ()\n  return\n}\n";
    assert_snapshot!(shown(&["opt"], source), @"
    exit 1
    --- stdout
    --- stderr
    error: type 't.x' is of a dialect that is not registered
     --> <stdin>:1:18
      |
    1 | func.func @f(%a: !t.x) attributes {t.y = #t.z<1>} {
      |                  ^^^^
      |
    help: if this is intended, allow it with --allow-unregistered-dialect
    ");
    for command in [&["opt", "-"][..], &["fuse", "-"]] {
        assert_eq!(loomir(command, source.as_bytes()).status.code(), Some(1));
        let allowed = [command, &["--allow-unregistered-dialect"]].concat();
        assert!(stdout(&allowed, source).contains("\"t.op\"() : () -> ()"));
    }
}

#[test]
fn printing_flags_say_how_the_program_is_printed() {
    let source = "module attributes {a.x = dense<[1, 2, 3]> : tensor<3xi8>} {\n  func.func private @f(i32) attributes {a.m = affine_map<(d0) -> (d0 + 1)>}\n}\n\
                  {-# external_resources: { t: { long: \"0123456789\", short: true } } #-}\n";
    assert_snapshot!(stdout(&["opt", "--mlir-print-op-generic"], source), @r#"
    #map = affine_map<(d0) -> (d0 + 1)>
    "builtin.module"() ({
      "func.func"() <{function_type = (i32) -> (), sym_name = "f", sym_visibility = "private"}> ({
      }) {a.m = #map} : () -> ()
    }) {a.x = dense<[1, 2, 3]> : tensor<3xi8>} : () -> ()

    {-#
      external_resources: {
        t: {
          long: "0123456789",
          short: true
        }
      }
    #-}
    "#);
    assert_snapshot!(stdout(&["opt", "--mlir-print-debuginfo", "--mlir-print-local-scope"], source), @r#"
    module attributes {a.x = dense<[1, 2, 3]> : tensor<3xi8>} {
      func.func private @f(i32) attributes {a.m = affine_map<(d0) -> (d0 + 1)>} loc("<stdin>":2:3)
    } loc("<stdin>":1:1)
    "#);
    let elided = stdout(
        &["opt", "--mlir-elide-elementsattrs-if-larger=2", "--mlir-elide-resource-strings-if-larger=5"],
        source,
    );
    assert_snapshot!(elided, @"
    #map = affine_map<(d0) -> (d0 + 1)>
    module attributes {a.x = dense_resource<__elided__> : tensor<3xi8>} {
      func.func private @f(i32) attributes {a.m = #map}
    }

    {-#
      external_resources: {
        t: {
          short: true
        }
      }
    #-}
    ");
}

#[test]
fn a_function_may_be_all_there_is() {
    let function = FOLD.split_once("func.func @g").expect("two functions").0;
    assert_snapshot!(stdout(&["opt", "--no-implicit-module", "--canonicalize", "--loop-fusion"], function), @"
    func.func @f() -> i32 {
      %c2_i32 = arith.constant 2 : i32
      return %c2_i32 : i32
    }
    ");
    assert_snapshot!(shown(&["opt", "--no-implicit-module"], FOLD), @"
    exit 1
    --- stdout
    --- stderr
    error: source must contain a single top-level operation, found: 2
     --> <stdin>:1:1
      |
    1 | func.func @f() -> i32 {
      | ^^^^^^^^^
    ");
}

/// Titles of dumps, with the number of functions in each.
fn titles(args: &[&str]) -> String {
    let log = stderr(
        &[&["opt", "--pass-pipeline=builtin.module(func.func(canonicalize),lower-affine)"], args].concat(),
        FOLD,
    );
    let dumps = log.split("// -----// ").skip(1);
    dumps
        .map(|dump| {
            let (title, text) = dump.split_once(" //----- //\n").expect("a title");
            format!("{title}: {}\n", text.matches("func.func").count())
        })
        .collect()
}

#[test]
fn the_program_is_printed_around_passes() {
    assert_snapshot!(titles(&["--mlir-print-ir-before-all", "--mlir-print-ir-after=canonicalize"]), @"
    IR Dump Before canonicalize: 1
    IR Dump After canonicalize: 1
    IR Dump Before canonicalize: 1
    IR Dump After canonicalize: 1
    IR Dump Before lower-affine: 2
    ");
    assert_eq!(titles(&["-print-ir-after-all"]), titles(&["--mlir-print-ir-after-all"]));
    assert_snapshot!(titles(&["--mlir-print-ir-after-all", "--mlir-print-ir-after-change"]), @"IR Dump After canonicalize: 1");
    assert_snapshot!(titles(&["--mlir-print-ir-after-all", "--mlir-print-ir-module-scope"]), @"
    IR Dump After canonicalize ('func.func' operation: @f): 2
    IR Dump After canonicalize ('func.func' operation: @g): 2
    IR Dump After lower-affine ('builtin.module' operation): 2
    ");
    assert_eq!(titles(&["--mlir-print-ir-after-failure"]), "");
}

#[test]
fn times_are_a_tree_or_a_list() {
    let pipeline = "--pass-pipeline=builtin.module(func.func(canonicalize),canonicalize)";
    let names = |args: &[&str]| -> String {
        let log = stderr(&[&["opt", pipeline, "--mlir-timing"], args].concat(), FOLD);
        let lines = log.lines().skip_while(|line| !line.contains("----Name----")).skip(1);
        lines.map(|line| format!("{}\n", &line[40..])).collect()
    };
    assert_snapshot!(names(&[]), @"
    Parser
    'func.func' Pipeline
      canonicalize
      (V) verifier
    canonicalize
    (V) verifier
    Output
    Rest
    Total
    ");
    let list = names(&["--mlir-timing-display=list"]);
    let mut sorted: Vec<&str> = list.lines().map(str::trim).collect();
    sorted.sort_unstable();
    assert_eq!(
        sorted,
        ["'func.func' Pipeline", "(V) verifier", "Output", "Parser", "Rest", "Total", "canonicalize"]
    );
}

#[test]
fn statistics_are_a_tree_or_a_list() {
    let pipeline = "--pass-pipeline=builtin.module(func.func(canonicalize),canonicalize)";
    assert_snapshot!(stderr(&["opt", pipeline, "--mlir-pass-statistics"], FOLD), @"
    ===-------------------------------------------------------------------------===
                            ... Pass statistics report ...
    ===-------------------------------------------------------------------------===
    'func.func' Pipeline
      canonicalize
        (S)      1 Operations folded
        (S)      0 Operations rewritten
        (S)      1 Operations erased
        (S)      0 Constants unified
    canonicalize
      (S)      0 Operations folded
      (S)      0 Operations rewritten
      (S)      0 Operations erased
      (S)      0 Constants unified
    ");
    assert_snapshot!(stderr(&["opt", pipeline, "--stats", "--mlir-pass-statistics-display=list"], FOLD), @"
    ===-------------------------------------------------------------------------===
                            ... Pass statistics report ...
    ===-------------------------------------------------------------------------===
    canonicalize
      (S)      1 Operations folded
      (S)      0 Operations rewritten
      (S)      1 Operations erased
      (S)      0 Constants unified
    ");
}

#[test]
fn the_pipeline_and_what_there_is_can_be_seen() {
    let args = ["opt", "--canonicalize", "--loop-fusion=alias=distinct", "--dump-pass-pipeline"];
    assert_snapshot!(stderr(&args, FOLD), @"
    builtin.module(
      canonicalize,
      func.func(
        loop-fusion{alias=distinct}
      )
    )
    ");
    assert!(stdout(&["opt", "--show-dialects"], "").contains(",arith,"));
    let passes = stdout(&["opt", "--list-passes"], "");
    assert!(passes.contains("  --loop-fusion ") && passes.contains("alias=version"), "{passes}");
}

#[test]
fn threads_change_nothing_that_is_said() {
    let functions: String =
        (0..40).map(|i| FOLD.replace("@f", &format!("@f{i}")).replace("@g", &format!("@g{i}"))).collect();
    let args = [
        "opt",
        "-",
        "--pass-pipeline=builtin.module(func.func(canonicalize,loop-fusion))",
        "--mlir-print-ir-after-all",
        "--stats",
    ];
    let alone = shown(&[&args[..], &["--mlir-disable-threading"]].concat(), &functions);
    for _ in 0..3 {
        assert_eq!(shown(&args, &functions), alone);
    }
}

/// Fails in `convert-to-llvm`, on the program that `lower-affine` made.
const FAILS: &str = "\
func.func @f() {
  affine.for %i = 0 to 4 {
    \"t.op\"(%i) : (index) -> ()
  }
  return
}
";

#[test]
fn a_pass_that_fails_leaves_a_reproducer() {
    let path = scratch("crash.mlir");
    let _ = std::fs::remove_file(&path);
    let file = path.to_str().expect("text");
    let flag = format!("--mlir-pass-pipeline-crash-reproducer={file}");
    let run = |args: &[&str]| {
        loomir(&[&["opt", "--allow-unregistered-dialect", &flag], args].concat(), FAILS.as_bytes())
    };
    assert_eq!(run(&["--lower-affine"]).status.code(), Some(0));
    assert!(!path.exists(), "what succeeds leaves none");
    let failed = run(&["--lower-affine", "--lower-to-llvm", "--verify-each=false"]);
    assert_eq!(failed.status.code(), Some(1));
    let said = String::from_utf8_lossy(&failed.stderr).replace(file, "crash.mlir");
    assert_snapshot!(said, @r#"
    error: 't.op' cannot be converted to the llvm dialect
     --> <stdin>:3:5
      |
    3 |     "t.op"(%i) : (index) -> ()
      |     ^^^^^^

    note: a reproducer has been written: loomir opt crash.mlir --run-reproducer --allow-unregistered-dialect
    "#);
    assert_snapshot!(std::fs::read_to_string(&path).expect("it was written"), @r#"
    module {
      func.func @f() {
        affine.for %arg0 = 0 to 4 {
          "t.op"(%arg0) : (index) -> ()
        }
        return
      }
    }

    {-#
      external_resources: {
        mlir_reproducer: {
          pipeline: "builtin.module(lower-affine,lower-to-llvm)",
          disable_threading: false,
          verify_each: false
        }
      }
    #-}
    "#);
    let again = loomir(&["opt", file, "--run-reproducer", "--allow-unregistered-dialect"], b"");
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("'t.op' cannot be converted"));
}

#[test]
fn a_reproducer_does_what_the_pipeline_does() {
    let path = scratch("reproducer.mlir");
    let file = path.to_str().expect("text");
    let generate = format!("--mlir-generate-reproducer={file}");
    let done = stdout(&["opt", "--canonicalize", &generate], FOLD);
    assert_ne!(done, stdout(&["opt"], FOLD));
    assert_eq!(stdout(&["opt", file, "--run-reproducer"], ""), done);
    for (source, message) in [
        (FOLD.to_owned(), "this is no reproducer"),
        (
            format!(
                "{FOLD}{{-# external_resources: {{ mlir_reproducer: {{ pipeline: \"builtin.module(none)\" }} }} #-}}"
            ),
            "there is no pass called 'none'",
        ),
        (
            format!("{FOLD}{{-# external_resources: {{ mlir_reproducer: {{ pipeline: true }} }} #-}}"),
            "'pipeline' is not understood",
        ),
    ] {
        let output = loomir(&["opt", "--run-reproducer"], source.as_bytes());
        assert_eq!(output.status.code(), Some(1));
        assert!(String::from_utf8_lossy(&output.stderr).contains(message), "{output:?}");
    }
}

#[test]
fn reproducers_go_to_mlir_opt_and_come_from_there() {
    let Some(mlir_opt) = peers::tool("mlir-opt") else { return };
    let mlir_opt = |args: &[&str]| {
        let mut command = Command::new(&mlir_opt);
        let output = command.args(args).output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let file = |name: &str| scratch(name).to_str().expect("text").to_owned();
    let source = file("peer-input.mlir");
    let loops = FAILS.replace("\"t.op\"(%i) : (index) -> ()", "%0 = arith.addi %i, %i : index");
    std::fs::write(&source, loops).expect("it can be written");
    let (ours, theirs) = (file("ours.mlir"), file("theirs.mlir"));
    let pipeline = "--pass-pipeline=builtin.module(func.func(lower-affine))";
    let lowered = stdout(&["opt", &source, pipeline, &format!("--mlir-generate-reproducer={ours}")], "");
    assert!(lowered.contains("scf.for"), "{lowered}");
    assert_eq!(mlir_opt(&[&ours, "--run-reproducer"]).trim_end(), lowered.trim_end());
    // `mlir-opt` writes the program that came of the passes.
    mlir_opt(&[&source, pipeline, &format!("--mlir-generate-reproducer={theirs}")]);
    assert_eq!(stdout(&["opt", &theirs, "--run-reproducer"], ""), lowered);
}

/// In a loop, another one and a cycle that is entered at two places.
const GRAPH: &str = "\
define void @f(i1 %c) {
  br label %outer
outer:
  br i1 %c, label %inner, label %even
inner:
  br i1 %c, label %inner, label %odd
odd:
  br i1 %c, label %even, label %latch
even:
  br i1 %c, label %odd, label %latch
latch:
  br i1 %c, label %outer, label %done
done:
  ret void
}
";

#[test]
fn loops_are_printed_as_opt_prints_them() {
    let printed = ["loops", "cycles", "domtree", "postdomtree"]
        .map(|form| stdout(&["opt", &format!("--emit={form}")], GRAPH));
    assert_snapshot!(printed.join("\n"));
}

#[test]
fn control_flow_is_drawn() {
    assert_snapshot!("drawn_as_dot", stdout(&["opt", "--emit=dot"], GRAPH));
    assert_snapshot!("drawn_as_svg", stdout(&["opt", "--emit=svg"], GRAPH));
}

#[test]
fn names_in_pictures_are_escaped_and_large_ones_refused() {
    let odd = "define void @\"a<b>&\\22c\\5Cd\\0Ae\"() {\n  ret void\n}\n";
    let dot = stdout(&["opt", "--emit=dot"], odd);
    assert!(dot.starts_with(r#"digraph "a<b>&\"c\\d\ne" {"#), "{dot}");
    let svg = stdout(&["opt", "--emit=svg"], odd);
    assert!(svg.contains("@a&lt;b&gt;&amp;&quot;c\\d e<"), "{svg}");
    let chain: String = (1..2_000).map(|at| format!("b{at}:\n  br label %b{}\n", at + 1)).collect();
    let large = format!("define void @large() {{\n  br label %b1\n{chain}b2000:\n  ret void\n}}\n");
    assert!(stdout(&["opt", "--emit=dot"], &large).contains("b1999 -> b2000;"));
    assert_snapshot!(shown(&["opt", "--emit=svg"], &large));
}

#[test]
fn llvm_ir_is_known_by_its_content() {
    let good = "; a comment\ndefine i32 @f(i32 %x) {\n  %y = mul i32 %x, 3\n  ret i32 %y\n}\n";
    let wrong = good.replace("mul i32", "mul i64");
    assert_snapshot!(format!("{}\n{}", shown(&["opt"], good), shown(&["opt"], &wrong)));
}

/// A loop of each kind of function.
const BOTH: &str = "\
func.func @tree() {
  return
}
llvm.func @graph() {
  llvm.return
}
";

#[test]
fn passes_without_an_anchor_run_on_what_the_program_has() {
    let pipeline = |args: &[&str], input: &str| {
        let text = stderr(&[&["opt", "--dump-pass-pipeline", "-o", "/dev/null"], args].concat(), input);
        text.split_whitespace().collect::<String>()
    };
    let graph = BOTH.split_at(BOTH.find("llvm.func").expect("a function")).1;
    assert_eq!(pipeline(&["--loop-fusion"], graph), "builtin.module(llvm.func(loop-fusion))");
    assert_eq!(pipeline(&["-p", "loop-fusion"], graph), "builtin.module(llvm.func(loop-fusion))");
    let both = "builtin.module(func.func(loop-fusion),llvm.func(loop-fusion),canonicalize)";
    assert_eq!(pipeline(&["--loop-fusion", "--canonicalize"], BOTH), both);
    assert_eq!(pipeline(&["--loop-fusion"], ""), "builtin.module(func.func(loop-fusion))");
}

#[test]
fn passes_that_have_nothing_to_run_on_are_warned_of() {
    let graph = BOTH.split_at(BOTH.find("llvm.func").expect("a function")).1;
    let args = ["opt", "-p", "builtin.module(func.func(loop-fusion))", "-o", "/dev/null"];
    assert_snapshot!(shown(&args, graph));
    assert_eq!(stderr(&args, BOTH), "");
    // No pass of the name runs on what the program has.
    assert!(!stderr(&["opt", "--loop-tile", "-o", "/dev/null"], graph).contains("help"));
    let anywhere = stderr(&["opt", "-p", "builtin.module(func.func(cse))", "-o", "/dev/null"], graph);
    assert!(anywhere.contains("help: run it on what the program has: llvm.func(cse)"), "{anywhere}");
}
