//! Terms: values of both programs as expressions over arguments and symbols.
//!
//! Terms are hash-consed in one store, so equal numbers mean equal values. Integers of at most 64
//! bits have a normal form: sums modulo a power of two, with other operations as atoms.
//!
//! **Poison.** A term stands for a value or for poison. Operations whose flags may make poison are
//! atoms of their own, so two equal terms are poison together. They fold only if no flag is broken.
//! **Cost.** The number of terms and their depth are bounded.

use hashbrown::{HashMap, HashSet};
use loomir_ir::{Attr, Dict, OpName, Type};

use super::numbers::{self, Binary, Cast};

pub(super) type TermId = u32;
/// The result of a step, or the reason that ends the proof.
pub(super) type Try<T> = Result<T, &'static str>;

/// The truth value false.
pub(super) const FALSE: TermId = 0;
/// The truth value true.
pub(super) const TRUE: TermId = 1;

/// The most terms.
const MAX_TERMS: usize = 1_000_000;
/// The most products of a sum.
const MAX_PRODUCTS: usize = 64;

/// The kinds of terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Node {
    /// An integer, as bits.
    Int { width: u32, bits: u64 },
    /// An argument of the function. It may be poison unless the function says `noundef`.
    Argument { index: usize, is_solid: bool },
    /// The memory that the function begins with.
    Start,
    /// A value that differs between visits of a pair of places.
    Symbol(u32),
    /// `constant + Σ factor · atom`, by ascending atoms.
    Sum { width: u32, constant: u64, products: Box<[(TermId, u64)]> },
    /// An operation on two integers; with flags, it may be poison.
    Binary { code: Binary, flags: u64, width: u32, operands: [TermId; 2] },
    /// A cast between integers; with flags, it may be poison.
    Cast { code: Cast, flags: u64, widths: [u32; 2], operand: TermId },
    /// The negation of a truth value.
    Not(TermId),
    /// True if an integer is zero.
    Zero { width: u32, operand: TermId },
    /// True if the first integer is less than the second.
    Less { unsigned: bool, width: u32, operands: [TermId; 2] },
    /// The second value if the first one is true, else the third.
    Select([TermId; 3]),
    /// A constant that is no integer.
    Constant { attr: Attr, ty: Type },
    /// A result of any other operation, or the memory that it leaves.
    Operation(Box<Operation>),
}

/// The terms inside of which others may be replaced.
#[derive(Clone, Copy)]
pub(super) enum Inside {
    All,
    /// Terms that contain this symbol or a later one.
    Symbols(u32),
    /// Operations on integers.
    Numbers,
}

/// An operation that is known by its name alone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Operation {
    pub(super) name: OpName,
    pub(super) attributes: [Dict; 2],
    pub(super) operands: Box<[TermId]>,
    /// The memory before, unless it makes no difference.
    pub(super) memory: Option<TermId>,
    /// The types of all operands and results.
    pub(super) types: Box<[Type]>,
    /// The number of a result; `None` for the memory behind.
    pub(super) result: Option<usize>,
}

/// A condition with its value.
pub(super) type Known = (TermId, bool);

/// Someone who is asked about conditions.
pub(super) trait Ask {
    /// Returns the value of a condition, if all facts and it are no poison, as far as it is found.
    /// `free` are terms that are no poison then.
    fn ask(
        &mut self,
        store: &Store,
        facts: &[Known],
        free: &HashSet<TermId>,
        condition: TermId,
    ) -> Option<bool>;
}

/// Derived properties of a term.
#[derive(Clone, Copy, Debug)]
struct Traits {
    /// True if the value is never poison.
    is_solid: bool,
    /// The greatest number of a symbol inside, plus one.
    symbols: u32,
}

/// All terms of a proof.
pub(super) struct Store {
    nodes: Vec<Node>,
    traits: Vec<Traits>,
    numbers: HashMap<Node, TermId>,
    /// For each symbol: true if it is never poison.
    solid_symbols: Vec<bool>,
    /// The symbols by their terms.
    symbol_terms: Vec<TermId>,
    /// Who is asked about conditions that are not plain, if someone is.
    asked: Option<Box<dyn Ask>>,
}

impl Store {
    /// Returns a store without terms.
    pub(super) fn new(asked: Option<Box<dyn Ask>>) -> Store {
        let mut store = Store {
            nodes: Vec::new(),
            traits: Vec::new(),
            numbers: HashMap::new(),
            solid_symbols: Vec::new(),
            symbol_terms: Vec::new(),
            asked,
        };
        for bits in [0, 1] {
            let traits = Traits { is_solid: true, symbols: 0 };
            store.numbers.insert(Node::Int { width: 1, bits }, bits as TermId);
            store.nodes.push(Node::Int { width: 1, bits });
            store.traits.push(traits);
        }
        store
    }

    /// Returns the value of a condition, as far as it is found by someone who is asked.
    pub(super) fn ask(&mut self, facts: &[Known], free: &HashSet<TermId>, condition: TermId) -> Option<bool> {
        let mut asked = self.asked.take()?;
        let answer = asked.ask(self, facts, free, condition);
        self.asked = Some(asked);
        answer
    }

    /// True if someone is asked.
    pub(super) fn asks(&self) -> bool {
        self.asked.is_some()
    }

    pub(super) fn node(&self, term: TermId) -> &Node {
        &self.nodes[term as usize]
    }

    /// True if a value is never poison.
    pub(super) fn is_solid(&self, term: TermId) -> bool {
        self.traits[term as usize].is_solid
    }

    /// Returns a number greater than those of all symbols inside a term.
    pub(super) fn symbols_below(&self, term: TermId) -> u32 {
        self.traits[term as usize].symbols
    }

    /// Returns the number that the next symbol gets.
    pub(super) fn next_symbol(&self) -> u32 {
        self.symbol_terms.len() as u32
    }

    /// Returns a new symbol.
    pub(super) fn symbol(&mut self, is_solid: bool) -> Try<TermId> {
        let number = self.next_symbol();
        self.solid_symbols.push(is_solid);
        let term = self.term(Node::Symbol(number))?;
        self.symbol_terms.push(term);
        Ok(term)
    }

    /// Returns a node as a term, without a normal form.
    pub(super) fn term(&mut self, node: Node) -> Try<TermId> {
        if let Some(number) = self.numbers.get(&node) {
            return Ok(*number);
        }
        if self.nodes.len() >= MAX_TERMS {
            return Err("the proof takes too many terms");
        }
        let mut traits = Traits { is_solid: true, symbols: 0 };
        each_operand(&node, &mut |operand| {
            let own = self.traits[operand as usize];
            traits.is_solid &= own.is_solid;
            traits.symbols = traits.symbols.max(own.symbols);
        });
        traits.is_solid &= self.keeps_solid(&node);
        if let Node::Symbol(number) = node {
            traits.symbols = number + 1;
        }
        let number = self.nodes.len() as TermId;
        self.numbers.insert(node.clone(), number);
        self.nodes.push(node);
        self.traits.push(traits);
        Ok(number)
    }

    /// True if a node is poison only if one of its operands is.
    pub(super) fn keeps_solid(&self, node: &Node) -> bool {
        match node {
            Node::Symbol(number) => self.solid_symbols[*number as usize],
            Node::Argument { is_solid, .. } => *is_solid,
            Node::Binary { code, flags, width, operands } => {
                *flags == 0 && numbers::is_defined(*code, *width, self.constant(operands[1]))
            }
            Node::Cast { flags, .. } => *flags == 0,
            Node::Operation(_) | Node::Constant { .. } => false,
            _ => true,
        }
    }

    /// Returns the bits of a term that is an integer.
    pub(super) fn constant(&self, term: TermId) -> Option<u64> {
        match self.node(term) {
            Node::Int { bits, .. } => Some(*bits),
            _ => None,
        }
    }

    pub(super) fn int(&mut self, width: u32, bits: u64) -> Try<TermId> {
        self.term(Node::Int { width, bits: bits & numbers::mask(width) })
    }

    /// Returns a term as a constant and products.
    pub(super) fn parts(&self, term: TermId) -> (u64, Vec<(TermId, u64)>) {
        match self.node(term) {
            Node::Int { bits, .. } => (*bits, Vec::new()),
            Node::Sum { constant, products, .. } => (*constant, products.to_vec()),
            _ => (0, vec![(term, 1)]),
        }
    }

    /// Returns `a + factor · b`. A sum of too many parts is an atom.
    pub(super) fn plus(&mut self, width: u32, a: TermId, b: TermId, factor: u64) -> Try<TermId> {
        let (own, other) = (self.parts(a).1.len(), self.parts(b).1.len());
        if own + other > MAX_PRODUCTS {
            let b = self.factor(width, b, factor)?;
            let operands = [a.min(b), a.max(b)];
            return self.term(Node::Binary { code: Binary::Add, flags: 0, width, operands });
        }
        let ((x, mut all), (y, other)) = (self.parts(a), self.parts(b));
        all.extend(other.into_iter().map(|(atom, own)| (atom, own.wrapping_mul(factor))));
        self.sum(width, x.wrapping_add(y.wrapping_mul(factor)), all)
    }

    /// Returns a sum. What may be poison stays, if only as zero times its value.
    fn sum(&mut self, width: u32, constant: u64, products: Vec<(TermId, u64)>) -> Try<TermId> {
        let (constant, mut merged) = merged(width, constant, products);
        merged.retain(|(atom, factor)| *factor != 0 || !self.is_solid(*atom));
        match &merged[..] {
            [] => self.int(width, constant),
            [(atom, 1)] if constant == 0 => Ok(*atom),
            _ => self.term(Node::Sum { width, constant, products: merged.into() }),
        }
    }

    /// Returns the number that is the difference of two values. Neither may be poison.
    pub(super) fn distance(&self, width: u32, a: TermId, b: TermId, factor: u64) -> Option<u64> {
        let ((x, mut all), (y, other)) = (self.parts(a), self.parts(b));
        all.extend(other.into_iter().map(|(atom, own)| (atom, own.wrapping_mul(factor))));
        let (constant, merged) = merged(width, x.wrapping_add(y.wrapping_mul(factor)), all);
        merged.iter().all(|(_, factor)| *factor == 0).then_some(constant)
    }

    /// Returns the number by which a value changes, as a signed one, if it is known and not zero.
    pub(super) fn stride(&self, width: u32, [old, new]: [TermId; 2]) -> Option<i64> {
        let bits = self.distance(width.max(1), new, old, u64::MAX).filter(|_| width > 1)?;
        Some(numbers::signed(width, bits)).filter(|stride| *stride != 0)
    }

    /// Returns the difference of two values, which they keep unless they are poison.
    pub(super) fn difference(&mut self, width: u32, a: TermId, b: TermId) -> Try<TermId> {
        let ((x, mut all), (y, other)) = (self.parts(a), self.parts(b));
        all.extend(other.into_iter().map(|(atom, own)| (atom, own.wrapping_neg())));
        let (constant, mut merged) = merged(width, x.wrapping_sub(y), all);
        merged.retain(|(_, factor)| *factor != 0);
        self.sum(width, constant, merged)
    }

    /// Returns what a term is where none of its operands is poison, in a simpler form. Other terms
    /// inside stay.
    pub(super) fn without_poison(&mut self, term: TermId) -> Try<TermId> {
        match *self.node(term) {
            Node::Sum { width, .. } => {
                let zero = self.int(width, 0)?;
                self.difference(width, term, zero)
            }
            Node::Binary { code: Binary::Xor, flags: 0, width, operands: [a, b] } if a == b => {
                self.int(width, 0)
            }
            Node::Binary { code: Binary::And, flags: 0, width, operands }
                if operands.iter().any(|own| self.constant(*own) == Some(0)) =>
            {
                self.int(width, 0)
            }
            Node::Zero { width, operand } if width > 1 => {
                let zero = self.int(width, 0)?;
                let operand = self.difference(width, operand, zero)?;
                self.zero(width, operand)
            }
            Node::Not(inner) => {
                let inner = self.without_poison(inner)?;
                self.not(inner)
            }
            Node::Less { operands: [a, b], .. } if a == b => Ok(FALSE),
            Node::Select([_, yes, no]) if yes == no => Ok(yes),
            _ => Ok(term),
        }
    }

    /// Returns a sum or a multiple without its promises; `None` if it is another term.
    pub(super) fn without_promises(
        &mut self,
        term: TermId,
        new: &dyn Fn(TermId) -> TermId,
    ) -> Try<Option<TermId>> {
        let Node::Binary { code, width, operands, .. } = *self.node(term) else { return Ok(None) };
        if !matches!(code, Binary::Add | Binary::Sub | Binary::Mul | Binary::Shl) {
            return Ok(None);
        }
        self.binary(code, 0, width, operands.map(new)).map(Some)
    }

    /// Returns a multiple of a sum as an atom.
    fn factor(&mut self, width: u32, term: TermId, factor: u64) -> Try<TermId> {
        if factor == 1 {
            return Ok(term);
        }
        let factor = self.int(width, factor)?;
        let operands = [term.min(factor), term.max(factor)];
        self.term(Node::Binary { code: Binary::Mul, flags: 0, width, operands })
    }

    /// Returns `factor · term`.
    fn times(&mut self, width: u32, term: TermId, factor: u64) -> Try<TermId> {
        let (constant, mut products) = self.parts(term);
        products.iter_mut().for_each(|product| product.1 = product.1.wrapping_mul(factor));
        self.sum(width, constant.wrapping_mul(factor), products)
    }

    pub(super) fn not(&mut self, term: TermId) -> Try<TermId> {
        match *self.node(term) {
            Node::Int { bits, .. } => Ok(if bits == 0 { TRUE } else { FALSE }),
            Node::Not(inner) => Ok(inner),
            _ => self.term(Node::Not(term)),
        }
    }

    /// Returns the condition that two integers are equal.
    pub(super) fn equal(&mut self, width: u32, a: TermId, b: TermId) -> Try<TermId> {
        if width == 1 {
            let same = self.binary(Binary::Xor, 0, 1, [a, b])?;
            return self.not(same);
        }
        let difference = self.plus(width, a, b, u64::MAX)?;
        self.zero(width, difference)
    }

    fn zero(&mut self, width: u32, difference: TermId) -> Try<TermId> {
        if let Some(value) = self.constant(difference) {
            return Ok(if value == 0 { TRUE } else { FALSE });
        }
        // Of a difference and its negative, one represents both.
        let (_, products) = self.parts(difference);
        let is_negative = products.first().is_some_and(|(_, factor)| numbers::signed(width, *factor) < 0);
        let operand = if is_negative { self.times(width, difference, u64::MAX)? } else { difference };
        self.term(Node::Zero { width, operand })
    }

    /// Returns the condition that an integer is less than another one.
    pub(super) fn less(&mut self, unsigned: bool, width: u32, [a, b]: [TermId; 2]) -> Try<TermId> {
        let [is_solid, other] = [a, b].map(|term| self.is_solid(term));
        if a == b && is_solid {
            return Ok(FALSE);
        }
        let order = |bits: u64| match unsigned {
            true => i128::from(bits),
            false => i128::from(numbers::signed(width, bits)),
        };
        let (least, most) = match unsigned {
            true => (0, i128::from(numbers::mask(width))),
            false => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        };
        match [self.constant(a), self.constant(b)].map(|bits| bits.map(order)) {
            [Some(x), Some(y)] => return Ok(if x < y { TRUE } else { FALSE }),
            [Some(x), _] if x == most && other => return Ok(FALSE),
            [_, Some(y)] if y == least && is_solid => return Ok(FALSE),
            // Nothing but the least number is less than the next one.
            [_, Some(y)] if y == least + 1 => {
                let bound = self.int(width, least as u64)?;
                return self.equal(width, a, bound);
            }
            // Of `c < x` and `x < c + 1`, the second one represents both.
            [Some(x), _] if x != most => {
                let next = self.int(width, (x + 1) as u64)?;
                let below = self.less(unsigned, width, [b, next])?;
                return self.not(below);
            }
            _ => {}
        }
        self.term(Node::Less { unsigned, width, operands: [a, b] })
    }

    pub(super) fn select(&mut self, [condition, yes, no]: [TermId; 3]) -> Try<TermId> {
        match *self.node(condition) {
            Node::Int { bits, .. } => Ok(if bits == 0 { no } else { yes }),
            Node::Not(inner) => self.select([inner, no, yes]),
            _ if yes == no && self.is_solid(condition) => Ok(yes),
            _ => self.term(Node::Select([condition, yes, no])),
        }
    }

    /// Returns a cast of an integer.
    pub(super) fn cast(&mut self, code: Cast, flags: u64, widths: [u32; 2], operand: TermId) -> Try<TermId> {
        if let Some(bits) = self.constant(operand)
            && let Some(value) = numbers::cast(code, flags, widths, bits)
        {
            return self.int(widths[1], value);
        }
        if flags == 0
            && let Node::Cast { code: inner, flags: 0, widths: [from, between], operand: own } =
                *self.node(operand)
            && between == widths[0]
        {
            match (inner, code) {
                (Cast::Zero, Cast::Zero) | (Cast::Sign, Cast::Sign) | (Cast::Cut, Cast::Cut) => {
                    return self.cast(code, 0, [from, widths[1]], own);
                }
                (Cast::Zero | Cast::Sign, Cast::Cut) if from == widths[1] => return Ok(own),
                _ => {}
            }
        }
        self.term(Node::Cast { code, flags, widths, operand })
    }

    /// Returns an operation on two integers.
    pub(super) fn binary(
        &mut self,
        code: Binary,
        flags: u64,
        width: u32,
        operands: [TermId; 2],
    ) -> Try<TermId> {
        let [a, b] = operands;
        let constants = operands.map(|term| self.constant(term));
        if let [Some(x), Some(y)] = constants
            && let Some(value) = numbers::binary(code, flags, width, x, y)
        {
            return self.int(width, value);
        }
        // No flag is broken by a neutral operand.
        if let Some(y) = constants[1]
            && numbers::is_neutral(code, width, y)
        {
            return Ok(a);
        }
        if let Some(x) = constants[0]
            && code.commutes()
            && numbers::is_neutral(code, width, x)
        {
            return Ok(b);
        }
        if width == 1 {
            return self.truth(code, flags, operands);
        }
        if flags == 0 {
            match (code, constants) {
                (Binary::Add | Binary::Address, _) => return self.plus(width, a, b, 1),
                (Binary::Sub, _) => return self.plus(width, a, b, u64::MAX),
                (Binary::Mul, [Some(x), _]) => return self.times(width, b, x),
                (Binary::Mul, [_, Some(y)]) => return self.times(width, a, y),
                (Binary::Shl, [_, Some(y)]) if y < u64::from(width) => {
                    return self.times(width, a, 1 << y);
                }
                _ => {}
            }
        }
        self.atom(code, flags, width, operands)
    }

    fn atom(&mut self, code: Binary, flags: u64, width: u32, mut operands: [TermId; 2]) -> Try<TermId> {
        let [a, b] = operands;
        let are_solid = self.is_solid(a) && self.is_solid(b);
        if a == b && flags == 0 {
            match code {
                Binary::Xor | Binary::Sub if are_solid => return self.int(width, 0),
                Binary::And | Binary::Or => return Ok(a),
                Binary::MinS | Binary::MaxS | Binary::MinU | Binary::MaxU => return Ok(a),
                _ => {}
            }
        }
        let bits = operands.map(|term| self.constant(term));
        if flags == 0 && matches!(code, Binary::And) && are_solid && bits.contains(&Some(0)) {
            return self.int(width, 0);
        }
        if code.commutes() {
            operands.sort_unstable();
        }
        self.term(Node::Binary { code, flags, width, operands })
    }

    /// Returns an operation on truth values.
    fn truth(&mut self, code: Binary, flags: u64, [a, b]: [TermId; 2]) -> Try<TermId> {
        match (code, flags) {
            (Binary::Xor | Binary::Add | Binary::Sub, 0) => {
                for (term, other) in [(a, b), (b, a)] {
                    match *self.node(term) {
                        Node::Int { bits: 0, .. } => return Ok(other),
                        Node::Int { .. } => return self.not(other),
                        Node::Not(inner) => {
                            let rest = self.truth(Binary::Xor, 0, [inner, other])?;
                            return self.not(rest);
                        }
                        _ => {}
                    }
                }
                self.atom(Binary::Xor, 0, 1, [a, b])
            }
            _ => self.atom(code, flags, 1, [a, b]),
        }
    }

    /// Returns a term with other operands, in normal form.
    pub(super) fn rebuilt(&mut self, term: TermId, new: &dyn Fn(TermId) -> TermId) -> Try<TermId> {
        match self.node(term).clone() {
            node @ (Node::Int { .. }
            | Node::Argument { .. }
            | Node::Start
            | Node::Symbol(_)
            | Node::Constant { .. }) => self.term(node),
            Node::Sum { width, constant, products } => {
                let mut sum = self.int(width, constant)?;
                for (atom, factor) in products {
                    sum = self.plus(width, sum, new(atom), factor)?;
                }
                Ok(sum)
            }
            Node::Binary { code, flags, width, operands } => {
                self.binary(code, flags, width, operands.map(new))
            }
            Node::Cast { code, flags, widths, operand } => self.cast(code, flags, widths, new(operand)),
            Node::Not(operand) => self.not(new(operand)),
            Node::Zero { width, operand } => self.zero(width, new(operand)),
            Node::Less { unsigned, width, operands } => self.less(unsigned, width, operands.map(new)),
            Node::Select(operands) => self.select(operands.map(new)),
            Node::Operation(mut own) => {
                own.operands = own.operands.iter().map(|operand| new(*operand)).collect();
                own.memory = own.memory.map(new);
                self.term(Node::Operation(own))
            }
        }
    }

    /// Returns a term with some terms replaced inside. `known` holds what was replaced before.
    pub(super) fn replaced(
        &mut self,
        term: TermId,
        known: &mut HashMap<TermId, TermId>,
        inside: Inside,
    ) -> Try<TermId> {
        for own in self.inside(term, known, inside) {
            let new = self.rebuilt_from(own, known)?;
            known.insert(own, new);
        }
        Ok(known.get(&term).copied().unwrap_or(term))
    }

    /// Returns a term over what its operands are known to be.
    pub(super) fn rebuilt_from(&mut self, term: TermId, known: &HashMap<TermId, TermId>) -> Try<TermId> {
        self.rebuilt(term, &|operand| known.get(&operand).copied().unwrap_or(operand))
    }

    /// Returns a term and those inside which are not known, operands first.
    pub(super) fn inside(
        &self,
        term: TermId,
        known: &HashMap<TermId, TermId>,
        inside: Inside,
    ) -> Vec<TermId> {
        let is_open = |term: TermId| {
            let may_differ = match inside {
                Inside::All => true,
                Inside::Symbols(first) => self.symbols_below(term) > first,
                Inside::Numbers => !matches!(self.node(term), Node::Operation(_)),
            };
            may_differ && !known.contains_key(&term)
        };
        // Operands have smaller numbers than what is made of them.
        let (mut pending, mut order) = (vec![term], Vec::new());
        let mut seen = HashSet::new();
        while let Some(term) = pending.pop() {
            if !is_open(term) || !seen.insert(term) {
                continue;
            }
            order.push(term);
            each_operand(self.node(term), &mut |operand| pending.push(operand));
        }
        order.sort_unstable();
        order
    }
}

/// Adds up the factors of equal atoms.
fn merged(width: u32, constant: u64, mut products: Vec<(TermId, u64)>) -> (u64, Vec<(TermId, u64)>) {
    let mask = numbers::mask(width);
    products.sort_unstable();
    let mut merged: Vec<(TermId, u64)> = Vec::with_capacity(products.len());
    for (atom, factor) in products {
        match merged.last_mut().filter(|last| last.0 == atom) {
            Some(last) => last.1 = last.1.wrapping_add(factor),
            None => merged.push((atom, factor)),
        }
    }
    merged.iter_mut().for_each(|product| product.1 &= mask);
    (constant & mask, merged)
}

/// Calls `f` for each operand of a node.
pub(super) fn each_operand(node: &Node, f: &mut dyn FnMut(TermId)) {
    match node {
        Node::Int { .. } | Node::Argument { .. } | Node::Start | Node::Symbol(_) | Node::Constant { .. } => {}
        Node::Sum { products, .. } => products.iter().for_each(|(atom, _)| f(*atom)),
        Node::Binary { operands, .. } | Node::Less { operands, .. } => operands.iter().copied().for_each(f),
        Node::Cast { operand, .. } | Node::Not(operand) | Node::Zero { operand, .. } => f(*operand),
        Node::Select(operands) => operands.iter().copied().for_each(f),
        Node::Operation(own) => own.operands.iter().chain(&own.memory).copied().for_each(f),
    }
}

/// Returns the value of a condition that is a constant.
pub(super) fn decided(condition: TermId) -> Option<bool> {
    match condition {
        TRUE => Some(true),
        FALSE => Some(false),
        _ => None,
    }
}
