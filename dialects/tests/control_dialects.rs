//! `affine`, `scf`, `cf` and `llvm` through text: every operation in both forms, every rule of
//! their verifiers, every fold.

use crate::support;
use crate::support::{both_forms, fixture, folded, mlir_opt, read, rejections};
use insta::assert_snapshot;

/// A test for each fixture in both forms.
macro_rules! forms {
    ($($test:ident $file:literal),* $(,)?) => {
        $(
            #[test]
            fn $test() {
                let (custom, generic) = both_forms(&fixture($file));
                assert_snapshot!(concat!(stringify!($test), "-custom"), custom);
                assert_snapshot!(concat!(stringify!($test), "-generic"), generic);
            }
        )*
    };
}

forms! {
    affine "affine.mlir",
    scf "scf.mlir",
    cf "cf.mlir",
    llvm "llvm.mlir",
    llvm_calls_and_types "llvm.more.mlir",
    llvm_intrinsics "llvm.intrinsics.mlir",
    transform "transform.mlir",
    irdl "irdl.mlir",
    pdl "pdl.mlir",
}

/// A test for each fixture of wrong programs.
macro_rules! errors {
    ($($test:ident $file:literal),* $(,)?) => {
        $(
            #[test]
            fn $test() {
                assert_snapshot!(rejections(&fixture($file)));
            }
        )*
    };
}

errors! {
    errors_of_affine "affine.errors.mlir",
    values_that_are_no_dimensions_or_symbols "affine.validity.errors.mlir",
    errors_of_scf "scf.errors.mlir",
    errors_of_cf "cf.errors.mlir",
    errors_of_llvm "llvm.errors.mlir",
}

/// Folds a fixture. The result must be the same program to `mlir-opt`'s own simplification.
fn check_folds(name: &str) -> String {
    let source = fixture(name);
    let text = folded(&source);
    let simplified = |text: &str| mlir_opt(text, &["--canonicalize"]);
    if let (Some(ours), Some(theirs)) = (simplified(&text), simplified(&source)) {
        let (ours, theirs) = (ours.expect("our text is accepted"), theirs.expect("the fixture is accepted"));
        support::pretty_eq("after canonicalize of mlir-opt", &ours, &theirs);
    }
    text
}

#[test]
fn folds_of_affine() {
    assert_snapshot!(check_folds("affine.folds.mlir"));
}

/// Loomir folds slightly more here than MLIR.
#[test]
fn folds_of_llvm() {
    let text = folded(&fixture("llvm.folds.mlir"));
    if let Some(accepted) = mlir_opt(&text, &[]) {
        accepted.expect("our text is accepted");
    }
    assert_snapshot!(text);
}

/// Programs that MLIR accepts although they have no meaning, or none that LLVM accepts.
#[test]
fn stricter_than_mlir() {
    assert_snapshot!(support::refusals(&fixture("control.stricter.mlir")));
}

/// An unregistered operation may be an affine scope, such as an operation of another tool's
/// dialect.
#[test]
fn symbols_may_begin_in_what_is_not_registered() {
    let program = |scope: &str| {
        format!(
            r#"func.func @f(%n: index) {{
  affine.for %i = 0 to %n {{
    %0 = arith.subi %n, %i : index
    "{scope}"() ({{
      affine.for %j = %0 to %n {{ }}
      "scope.end"() : () -> ()
    }}) : () -> ()
  }}
  return
}}"#
        )
    };
    read(&loomir_dialects::context(), &program("scope.of")).expect("accepted");
    let refused = "func.func @f(%n: index) {
  affine.for %i = 0 to %n {
    %0 = arith.subi %n, %i : index
    affine.for %j = %0 to %n { }
  }
  return
}";
    let message = read(&loomir_dialects::context(), refused).expect_err("refused");
    assert!(message.contains("operand cannot be used as a symbol"), "{message}");
}

/// Real programs lowered by MLIR read, verify and print unchanged.
#[test]
fn lowered_programs_print_as_they_were() {
    for name in ["mlp.affine", "mlp.scf", "mlp.scf.generic", "mlp.llvm", "image.llvm"] {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../tests/inputs/{name}.mlir"));
        let source = std::fs::read_to_string(path).expect("an input");
        both_forms(&source);
    }
}

/// Operations of every name with any number of operands, results and regions are refused or
/// accepted, and printed, without a panic.
#[test]
fn no_shape_of_an_operation_panics() {
    let ctx = loomir_dialects::context();
    let names: Vec<String> = ctx
        .dialects()
        .iter()
        .flat_map(|dialect| dialect.ops.iter())
        .map(|def| def.name.to_string())
        .collect();
    for name in &names {
        for shape in 0..54 {
            let (operands, results, regions) = (shape % 3, shape / 3 % 3, shape / 9 % 3);
            let ty = if shape < 27 { "index" } else { "memref<4xf32>" };
            let list = |item: &str, count: usize| vec![item; count].join(", ");
            let region = if shape % 2 == 0 { "{}" } else { "{ ^bb0(%a: index): \"test.end\"() : () -> () }" };
            let regions = if regions == 0 { String::new() } else { format!(" ({})", list(region, regions)) };
            let types = format!("({}) -> ({})", list(ty, operands), list(ty, results));
            let op = format!("\"{name}\"({}){regions} : {types}", list("%x", operands));
            let source = format!("func.func @f(%x: {ty}) {{\n  {op}\n  return\n}}\n");
            if let Ok(body) = loomir_ir::text::parse(&ctx, &source, "input") {
                let _ = loomir_ir::verifier::verify(&body);
                support::print(&body, false);
            }
        }
    }
}

/// Returns the pieces of a text: words with their signs, numbers, single punctuation, spaces.
fn tokens(text: &str) -> Vec<&str> {
    let word = |c: char| c.is_alphanumeric() || "_.%@^#!$".contains(c);
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if word(first) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, behind) = rest.split_at(end);
        tokens.push(token);
        rest = behind;
    }
    tokens
}

/// Programs with a few replaced words are refused or accepted, and printed, without a panic.
#[test]
fn no_change_of_a_program_panics() {
    let ctx = loomir_dialects::context();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound as u64) as usize
    };
    let (mut read_back, mut well_formed) = (0, 0);
    for name in ["affine", "scf", "cf", "llvm", "llvm.more", "llvm.intrinsics", "memref", "arith"] {
        let Ok(body) = read(&ctx, &fixture(&format!("{name}.mlir"))) else { panic!("{name} does not read") };
        for generic in [true, false] {
            let text = support::print(&body, generic);
            let tokens = tokens(&text);
            let words: Vec<usize> = (0..tokens.len()).filter(|i| tokens[*i].trim().len() > 1).collect();
            for _ in 0..150 {
                let mut changed = tokens.clone();
                for _ in 0..1 + random(3) {
                    let (from, to) = (words[random(words.len())], words[random(words.len())]);
                    changed[to] = tokens[from];
                }
                if let Ok(body) = loomir_ir::text::parse(&ctx, &changed.concat(), "input") {
                    read_back += 1;
                    well_formed += usize::from(loomir_ir::verifier::verify(&body).is_empty());
                    support::print(&body, false);
                }
            }
        }
    }
    assert!(read_back > 100 && well_formed > 20, "{read_back} were read, {well_formed} are well formed");
}

/// Returns the custom form of a program that `mlir-opt` does not know. Only our own forms are
/// compared.
fn own_forms(name: &str) -> String {
    let ctx = loomir_dialects::context();
    let body = read(&ctx, &fixture(name)).unwrap_or_else(|message| panic!("{message}"));
    let custom = support::print(&body, false);
    let again = read(&ctx, &support::print(&body, true)).unwrap_or_else(|message| panic!("{message}"));
    assert_eq!(support::print(&again, false), custom);
    custom
}

#[test]
fn loomir() {
    assert_snapshot!(own_forms("loomir.mlir"));
}

#[test]
fn llvm_without_mlir() {
    assert_snapshot!(own_forms("llvm.own.mlir"));
}

#[test]
fn vector_masks() {
    let custom = own_forms("vector.own.mlir");
    if let Some(peer) = support::mlir_opt(&custom, &[]) {
        support::pretty_eq("mlir-opt", peer.expect("it accepts the text").trim(), custom.trim());
    }
    assert_snapshot!(custom);
}

#[test]
fn errors_of_transform() {
    assert_snapshot!(rejections(&fixture("transform.errors.mlir")));
}

#[test]
fn errors_of_loomir() {
    assert_snapshot!(support::refusals(&fixture("loomir.errors.mlir")));
}
