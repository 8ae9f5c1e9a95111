//! The summary of a loop nest: its iteration space and what it touches.
//!
//! Accesses of equal relation are one *class*: same object, same subscripts, same iteration space, same kind. A nest of a thousand
//! statements that all update `A[i]` in place has two classes. Variables are named by depth, not by value, so
//! the classes of two nests that are fused are merged by equality.
//!
//! A summary over-approximates: what is not affine touches the whole object, a condition does not shrink the iteration space, an operation nobody
//! knows touches the world. `exact` says where nothing was approximated.

use std::sync::Arc;

use hashbrown::HashMap;
use loomir_dialects::interfaces::{
    Bound, Effect, EffectKind, LoopBounds, LoopLike, MemoryAccess, MemoryEffects, Resource,
};
use loomir_dialects::memref;
use loomir_ir::{Attr, AttrKind, Block, Body, Context, DYNAMIC, Op, OpRef, Trait, TypeKind, Value};

use super::base::{AliasMode, Base, Bases};
use super::form::{Atom, Form, Forms};

/// Iteration vectors: all integer values of the levels for which every constraint is `>= 0`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Domain {
    /// How many levels there are.
    pub levels: u32,
    /// Forms that are not negative.
    pub constraints: Vec<Form>,
    /// Whether these are all there are.
    pub exact: bool,
}

/// Accesses of one relation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Class {
    /// The object.
    pub base: Base,
    /// The memref whose elements the subscripts name; `None` for those of the base itself, a global.
    pub origin: Option<Value>,
    /// One form for each dimension, `None` where it is not affine. `None` altogether: the whole object.
    pub subscripts: Option<Vec<Option<Form>>>,
    /// Whether it writes.
    pub writes: bool,
    /// For which iterations.
    pub domain: Arc<Domain>,
}

/// A class with one operation of it, to show.
#[derive(Clone, Debug)]
pub struct Representative {
    /// The class.
    pub class: Class,
    /// The first operation of the class.
    pub op: Op,
}

/// The iteration space of the outermost loop, comparable between loops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// The bounds as they are.
    pub bounds: LoopBounds,
    /// The one lower bound, if it is affine.
    pub lower: Option<Form>,
    /// `upper - lower` for each upper bound, if all are affine.
    pub extents: Option<Vec<Form>>,
    /// The step, if it is a positive constant.
    pub step: Option<i64>,
}

/// The summary of a loop nest.
#[derive(Clone, Debug)]
pub struct Nest {
    /// The outermost loop's iteration space.
    pub header: Header,
    /// Access classes in order of first appearance.
    pub classes: Vec<Representative>,
    index: HashMap<Class, usize>,
    /// An operation that touches the world or may not return.
    pub world: Option<Op>,
}

impl Nest {
    /// Summarises the nest of loop `root`. Linear in its operations.
    ///
    /// `root` must implement [`LoopLike`]; `None` if it does not.
    pub fn of(body: &Body, root: Op, mode: AliasMode) -> Option<Nest> {
        let block = body.block_of(root)?;
        let view = body.op_ref(root);
        let bounds = view.info().interface::<dyn LoopLike>()?.bounds(view);
        let mut scan = Scan::new(body, block, mode);
        let header = scan.header(bounds);
        scan.nest(root);
        Some(Nest { header, classes: scan.classes, index: scan.index, world: scan.world })
    }

    /// Adds the classes of another nest whose levels are numbered the same way.
    pub fn merge(&mut self, other: Nest) {
        for representative in other.classes {
            let next = self.classes.len();
            self.index.entry(representative.class.clone()).or_insert_with(|| {
                self.classes.push(representative);
                next
            });
        }
        self.world = self.world.or(other.world);
    }
}

/// What is known where a block stands: constraints on the induction variables of the loops around, which are parameters of what is inside.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Forms that are not negative.
    pub constraints: Vec<Form>,
    /// Whether these are all there are: every combination they allow occurs.
    pub exact: bool,
}

impl Surroundings {
    /// What is known in `block`. Linear in its depth and in the bounds around it.
    pub fn of(body: &Body, block: Block) -> Surroundings {
        let mut known = Surroundings { constraints: Vec::new(), exact: true };
        let mut forms = Forms::new(body, block);
        let mut around = body.region_parent(body.block_region(block));
        while let Some(outer) = body.block_of(around) {
            known.enter(body, around, &mut forms);
            around = body.region_parent(body.block_region(outer));
        }
        known
    }

    fn enter(&mut self, body: &Body, op: Op, forms: &mut Forms<'_>) {
        let view = body.op_ref(op);
        let model = view.info().interface::<dyn LoopLike>().filter(|model| !model.is_unsigned(view));
        let Some((model, inner)) = model.and_then(|m| Some((m, body.entry_block(m.body(view))?))) else {
            // A condition, or a loop nothing is known of.
            self.exact = false;
            return;
        };
        let variable = Form::atom(Atom::Param(body.argument(inner, 0)));
        let bounds = model.bounds(view);
        let lowers = forms.of_bound(&bounds.lower);
        match (&lowers[..], forms.of_step(bounds.step)) {
            (_, Some(1)) => {}
            // From one lower bound on, the variable takes every step-th value: what it is beyond a whole number of steps is not positive.
            ([Some(lower)], Some(step)) => {
                let beyond = variable.minus(lower).and_then(|d| d.modulo(step));
                self.add(beyond.and_then(|d| d.times(-1)));
            }
            _ => self.exact = false,
        }
        for lower in lowers {
            self.add(lower.and_then(|lower| variable.minus(&lower)));
        }
        for upper in forms.of_bound(&bounds.upper) {
            let last = upper.and_then(|upper| upper.minus(&variable));
            self.add(last.and_then(|f| f.plus(&Form::constant(1), -1)));
        }
    }

    fn add(&mut self, constraint: Option<Form>) {
        match constraint {
            Some(constraint) => self.constraints.push(constraint),
            None => self.exact = false,
        }
    }
}

/// Effects of one operation that stands outside the nests, as classes without levels. `None` if it may touch anything.
pub fn effects_of(body: &Body, op: Op, mode: AliasMode) -> Option<Vec<Class>> {
    let block = body.block_of(op)?;
    let mut scan = Scan::new(body, block, mode);
    let domain = Arc::new(Domain { exact: true, ..Domain::default() });
    scan.effects(op, &domain);
    if scan.world.is_some() { None } else { Some(scan.classes.into_iter().map(|r| r.class).collect()) }
}

struct Scan<'b> {
    body: &'b Body,
    forms: Forms<'b>,
    bases: Bases<'b>,
    classes: Vec<Representative>,
    index: HashMap<Class, usize>,
    world: Option<Op>,
}

impl<'b> Scan<'b> {
    /// Nothing seen yet, as seen from `block`.
    fn new(body: &'b Body, block: Block, mode: AliasMode) -> Self {
        Scan {
            body,
            forms: Forms::new(body, block),
            bases: Bases::new(body, mode),
            classes: Vec::new(),
            index: HashMap::new(),
            world: None,
        }
    }

    fn header(&mut self, bounds: LoopBounds) -> Header {
        let lower = self.single(&bounds.lower);
        let uppers: Option<Vec<Form>> = self.forms.of_bound(&bounds.upper).into_iter().collect();
        let extents = match (&lower, uppers) {
            (Some(lower), Some(uppers)) => uppers.iter().map(|upper| upper.minus(lower)).collect(),
            _ => None,
        };
        let step = self.forms.of_step(bounds.step);
        Header { bounds, lower, extents, step }
    }

    fn single(&mut self, bound: &Bound) -> Option<Form> {
        let mut forms = self.forms.of_bound(bound);
        if forms.len() == 1 { forms.pop().flatten() } else { None }
    }

    /// Visits everything inside `root`, keeping the iteration space of the loops that are entered.
    fn nest(&mut self, root: Op) {
        enum Visit {
            Op(Op, Arc<Domain>),
            Inside(Op, Arc<Domain>),
        }
        let outside = Domain { exact: true, ..Domain::default() };
        let view = self.body.op_ref(root);
        let Some(model) = view.info().interface::<dyn LoopLike>() else { return };
        let mut stack = vec![Visit::Inside(root, Arc::new(self.enter_loop(view, model, &outside)))];
        while let Some(visit) = stack.pop() {
            match visit {
                Visit::Op(op, domain) => {
                    let inner = self.enter(op, &domain);
                    if self.body.own_regions(op).len() > 0 {
                        stack.push(Visit::Inside(op, inner));
                    }
                }
                Visit::Inside(op, domain) => {
                    let mark = stack.len();
                    for region in self.body.own_regions(op) {
                        for block in self.body.blocks(region) {
                            stack.extend(self.body.ops(block).map(|op| Visit::Op(op, domain.clone())));
                        }
                    }
                    stack[mark..].reverse();
                }
            }
        }
    }

    /// Records the effects of `op` itself and returns the iteration space of what is inside it.
    fn enter(&mut self, op: Op, domain: &Arc<Domain>) -> Arc<Domain> {
        let view = self.body.op_ref(op);
        self.effects(op, domain);
        if let Some(model) = view.info().interface::<dyn LoopLike>() {
            return Arc::new(self.enter_loop(view, model, domain));
        }
        if self.body.own_regions(op).len() > 0 && domain.exact {
            // Something decides whether, or how often, what is inside runs.
            return Arc::new(Domain { exact: false, ..(**domain).clone() });
        }
        domain.clone()
    }

    fn enter_loop(&mut self, op: OpRef<'_>, model: &dyn LoopLike, outer: &Domain) -> Domain {
        let mut domain = outer.clone();
        let level = Form::atom(Atom::Level(domain.levels));
        domain.levels += 1;
        let Some(inner) = self.body.entry_block(model.body(op)) else { return domain };
        let variable = self.body.argument(inner, 0);
        if model.is_unsigned(op) {
            domain.exact = false;
            self.forms.set(variable, None);
            return domain;
        }
        let bounds = model.bounds(op);
        let lower = self.single(&bounds.lower);
        let step = self.forms.of_step(bounds.step);
        // With one affine lower bound the level counts iterations, otherwise it is the variable itself.
        let counted = match (&lower, step) {
            (Some(lower), Some(step)) => lower.plus(&level, step),
            _ => None,
        };
        let form = match counted {
            Some(form) => {
                domain.constraints.push(level);
                form
            }
            None => {
                domain.exact = domain.exact && step == Some(1);
                for lower in self.forms.of_bound(&bounds.lower) {
                    match lower.and_then(|lower| level.minus(&lower)) {
                        Some(constraint) => domain.constraints.push(constraint),
                        None => domain.exact = false,
                    }
                }
                level
            }
        };
        for upper in self.forms.of_bound(&bounds.upper) {
            let last =
                upper.and_then(|upper| upper.minus(&form)).and_then(|f| f.plus(&Form::constant(1), -1));
            match last {
                Some(constraint) => domain.constraints.push(constraint),
                None => domain.exact = false,
            }
        }
        self.forms.set(variable, Some(form));
        domain
    }

    fn effects(&mut self, op: Op, domain: &Arc<Domain>) {
        let view = self.body.op_ref(op);
        let info = view.info();
        if self.body.nested(op).is_some() || self.may_run_forever(op) {
            return self.touch_world(op, domain);
        }
        if let Some(model) = info.interface::<dyn MemoryAccess>() {
            let access = model.access(view);
            let (base, origin) = self.bases.of(access.memref);
            let subscripts = has_separate_elements(self.body.ctx(), self.body.value_type(access.memref))
                .then(|| self.forms.of_subscripts(&access.subscripts));
            let names_global =
                self.body.defining_op(origin).is_some_and(|op| self.body.is(op, memref::GetGlobalOp::DEF));
            let class = Class {
                base,
                origin: (!names_global).then_some(origin),
                subscripts,
                writes: access.stored.is_some(),
                domain: domain.clone(),
            };
            return self.add(class, op);
        }
        let harmless = [Trait::Pure, Trait::RecursiveMemoryEffects, Trait::ReturnLike];
        if let Some(model) = info.interface::<dyn MemoryEffects>() {
            if model.may_not_return(view) {
                self.touch_world(op, domain);
            }
            for effect in model.effects(view) {
                self.effect(op, effect, domain);
            }
        } else if !harmless.into_iter().any(|t| info.has_trait(t)) {
            self.touch_world(op, domain);
        }
    }

    /// Whether blocks inside an operation branch, so that it may repeat them without end.
    fn may_run_forever(&self, op: Op) -> bool {
        self.body.own_regions(op).any(|region| self.body.blocks(region).nth(1).is_some())
    }

    fn effect(&mut self, op: Op, effect: Effect, domain: &Arc<Domain>) {
        let base = match effect.on {
            Resource::Value(value) => self.bases.of(value).0,
            Resource::Global(name) => Base::Global(name),
            Resource::World => return self.touch_world(op, domain),
        };
        if effect.kind == EffectKind::Allocate {
            // A new object; nobody else can know it yet.
            return;
        }
        let writes = effect.kind != EffectKind::Read;
        self.add(Class { base, origin: None, subscripts: None, writes, domain: domain.clone() }, op);
    }

    fn touch_world(&mut self, op: Op, domain: &Arc<Domain>) {
        self.world = self.world.or(Some(op));
        let class =
            Class { base: Base::World, origin: None, subscripts: None, writes: true, domain: domain.clone() };
        self.add(class, op);
    }

    fn add(&mut self, class: Class, op: Op) {
        let next = self.classes.len();
        self.index.entry(class.clone()).or_insert_with(|| {
            self.classes.push(Representative { class, op });
            next
        });
    }
}

/// Whether different subscripts in bounds are different memory: the identity layout, or static strides that leave no
/// overlap.
fn has_separate_elements(ctx: &Context, ty: loomir_ir::Type) -> bool {
    let TypeKind::MemRef { shape: Some(shape), layout, .. } = ty.kind(ctx) else { return false };
    match layout {
        None => true,
        Some(layout) => has_separate_strides(ctx, *layout, shape),
    }
}

fn has_separate_strides(ctx: &Context, layout: Attr, shape: &[i64]) -> bool {
    let AttrKind::Strided { strides, .. } = layout.kind(ctx) else { return false };
    let mut dims: Vec<(i64, i64)> = strides.iter().copied().zip(shape.iter().copied()).collect();
    if dims.iter().any(|(stride, size)| *stride == DYNAMIC || *stride <= 0 || *size < 0) {
        return false;
    }
    dims.sort_unstable();
    dims.windows(2).all(|pair| pair[0].0.checked_mul(pair[0].1).is_some_and(|extent| extent <= pair[1].0))
}
