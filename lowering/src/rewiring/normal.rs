//! The normal form of functions: functions that differ only in the layout of control flow, or in
//! the counting of loops, become equal.
//!
//! Loops are simplified, closed and rotated, first as they are and again after detours are removed,
//! because nearly empty loops would be left unchanged otherwise. Loops without effect are deleted.
//! Each loop is counted by one variable (`counters`), and code that became unused is removed.
//! Nothing here knows about fusion, and used computations stay.
//!
//! Cost: the sum of its passes.

use loomir_dialects::interp::layout::DataLayout;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Body, Diagnostics};

use super::counters::count_loops;
use crate::cfg::simplify_cfg::simplify_cfg;
use crate::cfg::{Analysis, branch, effects, lcssa, loop_deletion, loop_rotate, loop_simplify};

/// Brings a function of the `llvm` dialect, of a module with these symbols, into normal form.
///
/// # Errors
/// If it contains an unknown branch.
pub fn normalise(function: &mut Body, symbols: &SymbolTable) -> Result<(), Diagnostics> {
    branch::all_plain(function)?;
    let counted = loop_deletion::Counted::of(function, symbols);
    let mut size = 0;
    for _ in 0..MAX_ROUNDS {
        let mut analysis = in_form(function, symbols);
        loop_deletion::delete_loops(function, &mut analysis, &counted);
        // A block of unused operations counts as empty.
        effects::unused(function, false).into_iter().for_each(|op| function.erase(op));
        simplify_cfg(function, false);
        let blocks = function.blocks(function.region(function.root(), 0));
        let before =
            std::mem::replace(&mut size, blocks.map(|block| 1 + function.num_arguments(block)).sum());
        if size == before {
            break;
        }
    }
    let analysis = in_form(function, symbols);
    count_loops(function, &analysis, &DataLayout::of_symbols(function.ctx(), symbols));
    simplify_cfg(function, false);
    Ok(())
}

/// The maximal number of repetitions.
const MAX_ROUNDS: usize = 8;

/// Simplifies, closes and rotates the loops of a function.
fn in_form(function: &mut Body, symbols: &SymbolTable) -> Analysis {
    let (mut analysis, _) = loop_simplify::loop_simplify(function, symbols, false);
    lcssa::lcssa(function, &analysis);
    loop_rotate::loop_rotate(function, &mut analysis, symbols, usize::MAX);
    analysis.settle();
    analysis
}
