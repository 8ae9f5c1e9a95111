//! Random [`Program`]s: a few neighbouring loop nests over a few small buffers.
//!
//! The programs contain the hard cases of fusion. One buffer has several names (casts, views, a
//! second `get_global`, selections, two arguments). Subscripts read ahead and behind, and use
//! strides, reversal and quotients. Iteration domains are triangular, unequal or empty. There are
//! carried values, calls and frees between loops, and calls that load or store an element.
//!
//! Subscripts are drawn freely. Then they are shifted or wrapped into bounds by their values over
//! the (small, known) iteration domain, so that almost every program runs without a fault. Equal
//! extents and equal subscripts are frequent enough that about half of the programs have something
//! to fuse.

use crate::program::{
    Aliasing, Callee, Carried, Condition, Element, Expr, Item, Kind, Loop, LoopId, MemRefId, Operator,
    Program, Relation, Source, Style, Test, ValueId,
};
use crate::random::Random;

mod memrefs;
mod numbers;
mod orders;
mod update;

/// Returns a random program. Equal seeds give equal programs.
pub fn generate(random: &mut Random) -> Program {
    let mut generator = Generator::new(random);
    generator.memrefs();
    generator.body();
    generator.program.style.flags = generator.random.chance(50);
    generator.program.style.calls = generator.random.chance(25);
    generator.program
}

/// Returns ways to pass buffers to a program: first all distinct, then some of them as one buffer
/// where types allow.
pub fn aliasings(program: &Program, random: &mut Random) -> Vec<Aliasing> {
    let arguments: Vec<MemRefId> = program.argument_memrefs().collect();
    let distinct = Aliasing((0..arguments.len()).collect());
    let mut shared = distinct.clone();
    for i in 1..arguments.len() {
        let may = |m: MemRefId| !matches!(program.memrefs[m].source, Source::Argument { noalias: true });
        let partners: Vec<usize> = (0..i)
            .filter(|j| {
                let (a, b) = (&program.memrefs[arguments[*j]], &program.memrefs[arguments[i]]);
                a.shape == b.shape && may(arguments[*j]) && may(arguments[i])
            })
            .collect();
        if !partners.is_empty() && random.chance(70) {
            shared.0[i] = shared.0[*random.pick(&partners)];
        }
    }
    if shared == distinct { vec![distinct] } else { vec![distinct, shared] }
}

/// The maximal number of instances of a statement, so that every case is quick.
const MAX_INSTANCES: usize = 600;

struct Generator<'r> {
    random: &'r mut Random,
    program: Program,
    /// The usual trip count of the outermost loops.
    extent: i64,
    /// Memrefs that may be accessed. Preferred ones occur several times.
    pool: Vec<MemRefId>,
    next_value: ValueId,
    next_loop: LoopId,
    kind: usize,
    last_bounds: Option<Bounds>,
    last_condition: Option<Condition>,
    last_update: Option<(MemRefId, Vec<Expr>)>,
    /// The percentage of statements that are updates.
    updates: i64,
    /// Allocations that pass values from one nest to the next and are not live-out.
    temporaries: Vec<MemRefId>,
}

/// Lower and upper bounds and the step of a loop.
type Bounds = (Vec<Expr>, Vec<Expr>, i64);

/// The generator's position: the surrounding loops and all combinations of their induction
/// variables' values.
#[derive(Clone, Default)]
struct Place {
    loops: Vec<LoopId>,
    kinds: Vec<Kind>,
    /// For each instance the value of each variable in `loops`.
    instances: Vec<Vec<i64>>,
    /// Values that may be used.
    values: Vec<ValueId>,
}

impl<'r> Generator<'r> {
    fn new(random: &'r mut Random) -> Generator<'r> {
        let element = [Element::I32, Element::I64, Element::F32][random.weighted(&[40, 30, 30])];
        let extent = random.range(3, 6);
        let kind = random.weighted(&[42, 42, 6, 5, 5]);
        let updates = [12, 85][random.weighted(&[75, 25])];
        let style = Style {
            apply: random.chance(40),
            nsw: random.chance(50),
            local_constants: random.chance(25),
            flags: false,
            calls: false,
        };
        let parameters = vec![random.range(2, 5)];
        let program = Program {
            element,
            parameters,
            memrefs: Vec::new(),
            constants: vec![(0, element.of_number(2))],
            body: Vec::new(),
            returns: Vec::new(),
            style,
        };
        Generator {
            random,
            program,
            extent,
            pool: Vec::new(),
            next_value: 1,
            next_loop: 0,
            kind,
            last_bounds: None,
            last_condition: None,
            last_update: None,
            updates,
            temporaries: Vec::new(),
        }
    }

    fn value(&mut self) -> ValueId {
        self.next_value += 1;
        self.next_value - 1
    }

    fn body(&mut self) {
        let mut place = Place { instances: vec![Vec::new()], values: vec![0], ..Place::default() };
        let mut items = Vec::new();
        // An allocation is undefined at first. The kernel's own loops or a call fill it.
        for m in 0..self.program.memrefs.len() {
            if self.program.memrefs[m].source == Source::Allocation {
                if self.random.chance(85) {
                    items.push(Item::Call(Callee::Fill, m));
                } else {
                    let nest = self.fill(m);
                    items.push(nest);
                }
            }
        }
        let nests = self.random.range(2, 4);
        let guarded = self.random.chance(8);
        let mut inner = Vec::new();
        let mut freed = Vec::new();
        for n in 0..nests {
            if n > 0 && self.random.chance(14) {
                self.between(&mut place, &mut inner, &mut freed);
            }
            let depth = 1 + self.random.weighted(&[48, 38, 11, 3]);
            let nest = self.nest(&place, depth);
            if self.random.chance(9) {
                inner.extend(self.under_conditions(&place, vec![nest]));
                continue;
            }
            if let Item::Loop(Loop { carried: Some(carried), .. }) = &nest {
                if self.random.chance(60) && !guarded {
                    self.program.returns.push(carried.result);
                } else if self.random.chance(50) {
                    place.values.push(carried.result);
                }
            }
            inner.push(nest);
            if self.random.chance(12) {
                self.temporary(&place, &mut inner);
            }
            if self.random.chance(9) {
                self.transposed(&place, &mut inner);
            }
            if self.random.chance(6) {
                self.mirrored(&place, &mut inner);
            }
            if self.random.chance(5) {
                self.symbolic(&place, &mut inner, guarded);
            }
        }
        if guarded {
            let limit = self.random.range(1, 6);
            let test = Test { expr: Expr::Parameter(0), relation: Relation::Below, number: limit };
            items.push(Item::If(Condition::All(vec![test]), inner, Vec::new()));
        } else {
            items.extend(inner);
        }
        // Buffers that are no arguments are copied to one, so that their contents are visible.
        for m in 0..self.program.memrefs.len() {
            let memref = self.program.memrefs[m].clone();
            let kept = !freed.contains(&m) && !self.temporaries.contains(&m);
            if matches!(memref.source, Source::Allocation | Source::Global(_)) && kept {
                let out = self.base(Source::Argument { noalias: true }, memref.shape);
                items.push(Item::Copy(m, out));
            }
        }
        self.program.body = items;
    }

    /// Returns a nest that writes every element.
    fn fill(&mut self, memref: MemRefId) -> Item {
        let bounds: Vec<(i64, i64)> =
            self.program.memrefs[memref].shape.iter().map(|size| (0, *size)).collect();
        let kind = self.loop_kind();
        self.box_nest(&Place::default(), kind, &bounds, &mut |this, inner, body| {
            let at: Vec<Expr> = inner.loops.iter().map(|id| Expr::Variable(*id)).collect();
            let value = this.value();
            body.extend([Item::Index(value, at[0].clone()), Item::Store(value, memref, at)]);
        })
    }

    /// Makes nests that pass values on in an allocation of their own. The first nest writes each
    /// element. The last reads some of them, and their neighbours before or behind.
    fn temporary(&mut self, place: &Place, items: &mut Vec<Item>) {
        let depth = 1 + usize::from(self.random.chance(35));
        let spread = self.random.range(0, 2);
        let behind = self.random.chance(50);
        let shape = vec![self.extent + spread; depth];
        let temporary = self.base(Source::Allocation, shape);
        self.pool.retain(|m| *m != temporary);
        self.temporaries.push(temporary);
        let kind = if self.random.chance(50) { Kind::Affine } else { Kind::Scf };
        let all = (0, self.extent + spread);
        let producer = self.box_nest(place, kind, &vec![all; depth], &mut |this, inner, body| {
            this.statement(inner, body);
            let at: Vec<Expr> = inner.loops.iter().map(|id| Expr::Variable(*id)).collect();
            let value = *this.random.pick(&inner.values.clone());
            let store = Item::Store(value, temporary, at.clone());
            if this.random.chance(15) {
                let other = *this.random.pick(&inner.values.clone());
                let number = this.random.range(1, this.extent);
                let test = Test { expr: at[0].clone(), relation: Relation::Below, number };
                body.push(Item::If(
                    Condition::All(vec![test]),
                    vec![store],
                    vec![Item::Store(other, temporary, at)],
                ));
            } else {
                body.push(store);
            }
        });
        items.push(producer);
        let some = if behind { (spread, self.extent + spread) } else { (0, self.extent) };
        let consumer = self.box_nest(place, kind, &vec![some; depth], &mut |this, inner, body| {
            for _ in 0..this.random.range(1, 3) {
                let at = inner.loops.iter().map(|id| {
                    let distance = this.random.range(0, spread);
                    let distance = Expr::Constant(if behind { -distance } else { distance });
                    Expr::Add(Box::new(Expr::Variable(*id)), Box::new(distance))
                });
                let at = at.collect();
                let value = this.value();
                body.push(Item::Load(value, temporary, at));
                inner.values.push(value);
            }
            this.statement(inner, body);
        });
        items.push(consumer);
        if self.random.chance(50) {
            items.push(Item::Dealloc(temporary));
        }
    }

    /// Returns a nest of loops from the first of these numbers to the last one, exclusive.
    fn box_nest(
        &mut self,
        place: &Place,
        kind: Kind,
        bounds: &[(i64, i64)],
        fill: &mut dyn FnMut(&mut Self, &mut Place, &mut Vec<Item>),
    ) -> Item {
        let mut inner = Place { values: place.values.clone(), ..Place::default() };
        inner.instances.push(Vec::new());
        for (first, end) in bounds {
            inner.loops.push(self.loop_id());
            inner.kinds.push(kind);
            let longer = |i: &Vec<i64>| (*first..*end).map(|v| [&i[..], &[v]].concat()).collect::<Vec<_>>();
            inner.instances = inner.instances.iter().flat_map(longer).collect();
        }
        let ids = inner.loops.clone();
        let mut body = Vec::new();
        fill(self, &mut inner, &mut body);
        for (id, (first, end)) in ids.into_iter().zip(bounds).rev() {
            let (lower, upper) = (vec![Expr::Constant(*first)], vec![Expr::Constant(*end)]);
            body = vec![Item::Loop(Loop { id, kind, lower, upper, step: 1, carried: None, body })];
        }
        body.remove(0)
    }

    /// Something between two loops.
    fn between(&mut self, place: &mut Place, items: &mut Vec<Item>, freed: &mut Vec<MemRefId>) {
        match self.random.weighted(&[30, 25, 15, 15, 15]) {
            0 => {
                let (memref, at) = self.place_in(place);
                let value = self.value();
                items.push(Item::Load(value, memref, at));
                place.values.push(value);
            }
            1 => {
                let value = *self.random.pick(&place.values.clone());
                let (memref, at) = self.place_in(place);
                items.push(Item::Store(value, memref, at));
            }
            2 => {
                let memref = *self.random.pick(&self.pool.clone());
                if !self.program.memrefs[memref].dynamic && self.program.memrefs[memref].is_identity() {
                    items.push(Item::Call(Callee::Bump, memref));
                }
            }
            3 => {
                let from = *self.random.pick(&self.pool.clone());
                let shape = self.program.memrefs[from].shape.clone();
                let to: Vec<MemRefId> = (self.pool.iter().copied())
                    .filter(|m| {
                        let other = &self.program.memrefs[*m];
                        *m != from && other.shape == shape && other.is_identity() && !other.dynamic
                    })
                    .collect();
                let source = &self.program.memrefs[from];
                if !to.is_empty() && source.is_identity() && !source.dynamic {
                    items.push(Item::Copy(from, *self.random.pick(&to)));
                }
            }
            _ => {
                // Frees an allocation that nothing after this accesses.
                let allocation = |m: &MemRefId| self.program.memrefs[*m].source == Source::Allocation;
                if let Some(m) = self.pool.iter().copied().find(allocation) {
                    let pool: Vec<MemRefId> =
                        self.pool.iter().copied().filter(|other| !self.may_be(*other, m)).collect();
                    if !pool.is_empty() {
                        self.pool = pool;
                        freed.push(m);
                        items.push(Item::Dealloc(m));
                    }
                }
            }
        }
    }

    /// True if a memref may be (a view of) `of`.
    fn may_be(&self, memref: MemRefId, of: MemRefId) -> bool {
        memref == of
            || match &self.program.memrefs[memref].source {
                Source::Cast(m) | Source::Reinterpret(m) | Source::Returned(m) => self.may_be(*m, of),
                Source::SubView { of: m, .. } => self.may_be(*m, of),
                Source::Select(a, b) => self.may_be(*a, of) || self.may_be(*b, of),
                Source::Argument { .. } | Source::Allocation | Source::Global(_) => false,
            }
    }

    fn loop_kind(&mut self) -> Kind {
        match self.kind {
            0 if self.random.chance(2) => Kind::ScfUnsigned,
            0 => Kind::Scf,
            1 => Kind::Affine,
            2 => *self.random.pick(&[Kind::Scf, Kind::Affine]),
            3 => *self.random.pick(&[Kind::Scf, Kind::While]),
            _ if self.random.chance(80) => Kind::Parallel,
            _ => Kind::Scf,
        }
    }

    fn loop_id(&mut self) -> LoopId {
        self.next_loop += 1;
        self.next_loop - 1
    }

    /// Returns a loop with its contents, `depth` levels deep.
    fn nest(&mut self, place: &Place, depth: usize) -> Item {
        let id = self.loop_id();
        let kind = place.kinds.last().copied().filter(|_| self.kind < 2 || self.random.chance(60));
        // An affine bound may not use an induction variable of `scf.for`. Constants keep a mixed
        // nest valid.
        let kind = kind.unwrap_or_else(|| self.loop_kind());
        let usable: Vec<LoopId> =
            place.loops.iter().zip(&place.kinds).filter(|(_, k)| **k == kind).map(|(id, _)| *id).collect();
        let (lower, upper, step) = self.bounds(&usable, place.loops.is_empty(), kind);
        let mut inner = place.clone();
        inner.loops.push(id);
        inner.kinds.push(kind);
        inner.instances = place
            .instances
            .iter()
            .flat_map(|instance| {
                let bound = |exprs: &[Expr], f: fn(i64, i64) -> i64| {
                    exprs.iter().map(|e| self.evaluate(e, place, instance)).reduce(f).unwrap_or(0)
                };
                let (first, end) = (bound(&lower, i64::max), bound(&upper, i64::min));
                let values = (first..end).step_by(step as usize);
                values.map(|v| instance.iter().copied().chain([v]).collect()).collect::<Vec<Vec<i64>>>()
            })
            .collect();
        let carried = (self.random.chance(12) && kind != Kind::Parallel).then(|| Carried {
            init: *self.random.pick(&place.values.clone()),
            argument: self.value(),
            next: 0,
            result: self.value(),
        });
        let mut body = Vec::new();
        if let Some(carried) = &carried {
            inner.values.push(carried.argument);
        }
        let small = inner.instances.len() * 4 < MAX_INSTANCES;
        if depth > 1 && small {
            if self.random.chance(20) {
                self.statement(&mut inner, &mut body);
            }
            let mut nests = vec![self.nest(&inner, depth - 1)];
            if self.random.chance(25) {
                // Values inside a conditional are unknown behind it.
                let guards = self.random.chance(30);
                if self.random.chance(20) && !guards {
                    self.between(&mut inner, &mut nests, &mut Vec::new());
                }
                nests.push(self.nest(&inner, depth - 1));
                if guards {
                    nests = self.under_conditions(&inner, nests);
                }
            }
            body.append(&mut nests);
            if self.random.chance(20) {
                self.statement(&mut inner, &mut body);
            }
        } else {
            for _ in 0..1 + self.random.weighted(&[75, 25]) {
                self.statement(&mut inner, &mut body);
            }
        }
        let carried = carried.map(|mut carried| {
            let operand = *self.random.pick(&inner.values);
            carried.next = self.value();
            body.push(Item::Compute(carried.next, self.operator(), carried.argument, operand));
            carried
        });
        Item::Loop(Loop { id, kind, lower, upper, step, carried, body })
    }

    fn bounds(&mut self, around: &[LoopId], outermost: bool, kind: Kind) -> Bounds {
        // Most outermost loops repeat the bounds of the last one.
        if outermost
            && self.random.chance(75)
            && let Some(bounds) = &self.last_bounds
        {
            let mut bounds = bounds.clone();
            if self.random.chance(3) {
                bounds.2 = 3 - bounds.2.min(2);
            }
            return bounds;
        }
        let extent = match self.random.weighted(if outermost { &[93, 3, 2, 2] } else { &[84, 9, 4, 3] }) {
            0 => self.extent,
            1 => self.random.range(1, self.extent),
            2 => self.extent + 1,
            _ => 0,
        };
        let first = if self.random.chance(14) { self.random.range(1, 2) } else { 0 };
        let step = if self.random.chance(6) { 2 } else { 1 };
        let mut lower = vec![Expr::Constant(first)];
        // With another step, the bounds are sometimes the same, so there are fewer iterations.
        let scale = if self.random.chance(30) { 1 } else { step };
        let mut upper = vec![Expr::Constant(first + extent * scale)];
        if outermost && self.random.chance(5) {
            upper = vec![Expr::Parameter(0)];
        }
        if !around.is_empty() && self.random.chance(18) {
            let variable = Expr::Variable(*self.random.pick(around));
            if self.random.chance(50) {
                upper = vec![Expr::Add(Box::new(variable), Box::new(Expr::Constant(1)))];
            } else {
                lower = vec![variable];
            }
        }
        if self.random.chance(4) && kind != Kind::ScfUnsigned {
            upper.push(Expr::Parameter(0));
        }
        if outermost {
            self.last_bounds = Some((lower.clone(), upper.clone(), step));
        }
        (lower, upper, step)
    }

    fn operator(&mut self) -> Operator {
        [Operator::Add, Operator::Sub, Operator::Mul, Operator::Max][self.random.weighted(&[45, 20, 10, 25])]
    }

    /// Adds loads, computations and stores. Sometimes they are under a condition, or several under
    /// the same condition.
    fn statement(&mut self, place: &mut Place, items: &mut Vec<Item>) {
        if self.random.chance(self.updates) {
            return self.update(place, items);
        }
        if self.random.chance(84) {
            self.straight(place, items);
            return;
        }
        let condition = self.condition(place);
        self.conditional(place, condition.clone(), items);
        while self.random.chance(25) {
            if self.random.chance(30) {
                self.straight(place, items);
            }
            self.conditional(place, condition.clone(), items);
        }
    }

    /// Adds loads, computations and stores under a condition. A yielded value may be used behind
    /// it.
    fn conditional(&mut self, place: &mut Place, condition: Condition, items: &mut Vec<Item>) {
        let mut inner = place.clone();
        let mut own = Vec::new();
        let value = self.straight(&mut inner, &mut own);
        let mut otherwise = if self.random.chance(25) { self.one_store(place) } else { Vec::new() };
        if self.random.chance(40) {
            let result = self.value();
            own.push(Item::Yield(result, value));
            otherwise.push(Item::Yield(result, *self.random.pick(&place.values)));
            place.values.push(result);
        }
        items.push(Item::If(condition, own, otherwise));
    }

    /// Adds loads, computations and stores. Returns the last computed value.
    fn straight(&mut self, place: &mut Place, items: &mut Vec<Item>) -> ValueId {
        for _ in 0..self.random.weighted(&[10, 60, 30]) {
            let (memref, at) = self.place_in(place);
            let value = self.value();
            items.push(Item::Load(value, memref, at));
            place.values.push(value);
        }
        if self.random.chance(20) {
            let value = self.value();
            items.push(Item::Index(value, self.subscript(place, 0)));
            place.values.push(value);
        }
        let values = place.values.clone();
        let recent = &values[values.len().saturating_sub(3)..];
        let (a, b) = (*self.random.pick(recent), *self.random.pick(&values));
        let value = self.value();
        items.push(Item::Compute(value, self.operator(), a, b));
        place.values.push(value);
        if self.random.chance(92) {
            let (memref, at) = self.place_in(place);
            items.push(Item::Store(value, memref, at));
        }
        if self.random.chance(4) {
            let memref = *self.random.pick(&self.pool.clone());
            if !self.program.memrefs[memref].dynamic && self.program.memrefs[memref].is_identity() {
                items.push(Item::Call(Callee::Bump, memref));
            }
        }
        value
    }

    /// Returns items under one condition, or each under its own.
    fn under_conditions(&mut self, place: &Place, items: Vec<Item>) -> Vec<Item> {
        let condition = self.condition(place);
        if self.random.chance(50) {
            return vec![Item::If(condition, items, Vec::new())];
        }
        items
            .into_iter()
            .map(|item| {
                let own = if self.random.chance(60) { condition.clone() } else { self.condition(place) };
                let otherwise = if self.random.chance(20) { self.one_store(place) } else { Vec::new() };
                Item::If(own, vec![item], otherwise)
            })
            .collect()
    }

    /// Returns a store of an available value.
    fn one_store(&mut self, place: &Place) -> Vec<Item> {
        let value = *self.random.pick(&place.values);
        let (memref, at) = self.place_in(place);
        vec![Item::Store(value, memref, at)]
    }

    /// Returns a condition, sometimes one that was used already.
    fn condition(&mut self, place: &Place) -> Condition {
        let again = self.random.chance(30);
        if let Some(last) = self.last_condition.clone().filter(|_| again)
            && let Condition::Positive(value) = last
            && place.values.contains(&value)
        {
            return Condition::Positive(value);
        }
        let condition = if self.random.chance(75) {
            let count = 1 + self.random.weighted(&[75, 25]);
            Condition::All((0..count).map(|_| self.test(place)).collect())
        } else {
            Condition::Positive(*self.random.pick(&place.values))
        };
        self.last_condition = Some(condition.clone());
        condition
    }

    fn test(&mut self, place: &Place) -> Test {
        use Relation::{AtLeast, Below, Equal, UnsignedBelow};
        // A few indices are repeated often, so that two of them may be equal.
        let (expr, number) = match place.loops.last() {
            Some(innermost) if self.random.chance(50) => (Expr::Variable(*innermost), 2),
            Some(_) => (self.subscript(place, 0), self.random.range(0, self.extent)),
            None => (Expr::Parameter(0), self.random.range(2, 4)),
        };
        let relation = [Below, AtLeast, Equal, UnsignedBelow][self.random.weighted(&[45, 35, 12, 8])];
        Test { expr, relation, number }
    }

    /// Returns a memref and subscripts within its bounds.
    fn place_in(&mut self, place: &Place) -> (MemRefId, Vec<Expr>) {
        let memref = *self.random.pick(&self.pool.clone());
        let shape = self.program.memrefs[memref].shape.clone();
        let at = shape.iter().enumerate().map(|(d, size)| {
            let expr = self.subscript(place, d);
            self.within(expr, *size, place)
        });
        (memref, at.collect())
    }

    /// Returns an index, most often the induction variable of the loop at the dimension's depth.
    fn subscript(&mut self, place: &Place, dimension: usize) -> Expr {
        let Some(last) = place.loops.last() else { return Expr::Constant(self.random.range(0, 3)) };
        let usual = *place.loops.get(dimension).unwrap_or(last);
        let variable = Box::new(Expr::Variable(if self.random.chance(88) {
            usual
        } else {
            *self.random.pick(&place.loops)
        }));
        let other = Box::new(Expr::Variable(*self.random.pick(&place.loops)));
        match self.random.weighted(&[60, 12, 6, 5, 4, 3, 4, 2, 2, 1, 1]) {
            0 => *variable,
            1 => Expr::Add(variable, Box::new(Expr::Constant(self.random.range(-2, 2)))),
            2 => Expr::Add(Box::new(Expr::Scale(variable, -1)), Box::new(Expr::Constant(self.extent - 1))),
            3 => Expr::Scale(variable, 2),
            4 => Expr::FloorDiv(variable, 2),
            5 => Expr::Mod(variable, self.random.range(2, 3)),
            6 => Expr::Add(variable, other),
            7 => Expr::Constant(self.random.range(0, 3)),
            8 => Expr::Product(variable, other),
            9 if self.program.element != Element::F32 => {
                Expr::Wrapped(*self.random.pick(&place.values), self.extent)
            }
            _ => Expr::Add(variable, Box::new(Expr::Parameter(0))),
        }
    }

    /// Shifts or wraps an index so that its values in all instances are in `0..size`.
    fn within(&self, expr: Expr, size: i64, place: &Place) -> Expr {
        if let Expr::Wrapped(value, limit) = expr {
            return Expr::Wrapped(value, limit.min(size));
        }
        let values: Vec<i64> = place.instances.iter().map(|i| self.evaluate(&expr, place, i)).collect();
        let (Some(least), Some(most)) = (values.iter().min(), values.iter().max()) else { return expr };
        if *least >= 0 && *most < size {
            expr
        } else if most - least < size {
            let shift = if *least < 0 { -least } else { size - 1 - most };
            Expr::Add(Box::new(expr), Box::new(Expr::Constant(shift)))
        } else {
            Expr::Mod(Box::new(expr), size)
        }
    }

    fn evaluate(&self, expr: &Expr, place: &Place, instance: &[i64]) -> i64 {
        let recurse = |e: &Expr| self.evaluate(e, place, instance);
        match expr {
            Expr::Constant(number) => *number,
            Expr::Variable(id) => place
                .loops
                .iter()
                .position(|l| l == id)
                .and_then(|level| instance.get(level))
                .copied()
                .unwrap_or(0),
            Expr::Parameter(index) => self.program.parameters[*index],
            Expr::Add(a, b) => recurse(a) + recurse(b),
            Expr::Scale(a, factor) => recurse(a) * factor,
            Expr::FloorDiv(a, divisor) => recurse(a).div_euclid(*divisor),
            Expr::Mod(a, divisor) => recurse(a).rem_euclid(*divisor),
            Expr::Product(a, b) => recurse(a) * recurse(b),
            Expr::Wrapped(..) => 0,
        }
    }
}
