//! The dependence questions of a benchmark, timed:
//! `cargo run --release --example dependences -- PROBLEMS [--answers]`.
//!
//! Each line of the file is a problem, `domain|domain|access|access|depth|parametric|kind`. Asked,
//! as of isl: the dependence relation, emptiness at each level, the test that forbids fusion, the
//! least distance, the directions of all dimensions, the least dependent iteration. Times are
//! microseconds: median, 90th and 99th percentile, greatest.
#![allow(clippy::print_stdout, reason = "a benchmark reports to the terminal")]

use std::hint::black_box;
use std::time::Instant;

use loomir_polyhedra::{Limits, Order, Relation, Set, Tuple};

const QUESTIONS: [&str; 7] =
    ["parse", "build", "empty", "fusion", "lexmin(deltas)", "directions", "lexmin(map)"];

/// One problem of the file.
struct Problem {
    domains: [String; 2],
    accesses: [String; 2],
    depth: usize,
    parametric: bool,
}

fn read(path: &str) -> Result<Vec<Problem>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let problem = |line: &str| -> Option<Problem> {
        let mut fields = line.split('|').map(str::to_string);
        Some(Problem {
            domains: [fields.next()?, fields.next()?],
            accesses: [fields.next()?, fields.next()?],
            depth: fields.next()?.parse().ok()?,
            parametric: fields.next()? == "1",
        })
    };
    text.lines().map(|line| problem(line).ok_or_else(|| format!("not a problem: {line}"))).collect()
}

/// Times of each question, by class: all, then depth and kind of bounds.
#[derive(Default)]
struct Times(Vec<Vec<f64>>);

impl Times {
    fn add(&mut self, question: usize, class: usize, seconds: f64) {
        self.0.resize(QUESTIONS.len() * 5, Vec::new());
        for class in [0, class] {
            self.0[question * 5 + class].push(seconds * 1e6);
        }
    }
}

/// Runs a question `runs` times in each of three batches; the best batch counts, so that other work
/// on the machine does not.
fn timed<V>(times: &mut Times, question: usize, class: usize, runs: u32, mut body: impl FnMut() -> V) -> V {
    let mut best = f64::INFINITY;
    for _ in 0..2 {
        let start = Instant::now();
        for _ in 0..runs {
            black_box(body());
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    let start = Instant::now();
    for _ in 1..runs {
        black_box(body());
    }
    let value = black_box(body());
    best = best.min(start.elapsed().as_secs_f64());
    times.add(question, class, best / f64::from(runs));
    value
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or("name the file of problems")?;
    let answers = arguments.iter().any(|argument| argument == "--answers");
    let problems = read(path)?;
    let mut times = Times::default();
    let mut sizes: Vec<usize> = Vec::new();
    let (mut carried, mut legal) = (0, 0);
    for problem in &problems {
        let answer = ask(problem, answers, &mut times)?;
        sizes.push(answer.bytes);
        carried += usize::from(answer.carried);
        legal += usize::from(answer.may_fuse);
    }
    println!("problems={} with carried dependence={carried} fusion-legal={legal}", problems.len());
    sizes.sort_unstable();
    println!(
        "bytes of a dependence relation: median {}, p90 {}, greatest {}",
        sizes[sizes.len() / 2],
        sizes[sizes.len() * 9 / 10],
        sizes[sizes.len() - 1]
    );
    times.print();
    Ok(())
}

type Failure = Box<dyn std::error::Error>;

/// The answers about one problem.
struct Answer {
    /// The size of the dependence relation.
    bytes: usize,
    carried: bool,
    may_fuse: bool,
}

/// Asks and times all questions of a problem. Prints the answers if asked to.
fn ask(problem: &Problem, prints: bool, times: &mut Times) -> Result<Answer, Failure> {
    let limits = Limits::default();
    let class = 1 + (problem.depth - 2) * 2 + usize::from(problem.parametric);
    let params: &[&str] = if problem.parametric { &["N", "M"] } else { &[] };
    let tuple = Tuple::unnamed("S", problem.depth);
    let before = Relation::lexicographic(params, &tuple, Order::Less);
    let after = Relation::lexicographic(params, &tuple, Order::Greater);
    let levels: Vec<Relation> = before
        .conjunctions()
        .iter()
        .map(|piece| Relation::from_conjunctions(before.space().clone(), vec![piece.clone()]))
        .collect();
    let [a, b] = timed(times, 0, class, 1, || -> Result<[Relation; 2], Failure> {
        let access = |index: usize| -> Result<Relation, Failure> {
            let domain: Set = problem.domains[index].parse()?;
            Ok(problem.accesses[index].parse::<Relation>()?.intersect_domain(&domain)?)
        };
        Ok([access(0)?, access(1)?])
    })?;
    let dependence = timed(times, 1, class, 4, || a.then(&b.inverse()))?;
    let meets = timed(times, 2, class, 4, || {
        levels
            .iter()
            .map(|level| dependence.meets(level, &limits))
            .collect::<Result<Vec<bool>, loomir_polyhedra::Error>>()
    })?;
    // The mean over the levels, as in the measurement of isl.
    for list in [2 * 5, 2 * 5 + class] {
        if let Some(last) = times.0[list].last_mut() {
            *last /= problem.depth as f64;
        }
    }
    let backwards = timed(times, 3, class, 4, || dependence.meets(&after, &limits))?;
    let mut carried: Option<Relation> = None;
    for (level, _) in levels.iter().zip(&meets).filter(|(_, meets)| **meets) {
        let part = dependence.intersect(level)?;
        carried = Some(match carried {
            None => part,
            Some(union) => union.union(&part)?,
        });
    }
    if let Some(carried) = &carried {
        let deltas =
            timed(times, 4, class, 1, || carried.deltas().and_then(|deltas| deltas.lexmin(&limits)))?;
        let directions = timed(times, 5, class, 4, || carried.directions(&limits))?;
        let least = timed(times, 6, class, 1, || carried.lexmin(&limits))?;
        if prints {
            println!("{carried}\n  {deltas}\n  {directions:?}\n  {least}");
        }
    }
    Ok(Answer { bytes: dependence.bytes(), carried: carried.is_some(), may_fuse: !backwards })
}

impl Times {
    /// Prints a row a class of problems: median, 90th and 99th percentile and greatest time of
    /// each question.
    fn print(&mut self) {
        let questions = QUESTIONS.iter().map(|question| format!("{question:>30}")).collect::<String>();
        println!("{:<10}{questions}", "us");
        for (class, name) in ["all", "d2 const", "d2 param", "d3 const", "d3 param"].iter().enumerate() {
            print!("{name:<10}");
            for question in 0..QUESTIONS.len() {
                let list = &mut self.0[question * 5 + class];
                list.sort_by(f64::total_cmp);
                let at = |share: f64| list[((list.len() as f64 * share) as usize).min(list.len() - 1)];
                print!("{:>30}", format!("{:.2}/{:.2}/{:.2}/{:.0}", at(0.5), at(0.9), at(0.99), at(1.0)));
            }
            println!();
        }
    }
}
