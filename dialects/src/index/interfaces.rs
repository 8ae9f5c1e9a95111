//! Interfaces of the `index` operations: effects, names, constants, and the fold of comparisons.

use loomir_ir::text::AsmNames;
use loomir_ir::{Attr, AttrKind, Context, Loc, OpRef, OperationState, Registry, Type, Value};

use super::{BoolConstantOp, CMP_PREDICATE, ConstantOp};
use crate::arith::Division;
use crate::arith::fold::{Fold, compare as arith};
use crate::interfaces::MemoryEffects;

/// Returns a constant operation: `index.constant` for an index, `index.bool.constant` for a truth
/// value. Numbers of other types, which casts fold to, become constants of `arith`.
pub(super) fn materialize_constant(ctx: &Context, value: Attr, ty: Type) -> Option<OperationState> {
    let def = match value.kind(ctx) {
        AttrKind::Integer { ty: Type::INDEX, .. } => ConstantOp::DEF,
        AttrKind::Integer { ty: Type::I1, .. } => BoolConstantOp::DEF,
        _ => return crate::arith::materialize_constant(ctx, value, ty),
    };
    let state = OperationState::of(ctx, def, Loc::UNKNOWN).attr(ctx, "value", value).results(&[ty]);
    (value.ty(ctx) == Some(ty)).then_some(state)
}

/// As `arith.cmpi`.
pub(super) fn compare(op: OpRef<'_>, constants: &[Option<Attr>]) -> Fold {
    arith::integers(op, constants, CMP_PREDICATE.value(op.ctx(), op.attr("pred")?)?)
}

/// `%idx7`, `%true`.
struct ConstantNames;

impl AsmNames for ConstantNames {
    fn result_names(&self, op: OpRef<'_>) -> Vec<(Value, String)> {
        let value = op.attr("value");
        let name = match value {
            Some(Attr::TRUE) => "true".into(),
            Some(Attr::FALSE) => "false".into(),
            _ => format!("idx{}", value.and_then(|value| value.as_int(op.ctx())).unwrap_or_default()),
        };
        vec![(op.result(0), name)]
    }
}

pub(super) fn register(registry: &mut Registry) {
    for op in ["index.constant", "index.bool.constant"] {
        registry.attach::<dyn AsmNames>(op, Box::new(ConstantNames));
    }
    for op in ["index.divu", "index.ceildivu", "index.remu"] {
        registry.attach::<dyn MemoryEffects>(op, Box::new(Division { signed: false }));
    }
    for op in ["index.divs", "index.ceildivs", "index.floordivs", "index.rems"] {
        registry.attach::<dyn MemoryEffects>(op, Box::new(Division { signed: true }));
    }
}
