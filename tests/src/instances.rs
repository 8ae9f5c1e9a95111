//! Execution of trees, instance by instance, with numbers for the parameters. Returns the instances
//! in their order.
//!
//! It takes the definition of legality literally. Every instance of every statement runs once. Two
//! instances that touch one location, one of them writing, keep their order. It knows nothing of
//! sets or of solvers, so it can judge them. If a tree runs iterations in any order, they are run
//! backwards and in step too.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use loomir::dialects::arith;
use loomir::dialects::interfaces::Decision;
use loomir::ir::rewrite::constant_of;
use loomir::ir::{Body, Op, Value};
use loomir::transforms::access::Class;
use loomir::transforms::access::base::{Base, Bases, Overlap};
use loomir::transforms::access::updates::reduction::has_poison_flags;
use loomir::transforms::access::updates::{Reduction, updates_of};
use loomir::transforms::affine::AffineForm;
use loomir::transforms::affine::operation::{Operation, width};
use loomir::transforms::tree::{Green, IfId, Node, Program, Span, StatementId, TreeStore};

use crate::random::Random;

/// Most instances that are run.
const MAX_INSTANCES: usize = 4_000;

/// One execution of a statement: its number, and the iterations of the program's loops around it.
pub type Instance = (StatementId, Vec<i64>);

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The tree does the same.
    Same,
    /// The tree is wrong: an instance is lost, repeated or added, or two are reordered.
    Fault(String),
    /// Undecided: something depends on more than the parameters.
    Open,
}

/// An object, numbered, with the value that names it, and subscripts.
pub(crate) type Location = (usize, Vec<i64>);

/// The values of parameters: a small random one for each, or none. Values computed from parameters
/// follow from them.
#[derive(Clone, Copy, Debug)]
pub struct Values<'b> {
    /// The seed of the values.
    pub seed: Option<u64>,
    /// The body that defines the values.
    pub body: &'b Body,
}

impl Values<'_> {
    fn of(self, value: Value) -> Option<i64> {
        let seed = self.seed?;
        // Now and then loops are longer.
        let most = if seed.is_multiple_of(4) { 11 } else { 6 };
        let drawn = || Random::of_case(seed, value.index() as u64).range(0, most);
        if let Some(constant) = constant_of(self.body, value) {
            return constant.as_int(self.body.ctx());
        }
        let Some(op) = self.body.defining_op(value) else { return Some(drawn()) };
        let operand = |i: usize| self.of(self.body.operand(op, i));
        match Operation::of(self.body, op) {
            Some(Operation::Binary(binary)) => {
                binary.compute(width(self.body, value)?, operand(0)?, operand(1)?)
            }
            Some(Operation::Signed | Operation::Unsigned) => operand(0),
            Some(Operation::Compare(_) | Operation::Select) | None => Some(drawn()),
        }
    }
}

/// The direction for iterations that may run in any order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// As in an ordinary loop.
    Forwards,
    /// From the last to the first.
    Backwards,
    /// All at once: each item of the body runs for all iterations before the next item does.
    InStep,
    /// As in an ordinary loop, but from the last to the first in loops that are written along a
    /// curve, whose iterations never run at the same time.
    Curved,
}

impl Direction {
    /// All of them.
    pub const ALL: [Direction; 4] =
        [Direction::Forwards, Direction::Backwards, Direction::InStep, Direction::Curved];
}

/// Returns the instances that a tree runs, in order. `None` if they depend on run-time values, or
/// are too many.
pub fn run(
    program: &Program,
    trees: &TreeStore,
    tree: Green,
    values: Values<'_>,
    way: Direction,
) -> Option<Vec<Instance>> {
    let mut run = Run { program, trees, values, way, levels: Vec::new(), found: Vec::new() };
    run.enter(tree)?;
    Some(run.found)
}

struct Run<'a> {
    program: &'a Program,
    trees: &'a TreeStore,
    values: Values<'a>,
    way: Direction,
    levels: Vec<i64>,
    found: Vec<Instance>,
}

impl Run<'_> {
    /// Forms over the loops around, which count outwards.
    fn evaluate(&self, forms: &[AffineForm]) -> Option<Vec<i64>> {
        let level = |level: u32| self.levels.iter().rev().nth(level as usize).copied();
        forms.iter().map(|form| form.evaluate(&level, &|value| self.values.of(value))).collect()
    }

    /// Evaluates forms over the loops of the program in one iteration of each.
    fn in_iteration(&self, forms: &[AffineForm], around: &[i64]) -> Option<Vec<i64>> {
        let level = |level: u32| around.get(level as usize).copied();
        forms.iter().map(|form| form.evaluate(&level, &|value| self.values.of(value))).collect()
    }

    fn enter(&mut self, tree: Green) -> Option<()> {
        let (program, trees) = (self.program, self.trees);
        match trees.get(tree) {
            Node::Empty => {}
            Node::Sequence { .. } => {
                for item in trees.items(tree) {
                    self.enter(item)?;
                }
            }
            Node::Loop { header, body } => {
                let header = trees.header(header);
                let range = match &header.span {
                    Span::Range { scale, lower, upper } => {
                        let lower = self.evaluate(lower)?.into_iter().max()?;
                        let upper = self.evaluate(upper)?.into_iter().min()?;
                        let up = |value: i64| -((-value).div_euclid(*scale));
                        up(lower)..up(upper)
                    }
                    Span::Whole => {
                        let lead = header.origins.first()?;
                        let space = &program.loop_info(lead.of).space;
                        if !space.is_counted() || !space.domain.exact {
                            return None;
                        }
                        // The iterations of the program's loops around, and of the loop itself. Its
                        // bounds do not use its own iteration.
                        self.levels.push(0);
                        let around = self.evaluate(&lead.map);
                        self.levels.pop();
                        let extents = self.in_iteration(&space.extents()?, &around?)?;
                        0..-((-extents.into_iter().min()?).div_euclid(space.step?))
                    }
                };
                let mut values: Vec<i64> = range.collect();
                let is_turned = match self.way {
                    Direction::Backwards => header.parallel,
                    Direction::Curved => header.in_any_order() && !header.parallel,
                    Direction::Forwards | Direction::InStep => false,
                };
                if is_turned {
                    values.reverse();
                }
                let at_once = match header.parallel && self.way == Direction::InStep {
                    true => trees.items(body).collect(),
                    false => vec![body],
                };
                for item in at_once {
                    for value in &values {
                        self.levels.push(*value);
                        self.enter(item)?;
                        self.levels.pop();
                    }
                }
            }
            Node::Guard { of, map, holds, body } => {
                let around = self.evaluate(trees.map(map))?;
                if self.decides(of, &around)? == holds {
                    self.enter(body)?;
                }
            }
            Node::Versioned { fast, .. } => self.enter(fast)?,
            Node::Leaf { statement, map } => {
                let iteration = self.evaluate(trees.map(map))?;
                self.found.push((statement, iteration));
                if self.found.len() > MAX_INSTANCES {
                    return None;
                }
            }
        }
        Some(())
    }

    /// True if a condition holds in an iteration. An unknown decision is drawn at random, once for
    /// each evaluation of the condition.
    fn decides(&self, of: IfId, around: &[i64]) -> Option<bool> {
        let info = self.program.if_info(of);
        for holds in [true, false] {
            let outcome = info.condition.outcome(holds);
            let all = self.in_iteration(&outcome.constraints, around)?.into_iter().all(|value| value >= 0);
            if outcome.exact || !all {
                return Some(all == holds);
            }
        }
        let operands = match &info.decision {
            Decision::Value(value) => vec![*value],
            Decision::Set(_, operands) => operands.clone(),
        };
        let body = self.values.body;
        let depth = |value: &Value| match self.program.loop_of_argument(body, *value) {
            Some((of, _)) => self.program.loop_info(of).depth as usize + 1,
            None => {
                let op = body.defining_op(*value);
                op.and_then(|op| self.program.depth_of(body, op)).unwrap_or(0) as usize
            }
        };
        let inside = operands.iter().map(depth).max()?;
        let iteration = around[..inside].iter().map(|value| *value as u64);
        let drawn = operands.iter().map(|value| value.index() as u64).chain(iteration);
        let seed = drawn.fold(self.values.seed?, |seed, part| Random::of_case(seed, part).bits());
        Some(Random::new(seed).chance(50))
    }
}

/// True if every access is known exactly: it names one element of an object that has one name and
/// overlaps no other object.
pub fn is_exact(program: &Program, bases: &Bases<'_>, statements: impl Iterator<Item = StatementId>) -> bool {
    let mut names: Vec<(Base, Option<Value>)> = Vec::new();
    for id in statements {
        let info = program.statement(id);
        let depth = program.path(info.parent).len() as u32;
        for (class, _) in &info.effects.classes {
            let whole = matches!(class.base, Base::World | Base::Exit);
            let elements = class.subscripts.as_ref().is_some_and(|all| all.iter().all(Option::is_some));
            if !class.domain.exact || class.domain.levels != depth || !(whole || elements) {
                return false;
            }
            if !whole && !names.contains(&(class.base, class.origin)) {
                names.push((class.base, class.origin));
            }
        }
    }
    let may_overlap = |(i, a): (usize, &(Base, Option<Value>))| {
        names[i + 1..].iter().any(|b| matches!(bases.overlap(a.0, b.0), Overlap::Same | Overlap::May))
    };
    !names.iter().enumerate().any(may_overlap)
}

/// Compares the instances of a tree, run in this direction, with those of the program. Only
/// certainly touched locations count. Iterations that the program itself runs in any order have no
/// required order backwards.
pub fn compare(
    body: &Body,
    program: &Program,
    old: &[Instance],
    new: &[Instance],
    values: Values<'_>,
    way: Direction,
) -> Finding {
    let is_pure = |id: StatementId| program.statement(id).is_pure(body);
    let mut places: HashMap<&Instance, Vec<usize>> = HashMap::new();
    for (place, instance) in new.iter().enumerate().filter(|(_, instance)| !is_pure(instance.0)) {
        places.entry(instance).or_default().push(place);
    }
    let name = |(id, iteration): &Instance| {
        format!(
            "'{}' of statement {} in {iteration:?}",
            body.op_ref(program.statement(*id).op()).name(),
            id.0
        )
    };
    let mut wanted = 0;
    for instance in old.iter().filter(|instance| !is_pure(instance.0)) {
        wanted += 1;
        match places.get(instance).map(Vec::len) {
            None => return Finding::Fault(format!("{} is lost", name(instance))),
            Some(1) => {}
            Some(_) => return Finding::Fault(format!("{} is repeated", name(instance))),
        }
    }
    if places.len() > wanted {
        let there: HashSet<&Instance> = old.iter().collect();
        let more = new.iter().find(|instance| !is_pure(instance.0) && !there.contains(*instance));
        return Finding::Fault(format!("{} is added", more.map(&name).unwrap_or_default()));
    }
    let mut objects: Vec<(Base, Option<Value>)> = Vec::new();
    let mut touched: BTreeMap<Location, Vec<Touch<'_>>> = BTreeMap::new();
    for instance in old {
        for (class, op) in &program.statement(instance.0).effects.classes {
            let Some(location) = location(class, instance, values, &mut objects) else {
                return Finding::Open;
            };
            let update = class.update.filter(|_| !rounds(body, *op));
            touched.entry(location).or_default().push((class.writes, update, instance));
        }
    }
    let place = |instance: &Instance| {
        let touches = !program.statement(instance.0).effects.classes.is_empty();
        places.get(instance).and_then(|all| all.first()).copied().filter(|_| touches)
    };
    let world = |instance: &&Instance| {
        program.statement(instance.0).effects.classes.iter().any(|(class, _)| class.base == Base::World)
    };
    let everything: Vec<Touch<'_>> = old.iter().map(|instance| (world(&instance), None, instance)).collect();
    let with_world = everything.iter().any(|(world, ..)| *world).then_some(&everything);
    for meeting in touched.values().chain(with_world) {
        // Their places in the new order, in the order of the program.
        let placed = meeting.iter().filter_map(|touch| Some((place(touch.2)?, touch)));
        let placed: Vec<(usize, &Touch<'_>)> = placed.collect();
        for (i, (at, (writes, update, first))) in placed.iter().enumerate() {
            for (_, (other, by, second)) in placed[i + 1..].iter().filter(|(later, _)| later < at) {
                // Updates by one operation may run in any order.
                let may_swap = update.is_some() && update == by;
                let has_order = || way == Direction::Forwards || is_ordered(program, first, second);
                if (*writes || *other) && !may_swap && has_order() {
                    return Finding::Fault(format!("{} runs after {}", name(first), name(second)));
                }
            }
        }
    }
    for meeting in touched.values() {
        if let Some(torn) = torn(meeting, |instance| places.get(instance).and_then(|all| all.first())) {
            return Finding::Fault(format!("{} is no update any more", name(torn)));
        }
    }
    Finding::Same
}

/// Compares two runs of a tree, whose parallel loops went forwards and backwards. Two updates of
/// one location that both orders allow may run at the same time. One of them is lost then.
pub fn simultaneous(
    program: &Program,
    [forwards, backwards]: [&[Instance]; 2],
    values: Values<'_>,
) -> Finding {
    let behind: HashMap<&Instance, usize> = backwards.iter().zip(0..).collect();
    let mut objects = Vec::new();
    let mut touched: BTreeMap<Location, Vec<Touch<'_>>> = BTreeMap::new();
    for instance in forwards {
        let classes = &program.statement(instance.0).effects.classes;
        for (class, _) in classes.iter().filter(|(class, _)| class.update.is_some()) {
            let Some(location) = location(class, instance, values, &mut objects) else {
                return Finding::Open;
            };
            touched.entry(location).or_default().push((class.writes, class.update, instance));
        }
    }
    for meeting in touched.values() {
        for (i, (writes, _, first)) in meeting.iter().enumerate() {
            for (other, _, second) in &meeting[i + 1..] {
                let is_turned = behind.get(second) < behind.get(first);
                if (*writes || *other) && is_turned && is_ordered(program, first, second) {
                    return Finding::Fault(format!("{first:?} and {second:?} are updates at the same time"));
                }
            }
        }
    }
    Finding::Same
}

/// Returns the steps of updates that were reordered, if flags can make them poison. Such a step
/// runs before another step of the same location and reduction in `old` and after it in `new`, or
/// the other way round. `None` if unknown.
pub fn reordered(
    body: &Body,
    program: &Program,
    old: &[Instance],
    new: &[Instance],
    values: Values<'_>,
) -> Option<Vec<Op>> {
    let places: HashMap<&Instance, usize> = new.iter().zip(0..).collect();
    let mut objects = Vec::new();
    let mut updates: BTreeMap<Location, Vec<(Reduction, Op, usize)>> = BTreeMap::new();
    for instance in old {
        let stores = program.statement(instance.0).effects.classes.iter().filter(|(class, _)| class.writes);
        for (class, store) in stores {
            let Some(by) = class.update else { continue };
            let step = updates_of(body, *store).first()?.step;
            let location = location(class, instance, values, &mut objects)?;
            updates.entry(location).or_default().push((by, step, *places.get(instance)?));
        }
    }
    let mut found = Vec::new();
    for all in updates.values() {
        for (i, (by, own, place)) in all.iter().enumerate() {
            for (_, other, _) in all[i + 1..].iter().filter(|next| next.0 == *by && next.2 < *place) {
                found.extend([*own, *other].into_iter().filter(|step| has_poison_flags(body, *step)));
            }
        }
    }
    Some(found)
}

/// True if reordering the updates of an access changes its rounding and no flag allows that.
pub(crate) fn rounds(body: &Body, access: Op) -> bool {
    updates_of(body, access).iter().any(|update| {
        let step = body.op_ref(update.step);
        let flags = step.attr("fastmath").and_then(|attr| arith::FASTMATH.value(body.ctx(), attr));
        ["arith.addf", "arith.subf", "arith.mulf"].contains(&step.name()) && flags.unwrap_or(0) & 1 == 0
    })
}

/// Returns the location that an instance accesses. `None` if it is unknown.
pub(crate) fn location(
    class: &Class,
    instance: &Instance,
    values: Values<'_>,
    objects: &mut Vec<(Base, Option<Value>)>,
) -> Option<Location> {
    let at = |form: &AffineForm| {
        let level = |level: u32| instance.1.get(level as usize).copied();
        form.evaluate(&level, &|value| values.of(value))
    };
    let whole = matches!(class.base, Base::World | Base::Exit);
    let subscripts = class.subscripts.iter().flatten().map(|form| at(form.as_ref()?));
    let subscripts: Option<Vec<i64>> = if whole { Some(Vec::new()) } else { subscripts.collect() };
    let name = (class.base, class.origin);
    let object = objects.iter().position(|known| *known == name).unwrap_or_else(|| {
        objects.push(name);
        objects.len() - 1
    });
    Some((object, subscripts?))
}

/// True if the program runs two instances in a fixed order: no parallel loop separates them.
fn is_ordered(program: &Program, a: &Instance, b: &Instance) -> bool {
    let path = |instance: &Instance| program.path(program.statement(instance.0).parent);
    let levels = path(a).into_iter().zip(path(b)).zip(a.1.iter().zip(&b.1));
    let parting = levels.take_while(|((x, y), _)| x == y).find(|(_, (x, y))| x != y);
    parting.is_none_or(|((of, _), _)| program.loop_info(of).dimension.is_none())
}

/// An access of a location: true for a write, the reduction of its update, and the instance.
type Touch<'i> = (bool, Option<Reduction>, &'i Instance);

/// Returns a store of an update that lost its load: the load is missing, or another write comes
/// between load and store. `place` returns the position of an instance in the order.
fn torn<'i, 'p>(
    meeting: &[Touch<'i>],
    place: impl Fn(&Instance) -> Option<&'p usize>,
) -> Option<&'i Instance> {
    let mut in_order: Vec<&Touch<'i>> = meeting.iter().collect();
    in_order.sort_by_key(|(_, _, instance)| place(instance));
    // The iterations with a load that only loads followed.
    let mut open: Vec<&[i64]> = Vec::new();
    for (writes, update, instance) in in_order {
        if *writes {
            if update.is_some() && !open.contains(&&instance.1[..]) {
                return Some(instance);
            }
            open.clear();
        } else if update.is_some() {
            open.push(&instance.1);
        }
    }
    None
}
