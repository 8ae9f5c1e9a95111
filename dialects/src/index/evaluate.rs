//! Execution of the operations of `index`: the same as for `arith` on `index`.

use loomir_ir::{OpRef, Registry};

use crate::arith::evaluate as arith;
use crate::interp::elementwise::binary;
use crate::interp::integer::{self, Rounding, signed};
use crate::interp::{Datum, Decoded, Decoder, Evaluate, action};

/// Attaches the models.
pub(super) fn register(registry: &mut Registry) {
    let mut attach = |name: &str, model: fn(OpRef<'_>, &mut Decoder<'_>) -> Decoded| {
        registry.attach::<dyn Evaluate>(&format!("index.{name}"), Box::new(model));
    };
    attach("constant", arith::decode_constant);
    attach("bool.constant", arith::decode_constant);
    attach("sizeof", |op, d| {
        let result = d.result(op, 0)?;
        Ok(action(move |m| m.done(result, Datum::index(64))))
    });
    attach("add", |op, d| arith::wrapping(op, d, integer::add));
    attach("sub", |op, d| arith::wrapping(op, d, integer::sub));
    attach("mul", |op, d| arith::wrapping(op, d, integer::mul));
    attach("shl", |op, d| arith::wrapping(op, d, integer::shl));
    attach("shru", |op, d| arith::shift_right(op, d, integer::shift_right_unsigned));
    attach("shrs", |op, d| arith::shift_right(op, d, integer::shift_right_signed));
    attach("divu", |op, d| arith::divide_unsigned(op, d, Rounding::Truncate));
    attach("ceildivu", |op, d| arith::divide_unsigned(op, d, Rounding::Ceil));
    attach("divs", |op, d| arith::divide_signed(op, d, Rounding::Truncate));
    attach("ceildivs", |op, d| arith::divide_signed(op, d, Rounding::Ceil));
    attach("floordivs", |op, d| arith::divide_signed(op, d, Rounding::Floor));
    attach("remu", arith::remainder_unsigned);
    attach("rems", arith::remainder_signed);
    attach("and", |op, d| binary(op, d, |a, b| Ok(a & b)));
    attach("or", |op, d| binary(op, d, |a, b| Ok(a | b)));
    attach("xor", |op, d| binary(op, d, |a, b| Ok(a ^ b)));
    attach("maxs", |op, d| arith::choose(op, d, |w, a, b| signed(w, a) >= signed(w, b)));
    attach("mins", |op, d| arith::choose(op, d, |w, a, b| signed(w, a) <= signed(w, b)));
    attach("maxu", |op, d| arith::choose(op, d, |_, a, b| a >= b));
    attach("minu", |op, d| arith::choose(op, d, |_, a, b| a <= b));
    attach("cmp", |op, d| arith::compare_integers(op, d, "pred"));
    attach("casts", arith::sign_extend);
    attach("castu", |op, d| arith::zero_extend(op, d, "nonNeg"));
}
