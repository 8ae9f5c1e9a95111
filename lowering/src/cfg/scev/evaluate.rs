//! Evaluation of expressions for numbers.
//!
//! **Assumptions.**
//! - A binomial is computed modulo two to the power of the width, whatever its divisor.
//!
//! Tried with `lowering/tests/scev/random.rs`, which evaluates every recurrence in each iteration.

use hashbrown::HashMap;
use loomir_dialects::interp::integer::{mask, signed};
use loomir_ir::Value;
use loomir_ir::graph::loops::LoopId;

use super::ScalarEvolution;
use super::build::inverse;
use super::expr::{Cast, Expr, ExprId, MinMax};

impl ScalarEvolution<'_> {
    /// Evaluates an expression for given values, in the `iteration`-th execution of each loop
    /// header, from zero. `None` if a value or iteration is unknown, or a divisor is zero.
    pub fn evaluate(
        &self,
        id: ExprId,
        value: &dyn Fn(Value) -> Option<u128>,
        iteration: &dyn Fn(LoopId) -> Option<u128>,
    ) -> Option<u128> {
        self.evaluate_part(id, value, iteration, &mut HashMap::new())
    }

    fn evaluate_part(
        &self,
        id: ExprId,
        value: &dyn Fn(Value) -> Option<u128>,
        iteration: &dyn Fn(LoopId) -> Option<u128>,
        known: &mut HashMap<ExprId, u128>,
    ) -> Option<u128> {
        if let Some(bits) = known.get(&id) {
            return Some(*bits);
        }
        let expr = self.pool.get(id);
        let mut operands = Vec::new();
        expr.each_operand(&mut |operand| operands.push(operand));
        let mut bits = Vec::with_capacity(operands.len());
        for operand in operands {
            let own = self.evaluate_part(operand, value, iteration, known)?;
            bits.push(own);
            if matches!(expr, Expr::MinMax(MinMax::SequentialUMin, _)) && own == 0 {
                break;
            }
        }
        let width = self.width(id);
        let result = match expr {
            Expr::Constant(_, bits) => *bits,
            Expr::Unknown(own) => value(*own)?,
            Expr::PtrToInt(_) => bits[0],
            Expr::Cast(Cast::SignExtend, operand, _) => signed(self.width(*operand), bits[0]) as u128,
            Expr::Cast(..) => bits[0],
            Expr::Add(_) => bits.into_iter().fold(0, u128::wrapping_add),
            Expr::Mul(_) => bits.into_iter().fold(1, u128::wrapping_mul),
            Expr::UDiv(..) => bits[0].checked_div(bits[1])?,
            Expr::AddRec(of, _) => {
                let n = iteration(*of)?;
                let mut sum = 0u128;
                for (k, operand) in bits.into_iter().enumerate() {
                    sum = sum.wrapping_add(operand.wrapping_mul(binomial(n, k as u32)?));
                }
                sum
            }
            Expr::MinMax(kind, _) => {
                let number = |bits: &u128| signed(width, *bits);
                match kind {
                    MinMax::UMax => bits.into_iter().max()?,
                    MinMax::UMin | MinMax::SequentialUMin => bits.into_iter().min()?,
                    MinMax::SMax => bits.into_iter().max_by_key(number)?,
                    MinMax::SMin => bits.into_iter().min_by_key(number)?,
                }
            }
        };
        let result = result & mask(width);
        known.insert(id, result);
        Some(result)
    }
}

/// Returns `C(n, k)` modulo two to the power of at least 64. Factors two of k! are divided out one
/// at a time, odd ones by their inverse.
fn binomial(n: u128, k: u32) -> Option<u128> {
    let (mut product, mut twos, mut odd) = (1u128, 0u32, 1u128);
    for i in 0..u128::from(k) {
        let Some(factor) = n.checked_sub(i) else { return Some(0) };
        if factor == 0 {
            return Some(0);
        }
        twos += factor.trailing_zeros();
        product = product.wrapping_mul(factor >> factor.trailing_zeros());
        twos -= (i + 1).trailing_zeros().min(twos);
        odd = odd.wrapping_mul((i + 1) >> (i + 1).trailing_zeros());
    }
    Some(product.wrapping_mul(inverse(odd)).checked_shl(twos).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomials_are_those_of_the_triangle() {
        let mut row = vec![1u128];
        for n in 0..60u128 {
            for (k, expected) in row.iter().enumerate() {
                assert_eq!(binomial(n, k as u32), Some(*expected), "C({n}, {k})");
            }
            row = std::iter::once(1).chain(row.windows(2).map(|pair| pair[0] + pair[1])).chain([1]).collect();
        }
        assert_eq!(binomial(3, 5), Some(0));
    }
}
