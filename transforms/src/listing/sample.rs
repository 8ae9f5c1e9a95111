//! The accesses in a window of iterations, one by one, so that dependences can be drawn.
//!
//! Loops are walked through as they would run, from the first iteration of a window on. Parameters
//! get values: those of an example, or small ones that are [supposed](Sample::supposed). An
//! [`Arrow`] leads from an iteration to a later one that touches the same element, if one of them
//! writes.
//!
//! Nothing is decided here. An access that cannot be located is left out, and the sample says so.
//!
//! **Cost.** Bounded by the window and by [`MAX_TOUCHES`].

use hashbrown::{HashMap, HashSet};
use loomir_ir::{Body, Op, Value};

use super::Kind;
use crate::access::Class;
use crate::access::base::Base;
use crate::affine::{AffineForm, Atom};
use crate::naming::called_in_full;
use crate::tree::program::LoopInfo;
use crate::tree::{Green, LoopId, Node, Path, Program, StatementId, TreeStore};

/// The most accesses that are listed.
pub const MAX_TOUCHES: usize = 4096;

/// The most iterations that are entered, with accesses or without.
const MAX_STEPS: usize = 1 << 14;

/// The most arrows that are listed.
const MAX_ARROWS: usize = 512;

/// The supposed value of a parameter.
const SUPPOSED: i64 = 8;

/// The iterations to walk through.
#[derive(Clone, Copy)]
pub struct Window<'w> {
    /// The number of the first iteration, for a loop.
    pub first: &'w dyn Fn(LoopId) -> i64,
    /// The number of iterations of each loop.
    pub width: i64,
    /// The values of parameters by their names in remarks.
    pub value: &'w dyn Fn(&str) -> Option<i64>,
}

/// An iteration of a loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Point {
    /// The loops, from the outermost of the sample inwards.
    pub loops: Vec<LoopId>,
    /// The numbers of their iterations, from 0.
    pub numbers: Vec<i64>,
    /// The values of their induction variables, as far as they are affine.
    pub values: Vec<Option<i64>>,
}

/// Two accesses of one element, at least one of which writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Arrow {
    /// The operation that runs first, and the numbers of its iterations from the sample's loop on.
    pub from: (Op, Vec<i64>),
    /// The operation that runs later.
    pub to: (Op, Vec<i64>),
    /// The kind of dependence.
    pub kind: Kind,
    /// The subscripts of the element.
    pub element: Vec<i64>,
}

/// The iterations and dependences in a window.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sample {
    /// The iterations of the first loop, and of the loops in it.
    pub first: Vec<Point>,
    /// The iterations of the second loop. Empty for a sample of one loop.
    pub second: Vec<Point>,
    /// The dependences, in the order of their sinks.
    pub arrows: Vec<Arrow>,
    /// The parameters without a value in an example, and their supposed values.
    pub supposed: Vec<(String, i64)>,
    /// True if no access was left out.
    pub is_complete: bool,
}

/// One access of an element.
struct Touch {
    op: Op,
    numbers: Vec<i64>,
    location: Location,
    writes: bool,
}

/// An object and an element of it.
type Location = (Object, Vec<i64>);

/// The last write of a location, and the reads behind it.
type Latest<'t> = (Option<&'t Touch>, Vec<&'t Touch>);

/// An object, and how its elements are counted.
type Object = (Base, Option<Value>, Vec<AffineForm>, i64);

/// Samples the dependences from one loop to a later one beside it.
pub fn between(
    body: &Body,
    program: &Program,
    trees: &TreeStore,
    (first, second): (LoopId, LoopId),
    window: Window<'_>,
) -> Sample {
    let mut walk = Walk::new(body, program, trees, window);
    let (points, sources) = walk.run(first);
    let (others, sinks) = walk.run(second);
    let mut by_location: HashMap<&Location, Vec<&Touch>> = HashMap::new();
    sources.iter().for_each(|own| by_location.entry(&own.location).or_default().push(own));
    let mut arrows = Vec::new();
    for sink in &sinks {
        let all = by_location.get(&sink.location).into_iter().flatten();
        let mut own: Vec<Arrow> = all.filter_map(|source| arrow(source, sink)).collect();
        if own.len() > MOST_INTO_ONE {
            // The latest source demands most.
            own.sort_by(|a, b| b.from.1.cmp(&a.from.1));
            own.truncate(1);
        }
        arrows.extend(own);
        if arrows.len() > MAX_ARROWS {
            walk.is_complete = false;
            break;
        }
    }
    walk.sample(points, others, distinct(arrows))
}

/// The most arrows into one access. Of more, the latest source is listed.
const MOST_INTO_ONE: usize = 3;

/// Samples the dependences between different iterations of one loop: from each write to the
/// accesses up to the next one, and from each read to the next write.
pub fn within(body: &Body, program: &Program, trees: &TreeStore, of: LoopId, window: Window<'_>) -> Sample {
    let mut walk = Walk::new(body, program, trees, window);
    let (points, touches) = walk.run(of);
    let mut known: HashMap<&Location, Latest<'_>> = HashMap::new();
    let mut arrows = Vec::new();
    for touch in &touches {
        let (written, read) = known.entry(&touch.location).or_default();
        let sources = written.iter().copied().filter(|_| !touch.writes || read.is_empty());
        let readers = read.iter().copied().filter(|_| touch.writes);
        let all: Vec<&Touch> = sources.chain(readers).filter(|own| own.numbers != touch.numbers).collect();
        let latest = all.len().saturating_sub(MOST_INTO_ONE);
        arrows.extend(all[latest..].iter().filter_map(|source| arrow(source, touch)));
        if touch.writes {
            (*written, *read) = (Some(touch), Vec::new());
        } else {
            read.push(touch);
        }
        if arrows.len() > MAX_ARROWS {
            walk.is_complete = false;
            break;
        }
    }
    walk.sample(points, Vec::new(), distinct(arrows))
}

/// Returns the dependence of two accesses of one element, unless both read.
fn arrow(source: &Touch, sink: &Touch) -> Option<Arrow> {
    let kind = match (source.writes, sink.writes) {
        (true, false) => Kind::Flow,
        (false, true) => Kind::Anti,
        (true, true) => Kind::Output,
        (false, false) => return None,
    };
    let end = |touch: &Touch| (touch.op, touch.numbers.clone());
    Some(Arrow { from: end(source), to: end(sink), kind, element: sink.location.1.clone() })
}

/// Leaves out arrows between the same iterations as an earlier one of the same kind.
fn distinct(arrows: Vec<Arrow>) -> Vec<Arrow> {
    let mut seen = HashSet::new();
    let is_new = |own: &Arrow| seen.insert((own.from.1.clone(), own.to.1.clone(), own.kind));
    let mut arrows = arrows;
    arrows.retain(is_new);
    arrows
}

struct Walk<'a> {
    body: &'a Body,
    program: &'a Program,
    trees: &'a TreeStore,
    window: Window<'a>,
    parameters: HashMap<Value, i64>,
    supposed: Vec<(String, i64)>,
    is_complete: bool,
    steps: usize,
    /// The loops that are being run, and the numbers of their iterations, from the root.
    loops: Path,
    levels: Vec<i64>,
    /// The number of loops around the sample.
    outside: usize,
    points: Vec<Point>,
    touches: Vec<Touch>,
}

impl<'a> Walk<'a> {
    fn new(body: &'a Body, program: &'a Program, trees: &'a TreeStore, window: Window<'a>) -> Walk<'a> {
        Walk {
            body,
            program,
            trees,
            window,
            parameters: HashMap::new(),
            supposed: Vec::new(),
            is_complete: true,
            steps: 0,
            loops: Path::new(),
            levels: Vec::new(),
            outside: 0,
            points: Vec::new(),
            touches: Vec::new(),
        }
    }

    fn sample(self, first: Vec<Point>, second: Vec<Point>, arrows: Vec<Arrow>) -> Sample {
        Sample { first, second, arrows, supposed: self.supposed, is_complete: self.is_complete }
    }

    /// Runs a loop in the first iteration of the window of the loops around.
    fn run(&mut self, of: LoopId) -> (Vec<Point>, Vec<Touch>) {
        self.loops = self.program.path(self.program.loop_info(of).parent);
        self.levels = self.loops.iter().map(|own| (self.window.first)(*own)).collect();
        self.outside = self.loops.len();
        if let Node::Loop { body, .. } = self.trees.get(self.program.loop_info(of).green) {
            self.iterate(of, body);
        }
        (std::mem::take(&mut self.points), std::mem::take(&mut self.touches))
    }

    /// Recurses once for each loop or conditional. Their nesting depth is bounded when they are
    /// raised.
    fn iterate(&mut self, of: LoopId, body: Green) {
        let space = &self.program.loop_info(of).space;
        if !space.is_counted() {
            self.is_complete = false;
            return;
        }
        let first = (self.window.first)(of);
        self.loops.push(of);
        for number in first..first.saturating_add(self.window.width) {
            self.steps += 1;
            if self.steps > MAX_STEPS || self.touches.len() >= MAX_TOUCHES {
                self.is_complete = false;
                break;
            }
            self.levels.push(number);
            match self.holds(&space.domain.constraints) {
                Some(true) => {
                    self.add_point();
                    self.sequence(body);
                }
                Some(false) => {}
                None => self.is_complete = false,
            }
            self.levels.pop();
        }
        self.loops.pop();
    }

    fn sequence(&mut self, sequence: Green) {
        let trees = self.trees;
        for item in trees.items(sequence) {
            match trees.get(item) {
                Node::Loop { header, body } => {
                    if let Some(origin) = trees.header(header).origins.first() {
                        self.iterate(origin.of, body);
                    }
                }
                Node::Guard { body, .. } => self.sequence(body),
                Node::Leaf { statement, .. } => self.statement(statement),
                // A program has no such items.
                Node::Versioned { .. } | Node::Sequence { .. } | Node::Empty => {}
            }
        }
    }

    fn add_point(&mut self) {
        let loops = self.loops[self.outside..].to_vec();
        let numbers = self.levels[self.outside..].to_vec();
        let program = self.program;
        let values = loops.iter().map(|of| self.value(program.loop_info(*of).space.variable.as_ref()?));
        let values = values.collect();
        self.points.push(Point { loops, numbers, values });
    }

    fn statement(&mut self, id: StatementId) {
        let program = self.program;
        let effects = &program.statement(id).effects;
        self.is_complete &= effects.world.is_none();
        for (class, op) in &effects.classes {
            match self.holds(&class.domain.constraints) {
                Some(true) => {}
                Some(false) => continue,
                None => {
                    self.is_complete = false;
                    continue;
                }
            }
            let Some(location) = self.location(class) else {
                self.is_complete = false;
                continue;
            };
            let numbers = self.levels[self.outside..].to_vec();
            self.touches.push(Touch { op: *op, numbers, location, writes: class.writes });
        }
    }

    fn location(&mut self, class: &Class) -> Option<Location> {
        let subscripts = class.subscripts.as_ref()?;
        let element = subscripts.iter().map(|form| self.value(form.as_ref()?)).collect::<Option<_>>()?;
        Some(((class.base, class.origin, class.sizes.clone(), class.unit), element))
    }

    /// True if none of these forms is negative.
    fn holds(&mut self, forms: &[AffineForm]) -> Option<bool> {
        for form in forms {
            if self.value(form)? < 0 {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Returns the value of a form in the current iterations. `None` if a loop computes a part.
    fn value(&mut self, form: &AffineForm) -> Option<i64> {
        if !self.program.is_known(form, 0) {
            return None;
        }
        let mut unknown = Vec::new();
        form.each_unknown(&mut |atom: &Atom| unknown.extend(atom.factors().into_iter().flatten()));
        unknown.into_iter().for_each(|value| self.suppose(value));
        let level = |at: u32| self.levels.get(at as usize).copied();
        form.evaluate(&level, &|value| self.parameters.get(&value).copied())
    }

    fn suppose(&mut self, parameter: Value) {
        if self.parameters.contains_key(&parameter) {
            return;
        }
        let name = called_in_full(self.body, parameter);
        let value = (self.window.value)(&name).unwrap_or_else(|| {
            let begins = |info: &LoopInfo| {
                info.space.lower.as_ref().is_some_and(|form| form.as_parameter() == Some(parameter))
            };
            let is_lower = self.program.loops().any(|of| begins(self.program.loop_info(of)));
            let supposed = if is_lower { 0 } else { SUPPOSED };
            self.supposed.push((name.clone(), supposed));
            supposed
        });
        self.parameters.insert(parameter, value);
    }
}
