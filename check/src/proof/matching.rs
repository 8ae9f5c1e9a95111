//! Matching of computations: shows that two terms are equal in pairs of instances.
//!
//! A *claim* says that a term of the original program and one of the other program have equal
//! values for all pairs of instances in a relation. Claims start at what the functions leave
//! behind and go backwards. Copies are followed on either side: loads to the stores that wrote what
//! they read, carried variables to the iteration before, conditionals to the arm that ran.
//! Operations match if they are the same and their operands do.
//!
//! **Why a claim may rest on itself.** Each step goes from instances to instances that they depend
//! on, in at least one of the programs to one that ran earlier. Executions are finite, so the steps
//! from any pair of instances end. A claim met again for instances it covers therefore holds by
//! induction over the time of both executions.
//!
//! **Recurrences.** A claim met again for other instances is claimed for the affine hull of all of
//! them within the iteration domains ([`Matcher::widened`]). What fails for the hull may hold for
//! less, so the prover tries again: with bounds that all instances share, with the last claim only,
//! and with later widening ([`Widening::ALL`]).
//!
//! **Conditions that are not affine.** They are matched like operands, or else each of their values
//! is assumed in turn (`cases`).
//!
//! **Subscripts that are not affine.** The contents of a buffer are then a value of their own,
//! which each store makes anew. Loads match if their subscripts and the contents do; so the stores
//! have to match one to one, in their order.
//!
//! Reference: Verdoolaege, Janssens, Bruynooghe, *Equivalence checking of static affine programs
//! using widening to handle recurrences*, TOPLAS 2012.

mod cases;
mod chain;
mod follow;
mod operations;
mod reassociate;

use hashbrown::HashMap;
use loomir_ir::OpRef;
use loomir_polyhedra::Conjunction;

use super::alias::{Joint, Overlap};
use super::flow::{Flow, Part, flow};
use super::model::{AccessId, Kind, LoopId, ObjectKey, Program, Term, TermId};
use super::sets::{Asked, OutOfReach, Pieces, Solver, hide, intersect, moved};

/// The programs: 0 is the original, 1 the other one.
pub(super) type Side = usize;

/// Terms to be shown equal. The relation is over the parameters, the variables of the first term
/// and those of the second.
#[derive(Debug)]
pub(super) struct Goal {
    pub(super) terms: [TermId; 2],
    pub(super) pairs: Pieces,
}

/// The cause that ends a proof.
#[derive(Debug)]
pub(super) enum Stuck<'b> {
    /// Terms that are not seen to be equal.
    Mismatch(Mismatch<'b>),
    /// The bound on questions was reached.
    OutOfReach,
}

/// Two terms that are not seen to be equal, with an instance of each.
#[derive(Debug)]
pub(super) struct Mismatch<'b> {
    pub(super) ops: [OpRef<'b>; 2],
    pub(super) instance: Option<[Vec<i64>; 2]>,
    pub(super) message: String,
}

impl From<OutOfReach> for Stuck<'_> {
    fn from(_: OutOfReach) -> Self {
        Stuck::OutOfReach
    }
}

/// The first and last iterations of a loop.
#[derive(Debug, Clone)]
struct Ends {
    /// The iterations around in which the loop does not run.
    empty: Pieces,
    /// The iterations around with the last value of the loop's variable.
    last: Pieces,
}

/// The way in which claims are widened that are met again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Widening {
    /// The number of claims of one pair of terms before they are widened.
    pub(super) patience: usize,
    /// True if bounds that all claims share are kept.
    pub(super) keeps_bounds: bool,
    /// True if only the last claim counts, as in loops that behave otherwise in a first part. After
    /// [`MAX_PARTS`] claims all count.
    pub(super) by_parts: bool,
}

impl Widening {
    /// The ways in the order in which they are tried.
    pub(super) const ALL: [Widening; 4] = [
        Widening { patience: 1, keeps_bounds: false, by_parts: false },
        Widening { patience: 2, keeps_bounds: true, by_parts: false },
        Widening { patience: 2, keeps_bounds: false, by_parts: true },
        Widening { patience: 24, keeps_bounds: false, by_parts: false },
    ];
}

/// The most steps of all proofs by cases.
const MAX_CASE_STEPS: usize = 4000;
/// The most claims of one pair of terms that are widened with the last one only.
const MAX_PARTS: usize = 8;

/// The state of a proof.
pub(super) struct Matcher<'m, 'b> {
    pub(super) programs: [&'m Program<'b>; 2],
    pub(super) params: usize,
    /// The facts about parameters, which hold in all claims.
    facts: Pieces,
    pub(super) solver: &'m mut Solver,
    flows: [HashMap<(AccessId, Part), Option<Flow>>; 2],
    ends: [HashMap<LoopId, Ends>; 2],
    overlap: &'m Overlap,
    clobbered: [HashMap<AccessId, Pieces>; 2],
    /// Accesses of buffers that may overlap others, matched one to one.
    pub(super) joints: Vec<Joint>,
    claims: HashMap<[TermId; 2], Vec<Pieces>>,
    /// The claims in the order in which they were made.
    log: Vec<[TermId; 2]>,
    widening: Widening,
    /// True while chains are first compared in the order in which they stand.
    in_order: bool,
    /// True while a goal is shown by cases, which are not nested.
    in_cases: bool,
    case_steps: usize,
    /// True if a chain of floats was matched in another order.
    pub(super) rounds_otherwise: bool,
}

impl<'m, 'b> Matcher<'m, 'b> {
    pub(super) fn new(
        programs: [&'m Program<'b>; 2],
        known: &[Conjunction],
        overlap: &'m Overlap,
        solver: &'m mut Solver,
        widening: Widening,
    ) -> Matcher<'m, 'b> {
        Matcher {
            programs,
            params: known.first().map_or(0, Conjunction::visible),
            facts: known.to_vec(),
            solver,
            flows: [HashMap::new(), HashMap::new()],
            ends: [HashMap::new(), HashMap::new()],
            overlap,
            clobbered: [HashMap::new(), HashMap::new()],
            joints: Vec::new(),
            claims: HashMap::new(),
            log: Vec::new(),
            widening,
            in_order: false,
            in_cases: false,
            case_steps: 0,
            rounds_otherwise: false,
        }
    }

    pub(super) fn term(&self, side: Side, term: TermId) -> &'m Term<'b> {
        &self.programs[side].terms[term]
    }

    pub(super) fn depth(&self, side: Side, term: TermId) -> usize {
        self.programs[side].depth(term)
    }

    /// Returns the relations of the claims about two terms.
    pub(super) fn claimed(&self, terms: [TermId; 2]) -> impl Iterator<Item = &Conjunction> {
        self.claims.get(&terms).into_iter().flatten().flatten()
    }

    /// Returns all claims in the order in which they were first made.
    pub(super) fn claimed_terms(&self) -> Vec<[TermId; 2]> {
        let mut seen = hashbrown::HashSet::new();
        self.log.iter().filter(|terms| seen.insert(**terms)).copied().collect()
    }

    /// Shows all goals, or says which one is not seen to hold.
    pub(super) fn show(&mut self, goals: Vec<Goal>) -> Result<(), Stuck<'b>> {
        self.show_within(goals, 0)
    }

    fn show_within(&mut self, goals: Vec<Goal>, nesting: usize) -> Result<(), Stuck<'b>> {
        let mut agenda = goals;
        agenda.reverse();
        while let Some(goal) = agenda.pop() {
            let pairs = self.solver.pruned(goal.pairs)?;
            if pairs.is_empty() {
                continue;
            }
            let goal = Goal { terms: goal.terms, pairs };
            let [a, b] = goal.terms;
            if self.is_undefined_first(a) || self.leaf(&goal, &mut agenda)? {
                continue;
            }
            let Some(goal) = self.claim(goal)? else { continue };
            let Some(goal) = self.undisturbed(0, goal, &mut agenda)? else { continue };
            // Choices are followed together, so that both sides stay in one iteration.
            let chooses =
                [0, 1].map(|side| matches!(self.term(side, goal.terms[side]).kind, Kind::Choice { .. }));
            if chooses == [true; 2] && self.is_copy(0, a)? && self.is_copy(1, b)? {
                let mut halves = Vec::new();
                self.follow(0, goal, &mut halves)?;
                for half in halves {
                    self.follow(1, half, &mut agenda)?;
                }
                continue;
            }
            let is_strict = chooses == [true; 2] && self.is_strict(1, b);
            let waits = is_strict || chooses == [true, false] && self.is_copy(1, b)?;
            if !waits && self.is_copy(0, a)? {
                self.follow(0, goal, &mut agenda)?;
                continue;
            }
            let Some(goal) = self.undisturbed(1, goal, &mut agenda)? else { continue };
            if self.is_copy(1, b)? {
                self.follow(1, goal, &mut agenda)?;
            } else {
                self.operation(goal, &mut agenda, nesting)?;
            }
        }
        Ok(())
    }

    /// Shows a goal if that can be done; true if it holds.
    pub(super) fn tried(&mut self, goal: Goal) -> Asked<bool> {
        let length = self.log.len();
        match self.show_within(vec![goal], 0) {
            Ok(()) => Ok(true),
            Err(Stuck::OutOfReach) => Err(OutOfReach),
            Err(Stuck::Mismatch(_)) => {
                self.retract(length);
                Ok(false)
            }
        }
    }

    /// Returns a goal with what is to be shown of it; `None` if it follows from claims.
    fn claim(&mut self, goal: Goal) -> Asked<Option<Goal>> {
        let known = self.claims.get(&goal.terms);
        let count = known.map_or(0, Vec::len);
        let mut pairs = goal.pairs;
        if let Some(known) = known {
            let known: Pieces = known.iter().flatten().cloned().collect();
            if self.solver.is_subset(&pairs, &known)? {
                return Ok(None);
            }
            if count >= self.widening.patience {
                let last = self.claims.get(&goal.terms).and_then(|known| known.last().cloned());
                let known = match last {
                    Some(last) if self.widening.by_parts && count <= MAX_PARTS => last,
                    _ => known,
                };
                pairs = self.widened(goal.terms, &known, pairs)?;
            }
        }
        pairs = self.solver.coalesced(pairs)?;
        self.claims.entry(goal.terms).or_default().push(pairs.clone());
        self.log.push(goal.terms);
        Ok(Some(Goal { terms: goal.terms, pairs }))
    }

    /// Returns the affine hull of all pairs within the iteration domains.
    fn widened(&mut self, terms: [TermId; 2], known: &[Conjunction], pairs: Pieces) -> Asked<Pieces> {
        let all: Pieces = known.iter().chain(&pairs).cloned().collect();
        let hull = self.solver.affine_hull(&all)?;
        let (params, depths) = (self.params, [0, 1].map(|side| self.depth(side, terms[side])));
        let vars = params + depths[0] + depths[1];
        let mut domains = [Pieces::new(), Pieces::new()];
        for side in [0, 1] {
            let shift = if side == 0 { 0 } else { depths[0] };
            let place = |v: usize| if v < params { v } else { v + shift };
            let domain = self.instances(side, terms[side])?;
            domains[side] = domain.iter().map(|set| moved(set, vars, place)).collect();
        }
        let [first, second] = domains;
        let facts: Pieces = self.facts.iter().map(|set| moved(set, vars, |v| v)).collect();
        let bounds = match self.widening.keeps_bounds {
            true => self.solver.common_bounds(known, &pairs)?,
            false => Vec::new(),
        };
        let within = intersect(&intersect(&first, &second), &facts).into_iter().map(|mut set| {
            hull.iter().for_each(|equality| set.add_eq(equality.clone(), 0));
            bounds.iter().for_each(|bound| set.add_ge(bound.clone(), 0));
            set
        });
        let mut wide = self.solver.pruned(within)?;
        if !self.solver.is_subset(&pairs, &wide)? {
            wide.extend(pairs);
        }
        Ok(wide)
    }

    /// Returns the instances of a term for which claims are made.
    ///
    /// An element as the function found it is asked for only where no store wrote it.
    fn instances(&mut self, side: Side, term: TermId) -> Asked<Pieces> {
        let (program, own) = (self.programs[side], self.term(side, term));
        let part = match own.kind {
            Kind::Initial(access) => Some((access, Part::Element)),
            Kind::InitialState(access) => Some((access, Part::Whole)),
            _ => None,
        };
        if let Some((access, part)) = part
            && let Some(flow) = self.flow_to(side, access, part)?
        {
            return Ok(flow.initial.clone());
        }
        Ok(program.domains[own.scope].clone())
    }

    /// Takes back the claims made since the log had a length.
    fn retract(&mut self, length: usize) {
        self.joints.retain(|joint| joint.at <= length);
        for terms in self.log.drain(length..).rev() {
            if let Some(known) = self.claims.get_mut(&terms) {
                known.pop();
            }
        }
    }

    /// True if the original reads memory that was never written: any value will do.
    fn is_undefined_first(&self, term: TermId) -> bool {
        self.is_unwritten(0, term)
    }

    fn is_unwritten(&self, side: Side, term: TermId) -> bool {
        let (Kind::Initial(access) | Kind::InitialState(access)) = self.term(side, term).kind else {
            return false;
        };
        let program = self.programs[side];
        matches!(program.objects[program.accesses[access].object].key, ObjectKey::Allocation(_))
    }

    pub(super) fn flow_of(&mut self, side: Side, access: AccessId) -> Asked<Option<&Flow>> {
        self.flow_to(side, access, Part::Element)
    }

    fn flow_to(&mut self, side: Side, access: AccessId, part: Part) -> Asked<Option<&Flow>> {
        let key = (access, part);
        if !self.flows[side].contains_key(&key) {
            let found = flow(self.programs[side], self.params, key, self.solver)?;
            self.flows[side].insert(key, found);
        }
        Ok(self.flows[side].get(&key).and_then(Option::as_ref))
    }

    /// True if a load is matched with another one by the contents of the whole buffer.
    pub(super) fn is_by_state(&mut self, side: Side, access: AccessId) -> Asked<bool> {
        let has_state = self.programs[side].accesses[access].state.is_some();
        Ok(has_state && !self.is_ordered(side, access) && self.flow_of(side, access)?.is_none())
    }

    /// True if writes to other buffers may change what an access touches.
    fn is_ordered(&self, side: Side, access: AccessId) -> bool {
        let program = self.programs[side];
        program.objects[program.accesses[access].object].is_ordered
    }

    /// Returns the instances of a load whose element another buffer's store may have changed.
    fn clobbered_of(&mut self, side: Side, access: AccessId) -> Asked<Pieces> {
        if let Some(found) = self.clobbered[side].get(&access) {
            return Ok(found.clone());
        }
        let Some(flow) = self.flow_of(side, access)?.cloned() else { return Ok(Pieces::new()) };
        let (overlap, program) = (self.overlap, self.programs[side]);
        let found = overlap.clobbered(program, self.params, access, &flow, self.solver)?;
        self.clobbered[side].insert(access, found.clone());
        Ok(found)
    }

    fn ends_of(&mut self, side: Side, of: LoopId) -> Asked<Ends> {
        if let Some(ends) = self.ends[side].get(&of) {
            return Ok(ends.clone());
        }
        let program = self.programs[side];
        let own = &program.loops[of];
        let outside = program.scopes[own.outside].depth();
        let last = self.solver.lexmax(&program.domains[own.inside], self.params + outside)?;
        let runs = hide(&last, self.params + outside..self.params + outside + 1);
        let empty = self.solver.subtract(&program.domains[own.outside], &runs)?;
        let ends = Ends { empty, last };
        self.ends[side].insert(of, ends.clone());
        Ok(ends)
    }

    /// Returns the error that a goal is not seen to hold.
    fn mismatch<T>(&mut self, goal: &Goal, pairs: &[Conjunction], message: String) -> Result<T, Stuck<'b>> {
        let [a, b] = [0, 1].map(|side| self.depth(side, goal.terms[side]));
        let ops = [0, 1].map(|side| self.term(side, goal.terms[side]).op);
        let params = self.params;
        let instance = self
            .solver
            .sample(pairs)
            .map(|point| [point[params..params + a].to_vec(), point[params + a..params + a + b].to_vec()]);
        Err(Stuck::Mismatch(Mismatch { ops, instance, message }))
    }
}
