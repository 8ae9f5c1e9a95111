//! Facts: conditions that hold on a path.
//!
//! A comparison of one value with constants says in which intervals the value is. The intervals of
//! all facts about a value together decide other comparisons of it.
//!
//! **Poison.** A fact decides nothing where its condition may be poison. Values that a condition
//! depends on are no poison where the condition is none (`Free`).
//! Where the second program freezes a value, poison is known, too.
//! **Time.** The second program knows of a branch of the first one only once it has done all that
//! the first one does before. Else a call between may keep the first one from its branch.

use hashbrown::{HashMap, HashSet};

use super::numbers::{Binary, NO_SIGNED_WRAP, NO_UNSIGNED_WRAP, mask, signed};
use super::terms::{Known, Node, Store, TermId, Try, decided, each_operand};

/// The most facts that are kept. Those that follow from others are forgotten first, then older
/// ones.
const MAX_FACTS: usize = 64;
/// The most values inside of facts that are looked at for poison.
const MAX_FREE: usize = 1_000;
/// The most sums that are looked through for the numbers that a value may be.
const MAX_STEPS: usize = 4;

/// A condition with its value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fact {
    pub(super) condition: TermId,
    pub(super) holds: bool,
    /// True if it is not poison, as the first program branches on it. Any other fact holds unless
    /// its condition is poison.
    pub(super) is_certain: bool,
    /// The memory at the branch, until the second program has it too.
    pub(super) ahead: Option<TermId>,
    /// True if it follows from others, so that it is of no use beside them.
    pub(super) follows: bool,
}

/// The facts of a path.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) known: Vec<Fact>,
    /// Values that are poison.
    pub(super) poison: Vec<TermId>,
}

/// Numbers as ascending intervals of bits, both ends included.
type Intervals = Vec<(u64, u64)>;

impl Facts {
    /// Adds a fact.
    pub(super) fn add(&mut self, store: &Store, fact: Fact) {
        let (condition, holds) = plain(store, fact.condition, fact.holds);
        let fact = Fact { condition, holds, ..fact };
        if decided(condition).is_some() {
            return;
        }
        if let Some(known) = self.known.iter_mut().find(|own| own.condition == condition) {
            // Of two facts, the stronger one stays.
            let rank = |own: &Fact| (own.is_certain, own.ahead.is_none());
            let follows = known.follows && fact.follows;
            if rank(&fact) > rank(known) {
                *known = fact;
            }
            known.follows = follows;
            return;
        }
        if self.known.len() >= MAX_FACTS {
            // A fact that follows may still say that something is no poison.
            let rank = |own: &Fact| match own.follows {
                true if store.is_solid(own.condition) => 0,
                true => 1 + u8::from(own.is_certain),
                false => 3,
            };
            let least = (0..self.known.len()).min_by_key(|index| rank(&self.known[*index]));
            self.known.remove(least.unwrap_or(0));
        }
        self.known.push(fact);
    }

    /// Marks that the second program has a memory, which the first one had at some branches.
    pub(super) fn reach(&mut self, memory: TermId) {
        for fact in self.known.iter_mut().filter(|fact| fact.ahead == Some(memory)) {
            fact.ahead = None;
        }
    }

    /// Returns the facts that the second program knows of.
    pub(super) fn settled(&self) -> Facts {
        let known = self.known.iter().filter(|fact| fact.ahead.is_none()).copied().collect();
        Facts { known, poison: self.poison.clone() }
    }

    /// Returns sums that are no poison, with what they are without their promises.
    pub(super) fn plain_sums(&self, store: &mut Store) -> Try<HashMap<TermId, TermId>> {
        let certain = self.known.iter().filter(|fact| fact.is_certain).map(|fact| fact.condition);
        let free = Free::of(store, certain);
        let mut terms: Vec<TermId> = free.terms.into_iter().collect();
        terms.sort_unstable();
        let mut plain = HashMap::new();
        for term in terms {
            let sum = store.without_promises(term, &|own| plain.get(&own).copied().unwrap_or(own))?;
            plain.extend(sum.map(|sum| (term, sum)));
        }
        Ok(plain)
    }

    /// Returns what is no poison, as the first program branches on it, and the second one knows.
    pub(super) fn free(&self, store: &Store) -> Free {
        let certain = self.known.iter().filter(|fact| fact.is_certain && fact.ahead.is_none());
        Free::of(store, certain.map(|fact| fact.condition))
    }

    /// Adds that a value is poison.
    pub(super) fn add_poison(&mut self, store: &Store, term: TermId) {
        let root = source(store, term);
        if !self.poison.contains(&root) {
            self.poison.push(root);
        }
    }

    /// True if a value is poison.
    pub(super) fn is_poison(&self, store: &Store, term: TermId) -> bool {
        !self.poison.is_empty() && is_made_of(store, term, &self.poison)
    }

    /// Returns the facts with other terms.
    pub(super) fn with(
        &self,
        store: &mut Store,
        new: &mut dyn FnMut(&mut Store, TermId) -> Try<TermId>,
    ) -> Try<Facts> {
        let mut facts = Facts::default();
        for fact in &self.known {
            let condition = new(store, fact.condition)?;
            let ahead = fact.ahead.map(|memory| new(store, memory)).transpose()?;
            facts.add(store, Fact { condition, ahead, ..*fact });
        }
        for term in &self.poison {
            let term = new(store, *term)?;
            facts.add_poison(store, term);
        }
        Ok(facts)
    }

    /// True if a condition of the first program is poison, for no number is left for a value in it.
    pub(super) fn is_impossible(&self, store: &Store, condition: TermId) -> bool {
        let (condition, _) = plain(store, condition, true);
        let value = solutions(store, condition).map(|(value, width, _)| (value, width));
        let facts = self.about(store, condition, false).unwrap_or_default();
        value.is_some_and(|(value, width)| possible(store, &facts, value, width, MAX_STEPS).is_empty())
    }

    /// Returns the facts that hold if a condition is no poison; `None` if it may be, and must be
    /// none.
    fn about(&self, store: &Store, condition: TermId, certainly: bool) -> Option<Vec<Fact>> {
        let known = self.known.iter().filter(|fact| fact.ahead.is_none() || !certainly);
        let mut facts: Vec<Fact> = known.copied().collect();
        let own = facts.iter().find(|fact| fact.condition == condition);
        if let Some(fact) = own.filter(|fact| fact.is_certain || !certainly) {
            return Some(vec![*fact]);
        }
        let is_open = certainly && !store.is_solid(condition);
        if is_open || facts.iter().any(|fact| !fact.is_certain) {
            let certain = facts.iter().filter(|fact| fact.is_certain).map(|fact| fact.condition);
            let free = Free::of(store, certain.chain((!certainly).then_some(condition)));
            if is_open && !free.has(store, condition) {
                return None;
            }
            facts.retain(|fact| fact.is_certain || free.has(store, fact.condition));
        }
        Some(facts)
    }

    /// Returns the value of a condition, as far as the facts decide it.
    ///
    /// For the second program the condition must be no poison for certain, by facts that the
    /// second program knows of. Otherwise the answer holds unless the condition is poison.
    pub(super) fn decide(&self, store: &mut Store, condition: TermId, certainly: bool) -> Try<Option<bool>> {
        let (condition, sign) = plain(store, condition, true);
        let holds = |value: bool| Ok(Some(value == sign));
        if let Some(value) = decided(condition) {
            return holds(value);
        }
        let Some(facts) = self.about(store, condition, certainly) else { return Ok(None) };
        if let Some(fact) = facts.iter().find(|fact| fact.condition == condition) {
            return holds(fact.holds);
        }
        if let Some(value) = by_intervals(store, &facts, condition) {
            return holds(value);
        }
        let value = match *store.node(condition) {
            Node::Zero { width, operand } => is_zero(store, &facts, width, operand)?,
            Node::Less { unsigned, width, operands } => is_less(store, &facts, unsigned, width, operands)?,
            _ => None,
        };
        let value = value.or_else(|| {
            let conditions = facts.iter().map(|fact| fact.condition).chain([condition]);
            let free = Free::of(store, conditions);
            // A fact that follows from others may say that no promise of a sum is broken.
            let says_more = |fact: &&Fact| !fact.follows || !store.is_solid(fact.condition);
            let own = facts.iter().filter(says_more);
            let known: Vec<Known> = own.map(|fact| (fact.condition, fact.holds)).collect();
            store.ask(&known, &free.terms, condition)
        });
        Ok(value.map(|value| value == sign))
    }
}

/// Returns a value that is poison if and only if a term is: the term, or the one operand that may
/// be. Of a choice, what is not chosen does not matter.
pub(super) fn source(store: &Store, mut term: TermId) -> TermId {
    loop {
        let node = store.node(term);
        let mut open = Vec::new();
        each_operand(node, &mut |operand| {
            if !store.is_solid(operand) && !open.contains(&operand) {
                open.push(operand);
            }
        });
        match open[..] {
            [operand] if store.keeps_solid(node) && !matches!(node, Node::Select(_)) => term = operand,
            _ => return term,
        }
    }
}

/// True if a term is poison where one of some values is.
fn is_made_of(store: &Store, term: TermId, values: &[TermId]) -> bool {
    let (mut pending, mut seen) = (vec![term], HashSet::new());
    while let Some(term) = pending.pop() {
        if values.contains(&term) {
            return true;
        }
        if store.is_solid(term) || seen.len() >= MAX_FREE || !seen.insert(term) {
            continue;
        }
        each_strict_operand(store.node(term), &mut |operand| pending.push(operand));
    }
    false
}

/// Calls `f` for each operand with which a node is poison. What is not chosen may be poison, and so
/// may operands of other operations.
fn each_strict_operand(node: &Node, f: &mut dyn FnMut(TermId)) {
    match node {
        Node::Select([condition, ..]) => f(*condition),
        Node::Operation(_) => {}
        node => each_operand(node, f),
    }
}

/// Terms that are not poison.
pub(super) struct Free {
    terms: HashSet<TermId>,
}

impl Free {
    /// Returns what is not poison, as some terms are not.
    fn of(store: &Store, terms: impl Iterator<Item = TermId>) -> Free {
        let (mut pending, mut found): (Vec<TermId>, _) = (terms.collect(), HashSet::new());
        while let Some(term) = pending.pop() {
            if store.is_solid(term) || found.len() >= MAX_FREE || !found.insert(term) {
                continue;
            }
            each_strict_operand(store.node(term), &mut |operand| pending.push(operand));
        }
        Free { terms: found }
    }

    /// True if all operands of a term are not poison.
    pub(super) fn has_operands(&self, store: &Store, term: TermId) -> bool {
        let mut are_free = true;
        each_operand(store.node(term), &mut |operand| are_free = are_free && self.has(store, operand));
        are_free
    }

    /// True if a term is not poison.
    fn has(&self, store: &Store, term: TermId) -> bool {
        let (mut pending, mut steps) = (vec![term], 0);
        while let Some(term) = pending.pop() {
            if store.is_solid(term) || self.terms.contains(&term) {
                continue;
            }
            steps += 1;
            let node = store.node(term);
            if !store.keeps_solid(node) || steps > MAX_FREE {
                return false;
            }
            each_operand(node, &mut |operand| pending.push(operand));
        }
        true
    }
}

fn is_zero(store: &mut Store, facts: &[Fact], width: u32, operand: TermId) -> Try<Option<bool>> {
    for fact in facts.iter().filter(|fact| fact.holds) {
        match *store.node(fact.condition) {
            // Two differences that are apart by a constant are not both zero.
            Node::Zero { width: own, operand: other } if own == width => {
                let apart = [u64::MAX, 1].map(|factor| store.distance(width, operand, other, factor));
                if let Some(value) = apart.into_iter().flatten().next() {
                    return Ok(Some(value == 0));
                }
            }
            Node::Less { width: own, operands: [a, b], .. } if own == width => {
                let condition = store.equal(width, a, b)?;
                if matches!(*store.node(condition), Node::Zero { operand: other, .. } if other == operand) {
                    return Ok(Some(false));
                }
            }
            _ => {}
        }
    }
    Ok(None)
}

fn is_less(
    store: &mut Store,
    facts: &[Fact],
    unsigned: bool,
    width: u32,
    [a, b]: [TermId; 2],
) -> Try<Option<bool>> {
    let value_of =
        |condition: TermId| facts.iter().find(|fact| fact.condition == condition).map(|fact| fact.holds);
    let same = store.equal(width, a, b)?;
    if value_of(same) == Some(true) {
        return Ok(Some(false));
    }
    let reverse = store.less(unsigned, width, [b, a])?;
    Ok(match value_of(reverse) {
        Some(true) => Some(false),
        Some(false) if value_of(same) == Some(false) => Some(true),
        _ => None,
    })
}

/// Decides a comparison of a value with constants by all facts about the value, if the value is not
/// poison.
fn by_intervals(store: &Store, facts: &[Fact], condition: TermId) -> Option<bool> {
    let (value, width, wanted) = solutions(store, condition)?;
    let possible = possible(store, facts, value, width, MAX_STEPS);
    if common(&possible, &wanted).is_empty() {
        return Some(false);
    }
    common(&possible, &others(width, &wanted)).is_empty().then_some(true)
}

/// Returns the numbers that a value may be, unless it is poison.
fn possible(store: &Store, facts: &[Fact], value: TermId, width: u32, steps: usize) -> Intervals {
    let mut possible: Intervals = vec![(0, mask(width))];
    for fact in facts {
        if let Some((own, wide, numbers)) = solutions(store, fact.condition) {
            if own == value && wide == width {
                let numbers = if fact.holds { numbers } else { others(width, &numbers) };
                possible = common(&possible, &numbers);
            }
        } else if let Node::Less { unsigned, width: wide, operands: [a, b] } = *store.node(fact.condition)
            && wide == width
            && fact.holds
        {
            // What is less than another number is not the greatest one, nor the other way round.
            let (least, most) = ends(unsigned, width);
            for (side, end) in [(a, most), (b, least)] {
                if let Some((_, factor, constant)) = line(store, width, side).filter(|own| own.0 == value) {
                    possible = common(&possible, &others(width, &moved(width, (end, end), factor, constant)));
                }
            }
        }
    }
    if let Node::Binary { code: Binary::Add, flags, operands: [a, b], .. } = *store.node(value)
        && steps > 0
        && let Some((inner, step)) =
            store.constant(a).map(|step| (b, step)).or(store.constant(b).map(|step| (a, step)))
    {
        let before = self::possible(store, facts, inner, width, steps - 1);
        for (flag, unsigned) in [(NO_UNSIGNED_WRAP, true), (NO_SIGNED_WRAP, false)] {
            if flags & flag != 0 {
                // Without a wrap the operand is far enough from the end.
                let (least, most) = ends(unsigned, width);
                let is_up = unsigned || signed(width, step) > 0;
                let fits = match is_up {
                    true => moved(width, (least, most.wrapping_sub(step)), 1, 0),
                    false => moved(width, (least.wrapping_sub(step), most), 1, 0),
                };
                let moves = |(low, high): &(u64, u64)| {
                    moved(width, (low.wrapping_add(step), high.wrapping_add(step)), 1, 0)
                };
                let mut after: Intervals = common(&before, &fits).iter().flat_map(moves).collect();
                after.sort_unstable();
                possible = common(&possible, &after);
            }
        }
    }
    possible
}

/// Returns the least and greatest number of a width.
fn ends(unsigned: bool, width: u32) -> (u64, u64) {
    if unsigned { (0, mask(width)) } else { (1 << (width - 1), mask(width) >> 1) }
}

/// Returns the value that a condition compares with constants, its width, and the numbers for which
/// the condition holds.
fn solutions(store: &Store, condition: TermId) -> Option<(TermId, u32, Intervals)> {
    match *store.node(condition) {
        Node::Zero { width, operand } => {
            let (value, factor, constant) = line(store, width, operand)?;
            let bits = if factor == 1 { constant.wrapping_neg() } else { constant } & mask(width);
            Some((value, width, vec![(bits, bits)]))
        }
        Node::Less { unsigned, width, operands: [a, b] } => {
            let (least, most) = ends(unsigned, width);
            match (store.constant(a), store.constant(b)) {
                // Nothing is below the least number, or above the greatest one.
                (_, Some(bound)) if bound == least => Some((line(store, width, a)?.0, width, Vec::new())),
                (Some(bound), _) if bound == most => Some((line(store, width, b)?.0, width, Vec::new())),
                // All numbers from the least one to the one before the bound.
                (_, Some(bound)) => {
                    let (value, factor, constant) = line(store, width, a)?;
                    Some((value, width, moved(width, (least, bound.wrapping_sub(1)), factor, constant)))
                }
                (Some(bound), _) => {
                    let (value, factor, constant) = line(store, width, b)?;
                    Some((value, width, moved(width, (bound.wrapping_add(1), most), factor, constant)))
                }
                (None, None) => {
                    let ((value, 1, x), (other, 1, y)) = (line(store, width, a)?, line(store, width, b)?)
                    else {
                        return None;
                    };
                    if value != other {
                        return None;
                    }
                    // `v < v + d` holds unless the sum wraps; a negative step has to wrap.
                    let step = y.wrapping_sub(x) & mask(width);
                    if step == 0 {
                        return Some((value, width, Vec::new()));
                    }
                    let last = most.wrapping_sub(step);
                    let is_up = unsigned || signed(width, step) > 0;
                    let own = match is_up {
                        true => (least, last),
                        false => (least, least.wrapping_sub(step).wrapping_sub(1)),
                    };
                    Some((value, width, moved(width, own, 1, x)))
                }
            }
        }
        _ => None,
    }
}

/// Returns an integer as `factor · value + constant`, where the factor is 1 or -1.
fn line(store: &Store, width: u32, term: TermId) -> Option<(TermId, u64, u64)> {
    let (constant, products) = store.parts(term);
    match products[..] {
        [(value, factor)] if factor == 1 || factor == mask(width) => Some((value, factor, constant)),
        _ => None,
    }
}

/// Returns the values for which `factor · value + constant` is in a circular interval.
fn moved(width: u32, (low, high): (u64, u64), factor: u64, constant: u64) -> Intervals {
    let [low, high] = [low, high].map(|end| end.wrapping_sub(constant));
    let [low, high] = if factor == 1 { [low, high] } else { [high.wrapping_neg(), low.wrapping_neg()] };
    let [low, high] = [low, high].map(|end| end & mask(width));
    if low <= high { vec![(low, high)] } else { vec![(0, high), (low, mask(width))] }
}

/// Returns the numbers that are not in some intervals.
fn others(width: u32, intervals: &Intervals) -> Intervals {
    let mut out = Vec::new();
    let mut next = Some(0);
    for (low, high) in intervals {
        if let Some(start) = next.filter(|start| start < low) {
            out.push((start, low - 1));
        }
        next = high.checked_add(1).filter(|end| *end <= mask(width));
    }
    out.extend(next.map(|start| (start, mask(width))));
    out
}

/// Returns the numbers that are in both.
fn common(a: &Intervals, b: &Intervals) -> Intervals {
    let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x.0.max(y.0), x.1.min(y.1))));
    pairs.filter(|(low, high)| low <= high).collect()
}

/// Returns a condition that is no negation, and the value that it has.
pub(super) fn plain(store: &Store, condition: TermId, holds: bool) -> (TermId, bool) {
    match *store.node(condition) {
        Node::Not(inner) => (inner, !holds),
        _ => (condition, holds),
    }
}
