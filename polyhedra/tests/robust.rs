//! Whatever comes in, an answer or a clear error comes out: random bytes, damaged texts, huge
//! numbers, degenerate spaces, large systems. Nothing may panic or run away; everything is limited
//! in steps.

use crate::questions::{ask_set, read};
use crate::random::Random;
use loomir_polyhedra::{
    Affine, Conjunction, Emptiness, Error, Int, Limits, Order, Point, Relation, Set, Space, Tuple, Var,
};

/// One text a line; the fuzz target begins with them too.
const TEXTS: &str = include_str!("texts.isl");

const PIECES: [&str; 40] = [
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "->",
    ":",
    ";",
    ",",
    "i",
    "j",
    "n",
    "S",
    "0",
    "1",
    "7",
    "9223372036854775808",
    "<=",
    "<",
    "=",
    "!=",
    ">=",
    "<<",
    "and",
    "or",
    "not",
    "exists",
    "mod",
    "floor",
    "/",
    "*",
    "+",
    "-",
    "true",
    "min",
    "%",
    "implies",
    "2i",
    "ceild",
];

fn rounds() -> u64 {
    std::env::var("LOOMIR_ROBUST_ROUNDS").ok().and_then(|value| value.parse().ok()).unwrap_or(1)
}

#[test]
fn valid_texts_are_answered() {
    for text in TEXTS.lines() {
        assert!(text.parse::<Set>().is_ok() || text.parse::<Relation>().is_ok(), "{text}");
        read(text, &Limits::steps(20_000_000));
    }
}

#[test]
fn random_bytes_and_tokens_are_refused_or_answered() {
    let limits = Limits::steps(400_000);
    for seed in 0..3_000 * rounds() {
        let random = &mut Random(seed);
        let bytes: Vec<u8> = (0..random.range(0, 60)).map(|_| random.next() as u8).collect();
        read(&String::from_utf8_lossy(&bytes), &limits);
        let tokens: Vec<&str> =
            (0..random.range(1, 25)).map(|_| PIECES[random.range(0, 39) as usize]).collect();
        read(&format!("{{ [i, j] : {} }}", tokens.join(" ")), &limits);
        read(&tokens.join(" "), &limits);
    }
}

#[test]
fn damaged_texts_are_refused_or_answered() {
    let limits = Limits::steps(400_000);
    let texts: Vec<&str> = TEXTS.lines().collect();
    for seed in 0..3_000 * rounds() {
        let random = &mut Random(seed);
        let mut text = texts[random.range(0, texts.len() as i64 - 1) as usize].to_string();
        for _ in 0..random.range(1, 4) {
            let at = random.range(0, text.len() as i64) as usize;
            match random.range(0, 3) {
                0 if at < text.len() => {
                    text.remove(at);
                }
                1 => text.insert_str(at, PIECES[random.range(0, 39) as usize]),
                2 => text.insert(at, char::from(random.range(32, 126) as u8)),
                _ => text.truncate(at),
            }
        }
        read(&text, &limits);
    }
}

#[test]
fn deep_long_and_wide_texts_end() {
    let limits = Limits::steps(2_000_000);
    let nested = format!("{{ [i] : {}i > 0{} }}", "(".repeat(5_000), ")".repeat(5_000));
    assert!(nested.parse::<Set>().is_err());
    let not = format!("{{ [i] : {} i > 0 }}", "not ".repeat(5_000));
    assert!(not.parse::<Set>().is_err());
    let minus = format!("{{ [i] : {}i > 0 }}", "-".repeat(5_000));
    read(&minus, &limits);
    let choices: Vec<String> = (0..40).map(|value| format!("i != {value}")).collect();
    read(&format!("{{ [i] : {} }}", choices.join(" and ")), &limits);
    let wild: Vec<String> = (0..40).map(|value| format!("x{value} != x{}", value + 1)).collect();
    let dims: Vec<String> = (0..=40).map(|value| format!("x{value}")).collect();
    assert!(format!("{{ [{}] : {} }}", dims.join(", "), wild.join(" and ")).parse::<Set>().is_err());
    let digits = "9".repeat(10_000);
    assert!(format!("{{ [i] : i = {digits} }}").parse::<Set>().is_err());
    let digits = "9".repeat(500);
    read(&format!("{{ [i] : {digits}i >= 3 and i < {digits} }}"), &limits);
}

#[test]
fn random_numbers_of_any_size_are_answered() {
    let limits = Limits::steps(400_000);
    for seed in 0..400 * rounds() {
        let random = &mut Random(seed);
        let vars = random.range(0, 5) as usize;
        let mut set = Conjunction::new(vars);
        let number = |random: &mut Random| -> Int {
            let bits = [3, 3, 10, 31, 62, 63, 100][random.range(0, 6) as usize];
            let mut value = Int::ONE;
            for _ in 0..bits {
                value = &value * &Int::from(2) + Int::from(random.range(0, 1));
            }
            if random.chance(50) { -value } else { value }
        };
        for _ in 0..random.range(0, 6) {
            let mut affine = Affine::constant(number(random));
            for var in 0..vars {
                if random.chance(60) {
                    affine = affine.add_scaled(&Var(var as u32).into(), &number(random));
                }
            }
            match random.range(0, 4) {
                0 => set.add_eq(affine, 0),
                1 => {
                    let divisor = number(random);
                    let quotient = set.floor_div(affine, divisor);
                    set.add_ge(quotient, -5);
                }
                _ => set.add_ge(affine, 0),
            }
        }
        if let Emptiness::NonEmpty(point) = set.is_empty(&limits) {
            assert_eq!(set.contains(&point, &Limits::default()), Ok(true), "seed {seed}");
        }
        let space = Space::set(&[], Tuple::unnamed("S", vars));
        let one = Set::from_conjunctions(space, vec![set]);
        ask_set(&one, &one.clone(), &limits);
    }
}

#[test]
fn extreme_values_do_not_wrap() {
    let mut set = Conjunction::new(1);
    let x = set.var(0);
    set.add_ge(x, i64::MAX);
    set.add_terms_ge(&[(x, -1)], i64::MAX);
    assert!(
        matches!(set.is_empty(&Limits::default()), Emptiness::NonEmpty(point) if point.get(x) == i64::MAX)
    );
    set.add_terms_ge(&[(x, i64::MIN), (x, i64::MIN)], i64::MIN);
    assert!(set.is_empty(&Limits::default()).is_empty());
    let mut set = Conjunction::new(2);
    let (x, y) = (set.var(0), set.var(1));
    // x = 2⁶³·y, y = 2⁶³·3: a value far beyond 64 bits.
    set.add_eq(x, Affine::from(y) * &(Int::from(i64::MAX) + Int::ONE));
    set.add_eq(y, Int::from(3) * (Int::from(i64::MAX) + Int::ONE));
    let answer = set.is_empty(&Limits::default());
    assert_eq!(
        answer.point().map(|point| point.get(x).to_string()).as_deref(),
        Some("255211775190703847597530955573826158592")
    );
}

#[test]
fn spaces_without_dimensions_hold_one_point_or_none() {
    let limits = Limits::default();
    let mut point: Set = "{ S[] }".parse().unwrap();
    assert_eq!(point.count(&limits), Ok(Int::ONE));
    assert_eq!(point.sample(&limits), Ok(Some(Point::new(Vec::new()))));
    assert_eq!(point.lexmin(&limits).unwrap().to_string(), "{ S[] }");
    assert!(point.complement(&limits).unwrap().is_empty(&limits).is_empty());
    point = "{ S[] : 1 = 0 }".parse().unwrap();
    assert!(point.is_empty(&limits).is_empty());
    let loops: Relation = "{ S[] -> S[] }".parse().unwrap();
    assert_eq!(loops.direction_vectors(&limits).unwrap(), vec![Vec::new()]);
    assert!(Relation::lexicographic(&[], &Tuple::unnamed("S", 0), Order::Less).is_empty(&limits).is_empty());
}

#[test]
fn mismatched_and_unbounded_questions_are_errors() {
    let limits = Limits::default();
    let one: Set = "{ S[i] : i >= 0 }".parse().unwrap();
    let two: Set = "{ T[i, j] }".parse().unwrap();
    assert!(matches!(one.intersect(&two), Err(Error::SpaceMismatch(..))));
    assert!(matches!(one.lexmax(&limits), Err(Error::Unbounded)));
    assert!(matches!(one.count(&limits), Err(Error::Unbounded)));
    assert!(matches!(one.project_out(0..2), Err(Error::NoSuchDimension(2))));
    assert!(matches!(one.subtract(&one, &Limits::steps(0)), Err(Error::Limit(_))));
    assert_eq!(one.maximum(&-one.space().dim(0), &limits), Ok(Some(Int::ZERO)));
}

#[test]
fn a_thousand_constraints_are_answered() {
    // Around a circle of radius 100: tangents at integer directions, then one cut that leaves
    // nothing.
    let mut set = Conjunction::new(2);
    let (x, y) = (set.var(0), set.var(1));
    for step in 0..1_000i64 {
        let angle = step as f64 * std::f64::consts::TAU / 1_000.0;
        let (a, b) = ((angle.cos() * 1e4) as i64, (angle.sin() * 1e4) as i64);
        set.add_terms_ge(&[(x, -a), (y, -b)], 1_000_000);
    }
    assert!(matches!(set.is_empty(&Limits::default()), Emptiness::NonEmpty(_)));
    let all = Set::from_conjunctions(Space::set(&[], Tuple::unnamed("", 2)), vec![set.clone()]);
    let count = all.count(&Limits::default()).unwrap();
    assert!(count > Int::from(31_300) && count < Int::from(31_500), "{count}");
    set.add_ge(x * 3 + Affine::from(y) * 4, 501);
    assert!(set.is_empty(&Limits::default()).is_empty());
    // A thousand variables in a chain, and a thousand independent boxes.
    let mut chain = Conjunction::new(1_000);
    for var in 1..1_000 {
        chain.add_gt(Var(var), Var(var - 1));
    }
    chain.add_ge(Var(0), 0);
    chain.add_le(Var(999), 999);
    assert!(
        matches!(chain.is_empty(&Limits::default()), Emptiness::NonEmpty(point) if point.get(Var(500)) == 500)
    );
    chain.add_le(Var(500), 499);
    assert!(chain.is_empty(&Limits::default()).is_empty());
}
