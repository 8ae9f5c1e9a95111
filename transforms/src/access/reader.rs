//! The reader of accesses: it derives access classes of operations, and iteration domains of loops.
//!
//! An access is an object, subscripts as affine forms over the surrounding loops, and a flag for
//! writes. An operation with regions is summarised with its contents, inner loops as further
//! levels. Nothing is left out. A subscript that is not affine touches the whole object. A
//! condition restricts an iteration domain by its affine part. A call has the effects of the
//! function that it [calls](super::callees). An unknown operation touches the world. `exact` is
//! true if nothing was approximated.
//!
//! # Assumptions
//!
//! - An operation that may be undefined and touches no memory reads `Exit`, including allocations
//!   and the headers of loops and conditionals. Tried in `fixtures/fusion/may_not_return.mlir`.
//! - Arguments of the current function are not poison where they bound loops or decide; those of
//!   called functions may be.
//! - A vector that begins at a multiple of its length stays in its row, if the row is a multiple
//!   too. Elsewhere it touches the whole object. Tried in `fixtures/fusion/vectors.mlir`.
//! - Transfers of vectors stay in their row. Masked ones need not touch an element. Tried in
//!   `fixtures/fusion/vector_dialect.mlir`.
//! - Atomic updates read and write their whole object. Tried in `tests/tests/all/hazards.rs`.

use std::sync::{Arc, OnceLock};

use loomir_dialects::interfaces::{
    self, CallLike, Conditional, Decision, Effect, EffectKind, LoopBounds, LoopLike, MemoryAccess,
    MemoryEffects, Resource, VectorAccess,
};
use loomir_ir::{Block, Body, DYNAMIC, Op, Region, Trait, Value};

use super::Analyses;
use super::base::{AliasMode, Base, Bases};
use super::callees::summary::Call;
use super::class::{Class, Domain, Effects, Space};
use super::elements::{Elements, Site};
use super::pointers::{self, Bytes, Units};
use super::supposed::Supposed;
use super::updates::{Reduction, updates_by};
use crate::affine::classes::may_be_poison;
use crate::affine::condition::Condition;
use crate::affine::surroundings::Surroundings;
use crate::affine::{AffineForm, Forms};

/// Derives the accesses of operations from their interfaces.
pub struct Reader<'b> {
    pub(super) body: &'b Body,
    pub(super) forms: Forms<'b>,
    bases: Bases<'b>,
    surroundings: Surroundings,
    pub(super) analyses: &'b Analyses,
    /// True if arguments of the function are taken not to be poison.
    trusts_arguments: bool,
    /// For each loop around the last visited operation, from the outside, forms that are not
    /// negative.
    around: Vec<Vec<AffineForm>>,
    /// For each number of loops, the domain of all their iterations.
    everywhere: Vec<Arc<Domain>>,
    /// The widths of accesses through pointers, once needed.
    units: Arc<OnceLock<Units>>,
    /// Forms under assumptions, once needed.
    pub(super) supposed: Supposed<'b>,
}

impl<'b> Reader<'b> {
    /// Returns a reader for `block` that has read nothing yet.
    pub fn new(body: &'b Body, block: Block, mode: AliasMode, analyses: &'b Analyses) -> Self {
        let (surroundings, forms) =
            Surroundings::of(body, block, &*analyses.closed_forms, &analyses.shared.saturation);
        let (around, everywhere) = (Vec::new(), Vec::new());
        let (bases, trusts_arguments) = (Bases::new(body, mode).with_variables(&analyses.variables), true);
        Reader {
            body,
            forms,
            bases,
            surroundings,
            analyses,
            trusts_arguments,
            around,
            everywhere,
            units: analyses.shared.units.clone().unwrap_or_default(),
            supposed: Supposed::new(block),
        }
    }

    /// Returns the same reader for callers of the function: see [`Forms::spell_out`].
    #[must_use]
    pub fn from_outside(mut self) -> Self {
        self.forms.spell_out();
        // What a call passes may be.
        self.trusts_arguments = false;
        self
    }

    /// Returns the facts that hold at the block, including facts about the parameters of everything
    /// read.
    pub fn surroundings(&mut self) -> Surroundings {
        Surroundings { facts: Arc::new(self.forms.facts()), ..self.surroundings.clone() }
    }

    /// Returns the objects.
    pub fn bases(&self) -> &Bases<'b> {
        &self.bases
    }

    /// Makes the values defined directly in the body of an entered loop known by name.
    pub fn enter(&mut self, block: Block) {
        self.forms.enter(block);
        self.supposed.enter(block);
    }

    /// Returns the iteration domain of a loop inside `depth` others. `op` must implement
    /// [`LoopLike`].
    pub fn space(&mut self, op: Op, model: &dyn LoopLike, depth: u32) -> Space {
        let view = self.body.op_ref(op);
        let block = self.body.entry_block(model.body(view));
        let variable = block.map(|block| self.body.argument(block, 0));
        self.space_within(model.bounds(view), model.is_unsigned(view), variable, depth)
    }

    /// Returns the iteration domain of a loop inside `depth` others with these bounds. Its
    /// induction variable has the form of that loop's level from now on.
    pub fn space_within(
        &mut self,
        bounds: LoopBounds,
        unsigned: bool,
        induction: Option<Value>,
        depth: u32,
    ) -> Space {
        let mut lowers = self.forms.of_bound(&bounds.lower);
        let uppers = match unsigned {
            true => self.forms.of_bound(&bounds.upper),
            false => self.forms.of_upper_bound(&bounds.upper),
        };
        let step = self.forms.of_step(bounds.step);
        let level = AffineForm::level(depth);
        let mut domain = Domain { levels: depth + 1, constraints: Vec::new(), exact: !unsigned };
        let single = if lowers.len() == 1 { lowers[0].clone() } else { None };
        let counted = match (&single, step) {
            (Some(lower), Some(step)) if !unsigned => lower.plus(&level, step),
            _ => None,
        };
        let lower = if counted.is_some() { single } else { None };
        let variable = match counted {
            Some(form) => {
                domain.constraints.push(level);
                Some(form)
            }
            None if unsigned => None,
            None => {
                domain.exact = domain.exact && step == Some(1);
                for lower in lowers.drain(..) {
                    push(&mut domain, lower.and_then(|lower| level.minus(&lower)));
                }
                Some(level)
            }
        };
        let starts = if unsigned { Vec::new() } else { self.forms.below_lower_bound(&bounds.lower) };
        if let Some(variable) = &variable {
            for upper in &uppers {
                let last = upper.as_ref().and_then(|upper| upper.minus(variable));
                push(&mut domain, last.and_then(|f| f.plus(&AffineForm::constant(1), -1)));
            }
        }
        if let Some(value) = induction {
            self.forms.set(value, variable.clone());
            self.forms.bound(depth, value, &domain.constraints);
            self.supposed.set(depth, value, variable.clone(), &domain.constraints);
        }
        self.around.resize(depth as usize, Vec::new());
        self.around.push(domain.constraints.clone());
        Space { bounds, lower, starts, uppers, step, unsigned, variable, domain }
    }

    /// Returns the effects of `op` inside `depth` loops, including its contents. Linear.
    pub fn effects(&mut self, op: Op, depth: u32) -> Effects {
        enum Visit {
            Op(Op, Arc<Domain>),
            Inside(Region, Arc<Domain>),
        }
        let mut effects = Effects::default();
        let domain = self.everywhere(depth);
        if self.body.own_regions(op).len() == 0 {
            self.own_effects(op, &domain, &mut effects);
            return effects;
        }
        let mut stack = vec![Visit::Op(op, domain)];
        while let Some(visit) = stack.pop() {
            match visit {
                Visit::Op(op, domain) => {
                    self.own_effects(op, &domain, &mut effects);
                    let mark = stack.len();
                    for (index, region) in self.body.own_regions(op).enumerate() {
                        stack.push(Visit::Inside(region, self.inside(op, index, &domain)));
                    }
                    stack[mark..].reverse();
                }
                Visit::Inside(region, domain) => {
                    let mark = stack.len();
                    for block in self.body.blocks(region) {
                        stack.extend(self.body.ops(block).map(|op| Visit::Op(op, domain.clone())));
                    }
                    stack[mark..].reverse();
                }
            }
        }
        effects
    }

    /// Returns the domain of all iterations of this many loops.
    pub(super) fn everywhere(&mut self, depth: u32) -> Arc<Domain> {
        while self.everywhere.len() <= depth as usize {
            let levels = self.everywhere.len() as u32;
            self.everywhere.push(Arc::new(Domain { levels, constraints: Vec::new(), exact: true }));
        }
        self.everywhere[depth as usize].clone()
    }

    /// Returns the constraints that a decision implies.
    pub fn condition(&mut self, decision: &Decision) -> Condition {
        self.analyses.control_flow.condition(&mut self.forms, decision)
    }

    /// Returns the iteration domain of the contents of a region of an operation.
    fn inside(&mut self, op: Op, region: usize, domain: &Arc<Domain>) -> Arc<Domain> {
        let view = self.body.op_ref(op);
        let mut inner = if let Some(model) = view.info().interface::<dyn LoopLike>() {
            let mut inner = self.space(op, model, domain.levels).domain;
            inner.constraints.splice(0..0, domain.constraints.iter().cloned());
            inner
        } else {
            let conditional = view.info().interface::<dyn Conditional>();
            let decision = conditional.and_then(|model| model.decision(view));
            // Without a decision, it is unknown if, or how often, the contents run.
            let condition = decision.map_or_else(Condition::opaque, |decision| self.condition(&decision));
            let outcome = condition.outcome(region == 0);
            if outcome.constraints.is_empty() && outcome.exact >= domain.exact {
                return domain.clone();
            }
            let mut inner = (**domain).clone();
            inner.constraints.extend_from_slice(&outcome.constraints);
            inner.exact = outcome.exact;
            inner
        };
        inner.exact &= domain.exact;
        Arc::new(inner)
    }

    fn own_effects(&mut self, op: Op, domain: &Arc<Domain>, effects: &mut Effects) {
        let view = self.body.op_ref(op);
        let info = view.info();
        if self.body.nested(op).is_some() || self.may_run_forever(op) {
            return effects.touch_world(op, domain);
        }
        if let Some(model) = info.interface::<dyn MemoryAccess>() {
            let access = model.access(view);
            let mut class = self.located(&access, domain);
            class.update = self.update(op, &access, &class);
            return effects.classes.push((class, op));
        }
        let harmless = [Trait::Pure, Trait::RecursiveMemoryEffects, Trait::ReturnLike];
        if let Some(model) = info.interface::<dyn MemoryEffects>() {
            if model.may_not_return(view) {
                effects.touch_world(op, domain);
            }
            let before = effects.classes.len();
            for effect in model.effects(view) {
                self.effect(op, effect, domain, effects);
            }
            // An operation that touches existing memory already stays behind an exit for that
            // reason.
            if effects.classes.len() == before
                && header_may_be_undefined(self.body, op, self.trusts_arguments)
            {
                effects.classes.push((Class::whole(Base::Exit, false, domain), op));
            }
        } else if let Some(classes) = self.called(op, domain) {
            effects.classes.extend(classes.into_iter().map(|class| (class, op)));
        } else if !harmless.into_iter().any(|t| info.has_trait(t)) {
            effects.touch_world(op, domain);
        } else if header_may_be_undefined(self.body, op, self.trusts_arguments) {
            effects.classes.push((Class::whole(Base::Exit, false, domain), op));
        }
    }

    /// Returns the classes of a call, if a summary of the called function is known.
    fn called(&mut self, op: Op, domain: &Arc<Domain>) -> Option<Vec<Class>> {
        let view = self.body.op_ref(op);
        let model = view.info().interface::<dyn CallLike>()?;
        let summary = self.analyses.callees.called_by(self.body, op)?;
        let Reader { body, forms, bases, .. } = self;
        summary.classes_at(Call { body, operands: model.arguments(view), forms, bases, domain })
    }

    /// Returns the class of an access.
    fn located(&mut self, access: &interfaces::Access, domain: &Arc<Domain>) -> Class {
        let (base, origin) = self.bases.of(access.memref);
        let (body, analyses, writes) = (self.body, self.analyses, access.stored.is_some());
        let Reader { forms, bases, around, supposed, .. } = self;
        let mut site = Site { body, access: Some(access), base, origin, forms, bases, domain, around };
        let mut found = analyses.accesses.locate(&mut site);
        if let Some(found) = found.as_mut().filter(|found| !found.is_known(site.forms)) {
            let locate = |site: &mut Site<'_, 'b>| analyses.accesses.locate(site);
            let values = &access.subscripts.operands;
            found.conditional = supposed.elements(&mut site, values, analyses, &locate);
        }
        let (origin, sizes, subscripts, conditional) = match found {
            Some(found) => (found.origin, found.sizes, Some(found.subscripts), found.conditional),
            None => (origin, Vec::new(), None, None),
        };
        let (origin, conditional) = (Class::named_origin(body, origin), conditional.map(Arc::new));
        let whole = Class::whole(base, writes, domain);
        Class { origin, sizes, subscripts, conditional, ..whole }
    }

    /// Returns the class of a load or store through a pointer. `None` if it may be anywhere in its
    /// object.
    pub(super) fn located_bytes(&mut self, op: Op, writes: bool, domain: &Arc<Domain>) -> Option<Class> {
        let (body, analyses) = (self.body, self.analyses);
        let layout = analyses.layout.as_deref()?;
        let (pointer, width) = pointers::accessed(body, op, layout)?;
        let (base, _) = self.bases.of(pointer);
        let units = self.units.get_or_init(|| Units::of(body, &mut self.bases, layout));
        let unit = units.unit(base);
        let unit = if pointers::counts_in(body, pointer, width, unit, layout) { unit } else { 1 };
        let (bytes, origin) = (Bytes { pointer, width, unit }, pointers::root(body, pointer));
        let Reader { forms, bases, around, supposed, .. } = self;
        let mut site = Site { body, access: None, base, origin, forms, bases, domain, around };
        let mut found = analyses.accesses.locate_bytes(&mut site, bytes, layout);
        if !found.as_ref().is_some_and(|found| found.is_known(site.forms)) {
            let locate = |site: &mut Site<'_, 'b>| analyses.accesses.locate_bytes(site, bytes, layout);
            let conditional = supposed.elements(&mut site, &[pointer], analyses, &locate);
            let by_itself = conditional.is_some().then(|| Elements::anywhere(origin));
            found = found.or(by_itself).map(|found| Elements { conditional, ..found });
        }
        let found = found?;
        let (mut subscripts, mut conditional) = (found.subscripts, found.conditional);
        let (count, own) = (width / unit, AffineForm::level(domain.levels));
        let domain = widened(&mut subscripts, count, domain)?;
        if let (2.., Some(found)) = (count, &mut conditional) {
            let last = found.subscripts.last_mut()?;
            *last = last.plus(&own, 1)?;
        }
        let origin = Class::named_origin(body, found.origin);
        let whole = Class::whole(base, writes, &domain);
        let (sizes, subscripts, conditional) = (found.sizes, Some(subscripts), conditional.map(Arc::new));
        Some(Class { origin, sizes, subscripts, conditional, unit, ..whole })
    }

    /// Returns the class of a load or store of a vector. `None` if it may be anywhere in its
    /// object.
    fn located_vector(&mut self, op: Op, domain: &Arc<Domain>) -> Option<Class> {
        let view = self.body.op_ref(op);
        let model = view.info().interface::<dyn VectorAccess>()?;
        let (access, count) = (model.first(view), model.count(view)?);
        let mut class = self.located(&access, domain);
        let ctx = self.body.ctx();
        let shape = self.body.value_type(access.memref).shape(ctx)?;
        let subscripts = class.subscripts.as_mut().filter(|all| all.len() == shape.len())?;
        // Neighbours in a view, or in digits of one subscript, need not be neighbours there.
        if self.bases.of(access.memref).1 != access.memref || !class.sizes.is_empty() {
            return None;
        }
        // A vector may go on in the next row, if it may begin anywhere.
        if let ([_, .., row], false) = (shape, model.stays_in_row(view)) {
            let last = subscripts.last()?.as_ref()?;
            let mut numbers = last.terms().iter().map(|(_, number)| *number);
            let begins_at_multiple = last.constant_part() % count == 0 && numbers.all(|own| own % count == 0);
            if *row == DYNAMIC || row % count != 0 || !begins_at_multiple {
                return None;
            }
        }
        class.domain = widened(subscripts, count, domain)?;
        // No element is sure to be touched.
        if model.is_partial(view) && class.domain.exact {
            class.domain = Arc::new(Domain { exact: false, ..(*class.domain).clone() });
        }
        // The conditions are about the first element.
        class.conditional = None;
        Some(class)
    }

    /// Returns the reduction of the update that an access of this class is part of.
    fn update(&mut self, op: Op, access: &interfaces::Access, class: &Class) -> Option<Reduction> {
        let is_one = class.subscripts.as_ref().is_some_and(|all| all.iter().all(Option::is_some));
        let updates = if is_one { updates_by(self.body, op, access) } else { Vec::new() };
        let same_element = |this: &mut Self, other: Op| {
            let view = this.body.op_ref(other);
            view.info().interface::<dyn MemoryAccess>().is_some_and(|model| {
                let other = this.located(&model.access(view), &class.domain);
                let place = |class: &Class| (class.base, class.origin);
                place(&other) == place(class)
                    && (&other.sizes, &other.subscripts) == (&class.sizes, &class.subscripts)
            })
        };
        let found = updates.into_iter().find(|update| {
            let partner = if op == update.load { update.store } else { update.load };
            same_element(self, partner) && !update.other.is_some_and(|other| same_element(self, other))
        });
        found.map(|update| update.by)
    }

    /// True if an operation has several blocks in a region, so that they may form an endless loop.
    fn may_run_forever(&self, op: Op) -> bool {
        self.body.own_regions(op).any(|region| self.body.blocks(region).nth(1).is_some())
    }

    fn effect(&mut self, op: Op, effect: Effect, domain: &Arc<Domain>, effects: &mut Effects) {
        let base = match effect.on {
            Resource::Value(value) => self.bases.of(value).0,
            Resource::Global(name) => Base::Global(name),
            Resource::World => return effects.touch_world(op, domain),
        };
        if effect.kind == EffectKind::Allocate {
            // A new object, not known elsewhere yet.
            return;
        }
        let writes = effect.kind != EffectKind::Read;
        let located = match effect.on {
            Resource::Value(_) => {
                let bytes = self.located_bytes(op, writes, domain);
                bytes.or_else(|| self.located_vector(op, domain))
            }
            _ => None,
        };
        let class = located.unwrap_or_else(|| Class::whole(base, writes, domain));
        effects.classes.push((class, op));
    }
}

impl Effects {
    /// Returns the effects of one operation followed by another with effects `other`.
    pub fn and_then(mut self, other: Effects) -> Effects {
        self.classes.extend(other.classes);
        Effects { world: self.world.or(other.world), ..self }
    }

    fn touch_world(&mut self, op: Op, domain: &Arc<Domain>) {
        self.world = self.world.or(Some(op));
        self.classes.push((Class::whole(Base::World, true, domain), op));
    }
}

/// True if operands may make an operation undefined before its contents run. Examples are a divisor
/// or a step that may be zero. For a loop or conditional, bounds and conditions that may be poison
/// count too. If `trusts_arguments`, arguments of the function are assumed not to be poison.
pub fn header_may_be_undefined(body: &Body, op: Op, trusts_arguments: bool) -> bool {
    let view = body.op_ref(op);
    let info = view.info();
    // What a loop carries in comes last, and may be anything.
    let inits = info.interface::<dyn LoopLike>().map_or(0, |model| model.inits(view).len());
    let decides = if body.own_regions(op).len() > 0 { body.num_operands(op) - inits } else { 0 };
    info.interface::<dyn MemoryEffects>().is_some_and(|model| model.may_be_undefined(view))
        || body.operands(op).take(decides).any(|value| may_be_poison(body, value, trusts_arguments))
}

/// Adds the elements behind the one with these subscripts, up to `count`. Returns the domain, in
/// which one more level counts the elements.
fn widened(subscripts: &mut [Option<AffineForm>], count: i64, domain: &Arc<Domain>) -> Option<Arc<Domain>> {
    let Some(last) = subscripts.last_mut().filter(|_| count > 1) else { return Some(domain.clone()) };
    let own = AffineForm::level(domain.levels);
    *last = last.as_ref().and_then(|first| first.plus(&own, 1));
    let below = AffineForm::constant(count.checked_sub(1)?).minus(&own)?;
    let mut inner = (**domain).clone();
    inner.levels += 1;
    inner.constraints.extend([own, below]);
    Some(Arc::new(inner))
}

fn push(domain: &mut Domain, constraint: Option<AffineForm>) {
    match constraint {
        Some(constraint) => domain.constraints.push(constraint),
        None => domain.exact = false,
    }
}
