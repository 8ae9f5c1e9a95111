//! The steps of lowering as passes, under MLIR's names.

use loomir_dialects::irdl::meaning;
use loomir_ir::pass::{Options, Pass, PassContext, PassInfo};
use loomir_ir::{Body, Diagnostics};

use crate::cf_to_scf;
use crate::cfg::{
    exit_folding, fix_irreducible, lcssa, loop_deletion, loop_flatten, loop_fusion, loop_peel, loop_rotate,
    loop_simplify, loop_unroll, loop_unroll_and_jam, simplify_cfg, unify_loop_exits,
};
use crate::expand_strided_metadata;
use crate::linalg_to_loops::Loops;
use crate::rewiring;
use crate::scf_to_threads;
use crate::to_llvm::{Options as Conventions, convert_to_llvm_with};
use crate::{convert_linalg_to_loops, convert_scf_to_cf, lower_affine, lower_to_llvm_with};

/// A pass that is a function without options.
struct Step {
    name: &'static str,
    run: fn(&mut Body) -> Result<(), Diagnostics>,
}

impl Pass for Step {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&self, body: &mut Body, _: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        (self.run)(body)
    }
}

/// A pass that converts to the `llvm` dialect.
struct ToLlvm {
    name: &'static str,
    run: fn(&mut Body, Conventions) -> Result<(), Diagnostics>,
    conventions: Conventions,
}

impl Pass for ToLlvm {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&self, body: &mut Body, _: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        (self.run)(body, self.conventions)
    }
}

/// The options of passes that convert to the `llvm` dialect.
const CONVENTIONS: &[(&str, &str, &str)] = &[(
    "use-bare-ptr-memref-call-conv",
    "false",
    "Passes and returns memrefs of static shape as one pointer",
)];

fn conventions(options: &Options) -> Result<Conventions, String> {
    match options.get(CONVENTIONS[0].0) {
        None | Some("false" | "0") => Ok(Conventions { bare_pointers: false }),
        Some("true" | "1") => Ok(Conventions { bare_pointers: true }),
        Some(_) => Err(format!("option '{}' is 'true' or 'false'", CONVENTIONS[0].0)),
    }
}

/// `convert-linalg-to-loops`.
const LINALG_TO_LOOPS: PassInfo = PassInfo {
    name: "convert-linalg-to-loops",
    anchor: None,
    summary: "Replaces linalg on memrefs by loops of scf",
    options: &[],
    make: |_| {
        let run = |body: &mut Body| convert_linalg_to_loops(body, Loops::Scf);
        Ok(Box::new(Step { name: "convert-linalg-to-loops", run }))
    },
};

/// `convert-linalg-to-affine-loops`.
const LINALG_TO_AFFINE_LOOPS: PassInfo = PassInfo {
    name: "convert-linalg-to-affine-loops",
    anchor: None,
    summary: "Replaces linalg on memrefs by loops of affine",
    options: &[],
    make: |_| {
        let run = |body: &mut Body| convert_linalg_to_loops(body, Loops::Affine);
        Ok(Box::new(Step { name: "convert-linalg-to-affine-loops", run }))
    },
};

/// `lower-affine`.
const LOWER_AFFINE: PassInfo = PassInfo {
    name: "lower-affine",
    anchor: None,
    summary: "Replaces the affine dialect by scf, arith and memref",
    options: &[],
    make: |_| Ok(Box::new(Step { name: "lower-affine", run: lower_affine })),
};

/// `convert-scf-to-cf`.
const SCF_TO_CF: PassInfo = PassInfo {
    name: "convert-scf-to-cf",
    anchor: None,
    summary: "Replaces structured control flow by branches",
    options: &[],
    make: |_| Ok(Box::new(Step { name: "convert-scf-to-cf", run: convert_scf_to_cf })),
};

/// `convert-to-llvm`.
const TO_LLVM: PassInfo = PassInfo {
    name: "convert-to-llvm",
    anchor: Some("builtin.module"),
    summary: "Replaces the remaining operations of other dialects by the llvm dialect",
    options: CONVENTIONS,
    make: |options| {
        let conventions = conventions(options)?;
        let run = convert_to_llvm_with;
        Ok(Box::new(ToLlvm { name: "convert-to-llvm", run, conventions }))
    },
};

/// `lower-loaded`.
const LOWER_LOADED: PassInfo = PassInfo {
    name: "lower-loaded",
    anchor: Some("builtin.module"),
    summary: "Replaces operations of loaded dialects by their meaning, and types by their storage",
    options: &[],
    make: |_| {
        let run = |body: &mut Body| meaning::lower(body).map(|_| ());
        Ok(Box::new(Step { name: "lower-loaded", run }))
    },
};

/// `lower-to-llvm`: from `linalg` to loops, and the three others, in order.
const LOWER_TO_LLVM: PassInfo = PassInfo {
    name: "lower-to-llvm",
    anchor: Some("builtin.module"),
    summary: "Lowers a module all the way to the llvm dialect",
    options: CONVENTIONS,
    make: |options| {
        let conventions = conventions(options)?;
        let run = lower_to_llvm_with;
        Ok(Box::new(ToLlvm { name: "lower-to-llvm", run, conventions }))
    },
};

/// The passes of this crate.
pub const PASSES: &[PassInfo] = &[
    LOWER_LOADED,
    LINALG_TO_LOOPS,
    LINALG_TO_AFFINE_LOOPS,
    LOWER_AFFINE,
    scf_to_threads::PASS,
    SCF_TO_CF,
    cf_to_scf::PASS,
    expand_strided_metadata::PASS,
    TO_LLVM,
    LOWER_TO_LLVM,
    loop_simplify::PASS,
    lcssa::PASS,
    loop_rotate::PASS,
    fix_irreducible::PASS,
    unify_loop_exits::PASS,
    loop_deletion::PASS,
    exit_folding::PASS,
    loop_fusion::PASS,
    loop_peel::PASS,
    loop_unroll::PASS,
    loop_unroll::FULL_PASS,
    loop_unroll_and_jam::PASS,
    loop_flatten::PASS,
    simplify_cfg::PASS,
    rewiring::PASS,
];
