//! The search for the grouping of a few loops with the greatest saving.
//!
//! Groupings are restricted growth strings: each loop in turn joins one of the groups so far, or
//! begins one. All of them are examined depth first, nearest groups first. A loop's fusion with a
//! group depends only on the group and on the entries between, so each question is asked once and
//! remembered.
//!
//! **Assumptions.**
//! - A search tries groupings and undoes them; the chosen one is made again from the start. Tried
//!   with the test beside it, against all groupings.
//!
//! **Cost.** Eight loops have 4,140 groupings with 5,294 beginnings. Examining a beginning is one
//! step, a new question is several. A search that runs out of steps keeps its best result.
//!
//! # Limits
//!
//! - The grouping is the best one for blocks of at most 8 loops. Of larger blocks, up to 24
//!   connected loops are searched among groupings that begin well.
//! - Loops of different lengths without common memory are not fused.

use std::ops::Range;
use std::rc::Rc;

use hashbrown::HashMap;

use super::Fusion;
use super::group::Group;
use super::grouping::{Left, MAX_LOOPS, Name, Partner, count_loops, join};
use super::schedule::{self, Entry};
use crate::access::LoopContext;

mod beam;

/// The identity of an entry: an item, the fusion of two others, or their remainder.
type Mark = u32;

/// Combined with the mark of a group: the remainder of its first loop, or of its second.
const BEFORE: Mark = u32::MAX;
const BEHIND: Mark = u32::MAX - 1;

/// An entry in the line of a grouping.
#[derive(Clone)]
struct Placed {
    entry: Entry,
    mark: Mark,
    name: Name,
}

/// A question: may this group take in this loop, given the entries between them?
type Question = (Mark, Box<[Mark]>, usize);

/// The positive answer: the new group, the remainders, and the saving.
struct Answer {
    group: Rc<Group>,
    left: Left,
    saved: f64,
}

/// A search in a part of a sequence.
pub(super) struct Search<'s> {
    entries: &'s [Entry],
    loop_context: &'s LoopContext,
    end: usize,
    answers: HashMap<Question, Option<Rc<Answer>>>,
    marks: HashMap<(Mark, Mark), Mark>,
    /// For each item the group that it joined.
    partners: Vec<Option<Name>>,
    best: f64,
    found: Option<Vec<Option<Name>>>,
    steps: &'s mut usize,
    is_complete: bool,
}

/// The result of a search.
pub(super) struct Found {
    /// For each item of the sequence the group it joins, if that is better than the known grouping.
    pub partners: Option<Vec<Option<Name>>>,
    /// True if the search was exhaustive.
    pub is_complete: bool,
}

/// The number of steps that a new legality question costs.
const QUESTION: usize = 20;
/// The number of entries of a line that are copied in a step.
const COPIED: usize = 32;

impl Search<'_> {
    /// The number of steps that suffices for all groupings of
    /// [`MAX_LOOPS`](super::partition::MAX_LOOPS) loops with little between them.
    pub(super) const MAX_STEPS: usize = 60_000;

    /// Searches for a grouping of the entries in `part` that saves more than `known`. The search is
    /// exhaustive, or limited to promising beginnings if there are too many loops.
    pub(super) fn run(
        fusion: &mut Fusion<'_>,
        entries: &mut [Entry],
        part: Range<usize>,
        known: f64,
        steps: &mut usize,
        loop_context: &LoopContext,
    ) -> Found {
        for entry in &mut entries[part.clone()] {
            entry.summarise(fusion.body, fusion.program, fusion.trees, loop_context);
        }
        let mut search = Search {
            entries,
            loop_context,
            end: part.end,
            answers: HashMap::new(),
            marks: HashMap::new(),
            partners: vec![None; part.end],
            // Sums in another order may differ by rounding.
            best: known + known.abs() * 1e-9 + 1e-6,
            found: None,
            steps,
            is_complete: true,
        };
        match count_loops(&search.entries[part.clone()]) {
            ..=MAX_LOOPS => search.explore(fusion, part.start, Vec::new(), 0.0),
            _ => search.explore_beam(fusion, part.start),
        }
        Found { partners: search.found, is_complete: search.is_complete }
    }

    /// Explores all groupings that begin with `line`, which saves `saved`. Recurses once for each
    /// loop.
    fn explore(&mut self, fusion: &mut Fusion<'_>, mut item: usize, mut line: Vec<Placed>, saved: f64) {
        while item < self.end && !matches!(self.entries[item], Entry::Group(_)) {
            self.pass(fusion, item, &mut line);
            item += 1;
        }
        let Some(Entry::Group(second)) = self.entries[..self.end].get(item) else {
            if saved > self.best {
                self.best = saved;
                self.found = Some(self.partners.clone());
            }
            return;
        };
        for at in (0..line.len()).rev() {
            if !matches!(line[at].entry, Entry::Group(_)) {
                continue;
            }
            let Some((joined, more)) = self.joined(fusion, &line, at, item, second) else {
                if !self.is_complete {
                    return;
                }
                continue;
            };
            self.partners[item] = Some(line[at].name);
            self.explore(fusion, item + 1, joined, saved + more);
        }
        self.partners[item] = None;
        if self.take(1 + line.len() / COPIED) {
            line.push(self.alone(item));
            self.explore(fusion, item + 1, line, saved);
        }
    }

    /// Returns the sequence in which the group at a place has taken in a loop, and the saving.
    /// `None` if this is illegal, or the steps are used up.
    fn joined(
        &mut self,
        fusion: &mut Fusion<'_>,
        line: &[Placed],
        at: usize,
        item: usize,
        second: &Group,
    ) -> Option<(Vec<Placed>, f64)> {
        let answer = self.answer(fusion, line, at, item, second)?;
        let mut joined = line.to_vec();
        let mark = self.mark(line[at].mark, item as Mark);
        joined[at].entry = Entry::Group(answer.group.clone());
        joined[at].mark = mark;
        schedule::hoist(&mut joined, at, &answer.left.hoisted);
        let Left { before, behind, .. } = &answer.left;
        if let Some(before) = before {
            joined.insert(at, self.rest(before, (mark, BEFORE), Name::rest(item)));
        }
        if let Some(behind) = behind {
            let behind = self.rest(behind, (mark, BEHIND), Name::of(item));
            joined.push(behind);
        }
        Some((joined, answer.saved))
    }

    /// Adds an entry that is no loop.
    fn pass(&mut self, fusion: &mut Fusion<'_>, item: usize, line: &mut Vec<Placed>) {
        let mut own = self.alone(item);
        let mut before: Vec<Entry> = line.iter().map(|placed| placed.entry.clone()).collect();
        match fusion.partner(&mut before, &mut own.entry, self.loop_context) {
            Some(Ok(Partner { at, hoisted, .. })) => {
                schedule::join_ifs(fusion.trees, &mut line[at].entry, own.entry);
                line[at].mark = self.mark(line[at].mark, own.mark);
                schedule::hoist(line, at, &hoisted);
            }
            _ => line.push(own),
        }
    }

    fn alone(&self, item: usize) -> Placed {
        Placed { entry: self.entries[item].clone(), mark: item as Mark, name: Name::of(item) }
    }

    fn rest(&mut self, group: &Rc<Group>, (group_mark, which): (Mark, Mark), name: Name) -> Placed {
        Placed { entry: Entry::Group(group.clone()), mark: self.mark(group_mark, which), name }
    }

    /// Returns the mark of the fusion of two entries.
    fn mark(&mut self, a: Mark, b: Mark) -> Mark {
        let next = (self.entries.len() + self.marks.len()) as Mark;
        *self.marks.entry((a, b)).or_insert(next)
    }

    /// Returns the result of the group at a place taking in a loop. `None` if this is illegal, or
    /// the steps are used up.
    fn answer(
        &mut self,
        fusion: &mut Fusion<'_>,
        line: &[Placed],
        at: usize,
        item: usize,
        second: &Group,
    ) -> Option<Rc<Answer>> {
        let Entry::Group(first) = &line[at].entry else { return None };
        let between = &line[at + 1..];
        let question = (line[at].mark, between.iter().map(|placed| placed.mark).collect(), item);
        let known = self.answers.get(&question).cloned();
        let cost = if known.is_none() { QUESTION } else { 1 };
        if !self.take(cost + line.len() / COPIED) {
            return None;
        }
        if let Some(answer) = known {
            return answer;
        }
        let mut entries: Vec<Entry> = between.iter().map(|placed| placed.entry.clone()).collect();
        let answer = fusion.attempt(first, &mut entries, second, self.loop_context).ok().map(|attempt| {
            let saved = attempt.saving.cycles;
            let mut group = (**first).clone();
            let left = join(&mut group, second, attempt);
            Rc::new(Answer { group: Rc::new(group), left, saved })
        });
        self.answers.insert(question, answer.clone());
        answer
    }

    /// Uses some of the remaining steps.
    fn take(&mut self, steps: usize) -> bool {
        match self.steps.checked_sub(steps) {
            Some(left) => *self.steps = left,
            None => self.is_complete = false,
        }
        self.is_complete
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use loomir_ir::{Body, Context, Registry, text};

    use super::super::Options;
    use super::super::partition::{Guide, within};
    use super::*;
    use crate::access::base::AliasMode;
    use crate::tree::TreeStore;
    use crate::tree::raise::raise;

    /// Numbers that look random.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % end
        }
    }

    /// Returns a function of `loops` neighbouring loops over a few large arrays. Some have another
    /// length, some read ahead or from the other end, some sum up. Sometimes a store is between
    /// them.
    fn function(random: &mut Random, loops: usize) -> String {
        let ty = "memref<65536xf32>";
        let mut out = format!("func.func @f(%a0: {ty}, %a1: {ty}, %a2: {ty}, %a3: {ty}, %a4: {ty}) {{\n");
        out += "  %zero = arith.constant 0.0 : f32\n  %x = arith.constant 1.0 : f32\n";
        for k in 0..loops {
            let length = [60_000, 60_000, 60_000, 59_000][random.below(4) as usize];
            let (first, second, to) = (random.below(5), random.below(5), random.below(5));
            let at = ["%i", "%i", "%i", "%i + 1", "-%i + 60000"][random.below(5) as usize];
            let loads = format!(
                "    %0 = affine.load %a{first}[%i] : {ty}\n    %1 = affine.load %a{second}[{at}] : {ty}\n    %2 = arith.addf %0, %1 : f32\n"
            );
            let _ = match random.below(5) {
                0 => write!(
                    out,
                    "  %r{k} = affine.for %i = 0 to {length} iter_args(%s = %zero) -> f32 {{\n{loads}    %3 = arith.addf %s, %2 : f32\n    affine.yield %3 : f32\n  }}\n"
                ),
                _ => write!(
                    out,
                    "  affine.for %i = 0 to {length} {{\n{loads}    affine.store %2, %a{to}[%i] : {ty}\n  }}\n"
                ),
            };
            if random.below(6) == 0 {
                let _ = writeln!(out, "  affine.store %x, %a{}[65000] : {ty}", random.below(5));
            }
        }
        out + "  return\n}\n"
    }

    fn with_loops(seed: u64, loops: usize, check: impl FnOnce(&mut Fusion<'_>, Vec<Entry>, &LoopContext)) {
        let mut registry = Registry::new();
        loomir_dialects::register_all(&mut registry);
        let ctx = Context::new(registry);
        let source = function(&mut Random(seed), loops);
        let mut module =
            text::parse(&ctx, &source, "f.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
        let options = Options { alias: AliasMode::Distinct, ..Options::default() };
        let mut check = Some(check);
        module.for_each_body(&mut |body: &mut Body| {
            let Some(block) = body.entry_block(body.region(body.root(), 0)) else { return };
            if body.root_ref().is(loomir_dialects::func::FuncOp::DEF)
                && let Some(check) = check.take()
            {
                let mut trees = TreeStore::default();
                let program = raise(body, block, &mut trees, options.alias);
                let loop_context = LoopContext::outside(&program.surroundings);
                let mut fusion = Fusion::new(body, &program, &mut trees, &options);
                let items = fusion.trees.with_ifs(program.root);
                let entries = fusion.entries(&items, &loop_context);
                assert_eq!(count_loops(&entries), loops);
                check(&mut fusion, entries, &loop_context);
            }
        });
        assert!(check.is_none(), "there is a function");
    }

    /// Returns the greatest saving of any grouping. Each grouping is fused from scratch.
    fn brute_force(fusion: &mut Fusion<'_>, entries: &[Entry], loop_context: &LoopContext) -> f64 {
        let loops: Vec<usize> =
            (0..entries.len()).filter(|at| matches!(entries[*at], Entry::Group(_))).collect();
        let mut best: f64 = 0.0;
        // For each loop the first loop of its group, possibly itself.
        let mut strings = vec![vec![0]];
        while let Some(string) = strings.pop() {
            if string.len() < loops.len() {
                let leaders = (0..string.len()).filter(|k| string[*k] == *k).chain([string.len()]);
                strings.extend(leaders.map(|leader| [&string[..], &[leader]].concat()));
                continue;
            }
            let mut partners = vec![None; entries.len()];
            for (k, leader) in string.iter().enumerate().filter(|(k, leader)| k != *leader) {
                partners[loops[k]] = Some(Name::of(loops[*leader]));
            }
            let line =
                fusion.in_order(within(entries, &(0..entries.len())), Guide::Given(&partners), loop_context);
            let groups = string.iter().enumerate().filter(|(k, leader)| k == *leader).count();
            if line.fused() == loops.len() - groups {
                best = best.max(line.saved);
            }
        }
        best
    }

    #[test]
    fn no_grouping_of_a_few_loops_saves_more() {
        let mut regrouped = 0;
        for (loops, cases) in [(3, 60), (4, 60), (5, 40), (6, 12), (MAX_LOOPS, 2)] {
            for seed in 0..cases {
                with_loops(seed, loops, |fusion, entries, loop_context| {
                    let saved = fusion.best(entries.clone(), loop_context).saved;
                    let most = brute_force(fusion, &entries, loop_context);
                    assert!(
                        (saved - most).abs() <= 1e-6 * most,
                        "{loops} loops, {seed}: {saved}, not {most}"
                    );
                    assert_eq!(fusion.report.choice.optimal, 1, "{loops} loops, {seed}");
                    regrouped += fusion.report.choice.regrouped;
                });
            }
        }
        assert!(regrouped > 10, "only {regrouped} are grouped in another way than one after the other");
    }

    #[test]
    fn a_bounded_search_is_never_worse_than_the_nearest() {
        let mut better = 0;
        for seed in 0..40 {
            with_loops(seed, 20, |fusion, entries, loop_context| {
                let saved = fusion.best(entries.clone(), loop_context).saved;
                let nearest = fusion
                    .in_order(within(&entries, &(0..entries.len())), Guide::AtAnyCost, loop_context)
                    .saved;
                assert!(saved >= nearest - 1e-6 * nearest.abs(), "{seed}: {saved}, less than {nearest}");
                assert_eq!(fusion.report.choice.optimal + fusion.report.choice.bounded, 1);
                better += usize::from(saved > nearest * 1.001);
            });
        }
        assert!(better > 5, "only {better} are better");
    }

    /// Returns the greatest saving that the beam search finds, for any number of loops.
    fn by_beam(fusion: &mut Fusion<'_>, entries: &mut [Entry], loop_context: &LoopContext) -> f64 {
        let end = entries.len();
        for entry in entries.iter_mut() {
            entry.summarise(fusion.body, fusion.program, fusion.trees, loop_context);
        }
        let mut steps = usize::MAX;
        let mut search = Search {
            entries,
            loop_context,
            end,
            answers: HashMap::new(),
            marks: HashMap::new(),
            partners: vec![None; end],
            best: f64::NEG_INFINITY,
            found: None,
            steps: &mut steps,
            is_complete: true,
        };
        search.explore_beam(fusion, 0);
        let (best, partners) = (search.best, search.found.unwrap_or_else(|| panic!("it has all steps")));
        let line = fusion.in_order(within(entries, &(0..end)), Guide::Given(&partners), loop_context);
        assert!(
            (line.saved - best).abs() <= 1e-6 * best.abs(),
            "{best} is what the line saves, {}",
            line.saved
        );
        best
    }

    #[test]
    fn a_beam_finds_no_more_than_there_is_and_seldom_less() {
        let (mut cases, mut best) = (0, 0);
        for (loops, seeds) in [(4, 40), (5, 30), (6, 10)] {
            for seed in 100..100 + seeds {
                with_loops(seed, loops, |fusion, mut entries, loop_context| {
                    let most = brute_force(fusion, &entries, loop_context);
                    let found = by_beam(fusion, &mut entries, loop_context);
                    assert!(found <= most + 1e-6 * most, "{loops} loops, {seed}: {found}, more than {most}");
                    cases += 1;
                    best += usize::from(found >= most - 1e-6 * most);
                });
            }
        }
        assert!(best * 10 >= cases * 9, "{best} of {cases} are the best");
    }

    #[test]
    fn a_beam_finds_what_the_nearest_misses() {
        let (mut better, mut worse) = (0, 0);
        for seed in 0..20 {
            with_loops(seed, 14, |fusion, mut entries, loop_context| {
                let all = 0..entries.len();
                let nearest = fusion.in_order(within(&entries, &all), Guide::Nearest, loop_context).saved;
                let found = by_beam(fusion, &mut entries, loop_context);
                better += usize::from(found > nearest * 1.001);
                worse += usize::from(found < nearest * 0.999);
            });
        }
        assert!(better >= 3 && better > worse, "{better} are better, {worse} worse");
    }
}
