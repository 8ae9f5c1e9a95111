//! Affine forms as constraints of one integer conjunction.
//!
//! A [`System`] maps each parameter and each product of parameters to a variable. The variables of
//! levels are given with each form, because a system contains the levels of several instances. A
//! [`Pair`] is the usual case: instances of two accesses under common loops.
//!
//! Facts about parameters ([`Facts`]) are added only if they matter. A set that is empty without
//! them is empty with them, and a point that satisfies them is a solution. Few questions are
//! therefore asked twice.
//!
//! **Assumptions.**
//! - A parameter is one variable for all instances of a system. Tried with
//!   `fixtures/fusion/computed_bounds.mlir` and `tests/tests/all/dependences.rs`.
//! - Facts only shrink a set of conflicts, so facts that are not followed make no loop legal. Tried
//!   with `fixtures/fusion/large_coefficients.mlir`.

use hashbrown::{HashMap, HashSet};
use loomir_ir::Value;
use loomir_polyhedra::{Affine, Conjunction, Emptiness, Limits, Point, Var};

use super::facts::Facts;
use super::range::{Range, both, of_one};
use super::{AffineForm, Atom};

/// The maximal number of parameters and products whose facts are collected.
const MAX_FOLLOWED: usize = 64;
/// The maximal number of constraints while projecting a system onto its parameters.
const MAX_SHADOW: usize = 64;

/// A conjunction under construction.
#[derive(Clone, Debug)]
pub struct System {
    /// The constraints so far.
    pub set: Conjunction,
    /// The variables of parameters and of products of parameters.
    unknowns: HashMap<Atom, Var>,
    /// The parameters and products in the order of their arrival.
    listed: Vec<Atom>,
    /// The ranges that constraints on a single parameter imply.
    narrower: HashMap<Value, Range>,
}

impl System {
    /// Returns a system of `vars` variables without constraints. The last variables are these
    /// parameters and products, in this order, beginning with `first`.
    pub fn new(vars: usize, first: Var, unknowns: Vec<Atom>) -> System {
        let vars_of = unknowns.iter().cloned().zip((first.0..).map(Var)).collect();
        System { set: Conjunction::new(vars), unknowns: vars_of, listed: unknowns, narrower: HashMap::new() }
    }

    /// Returns a form over the system's variables. `level` returns the variable of a level.
    /// Quotients become existential variables, as do parameters without a variable. They nest at
    /// most [`MAX_NESTING`](super::MAX_NESTING) deep.
    pub fn affine(&mut self, form: &AffineForm, level: &dyn Fn(u32) -> Var) -> Affine {
        let mut sum = Affine::constant(form.constant_part());
        for (atom, coefficient) in form.terms() {
            let term: Affine = match atom {
                Atom::Level(at) => level(*at).into(),
                Atom::Param(_) | Atom::Product(_) => self.unknown(atom).into(),
                Atom::FloorDiv(inner, divisor) => {
                    let inner = self.affine(inner, level);
                    self.set.floor_div(inner, *divisor).into()
                }
            };
            sum = sum.add_scaled(&term, &(*coefficient).into());
        }
        sum
    }

    fn unknown(&mut self, atom: &Atom) -> Var {
        if let Some(var) = self.unknowns.get(atom) {
            return *var;
        }
        let var = self.set.exists();
        self.unknowns.insert(atom.clone(), var);
        self.listed.push(atom.clone());
        var
    }

    /// Decides if there are points for which the facts about parameters hold.
    pub fn is_empty(&self, facts: &Facts, limits: &Limits) -> Emptiness {
        match self.set.is_empty(limits) {
            Emptiness::NonEmpty(point) if !self.agrees(facts, &point) => {
                self.with_facts(facts).set.is_empty(limits)
            }
            answer => answer,
        }
    }

    /// True if facts hold at a point. Facts about further parameters are not checked.
    pub fn agrees(&self, facts: &Facts, point: &Point) -> bool {
        let at = |atom: &Atom| {
            let var = self.unknowns.get(atom).filter(|var| var.index() < self.set.visible());
            var.and_then(|var| point.get(*var).to_i64())
        };
        self.listed.iter().all(|atom| {
            let value = at(atom);
            let is_within = |(lower, upper)| value.is_some_and(|v| (lower..=upper).contains(&i128::from(v)));
            facts.range(atom, &self.narrower).is_none_or(is_within)
                && facts
                    .relations(atom, &self.narrower)
                    .iter()
                    .all(|form| form.evaluate_with(&|_| None, &at).is_some_and(|value| value >= 0))
        })
    }

    /// Returns the system with the facts about its parameters.
    pub fn with_facts(&self, facts: &Facts) -> System {
        let mut all = self.clone();
        let mut next = 0;
        while next < all.listed.len().min(MAX_FOLLOWED) {
            let atom = all.listed[next].clone();
            next += 1;
            let var = all.unknown(&atom);
            if let Some((lower, upper)) = facts.range(&atom, &all.narrower) {
                if lower != i128::MIN {
                    all.set.add_ge(var, Affine::constant(lower));
                }
                if upper != i128::MAX {
                    all.set.add_le(var, Affine::constant(upper));
                }
            }
            // Relations contain no levels.
            let relations = facts.relations(&atom, &all.narrower);
            all.constrain(&relations, &Var);
        }
        all
    }

    /// Returns the system of `levels` levels and the parameters in which none of the forms is
    /// negative.
    pub fn over<'a>(levels: u32, forms: impl IntoIterator<Item = &'a AffineForm> + Clone) -> System {
        let mut unknowns = Unknowns::default();
        forms.clone().into_iter().for_each(|form| unknowns.add(form));
        let vars = levels as usize + unknowns.listed.len();
        let mut system = System::new(vars, Var(levels), unknowns.listed);
        system.constrain(forms, &Var);
        system
    }

    /// Returns forms without levels over the parameters and products that `is_kept` accepts. They
    /// are not negative wherever there is a point for which the facts hold. `None` if there are too
    /// many, or none of these unknowns is in the system.
    pub fn shadow(&self, facts: &Facts, is_kept: &dyn Fn(&Atom) -> bool) -> Option<Vec<AffineForm>> {
        if !self.listed.iter().any(is_kept) {
            return None;
        }
        let known = self.with_facts(facts);
        let kept = known.listed.iter().filter(|atom| is_kept(atom));
        let kept: HashMap<Var, &Atom> = kept.map(|atom| (known.unknowns[atom], atom)).collect();
        let rows = known.set.shadow(|var| kept.contains_key(&var), MAX_SHADOW)?;
        let form = |row: &Affine| {
            let constant = AffineForm::constant(row.constant_term().to_i64()?);
            row.terms().iter().try_fold(constant, |sum, (var, coefficient)| {
                sum.plus(&AffineForm::atom((*kept.get(var)?).clone()), coefficient.to_i64()?)
            })
        };
        // Rows without a form are dropped.
        Some(rows.iter().filter_map(form).collect())
    }

    /// Adds the constraints that none of the forms is negative.
    pub fn constrain<'a>(
        &mut self,
        forms: impl IntoIterator<Item = &'a AffineForm>,
        level: &dyn Fn(u32) -> Var,
    ) {
        for form in forms {
            if let Some((value, range)) = of_one(form) {
                let known = self.narrower.entry(value).or_insert(range);
                *known = both(*known, range);
            }
            let form = self.affine(form, level);
            self.set.add_ge(form, 0);
        }
    }
}

/// The parameters, and the products of parameters, in some forms.
#[derive(Clone, Debug, Default)]
pub struct Unknowns {
    /// The unknowns in the order of their arrival.
    pub listed: Vec<Atom>,
    seen: HashSet<Atom>,
}

impl Unknowns {
    /// Adds the unknowns of a form.
    pub fn add(&mut self, form: &AffineForm) {
        form.each_unknown(&mut |atom| {
            if self.seen.insert(atom.clone()) {
                self.listed.push(atom.clone());
            }
        });
    }
}

/// The instance that a form is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The first.
    First,
    /// The second.
    Second,
}

/// Instances of two accesses. The variables are the common levels, the levels of the first, those
/// of the second, and the parameters of both.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The constraints so far.
    pub system: System,
    shared: u32,
    /// The number of levels that only the first has.
    skipped: u32,
}

/// The instances of an access: the number of levels, and forms over them that are not negative.
pub type Instances<'a> = (u32, &'a [AffineForm]);

impl Pair {
    /// Returns the pairs of instances whose first `shared` levels are common and satisfy `around`,
    /// and for which the two forms of each of `equal` are equal.
    pub fn new(
        (first, of_first): Instances<'_>,
        (second, of_second): Instances<'_>,
        shared: u32,
        around: &[AffineForm],
        equal: &[(&AffineForm, &AffineForm)],
    ) -> Pair {
        Pair::with_forms((first, of_first), (second, of_second), shared, around, equal, &[])
    }

    /// Returns the same, with variables for the parameters of `forms` too.
    pub fn with_forms(
        (first, of_first): Instances<'_>,
        (second, of_second): Instances<'_>,
        shared: u32,
        around: &[AffineForm],
        equal: &[(&AffineForm, &AffineForm)],
        forms: &[&AffineForm],
    ) -> Pair {
        let levels = first + second - shared;
        let mut unknowns = Unknowns::default();
        let domains = of_first.iter().chain(of_second).chain(around);
        let equal_forms = equal.iter().flat_map(|(x, y)| [*x, *y]);
        domains.chain(equal_forms).chain(forms.iter().copied()).for_each(|form| unknowns.add(form));
        let vars = levels as usize + unknowns.listed.len();
        let mut system = System::new(vars, Var(levels), unknowns.listed);
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

    /// Returns the variable of a level of the first instance.
    pub fn first(&self, level: u32) -> Var {
        Var(level)
    }

    /// Returns the variable of a level of the second instance.
    pub fn second(&self, level: u32) -> Var {
        second_var(level, self.shared, self.skipped)
    }

    /// Returns the variable of a level of one instance.
    pub fn level(&self, level: u32, side: Side) -> Var {
        match side {
            Side::First => self.first(level),
            Side::Second => self.second(level),
        }
    }

    /// Returns a form over the levels of one instance.
    pub fn affine(&mut self, form: &AffineForm, side: Side) -> Affine {
        let (shared, skipped) = (self.shared, self.skipped);
        match side {
            Side::First => self.system.affine(form, &Var),
            Side::Second => self.system.affine(form, &|level| second_var(level, shared, skipped)),
        }
    }

    /// Returns the value of a form of one instance at a point. `None` if it has a parameter that
    /// the system does not contain, or does not fit 64 bits.
    pub fn value(&self, point: &Point, form: &AffineForm, side: Side) -> Option<i64> {
        let at = |var: Var| point.get(var).to_i64();
        let visible = self.system.set.visible();
        let unknown = |atom: &Atom| {
            let var = self.system.unknowns.get(atom).filter(|var| var.index() < visible);
            at(*var?)
        };
        form.evaluate_with(&|level| at(self.level(level, side)), &unknown)
    }
}

/// Returns the variable of a level of an instance whose own levels follow `skipped` others.
fn second_var(level: u32, shared: u32, skipped: u32) -> Var {
    Var(if level < shared { level } else { level + skipped })
}
