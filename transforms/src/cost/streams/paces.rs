//! Streams that go through one object at different paces.
//!
//! ```text
//!     for i { for k in i + 1..n { for j { b[i][j] += a[k][i] * b[k][j] } } }
//! ```
//!
//! Streams whose subscripts differ by numbers never meet, or after a known number of iterations:
//! they have one *pace*. Two rows of `b` have two, and may be the same row. LLVM tests that they
//! are apart, if there are few tests, and makes vectors then. A test is about all iterations of an
//! innermost loop and of the loop around it, in front of which it stands
//! (`-hoist-runtime-checks`). What a test finds is estimated at samples of the loops around.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::super::trips::{Around, Counts};
use super::{Kept, Stream, Streams};
use crate::access::base::Base;
use crate::affine::AffineForm;

/// The most pairs of paces that LLVM tests before a loop.
const MAX_TESTS: usize = 8;

/// The part of the iterations around in which two paces have to be apart.
const MOSTLY: f64 = 0.5;

/// The streams through one object whose subscripts differ by numbers.
#[derive(Clone, Copy, Debug)]
struct Pace {
    /// The first of them.
    first: usize,
    /// True if one of them is written.
    writes: bool,
    /// True if what they load may be written at another pace.
    is_overwritten: bool,
}

/// The paces at which streams go through each object.
#[derive(Clone, Debug, Default)]
pub(super) struct Paces {
    of: HashMap<Base, SmallVec<[Pace; 2]>>,
    /// True if two of them may meet in the loop, as far as tests before it tell.
    meet: bool,
    /// The number of these tests.
    tests: usize,
}

/// The constants of the subscripts of a pace: the least and the greatest of each dimension.
type Constants = SmallVec<[[i64; 2]; 2]>;

impl Paces {
    /// Adds a stream after the existing ones. Returns the number of its pace.
    pub(super) fn add(&mut self, all: &[Stream], stream: &Stream) -> usize {
        let paces = self.of.entry(stream.key.base).or_default();
        let known = paces.iter().position(|pace| all[pace.first].is_parallel_to(stream));
        match known {
            Some(pace) => paces[pace].writes |= stream.writes,
            None => paces.push(Pace { first: all.len(), writes: stream.writes, is_overwritten: false }),
        }
        known.unwrap_or(paces.len() - 1)
    }

    /// Notes that a stream is written.
    pub(super) fn write(&mut self, stream: &Stream) {
        if let Some(paces) = self.of.get_mut(&stream.key.base) {
            paces[stream.pace].writes = true;
        }
    }

    /// Returns pairs of paces through one object of which one writes.
    fn tested(&self) -> impl Iterator<Item = (Base, [usize; 2])> {
        self.of.iter().flat_map(|(base, paces)| {
            let pairs = (0..paces.len()).flat_map(|a| (0..a).map(move |b| [b, a]));
            let writes = |pair: &[usize; 2]| pair.iter().any(|own| paces[*own].writes);
            pairs.filter(writes).map(|pair| (*base, pair))
        })
    }

    /// Notes that two paces through an object meet.
    fn collide_at(&mut self, base: Base, [a, b]: [usize; 2]) {
        self.meet = true;
        let Some(paces) = self.of.get_mut(&base) else { return };
        paces[a].is_overwritten |= paces[b].writes;
        paces[b].is_overwritten |= paces[a].writes;
    }

    /// Notes that all paces meet the others through the same object.
    fn collide(&mut self) {
        self.meet = true;
        for paces in self.of.values_mut() {
            let written = paces.iter().filter(|own| own.writes).count();
            paces.iter_mut().for_each(|own| own.is_overwritten = written > usize::from(own.writes));
        }
    }
}

impl Streams {
    /// True if one of these streams traverses the object of `other` at another pace, and one of
    /// them writes.
    pub(super) fn meets(&self, other: &Stream) -> bool {
        let is_other = |pace: &&Pace| {
            let first = &self.all[pace.first];
            first.key != other.key && !first.is_parallel_to(other)
        };
        let paces = self.paces.of.get(&other.key.base).into_iter().flatten();
        paces.filter(is_other).any(|pace| pace.writes || other.writes)
    }

    /// True if streams of one object may meet, and one of them writes.
    pub(super) fn may_meet(&self) -> bool {
        self.paces.of.values().any(|own| own.len() > 1 && own.iter().any(|pace| pace.writes))
    }

    /// True if streams of one object meet though LLVM [tests](Self::test) that before the loop.
    pub(in super::super) fn meet(&self) -> bool {
        self.paces.meet
    }

    /// The number of tests.
    pub(in super::super) fn num_tests(&self) -> usize {
        self.paces.tests
    }

    /// Tests the paces of an innermost loop with such counts, inside of these levels. Linear in the
    /// streams.
    pub(in super::super) fn test(&mut self, around: &Around, counts: &Counts) {
        let pairs: SmallVec<[(Base, [usize; 2]); MAX_TESTS]> =
            self.paces.tested().take(MAX_TESTS + 1).collect();
        if pairs.len() > MAX_TESTS {
            self.paces.collide();
            return;
        }
        self.paces.tests = pairs.len();
        for (base, pair) in pairs {
            if !self.are_apart(base, pair, (around, counts)) {
                self.paces.collide_at(base, pair);
            }
        }
    }

    /// True if two paces go through different elements, mostly.
    fn are_apart(&self, base: Base, [a, b]: [usize; 2], (around, counts): (&Around, &Counts)) -> bool {
        let level = around.depth();
        let of = |pace: usize| {
            let first = &self.all[self.paces.of[&base][pace].first];
            Some((first, self.constants(base, pace, level)?))
        };
        let (Some((first, low_high)), Some((second, others))) = (of(a), of(b)) else { return false };
        if first.key.dims.len() != second.key.dims.len() || first.key.origin != second.key.origin {
            return false;
        }
        let range = |form: &Option<AffineForm>, constants: [i64; 2], at: usize| {
            let form = form.as_ref()?.without_constant();
            let [least, greatest] = around.range(&form, counts, at)?;
            Some([least.checked_add(constants[0])?, greatest.checked_add(constants[1])?])
        };
        let is_apart = |at: usize| {
            let dims = first.key.dims.iter().zip(&low_high).zip(second.key.dims.iter().zip(&others));
            dims.into_iter().any(|((x, of_x), (y, of_y))| {
                let ranges = range(x, *of_x, at).zip(range(y, *of_y, at));
                ranges.is_some_and(|(x, y)| x[1] < y[0] || y[1] < x[0])
            })
        };
        around.share(counts, &is_apart) > MOSTLY
    }

    /// Returns the constants of the subscripts of a pace in the loop at `level`, with the
    /// iterations by which accesses are ahead. `None` if a subscript has no form. Linear in the
    /// streams of the object.
    fn constants(&self, base: Base, pace: usize, level: u32) -> Option<Constants> {
        let mut all = Constants::new();
        for stream in self.of_base(base).filter(|own| own.pace == pace) {
            let ahead = stream.reach();
            let last = stream.key.dims.len().saturating_sub(1);
            for (dim, form) in stream.key.dims.iter().enumerate() {
                let form = form.as_ref()?;
                let step = form.coefficient_of_level(level);
                let own = ahead.map(|ahead| step.saturating_mul(ahead));
                let mut own = [own[0].min(own[1]), own[0].max(own[1])];
                let constant = form.constant_part();
                let constants = if dim == last { stream.rests() } else { [constant; 2] };
                let width = if dim == last { stream.width.max(1) - 1 } else { 0 };
                own = [
                    own[0].saturating_add(constants[0]),
                    own[1].saturating_add(constants[1]).saturating_add(width),
                ];
                match all.get_mut(dim) {
                    Some(all) => *all = [all[0].min(own[0]), all[1].max(own[1])],
                    None => all.push(own),
                }
            }
        }
        Some(all)
    }

    /// Returns what is in no register, since streams of another pace may write it.
    pub(in super::super) fn overwritten(&self) -> Kept {
        let is_written = |own: &&Stream| self.paces.of[&own.key.base][own.pace].is_overwritten;
        let all = self.all.iter().filter(is_written);
        all.map(|own| own.kept).fold(Kept::default(), |sum, own| Kept {
            loads: sum.loads + own.loads,
            stores: sum.stores + own.stores,
            repeated: sum.repeated + own.repeated,
        })
    }
}

impl Stream {
    /// True if two streams of one object never meet: their subscripts differ by numbers.
    fn is_parallel_to(&self, other: &Stream) -> bool {
        let pairs = || self.key.dims.iter().zip(&other.key.dims);
        let gap =
            |a: &Option<AffineForm>, b: &Option<AffineForm>| a.as_ref()?.minus(b.as_ref()?)?.as_constant();
        self.key.origin == other.key.origin
            && self.key.dims.len() == other.key.dims.len()
            && pairs().all(|(a, b)| gap(a, b).is_some())
    }

    /// Returns the least and the greatest constant of the last subscript, without the iterations by
    /// which accesses are ahead.
    fn rests(&self) -> [i64; 2] {
        let rests = || self.places.keys().map(|(rest, _)| *rest);
        [rests().min().unwrap_or(0), rests().max().unwrap_or(0)]
    }
}
