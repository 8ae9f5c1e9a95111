//! What addresses are: an object, and bytes from the start of what names it.
//!
//! An address computation that may not wrap adds what it says in ℤ; one that may has to be shown not to by ranges. Two objects are apart only where
//! [`Bases`](loomir_transforms::dependence::base::Bases) says so, as on the tree. An access is less than 2⁶³ bytes away from the address that its object is named by: no object is larger.

use loomir_dialects::llvm;
use loomir_dialects::llvm::memory::address::byte_offsets;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::symbols::{Symbol, SymbolTable};
use loomir_ir::{Attr, AttrKind, Context, Name, Op, Value, ValueDef};
use loomir_transforms::dependence::base::Base;

use super::numbers::{Numbers, fits};
use super::polynomial::Polynomial;
use crate::cfg::scev::expr::Expr;
use crate::cfg::scev::range::{Range, product, sum};

/// Longest chain of address computations.
const MAX_CHAIN: usize = 64;

/// Bits of the flags of an address computation: what does not wrap as signed, and as unsigned.
const NUSW: i64 = 2;
const NUW: i64 = 4;

/// Functions of the C library that make objects.
const ALLOCATORS: [&str; 4] = ["malloc", "calloc", "aligned_alloc", "_Znwm"];

/// An address.
pub(super) struct Address {
    pub(super) base: Base,
    /// What the bytes are counted from, if that is not the object itself.
    pub(super) origin: Option<Value>,
    /// How many bytes behind that, if it is known.
    pub(super) offset: Option<Polynomial>,
}

impl Numbers<'_, '_> {
    /// An address that is used in a loop, or outside of all. Of a symbol that is no variable or function of its own nothing is known: it may be another name for one.
    pub(super) fn address(&mut self, pointer: Value, site: Option<LoopId>, symbols: &SymbolTable) -> Address {
        let function = self.scev.function();
        let mut at = pointer;
        let mut offset = Some(Polynomial::default());
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
                let added = self.added(op, site);
                offset = offset.and_then(|offset| offset.plus(&added?, 1));
            } else if !function.is(op, llvm::BitcastOp::DEF) && !function.is(op, llvm::AddrSpaceCastOp::DEF) {
                break;
            }
            at = function.operand(op, 0);
        }
        let base = self.base(at, symbols);
        let origin = (!matches!(base, Base::Global(_))).then_some(at);
        Address { base, origin, offset }
    }

    /// The bytes that an address computation adds, if that is a number over ℤ.
    fn added(&mut self, op: Op, site: Option<LoopId>) -> Option<Polynomial> {
        let function = self.scev.function();
        let (fixed, indices) = byte_offsets(function.op_ref(op)).ok()?;
        let flags = self.gep_flags(op);
        let mut bytes = Polynomial::constant(fixed);
        let mut ranges = vec![Range::exactly(64, fixed as u64 as u128)];
        let mut is_natural = fixed >= 0;
        for (index, scale) in indices {
            if self.scev.expr_type(index)?.width() > 64 {
                return None;
            }
            bytes = bytes.plus(&self.of(index, site), scale)?;
            let range = self.range(index, site);
            is_natural &= range.signed.0 >= 0 && scale >= 0;
            let signed = product(&[range, Range::exactly(64, scale as u64 as u128)]).1?;
            ranges.push(Range { signed, ..range });
        }
        let is_within = sum(&ranges).1.is_some_and(|exact| fits(exact, 64));
        (is_within || flags & NUSW != 0 || (flags & NUW != 0 && is_natural)).then_some(bytes)
    }

    fn gep_flags(&self, op: Op) -> i64 {
        let function = self.scev.function();
        function.attr(op, "noWrapFlags").and_then(|flags| flags.as_int(function.ctx())).unwrap_or(0)
    }

    /// Where the argument of a header around starts, and how far it has come.
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
        let is_kept = (is_step && self.gep_flags(next) & NUSW != 0) || flags.nuw || flags.nsw;
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
        let is_allocator = name("callee").is_some_and(|name| ALLOCATORS.contains(&ctx.str(name)));
        let is_new = || {
            let results = function.attr(op, "res_attrs").and_then(|attrs| attrs.as_array(ctx));
            let first = results.and_then(|attrs| attrs.first().copied());
            first.is_some_and(|attr: Attr| match attr.kind(ctx) {
                AttrKind::Dictionary(dict) => dict.get(ctx, "llvm.noalias").is_some(),
                _ => false,
            })
        };
        if function.is(op, llvm::CallOp::DEF) && (is_allocator || is_new()) {
            return Base::Allocation(value);
        }
        Base::Unknown(value)
    }

    /// The bytes that a length counts, from zero.
    pub(super) fn length(&mut self, length: Value, site: Option<LoopId>) -> Option<Polynomial> {
        // Lengths are unsigned, and no object has half of all addresses.
        self.is_natural(length, site).then(|| self.of(length, site))
    }
}

/// Whether a symbol is another name for something.
fn is_alias(ctx: &Context, symbol: &Symbol) -> bool {
    [llvm::AliasOp::DEF, llvm::IFuncOp::DEF].into_iter().any(|def| ctx.op_info(symbol.name).is(def))
}
