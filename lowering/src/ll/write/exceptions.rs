//! Calls that may unwind, landing pads and other pads, and branches to addresses.

use loomir_dialects::llvm::types::LlvmType;
use loomir_ir::OpRef;

use super::constants::constant_value;
use super::line::{Line, Written};
use super::metadata::weights;
use super::{calls, no_text};

/// Writes one of these instructions.
pub(super) fn write(line: &mut Line<'_>, op: OpRef<'_>, mnemonic: &str) -> Written {
    match mnemonic {
        "invoke" => {
            calls::invoke(line, op)?;
            weights(line, op);
            Ok(())
        }
        "indirectbr" => {
            line.put("indirectbr ");
            line.typed(op, 0)?;
            line.put(", ");
            calls::targets(line, op, 0..op.successors().len())
        }
        "catchpad" | "cleanuppad" => {
            line.put(mnemonic);
            line.put(" within ");
            line.operand(op, 0)?;
            line.put(" [");
            line.all_typed(op, 1..op.num_operands())?;
            line.put("]");
            Ok(())
        }
        "catchswitch" => {
            let unwinds = usize::from(op.attr("unwinds").is_some());
            line.put("catchswitch within ");
            line.operand(op, 0)?;
            line.put(" ");
            let handlers = op.successors().len().saturating_sub(unwinds);
            calls::targets(line, op, 0..handlers)?;
            unwind(line, op, handlers)
        }
        "catchret" => {
            line.put("catchret from ");
            line.operand(op, 0)?;
            line.put(" to ");
            line.target(op, 0)
        }
        "cleanupret" => {
            line.put("cleanupret from ");
            line.operand(op, 0)?;
            unwind(line, op, 0)
        }
        "landingpad" => landingpad(line, op),
        "resume" => {
            line.put("resume ");
            line.typed(op, 0)
        }
        _ => Err(no_text(op, "is unknown here and")),
    }
}

/// Writes where an exception goes on: to a successor if there is one, else to the callers.
fn unwind(line: &mut Line<'_>, op: OpRef<'_>, index: usize) -> Written {
    if index >= op.successors().len() {
        line.put(" unwind to caller");
        return Ok(());
    }
    line.put(" unwind ");
    line.target(op, index)
}

/// Writes a landing pad. Its clauses are constants, written out.
fn landingpad(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    line.is_unlike_others();
    line.put("landingpad ");
    line.ty(op, op.result_type(0))?;
    if op.attr("cleanup").is_some() {
        line.put("\n          cleanup");
    }
    for clause in op.operands() {
        let ty = op.type_of(clause);
        let is_filter = matches!(LlvmType::of(op.ctx(), ty), Some(LlvmType::Array { .. }));
        line.put(if is_filter { "\n          filter " } else { "\n          catch " });
        line.ty(op, ty)?;
        let value = constant_value(line.m, op, clause)?;
        line.put(" ");
        line.put(&value);
    }
    Ok(())
}
