//! The function of a parallel loop: its iterations from one counter to another.
//!
//! Values that the loop uses are arguments behind the two counters. Constants are repeated inside.
//! Addresses of thread-local variables are none: they are those in the thread of the caller.

use hashbrown::HashSet;
use loomir_dialects::{func, llvm};
use loomir_ir::symbols::{SYMBOL_NAME, SYMBOL_VISIBILITY};
use loomir_ir::{Attr, Body, Builder, Import, InsertPoint, Name, Op, OperationState, Trait, Type, Value};
use loomir_transforms::access::base::may_overlap;
use loomir_transforms::marks;

use super::range::{Counter, emit_parallel, emit_yield, end_parallel};
use crate::emit::Emit;

/// The function of a loop.
pub(super) struct Outlined {
    pub(super) body: Body,
    /// The values of the caller that it takes behind the range.
    pub(super) captured: Vec<Value>,
}

/// Takes the addresses of variables of threads, by their names, out of a loop. Linear.
pub(super) fn hoist_addresses(body: &mut Body, op: Op, of_threads: &HashSet<Name>) {
    let inside = body.preorder(op).skip(1).filter(|own| is_address_of(body, *own, of_threads));
    inside.collect::<Vec<_>>().into_iter().for_each(|own| body.move_before(own, op));
}

/// Returns a function for each of these loops, with its counter and name. The body stays.
/// `of_threads` are the thread-local variables.
pub(super) fn functions(
    body: &Body,
    loops: &[(Op, Counter, String)],
    of_threads: &HashSet<Name>,
) -> Vec<Outlined> {
    let mut import = Import::new(body);
    let function = |(op, counter, name): &(Op, Counter, String)| {
        let used = used(body, *op, counter, of_threads);
        outlined(&mut import, body, (*op, used), counter, name)
    };
    loops.iter().map(function).collect()
}

/// True if an operation takes the address of one of these variables.
pub(super) fn is_address_of(body: &Body, op: Op, variables: &HashSet<Name>) -> bool {
    let name = || body.attr(op, "global_name").and_then(|name| name.as_flat_symbol(body.ctx()));
    body.is(op, llvm::AddressOfOp::DEF) && name().is_some_and(|name| variables.contains(&name))
}

/// Replaces a loop by a call of its function for the whole range.
pub(super) fn call(body: &mut Body, op: Op, counter: &Counter, name: &str, captured: &[Value]) {
    let ctx = body.ctx().clone();
    let mut b = Builder::before(body, op);
    let range = [b.index(0), counter.emit_total(&mut b)];
    let state = b.state(func::CallOp::DEF).operands(&range).operands(captured);
    b.insert(state.attr(&ctx, "callee", ctx.symbol_attr(name)).attr(&ctx, marks::THREADS, Attr::UNIT));
    body.erase(op);
}

/// The values that a loop uses and does not define.
struct Used {
    constants: Vec<(Op, Value)>,
    others: Vec<Value>,
}

fn used(body: &Body, op: Op, counter: &Counter, of_threads: &HashSet<Name>) -> Used {
    let mut defined = HashSet::new();
    let mut seen = HashSet::new();
    let mut used = Used { constants: Vec::new(), others: Vec::new() };
    let inside: Vec<Op> = body.preorder(op).skip(1).collect();
    for region in body.own_regions(op).chain(inside.iter().flat_map(|op| body.own_regions(*op))) {
        defined.extend(body.blocks(region).flat_map(|block| body.arguments(block)));
    }
    defined.extend(inside.iter().flat_map(|op| body.results(*op)));
    let operands = inside.iter().flat_map(|op| body.operands(*op));
    for value in counter.values().chain(operands) {
        if defined.contains(&value) || !seen.insert(value) {
            continue;
        }
        let is_constant =
            |op: &Op| body.has_trait(*op, Trait::ConstantLike) && !is_address_of(body, *op, of_threads);
        match body.defining_op(value).filter(is_constant) {
            Some(op) => used.constants.push((op, value)),
            None => used.others.push(value),
        }
    }
    used
}

fn outlined(
    import: &mut Import<'_>,
    body: &Body,
    (op, used): (Op, Used),
    counter: &Counter,
    name: &str,
) -> Outlined {
    let (ctx, loc) = (body.ctx(), body.loc(op));
    let Used { constants, others: captured } = used;
    let types = captured.iter().map(|value| body.value_type(*value));
    let inputs: Vec<Type> = [Type::INDEX; 2].into_iter().chain(types).collect();
    let mut state = OperationState::of(ctx, func::FuncOp::DEF, loc)
        .attr(ctx, SYMBOL_NAME, ctx.string_attr(name))
        .attr(ctx, SYMBOL_VISIBILITY, ctx.string_attr("private"))
        .attr(ctx, "no_inline", Attr::UNIT)
        .attr(ctx, "function_type", ctx.type_attr(ctx.function_type(&inputs, &[])));
    if may_overlap(body, &captured) {
        state = state.attr(ctx, marks::OVERLAPPING, Attr::UNIT);
    }
    state.set_defaults(ctx);
    let mut function = Body::new(ctx, state);
    let start = function.append_block(function.region(function.root(), 0), &inputs);
    let arguments: Vec<Value> = function.arguments(start).collect();
    for (value, argument) in captured.iter().zip(arguments.iter().skip(2)) {
        import.map(*value, *argument);
    }
    let mut b = Builder::new(&mut function, InsertPoint::End(start));
    for (op, value) in constants {
        let state = OperationState::named(body.op_name(op), body.loc(op));
        let mut state = state.results(&[body.value_type(value)]);
        (state.properties, state.attributes) = (body.properties(op), body.attributes(op));
        import.map(value, b.value(state));
    }
    b.set_loc(loc);
    // All values of the counter are mapped.
    let counter = counter.mapped(&|value| import.value(value).unwrap_or(value));
    let nest = counter.emit(&mut b, [arguments[0], arguments[1]], &[]);
    let ret = b.state(func::ReturnOp::DEF);
    b.insert(ret);
    b.set_point(InsertPoint::End(nest.block));
    let (mut variables, mut end) = (nest.variables, None);
    if !counter.others().is_empty() {
        let (_, inside) = emit_parallel(&mut b, counter.others(), &[]);
        variables.extend(b.body().arguments(inside));
        end = Some(inside);
    }
    let mut last = emit_yield(&mut b, &[]);
    if let Some(inside) = end {
        last = end_parallel(&mut function, inside);
    }
    if let Some(entry) = body.single_block(body.region(op, 0)) {
        for (old, new) in body.arguments(entry).zip(variables) {
            import.map(old, new);
        }
        import.ops_before(&mut function, entry, last, &mut |loc| loc);
    }
    Outlined { body: function, captured }
}
