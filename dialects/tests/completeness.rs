//! Completeness of the dialects: they have the operations of MLIR 22, and every operation occurs in
//! a fixture that is read and printed in both forms.

use crate::support;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The dialects compared with MLIR's, and the files of their definition in MLIR.
const DIALECTS: &[(&str, &str)] = &[
    ("affine", "Dialect/Affine/IR/AffineOps.td"),
    ("arith", "Dialect/Arith/IR/ArithOps.td"),
    ("builtin", "IR/BuiltinOps.td"),
    ("cf", "Dialect/ControlFlow/IR/ControlFlowOps.td"),
    ("func", "Dialect/Func/IR/FuncOps.td"),
    ("index", "Dialect/Index/IR/IndexOps.td"),
    ("math", "Dialect/Math/IR/MathOps.td"),
    ("memref", "Dialect/MemRef/IR/MemRefOps.td"),
    ("scf", "Dialect/SCF/IR/SCFOps.td"),
    ("ub", "Dialect/UB/IR/UBOps.td"),
    ("vector", "Dialect/Vector/IR/VectorOps.td"),
];

/// Operations that MLIR defines outside of its .td files.
const IN_CPP: &[&str] = &["affine.dma_start", "affine.dma_wait"];

/// Returns MLIR's operations from the list in the fixtures, with the reason why one is left out.
fn listed() -> BTreeMap<String, Option<String>> {
    let text = support::fixture("mlir.ops.txt");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.split_once(": ") {
            Some((op, reason)) => (op.to_owned(), Some(reason.to_owned())),
            None => (line.to_owned(), None),
        })
        .collect()
}

/// Returns the names of all operations of the dialects that `wanted` accepts.
fn registered(wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let ctx = loomir_dialects::context();
    let dialects = ctx.dialects().iter().filter(|dialect| wanted(&dialect.name));
    dialects.flat_map(|dialect| dialect.ops.iter().map(|def| def.name.to_string())).collect()
}

#[test]
fn operations_are_those_of_mlir() {
    let listed = listed();
    let registered = registered(|dialect| DIALECTS.iter().any(|(name, _)| *name == dialect));
    let kept: BTreeSet<String> =
        listed.iter().filter(|(_, reason)| reason.is_none()).map(|(op, _)| op.clone()).collect();
    let missing: Vec<_> = kept.difference(&registered).collect();
    let unknown: Vec<_> = registered.difference(&kept).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "missing: {missing:?}, not MLIR's: {unknown:?}");
}

#[test]
fn the_list_is_what_mlir_defines() {
    let Some(llvm) = support::peers::llvm() else { return };
    let include = llvm.join("include");
    let mut defined: BTreeSet<String> = IN_CPP.iter().map(|op| (*op).to_owned()).collect();
    for (_, file) in DIALECTS {
        let output = Command::new(llvm.join("bin/mlir-tblgen"))
            .arg("--gen-op-doc")
            .arg(format!("-I{}", include.display()))
            .arg(include.join("mlir").join(file))
            .output()
            .expect("mlir-tblgen runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let headings = text.lines().filter_map(|line| line.trim_start_matches('#').trim().strip_prefix('`'));
        defined.extend(headings.filter_map(|rest| Some(rest.split_once("` (")?.0.to_owned())));
    }
    let listed: BTreeSet<String> = listed().into_keys().collect();
    assert_eq!(listed, defined);
}

#[test]
fn every_operation_is_in_a_fixture() {
    let ctx = loomir_dialects::context();
    let mut missing = registered(|_| true);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    for entry in std::fs::read_dir(folder).expect("the fixtures") {
        let name = entry.expect("a fixture").file_name().into_string().expect("a plain name");
        let is_round_trip = ["errors.mlir", "folds.mlir", "stricter.mlir", "accepted.mlir"]
            .iter()
            .all(|end| !name.ends_with(end));
        if !name.ends_with(".mlir") || !is_round_trip {
            continue;
        }
        let module =
            support::read(&ctx, &support::fixture(&name)).unwrap_or_else(|message| panic!("{message}"));
        let mut stack = vec![&module];
        while let Some(body) = stack.pop() {
            missing.remove(body.op_ref(body.root()).name());
            for op in body.all_ops() {
                match body.nested(op) {
                    Some(nested) => stack.push(nested),
                    None => drop(missing.remove(body.op_ref(op).name())),
                }
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}
