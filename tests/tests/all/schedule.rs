//! The judge of schedules against all instances: random pieces in a random new order. Loops of one
//! and two levels are shifted, reversed, interchanged, distributed, merged and jammed.

use std::sync::Arc;

use loomir::AliasMode;
use loomir::ir::{Body, Loc, Op, OperationState};
use loomir::transforms::access::base::{Base, Bases};
use loomir::transforms::access::dependence::Polyhedral;
use loomir::transforms::access::{Class, Domain, LoopContext};
use loomir::transforms::affine::facts::Facts;
use loomir::transforms::affine::{AffineForm, Atom};
use loomir::transforms::legality::{DependenceOracle, Ending, Piece, QUESTION, Schedule, Verdict};
use loomir::transforms::tree::access_summary::{AccessSummary, LoopIteration, Representative};
use loomir_tests::blocks::each_block;
use loomir_tests::random::Random;

const CASES: u64 = 3000;
/// Iterations of each loop.
const LENGTH: i64 = 4;

/// A random piece.
struct Drawn {
    levels: u32,
    accesses: Vec<Access>,
    old: Vec<AffineForm>,
    new: Vec<AffineForm>,
    ending: [bool; 3],
}

#[derive(Clone)]
struct Access {
    object: usize,
    place: AffineForm,
    writes: bool,
}

fn sum(terms: &[(AffineForm, i64)], constant: i64) -> AffineForm {
    let add = |all: AffineForm, (form, factor): &(AffineForm, i64)| {
        all.plus(form, *factor).expect("numbers are small")
    };
    terms.iter().fold(AffineForm::constant(constant), add)
}

fn piece(random: &mut Random, at: i64) -> Drawn {
    let levels = random.below(3) as u32;
    let level = |level: u32| AffineForm::level(level);
    let mut accesses = Vec::new();
    for _ in 0..1 + random.below(2) {
        let terms: Vec<(AffineForm, i64)> =
            (0..levels).map(|own| (level(own), random.below(5) as i64 - 2)).collect();
        let place = sum(&terms, random.below(5) as i64 - 2);
        accesses.push(Access { object: random.below(2), place, writes: random.below(2) == 0 });
    }
    let mut iteration: Vec<AffineForm> = (0..levels).map(level).collect();
    let old = [vec![AffineForm::constant(at)], iteration.clone(), vec![AffineForm::constant(at)]].concat();
    if levels == 2 && random.below(3) == 0 {
        iteration.swap(0, 1);
    }
    if let Some(first) = iteration.first_mut() {
        *first = match random.below(4) {
            0 => sum(&[(first.clone(), -1)], LENGTH - 1),
            shift => sum(&[(first.clone(), 1)], shift as i64 - 1),
        };
    }
    // Some pieces share a loop, others have their own.
    let group = if random.below(3) == 0 { random.below(3) as i64 - 1 } else { 0 };
    let place = if random.below(4) == 0 { 3 - at } else { at };
    let mut new = vec![AffineForm::constant(group)];
    new.extend(iteration.first().cloned());
    new.push(AffineForm::constant(place));
    new.extend(iteration.get(1).cloned());
    if let Some(first) = iteration.first().filter(|_| random.below(3) == 0) {
        // Two or three iterations at once, as unroll-and-jam runs them.
        new[1] = first.floor_div(2 + random.below(2) as i64).expect("numbers are small");
        new.push(first.clone());
    }
    let ending = [0; 3].map(|_| random.below(12) == 0);
    Drawn { levels, accesses, old, new, ending }
}

/// Splits a loop into pieces. They have one old position, and their own new ones.
fn split(pieces: &mut [Drawn], random: &mut Random) {
    if pieces[0].levels > 0 && pieces[0].levels == pieces[1].levels && random.below(2) == 0 {
        pieces[1].old[0] = pieces[0].old[0].clone();
    }
}

/// Returns the loop context outside of all loops, without facts.
fn outside() -> LoopContext {
    LoopContext {
        depth: 0,
        constraints: Vec::new(),
        exact: true,
        variables: Vec::new(),
        facts: Arc::new(Facts::default()),
    }
}

fn instances(levels: u32) -> Vec<Vec<i64>> {
    (0..levels).fold(vec![Vec::new()], |all, _| {
        all.iter().flat_map(|own| (0..LENGTH).map(|i| [&own[..], &[i]].concat())).collect()
    })
}

fn value(form: &AffineForm, at: &[i64]) -> i64 {
    let own = |(atom, factor): &(Atom, i64)| match atom {
        Atom::Level(level) => at[*level as usize] * factor,
        Atom::FloorDiv(form, divisor) => value(form, at).div_euclid(*divisor) * factor,
        _ => unreachable!("there are no parameters"),
    };
    form.constant_part() + form.terms().iter().map(own).sum::<i64>()
}

/// Returns the time of an instance, padded with zeros.
fn time(forms: &[AffineForm], at: &[i64]) -> Vec<i64> {
    let mut time: Vec<i64> = forms.iter().map(|form| value(form, at)).collect();
    time.resize(8, 0);
    time
}

/// True if a dependent pair is reversed, by a search of all pairs.
fn is_turned_around(pieces: &[Drawn]) -> bool {
    let mut all = Vec::new();
    for piece in pieces {
        all.extend(instances(piece.levels).into_iter().map(|at| (piece, at)));
    }
    all.iter().any(|(a, x)| {
        all.iter().any(|(b, y)| {
            let moved = time(&a.old, x) < time(&b.old, y) && time(&a.new, x) >= time(&b.new, y);
            let meets = |own: &Access, other: &Access| {
                own.object == other.object
                    && (own.writes || other.writes)
                    && value(&own.place, x) == value(&other.place, y)
            };
            let ends = a.ending[0] && b.ending[1] || a.ending[2] && b.ending[0];
            moved && (ends || a.accesses.iter().any(|own| b.accesses.iter().any(|other| meets(own, other))))
        })
    })
}

fn nest(piece: &Drawn, op: Op, objects: &[Base]) -> AccessSummary {
    let bound = |level: u32| {
        let own = AffineForm::level(level);
        let last = sum(&[(own.clone(), -1)], LENGTH - 1);
        [own, last]
    };
    let constraints: Vec<AffineForm> = (0..piece.levels).flat_map(bound).collect();
    let domain = Arc::new(Domain { levels: piece.levels, constraints, exact: true });
    let mut nest = AccessSummary::default();
    for Access { object, place, writes } in piece.accesses.clone() {
        let class = Class {
            base: objects[object],
            origin: None,
            sizes: Vec::new(),
            subscripts: Some(vec![Some(place)]),
            conditional: None,
            unit: 0,
            writes,
            update: None,
            domain: domain.clone(),
        };
        let iteration = (0..piece.levels).map(LoopIteration::counted).collect();
        nest.add(Representative { class, op, iteration });
    }
    nest
}

#[test]
fn a_schedule_is_legal_iff_no_pair_of_instances_is_turned_around() {
    let ctx = loomir::context();
    let body = Body::new(&ctx, OperationState::new(&ctx, "test.op", Loc::UNKNOWN));
    let op = body.root();
    let objects = ["a", "b"].map(|name| Base::Global(ctx.name(name)));
    let bases = Bases::new(&body, AliasMode::May);
    let oracle =
        DependenceOracle { bases: &bases, dependence: &Polyhedral, limits: &QUESTION, tested_before: None };
    let loop_context = outside();
    let mut counts = [0; 2];
    for index in 0..CASES {
        let mut random = Random::of_case(31, index);
        let mut drawn: Vec<Drawn> =
            (0..2 + random.below(2) as i64).map(|at| piece(&mut random, at)).collect();
        split(&mut drawn, &mut random);
        let nests: Vec<AccessSummary> = drawn.iter().map(|own| nest(own, op, &objects)).collect();
        let said = |own: bool| own.then_some(op);
        let pieces = drawn.iter().zip(&nests).map(|(own, touches)| {
            let [barrier, late, seen] = own.ending.map(said);
            let ending = Ending { barrier, late, seen };
            Piece { touches, old: own.old.clone(), new: own.new.clone(), ending, replaces: false }
        });
        let verdict = Schedule::new(&loop_context, pieces.collect()).check(&oracle);
        let expected = is_turned_around(&drawn);
        let has_ending = drawn.iter().any(|own| own.ending != [false; 3]);
        assert!(!matches!(verdict, Verdict::Unknown { .. }), "case {index}");
        // An operation that may not return is judged without its iterations.
        assert!(
            verdict.is_legal() != expected || has_ending && !expected,
            "case {index}: {verdict:?}, though instances are turned around: {expected}"
        );
        counts[usize::from(expected)] += 1;
    }
    assert!(counts.iter().all(|count| *count * 5 > CASES), "{counts:?} are legal and illegal");
}

#[test]
fn a_time_that_forgets_iterations_is_refused() {
    let ctx = loomir::context();
    let body = Body::new(&ctx, OperationState::new(&ctx, "test.op", Loc::UNKNOWN));
    let bases = Bases::new(&body, AliasMode::May);
    let oracle =
        DependenceOracle { bases: &bases, dependence: &Polyhedral, limits: &QUESTION, tested_before: None };
    let loop_context = outside();
    let access = Access { object: 0, place: AffineForm::level(0), writes: true };
    let drawn = Drawn {
        levels: 1,
        accesses: vec![access],
        old: vec![AffineForm::level(0)],
        // A quotient forgets iterations too.
        new: vec![AffineForm::level(0).floor_div(2).expect("numbers are small")],
        ending: [false; 3],
    };
    let touches = nest(&drawn, body.root(), &[Base::Global(ctx.name("a"))]);
    let (old, new) = (drawn.old.clone(), drawn.new.clone());
    let piece = Piece { touches: &touches, old, new, ending: Ending::default(), replaces: false };
    let verdict = Schedule::new(&loop_context, vec![piece]).check(&oracle);
    assert!(matches!(verdict, Verdict::Unknown { .. }), "{verdict:?}");
}

/// A store to one argument moves over a load of another one. That is legal only under a run-time
/// check that they do not overlap.
#[test]
fn what_is_assumed_has_to_be_tested() {
    let source = "func.func @f(%a: memref<8xi32>, %b: memref<8xi32>) { return }";
    let ctx = loomir::context();
    let mut module = loomir::parse(&ctx, source, "f.mlir").expect("it reads");
    let mut is_asked = false;
    each_block(&mut module, &mut |body, block| {
        let arguments: Vec<_> = body.arguments(block).collect();
        let bases = Bases::new(body, AliasMode::Distinct);
        let oracle = DependenceOracle {
            bases: &bases,
            dependence: &Polyhedral,
            limits: &QUESTION,
            tested_before: None,
        };
        let loop_context = outside();
        let touches = |object: usize, writes: bool| {
            let access = Access { object, place: AffineForm::constant(0), writes };
            let drawn =
                Drawn { levels: 0, accesses: vec![access], old: vec![], new: vec![], ending: [false; 3] };
            nest(&drawn, body.root(), &[Base::Argument(arguments[0]), Base::Argument(arguments[1])])
        };
        let nests = [touches(0, false), touches(1, true)];
        let piece = |at: usize| Piece {
            touches: &nests[at],
            old: vec![AffineForm::constant(at as i64)],
            new: vec![AffineForm::constant(-(at as i64))],
            ending: Ending::default(),
            replaces: false,
        };
        let schedule = Schedule::new(&loop_context, vec![piece(0), piece(1)]);
        let Verdict::Legal { assumed } = schedule.check(&oracle) else { panic!("they are assumed apart") };
        assert_eq!(assumed.len(), 1);
        assert!(schedule.judge((), &[], &oracle).is_err());
        assert!(schedule.judge((), &assumed, &oracle).is_ok());
        is_asked = true;
    });
    assert!(is_asked);
}
