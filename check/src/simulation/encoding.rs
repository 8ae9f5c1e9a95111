//! Terms as bits of a formula.
//!
//! Operands are written before what is made of them. What is not written as bits, such as a product
//! of two unknown numbers of many bits, is any number.

use batsat::Lit;
use hashbrown::HashMap;

use super::bits::{Bits, Formula};
use super::numbers::{Binary, Cast, DISJOINT, EXACT, NO_SIGNED_WRAP, NO_UNSIGNED_WRAP, NOT_NEGATIVE, signed};
use super::terms::{Node, Store, TermId};

/// The widest integers of which products and quotients of two unknown ones are written as bits.
const MAX_PRODUCT: u32 = 16;

/// Writes terms as bits.
pub(super) struct Writer<'s> {
    store: &'s Store,
    formula: Formula,
    terms: HashMap<TermId, Bits>,
    /// Quotients and remainders, by their operands, and true if these are unsigned.
    quotients: HashMap<(bool, TermId, TermId), [Bits; 2]>,
    /// Divisors, with the quotients by them and the multiples that these stand for.
    multiples: Vec<(u64, Bits, Bits)>,
}

impl<'s> Writer<'s> {
    /// Returns an empty formula. The search in it ends after a number of steps.
    pub(super) fn new(store: &'s Store, steps: u64) -> Writer<'s> {
        Writer {
            store,
            formula: Formula::new(steps),
            terms: HashMap::new(),
            quotients: HashMap::new(),
            multiples: Vec::new(),
        }
    }

    /// Adds a term whose operands are there. One that is no poison keeps its promises.
    pub(super) fn write(&mut self, term: TermId, width: u32, is_free: bool) {
        let bits = self.bits(term, width);
        self.terms.insert(term, bits);
        if is_free {
            self.keep_promises(term);
        }
    }

    /// Requires that a condition that is there has a value.
    pub(super) fn require(&mut self, condition: TermId, holds: bool) {
        if let [literal] = self.of(condition)[..] {
            self.formula.require(&[if holds { literal } else { !literal }]);
        }
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.formula.is_too_large()
    }

    /// Returns the number of variables of the formula.
    pub(super) fn size(&self) -> u32 {
        self.formula.size()
    }

    /// Returns true if some numbers meet all that is required, and false if none do; `None` if that
    /// is not found.
    pub(super) fn is_possible(&mut self) -> Option<bool> {
        self.formula.is_possible()
    }

    /// Returns the number that was found for a term.
    pub(super) fn found(&self, term: TermId) -> u64 {
        self.formula.found(&self.of(term))
    }

    fn of(&self, term: TermId) -> Bits {
        self.terms.get(&term).cloned().unwrap_or_default()
    }

    /// Returns the bits of a term, whose operands are written.
    fn bits(&mut self, term: TermId, width: u32) -> Bits {
        match self.store.node(term) {
            Node::Int { bits, .. } => self.formula.int(width, *bits),
            Node::Sum { constant, products, .. } => {
                let mut sum = self.formula.int(width, *constant);
                for (atom, factor) in products {
                    let atom = self.of(*atom);
                    let zero = self.formula.constant(false);
                    let product = self.formula.times(&atom, *factor);
                    sum = self.formula.plus(&sum, &product, zero).0;
                }
                sum
            }
            Node::Binary { code, operands, .. } => self.binary(*code, width, *operands),
            Node::Cast { code, operand, .. } => {
                let operand = self.of(*operand);
                let filling = match (code, operand.last()) {
                    (Cast::Sign, Some(sign)) => *sign,
                    _ => self.formula.constant(false),
                };
                Formula::resized(&operand, width, filling)
            }
            Node::Not(inner) => self.of(*inner).into_iter().map(|bit| !bit).collect(),
            Node::Zero { operand, .. } => {
                let operand = self.of(*operand);
                vec![self.formula.is_zero(&operand)]
            }
            Node::Less { unsigned, operands, .. } => {
                let [a, b] = operands.map(|own| self.of(own));
                vec![self.formula.less(*unsigned, &a, &b)]
            }
            Node::Select([condition, yes, no]) => {
                let [condition, yes, no] = [*condition, *yes, *no].map(|own| self.of(own));
                self.formula.chosen(condition[0], &yes, &no)
            }
            Node::Argument { .. }
            | Node::Start
            | Node::Symbol(_)
            | Node::Constant { .. }
            | Node::Operation(_) => self.formula.any(width),
        }
    }

    fn binary(&mut self, code: Binary, width: u32, operands: [TermId; 2]) -> Bits {
        let [a, b] = operands.map(|own| self.of(own));
        let constants = operands.map(|own| self.store.constant(own));
        let no = self.formula.constant(false);
        match code {
            Binary::Add | Binary::Address => self.formula.plus(&a, &b, no).0,
            Binary::Sub => self.formula.minus(&a, &b).0,
            Binary::Mul => match constants {
                [Some(factor), _] => self.formula.times(&b, factor),
                [_, Some(factor)] => self.formula.times(&a, factor),
                _ if width <= MAX_PRODUCT => self.formula.product(&a, &b),
                _ => self.formula.any(width),
            },
            Binary::And => a.iter().zip(&b).map(|(x, y)| self.formula.and(*x, *y)).collect(),
            Binary::Or => a.iter().zip(&b).map(|(x, y)| self.formula.or(*x, *y)).collect(),
            Binary::Xor => a.iter().zip(&b).map(|(x, y)| self.formula.xor(*x, *y)).collect(),
            Binary::Shl | Binary::ShrS | Binary::ShrU => self.shift(code, a, &b),
            Binary::DivS | Binary::RemS | Binary::DivU | Binary::RemU => {
                let unsigned = matches!(code, Binary::DivU | Binary::RemU);
                let own = self.quotient(unsigned, width, operands);
                own[usize::from(matches!(code, Binary::RemS | Binary::RemU))].clone()
            }
            Binary::MinS | Binary::MinU | Binary::MaxS | Binary::MaxU => {
                let is_less = self.formula.less(matches!(code, Binary::MinU | Binary::MaxU), &a, &b);
                let is_first = matches!(code, Binary::MinS | Binary::MinU);
                self.formula.chosen(if is_first { is_less } else { !is_less }, &a, &b)
            }
        }
    }

    /// Returns an integer shifted by less than its width. Greater shifts are poison.
    fn shift(&mut self, code: Binary, a: Bits, by: &[Lit]) -> Bits {
        let no = self.formula.constant(false);
        let filling = if code == Binary::ShrS { a.last().copied().unwrap_or(no) } else { no };
        let mut out = a;
        for (place, bit) in by.iter().enumerate().take(6) {
            let step = 1usize << place;
            let moved = match code {
                Binary::Shl => self.formula.shifted(&out, step),
                _ => Formula::resized(out.get(step..).unwrap_or_default(), out.len() as u32, filling),
            };
            out = self.formula.chosen(*bit, &moved, &out);
        }
        out
    }

    /// Returns a quotient and a remainder. Those by zero are undefined, and any number.
    fn quotient(&mut self, unsigned: bool, width: u32, operands: [TermId; 2]) -> [Bits; 2] {
        let key = (unsigned, operands[0], operands[1]);
        if let Some(known) = self.quotients.get(&key) {
            return known.clone();
        }
        let divisor = self.store.constant(operands[1]);
        let [a, b] = operands.map(|own| self.of(own));
        let is_written = divisor.map_or(width <= MAX_PRODUCT, |divisor| divisor != 0);
        let both = if !is_written {
            [self.formula.any(width), self.formula.any(width)]
        } else if unsigned {
            self.unsigned_quotient(&a, &b, divisor)
        } else {
            let no = self.formula.constant(false);
            let signs = [&a, &b].map(|own| own.last().copied().unwrap_or(no));
            let own_sign = self.formula.xor(signs[0], signs[1]);
            let a = self.formula.negated_if(signs[0], &a);
            let b = self.formula.negated_if(signs[1], &b);
            let divisor = divisor.map(|bits| signed(width, bits).unsigned_abs());
            let [quotient, rest] = self.unsigned_quotient(&a, &b, divisor);
            [self.formula.negated_if(own_sign, &quotient), self.formula.negated_if(signs[0], &rest)]
        };
        self.quotients.insert(key, both.clone());
        both
    }

    /// Returns the numbers `q` and `r < b` of which `a = q · b + r`.
    fn unsigned_quotient(&mut self, a: &[Lit], b: &[Lit], divisor: Option<u64>) -> [Bits; 2] {
        let width = a.len() as u32;
        if let Some(divisor) = divisor.filter(|own| own.is_power_of_two()) {
            let (by, no) = (divisor.trailing_zeros(), self.formula.constant(false));
            let quotient = Formula::resized(a.get(by as usize..).unwrap_or_default(), width, no);
            return [quotient, Formula::resized(&a[..(by as usize).min(a.len())], width, no)];
        }
        let no = self.formula.constant(false);
        let [quotient, rest] = [self.formula.any(width), self.formula.any(width)];
        // The product has room for all of its bits, so nothing wraps.
        let bits = divisor.map_or(width, |divisor| 64 - divisor.leading_zeros());
        let wide = |own: &[Lit]| Formula::resized(own, width + bits, no);
        let product = match divisor {
            Some(divisor) => self.multiple(&wide(&quotient), divisor),
            None => self.formula.product(&wide(&quotient), &wide(b)),
        };
        let (sum, _) = self.formula.plus(&product, &wide(&rest), no);
        let is_zero = self.formula.is_zero(b);
        for (bit, own) in sum.iter().zip(wide(a)) {
            self.formula.require(&[is_zero, !*bit, own]);
            self.formula.require(&[is_zero, *bit, !own]);
        }
        let is_less = self.formula.less(true, &rest, b);
        self.formula.require(&[is_zero, is_less]);
        if let Some(divisor) = divisor {
            let (multiple, _) = self.formula.minus(a, &rest);
            self.compare_multiples(divisor, &quotient, multiple);
        }
        [quotient, rest]
    }

    /// Adds how multiples of one number compare. That follows from the products, but the solver
    /// would take long to find it.
    fn compare_multiples(&mut self, divisor: u64, quotient: &[Lit], multiple: Bits) {
        let width = multiple.len();
        let step = self.formula.int(width as u32, divisor);
        let others = self.multiples.iter().filter(|own| own.0 == divisor && own.2.len() == width);
        for (_, other, product) in others.cloned().collect::<Vec<_>>() {
            for [q, m, p, n] in
                [[quotient, &multiple, &other, &product], [&other, &product, quotient, &multiple]]
            {
                // If `q < p`, then `m <= n - d`, else `n <= m`.
                let is_less = self.formula.less(true, q, p);
                let (next, _) = self.formula.minus(n, &step);
                let [is_beyond, is_smaller] =
                    [[&next[..], m], [m, n]].map(|[a, b]| self.formula.less(true, a, b));
                self.formula.require(&[!is_less, !is_beyond]);
                self.formula.require(&[is_less, !is_smaller]);
            }
        }
        self.multiples.push((divisor, quotient.to_vec(), multiple));
    }

    /// Returns a multiple by a number that is not negative, in more than 64 bits.
    fn multiple(&mut self, a: &[Lit], factor: u64) -> Bits {
        let no = self.formula.constant(false);
        let mut product = self.formula.int(a.len() as u32, 0);
        for place in (0..64).filter(|place| factor >> place & 1 == 1) {
            let own = self.formula.shifted(a, place);
            product = self.formula.plus(&product, &own, no).0;
        }
        product
    }

    /// Requires that a term breaks none of its promises. It is no poison.
    fn keep_promises(&mut self, term: TermId) {
        match *self.store.node(term) {
            Node::Binary { code, flags, width, operands } => {
                if matches!(code, Binary::Shl | Binary::ShrS | Binary::ShrU) {
                    let by = self.of(operands[1]);
                    let most = self.formula.int(width, u64::from(width));
                    let is_less = self.formula.less(true, &by, &most);
                    if width > 1 {
                        self.formula.require(&[is_less]);
                    }
                }
                if code != Binary::Address {
                    self.keep_flags(code, flags, width, operands, term);
                }
            }
            Node::Cast { code, flags, widths: [from, to], operand } => {
                let operand = self.of(operand);
                let no = self.formula.constant(false);
                let sign = operand.last().copied().unwrap_or(no);
                match code {
                    Cast::Zero if flags & NOT_NEGATIVE != 0 => self.formula.require(&[!sign]),
                    Cast::Cut => {
                        let kept = operand.get(to as usize - 1).copied().unwrap_or(no);
                        for (flag, filling) in [(NO_UNSIGNED_WRAP, no), (NO_SIGNED_WRAP, kept)] {
                            if flags & flag != 0 && from > to {
                                let lost = &operand[to as usize..];
                                let fits = self.formula.all_are(lost, filling);
                                self.formula.require(&[fits]);
                            }
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    fn keep_flags(&mut self, code: Binary, flags: u64, width: u32, operands: [TermId; 2], term: TermId) {
        let [a, b] = operands.map(|own| self.of(own));
        let no = self.formula.constant(false);
        if code == Binary::Or && flags & DISJOINT != 0 {
            for (x, y) in a.iter().zip(&b) {
                self.formula.require(&[!*x, !*y]);
            }
        }
        if code.is_division() {
            let is_zero = self.formula.is_zero(&b);
            self.formula.require(&[!is_zero]);
        }
        if flags & EXACT != 0 {
            let lost = match (code, self.store.constant(operands[1])) {
                (Binary::DivS | Binary::DivU, _) => {
                    let [_, rest] = self.quotient(code == Binary::DivU, width, operands);
                    rest
                }
                (Binary::ShrS | Binary::ShrU, Some(by)) => a.iter().copied().take(by as usize).collect(),
                _ => Bits::new(),
            };
            let is_zero = self.formula.is_zero(&lost);
            self.formula.require(&[is_zero]);
        }
        for (flag, unsigned) in [(NO_UNSIGNED_WRAP, true), (NO_SIGNED_WRAP, false)] {
            if flags & flag == 0 {
                continue;
            }
            // The result in so many bits that nothing wraps is the one in its width.
            let factor = operands.map(|own| self.store.constant(own));
            let more = match (code, factor) {
                (Binary::Add | Binary::Sub, _) => 1,
                (Binary::Mul, [Some(factor), _] | [_, Some(factor)]) => {
                    let size = if unsigned { factor } else { signed(width, factor).unsigned_abs() };
                    64 - size.leading_zeros() + 1
                }
                (Binary::Mul, _) if width <= MAX_PRODUCT => width,
                (Binary::Shl, [_, Some(by)]) if by < u64::from(width) => by as u32,
                _ => continue,
            };
            let [x, y] = [&a, &b].map(|own| {
                let filling = if unsigned { no } else { own.last().copied().unwrap_or(no) };
                Formula::resized(own, width + more, filling)
            });
            let wide = match (code, factor) {
                (Binary::Add, _) => self.formula.plus(&x, &y, no).0,
                (Binary::Sub, _) => self.formula.minus(&x, &y).0,
                (Binary::Mul, [Some(factor), _]) => self.wide_multiple(unsigned, width, &y, factor),
                (Binary::Mul, [_, Some(factor)]) => self.wide_multiple(unsigned, width, &x, factor),
                (Binary::Mul, _) => self.formula.product(&x, &y),
                _ => self.formula.shifted(&x, more as usize),
            };
            let own = self.of(term);
            let filling = if unsigned { no } else { own.last().copied().unwrap_or(no) };
            for (bit, own) in wide.iter().zip(Formula::resized(&own, width + more, filling)) {
                let differs = self.formula.xor(*bit, own);
                self.formula.require(&[!differs]);
            }
        }
    }

    /// Returns a multiple of a number that is wide enough for it.
    fn wide_multiple(&mut self, unsigned: bool, width: u32, a: &[Lit], factor: u64) -> Bits {
        let value = signed(width, factor);
        if unsigned || value >= 0 {
            return self.multiple(a, if unsigned { factor } else { value.unsigned_abs() });
        }
        let product = self.multiple(a, value.unsigned_abs());
        let yes = self.formula.constant(true);
        self.formula.negated_if(yes, &product)
    }
}
