//! Dependences of a tree and of its lowered control flow graph: loads and stores of one object that
//! meet in the tree meet in the graph, in the same directions, and no others.
//!
//! Both are examined pair by pair, for the classes of accesses on each side; the integer sets that
//! answer are the same. Accesses are matched by their order in the text, which lowering keeps. The
//! graph is less precise in one case: run-time numbers may wrap there, and a descriptor has no
//! facts about them.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::{affine, llvm, memref};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::text::parse;
use loomir_ir::{Body, Context, OpDef};
use loomir_lowering::cfg::Analysis;
use loomir_lowering::cfg::accesses::Accesses;
use loomir_lowering::cfg::accesses::dependence::DependenceOracle;
use loomir_lowering::cfg::print::{Printed, print};
use loomir_lowering::cfg::scev::ScalarEvolution;
use loomir_lowering::{convert_scf_to_cf, convert_to_llvm, lower_affine};
use loomir_transforms::access::base::{AliasMode, Bases, Overlap};
use loomir_transforms::access::dependence::{Dependence, Polyhedral};
use loomir_transforms::access::locals::Locals;
use loomir_transforms::access::{Analyses, Answer, LoopContext, Order, Question, Relation};
use loomir_transforms::affine::AffineForm;
use loomir_transforms::flow::timeline::{Access, Timeline};
use loomir_transforms::legality::meeting::Meeting;
use loomir_transforms::polyhedra::Limits;

use crate::{context, functions};

const ORDERS: [(Order, char); 3] = [(Order::Less, '<'), (Order::Equal, '='), (Order::Greater, '>')];

/// Returns the directions in `levels` common loops in which two accesses meet. `meets` decides it
/// for iterations with a number of common loops, and these orders at further levels.
fn directions(levels: u32, meets: impl Fn(u32, &[(u32, Order)]) -> Answer) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pending: Vec<(Vec<Order>, String)> = vec![(Vec::new(), String::new())];
    while let Some((orders, text)) = pending.pop() {
        let shared = orders.iter().take_while(|order| **order == Order::Equal).count();
        let further: Vec<(u32, Order)> = (0..).zip(orders.iter().copied()).skip(shared).collect();
        if matches!(meets(shared as u32, &further), Answer::Never) {
            continue;
        }
        if orders.len() == levels as usize {
            found.insert(format!("({text})"));
            continue;
        }
        for (order, sign) in ORDERS {
            pending.push(([&orders[..], &[order]].concat(), format!("{text}{sign}")));
        }
    }
    found
}

/// The predictions about the loads and stores of a function.
#[derive(PartialEq, Eq, Debug, Default)]
struct Said {
    /// For each access, true if it writes, and the number of loops around it.
    accesses: Vec<(bool, u32)>,
    /// In which directions two meet.
    pairs: Vec<BTreeSet<String>>,
}

/// Returns the pairs of accesses of one object with a store, and the tree's predictions about them.
/// `None` if a value computed in a loop is a parameter somewhere.
fn of_tree(body: &Body) -> Option<(Vec<(usize, usize)>, Said)> {
    const OPS: [(&OpDef, bool); 4] = [
        (memref::LoadOp::DEF, false),
        (memref::StoreOp::DEF, true),
        (affine::LoadOp::DEF, false),
        (affine::StoreOp::DEF, true),
    ];
    let entry = body.entry_block(body.region(body.root(), 0))?;
    let timeline = Timeline::of(body, entry, &Locals::of(body), &Analyses::default());
    let bases = Bases::new(body, AliasMode::May);
    let is_simple = |access: &&Access| OPS.iter().any(|(def, _)| body.is(access.op, def));
    let all: Vec<&Access> = timeline.accesses().map(|id| timeline.get(id)).filter(is_simple).collect();
    if all.iter().any(|access| access.parameters > 0 || access.compound) {
        return None;
    }
    let meets = |first: usize, second: usize, shared: u32, order: &[(u32, Order)]| {
        let (a, b) = (&all[first].class, &all[second].class);
        let levels: Vec<AffineForm> = order.iter().map(|(level, _)| AffineForm::level(*level)).collect();
        let relations: Vec<Relation<'_>> = levels
            .iter()
            .zip(order)
            .map(|(level, (_, is))| Relation { first: level, is: *is, second: level })
            .collect();
        let loop_context = LoopContext {
            depth: shared,
            constraints: timeline.around.clone(),
            exact: true,
            variables: vec![None; shared as usize],
            facts: timeline.facts.clone(),
        };
        let meeting = Meeting::of(a, b, Overlap::Same);
        Polyhedral.meet(&Question {
            first: a,
            second: b,
            loop_context: &loop_context,
            equal: &meeting.pairs,
            order: &relations,
            shown: &[],
            limits: &Limits::default(),
        })
    };
    let accesses = all.iter().map(|access| (access.class.writes, access.depth())).collect();
    let is_asked = |(first, second): &(usize, usize)| {
        let (first, second) = (&all[*first].class, &all[*second].class);
        (first.writes || second.writes) && bases.overlap(first.base, second.base) == Overlap::Same
    };
    let pairs = (0..all.len()).flat_map(|first| (first..all.len()).map(move |second| (first, second)));
    let asked: Vec<(usize, usize)> = pairs.filter(is_asked).collect();
    let answers = asked.iter().map(|(first, second)| {
        let levels = all[*first].common_loops(all[*second]);
        directions(levels, |shared, order| meets(*first, *second, shared, order))
    });
    let pairs = answers.collect();
    Some((asked, Said { accesses, pairs }))
}

/// Returns the graph's predictions about these pairs; no pairs if there are other accesses.
fn of_graph(module: &Body, function: &Body, asked: &[(usize, usize)], stand: &[(bool, u32)]) -> Said {
    let analysis = Analysis::of(function);
    let mut scev = ScalarEvolution::new(function, &analysis, &DataLayout::default());
    let accesses = Accesses::of(&SymbolTable::of(module), &mut scev);
    let bases = Bases::new(function, AliasMode::May);
    let oracle = DependenceOracle { bases: &bases, dependence: &Polyhedral, limits: &Limits::default() };
    let is_simple = |op| function.is(op, llvm::LoadOp::DEF) || function.is(op, llvm::StoreOp::DEF);
    let all: Vec<_> = accesses.all.iter().filter(|access| is_simple(access.op)).collect();
    let own: Vec<(bool, u32)> =
        all.iter().map(|access| (access.writes(), access.loops.len() as u32)).collect();
    let asked = if own == stand { asked } else { &[] };
    let answers = asked.iter().map(|(first, second)| {
        let (first, second) = (all[*first], all[*second]);
        directions(first.common(second), |shared, order| accesses.meet(first, second, shared, order, &oracle))
    });
    let pairs = answers.collect();
    Said { accesses: own, pairs }
}

/// The predictions of tree and graph about a function.
struct Both {
    name: String,
    asked: Vec<(usize, usize)>,
    tree: Said,
    graph: Said,
}

impl Both {
    /// Returns the pairs with both predictions.
    fn pairs(&self) -> impl Iterator<Item = (&(usize, usize), &BTreeSet<String>, &BTreeSet<String>)> {
        let both = self.tree.pairs.iter().zip(&self.graph.pairs);
        self.asked.iter().zip(both).map(|(asked, (tree, graph))| (asked, tree, graph))
    }
}

/// Returns the predictions about each function of a module with a body, and the accesses of the
/// graphs as text. Empty if it is not lowered.
fn both(ctx: &Context, source: &str) -> (Vec<Both>, String) {
    let module = parse(ctx, source, "tree.mlir").unwrap_or_else(|errors| panic!("{}", errors.to_text(ctx)));
    let mut lowered = module.duplicate();
    if [lower_affine, convert_scf_to_cf, convert_to_llvm].iter().any(|step| step(&mut lowered).is_err()) {
        return (Vec::new(), String::new());
    }
    let graphs = functions(&lowered);
    let mut all = Vec::new();
    for body in module.all_ops().filter_map(|op| module.nested(op)) {
        let name = body.attr(body.root(), "sym_name").and_then(|name| name.as_str(ctx)).unwrap_or_default();
        let graph = graphs.iter().find(|(own, _)| own == name);
        if let (Some((asked, tree)), Some((_, graph))) = (of_tree(body), graph) {
            let graph = of_graph(&lowered, graph, &asked, &tree.accesses);
            all.push(Both { name: name.to_owned(), asked, tree, graph });
        }
    }
    (all, print(&lowered, Printed::Accesses).unwrap_or_else(|errors| panic!("{}", errors.to_text(ctx))))
}

fn list(directions: &BTreeSet<String>) -> String {
    let all: Vec<&str> = directions.iter().map(String::as_str).collect();
    if all.is_empty() { "never".into() } else { all.join(" ") }
}

/// Shows each pair with its directions, and both predictions where they differ. The accesses of the
/// graphs follow.
#[test]
fn shown() {
    let mut report = String::new();
    let (all, accesses) = both(&context(), include_str!("fixtures/relations.mlir"));
    for both in all {
        assert_eq!(both.tree.accesses, both.graph.accesses, "{}", both.name);
        let _ = writeln!(report, "@{}", both.name);
        for ((first, second), tree, graph) in both.pairs() {
            let _ = match tree == graph {
                true => writeln!(report, "  {first} {second}: {}", list(tree)),
                false => writeln!(report, "  {first} {second}: {}; graph: {}", list(tree), list(graph)),
            };
        }
    }
    insta::assert_snapshot!("relations", format!("{report}\n{accesses}"));
}

/// Returns the differences in the programs of a file, and the number of equal pairs.
fn differences(file: &Path) -> (String, usize) {
    let (mut report, mut equal) = (String::new(), 0);
    let name = file.file_name().expect("a name").to_string_lossy();
    let text = std::fs::read_to_string(file).expect("a fixture");
    for both in text.split("// -----").flat_map(|source| both(&context(), source).0) {
        let place = format!("{name} @{}", both.name);
        if both.tree.accesses != both.graph.accesses {
            let _ = writeln!(report, "{place}: other accesses");
        }
        for ((first, second), tree, graph) in both.pairs() {
            equal += usize::from(tree == graph);
            if tree != graph {
                let (tree, graph) = (list(tree), list(graph));
                let _ = writeln!(report, "{place} {first} {second}: {tree}; graph: {graph}");
            }
        }
    }
    (report, equal)
}

/// The same for the programs that show fusion; only differences are printed.
#[test]
fn programs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/fusion");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("fixtures").flatten().map(|f| f.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "mlir"));
    files.sort();
    let next = AtomicUsize::new(0);
    let work = || {
        let taken = std::iter::from_fn(|| files.get(next.fetch_add(1, Ordering::Relaxed)));
        taken.map(|file| (file, differences(file))).collect::<Vec<_>>()
    };
    let mut found: Vec<_> = std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|own| own.join().expect("no panic")).collect()
    });
    found.sort_by_key(|(file, _)| *file);
    let equal: usize = found.iter().map(|(_, (_, equal))| equal).sum();
    assert!(equal > 900, "only {equal} pairs are equal");
    let report: String = found.into_iter().map(|(_, (report, _))| report).collect();
    insta::assert_snapshot!("relations.programs", report);
}
