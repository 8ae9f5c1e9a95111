//! Affine expressions, maps and sets.

use std::fmt::Write;

use crate::affine::{AffineExpr, AffineExprKind, AffineMap, IntegerSet};
use crate::text::OpPrinter;

/// A part of an expression that is still to be written.
enum Step {
    /// An expression, and whether it stands beside an operator that binds strongly.
    Expr(AffineExpr, bool),
    Text(&'static str),
    Number(u64),
}

impl OpPrinter<'_> {
    /// Writes `(d0)[s0] -> (d0 + s0)`.
    pub(crate) fn map_itself(&mut self, map: AffineMap) {
        let data = map.data(self.ctx);
        self.dims_and_symbols(data.dims, data.symbols);
        self.write(" -> (");
        self.comma_separated(data.results.iter(), |p, expr| p.expression(*expr, &mut Self::plain_name));
        self.write(")");
    }

    /// Writes `(d0)[s0] : (d0 >= 0)`.
    pub(crate) fn set_itself(&mut self, set: IntegerSet) {
        let data = set.data(self.ctx);
        self.dims_and_symbols(data.dims, data.symbols);
        self.write(" : (");
        self.comma_separated(data.constraints.iter(), |p, (expr, equality)| {
            p.expression(*expr, &mut Self::plain_name);
            p.write(if *equality { " == 0" } else { " >= 0" });
        });
        self.write(")");
    }

    fn dims_and_symbols(&mut self, dims: u32, symbols: u32) {
        self.write("(");
        self.comma_separated(0..dims, |p, d| p.plain_name(false, d));
        self.write(")");
        if symbols > 0 {
            self.write("[");
            self.comma_separated(0..symbols, |p, s| p.plain_name(true, s));
            self.write("]");
        }
    }

    fn plain_name(&mut self, symbol: bool, position: u32) {
        let _ = write!(self.out, "{}{position}", if symbol { 's' } else { 'd' });
    }

    /// Writes an expression; `name` writes dimensions (false) and symbols (true). Iterative:
    /// expressions may be deep.
    pub(crate) fn expression(&mut self, expr: AffineExpr, name: &mut dyn FnMut(&mut Self, bool, u32)) {
        let ctx = self.ctx;
        let mut steps = vec![Step::Expr(expr, false)];
        while let Some(step) = steps.pop() {
            let (expr, strong) = match step {
                Step::Expr(expr, strong) => (expr, strong),
                Step::Text(text) => {
                    self.write(text);
                    continue;
                }
                Step::Number(number) => {
                    let _ = write!(self.out, "{number}");
                    continue;
                }
            };
            // What follows is collected in order and pushed in reverse.
            let mut parts: Vec<Step> = Vec::new();
            if strong && !expr.kind(ctx).is_leaf() {
                parts.push(Step::Text("("));
            }
            let binary = |parts: &mut Vec<Step>, a, text, b| {
                parts.extend([Step::Expr(a, true), Step::Text(text), Step::Expr(b, true)]);
            };
            match expr.kind(ctx) {
                AffineExprKind::Dim(d) => {
                    name(self, false, d);
                    continue;
                }
                AffineExprKind::Symbol(s) => {
                    name(self, true, s);
                    continue;
                }
                AffineExprKind::Constant(c) => {
                    let _ = write!(self.out, "{c}");
                    continue;
                }
                AffineExprKind::Add(a, b) => {
                    parts.push(Step::Expr(a, false));
                    let negative_product = match b.kind(ctx) {
                        AffineExprKind::Mul(x, c) => c.as_constant(ctx).filter(|c| *c < 0).map(|c| (x, c)),
                        _ => None,
                    };
                    match (negative_product, b.as_constant(ctx)) {
                        (Some((x, -1)), _) => {
                            let is_sum = matches!(x.kind(ctx), AffineExprKind::Add(..));
                            parts.extend([Step::Text(" - "), Step::Expr(x, is_sum)]);
                        }
                        (Some((x, c)), _) => parts.extend([
                            Step::Text(" - "),
                            Step::Expr(x, true),
                            Step::Text(" * "),
                            Step::Number(c.unsigned_abs()),
                        ]),
                        (None, Some(c)) if c < 0 => {
                            parts.extend([Step::Text(" - "), Step::Number(c.unsigned_abs())]);
                        }
                        _ => parts.extend([Step::Text(" + "), Step::Expr(b, false)]),
                    }
                }
                AffineExprKind::Mul(a, b) if b.as_constant(ctx) == Some(-1) => {
                    parts.extend([Step::Text("-"), Step::Expr(a, true)]);
                }
                AffineExprKind::Mul(a, b) => binary(&mut parts, a, " * ", b),
                AffineExprKind::Mod(a, b) => binary(&mut parts, a, " mod ", b),
                AffineExprKind::FloorDiv(a, b) => binary(&mut parts, a, " floordiv ", b),
                AffineExprKind::CeilDiv(a, b) => binary(&mut parts, a, " ceildiv ", b),
            }
            if strong {
                parts.push(Step::Text(")"));
            }
            steps.extend(parts.into_iter().rev());
        }
    }
}
