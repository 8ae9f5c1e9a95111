//! The loop tree: sequences against plain vectors, raising and regenerating as the identity, what variants cost.

use loomir::AliasMode;
use loomir::dialects::interp::Limits;
use loomir::ir::{Block, Body, verifier};
use loomir::transforms::dependence::form::{Atom, Form};
use loomir::transforms::legality::{Approved, Checker};
use loomir::transforms::regenerate::{Reason, Rewrite, regenerate};
use loomir::transforms::tree::raise::raise;
use loomir::transforms::tree::{Change, Forest, Green, Header, Node, Program, StatementId};
use loomir_testing::behaviour::{inputs, same_behaviour};
use loomir_testing::blocks::each_block;
use loomir_testing::chains::Chain;
use loomir_testing::generate::generate;
use loomir_testing::random::Random;

/// The tree, which the judge approves.
fn approved(body: &Body, program: &Program, forest: &Forest, tree: Green) -> Approved {
    let checker = Checker::new(body, program, AliasMode::Distinct, Default::default());
    checker.judge(forest, tree).unwrap_or_else(|verdict| panic!("{verdict:?}"))
}

fn leaves(forest: &mut Forest, count: u32) -> Vec<Green> {
    let none = forest.make_map(Box::new([]));
    (0..count).map(|i| forest.leaf(StatementId(i), none)).collect()
}

#[test]
fn sequences_are_lists_and_equal_ones_are_one_node() {
    for case in 0..200 {
        let mut random = Random::of_case(17, case);
        let mut forest = Forest::default();
        let leaves = leaves(&mut forest, 6);
        let mut list: Vec<Green> = Vec::new();
        let mut sequence = Forest::EMPTY;
        for _ in 0..40 {
            let start = random.below(list.len() + 1);
            let end = start + random.below(list.len() - start + 1);
            let new: Vec<Green> = (0..random.below(4)).map(|_| leaves[random.below(6)]).collect();
            list.splice(start..end, new.iter().copied());
            sequence = forest.splice(sequence, start..end, &new);
            assert_eq!(forest.items(sequence).collect::<Vec<_>>(), list);
            assert_eq!(forest.items_in(sequence), list.len());
            assert_eq!(forest.leaves(sequence) as usize, list.len());
            assert_eq!(forest.item(sequence, start), list.get(start).copied());
            assert_eq!(forest.sequence(&list), sequence, "one node for {list:?}");
            let (a, b) = forest.split(sequence, start);
            assert_eq!(forest.join(a, b), sequence);
        }
    }
}

#[test]
fn a_long_run_of_one_item_overflows_no_stack() {
    let mut forest = Forest::default();
    let leaf = leaves(&mut forest, 1)[0];
    let sequence = forest.sequence(&vec![leaf; 200_000]);
    let (first, _) = forest.split(sequence, 100_000);
    assert_eq!(forest.items(first).count(), 100_000);
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
            let mut forest = Forest::default();
            let program = raise(body, block, &mut forest, AliasMode::May);
            loops += program.num_loops();
            assert_eq!(
                regenerate(body, &program, &forest, &Approved::unchanged(&program), Rewrite::All),
                Ok(())
            );
        });
        assert!(!verifier::verify(&module).has_errors());
        assert_eq!(loomir::print(&module), before);
    }
    assert!(loops > 300, "only {loops} loops were raised");
}

/// A chain of loops in a module, raised.
fn chain(loops: usize) -> (Body, Block, Forest, Program) {
    let ctx = loomir::context();
    let source = Chain::InPlace.to_mlir(loops, 16);
    let mut module =
        loomir::parse(&ctx, &source, "chain.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    let mut raised = None;
    each_block(&mut module, &mut |body, block| {
        let mut forest = Forest::default();
        let program = raise(body, block, &mut forest, AliasMode::May);
        raised = Some((body.duplicate(), block, forest, program));
    });
    raised.unwrap_or_else(|| panic!("there is a function"))
}

/// A neighbour of `root`: two of its items change places.
fn swapped(forest: &mut Forest, root: Green, at: usize) -> Green {
    let pair: Vec<Green> = [at + 1, at].into_iter().filter_map(|i| forest.item(root, i)).collect();
    forest.splice(root, at..at + 2, &pair)
}

#[test]
fn an_edit_in_a_thousand_nests_costs_less_than_a_kilobyte() {
    const EDITS: usize = 2000;
    let (_, _, mut forest, program) = chain(1000);
    let mut random = Random::new(5);
    let mut tree = program.root;
    let before = forest.bytes();
    for _ in 0..EDITS {
        let at = random.below(990) + 2;
        tree = swapped(&mut forest, tree, at);
    }
    let each = (forest.bytes() - before) / EDITS;
    assert!((1..1024).contains(&each), "an edit takes {each} bytes");
}

#[test]
fn variants_share_what_they_have_in_common() {
    let (_, _, mut forest, program) = chain(1000);
    let there = swapped(&mut forest, program.root, 500);
    let back = swapped(&mut forest, there, 500);
    assert_ne!(there, program.root);
    assert_eq!(back, program.root);
    let nodes = forest.len();
    assert_eq!(swapped(&mut forest, program.root, 500), there);
    assert_eq!(forest.len(), nodes, "what is there already is not made again");
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
        let mut forest = Forest::default();
        let program = raise(body, block, &mut forest, AliasMode::Distinct);
        assert!(forest.items(program.root).all(|item| matches!(forest.get(item), Node::Loop { .. })));
        let root = swapped(&mut forest, program.root, 0);
        let tree = approved(body, &program, &forest, root);
        assert_eq!(regenerate(body, &program, &forest, &tree, Rewrite::Changed), Ok(()));
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
        let mut forest = Forest::default();
        let program = raise(body, block, &mut forest, AliasMode::May);
        assert_eq!(program.num_loops(), 0);
        assert_eq!(regenerate(body, &program, &forest, &Approved::unchanged(&program), Rewrite::All), Ok(()));
    });
    assert_eq!(loomir::print(&module), before);
    let options = loomir::FuseOptions { alias: AliasMode::Distinct, ..loomir::FuseOptions::default() };
    assert_eq!(loomir::fuse(&mut module, &options).fused, 1);
    let after = loomir::print(&module);
    assert_eq!((after.matches("scf.if").count(), after.matches("affine.for").count()), (DEPTH, 1));
}

#[test]
fn a_side_that_stands_alone_is_an_if_that_does_nothing_else() {
    // The sides of a conditional change places: each becomes a conditional of its own.
    let source = "
        func.func @f(%c: i1, %a: memref<4xi32>, %v: i32, %w: i32) {
          scf.if %c { affine.store %v, %a[0] : memref<4xi32> } else { affine.store %w, %a[0] : memref<4xi32> }
          return
        }";
    let ctx = loomir::context();
    let read = || loomir::parse(&ctx, source, "sides.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    let (before, mut after) = (read(), read());
    each_block(&mut after, &mut |body, block| {
        let mut forest = Forest::default();
        let program = raise(body, block, &mut forest, AliasMode::May);
        let guards: Vec<Green> = forest.items(program.root).collect();
        assert!(guards.iter().all(|item| matches!(forest.get(*item), Node::Guard { .. })));
        let root = swapped(&mut forest, program.root, 0);
        assert_ne!(root, program.root);
        let tree = approved(body, &program, &forest, root);
        assert_eq!(regenerate(body, &program, &forest, &tree, Rewrite::Changed), Ok(()));
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
    // In order the loops may run as one, since the second reads what is written already; in any order they may only if it reads its own element.
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
            let mut forest = Forest::default();
            let program = raise(body, block, &mut forest, AliasMode::May);
            let items: Vec<Green> = forest.items(program.root).collect();
            let loops = items.iter().position(|item| matches!(forest.get(*item), Node::Loop { .. }));
            let at = loops.unwrap_or_else(|| panic!("there are loops"));
            let root = made(&mut forest, &program, program.root, &[at], Change::Fuse { shift: 0 });
            let fused = forest.item(root, at).map(|fused| forest.get(fused));
            let Some(Node::Loop { header, body: inside }) = fused else { panic!("they are loops") };
            let header = Header { parallel, ..forest.header(header).clone() };
            let fused = forest.make_loop(header, inside);
            let root = forest.splice(root, at..at + 1, &[fused]);
            let checker = Checker::new(body, &program, AliasMode::May, Default::default());
            verdict = Some(checker.check(&forest, root).is_legal());
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
        let mut forest = Forest::default();
        let program = raise(body, block, &mut forest, AliasMode::Distinct);
        // What can be written is moved meanwhile.
        let tree = made(&mut forest, &program, program.root, &[3], Change::StripMine { size: 8 });
        let tree = made(&mut forest, &program, tree, &[0], Change::Move { to: 3 });
        let tree = approved(body, &program, &forest, tree);
        let written = regenerate(body, &program, &forest, &tree, Rewrite::Changed);
        assert_eq!(written.map_err(|why| why.reason), Err(Reason::StepMayWrap));
    });
    assert!(!verifier::verify(&module).has_errors());
    assert_eq!(loomir::print(&module), before);
}

/// The tree with a change of the item at `place`.
fn made(forest: &mut Forest, program: &Program, tree: Green, place: &[usize], change: Change) -> Green {
    let edit = change.at(place);
    edit.apply(program, forest, tree).unwrap_or_else(|| panic!("{edit:?} can be made"))
}

/// A product of matrices whose sizes are no multiples of the tiles'.
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
            let mut forest = Forest::default();
            let program = raise(body, block, &mut forest, AliasMode::Distinct);
            let items: Vec<Green> = forest.items(program.root).collect();
            let at = items.iter().position(|item| matches!(forest.get(*item), Node::Loop { .. }));
            let mut tree = program.root;
            let mut edit = |depth: usize, change: Change| {
                let place: Vec<usize> = at.into_iter().chain(std::iter::repeat_n(0, depth)).collect();
                tree = made(&mut forest, &program, tree, &place, change);
            };
            // Blocks of i, j and k, each around its iterations; then the blocks of all outside.
            for depth in [0, 2, 4] {
                edit(depth, Change::StripMine { size });
            }
            edit(0, Change::Permute { order: Box::new([0, 2, 4, 1, 3, 5]) });
            let tree = approved(body, &program, &forest, tree);
            assert_eq!(regenerate(body, &program, &forest, &tree, Rewrite::Changed), Ok(()));
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
    // The variable's last value and a step of eight, in bits of the type.
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
            let mut forest = Forest::default();
            let program = raise(body, block, &mut forest, AliasMode::Distinct);
            let items: Vec<Green> = forest.items(program.root).collect();
            let is_loop = |item: Green| matches!(forest.get(item), Node::Loop { .. });
            let at = items.iter().position(|item| is_loop(*item)).unwrap_or_default();
            let tree = made(&mut forest, &program, program.root, &[at], Change::StripMine { size: 8 });
            let tree = approved(body, &program, &forest, tree);
            let written = regenerate(body, &program, &forest, &tree, Rewrite::Changed);
            assert_eq!(written.is_ok(), is_written, "{ty}, {bounds}");
        });
        assert!(!verifier::verify(&module).has_errors());
        assert_eq!(loomir::print(&module) == before, !is_written, "{ty}, {bounds}");
    }
}

/// Changes of items, each with its place, where these are the numbers that a function is called
/// with.
type Changes<'a> = &'a dyn Fn(&[Form]) -> Vec<(Vec<usize>, Change)>;

/// A reason for which nothing is written: it is not approved, or it cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Refused {
    Judged,
    Unwritable(Reason),
}

/// Makes changes of the function `f`, whose last two arguments are numbers, and runs it with these
/// numbers. Places count from the first loop. Returns what is written, or why it is not.
fn changed(source: &str, changes: Changes<'_>, numbers: &[i64]) -> Result<String, Refused> {
    let ctx = loomir::context();
    let read =
        || loomir::parse(&ctx, source, "t.mlir").unwrap_or_else(|e| panic!("{}{source}", e.to_text(&ctx)));
    let (before, mut after) = (read(), read());
    let mut written = Ok(());
    each_block(&mut after, &mut |body, block| {
        let mut forest = Forest::default();
        let program = raise(body, block, &mut forest, AliasMode::Distinct);
        let is_loop = |item: Green| matches!(forest.get(item), Node::Loop { .. });
        let Some(first) = forest.items(program.root).position(is_loop) else { return };
        let arguments: Vec<Form> =
            body.arguments(block).map(|value| Form::atom(Atom::Param(value))).collect();
        let mut tree = program.root;
        for (mut place, change) in changes(&arguments[arguments.len() - 2..]) {
            place[0] += first;
            tree = made(&mut forest, &program, tree, &place, change);
        }
        let checker = Checker::new(body, &program, AliasMode::Distinct, Default::default());
        written = checker.judge(&forest, tree).map_err(|_| Refused::Judged).and_then(|tree| {
            let written = regenerate(body, &program, &forest, &tree, Rewrite::Changed);
            written.map_err(|why| Refused::Unwritable(why.reason))
        });
    });
    let errors = verifier::verify(&after);
    let text = loomir::print(&after);
    assert!(!errors.has_errors(), "{}{text}", errors.to_text(&ctx));
    if let Err(why) = written {
        assert_eq!(text, loomir::print(&before));
        return Err(why);
    }
    let plain = inputs(&before, "f", &mut Random::new(1)).unwrap_or_default().remove(0);
    let pairs = numbers.iter().flat_map(|n| numbers.iter().map(move |m| [n.to_string(), m.to_string()]));
    let call = |pair: [String; 2]| plain[..plain.len() - 2].iter().cloned().chain(pair).collect();
    let calls: Vec<Vec<String>> = pairs.map(call).collect();
    let agreement = same_behaviour(&before, &after, "f", &calls, &Limits::default());
    assert!(
        agreement.as_ref().is_ok_and(|a| a.compared * 3 > calls.len()),
        "{agreement:?}\n{source}\n{text}"
    );
    Ok(text)
}

/// Returns a function with loops around one statement, which uses the variables `i` and perhaps
/// `j`. Its result tells in which order they come, or if `any_order` only which there are.
fn loops(heads: &[&str], ty: &str, any_order: bool) -> String {
    let from = if any_order { "%x" } else { "%q" };
    let variables = if heads.len() > 1 { "arith.addi %i, %j" } else { "arith.addi %i, %c0" };
    let store = match (heads[0].starts_with("affine"), heads.len()) {
        (true, 1) => "affine.store %one, %b[%i, 0] : memref<8x8xi32>",
        (true, _) => "affine.store %one, %b[%i, %j] : memref<8x8xi32>",
        _ => "",
    };
    format!(
        "func.func @f(%a: memref<{ty}>, %b: memref<8x8xi32>, %n: {ty}, %m: {ty}) {{
           %c0 = arith.constant 0 : {ty}
           %c1 = arith.constant 1 : {ty}
           %c3 = arith.constant 3 : {ty}
           %one = arith.constant 1 : i32
           {} {{
             %x = memref.load %a[] : memref<{ty}>
             %v = {variables} : {ty}
             %p = arith.muli %v, %v : {ty}
             {}
             %r = arith.addi {from}, %p : {ty}
             memref.store %r, %a[] : memref<{ty}>
             {store}
           {}
           return
         }}",
        heads.join(" {\n"),
        if any_order { String::new() } else { format!("%q = arith.muli %x, %c3 : {ty}") },
        "}\n".repeat(heads.len()),
    )
}

/// Returns what comes of changes, or the reason, under a heading.
fn told(heading: &str, made: Result<String, Refused>) -> String {
    let made = made.unwrap_or_else(|why| match why {
        Refused::Judged => "not approved\n".to_owned(),
        Refused::Unwritable(reason) => format!("{reason:?}: {}\n", reason.text()),
    });
    format!("// {heading}\n{made}\n")
}

#[test]
fn a_loop_that_runs_backwards_is_written_forwards() {
    let mut printed = String::new();
    for (head, ty) in [
        ("scf.for %i = %c0 to %n step %c1 : i8", "i8"),
        ("scf.for %i = %m to %n step %c3 : i8", "i8"),
        ("scf.for %i = %m to %n step %c3 : i64", "i64"),
        ("affine.for %i = 2 to 7 step 3", "index"),
        ("affine.for %i = 0 to %n", "index"),
        ("affine.for %i = 0 to %n step 4", "index"),
        ("affine.for %i = %m to %n", "index"),
    ] {
        let made =
            changed(&loops(&[head], ty, true), &|_| vec![(vec![0], Change::Reverse)], &[0, 1, 2, 5, 8, -3]);
        printed += &told(head, made);
    }
    insta::assert_snapshot!(printed);
}

#[test]
fn bounds_of_several_values_are_written() {
    let mut printed = String::new();
    let split = |place: &[usize], at: &Form| (place.to_vec(), Change::SplitRange { at: at.clone() });
    let sum = |n: &Form, m: &Form, factor: i64| n.plus(m, factor).unwrap_or_default();
    let triangle = ["scf.for %i = %c0 to %n step %c1", "scf.for %j = %i to %n step %c1"];
    let affine = [
        "affine.for %i = 0 to min affine_map<()[s0] -> (8, s0)>()[%n]",
        "affine.for %j = 0 to affine_map<(d0) -> (8 - d0)>(%i)",
    ];
    let inner: &[(&str, &[&str], Changes<'_>)] = &[
        ("split at the outer variable and a number", &triangle, &|_| {
            vec![split(&[0, 0], &sum(&Form::level(0), &Form::constant(1), 1))]
        }),
        ("split at two arguments", &triangle, &|of| vec![split(&[0], &sum(&of[0], &of[1], -1))]),
        ("split at two arguments and a variable", &triangle, &|of| {
            vec![split(&[0, 0], &sum(&sum(&of[0], &of[1], 1), &Form::level(0), -2))]
        }),
        (
            "blocks of the inner loop outermost",
            &["scf.for %i = %c0 to %n step %c1", "scf.for %j = %m to %n step %c1"],
            &|_| {
                vec![
                    (vec![0, 0], Change::StripMine { size: 4 }),
                    (vec![0], Change::Permute { order: Box::new([1, 0]) }),
                ]
            },
        ),
        ("blocks run backwards", &triangle, &|_| {
            vec![(vec![0, 0], Change::StripMine { size: 2 }), (vec![0, 0], Change::Reverse)]
        }),
        ("affine: blocks of the inner loop", &affine, &|_| vec![(vec![0, 0], Change::StripMine { size: 3 })]),
        ("affine: the inner loop backwards", &affine, &|_| vec![(vec![0, 0], Change::Reverse)]),
        (
            "affine: the outer loop backwards",
            &["affine.for %i = 0 to 8", "affine.for %j = 0 to affine_map<(d0) -> (8 - d0)>(%i)"],
            &|_| vec![(vec![0], Change::Reverse)],
        ),
        ("affine: split at the outer variable", &affine, &|_| vec![split(&[0, 0], &Form::level(0))]),
        ("affine: split at an argument and the variable", &affine, &|of| {
            vec![split(&[0, 0], &sum(&of[1], &Form::level(0), 1))]
        }),
        ("affine: split at an argument", &affine, &|of| vec![split(&[0, 0], &of[1])]),
    ];
    for (heading, heads, changes) in inner {
        let backwards = heading.contains("outermost") || heading.contains("backwards");
        printed += &told(heading, changed(&loops(heads, "index", backwards), *changes, &[0, 1, 2, 5, 8, -3]));
    }
    insta::assert_snapshot!(printed);
}

#[test]
fn bounds_at_the_ends_of_a_type_do_not_wrap() {
    const ENDS: &[i64] = &[-128, -127, -126, -100, -3, -1, 0, 1, 2, 50, 100, 125, 126, 127];
    let heads = [
        "scf.for %i = %c0 to %n step %c1 : i8",
        "scf.for %i = %m to %n step %c1 : i8",
        "scf.for %i = %m to %n step %c3 : i8",
        "scf.for %i = %c3 to %n step %c3 : i8",
    ];
    let mut reasons = std::collections::BTreeMap::new();
    let mut try_out = |head: &str, any_order: bool, changes: Changes<'_>| {
        let made = changed(&loops(&[head], "i8", any_order), changes, ENDS);
        *reasons.entry(made.err()).or_insert(0) += 1;
    };
    let at = |number: i64| Change::SplitRange { at: Form::constant(number) };
    for head in heads {
        for number in [-300, -129, -128, -1, 0, 1, 3, 42, 100, 127, 128, 200, 255, 256, 300] {
            try_out(head, false, &|_| vec![(vec![0], at(number))]);
            try_out(head, false, &|_| vec![(vec![0], at(number)), (vec![0], at(7)), (vec![2], at(50))]);
            try_out(head, true, &|_| vec![(vec![0], Change::Reverse), (vec![0], at(number))]);
        }
        for (n, m, number) in
            [(1, 0, 0), (1, 1, 0), (1, -1, 5), (2, 3, -100), (-1, 0, 7), (0, 1, 100), (100, 100, 0)]
        {
            let form = |of: &[Form]| {
                let numbers = Form::constant(number).plus(&of[0], n);
                numbers.and_then(|sum| sum.plus(&of[1], m)).unwrap_or_default()
            };
            try_out(head, false, &|of| vec![(vec![0], Change::SplitRange { at: form(of) })]);
            try_out(head, true, &|of| {
                vec![(vec![0], Change::Reverse), (vec![0], Change::SplitRange { at: form(of) })]
            });
            try_out(head, false, &|of| {
                vec![
                    (vec![0], Change::StripMine { size: 5 }),
                    (vec![0, 0], Change::SplitRange { at: form(of) }),
                ]
            });
        }
        for size in [1, 2, 7, 42, 100, 127, 128, 300] {
            let blocks = || (vec![0], Change::StripMine { size });
            try_out(head, false, &|_| vec![blocks()]);
            try_out(head, true, &|_| vec![blocks(), (vec![0], Change::Reverse)]);
            try_out(head, true, &|_| vec![(vec![0], Change::Reverse), blocks()]);
            try_out(head, false, &|_| vec![(vec![0], at(3)), (vec![1], Change::StripMine { size })]);
        }
        for (first, last) in [(1, 0), (0, 1), (2, 3)] {
            let peel = || (vec![0], Change::Peel { first, last });
            try_out(head, false, &|_| vec![peel()]);
            try_out(head, true, &|_| vec![(vec![0], Change::Reverse), peel()]);
        }
    }
    insta::assert_debug_snapshot!(reasons);
}

#[test]
fn bounds_at_the_ends_of_64_bits_do_not_wrap() {
    let (least, greatest) = (i64::MIN, i64::MAX);
    let ends =
        [[least, least + 1, least + 2, least + 9], [greatest - 9, greatest - 3, greatest - 1, greatest]];
    let mut reasons = std::collections::BTreeMap::new();
    for (head, ty) in [
        ("scf.for %i = %m to %n step %c1 : i64", "i64"),
        ("scf.for %i = %m to %n step %c3", "index"),
        ("affine.for %i = %m to %n", "index"),
        ("affine.for %i = %m to %n step 3", "index"),
    ] {
        let text = |any_order: bool| loops(&[head], ty, any_order).replace("affine.store", "// affine.store");
        for numbers in &ends {
            let mut try_out = |any_order: bool, changes: Changes<'_>| {
                let made = changed(&text(any_order), changes, numbers);
                *reasons.entry((head, made.err())).or_insert(0) += 1;
            };
            let (first, at) = (
                || vec![0],
                |of: &[Form], n, m, number| {
                    let sum = Form::constant(number).plus(&of[0], n).and_then(|sum| sum.plus(&of[1], m));
                    Change::SplitRange { at: sum.unwrap_or_default() }
                },
            );
            for (n, m, number) in [
                (0, 0, 1),
                (0, 0, greatest / 4),
                (0, 0, least / 4),
                (1, 0, 0),
                (1, 1, 0),
                (1, -1, -1),
                (-1, 1, 0),
                (3, 0, 1),
            ] {
                try_out(false, &|of| vec![(first(), at(of, n, m, number))]);
                try_out(true, &|of| vec![(first(), Change::Reverse), (first(), at(of, n, m, number))]);
            }
            for size in [1, 2, 5] {
                try_out(false, &|_| vec![(first(), Change::StripMine { size })]);
                try_out(true, &|_| vec![(first(), Change::StripMine { size }), (first(), Change::Reverse)]);
            }
            try_out(false, &|_| vec![(first(), Change::Peel { first: 2, last: 2 })]);
            try_out(true, &|_| {
                vec![(first(), Change::Reverse), (first(), Change::Peel { first: 1, last: 1 })]
            });
        }
    }
    insta::assert_debug_snapshot!(reasons);
}

#[test]
fn loops_of_two_kinds_are_one_affine_loop() {
    let source = |first: &str, second: &str| {
        format!(
            "func.func @f(%a: memref<40xi32>, %b: memref<40xi32>, %x: i32, %n: index, %m: index) {{
               %c0 = arith.constant 0 : index
               %c1 = arith.constant 1 : index
               %w = arith.constant 4 : i32
               %z = arith.constant 0 : i32
               %o = arith.constant 1 : i32
               {first}
               {second}
               return
             }}"
        )
    };
    let stored = "affine.for %i = 0 to %n { affine.store %x, %a[%i] : memref<40xi32> }";
    let loaded = "scf.for %i = %c0 to %n step %c1 {
        %v = memref.load %a[%i] : memref<40xi32>
        memref.store %v, %b[%i] : memref<40xi32>
      }";
    let narrow = "scf.for %i = %z to %w step %o : i32 {
        %k = arith.index_cast %i : i32 to index
        memref.store %i, %b[%k] : memref<40xi32>
      }";
    let summed = "%s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %x) -> (i32) {
        %u = arith.addi %t, %x : i32
        scf.yield %u : i32
      }
      memref.store %s, %b[%c0] : memref<40xi32>";
    let parallel =
        "scf.parallel (%i) = (%c0) to (%n) step (%c1) { memref.store %x, %b[%i] : memref<40xi32> }";
    let wide = "%p = arith.constant 0 : i128
      %q = arith.constant 5 : i128
      %r = arith.constant 1 : i128
      scf.for %i = %p to %q step %r : i128 { memref.store %x, %b[%c0] : memref<40xi32> }";
    let fuse: Changes<'_> = &|_| vec![(vec![0], Change::Fuse { shift: 0 })];
    let late: Changes<'_> = &|_| vec![(vec![0], Change::Fuse { shift: 2 })];
    let mut printed = String::new();
    for (heading, first, second, changes) in [
        ("scf behind affine", stored, loaded, fuse),
        ("affine behind scf", loaded, stored.replace("%a", "%b").as_str(), fuse),
        ("two iterations later", stored, loaded, late),
        ("a narrow variable", stored, narrow, fuse),
        ("values carried", stored, summed, fuse),
        ("a dimension", stored, parallel, fuse),
        ("a dimension and values carried", parallel, summed, fuse),
    ] {
        printed += &told(heading, changed(&source(first, second), changes, &[0, 1, 2, 7]));
    }
    let peel: Changes<'_> = &|_| vec![(vec![0], Change::Peel { first: 1, last: 0 })];
    printed += &told("more than 64 bits", changed(&source(wide, ""), peel, &[1]));
    let reverse: Changes<'_> = &|_| vec![(vec![0], Change::Reverse)];
    printed += &told("a dimension backwards", changed(&source(parallel, ""), reverse, &[0, 1, 7]));
    insta::assert_snapshot!(printed);
}
