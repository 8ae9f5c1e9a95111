//! The listed dependences against dependences of runs of random programs. Every dependence of a run
//! is listed. If everything is known, nothing else is listed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use loomir::AliasMode;
use loomir::ir::Op;
use loomir::polyhedra::Limits;
use loomir::transforms::access::base::Bases;
use loomir::transforms::access::dependence::Polyhedral;
use loomir::transforms::access::{Answer, Dependence as DependenceOracle, Order, Question};
use loomir::transforms::listing::{Dependence, Dependences, Kind, Options, Through};
use loomir::transforms::tree::raise::raise;
use loomir::transforms::tree::{Program, StatementId, TreeStore};
use loomir_tests::blocks::each_block;
use loomir_tests::generate::generate;
use loomir_tests::instances::{Direction, Finding, Values, compare, is_exact, run};
use loomir_tests::meetings::{Meeting, meetings};
use loomir_tests::random::Random;

/// Longer runs are skipped, because instances are compared pair by pair.
const MAX_INSTANCES: usize = 400;

#[derive(Default, Debug)]
struct Tally {
    blocks: u32,
    exact: u32,
    met: u32,
    listed: u32,
    distances: u32,
}

fn order(distance: i64) -> Order {
    match distance.cmp(&0) {
        std::cmp::Ordering::Greater => Order::Less,
        std::cmp::Ordering::Equal => Order::Equal,
        std::cmp::Ordering::Less => Order::Greater,
    }
}

/// The common properties of all pairs of a line: operations by number, kind, directions.
type Key = (usize, usize, Kind, Vec<u8>);

fn key(ops: [usize; 2], kind: Kind, directions: impl Iterator<Item = Order>) -> Key {
    (ops[0], ops[1], kind, directions.map(|order| order as u8).collect())
}

fn is_listed(all: &[&Dependence], met: &Meeting) -> bool {
    all.iter().any(|one| {
        [one.source.op, one.sink.op] == met.ops
            && one.kinds.contains(&met.kind)
            && one.vector.len() == met.distance.len()
            && one.vector.iter().zip(&met.distance).all(|(entry, distance)| {
                entry.directions.contains(order(*distance))
                    && entry.distance.is_none_or(|own| own == *distance)
            })
    })
}

/// Returns all dependences that a line states.
fn said(one: &Dependence) -> Vec<Key> {
    let ops = [one.source.op.index(), one.sink.op.index()];
    let ways = one.vector.iter().fold(vec![Vec::new()], |ways: Vec<Vec<Order>>, entry| {
        let next = [Order::Less, Order::Equal, Order::Greater];
        let next: Vec<Order> = next.into_iter().filter(|order| entry.directions.contains(*order)).collect();
        ways.iter().flat_map(|way| next.iter().map(|order| [&way[..], &[*order]].concat())).collect()
    });
    let each = ways.into_iter().flat_map(|way| {
        one.kinds.iter().map(move |kind| key(ops, *kind, way.iter().copied())).collect::<Vec<_>>()
    });
    each.collect()
}

/// True if all values in subscripts and conditions are computed outside of the loops.
fn is_known_outside(program: &Program) -> bool {
    let conditions = program.ifs().flat_map(|info| [true, false].map(|holds| info.condition.outcome(holds)));
    let mut conditions = conditions.flat_map(|outcome| &outcome.constraints);
    let classes = || program.statements().flat_map(|info| &info.effects.classes);
    let mut subscripts = classes().flat_map(|(class, _)| class.subscripts.iter().flatten().flatten());
    conditions.all(|form| program.is_known(form, 0)) && subscripts.all(|form| program.is_known(form, 0))
}

fn case(index: u64, tally: &mut Tally) {
    let mut random = Random::of_case(83, index);
    let text = generate(&mut random).to_mlir().mlir;
    let ctx = loomir::context();
    let mut module = loomir::parse(&ctx, &text, "t.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    each_block(&mut module, &mut |body, block| {
        let mut trees = TreeStore::default();
        let program = raise(body, block, &mut trees, AliasMode::Distinct);
        let (bases, limits) = (Bases::new(body, AliasMode::Distinct), Limits::default());
        let options = Options { bases: &bases, dependence: &Polyhedral, limits: &limits };
        let all = Dependences::of(body, &program, &trees, &options);
        let memory: Vec<&Dependence> =
            all.iter().filter(|one| matches!(one.through, Through::Memory(_))).collect();
        tally.blocks += 1;
        tally.listed += memory.len() as u32;
        // A run does not know values computed in loops. It assumes numbers that may be wrong.
        let runs = if is_known_outside(&program) { 3 } else { 0 };
        for _ in 0..runs {
            let values = Values { seed: Some(random.bits()), body };
            let ran = run(&program, &trees, program.root, values, Direction::Forwards);
            let Some(ran) = ran.filter(|all| all.len() <= MAX_INSTANCES) else { continue };
            for met in meetings(&program, &ran, values) {
                tally.met += 1;
                let names = met
                    .ops
                    .map(|op| body.loc(op).file_line_col(&ctx).map(|(_, line, column)| (line, column)));
                assert!(is_listed(&memory, &met), "case {index}: {met:?} at {names:?} is not listed\n{text}");
            }
        }
        // If everything is constant, one run suffices.
        let statements = (0..trees.leaves(program.root)).map(StatementId);
        let none = Values { seed: None, body };
        let ran = run(&program, &trees, program.root, none, Direction::Forwards);
        let Some(ran) = ran.filter(|all| all.len() <= MAX_INSTANCES) else { return };
        let has_numbers = compare(body, &program, &ran, &ran, none, Direction::Forwards) == Finding::Same;
        if !has_numbers || !is_exact(&program, &bases, statements) {
            return;
        }
        tally.exact += 1;
        let mut met: BTreeMap<Key, BTreeSet<Vec<i64>>> = BTreeMap::new();
        for Meeting { ops, kind, distance } in meetings(&program, &ran, none) {
            let key = key(ops.map(|op| op.index()), kind, distance.iter().map(|own| order(*own)));
            met.entry(key).or_default().insert(distance);
        }
        // A run does not show the evaluation of bounds and conditions, only the instances inside.
        let is_header = |op: Op| body.own_regions(op).len() > 0;
        for one in memory.into_iter().filter(|one| one.is_certain || !is_header(one.sink.op)) {
            let distances: Vec<&BTreeSet<Vec<i64>>> = said(one)
                .iter()
                .map(|key| {
                    met.get(key).unwrap_or_else(|| panic!("case {index}: {one:?} does not happen\n{text}"))
                })
                .collect();
            for (at, entry) in one.vector.iter().enumerate() {
                let of_loop: BTreeSet<i64> = distances.iter().copied().flatten().map(|all| all[at]).collect();
                let is_one = (of_loop.len() == 1).then(|| of_loop.first().copied()).flatten();
                assert_eq!(entry.distance, is_one, "case {index}: {one:?}, loop {at}\n{text}");
                tally.distances += u32::from(is_one.is_some_and(|distance| distance != 0));
            }
        }
    });
}

#[test]
fn what_meets_is_listed_and_nothing_else() {
    let mut tally = Tally::default();
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    for index in 0..number("LOOMIR_DEPENDENCES_CASES").unwrap_or(1_000) {
        case(index, &mut tally);
    }
    assert!(tally.exact > 20 && tally.met > 1_000 && tally.distances > 10, "{tally:?}");
}

/// Counts the queries.
#[derive(Debug, Default)]
struct Counting {
    questions: AtomicU64,
}

impl DependenceOracle for Counting {
    fn meet(&self, question: &Question<'_>) -> Answer {
        self.questions.fetch_add(1, Ordering::Relaxed);
        Polyhedral.meet(question)
    }
}

/// Returns the number of queries for `loops` equal loops, each of which updates its own array in
/// place.
fn questions(loops: usize) -> u64 {
    let mut text = "func.func @f(%v: i32) {\n".to_owned();
    for i in 0..loops {
        text += &format!("  %a{i} = memref.alloc() : memref<8xi32>\n");
    }
    for i in 0..loops {
        text += &format!("  affine.for %i = 0 to 8 {{ affine.store %v, %a{i}[%i] : memref<8xi32> }}\n");
    }
    text += "  return\n}\n";
    let ctx = loomir::context();
    let mut module = loomir::parse(&ctx, &text, "t.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    let counting = Counting::default();
    each_block(&mut module, &mut |body, block| {
        let mut trees = TreeStore::default();
        let program = raise(body, block, &mut trees, AliasMode::May);
        let (bases, limits) = (Bases::new(body, AliasMode::May), Limits::default());
        let options = Options { bases: &bases, dependence: &counting, limits: &limits };
        Dependences::of(body, &program, &trees, &options);
    });
    counting.questions.into_inner()
}

#[test]
fn arrays_that_have_nothing_to_do_with_each_other_cost_nothing() {
    assert_eq!(questions(400), 2 * questions(200));
}
