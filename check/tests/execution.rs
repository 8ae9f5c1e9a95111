//! Comparisons of functions by execution: two texts go in, the answers are looked at as text.

use std::fmt::Write;

use loomir_check::execution::Options;
use loomir_check::functions::{Function, Proof, Prover, Verdict, check};
use loomir_ir::{Body, Context, verifier};

fn read(ctx: &Context, text: &str, name: &str) -> Body {
    let module =
        loomir_ir::text::parse(ctx, text, name).unwrap_or_else(|errors| panic!("{}", errors.to_text(ctx)));
    let errors = verifier::verify(&module);
    assert!(errors.is_empty(), "{}", errors.to_text(ctx));
    module
}

/// The answers about all functions, a line each.
fn answers(before: &str, after: &str) -> String {
    answers_with(before, after, &Options::default(), None)
}

fn answers_with(before: &str, after: &str, options: &Options, prover: Option<Prover<'_>>) -> String {
    let ctx = loomir_dialects::context();
    let (before, after) = (read(&ctx, before, "before"), read(&ctx, after, "after"));
    let functions = check(&before, &after, None, None, options, prover);
    functions.iter().map(|function| line(&ctx, function)).collect()
}

fn line(ctx: &Context, function: &Function) -> String {
    let mut text = format!("@{}: ", function.name);
    let _ = match &function.verdict {
        Verdict::Identical => writeln!(text, "identical"),
        Verdict::Proved(under) => writeln!(text, "proved {under:?}"),
        Verdict::Undecided(reasons, tried) => {
            let _ = write!(text, "undecided, {} executed", if tried.executed > 0 { "some" } else { "none" });
            writeln!(text, ": {}", reasons.join("; "))
        }
        Verdict::Unfit(unfit) => {
            let notes: Vec<String> = unfit.notes.iter().map(|(_, note)| format!(" {note}")).collect();
            writeln!(text, "unfit: {};{}", unfit.reason, notes.join(","))
        }
        Verdict::Different(example) => {
            let found = &example.difference;
            let _ = writeln!(text, "different on ({})", example.arguments.join(", "));
            let _ = writeln!(text, "  {}: {}, {}", found.place, found.before, found.after);
            for writer in example.writers.iter().flatten() {
                let place = writer.loc.file_line_col(ctx).map(|(file, line, _)| format!("{file}:{line}"));
                let (place, iteration) = (place.unwrap_or_default(), writer.iteration());
                let _ =
                    writeln!(text, "{}", format!("  {place} {} {iteration}", writer.operation).trim_end());
            }
            Ok(())
        }
    };
    text
}

const COPY: &str = "\
func.func @f(%a: memref<?xf32>, %b: memref<?xf32>, %n: index) {
  affine.for %i = 0 to %n {
    %0 = affine.load %a[%i] : memref<?xf32>
    affine.store %0, %b[%i] : memref<?xf32>
  }
  return
}
";

#[test]
fn equal_texts_are_equal() {
    assert_eq!(answers(COPY, &COPY.replace("%i", "%j")), "@f: identical\n");
}

#[test]
fn a_lost_iteration_is_shown() {
    insta::assert_snapshot!(answers(COPY, &COPY.replace("0 to %n", "1 to %n")), @"
    @f: different on (iota+100 : memref<1xf32>, iota+200 : memref<1xf32>, 1)
      element [0] of argument 1: 100.0, 200.0
      before:4 affine.store (0)
    ");
}

#[test]
fn an_iteration_too_many_is_undefined() {
    insta::assert_snapshot!(answers(COPY, &COPY.replace("to %n", "to affine_map<(d0) -> (d0 + 1)>(%n)")), @"
    @f: different on (iota+100 : memref<0xf32>, iota+200 : memref<0xf32>, 0)
      the end: returns, is undefined: `affine.load` is out of bounds: index 0 of dimension 0, whose size is 0 (after:3:10)
    ");
}

#[test]
fn iterations_turned_around_differ_only_where_buffers_overlap() {
    let turned =
        COPY.replace("%a[%i]", "%a[-%i + symbol(%n) - 1]").replace("%b[%i]", "%b[-%i + symbol(%n) - 1]");
    insta::assert_snapshot!(answers(COPY, &turned), @"
    @f: different on (iota+100 : memref<2xf32>, @0+1 : memref<2xf32>, 2)
      element [1] of argument 1: 100.0, 101.0
      before:4 affine.store (1)
      after:4 affine.store (0)
    ");
    let distinct = Options { distinct: true, ..Options::default() };
    insta::assert_snapshot!(answers_with(COPY, &turned, &distinct, None), @"@f: undecided, some executed: no difference was found, and nothing was proved");
}

#[test]
fn an_earlier_argument_may_be_the_later_part_of_a_buffer() {
    let text = |body: &str| {
        format!(
            "func.func @f(%b: memref<?xf32>, %a: memref<?xf32>, %n: index) {{
               affine.for %i = 0 to %n step 2 {{
{body}
               }}
               return
             }}"
        )
    };
    let load = |i| format!("%{i} = affine.load %a[%i + {i}] : memref<?xf32>\n");
    let store = |i| format!("affine.store %{i}, %b[%i + {i}] : memref<?xf32>\n");
    let before = text(&(load(0) + &store(0) + &load(1) + &store(1)));
    // Only an element that is stored and then loaded tells the two apart.
    let after = text(&(load(0) + &load(1) + &store(0) + &store(1)));
    insta::assert_snapshot!(answers(&before, &after), @"
    @f: different on (@1+1 : memref<2xf32>, iota+200 : memref<2xf32>, 1)
      element [1] of argument 0: 200.0, 201.0
      before:6 affine.store (0)
      after:6 affine.store (0)
    ");
}

#[test]
fn noalias_buffers_do_not_overlap() {
    let before = COPY.replace("%b: memref<?xf32>", "%b: memref<?xf32> {llvm.noalias}");
    let turned = before.replace("[%i]", "[-%i + symbol(%n) - 1]");
    assert!(answers(&before, &turned).starts_with("@f: undecided, some executed"));
}

/// A function of one float, with an operation.
fn unary(operation: &str) -> String {
    format!(
        "func.func @f(%x: f32) -> f32 {{\n  %z = arith.constant 0.0 : f32\n  {operation}\n  return %0 : f32\n}}\n"
    )
}

#[test]
fn floats_are_compared_bit_by_bit_and_all_nans_are_one() {
    let (same, sum) = (unary("%0 = arith.addf %z, %x : f32"), unary("%0 = arith.addf %x, %z : f32"));
    assert!(answers(&same, &sum).starts_with("@f: undecided, some executed"));
    let itself = unary("%0 = arith.subf %x, %z : f32");
    insta::assert_snapshot!(answers(&itself, &same), @"
    @f: different on (-0.0)
      result 0: -0.0, 0.0
    ");
}

#[test]
fn loose_floats_decide_where_nothing_is_rounded() {
    let sum = |flags: &str, last: &str| {
        unary(&format!(
            "%1 = arith.addf %x, %x fastmath<{flags}> : f32
             %0 = arith.addf %1, {last} fastmath<{flags}> : f32"
        ))
    };
    insta::assert_snapshot!(answers(&sum("reassoc", "%x"), &sum("reassoc", "%1")), @"
    @f: different on (1.0)
      result 0: 3.0, 4.0
    ");
    // Another order of three numbers is allowed, though its result differs where there is rounding.
    let other = unary(
        "%c = arith.constant 0.1 : f32
         %1 = arith.addf %x, %c fastmath<reassoc> : f32
         %0 = arith.addf %1, %z fastmath<reassoc> : f32",
    );
    let order = unary(
        "%c = arith.constant 0.1 : f32
         %1 = arith.addf %c, %z fastmath<reassoc> : f32
         %0 = arith.addf %1, %x fastmath<reassoc> : f32",
    );
    assert!(!answers(&other, &order).contains("different"));
    // A quotient may be approximate, and the sign of zero is open.
    let quotient = |divisor: &str| unary(&format!("%0 = arith.divf %x, {divisor} fastmath<arcp> : f32"));
    insta::assert_snapshot!(answers(&quotient("%x"), &quotient("%z")), @"@f: undecided, some executed: a difference was found, but fast-math flags allow results to vary");
    let zero = |number: &str| {
        unary(&format!(
            "%c = arith.constant {number} : f32
             %0 = arith.mulf %z, %c fastmath<nsz> : f32"
        ))
    };
    insta::assert_snapshot!(answers(&zero("1.0"), &zero("-1.0")), @"@f: undecided, some executed: a difference was found, but fast-math flags allow results to vary");
}

#[test]
fn a_trap_is_an_end_like_others() {
    let text = |limit: i64| {
        format!(
            "func.func @f(%x: i32) {{
               %c = arith.constant {limit} : i32
               %0 = arith.cmpi slt, %x, %c : i32
               cf.assert %0, \"small\"
               return
             }}"
        )
    };
    insta::assert_snapshot!(answers(&text(3), &text(4)), @"
    @f: different on (3)
      the end: traps, returns
    ");
}

#[test]
fn a_loop_without_end_is_a_difference() {
    let text = |step: i64| {
        format!(
            "func.func @f(%n: i32) {{
               %c0 = arith.constant 0 : i32
               %c = arith.constant {step} : i32
               %r = scf.while (%i = %c0) : (i32) -> i32 {{
                 %0 = arith.cmpi slt, %i, %n : i32
                 scf.condition(%0) %i : i32
               }} do {{
               ^bb0(%i: i32):
                 %0 = arith.addi %i, %c : i32
                 scf.yield %0 : i32
               }}
               return
             }}"
        )
    };
    let answers = answers(&text(1), &text(0));
    assert!(answers.contains("different on (1)") && answers.contains("takes more than"), "{answers}");
    // The first one never ends for most inputs, which requires nothing.
    assert!(self::answers(&text(0), &text(1)).starts_with("@f: undecided, some executed"));
}

#[test]
fn callees_count() {
    let text = |number: i64| {
        format!(
            "func.func private @g() -> i32 {{
               %0 = arith.constant {number} : i32
               return %0 : i32
             }}
             func.func @f() -> i32 {{
               %0 = call @g() : () -> i32
               return %0 : i32
             }}
             func.func @h() {{ return }}"
        )
    };
    insta::assert_snapshot!(answers(&text(1), &text(2)), @"
    @g: different on ()
      result 0: 1, 2
    @f: different on ()
      result 0: 1, 2
    @h: identical
    ");
}

#[test]
fn globals_count() {
    let text = |number: i64| {
        format!(
            "memref.global constant @g : memref<1xi32> = dense<{number}>
             func.func @f() -> i32 {{
               %c = arith.constant 0 : index
               %0 = memref.get_global @g : memref<1xi32>
               %1 = memref.load %0[%c] : memref<1xi32>
               return %1 : i32
             }}"
        )
    };
    insta::assert_snapshot!(answers(&text(1), &text(2)), @"
    @f: different on ()
      result 0: 1, 2
    ");
}

/// A parallel loop that stores to an element.
fn parallel(element: &str, value: &str) -> String {
    format!(
        "func.func @f(%a: memref<4xindex>) {{
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %c4 = arith.constant 4 : index
           scf.parallel (%i) = (%c0) to (%c4) step (%c1) {{
             %0 = arith.addi %i, {value} : index
             memref.store %0, %a[{element}] : memref<4xindex>
           }}
           return
         }}"
    )
}

#[test]
fn races_decide_nothing() {
    insta::assert_snapshot!(answers(&parallel("%c0", "%c1"), &parallel("%c0", "%c0")), @"@f: undecided, some executed: a difference was found, but parallel iterations may race");
    insta::assert_snapshot!(answers(&parallel("%i", "%c1"), &parallel("%i", "%c0")), @"
    @f: different on (iota+100)
      element [0] of argument 0: 1, 0
      before:7 memref.store (0)
      after:7 memref.store (0)
    ");
}

#[test]
fn frozen_poison_decides_nothing() {
    let text = |number: i64| {
        format!(
            "llvm.func @f() -> i32 {{
               %0 = llvm.mlir.poison : i32
               %1 = llvm.freeze %0 : i32
               %2 = llvm.mlir.constant({number} : i32) : i32
               %3 = llvm.add %1, %2 : i32
               llvm.return %3 : i32
             }}"
        )
    };
    insta::assert_snapshot!(answers(&text(1), &text(2)), @"@f: undecided, some executed: a difference was found, but `freeze` of poison may give any value");
}

#[test]
fn poison_requires_nothing() {
    let before = "llvm.func @f() -> i32 { %0 = llvm.mlir.poison : i32  llvm.return %0 : i32 }";
    let after = "llvm.func @f() -> i32 { %0 = llvm.mlir.constant(1 : i32) : i32  llvm.return %0 : i32 }";
    insta::assert_snapshot!(answers(before, after), @"@f: undecided, none executed: no input that is defined was found");
    assert!(answers(after, before).starts_with("@f: different on ()"));
}

#[test]
fn pointers_get_buffers_of_the_type_behind_them() {
    let text = |number: i64| {
        format!(
            "llvm.func @f(%p: !llvm.ptr, %i: i64) {{
               %0 = llvm.mlir.constant({number} : i16) : i16
               %1 = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i16
               llvm.store %0, %1 : i16, !llvm.ptr
               llvm.return
             }}"
        )
    };
    insta::assert_snapshot!(answers(&text(1), &text(2)), @"
    @f: different on (iota+100 : memref<1xi16>, 0)
      element [0] of argument 0: 1, 2
      before:4 llvm.store
      after:4 llvm.store
    ");
}

#[test]
fn what_cannot_be_executed_or_made_is_named() {
    let text = |number: i64| {
        format!(
            "func.func private @outside()
             func.func @f() -> i32 {{
               %0 = arith.constant {number} : i32
               call @outside() : () -> ()
               return %0 : i32
             }}
             func.func @g(%v: vector<4xf32>) -> i32 {{
               %0 = arith.constant {number} : i32
               return %0 : i32
             }}"
        )
    };
    insta::assert_snapshot!(answers(&text(1), &text(2)), @"
    @f: undecided, none executed: execution stops: `@outside` has no body, and the interpreter knows no external function of this name (before:4:16)
    @g: undecided, none executed: no inputs are made for parameter 0 of type vector<4xf32>
    ");
}

#[test]
fn functions_that_do_not_fit_are_named() {
    let before = "func.func @f(%n: index) { return }  func.func @g() { return }  func.func @h() { return }";
    let after = "func.func @f(%n: i32) { return }  func.func private @h()";
    insta::assert_snapshot!(answers(before, after), @"
    @f: unfit: the types differ; its type is (index) -> () here, its type is (i32) -> () here
    @g: unfit: the second program has no such function;
    @h: unfit: one of the two has no body; it is defined here, it is only declared here
    ");
}

#[test]
fn a_proof_counts_only_with_proofs_of_what_is_called() {
    let text = |name: &str| {
        format!(
            "func.func @g() -> i32 {{
               %0 = arith.constant 1 : i32
               %1 = arith.{name} %0, %0 : i32
               return %1 : i32
             }}
             func.func @f() -> i32 {{
               %0 = call @g() : () -> i32
               %1 = arith.{name} %0, %0 : i32
               return %1 : i32
             }}"
        )
    };
    let always = |_: &Body, _: loomir_ir::Op, _: &Body, _: loomir_ir::Op| Proof::Equal(vec!["so".into()]);
    let options = Options::default();
    insta::assert_snapshot!(answers_with(&text("andi"), &text("ori"), &options, Some(&always)), @r#"
    @g: proved ["so"]
    @f: proved ["so"]
    "#);
    let callers = |body: &Body, f: loomir_ir::Op, _: &Body, _: loomir_ir::Op| {
        let function = body.nested(f).unwrap_or(body);
        match function.all_ops().any(|op| function.op_ref(op).name() == "func.call") {
            true => Proof::Equal(Vec::new()),
            false => Proof::Undecided(vec!["too hard".into()]),
        }
    };
    insta::assert_snapshot!(answers_with(&text("andi"), &text("ori"), &options, Some(&callers)), @"
    @g: undecided, some executed: too hard
    @f: undecided, some executed: it uses @g, which is not known to be equal
    ");
}

#[test]
fn iterations_on_graphs_are_those_of_headers() {
    let text = |start: i64| {
        format!(
            "llvm.func @f(%p: !llvm.ptr, %n: i64) {{
  %0 = llvm.mlir.constant({start} : i64) : i64
  %1 = llvm.mlir.constant(1 : i64) : i64
  llvm.br ^head(%0 : i64)
^head(%i: i64):
  %2 = llvm.icmp \"slt\" %i, %n : i64
  llvm.cond_br %2, ^body, ^exit
^body:
  %3 = llvm.getelementptr %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %i, %3 : i64, !llvm.ptr
  %4 = llvm.add %i, %1 : i64
  llvm.br ^head(%4 : i64)
^exit:
  llvm.return
}}"
        )
    };
    insta::assert_snapshot!(answers(&text(2), &text(3)), @"
    @f: different on (iota+100 : memref<3xi64>, 3)
      element [2] of argument 0: 2, 102
      before:10 llvm.store (2)
    ");
}

#[test]
fn undefined_bits_that_only_the_second_uses_decide_nothing() {
    let text = |read: &str| {
        format!(
            "llvm.func @f() -> i8 {{
               %one = llvm.mlir.constant(1 : i32) : i32
               %p = llvm.alloca %one x i64 : (i32) -> !llvm.ptr
               %c = llvm.mlir.constant(7 : i8) : i8
               llvm.store %c, %p : i8, !llvm.ptr
               {read}
               llvm.return %r : i8
             }}"
        )
    };
    let narrow = text("%r = llvm.load %p : !llvm.ptr -> i8");
    let wide = text("%w = llvm.load %p : !llvm.ptr -> i64\n  %r = llvm.trunc %w : i64 to i8");
    insta::assert_snapshot!(answers(&narrow, &wide), @"@f: undecided, some executed: a difference was found, but the second program uses undefined bits");
}

#[test]
fn a_slow_program_is_not_one_without_end() {
    let copy = "func.func @f(%a: memref<1024x512xi8>, %b: memref<1024x512xi8>) {
      memref.copy %a, %b : memref<1024x512xi8> to memref<1024x512xi8>
      return
    }";
    let loops = "func.func @f(%a: memref<1024x512xi8>, %b: memref<1024x512xi8>) {
      affine.for %i = 0 to 1024 {
        affine.for %j = 0 to 512 {
          %0 = affine.load %a[%i, %j] : memref<1024x512xi8>
          affine.store %0, %b[%i, %j] : memref<1024x512xi8>
        }
      }
      return
    }";
    let few = Options { inputs: 2, ..Options::default() };
    insta::assert_snapshot!(answers_with(copy, loops, &few, None), @"@f: undecided, some executed: no difference was found, and nothing was proved");
}

#[test]
fn other_sizes_of_types_are_no_equal_texts() {
    let text = |bits: u32| {
        format!(
            "module attributes {{llvm.data_layout = \"e-i64:{bits}\"}} {{
               func.func @f() {{ return }}
             }}"
        )
    };
    assert_eq!(answers(&text(64), &text(64)), "@f: identical\n");
    assert!(answers(&text(64), &text(32)).starts_with("@f: undecided"));
}

#[test]
fn calls_in_circles_end() {
    let text = |number: i64| {
        format!(
            "func.func @f(%n: i32) -> i32 {{
               %c = arith.constant {number} : i32
               %z = arith.constant 0 : i32
               %e = arith.cmpi sle, %n, %z : i32
               %r = scf.if %e -> (i32) {{
                 scf.yield %c : i32
               }} else {{
                 %m = arith.subi %n, %c : i32
                 %0 = func.call @g(%m) : (i32) -> i32
                 scf.yield %0 : i32
               }}
               return %r : i32
             }}
             func.func @g(%n: i32) -> i32 {{
               %0 = func.call @f(%n) : (i32) -> i32
               return %0 : i32
             }}"
        )
    };
    assert_eq!(answers(&text(1), &text(1)), "@f: identical\n@g: identical\n");
    let changed = answers(&text(1), &text(2));
    assert_eq!(changed.matches("different on (0)").count(), 2, "{changed}");
    let always = |_: &Body, _: loomir_ir::Op, _: &Body, _: loomir_ir::Op| Proof::Equal(Vec::new());
    let unexecuted = Options { inputs: 0, ..Options::default() };
    let proved = answers_with(&text(1), &text(2), &unexecuted, Some(&always));
    assert_eq!(proved, "@f: proved []\n@g: proved []\n");
    // A few executions come before a proof.
    assert_eq!(answers_with(&text(1), &text(2), &Options::default(), Some(&always)), changed);
}

#[test]
fn floats_of_one_input_differ() {
    let numbers = |name: &str| {
        format!("func.func @f(%x: f32, %y: f32) -> f32 {{ %r = arith.{name} %x, %y : f32  return %r : f32 }}")
    };
    insta::assert_snapshot!(answers(&numbers("maximumf"), &numbers("maxnumf")));
    let elements = |name: &str| {
        format!(
            "func.func @f(%a: memref<10xf32>, %b: memref<10xf32>) {{
               affine.for %i = 0 to 10 {{
                 %x = affine.load %a[%i] : memref<10xf32>
                 %y = affine.load %b[%i] : memref<10xf32>
                 %r = arith.{name} %x, %y : f32
                 affine.store %r, %a[%i] : memref<10xf32>
               }}
               return
             }}"
        )
    };
    insta::assert_snapshot!(answers(&elements("maximumf"), &elements("maxnumf")));
}

#[test]
fn several_buffers_lie_in_one() {
    // The other two show the number only if they lie one and two elements further than the first.
    let of = |result: &str| {
        format!(
            "func.func @f(%a: memref<9xi32>, %b: memref<9xi32>, %c: memref<9xi32>) -> i1 {{
               %x = arith.constant 12345 : i32
               affine.store %x, %a[2] : memref<9xi32>
               %y = affine.load %b[1] : memref<9xi32>
               %z = affine.load %c[0] : memref<9xi32>
               %u = arith.cmpi eq, %x, %y : i32
               %v = arith.cmpi eq, %x, %z : i32
               %and = arith.andi %u, %v : i1
               %no = arith.constant false
               return {result} : i1
             }}"
        )
    };
    insta::assert_snapshot!(answers(&of("%and"), &of("%no")));
}

/// A parallel loop that calls a function which stores to an element.
fn calling(element: &str, value: &str) -> String {
    format!(
        "func.func private @put(%a: memref<4xindex>, %at: index, %v: index) {{
           memref.store %v, %a[%at] : memref<4xindex>
           return
         }}
         func.func @f(%a: memref<4xindex>) {{
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %c4 = arith.constant 4 : index
           scf.parallel (%i) = (%c0) to (%c4) step (%c1) {{
             func.call @put(%a, {element}, {value}) : (memref<4xindex>, index, index) -> ()
           }}
           return
         }}"
    )
}

#[test]
fn calls_of_parallel_iterations_are_looked_into() {
    insta::assert_snapshot!(answers(&calling("%c0", "%c1"), &calling("%c0", "%c0")), @"
    @put: identical
    @f: undecided, some executed: a difference was found, but parallel iterations may race
    ");
    insta::assert_snapshot!(answers(&calling("%i", "%c1"), &calling("%i", "%c0")), @"
    @put: identical
    @f: different on (iota+100)
      element [0] of argument 0: 1, 0
      before:2 memref.store (0)
      after:2 memref.store (0)
    ");
}
