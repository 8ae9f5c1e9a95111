//! The operations that may remain after a conversion.

use hashbrown::HashMap;

use crate::body::OpRef;

/// The answer of a target for one operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Legality {
    /// It may remain.
    Legal,
    /// It may remain, with everything inside it.
    RecursivelyLegal,
    /// It has to be converted.
    Illegal,
    /// The target says nothing of it. Only a full conversion has to convert it.
    Unknown,
}

/// A test of one operation.
type Test<'a> = Box<dyn Fn(OpRef<'_>) -> bool + 'a>;

enum Rule<'a> {
    Always(Legality),
    If(Test<'a>),
}

/// The operations that may remain after a conversion: by name, by dialect, or by a test of each.
///
/// A rule for an operation comes before the rule for its dialect. Of two rules for one name the
/// later replaces the earlier. An operation whose test is false is illegal.
///
/// ```
/// use loomir_ir::rewrite::ConversionTarget;
///
/// let mut target = ConversionTarget::new();
/// target.legal_dialect("arith").illegal_dialect("toy").legal_op("toy.print");
/// target.dynamic_op("func.return", |op| op.num_operands() == 0);
/// ```
#[derive(Default)]
pub struct ConversionTarget<'a> {
    dialects: HashMap<String, Rule<'a>>,
    ops: HashMap<String, Rule<'a>>,
    others: Option<Test<'a>>,
}

impl std::fmt::Debug for ConversionTarget<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ConversionTarget({} dialects, {} operations)", self.dialects.len(), self.ops.len())
    }
}

impl<'a> ConversionTarget<'a> {
    /// Returns a target that says nothing of any operation.
    pub fn new() -> ConversionTarget<'a> {
        ConversionTarget::default()
    }

    /// Makes the operations of a dialect legal.
    pub fn legal_dialect(&mut self, name: &str) -> &mut Self {
        self.dialects.insert(name.to_owned(), Rule::Always(Legality::Legal));
        self
    }

    /// Makes the operations of a dialect illegal.
    pub fn illegal_dialect(&mut self, name: &str) -> &mut Self {
        self.dialects.insert(name.to_owned(), Rule::Always(Legality::Illegal));
        self
    }

    /// Makes an operation of a dialect legal if the test is true, else illegal.
    pub fn dynamic_dialect(&mut self, name: &str, test: impl Fn(OpRef<'_>) -> bool + 'a) -> &mut Self {
        self.dialects.insert(name.to_owned(), Rule::If(Box::new(test)));
        self
    }

    /// Makes the operations of this name legal.
    pub fn legal_op(&mut self, name: &str) -> &mut Self {
        self.ops.insert(name.to_owned(), Rule::Always(Legality::Legal));
        self
    }

    /// Makes the operations of this name legal, with everything inside them.
    pub fn recursively_legal_op(&mut self, name: &str) -> &mut Self {
        self.ops.insert(name.to_owned(), Rule::Always(Legality::RecursivelyLegal));
        self
    }

    /// Makes the operations of this name illegal.
    pub fn illegal_op(&mut self, name: &str) -> &mut Self {
        self.ops.insert(name.to_owned(), Rule::Always(Legality::Illegal));
        self
    }

    /// Makes an operation of this name legal if the test is true, else illegal.
    pub fn dynamic_op(&mut self, name: &str, test: impl Fn(OpRef<'_>) -> bool + 'a) -> &mut Self {
        self.ops.insert(name.to_owned(), Rule::If(Box::new(test)));
        self
    }

    /// Makes an operation that no other rule is about legal if the test is true, else illegal.
    pub fn dynamic_others(&mut self, test: impl Fn(OpRef<'_>) -> bool + 'a) -> &mut Self {
        self.others = Some(Box::new(test));
        self
    }

    /// Returns the answer for an operation.
    pub fn legality(&self, op: OpRef<'_>) -> Legality {
        let of_test = |test: &Test<'_>| if test(op) { Legality::Legal } else { Legality::Illegal };
        let rule = self.ops.get(op.name()).or_else(|| self.dialects.get(op.ctx().str(op.info().dialect())));
        match (rule, &self.others) {
            (Some(Rule::Always(legality)), _) => *legality,
            (Some(Rule::If(test)), _) | (None, Some(test)) => of_test(test),
            (None, None) => Legality::Unknown,
        }
    }
}
