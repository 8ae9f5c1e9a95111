//! Chains of one operation whose order does not matter, as the set of what they combine.
//!
//! A sum over a loop is a chain `s = s + x[i]` of unknown length. From an instance of its last
//! operation the walk follows operands and copies backwards and collects, for each term on the way,
//! the instances that belong to the chain. A term met again and again is guessed to be met in all
//! instances of an affine hull; [`Matcher::is_exact`] shows afterwards that the guess is exact and
//! that each instance is met once.

use loomir_ir::OpRef;
use loomir_polyhedra::Conjunction;

use super::super::model::{Kind, TermId};
use super::super::read::flag_bits;
use super::super::sets::{Asked, Pieces, hide, intersect, moved, var};
use super::{Goal, Matcher, Side, Stuck};

/// The most steps of a walk.
const MAX_STEPS: usize = 160;
/// The number of times a term is met before its instances are guessed.
const PATIENCE: usize = 2;

/// Operations that combine any number of values in any order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Family {
    /// Sums and differences of integers.
    Sum,
    /// Any other operation, by a number of its own.
    Other(u8),
}

impl Family {
    /// True if the order decides how results are rounded, or the signs of zeros.
    pub(super) fn rounds(self) -> bool {
        matches!(self, Family::Other(10..))
    }
}

/// An operation of a family.
#[derive(Clone, Copy, Debug)]
pub(super) struct Combining {
    pub(super) family: Family,
    /// True if the second operand counts negatively.
    pub(super) subtracts: bool,
    /// True if integer flags promise something of the result.
    pub(super) promises: bool,
    /// The fast-math flags.
    pub(super) fast: u64,
}

/// Returns the family of an operation; `None` if the order matters.
pub(super) fn combining(op: OpRef<'_>) -> Option<Combining> {
    let bits = |name: &str| flag_bits(op, name);
    let is_word = op.name().starts_with("llvm.");
    let (overflow, fast) = (bits("overflowFlags"), bits(if is_word { "fastmathFlags" } else { "fastmath" }));
    let is_disjoint = op.attr("isDisjoint").is_some();
    let subtracts = matches!(op.name(), "arith.subi" | "arith.subf" | "llvm.sub" | "llvm.fsub");
    let family = match op.name() {
        "arith.addi" | "arith.subi" | "llvm.add" | "llvm.sub" => Family::Sum,
        "arith.muli" | "llvm.mul" => Family::Other(0),
        "arith.andi" | "llvm.and" => Family::Other(1),
        "arith.ori" | "llvm.or" => Family::Other(2),
        "arith.xori" | "llvm.xor" => Family::Other(3),
        "arith.minsi" | "llvm.intr.smin" => Family::Other(4),
        "arith.maxsi" | "llvm.intr.smax" => Family::Other(5),
        "arith.minui" | "llvm.intr.umin" => Family::Other(6),
        "arith.maxui" | "llvm.intr.umax" => Family::Other(7),
        "arith.minimumf" => Family::Other(8),
        "arith.maximumf" => Family::Other(9),
        // The flag `reassoc`.
        "arith.addf" | "arith.subf" if fast & 1 != 0 => Family::Other(10),
        "arith.mulf" if fast & 1 != 0 => Family::Other(11),
        "llvm.fadd" | "llvm.fsub" if fast & 64 != 0 => Family::Other(10),
        "llvm.fmul" if fast & 64 != 0 => Family::Other(11),
        // Without NaN, and if zeros of either sign are one: the flags `nnan` and `nsz`.
        "arith.minnumf" if fast & 10 == 10 => Family::Other(12),
        "arith.maxnumf" if fast & 10 == 10 => Family::Other(13),
        _ => return None,
    };
    Some(Combining { family, subtracts, promises: overflow != 0 || is_disjoint, fast })
}

/// A value that a chain combines, in some instances. The relation is over the parameters, the
/// variables of both sides of the goal (the leaf's in place of its chain's), and then those of the
/// chain's last operation.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) term: TermId,
    pub(super) is_negative: bool,
    pub(super) pairs: Pieces,
}

/// A chain.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) leaves: Vec<Leaf>,
    /// Its operations.
    operations: Vec<Combining>,
}

impl Chain {
    /// True if no operation of another chain promises what one of this does not. Integer flags are
    /// about intermediate results, of which another order has others.
    pub(super) fn promises_all_of(&self, other: &Chain) -> bool {
        let common = self.operations.iter().fold(u64::MAX, |common, own| common & own.fast);
        other.operations.iter().all(|own| !own.promises && own.fast & !common == 0)
    }
}

/// A term on the way, with the instances that belong to the chain.
struct Node {
    term: TermId,
    pairs: Pieces,
    visits: usize,
}

/// A step from a node: the term that is met, and how often it counts.
struct Step {
    goal: Goal,
    is_negative: bool,
    /// False for an operand that does not continue the chain whatever it is.
    may_continue: bool,
}

impl<'b> Matcher<'_, 'b> {
    /// Collects what the chain of one side of a goal combines; `None` if that is not exactly known.
    pub(super) fn chain(
        &mut self,
        side: Side,
        goal: &Goal,
        own: Combining,
    ) -> Result<Option<Chain>, Stuck<'b>> {
        let root = goal.terms[side];
        let start = self.tagged(side, goal);
        let mut nodes = vec![Node { term: root, pairs: Pieces::new(), visits: 0 }];
        let mut agenda = vec![Goal { terms: goal.terms, pairs: start.clone() }];
        let mut steps = 0;
        while let Some(next) = agenda.pop() {
            steps += 1;
            if steps > MAX_STEPS {
                return Ok(None);
            }
            let term = next.terms[side];
            let index = match nodes.iter().position(|node| node.term == term) {
                Some(index) => index,
                None => {
                    nodes.push(Node { term, pairs: Pieces::new(), visits: 0 });
                    nodes.len() - 1
                }
            };
            let mut fresh = self.solver.subtract(&next.pairs, &nodes[index].pairs)?;
            fresh = self.solver.pruned(fresh)?;
            if fresh.is_empty() {
                continue;
            }
            nodes[index].visits += 1;
            if nodes[index].visits > PATIENCE {
                let known = &nodes[index].pairs;
                let all: Pieces = known.iter().chain(&fresh).cloned().collect();
                fresh = self.guessed(side, next.terms, goal, all)?;
                nodes[index].pairs = fresh.clone();
            } else {
                nodes[index].pairs.extend(fresh.iter().cloned());
            }
            for step in self.steps(side, Goal { terms: next.terms, pairs: fresh }, own)? {
                if self.continues(side, step.goal.terms[side], own)? && step.may_continue {
                    agenda.push(step.goal);
                }
            }
        }
        self.leaves(side, goal, own, &nodes, &start)
    }

    /// Returns the relation of a goal with the variables of one side repeated at its end.
    fn tagged(&self, side: Side, goal: &Goal) -> Pieces {
        let layout = self.layout(goal.terms);
        let depth = self.depth(side, goal.terms[side]);
        let vars = goal.pairs.first().map_or(0, Conjunction::visible);
        let tag = |piece: &Conjunction| {
            let mut tagged = moved(piece, vars + depth, |v| v);
            (0..depth).for_each(|k| tagged.add_eq(var(layout.base(side) + k), var(vars + k)));
            tagged
        };
        goal.pairs.iter().map(tag).collect()
    }

    /// True if the walk goes on through a term.
    fn continues(&mut self, side: Side, term: TermId, own: Combining) -> Asked<bool> {
        Ok(self.is_copy(side, term)?
            || self.combines(side, term).is_some_and(|other| other.family == own.family))
    }

    pub(super) fn combines(&self, side: Side, term: TermId) -> Option<Combining> {
        let term = self.term(side, term);
        match &term.kind {
            Kind::Operation { operands, .. } if operands.len() == 2 => combining(term.op),
            _ => None,
        }
    }

    /// Returns the terms that a node of a chain leads to.
    fn steps(&mut self, side: Side, goal: Goal, own: Combining) -> Result<Vec<Step>, Stuck<'b>> {
        let mut goals = Vec::new();
        let mut steps = Vec::new();
        match self.combines(side, goal.terms[side]).filter(|other| other.family == own.family) {
            Some(other) => {
                let Kind::Operation { operands, .. } = &self.term(side, goal.terms[side]).kind else {
                    return Ok(steps);
                };
                let layout = self.layout_of(&goal);
                for (index, operand) in operands.iter().enumerate() {
                    self.push(side, &goal, *operand, layout, &goal.pairs, &mut goals);
                    let is_negative = other.subtracts && index == 1;
                    steps.extend(goals.drain(..).map(|goal| Step {
                        goal,
                        is_negative,
                        may_continue: !is_negative,
                    }));
                }
            }
            None => {
                self.follow(side, goal, &mut goals)?;
                let step = |goal| Step { goal, is_negative: false, may_continue: true };
                steps.extend(goals.into_iter().map(step));
            }
        }
        Ok(steps)
    }

    /// Returns all instances of a term in the affine hull of some, within the iteration domain, of
    /// pairs of the goal, and not behind the chain's last operation if none of them is.
    fn guessed(&mut self, side: Side, terms: [TermId; 2], goal: &Goal, known: Pieces) -> Asked<Pieces> {
        let hull = self.solver.affine_hull(&known)?;
        let depths = [0, 1].map(|side| self.depth(side, terms[side]));
        let vars = known.first().map_or(0, Conjunction::visible);
        let params = self.params;
        let own = if side == 0 { params } else { params + depths[0] };
        let other = if side == 0 { params + depths[0] } else { params };
        let end = params + depths[0] + depths[1];
        let program = self.programs[side];
        let domain = &program.domains[program.terms[terms[side]].scope];
        let place = |v: usize| if v < params { v } else { own + (v - params) };
        let domain: Pieces = domain.iter().map(|set| moved(set, vars, place)).collect();
        // The pairs of the goal relate the last operation to the other side.
        let root = self.depth(side, goal.terms[side]);
        let [first, second] = if side == 0 { [end, other] } else { [other, end] };
        let width = if side == 0 { root } else { depths[0] };
        let place = |v: usize| match v {
            _ if v < params => v,
            _ if v < params + width => first + (v - params),
            _ => second + (v - params - width),
        };
        let related: Pieces = goal.pairs.iter().map(|set| moved(set, vars, place)).collect();
        let mut all = intersect(&domain, &related);
        for set in &mut all {
            hull.iter().for_each(|equality| set.add_eq(equality.clone(), 0));
        }
        for k in 0..depths[side].min(root) {
            let behind = known.iter().map(|set| {
                let mut set = set.clone();
                set.add_gt(var(own + k), var(end + k));
                set
            });
            let behind: Pieces = behind.collect();
            if self.solver.pruned(behind)?.is_empty() {
                all.iter_mut().for_each(|set| set.add_le(var(own + k), var(end + k)));
            }
        }
        self.solver.pruned(all)
    }

    /// Returns the leaves of a chain, if the instances of its nodes are exact and met once.
    fn leaves(
        &mut self,
        side: Side,
        goal: &Goal,
        own: Combining,
        nodes: &[Node],
        start: &[Conjunction],
    ) -> Result<Option<Chain>, Stuck<'b>> {
        let mut met: Vec<Vec<Pieces>> = nodes.iter().map(|_| Vec::new()).collect();
        met[0].push(start.to_vec());
        let mut leaves = Vec::new();
        let root = self.depth(side, goal.terms[side]);
        for node in nodes {
            let mut terms = goal.terms;
            terms[side] = node.term;
            let from = Goal { terms, pairs: node.pairs.clone() };
            let pairs = self.tagged(side, &from);
            let width = self.depth(side, node.term);
            for step in self.steps(side, Goal { terms, pairs }, own)? {
                let target = step.goal.terms[side];
                let pairs = self.solver.pruned(step.goal.pairs)?;
                let Some(vars) = pairs.first().map(Conjunction::visible) else { continue };
                // Behind the goal's variables stand those of the last operation, then the source.
                if !self.is_function(&pairs, vars - width)? {
                    return Ok(None);
                }
                debug_assert!(vars >= width + root);
                let pairs = hide(&pairs, vars - width..vars);
                if step.may_continue && self.continues(side, target, own)? {
                    match nodes.iter().position(|node| node.term == target) {
                        Some(index) => met[index].push(pairs),
                        None => return Ok(None),
                    }
                } else {
                    leaves.push(Leaf { term: target, is_negative: step.is_negative, pairs });
                }
            }
        }
        let of_family =
            |node: &Node| self.combines(side, node.term).filter(|other| other.family == own.family);
        let operations = nodes.iter().filter_map(of_family).collect();
        Ok(if self.is_exact(nodes, &met)? { Some(Chain { leaves, operations }) } else { None })
    }

    /// True if the last variables are a function of the first ones.
    pub(super) fn is_function(&mut self, pairs: &[Conjunction], first: usize) -> Asked<bool> {
        let vars = pairs.first().map_or(first, Conjunction::visible);
        let width = vars - first;
        for (k, a) in pairs.iter().enumerate() {
            for b in &pairs[k..] {
                let a = moved(a, vars + width, |v| v);
                let b = moved(b, vars + width, |v| if v < first { v } else { v + width });
                let both = a.intersect(&b);
                for dim in 0..width {
                    for (x, y) in [(first + dim, vars + dim), (vars + dim, first + dim)] {
                        let mut differ = both.clone();
                        differ.add_lt(var(x), var(y));
                        if !self.solver.is_empty(&differ)? {
                            return Ok(false);
                        }
                    }
                }
            }
        }
        Ok(true)
    }

    /// True if each instance of a node is met by exactly one step. Steps go to earlier instances,
    /// so an instance met at all is met from the chain's last operation.
    fn is_exact(&mut self, nodes: &[Node], met: &[Vec<Pieces>]) -> Asked<bool> {
        for (node, met) in nodes.iter().zip(met) {
            let all: Pieces = met.iter().flatten().cloned().collect();
            if !self.solver.is_subset(&node.pairs, &all)? || !self.solver.is_subset(&all, &node.pairs)? {
                return Ok(false);
            }
            for (k, a) in met.iter().enumerate() {
                for b in &met[..k] {
                    if !self.solver.pruned(intersect(a, b))?.is_empty() {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }
}
