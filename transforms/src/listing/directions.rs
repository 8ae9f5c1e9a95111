//! The directions of dependences between two accesses: one question for each combination that may
//! occur, from the outside in.
//!
//! Inner directions are examined only under outer directions that occur. Beyond [`MAX_ASKED`] loops
//! the inner ones are not distinguished.

use std::fmt;

use crate::access::{Answer, Class, Dependence, Example, LoopContext, Order, Question, Relation};
use crate::affine::AffineForm;
use crate::affine::system::Side;
use loomir_polyhedra::Limits;

/// The maximal number of loops with distinguished directions.
const MAX_ASKED: usize = 6;

/// A set of directions: the three possible relations of a source's iteration to a sink's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Directions(u8);

impl Directions {
    /// All directions: nothing is known.
    pub const ALL: Directions = Directions(7);
    /// The same iteration.
    pub const EQUAL: Directions = Directions::of(Order::Equal);

    /// Returns the set of one direction.
    pub const fn of(order: Order) -> Directions {
        match order {
            Order::Less => Directions(1),
            Order::Equal => Directions(2),
            Order::Greater => Directions(4),
        }
    }

    /// True if the set contains this direction.
    pub fn contains(self, order: Order) -> bool {
        self.0 & Directions::of(order).0 != 0
    }

    fn or(self, other: Directions) -> Directions {
        Directions(self.0 | other.0)
    }
}

impl fmt::Display for Directions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(["none", "<", "=", "<=", ">", "<>", ">=", "*"][usize::from(self.0 & 7)])
    }
}

/// The relation of the iterations of source and sink in one loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Each of these occurs.
    pub directions: Directions,
    /// The dependence distance, if it is constant.
    pub distance: Option<i64>,
}

impl Entry {
    /// Both are in the same iteration.
    pub const SAME: Entry = Entry { directions: Directions::EQUAL, distance: Some(0) };
}

/// The given fact about one loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Given {
    /// Both are in one iteration.
    Equal,
    /// The sink is in a later iteration, at this distance if it is known.
    Later(Option<i64>),
    /// No fact.
    Open,
}

/// Two accesses, and conditions on their instances besides the directions.
pub(super) struct Ask<'q> {
    pub(super) first: &'q Class,
    pub(super) second: &'q Class,
    pub(super) loop_context: &'q LoopContext,
    pub(super) equal: &'q [(&'q AffineForm, &'q AffineForm)],
    pub(super) dependence: &'q dyn Dependence,
    pub(super) limits: &'q Limits,
}

/// Directions that occur together.
#[derive(Clone)]
pub(super) struct Line {
    /// For each loop inside the loop_context that is around both.
    pub(super) vector: Vec<Entry>,
    /// Two instances.
    pub(super) example: Option<Box<Example>>,
}

impl Ask<'_> {
    /// Returns all directions in the loops inside the loop context, under these given facts.
    pub(super) fn lines(&self, given: &[Given]) -> Vec<Line> {
        let mut lines = self.split(given, &mut Vec::new());
        for line in &mut lines {
            self.distances(given, line);
        }
        lines
    }

    /// Returns the lines of the table that begin with these directions.
    fn split(&self, given: &[Given], orders: &mut Vec<Directions>) -> Vec<Line> {
        let answer = self.meet(given, orders, None);
        if matches!(answer, Answer::Never) {
            return Vec::new();
        }
        let asked = orders.len();
        if asked == given.len() || asked >= MAX_ASKED {
            let known = given[asked..].iter().map(|own| match own {
                Given::Equal => Directions::EQUAL,
                Given::Later(_) => Directions::of(Order::Less),
                Given::Open => Directions::ALL,
            });
            let entry = |directions| Entry { directions, distance: None };
            let example = if let Answer::At(example) = answer { Some(example) } else { None };
            return vec![Line { vector: known.map(entry).collect(), example }];
        }
        let ways: &[Order] = match given[asked] {
            Given::Equal => &[Order::Equal],
            Given::Later(_) => &[Order::Less],
            Given::Open => &[Order::Less, Order::Equal, Order::Greater],
        };
        // Directions with equal lines inside are joined.
        let mut found: Vec<(Directions, Vec<Line>)> = Vec::new();
        for way in ways {
            let way = Directions::of(*way);
            orders.push(way);
            let inside = self.split(given, orders);
            orders.pop();
            let vectors = |lines: &[Line]| lines.iter().map(|line| line.vector.clone()).collect::<Vec<_>>();
            let alike = found.iter_mut().find(|(_, lines)| vectors(lines) == vectors(&inside));
            match alike {
                Some((directions, _)) => *directions = directions.or(way),
                None => found.push((way, inside)),
            }
        }
        let lines = found.into_iter().flat_map(|(directions, lines)| {
            lines.into_iter().map(move |mut line| {
                line.vector.insert(0, Entry { directions, distance: None });
                line
            })
        });
        lines.collect()
    }

    /// Sets the distances of a line that are the same for its instances.
    fn distances(&self, given: &[Given], line: &mut Line) {
        let orders: Vec<Directions> = line.vector.iter().map(|entry| entry.directions).collect();
        for (at, own) in given.iter().enumerate() {
            let distance = match own {
                _ if orders[at] == Directions::EQUAL => Some(0),
                Given::Later(Some(by)) => Some(*by),
                _ => self.distance(given, &orders, at, line.example.as_deref()),
            };
            line.vector[at].distance = distance;
        }
    }

    fn distance(
        &self,
        given: &[Given],
        orders: &[Directions],
        at: usize,
        example: Option<&Example>,
    ) -> Option<i64> {
        let is_one_way = [Order::Less, Order::Greater].map(Directions::of).contains(&orders[at]);
        let example = example.filter(|_| is_one_way && at < MAX_ASKED)?;
        let level = AffineForm::level(self.loop_context.depth + at as u32);
        let [x, y] = [Side::First, Side::Second].map(|side| example.value(&level, side));
        let by = y?.checked_sub(x?)?;
        let there = level.plus(&AffineForm::constant(by), 1)?;
        let never = |is| {
            let other = Relation { first: &there, is, second: &level };
            matches!(self.meet(given, orders, Some(other)), Answer::Never)
        };
        (never(Order::Less) && never(Order::Greater)).then_some(by)
    }

    /// Decides if there are two instances in these directions.
    fn meet(&self, given: &[Given], orders: &[Directions], also: Option<Relation<'_>>) -> Answer {
        let levels: Vec<[AffineForm; 2]> = (self.loop_context.depth..)
            .zip(given)
            .map(|(level, own)| {
                let by = if let Given::Later(Some(by)) = own { *by } else { 1 };
                // Adding a constant to a level always fits.
                [
                    AffineForm::level(level),
                    AffineForm::level(level).plus(&AffineForm::constant(by), 1).unwrap_or_default(),
                ]
            })
            .collect();
        let mut order: Vec<Relation<'_>> = Vec::new();
        for ((own, [level, next]), at) in given.iter().zip(&levels).zip(0..) {
            let relation = |first, is, second| Some(Relation { first, is, second });
            let directions = orders.get(at).copied();
            order.extend(match own {
                Given::Equal => relation(level, Order::Equal, level),
                Given::Later(Some(_)) => relation(next, Order::Equal, level),
                Given::Later(None) => relation(level, Order::Less, level),
                Given::Open => match directions.map(|own| own.0) {
                    Some(1) => relation(level, Order::Less, level),
                    Some(2) => relation(level, Order::Equal, level),
                    Some(4) => relation(level, Order::Greater, level),
                    Some(3) => relation(level, Order::Less, next),
                    Some(6) => relation(next, Order::Greater, level),
                    _ => None,
                },
            });
        }
        order.extend(also);
        self.dependence.meet(&Question {
            first: self.first,
            second: self.second,
            loop_context: self.loop_context,
            equal: self.equal,
            order: &order,
            shown: &[],
            limits: self.limits,
        })
    }
}
