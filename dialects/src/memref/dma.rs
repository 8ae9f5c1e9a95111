//! Asynchronous transfers between memories: `memref.dma_start` and `memref.dma_wait`.
//!
//! The operands of a start are one list, cut by the ranks of the memrefs in it: source and its
//! indices, target and its indices, number of elements, tag and its index, and perhaps a stride and
//! the number of elements a stride.

use loomir_ir::text::{Delimiter, OpParser, OpPrinter, ParseResult};
use loomir_ir::verifier::op_error;
use loomir_ir::{Diagnostics, OpRef, OperationState, Type, Value};

use super::layout::Ranked;

/// A memref and its indices.
struct Place {
    memref: Value,
    indices: Vec<Value>,
}

/// The operands of a start.
struct Transfer {
    source: Place,
    target: Place,
    count: Value,
    tag: Place,
    /// Nothing, or the stride and the number of elements a stride.
    strides: Vec<Value>,
}

/// Takes the next operand, which must be a memref, and an index for each of its dimensions.
fn place(
    op: OpRef<'_>,
    rest: &mut impl ExactSizeIterator<Item = Value>,
    what: &str,
) -> Result<Place, String> {
    let memref = rest.next().ok_or("expected at least 4 operands")?;
    let ranked = Ranked::of(op.ctx(), op.type_of(memref));
    let rank = ranked.ok_or_else(|| format!("expected {what} to be of memref type"))?.shape.len();
    let indices: Vec<Value> = rest.take(rank).collect();
    if indices.len() < rank {
        let needed = op.num_operands() + rank - indices.len();
        return Err(format!("expected at least {needed} operands"));
    }
    Ok(Place { memref, indices })
}

/// Returns the operands of a start, or an error about their number.
fn transfer(op: OpRef<'_>) -> Result<Transfer, String> {
    let mut rest = op.operands().collect::<Vec<_>>().into_iter();
    let source = place(op, &mut rest, "source")?;
    let target = place(op, &mut rest, "destination")?;
    let count = rest.next().ok_or_else(|| format!("expected at least {} operands", op.num_operands() + 1))?;
    let tag = place(op, &mut rest, "tag")?;
    let strides: Vec<Value> = rest.collect();
    if !matches!(strides.len(), 0 | 2) {
        return Err("incorrect number of operands".into());
    }
    Ok(Transfer { source, target, count, tag, strides })
}

/// Checks that every place has as many indices as its memref dimensions, and that all numbers are
/// indices.
pub(super) fn verify_start(op: OpRef<'_>, out: &mut Diagnostics) {
    let transfer = match transfer(op) {
        Ok(transfer) => transfer,
        Err(message) => return out.push(op_error(op, message)),
    };
    let numbers = [
        ("source indices to be of index type", &transfer.source.indices),
        ("destination indices to be of index type", &transfer.target.indices),
        ("num elements to be of index type", &vec![transfer.count]),
        ("tag indices to be of index type", &transfer.tag.indices),
        ("stride and num elements per stride to be of type index", &transfer.strides),
    ];
    for (what, values) in numbers {
        if values.iter().any(|value| !op.type_of(*value).is_index()) {
            out.push(op_error(op, format!("expected {what}")));
        }
    }
}

/// `%src[%i], %dst[%j], %count, %tag[%k], %stride, %each {…} : type, type, type`.
pub(super) fn parse_start(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let mut places = Vec::new();
    let mut count = None;
    for i in 0..3 {
        if i > 0 {
            p.expect(",")?;
        }
        if i == 2 {
            count = Some(p.parse_operand()?);
            p.expect(",")?;
        }
        places.push((p.parse_operand()?, p.parse_operand_list(Delimiter::Square)?));
    }
    let loc = p.loc();
    let strides = if p.accept(",") { p.parse_operand_list(Delimiter::None)? } else { Vec::new() };
    if !matches!(strides.len(), 0 | 2) {
        return Err(p.error(loc, "expected two stride related operands"));
    }
    p.parse_optional_attr_dict(state)?;
    p.expect(":")?;
    let loc = p.loc();
    let types = p.parse_type_list()?;
    if types.len() != places.len() {
        return Err(p.error(loc, format!("expected the types of three memrefs, found {}", types.len())));
    }
    for (i, ((memref, indices), ty)) in places.into_iter().zip(types).enumerate() {
        if let Some(count) = count.filter(|_| i == 2) {
            state.operands.push(p.resolve(count, Type::INDEX)?);
        }
        state.operands.push(p.resolve(memref, ty)?);
        for index in indices {
            state.operands.push(p.resolve(index, Type::INDEX)?);
        }
    }
    for stride in strides {
        state.operands.push(p.resolve(stride, Type::INDEX)?);
    }
    Ok(())
}

pub(super) fn print_start(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    p.write(" ");
    let Ok(Transfer { source, target, count, tag, strides }) = transfer(op) else {
        // Without ranked memrefs, the operands are printed as one list.
        return p.operands(op.operands());
    };
    let place = |p: &mut OpPrinter<'_>, place: &Place| {
        p.operand(place.memref);
        p.write("[");
        p.operands(place.indices.iter().copied());
        p.write("], ");
    };
    place(p, &source);
    place(p, &target);
    p.operand(count);
    p.write(", ");
    p.operand(tag.memref);
    p.write("[");
    p.operands(tag.indices);
    p.write("]");
    for stride in strides {
        p.write(", ");
        p.operand(stride);
    }
    p.attr_dict(op, &[]);
    p.write(" : ");
    p.types([source.memref, target.memref, tag.memref].map(|memref| op.type_of(memref)));
}

/// Checks that the number of indices is the rank of the tag.
pub(super) fn verify_wait(op: OpRef<'_>, out: &mut Diagnostics) {
    let Some(tag) = Ranked::of(op.ctx(), op.operand_type(0)) else { return };
    let (rank, indices) = (tag.shape.len(), op.operand_group("tagIndices").len());
    if indices != rank {
        let message = format!(
            "expected tagIndices to have the same number of elements as the tagMemRef rank, expected {rank}, but got {indices}"
        );
        out.push(op_error(op, message));
    }
}
