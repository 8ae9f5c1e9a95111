//! Vectors beside MLIR: what its passes make of each function of a fixture computes what the
//! interpreter computes.

use crate::fixture::{Fixture, context, read, tool};
use crate::{llvm, say};

/// MLIR's way from vectors to the `llvm` dialect.
pub(crate) const PASSES: &[&str] = &[
    "--lower-vector-multi-reduction",
    "--convert-vector-to-scf=full-unroll=true",
    "--lower-affine",
    "--convert-scf-to-cf",
    "--expand-strided-metadata",
    "--convert-vector-to-llvm=force-32bit-vector-indices=0",
    "--convert-math-to-llvm",
    "--convert-arith-to-llvm",
    "--convert-ub-to-llvm",
    "--finalize-memref-to-llvm",
    "--convert-index-to-llvm",
    "--convert-func-to-llvm",
    "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts",
];

/// Functions with scans, or with loads or stores of several dimensions, which these passes do not
/// convert.
const OWN: &[&str] = &["rows", "scans"];

#[test]
fn mlir_computes_the_same() {
    let Some(folder) = llvm() else { return say("skipped: no LLVM") };
    let source = include_str!("fixtures/vector.mlir");
    let fixture = Fixture::read(source);
    let ctx = context();
    let original = read(&ctx, source).unwrap_or_else(|errors| panic!("{errors}"));
    let functions: Vec<&str> = source.split("\nfunc.func @").skip(1).collect();
    for function in functions {
        let name = function.split('(').next().unwrap_or_default();
        if OWN.contains(&name) {
            continue;
        }
        let lowered = tool(&folder, "mlir-opt", PASSES, &format!("func.func @{function}"));
        let lowered = String::from_utf8(lowered).expect("text");
        let ll = tool(&folder, "mlir-translate", &["--mlir-to-llvmir"], &lowered);
        let ll = String::from_utf8(ll).expect("text");
        fixture.check_compiled(&folder, &original, name, &ll);
    }
}
