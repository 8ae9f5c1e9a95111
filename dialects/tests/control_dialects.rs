//! `affine`, `scf`, `cf` and `llvm` through text: every operation in both forms, every rule of their verifiers, every fold.

mod support;

use insta::assert_snapshot;
use support::{both_forms, fixture, folded, read, rejections};

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
