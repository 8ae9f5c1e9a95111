//! Edited trees, written and executed: loops backwards, bounds of several values, bounds at the
//! ends of types, loops of two kinds. What is refused has its reason.

use loomir::AliasMode;
use loomir::dialects::interp::Limits;
use loomir::ir::verifier;
use loomir::transforms::affine::{AffineForm, Atom};
use loomir::transforms::legality::Checker;
use loomir::transforms::regenerate::{Reason, Rewrite, regenerate};
use loomir::transforms::tree::raise::raise;
use loomir::transforms::tree::{Change, Green, Header, Node, Origin, Span, TreeStore};
use loomir_tests::behaviour::{inputs, same_behaviour};
use loomir_tests::blocks::each_block;
use loomir_tests::edits::made;
use loomir_tests::random::Random;

/// Changes of items, each with its place. The argument holds the numbers that a function is called
/// with.
type Changes<'a> = &'a dyn Fn(&[AffineForm]) -> Vec<(Vec<usize>, Change)>;

/// The reason why nothing is written: the judge refuses it, or it cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Refused {
    Judged,
    Unwritable(Reason),
}

/// Makes changes of the function `f`, whose last two arguments are numbers, and runs it with these
/// numbers. Places count from the first loop. Returns the written program, or the reason.
fn changed(source: &str, changes: Changes<'_>, numbers: &[i64]) -> Result<String, Refused> {
    let ctx = loomir::context();
    let read =
        || loomir::parse(&ctx, source, "t.mlir").unwrap_or_else(|e| panic!("{}{source}", e.to_text(&ctx)));
    let (before, mut after) = (read(), read());
    let mut written = Ok(());
    each_block(&mut after, &mut |body, block| {
        let mut trees = TreeStore::default();
        let program = raise(body, block, &mut trees, AliasMode::Distinct);
        let is_loop = |item: Green| matches!(trees.get(item), Node::Loop { .. });
        let Some(first) = trees.items(program.root).position(is_loop) else { return };
        let arguments: Vec<AffineForm> =
            body.arguments(block).map(|value| AffineForm::atom(Atom::Param(value))).collect();
        let mut tree = program.root;
        for (mut place, change) in changes(&arguments[arguments.len() - 2..]) {
            place[0] += first;
            tree = made(&mut trees, &program, tree, &place, change);
        }
        let checker = Checker::new(body, &program, AliasMode::Distinct, Default::default());
        written = checker.judge(&mut trees, tree).map_err(|_| Refused::Judged).and_then(|tree| {
            let written = regenerate(body, &program, &trees, &tree, Rewrite::Changed);
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
/// `j`. Its result depends on the order of the iterations, or with `any_order` only on their set.
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

/// Returns the result of changes, or the reason, under a heading.
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
    let split = |place: &[usize], at: &AffineForm| (place.to_vec(), Change::SplitRange { at: at.clone() });
    let sum = |n: &AffineForm, m: &AffineForm, factor: i64| n.plus(m, factor).unwrap_or_default();
    let triangle = ["scf.for %i = %c0 to %n step %c1", "scf.for %j = %i to %n step %c1"];
    let affine = [
        "affine.for %i = 0 to min affine_map<()[s0] -> (8, s0)>()[%n]",
        "affine.for %j = 0 to affine_map<(d0) -> (8 - d0)>(%i)",
    ];
    let plain = ["affine.for %i = %m to %n", "affine.for %j = 0 to 4"];
    let inner: &[(&str, &[&str], Changes<'_>)] = &[
        ("split at the outer variable and a number", &triangle, &|_| {
            vec![split(&[0, 0], &sum(&AffineForm::level(0), &AffineForm::constant(1), 1))]
        }),
        ("split at two arguments", &triangle, &|of| vec![split(&[0], &sum(&of[0], &of[1], -1))]),
        ("split at two arguments and a variable", &triangle, &|of| {
            vec![split(&[0, 0], &sum(&sum(&of[0], &of[1], 1), &AffineForm::level(0), -2))]
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
        ("affine: split at the outer variable", &affine, &|_| vec![split(&[0, 0], &AffineForm::level(0))]),
        ("affine: split at an argument and the variable", &affine, &|of| {
            vec![split(&[0, 0], &sum(&of[1], &AffineForm::level(0), 1))]
        }),
        ("affine: one behind a variable", &plain, &|of| {
            vec![split(&[0, 0], &sum(&sum(&AffineForm::level(0), &of[1], 1), &AffineForm::constant(1), 1))]
        }),
        ("affine: two behind a variable", &plain, &|of| {
            vec![split(&[0, 0], &sum(&sum(&AffineForm::level(0), &of[1], 1), &AffineForm::constant(2), 1))]
        }),
        ("affine: one iteration of a step", &["affine.for %i = 2 to 8 step 3"], &|_| {
            vec![(vec![0], Change::Peel { first: 1, last: 0 })]
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
    let at = |number: i64| Change::SplitRange { at: AffineForm::constant(number) };
    for head in heads {
        for number in [-300, -129, -128, -1, 0, 1, 3, 42, 100, 127, 128, 200, 255, 256, 300] {
            try_out(head, false, &|_| vec![(vec![0], at(number))]);
            try_out(head, false, &|_| vec![(vec![0], at(number)), (vec![0], at(7)), (vec![2], at(50))]);
            try_out(head, true, &|_| vec![(vec![0], Change::Reverse), (vec![0], at(number))]);
        }
        for (n, m, number) in
            [(1, 0, 0), (1, 1, 0), (1, -1, 5), (2, 3, -100), (-1, 0, 7), (0, 1, 100), (100, 100, 0)]
        {
            let form = |of: &[AffineForm]| {
                let numbers = AffineForm::constant(number).plus(&of[0], n);
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
                |of: &[AffineForm], n, m, number| {
                    let sum =
                        AffineForm::constant(number).plus(&of[0], n).and_then(|sum| sum.plus(&of[1], m));
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
    let unknown = source(
        "scf.for %i = %c0 to %n step %m { memref.store %x, %a[%i] : memref<40xi32> }",
        "scf.parallel (%i) = (%c0) to (%n) step (%m) { memref.store %x, %b[%i] : memref<40xi32> }",
    );
    printed += &told("a step that is not known", changed(&unknown, fuse, &[1, 2, 7]));
    let peel: Changes<'_> = &|_| vec![(vec![0], Change::Peel { first: 1, last: 0 })];
    printed += &told("more than 64 bits", changed(&source(wide, ""), peel, &[1]));
    let reverse: Changes<'_> = &|_| vec![(vec![0], Change::Reverse)];
    printed += &told("a dimension backwards", changed(&source(parallel, ""), reverse, &[0, 1, 7]));
    insta::assert_snapshot!(printed);
}

const ONE_LOOP: &str = "
    func.func @f(%a: memref<4xi32>, %c: i32) {
      affine.for %i = 0 to 4 { affine.store %c, %a[%i] : memref<4xi32> }
      return
    }";

#[test]
fn trees_that_no_edit_makes_are_written_or_refused() {
    let ctx = loomir::context();
    let module = || loomir::parse(&ctx, ONE_LOOP, "t.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    // Splits the first loop into two parts. Each part has these values of the induction variable
    // and runs these iterations.
    let try_out = |parts: [(Span, i64, i64); 2]| {
        let (before, mut after) = (module(), module());
        let mut written = Ok(());
        each_block(&mut after, &mut |body, block| {
            let mut trees = TreeStore::default();
            let program = raise(body, block, &mut trees, AliasMode::Distinct);
            let first = trees.item(program.root, 0).map(|item| trees.get(item));
            let Some(Node::Loop { header, body: inside }) = first else { panic!("it is a loop") };
            let own = trees.header(header).clone();
            let loops = parts.clone().map(|(span, factor, number)| {
                let form =
                    AffineForm::constant(number).plus(&AffineForm::level(0), factor).unwrap_or_default();
                let map = trees.make_map(Box::new([form.clone()]));
                let leaves: Vec<Green> = trees.items(inside).collect();
                let leaves = leaves.into_iter().map(|leaf| match trees.get(leaf) {
                    Node::Leaf { statement, .. } => trees.leaf(statement, map),
                    _ => leaf,
                });
                let leaves: Vec<Green> = leaves.collect();
                let inside = trees.sequence(&leaves);
                let origins =
                    own.origins.iter().map(|own| Origin { of: own.of, map: Box::new([form.clone()]) });
                trees.make_loop(
                    Header { span, origins: origins.collect(), parallel: false, mark: None },
                    inside,
                )
            });
            let root = trees.splice(program.root, 0..1, &loops);
            let checker = Checker::new(body, &program, AliasMode::Distinct, Default::default());
            let tree = checker.judge(&mut trees, root).unwrap_or_else(|verdict| panic!("{verdict:?}"));
            written = regenerate(body, &program, &trees, &tree, Rewrite::Changed);
        });
        let calls = inputs(&before, "f", &mut Random::new(1)).unwrap_or_default();
        let agreement = same_behaviour(&before, &after, "f", &calls, &Limits::default());
        assert!(agreement.is_ok_and(|a| a.compared > 0), "{}", loomir::print(&after));
        written.map_err(|why| why.reason)
    };
    let span = |lower: &[i64], upper: i64| Span::Range {
        scale: 1,
        lower: lower.iter().map(|number| AffineForm::constant(*number)).collect(),
        upper: [AffineForm::constant(upper)].into(),
    };
    // The greatest of several bounds counts.
    assert_eq!(try_out([(span(&[0], 2), 1, 0), (span(&[2, 1], 4), 1, 0)]), Ok(()));
    // Every other iteration.
    assert_eq!(try_out([(span(&[0], 2), 2, 0), (span(&[0], 2), 2, 1)]), Ok(()));
    assert_eq!(try_out([(Span::Whole, 2, 0), (Span::Whole, 2, 1)]), Err(Reason::NotCounted));
}
