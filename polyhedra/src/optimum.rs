//! Optima of unions: lexicographic ones as pieces, those of one expression as numbers, and small
//! sample points.

use std::ops::Range;

use crate::affine::{Affine, Var};
use crate::conjunction::{Conjunction, Point};
use crate::int::Int;
use crate::limits::{Budget, Exact, Stop};
use crate::parametric::{End, parametric_optimum};
use crate::scalar::{Scalar, ladder};
use crate::solve::{Least, minimize};
use crate::union::subtract;

/// The result of a lexicographic optimisation.
pub(crate) enum Optimum {
    Pieces(Vec<Conjunction>),
    Unbounded,
}

/// For each value of the first `fixed` variables the lexicographic optimum of the others.
pub(crate) fn optimum(pieces: &[Conjunction], fixed: usize, end: End, budget: &mut Budget) -> Exact<Optimum> {
    let mut best: Vec<Conjunction> = Vec::new();
    let mut domains: Vec<Conjunction> = Vec::new();
    for piece in pieces {
        let Some(new) = optimum_of_one(piece, fixed, end, budget)? else { return Ok(Optimum::Unbounded) };
        if new.is_empty() {
            continue;
        }
        let domain = domain(piece, &new, fixed, budget)?;
        best = better(&best, &domains, &new, domain.as_slice(), fixed, end, budget)?;
        domains.extend(domain);
    }
    Ok(Optimum::Pieces(best))
}

/// Where a member has an optimum, over all variables, of which the fixed ones alone are
/// constrained: its shadow, or that of its optimum if this is one piece, whose existential
/// variables are determined.
fn domain(
    member: &Conjunction,
    optimum: &[Conjunction],
    fixed: usize,
    budget: &mut Budget,
) -> Exact<Option<Conjunction>> {
    let member = if let [piece] = optimum { piece } else { member };
    member.hidden(|var| var >= fixed).renamed(member.visible(), &identity(fixed)).simplified_within(budget)
}

/// Where two optima, given by disjoint members, are both defined the better one, elsewhere the only
/// one.
fn better(
    old: &[Conjunction],
    old_domains: &[Conjunction],
    new: &[Conjunction],
    new_domain: &[Conjunction],
    fixed: usize,
    end: End,
    budget: &mut Budget,
) -> Exact<Vec<Conjunction>> {
    let mut old_sides: Vec<Side> = old.iter().map(|_| Side::default()).collect();
    let mut new_sides: Vec<Side> = new.iter().map(|_| Side::default()).collect();
    for (a, a_side) in old.iter().zip(&mut old_sides) {
        for (b, b_side) in new.iter().zip(&mut new_sides) {
            let (a_wins, b_wins) = contest(a, b, fixed, end, budget)?;
            a_side.beaten |= !b_wins.is_empty();
            b_side.beaten |= !a_wins.is_empty();
            a_side.wins.extend(a_wins);
            b_side.wins.extend(b_wins);
        }
    }
    let mut out = Vec::new();
    for (members, sides, others) in [(old, old_sides, new_domain), (new, new_sides, old_domains)] {
        for (member, side) in members.iter().zip(sides) {
            if side.beaten {
                out.extend(subtract(std::slice::from_ref(member), others, budget)?);
                out.extend(side.wins);
            } else {
                out.push(member.clone());
            }
        }
    }
    Ok(out)
}

/// One member of an optimum that meets another, behind the comparison.
#[derive(Default)]
struct Side {
    /// Parts on which it is better than the other.
    wins: Vec<Conjunction>,
    /// True if the other is better anywhere.
    beaten: bool,
}

/// The parts of `a` and of `b` where both are defined and it is the better one; of equals `a`.
fn contest(
    a: &Conjunction,
    b: &Conjunction,
    fixed: usize,
    end: End,
    budget: &mut Budget,
) -> Exact<(Vec<Conjunction>, Vec<Conjunction>)> {
    // Visible: the fixed variables, those of `a`, those of `b`.
    let dims = a.visible() - fixed;
    let all = fixed + 2 * dims;
    let beside: Vec<usize> = (0..fixed).chain(fixed + dims..all).collect();
    let both = a.renamed(all, &identity(a.visible())).intersect(&b.renamed(all, &beside));
    let Some(mut tied) = both.simplified_within(budget)? else { return Ok((Vec::new(), Vec::new())) };
    if tied.decide_empty(budget)? {
        return Ok((Vec::new(), Vec::new()));
    }
    let (mut a_wins, mut b_wins) = (Vec::new(), Vec::new());
    for dim in 0..dims {
        let (mut low, mut high) = (Var((fixed + dim) as u32), Var((fixed + dims + dim) as u32));
        if end == End::Greatest {
            std::mem::swap(&mut low, &mut high);
        }
        let (mut less, mut greater) = (tied.clone(), tied.clone());
        less.add_lt(low, high);
        greater.add_gt(low, high);
        tied.add_eq(low, high);
        for (part, wins) in [(less, &mut a_wins), (greater, &mut b_wins)] {
            if !part.decide_empty(budget)? {
                wins.push(part);
            }
        }
        if tied.decide_empty(budget)? {
            break;
        }
        if dim + 1 == dims {
            a_wins.push(tied.clone());
        }
    }
    // Who is never beaten keeps the whole.
    if b_wins.is_empty() {
        a_wins = vec![both];
    } else if a_wins.is_empty() {
        b_wins = vec![both];
    }
    let mut parts = |wins: Vec<Conjunction>, others: Range<usize>| -> Exact<Vec<Conjunction>> {
        let part = |win: &Conjunction| win.hidden(|var| others.contains(&var)).simplified_within(budget);
        wins.iter().map(part).filter_map(Exact::transpose).collect()
    };
    Ok((parts(a_wins, fixed + dims..all)?, parts(b_wins, fixed..fixed + dims)?))
}

fn identity(vars: usize) -> Vec<usize> {
    (0..vars).collect()
}

/// `None`: unbounded somewhere.
fn optimum_of_one(
    piece: &Conjunction,
    fixed: usize,
    end: End,
    budget: &mut Budget,
) -> Exact<Option<Vec<Conjunction>>> {
    if fixed == 0 {
        return constant_optimum(piece, end, budget);
    }
    let Some(piece) = piece.with_hull(budget)? else { return Ok(Some(Vec::new())) };
    let pieces = parametric_optimum(&piece, fixed, end, budget)?;
    Ok(pieces.map(|pieces| pieces.iter().filter_map(Conjunction::simplified).collect()))
}

/// The optimum of a set without parameters: one coordinate after the other.
fn constant_optimum(piece: &Conjunction, end: End, budget: &mut Budget) -> Exact<Option<Vec<Conjunction>>> {
    let mut point = piece.clone();
    let sign = if end == End::Least { 1 } else { -1 };
    for dim in 0..piece.visible() {
        let var = Var(dim as u32);
        match least(std::slice::from_ref(&point), &(var * sign), budget)? {
            Least::Empty => return Ok(Some(Vec::new())),
            Least::Unbounded => return Ok(None),
            Least::Value(value) => point.add_eq(var * sign, value),
        }
    }
    let mut single = Conjunction::new(piece.visible());
    match point.solve(budget)? {
        None => Ok(Some(Vec::new())),
        Some(found) => {
            for (dim, value) in found.coordinates().iter().enumerate() {
                single.add_eq(Var(dim as u32), value.clone());
            }
            Ok(Some(vec![single]))
        }
    }
}

/// The least value of an expression over a union.
pub(crate) fn least(pieces: &[Conjunction], objective: &Affine, budget: &mut Budget) -> Exact<Least<Int>> {
    let mut result = Least::Empty;
    for piece in pieces {
        match ladder!(T => least_of_one::<T>(piece, objective, budget))? {
            Least::Empty => {}
            Least::Unbounded => return Ok(Least::Unbounded),
            Least::Value(value) => {
                result = match result {
                    Least::Value(least) if least <= value => Least::Value(least),
                    _ => Least::Value(value),
                }
            }
        }
    }
    Ok(result)
}

fn least_of_one<T: Scalar>(
    piece: &Conjunction,
    objective: &Affine,
    budget: &mut Budget,
) -> Exact<Least<Int>> {
    let mut row = vec![T::zero(); piece.vars() + 1];
    row[0] = T::from_int(objective.constant_term())?;
    for (var, value) in objective.terms() {
        match row.get_mut(var.index() + 1) {
            Some(target) => *target = T::from_int(value)?,
            None => return Err(Stop::Limit),
        }
    }
    Ok(match minimize(&piece.system::<T>(), &row, budget)? {
        Least::Empty => Least::Empty,
        Least::Unbounded => Least::Unbounded,
        Least::Value(value) => Least::Value(value.to_int()),
    })
}

/// A small, readable point: of the points whose largest coordinate is least in size, the one whose
/// coordinates, in order, are each nearest to zero, positive before negative.
pub(crate) fn smallest_point(pieces: &[Conjunction], budget: &mut Budget) -> Exact<Option<Point>> {
    let Some(mut known) = crate::union::any_point(pieces, budget)? else { return Ok(None) };
    let boxed = |size: &Int| -> Vec<Conjunction> {
        pieces
            .iter()
            .map(|piece| {
                let mut inside = piece.clone();
                for var in 0..piece.visible() {
                    inside.add_le(Var(var as u32), size.clone());
                    inside.add_ge(Var(var as u32), -size);
                }
                inside
            })
            .collect()
    };
    let size = |point: &Point| point.coordinates().iter().map(Int::abs).max().unwrap_or_default();
    let (mut low, mut high) = (Int::ZERO, size(&known));
    while low < high {
        let middle = (&low + &high).div_floor(&Int::from(2));
        match crate::union::any_point(&boxed(&middle), budget)? {
            Some(point) => {
                high = size(&point);
                known = point;
            }
            None => low = middle + Int::ONE,
        }
    }
    let mut inside = boxed(&high);
    for index in 0..known.coordinates().len() {
        let var = Var(index as u32);
        // Nearest to zero: |x| ≤ r, by bisection from the known point.
        let (mut low, mut high) = (Int::ZERO, known.get(var).abs());
        while low < high {
            let middle = (&low + &high).div_floor(&Int::from(2));
            match crate::union::any_point(&between(&inside, var, &-&middle, &middle), budget)? {
                Some(point) => {
                    high = point.get(var).abs();
                    known = point;
                }
                None => low = middle + Int::ONE,
            }
        }
        if known.get(var).signum() < 0
            && let Some(point) = crate::union::any_point(&between(&inside, var, &high, &high), budget)?
        {
            known = point;
        }
        let value = known.get(var);
        inside = between(&inside, var, &value, &value);
    }
    Ok(Some(known))
}

fn between(pieces: &[Conjunction], var: Var, low: &Int, high: &Int) -> Vec<Conjunction> {
    pieces
        .iter()
        .map(|piece| {
            let mut inside = piece.clone();
            inside.add_ge(var, low.clone());
            inside.add_le(var, high.clone());
            inside
        })
        .collect()
}
