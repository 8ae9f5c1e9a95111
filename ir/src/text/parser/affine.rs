//! Affine maps, integer sets, and affine maps written over values.

use super::Parser;
use crate::affine::{AffineExpr, AffineMap, IntegerSet};
use crate::text::ParseResult;
use crate::text::lexer::Kind;
use crate::text::op_parser::UnresolvedOperand;

/// The meaning of names in an expression.
enum Names<'s> {
    /// Dimensions and symbols, declared in front.
    Declared { dims: Vec<&'s str>, symbols: Vec<&'s str> },
    /// Values, numbered as they come.
    Values { dims: Vec<UnresolvedOperand>, symbols: Vec<UnresolvedOperand> },
}

impl<'s> Parser<'s> {
    /// Reads `(d0, …)[s0, …] -> (expressions)`.
    pub(crate) fn affine_map(&mut self) -> ParseResult<AffineMap> {
        let mut names = self.declared_names()?;
        self.expect(Kind::Arrow, "expected '->' or '['")?;
        self.expect(Kind::LParen, "expected '(' at start of affine map range")?;
        let mut results = Vec::new();
        self.list_until(Kind::RParen, "expected ')' at end of affine map range", |p| {
            results.push(p.expression(&mut names)?);
            Ok(())
        })?;
        let (dims, symbols) = names.counts();
        Ok(AffineMap::new(self.ctx, dims, symbols, &results))
    }

    /// Reads `(d0, …)[s0, …] : (constraints)`.
    pub(crate) fn integer_set(&mut self) -> ParseResult<IntegerSet> {
        let mut names = self.declared_names()?;
        self.expect(Kind::Colon, "expected ':' or '['")?;
        self.expect(Kind::LParen, "expected '(' at start of integer set constraint list")?;
        let mut constraints = Vec::new();
        self.list_until(Kind::RParen, "expected ')' at end of integer set constraint list", |p| {
            constraints.push(p.constraint(&mut names)?);
            Ok(())
        })?;
        if constraints.is_empty() {
            // Everything; written with a constraint that says nothing, as MLIR has it.
            constraints.push((AffineExpr::constant(self.ctx, 0), true));
        }
        let (dims, symbols) = names.counts();
        Ok(IntegerSet::new(self.ctx, dims, symbols, constraints))
    }

    /// Reads expressions over values, `%i + 1, %j * symbol(%n)`, until `close`: the map, its
    /// operands with dimensions first, and how many dimensions there are.
    pub(crate) fn map_of_ssa_ids(
        &mut self,
        close: Kind,
        message: &str,
    ) -> ParseResult<(AffineMap, Vec<UnresolvedOperand>, u32)> {
        let mut names = Names::Values { dims: Vec::new(), symbols: Vec::new() };
        let mut results = Vec::new();
        self.list_until(close, message, |p| {
            results.push(p.expression(&mut names)?);
            Ok(())
        })?;
        Ok(self.map_and_operands(names, results))
    }

    /// Reads one expression over values, which are added to those known so far.
    pub(crate) fn expression_of_ssa_ids(
        &mut self,
        dims: &mut Vec<UnresolvedOperand>,
        symbols: &mut Vec<UnresolvedOperand>,
    ) -> ParseResult<AffineExpr> {
        let mut names = Names::Values { dims: std::mem::take(dims), symbols: std::mem::take(symbols) };
        let expr = self.expression(&mut names)?;
        if let Names::Values { dims: d, symbols: s } = names {
            (*dims, *symbols) = (d, s);
        }
        Ok(expr)
    }

    fn map_and_operands(
        &mut self,
        names: Names<'s>,
        results: Vec<AffineExpr>,
    ) -> (AffineMap, Vec<UnresolvedOperand>, u32) {
        let (num_dims, num_symbols) = names.counts();
        let mut operands = Vec::new();
        if let Names::Values { dims, symbols } = names {
            operands = dims;
            operands.extend(symbols);
        }
        (AffineMap::new(self.ctx, num_dims, num_symbols, &results), operands, num_dims)
    }

    fn declared_names(&mut self) -> ParseResult<Names<'s>> {
        let (mut dims, mut symbols) = (Vec::new(), Vec::new());
        self.expect(Kind::LParen, "expected '(' at start of dimensional identifiers list")?;
        self.identifiers(Kind::RParen, "expected ')'", &mut dims)?;
        if self.accept(Kind::LSquare) {
            self.identifiers(Kind::RSquare, "expected ']'", &mut symbols)?;
        }
        let mut seen = hashbrown::HashSet::new();
        if let Some(twice) = dims.iter().chain(&symbols).find(|name| !seen.insert(**name)) {
            return Err(self.error_here(format!("redefinition of identifier '{twice}'")));
        }
        Ok(Names::Declared { dims, symbols })
    }

    fn identifiers(&mut self, close: Kind, message: &str, into: &mut Vec<&'s str>) -> ParseResult<()> {
        self.list_until(close, message, |p| {
            if !p.is(Kind::Bare) {
                return Err(p.missing("expected bare identifier"));
            }
            into.push(p.text());
            p.advance();
            Ok(())
        })
    }

    /// Reads `a >= b`, `a <= b` or `a == b` as an expression that is zero (true) or not negative.
    fn constraint(&mut self, names: &mut Names<'s>) -> ParseResult<(AffineExpr, bool)> {
        let left = self.expression(names)?;
        let first = self.token.kind;
        if matches!(first, Kind::Greater | Kind::Less | Kind::Equal) {
            self.advance();
            if self.accept(Kind::Equal) {
                let right = self.expression(names)?;
                return Ok(match first {
                    Kind::Greater => (left.sub(self.ctx, right), false),
                    Kind::Less => (right.sub(self.ctx, left), false),
                    _ => (left.sub(self.ctx, right), true),
                });
            }
        }
        Err(self.error_here(
            "expected '== affine-expr', '>= affine-expr' or '<= affine-expr' at end of affine constraint",
        ))
    }

    /// Reads a sum.
    fn expression(&mut self, names: &mut Names<'s>) -> ParseResult<AffineExpr> {
        let mut sum = self.product(names)?;
        loop {
            let minus = self.is(Kind::Minus);
            if !minus && !self.is(Kind::Plus) {
                return Ok(sum);
            }
            self.advance();
            let term = self.product(names)?;
            sum = if minus { sum.sub(self.ctx, term) } else { sum.add(self.ctx, term) };
        }
    }

    fn product(&mut self, names: &mut Names<'s>) -> ParseResult<AffineExpr> {
        let mut left = self.factor(names)?;
        loop {
            let operator = match self.token.kind {
                Kind::Star => "*",
                Kind::Bare if matches!(self.text(), "floordiv" | "ceildiv" | "mod") => self.text(),
                _ => return Ok(left),
            };
            let at = self.token.start;
            self.advance();
            let right = self.factor(names)?;
            let right_fixed = right.is_symbolic_or_constant(self.ctx);
            if operator == "*" && !right_fixed && !left.is_symbolic_or_constant(self.ctx) {
                let message = "non-affine expression: at least one of the multiply operands has to be either a \
                               constant or symbolic";
                return Err(self.error_at(at, message));
            }
            if operator != "*" && !right_fixed {
                let message = format!(
                    "non-affine expression: right operand of {operator} has to be either a constant or symbolic"
                );
                return Err(self.error_at(at, message));
            }
            left = match operator {
                "*" => left.mul(self.ctx, right),
                "floordiv" => left.floordiv(self.ctx, right),
                "ceildiv" => left.ceildiv(self.ctx, right),
                _ => left.modulo(self.ctx, right),
            };
        }
    }

    fn factor(&mut self, names: &mut Names<'s>) -> ParseResult<AffineExpr> {
        match self.token.kind {
            Kind::Integer => match self.optional_integer()? {
                Some(value) => Ok(AffineExpr::constant(self.ctx, value)),
                None => Err(self.missing("expected affine expression")),
            },
            Kind::LParen => self.nested_expression(names, |p, names| {
                p.advance();
                if p.is(Kind::RParen) {
                    return Err(p.error_here("no expression inside parentheses"));
                }
                let inner = p.expression(names)?;
                p.expect(Kind::RParen, "expected ')'")?;
                Ok(inner)
            }),
            Kind::Minus => self.nested_expression(names, |p, names| {
                p.advance();
                Ok(p.factor(names)?.neg(p.ctx))
            }),
            Kind::Bare | Kind::Percent => self.name_in_expression(names),
            Kind::Plus | Kind::Star => Err(self.error_here("missing left operand of binary operator")),
            _ => Err(self.missing("expected affine expression")),
        }
    }

    fn nested_expression(
        &mut self,
        names: &mut Names<'s>,
        read: fn(&mut Self, &mut Names<'s>) -> ParseResult<AffineExpr>,
    ) -> ParseResult<AffineExpr> {
        self.nested(|p| read(p, names))
    }

    fn name_in_expression(&mut self, names: &mut Names<'s>) -> ParseResult<AffineExpr> {
        match names {
            Names::Declared { dims, symbols } => {
                let text = self.text();
                let dim = dims.iter().position(|d| *d == text);
                let symbol = symbols.iter().position(|s| *s == text);
                let expr = match (dim, symbol) {
                    (Some(d), _) => AffineExpr::dim(self.ctx, d as u32),
                    (None, Some(s)) => AffineExpr::symbol(self.ctx, s as u32),
                    _ => return Err(self.error_here("use of undeclared identifier")),
                };
                self.advance();
                Ok(expr)
            }
            Names::Values { dims, symbols } => {
                let is_symbol = self.is_keyword("symbol");
                if is_symbol {
                    self.advance();
                    self.expect(Kind::LParen, "expected '('")?;
                }
                let operand = self.operand()?;
                if is_symbol {
                    self.expect(Kind::RParen, "expected ')'")?;
                }
                let same = |a: &UnresolvedOperand, p: &Self| {
                    a.number == operand.number
                        && p.slice(a.start, a.end) == p.slice(operand.start, operand.end)
                };
                let list = if is_symbol { symbols } else { dims };
                let index = list.iter().position(|known| same(known, self)).unwrap_or_else(|| {
                    list.push(operand);
                    list.len() - 1
                }) as u32;
                Ok(if is_symbol {
                    AffineExpr::symbol(self.ctx, index)
                } else {
                    AffineExpr::dim(self.ctx, index)
                })
            }
        }
    }
}

impl Names<'_> {
    fn counts(&self) -> (u32, u32) {
        match self {
            Names::Declared { dims, symbols } => (dims.len() as u32, symbols.len() as u32),
            Names::Values { dims, symbols } => (dims.len() as u32, symbols.len() as u32),
        }
    }
}
