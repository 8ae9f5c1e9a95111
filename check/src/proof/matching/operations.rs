//! Comparison of terms that copy nothing: numbers, constants, arguments and operations.

use loomir_ir::{AttrKind, OpRef, Trait};
use loomir_polyhedra::Conjunction;

use super::super::alias::Joint;
use super::super::form::{Cases, Form};
use super::super::model::{Access, AccessId, Kind, TermId};
use super::super::sets::Pieces;
use super::chain::Combining;
use super::{Goal, MAX_CASE_STEPS, Matcher, Side, Stuck};

/// The deepest nesting of attempts to swap operands.
const MAX_ATTEMPTS: usize = 12;
/// The depth to which terms are compared to see which operands belong together.
const SHAPE_DEPTH: usize = 5;

impl<'m, 'b> Matcher<'m, 'b> {
    /// Decides a goal between terms without operands; false if it is none.
    pub(super) fn leaf(&mut self, goal: &Goal, agenda: &mut Vec<Goal>) -> Result<bool, Stuck<'b>> {
        let [a, b] = [0, 1].map(|side| self.term(side, goal.terms[side]));
        match (&a.kind, &b.kind) {
            (Kind::Number(x), Kind::Number(y)) => {
                if a.ty != b.ty {
                    return self.mismatch(goal, &goal.pairs, "the types differ".to_string());
                }
                self.same_forms(goal, &[(x.clone(), y.clone())], "the numbers differ")?;
            }
            (Kind::Truth(x), Kind::Truth(y)) => {
                self.never_both(goal, &x.holds, &y.fails)?;
                self.never_both(goal, &x.fails, &y.holds)?;
            }
            (Kind::Constant(x), Kind::Constant(y)) => {
                if x != y || a.ty != b.ty {
                    return self.mismatch(goal, &goal.pairs, "the constants differ".to_string());
                }
            }
            (Kind::Argument(x), Kind::Argument(y)) | (Kind::Address(x), Kind::Address(y)) => {
                if x != y {
                    return self.mismatch(goal, &goal.pairs, "the arguments differ".to_string());
                }
            }
            (Kind::Initial(x), Kind::Initial(y)) => self.same_element(goal, [*x, *y], agenda)?,
            (Kind::InitialState(x), Kind::InitialState(y)) => {
                let key = |side: Side, access: AccessId| {
                    let program = self.programs[side];
                    program.objects[program.accesses[access].object].key
                };
                if self.is_unwritten(1, goal.terms[1]) || key(0, *x) != key(1, *y) {
                    return self.mismatch(goal, &goal.pairs, "different buffers are accessed".to_string());
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Shows that two accesses touch one element of one buffer.
    fn same_element(
        &mut self,
        goal: &Goal,
        ids: [AccessId; 2],
        agenda: &mut Vec<Goal>,
    ) -> Result<(), Stuck<'b>> {
        let accesses = [0, 1].map(|side| &self.programs[side].accesses[ids[side]]);
        let objects = [0, 1].map(|side| &self.programs[side].objects[accesses[side].object]);
        if self.is_unwritten(1, goal.terms[1]) || objects[0].key != objects[1].key {
            return self.mismatch(goal, &goal.pairs, "different buffers are read".to_string());
        }
        if objects[0].ty.element(self.programs[0].body.ctx())
            != objects[1].ty.element(self.programs[1].body.ctx())
        {
            return self.mismatch(goal, &goal.pairs, "the types of the elements differ".to_string());
        }
        match (&accesses[0].element, &accesses[1].element) {
            (Some(x), Some(y)) if x.len() == y.len() => {
                let forms: Vec<_> = x.iter().cloned().zip(y.iter().cloned()).collect();
                self.same_forms(goal, &forms, "different elements are read")
            }
            _ => {
                let [x, y] = [0, 1].map(|side| &accesses[side].subscripts);
                let forms = same_view(accesses);
                if forms.is_none()
                    || self.claim(Goal { terms: goal.terms, pairs: goal.pairs.clone() })?.is_none()
                {
                    return if forms.is_some() {
                        Ok(())
                    } else {
                        self.mismatch(goal, &goal.pairs, "the buffers are viewed differently".to_string())
                    };
                }
                self.same_forms(goal, &forms.unwrap_or_default(), "different elements are read")?;
                for (x, y) in x.iter().zip(y) {
                    self.push_both(goal, [*x, *y], agenda);
                }
                Ok(())
            }
        }
    }

    fn same_forms(&mut self, goal: &Goal, forms: &[(Form, Form)], message: &str) -> Result<(), Stuck<'b>> {
        let layout = self.layout(goal.terms);
        let [a, b] = [0, 1].map(|side| layout.base(side));
        for (x, y) in forms {
            let mut differ = Pieces::new();
            for piece in &goal.pairs {
                let mut set = piece.clone();
                let x = x.expression(&mut set, a);
                let y = y.expression(&mut set, b);
                let mut other = set.clone();
                set.add_lt(x.clone(), y.clone());
                other.add_gt(x, y);
                differ.extend([set, other]);
            }
            let differ = self.solver.pruned(differ)?;
            if !differ.is_empty() {
                return self.mismatch(goal, &differ, message.to_string());
            }
        }
        Ok(())
    }

    fn never_both(&mut self, goal: &Goal, first: &Cases, second: &Cases) -> Result<(), Stuck<'b>> {
        let layout = self.layout(goal.terms);
        let [a, b] = [0, 1].map(|side| layout.base(side));
        let mut differ = Pieces::new();
        for piece in &goal.pairs {
            for x in first {
                for y in second {
                    let mut set: Conjunction = piece.clone();
                    x.iter().for_each(|constraint| constraint.add_to(&mut set, a));
                    y.iter().for_each(|constraint| constraint.add_to(&mut set, b));
                    differ.push(set);
                }
            }
        }
        let differ = self.solver.pruned(differ)?;
        match differ.is_empty() {
            true => Ok(()),
            false => self.mismatch(goal, &differ, "the conditions differ".to_string()),
        }
    }

    /// Replaces a goal between operations by goals between their operands.
    pub(super) fn operation(
        &mut self,
        goal: Goal,
        agenda: &mut Vec<Goal>,
        nesting: usize,
    ) -> Result<(), Stuck<'b>> {
        let [a, b] = [0, 1].map(|side| self.term(side, goal.terms[side]));
        let chooses = [a, b].iter().any(|term| matches!(term.kind, Kind::Choice { .. }));
        if chooses && nesting < MAX_ATTEMPTS && !self.in_cases && self.case_steps < MAX_CASE_STEPS {
            return self.choice(&goal, nesting);
        }
        if !self.in_order
            && nesting < MAX_ATTEMPTS
            && let (Some(x), Some(y)) = (self.combines(0, goal.terms[0]), self.combines(1, goal.terms[1]))
            && x.family == y.family
            && a.ty == b.ty
        {
            return self.combination(goal, x, agenda, nesting);
        }
        let parts = [0, 1].map(|side| self.parts(side, goal.terms[side]));
        let straight = match parts {
            [Some((x, r)), Some((y, q))] if r == q && x.len() == y.len() => {
                if a.ty != b.ty || !refines([a.op, b.op]) {
                    return self.mismatch(&goal, &goal.pairs, "the operations differ".to_string());
                }
                x.iter().zip(y).map(|(x, y)| [*x, *y]).collect()
            }
            _ => match self.operands(&goal, agenda)? {
                Some(pairs) => pairs,
                None => return Ok(()),
            },
        };
        match parts[0].is_some() && straight.len() == 2 && Self::is_commutative(a.op) {
            true => self.either_order(&goal, straight, agenda, nesting),
            false => self.push_all(&goal, straight, agenda),
        }
    }

    /// Returns the pairs of parts that two terms without operands of one operation have to share;
    /// `None` if the agenda has all that is left to show.
    fn operands(
        &mut self,
        goal: &Goal,
        agenda: &mut Vec<Goal>,
    ) -> Result<Option<Vec<[TermId; 2]>>, Stuck<'b>> {
        let [a, b] = [0, 1].map(|side| self.term(side, goal.terms[side]));
        let (xs, ys) = match (&a.kind, &b.kind) {
            (Kind::Load(x), Kind::Load(y)) if self.is_ordered(0, *x) => {
                let accesses = [*x, *y];
                self.joint(goal, accesses)?;
                let mut halves = Vec::new();
                self.follow_load(0, goal, accesses[0], true, &mut halves)?;
                for half in halves {
                    self.follow_load(1, &half, accesses[1], true, agenda)?;
                }
                return Ok(None);
            }
            (Kind::Load(x), Kind::Load(y)) if self.is_by_state(0, *x)? && self.is_by_state(1, *y)? => {
                let states = [(0, *x), (1, *y)].map(|(side, id)| self.programs[side].accesses[id].state);
                let ([mut x, mut y], [Some(s), Some(t)]) = (self.subscripts(goal, [*x, *y])?, states) else {
                    return Ok(None);
                };
                x.push(s);
                y.push(t);
                (x, y)
            }
            (Kind::Update { access: s, old: x, value: u }, Kind::Update { access: t, old: y, value: v }) => {
                let [mut xs, mut ys] = self.subscripts(goal, [*s, *t])?;
                xs.extend([*u, *x]);
                ys.extend([*v, *y]);
                (xs, ys)
            }
            (Kind::Stored { access: s, old: x, value: u }, Kind::Stored { access: t, old: y, value: v }) => {
                self.joint(goal, [*s, *t])?;
                (vec![*u, *x], vec![*v, *y])
            }
            (Kind::Choice { condition: c, yes: x, no: u }, Kind::Choice { condition: d, yes: y, no: v })
                if a.ty == b.ty =>
            {
                (vec![*c, *x, *u], vec![*d, *y, *v])
            }
            (Kind::Choice { yes, no, .. }, _) => {
                // Whatever is chosen is the other term.
                for target in [*yes, *no] {
                    self.push(0, goal, target, self.layout(goal.terms), &goal.pairs, agenda);
                }
                return Ok(None);
            }
            (_, Kind::Choice { .. }) if self.is_strict(1, goal.terms[1]) => {
                let message = "the condition of a choice may be poison".to_string();
                return self.mismatch(goal, &goal.pairs, message);
            }
            (_, Kind::Choice { yes, no, .. }) => {
                for target in [*yes, *no] {
                    self.push(1, goal, target, self.layout(goal.terms), &goal.pairs, agenda);
                }
                return Ok(None);
            }
            _ => {
                let message =
                    format!("{} is not {}", self.describe(0, goal.terms[0]), self.describe(1, goal.terms[1]));
                return self.mismatch(goal, &goal.pairs, message);
            }
        };
        Ok(Some(xs.into_iter().zip(ys).map(|(x, y)| [x, y]).collect()))
    }

    /// Shows the two operands of a commutative operation equal, as they stand or crosswise.
    fn either_order(
        &mut self,
        goal: &Goal,
        straight: Vec<[TermId; 2]>,
        agenda: &mut Vec<Goal>,
        nesting: usize,
    ) -> Result<(), Stuck<'b>> {
        let swapped = vec![[straight[0][0], straight[1][1]], [straight[1][0], straight[0][1]]];
        let fits = |pairs: &[[TermId; 2]]| pairs.iter().all(|terms| self.fits(*terms));
        let (first, second) = match (fits(&straight), fits(&swapped)) {
            (true, false) => return self.push_all(goal, straight, agenda),
            (false, true) => return self.push_all(goal, swapped, agenda),
            _ => (straight, swapped),
        };
        if nesting >= MAX_ATTEMPTS {
            return self.push_all(goal, first, agenda);
        }
        let length = self.log.len();
        let mut goals = Vec::new();
        first.into_iter().for_each(|terms| self.push_both(goal, terms, &mut goals));
        let Err(stuck) = self.show_within(goals, nesting + 1) else { return Ok(()) };
        if matches!(stuck, Stuck::OutOfReach) {
            return Err(stuck);
        }
        self.retract(length);
        let mut goals = Vec::new();
        second.into_iter().for_each(|terms| self.push_both(goal, terms, &mut goals));
        self.show_within(goals, nesting + 1).map_err(|_| stuck)
    }

    /// Shows a goal with a choice arm by arm, or else by cases.
    fn choice(&mut self, goal: &Goal, nesting: usize) -> Result<(), Stuck<'b>> {
        let (length, mut goals) = (self.log.len(), Vec::new());
        let plain = Goal { terms: goal.terms, pairs: goal.pairs.clone() };
        self.in_cases = true;
        let stepped = self.operation(plain, &mut goals, nesting);
        self.in_cases = false;
        let shown = match stepped {
            Ok(()) => self.show_within(goals, nesting + 1),
            stuck => stuck,
        };
        let Err(Stuck::Mismatch(mismatch)) = shown else { return shown };
        self.retract(length);
        if self.by_cases(goal)? { Ok(()) } else { Err(Stuck::Mismatch(mismatch)) }
    }

    /// Returns the operands and the result of an operation, which may be a parameter.
    pub(super) fn parts(&self, side: Side, term: TermId) -> Option<(&'m [TermId], usize)> {
        match &self.term(side, term).kind {
            Kind::Operation { operands, result } => Some((operands, *result)),
            _ => self.programs[side].computed.get(&term).map(|(operands, result)| (&operands[..], *result)),
        }
    }

    /// Returns the subscripts of two accesses that name one place of their buffers if these match.
    fn subscripts(&mut self, goal: &Goal, ids: [AccessId; 2]) -> Result<[Vec<TermId>; 2], Stuck<'b>> {
        let ctx = self.programs[0].body.ctx();
        let accesses = [0, 1].map(|side| &self.programs[side].accesses[ids[side]]);
        let types = [0, 1].map(|side| self.programs[side].objects[accesses[side].object].ty.element(ctx));
        let forms = same_view(accesses).filter(|_| types[0] == types[1]);
        let Some(forms) = forms else {
            return self.mismatch(goal, &goal.pairs, "the buffers are viewed differently".to_string());
        };
        self.same_forms(goal, &forms, "different elements are accessed")?;
        Ok(accesses.map(|access| access.subscripts.clone()))
    }

    /// Records that two accesses are one.
    fn joint(&mut self, goal: &Goal, accesses: [AccessId; 2]) -> Result<(), Stuck<'b>> {
        let own = [0, 1].map(|side| &self.programs[side].accesses[accesses[side]]);
        let keys = [0, 1].map(|side| self.programs[side].objects[own[side].object].key);
        let (Some(x), Some(y)) = (&own[0].element, &own[1].element) else {
            return self.mismatch(goal, &goal.pairs, "a subscript is not affine".to_string());
        };
        if keys[0] != keys[1] || x.len() != y.len() {
            return self.mismatch(goal, &goal.pairs, "different buffers are accessed".to_string());
        }
        let forms: Vec<_> = x.iter().cloned().zip(y.iter().cloned()).collect();
        self.same_forms(goal, &forms, "different elements are accessed")?;
        if !own.iter().all(|access| access.is_virtual) {
            self.joints.push(Joint { accesses, pairs: goal.pairs.clone(), at: self.log.len() });
        }
        Ok(())
    }

    /// Shows two chains equal as they stand, or else in another order.
    fn combination(
        &mut self,
        goal: Goal,
        own: Combining,
        agenda: &mut Vec<Goal>,
        nesting: usize,
    ) -> Result<(), Stuck<'b>> {
        let length = self.log.len();
        let plain = Goal { terms: goal.terms, pairs: goal.pairs.clone() };
        self.in_order = true;
        let mut goals = Vec::new();
        let shown = match self.operation(plain, &mut goals, nesting + 1) {
            Ok(()) => self.show_within(goals, nesting + 1),
            stuck => stuck,
        };
        self.in_order = false;
        let Err(Stuck::Mismatch(mismatch)) = shown else { return shown };
        self.retract(length);
        match self.reassociated(&goal, own)? {
            Some(goals) => {
                self.rounds_otherwise |= own.family.rounds();
                agenda.extend(goals);
            }
            None => return Err(Stuck::Mismatch(mismatch)),
        }
        Ok(())
    }

    pub(super) fn is_commutative(op: OpRef<'_>) -> bool {
        op.info().has_trait(Trait::Commutative)
    }

    /// True if two terms look alike.
    pub(super) fn fits(&self, [x, y]: [TermId; 2]) -> bool {
        self.is_like(x, y, SHAPE_DEPTH)
    }

    fn push_all(
        &self,
        goal: &Goal,
        pairs: Vec<[TermId; 2]>,
        agenda: &mut Vec<Goal>,
    ) -> Result<(), Stuck<'b>> {
        pairs.into_iter().for_each(|terms| self.push_both(goal, terms, agenda));
        Ok(())
    }

    /// Adds a goal with other terms on both sides, at the same instances.
    fn push_both(&self, goal: &Goal, terms: [TermId; 2], agenda: &mut Vec<Goal>) {
        let layout = self.layout(goal.terms);
        let mut half = Vec::new();
        self.push(1, goal, terms[1], layout, &goal.pairs, &mut half);
        for goal in half {
            let layout = self.layout(goal.terms);
            self.push(0, &goal, terms[0], layout, &goal.pairs, agenda);
        }
    }

    /// False if two terms plainly compute different things. What copies a value may be anything.
    fn is_like(&self, x: TermId, y: TermId, depth: usize) -> bool {
        let [a, b] = [self.term(0, x), self.term(1, y)];
        let object = |side: Side, access: AccessId| {
            let program = self.programs[side];
            &program.objects[program.accesses[access].object]
        };
        match (&a.kind, &b.kind) {
            (Kind::Operation { operands: xs, .. }, Kind::Operation { operands: ys, .. }) => {
                let name = |op: OpRef<'_>| op.body().op_name(op.op());
                if name(a.op) != name(b.op) || xs.len() != ys.len() {
                    return false;
                }
                if depth == 0 {
                    return true;
                }
                let is_like = |x: &TermId, y: &TermId| self.is_like(*x, *y, depth - 1);
                xs.iter().zip(ys).all(|(x, y)| is_like(x, y))
                    || xs.len() == 2
                        && Self::is_commutative(a.op)
                        && is_like(&xs[0], &ys[1])
                        && is_like(&xs[1], &ys[0])
            }
            (Kind::Number(_) | Kind::Truth(_), Kind::Number(_) | Kind::Truth(_)) => true,
            (Kind::Constant(x), Kind::Constant(y)) => x == y,
            (Kind::Argument(x), Kind::Argument(y)) | (Kind::Address(x), Kind::Address(y)) => x == y,
            (Kind::Load(x) | Kind::Initial(x), Kind::Load(y) | Kind::Initial(y)) => {
                let [a, b] = [object(0, *x), object(1, *y)];
                !a.is_visible() || !b.is_visible() || a.key == b.key
            }
            (x, y) => copies(x) || copies(y),
        }
    }

    /// Names the computation of a term.
    fn describe(&self, side: Side, term: TermId) -> String {
        let own = self.term(side, term);
        match &own.kind {
            Kind::Number(_) => "an affine number".to_string(),
            Kind::Truth(_) => "an affine condition".to_string(),
            Kind::Constant(_) => "a constant".to_string(),
            Kind::Argument(index) => format!("argument {index}"),
            Kind::Address(index) => format!("the address of argument {index}"),
            Kind::Initial(_) if self.is_unwritten(side, term) => "an element never written".to_string(),
            Kind::Initial(_) => "an element as the function found it".to_string(),
            Kind::Load(access) if self.is_ordered(side, *access) => {
                "an element that a store to another buffer may have changed".to_string()
            }
            Kind::Load(_) => "an element whose subscripts are not affine".to_string(),
            Kind::Choice { .. } => "a choice".to_string(),
            Kind::State(_) | Kind::Update { .. } => "what a store leaves in a buffer".to_string(),
            Kind::InitialState(_) => "a buffer as the function found it".to_string(),
            Kind::Stored { .. } => "what a store leaves in a buffer that may overlap another".to_string(),
            Kind::Carried { .. } | Kind::Exit { .. } => "a carried value".to_string(),
            Kind::Operation { .. } => format!("'{}'", own.op.name()),
        }
    }
}

/// Returns forms that have to be equal for equal subscripts to name equal elements; `None` if
/// two accesses view their buffers differently.
fn same_view([a, b]: [&Access<'_>; 2]) -> Option<Vec<(Form, Form)>> {
    let is_alike = a.axes.len() == b.axes.len() && a.axes.iter().zip(&b.axes).all(|(x, y)| x.1 == y.1);
    let mut forms: Vec<_> = a.axes.iter().zip(&b.axes).map(|(x, y)| (x.0.clone(), y.0.clone())).collect();
    match (&a.origin, &b.origin) {
        (None, None) => {}
        (Some(x), Some(y)) if a.extents == b.extents => forms.push((x.clone(), y.clone())),
        _ => return None,
    }
    is_alike.then_some(forms)
}

/// True for a term that may be a copy of any other.
fn copies(kind: &Kind) -> bool {
    match kind {
        Kind::Number(_)
        | Kind::Truth(_)
        | Kind::Constant(_)
        | Kind::Argument(_)
        | Kind::Address(_)
        | Kind::Operation { .. }
        | Kind::Initial(_) => false,
        Kind::Load(_)
        | Kind::Carried { .. }
        | Kind::Exit { .. }
        | Kind::Stored { .. }
        | Kind::State(_)
        | Kind::InitialState(_)
        | Kind::Update { .. }
        | Kind::Choice { .. } => true,
    }
}

/// True if the second operation is the first one, or one that is defined more often.
pub(super) fn refines([a, b]: [OpRef<'_>; 2]) -> bool {
    let ctx = a.ctx();
    if a.name() != b.name() {
        return false;
    }
    let [own, other] = [a, b].map(|op| op.properties().entries(ctx));
    let flags = |entries: &[(loomir_ir::Name, loomir_ir::Attr)], name| {
        entries.iter().find(|(key, _)| *key == name).map(|(_, attr)| *attr)
    };
    let is_flag = |name: &str| matches!(name, "overflowFlags" | "fastmath" | "fastmathFlags");
    // Flags of the second must be flags of the first.
    let bits = |attr: Option<loomir_ir::Attr>| match attr.map(|attr| (attr, attr.kind(ctx))) {
        Some((_, AttrKind::Enum { value, .. })) => Some(*value),
        Some((attr, _)) => attr.as_int(ctx).and_then(|bits| u64::try_from(bits).ok()),
        None => Some(0),
    };
    let holds = |name: loomir_ir::Name| {
        let (x, y) = (flags(own, name), flags(other, name));
        if is_flag(ctx.str(name)) {
            return matches!((bits(x), bits(y)), (Some(x), Some(y)) if y & !x == 0);
        }
        // These only promise.
        x == y || (matches!(ctx.str(name), "isExact" | "nonNeg" | "isDisjoint") && y.is_none())
    };
    let same_sign = loomir_dialects::llvm::SAME_SIGN;
    if b.attr(same_sign).is_some() && a.attr(same_sign).is_none() {
        return false;
    }
    // Metadata may allow results to be less exact.
    if b.attr("llvm.metadata").is_some() {
        return false;
    }
    own.iter().chain(other).all(|(name, _)| holds(*name))
}
