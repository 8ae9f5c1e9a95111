//! The rewrite rules for expressions over words, and the analysis that their conditions use.
//!
//! A rule holds at every width from 2 bits on, for all words: it wraps where `arith` without flags
//! wraps. Both sides are undefined for the same words (they divide by the same expressions), and
//! otherwise neither is poison. Shifts by a non-constant are leaves. A rule that holds only without
//! wrapping, or for numbers of one sign, has a condition on ranges. An equality may therefore be
//! used in both directions, and in any context. A test tries every rule with all words of 3 to 5
//! bits.
//!
//! No rules distribute in both directions over everything: polynomials have a normal form elsewhere
//! ([`form`](crate::affine)).

use egg::{Analysis, Condition, ConditionalApplier, DidMerge, EGraph, Id, Pattern, Rewrite, Subst, Var};

use super::operation::Binary;
use super::range::{Range, binary_range, both, fits};
use super::word::Word;

/// The analysis data of each class: the range of its words.
#[derive(Clone, Debug)]
pub struct Ranges {
    /// The number of bits the words have.
    pub width: u32,
    /// The ranges of the leaves.
    pub leaves: Vec<Range>,
}

/// Expressions and the classes they are in.
pub type Graph = EGraph<Word, Ranges>;

impl Ranges {
    fn whole(&self) -> Range {
        (-(1 << (self.width - 1)), (1 << (self.width - 1)) - 1)
    }
}

impl Analysis<Word> for Ranges {
    type Data = Range;

    fn make(graph: &mut Graph, node: &Word, _: Id) -> Range {
        let ranges = &graph.analysis;
        match node {
            Word::Number(number) => ((*number).into(), (*number).into()),
            Word::Leaf(leaf) => ranges.leaves.get(*leaf as usize).copied().unwrap_or(ranges.whole()),
            Word::Binary(binary, [a, b]) => {
                let (a, b) = (graph[*a].data, graph[*b].data);
                if a.0 == a.1 && b.0 == b.1 {
                    let number = binary.compute(ranges.width, a.0 as i64, b.0 as i64).map(i128::from);
                    return number.map_or(ranges.whole(), |number| (number, number));
                }
                let range = binary_range(*binary, a, b, ranges.width);
                range.filter(|range| fits(*range, ranges.width)).unwrap_or(ranges.whole())
            }
        }
    }

    fn merge(&mut self, a: &mut Range, b: Range) -> DidMerge {
        let merged = both(*a, b);
        // A class with an empty range is never computed.
        if merged.0 > merged.1 {
            return DidMerge(false, true);
        }
        let changed = DidMerge(*a != merged, b != merged);
        *a = merged;
        changed
    }

    fn modify(graph: &mut Graph, id: Id) {
        let (lower, upper) = graph[id].data;
        // A division may be undefined, so it must not be replaced by its constant value.
        let divides = |node: &Word| matches!(node, Word::Binary(binary, _) if is_division(*binary));
        if lower == upper && !graph[id].iter().any(divides) {
            let number = graph.add(Word::Number(lower as i64));
            graph.union(id, number);
        }
    }
}

/// True if an operation is a division or a remainder, so it may be undefined.
pub fn is_division(binary: Binary) -> bool {
    use Binary::{CeilDivS, CeilDivU, DivS, DivU, FloorDivS, RemS, RemU};
    matches!(binary, DivS | DivU | CeilDivS | CeilDivU | FloorDivS | RemS | RemU)
}

/// A condition on the width of words, and on the ranges of `?a`, `?b` and `?c`.
type When = fn(u32, [Range; 3]) -> bool;

/// A rule: its name, both sides, and its condition. The left side may be rewritten to the right
/// side.
struct Rule(&'static str, &'static str, &'static str, Option<When>);

const fn always(name: &'static str, left: &'static str, right: &'static str) -> Rule {
    Rule(name, left, right, None)
}

const fn when(name: &'static str, left: &'static str, right: &'static str, condition: When) -> Rule {
    Rule(name, left, right, Some(condition))
}

fn is_natural(_: u32, [a, b, _]: [Range; 3]) -> bool {
    a.0 >= 0 && b.0 >= 0
}

fn is_over_positive(_: u32, [a, b, _]: [Range; 3]) -> bool {
    a.0 >= 0 && b.0 >= 1
}

/// True if `binary` of both `?a` and `?b` with `?c` does not wrap.
fn stay(binary: Binary, width: u32, [a, b, c]: [Range; 3]) -> bool {
    let stays = |x| binary_range(binary, x, c, width).is_some_and(|range| fits(range, width));
    stays(a) && stays(b)
}

/// The rules.
#[rustfmt::skip]
const RULES: &[Rule] = &[
    // Sums and products wrap as numbers modulo a power of two.
    always("add-commutes", "(add ?a ?b)", "(add ?b ?a)"),
    always("add-associates", "(add (add ?a ?b) ?c)", "(add ?a (add ?b ?c))"),
    always("add-nothing", "(add ?a 0)", "?a"),
    always("sub-is-add", "(sub ?a ?b)", "(add ?a (mul ?b -1))"),
    always("add-is-sub", "(add ?a (mul ?b -1))", "(sub ?a ?b)"),
    always("sub-itself", "(add ?a (mul ?a -1))", "0"),
    always("mul-commutes", "(mul ?a ?b)", "(mul ?b ?a)"),
    always("mul-associates", "(mul (mul ?a ?b) ?c)", "(mul ?a (mul ?b ?c))"),
    always("mul-one", "(mul ?a 1)", "?a"),
    always("mul-nothing", "(mul ?a 0)", "0"),
    always("distribute", "(mul (add ?a ?b) ?c)", "(add (mul ?a ?c) (mul ?b ?c))"),
    always("factor", "(add (mul ?a ?c) (mul ?b ?c))", "(mul (add ?a ?b) ?c)"),
    always("factor-one", "(add (mul ?a ?b) ?b)", "(mul (add ?a 1) ?b)"),
    always("double", "(add ?a ?a)", "(mul ?a 2)"),
    // Bits.
    always("and-commutes", "(and ?a ?b)", "(and ?b ?a)"),
    always("and-associates", "(and (and ?a ?b) ?c)", "(and ?a (and ?b ?c))"),
    always("and-itself", "(and ?a ?a)", "?a"),
    always("and-nothing", "(and ?a 0)", "0"),
    always("and-all", "(and ?a -1)", "?a"),
    always("or-commutes", "(or ?a ?b)", "(or ?b ?a)"),
    always("or-associates", "(or (or ?a ?b) ?c)", "(or ?a (or ?b ?c))"),
    always("or-itself", "(or ?a ?a)", "?a"),
    always("or-nothing", "(or ?a 0)", "?a"),
    always("or-all", "(or ?a -1)", "-1"),
    always("xor-commutes", "(xor ?a ?b)", "(xor ?b ?a)"),
    always("xor-associates", "(xor (xor ?a ?b) ?c)", "(xor ?a (xor ?b ?c))"),
    always("xor-itself", "(xor ?a ?a)", "0"),
    always("xor-nothing", "(xor ?a 0)", "?a"),
    always("not-is-sub", "(xor ?a -1)", "(sub -1 ?a)"),
    always("sub-is-not", "(sub -1 ?a)", "(xor ?a -1)"),
    always("not-and", "(xor (and ?a ?b) -1)", "(or (xor ?a -1) (xor ?b -1))"),
    always("not-or", "(xor (or ?a ?b) -1)", "(and (xor ?a -1) (xor ?b -1))"),
    always("absorb-and", "(and ?a (or ?a ?b))", "?a"),
    always("absorb-or", "(or ?a (and ?a ?b))", "?a"),
    always("and-over-or", "(and ?a (or ?b ?c))", "(or (and ?a ?b) (and ?a ?c))"),
    always("or-of-ands", "(or (and ?a ?b) (and ?a ?c))", "(and ?a (or ?b ?c))"),
    always("and-plus-or", "(add (and ?a ?b) (or ?a ?b))", "(add ?a ?b)"),
    always("xor-plus-carry", "(add (xor ?a ?b) (mul (and ?a ?b) 2))", "(add ?a ?b)"),
    always("xor-plus-and", "(add (xor ?a ?b) (and ?a ?b))", "(or ?a ?b)"),
    always("or-less-and", "(sub (or ?a ?b) (and ?a ?b))", "(xor ?a ?b)"),
    // Least and greatest.
    always("mins-commutes", "(mins ?a ?b)", "(mins ?b ?a)"),
    always("mins-associates", "(mins (mins ?a ?b) ?c)", "(mins ?a (mins ?b ?c))"),
    always("mins-itself", "(mins ?a ?a)", "?a"),
    always("maxs-commutes", "(maxs ?a ?b)", "(maxs ?b ?a)"),
    always("maxs-associates", "(maxs (maxs ?a ?b) ?c)", "(maxs ?a (maxs ?b ?c))"),
    always("maxs-itself", "(maxs ?a ?a)", "?a"),
    always("minu-commutes", "(minu ?a ?b)", "(minu ?b ?a)"),
    always("minu-associates", "(minu (minu ?a ?b) ?c)", "(minu ?a (minu ?b ?c))"),
    always("minu-itself", "(minu ?a ?a)", "?a"),
    always("minu-nothing", "(minu ?a 0)", "0"),
    always("maxu-commutes", "(maxu ?a ?b)", "(maxu ?b ?a)"),
    always("maxu-associates", "(maxu (maxu ?a ?b) ?c)", "(maxu ?a (maxu ?b ?c))"),
    always("maxu-itself", "(maxu ?a ?a)", "?a"),
    always("maxu-nothing", "(maxu ?a 0)", "?a"),
    always("absorb-mins", "(mins ?a (maxs ?a ?b))", "?a"),
    always("absorb-maxs", "(maxs ?a (mins ?a ?b))", "?a"),
    always("mins-over-maxs", "(mins ?a (maxs ?b ?c))", "(maxs (mins ?a ?b) (mins ?a ?c))"),
    always("maxs-of-mins", "(maxs (mins ?a ?b) (mins ?a ?c))", "(mins ?a (maxs ?b ?c))"),
    always("mins-plus-maxs", "(add (mins ?a ?b) (maxs ?a ?b))", "(add ?a ?b)"),
    always("mins-times-maxs", "(mul (mins ?a ?b) (maxs ?a ?b))", "(mul ?a ?b)"),
    always("minu-plus-maxu", "(add (minu ?a ?b) (maxu ?a ?b))", "(add ?a ?b)"),
    when("mins-left", "(mins ?a ?b)", "?a", |_, [a, b, _]| a.1 <= b.0),
    when("maxs-left", "(maxs ?a ?b)", "?a", |_, [a, b, _]| a.0 >= b.1),
    when("minu-as-mins", "(minu ?a ?b)", "(mins ?a ?b)", is_natural),
    when("maxu-as-maxs", "(maxu ?a ?b)", "(maxs ?a ?b)", is_natural),
    when("mins-of-sums", "(mins (add ?a ?c) (add ?b ?c))", "(add (mins ?a ?b) ?c)",
        |width, all| stay(Binary::Add, width, all)),
    when("maxs-of-sums", "(maxs (add ?a ?c) (add ?b ?c))", "(add (maxs ?a ?b) ?c)",
        |width, all| stay(Binary::Add, width, all)),
    when("mins-of-products", "(mins (mul ?a ?c) (mul ?b ?c))", "(mul (mins ?a ?b) ?c)",
        |width, all| all[2].0 >= 0 && stay(Binary::Mul, width, all)),
    when("maxs-of-products", "(maxs (mul ?a ?c) (mul ?b ?c))", "(mul (maxs ?a ?b) ?c)",
        |width, all| all[2].0 >= 0 && stay(Binary::Mul, width, all)),
    // Quotients.
    always("rems-is-rest", "(rems ?a ?b)", "(sub ?a (mul (divs ?a ?b) ?b))"),
    always("remu-is-rest", "(remu ?a ?b)", "(sub ?a (mul (divu ?a ?b) ?b))"),
    always("divs-one", "(divs ?a 1)", "?a"),
    always("divu-one", "(divu ?a 1)", "?a"),
    always("floordivs-one", "(floordivs ?a 1)", "?a"),
    always("ceildivs-one", "(ceildivs ?a 1)", "?a"),
    when("divu-as-divs", "(divu ?a ?b)", "(divs ?a ?b)", is_natural),
    when("remu-as-rems", "(remu ?a ?b)", "(rems ?a ?b)", is_natural),
    when("ceildivu-as-ceildivs", "(ceildivu ?a ?b)", "(ceildivs ?a ?b)", is_natural),
    when("floordivs-as-divs", "(floordivs ?a ?b)", "(divs ?a ?b)", is_over_positive),
    when("divs-as-floordivs", "(divs ?a ?b)", "(floordivs ?a ?b)", is_over_positive),
    when("ceildivs-as-floordivs", "(ceildivs ?a ?b)", "(floordivs (add ?a (sub ?b 1)) ?b)",
        |width, [a, b, _]| b.0 >= 1 && fits((a.0 + b.0 - 1, a.1 + b.1 - 1), width)),
    when("rems-less", "(rems ?a ?b)", "?a", |_, [a, b, _]| a.0 >= 0 && a.1 < b.0),
    when("divs-of-product", "(divs (mul ?a ?c) ?c)", "?a",
        |width, [a, _, c]| c.0 >= 1 && stay(Binary::Mul, width, [a, a, c])),
    when("floordivs-of-product", "(floordivs (mul ?a ?c) ?c)", "?a",
        |width, [a, _, c]| c.0 >= 1 && stay(Binary::Mul, width, [a, a, c])),
    when("floordivs-of-sum", "(floordivs (add (mul ?a ?c) ?b) ?c)", "(add ?a (floordivs ?b ?c))",
        |width, [a, b, c]| {
            let product = binary_range(Binary::Mul, a, c, width);
            let sum = product.and_then(|product| binary_range(Binary::Add, product, b, width));
            c.0 >= 1 && [product, sum].into_iter().all(|range| range.is_some_and(|range| fits(range, width)))
        }),
];

/// The variables that conditions are about.
const VARIABLES: [&str; 3] = ["?a", "?b", "?c"];

struct Ranged {
    when: When,
    variables: [Var; 3],
}

impl Condition<Word, Ranges> for Ranged {
    fn check(&self, graph: &mut Graph, _: Id, found: &Subst) -> bool {
        let whole = graph.analysis.whole();
        let range = |variable: Var| found.get(variable).map_or(whole, |id| graph[*id].data);
        (self.when)(graph.analysis.width, self.variables.map(range))
    }
}

/// Returns the rules in the representation of `egg`.
pub fn rules() -> Vec<Rewrite<Word, Ranges>> {
    let parsed = |Rule(name, left, right, condition): &Rule| {
        let (left, right): (Pattern<Word>, Pattern<Word>) = (left.parse().ok()?, right.parse().ok()?);
        match condition {
            None => Rewrite::new(*name, left, right).ok(),
            Some(when) => {
                let mut variables = VARIABLES.iter().map(|name| name.parse::<Var>().ok());
                let variables = [variables.next()??, variables.next()??, variables.next()??];
                let condition = Ranged { when: *when, variables };
                Rewrite::new(*name, left, ConditionalApplier { condition, applier: right }).ok()
            }
        }
    };
    RULES.iter().filter_map(parsed).collect()
}

#[cfg(test)]
mod tests {
    use egg::{ENodeOrVar, RecExpr};

    use super::super::word::evaluate;
    use super::*;

    /// Returns a side of a rule, its variables as leaves.
    fn side(text: &str) -> RecExpr<Word> {
        let pattern: Pattern<Word> = text.parse().expect("a side of a rule is an expression");
        let place = |variable: &Var| VARIABLES.iter().position(|name| *name == variable.to_string());
        let node = |node: &ENodeOrVar<Word>| match node {
            ENodeOrVar::ENode(node) => node.clone(),
            ENodeOrVar::Var(variable) => Word::Leaf(place(variable).expect("it is one of three") as u32),
        };
        pattern.ast.as_ref().iter().map(node).collect::<Vec<_>>().into()
    }

    #[test]
    fn every_rule_is_one() {
        assert_eq!(rules().len(), RULES.len());
    }

    #[test]
    fn every_rule_holds_for_all_words_of_three_to_five_bits() {
        for Rule(name, left, right, condition) in RULES {
            let (left, right) = (side(left), side(right));
            let mut applied = 0;
            for width in 3..=5u32 {
                let (low, high) = (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1);
                let words = || low..=high;
                for (a, b, c) in words()
                    .flat_map(|a| words().map(move |b| (a, b)))
                    .flat_map(|(a, b)| words().map(move |c| (a, b, c)))
                {
                    // Point ranges are the weakest test: wider ranges enable a rule less often.
                    let ranges = [a, b, c].map(|word| (i128::from(word), i128::from(word)));
                    if condition.is_some_and(|condition| !condition(width, ranges)) {
                        continue;
                    }
                    let value = |nodes| evaluate(nodes, width, &|leaf| [a, b, c][leaf as usize]);
                    applied += 1;
                    assert_eq!(value(&left), value(&right), "{name}: {a}, {b}, {c} of {width} bits");
                }
            }
            assert!(applied > 20, "{name} is tried {applied} times");
        }
    }

    /// A condition that holds for ranges holds for all numbers in these ranges.
    #[test]
    fn conditions_on_ranges_hold_for_what_is_in_them() {
        let ranges: Vec<Range> = (-4..4).flat_map(|low| (low..4).map(move |high| (low, high))).collect();
        for Rule(name, .., condition) in RULES {
            let Some(condition) = condition else { continue };
            let mut held = 0;
            for (a, b) in ranges.iter().flat_map(|a| ranges.iter().map(move |b| (*a, *b))) {
                for c in ranges.iter().step_by(3).filter(|c| condition(3, [a, b, **c])) {
                    held += 1;
                    let ends = [a, b, *c].map(|(low, high)| [low, high]);
                    for mask in 0..8 {
                        let at = [0, 1, 2].map(|i| ends[i][mask >> i & 1]);
                        assert!(condition(3, at.map(|end| (end, end))), "{name}: {a:?}, {b:?}, {c:?}");
                    }
                }
            }
            assert!(held > 0, "{name} never applies to ranges");
        }
    }
}
