//! Affine expressions, maps and integer sets, uniqued in the [`Context`].
//!
//! Expressions are simplified as they are built, by the rules MLIR applies at construction:
//! constants are folded and moved to the right, symbols to the right of dimensions, neutral
//! elements dropped, `a * k mod k` and exact divisions resolved. So what is read from MLIR's text
//! prints as MLIR prints it. Arithmetic that would overflow 64 bits is left as it stands.

use crate::context::{AsKey, Context};
use crate::types::DYNAMIC;

/// A uniqued affine expression.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AffineExpr(pub(crate) u32);

/// A uniqued affine map `(dims)[symbols] -> (results)`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct AffineMap(pub(crate) u32);

/// A uniqued integer set `(dims)[symbols] : (constraints)`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IntegerSet(pub(crate) u32);

/// The content of an [`AffineExpr`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AffineExprKind {
    /// `d0`, …
    Dim(u32),
    /// `s0`, …
    Symbol(u32),
    /// A number.
    Constant(i64),
    /// Sum.
    Add(AffineExpr, AffineExpr),
    /// Product; one side is free of dimensions.
    Mul(AffineExpr, AffineExpr),
    /// Remainder in `[0, divisor)`; the divisor is positive.
    Mod(AffineExpr, AffineExpr),
    /// Quotient rounded down.
    FloorDiv(AffineExpr, AffineExpr),
    /// Quotient rounded up.
    CeilDiv(AffineExpr, AffineExpr),
}

impl AffineExprKind {
    /// True if it is made of no other expressions.
    pub fn is_leaf(self) -> bool {
        matches!(self, Dim(_) | Symbol(_) | Constant(_))
    }
}

/// An expression as it is kept: with what is asked of it at every step of building a larger one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct AffineExprNode {
    kind: AffineExprKind,
    /// No dimension occurs.
    is_symbolic: bool,
    /// The largest number known to divide every value.
    divisor: u64,
}

impl AffineExprNode {
    /// Constant time: what the parts are is known.
    pub(crate) fn new(ctx: &Context, kind: AffineExprKind) -> Self {
        let (is_symbolic, divisor) = match kind {
            Dim(_) => (false, 1),
            Symbol(_) => (true, 1),
            Constant(value) => (true, value.unsigned_abs()),
            Add(a, b) | Mul(a, b) | Mod(a, b) | FloorDiv(a, b) | CeilDiv(a, b) => {
                let (a, b) = (ctx.affine_expr_node(a), ctx.affine_expr_node(b));
                let divisor = match kind {
                    Mul(..) => a.divisor.checked_mul(b.divisor).unwrap_or(1),
                    Add(..) | Mod(..) => gcd(a.divisor, b.divisor),
                    _ if b.divisor != 0 && a.divisor.is_multiple_of(b.divisor) => a.divisor / b.divisor,
                    _ => 1,
                };
                (a.is_symbolic && b.is_symbolic, divisor)
            }
        };
        AffineExprNode { kind, is_symbolic, divisor }
    }
}

/// The content of an [`AffineMap`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct AffineMapData {
    /// Number of dimensions.
    pub dims: u32,
    /// Number of symbols.
    pub symbols: u32,
    /// The results.
    pub results: Box<[AffineExpr]>,
}

/// An [`AffineMapData`] that borrows its results.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct AffineMapKey<'r> {
    dims: u32,
    symbols: u32,
    results: &'r [AffineExpr],
}

impl AsKey<AffineMapData> for AffineMapKey<'_> {
    fn is(&self, stored: &AffineMapData) -> bool {
        (self.dims, self.symbols, self.results) == (stored.dims, stored.symbols, &stored.results)
    }
}

impl From<AffineMapKey<'_>> for AffineMapData {
    fn from(AffineMapKey { dims, symbols, results }: AffineMapKey<'_>) -> Self {
        AffineMapData { dims, symbols, results: results.into() }
    }
}

/// The content of an [`IntegerSet`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct IntegerSetData {
    /// Number of dimensions.
    pub dims: u32,
    /// Number of symbols.
    pub symbols: u32,
    /// Each constraint `expr == 0` (true) or `expr >= 0` (false).
    pub constraints: Box<[(AffineExpr, bool)]>,
}

use AffineExprKind::{Add, CeilDiv, Constant, Dim, FloorDiv, Mod, Mul, Symbol};

impl AffineExpr {
    /// Returns the content of the expression.
    #[inline]
    pub fn kind(self, ctx: &Context) -> AffineExprKind {
        ctx.affine_expr_node(self).kind
    }

    /// `d<position>`.
    pub fn dim(ctx: &Context, position: u32) -> Self {
        ctx.affine_expr(Dim(position))
    }

    /// `s<position>`.
    pub fn symbol(ctx: &Context, position: u32) -> Self {
        ctx.affine_expr(Symbol(position))
    }

    /// A number.
    pub fn constant(ctx: &Context, value: i64) -> Self {
        ctx.affine_expr(Constant(value))
    }

    /// The number, if it is one.
    pub fn as_constant(self, ctx: &Context) -> Option<i64> {
        match self.kind(ctx) {
            Constant(value) => Some(value),
            _ => None,
        }
    }

    /// True if no dimension occurs.
    pub fn is_symbolic_or_constant(self, ctx: &Context) -> bool {
        ctx.affine_expr_node(self).is_symbolic
    }

    /// Calls `f` on each node, children first. Iterative, so deep expressions are fine.
    pub fn visit(self, ctx: &Context, f: &mut dyn FnMut(AffineExprKind)) {
        let kind = self.kind(ctx);
        if kind.is_leaf() {
            return f(kind);
        }
        let mut stack = vec![(self, false)];
        while let Some((expr, expanded)) = stack.pop() {
            let kind = expr.kind(ctx);
            match kind {
                Add(a, b) | Mul(a, b) | Mod(a, b) | FloorDiv(a, b) | CeilDiv(a, b) if !expanded => {
                    stack.extend([(expr, true), (b, false), (a, false)]);
                }
                _ => f(kind),
            }
        }
    }

    /// Tells for each dimension, then for each symbol, if one of `exprs` names it.
    pub fn used_inputs(ctx: &Context, exprs: &[Self], dims: u32, symbols: u32) -> Vec<bool> {
        let mut used = vec![false; (dims + symbols) as usize];
        for expr in exprs {
            expr.visit(ctx, &mut |kind| match kind {
                Dim(d) => used[d as usize] = true,
                Symbol(s) => used[(dims + s) as usize] = true,
                _ => {}
            });
        }
        used
    }

    /// The largest number known to divide every value of the expression (0 for the constant 0).
    pub fn largest_known_divisor(self, ctx: &Context) -> u64 {
        ctx.affine_expr_node(self).divisor
    }

    /// `self + other`.
    pub fn add(self, ctx: &Context, other: Self) -> Self {
        let (mut a, mut b) = (self, other);
        if let (Constant(x), Constant(y)) = (a.kind(ctx), b.kind(ctx))
            && let Some(sum) = x.checked_add(y)
        {
            return Self::constant(ctx, sum);
        }
        // Canonical order: constants last, symbolic terms after the others.
        let constant = |e: Self| matches!(e.kind(ctx), Constant(_));
        if (constant(a) && !constant(b))
            || (a.is_symbolic_or_constant(ctx) && !b.is_symbolic_or_constant(ctx) && !constant(b))
        {
            (a, b) = (b, a);
        }
        match (a.kind(ctx), b.kind(ctx)) {
            (_, Constant(0)) => return a,
            (Add(x, y), Constant(c)) => {
                if let Constant(d) = y.kind(ctx)
                    && let Some(sum) = c.checked_add(d)
                {
                    return x.add(ctx, Self::constant(ctx, sum));
                }
            }
            _ => {}
        }
        // c1 * e + c2 * e = (c1 + c2) * e
        let ((ea, ca), (eb, cb)) = (a.coefficient(ctx), b.coefficient(ctx));
        if ea == eb
            && let Some(sum) = ca.checked_add(cb)
        {
            return ea.mul(ctx, Self::constant(ctx, sum));
        }
        // (e + c) + f = (e + f) + c
        if let Add(x, y) = a.kind(ctx)
            && constant(y)
            && !constant(b)
        {
            return x.add(ctx, b).add(ctx, y);
        }
        // e - (e floordiv k) * k = e mod k
        if let Some((quotient, k)) = b.as_product_with_negative(ctx)
            && let FloorDiv(x, divisor) = quotient.kind(ctx)
            && x == a
            && divisor.as_constant(ctx) == Some(k)
        {
            return a.modulo(ctx, divisor);
        }
        ctx.affine_expr(Add(a, b))
    }

    /// `(e, c)` with `self = e * c`.
    fn coefficient(self, ctx: &Context) -> (Self, i64) {
        if let Mul(e, c) = self.kind(ctx)
            && let Constant(c) = c.kind(ctx)
        {
            return (e, c);
        }
        (self, 1)
    }

    /// `(e, k)` with `self = e * -k`, k > 0.
    fn as_product_with_negative(self, ctx: &Context) -> Option<(Self, i64)> {
        match self.coefficient(ctx) {
            (e, c) if c < 0 => c.checked_neg().map(|k| (e, k)),
            _ => None,
        }
    }

    /// `self - other`.
    pub fn sub(self, ctx: &Context, other: Self) -> Self {
        self.add(ctx, other.neg(ctx))
    }

    /// `-self`.
    pub fn neg(self, ctx: &Context) -> Self {
        self.mul(ctx, Self::constant(ctx, -1))
    }

    /// `self * other`.
    pub fn mul(self, ctx: &Context, other: Self) -> Self {
        let (mut a, mut b) = (self, other);
        if let (Constant(x), Constant(y)) = (a.kind(ctx), b.kind(ctx))
            && let Some(product) = x.checked_mul(y)
        {
            return Self::constant(ctx, product);
        }
        let is_behind = match (a.kind(ctx), b.kind(ctx)) {
            (Constant(_), _) => true,
            (Symbol(first), Symbol(second)) => first > second,
            _ => !b.is_symbolic_or_constant(ctx),
        };
        if is_behind {
            (a, b) = (b, a);
        }
        match (a.kind(ctx), b.kind(ctx)) {
            (_, Constant(1)) => return a,
            (_, Constant(0)) => return b,
            (Mul(x, y), Constant(c)) => {
                if let Constant(d) = y.kind(ctx)
                    && let Some(product) = c.checked_mul(d)
                {
                    return x.mul(ctx, Self::constant(ctx, product));
                }
            }
            _ => {}
        }
        // (e * c) * f = (e * f) * c
        if let Mul(x, y) = a.kind(ctx)
            && matches!(y.kind(ctx), Constant(_))
            && !matches!(b.kind(ctx), Constant(_))
        {
            return x.mul(ctx, b).mul(ctx, y);
        }
        ctx.affine_expr(Mul(a, b))
    }

    /// `self floordiv other`.
    pub fn floordiv(self, ctx: &Context, other: Self) -> Self {
        let Some(k) = other.as_constant(ctx).filter(|k| *k != 0) else {
            return ctx.affine_expr(FloorDiv(self, other));
        };
        if let Some(value) = self.as_constant(ctx)
            && let Some(quotient) = floor_div(value, k)
        {
            return Self::constant(ctx, quotient);
        }
        if k == 1 {
            return self;
        }
        if k > 0 {
            if let (e, c) = self.coefficient(ctx)
                && c != 1
                && c % k == 0
            {
                return e.mul(ctx, Self::constant(ctx, c / k));
            }
            // Sums lean to the left and may be long, so their terms are collected first.
            let mut terms = Vec::new();
            let mut sum = self;
            while let Add(x, y) = sum.kind(ctx)
                && (divides(k, x.largest_known_divisor(ctx)) || divides(k, y.largest_known_divisor(ctx)))
            {
                terms.push(y);
                sum = x;
            }
            if !terms.is_empty() {
                let first = sum.floordiv(ctx, other);
                return terms
                    .into_iter()
                    .rev()
                    .fold(first, |sum, term| sum.add(ctx, term.floordiv(ctx, other)));
            }
        }
        ctx.affine_expr(FloorDiv(self, other))
    }

    /// `self ceildiv other`.
    pub fn ceildiv(self, ctx: &Context, other: Self) -> Self {
        let Some(k) = other.as_constant(ctx).filter(|k| *k != 0) else {
            return ctx.affine_expr(CeilDiv(self, other));
        };
        if let Some(value) = self.as_constant(ctx)
            && let Some(quotient) = ceil_div(value, k)
        {
            return Self::constant(ctx, quotient);
        }
        if k == 1 {
            return self;
        }
        if let (e, c) = self.coefficient(ctx)
            && k > 0
            && c != 1
            && c % k == 0
        {
            return e.mul(ctx, Self::constant(ctx, c / k));
        }
        ctx.affine_expr(CeilDiv(self, other))
    }

    /// `self mod other`.
    pub fn modulo(self, ctx: &Context, other: Self) -> Self {
        let Some(k) = other.as_constant(ctx).filter(|k| *k > 0) else {
            return ctx.affine_expr(Mod(self, other));
        };
        let mut rest = self;
        loop {
            if let Some(value) = rest.as_constant(ctx) {
                return Self::constant(ctx, value.rem_euclid(k));
            }
            if divides(k, rest.largest_known_divisor(ctx)) {
                return Self::constant(ctx, 0);
            }
            rest = match rest.kind(ctx) {
                Add(x, y) if divides(k, x.largest_known_divisor(ctx)) => y,
                Add(x, y) if divides(k, y.largest_known_divisor(ctx)) => x,
                Mod(x, m) if m.as_constant(ctx).is_some_and(|m| m >= 1 && m % k == 0) => x,
                _ => return ctx.affine_expr(Mod(rest, other)),
            };
        }
    }

    /// The expression with dimensions and symbols replaced. Missing replacements leave them as they
    /// are.
    pub fn replace(self, ctx: &Context, dims: &[AffineExpr], symbols: &[AffineExpr]) -> Self {
        let mut stack: Vec<Self> = Vec::new();
        self.visit(ctx, &mut |kind| {
            let expr = match kind {
                Dim(d) => dims.get(d as usize).copied().unwrap_or_else(|| ctx.affine_expr(kind)),
                Symbol(s) => symbols.get(s as usize).copied().unwrap_or_else(|| ctx.affine_expr(kind)),
                Constant(_) => ctx.affine_expr(kind),
                _ => {
                    // `visit` hands out children first, so both operands are there.
                    let b = stack.pop().unwrap_or(AffineExpr(0));
                    let a = stack.pop().unwrap_or(AffineExpr(0));
                    a.combine(ctx, kind, b)
                }
            };
            stack.push(expr);
        });
        stack.pop().unwrap_or(self)
    }

    fn combine(self, ctx: &Context, kind: AffineExprKind, b: Self) -> Self {
        match kind {
            Add(..) => self.add(ctx, b),
            Mul(..) => self.mul(ctx, b),
            Mod(..) => self.modulo(ctx, b),
            FloorDiv(..) => self.floordiv(ctx, b),
            _ => self.ceildiv(ctx, b),
        }
    }

    /// The value for given dimensions and symbols; `None` on overflow, a division by a number that
    /// is not positive, or a missing operand.
    pub fn evaluate(self, ctx: &Context, dims: &[i64], symbols: &[i64]) -> Option<i64> {
        let mut stack: Vec<Option<i64>> = Vec::new();
        self.visit(ctx, &mut |kind| {
            let value = match kind {
                Dim(d) => dims.get(d as usize).copied(),
                Symbol(s) => symbols.get(s as usize).copied(),
                Constant(c) => Some(c),
                _ => {
                    let b = stack.pop().flatten();
                    let a = stack.pop().flatten();
                    a.zip(b).and_then(|(a, b)| match kind {
                        Add(..) => a.checked_add(b),
                        Mul(..) => a.checked_mul(b),
                        _ if b <= 0 => None,
                        Mod(..) => Some(a.rem_euclid(b)),
                        FloorDiv(..) => floor_div(a, b),
                        _ => ceil_div(a, b),
                    })
                }
            };
            stack.push(value);
        });
        stack.pop().flatten()
    }
}

impl AffineMap {
    /// A map; results are taken as they are.
    pub fn new(ctx: &Context, dims: u32, symbols: u32, results: &[AffineExpr]) -> Self {
        ctx.affine_map(AffineMapKey { dims, symbols, results })
    }

    /// `(d0, …) -> (d0, …)`.
    pub fn identity(ctx: &Context, dims: u32) -> Self {
        let results: Vec<_> = (0..dims).map(|d| AffineExpr::dim(ctx, d)).collect();
        Self::new(ctx, dims, 0, &results)
    }

    /// `() -> (value)`.
    pub fn constant(ctx: &Context, value: i64) -> Self {
        Self::new(ctx, 0, 0, &[AffineExpr::constant(ctx, value)])
    }

    /// Returns the content of the map.
    pub fn data(self, ctx: &Context) -> &AffineMapData {
        ctx.affine_map_data(self)
    }

    /// The results.
    pub fn results(self, ctx: &Context) -> &[AffineExpr] {
        &self.data(ctx).results
    }

    /// Dimensions and symbols together.
    pub fn num_inputs(self, ctx: &Context) -> usize {
        let data = self.data(ctx);
        (data.dims + data.symbols) as usize
    }

    /// Tells for each input if a result names it: dimensions, then symbols.
    pub fn used_inputs(self, ctx: &Context) -> Vec<bool> {
        let data = self.data(ctx);
        AffineExpr::used_inputs(ctx, &data.results, data.dims, data.symbols)
    }

    /// True if it is the identity without symbols.
    pub fn is_identity(self, ctx: &Context) -> bool {
        let data = self.data(ctx);
        data.symbols == 0
            && data.dims as usize == data.results.len()
            && data.results.iter().enumerate().all(|(i, e)| e.kind(ctx) == Dim(i as u32))
    }

    /// The number, if the map has one result and it is constant.
    pub fn as_single_constant(self, ctx: &Context) -> Option<i64> {
        match self.results(ctx) {
            [one] => one.as_constant(ctx),
            _ => None,
        }
    }

    /// The results for given dimensions followed by symbols; `None` as in [`AffineExpr::evaluate`].
    pub fn evaluate(self, ctx: &Context, operands: &[i64]) -> Option<Vec<i64>> {
        let data = self.data(ctx);
        let dims = operands.get(..data.dims as usize)?;
        let symbols = operands.get(data.dims as usize..)?;
        data.results.iter().map(|e| e.evaluate(ctx, dims, symbols)).collect()
    }

    /// Strides and offset of the map as the layout of a memref of this shape, when it is a sum of
    /// constant or symbolic multiples of its dimensions. Symbolic ones are [`DYNAMIC`].
    pub fn strides_and_offset(self, ctx: &Context, shape: &[i64]) -> Option<(Vec<i64>, i64)> {
        let data = self.data(ctx);
        if data.dims as usize != shape.len() {
            return None;
        }
        if self.is_identity(ctx) {
            let identity = crate::TypeKind::MemRef {
                shape: Some(shape.into()),
                element: crate::Type::I8,
                layout: None,
                memory_space: None,
            };
            return ctx.ty(identity).strides_and_offset(ctx);
        }
        let [result] = *data.results else { return None };
        let mut strides = vec![0i64; shape.len()];
        let mut offset = 0i64;
        let mut terms = vec![result];
        let accumulate = |slot: &mut i64, value: i64| -> Option<()> {
            *slot = if *slot == DYNAMIC || value == DYNAMIC { DYNAMIC } else { slot.checked_add(value)? };
            Some(())
        };
        while let Some(term) = terms.pop() {
            match term.kind(ctx) {
                Add(a, b) => terms.extend([a, b]),
                Dim(d) => accumulate(&mut strides[d as usize], 1)?,
                Mul(a, factor) if factor.is_symbolic_or_constant(ctx) => {
                    let value = factor.as_constant(ctx).unwrap_or(DYNAMIC);
                    match a.kind(ctx) {
                        Dim(d) => accumulate(&mut strides[d as usize], value)?,
                        _ if a.is_symbolic_or_constant(ctx) => accumulate(&mut offset, DYNAMIC)?,
                        _ => return None,
                    }
                }
                _ if term.is_symbolic_or_constant(ctx) => {
                    accumulate(&mut offset, term.as_constant(ctx).unwrap_or(DYNAMIC))?;
                }
                _ => return None,
            }
        }
        Some((strides, offset))
    }
}

impl IntegerSet {
    /// A set of `expr == 0` (true) and `expr >= 0` (false) constraints.
    pub fn new(ctx: &Context, dims: u32, symbols: u32, constraints: Vec<(AffineExpr, bool)>) -> Self {
        ctx.integer_set(IntegerSetData { dims, symbols, constraints: constraints.into() })
    }

    /// Returns the content of the set.
    pub fn data(self, ctx: &Context) -> &IntegerSetData {
        ctx.integer_set_data(self)
    }
}

fn divides(k: i64, n: u64) -> bool {
    n.is_multiple_of(k.unsigned_abs())
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// `a / b` rounded down; `None` for `b == 0` and on overflow.
pub fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// `a / b` rounded up; `None` for `b == 0` and on overflow.
pub fn ceil_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) == (b < 0) { quotient + 1 } else { quotient })
}
