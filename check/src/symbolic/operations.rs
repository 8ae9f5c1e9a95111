//! Operations without effects.
//!
//! Integers of at most 64 bits have normal forms. Any other operation is a term with its name, its
//! properties and its operands: equal where all of these are.

use loomir_dialects::interfaces::MemoryEffects;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{AffineExpr, AffineExprKind, AttrKind, OpRef, Trait, Type, Value};

use super::machine::{Binding, Machine};
use super::memory::Scalar;
use super::store::{Arithmetic, Binary, FALSE, Family, Node, Run, TermId, refused};
use crate::proof::{flag_bits, is_computation};

/// The bit of `fastmath` for operations in any order.
const REASSOCIATES: u64 = 1;
/// The bits of `fastmath` for operands that are neither NaN nor infinite.
const FINITE: u64 = 2 | 4;
/// The bits of `overflowFlags`: does not wrap as signed, as unsigned.
const FLAGS: [(u64, bool); 2] = [(1, false), (2, true)];

impl<'b> Machine<'b, '_> {
    pub(super) fn computation(&mut self, op: OpRef<'b>) -> Run<()> {
        let ctx = op.ctx();
        if !is_computation(op) || op.attr("llvm.metadata").is_some() {
            return refused(format!("'{}' is not executed with open values", op.name()));
        }
        if op.num_results() == 1
            && let Some(attr) = constant_of(op.body(), op.result(0))
        {
            let ty = op.result_type(0);
            let term = match (attr.as_int(ctx), self.width(ty)) {
                (Some(value), Some(width)) => self.store.int(width, value)?,
                _ => self.store.term(Node::Constant { attr, ty })?,
            };
            self.bind(op.result(0), Binding::Scalar(Scalar::plain(term)));
            return Ok(());
        }
        match op.name() {
            "arith.select" => {
                let condition = self.scalar(op.operand(0))?;
                let [yes, no] = [1, 2].map(|index| self.binding(op.operand(index)).clone());
                if matches!(yes, Binding::View(_)) && condition.poison != FALSE {
                    return refused("the choice of a buffer may be poison");
                }
                let mut chosen = self.chosen(condition.term, yes, no)?;
                if let Binding::Scalar(chosen) = &mut chosen {
                    chosen.poison = self.store.or(condition.poison, chosen.poison)?;
                }
                self.bind(op.result(0), chosen);
                return Ok(());
            }
            "affine.apply" | "affine.min" | "affine.max" => return self.affine(op),
            "llvm.freeze" => return self.freeze(op),
            "llvm.mlir.undef" | "llvm.mlir.poison" | "ub.poison" => {
                return refused("a value that is undefined is not executed");
            }
            _ => {}
        }
        let operands: Vec<Scalar> = op.operands().map(|operand| self.scalar(operand)).collect::<Run<_>>()?;
        let mut poison = FALSE;
        for operand in &operands {
            poison = self.store.or(operand.poison, poison)?;
        }
        let terms: Vec<TermId> = operands.iter().map(|operand| operand.term).collect();
        if op.num_results() == 1
            && op.num_operands() > 0
            && let Some(width) = self.width(op.operand_type(0))
            && let Some((term, own)) = self.integer(op, width, &terms, &operands)?
        {
            let poison = self.store.or(own, poison)?;
            self.bind(op.result(0), Binding::Scalar(Scalar { term, poison }));
            return Ok(());
        }
        self.other(op, terms, poison)
    }

    /// Executes `freeze`: poison becomes some value. The second program has to do with any.
    fn freeze(&mut self, op: OpRef<'b>) -> Run<()> {
        let Scalar { term, poison } = self.scalar(op.operand(0))?;
        if poison != FALSE && (self.is_original || op.result_type(0) == Type::I1) {
            return refused("a value that may be poison is frozen");
        }
        self.allocations += 1;
        let any = self.store.term(Node::Frozen(self.allocations))?;
        let term = self.store.ite(poison, any, term)?;
        self.bind(op.result(0), Binding::Scalar(Scalar::plain(term)));
        Ok(())
    }

    /// Executes an operation as a term of its name.
    fn other(&mut self, op: OpRef<'b>, mut operands: Vec<TermId>, poison: TermId) -> Run<()> {
        let may_be_undefined =
            op.info().interface::<dyn MemoryEffects>().is_some_and(|model| model.may_be_undefined(op));
        if may_be_undefined || op.name().ends_with("freeze") {
            return refused(format!("'{}' is not executed with open values", op.name()));
        }
        if operands.len() == 2 && op.info().has_trait(Trait::Commutative) {
            operands.sort_unstable();
        }
        if let Some(term) = self.float(op, &operands)? {
            self.bind(op.result(0), Binding::Scalar(Scalar { term, poison }));
            return Ok(());
        }
        let name = op.body().op_name(op.op());
        // Elements of a vector are poison one by one, which one condition does not tell.
        let is_vector = |ty: Type| ty.shape(op.ctx()).is_some();
        let makes_poison = may_be_poison(op);
        let mut values = op.operands().chain(op.results());
        if (makes_poison || poison != FALSE) && values.any(|value| is_vector(op.type_of(value))) {
            return refused("elements of a vector may be poison");
        }
        for (index, result) in op.results().enumerate() {
            let ty = op.type_of(result);
            let (properties, operands) = (op.properties(), operands.clone().into());
            let node = Node::Operation { name, properties, result: index, ty, operands };
            let leaf = self.store.term(node)?;
            let mut poison = poison;
            if makes_poison {
                let own = self.store.truth(Node::Poison(leaf))?;
                poison = self.store.or(own, poison)?;
            }
            let term = if ty == Type::I1 { self.store.truth_of(leaf)? } else { leaf };
            self.bind(result, Binding::Scalar(Scalar { term, poison }));
        }
        Ok(())
    }

    /// Executes an operation on floats whose order does not matter.
    fn float(&mut self, op: OpRef<'b>, operands: &[TermId]) -> Run<Option<TermId>> {
        let ([a, b], true) = (operands, op.num_results() == 1 && op.result_type(0).is_float(op.ctx())) else {
            return Ok(None);
        };
        let flags = flag_bits(op, "fastmath");
        let is_loose = flags & REASSOCIATES != 0 && flags & FINITE == 0;
        self.store.has_loose_floats |= is_loose;
        let is_loose = is_loose && self.store.reassociates;
        let (family, other) = match op.name() {
            "arith.maximumf" if flags == 0 => (Family::MaxF, *b),
            "arith.minimumf" if flags == 0 => (Family::MinF, *b),
            "arith.addf" if is_loose => (Family::SumF(flags), *b),
            "arith.mulf" if is_loose => (Family::MulF(flags), *b),
            "arith.subf" if is_loose => {
                let node = Node::Combined { family: Family::NegF, width: 0, operands: [*b].into() };
                (Family::SumF(flags), self.store.term(node)?)
            }
            _ => return Ok(None),
        };
        Ok(Some(self.store.floats(family, [*a, other])?))
    }

    /// Executes an operation on integers; returns its result and when that is poison.
    fn integer(
        &mut self,
        op: OpRef<'b>,
        width: u32,
        terms: &[TermId],
        operands: &[Scalar],
    ) -> Run<Option<(TermId, TermId)>> {
        let Some(("arith", name)) = op.name().split_once('.') else { return Ok(None) };
        if let [term] = *terms {
            return self.cast(op, name, width, term);
        }
        let [a, b] = *terms else { return Ok(None) };
        let arithmetic = match name {
            "addi" => Some(Arithmetic::Add),
            "subi" => Some(Arithmetic::Sub),
            "muli" => Some(Arithmetic::Mul),
            _ => None,
        };
        if width == 1 {
            return self.truths(op, name, [a, b]);
        }
        if let Some(code) = arithmetic {
            let term = self.store.arithmetic(code, width, [a, b])?;
            let mut poison = FALSE;
            for (bit, unsigned) in FLAGS {
                if flag_bits(op, "overflowFlags") & bit != 0 {
                    let wraps = self.store.wraps(code, unsigned, width, [a, b])?;
                    poison = self.store.or(wraps, poison)?;
                }
            }
            return Ok(Some((term, poison)));
        }
        if let Some(family) = integer_family(name) {
            // A flag such as `disjoint` is kept with the other operations.
            return match may_be_poison(op) {
                true => Ok(None),
                false => Ok(Some((self.store.combined(family, width, [a, b])?, FALSE))),
            };
        }
        if name == "cmpi" {
            return Ok(Some((self.comparison(op, width, [a, b])?, FALSE)));
        }
        let code = match name {
            "floordivsi" => Binary::FloorDiv,
            "ceildivsi" => Binary::CeilDiv,
            "divsi" => Binary::DivS,
            "divui" => Binary::DivU,
            "remsi" => Binary::RemS,
            "remui" => Binary::RemU,
            "shli" => Binary::Shl,
            "shrsi" => Binary::ShrS,
            "shrui" => Binary::ShrU,
            _ => return Ok(None),
        };
        let has_flags = flag_bits(op, "overflowFlags") != 0 || op.attr("isExact").is_some();
        if has_flags {
            return refused("a flag of a division or shift is not executed with open values");
        }
        let poison = match code {
            Binary::Shl | Binary::ShrS | Binary::ShrU => {
                let size = self.store.int(width, i64::from(width))?;
                let fits = self.store.less(true, width, [b, size])?;
                self.store.not(fits)?
            }
            _ => {
                self.undefined_if(operands[1].poison, "the divisor may be poison")?;
                self.divides(code, width, [a, b], operands[0].poison)?;
                FALSE
            }
        };
        Ok(Some((self.store.binary(code, width, [a, b])?, poison)))
    }

    /// Records when a division is undefined. A poisoned dividend may be the least number.
    fn divides(&mut self, code: Binary, width: u32, [a, b]: [TermId; 2], poison: TermId) -> Run<()> {
        let zero = self.store.int(width, 0)?;
        let is_zero = self.store.equal(width, [b, zero])?;
        self.undefined_if(is_zero, "it may divide by zero")?;
        if !matches!(code, Binary::DivU | Binary::RemU) {
            let (least, minus) =
                (self.store.int(width, i64::MIN >> (64 - width))?, self.store.int(width, -1)?);
            let is_minus = self.store.equal(width, [b, minus])?;
            if is_minus != FALSE {
                let is_least = self.store.equal(width, [a, least])?;
                let may_be_least = self.store.or(is_least, poison)?;
                let overflows = self.store.and(is_minus, may_be_least)?;
                self.undefined_if(overflows, "a division may overflow")?;
            }
        }
        Ok(())
    }

    /// Executes an operation on truth values.
    fn truths(&mut self, op: OpRef<'b>, name: &str, [a, b]: [TermId; 2]) -> Run<Option<(TermId, TermId)>> {
        if may_be_poison(op) {
            return Ok(None);
        }
        let term = match name {
            "andi" | "muli" | "minui" | "maxsi" => self.store.and(a, b)?,
            "ori" | "maxui" | "minsi" => self.store.or(a, b)?,
            "xori" | "addi" | "subi" => {
                let other = self.store.not(b)?;
                self.store.ite(a, other, b)?
            }
            "cmpi" => self.comparison(op, 1, [a, b])?,
            _ => return Ok(None),
        };
        Ok(Some((term, FALSE)))
    }

    fn comparison(&mut self, op: OpRef<'b>, width: u32, [a, b]: [TermId; 2]) -> Run<TermId> {
        let predicate = op.attr("predicate").and_then(|attr| match attr.kind(op.ctx()) {
            AttrKind::Enum { value, .. } => i64::try_from(*value).ok(),
            _ => attr.as_int(op.ctx()),
        });
        let (is_negated, term) = match predicate {
            Some(0) => (false, self.store.equal(width, [a, b])?),
            Some(1) => (true, self.store.equal(width, [a, b])?),
            Some(own @ (2 | 6)) => (false, self.store.less(own == 6, width, [a, b])?),
            Some(own @ (3 | 7)) => (true, self.store.less(own == 7, width, [b, a])?),
            Some(own @ (4 | 8)) => (false, self.store.less(own == 8, width, [b, a])?),
            Some(own @ (5 | 9)) => (true, self.store.less(own == 9, width, [a, b])?),
            _ => return refused("a comparison is not known"),
        };
        if is_negated { self.store.not(term) } else { Ok(term) }
    }

    /// Executes a cast between integers.
    fn cast(&mut self, op: OpRef<'b>, name: &str, width: u32, term: TermId) -> Run<Option<(TermId, TermId)>> {
        let Some(to) = self.width(op.result_type(0)).filter(|_| !may_be_poison(op)) else { return Ok(None) };
        let is_unsigned = match name {
            "extsi" | "trunci" | "index_cast" => false,
            "extui" | "index_castui" => true,
            _ => return Ok(None),
        };
        if to == width {
            return Ok(Some((term, FALSE)));
        }
        let Some(value) = self.store.constant(term) else { return Ok(None) };
        let value = match (is_unsigned, width) {
            (true, 1..64) => value & ((1 << width) - 1),
            (false, 1) => -value,
            _ => value,
        };
        Ok(Some((self.store.int(to, value)?, FALSE)))
    }

    fn affine(&mut self, op: OpRef<'b>) -> Run<()> {
        let Some(map) = op.attr("map").and_then(|attr| attr.as_affine_map(op.ctx())) else {
            return refused("an affine map is not known");
        };
        let data = map.data(op.ctx());
        let operands: Vec<Value> = op.operands().collect();
        let (results, poison) = self.applied(&data.results, data.dims as usize, &operands)?;
        let family = if op.name() == "affine.max" { Family::MaxS } else { Family::MinS };
        let Some((first, rest)) = results.split_first() else {
            return refused("an affine map has no result");
        };
        let mut term = *first;
        for other in rest {
            term = self.store.combined(family, 64, [term, *other])?;
        }
        self.bind(op.result(0), Binding::Scalar(Scalar { term, poison }));
        Ok(())
    }

    /// Evaluates affine expressions over operands, dimensions first; returns when one is poison.
    pub(super) fn applied(
        &mut self,
        exprs: &[AffineExpr],
        dims: usize,
        operands: &[Value],
    ) -> Run<(Vec<TermId>, TermId)> {
        let mut poison = FALSE;
        let mut terms = Vec::with_capacity(operands.len());
        for operand in operands {
            let own = self.scalar(*operand)?;
            poison = self.store.or(own.poison, poison)?;
            terms.push(own.term);
        }
        let mut results = Vec::with_capacity(exprs.len());
        for expr in exprs {
            let mut kinds = Vec::new();
            expr.visit(self.body.ctx(), &mut |kind| kinds.push(kind));
            let mut stack: Vec<TermId> = Vec::new();
            for kind in kinds {
                let operand = |index: usize| terms.get(index).copied();
                let term = match kind {
                    AffineExprKind::Constant(value) => Some(self.store.int(64, value)?),
                    AffineExprKind::Dim(index) => operand(index as usize),
                    AffineExprKind::Symbol(index) => operand(dims + index as usize),
                    _ => match (stack.pop(), stack.pop()) {
                        (Some(b), Some(a)) => Some(self.affine_binary(kind, [a, b])?),
                        _ => None,
                    },
                };
                let Some(term) = term else { return refused("an affine expression is malformed") };
                stack.push(term);
            }
            results.extend(stack.pop());
        }
        Ok((results, poison))
    }

    fn affine_binary(&mut self, kind: AffineExprKind, [a, b]: [TermId; 2]) -> Run<TermId> {
        let code = match kind {
            AffineExprKind::Add(..) => return self.store.arithmetic(Arithmetic::Add, 64, [a, b]),
            AffineExprKind::Mul(..) => return self.store.arithmetic(Arithmetic::Mul, 64, [a, b]),
            AffineExprKind::CeilDiv(..) => Binary::CeilDiv,
            _ => Binary::FloorDiv,
        };
        if self.store.constant(b).is_none_or(|divisor| divisor <= 0) {
            return refused("an affine expression divides by what is no positive constant");
        }
        let quotient = self.store.binary(code, 64, [a, b])?;
        if !matches!(kind, AffineExprKind::Mod(..)) {
            return Ok(quotient);
        }
        let product = self.store.arithmetic(Arithmetic::Mul, 64, [quotient, b])?;
        self.store.arithmetic(Arithmetic::Sub, 64, [a, product])
    }
}

/// True if an operation may yield poison for operands that are none.
fn may_be_poison(op: OpRef<'_>) -> bool {
    flag_bits(op, "overflowFlags") != 0
        || flag_bits(op, "fastmathFlags") != 0
        || flag_bits(op, "fastmath") & FINITE != 0
        || ["isExact", "nonNeg", "isDisjoint"].iter().any(|name| op.attr(name).is_some())
        || !matches!(op.name().split_once('.'), Some(("arith" | "math", _)))
        || matches!(op.name(), "arith.fptosi" | "arith.fptoui")
        || op.name().starts_with("arith.sh")
        || matches!(op.name(), "math.ctlz" | "math.cttz" | "math.absi")
}

/// Returns the family of an operation of `arith` whose operands may be combined in any order.
fn integer_family(name: &str) -> Option<Family> {
    match name {
        "maxsi" => Some(Family::MaxS),
        "minsi" => Some(Family::MinS),
        "maxui" => Some(Family::MaxU),
        "minui" => Some(Family::MinU),
        "andi" => Some(Family::And),
        "ori" => Some(Family::Or),
        "xori" => Some(Family::Xor),
        _ => None,
    }
}
