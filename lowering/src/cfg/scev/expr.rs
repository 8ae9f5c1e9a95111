//! Expressions, each stored once: equal expressions have one number.
//!
//! Numbers are words of 1 to 128 bits. Addresses are words of as many bits as the data layout gives
//! pointers of their address space. Everything is modulo two to the power of the width. Operands of
//! commutative expressions have one order, so expressions that are equal by commutation are one
//! too. Permanent facts about an expression (that it does not wrap) are stored beside it. Such a
//! fact holds wherever the expression's operands are defined.
//!
//! An expression made from a value has bounded depth. One made from others is little deeper, so
//! walks may recurse.
//!
//! **Assumptions.**
//! - An address is a word: the data layout says that its address space is integral, and how wide.
//! - Two expressions that are one number may have two types: an address that starts at null, and a
//!   counter. Replacing one value by another requires comparing their types.
//!
//! Tried with `loop_fusion_traps/counter_types.ll` and `layout_spaces.ll`.

use hashbrown::HashMap;
use loomir_dialects::interp::integer::mask;
use loomir_ir::Value;
use loomir_ir::graph::loops::LoopId;

/// The maximal depth of an expression of a value.
pub(super) const MAX_DEPTH: u32 = 24;
/// The maximal size of an expression of a value, counted as a tree.
pub(super) const MAX_SIZE: u32 = 128;

/// An expression of one [`ScalarEvolution`](super::ScalarEvolution).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ExprId(u32);

/// The type of an expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ExprType {
    /// An integer of this many bits.
    Integer(u32),
    /// An address, in bytes: a word of this many bits.
    Pointer(u32),
}

impl ExprType {
    /// True for an address.
    pub fn is_pointer(self) -> bool {
        matches!(self, ExprType::Pointer(_))
    }

    /// Returns the number of bits.
    pub fn width(self) -> u32 {
        match self {
            ExprType::Integer(width) | ExprType::Pointer(width) => width,
        }
    }
}

/// To another width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cast {
    /// The low bits.
    Truncate,
    /// Filled with zeros.
    ZeroExtend,
    /// Filled with the sign.
    SignExtend,
}

/// A minimum or a maximum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MinMax {
    /// The unsigned maximum.
    UMax,
    /// The signed maximum.
    SMax,
    /// The unsigned minimum.
    UMin,
    /// The signed minimum.
    SMin,
    /// The unsigned minimum. Operands behind a zero operand are not evaluated, so their poison does
    /// not spread.
    SequentialUMin,
}

/// The contents of an expression.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Expr {
    /// A constant: the number of bits, and the bits.
    Constant(u32, u128),
    /// A value of the function without further structure.
    Unknown(Value),
    /// An address as a number.
    PtrToInt(ExprId),
    /// A conversion to another width.
    Cast(Cast, ExprId, u32),
    /// A sum: the constant first, then multiples and other terms. At most one operand is an
    /// address.
    Add(Box<[ExprId]>),
    /// A product, the constant first.
    Mul(Box<[ExprId]>),
    /// An unsigned quotient.
    UDiv(ExprId, ExprId),
    /// An add recurrence `{a,+,b,+,c,…}` of a loop. In the n-th execution of the header, from zero,
    /// it is `a·C(n,0) + b·C(n,1) + c·C(n,2) + …`. The operands are loop-invariant, and the last
    /// one is not zero.
    AddRec(LoopId, Box<[ExprId]>),
    /// The minimum or maximum of several operands.
    MinMax(MinMax, Box<[ExprId]>),
}

/// The no-wrap facts. For a sum or product, they are about the whole. For a recurrence, they are
/// about the exact value each time the header runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Flags {
    /// The recurrence does not pass its start (no self-wrap).
    pub nw: bool,
    /// Read as unsigned, it fits.
    pub nuw: bool,
    /// Read as signed, it fits.
    pub nsw: bool,
}

impl Flags {
    /// No facts.
    pub const NONE: Flags = Flags { nw: false, nuw: false, nsw: false };

    /// Returns the combined facts.
    pub fn and(self, other: Flags) -> Flags {
        Flags { nw: self.nw || other.nw, nuw: self.nuw || other.nuw, nsw: self.nsw || other.nsw }
    }
}

struct Node {
    expr: Expr,
    ty: ExprType,
    depth: u32,
    size: u32,
    flags: Flags,
}

/// All expressions.
#[derive(Default)]
pub(super) struct Pool {
    nodes: Vec<Node>,
    ids: HashMap<Expr, ExprId>,
}

impl Pool {
    fn node(&self, id: ExprId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(super) fn get(&self, id: ExprId) -> &Expr {
        &self.node(id).expr
    }

    pub(super) fn ty(&self, id: ExprId) -> ExprType {
        self.node(id).ty
    }

    pub(super) fn flags(&self, id: ExprId) -> Flags {
        self.node(id).flags
    }

    pub(super) fn note(&mut self, id: ExprId, flags: Flags) {
        let node = &mut self.nodes[id.0 as usize];
        node.flags = node.flags.and(flags);
    }

    /// True if it is small enough for the expression of a value.
    pub(super) fn is_small(&self, id: ExprId) -> bool {
        self.node(id).depth <= MAX_DEPTH && self.node(id).size <= MAX_SIZE
    }

    pub(super) fn constant(&mut self, width: u32, bits: u128) -> ExprId {
        self.intern(Expr::Constant(width, bits & mask(width)), ExprType::Integer(width))
    }

    /// Returns the number of an expression in normal form.
    pub(super) fn intern(&mut self, expr: Expr, ty: ExprType) -> ExprId {
        if let Some(known) = self.ids.get(&expr) {
            return *known;
        }
        let (mut depth, mut size) = (0, 1u32);
        expr.each_operand(&mut |operand| {
            depth = depth.max(self.node(operand).depth + 1);
            size = size.saturating_add(self.node(operand).size);
        });
        let id = ExprId(self.nodes.len() as u32);
        self.nodes.push(Node { expr: expr.clone(), ty, depth, size, flags: Flags::NONE });
        self.ids.insert(expr, id);
        id
    }

    /// Returns the order of an operand in a sum, product or minimum: LLVM's order of kinds,
    /// addresses last.
    pub(super) fn order(&self, id: ExprId) -> (u8, bool, u32) {
        let rank = match self.get(id) {
            Expr::Constant(..) => 0,
            Expr::Cast(Cast::Truncate, ..) => 1,
            Expr::Cast(Cast::ZeroExtend, ..) => 2,
            Expr::Cast(Cast::SignExtend, ..) => 3,
            Expr::Add(_) => 4,
            Expr::Mul(_) => 5,
            Expr::UDiv(..) => 6,
            Expr::AddRec(..) => 7,
            Expr::MinMax(MinMax::UMax, _) => 8,
            Expr::MinMax(MinMax::SMax, _) => 9,
            Expr::MinMax(MinMax::UMin, _) => 10,
            Expr::MinMax(MinMax::SMin, _) => 11,
            Expr::MinMax(MinMax::SequentialUMin, _) => 12,
            Expr::PtrToInt(_) => 13,
            Expr::Unknown(_) => 14,
        };
        let place = if let Expr::Unknown(value) = self.get(id) { value.index() as u32 } else { id.0 };
        (rank, self.ty(id).is_pointer(), place)
    }
}

impl Expr {
    /// Calls `f` with each operand.
    pub fn each_operand(&self, f: &mut dyn FnMut(ExprId)) {
        match self {
            Expr::Constant(..) | Expr::Unknown(_) => {}
            Expr::PtrToInt(operand) | Expr::Cast(_, operand, _) => f(*operand),
            Expr::UDiv(a, b) => [*a, *b].into_iter().for_each(f),
            Expr::Add(operands)
            | Expr::Mul(operands)
            | Expr::AddRec(_, operands)
            | Expr::MinMax(_, operands) => {
                operands.iter().copied().for_each(f);
            }
        }
    }
}
