//! Schedules: the pass `transform-interpreter`, and the same for a schedule of its own file.

use loomir_dialects::builtin::ModuleOp;
use loomir_dialects::llvm;
use loomir_dialects::transform::{ENTRY_POINT, NamedSequenceOp, WITH_NAMED_SEQUENCE};
use loomir_ir::pass::{Options, Pass, PassContext, PassInfo, PassRegistry};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Body, Diagnostics, Loc, Op};
use loomir_lowering::raising::{self, Facts, Uncounted};
use loomir_transforms::access::base::AliasMode;
use loomir_transforms::schedule::{self, Report, Settings};

/// Runs a schedule, a module of its own with `@__transform_main`, on a module of the same context.
///
/// Functions of the `llvm` dialect, as LLVM IR has them, are raised to structured control flow for
/// that, and lowered afterwards. Those that no step changes stay as they were.
///
/// ```
/// use loomir::{AliasMode, context, parse, print, run_schedule};
///
/// let ctx = context();
/// let source = "
///     func.func @f(%a: memref<8x8xf32>, %x: f32) {
///       affine.for %i = 0 to 8 {
///         affine.for %j = 0 to 8 { affine.store %x, %a[%j, %i] : memref<8x8xf32> }
///       } {loomir.name = \"columns\"}
///       return
///     }";
/// let schedule = "
///     module attributes {transform.with_named_sequence} {
///       transform.named_sequence @__transform_main(
///           %root: !transform.any_op {transform.readonly}) {
///         %loop = loomir.find name \"columns\" in %root
///           : (!transform.any_op) -> !transform.any_op
///         %new:2 = loomir.interchange %loop permutation [1, 0]
///           : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
///         transform.yield
///       }
///     }";
/// let mut module = parse(&ctx, source, "f.mlir").map_err(|d| d.to_text(&ctx))?;
/// let schedule = parse(&ctx, schedule, "schedule.mlir").map_err(|d| d.to_text(&ctx))?;
/// run_schedule(&mut module, &schedule, AliasMode::May).map_err(|d| d.to_text(&ctx))?;
/// assert!(print(&module).contains("affine.store %arg1, %arg0[%arg2, %arg3]"));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// The first step that failed, and was not replaced by another way. No step changes what the module
/// computes.
pub fn run_schedule(module: &mut Body, schedule: &Body, alias: AliasMode) -> Result<Report, Diagnostics> {
    run_sequence(module, schedule, (ENTRY_POINT, false), alias)
}

/// The same from another named sequence, perhaps in a copy of the module.
fn run_sequence(
    module: &mut Body,
    schedule: &Body,
    (entry, is_inside): (&str, bool),
    alias: AliasMode,
) -> Result<Report, Diagnostics> {
    let passes = passes();
    let raised = raise_functions(module, &|_| true);
    let report = schedule::apply(module, schedule, &Settings { entry, alias, passes: &passes, is_inside });
    lower_functions(module, raised, (report.is_ok(), Facts::Omitted))?;
    report
}

/// Returns the passes that a schedule may run: all but the one that runs schedules.
pub(crate) fn passes() -> PassRegistry {
    let mut registry = PassRegistry::new();
    for info in loomir_transforms::passes().chain(loomir_lowering::PASSES) {
        registry.add(*info);
    }
    registry
}

/// A function of the `llvm` dialect that has structured control flow for the time of a schedule.
pub(crate) struct RaisedFunction {
    pub(crate) function: Op,
    pub(crate) original: Body,
    /// Its loops whose number of iterations is unknown.
    pub(crate) uncounted: Vec<(Loc, Uncounted)>,
    /// The text after raising.
    before: String,
}

/// Raises the functions of the `llvm` dialect that have loops and that `accepts` accepts, as far as
/// they can be.
pub(crate) fn raise_functions(module: &mut Body, accepts: &dyn Fn(&Body) -> bool) -> Vec<RaisedFunction> {
    let symbols = SymbolTable::of(module);
    let mut all = Vec::new();
    for function in module.all_ops().collect::<Vec<_>>() {
        let own = module.nested_mut(function).filter(|own| own.root_ref().is(llvm::FuncOp::DEF));
        let Some(own) = own.filter(|own| !raising::loops(own).is_empty() && accepts(own)) else { continue };
        let Ok(raised) = raising::raise(own, &symbols) else { continue };
        let before = crate::print(&raised.body);
        let (original, uncounted) = (std::mem::replace(own, raised.body), raised.loops.uncounted);
        all.push(RaisedFunction { function, original, uncounted, before });
    }
    all
}

/// Lowers raised functions again. Without changes, or without `keeps`, they become what they were.
pub(crate) fn lower_functions(
    module: &mut Body,
    raised: Vec<RaisedFunction>,
    (keeps, facts): (bool, Facts),
) -> Result<(), Diagnostics> {
    let mut is_changed = false;
    for RaisedFunction { function, original, before, .. } in raised {
        let Some(own) = module.nested_mut(function) else { continue };
        if !keeps || crate::print(own) == before {
            *own = original;
            continue;
        }
        raising::lower(own, facts)?;
        is_changed = true;
    }
    if is_changed { raising::convert_raised(module) } else { Ok(()) }
}

/// The pass that runs the schedule of a module on the module.
pub(crate) const PASS: PassInfo = PassInfo {
    name: "transform-interpreter",
    anchor: Some("builtin.module"),
    summary: "Run the schedule in the module: @__transform_main of the transform dialect",
    options: &[
        ("entry-point", ENTRY_POINT, "the named sequence to run"),
        AliasMode::UNTESTED,
        ("erase-schedule", "false", "erase all named sequences afterwards"),
    ],
    make: |options| Ok(Box::new(Interpret::of(options)?)),
};

struct Interpret {
    entry: String,
    alias: AliasMode,
    erases: bool,
}

impl Interpret {
    fn of(options: &Options) -> Result<Interpret, String> {
        let alias = AliasMode::untested_of(options)?;
        let entry = options.get("entry-point").unwrap_or(ENTRY_POINT).to_owned();
        Ok(Interpret { entry, alias, erases: options.parse("erase-schedule", false)? })
    }
}

impl Pass for Interpret {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        // The program changes under the schedule, so the schedule is a copy.
        let copy = body.duplicate();
        let report = run_sequence(body, &copy, (&self.entry, true), self.alias)?;
        report.remarks.iter().for_each(|remark| cx.remark(remark.clone()));
        report.dumps.into_iter().for_each(|(title, text)| cx.print(title, text));
        cx.count("Operations of the schedule", report.steps);
        if self.erases {
            erase_schedule(body);
        }
        Ok(())
    }
}

/// Erases the named sequences of a module, and modules inside that have nothing else. Recurses once
/// for each module in a module. Reading bounds their nesting depth.
fn erase_schedule(module: &mut Body) {
    for op in module.all_ops().collect::<Vec<_>>() {
        let is_module = module.is(op, ModuleOp::DEF);
        let is_done = match module.nested_mut(op).filter(|_| is_module) {
            Some(inner) => {
                erase_schedule(inner);
                inner.all_ops().next().is_none()
            }
            None => module.is(op, NamedSequenceOp::DEF),
        };
        if is_done {
            module.erase(op);
        }
    }
    let root = module.root();
    module.remove_attr(root, WITH_NAMED_SEQUENCE);
}
