//! The storage of operations: one arena, a [`Body`], for each operation that is isolated from
//! above.
//!
//! **Shape.** A body is the inside of one operation, its *root* (a module, a function), which is
//! itself stored in the body it owns, so that a function pass holds the function's name, attributes
//! and regions under one `&mut Body`. In the parent's arena an operation that owns a body is a
//! *slot*: it has a place in its block and a body, nothing else. [`OpRef`] and the accessors here
//! look through slots, so a reader need not care.
//!
//! **Storage.** Entities are 32-bit indices into vectors with free lists. Operands are runs of
//! *uses* in a pool; each use is a link of its value's use list, so replacing or erasing costs what
//! it touches. Operations of a block are a linked list with order numbers: "a before b" is one
//! comparison, and renumbering is amortised. What few operations have (regions, successors, a body)
//! is in side records. An empty body allocates nothing.
//!
//! **Cost.** Create, erase, move, set operand: O(operands). Walks follow links; no hashing
//! anywhere.

use crate::attributes::{Attr, Dict};
use crate::builder::OperationState;
use crate::context::{Context, Name, OpInfo, OpName};
use crate::entity::{Block, NONE, Op, Value};
use crate::location::Loc;
use crate::opdef::{OpDef, Trait};
use crate::resources::ExternalResources;
use crate::types::Type;
use pool::Pool;

mod blocks;
mod copy;
mod import;
mod nested;
mod op_ref;
mod pending;
mod pool;
mod signatures;
mod trail;
mod uses;

pub use copy::Mapping;
pub use import::Import;
pub use op_ref::OpRef;
pub use signatures::Signatures;
pub use trail::Fate;
pub use uses::Use;

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueDef {
    /// Result `index` of `op`.
    OpResult {
        /// The operation.
        op: Op,
        /// Which result.
        index: usize,
    },
    /// Argument `index` of `block`.
    BlockArgument {
        /// The block.
        block: Block,
        /// Which argument.
        index: usize,
    },
}

/// An arena of operations. See the [module](self).
pub struct Body {
    ctx: Context,
    arena: u32,
    ops: Vec<OpData>,
    free_ops: Vec<u32>,
    extras: Vec<Extra>,
    free_extras: Vec<u32>,
    uses: Pool<UseData>,
    values: Pool<ValueData>,
    successors: Pool<SuccessorData>,
    blocks: Vec<BlockData>,
    free_blocks: Vec<u32>,
    regions: Pool<RegionData>,
    resources: Option<Box<ExternalResources>>,
    /// The operations that are followed.
    trail: Option<Box<trail::Trail>>,
}

#[derive(Clone, Copy)]
struct OpData {
    name: OpName,
    block: u32,
    prev: u32,
    next: u32,
    order: u32,
    operands: u32,
    num_operands: u32,
    results: u32,
    num_results: u32,
    /// Index of the side record, or `NONE`.
    extra: u32,
    properties: Dict,
    attributes: Dict,
    loc: Loc,
}

/// Data that few operations have.
#[derive(Default)]
struct Extra {
    regions: u32,
    num_regions: u32,
    successors: u32,
    num_successors: u32,
    nested: Option<Box<Body>>,
}

#[derive(Clone, Copy, Default)]
struct UseData {
    value: u32,
    owner: u32,
    prev: u32,
    next: u32,
}

#[derive(Clone, Copy)]
struct ValueData {
    ty: Type,
    /// Operation, or block when `IS_ARGUMENT` is set in `index`.
    def: u32,
    index: u32,
    first_use: u32,
}

#[derive(Clone, Copy, Default)]
struct SuccessorData {
    block: u32,
    owner: u32,
    prev: u32,
    next: u32,
}

#[derive(Clone)]
struct BlockData {
    region: u32,
    prev: u32,
    next: u32,
    first_op: u32,
    last_op: u32,
    /// The first use as a successor.
    first_use: u32,
    arguments: Vec<ArgumentData>,
}

#[derive(Clone, Copy)]
struct ArgumentData {
    value: u32,
    /// Where it is written.
    loc: Loc,
}

#[derive(Clone, Copy)]
struct RegionData {
    parent: u32,
    first: u32,
    last: u32,
}

const IS_ARGUMENT: u32 = 1 << 31;
/// Distance of the order numbers of neighbours appended to a block.
const STRIDE: u32 = 8;
const ERASED: u32 = NONE - 1;

const _: () =
    assert!(size_of::<OpData>() <= 56 && size_of::<UseData>() == 16 && size_of::<ValueData>() == 16);
const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<Body>();
};

impl Default for ValueData {
    fn default() -> Self {
        ValueData { ty: Type::NONE, def: NONE, index: 0, first_use: NONE }
    }
}

impl Default for RegionData {
    fn default() -> Self {
        RegionData { parent: NONE, first: NONE, last: NONE }
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body({})", self.ctx.op_str(self.op_name(self.root())))
    }
}

impl Body {
    /// The body of a new operation that owns one: its root is made from `state`, which has no
    /// operands, results and successors.
    pub fn new(ctx: &Context, state: OperationState) -> Body {
        let mut body = Body::without_root(ctx);
        body.create_record(&state);
        body
    }

    fn without_root(ctx: &Context) -> Body {
        Body {
            ctx: ctx.clone(),
            arena: ctx.new_arena(),
            ops: Vec::new(),
            free_ops: Vec::new(),
            extras: Vec::new(),
            free_extras: Vec::new(),
            uses: Pool::new(),
            values: Pool::new(),
            successors: Pool::new(),
            blocks: Vec::new(),
            free_blocks: Vec::new(),
            regions: Pool::new(),
            resources: None,
            trail: None,
        }
    }

    /// The context.
    pub fn ctx(&self) -> &Context {
        &self.ctx
    }

    /// Returns the resources beside the program in its file; only the body of a whole file has
    /// such.
    pub fn external_resources(&self) -> Option<&ExternalResources> {
        self.resources.as_deref()
    }

    /// Returns the resources beside the program in its file, to change.
    pub fn external_resources_mut(&mut self) -> &mut ExternalResources {
        self.resources.get_or_insert_default()
    }

    /// The number of bytes the records take, those of nested bodies, free ones and room for more
    /// included; what the context holds is extra. Room is never given back, so this is the most
    /// there ever was. Linear in blocks and in operations that own regions.
    pub fn bytes(&self) -> usize {
        let arguments =
            self.blocks.iter().map(|block| block.arguments.capacity() * size_of::<ArgumentData>());
        let nested = self.extras.iter().filter_map(|extra| Some(extra.nested.as_ref()?.bytes()));
        let arenas = self.ops.capacity() * size_of::<OpData>()
            + self.extras.capacity() * size_of::<Extra>()
            + self.blocks.capacity() * size_of::<BlockData>();
        let pools = self.uses.bytes() + self.values.bytes() + self.successors.bytes() + self.regions.bytes();
        size_of::<Body>() + arenas + pools + arguments.chain(nested).sum::<usize>()
    }

    /// A number that no other body of the context has.
    pub(crate) fn arena_number(&self) -> u32 {
        self.arena
    }

    /// The operation that owns this body.
    pub fn root(&self) -> Op {
        self.op(0)
    }

    /// A view of the root.
    pub fn root_ref(&self) -> OpRef<'_> {
        self.op_ref(self.root())
    }

    /// A view of an operation.
    pub fn op_ref(&self, op: Op) -> OpRef<'_> {
        OpRef::new(self, op)
    }

    #[inline]
    fn op(&self, index: u32) -> Op {
        Op::new(index, self.arena)
    }

    fn maybe_op(&self, index: u32) -> Option<Op> {
        (index != NONE).then(|| self.op(index))
    }

    #[inline]
    fn value(&self, index: u32) -> Value {
        Value::new(index, self.arena)
    }

    #[inline]
    fn data(&self, op: Op) -> &OpData {
        let data = &self.ops[op.raw(self.arena) as usize];
        debug_assert_ne!(data.block, ERASED, "{op:?} was erased");
        data
    }

    #[inline]
    fn data_mut(&mut self, op: Op) -> &mut OpData {
        let data = &mut self.ops[op.raw(self.arena) as usize];
        debug_assert_ne!(data.block, ERASED, "{op:?} was erased");
        data
    }

    fn extra(&self, op: Op) -> Option<&Extra> {
        let extra = self.data(op).extra;
        (extra != NONE).then(|| &self.extras[extra as usize])
    }

    fn extra_or_new(&mut self, op: Op) -> &mut Extra {
        if self.data(op).extra == NONE {
            let index = match self.free_extras.pop() {
                Some(index) => index,
                None => {
                    self.extras.push(Extra::default());
                    (self.extras.len() - 1) as u32
                }
            };
            self.data_mut(op).extra = index;
        }
        let index = self.data(op).extra;
        &mut self.extras[index as usize]
    }

    // Making and erasing operations.

    /// Makes an operation that stands in no block yet. If its definition says that it owns a body,
    /// it gets one.
    ///
    /// Result types must be in the state (see [`OperationState::infer_result_types`]). Regions are
    /// made empty, as many as the state says.
    pub fn create(&mut self, state: OperationState) -> Op {
        if self.ctx.op_info(state.name).owns_arena() {
            return self.adopt(Body::new(&self.ctx, state));
        }
        self.create_record(&state)
    }

    /// Makes an operation of a state that is used again.
    pub(crate) fn create_from(&mut self, state: &OperationState) -> Op {
        match self.ctx.op_info(state.name).owns_arena() {
            true => self.create(state.clone()),
            false => self.create_record(state),
        }
    }

    /// Makes an operation, whatever its definition says of bodies.
    pub(crate) fn create_record(&mut self, state: &OperationState) -> Op {
        let data = OpData {
            name: state.name,
            properties: state.properties,
            attributes: state.attributes,
            loc: state.loc,
            ..OpData::vacant()
        };
        let index = self.add_record(data);
        let op = self.op(index);
        self.init_operands(index, &state.operands);
        self.init_results(index, &state.result_types);
        if state.num_regions > 0 {
            let regions = self.regions.allocate(state.num_regions);
            for r in regions..regions + state.num_regions as u32 {
                self.regions[r] = RegionData { parent: index, first: NONE, last: NONE };
            }
            let extra = self.extra_or_new(op);
            extra.regions = regions;
            extra.num_regions = state.num_regions as u32;
        }
        if !state.successors.is_empty() {
            self.init_successors(op, &state.successors);
        }
        op
    }

    /// Adds a record. Returns its index.
    fn add_record(&mut self, data: OpData) -> u32 {
        match self.free_ops.pop() {
            Some(index) => {
                self.ops[index as usize] = data;
                index
            }
            None => {
                self.ops.push(data);
                (self.ops.len() - 1) as u32
            }
        }
    }

    fn init_results(&mut self, op: u32, types: &[Type]) {
        if types.is_empty() {
            return;
        }
        let results = self.values.allocate(types.len());
        for (i, ty) in types.iter().enumerate() {
            self.values[results + i as u32] =
                ValueData { ty: *ty, def: op, index: i as u32, first_use: NONE };
        }
        self.ops[op as usize].results = results;
        self.ops[op as usize].num_results = types.len() as u32;
    }

    /// Makes an operation that owns `body`, standing in no block yet.
    pub fn adopt(&mut self, body: impl Into<Box<Body>>) -> Op {
        let body = body.into();
        let name = body.op_name(body.root());
        let op = self.create_record(&OperationState::named(name, Loc::UNKNOWN));
        self.extra_or_new(op).nested = Some(body);
        op
    }

    /// Erases an operation with all it holds. Its results may be used only inside itself.
    ///
    /// # Panics
    /// In debug builds, if a result is still used elsewhere.
    pub fn erase(&mut self, op: Op) {
        self.detach(op);
        if self.own_regions(op).len() == 0 {
            self.clear_operands(op);
            self.clear_successors(op);
            return self.free_op(op);
        }
        // Everything inside, then the operation: an explicit stack, for nests may be deep.
        let mut doomed = vec![op];
        let mut next = 0;
        while next < doomed.len() {
            let o = doomed[next];
            next += 1;
            for region in self.own_regions(o) {
                self.blocks(region).for_each(|block| doomed.extend(self.ops(block)));
            }
        }
        for &o in &doomed {
            self.clear_operands(o);
            self.clear_successors(o);
        }
        for &o in doomed.iter().rev() {
            for region in self.own_regions(o) {
                let mut next = self.entry_block(region);
                while let Some(block) = next {
                    next = self.next_block(block);
                    self.free_block(block);
                }
            }
            self.free_op(o);
        }
    }

    fn free_op(&mut self, op: Op) {
        let index = op.raw(self.arena);
        self.trace_erased(index);
        let data = self.ops[index as usize];
        if data.num_results > 0 {
            for v in data.results..data.results + data.num_results {
                debug_assert_eq!(self.values[v].first_use, NONE, "erased {op:?} while a result is in use");
            }
            self.values.free(data.results, data.num_results as usize);
        }
        if data.extra != NONE {
            let extra = std::mem::take(&mut self.extras[data.extra as usize]);
            if extra.num_regions > 0 {
                self.regions.free(extra.regions, extra.num_regions as usize);
            }
            self.free_extras.push(data.extra);
        }
        self.ops[index as usize] = OpData { block: ERASED, ..OpData::vacant() };
        match &mut self.trail {
            Some(trail) => trail.held.push(index),
            None => self.free_ops.push(index),
        }
    }

    // What an operation is.

    /// Its name.
    #[inline]
    pub fn op_name(&self, op: Op) -> OpName {
        self.data(op).name
    }

    /// Returns the registered information about an operation's name.
    #[inline]
    pub fn info(&self, op: Op) -> &OpInfo {
        self.ctx.op_info(self.data(op).name)
    }

    /// True if it is the operation of this compiled-in definition.
    #[inline]
    pub fn is(&self, op: Op, def: &'static OpDef) -> bool {
        self.info(op).is(def)
    }

    /// True if its definition has the trait.
    pub fn has_trait(&self, op: Op, t: Trait) -> bool {
        self.info(op).has_trait(t)
    }

    /// Its location.
    pub fn loc(&self, op: Op) -> Loc {
        match self.nested(op) {
            Some(body) => body.loc(body.root()),
            None => self.data(op).loc,
        }
    }

    /// Sets its location.
    pub fn set_loc(&mut self, op: Op, loc: Loc) {
        match self.nested_mut(op) {
            Some(body) => body.set_loc(body.root(), loc),
            None => self.data_mut(op).loc = loc,
        }
    }

    /// Its inherent attributes.
    pub fn properties(&self, op: Op) -> Dict {
        match self.nested(op) {
            Some(body) => body.properties(body.root()),
            None => self.data(op).properties,
        }
    }

    /// Its discardable attributes.
    pub fn attributes(&self, op: Op) -> Dict {
        match self.nested(op) {
            Some(body) => body.attributes(body.root()),
            None => self.data(op).attributes,
        }
    }

    /// Replaces its inherent attributes.
    pub fn set_properties(&mut self, op: Op, properties: Dict) {
        match self.nested_mut(op) {
            Some(body) => body.set_properties(body.root(), properties),
            None => self.data_mut(op).properties = properties,
        }
    }

    /// Replaces its discardable attributes.
    pub fn set_attributes(&mut self, op: Op, attributes: Dict) {
        match self.nested_mut(op) {
            Some(body) => body.set_attributes(body.root(), attributes),
            None => self.data_mut(op).attributes = attributes,
        }
    }

    /// The attribute called `name`, inherent or discardable.
    pub fn attr(&self, op: Op, name: &str) -> Option<Attr> {
        self.properties(op).get(&self.ctx, name).or_else(|| self.attributes(op).get(&self.ctx, name))
    }

    /// The attribute that is number `index` in a definition: quicker than by name, if the operation
    /// has that definition.
    ///
    /// # Panics
    /// If the definition has fewer attributes.
    pub fn attr_of(&self, op: Op, def: &'static OpDef, index: usize) -> Option<Attr> {
        let info = self.info(op);
        if info.is(def) {
            self.attr_named(op, info.attr_name(index))
        } else {
            self.attr(op, &def.attrs[index].name)
        }
    }

    /// The attribute called `name`, where the name is uniqued already.
    pub(crate) fn attr_named(&self, op: Op, name: Name) -> Option<Attr> {
        self.properties(op)
            .get_named(&self.ctx, name)
            .or_else(|| self.attributes(op).get_named(&self.ctx, name))
    }

    /// Sets the attribute called `name`, as inherent if the definition says so.
    pub fn set_attr(&mut self, op: Op, name: &str, attr: Attr) {
        let ctx = self.ctx.clone();
        if self.info(op).def().is_some_and(|def| def.is_inherent(name)) {
            let properties = self.properties(op).with(&ctx, name, attr);
            self.set_properties(op, properties);
        } else {
            let attributes = self.attributes(op).with(&ctx, name, attr);
            self.set_attributes(op, attributes);
        }
    }

    /// Removes the attribute called `name`, wherever it is.
    pub fn remove_attr(&mut self, op: Op, name: &str) {
        let ctx = self.ctx.clone();
        let (properties, attributes) =
            (self.properties(op).without(&ctx, name), self.attributes(op).without(&ctx, name));
        self.set_properties(op, properties);
        self.set_attributes(op, attributes);
    }

    /// Changes the operation's name, keeping everything else. Neither name may own a body.
    pub fn rename(&mut self, op: Op, name: OpName) {
        debug_assert!(!self.info(op).owns_arena() && !self.ctx.op_info(name).owns_arena());
        self.data_mut(op).name = name;
    }

    /// The number of results it has.
    #[inline]
    pub fn num_results(&self, op: Op) -> usize {
        self.data(op).num_results as usize
    }

    /// Its results.
    pub fn results(
        &self,
        op: Op,
    ) -> impl ExactSizeIterator<Item = Value> + DoubleEndedIterator + Clone + use<> {
        let data = self.data(op);
        let arena = self.arena;
        let (first, count) = (data.results, data.num_results);
        (0..count).map(move |i| Value::new(first + i, arena))
    }

    /// Result `index`.
    ///
    /// # Panics
    /// If there is no such result.
    #[inline]
    pub fn result(&self, op: Op, index: usize) -> Value {
        let data = self.data(op);
        assert!(index < data.num_results as usize, "{op:?} has no result {index}");
        self.value(data.results + index as u32)
    }

    // Values.

    /// The type of a value.
    #[inline]
    pub fn value_type(&self, value: Value) -> Type {
        self.values[value.raw(self.arena)].ty
    }

    /// Changes the type of a value.
    pub fn set_value_type(&mut self, value: Value, ty: Type) {
        let raw = value.raw(self.arena);
        self.values[raw].ty = ty;
    }

    /// Where a value comes from.
    #[inline]
    pub fn def(&self, value: Value) -> ValueDef {
        let data = self.values[value.raw(self.arena)];
        if data.index & IS_ARGUMENT != 0 {
            let block = Block::new(data.def, self.arena);
            ValueDef::BlockArgument { block, index: (data.index & !IS_ARGUMENT) as usize }
        } else {
            ValueDef::OpResult { op: self.op(data.def), index: data.index as usize }
        }
    }

    /// The operation a value is a result of.
    pub fn defining_op(&self, value: Value) -> Option<Op> {
        match self.def(value) {
            ValueDef::OpResult { op, .. } => Some(op),
            ValueDef::BlockArgument { .. } => None,
        }
    }

    /// The block in which a value is defined, as argument or as result of an operation there.
    pub fn value_block(&self, value: Value) -> Option<Block> {
        match self.def(value) {
            ValueDef::OpResult { op, .. } => self.block_of(op),
            ValueDef::BlockArgument { block, .. } => Some(block),
        }
    }

    /// One more than the largest index of any value: the size of a dense side table.
    pub fn num_value_slots(&self) -> usize {
        self.values.len()
    }

    /// One more than the largest index of any operation: the size of a dense side table.
    pub fn num_op_slots(&self) -> usize {
        self.ops.len()
    }

    /// One more than the largest index of any block: the size of a dense side table.
    pub fn num_block_slots(&self) -> usize {
        self.blocks.len()
    }

    /// Sizes of the operand segments (`results` false) or result segments of an operation whose
    /// traits call for them.
    pub fn segments(&self, op: Op, results: bool) -> Option<impl ExactSizeIterator<Item = i64> + '_> {
        let name = if results { Name::RESULT_SEGMENTS } else { Name::OPERAND_SEGMENTS };
        self.attr_named(op, name)?.dense_ints(&self.ctx)
    }
}

impl OpData {
    fn vacant() -> OpData {
        OpData {
            name: OpName::FIRST,
            block: NONE,
            prev: NONE,
            next: NONE,
            order: 0,
            operands: 0,
            num_operands: 0,
            results: 0,
            num_results: 0,
            extra: NONE,
            properties: Dict::EMPTY,
            attributes: Dict::EMPTY,
            loc: Loc::UNKNOWN,
        }
    }
}
