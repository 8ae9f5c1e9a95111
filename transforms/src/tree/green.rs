//! Green nodes: immutable, each made once.
//!
//! A [`TreeStore`] holds every node of every tree; equal nodes are one [`Green`], a number. A node
//! knows no parent, no place and no depth, so it can be in any number of trees. Frequently used
//! properties of nodes (the number of items, the number of leaves, the loops around them that they
//! refer to) are stored beside them.
//!
//! **Cost.** A node takes about 40 bytes with its entry in the table. Making one is a probe of that
//! table.

use std::hash::Hash;

use loomir_ir::affine::ceil_div;

use super::ids::{IfId, LoopId, StatementId};
use crate::affine::{AffineForm, Atom};
use crate::assumption::Assumption;
use crate::lookup::Lookup;

/// A tree, as a number. Equal numbers in one store are equal trees.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Green(u32);

impl Green {
    /// Returns the number in the store. Numbers are dense, for side tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An affine map: for each iteration variable of a statement, a form over the loops around the leaf
/// ([`Atom::Level`] counts outwards).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Map(u32);

/// A loop's iteration domain and its origins, uniqued.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct HeaderId(u32);

/// The tested assumptions of a versioned node, uniqued.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AssumptionId(u32);

/// A node of a tree. Bodies are sequences; items of sequences are loops, guards, versioned nodes
/// and leaves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// The sequence of nothing.
    Empty,
    /// The left part, one item, the right part. See [`TreeStore::sequence`].
    Sequence {
        /// The items before.
        left: Green,
        /// One item.
        item: Green,
        /// The items after.
        right: Green,
    },
    /// Runs its body, a sequence, for each value of the induction variable, in increasing order.
    Loop {
        /// The values of the induction variable.
        header: HeaderId,
        /// The body.
        body: Green,
    },
    /// Runs its body, a sequence, if a condition of the program holds, or if it fails. The two
    /// sides of an `if` are two neighbouring guards.
    Guard {
        /// The `if` whose condition it is.
        of: IfId,
        /// The instance of the `if`.
        map: Map,
        /// True if the condition has to hold. False if it has to fail.
        holds: bool,
        /// The body.
        body: Green,
    },
    /// Runs one of two sequences.
    Versioned {
        /// The tested assumptions.
        assumption: AssumptionId,
        /// The tree that runs if they hold.
        fast: Green,
        /// The tree that runs if they do not hold.
        fallback: Green,
    },
    /// An instance of a statement.
    Leaf {
        /// The statement.
        statement: StatementId,
        /// The instance of the statement.
        map: Map,
    },
}

/// The values of a loop's induction variable.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Span {
    /// The iterations of its first origin.
    Whole,
    /// All `x` that satisfy every lower bound, `scale · x ≥ form`, and every upper bound,
    /// `scale · x < form`. The forms are over the loops around.
    Range {
        /// Positive.
        scale: i64,
        /// At least one.
        lower: Box<[AffineForm]>,
        /// At least one.
        upper: Box<[AffineForm]>,
    },
}

/// A loop of the program that a loop of the tree runs, completely or in part.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Origin {
    /// The loop of the program.
    pub of: LoopId,
    /// The executed iteration of this loop and of the program's loops around it: forms over the
    /// loop itself, level 0, and the loops around.
    pub map: Box<[AffineForm]>,
}

/// The iteration domain of a loop, and the loops of the program that it runs.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Header {
    /// The values of the induction variable.
    pub span: Span,
    /// The loops of the program in it, in order. The first determines its form.
    pub origins: Box<[Origin]>,
    /// True if the iterations may run in any order, or at the same time.
    pub parallel: bool,
    /// The mark of the written loop.
    pub mark: Option<Mark>,
}

/// The mark that an edit leaves on a loop for later runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mark {
    /// A remainder of fusion. It is not fused.
    Remainder,
    /// A loop that contains a part distributed from another one. It is not distributed for another
    /// fusion.
    Distributed,
    /// An unrolled loop, or the iterations left over. Directives that ask for unrolling are obeyed.
    Unrolled,
    /// The same for unroll-and-jam.
    Jammed,
    /// A nest of loops that became one. It keeps the attributes of the outermost one.
    Flattened,
    /// A vectorized loop, or the iterations left over.
    Vectorized,
    /// A number of iterations that are written one after the other, without a loop.
    Copies,
    /// A number of iterations that run at once, as operations on vectors.
    Lanes {
        /// The number of iterations. With a mask, the most.
        count: u32,
        /// True if there may be fewer iterations, so that only the first lanes run.
        masked: bool,
    },
    /// One of two loops, the second inside the first, that are written as one loop along Hilbert's
    /// curve. Its iterations run in any order. They are below two to the power of `levels`.
    Hilbert {
        /// The number of times that the square of both is halved.
        levels: u32,
    },
}

impl Header {
    /// True if the iterations may run in another order than that of their numbers.
    pub fn in_any_order(&self) -> bool {
        self.parallel || matches!(self.mark, Some(Mark::Hilbert { .. }))
    }

    /// True if the iterations run at once, as operations on vectors.
    pub fn are_lanes(&self) -> bool {
        matches!(self.mark, Some(Mark::Lanes { .. }))
    }
}

/// Stored properties of a node.
#[derive(Clone, Copy, Debug)]
struct Facts {
    /// The number of items, if the node is a sequence.
    len: u32,
    /// Leaves, at most `u32::MAX`.
    leaves: u32,
    /// The number of surrounding loops that it may refer to.
    free: u32,
    /// True if a loop of it is marked as [copies](Mark::Copies).
    has_copies: bool,
}

/// A node, and its properties beside it, because both are used together.
#[derive(Debug)]
struct Known {
    node: Node,
    facts: Facts,
}

/// Values stored once each, and known by number.
#[derive(Debug)]
struct Uniqued<T> {
    values: Vec<T>,
    index: Lookup,
}

impl<T: Hash + Eq> Uniqued<T> {
    fn new() -> Self {
        Uniqued { values: Vec::new(), index: Lookup::default() }
    }

    fn intern(&mut self, value: T) -> u32 {
        match self.index.find(&self.values, &value, |own| own) {
            Ok(id) => id,
            Err(absent) => {
                self.values.push(value);
                self.index.add(absent, &self.values, |own| own);
                self.values.len() as u32 - 1
            }
        }
    }
}

/// The arena of green nodes. See the [module](self).
#[derive(Debug)]
pub struct TreeStore {
    nodes: Vec<Known>,
    places: Lookup,
    headers: Uniqued<Header>,
    maps: Uniqued<Box<[AffineForm]>>,
    assumptions: Uniqued<Vec<Assumption>>,
}

impl Default for TreeStore {
    fn default() -> Self {
        let mut trees = TreeStore {
            nodes: Vec::new(),
            places: Lookup::default(),
            headers: Uniqued::new(),
            maps: Uniqued::new(),
            assumptions: Uniqued::new(),
        };
        trees.node(Node::Empty);
        trees
    }
}

impl TreeStore {
    /// The sequence of nothing.
    pub const EMPTY: Green = Green(0);

    /// Returns the number of bytes of the nodes, tables included. Headers and maps are extra.
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Known>() + self.places.allocation_size()
    }

    /// Returns the number of different nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True if the empty sequence is the only node.
    pub fn is_empty(&self) -> bool {
        self.len() == 1
    }

    /// Returns the node of a tree.
    pub fn get(&self, green: Green) -> Node {
        self.nodes[green.0 as usize].node
    }

    /// Returns a loop's header.
    pub fn header(&self, id: HeaderId) -> &Header {
        &self.headers.values[id.0 as usize]
    }

    /// Returns the forms of a map.
    pub fn map(&self, map: Map) -> &[AffineForm] {
        &self.maps.values[map.0 as usize]
    }

    /// Returns the map with these forms.
    pub fn make_map(&mut self, forms: Box<[AffineForm]>) -> Map {
        Map(self.maps.intern(forms))
    }

    /// Returns a leaf.
    pub fn leaf(&mut self, statement: StatementId, map: Map) -> Green {
        self.node(Node::Leaf { statement, map })
    }

    /// Returns a loop around a sequence.
    pub fn make_loop(&mut self, header: Header, body: Green) -> Green {
        let header = HeaderId(self.headers.intern(header));
        self.with_header(header, body)
    }

    /// Returns a loop with an existing header.
    pub fn with_header(&mut self, header: HeaderId, body: Green) -> Green {
        self.node(Node::Loop { header, body })
    }

    /// Returns a guard around a sequence.
    pub fn guard(&mut self, of: IfId, map: Map, holds: bool, body: Green) -> Green {
        self.node(Node::Guard { of, map, holds, body })
    }

    /// Returns a versioned node of two sequences. If all assumptions hold, both are equivalent. The
    /// second one is always correct.
    pub fn versioned(&mut self, assumed: Vec<Assumption>, fast: Green, fallback: Green) -> Green {
        let assumption = AssumptionId(self.assumptions.intern(assumed));
        self.node(Node::Versioned { assumption, fast, fallback })
    }

    /// Returns the assumptions.
    pub fn assumptions(&self, id: AssumptionId) -> &[Assumption] {
        &self.assumptions.values[id.0 as usize]
    }

    /// Returns the number of items of a sequence; 0 for other nodes.
    pub fn items_in(&self, sequence: Green) -> usize {
        self.fact(sequence).len as usize
    }

    /// Returns the number of leaves of a tree.
    pub fn leaves(&self, tree: Green) -> u32 {
        self.fact(tree).leaves
    }

    /// Returns the number of surrounding loops that a tree may refer to: 0 if it can be anywhere.
    pub fn free(&self, tree: Green) -> u32 {
        self.fact(tree).free
    }

    /// True if loops of a tree are [written](TreeStore::written) as copies.
    pub(super) fn has_copies(&self, tree: Green) -> bool {
        self.fact(tree).has_copies
    }

    /// Returns a pseudo-random, deterministic number that orders items: the greater one is higher
    /// in the tree of a sequence.
    pub(super) fn priority(item: Green) -> u64 {
        u64::from(item.0 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    pub(super) fn node(&mut self, node: Node) -> Green {
        let absent = match self.places.find(&self.nodes, &node, |known| &known.node) {
            Ok(place) => return Green(place),
            Err(absent) => absent,
        };
        if self.nodes.len() == self.nodes.capacity() {
            // The capacity grows by a quarter, because there may be tens of millions of nodes.
            self.nodes.reserve_exact(16 + self.nodes.len() / 4);
        }
        self.nodes.push(Known { node, facts: self.facts_of(node) });
        self.places.add(absent, &self.nodes, |known| &known.node);
        Green(self.nodes.len() as u32 - 1)
    }

    fn fact(&self, green: Green) -> &Facts {
        &self.nodes[green.0 as usize].facts
    }

    fn facts_of(&self, node: Node) -> Facts {
        match node {
            Node::Empty => Facts { len: 0, leaves: 0, free: 0, has_copies: false },
            Node::Sequence { left, item, right } => {
                let (a, b, c) = (self.fact(left), self.fact(item), self.fact(right));
                Facts {
                    len: a.len + 1 + c.len,
                    leaves: a.leaves.saturating_add(b.leaves).saturating_add(c.leaves),
                    free: a.free.max(b.free).max(c.free),
                    has_copies: a.has_copies || b.has_copies || c.has_copies,
                }
            }
            Node::Loop { header, body } => {
                let inside = self.fact(body);
                let header = self.header(header);
                let bounds = header.span.forms().map(free_of).max().unwrap_or(0);
                let maps =
                    header.origins.iter().flat_map(|origin| &origin.map).map(free_of).max().unwrap_or(0);
                let free = bounds.max(maps.max(inside.free).saturating_sub(1));
                let has_copies = inside.has_copies || header.mark == Some(Mark::Copies);
                Facts { len: 0, leaves: inside.leaves, free, has_copies }
            }
            Node::Guard { map, body, .. } => {
                let inside = self.fact(body);
                let free = inside.free.max(self.free_of_map(map));
                Facts { len: 0, free, ..*inside }
            }
            Node::Versioned { fast, fallback, .. } => {
                let (a, b) = (self.fact(fast), self.fact(fallback));
                Facts {
                    len: 0,
                    leaves: a.leaves.saturating_add(b.leaves),
                    free: a.free.max(b.free),
                    has_copies: a.has_copies || b.has_copies,
                }
            }
            Node::Leaf { map, .. } => {
                Facts { len: 0, leaves: 1, free: self.free_of_map(map), has_copies: false }
            }
        }
    }

    fn free_of_map(&self, map: Map) -> u32 {
        self.map(map).iter().map(free_of).max().unwrap_or(0)
    }
}

impl Origin {
    /// Returns the shifted origin: it runs at `x + shift` the iteration of `x`.
    pub fn shifted(&self, shift: i64) -> Option<Origin> {
        self.mapped(&|form| form.shifted(0, shift))
    }

    /// Returns the origin with `f` applied to each form.
    pub(super) fn mapped(&self, f: &dyn Fn(&AffineForm) -> Option<AffineForm>) -> Option<Origin> {
        Some(Origin { of: self.of, map: self.map.iter().map(f).collect::<Option<_>>()? })
    }

    /// Returns the loop's own iteration.
    pub fn iteration(&self) -> Option<&AffineForm> {
        self.map.last()
    }
}

/// Returns the number of all `x` with `scale · x ≥` each lower and `scale · x <` each upper form,
/// if it is a constant. Without lower forms, they begin at zero.
pub(crate) fn trip_count(lower: &[AffineForm], upper: &[AffineForm], scale: i64) -> Option<i64> {
    let numbers = |forms: &[AffineForm]| {
        forms.iter().map(|form| form.ceil_div(scale)?.as_constant()).collect::<Option<Vec<i64>>>()
    };
    let first = numbers(lower)?.into_iter().max().unwrap_or(0);
    let end = numbers(upper)?.into_iter().min()?;
    Some(end.checked_sub(first)?.max(0))
}

impl Span {
    /// Returns all `x` with `scale · x ≥` each lower and `scale · x <` each upper form. Among forms
    /// that differ by a constant only the tightest is kept.
    pub fn range(scale: i64, lower: Vec<AffineForm>, upper: Vec<AffineForm>) -> Span {
        Span::Range { scale, lower: tightest(lower, i64::max), upper: tightest(upper, i64::min) }
    }

    /// Returns all forms of the span.
    pub fn forms(&self) -> impl Iterator<Item = &AffineForm> {
        let (lower, upper): (&[AffineForm], &[AffineForm]) = match self {
            Span::Whole => (&[], &[]),
            Span::Range { lower, upper, .. } => (lower, upper),
        };
        lower.iter().chain(upper)
    }

    /// True if the range is empty for all parameters.
    pub fn is_empty(&self) -> bool {
        let Span::Range { scale, lower, upper } = self else { return false };
        let is_empty = |lower: &AffineForm, upper: &AffineForm| {
            let multiples = [lower, upper].map(|form| ceil_div(form.as_constant()?, *scale));
            upper.minus(lower).and_then(|gap| gap.as_constant()).is_some_and(|gap| gap <= 0)
                || matches!(multiples, [Some(lower), Some(upper)] if upper <= lower)
        };
        lower.iter().any(|lower| upper.iter().any(|upper| is_empty(lower, upper)))
    }

    /// Returns the trip count, if it is a constant.
    pub fn trip_count(&self) -> Option<i64> {
        let Span::Range { scale, lower, upper } = self else { return None };
        trip_count(lower, upper, *scale)
    }

    /// True if the range begins at zero and has at most so many iterations, for all parameters.
    pub(crate) fn is_within(&self, count: i64) -> bool {
        let Span::Range { scale, lower, upper } = self else { return false };
        let begins_at_zero = lower[..] == [AffineForm::constant(0)];
        let mut ends = upper.iter().filter_map(AffineForm::as_constant);
        begins_at_zero && ends.any(|end| ceil_div(end, *scale).is_some_and(|own| own <= count))
    }

    /// Returns the span with `f` applied to each form.
    pub(super) fn mapped(&self, f: &dyn Fn(&AffineForm) -> Option<AffineForm>) -> Option<Span> {
        let all = |forms: &[AffineForm]| forms.iter().map(f).collect::<Option<Box<[AffineForm]>>>();
        Some(match self {
            Span::Whole => Span::Whole,
            Span::Range { scale, lower, upper } => {
                Span::Range { scale: *scale, lower: all(lower)?, upper: all(upper)? }
            }
        })
    }
}

/// Returns the forms with at most one constant, which comes first: the one that `pick` prefers.
/// Among other forms that differ by a constant, the preferred one is kept.
fn tightest(forms: Vec<AffineForm>, pick: fn(i64, i64) -> i64) -> Box<[AffineForm]> {
    let mut kept: Vec<AffineForm> = Vec::with_capacity(forms.len());
    for form in forms {
        let gap = |own: &AffineForm| form.minus(own).and_then(|gap| gap.as_constant());
        match kept.iter_mut().find_map(|own| Some((gap(own)?, own))) {
            Some((gap, own)) if pick(gap, 0) == gap => *own = form,
            Some(_) => {}
            None => kept.push(form),
        }
    }
    kept.sort_by_key(|form| form.as_constant().is_none());
    kept.into()
}

/// Returns one more than the greatest level of a form.
fn free_of(form: &AffineForm) -> u32 {
    let of_atom = |atom: &Atom| match atom {
        Atom::Level(level) => level + 1,
        Atom::Param(_) | Atom::Product(_) => 0,
        Atom::FloorDiv(inner, _) => free_of(inner),
    };
    form.terms().iter().map(|(atom, _)| of_atom(atom)).max().unwrap_or(0)
}
