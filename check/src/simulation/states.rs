//! States: pairs of places that both programs reach together, with how their values belong
//! together.
//!
//! A state has a term for each live value of both programs, over symbols of its own. A visit is an
//! instance of the state if some values for the symbols give all of its terms. Where it is not, the
//! state becomes more general: values that change together keep their differences, other values
//! become symbols. Values that always were equal stay equal.

use hashbrown::{HashMap, HashSet};
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Block, Value};

use super::facts::{Fact, Facts, plain};
use super::guesses::{self, Wider};
use super::side::{Cursor, Side, UNSET};
use super::terms::{Inside, Store, TermId, Try};

/// The most times that conditions are guessed from visits that follow from a state itself.
const MAX_ROUNDS: usize = 3;
/// The most times that a state becomes more general.
const MAX_JOINS: usize = 200;

/// The places of a state, the results of `llvm.freeze` in the second program whose operands were
/// poison, and the constants that its visits share, if they are told apart.
pub(super) type Key = ([Block; 2], Vec<Value>, Option<Box<[Option<u64>]>>);

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
    /// The visits that follow from other states, with these, if someone is asked.
    others: Vec<(Option<usize>, Visit)>,
    /// The number of times that conditions were guessed from visits that follow from the state.
    rounds: usize,
}

/// A visit of a pair of places.
#[derive(Clone)]
pub(super) struct Visit {
    pub(super) cursors: [Cursor; 2],
    pub(super) facts: Facts,
}

/// A value of one of the programs with its width, or its memory.
type Place = (usize, Option<(Value, u32)>);

/// Returns the places of all values that matter.
fn places(sides: [&Side<'_>; 2], cursors: &[Cursor; 2]) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for (index, side) in sides.into_iter().enumerate() {
        let values = listed(side, cursors[index].block);
        places.extend(values.map(|value| (index, Some((value, width(side, value))))));
    }
    places.push((0, None));
    places
}

fn at(cursors: &[Cursor; 2], place: &Place) -> TermId {
    match place {
        (side, Some((value, _))) => cursors[*side].values[value.index()],
        (side, None) => cursors[*side].memory,
    }
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
    /// The same for values that changed by a number: the width, the number, and both.
    strides: Vec<(u32, i64, [TermId; 2], TermId)>,
    first: u32,
    symbols: &'s mut HashSet<TermId>,
    /// New symbols with the value of the visit, and with the value of the state before.
    news: Vec<(TermId, TermId)>,
    olds: Vec<(TermId, TermId, u32)>,
}

/// A state that was made more general.
struct Widened {
    wider: Vec<Wider>,
    /// The values that the state's symbols stand for at the visit, and before it.
    known: HashMap<TermId, TermId>,
    before: HashMap<TermId, TermId>,
    /// Facts that held before, and may hold at the visit.
    news: Vec<Fact>,
}

impl State {
    /// Returns a state with the values of its first visit.
    pub(super) fn new(store: &Store, sides: [&Side<'_>; 2], visit: Visit, from: Option<usize>) -> State {
        let others = if store.asks() { vec![(from, visit.clone())] } else { Vec::new() };
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
            others,
            rounds: 0,
        }
    }

    /// Makes the state so general that it has this visit, which follows from another state, or from
    /// the start. Returns true if it changed.
    ///
    /// `inside` are the states that come again if it does, itself too.
    pub(super) fn join(
        &mut self,
        store: &mut Store,
        sides: [&Side<'_>; 2],
        visit: &Visit,
        from: Option<usize>,
        inside: &HashSet<usize>,
    ) -> Try<bool> {
        let places = places(sides, &self.cursors);
        let widened = self.widen(store, &places, visit)?;
        let Widened { wider, mut known, mut before, news } = widened;
        for Wider { general, values: [old, new], .. } in &wider {
            let is_old = store.replaced(*general, &mut before, Inside::Symbols(self.first))? == *old;
            if !is_old || store.replaced(*general, &mut known, Inside::Symbols(self.first))? != *new {
                return Err("a value of a state is not an instance");
            }
        }
        let mut changed = !wider.is_empty();
        changed |= self.keep_facts(store, news, visit, &mut known)?;
        for term in std::mem::take(&mut self.facts.poison) {
            let own = store.replaced(term, &mut known, Inside::Symbols(self.first))?;
            match visit.facts.is_poison(store, own) {
                true => self.facts.poison.push(term),
                false => changed = true,
            }
        }
        if store.asks() {
            let is_inside = |from: Option<usize>| from.is_some_and(|from| inside.contains(&from));
            if is_inside(from) && wider.is_empty() && self.rounds < MAX_ROUNDS {
                self.rounds += 1;
                changed |= self.guess(store, &places, visit, &mut known, &is_inside)?;
            }
            self.others.push((from, visit.clone()));
        }
        self.joins += usize::from(changed);
        if self.joins > MAX_JOINS {
            return Err("how the values of the programs belong together is not found");
        }
        Ok(changed)
    }

    /// Makes the values so general that those of a visit are an instance of them.
    fn widen(&mut self, store: &mut Store, places: &[Place], visit: &Visit) -> Try<Widened> {
        let mut widening = Widening {
            bound: HashMap::new(),
            pairs: HashMap::new(),
            steps: HashMap::new(),
            strides: Vec::new(),
            first: self.first,
            symbols: &mut self.symbols,
            news: Vec::new(),
            olds: Vec::new(),
        };
        for place in places {
            let (old, new) = (at(&self.cursors, place), at(&visit.cursors, place));
            let is_safe = old != UNSET && new != UNSET && (!store.is_solid(old) || store.is_solid(new));
            if is_safe && widening.symbols.contains(&old) {
                widening.bound.entry(old).or_insert(new);
            }
        }
        let mut known = widening.bound.clone();
        let mut open = Vec::new();
        for place in places {
            let (old, new) = (at(&self.cursors, place), at(&visit.cursors, place));
            if old == UNSET || new == UNSET {
                return Err("a value is not known");
            }
            if store.replaced(old, &mut known, Inside::Symbols(self.first))? != new {
                let width = place.1.map_or(0, |(_, width)| width);
                open.push((place, [old, new], width, store.stride(width, [old, new])));
            }
        }
        // Of values that change together, the slowest one gets the symbol.
        open.sort_by_key(|(.., stride)| stride.map_or(u64::MAX, i64::unsigned_abs));
        let mut wider = Vec::new();
        for (place, values, width, stride) in open {
            let general = widening.general(store, values, width, stride)?;
            wider.push(Wider { general, values, start: values[0], width });
            match place {
                (side, Some((value, _))) => self.cursors[*side].values[value.index()] = general,
                (_, None) => self.cursors.iter_mut().for_each(|cursor| cursor.memory = general),
            }
        }
        let mut news = widening.candidates(store, &self.facts.known)?;
        let mut before = widening.olds.iter().map(|(symbol, old, _)| (*symbol, *old)).collect();
        known.extend(widening.news.iter().copied());
        if store.asks() {
            for fact in guesses::about(store, &wider, &visit.facts)? {
                let own = store.replaced(fact.condition, &mut before, Inside::Symbols(self.first))?;
                if self.facts.decide(store, own, false)? == Some(fact.holds) {
                    news.push(fact);
                }
            }
        }
        Ok(Widened { wider, known, before, news })
    }

    /// Keeps the facts that hold at a visit too, and adds new ones that do. Returns true if the
    /// facts changed.
    fn keep_facts(
        &mut self,
        store: &mut Store,
        news: Vec<Fact>,
        visit: &Visit,
        known: &mut HashMap<TermId, TermId>,
    ) -> Try<bool> {
        let mut changed = false;
        let olds = std::mem::take(&mut self.facts.known);
        let all = olds.into_iter().map(|fact| (fact, false)).chain(news.into_iter().map(|fact| (fact, true)));
        for (fact, is_new) in all {
            // What followed from facts that are lost counts from now on.
            let follows = match fact.is_certain {
                false if store.asks() => self.facts.decide(store, fact.condition, false)?.is_some(),
                _ => fact.follows,
            };
            let fact = Fact { follows, ..fact };
            let own = store.replaced(fact.condition, known, Inside::Symbols(self.first))?;
            let holds = |certainly: bool, store: &mut Store| {
                Ok(visit.facts.decide(store, own, certainly)? == Some(fact.holds))
            };
            if holds(false, store)? {
                let is_certain = fact.is_certain && holds(true, store)?;
                changed |= is_certain != fact.is_certain || is_new;
                self.facts.add(store, Fact { is_certain, ..fact });
            } else {
                changed |= !is_new;
            }
        }
        Ok(changed)
    }
}

impl State {
    /// Forgets the visits that follow from some states.
    pub(super) fn forget_visits(&mut self, from: &HashSet<usize>) {
        self.others.retain(|(own, _)| own.is_none_or(|own| !from.contains(&own)));
    }

    /// Adds conditions that facts of a visit suggest, which follows from the state itself, or from
    /// one inside. They hold at each visit that follows from another state, and at this one if they
    /// held before. Following the state again shows that they hold at all visits that follow, or
    /// drops them.
    fn guess(
        &mut self,
        store: &mut Store,
        places: &[Place],
        visit: &Visit,
        known: &mut HashMap<TermId, TermId>,
        is_inside: &dyn Fn(Option<usize>) -> bool,
    ) -> Try<bool> {
        let mut wider: Vec<Wider> = Vec::new();
        for place in places {
            let (general, new) = (at(&self.cursors, place), at(&visit.cursors, place));
            let width = place.1.map_or(0, |(_, width)| width);
            if self.symbols.contains(&general) && wider.iter().all(|own| own.general != general) {
                let start = self.others.first().map_or(general, |(_, first)| at(&first.cursors, place));
                wider.push(Wider { general, values: [general, new], start, width });
            }
        }
        let others: Vec<&Visit> =
            self.others.iter().filter(|(from, _)| !is_inside(*from)).map(|(_, visit)| visit).collect();
        let mut before = Vec::new();
        for other in &others {
            let bound = places.iter().map(|place| (at(&self.cursors, place), at(&other.cursors, place)));
            before.push(bound.filter(|(old, _)| self.symbols.contains(old)).collect::<HashMap<_, _>>());
        }
        let mut changed = false;
        for fact in guesses::about(store, &wider, &visit.facts)? {
            let mut holds = self.facts.decide(store, fact.condition, false)?.is_none();
            for (other, known) in others.iter().zip(&mut before) {
                let own = store.replaced(fact.condition, known, Inside::Symbols(self.first))?;
                holds = holds && other.facts.decide(store, own, false)? == Some(fact.holds);
            }
            if holds {
                let mut facts = visit.facts.clone();
                facts.add(store, fact);
                let own = store.replaced(fact.condition, known, Inside::Symbols(self.first))?;
                if facts.decide(store, own, false)? == Some(fact.holds) {
                    self.facts.add(store, fact);
                    changed = true;
                }
            }
        }
        Ok(changed)
    }
}

impl Widening<'_> {
    /// Returns a term that is one value or the other one, whichever visit it is.
    fn general(
        &mut self,
        store: &mut Store,
        [old, new]: [TermId; 2],
        width: u32,
        stride: Option<i64>,
    ) -> Try<TermId> {
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
                    term = self.multiple(store, [old, new], width, stride.filter(|_| is_solid))?;
                    if term.is_none() {
                        let symbol = self.symbol(store, is_solid, [old, new], width)?;
                        self.steps.insert((width, step), ([old, new], symbol));
                        self.strides.extend(stride.map(|stride| (width, stride, [old, new], symbol)));
                        term = Some(symbol);
                    }
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

    /// Returns a value that moves a number of times as far as another one, over the symbol of that.
    fn multiple(
        &self,
        store: &mut Store,
        [old, new]: [TermId; 2],
        width: u32,
        stride: Option<i64>,
    ) -> Try<Option<TermId>> {
        let Some(stride) = stride else { return Ok(None) };
        for (own, by, first, symbol) in &self.strides {
            let is_fit = *own == width && store.is_solid(*symbol) && stride.checked_rem(*by) == Some(0);
            let Some(factor) = stride.checked_div(*by).filter(|_| is_fit) else { continue };
            let rest = store.plus(width, old, first[0], factor.wrapping_neg() as u64)?;
            if store.symbols_below(rest) <= self.first
                && store.plus(width, rest, first[1], factor as u64)? == new
            {
                return Ok(Some(store.plus(width, rest, *symbol, factor as u64)?));
            }
        }
        Ok(None)
    }

    /// Returns conditions that may hold at each visit, for the new symbols. All hold for the values
    /// of the state before: facts about these, and comparisons with the values themselves.
    fn candidates(&self, store: &mut Store, facts: &[Fact]) -> Try<Vec<Fact>> {
        let mut all = Vec::new();
        for (symbol, old, width) in self.olds.iter().copied().filter(|(_, _, width)| *width > 1) {
            if store.asks() {
                all.extend(guesses::equal_to(store, (symbol, old, width), facts)?);
            }
            if self.symbols.contains(&old) {
                // They may go on being equal.
                let condition = store.equal(width, symbol, old)?;
                all.push(guesses::guess(condition, true));
                let mut known = HashMap::from([(old, symbol)]);
                for fact in facts {
                    let condition =
                        store.replaced(fact.condition, &mut known, Inside::Symbols(self.first))?;
                    if condition != fact.condition {
                        all.push(Fact { condition, ..*fact });
                    }
                }
            } else if store.symbols_below(old) <= self.first {
                for (unsigned, operands) in
                    [true, false].into_iter().flat_map(|own| [(own, [symbol, old]), (own, [old, symbol])])
                {
                    let condition = store.less(unsigned, width, operands)?;
                    let (condition, holds) = plain(store, condition, false);
                    all.push(guesses::guess(condition, holds));
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
/// number of all. Constants are known anywhere, unless that is too weak. Then operations that are
/// constants count for nothing in both.
pub(super) fn matched(
    store: &Store,
    sides: [&Side<'_>; 2],
    cursors: [&Cursor; 2],
    old: &Cursor,
    knows_constants: bool,
) -> [usize; 2] {
    let terms = |side: usize| {
        let (side, cursor) = (sides[side], cursors[side]);
        let counts = move |value: &Value| knows_constants || constant_of(side.body, *value).is_none();
        listed(side, cursor.block).filter(counts).map(|value| cursor.values[value.index()])
    };
    let mut known: HashSet<TermId> = terms(0).collect();
    let is_constant = |term: &TermId| store.constant(*term).is_some();
    let is_old = |term: &&TermId| **term != UNSET && (knows_constants || !is_constant(term));
    known.extend(old.values.iter().filter(is_old));
    let is_known = |term: &TermId| known.contains(term) || knows_constants && is_constant(term);
    let all: Vec<TermId> = terms(1).collect();
    [all.iter().filter(|term| is_known(term)).count(), all.len()]
}
