//! Block arguments that always have the same value, or that nothing uses.

use std::collections::BTreeSet;

use loomir_ir::{Block, Body, Op, Value};

use super::branch::{branches_into, change_operands, successor_operands};

/// The result of folding the arguments of a block.
#[derive(Debug, Default)]
pub(super) struct FoldedArguments {
    /// The number of arguments that were replaced by one value, or had no use.
    pub(super) count: usize,
    /// The operations that used them, and use that value now.
    pub(super) users: Vec<Op>,
}

/// Replaces arguments of a block for which every edge passes the argument itself or one other
/// value, and erases those without uses. The arguments of an entry stay. `may_be` decides if the
/// value may be used there. In reachable code the value is defined before the block. Linear in the
/// operands of the edges and in the uses.
pub(super) fn fold_arguments(
    function: &mut Body,
    block: Block,
    may_be: impl Fn(&Body, Value) -> bool,
) -> FoldedArguments {
    let arguments: Vec<Value> = function.arguments(block).collect();
    if arguments.is_empty() || function.is_entry(block) {
        return FoldedArguments::default();
    }
    let mut others: Vec<Vec<Value>> = vec![Vec::new(); arguments.len()];
    let branches = branches_into(function, [block]);
    for op in &branches {
        let targets = function.successors(*op);
        let operands = successor_operands(function, *op);
        for (_, operands) in targets.zip(&operands).filter(|(to, _)| *to == block) {
            for (k, value) in operands.iter().enumerate() {
                if *value != arguments[k] && !others[k].contains(value) && others[k].len() < 2 {
                    others[k].push(*value);
                }
            }
        }
    }
    // Only unreachable blocks pass themselves nothing but their own arguments.
    let one = |others: &Vec<Value>| match others[..] {
        [only] if !arguments.contains(&only) && may_be(function, only) => Some(only),
        _ => None,
    };
    let one = |(k, others)| one(others).map(|value| (k, value));
    let replaced: Vec<(usize, Value)> = others.iter().enumerate().filter_map(one).collect();
    let is_unused = |k: &usize| function.uses(arguments[*k]).next().is_none();
    let unused = (0..arguments.len()).filter(is_unused);
    let goes: BTreeSet<usize> = replaced.iter().map(|(k, _)| *k).chain(unused).collect();
    if goes.is_empty() {
        return FoldedArguments::default();
    }
    change_operands(function, &branches, |_, _, to, operands| {
        if to == block {
            let mut k = 0;
            operands.retain(|_| {
                k += 1;
                !goes.contains(&(k - 1))
            });
        }
    });
    let mut users = Vec::new();
    for (k, value) in replaced {
        users.extend(function.uses(arguments[k]).map(|used| used.op));
        function.replace_all_uses(arguments[k], value);
    }
    goes.iter().rev().for_each(|k| function.erase_argument(block, *k));
    FoldedArguments { count: goes.len(), users }
}
