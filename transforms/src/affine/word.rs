//! Expressions over words of one width, in the representation of `egg`.
//!
//! A leaf is the number of a value, `u32`. Values of another width, comparisons and selections are
//! leaves too. Numbers are read as signed. Shifts by a constant are written as products and
//! quotients, and remainders by powers of two as masks, so that fewer rules are needed.

use std::fmt;

use egg::{Id, Language, RecExpr};
use hashbrown::HashMap;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Body, Op, Value};

use super::operation::{Binary, Operation, width};
use super::{AffineForm, Atom};

/// The maximal number of values examined for an expression.
const MAX_VALUES: usize = 48;

/// A node of an expression.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Word {
    /// A number.
    Number(i64),
    /// An opaque value, by its place in [`Expression::leaves`].
    Leaf(u32),
    /// An operation.
    Binary(Binary, [Id; 2]),
}

impl Language for Word {
    type Discriminant = (Option<Binary>, i64);

    fn discriminant(&self) -> Self::Discriminant {
        match self {
            Word::Number(number) => (None, *number),
            // Outside of all numbers of 32 bits. `matches` distinguishes the remaining cases.
            Word::Leaf(leaf) => (None, i64::MIN + i64::from(*leaf)),
            Word::Binary(binary, _) => (Some(*binary), 0),
        }
    }

    fn matches(&self, other: &Self) -> bool {
        match (self, other) {
            (Word::Binary(a, _), Word::Binary(b, _)) => a == b,
            _ => self == other,
        }
    }

    fn children(&self) -> &[Id] {
        if let Word::Binary(_, children) = self { children } else { &[] }
    }

    fn children_mut(&mut self) -> &mut [Id] {
        if let Word::Binary(_, children) = self { children } else { &mut [] }
    }
}

impl egg::FromOp for Word {
    type Error = egg::FromOpError;

    fn from_op(op: &str, children: Vec<Id>) -> Result<Self, Self::Error> {
        if let ([], Ok(number)) = (&children[..], op.parse()) {
            return Ok(Word::Number(number));
        }
        let binary = Binary::all().find(|binary| binary.name() == op);
        match (binary, <[Id; 2]>::try_from(children)) {
            (Some(binary), Ok(children)) => Ok(Word::Binary(binary, children)),
            (_, children) => Err(egg::FromOpError::new(op, children.map_or_else(|all| all, Vec::from))),
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Word::Number(number) => write!(f, "{number}"),
            Word::Leaf(leaf) => write!(f, "${leaf}"),
            Word::Binary(binary, _) => f.write_str(binary.name()),
        }
    }
}

/// An expression of one width.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The number of bits the words have.
    pub width: u32,
    /// The nodes of the expression. The last one is the root.
    pub nodes: RecExpr<Word>,
    /// The values its leaves are.
    pub leaves: Vec<Value>,
}

impl Expression {
    /// Returns the expression that computes a value, through operations that `look_into` accepts. A
    /// value with a form of `form_of` becomes a sum over the form's atoms, which is the same
    /// number. `None` if it is a leaf, not a word of at least two bits, or has too many operations.
    pub fn of(
        body: &Body,
        value: Value,
        look_into: &dyn Fn(Op) -> bool,
        form_of: &mut dyn FnMut(Value) -> Option<AffineForm>,
    ) -> Option<Expression> {
        let width = width(body, value).filter(|width| *width >= 2)?;
        let (nodes, leaves) = (RecExpr::default(), Vec::new());
        let mut build =
            Build { body, width, look_into, form_of, nodes, leaves, known: HashMap::new(), opened: 0 };
        build.value(value)?;
        let is_leaf = build.nodes.len() == 1;
        (!is_leaf).then_some(Expression { width, nodes: build.nodes, leaves: build.leaves })
    }

    /// Returns the nodes over another list of leaves. `None` if a leaf of the expression is not in
    /// the list.
    pub fn over(&self, leaves: &[Value]) -> Option<Vec<Word>> {
        let place = |leaf: u32| leaves.iter().position(|known| *known == self.leaves[leaf as usize]);
        let nodes = self.nodes.as_ref().iter().map(|node| match node {
            Word::Leaf(leaf) => Some(Word::Leaf(place(*leaf)? as u32)),
            node => Some(node.clone()),
        });
        nodes.collect()
    }

    /// Returns its value for these numbers of its leaves. `None` if it is poison or undefined.
    pub fn evaluate(&self, leaf: &dyn Fn(u32) -> i64) -> Option<i64> {
        evaluate(&self.nodes, self.width, leaf)
    }
}

/// Returns the value of the last node for these numbers of leaves. `None` if any node is poison or
/// undefined.
pub fn evaluate(nodes: &RecExpr<Word>, width: u32, leaf: &dyn Fn(u32) -> i64) -> Option<i64> {
    let mut numbers: Vec<i64> = Vec::with_capacity(nodes.len());
    for node in nodes.as_ref() {
        numbers.push(match node {
            Word::Number(number) => *number,
            Word::Leaf(at) => leaf(*at),
            Word::Binary(binary, [a, b]) => {
                binary.compute(width, numbers[usize::from(*a)], numbers[usize::from(*b)])?
            }
        });
    }
    numbers.last().copied()
}

/// Returns the power of two of a shift amount, as a number of `width` bits, if it is not negative
/// there.
fn power(width: u32, by: i64) -> Option<i64> {
    (0..i64::from(width) - 1).contains(&by).then(|| 1 << by)
}

struct Build<'a> {
    body: &'a Body,
    width: u32,
    look_into: &'a dyn Fn(Op) -> bool,
    form_of: &'a mut dyn FnMut(Value) -> Option<AffineForm>,
    nodes: RecExpr<Word>,
    leaves: Vec<Value>,
    known: HashMap<Value, Id>,
    /// The number of values examined.
    opened: usize,
}

impl Build<'_> {
    /// Returns the node of a value. Recurses once a value, at most [`MAX_VALUES`] times.
    fn value(&mut self, value: Value) -> Option<Id> {
        if let Some(known) = self.known.get(&value) {
            return Some(*known);
        }
        self.opened += 1;
        if self.opened > MAX_VALUES {
            return None;
        }
        let is_sum = |form: &AffineForm| form.terms().iter().all(|(atom, _)| atom.factors().is_some());
        let form = (self.form_of)(value);
        let form = form.filter(|form| *form != AffineForm::atom(Atom::Param(value)) && is_sum(form));
        let id = match (self.number(value), form, self.operation(value)) {
            (Some(number), ..) => self.nodes.add(Word::Number(number)),
            (None, Some(form), _) => self.form(&form)?,
            (None, None, Some((binary, [a, b]))) => {
                let (binary, b) = match self.rewritten(binary, b) {
                    Some((binary, number)) => (binary, self.nodes.add(Word::Number(number))),
                    None => (binary, self.value(b)?),
                };
                let a = self.value(a)?;
                self.nodes.add(Word::Binary(binary, [a, b]))
            }
            (None, None, None) => {
                let at = self.leaves.len() as u32;
                self.leaves.push(value);
                self.nodes.add(Word::Leaf(at))
            }
        };
        self.known.insert(value, id);
        Some(id)
    }

    /// Adds the nodes of a sum of parameters and of products of parameters. Coefficients are
    /// truncated to the width, which preserves the sum modulo the width.
    fn form(&mut self, form: &AffineForm) -> Option<Id> {
        let binary = |this: &mut Self, binary, a, b| this.nodes.add(Word::Binary(binary, [a, b]));
        let mut sum = None;
        for (atom, coefficient) in form.terms() {
            let mut term = match atom {
                Atom::Level(_) | Atom::FloorDiv(..) => return None,
                Atom::Param(value) => self.value(*value)?,
                Atom::Product(values) => {
                    let mut product = self.value(*values.first()?)?;
                    for value in &values[1..] {
                        let factor = self.value(*value)?;
                        product = binary(self, Binary::Mul, product, factor);
                    }
                    product
                }
            };
            if *coefficient != 1 {
                let factor = self.number_of(*coefficient);
                term = binary(self, Binary::Mul, term, factor);
            }
            sum = Some(match sum {
                Some(sum) => binary(self, Binary::Add, sum, term),
                None => term,
            });
        }
        let Some(sum) = sum else { return Some(self.number_of(form.constant_part())) };
        if form.constant_part() == 0 {
            return Some(sum);
        }
        let constant = self.number_of(form.constant_part());
        Some(binary(self, Binary::Add, sum, constant))
    }

    /// Adds a number, truncated to the width.
    fn number_of(&mut self, number: i64) -> Id {
        let unused = 64 - self.width;
        self.nodes.add(Word::Number(number << unused >> unused))
    }

    fn number(&self, value: Value) -> Option<i64> {
        constant_of(self.body, value)?.as_int(self.body.ctx())
    }

    /// Returns the operation on two words of this width that computes a value, with its operands.
    fn operation(&self, value: Value) -> Option<(Binary, [Value; 2])> {
        if width(self.body, value) != Some(self.width) {
            return None;
        }
        let op = self.body.defining_op(value).filter(|op| (self.look_into)(*op))?;
        let Operation::Binary(binary) = Operation::of(self.body, op)? else { return None };
        let operands = [0, 1].map(|i| self.body.operand(op, i));
        let is_shift = matches!(binary, Binary::Shl | Binary::ShrS | Binary::ShrU);
        (!is_shift || self.rewritten(binary, operands[1]).is_some()).then_some((binary, operands))
    }

    /// Returns the operation that replaces a shift by a constant, or a remainder by a power of two.
    fn rewritten(&self, binary: Binary, by: Value) -> Option<(Binary, i64)> {
        let number = self.number(by)?;
        match binary {
            Binary::Shl => Some((Binary::Mul, power(self.width, number)?)),
            Binary::ShrS => Some((Binary::FloorDivS, power(self.width, number)?)),
            Binary::ShrU => Some((Binary::DivU, power(self.width, number)?)),
            Binary::RemU if number > 0 && number.count_ones() == 1 => Some((Binary::And, number - 1)),
            _ => None,
        }
    }
}
