//! States: pairs of places that both programs reach together, with how their values belong
//! together.
//!
//! A state has a term for each live value of both programs, over symbols of its own. A visit is an
//! instance of the state if some values for the symbols give all of its terms. Where it is not, the
//! state becomes more general: values that change together keep their differences, other values
//! become symbols. Values that always were equal stay equal.

use hashbrown::{HashMap, HashSet};
use loomir_ir::{Block, Value};

use super::facts::{Fact, Facts, plain};
use super::side::{Cursor, Side, UNSET};
use super::terms::{Node, Store, TermId, Try, each_operand};

/// The most times that a state becomes more general.
const MAX_JOINS: usize = 200;

/// The places of a state, and the constants that its visits share, if they are told apart.
pub(super) type Key = ([Block; 2], Option<Box<[Option<u64>]>>);

/// A pair of places with the values there.
pub(super) struct State {
    pub(super) cursors: [Cursor; 2],
    pub(super) facts: Facts,
    /// True if it waits for its paths to be followed.
    pub(super) is_pending: bool,
    /// The symbols that stand for values of a visit.
    symbols: HashSet<TermId>,
    /// The number of the first symbol that may be one of the state.
    first: u32,
    joins: usize,
}

/// A visit of a pair of places.
pub(super) struct Visit {
    pub(super) cursors: [Cursor; 2],
    pub(super) facts: Facts,
}

/// The values of a visit that took the place of others.
struct Widening<'s> {
    /// The values of the visit that the state's symbols stand for.
    bound: HashMap<TermId, TermId>,
    /// The symbols for values that were one term and are another one.
    pairs: HashMap<(TermId, TermId), TermId>,
    /// For each width and difference: the first value that changed by it, before and after, and
    /// its symbol.
    steps: HashMap<(u32, TermId), ([TermId; 2], TermId)>,
    first: u32,
    symbols: &'s mut HashSet<TermId>,
    /// New symbols with the value of the visit, and with the value of the state before.
    news: Vec<(TermId, TermId)>,
    olds: Vec<(TermId, TermId, u32)>,
}

impl State {
    /// Returns a state with the values of its first visit.
    pub(super) fn new(store: &Store, sides: [&Side<'_>; 2], visit: Visit) -> State {
        let mut cursors = visit.cursors;
        for (side, cursor) in sides.into_iter().zip(&mut cursors) {
            let mut values = vec![UNSET; cursor.values.len()];
            for value in listed(side, cursor.block) {
                values[value.index()] = cursor.values[value.index()];
            }
            cursor.values = values;
        }
        State {
            cursors,
            facts: visit.facts,
            is_pending: true,
            symbols: HashSet::new(),
            first: store.next_symbol(),
            joins: 0,
        }
    }

    /// Makes the state so general that it has this visit. Returns true if it changed.
    pub(super) fn join(&mut self, store: &mut Store, sides: [&Side<'_>; 2], visit: &Visit) -> Try<bool> {
        let mut places = Vec::new();
        for (index, side) in sides.into_iter().enumerate() {
            let block = self.cursors[index].block;
            places.extend(listed(side, block).map(|value| (index, Some((value, width(side, value))))));
        }
        places.push((0, None));
        let at = |cursors: &[Cursor; 2], place: &(usize, Option<(Value, u32)>)| match place {
            (side, Some((value, _))) => cursors[*side].values[value.index()],
            (side, None) => cursors[*side].memory,
        };
        let mut widening = Widening {
            bound: HashMap::new(),
            pairs: HashMap::new(),
            steps: HashMap::new(),
            first: self.first,
            symbols: &mut self.symbols,
            news: Vec::new(),
            olds: Vec::new(),
        };
        for place in &places {
            let (old, new) = (at(&self.cursors, place), at(&visit.cursors, place));
            let is_safe = old != UNSET && new != UNSET && (!store.is_solid(old) || store.is_solid(new));
            if is_safe && widening.symbols.contains(&old) {
                widening.bound.entry(old).or_insert(new);
            }
        }
        let (mut changed, mut wider) = (false, Vec::new());
        let bound = widening.bound.clone();
        let mut known = bound.clone();
        for place in &places {
            let (old, new) = (at(&self.cursors, place), at(&visit.cursors, place));
            if old == UNSET || new == UNSET {
                return Err("a value is not known");
            }
            if store.replaced(old, &mut known, self.first)? == new {
                continue;
            }
            let width = place.1.map_or(0, |(_, width)| width);
            let general = widening.general(store, [old, new], width)?;
            wider.push((general, [old, new]));
            changed = true;
            match place {
                (side, Some((value, _))) => self.cursors[*side].values[value.index()] = general,
                (_, None) => self.cursors.iter_mut().for_each(|cursor| cursor.memory = general),
            }
        }
        let mut candidates = std::mem::take(&mut self.facts.known);
        let all = candidates.len();
        candidates.extend(widening.candidates(store, &candidates)?);
        known.extend(widening.news.iter().copied());
        let mut before = widening.olds.iter().map(|(symbol, old, _)| (*symbol, *old)).collect();
        for (general, [old, new]) in wider {
            let is_old = store.replaced(general, &mut before, self.first)? == old;
            if !is_old || store.replaced(general, &mut known, self.first)? != new {
                return Err("a value of a state is not an instance");
            }
        }
        for (index, fact) in candidates.into_iter().enumerate() {
            let own = store.replaced(fact.condition, &mut known, self.first)?;
            let holds = |certainly: bool, store: &mut Store| {
                Ok(visit.facts.decide(store, own, certainly)? == Some(fact.holds))
            };
            if holds(false, store)? {
                let is_certain = fact.is_certain && holds(true, store)?;
                changed |= is_certain != fact.is_certain || index >= all;
                self.facts.add(store, Fact { is_certain, ..fact });
            } else {
                changed |= index < all;
            }
        }
        self.joins += usize::from(changed);
        if self.joins > MAX_JOINS {
            return Err("how the values of the programs belong together is not found");
        }
        Ok(changed)
    }
}

impl Widening<'_> {
    /// Returns a term that is one value or the other one, whichever visit it is.
    fn general(&mut self, store: &mut Store, [old, new]: [TermId; 2], width: u32) -> Try<TermId> {
        if let Some(known) = self.pairs.get(&(old, new)) {
            return Ok(*known);
        }
        let is_solid = store.is_solid(old) && store.is_solid(new);
        let mut term = None;
        if width > 1 {
            let step = store.difference(width, new, old)?;
            match self.steps.get(&(width, step)) {
                Some((first, symbol)) => {
                    let (first, symbol) = (*first, *symbol);
                    let apart = store.difference(width, old, first[0])?;
                    let is_like = is_solid || !store.is_solid(symbol);
                    // A difference forgets what may be poison, so both sums are compared.
                    if is_like
                        && store.is_solid(apart)
                        && store.symbols_below(apart) <= self.first
                        && store.plus(width, first[0], apart, 1)? == old
                        && store.plus(width, first[1], apart, 1)? == new
                    {
                        term = Some(store.plus(width, symbol, apart, 1)?);
                    }
                }
                None => {
                    let symbol = self.symbol(store, is_solid, [old, new], width)?;
                    self.steps.insert((width, step), ([old, new], symbol));
                    term = Some(symbol);
                }
            }
        }
        let term = match term {
            Some(term) => term,
            None => self.symbol(store, is_solid, [old, new], width)?,
        };
        self.pairs.insert((old, new), term);
        Ok(term)
    }

    /// Returns conditions that may hold at each visit, for the new symbols. All hold for the values
    /// of the state before: facts about these, and comparisons with the values themselves.
    fn candidates(&self, store: &mut Store, facts: &[Fact]) -> Try<Vec<Fact>> {
        let mut all = Vec::new();
        for (symbol, old, width) in self.olds.iter().copied().filter(|(_, _, width)| *width > 1) {
            if self.symbols.contains(&old) {
                for fact in facts {
                    let is_about = |store: &Store| {
                        let mut found = false;
                        each_operand(store.node(fact.condition), &mut |operand| found |= operand == old);
                        found
                    };
                    if is_about(store) {
                        let new = |operand| if operand == old { symbol } else { operand };
                        let condition = store.rebuilt(fact.condition, &new)?;
                        all.push(Fact { condition, ..*fact });
                    }
                }
            } else if store.symbols_below(old) <= self.first {
                for (unsigned, operands) in
                    [true, false].into_iter().flat_map(|own| [(own, [symbol, old]), (own, [old, symbol])])
                {
                    let condition = store.less(unsigned, width, operands)?;
                    let (condition, holds) = plain(store, condition, false);
                    all.push(Fact { condition, holds, is_certain: false, ahead: None });
                }
            }
        }
        Ok(all)
    }

    fn symbol(
        &mut self,
        store: &mut Store,
        is_solid: bool,
        [old, new]: [TermId; 2],
        width: u32,
    ) -> Try<TermId> {
        let symbol = store.symbol(is_solid)?;
        self.symbols.insert(symbol);
        self.news.push((symbol, new));
        self.olds.push((symbol, old, width));
        Ok(symbol)
    }
}

/// Returns the values that matter at the start of a block, its arguments first.
pub(super) fn listed(side: &Side<'_>, block: Block) -> impl Iterator<Item = Value> {
    let arguments: Vec<Value> = side.body.arguments(block).collect();
    let live =
        side.live(block).iter().copied().filter(|value| !arguments.contains(value)).collect::<Vec<_>>();
    arguments.into_iter().chain(live)
}

/// Returns the width of an integer, or 0.
fn width(side: &Side<'_>, value: Value) -> u32 {
    let width = side.body.value_type(value).integer_width(side.body.ctx());
    width.filter(|width| *width <= 64).unwrap_or(0)
}

/// Returns how many live values of the second program are known in the first one too, and the
/// number of all.
pub(super) fn matched(
    store: &Store,
    sides: [&Side<'_>; 2],
    cursors: [&Cursor; 2],
    old: &Cursor,
) -> [usize; 2] {
    let terms = |side: usize| {
        let cursor = cursors[side];
        listed(sides[side], cursor.block).map(|value| cursor.values[value.index()])
    };
    let mut known: HashSet<TermId> = terms(0).collect();
    known.extend(old.values.iter().filter(|term| **term != UNSET));
    let is_known = |term: &TermId| known.contains(term) || matches!(store.node(*term), Node::Int { .. });
    let all: Vec<TermId> = terms(1).collect();
    [all.iter().filter(|term| is_known(term)).count(), all.len()]
}
