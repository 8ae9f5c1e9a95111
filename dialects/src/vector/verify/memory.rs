//! Rules of accesses to neighbouring elements, and of `gather` and `scatter`.

use loomir_ir::verifier::op_error;
use loomir_ir::{Diagnostics, OpRef, Type};

use crate::vector::shape::VectorShape;

/// The parts of an access that the rules compare.
struct Access<'a> {
    op: OpRef<'a>,
    base: Type,
    vector: Type,
}

impl Access<'_> {
    fn fail(&self, message: impl AsRef<str>, out: &mut Diagnostics) -> bool {
        out.push(op_error(self.op, message));
        false
    }

    /// Requires an index for each dimension. The indices are those of `name`.
    fn indices(&self, name: &str, out: &mut Diagnostics) -> bool {
        let rank = self.base.shape(self.op.ctx()).map_or(0, <[i64]>::len);
        self.op.operand_group(name).len() == rank || self.fail(format!("requires {rank} indices"), out)
    }

    fn element(&self, what: &str, out: &mut Diagnostics) -> bool {
        let ctx = self.op.ctx();
        let vector = VectorShape::of_part(ctx, self.vector);
        self.base.element(ctx) == Some(vector.element)
            || self.fail(format!("base and {what} element type should match"), out)
    }

    /// Requires the sizes of another vector.
    fn sizes(&self, other: Type, message: &str, out: &mut Diagnostics) -> bool {
        let ctx = self.op.ctx();
        let (own, other) = (VectorShape::of_part(ctx, self.vector), VectorShape::of_part(ctx, other));
        own.dims().eq(other.dims()) || self.fail(message, out)
    }

    fn pass_thru(&self, ty: Type, out: &mut Diagnostics) -> bool {
        self.vector == ty || self.fail("expected pass_thru of same type as result type", out)
    }

    /// The rules of `load` and `store`.
    fn neighbours(&self, elements: [&str; 2], lower: &str, out: &mut Diagnostics) {
        let ctx = self.op.ctx();
        let Some(strides) = self.base.strides_and_offset(ctx).map(|(strides, _)| strides) else {
            self.fail("most minor memref dim must have unit stride", out);
            return;
        };
        let rank = self.base.shape(ctx).map_or(0, <[i64]>::len);
        let vector = VectorShape::of_part(ctx, self.vector);
        if strides.last().is_some_and(|stride| *stride != 1) {
            self.fail("most minor memref dim must have unit stride", out);
        } else if self.base.element(ctx).is_some_and(|element| VectorShape::of(ctx, element).is_some()) {
            if self.base.element(ctx) != Some(self.vector) {
                self.fail(elements[0], out);
            } else {
                self.indices("indices", out);
            }
        } else if rank < vector.rank() {
            self.fail(lower, out);
        } else if self.base.element(ctx) != Some(vector.element) {
            self.fail(elements[1], out);
        } else {
            self.indices("indices", out);
        }
    }
}

/// Checks that a vector is a part of the memref's last dimensions.
pub(crate) fn load(op: OpRef<'_>, out: &mut Diagnostics) {
    let elements =
        ["base memref and result vector types should match", "base and result element types should match"];
    Access { op, base: op.operand_type(0), vector: op.result_type(0) }.neighbours(
        elements,
        "destination memref has lower rank than the result vector",
        out,
    );
}

/// Checks that a vector is a part of the memref's last dimensions.
pub(crate) fn store(op: OpRef<'_>, out: &mut Diagnostics) {
    let elements = [
        "base memref and valueToStore vector types should match",
        "base and valueToStore element type should match",
    ];
    Access { op, base: op.operand_type(1), vector: op.operand_type(0) }.neighbours(
        elements,
        "source memref has lower rank than the vector to store",
        out,
    );
}

/// Returns the type of the one operand of a name.
fn type_of(op: OpRef<'_>, name: &str) -> Option<Type> {
    op.operand_group(name).first().map(|value| op.type_of(*value))
}

/// "shape" for accesses with a mask for each element, "dim" for those that count elements.
fn word(op: OpRef<'_>) -> &'static str {
    if matches!(op.name(), "vector.maskedload" | "vector.maskedstore") { "shape" } else { "dim" }
}

/// The rules of `maskedload` and `expandload`.
pub(crate) fn masked_load(op: OpRef<'_>, out: &mut Diagnostics) {
    let access = Access { op, base: op.operand_type(0), vector: op.result_type(0) };
    let (Some(mask), Some(passed)) = (type_of(op, "mask"), type_of(op, "pass_thru")) else { return };
    let word = word(op);
    let _ = access.element("result", out)
        && access.indices("indices", out)
        && access.sizes(mask, &format!("expected result {word} to match mask {word}"), out)
        && access.pass_thru(passed, out);
}

/// The rules of `maskedstore` and `compressstore`.
pub(crate) fn masked_store(op: OpRef<'_>, out: &mut Diagnostics) {
    let (Some(mask), Some(vector)) = (type_of(op, "mask"), type_of(op, "valueToStore")) else { return };
    let access = Access { op, base: op.operand_type(0), vector };
    let word = word(op);
    let _ = access.element("valueToStore", out)
        && access.indices("indices", out)
        && access.sizes(mask, &format!("expected valueToStore {word} to match mask {word}"), out);
}

/// The rules of `gather` and `scatter`. `what` names the vector.
fn spread(access: &Access<'_>, what: &str, out: &mut Diagnostics) -> bool {
    let op = access.op;
    let (Some(mask), Some(indices)) = (type_of(op, "mask"), type_of(op, "indices")) else { return false };
    access.element(what, out)
        && access.indices("offsets", out)
        && access.sizes(indices, &format!("expected {what} dim to match indices dim"), out)
        && access.sizes(mask, &format!("expected {what} dim to match mask dim"), out)
}

/// Checks that vectors agree in their sizes.
pub(crate) fn gather(op: OpRef<'_>, out: &mut Diagnostics) {
    let access = Access { op, base: op.operand_type(0), vector: op.result_type(0) };
    let Some(passed) = type_of(op, "pass_thru") else { return };
    let _ = spread(&access, "result", out) && access.pass_thru(passed, out);
}

/// Checks that vectors agree in their sizes, and that a tensor is the result.
pub(crate) fn scatter(op: OpRef<'_>, out: &mut Diagnostics) {
    let Some(vector) = type_of(op, "valueToStore") else { return };
    let base = op.operand_type(0);
    let access = Access { op, base, vector };
    if !spread(&access, "valueToStore", out) {
        return;
    }
    let result = op.results().next().map(|result| op.type_of(result));
    let is_memref = matches!(base.kind(op.ctx()), loomir_ir::TypeKind::MemRef { .. });
    let expected = if is_memref { None } else { Some(base) };
    if result != expected {
        let message = match is_memref {
            true => "expects no result for a memref",
            false => "expects a result of the type of its tensor",
        };
        access.fail(message, out);
    }
}
