//! The accesses of one loop of the tree, grouped into classes.
//!
//! Accesses of equal relation are one *class*: same object, same subscripts, same iteration domain,
//! same kind. A nest of a thousand statements that all update `A[i]` in place has two classes.
//! Levels are numbered from the root of the tree, so the classes of fused loops are merged by
//! equality. A value computed inside the nest is not affine; a value computed outside is a
//! parameter.
//!
//! **Cost.** Linear in the leaves below the loop and their classes. Many classes of one object have
//! [hulls](AccessSummary::hulls), so that most questions about them are one.

use std::sync::Arc;

use hashbrown::HashMap;
use loomir_ir::Op;
use smallvec::SmallVec;

use super::levels::absolute;
use super::{Green, HeaderId, IfId, LoopId, Map, Node, Program, Span, StatementId, TreeStore};
use crate::access::base::Base;
use crate::access::objects::Objects;
use crate::access::{Class, ConditionalElements, Domain, LoopContext};
use crate::affine::surroundings::Surroundings;
use crate::affine::{AffineForm, Atom};
use crate::lookup::{Absent, Lookup};
use access_hull::{Hulls, MIN_CLASSES};

mod access_hull;

/// A class with one of its operations, to show.
#[derive(Clone, Debug)]
pub struct Representative {
    /// The class.
    pub class: Class,
    /// The first operation of the class.
    pub op: Op,
    /// The iterations of the surrounding loops of the program, from the nest's own inwards.
    pub iteration: Arc<[LoopIteration]>,
}

/// An iteration of a loop of the program, over the levels of a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopIteration {
    /// Its number, from 0 on.
    pub number: AffineForm,
    /// The value of the loop's induction variable, if it is affine.
    pub variable: Option<AffineForm>,
}

impl LoopIteration {
    /// Returns the iteration that a level counts, for a loop with an unknown induction variable.
    pub fn counted(level: u32) -> LoopIteration {
        LoopIteration { number: AffineForm::level(level), variable: None }
    }

    /// Returns the iterations of the program's loops around a statement, from the outside, for a
    /// leaf that runs the iteration `map`, over levels.
    pub fn over(
        program: &Program,
        statement: StatementId,
        map: &[AffineForm],
    ) -> impl Iterator<Item = LoopIteration> {
        let path = program.path(program.statement(statement).parent);
        path.into_iter().zip(map).map(|(of, number)| {
            let variable = program.loop_info(of).space.variable.as_ref();
            let here = |form: &AffineForm| form.substitute(&mut |level| map.get(level as usize).cloned());
            LoopIteration { number: number.clone(), variable: variable.and_then(here) }
        })
    }

    fn renumbered(&self, by: &dyn Fn(&AffineForm) -> Option<AffineForm>) -> Option<LoopIteration> {
        Some(LoopIteration { number: by(&self.number)?, variable: self.variable.as_ref().and_then(by) })
    }
}

/// The summary of a loop nest.
#[derive(Clone, Debug, Default)]
pub struct AccessSummary {
    /// Access classes in order of first appearance. Their domains constrain the nest's own levels.
    /// Constraints on the surrounding loops are in the [`LoopContext`].
    pub classes: Vec<Representative>,
    /// The numbers of the classes, by their contents.
    index: Lookup,
    /// The positions in `classes`, by object.
    by_base: HashMap<Base, SmallVec<[usize; 2]>>,
    /// The hulls of objects with many classes.
    hulls: HashMap<Base, Hulls>,
    /// The objects it touches.
    objects: Objects,
    /// An operation that touches the world or may not return.
    pub world: Option<Op>,
    /// True if a class uses a parameter.
    pub symbolic: bool,
}

impl AccessSummary {
    /// Returns the classes of an object, in order of first appearance.
    pub fn of_base(&self, base: Base) -> impl Iterator<Item = &Representative> {
        self.by_base.get(&base).into_iter().flatten().map(|i| &self.classes[*i])
    }

    /// Returns the hulls of the classes of an object, which are fewer if there are many classes. A
    /// hull happens at least whenever one of its classes does. `None` for few classes.
    pub fn hulls(&self, base: Base) -> Option<&[Representative]> {
        self.hulls.get(&base).map(|hulls| &hulls.all[..])
    }

    /// Returns the accessed objects.
    pub fn bases(&self) -> impl Iterator<Item = Base> + '_ {
        self.objects.iter()
    }

    /// Returns the accessed objects that `base` may overlap,
    /// [and perhaps some others](Objects::near).
    pub fn bases_near(&self, base: Base) -> impl Iterator<Item = Base> + '_ {
        self.objects.near(base, self.by_base.contains_key(&base))
    }

    /// Summarises `tree`, an item of a sequence in `loop_context`.
    pub fn of(
        program: &Program,
        trees: &TreeStore,
        tree: Green,
        loop_context: &LoopContext,
    ) -> AccessSummary {
        let mut scan =
            Scan { program, trees, depth: loop_context.depth, risk: None, nest: AccessSummary::default() };
        scan.visit(
            tree,
            &Arc::new(Domain { levels: loop_context.depth, constraints: Vec::new(), exact: true }),
        );
        scan.nest
    }

    /// Adds the classes of another nest in the same loop context.
    pub fn merge(&mut self, other: &AccessSummary) {
        for Representative { class, op, iteration } in &other.classes {
            if let Err(absent) = self.find(class) {
                let representative =
                    Representative { class: class.clone(), op: *op, iteration: iteration.clone() };
                self.push(representative, absent);
            }
        }
        self.world = self.world.or(other.world);
    }

    /// Returns the summary without updates, for nests that may contain half of one.
    pub fn without_updates(self) -> AccessSummary {
        let mut plain = AccessSummary { world: self.world, ..AccessSummary::default() };
        for Representative { class, op, iteration } in self.classes {
            plain.add(Representative { class: Class { update: None, ..class }, op, iteration });
        }
        plain
    }

    /// Returns the summary shifted by `shift` at its own level, which is level `depth`. `None` if a
    /// number exceeds 64 bits.
    pub fn shifted(&self, depth: u32, shift: i64) -> Option<AccessSummary> {
        self.renumbered(&|form| form.shifted(depth, shift))
    }

    /// Returns the summary without the iterations before number `first` of its own level, which is
    /// level `depth`. `None` if a number exceeds 64 bits.
    pub fn since(&self, depth: u32, first: i64) -> Option<AccessSummary> {
        let is_run = AffineForm::level(depth).minus(&AffineForm::constant(first))?;
        let mut since = AccessSummary { world: self.world, ..AccessSummary::default() };
        for own in &self.classes {
            let mut class = own.class.clone();
            // A class without such a level is unchanged.
            if class.domain.levels > depth {
                let mut domain = Domain::clone(&class.domain);
                domain.constraints.push(is_run.clone());
                class.domain = Arc::new(domain);
            }
            since.add(Representative { class, ..own.clone() });
        }
        Some(since)
    }

    /// Returns the summary with the iterations of its own level, which is level `depth`, reversed.
    /// The last iteration has number `last`, a form over values known outside. `None` if a number
    /// exceeds 64 bits.
    pub fn reversed(&self, depth: u32, last: &AffineForm) -> Option<AccessSummary> {
        let mirrored = last.minus(&AffineForm::level(depth))?;
        let at = |level| if level == depth { mirrored.clone() } else { AffineForm::level(level) };
        self.renumbered(&|form| form.substitute(&mut |level| Some(at(level))))
    }

    /// Returns the summary with the loop at level `depth` and the loop inside it interchanged. All
    /// accesses are in both. `None` if a number exceeds 64 bits.
    pub fn interchanged(&self, depth: u32) -> Option<AccessSummary> {
        let other = |level| match level {
            _ if level == depth => depth + 1,
            _ if level == depth + 1 => depth,
            _ => level,
        };
        self.renumbered(&|form| form.substitute(&mut |level| Some(AffineForm::level(other(level)))))
    }

    /// Returns the summary with its iterations renumbered throughout.
    fn renumbered(&self, by: &dyn Fn(&AffineForm) -> Option<AffineForm>) -> Option<AccessSummary> {
        let mut renumbered = AccessSummary { world: self.world, ..AccessSummary::default() };
        for Representative { class, op, iteration } in &self.classes {
            let class = class.renumbered(by)?;
            let iteration = iteration.iter().map(|own| own.renumbered(by)).collect::<Option<_>>()?;
            renumbered.add(Representative { class, op: *op, iteration });
        }
        Some(renumbered)
    }

    /// Adds a class, if it is new.
    pub fn add(&mut self, representative: Representative) {
        if let Err(absent) = self.find(&representative.class) {
            self.push(representative, absent);
        }
    }

    fn find(&self, class: &Class) -> Result<u32, Absent> {
        self.index.find(&self.classes, class, |own| &own.class)
    }

    /// Adds a new class.
    fn push(&mut self, representative: Representative, absent: Absent) {
        let base = representative.class.base;
        self.symbolic |= representative.class.is_symbolic();
        let of_base = self.by_base.entry(base).or_default();
        if of_base.is_empty() {
            self.objects.push(base);
        }
        let next = self.classes.len();
        of_base.push(next);
        self.classes.push(representative);
        self.index.add(absent, &self.classes, |own| &own.class);
        if of_base.len() >= MIN_CLASSES {
            let hulls = self.hulls.entry(base).or_default();
            let new = if of_base.len() == MIN_CLASSES { &of_base[..] } else { &[next] };
            new.iter().for_each(|at| hulls.add(&self.classes[*at]));
        }
    }
}

impl LoopContext {
    /// Returns the loop context outside of all loops of the tree.
    pub fn outside(surroundings: &Surroundings) -> LoopContext {
        let Surroundings { constraints, exact, facts } = surroundings.clone();
        LoopContext { depth: 0, constraints, exact, variables: Vec::new(), facts }
    }

    /// Returns the loop context of a loop of the program, without surrounding conditionals.
    pub fn around(program: &Program, trees: &TreeStore, of: LoopId) -> LoopContext {
        let mut loop_context = LoopContext::outside(&program.surroundings);
        for around in program.path(program.loop_info(of).parent) {
            if let Node::Loop { header, .. } = trees.get(program.loop_info(around).green) {
                loop_context = loop_context.inside(program, trees, header);
            }
        }
        loop_context
    }

    /// Returns the loop context inside a loop in this one.
    pub fn inside(&self, program: &Program, trees: &TreeStore, header: HeaderId) -> LoopContext {
        let mut domain = Domain { levels: self.depth, constraints: Vec::new(), exact: self.exact };
        enter(program, trees, header, &mut domain, u32::MAX);
        let mut constraints = self.constraints.clone();
        constraints.append(&mut domain.constraints);
        let mut variables = self.variables.clone();
        variables.push(trees.header(header).origins.first().and_then(|lead| {
            let info = program.loop_info(lead.of);
            let variable = info.space.variable.as_ref()?;
            let form = variable.substitute(&mut |level| lead.map.get(level as usize).cloned())?;
            match form.terms() {
                [(Atom::Level(0), step)] if *step > 0 => Some((info.variable, *step)),
                _ => None,
            }
        }));
        LoopContext {
            depth: domain.levels,
            constraints,
            exact: domain.exact,
            variables,
            facts: self.facts.clone(),
        }
    }

    /// Returns the loop context with the additional facts that none of these forms, over no levels,
    /// is negative.
    pub fn with_facts(&self, forms: impl IntoIterator<Item = AffineForm>) -> LoopContext {
        let mut loop_context = self.clone();
        for form in forms {
            if !loop_context.constraints.contains(&form) {
                loop_context.constraints.push(form);
            }
        }
        loop_context
    }

    /// True if a form over no levels is known to be zero.
    pub fn is_zero(&self, form: &AffineForm) -> bool {
        let has_no_level = form.all_atoms(&|atom| !matches!(atom, Atom::Level(_)));
        let opposite = form.times(-1).filter(|_| has_no_level);
        opposite.is_some_and(|opposite| [form, &opposite].iter().all(|own| self.constraints.contains(own)))
    }

    /// Returns the loop context inside an `if` whose condition holds, or fails.
    pub fn guarded(
        &self,
        program: &Program,
        trees: &TreeStore,
        (of, map): (IfId, Map),
        holds: bool,
    ) -> LoopContext {
        let constraints = self.constraints.clone();
        let mut domain = Domain { levels: self.depth, constraints, exact: self.exact };
        guard(program, trees, (of, map), holds, &mut domain, u32::MAX);
        LoopContext { constraints: domain.constraints, exact: domain.exact, ..self.clone() }
    }
}

impl Class {
    /// True if its subscripts or constraints contain a parameter.
    fn is_symbolic(&self) -> bool {
        let is_number = |form: &AffineForm| form.all_atoms(&|atom| matches!(atom, Atom::Level(_)));
        let subscripts = self.subscripts.iter().flatten().flatten();
        self.conditional.is_some() || !subscripts.chain(&self.domain.constraints).all(is_number)
    }

    /// Returns the class with renumbered iterations.
    fn renumbered(&self, by: &dyn Fn(&AffineForm) -> Option<AffineForm>) -> Option<Class> {
        let mut class = self.clone();
        for form in class.subscripts.iter_mut().flatten().flatten() {
            *form = by(form)?;
        }
        if let Some(conditional) = &mut class.conditional {
            let conditional = Arc::make_mut(conditional);
            for form in &mut conditional.subscripts {
                *form = by(form)?;
            }
        }
        let constraints = self.domain.constraints.iter().map(by).collect::<Option<_>>()?;
        class.domain = Arc::new(Domain { constraints, ..*self.domain });
        Some(class)
    }
}

/// True if a map to loops counted outwards keeps the levels, at a place inside as many loops. Most
/// maps do.
fn is_identity(map: &[AffineForm], depth: u32) -> bool {
    let stays = |(level, form): (u32, &AffineForm)| match form.terms() {
        [(Atom::Level(index), 1)] => index + level + 1 == depth && form.constant_part() == 0,
        _ => false,
    };
    map.len() == depth as usize && (0..).zip(map).all(stays)
}

/// Adds a loop's level and its constraints to `domain`. Forms that use values computed inside more
/// than `known` loops are left out.
pub fn enter(program: &Program, trees: &TreeStore, header: HeaderId, domain: &mut Domain, known: u32) {
    let depth = domain.levels;
    domain.levels += 1;
    let push =
        |domain: &mut Domain, form: Option<AffineForm>| match form.filter(|f| program.is_known(f, known)) {
            Some(form) => domain.constraints.push(form),
            None => domain.exact = false,
        };
    let header = trees.header(header);
    match &header.span {
        Span::Whole => {
            let Some(origin) = header.origins.first() else { return };
            let space = &program.loop_info(origin.of).space;
            domain.exact &= space.domain.exact;
            let stays = is_identity(&origin.map, depth + 1);
            for constraint in &space.domain.constraints {
                let mut level = |level: u32| absolute(origin.map.get(level as usize)?, depth + 1);
                let form = if stays { Some(constraint.clone()) } else { constraint.substitute(&mut level) };
                push(domain, form);
            }
        }
        Span::Range { scale, lower, upper } => {
            let variable = AffineForm::level(depth).times(*scale);
            for form in lower {
                let bound = absolute(form, depth);
                push(domain, variable.as_ref().zip(bound).and_then(|(x, bound)| x.minus(&bound)));
            }
            for form in upper {
                let last = absolute(form, depth).and_then(|f| f.plus(&AffineForm::constant(1), -1));
                push(domain, variable.as_ref().zip(last).and_then(|(x, last)| last.minus(x)));
            }
        }
    }
}

/// Adds the constraints of an `if` that holds, or fails, to `domain`, as [`enter`] does.
pub fn guard(
    program: &Program,
    trees: &TreeStore,
    (of, map): (IfId, Map),
    holds: bool,
    domain: &mut Domain,
    known: u32,
) {
    let outcome = program.if_info(of).condition.outcome(holds);
    domain.exact &= outcome.exact;
    let (map, depth) = (trees.map(map), domain.levels);
    for constraint in &outcome.constraints {
        let form = program.is_known(constraint, known).then_some(constraint);
        match form.and_then(|f| f.substitute(&mut |level| absolute(map.get(level as usize)?, depth))) {
            Some(form) => domain.constraints.push(form),
            None => domain.exact = false,
        }
    }
}

struct Scan<'a> {
    program: &'a Program,
    trees: &'a TreeStore,
    /// The loops around the nest.
    depth: u32,
    /// The outermost surrounding header that may be undefined.
    risk: Option<Risk>,
    nest: AccessSummary,
}

/// A loop or `if` of a tree whose [header may be
/// undefined](crate::access::header_may_be_undefined).
#[derive(Clone)]
pub struct Risk {
    op: Op,
    /// When it is reached.
    domain: Arc<Domain>,
}

impl Risk {
    /// Returns the risk of a loop's header in this domain, if it may be undefined.
    pub fn of_loop(program: &Program, trees: &TreeStore, id: HeaderId, domain: &Arc<Domain>) -> Option<Risk> {
        let mut loops = trees.header(id).origins.iter().map(|origin| program.loop_info(origin.of));
        let op = loops.find(|info| info.may_be_undefined)?.op;
        Some(Risk { op, domain: domain.clone() })
    }

    /// Returns the risk of an `if`'s decision in this domain, if it may be undefined.
    pub fn of_guard(program: &Program, of: IfId, domain: &Arc<Domain>) -> Option<Risk> {
        let info = program.if_info(of);
        info.may_be_undefined.then(|| Risk { op: info.op, domain: domain.clone() })
    }

    /// Returns the class that keeps an inner leaf, in `levels` loops, behind operations that may
    /// not return: it reads [`Base::Exit`] whenever the header is reached.
    pub fn class(&self, levels: u32) -> (Class, Op) {
        let constraints = self.domain.constraints.clone();
        let domain = Arc::new(Domain { levels, constraints, exact: false });
        (Class::whole(Base::Exit, false, &domain), self.op)
    }
}

impl Scan<'_> {
    /// Recurses once for each loop or guard. Raising bounds their nesting depth.
    fn visit(&mut self, tree: Green, domain: &Arc<Domain>) {
        match self.trees.get(tree) {
            Node::Empty => {}
            Node::Sequence { .. } => {
                let trees = self.trees;
                for item in trees.items(tree) {
                    self.visit(item, domain);
                }
            }
            Node::Loop { header, body } => {
                let mut inner = (**domain).clone();
                enter(self.program, self.trees, header, &mut inner, self.depth);
                let risk = Risk::of_loop(self.program, self.trees, header, domain);
                self.within(risk, body, inner);
            }
            Node::Guard { of, map, holds, body } => {
                let mut inner = (**domain).clone();
                guard(self.program, self.trees, (of, map), holds, &mut inner, self.depth);
                self.within(Risk::of_guard(self.program, of, domain), body, inner);
            }
            Node::Versioned { fast, fallback, .. } => {
                self.visit(fast, domain);
                self.visit(fallback, domain);
            }
            Node::Leaf { statement, map } => self.leaf(statement, map, domain),
        }
    }

    /// Visits the body of a loop or guard whose header is such a risk.
    fn within(&mut self, risk: Option<Risk>, body: Green, domain: Domain) {
        let around = self.risk.clone();
        self.risk = around.clone().or(risk);
        self.visit(body, &Arc::new(domain));
        self.risk = around;
    }

    fn leaf(&mut self, statement: StatementId, map: Map, domain: &Arc<Domain>) {
        let info = self.program.statement(statement);
        self.nest.world = self.nest.world.or(info.effects.world);
        let (map, depth) = (self.trees.map(map), self.depth);
        let risk = self.risk.as_ref().map(|risk| risk.class(domain.levels));
        for (class, op) in in_place(self.program, statement, map, domain, depth).chain(risk) {
            if let Err(absent) = self.nest.find(&class) {
                // A number that is too large is shown as zero.
                let here = |form: &AffineForm| absolute(form, domain.levels).unwrap_or_default();
                let here: Vec<AffineForm> = map.iter().map(here).collect();
                // Loops inside the statement count, too.
                let inside = (domain.levels..class.domain.levels).map(LoopIteration::counted);
                let own = LoopIteration::over(self.program, statement, &here).skip(depth as usize);
                let iteration = own.chain(inside).collect();
                self.nest.push(Representative { class, op, iteration }, absent);
            }
        }
    }
}

/// A place of a statement in a tree: in a leaf with this map, inside so many loops.
#[derive(Clone, Copy)]
pub(crate) struct Spot<'a> {
    program: &'a Program,
    map: &'a [AffineForm],
    levels: u32,
    /// Forms with values computed inside more loops are dropped.
    known: u32,
    /// True if forms are the same here.
    stays: bool,
}

impl<'a> Spot<'a> {
    pub(crate) fn of(program: &'a Program, map: &'a [AffineForm], levels: u32, known: u32) -> Spot<'a> {
        Spot { program, map, levels, known, stays: is_identity(map, levels) }
    }

    /// Returns a form of the statement as one over the levels here.
    fn form(&self, form: &AffineForm) -> Option<AffineForm> {
        let own = self.map.len() as u32;
        let mut level = |level: u32| match self.map.get(level as usize) {
            Some(form) => absolute(form, self.levels),
            None => Some(AffineForm::level(self.levels + (level - own))),
        };
        let is_known = self.program.is_known(form, self.known);
        is_known.then(|| if self.stays { Some(form.clone()) } else { form.substitute(&mut level) }).flatten()
    }

    /// Returns the subscripts of one of the statement's classes, as far as they are known.
    pub(crate) fn subscripts(&self, class: &Class) -> Option<Vec<Option<AffineForm>>> {
        let is_grid = class.sizes.iter().all(|size| self.program.is_known(size, self.known));
        let named = class.subscripts.as_ref().filter(|_| is_grid && self.is_one(class));
        named.map(|all| all.iter().map(|form| self.form(form.as_ref()?)).collect())
    }

    /// True if the subscripts of a class name elements of one memref: a view that is created in
    /// every iteration names other elements each time.
    fn is_one(&self, class: &Class) -> bool {
        class.origin.is_none_or(|origin| {
            class.base == Base::Allocation(origin)
                || self.program.is_known(&AffineForm::atom(Atom::Param(origin)), self.known)
        })
    }
}

/// Returns the access classes of a statement at a place of a tree: a leaf with this map inside the
/// loops of `domain`. Forms with values computed inside more than `known` loops are dropped.
pub fn in_place<'a>(
    program: &'a Program,
    statement: StatementId,
    map: &'a [AffineForm],
    domain: &'a Arc<Domain>,
    known: u32,
) -> impl Iterator<Item = (Class, Op)> {
    let own = map.len() as u32;
    let spot = Spot::of(program, map, domain.levels, known);
    program.statement(statement).effects.classes.iter().map(move |(class, op)| {
        let mut exact = domain.exact && class.domain.exact;
        let subscripts = spot.subscripts(class);
        let conditional = class.conditional.as_ref().filter(|_| spot.is_one(class));
        let conditional = conditional.and_then(|own| {
            let mut fixed = own.conditions.iter().chain(&own.sizes);
            fixed.all(|form| program.is_known(form, known)).then_some(())?;
            let subscripts = own.subscripts.iter().map(|form| spot.form(form)).collect::<Option<_>>()?;
            Some(Arc::new(ConditionalElements { subscripts, ..(**own).clone() }))
        });
        let inner = class.domain.levels - own;
        let domain = if inner == 0 && class.domain.constraints.is_empty() && exact == domain.exact {
            domain.clone()
        } else {
            let mut constraints = domain.constraints.clone();
            for constraint in &class.domain.constraints {
                match spot.form(constraint) {
                    Some(form) => constraints.push(form),
                    None => exact = false,
                }
            }
            Arc::new(Domain { levels: domain.levels + inner, constraints, exact })
        };
        let Class { base, origin, unit, writes, update, .. } = *class;
        let sizes = class.sizes.clone();
        (Class { base, origin, sizes, subscripts, conditional, unit, writes, update, domain }, *op)
    })
}

#[cfg(test)]
mod tests {
    use loomir_ir::{Body, Context, Loc, OperationState, Registry};

    use super::*;

    /// Returns the summary of `A[2·i + j]` for `0 ≤ i ≤ 9` and `j ≤ i`, of an operation, inside one
    /// more loop.
    fn nest(op: Op) -> AccessSummary {
        let [i, j] = [1, 2].map(AffineForm::level);
        let subscript = i.plus(&i, 1).and_then(|form| form.plus(&j, 1));
        let constraints = vec![i.clone(), AffineForm::constant(9).minus(&i).unwrap(), i.minus(&j).unwrap()];
        let class = Class {
            base: Base::World,
            origin: None,
            sizes: Vec::new(),
            subscripts: Some(vec![subscript]),
            conditional: None,
            unit: 0,
            writes: true,
            update: None,
            domain: Arc::new(Domain { levels: 3, constraints, exact: true }),
        };
        let iteration = Arc::new([LoopIteration::counted(1), LoopIteration::counted(2)]);
        let mut nest = AccessSummary::default();
        nest.add(Representative { class, op, iteration });
        nest
    }

    #[test]
    fn a_reversed_nest_counts_from_the_last_iteration_down() {
        let ctx = Context::new(Registry::new());
        let body = Body::new(&ctx, OperationState::new(&ctx, "test.store", Loc::UNKNOWN));
        let nest = nest(body.root());
        let reversed = nest.reversed(1, &AffineForm::constant(9)).unwrap();
        let Representative { class, iteration, .. } = &reversed.classes[0];
        let at = |form: &AffineForm, i: i64, j: i64| {
            let mut level = |level: u32| Some(AffineForm::constant([0, i, j][level as usize]));
            form.substitute(&mut level).and_then(|form| form.as_constant())
        };
        let subscript = class.subscripts.as_ref().unwrap()[0].as_ref().unwrap();
        assert_eq!(at(subscript, 0, 4), Some(2 * 9 + 4));
        assert_eq!(at(subscript, 9, 0), Some(0));
        // The bound of the inner loop is the iteration of the outer one.
        let values = class.domain.constraints.iter().map(|form| at(form, 2, 3).unwrap());
        assert_eq!(values.collect::<Vec<_>>(), [7, 2, 4]);
        assert_eq!(iteration[0].number, AffineForm::constant(9).minus(&AffineForm::level(1)).unwrap());
        let twice = reversed.reversed(1, &AffineForm::constant(9)).unwrap();
        assert_eq!(twice.classes[0].class, nest.classes[0].class);
    }

    #[test]
    fn what_is_left_of_a_nest_has_no_earlier_iterations() {
        let ctx = Context::new(Registry::new());
        let body = Body::new(&ctx, OperationState::new(&ctx, "test.store", Loc::UNKNOWN));
        let nest = nest(body.root());
        let since = nest.since(1, 2).unwrap();
        let runs = |nest: &AccessSummary, i: i64| {
            let mut level = |level: u32| Some(AffineForm::constant([0, i, 0][level as usize]));
            let mut at =
                |form: &AffineForm| form.substitute(&mut level).and_then(|form| form.as_constant()).unwrap();
            nest.classes[0].class.domain.constraints.iter().all(|form| at(form) >= 0)
        };
        let run = |nest: &AccessSummary| (-1..11).filter(|i| runs(nest, *i)).collect::<Vec<_>>();
        assert_eq!(run(&nest), (0..10).collect::<Vec<_>>());
        assert_eq!(run(&since), (2..10).collect::<Vec<_>>());
        // Without such a level, the access may happen at any time.
        assert_eq!(nest.since(3, 2).unwrap().classes[0].class, nest.classes[0].class);
    }
}
