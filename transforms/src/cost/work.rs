//! The work of a loop each time it is reached.

use hashbrown::HashSet;
use loomir_dialects::{arith, llvm};
use loomir_ir::{Body, Op, Trait, TypeKind, Value, ValueDef};
use smallvec::SmallVec;

use super::chain::{Access, Chain, Step};
use super::hull::Hull;
use super::leaves::{Accessed, Leaves};
use super::pages::Pages;
use super::small_loops::{Small, small};
use super::streams::{Comb, Kept, Key, PAGE, Pack, Stream, Streams, lines, place};
use super::trips::{Around, Counts, remainder};
use super::{Cost, Machine};
use crate::access::base::bytes_of_element;
use crate::access::{Class, LoopContext};
use crate::affine::{AffineForm, Atom};
use crate::tree::levels::absolute;
use crate::tree::{Green, Header, HeaderId, Map, Node, Program, Span, StatementId, TreeStore};

/// The work of a loop, or of fused loops, each time it is reached.
#[derive(Clone, Debug)]
pub struct Work {
    /// The loop; of loops that run as one, the first.
    pub(super) of: Op,
    /// The trip count.
    pub(super) trips: f64,
    /// The number of iterations that all fused loops have in common. Remaining iterations run
    /// separately.
    pub(super) common: f64,
    /// The number of operations of all iterations together.
    pub(super) operations: f64,
    /// The number of loads and stores among them, in an innermost loop, of what is in a register:
    /// the same in all iterations, or loaded or stored before in the same iteration.
    pub(super) redundant: f64,
    /// The number of those that are loaded or stored before, by another access.
    pub(super) repeated: f64,
    /// The numbers of other loads and stores, each of an element.
    pub(super) loads: f64,
    pub(super) stores: f64,
    /// Bytes of the widest element.
    pub(super) widest: f64,
    /// The number of elements that all iterations access.
    pub(super) invariant: usize,
    /// The number of iterations that can run at once, if the loop can be vectorized.
    pub(super) lanes: Option<f64>,
    /// The vectors that the copies of statements in an innermost loop become, if they do.
    pub(super) pack: Option<Pack>,
    /// The minimal cycles, because each iteration waits for the one before.
    pub(super) serial: f64,
    /// True if the trip count of a loop is assumed.
    pub(super) assumed: bool,
    /// True if the trip count is the same each time.
    pub(super) is_regular: bool,
    /// True if the loop accesses memory through pointers, as LLVM IR does.
    pub(super) through_pointers: bool,
    /// True if there is no loop inside.
    pub(super) innermost: bool,
    /// The number of loop-carried values, and of those that iterations combine.
    pub(super) carried: usize,
    /// Values from outside that the loop uses.
    pub(super) values: HashSet<Value>,
    pub(super) streams: Streams,
    /// The accesses of an iteration, in an innermost loop.
    pub(super) pages: Pages,
}

impl Work {
    /// Returns the work of `tree`, a loop in `loop_context`. `None` if it is no loop. Linear in the
    /// leaves below and the operations of the loop.
    pub fn of(
        place: (&Body, &Program, &TreeStore),
        cost: &dyn Cost,
        tree: Green,
        loop_context: &LoopContext,
    ) -> Option<Work> {
        Work::with(place, cost, tree, loop_context, (&mut Leaves::default(), false))
    }

    /// Returns the same, with copies in place of loops that LLVM unrolls completely.
    pub(super) fn as_compiled(
        place: (&Body, &Program, &TreeStore),
        cost: &dyn Cost,
        tree: Green,
        loop_context: &LoopContext,
        leaves: &mut Leaves,
    ) -> Option<Work> {
        Work::with(place, cost, tree, loop_context, (leaves, true))
    }

    fn with(
        (ir, program, trees): (&Body, &Program, &TreeStore),
        cost: &dyn Cost,
        tree: Green,
        loop_context: &LoopContext,
        (leaves, unrolls): (&mut Leaves, bool),
    ) -> Option<Work> {
        let Node::Loop { header, .. } = trees.get(tree) else { return None };
        let lead = program.loop_info(trees.header(header).origins.first()?.of);
        let mut scan = Scan::new((ir, program, trees), cost, loop_context, (leaves, unrolls));
        scan.widest = widest_sum(ir, lead.op);
        scan.visit(tree, 1.0, loop_context.depth);
        let Scan { own_trips: trips, assumed, is_regular, through_pointers, .. } = scan;
        let Scan { straight, adjacent, innermost, .. } = scan;
        let Scan {
            widest,
            mut streams,
            operations,
            mut redundant,
            mut repeated,
            mut loads,
            mut stores,
            steps,
            in_memory,
            pages,
            ..
        } = scan;
        let invariant = streams.all.iter().filter(|own| !own.moves).map(|own| own.places.len()).sum();
        let machine = cost.machine();
        let lanes = machine.lanes(widest);
        let infos = trees.header(header).origins.iter().map(|own| program.loop_info(own.of));
        let (carried, reduced) = infos.clone().fold((0, 0), |(a, b), own| (a + own.carried, b + own.reduced));
        let carries = carried > 0 && !only_reduces(ir, lead.op);
        let carries = carries || streams.carry(lanes, through_pointers);
        let waits = innermost && (carries || streams.meet());
        if innermost {
            let own = streams.overwritten();
            (redundant, repeated) = (redundant - own.loads - own.stores, repeated - own.repeated);
            (loads, stores) = (loads + own.loads, stores + own.stores);
        }
        let pack = Some(lanes).filter(|_| straight && innermost).and_then(|lanes| streams.pack(lanes));
        let lanes = Some(lanes).filter(|_| straight && adjacent && innermost && !waits);
        let forwarded = if lanes.is_some() && through_pointers { streams.num_forwarded() } else { 0 };
        let around: SmallVec<[Op; 2]> = infos.map(|own| own.op).collect();
        let chain = || Chain::of(ir, machine, &steps, &streams).wait(&around, in_memory);
        let latency = match carries {
            true if has_floats(ir, lead.op) => machine.latency,
            true => machine.integer_latency,
            false => 0.0,
        };
        let serial = if waits { trips * chain().max(latency) } else { 0.0 };
        streams.settle(trips, lanes.unwrap_or(1.0), machine.line.max(1) as f64);
        let values = numbers_from_outside(ir, lead.op);
        Some(Work {
            of: lead.op,
            trips,
            common: trips,
            operations: operations + trips * forwarded as f64 * SPLICE + streams.num_tests() as f64 * TEST,
            redundant,
            repeated,
            loads,
            stores,
            widest,
            invariant,
            lanes,
            pack: pack.filter(|_| lanes.is_none()),
            serial,
            assumed,
            is_regular,
            through_pointers,
            innermost,
            carried: carried + reduced,
            values,
            streams,
            pages,
        })
    }

    /// Returns how iterations follow each other, in an innermost loop.
    pub(super) fn pace(&self) -> Pace {
        match (self.lanes, self.pack) {
            (Some(lanes), _) => Pace::Vectors(lanes),
            (None, Some(pack)) => Pace::Neighbours(pack.lanes),
            (None, None) if self.serial > 0.0 => Pace::Waiting,
            (None, None) => Pace::Single,
        }
    }

    /// True if two loops have equal trip counts, or are assumed to.
    pub(crate) fn runs_as_often(&self, other: &Work) -> bool {
        self.common == other.common
    }

    /// Returns the work of a loop with an unknown number of iterations in common with another one,
    /// though the trip counts may be equal: half of them are assumed.
    pub(crate) fn cut(mut self) -> Work {
        self.common /= 2.0;
        self
    }

    /// Returns the work of the loop in blocks of `size` iterations, given the work of the loop
    /// without blocks. Blocks run as many iterations at once as the loop did, if these divide the
    /// size.
    pub(crate) fn in_blocks_of(mut self, size: i64, without: &Work) -> Work {
        match without.lanes {
            Some(lanes) if size as f64 % lanes == 0.0 => self.operations /= lanes,
            _ => {}
        }
        self
    }

    /// Adds an access in each iteration to an array with an element of `bytes` bytes for each
    /// iteration.
    pub(crate) fn hand_on(&mut self, bytes: f64, writes: bool, machine: &Machine) {
        self.operations += self.trips;
        self.streams.go_through(self.trips * bytes / machine.line.max(1) as f64, writes);
    }

    /// Adds the work of a loop that runs fused with this one, behind it and `shift` iterations
    /// later. `lanes` is the number of iterations of both that can run at once.
    pub(crate) fn merge(&mut self, other: &Work, shift: i64, lanes: Option<f64>) {
        self.trips = self.trips.max(other.trips);
        self.common = self.common.min(other.common);
        self.operations += other.operations;
        self.redundant += other.redundant;
        self.repeated += other.repeated;
        self.loads += other.loads;
        self.stores += other.stores;
        self.widest = self.widest.max(other.widest);
        self.invariant += other.invariant;
        self.lanes = lanes;
        self.pack = None;
        self.serial = self.serial.max(other.serial);
        self.assumed |= other.assumed;
        self.is_regular &= other.is_regular;
        self.through_pointers |= other.through_pointers;
        self.innermost &= other.innermost;
        self.carried += other.carried;
        self.values.extend(&other.values);
        self.streams.merge(&other.streams, shift);
        self.pages.merge(&other.pages, shift);
    }
}

/// The pace of the iterations of an innermost loop.
#[derive(Clone, PartialEq, Debug)]
pub enum Pace {
    /// So many iterations at once, in vectors.
    Vectors(f64),
    /// One after the other, with so many neighbouring elements of an iteration at once.
    Neighbours(f64),
    /// One after the other, because each waits for the one before.
    Waiting,
    /// One after the other.
    Single,
}

struct Scan<'a> {
    ir: &'a Body,
    program: &'a Program,
    trees: &'a TreeStore,
    cost: &'a dyn Cost,
    /// The number of loops around the scanned loop.
    depth: u32,
    /// The levels of these and of entered loops.
    around: Around,
    /// The trip counts of the entered loops.
    trips: Vec<f64>,
    /// The trip count of the scanned loop.
    own_trips: f64,
    /// True if a trip count is assumed.
    assumed: bool,
    /// True if the trip count of the scanned loop is the same each time.
    is_regular: bool,
    /// True if an access so far is through a pointer.
    through_pointers: bool,
    operations: f64,
    /// The number of loads and stores of what is in a register, and of those the ones of what was
    /// accessed before.
    redundant: f64,
    repeated: f64,
    /// The numbers of other loads and stores.
    loads: f64,
    stores: f64,
    /// True if no operation so far prevents vectorization.
    straight: bool,
    /// True if what neighbouring iterations access so far is next to each other.
    adjacent: bool,
    innermost: bool,
    /// Bytes of the widest element.
    widest: f64,
    /// The operations of an iteration, where there is no loop inside.
    steps: Vec<Step>,
    /// True if small loops are copies.
    unrolls: bool,
    /// True if a copy so far stores a sum that stays in memory.
    in_memory: bool,
    /// The values of the levels of copies around, outer ones first.
    copied: Vec<AffineForm>,
    streams: Streams,
    pages: Pages,
    leaves: &'a mut Leaves,
}

impl<'a> Scan<'a> {
    /// Returns a scan of nothing yet.
    fn new(
        (ir, program, trees): (&'a Body, &'a Program, &'a TreeStore),
        cost: &'a dyn Cost,
        loop_context: &LoopContext,
        (leaves, unrolls): (&'a mut Leaves, bool),
    ) -> Scan<'a> {
        Scan {
            ir,
            program,
            trees,
            cost,
            depth: loop_context.depth,
            around: Around::of(&loop_context.constraints, loop_context.depth),
            trips: Vec::new(),
            own_trips: 0.0,
            assumed: false,
            is_regular: false,
            through_pointers: false,
            operations: 0.0,
            redundant: 0.0,
            repeated: 0.0,
            loads: 0.0,
            stores: 0.0,
            straight: true,
            adjacent: true,
            innermost: true,
            widest: 0.0,
            steps: Vec::new(),
            unrolls,
            in_memory: false,
            copied: Vec::new(),
            streams: Streams::default(),
            pages: Pages::at(loop_context.depth),
            leaves,
        }
    }
}

impl Scan<'_> {
    /// Visits what runs so many times, inside so many loops. Recurses once for each loop or guard.
    /// Raising bounds their nesting depth.
    fn visit(&mut self, tree: Green, times: f64, levels: u32) {
        match self.trees.get(tree) {
            Node::Empty => {}
            Node::Sequence { .. } => {
                let trees = self.trees;
                for item in trees.items(tree) {
                    self.visit(item, times, levels);
                }
            }
            Node::Loop { header, body } => {
                let own = self.trees.header(header);
                let counts = self.around.counts(self.program, own);
                let trips = self.trips_of(own, &counts);
                match self.trips.is_empty() {
                    true => (self.own_trips, self.is_regular) = (trips, counts.are_equal()),
                    false if self.unrolls && self.copies(header, body, times, levels) => return,
                    false => {
                        self.innermost = false;
                        self.steps.clear();
                    }
                }
                self.trips.push(trips);
                self.around.enter(&counts, trips);
                self.visit(body, times * trips, levels + 1);
                self.trips.pop();
                self.around.leave();
                if self.trips.is_empty() && self.innermost {
                    self.streams.test(&self.around, &counts);
                }
            }
            Node::Guard { of, holds, body, .. } => {
                let likely = self.cost.likelihood(self.ir, self.program.if_info(of).op).clamp(0.0, 1.0);
                self.visit(body, times * if holds { likely } else { 1.0 - likely }, levels);
            }
            Node::Versioned { fast, .. } => self.visit(fast, times, levels),
            Node::Leaf { statement, map } => self.leaf(statement, map, times, levels),
        }
    }

    /// Visits the copies of a loop inside that LLVM unrolls completely. Returns false for others.
    fn copies(&mut self, header: HeaderId, body: Green, times: f64, levels: u32) -> bool {
        let place = (self.ir, self.program, self.trees);
        let Some(Small { trips, first, .. }) = small(place, self.trees.header(header), body) else {
            return false;
        };
        let first = first.map_or_else(|| Some(AffineForm::constant(0)), |own| absolute(&own, levels));
        let Some(first) = first else { return false };
        for copy in 0..trips {
            let Some(at) = first.plus(&AffineForm::constant(1), copy) else { continue };
            self.trips.push(1.0);
            self.around.enter_at(&at);
            self.copied.push(at);
            self.visit(body, times, levels + 1);
            self.copied.pop();
            self.around.leave();
            self.trips.pop();
        }
        true
    }

    /// Returns the number of the level of the innermost loop that is no copy.
    fn innermost(&self) -> u32 {
        self.depth + (self.trips.len() - self.copied.len()).saturating_sub(1) as u32
    }

    /// Returns a subscript with the iterations of copies in place of their levels.
    fn in_copy(&self, form: &AffineForm) -> Option<AffineForm> {
        let first = self.innermost() + 1;
        let mut form = form.clone();
        // Inner copies may begin where outer ones are.
        for (at, own) in self.copied.iter().enumerate().rev() {
            let copied = first + at as u32;
            let mut level = |level: u32| match level == copied {
                true => Some(own.clone()),
                false => Some(AffineForm::level(level)),
            };
            form = form.substitute(&mut level)?;
        }
        Some(form)
    }

    /// Returns the trip count of a loop at the current position of the scan.
    fn trips_of(&mut self, header: &Header, counts: &Counts) -> f64 {
        let Some(lead) = header.origins.first() else { return 0.0 };
        let info = self.program.loop_info(lead.of);
        let mean = self.around.mean(counts);
        let known = mean.filter(|own| own.is_exact).map(|own| own.trips);
        let known = known.or_else(|| match &header.span {
            Span::Range { lower, upper, .. } => remainder(lower, upper),
            Span::Whole => None,
        });
        let is_assumed = self.cost.assumes(self.ir, info.op, known);
        self.assumed |= is_assumed;
        let trips = self.cost.trips(self.ir, info.op, known).max(0.0);
        // Copies and blocks of iterations have so many times fewer trips.
        let scale = match header.span {
            Span::Range { scale, .. } if known.is_none() => scale,
            _ => 1,
        };
        let step = if is_assumed { info.space.step.unwrap_or(1).clamp(1, MAX_COPIES) } else { 1 };
        let trips = trips / (scale.max(1) as f64 * step as f64);
        if is_assumed { trips.min(mean.map_or(f64::MAX, |most| most.trips as f64)) } else { trips }
    }

    fn leaf(&mut self, id: StatementId, map: Map, times: f64, levels: u32) {
        let statement = self.leaves.statement(self.ir, self.program, id);
        self.straight &= statement.is_straight;
        self.operations += times * statement.operations;
        if self.innermost {
            self.steps.extend(statement.ops.iter().map(|op| Step { op: *op, access: None }));
        }
        let place = (self.program, self.trees);
        let around = (levels, self.depth);
        let subscripts = self.leaves.subscripts(place, (id, &statement), map, around);
        let classes = self.program.statement(id).effects.classes.iter();
        for (((class, op), accessed), own) in classes.zip(&statement.accessed).zip(&*subscripts) {
            self.through_pointers |= class.unit > 0;
            if let Some(accessed) = accessed {
                self.access((class, *op), accessed, own.as_deref(), times);
            }
        }
    }

    fn access(
        &mut self,
        (class, op): (&Class, Op),
        accessed: &Accessed,
        subscripts: Option<&[Option<AffineForm>]>,
        times: f64,
    ) {
        let line = self.cost.machine().line.max(1) as f64;
        let unknown: SmallVec<[Option<AffineForm>; 4]>;
        let subscripts = match subscripts {
            Some(own) if self.copied.is_empty() => own,
            Some(own) => {
                unknown = own.iter().map(|form| self.in_copy(form.as_ref()?)).collect();
                &unknown[..]
            }
            None => {
                unknown = accessed.shape.iter().map(|_| None).collect();
                &unknown[..]
            }
        };
        let (dims, at, moves) =
            place(subscripts, self.depth, (line as i64).checked_div(accessed.unit).unwrap_or(1));
        self.widest = self.widest.max(accessed.bytes as f64);
        self.adjacent &= is_next_to_each_other(subscripts, self.depth, accessed);
        let touched = Touched {
            subscripts,
            accessed,
            trips: &self.trips,
            level: self.depth,
            innermost: self.innermost(),
            line,
            moves,
        };
        let is_innermost = self.innermost;
        if self.innermost {
            self.pages.touch(class, subscripts, accessed);
        }
        let key = Key { base: class.base, origin: class.origin, dims };
        let make = |key| touched.stream(key, is_innermost);
        let (stream, is_known) = self.streams.touch(key, at, class.writes, make);
        self.streams.all[stream].sums &= class.update.is_some();
        if let Some(step) = self.steps.iter_mut().rev().find(|step| step.op == op) {
            step.access = Some(Access { stream, place: at, writes: class.writes });
        }
        // Promotion sees no copies, and LLVM does not know which memrefs overlap.
        let is_far = !self.copied.is_empty() && class.unit == 0 && !moves;
        self.in_memory |= is_far && class.writes;
        let kept = &mut self.streams.all[stream].kept;
        if is_known && moves {
            self.repeated += times;
            kept.repeated += times;
        }
        let is_kept = (is_known || !moves) && !is_far;
        *match (is_kept, class.writes) {
            (true, true) => &mut kept.stores,
            (true, false) => &mut kept.loads,
            (false, true) => &mut self.stores,
            (false, false) => &mut self.loads,
        } += times;
        if is_kept {
            self.redundant += times;
        }
    }
}

/// The first access of a stream.
struct Touched<'a> {
    subscripts: &'a [Option<AffineForm>],
    accessed: &'a Accessed,
    /// The trip counts from the level of the scanned loop on.
    trips: &'a [f64],
    level: u32,
    /// The level of the innermost loop.
    innermost: u32,
    /// Bytes of a line.
    line: f64,
    moves: bool,
}

impl Touched<'_> {
    /// Returns the stream. If there are loops inside, it has a hull.
    fn stream(&self, key: Key, is_innermost: bool) -> Stream {
        let Touched { subscripts, accessed, level, innermost, line, .. } = *self;
        let Accessed { shape, unit, bytes } = accessed;
        let (unit, bytes) = (*unit, *bytes);
        let leap = stride(subscripts, innermost, accessed).map_or(PAGE as u64, i64::unsigned_abs);
        let inside = (level + 1..=innermost).filter_map(|level| {
            Some((stride(subscripts, level, accessed)?.unsigned_abs(), self.whole(level)))
        });
        let comb = Comb::of(inside, (bytes.unsigned_abs(), line as u64));
        let whole = |level: u32| self.whole(level);
        let once = |own: u32| if own == level { 1.0 } else { self.whole(own) };
        let row = shape.last().copied().flatten().map_or(f64::INFINITY, |row| row as f64);
        let hull = || Hull::of(&key.dims, level, &whole, (row, unit.max(1) as f64));
        let count =
            |bytes: f64, trips: &dyn Fn(u32) -> f64| lines(&key.dims, shape, (unit as f64, bytes), trips);
        let (all, at_once) = (count(line, &whole), count(line, &once));
        let pages = |lines: f64, trips| if lines > 1.0 { count(PAGE, trips) } else { lines };
        Stream {
            places: Default::default(),
            lines: all,
            at_once,
            again: 0.0,
            pages: pages(all, &whole),
            pages_at_once: pages(at_once, &once),
            back: 0.0,
            writes: false,
            moves: self.moves,
            leaps: leap as f64 >= PAGE / 2.0,
            comb,
            start: start(&key.dims, accessed),
            step: stride(subscripts, level, accessed).unwrap_or(0),
            width: bytes.checked_div(unit).unwrap_or(1),
            bytes: bytes as f64,
            sums: true,
            kept: Kept::default(),
            hull: if is_innermost { None } else { hull() },
            beside: 0.0,
            pace: 0,
            key,
        }
    }

    /// Returns the trip count of the loop at a level, 1 outside of the scanned loop.
    fn whole(&self, level: u32) -> f64 {
        let own = level.checked_sub(self.level).and_then(|inside| self.trips.get(inside as usize));
        own.copied().unwrap_or(1.0)
    }
}

/// The operations of a vector whose elements come from two others, with what they keep waiting.
const SPLICE: f64 = 4.0;

/// The operations of a test that two parts of an object are apart.
const TEST: f64 = 6.0;

/// The greatest step of a loop whose assumed trip count is that many times less: it runs copies or
/// blocks.
const MAX_COPIES: i64 = 64;

/// True if a loop carries reductions only whose order does not matter: sums of integers, or the
/// greatest of floating-point numbers. LLVM vectorizes them. A sum of floating-point numbers keeps
/// its order.
pub(crate) fn only_reduces(ir: &Body, op: Op) -> bool {
    let Some(block) = ir.own_regions(op).next().and_then(|region| ir.entry_block(region)) else {
        return false;
    };
    let Some(end) = ir.terminator(block) else { return false };
    let reduces = |(at, value): (usize, Value)| {
        let Some(by) = ir.defining_op(value) else { return false };
        let carried = (ir.num_arguments(block) > at + 1).then(|| ir.argument(block, at + 1));
        let is_extreme = EXTREMES.contains(&ir.op_ref(by).name());
        let is_free = is_extreme || ir.value_type(value).integer_width(ir.ctx()).is_some();
        let combines = ir.has_trait(by, Trait::Commutative) && ir.num_operands(by) == 2;
        let uses = |carried: Value| {
            ir.operands(by).any(|own| own == carried)
                && [carried, value].into_iter().all(|own| ir.uses(own).nth(1).is_none())
        };
        is_free && combines && carried.is_some_and(uses)
    };
    ir.operands(end).enumerate().all(reduces)
}

/// Returns the bytes of the widest value that a loop carries. A sum may be wider than what is
/// loaded for it.
fn widest_sum(ir: &Body, op: Op) -> f64 {
    let bytes = |sum: Value| bytes_of_element(ir.ctx(), ir.value_type(sum));
    ir.results(op).filter_map(bytes).max().unwrap_or(1) as f64
}

/// True if a loop multiplies narrow integers, extended to 32 bits. LLVM multiplies twice as many at
/// once, and adds them in pairs, if nothing else uses what is extended.
pub(crate) fn multiplies_narrow(ir: &Body, op: Op) -> bool {
    let extensions = [arith::ExtSIOp::DEF, arith::ExtUIOp::DEF, llvm::SExtOp::DEF, llvm::ZExtOp::DEF];
    let is_narrow = |value: Value| {
        let by = ir.defining_op(value).filter(|by| extensions.iter().any(|def| ir.is(*by, def)));
        let from = by.and_then(|by| ir.operands(by).next());
        let width = from.and_then(|from| ir.value_type(from).integer_width(ir.ctx()));
        width.is_some_and(|width| width <= 16)
    };
    let is_product = |op: &Op| {
        let width = ir.results(*op).next().and_then(|own| ir.value_type(own).integer_width(ir.ctx()));
        (ir.is(*op, arith::MulIOp::DEF) || ir.is(*op, llvm::MulOp::DEF)) && width == Some(32)
    };
    ir.preorder(op).filter(is_product).any(|op| ir.operands(op).all(is_narrow))
}

/// The operations on floating-point numbers whose order does not matter.
const EXTREMES: [&str; 4] = ["arith.maximumf", "arith.minimumf", "llvm.intr.maximum", "llvm.intr.minimum"];

/// True if an operation in a loop computes a floating-point number.
fn has_floats(ir: &Body, op: Op) -> bool {
    let is_float = |value: Value| ir.value_type(value).is_float(ir.ctx());
    ir.preorder(op).any(|op| ir.results(op).any(is_float))
}

/// True if neighbouring iterations of the loop at `level` access the same bytes or neighbouring
/// ones.
fn is_next_to_each_other(subscripts: &[Option<AffineForm>], level: u32, accessed: &Accessed) -> bool {
    let bytes = stride(subscripts, level, accessed);
    bytes.is_some_and(|bytes| bytes == 0 || bytes.checked_abs() == Some(accessed.bytes))
}

/// Returns the bytes between what two neighbouring iterations of the loop at `level` access by an
/// operation, if they are known.
pub(crate) fn stride_of(ir: &Body, (class, op): (&Class, Op), level: u32) -> Option<i64> {
    stride(class.subscripts.as_deref()?, level, &Accessed::of(ir, class, op)?)
}

/// Returns the same for the accessed elements.
fn stride(subscripts: &[Option<AffineForm>], level: u32, accessed: &Accessed) -> Option<i64> {
    let is_constant = |form: &AffineForm| form.all_atoms(&|atom| *atom != Atom::Level(level));
    let step = |form: &Option<AffineForm>| {
        let form = form.as_ref()?;
        let in_quotient =
            |(atom, _): &(Atom, i64)| matches!(atom, Atom::FloorDiv(inner, _) if !is_constant(inner));
        (!form.terms().iter().any(in_quotient)).then(|| form.coefficient_of_level(level))
    };
    // The bytes of an iteration's step, from the last dimension on.
    let (mut bytes, mut row) = (0i64, Some(accessed.unit));
    for (at, form) in subscripts.iter().enumerate().rev() {
        let step = step(form)?;
        if step != 0 {
            bytes = bytes.saturating_add(row.and_then(|row| row.checked_mul(step))?);
        }
        let size = accessed.shape.get(at).copied().flatten();
        row = row.zip(size).and_then(|(row, size)| row.checked_mul(size));
    }
    Some(bytes)
}

/// Returns the bytes from the beginning of an object to the constants of subscripts, as far as its
/// rows have known sizes.
fn start(subscripts: &[Option<AffineForm>], accessed: &Accessed) -> i64 {
    let (mut bytes, mut row) = (0i64, Some(accessed.unit));
    for (at, form) in subscripts.iter().enumerate().rev() {
        let constant = form.as_ref().map_or(0, AffineForm::constant_part);
        bytes = bytes.saturating_add(row.and_then(|row| row.checked_mul(constant)).unwrap_or(0));
        let size = accessed.shape.get(at).copied().flatten();
        row = row.zip(size).and_then(|(row, size)| row.checked_mul(size));
    }
    bytes
}

/// Returns the values defined outside of an operation that it uses, except constants and values of
/// type `index`. They occupy registers as long as it runs.
fn numbers_from_outside(ir: &Body, op: Op) -> HashSet<Value> {
    let is_outside = |value: &Value| match ir.def(*value) {
        ValueDef::OpResult { op: home, .. } => {
            !ir.has_trait(home, Trait::ConstantLike) && !ir.is_within(home, op)
        }
        ValueDef::BlockArgument { block, .. } => !ir.is_within(ir.region_parent(ir.block_region(block)), op),
    };
    let is_number = |value: &Value| {
        let kind = ir.value_type(*value).kind(ir.ctx());
        matches!(kind, TypeKind::Integer { .. } | TypeKind::Float(_) | TypeKind::Vector { .. })
    };
    let used = ir.preorder(op).flat_map(|op| ir.operands(op));
    used.filter(|value| is_number(value) && is_outside(value)).collect()
}
