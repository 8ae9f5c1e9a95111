//! Affine forms as constraints of one integer conjunction.
//!
//! A [`System`] knows which variable each parameter is; which one a level is, is said with each form, since the levels of several
//! instances stand beside each other. A [`Pair`] is the usual case: instances of two accesses under common loops.

use hashbrown::HashMap;
use loomir_ir::Value;
use loomir_polyhedra::{Affine, Conjunction, Point, Var};

use super::form::{Atom, Form};

/// A conjunction under construction.
#[derive(Clone, Debug)]
pub struct System {
    /// The constraints so far.
    pub set: Conjunction,
    parameters: HashMap<Value, Var>,
}

impl System {
    /// No constraints on so many variables, those of the parameters among them.
    pub fn new(vars: usize, parameters: HashMap<Value, Var>) -> System {
        System { set: Conjunction::new(vars), parameters }
    }

    /// A form over the system's variables, of which `level` gives those of the levels. Quotients become existential variables; they nest at
    /// most [`MAX_NESTING`](super::form::MAX_NESTING) deep.
    pub fn affine(&mut self, form: &Form, level: &dyn Fn(u32) -> Var) -> Affine {
        let mut sum = Affine::constant(form.constant_part());
        for (atom, coefficient) in form.terms() {
            let term: Affine = match atom {
                Atom::Level(at) => level(*at).into(),
                Atom::Param(value) => self.parameters[value].into(),
                Atom::FloorDiv(inner, divisor) => {
                    let inner = self.affine(inner, level);
                    self.set.floor_div(inner, *divisor).into()
                }
            };
            sum = sum.add_scaled(&term, &(*coefficient).into());
        }
        sum
    }

    /// Adds that none of the forms is negative.
    pub fn constrain<'a>(&mut self, forms: impl IntoIterator<Item = &'a Form>, level: &dyn Fn(u32) -> Var) {
        for form in forms {
            let form = self.affine(form, level);
            self.set.add_ge(form, 0);
        }
    }
}

/// Which of two instances a form is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The first.
    First,
    /// The second.
    Second,
}

/// Instances of two accesses: variables are the levels around both, those of the first, those of the second, and the parameters of both.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The constraints so far.
    pub system: System,
    shared: u32,
    /// How many levels only the first has.
    skipped: u32,
}

/// Which instances of an access there are: its levels, and forms over them that are not negative.
pub type Instances<'a> = (u32, &'a [Form]);

impl Pair {
    /// The pairs of instances of which the first `shared` levels are common and satisfy `around`, and for which each of `equal` has equal forms.
    pub fn new(
        (first, of_first): Instances<'_>,
        (second, of_second): Instances<'_>,
        shared: u32,
        around: &[Form],
        equal: &[(&Form, &Form)],
    ) -> Pair {
        Pair::with_forms((first, of_first), (second, of_second), shared, around, equal, &[])
    }

    /// The same, for use with `forms` too: their parameters are variables.
    pub fn with_forms(
        (first, of_first): Instances<'_>,
        (second, of_second): Instances<'_>,
        shared: u32,
        around: &[Form],
        equal: &[(&Form, &Form)],
        forms: &[&Form],
    ) -> Pair {
        let levels = first + second - shared;
        let mut parameters = HashMap::new();
        let domains = of_first.iter().chain(of_second).chain(around);
        let equal_forms = equal.iter().flat_map(|(x, y)| [*x, *y]);
        for form in domains.chain(equal_forms).chain(forms.iter().copied()) {
            form.each_parameter(&mut |value| {
                let next = Var(levels + parameters.len() as u32);
                parameters.entry(value).or_insert(next);
            });
        }
        let mut system = System::new(levels as usize + parameters.len(), parameters);
        let of_first_var = |level| Var(level);
        let skipped = first - shared;
        let of_second_var = |level| second_var(level, shared, skipped);
        system.constrain(around.iter().chain(of_first), &of_first_var);
        system.constrain(of_second, &of_second_var);
        for (x, y) in equal {
            let (x, y) = (system.affine(x, &of_first_var), system.affine(y, &of_second_var));
            system.set.add_eq(x, y);
        }
        Pair { system, shared, skipped }
    }

    /// The variable of a level of the first.
    pub fn first(&self, level: u32) -> Var {
        Var(level)
    }

    /// The variable of a level of the second.
    pub fn second(&self, level: u32) -> Var {
        second_var(level, self.shared, self.skipped)
    }

    /// The variable of a level of one of them.
    pub fn level(&self, level: u32, side: Side) -> Var {
        match side {
            Side::First => self.first(level),
            Side::Second => self.second(level),
        }
    }

    /// A form over the levels of one of them.
    pub fn affine(&mut self, form: &Form, side: Side) -> Affine {
        let (shared, skipped) = (self.shared, self.skipped);
        match side {
            Side::First => self.system.affine(form, &Var),
            Side::Second => self.system.affine(form, &|level| second_var(level, shared, skipped)),
        }
    }

    /// What forms of one of them are at a point; 0 for what does not fit 64 bits.
    pub fn values<'f>(
        &self,
        point: &Point,
        forms: impl IntoIterator<Item = &'f Form>,
        side: Side,
    ) -> Vec<i64> {
        let at = |var: Var| point.get(var).to_i64();
        let parameter = |value| at(*self.system.parameters.get(&value)?);
        let value = |form: &Form| form.evaluate(&|level| at(self.level(level, side)), &parameter);
        forms.into_iter().map(|form| value(form).unwrap_or_default()).collect()
    }
}

/// The variable of a level of an instance whose own levels stand behind `skipped` others.
fn second_var(level: u32, shared: u32, skipped: u32) -> Var {
    Var(if level < shared { level } else { level + skipped })
}
