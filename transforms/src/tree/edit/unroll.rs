//! Unrolling, and unroll-and-jam: a loop whose iterations each run several of the program's.
//!
//! ```text
//!     for i { A; for j { B }; C }        for i by 2 { A(i); A(i+1);
//!                                                     for j { B(i); B(i+1) };
//!                                                     C(i); C(i+1) }
//!                                        for i, the iterations left over { A; for j { B }; C }
//! ```
//!
//! Unrolling writes whole copies one after the other. Unroll-and-jam does the same with what stands
//! between loops, and runs the copies of an inner loop as one loop.
//!
//! In the tree, copies are a loop, so that the judge compares no copies with each other: `A(i);
//! A(i+1)` is `for c in 0..2 { A(i+c) }`. They are [written](TreeStore::written) one after the
//! other.

use crate::affine::{AffineForm, Atom};
use crate::tree::edit::range::counted;
use crate::tree::green::{Green, Header, Mark, Node, Origin, Span, TreeStore};
use crate::tree::program::Program;

/// The copies of one loop.
struct Copies<'a> {
    program: &'a Program,
    /// The number of loops of the program around the loop.
    around: u32,
    count: i64,
}

/// A loop from 0 on, of which blocks of iterations are to run together.
struct Blocks<'a> {
    copies: Copies<'a>,
    origins: Box<[Origin]>,
    parallel: bool,
    scale: i64,
    upper: Box<[AffineForm]>,
    body: Green,
}

/// Returns the lower bounds of a loop that begins at 0.
fn from_zero() -> Vec<AffineForm> {
    vec![AffineForm::constant(0)]
}

impl Copies<'_> {
    /// Returns the iteration that a copy runs in place of the loop's own, level 0.
    fn iteration(&self, copy: i64) -> Option<AffineForm> {
        AffineForm::constant(copy).plus(&AffineForm::level(0), self.count)
    }

    /// Returns the form of a level in the loop over copies, if `depth` loops are between it and the
    /// unrolled loop.
    fn inside(&self, depth: u32, level: u32) -> Option<AffineForm> {
        let copy = AffineForm::level(0);
        match level == depth {
            true => copy.plus(&AffineForm::level(depth.checked_add(1)?), self.count),
            false => Some(AffineForm::level(level.checked_add(1)?)),
        }
    }
}

impl TreeStore {
    /// Unrolls the loop `tree`: a loop over whole blocks of `count` iterations, written one after
    /// the other, and behind it a loop over the iterations left over.
    ///
    /// `None` if `tree` is no loop, `count` is not positive, the range is known only when the
    /// program runs, does not begin at zero, or has several ends that need not be whole blocks.
    pub(crate) fn unrolled(&mut self, program: &Program, tree: Green, count: usize) -> Option<Vec<Green>> {
        self.in_blocks(program, tree, (count, Mark::Unrolled), |trees, copies, loops, body| {
            let items: Vec<Green> = trees.items(body).collect();
            Some(vec![trees.repeated(copies, loops, &items)?])
        })
    }

    /// Unrolls the loop `tree` as [`unrolled`](TreeStore::unrolled) does, and runs the copies of
    /// each inner loop as one loop. Guards are copied whole, with the loops inside them.
    ///
    /// `None` as for unrolling, or if an inner loop is parallel, or its range depends on the loop.
    pub(crate) fn unrolled_and_jammed(
        &mut self,
        program: &Program,
        tree: Green,
        count: usize,
    ) -> Option<Vec<Green>> {
        self.in_blocks(program, tree, (count, Mark::Jammed), |trees, copies, loops, body| {
            trees.jammed(copies, loops, body)
        })
    }

    /// Runs blocks of `count` iterations of the loop `tree` at once, and behind them those left
    /// over one after the other. In the tree, those of a block are a parallel loop. With `masked`,
    /// the last block may have fewer iterations than the others, and nothing is left over.
    ///
    /// `None` as for unrolling, or if the loop carries values other than those that iterations
    /// combine, or runs in any order. Several ends are no obstacle with `masked`.
    pub(crate) fn vectorized(
        &mut self,
        program: &Program,
        tree: Green,
        (count, masked): (usize, bool),
    ) -> Option<Vec<Green>> {
        let Node::Loop { header, .. } = self.get(tree) else { return None };
        let own = self.header(header);
        let mut infos = own.origins.iter().map(|own| program.loop_info(own.of));
        if own.in_any_order() || infos.any(|info| info.has_results() && !info.combines) {
            return None;
        }
        if masked {
            return self.in_masked_blocks(program, tree, count);
        }
        let mark = Mark::Lanes { count: u32::try_from(count).ok()?, masked };
        self.in_blocks(program, tree, (count, Mark::Vectorized), |trees, copies, loops, body| {
            let items: Vec<Green> = trees.items(body).collect();
            let block = trees.repeated(copies, loops, &items)?;
            Some(vec![trees.as_lanes(block, mark)?])
        })
    }

    /// Returns a loop over blocks of lanes. The last block has the iterations left over: only so
    /// many of its lanes run.
    fn in_masked_blocks(&mut self, program: &Program, tree: Green, count: usize) -> Option<Vec<Green>> {
        let Blocks { copies, origins, parallel, scale, upper, body } =
            self.blocks_of(program, tree, count)?;
        let count = copies.count;
        let items: Vec<Green> = self.items(body).collect();
        let lanes = self.repeated(&copies, &[&origins], &items)?;
        let Node::Loop { header, body } = self.get(lanes) else { return None };
        let size = scale.checked_mul(count)?;
        // Blocks that begin before an end of whole blocks end there or before.
        let is_whole = |end: &AffineForm| {
            let end = end.ceil_div(scale)?;
            Some(end.floor_div(count)?.times(count)? == end)
        };
        let mut ends = vec![AffineForm::constant(size)];
        for end in upper.iter().filter(|end| is_whole(end) != Some(true)) {
            // Before an end inside the first block there is no other one.
            let is_only = end.as_constant().is_some_and(|end| end < size);
            let inside = || end.raised(1)?.plus(&AffineForm::level(0), size.checked_neg()?);
            ends.push(if is_only { end.clone() } else { inside()? });
        }
        let mark = Mark::Lanes { count: u32::try_from(count).ok()?, masked: ends.len() > 1 };
        let span = Span::range(scale, from_zero(), ends);
        let lanes = self.make_loop(Header { span, ..self.header(header).clone() }, body);
        let lanes = self.as_lanes(lanes, mark)?;
        let mut block = self.sequence(&[lanes]);
        let carries = |origin: &Origin| program.loop_info(origin.of).has_results();
        if self.any_loop(block, &|header| header.origins.iter().any(carries)) {
            block = self.written(block)?;
        }
        let origins = copied(&copies, &origins, 0)?;
        let span = Span::range(size, from_zero(), upper.to_vec());
        let mark = Some(Mark::Vectorized);
        let whole = self.make_loop(Header { span, origins, parallel, mark }, block);
        Some([whole].into_iter().filter(|own| !self.is_never_run(*own)).collect())
    }

    /// Returns the parts that blocks of `count` iterations of the loop `tree` are made of. `None`
    /// if its bounds are known only at run time, or if it does not begin at 0.
    fn blocks_of<'p>(&self, program: &'p Program, tree: Green, count: usize) -> Option<Blocks<'p>> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let Header { span, origins, parallel, .. } = counted(program, self.header(header))?;
        let Span::Range { scale, lower, upper } = span else { return None };
        let count = i64::try_from(count).ok().filter(|count| *count > 0)?;
        let around = program.loop_info(origins.first()?.of).depth;
        let copies = Copies { program, around, count };
        (lower[..] == from_zero()).then_some(Blocks { copies, origins, parallel, scale, upper, body })
    }

    /// Returns a loop over copies as one whose iterations run at once.
    fn as_lanes(&mut self, copies: Green, mark: Mark) -> Option<Green> {
        let Node::Loop { header, body } = self.get(copies) else { return None };
        let header = Header { parallel: true, mark: Some(mark), ..self.header(header).clone() };
        Some(self.make_loop(header, body))
    }

    /// Returns a loop over whole blocks with the body that `block` makes, and a loop over the
    /// iterations left over.
    fn in_blocks(
        &mut self,
        program: &Program,
        tree: Green,
        (count, mark): (usize, Mark),
        block: impl FnOnce(&mut TreeStore, &Copies<'_>, &[&[Origin]], Green) -> Option<Vec<Green>>,
    ) -> Option<Vec<Green>> {
        let Blocks { copies, origins, parallel, scale, upper, body } =
            self.blocks_of(program, tree, count)?;
        let count = copies.count;
        let block = block(self, &copies, &[&origins], body)?;
        let mut block = self.sequence(&block);
        let carries = |origin: &Origin| program.loop_info(origin.of).has_results();
        if origins.iter().any(carries) || self.any_loop(block, &|header| header.origins.iter().any(carries)) {
            // Each copy begins with the values that the copy before yields.
            block = self.written(block)?;
        }
        let origins = copied(&copies, &origins, 0)?;
        // The iterations left over begin behind the last whole block.
        let ends = upper.iter().map(|end| end.ceil_div(scale)).collect::<Option<Vec<_>>>()?;
        let behind = |end: &AffineForm| end.floor_div(count)?.times(count);
        let all = ends.iter().map(behind).collect::<Option<Vec<_>>>()?;
        let mut rests = all.iter().zip(&ends).filter(|(behind, end)| behind != end).map(|(behind, _)| behind);
        // Before an end that is a whole number of blocks nothing is left over, so that the other
        // end decides. The least of two ends is no lower bound of a range.
        let first = rests.next().or(all.first())?;
        if rests.next().is_some() {
            return None;
        }
        let [_, left] = self.range_split(program, tree, first)?;
        let left = self.marked(left, mark);
        let ends = all.iter().map(|behind| behind.times(scale)).collect::<Option<_>>()?;
        let span = Span::range(scale.checked_mul(count)?, from_zero(), ends);
        let whole = self.make_loop(Header { span, origins, parallel, mark: Some(mark) }, block);
        Some([whole, left].into_iter().filter(|own| !self.is_never_run(*own)).collect())
    }

    /// Returns a loop with a mark.
    pub(crate) fn marked(&mut self, tree: Green, mark: Mark) -> Green {
        let Node::Loop { header, body } = self.get(tree) else { return tree };
        let header = Header { mark: Some(mark), ..self.header(header).clone() };
        self.make_loop(header, body)
    }

    /// Returns the reason why a loop cannot be [unrolled and jammed], if it is one about inner
    /// loops. Recurses once for each loop. Raising bounds their nesting depth.
    ///
    /// [unrolled and jammed]: TreeStore::unrolled_and_jammed
    pub(crate) fn why_not_jammed(&self, program: &Program, tree: Green) -> Option<&'static str> {
        let Node::Loop { header, body } = self.get(tree) else { return None };
        let around = program.loop_info(self.header(header).origins.first()?.of).depth;
        self.obstacle(&Copies { program, around, count: 1 }, body, 0)
    }

    fn obstacle(&self, copies: &Copies<'_>, body: Green, depth: u32) -> Option<&'static str> {
        let loops = self.items(body).filter_map(|item| match self.get(item) {
            Node::Loop { header, body } => Some((self.header(header), body)),
            _ => None,
        });
        for (header, body) in loops {
            if header.parallel {
                return Some("an inner loop is parallel");
            }
            if !is_same_for_all(copies, header, depth) {
                return Some("the bounds of an inner loop depend on it");
            }
            if let Some(why) = self.obstacle(copies, body, depth + 1) {
                return Some(why);
            }
        }
        None
    }

    /// True if a condition holds for a loop of a tree. Recurses once for each loop or guard.
    pub(crate) fn any_loop(&self, tree: Green, holds: &dyn Fn(&Header) -> bool) -> bool {
        self.items(tree).any(|item| match self.get(item) {
            Node::Loop { header, body } => holds(self.header(header)) || self.any_loop(body, holds),
            Node::Guard { body, .. } => self.any_loop(body, holds),
            Node::Versioned { fast, fallback, .. } => {
                self.any_loop(fast, holds) || self.any_loop(fallback, holds)
            }
            _ => false,
        })
    }

    /// Returns the loop over the copies of items. `loops` are the origins of the unrolled loop, and
    /// of each loop between it and the items.
    fn repeated(&mut self, copies: &Copies<'_>, loops: &[&[Origin]], items: &[Green]) -> Option<Green> {
        let depth = u32::try_from(loops.len().checked_sub(1)?).ok()?;
        let with = |level: u32| copies.inside(depth, level);
        let body = items.iter().map(|item| self.substituted(*item, &with)).collect::<Option<Vec<_>>>()?;
        let body = self.sequence(&body);
        let mut origins = Vec::new();
        for (own, distance) in loops.iter().zip((0..=depth).rev()) {
            let within = |form: &AffineForm| form.substitute(&mut |level| with(level.checked_add(distance)?));
            for origin in *own {
                origins.push(origin.mapped(&within)?);
            }
        }
        let span = Span::range(1, vec![AffineForm::constant(0)], vec![AffineForm::constant(copies.count)]);
        let header = Header { span, origins: origins.into(), parallel: false, mark: Some(Mark::Copies) };
        Some(self.make_loop(header, body))
    }

    /// Returns the items of a jammed body. `loops` are the origins of the unrolled loop, and of
    /// each loop between it and the body. Recurses once for each loop. Raising bounds their nesting
    /// depth.
    fn jammed(&mut self, copies: &Copies<'_>, loops: &[&[Origin]], body: Green) -> Option<Vec<Green>> {
        let depth = u32::try_from(loops.len().checked_sub(1)?).ok()?;
        let items: Vec<Green> = self.items(body).collect();
        let is_loop = |trees: &TreeStore, item: &Green| matches!(trees.get(*item), Node::Loop { .. });
        let mut all = Vec::new();
        for items in items.chunk_by(|a, b| !is_loop(self, a) && !is_loop(self, b)).collect::<Vec<_>>() {
            let [Node::Loop { header, body }] =
                items.iter().map(|item| self.get(*item)).collect::<Vec<_>>()[..]
            else {
                all.push(self.repeated(copies, loops, items)?);
                continue;
            };
            let header = self.header(header).clone();
            if header.in_any_order() || !is_same_for_all(copies, &header, depth) {
                return None;
            }
            let origins = copied(copies, &header.origins, depth + 1)?;
            let inside = self.jammed(copies, &[loops, &[&header.origins]].concat(), body)?;
            let inside = self.sequence(&inside);
            all.push(self.make_loop(Header { origins, ..header }, inside));
        }
        Some(all)
    }
}

/// Returns the origins of all copies of a loop, `depth` loops inside the unrolled loop's body with
/// itself.
fn copied(copies: &Copies<'_>, origins: &[Origin], depth: u32) -> Option<Box<[Origin]>> {
    let mut all = Vec::new();
    for copy in 0..copies.count {
        let own = copies.iteration(copy)?.raised(depth)?;
        let with = |level: u32| Some(if level == depth { own.clone() } else { AffineForm::level(level) });
        for origin in origins {
            all.push(origin.mapped(&|form| form.substitute(&mut |level| with(level)))?);
        }
    }
    Some(all.into())
}

/// True if an inner loop runs the same iterations in all copies. Its bounds depend neither on the
/// unrolled loop nor on values computed in it.
fn is_same_for_all(copies: &Copies<'_>, header: &Header, depth: u32) -> bool {
    let Some(Header { span, origins, .. }) = counted(copies.program, header) else { return false };
    let spaces = origins.iter().map(|origin| &copies.program.loop_info(origin.of).space);
    let mut bounds = spaces.flat_map(|space| space.bounds().chain(&space.variable));
    span.forms().all(|form| form.all_atoms(&|atom| *atom != Atom::Level(depth)))
        && span.forms().chain(bounds.by_ref()).all(|form| copies.program.is_known(form, copies.around))
}
