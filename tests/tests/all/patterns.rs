//! Patterns and folds of `arith` on all operands of small widths. Where the operations of a program
//! are defined, the canonicalized program must give the same results; where they are not, it may
//! give any.

use loomir::dialects::interp::{self, ArgSpec, FaultKind, Limits, Output};
use loomir::ir::Body;
use loomir_tests::check::Checker;

/// Binary operations on integers.
const BINARY: [&str; 20] = [
    "addi",
    "subi",
    "muli",
    "divsi",
    "divui",
    "ceildivsi",
    "ceildivui",
    "floordivsi",
    "remsi",
    "remui",
    "andi",
    "ori",
    "xori",
    "shli",
    "shrsi",
    "shrui",
    "minsi",
    "maxsi",
    "minui",
    "maxui",
];

/// Flags that make some results poison.
const FLAGS: [&str; 4] = ["", " overflow<nsw>", " overflow<nuw>", " overflow<nsw, nuw>"];

/// The number of functions of a module. A call looks at all of them.
const BATCH: usize = 16;

/// Functions of integers `%x` and `%y` of some width.
struct Functions {
    width: u32,
    texts: Vec<String>,
}

impl Functions {
    fn new(width: u32) -> Functions {
        Functions { width, texts: Vec::new() }
    }

    /// Adds a function of these lines that returns `%r`, of this type.
    fn add(&mut self, lines: &str, ty: &str) {
        let (width, index) = (self.width, self.texts.len() % BATCH);
        let head = format!("func.func @f{index}(%x: i{width}, %y: i{width}) -> {ty} {{");
        self.texts.push(format!("{head}\n{lines}\n  return %r : {ty}\n}}\n"));
    }

    /// Checks that every function gives the same before and after canonicalization, for all
    /// operands. Returns the number of functions that changed.
    fn check(self) -> usize {
        let checker = Checker::default();
        self.texts.chunks(BATCH).map(|texts| check(&checker, self.width, texts)).sum()
    }
}

fn check(checker: &Checker, width: u32, texts: &[String]) -> usize {
    let source = texts.concat();
    let read = || checker.read(&source).unwrap_or_else(|errors| panic!("{}", checker.lines(&errors)));
    let (before, mut after) = (read(), read());
    let done = checker.run_unchecked("builtin.module(canonicalize)", &mut after);
    done.unwrap_or_else(|errors| panic!("{}", checker.lines(&errors)));
    let printed = [&before, &after].map(functions);
    for (index, text) in texts.iter().enumerate() {
        let all = operands(width).filter(|(_, y)| *y == 0 || text.matches("%y").count() > 1);
        for (x, y) in all {
            let name = format!("f{index}");
            let Some(expected) = run(&before, &name, x, y) else { continue };
            let found = run(&after, &name, x, y);
            let [old, new] = [0, 1].map(|i| &printed[i][index]);
            assert_eq!(found.as_ref(), Some(&expected), "of {x}, {y}:\n{old}\nbecomes\n{new}");
        }
    }
    printed[0].iter().zip(&printed[1]).filter(|(old, new)| old != new).count()
}

fn functions(module: &Body) -> Vec<String> {
    loomir::print(module).split("func.func ").skip(1).map(str::to_owned).collect()
}

/// Returns all pairs of numbers of a width.
fn operands(width: u32) -> impl Iterator<Item = (i64, i64)> {
    let numbers = move || -(1i64 << (width - 1))..1 << (width - 1);
    numbers().flat_map(move |x| numbers().map(move |y| (x, y)))
}

/// Returns the results of a call. `None` if they are undefined or poison.
fn run(module: &Body, name: &str, x: i64, y: i64) -> Option<Vec<Output>> {
    let number = |n: i64| ArgSpec::parse(module.ctx(), &n.to_string()).expect("a number");
    match interp::run(module, name, &[number(x), number(y)], &Limits::default()) {
        Ok(outcome) => Some(outcome.results),
        Err(fault) => {
            assert_eq!(fault.kind, FaultKind::Undefined, "{fault:?}");
            None
        }
    }
}

#[test]
fn two_operations() {
    let mut functions = Functions::new(3);
    for (first, second) in BINARY.iter().flat_map(|first| BINARY.iter().map(move |second| (first, second))) {
        for (a, b, c, d) in [
            ("%x", "%c1", "%v", "%c2"),
            ("%c1", "%x", "%c2", "%v"),
            ("%x", "%y", "%v", "%x"),
            ("%x", "%y", "%y", "%v"),
        ] {
            let lines = format!(
                "  %c1 = arith.constant -1 : i3\n  %c2 = arith.constant 2 : i3\n  \
                 %v = arith.{first} {a}, {b} : i3\n  %r = arith.{second} {c}, {d} : i3"
            );
            functions.add(&lines, "i3");
        }
    }
    assert!(functions.check() > 100);
}

#[test]
fn two_sums_with_flags() {
    let mut functions = Functions::new(3);
    for (first, second) in ["addi", "subi", "muli"].into_iter().flat_map(|a| ["addi", "subi"].map(|b| (a, b)))
    {
        for (f, g) in FLAGS.into_iter().flat_map(|f| FLAGS.map(|g| (f, g))) {
            for (c1, c2) in [(1, 2), (-1, -2), (-4, 3), (3, 1)] {
                let lines = format!(
                    "  %c1 = arith.constant {c1} : i3\n  %c2 = arith.constant {c2} : i3\n  \
                     %v = arith.{first} %x, %c1{f} : i3\n  %r = arith.{second} %v, %c2{g} : i3"
                );
                functions.add(&lines, "i3");
            }
        }
    }
    assert!(functions.check() > 100);
}

#[test]
fn chains_of_conversions() {
    let mut functions = Functions::new(3);
    let conversions = |from: u32, to: u32| match from.cmp(&to) {
        std::cmp::Ordering::Less => vec!["extsi", "extui"],
        std::cmp::Ordering::Equal => vec![],
        std::cmp::Ordering::Greater => vec!["trunci"],
    };
    for (middle, end) in
        [1, 2, 5, 6].into_iter().flat_map(|middle| [1, 2, 3, 4, 6, 8].map(|end| (middle, end)))
    {
        for (first, second) in conversions(3, middle)
            .into_iter()
            .flat_map(|a| conversions(middle, end).into_iter().map(move |b| (a, b)))
        {
            for shift in [None, Some(("shrsi", 1)), Some(("shrsi", 2)), Some(("shrui", 1))] {
                let shifted = match shift {
                    Some((op, by)) => {
                        format!("  %c = arith.constant {by} : i3\n  %s = arith.{op} %x, %c : i3\n")
                    }
                    None => "  %s = arith.addi %x, %y : i3\n".to_owned(),
                };
                let lines = format!(
                    "{shifted}  %v = arith.{first} %s : i3 to i{middle}\n  \
                     %r = arith.{second} %v : i{middle} to i{end}"
                );
                functions.add(&lines, &format!("i{end}"));
            }
        }
    }
    for (first, second) in ["extsi", "extui"].into_iter().flat_map(|a| ["extsi", "extui"].map(|b| (a, b))) {
        for predicate in ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"] {
            let lines = format!(
                "  %v = arith.{first} %x : i3 to i5\n  %w = arith.{second} %y : i3 to i5\n  \
                 %r = arith.cmpi {predicate}, %v, %w : i5"
            );
            functions.add(&lines, "i1");
        }
    }
    assert!(functions.check() > 50);
}

#[test]
fn converted_integers_beside_numbers() {
    const PREDICATES: [&str; 16] = [
        "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une",
        "uno", "true",
    ];
    let mut functions = Functions::new(3);
    let halves = (-11..=18).map(|halves| format!("{:.1}", f64::from(halves) / 2.0));
    // Infinities and a number that is none.
    let special = ["0x7F800000", "0xFF800000", "0x7FC00000", "-0.0"].map(str::to_owned);
    for number in halves.chain(special) {
        for (conversion, predicate) in
            ["sitofp", "uitofp"].into_iter().flat_map(|c| PREDICATES.map(|predicate| (c, predicate)))
        {
            let lines = format!(
                "  %c = arith.constant {number} : f32\n  %v = arith.{conversion} %x : i3 to f32\n  \
                 %r = arith.cmpf {predicate}, %v, %c : f32"
            );
            functions.add(&lines, "i1");
        }
    }
    assert!(functions.check() > 500);
}

#[test]
fn choices() {
    let mut functions = Functions::new(3);
    for ty in ["i1", "i3"] {
        let constants: &[&str] = if ty == "i1" { &["false", "true"] } else { &["0", "1", "-1"] };
        let typed = |number: &str| if ty == "i1" { number.to_owned() } else { format!("{number} : i3") };
        for (a, b) in constants.iter().flat_map(|a| constants.iter().map(move |b| (a, b))) {
            for condition in ["slt, %x, %y", "eq, %y, %x"] {
                let (a, b) = (typed(a), typed(b));
                let lines = format!(
                    "  %a = arith.constant {a}\n  %b = arith.constant {b}\n  %t = arith.constant true\n  \
                     %p = arith.cmpi {condition} : i3\n  %n = arith.xori %p, %t : i1\n  \
                     %v = arith.select %p, %a, %b : {ty}\n  %r = arith.select %n, %v, %a : {ty}"
                );
                functions.add(&lines, ty);
            }
        }
    }
    assert!(functions.check() > 20);
}
