//! Terms: the values of one run as expressions over what the function was given.
//!
//! Terms are hash-consed in one store for both programs, so equal terms have equal numbers. A sum
//! is a polynomial modulo a power of two. A value that depends on a condition is a decision
//! diagram: the variable with the greatest number stands on top, so the diagrams are canonical.
//! Truth values are diagrams too.
//!
//! **Invariant.** The meaning of a term depends on the input alone. A term may mean anything where
//! the run that made it is undefined.
//! **Cost.** Work is counted in [`Store::spend`], and ends at a bound.

use hashbrown::HashMap;
use loomir_ir::{Attr, Dict, Name, OpName, Type};

pub(super) type TermId = u32;
pub(super) type Run<T> = Result<T, Stop>;

/// The truth value false.
pub(super) const FALSE: TermId = 0;
/// The truth value true.
pub(super) const TRUE: TermId = 1;
/// The element of a new buffer that was never written.
pub(super) const UNWRITTEN: TermId = 2;
/// The result of an operation that is undefined.
pub(super) const ANYTHING: TermId = 3;

/// The most terms of one run of both programs.
const MAX_TERMS: usize = 400_000;

/// A cause that ends a run early.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// The run depends on whether an argument is at most a number.
    Split { argument: usize, at: i64 },
    /// The run depends on whether the first buffer ends before the second one begins.
    Order([usize; 2]),
    /// The original is undefined on all inputs of this run.
    Undefined,
    /// The run is not understood, or takes too long: the reason.
    Refused(String),
}

pub(super) fn refused<T>(reason: impl Into<String>) -> Run<T> {
    Err(Stop::Refused(reason.into()))
}

/// The known facts about the input of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    /// For each argument that is an integer of at most 64 bits: its least and greatest value.
    pub(super) ranges: Vec<Option<(i64, i64)>>,
    /// Pairs of buffers, each with true if the first ends before the second begins.
    pub(super) orders: Vec<([usize; 2], bool)>,
    /// The bytes of each buffer among the arguments, where known.
    pub(super) bytes: Vec<Option<i64>>,
}

/// A buffer that both programs know.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Key {
    /// An argument of the function.
    Argument(usize),
    /// A global, by the order in which runs met them.
    Global(usize),
    /// An allocation of one of the programs, by its number in the run.
    Own(usize),
}

/// An element of a buffer.
pub(super) type Place = (Key, usize);

/// Operations on integers without a normal form of their own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Binary {
    FloorDiv,
    CeilDiv,
    DivS,
    DivU,
    RemS,
    RemU,
    Shl,
    ShrS,
    ShrU,
}

/// Operations on integers whose operands have no order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Family {
    MaxS,
    MinS,
    MaxU,
    MinU,
    And,
    Or,
    Xor,
    /// A product that is too large to be multiplied out.
    Mul,
    /// The greatest of floats, without flags.
    MaxF,
    /// The least of floats, without flags.
    MinF,
    /// A sum of floats in any order, with these flags.
    SumF(u64),
    /// A product of floats in any order, with these flags.
    MulF(u64),
    /// A float that is subtracted from a sum.
    NegF,
}

/// Arithmetic that may wrap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    Mul,
}

/// Factors of a product, in order, with its coefficient.
pub(super) type Product = (Box<[TermId]>, u64);

/// The kinds of terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Node {
    /// An integer, sign-extended; of width 1 it is 0 or 1.
    Int {
        width: u32,
        value: i64,
    },
    /// Any other constant.
    Constant {
        attr: Attr,
        ty: Type,
    },
    /// The element of a new buffer that was never written.
    Unwritten,
    /// The result of an operation that is undefined.
    Anything,
    /// An argument of the function.
    Argument(usize),
    /// The address of a buffer among the arguments.
    Address(usize),
    /// An element as the function found it.
    Initial(Place),
    /// A sum of products modulo a power of two, in order.
    Sum {
        width: u32,
        products: Box<[Product]>,
    },
    /// Operands in any order.
    Combined {
        family: Family,
        width: u32,
        operands: Box<[TermId]>,
    },
    Binary {
        code: Binary,
        width: u32,
        operands: [TermId; 2],
    },
    /// An operation without effects. The fields are its name, properties, result and type.
    Operation {
        name: OpName,
        properties: Dict,
        result: usize,
        ty: Type,
        operands: Box<[TermId]>,
    },
    /// True if the first integer is less than the second.
    Less {
        unsigned: bool,
        width: u32,
        operands: [TermId; 2],
    },
    /// True if an integer is zero.
    Zero(TermId),
    /// True if a sum, difference or product leaves its type.
    Wraps {
        code: Arithmetic,
        unsigned: bool,
        width: u32,
        operands: [TermId; 2],
    },
    /// True if a value is poison.
    Poison(TermId),
    /// The value that the second program makes of poison, by its number in the run.
    Frozen(usize),
    /// An element behind writes to buffers that may overlap its own.
    Mixed {
        place: Place,
        old: TermId,
        writes: Box<[(Place, TermId)]>,
    },
    /// True if two elements of different buffers lie in one place, in part at least.
    Shared([Place; 2]),
    /// True if the two views of a copy overlap, and are not the same.
    Overlap(Box<[(Key, Box<[i64]>)]>),
    /// The first case whose number the variable has, or else the default.
    Choice {
        variable: TermId,
        cases: Box<[(i64, TermId)]>,
        default: TermId,
    },
}

/// Facts about a term that are kept beside it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traits {
    /// True if the term depends on integer arguments alone.
    pub(super) is_invariant: bool,
    /// True if an element never written may be the value.
    pub(super) may_be_unwritten: bool,
}

/// All terms of a run.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) facts: Facts,
    pub(super) nodes: Vec<Node>,
    traits: Vec<Traits>,
    numbers: HashMap<Node, TermId>,
    pub(super) choices: HashMap<[TermId; 3], TermId>,
    pub(super) assumed: HashMap<[TermId; 2], TermId>,
    /// Globals, in the order in which they were met.
    pub(super) globals: Vec<Name>,
    /// The work that may still be done.
    pub(super) left: u64,
    /// True if floats may be combined in another order where flags allow that.
    pub(super) reassociates: bool,
    /// True if there are such floats.
    pub(super) has_loose_floats: bool,
    /// True if the original is undefined where iterations of a parallel loop race.
    pub(super) has_races: bool,
}

impl Store {
    pub(super) fn new(facts: Facts, left: u64) -> Store {
        let mut store = Store {
            facts,
            nodes: Vec::new(),
            traits: Vec::new(),
            numbers: HashMap::new(),
            choices: HashMap::new(),
            assumed: HashMap::new(),
            globals: Vec::new(),
            left,
            reassociates: false,
            has_races: false,
            has_loose_floats: false,
        };
        let first = [
            Node::Int { width: 1, value: 0 },
            Node::Int { width: 1, value: 1 },
            Node::Unwritten,
            Node::Anything,
        ];
        first.into_iter().for_each(|node| {
            store.add(node);
        });
        store
    }

    /// Counts work; an error when all that is allowed is done.
    pub(super) fn spend(&mut self, work: usize) -> Run<()> {
        match self.left.checked_sub(work as u64) {
            Some(left) => self.left = left,
            None => return refused("executing both programs with all values open takes too long"),
        }
        Ok(())
    }

    fn add(&mut self, node: Node) -> TermId {
        let id = self.nodes.len() as TermId;
        self.traits.push(self.traits_of(&node));
        self.nodes.push(node.clone());
        self.numbers.insert(node, id);
        id
    }

    /// Returns the number of a node.
    pub(super) fn term(&mut self, node: Node) -> Run<TermId> {
        if let Some(known) = self.numbers.get(&node) {
            return Ok(*known);
        }
        self.spend(1 + size(&node))?;
        if self.nodes.len() >= MAX_TERMS {
            return refused("executing both programs with all values open makes too many terms");
        }
        Ok(self.add(node))
    }

    /// Returns the truth value of a node that is true or false.
    pub(super) fn truth(&mut self, node: Node) -> Run<TermId> {
        let variable = self.term(node)?;
        self.truth_of(variable)
    }

    /// Returns a truth value that is kept in a term as a diagram.
    pub(super) fn truth_of(&mut self, variable: TermId) -> Run<TermId> {
        match self.nodes[variable as usize] {
            Node::Choice { .. } | Node::Int { .. } | Node::Unwritten | Node::Anything => Ok(variable),
            _ => self.term(Node::Choice { variable, cases: [(1, TRUE)].into(), default: FALSE }),
        }
    }

    pub(super) fn node(&self, term: TermId) -> &Node {
        &self.nodes[term as usize]
    }

    pub(super) fn traits(&self, term: TermId) -> Traits {
        self.traits[term as usize]
    }

    /// Returns the integer that a term is.
    pub(super) fn constant(&self, term: TermId) -> Option<i64> {
        match self.node(term) {
            Node::Int { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// Returns an integer of a type, wrapped.
    pub(super) fn int(&mut self, width: u32, value: i64) -> Run<TermId> {
        self.term(Node::Int { width, value: wrapped(width, value) })
    }

    fn traits_of(&self, node: &Node) -> Traits {
        let mut traits = Traits { is_invariant: true, may_be_unwritten: false };
        match node {
            Node::Int { .. } | Node::Constant { .. } => {}
            Node::Argument(index) => {
                traits.is_invariant = self.facts.ranges.get(*index).is_some_and(Option::is_some);
            }
            Node::Unwritten => return Traits { is_invariant: false, may_be_unwritten: true },
            Node::Anything | Node::Address(_) | Node::Initial(_) | Node::Poison(_) | Node::Frozen(_) => {
                traits.is_invariant = false;
            }
            Node::Mixed { .. } | Node::Overlap(_) | Node::Shared(_) => traits.is_invariant = false,
            Node::Choice { variable, cases, default } => {
                let values = cases.iter().map(|(_, value)| *value).chain([*default]);
                for value in values {
                    let own = self.traits(value);
                    traits.is_invariant &= own.is_invariant;
                    traits.may_be_unwritten |= own.may_be_unwritten;
                }
                traits.is_invariant &= self.traits(*variable).is_invariant;
            }
            other => each_operand(other, &mut |term| traits.is_invariant &= self.traits(term).is_invariant),
        }
        traits
    }
}

/// Calls a function on each term that a node is made of, the writes of [`Node::Mixed`] excepted.
pub(super) fn each_operand(node: &Node, call: &mut dyn FnMut(TermId)) {
    match node {
        Node::Sum { products, .. } => {
            products.iter().flat_map(|(factors, _)| factors.iter()).for_each(|term| call(*term));
        }
        Node::Combined { operands, .. } | Node::Operation { operands, .. } => {
            operands.iter().for_each(|term| call(*term));
        }
        Node::Binary { operands, .. } | Node::Less { operands, .. } | Node::Wraps { operands, .. } => {
            operands.iter().for_each(|term| call(*term));
        }
        Node::Zero(term) | Node::Poison(term) => call(*term),
        Node::Choice { variable, cases, default } => {
            call(*variable);
            cases.iter().for_each(|(_, term)| call(*term));
            call(*default);
        }
        _ => {}
    }
}

/// Returns how many parts a node has.
fn size(node: &Node) -> usize {
    match node {
        Node::Sum { products, .. } => products.len(),
        Node::Combined { operands, .. } | Node::Operation { operands, .. } => operands.len(),
        Node::Mixed { writes, .. } => writes.len(),
        Node::Choice { cases, .. } => cases.len(),
        _ => 1,
    }
}

/// Returns the number of a type that is equal to another one modulo a power of two.
pub(super) fn wrapped(width: u32, value: i64) -> i64 {
    match width {
        1 => value & 1,
        2..64 => value << (64 - width) >> (64 - width),
        _ => value,
    }
}
