//! Lowering is linear: twice the program makes twice the operations, and a program that a quadratic step would choke on is done at once.

use std::fmt::Write;

use loomir_ir::{Body, Context};
use loomir_lowering::{convert_scf_to_cf, convert_to_llvm, lower_affine, to_ll};

use crate::fixture::{context, read};

/// `count` loops in one function, one after the other, with a condition in each.
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

/// How many operations there are at the end, after all steps, and how long the text is.
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
