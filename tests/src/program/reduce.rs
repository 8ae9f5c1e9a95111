//! Making a failing [`Program`] smaller.
//!
//! Items are removed one at a time, as long as the program still fails. Uses of their values are
//! replaced by a constant. Quadratic in the items, times the cost of the check.

use super::print::values_of;
use super::{Condition, Expr, Item, Program, ValueId, results_of};

impl Program {
    /// Returns a smallest program, by removing single items, for which `fails` holds as for this
    /// one.
    pub fn reduced(&self, fails: &mut dyn FnMut(&Program) -> bool) -> Program {
        let mut best = self.clone();
        let shorter = Program { returns: Vec::new(), ..best.clone() };
        if fails(&shorter) {
            best = shorter;
        }
        let mut index = 0;
        while let Some(mut smaller) = best.without(index) {
            smaller.mend();
            if fails(&smaller) {
                best = smaller;
            } else {
                index += 1;
            }
        }
        best
    }

    /// Returns the number of items, including nested ones.
    pub fn num_items(&self) -> usize {
        count(&self.body)
    }

    fn without(&self, index: usize) -> Option<Program> {
        let mut program = self.clone();
        let mut left = index;
        remove(&mut program.body, &mut left).then_some(program)
    }

    /// Replaces uses of values without a definition.
    fn mend(&mut self) {
        let Some((constant, _)) = self.constants.first().copied() else { return };
        let mut defined: Vec<ValueId> = self.constants.iter().map(|(value, _)| *value).collect();
        mend(&mut self.body, &mut defined, constant);
        self.returns.retain(|value| defined.contains(value));
    }
}

fn count(items: &[Item]) -> usize {
    let inside = |item: &Item| match item {
        Item::Loop(l) => count(&l.body),
        Item::If(_, then, otherwise) => count(then) + count(otherwise),
        _ => 0,
    };
    items.iter().map(|item| 1 + inside(item)).sum()
}

/// Removes the item number `left` in preorder.
fn remove(items: &mut Vec<Item>, left: &mut usize) -> bool {
    for i in 0..items.len() {
        if *left == 0 {
            items.remove(i);
            return true;
        }
        *left -= 1;
        let found = match &mut items[i] {
            Item::Loop(l) => remove(&mut l.body, left),
            Item::If(_, then, otherwise) => remove(then, left) || remove(otherwise, left),
            _ => false,
        };
        if found {
            return true;
        }
    }
    false
}

fn mend(items: &mut [Item], defined: &mut Vec<ValueId>, constant: ValueId) {
    for item in items {
        let check = |value: &mut ValueId, defined: &[ValueId]| {
            if !defined.contains(value) {
                *value = constant;
            }
        };
        match item {
            Item::Loop(l) => {
                l.lower.iter_mut().chain(&mut l.upper).for_each(|e| mend_index(e, defined));
                let mark = defined.len();
                if let Some(carried) = &mut l.carried {
                    check(&mut carried.init, defined);
                    defined.push(carried.argument);
                }
                mend(&mut l.body, defined, constant);
                if let Some(carried) = &mut l.carried {
                    check(&mut carried.next, defined);
                }
                defined.truncate(mark);
                defined.extend(l.carried.as_ref().map(|c| c.result));
            }
            Item::If(condition, then, otherwise) => {
                match condition {
                    Condition::All(tests) => {
                        tests.iter_mut().for_each(|test| mend_index(&mut test.expr, defined));
                    }
                    Condition::Positive(value) => check(value, defined),
                }
                for branch in [&mut *then, &mut *otherwise] {
                    let mark = defined.len();
                    mend(branch, defined, constant);
                    defined.truncate(mark);
                }
                defined.extend(results_of(then, otherwise));
            }
            Item::Load(value, _, at) => {
                at.iter_mut().for_each(|e| mend_index(e, defined));
                defined.push(*value);
            }
            Item::Store(value, _, at) => {
                at.iter_mut().for_each(|e| mend_index(e, defined));
                check(value, defined);
            }
            Item::Yield(_, value) => check(value, defined),
            Item::Compute(value, _, a, b) => {
                check(a, defined);
                check(b, defined);
                defined.push(*value);
            }
            Item::Index(value, expr) => {
                mend_index(expr, defined);
                defined.push(*value);
            }
            Item::Call(..) | Item::Copy(..) | Item::Dealloc(_) => {}
        }
    }
}

/// Replaces an index with an undefined value by 0.
fn mend_index(expr: &mut Expr, defined: &[ValueId]) {
    let mut whole = true;
    values_of(expr, &mut |value| whole &= defined.contains(&value));
    if !whole {
        *expr = Expr::Constant(0);
    }
}
