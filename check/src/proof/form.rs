//! [`Form`]: an integer as a sum of multiples of loop variables, parameters and floored quotients.
//!
//! Forms are exact over the integers. Whoever makes one shows that the machine's arithmetic does
//! not wrap, or records the assumption. [`Condition`] is a formula over forms in disjunctive form,
//! with its negation beside it.
//!
//! **Bounds.** A form has at most [`MAX_TERMS`] terms, quotients nest at most [`MAX_NESTING`] deep,
//! and a condition has at most [`MAX_CASES`] cases. What would be larger is no form.

use loomir_polyhedra::{Affine, Conjunction, Var};

/// The most terms of a form.
const MAX_TERMS: usize = 48;
/// The deepest nesting of quotients.
const MAX_NESTING: usize = 6;
/// The most cases of a condition.
pub(super) const MAX_CASES: usize = 32;

/// A factor of a term.
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(super) enum Atom {
    /// A parameter, by its number in the table of parameters.
    Param(u32),
    /// The variable of the loop at a depth; 0 is the outermost loop.
    Dim(u32),
    /// The quotient of a form and a positive number, rounded down.
    Quotient(Box<Form>, i64),
}

/// A constant and multiples of atoms, sorted by atom; no coefficient is zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord)]
pub(super) struct Form {
    pub(super) constant: i64,
    terms: Vec<(Atom, i64)>,
}

impl Form {
    pub(super) fn constant(value: i64) -> Form {
        Form { constant: value, terms: Vec::new() }
    }

    pub(super) fn atom(atom: Atom) -> Form {
        Form { constant: 0, terms: vec![(atom, 1)] }
    }

    pub(super) fn dim(depth: usize) -> Form {
        Form::atom(Atom::Dim(depth as u32))
    }

    /// Returns the value of a form without terms.
    pub(super) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Returns `self * a + other * b`; `None` if a number overflows or the form grows too large.
    fn combined(&self, a: i64, other: &Form, b: i64) -> Option<Form> {
        let constant = self.constant.checked_mul(a)?.checked_add(other.constant.checked_mul(b)?)?;
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => break,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some((x, _)), Some((y, _))) => x.cmp(y),
            };
            let mut value = 0i64;
            let mut atom = None;
            if order.is_le() {
                let (x, factor) = left.next()?;
                value = factor.checked_mul(a)?;
                atom = Some(x);
            }
            if order.is_ge() {
                let (y, factor) = right.next()?;
                value = value.checked_add(factor.checked_mul(b)?)?;
                atom = Some(y);
            }
            if value != 0 {
                terms.push((atom?.clone(), value));
            }
        }
        (terms.len() <= MAX_TERMS).then_some(Form { constant, terms })
    }

    pub(super) fn plus(&self, other: &Form) -> Option<Form> {
        self.combined(1, other, 1)
    }

    pub(super) fn minus(&self, other: &Form) -> Option<Form> {
        self.combined(1, other, -1)
    }

    pub(super) fn times(&self, factor: i64) -> Option<Form> {
        self.combined(factor, &Form::default(), 0)
    }

    /// Returns the product of two forms. `pair` names the product of two parameters. `None` if
    /// another atom occurs.
    pub(super) fn product(
        &self,
        other: &Form,
        pair: &mut dyn FnMut(u32, u32) -> Option<Form>,
    ) -> Option<Form> {
        let mut sum = self.times(other.constant)?;
        let rest = Form { constant: 0, terms: other.terms.clone() };
        sum = sum.plus(&rest.times(self.constant)?)?;
        for (x, a) in &self.terms {
            for (y, b) in &other.terms {
                let (Atom::Param(x), Atom::Param(y)) = (x, y) else { return None };
                sum = sum.plus(&pair(*x, *y)?.times(a.checked_mul(*b)?)?)?;
            }
        }
        Some(sum)
    }

    /// True for a parameter by itself.
    pub(super) fn is_param(&self) -> bool {
        self.constant == 0 && matches!(&self.terms[..], [(Atom::Param(_), 1)])
    }

    pub(super) fn offset(&self, by: i64) -> Option<Form> {
        self.plus(&Form::constant(by))
    }

    /// Returns the quotient by a positive number, rounded down.
    pub(super) fn floor_div(&self, divisor: i64) -> Option<Form> {
        if divisor <= 0 {
            return None;
        }
        // What the divisor divides leaves the quotient.
        let (mut whole, mut rest) = (Form::default(), Form::default());
        whole.constant = self.constant.div_euclid(divisor);
        rest.constant = self.constant.rem_euclid(divisor);
        for (atom, factor) in &self.terms {
            match factor % divisor {
                0 => whole.terms.push((atom.clone(), factor / divisor)),
                _ => rest.terms.push((atom.clone(), *factor)),
            }
        }
        if rest.terms.is_empty() {
            return Some(whole);
        }
        let quotient = Form::atom(Atom::Quotient(Box::new(rest), divisor));
        if quotient.nesting() > MAX_NESTING {
            return None;
        }
        whole.plus(&quotient)
    }

    /// Returns the remainder of a floored division by a positive number.
    pub(super) fn modulo(&self, divisor: i64) -> Option<Form> {
        self.minus(&self.floor_div(divisor)?.times(divisor)?)
    }

    pub(super) fn terms(&self) -> &[(Atom, i64)] {
        &self.terms
    }

    /// Returns the form divided by a positive number; `None` if a factor is no multiple of it.
    pub(super) fn divided(&self, by: i64) -> Option<Form> {
        let is_multiple = |value: i64| by > 0 && value % by == 0;
        let all = is_multiple(self.constant) && self.terms.iter().all(|(_, factor)| is_multiple(*factor));
        let terms = || self.terms.iter().map(|(atom, factor)| (atom.clone(), factor / by)).collect();
        all.then(|| Form { constant: self.constant / by, terms: terms() })
    }

    /// Returns the factor of the loop variable at a depth, outside of quotients.
    pub(super) fn factor_of_dim(&self, depth: usize) -> i64 {
        let is_dim = |atom: &Atom| *atom == Atom::Dim(depth as u32);
        self.terms.iter().find(|(atom, _)| is_dim(atom)).map_or(0, |(_, factor)| *factor)
    }

    /// True if the loop variable at a depth occurs, in quotients too.
    pub(super) fn has_dim(&self, depth: usize) -> bool {
        self.factor_of_dim(depth) != 0 || self.has_dim_in_quotient(depth)
    }

    /// True if the loop variable at a depth occurs in a quotient.
    pub(super) fn has_dim_in_quotient(&self, depth: usize) -> bool {
        self.terms.iter().any(|(atom, _)| match atom {
            Atom::Quotient(form, _) => form.has_dim(depth),
            _ => false,
        })
    }

    /// Returns the form with another one in place of the loop variable at a depth.
    pub(super) fn with_dim(&self, depth: usize, value: &Form) -> Option<Form> {
        let mut sum = Form::constant(self.constant);
        for (atom, factor) in &self.terms {
            let part = match atom {
                Atom::Dim(own) if *own as usize == depth => value.clone(),
                Atom::Quotient(form, divisor) => form.with_dim(depth, value)?.floor_div(*divisor)?,
                other => Form::atom(other.clone()),
            };
            sum = sum.plus(&part.times(*factor)?)?;
        }
        Some(sum)
    }

    /// Returns the form with other forms in place of the quotients that no loop changes, as `name`
    /// says. `None` if the form grows too large, or `name` has none.
    pub(super) fn with_quotients(&self, name: &mut dyn FnMut(Form, i64) -> Option<Form>) -> Option<Form> {
        let mut sum = Form::constant(self.constant);
        for (atom, factor) in &self.terms {
            let part = match atom {
                Atom::Quotient(form, divisor) => {
                    let form = form.with_quotients(name)?;
                    if form.is_invariant() { name(form, *divisor)? } else { form.floor_div(*divisor)? }
                }
                other => Form::atom(other.clone()),
            };
            sum = sum.plus(&part.times(*factor)?)?;
        }
        Some(sum)
    }

    fn nesting(&self) -> usize {
        let depth = |atom: &Atom| match atom {
            Atom::Quotient(form, _) => 1 + form.nesting(),
            _ => 0,
        };
        self.terms.iter().map(|(atom, _)| depth(atom)).max().unwrap_or(0)
    }

    /// True if no loop variable occurs.
    pub(super) fn is_invariant(&self) -> bool {
        self.terms.iter().all(|(atom, _)| match atom {
            Atom::Param(_) => true,
            Atom::Dim(_) => false,
            Atom::Quotient(form, _) => form.is_invariant(),
        })
    }

    /// Calls `visit` on each parameter that occurs.
    pub(super) fn for_each_param(&self, visit: &mut dyn FnMut(u32)) {
        for (atom, _) in &self.terms {
            match atom {
                Atom::Param(param) => visit(*param),
                Atom::Dim(_) => {}
                Atom::Quotient(form, _) => form.for_each_param(visit),
            }
        }
    }

    /// Returns the form as an expression over the variables of a conjunction: parameters first,
    /// loop variables from `base` on. Quotients become existential variables.
    pub(super) fn expression(&self, set: &mut Conjunction, base: usize) -> Affine {
        let mut sum = Affine::constant(self.constant);
        for (atom, factor) in &self.terms {
            let var = match atom {
                Atom::Param(param) => Var(*param),
                Atom::Dim(depth) => Var(base as u32 + depth),
                Atom::Quotient(form, divisor) => {
                    let numerator = form.expression(set, base);
                    set.floor_div(numerator, *divisor)
                }
            };
            sum = sum + Affine::from(var) * *factor;
        }
        sum
    }
}

/// A constraint `form >= 0`, or `form = 0`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Constraint {
    pub(super) form: Form,
    pub(super) equality: bool,
}

impl Constraint {
    pub(super) fn at_least_zero(form: Form) -> Constraint {
        Constraint { form, equality: false }
    }

    pub(super) fn zero(form: Form) -> Constraint {
        Constraint { form, equality: true }
    }

    /// Adds the constraint to a conjunction; see [`Form::expression`].
    pub(super) fn add_to(&self, set: &mut Conjunction, base: usize) {
        let expression = self.form.expression(set, base);
        match self.equality {
            true => set.add_eq(expression, 0),
            false => set.add_ge(expression, 0),
        }
    }

    /// Returns the cases in which the constraint does not hold.
    fn negated(&self) -> Option<Vec<Constraint>> {
        let below = Constraint::at_least_zero(self.form.times(-1)?.offset(-1)?);
        Some(match self.equality {
            true => vec![below, Constraint::at_least_zero(self.form.offset(-1)?)],
            false => vec![below],
        })
    }
}

/// A disjunction of conjunctions of constraints.
pub(super) type Cases = Vec<Vec<Constraint>>;

/// Returns the conjunction of two disjunctions; `None` if it has too many cases.
pub(super) fn both(a: &Cases, b: &Cases) -> Option<Cases> {
    if a.len().saturating_mul(b.len()) > MAX_CASES {
        return None;
    }
    Some(a.iter().flat_map(|x| b.iter().map(move |y| x.iter().chain(y).cloned().collect())).collect())
}

/// A truth value over forms, as the cases in which it holds and those in which it does not.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Condition {
    pub(super) holds: Cases,
    pub(super) fails: Cases,
}

impl Condition {
    pub(super) fn constant(value: bool) -> Condition {
        let (all, none) = (vec![Vec::new()], Vec::new());
        if value { Condition { holds: all, fails: none } } else { Condition { holds: none, fails: all } }
    }

    /// Returns the condition that all constraints hold. The cases of its negation do not meet.
    pub(super) fn all(constraints: Vec<Constraint>) -> Option<Condition> {
        let mut fails = Vec::new();
        for (index, constraint) in constraints.iter().enumerate() {
            for negated in constraint.negated()? {
                let mut case = constraints[..index].to_vec();
                case.push(negated);
                fails.push(case);
            }
        }
        (fails.len() <= MAX_CASES).then_some(Condition { holds: vec![constraints], fails })
    }

    pub(super) fn not(self) -> Condition {
        Condition { holds: self.fails, fails: self.holds }
    }

    pub(super) fn and(&self, other: &Condition) -> Option<Condition> {
        let holds = both(&self.holds, &other.holds)?;
        // The other fails only where this holds, so cases that do not meet still do not.
        let rest = both(&self.holds, &other.fails)?;
        let fails: Cases = self.fails.iter().chain(&rest).cloned().collect();
        (fails.len() <= MAX_CASES).then_some(Condition { holds, fails })
    }

    pub(super) fn or(&self, other: &Condition) -> Option<Condition> {
        Some(self.clone().not().and(&other.clone().not())?.not())
    }

    pub(super) fn xor(&self, other: &Condition) -> Option<Condition> {
        self.and(&other.clone().not())?.or(&self.clone().not().and(other)?)
    }

    /// True if no loop variable occurs.
    pub(super) fn is_invariant(&self) -> bool {
        self.holds.iter().chain(&self.fails).flatten().all(|constraint| constraint.form.is_invariant())
    }
}
