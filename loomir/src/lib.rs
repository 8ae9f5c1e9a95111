//! Loomir: a multi-level compiler framework whose heart is loop transformation.
//!
//! This crate is the façade. [`Pipeline`] takes a program from text to LLVM IR; the functions here
//! are its steps. [`main`] is the whole command, with dialects and passes of one's own. The crates
//! below are re-exported: [`ir`], [`dialects`], [`check`], [`transforms`], [`lowering`].
//!
//! The command's dependencies are behind the feature `cli`, which is on by default. A library
//! leaves them out with `default-features = false`. The feature `render` alone has diagnostics as
//! the command shows them.
//!
//! ```
//! use loomir::{fuse, parse, print, FuseOptions};
//!
//! let ctx = loomir::context();
//! let source = "
//!     func.func @twice(%a: memref<8xf32>) {
//!       affine.for %i = 0 to 8 {
//!         %0 = affine.load %a[%i] : memref<8xf32>
//!         %1 = arith.addf %0, %0 : f32
//!         affine.store %1, %a[%i] : memref<8xf32>
//!       }
//!       affine.for %i = 0 to 8 {
//!         %0 = affine.load %a[%i] : memref<8xf32>
//!         %1 = arith.mulf %0, %0 : f32
//!         affine.store %1, %a[%i] : memref<8xf32>
//!       }
//!       return
//!     }";
//! let mut module = parse(&ctx, source, "twice.mlir").map_err(|d| d.to_text(&ctx))?;
//! let report = fuse(&mut module, &FuseOptions::default());
//! assert_eq!(report.fused, 1);
//! assert_eq!(print(&module).matches("affine.for").count(), 1);
//! # Ok::<(), String>(())
//! ```
#![forbid(unsafe_code)]

pub use loomir_check as check;
pub use loomir_dialects as dialects;
pub use loomir_ir as ir;
pub use loomir_lowering as lowering;
pub use loomir_transforms as transforms;
pub use loomir_transforms::polyhedra;

use std::collections::BTreeMap;
use std::sync::Arc;

use hashbrown::HashSet;
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::{builtin, func, llvm};
use loomir_ir::pass::EditLimit;
use loomir_ir::symbols::{SymbolTable, symbol_name};
use loomir_ir::text::{ParseOptions, PrintOptions};
use loomir_ir::{Body, Context, Diagnostics, Loc, Name, Registry, verifier};
use loomir_lowering::linalg_to_loops;
use loomir_lowering::raising::{self, Facts, Gone, Lifted, Opaque, Uncounted};
use loomir_transforms::access::callees::Callees;
use loomir_transforms::access::variables_of;
use loomir_transforms::approximation::{Formulas, has_formula};
use loomir_transforms::{contraction, distribution, fusion, promotion};
use optimize::Optimized;

pub use loomir_transforms::access::Analyses;
pub use loomir_transforms::access::base::AliasMode;
pub use loomir_transforms::contraction::{Options as ContractionOptions, Report as ContractionReport};
pub use loomir_transforms::cost::CostSource;
pub use loomir_transforms::distribution::{Expand, Options as DistributeOptions, Report as DistributeReport};
pub use loomir_transforms::fusion::{Options as FuseOptions, Profitability, Report as FuseReport};
pub use loomir_transforms::promotion::{Options as PromotionOptions, Report as PromotionReport};

#[cfg(feature = "cli")]
mod cli;
mod compare;
mod costs;
mod dialect_files;
mod directives;
mod execute;
mod expected;
mod explained;
pub mod extend;
#[cfg(feature = "cli")]
mod lsp;
mod optimize;
mod order;
mod passes;
mod pipeline;
pub mod prelude;
#[cfg(feature = "render")]
mod render;
#[cfg(feature = "cli")]
mod report;
mod schedule;

#[cfg(feature = "cli")]
pub use cli::{CommandOutput, main, run_command};
pub use compare::{SameLevel, Which, on_one_level};
pub use costs::{FunctionCost, costs};
pub use dialect_files::DialectFiles;
pub use directives::{Obeyed, obey_directives};
pub use execute::{Engine, execute, find_races, interleave, picture_of_order, profile};
pub use expected::{ExpectedLevel, verify_diagnostics};
pub use explained::{Accesses, Explained, LoopAccesses};
pub use passes::passes;
pub use pipeline::{Failed, Pipeline, Program, to_ll};
#[cfg(feature = "render")]
pub use render::render;
pub use schedule::run_schedule;

/// Returns all dialects of Loomir, with the meaning of their operations and their lowering.
///
/// Add dialects of your own before making a [`Context`] of it.
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    loomir_dialects::register_all(&mut registry);
    loomir_lowering::register(&mut registry);
    registry
}

/// Returns a context with the dialects of [`registry`].
pub fn context() -> Context {
    Context::new(registry())
}

/// Reads a module, MLIR or LLVM IR by its content, and verifies it.
///
/// # Errors
/// Everything that is wrong with the text or, if nothing is, with the program.
pub fn parse(ctx: &Context, source: &str, file_name: &str) -> Result<Body, Diagnostics> {
    parse_with(ctx, source, file_name, &ParseOptions::default())
}

/// [`parse`] with options, which are about MLIR.
///
/// # Errors
/// As for [`parse`].
pub fn parse_with(
    ctx: &Context,
    source: &str,
    file_name: &str,
    options: &ParseOptions,
) -> Result<Body, Diagnostics> {
    let module = match loomir_lowering::is_ll(source) {
        true => loomir_lowering::from_ll(ctx, source, file_name)?,
        false => loomir_ir::text::parse_with(ctx, source, file_name, options)?,
    };
    verified(module)
}

/// Reads a module of LLVM IR for [`splice`](loomir_lowering::splice). Definitions that cannot be
/// read become declarations, with a remark each.
///
/// # Errors
/// As for [`parse`].
pub fn parse_ll_in_part(
    ctx: &Context,
    source: &str,
    file_name: &str,
) -> Result<(Body, Diagnostics), Diagnostics> {
    let (module, remarks) = loomir_lowering::from_ll_in_part(ctx, source, file_name)?;
    Ok((verified(module)?, remarks))
}

fn verified(module: Body) -> Result<Body, Diagnostics> {
    let diagnostics = verifier::verify(&module);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(module) }
}

/// The text of a module, in custom form.
pub fn print(module: &Body) -> String {
    loomir_ir::text::print(module, &PrintOptions::default())
}

/// Fuses the loops of every function of a module, of nested modules too.
pub fn fuse(module: &mut Body, options: &FuseOptions) -> FuseReport {
    fuse_program(module, &ProgramOptions::of(options)).fusion
}

/// The options of [`fuse_program`].
#[derive(Clone, Copy, Debug)]
pub struct ProgramOptions<'o> {
    /// The options of fusion.
    pub fusion: &'o FuseOptions,
    /// The options of contraction, if arrays are contracted.
    pub contraction: Option<&'o ContractionOptions>,
    /// Takes the fastest of several programs, with loops interchanged, unrolled and jammed beside
    /// fusion.
    pub optimizes: bool,
    /// Makes loops with independent iterations parallel in the end, in functions of MLIR.
    pub parallel: bool,
    /// Writes all functions of the `llvm` dialect anew from the loop tree, to test the way there
    /// and back. Otherwise only changed ones.
    pub regenerate_all: bool,
    /// The parts of functions in LLVM IR that may change.
    pub extent: Extent,
    /// Leaves a function in LLVM IR as it is if it has one loop, or if no loops are fused, no array
    /// is contracted and no element is kept in a register. LLVM does the rest.
    pub only_loops: bool,
    /// The use of facts about new code in LLVM IR. A module that is written as text may tell them.
    pub facts: Facts,
}

impl<'o> ProgramOptions<'o> {
    /// Returns the options of a run that only fuses.
    pub fn of(fusion: &'o FuseOptions) -> Self {
        ProgramOptions {
            fusion,
            contraction: None,
            optimizes: false,
            parallel: false,
            regenerate_all: false,
            extent: Extent::Whole,
            only_loops: false,
            facts: Facts::Omitted,
        }
    }
}

/// The parts of a function in LLVM IR that are raised, so that they may change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Extent {
    /// The whole function.
    #[default]
    Whole,
    /// Neighbouring counted loops ([`raising::raise_parts`]). Everything else keeps its blocks.
    Parts,
    /// The whole function, if it gets no branches on data ([`raising::dispatches`]) then. They make
    /// it slower. Otherwise parts.
    Direct,
}

/// The results of fusing the loops of a program.
#[derive(Debug, Default)]
pub struct Fused {
    /// The report of fusion.
    pub fusion: FuseReport,
    /// The report of contraction, empty without one.
    pub contraction: ContractionReport,
    /// The remarks of other transformations.
    pub remarks: Diagnostics,
    /// The number of their edits.
    pub edits: u64,
    /// The functions of the `llvm` dialect.
    pub raised: Raised,
    /// The names of the functions that changed, in the order of the program.
    pub changed: Vec<Name>,
}

/// [`fuse`], or with options for contraction [`fuse_and_contract`], with all results. Functions
/// that are to be small (`optsize`, `minsize`) get no run-time checks, no shifts and no copies of
/// loops, which add code.
pub fn fuse_program(module: &mut Body, options: &ProgramOptions<'_>) -> Fused {
    let ProgramOptions {
        fusion,
        contraction,
        optimizes,
        parallel,
        regenerate_all,
        extent,
        only_loops,
        facts,
    } = *options;
    let mut fused = Fused::default();
    let alias = fusion.alias.untested();
    let small = FuseOptions { alias, max_shift: 0, unroll_and_jam: false, ..fusion.clone() };
    let bounds =
        Bounds { fewest_loops: if only_loops { 2 } else { 1 }, writes_out: optimizes, extent, facts };
    (fused.raised, fused.changed) = for_each_function_with(module, bounds, &mut |body, around| {
        let is_for_size = loomir_lowering::ll::is_for_size(body.root_ref());
        let fusion = if is_for_size { &small } else { fusion };
        let mut optimized = match contraction {
            _ if optimizes && !is_for_size && !optimize::has_obeyed(body) => {
                optimize::optimize(body, around, (fusion, contraction))
            }
            Some(contraction) => {
                let (fusion, contraction) = fuse_and_contract_in(body, around, fusion, contraction);
                Optimized { fusion, contraction, ..Optimized::default() }
            }
            None => Optimized { fusion: fuse_in(body, around, fusion), ..Optimized::default() },
        };
        if parallel && !is_for_size && !body.root_ref().is(llvm::FuncOp::DEF) {
            optimize::parallelize(body, around, fusion, &mut optimized);
        }
        let is_new = optimized.edits > 0 || optimized.fusion.fused > 0;
        if is_new && (optimizes || body.root_ref().is(llvm::FuncOp::DEF)) {
            optimized.remarks.append(optimize::put_loads_first(body, around, fusion));
        }
        let Optimized { fusion: own, contraction: contracted, remarks, edits } = optimized;
        let gains = own.fused > 0
            || edits > 0
            || contracted.arrays_erased + contracted.arrays_folded > 0
            || contracted.promoted > 0;
        let changed =
            (own.changed() || contracted.changed() || edits > 0) && (gains || !only_loops) || regenerate_all;
        fused.fusion.append(own);
        fused.contraction.append(contracted);
        fused.remarks.append(remarks);
        fused.edits += edits;
        changed
    });
    if fusion.remarks {
        let said = std::mem::take(&mut fused.fusion.remarks);
        fused.fusion.remarks = explained::with_gone(&fused.raised, said);
    }
    fused
}

/// [`fuse`], with an inventory of the accesses in functions of the `llvm` dialect.
pub fn explain(module: &mut Body, options: &FuseOptions) -> Explained {
    let mut explained = Explained::default();
    (explained.raised, _) = for_each_function(module, &mut |body, around| {
        if body.root_ref().is(llvm::FuncOp::DEF) {
            explained.accesses.add(body, &around.known_to(&options.analyses));
        }
        let own = fuse_in(body, around, options);
        let changed = own.changed();
        explained.fusion.append(own);
        changed
    });
    let said = std::mem::take(&mut explained.fusion.remarks);
    let said = explained::without_uncounted(&explained.raised, said);
    explained.fusion.remarks = match options.remarks {
        true => explained::with_gone(&explained.raised, said),
        false => said,
    };
    explained
}

fn fuse_in(function: &mut Body, around: &Around, options: &FuseOptions) -> FuseReport {
    let analyses = around.known_to(&options.analyses);
    fusion::fuse(function, &FuseOptions { analyses, ..options.clone() })
}

/// Distributes the loops of every function of a module, of nested modules too.
pub fn distribute(module: &mut Body, options: &DistributeOptions) -> DistributeReport {
    let mut report = DistributeReport::default();
    for_each_function(module, &mut |body, around| {
        let analyses = around.known_to(&options.analyses);
        let own = distribution::distribute(body, &DistributeOptions { analyses, ..options.clone() });
        let changed = own.distributed > 0;
        report.append(own);
        changed
    });
    report
}

/// Contracts the arrays of every function of a module, of nested modules too: loads get values that
/// are there, local arrays shrink to what is alive of them at a time.
pub fn contract(module: &mut Body, options: &ContractionOptions) -> ContractionReport {
    let mut report = ContractionReport::default();
    for_each_function(module, &mut |body, around| {
        let own = contract_in(body, around, options);
        let changed = own.changed();
        report.append(own);
        changed
    });
    report
}

fn contract_in(function: &mut Body, around: &Around, options: &ContractionOptions) -> ContractionReport {
    let options = ContractionOptions { analyses: around.known_to(&options.analyses), ..*options };
    let mut report = contraction::contract(function, &options);
    for _ in 1..MAX_CONTRACTIONS {
        if report.is_settled {
            break;
        }
        report.go_on(contraction::contract(function, &options));
    }
    report
}

/// Most times in a row that a function is contracted.
const MAX_CONTRACTIONS: usize = 16;

/// [`fuse`] and then [`contract`], in turns until nothing changes. Then loops keep elements that
/// every iteration accesses in registers ([`promotion`]). Each function is worked on while it is at
/// hand: a program that fits in no cache is gone through once.
pub fn fuse_and_contract(
    module: &mut Body,
    fusion: &FuseOptions,
    contraction: &ContractionOptions,
) -> (FuseReport, ContractionReport) {
    let options = ProgramOptions { contraction: Some(contraction), ..ProgramOptions::of(fusion) };
    let Fused { fusion, contraction, .. } = fuse_program(module, &options);
    (fusion, contraction)
}

fn fuse_and_contract_in(
    body: &mut Body,
    around: &Around,
    fusion: &FuseOptions,
    contraction: &ContractionOptions,
) -> (FuseReport, ContractionReport) {
    let (mut fused, mut contracted) = fuse_and_contract_rounds(body, around, (fusion, contraction));
    for _ in 0..MAX_CONTRACTIONS {
        let promoted = promote_at_most(body, around, (fusion, contraction));
        if promoted.promoted == 0 {
            break;
        }
        contracted.append(promoted);
        // An element that left a loop may be forwarded to its next load, or free other loops.
        contracted.go_on(contract_at_most(body, around, (fusion, contraction)));
        let (more, later) = fuse_and_contract_rounds(body, around, (fusion, contraction));
        fused.go_on(more);
        contracted.go_on(later);
    }
    (fused, contracted)
}

/// Fuses and contracts, in turns until nothing changes.
fn fuse_and_contract_rounds(
    body: &mut Body,
    around: &Around,
    (fusion, contraction): (&FuseOptions, &ContractionOptions),
) -> (FuseReport, ContractionReport) {
    let once = FuseOptions { max_rounds: 1, ..fusion.clone() };
    let mut fused = fuse_in(body, around, &once);
    let mut contracted = contract_at_most(body, around, (fusion, contraction));
    // Where an array is gone, what it kept apart may fuse.
    let mut changed = fused.changed() || contracted.changed();
    for _ in 1..fusion.max_rounds {
        if !(changed && fused.has_neighbours) {
            break;
        }
        let more = fuse_in(body, around, &once);
        changed = more.changed();
        if changed {
            contracted.go_on(contract_at_most(body, around, (fusion, contraction)));
        }
        fused.go_on(more);
    }
    (fused, contracted)
}

/// Contracts the arrays of a function, which is one edit.
fn contract_at_most(
    function: &mut Body,
    around: &Around,
    (fusion, contraction): (&FuseOptions, &ContractionOptions),
) -> ContractionReport {
    as_one_edit(function, &fusion.edits, contraction::PASS.name, |function| {
        contract_in(function, around, contraction)
    })
}

/// Returns the options of a promotion that follows a fusion and a contraction.
fn promotion_after(
    around: &Around,
    fusion: &FuseOptions,
    contraction: &ContractionOptions,
) -> PromotionOptions {
    PromotionOptions {
        alias: fusion.alias,
        max_tests: fusion.max_tests,
        // Contraction after each round finds what needs not leave the next loop.
        max_rounds: 1,
        limits: contraction.limits,
        analyses: around.known_to(&contraction.analyses),
        remarks: contraction.remarks,
    }
}

/// Promotes elements of memory that loops of a function access in every iteration, which is one
/// edit.
fn promote_at_most(
    function: &mut Body,
    around: &Around,
    (fusion, contraction): (&FuseOptions, &ContractionOptions),
) -> ContractionReport {
    as_one_edit(function, &fusion.edits, promotion::PASS.name, |function| {
        let options = promotion_after(around, fusion, contraction);
        let PromotionReport { remarks, promoted, .. } = promotion::promote(function, &options);
        ContractionReport { remarks, promoted, ..ContractionReport::default() }
    })
}

/// Works on a function if the limit on edits allows another one.
fn as_one_edit(
    function: &mut Body,
    edits: &EditLimit,
    pass: &str,
    work: impl FnOnce(&mut Body) -> ContractionReport,
) -> ContractionReport {
    if !edits.allows_more() {
        return ContractionReport::default();
    }
    let report = work(function);
    if report.changed() {
        edits.made(pass, function.root_ref().loc());
    }
    report
}

/// The surroundings of a function, as they were before the first function was worked on.
struct Around {
    callees: Arc<Callees>,
    symbols: SymbolTable,
    layout: Arc<DataLayout>,
    variables: Arc<HashSet<Name>>,
    /// The functions that have formulas on its target.
    formulas: Formulas,
}

impl Around {
    fn of(module: &Body) -> Around {
        Around::known(module.ctx(), Callees::of(module), SymbolTable::of(module))
    }

    /// Returns the surroundings of a function that is in no module.
    fn nothing(ctx: &Context) -> Around {
        Around::known(ctx, Callees::default(), SymbolTable::default())
    }

    /// Reads the symbols once, because every round on every function asks.
    fn known(ctx: &Context, callees: Callees, symbols: SymbolTable) -> Around {
        let layout = Arc::new(DataLayout::of_symbols(ctx, &symbols));
        let variables = Arc::new(variables_of(ctx, &symbols));
        let triple = symbols.own_attr(ctx, "llvm.target_triple");
        let formulas = Formulas::for_target(triple.and_then(|own| own.as_str(ctx)));
        Around { callees: Arc::new(callees), symbols, layout, variables, formulas }
    }

    /// Returns the same analyses with knowledge of the surroundings.
    fn known_to(&self, analyses: &Analyses) -> Analyses {
        analyses.with_callees(&self.callees).with_module(&self.layout, &self.variables)
    }
}

/// Calls `f` on every function of a module and of modules in it. It returns true if it changed the
/// function. A function of the `llvm` dialect is raised to regions for that, operations of `linalg`
/// become loops, and both stay as they were if nothing changed. Returns the names of changed
/// functions.
fn for_each_function(
    module: &mut Body,
    f: &mut dyn FnMut(&mut Body, &Around) -> bool,
) -> (Raised, Vec<Name>) {
    for_each_function_with(
        module,
        Bounds { fewest_loops: 1, writes_out: false, extent: Extent::Whole, facts: Facts::Omitted },
        f,
    )
}

/// Bounds on what functions of the `llvm` dialect are raised.
#[derive(Clone, Copy)]
struct Bounds {
    /// The number of loops below which a function stays.
    fewest_loops: usize,
    /// True if a function with calls that become arithmetic does not stay for that.
    writes_out: bool,
    extent: Extent,
    facts: Facts,
}

/// [`for_each_function`] that raises functions of the `llvm` dialect within bounds.
fn for_each_function_with(
    module: &mut Body,
    bounds: Bounds,
    f: &mut dyn FnMut(&mut Body, &Around) -> bool,
) -> (Raised, Vec<Name>) {
    let (mut changed, mut raised) = (Vec::new(), Raised::default());
    let mut any_raised = false;
    let outside = Arc::new(Around::nothing(module.ctx()));
    let mut stack = vec![(&mut *module, outside)];
    while let Some((body, around)) = stack.pop() {
        let is_raised = body.root_ref().is(llvm::FuncOp::DEF) && raised.on_regions(body, &around, bounds, f);
        any_raised |= is_raised;
        if is_raised || body.root_ref().is(func::FuncOp::DEF) && on_loops(body, &around, f) {
            changed.extend(symbol_name(body, body.root()));
        }
        if !body.has_nested() {
            continue;
        }
        let inside = Arc::new(Around::of(body));
        let mark = stack.len();
        stack.extend(body.nested_in_order().into_iter().map(|nested| (nested, inside.clone())));
        stack[mark..].reverse();
    }
    if any_raised {
        module.for_each_body(&mut |body| {
            if body.root_ref().is(builtin::ModuleOp::DEF) {
                // Operations without a counterpart were not added.
                let converted = raising::convert_raised(body);
                debug_assert!(converted.is_ok(), "{converted:?}");
            }
        });
    }
    (raised, changed)
}

/// Calls `f` on a function with loops in place of its operations of `linalg`. It stays as it was if
/// nothing changed.
fn on_loops(function: &mut Body, around: &Around, f: &mut dyn FnMut(&mut Body, &Around) -> bool) -> bool {
    if !linalg_to_loops::has_computations(function) {
        return f(function, around);
    }
    let mut with_loops = function.duplicate();
    linalg_to_loops::convert_computations(&mut with_loops);
    let changed = f(&mut with_loops, around);
    if changed {
        *function = with_loops;
    }
    changed
}

/// Functions of the `llvm` dialect with loops, on the loop tree.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Raised {
    /// The loops.
    pub loops: usize,
    /// The loops among them that are on the loop tree with a known number of iterations.
    pub counted: usize,
    /// All other loops, and why each is not counted.
    pub uncounted: Vec<UncountedLoop>,
    /// The loops among them that are gone since then, which fusion does not see.
    pub gone: Vec<GoneLoop>,
    /// The number of functions of which at most parts were raised, because they get branches on
    /// data otherwise.
    pub in_part: usize,
}

/// A loop whose number of iterations is unknown when it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UncountedLoop {
    /// The name of its function.
    pub function: String,
    /// Its place in the source.
    pub place: Loc,
    /// The reason.
    pub why: Uncounted,
}

/// A loop that is gone, because a function is simplified when it is raised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GoneLoop {
    /// The name of its function.
    pub function: String,
    /// Its place in the source.
    pub place: Loc,
    /// The reason.
    pub why: Gone,
}

impl Raised {
    /// Returns the number of loops that are on the loop tree.
    pub fn raised(&self) -> usize {
        let kept = self.uncounted.iter().filter(|own| matches!(own.why, Uncounted::Kept(_)));
        self.loops - kept.count()
    }

    /// Returns the number of loops for each reason why they are not counted.
    pub fn reasons(&self) -> BTreeMap<Uncounted, usize> {
        let mut reasons = BTreeMap::new();
        self.uncounted.iter().for_each(|own| *reasons.entry(own.why).or_default() += 1);
        reasons
    }

    /// Calls `f` on a function with structured control flow, if it has enough loops. Returns true
    /// if the function changed.
    fn on_regions(
        &mut self,
        function: &mut Body,
        around: &Around,
        Bounds { fewest_loops, writes_out, extent, facts }: Bounds,
        f: &mut dyn FnMut(&mut Body, &Around) -> bool,
    ) -> bool {
        let places = raising::loops(function);
        if places.is_empty() {
            return false;
        }
        let has_formula = |op| has_formula(function, op, around.formulas);
        let gains = || writes_out && function.all_ops().any(has_formula);
        let raised = match places.len() < fewest_loops && !gains() {
            true => Err(Opaque::Alone),
            false => raising::raise(function, &around.symbols),
        };
        // Loops apart from those with calls that may unwind.
        let apart = match raised {
            Err(Opaque::Unwinding) => raising::raise_parts(function, &around.symbols),
            _ => None,
        };
        let is_apart = apart.is_some();
        let (raised, Lifted { counted, uncounted }, gone) = match apart.map_or(raised, Ok) {
            Ok(raised) => (Some(raised.body), raised.loops, raised.gone),
            Err(why) => {
                let kept = places.into_iter().map(|place| (place, Uncounted::Kept(why)));
                (None, Lifted { counted: 0, uncounted: kept.collect() }, Vec::new())
            }
        };
        self.loops += counted + uncounted.len();
        self.counted += counted;
        let name = function.attr(function.root(), "sym_name").and_then(|name| name.as_str(function.ctx()));
        let name = name.unwrap_or_default();
        self.uncounted.extend(uncounted.into_iter().map(|(place, why)| UncountedLoop {
            function: name.to_owned(),
            place,
            why,
        }));
        let gone = gone.into_iter().map(|(place, why)| GoneLoop { function: name.to_owned(), place, why });
        self.gone.extend(gone);
        let Some(mut raised) = raised else { return false };
        self.in_part += usize::from(is_apart);
        let is_in_part = match extent {
            _ if is_apart => false,
            Extent::Whole => false,
            Extent::Parts => true,
            Extent::Direct => raising::dispatches(&raised) > 0,
        };
        if is_in_part {
            self.in_part += 1;
            let Some(parts) = raising::raise_parts(function, &around.symbols) else { return false };
            raised = parts.body;
        }
        if !f(&mut raised, around) || raising::lower(&mut raised, facts).is_err() {
            return false;
        }
        *function = raised;
        true
    }
}

/// The book's chapters with code in Rust, so that it is compiled and run.
#[cfg(doctest)]
#[allow(rustdoc::invalid_codeblock_attributes)] // The book says `file=NAME` of a block.
mod book {
    #[doc = include_str!("../../book/src/tree.md")]
    struct Tree;
    #[doc = include_str!("../../book/src/legality.md")]
    struct Legality;
    #[doc = include_str!("../../book/src/everyday.md")]
    struct Everyday;
    #[doc = include_str!("../../book/src/own-dialect.md")]
    struct OwnDialect;
    #[doc = include_str!("../../book/src/own-pass.md")]
    struct OwnPass;
    #[doc = include_str!("../../book/src/rust-api.md")]
    struct RustApi;
    #[doc = include_str!("../../book/src/melior.md")]
    struct Melior;
}
