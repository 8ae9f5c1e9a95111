//! Delinearization: `(i·n + j)·m + k` becomes the digits `i, j, k` of a number in a mixed radix
//! with the sizes `n` and `m`.
//!
//! Suppose each digit but the first is at least 0 and below its size. Then two such numbers with
//! the same sizes are equal only if all their digits are, as in an array of that many dimensions.
//! [`Digits::elements`] proves this for the iterations in which an access happens, or finds the
//! conditions on parameters under which it is so. Only products of the program that do not wrap
//! count, with one loop-invariant factor: the size.
//!
//! **Cost.** Linear in the operations that compute a subscript; two integer questions a digit.

use loomir_dialects::affine;
use loomir_dialects::interfaces::Subscripts;
use loomir_ir::affine::AffineExprKind;
use loomir_ir::{AffineExpr, Value};
use loomir_polyhedra::{Emptiness, Limits, Var};

use super::{Elements, Site};
use crate::access::ConditionalElements;
use crate::access::pointers::Term;
use crate::affine::system::{System, Unknowns};
use crate::affine::{AffineForm, Atom, fold_expr};

/// The maximal nesting of products to examine.
const MAX_NESTING: u32 = 8;
/// The limits on proving that a digit is proper.
const LIMITS: Limits = Limits::steps(20_000);

/// A number by its digits.
#[derive(Clone, Debug)]
pub(super) struct Digits {
    /// The digits, the most significant first. At least one.
    pub(super) digits: Vec<AffineForm>,
    /// The sizes of all places but the highest.
    pub(super) sizes: Vec<AffineForm>,
}

impl Digits {
    /// Returns the digits of the only subscript of an access.
    pub(super) fn of_subscript(site: &mut Site<'_, '_>, subscripts: &Subscripts) -> Option<Digits> {
        let ctx = site.body.ctx().clone();
        let [expr] = subscripts.map.results(&ctx)[..] else { return None };
        let dims = subscripts.map.data(&ctx).dims as usize;
        of_expr(site, expr, dims, &subscripts.operands, MAX_NESTING)
    }

    /// Returns the digits of the distance of an address from its root, in units of this many bytes.
    pub(super) fn of_terms(site: &mut Site<'_, '_>, terms: &[Term], unit: i64) -> Option<Digits> {
        let mut sum = Digits::one(AffineForm::constant(0));
        for term in terms {
            let scale = term.scale / unit;
            let own = match term.value {
                Some((value, _)) => of_value(site, value, MAX_NESTING)?,
                None => Digits::one(AffineForm::constant(1)),
            };
            sum = sum.plus(own.times(scale)?)?;
        }
        Some(sum)
    }

    /// Returns the constants that may be a last size: the greatest common divisor of all steps, and
    /// of all but those of the last place, which may count parts of an element.
    fn element_sizes(&self) -> Vec<i64> {
        let Some((last, others)) = self.digits.split_last() else { return Vec::new() };
        let steps = |digit: &AffineForm| digit.terms().iter().map(|(_, step)| *step).collect::<Vec<_>>();
        let of_others = others.iter().flat_map(|digit| [steps(digit), vec![digit.constant_part()]].concat());
        let divisor = |all: u64, step: i64| gcd(all, step.unsigned_abs());
        let of_others = of_others.fold(0, divisor);
        let of_all = steps(last).into_iter().fold(of_others, divisor);
        let mut sizes = vec![of_all, of_others];
        sizes.dedup();
        sizes.into_iter().filter_map(|size| i64::try_from(size).ok().filter(|size| *size > 1)).collect()
    }

    /// Returns the number with a last size, which divides all steps but some of the last place.
    fn in_elements(&self, size: i64) -> Option<Digits> {
        let (last, others) = self.digits.split_last()?;
        let (mut whole, mut part) = (AffineForm::constant(0), AffineForm::constant(0));
        for (atom, step) in last.terms() {
            let sum = if step % size == 0 { &mut whole } else { &mut part };
            *sum = sum.plus(&AffineForm::atom(atom.clone()), *step)?;
        }
        let fixed = last.constant_part().rem_euclid(size);
        let whole = whole.plus(&AffineForm::constant(last.constant_part().checked_sub(fixed)?), 1)?;
        let digits = others.iter().chain([&whole]).map(|digit| digit.divided_by(size));
        let digits = digits.chain([part.plus(&AffineForm::constant(fixed), 1)?]).collect();
        let sizes = self.sizes.iter().cloned().chain([AffineForm::constant(size)]).collect();
        Some(Digits { digits, sizes })
    }

    /// Returns the digits of a sum of multiples, in places of constant sizes. None of the forms
    /// `known` is negative.
    pub(super) fn of_sum(
        site: &mut Site<'_, '_>,
        mut sum: Vec<(i64, AffineForm)>,
        sizes: &[i64],
        known: &[AffineForm],
    ) -> Option<Digits> {
        let mut digits = Vec::new();
        for size in sizes.iter().rev() {
            let (higher, digit) = divided(site, &sum, *size, known)?;
            digits.push(digit);
            sum = higher;
        }
        digits.push(summed(&sum)?);
        digits.reverse();
        Some(Digits { digits, sizes: sizes.iter().map(|size| AffineForm::constant(*size)).collect() })
    }

    /// Returns the same number with multiples of the size of each place in the place above.
    pub(super) fn carried(mut self) -> Option<Digits> {
        for place in (0..self.sizes.len()).rev() {
            let mut above = AffineForm::constant(0);
            for (atom, coefficient) in self.digits[place + 1].terms() {
                let term = AffineForm::atom(atom.clone());
                let times = match term == self.sizes[place] {
                    true => Some(AffineForm::constant(1)),
                    false => without_factors(&term, &self.sizes[place]),
                };
                if let Some(times) = times {
                    above = above.plus(&times, *coefficient)?;
                }
            }
            let whole = above.product(&self.sizes[place])?;
            self.digits[place + 1] = self.digits[place + 1].minus(&whole)?;
            self.digits[place] = self.digits[place].plus(&above, 1)?;
        }
        Some(self)
    }

    /// Returns the elements that the digits name: `count` elements from there on. If the digits are
    /// not proved to be at least 0 and below their sizes, `by_itself` with the conditions for it.
    pub(super) fn elements(self, site: &mut Site<'_, '_>, count: i64, by_itself: Elements) -> Elements {
        if self.sizes.is_empty() {
            return by_itself;
        }
        // The later ones need weaker conditions.
        let carried = |own: &Digits| own.clone().carried().filter(|carried| carried.digits != own.digits);
        let in_elements = self.element_sizes().into_iter().filter_map(|size| self.in_elements(size));
        let in_elements = in_elements.flat_map(|own| [carried(&own), Some(own)].into_iter().rev());
        let forms: Vec<Digits> = std::iter::once(carried(&self)).chain(in_elements).flatten().collect();
        let mut conditional = None;
        for digits in std::iter::once(self).chain(forms) {
            let Some(conditions) = digits.conditions(site, count) else { continue };
            let Digits { digits: subscripts, sizes } = digits;
            if conditions.is_empty() {
                let subscripts = subscripts.into_iter().map(Some).collect();
                return Elements { sizes, subscripts, ..by_itself };
            }
            conditional = Some(ConditionalElements { conditions, sizes, subscripts });
        }
        Elements { conditional, ..by_itself }
    }

    /// Returns conditions under which each digit but the first is at least 0 and below its size,
    /// also that of each of `count` elements from there on. `None` if there are none that a test
    /// before the loops may find true.
    fn conditions(&self, site: &mut Site<'_, '_>, count: i64) -> Option<Vec<AffineForm>> {
        let mut conditions = Vec::new();
        for (place, size) in self.sizes.iter().enumerate() {
            let digit = &self.digits[place + 1];
            let reach = if place + 1 == self.sizes.len() { count } else { 1 };
            let room = size.minus(digit)?.plus(&AffineForm::constant(reach), -1)?;
            for form in [digit, &room] {
                if !site.is_natural(form, [digit, size], &[]) {
                    conditions.push(site.least(form).filter(|least| least.as_constant().is_none())?);
                }
            }
        }
        Some(conditions)
    }

    fn one(digit: AffineForm) -> Digits {
        Digits { digits: vec![digit], sizes: Vec::new() }
    }

    /// Returns the sum of two numbers; `None` if their sizes differ.
    fn plus(mut self, mut other: Digits) -> Option<Digits> {
        loop {
            let places = self.sizes.iter().rev().zip(other.sizes.iter().rev());
            let common = places.take_while(|(own, others)| own == others).count() + 1;
            let (Some(a), Some(b)) =
                (self.sizes.len().checked_sub(common), other.sizes.len().checked_sub(common))
            else {
                break;
            };
            let (x, y) = (self.sizes[a].clone(), other.sizes[b].clone());
            match (without_factors(&x, &y), without_factors(&y, &x)) {
                (Some(rest), _) => self.split(a, rest, y),
                (_, Some(rest)) => other.split(b, rest, x),
                (None, None) => return None,
            }
        }
        let (mut long, short) =
            if self.sizes.len() < other.sizes.len() { (other, self) } else { (self, other) };
        for (own, more) in long.digits.iter_mut().rev().zip(short.digits.iter().rev()) {
            *own = own.plus(more, 1)?;
        }
        Some(long)
    }

    /// Splits a place into two, whose sizes have the old size as product.
    fn split(&mut self, place: usize, higher: AffineForm, lower: AffineForm) {
        self.sizes[place] = higher;
        self.sizes.insert(place + 1, lower);
        self.digits.insert(place + 1, AffineForm::constant(0));
    }

    /// Returns the digits times a number.
    fn times(mut self, factor: i64) -> Option<Digits> {
        for digit in &mut self.digits {
            *digit = digit.times(factor)?;
        }
        Some(self)
    }

    /// Returns the product of two numbers, one of which is a constant or a size.
    fn product(self, other: Digits) -> Option<Digits> {
        let single = |own: &Digits| own.sizes.is_empty().then(|| own.digits[0].clone());
        let constant = |own: &Digits| single(own)?.as_constant();
        if let Some(factor) = constant(&self) {
            return other.times(factor);
        }
        if let Some(factor) = constant(&other) {
            return self.times(factor);
        }
        let is_size = |form: &AffineForm| form.all_atoms(&|atom| matches!(atom, Atom::Param(_)));
        let size = |own: &Digits| single(own).filter(is_size);
        let (number, size) = match (size(&self), size(&other)) {
            (_, Some(size)) => (self, size),
            (Some(size), None) => (other, size),
            (None, None) => return None,
        };
        // A multiple of a size is a multiple of the digits.
        let steps = size.terms().iter().map(|(_, step)| *step).chain([size.constant_part()]);
        let times = steps.fold(0, |all, step| gcd(all, step.unsigned_abs()));
        let times = i64::try_from(times).ok().filter(|times| *times > 0)?;
        let mut number = number.times(times)?;
        number.sizes.push(size.divided_by(times));
        number.digits.push(AffineForm::constant(0));
        Some(number)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns a product of parameters divided by the factors of another one. `None` unless it has all
/// of these factors and more.
fn without_factors(product: &AffineForm, factors: &AffineForm) -> Option<AffineForm> {
    let ([(all, 1)], 0) = (product.terms(), product.constant_part()) else { return None };
    let ([(some, 1)], 0) = (factors.terms(), factors.constant_part()) else { return None };
    let mut rest = all.factors()?.to_vec();
    for factor in some.factors()? {
        rest.swap_remove(rest.iter().position(|own| own == factor)?);
    }
    let mut rest = rest.into_iter().map(|value| AffineForm::atom(Atom::Param(value)));
    let first = rest.next()?;
    rest.try_fold(first, |product, factor| product.product(&factor))
}

/// Returns a sum of multiples as one form.
pub(super) fn summed(sum: &[(i64, AffineForm)]) -> Option<AffineForm> {
    sum.iter().try_fold(AffineForm::constant(0), |sum, (factor, form)| sum.plus(form, *factor))
}

/// Writes a sum as `size · higher + digit` with a digit that is at least 0 and below the size.
/// Multiples of the size are taken out as they are, so the sum should not be simplified before.
fn divided(
    site: &mut Site<'_, '_>,
    sum: &[(i64, AffineForm)],
    size: i64,
    known: &[AffineForm],
) -> Option<(Vec<(i64, AffineForm)>, AffineForm)> {
    if size <= 0 {
        return None;
    }
    let (whole, rest): (Vec<_>, Vec<_>) = sum.iter().cloned().partition(|(factor, _)| factor % size == 0);
    let mut higher: Vec<(i64, AffineForm)> =
        whole.into_iter().map(|(factor, form)| (factor / size, form)).collect();
    let rest = summed(&rest)?;
    let multiples = rest.terms().iter().filter(|(_, coefficient)| coefficient % size == 0);
    let multiples = multiples.into_iter().try_fold(AffineForm::constant(0), |sum, (atom, coefficient)| {
        sum.plus(&AffineForm::atom(atom.clone()), coefficient / size)
    })?;
    let rest = rest.plus(&multiples.times(size)?, -1)?;
    higher.push((1, multiples));
    // A number below zero may be the distance to the next multiple, or from the last one.
    [0, 1].into_iter().find_map(|above| {
        let more = rest.constant_part().div_euclid(size).checked_add(above)?;
        let digit = rest.plus(&AffineForm::constant(more), size.checked_neg()?)?;
        site.is_below(&digit, &AffineForm::constant(size), known).then(|| {
            let mut higher = higher.clone();
            higher.push((1, AffineForm::constant(more)));
            (higher, digit)
        })
    })
}

/// Returns the digits of an affine expression, which may contain products of two values.
fn of_expr(
    site: &mut Site<'_, '_>,
    expr: AffineExpr,
    dims: usize,
    operands: &[Value],
    fuel: u32,
) -> Option<Digits> {
    let ctx = site.body.ctx().clone();
    let known: Vec<Option<Digits>> = operands.iter().map(|value| of_value(site, *value, fuel)).collect();
    fold_expr(
        expr,
        &ctx,
        |kind| match kind {
            AffineExprKind::Dim(dim) => known.get(dim as usize)?.clone(),
            AffineExprKind::Symbol(symbol) => known.get(dims + symbol as usize)?.clone(),
            AffineExprKind::Constant(number) => Some(Digits::one(AffineForm::constant(number))),
            _ => None,
        },
        |kind, a: Digits, b: Digits| match kind {
            AffineExprKind::Add(..) => a.plus(b),
            AffineExprKind::Mul(..) => a.product(b),
            _ => None,
        },
    )
}

/// Returns the digits of a value. They come from its form, in which products are parameters.
/// Recurses once a product, as long as there is fuel.
fn of_value(site: &mut Site<'_, '_>, value: Value, fuel: u32) -> Option<Digits> {
    let form = site.forms.of(value)?;
    let mut sum = Digits::one(AffineForm::constant(form.constant_part()));
    for (atom, coefficient) in form.terms() {
        let product = match atom {
            Atom::Param(product) if fuel > 0 => of_product(site, *product, fuel - 1),
            _ => None,
        };
        let term = product.unwrap_or_else(|| Digits::one(AffineForm::atom(atom.clone())));
        sum = sum.plus(term.times(*coefficient)?)?;
    }
    Some(sum)
}

fn of_product(site: &mut Site<'_, '_>, value: Value, fuel: u32) -> Option<Digits> {
    let body = site.body;
    let op = body.defining_op(value)?;
    if let Some(factors) = site.forms.factors(op) {
        let [a, b] = factors.map(|factor| of_value(site, factor, fuel));
        return a?.product(b?);
    }
    if body.is(op, affine::ApplyOp::DEF) {
        let map = body.attr(op, "map").and_then(|attr| attr.as_affine_map(body.ctx()))?;
        let operands: Vec<Value> = body.operands(op).collect();
        let expr = *map.results(body.ctx()).first()?;
        return of_expr(site, expr, map.data(body.ctx()).dims as usize, &operands, fuel);
    }
    None
}

impl Site<'_, '_> {
    /// True if a form is at least 0 and below a size whenever the access happens; none of the forms
    /// `known` is negative either.
    fn is_below(&mut self, form: &AffineForm, size: &AffineForm, known: &[AffineForm]) -> bool {
        let room = size.minus(form).and_then(|room| room.plus(&AffineForm::constant(1), -1));
        let room = room.filter(|_| self.is_natural(form, [form, size], known));
        room.is_some_and(|room| self.is_natural(&room, [form, size], known))
    }

    /// True if a form is not negative whenever the access happens; none of the forms `known` is
    /// negative either. What is known of the parameters of the forms `about` is used.
    fn is_natural(&mut self, form: &AffineForm, about: [&AffineForm; 2], known: &[AffineForm]) -> bool {
        let levels = self.domain.levels;
        let of_parameters = self.known_of_parameters(about);
        let around = || self.constraints().chain(known).chain(&of_parameters);
        let mut unknowns = Unknowns::default();
        around().chain([form]).for_each(|form| unknowns.add(form));
        let vars = levels as usize + unknowns.listed.len();
        let mut outside = System::new(vars, Var(levels), unknowns.listed);
        outside.constrain(around(), &Var);
        let form = outside.affine(form, &Var);
        outside.set.add_lt(form, 0);
        matches!(outside.set.is_empty(&LIMITS), Emptiness::Empty)
    }

    /// True if a form is not negative whenever the access happens and none of `known` is negative.
    pub(in crate::access) fn is_known_natural(&mut self, form: &AffineForm, known: &[AffineForm]) -> bool {
        self.is_natural(form, [form, form], known)
    }

    /// Returns the forms that are not negative whenever the access happens.
    fn constraints(&self) -> impl Iterator<Item = &AffineForm> {
        let levels = self.domain.levels as usize;
        self.around.iter().take(levels).flatten().chain(&self.domain.constraints)
    }

    /// Returns a sum of few multiples of parameters that a form is never below. `None` if a loop
    /// has no bound, or the bound is no such sum.
    fn least(&self, form: &AffineForm) -> Option<AffineForm> {
        let mut least = form.clone();
        for level in (0..self.domain.levels).rev() {
            least = least.least_without(level, self.constraints())?;
        }
        // A test has 128 bits for the sum.
        let is_simple = |(atom, coefficient): &(Atom, i64)| {
            matches!(atom, Atom::Param(_)) && i32::try_from(*coefficient).is_ok()
        };
        least.terms().iter().all(is_simple).then_some(least)
    }

    /// Returns forms that are not negative about the parameters of some forms.
    fn known_of_parameters(&mut self, forms: [&AffineForm; 2]) -> Vec<AffineForm> {
        let mut parameters = Vec::new();
        forms.into_iter().for_each(|form| form.each_parameter(&mut |value| parameters.push(value)));
        let mut known = Vec::new();
        for value in parameters {
            let relations = self.forms.relations(value).unwrap_or_default();
            known.extend(
                relations.into_iter().filter(|form| form.all_atoms(&|atom| !matches!(atom, Atom::Level(_)))),
            );
            let least = i64::try_from(self.forms.range_of(value).0).ok();
            let least = least.map(AffineForm::constant);
            known.extend(least.and_then(|least| AffineForm::atom(Atom::Param(value)).minus(&least)));
        }
        known
    }
}
