//! Accesses that are known if numbers from before the nests are small.
//!
//! An address that may wrap around is anywhere in its object, and so is an element whose number may
//! wrap around. If the numbers that it is computed from are [small](crate::affine::small), it does
//! not wrap. Such an access is known under the conditions that they are, for a run-time test to
//! establish.
//!
//! **Cost.** The forms are made when the first access asks for them.

use loomir_ir::{Block, Body, Value};

use super::elements::Elements;
use super::{Analyses, ConditionalElements, Site};
use crate::affine::small::Small;
use crate::affine::surroundings::Surroundings;
use crate::affine::{AffineForm, Atom, Forms};

/// The maximal number of conditions of an access.
const MAX_CONDITIONS: usize = 8;

/// Forms under the assumption that numbers are small, once needed.
pub(super) struct Supposed<'b> {
    /// The block of the nests.
    block: Block,
    /// The entered blocks.
    entered: Vec<Block>,
    /// The loops so far.
    loops: Vec<Loop>,
    /// The forms, for each of [`Small::ALL`].
    forms: [Option<Forms<'b>>; Small::ALL.len()],
}

/// A loop that was visited.
struct Loop {
    level: u32,
    variable: Value,
    form: Option<AffineForm>,
    constraints: Vec<AffineForm>,
}

impl Loop {
    /// Tells forms about the loop.
    fn fix(&self, forms: &mut Forms<'_>) {
        forms.set(self.variable, self.form.clone());
        forms.bound(self.level, self.variable, &self.constraints);
    }
}

impl<'b> Supposed<'b> {
    pub(super) fn new(block: Block) -> Supposed<'b> {
        Supposed { block, entered: Vec::new(), loops: Vec::new(), forms: [None, None] }
    }

    /// Enters a block, as in [`Forms::enter`].
    pub(super) fn enter(&mut self, block: Block) {
        self.entered.push(block);
        self.forms.iter_mut().flatten().for_each(|forms| forms.enter(block));
    }

    /// Fixes the form of the variable of a loop at a level, which has these constraints.
    pub(super) fn set(
        &mut self,
        level: u32,
        variable: Value,
        form: Option<AffineForm>,
        constraints: &[AffineForm],
    ) {
        let own = Loop { level, variable, form, constraints: constraints.to_vec() };
        self.forms.iter_mut().flatten().for_each(|forms| own.fix(forms));
        self.loops.push(own);
    }

    /// Returns the elements that an access at `site` touches under conditions, as `locate` finds
    /// them. It depends on `values`. The forms of `site` hold in any case.
    pub(super) fn elements(
        &mut self,
        site: &mut Site<'_, 'b>,
        values: &[Value],
        analyses: &'b Analyses,
        locate: &dyn Fn(&mut Site<'_, 'b>) -> Option<Elements>,
    ) -> Option<ConditionalElements> {
        (0..Small::ALL.len()).find_map(|at| {
            let Site { body, access, base, origin, domain, around, .. } = *site;
            let (forms, bases) = (self.forms(at, analyses, body), &mut *site.bases);
            let mut sources = values.to_vec();
            let around: Vec<Vec<AffineForm>> = around
                .iter()
                .take(domain.levels as usize)
                .map(|own| own.iter().map(|form| rewritten(form, forms, &mut sources)).collect())
                .collect();
            let mut here = Site { body, access, base, origin, forms, bases, domain, around: &around };
            let found = locate(&mut here)?;
            if !found.is_known(here.forms) {
                return None;
            }
            let mut own = match found.conditional {
                Some(own) => own,
                None => {
                    let subscripts = found.subscripts.into_iter().collect::<Option<_>>()?;
                    ConditionalElements { conditions: Vec::new(), sizes: found.sizes, subscripts }
                }
            };
            own.forms().for_each(|form| form.each_parameter(&mut |value| sources.push(value)));
            for condition in here.forms.small_below(sources, site.forms)? {
                if !site.is_known_natural(&condition, &own.conditions) {
                    own.conditions.push(condition);
                }
            }
            (own.conditions.len() <= MAX_CONDITIONS).then_some(own)
        })
    }

    fn forms(&mut self, at: usize, analyses: &'b Analyses, body: &'b Body) -> &mut Forms<'b> {
        let Supposed { block, entered, loops, forms } = self;
        forms[at].get_or_insert_with(|| {
            let followed = &*analyses.closed_forms;
            let saturation = &analyses.shared.saturation;
            let (surroundings, mut forms) = Surroundings::of(body, *block, followed, saturation);
            forms.suppose_small(Small::ALL[at], &surroundings.constraints);
            entered.iter().for_each(|block| forms.enter(*block));
            loops.iter().for_each(|own| own.fix(&mut forms));
            forms
        })
    }
}

/// Returns a form with the forms of its parameters. Adds the parameters that have other forms to
/// `sources`.
fn rewritten(form: &AffineForm, forms: &mut Forms<'_>, sources: &mut Vec<Value>) -> AffineForm {
    let mut changed = Vec::new();
    let new = form.instantiate(&mut |level| Some(AffineForm::level(level)), &mut |value| {
        let own = AffineForm::atom(Atom::Param(value));
        let new = forms.of(value).unwrap_or_else(|| own.clone());
        if new != own {
            changed.push(value);
        }
        Some(new)
    });
    sources.append(&mut changed);
    new.unwrap_or_else(|| form.clone())
}
