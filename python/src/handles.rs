//! The operations and blocks that Python knows by number.
//!
//! A number is given out once and never again. Erasing an operation ends the numbers of all that is
//! in it. Work that rewrites the module ends all numbers. A value is named by the number of what
//! defines it, and its position there.
//!
//! **Cost.** A look-up follows the bodies around an operation, one in most programs.

use hashbrown::HashMap;
use loomir::ir::{Block, Body, Op, Value};

/// An operation or a block, in the body that stores it. An operation that owns a body is named as
/// its slot in the body around it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Entity {
    Op(Op),
    Block(Block),
}

/// The number of a body: 0 is the module's.
pub(crate) type BodyNumber = u32;

/// The numbers in use.
#[derive(Default, Debug)]
pub(crate) struct Handles {
    /// Where each body but the module's is: the body around it, and the operation that owns it.
    owners: Vec<Option<(BodyNumber, Op)>>,
    inside: HashMap<(BodyNumber, Op), BodyNumber>,
    numbers: HashMap<(BodyNumber, Entity), u64>,
    entities: HashMap<u64, (BodyNumber, Entity)>,
    given: u64,
}

impl Handles {
    /// Ends all numbers.
    pub(crate) fn end_all(&mut self) {
        *self = Handles { given: self.given, ..Handles::default() };
    }

    /// Returns the number of an entity, a new one if it has none.
    pub(crate) fn number(&mut self, body: BodyNumber, entity: Entity) -> u64 {
        let given = &mut self.given;
        let number = *self.numbers.entry((body, entity)).or_insert_with(|| {
            *given += 1;
            *given
        });
        self.entities.insert(number, (body, entity));
        number
    }

    /// Returns the number of an operation as users see it: the root of a body inside another one is
    /// the operation that owns the body.
    pub(crate) fn op_number(&mut self, body: BodyNumber, op: Op, is_root: bool) -> u64 {
        match self.owner(body).filter(|_| is_root) {
            Some((around, slot)) => self.number(around, Entity::Op(slot)),
            None => self.number(body, Entity::Op(op)),
        }
    }

    /// Returns the entity of a number, if the number is alive.
    pub(crate) fn entity(&self, number: u64) -> Option<(BodyNumber, Entity)> {
        self.entities.get(&number).copied()
    }

    /// Returns the number of the body that an operation owns.
    pub(crate) fn inside(&mut self, body: BodyNumber, slot: Op) -> BodyNumber {
        if let Some(known) = self.inside.get(&(body, slot)) {
            return *known;
        }
        self.owners.push(Some((body, slot)));
        let number = self.owners.len() as BodyNumber;
        self.inside.insert((body, slot), number);
        number
    }

    /// Returns the body around a body, and the operation there that owns it.
    pub(crate) fn owner(&self, body: BodyNumber) -> Option<(BodyNumber, Op)> {
        *self.owners.get((body as usize).checked_sub(1)?)?
    }

    /// Returns the operations that lead from the module to a body.
    pub(crate) fn path(&self, body: BodyNumber) -> Vec<Op> {
        let mut path = Vec::new();
        let mut at = body;
        while let Some((around, slot)) = self.owner(at) {
            path.push(slot);
            at = around;
        }
        path.reverse();
        path
    }

    /// Returns a body by its number.
    pub(crate) fn body<'b>(&self, module: &'b Body, number: BodyNumber) -> Option<&'b Body> {
        self.path(number).into_iter().try_fold(module, |body, slot| body.nested(slot))
    }

    /// Returns a body by its number, to change.
    pub(crate) fn body_mut<'b>(&self, module: &'b mut Body, number: BodyNumber) -> Option<&'b mut Body> {
        self.path(number).into_iter().try_fold(module, |body, slot| body.nested_mut(slot))
    }

    /// Ends the numbers of an operation and of all in it. Called before it is erased.
    pub(crate) fn end(&mut self, module: &Body, body: BodyNumber, op: Op) {
        let mut open = vec![(body, op)];
        while let Some((number, op)) = open.pop() {
            let Some(own) = self.body(module, number) else { continue };
            for op in own.preorder(op) {
                self.forget(number, Entity::Op(op));
                for block in own.own_regions(op).flat_map(|region| own.blocks(region)) {
                    self.forget(number, Entity::Block(block));
                }
                if let Some(nested) = self.inside.remove(&(number, op)) {
                    open.extend(own.nested(op).map(|body| (nested, body.root())));
                }
            }
        }
    }

    fn forget(&mut self, body: BodyNumber, entity: Entity) {
        if let Some(number) = self.numbers.remove(&(body, entity)) {
            self.entities.remove(&number);
        }
    }
}

/// Returns value `index` of an entity: a result or an argument.
pub(crate) fn value(body: &Body, entity: Entity, index: usize) -> Option<Value> {
    match entity {
        Entity::Op(op) => body.results(op).nth(index),
        Entity::Block(block) => body.arguments(block).nth(index),
    }
}
