//! Alias scopes of accesses that a run-time check found apart.
//!
//! An access lists numbers ([`APART`]): that of its check, of its own object, and of the objects
//! apart from it. Each check of a function has a domain, and each object a scope in it. What the
//! program says of aliases at an access stays, and then nothing is added.

use std::fmt::Write;

use loomir_ir::OpRef;
use loomir_transforms::marks::APART;

use super::Module;
use super::line::Line;
use crate::ll::kept_metadata;

/// Writes the attachments of a load or store, each behind a comma.
pub(super) fn write(line: &mut Line<'_>, op: OpRef<'_>) {
    let Some(numbers) = numbers(op) else { return };
    let is_kept = ["alias.scope", "noalias"].into_iter().any(|kind| kept_metadata(op, kind).is_some());
    let [check, own, apart @ ..] = &numbers[..] else { return };
    if is_kept {
        return;
    }
    line.is_unlike_others();
    let (own, apart) = (list(line.m, op, *check, &[*own]), list(line.m, op, *check, apart));
    let _ = write!(line, ", !alias.scope {own}, !noalias {apart}");
}

/// Returns the scopes that a call of `llvm.experimental.noalias.scope.decl` declares.
pub(super) fn of_declaration(line: &mut Line<'_>, op: OpRef<'_>) -> Option<String> {
    let numbers = numbers(op)?;
    let (check, objects) = numbers.split_first()?;
    line.is_unlike_others();
    Some(list(line.m, op, *check, objects))
}

fn numbers(op: OpRef<'_>) -> Option<Vec<i64>> {
    let list = op.attr(APART)?.as_array(op.ctx())?;
    list.iter().map(|number| number.as_int(op.ctx())).collect()
}

/// Returns the node that lists the scopes of some objects.
fn list(m: &mut Module, op: OpRef<'_>, check: i64, objects: &[i64]) -> String {
    let root = op.body().root_ref();
    let function = root.attr("sym_name").and_then(|name| name.as_str(op.ctx())).unwrap_or_default();
    let key = format!("check {check} of {function}");
    let domain = m.metadata.distinct(&key, ", !\"loomir\"");
    let scopes = objects.iter().map(|object| {
        let own = m.metadata.distinct(&format!("object {object}, {key}"), &format!(", !{domain}"));
        format!("!{own}")
    });
    let scopes: Vec<String> = scopes.collect();
    format!("!{}", m.metadata.node(&format!("!{{{}}}", scopes.join(", "))))
}
