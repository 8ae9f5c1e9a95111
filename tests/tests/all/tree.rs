//! Tests of the loop tree: sequences against plain vectors, raising and regenerating as the
//! identity, and the cost of variants.

use loomir::AliasMode;
use loomir::dialects::interp::Limits;
use loomir::ir::{Block, Body, verifier};
use loomir::transforms::affine::AffineForm;
use loomir::transforms::legality::{Approved, Checker, Verdict, Witness};
use loomir::transforms::regenerate::{Reason, Rewrite, regenerate};
use loomir::transforms::tree::raise::raise;
use loomir::transforms::tree::{Change, Green, Header, Node, Origin, Program, Span, StatementId, TreeStore};
use loomir_tests::behaviour::{inputs, same_behaviour};
use loomir_tests::blocks::each_block;
use loomir_tests::chains::Chain;
use loomir_tests::edits::made;
use loomir_tests::generate::generate;
use loomir_tests::random::Random;

/// Returns the tree after the judge's approval.
fn approved(body: &Body, program: &Program, trees: &mut TreeStore, tree: Green) -> Approved {
    let checker = Checker::new(body, program, AliasMode::Distinct, Default::default());
    checker.judge(trees, tree).unwrap_or_else(|verdict| panic!("{verdict:?}"))
}

fn leaves(trees: &mut TreeStore, count: u32) -> Vec<Green> {
    let none = trees.make_map(Box::new([]));
    (0..count).map(|i| trees.leaf(StatementId(i), none)).collect()
}

#[test]
fn sequences_are_lists_and_equal_ones_are_one_node() {
    for case in 0..200 {
        let mut random = Random::of_case(17, case);
        let mut trees = TreeStore::default();
        let leaves = leaves(&mut trees, 6);
        let mut list: Vec<Green> = Vec::new();
        let mut sequence = TreeStore::EMPTY;
        for _ in 0..40 {
            let start = random.below(list.len() + 1);
            let end = start + random.below(list.len() - start + 1);
            let new: Vec<Green> = (0..random.below(4)).map(|_| leaves[random.below(6)]).collect();
            list.splice(start..end, new.iter().copied());
            sequence = trees.splice(sequence, start..end, &new);
            assert_eq!(trees.items(sequence).collect::<Vec<_>>(), list);
            assert_eq!(trees.items_in(sequence), list.len());
            assert_eq!(trees.leaves(sequence) as usize, list.len());
            assert_eq!(trees.item(sequence, start), list.get(start).copied());
            assert_eq!(trees.sequence(&list), sequence, "one node for {list:?}");
            let (a, b) = trees.split(sequence, start);
            assert_eq!(trees.join(a, b), sequence);
        }
    }
}

#[test]
fn a_long_run_of_one_item_overflows_no_stack() {
    let mut trees = TreeStore::default();
    let leaf = leaves(&mut trees, 1)[0];
    let sequence = trees.sequence(&vec![leaf; 200_000]);
    let (first, _) = trees.split(sequence, 100_000);
    assert_eq!(trees.items(first).count(), 100_000);
}

#[test]
fn raising_and_regenerating_everything_is_the_identity() {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/fusion");
    let mut texts: Vec<String> =
        (0..60).map(|index| generate(&mut Random::of_case(23, index)).to_mlir().mlir).collect();
    for entry in std::fs::read_dir(fixtures).into_iter().flatten().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        if entry.path().extension().is_some_and(|e| e == "mlir") {
            texts.extend(text.split("// -----").map(str::to_owned));
        }
    }
    assert!(texts.len() > 80);
    let mut loops = 0;
    for text in texts {
        let ctx = loomir::context();
        let mut module =
            loomir::parse(&ctx, &text, "t.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
        let before = loomir::print(&module);
        each_block(&mut module, &mut |body, block| {
            let mut trees = TreeStore::default();
            let program = raise(body, block, &mut trees, AliasMode::May);
            loops += program.loops().len();
            assert_eq!(
                regenerate(body, &program, &trees, &Approved::unchanged(&program), Rewrite::All),
                Ok(())
            );
        });
        assert!(!verifier::verify(&module).has_errors());
        assert_eq!(loomir::print(&module), before);
    }
    assert!(loops > 300, "only {loops} loops were raised");
}

/// Returns a chain of loops in a module, raised.
fn chain(loops: usize) -> (Body, Block, TreeStore, Program) {
    let ctx = loomir::context();
    let source = Chain::InPlace.to_mlir(loops, 16);
    let mut module =
        loomir::parse(&ctx, &source, "chain.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    let mut raised = None;
    each_block(&mut module, &mut |body, block| {
        let mut trees = TreeStore::default();
        let program = raise(body, block, &mut trees, AliasMode::May);
        raised = Some((body.duplicate(), block, trees, program));
    });
    raised.unwrap_or_else(|| panic!("there is a function"))
}

/// Returns the tree `root` with two of its items swapped.
fn swapped(trees: &mut TreeStore, root: Green, at: usize) -> Green {
    let pair: Vec<Green> = [at + 1, at].into_iter().filter_map(|i| trees.item(root, i)).collect();
    trees.splice(root, at..at + 2, &pair)
}

#[test]
fn an_edit_in_a_thousand_nests_costs_less_than_a_kilobyte() {
    const EDITS: usize = 2000;
    let (_, _, mut trees, program) = chain(1000);
    let mut random = Random::new(5);
    let mut tree = program.root;
    let before = trees.bytes();
    for _ in 0..EDITS {
        let at = random.below(990) + 2;
        tree = swapped(&mut trees, tree, at);
    }
    let each = (trees.bytes() - before) / EDITS;
    assert!((1..1024).contains(&each), "an edit takes {each} bytes");
}

#[test]
fn variants_share_what_they_have_in_common() {
    let (_, _, mut trees, program) = chain(1000);
    let there = swapped(&mut trees, program.root, 500);
    let back = swapped(&mut trees, there, 500);
    assert_ne!(there, program.root);
    assert_eq!(back, program.root);
    let nodes = trees.len();
    assert_eq!(swapped(&mut trees, program.root, 500), there);
    assert_eq!(trees.len(), nodes, "what is there already is not made again");
}

/// Two loops on different buffers, in either order.
const TWO_BUFFERS: &str = "
    func.func @f(%a: memref<4xi32>, %b: memref<4xi32>, %c: i32) {
      affine.for %i = 0 to 4 { affine.store %c, %a[%i] : memref<4xi32> }
      affine.for %i = 0 to 4 { affine.store %c, %b[%i] : memref<4xi32> }
      return
    }";

#[test]
fn loops_that_change_places_are_regenerated_so() {
    let ctx = loomir::context();
    let read =
        || loomir::parse(&ctx, TWO_BUFFERS, "two.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    let (before, mut after) = (read(), read());
    each_block(&mut after, &mut |body, block| {
        let mut trees = TreeStore::default();
        let program = raise(body, block, &mut trees, AliasMode::Distinct);
        assert!(trees.items(program.root).all(|item| matches!(trees.get(item), Node::Loop { .. })));
        let root = swapped(&mut trees, program.root, 0);
        let tree = approved(body, &program, &mut trees, root);
        assert_eq!(regenerate(body, &program, &trees, &tree, Rewrite::Changed), Ok(()));
    });
    let printed = loomir::print(&after);
    assert!(printed.find("%arg1[").unwrap_or(0) < printed.find("%arg0[").unwrap_or(0), "{printed}");
    let mut calls = inputs(&before, "f", &mut Random::new(1)).unwrap_or_default();
    calls.truncate(1);
    let agreement = same_behaviour(&before, &after, "f", &calls, &Limits::default());
    assert_eq!(agreement.map(|a| a.compared), Ok(1));
}

#[test]
fn what_stands_too_deep_is_a_tree_of_its_own() {
    const DEPTH: usize = 200;
    let loops = "
        affine.for %i = 0 to 4 { affine.store %v, %a[%i] : memref<4xi32> }
        affine.for %i = 0 to 4 { affine.store %v, %b[%i] : memref<4xi32> }";
    let (open, close) = ("scf.if %c {\n".repeat(DEPTH), "}\n".repeat(DEPTH));
    let source = format!(
        "func.func @f(%a: memref<4xi32>, %b: memref<4xi32>, %v: i32, %c: i1) {{ {open}{loops}{close} return }}"
    );
    let ctx = loomir::context();
    let mut module =
        loomir::parse(&ctx, &source, "deep.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    let before = loomir::print(&module);
    each_block(&mut module, &mut |body, block| {
        let mut trees = TreeStore::default();
        let program = raise(body, block, &mut trees, AliasMode::May);
        assert_eq!(program.loops().len(), 0);
        assert_eq!(regenerate(body, &program, &trees, &Approved::unchanged(&program), Rewrite::All), Ok(()));
    });
    assert_eq!(loomir::print(&module), before);
    let options = loomir::FuseOptions { alias: AliasMode::Distinct, ..loomir::FuseOptions::default() };
    assert_eq!(loomir::fuse(&mut module, &options).fused, 1);
    let after = loomir::print(&module);
    assert_eq!((after.matches("scf.if").count(), after.matches("affine.for").count()), (DEPTH, 1));
}

#[test]
fn a_side_that_stands_alone_is_an_if_that_does_nothing_else() {
    // The sides of a conditional are swapped. Each becomes a conditional of its own.
    let source = "
        func.func @f(%c: i1, %a: memref<4xi32>, %v: i32, %w: i32) {
          scf.if %c { affine.store %v, %a[0] : memref<4xi32> } else { affine.store %w, %a[0] : memref<4xi32> }
          return
        }";
    let ctx = loomir::context();
    let read = || loomir::parse(&ctx, source, "sides.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    let (before, mut after) = (read(), read());
    each_block(&mut after, &mut |body, block| {
        let mut trees = TreeStore::default();
        let program = raise(body, block, &mut trees, AliasMode::May);
        let guards: Vec<Green> = trees.items(program.root).collect();
        assert!(guards.iter().all(|item| matches!(trees.get(*item), Node::Guard { .. })));
        let root = swapped(&mut trees, program.root, 0);
        assert_ne!(root, program.root);
        let tree = approved(body, &program, &mut trees, root);
        assert_eq!(regenerate(body, &program, &trees, &tree, Rewrite::Changed), Ok(()));
    });
    let printed = loomir::print(&after);
    assert!(!verifier::verify(&after).has_errors());
    assert_eq!((printed.matches("scf.if").count(), printed.matches("else").count()), (2, 1), "{printed}");
    let calls = inputs(&before, "f", &mut Random::new(1)).unwrap_or_default();
    let agreement = same_behaviour(&before, &after, "f", &calls, &Limits::default());
    assert!(agreement.is_ok_and(|a| a.compared > 0));
}

#[test]
fn what_runs_in_any_order_has_no_dependence_across_iterations() {
    // In sequential order fusion is legal, because the second loop reads elements that are already
    // written. In any order it is legal only if the second loop reads its own element.
    let verdict = |read: &str, parallel: bool| {
        let source = format!(
            "func.func @f(%a: memref<9xi32>, %b: memref<9xi32> {{llvm.noalias}}, %v: i32) {{
               %c0 = arith.constant 0 : index
               %c1 = arith.constant 1 : index
               %c8 = arith.constant 8 : index
               scf.parallel (%i) = (%c1) to (%c8) step (%c1) {{ memref.store %v, %a[%i] : memref<9xi32> }}
               scf.parallel (%i) = (%c1) to (%c8) step (%c1) {{
                 %before = arith.subi %i, %c1 : index
                 %x = memref.load %a[{read}] : memref<9xi32>
                 memref.store %x, %b[%i] : memref<9xi32>
               }}
               return
             }}"
        );
        let ctx = loomir::context();
        let mut module =
            loomir::parse(&ctx, &source, "two.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
        let mut verdict = None;
        each_block(&mut module, &mut |body, block| {
            let mut trees = TreeStore::default();
            let program = raise(body, block, &mut trees, AliasMode::May);
            let items: Vec<Green> = trees.items(program.root).collect();
            let loops = items.iter().position(|item| matches!(trees.get(*item), Node::Loop { .. }));
            let at = loops.unwrap_or_else(|| panic!("there are loops"));
            let root = made(&mut trees, &program, program.root, &[at], Change::Fuse { shift: 0 });
            let fused = trees.item(root, at).map(|fused| trees.get(fused));
            let Some(Node::Loop { header, body: inside }) = fused else { panic!("they are loops") };
            let header = Header { parallel, ..trees.header(header).clone() };
            let fused = trees.make_loop(header, inside);
            let root = trees.splice(root, at..at + 1, &[fused]);
            let checker = Checker::new(body, &program, AliasMode::May, Default::default());
            verdict = Some(checker.check(&mut trees, root).is_legal());
        });
        verdict
    };
    assert_eq!(verdict("%before", false), Some(true));
    assert_eq!(verdict("%before", true), Some(false));
    assert_eq!(verdict("%i", true), Some(true));
}

#[test]
fn what_cannot_be_written_leaves_the_block_as_it_was() {
    // The last block of the second loop may end behind the greatest number.
    let source = "
        func.func @f(%a: memref<4xi32>, %b: memref<i8>, %n: i8, %v: i8, %c: i32) {
          affine.for %i = 0 to 4 { affine.store %c, %a[%i] : memref<4xi32> }
          %c0 = arith.constant 0 : i8
          %c1 = arith.constant 1 : i8
          scf.for %i = %c0 to %n step %c1 : i8 { memref.store %v, %b[] : memref<i8> }
          return
        }";
    let ctx = loomir::context();
    let mut module =
        loomir::parse(&ctx, source, "two.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    let before = loomir::print(&module);
    each_block(&mut module, &mut |body, block| {
        let mut trees = TreeStore::default();
        let program = raise(body, block, &mut trees, AliasMode::Distinct);
        // Another tree can be written.
        let tree = made(&mut trees, &program, program.root, &[3], Change::StripMine { size: 8 });
        let tree = made(&mut trees, &program, tree, &[0], Change::Move { to: 3 });
        let tree = approved(body, &program, &mut trees, tree);
        let written = regenerate(body, &program, &trees, &tree, Rewrite::Changed);
        assert_eq!(written.map_err(|why| why.reason), Err(Reason::StepMayWrap));
    });
    assert!(!verifier::verify(&module).has_errors());
    assert_eq!(loomir::print(&module), before);
}

/// Returns a product of matrices whose sizes are no multiples of the tile sizes.
fn product(dialect: &str) -> String {
    let sizes = [("i", 20), ("j", 9), ("k", 16)];
    let constants =
        sizes.map(|(variable, size)| format!("%n{variable} = arith.constant {size} : index\n")).concat();
    let loops = sizes.map(|(variable, size)| match dialect {
        "scf" => format!("scf.for %{variable} = %c0 to %n{variable} step %c1 {{\n"),
        _ => format!("affine.for %{variable} = 0 to {size} {{\n"),
    });
    let loops = loops.concat();
    let prefix = if dialect == "scf" { "memref" } else { "affine" };
    format!(
        "func.func @f(%a: memref<20x16xi32>, %b: memref<16x9xi32>, %c: memref<20x9xi32>) {{
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          {constants}
          {loops}
          %x = {prefix}.load %a[%i, %k] : memref<20x16xi32>
          %y = {prefix}.load %b[%k, %j] : memref<16x9xi32>
          %z = {prefix}.load %c[%i, %j] : memref<20x9xi32>
          %p = arith.muli %x, %y : i32
          %r = arith.addi %z, %p : i32
          {prefix}.store %r, %c[%i, %j] : memref<20x9xi32>
          }} }} }}
          return
        }}"
    )
}

#[test]
fn a_matrix_product_is_tiled() {
    let mut printed = String::new();
    for (dialect, size) in [("affine", 8), ("scf", 8), ("affine", 7), ("scf", 7)] {
        let ctx = loomir::context();
        let source = product(dialect);
        let read =
            || loomir::parse(&ctx, &source, "product.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
        let (before, mut after) = (read(), read());
        each_block(&mut after, &mut |body, block| {
            let mut trees = TreeStore::default();
            let program = raise(body, block, &mut trees, AliasMode::Distinct);
            let items: Vec<Green> = trees.items(program.root).collect();
            let at = items.iter().position(|item| matches!(trees.get(*item), Node::Loop { .. }));
            let mut tree = program.root;
            let mut edit = |depth: usize, change: Change| {
                let place: Vec<usize> = at.into_iter().chain(std::iter::repeat_n(0, depth)).collect();
                tree = made(&mut trees, &program, tree, &place, change);
            };
            // First strip-mine i, j and k in place. Then move the loops over blocks outermost.
            for depth in [0, 2, 4] {
                edit(depth, Change::StripMine { size });
            }
            edit(0, Change::Permute { order: Box::new([0, 2, 4, 1, 3, 5]) });
            let tree = approved(body, &program, &mut trees, tree);
            assert_eq!(regenerate(body, &program, &trees, &tree, Rewrite::Changed), Ok(()));
        });
        let errors = verifier::verify(&after);
        assert!(!errors.has_errors(), "{}", errors.to_text(&ctx));
        let text = loomir::print(&after);
        assert_eq!(text.matches(".for ").count(), 6, "{text}");
        let calls = inputs(&before, "f", &mut Random::new(1)).unwrap_or_default();
        let agreement = same_behaviour(&before, &after, "f", &calls, &Limits::default());
        assert!(agreement.as_ref().is_ok_and(|a| a.compared > 0), "{agreement:?}\n{text}");
        printed += &format!("// by {size}\n{text}\n");
    }
    insta::assert_snapshot!(printed);
}

#[test]
fn blocks_that_may_leap_over_the_end_of_a_type_are_refused() {
    // The last value of the induction variable, and a step of eight, in the range of the type.
    for (ty, bounds, is_written) in [
        ("i8", "%c0 to %c120", false),
        ("i8", "%c0 to %c119", true),
        ("i8", "%c0 to %n", false),
        ("i64", "%c0 to %n", true),
        ("i64", "%n to %c120", true),
        ("i64", "%n to %m", false),
    ] {
        let source = format!(
            "func.func @f(%a: memref<i32>, %n: {ty}, %m: {ty}, %v: i32) {{
               %c0 = arith.constant 0 : {ty}
               %c1 = arith.constant 1 : {ty}
               %c119 = arith.constant 119 : {ty}
               %c120 = arith.constant 120 : {ty}
               scf.for %i = {bounds} step %c1 : {ty} {{ memref.store %v, %a[] : memref<i32> }}
               return
             }}"
        );
        let ctx = loomir::context();
        let mut module =
            loomir::parse(&ctx, &source, "end.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
        let before = loomir::print(&module);
        each_block(&mut module, &mut |body, block| {
            let mut trees = TreeStore::default();
            let program = raise(body, block, &mut trees, AliasMode::Distinct);
            let items: Vec<Green> = trees.items(program.root).collect();
            let is_loop = |item: Green| matches!(trees.get(item), Node::Loop { .. });
            let at = items.iter().position(|item| is_loop(*item)).unwrap_or_default();
            let tree = made(&mut trees, &program, program.root, &[at], Change::StripMine { size: 8 });
            let tree = approved(body, &program, &mut trees, tree);
            let written = regenerate(body, &program, &trees, &tree, Rewrite::Changed);
            assert_eq!(written.is_ok(), is_written, "{ty}, {bounds}");
        });
        assert!(!verifier::verify(&module).has_errors());
        assert_eq!(loomir::print(&module) == before, !is_written, "{ty}, {bounds}");
    }
}

/// Returns the loop `item` with remapped iterations: each of its iterations runs the statements at
/// the iteration that the form gives.
fn run_at(trees: &mut TreeStore, item: Green, iteration: AffineForm, span: Span) -> Green {
    let Node::Loop { header, body } = trees.get(item) else { panic!("it is a loop") };
    let of = trees.header(header).origins[0].of;
    let map: Box<[AffineForm]> = Box::new([iteration]);
    let leaves: Vec<Green> = trees.items(body).collect();
    let leaves = leaves.into_iter().map(|leaf| {
        let Node::Leaf { statement, .. } = trees.get(leaf) else { panic!("it is a statement") };
        let map = trees.make_map(map.clone());
        trees.leaf(statement, map)
    });
    let leaves: Vec<Green> = leaves.collect();
    let body = trees.sequence(&leaves);
    trees.make_loop(
        Header { span, origins: Box::new([Origin { of, map }]), parallel: false, mark: None },
        body,
    )
}

/// Returns the program, a loop of nine iterations, with the loops of `make` in its place. `None` if
/// they cannot be written; the program is then unchanged. The judge approves the loops.
fn remade(statements: &str, make: &dyn Fn(&mut TreeStore, Green) -> Vec<Green>) -> Option<String> {
    let source = format!(
        "func.func @f(%a: memref<9xi32>, %s: memref<i32>, %v: i32) {{
           affine.for %i = 0 to 9 {{ {statements} }}
           return
         }}"
    );
    let ctx = loomir::context();
    let read = || loomir::parse(&ctx, &source, "one.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    let (before, mut after) = (read(), read());
    let mut is_written = false;
    each_block(&mut after, &mut |body, block| {
        let mut trees = TreeStore::default();
        let program = raise(body, block, &mut trees, AliasMode::Distinct);
        let item = trees.item(program.root, 0).unwrap_or_else(|| panic!("there is a loop"));
        let new = make(&mut trees, item);
        let root = trees.splice(program.root, 0..1, &new);
        let tree = approved(body, &program, &mut trees, root);
        is_written = regenerate(body, &program, &trees, &tree, Rewrite::Changed).is_ok();
    });
    assert!(!verifier::verify(&after).has_errors());
    assert!(is_written || loomir::print(&after) == loomir::print(&before));
    let calls = inputs(&before, "f", &mut Random::new(1)).unwrap_or_default();
    let agreement = same_behaviour(&before, &after, "f", &calls, &Limits::default());
    assert!(agreement.as_ref().is_ok_and(|a| a.compared > 0), "{agreement:?}");
    is_written.then(|| loomir::print(&after))
}

#[test]
fn a_loop_that_leaps_is_written_only_with_bounds_of_its_own() {
    let store = "affine.store %v, %a[%i] : memref<9xi32>";
    // The even iterations, then the odd ones.
    let parts = |spans: &dyn Fn(i64) -> Span| {
        let make = |trees: &mut TreeStore, item: Green| {
            let part = |first: i64| {
                let twice =
                    AffineForm::level(0).times(2).and_then(|form| form.plus(&AffineForm::constant(first), 1));
                (twice.unwrap_or_default(), spans(first))
            };
            let parts = [0, 1].map(part);
            parts.into_iter().map(|(iteration, span)| run_at(trees, item, iteration, span)).collect()
        };
        remade(store, &make)
    };
    // The bounds of the original loop imply that all nine iterations run.
    assert_eq!(parts(&|_| Span::Whole), None);
    let own = |first| Span::range(2, vec![AffineForm::constant(0)], vec![AffineForm::constant(9 - first)]);
    insta::assert_snapshot!(parts(&own).unwrap_or_default());
}

#[test]
fn a_loop_that_counts_down_is_written_with_bounds_of_its_own() {
    let backwards = |statements: &str, is_whole: bool| {
        let make = |trees: &mut TreeStore, item: Green| {
            let last = AffineForm::constant(8).minus(&AffineForm::level(0)).unwrap_or_default();
            let own = || Span::range(1, vec![AffineForm::constant(0)], vec![AffineForm::constant(9)]);
            vec![run_at(trees, item, last, if is_whole { Span::Whole } else { own() })]
        };
        remade(statements, &make)
    };
    let store = "affine.store %v, %a[%i] : memref<9xi32>";
    assert_eq!(backwards(store, true), None);
    insta::assert_snapshot!(backwards(store, false).unwrap_or_default());
}

#[test]
fn a_loop_that_ends_early_is_refused() {
    let source = "func.func @f(%a: memref<9xi32>, %v: i32) {
           affine.for %i = 0 to 9 { affine.store %v, %a[%i] : memref<9xi32> }
           return
         }";
    let ctx = loomir::context();
    let mut module = loomir::parse(&ctx, source, "one.mlir").expect("it reads");
    each_block(&mut module, &mut |body, block| {
        let mut trees = TreeStore::default();
        let program = raise(body, block, &mut trees, AliasMode::May);
        let item = trees.item(program.root, 0).expect("there is a loop");
        let span = Span::range(1, vec![AffineForm::constant(0)], vec![AffineForm::constant(8)]);
        let short = run_at(&mut trees, item, AffineForm::level(0), span);
        let root = trees.splice(program.root, 0..1, &[short]);
        let verdict =
            Checker::new(body, &program, AliasMode::May, Default::default()).judge(&mut trees, root);
        assert!(matches!(verdict, Err(Verdict::Illegal(Witness::Lost(_)))), "{verdict:?}");
    });
}
