//! Branches on data: control flow that structured code cannot express otherwise.
//!
//! A loop that is left at several places tells by a result where control goes on, and a test of the
//! result follows. Written as branches again, the test stays, and every value that is alive passes
//! through it. A function with many such tests is slower than it was.
//!
//! # Limits
//!
//! - Results are traced through at most 16 constructs.

use hashbrown::HashMap;
use loomir_dialects::{llvm, scf};
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Body, Op, Trait, Value};

/// The maximal number of constructs in each other that a result is traced through.
const MAX_DEPTH: usize = 16;

/// Returns the number of branches in a raised function whose condition is a constant that a
/// construct before it has selected. Linear.
pub fn dispatches(raised: &Body) -> usize {
    let mut known = HashMap::new();
    let is_dispatch = |op: &Op| {
        let is_branch = [scf::IfOp::DEF, scf::IndexSwitchOp::DEF, scf::ConditionOp::DEF];
        is_branch.iter().any(|def| raised.is(*op, def))
            && raised.operands(*op).next().is_some_and(|condition| selects(raised, condition, 0, &mut known))
    };
    raised.all_ops().filter(is_dispatch).count()
}

/// True if a condition is a constant that a construct before has selected, or computed from one.
fn selects(raised: &Body, condition: Value, depth: usize, known: &mut HashMap<Value, bool>) -> bool {
    if let Some(is_selected) = known.get(&condition) {
        return *is_selected;
    }
    let Some(op) = raised.defining_op(condition).filter(|_| depth < MAX_DEPTH) else { return false };
    known.insert(condition, false);
    let is_constant = |value: Value| constant_of(raised, value).is_some();
    let is_selected = if raised.own_regions(op).len() > 0 {
        let at = raised.results(op).position(|result| result == condition).unwrap_or(0);
        let passed: Vec<Value> = ends(raised, op).filter_map(|end| passed(raised, end, at)).collect();
        passed.into_iter().any(|value| is_constant(value) || selects(raised, value, depth + 1, known))
    } else if raised.is(op, llvm::SelectOp::DEF) {
        raised.operands(op).skip(1).all(is_constant)
    } else {
        // Casts, and comparisons with a constant.
        let mut open = raised.operands(op).filter(|value| !is_constant(*value));
        let first = open.next().filter(|_| open.next().is_none() && raised.has_trait(op, Trait::Pure));
        first.is_some_and(|value| selects(raised, value, depth + 1, known))
    };
    known.insert(condition, is_selected);
    is_selected
}

/// Returns the terminators that end a construct.
fn ends(raised: &Body, op: Op) -> impl Iterator<Item = Op> + '_ {
    // The body of a loop leads back to its test.
    let regions = if raised.is(op, scf::WhileOp::DEF) { 1 } else { usize::MAX };
    let blocks = raised.own_regions(op).take(regions).filter_map(|region| raised.entry_block(region));
    blocks.filter_map(|block| raised.last_op(block))
}

/// Returns the value that a terminator passes on as a result.
fn passed(raised: &Body, end: Op, at: usize) -> Option<Value> {
    let is_test = raised.is(end, scf::ConditionOp::DEF);
    raised.operands(end).nth(at + usize::from(is_test))
}

#[cfg(test)]
mod tests {
    use loomir_ir::symbols::SymbolTable;
    use loomir_ir::{Context, Registry};

    use super::dispatches;
    use crate::{from_ll, raising};

    /// Returns the number of branches on data of the first function of a program.
    fn of(source: &str) -> usize {
        let mut registry = Registry::new();
        loomir_dialects::register_all(&mut registry);
        let module = from_ll(&Context::new(registry), source, "it.ll").expect("it reads");
        let function = module.all_ops().find_map(|op| module.nested(op)).expect("a function");
        dispatches(&raising::raise(function, &SymbolTable::of(&module)).expect("it is raised").body)
    }

    #[test]
    fn a_loop_that_only_its_test_leaves_needs_none() {
        let counted = "
define void @f(ptr %p, i64 %n) {
  br label %body
body:
  %i = phi i64 [ 0, %0 ], [ %next, %join ]
  %q = getelementptr i32, ptr %p, i64 %i
  %x = load i32, ptr %q
  %is = icmp eq i32 %x, 0
  br i1 %is, label %some, label %join
some:
  store i32 1, ptr %q
  br label %join
join:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %body, label %end
end:
  ret void
}";
        assert_eq!(of(counted), 0);
    }

    #[test]
    fn a_loop_with_two_ways_out_needs_a_test_behind_it() {
        let searching = "
define i32 @f(ptr %p, i64 %n) {
  br label %body
body:
  %i = phi i64 [ 0, %0 ], [ %next, %on ]
  %q = getelementptr i32, ptr %p, i64 %i
  %x = load i32, ptr %q
  %is = icmp eq i32 %x, 0
  br i1 %is, label %found, label %on
on:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %body, label %end
found:
  store i32 1, ptr %p
  ret i32 1
end:
  store i32 2, ptr %q
  ret i32 0
}";
        assert!(of(searching) > 0);
    }
}
