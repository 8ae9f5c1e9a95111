//! Integers: sums, products, and operations whose operands have no order.

use super::store::{Arithmetic, Binary, FALSE, Family, Node, Product, Run, Store, TermId, wrapped};

/// The most products of a sum that is multiplied out.
const MAX_PRODUCTS: usize = 64;

impl Store {
    /// Returns a term as a sum of products.
    fn products(&self, term: TermId) -> Vec<Product> {
        match self.node(term) {
            Node::Int { value: 0, .. } => Vec::new(),
            Node::Int { value, .. } => vec![(Box::default(), *value as u64)],
            Node::Sum { products, .. } => products.to_vec(),
            _ => vec![([term].into(), 1)],
        }
    }

    fn sum(&mut self, width: u32, mut products: Vec<Product>) -> Run<TermId> {
        products.sort_by(|a, b| a.0.cmp(&b.0));
        let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
        let mut merged: Vec<Product> = Vec::with_capacity(products.len());
        for (factors, coefficient) in products {
            match merged.last_mut().filter(|last| last.0 == factors) {
                Some(last) => last.1 = last.1.wrapping_add(coefficient) & mask,
                None => merged.push((factors, coefficient & mask)),
            }
        }
        merged.retain(|(_, coefficient)| *coefficient != 0);
        match &merged[..] {
            [] => self.int(width, 0),
            [(factors, value)] if factors.is_empty() => self.int(width, *value as i64),
            [(factors, 1)] if factors.len() == 1 => Ok(factors[0]),
            _ => self.term(Node::Sum { width, products: merged.into() }),
        }
    }

    pub(super) fn arithmetic(&mut self, code: Arithmetic, width: u32, [a, b]: [TermId; 2]) -> Run<TermId> {
        match code {
            Arithmetic::Add => self.plus(width, a, b, 1),
            Arithmetic::Sub => self.plus(width, a, b, u64::MAX),
            Arithmetic::Mul => self.times(width, a, b),
        }
    }

    /// Returns the first term and so many times the second.
    fn plus(&mut self, width: u32, a: TermId, b: TermId, factor: u64) -> Run<TermId> {
        let mut all = self.products(a);
        let other = self.products(b);
        self.spend(all.len() + other.len())?;
        all.extend(other.into_iter().map(|(factors, own)| (factors, own.wrapping_mul(factor))));
        self.sum(width, all)
    }

    /// Returns a term and a number together.
    pub(super) fn offset(&mut self, width: u32, term: TermId, number: i64) -> Run<TermId> {
        let number = self.int(width, number)?;
        self.plus(width, term, number, 1)
    }

    fn times(&mut self, width: u32, a: TermId, b: TermId) -> Run<TermId> {
        let (xs, ys) = (self.products(a), self.products(b));
        self.spend(xs.len() * ys.len())?;
        if xs.len() * ys.len() > MAX_PRODUCTS && xs.len().min(ys.len()) > 1 {
            let mut operands = [a, b];
            operands.sort_unstable();
            return self.term(Node::Combined { family: Family::Mul, width, operands: operands.into() });
        }
        let mut all = Vec::with_capacity(xs.len() * ys.len());
        for (factors, x) in &xs {
            for (others, y) in &ys {
                let mut product: Vec<TermId> = factors.iter().chain(others.iter()).copied().collect();
                product.sort_unstable();
                if product.len() > MAX_PRODUCTS {
                    let mut operands = [a, b];
                    operands.sort_unstable();
                    let family = Family::Mul;
                    return self.term(Node::Combined { family, width, operands: operands.into() });
                }
                all.push((product.into(), x.wrapping_mul(*y)));
            }
        }
        self.sum(width, all)
    }

    /// Returns operands in any order, as one term.
    pub(super) fn combined(&mut self, family: Family, width: u32, both: [TermId; 2]) -> Run<TermId> {
        let mut constant: Option<i64> = None;
        let mut operands = Vec::new();
        for term in both {
            let inner = match self.node(term) {
                Node::Combined { family: own, operands, .. } if *own == family => operands.to_vec(),
                _ => vec![term],
            };
            for term in inner {
                match (self.constant(term), constant) {
                    (Some(value), Some(known)) => constant = Some(folded(family, width, known, value)),
                    (Some(value), None) => constant = Some(value),
                    (None, _) => operands.push(term),
                }
            }
        }
        self.spend(operands.len())?;
        operands.sort_unstable();
        if family == Family::Xor {
            operands = without_pairs(&operands);
        } else {
            operands.dedup();
        }
        if let Some(value) = constant {
            let ones = wrapped(width, -1);
            match (family, value) {
                (Family::And, 0) => return self.int(width, 0),
                (Family::Or, own) if own == ones => return self.int(width, ones),
                (Family::And, own) if own == ones => {}
                (Family::Or | Family::Xor, 0) if !operands.is_empty() => {}
                _ => operands.push(self.int(width, value)?),
            }
        }
        self.drop_beyond(family, width, &mut operands);
        operands.sort_unstable();
        match operands[..] {
            [] if family == Family::And => self.int(width, -1),
            [] => self.int(width, 0),
            [only] => Ok(only),
            _ => self.term(Node::Combined { family, width, operands: operands.into() }),
        }
    }

    /// Removes operands that are never the greatest or the least.
    fn drop_beyond(&self, family: Family, width: u32, operands: &mut Vec<TermId>) {
        let is_max = match family {
            Family::MaxS => true,
            Family::MinS => false,
            _ => return,
        };
        let ranges = operands.iter().map(|term| self.range(*term, width));
        // The greatest is at least each lower end, the least at most each upper end.
        let bound = match is_max {
            true => ranges.map(|(low, _)| low).max(),
            false => ranges.map(|(_, high)| high).min(),
        };
        let Some(bound) = bound else { return };
        let mut has_bound = false;
        operands.retain(|term| {
            let (low, high) = self.range(*term, width);
            let is_kept = match is_max {
                true => high > bound,
                false => low < bound,
            };
            // Of equal numbers one stays.
            let is_first = low == high && low == bound && !has_bound;
            has_bound |= is_first;
            is_kept || is_first
        });
    }

    /// Returns floats in any order, as one term.
    pub(super) fn floats(&mut self, family: Family, both: [TermId; 2]) -> Run<TermId> {
        let mut operands = Vec::new();
        for term in both {
            match self.node(term) {
                Node::Combined { family: own, operands: inner, .. } if *own == family => {
                    operands.extend_from_slice(inner);
                }
                _ => operands.push(term),
            }
        }
        self.spend(operands.len())?;
        operands.sort_unstable();
        if matches!(family, Family::MaxF | Family::MinF) {
            operands.dedup();
        }
        match operands[..] {
            [only] => Ok(only),
            _ => self.term(Node::Combined { family, width: 0, operands: operands.into() }),
        }
    }

    /// Returns an operation of two integers. Where it is undefined the result may be anything.
    pub(super) fn binary(&mut self, code: Binary, width: u32, operands: [TermId; 2]) -> Run<TermId> {
        if let [Some(a), Some(b)] = operands.map(|term| self.constant(term))
            && let Some(value) = computed(code, width, a, b)
        {
            return self.int(width, value);
        }
        let is_division = !matches!(code, Binary::Shl | Binary::ShrS | Binary::ShrU);
        let is_rest = matches!(code, Binary::RemS | Binary::RemU);
        match self.constant(operands[1]) {
            Some(1) if is_rest && width > 1 => self.int(width, 0),
            Some(1) if is_division && width > 1 => Ok(operands[0]),
            Some(0) if !is_division => Ok(operands[0]),
            _ => self.term(Node::Binary { code, width, operands }),
        }
    }

    /// Returns the condition that arithmetic leaves its type.
    pub(super) fn wraps(
        &mut self,
        code: Arithmetic,
        unsigned: bool,
        width: u32,
        mut operands: [TermId; 2],
    ) -> Run<TermId> {
        let (low, high) = match unsigned {
            true => (0, i128::from(u64::MAX >> (64 - width.min(64)))),
            false => (i128::MIN >> (128 - width), i128::MAX >> (128 - width)),
        };
        let range = operands.map(|term| match unsigned {
            true => self.constant(term).map(|value| {
                let value = i128::from(value) & high;
                (value, value)
            }),
            false => Some(self.range(term, width)),
        });
        if let [Some((a, b)), Some((c, d))] = range {
            let ends = match code {
                Arithmetic::Add => [a + c, b + d, a + c, b + d],
                Arithmetic::Sub => [a - d, b - c, a - d, b - c],
                Arithmetic::Mul => {
                    [a.saturating_mul(c), a.saturating_mul(d), b.saturating_mul(c), b.saturating_mul(d)]
                }
            };
            if ends.iter().all(|end| (low..=high).contains(end)) {
                return Ok(FALSE);
            }
        }
        if code != Arithmetic::Sub {
            operands.sort_unstable();
        }
        self.truth(Node::Wraps { code, unsigned, width, operands })
    }

    /// Returns numbers between which a signed integer is.
    pub(super) fn range(&self, term: TermId, width: u32) -> (i128, i128) {
        let all = (i128::MIN >> (128 - width), i128::MAX >> (128 - width));
        let number = |value: i64| (i128::from(value), i128::from(value));
        match self.node(term) {
            Node::Int { value, .. } if width > 1 => number(*value),
            Node::Argument(_) | Node::Sum { .. } => self.span(term, width).unwrap_or(all),
            Node::Binary { code: Binary::RemU, operands, .. } => match self.constant(operands[1]) {
                Some(divisor @ 1..) => (0, i128::from(divisor) - 1),
                _ => all,
            },
            _ => all,
        }
    }
}

/// Returns the terms that stand in a sorted list an odd number of times.
fn without_pairs(sorted: &[TermId]) -> Vec<TermId> {
    let groups = sorted.chunk_by(|a, b| a == b);
    groups.filter(|group| group.len() % 2 == 1).map(|group| group[0]).collect()
}

fn unsigned(width: u32, value: i64) -> u64 {
    if width >= 64 { value as u64 } else { value as u64 & ((1 << width) - 1) }
}

fn folded(family: Family, width: u32, a: i64, b: i64) -> i64 {
    let [x, y] = [a, b].map(|value| unsigned(width, value));
    match family {
        Family::MaxS => a.max(b),
        Family::MinS => a.min(b),
        Family::MaxU => wrapped(width, x.max(y) as i64),
        Family::MinU => wrapped(width, x.min(y) as i64),
        Family::And => a & b,
        Family::Or => a | b,
        Family::Xor => wrapped(width, a ^ b),
        Family::Mul => wrapped(width, a.wrapping_mul(b)),
        // Floats are no numbers here.
        Family::MaxF | Family::MinF | Family::SumF(_) | Family::MulF(_) | Family::NegF => a,
    }
}

/// Returns the result of an operation on constants; `None` where it is undefined.
fn computed(code: Binary, width: u32, a: i64, b: i64) -> Option<i64> {
    let [x, y] = [a, b].map(|value| unsigned(width, value));
    let is_shift = (0..i64::from(width)).contains(&b);
    let value = match code {
        Binary::DivS => a.checked_div(b)?,
        Binary::RemS => a.checked_rem(b)?,
        Binary::FloorDiv => {
            let quotient = a.checked_div(b)?;
            quotient - i64::from(a % b != 0 && (a < 0) != (b < 0))
        }
        Binary::CeilDiv => {
            let quotient = a.checked_div(b)?;
            quotient + i64::from(a % b != 0 && (a < 0) == (b < 0))
        }
        Binary::DivU => x.checked_div(y)? as i64,
        Binary::RemU => x.checked_rem(y)? as i64,
        Binary::Shl if is_shift => a.wrapping_shl(b as u32),
        Binary::ShrS if is_shift => a >> b,
        Binary::ShrU if is_shift => (x >> b) as i64,
        _ => return None,
    };
    let value = wrapped(width, value);
    let fits =
        width > 1 && (code != Binary::DivS || a != wrapped(width, i64::MIN >> (64 - width)) || b != -1);
    fits.then_some(value)
}
