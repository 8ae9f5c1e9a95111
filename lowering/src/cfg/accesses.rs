//! The memory accesses of a function and their iterations: a control flow graph in terms of the
//! tree's relations.
//!
//! | module | holds |
//! | --- | --- |
//! | `polynomial` | sums of products of levels and parameters |
//! | `numbers` | values as numbers of ℤ |
//! | `space` | the iterations in which blocks run |
//! | `address` | objects, and byte offsets in them |
//! | `subscripts` | byte offsets split into dimensions |
//! | [`dependence`] | dependences between accesses |
//! | `print` | accesses as text |
//!
//! An [`Access`] is a list of [classes](Class), the same classes as on the tree: objects,
//! subscripts and iteration domains are the tree's. Integer sets therefore decide about both alike.
//! Levels are the loops around the block, the outermost first; a level is the number of the
//! iteration. If the touched bytes are known, the last level counts them: two accesses that overlap
//! in part touch one byte.
//!
//! **Soundness.** Every location that an access touches in a run without undefined behaviour is in
//! one of its classes. An offset that is not affine, or may wrap, is anywhere in its object. A
//! block in a cycle that is no loop runs any number of times, so all of its accesses do. An address
//! computed inside of loops names one object for each iteration of these loops: see
//! [`Accesses::within`].
//!
//! **Cost.** Linear in the accesses, times their nesting depth.
//!
//! **Assumptions.**
//! - A load or store touches the store size of its type, on the module's data layout.
//! - Operations that save or restore the stack are the world. An allocation on the stack is ordered
//!   only with the world.
//!
//! Tried with `loop_fusion_traps/layout_i386.ll`, `store_sizes.ll` and `stack.ll`.
//!
//! # Limits
//!
//! - An address computed in words of more than 32 bits that may wrap is anywhere in its object. An
//!   offset is delinearised only where products of levels and parameters are sizes.
//! - An iteration domain is a union of at most 8 convex sets. Types (TBAA) and alias scopes are
//!   ignored; a call touches whatever its attributes allow.

use std::sync::Arc;

use hashbrown::HashSet;
use loomir_dialects::interfaces::{EffectKind, MemoryEffects, Resource};
use loomir_dialects::interp::layout::{DataLayout, Layout};
use loomir_dialects::llvm;
use loomir_ir::graph::ControlFlow;
use loomir_ir::graph::cycles::CycleForest;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::graph::post_dominators::PostDominatorTree;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Attr, Body, Op, OpRef, Trait, Value};
use loomir_transforms::access::base::Base;
use loomir_transforms::access::{Class, Domain};
use loomir_transforms::affine::facts::Facts;
use loomir_transforms::affine::{AffineForm, Atom};
use loomir_transforms::tree::access_summary::{AccessSummary, LoopIteration, Representative};

use self::numbers::Numbers;
use self::space::Space;
use self::subscripts::{Place, Subscripts};
use super::Analysis;
use super::calls::{self, Touched};
use super::scev::ScalarEvolution;

mod address;
pub mod dependence;
mod numbers;
mod polynomial;
pub(super) mod print;
mod space;
mod subscripts;

/// A read or write of an operation at one location.
#[derive(Clone, Debug)]
pub struct Access {
    /// The operation.
    pub op: Op,
    /// The number of its block.
    pub block: u32,
    /// The loops around the operation, the outermost first.
    pub loops: Vec<LoopId>,
    /// The number of touched bytes, counted from the subscripts, if it is known.
    pub bytes: Option<AffineForm>,
    /// The touched locations: the union of these.
    pub classes: Vec<Class>,
}

/// The accesses of a function.
#[derive(Debug)]
pub struct Accesses<'f> {
    function: &'f Body,
    /// All accesses, in the order of the text.
    pub all: Vec<Access>,
    facts: Arc<Facts>,
    /// The control-flow analysis of the function.
    analysis: &'f Analysis,
    /// Blocks in irreducible cycles.
    tangled: HashSet<u32>,
}

/// A memory location that an operation touches.
struct Touch {
    memory: Memory,
    bytes: Width,
    writes: bool,
}

impl Touch {
    /// Anything.
    const WORLD: Touch = Touch { memory: Memory::World, bytes: Width::Whole, writes: true };
    /// A read of the stack pointer. Allocations on the stack may be reordered with each other, but
    /// not with operations that save or restore the stack, or may do so.
    const STACK: Touch = Touch { memory: Memory::Stack, bytes: Width::Whole, writes: false };
}

/// The memory that is touched.
enum Memory {
    /// Behind a pointer.
    At(Value),
    /// Anything, and the world outside.
    World,
    /// The stack pointer.
    Stack,
}

/// The number of bytes that are touched.
enum Width {
    Fixed(u64),
    Given(Value),
    /// All of the object.
    Whole,
}

impl Access {
    /// True if it writes.
    pub fn writes(&self) -> bool {
        self.classes.iter().any(|class| class.writes)
    }

    /// Returns the number of loops around both accesses.
    pub fn common(&self, other: &Access) -> u32 {
        self.loops.iter().zip(&other.loops).take_while(|(a, b)| a == b).count() as u32
    }
}

impl<'f> Accesses<'f> {
    /// Collects the accesses of a function of a module with these symbols.
    pub fn of(symbols: &SymbolTable, scev: &mut ScalarEvolution<'f>) -> Accesses<'f> {
        Accesses::of_blocks(symbols, scev, &|_| true)
    }

    /// Collects the accesses in blocks of these numbers.
    pub(super) fn of_blocks(
        symbols: &SymbolTable,
        scev: &mut ScalarEvolution<'f>,
        is_wanted: &dyn Fn(u32) -> bool,
    ) -> Accesses<'f> {
        let (function, analysis) = (scev.function(), scev.analysis());
        let flow = ControlFlow::of(function, function.region(function.root(), 0));
        let cycles = CycleForest::new(flow.graph(), flow.reversed(), 0);
        let is_tangled = |node: &u32| {
            let around = std::iter::successors(cycles.innermost(*node), |id| cycles.get(*id).parent);
            around.into_iter().any(|id| analysis.is_irregular(&flow, cycles.get(id)))
        };
        let tangled = (0..flow.blocks().len() as u32).filter(is_tangled);
        let tangled: HashSet<u32> = tangled.map(|node| analysis.number(flow.block(node))).collect();
        let order: Vec<u32> = (0..analysis.graph().len() as u32).collect();
        let post_dominators = PostDominatorTree::of_mutable(analysis.graph(), &order);
        let mut reader = Reader {
            numbers: Numbers::new(scev),
            post_dominators,
            symbols,
            tangled: &tangled,
            all: Vec::new(),
            spaces: Vec::new(),
        };
        for block in function.blocks(function.region(function.root(), 0)) {
            let node = analysis.number(block);
            if analysis.dominators().is_reachable(node) && is_wanted(node) {
                reader.block(node);
            }
        }
        let Reader { all, mut spaces, mut numbers, .. } = reader;
        let facts = numbers.facts();
        for (levels, space) in &mut spaces {
            space.merge(*levels, &facts);
        }
        let all = all.into_iter().map(|found| found.finished(&spaces, &facts)).collect();
        Accesses { function, all, facts: Arc::new(facts), analysis, tangled }
    }

    /// Returns the function.
    pub fn function(&self) -> &'f Body {
        self.function
    }

    /// Returns the facts about parameters.
    pub fn facts(&self) -> &Arc<Facts> {
        &self.facts
    }

    /// True if a value is constant throughout one iteration of `levels` surrounding loops.
    fn is_fixed(&self, value: Value, levels: u32) -> bool {
        let Some(block) = self.function.value_block(value) else { return false };
        let node = self.analysis.number(block);
        let depth = self.analysis.loops_around(node).count();
        depth <= levels as usize && !self.tangled.contains(&node)
    }

    /// Returns a class within one iteration of `levels` common loops. Values that change within the
    /// iteration are unknown.
    pub fn within(&self, class: &Class, levels: u32) -> Class {
        let is_known = |form: &AffineForm| {
            form.all_atoms(&|atom| match atom {
                Atom::Param(value) => self.is_fixed(*value, levels),
                _ => true,
            })
        };
        let is_one = class
            .origin
            .is_none_or(|origin| class.base == Base::Allocation(origin) || self.is_fixed(origin, levels));
        let is_grid = class.sizes.iter().all(is_known);
        let named = class.subscripts.as_ref().filter(|_| is_one && is_grid);
        let subscripts =
            named.map(|all| all.iter().map(|form| form.clone().filter(is_known)).collect::<Vec<_>>());
        let kept: Vec<AffineForm> =
            class.domain.constraints.iter().filter(|form| is_known(form)).cloned().collect();
        let exact = class.domain.exact && kept.len() == class.domain.constraints.len();
        let domain = Arc::new(Domain { levels: class.domain.levels, constraints: kept, exact });
        Class { subscripts, domain, ..class.clone() }
    }
}

impl Accesses<'_> {
    /// Adds an access to a summary, as it is seen within one iteration of `depth` loops around.
    pub(super) fn add_to(&self, summary: &mut AccessSummary, access: &Access, depth: u32) {
        let inside = depth..access.loops.len() as u32;
        let iteration: Arc<[LoopIteration]> = inside.map(LoopIteration::counted).collect();
        for class in &access.classes {
            let class = self.within(class, depth);
            summary.add(Representative { class, op: access.op, iteration: iteration.clone() });
        }
    }
}

/// Returns the number of the last iteration of a loop, if it is known exactly and has a form.
pub(super) fn last_iteration(scev: &mut ScalarEvolution<'_>, of: LoopId) -> Option<AffineForm> {
    let count = scev.counts(of).exact?;
    Numbers::new(scev).unsigned(count, Some(of))?.to_form()
}

/// An access before its offset is split into subscripts.
struct Found {
    access: Access,
    base: Base,
    origin: Option<Value>,
    offset: Option<polynomial::Polynomial>,
    writes: bool,
    /// The position of its block's domain among the [spaces](Reader::spaces).
    space: usize,
}

impl Found {
    fn finished(self, spaces: &[(u32, Space)], facts: &Facts) -> Access {
        let Found { mut access, base, origin, offset, writes, space } = self;
        let levels = access.loops.len() as u32;
        let space = &spaces[space].1;
        let subscripts = offset.as_ref().zip(access.bytes.as_ref()).and_then(|(offset, bytes)| {
            Place { offset, bytes, levels, pieces: &space.pieces, facts }.subscripts()
        });
        if subscripts.is_none() {
            access.bytes = None;
        }
        let class = |piece: &Vec<AffineForm>| {
            let mut domain = Domain { levels, constraints: piece.clone(), exact: space.exact };
            let (mut sizes, mut found) = (Vec::new(), None);
            if let (Some(Subscripts { mut digits, sizes: own }), Some(bytes)) =
                (subscripts.clone(), &access.bytes)
            {
                let byte = AffineForm::level(levels);
                let last = bytes.minus(&byte).and_then(|left| left.plus(&AffineForm::constant(1), -1));
                let moved = digits.last().and_then(|digit| digit.plus(&byte, 1));
                if let (Some(last), Some(moved)) = (last, moved) {
                    digits.pop();
                    digits.push(moved);
                    domain.levels += 1;
                    domain.constraints.extend([byte, last]);
                    (sizes, found) = (own, Some(digits.into_iter().map(Some).collect()));
                }
            }
            let domain = Arc::new(domain);
            let whole = Class::whole(base, writes, &domain);
            Class { origin, sizes, subscripts: found, unit: 1, ..whole }
        };
        access.classes = space.pieces.iter().map(class).collect();
        access
    }
}

struct Reader<'r, 's, 'f> {
    numbers: Numbers<'s, 'f>,
    post_dominators: PostDominatorTree,
    symbols: &'r SymbolTable,
    tangled: &'r HashSet<u32>,
    all: Vec<Found>,
    /// The iteration domains of blocks with accesses, each once, with the number of loops around.
    spaces: Vec<(u32, Space)>,
}

impl Reader<'_, '_, '_> {
    fn block(&mut self, node: u32) {
        let function = self.numbers.scev.function();
        let block = self.numbers.scev.analysis().block(node);
        let mut space: Option<usize> = None;
        for op in function.ops(block) {
            let touched = touches(function, op, self.symbols, self.numbers.scev.data_layout());
            if touched.is_empty() {
                continue;
            }
            let space = *space.get_or_insert_with(|| {
                let mut space = self.numbers.space(node, &self.post_dominators);
                space.exact &= !self.tangled.contains(&node);
                let levels = self.numbers.scev.analysis().loops_around(node).count() as u32;
                self.spaces.push((levels, space));
                self.spaces.len() - 1
            });
            for touch in touched {
                let found = self.found(node, op, touch, space);
                self.all.push(found);
            }
        }
    }

    fn found(&mut self, node: u32, op: Op, touch: Touch, space: usize) -> Found {
        let analysis = self.numbers.scev.analysis();
        let site = analysis.loops().innermost(node);
        let mut loops: Vec<LoopId> = analysis.loops_around(node).collect();
        loops.reverse();
        let access = Access { op, block: node, loops, bytes: None, classes: Vec::new() };
        let Touch { memory, bytes, writes } = touch;
        let pointer = match memory {
            Memory::At(pointer) => pointer,
            Memory::World => {
                return Found { access, base: Base::World, origin: None, offset: None, writes, space };
            }
            // All locations that are no memory but ordered with the world have one base.
            Memory::Stack => {
                return Found { access, base: Base::Exit, origin: None, offset: None, writes, space };
            }
        };
        let address = self.numbers.address(pointer, site, self.symbols);
        let bytes = match bytes {
            Width::Fixed(bytes) => i64::try_from(bytes).ok().map(AffineForm::constant),
            Width::Given(length) => self.numbers.length(length, site).and_then(|found| found.to_form()),
            Width::Whole => None,
        };
        let offset = address.offset.filter(|_| !self.tangled.contains(&node));
        Found {
            access: Access { bytes, ..access },
            base: address.base,
            origin: address.origin,
            offset,
            writes,
            space,
        }
    }
}

/// Returns the locations that an operation touches. Loads and stores touch the store size of their
/// type, which may be less than the array stride.
fn touches(function: &Body, op: Op, symbols: &SymbolTable, target: &DataLayout) -> Vec<Touch> {
    let view = function.op_ref(op);
    let info = function.info(op);
    let is = |def: &'static loomir_ir::OpDef| info.is(def);
    let operand = |index: usize| function.operand(op, index);
    let width = |ty| {
        let layout = Layout::of(function.ctx(), ty, target);
        layout.map_or(Width::Whole, |layout| Width::Fixed(layout.store_size))
    };
    let touch = |pointer, bytes, writes| Touch { memory: Memory::At(pointer), bytes, writes };
    let model = info.interface::<dyn MemoryEffects>();
    let effects = model.map_or_else(Vec::new, |model| model.effects(view));
    if let Some(touched) = calls::touched(function, op, symbols) {
        return match touched {
            Touched::Nothing => Vec::new(),
            Touched::Arguments { pointers, writes } => {
                pointers.into_iter().map(|pointer| touch(pointer, Width::Whole, writes)).collect()
            }
            Touched::World { writes } => vec![Touch { writes, ..Touch::WORLD }],
        };
    }
    let mut touched = if is(llvm::LoadOp::DEF) {
        // A load that must keep its order with other reads counts as a write.
        let writes = effects.iter().any(|effect| effect.kind == EffectKind::Write);
        vec![touch(operand(0), width(view.result_type(0)), writes)]
    } else if is(llvm::AtomicRMWOp::DEF) || is(llvm::AtomicCmpXchgOp::DEF) {
        vec![touch(operand(0), width(view.operand_type(1)), true)]
    } else if is(llvm::StoreOp::DEF) {
        vec![touch(operand(1), width(view.operand_type(0)), true)]
    } else if is(llvm::MemsetOp::DEF) {
        vec![touch(operand(0), Width::Given(operand(2)), true)]
    } else if is(llvm::MemcpyOp::DEF) || is(llvm::MemmoveOp::DEF) {
        [(1, false), (0, true)]
            .map(|(at, writes)| touch(operand(at), Width::Given(operand(2)), writes))
            .into()
    } else if is(llvm::MemcpyInlineOp::DEF) {
        let bytes = function.attr(op, "len").and_then(|len| len.as_int(function.ctx()));
        let bytes = || bytes.and_then(|bytes| u64::try_from(bytes).ok()).map_or(Width::Whole, Width::Fixed);
        [(1, false), (0, true)].map(|(at, writes)| touch(operand(at), bytes(), writes)).into()
    } else if is(llvm::LifetimeStartOp::DEF) || is(llvm::LifetimeEndOp::DEF) {
        // The old contents are gone.
        return vec![touch(operand(0), Width::Whole, true)];
    } else if is(llvm::AllocaOp::DEF) {
        return vec![Touch::STACK];
    } else if is(llvm::AssumeOp::DEF) || is(llvm::PrefetchOp::DEF) {
        return Vec::new();
    } else {
        return others(view);
    };
    // Volatile or ordering operations must not be reordered with anything else either.
    let is_world = effects.iter().any(|effect| effect.on == Resource::World);
    if function.attr(op, "isVolatile") == Some(Attr::TRUE) || model.is_none() || is_world {
        touched.push(Touch::WORLD);
    }
    touched
}

/// Returns the locations that an operation touches according to its effects.
fn others(op: OpRef<'_>) -> Vec<Touch> {
    if op.is(llvm::InvokeOp::DEF) {
        return vec![Touch::WORLD];
    }
    // Another terminator touches no memory itself.
    let harmless = [Trait::Pure, Trait::Terminator, Trait::ReturnLike];
    if harmless.into_iter().any(|own| op.info().has_trait(own)) {
        return Vec::new();
    }
    let Some(model) = op.info().interface::<dyn MemoryEffects>() else {
        return vec![Touch::WORLD];
    };
    let effects = model.effects(op);
    let effects = effects.iter().filter(|effect| effect.kind != EffectKind::Allocate);
    effects
        .map(|effect| match effect.on {
            Resource::Value(pointer) => Touch {
                memory: Memory::At(pointer),
                bytes: Width::Whole,
                writes: effect.kind != EffectKind::Read,
            },
            Resource::Global(_) | Resource::World => Touch::WORLD,
        })
        .collect()
}
