//! A recursive-descent parser that evaluates as it reads: expressions to affine cases, formulas to
//! unions.
//!
//! While a formula is read, the visible variables are the parameters, the tuples' dimensions and
//! the variables of the `exists` around it. An expression is a list of cases, each an affine
//! expression under a conjunction that holds the existential variables of its `floor`s and the
//! guards of its `min`s. Depth, number of cases and number of conjunctions are bounded.

use std::sync::Arc;

use super::ParseError;
use super::lexer::{Token, tokens};
use crate::affine::{Affine, Var};
use crate::conjunction::Conjunction;
use crate::int::Int;
use crate::limits::{Budget, Limits};
use crate::space::{Space, Tuple};
use crate::union::{intersect, subtract};

const MAX_DEPTH: usize = 100;
const MAX_PIECES: usize = 20_000;
const PARSE_STEPS: u64 = 20_000_000;

/// The space and conjunctions of a text; `tuples` is 1 for a set, 2 for a relation.
pub(crate) fn parse(text: &str, tuples: usize) -> Result<(Space, Vec<Conjunction>), ParseError> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        depth: 0,
        scope: Vec::new(),
        budget: Budget::new(&Limits::steps(PARSE_STEPS)),
    };
    let result = parser.top(tuples)?;
    if parser.peek() != &Token::End {
        return parser.fail("nothing may follow the closing brace");
    }
    Ok(result)
}

/// An expression: an affine value in each of several cases.
type Value = Vec<(Conjunction, Affine)>;

struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    depth: usize,
    /// Names of the visible variables; unnamed ones are empty.
    scope: Vec<String>,
    budget: Budget,
}

type Parsed<V> = Result<V, ParseError>;

impl Parser {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    fn peek_second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    fn advance(&mut self) -> Token {
        let token = self.tokens[self.at].0.clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn fail<V>(&self, message: &str) -> Parsed<V> {
        Err(ParseError { offset: self.tokens[self.at].1, message: message.to_string() })
    }

    fn accept(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(other) if *other == sign);
        if found {
            self.advance();
        }
        found
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Name(name) if name == word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if self.accept(sign) { Ok(()) } else { self.fail(&format!("expected `{sign}`")) }
    }

    fn name(&mut self) -> Parsed<String> {
        match self.peek() {
            Token::Name(name) if !is_reserved(name) => {
                let name = name.clone();
                self.advance();
                Ok(name)
            }
            _ => self.fail("expected a name"),
        }
    }

    /// Runs `body` one level deeper.
    fn nested<V>(&mut self, body: impl FnOnce(&mut Parser) -> Parsed<V>) -> Parsed<V> {
        if self.depth >= MAX_DEPTH {
            return self.fail("nested too deeply");
        }
        self.depth += 1;
        let result = body(self);
        self.depth -= 1;
        result
    }

    fn tick(&mut self, steps: usize) -> Parsed<()> {
        match self.budget.tick(steps) {
            Ok(()) => Ok(()),
            Err(_) => self.fail("this takes too many steps to bring into a union of conjunctions"),
        }
    }

    fn top(&mut self, tuples: usize) -> Parsed<(Space, Vec<Conjunction>)> {
        let mut params: Vec<Arc<str>> = Vec::new();
        if matches!(self.peek(), Token::Sign("[")) {
            self.advance();
            while !self.accept("]") {
                let name = self.name()?;
                if params.iter().any(|param| **param == name) {
                    return self.fail("this parameter was named before");
                }
                params.push(name.into());
                if !self.accept(",") && !matches!(self.peek(), Token::Sign("]")) {
                    return self.fail("expected `,` or `]`");
                }
            }
            self.expect("->")?;
        }
        self.expect("{")?;
        let mut space: Option<Space> = None;
        let mut pieces = Vec::new();
        while !self.accept("}") {
            let start = self.at;
            let (found, part) = self.disjunct(&params, tuples)?;
            match &space {
                None => space = Some(found),
                Some(space) if space.tuples.iter().zip(&found.tuples).all(|(a, b)| a.is_like(b)) => {}
                Some(_) => {
                    self.at = start;
                    return self.fail("all parts must have the same tuples");
                }
            }
            pieces.extend(part);
            if pieces.len() > MAX_PIECES {
                return self.fail("too many disjuncts");
            }
            if !self.accept(";") && !matches!(self.peek(), Token::Sign("}")) {
                return self.fail("expected `;` or `}`");
            }
        }
        let space = space.unwrap_or_else(|| Space { params, tuples: vec![Tuple::default(); tuples] });
        Ok((space, pieces))
    }

    /// `A[…] -> B[…] : formula`.
    fn disjunct(&mut self, params: &[Arc<str>], tuples: usize) -> Parsed<(Space, Vec<Conjunction>)> {
        self.scope = params.iter().map(|name| name.to_string()).collect();
        let mut space = Space { params: params.to_vec(), tuples: Vec::new() };
        // Entries that are expressions, evaluated once all dimensions are known.
        let mut given: Vec<(usize, usize)> = Vec::new();
        if matches!(self.peek(), Token::Sign(":")) && tuples == 1 {
            space.tuples.push(Tuple::default());
        } else {
            space.tuples.push(self.tuple(&mut given)?);
            if self.accept("->") {
                space.tuples.push(self.tuple(&mut given)?);
            }
            if space.tuples.len() != tuples {
                return self.fail(if tuples == 1 {
                    "this is a relation, a set was expected"
                } else {
                    "this is a set, a relation was expected"
                });
            }
        }
        let mut pieces = vec![Conjunction::new(self.scope.len())];
        let after = self.at;
        for (var, start) in given {
            self.at = start;
            let value = self.expression()?;
            let equal = self.compare(
                "=",
                &vec![(Conjunction::new(self.scope.len()), Var(var as u32).into())],
                &value,
            )?;
            pieces = self.both(&pieces, &equal)?;
        }
        self.at = after;
        if self.accept(":") && !matches!(self.peek(), Token::Sign(";" | "}")) {
            let formula = self.formula()?;
            pieces = self.both(&pieces, &formula)?;
        }
        Ok((space, pieces))
    }

    /// `A[i, j + 1]`: names seen for the first time are dimensions, anything else defines an
    /// unnamed one. The starts of such expressions are noted in `given`.
    fn tuple(&mut self, given: &mut Vec<(usize, usize)>) -> Parsed<Tuple> {
        let mut tuple = Tuple::default();
        if let Token::Name(_) = self.peek() {
            tuple.name = Some(self.name()?.into());
        }
        self.expect("[")?;
        while !self.accept("]") {
            let var = self.scope.len();
            let fresh = match (self.peek(), self.peek_second()) {
                (Token::Name(name), Token::Sign("," | "]" | "="))
                    if !self.scope.contains(name) && !is_reserved(name) =>
                {
                    Some(name.clone())
                }
                _ => None,
            };
            match fresh {
                Some(name) => {
                    self.advance();
                    tuple.dims.push(Some(name.as_str().into()));
                    self.scope.push(name);
                    if self.accept("=") {
                        given.push((var, self.at));
                        self.skip_entry()?;
                    }
                }
                None => {
                    tuple.dims.push(None);
                    self.scope.push(String::new());
                    given.push((var, self.at));
                    self.skip_entry()?;
                }
            }
            if !self.accept(",") && !matches!(self.peek(), Token::Sign("]")) {
                return self.fail("expected `,` or `]`");
            }
        }
        Ok(tuple)
    }

    /// Skips to the `,` or `]` that ends a tuple's entry.
    fn skip_entry(&mut self) -> Parsed<()> {
        let mut open = 0usize;
        let start = self.at;
        loop {
            match self.peek() {
                Token::End => return self.fail("expected `]`"),
                Token::Sign("[" | "(") => open += 1,
                Token::Sign("]" | ")") if open > 0 => open -= 1,
                Token::Sign("," | "]") if open == 0 => break,
                _ => {}
            }
            self.advance();
        }
        if self.at == start { self.fail("expected an expression") } else { Ok(()) }
    }

    fn both(&mut self, a: &[Conjunction], b: &[Conjunction]) -> Parsed<Vec<Conjunction>> {
        if a.len().saturating_mul(b.len()) > MAX_PIECES {
            return self.fail("too many disjuncts");
        }
        let rows: usize = a.iter().chain(b).map(|piece| piece.constraints() + piece.vars()).sum();
        self.tick(rows.saturating_mul(a.len().min(b.len()).max(1)))?;
        Ok(intersect(a, b))
    }

    fn formula(&mut self) -> Parsed<Vec<Conjunction>> {
        self.nested(|parser| {
            let mut pieces = parser.disjunction()?;
            while parser.accept_word("implies") || parser.accept("=>") {
                let right = parser.disjunction()?;
                pieces = parser.negate(&pieces)?;
                pieces.extend(right);
            }
            Ok(pieces)
        })
    }

    fn disjunction(&mut self) -> Parsed<Vec<Conjunction>> {
        let mut pieces = self.conjunction()?;
        while self.accept_word("or") || self.accept("||") {
            pieces.extend(self.conjunction()?);
            if pieces.len() > MAX_PIECES {
                return self.fail("too many disjuncts");
            }
        }
        Ok(pieces)
    }

    fn conjunction(&mut self) -> Parsed<Vec<Conjunction>> {
        let mut pieces = self.unary()?;
        while self.accept_word("and") || self.accept("&&") {
            let right = self.unary()?;
            pieces = self.both(&pieces, &right)?;
        }
        Ok(pieces)
    }

    fn negate(&mut self, pieces: &[Conjunction]) -> Parsed<Vec<Conjunction>> {
        let universe = vec![Conjunction::new(self.scope.len())];
        match subtract(&universe, pieces, &mut self.budget) {
            Ok(pieces) if pieces.len() <= MAX_PIECES => Ok(pieces),
            Ok(_) => self.fail("too many disjuncts"),
            Err(_) => self.fail("this takes too many steps to negate"),
        }
    }

    fn unary(&mut self) -> Parsed<Vec<Conjunction>> {
        self.nested(|parser| {
            if parser.accept_word("not") || parser.accept("!") {
                let pieces = parser.unary()?;
                return parser.negate(&pieces);
            }
            if parser.accept_word("true") {
                return Ok(vec![Conjunction::new(parser.scope.len())]);
            }
            if parser.accept_word("false") {
                return Ok(Vec::new());
            }
            if parser.accept_word("exists") {
                return parser.exists();
            }
            if matches!(parser.peek(), Token::Sign("(")) && parser.is_formula_in_parentheses() {
                parser.advance();
                let pieces = parser.formula()?;
                parser.expect(")")?;
                return Ok(pieces);
            }
            parser.comparison()
        })
    }

    /// True if the parenthesis here encloses a formula rather than an expression: it holds a
    /// comparison or a word of formulas, at any depth but inside brackets.
    fn is_formula_in_parentheses(&self) -> bool {
        let mut open = 0usize;
        for (token, _) in &self.tokens[self.at..] {
            match token {
                Token::Sign("(") => open += 1,
                Token::Sign(")") => {
                    open -= 1;
                    if open == 0 {
                        return false;
                    }
                }
                Token::Sign(
                    "<" | "<=" | ">" | ">=" | "=" | "==" | "!=" | "<>" | "<<" | ">>" | "<<=" | ">>=",
                ) => {
                    return true;
                }
                Token::Name(name) if matches!(name.as_str(), "true" | "false" | "exists" | "not") => {
                    return true;
                }
                Token::End => return false,
                _ => {}
            }
        }
        false
    }

    /// After `exists`: `(e0, e1 = expr: formula)`, the parentheses optional.
    fn exists(&mut self) -> Parsed<Vec<Conjunction>> {
        let parenthesis = self.accept("(");
        let outer = self.scope.len();
        let mut definitions = vec![Conjunction::new(outer)];
        loop {
            let name = self.name()?;
            let var = self.scope.len();
            self.scope.push(name);
            definitions = definitions.iter().map(|piece| widen(piece, var + 1)).collect();
            if self.accept("=") {
                let value = self.expression()?;
                let equal =
                    self.compare("=", &vec![(Conjunction::new(var + 1), Var(var as u32).into())], &value)?;
                definitions = self.both(&definitions, &equal)?;
            }
            if !self.accept(",") {
                break;
            }
        }
        let mut pieces = definitions;
        if self.accept(":") {
            let formula = self.formula()?;
            pieces = self.both(&pieces, &formula)?;
        }
        if parenthesis {
            self.expect(")")?;
        }
        self.scope.truncate(outer);
        Ok(pieces.iter().filter_map(|piece| piece.hidden(|var| var >= outer).simplified()).collect())
    }

    /// `a, b <= c < d`.
    fn comparison(&mut self) -> Parsed<Vec<Conjunction>> {
        let mut left = self.list()?;
        let mut pieces: Option<Vec<Conjunction>> = None;
        while let Some(operator) = self.comparison_sign() {
            self.advance();
            let right = self.list()?;
            let new = self.compare_lists(operator, &left, &right)?;
            pieces = Some(match pieces {
                None => new,
                Some(pieces) => self.both(&pieces, &new)?,
            });
            left = right;
        }
        match pieces {
            Some(pieces) => Ok(pieces),
            None => self.fail("expected a comparison"),
        }
    }

    fn comparison_sign(&self) -> Option<&'static str> {
        match self.peek() {
            Token::Sign(
                sign @ ("<" | "<=" | ">" | ">=" | "=" | "==" | "!=" | "<>" | "<<" | ">>" | "<<=" | ">>="),
            ) => Some(sign),
            _ => None,
        }
    }

    fn list(&mut self) -> Parsed<Vec<Value>> {
        let mut values = vec![self.expression()?];
        while self.accept(",") {
            values.push(self.expression()?);
        }
        Ok(values)
    }

    fn compare_lists(&mut self, operator: &str, left: &[Value], right: &[Value]) -> Parsed<Vec<Conjunction>> {
        let strict = match operator {
            "<<" | "<<=" => "<",
            ">>" | ">>=" => ">",
            _ => {
                let mut pieces = vec![Conjunction::new(self.scope.len())];
                for a in left {
                    for b in right {
                        let new = self.compare(operator, a, b)?;
                        pieces = self.both(&pieces, &new)?;
                    }
                }
                return Ok(pieces);
            }
        };
        if left.len() != right.len() {
            return self.fail("lexicographic comparison needs lists of equal length");
        }
        let mut equal = vec![Conjunction::new(self.scope.len())];
        let mut pieces = Vec::new();
        for (a, b) in left.iter().zip(right) {
            let differs = self.compare(strict, a, b)?;
            pieces.extend(self.both(&equal, &differs)?);
            let same = self.compare("=", a, b)?;
            equal = self.both(&equal, &same)?;
        }
        if operator.len() == 3 {
            pieces.extend(equal);
        }
        Ok(pieces)
    }

    fn compare(&mut self, operator: &str, left: &Value, right: &Value) -> Parsed<Vec<Conjunction>> {
        if operator == "!=" || operator == "<>" {
            let mut pieces = self.compare("<", left, right)?;
            pieces.extend(self.compare(">", left, right)?);
            return Ok(pieces);
        }
        let mut pieces = Vec::new();
        for (mut both, a, b) in self.cases(left, right)? {
            match operator {
                "<" => both.add_lt(a, b),
                "<=" => both.add_le(a, b),
                ">" => both.add_gt(a, b),
                ">=" => both.add_ge(a, b),
                _ => both.add_eq(a, b),
            }
            pieces.extend(both.simplified());
        }
        Ok(pieces)
    }

    /// All combinations of a case of each value, over common existential variables.
    fn cases(&mut self, left: &Value, right: &Value) -> Parsed<Vec<(Conjunction, Affine, Affine)>> {
        if left.len() * right.len() > MAX_PIECES {
            return self.fail("too many cases");
        }
        let mut out = Vec::with_capacity(left.len() * right.len());
        for (guard_a, a) in left {
            for (guard_b, b) in right {
                self.tick(1 + guard_a.constraints() + guard_b.constraints())?;
                let (visible, shift) = (guard_b.visible(), guard_a.existentials());
                let both = guard_a.intersect(guard_b);
                let b = b.map_vars(|var| if var.index() < visible { var } else { Var(var.0 + shift as u32) });
                out.push((both, a.clone(), b));
            }
        }
        Ok(out)
    }

    fn expression(&mut self) -> Parsed<Value> {
        self.nested(|parser| {
            let mut negative = false;
            while matches!(parser.peek(), Token::Sign("-" | "+")) {
                negative ^= parser.advance() == Token::Sign("-");
            }
            let mut sum = parser.term()?;
            if negative {
                scale(&mut sum, &Int::from(-1));
            }
            loop {
                let negative = match parser.peek() {
                    Token::Sign("+") => false,
                    Token::Sign("-") => true,
                    _ => return Ok(sum),
                };
                parser.advance();
                let mut term = parser.term()?;
                if negative {
                    scale(&mut term, &Int::from(-1));
                }
                let cases = parser.cases(&sum, &term)?;
                sum = cases.into_iter().map(|(both, a, b)| (both, a + b)).collect();
            }
        })
    }

    /// Products; one side must be a constant.
    fn term(&mut self) -> Parsed<Value> {
        let mut value = self.factor()?;
        loop {
            // `2i` and `2(i + 1)` are products too.
            let beside = is_constant(&value)
                && (matches!(self.peek(), Token::Sign("("))
                    || matches!(self.peek(), Token::Name(name) if !is_infix(name)));
            if !self.accept("*") && !beside {
                return Ok(value);
            }
            let other = self.factor()?;
            value = match (constant(&value), constant(&other)) {
                (_, Some(factor)) => {
                    scale(&mut value, &factor);
                    value
                }
                (Some(factor), None) => {
                    let mut other = other;
                    scale(&mut other, &factor);
                    other
                }
                (None, None) => return self.fail("a product of variables is not affine"),
            };
        }
    }

    fn factor(&mut self) -> Parsed<Value> {
        let mut value = self.nested(Parser::primary)?;
        while self.accept_word("mod") || self.accept("%") {
            let divisor = self.divisor()?;
            let cases = value.into_iter().map(|(mut guard, affine)| {
                let rest = guard.modulo(affine, divisor.clone());
                (guard, rest)
            });
            value = cases.collect();
        }
        Ok(value)
    }

    fn divisor(&mut self) -> Parsed<Int> {
        let value = self.nested(Parser::primary)?;
        match constant(&value) {
            Some(divisor) if divisor.signum() > 0 => Ok(divisor),
            _ => self.fail("expected a positive constant"),
        }
    }

    fn primary(&mut self) -> Parsed<Value> {
        let plain = |parser: &Parser, affine: Affine| vec![(Conjunction::new(parser.scope.len()), affine)];
        match self.peek().clone() {
            Token::Number(value) => {
                self.advance();
                Ok(plain(self, value.into()))
            }
            Token::Sign("-") => {
                self.advance();
                let mut value = self.nested(Parser::primary)?;
                scale(&mut value, &Int::from(-1));
                Ok(value)
            }
            Token::Sign("(") => {
                self.advance();
                let value = self.expression()?;
                self.expect(")")?;
                Ok(value)
            }
            Token::Sign("[") => {
                self.advance();
                let value = self.quotient(false)?;
                self.expect("]")?;
                Ok(value)
            }
            Token::Name(name) if matches!(self.peek_second(), Token::Sign("(")) && is_function(&name) => {
                self.advance();
                self.advance();
                let value = match name.as_str() {
                    "floor" => self.quotient(false)?,
                    "ceil" => self.quotient(true)?,
                    "floord" | "ceild" => {
                        let value = self.expression()?;
                        self.expect(",")?;
                        let divisor = self.divisor()?;
                        divide(value, &divisor, name == "ceild")
                    }
                    _ => self.extreme(name == "max")?,
                };
                self.expect(")")?;
                Ok(value)
            }
            Token::Name(name) => match self.scope.iter().rposition(|known| *known == name) {
                Some(var) => {
                    self.advance();
                    Ok(plain(self, Var(var as u32).into()))
                }
                None => self.fail(&format!("`{name}` is not a parameter or dimension here")),
            },
            _ => self.fail("expected an expression"),
        }
    }

    /// `expr / constant`, rounded.
    fn quotient(&mut self, up: bool) -> Parsed<Value> {
        let value = self.expression()?;
        if !self.accept("/") {
            return Ok(value);
        }
        let divisor = self.divisor()?;
        Ok(divide(value, &divisor, up))
    }

    /// The arguments of `min` or `max`: one case for each argument, where it is the extreme.
    fn extreme(&mut self, greatest: bool) -> Parsed<Value> {
        let mut value = self.expression()?;
        while self.accept(",") {
            let other = self.expression()?;
            let mut cases = Vec::new();
            for (both, a, b) in self.cases(&value, &other)? {
                let (mut first, mut second) = (both.clone(), both);
                if greatest {
                    first.add_ge(a.clone(), b.clone());
                    second.add_lt(a.clone(), b.clone());
                } else {
                    first.add_le(a.clone(), b.clone());
                    second.add_gt(a.clone(), b.clone());
                }
                cases.push((first, a));
                cases.push((second, b));
            }
            value = cases;
        }
        Ok(value)
    }
}

fn divide(value: Value, divisor: &Int, up: bool) -> Value {
    let cases = value.into_iter().map(|(mut guard, affine)| {
        let quotient = if up {
            guard.ceil_div(affine, divisor.clone())
        } else {
            guard.floor_div(affine, divisor.clone()).into()
        };
        (guard, quotient)
    });
    cases.collect()
}

fn scale(value: &mut Value, factor: &Int) {
    for (_, affine) in value {
        *affine = &*affine * factor;
    }
}

fn constant(value: &Value) -> Option<Int> {
    match value.as_slice() {
        [(guard, affine)] if affine.is_constant() && guard.constraints() == 0 => {
            Some(affine.constant_term().clone())
        }
        _ => None,
    }
}

fn is_constant(value: &Value) -> bool {
    constant(value).is_some()
}

/// The conjunction over more visible variables.
fn widen(piece: &Conjunction, visible: usize) -> Conjunction {
    let map: Vec<usize> = (0..piece.visible()).collect();
    piece.renamed(visible, &map)
}

fn is_function(name: &str) -> bool {
    matches!(name, "floor" | "ceil" | "floord" | "ceild" | "min" | "max")
}

fn is_infix(name: &str) -> bool {
    matches!(name, "and" | "or" | "mod" | "implies")
}

fn is_reserved(name: &str) -> bool {
    is_infix(name) || matches!(name, "not" | "exists" | "true" | "false")
}
