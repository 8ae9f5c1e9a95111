//! Tests the legality check against the literal definition: random edits of random programs, run
//! instance by instance.

use std::collections::BTreeMap;

use loomir::AliasMode;
use loomir::dialects::interp::Limits;
use loomir::ir::{Body, Op, verifier};
use loomir::transforms::access::base::Bases;
use loomir::transforms::legality::{Checker, Verdict, Witness};
use loomir::transforms::regenerate::{Reason, Rewrite, regenerate};
use loomir::transforms::tree::raise::raise;
use loomir::transforms::tree::{Arm, Green, Program, StatementId, TreeStore};
use loomir_tests::behaviour::{inputs, retain_distinct, same_behaviour};
use loomir_tests::blocks::each_block;
use loomir_tests::compositions::is_of_race;
use loomir_tests::edits::{KINDS, edit};
use loomir_tests::generate::generate;
use loomir_tests::instances::{Direction, Finding, Values, compare, is_exact, reordered, run, simultaneous};
use loomir_tests::parts::in_parts;
use loomir_tests::random::Random;
use loomir_tests::twin::compared;

fn statements(program: &Program, trees: &TreeStore) -> impl Iterator<Item = StatementId> {
    (0..trees.leaves(program.root)).map(StatementId)
}

#[derive(Default, Debug)]
struct Tally {
    edits: BTreeMap<&'static str, [u32; 2]>,
    legal: u32,
    illegal: u32,
    confirmed: u32,
    open: u32,
    unknown: u32,
    unavailable: u32,
    reordered: u32,
    written: u32,
    /// The programs that could not be written, by reason.
    unwritten: BTreeMap<Reason, u32>,
    executed: u32,
}

impl Tally {
    fn add(&mut self, part: Tally) {
        for (kind, [legal, illegal]) in part.edits {
            let own = self.edits.entry(kind).or_default();
            *own = [own[0] + legal, own[1] + illegal];
        }
        part.unwritten.into_iter().for_each(|(why, count)| *self.unwritten.entry(why).or_default() += count);
        self.legal += part.legal;
        self.illegal += part.illegal;
        self.confirmed += part.confirmed;
        self.open += part.open;
        self.unknown += part.unknown;
        self.unavailable += part.unavailable;
        self.reordered += part.reordered;
        self.written += part.written;
        self.executed += part.executed;
    }
}

/// Returns the content of a verdict without its witness, because there may be several witnesses.
fn kind(verdict: &Verdict) -> (u8, Vec<String>) {
    match verdict {
        Verdict::Legal { assumed } => {
            let mut assumed: Vec<String> = assumed.iter().map(|own| format!("{own:?}")).collect();
            assumed.sort();
            (0, assumed)
        }
        Verdict::Illegal(_) => (1, Vec::new()),
        Verdict::MayBeIllegal(_) => (2, Vec::new()),
        Verdict::Unknown { .. } => (3, Vec::new()),
    }
}

/// The assumption about aliasing: two arguments are distinct buffers.
const MODE: AliasMode = AliasMode::Distinct;

/// Edits of one block, whose trees are tried.
struct Trial<'a> {
    body: &'a Body,
    program: &'a Program,
    checker: Checker<'a>,
    /// The same without the test class by class.
    every: Checker<'a>,
    /// True if all accesses are exact.
    exact: bool,
    /// True if the block runs without computed values. With parameters, only another size may
    /// expose a fault.
    sized: bool,
    index: u64,
    text: &'a str,
}

/// The outcome of running all instances of a tree several times.
struct Runs {
    fault: Option<String>,
    /// True if some run left open whether there is a fault.
    open: bool,
    /// The operations that ran in another order, if all runs tell.
    swapped: Option<Vec<Op>>,
}

impl<'a> Trial<'a> {
    fn new(body: &'a Body, program: &'a Program, trees: &TreeStore, index: u64, text: &'a str) -> Self {
        let bases = Bases::new(body, MODE);
        let none = Values { seed: None, body };
        let sized = run(program, trees, program.root, none, Direction::Forwards).is_some_and(|all| {
            compare(body, program, &all, &all, none, Direction::Forwards) == Finding::Same
        });
        let checker = || Checker::new(body, program, MODE, Default::default());
        let exact = is_exact(program, &bases, statements(program, trees));
        Trial {
            body,
            program,
            checker: checker(),
            every: checker().asking_of_all(),
            exact,
            sized,
            index,
            text,
        }
    }

    /// Tries a few trees. Returns the last legal one with the edits that made it.
    fn trees(
        &self,
        trees: &mut TreeStore,
        random: &mut Random,
        tally: &mut Tally,
    ) -> Option<(Green, Vec<&'static str>)> {
        let mut last = None;
        for _ in 0..12 {
            let (mut tree, mut kinds) = (self.program.root, Vec::new());
            for _ in 0..random.range(1, 3) {
                if let Some((new, kind)) = edit(self.body, trees, self.program, tree, random) {
                    (tree, _) = (new, kinds.push(KINDS[kind]));
                }
            }
            if tree == self.program.root {
                continue;
            }
            let verdict = self.verdict(trees, tree);
            for kind in &kinds {
                let [legal, illegal] = tally.edits.entry(kind).or_default();
                *(if verdict.is_legal() { legal } else { illegal }) += 1;
            }
            let runs = self.runs(trees, tree, random);
            let says = || format!("case {}, {kinds:?}: {verdict:?}\n{}", self.index, self.text);
            // Tiles of tiles, changed again, may be too many loops for an answer.
            let is_deep = kinds.contains(&"morton") || kinds.contains(&"hilbert");
            self.judged(&verdict, &runs, (is_deep, &says), tally);
            if verdict.is_legal() {
                let reordered = self.compare_order(trees, tree, &runs, &says);
                tally.reordered += u32::from(reordered);
                last = Some((tree, kinds));
            }
        }
        last
    }

    /// Returns the verdict on a tree, which must be the same when all pairs are tested.
    fn verdict(&self, trees: &mut TreeStore, tree: Green) -> Verdict {
        let verdict = self.checker.check(trees, tree);
        let of_all = self.every.check(trees, tree);
        if [&verdict, &of_all].iter().any(|own| matches!(own, Verdict::Unknown { .. })) {
            return verdict;
        }
        assert_eq!(
            kind(&verdict),
            kind(&of_all),
            "case {}: {verdict:?}, of all pairs: {of_all:?}\n{}",
            self.index,
            self.text
        );
        verdict
    }

    /// Runs the program and a tree of it on several random values, unordered instances in both
    /// orders.
    fn runs(&self, trees: &TreeStore, tree: Green, random: &mut Random) -> Runs {
        let Trial { body, program, .. } = *self;
        let (mut findings, mut swapped) = (Vec::new(), Some(Vec::new()));
        for _ in 0..8 {
            let values = Values { seed: Some(random.bits()), body };
            let ran = |tree, direction| run(program, trees, tree, values, direction);
            let old = ran(program.root, Direction::Forwards);
            let [forwards, backwards, in_step, curved] = Direction::ALL.map(|way| ran(tree, way));
            let mut compared = |new: &Option<Vec<_>>, direction| {
                let steps = old
                    .as_ref()
                    .zip(new.as_ref())
                    .and_then(|(old, new)| reordered(body, program, old, new, values));
                swapped = swapped.take().zip(steps).map(|(all, more)| [all, more].concat());
                findings.push(match (&old, new) {
                    (Some(old), Some(new)) => compare(body, program, old, new, values, direction),
                    _ => Finding::Open,
                });
            };
            compared(&forwards, Direction::Forwards);
            if forwards != backwards {
                compared(&backwards, Direction::Backwards);
            }
            if forwards != in_step {
                compared(&in_step, Direction::InStep);
            }
            if forwards != curved {
                compared(&curved, Direction::Curved);
            }
            if let (Some(forwards), Some(backwards)) = (&forwards, &backwards) {
                findings.push(simultaneous(program, [forwards, backwards], values));
            }
        }
        let open = findings.contains(&Finding::Open);
        let fault =
            findings.into_iter().find_map(|f| if let Finding::Fault(fault) = f { Some(fault) } else { None });
        Runs { fault, open, swapped }
    }

    /// Compares a verdict with the runs: a legal tree has no fault, and an illegal one has one.
    fn judged(
        &self,
        verdict: &Verdict,
        runs: &Runs,
        (is_deep, says): (bool, &dyn Fn() -> String),
        tally: &mut Tally,
    ) {
        let has_fault = runs.fault.is_some();
        let may_have_fault = has_fault || runs.open || !self.sized;
        match verdict {
            Verdict::Legal { .. } => {
                tally.legal += 1;
                assert_eq!(runs.fault, None, "{}", says());
            }
            // The oracle does not check the scope of values.
            Verdict::Illegal(Witness::Unavailable { .. })
            | Verdict::MayBeIllegal(Witness::Unavailable { .. } | Witness::Carried(_)) => {
                tally.unavailable += 1;
            }
            Verdict::Illegal(_) => {
                tally.illegal += 1;
                tally.confirmed += u32::from(has_fault);
                assert!(may_have_fault, "without need: {}", says());
            }
            Verdict::MayBeIllegal(_) => {
                tally.open += 1;
                assert!(!self.exact || may_have_fault, "without need: {}", says());
            }
            Verdict::Unknown { .. } => {
                tally.unknown += 1;
                assert!(is_deep, "no answer: {}", says());
            }
        }
    }

    /// Compares the steps that the checker says run in another order with those that did. Returns
    /// true if there are some.
    fn compare_order(&self, trees: &TreeStore, tree: Green, runs: &Runs, says: &dyn Fn() -> String) -> bool {
        let found = self.checker.reordered(trees, tree);
        if let Some(swapped) = &runs.swapped {
            let missed = swapped.iter().find(|step| !found.contains(**step, Some(Arm::Fast)));
            assert_eq!(missed, None, "in another order: {}", says());
            let without_need = found.arms[0].iter().find(|step| !swapped.contains(*step));
            assert!(
                without_need.is_none() || !self.exact || !self.sized,
                "{without_need:?} keeps its order: {}",
                says()
            );
        }
        !found.is_empty()
    }
}

/// Checks one random program and a few trees of it. Panics where the check is wrong.
fn case(seed: u64, index: u64, tally: &mut Tally) {
    let mut random = Random::of_case(seed, index);
    let text = generate(&mut random).to_mlir().mlir;
    let ctx = loomir::context();
    let mut module = loomir::parse(&ctx, &text, "t.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    let mut edits = Vec::new();
    each_block(&mut module, &mut |body, block| {
        let mut trees = TreeStore::default();
        let program = raise(body, block, &mut trees, MODE);
        let trial = Trial::new(body, &program, &trees, index, &text);
        let last = trial.trees(&mut trees, &mut random, tally);
        // The last legal tree is written and executed.
        let is_kernel =
            body.attr(body.root(), "sym_name").and_then(|name| name.as_str(body.ctx())) == Some("kernel");
        if let Some((tree, kinds)) = last.filter(|_| is_kernel) {
            let approved =
                trial.checker.judge(&mut trees, tree).unwrap_or_else(|verdict| panic!("{verdict:?}"));
            let written = regenerate(body, &program, &trees, &approved, Rewrite::Changed);
            match written {
                Ok(()) => tally.written += 1,
                Err(why) => *tally.unwritten.entry(why.reason).or_default() += 1,
            }
            edits = kinds;
        }
    });
    let errors = verifier::verify(&module);
    let told = || format!("case {index}, {edits:?}\n{text}\n{}", loomir::print(&module));
    assert!(!errors.has_errors(), "{}{}", errors.to_text(&ctx), told());
    let [before, after] = compared(&text, &loomir::print(&module))
        .map(|text| loomir::parse(&ctx, &text, "t.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx))));
    let mut calls = inputs(&before, "kernel", &mut random).unwrap_or_default();
    // Two arguments are distinct buffers.
    retain_distinct(&mut calls);
    match same_behaviour(&before, &after, "kernel", &calls, &Limits::default()) {
        Ok(agreement) => tally.executed += agreement.compared as u32,
        // The program races by itself.
        Err(difference) if is_of_race(&difference.to_string(), &text) => {}
        Err(difference) => panic!("{difference}\n{}", told()),
    }
}

#[test]
fn the_check_says_what_running_every_instance_says() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("LOOMIR_LEGALITY_FIRST").unwrap_or(0);
    let parts = in_parts(first, number("LOOMIR_LEGALITY_CASES").unwrap_or(90), |first, count| {
        let mut tally = Tally::default();
        (first..first + count).for_each(|index| case(31, index, &mut tally));
        tally
    });
    let mut tally = Tally::default();
    parts.into_iter().for_each(|part| tally.add(part));
    assert!(tally.legal > 80 && tally.illegal > 80, "{tally:?}");
    assert!(tally.confirmed * 10 > tally.illegal * 8, "{tally:?}");
    assert!(tally.reordered > 0, "{tally:?}");
    assert!(tally.unknown * 20 < tally.legal, "{tally:?}");
    assert!(tally.written > 20 && tally.executed > 40, "{tally:?}");
    // Unknown numbers may be near the end of their type.
    let may_be = [Reason::StepMayWrap, Reason::BoundMayWrap];
    assert!(tally.unwritten.keys().all(|reason| may_be.contains(reason)), "{tally:?}");
    assert!(tally.unwritten.values().sum::<u32>() * 20 < tally.written, "{tally:?}");
    for (kind, [legal, illegal]) in &tally.edits {
        let always_wrong = ["drop", "shift"].contains(kind);
        // Alone they keep the order, or are seldom possible.
        let seldom_wrong = ["flatten", "hilbert", "morton", "separate", "skew", "unswitch"].contains(kind);
        assert!(
            (*legal > 1 || always_wrong) && (*illegal > 1 || seldom_wrong),
            "{kind}: {legal} legal, {illegal} not"
        );
    }
}
