//! Lowering is linear. Twice the program gives twice the operations, and a program that would
//! expose a quadratic step takes little time.

use std::fmt::Write;
use std::time::{Duration, Instant};

use loomir_ir::pass::{PassInstrumentor, PassRegistry};
use loomir_ir::{Body, Context};
use loomir_lowering::cfg::{Analysis, FORMS};
use loomir_lowering::{PASSES, convert_scf_to_cf, convert_to_llvm, from_ll, lower_affine, to_ll};

use crate::fixture::{context, read};
use crate::say;

/// Returns `count` consecutive loops in one function, with a condition in each.
fn neighbours(count: usize) -> String {
    let mut text =
        String::from("func.func @f(%a: memref<64xf32>, %n: index) {\n  %x = arith.constant 1.0 : f32\n");
    for _ in 0..count {
        let _ = writeln!(
            text,
            "  affine.for %i = 0 to 64 {{ affine.if affine_set<(d0) : (d0 - 3 >= 0)>(%i) {{ affine.store %x, %a[%i] : memref<64xf32> }} }}"
        );
    }
    text.push_str("  return\n}\n");
    text
}

/// `depth` loops inside each other.
fn nest(depth: usize) -> String {
    let mut text = String::from("func.func @f(%a: memref<64xf32>) {\n  %x = arith.constant 1.0 : f32\n");
    for level in 0..depth {
        let _ = writeln!(text, "affine.for %i{level} = 0 to 2 {{");
    }
    text.push_str("affine.store %x, %a[0] : memref<64xf32>\n");
    text.push_str(&"}\n".repeat(depth));
    text.push_str("  return\n}\n");
    text
}

/// Returns the number of operations after all steps, and the length of the text.
fn lowered(ctx: &Context, source: &str) -> (usize, usize) {
    let mut module = read(ctx, source).unwrap_or_else(|errors| panic!("{errors}"));
    for step in [lower_affine, convert_scf_to_cf, convert_to_llvm] {
        step(&mut module).unwrap_or_else(|errors| panic!("{}", errors.to_text(ctx)));
    }
    let mut operations = 0;
    module.walk(&mut |_: &Body, _| operations += 1);
    (operations, to_ll(&module).map_or(0, |text| text.len()))
}

#[test]
fn neighbours_by_the_thousand() {
    let ctx = context();
    let (small, _) = lowered(&ctx, &neighbours(100));
    let (large, _) = lowered(&ctx, &neighbours(200));
    assert!(large < 2 * small);
    let (operations, text) = lowered(&ctx, &neighbours(10_000));
    assert!(operations > 100 * (large - small) / 2 && text > 0);
}

#[test]
fn nests_as_deep_as_the_parser_allows() {
    let ctx = context();
    let (operations, text) = lowered(&ctx, &nest(100));
    assert!(operations > 500 && text > 0);
}

/// Returns a function in LLVM's text of about `blocks` blocks: consecutive nests of three loops
/// with an exit from the middle, each using values of the one before. A switch with a tenth as many
/// cases precedes them. In each nest something is stored on the stack.
fn many_blocks(blocks: usize) -> String {
    let (ways, nests) = (blocks / 10, blocks * 9 / 10 / 8);
    let mut text = String::from("define i32 @f(i32 %n) {\n");
    for nest in 0..nests {
        let _ = writeln!(text, "  %m{nest} = alloca i32");
    }
    text.push_str("  switch i32 %n, label %h0 [");
    for way in 1..ways {
        let _ = write!(text, " i32 {way}, label %w{way}");
    }
    text.push_str(" ]\n");
    for way in 1..ways {
        let _ = write!(text, "w{way}:\n  br label %h0\n");
    }
    for nest in 0..nests {
        let entries = match nest {
            0 => (1..ways).map(|way| format!("[ 0, %w{way} ], ")).collect::<String>() + "[ 0, %0 ]",
            _ => format!("[ %s{}, %x{} ]", nest - 1, nest - 1),
        };
        let _ = write!(
            text,
            "h{nest}:\n  %p{nest} = phi i32 {entries}\n  store i32 %p{nest}, ptr %m{nest}\n  br label %a{nest}\n\
             a{nest}:\n  %i{nest} = phi i32 [ 0, %h{nest} ], [ %in{nest}, %z{nest} ]\n  %ca{nest} = icmp slt i32 %i{nest}, %n\n  br i1 %ca{nest}, label %b{nest}, label %x{nest}\n\
             b{nest}:\n  %j{nest} = phi i32 [ 0, %a{nest} ], [ %jn{nest}, %y{nest} ]\n  %cb{nest} = icmp slt i32 %j{nest}, %i{nest}\n  br i1 %cb{nest}, label %c{nest}, label %z{nest}\n\
             c{nest}:\n  %k{nest} = phi i32 [ 0, %b{nest} ], [ %kn{nest}, %d{nest} ]\n  %cc{nest} = icmp slt i32 %k{nest}, %j{nest}\n  br i1 %cc{nest}, label %d{nest}, label %y{nest}\n\
             d{nest}:\n  %kn{nest} = add i32 %k{nest}, 1\n  %l{nest} = load i32, ptr %m{nest}\n  %ln{nest} = add i32 %l{nest}, %k{nest}\n  store i32 %ln{nest}, ptr %m{nest}\n  %cd{nest} = icmp eq i32 %kn{nest}, 77\n  br i1 %cd{nest}, label %x{nest}, label %c{nest}\n\
             y{nest}:\n  %jn{nest} = add i32 %j{nest}, 1\n  br label %b{nest}\n\
             z{nest}:\n  %in{nest} = add i32 %i{nest}, 1\n  br label %a{nest}\n\
             x{nest}:\n  %e{nest} = load i32, ptr %m{nest}\n  %s{nest} = add i32 %e{nest}, %i{nest}\n  br label %{}\n",
            if nest + 1 < nests { format!("h{}", nest + 1) } else { "end".to_owned() }
        );
    }
    let _ = write!(text, "end:\n  ret i32 %s{}\n}}\n", nests - 1);
    text
}

/// Returns the times for loops, dominators and post-dominators of a module's function, for bringing
/// it into each form (including the forms it needs), and for ordinary passes.
fn times_of(ctx: &Context, source: &str) -> Vec<(&'static str, Duration)> {
    let module = from_ll(ctx, source, "many.ll").unwrap_or_else(|errors| panic!("{}", errors.to_text(ctx)));
    let function = module.all_ops().find_map(|op| module.nested(op)).expect("a function");
    let start = Instant::now();
    let mut analysis = Analysis::of(function);
    let mut times = vec![("loops and dominators", start.elapsed())];
    assert!(!analysis.loops().is_empty());
    let start = Instant::now();
    assert_eq!(analysis.post_dominators(function).roots().len(), 1);
    times.push(("post-dominators", start.elapsed()));
    let mut registry = PassRegistry::new();
    for pass in PASSES.iter().chain(loomir_transforms::passes()) {
        registry.add(*pass);
    }
    let passes = FORMS.iter().map(|form| form.name).chain([
        "simplify-cfg",
        "simplify-cfg{keep-loops=true}",
        "mem2reg",
    ]);
    for pass in passes {
        let manager = registry.parse(&format!("builtin.module(llvm.func({pass}))")).expect("a pipeline");
        let mut after = module.duplicate();
        let start = Instant::now();
        assert!(manager.run(&mut after, &PassInstrumentor::new()).succeeded());
        times.push((pass, start.elapsed()));
    }
    times
}

/// Ten times the blocks would cost a hundred times as much if anything were quadratic. Linear work
/// stays below half of that, even if the smaller function fits a shared cache and the larger one
/// does not.
#[test]
fn forms_of_a_hundred_thousand_blocks() {
    let ctx = context();
    let [small, large] = [10_000, 100_000].map(many_blocks);
    let mut failure = None;
    let mut least: Vec<[Duration; 2]> = Vec::new();
    // Another try if something else ran in between: the least time of each is its own.
    for _ in 0..4 {
        let (some, more) = (times_of(&ctx, &small), times_of(&ctx, &large));
        least.resize(some.len(), [Duration::MAX; 2]);
        for (least, times) in least.iter_mut().zip(some.iter().zip(&more)) {
            let ((what, some), (_, more)) = times;
            say(&format!("{what}: {some:?}, of ten times the blocks {more:?}"));
            *least = [least[0].min(*some), least[1].min(*more)];
        }
        let is_slow = |((what, _), [some, more]): &(&(&str, Duration), &[Duration; 2])| {
            *more > 50 * *some || (*what == "loops and dominators" && *more > Duration::from_millis(500))
        };
        failure = some.iter().zip(&least).find(is_slow).map(|((what, _), times)| (*what, *times));
        if failure.is_none() {
            break;
        }
    }
    assert_eq!(failure, None, "what ten times the blocks cost");
}
