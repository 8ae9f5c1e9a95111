//! `llvm.getelementptr`: constant and dynamic indices, and the types that they lead to.

use loomir_ir::opdef::Folded;
use loomir_ir::text::{Delimiter, OpParser, OpPrinter, ParseResult, type_to_string};
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, Diagnostics, OpRef, OperationState, Type, Value};

use super::DYNAMIC_INDEX;
use crate::interp::Fault;
use crate::interp::code::malformed;
use crate::interp::constant::part_type;
use crate::interp::layout::{DataLayout, Layout, Repr};
use crate::llvm::types::LlvmType;

/// An index of an address computation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Index {
    /// A number.
    Constant(i64),
    /// An operand.
    Value(Value),
}

/// Names and bits of the flags. A flag that contains another one comes first.
const FLAGS: [(&str, i64); 4] = [("inbounds", 3), ("inbounds_flag", 1), ("nusw", 2), ("nuw", 4)];

/// Returns the indices of an address computation.
pub fn indices(op: OpRef<'_>) -> Vec<Index> {
    let mut values = op.operands().skip(1);
    let index = |number| match number {
        DYNAMIC_INDEX => values.next().map(Index::Value),
        _ => Some(Index::Constant(number)),
    };
    raw_indices(op).into_iter().filter_map(index).collect()
}

fn raw_indices(op: OpRef<'_>) -> Vec<i64> {
    op.attr("rawConstantIndices").and_then(|a| a.as_dense_ints(op.ctx())).unwrap_or_default()
}

/// The offset that an address computation adds: a number of bytes, and values times numbers of
/// bytes.
pub type Offset = (i64, Vec<(Value, i64)>);

/// Returns the total bytes of the constant indices of an address computation on a target, and the
/// scale in bytes of each dynamic index.
///
/// # Errors
/// A type has no known layout, or an index leads into a type without elements.
pub fn byte_offsets(op: OpRef<'_>, target: &DataLayout) -> Result<Offset, Box<Fault>> {
    let (mut fixed, mut dynamic) = (0i64, Vec::new());
    for (index, bytes) in steps(op, target)? {
        match index {
            Index::Constant(number) => fixed = fixed.wrapping_add(number.wrapping_mul(bytes)),
            Index::Value(value) => dynamic.push((value, bytes)),
        }
    }
    Ok((fixed, dynamic))
}

/// The promise that the sum of the address as unsigned and the offset as signed does not wrap.
pub const NUSW: i64 = 2;
/// The promise that the sum of the address and the offset does not wrap as unsigned.
pub const NUW: i64 = 4;
/// The promise that the address and each step are in one object, which includes [`NUSW`].
pub const INBOUNDS: i64 = 1 | NUSW;

/// Returns the promises of an address computation: [`INBOUNDS`], [`NUSW`] and [`NUW`], joined.
pub fn no_wrap_flags(op: OpRef<'_>) -> i64 {
    op.attr("noWrapFlags").and_then(|flags| flags.as_int(op.ctx())).unwrap_or(0)
}

/// Returns each index of an address computation with its scale in bytes. A field of a struct counts
/// once.
///
/// # Errors
/// As for [`byte_offsets`].
pub fn steps(op: OpRef<'_>, target: &DataLayout) -> Result<Vec<(Index, i64)>, Box<Fault>> {
    let ctx = op.ctx();
    let ty = op.attr("elem_type").and_then(|a| a.as_type(ctx)).ok_or_else(|| malformed("a type"))?;
    let inner = |ty: Type, index: usize| -> Result<(Type, Layout), Box<Fault>> {
        let ty = part_type(ctx, ty, index).ok_or_else(|| malformed("such an element"))?;
        Ok((ty, Layout::of(ctx, ty, target)?))
    };
    let mut steps = Vec::new();
    let mut level = (ty, Layout::of(ctx, ty, target)?);
    for (depth, index) in indices(op).into_iter().enumerate() {
        // The first index counts whole values of the type. The others descend into the type.
        let (ty, layout) = &level;
        let (bytes, next) = match (depth, &layout.repr) {
            (0, _) => (layout.size as i64, level.clone()),
            (_, Repr::Sequence { stride, .. }) => (*stride as i64, inner(*ty, 0)?),
            (_, Repr::Struct(fields)) => {
                let Index::Constant(field) = index else { return Err(malformed("a constant field")) };
                let field = usize::try_from(field).ok().filter(|i| *i < fields.len());
                let field = field.ok_or_else(|| malformed("such a field"))?;
                steps.push((Index::Constant(1), fields[field].0 as i64));
                level = inner(*ty, field)?;
                continue;
            }
            _ => return Err(malformed("a type that is deep enough")),
        };
        steps.push((index, bytes));
        level = next;
    }
    Ok(steps)
}

/// `llvm.getelementptr inbounds|nuw %p[%i, 3] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<5 x f32>`.
pub(super) fn parse(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    let mut flags = 0;
    while let Some((_, bits)) = FLAGS.into_iter().find(|(name, _)| p.accept_keyword(name)) {
        flags |= bits;
        if !p.accept("|") {
            break;
        }
    }
    state.set_attr(ctx, "noWrapFlags", ctx.int_attr(Type::I32, flags));
    let loc = p.loc();
    let mut operands = vec![p.parse_operand()?];
    let numbers = p.parse_list(Delimiter::Square, |p| {
        let loc = p.loc();
        match p.parse_optional_integer()? {
            Some(number) if i32::try_from(number).is_ok_and(|_| number != DYNAMIC_INDEX) => Ok(number),
            Some(_) => Err(p.error(loc, "expected a constant index of 32 bits")),
            None => {
                operands.push(p.parse_operand()?);
                Ok(DYNAMIC_INDEX)
            }
        }
    })?;
    state.set_attr(ctx, "rawConstantIndices", ctx.dense_ints_attr(Type::I32, &numbers));
    p.parse_optional_attr_dict(state)?;
    let type_loc = p.loc();
    let ty = p.parse_colon_type()?;
    let Some((inputs, results)) = ty.function(ctx) else {
        return Err(p.error(type_loc, "expected a function type"));
    };
    state.operands = p.resolve_all(&operands, inputs, loc)?;
    state.result_types = results.to_vec();
    p.expect(",")?;
    let element = p.parse_type()?;
    state.set_attr(ctx, "elem_type", ctx.type_attr(element));
    Ok(())
}

pub(super) fn print(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let mut flags = no_wrap_flags(op);
    let mut names = Vec::new();
    for (name, bits) in FLAGS {
        if flags & bits == bits {
            names.push(name);
            flags &= !bits;
        }
    }
    p.write(" ");
    if !names.is_empty() {
        p.write(&names.join("|"));
        p.write(" ");
    }
    p.operand(op.operand(0));
    p.write("[");
    for (i, index) in indices(op).into_iter().enumerate() {
        if i > 0 {
            p.write(", ");
        }
        match index {
            Index::Constant(number) => p.write(&number.to_string()),
            Index::Value(value) => p.operand(value),
        }
    }
    p.write("]");
    p.attr_dict(op, &["noWrapFlags", "rawConstantIndices", "elem_type"]);
    p.write(" : ");
    p.functional_type(op.operands().map(|v| op.type_of(v)), op.results().map(|r| op.type_of(r)));
    p.write(", ");
    if let Some(element) = op.attr("elem_type").and_then(|ty| ty.as_type(op.ctx())) {
        p.ty(element);
    }
}

/// Checks that the operands fit the dynamic indices. Each index but the first must step into a
/// struct, by a constant in range, or into an array or vector.
pub(super) fn verify(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let dynamic = raw_indices(op).iter().filter(|n| **n == DYNAMIC_INDEX).count();
    if dynamic != op.num_operands() - 1 {
        let message = "expected as many dynamic indices as specified in 'rawConstantIndices'";
        out.push(op_error(op, message));
        return;
    }
    if op.attr("noWrapFlags").and_then(|a| a.as_int(ctx)).is_none_or(|flags| !(0..8).contains(&flags)) {
        out.push(op_error(op, "expected a combination of known flags in 'noWrapFlags'"));
    }
    let Some(mut current) = op.attr("elem_type").and_then(|ty| ty.as_type(ctx)) else { return };
    for (i, index) in indices(op).into_iter().enumerate().skip(1) {
        current = match (LlvmType::of(ctx, current), index) {
            (Some(LlvmType::Struct(_)), Index::Value(_)) => {
                out.push(op_error(op, format!("expected index {i} indexing a struct to be constant")));
                return;
            }
            (Some(LlvmType::Struct(s)), Index::Constant(number)) => {
                let body = s.body.unwrap_or_default();
                match usize::try_from(number).ok().and_then(|n| body.get(n)) {
                    Some(element) => *element,
                    None => {
                        out.push(op_error(op, format!("index {i} indexing a struct is out of bounds")));
                        return;
                    }
                }
            }
            (Some(LlvmType::Array { element, .. }), _) => element,
            _ => match current.element(ctx) {
                Some(element) => element,
                None => {
                    let ty = type_to_string(ctx, current);
                    out.push(op_error(op, format!("type '{ty}' cannot be indexed (index #{i})")));
                    return;
                }
            },
        };
    }
}

/// Folds an address whose only index is zero to its base.
pub(super) fn fold(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<Vec<Folded>> {
    let ctx = op.ctx();
    if op.operand_type(0) != op.result_type(0) {
        return None;
    }
    let mut raw = op.attr("rawConstantIndices").and_then(|raw| raw.dense_ints(ctx))?;
    let (Some(only), None) = (raw.next(), raw.next()) else { return None };
    let number = match only {
        DYNAMIC_INDEX => constants.get(1).copied().flatten()?.as_int(ctx)?,
        number => number,
    };
    (number == 0).then(|| vec![Folded::Value(op.operand(0))])
}
