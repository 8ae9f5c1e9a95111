//! The dependences of a program, for each of its statements.
//!
//! A dependence goes from an instance of a statement, its source, to one that runs later, its sink:
//! what the later one does has to stay behind what the earlier one did. Instances of one pair of
//! accesses whose iterations lie to each other alike are one [`Dependence`] of the list.
//!
//! | [kind](Kind) | source | sink | goes |
//! | --- | --- | --- | --- |
//! | flow | writes | reads | through memory, a value, or a value that a loop carries |
//! | anti | reads | writes | through memory |
//! | output | writes | writes | through memory |
//! | control | decides | runs for that | from what computes a condition or a bound to what is inside; from what may not return to what may be undefined |
//!
//! All pairs that touch one location are told, not only those with nothing between. Two reads are
//! none.
//!
//! **Directions.** For each loop of the program around both, from the outside: whether the source
//! runs in an earlier iteration (`<`), in the same, or in a later one. The first that is not the
//! same is earlier, that loop *carries* the dependence. Directions that all occur with all others
//! of a line are one line; each of a line occurs, where the dependence is
//! [certain](Dependence::is_certain). A distance is told where it is one for all.
//!
//! **Complete.** Two instances that touch one location in a run without undefined behaviour, one of
//! them writing, are in the list, in their order. What is not known exactly may be in it without
//! need, and is marked: a dependence that is certain has an example that happens.
//!
//! **Cost.** Accesses are put into buckets by their objects, and only buckets that may overlap are
//! looked at: arrays that have nothing to do with each other cost nothing, other than that named
//! ones are told apart. Inside a bucket accesses of one [class](super::access::Class) are asked
//! about once, in the loops at hand; a pair of classes is a question for each loop around both, and
//! for each direction of the loops inside that. Beyond that it is linear in what is listed.

use loomir_ir::{Body, Op, Value};
use loomir_polyhedra::Limits;
use smallvec::SmallVec;

use crate::access::Dependence as DependenceOracle;
use crate::access::base::Bases;
use crate::access::updates::Reduction;
use crate::legality::{Cause, Instance};
use crate::tree::{LoopId, Program, StatementId, TreeStore};

pub use directions::{Directions, Entry};
pub use print::{PASS, print};

mod directions;
mod memory;
mod print;
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
    /// What runs behind what decides whether it does.
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
    /// The operation of it that makes the access, computes the value, or uses it.
    pub op: Op,
}

/// What a dependence goes through.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Through {
    /// Memory: why both are taken to touch one location.
    Memory(Cause),
    /// This value, which the sink uses as it is.
    Value(Value),
    /// This value, which a loop carries, hands on, or begins with.
    Carried(Value),
}

/// Instances of two accesses that have to stay in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dependence {
    /// What is first.
    pub source: End,
    /// What is behind.
    pub sink: End,
    /// What it is; several things if one of both reads and writes.
    pub kinds: SmallVec<[Kind; 1]>,
    /// What it goes through.
    pub through: Through,
    /// The loop that carries it; nothing if both run in the same iteration of all loops around
    /// both.
    pub carrier: Option<LoopId>,
    /// For each loop around both, from the outside, how the iteration of the source lies to that of
    /// the sink.
    pub vector: Vec<Entry>,
    /// The reduction of which both are updates: by itself their order does not matter.
    pub reduction: Option<Reduction>,
    /// True if nothing was approximated.
    pub is_certain: bool,
    /// Two instances, for what is known of them.
    pub example: Option<Box<[Instance; 2]>>,
}

/// The dependences of a program. See the [module](self).
#[derive(Clone, Debug)]
pub struct Dependences {
    all: Vec<Dependence>,
    /// The places in `all` of those out of each statement, and into it.
    of: Vec<[Vec<u32>; 2]>,
}

/// What dependences are told with.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Which objects may overlap. Of those that are assumed to be apart there are no dependences.
    pub bases: &'a Bases<'a>,
    /// Which accesses conflict.
    pub dependence: &'a dyn DependenceOracle,
    /// What one question may cost.
    pub limits: &'a Limits,
}

impl Dependences {
    /// The dependences of a program that was raised from `body`.
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

    /// All of them, by source.
    pub fn iter(&self) -> impl Iterator<Item = &Dependence> {
        self.all.iter()
    }

    /// Those of which a statement is the source.
    pub fn leaving(&self, statement: StatementId) -> impl Iterator<Item = &Dependence> {
        self.at(statement, 0)
    }

    /// Those of which a statement is the sink.
    pub fn reaching(&self, statement: StatementId) -> impl Iterator<Item = &Dependence> {
        self.at(statement, 1)
    }

    fn at(&self, statement: StatementId, side: usize) -> impl Iterator<Item = &Dependence> {
        let places = self.of.get(statement.0 as usize).map_or(&[][..], |own| &own[side]);
        places.iter().map(|place| &self.all[*place as usize])
    }
}
