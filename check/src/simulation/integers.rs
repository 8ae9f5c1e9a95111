//! Conditions about sums and multiples of integers, as constraints of an exact integer set.
//!
//! A term stands for its value as a signed number, with another variable for how often it wraps.
//! Operations that are not linear are a choice between lists of constraints, or any number. Numbers
//! of operands never exclude all lists of a choice.

use hashbrown::{HashMap, HashSet};
use loomir_polyhedra::{Affine, Conjunction, Emptiness, Int, Limits, Point};

use super::models::{Found, Model};
use super::numbers::{Binary, Cast, NO_SIGNED_WRAP, NO_UNSIGNED_WRAP, signed};
use super::terms::{Known, Node, Store, TermId};

/// The steps of a question about one list of constraints.
const LIMITS: Limits = Limits::steps(500_000_000);
/// The work of a search that is given up.
const GIVEN_UP: usize = 300;
/// The most choices of a question.
const MAX_CHOICES: usize = 6;
/// The deepest nesting of terms that are looked into.
const MAX_DEPTH: usize = 40;

/// Expressions that are at least zero.
type Rows = Vec<Affine>;

/// The numbers that terms may be, under the facts of a question.
pub(super) struct Numbers<'s> {
    store: &'s Store,
    /// Terms that are no poison.
    free: &'s HashSet<TermId>,
    set: Conjunction,
    /// Terms as signed and as unsigned numbers.
    known: HashMap<(TermId, bool), Affine>,
    /// One of the two lists of each choice holds.
    choices: Vec<[Rows; 2]>,
    /// The terms of the first variables.
    unknowns: Vec<TermId>,
    /// The work of all searches.
    pub(super) searches: usize,
}

impl<'s> Numbers<'s> {
    /// Returns the numbers for which facts hold. Facts that are not linear say nothing.
    pub(super) fn of(
        store: &'s Store,
        facts: &[Known],
        free: &'s HashSet<TermId>,
        unknowns: Vec<(TermId, u32)>,
    ) -> Numbers<'s> {
        let set = Conjunction::new(unknowns.len());
        let mut numbers = Numbers {
            store,
            free,
            set,
            known: HashMap::new(),
            choices: Vec::new(),
            unknowns: unknowns.iter().map(|(term, _)| *term).collect(),
            searches: 0,
        };
        for (index, (term, width)) in unknowns.into_iter().enumerate() {
            let value = Affine::from(numbers.set.var(index));
            numbers.bound(&value, width);
            numbers.known.insert((term, false), value);
        }
        for (condition, holds) in facts {
            if let Some(rows) = numbers.rows(*condition, *holds, 0) {
                numbers.set = with(&numbers.set, &rows);
            }
        }
        numbers
    }

    /// Looks for numbers that give a condition a value.
    pub(super) fn with_value(&mut self, condition: TermId, holds: bool) -> Found {
        let Some(rows) = self.rows(condition, holds, 0) else { return Found::Nothing };
        if self.choices.len() > MAX_CHOICES {
            return Found::Nothing;
        }
        match search(with(&self.set, &rows), &self.choices, &mut self.searches) {
            Search::Excluded => Found::Excluded,
            Search::Unknown => Found::Nothing,
            Search::Found(point) => {
                let numbers = point.coordinates().iter().map(|own| own.to_i128().unwrap_or(0) as u64);
                Found::Numbers(Model::new(self.unknowns.iter().copied().zip(numbers)))
            }
        }
    }

    /// Returns constraints that say that a condition has a value.
    fn rows(&mut self, condition: TermId, holds: bool, depth: usize) -> Option<Rows> {
        if depth > MAX_DEPTH {
            return None;
        }
        match *self.store.node(condition) {
            Node::Not(inner) => self.rows(inner, !holds, depth + 1),
            Node::Zero { width, operand } if holds => {
                let value = self.signed(operand, width, depth + 1);
                Some(vec![value.clone(), -value])
            }
            Node::Zero { width, operand } => Some(vec![self.unsigned(operand, width, depth + 1) - 1]),
            Node::Less { unsigned, width, operands } => {
                let [a, b] = operands.map(|own| self.value(own, width, unsigned, depth + 1));
                Some(vec![if holds { b - a - 1 } else { a - b }])
            }
            Node::Binary { code, flags: 0, width: 1, operands: [a, b] }
                if code == (if holds { Binary::And } else { Binary::Or }) =>
            {
                let [mut x, y] = [self.rows(a, holds, depth + 1)?, self.rows(b, holds, depth + 1)?];
                x.extend(y);
                Some(x)
            }
            _ => None,
        }
    }

    fn value(&mut self, term: TermId, width: u32, unsigned: bool, depth: usize) -> Affine {
        if unsigned { self.unsigned(term, width, depth) } else { self.signed(term, width, depth) }
    }

    fn unsigned(&mut self, term: TermId, width: u32, depth: usize) -> Affine {
        if let Some(known) = self.known.get(&(term, true)) {
            return known.clone();
        }
        let value = self.signed(term, width, depth);
        let value = match value.is_constant() && value.constant_term().signum() >= 0 {
            true => value,
            false => self.set.modulo(value, turn(width)),
        };
        self.known.insert((term, true), value.clone());
        value
    }

    fn signed(&mut self, term: TermId, width: u32, depth: usize) -> Affine {
        if let Some(known) = self.known.get(&(term, false)) {
            return known.clone();
        }
        let value = match depth < MAX_DEPTH {
            true => self.linear(term, width, depth).unwrap_or_else(|| self.any(width)),
            false => self.any(width),
        };
        self.known.insert((term, false), value.clone());
        value
    }

    /// Returns a number of which nothing but its width is known.
    fn any(&mut self, width: u32) -> Affine {
        let value = Affine::from(self.set.exists());
        self.bound(&value, width);
        value
    }

    /// Adds that a signed number does not wrap.
    fn bound(&mut self, value: &Affine, width: u32) {
        let half = half(width);
        self.set.add_ge(value + Affine::constant(half.clone()), 0);
        self.set.add_lt(value.clone(), half);
    }

    /// Returns a number as it is after it wrapped.
    fn wrapped(&mut self, value: Affine, width: u32) -> Affine {
        let half = Affine::constant(half(width));
        self.set.modulo(value + &half, turn(width)) - half
    }

    /// Returns a number that is known as an unsigned one.
    fn of_unsigned(&mut self, term: TermId, value: Affine, width: u32) -> Affine {
        self.known.insert((term, true), value.clone());
        self.wrapped(value, width)
    }

    /// Returns a term as a signed number over others.
    fn linear(&mut self, term: TermId, width: u32, depth: usize) -> Option<Affine> {
        let next = depth + 1;
        match self.store.node(term) {
            Node::Int { bits, .. } => Some(Affine::from(signed(width, *bits))),
            Node::Sum { constant, products, .. } => {
                let mut sum = Affine::from(signed(width, *constant));
                for (atom, factor) in products.iter().filter(|(_, factor)| *factor != 0) {
                    let atom = self.signed(*atom, width, next);
                    sum = sum.add_scaled(&atom, &Int::from(signed(width, *factor)));
                }
                Some(self.wrapped(sum, width))
            }
            Node::Cast { code: Cast::Zero, widths, operand, .. } => {
                Some(self.unsigned(*operand, widths[0], next))
            }
            Node::Cast { code: Cast::Sign, widths, operand, .. } => {
                Some(self.signed(*operand, widths[0], next))
            }
            Node::Cast { code: Cast::Cut, widths, operand, .. } => {
                let value = self.signed(*operand, widths[0], next);
                Some(self.wrapped(value, width))
            }
            Node::Select([condition, yes, no]) => {
                let (condition, yes, no) = (*condition, *yes, *no);
                let [then, other] = [true, false].map(|holds| self.rows(condition, holds, next));
                let [yes, no] = [yes, no].map(|own| self.signed(own, width, next));
                Some(self.chosen(width, [(then?, yes), (other?, no)]))
            }
            Node::Binary { code, flags, operands, .. } => {
                let is_free = self.free.contains(&term);
                self.binary(*code, if is_free { *flags } else { 0 }, *operands, term, width, next)
            }
            _ => None,
        }
    }

    /// Returns the one of two values whose constraints hold.
    fn chosen(&mut self, width: u32, cases: [(Rows, Affine); 2]) -> Affine {
        let value = self.any(width);
        self.choices.push(cases.map(|(mut rows, own)| {
            rows.extend([&value - &own, own - &value]);
            rows
        }));
        value
    }

    fn binary(
        &mut self,
        code: Binary,
        flags: u64,
        operands: [TermId; 2],
        term: TermId,
        width: u32,
        depth: usize,
    ) -> Option<Affine> {
        let [a, b] = operands;
        let constants = operands.map(|own| self.store.constant(own));
        match (code, constants) {
            (Binary::Add | Binary::Sub | Binary::Mul | Binary::Shl, _) => {
                self.sum(code, flags, operands, width, depth)
            }
            (Binary::Address, _) => self.sum(Binary::Add, 0, operands, width, depth),
            (Binary::And, [Some(mask), _] | [_, Some(mask)]) if mask.wrapping_add(1).is_power_of_two() => {
                let other = if constants[0].is_some() { b } else { a };
                let value = self.unsigned(other, width, depth);
                let rest = self.set.modulo(value, Int::from(i128::from(mask) + 1));
                Some(self.of_unsigned(term, rest, width))
            }
            (Binary::DivU | Binary::RemU | Binary::ShrU, [_, Some(by)]) => {
                let divisor = match code {
                    Binary::ShrU if by < u64::from(width) => 1i128 << by,
                    Binary::ShrU => return None,
                    _ => i128::from(by),
                };
                let value = self.unsigned(a, width, depth);
                let own = match code {
                    _ if divisor == 0 => return None,
                    Binary::RemU => self.set.modulo(value, Int::from(divisor)),
                    _ => Affine::from(self.set.floor_div(value, Int::from(divisor))),
                };
                Some(self.of_unsigned(term, own, width))
            }
            (Binary::ShrS, [_, Some(by)]) if by < u64::from(width) => {
                let value = self.signed(a, width, depth);
                Some(Affine::from(self.set.floor_div(value, Int::from(1i128 << by))))
            }
            (Binary::DivS | Binary::RemS, [_, Some(by)]) if signed(width, by) > 0 => {
                let value = self.signed(a, width, depth);
                let divisor = Int::from(signed(width, by));
                let [up, down] = [value.clone(), -value.clone()]
                    .map(|own| Affine::from(self.set.floor_div(own, divisor.clone())));
                let [x, y] = match code {
                    Binary::DivS => [up, -down],
                    _ => [&value - up * &divisor, &value + down * &divisor],
                };
                Some(self.chosen(width, [(vec![value.clone()], x), (vec![-value - 1], y)]))
            }
            (Binary::MinS | Binary::MinU | Binary::MaxS | Binary::MaxU, _) => {
                let unsigned = matches!(code, Binary::MinU | Binary::MaxU);
                let [x, y] = operands.map(|own| self.value(own, width, unsigned, depth));
                let is_first = match code {
                    Binary::MinS | Binary::MinU => &y - &x,
                    _ => &x - &y,
                };
                let [p, q] = operands.map(|own| self.signed(own, width, depth));
                Some(self.chosen(width, [(vec![is_first.clone()], p), (vec![-is_first], q)]))
            }
            _ => None,
        }
    }

    /// Returns a sum, a difference or a multiple. What is no poison keeps its promises.
    fn sum(
        &mut self,
        code: Binary,
        flags: u64,
        operands: [TermId; 2],
        width: u32,
        depth: usize,
    ) -> Option<Affine> {
        let constants = operands.map(|own| self.store.constant(own));
        let exact = |numbers: &mut Self, unsigned: bool| {
            let factor = |bits: u64| {
                if unsigned { Int::from(i128::from(bits)) } else { Int::from(signed(width, bits)) }
            };
            let [x, y] = operands.map(|own| numbers.value(own, width, unsigned, depth));
            Some(match (code, constants) {
                (Binary::Add, _) => x + y,
                (Binary::Sub, _) => x - y,
                (Binary::Mul, [Some(by), _]) => y * &factor(by),
                (Binary::Mul, [_, Some(by)]) => x * &factor(by),
                (Binary::Shl, [_, Some(by)]) if by < u64::from(width) => x * &Int::from(1i128 << by),
                _ => return None,
            })
        };
        let value = exact(self, false)?;
        let value = match flags & NO_SIGNED_WRAP != 0 {
            true => {
                self.bound(&value, width);
                value
            }
            false => self.wrapped(value, width),
        };
        if flags & NO_UNSIGNED_WRAP != 0 {
            let own = exact(self, true)?;
            let unsigned = self.set.modulo(value.clone(), turn(width));
            self.set.add_eq(unsigned, own);
        }
        Some(value)
    }
}

/// Looks for numbers of a set that meet one list of each choice.
fn search(set: Conjunction, choices: &[[Rows; 2]], searches: &mut usize) -> Search {
    *searches += 1;
    let found = match set.is_empty(&LIMITS) {
        Emptiness::Empty => return Search::Excluded,
        Emptiness::NonEmpty(point) => Search::Found(point),
        Emptiness::Unknown(_) => {
            *searches += GIVEN_UP;
            return Search::Unknown;
        }
    };
    let Some((choice, others)) = choices.split_first() else { return found };
    let mut all = Search::Excluded;
    for rows in choice {
        match search(with(&set, rows), others, searches) {
            Search::Excluded => {}
            Search::Unknown => all = Search::Unknown,
            found @ Search::Found(_) => return found,
        }
    }
    all
}

/// The end of a search for numbers.
enum Search {
    /// There are none.
    Excluded,
    Unknown,
    Found(Point),
}

fn with(set: &Conjunction, rows: &Rows) -> Conjunction {
    let mut set = set.clone();
    rows.iter().for_each(|row| set.add_ge(row, 0));
    set
}

/// Returns the number of integers of a width.
fn turn(width: u32) -> Int {
    Int::from(1i128 << width)
}

/// Returns half of them.
fn half(width: u32) -> Int {
    Int::from(1i128 << (width - 1))
}
