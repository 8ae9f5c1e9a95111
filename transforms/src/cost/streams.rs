//! The memory that a loop traverses, as streams of cache lines.
//!
//! Accesses to one object whose subscripts differ by constants traverse it at one pace. They form
//! one stream, in which each has a *place*: the iterations by which it is ahead. For example `a[i]`
//! and `a[i + 1]` touch the same lines, the latter an iteration earlier.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use loomir_ir::Value;
use smallvec::SmallVec;

use super::hull::{self, Hull};
use crate::access::base::Base;
use crate::affine::{AffineForm, Atom};
use crate::lookup::{Absent, Lookup};

mod crowds;
mod paces;

use crowds::Crowds;
use paces::Paces;

/// The common properties of the accesses of one stream.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Key {
    pub base: Base,
    pub origin: Option<Value>,
    /// The subscripts without the places; `None` for a subscript that is not affine.
    pub dims: Vec<Option<AffineForm>>,
}

/// The place of an access in its stream: the offset within an iteration in elements of the last
/// dimension, and the iterations by which it is ahead.
pub(super) type Place = (i64, i64);

/// The most iterations for which LLVM keeps an element in a register, in the loops that it can make
/// vectors of then.
pub(super) const FORWARDED: i64 = 2;

/// The most iterations for which a stored element is waited for: later ones are long done.
const NEAR: i64 = 16;

/// The most elements of an iteration among which LLVM looks for such an element. Its searches end
/// after some 100 operations.
const FORWARDING: usize = 64;

/// The use of the element at one place in each iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Use {
    /// True if it is read, and was not written before in the same iteration.
    pub reads: bool,
    pub writes: bool,
    /// True if it is first read behind a store to an element that a later iteration reads here.
    pub follows: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub key: Key,
    pub places: BTreeMap<Place, Use>,
    /// The lines touched by the whole loop, the lines touched by one iteration, and the lines that
    /// iterations touch again after an earlier one.
    pub lines: f64,
    pub at_once: f64,
    pub again: f64,
    /// The pages that the whole loop touches, and those that one iteration does.
    pub pages: f64,
    pub pages_at_once: f64,
    /// Of the lines touched by the whole loop, those that are written back.
    pub back: f64,
    pub writes: bool,
    /// True if the accessed place depends on the iteration.
    pub moves: bool,
    /// True if neighbouring iterations of the innermost loop are in different pages, so that lines
    /// are not fetched ahead.
    pub leaps: bool,
    /// The lines of an iteration, if they are apart.
    pub comb: Option<Comb>,
    /// Bytes from the place of level 0 to that of the stream, and those of an iteration.
    pub start: i64,
    pub step: i64,
    /// The number of elements of the last dimension that an access is wide.
    pub width: i64,
    /// The bytes of an access.
    pub bytes: f64,
    /// True if all accesses belong to updates whose order does not matter.
    pub sums: bool,
    /// The accesses that are thought to be of what is in a register.
    pub kept: Kept,
    /// The elements around those of the stream, in a loop around others.
    pub hull: Option<Hull>,
    /// The lines that an iteration touches of this stream and those that overlap it.
    pub beside: f64,
    /// The number of its pace among those of its object.
    pub pace: usize,
}

/// Loads and stores of what is in a register, and the number of them that are
/// [repeated](super::Work).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kept {
    pub loads: f64,
    pub stores: f64,
    pub repeated: f64,
}

/// Neighbouring elements that an iteration computes in the same way: LLVM computes them at once.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Pack {
    /// The number of elements that are computed at once, on average.
    pub lanes: f64,
    /// The number of elements that an iteration loads one by one, for all lanes.
    pub singles: f64,
}

/// Lines, or runs of lines, at equal distances: an iteration that goes along a column.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Comb {
    /// Bytes from one run to the next.
    distance: u64,
    /// Bytes of a run.
    run: u64,
}

impl Comb {
    /// Returns the comb of strides in bytes and trip counts of the loops of an iteration.
    pub(super) fn of(strides: impl Iterator<Item = (u64, f64)>, (bytes, line): (u64, u64)) -> Option<Comb> {
        let (mut distance, mut run) = (None, bytes);
        for (stride, trips) in strides.filter(|(_, trips)| *trips > 1.0) {
            match stride >= line {
                true => distance = distance.into_iter().chain([stride]).min(),
                false => run = run.saturating_add((stride as f64 * (trips - 1.0)) as u64),
            }
        }
        Some(Comb { distance: distance?, run: run.max(line) })
    }

    /// Returns the comb of several that lie between each other.
    pub(super) fn of_all(all: impl Iterator<Item = Comb>) -> Option<Comb> {
        let all: SmallVec<[Comb; 4]> = all.collect();
        let first = *all.iter().min_by_key(|own| own.distance)?;
        let beside = all.iter().filter(|own| own.distance == first.distance).count() as u64;
        let is_even = first.distance.is_multiple_of(beside) && first.distance / beside >= first.run;
        Some(Comb { distance: if is_even { first.distance / beside } else { first.distance }, ..first })
    }

    /// Returns how many times more a cache needs for such lines than for neighbours. Lines at a
    /// distance that divides the bytes of a way are in a part of the sets.
    fn spread(self, way: u64) -> f64 {
        let apart = way >> (way.trailing_zeros() - way.trailing_zeros().min(self.distance.trailing_zeros()));
        (apart as f64 / self.run as f64).max(1.0)
    }
}

/// The streams by their keys, and sums over them.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams {
    pub all: Vec<Stream>,
    index: Lookup,
    by_base: HashMap<Base, SmallVec<[usize; 2]>>,
    paces: Paces,
    pub lines: f64,
    /// Lines that are fetched or written back.
    pub moved: f64,
    /// The same, if they are far away: lines that are not fetched ahead count several times.
    pub moved_far: f64,
    /// The elements that one iteration accesses, and that change from one to the next.
    pub moving: f64,
    pub at_once: f64,
    pub again: f64,
    /// The pages that the whole loop touches, and those that one iteration does.
    pub pages: f64,
    pub pages_at_once: f64,
}

impl Stream {
    /// Lines that are fetched or written back.
    pub(super) fn moved(&self) -> f64 {
        self.lines + self.back
    }

    /// The same for lines from far away, where waiting for a line takes longer than fetching it.
    /// `ahead` is the part of the lines that is fetched ahead, if neighbouring iterations access
    /// neighbouring lines. Neighbouring lines that are not are waited for together.
    pub(super) fn moved_far(&self, line: f64, ahead: f64) -> f64 {
        let late = if self.leaps { 1.0 } else { 1.0 - ahead };
        self.moved() * (1.0 + late * WAITING / self.together(line))
    }

    /// Returns the lines that one iteration accesses beside each other.
    fn together(&self, line: f64) -> f64 {
        (self.places.len() as f64 * self.bytes / line).max(1.0)
    }

    /// Returns the iterations by which the first and the last access are ahead.
    fn reach(&self) -> [i64; 2] {
        let ahead = || self.places.keys().map(|(_, ahead)| *ahead);
        [ahead().min().unwrap_or(0), ahead().max().unwrap_or(0)]
    }

    /// Returns the number of parts whose accesses never meet in a loop with this trip count: rows
    /// of an object without known dimensions are as far ahead of each other as a row is long.
    pub(super) fn pieces(&self, trips: f64) -> f64 {
        let mut ahead: SmallVec<[i64; 8]> = self.places.keys().map(|(_, ahead)| *ahead).collect();
        ahead.sort_unstable();
        let is_far = |pair: &&[i64]| pair[1].saturating_sub(pair[0]) as f64 >= trips;
        1.0 + ahead.windows(2).filter(is_far).count() as f64
    }

    /// Returns the number of iterations between an access of this stream and the nearest access of
    /// another stream at the same pace.
    pub(super) fn nearest(&self, other: &Stream, shift: i64) -> i64 {
        let gap = |(place, at): &Place| {
            let at = at.saturating_sub(if other.moves { shift } else { 0 });
            let behind = self.places.range((*place, at)..).next();
            let before = self.places.range(..(*place, at)).next_back();
            let near = [behind, before].into_iter().flatten().filter(|((own, _), _)| own == place);
            near.map(|((_, own), _)| own.saturating_sub(at).saturating_abs()).min()
        };
        other.places.keys().filter_map(gap).min().unwrap_or(0)
    }
}

impl Streams {
    pub(super) fn get(&self, key: &Key) -> Option<&Stream> {
        self.find(key).ok().map(|at| &self.all[at as usize])
    }

    /// Returns the streams through one object.
    pub(super) fn of_base(&self, base: Base) -> impl Iterator<Item = &Stream> {
        self.by_base.get(&base).into_iter().flatten().map(|at| &self.all[*at])
    }

    /// Adds an access after the existing ones. Returns the number of its stream, and true if its
    /// value is in a register: a load of what was loaded or stored, or a store of what was stored.
    pub(super) fn touch(
        &mut self,
        key: Key,
        place: Place,
        writes: bool,
        make: impl FnOnce(Key) -> Stream,
    ) -> (usize, bool) {
        let at = match self.find(&key) {
            Ok(at) => at as usize,
            Err(absent) => self.insert(make(key), absent),
        };
        if writes && !self.all[at].writes {
            self.write(at);
        }
        let stream = &mut self.all[at];
        let follows = !writes && stream.writes && stream.writes_ahead(place.0, place.1, (1, FORWARDED));
        let used = stream.places.entry(place).or_default();
        let is_known = used.writes || used.reads && !writes;
        used.follows |= follows && !used.reads;
        used.reads |= !writes && !used.writes;
        used.writes |= writes;
        (at, is_known)
    }

    /// Adds the streams of another loop, which runs `shift` iterations later.
    pub(super) fn merge(&mut self, other: &Streams, shift: i64) {
        for stream in &other.all {
            let later = if stream.moves { shift } else { 0 };
            let at = match self.find(&stream.key) {
                Ok(at) => at as usize,
                Err(absent) => {
                    let (places, none) = (BTreeMap::new(), 0.0);
                    let (lines, at_once, again, back) = (none, none, none, none);
                    self.insert(Stream { places, lines, at_once, again, back, ..stream.clone() }, absent)
                }
            };
            let own = &self.all[at];
            let before = (own.lines, own.moved(), own.at_once, own.again);
            if stream.writes {
                self.write(at);
            }
            let own = &mut self.all[at];
            own.lines = own.lines.max(stream.lines);
            own.back = own.back.max(stream.back);
            own.at_once = own.at_once.max(stream.at_once);
            own.again = own.again.max(stream.again);
            self.lines += own.lines - before.0;
            self.moved += own.moved() - before.1;
            self.at_once += own.at_once - before.2;
            self.again += own.again - before.3;
            for ((place, at), used) in &stream.places {
                let own = own.places.entry((*place, at.saturating_sub(later))).or_default();
                own.reads |= used.reads && !own.writes;
                own.writes |= used.writes;
            }
        }
    }

    /// Returns the lines that iterations touch again after other lines took their places in a
    /// cache, though there is room elsewhere. Each way of the cache has so many bytes, a power of
    /// two. `part` of the lines are lost anyway.
    pub(super) fn lost(&self, (cache, way): (u64, u64), line: f64, part: f64) -> f64 {
        let crowds = Crowds::of(&self.all, (way, (cache / way.max(1)) as usize), line as u64);
        let lost = |own: &Stream| {
            let spread = own.comb.map_or(1.0, |comb| comb.spread(way));
            let needed = own.at_once.max(own.beside) * spread * line;
            let needed = (needed / (cache as f64).max(1.0)).max(crowds.around(own));
            let conflict = (needed - 1.0).clamp(0.0, 1.0);
            (conflict - part).max(0.0) * own.again
        };
        self.all.iter().map(lost).sum()
    }

    /// True if a place is written that does not depend on the iteration.
    pub(super) fn has_sums(&self) -> bool {
        self.all.iter().any(|stream| stream.writes && !stream.moves)
    }

    /// True if both traverse the same lines at the same pace.
    pub(super) fn share_moving(&self, other: &Streams) -> bool {
        other.all.iter().any(|stream| stream.moves && self.get(&stream.key).is_some())
    }

    fn find(&self, key: &Key) -> Result<u32, Absent> {
        self.index.find(&self.all, key, |stream| &stream.key)
    }

    fn insert(&mut self, mut stream: Stream, absent: Absent) -> usize {
        let at = self.all.len();
        self.by_base.entry(stream.key.base).or_default().push(at);
        stream.pace = self.paces.add(&self.all, &stream);
        self.all.push(stream);
        self.index.add(absent, &self.all, |stream| &stream.key);
        at
    }

    /// Notes that a stream is written.
    fn write(&mut self, at: usize) {
        let own = &mut self.all[at];
        own.writes = true;
        self.paces.write(own);
    }

    /// Ends the scan of a loop that runs `trips` iterations, `lanes` at once.
    pub(super) fn settle(&mut self, trips: f64, lanes: f64, line: f64) {
        for stream in &mut self.all {
            let pieces = stream.pieces(trips);
            let Stream { lines, at_once, pages, pages_at_once, .. } = stream;
            [lines, at_once, pages, pages_at_once].into_iter().for_each(|count| *count *= pieces);
            stream.back = if stream.writes { stream.lines } else { 0.0 };
            // Parts that never meet are no hull.
            let ahead = stream.reach();
            stream.hull = stream.hull.take().filter(|_| pieces == 1.0).map(|own| own.reaching(ahead));
        }
        self.count_overlap_once(line);
        for stream in &mut self.all {
            stream.again = (trips / lanes * stream.at_once - stream.lines).max(0.0);
        }
        self.sum(line);
    }

    /// Diminishes the lines, of `line` bytes, and the pages of streams that overlap. Linear.
    fn count_overlap_once(&mut self, line: f64) {
        let streams = &mut self.all;
        let mut groups: HashMap<(Base, Option<Value>, Vec<AffineForm>), Vec<usize>> = HashMap::new();
        for (at, stream) in streams.iter().enumerate() {
            if let Some(hull) = &stream.hull {
                groups.entry((stream.key.base, stream.key.origin, hull.around.clone())).or_default().push(at);
            }
        }
        let mut groups: Vec<Vec<usize>> = groups.into_values().filter(|own| own.len() > 1).collect();
        groups.sort_unstable();
        for group in groups {
            let sum = |of: &dyn Fn(&Stream) -> f64| group.iter().map(|at| of(&streams[*at])).sum::<f64>();
            let hulls: Vec<&Hull> = group.iter().filter_map(|at| streams[*at].hull.as_ref()).collect();
            let [once, whole] = [false, true].map(|whole| hull::lines(&hulls, whole, line));
            let part = |most: f64, sum: f64| if sum > most { most / sum } else { 1.0 };
            let beside = sum(&|own| own.at_once).min(once);
            let parts = [
                part(once, sum(&|own| own.at_once)),
                part(whole, sum(&|own| own.lines)),
                part(whole, sum(&|own| own.back)),
            ];
            // Few pages are known anyway.
            let pages = match sum(&|own| own.pages) > FEW_PAGES {
                true => [(false, sum(&|own| own.pages_at_once)), (true, sum(&|own| own.pages))]
                    .map(|(whole, sum)| part(hull::lines(&hulls, whole, PAGE), sum)),
                false => [1.0; 2],
            };
            let comb = Comb::of_all(group.iter().filter_map(|at| streams[*at].comb));
            for at in group {
                let own = &mut streams[at];
                own.at_once *= parts[0];
                own.lines *= parts[1];
                own.back *= parts[2];
                own.pages_at_once *= pages[0];
                own.pages *= pages[1];
                (own.beside, own.comb) = (beside, comb.filter(|_| own.comb.is_some()));
            }
        }
    }

    /// Makes the sums, with lines of `line` bytes.
    fn sum(&mut self, line: f64) {
        let sum = |of: &dyn Fn(&Stream) -> f64| self.all.iter().map(of).sum::<f64>();
        self.moved = sum(&Stream::moved);
        let tracks =
            sum(&|stream: &Stream| if stream.moves && !stream.leaps { stream.together(line) } else { 0.0 });
        let ahead = (TRACKS / tracks.max(1.0)).min(1.0);
        self.moved_far = self.all.iter().map(|own| own.moved_far(line, ahead)).sum();
        self.moving = sum(&|stream: &Stream| if stream.moves { stream.places.len() as f64 } else { 0.0 });
        self.lines = sum(&|stream: &Stream| stream.lines);
        self.at_once = sum(&|stream: &Stream| stream.at_once);
        self.again = sum(&|stream: &Stream| stream.again);
        self.pages = sum(&|stream: &Stream| stream.pages);
        self.pages_at_once = sum(&|stream: &Stream| stream.pages_at_once);
    }

    /// Adds lines to the sums that nothing else touches.
    pub(super) fn go_through(&mut self, lines: f64, writes: bool) {
        self.lines += lines;
        self.moved += if writes { 2.0 * lines } else { lines };
        self.at_once += 1.0;
    }

    /// True if an iteration reads an element written fewer than `lanes` iterations before, so that
    /// `lanes` iterations cannot run at once. With `forwards`, LLVM may keep elements in registers
    /// that were written one or two iterations before: if nothing in the iteration that writes them
    /// waits for the load, it makes vectors all the same.
    pub(super) fn carry(&self, lanes: f64, forwards: bool) -> bool {
        let forwards = forwards && self.num_forwarded() > 0;
        self.all.iter().any(|stream| {
            stream.writes && (!stream.moves && !stream.sums || stream.key.dims.iter().any(Option::is_none))
                || stream.reads().any(|((place, at), used)| {
                    let first = if forwards && used.follows { FORWARDED + 1 } else { 1 };
                    stream.writes_ahead(place, at, (first, lanes as i64 - 1))
                })
        })
    }

    /// Returns the number of elements that LLVM keeps in registers for later iterations.
    pub(super) fn num_forwarded(&self) -> usize {
        let places = || self.all.iter().map(|own| own.places.len());
        let of = |own: &Stream| own.reads().filter(|(_, used)| used.follows).count();
        if places().sum::<usize>() > FORWARDING { 0 } else { self.all.iter().map(of).sum() }
    }

    /// Returns how the elements of one iteration become vectors of up to `lanes` elements: each
    /// stream that is written is at runs of neighbours. Of the others, those at single places are
    /// the same for all lanes, if there are few of them. Loads of all lanes come before the stores,
    /// so none may be of what is stored.
    pub(super) fn pack(&self, lanes: f64) -> Option<Pack> {
        if self.may_meet() {
            return None;
        }
        let (mut least, mut written, mut singles) = (lanes, 0.0, 0.0);
        for stream in &self.all {
            match stream.shortest_run() {
                1 if stream.writes => return None,
                1 => singles += stream.places.len() as f64,
                run => least = least.min(at_once(run as f64, lanes)),
            }
            written += stream.places.values().filter(|used| used.writes).count() as f64;
        }
        let pack = Pack { lanes: least, singles };
        (pack.lanes > 1.0 && written > 0.0 && singles * least <= written).then_some(pack)
    }

    /// True if iterations of `later`, which are shifted by `shift`, read elements that these
    /// streams wrote from `least` to fewer than `lanes` iterations before. A load would read too
    /// early, or wait for a store. Unless the relation of numbers is `tested`, streams of another
    /// pace through an object are assumed to collide.
    pub(super) fn feed(&self, later: &Streams, shift: i64, (least, lanes): (i64, f64), tested: bool) -> bool {
        later.all.iter().any(|stream| {
            let own = self.get(&stream.key).filter(|own| own.writes);
            (!tested && self.meets(stream))
                || own.is_some_and(|own| {
                    let shift = if stream.moves { shift } else { 0 };
                    stream.reads().any(|((place, at), _)| {
                        let at = at.saturating_sub(shift);
                        // A value written in the same iteration is still in a register.
                        let is_fed = own.places.get(&(place, at)).is_some_and(|used| used.writes);
                        !is_fed && own.writes_ahead(place, at, (least, lanes as i64 - 1))
                    })
                })
        })
    }
}

impl Stream {
    /// Returns the least number of neighbours that an iteration accesses together: elements one
    /// after the other, and no more.
    fn shortest_run(&self) -> usize {
        let mut places: SmallVec<[Place; 16]> = self.places.keys().map(|(at, ahead)| (*ahead, *at)).collect();
        places.sort_unstable();
        let width = self.width.max(1);
        let runs = places.chunk_by(|a, b| a.0 == b.0 && a.1.checked_add(width) == Some(b.1));
        runs.map(<[Place]>::len).min().unwrap_or(1)
    }

    fn reads(&self) -> impl Iterator<Item = (Place, Use)> {
        self.places.iter().filter(|(_, used)| used.reads).map(|(place, used)| (*place, *used))
    }

    /// True if the stream writes the element at a place so many iterations before.
    fn writes_ahead(&self, place: i64, at: i64, (least, most): (i64, i64)) -> bool {
        let near = (place, at.saturating_add(least))..=(place, at.saturating_add(most));
        least <= most && self.places.range(near).any(|(_, used)| used.writes)
    }

    /// True if an iteration reads an element at a place that an earlier one wrote.
    pub(super) fn is_awaited(&self, (place, at): Place) -> bool {
        match self.moves {
            true => self.writes_ahead(place, at, (1, NEAR)),
            false => self.places.get(&(place, at)).is_some_and(|used| used.reads && used.writes),
        }
    }

    /// Returns the number of iterations until an element that is stored at a place is read again,
    /// if they are few.
    pub(super) fn until_read(&self, (place, at): Place) -> Option<i64> {
        if !self.moves {
            return self.is_awaited((place, at)).then_some(1);
        }
        let before = (place, at.saturating_sub(NEAR))..(place, at);
        let readers = self.places.range(before).rev().filter(|(_, used)| used.reads);
        readers.map(|((_, own), _)| at - own).next()
    }
}

/// Returns the number of neighbours that an operation computes at once, on average, if there are
/// `run` and vectors hold up to `lanes`. The number in a vector is a power of two, and the last one
/// may be partly empty.
fn at_once(run: f64, lanes: f64) -> f64 {
    let vector = 2f64.powf(run.min(lanes).log2().floor());
    run / (run / vector).ceil()
}

/// Returns the subscripts of a stream and the place of an access in it, for the iterations of the
/// loop at `level`. A line has `elements` elements.
pub(super) fn place(
    subscripts: &[Option<AffineForm>],
    level: u32,
    elements: i64,
) -> (Vec<Option<AffineForm>>, Place, bool) {
    let step = |form: &AffineForm| Some(form.coefficient_of_level(level)).filter(|step| *step != 0);
    let pivot = subscripts.iter().flatten().rev().find_map(|form| Some((form.constant_part(), step(form)?)));
    let ahead = pivot.map_or(0, |(constant, step)| constant.checked_div_euclid(step).unwrap_or(0));
    let mut rest = 0;
    let last = subscripts.len().saturating_sub(1);
    let dims = subscripts.iter().enumerate().map(|(i, form)| {
        let form = form.as_ref()?;
        let mut less = ahead.checked_mul(step(form).unwrap_or(0))?;
        if i == last {
            rest = form.constant_part().checked_sub(less)?;
            less = less.checked_add(rest.rem_euclid(elements.max(1)))?;
        }
        form.plus(&AffineForm::constant(1), less.checked_neg()?)
    });
    (dims.collect(), (rest, ahead), pivot.is_some())
}

/// Returns the number of lines that subscripts name in an object of this shape. `trips` returns the
/// trip count of each level. `None` for a dimension of unknown size.
pub(super) fn lines(
    subscripts: &[Option<AffineForm>],
    shape: &[Option<i64>],
    (bytes, line): (f64, f64),
    trips: &dyn Fn(u32) -> f64,
) -> f64 {
    let mut points = 1.0;
    let mut levels = Levels::new();
    // For all dimensions but the last: the named indices and their extent.
    let (mut rows, mut reach) = (1.0, 1.0);
    let (mut width, mut named, mut size) = (1.0, 1.0, 1.0);
    for (i, form) in subscripts.iter().enumerate() {
        (rows, reach) = (rows * named, reach * width);
        size = shape.get(i).copied().flatten().map_or(f64::INFINITY, |size| size.max(1) as f64);
        let Some(form) = form else {
            // Anywhere in it.
            points = f64::INFINITY;
            (width, named) = (size.min(UNKNOWN_SIZE), size.min(UNKNOWN_SIZE));
            continue;
        };
        let mut own = Levels::new();
        levels_of(form, &mut own);
        let values: f64 = own.iter().map(|level| trips(*level)).product();
        levels.append(&mut own);
        width = extent(form, trips).min(size);
        named = values.min(width);
    }
    levels.sort_unstable();
    levels.dedup();
    points *= levels.iter().map(|level| trips(*level)).product::<f64>();
    let in_row = match subscripts.last() {
        Some(Some(form)) => lines_of_row(form, size * bytes, (bytes, line), trips).min(named),
        _ => (width * bytes / line).ceil().min(named),
    };
    let all = (reach * size * bytes / line).ceil();
    (rows * in_row).min(all).min(points).max(1.0)
}

/// Returns the number of lines that a subscript names in a row of `most` bytes. Strides of several
/// loops leave gaps: the rows of an object without known dimensions, for one.
fn lines_of_row(form: &AffineForm, most: f64, (bytes, line): (f64, f64), trips: &dyn Fn(u32) -> f64) -> f64 {
    let of_term =
        |(atom, factor): &(Atom, i64)| (factor.unsigned_abs() as f64 * bytes, 1.0 + reach(atom, trips));
    let mut terms: SmallVec<[(f64, f64); 4]> = form.terms().iter().map(of_term).collect();
    terms.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let (mut span, mut pieces) = (bytes, 1.0);
    for (stride, count) in terms {
        match stride <= span.max(line) {
            true => span += stride * (count - 1.0),
            false => pieces *= count,
        }
    }
    pieces * (span.min(most) / line).ceil()
}

/// The number of places in memory from which a core fetches lines ahead.
const TRACKS: f64 = 32.0;

/// The lines that could be fetched ahead while a core waits for one from far away, less one.
const WAITING: f64 = 3.0;

/// Bytes of a page. Lines are fetched ahead within a page.
pub(super) const PAGE: f64 = 4096.0;

/// A number of pages that a core knows with all else that it knows.
const FEW_PAGES: f64 = 64.0;

/// The assumed size of a dimension with unknown size.
const UNKNOWN_SIZE: f64 = 1024.0;

/// Returns the extent of the values of a form. Quotients nest at most
/// [`MAX_NESTING`](crate::affine::MAX_NESTING) deep.
fn extent(form: &AffineForm, trips: &dyn Fn(u32) -> f64) -> f64 {
    let of_term = |(atom, factor): &(Atom, i64)| factor.unsigned_abs() as f64 * reach(atom, trips);
    1.0 + form.terms().iter().map(of_term).sum::<f64>()
}

/// Returns the greatest value of an atom, if the least is 0.
fn reach(atom: &Atom, trips: &dyn Fn(u32) -> f64) -> f64 {
    match atom {
        Atom::Level(level) => (trips(*level) - 1.0).max(0.0),
        Atom::Param(_) | Atom::Product(_) => 0.0,
        Atom::FloorDiv(inner, divisor) => (extent(inner, trips) - 1.0) / *divisor as f64,
    }
}

/// Levels of loops, usually few.
type Levels = SmallVec<[u32; 8]>;

/// Adds the levels of a form.
fn levels_of(form: &AffineForm, levels: &mut Levels) {
    for (atom, _) in form.terms() {
        match atom {
            Atom::Level(level) => levels.push(*level),
            Atom::FloorDiv(inner, _) => levels_of(inner, levels),
            Atom::Param(_) | Atom::Product(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(constant: i64, terms: &[(u32, i64)]) -> Option<AffineForm> {
        let term =
            |sum: AffineForm, (level, factor): &(u32, i64)| sum.plus(&AffineForm::level(*level), *factor);
        terms.iter().try_fold(AffineForm::constant(constant), term)
    }

    #[test]
    fn subscripts_that_differ_by_numbers_are_one_stream() {
        let (here, at, moves) = place(&[form(0, &[(0, 1)])], 0, 16);
        let (ahead, one, _) = place(&[form(3, &[(0, 1)])], 0, 16);
        assert_eq!((here, at, moves), (ahead, (0, 0), true));
        assert_eq!(one, (0, 3));
        // The even elements, and the odd ones.
        let (odd, at, _) = place(&[form(3, &[(0, 2)])], 0, 16);
        assert_eq!((odd, at), (vec![form(0, &[(0, 2)])], (1, 1)));
        // Another row is another stream, if the loop traverses the row.
        let (row, ..) = place(&[form(1, &[]), form(0, &[(0, 1)])], 0, 16);
        let (other, ..) = place(&[form(2, &[]), form(0, &[(0, 1)])], 0, 16);
        assert_ne!(row, other);
        // It is an iteration ahead, if the loop traverses the column.
        let (row, at, _) = place(&[form(1, &[(0, 1)]), form(0, &[(1, 1)])], 0, 16);
        assert_eq!((row, at), (vec![form(0, &[(0, 1)]), form(0, &[(1, 1)])], (0, 1)));
    }

    #[test]
    fn the_last_vector_of_a_run_may_be_partly_empty() {
        let all = [4.0, 6.0, 8.0, 10.0, 24.0, 40.0].map(|run| at_once(run, 8.0));
        assert_eq!(all, [4.0, 3.0, 8.0, 5.0, 8.0, 8.0]);
    }

    #[test]
    fn lines_are_counted_by_stride_and_object() {
        let trips = |level: u32| if level == 0 { 100.0 } else { 64.0 };
        let count = |subscripts: &[Option<AffineForm>], shape: &[Option<i64>]| {
            lines(subscripts, shape, (4.0, 64.0), &trips)
        };
        assert_eq!(count(&[form(5, &[(1, 1)])], &[None]), 4.0, "16 elements a line");
        assert_eq!(count(&[form(0, &[(1, 32)])], &[None]), 64.0, "each its own");
        assert_eq!(count(&[form(0, &[(1, 2)])], &[None]), 8.0, "every second one");
        assert_eq!(count(&[form(7, &[])], &[None]), 1.0);
        assert_eq!(count(&[form(0, &[(0, 1)]), form(0, &[(1, 1)])], &[None, None]), 400.0);
        assert_eq!(count(&[form(0, &[(1, 1)]), form(0, &[(0, 1)])], &[None, None]), 448.0);
        assert_eq!(count(&[form(0, &[(0, 1)]), form(0, &[(0, 1)])], &[None, None]), 100.0, "a diagonal");
        assert_eq!(
            count(&[form(0, &[(0, 1)]), form(0, &[])], &[Some(100), Some(2)]),
            13.0,
            "eight rows a line"
        );
        assert_eq!(count(&[form(0, &[(0, 1), (1, 1)])], &[Some(8)]), 1.0, "there are no more elements");
    }
}
