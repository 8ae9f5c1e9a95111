//! The estimated time of a whole tree: computing, and fetching lines, level by level.
//!
//! An innermost loop computes as [`Work`] says: as many iterations at once as vectors hold, or one
//! after the other if each waits for the one before. What all iterations load, and what an
//! iteration loads twice, is in a register. A loop around it repeats that.
//!
//! Lines are counted for each cache. If one iteration of a loop touches no more than the cache
//! holds, what the next iteration touches again is still there, and the whole loop fetches each of
//! its lines once. Otherwise each iteration fetches what its inner loops fetch. In between, the
//! part that does not fit counts.
//!
//! Pages are counted in the same way. A core knows the places of some; to look up that of another
//! one takes many cycles, which is why going through columns of a great array is slow.
//!
//! Reference: Ferrante, Sarkar and Thrash, *On Estimating and Enhancing Cache Effectiveness*,
//! LCPC 1991.
//!
//! **Cost.** The leaves below each loop are visited for this loop: depth times leaves.

use loomir_ir::{Body, Loc};

use super::saving::Time;
use super::{Cost, Leaves, Machine, Pace, Work};
use crate::access::base::AliasMode;
use crate::access::{Analyses, LoopContext};
use crate::marks;
use crate::tree::raise::{raise_by, roots};
use crate::tree::{Green, Node, Program, TreeStore};

/// The likelihood of the fast side of a run-time check.
const PASSES: f64 = 0.9;

/// The usual numbers of ways of the first and the second cache: a line has one place in each way.
/// Greater caches scatter lines over their sets.
const WAYS: [u64; 2] = [8, 16];

/// The caches that a core has for itself, and its share of the further ones.
const OWN_CACHES: usize = 2;
const SHARE: f64 = 0.5;

/// The steps of a loop whose end a core foresees.
const FORESEEN: f64 = 16.0;

/// The estimated time of a tree each time it is reached.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Estimate {
    /// Cycles of computing.
    computing: f64,
    /// For each cache, the lines that are not in it when they are needed.
    missed: Vec<f64>,
    /// The pages whose places are looked up, and those among them that were never known.
    pages: f64,
    new_pages: f64,
}

impl Estimate {
    /// Returns the estimate for the statements and loops of `tree` in `loop_context`.
    pub(crate) fn of(
        (ir, program, trees): (&Body, &Program, &TreeStore),
        cost: &dyn Cost,
        tree: Green,
        loop_context: &LoopContext,
        leaves: &mut Leaves,
    ) -> Estimate {
        let nothing_to_see = &mut |_: &LoopContext, _: &Work, _: &Estimate| {};
        let mut estimating = Estimating { ir, program, trees, cost, machine: cost.machine(), leaves };
        estimating.visit(tree, loop_context, nothing_to_see)
    }

    /// Returns the cycles.
    pub(crate) fn cycles(&self, machine: &Machine) -> f64 {
        Time { computing: self.computing, fetching: self.fetching(machine) }.cycles(machine)
    }

    fn fetching(&self, machine: &Machine) -> f64 {
        let further = machine.caches.iter().skip(1).map(|cache| cache.cycles).chain([machine.memory]);
        let steps = machine.caches.iter().zip(further).map(|(cache, next)| next - cache.cycles);
        let fetched: f64 = self.missed.iter().zip(steps).map(|(lines, step)| lines * step).sum();
        fetched + self.pages_again() * machine.page
    }

    /// Returns the pages that are looked up again.
    fn pages_again(&self) -> f64 {
        self.pages - self.new_pages
    }

    fn nothing(machine: &Machine) -> Estimate {
        Estimate { computing: 0.0, missed: vec![0.0; machine.caches.len()], pages: 0.0, new_pages: 0.0 }
    }

    /// Returns the sum of this and of `times` times another one.
    fn and(mut self, other: &Estimate, times: f64) -> Estimate {
        self.computing += times * other.computing;
        self.missed.iter_mut().zip(&other.missed).for_each(|(own, other)| *own += times * other);
        self.pages += times * other.pages;
        self.new_pages += times * other.new_pages;
        self
    }
}

/// True if an innermost loop of a tree writes what is the same in all its iterations, such as a
/// sum. `None` if the tree has no loop. Recurses once for each loop or guard. Raising bounds their
/// nesting depth. Linear.
pub(crate) fn sums_up(
    (ir, program, trees): (&Body, &Program, &TreeStore),
    cost: &dyn Cost,
    tree: Green,
    loop_context: &LoopContext,
) -> Option<bool> {
    let place = (ir, program, trees);
    match trees.get(tree) {
        Node::Empty | Node::Leaf { .. } => None,
        Node::Sequence { .. } => {
            let of = |item| sums_up(place, cost, item, loop_context);
            trees.items(tree).filter_map(of).reduce(|any, own| any | own)
        }
        Node::Guard { body, .. } => sums_up(place, cost, body, loop_context),
        Node::Versioned { fast, .. } => sums_up(place, cost, fast, loop_context),
        Node::Loop { header, body } => {
            let inside = loop_context.inside(program, trees, header);
            let own = || Work::of(place, cost, tree, loop_context).is_some_and(|own| own.streams.has_sums());
            Some(sums_up(place, cost, body, &inside).unwrap_or_else(own))
        }
    }
}

/// Returns the estimated cycles of the loops of a function, in each block that is a tree of its
/// own. Raises the function.
pub fn cycles(body: &Body, basis: (&Analyses, AliasMode), cost: &dyn Cost) -> f64 {
    estimated(body, basis, cost, &mut |_, _, _| {})
}

/// The estimate for a loop each time it is reached.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct LoopCost {
    /// The place of the loop; of loops that run as one, that of the first.
    pub place: Loc,
    /// The number of loops around it.
    pub depth: u32,
    /// The trip count.
    pub trips: f64,
    /// True if the trip count is a guess.
    pub is_guess: bool,
    /// The cycles, with the part of computing and fetching that overlaps counted once.
    pub cycles: f64,
    /// The cycles of computing.
    pub computing: f64,
    /// The cycles of fetching lines.
    pub fetching: f64,
    /// For each cache of the machine, the lines that are not in it when they are needed.
    pub missed: Vec<f64>,
    /// The pages whose places are looked up again.
    pub pages: f64,
    /// The pace of an innermost loop. `None` for a loop around others.
    pub pace: Option<Pace>,
}

/// Returns the estimate for each loop of a function, outer loops before inner ones, and the cycles
/// of all of them. Raises the function.
pub fn loop_costs(body: &Body, basis: (&Analyses, AliasMode), cost: &dyn Cost) -> (Vec<LoopCost>, f64) {
    let mut all: Vec<LoopCost> = Vec::new();
    let machine = cost.machine();
    let cycles = estimated(body, basis, cost, &mut |around, work, estimate| {
        let own = LoopCost {
            place: body.loc(work.of),
            depth: around.depth,
            trips: work.trips,
            is_guess: work.assumed,
            cycles: estimate.cycles(machine),
            computing: estimate.computing,
            fetching: estimate.fetching(machine),
            missed: estimate.missed.clone(),
            pages: estimate.pages_again(),
            pace: work.innermost.then(|| work.pace()),
        };
        // Loops inside came before.
        let inside = all.iter().rev().take_while(|other| other.depth > own.depth).count();
        all.insert(all.len() - inside, own);
    });
    (all, cycles)
}

/// Shows the estimates of all loops, inner ones first, and returns the cycles of the outermost
/// ones.
fn estimated(
    body: &Body,
    (analyses, alias): (&Analyses, AliasMode),
    cost: &dyn Cost,
    see: &mut See<'_>,
) -> f64 {
    let mut cycles = 0.0;
    for block in roots(body, analyses) {
        let mut trees = TreeStore::default();
        let program = raise_by(analyses, body, block, &mut trees, alias);
        let outside = LoopContext::outside(&program.surroundings);
        let machine = cost.machine();
        let leaves = &mut Leaves::default();
        for item in trees.items(program.root) {
            let mut estimating =
                Estimating { ir: body, program: &program, trees: &trees, cost, machine, leaves };
            cycles += estimating.visit(item, &outside, see).cycles(machine);
        }
    }
    cycles
}

/// Gets the surroundings of a loop, its work and its estimate.
type See<'a> = dyn FnMut(&LoopContext, &Work, &Estimate) + 'a;

struct Estimating<'a> {
    ir: &'a Body,
    program: &'a Program,
    trees: &'a TreeStore,
    cost: &'a dyn Cost,
    machine: &'a Machine,
    leaves: &'a mut Leaves,
}

impl Estimating<'_> {
    /// Recurses once for each loop or guard. Raising bounds their nesting depth.
    fn visit(&mut self, tree: Green, loop_context: &LoopContext, see: &mut See<'_>) -> Estimate {
        let nothing = Estimate::nothing(self.machine);
        match self.trees.get(tree) {
            Node::Empty => nothing,
            Node::Sequence { .. } => {
                let items = self.trees.items(tree);
                items.fold(nothing, |sum, item| sum.and(&self.visit(item, loop_context, see), 1.0))
            }
            Node::Guard { of, holds, body, .. } => {
                let op = self.program.if_info(of).op;
                let likely = match self.ir.attr(op, marks::VERSIONED) {
                    Some(_) => PASSES,
                    None => self.cost.likelihood(self.ir, op).clamp(0.0, 1.0),
                };
                nothing.and(&self.visit(body, loop_context, see), if holds { likely } else { 1.0 - likely })
            }
            Node::Versioned { fast, .. } => self.visit(fast, loop_context, see),
            Node::Leaf { statement, .. } => {
                let ops = self.program.statement(statement).ops.len() as f64;
                Estimate { computing: ops / self.machine.issue, ..nothing }
            }
            Node::Loop { header, body } => {
                let place = (self.ir, self.program, self.trees);
                let Some(work) = Work::as_compiled(place, self.cost, tree, loop_context, self.leaves) else {
                    return nothing;
                };
                let inside = loop_context.inside(self.program, self.trees, header);
                let one = self.visit(body, &inside, see);
                let all = self.repeated(&work, &one);
                see(loop_context, &work, &all);
                all
            }
        }
    }

    /// Returns the estimate for a loop, whose body is `one` each time.
    fn repeated(&self, work: &Work, one: &Estimate) -> Estimate {
        let computing = match work.innermost {
            true => work.computed(self.machine),
            false => work.trips * (one.computing + self.machine.counting()),
        };
        let line = self.machine.line as f64;
        let at_once = work.streams.at_once * line;
        let missed = |((at, cache), inner): ((usize, &super::Cache), &f64)| {
            let own = cache.bytes as f64 * if at < OWN_CACHES { 1.0 } else { SHARE };
            let beyond = (at_once / own.max(1.0) - 1.0).clamp(0.0, 1.0);
            // The second cache is near: several lines are underway while a core computes.
            let least = if at == 0 { work.streams.moved } else { work.streams.moved_far };
            let most = if work.innermost { least } else { (work.trips * inner).max(least) };
            let lost = WAYS.get(at).map_or(0.0, |ways| {
                let way = (cache.bytes / ways).max(self.machine.line);
                work.streams.lost((cache.bytes, 1 << way.ilog2()), line, beyond)
            });
            least + beyond * (most - least) + lost
        };
        Estimate {
            computing: self.entered(work) + computing,
            missed: self.machine.caches.iter().enumerate().zip(&one.missed).map(missed).collect(),
            pages: self.looked_up(work, one.pages),
            new_pages: work.streams.pages,
        }
    }

    /// Returns the cycles to enter and leave a loop. A core foresees the end of a loop that always
    /// takes the same few steps.
    fn entered(&self, work: &Work) -> f64 {
        let steps = work.trips / work.lanes.unwrap_or(1.0);
        self.machine.start * if work.is_regular && steps <= FORESEEN { 0.25 } else { 1.0 }
    }

    /// Returns the pages that a loop looks up, whose body looks up `inner` each time. Iterations
    /// that go through more pages than a core knows find none of them again. Some are forgotten
    /// earlier, as each is known in few places.
    fn looked_up(&self, work: &Work, inner: f64) -> f64 {
        let known = (self.machine.pages as f64 / 2.0).max(1.0);
        let beyond = (work.streams.pages_at_once / known - 1.0).clamp(0.0, 1.0);
        let least = work.streams.pages;
        let most = if work.innermost { least } else { (work.trips * inner).max(least) };
        least + beyond * (most - least)
    }
}
