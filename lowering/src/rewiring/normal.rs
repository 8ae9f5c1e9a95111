//! Functions brought into one form: what differs only in how control flow is laid out, or in how
//! loops count, becomes the same.
//!
//! Loops are simplified, closed and tested at their ends, first as they are and again when detours
//! are gone, since loops that do little without these would be left as they are. Those that do
//! nothing go. Each is counted by one variable (`counters`), and what was only there for the sake
//! of that goes again. Nothing here knows of fusion, and what is computed stays if anybody uses it.
//!
//! Cost: that of the passes it is made of.

use loomir_dialects::interp::layout::DataLayout;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Body, Diagnostics};

use super::counters::count_loops;
use crate::cfg::simplify_cfg::simplify_cfg;
use crate::cfg::{Analysis, branch, effects, lcssa, loop_deletion, loop_rotate, loop_simplify};

/// Brings a function of the `llvm` dialect, of a module with these symbols, into normal form.
///
/// # Errors
/// If it branches in a way that is not known.
pub fn normalise(function: &mut Body, symbols: &SymbolTable) -> Result<(), Diagnostics> {
    branch::all_known(function)?;
    let counted = loop_deletion::Counted::of(function, symbols);
    let mut blocks = 0;
    for _ in 0..MAX_ROUNDS {
        let mut analysis = in_form(function, symbols);
        loop_deletion::delete_loops(function, &mut analysis, &counted);
        // A block of what nobody uses is an empty one.
        effects::unused(function, false).into_iter().for_each(|op| function.erase(op));
        simplify_cfg(function, false);
        let before =
            std::mem::replace(&mut blocks, function.blocks(function.region(function.root(), 0)).count());
        if blocks == before {
            break;
        }
    }
    let analysis = in_form(function, symbols);
    count_loops(function, &analysis, &DataLayout::of_symbols(function.ctx(), symbols));
    simplify_cfg(function, false);
    Ok(())
}

/// So often what became possible is looked for, at most.
const MAX_ROUNDS: usize = 8;

/// Simplifies, closes and rotates the loops of a function.
fn in_form(function: &mut Body, symbols: &SymbolTable) -> Analysis {
    let (mut analysis, _) = loop_simplify::loop_simplify(function, symbols, false);
    lcssa::lcssa(function, &analysis);
    loop_rotate::loop_rotate(function, &mut analysis, symbols, usize::MAX);
    analysis.settle();
    analysis
}
