//! Exchangeable analyses. Every choice must keep the behaviour of programs. More precise analyses
//! must allow at least what less precise ones allow. Other crates can add analyses, as this test
//! does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use loomir::dialects::arith;
use loomir::dialects::interfaces::Decision;
use loomir::dialects::interp::Limits;
use loomir::ir::text::{SPLIT_MARKER, split_source};
use loomir::ir::{Body, Op, OpRef, verifier};
use loomir::transforms::access::base::Bases;
use loomir::transforms::access::dependence::{Differences, Polyhedral};
use loomir::transforms::access::{
    Accesses, Answer, ClosedForms, ControlFlow, Dependence, Elements, INTERFACES, LoopContext, Order,
    Question, Site, Statements,
};
use loomir::transforms::affine::condition::Condition;
use loomir::transforms::affine::{AffineForm, Forms};
use loomir::transforms::legality::{
    Approved, Checker, DependenceOracle, Ending, Piece, Schedule, Verdict, Witness, merged,
};
use loomir::transforms::regenerate::{Rewrite, regenerate};
use loomir::transforms::tree::access_summary::AccessSummary;
use loomir::transforms::tree::raise::raise_by;
use loomir::transforms::tree::{Change, Node, Program, StatementId, TreeStore};
use loomir::{AliasMode, Analyses, ContractionOptions, FuseOptions, Profitability};
use loomir_tests::behaviour::{inputs, same_behaviour};
use loomir_tests::blocks::each_block;
use loomir_tests::generate::generate;
use loomir_tests::random::Random;
use loomir_tests::twin::compared;

const CASES: u64 = 25;

/// Returns the default analyses with one of them chosen by name.
fn with(interface: &str, implementation: &str) -> Analyses {
    let mut analyses = Analyses::default();
    analyses.choose(interface, implementation).unwrap_or_else(|message| panic!("{message}"));
    analyses
}

/// Options that fuse wherever legal, regardless of profitability.
fn all() -> FuseOptions {
    FuseOptions { profitability: Profitability::Always, ..FuseOptions::default() }
}

fn parsed(text: &str) -> Body {
    let ctx = loomir::context();
    loomir::parse(&ctx, text, "t.mlir").unwrap_or_else(|e| panic!("{}\n{text}", e.to_text(&ctx)))
}

/// Fuses and contracts with these analyses and executes both programs. Returns the number of fused
/// pairs.
fn fused(text: &str, entry: &str, analyses: Analyses, alias: AliasMode) -> usize {
    let mut after = parsed(text);
    let options = FuseOptions { alias, analyses: analyses.clone(), ..all() };
    let fused = loomir::fuse(&mut after, &options).fused;
    loomir::contract(&mut after, &ContractionOptions { analyses, ..ContractionOptions::default() });
    let printed = loomir::print(&after);
    let told = || format!("{options:?}\n{text}\n{printed}");
    assert!(!verifier::verify(&after).has_errors(), "{}", told());
    let [before, after] = compared(text, &printed).map(|text| parsed(&text));
    let mut random = Random::new(1);
    let calls = inputs(&before, entry, &mut random).unwrap_or_else(|| panic!("there is no '{entry}'"));
    if let Err(difference) = same_behaviour(&before, &after, entry, &calls, &Limits::default()) {
        panic!("{difference}\n{}", told());
    }
    fused
}

#[test]
fn every_choice_leaves_random_programs_what_they_were() {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for index in 0..CASES {
        // Any two arguments may be one buffer.
        let text = generate(&mut Random::of_case(11, index)).to_mlir().mlir.replace("{llvm.noalias}", "");
        for interface in INTERFACES {
            for name in interface.implementations {
                let alias = if index % 2 == 0 { AliasMode::May } else { AliasMode::Version };
                let fused = fused(&text, "kernel", with(interface.name, name), alias);
                *counts.entry((interface.name, name)).or_default() += fused;
            }
        }
    }
    // All implementations have an effect, and the least precise has a smaller one than the most
    // precise.
    for interface in INTERFACES {
        let count = |name: &str| counts[&(interface.name, name)];
        let (least, most) = (count(interface.implementations[0]), count(interface.default));
        assert!(least <= most && (least > 0 || interface.name == "dependence"), "{counts:?}");
    }
}

/// Returns the pairs of neighbouring loops whose fusion is legal, by their operations.
fn mergeable(body: &Body, block: loomir::ir::Block, analyses: &Analyses) -> Vec<(Op, Op)> {
    let mut trees = TreeStore::default();
    let program = raise_by(analyses, body, block, &mut trees, AliasMode::May);
    let loop_context = LoopContext::outside(&program.surroundings);
    let bases = Bases::new(body, AliasMode::May);
    let oracle = DependenceOracle {
        bases: &bases,
        dependence: &*analyses.dependence,
        limits: &Default::default(),
        tested_before: None,
    };
    let loops = trees.items(program.root).filter_map(|item| match trees.get(item) {
        Node::Loop { header, .. } => Some((item, program.loop_info(trees.header(header).origins[0].of).op)),
        _ => None,
    });
    let nests: Vec<(Op, AccessSummary)> =
        loops.map(|(item, op)| (op, AccessSummary::of(&program, &trees, item, &loop_context))).collect();
    let legal =
        |pair: &&[(Op, AccessSummary)]| merged(&pair[0].1, &pair[1].1, 0, &loop_context, &oracle).is_legal();
    nests.windows(2).filter(legal).map(|pair| (pair[0].0, pair[1].0)).collect()
}

/// Returns, for each nest of two loops, whether interchange is legal: by dependences of their
/// accesses, and by the check of the resulting tree.
fn interchanged(body: &Body, block: loomir::ir::Block) -> Vec<[bool; 2]> {
    let mut trees = TreeStore::default();
    let program = raise_by(&Analyses::default(), body, block, &mut trees, AliasMode::May);
    let loop_context = LoopContext::outside(&program.surroundings);
    let bases = Bases::new(body, AliasMode::May);
    let limits = Default::default();
    let oracle =
        DependenceOracle { bases: &bases, dependence: &Polyhedral, limits: &limits, tested_before: None };
    let checker = Checker::new(body, &program, AliasMode::May, limits);
    let items: Vec<_> = trees.items(program.root).collect();
    let mut found = Vec::new();
    for (at, item) in items.into_iter().enumerate() {
        let Node::Loop { header, .. } = trees.get(item) else { continue };
        let of = trees.header(header).origins[0].of;
        let edit = Change::Permute { order: Box::new([1, 0]) }.at([at]);
        let Some(tree) = edit.apply(&program, &mut trees, program.root) else { continue };
        let Some(other) = trees.item(tree, at) else { continue };
        let nest = AccessSummary::of(&program, &trees, item, &loop_context);
        let [i, j] = [0, 1].map(AffineForm::level);
        let (old, new) = (vec![i.clone(), j.clone()], vec![j, i]);
        let piece = Piece { touches: &nest, old, new, ending: Ending::default(), replaces: false };
        let own = Schedule::new(&loop_context, vec![piece]).check(&oracle).is_legal();
        let verdict = checker.check_loop(&trees, of, &[other], &Default::default());
        let is_order = matches!(
            verdict,
            Verdict::Illegal(Witness::Order { .. }) | Verdict::MayBeIllegal(Witness::Order { .. })
        );
        // Values are another question.
        if verdict.is_legal() || is_order {
            found.push([own, verdict.is_legal()]);
        }
    }
    found
}

#[test]
fn loops_of_a_nest_change_places_only_where_the_check_lets_them() {
    let mut counts: BTreeMap<[bool; 2], usize> = BTreeMap::new();
    for index in 0..32 * CASES {
        let text = generate(&mut Random::of_case(13, index)).to_mlir().mlir;
        each_block(&mut parsed(&text), &mut |body, block| {
            for both in interchanged(body, block) {
                assert_ne!(both, [true, false], "case {index}\n{text}");
                *counts.entry(both).or_default() += 1;
            }
        });
    }
    let count = |both| counts.get(&both).copied().unwrap_or_default();
    assert!(count([true, true]) > 20 && count([false, false]) > 5, "{counts:?}");
}

#[test]
fn what_the_less_precise_lets_through_the_more_precise_does() {
    let mut more: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for index in 0..16 * CASES {
        let text = generate(&mut Random::of_case(12, index)).to_mlir().mlir;
        let mut module = parsed(&text);
        each_block(&mut module, &mut |body, block| {
            for interface in INTERFACES.into_iter().filter(|own| own.name != "statements") {
                let mut before: Vec<(Op, Op)> = Vec::new();
                for name in interface.implementations {
                    let own = mergeable(body, block, &with(interface.name, name));
                    let lost = before.iter().find(|pair| !own.contains(pair));
                    assert_eq!(lost, None, "case {index}: {}={name}\n{text}", interface.name);
                    *more.entry((interface.name, name)).or_default() += own.len() - before.len();
                    // Analyses of addresses and of subscripts each have facts that the other lacks
                    // if views are not distinguished.
                    if interface.name != "accesses" || *name == "alias" {
                        before = own;
                    }
                }
            }
            // The additional questions about graphs do not matter either.
            let differences = Analyses { dependence: Arc::new(Differences), ..Analyses::default() };
            let own = mergeable(body, block, &differences);
            let exact = mergeable(body, block, &Analyses::default());
            let lost = own.iter().find(|pair| !exact.contains(pair));
            assert_eq!(lost, None, "case {index}: differences\n{text}");
            *more.entry(("dependence", "differences")).or_default() += own.len();
        });
    }
    // Each analysis allows something that the one before refuses.
    let idle: Vec<_> = more.iter().filter(|((_, name), count)| **count == 0 && *name != "none").collect();
    assert!(idle.is_empty(), "{more:?}");
}

/// Fixtures of fusion, each about one kind of dependence.
const FIXTURES: [&str; 8] = [
    "producer_consumer",
    "stencil",
    "triangular",
    "subscripts",
    "two_dimensions",
    "guards",
    "same_buffer",
    "write_after",
];

#[test]
fn what_each_choice_fuses_of_the_fixtures() {
    let mut table = String::from(
        "pairs fused, from the least precise on, of programs for which they are not all the same:\n",
    );
    for interface in INTERFACES {
        table += &format!("  {}: {}\n", interface.name, interface.implementations.join(", "));
    }
    for name in FIXTURES {
        let path = format!("{}/fixtures/fusion/{name}.mlir", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{name}: {e}"));
        for chunk in split_source(&source, SPLIT_MARKER) {
            let count = |interface: &str, implementation: &str| {
                let mut module = parsed(chunk.text);
                let analyses = with(interface, implementation);
                let options = FuseOptions { alias: AliasMode::May, analyses, ..all() };
                loomir::fuse(&mut module, &options).fused
            };
            let (mut line, mut seen) = (String::new(), BTreeSet::new());
            for interface in INTERFACES {
                line += &format!("  {}", interface.name);
                for own in interface.implementations {
                    let fused = count(interface.name, own);
                    seen.insert(fused);
                    line += &format!(" {fused}");
                }
            }
            if seen.len() > 1 {
                let function = chunk.text.split("func.func @").nth(1).and_then(|rest| rest.split('(').next());
                table += &format!("{name} @{}:{line}\n", function.unwrap_or_default());
            }
        }
    }
    insta::assert_snapshot!(table);
}

/// A dependence test: instances touch one element only in equal iterations, if both subscripts are
/// just the loop's induction variable.
#[derive(Debug)]
struct InStep;

impl Dependence for InStep {
    fn meet(&self, question: &Question<'_>) -> Answer {
        let level = AffineForm::level(question.loop_context.depth);
        let in_step = question.equal.iter().any(|(x, y)| **x == level && **y == level);
        let apart = question.order.iter().any(|one| {
            one.is == Order::Greater
                && *one.first == level
                && one.second.minus(&level).is_some_and(|later| later.as_constant().is_some_and(|n| n >= 0))
        });
        if in_step && apart { Answer::Never } else { Answer::Perhaps }
    }
}

/// Closed forms that also follow an `and` with a mask of low bits, as a remainder by a power of
/// two.
#[derive(Debug)]
struct WithMasks;

impl ClosedForms for WithMasks {
    fn follows(&self, _: &AffineForm, _: &[Option<AffineForm>]) -> bool {
        true
    }

    fn of_result(
        &self,
        op: OpRef<'_>,
        operand: &mut dyn FnMut(usize) -> Option<AffineForm>,
    ) -> Option<AffineForm> {
        let mask = operand(1)?.as_constant().filter(|_| op.is(arith::AndIOp::DEF))?;
        let count = mask.checked_add(1).filter(|count| *count > 0 && count & mask == 0)?;
        operand(0)?.modulo(count)
    }
}

/// The first subscript alone.
#[derive(Debug)]
struct Rows;

impl Accesses for Rows {
    fn locate(&self, site: &mut Site<'_, '_>) -> Option<Elements> {
        if !site.forms.is_parameter(site.origin) {
            return None;
        }
        let mut subscripts = site.forms.of_subscripts(&site.access?.subscripts);
        subscripts.iter_mut().skip(1).for_each(|subscript| *subscript = None);
        Some(Elements { origin: site.origin, sizes: Vec::new(), subscripts, conditional: None })
    }
}

/// Conditionals as guards with an unknown condition.
#[derive(Debug)]
struct Blind;

impl ControlFlow for Blind {
    fn is_guard(&self, _: OpRef<'_>) -> bool {
        true
    }

    fn condition(&self, _: &mut Forms<'_>, _: &Decision) -> Condition {
        Condition::opaque()
    }
}

#[test]
fn each_interface_can_be_implemented_elsewhere() {
    let in_step = || Analyses { dependence: Arc::new(InStep), ..Analyses::default() };
    let two = |read: &str| {
        format!(
            "func.func @two(%a: memref<18xi32>, %x: i32) {{
               affine.for %i = 0 to 16 {{ affine.store %x, %a[%i] : memref<18xi32> }}
               affine.for %i = 0 to 16 {{
                 %0 = affine.load %a[{read}] : memref<18xi32>
                 %1 = arith.addi %0, %x : i32
                 affine.store %1, %a[%i] : memref<18xi32>
               }}
               return
             }}"
        )
    };
    assert_eq!(fused(&two("%i"), "two", in_step(), AliasMode::May), 1);
    assert_eq!(fused(&two("%i - 1 + 1"), "two", in_step(), AliasMode::May), 1);
    assert_eq!(fused(&two("%i + 1"), "two", in_step(), AliasMode::May), 0);

    let masked = "func.func @two(%a: memref<16xi32>, %b: memref<16xi32> {llvm.noalias}, %x: i32) {
        %c7 = arith.constant 7 : index
        affine.for %i = 0 to 16 { affine.store %x, %a[%i] : memref<16xi32> }
        affine.for %i = 0 to 16 {
          %k = arith.andi %i, %c7 : index
          %0 = memref.load %a[%k] : memref<16xi32>
          affine.store %0, %b[%i] : memref<16xi32>
        }
        return
      }";
    let with_masks = Analyses { closed_forms: Arc::new(WithMasks), ..Analyses::default() };
    let mut sums = Analyses::default();
    sums.choose("closed-forms", "affine").expect("there is one");
    assert_eq!(fused(masked, "two", sums, AliasMode::May), 0);
    assert_eq!(fused(masked, "two", with_masks, AliasMode::May), 1);

    let table = |first: &str, second: &str| {
        format!(
            "func.func @two(%a: memref<20x20xi32>, %x: i32) {{
               affine.for %i = 0 to 16 {{ affine.store %x, %a[{first}] : memref<20x20xi32> }}
               affine.for %i = 0 to 16 {{
                 %0 = affine.load %a[{second}] : memref<20x20xi32>
                 %1 = arith.addi %0, %x : i32
                 affine.store %1, %a[{second}] : memref<20x20xi32>
               }}
               return
             }}"
        )
    };
    let rows = || Analyses { accesses: Arc::new(Rows), ..Analyses::default() };
    assert_eq!(fused(&table("%i, 3", "%i, 4"), "two", rows(), AliasMode::May), 1);
    assert_eq!(fused(&table("3, %i", "4, -%i + 15"), "two", rows(), AliasMode::May), 1);
    assert_eq!(fused(&table("3, %i", "3, -%i + 15"), "two", rows(), AliasMode::May), 0);

    let guarded = "
      #low = affine_set<(d0) : (7 - d0 >= 0)>
      #high = affine_set<(d0) : (d0 - 8 >= 0)>
      func.func @two(%a: memref<16xi32>, %x: i32, %y: i32) {
        affine.for %i = 0 to 16 { affine.if #low(%i) { affine.store %x, %a[%i] : memref<16xi32> } }
        affine.for %i = 0 to 16 { affine.if #high(%i) { affine.store %y, %a[%i - 4] : memref<16xi32> } }
        affine.for %i = 0 to 16 { affine.if #high(%i) { affine.store %y, %a[%i - 8] : memref<16xi32> } }
        return
      }";
    let blind = || Analyses { control_flow: Arc::new(Blind), ..Analyses::default() };
    let default = fused(guarded, "two", Analyses::default(), AliasMode::May);
    assert_eq!((default, fused(guarded, "two", blind(), AliasMode::May)), (2, 2));
}

/// Every operation depends on every later one, from the last on.
#[derive(Debug)]
struct Everything;

impl Statements for Everything {
    fn ties(&self, _: &Body, run: &[Op]) -> Vec<(usize, usize)> {
        (0..run.len()).rev().flat_map(|at| (0..at).map(move |before| (before, at))).collect()
    }
}

#[test]
fn operations_are_tied_only_where_there_is_an_order_left() {
    let mut counts = (0, 0);
    for index in 0..CASES {
        let text = generate(&mut Random::of_case(13, index)).to_mlir().mlir.replace("{llvm.noalias}", "");
        let everything = Analyses { statements: Arc::new(Everything), ..Analyses::default() };
        fused(&text, "kernel", everything.clone(), AliasMode::Version);
        for analyses in [with("statements", "tied"), with("statements", "block"), everything.clone()] {
            let (before, mut after) = (parsed(&text), parsed(&text));
            each_block(&mut after, &mut |body, block| {
                let mut trees = TreeStore::default();
                let program = raise_by(&analyses, body, block, &mut trees, AliasMode::May);
                let ops = |program: &Program| -> BTreeSet<usize> {
                    let leaves = trees.leaves(program.root);
                    (0..leaves)
                        .flat_map(|id| program.statement(StatementId(id)).ops.clone())
                        .map(|op| op.index())
                        .collect()
                };
                let all = ops(&program);
                // Regenerated in the order of the tree, everything is computed before it is used,
                // and memory has the original contents.
                let written =
                    regenerate(body, &program, &trees, &Approved::unchanged(&program), Rewrite::All);
                assert_eq!(written, Ok(()), "{analyses:?}\n{text}");
                counts.0 += trees.leaves(program.root) as usize;
                counts.1 += all.len();
            });
            let errors = verifier::verify(&after);
            assert!(!errors.has_errors(), "{analyses:?}\n{}\n{text}", errors.to_text(after.ctx()));
            let calls = inputs(&before, "kernel", &mut Random::new(2)).unwrap_or_default();
            if let Err(difference) = same_behaviour(&before, &after, "kernel", &calls, &Limits::default()) {
                panic!("{difference}\n{analyses:?}\n{text}\n{}", loomir::print(&after));
            }
        }
    }
    assert!(counts.0 * 3 < counts.1 * 2, "{} statements of {} operations", counts.0, counts.1);
}

#[test]
fn what_is_not_there_is_not_chosen() {
    let mut analyses = Analyses::default();
    assert_eq!(
        analyses.choose("dependence", "exact"),
        Err("'exact' is none of none, flat, directions, polyhedral".to_owned())
    );
    assert_eq!(analyses.choose("taste", "flat"), Err("there is no interface 'taste'".to_owned()));
    for interface in INTERFACES {
        assert_eq!(interface.implementations.last(), Some(&interface.default));
        for name in interface.implementations {
            assert_eq!(analyses.choose(interface.name, name), Ok(()));
        }
    }
}
