//! Small programs of neighbouring loop nests, as a language of their own.
//!
//! A [`Program`] is one function over a few small buffers. It can be written as MLIR
//! ([`Program::to_mlir`]). It can also be executed here ([`Program::execute`]), by code shared with
//! neither the dialects nor the interpreter. Execution returns the final contents of its buffers
//! and a trace of every element touched. Random programs ([`generate`](crate::generate)) therefore
//! have an oracle for both their values and their dependences.
//!
//! Everything is a number. Values of the element type are kept as 64 bits (`i32` sign-extended,
//! `f32` as its bits). Memrefs, loops and values are named by indices. Programs are as deep as
//! their generator makes them, a handful of levels; functions here recurse on that depth.

mod execute;
mod print;
mod reduce;
mod updates;

pub use execute::{Access, Aliasing, Execution, POISON, ROUNDED, Step};
pub use print::Text;
pub use updates::Update;

/// The element type of buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    /// `i32`
    I32,
    /// `i64`
    I64,
    /// `f32`
    F32,
}

/// A value of the element type.
pub type ValueId = usize;
/// An index into [`Program::memrefs`].
pub type MemRefId = usize;
/// A loop, and its induction variable.
pub type LoopId = usize;

/// One function and its arguments.
#[derive(Clone, Debug)]
pub struct Program {
    /// The element type of all buffers.
    pub element: Element,
    /// The arguments of type `index`, with their values.
    pub parameters: Vec<i64>,
    /// Memrefs in order of definition. All are defined before the first item.
    pub memrefs: Vec<MemRef>,
    /// Constants of the element type.
    pub constants: Vec<(ValueId, i64)>,
    /// The statements of the function.
    pub body: Vec<Item>,
    /// The returned values.
    pub returns: Vec<ValueId>,
    /// The style of index arithmetic outside `affine` operations.
    pub style: Style,
}

/// The style of index arithmetic.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// True if indices are written as `affine.apply`, not as `arith` operations.
    pub apply: bool,
    /// With `nsw` flags.
    pub nsw: bool,
    /// True if constants are written at their uses, not at the top.
    pub local_constants: bool,
    /// True if most sums, differences and products of elements have flags: `nsw`, or `reassoc`.
    pub flags: bool,
    /// True if some loads and stores are calls of functions.
    pub calls: bool,
}

/// A memref: static sizes, strides and offset. The offset is absolute in the object.
#[derive(Clone, PartialEq, Debug)]
pub struct MemRef {
    /// The source of the memref.
    pub source: Source,
    /// Sizes.
    pub shape: Vec<i64>,
    /// Strides in elements.
    pub strides: Vec<i64>,
    /// Offset in elements.
    pub offset: i64,
    /// True if the type hides the sizes.
    pub dynamic: bool,
}

/// The source of a memref.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    /// An argument. `noalias`: never passed the same buffer as another argument.
    Argument {
        /// True if the memref is declared `llvm.noalias`.
        noalias: bool,
    },
    /// `memref.alloc`.
    Allocation,
    /// `memref.get_global` of the global of this number.
    Global(usize),
    /// `memref.cast`.
    Cast(MemRefId),
    /// `memref.subview`: offsets and strides. The sizes are those of the shape, behind a 1 if the
    /// first dimension is dropped.
    SubView {
        /// The source memref.
        of: MemRefId,
        /// Offsets in it.
        offsets: Vec<i64>,
        /// Strides in it.
        steps: Vec<i64>,
        /// True if the first dimension is dropped.
        dropped: bool,
    },
    /// `memref.reinterpret_cast`.
    Reinterpret(MemRefId),
    /// `arith.select` on the condition that the first parameter is positive.
    Select(MemRefId, MemRefId),
    /// The result of a function that was passed this memref.
    Returned(MemRefId),
}

/// An index.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// A number.
    Constant(i64),
    /// The induction variable of a surrounding loop.
    Variable(LoopId),
    /// A parameter.
    Parameter(usize),
    /// A sum.
    Add(Box<Expr>, Box<Expr>),
    /// A multiple.
    Scale(Box<Expr>, i64),
    /// A quotient, rounded down, by a positive number.
    FloorDiv(Box<Expr>, i64),
    /// Its remainder.
    Mod(Box<Expr>, i64),
    /// A product; not affine.
    Product(Box<Expr>, Box<Expr>),
    /// The unsigned remainder of a value of the element type. Not affine.
    Wrapped(ValueId, i64),
}

/// The loop operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// `affine.for`
    Affine,
    /// `scf.for`
    Scf,
    /// `scf.for unsigned`
    ScfUnsigned,
    /// `scf.while` that counts
    While,
    /// `scf.parallel` of one dimension; here it runs in order
    Parallel,
}

/// A counted loop.
#[derive(Clone, PartialEq, Debug)]
pub struct Loop {
    /// Its name.
    pub id: LoopId,
    /// The loop operation.
    pub kind: Kind,
    /// The lower bound: the greatest of these.
    pub lower: Vec<Expr>,
    /// The exclusive upper bound: the least of these.
    pub upper: Vec<Expr>,
    /// Positive.
    pub step: i64,
    /// The loop-carried value.
    pub carried: Option<Carried>,
    /// The body of the loop.
    pub body: Vec<Item>,
}

/// A loop-carried value.
#[derive(Clone, PartialEq, Debug)]
pub struct Carried {
    /// Before the first iteration.
    pub init: ValueId,
    /// In the body.
    pub argument: ValueId,
    /// The value at the end of an iteration.
    pub next: ValueId,
    /// After the loop.
    pub result: ValueId,
}

/// The condition of an [`Item::If`].
#[derive(Clone, PartialEq, Debug)]
pub enum Condition {
    /// All of these hold.
    All(Vec<Test>),
    /// The value is positive. The comparison is written once, at the definition of the value.
    Positive(ValueId),
}

/// A comparison of an index with a number.
#[derive(Clone, PartialEq, Debug)]
pub struct Test {
    /// The index.
    pub expr: Expr,
    /// The relation of the index to the number.
    pub relation: Relation,
    /// The number.
    pub number: i64,
}

/// A relation between two numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// The first is less.
    Below,
    /// The first number is less, both read as unsigned.
    UnsignedBelow,
    /// The first number is greater, or both are equal.
    AtLeast,
    /// They are equal.
    Equal,
}

/// An operation on two values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operator {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Maximum, signed.
    Max,
}

/// A function of the module, which takes a memref.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Callee {
    /// Writes 1, 2, … in row-major order.
    Fill,
    /// Doubles the first element.
    Bump,
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Item {
    /// A loop.
    Loop(Loop),
    /// Runs the first items if the condition holds, else the second items.
    If(Condition, Vec<Item>, Vec<Item>),
    /// Reads an element.
    Load(ValueId, MemRefId, Vec<Expr>),
    /// Writes an element.
    Store(ValueId, MemRefId, Vec<Expr>),
    /// Computes.
    Compute(ValueId, Operator, ValueId, ValueId),
    /// Makes an index a value.
    Index(ValueId, Expr),
    /// Calls a function.
    Call(Callee, MemRefId),
    /// Copies all elements, to a memref of the same shape.
    Copy(MemRefId, MemRefId),
    /// Ends an allocation's life.
    Dealloc(MemRefId),
    /// At the end of a side of a conditional: the first value becomes the second if this side runs.
    /// It is available behind the conditional if both sides yield it.
    Yield(ValueId, ValueId),
}

/// Returns the values that both branches of a conditional yield.
fn results_of(then: &[Item], otherwise: &[Item]) -> Vec<ValueId> {
    let yields = |item: &Item, wanted: ValueId| matches!(item, Item::Yield(result, _) if *result == wanted);
    let results = then.iter().filter_map(|item| match item {
        Item::Yield(result, _) => Some(*result),
        _ => None,
    });
    results.filter(|result| otherwise.iter().any(|item| yields(item, *result))).collect()
}

impl MemRef {
    /// True if the elements are in row-major order from the start of the object.
    pub fn is_identity(&self) -> bool {
        self.offset == 0 && self.strides == row_major(&self.shape)
    }

    /// Returns the number of elements.
    pub fn len(&self) -> i64 {
        self.shape.iter().product()
    }

    /// True if it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Program {
    /// Returns the same program over integers without flags: the [twin](crate::twin) of a program
    /// over floats.
    pub fn with_integers(&self) -> Program {
        Program { element: Element::I32, style: Style { flags: false, ..self.style }, ..self.clone() }
    }

    /// Returns the constant value of a value, if it is a constant.
    pub fn constant(&self, value: ValueId) -> Option<i64> {
        self.constants.iter().find(|(own, _)| *own == value).map(|(_, number)| *number)
    }

    /// True if the operation that computes a value has flags, provided it can have any.
    pub fn has_flags(&self, value: ValueId) -> bool {
        self.style.flags && !value.is_multiple_of(4)
    }

    /// True if the load or store of a value is written as a call of a function.
    pub fn is_called(&self, value: ValueId) -> bool {
        self.style.calls && value % 3 == 1
    }

    /// True if an exact dependence test can be right about every pair of loops. All bounds,
    /// subscripts and conditions are then affine in induction variables alone, all memrefs are
    /// whole objects, and nothing in a loop is unknown.
    pub fn is_affine(&self) -> bool {
        let whole = |m: &MemRef| {
            use Source::{Allocation, Argument, Cast, Global};
            matches!(m.source, Argument { .. } | Allocation | Global(_) | Cast(_))
        };
        self.memrefs.iter().all(whole)
            && self.body.iter().all(|item| matches!(item, Item::Call(..)) || is_affine_item(item))
    }
}

/// True if the iterations of a loop may run in any order.
pub(crate) fn is_parallel(items: &[Item], id: LoopId) -> bool {
    items.iter().any(|item| match item {
        Item::Loop(l) => (l.id == id && l.kind == Kind::Parallel) || is_parallel(&l.body, id),
        Item::If(_, then, otherwise) => is_parallel(then, id) || is_parallel(otherwise, id),
        _ => false,
    })
}

/// Returns a loop, and the loops inside it.
pub(crate) fn nest_of(items: &[Item], id: LoopId, inside: bool) -> Vec<LoopId> {
    let of_item = |item: &Item| match item {
        Item::Loop(own) => {
            let within = inside || own.id == id;
            let mut loops = nest_of(&own.body, id, within);
            loops.extend(within.then_some(own.id));
            loops
        }
        Item::If(_, then, otherwise) => [nest_of(then, id, inside), nest_of(otherwise, id, inside)].concat(),
        _ => Vec::new(),
    };
    items.iter().flat_map(of_item).collect()
}

fn is_affine_item(item: &Item) -> bool {
    match item {
        Item::Loop(l) => {
            l.kind != Kind::ScfUnsigned
                && l.kind != Kind::While
                && l.lower.len() == 1
                && l.lower.iter().chain(&l.upper).all(is_affine_index)
                && l.body.iter().all(is_affine_item)
        }
        Item::Load(_, _, at) | Item::Store(_, _, at) => at.iter().all(is_affine_index),
        Item::If(condition, then, otherwise) => {
            let exact = match condition {
                Condition::All(tests) => {
                    let is_affine =
                        |test: &Test| test.relation != Relation::UnsignedBelow && is_affine_index(&test.expr);
                    // The negation of several constraints is not a conjunction.
                    let negated = tests.len() == 1 && tests[0].relation != Relation::Equal;
                    tests.iter().all(is_affine) && (otherwise.is_empty() || negated)
                }
                Condition::Positive(_) => false,
            };
            exact && then.iter().chain(otherwise).all(is_affine_item)
        }
        Item::Call(..) => false,
        Item::Compute(..) | Item::Index(..) | Item::Copy(..) | Item::Dealloc(_) | Item::Yield(..) => true,
    }
}

fn is_affine_index(expr: &Expr) -> bool {
    match expr {
        Expr::Constant(_) | Expr::Variable(_) => true,
        Expr::Parameter(_) | Expr::Product(..) | Expr::Wrapped(..) => false,
        Expr::Add(a, b) => is_affine_index(a) && is_affine_index(b),
        Expr::Scale(a, _) | Expr::FloorDiv(a, _) | Expr::Mod(a, _) => is_affine_index(a),
    }
}

/// Strides of row-major order of a small shape.
pub fn row_major(shape: &[i64]) -> Vec<i64> {
    loomir::ir::row_major_strides(shape).unwrap_or_default()
}
