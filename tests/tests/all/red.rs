//! Red cursors: the places of nodes, and edits there.

use loomir::AliasMode;
use loomir::transforms::tree::raise::raise;
use loomir::transforms::tree::{Green, Node, Red, TreeStore};
use loomir_tests::blocks::each_block;
use loomir_tests::generate::generate;
use loomir_tests::random::Random;

/// Returns a tree with `items` in place of the child at `path`, built from the bottom up without a
/// cursor.
fn replaced(trees: &mut TreeStore, tree: Green, path: &[usize], items: &[Green]) -> Green {
    let Some((at, inner)) = path.split_first() else { return trees.sequence(items) };
    let all = |trees: &TreeStore, sequence| trees.items(sequence).collect::<Vec<Green>>();
    let with = |trees: &mut TreeStore, sequence: Green| {
        let mut own = all(trees, sequence);
        let new = match inner {
            [] => items.to_vec(),
            _ => vec![replaced(trees, own[*at], inner, items)],
        };
        own.splice(*at..*at + 1, new);
        trees.sequence(&own)
    };
    match trees.get(tree) {
        Node::Empty | Node::Sequence { .. } => with(trees, tree),
        Node::Loop { header, body } => {
            let body = with(trees, body);
            trees.with_header(header, body)
        }
        Node::Guard { of, map, holds, body } => {
            let body = with(trees, body);
            trees.guard(of, map, holds, body)
        }
        Node::Versioned { assumption, fast, fallback } => {
            let side = replaced(trees, [fast, fallback][*at], inner, items);
            let (fast, fallback) = if *at == 0 { (side, fallback) } else { (fast, side) };
            let assumed = trees.assumptions(assumption).to_vec();
            trees.versioned(assumed, fast, fallback)
        }
        Node::Leaf { .. } => tree,
    }
}

/// Returns a program as a tree whose last item is a versioned node with the program on both sides.
fn with_versions(trees: &mut TreeStore, root: Green) -> Green {
    let versioned = trees.versioned(Vec::new(), root, root);
    let items: Vec<Green> = trees.items(root).chain([versioned]).collect();
    trees.sequence(&items)
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
            let mut trees = TreeStore::default();
            let program = raise(body, block, &mut trees, AliasMode::May);
            let tree = with_versions(&mut trees, program.root);
            let mut cursor = Red::of(tree);
            let mut before: Vec<usize> = Vec::new();
            while cursor.onwards(&trees) {
                places += 1;
                let path: Vec<usize> = cursor.path().collect();
                assert!(before < path, "{path:?} comes behind {before:?}");
                assert_eq!(Red::at(&trees, tree, &path), Some(cursor.clone()));
                let depth = cursor.depth(&trees);
                assert_eq!(cursor.loop_context(&program, &trees).depth as usize, depth);
                deepest = deepest.max(depth);
                let mut beside = cursor.clone();
                if beside.left(&trees) {
                    assert!(beside.right(&trees));
                    assert_eq!(beside, cursor);
                }
                assert!(beside.up());
                let siblings: Vec<Green> = beside.children(&trees).collect();
                assert_eq!(cursor.index().map(|at| siblings[at]), Some(cursor.node()));
                // Replacing a node by itself changes nothing. Replacing it by another equals
                // building the tree anew.
                let mut same = cursor.clone();
                let is_side = matches!(trees.get(beside.node()), Node::Versioned { .. });
                if !is_side {
                    same.replace(&mut trees, &[cursor.node()]);
                    assert_eq!(same, cursor);
                }
                let statement = trees.items(tree).next().unwrap_or(tree);
                let new: Vec<Green> = std::iter::repeat_n(statement, random.below(3)).collect();
                let mut edited = cursor.clone();
                edited.replace(&mut trees, &new);
                assert_eq!(edited.root(), replaced(&mut trees, tree, &path, &new));
                assert_eq!(Red::at(&trees, edited.root(), &edited.path().collect::<Vec<_>>()), Some(edited));
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
    let text = loomir_tests::chains::Chain::InPlace.to_mlir(1000, 16);
    let mut module = loomir::parse(&ctx, &text, "t.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    each_block(&mut module, &mut |body, block| {
        let mut trees = TreeStore::default();
        let root = raise(body, block, &mut trees, AliasMode::May).root;
        let nests: Vec<usize> = (0..trees.items_in(root))
            .filter(|at| matches!(trees.item(root, *at).map(|item| trees.get(item)), Some(Node::Loop { .. })))
            .collect();
        assert_eq!(nests.len(), 1000);
        let before = trees.len();
        let mut cursor = Red::of(root);
        for at in &nests {
            assert!(cursor.down(&trees, *at) && cursor.down(&trees, 0));
            cursor.replace(&mut trees, &[]);
            assert_eq!(cursor.index(), Some(*at));
            cursor.up();
        }
        let made = (trees.len() - before) / nests.len();
        assert!(made <= 40, "{made} nodes an edit");
    });
}
