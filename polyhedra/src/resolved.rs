//! Conjunctions with the definitions of their existential variables.

use std::ops::RangeInclusive;

use crate::conjunction::Conjunction;
use crate::int::Int;
use crate::limits::Exact;
use crate::rows::{System, negate};
use crate::scalar::Scalar;
use crate::solve::{Parallel, parallel};

/// `variable = ⌊row / divisor⌋`, the row over visible variables and ones defined before.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) column: usize,
    pub(crate) row: Vec<Int>,
    pub(crate) divisor: Int,
}

/// The rows of a conjunction with numbers of any size. An existential variable that an equality
/// gives with coefficient 1, such as a multiple of another one, is put back into the other rows.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    pub(crate) visible: usize,
    pub(crate) system: System<Int>,
}

impl Resolved {
    pub(crate) fn new(set: &Conjunction) -> Exact<Resolved> {
        let mut system: System<Int> = set.system();
        let first = set.visible() + 1;
        while let Some((index, column)) = system.eqs.iter().enumerate().find_map(|(index, row)| {
            (first..row.len()).find(|column| row[*column].is_unit()).map(|column| (index, column))
        }) {
            let row = system.eqs.row(index).to_vec();
            system.eqs.swap_remove(index);
            system.substitute(&row, column)?;
        }
        Ok(Resolved { visible: set.visible(), system })
    }

    /// The constraints over `vars` variables, the existential ones moved by `shift`.
    pub(crate) fn moved(&self, shift: usize, vars: usize) -> System<Int> {
        let place = |column: usize| if column <= self.visible { column } else { column + shift };
        let columns: Vec<usize> = (0..=self.system.vars()).map(place).collect();
        self.system.scattered(vars + 1, &columns)
    }

    /// Replaces the variables of `columns` by their negations.
    pub(crate) fn mirror(&mut self, columns: RangeInclusive<usize>) -> Exact<()> {
        for row in self.system.eqs.iter_mut().chain(self.system.ins.iter_mut()) {
            negate(&mut row[columns.clone()])?;
        }
        Ok(())
    }

    /// Columns of the existential variables that occur.
    pub(crate) fn occurring(&self) -> Vec<usize> {
        let used = |column: &usize| {
            self.system.eqs.iter().chain(self.system.ins.iter()).any(|row| !row[*column].is_zero())
        };
        (self.visible + 1..self.system.ins.width()).filter(used).collect()
    }

    /// Definitions of the existential variables that the constraints determine by the first `fixed`
    /// variables. Each uses earlier ones only.
    pub(crate) fn definitions(&self, fixed: usize) -> Vec<Definition> {
        let occurring = self.occurring();
        let mut known: Vec<bool> = (0..self.system.ins.width()).map(|column| column <= fixed).collect();
        let mut found = Vec::new();
        loop {
            let definition = occurring
                .iter()
                .filter(|column| !known[**column])
                .find_map(|column| self.definition_of(*column, &known));
            let Some(definition) = definition else { return found };
            known[definition.column] = true;
            found.push(definition);
        }
    }

    /// A definition of one existential variable over known ones: by an equality, or by two bounds
    /// with at most one integer between them.
    fn definition_of(&self, column: usize, known: &[bool]) -> Option<Definition> {
        let usable = |row: &[Int]| {
            !row[column].is_zero()
                && row
                    .iter()
                    .enumerate()
                    .all(|(other, value)| value.is_zero() || other == column || known[other])
        };
        // The row is f − d·e with d > 0 once its sign is right.
        let solve_for = |row: &[Int]| -> Definition {
            let flip = row[column].signum() > 0;
            let mut f: Vec<Int> = row.iter().map(|value| if flip { -value } else { value.clone() }).collect();
            let divisor = -&f[column];
            f[column] = Int::ZERO;
            Definition { column, row: f, divisor }
        };
        if let Some(row) = self.system.eqs.iter().find(|row| usable(row)) {
            return Some(solve_for(row));
        }
        let bounds: Vec<&[Int]> = self.system.ins.iter().filter(|row| usable(row)).collect();
        for upper in bounds.iter().filter(|row| row[column].signum() < 0) {
            for lower in bounds.iter().filter(|row| row[column].signum() > 0) {
                if let Parallel::Opposite = parallel(upper, lower)
                    && &upper[0] + &lower[0] < lower[column]
                {
                    return Some(solve_for(upper));
                }
            }
        }
        None
    }

    /// True if every existential variable that occurs is determined.
    pub(crate) fn is_explicit(&self) -> bool {
        let occurring = self.occurring();
        occurring.is_empty() || self.definitions(self.visible).len() == occurring.len()
    }
}
