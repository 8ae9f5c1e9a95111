//! Making operations: what a new one needs, and where it goes.
//!
//! ```
//! use loomir_ir::{Body, Builder, Context, InsertPoint, Loc, OperationState, Registry, Type};
//! let ctx = Context::new(Registry::new());
//! let module = OperationState::new(&ctx, "test.module", Loc::UNKNOWN).regions(1);
//! let mut body = Body::new(&ctx, module);
//! let region = body.region(body.root(), 0);
//! let block = body.append_block(region, &[Type::I32]);
//! let mut b = Builder::new(&mut body, InsertPoint::End(block));
//! let x = b.body().argument(block, 0);
//! let sum = b.insert(OperationState::new(&ctx, "test.add", Loc::UNKNOWN).operands(&[x, x]).results(&[Type::I32]));
//! assert_eq!(body.operands(sum).count(), 2);
//! ```

use smallvec::SmallVec;

use crate::attributes::{Attr, Dict};
use crate::body::Body;
use crate::context::{Context, Name, OpName};
use crate::entity::{Block, Op, Value};
use crate::location::Loc;
use crate::opdef::{OPERAND_SEGMENTS, OpDef, Trait, segment};
use crate::types::Type;

/// Everything needed to make an operation.
#[derive(Clone, Debug)]
pub struct OperationState {
    /// Its name.
    pub name: OpName,
    /// Its location.
    pub loc: Loc,
    /// Its operands.
    pub operands: Vec<Value>,
    /// The types of its results.
    pub result_types: Vec<Type>,
    /// Its inherent attributes.
    pub properties: Dict,
    /// Its discardable attributes.
    pub attributes: Dict,
    /// Its successors.
    pub successors: Vec<Block>,
    /// The number of regions it has.
    pub num_regions: usize,
}

impl OperationState {
    /// An operation of the name `name`, registered or not, with nothing else.
    pub fn new(ctx: &Context, name: &str, loc: Loc) -> Self {
        Self::named(ctx.op_name(name), loc)
    }

    /// An operation of a name that is uniqued already.
    pub fn named(name: OpName, loc: Loc) -> Self {
        OperationState {
            name,
            loc,
            operands: Vec::new(),
            result_types: Vec::new(),
            properties: Dict::EMPTY,
            attributes: Dict::EMPTY,
            successors: Vec::new(),
            num_regions: 0,
        }
    }

    /// Makes it the state of another operation, with nothing but its name, and keeps the room of
    /// its vectors.
    pub(crate) fn restart(&mut self, name: OpName, loc: Loc) {
        self.name = name;
        self.loc = loc;
        self.operands.clear();
        self.result_types.clear();
        self.properties = Dict::EMPTY;
        self.attributes = Dict::EMPTY;
        self.successors.clear();
        self.num_regions = 0;
    }

    /// An operation of a definition, with as many regions as it says.
    pub fn of(ctx: &Context, def: &OpDef, loc: Loc) -> Self {
        let mut state = Self::named(ctx.op_name_of(def), loc);
        state.num_regions = def.regions.iter().filter(|r| !r.variadic).count();
        state
    }

    /// Adds operands.
    #[must_use]
    pub fn operands(mut self, operands: &[Value]) -> Self {
        self.operands.extend_from_slice(operands);
        self
    }

    /// Adds results of these types.
    #[must_use]
    pub fn results(mut self, types: &[Type]) -> Self {
        self.result_types.extend_from_slice(types);
        self
    }

    /// Sets the number of regions.
    #[must_use]
    pub fn regions(mut self, count: usize) -> Self {
        self.num_regions = count;
        self
    }

    /// Adds successors.
    #[must_use]
    pub fn successors(mut self, blocks: &[Block]) -> Self {
        self.successors.extend_from_slice(blocks);
        self
    }

    /// Sets an attribute, inherent if the definition says so.
    #[must_use]
    pub fn attr(mut self, ctx: &Context, name: &str, attr: Attr) -> Self {
        self.set_attr(ctx, name, attr);
        self
    }

    /// Sets an attribute, inherent if the definition says so.
    pub fn set_attr(&mut self, ctx: &Context, name: &str, attr: Attr) {
        match ctx.op_info(self.name).inherent_name(name) {
            Some(name) => self.properties = self.properties.with_named(ctx, name, attr),
            None => self.attributes = self.attributes.with(ctx, name, attr),
        }
    }

    /// Sets attributes, each inherent if the definition says so. Of two with one name the later
    /// wins.
    pub fn set_attrs(&mut self, ctx: &Context, attrs: &[(&str, Attr)]) {
        let info = ctx.op_info(self.name);
        let [mut inherent, mut other]: [SmallVec<[(Name, Attr); 8]>; 2] = Default::default();
        for (name, attr) in attrs {
            match info.inherent_name(name) {
                Some(name) => inherent.push((name, *attr)),
                None => other.push((ctx.name(name), *attr)),
            }
        }
        for (dict, new) in [(&mut self.properties, inherent), (&mut self.attributes, other)] {
            if !new.is_empty() {
                *dict = dict.with_all(ctx, &new);
            }
        }
    }

    /// Sets the inherent attribute that is number `index` in the definition.
    pub(crate) fn set_property(&mut self, ctx: &Context, index: usize, attr: Attr) {
        let name = ctx.op_info(self.name).attr_name(index);
        self.properties = self.properties.with_named(ctx, name, attr);
    }

    /// Says how many operands belong to each operand of the definition, for definitions whose
    /// traits call for it.
    pub fn set_segments(&mut self, ctx: &Context, sizes: &[i64]) {
        self.set_attr(ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, sizes));
    }

    /// Sets every inherent attribute that is absent and has a default to it.
    pub fn set_defaults(&mut self, ctx: &Context) {
        if self.properties.is_empty() {
            self.properties = ctx.op_info(self.name).default_properties(ctx);
            return;
        }
        let absent = |name| self.properties.entries(ctx).iter().all(|(own, _)| *own != name);
        let defaults = ctx.op_info(self.name).default_attrs(ctx).iter();
        let missing: Vec<_> =
            defaults.filter(|d| d.is_set && absent(d.name)).map(|d| (d.name, d.value)).collect();
        if !missing.is_empty() {
            self.properties = self.properties.with_all(ctx, &missing);
        }
    }

    /// Fills in the result types that follow from the operands' types by the definition. Returns
    /// whether all are known.
    pub fn infer_result_types(&mut self, body: &Body) -> bool {
        let ctx = body.ctx();
        let Some(def) = ctx.op_info(self.name).def() else { return false };
        if self.result_types.len() == def.results.len() {
            return true;
        }
        let operand_type = |name: &str| {
            let index = def.operands.iter().position(|o| o.name == name)?;
            let range = segment(&def.operands, index, self.operands.len())?;
            self.operands.get(range.start).map(|v| body.value_type(*v))
        };
        let same = def.traits.has(Trait::SameOperandsAndResultType);
        let mut types = Vec::with_capacity(def.results.len());
        for result in def.results.iter() {
            let first = || self.operands.first().map(|v| body.value_type(*v));
            let ty = result.ty.infer(ctx, &operand_type).or_else(|| if same { first() } else { None });
            match ty {
                Some(ty) => types.push(ty),
                None => return false,
            }
        }
        self.result_types = types;
        true
    }
}

/// Where new operations go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InsertPoint {
    /// Before an operation.
    Before(Op),
    /// After an operation; several go in the order they are made.
    After(Op),
    /// At the end of a block.
    End(Block),
    /// At the start of a block; several go in the order they are made.
    Start(Block),
}

/// Makes operations at a place.
pub struct Builder<'b> {
    body: &'b mut Body,
    point: InsertPoint,
    loc: Loc,
}

impl<'b> Builder<'b> {
    /// A builder at a place, with no location.
    pub fn new(body: &'b mut Body, point: InsertPoint) -> Self {
        Builder { body, point, loc: Loc::UNKNOWN }
    }

    /// A builder before an operation, with its location.
    pub fn before(body: &'b mut Body, op: Op) -> Self {
        let loc = body.loc(op);
        Builder { body, point: InsertPoint::Before(op), loc }
    }

    /// The body.
    pub fn body(&mut self) -> &mut Body {
        self.body
    }

    /// The context.
    pub fn ctx(&self) -> Context {
        self.body.ctx().clone()
    }

    /// The location that [`Builder::state`] gives.
    pub fn loc(&self) -> Loc {
        self.loc
    }

    /// Changes the location that [`Builder::state`] gives.
    pub fn set_loc(&mut self, loc: Loc) {
        self.loc = loc;
    }

    /// Goes elsewhere; returns where it was.
    pub fn set_point(&mut self, point: InsertPoint) -> InsertPoint {
        std::mem::replace(&mut self.point, point)
    }

    /// Where it is.
    pub fn point(&self) -> InsertPoint {
        self.point
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> Type {
        self.body.value_type(value)
    }

    /// The state of an operation of a definition, with the builder's location.
    pub fn state(&self, def: &OpDef) -> OperationState {
        OperationState::of(self.body.ctx(), def, self.loc)
    }

    /// Makes an operation and puts it in place. Absent attributes get their defaults.
    pub fn insert(&mut self, mut state: OperationState) -> Op {
        state.set_defaults(self.body.ctx());
        let op = self.body.create(state);
        self.place(op);
        op
    }

    /// Makes an operation with one result and puts it in place; its result type is inferred unless
    /// the state has it.
    ///
    /// # Panics
    /// If the result type is neither given nor inferable, or there is not exactly one result: a
    /// defect of the caller.
    pub fn value(&mut self, mut state: OperationState) -> Value {
        let known = state.infer_result_types(self.body);
        assert!(known && state.result_types.len() == 1, "one result whose type is known");
        let op = self.insert(state);
        self.body.result(op, 0)
    }

    /// Makes an operation of a definition and puts it in place: the values of each operand of the
    /// definition, attributes, and result types, which are inferred if there are none.
    ///
    /// The `build` functions of [`dialect!`](crate::dialect!) are typed forms of this one.
    ///
    /// # Panics
    /// If no result types are given, and they do not follow from the operands.
    pub fn build(
        &mut self,
        def: &OpDef,
        operands: &[&[Value]],
        attrs: &[(&str, Attr)],
        results: &[Type],
    ) -> Op {
        let ctx = self.ctx();
        let mut state = self.state(def).operands(&operands.concat()).results(results);
        state.set_attrs(&ctx, attrs);
        if def.traits.has(Trait::AttrSizedOperandSegments) {
            let sizes: Vec<i64> = operands.iter().map(|own| own.len() as i64).collect();
            state.set_segments(&ctx, &sizes);
        }
        let is_known = state.infer_result_types(self.body);
        assert!(is_known || !results.is_empty(), "the result types of '{}' do not follow", def.name);
        self.insert(state)
    }

    /// Puts an operation that stands nowhere in place.
    pub fn place(&mut self, op: Op) {
        match self.point {
            InsertPoint::Before(before) => self.body.insert_before(before, op),
            InsertPoint::End(block) => self.body.append_op(block, op),
            InsertPoint::After(after) => {
                self.body.insert_after(after, op);
                self.point = InsertPoint::After(op);
            }
            InsertPoint::Start(block) => {
                self.body.prepend_op(block, op);
                self.point = InsertPoint::After(op);
            }
        }
    }
}
