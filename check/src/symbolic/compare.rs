//! Comparisons of integers, and the cases that they make.
//!
//! A comparison linear in one argument is decided by the range of that argument. Where the range
//! leaves it open, the run ends, and two runs follow with a part of the range each. So a comparison
//! that arguments decide never becomes a choice.

use super::store::{
    FALSE, Facts, Family, Key, Node, Run, Stop, Store, TRUE, TermId, each_operand, refused, wrapped,
};

/// The most values of an argument that are taken one by one.
const MAX_VALUES: i64 = 1 << 10;
/// The most terms looked at for an argument.
const MAX_SEEN: usize = 256;

/// An integer that is `factor * argument + offset`, perhaps wrapped.
struct Line {
    argument: Option<usize>,
    factor: i128,
    offset: i128,
}

impl Line {
    fn at(&self, value: i64) -> i128 {
        self.factor * i128::from(value) + self.offset
    }
}

impl Facts {
    /// True if two buffers are known not to overlap.
    pub(super) fn are_apart(&self, a: Key, b: Key) -> bool {
        let (Key::Argument(a), Key::Argument(b)) = (a, b) else { return false };
        let own = |(pair, holds): &([usize; 2], bool)| *holds && (*pair == [a, b] || *pair == [b, a]);
        self.orders.iter().any(own)
    }
}

impl Store {
    fn line(&self, term: TermId) -> Option<Line> {
        match self.node(term) {
            Node::Int { width, value } if *width > 1 => {
                Some(Line { argument: None, factor: 0, offset: i128::from(*value) })
            }
            Node::Argument(index) if self.traits(term).is_invariant => {
                Some(Line { argument: Some(*index), factor: 1, offset: 0 })
            }
            Node::Sum { width, products } => {
                let mut line = Line { argument: None, factor: 0, offset: 0 };
                for (factors, coefficient) in products {
                    let coefficient = i128::from(wrapped(*width, *coefficient as i64));
                    match factors[..] {
                        [] => line.offset = coefficient,
                        [only] if line.argument.is_none() => match self.node(only) {
                            Node::Argument(index) if self.traits(only).is_invariant => {
                                (line.argument, line.factor) = (Some(*index), coefficient);
                            }
                            _ => return None,
                        },
                        _ => return None,
                    }
                }
                Some(line)
            }
            _ => None,
        }
    }

    fn range_of(&self, argument: usize) -> (i64, i64) {
        self.facts.ranges.get(argument).copied().flatten().unwrap_or((i64::MIN, i64::MAX))
    }

    /// Returns the least and greatest value of a term that is linear, if it does not wrap.
    pub(super) fn span(&self, term: TermId, width: u32) -> Option<(i128, i128)> {
        let line = self.line(term)?;
        let (low, high) = line.argument.map_or((0, 0), |argument| self.range_of(argument));
        let ends = [line.at(low), line.at(high)];
        let (least, most) = (i128::MIN >> (128 - width), i128::MAX >> (128 - width));
        let is_exact = ends.iter().all(|end| (least..=most).contains(end));
        is_exact.then_some((ends[0].min(ends[1]), ends[0].max(ends[1])))
    }

    /// Returns the least and greatest value of a line that does not wrap; `None` if it wraps.
    fn exact(&self, line: &Line, width: u32) -> Run<Option<(i128, i128)>> {
        let Some(argument) = line.argument else { return Ok(Some((line.offset, line.offset))) };
        let (low, high) = self.range_of(argument);
        let (least, most) = (i128::MIN >> (128 - width), i128::MAX >> (128 - width));
        let ends = [line.at(low), line.at(high)];
        if ends.iter().all(|end| (least..=most).contains(end)) {
            return Ok(Some((ends[0].min(ends[1]), ends[0].max(ends[1]))));
        }
        // The values of the argument for which the line is in range.
        let bounds = [least - line.offset, most - line.offset];
        let (first, last) = match line.factor > 0 {
            true => (-(-bounds[0]).div_euclid(line.factor), bounds[1].div_euclid(line.factor)),
            false => {
                let factor = -line.factor;
                (-bounds[1].div_euclid(factor), (-bounds[0]).div_euclid(factor))
            }
        };
        let (first, last) = (first.max(i128::from(low)), last.min(i128::from(high)));
        if first > last {
            return Ok(None);
        }
        let at = if last < i128::from(high) { last } else { first - 1 };
        self.split(argument, at)
    }

    /// Returns the least and greatest value of a term that is linear and does not wrap.
    pub(super) fn line_range(&self, term: TermId, width: u32) -> Run<(i128, i128)> {
        let exact = self.line(term).map(|line| self.exact(&line, width)).transpose()?.flatten();
        exact.map_or_else(|| refused("a loop begins at a value that is not known"), Ok)
    }

    fn split<T>(&self, argument: usize, at: i128) -> Run<T> {
        let (low, high) = self.range_of(argument);
        match i64::try_from(at).ok().filter(|at| (low..high).contains(at)) {
            Some(at) => Err(Stop::Split { argument, at }),
            None => refused("a range cannot be divided"),
        }
    }

    /// Decides a comparison of two lines; `None` if they depend on different arguments or wrap.
    fn lines(&self, width: u32, [x, y]: [&Line; 2], is_equality: bool) -> Run<Option<bool>> {
        let (Some(a), Some(b)) = (self.exact(x, width)?, self.exact(y, width)?) else { return Ok(None) };
        if !is_equality && (a.1 < b.0 || b.1 <= a.0) {
            return Ok(Some(a.1 < b.0));
        }
        if is_equality && (a.1 < b.0 || b.1 < a.0) {
            return Ok(Some(false));
        }
        let argument = match (x.argument, y.argument) {
            (Some(own), Some(other)) if own != other => return Ok(None),
            (own, other) => own.or(other),
        };
        let difference = Line { argument, factor: x.factor - y.factor, offset: x.offset - y.offset };
        let Some(argument) = argument.filter(|_| difference.factor != 0) else {
            let value = difference.offset;
            return Ok(Some(if is_equality { value == 0 } else { value < 0 }));
        };
        let (low, high) = self.range_of(argument);
        let (factor, offset) = (difference.factor, difference.offset);
        if is_equality {
            let at = -offset / factor;
            if at * factor + offset != 0 || !(i128::from(low)..=i128::from(high)).contains(&at) {
                return Ok(Some(false));
            }
            if low == high {
                return Ok(Some(true));
            }
            return self.split(argument, if at > i128::from(low) { at - 1 } else { at });
        }
        match [difference.at(low) < 0, difference.at(high) < 0] {
            [a, b] if a == b => Ok(Some(a)),
            _ if factor > 0 => self.split(argument, (-offset - 1).div_euclid(factor)),
            _ => self.split(argument, offset.div_euclid(-factor)),
        }
    }

    /// Returns the condition that an integer is less than another one.
    pub(super) fn less(&mut self, unsigned: bool, width: u32, [x, y]: [TermId; 2]) -> Run<TermId> {
        self.spend(1)?;
        if x == y {
            return Ok(FALSE);
        }
        if width == 1 {
            // As a signed number, true is -1.
            let (low, high) = if unsigned { (x, y) } else { (y, x) };
            let low = self.not(low)?;
            return self.and(low, high);
        }
        for side in [0, 1] {
            let term = [x, y][side];
            if matches!(self.node(term), Node::Choice { .. }) && self.constant([y, x][side]).is_some() {
                return self.mapped(term, &mut |store, end| {
                    let operands = if side == 0 { [end, y] } else { [x, end] };
                    store.less(unsigned, width, operands)
                });
            }
        }
        if let Some(parts) = self.of_extremes(unsigned, width, [x, y])? {
            return Ok(parts);
        }
        if let (Some(a), Some(b)) = (self.line(x), self.line(y)) {
            match unsigned {
                false => {
                    if let Some(known) = self.lines(width, [&a, &b], false)? {
                        return Ok(if known { TRUE } else { FALSE });
                    }
                }
                true => {
                    let zero = Line { argument: None, factor: 0, offset: 0 };
                    let signs =
                        [self.lines(width, [&a, &zero], false)?, self.lines(width, [&b, &zero], false)?];
                    match signs {
                        [Some(a), Some(b)] if a != b => return Ok(if b { TRUE } else { FALSE }),
                        [Some(_), Some(_)] => {
                            if let Some(known) = self.lines(width, [&a, &b], false)? {
                                return Ok(if known { TRUE } else { FALSE });
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
        if unsigned && let Some(known) = self.order([x, y])? {
            return Ok(known);
        }
        let ranges = [x, y].map(|term| self.range(term, width));
        if ranges.iter().all(|range| !unsigned || range.0 >= 0) {
            let [a, b] = ranges;
            if a.1 < b.0 || a.0 >= b.1 {
                return Ok(if a.1 < b.0 { TRUE } else { FALSE });
            }
        }
        let most = if unsigned { -1 } else { wrapped(width, i64::MAX >> (64 - width)) };
        match self.constant(x) {
            Some(value) if value != most => {
                let next = self.int(width, value + 1)?;
                let reverse = self.truth(Node::Less { unsigned, width, operands: [y, next] })?;
                self.not(reverse)
            }
            _ => self.truth(Node::Less { unsigned, width, operands: [x, y] }),
        }
    }

    /// Compares a greatest or least value as each of its operands.
    fn of_extremes(&mut self, unsigned: bool, width: u32, both: [TermId; 2]) -> Run<Option<TermId>> {
        let (max, min) = if unsigned { (Family::MaxU, Family::MinU) } else { (Family::MaxS, Family::MinS) };
        for side in [0, 1] {
            let Node::Combined { family, operands, .. } = self.node(both[side]).clone() else { continue };
            if family != max && family != min {
                continue;
            }
            // The greatest is below, and the least is above, where all are.
            let is_all = (family == max) == (side == 0);
            let mut found = if is_all { TRUE } else { FALSE };
            for operand in operands {
                let mut pair = both;
                pair[side] = operand;
                let one = self.less(unsigned, width, pair)?;
                found = if is_all { self.and(found, one)? } else { self.or(found, one)? };
            }
            return Ok(Some(found));
        }
        Ok(None)
    }

    /// Returns the condition that two integers are equal.
    pub(super) fn equal(&mut self, width: u32, [x, y]: [TermId; 2]) -> Run<TermId> {
        if x == y {
            return Ok(TRUE);
        }
        if width == 1 {
            let other = self.not(y)?;
            return self.ite(x, y, other);
        }
        for (term, other) in [(x, y), (y, x)] {
            if matches!(self.node(term), Node::Choice { .. }) && self.constant(other).is_some() {
                return self.mapped(term, &mut |store, end| store.equal(width, [end, other]));
            }
        }
        if let (Some(a), Some(b)) = (self.line(x), self.line(y))
            && let Some(known) = self.lines(width, [&a, &b], true)?
        {
            return Ok(if known { TRUE } else { FALSE });
        }
        let difference = self.arithmetic(super::store::Arithmetic::Sub, width, [x, y])?;
        let reverse = self.arithmetic(super::store::Arithmetic::Sub, width, [y, x])?;
        if let Some(value) = self.constant(difference) {
            return Ok(if value == 0 { TRUE } else { FALSE });
        }
        for term in [difference, reverse] {
            if let Some((variable, offset)) = self.plain(term) {
                // `variable + offset` is zero.
                let number = wrapped(width, offset.wrapping_neg());
                return self.term(Node::Choice { variable, cases: [(number, TRUE)].into(), default: FALSE });
            }
        }
        self.truth(Node::Zero(difference.min(reverse)))
    }

    /// Returns the value and the number whose sum a term is.
    fn plain(&self, term: TermId) -> Option<(TermId, i64)> {
        match self.node(term) {
            Node::Choice { .. } => None,
            Node::Sum { products, .. } => match &products[..] {
                [(empty, offset), (factors, 1)] if empty.is_empty() && factors.len() == 1 => {
                    let is_choice = matches!(self.node(factors[0]), Node::Choice { .. });
                    (!is_choice).then_some((factors[0], *offset as i64))
                }
                _ => None,
            },
            _ => Some((term, 0)),
        }
    }

    /// Decides if a buffer begins before another one ends, if that is the comparison.
    fn order(&mut self, [x, y]: [TermId; 2]) -> Run<Option<TermId>> {
        // The end is at most the start where the start is not less than the end.
        let Node::Address(second) = *self.node(x) else { return Ok(None) };
        let Some((start, size)) = self.plain(y) else { return Ok(None) };
        let Node::Address(first) = *self.node(start) else { return Ok(None) };
        if self.facts.bytes.get(first).copied().flatten() != Some(size) || size == 0 || first == second {
            return Ok(None);
        }
        let known = self.facts.orders.iter().find(|(pair, _)| *pair == [first, second]);
        match known {
            Some((_, true)) => Ok(Some(FALSE)),
            Some((_, false)) => Ok(Some(TRUE)),
            None => Err(Stop::Order([first, second])),
        }
    }

    /// Returns the integer that a term is in this run; `None` if arguments do not decide it.
    pub(super) fn number(&self, term: TermId) -> Run<Option<i64>> {
        if let Some(value) = self.constant(term) {
            return Ok(Some(value));
        }
        if !self.traits(term).is_invariant {
            return Ok(None);
        }
        let (mut pending, mut seen) = (vec![term], 0);
        while let Some(term) = pending.pop() {
            seen += 1;
            if seen > MAX_SEEN {
                break;
            }
            if let Node::Argument(index) = self.node(term) {
                let (low, high) = self.range_of(*index);
                let count = high.checked_sub(low).filter(|count| (1..=MAX_VALUES).contains(count));
                if let Some(count) = count {
                    return Err(Stop::Split { argument: *index, at: low + count / 2 });
                }
            }
            each_operand(self.node(term), &mut |inner| pending.push(inner));
        }
        Ok(None)
    }
}
