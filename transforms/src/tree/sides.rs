//! The two sides of an `if` as one: in a sequence, a guard and behind it the guard of the negation.
//!
//! An `if` with both branches is one operation in the program, and its branches exclude each other.
//! They are therefore moved and written together.

use super::green::{Green, Map, Node, TreeStore};
use super::ids::IfId;

/// One or both sides of an `if`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct If {
    /// The `if` with the condition.
    pub of: IfId,
    /// The instance of the `if`.
    pub map: Map,
    /// The bodies for a true and a false condition. At least one exists.
    pub bodies: [Option<Green>; 2],
}

/// An item of a sequence, with the branches of an `if` taken together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    /// Guards.
    If(If),
    /// Any other item.
    Other(Green),
}

impl If {
    /// Returns an `if` with one branch: for a true or a false condition.
    pub fn side(of: IfId, map: Map, holds: bool, body: Green) -> If {
        If { of, map, bodies: if holds { [Some(body), None] } else { [None, Some(body)] } }
    }
}

impl TreeStore {
    /// Returns the items of a sequence. Two neighbouring guards become one item if the second
    /// condition is the negation of the first.
    pub fn with_ifs(&self, sequence: Green) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::with_capacity(self.items_in(sequence));
        for item in self.items(sequence) {
            let Node::Guard { of, map, holds, body } = self.get(item) else {
                items.push(Item::Other(item));
                continue;
            };
            match items.last_mut() {
                Some(Item::If(If { of: own, map: its, bodies: [Some(_), no @ None] }))
                    if !holds && (*own, *its) == (of, map) =>
                {
                    *no = Some(body);
                }
                _ => items.push(Item::If(If::side(of, map, holds, body))),
            }
        }
        items
    }

    /// Returns the guards of an `if`.
    pub fn guards(&mut self, If { of, map, bodies: [yes, no] }: If) -> impl Iterator<Item = Green> + use<> {
        let yes = yes.map(|body| self.guard(of, map, true, body));
        let no = no.map(|body| self.guard(of, map, false, body));
        [yes, no].into_iter().flatten()
    }
}
