//! The brute-force campaign: random bounded unions against enumeration of all their points.
//!
//! Shared by the test (about one in a hundred cases) and the example `campaign` (as many as asked
//! for). Each case is a pair of unions over one to six variables, some of them read as parameters,
//! with equalities, existential variables and coefficients up to twelve. Checked: emptiness,
//! sample, subset, parametric lexmin, projection.

use std::fmt;

use crate::random::Random;

use loomir_polyhedra::{Conjunction, Emptiness, Int, Limits, Point, Relation, Set, Space, Tuple, Var};

/// Counts of the cases by kind.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) cases: u64,
    pub(crate) nonempty: u64,
    pub(crate) existentials: u64,
    pub(crate) equalities: u64,
    pub(crate) unions: u64,
    pub(crate) rational_only: u64,
    pub(crate) subsets: u64,
    pub(crate) points: u64,
    pub(crate) failures: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |part: u64| format!("{:.1} %", 100.0 * part as f64 / self.cases.max(1) as f64);
        writeln!(f, "cases={}", self.cases)?;
        writeln!(f, "non-empty={}", share(self.nonempty))?;
        writeln!(f, "rationally non-empty without an integer point={}", share(self.rational_only))?;
        writeln!(f, "with existential variables={}", share(self.existentials))?;
        writeln!(f, "with equalities={}", share(self.equalities))?;
        writeln!(f, "unions of two={}", share(self.unions))?;
        writeln!(f, "first a subset of second={}", share(self.subsets))?;
        writeln!(f, "points looked up={}", self.points)?;
        write!(f, "disagreements={}", self.failures.len())
    }
}

/// One conjunction as numbers: rows of constant, visible and existential coefficients.
struct Member {
    rows: Vec<(Vec<i64>, bool)>,
}

/// A random union and its points.
struct Union {
    visible: usize,
    existential: usize,
    side: i64,
    members: Vec<Member>,
}

impl Union {
    fn new(random: &mut Random, visible: usize, existential: usize, side: i64) -> Union {
        let members = (0..1 + random.chance(30) as usize)
            .map(|_| Member { rows: rows(random, visible + existential, side) })
            .collect();
        Union { visible, existential, side, members }
    }

    fn conjunctions(&self) -> Vec<Conjunction> {
        let build = |member: &Member| {
            let mut set = Conjunction::new(self.visible);
            for _ in 0..self.existential {
                set.exists();
            }
            for (row, equality) in &member.rows {
                let terms: Vec<(Var, i64)> =
                    row[1..].iter().enumerate().map(|(index, value)| (Var(index as u32), *value)).collect();
                if *equality { set.add_terms_eq(&terms, row[0]) } else { set.add_terms_ge(&terms, row[0]) }
            }
            for var in 0..self.visible + self.existential {
                set.add_ge(Var(var as u32), 0);
                set.add_lt(Var(var as u32), self.side);
            }
            set
        };
        self.members.iter().map(build).collect()
    }

    /// Membership of every visible point of the box, first variable slowest.
    fn points(&self) -> Vec<bool> {
        let vars = self.visible + self.existential;
        let below = self.side.pow(self.existential as u32) as usize;
        let total = self.side.pow(vars as u32) as usize;
        let mut inside = vec![false; total / below];
        for member in &self.members {
            let mut point = vec![0i64; vars];
            let mut values: Vec<i64> = member.rows.iter().map(|(row, _)| row[0]).collect();
            for index in 0..total {
                let slot = &mut inside[index / below];
                if !*slot {
                    *slot = member
                        .rows
                        .iter()
                        .zip(&values)
                        .all(|((_, eq), v)| if *eq { *v == 0 } else { *v >= 0 });
                }
                for var in (0..vars).rev() {
                    let wrap = point[var] + 1 == self.side;
                    let step = if wrap { -point[var] } else { 1 };
                    point[var] += step;
                    for ((row, _), value) in member.rows.iter().zip(&mut values) {
                        *value += step * row[var + 1];
                    }
                    if !wrap {
                        break;
                    }
                }
            }
        }
        inside
    }

    fn uses_existentials(&self) -> bool {
        let used = |row: &[i64]| row[1 + self.visible..].iter().any(|value| *value != 0);
        self.members.iter().any(|member| member.rows.iter().any(|(row, _)| used(row)))
    }

    fn text(&self) -> String {
        Set::from_conjunctions(Space::set(&[], Tuple::unnamed("", self.visible)), self.conjunctions())
            .to_string()
    }
}

fn rows(random: &mut Random, vars: usize, side: i64) -> Vec<(Vec<i64>, bool)> {
    let mut out = Vec::new();
    let largest = [3, 6, 12][random.range(0, 2) as usize];
    for _ in 0..random.range(1, 2 + vars as i64 / 2) {
        let mut row: Vec<i64> =
            (0..=vars).map(|_| if random.chance(35) { 0 } else { random.range(-largest, largest) }).collect();
        // Through or near a random point of the box, so that about half of the sets have points.
        let through: i64 = row[1..].iter().map(|value| value * random.range(0, side - 1)).sum();
        row[0] = -through + random.range(-4, 4);
        let equality = random.chance(20);
        if !equality && random.chance(45) {
            // A thin slab: the place where rational and integer emptiness differ.
            let width = random.range(0, largest / 2);
            let mut opposite: Vec<i64> = row.iter().map(|value| -value).collect();
            opposite[0] += width;
            out.push((opposite, false));
        }
        out.push((row, equality));
    }
    out
}

fn coordinates(mut index: usize, vars: usize, side: i64) -> Vec<i64> {
    let mut point = vec![0; vars];
    for var in (0..vars).rev() {
        point[var] = (index % side as usize) as i64;
        index /= side as usize;
    }
    point
}

fn as_point(coordinates: &[i64]) -> Point {
    Point::new(coordinates.iter().map(|value| Int::from(*value)).collect())
}

/// Runs cases `first..first + count` of a seed.
pub(crate) fn run(seed: u64, first: u64, count: u64, report: &mut Report) {
    for case in first..first + count {
        let before = report.failures.len();
        if let Err(failure) = one(seed, case, report) {
            report.failures.push(failure);
        }
        for failure in &mut report.failures[before..] {
            *failure = format!("case {case} of seed {seed}: {failure}");
        }
    }
}

fn one(seed: u64, case: u64, report: &mut Report) -> Result<(), String> {
    let random = &mut Random(seed.wrapping_mul(0x1000_0000_01b3) ^ case.wrapping_mul(0x9e37_79b9));
    let case = Case::new(random);
    case.count(report);
    case.emptiness()?;
    case.sample()?;
    case.subset(report)?;
    case.lexmin_and_projection(random, report)
}

/// Two unions over the same variables, and their points.
struct Case {
    a: Union,
    b: Union,
    inside_a: Vec<bool>,
    inside_b: Vec<bool>,
    set_a: Set,
    set_b: Set,
}

impl Case {
    fn new(random: &mut Random) -> Self {
        let visible = random.range(1, 6) as usize;
        let existential = if random.chance(40) && visible < 6 {
            random.range(1, 2.min(6 - visible as i64)) as usize
        } else {
            0
        };
        let side = [0, 24, 14, 8, 5, 4, 3][visible + existential];
        let a = Union::new(random, visible, existential, side);
        let mut b = Union::new(random, visible, existential, side);
        if random.chance(40) {
            // Often a superset: the first with some rows dropped.
            for (mine, other) in b.members.iter_mut().zip(&a.members) {
                mine.rows = other.rows.iter().filter(|_| random.chance(70)).cloned().collect();
            }
        }
        let space = Space::set(&[], Tuple::unnamed("", visible));
        let set_a = Set::from_conjunctions(space.clone(), a.conjunctions());
        let set_b = Set::from_conjunctions(space, b.conjunctions());
        Case { inside_a: a.points(), inside_b: b.points(), a, b, set_a, set_b }
    }

    fn count(&self, report: &mut Report) {
        let Case { a, .. } = self;
        report.cases += 1;
        report.existentials += u64::from(a.uses_existentials());
        report.equalities +=
            u64::from(a.members.iter().any(|member| member.rows.iter().any(|(_, equality)| *equality)));
        report.unions += u64::from(a.members.len() > 1);
        report.nonempty += u64::from(self.is_nonempty());
        if !self.is_nonempty() && a.members.iter().any(|member| rationally_nonempty(a, member)) {
            report.rational_only += 1;
        }
    }

    fn is_nonempty(&self) -> bool {
        self.inside_a.iter().any(|inside| *inside)
    }

    fn text(&self) -> String {
        format!("{} against {}", self.a.text(), self.b.text())
    }

    /// Returns the number of a point of the box.
    fn number(&self, point: &Point) -> Option<usize> {
        let mut index = 0usize;
        for value in point.to_i64s()? {
            if !(0..self.a.side).contains(&value) {
                return None;
            }
            index = index * self.a.side as usize + value as usize;
        }
        Some(index)
    }

    /// Checks the emptiness of the given form and of the normal form.
    fn emptiness(&self) -> Result<(), String> {
        let limits = Limits::default();
        let nonempty = self.is_nonempty();
        let raw: Vec<Emptiness> = self.a.conjunctions().iter().map(|piece| piece.is_empty(&limits)).collect();
        if raw.iter().any(|answer| matches!(answer, Emptiness::NonEmpty(_))) != nonempty {
            return Err(format!("emptiness of {}", self.text()));
        }
        match self.set_a.is_empty(&limits) {
            Emptiness::Empty if !nonempty => Ok(()),
            Emptiness::NonEmpty(point) if self.number(&point).is_some_and(|index| self.inside_a[index]) => {
                Ok(())
            }
            answer => Err(format!("emptiness of {}: {answer:?}", self.text())),
        }
    }

    /// Checks that the sample is the point with the least greatest coordinate.
    fn sample(&self) -> Result<(), String> {
        let limits = Limits::default();
        match self.set_a.sample(&limits).map_err(|error| error.to_string())? {
            None if !self.is_nonempty() => Ok(()),
            Some(point) => {
                let size = |index: usize| {
                    coordinates(index, self.a.visible, self.a.side).into_iter().max().unwrap_or(0)
                };
                let least = (0..self.inside_a.len())
                    .filter(|index| self.inside_a[*index])
                    .min_by_key(|index| (size(*index), *index));
                if self.number(&point) == least {
                    Ok(())
                } else {
                    Err(format!("sample of {}: {point}", self.text()))
                }
            }
            None => Err(format!("sample of {}", self.text())),
        }
    }

    fn subset(&self, report: &mut Report) -> Result<(), String> {
        let subset = self.inside_a.iter().zip(&self.inside_b).all(|(a, b)| !a || *b);
        report.subsets += u64::from(subset);
        let answer =
            self.set_a.is_subset(&self.set_b, &Limits::default()).map_err(|error| error.to_string())?;
        if answer == subset { Ok(()) } else { Err(format!("subset of {}", self.text())) }
    }

    /// Checks the lexmin of the last variables as a function of the first ones, and the shadow on
    /// the first ones.
    fn lexmin_and_projection(&self, random: &mut Random, report: &mut Report) -> Result<(), String> {
        let Case { a: Union { visible, side, .. }, inside_a, .. } = self;
        let (visible, side, limits) = (*visible, *side, Limits::default());
        let params = random.range(0, visible as i64 - 1) as usize;
        let space = Space::relation(&[], Tuple::unnamed("", params), Tuple::unnamed("", visible - params));
        let relation = Relation::from_conjunctions(space, self.a.conjunctions());
        let lexmin = relation.lexmin(&limits).map_err(|error| error.to_string())?;
        let shadow = relation.domain();
        let group = side.pow((visible - params) as u32) as usize;
        for probe in 0..12 {
            // Every second probe is at a point of the set, if there is one.
            let mut index = random.range(0, inside_a.len() as i64 - 1) as usize;
            if probe % 2 == 0 {
                index = (0..inside_a.len())
                    .map(|step| (index + step) % inside_a.len())
                    .find(|at| inside_a[*at])
                    .unwrap_or(index);
            }
            let start = index / group * group;
            let minimum = (start..start + group).find(|at| inside_a[*at]);
            report.points += 3;
            let point = coordinates(index, visible, side);
            let held =
                |answer: Result<bool, loomir_polyhedra::Error>| answer.map_err(|error| error.to_string());
            if held(lexmin.contains(&as_point(&point), &limits))? != (minimum == Some(index)) {
                return Err(format!("lexmin of {} by {params} at {point:?}: {lexmin}", self.text()));
            }
            if let Some(minimum) = minimum {
                let point = coordinates(minimum, visible, side);
                if !held(lexmin.contains(&as_point(&point), &limits))? {
                    return Err(format!("lexmin of {} by {params} misses {point:?}: {lexmin}", self.text()));
                }
            }
            if held(shadow.contains(&as_point(&point[..params]), &limits))? != minimum.is_some() {
                return Err(format!("projection of {} on {params} at {point:?}: {shadow}", self.text()));
            }
        }
        Ok(())
    }
}

/// True if a member has a rational point: scaled by a highly composite number it then has an
/// integer one. The denominators that occur divide no fixed number, so this counts a little too
/// few.
fn rationally_nonempty(set: &Union, member: &Member) -> bool {
    let scale = 2 * 3 * 4 * 5 * 7 * 9 * 11i64;
    let vars = set.visible + set.existential;
    let mut scaled = Conjunction::new(vars);
    for (row, equality) in &member.rows {
        let terms: Vec<(Var, i64)> =
            row[1..].iter().enumerate().map(|(index, value)| (Var(index as u32), *value)).collect();
        let constant = row[0] * scale;
        if *equality { scaled.add_terms_eq(&terms, constant) } else { scaled.add_terms_ge(&terms, constant) }
    }
    for var in 0..vars {
        scaled.add_ge(Var(var as u32), 0);
        scaled.add_le(Var(var as u32), (set.side - 1) * scale);
    }
    !scaled.is_empty(&Limits::default()).is_empty()
}
