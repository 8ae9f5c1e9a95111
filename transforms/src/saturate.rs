//! Equality saturation: integer expressions are replaced by the cheapest equal ones.
//!
//! An expression consists of operations on words of one width without other uses. Equality
//! saturation finds equal expressions ([`rules`](crate::affine::rules)). A cost for each operation
//! selects the cheapest of them, which replaces the original if it is cheaper. Flags are dropped:
//! without them a result is poison less often, and no rule needs them.
//!
//! Conditional rules need ranges of the leaves at the expression's place. They come from types,
//! loop bounds, and the conditions around its block.
//!
//! **Cost.** One saturation for each expression of two operations or more that differs from all
//! before, within the limits of one.

use egg::{CostFunction, Extractor, Id, Language, RecExpr};
use hashbrown::HashMap;
use loomir_dialects::arith;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Body, Builder, Diagnostics, Op, Type, Value};

use crate::affine::Forms;
use crate::affine::operation::{Binary, Operation};
use crate::affine::range::{Range, fits};
use crate::affine::rules::{Graph, is_division};
use crate::affine::saturation::Saturation;
use crate::affine::surroundings::Surroundings;
use crate::affine::word::{Expression, Word};

/// The pass `saturate`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "saturate",
    anchor: None,
    summary: "Write integer expressions as the cheapest that are equal",
    options: &[],
    make: |_| Ok(Box::new(Saturate)),
};

struct Saturate;

impl Pass for Saturate {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| cx.count("Expressions rewritten", saturate(body) as u64));
        Ok(())
    }
}

/// The best form of an expression over leaves of these ranges. `None` if the original is best.
type Best = HashMap<(u32, Vec<Word>, Vec<Range>), Option<RecExpr<Word>>>;

/// Rewrites the expressions of a body. Returns the number of rewrites.
pub fn saturate(body: &mut Body) -> usize {
    let saturation = Saturation::default();
    let mut best = Best::new();
    let roots: Vec<Op> = body.all_ops().filter(|op| is_root(body, *op)).collect();
    let mut rewritten = 0;
    for root in roots {
        let value = body.result(root, 0);
        let look_into = |op: Op| op == root || is_inside(body, op);
        let Some(expression) = Expression::of(body, value, &look_into, &mut |_| None) else { continue };
        if operations(&expression.nodes) < 2 {
            continue;
        }
        let ranges = ranges(body, root, &expression);
        let key = (expression.width, expression.nodes.as_ref().to_vec(), ranges.clone());
        let found = best.entry(key).or_insert_with(|| cheaper(&saturation, &expression, ranges));
        let Some(nodes) = found.clone() else { continue };
        let value = write(body, root, &expression, &nodes);
        body.replace_all_uses(body.result(root, 0), value);
        erase(body, root);
        rewritten += 1;
    }
    rewritten
}

fn binary(body: &Body, op: Op) -> Option<Binary> {
    match Operation::of(body, op)? {
        Operation::Binary(binary) => Some(binary),
        _ => None,
    }
}

/// True if the only user of an operation on words is another one.
fn is_inside(body: &Body, op: Op) -> bool {
    let mut users = body.uses(body.result(op, 0)).map(|used| used.op);
    let Some(user) = users.next() else { return false };
    let is_of_one_block = body.block_of(user) == body.block_of(op);
    is_of_one_block
        && users.all(|other| other == user)
        && binary(body, op).is_some()
        && binary(body, user).is_some()
}

/// True if an operation on words is used, and not only by another one.
fn is_root(body: &Body, op: Op) -> bool {
    binary(body, op).is_some() && body.uses(body.result(op, 0)).next().is_some() && !is_inside(body, op)
}

fn operations(nodes: &RecExpr<Word>) -> usize {
    nodes.as_ref().iter().filter(|node| matches!(node, Word::Binary(..))).count()
}

/// Returns the ranges of an expression's leaves at its place.
fn ranges(body: &Body, at: Op, expression: &Expression) -> Vec<Range> {
    let Some(block) = body.block_of(at) else { return Vec::new() };
    let (_, mut forms): (_, Forms<'_>) = Surroundings::around(body, block);
    let whole = (-(1i128 << (expression.width - 1)), (1i128 << (expression.width - 1)) - 1);
    let range = |leaf: &Value| Some(forms.range_of(*leaf)).filter(|range| fits(*range, expression.width));
    expression.leaves.iter().map(range).map(|range| range.unwrap_or(whole)).collect()
}

/// Returns the cheapest equal expression, if it is cheaper than the original.
fn cheaper(saturation: &Saturation, expression: &Expression, ranges: Vec<Range>) -> Option<RecExpr<Word>> {
    let (graph, root) = saturation.equals_of(expression, ranges);
    let before = cost_of(&expression.nodes);
    let (after, nodes) = Extractor::new(&graph, Cost(&graph)).find_best(root);
    (after < before).then_some(nodes)
}

/// Returns the approximate cost of a node in steps. `number` returns the constant operands.
fn own_cost(node: &Word, number: impl Fn(Id) -> Option<i64>) -> u64 {
    match node {
        Word::Number(_) | Word::Leaf(_) => 1,
        Word::Binary(binary, [_, by]) => match (shift(*binary, number(*by)), binary) {
            (Some(_), _) => 2,
            (None, Binary::Mul) => 6,
            (None, binary) if is_division(*binary) => 40,
            _ => 2,
        },
    }
}

/// Returns the cost of an expression. Operands that are used twice count twice.
fn cost_of(nodes: &RecExpr<Word>) -> u64 {
    let number = |id: Id| if let Word::Number(number) = nodes[id] { Some(number) } else { None };
    let mut costs: Vec<u64> = Vec::with_capacity(nodes.len());
    for node in nodes.as_ref() {
        let own = own_cost(node, number);
        costs.push(node.fold(own, |sum, child| sum.saturating_add(costs[usize::from(child)])));
    }
    costs.last().copied().unwrap_or(0)
}

/// The same cost function for nodes in a graph.
struct Cost<'g>(&'g Graph);

impl CostFunction<Word> for Cost<'_> {
    type Cost = u64;

    fn cost<C: FnMut(Id) -> u64>(&mut self, node: &Word, mut costs: C) -> u64 {
        let is_number = |node: &Word| if let Word::Number(number) = node { Some(*number) } else { None };
        let own = own_cost(node, |id| self.0[id].iter().find_map(is_number));
        node.fold(own, |sum, child| sum.saturating_add(costs(child)))
    }
}

/// Returns the shift, and its amount, that computes a product or quotient by a number.
fn shift(binary: Binary, by: Option<i64>) -> Option<(Binary, i64)> {
    let by = by.filter(|by| *by > 1 && by.count_ones() == 1)?;
    let shift = match binary {
        Binary::Mul => Binary::Shl,
        Binary::FloorDivS => Binary::ShrS,
        Binary::DivU => Binary::ShrU,
        _ => return None,
    };
    Some((shift, by.trailing_zeros().into()))
}

/// Writes an expression, of the type of `root`, before `root`.
fn write(body: &mut Body, root: Op, expression: &Expression, nodes: &RecExpr<Word>) -> Value {
    let ty = body.value_type(body.result(root, 0));
    let mut values: Vec<Option<Value>> = Vec::with_capacity(nodes.len());
    let mut builder = Builder::before(body, root);
    let number = |builder: &mut Builder<'_>, number: i64| constant(builder, number, ty);
    for node in nodes.as_ref() {
        let value = match node {
            // Only shift amounts become operations.
            Word::Number(_) => None,
            Word::Leaf(leaf) => Some(expression.leaves[*leaf as usize]),
            Word::Binary(binary, [a, b]) => {
                let as_number = |id: Id| if let Word::Number(n) = nodes[id] { Some(n) } else { None };
                let (binary, b) = match shift(*binary, as_number(*b)) {
                    Some((shift, by)) => (shift, number(&mut builder, by)),
                    None => (*binary, operand(&mut builder, &values, nodes, *b, ty)),
                };
                let a = operand(&mut builder, &values, nodes, *a, ty);
                let state = builder.state(binary.def()).operands(&[a, b]);
                Some(builder.value(state))
            }
        };
        values.push(value);
    }
    operand(&mut builder, &values, nodes, Id::from(nodes.len() - 1), ty)
}

fn operand(
    builder: &mut Builder<'_>,
    values: &[Option<Value>],
    nodes: &RecExpr<Word>,
    id: Id,
    ty: Type,
) -> Value {
    match (values[usize::from(id)], &nodes[id]) {
        (Some(value), _) => value,
        (None, Word::Number(number)) => constant(builder, *number, ty),
        (None, _) => constant(builder, 0, ty),
    }
}

fn constant(builder: &mut Builder<'_>, number: i64, ty: Type) -> Value {
    let ctx = builder.ctx();
    let state = builder.state(arith::ConstantOp::DEF).results(&[ty]);
    builder.value(state.attr(&ctx, "value", ctx.int_attr(ty, number)))
}

/// Erases an unused operation, and operands that only it used.
fn erase(body: &mut Body, op: Op) {
    let mut unused = vec![op];
    while let Some(op) = unused.pop() {
        let operands: Vec<Op> = body.operands(op).filter_map(|value| body.defining_op(value)).collect();
        body.erase(op);
        for operand in operands {
            let is_unused = || body.results(operand).all(|result| body.uses(result).next().is_none());
            if !unused.contains(&operand) && binary(body, operand).is_some() && is_unused() {
                unused.push(operand);
            }
        }
    }
}
