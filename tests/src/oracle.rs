//! The dependences of a run: the definition of legality, read off a trace.
//!
//! Fusing two loops of one block with the second shifted by *d* is legal unless it reverses a
//! dependence. It reverses one if the first loop touches an element in iteration *p*, and the
//! second touches it in an iteration before *p - d*, one of them writing. A trace knows every
//! element touched, so for one run the decision needs no theory, and every analysis must agree with
//! it.
//!
//! Cost: linear in the trace for each pair of loops.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::{Access, LoopId, Step};

/// An element in one iteration of the loops around: these iterations, the object, the element.
type Place = (Vec<(LoopId, u64)>, usize, i64);

/// Fused loops, as seen from a trace of the original program. Each loop has a representative of its
/// group and the shift of its iterations.
///
/// If the loops of a group run different iterations, or at different times, only some iterations
/// are merged. A trace does not show which, so the inside of such loops is not judged.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    members: BTreeMap<LoopId, (LoopId, u64)>,
    /// Representatives that do not share all iterations with their group.
    cut: BTreeSet<LoopId>,
    /// Loops that run backwards. The order of their iterations is not judged.
    backwards: BTreeSet<LoopId>,
    /// Loops that were reshaped, and loops fused with a part of them. A trace does not show the
    /// order of their iterations.
    reshaped: BTreeSet<LoopId>,
}

impl Groups {
    /// Every loop for itself.
    pub fn new() -> Groups {
        Groups::default()
    }

    /// Returns the representative of the group of `id`.
    pub fn of(&self, id: LoopId) -> LoopId {
        self.members.get(&id).map_or(id, |(group, _)| *group)
    }

    /// Returns the time of an iteration of a loop.
    fn time(&self, step: &Step) -> u64 {
        step.iteration + self.members.get(&step.id).map_or(0, |(_, shift)| *shift)
    }

    /// Joins two groups, the second `shift` later. With `whole`, they share all iterations.
    pub fn join(&mut self, a: LoopId, b: LoopId, shift: u64, whole: bool) {
        let (a, b) = (self.of(a), self.of(b));
        if !whole || self.cut.contains(&b) {
            self.cut.insert(a);
        }
        self.members.entry(b).or_insert((b, 0));
        for (group, own) in self.members.values_mut() {
            if *group == b {
                (*group, *own) = (a, *own + shift);
            }
        }
    }

    /// Joins two groups. The second one is a single loop, which runs backwards.
    pub fn join_reversed(&mut self, a: LoopId, b: LoopId) {
        self.backwards.insert(b);
        self.join(a, b, 0, true);
    }

    /// True if a loop was fused with a reversed loop.
    pub fn has_backwards(&self, id: LoopId) -> bool {
        self.backwards.iter().any(|own| self.of(*own) == self.of(id))
    }

    /// Excludes these loops and their groups from judgement.
    pub fn reshape(&mut self, loops: impl IntoIterator<Item = LoopId>) {
        let groups: BTreeSet<LoopId> = loops.into_iter().map(|id| self.of(id)).collect();
        let members = self.members.keys().copied().filter(|id| groups.contains(&self.of(*id)));
        let all: Vec<LoopId> = members.chain(groups.iter().copied()).collect();
        self.reshaped.extend(all);
    }

    /// True if a loop was reshaped, or fused with a reshaped loop.
    pub fn is_reshaped(&self, id: LoopId) -> bool {
        self.reshaped.contains(&id)
    }

    /// True if an access is not judged, because the position of its iterations is unknown.
    fn is_open(&self, around: &[Step]) -> bool {
        let is_open = |id| self.cut.contains(&self.of(id)) || self.has_backwards(id) || self.is_reshaped(id);
        around.iter().any(|step| is_open(step.id))
    }

    /// True if a trace has accesses in the group of a loop inside a loop that is not judged.
    pub fn is_inside_cut(&self, trace: &[Access], id: LoopId) -> bool {
        let group = self.of(id);
        trace.iter().any(|access| {
            let depth = access.path.iter().position(|step| self.of(step.id) == group);
            depth.is_some_and(|depth| self.is_open(&access.path[..depth]))
        })
    }

    /// Returns the surrounding loops of an access and the times of their iterations, down to
    /// `depth`. Two accesses run in the same iteration if they are equal.
    fn prefix(&self, path: &[Step], depth: usize) -> Vec<(LoopId, u64)> {
        path[..depth].iter().map(|step| (self.of(step.id), self.time(step))).collect()
    }

    /// Returns two flags about the code beside two loops, within one iteration of the surrounding
    /// loops. The first is true if this code conflicts with the first loop or with itself. The
    /// second is true if it conflicts with the second loop. A conflict is an element in common that
    /// one of them writes.
    pub fn in_the_way(&self, trace: &[Access], first: LoopId, second: LoopId) -> [bool; 2] {
        let (a, b) = (self.of(first), self.of(second));
        let depth = trace.iter().find_map(|access| access.path.iter().position(|step| self.of(step.id) == a));
        let Some(depth) = depth else { return [false; 2] };
        let mut places: BTreeMap<Place, [Vec<&Access>; 3]> = BTreeMap::new();
        for access in trace.iter().filter(|access| access.path.len() >= depth) {
            let key = (self.prefix(&access.path, depth), access.object, access.element);
            let own = access.path.get(depth).map(|step| self.of(step.id));
            let role = [Some(a), Some(b)].iter().position(|group| *group == own).unwrap_or(2);
            places.entry(key).or_default()[role].push(access);
        }
        // The load and the store of an update outside the loops may move to different sides.
        let in_loop = |access: &Access| access.path.len() > depth;
        let is_torn = |x: &Access, y: &Access| (x.writes || y.writes) && !(in_loop(x) && in_loop(y));
        let meet = |some: &[&Access], others: &[&Access]| {
            let are_apart = |x: &Access, y: &Access| std::ptr::eq(x, y) || !(conflict(x, y) || is_torn(x, y));
            some.iter().any(|x| others.iter().any(|y| !are_apart(x, y)))
        };
        let all = || places.values();
        [
            all().any(|[first, _, others]| meet(first, others) || meet(others, others)),
            all().any(|[_, second, others]| meet(second, others)),
        ]
    }

    /// Returns two times at which the loops touch one element, one of them writing. The first is a
    /// time of `first`, the second is a smaller one of `second`. Fusion with this shift would
    /// reverse this dependence. `None` if the trace has no such pair.
    pub fn turned_around(
        &self,
        trace: &[Access],
        first: LoopId,
        second: LoopId,
        shift: u64,
    ) -> Option<(u64, u64)> {
        let (a, b) = (self.of(first), self.of(second));
        // For each element in each surrounding iteration: the last iteration of the first loop with
        // each kind of access.
        let mut last: BTreeMap<Place, Vec<(&Access, u64)>> = BTreeMap::new();
        let is_alike = |x: &Access, y: &Access| (x.writes, x.update) == (y.writes, y.update);
        let place = |access: &Access, group: LoopId| {
            let depth = access.path.iter().position(|step| self.of(step.id) == group)?;
            let own = access.path[depth].id;
            if self.is_open(&access.path[..depth]) || self.backwards.contains(&own) || self.is_reshaped(own) {
                return None;
            }
            let key = (self.prefix(&access.path, depth), access.object, access.element);
            Some((key, self.time(&access.path[depth])))
        };
        for access in trace {
            if let Some((key, iteration)) = place(access, a) {
                let ways = last.entry(key).or_default();
                match ways.iter_mut().find(|(other, _)| is_alike(other, access)) {
                    Some((_, latest)) => *latest = (*latest).max(iteration),
                    None => ways.push((access, iteration)),
                }
            }
        }
        trace.iter().find_map(|access| {
            let (key, time) = place(access, b)?;
            let time = time + shift;
            let ways = last.get(&key).into_iter().flatten();
            let latest =
                ways.filter(|(other, _)| conflict(other, access)).map(|(_, latest)| *latest).max()?;
            (latest > time).then_some((latest, time))
        })
    }
}

/// True if two accesses of one element have an order. Updates by one operation have none.
fn conflict(x: &Access, y: &Access) -> bool {
    (x.writes || y.writes) && (x.update.is_none() || x.update != y.update)
}
