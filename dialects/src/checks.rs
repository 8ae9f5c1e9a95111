//! Checks that several verifiers share: parents, terminators, and values that flow along
//! control-flow edges.

use loomir_ir::text::type_to_string;
use loomir_ir::verifier::op_error;
use loomir_ir::{Diagnostics, OpDef, OpRef, Type, Value};

/// Types of values.
pub(crate) fn types_of(op: OpRef<'_>, values: impl IntoIterator<Item = Value>) -> Vec<Type> {
    values.into_iter().map(|v| op.type_of(v)).collect()
}

/// Reports an operation whose parent is none of `parents`.
pub(crate) fn expect_parent(op: OpRef<'_>, parents: &[&'static OpDef], out: &mut Diagnostics) {
    if op.parent().is_some_and(|parent| parents.iter().any(|def| parent.is(def))) {
        return;
    }
    let names: Vec<&str> = parents.iter().map(|def| &*def.name).collect();
    let which = if names.len() == 1 { "" } else { "to be one of " };
    out.push(op_error(op, format!("expects parent op {which}'{}'", names.join(", "))));
}

/// Returns the last operation of the single block of region `index`.
pub(crate) fn terminator(op: OpRef<'_>, index: usize) -> Option<OpRef<'_>> {
    let body = op.body();
    let block = body.single_block(op.region(index))?;
    body.last_op(block).map(|last| body.op_ref(last))
}

/// Reports regions whose single block ends with another operation than `def`, which the custom form
/// leaves out.
pub(crate) fn expect_implicit_terminators(op: OpRef<'_>, def: &'static OpDef, out: &mut Diagnostics) {
    for index in 0..op.regions().len() {
        if let Some(last) = terminator(op, index)
            && !last.is(def)
        {
            let message = format!("expects regions to end with '{}', found '{}'", def.name, last.name());
            let note = format!("in custom textual format, the absence of terminator implies '{}'", def.name);
            out.push(op_error(op, message).note(op.loc(), note));
        }
    }
}

/// Reports regions whose entry block has arguments.
pub(crate) fn expect_no_region_arguments(op: OpRef<'_>, out: &mut Diagnostics) {
    for (index, region) in op.regions().enumerate() {
        if op.body().entry_block(region).is_some_and(|block| op.body().num_arguments(block) > 0) {
            out.push(op_error(op, format!("region #{index} should have no arguments")));
        }
    }
}

/// A control-flow edge into or out of a region of an operation: the source that passes values and
/// the target that receives them.
pub(crate) struct Edge<'a> {
    /// The source of the edge: the operation itself or a terminator in it.
    pub(crate) point: OpRef<'a>,
    /// The name of the target that receives the values: `parent`, `Region #0`.
    pub(crate) target: &'a str,
    /// The values passed.
    pub(crate) passed: Vec<Type>,
    /// The types that the target expects.
    pub(crate) expected: Vec<Type>,
}

/// Reports an edge that passes other types than its target expects.
pub(crate) fn check_edge(op: OpRef<'_>, edge: Edge<'_>, out: &mut Diagnostics) {
    let Edge { point, target, passed, expected } = edge;
    let source = if point.op() == op.op() { "parent".into() } else { format!("Operation {}", point.name()) };
    let problem = if passed.len() != expected.len() {
        let (passed, expected) = (passed.len(), expected.len());
        format!("region branch point has {passed} operands, but region successor needs {expected} inputs")
    } else if let Some(i) = (0..passed.len()).find(|i| passed[*i] != expected[*i]) {
        let name = |ty| type_to_string(op.ctx(), ty);
        let (passed, expected) = (name(passed[i]), name(expected[i]));
        format!("successor operand type #{i} '{passed}' should match successor input type #{i} '{expected}'")
    } else {
        return;
    };
    let message = format!("along control flow edge from {source} to {target}: {problem}");
    out.push(op_error(op, message).note(point.loc(), "region branch point"));
}

/// Reports loop-carried values that do not fit: initial values, arguments and results. `mismatch`
/// is the message for unequal numbers of arguments and results. Returns true if the numbers are
/// equal.
pub(crate) fn check_carried(
    op: OpRef<'_>,
    inits: &[Type],
    arguments: &[Type],
    mismatch: &str,
    out: &mut Diagnostics,
) -> bool {
    if inits.len() != arguments.len() {
        let (inits, arguments) = (inits.len(), arguments.len());
        let message = format!("different number of inits and region iter_args: {inits} != {arguments}");
        out.push(op_error(op, message));
        return false;
    }
    if inits.len() != op.num_results() {
        out.push(op_error(op, mismatch));
        return false;
    }
    for (i, argument) in arguments.iter().enumerate() {
        check_ith(op, i, ("init", inits[i]), ("region iter_arg", *argument), out);
        check_ith(op, i, ("region iter_arg", *argument), ("loop result", op.result_type(i)), out);
    }
    true
}

/// Reports the two types at index `i` if they differ. Each type comes with the name of its list.
pub(crate) fn check_ith(op: OpRef<'_>, i: usize, a: (&str, Type), b: (&str, Type), out: &mut Diagnostics) {
    if a.1 != b.1 {
        let name = |ty| type_to_string(op.ctx(), ty);
        let message = format!(
            "{i}-th {} and {i}-th {} have different type: '{}' != '{}'",
            a.0,
            b.0,
            name(a.1),
            name(b.1)
        );
        out.push(op_error(op, message));
    }
}

/// Reports regions whose terminators, if they are of `def`, yield other types than the results.
pub(crate) fn check_yields(op: OpRef<'_>, def: &'static OpDef, out: &mut Diagnostics) {
    let body = op.body();
    for region in op.regions() {
        for last in body.blocks(region).filter_map(|block| body.last_op(block)) {
            let point = body.op_ref(last);
            if point.is(def) {
                let (passed, expected) = (types_of(op, point.operands()), types_of(op, op.results()));
                check_edge(op, Edge { point, target: "parent", passed, expected }, out);
            }
        }
    }
}
