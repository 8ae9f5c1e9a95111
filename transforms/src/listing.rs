//! The dependences of a program, for each of its statements.
//!
//! A dependence goes from an instance of a statement, its source, to a later instance, its sink.
//! Their order must be kept. Instances of one pair of accesses with the same relation between their
//! iterations are one [`Dependence`] of the list.
//!
//! | [kind](Kind) | source | sink | goes |
//! | --- | --- | --- | --- |
//! | flow | writes | reads | through memory, a value, or a loop-carried value |
//! | anti | reads | writes | through memory |
//! | output | writes | writes | through memory |
//! | control | decides | runs accordingly | from the computation of a condition or a bound to the code inside; from operations that may not return to operations that may be undefined |
//!
//! All pairs that touch one location are listed, including those with accesses in between. Two
//! reads are no dependence.
//!
//! **Directions.** For each common loop, from the outside: the source runs in an earlier iteration
//! (`<`), in the same, or in a later one. The first loop whose direction is not "same" has an
//! earlier source; it *carries* the dependence. If all combinations of a set of directions occur,
//! they are one line. Each combination of a line occurs if the dependence is
//! [certain](Dependence::is_certain). A distance is listed if it is the same for all.
//!
//! **Complete.** Suppose two instances touch one location in a run without undefined behaviour, and
//! one of them writes. Then they are in the list, in their order. Inexact knowledge may add entries
//! that never occur; they are marked. A certain dependence has an example that happens.
//!
//! **Cost.** Accesses are put into buckets by their objects, and only buckets that may overlap are
//! compared. Unrelated arrays cost nothing beyond distinguishing named ones. Inside a bucket,
//! accesses of one [class](super::access::Class) in the same loops are examined once. A pair of
//! classes costs a question for each common loop, and for each direction of the loops inside that.
//! Apart from that, the cost is linear in the list.

use loomir_ir::{Body, Op, Value};
use loomir_polyhedra::Limits;
use smallvec::SmallVec;

use crate::access::Dependence as DependenceOracle;
use crate::access::base::Bases;
use crate::access::updates::Reduction;
use crate::legality::{Cause, Instance};
use crate::tree::{LoopId, Program, StatementId, TreeStore};

pub use directions::{Directions, Entry};
pub use print::{PASS, Words, print};

mod directions;
pub mod loops;
mod memory;
mod print;
pub mod sample;
mod values;

/// Why an order counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// A read behind a write.
    Flow,
    /// A write behind a read.
    Anti,
    /// A write behind a write.
    Output,
    /// The sink runs after the operation that decides if it runs.
    Control,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Flow => "flow",
            Kind::Anti => "anti",
            Kind::Output => "output",
            Kind::Control => "control",
        }
    }
}

/// One end of a dependence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End {
    /// The statement.
    pub statement: StatementId,
    /// The operation of the statement that makes the access, computes the value, or uses it.
    pub op: Op,
}

/// The medium of a dependence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Through {
    /// Memory: the reason why both are assumed to touch one location.
    Memory(Cause),
    /// This value, which the sink uses directly.
    Value(Value),
    /// This value, which a loop carries, yields, or starts with.
    Carried(Value),
}

/// A dependence: instances of two accesses whose order must be kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dependence {
    /// The source.
    pub source: End,
    /// The sink.
    pub sink: End,
    /// The kinds; several if one of the accesses reads and writes.
    pub kinds: SmallVec<[Kind; 1]>,
    /// The medium.
    pub through: Through,
    /// The loop that carries it. `None` if both run in the same iteration of all common loops.
    pub carrier: Option<LoopId>,
    /// For each common loop, from the outside, the relation of the source's iteration to the
    /// sink's.
    pub vector: Vec<Entry>,
    /// The reduction of both updates. Their order alone does not matter.
    pub reduction: Option<Reduction>,
    /// True if nothing was approximated.
    pub is_certain: bool,
    /// Two instances as an example, as far as they are known.
    pub example: Option<Box<[Instance; 2]>>,
}

/// The dependences of a program. See the [module](self).
#[derive(Clone, Debug)]
pub struct Dependences {
    all: Vec<Dependence>,
    /// The places in `all` of the dependences out of each statement, and into it.
    of: Vec<[Vec<u32>; 2]>,
}

/// The options for listing dependences.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The overlap of objects. Objects assumed distinct have no dependences.
    pub bases: &'a Bases<'a>,
    /// The dependence test.
    pub dependence: &'a dyn DependenceOracle,
    /// The limits on one question.
    pub limits: &'a Limits,
}

impl Dependences {
    /// Returns the dependences of a program that was raised from `body`.
    ///
    /// ```
    /// # use loomir_dialects as dialects;
    /// # use loomir_ir::text;
    /// # use loomir_polyhedra::Limits;
    /// # use loomir_transforms::access::dependence::Polyhedral;
    /// # use loomir_transforms::access::base::{AliasMode, Bases};
    /// use loomir_transforms::listing::{Dependences, Kind, Options};
    /// use loomir_transforms::tree::{TreeStore, StatementId, raise::raise};
    ///
    /// # let ctx = dialects::context();
    /// let source = "
    ///     func.func @f(%a: memref<9xi32>) {
    ///       affine.for %i = 1 to 9 {
    ///         %x = affine.load %a[%i - 1] : memref<9xi32>
    ///         affine.store %x, %a[%i] : memref<9xi32>
    ///       }
    ///       return
    ///     }";
    /// # let mut module = text::parse(&ctx, source, "example.mlir").unwrap();
    /// # let function: &_ = module.nested_in_order().remove(0);
    /// # let block = function.blocks(function.own_regions(function.root()).next().unwrap()).next().unwrap();
    /// let mut trees = TreeStore::default();
    /// let program = raise(function, block, &mut trees, AliasMode::May);
    /// let (bases, limits) = (Bases::new(function, AliasMode::May), Limits::default());
    /// let options = Options { bases: &bases, dependence: &Polyhedral, limits: &limits };
    /// let all = Dependences::of(function, &program, &trees, &options);
    /// // What the store writes the load of the next iteration reads.
    /// let load = StatementId(0);
    /// let [flow] = all.reaching(load).collect::<Vec<_>>()[..] else { panic!() };
    /// assert_eq!(flow.kinds[..], [Kind::Flow]);
    /// assert_eq!(flow.vector[0].distance, Some(1));
    /// assert!(flow.is_certain);
    /// ```
    pub fn of(body: &Body, program: &Program, trees: &TreeStore, options: &Options<'_>) -> Dependences {
        let mut found = memory::dependences(body, program, trees, options);
        found.extend(values::dependences(body, program, trees, options));
        found.sort_by_key(|one| (one.source.statement, one.sink.statement));
        let mut of = vec![<[Vec<u32>; 2]>::default(); program.statements().count()];
        for (one, place) in found.iter().zip(0..) {
            of[one.source.statement.0 as usize][0].push(place);
            of[one.sink.statement.0 as usize][1].push(place);
        }
        Dependences { all: found, of }
    }

    /// Returns all dependences, by source.
    pub fn iter(&self) -> impl Iterator<Item = &Dependence> {
        self.all.iter()
    }

    /// Returns the dependences with this statement as their source.
    pub fn leaving(&self, statement: StatementId) -> impl Iterator<Item = &Dependence> {
        self.at(statement, 0)
    }

    /// Returns the dependences with this statement as their sink.
    pub fn reaching(&self, statement: StatementId) -> impl Iterator<Item = &Dependence> {
        self.at(statement, 1)
    }

    fn at(&self, statement: StatementId, side: usize) -> impl Iterator<Item = &Dependence> {
        let places = self.of.get(statement.0 as usize).map_or(&[][..], |own| &own[side]);
        places.iter().map(|place| &self.all[*place as usize])
    }
}
