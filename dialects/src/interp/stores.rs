//! The stores of a run, in order. Pictures of the order of iterations need them.
//!
//! **Limits.** Stores of single elements of memrefs count. Copies, vectors, `linalg` and stores
//! through pointers do not.

use loomir_ir::Loc;

use super::datum::ObjectId;

/// The most stores that are recorded.
pub const MAX_STORES: usize = 1 << 16;

/// The memref that a store writes to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Stored {
    /// The argument of this number.
    Argument(usize),
    /// Memory that the run allocated, in the order of first stores.
    Local(usize),
}

/// One store of an element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Store {
    /// The memref.
    pub memref: Stored,
    /// The sizes of the memref.
    pub sizes: Box<[i64]>,
    /// The subscripts.
    pub element: Box<[i64]>,
    /// The location of the operation.
    pub loc: Loc,
}

/// The state of a run that records stores.
#[derive(Debug, Default)]
pub(super) struct Stores {
    arguments: Vec<(ObjectId, usize)>,
    locals: Vec<ObjectId>,
    all: Vec<Store>,
}

impl Stores {
    /// Begins the call of the entry, with the objects of its arguments.
    pub(super) fn begin(&mut self, arguments: Vec<(ObjectId, usize)>) {
        self.arguments = arguments;
    }

    /// Returns all stores, in order.
    pub(super) fn into_all(self) -> Vec<Store> {
        self.all
    }

    /// Records a store.
    pub(super) fn add(&mut self, object: ObjectId, sizes: Box<[i64]>, element: Box<[i64]>, loc: Loc) {
        if self.all.len() >= MAX_STORES {
            return;
        }
        let argument = self.arguments.iter().find(|(own, _)| *own == object);
        let memref = match argument {
            Some((_, number)) => Stored::Argument(*number),
            None => {
                let known = self.locals.iter().position(|own| *own == object);
                Stored::Local(known.unwrap_or_else(|| {
                    self.locals.push(object);
                    self.locals.len() - 1
                }))
            }
        };
        self.all.push(Store { memref, sizes, element, loc });
    }
}
