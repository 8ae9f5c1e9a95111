//! Wrong programs that other compilers make, and the verdicts of `loomir check` about them.
//!
//! Each row of [`FACTS`] is a known fault of `mlir-opt` or `opt` 22: a program, and the tool's
//! options. The tool makes the wrong program when the test runs. The checker must find an input on
//! which the two differ. The interpreter must confirm it, and so must `lli` if values differ.
//! Faults without a reproducible wrong program are in [`NOT_MADE`].

#![allow(clippy::print_stderr, reason = "it says what it skips")]

use std::fmt::Write;
use std::path::{Path, PathBuf};

use loomir::check::execution::difference::Place;
use loomir::check::execution::{Counterexample, Options};
use loomir::check::functions::{Verdict, check};
use loomir::dialects::interp::Limits;
use loomir::ir::{Body, Context};
use loomir_tests::behaviour::call;
use loomir_tests::peers::Peer;

#[path = "check/lli.rs"]
mod lli;

/// A fault of another compiler.
struct Fact {
    /// The fault, in the words of its report.
    fault: &'static str,
    /// The program, below `fixtures`.
    file: &'static str,
    tool: &'static str,
    /// Arguments of the tool. `FIXTURES` is the folder of the program.
    options: &'static [&'static str],
    /// The functions that become wrong.
    functions: &'static [&'static str],
}

const FUSE: &[&str] = &["--affine-loop-fusion"];
const PEEL: &[&str] = &["-S", "-passes=loop-fusion", "-loop-fusion-peel-max-count=3"];
const LOOP_FUSION: &[&str] = &["-S", "-passes=loop-fusion"];

const FACTS: &[Fact] = &[
    Fact {
        fault: "affine fusion ignores write after read",
        file: "check/affine_war.mlir",
        tool: "mlir-opt",
        options: FUSE,
        functions: &["war"],
    },
    Fact {
        fault: "affine fusion ignores write after write",
        file: "check/affine_waw.mlir",
        tool: "mlir-opt",
        options: &["--affine-loop-fusion=maximal"],
        functions: &["waw"],
    },
    Fact {
        fault: "affine fusion passes an opaque call",
        file: "check/affine_call.mlir",
        tool: "mlir-opt",
        options: FUSE,
        functions: &["call"],
    },
    Fact {
        fault: "affine fusion does not see through memref.cast",
        file: "check/affine_cast.mlir",
        tool: "mlir-opt",
        options: FUSE,
        functions: &["cast"],
    },
    Fact {
        fault: "affine fusion passes memref.copy through a subview",
        file: "check/affine_subview.mlir",
        tool: "mlir-opt",
        options: FUSE,
        functions: &["subview"],
    },
    Fact {
        fault: "affine fusion takes two memref.get_global of one symbol for two buffers",
        file: "check/affine_global.mlir",
        tool: "mlir-opt",
        options: FUSE,
        functions: &["global"],
    },
    Fact {
        fault: "affine fusion takes one buffer passed as two arguments for two",
        file: "check/affine_arguments.mlir",
        tool: "mlir-opt",
        options: FUSE,
        functions: &["arguments"],
    },
    Fact {
        fault: "affine fusion computes an update in place a second time",
        file: "check/affine_update.mlir",
        tool: "mlir-opt",
        options: FUSE,
        functions: &["update"],
    },
    Fact {
        fault: "affine tiling accepts distance (1, -1)",
        file: "check/tile_distance.mlir",
        tool: "mlir-opt",
        options: &["--affine-loop-tile=tile-size=2"],
        functions: &["distance"],
    },
    Fact {
        fault: "affine tiling takes a failed analysis for independence",
        file: "check/tile_unknown.mlir",
        tool: "mlir-opt",
        options: &["--affine-loop-tile=tile-size=2"],
        functions: &["unknown"],
    },
    Fact {
        fault: "unroll-and-jam checks nothing",
        file: "check/unroll_jam.mlir",
        tool: "mlir-opt",
        options: &["--pass-pipeline=builtin.module(func.func(affine-loop-unroll-jam{unroll-jam-factor=2}))"],
        functions: &["jam"],
    },
    Fact {
        fault: "transform.loop.fuse_sibling checks nothing",
        file: "check/fuse_sibling.mlir",
        tool: "mlir-opt",
        options: &[
            "--transform-preload-library=transform-library-paths=FIXTURES/fuse_sibling.transform",
            "--transform-interpreter",
        ],
        functions: &["sibling"],
    },
    Fact {
        fault: "scf-parallel fusion never checks store against store",
        file: "check/parallel_stores.mlir",
        tool: "mlir-opt",
        options: &["--scf-parallel-loop-fusion"],
        functions: &["stores"],
    },
    Fact {
        fault: "an invariant address written in one loop, read or overwritten in the other (191238)",
        file: "loop_fusion_traps/invariant_address.ll",
        tool: "opt",
        options: LOOP_FUSION,
        functions: &[
            "written_then_read",
            "read_then_written",
            "updated_in_both",
            "overwritten_on_condition",
            "written_on_condition",
            "read_then_overwritten",
        ],
    },
    Fact {
        fault: "access widths that differ or overlap in part",
        file: "loop_fusion_traps/widths.ll",
        tool: "opt",
        options: LOOP_FUSION,
        functions: &["bytes_then_words", "wide_over_narrow"],
    },
    Fact {
        fault: "the same with a struct whose padding a store leaves alone",
        file: "loop_fusion_traps/store_sizes.ll",
        tool: "opt",
        options: LOOP_FUSION,
        functions: &["padding_inside"],
    },
    Fact {
        fault: "subscripts that repeat",
        file: "loop_fusion_traps/repeating_subscripts.ll",
        tool: "opt",
        options: LOOP_FUSION,
        functions: &["alternating", "halved", "wrapping", "stride_zero", "pointer_step_zero"],
    },
    Fact {
        fault: "guards that differ though trip counts agree (199724)",
        file: "loop_fusion_traps/guards.ll",
        tool: "opt",
        options: LOOP_FUSION,
        functions: &["different_arguments", "opposite"],
    },
    Fact {
        fault: "guards ignored when peeling (217379)",
        file: "loop_fusion_traps/guards.ll",
        tool: "opt",
        options: PEEL,
        functions: &["different_arguments_longer", "different_numbers_longer"],
    },
    Fact {
        fault: "a call that may not return, followed by an instruction that may trap",
        file: "loop_fusion_traps/no_return.ll",
        tool: "opt",
        options: LOOP_FUSION,
        functions: &["trap_then_divide", "divide_between", "store_then_trap"],
    },
    Fact {
        fault: "the same with the instruction between the loops",
        file: "loop_fusion_traps/kept_between.ll",
        tool: "opt",
        options: LOOP_FUSION,
        functions: &["past_what_may_not_return"],
    },
    Fact {
        fault: "a scope of aliasing that ends between the loops",
        file: "loop_fusion_traps/order.ll",
        tool: "opt",
        options: LOOP_FUSION,
        functions: &["scope_of_a_loop"],
    },
    Fact {
        fault: "a stack that is restored between the loops",
        file: "loop_fusion_traps/stack.ll",
        tool: "opt",
        options: LOOP_FUSION,
        functions: &["behind_a_restore"],
    },
];

/// Faults for which version 22 makes no wrong program, and why.
const NOT_MADE: &[(&str, &str)] = &[
    ("sibling fusion of two iter_args reductions", "mlir-opt crashes, so there is no program after"),
    ("loop fusion and atomics (193770)", "only a second thread could see it; order.ll fuses and is alike"),
    ("invalid IR from a sunk phi (165087)", "the result is invalid, so there is no program to compare"),
    ("dominator edge missed with peeling (193641)", "the analysis goes wrong, not the program"),
    ("assertion failures from stale analyses", "the tool ends, so there is no program after"),
];

#[test]
fn wrong_programs_of_others_are_found() {
    let tools = ["mlir-opt", "opt", "lli"].map(Peer::find);
    let [Some(mlir_opt), Some(opt), Some(lli)] = tools else {
        eprintln!("LOOMIR_LLVM names no folder with mlir-opt, opt and lli: nothing is made");
        return;
    };
    let mut table = String::new();
    for fact in FACTS {
        let tool = if fact.tool == "opt" { &opt } else { &mlir_opt };
        let _ = writeln!(table, "{}\n  {} {}", fact.fault, fact.tool, fact.options.join(" "));
        table += &found(fact, tool, &lli);
    }
    for (fault, reason) in NOT_MADE {
        let _ = writeln!(table, "{fault}\n  not made: {reason}");
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(fixtures().join("check"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("wrong_programs", table));
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Runs the tool to produce the wrong program, and checks that it is found wrong. Returns one or
/// two lines for each function.
fn found(fact: &Fact, tool: &Peer, lli: &Peer) -> String {
    let file = fixtures().join(fact.file);
    let folder = file.parent().unwrap_or(&file).to_string_lossy().into_owned();
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", fact.file));
    let options: Vec<String> = fact.options.iter().map(|own| own.replace("FIXTURES", &folder)).collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let changed = tool.run(&text, &options).unwrap_or_else(|said| panic!("{}: {said}", fact.file));
    let ctx = loomir::context();
    let (before, after) = (read(&ctx, &text), read(&ctx, &changed));
    let mut lines = String::new();
    for name in fact.functions {
        let options = Options::default();
        let answers = check(&before, &after, Some(name), None, &options, None);
        let Some(Verdict::Different(example)) = answers.first().map(|own| &own.verdict) else {
            panic!("{}, @{name}: {answers:?}", fact.file);
        };
        interpreter_confirms(&before, &after, name, example);
        let confirmed = lli_confirms([&before, &after], name, example, lli);
        let (place, input) = (&example.difference.place, example.arguments.join(", "));
        let _ = writeln!(lines, "  @{name}({input}): {place}, {confirmed}");
        let _ = writeln!(lines, "    before: {}", end(&example.difference.before, example, 0));
        let _ = writeln!(lines, "    after:  {}", end(&example.difference.after, example, 1));
    }
    lines
}

/// Returns the value on one side and the iteration that wrote it.
fn end(value: &str, example: &Counterexample, side: usize) -> String {
    // Locations refer to the tool's text, which is not kept.
    let value = value.split(" (input").next().unwrap_or(value);
    match &example.writers[side] {
        Some(writer) => format!("{value}, {} {}", writer.operation, writer.iteration()).trim_end().into(),
        None => value.into(),
    }
}

fn read(ctx: &Context, text: &str) -> Body {
    loomir::parse(ctx, text, "input").unwrap_or_else(|errors| panic!("{}\n{text}", errors.to_text(ctx)))
}

fn interpreter_confirms(before: &Body, after: &Body, name: &str, example: &Counterexample) {
    let limits = Limits { steps: 1_000_000_000, ..Limits::default() };
    let run =
        |module| call(module, name, &example.arguments, &limits).unwrap_or_else(|error| panic!("{error}"));
    assert_ne!(run(before), run(after), "@{name}");
}

/// Returns the verdict of `lli` on the difference. It must confirm it if values differ.
fn lli_confirms(modules: [&Body; 2], name: &str, example: &Counterexample, lli: &Peer) -> &'static str {
    if example.difference.place == Place::Ending {
        return "of which lli may make anything";
    }
    let [before, after] = modules.map(|module| lli::run(module, name, &example.arguments, lli));
    // A process that terminates itself leaves no buffers for a comparison.
    if before.0.is_empty() && before.1 != Some(0) {
        return "of which lli shows nothing, for the program ends itself";
    }
    assert_ne!(before, after, "@{name}: lli sees no difference");
    "lli too"
}
