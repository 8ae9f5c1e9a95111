//! Printing in isl's notation, made for reading: chains `0 <= i < n`, strides as `mod`, quotients
//! as `floor`, output dimensions that an equality gives as expressions.
//!
//! A `floor` is written where it is used only if visible variables alone give it, so that text
//! stays as long as the set: quotients of quotients are named by `exists`.

use std::fmt::{self, Write};

use crate::conjunction::Conjunction;
use crate::int::Int;
use crate::resolved::Resolved;
use crate::scalar::Scalar;
use crate::space::{Space, Tuple};

/// Writes `[params] -> { … }`.
pub(crate) fn print(space: &Space, pieces: &[Conjunction], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if !space.params.is_empty() {
        write!(f, "[{}] -> ", space.params.join(", "))?;
    }
    f.write_str("{ ")?;
    if pieces.is_empty() {
        let mut names = space.names().into_iter().skip(space.params.len());
        write_tuples(space, f, |_| names.next().unwrap_or_default())?;
        f.write_str(" : false")?;
    }
    for (index, piece) in pieces.iter().enumerate() {
        if index > 0 {
            f.write_str("; ")?;
        }
        Printer::new(space, piece)?.disjunct(f)?;
    }
    f.write_str(" }")
}

fn write_tuples(
    space: &Space,
    f: &mut fmt::Formatter<'_>,
    mut entry: impl FnMut(usize) -> String,
) -> fmt::Result {
    let mut var = space.params.len();
    for (index, tuple) in space.tuples.iter().enumerate() {
        if index > 0 {
            f.write_str(" -> ")?;
        }
        write!(f, "{}[", tuple.name.as_deref().unwrap_or(""))?;
        for dim in 0..tuple.arity() {
            write!(f, "{}{}", if dim == 0 { "" } else { ", " }, entry(var))?;
            var += 1;
        }
        f.write_char(']')?;
    }
    Ok(())
}

/// One disjunct being printed; multiples that stand for large coefficients are put back in.
struct Printer<'s> {
    space: &'s Space,
    /// Of variables, or the quotient an existential variable is.
    names: Vec<String>,
    /// Which existential variables are written as quotients.
    quotients: Vec<bool>,
    eqs: Vec<Vec<Int>>,
    ins: Vec<Vec<Int>>,
    /// The equality that gives a dimension which is printed as an expression in its tuple.
    given: Vec<Option<Vec<Int>>>,
}

impl<'s> Printer<'s> {
    fn new(space: &'s Space, piece: &Conjunction) -> Result<Printer<'s>, fmt::Error> {
        let system = Resolved::new(piece).map_err(|_| fmt::Error)?.system;
        let mut names = space.names();
        let mut fresh = 0;
        while names.len() < piece.vars() {
            let name = format!("e{fresh}");
            fresh += 1;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let mut printer = Printer {
            space,
            quotients: vec![false; names.len()],
            names,
            eqs: system.eqs.into_rows().collect(),
            ins: system.ins.into_rows().collect(),
            given: vec![None; space.vars()],
        };
        printer.take_quotients();
        printer.take_given_dims();
        Ok(printer)
    }

    /// Existential variables that two bounds make the quotient of an expression over visible
    /// variables.
    fn take_quotients(&mut self) {
        for column in self.space.vars() + 1..=self.names.len() {
            let Some((lower, upper)) = self.quotient(column) else { continue };
            let mut numerator = self.ins[lower].clone();
            let divisor = -std::mem::take(&mut numerator[column]);
            self.names[column - 1] = format!("floor(({})/{divisor})", self.affine(&numerator, |_| true));
            self.quotients[column - 1] = true;
            self.ins.remove(lower.max(upper));
            self.ins.remove(lower.min(upper));
        }
    }

    /// The rows `f − d·e ≥ 0` and `d·e − f + d − 1 ≥ 0` of an existential variable `e`, `f` over
    /// visible variables.
    fn quotient(&self, column: usize) -> Option<(usize, usize)> {
        let zero = Int::ZERO;
        let alone = |row: &[Int]| {
            (self.space.vars() + 1..row.len()).all(|other| other == column || row[other] == zero)
        };
        let mut bounds = self.ins.iter().enumerate().filter(|(_, row)| row[column] < -Int::ONE && alone(row));
        bounds.find_map(|(lower, row)| {
            let opposite = |other: &Vec<Int>| {
                other[1..].iter().zip(&row[1..]).all(|(a, b)| *a == -b)
                    && &other[0] + &row[0] == -&row[column] - Int::ONE
            };
            Some((lower, self.ins.iter().position(opposite)?))
        })
    }

    /// Dimensions of the last tuple that an equality gives by parameters and other dimensions
    /// before them.
    fn take_given_dims(&mut self) {
        let Some(last) = self.space.tuples.last().map(Tuple::arity) else { return };
        let vars = self.space.vars();
        for var in (vars - last..vars).rev() {
            let column = var + 1;
            let found = self.eqs.iter().position(|row| {
                row[column].is_unit()
                    && row[column + 1..].iter().all(|value| *value == Int::ZERO)
                    && (vars - last..var)
                        .all(|other| self.given[other].is_none() || row[other + 1] == Int::ZERO)
            });
            let Some(index) = found else { continue };
            let elsewhere = |rows: &[Vec<Int>], skip: Option<usize>| {
                rows.iter().enumerate().any(|(other, row)| Some(other) != skip && row[column] != Int::ZERO)
            };
            if elsewhere(&self.eqs, Some(index)) || elsewhere(&self.ins, None) {
                continue;
            }
            let mut row = self.eqs.remove(index);
            if row[column] > Int::ZERO {
                row.iter_mut().for_each(|value| *value = -&*value);
            }
            row[column] = Int::ZERO;
            self.given[var] = Some(row);
        }
    }

    fn disjunct(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_tuples(self.space, f, |var| match &self.given[var] {
            Some(row) => self.affine(row, |_| true),
            None => self.names[var].clone(),
        })?;
        let mut constraints: Vec<String> = Vec::new();
        let vars = self.space.vars();
        for row in &self.eqs {
            constraints.push(self.stride(row).unwrap_or_else(|| self.comparison(row, "=")));
        }
        constraints.extend(self.bounds());
        let used = |var: usize| {
            let column = var + 1;
            let strides = self.eqs.iter().filter(|row| self.stride(row).is_none());
            strides.chain(&self.ins).any(|row| row[column] != Int::ZERO)
        };
        let hidden: Vec<&str> = (vars..self.names.len())
            .filter(|var| used(*var) && !self.quotients[*var])
            .map(|var| self.names[var].as_str())
            .collect();
        if constraints.is_empty() {
            return Ok(());
        }
        let constraints = constraints.join(" and ");
        if hidden.is_empty() {
            write!(f, " : {constraints}")
        } else {
            write!(f, " : exists ({}: {constraints})", hidden.join(", "))
        }
    }

    /// An equality with one existential variable that occurs nowhere else, as `(…) mod g = 0`.
    fn stride(&self, row: &[Int]) -> Option<String> {
        let vars = self.space.vars();
        let mut existential = (vars + 1..row.len()).filter(|column| row[*column] != Int::ZERO);
        let column = existential.next()?;
        let elsewhere = self.eqs.iter().filter(|other| other.as_slice() != row).chain(&self.ins);
        if existential.next().is_some() || elsewhere.into_iter().any(|other| other[column] != Int::ZERO) {
            return None;
        }
        let inner = self.affine(row, |other| other != column);
        let modulus = if row[column] < Int::ZERO { -&row[column] } else { row[column].clone() };
        let single = inner.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '\'')
            && inner.starts_with(|c: char| c.is_alphabetic() || c == '_');
        Some(if single {
            format!("{inner} mod {modulus} = 0")
        } else {
            format!("({inner}) mod {modulus} = 0")
        })
    }

    /// The inequalities, bounds of one variable paired into chains.
    fn bounds(&self) -> Vec<String> {
        let mut out = Vec::new();
        let mut plain = Vec::new();
        let vars = self.names.len();
        let mut lower: Vec<Vec<&[Int]>> = vec![Vec::new(); vars];
        let mut upper: Vec<Vec<&[Int]>> = vec![Vec::new(); vars];
        for row in &self.ins {
            // A dimension is the subject rather than a parameter.
            let params = self.space.params.len();
            let dims = row[params + 1..].iter().any(|value| *value != Int::ZERO);
            let first = if dims { params + 1 } else { 1 };
            match (first..row.len()).rev().find(|column| row[*column].is_unit()) {
                Some(column) if row[column] > Int::ZERO => lower[column - 1].push(row),
                Some(column) => upper[column - 1].push(row),
                None => plain.push(self.comparison(row, ">=")),
            }
        }
        for var in 0..vars {
            let count = lower[var].len().max(upper[var].len());
            for index in 0..count {
                let name = &self.names[var];
                match (lower[var].get(index), upper[var].get(index)) {
                    (Some(low), Some(high)) => {
                        out.push(format!("{}{name}{}", self.low(low, var), self.high(high, var)))
                    }
                    (Some(low), None) => out.push(flipped(&self.low(low, var), name)),
                    (None, Some(high)) => out.push(format!("{name}{}", self.high(high, var))),
                    (None, None) => {}
                }
            }
        }
        out.extend(plain);
        out
    }

    /// `bound <= ` or `bound < ` of a row with coefficient 1 for `var`.
    fn low(&self, row: &[Int], var: usize) -> String {
        let mut bound: Vec<Int> = row.iter().map(|value| -value).collect();
        bound[var + 1] = Int::ZERO;
        let strict = bound[0] == Int::ONE && bound[1..].iter().any(|value| *value != Int::ZERO);
        if strict {
            bound[0] = Int::ZERO;
        }
        format!("{} {} ", self.affine(&bound, |_| true), if strict { "<" } else { "<=" })
    }

    /// ` <= bound` or ` < bound` of a row with coefficient −1 for `var`.
    fn high(&self, row: &[Int], var: usize) -> String {
        let mut bound = row.to_vec();
        bound[var + 1] = Int::ZERO;
        let strict = bound[0] == -Int::ONE && bound[1..].iter().any(|value| *value != Int::ZERO);
        if strict {
            bound[0] = Int::ZERO;
        }
        format!(" {} {}", if strict { "<" } else { "<=" }, self.affine(&bound, |_| true))
    }

    /// `row op 0` with the negative terms moved to the right.
    fn comparison(&self, row: &[Int], operator: &str) -> String {
        let zero = Int::ZERO;
        let left: Vec<Int> = row.iter().map(|v| if *v > zero { v.clone() } else { zero.clone() }).collect();
        let right: Vec<Int> = row.iter().map(|v| if *v < zero { -v } else { zero.clone() }).collect();
        format!("{} {operator} {}", self.affine(&left, |_| true), self.affine(&right, |_| true))
    }

    /// An affine expression, constant first.
    fn affine(&self, row: &[Int], keep: impl Fn(usize) -> bool) -> String {
        let mut out = String::new();
        for (column, value) in row.iter().enumerate() {
            if *value == Int::ZERO || !keep(column) {
                continue;
            }
            let negative = *value < Int::ZERO;
            out.push_str(match (out.is_empty(), negative) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            });
            let size = if negative { -value } else { value.clone() };
            if column == 0 {
                let _ = write!(out, "{size}");
            } else if size == Int::ONE {
                out.push_str(&self.names[column - 1]);
            } else {
                let times = if self.quotients[column - 1] { "*" } else { "" };
                let _ = write!(out, "{size}{times}{}", self.names[column - 1]);
            }
        }
        if out.is_empty() { "0".to_string() } else { out }
    }
}

/// `0 <= ` and `i` as `i >= 0`.
fn flipped(low: &str, name: &str) -> String {
    match low.strip_suffix(" <= ") {
        Some(bound) => format!("{name} >= {bound}"),
        None => format!("{name} > {}", low.trim_end_matches(" < ")),
    }
}
