//! Execution of the operations of the `llvm` dialect: arithmetic, conversions, control and
//! constants here.
//!
//! Arithmetic is shared with `arith`, branches with `cf`. Only the names of attributes differ.

use loomir_ir::{Attr, OpRef, Registry, Value};

use crate::arith::evaluate as arith;
use crate::cf::evaluate as cf;
use crate::func::evaluate::{call, call_through};
use crate::interfaces::FunctionLike;
use crate::interp::code::malformed;
use crate::interp::constant::{constant, element_bytes, value_repr, zero};
use crate::interp::elementwise::{binary, bit_width, map, select};
use crate::interp::float::{FastMath, Format, with_format};
use crate::interp::integer::{self, Rounding, Trouble};
use crate::interp::layout::{DataLayout, Layout, Repr};
use crate::interp::unusable;
use crate::interp::{
    Action, Cause, Contents, Datum, Decoded, Decoder, DefineGlobal, Entry, Evaluate, Execute, Fault, Flow,
    GlobalDefinition, Machine, Pointer, Signature, Slot, Step, action,
};
use crate::llvm::is_must_tail;
use crate::llvm::types::LlvmType;
use crate::ub::evaluate::{decode_poison, decode_unreachable};

mod address;
mod aggregates;
mod blocks;
mod intrinsics;
mod memory;
mod promises;
mod vectors;

pub use promises::promised_range;

/// Attaches the models.
pub(super) fn register(registry: &mut Registry) {
    let attach = &mut |name: &str, model: Model| {
        registry.attach::<dyn Evaluate>(&format!("llvm.{name}"), Box::new(model));
    };
    register_arithmetic(attach);
    register_conversions(attach);
    attach("br", cf::decode_branch);
    attach("cond_br", cf::decode_conditional_branch);
    attach("switch", cf::decode_switch);
    attach("func", promises::decode_entry);
    attach("return", promises::decode_return);
    attach("unreachable", decode_unreachable);
    attach("call", decode_call);
    attach("invoke", decode_invoke);
    blocks::register(attach);
    attach("callbr", |_, _| Err(Fault::unsupported("assembly that branches")));
    for name in ["landingpad", "resume", "catchswitch", "catchpad", "cleanuppad", "catchret", "cleanupret"] {
        attach(name, |_, _| Err(Fault::unsupported("an exception")));
    }
    attach("call_intrinsic", decode_call_intrinsic);
    attach("mlir.constant", decode_constant);
    attach("mlir.undef", |op, d| {
        let (result, loc) = (d.result(op, 0)?, op.loc());
        Ok(action(move |m| m.done(result, Datum::poison(Cause::Undefined, loc))))
    });
    attach("mlir.poison", decode_poison);
    attach("mlir.zero", decode_zero);
    attach("mlir.none", |op, d| {
        let result = d.result(op, 0)?;
        Ok(action(move |m| m.done(result, Datum::Bits(0))))
    });
    attach("mlir.addressof", decode_address);
    aggregates::register(attach);
    memory::register(attach);
    intrinsics::register(attach);
    vectors::register(attach);
    registry.attach_to::<dyn DefineGlobal>(crate::llvm::GlobalOp::DEF, Box::new(Global));
    registry.attach_to::<dyn DefineGlobal>(crate::llvm::AliasOp::DEF, Box::new(Alias));
}

type Model = fn(OpRef<'_>, &mut Decoder<'_>) -> Decoded;

fn register_arithmetic(attach: &mut dyn FnMut(&str, Model)) {
    attach("add", |op, d| arith::wrapping(op, d, integer::add));
    attach("sub", |op, d| arith::wrapping(op, d, integer::sub));
    attach("mul", |op, d| arith::wrapping(op, d, integer::mul));
    attach("shl", |op, d| arith::wrapping(op, d, integer::shl));
    attach("udiv", |op, d| arith::divide_unsigned(op, d, Rounding::Truncate));
    attach("sdiv", |op, d| arith::divide_signed(op, d, Rounding::Truncate));
    attach("urem", arith::remainder_unsigned);
    attach("srem", arith::remainder_signed);
    attach("and", |op, d| binary(op, d, |a, b| Ok(a & b)));
    attach("or", |op, d| {
        let disjoint = op.attr("isDisjoint").is_some();
        binary(op, d, move |a, b| match disjoint && a & b != 0 {
            true => Err(Trouble::Poison(Cause::NotDisjoint)),
            false => Ok(a | b),
        })
    });
    attach("xor", |op, d| binary(op, d, |a, b| Ok(a ^ b)));
    attach("lshr", |op, d| arith::shift_right(op, d, integer::shift_right_unsigned));
    attach("ashr", |op, d| arith::shift_right(op, d, integer::shift_right_signed));
    attach("icmp", memory::decode_compare);
    attach("fcmp", |op, d| arith::compare_floats(op, d, "predicate", fast_math(op, d)));
    attach("fadd", |op, d| arith::float_binary(op, d, fast_math(op, d), |a, b| a + b));
    attach("fsub", |op, d| arith::float_binary(op, d, fast_math(op, d), |a, b| a - b));
    attach("fmul", |op, d| arith::float_binary(op, d, fast_math(op, d), |a, b| a * b));
    attach("fdiv", |op, d| arith::float_binary(op, d, fast_math(op, d), |a, b| a / b));
    attach("frem", |op, d| arith::float_binary(op, d, fast_math(op, d), |a, b| a % b));
    attach("fneg", |op, d| arith::float_unary_bits(op, d, fast_math(op, d), |sign, x| x ^ sign));
    attach("select", decode_select);
    attach("freeze", decode_freeze);
}

fn register_conversions(attach: &mut dyn FnMut(&str, Model)) {
    attach("bitcast", arith::bitcast);
    attach("addrspacecast", arith::bitcast);
    attach("inttoptr", memory::decode_int_to_pointer);
    attach("ptrtoint", memory::decode_pointer_to_int);
    attach("sext", arith::sign_extend);
    attach("zext", |op, d| arith::zero_extend(op, d, "nonNeg"));
    attach("trunc", |op, d| arith::truncate(op, d, "overflowFlags"));
    attach("sitofp", |op, d| arith::from_integer(op, d, true));
    attach("uitofp", |op, d| arith::from_integer(op, d, false));
    attach("fptosi", |op, d| arith::to_integer(op, d, true));
    attach("fptoui", |op, d| arith::to_integer(op, d, false));
    attach("fpext", |op, d| arith::convert_float(op, d, FastMath::default()));
    attach("fptrunc", |op, d| arith::convert_float(op, d, FastMath::default()));
}

/// Decodes a selection. If it has fast-math flags, they apply to the selected value.
fn decode_select(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (choice, fast_math) = (select(op, d)?, fast_math(op, d));
    if fast_math == FastMath::default() {
        return Ok(choice);
    }
    let (result, loc) = (d.result(op, 0)?, op.loc());
    with_format!(d.ctx(), op.result_type(0).scalar(d.ctx()), F => Ok(action(move |m| {
        choice.execute(m)?;
        let datum = map([m.get(result)], |[one]| Ok(match one.as_bits().map(|x| fast_math.check(&[F::read(x)], x)) {
            Some(Err(Trouble::Poison(cause))) => Datum::poison(cause, loc),
            _ => one.clone(),
        }))?;
        m.done(result, datum)
    })))
}

/// Returns the promises of `fastmathFlags`, numbered as LLVM does.
fn fast_math(op: OpRef<'_>, d: &Decoder<'_>) -> FastMath {
    let flags = d.enum_value(op, "fastmathFlags", 0);
    FastMath { no_nans: flags & 1 != 0, no_infinities: flags & 2 != 0 }
}

fn decode_call(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let operands = d.segments(op, 2)?.swap_remove(0);
    let function = d.function();
    let is_variadic =
        function.info().interface::<dyn FunctionLike>().is_some_and(|own| own.is_variadic(function));
    if is_variadic && is_must_tail(op) {
        return Err(Fault::unsupported("a call that passes variable arguments on"));
    }
    decode_callee(op, d, &operands)
}

/// Decodes the call of a function with its arguments.
fn decode_callee(op: OpRef<'_>, d: &mut Decoder<'_>, operands: &[Value]) -> Decoded {
    let results = d.slots(op.results());
    if let Some(symbol) = op.attr("callee") {
        let arguments = d.slots(operands.iter().copied());
        let call = call(d.callee(symbol)?, arguments.clone(), results)?;
        return promises::kept(op, d, &arguments, promises::in_words(op, d, call)?);
    }
    let (callee, values) = operands.split_first().ok_or_else(|| malformed("a callee"))?;
    let arguments = d.slots(values.iter().copied());
    let variadic = op.attr("var_callee_type").and_then(|ty| ty.as_type(d.ctx()));
    let known = match variadic.and_then(|ty| LlvmType::of(d.ctx(), ty)) {
        Some(LlvmType::Function { params, .. }) => params.len(),
        _ => values.len(),
    };
    let types = values.iter().take(known).map(|value| op.type_of(*value)).collect();
    let signature = Signature::new(d.ctx(), types, op.results().map(|value| op.type_of(value)).collect());
    let call = call_through(d.slot(*callee), arguments.clone(), signature)?;
    promises::kept(op, d, &arguments, promises::in_words(op, d, call)?)
}

/// A call that goes on at the start of a block when the function returns.
struct CallAndBranch {
    call: Action,
    entry: Entry,
    passed: Box<[Slot]>,
}

impl Execute for CallAndBranch {
    fn execute(&self, m: &mut Machine) -> Step {
        match self.call.execute(m)? {
            Flow::Next => m.enter(&self.entry, &self.passed),
            flow => Ok(flow),
        }
    }

    fn returned(&self, m: &mut Machine) -> Step {
        self.call.returned(m)?;
        m.enter(&self.entry, &self.passed)
    }
}

/// Decodes a call that may unwind. No function throws here, so control goes to the first block.
fn decode_invoke(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let groups = d.segments(op, 4)?;
    let call = decode_callee(op, d, &groups[0])?;
    let block = op.successors().next().ok_or_else(|| malformed("a successor"))?;
    Ok(Box::new(CallAndBranch { call, entry: d.block(block), passed: d.slots(groups[1].iter().copied()) }))
}

/// Decodes a call of an intrinsic without an operation of its own. Known are intrinsics that only
/// state facts and do nothing.
fn decode_call_intrinsic(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let name = op.attr("intrin").and_then(|name| name.as_str(d.ctx())).unwrap_or_default();
    let is = |own: &str| name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    // There is one thread.
    if is("llvm.threadlocal.address") {
        let (operand, result) = (d.operand(op, 0)?, d.result(op, 0)?);
        return Ok(action(move |m| {
            let address = m.get(operand).clone();
            m.done(result, address)
        }));
    }
    // The promise of unchanged memory is not checked.
    if is("llvm.invariant.start") {
        let result = d.result(op, 0)?;
        return Ok(action(move |m| m.done(result, Pointer::NULL.into())));
    }
    if is("llvm.load.relative") {
        return decode_load_relative(op, d);
    }
    if is("llvm.va_start") {
        let (list, scope) = (d.operand(op, 0)?, d.function_scope());
        return Ok(action(move |m| {
            let list = m.pointer(list, "a list of arguments")?;
            start_list(m, list, scope)?;
            Ok(Flow::Next)
        }));
    }
    if is("llvm.va_copy") {
        let (to, from) = (d.operand(op, 0)?, d.operand(op, 1)?);
        return Ok(action(move |m| {
            let (to, from) = (m.pointer(to, "a list of arguments")?, m.pointer(from, "a list of arguments")?);
            m.memory.copy(to, from, LIST_SIZE)?;
            Ok(Flow::Next)
        }));
    }
    if [
        "llvm.va_end",
        "llvm.invariant.end",
        "llvm.experimental.noalias.scope.decl",
        "llvm.donothing",
        "llvm.sideeffect",
    ]
    .into_iter()
    .any(is)
    {
        return Ok(action(|_| Ok(Flow::Next)));
    }
    Err(Fault::unsupported(format!("the intrinsic '{name}'")))
}

/// Decodes `load.relative`: the address of a table plus the distance stored in it at some offset.
fn decode_load_relative(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (table, offset, result) = (d.operand(op, 0)?, d.operand(op, 1)?, d.result(op, 0)?);
    let (width, loc) = (bit_width(d.ctx(), op.operand_type(1))?, op.loc());
    Ok(action(move |m| {
        let table = m.pointer(table, "the address of a table")?;
        let offset = integer::signed(width, m.index(offset, "an offset into a table")? as u128) as i64;
        let distance = m.memory.load(table.offset(offset), &HALF, loc)?;
        let distance = match distance {
            Datum::Bits(bits) => i64::from(bits as i32),
            other => return Err(unusable(&other, "an entry of a table")),
        };
        m.done(result, m.memory.pointer_at(table.address.wrapping_add_signed(distance)).into())
    }))
}

/// Four bytes of a number.
const HALF: Repr = Repr::Scalar { bits: 32, bytes: 4 };
/// Bytes of a list of variable arguments, as x86-64 has it.
const LIST_SIZE: u64 = 24;

/// Starts a list of variable arguments. Its registers count as used up, so that all arguments are
/// in memory.
fn start_list(m: &mut Machine, list: Pointer, scope: u32) -> Result<(), Box<Fault>> {
    let start = m.extra_arguments(scope)?;
    m.memory.store(list, &HALF, &Datum::Bits(48))?;
    m.memory.store(list.offset(4), &HALF, &Datum::Bits(176))?;
    m.memory.store(list.offset(8), &Repr::POINTER, &start.into())?;
    m.memory.store(list.offset(16), &Repr::POINTER, &Pointer::NULL.into())
}

fn decode_constant(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let result = d.result(op, 0)?;
    let value = op.attr("value").ok_or_else(|| malformed("a value"))?;
    let datum = match value.as_flat_symbol(d.ctx()) {
        Some(_) => d.address_of(value)?.into(),
        None => constant(d.ctx(), value, op.result_type(0))?,
    };
    Ok(action(move |m| m.done(result, datum.clone())))
}

fn decode_zero(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let result = d.result(op, 0)?;
    let datum = zero(&value_repr(d.ctx(), op.result_type(0))?);
    Ok(action(move |m| m.done(result, datum.clone())))
}

fn decode_address(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let result = d.result(op, 0)?;
    let pointer = d.address_of(op.attr("global_name").ok_or_else(|| malformed("a name"))?)?;
    Ok(action(move |m| m.done(result, pointer.into())))
}

fn decode_freeze(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let (operand, result) = (d.operand(op, 0)?, d.result(op, 0)?);
    let repr = value_repr(d.ctx(), op.operand_type(0))?;
    Ok(action(move |m| {
        let datum = freeze(m.get(operand), &repr);
        m.done(result, datum)
    }))
}

/// Returns the datum with zero in place of poison. Recursion is bounded by the nesting of the type.
fn freeze(datum: &Datum, repr: &Repr) -> Datum {
    match (datum, repr) {
        (Datum::Poison(_), _) => zero(repr),
        (Datum::Aggregate(parts), Repr::Sequence { element, .. }) => {
            Datum::aggregate(parts.iter().map(|part| freeze(part, element)).collect())
        }
        (Datum::Aggregate(parts), Repr::Packed { bits, .. }) => {
            let zero =
                |part: &Datum| if let Datum::Poison(_) = part { Datum::bits(*bits, 0) } else { part.clone() };
            Datum::aggregate(parts.iter().map(zero).collect())
        }
        (Datum::Aggregate(parts), Repr::Struct(fields)) => {
            Datum::aggregate(parts.iter().zip(fields).map(|(part, (_, repr))| freeze(part, repr)).collect())
        }
        _ => datum.clone(),
    }
}

/// `llvm.mlir.global`.
struct Global;

impl DefineGlobal for Global {
    fn define(&self, op: OpRef<'_>, target: &DataLayout) -> Result<GlobalDefinition, Box<Fault>> {
        let ctx = op.ctx();
        let ty = op.attr("global_type").and_then(|a| a.as_type(ctx)).ok_or_else(|| malformed("a type"))?;
        let layout = Layout::of(ctx, ty, target)?;
        let region = op.regions().next().filter(|r| op.body().entry_block(*r).is_some());
        let contents = match (op.attr("value"), region) {
            (_, Some(region)) => Contents::Region(region, ty),
            (Some(value), None) => Contents::Bytes(initial_bytes(op, value, &layout)?),
            (None, None) => return Err(Fault::unsupported("a global that is defined elsewhere")),
        };
        let align = op.attr("alignment").and_then(|a| a.as_int(ctx)).and_then(|a| u64::try_from(a).ok());
        Ok(GlobalDefinition {
            size: layout.size,
            align: align.unwrap_or(1).max(layout.align),
            constant: op.attr("constant").is_some(),
            contents,
        })
    }
}

/// `llvm.mlir.alias`.
struct Alias;

impl DefineGlobal for Alias {
    fn define(&self, op: OpRef<'_>, _: &DataLayout) -> Result<GlobalDefinition, Box<Fault>> {
        let region = op.regions().next().filter(|region| op.body().entry_block(*region).is_some());
        let contents = Contents::Address(region.ok_or_else(|| malformed("an address"))?);
        Ok(GlobalDefinition { size: 0, align: 1, constant: false, contents })
    }
}

fn initial_bytes(op: OpRef<'_>, value: Attr, layout: &Layout) -> Result<Vec<u8>, Box<Fault>> {
    let ctx = op.ctx();
    let ty = op.attr("global_type").and_then(|a| a.as_type(ctx)).ok_or_else(|| malformed("a type"))?;
    let datum = constant(ctx, value, ty)?;
    element_bytes(&[datum], layout)
}
