//! Arguments of blocks that are one value.

use hashbrown::HashSet;
use loomir_ir::{Block, Body, Op, Value};

use super::branch::{branches_into, change_operands, successor_operands};

/// What became of the arguments of a block.
#[derive(Debug, Default)]
pub(super) struct FoldedArguments {
    /// The number of those that were one value.
    pub(super) count: usize,
    /// What used them, and uses that value now.
    pub(super) users: Vec<Op>,
}

/// Replaces arguments of a block that every edge hands themselves or one other value, if `may_be`
/// says that the value may be used there; where everything can be reached it is from before the
/// block. Linear in what the edges hand and in the uses.
pub(super) fn fold_arguments(
    function: &mut Body,
    block: Block,
    may_be: impl Fn(&Body, Value) -> bool,
) -> FoldedArguments {
    let arguments: Vec<Value> = function.arguments(block).collect();
    if arguments.is_empty() {
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
    // Only blocks that nothing else leads to hand themselves their own arguments alone.
    let one = |others: &Vec<Value>| match others[..] {
        [only] if !arguments.contains(&only) && may_be(function, only) => Some(only),
        _ => None,
    };
    let replaced: Vec<(usize, Value)> =
        others.iter().enumerate().filter_map(|(k, others)| Some((k, one(others)?))).collect();
    if replaced.is_empty() {
        return FoldedArguments::default();
    }
    let goes: HashSet<usize> = replaced.iter().map(|(k, _)| *k).collect();
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
    for (k, value) in replaced.iter().rev() {
        users.extend(function.uses(arguments[*k]).map(|used| used.op));
        function.replace_all_uses(arguments[*k], *value);
        function.erase_argument(block, *k);
    }
    FoldedArguments { count: replaced.len(), users }
}
