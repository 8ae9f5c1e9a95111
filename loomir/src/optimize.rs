//! The fastest of several programs, by the cost model: what `loomir optimize` makes of a function.
//!
//! ```text
//!     as it is ───┬──────┬────────────┬─────────────┬──────┬────────┬────────────────
//!     transposed ─┘ fuse ┘ distribute ┘ interchange ┘ fuse ┘  tile  ┘ register tiles
//! ```
//!
//! Functions become arithmetic first, inside of loops, if they may be approximate or if the numbers
//! stay the same, and if that is estimated to be faster. Rows that are summed along may have
//! transposed copies. A way through this picture takes each of its steps or goes past it, and each
//! step is made of edits that the judge approved. Inside of a step, costs choose: the order of a
//! nest, the sizes of its tiles, the number of copies of a loop. At the end of each way the whole
//! function is [estimated](loomir_transforms::cost::cycles). The cheapest one is taken, and the
//! original if no other is cheaper by more than noise.
//!
//! **Cost.** A bounded number of ways. Each takes about as long as fusing the function.

use hashbrown::HashSet;
use loomir_dialects::interfaces::LoopLike;
use loomir_dialects::llvm;
use loomir_ir::pass::EditLimit;
use loomir_ir::text::{PrintOptions, print};
use loomir_ir::{Body, Diagnostic, Diagnostics, Op};
use loomir_transforms::access::Analyses;
use loomir_transforms::approximation::{Formulas, has_formula, make_exact, may_be_approximate, write_out};
use loomir_transforms::cost::{self, Cost, OnMachine};
use loomir_transforms::remark::Remarks;
use loomir_transforms::transform::interchange::Interchange;
use loomir_transforms::transform::loads_first::LoadsFirst;
use loomir_transforms::transform::parallelize::{MIN_CYCLES, Parallelize};
use loomir_transforms::transform::register_tile::RegisterTile;
use loomir_transforms::transform::tile::{Sizes, Tile};
use loomir_transforms::transform::{Basis, Transformation, transform};
use loomir_transforms::tree::Separation;
use loomir_transforms::{distribution, marks, nest_sinking, packing, promotion, simplify};

use super::{
    Around, ContractionOptions, ContractionReport, DistributeOptions, FuseOptions, FuseReport,
    PromotionOptions, contract_in, fuse_and_contract_in, fuse_in, promotion_after,
};

/// The name of the edit, and of the source of its remark.
const NAME: &str = "optimize";

/// The part by which a way has to be cheaper than those before. Estimates are no better.
const NOISE: f64 = 0.1;

/// The most times in a row that loops are distributed: as deep as nests usually are.
const MAX_CUTS: usize = 4;

/// The most bytes of a transposed copy: half of a usual second cache.
const MAX_COPY: u64 = 512 << 10;

/// A number of loops that is small for a function.
const FEW_LOOPS: usize = 8;

/// True if a step chooses what will be fastest with register tiles.
#[derive(Clone, Copy)]
struct Ahead(bool);

/// A step on a way.
#[derive(Clone, Copy)]
enum Step {
    /// Distributes loops into perfect nests.
    Distribute,
    /// Moves computations beside a loop into it, so that the nest is perfect.
    Sink,
    /// Puts the loops of perfect nests in another order.
    Interchange(Ahead),
    /// Runs nests tile by tile.
    Tile(Ahead),
    /// Asks for the widest vectors of the machine.
    Widen,
    /// Unrolls and jams loops with so many loops inside, one in the other.
    Jam(usize),
    /// Computes the bounds of loops outside of the loops in which they do not change.
    Hoist,
}

/// Makes perfect nests.
const CUT: [Step; 2] = [Step::Distribute, Step::Sink];

/// Makes register tiles, of two loops if the second one helps.
const JAM: [Step; 5] = [Step::Widen, Step::Jam(1), Step::Hoist, Step::Jam(2), Step::Hoist];

/// Tiles nests by the sizes that are estimated to be fastest.
const BY_COST: Tile = Tile { sizes: Sizes::ByCost, separate: Separation::Nowhere };

/// The outcome for a function.
#[derive(Clone, Default)]
pub(super) struct Optimized {
    pub(super) fusion: FuseReport,
    pub(super) contraction: ContractionReport,
    /// The remarks of other transformations.
    pub(super) remarks: Diagnostics,
    /// The number of their edits.
    pub(super) edits: u64,
}

/// True if loops of a function were transformed as directives say. The user knows better then.
pub(super) fn has_obeyed(body: &Body) -> bool {
    body.all_ops().any(|op| body.attr(op, marks::OBEYED).is_some())
}

/// A function on a way.
struct Candidate {
    body: Body,
    cycles: f64,
    made: Optimized,
}

/// The programs that ways have come to.
#[derive(Default)]
struct Seen(HashSet<String>);

impl Seen {
    /// True if no way came to such loops before.
    fn are_new(&mut self, own: &Candidate) -> bool {
        self.0.insert(print(&own.body, &PrintOptions::default()))
    }
}

/// Makes a function as fast as one of the ways can, as far as the cost model knows. That is one
/// edit.
pub(super) fn optimize(
    body: &mut Body,
    around: &Around,
    (fusion, contraction): (&FuseOptions, Option<&ContractionOptions>),
) -> Optimized {
    if !fusion.edits.allows_more() {
        return Optimized::default();
    }
    let edits = &fusion.edits;
    // Register tiles come later.
    let fusion = &FuseOptions { edits: EditLimit::default(), unroll_and_jam: false, ..fusion.clone() };
    let ways = Ways { around, fusion, contraction, analyses: around.known_to(&fusion.analyses) };
    let original = ways.candidate(body.duplicate(), Optimized::default());
    let (original, present) = ways.written_out(original);
    let fused = ways.fused(&original);
    let mut best: Option<Candidate> = None;
    // Costs chose the fusions already. If nothing was fused, both are the same.
    let has_changed = fused.made.fusion.changed() || fused.made.contraction.changed();
    let refusals = if has_changed { Optimized::default() } else { fused.made.clone() };
    let transposed = ways.transposed(&original);
    let both = transposed.as_ref().map(|own| ways.fused(own));
    let original = Some(original).filter(|_| has_changed);
    let others = [original, transposed, both].into_iter().flatten().map(|own| (own, NOISE));
    let starts = [(fused, 0.0)].into_iter().chain(others);
    let (mut nests_seen, mut tiles_seen) = (Seen::default(), Seen::default());
    for (start, noise) in starts {
        let cut = ways.on(&start, &CUT);
        let nests = cut.as_ref().unwrap_or(&start);
        let reordered = ways.on(nests, &[Step::Interchange(Ahead(false))]);
        let for_tiles = ways.on(nests, &[Step::Widen, Step::Interchange(Ahead(true))]);
        // Nests that go through an array in the same order now may go through it together.
        let again = reordered.as_ref().and_then(|own| ways.fused_again(own));
        let others = [cut, reordered, again, for_tiles].map(|own| (own, NOISE));
        for (nests, noise) in [(Some(start), noise)].into_iter().chain(others) {
            let Some(nests) = nests.filter(|own| nests_seen.are_new(own)) else { continue };
            let tiled = ways.on(&nests, &[Step::Tile(Ahead(false)), Step::Hoist]);
            let for_tiles = ways.on(&nests, &[Step::Widen, Step::Tile(Ahead(true)), Step::Hoist]);
            for (own, noise) in [(Some(nests), noise), (tiled, NOISE), (for_tiles, NOISE)] {
                let Some(own) = own.filter(|own| tiles_seen.are_new(own)) else { continue };
                let jammed = ways.on(&own, &JAM);
                for (own, noise) in [(Some(own), noise), (jammed, NOISE)] {
                    let least = best.as_ref().map_or(present, |best| best.cycles);
                    best = own.filter(|own| own.cycles < least * (1.0 - noise)).or(best);
                }
            }
        }
    }
    let loc = body.root_ref().loc();
    let Some(Candidate { body: fastest, cycles, mut made }) = best else {
        let mut made = refusals;
        if present > 0.0 {
            let remarks = Remarks { body, pass: NAME };
            let why = "the function is estimated to be fastest as it is";
            made.remarks.push(remarks.missed("NotOptimized", loc, "Loops not optimised", why));
        }
        return made;
    };
    *body = fastest;
    cost::avoid_gathers(body);
    ways.keep_in_registers(body);
    ways.pack_rows(body, &mut made);
    edits.made(NAME, loc);
    let text = format!("Loops optimised: {cycles:.2e} cycles are estimated, and {present:.2e} before");
    made.remarks.push(Remarks { body, pass: NAME }.passed("Optimized", loc, &text));
    made
}

/// Makes the outermost loops with independent iterations parallel. That is one edit.
pub(super) fn parallelize(body: &mut Body, around: &Around, fusion: &FuseOptions, made: &mut Optimized) {
    if !fusion.edits.allows_more() {
        return;
    }
    let analyses = around.known_to(&fusion.analyses);
    let basis =
        Basis { analyses: &analyses, alias: fusion.alias.untested(), cost: &*fusion.cost, ahead: false };
    let counted = EditLimit::at_most(u64::MAX);
    made.remarks.append(transform(body, &Parallelize { min_cycles: MIN_CYCLES }, basis, &counted));
    let count = counted.so_far().count;
    if count > 0 {
        made.edits += count;
        fusion.edits.made(Parallelize::INFO.name, body.root_ref().loc());
    }
}

/// Puts loads in front of stores, so that fusion and copies do not keep LLVM from making vectors.
/// No edit is counted: this belongs to those before.
pub(super) fn put_loads_first(body: &mut Body, around: &Around, fusion: &FuseOptions) -> Diagnostics {
    let analyses = around.known_to(&fusion.analyses);
    let basis =
        Basis { analyses: &analyses, alias: fusion.alias.untested(), cost: &*fusion.cost, ahead: false };
    let mut made = Diagnostics::default();
    passed(transform(body, &LoadsFirst, basis, &EditLimit::default())).for_each(|own| made.push(own));
    made
}

/// Returns the remarks about what was done.
fn passed(remarks: Diagnostics) -> impl Iterator<Item = Diagnostic> {
    remarks.into_iter().filter(Diagnostic::is_passed)
}

fn num_loops(body: &Body) -> usize {
    body.all_ops().filter(|op| body.info(*op).interface::<dyn LoopLike>().is_some()).count()
}

/// Returns the functions inside of loops for which there is arithmetic.
fn functions_in_loops(body: &Body, among: Formulas) -> Vec<Op> {
    let is_loop = |op: Op| body.info(op).interface::<dyn LoopLike>().is_some();
    let around = |op: Op| std::iter::successors(body.parent_op(op), |op| body.parent_op(*op));
    body.all_ops().filter(|op| has_formula(body, *op, among) && around(*op).any(is_loop)).collect()
}

/// The properties of all ways.
struct Ways<'a> {
    around: &'a Around,
    fusion: &'a FuseOptions,
    contraction: Option<&'a ContractionOptions>,
    analyses: Analyses,
}

impl Ways<'_> {
    /// Returns the costs on the machine that a function is compiled for.
    fn cost(&self, body: &Body) -> OnMachine<'_> {
        OnMachine::of_function(&*self.fusion.cost, body)
    }

    fn cycles(&self, body: &Body) -> f64 {
        cost::cycles(body, (&self.analyses, self.fusion.alias.untested()), &self.cost(body))
    }

    fn candidate(&self, body: Body, made: Optimized) -> Candidate {
        Candidate { cycles: self.cycles(&body), body, made }
    }

    /// Returns the function with arithmetic for the functions in its loops, if that is estimated to
    /// be faster than calls, and the cycles with calls. Calls compute one number at a time: clang
    /// has functions of vectors only where it is told a library.
    fn written_out(&self, original: Candidate) -> (Candidate, f64) {
        let among = self.around.formulas;
        let mut called = original.body.duplicate();
        let calls = functions_in_loops(&called, among);
        if calls.is_empty() {
            let present = original.cycles;
            return (original, present);
        }
        calls.into_iter().for_each(|op| make_exact(&mut called, op));
        let present = self.cycles(&called);
        let (mut body, mut made) = (original.body.duplicate(), original.made.clone());
        for op in functions_in_loops(&body, among) {
            let (loc, name) = (body.loc(op), body.op_ref(op).name().to_owned());
            let (how, why, done) = match may_be_approximate(&body, op) {
                true => ("Approximated", "Function approximated", "as afn allows"),
                false => ("WrittenOut", "Function written out", "with the results of the C library"),
            };
            if write_out(&mut body, op, among) {
                let text = format!("{why}: {name} is arithmetic now, {done}");
                made.remarks.push(Remarks { body: &body, pass: NAME }.passed(how, loc, &text));
                made.edits += 1;
            }
        }
        let own = self.candidate(body, made);
        if own.cycles < present * (1.0 - NOISE) { (own, present) } else { (original, present) }
    }

    /// Returns the fused function.
    fn fused(&self, original: &Candidate) -> Candidate {
        let (mut body, mut made) = (original.body.duplicate(), original.made.clone());
        match self.contraction {
            Some(contraction) => {
                (made.fusion, made.contraction) =
                    fuse_and_contract_in(&mut body, self.around, self.fusion, contraction);
            }
            None => made.fusion = fuse_in(&mut body, self.around, self.fusion),
        }
        self.candidate(body, made)
    }

    /// Returns the function after a second fusion. `None` if it changes nothing.
    fn fused_again(&self, start: &Candidate) -> Option<Candidate> {
        let mut own = self.fused(start);
        if !own.made.fusion.changed() {
            return None;
        }
        let (mut fusion, mut contraction) = (start.made.fusion.clone(), start.made.contraction.clone());
        fusion.append(std::mem::take(&mut own.made.fusion));
        contraction.append(std::mem::take(&mut own.made.contraction));
        (own.made.fusion, own.made.contraction) = (fusion, contraction);
        Some(own)
    }

    /// Returns the function with transposed copies of what it sums along rows. `None` if there is
    /// nothing to copy.
    fn transposed(&self, start: &Candidate) -> Option<Candidate> {
        let (mut body, mut made) = (start.body.duplicate(), start.made.clone());
        let options = packing::Options {
            alias: self.fusion.alias.untested(),
            max_bytes: MAX_COPY,
            transposed: true,
            analyses: self.analyses.clone(),
            ..packing::Options::default()
        };
        let report = packing::pack(&mut body, &options);
        passed(report.remarks).for_each(|own| made.remarks.push(own));
        made.edits += report.packed as u64;
        (report.packed > 0).then(|| self.candidate(body, made))
    }

    /// Returns a function after further steps. `None` if they change nothing.
    fn on(&self, start: &Candidate, steps: &[Step]) -> Option<Candidate> {
        let (mut body, mut made) = (start.body.duplicate(), start.made.clone());
        for step in steps {
            self.step(&mut body, *step, &mut made);
        }
        (made.edits > start.made.edits).then(|| self.candidate(body, made))
    }

    fn step(&self, body: &mut Body, step: Step, made: &mut Optimized) {
        match step {
            Step::Distribute => {
                let options = DistributeOptions {
                    alias: self.fusion.alias.untested(),
                    analyses: self.analyses.clone(),
                    cost: self.fusion.cost.clone(),
                    ..DistributeOptions::default()
                };
                // A part of a loop may be cut again, with the loop around it. A body that was
                // unrolled by hand would become a loop for each copy.
                let most = 2 * num_loops(body) + FEW_LOOPS;
                for _ in 0..MAX_CUTS {
                    let report = distribution::distribute(body, &options);
                    made.remarks.append(report.remarks);
                    made.edits += report.distributed as u64;
                    if report.distributed == 0 || num_loops(body) > most {
                        break;
                    }
                }
            }
            Step::Sink => _ = nest_sinking::sink_into_nests(body),
            Step::Interchange(Ahead(ahead)) => {
                self.transform(body, &Interchange, (&self.cost(body), ahead), made);
            }
            Step::Tile(Ahead(true)) => self.transform(body, &BY_COST, (&self.cost(body), true), made),
            Step::Tile(Ahead(false)) => {
                let cost = self.cost(body);
                self.transform(body, &BY_COST, (&OnMachine::computing_faster(&cost), false), made);
            }
            Step::Widen => cost::widen(body, self.fusion.cost.machine()),
            Step::Jam(level) => {
                let before = num_loops(body);
                self.transform(body, &RegisterTile { level }, (&self.cost(body), false), made);
                // If all iterations of a loop were jammed, the loop around it is at its level now.
                if num_loops(body) < before {
                    self.step(body, Step::Hoist, made);
                    // What stays as it is has a remark already.
                    let said = std::mem::take(&mut made.remarks);
                    self.transform(body, &RegisterTile { level }, (&self.cost(body), false), made);
                    let new = std::mem::replace(&mut made.remarks, said);
                    passed(new).for_each(|own| made.remarks.push(own));
                }
            }
            Step::Hoist => {
                simplify::cse::cse(body);
                simplify::licm::hoist_invariant(body);
            }
        }
    }

    /// Keeps sums in registers, in functions that are not LLVM IR: there, pointers say if they are
    /// distinct, and LLVM knows what to do. Estimates take that for granted.
    fn keep_in_registers(&self, body: &mut Body) {
        if body.root_ref().is(llvm::FuncOp::DEF) {
            return;
        }
        // There would be a remark for each copy.
        let contraction = ContractionOptions { remarks: false, ..ContractionOptions::after(self.fusion) };
        if self.contraction.is_some() {
            contract_in(body, self.around, &contraction);
        }
        let alias = self.fusion.alias.untested();
        let options = PromotionOptions { alias, ..promotion_after(self.around, self.fusion, &contraction) };
        promotion::promote(body, &options);
    }

    /// Copies tiles of rows that loops sum up side by side, so that LLVM makes vectors of the sums.
    /// Estimates take that for granted.
    fn pack_rows(&self, body: &mut Body, made: &mut Optimized) {
        if body.root_ref().is(llvm::FuncOp::DEF) {
            return;
        }
        let options = packing::Options {
            alias: self.fusion.alias.untested(),
            rows: true,
            analyses: self.analyses.clone(),
            ..packing::Options::default()
        };
        let report = packing::pack(body, &options);
        passed(report.remarks).for_each(|own| made.remarks.push(own));
        made.edits += report.packed as u64;
    }

    fn transform<T: Transformation>(
        &self,
        body: &mut Body,
        by: &T,
        (cost, ahead): (&dyn Cost, bool),
        made: &mut Optimized,
    ) {
        let counted = EditLimit::at_most(u64::MAX);
        let alias = self.fusion.alias.untested();
        let basis = Basis { analyses: &self.analyses, alias, cost, ahead };
        let remarks = transform(body, by, basis, &counted);
        made.remarks.append(remarks);
        made.edits += counted.so_far().count;
    }
}
