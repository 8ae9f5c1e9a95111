//! Interfaces: the meaning of operations to analyses and passes.
//!
//! Each interface is an object-safe trait, implemented on a model value and attached to operations
//! in the registry ([`Registry::attach`](loomir_ir::Registry::attach)). Any crate can therefore
//! give any operation a meaning. Passes ask `op.info().interface::<dyn MemoryEffects>()` and never
//! match on an operation's name. An operation without an interface is unknown, and the answer is
//! the worst case.

use loomir_ir::attributes::Attr;
use loomir_ir::{
    AffineExpr, AffineMap, Block, Body, Context, IntegerSet, Name, Op, OpRef, OperationState, Region, Trait,
    Type, Value,
};
use smallvec::SmallVec;

use crate::ranges::Range;

/// Bounds of integers from bounds of operands. `arith` and `index` need not implement it.
pub trait InferRanges: Send + Sync {
    /// Returns the range of each result, as far as it is known. Operands that are no words, or that
    /// are wider than 64 bits, have no range. The ranges hold where neither an operand nor the
    /// result is poison, and wider ranges of operands never give narrower ranges of results.
    fn ranges(&self, op: OpRef<'_>, operands: &[Option<Range>]) -> Vec<Option<Range>>;
}

/// The kind of a memory effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EffectKind {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Makes a new object.
    Allocate,
    /// Ends an object's life.
    Free,
}

/// The memory that an effect touches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    /// The object that a value (a memref or pointer) refers to.
    Value(Value),
    /// A global, by name.
    Global(Name),
    /// Any memory, and the outside world.
    World,
}

/// One effect of an operation on memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effect {
    /// How.
    pub kind: EffectKind,
    /// What.
    pub on: Resource,
}

/// The memory effects of an operation, without those of its regions.
pub trait MemoryEffects: Send + Sync {
    /// Returns all effects. Without effects, the operation touches no memory.
    fn effects(&self, op: OpRef<'_>) -> Vec<Effect>;

    /// True if the operation may not reach the next one (trap, throw, exit, run forever).
    fn may_not_return(&self, _op: OpRef<'_>) -> bool {
        false
    }

    /// True if some operands make its execution undefined behaviour (division by zero, an access
    /// out of bounds).
    fn may_be_undefined(&self, _op: OpRef<'_>) -> bool {
        false
    }
}

/// A model of [`MemoryEffects`]: effects on the objects of operands and results, by their names in
/// the definition of the operation.
///
/// ```
/// use loomir_dialects::interfaces::{EffectKind, OperandEffects};
///
/// const MODEL: OperandEffects =
///     OperandEffects::new(&[(EffectKind::Read, "source"), (EffectKind::Write, "target")]);
/// ```
pub struct OperandEffects {
    effects: &'static [(EffectKind, &'static str)],
    may_be_undefined: bool,
}

impl OperandEffects {
    /// Returns the model with these effects, of an operation that is always defined.
    pub const fn new(effects: &'static [(EffectKind, &'static str)]) -> Self {
        OperandEffects { effects, may_be_undefined: false }
    }

    /// Returns the same model of an operation that some operands make undefined.
    pub const fn possibly_undefined(self) -> Self {
        OperandEffects { may_be_undefined: true, ..self }
    }
}

impl MemoryEffects for OperandEffects {
    fn effects(&self, op: OpRef<'_>) -> Vec<Effect> {
        let mut effects = Vec::with_capacity(self.effects.len());
        for (kind, name) in self.effects {
            let values = op.operand_group(name).into_iter().chain(op.result_group(name));
            effects.extend(values.map(|value| Effect { kind: *kind, on: Resource::Value(value) }));
        }
        effects
    }

    fn may_be_undefined(&self, _: OpRef<'_>) -> bool {
        self.may_be_undefined
    }
}

/// True if an operation may run where it would not have run: it has no effect, and no operand makes
/// it undefined.
///
/// Passes that hoist, speculate or flatten operations need this property. The trait `Pure` alone
/// allows less: to repeat or to remove an operation where it ran.
pub fn is_speculatable(op: OpRef<'_>) -> bool {
    let info = op.info();
    let is_defined = |model: &dyn MemoryEffects| !model.may_be_undefined(op) && !model.may_not_return(op);
    info.has_trait(Trait::Pure) && info.interface::<dyn MemoryEffects>().is_none_or(is_defined)
}

/// True if `op`, which is nested in `region`, runs only while `region` runs.
///
/// An unknown operation may keep its regions for later, such as one that starts a task.
pub fn runs_in_place(body: &Body, op: Op, region: Region) -> bool {
    let runs_inside = |around: Op| {
        let info = body.info(around);
        info.has_trait(Trait::RecursiveMemoryEffects) || info.interface::<dyn MemoryEffects>().is_some()
    };
    let regions = std::iter::successors(body.region_of(op), |own| body.region_of(body.region_parent(*own)));
    regions.take_while(|own| *own != region).all(|own| runs_inside(body.region_parent(own)))
}

/// An operation whose results refer to (part of) the object one operand refers to: casts, views.
pub trait ViewLike: Send + Sync {
    /// Returns the viewed operand.
    fn source(&self, op: OpRef<'_>) -> Value;
}

/// Subscripts of an access: an affine map applied to operands, dimensions first.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Subscripts {
    /// One result for each dimension of the memref.
    pub map: AffineMap,
    /// Dimensions, then symbols, of the map.
    pub operands: SmallVec<[Value; 2]>,
}

impl Subscripts {
    /// Returns the same subscripts with only those operands that the map names.
    pub fn without_unused(&self, ctx: &Context) -> Subscripts {
        let used = self.map.used_inputs(ctx);
        let num_dims = self.map.data(ctx).dims as usize;
        let (mut dims, mut symbols) = (0, 0);
        let mut operands = SmallVec::new();
        let mut renamed = Vec::with_capacity(used.len());
        for (i, operand) in self.operands.iter().enumerate() {
            let (make, count): (fn(&Context, u32) -> AffineExpr, _) = match i < num_dims {
                true => (AffineExpr::dim, &mut dims),
                false => (AffineExpr::symbol, &mut symbols),
            };
            renamed.push(make(ctx, *count));
            if used[i] {
                operands.push(*operand);
                *count += 1;
            }
        }
        let (by_dim, by_symbol) = renamed.split_at(num_dims);
        let results = self.map.results(ctx).iter().map(|expr| expr.replace(ctx, by_dim, by_symbol));
        Subscripts { map: AffineMap::new(ctx, dims, symbols, &results.collect::<Vec<_>>()), operands }
    }
}

/// An operation that reads or writes one element of a memref.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// The memref.
    pub memref: Value,
    /// The subscripts of the element.
    pub subscripts: Subscripts,
    /// The value stored; `None` for a read.
    pub stored: Option<Value>,
}

/// Loads and stores of one element.
pub trait MemoryAccess: Send + Sync {
    /// Returns the access.
    fn access(&self, op: OpRef<'_>) -> Access;
}

/// Loads and stores of neighbouring elements along the last dimension of a memref. It is undefined
/// behaviour to touch one outside of the dimension.
pub trait VectorAccess: Send + Sync {
    /// Returns the access to the first element.
    fn first(&self, op: OpRef<'_>) -> Access;
    /// Returns the number of elements. `None` if the elements are not neighbours, or their number
    /// is unknown: the access may touch any element of the memref.
    fn count(&self, op: OpRef<'_>) -> Option<i64>;
    /// True if some of these elements may not be touched, such as those that a mask switches off.
    fn is_partial(&self, _op: OpRef<'_>) -> bool {
        false
    }
    /// True if no element is touched that is not in the row of the first, wherever the access
    /// begins.
    fn stays_in_row(&self, _op: OpRef<'_>) -> bool {
        false
    }
}

/// Memory of one element that may be promoted to a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemorySlot {
    /// Its address.
    pub pointer: Value,
    /// The type of the value in the slot.
    pub ty: Type,
}

/// An operation that allocates a memory slot. The slot may become values if all its uses can be
/// expressed with values.
pub trait PromotableAllocation: Send + Sync {
    /// Returns the memory, or `None` if it is not one element.
    fn slot(&self, op: OpRef<'_>) -> Option<MemorySlot>;
    /// Returns an operation whose result is the content of a slot before any store.
    fn default_value(&self, op: OpRef<'_>, slot: MemorySlot) -> OperationState;
    /// Returns an operation without operands. Given a value of type `from`, its result has type
    /// `to` and the same bytes in memory. By default there is none.
    fn reinterpret(&self, _ctx: &Context, _from: Type, _to: Type) -> Option<OperationState> {
        None
    }
}

/// The kind of access to a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotAccess {
    /// A load: the value is the content of the slot.
    Load(Value),
    /// A store: the value is the content of the slot from then on.
    Store(Value),
    /// A marker about memory that has no meaning for values.
    Marker,
}

/// An operation whose memory accesses can be promoted to values.
pub trait PromotableAccess: Send + Sync {
    /// Returns the access to a slot whose address the operation uses. `None` if the use needs
    /// memory.
    fn access(&self, op: OpRef<'_>, slot: MemorySlot) -> Option<SlotAccess>;
}

/// The place of a part in memory of several parts: an index for each dimension or level.
pub type PartIndex = SmallVec<[i64; 2]>;

/// A use of memory that is to be split into its parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PartUse {
    /// An access to nothing but this part.
    Part(PartIndex),
    /// A marker about the whole memory that has no meaning for its parts.
    Marker,
}

/// An operation that allocates memory of several parts, which may become several allocations.
pub trait SplittableAllocation: Send + Sync {
    /// True if the memory consists of parts that do not overlap.
    fn has_parts(&self, op: OpRef<'_>) -> bool;
    /// Returns an operation that allocates one part.
    fn allocate(&self, op: OpRef<'_>, part: &[i64]) -> Option<OperationState>;
}

/// An operation that may use a part of memory.
pub trait SplittableUse: Send + Sync {
    /// Returns the use of `memory`, a result of `allocation`. `None` if it may touch more than one
    /// part, or passes the address on.
    fn part(&self, op: OpRef<'_>, memory: Value, allocation: OpRef<'_>) -> Option<PartUse>;
    /// Makes the operation use `part`, an allocation of its own.
    fn redirect(&self, body: &mut Body, op: Op, part: Value);
}

/// A bound of a counted loop.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Bound {
    /// A value.
    Value(Value),
    /// The greatest (lower bound) or least (upper bound) result of a map.
    Map(Subscripts),
}

/// The iteration domain of a counted loop: `lower, lower + step, …` below `upper`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LoopBounds {
    /// The first value.
    pub lower: Bound,
    /// The first value not reached.
    pub upper: Bound,
    /// The distance of two values: a positive constant, or a value.
    pub step: Step,
}

/// The step of a counted loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// A positive number.
    Constant(i64),
    /// A value; undefined behaviour unless positive.
    Value(Value),
}

/// A counted loop with one block as its body. The first argument of the block is the induction
/// variable, the others are loop-carried. The terminator yields their next values. The results of
/// the operation are the last ones.
pub trait LoopLike: Send + Sync {
    /// Returns the iteration domain.
    fn bounds(&self, op: OpRef<'_>) -> LoopBounds;
    /// Returns the body.
    fn body(&self, op: OpRef<'_>) -> Region;
    /// Returns the initial values of the loop-carried values.
    fn inits(&self, op: OpRef<'_>) -> Vec<Value>;
    /// True if the induction variable is compared as unsigned.
    fn is_unsigned(&self, _op: OpRef<'_>) -> bool {
        false
    }
}

/// A loop of one or more dimensions whose iterations may run in any order. The body is one block,
/// and its arguments are the induction variables. In sequential order the last dimension varies
/// fastest.
pub trait ParallelLike: Send + Sync {
    /// Returns the iteration domain of each dimension. The bounds do not depend on other
    /// dimensions' induction variables.
    fn dimensions(&self, op: OpRef<'_>) -> Vec<LoopBounds>;
    /// Returns the body.
    fn body(&self, op: OpRef<'_>) -> Region;
}

/// The condition of a conditional.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Decision {
    /// A value of type `i1`.
    Value(Value),
    /// Membership of the operands, dimensions first, in the set.
    Set(IntegerSet, Vec<Value>),
}

/// A conditional: runs its first region if the decision is true, else its second, which may be
/// empty. The regions have at most one block and no arguments. Their terminators yield the results.
pub trait Conditional: Send + Sync {
    /// Returns the condition. `None` only if the operation is malformed.
    fn decision(&self, op: OpRef<'_>) -> Option<Decision>;
}

/// A dialect's decision about inlining.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inlining {
    /// It may be inlined.
    Allowed,
    /// It is to be inlined whatever its size.
    Always,
    /// It must not be inlined, for this reason. The reason follows the name of the function.
    Never(&'static str),
}

/// A call of a symbol.
pub trait CallLike: Send + Sync {
    /// Returns the called symbol, or `None` for an indirect call.
    fn callee(&self, op: OpRef<'_>) -> Option<Attr>;
    /// Returns the arguments.
    fn arguments(&self, op: OpRef<'_>) -> Vec<Value>;
    /// Decides if the called function may take the place of this call.
    fn inlining(&self, _op: OpRef<'_>) -> Inlining {
        Inlining::Allowed
    }
}

/// A function: a symbol with a function type and a body that may be absent.
pub trait FunctionLike: Send + Sync {
    /// Types of arguments and results.
    fn signature(&self, op: OpRef<'_>) -> (Vec<Type>, Vec<Type>);
    /// Returns the body, which is empty for a declaration.
    fn body(&self, op: OpRef<'_>) -> Region;
    /// True if the function takes more arguments than its signature has parameters.
    fn is_variadic(&self, _op: OpRef<'_>) -> bool {
        false
    }
    /// Decides if the body may take the place of a call of `op` in the function `caller`.
    fn inlining(&self, _op: OpRef<'_>, _caller: OpRef<'_>) -> Inlining {
        Inlining::Allowed
    }
}

/// An operation with rules of its own for a copy of it in another function.
///
/// Without this interface an operation may be inlined if it declares its effects, or that it is a
/// call, a branch or a terminator. An operation that declares nothing stays in its function.
pub trait Inlinable: Send + Sync {
    /// Decides if the operation may be inlined together with its function.
    fn inlining(&self, _op: OpRef<'_>) -> Inlining {
        Inlining::Allowed
    }
    /// Changes a copy that now stands in another function.
    fn was_inlined(&self, _body: &mut Body, _op: Op) {}
}

/// An operation that ends a function and returns its operands.
///
/// A function of several blocks is inlined only if each of its returns can become a branch.
pub trait ReturnAsBranch: Send + Sync {
    /// Returns a branch to `target`, which passes `operands` on.
    fn branch(&self, op: OpRef<'_>, target: Block, operands: &[Value]) -> OperationState;
}

/// An operation that takes memory from the stack.
pub trait StackAllocation: Send + Sync {
    /// True if the end of any scope ([`Trait::AutomaticAllocationScope`]) releases the memory.
    /// False if only the return from the function does.
    fn ends_with_scope(&self, op: OpRef<'_>) -> bool;
}

/// A terminator that passes operands to its successors.
pub trait BranchLike: Send + Sync {
    /// Returns the range of operands that become the arguments of successor `index`.
    fn successor_operands(&self, op: OpRef<'_>, index: usize) -> std::ops::Range<usize>;

    /// Returns the number of the successor that is taken if values are these constants. `None` if
    /// it may be any.
    fn taken(&self, _op: OpRef<'_>, _constants: &Constants<'_>) -> Option<usize> {
        None
    }

    /// Returns an unconditional branch of the same dialect.
    fn jump(&self, _op: OpRef<'_>, _target: Block, _operands: &[Value]) -> Option<OperationState> {
        None
    }
}

/// The constant that a value is, if that is known.
pub type Constants<'a> = dyn Fn(Value) -> Option<Attr> + 'a;

/// An edge of the control flow between the regions of an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegionEdge {
    /// The region that the edge leads to; `None` if it leads behind the operation.
    pub to: Option<usize>,
    /// The operands that are passed along: those of the operation on entry, else those of the
    /// terminator.
    pub operands: std::ops::Range<usize>,
    /// The number of the first argument of the region, or of the first result, that receives one.
    pub first: usize,
}

/// Control flow between the regions of an operation. Loops and conditionals need not implement it:
/// [`control`](crate::control) derives it from their interfaces.
pub trait RegionBranch: Send + Sync {
    /// Returns the edges that control may take when it reaches the operation.
    fn entry_edges(&self, op: OpRef<'_>, constants: &Constants<'_>) -> Vec<RegionEdge>;
    /// Returns the edges that control may take at a terminator of a region. The terminator has no
    /// successors. `None` if it is of an unknown kind.
    fn exit_edges(
        &self,
        op: OpRef<'_>,
        region: usize,
        terminator: OpRef<'_>,
        constants: &Constants<'_>,
    ) -> Option<Vec<RegionEdge>>;
}
