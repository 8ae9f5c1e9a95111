//! Outlining: a loop becomes a function of its own, and a call.
//!
//! Values that the loop uses become arguments. As in MLIR, the call stands in an
//! `scf.execute_region`, whose results are those of the loop.
//!
//! A function of its own can be compiled for another target, or be measured. Two arguments that may
//! be one memory are marked, so that nothing later takes them for distinct.
//!
//! **Never illegal.** The order of iterations stays.
//!
//! **Never conditional.** Nothing is assumed of memory, because the order of iterations stays.
//!
//! **Not in `.ll`.** LLVM's `extract` and `loop-extract` outline loops of branches.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<8xf32>, %x: f32) {
//!   affine.for %i = 0 to 8 {
//!     affine.store %x, %a[%i] : memref<8xf32>
//!   } {loomir.name = "i"}
//!   return
//! }
//! module attributes {transform.with_named_sequence} {
//!   transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
//!     %loop = loomir.find name "i" in %root : (!transform.any_op) -> !transform.any_op
//!     %function, %call = transform.loop.outline %loop {func_name = "body"} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
//!     transform.yield
//!   }
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --transform-interpreter=erase-schedule=true -o new.mlir
//! $ cat new.mlir
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=1 --order=images/outline-0.svg
//! ```
//!
//! The order of stores is the same:
//!
//! ![The order of stores](images/outline-0.svg)

use loomir_dialects::{func, scf, transform};
use loomir_ir::symbols::lookup;
use loomir_ir::{
    Attr, Body, Builder, Diagnostic, Import, InsertPoint, Op, OpRef, OperationState, Trait, Type, Value,
};

use super::failure::Failure;
use super::interpreter::{Handle, Interpreter, Table, failed};
use super::payload::{BodyPath, Entity};
use crate::access::base::may_overlap;
use crate::marks;

/// Returns the operation that outlines, and what runs it.
pub(super) fn operations<'a>() -> Table<'a> {
    vec![(transform::OutlineOp::DEF, |run, frame, op| {
        let (mut functions, mut calls) = (Vec::new(), Vec::new());
        for target in run.ops(frame, op, 0)? {
            let (function, call) = run.outline(op, target)?;
            functions.push(function);
            calls.push(call);
        }
        Ok(vec![Handle::Ops(functions), Handle::Ops(calls)])
    })]
}

impl Interpreter<'_> {
    fn outline(&mut self, op: OpRef<'_>, target: Entity) -> Result<(Entity, Entity), Failure> {
        let (path, own) = self.payload.op(target, op.loc())?;
        let loc = self.payload.loc(target);
        let refused = |text: &str| {
            let error = Diagnostic::error(op.loc(), format!("'{}' is not possible: {text}", op.name()));
            Failure::silenceable(error.note(loc, "this operation"))
        };
        let Some(around) = path.split_last().map(|(_, around)| BodyPath::from(around)) else {
            return Err(refused("the loop is in no function"));
        };
        self.payload.settle(&path, op.loc())?;
        let base = op.attr("func_name").and_then(|attr| attr.as_str(op.ctx())).unwrap_or_default();
        let name = self.payload.body(&around).map_or(base.to_owned(), |module| unused(module, base));
        let body = self.payload.body(&path).ok_or_else(|| failed(op, "has no function"))?;
        let is_loop = body.is(own, scf::ForOp::DEF) || loomir_dialects::affine::is_loop(body, own);
        if !is_loop {
            return Err(refused("only 'scf.for' and 'affine.for' are outlined"));
        }
        if !body.is(body.root(), func::FuncOp::DEF) {
            return Err(refused("the loop is in no 'func.func'"));
        }
        // Handles to the loop, and to what is inside, end while the operations are still there.
        self.payload.consume(target, op.loc(), &[]);
        let body = self.payload.body_mut(&path).ok_or_else(|| failed(op, "has no function"))?;
        let (function, call) = separated(body, own, &name);
        let module = self.payload.body_mut(&around).ok_or_else(|| failed(op, "has no module"))?;
        let caller = path.last().copied();
        let function = module.adopt(function);
        match caller {
            Some(caller) => module.insert_before(caller, function),
            None => return Err(refused("the loop is in no function")),
        }
        self.payload.forget_modules();
        Ok((self.payload.entity(&around, function), self.payload.entity(&path, call)))
    }
}

/// Returns a name that no symbol of a module has: the given one, or one with a number behind it.
fn unused(module: &Body, base: &str) -> String {
    let numbered = (0..).map(|number| format!("{base}_{number}"));
    let mut names = std::iter::once(base.to_owned()).chain(numbered);
    // There are fewer symbols than names.
    names.find(|name| lookup(module, name).is_none()).unwrap_or_default()
}

/// Moves a loop to a function, and calls it. Returns the function and the call.
fn separated(body: &mut Body, own: Op, name: &str) -> (Body, Op) {
    let (ctx, loc) = (body.ctx().clone(), body.loc(own));
    let results: Vec<Value> = body.results(own).collect();
    let types: Vec<Type> = results.iter().map(|value| body.value_type(*value)).collect();
    // The loop stands alone in a block, which is copied.
    let region = OperationState::of(&ctx, scf::ExecuteRegionOp::DEF, loc).results(&types).regions(1);
    let region = Builder::before(body, own).insert(region);
    let block = body.append_block(body.region(region, 0), &[]);
    let outside: Vec<Value> = body.results(region).collect();
    for (old, new) in results.iter().zip(outside) {
        body.replace_all_uses(*old, new);
    }
    body.move_to_end(own, block);
    let end = OperationState::of(&ctx, scf::YieldOp::DEF, loc).operands(&results);
    let end = Builder::new(body, InsertPoint::End(block)).insert(end);

    let mut used: Vec<Value> = Vec::new();
    for inside in body.postorder(own) {
        for value in body.operands(inside) {
            if !body.is_defined_within(value, own) && !used.contains(&value) {
                used.push(value);
            }
        }
    }
    let inputs: Vec<Type> = used.iter().map(|value| body.value_type(*value)).collect();
    let (mut function, entry) = func::FuncOp::create(&ctx, loc, name, &inputs, &types);
    if may_overlap(body, &used) {
        let root = function.root();
        function.set_attr(root, marks::OVERLAPPING, Attr::UNIT);
    }
    let ret = OperationState::of(&ctx, func::ReturnOp::DEF, loc);
    let ret = Builder::new(&mut function, InsertPoint::End(entry)).insert(ret);
    let mut import = Import::new(body);
    for (value, argument) in used.iter().zip(function.arguments(entry).collect::<Vec<_>>()) {
        // The function knows constants, though it has an argument for each.
        let constant = body.defining_op(*value).filter(|op| body.has_trait(*op, Trait::ConstantLike));
        let inside = constant.map(|op| {
            let state = OperationState::named(body.op_name(op), body.loc(op));
            let mut state = state.results(&[body.value_type(*value)]);
            (state.properties, state.attributes) = (body.properties(op), body.attributes(op));
            Builder::before(&mut function, ret).value(state)
        });
        import.map(*value, inside.unwrap_or(argument));
    }
    let copies = import.ops_before(&mut function, block, ret, &mut |loc| loc);
    let returned: Vec<Value> =
        copies.iter().flat_map(|copy| function.results(*copy).collect::<Vec<_>>()).collect();
    function.set_operands(ret, &returned);

    let call = OperationState::of(&ctx, func::CallOp::DEF, loc).operands(&used).results(&types);
    let call = Builder::before(body, end).insert(call.attr(&ctx, "callee", ctx.symbol_attr(name)));
    let called: Vec<Value> = body.results(call).collect();
    body.set_operands(end, &called);
    body.erase(own);
    (function, call)
}
