//! Chooses the pairs of accesses for the questions about the order of a tree.
//!
//! A thousand loops that update one array have a million pairs of accesses, and nearly all of them
//! pose one question. Accesses are alike if the question cannot distinguish them. Among all pairs
//! of two kinds with the same relative order, in the program and in the tree, one is examined.
//!
//! Most of a large tree keeps its order. The tree is cut into regions: one region runs entirely
//! before the next, in both orders, and no loop extends beyond a region. Pairs across a cut need no
//! question. Neither do two kinds inside a region that keep their order and share no loop.
//!
//! **Assumptions.**
//! - A question depends on a statement's number and its loops in the program, and on the data of a
//!   leaf in [`Kind`]. Compared with [`every_pair`] in `tests/tests/all/legality.rs`.
//!
//! **Cost.** A sort of the accesses, and for two kinds whose order may have changed the sum of
//! their accesses. Pairs inside one outermost loop of the program are examined one by one.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::ops::{ControlFlow, Range};

use hashbrown::{HashMap, HashSet};
use smallvec::SmallVec;

use super::changed_region::ChangedRegion;
use super::scheduled::{Access, Around, ScheduledStatement, shared};
use crate::access::Class;
use crate::access::base::{Base, Overlap};
use crate::access::objects;
use crate::tree::{LoopId, StatementId};

/// Calls `ask` for one pair of each kind, until it breaks off.
pub(super) fn each_pair<'p>(
    part: &ChangedRegion<'_>,
    leaves: &'p [ScheduledStatement],
    ask: &mut dyn FnMut(&Access<'p>, &Access<'p>, Overlap) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let nests = Nests::of(part, leaves);
    regions(leaves, &nests).into_iter().try_for_each(|region| {
        let objects = Objects::of(part, leaves, region, &nests);
        objects.each_pair(part, ask)
    })
}

/// Calls `ask` for all pairs that may conflict. The choice of [`each_pair`] is tested against it.
pub(super) fn every_pair<'p>(
    part: &ChangedRegion<'_>,
    leaves: &'p [ScheduledStatement],
    ask: &mut dyn FnMut(&Access<'p>, &Access<'p>, Overlap) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let accesses = |(place, leaf): (usize, &'p ScheduledStatement)| {
        leaf.classes.iter().map(move |class| (leaf, place, class))
    };
    let all: Vec<Access<'p>> = leaves.iter().enumerate().flat_map(accesses).collect();
    for (at, first) in all.iter().enumerate() {
        for second in &all[at..] {
            let (s, t) = (&first.2.0, &second.2.0);
            let Some(overlap) = part.oracle.overlap(s.base, t.base) else { continue };
            if part.oracle.may_conflict(s, t) && part.is_moved(first.0, second.0) {
                ask(first, second, overlap)?;
            }
        }
    }
    ControlFlow::Continue(())
}

/// The outermost loops of the program inside the region.
struct Nests {
    /// The loop around the statement of each leaf.
    of: Vec<Option<LoopId>>,
    /// The first statement of each nest that has a leaf.
    first: HashMap<LoopId, StatementId>,
}

impl Nests {
    fn of(part: &ChangedRegion<'_>, leaves: &[ScheduledStatement]) -> Nests {
        let of: Vec<Option<LoopId>> = leaves.iter().map(|leaf| outermost(part, leaf)).collect();
        let mut first: HashMap<LoopId, StatementId> = HashMap::new();
        for (of, leaf) in of.iter().zip(leaves) {
            let Some(of) = of else { continue };
            first
                .entry(*of)
                .and_modify(|least| *least = leaf.statement.min(*least))
                .or_insert(leaf.statement);
        }
        Nests { of, first }
    }

    /// Returns the first statement of the nest around a leaf's statement. The numbers are equal
    /// within a nest and ascend from nest to nest.
    fn number(&self, place: usize, leaf: &ScheduledStatement) -> StatementId {
        self.of[place].map_or(leaf.statement, |of| self.first[&of])
    }
}

/// Returns the outermost loop of the program around a leaf's statement, inside the region.
fn outermost(part: &ChangedRegion<'_>, leaf: &ScheduledStatement) -> Option<LoopId> {
    let depth = part.loop_context.depth;
    let around = std::iter::successors(part.program.statement(leaf.statement).parent, |of| {
        part.program.loop_info(*of).parent
    });
    around.take_while(|of| part.program.loop_info(*of).depth >= depth).last()
}

/// Partitions the leaves into regions. At each cut, all leaves before it also come first in the
/// program, and no loop of the program or of the tree spans it.
fn regions(leaves: &[ScheduledStatement], nests: &Nests) -> Vec<Range<usize>> {
    let mut last_in_program: HashMap<LoopId, usize> = HashMap::new();
    let mut last_in_tree: HashMap<Around, usize> = HashMap::new();
    for (place, (leaf, of)) in leaves.iter().zip(&nests.of).enumerate() {
        last_in_program.extend(of.map(|of| (of, place)));
        last_in_tree.extend(leaf.loops.first().map(|around| (*around, place)));
    }
    // The least statement of all following leaves.
    let mut least_behind = vec![None; leaves.len() + 1];
    for (place, leaf) in leaves.iter().enumerate().rev() {
        let least = least_behind[place + 1].map_or(leaf.statement, |least| leaf.statement.min(least));
        least_behind[place] = Some(least);
    }
    let (mut regions, mut start, mut reach, mut greatest) = (Vec::new(), 0, 0, None);
    for (place, (leaf, of)) in leaves.iter().zip(&nests.of).enumerate() {
        let in_program = of.map_or(place, |of| last_in_program[&of]);
        let in_tree = leaf.loops.first().map_or(place, |around| last_in_tree[around]);
        reach = reach.max(in_program).max(in_tree);
        greatest = greatest.max(Some(leaf.statement));
        let next = place + 1;
        if reach < next && least_behind[next].is_none_or(|least| greatest < Some(least)) {
            regions.push(start..next);
            start = next;
        }
    }
    regions
}

/// All properties of an access that a question depends on. The statement's number, the program's
/// loops around it and its place in the tree are left out.
struct Kind<'p> {
    /// The leaf. Its loops, its version and its conditions count.
    leaf: &'p ScheduledStatement,
    class: &'p Class,
    /// The place of the leaf's item, if it is there unchanged.
    item: Option<usize>,
    /// The place of the leaf, if it is in no loop, so that the accesses of a kind are contiguous.
    place: Option<usize>,
}

impl PartialEq for Kind<'_> {
    fn eq(&self, other: &Self) -> bool {
        let own = |kind: &Self| (kind.leaf.version, kind.item, kind.place);
        own(self) == own(other)
            && self.class == other.class
            && self.leaf.loops == other.leaf.loops
            && self.leaf.runs_like(other.leaf)
    }
}

impl Eq for Kind<'_> {}

impl Hash for Kind<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.leaf.hash_access(self.class, state);
        (self.item, self.place).hash(state);
    }
}

/// An access with the innermost loop of the program around its statement.
struct Member<'p> {
    access: Access<'p>,
    innermost: Option<LoopId>,
    spot: Spot,
}

/// A member of a kind, by its index, and its place in the program.
#[derive(Clone, Copy)]
struct Spot {
    index: usize,
    statement: StatementId,
    outermost: Option<LoopId>,
}

/// The accesses of one kind, in the order of their places.
struct Alike<'p> {
    members: SmallVec<[Member<'p>; 1]>,
    /// The [numbers](Nests::number) of the first and the last nest of the accesses.
    nests: [StatementId; 2],
    /// The members inside outermost loops of the program, in the order of the loops.
    by_loop: SmallVec<[(LoopId, usize); 1]>,
    /// For each number of first members, their extremes, if there are several members.
    before: Vec<Extremes>,
    /// For each number of first members, the extremes of the others, if there are several members.
    behind: Vec<Extremes>,
}

/// The accesses of a region by object, and those of an object by kind.
struct Objects<'p> {
    all: Vec<(Base, Vec<Alike<'p>>)>,
}

impl<'p> Objects<'p> {
    fn of(
        part: &ChangedRegion<'_>,
        leaves: &'p [ScheduledStatement],
        region: Range<usize>,
        nests: &Nests,
    ) -> Objects<'p> {
        let mut all: Vec<(Base, Vec<Alike<'p>>)> = Vec::new();
        let mut objects: HashMap<Base, usize> = HashMap::new();
        let mut kinds: HashMap<Kind<'p>, (usize, usize)> = HashMap::with_capacity(region.len());
        for place in region {
            let leaf = &leaves[place];
            for class in &leaf.classes {
                let kind = Kind {
                    leaf,
                    class: &class.0,
                    item: part.place_of(leaf),
                    place: Some(place).filter(|_| leaf.loops.is_empty()),
                };
                let nest = nests.number(place, leaf);
                let (object, kind) = *kinds.entry(kind).or_insert_with(|| {
                    let object = *objects.entry(class.0.base).or_insert_with(|| {
                        all.push((class.0.base, Vec::new()));
                        all.len() - 1
                    });
                    all[object].1.push(Alike::empty(nest));
                    (object, all[object].1.len() - 1)
                });
                let alike = &mut all[object].1[kind];
                alike.nests = [alike.nests[0].min(nest), alike.nests[1].max(nest)];
                if let Some(of) = nests.of[place] {
                    alike.by_loop.push((of, alike.members.len()));
                }
                let spot = Spot {
                    index: alike.members.len(),
                    statement: leaf.statement,
                    outermost: nests.of[place],
                };
                let innermost = part.program.statement(leaf.statement).parent;
                alike.members.push(Member { access: (leaf, place, class), innermost, spot });
            }
        }
        all.iter_mut().flat_map(|(_, kinds)| kinds).for_each(Alike::sum_up);
        Objects { all }
    }

    fn each_pair(
        &self,
        part: &ChangedRegion<'_>,
        ask: &mut dyn FnMut(&Access<'p>, &Access<'p>, Overlap) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut objects = objects::Objects::default();
        let mut places: HashMap<Base, usize> = HashMap::new();
        for (place, (base, _)) in self.all.iter().enumerate() {
            objects.push(*base);
            places.insert(*base, place);
        }
        for (i, (base, kinds)) in self.all.iter().enumerate() {
            let mut near: Vec<usize> = match part.oracle.dependence.tells_objects_apart() {
                true => objects.near(*base, true).map(|other| places[&other]).collect(),
                false => (i..self.all.len()).collect(),
            };
            near.retain(|place| *place >= i);
            near.sort_unstable();
            for (other, others) in near.into_iter().map(|place| &self.all[place]) {
                let Some(overlap) = part.oracle.overlap(*base, *other) else { continue };
                let others = if base == other { None } else { Some(&others[..]) };
                each_kind(kinds, others, &mut |a, b| match may_matter(part, a, b) {
                    true => a.each_pair(b, &mut |x, y| ask(x, y, overlap)),
                    false => ControlFlow::Continue(()),
                })?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Visits the pairs of kinds of one or two objects that share a loop or may be reordered.
fn each_kind<'k, 'p>(
    kinds: &'k [Alike<'p>],
    others: Option<&'k [Alike<'p>]>,
    visit: &mut dyn FnMut(&'k Alike<'p>, &'k Alike<'p>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let sides = [kinds, others.unwrap_or_default()];
    let mut all: Vec<(usize, usize)> =
        (0..2).flat_map(|side| (0..sides[side].len()).map(move |k| (side, k))).collect();
    all.sort_by_key(|(side, k)| sides[*side][*k].place());
    let kind = |(side, k): (usize, usize)| &sides[side][k];
    // Kinds in earlier loops of the tree, by their last nest, and kinds in the current loop.
    let mut earlier: [BTreeSet<(StatementId, usize)>; 2] = Default::default();
    let mut together: Vec<(usize, usize)> = Vec::new();
    for later in all {
        let is_inside = together.last().is_some_and(|last| kind(*last).shares_loop_of_tree(kind(later)));
        if !is_inside {
            for (side, k) in together.drain(..) {
                earlier[side].insert((sides[side][k].nests[1], k));
            }
        }
        together.push(later);
        let wanted = if others.is_some() { 1 - later.0 } else { later.0 };
        let begin = (kind(later).nests[0], 0);
        let moved = earlier[wanted].range(begin..).map(|(_, k)| (wanted, *k));
        let near = together.iter().copied().filter(|(side, _)| *side == wanted);
        for first in near.chain(moved) {
            // The accesses of the first object come first in each question.
            let (a, b) = if first.0 <= later.0 { (first, later) } else { (later, first) };
            visit(kind(a), kind(b))?;
        }
    }
    ControlFlow::Continue(())
}

/// Returns true if accesses of two kinds may conflict and may have been reordered.
fn may_matter(part: &ChangedRegion<'_>, a: &Alike<'_>, b: &Alike<'_>) -> bool {
    let ((x, _, s), (y, _, t)) = (a.members[0].access, b.members[0].access);
    part.oracle.may_conflict(&s.0, &t.0) && part.is_moved(x, y)
}

impl<'p> Alike<'p> {
    fn empty(nest: StatementId) -> Alike<'p> {
        Alike {
            members: SmallVec::new(),
            nests: [nest; 2],
            by_loop: SmallVec::new(),
            before: Vec::new(),
            behind: Vec::new(),
        }
    }

    fn sum_up(&mut self) {
        if self.members.len() == 1 {
            return;
        }
        let all = |spots: &mut dyn Iterator<Item = Spot>| {
            let mut extremes = Vec::with_capacity(self.members.len() + 1);
            extremes.push(Extremes::default());
            extremes.extend(spots.scan(Extremes::default(), |so_far, spot| {
                so_far.add(spot);
                Some(*so_far)
            }));
            extremes
        };
        self.before = all(&mut self.members.iter().map(|member| member.spot));
        self.behind = all(&mut self.members.iter().rev().map(|member| member.spot));
        self.behind.reverse();
        self.by_loop.sort_unstable();
    }

    /// Returns the extremes of the first `count` members.
    fn before(&self, count: usize) -> Extremes {
        match &self.members[..] {
            [only] => Extremes::of(&[only.spot][..count]),
            _ => self.before[count],
        }
    }

    /// Returns the extremes of all members but the first `count`.
    fn behind(&self, count: usize) -> Extremes {
        match &self.members[..] {
            [only] => Extremes::of(&[only.spot][count..]),
            _ => self.behind[count],
        }
    }

    /// Returns the members in an outermost loop of the program.
    fn in_loop(&self, of: LoopId) -> &[(LoopId, usize)] {
        let start = self.by_loop.partition_point(|(own, _)| *own < of);
        let end = self.by_loop.partition_point(|(own, _)| *own <= of);
        &self.by_loop[start..end]
    }

    /// Returns the place of the first member.
    fn place(&self) -> usize {
        self.members[0].access.1
    }

    /// True if two kinds are in one outermost loop of the tree.
    fn shares_loop_of_tree(&self, other: &Alike<'_>) -> bool {
        let outermost = |alike: &Alike<'_>| alike.members[0].access.0.loops.first().copied();
        let of = outermost(self);
        self.place() == other.place() || of.is_some() && of == outermost(other)
    }

    fn each_pair(
        &self,
        other: &Alike<'p>,
        ask: &mut dyn FnMut(&Access<'p>, &Access<'p>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.each_pair_in_one_loop(other, ask)?;
        self.each_pair_across_loops(other, ask)
    }

    /// Asks about statements inside one outermost loop of the program. There is one question for
    /// each two innermost loops and each order.
    fn each_pair_in_one_loop(
        &self,
        other: &Alike<'p>,
        ask: &mut dyn FnMut(&Access<'p>, &Access<'p>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let is_one_kind = std::ptr::eq(self, other);
        let fewer = if self.by_loop.len() <= other.by_loop.len() { self } else { other };
        let loops = fewer.by_loop.chunk_by(|a, b| a.0 == b.0).map(|members| members[0].0);
        let both = loops.map(|of| (self.in_loop(of), other.in_loop(of)));
        let mut both: Vec<_> = both.filter(|(own, others)| !own.is_empty() && !others.is_empty()).collect();
        both.sort_unstable_by_key(|(members, others)| (members[0].1, others[0].1));
        for (members, others) in both {
            let is_only = members.len() == 1 && others.len() == 1;
            let mut asked = HashSet::new();
            for (i, (_, x)) in members.iter().enumerate() {
                for (_, y) in if is_one_kind { &others[i..] } else { others } {
                    let (a, b) = (&self.members[*x], &other.members[*y]);
                    let is_one = is_one_kind && x == y;
                    if is_only
                        || asked.insert((
                            a.innermost,
                            b.innermost,
                            a.spot.statement_order(b.spot),
                            a.places(b),
                            is_one,
                        ))
                    {
                        ask(&a.access, &b.access)?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Asks about statements in different outermost loops of the program. There is at most one
    /// question for each order.
    fn each_pair_across_loops(
        &self,
        other: &Alike<'p>,
        ask: &mut dyn FnMut(&Access<'p>, &Access<'p>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        // Without a common loop, unchanged places in the text mean an unchanged order.
        let may_keep = !shared(self.members[0].access.0, other.members[0].access.0).is_empty();
        let is_one_kind = std::ptr::eq(self, other);
        let is_swapped = self.members.len() > other.members.len();
        let (fewer, more) = if is_swapped { (other, self) } else { (self, other) };
        let mut asked = [false; 4];
        for own in &fewer.members {
            let place = own.access.1;
            let start = more.members.partition_point(|other| other.access.1 < place);
            let end =
                start + more.members[start..].iter().take_while(|other| other.access.1 == place).count();
            let [least, greatest] = more.before(start).apart_from(own.spot);
            let [least_behind, greatest_behind] = match is_one_kind {
                true => [None, None],
                false => more.behind(end).apart_from(own.spot),
            };
            let found = [
                least.filter(|other| may_keep && other.statement_order(own.spot).is_lt()),
                greatest.filter(|other| other.statement_order(own.spot).is_gt()),
                greatest_behind.filter(|other| may_keep && other.statement_order(own.spot).is_gt()),
                least_behind.filter(|other| other.statement_order(own.spot).is_lt()),
            ];
            for (other, asked) in found.into_iter().zip(&mut asked) {
                let Some(other) = other.map(|at| &more.members[at.index]).filter(|_| !*asked) else {
                    continue;
                };
                *asked = true;
                let (x, y) = if is_swapped { (other, own) } else { (own, other) };
                ask(&x.access, &y.access)?;
            }
        }
        ControlFlow::Continue(())
    }
}

impl Member<'_> {
    /// Returns the textual order of two leaves in the tree.
    fn places(&self, other: &Member<'_>) -> Ordering {
        self.access.1.cmp(&other.access.1)
    }
}

impl Spot {
    /// Returns the textual order of two statements in the program.
    fn statement_order(self, other: Spot) -> Ordering {
        self.statement.cmp(&other.statement)
    }

    fn shares_loop(self, other: Spot) -> bool {
        self.outermost.is_some() && self.outermost == other.outermost
    }
}

/// The members with the least and the greatest statement, and alternatives in other loops.
#[derive(Clone, Copy, Default)]
struct Extremes {
    least: [Option<Spot>; 2],
    greatest: [Option<Spot>; 2],
}

impl Extremes {
    fn of(spots: &[Spot]) -> Extremes {
        let mut extremes = Extremes::default();
        spots.iter().for_each(|spot| extremes.add(*spot));
        extremes
    }

    fn add(&mut self, spot: Spot) {
        insert(&mut self.least, spot, Ordering::Less);
        insert(&mut self.greatest, spot, Ordering::Greater);
    }

    /// Returns the members with the least and the greatest statement that share no loop with this
    /// one.
    fn apart_from(&self, spot: Spot) -> [Option<Spot>; 2] {
        [&self.least, &self.greatest]
            .map(|best| best.iter().flatten().copied().find(|own| !own.shares_loop(spot)))
    }
}

/// Keeps the two best members that share no loop, the better one first.
fn insert(best: &mut [Option<Spot>; 2], spot: Spot, better: Ordering) {
    let beats = |own: Option<Spot>| own.is_none_or(|own| spot.statement_order(own) == better);
    let [first, second] = *best;
    if beats(first) {
        *best = match first {
            Some(first) if !first.shares_loop(spot) => [Some(spot), Some(first)],
            _ => [Some(spot), second],
        };
    } else if first.is_some_and(|first| !first.shares_loop(spot)) && beats(second) {
        best[1] = Some(spot);
    }
}
