//! Comparison of programs whose parallel iterations run in random interleavings, and random loops
//! of which some race.

use std::fmt::Write;

use loomir::dialects::interp::{self, ArgSpec, Interleaving, Limits, Outcome};
use loomir_tests::behaviour::{same_behaviour, same_interleaved};
use loomir_tests::check::Checker;
use loomir_tests::parallel::{Tally, run};
use loomir_tests::random::Random;

/// A loop that combines values, made parallel.
const PARALLEL: &str = "\
func.func @kernel(%a: memref<8xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0 : i32
  %r = scf.parallel (%i) = (%c0) to (%c8) step (%c1) init (%zero) -> i32 {
    %x = memref.load %a[%i] : memref<8xi32>
    scf.reduce(%x : i32) {
    ^bb0(%l: i32, %q: i32):
      %s = arith.addi %q, %l : i32
      scf.reduce.return %s : i32
    }
  }
  return %r : i32
}
";

const SEQUENTIAL: &str = "\
func.func @kernel(%a: memref<8xi32>) -> i32 {
  %zero = arith.constant 0 : i32
  %r = affine.for %i = 0 to 8 iter_args(%l = %zero) -> i32 {
    %q = affine.load %a[%i] : memref<8xi32>
    %s = arith.addi %q, %l : i32
    affine.yield %s : i32
  }
  return %r : i32
}
";

/// In order, both loops compute the same difference. Only an interleaving tells them apart.
#[test]
fn a_reduction_that_depends_on_the_order_is_found() {
    let checker = Checker::default();
    let calls = [vec!["iota".to_owned()]];
    let compare = |operation: &str, seeds: &[u64]| {
        let [before, after] = [SEQUENTIAL, PARALLEL].map(|text| {
            let text = text.replace("arith.addi", operation);
            checker.read(&text).unwrap_or_else(|errors| panic!("{}", checker.lines(&errors)))
        });
        let plain = same_behaviour(&before, &after, "kernel", &calls, &Limits::default());
        assert!(plain.is_ok_and(|agreement| agreement.compared == 1));
        same_interleaved(&before, &after, "kernel", &calls, &Limits::default(), seeds)
    };
    let sums = compare("arith.addi", &[1, 2, 3, 4]);
    assert!(sums.is_ok_and(|agreement| agreement.interleaved == 4));
    let difference = compare("arith.subi", &[1, 2, 3, 4]).expect_err("another difference");
    assert!(difference.contains(" with interleaving "), "{difference}");
}

/// The first programs of the campaign.
#[test]
fn programs_made_parallel_compute_the_same() {
    let mut tally = Tally::default();
    run(5, (0, 24), None, &mut tally).unwrap_or_else(|error| panic!("{error}"));
    assert!(tally.interleaved >= 40, "{tally:?}");
}

/// A random nest of loops, the outermost parallel, with accesses to three arrays.
struct Program {
    random: Random,
    text: String,
    names: usize,
    /// The induction variables around.
    variables: Vec<usize>,
    /// Values in scope, of type `i32`.
    values: Vec<usize>,
}

const ELEMENTS: i64 = 32;

impl Program {
    fn new(random: Random) -> Program {
        let text = "func.func @kernel(%a: memref<32xi32>, %b: memref<32xi32>, %c: memref<32xi32>) {\n  \
                    %v0 = arith.constant 1 : i32\n"
            .to_owned();
        let mut program = Program { random, text, names: 0, variables: Vec::new(), values: vec![0] };
        program.nest("affine.parallel");
        program.text.push_str("  return\n}\n");
        program
    }

    fn fresh(&mut self) -> usize {
        self.names += 1;
        self.names
    }

    /// Writes a loop.
    fn nest(&mut self, kind: &str) {
        let (variable, count) = (self.fresh(), self.random.range(2, 4));
        let _ = match kind {
            "affine.for" => writeln!(self.text, "affine.for %v{variable} = 0 to {count} {{"),
            _ => writeln!(self.text, "affine.parallel (%v{variable}) = (0) to ({count}) {{"),
        };
        self.variables.push(variable);
        let values = self.values.len();
        for _ in 0..self.random.range(1, 3) {
            self.statement();
        }
        self.values.truncate(values);
        self.variables.pop();
        self.text.push_str("}\n");
    }

    fn statement(&mut self) {
        let (array, value) = (*self.random.pick(&["a", "b", "c"]), *self.random.pick(&self.values));
        let (place, result) = (self.place(array), self.fresh());
        let is_deep = self.variables.len() > 2;
        let _ = match self.random.below(10) {
            0 | 1 if !is_deep => return self.nest("affine.parallel"),
            2 if !is_deep => return self.nest("affine.for"),
            0..=4 => {
                self.values.push(result);
                writeln!(self.text, "%v{result} = affine.load {place} : memref<32xi32>")
            }
            5..=7 => writeln!(self.text, "affine.store %v{value}, {place} : memref<32xi32>"),
            8 => {
                let vector = format!("%v{result} = affine.vector_load {place}");
                let target = self.place("c");
                writeln!(
                    self.text,
                    "{vector} : memref<32xi32>, vector<4xi32>\n\
                     affine.vector_store %v{result}, {target} : memref<32xi32>, vector<4xi32>"
                )
            }
            _ => writeln!(self.text, "memref.copy %{array}, %a : memref<32xi32> to memref<32xi32>"),
        };
    }

    /// Returns an element of an array, at a random function of the induction variables.
    fn place(&mut self, array: &str) -> String {
        let mut sum = self.random.range(0, 3).to_string();
        for variable in self.variables.clone() {
            let _ = write!(sum, " + %v{variable} * {}", self.random.pick(&[0, 1, 4, 5, 8]));
        }
        format!("%{array}[({sum}) mod {}]", ELEMENTS - 3)
    }
}

/// A search for races has one verdict in every order. Without a race, all orders compute the same.
#[test]
fn races_do_not_depend_on_the_order() {
    let checker = Checker::default();
    let arguments: Result<Vec<ArgSpec>, _> =
        ["iota", "iota+40", "iota+80"].iter().map(|text| ArgSpec::parse(&checker.ctx, text)).collect();
    let (arguments, limits) = (arguments.expect("arguments"), Limits::default());
    let (mut races, mut differ) = (0, 0);
    for index in 0..400 {
        let text = Program::new(Random::of_case(17, index)).text;
        let module = checker.read(&text);
        let module = module.unwrap_or_else(|errors| panic!("{}\n{text}", checker.lines(&errors)));
        // Copies of registers cost steps.
        let left = |outcome| Outcome { steps: 0, ..outcome };
        let in_order = interp::run(&module, "kernel", &arguments, &limits).map(left).expect("a defined run");
        let is_race = interp::run_finding_races(&module, "kernel", &arguments, &limits).is_err();
        let interleaved = |seed, finds_races| {
            let interleaving = Interleaving { seed, finds_races };
            interp::run_interleaving(&module, "kernel", &arguments, &limits, interleaving).map(left)
        };
        for seed in 0..4 {
            assert_eq!(interleaved(seed, true).is_err(), is_race, "case {index}, seed {seed}:\n{text}");
        }
        let others = (0..4).filter(|seed| interleaved(*seed, false).ok().as_ref() != Some(&in_order)).count();
        assert!(is_race || others == 0, "case {index} depends on the order:\n{text}");
        races += usize::from(is_race);
        differ += usize::from(others > 0);
    }
    assert!((100..300).contains(&races) && differ >= 50, "{races} programs race, {differ} differ");
}
