//! The entries of a sequence while its loops are fused, and their reorderability.

use std::rc::Rc;

use loomir_ir::{Body, Op};

use super::footprint::Footprint;
use super::group::Group;
use crate::access::LoopContext;
use crate::tree::access_summary::AccessSummary;
use crate::tree::{Green, If, Item, Node, Program, TreeStore};

/// An entry that is no loop: its operations, and its footprint once requested.
#[derive(Clone)]
pub(super) struct Passive {
    /// One of the operations, for remarks.
    pub op: Op,
    /// The others.
    others: Vec<Op>,
    footprint: Option<Rc<Footprint>>,
}

impl Passive {
    /// Returns the operations of an item, without a footprint. `None` if the item is empty.
    fn of(program: &Program, trees: &TreeStore, item: Item) -> Option<Passive> {
        let mut ops = Vec::new();
        operations(program, trees, item, &mut ops);
        let op = ops.pop()?;
        Some(Passive { op, others: ops, footprint: None })
    }

    /// Adds the operations of another entry. The footprint stays known only if both footprints are.
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

/// An entry of a sequence. Copying is cheap.
#[derive(Clone)]
pub(super) enum Entry {
    /// An unchanged statement.
    Statement(Green, Passive),
    /// A conditional.
    If(If, Passive),
    /// A loop, or a group of loops fused so far.
    Group(Rc<Group>),
}

impl Entry {
    /// Returns the entry of an item. `None` if the item is empty.
    pub(super) fn of(
        ir: &Body,
        program: &Program,
        trees: &TreeStore,
        item: Item,
        loop_context: &LoopContext,
    ) -> Option<Entry> {
        match item {
            Item::If(conditional) => {
                Some(Entry::If(conditional, Passive::of(program, trees, Item::If(conditional))?))
            }
            Item::Other(green) => match Group::of(ir, program, trees, green, loop_context) {
                Some(group) => Some(Entry::Group(Rc::new(group))),
                None => Some(Entry::Statement(green, Passive::of(program, trees, Item::Other(green))?)),
            },
        }
    }

    /// Returns the original items of the entry.
    pub(super) fn originals(&self, trees: &mut TreeStore) -> Vec<Green> {
        match self {
            Entry::Statement(item, _) => vec![*item],
            Entry::If(conditional, _) => trees.guards(*conditional).collect(),
            Entry::Group(group) => group.originals.clone(),
        }
    }

    /// Returns an operation for remarks.
    pub(super) fn op(&self, program: &Program) -> Op {
        match self {
            Entry::Statement(_, passive) | Entry::If(_, passive) => passive.op,
            Entry::Group(group) => group.op(program),
        }
    }

    /// Returns the footprint, if it was summarised.
    pub(super) fn footprint(&self) -> Option<&Footprint> {
        match self {
            Entry::Statement(_, passive) | Entry::If(_, passive) => passive.footprint.as_deref(),
            Entry::Group(group) => Some(&group.footprint),
        }
    }

    /// Computes the footprint. Linear in the contents, once.
    pub(super) fn summarise(
        &mut self,
        ir: &Body,
        program: &Program,
        trees: &mut TreeStore,
        loop_context: &LoopContext,
    ) {
        let is_statement = matches!(self, Entry::Statement(..));
        let items = if self.footprint().is_none() { self.originals(trees) } else { return };
        let (Entry::Statement(_, passive) | Entry::If(_, passive)) = self else { return };
        let mut nest = AccessSummary::default();
        for item in items {
            nest.merge(&AccessSummary::of(program, trees, item, loop_context));
        }
        // The other half of its update may be another entry, which moves elsewhere.
        if is_statement {
            nest = nest.without_updates();
        }
        let ops = passive.others.iter().copied().chain([passive.op]);
        passive.footprint = Some(Rc::new(Footprint::of(ir, ops, nest)));
    }
}

/// Returns the operations of the program in an item. Recurses once for each versioned node.
fn operations(program: &Program, trees: &TreeStore, item: Item, ops: &mut Vec<Op>) {
    let green = match item {
        Item::If(If { of, .. }) => return ops.push(program.if_info(of).op),
        Item::Other(green) => green,
    };
    match trees.get(green) {
        Node::Leaf { statement, .. } => ops.extend(&program.statement(statement).ops),
        Node::Loop { header, .. } => {
            ops.extend(trees.header(header).origins.iter().map(|origin| program.loop_info(origin.of).op));
        }
        Node::Guard { of, .. } => ops.push(program.if_info(of).op),
        Node::Versioned { fast, fallback, .. } => {
            for item in [fast, fallback].into_iter().flat_map(|sequence| trees.with_ifs(sequence)) {
                operations(program, trees, item, ops);
            }
        }
        Node::Empty | Node::Sequence { .. } => {
            for item in trees.with_ifs(green) {
                operations(program, trees, item, ops);
            }
        }
    }
}

/// Joins `second`, a conditional, into `first`, a conditional of the same condition.
pub(super) fn join_ifs(trees: &mut TreeStore, first: &mut Entry, second: Entry) {
    let (Entry::If(first, passive), Entry::If(second, others)) = (first, second) else { return };
    for (own, other) in first.bodies.iter_mut().zip(second.bodies) {
        *own = match (*own, other) {
            (Some(own), Some(other)) => Some(trees.join(own, other)),
            (own, other) => own.or(other),
        };
    }
    passive.merge(others);
}

/// Moves the entries behind place `at` of a sequence before it, if `hoisted` is set for them.
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
