//! The program that a schedule transforms, and what its handles refer to.
//!
//! A handle holds [`Entity`]s. An entity is an operation, or a loop of a tree: from the first edit
//! of a function until something else needs its text, the loops of the function are places in
//! trees. [`Payload::flush`] writes the trees and looks up the operations again.
//!
//! **Invariant.** An entity refers to what its handle was made for, or is invalid and says why. No
//! entity ever refers to another operation.
//!
//! **Cost.** An edit costs what its top-level item does, and the entities of the function. A flush
//! is linear in the function.

use std::sync::Arc;

use hashbrown::HashMap;
use loomir_dialects::interp::layout::DataLayout;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Body, Diagnostic, Loc, Op, Value, ValueDef};

use super::failure::Failure;
use super::site::{Judge, Place, Site, Sketch, approve, checker, follow};
use crate::access::base::AliasMode;
use crate::access::callees::Callees;
use crate::access::{Analyses, variables_of};
use crate::regenerate::regenerate_loops;
use crate::tree::TreeStore;
use crate::tree::raise::roots;

/// The reason why a consumed entity is invalid, as MLIR says it.
pub(super) const CONSUMED: &str = "invalidated by this transform op that consumes its operand";

/// Something that a handle refers to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Entity(u32);

/// A value that a handle refers to: a result of an operation, or an argument of a block inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ValueOf {
    pub(super) of: Entity,
    /// The region and the block of an argument.
    pub(super) block: Option<(usize, usize)>,
    pub(super) index: usize,
    /// The operation, as long as it is the same one.
    op: Op,
}

/// The operations on the way from the module to a body, each with a body of its own.
pub(super) type BodyPath = Arc<[Op]>;

/// The present whereabouts of an entity.
#[derive(Clone, Debug)]
pub(super) enum Thing {
    Op(BodyPath, Op),
    Loop(BodyPath, usize, Place),
    /// An operation that was erased. Handles leave it out.
    Erased,
    /// Consumed or lost: the operation of the schedule, and the reason.
    Invalid(Loc, &'static str),
}

/// A function whose loops are on trees.
#[derive(Clone)]
struct Raised {
    sites: Vec<Site>,
    analyses: Analyses,
    /// The entities in it.
    entities: Vec<Entity>,
    /// The loops of the program, with their sites and places.
    loops: HashMap<Op, (usize, Place)>,
    /// True after a step: the loops of the program are no longer at these places.
    is_stale: bool,
}

/// A program with entities. See the [module](self).
pub(super) struct Payload<'m> {
    module: &'m mut Body,
    alias: AliasMode,
    /// The analyses for functions of each module.
    analyses: HashMap<BodyPath, Analyses>,
    trees: TreeStore,
    raised: HashMap<BodyPath, Raised>,
    things: Vec<Thing>,
    known: HashMap<(BodyPath, Op), Entity>,
    /// True if steps are judged later, together.
    deferred: bool,
    /// The number of changes of the text.
    changes: u64,
}

/// A state of a payload to go back to.
pub(super) struct Snapshot {
    module: Option<Body>,
    raised: HashMap<BodyPath, Raised>,
    things: Vec<Thing>,
    known: HashMap<(BodyPath, Op), Entity>,
    deferred: bool,
}

/// A loop on a tree.
pub(super) struct OnTree {
    path: BodyPath,
    site: usize,
    /// Its place there.
    pub(super) place: Place,
}

impl OnTree {
    /// Returns another place of the same tree.
    pub(super) fn at(&self, place: &[usize]) -> OnTree {
        OnTree { path: self.path.clone(), site: self.site, place: place.to_vec() }
    }

    /// Returns the path to its function.
    pub(super) fn path(&self) -> &BodyPath {
        &self.path
    }

    /// True if both loops are on one tree.
    pub(super) fn is_with(&self, other: &OnTree) -> bool {
        (&self.path, self.site) == (&other.path, other.site)
    }
}

/// A step of a schedule, to be judged.
pub(super) struct Step<'s> {
    /// The operation of the schedule.
    pub(super) loc: Loc,
    /// Its name.
    pub(super) name: &'s str,
    /// The participle for changed loops, such as "interchanged".
    pub(super) then: &'static str,
    /// The loops that it consumes.
    pub(super) consumed: &'s [Entity],
}

impl<'m> Payload<'m> {
    /// Returns a payload without entities.
    pub(super) fn new(module: &'m mut Body, alias: AliasMode) -> Payload<'m> {
        Payload {
            module,
            alias,
            analyses: HashMap::new(),
            trees: TreeStore::default(),
            raised: HashMap::new(),
            things: Vec::new(),
            known: HashMap::new(),
            deferred: false,
            changes: 0,
        }
    }

    /// Returns the assumption about arguments.
    pub(super) fn alias(&self) -> AliasMode {
        self.alias
    }

    /// Returns the whole program.
    pub(super) fn root(&mut self) -> Entity {
        let root = self.module.root();
        self.entity(&Arc::from([]), root)
    }

    /// Returns the entity of an operation.
    pub(super) fn entity(&mut self, path: &BodyPath, op: Op) -> Entity {
        let (path, op) = self.canonical(path, op);
        if let Some(known) = self.known.get(&(path.clone(), op)) {
            return *known;
        }
        let place = self.raised.get(&path).and_then(|raised| raised.loops.get(&op));
        if let Some((site, place)) = place {
            let thing = Thing::Loop(path.clone(), *site, place.clone());
            return self.add(thing);
        }
        let entity = self.add(Thing::Op(path.clone(), op));
        self.known.insert((path, op), entity);
        entity
    }

    /// Returns an operation that owns a body as an operation of the body around it.
    fn canonical(&self, path: &BodyPath, op: Op) -> (BodyPath, Op) {
        match path.split_last() {
            Some((last, around)) if self.body(path).is_some_and(|body| body.root() == op) => {
                (Arc::from(around), *last)
            }
            _ => (path.clone(), op),
        }
    }

    fn add(&mut self, thing: Thing) -> Entity {
        let entity = Entity(self.things.len() as u32);
        if let Thing::Loop(path, ..) = &thing
            && let Some(raised) = self.raised.get_mut(path)
        {
            raised.entities.push(entity);
        }
        self.things.push(thing);
        entity
    }

    /// Returns the body at a path.
    pub(super) fn body(&self, path: &[Op]) -> Option<&Body> {
        body_at(self.module, path)
    }

    /// Returns the body at a path, to change it. Its trees must have been flushed.
    pub(super) fn body_mut(&mut self, path: &[Op]) -> Option<&mut Body> {
        self.changes += 1;
        body_at_mut(self.module, path)
    }

    /// Returns true if an operation was erased by a step that had no need of it.
    pub(super) fn is_erased(&self, entity: Entity) -> bool {
        matches!(self.thing(entity), Thing::Erased)
    }

    /// Returns the operation of the schedule that made an entity invalid, and the reason.
    pub(super) fn invalid(&self, entity: Entity) -> Option<(Loc, &'static str)> {
        match self.thing(entity) {
            Thing::Invalid(loc, why) => Some((*loc, why)),
            _ => None,
        }
    }

    fn thing(&self, entity: Entity) -> &Thing {
        &self.things[entity.0 as usize]
    }

    /// Declares an entity consumed by an operation of the schedule, with all inside but `kept`.
    pub(super) fn consume(&mut self, entity: Entity, by: Loc, kept: &[Entity]) {
        let all = match self.thing(entity).clone() {
            Thing::Op(path, op) => self.entities_in(&path, op),
            Thing::Loop(path, site, place) => {
                let is_inside = |own: &Entity| match self.thing(*own) {
                    Thing::Loop(_, other, inside) => *other == site && inside.starts_with(&place),
                    _ => false,
                };
                self.raised
                    .get(&path)
                    .map_or(Vec::new(), |raised| raised.entities.iter().copied().filter(is_inside).collect())
            }
            Thing::Erased | Thing::Invalid(..) => Vec::new(),
        };
        for own in all.into_iter().chain([entity]).filter(|own| !kept.contains(own)) {
            self.invalidate(own, by, CONSUMED);
        }
    }

    fn invalidate(&mut self, entity: Entity, by: Loc, why: &'static str) {
        let before = std::mem::replace(&mut self.things[entity.0 as usize], Thing::Invalid(by, why));
        match before {
            Thing::Op(path, op) => _ = self.known.remove(&(path, op)),
            Thing::Loop(..) => {}
            Thing::Erased | Thing::Invalid(..) => self.things[entity.0 as usize] = before,
        }
    }

    /// Returns the entities of an operation and of all inside that are operations.
    fn entities_in(&self, path: &BodyPath, op: Op) -> Vec<Entity> {
        let is_in = |(own, inside): &(BodyPath, Op)| match own.strip_prefix(&**path) {
            Some([]) => self.body(path).is_some_and(|body| body.is_within(*inside, op)),
            Some([first, ..]) => self.body(path).is_some_and(|body| body.is_within(*first, op)),
            None => false,
        };
        self.known.iter().filter(|(own, _)| is_in(own)).map(|(_, entity)| *entity).collect()
    }

    /// Returns the name of an entity's operation.
    pub(super) fn name(&self, entity: Entity) -> Option<&str> {
        match self.thing(entity) {
            Thing::Op(path, op) => self.body(path).map(|body| body.op_ref(*op).name()),
            Thing::Loop(path, site, place) => {
                let op = self.raised.get(path)?.sites[*site].lead(&self.trees, place)?;
                self.body(path).map(|body| body.op_ref(op).name())
            }
            Thing::Erased | Thing::Invalid(..) => None,
        }
    }

    /// Returns the location of an entity.
    pub(super) fn loc(&self, entity: Entity) -> Loc {
        match self.thing(entity) {
            Thing::Op(path, op) => self.body(path).map_or(Loc::UNKNOWN, |body| body.loc(*op)),
            Thing::Loop(path, site, place) => {
                let lead = self.raised.get(path).and_then(|own| own.sites[*site].lead(&self.trees, place));
                lead.and_then(|op| Some(self.body(path)?.loc(op))).unwrap_or(Loc::UNKNOWN)
            }
            Thing::Erased | Thing::Invalid(..) => Loc::UNKNOWN,
        }
    }

    /// Returns the operation of an entity, as the program stands now.
    ///
    /// # Errors
    ///
    /// The entity has none, or the trees cannot be written.
    pub(super) fn op(&mut self, entity: Entity, by: Loc) -> Result<(BodyPath, Op), Failure> {
        if let Thing::Loop(path, site, place) = self.thing(entity).clone() {
            let unchanged =
                self.raised.get(&path).map(|own| &own.sites[site]).filter(|own| !own.is_changed());
            if let Some(op) = unchanged.and_then(|own| own.lead(&self.trees, &place)) {
                return Ok((path, op));
            }
            self.flush(&path, by)?;
        }
        if let Thing::Op(path, op) = self.thing(entity).clone() {
            let inside: BodyPath = path.iter().copied().chain([op]).collect();
            let is_root = self.body(&path).is_some_and(|body| body.root() == op);
            self.flush(&path, by)?;
            self.flush_below(if is_root { &path } else { &inside }, by)?;
        }
        // Another operation may stand in its place now, or none.
        match self.thing(entity) {
            Thing::Op(path, op) => Ok((path.clone(), *op)),
            Thing::Invalid(loc, why) => Err(Failure::used_after(by, *loc, why)),
            _ => Err(Failure::definite(Diagnostic::error(by, "the operation of this handle is gone"))),
        }
    }

    /// Returns the entity of a value. `None` if it belongs to no operation.
    pub(super) fn value_of(&mut self, path: &BodyPath, value: Value) -> Option<ValueOf> {
        let body = self.body(path)?;
        let (op, block, index) = match body.def(value) {
            ValueDef::OpResult { op, index } => (op, None, index),
            ValueDef::BlockArgument { block, index } => {
                let region = body.block_region(block);
                let number = body.blocks(region).position(|own| own == block)?;
                (body.region_parent(region), Some((body.region_index(region), number)), index)
            }
        };
        Some(ValueOf { of: self.entity(path, op), block, index, op })
    }

    /// Returns the value of an entity, as the program stands now.
    ///
    /// # Errors
    ///
    /// Another operation computes it now.
    pub(super) fn value(&mut self, value: &ValueOf, by: Loc) -> Result<(BodyPath, Value), Failure> {
        let (path, op) = self.op(value.of, by)?;
        let inner: BodyPath = path.iter().copied().chain([op]).collect();
        let (path, body, op) = match self.body(&inner) {
            Some(body) => (inner.clone(), Some(body), body.root()),
            None => (path.clone(), self.body(&path), op),
        };
        let found = body.filter(|_| op == value.op).and_then(|body| match value.block {
            None => body.results(op).nth(value.index),
            Some((region, block)) => {
                let region = body.own_regions(op).nth(region)?;
                let block = body.blocks(region).nth(block)?;
                body.arguments(block).nth(value.index)
            }
        });
        found.map(|found| (path, found)).ok_or_else(|| {
            Failure::definite(Diagnostic::error(by, "op uses a handle to a value that was replaced"))
        })
    }

    /// Returns the loop of an entity on the trees of its function. Raises the function if need be.
    pub(super) fn on_tree(&mut self, entity: Entity) -> Option<OnTree> {
        if let Thing::Op(path, _) = self.thing(entity).clone() {
            self.raise(&path)?;
        }
        match self.thing(entity).clone() {
            Thing::Loop(path, site, place) => Some(OnTree { path, site, place }),
            _ => None,
        }
    }

    /// Returns the analyses for the function at a path.
    pub(super) fn analyses(&mut self, path: &BodyPath) -> Option<Analyses> {
        let around: BodyPath = path.split_last().map_or(Arc::from([]), |(_, around)| Arc::from(around));
        if let Some(known) = self.analyses.get(&around) {
            return Some(known.clone());
        }
        let analyses = analyses_of(self.body(&around)?);
        self.analyses.insert(around, analyses.clone());
        Some(analyses)
    }

    /// Raises the blocks of a function, and finds its loops there.
    fn raise(&mut self, path: &BodyPath) -> Option<()> {
        if self.raised.contains_key(path) {
            return Some(());
        }
        let analyses = self.analyses(path)?;
        let body = body_at(self.module, path)?;
        let blocks = roots(body, &analyses);
        let mut sites = Vec::new();
        let mut loops: HashMap<Op, (usize, Place)> = HashMap::new();
        for block in blocks {
            let site = Site::new(body, block, &mut self.trees, &analyses, self.alias);
            for (place, _) in site.loops(&self.trees) {
                if let Some(op) = site.lead(&self.trees, &place) {
                    loops.entry(op).or_insert((sites.len(), place));
                }
            }
            sites.push(site);
        }
        let mut entities = Vec::new();
        for ((own, op), entity) in &self.known {
            if own == path
                && let Some((site, place)) = loops.get(op)
            {
                self.things[entity.0 as usize] = Thing::Loop(own.clone(), *site, place.clone());
                entities.push(*entity);
            }
        }
        // A table has no order.
        entities.sort_by_key(|entity| entity.0);
        self.known.retain(|_, entity| !entities.contains(entity));
        self.raised.insert(path.clone(), Raised { sites, analyses, entities, loops, is_stale: false });
        Some(())
    }

    /// Makes a step in the tree of a loop. `make` edits and returns the places of the new loops.
    ///
    /// # Errors
    ///
    /// The edit is impossible, or the judge refuses it.
    pub(super) fn step(
        &mut self,
        target: &OnTree,
        step: &Step<'_>,
        make: impl FnOnce(&mut Sketch<'_>, &Body) -> Result<Vec<Place>, String>,
    ) -> Result<Vec<Entity>, Failure> {
        let OnTree { path, site: number, .. } = target;
        let body = body_at(self.module, path);
        let (Some(body), Some(raised)) = (body, self.raised.get_mut(path)) else {
            return Err(Failure::definite(Diagnostic::error(step.loc, "the function of this loop is gone")));
        };
        let Raised { sites, analyses, .. } = raised;
        let site = &mut sites[*number];
        let (root, trees) = (site.root, &mut self.trees);
        let mut sketch = Sketch { program: &site.program, trees, root, followed: Vec::new() };
        let made = make(&mut sketch, body);
        let Sketch { root, followed, .. } = sketch;
        let places = made.map_err(|why| {
            let loc = site.lead(&self.trees, &target.place).map_or(step.loc, |op| body.loc(op));
            let error = Diagnostic::error(step.loc, format!("'{}' is not possible here", step.name));
            Failure::silenceable(error.note(loc, format!("this loop {why}")))
        })?;
        let (analyses, alias) = (&*analyses, self.alias);
        let judge = |program: &crate::tree::Program, trees: &mut TreeStore, tree| {
            checker(body, program, analyses, alias).judge(trees, tree).map(|_| ())
        };
        let judge: &Judge<'_> = &judge;
        let judge = (!self.deferred).then_some(judge);
        if let Err(verdict) = site.step(&mut self.trees, (root, &followed), judge) {
            return Err(Failure::refused(&verdict, body, step.loc, [step.name, step.then]));
        }
        site.last_step = step.loc;
        let entities = std::mem::take(&mut raised.entities);
        let place_of = |entity: &Entity| match self.thing(*entity) {
            Thing::Loop(_, _, place) => Some(place.clone()),
            _ => None,
        };
        let consumed: Vec<Place> = step.consumed.iter().filter_map(place_of).collect();
        for entity in entities {
            let Thing::Loop(_, own, place) = self.thing(entity) else { continue };
            let is_here = own == number;
            let moved = if is_here { follow(&followed, place) } else { Some(place.clone()) };
            let is_consumed = is_here && consumed.contains(place);
            match moved.filter(|_| !is_consumed) {
                Some(moved) => {
                    if let Thing::Loop(_, _, place) = &mut self.things[entity.0 as usize] {
                        *place = moved;
                    }
                    if let Some(raised) = self.raised.get_mut(path) {
                        raised.entities.push(entity);
                    }
                }
                None if is_consumed => {
                    self.invalidate(entity, step.loc, CONSUMED);
                }
                None => self.invalidate(
                    entity,
                    step.loc,
                    "its loop has several copies, or none, behind this step",
                ),
            }
        }
        if let Some(raised) = self.raised.get_mut(path) {
            raised.loops.clear();
            raised.is_stale = true;
        }
        Ok(places.into_iter().map(|place| self.add(Thing::Loop(path.clone(), *number, place))).collect())
    }

    /// Returns the place of an operation in the body of a loop, if it is directly there.
    pub(super) fn item_in(&self, around: &OnTree, entity: Entity) -> Option<usize> {
        match self.thing(entity) {
            Thing::Loop(path, site, place) if (path, site) == (&around.path, &around.site) => {
                match place.strip_prefix(&around.place[..]) {
                    Some([first, ..]) => Some(*first),
                    _ => None,
                }
            }
            Thing::Op(path, op) if *path == around.path => {
                let body = self.body(path)?;
                let site = &self.raised.get(path)?.sites[around.site];
                site.item_with(&self.trees, &around.place, body, *op)
            }
            _ => None,
        }
    }

    /// Writes the trees of all functions at or below a path.
    ///
    /// # Errors
    ///
    /// See [`Payload::flush`].
    pub(super) fn flush_below(&mut self, path: &[Op], by: Loc) -> Result<(), Failure> {
        let mut all: Vec<BodyPath> =
            self.raised.keys().filter(|own| own.starts_with(path)).cloned().collect();
        self.in_order(&mut all);
        all.iter().try_for_each(|own| self.flush(own, by))
    }

    /// Sorts paths in the order of the text.
    fn in_order(&self, paths: &mut [BodyPath]) {
        let numbers: HashMap<Op, usize> = self.module.all_ops().zip(0..).collect();
        paths.sort_by_key(|path| path.iter().map(|op| numbers.get(op).copied()).collect::<Vec<_>>());
    }

    /// Writes the trees of a function, and finds the operations of its entities.
    ///
    /// # Errors
    ///
    /// The trees are not legal together, or a loop cannot be written. The blocks concerned are then
    /// as they were before their first edit.
    pub(super) fn flush(&mut self, path: &BodyPath, by: Loc) -> Result<(), Failure> {
        let Some(raised) = self.raised.get(path) else { return Ok(()) };
        let is_changed = raised.sites.iter().any(Site::is_changed);
        if is_changed && self.deferred {
            return Err(not_together(by));
        }
        if !is_changed {
            // After steps that cancel each other, the loops are looked up again.
            if raised.is_stale {
                self.drop_tree(path);
            }
            return Ok(());
        }
        let Some(raised) = self.raised.remove(path) else { return Ok(()) };
        self.changes += 1;
        let following = self.follow(path);
        let mut failure = None;
        // Blocks inside of statements come first.
        for (number, site) in raised.sites.iter().enumerate().rev() {
            let written = match site.is_changed() {
                true => match body_at_mut(self.module, path) {
                    Some(body) => write((body, site), &mut self.trees, &raised.analyses, self.alias),
                    None => {
                        Err(Failure::definite(Diagnostic::error(by, "the function of these loops is gone")))
                    }
                },
                false => Ok(site
                    .loops(&self.trees)
                    .iter()
                    .map(|(place, _)| site.lead(&self.trees, place))
                    .collect()),
            };
            let ops = match written {
                Ok(ops) => ops,
                Err(why) => {
                    failure = Some(why);
                    Vec::new()
                }
            };
            let places = site.loops(&self.trees).into_iter().map(|(place, _)| place);
            let ops: HashMap<Place, Option<Op>> = places.zip(ops).collect();
            for entity in &raised.entities {
                let Thing::Loop(_, own, place) = self.thing(*entity).clone() else { continue };
                if own != number {
                    continue;
                }
                match ops.get(&place).copied().flatten() {
                    Some(op) => {
                        self.things[entity.0 as usize] = Thing::Op(path.clone(), op);
                        self.known.entry((path.clone(), op)).or_insert(*entity);
                    }
                    // A loop of one iteration is written without a loop.
                    None => self.things[entity.0 as usize] = Thing::Erased,
                }
            }
        }
        self.find_followed(following, by, false);
        failure.map_or(Ok(()), Err)
    }

    /// Counts changes of the text.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Writes all trees to a copy of the text.
    ///
    /// # Errors
    ///
    /// As for [`Payload::flush`].
    pub(super) fn try_writing(&mut self) -> Result<(), Failure> {
        let mut paths: Vec<BodyPath> = self.raised.keys().cloned().collect();
        self.in_order(&mut paths);
        for path in &paths {
            let Some((body, raised)) = body_at(self.module, path).zip(self.raised.get(path)) else {
                continue;
            };
            let mut changed = raised.sites.iter().rev().filter(|site| site.is_changed()).peekable();
            if changed.peek().is_none() {
                continue;
            }
            let mut copy = body.snapshot();
            for site in changed {
                write((&mut copy, site), &mut self.trees, &raised.analyses, self.alias)?;
            }
        }
        Ok(())
    }

    /// Returns the entities that are operations of the bodies at or below a path.
    pub(super) fn ops_below(&self, path: &[Op]) -> Vec<(Entity, BodyPath, Op)> {
        let things = self.things.iter().zip(0..);
        let found = things.filter_map(|(thing, number)| match thing {
            Thing::Op(own, op) if own.starts_with(path) => Some((Entity(number), own.clone(), *op)),
            _ => None,
        });
        found.collect()
    }

    /// Lets entities that are operations refer to something else.
    pub(super) fn set_things(&mut self, moved: Vec<(Entity, Thing)>) {
        for (entity, thing) in &moved {
            let before = std::mem::replace(&mut self.things[entity.0 as usize], thing.clone());
            if let Thing::Op(path, op) = before {
                self.known.remove(&(path, op));
            }
        }
        for (entity, thing) in moved {
            if let Thing::Op(path, op) = thing {
                self.known.entry((path, op)).or_insert(entity);
            }
        }
    }

    /// Forgets what is known of modules. Called when a pass may have changed functions.
    pub(super) fn forget_modules(&mut self) {
        self.analyses.clear();
    }

    /// Writes and drops all trees at or below a path, so that the text may be changed.
    ///
    /// # Errors
    ///
    /// See [`Payload::flush`].
    pub(super) fn settle(&mut self, path: &[Op], by: Loc) -> Result<(), Failure> {
        if self.deferred {
            return Err(not_together(by));
        }
        self.flush_below(path, by)?;
        self.drop_trees(path);
        Ok(())
    }

    /// True if two entities are one operation.
    pub(super) fn is_same(&self, a: Entity, b: Entity) -> bool {
        a == b
            || match (self.thing(a), self.thing(b)) {
                (Thing::Op(path, op), Thing::Op(other, its)) => (path, op) == (other, its),
                (Thing::Loop(path, site, place), Thing::Loop(other, its, own)) => {
                    (path, site, place) == (other, its, own)
                }
                _ => false,
            }
    }

    /// Drops the trees at or below a path, which must have been flushed.
    fn drop_trees(&mut self, path: &[Op]) {
        let all: Vec<BodyPath> = self.raised.keys().filter(|own| own.starts_with(path)).cloned().collect();
        all.iter().for_each(|own| self.drop_tree(own));
    }

    fn drop_tree(&mut self, path: &BodyPath) {
        let Some(raised) = self.raised.remove(path) else { return };
        for entity in raised.entities {
            let Thing::Loop(_, site, place) = self.thing(entity).clone() else { continue };
            if let Some(op) = raised.sites[site].lead(&self.trees, &place) {
                self.things[entity.0 as usize] = Thing::Op(path.clone(), op);
                self.known.insert((path.clone(), op), entity);
            }
        }
    }

    /// Returns the present state. Without `module`, the text must not change before it is restored.
    pub(super) fn snapshot(&self, module: bool) -> Snapshot {
        Snapshot {
            module: module.then(|| self.module.snapshot()),
            raised: self.raised.clone(),
            things: self.things.clone(),
            known: self.known.clone(),
            deferred: self.deferred,
        }
    }

    /// Goes back to an earlier state.
    pub(super) fn restore(&mut self, snapshot: Snapshot) {
        if let Some(module) = snapshot.module {
            *self.module = module;
        }
        // Entities that were made since refer to nothing.
        let since = self.things.len();
        self.things = snapshot.things;
        self.things.resize(since, Thing::Erased);
        (self.raised, self.known, self.deferred) = (snapshot.raised, snapshot.known, snapshot.deferred);
    }

    /// True if steps are judged later.
    pub(super) fn is_deferred(&self) -> bool {
        self.deferred
    }

    /// Judges steps later, together. Returns true if they were judged one by one before.
    pub(super) fn defer(&mut self) -> bool {
        !std::mem::replace(&mut self.deferred, true)
    }

    /// Judges all trees, and each step again from now on.
    ///
    /// # Errors
    ///
    /// A tree is not legal.
    pub(super) fn judge_together(&mut self, step: &Step<'_>) -> Result<(), Failure> {
        self.deferred = false;
        let mut paths: Vec<BodyPath> = self.raised.keys().cloned().collect();
        self.in_order(&mut paths);
        for path in &paths {
            let Some((body, raised)) = body_at(self.module, path).zip(self.raised.get(path)) else {
                continue;
            };
            for site in raised.sites.iter().filter(|site| site.is_changed()) {
                if let Err(verdict) = approve((body, site), &mut self.trees, &raised.analyses, self.alias) {
                    return Err(Failure::refused(&verdict, body, step.loc, [step.name, step.then]));
                }
            }
        }
        Ok(())
    }
}

/// Returns the analyses for the functions of a module.
fn analyses_of(module: &Body) -> Analyses {
    let symbols = SymbolTable::of(module);
    let layout = Arc::new(DataLayout::of_symbols(module.ctx(), &symbols));
    let variables = Arc::new(variables_of(module.ctx(), &symbols));
    Analyses::default().with_callees(&Arc::new(Callees::of(module))).with_module(&layout, &variables)
}

/// Returns the failure of an operation that needs the text of loops before they are judged.
fn not_together(by: Loc) -> Failure {
    let error = Diagnostic::error(by, "needs the text of loops whose steps are judged together");
    Failure::definite(error.help("do this before or behind 'loomir.together'"))
}

/// Returns the body at a path below a module.
fn body_at<'b>(module: &'b Body, path: &[Op]) -> Option<&'b Body> {
    path.iter().try_fold(module, |body, op| body.nested(*op))
}

/// Returns the body at a path below a module, to change it.
fn body_at_mut<'b>(module: &'b mut Body, path: &[Op]) -> Option<&'b mut Body> {
    path.iter().try_fold(module, |body, op| body.nested_mut(*op))
}

/// Writes the tree of one block. Returns the operation of each loop.
fn write(
    (body, site): (&mut Body, &Site),
    trees: &mut TreeStore,
    analyses: &Analyses,
    alias: AliasMode,
) -> Result<Vec<Option<Op>>, Failure> {
    let by = site.last_step;
    let approved = approve((body, site), trees, analyses, alias)
        .map_err(|verdict| Failure::refused(&verdict, body, by, ["the schedule", "transformed"]))?;
    regenerate_loops(body, &site.program, trees, &approved).map_err(|unwritable| {
        let text = format!("a loop cannot be written: {}", unwritable.reason.text());
        let loc = body.loc(unwritable.op);
        Failure::silenceable(Diagnostic::error(by, text).note(loc, "this loop, after this step"))
    })
}
