//! Integers as bits of a propositional formula.
//!
//! An integer is a list of literals, the lowest bit first. Gates become clauses (Tseitin's
//! encoding). Gates of known bits are known, and equal gates are one.

use std::cell::Cell;

use batsat::{Callbacks, Lit, Solver, SolverInterface, SolverOpts, lbool};
use hashbrown::HashMap;

use super::numbers::signed;

/// An integer, the lowest bit first.
pub(super) type Bits = Vec<Lit>;

/// The most variables of a formula.
const MAX_VARIABLES: u32 = 60_000;

/// Ends a search after a number of steps.
struct Budget {
    left: Cell<u64>,
}

impl Callbacks for Budget {
    fn stop(&self) -> bool {
        self.left.set(self.left.get().saturating_sub(1));
        self.left.get() == 0
    }
}

/// A formula with its solver.
pub(super) struct Formula {
    solver: Solver<Budget>,
    /// The literal that is true.
    truth: Lit,
    gates: HashMap<(Gate, [Lit; 3]), Lit>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And,
    Xor,
    /// The second literal if the first one is true, else the third.
    Choice,
    /// True if two of three literals are.
    Most,
}

impl Formula {
    /// Returns a formula without clauses. All searches together end after a number of steps.
    pub(super) fn new(steps: u64) -> Formula {
        let budget = Budget { left: Cell::new(steps) };
        let mut solver = Solver::new(SolverOpts::default(), budget);
        let truth = Lit::new(solver.new_var_default(), true);
        let mut formula = Formula { solver, truth, gates: HashMap::new() };
        formula.require(&[truth]);
        formula
    }

    /// Returns the number of variables.
    pub(super) fn size(&self) -> u32 {
        self.solver.num_vars()
    }

    /// True if the formula has grown beyond its limit.
    pub(super) fn is_too_large(&self) -> bool {
        self.size() > MAX_VARIABLES
    }

    /// Returns true if the clauses can hold together, and false if they cannot; `None` if that is
    /// not found.
    pub(super) fn is_possible(&mut self) -> Option<bool> {
        match self.solver.solve_limited(&[]) {
            found if found == lbool::TRUE => Some(true),
            found if found == lbool::FALSE => Some(false),
            _ => None,
        }
    }

    /// Returns an integer that was found.
    pub(super) fn found(&self, bits: &[Lit]) -> u64 {
        let places = bits.iter().enumerate();
        places.fold(0, |all, (place, bit)| {
            let is_set = self.solver.value_lit(*bit) == lbool::TRUE;
            all | u64::from(is_set) << place
        })
    }

    /// Adds the clause that one of these literals is true.
    pub(super) fn require(&mut self, literals: &[Lit]) {
        self.solver.add_clause_reuse(&mut literals.to_vec());
    }

    pub(super) fn constant(&self, holds: bool) -> Lit {
        if holds { self.truth } else { !self.truth }
    }

    pub(super) fn int(&self, width: u32, bits: u64) -> Bits {
        (0..width).map(|place| self.constant(place < 64 && bits >> place & 1 == 1)).collect()
    }

    /// Returns an integer of which nothing is known.
    pub(super) fn any(&mut self, width: u32) -> Bits {
        (0..width).map(|_| Lit::new(self.solver.new_var_default(), true)).collect()
    }

    fn gate(&mut self, gate: Gate, inputs: [Lit; 3]) -> Lit {
        if let Some(known) = self.gates.get(&(gate, inputs)) {
            return *known;
        }
        let out = Lit::new(self.solver.new_var_default(), true);
        let [a, b, c] = inputs;
        match gate {
            Gate::And => {
                self.require(&[!out, a]);
                self.require(&[!out, b]);
                self.require(&[out, !a, !b]);
            }
            Gate::Xor => {
                self.require(&[!out, a, b]);
                self.require(&[!out, !a, !b]);
                self.require(&[out, !a, b]);
                self.require(&[out, a, !b]);
            }
            Gate::Choice => {
                self.require(&[!a, !b, out]);
                self.require(&[!a, b, !out]);
                self.require(&[a, !c, out]);
                self.require(&[a, c, !out]);
            }
            Gate::Most => {
                for [x, y] in [[a, b], [a, c], [b, c]] {
                    self.require(&[!x, !y, out]);
                    self.require(&[x, y, !out]);
                }
            }
        }
        self.gates.insert((gate, inputs), out);
        out
    }

    pub(super) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let truth = self.truth;
        match (a, b) {
            _ if a == !truth || b == !truth || a == !b => !truth,
            _ if a == truth || a == b => b,
            _ if b == truth => a,
            _ => self.gate(Gate::And, [a.min(b), a.max(b), truth]),
        }
    }

    pub(super) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub(super) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let truth = self.truth;
        match (a, b) {
            _ if a == truth => !b,
            _ if b == truth => !a,
            _ if a == !truth => b,
            _ if b == !truth => a,
            _ if a == b => !truth,
            _ if a == !b => truth,
            _ => {
                // The signs of both go to the result.
                let is_turned = a.sign() != b.sign();
                let [a, b] = [a, b].map(|own| if own.sign() { own } else { !own });
                self.gate(Gate::Xor, [a.min(b), a.max(b), truth]).apply_sign(!is_turned)
            }
        }
    }

    pub(super) fn choice(&mut self, condition: Lit, yes: Lit, no: Lit) -> Lit {
        let truth = self.truth;
        match condition {
            _ if condition == truth || yes == no => yes,
            _ if condition == !truth => no,
            _ if yes == truth => self.or(condition, no),
            _ if yes == !truth => self.and(!condition, no),
            _ if no == truth => self.or(!condition, yes),
            _ if no == !truth => self.and(condition, yes),
            _ => self.gate(Gate::Choice, [condition, yes, no]),
        }
    }

    /// Returns true if two of three are.
    fn most(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let known = [a, b, c].into_iter().position(|own| own == self.truth || own == !self.truth);
        let mut all = [a, b, c];
        if let Some(place) = known {
            let [x, y] = [all[(place + 1) % 3], all[(place + 2) % 3]];
            return if all[place] == self.truth { self.or(x, y) } else { self.and(x, y) };
        }
        all.sort_unstable();
        match all {
            // Equal and opposite literals are neighbours.
            [x, y, z] if x == y || y == !z => x,
            [_, y, z] if y == z => y,
            [x, y, z] if x == !y => z,
            _ => self.gate(Gate::Most, all),
        }
    }

    pub(super) fn chosen(&mut self, condition: Lit, yes: &[Lit], no: &[Lit]) -> Bits {
        yes.iter().zip(no).map(|(yes, no)| self.choice(condition, *yes, *no)).collect()
    }

    /// Returns `a + b + carry`, and the carry behind the last bit.
    pub(super) fn plus(&mut self, a: &[Lit], b: &[Lit], mut carry: Lit) -> (Bits, Lit) {
        let mut sum = Vec::with_capacity(a.len());
        for (x, y) in a.iter().zip(b) {
            let half = self.xor(*x, *y);
            sum.push(self.xor(half, carry));
            carry = self.most(*x, *y, carry);
        }
        (sum, carry)
    }

    /// Returns `a - b`, and true if `b` is not greater, as unsigned.
    pub(super) fn minus(&mut self, a: &[Lit], b: &[Lit]) -> (Bits, Lit) {
        let turned: Bits = b.iter().map(|bit| !*bit).collect();
        self.plus(a, &turned, self.truth)
    }

    /// Returns `-a` if a condition holds, else `a`.
    pub(super) fn negated_if(&mut self, condition: Lit, a: &[Lit]) -> Bits {
        let turned: Bits = a.iter().map(|bit| self.xor(*bit, condition)).collect();
        let zero = self.int(a.len() as u32, 0);
        self.plus(&turned, &zero, condition).0
    }

    /// Returns `a · 2^by`.
    pub(super) fn shifted(&self, a: &[Lit], by: usize) -> Bits {
        let zeros = std::iter::repeat_n(!self.truth, by);
        zeros.chain(a.iter().copied()).take(a.len()).collect()
    }

    /// Returns a multiple by a number, of which runs of ones are taken as one difference.
    pub(super) fn times(&mut self, a: &[Lit], factor: u64) -> Bits {
        let width = a.len() as u32;
        let mut product = self.int(width, 0);
        let mut rest = i128::from(signed(width, factor));
        for place in 0..a.len() {
            if rest & 1 == 1 {
                let own = self.shifted(a, place);
                let is_negative = rest & 3 == 3;
                product = if is_negative {
                    self.minus(&product, &own).0
                } else {
                    self.plus(&product, &own, !self.truth).0
                };
                rest += if is_negative { 1 } else { -1 };
            }
            rest >>= 1;
        }
        product
    }

    /// Returns a product of two integers.
    pub(super) fn product(&mut self, a: &[Lit], b: &[Lit]) -> Bits {
        let mut product = self.int(a.len() as u32, 0);
        for (place, bit) in b.iter().enumerate() {
            let own: Bits = self.shifted(a, place).into_iter().map(|own| self.and(own, *bit)).collect();
            product = self.plus(&product, &own, !self.truth).0;
        }
        product
    }

    pub(super) fn is_zero(&mut self, a: &[Lit]) -> Lit {
        let mut any = !self.truth;
        for bit in a {
            any = self.or(any, *bit);
        }
        !any
    }

    pub(super) fn less(&mut self, unsigned: bool, a: &[Lit], b: &[Lit]) -> Lit {
        let [mut a, mut b] = [a.to_vec(), b.to_vec()];
        if !unsigned {
            for own in [&mut a, &mut b] {
                own.iter_mut().last().into_iter().for_each(|sign| *sign = !*sign);
            }
        }
        !self.minus(&a, &b).1
    }

    /// Returns an integer with `width` bits: cut, or with copies of a literal before.
    pub(super) fn resized(a: &[Lit], width: u32, filling: Lit) -> Bits {
        a.iter().copied().chain(std::iter::repeat(filling)).take(width as usize).collect()
    }

    /// True if some literals are equal to one.
    pub(super) fn all_are(&mut self, literals: &[Lit], one: Lit) -> Lit {
        let mut all = self.truth;
        for own in literals {
            let differs = self.xor(*own, one);
            all = self.and(all, !differs);
        }
        all
    }
}
