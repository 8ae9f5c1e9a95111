//! Parallel loops in another order: the text of a program, with the iterations of each
//! `scf.parallel` turned around, rotated, or nested otherwise.
//!
//! Iterations of a parallel loop run in any order. The interpreter runs them in one order only. If
//! it runs the rewritten texts, too, it shows which programs depend on the order. Turned around,
//! each two iterations change places.

use std::fmt::Write;

use crate::random::Random;

/// The largest rotation of iterations.
const MAX_ROTATION: usize = 5;

/// Returns a text as printed, with the iterations of each `scf.parallel` in another order: all
/// turned around without a source of random numbers, else at random. Loops that combine values
/// stay.
///
/// ```
/// # use loomir_tests::orders::reordered;
/// let text = reordered("  scf.parallel (%i) = (%a) to (%b) step (%c) {\n", None);
/// assert!(text.starts_with("scf.parallel (%order0) = (%a) to (%b) step (%c) {\n"));
/// assert!(text.contains("%i = arith.addi %a, %order0_far : index\n"));
/// assert_eq!(reordered("return\n", None), "return\n");
/// ```
pub fn reordered(text: &str, mut random: Option<&mut Random>) -> String {
    let (mut other, mut next) = (String::new(), 0);
    for line in text.lines() {
        match loop_of(line) {
            Some(mut dimensions) => {
                if let Some(random) = random.as_deref_mut() {
                    let by = random.below(dimensions.len());
                    dimensions.rotate_left(by);
                }
                write_loop(&mut other, &dimensions, &mut next, random.as_deref_mut());
            }
            None => {
                other.push_str(line);
                other.push('\n');
            }
        }
    }
    other
}

/// The names of a dimension: its variable, lower bound, upper bound and step.
type Dimension<'t> = [&'t str; 4];

/// Returns the dimensions of the loop that a line begins.
fn loop_of(line: &str) -> Option<Vec<Dimension<'_>>> {
    let rest = line.trim().strip_prefix("scf.parallel (")?.strip_suffix(") {")?;
    let (variables, rest) = rest.split_once(") = (")?;
    let (lower, rest) = rest.split_once(") to (")?;
    let (upper, steps) = rest.split_once(") step (")?;
    let lists = [variables, lower, upper, steps].map(|list| list.split(", ").collect::<Vec<_>>());
    let is_plain = !steps.contains(')') && lists.iter().all(|list| list.len() == lists[0].len());
    is_plain.then(|| (0..lists[0].len()).map(|dim| [0, 1, 2, 3].map(|list| lists[list][dim])).collect())
}

/// Writes the first line of a loop, and its variables as functions of new ones.
fn write_loop(
    text: &mut String,
    dimensions: &[Dimension<'_>],
    next: &mut usize,
    mut random: Option<&mut Random>,
) {
    let first = *next;
    *next += dimensions.len();
    let list = |part: usize| dimensions.iter().map(|own| own[part]).collect::<Vec<_>>().join(", ");
    let own: Vec<String> = (first..*next).map(|dim| format!("%order{dim}")).collect();
    let [lower, upper, steps] = [1, 2, 3].map(list);
    let _ = writeln!(text, "scf.parallel ({}) = ({lower}) to ({upper}) step ({steps}) {{", own.join(", "));
    for ([variable, lower, upper, step], own) in dimensions.iter().zip(own) {
        let (turns, rotation) = match random.as_deref_mut() {
            Some(random) => (random.chance(50), random.below(MAX_ROTATION)),
            None => (true, 0),
        };
        let at = match turns {
            true => format!("arith.subi {own}_last, {own}_place"),
            false => format!("arith.muli {own}_place, {own}_one"),
        };
        let _ = writeln!(
            text,
            "{own}_one = arith.constant 1 : index\n{own}_by = arith.constant {rotation} : index\n\
             {own}_span = arith.subi {upper}, {lower} : index\n\
             {own}_count = arith.ceildivsi {own}_span, {step} : index\n\
             {own}_last = arith.subi {own}_count, {own}_one : index\n\
             {own}_from = arith.subi {own}, {lower} : index\n\
             {own}_number = arith.divsi {own}_from, {step} : index\n\
             {own}_sum = arith.addi {own}_number, {own}_by : index\n\
             {own}_place = arith.remsi {own}_sum, {own}_count : index\n\
             {own}_at = {at} : index\n\
             {own}_far = arith.muli {own}_at, {step} : index\n\
             {variable} = arith.addi {lower}, {own}_far : index"
        );
    }
}
