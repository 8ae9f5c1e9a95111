//! `builtin`, `func`, `arith`, `math`, `memref` and `ub` through text: every operation in both forms, every rule of their verifiers, every
//! fold.

mod support;

use insta::assert_snapshot;
use support::{both_forms, fixture, folded, mlir_opt, rejections};

/// A test for each fixture of every operation, and one for each of wrong programs.
macro_rules! dialects {
    ($($dialect:ident $errors:ident),* $(,)?) => {
        $(
            #[test]
            fn $dialect() {
                let (custom, generic) = both_forms(&fixture(concat!(stringify!($dialect), ".mlir")));
                assert_snapshot!(concat!(stringify!($dialect), "-custom"), custom);
                assert_snapshot!(concat!(stringify!($dialect), "-generic"), generic);
            }

            #[test]
            fn $errors() {
                assert_snapshot!(rejections(&fixture(concat!(stringify!($dialect), ".errors.mlir"))));
            }
        )*
    };
}

dialects! {
    builtin errors_of_builtin,
    func errors_of_func,
    arith errors_of_arith,
    math errors_of_math,
    memref errors_of_memref,
    ub errors_of_ub,
}

/// What a function of straight-line code returns, with constants in place of their names; `None` if it computes anything.
fn returned_constants(function: &str) -> Option<String> {
    let mut constants = Vec::new();
    let mut returned = None;
    for line in function.lines().map(str::trim) {
        if let Some(values) = line.strip_prefix("return ") {
            returned = Some(values.to_owned());
        } else if let Some((name, value)) = line.split_once(" = ") {
            let value = value.strip_prefix("arith.constant ").or_else(|| value.strip_prefix("ub."))?;
            constants.push((name.to_owned(), value.to_owned()));
        }
    }
    let (values, types) = returned?.rsplit_once(" : ").map(|(v, t)| (v.to_owned(), t.to_owned()))?;
    let value = |name: &str| match constants.iter().find(|(own, _)| own == name) {
        Some((_, value)) => value.clone(),
        None => name.to_owned(),
    };
    Some(format!("{} : {types}", values.split(", ").map(value).collect::<Vec<_>>().join(", ")))
}

/// Folds a fixture. Functions that `mlir-opt` folds to constants and arguments must be folded to the same.
fn check_folds(name: &str) -> String {
    let source = fixture(name);
    let text = folded(&source);
    let simplified =
        |text: &str| Some(mlir_opt(text, &["--canonicalize"])?.expect("mlir-opt accepts the text"));
    if let (Some(ours), Some(theirs)) = (simplified(&text), simplified(&source)) {
        let functions = |text: &str| text.split("func.func ").map(str::to_owned).collect::<Vec<_>>();
        for (ours, theirs) in functions(&ours).iter().zip(functions(&theirs)) {
            if let Some(constants) = returned_constants(&theirs) {
                assert_eq!(returned_constants(ours).as_ref(), Some(&constants), "{theirs}");
            }
        }
    }
    text
}

#[test]
fn folds_of_arith() {
    assert_snapshot!(check_folds("arith.folds.mlir"));
}

#[test]
fn folds_of_math() {
    assert_snapshot!(check_folds("math.folds.mlir"));
}

#[test]
fn folds_of_memref_and_casts() {
    assert_snapshot!(check_folds("memref.folds.mlir"));
}
