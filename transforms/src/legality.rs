//! Legality: whether an edit of the loop tree keeps every dependence of the original program.
//!
//! A dependence goes from one instance of a statement to a later one when both touch one location and at least one writes. An edit is legal
//! iff every instance still runs once and no dependence is turned around. This module asks that for the edit at
//! hand, two neighbouring loops made one: of the pairs (first loop at s, second loop at t) that touch one
//! location, those with s > t at the fused level would run in the wrong order; the set of them must be empty. It is
//! a union of integer conjunctions, one a pair of access classes, decided exactly.

use hashbrown::HashMap;
use loomir_ir::{Op, Value};
use loomir_polyhedra::{Affine, Conjunction, Emptiness, Limits, Var};

use crate::dependence::base::{Base, Bases, Overlap};
use crate::dependence::form::{Atom, Form};
use crate::dependence::nest::{Class, Nest, Representative, Surroundings};

/// The answer to whether an edit is legal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every dependence is kept. `assumed_apart` are pairs of arguments that were taken not to overlap for that.
    Legal {
        /// Pairs of function arguments.
        assumed_apart: Vec<(Value, Value)>,
    },
    /// A dependence is certainly turned around.
    Illegal(Witness),
    /// One may be: something was approximated.
    MayBeIllegal(Witness),
    /// The solver's limit was reached.
    Unknown {
        /// An operation of the first loop and one of the second that are open.
        accesses: (Op, Op),
    },
}

/// Two instances whose order would be turned around.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// An operation of the first loop, and its iteration from the fused level inwards.
    pub first: (Op, Vec<i64>),
    /// An operation of the second loop, and its iteration.
    pub second: (Op, Vec<i64>),
    /// What they have in common.
    pub cause: Cause,
}

/// Why two operations are taken to touch one location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// They touch one element of one object.
    Element,
    /// They touch one object; which elements is not known exactly.
    Object,
    /// Their objects may overlap; for two arguments of a function, those.
    MayOverlap(Option<(Value, Value)>),
    /// One of them touches the world: an unknown call, for one.
    World,
}

/// Whether making `first` and `second`, neighbours with equal iteration spaces, one loop is legal, given what is known where they
/// stand. Linear in the pairs of access classes on overlapping objects.
pub fn fusion(
    first: &Nest,
    second: &Nest,
    context: &Surroundings,
    bases: &Bases<'_>,
    limits: &Limits,
) -> Verdict {
    let mut assumed: Vec<(Value, Value)> = Vec::new();
    let mut doubt: Option<Verdict> = None;
    for a in &first.classes {
        for b in &second.classes {
            if !a.class.writes && !b.class.writes {
                continue;
            }
            let overlap = bases.overlap(a.class.base, b.class.base);
            match overlap {
                Overlap::Apart => continue,
                Overlap::AssumedApart => {
                    assume_apart(&mut assumed, a.class.base, b.class.base);
                    continue;
                }
                Overlap::Same | Overlap::May => {}
            }
            match order_lost(a, b, overlap, context, limits) {
                None => {}
                // Certain beats possible, the first of each kind is kept.
                Some(verdict @ Verdict::Illegal(_)) => return verdict,
                Some(verdict) => doubt = doubt.or(Some(verdict)),
            }
        }
    }
    doubt.unwrap_or(Verdict::Legal { assumed_apart: assumed })
}

/// Whether an operation that stands between two nests and has the effects `classes` may run before `first`. Pairs of arguments
/// that are taken not to overlap for that are added to `assumed`.
pub fn may_precede(
    classes: &[Class],
    first: &Nest,
    bases: &Bases<'_>,
    assumed: &mut Vec<(Value, Value)>,
) -> bool {
    classes.iter().all(|b| {
        first.classes.iter().all(|a| {
            let mut apart = || match bases.overlap(a.class.base, b.base) {
                Overlap::Apart => true,
                Overlap::AssumedApart => {
                    assume_apart(assumed, a.class.base, b.base);
                    true
                }
                _ => false,
            };
            (!a.class.writes && !b.writes) || apart()
        })
    })
}

fn assume_apart(assumed: &mut Vec<(Value, Value)>, a: Base, b: Base) {
    if let (Base::Argument(x), Base::Argument(y)) = (a, b) {
        let pair = if x.index() <= y.index() { (x, y) } else { (y, x) };
        if !assumed.contains(&pair) {
            assumed.push(pair);
        }
    }
}

fn order_lost(
    a: &Representative,
    b: &Representative,
    overlap: Overlap,
    context: &Surroundings,
    limits: &Limits,
) -> Option<Verdict> {
    let (s, t) = (&a.class, &b.class);
    let same_elements = overlap == Overlap::Same && s.origin == t.origin;
    let subscripts = match (&s.subscripts, &t.subscripts) {
        (Some(x), Some(y)) if same_elements && x.len() == y.len() => Some((x, y)),
        _ => None,
    };
    let pairs: Vec<(&Form, &Form)> = subscripts
        .map(|(x, y)| x.iter().zip(y).filter_map(|(x, y)| x.as_ref().zip(y.as_ref())).collect())
        .unwrap_or_default();
    let exact_element = subscripts.is_some_and(|(x, _)| x.len() == pairs.len());
    let mut system = System::new(s, t, &context.constraints, &pairs);
    system.constrain(&context.constraints, s, t, &pairs);
    let first_later = (Var(0), Var(s.domain.levels));
    system.set.add_gt(first_later.0, first_later.1);
    let point = match system.set.is_empty(limits) {
        Emptiness::Empty => return None,
        Emptiness::Unknown(_) => return Some(Verdict::Unknown { accesses: (a.op, b.op) }),
        Emptiness::NonEmpty(point) => point.to_i64s().unwrap_or_default(),
    };
    let (levels_s, levels_t) = (s.domain.levels as usize, t.domain.levels as usize);
    let at = |range: std::ops::Range<usize>| point.get(range).unwrap_or_default().to_vec();
    let cause = match (overlap, s.base, t.base) {
        (_, Base::World, _) | (_, _, Base::World) => Cause::World,
        (Overlap::Same, ..) if exact_element => Cause::Element,
        (Overlap::Same, ..) => Cause::Object,
        (_, Base::Argument(x), Base::Argument(y)) => Cause::MayOverlap(Some((x, y))),
        _ => Cause::MayOverlap(None),
    };
    let certain = cause == Cause::Element && s.domain.exact && t.domain.exact && context.exact;
    let witness =
        Witness { first: (a.op, at(0..levels_s)), second: (b.op, at(levels_s..levels_s + levels_t)), cause };
    Some(if certain { Verdict::Illegal(witness) } else { Verdict::MayBeIllegal(witness) })
}

/// One conjunction: variables are the levels of the first nest, those of the second, and the parameters of both.
struct System {
    set: Conjunction,
    parameters: HashMap<Value, Var>,
}

impl System {
    fn new(s: &Class, t: &Class, context: &[Form], pairs: &[(&Form, &Form)]) -> System {
        let levels = s.domain.levels + t.domain.levels;
        let mut parameters = HashMap::new();
        let domains = s.domain.constraints.iter().chain(&t.domain.constraints).chain(context);
        for form in domains.chain(pairs.iter().flat_map(|(x, y)| [*x, *y])) {
            collect_parameters(form, &mut |value| {
                let next = Var(levels + parameters.len() as u32);
                parameters.entry(value).or_insert(next);
            });
        }
        System { set: Conjunction::new(levels as usize + parameters.len()), parameters }
    }

    fn constrain(&mut self, context: &[Form], s: &Class, t: &Class, pairs: &[(&Form, &Form)]) {
        let t_offset = s.domain.levels;
        for form in context {
            let form = self.affine(form, 0);
            self.set.add_ge(form, 0);
        }
        for (domain, offset) in [(&s.domain, 0), (&t.domain, t_offset)] {
            for form in &domain.constraints {
                let form = self.affine(form, offset);
                self.set.add_ge(form, 0);
            }
        }
        for (x, y) in pairs {
            let (x, y) = (self.affine(x, 0), self.affine(y, t_offset));
            self.set.add_eq(x, y);
        }
    }

    /// A form over the system's variables, the levels counted from `offset`. Quotients become existential variables; they nest at most
    /// [`MAX_NESTING`](crate::dependence::form::MAX_NESTING) deep.
    fn affine(&mut self, form: &Form, offset: u32) -> Affine {
        let mut sum = Affine::constant(form.constant_part());
        for (atom, coefficient) in form.terms() {
            let term: Affine = match atom {
                Atom::Level(level) => Var(offset + level).into(),
                Atom::Param(value) => self.parameters[value].into(),
                Atom::FloorDiv(inner, divisor) => {
                    let inner = self.affine(inner, offset);
                    self.set.floor_div(inner, *divisor).into()
                }
            };
            sum = sum.add_scaled(&term, &(*coefficient).into());
        }
        sum
    }
}

fn collect_parameters(form: &Form, f: &mut dyn FnMut(Value)) {
    for (atom, _) in form.terms() {
        match atom {
            Atom::Param(value) => f(*value),
            Atom::FloorDiv(inner, _) => collect_parameters(inner, f),
            Atom::Level(_) => {}
        }
    }
}
