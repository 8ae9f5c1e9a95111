//! Samples of dependences for pictures: of the two loops of a remark, and inside of nests.

use hashbrown::HashMap;
use loomir_ir::Body;
use loomir_transforms::access::Analyses;
use loomir_transforms::access::base::AliasMode;
use loomir_transforms::listing::sample::{self, Sample, Window};
use loomir_transforms::tree::raise::{raise_by, roots};
use loomir_transforms::tree::{LoopId, Program, TreeStore};
use serde_json::Value;

use super::source::{Place, Source};

/// The number of iterations of one loop that are shown.
pub(super) const WIDTH: i64 = 12;

/// The same of each of two loops in each other.
const NESTED: i64 = 6;

/// The farthest that the two iterations of a witness may be apart to be shown.
const FARTHEST: i64 = 20;

/// The most nests of a function that are drawn.
const MAX_NESTS: usize = 12;

/// The loop trees of a function.
pub(super) struct Programs<'b> {
    pub(super) body: &'b Body,
    pub(super) analyses: &'b Analyses,
    pub(super) alias: AliasMode,
    pub(super) all: Vec<(Program, TreeStore)>,
    /// The loops by place, with the positions of their programs.
    loops: HashMap<Place, (usize, LoopId)>,
}

/// A picture of two loops that were fused, or not.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    /// The places of the loops.
    pub(super) places: [Place; 2],
    /// The dependences, with the operations' places.
    pub(super) sample: Sample,
    /// The numbers of the two iterations of the witness.
    pub(super) witness: Option<[i64; 2]>,
    /// The number of iterations by which the second loop runs later.
    pub(super) shift: i64,
    /// True if the second loop runs backwards; all its iterations are shown then.
    pub(super) is_backwards: bool,
    /// The first iteration that is shown, and the number of them for each loop at most.
    pub(super) first: i64,
    pub(super) width: i64,
}

/// A picture of a nest.
#[derive(Clone, Debug)]
pub(super) struct Nest {
    pub(super) place: Place,
    /// The number of loops in each other: one or two.
    pub(super) depth: usize,
    pub(super) sample: Sample,
}

impl<'b> Programs<'b> {
    /// Raises a function. Linear.
    pub(super) fn of(
        body: &'b Body,
        analyses: &'b Analyses,
        alias: AliasMode,
        source: &Source<'_>,
    ) -> Programs<'b> {
        let raised = |block| {
            let mut trees = TreeStore::default();
            let program = raise_by(analyses, body, block, &mut trees, alias);
            (program, trees)
        };
        let all: Vec<(Program, TreeStore)> = roots(body, analyses).into_iter().map(raised).collect();
        let mut loops = HashMap::new();
        for (at, (program, _)) in all.iter().enumerate() {
            for of in program.loops() {
                // The dimensions of a parallel loop have one place; the outermost counts.
                if let Some(place) = source.place(body.ctx(), body.loc(program.loop_info(of).op)) {
                    loops.entry(place).or_insert((at, of));
                }
            }
        }
        Programs { body, analyses, alias, all, loops }
    }

    /// Returns the picture of a remark on two loops beside each other.
    pub(super) fn pair(&self, source: &Source<'_>, remark: &Value) -> Option<Pair> {
        let args = &remark["args"];
        if !args["reshaped"].is_null() || args["unsigned"].is_object() {
            return None;
        }
        let places = [source.place_in(&args["first"])?, source.place_in(remark)?];
        let ((at, first), (same, second)) = (*self.loops.get(&places[0])?, *self.loops.get(&places[1])?);
        let (program, trees) = &self.all[at];
        let parent = |of: LoopId| program.loop_info(of).parent;
        if at != same || first == second || parent(first) != parent(second) {
            return None;
        }
        // Which iterations come together then depends on values.
        if args["at_equal_values"].as_bool().unwrap_or_default() {
            return None;
        }
        let fault = args["faults"].get(0);
        let value = |name: &str| value_of(fault?, name);
        let between = |from: i64, width: i64| {
            let start = |of: LoopId| if of == first || of == second { from } else { 0 };
            let window = Window { first: &start, width, value: &value };
            sample::between(self.body, program, trees, (first, second), window)
        };
        let mut found = between(0, WIDTH);
        if own(&found.first).next().is_none() || own(&found.second).next().is_none() {
            return None;
        }
        let number = |key: &str, points: &[sample::Point]| {
            let iteration = fault?[key]["iteration"].get(0)?;
            iteration["number"].as_i64().or_else(|| number_of(iteration.as_i64()?, points))
        };
        let witness = number("first", &found.first).zip(number("second", &found.second));
        let witness = witness.map(|(a, b)| [a, b]);
        let (mut from, mut width) = (0, WIDTH);
        if let Some([a, b]) = witness {
            let (least, most) = (a.min(b), a.max(b));
            if least < 0 || most.saturating_sub(least) > FARTHEST {
                return None;
            }
            if most >= WIDTH {
                from = least.saturating_sub(2).max(0);
                width = (most - from + 3).max(WIDTH);
                found = between(from, width);
            }
        }
        let is_backwards = args["backwards"].as_bool().unwrap_or_default();
        let is_whole = own(&found.second).count() < WIDTH as usize;
        let shift = args["shift"].as_i64().filter(|_| remark["kind"] == "passed").unwrap_or_default();
        if is_backwards && !is_whole || shift > FARTHEST {
            return None;
        }
        Some(Pair { places, sample: found, witness, shift, is_backwards, first: from, width })
    }

    /// Returns the pictures of nests with dependences between their iterations.
    pub(super) fn nests(&self, source: &Source<'_>) -> Vec<Nest> {
        let mut nests = Vec::new();
        for (program, trees) in &self.all {
            // The outermost loops, with their depths and the number of loops in them.
            let mut depths: Vec<(LoopId, usize, usize)> = Vec::new();
            for of in program.loops() {
                let info = program.loop_info(of);
                match depths.last_mut() {
                    // Loops are numbered in the order of the text.
                    Some((_, deepest, loops)) if info.parent.is_some() => {
                        *deepest = (*deepest).max(info.depth as usize + 1);
                        *loops += 1;
                    }
                    _ => depths.push((of, 1, 1)),
                }
            }
            // Two loops beside each other have no common plane.
            let is_drawn = |(_, depth, loops): &(LoopId, usize, usize)| *depth <= 2 && loops == depth;
            for (of, depth, _) in depths.into_iter().filter(is_drawn) {
                let op = program.loop_info(of).op;
                let Some(place) = source.place(self.body.ctx(), self.body.loc(op)) else { continue };
                if nests.len() >= MAX_NESTS {
                    return nests;
                }
                let width = if depth == 1 { WIDTH } else { NESTED };
                let window = Window { first: &|_| 0, width, value: &|_| None };
                let sample = sample::within(self.body, program, trees, of, window);
                if !sample.arrows.is_empty() {
                    nests.push(Nest { place, depth, sample });
                }
            }
        }
        nests
    }
}

/// Returns the iterations of the sampled loop itself.
pub(super) fn own(points: &[sample::Point]) -> impl Iterator<Item = &sample::Point> {
    points.iter().filter(|point| point.numbers.len() == 1)
}

/// Returns the number of the iteration in which an induction variable has a value.
fn number_of(value: i64, points: &[sample::Point]) -> Option<i64> {
    let mut own = own(points);
    let (start, next) = (own.next()?.values[0]?, own.next().and_then(|point| point.values[0]));
    let step = next.map_or(1, |next| next.wrapping_sub(start));
    value.checked_sub(start)?.checked_div(step)
}

/// Returns the value of a parameter in the example of a fault.
fn value_of(fault: &Value, name: &str) -> Option<i64> {
    let all = fault["where"].as_array()?;
    all.iter().find(|own| own["name"] == name)?["value"].as_i64()
}
