//! Expressions in normal form.
//!
//! Sums and products are flat, with one constant in front, and like terms are one multiple. A
//! number multiplies the terms of a sum, not the sum. Among the recurrences in a sum or product,
//! the one of the innermost loop is outside. Everything available at the entry of its loop belongs
//! to its operands, so values of a nest are `{{a,+,b}<outer>,+,c}<inner>`. All this is true modulo
//! two to the power of the width, so truncations always move inwards. Extensions move inwards if
//! flags or ranges prove that nothing wraps.
//!
//! **Assumptions.**
//! - Every rewriting holds for words that wrap. One that needs more asks flags or ranges first.
//! - Products of recurrences are cut off at a degree, never rounded.
//!
//! Tried with `lowering/tests/scev/random.rs`: every expression of random programs against runs.

use hashbrown::HashMap;
use loomir_dialects::interp::integer::{mask, signed};
use loomir_ir::Value;
use loomir_ir::graph::loops::LoopId;

use super::ScalarEvolution;
use super::expr::{Cast, Expr, ExprId, ExprType, Flags, MinMax};

/// The maximal degree of a product of recurrences.
const MAX_DEGREE: usize = 6;

impl ScalarEvolution<'_> {
    /// Returns a constant of `width` bits.
    pub fn constant(&mut self, width: u32, bits: u128) -> ExprId {
        self.pool.constant(width, bits)
    }

    /// Returns the expression of an unknown value.
    pub(super) fn unknown(&mut self, value: Value, ty: ExprType) -> ExprId {
        self.pool.intern(Expr::Unknown(value), ty)
    }

    /// Returns the bits of a constant.
    pub fn as_constant(&self, id: ExprId) -> Option<u128> {
        if let Expr::Constant(_, bits) = self.pool.get(id) { Some(*bits) } else { None }
    }

    /// Returns the width of an expression.
    pub fn width(&self, id: ExprId) -> u32 {
        self.pool.ty(id).width()
    }

    fn is_constant(&self, id: ExprId, bits: u128) -> bool {
        self.as_constant(id) == Some(bits)
    }

    /// Returns the sum.
    pub fn add(&mut self, operands: &[ExprId]) -> ExprId {
        let is_pointer = |id: &ExprId| self.pool.ty(*id).is_pointer();
        let width = self.width(operands[0]);
        let ty =
            if operands.iter().any(is_pointer) { ExprType::Pointer(width) } else { ExprType::Integer(width) };
        let mut constant = 0u128;
        let mut terms: Vec<(ExprId, u128)> = Vec::new();
        let mut places: HashMap<ExprId, usize> = HashMap::new();
        let mut pending: Vec<ExprId> = operands.iter().rev().copied().collect();
        while let Some(operand) = pending.pop() {
            let (term, coefficient) = match self.pool.get(operand) {
                Expr::Constant(_, bits) => {
                    constant = constant.wrapping_add(*bits);
                    continue;
                }
                Expr::Add(operands) => {
                    pending.extend(operands.iter().rev());
                    continue;
                }
                Expr::Mul(_) => self.split_coefficient(operand),
                _ => (operand, 1),
            };
            let place = *places.entry(term).or_insert(terms.len());
            match terms.get_mut(place) {
                Some((_, sum)) => *sum = sum.wrapping_add(coefficient),
                None => terms.push((term, coefficient)),
            }
        }
        terms.retain(|(_, coefficient)| coefficient & mask(width) != 0);
        let mut all: Vec<ExprId> = Vec::with_capacity(terms.len() + 1);
        if constant & mask(width) != 0 {
            all.push(self.constant(width, constant));
        }
        for (term, coefficient) in terms {
            let coefficient = self.constant(width, coefficient);
            all.push(self.mul(&[coefficient, term]));
        }
        if let Some(of) = self.innermost_recurrence(&all) {
            return self.add_recurrences(of, all, ty);
        }
        self.flat(all, 0, width, ty, Expr::Add)
    }

    /// Returns a product without its constant factor, and that factor.
    fn split_coefficient(&mut self, product: ExprId) -> (ExprId, u128) {
        let Expr::Mul(factors) = self.pool.get(product) else { return (product, 1) };
        let Some(coefficient) = self.as_constant(factors[0]) else { return (product, 1) };
        let rest = factors[1..].to_vec();
        let ty = self.pool.ty(product);
        let width = ty.width();
        (self.flat(rest, 1, width, ty, Expr::Mul), coefficient)
    }

    /// Interns the operands of a commutative expression. Returns `neutral` without operands, the
    /// operand if there is one.
    fn flat(
        &mut self,
        mut operands: Vec<ExprId>,
        neutral: u128,
        width: u32,
        ty: ExprType,
        make: impl Fn(Box<[ExprId]>) -> Expr,
    ) -> ExprId {
        match operands[..] {
            [] => self.constant(width, neutral),
            [one] => one,
            _ => {
                operands.sort_by_cached_key(|id| self.pool.order(*id));
                self.pool.intern(make(operands.into()), ty)
            }
        }
    }

    /// Returns the innermost loop of the recurrences among these operands.
    fn innermost_recurrence(&self, operands: &[ExprId]) -> Option<LoopId> {
        let mut innermost: Option<LoopId> = None;
        for operand in operands {
            if let Expr::AddRec(of, _) = self.pool.get(*operand) {
                let is_later = innermost.is_none_or(|known| self.is_before(known, *of));
                innermost = if is_later { Some(*of) } else { innermost };
            }
        }
        innermost
    }

    /// True if the header of the first loop dominates the header of the second.
    fn is_before(&self, first: LoopId, second: LoopId) -> bool {
        let loops = self.analysis.loops();
        self.analysis.dominators().dominates(loops.get(first).header(), loops.get(second).header())
    }

    fn add_recurrences(&mut self, of: LoopId, terms: Vec<ExprId>, ty: ExprType) -> ExprId {
        let (mut sums, mut rest): (Vec<Vec<ExprId>>, Vec<ExprId>) = (vec![Vec::new()], Vec::new());
        let mut count = 0;
        for term in &terms {
            match self.pool.get(*term) {
                Expr::AddRec(own, operands) if *own == of => {
                    count += 1;
                    sums.resize(sums.len().max(operands.len()), Vec::new());
                    sums.iter_mut().zip(operands).for_each(|(sum, operand)| sum.push(*operand));
                }
                _ if self.is_available(*term, of) => sums[0].push(*term),
                _ => rest.push(*term),
            }
        }
        let width = ty.width();
        if count == 1 && sums[0].len() == 1 {
            return self.flat(terms, 0, width, ty, Expr::Add);
        }
        let operands: Vec<ExprId> = sums.iter().map(|sum| self.add(sum)).collect();
        let sum = self.recurrence(of, &operands);
        if rest.is_empty() {
            return sum;
        }
        rest.push(sum);
        // Without a recurrence the rest may contain like terms.
        if matches!(self.pool.get(sum), Expr::AddRec(..)) {
            self.flat(rest, 0, width, ty, Expr::Add)
        } else {
            self.add(&rest)
        }
    }

    /// Returns `a - b`. For two addresses, this is the number of bytes between them.
    pub fn minus(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let (mut a, mut b) = (a, b);
        if self.pool.ty(b).is_pointer() {
            (a, b) = (self.ptr_to_int(a), self.ptr_to_int(b));
        }
        let negated = self.negate(b);
        self.add(&[a, negated])
    }

    /// `-a`.
    pub fn negate(&mut self, a: ExprId) -> ExprId {
        let minus_one = self.constant(self.width(a), u128::MAX);
        self.mul(&[minus_one, a])
    }

    /// Returns the product.
    pub fn mul(&mut self, operands: &[ExprId]) -> ExprId {
        let ty = self.pool.ty(operands[operands.len() - 1]);
        let width = ty.width();
        let mut constant = 1u128;
        let mut factors = Vec::new();
        for operand in operands {
            match self.pool.get(*operand) {
                Expr::Constant(_, bits) => constant = constant.wrapping_mul(*bits),
                Expr::Mul(inner) => {
                    for factor in inner {
                        match self.as_constant(*factor) {
                            Some(bits) => constant = constant.wrapping_mul(bits),
                            None => factors.push(*factor),
                        }
                    }
                }
                _ => factors.push(*operand),
            }
        }
        constant &= mask(width);
        let number = self.constant(width, constant);
        if constant == 0 || factors.is_empty() {
            return number;
        }
        if let [only] = factors[..] {
            if constant == 1 {
                return only;
            }
            if let Expr::Add(terms) = self.pool.get(only) {
                let terms: Vec<ExprId> = terms.to_vec();
                let terms: Vec<ExprId> = terms.iter().map(|term| self.mul(&[number, *term])).collect();
                return self.add(&terms);
            }
        }
        if constant != 1 {
            factors.push(number);
        }
        if let Some(of) = self.innermost_recurrence(&factors) {
            return self.multiply_recurrences(of, factors, ty);
        }
        self.flat(factors, 1, width, ty, Expr::Mul)
    }

    fn multiply_recurrences(&mut self, of: LoopId, factors: Vec<ExprId>, ty: ExprType) -> ExprId {
        let (mut product, mut scale, mut rest) = (None::<Vec<ExprId>>, Vec::new(), Vec::new());
        for factor in &factors {
            match self.pool.get(*factor) {
                Expr::AddRec(own, operands) if *own == of => {
                    let operands = operands.to_vec();
                    product = match product {
                        None => Some(operands),
                        Some(known) if known.len() + operands.len() <= MAX_DEGREE => {
                            Some(self.product_of(&known, &operands))
                        }
                        known => {
                            rest.push(*factor);
                            known
                        }
                    };
                }
                _ if self.is_available(*factor, of) => scale.push(*factor),
                _ => rest.push(*factor),
            }
        }
        let mut operands = product.unwrap_or_default();
        if !scale.is_empty() {
            for operand in &mut operands {
                scale.push(*operand);
                *operand = self.mul(&scale);
                scale.pop();
            }
        }
        let product = self.recurrence(of, &operands);
        if rest.is_empty() {
            return product;
        }
        rest.push(product);
        if matches!(self.pool.get(product), Expr::AddRec(..)) {
            self.flat(rest, 1, ty.width(), ty, Expr::Mul)
        } else {
            self.mul(&rest)
        }
    }

    /// Returns the operands of the product of two recurrences of one loop:
    /// `C(n,i)·C(n,j) = Σ C(k,i)·C(i,k-j)·C(n,k)` for k from the greater of i and j to i + j.
    fn product_of(&mut self, a: &[ExprId], b: &[ExprId]) -> Vec<ExprId> {
        let width = self.width(a[0]);
        let mut sums: Vec<Vec<ExprId>> = vec![Vec::new(); a.len() + b.len() - 1];
        for (i, x) in a.iter().enumerate() {
            for (j, y) in b.iter().enumerate() {
                for (k, sum) in sums.iter_mut().enumerate().take(i + j + 1).skip(i.max(j)) {
                    let times = self.constant(width, choose(k, i) * choose(i, k - j));
                    sum.push(self.mul(&[times, *x, *y]));
                }
            }
        }
        sums.iter().map(|sum| self.add(sum)).collect()
    }

    /// Returns the recurrence with these operands, which are available at the entry of the loop.
    pub fn recurrence(&mut self, of: LoopId, operands: &[ExprId]) -> ExprId {
        let last = operands.iter().rposition(|operand| !self.is_constant(*operand, 0)).unwrap_or(0);
        if last == 0 {
            return operands[0];
        }
        let ty = self.pool.ty(operands[0]);
        self.pool.intern(Expr::AddRec(of, operands[..=last].into()), ty)
    }

    /// Returns the unsigned quotient.
    pub fn udiv(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let width = self.width(a);
        if let Some(divisor) = self.as_constant(b) {
            if divisor == 1 || self.is_constant(a, 0) {
                return a;
            }
            match self.pool.get(a) {
                Expr::Constant(_, bits) if divisor != 0 => {
                    let quotient = bits / divisor;
                    return self.constant(width, quotient);
                }
                Expr::UDiv(inner, by) => {
                    let (inner, by) = (*inner, *by);
                    if let Some(product) = self.as_constant(by).and_then(|by| by.checked_mul(divisor)) {
                        if product > mask(width) {
                            return self.constant(width, 0);
                        }
                        let by = self.constant(width, product);
                        return self.udiv(inner, by);
                    }
                }
                _ => {}
            }
            if divisor > 1 && self.range(a).unsigned.1 < divisor {
                return self.constant(width, 0);
            }
            if divisor > 1
                && let Some(quotient) = self.exact_quotient(a, divisor)
            {
                return quotient;
            }
        }
        self.pool.intern(Expr::UDiv(a, b), ExprType::Integer(width))
    }

    /// Returns an exact quotient of an expression that does not wrap.
    fn exact_quotient(&mut self, a: ExprId, divisor: u128) -> Option<ExprId> {
        let width = self.width(a);
        match self.pool.get(a).clone() {
            Expr::Constant(_, bits) if bits % divisor == 0 => Some(self.constant(width, bits / divisor)),
            Expr::Mul(factors) if self.flags(a).nuw => {
                let quotient = self.exact_quotient(factors[0], divisor)?;
                Some(self.mul(&[&[quotient], &factors[1..]].concat()))
            }
            Expr::Add(terms) if self.flags(a).nuw => {
                let terms: Option<Vec<ExprId>> =
                    terms.iter().map(|term| self.exact_quotient(*term, divisor)).collect();
                Some(self.add(&terms?))
            }
            Expr::AddRec(of, operands) if operands.len() == 2 && self.flags(a).nuw => {
                let operands: Option<Vec<ExprId>> =
                    operands.iter().map(|operand| self.exact_quotient(*operand, divisor)).collect();
                let operands = operands?;
                let quotient = self.recurrence(of, &operands);
                let flags = Flags { nw: true, nuw: true, nsw: false };
                self.note_recurrence(quotient, of, &operands, flags);
                Some(quotient)
            }
            _ => None,
        }
    }

    /// Returns the unsigned quotient, rounded up. No intermediate result overflows.
    pub(super) fn udiv_ceil(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let width = self.width(a);
        if self.is_constant(b, 1) {
            return a;
        }
        let one = self.constant(width, 1);
        let least = self.min_max(MinMax::UMin, &[one, a]);
        let rest = self.minus(a, least);
        let quotient = self.udiv(rest, b);
        self.add(&[least, quotient])
    }

    /// Returns the minimum or maximum.
    pub fn min_max(&mut self, kind: MinMax, operands: &[ExprId]) -> ExprId {
        let ty = self.pool.ty(operands[0]);
        let width = ty.width();
        let mut all: Vec<ExprId> = Vec::new();
        for operand in operands {
            match self.pool.get(*operand) {
                Expr::MinMax(own, inner) if *own == kind => all.extend_from_slice(inner),
                _ => all.push(*operand),
            }
        }
        let mut seen = HashMap::new();
        all.retain(|operand| seen.insert(*operand, ()).is_none());
        if kind == MinMax::SequentialUMin {
            return self.sequential_umin(all, ty);
        }
        // Operands implied by another one are removed.
        let mut index = 0;
        while index < all.len() {
            let beaten = |this: &mut Self, by: usize| {
                by != index
                    && this.is_beaten(kind, all[index], all[by])
                    && (by < index || !this.is_beaten(kind, all[by], all[index]))
            };
            if (0..all.len()).any(|by| beaten(self, by)) {
                all.remove(index);
            } else {
                index += 1;
            }
        }
        self.flat(all, 0, width, ty, |operands| Expr::MinMax(kind, operands))
    }

    /// True if, by their ranges, one operand makes another one redundant.
    fn is_beaten(&mut self, kind: MinMax, a: ExprId, by: ExprId) -> bool {
        let (a, by) = (self.range(a), self.range(by));
        match kind {
            MinMax::UMax => by.unsigned.0 >= a.unsigned.1,
            MinMax::SMax => by.signed.0 >= a.signed.1,
            MinMax::UMin | MinMax::SequentialUMin => by.unsigned.1 <= a.unsigned.0,
            MinMax::SMin => by.signed.1 <= a.signed.0,
        }
    }

    /// Returns a sequential unsigned minimum. The order of operands matters, because an operand
    /// behind a zero is not evaluated and may be poison.
    fn sequential_umin(&mut self, mut all: Vec<ExprId>, ty: ExprType) -> ExprId {
        if let Some(zero) = all.iter().position(|operand| self.is_constant(*operand, 0)) {
            all.truncate(zero + 1);
        }
        let mut seen: HashMap<Value, ()> = HashMap::new();
        let mut may_stop = false;
        let mut is_plain = true;
        for operand in &all {
            let leaves = self.leaves(*operand);
            is_plain &= !may_stop || leaves.iter().all(|leaf| seen.contains_key(leaf));
            seen.extend(leaves.into_iter().map(|leaf| (leaf, ())));
            may_stop |= self.range(*operand).unsigned.0 == 0;
        }
        if is_plain || all.len() == 1 {
            return self.min_max(MinMax::UMin, &all);
        }
        self.pool.intern(Expr::MinMax(MinMax::SequentialUMin, all.into()), ty)
    }

    /// Returns an address as a number.
    pub fn ptr_to_int(&mut self, a: ExprId) -> ExprId {
        let ExprType::Pointer(width) = self.pool.ty(a) else { return a };
        let all = |this: &mut Self, operands: &[ExprId]| -> Vec<ExprId> {
            operands.iter().map(|operand| this.ptr_to_int(*operand)).collect()
        };
        match self.pool.get(a).clone() {
            Expr::Add(terms) => {
                let terms = all(self, &terms);
                self.add(&terms)
            }
            Expr::AddRec(of, operands) => {
                let operands = all(self, &operands);
                let recurrence = self.recurrence(of, &operands);
                let flags = self.pool.flags(a);
                self.note_recurrence(recurrence, of, &operands, flags);
                recurrence
            }
            Expr::MinMax(kind, operands) => {
                let operands = all(self, &operands);
                self.min_max(kind, &operands)
            }
            _ => self.pool.intern(Expr::PtrToInt(a), ExprType::Integer(width)),
        }
    }

    /// Returns the low bits, or the value extended with zeros.
    pub fn resize(&mut self, a: ExprId, width: u32) -> ExprId {
        if width < self.width(a) { self.truncate(a, width) } else { self.zero_extend(a, width) }
    }

    fn each(&mut self, operands: &[ExprId], f: impl Fn(&mut Self, ExprId) -> ExprId) -> Vec<ExprId> {
        operands.iter().map(|operand| f(self, *operand)).collect()
    }

    /// Returns the low bits.
    pub fn truncate(&mut self, a: ExprId, width: u32) -> ExprId {
        if width >= self.width(a) {
            return a;
        }
        let truncate = |this: &mut Self, operand: ExprId| this.truncate(operand, width);
        match self.pool.get(a).clone() {
            Expr::Constant(_, bits) => self.constant(width, bits),
            Expr::Cast(Cast::Truncate, inner, _) => self.truncate(inner, width),
            Expr::Cast(cast, inner, _) => {
                if self.width(inner) >= width {
                    self.truncate(inner, width)
                } else {
                    self.cast(cast, inner, width)
                }
            }
            Expr::Add(operands) => {
                let operands = self.each(&operands, truncate);
                self.add(&operands)
            }
            Expr::Mul(operands) => {
                let operands = self.each(&operands, truncate);
                self.mul(&operands)
            }
            Expr::AddRec(of, operands) => {
                let operands = self.each(&operands, truncate);
                self.recurrence(of, &operands)
            }
            _ => self.pool.intern(Expr::Cast(Cast::Truncate, a, width), ExprType::Integer(width)),
        }
    }

    /// To another width.
    pub fn cast(&mut self, cast: Cast, a: ExprId, width: u32) -> ExprId {
        match cast {
            Cast::Truncate => self.truncate(a, width),
            Cast::ZeroExtend => self.zero_extend(a, width),
            Cast::SignExtend => self.sign_extend(a, width),
        }
    }

    /// Filled with zeros.
    pub fn zero_extend(&mut self, a: ExprId, width: u32) -> ExprId {
        if width <= self.width(a) {
            return a;
        }
        let extend = |this: &mut Self, operand: ExprId| this.zero_extend(operand, width);
        let no_wrap = Flags { nw: true, nuw: true, nsw: true };
        match self.pool.get(a).clone() {
            Expr::Constant(_, bits) => return self.constant(width, bits),
            Expr::Cast(Cast::ZeroExtend, inner, _) => return self.zero_extend(inner, width),
            Expr::Cast(Cast::Truncate, inner, own) if self.range(inner).unsigned.1 <= mask(own) => {
                return self.resize(inner, width);
            }
            Expr::UDiv(x, y) => {
                let (x, y) = (self.zero_extend(x, width), self.zero_extend(y, width));
                return self.udiv(x, y);
            }
            Expr::MinMax(kind @ (MinMax::UMax | MinMax::UMin), operands) => {
                let operands = self.each(&operands, extend);
                return self.min_max(kind, &operands);
            }
            Expr::AddRec(of, operands) if operands.len() == 2 && self.flags(a).nuw => {
                let operands = self.each(&operands, extend);
                let wide = self.recurrence(of, &operands);
                self.note_recurrence(wide, of, &operands, no_wrap);
                return wide;
            }
            Expr::AddRec(of, operands) if operands.len() == 2 && self.falls_unsigned(a) => {
                // Its step is negative.
                let operands = [self.zero_extend(operands[0], width), self.sign_extend(operands[1], width)];
                let wide = self.recurrence(of, &operands);
                let flags = Flags { nw: true, nuw: false, nsw: true };
                self.note_recurrence(wide, of, &operands, flags);
                return wide;
            }
            Expr::Add(operands) if self.flags(a).nuw => {
                let operands = self.each(&operands, extend);
                let wide = self.add(&operands);
                self.note(wide, no_wrap);
                return wide;
            }
            Expr::Mul(operands) if self.flags(a).nuw => {
                let operands = self.each(&operands, extend);
                let wide = self.mul(&operands);
                self.note(wide, no_wrap);
                return wide;
            }
            _ => {}
        }
        let a = self.ptr_to_int(a);
        self.pool.intern(Expr::Cast(Cast::ZeroExtend, a, width), ExprType::Integer(width))
    }

    /// Filled with the sign.
    pub fn sign_extend(&mut self, a: ExprId, width: u32) -> ExprId {
        let own = self.width(a);
        if width <= own {
            return a;
        }
        let extend = |this: &mut Self, operand: ExprId| this.sign_extend(operand, width);
        let no_wrap = Flags { nw: true, nuw: false, nsw: true };
        match self.pool.get(a).clone() {
            Expr::Constant(_, bits) => return self.constant(width, signed(own, bits) as u128),
            Expr::Cast(Cast::SignExtend, inner, _) => return self.sign_extend(inner, width),
            Expr::Cast(Cast::ZeroExtend, inner, _) => return self.zero_extend(inner, width),
            Expr::AddRec(of, operands) if operands.len() == 2 && self.flags(a).nsw => {
                let operands = self.each(&operands, extend);
                let wide = self.recurrence(of, &operands);
                self.note_recurrence(wide, of, &operands, no_wrap);
                return wide;
            }
            _ => {}
        }
        if self.range(a).signed.0 >= 0 {
            return self.zero_extend(a, width);
        }
        match self.pool.get(a).clone() {
            Expr::MinMax(kind @ (MinMax::SMax | MinMax::SMin), operands) => {
                let operands = self.each(&operands, extend);
                return self.min_max(kind, &operands);
            }
            Expr::Add(operands) if self.flags(a).nsw => {
                let operands = self.each(&operands, extend);
                let wide = self.add(&operands);
                self.note(wide, no_wrap);
                return wide;
            }
            Expr::Mul(operands) if self.flags(a).nsw => {
                let operands = self.each(&operands, extend);
                let wide = self.mul(&operands);
                self.note(wide, no_wrap);
                return wide;
            }
            Expr::Cast(Cast::Truncate, inner, own) => {
                let range = self.range(inner).signed;
                let fits = |end: i128| signed(own, end as u128 & mask(own)) == end;
                if fits(range.0) && fits(range.1) && self.width(inner) <= width {
                    return self.sign_extend(inner, width);
                }
            }
            _ => {}
        }
        self.pool.intern(Expr::Cast(Cast::SignExtend, a, width), ExprType::Integer(width))
    }

    /// Returns the value of a recurrence when the header runs for the n-th time, from zero. `None`
    /// if that takes too wide words.
    pub fn at_iteration(&mut self, recurrence: ExprId, iteration: ExprId) -> Option<ExprId> {
        let Expr::AddRec(_, operands) = self.pool.get(recurrence).clone() else { return Some(recurrence) };
        let width = self.width(recurrence);
        let mut terms = vec![operands[0]];
        for (k, operand) in operands.iter().enumerate().skip(1) {
            let times = self.binomial(iteration, k as u32, width)?;
            terms.push(self.mul(&[*operand, times]));
        }
        Some(self.add(&terms))
    }

    /// Returns `C(n, k)` modulo two to the power of the width. It is the product of k factors in
    /// words wide enough for an exact division, times the inverse of the odd part of k!.
    fn binomial(&mut self, n: ExprId, k: u32, width: u32) -> Option<ExprId> {
        if k == 1 {
            return Some(self.resize(n, width));
        }
        let factorial: u128 = (1..=u128::from(k)).try_fold(1u128, u128::checked_mul)?;
        let twos = factorial.trailing_zeros();
        let wide = width.checked_add(twos).filter(|wide| *wide <= 128)?;
        let own = self.width(n);
        let mut factors = Vec::new();
        for i in 0..u128::from(k) {
            let less = self.constant(own, i.wrapping_neg());
            let factor = self.add(&[n, less]);
            factors.push(self.resize(factor, wide));
        }
        let product = self.mul(&factors);
        let by = self.constant(wide, 1 << twos);
        let quotient = self.udiv(product, by);
        let quotient = self.truncate(quotient, width);
        let inverse = self.constant(width, inverse(factorial >> twos));
        Some(self.mul(&[inverse, quotient]))
    }
}

/// `C(n, k)` of small numbers.
fn choose(n: usize, k: usize) -> u128 {
    if k > n { 0 } else { (0..k as u128).fold(1, |product, i| product * (n as u128 - i) / (i + 1)) }
}

/// Returns the inverse of an odd number modulo two to the power of 128, and so for any smaller
/// width. Each step doubles the number of correct bits.
pub(super) fn inverse(odd: u128) -> u128 {
    (0..7).fold(odd, |inverse, _| inverse.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(inverse))))
}
