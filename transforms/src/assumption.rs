//! Run-time assumptions: conditions that are tested before a fast version runs.
//!
//! Legality reports the conditions that an edit needs. They are kept with the versioned node of the
//! edit. The fast side is judged again under them, and [`regenerate`](crate::regenerate) writes one
//! test for all. An assumption is about values known before the node: the overlap of memrefs, and
//! relations of numbers. Any condition under which the edit is legal will do. How often it holds is
//! a question of profitability.

use hashbrown::HashSet;
use loomir_ir::{Body, Op, Value, ValueDef};

use crate::naming::called;

use crate::access::base::Named;
use crate::affine::{AffineForm, Atom};

/// The default limit on tests before a loop.
pub(crate) const MAX_TESTS: usize = 8;

/// A condition that may hold at run time.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Assumption {
    /// The memory of two memrefs does not overlap. Each has the identity layout and elements of
    /// whole bytes. Or two pointers, or a pointer and a global variable: what the versioned code
    /// accesses through them does not overlap. In the order of the body.
    Apart(Named, Named),
    /// A form of parameters is zero; its first coefficient is positive.
    Zero(AffineForm),
    /// At least one of these forms over parameters is not negative.
    Natural(Vec<AffineForm>),
}

impl Assumption {
    /// Returns the assumption that two memrefs, or accesses through two pointers, do not overlap.
    pub fn apart(a: Named, b: Named) -> Assumption {
        if a.order() <= b.order() { Assumption::Apart(a, b) } else { Assumption::Apart(b, a) }
    }

    /// Returns the assumption that a form is zero. `None` if it cannot be expressed.
    pub fn zero(form: &AffineForm) -> Option<Assumption> {
        let negative = form.terms().first().is_some_and(|(_, coefficient)| *coefficient < 0);
        Some(Assumption::Zero(form.times(if negative { -1 } else { 1 })?))
    }

    /// Returns forms that are not negative if the assumption holds.
    pub fn facts(&self) -> Vec<AffineForm> {
        match self {
            Assumption::Zero(form) => form.times(-1).into_iter().chain([form.clone()]).collect(),
            Assumption::Natural(forms) if forms.len() == 1 => forms.clone(),
            Assumption::Apart(..) | Assumption::Natural(_) => Vec::new(),
        }
    }

    /// Returns forms one of which is not negative where the assumption holds, if that is its whole
    /// content.
    pub fn alternatives(&self) -> &[AffineForm] {
        match self {
            Assumption::Natural(forms) => forms,
            Assumption::Apart(..) | Assumption::Zero(_) => &[],
        }
    }

    /// Calls `f` with each parameter of the assumption.
    pub fn each_parameter(&self, f: &mut dyn FnMut(Value)) {
        match self {
            Assumption::Apart(..) => {}
            Assumption::Zero(form) => form.each_parameter(f),
            Assumption::Natural(forms) => forms.iter().for_each(|form| form.each_parameter(f)),
        }
    }

    /// Calls `f` with each value that it is about.
    pub fn each_value(&self, f: &mut dyn FnMut(Value)) {
        match self {
            Assumption::Apart(a, b) => [*a, *b].into_iter().filter_map(Named::value).for_each(f),
            _ => self.each_parameter(f),
        }
    }

    /// Returns the two objects that are assumed apart.
    pub(crate) fn apart_objects(&self) -> impl Iterator<Item = Named> {
        self.pair().into_iter().flat_map(|(a, b)| [a, b])
    }

    fn pair(&self) -> Option<(Named, Named)> {
        if let Assumption::Apart(a, b) = self { Some((*a, *b)) } else { None }
    }

    /// Returns the number of comparisons that test the assumption.
    pub fn comparisons(&self) -> usize {
        match self {
            Assumption::Apart(..) => 0,
            Assumption::Zero(_) => 1,
            Assumption::Natural(forms) => forms.len(),
        }
    }

    /// True if the assumption follows from another one, judged by the numbers in both.
    fn follows_from(&self, other: &Assumption) -> bool {
        let follows = |form: &AffineForm, from: &AffineForm| {
            form.minus(from).and_then(|gap| gap.as_constant()).is_some_and(|gap| gap >= 0)
        };
        match (self, other) {
            (Assumption::Natural(own), Assumption::Natural(others)) => {
                others.iter().all(|from| own.iter().any(|form| follows(form, from)))
            }
            (Assumption::Natural(own), Assumption::Zero(_)) => {
                other.facts().iter().any(|from| own.iter().any(|form| follows(form, from)))
            }
            _ => self == other,
        }
    }

    /// Returns the assumption in words. `body` holds its values.
    pub fn text(&self, body: &Body) -> String {
        self.text_by(body, &|value| called(body, value))
    }

    /// Returns the assumption in words, given a name for each of its values.
    pub fn text_by(&self, body: &Body, called: &dyn Fn(Value) -> String) -> String {
        match self {
            Assumption::Apart(a, b) => {
                let [a, b] = [*a, *b].map(|named| match named {
                    Named::Value(value) => called(value),
                    Named::Global(name) => format!("@{}", body.ctx().str(name)),
                });
                format!("{a} and {b}")
            }
            Assumption::Zero(form) => compared(called, form, "=="),
            Assumption::Natural(forms) => {
                forms.iter().map(|form| compared(called, form, ">=")).collect::<Vec<_>>().join(" or ")
            }
        }
    }
}

/// Adds assumptions. Those implied by others are dropped. Linear in all of them, if they are about
/// objects: many arrays have many pairs.
pub fn add(all: &mut Vec<Assumption>, more: impl IntoIterator<Item = Assumption>) {
    let mut pairs: Option<HashSet<(Named, Named)>> = None;
    for (place, assumption) in more.into_iter().enumerate() {
        let Assumption::Apart(a, b) = assumption else {
            if !all.iter().any(|known| assumption.follows_from(known)) {
                all.retain(|known| !known.follows_from(&assumption));
                all.push(assumption);
            }
            continue;
        };
        // A single one is not worth a table.
        let is_known = match place {
            0 => all.contains(&assumption),
            _ => {
                !pairs.get_or_insert_with(|| all.iter().filter_map(Assumption::pair).collect()).insert((a, b))
            }
        };
        if !is_known {
            all.push(assumption);
        }
    }
}

/// Sorts assumptions by the arguments they are about. Assumptions about numbers come last.
pub fn sort(all: &mut [Assumption]) {
    all.sort_by_key(|assumption| match assumption {
        Assumption::Apart(a, b) => (false, a.order(), b.order()),
        Assumption::Zero(_) | Assumption::Natural(_) => (true, (true, 0), (true, 0)),
    });
}

/// Returns the text of a comparison of a form with zero, with subtracted terms on the right side.
fn compared(called: &dyn Fn(Value) -> String, form: &AffineForm, relation: &str) -> String {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for (atom, coefficient) in form.terms() {
        let names = atom.factors().into_iter().flatten().map(|value| called(*value));
        let mut names: Vec<String> = names.collect();
        if coefficient.unsigned_abs() != 1 {
            names.insert(0, coefficient.unsigned_abs().to_string());
        }
        if *coefficient > 0 { &mut left } else { &mut right }.push(names.join(" * "));
    }
    let constant = i128::from(form.constant_part());
    // In a strict comparison with a sum of values, the constant is written beside the sum.
    let (relation, constant) = match (relation, constant) {
        (">=", -1) if !left.is_empty() && !right.is_empty() => (">", 0),
        other => other,
    };
    let turned = left.is_empty();
    let (mut first, mut second, mut number) =
        if turned { (right, left, constant) } else { (left, right, -constant) };
    if number < 0 && !second.is_empty() {
        first.push((-number).to_string());
        number = 0;
    }
    if number != 0 || second.is_empty() {
        second.push(number.to_string());
    }
    let relation = if turned && relation == ">=" { "<=" } else { relation };
    format!("{} {relation} {}", first.join(" + "), second.join(" + "))
}

/// True if a value is computed by one of these operations, or inside it.
pub(crate) fn is_computed_by(body: &Body, value: Value, ops: &HashSet<Op>) -> bool {
    let owner = match body.def(value) {
        ValueDef::OpResult { op, .. } => op,
        ValueDef::BlockArgument { block, .. } => body.region_parent(body.block_region(block)),
    };
    std::iter::successors(Some(owner), |op| body.parent_op(*op)).any(|op| ops.contains(&op))
}

/// True if an unknown can be tested at run time: it is a single value.
pub(crate) fn is_testable(atom: &Atom) -> bool {
    matches!(atom, Atom::Param(_))
}
