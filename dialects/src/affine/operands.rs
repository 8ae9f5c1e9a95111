//! Maps with their operands in canonical form: applied maps composed into their users, symbols
//! where a value may be one, each operand once, none unused, constants as numbers.
//!
//! A map and a set are lists of expressions here. The form is MLIR's, so that both print the same.

use loomir_ir::rewrite::constant_of;
use loomir_ir::{AffineExpr, AffineExprKind, Context, OpRef, Value};

use super::ApplyOp;
use super::access::map_of;
use super::flatten::simplified;
use super::validity::is_valid_symbol;

/// The most nodes of expressions that are composed. A map that uses one result twice doubles with
/// each composition.
const MAX_NODES: usize = 256;

/// The most applications that are composed at once. In graph regions they may form a circle.
const MAX_COMPOSITIONS: usize = 64;

/// The most operands that are compared with each other.
const MAX_PLAIN: usize = 8;

/// Expressions of dimensions and symbols, and the values of these.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Applied {
    pub(super) exprs: Vec<AffineExpr>,
    pub(super) dims: Vec<Value>,
    pub(super) symbols: Vec<Value>,
}

impl Applied {
    /// Returns the expressions with their operands: first `dims` dimensions, then the symbols.
    pub(super) fn new(exprs: &[AffineExpr], dims: u32, operands: &[Value]) -> Applied {
        let (dims, symbols) = operands.split_at((dims as usize).min(operands.len()));
        Applied { exprs: exprs.to_vec(), dims: dims.to_vec(), symbols: symbols.to_vec() }
    }

    /// The operands, dimensions first.
    pub(super) fn operands(&self) -> Vec<Value> {
        [&self.dims[..], &self.symbols].concat()
    }

    /// Returns the canonical form of operands of `user`. Results of `affine.apply` among them are
    /// replaced by what they apply.
    pub(super) fn canonical(&self, user: OpRef<'_>) -> Applied {
        if self.is_plain(user) {
            return self.clone();
        }
        let ctx = user.ctx();
        let mut all = self.clone();
        for _ in 0..MAX_COMPOSITIONS {
            let Some(composed) = all.composed_once(user) else { break };
            all = composed;
        }
        let mut all = all.with_canonical_operands(user);
        let (dims, symbols) = (all.dims.len() as u32, all.symbols.len() as u32);
        for expr in &mut all.exprs {
            let simple = simplified(ctx, *expr, dims, symbols);
            // A remainder is written with its dividend twice.
            if size_up_to(ctx, simple, MAX_NODES) <= MAX_NODES {
                *expr = simple;
            }
        }
        // Terms may have cancelled out.
        all.with_canonical_operands(user)
    }

    /// True if every expression is one operand or a number, and every operand is used, an argument
    /// of a block, and unlike all others. Such operands are canonical, if no dimension could be a
    /// symbol. Most accesses are like this, and looking costs less than making them anew.
    fn is_plain(&self, user: OpRef<'_>) -> bool {
        let (dims, operands) = (self.dims.len() as u32, self.dims.len() + self.symbols.len());
        if operands > MAX_PLAIN {
            return false;
        }
        let bit = |place: u32| 1u32.checked_shl(place).unwrap_or(0);
        let mut used = 0;
        for expr in &self.exprs {
            match expr.kind(user.ctx()) {
                AffineExprKind::Dim(d) => used |= bit(d),
                AffineExprKind::Symbol(s) => used |= bit(dims + s),
                AffineExprKind::Constant(_) => {}
                _ => return false,
            }
        }
        let all = || self.dims.iter().chain(&self.symbols);
        used.count_ones() as usize == operands
            && all().all(|value| user.body().defining_op(*value).is_none())
            && all().enumerate().all(|(i, value)| all().skip(i + 1).all(|other| other != value))
            && !self.dims.iter().any(|value| is_valid_symbol(user, *value))
    }

    /// Replaces the first operand that `affine.apply` makes.
    fn composed_once(&self, user: OpRef<'_>) -> Option<Applied> {
        let (ctx, body) = (user.ctx(), user.body());
        let operands = self.operands();
        let applies = |value: &Value| {
            body.defining_op(*value).filter(|op| *op != user.op() && body.is(*op, ApplyOp::DEF))
        };
        let used = self.used(ctx);
        let mut places = (0..operands.len()).filter(|place| used[*place]);
        let (place, apply) = places.find_map(|place| Some((place, applies(&operands[place])?)))?;
        let apply = body.op_ref(apply);
        let map = map_of(ctx, apply.attr("map")).data(ctx);
        let inner: Vec<Value> = apply.operands().collect();
        let inner = Applied::new(&map.results, map.dims, &inner).with_canonical_operands(user);
        let (dims, symbols) = (self.dims.len() as u32, self.symbols.len() as u32);
        let mut composed = self.clone();
        let replacement = *composed.append(ctx, inner).first()?;
        let mut by_dim: Vec<AffineExpr> = (0..dims).map(|d| AffineExpr::dim(ctx, d)).collect();
        let mut by_symbol: Vec<AffineExpr> = (0..symbols).map(|s| AffineExpr::symbol(ctx, s)).collect();
        match place.checked_sub(by_dim.len()) {
            None => by_dim[place] = replacement,
            Some(symbol) => by_symbol[symbol] = replacement,
        }
        let replaced = |expr: &AffineExpr| expr.replace(ctx, &by_dim, &by_symbol);
        composed.exprs = self.exprs.iter().map(replaced).collect();
        let mut nodes = 0;
        let is_small = composed.exprs.iter().all(|expr| {
            nodes += size_up_to(ctx, *expr, MAX_NODES);
            nodes <= MAX_NODES
        });
        is_small.then_some(composed)
    }

    /// Appends the operands of another list, and returns its expressions of them.
    pub(super) fn append(&mut self, ctx: &Context, other: Applied) -> Vec<AffineExpr> {
        let (dims, symbols) = (self.dims.len() as u32, self.symbols.len() as u32);
        let by_dim: Vec<AffineExpr> =
            (0..other.dims.len() as u32).map(|d| AffineExpr::dim(ctx, dims + d)).collect();
        let by_symbol: Vec<AffineExpr> =
            (0..other.symbols.len() as u32).map(|s| AffineExpr::symbol(ctx, symbols + s)).collect();
        self.dims.extend(other.dims);
        self.symbols.extend(other.symbols);
        other.exprs.into_iter().map(|expr| expr.replace(ctx, &by_dim, &by_symbol)).collect()
    }

    /// Tells for each operand if an expression uses it.
    fn used(&self, ctx: &Context) -> Vec<bool> {
        AffineExpr::used_inputs(ctx, &self.exprs, self.dims.len() as u32, self.symbols.len() as u32)
    }

    /// Makes dimensions symbols where they may be, and constants numbers. Drops unused operands and
    /// repetitions.
    fn with_canonical_operands(&self, user: OpRef<'_>) -> Applied {
        let ctx = user.ctx();
        let used = self.used(ctx);
        let is_symbol: Vec<bool> = self.dims.iter().map(|value| is_valid_symbol(user, *value)).collect();
        let (mut dims, mut symbols) = (Vec::new(), Vec::new());
        let mut by_dim = vec![AffineExpr::constant(ctx, 0); self.dims.len()];
        let mut by_symbol = vec![AffineExpr::constant(ctx, 0); self.symbols.len()];
        for (i, value) in self.dims.iter().enumerate().filter(|(i, _)| used[*i] && !is_symbol[*i]) {
            by_dim[i] = AffineExpr::dim(ctx, place_of(*value, &mut dims));
        }
        let mut symbol = |value: Value| {
            let number = constant_of(user.body(), value).and_then(|attr| attr.as_int(ctx));
            // The text of a map has no place for the least number.
            let number = number.filter(|number| *number != i64::MIN);
            number.map_or_else(
                || AffineExpr::symbol(ctx, place_of(value, &mut symbols)),
                |number| AffineExpr::constant(ctx, number),
            )
        };
        for (i, value) in self.symbols.iter().enumerate().filter(|(i, _)| used[self.dims.len() + *i]) {
            by_symbol[i] = symbol(*value);
        }
        for (i, value) in self.dims.iter().enumerate().filter(|(i, _)| used[*i] && is_symbol[*i]) {
            by_dim[i] = symbol(*value);
        }
        let exprs = self.exprs.iter().map(|expr| expr.replace(ctx, &by_dim, &by_symbol)).collect();
        Applied { exprs, dims, symbols }
    }
}

/// Returns the place of a value in a list, to which it is added if it is not there.
fn place_of(value: Value, list: &mut Vec<Value>) -> u32 {
    let known = list.iter().position(|own| *own == value);
    known.unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    }) as u32
}

/// Returns the number of nodes of an expression written out, if it is at most `most`; else a number
/// above.
fn size_up_to(ctx: &Context, expr: AffineExpr, most: usize) -> usize {
    let (mut stack, mut size) = (vec![expr], 0);
    while let Some(expr) = stack.pop() {
        size += 1;
        if size > most {
            break;
        }
        match expr.kind(ctx) {
            AffineExprKind::Add(a, b)
            | AffineExprKind::Mul(a, b)
            | AffineExprKind::Mod(a, b)
            | AffineExprKind::FloorDiv(a, b)
            | AffineExprKind::CeilDiv(a, b) => stack.extend([a, b]),
            _ => {}
        }
    }
    size
}
