//! Operations that are followed while their body changes.
//!
//! A rewrite may move an operation, replace it by another one, copy it or erase it. A [`Trail`]
//! in the body writes that down at the place where it happens, so that no pattern, fold or pass
//! can forget to. Nothing is added to the program: an attribute would make equal operations
//! different.
//!
//! An operation is replaced if all its results were, before it was erased, by those of one other
//! operation. Several copies, or values of several operations, leave no single operation.
//!
//! **Invariant.** While a trail exists, no slot of an erased operation is used again. A copy of the
//! body has none.
//!
//! **Cost.** A change costs a look-up in a hash table, and only while operations are followed.

use hashbrown::HashMap;

use super::{Body, ERASED, ValueDef};
use crate::entity::{Op, Value};

/// The fate of a followed operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The operation is there, or another one in its place.
    Is(Op),
    /// Nothing replaced it.
    Erased,
    /// There are several copies.
    Copied,
    /// Its results were replaced by values that are not the results of one operation.
    Split,
}

/// The followed operations of a body. See the [module](self).
#[derive(Default)]
pub(super) struct Trail {
    fates: Vec<Followed>,
    /// The followed operations that an operation stands for, by number.
    stands_for: HashMap<u32, Vec<usize>>,
    /// The operations whose results replaced a result: of that operation, with that number.
    replaced: HashMap<(u32, u32), Option<u32>>,
    /// The slots of erased operations.
    pub(super) held: Vec<u32>,
}

/// One followed operation.
struct Followed {
    /// The operations that stand for it now.
    now: Vec<u32>,
    is_split: bool,
}

impl Trail {
    /// Lets `new` stand for all that `old` stands for.
    fn add(&mut self, old: u32, new: u32) {
        for number in self.stands_for.get(&old).cloned().unwrap_or_default() {
            if !self.fates[number].now.contains(&new) {
                self.fates[number].now.push(new);
                self.stands_for.entry(new).or_default().push(number);
            }
        }
    }
}

impl Body {
    /// Follows these operations until [`take_followed`](Body::take_followed). Those that are
    /// followed already are forgotten.
    pub fn follow(&mut self, ops: &[Op]) {
        drop(self.take_followed());
        let mut trail = Box::new(Trail::default());
        for (number, op) in ops.iter().enumerate() {
            let op = op.raw(self.arena);
            trail.fates.push(Followed { now: vec![op], is_split: false });
            trail.stands_for.entry(op).or_default().push(number);
        }
        self.trail = Some(trail);
    }

    /// Says that `copy` was made from `op`, or in its place.
    pub fn was_copied(&mut self, op: Op, copy: Op) {
        if let Some(trail) = &mut self.trail {
            trail.add(op.raw(self.arena), copy.raw(self.arena));
        }
    }

    /// Returns what became of the followed operations, in their order, and follows them no longer.
    pub fn take_followed(&mut self) -> Vec<Fate> {
        let Some(trail) = self.trail.take() else { return Vec::new() };
        let Trail { fates, held, .. } = *trail;
        self.free_ops.extend(held);
        let fate = |own: Followed| match own.now[..] {
            [op] => Fate::Is(self.op(op)),
            [] if own.is_split => Fate::Split,
            [] => Fate::Erased,
            _ => Fate::Copied,
        };
        fates.into_iter().map(fate).collect()
    }

    /// Writes down that one value replaces another.
    pub(super) fn trace_replaced(&mut self, from: Value, to: Value) {
        if self.trail.is_none() {
            return;
        }
        let ValueDef::OpResult { op, index } = self.def(from) else { return };
        let by = self.defining_op(to).map(|by| by.raw(self.arena));
        if let Some(trail) = &mut self.trail {
            trail.replaced.insert((op.raw(self.arena), index as u32), by);
        }
    }

    /// Writes down that an operation is erased.
    pub(super) fn trace_erased(&mut self, op: u32) {
        let results = self.ops[op as usize].num_results;
        let Some(trail) = &mut self.trail else { return };
        let replaced: Vec<Option<Option<u32>>> =
            (0..results).map(|index| trail.replaced.remove(&(op, index))).collect();
        if !trail.stands_for.contains_key(&op) {
            return;
        }
        let mut by = replaced.iter().flatten().copied();
        let first = by.next();
        let is_one = first.is_some() && replaced.iter().all(|own| *own == first);
        let new = first.flatten().filter(|new| is_one && self.ops[*new as usize].block != ERASED);
        if let Some(new) = new.filter(|new| *new != op) {
            trail.add(op, new);
        }
        for number in trail.stands_for.remove(&op).unwrap_or_default() {
            let own = &mut trail.fates[number];
            own.now.retain(|now| *now != op);
            own.is_split |= new.is_none() && first.is_some();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Fate;
    use crate::body::{Body, Mapping};
    use crate::context::{Context, Registry};
    use crate::text;

    const PROGRAM: &str = r#"
        %a = "x.a"() : () -> i32
        %b = "x.b"() : () -> i32
        %p:2 = "x.pair"() : () -> (i32, i32)
        "x.use"(%a, %p#0, %p#1) : (i32, i32, i32) -> ()
        "#;

    /// Returns the names of what the operations of the program are behind a change.
    fn followed(change: impl FnOnce(&mut Body, &[crate::Op])) -> Vec<String> {
        let ctx = Context::new(Registry::new());
        let mut body = text::parse(&ctx, PROGRAM, "input").expect("it reads");
        let ops: Vec<_> = body.all_ops().collect();
        body.follow(&ops);
        change(&mut body, &ops);
        let fates = body.take_followed();
        let name = |fate: Fate| match fate {
            Fate::Is(op) => body.op_ref(op).name().to_owned(),
            other => format!("{other:?}"),
        };
        fates.into_iter().map(name).collect()
    }

    #[test]
    fn replaced_by_one_operation() {
        let found = followed(|body, ops| {
            let (old, new) = (body.result(ops[0], 0), body.result(ops[1], 0));
            body.replace_all_uses(old, new);
            body.erase(ops[0]);
        });
        assert_eq!(found, ["x.b", "x.b", "x.pair", "x.use"]);
    }

    #[test]
    fn replaced_by_two_operations_and_erased() {
        let found = followed(|body, ops| {
            let (a, b) = (body.result(ops[0], 0), body.result(ops[1], 0));
            body.replace_all_uses(body.result(ops[2], 0), a);
            body.replace_all_uses(body.result(ops[2], 1), b);
            body.erase(ops[2]);
            body.erase(ops[3]);
        });
        assert_eq!(found, ["x.a", "x.b", "Split", "Erased"]);
    }

    #[test]
    fn copies() {
        let found = followed(|body, ops| {
            for at in [3, 3] {
                let copy = body.copy_op(ops[at], &mut Mapping::default());
                body.insert_before(ops[3], copy);
            }
            let copy = body.copy_op(ops[1], &mut Mapping::default());
            body.insert_before(ops[1], copy);
            body.erase(ops[1]);
        });
        assert_eq!(found, ["x.a", "x.b", "x.pair", "Copied"]);
    }

    #[test]
    fn slots_are_free_again_afterwards() {
        let ctx = Context::new(Registry::new());
        let mut body = text::parse(&ctx, PROGRAM, "input").expect("it reads");
        let ops: Vec<_> = body.all_ops().collect();
        let slots = body.num_op_slots();
        let mut turn = |follows: bool| {
            if follows {
                body.follow(&ops[..1]);
            }
            let last = body.all_ops().last().expect("there are some");
            let copy = body.copy_op(last, &mut Mapping::default());
            body.insert_before(last, copy);
            body.erase(last);
            drop(body.take_followed());
            body.num_op_slots()
        };
        assert_eq!(turn(true), slots + 1);
        assert_eq!(turn(false), slots + 1);
    }
}
