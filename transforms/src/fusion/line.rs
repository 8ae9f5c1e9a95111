//! What stands in a sequence while its loops are fused, and which of it may change places.

use std::rc::Rc;

use loomir_ir::{Body, Op};

use super::footprint::Footprint;
use super::group::Group;
use crate::access::Frame;
use crate::tree::nest::Nest;
use crate::tree::{Forest, Green, If, Item, Node, Program};

/// What is no loop: which operations of the program it is, and its footprint once that was asked
/// for.
#[derive(Clone)]
pub(super) struct Passive {
    /// One of the operations, to show.
    pub op: Op,
    /// The others.
    others: Vec<Op>,
    footprint: Option<Rc<Footprint>>,
}

impl Passive {
    /// `None` if there is nothing in the item.
    fn of(program: &Program, forest: &Forest, item: Item) -> Option<Passive> {
        let mut ops = Vec::new();
        operations(program, forest, item, &mut ops);
        let op = ops.pop()?;
        Some(Passive { op, others: ops, footprint: None })
    }

    /// Adds another one's. Its footprint is known if one of both was.
    fn merge(&mut self, other: Passive) {
        self.others.push(other.op);
        self.others.extend(other.others);
        self.footprint = match (self.footprint.take(), other.footprint) {
            (Some(mut own), Some(others)) => {
                Rc::make_mut(&mut own).merge(&others);
                Some(own)
            }
            _ => None,
        };
    }
}

/// One thing in a sequence. A copy costs little.
#[derive(Clone)]
pub(super) enum Entry {
    /// What stays as it is.
    Statement(Green, Passive),
    /// A conditional.
    If(If, Passive),
    /// A loop, or what was fused so far.
    Group(Rc<Group>),
}

impl Entry {
    /// The entry of an item. `None` if there is nothing in it.
    pub(super) fn of(
        ir: &Body,
        program: &Program,
        forest: &Forest,
        item: Item,
        frame: &Frame,
    ) -> Option<Entry> {
        match item {
            Item::If(conditional) => {
                Some(Entry::If(conditional, Passive::of(program, forest, Item::If(conditional))?))
            }
            Item::Other(green) => match Group::of(ir, program, forest, green, frame) {
                Some(group) => Some(Entry::Group(Rc::new(group))),
                None => Some(Entry::Statement(green, Passive::of(program, forest, Item::Other(green))?)),
            },
        }
    }

    /// The items it is, as they were.
    pub(super) fn originals(&self, forest: &mut Forest) -> Vec<Green> {
        match self {
            Entry::Statement(item, _) => vec![*item],
            Entry::If(conditional, _) => forest.guards(*conditional).collect(),
            Entry::Group(group) => group.originals.clone(),
        }
    }

    /// An operation to show.
    pub(super) fn op(&self, program: &Program) -> Op {
        match self {
            Entry::Statement(_, passive) | Entry::If(_, passive) => passive.op,
            Entry::Group(group) => group.op(program),
        }
    }

    /// Its footprint, if it was summarised.
    pub(super) fn footprint(&self) -> Option<&Footprint> {
        match self {
            Entry::Statement(_, passive) | Entry::If(_, passive) => passive.footprint.as_deref(),
            Entry::Group(group) => Some(&group.footprint),
        }
    }

    /// Makes its footprint known. Linear in what is inside, once.
    pub(super) fn summarise(&mut self, ir: &Body, program: &Program, forest: &mut Forest, frame: &Frame) {
        let is_statement = matches!(self, Entry::Statement(..));
        let items = if self.footprint().is_none() { self.originals(forest) } else { return };
        let (Entry::Statement(_, passive) | Entry::If(_, passive)) = self else { return };
        let mut nest = Nest::default();
        for item in items {
            nest.merge(&Nest::of(program, forest, item, frame));
        }
        // The other half of its update may be another entry, which goes another way.
        if is_statement {
            nest = nest.without_updates();
        }
        let ops = passive.others.iter().copied().chain([passive.op]);
        passive.footprint = Some(Rc::new(Footprint::of(ir, ops, nest)));
    }
}

/// The operations of the program that an item is. Recurses once a versioned node.
fn operations(program: &Program, forest: &Forest, item: Item, ops: &mut Vec<Op>) {
    let green = match item {
        Item::If(If { of, .. }) => return ops.push(program.if_info(of).op),
        Item::Other(green) => green,
    };
    match forest.get(green) {
        Node::Leaf { statement, .. } => ops.extend(&program.statement(statement).ops),
        Node::Loop { header, .. } => {
            ops.extend(forest.header(header).origins.iter().map(|origin| program.loop_info(origin.of).op));
        }
        Node::Guard { of, .. } => ops.push(program.if_info(of).op),
        Node::Versioned { fast, fallback, .. } => {
            for item in [fast, fallback].into_iter().flat_map(|sequence| forest.with_ifs(sequence)) {
                operations(program, forest, item, ops);
            }
        }
        Node::Empty | Node::Sequence { .. } => {
            for item in forest.with_ifs(green) {
                operations(program, forest, item, ops);
            }
        }
    }
}

/// Makes `second`, a conditional, part of `first`, one of the same condition.
pub(super) fn join_ifs(forest: &mut Forest, first: &mut Entry, second: Entry) {
    let (Entry::If(first, passive), Entry::If(second, others)) = (first, second) else { return };
    for (own, other) in first.bodies.iter_mut().zip(second.bodies) {
        *own = match (*own, other) {
            (Some(own), Some(other)) => Some(forest.join(own, other)),
            (own, other) => own.or(other),
        };
    }
    passive.merge(others);
}

/// Moves what stands behind place `at` of a line before it, where `hoisted` says so.
pub(super) fn hoist<T>(line: &mut Vec<T>, at: usize, hoisted: &[bool]) {
    let mut behind: Vec<T> = line.drain(at..).collect();
    let mut stays = Vec::with_capacity(behind.len());
    let mut group = None;
    for (i, entry) in behind.drain(..).enumerate() {
        match i.checked_sub(1).map(|i| hoisted[i]) {
            None => group = Some(entry),
            Some(true) => line.push(entry),
            Some(false) => stays.push(entry),
        }
    }
    line.extend(group);
    line.append(&mut stays);
}
