//! Separation of full tiles from partial ones: index-set splits of the loops over tiles.
//!
//! ```text
//!     for b by 8 { for i in b..min(b+8, n) }      for b by 8, full { for i in b..b+8 }
//!                                                 for b by 8, rest { for i in b..min(b+8, n) }
//! ```
//!
//! In a nest, the loop over full tiles of each loop contains the full and then the partial tiles of
//! the next loop. The order of iterations stays. Only the full tiles are separated again, so the
//! number of copies is that of bounds, not two to its power. If all are to be separated, partial
//! tiles contain full and partial ones of the next loop too, in at most [`MAX_DEPTH`] loops.
//!
//! Bounds may depend on loops inside a tile. Of `for i { for j in 0..i }`, a tile is full if it is
//! full for all `i` in it.
//!
//! Reference: Goumas, Athanasaki and Koziris, *Code Generation Methods for Tiling Transformations*,
//! Journal of Information Science and Engineering 2002.

use std::cmp::Ordering;

use loomir_ir::affine::ceil_div;

use crate::affine::{AffineForm, Atom};
use crate::tree::edit::range::counted;
use crate::tree::green::{Green, Header, Node, Origin, Span, TreeStore};
use crate::tree::program::Program;

/// The most loops over tiles that are separated everywhere.
const MAX_DEPTH: usize = 4;

/// A separation of the loops of a nest.
struct Separate<'p> {
    program: &'p Program,
    /// The number of loops over tiles.
    depth: usize,
    /// True to separate the tiles inside of partial ones.
    all: bool,
}

/// The bounds between which the tiles of a loop over tiles are full.
#[derive(Default)]
struct Full {
    lower: Vec<Bound>,
    upper: Vec<Bound>,
}

/// A bound of the variable `x` of a loop over tiles.
struct Bound {
    number: AffineForm,
    /// A bound of `scale · x` that need not be a multiple of the scale, if there is one.
    near: AffineForm,
    /// The number of the loop inside a tile that it is from.
    inner: usize,
    /// True if tiles beyond are not full for any iteration of the loops around the inner one.
    is_exact: bool,
}

impl TreeStore {
    /// Splits the `depth` outermost loops of the perfect nest `tree` so that the loops inside have
    /// constant trip counts where these need not be less. `all` says whether to split them inside
    /// of partial tiles too. `None` if there are no loops inside, if these would be too many
    /// copies, or if a number would exceed 64 bits.
    pub(crate) fn separated(
        &mut self,
        program: &Program,
        tree: Green,
        depth: usize,
        all: bool,
    ) -> Option<Vec<Green>> {
        let (mut nest, mut item) = (Vec::new(), tree);
        let body = loop {
            let Node::Loop { header, body } = self.get(item) else { return None };
            nest.push(self.header(header).clone());
            match self.only_item(body).filter(|only| matches!(self.get(*only), Node::Loop { .. })) {
                Some(only) => item = only,
                None => break body,
            }
        };
        if depth == 0 || depth >= nest.len() || all && depth > MAX_DEPTH {
            return None;
        }
        self.parts(&Separate { program, depth, all }, &nest, 0, body)
    }

    /// Returns the loops that run the nest from number `at` on. Recurses once for each loop over
    /// tiles.
    fn parts(&mut self, how: &Separate<'_>, nest: &[Header], at: usize, body: Green) -> Option<Vec<Green>> {
        let &Separate { program, depth, all } = how;
        let mut inside = nest.to_vec();
        let own = counted(program, &nest[at]).map(|own| own.span);
        let Some(Span::Range { scale, lower, upper }) = own.filter(|_| at < depth) else {
            return Some(vec![self.nested(&nest[at..], body)]);
        };
        let full = full(program, &mut inside, (at, depth), scale)?;
        let items = self.parts(how, &inside, at + 1, body)?;
        let items = self.sequence(&items);
        if full.lower.is_empty() && full.upper.is_empty() {
            return Some(vec![self.make_loop(nest[at].clone(), items)]);
        }
        let partial = |trees: &mut TreeStore, lower: &[AffineForm], upper: &[AffineForm]| {
            let span = Span::range(scale, lower.to_vec(), upper.to_vec());
            let header = Header { span, mark: None, ..nest[at].clone() };
            if !all {
                return Some(trees.nested(&[&[header], &nest[at + 1..]].concat(), body));
            }
            let items = trees.parts(how, nest, at + 1, body)?;
            let items = trees.sequence(&items);
            Some(trees.make_loop(header, items))
        };
        let at_scale = |own: &Bound| own.number.times(scale);
        let begins = full.lower.iter().map(at_scale).collect::<Option<Vec<AffineForm>>>()?;
        let ends = full.upper.iter().map(at_scale).collect::<Option<Vec<AffineForm>>>()?;
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        for (count, begin) in begins.iter().enumerate() {
            let low = [&lower[..], &begins[..count]].concat();
            before.push(partial(self, &low, &[&upper[..], std::slice::from_ref(begin)].concat())?);
        }
        let is_in_order = |own: &Origin| !program.loop_info(own.of).has_results() && !nest[at].parallel;
        let is_plain = nest[at].origins.iter().all(is_in_order);
        match only_tile(&full, (&lower, &upper), scale).filter(|_| is_plain) {
            Some(only) => {
                let inside = self.in_tile(program, &nest[at..], only)?;
                let depth = depth - at - 1;
                let within = |level: u32| within_tile(only.0, (nest.len() - at - 1) as u32, level);
                if let Some(headers) = inside {
                    let body = self.substituted(body, &within)?;
                    behind.extend(match all && depth > 0 {
                        true => self.parts(&Separate { program, depth, all }, &headers, 0, body)?,
                        false => vec![self.nested(&headers, body)],
                    });
                }
            }
            None => {
                for (count, end) in ends.iter().enumerate().rev() {
                    let low = [&lower[..], &begins, std::slice::from_ref(end)].concat();
                    behind.push(partial(self, &low, &[&upper[..], &ends[..count]].concat())?);
                }
            }
        }
        let is_at_most = |a: &AffineForm, b: &AffineForm| {
            b.minus(a).and_then(|gap| gap.as_constant()).is_some_and(|gap| gap >= 0)
        };
        let is_low = |form: &&AffineForm| !full.lower.iter().any(|own| is_at_most(form, &own.near));
        let is_high = |form: &&AffineForm| !full.upper.iter().any(|own| is_at_most(&own.near, form));
        let low = lower.iter().filter(is_low).chain(&begins).cloned().collect();
        let high = upper.iter().filter(is_high).chain(&ends).cloned().collect();
        let header = Header { span: Span::range(scale, low, high), mark: None, ..nest[at].clone() };
        let whole = self.make_loop(header, items);
        let all = before.into_iter().chain([whole]).chain(behind);
        Some(all.filter(|own| !self.is_never_run(*own)).collect())
    }

    /// Returns the loops inside the only partial tile of a nest whose outermost loop is over tiles.
    /// The inner `Some` is `None` if they have no iteration.
    fn in_tile(
        &mut self,
        program: &Program,
        nest: &[Header],
        (tile, inner): (&AffineForm, usize),
    ) -> Option<Option<Vec<Header>>> {
        let within =
            |depth: u32, form: &AffineForm| form.substitute(&mut |level| within_tile(tile, depth, level));
        let mut headers = Vec::new();
        for (depth, header) in (0..).zip(&nest[1..]) {
            let mut span = header.span.mapped(&|form| within(depth, form))?;
            if depth as usize + 1 == inner {
                let Span::Range { scale, lower, upper } = counted(program, header)?.span else { return None };
                let Span::Range { scale: block, .. } = counted(program, &nest[0])?.span else { return None };
                // The bounds that cut the tile short are less than the constant one. There is no
                // tile before the first.
                let first = tile.raised(depth)?.times(block.checked_neg()?)?;
                let low = lower.iter().map(|form| within(depth, form)).chain([Some(first)]);
                let cuts = upper.iter().filter(|form| form.as_constant().is_none());
                let high = cuts.map(|form| within(depth, form)).collect::<Option<_>>()?;
                span = Span::range(scale, low.collect::<Option<_>>()?, high);
            }
            if span.is_empty() {
                return Some(None);
            }
            let origins = header.origins.iter().map(|own| own.mapped(&|form| within(depth + 1, form)));
            headers.push(Header {
                span,
                origins: origins.collect::<Option<_>>()?,
                mark: None,
                ..header.clone()
            });
        }
        Some(Some(headers))
    }

    /// Returns the perfect nest with these headers.
    fn nested(&mut self, headers: &[Header], body: Green) -> Green {
        let mut inside = body;
        let mut tree = body;
        for header in headers.iter().rev() {
            tree = self.make_loop(header.clone(), inside);
            inside = self.sequence(&[tree]);
        }
        tree
    }
}

/// Returns a level inside of `depth` loops of a nest as a form without the loop over tiles around
/// them, in this tile.
fn within_tile(tile: &AffineForm, depth: u32, level: u32) -> Option<AffineForm> {
    match level.cmp(&depth) {
        Ordering::Less => Some(AffineForm::level(level)),
        Ordering::Equal => tile.raised(depth),
        Ordering::Greater => Some(AffineForm::level(level - 1)),
    }
}

/// Returns the bounds of loop `at` in which constants alone bound the loops inside tiles, as far as
/// loop `at` decides that. Drops the other bounds from `nest`.
fn full(program: &Program, nest: &mut [Header], (at, depth): (usize, usize), scale: i64) -> Option<Full> {
    let mut full = Full::default();
    for inner in depth..nest.len() {
        let Some(header) = counted(program, &nest[inner]) else { continue };
        let Some((first, last)) = ends_of(&header.span) else { continue };
        let Span::Range { scale: step, lower, upper } = &header.span else { continue };
        let (least, most) = (step.checked_mul(first)?, step.checked_mul(last)?);
        let (mut low, mut high) = (lower.to_vec(), upper.to_vec());
        // Each value of `step · y` is between `least` and `most`, so other bounds may be dropped
        // where they are not tighter.
        let mut is_split = |slack: Option<AffineForm>| {
            let Some(slack) = slack else { return false };
            let Some(least) = worst(program, nest, (inner, at, depth), &slack) else { return false };
            full.add(&least, (inner - at, least == slack), scale).is_some()
        };
        let number = AffineForm::constant;
        low.retain(|form| form.as_constant().is_some() || !is_split(number(least).minus(form)));
        let last = number(most.checked_add(1)?);
        high.retain(|form| form.as_constant().is_some() || !is_split(form.minus(&last)));
        if (low.len(), high.len()) != (lower.len(), upper.len()) {
            let span = Span::range(*step, low, high);
            nest[inner] = Header { span, mark: None, ..header };
        }
    }
    Some(full)
}

/// Returns the number of the only partial tile, as a form over the loops around, and the number of
/// the loop inside that is cut short, counted from the loop over tiles. `None` if there may be
/// several. If there is no such tile, its first iteration is behind the last one.
fn only_tile<'f>(
    full: &'f Full,
    (lower, upper): (&[AffineForm], &[AffineForm]),
    scale: i64,
) -> Option<(&'f AffineForm, usize)> {
    let ([], [own], [begin], [end]) = (&full.lower[..], &full.upper[..], lower, upper) else { return None };
    let begins_at_zero = begin.as_constant().and_then(|begin| ceil_div(begin, scale)) == Some(0);
    // Tiles beyond begin at `near` or later, and before the end.
    let gap = end.minus(&own.near)?.as_constant()?;
    let is_one = begins_at_zero && own.is_exact && (0..=scale).contains(&gap);
    is_one.then_some((&own.number, own.inner))
}

/// Returns the first and the last iteration between the constant bounds of a loop, if it has both.
fn ends_of(span: &Span) -> Option<(i64, i64)> {
    let Span::Range { scale, lower, upper } = span else { return None };
    let number = |forms: &[AffineForm]| {
        forms.iter().find_map(AffineForm::as_constant).and_then(|form| ceil_div(form, *scale))
    };
    let (first, end) = (number(lower)?, number(upper)?);
    (first < end).then_some((first, end.checked_sub(1)?))
}

/// Returns the least value of a form over the loops around loop `inner`, for all iterations of
/// those inside loop `at`: a form over the others. `None` if one of these is a loop over tiles, or
/// varies.
fn worst(
    program: &Program,
    nest: &[Header],
    (inner, at, depth): (usize, usize, usize),
    slack: &AffineForm,
) -> Option<AffineForm> {
    let mut least = slack.clone();
    let own = (inner - at - 1) as u32;
    for level in 0..own {
        let coefficient = least.coefficient_of_level(level);
        if coefficient == 0 {
            continue;
        }
        let around = inner - 1 - level as usize;
        let header = counted(program, &nest[around]).filter(|_| around >= depth)?;
        let Span::Range { lower, upper, .. } = &header.span else { return None };
        if lower.len() > 1 || upper.len() > 1 {
            return None;
        }
        let (first, last) = ends_of(&header.span)?;
        let value = AffineForm::constant(if coefficient > 0 { first } else { last });
        least = least.plus(&value.minus(&AffineForm::level(level))?, coefficient)?;
    }
    let rest = least.plus(&AffineForm::level(own), least.coefficient_of_level(own).checked_neg()?)?;
    let is_outside = |atom: &Atom| !matches!(atom, Atom::Level(level) if *level <= own);
    rest.all_atoms(&is_outside).then_some(least)
}

impl Full {
    /// Adds the bound of a loop where the form `slack`, in the header of the loop `inner` loops
    /// inside, is not negative. `None` if it does not depend on the loop.
    fn add(&mut self, slack: &AffineForm, (inner, is_exact): (usize, bool), scale: i64) -> Option<()> {
        let level = u32::try_from(inner.checked_sub(1)?).ok()?;
        let coefficient = slack.coefficient_of_level(level);
        let rest = slack.plus(&AffineForm::level(level), coefficient.checked_neg()?)?;
        // A form over the loops around the split one.
        let rest = rest.substitute(&mut |own| Some(AffineForm::level(own.checked_sub(level + 1)?)))?;
        let size = coefficient.checked_abs().filter(|size| *size != 0)?;
        let one = AffineForm::constant(1);
        let (all, number, near) = if coefficient < 0 {
            // size · x ≤ rest
            (&mut self.upper, rest.floor_div(size)?.plus(&one, 1)?, rest.plus(&one, 1)?)
        } else {
            // size · x ≥ -rest
            let least = rest.times(-1)?;
            (&mut self.lower, least.ceil_div(size)?, least)
        };
        let near = if size == scale { near } else { number.times(scale)? };
        all.push(Bound { number, near, inner, is_exact });
        Some(())
    }
}
