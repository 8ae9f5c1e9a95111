//! Red cursors: the places of nodes, and edits there.

use loomir::AliasMode;
use loomir::transforms::tree::raise::raise;
use loomir::transforms::tree::{Forest, Green, Node, Red};
use loomir_testing::blocks::each_block;
use loomir_testing::generate::generate;
use loomir_testing::random::Random;

/// A tree with `items` in the place of the child that `path` leads to, made anew from the bottom up
/// without a cursor.
fn replaced(forest: &mut Forest, tree: Green, path: &[usize], items: &[Green]) -> Green {
    let Some((at, inner)) = path.split_first() else { return forest.sequence(items) };
    let all = |forest: &Forest, sequence| forest.items(sequence).collect::<Vec<Green>>();
    let with = |forest: &mut Forest, sequence: Green| {
        let mut own = all(forest, sequence);
        let new = match inner {
            [] => items.to_vec(),
            _ => vec![replaced(forest, own[*at], inner, items)],
        };
        own.splice(*at..*at + 1, new);
        forest.sequence(&own)
    };
    match forest.get(tree) {
        Node::Empty | Node::Sequence { .. } => with(forest, tree),
        Node::Loop { header, body } => {
            let body = with(forest, body);
            forest.with_header(header, body)
        }
        Node::Guard { of, map, holds, body } => {
            let body = with(forest, body);
            forest.guard(of, map, holds, body)
        }
        Node::Versioned { assumption, fast, fallback } => {
            let side = replaced(forest, [fast, fallback][*at], inner, items);
            let (fast, fallback) = if *at == 0 { (side, fallback) } else { (fast, side) };
            let assumed = forest.assumptions(assumption).to_vec();
            forest.versioned(assumed, fast, fallback)
        }
        Node::Leaf { .. } => tree,
    }
}

/// A program as a tree whose last item is a versioned node with the program on both sides.
fn with_versions(forest: &mut Forest, root: Green) -> Green {
    let versioned = forest.versioned(Vec::new(), root, root);
    let items: Vec<Green> = forest.items(root).chain([versioned]).collect();
    forest.sequence(&items)
}

#[test]
fn cursors_find_what_stands_where_they_do_and_edit_it() {
    let (mut places, mut deepest, mut edits) = (0, 0, 0);
    for index in 0..40 {
        let mut random = Random::of_case(21, index);
        let text = generate(&mut random).to_mlir().mlir;
        let ctx = loomir::context();
        let mut module =
            loomir::parse(&ctx, &text, "t.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
        each_block(&mut module, &mut |body, block| {
            let mut forest = Forest::default();
            let program = raise(body, block, &mut forest, AliasMode::May);
            let tree = with_versions(&mut forest, program.root);
            let mut cursor = Red::of(tree);
            let mut before: Vec<usize> = Vec::new();
            while cursor.onwards(&forest) {
                places += 1;
                let path: Vec<usize> = cursor.path().collect();
                assert!(before < path, "{path:?} comes behind {before:?}");
                assert_eq!(Red::at(&forest, tree, &path), Some(cursor.clone()));
                let depth = cursor.depth(&forest);
                assert_eq!(cursor.frame(&program, &forest).depth as usize, depth);
                deepest = deepest.max(depth);
                let mut beside = cursor.clone();
                if beside.left(&forest) {
                    assert!(beside.right(&forest));
                    assert_eq!(beside, cursor);
                }
                assert!(beside.up());
                let siblings: Vec<Green> = beside.children(&forest).collect();
                assert_eq!(cursor.index().map(|at| siblings[at]), Some(cursor.node()));
                // Replacing a node by itself changes nothing. Replacing it by another equals
                // building the tree anew.
                let mut same = cursor.clone();
                let is_side = matches!(forest.get(beside.node()), Node::Versioned { .. });
                if !is_side {
                    same.replace(&mut forest, &[cursor.node()]);
                    assert_eq!(same, cursor);
                }
                let statement = forest.items(tree).next().unwrap_or(tree);
                let new: Vec<Green> = std::iter::repeat_n(statement, random.below(3)).collect();
                let mut edited = cursor.clone();
                edited.replace(&mut forest, &new);
                assert_eq!(edited.root(), replaced(&mut forest, tree, &path, &new));
                assert_eq!(Red::at(&forest, edited.root(), &edited.path().collect::<Vec<_>>()), Some(edited));
                edits += usize::from(!new.is_empty());
                before = path;
            }
            assert_eq!(cursor, Red::of(tree));
        });
    }
    assert!(places > 1000 && deepest >= 2 && edits > 500, "{places} places, {deepest} deep, {edits} edits");
}

#[test]
fn an_edit_deep_in_a_wide_tree_makes_few_nodes() {
    let ctx = loomir::context();
    let text = loomir_testing::chains::Chain::InPlace.to_mlir(1000, 16);
    let mut module = loomir::parse(&ctx, &text, "t.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    each_block(&mut module, &mut |body, block| {
        let mut forest = Forest::default();
        let root = raise(body, block, &mut forest, AliasMode::May).root;
        let nests: Vec<usize> = (0..forest.items_in(root))
            .filter(|at| {
                matches!(forest.item(root, *at).map(|item| forest.get(item)), Some(Node::Loop { .. }))
            })
            .collect();
        assert_eq!(nests.len(), 1000);
        let before = forest.len();
        let mut cursor = Red::of(root);
        for at in &nests {
            assert!(cursor.down(&forest, *at) && cursor.down(&forest, 0));
            cursor.replace(&mut forest, &[]);
            assert_eq!(cursor.index(), Some(*at));
            cursor.up();
        }
        let made = (forest.len() - before) / nests.len();
        assert!(made <= 40, "{made} nodes an edit");
    });
}
