//! Addresses: an object, and a byte offset from the start of its name.
//!
//! An address computation that may not wrap adds its bytes in ℤ. For one that may wrap, ranges must
//! prove that it does not, in the width that the data layout gives address arithmetic. The same
//! holds for a sum of several in a row. Two objects are distinct only if
//! [`Bases`](loomir_transforms::access::base::Bases) says so, as on the tree.
//!
//! **Assumptions.**
//! - No object covers half of all addresses, and an access is less than that away from the address
//!   that names its object.
//! - A cast between address spaces of equal arithmetic width keeps offsets, as LLVM's alias
//!   analysis assumes. Across others no offset is known.
//! - A call makes a new object if the call has `noalias` on its result. So does a call that names a
//!   function of the C library, if nothing says that the name may mean something else
//!   ([`calls::makes_object`]).
//!
//! Tried with `accesses/layouts.mlir` and `fusion_traps/layouts.ll`.

use loomir_dialects::llvm;
use loomir_dialects::llvm::memory::address::{NUSW, NUW, byte_offsets, no_wrap_flags};
use loomir_dialects::llvm::types::LlvmType;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::symbols::{Symbol, SymbolTable};
use loomir_ir::{Context, Name, Op, Value, ValueDef};
use loomir_transforms::access::base::Base;

use super::numbers::{Numbers, fits};
use super::polynomial::Polynomial;
use crate::cfg::calls;
use crate::cfg::scev::expr::Expr;
use loomir_dialects::ranges::{Range, product, sum};

/// Longest chain of address computations.
const MAX_CHAIN: usize = 64;

/// An address.
pub(super) struct Address {
    pub(super) base: Base,
    /// The value that the offset is relative to, if that is not the object itself.
    pub(super) origin: Option<Value>,
    /// The byte offset, if known.
    pub(super) offset: Option<Polynomial>,
}

impl Numbers<'_, '_> {
    /// Returns an address that is used in a loop, or outside of all loops. The address of an alias
    /// or an unknown symbol stays unknown, because it may be another name for a variable or
    /// function.
    pub(super) fn address(&mut self, pointer: Value, site: Option<LoopId>, symbols: &SymbolTable) -> Address {
        let function = self.scev.function();
        let mut at = pointer;
        let mut offset = Some(Polynomial::default());
        // The least and the most bytes added since the last computation that is in bounds.
        let mut reach = (0, 0);
        for _ in 0..MAX_CHAIN {
            let op = match function.def(at) {
                ValueDef::OpResult { op, .. } => op,
                ValueDef::BlockArgument { .. } => {
                    if let Some(only) = self.scev.only_incoming(at) {
                        at = only;
                        continue;
                    }
                    let Some((start, moved)) = self.moved(at, site) else { break };
                    offset = offset.and_then(|offset| offset.plus(&moved?, 1));
                    at = start;
                    continue;
                }
            };
            if let Some(part) = self.scev.extracted(op) {
                at = part;
                continue;
            }
            if function.is(op, llvm::GEPOp::DEF) {
                let added = self.added(op, site, &mut reach);
                offset = offset.and_then(|offset| offset.plus(&added?, 1));
            } else if function.is(op, llvm::AddrSpaceCastOp::DEF) {
                let widths = [function.result(op, 0), function.operand(op, 0)].map(|of| self.index_bits(of));
                offset = offset.filter(|_| widths[0] == widths[1]);
            } else if !function.is(op, llvm::BitcastOp::DEF) {
                break;
            }
            at = function.operand(op, 0);
        }
        let base = self.base(at, symbols);
        let origin = (!matches!(base, Base::Global(_))).then_some(at);
        Address { base, origin, offset }
    }

    /// Returns the width of address arithmetic on a pointer.
    fn index_bits(&self, pointer: Value) -> Option<u32> {
        let function = self.scev.function();
        let LlvmType::Pointer { space } = LlvmType::of(function.ctx(), function.value_type(pointer))? else {
            return None;
        };
        Some(self.scev.data_layout().pointer(space).index_bits).filter(|bits| *bits <= 64)
    }

    /// Returns the bytes that an address computation adds, if they are a number over ℤ. `reach`
    /// holds the least and the most bytes that computations behind it add.
    fn added(&mut self, op: Op, site: Option<LoopId>, reach: &mut (i128, i128)) -> Option<Polynomial> {
        let function = self.scev.function();
        let width = self.index_bits(function.result(op, 0))?;
        let (fixed, indices) = byte_offsets(function.op_ref(op), self.scev.data_layout()).ok()?;
        let flags = no_wrap_flags(self.scev.function().op_ref(op));
        let mut bytes = Polynomial::constant(fixed);
        let mut ranges = vec![Range::exactly(64, fixed as u64 as u128)];
        let mut is_natural = fixed >= 0;
        for (index, scale) in indices {
            if self.scev.expr_type(index)?.width() > width {
                return None;
            }
            bytes = bytes.plus(&self.of(index, site), scale)?;
            let range = self.range(index, site);
            is_natural &= range.signed.0 >= 0 && scale >= 0;
            let signed = product(&[range, Range::exactly(64, scale as u64 as u128)]).1?;
            ranges.push(Range { signed, ..range });
        }
        if flags & NUSW != 0 || (flags & NUW != 0 && is_natural) {
            // For `inbounds`, both ends are in one object. Otherwise the address itself does not
            // wrap.
            *reach = (0, 0);
            return Some(bytes);
        }
        let exact = sum(&ranges).1.filter(|exact| fits(*exact, width))?;
        *reach = (reach.0 + exact.0, reach.1 + exact.1);
        fits(*reach, width).then_some(bytes)
    }

    /// Returns the initial value of an argument of a surrounding header, and its offset so far.
    fn moved(&mut self, argument: Value, site: Option<LoopId>) -> Option<(Value, Option<Polynomial>)> {
        let header = self.scev.header_argument(argument)?;
        let id = self.scev.expr(argument);
        let Expr::AddRec(of, operands) = self.scev.get(id).clone() else { return None };
        let loops = self.scev.analysis().loops();
        let is_around = site.is_some_and(|site| loops.contains(of, loops.get(site).header()));
        let [_, step] = *operands else { return None };
        if of != header.of || !is_around {
            return None;
        }
        let function = self.scev.function();
        let next = function.defining_op(header.next)?;
        let is_step = function.is(next, llvm::GEPOp::DEF) && function.operand(next, 0) == argument;
        let flags = self.scev.flags(id);
        let is_kept = (is_step && no_wrap_flags(self.scev.function().op_ref(next)) & NUSW != 0)
            || flags.nuw
            || flags.nsw;
        let moved = self.stepped(Polynomial::default(), step, of, site).filter(|_| is_kept);
        Some((header.start, moved))
    }

    fn base(&self, value: Value, symbols: &SymbolTable) -> Base {
        let function = self.scev.function();
        let ctx = function.ctx();
        let op = match function.def(value) {
            ValueDef::BlockArgument { block, .. } if function.is_entry(block) => {
                return Base::Argument(value);
            }
            ValueDef::BlockArgument { .. } => return Base::Unknown(value),
            ValueDef::OpResult { op, .. } => op,
        };
        if function.is(op, llvm::AllocaOp::DEF) {
            return Base::Allocation(value);
        }
        let name = |attr: &str| function.attr(op, attr).and_then(|name| name.as_flat_symbol(ctx));
        if function.is(op, llvm::AddressOfOp::DEF) {
            let names_another = |name: &Name| symbols.get(*name).is_some_and(|symbol| is_alias(ctx, symbol));
            return match name("global_name").filter(|name| !names_another(name)) {
                Some(name) => Base::Global(name),
                None => Base::Unknown(value),
            };
        }
        if calls::makes_object(function, op, symbols) {
            Base::Allocation(value)
        } else {
            Base::Unknown(value)
        }
    }

    /// Returns a length in bytes as a polynomial.
    pub(super) fn length(&mut self, length: Value, site: Option<LoopId>) -> Option<Polynomial> {
        // Lengths are unsigned, and no object spans half of the address space.
        self.is_natural(length, site).then(|| self.of(length, site))
    }
}

/// True if a symbol is an alias or an indirect function.
fn is_alias(ctx: &Context, symbol: &Symbol) -> bool {
    [llvm::AliasOp::DEF, llvm::IFuncOp::DEF].into_iter().any(|def| ctx.op_info(symbol.name).is(def))
}
