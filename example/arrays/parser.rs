//! The parser: tokens become a tree.
//!
//! ```text
//! function   = "def" name "(" parameter { "," parameter } ")" "{" { statement } "}"
//! parameter  = name "[" number "]"
//! statement  = name "=" sum ";"
//! sum        = product { ( "+" | "-" ) product }
//! product    = factor { ( "*" | "/" ) factor }
//! factor     = number | name | "(" sum ")" | "sum" "(" sum ")"
//! ```

use loomir::ir::Diagnostics;

use crate::lexer::{Kind, Token, error};

pub(crate) struct Function<'s> {
    pub name: Token<'s>,
    /// Arrays, each with its length.
    pub parameters: Vec<(Token<'s>, i64)>,
    /// Targets, each with its new value.
    pub statements: Vec<(Token<'s>, Expr<'s>)>,
}

pub(crate) enum Expr<'s> {
    Number(f64),
    Name(Token<'s>),
    /// The sum of all elements.
    Sum(Token<'s>, Box<Expr<'s>>),
    Binary(Token<'s>, Box<[Expr<'s>; 2]>),
}

/// The most numbers, names and brackets in an expression: trees are walked recursively.
const MAX_PARTS: usize = 500;

struct Parser<'s> {
    /// The tokens to come, the next one last.
    tokens: Vec<Token<'s>>,
    next: Token<'s>,
    /// Parts of the current expression.
    parts: usize,
}

/// Returns the functions of a program.
pub(crate) fn program<'s>(mut tokens: Vec<Token<'s>>) -> Result<Vec<Function<'s>>, Diagnostics> {
    tokens.reverse();
    let Some(next) = tokens.pop() else { return Ok(Vec::new()) };
    let mut parser = Parser { tokens, next, parts: 0 };
    let mut functions = Vec::new();
    while parser.next.kind != Kind::End {
        functions.push(parser.function()?);
    }
    Ok(functions)
}

impl<'s> Parser<'s> {
    /// Returns the next token, and goes on to the one behind it. The end stays.
    fn take(&mut self) -> Token<'s> {
        let next = self.tokens.pop().unwrap_or(self.next);
        std::mem::replace(&mut self.next, next)
    }

    fn is(&self, text: &str) -> bool {
        self.next.kind != Kind::Number && self.next.text == text
    }

    fn expect(&mut self, text: &str) -> Result<Token<'s>, Diagnostics> {
        if self.is(text) { Ok(self.take()) } else { Err(self.unexpected(&format!("'{text}'"))) }
    }

    fn expect_kind(&mut self, kind: Kind, what: &str) -> Result<Token<'s>, Diagnostics> {
        if self.next.kind == kind { Ok(self.take()) } else { Err(self.unexpected(what)) }
    }

    fn unexpected(&self, wanted: &str) -> Diagnostics {
        let message = format!("'{}' stands in place of {wanted}", self.next.text);
        error(self.next.loc, message, &format!("write {wanted} here"))
    }

    fn function(&mut self) -> Result<Function<'s>, Diagnostics> {
        self.expect("def")?;
        let name = self.expect_kind(Kind::Name, "a name")?;
        self.expect("(")?;
        let mut parameters = vec![self.parameter()?];
        while self.is(",") {
            self.take();
            parameters.push(self.parameter()?);
        }
        self.expect(")")?;
        self.expect("{")?;
        let mut statements = Vec::new();
        while !self.is("}") {
            let target = self.expect_kind(Kind::Name, "a name")?;
            self.expect("=")?;
            self.parts = 0;
            statements.push((target, self.sum()?));
            self.expect(";")?;
        }
        self.take();
        Ok(Function { name, parameters, statements })
    }

    fn parameter(&mut self) -> Result<(Token<'s>, i64), Diagnostics> {
        let name = self.expect_kind(Kind::Name, "a name")?;
        self.expect("[")?;
        let length = self.expect_kind(Kind::Number, "a length")?;
        self.expect("]")?;
        let known = length.text.parse().ok().filter(|length| (1..=1 << 30).contains(length));
        let message = || format!("'{}' is no length", length.text);
        let length = known.ok_or_else(|| error(length.loc, message(), "write a number from 1 to 2^30"))?;
        Ok((name, length))
    }

    fn sum(&mut self) -> Result<Expr<'s>, Diagnostics> {
        let mut left = self.product()?;
        while self.is("+") || self.is("-") {
            let sign = self.take();
            left = Expr::Binary(sign, Box::new([left, self.product()?]));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expr<'s>, Diagnostics> {
        let mut left = self.factor()?;
        while self.is("*") || self.is("/") {
            let sign = self.take();
            left = Expr::Binary(sign, Box::new([left, self.factor()?]));
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expr<'s>, Diagnostics> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            let message = format!("an expression has more than {MAX_PARTS} parts");
            return Err(error(self.next.loc, message, "give a part of it a name"));
        }
        let first = self.take();
        match (first.kind, first.text) {
            (Kind::Number, text) => {
                let number = text.parse().map(Expr::Number);
                number.map_err(|_| error(first.loc, format!("'{text}' is no number"), "write one like 2.5"))
            }
            (Kind::Name, "sum") => {
                self.expect("(")?;
                let inner = self.sum()?;
                self.expect(")")?;
                Ok(Expr::Sum(first, Box::new(inner)))
            }
            (Kind::Name, _) => Ok(Expr::Name(first)),
            (Kind::Sign, "(") => {
                let inner = self.sum()?;
                self.expect(")")?;
                Ok(inner)
            }
            _ => {
                let message = format!("'{}' begins no expression", first.text);
                Err(error(first.loc, message, "write a number, a name, 'sum(…)' or '(…)'"))
            }
        }
    }
}
