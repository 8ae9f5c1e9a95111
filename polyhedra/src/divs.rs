//! Existential variables as functions: what it takes to negate a conjunction.
//!
//! A conjunction whose existential variables are *determined*, each `⌊f / d⌋` of visible variables and earlier ones,
//! is negated constraint by constraint with the definitions kept. Any conjunction becomes a union of such: the
//! variables that are not determined are minimised away, parametrically in the visible ones.

use crate::affine::{Affine, Var};
use crate::conjunction::Conjunction;
use crate::int::Int;
use crate::lexmin::{Parametric, lexmin};
use crate::limits::{Budget, Exact};
use crate::rows::Rows;
use crate::scalar::{Scalar, ladder};
use crate::solve::{Parallel, parallel};

/// `variable = ⌊row / divisor⌋`, the row over visible variables and ones defined before.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) column: usize,
    pub(crate) row: Vec<i64>,
    pub(crate) divisor: i64,
}

impl Conjunction {
    /// Adds the two bounds that make a variable the quotient.
    pub(crate) fn add_definition(&mut self, definition: &Definition) {
        let mut rest = Affine::from(definition.row[0]);
        for (index, value) in definition.row[1..].iter().enumerate() {
            rest = rest.add_scaled(&Affine::from(Var(index as u32)), &Int::from(*value));
        }
        rest = rest
            .add_scaled(&Affine::from(Var(definition.column as u32 - 1)), &-Int::from(definition.divisor));
        self.add_row(&rest, false);
        self.add_row(&(-rest + (definition.divisor - 1)), false);
    }

    /// Definitions of existential variables that the constraints determine, in an order in which each uses earlier
    /// ones only. All are determined if there are as many as existential variables.
    pub(crate) fn definitions(&self) -> Vec<Definition> {
        let width = self.ins.width();
        let mut known: Vec<bool> = (0..width).map(|column| column <= self.visible()).collect();
        let mut found = Vec::new();
        loop {
            let definition = (self.visible() + 1..width)
                .filter(|column| !known[*column])
                .find_map(|column| self.definition_of(column, &known));
            let Some(definition) = definition else { return found };
            known[definition.column] = true;
            found.push(definition);
        }
    }

    /// A definition of one existential variable over known ones: by an equality, or by two bounds so close that at
    /// most one integer lies between them.
    fn definition_of(&self, column: usize, known: &[bool]) -> Option<Definition> {
        let usable = |row: &[i64]| {
            row[column] != 0
                && row.iter().enumerate().all(|(other, value)| *value == 0 || other == column || known[other])
        };
        let solve_for = |row: &[i64], sign: i64| -> Option<Definition> {
            // sign·row = f − d·e with d > 0
            let mut f: Vec<i64> = row.iter().map(|value| value.checked_mul(sign)).collect::<Option<_>>()?;
            let divisor = f[column].checked_neg()?;
            f[column] = 0;
            Some(Definition { column, row: f, divisor })
        };
        if let Some(row) = self.eqs.iter().find(|row| usable(row)) {
            return solve_for(row, -row[column].signum());
        }
        let bounds: Vec<&[i64]> = self.ins.iter().filter(|row| usable(row)).collect();
        for upper in bounds.iter().filter(|row| row[column] < 0) {
            for lower in bounds.iter().filter(|row| row[column] > 0) {
                if let Parallel::Opposite = parallel(upper, lower)
                    && upper[0].checked_add(lower[0]).is_some_and(|slack| slack < lower[column])
                {
                    return solve_for(upper, 1);
                }
            }
        }
        None
    }

    /// Whether every existential variable is determined.
    pub(crate) fn is_explicit(&self) -> bool {
        self.existentials() == 0 || self.definitions().len() == self.existentials()
    }

    /// Disjoint conjunctions with the same points together, all of whose existential variables are determined.
    pub(crate) fn explicit(&self, budget: &mut Budget) -> Exact<Vec<Conjunction>> {
        if self.is_explicit() {
            return Ok(vec![self.clone()]);
        }
        let Some(stated) = self.with_hull(budget)? else { return Ok(Vec::new()) };
        if stated.is_explicit() {
            return Ok(vec![stated]);
        }
        stated.determined(budget)
    }

    /// [`explicit`](Self::explicit), once implied equalities are stated.
    fn determined(&self, budget: &mut Budget) -> Exact<Vec<Conjunction>> {
        let definitions = self.definitions();
        let mut known: Vec<bool> = (0..self.ins.width()).map(|column| column <= self.visible()).collect();
        for definition in &definitions {
            known[definition.column] = true;
        }
        let columns: Vec<usize> = (0..known.len()).filter(|column| known[*column]).collect();
        let unknown: Vec<usize> = (0..known.len()).filter(|column| !known[*column]).collect();
        let pieces = ladder!(T => self.minimized_away::<T>(&columns, &unknown, budget))?;
        let simplified = pieces.into_iter().filter_map(|piece| match piece.simplified()? {
            simple if simple.is_explicit() => Some(simple),
            _ => Some(piece),
        });
        Ok(simplified.collect())
    }

    /// The domains of the lexicographic minimum of the `unknown` columns over the `columns` kept.
    fn minimized_away<T: Scalar>(
        &self,
        columns: &[usize],
        unknown: &[usize],
        budget: &mut Budget,
    ) -> Exact<Vec<Conjunction>> {
        let order: Vec<usize> = columns.iter().chain(unknown).copied().collect();
        let problem = Parametric {
            params: columns.len() - 1,
            eqs: self.eqs.gathered(&order).lifted::<T>(),
            ins: self.ins.gathered(&order).lifted::<T>(),
        };
        let mut out = Vec::new();
        for piece in lexmin(problem, budget)? {
            let mut set = Conjunction::new(self.visible());
            let width = piece.context.ins.width();
            set.eqs = Rows::new(width);
            set.ins = Rows::new(width);
            for row in piece.context.eqs.iter() {
                set.add_scalar_row(row, true);
            }
            for row in piece.context.ins.iter() {
                set.add_scalar_row(row, false);
            }
            out.push(set);
        }
        Ok(out)
    }
}
