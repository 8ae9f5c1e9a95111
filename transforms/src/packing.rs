//! Packing: what a loop reads again and again is copied to a local array before it, element after
//! element in the order of reading.
//!
//! ```text
//! for i                           for k { for q in 0..16 { p[k][q] = b[k][j + q] } }
//!   for k                         for i
//!     … b[k][j] … b[k][j + 15]  →   for k
//!                                     … p[k][0] … p[k][15]
//! ```
//!
//! A column of tiles of `b` lies in as many pages as it has rows; the copy lies in a few. Each
//! vector of it is in one line.
//!
//! A transposed copy is for sums along rows. Neighbouring sums read a column of it as neighbours,
//! so that vectors of them can be made:
//!
//! ```text
//! for i                                  for j { for k { p[k][j] = b[j][k] } }
//!   for j                                for i
//!     for k { c[i][j] += … b[j][k] }   →   for j
//!                                            for k { c[i][j] += … p[k][j] }
//! ```
//!
//! Tiles of rows are for sums that a loop makes side by side, each along a row. A small array holds
//! some columns at a time, so that vectors of these sums can be made:
//!
//! ```text
//! for j                      for b by 32
//!   s0 += a[i][j]              for q in 0..32
//!   …                            p[q][0] = a[i][b + q]; … p[q][3] = a[i + 3][b + q]
//!   s3 += a[i + 3][j]    →     for q in 0..32
//!                                s0 += p[q][0]; … s3 += p[q][3]
//! ```
//!
//! Small arrays are on the stack, others are allocated before the loop and freed behind it. The
//! judge of storage decides (`legality/storage/packed.rs`). If the loop may have no iteration, it
//! and the copy get a guard. Values are the same, bit for bit.
//!
//! Reference: Goto and van de Geijn, *Anatomy of High-Performance Matrix Multiplication*, TOMS
//! 2008, §4.
//!
//! **Cost.** Linear in the operations, and for each group of loads some integer sets. The loops
//! around a group are copied once.
//!
//! # Limits
//!
//! - Loops between the loop and its loads carry no values, and stand one in the other.
//! - The array has a constant size: tile loops of unknown trip count first.
//!
//! **Not in `.ll`.** The copy is an allocation of a memref.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%c: memref<8x8xf64>, %b: memref<8x8xf64>) {
//!   affine.for %i = 0 to 8 {
//!     affine.for %k = 0 to 8 {
//!       %x = affine.load %b[%k, 0] : memref<8x8xf64>
//!       %y = affine.load %b[%k, 1] : memref<8x8xf64>
//!       %s = arith.addf %x, %y : f64
//!       affine.store %s, %c[%i, %k] : memref<8x8xf64>
//!     }
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-pack=alias=distinct --canonicalize --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=iota --order=images/pack-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=iota --order=images/pack-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/pack-0.svg)
//! ![The order of stores after](images/pack-1.svg)
//!
//! Elements stay where they are, with a remark, if the loop may write them or may not return, if a
//! condition or a parallel loop is around the loads, or if neighbours are read one after the other
//! already.

mod rows;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interfaces::{LoopBounds, LoopLike};
use loomir_dialects::{affine, memref};
use loomir_ir::pass::{Pass, PassContext, PassInfo, Survey};
use loomir_ir::{
    Attr, Block, Body, Builder, Diagnostic, Diagnostics, Mapping, Op, Trait, Type, TypeKind, Value, ValueDef,
};
use loomir_polyhedra::Limits;

use rows::Tiles;

use crate::access::base::AliasMode;
use crate::access::callees::Callees;
use crate::access::locals::Locals;
use crate::access::{Analyses, survey};
use crate::affine::bounds::has_iteration;
use crate::effects::{Effects, runs_at_least_once};
use crate::flow::Flow;
use crate::flow::timeline::{self, Access, Timeline};
use crate::iterations::{Index, Writer};
use crate::legality::storage::{NotPacked, Packed, StorageJudge};
use crate::regenerate::guard::guard;
use crate::remark::{self, Remarks};

/// The options of packing.
#[derive(Clone, Debug)]
pub struct Options {
    /// The alias assumption about memrefs, without run-time checks.
    pub alias: AliasMode,
    /// The most bytes of one array.
    pub max_bytes: u64,
    /// True for transposed copies of what is summed along rows, false for copies in the order of
    /// reading.
    pub transposed: bool,
    /// True for tiles of rows that a loop sums up side by side, and nothing else.
    pub rows: bool,
    /// The limits on one question about integers.
    pub limits: Limits,
    /// The analyses of accesses.
    pub analyses: Analyses,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            alias: AliasMode::May,
            max_bytes: MAX_BYTES,
            transposed: false,
            rows: false,
            limits: Limits::steps(400_000),
            analyses: Analyses::default(),
        }
    }
}

/// Half of a usual stack that is small, and the nearest cache. Larger arrays are on the heap.
const MAX_BYTES: u64 = 32 << 10;

/// The bytes of all arrays of a function together, as many times those of one.
const MAX_ARRAYS: u64 = 4;

/// The fewest iterations that have to read a copy.
const MIN_TRIPS: u64 = 4;

/// Bytes of the alignment of an array: that of a cache line.
const ALIGNMENT: i64 = 64;

/// The report of packing.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// A remark for each group of loads that a loop repeats.
    pub remarks: Diagnostics,
    /// The number of arrays.
    pub packed: usize,
}

/// Packs what loops read again and again. The result is well formed if `body` was, and computes the
/// same.
pub fn pack(body: &mut Body, options: &Options) -> Report {
    pack_within(body, body.root(), options)
}

/// The same for loops inside of an operation, or the loop itself.
pub fn pack_within(body: &mut Body, around: Op, options: &Options) -> Report {
    let mut report = Report::default();
    let mut left = options.max_bytes.saturating_mul(MAX_ARRAYS);
    // Kept until something is packed.
    let mut facts = None;
    let mut packed_before = 0;
    for block in timeline::roots(body) {
        if report.packed > packed_before {
            (facts, packed_before) = (None, report.packed);
        }
        let (effects, locals) = facts.get_or_insert_with(|| (Effects::of(body), Locals::of(body)));
        let timeline = Timeline::assuming(body, block, locals, &options.analyses, options.alias.untested());
        let flow = Flow::new(body, &timeline, options.limits);
        let judge = StorageJudge::new(body, &timeline, &flow);
        if options.rows {
            let groups = judge.rows(effects);
            let groups: Vec<Packed> =
                groups.into_iter().filter(|own| body.is_within(own.loop_op(), around)).collect();
            pack_rows(body, &groups, &mut left, &mut report);
            continue;
        }
        let (packed, missed) = judge.packed(effects, options.max_bytes);
        for (op, why) in missed.into_iter().filter(|(op, _)| body.is_within(*op, around)) {
            let remarks = Remarks { body, pass: PASS.name };
            let missed = remarks.missed("NotPacked", body.loc(op), WHAT, why.text());
            report.remarks.push(match why {
                NotPacked::Written(writer) => missed.note(body.loc(writer), "this may write one"),
                _ => missed,
            });
        }
        let mut guarded = HashSet::new();
        let sums = |own: &Packed| !options.transposed || has_sums(&timeline, own);
        let packed: Vec<Packed> = packed.into_iter().filter(sums).collect();
        let is_meant = |body: &Body, own: &Packed| body.is_within(own.loop_op(), around);
        for own in packed {
            if !is_meant(body, &own) {
                continue;
            }
            match Plan::of(body, &own, options.transposed, &mut left) {
                Ok(plan) => {
                    plan.write(body, &mut guarded);
                    report.packed += 1;
                    report.remarks.push(plan.remark(body));
                }
                Err(why) => {
                    let loc = body.loc(own.loads()[0].0);
                    let remarks = Remarks { body, pass: PASS.name };
                    report.remarks.push(remarks.missed("NotPacked", loc, WHAT, why));
                }
            }
        }
    }
    report
}

/// Packs groups of rows.
fn pack_rows<'a>(body: &mut Body, groups: &'a [Packed], left: &mut u64, report: &mut Report) {
    let mut written = HashSet::new();
    for own in groups {
        let loc = body.loc(own.loop_op());
        let tiles = match written.contains(&own.loop_op()) {
            true => Err("the loop reads tiles already"),
            false => Tiles::of(body, own),
        };
        let fits = |tiles: Tiles<'a>| match left.checked_sub(tiles.bytes()) {
            Some(rest) => Ok((tiles, rest)),
            None => Err("other arrays take up the space already"),
        };
        match tiles.and_then(fits) {
            Ok((tiles, rest)) => {
                *left = rest;
                tiles.write(body);
                written.insert(own.loop_op());
                report.packed += 1;
                report.remarks.push(tiles.remark(body, loc));
            }
            Err(why) => {
                let remarks = Remarks { body, pass: PASS.name };
                report.remarks.push(remarks.missed("NotPacked", loc, WHAT, why));
            }
        }
    }
}

const WHAT: &str = "Elements not packed";

impl NotPacked {
    fn text(self) -> &'static str {
        match self {
            NotPacked::Large => {
                "their number is unknown or too large; tile the loops inside, or set 'max-bytes'"
            }
            NotPacked::Changed => "the loop around may not return, or computes where they are",
            NotPacked::Written(_) => "the loop around may write them",
            NotPacked::Place => "they are read under a condition, or in a parallel loop",
            NotPacked::Unlike => "they are read as values of different types",
        }
    }
}

/// The array for one group of loads.
struct Plan<'a> {
    packed: &'a Packed,
    element: Type,
    /// The operations of the outermost loop between that the copy needs.
    needed: HashSet<Op>,
    transposed: bool,
}

impl Plan<'_> {
    /// Returns the plan for a group.
    ///
    /// # Errors
    ///
    /// The reason why the group stays.
    fn of<'a>(
        body: &Body,
        packed: &'a Packed,
        transposed: bool,
        left: &mut u64,
    ) -> Result<Plan<'a>, &'static str> {
        match transposed {
            false if packed.is_dense() => {
                return Err("the innermost loop reads one after the other as it is");
            }
            true if !packed.is_dense() || packed.between().len() < 2 || packed.places() > 1 => {
                return Err("the innermost loop does not read rows");
            }
            _ => {}
        }
        if packed.most_trips().is_some_and(|trips| trips < MIN_TRIPS) {
            return Err("too few iterations read them");
        }
        let [(load, _), ..] = packed.loads() else { return Err("there are none") };
        let element = body.value_type(body.result(*load, 0));
        if !are_nested(body, packed) {
            return Err("a guard for another array is around a loop inside; pack again");
        }
        let Some(needed) = needed(body, packed) else {
            return Err("their addresses are not computed by the loops inside alone; hoist the rest first");
        };
        *left = left.checked_sub(packed.bytes()).ok_or("other arrays take up the space already")?;
        Ok(Plan { packed, element, needed, transposed })
    }

    /// Writes the array, the copy and the loads.
    fn write(&self, body: &mut Body, guarded: &mut HashSet<Op>) {
        let Plan { packed, .. } = self;
        let loop_op = packed.loop_op();
        if !runs_at_least_once(body, loop_op) && !has_iteration(body, loop_op) && guarded.insert(loop_op) {
            guard(body, loop_op);
        }
        let array = self.array(body);
        let mut mapping = Mapping::default();
        let nest = packed.between()[0].0;
        let copy = body.copy_op(nest, &mut mapping);
        Builder::before(body, loop_op).place(copy);
        let copied: HashMap<Op, Op> = body.preorder(nest).zip(body.preorder(copy)).collect();
        let mut kept: HashSet<Op> = self.needed.iter().filter_map(|op| copied.get(op)).copied().collect();
        let loops: Vec<Op> = self.dimensions().iter().map(|(op, _)| copied[op]).collect();
        let mut stored = HashSet::new();
        for (load, place) in packed.loads() {
            let own = copied[load];
            if !stored.insert(*place) {
                kept.remove(&own);
                continue;
            }
            let value = body.result(own, 0);
            let Some(after) = body.next_op(own) else { continue };
            let mut writer = Writer::before(body, after);
            let subscripts = self.subscripts(&mut writer, &loops, *place);
            writer.make(memref::StoreOp::DEF, &[&[value, array], &subscripts[..]].concat(), &[]);
        }
        let old: HashSet<Op> = copied.values().copied().collect();
        remove_others(body, copy, &|op| kept.contains(&op) || !old.contains(&op));
        let loops: Vec<Op> = self.dimensions().iter().map(|(op, _)| *op).collect();
        for (load, place) in packed.loads() {
            let mut writer = Writer::before(body, *load);
            let subscripts = self.subscripts(&mut writer, &loops, *place);
            let new =
                writer.make(memref::LoadOp::DEF, &[&[array], &subscripts[..]].concat(), &[self.element]);
            body.replace_all_uses(body.result(*load, 0), body.result(new, 0));
            body.erase(*load);
        }
    }

    /// Returns the loops of the dimensions of the array, each with its most iterations.
    fn dimensions(&self) -> Vec<(Op, u64)> {
        let mut loops = self.packed.between().to_vec();
        if self.transposed {
            let last = loops.len() - 1;
            loops.swap(last - 1, last);
        }
        loops
    }

    /// Returns the sizes of the array. One place has no dimension.
    fn shape(&self) -> Vec<i64> {
        let trips = self.dimensions().into_iter().map(|(_, most)| most as i64);
        trips.chain(Some(self.packed.places() as i64).filter(|places| *places > 1)).collect()
    }

    /// Returns the subscripts of an element of the array in the current iteration of loops.
    fn subscripts(&self, writer: &mut Writer<'_>, loops: &[Op], place: usize) -> Vec<Value> {
        let mut all: Vec<Value> = loops.iter().filter_map(|op| iteration(writer, *op)).collect();
        if self.packed.places() > 1 {
            all.push(writer.value(Index::Number(place as i64)));
        }
        all
    }

    /// Allocates the array: at the beginning of the function, or before the loop if it is large.
    fn array(&self, body: &mut Body) -> Value {
        let (shape, loop_op) = (self.shape(), self.packed.loop_op());
        if self.packed.bytes() > MAX_BYTES {
            let (ty, attrs) = array_type(body, &shape, self.element);
            let mut builder = Builder::before(body, loop_op);
            let op = builder.build(memref::AllocOp::DEF, &[&[], &[]], &attrs, &[ty]);
            let array = body.result(op, 0);
            if let Some(next) = body.next_op(loop_op) {
                Builder::before(body, next).build(memref::DeallocOp::DEF, &[&[array]], &[], &[]);
            }
            return array;
        }
        on_stack(body, &shape, self.element)
    }

    fn remark(&self, body: &Body) -> Diagnostic {
        let shape: Vec<String> = self.shape().iter().map(ToString::to_string).collect();
        let element = loomir_ir::text::type_to_string(body.ctx(), self.element);
        let how = if self.transposed { ", transposed" } else { "" };
        let text = format!(
            "Packed what each iteration reads into a local array of {} x {element}{how}",
            shape.join(" x ")
        );
        let loc = body.loc(self.packed.loop_op());
        Remarks { body, pass: PASS.name }.passed("Packed", loc, &text)
    }
}

/// Returns the type of a local array, and the attributes of its allocation.
fn array_type(body: &Body, shape: &[i64], element: Type) -> (Type, [(&'static str, Attr); 1]) {
    let ctx = body.ctx();
    let kind = TypeKind::MemRef { shape: Some(shape.into()), element, layout: None, memory_space: None };
    (ctx.ty(kind), [("alignment", ctx.int_attr(Type::I64, ALIGNMENT))])
}

/// Allocates an array at the beginning of the function.
fn on_stack(body: &mut Body, shape: &[i64], element: Type) -> Value {
    let (ty, attrs) = array_type(body, shape, element);
    let entry = body.entry_block(body.region(body.root(), 0));
    let first = entry.and_then(|block| body.ops(block).next());
    let first = first.unwrap_or_else(|| unreachable!("a function with a loop has an operation"));
    let op = Builder::before(body, first).build(memref::AllocaOp::DEF, &[&[], &[]], &attrs, &[ty]);
    body.result(op, 0)
}

/// True if the innermost loop around the loads writes the same elements in all its iterations.
fn has_sums(timeline: &Timeline, packed: &Packed) -> bool {
    let Some((innermost, _)) = packed.between().last() else { return false };
    let mut written = timeline.accesses().map(|id| timeline.get(id)).filter(|own| own.class.writes);
    let mut inside = written.by_ref().filter(|own| own.place.loops.last() == Some(innermost)).peekable();
    let stays = |own: &Access| {
        let level = own.depth() - 1;
        own.element().is_some_and(|forms| forms.iter().all(|form| form.coefficient_of_level(level) == 0))
    };
    inside.peek().is_some() && inside.all(stays)
}

/// True if the loops between stand one directly in the other, and the loads in the innermost one.
/// A guard for another array may have come between.
fn are_nested(body: &Body, packed: &Packed) -> bool {
    let mut around = packed.loop_op();
    packed.between().iter().all(|(op, _)| body.parent_op(*op) == Some(std::mem::replace(&mut around, *op)))
        && packed.loads().iter().all(|(load, _)| body.parent_op(*load) == Some(around))
}

/// Returns the operations inside the outermost loop between that compute the addresses of the loads
/// and the bounds of loops, with the loads and these loops. `None` if there is another way to an
/// address.
fn needed(body: &Body, packed: &Packed) -> Option<HashSet<Op>> {
    let loops: HashSet<Op> = packed.between().iter().map(|(op, _)| *op).collect();
    let (nest, _) = *packed.between().first()?;
    let mut needed = loops.clone();
    let mut open: Vec<Op> = packed.loads().iter().map(|(op, _)| *op).chain(loops.iter().copied()).collect();
    needed.extend(open.iter().copied());
    let is_plain = |op: &Op| {
        let view = body.op_ref(*op);
        let model = view.info().interface::<dyn LoopLike>();
        body.num_results(*op) == 0 && model.is_some_and(|model| !model.is_unsigned(view))
    };
    if !loops.iter().all(is_plain) {
        return None;
    }
    while let Some(op) = open.pop() {
        for value in body.operands(op) {
            let home = match body.def(value) {
                ValueDef::OpResult { op: home, .. } => home,
                ValueDef::BlockArgument { block, .. } => {
                    let around = body.region_parent(body.block_region(block));
                    if loops.contains(&around) || !body.is_within(around, packed.loop_op()) {
                        continue;
                    }
                    return None;
                }
            };
            if !body.is_within(home, packed.loop_op()) {
                continue;
            }
            if !body.is_within(home, nest) || !body.has_trait(home, Trait::Pure) {
                return None;
            }
            if needed.insert(home) {
                open.push(home);
            }
        }
    }
    Some(needed)
}

/// Returns the number of the current iteration of a loop.
fn iteration(writer: &mut Writer<'_>, op: Op) -> Option<Value> {
    let view = writer.body.op_ref(op);
    let LoopBounds { lower, step, .. } = view.info().interface::<dyn LoopLike>()?.bounds(view);
    let variable = writer.body.argument(loop_block(writer.body, op), 0);
    let is_affine = writer.body.is(op, affine::ForOp::DEF);
    let at = std::mem::replace(&mut writer.at, op);
    let lower = writer.bound(&lower, affine::MaxOp::DEF);
    let step = writer.step(step);
    writer.at = at;
    Some(writer.iteration(variable, lower, step, is_affine))
}

fn loop_block(body: &Body, op: Op) -> Block {
    let block = body.entry_block(body.region(op, 0));
    block.unwrap_or_else(|| unreachable!("a loop has a block"))
}

/// Removes all operations of a copied loop that are not kept. What is kept uses nothing else.
/// Recurses once for each loop.
fn remove_others(body: &mut Body, nest: Op, kept: &dyn Fn(Op) -> bool) {
    let block = loop_block(body, nest);
    let end = body.terminator(block);
    let mut all: Vec<Op> = body.ops(block).collect();
    // Users come before what they use.
    all.reverse();
    for op in all {
        if !kept(op) {
            if Some(op) != end {
                body.erase(op);
            }
        } else if body.info(op).interface::<dyn LoopLike>().is_some() {
            remove_others(body, op, kept);
        }
    }
}

/// The pass `loop-pack` on `func.func`.
pub const PASS: PassInfo = PassInfo {
    name: "loop-pack",
    anchor: Some("func.func"),
    summary: "Copy what a loop reads again and again to a local array, in the order of reading",
    options: &[
        AliasMode::UNTESTED,
        ("max-bytes", "32768", "the most bytes of one array; more than 32768 are on the heap"),
        ("transposed", "false", "copy rows that are summed as columns, for vectors of neighbouring sums"),
        ("rows", "false", "copy tiles of rows that a loop sums side by side, for vectors of these sums"),
    ],
    make: |options| {
        let alias = AliasMode::untested_of(options)?;
        let max_bytes = options.parse("max-bytes", MAX_BYTES)?;
        let transposed = options.parse("transposed", false)?;
        let rows = options.parse("rows", false)?;
        if rows && transposed {
            return Err("'rows' and 'transposed' are different copies; choose one".to_owned());
        }
        let options = Options { alias, max_bytes, transposed, rows, ..Options::default() };
        Ok(Box::new(LoopPack { options }))
    },
};

struct LoopPack {
    options: Options,
}

impl Pass for LoopPack {
    fn name(&self) -> &str {
        PASS.name
    }

    fn surveys(&self) -> &[&'static Survey] {
        survey::SURVEYS
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        if !cx.edits.allows_more() {
            return Ok(());
        }
        let analyses = self.options.analyses.with_callees(&Callees::around(cx.surveys));
        let report = pack(body, &Options { analyses, ..self.options.clone() });
        cx.count("Arrays packed", report.packed as u64);
        remark::tell(cx, PASS.name, body, report.packed > 0, report.remarks);
        Ok(())
    }
}
