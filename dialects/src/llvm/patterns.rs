//! Patterns of `llvm`: chains of casts, constant indices, parts of aggregates.

use loomir_ir::rewrite::constant_of;
use loomir_ir::{Loc, OperationState, Type, Value, rewrite};

use super::address::{Index, indices};
use super::memory::DYNAMIC_INDEX;
use super::{BitcastOp, ExtractValueOp, GEPOp, InsertValueOp};

rewrite! {
    /// Patterns that make instructions simpler.
    pub(crate) PATTERNS;

    /// A bitcast twice is one.
    bitcast_of_bitcast: BitcastOp = |rewriter, op| {
        let body = rewriter.body();
        let Some(inner) = rewriter.defined_by(body.operand(op, 0), BitcastOp::DEF) else { return false };
        let (source, target) = (body.operand(inner, 0), body.value_type(body.result(op, 0)));
        let state = OperationState::of(body.ctx(), BitcastOp::DEF, Loc::UNKNOWN);
        rewriter.replace_with(op, state.operands(&[source]).results(&[target]))
    };

    /// A constant index is an attribute.
    constant_index: GEPOp = |rewriter, op| {
        let body = rewriter.body();
        let ctx = body.ctx().clone();
        let mut operands: Vec<Value> = vec![body.operand(op, 0)];
        let mut numbers: Vec<i64> = Vec::new();
        let mut is_changed = false;
        for index in indices(body.op_ref(op)) {
            match index {
                Index::Constant(number) => numbers.push(number),
                Index::Value(value) => {
                    let ty = body.value_type(value);
                    let number = constant_of(body, value);
                    let fits = |number: &i64| i32::try_from(*number).is_ok() && *number != DYNAMIC_INDEX;
                    // A vector of indices makes a vector of pointers. A truth value is -1 or 1.
                    let is_scalar = ty.is_signless_integer(&ctx) && ty != Type::I1;
                    match number.and_then(|attr| attr.as_int(&ctx)).filter(|number| is_scalar && fits(number)) {
                        Some(number) => {
                            is_changed = true;
                            numbers.push(number);
                        }
                        None => {
                            operands.push(value);
                            numbers.push(DYNAMIC_INDEX);
                        }
                    }
                }
            }
        }
        if is_changed {
            let attr = ctx.dense_ints_attr(Type::I32, &numbers);
            rewriter.body_mut().set_attr(op, "rawConstantIndices", attr);
            rewriter.set_operands(op, &operands);
        }
        is_changed
    };

    /// A part is that of the value before another part was inserted.
    part_beside_insertion: ExtractValueOp = |rewriter, op| {
        let body = rewriter.body();
        let (ctx, extract) = (body.ctx(), ExtractValueOp(op));
        let insert = body.defining_op(extract.container(body)).and_then(|op| InsertValueOp::cast(body, op));
        let Some(insert) = insert else { return false };
        let position = |attr: Option<loomir_ir::Attr>| attr.and_then(|attr| attr.as_dense_ints(ctx));
        let (Some(own), Some(other)) = (position(extract.position(body)), position(insert.position(body))) else {
            return false;
        };
        if own.starts_with(&other) || other.starts_with(&own) {
            return false;
        }
        let container = insert.container(body);
        rewriter.set_operand(op, 0, container);
        true
    };
}
