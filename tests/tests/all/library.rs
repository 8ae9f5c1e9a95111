//! Tests of the library for pass tests, by its behaviour.

use loomir::dialects::interp::Limits;
use loomir::ir::{Context, Registry};
use loomir_testing::fixtures::Tool;
use loomir_testing::programs::Programs;
use loomir_tests::behaviour::inputs;
use loomir_tests::random::Random;
use loomir_tests::{Checker, check_pass, fixtures, same_behaviour};

#[test]
fn a_program_is_shown_with_what_was_said_about_it() {
    let shown = check_pass(
        "builtin.module(func.func(loop-fusion))",
        "func.func @f(%a: memref<4xi32>) {
  %k = arith.constant 7 : i32
  affine.for %i = 0 to 4 {
    affine.store %k, %a[%i] : memref<4xi32>
  }
  affine.for %i = 0 to 3 {
    affine.store %k, %a[%i] : memref<4xi32>
  }
  return
}",
    );
    insta::assert_snapshot!(shown, @r#"
    module {
      func.func @f(%arg0: memref<4xi32>) {
        %c7_i32 = arith.constant 7 : i32
        affine.for %arg1 = 0 to 3 {
          affine.store %c7_i32, %arg0[%arg1] : memref<4xi32>
          affine.store %c7_i32, %arg0[%arg1] : memref<4xi32>
        }
        %c3 = arith.constant 3 : index
        affine.store %c7_i32, %arg0[%c3] : memref<4xi32>
        return
      }
    }
    // 6:3: remark: [f]: Loops fused in the iterations both have
    // 3:3: note: with this loop
    "#);
}

#[test]
fn errors_are_shown_in_place_of_a_program() {
    let source = "func.func @f() -> i32 {\n  return %x : i32\n}";
    insta::assert_snapshot!(check_pass("", source), @r#"// 2:10: error: use of undeclared SSA value name '%x'"#);
    // A program that parses but is not well formed is an error, too.
    let source = "func.func @f() -> i32 {\n  return\n}";
    insta::assert_snapshot!(check_pass("", source), @r#"// 2:3: error: 'func.return' op has 0 operands, but enclosing function (@f) returns 1"#);
}

#[test]
fn a_pipeline_that_cannot_be_read_is_an_error() {
    insta::assert_snapshot!(check_pass("func.func(no-such-pass)", "module {}"), @r#"// error: pipeline, at character 11: there is no pass called 'no-such-pass'"#);
}

const ADD: &str = "func.func @f(%a: memref<4xi32>, %b: memref<4xi32>) {
  affine.for %i = 0 to 4 {
    %0 = affine.load %a[%i] : memref<4xi32>
    affine.store %0, %b[-%i + 3] : memref<4xi32>
  }
  return
}";

#[test]
fn equal_programs_agree_on_all_generated_inputs() {
    let checker = Checker::default();
    let module = checker.read(ADD).expect("it is well formed");
    let inputs = inputs(&module, "f", &mut Random::new(1)).expect("there is @f");
    insta::assert_snapshot!(inputs.iter().map(|i| i.join(" ")).collect::<Vec<_>>().join("\n"), @r#"
    iota iota
    random:5225608189600411232 random:5225608189600411233
    iota @0
    random:5225608189600411232 @0
    "#);
    let agreement = same_behaviour(&module, &module, "f", &inputs, &Limits::default());
    assert_eq!(agreement.map(|a| (a.compared, a.skipped)), Ok((4, 0)));
}

/// The reverse order of iterations matters only if both arguments are one buffer.
#[test]
fn a_difference_on_shared_buffers_is_found() {
    let checker = Checker::default();
    let before = checker.read(ADD).expect("it is well formed");
    let after = checker.read(&ADD.replace("%a[%i]", "%a[-%i + 3]").replace("%b[-%i + 3]", "%b[%i]"));
    let after = after.expect("it is well formed");
    let call = |arguments: &[&str]| arguments.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>();
    let compare = |input| same_behaviour(&before, &after, "f", &[input], &Limits::default());
    assert_eq!(compare(call(&["iota", "zeros"])).map(|a| a.compared), Ok(1));
    let difference = compare(call(&["iota", "@0"])).expect_err("the order matters");
    insta::assert_snapshot!(difference, @r#"
    @f(iota, @0) differs
    before: returned
    argument 0: [0, 1, 1, 0] digest 0xb1d76322112075d5
    argument 1: [0, 1, 1, 0] digest 0xb1d76322112075d5
    after: returned
    argument 0: [3, 2, 2, 3] digest 0x8a92104a7e20e2f5
    argument 1: [3, 2, 2, 3] digest 0x8a92104a7e20e2f5
    "#);
}

#[test]
fn what_is_undefined_requires_nothing() {
    let checker = Checker::default();
    let divide = |by: &str| {
        let body = format!("%q = arith.divsi %x, {by} : i32\n  return %q : i32");
        checker.read(&format!("func.func @f(%x: i32, %y: i32) -> i32 {{\n  {body}\n}}"))
    };
    let (before, after) = (divide("%y").expect("well formed"), divide("%x").expect("well formed"));
    let input = vec![vec!["1".to_owned(), "0".to_owned()]];
    let agreement = same_behaviour(&before, &after, "f", &input, &Limits::default());
    assert_eq!(agreement.map(|a| (a.compared, a.skipped)), Ok((0, 1)));
}

#[test]
fn a_fixture_says_what_is_wrong_with_it() {
    let error = |source: &str| fixtures::run(source).err().unwrap_or_default();
    assert_eq!(error("module {}"), "no line says '// RUN: …' or '// EDIT: …'");
    let unknown = error("\n// RUN: dance\nmodule {}");
    assert!(unknown.starts_with("line 2: can't run 'dance': error: unrecognized subcommand"), "{unknown}");
    assert_eq!(error("// RUN: opt\n// CALL: f\nmodule {}"), "opt: there is no function 'f'");
}

/// Each program of a file is treated alone. Locations refer to the file.
#[test]
fn a_fixture_holds_several_programs() {
    let source =
        "// RUN: opt\nfunc.func @f() {\n  return\n}\n// -----\nfunc.func @f() {\n  return %x : i32\n}\n";
    let outcome = fixtures::run(source).expect("its directives are right");
    insta::assert_snapshot!(outcome.text, @r#"
    // RUN: opt
    module {
      func.func @f() {
        return
      }
    }
    // -----
    // 7:10: error: use of undeclared SSA value name '%x'
    "#);
    assert_eq!(outcome.printed.len(), 1);
}

#[test]
fn a_file_after_a_pipeline_is_compared_with_a_snapshot() {
    loomir_testing::check_pass!("builtin.module(canonicalize)", "library/sums.mlir");
    // Remarks are shown without places.
    loomir_testing::check_pass!("builtin.module(func.func(loop-fusion))", "library/lone.mlir");
}

const SUMS: &str = include_str!("library/sums.mlir");

#[test]
fn a_line_compares_before_and_after() {
    Tool::default().assert_same_after("builtin.module(canonicalize)", SUMS);
    Tool::default().assert_equal_after("builtin.module(canonicalize)", SUMS);
}

/// A pass that is wrong: it makes the first constant a one.
fn wrong() -> loomir::ir::pass::PassRegistry {
    use loomir::ir::pass::{Pass, PassContext, PassInfo};
    struct Wrong;
    impl Pass for Wrong {
        fn name(&self) -> &str {
            "wrong"
        }
        fn run(
            &self,
            body: &mut loomir::ir::Body,
            _: &mut PassContext<'_>,
        ) -> Result<(), loomir::ir::Diagnostics> {
            let constant = body.all_ops().find(|op| body.attr(*op, "value").is_some());
            let one = body.ctx().int_attr(loomir::ir::Type::I32, 1);
            if let Some(op) = constant {
                body.set_attr(op, "value", one);
            }
            Ok(())
        }
    }
    let mut passes = loomir::passes();
    passes.add(PassInfo {
        name: "wrong",
        anchor: Some("func.func"),
        summary: "",
        options: &[],
        make: |_| Ok(Box::new(Wrong)),
    });
    passes
}

#[test]
fn a_line_finds_a_wrong_pass() {
    let tool = Tool { passes: wrong, ..Tool::default() };
    let pipeline = "builtin.module(func.func(wrong))";
    let said = |test: &(dyn Fn() + std::panic::RefUnwindSafe)| {
        let error = std::panic::catch_unwind(test).expect_err("the test must fail");
        error.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    let executed = said(&|| tool.assert_same_after(pipeline, SUMS));
    assert!(executed.contains("@sums(iota, iota) differs"), "{executed}");
    let checked = said(&|| tool.assert_equal_after(pipeline, SUMS));
    assert!(checked.contains("different"), "{checked}");
}

/// Random programs verify, are the same for the same seed, and have all operations of a dialect.
#[test]
fn programs_come_from_the_definition_of_a_dialect() {
    let ctx = loomir::context();
    let mut text = String::new();
    for dialect in ["arith", "math", "index", "memref", "llvm"] {
        let programs = Programs::of(&ctx, dialect);
        let (mut random, mut all) = (Random::new(1), String::new());
        for _ in 0..60 {
            let program = programs.program(&mut random, 20);
            if let Err(errors) = loomir::parse(&ctx, &program, "random.mlir") {
                panic!("{}{program}", errors.to_text(&ctx));
            }
            all += &program;
        }
        assert_eq!(programs.program(&mut Random::new(7), 5), programs.program(&mut Random::new(7), 5));
        let count = programs.operations().count();
        let missing: Vec<&str> =
            programs.operations().filter(|name| !all.contains(&format!("\"{name}\""))).collect();
        text += &format!("{dialect}: {} of {count} operations\n", count - missing.len());
        for name in missing {
            text += &format!("  without {name}\n");
        }
    }
    insta::assert_snapshot!("random_programs", text);
}

/// The dialect of a file needs no generator either.
#[test]
fn programs_come_from_a_loaded_dialect() {
    let source = std::fs::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../loomir/tests/text_dialect/fixed.irdl"),
    )
    .expect("a file");
    let files = loomir::DialectFiles::load(loomir::registry(), &[("fixed.irdl", &source)]);
    let files = files.unwrap_or_else(|failed| panic!("{failed:?}"));
    let programs = Programs::of(files.ctx(), "fx");
    insta::assert_snapshot!("random_loaded_program", programs.program(&mut Random::new(3), 12));
    assert_eq!(Programs::of(&Context::new(Registry::new()), "fx").operations().count(), 0);
}
