//! Blocks of the program as trees, between the first edit and the last.
//!
//! A [`Site`] has the program's own tree and the edited one. Each step is judged before the next
//! one, against the original program. To keep that cheap, the top-level items are in groups: what
//! one item of the program, or several together, became. A step is judged with all other groups as
//! they were. The whole tree is judged once more before it is written, and only that approves it.
//!
//! **Cost.** A step costs what its group does, plus the number of top-level items.

use hashbrown::HashMap;
use loomir_ir::{Block, Body, Loc, Op};
use loomir_polyhedra::Limits;

use crate::access::Analyses;
use crate::access::base::AliasMode;
use crate::legality::{Approved, Checker, Verdict};
use crate::tree::edit::follow::Followed;
use crate::tree::raise::raise_by;
use crate::tree::{Change, Green, Node, Program, Red, StatementId, TreeStore};

/// The bound of a question about dependences. Somebody asked for the step, so it may take longer
/// than one of a search: up to a fifth of a second.
const QUESTION: Limits = Limits::steps(10_000_000);

/// A path of child numbers to an item of a tree.
pub(super) type Place = Vec<usize>;

/// A block as a tree.
#[derive(Clone)]
pub(super) struct Site {
    pub(super) program: Program,
    /// The edited tree.
    pub(super) root: Green,
    /// The operation of the schedule that made the last step.
    pub(super) last_step: Loc,
    groups: Vec<Group>,
    /// The statements of the program by their operations.
    statements: HashMap<Op, StatementId>,
}

/// A function that judges a tree of a program.
pub(super) type Judge<'j> = dyn Fn(&Program, &mut TreeStore, Green) -> Result<(), Verdict> + 'j;

/// The numbers of top-level items of the program, and of items that they became.
#[derive(Clone, Copy, Debug)]
struct Group {
    old: usize,
    new: usize,
}

impl Site {
    /// Raises a block.
    pub(super) fn new(
        body: &Body,
        block: Block,
        trees: &mut TreeStore,
        analyses: &Analyses,
        alias: AliasMode,
    ) -> Site {
        let program = raise_by(analyses, body, block, trees, alias);
        let statements = program.statements().zip(0..);
        let statements =
            statements.flat_map(|(own, id)| own.ops.iter().map(move |op| (*op, StatementId(id)))).collect();
        let groups = vec![Group { old: 1, new: 1 }; trees.items_in(program.root)];
        Site { root: program.root, last_step: Loc::UNKNOWN, program, groups, statements }
    }

    /// True if the tree was edited.
    pub(super) fn is_changed(&self) -> bool {
        self.root != self.program.root
    }

    /// Returns the loops of the tree with their places, in the order of the text.
    pub(super) fn loops(&self, trees: &TreeStore) -> Vec<(Place, Green)> {
        let mut found = Vec::new();
        let mut cursor = Red::of(self.root);
        while cursor.onwards(trees) {
            if matches!(trees.get(cursor.node()), Node::Loop { .. }) {
                found.push((cursor.path().collect(), cursor.node()));
            }
        }
        found
    }

    /// Returns the loop of the program that gives a loop of the tree its form.
    pub(super) fn lead(&self, trees: &TreeStore, place: &[usize]) -> Option<Op> {
        let node = Red::at(trees, self.root, place)?.node();
        let Node::Loop { header, .. } = trees.get(node) else { return None };
        Some(self.program.loop_info(trees.header(header).origins.first()?.of).op)
    }

    /// Returns the number of the item in a loop's body that runs an operation of the program.
    pub(super) fn item_with(
        &self,
        trees: &TreeStore,
        around: &[usize],
        body: &Body,
        op: Op,
    ) -> Option<usize> {
        let mut own = std::iter::successors(Some(op), |op| body.parent_op(*op));
        let id = own.find_map(|op| self.statements.get(&op))?;
        let cursor = Red::at(trees, self.root, around)?;
        let items: Vec<Green> = cursor.children(trees).collect();
        items.into_iter().position(|item| runs(trees, item, *id))
    }

    /// Takes over a step. Returns the verdict if it is not legal; then nothing changes.
    ///
    /// # Errors
    ///
    /// The verdict of `judge`. Without a judge there is none.
    pub(super) fn step(
        &mut self,
        trees: &mut TreeStore,
        (root, followed): (Green, &[Followed]),
        judge: Option<&Judge<'_>>,
    ) -> Result<(), Verdict> {
        let mut groups = self.groups.clone();
        for step in followed {
            regroup(&mut groups, step);
        }
        let last = followed.last().and_then(|step| step.place().first().copied());
        if let (Some(judge), Some(top)) = (judge, last) {
            let local = self.local(trees, root, &groups, top);
            judge(&self.program, trees, local)?;
        }
        // Handles point to loops as they will be written.
        (self.root, self.groups) = (trees.written(root).unwrap_or(root), groups);
        Ok(())
    }

    /// Returns the program's tree with one group as it is in `root`: the one with item `top`.
    fn local(&self, trees: &mut TreeStore, root: Green, groups: &[Group], top: usize) -> Green {
        let (mut old, mut new) = (0, 0);
        for group in groups {
            if top < new + group.new {
                let items: Vec<Green> = trees.items(root).skip(new).take(group.new).collect();
                return trees.splice(self.program.root, old..old + group.old, &items);
            }
            (old, new) = (old + group.old, new + group.new);
        }
        root
    }
}

/// Returns a checker of trees of a program.
pub(super) fn checker<'a>(
    body: &'a Body,
    program: &'a Program,
    analyses: &'a Analyses,
    alias: AliasMode,
) -> Checker<'a> {
    Checker::new(body, program, alias, QUESTION).with_dependence(&*analyses.dependence)
}

/// Judges a whole tree.
///
/// # Errors
///
/// The verdict if it is not legal.
pub(super) fn approve(
    (body, site): (&Body, &Site),
    trees: &mut TreeStore,
    analyses: &Analyses,
    alias: AliasMode,
) -> Result<Approved, Verdict> {
    checker(body, &site.program, analyses, alias).judge(trees, site.root)
}

/// Merges the groups that a change at the top level touches.
fn regroup(groups: &mut Vec<Group>, step: &Followed) {
    let [at] = step.place() else { return };
    let (replaced, made) = step.counts();
    let (from, to) = match step.change() {
        Change::Move { to } => (*at.min(to), *at.max(to) + 1),
        _ => (*at, at + replaced),
    };
    let mut new = 0;
    let mut touched = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        if new < to && from < new + group.new {
            touched.push(number);
        }
        new += group.new;
    }
    let ([first, ..], [.., last]) = (&touched[..], &touched[..]) else { return };
    let merged = &groups[*first..=*last];
    let old = merged.iter().map(|group| group.old).sum();
    let new = (merged.iter().map(|group| group.new).sum::<usize>() + made).saturating_sub(replaced);
    groups.splice(*first..=*last, [Group { old, new }]);
}

/// True if a tree runs a statement. Recurses once for each loop or guard. Raising bounds their
/// nesting depth.
fn runs(trees: &TreeStore, tree: Green, id: StatementId) -> bool {
    match trees.get(tree) {
        Node::Leaf { statement, .. } => statement == id,
        Node::Loop { body, .. } | Node::Guard { body, .. } => {
            trees.items(body).any(|item| runs(trees, item, id))
        }
        Node::Versioned { fast, .. } => trees.items(fast).any(|item| runs(trees, item, id)),
        Node::Empty | Node::Sequence { .. } => trees.items(tree).any(|item| runs(trees, item, id)),
    }
}

/// A tree that a step edits.
pub(super) struct Sketch<'a> {
    pub(super) program: &'a Program,
    pub(super) trees: &'a mut TreeStore,
    pub(super) root: Green,
    pub(super) followed: Vec<Followed>,
}

impl Sketch<'_> {
    /// Makes one edit. `None` if it is impossible.
    pub(super) fn edit(&mut self, place: &[usize], change: Change) -> Option<()> {
        let edit = change.at(place);
        let root = edit.apply(self.program, self.trees, self.root)?;
        self.followed.push(Followed::new(edit, self.trees, self.root, root)?);
        self.root = root;
        Some(())
    }

    /// Returns the item at a place.
    pub(super) fn at(&self, place: &[usize]) -> Option<Node> {
        Some(self.trees.get(Red::at(self.trees, self.root, place)?.node()))
    }

    /// Returns the number of statements in the item at a place, each as often as it is written.
    pub(super) fn statements(&self, place: &[usize]) -> usize {
        Red::at(self.trees, self.root, place).map_or(0, |own| self.trees.leaves(own.node()) as usize)
    }

    /// Returns the reason why the inner loops of a loop cannot run as one for several iterations,
    /// if there is one.
    pub(super) fn why_not_jammed(&self, place: &[usize]) -> Option<&'static str> {
        self.trees.why_not_jammed(self.program, Red::at(self.trees, self.root, place)?.node())
    }

    /// Returns the number of loops of the perfect nest at a place.
    pub(super) fn depth(&self, place: &[usize]) -> usize {
        let mut depth = 0;
        let mut node = self.at(place);
        while let Some(Node::Loop { body, .. }) = node {
            depth += 1;
            let only = self.trees.only_item(body);
            node = only.map(|only| self.trees.get(only));
        }
        depth
    }
}

/// Returns the place of an item after edits, if there is exactly one.
pub(super) fn follow(followed: &[Followed], place: &[usize]) -> Option<Place> {
    followed.iter().try_fold(place.to_vec(), |place, step| step.follow(&place))
}
