//! Decisions from the data flow of an array: loads of available values, dead stores, and the number
//! of elements that are live at a time.
//!
//! A load is replaced if its last writers always stored one value that dominates the load, such as
//! a constant, wherever the stores are. A store into a local array that is the last writer of no
//! load is removed. A store into a visible array is removed if it is not live-out either.
//!
//! **Storage.** The remaining array may be *folded*: a dimension in which only values within a
//! window of `m` are live together is subscripted modulo `m`. This is legal iff each load keeps its
//! last writer in the folded array: no store to another element that folds onto the same one may
//! come between (Lefebvre and Feautrier 1998). Dimensions are folded in turn. The window is the
//! greatest distance between an element waiting to be read and an element written meanwhile, plus
//! one: an integer maximum over the flow relation. A window of one removes the dimension. The
//! relation need only be complete, so conditional stores are no obstacle.
//!
//! **Cost.** For each array, for each pair of a load and a store and each dimension one maximum, at
//! most [`MAX_PAIRS`].

use std::ops::Range;

use hashbrown::HashSet;
use loomir_dialects::interfaces::{MemoryEffects, ViewLike};
use loomir_dialects::{affine, memref};
use loomir_ir::graph::Dominance;
use loomir_ir::{DYNAMIC, Op, Value};
use loomir_polyhedra::{Affine, Conjunction, Error, Int, Relation};

use super::{Fold, Folds, Forwarded, Missed, Plan, Storage, StorageJudge, Unneeded, is_resizable, stored_by};
use crate::access::base::Base;
use crate::flow::timeline::{Access, AccessId};
use crate::flow::{Clock, MAX_WRITERS, Sources};

/// The maximal number of pairs of a load and a store of an array to fold.
const MAX_PAIRS: usize = 128;
/// The maximal number of accesses of possibly overlapping objects for examining an object's stores.
const MAX_NEAR: usize = 24;
/// The maximal number of elements of a window in a dimension of unknown size.
const MAX_WINDOW: i64 = 256;

impl StorageJudge<'_> {
    /// Returns, for each load whose last writers all store the same available value, one of them.
    pub(crate) fn invariant(&self) -> Vec<Forwarded> {
        let mut dominance = Dominance::new();
        let loads = self.timeline.accesses().filter(|id| {
            let access = self.timeline.get(*id);
            !access.class.writes && access.element().is_some()
        });
        loads
            .filter_map(|load| Some(Forwarded { load, source: self.source_of(load, &mut dominance)? }))
            .collect()
    }

    /// Returns one of the last writers of a load, if they all store one value that is available at
    /// the load.
    fn source_of(&self, load: AccessId, dominance: &mut Dominance) -> Option<AccessId> {
        let access = self.timeline.get(load);
        let writers = self.flow.writers(load)?;
        let mut candidates = writers.iter().filter_map(|id| self.stored(*id));
        let mut available = |value: &Value| {
            self.body.value_type(*value) == self.body.value_type(self.body.result(access.op, 0))
                && dominance.value_dominates(self.body, *value, access.op)
        };
        if !candidates.any(|value| available(&value)) {
            return None;
        }
        let clock = self.flow.clock(writers.iter().copied().chain([load]));
        let mut found = None;
        let sources = self.flow.sources_if(load, &writers, &clock, &mut |writer| match found {
            Some((_, value)) => self.stored(writer) == Some(value),
            None => {
                found = self.stored(writer).filter(&mut available).map(|value| (writer, value));
                found.is_some()
            }
        })?;
        let (source, value) = found?;
        let sure = sources.exact && sources.covered;
        (sure && self.is_current(value, access, &sources, &clock)).then_some(source)
    }

    /// Returns the stores into visible objects that neither a read here nor code behind the block
    /// observes.
    pub(crate) fn unseen(&self) -> Vec<Unneeded> {
        let unseen = self.timeline.bases().flat_map(|base| self.unseen_of(base).unwrap_or_default());
        unseen.map(Unneeded).collect()
    }

    /// Returns such stores into one object; `None` if the computation would be too expensive.
    fn unseen_of(&self, base: Base) -> Option<Vec<AccessId>> {
        let end = self.timeline.end(base)?;
        let mut stores: Vec<AccessId> = self.timeline.of_base(base).take(MAX_NEAR + 1).collect();
        stores.retain(|id| self.stored(*id).is_some());
        if stores.len() < 2 || self.timeline.near(base, 0, u32::MAX).nth(MAX_NEAR).is_some() {
            return None;
        }
        // A store that is not overwritten is live-out, and most live stores are.
        let is_overwritten = |id: &AccessId| stores.iter().any(|later| self.flow.may_meet(*id, *later, 0));
        let mut unseen: Vec<AccessId> = stores.iter().copied().filter(is_overwritten).collect();
        let reads = self.timeline.near(base, 0, u32::MAX).filter(|id| self.timeline.get(*id).reads());
        for read in [end].into_iter().chain(reads) {
            if unseen.is_empty() {
                break;
            }
            let writers = self.flow.writers(read)?;
            let clock = self.flow.clock(writers.iter().copied().chain([read]));
            let all = self.flow.sources_if(read, &writers, &clock, &mut |seen| {
                unseen.retain(|store| *store != seen);
                !unseen.is_empty()
            });
            if !unseen.is_empty() {
                all?;
            }
        }
        Some(unseen)
    }

    /// True if the writers of a load run in the same iteration of the loops around `value` as the
    /// load.
    fn is_current(&self, value: Value, load: &Access, sources: &Sources, clock: &Clock) -> bool {
        self.are_in_same_iteration(0..self.loops_around(value, load), load, sources, clock)
    }

    /// True if the writers of a load run in the same iteration of these loops as the load.
    pub(super) fn are_in_same_iteration(
        &self,
        mut levels: Range<u32>,
        load: &Access,
        sources: &Sources,
        clock: &Clock,
    ) -> bool {
        let space = clock.space(load);
        let differ = |level: u32| {
            let (written, read) = (clock.iteration(load, level), space.dim(level as usize));
            [false, true].into_iter().all(|later| {
                let mut set = Conjunction::new(space.vars());
                if later {
                    set.add_gt(written, read)
                } else {
                    set.add_lt(written, read)
                };
                let differ = Relation::from_conjunctions(space.clone(), vec![set]);
                sources.relation.meets(&differ, self.flow.limits()) == Ok(false)
            })
        };
        levels.all(differ)
    }

    /// Returns the number of common loops around a load and the definition of a value that
    /// dominates it.
    fn loops_around(&self, value: Value, load: &Access) -> u32 {
        let mut count = 0;
        let mut block = self.body.value_block(value);
        while let Some(own) = block {
            let op = self.body.region_parent(self.body.block_region(own));
            count += u32::from(load.place.loops.contains(&op));
            block = self.body.block_of(op);
        }
        count
    }

    fn stored(&self, writer: AccessId) -> Option<Value> {
        stored_by(self.body, self.timeline.get(writer).op)
    }

    /// True if a load and a store of an allocation run in one loop, so that less than all of it may
    /// be live at a time.
    pub(crate) fn has_flow(&self, allocation: Value) -> bool {
        let all = self.timeline.of_base(Base::Allocation(allocation)).take(MAX_PAIRS);
        let (stores, loads): (Vec<&Access>, Vec<&Access>) =
            all.map(|id| self.timeline.get(id)).partition(|access| access.class.writes);
        let met = |load: &&Access| {
            stores.iter().any(|store| load.common_loops(store) > self.timeline.object_depth(load, store))
        };
        loads.iter().any(met)
    }

    /// Returns the plan for a local allocation. `None` if none of its accesses is here, or not all,
    /// or if it is allocated elsewhere: then another execution of the block may find its contents.
    pub(crate) fn plan(&self, allocation: Value) -> Option<Plan> {
        let all: Vec<AccessId> = self.timeline.of_base(Base::Allocation(allocation)).collect();
        let (writes, loads): (Vec<AccessId>, Vec<AccessId>) =
            all.iter().partition(|id| self.timeline.get(**id).class.writes);
        if loads.is_empty()
            || writes.is_empty()
            || !self.timeline.makes(allocation)
            || !self.are_all(allocation, &all)
        {
            return None;
        }
        let stays = |why| Some(Plan { dead: Vec::new(), kept: Vec::new(), storage: Storage::Stays(why) });
        if writes.len() > MAX_WRITERS || writes.len() * loads.len() > MAX_PAIRS {
            return stays(Missed::TooHard);
        }
        if writes.len() == 1 && !self.has_flow(allocation) {
            return stays(Missed::FullSize);
        }
        let clock = self.flow.clock(all.iter().copied());
        let mut sources = Vec::with_capacity(loads.len());
        for load in &loads {
            match self.flow.sources(*load, &writes, &clock) {
                Some(found) => sources.push((*load, found)),
                None => return stays(Missed::TooHard),
            }
        }
        let is_needed = |id: &AccessId| sources.iter().any(|(_, own)| own.writers.contains(id));
        let is_store = |id: &AccessId| self.stored(*id).is_some();
        let (needed, dead): (Vec<AccessId>, Vec<AccessId>) =
            writes.into_iter().filter(is_store).partition(is_needed);
        let storage = self.storage(allocation, &needed, &sources, &clock);
        let dead = dead.into_iter().map(Unneeded).collect();
        Some(Plan { dead, kept: loads.into_iter().chain(needed).collect(), storage })
    }

    fn storage(
        &self,
        allocation: Value,
        writes: &[AccessId],
        sources: &[(AccessId, Sources)],
        clock: &Clock,
    ) -> Storage {
        if let Some(user) = self.other_user(allocation) {
            return Storage::Stays(Missed::Used(user));
        }
        match self.folds(allocation, writes, sources, clock) {
            Ok(windows) if windows.is_empty() => Storage::Scalar,
            Ok(windows) if windows.iter().any(|(fold, _)| *fold != Fold::Keep) => {
                Storage::Folds(Folds(windows.into_iter().map(|(fold, _)| fold).collect()))
            }
            Ok(windows) if windows.iter().any(|(_, window)| window.is_none()) => {
                Storage::Stays(Missed::Unbounded)
            }
            Ok(_) => Storage::Stays(Missed::FullSize),
            Err(_) => Storage::Stays(Missed::TooHard),
        }
    }

    /// True if an allocation has no other accesses.
    fn are_all(&self, allocation: Value, accesses: &[AccessId]) -> bool {
        let ops: HashSet<Op> = accesses.iter().map(|id| self.timeline.get(*id).op).collect();
        let mut names = vec![allocation];
        while let Some(name) = names.pop() {
            for used in self.body.uses(name) {
                if ops.contains(&used.op) {
                    continue;
                }
                let view = self.body.op_ref(used.op);
                let effects = view.info().interface::<dyn MemoryEffects>().map(|model| model.effects(view));
                match effects {
                    _ if view.info().interface::<dyn ViewLike>().is_some() => {
                        names.extend(self.body.results(used.op));
                    }
                    // It is measured.
                    Some(effects) if effects.is_empty() => {}
                    _ => return false,
                }
            }
        }
        true
    }

    /// Returns a user of an allocation whose subscripts cannot be changed.
    pub(super) fn other_user(&self, allocation: Value) -> Option<Op> {
        let body = self.body;
        let plain = |op| {
            [
                affine::LoadOp::DEF,
                affine::StoreOp::DEF,
                memref::LoadOp::DEF,
                memref::StoreOp::DEF,
                memref::DeallocOp::DEF,
            ]
            .into_iter()
            .any(|def| body.is(op, def))
        };
        let mut users = body.uses(allocation).map(|used| used.op);
        let allocates = body.defining_op(allocation).filter(|_| !is_resizable(body, allocation));
        allocates.or_else(|| users.find(|op| !plain(*op)))
    }

    /// Returns the fold of each dimension, with its least window if that is bounded. Folding pays
    /// if the window is at most half of the dimension.
    fn folds(
        &self,
        allocation: Value,
        writes: &[AccessId],
        sources: &[(AccessId, Sources)],
        clock: &Clock,
    ) -> Result<Vec<(Fold, Option<i64>)>, Error> {
        let shape = self.body.value_type(allocation).shape(self.body.ctx()).unwrap_or_default().to_vec();
        let mut folds = vec![Fold::Keep; shape.len()];
        // The subscripts may belong to dimensions other than the allocation's own.
        let are_own = |id: &AccessId| {
            let class = &self.timeline.get(*id).class;
            class.sizes.is_empty() && class.subscripts.as_ref().is_none_or(|all| all.len() == shape.len())
        };
        if !writes.iter().chain(sources.iter().map(|(load, _)| load)).all(are_own) {
            return Ok(folds.into_iter().map(|fold| (fold, None)).collect());
        }
        // The times from the write that a load waits for.
        let waiting: Vec<(AccessId, Relation)> = sources
            .iter()
            .map(|(load, own)| Ok((*load, own.relation.then(&clock.at_or_after())?)))
            .collect::<Result<_, Error>>()?;
        let mut windows = Vec::with_capacity(shape.len());
        for (dimension, size) in shape.iter().enumerate() {
            let mut window = Some(1);
            for (load, waiting) in &waiting {
                for write in writes {
                    let needed = match self.flow.difference(*write, *load, dimension, clock) {
                        Some(difference) => {
                            self.window(*write, (*load, waiting), &difference, &folds, dimension, clock)?
                        }
                        None => None,
                    };
                    window = window.zip(needed).map(|(a, b)| a.max(b));
                }
            }
            let most = if *size == DYNAMIC { MAX_WINDOW } else { size / 2 };
            if let Some(window) = window.filter(|window| *window <= most) {
                folds[dimension] = Fold::Modulo(window);
            }
            windows.push((folds[dimension], window));
        }
        Ok(windows)
    }

    /// Returns the least window of a dimension for which no `write` to another element overwrites
    /// an element that `load` waits for. `None` if there is no bound.
    fn window(
        &self,
        write: AccessId,
        (load, waiting): (AccessId, &Relation),
        difference: &Affine,
        folds: &[Fold],
        dimension: usize,
        clock: &Clock,
    ) -> Result<Option<i64>, Error> {
        let pairs = self.flow.subscripts_of(write, load);
        let meanwhile = self.flow.all_before(write, load, clock, &mut |system, of_write, of_load| {
            for (at, a, b) in pairs.iter().filter(|(at, ..)| *at != dimension) {
                let apart = system.affine(a, of_write).add_scaled(&system.affine(b, of_load), &Int::from(-1));
                match folds[*at] {
                    Fold::Keep => system.set.add_eq(apart, 0),
                    Fold::Modulo(1) => {}
                    Fold::Modulo(window) => {
                        let rounds = system.set.exists();
                        system.set.add_eq(apart, rounds * window);
                    }
                }
            }
        })?;
        let conflicts = meanwhile.intersect(waiting)?;
        let mut window = 0;
        for end in [
            conflicts.maximum(difference, self.flow.limits()),
            conflicts.minimum(difference, self.flow.limits()),
        ] {
            match end {
                Ok(None) => {}
                Ok(Some(distance)) => match distance.abs().to_i64() {
                    Some(distance) => window = window.max(distance),
                    None => return Ok(None),
                },
                Err(Error::Unbounded) => return Ok(None),
                Err(error) => return Err(error),
            }
        }
        Ok(window.checked_add(1))
    }
}
