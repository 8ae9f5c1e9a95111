//! Saturating arithmetic: a dialect of one's own, with Loomir's whole command.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use loomir::extend::*;

dialect! {
    /// Saturating arithmetic.
    SAT = "sat" {}

    /// The unsigned sum of two integers, or the greatest number of their type if that is less.
    AddOp = "add" {
        operands { lhs: One SignlessInteger, rhs: One SameAs("lhs") }
        results { sum: One SameAs("lhs") }
        traits [Pure, Commutative]
        format "$lhs `,` $rhs attr-dict `:` type($sum)"
        verify at_most_64_bits;
        fold add_zero;
        interfaces { dyn Evaluate = evaluate_add, dyn ConvertToLlvm = convert_add }
    }

    /// Adds to an element of a memref, with saturation.
    AccumulateOp = "accumulate" {
        operands { value: One ElementOf("memref"), memref: One RankedMemRef, indices: Variadic Index }
        format "$value `,` $memref `[` $indices `]` attr-dict `:` type($memref)"
        verify at_most_64_bits;
        interfaces {
            dyn MemoryEffects = OperandEffects::new(&[(EffectKind::Read, "memref"), (EffectKind::Write, "memref")]),
            dyn Evaluate = evaluate_accumulate,
            dyn ConvertToLlvm = convert_accumulate,
        }
    }
}

fn at_most_64_bits(op: OpRef<'_>, diagnostics: &mut Diagnostics) {
    if op.operand_type(0).integer_width(op.ctx()).is_none_or(|width| width > 64) {
        diagnostics.error(op.loc(), "saturates integers of at most 64 bits");
    }
}

fn add_zero(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<Vec<Folded>> {
    (constants[1]?.as_int(op.ctx())? == 0).then(|| vec![Folded::Value(op.operand(0))])
}

fn saturating(width: u32, a: u128, b: u128) -> u128 {
    (a + b).min((1 << width) - 1)
}

fn evaluate_add(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let width = bit_width(d.ctx(), op.result_type(0))?;
    binary(op, d, move |a, b| Ok(saturating(width, a, b)))
}

fn evaluate_accumulate(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (value, width) = (d.operand(op, 0)?, bit_width(d.ctx(), op.operand_type(0))?);
    let element = Access::new(op, d, 1, Subscripts::Slots(d.slots(op.operands().skip(2))))?;
    Ok(action(move |m| {
        let (old, value) = (element.load(m)?, m.get(value).clone());
        let sum = match (&old, &value) {
            (Datum::Bits(a), Datum::Bits(b)) => {
                Datum::bits(width, saturating(width, (*a).into(), (*b).into()))
            }
            (Datum::Bits(_), _) => value,
            _ => old,
        };
        element.put(m, &sum).map(|()| Flow::Next)
    }))
}

fn convert_add(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let sum = cx.binary(llvm::UAddSatOp::DEF, cx.operand(op, 0)?, cx.operand(op, 1)?);
    cx.set(op.result(0), sum);
    Ok(())
}

fn convert_accumulate(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let indices: Vec<_> = op.operands().skip(2).collect();
    let (address, value) = (cx.element_address(op, op.operand(1), &indices)?, cx.operand(op, 0)?);
    let old = cx.load(address, cx.type_of(value));
    let sum = cx.binary(llvm::UAddSatOp::DEF, old, value);
    cx.store(sum, address);
    Ok(())
}

fn main() -> ExitCode {
    let mut registry = loomir::registry();
    registry.dialect(&SAT);
    loomir::main(registry, loomir::passes())
}
