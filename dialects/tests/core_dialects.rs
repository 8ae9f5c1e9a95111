//! `builtin`, `func`, `arith`, `index`, `math`, `memref` and `ub` through text: every operation in
//! both forms, every rule of their verifiers, every fold.

use std::fmt::Write;

use crate::support;
use crate::support::{both_forms, fixture, folded, forms, mlir_opt, rejections};
use insta::assert_snapshot;
use loomir_dialects::interfaces::{CallLike, FunctionLike, MemoryAccess, MemoryEffects, Resource, ViewLike};
use loomir_ir::{OpRef, Value};

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
    index errors_of_index,
    memref errors_of_memref,
    ub errors_of_ub,
    vector errors_of_vector,
}

/// `mlir-opt` prints maps in the generic form of named operations that it keeps as attributes. So
/// our generic form is compared as `mlir-opt` reads it.
#[test]
fn linalg() {
    let (custom, generic) = forms(&fixture("linalg.mlir"));
    if let Some(read) = mlir_opt(&generic, &[]) {
        let read = read.expect("mlir-opt accepts the generic form");
        support::pretty_eq("generic form through mlir-opt", read.trim(), custom.trim());
    }
    assert_snapshot!("linalg-custom", custom);
    assert_snapshot!("linalg-generic", generic);
}

#[test]
fn errors_of_linalg() {
    assert_snapshot!(rejections(&fixture("linalg.errors.mlir")));
}

/// Programs of `linalg` that MLIR accepts, and that Loomir answers with the way out.
#[test]
fn linalg_that_is_refused() {
    assert_snapshot!(support::refusals(&fixture("linalg.stricter.mlir")));
}

/// Returns the result of a function of straight-line code, with constants in place of their names.
/// `None` if it computes anything.
fn returned_constants(function: &str) -> Option<String> {
    let mut constants = Vec::new();
    let mut returned = None;
    for line in function.lines().map(str::trim) {
        if let Some(values) = line.strip_prefix("return ") {
            returned = Some(values.to_owned());
        } else if let Some((name, value)) = line.split_once(" = ") {
            let prefixes = ["arith.constant ", "index.constant ", "index.bool.constant ", "ub."];
            let value = prefixes.iter().find_map(|op| value.strip_prefix(op))?;
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

/// Folds a fixture. Functions that `mlir-opt` folds to constants and arguments must be folded to
/// the same.
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
fn folds_of_index() {
    assert_snapshot!(check_folds("index.folds.mlir"));
}

#[test]
fn folds_of_memref_and_casts() {
    assert_snapshot!(check_folds("memref.folds.mlir"));
}

#[test]
fn folds_of_vector() {
    assert_snapshot!(check_folds("vector.folds.mlir"));
}

/// Returns the position of a value in an operation, `operand 1` or `result 0`.
fn position(op: OpRef<'_>, value: Value) -> String {
    match op.operands().position(|v| v == value) {
        Some(i) => format!("operand {i}"),
        None => {
            format!("result {}", op.results().position(|v| v == value).expect("a value of the operation"))
        }
    }
}

/// Describes an operation by its interfaces.
fn meaning(op: OpRef<'_>) -> String {
    let mut text = String::new();
    let info = op.info();
    if let Some(model) = info.interface::<dyn MemoryEffects>() {
        for effect in model.effects(op) {
            let on = match effect.on {
                Resource::Value(value) => position(op, value),
                other => format!("{other:?}"),
            };
            let _ = write!(text, " {:?} of {on};", effect.kind);
        }
        for (holds, what) in
            [(model.may_be_undefined(op), "may be undefined"), (model.may_not_return(op), "may not return")]
        {
            if holds {
                let _ = write!(text, " {what};");
            }
        }
    }
    if let Some(model) = info.interface::<dyn ViewLike>() {
        let _ = write!(text, " view of {};", position(op, model.source(op)));
    }
    if let Some(model) = info.interface::<dyn MemoryAccess>() {
        let access = model.access(op);
        let indices =
            access.subscripts.operands.iter().map(|v| position(op, *v)).collect::<Vec<_>>().join(", ");
        let stored = access.stored.map_or(String::new(), |v| format!(" of {}", position(op, v)));
        let _ = write!(text, " access{stored} to {} at [{indices}];", position(op, access.memref));
    }
    if let Some(model) = info.interface::<dyn CallLike>() {
        let arguments = model.arguments(op).iter().map(|v| position(op, *v)).collect::<Vec<_>>().join(", ");
        let known = if model.callee(op).is_some() { "by name" } else { "of a value" };
        let _ = write!(text, " call {known} with ({arguments});");
    }
    if let Some(model) = info.interface::<dyn FunctionLike>() {
        let (inputs, results) = model.signature(op);
        let _ = write!(text, " function of {} arguments and {} results;", inputs.len(), results.len());
    }
    text
}

/// Describes the first operation of each kind in these fixtures that implements an interface.
fn meanings(fixtures: &[&str]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let ctx = loomir_dialects::context();
    for name in fixtures {
        let module = support::read(&ctx, &fixture(name)).unwrap_or_else(|message| panic!("{message}"));
        let mut stack = vec![&module];
        while let Some(body) = stack.pop() {
            for op in std::iter::once(body.root()).chain(body.all_ops()) {
                if let Some(nested) = body.nested(op) {
                    stack.push(nested);
                    continue;
                }
                let op = body.op_ref(op);
                let (name, meaning) = (format!("{}:", op.name()), meaning(op));
                if !meaning.is_empty() && !lines.iter().any(|line| line.starts_with(&name)) {
                    lines.push(name + &meaning);
                }
            }
        }
    }
    lines.sort();
    lines.join("\n")
}

#[test]
fn effects_views_accesses_and_calls() {
    assert_snapshot!(meanings(&[
        "memref.mlir",
        "arith.mlir",
        "math.mlir",
        "func.mlir",
        "index.mlir",
        "linalg.mlir",
        "ub.mlir"
    ]));
}

#[test]
fn divisions_by_safe_constants_are_always_defined() {
    let source = "func.func @f(%x: i8, %v: vector<2xi8>) {
        %c0 = arith.constant 0 : i8
        %c3 = arith.constant 3 : i8
        %m1 = arith.constant -1 : i8
        %safe = arith.constant dense<[2, 3]> : vector<2xi8>
        %unsafe = arith.constant dense<[2, 0]> : vector<2xi8>
        %0 = arith.divsi %x, %c3 : i8
        %1 = arith.divsi %x, %m1 : i8
        %2 = arith.divui %x, %m1 : i8
        %3 = arith.remui %x, %c0 : i8
        %4 = arith.remsi %v, %safe : vector<2xi8>
        %5 = arith.floordivsi %v, %unsafe : vector<2xi8>
        return
    }";
    let ctx = loomir_dialects::context();
    let module = support::read(&ctx, source).unwrap_or_else(|message| panic!("{message}"));
    let function = module.all_ops().find_map(|op| module.nested(op)).expect("a function");
    let divisions =
        function.all_ops().map(|op| function.op_ref(op)).filter(|op| !op.name().contains("constant"));
    let lines: Vec<String> = divisions
        .filter_map(|op| {
            Some(format!(
                "{}: {}",
                op.name(),
                op.info().interface::<dyn MemoryEffects>()?.may_be_undefined(op)
            ))
        })
        .collect();
    assert_snapshot!(lines.join("\n"), @r"
    arith.divsi: false
    arith.divsi: true
    arith.divui: false
    arith.remui: true
    arith.remsi: false
    arith.floordivsi: true
    ");
}
