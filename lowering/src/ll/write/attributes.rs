//! Attributes of functions, parameters and results.

use loomir_ir::{Attr, AttrKind, Diagnostic, OpRef};

use super::names::quoted;
use super::{Module, type_text};
use crate::ll::attributes::{FLAGS, NUMBERS, PLACES, STRINGS, TYPES, WORDS, is_word_of_parameter};

/// Returns the attributes in the list `name`, which the dialect only passes through, as text.
pub(super) fn passed_through(m: &Module, op: OpRef<'_>, name: &str) -> Vec<String> {
    let ctx = &m.ctx;
    let mut all = Vec::new();
    for attr in op.attr(name).and_then(|list| list.as_array(ctx)).unwrap_or_default() {
        let pair = attr.as_array(ctx).map(|p| p.iter().filter_map(|a| a.as_str(ctx)).collect::<Vec<_>>());
        all.extend(match (attr.as_str(ctx), pair.as_deref()) {
            // A word with parentheses was kept as it was written.
            (Some(word), _) if WORDS.contains(&word) || word.ends_with(')') => Some(word.to_owned()),
            (Some(word), _) => Some(quoted(word.as_bytes())),
            (_, Some([key, value])) => {
                Some(format!("{}={}", quoted(key.as_bytes()), quoted(value.as_bytes())))
            }
            _ => None,
        });
    }
    all
}

/// Returns the attributes of a function, or of a call, as text.
pub(super) fn of_function(m: &Module, op: OpRef<'_>) -> Vec<String> {
    let ctx = &m.ctx;
    let mut all = passed_through(m, op, "passthrough");
    for (name, word) in FLAGS {
        if op.attr(name).is_some() && !all.iter().any(|a| a == word) {
            all.push((*word).to_owned());
        }
    }
    // LLVM asks for both.
    if all.iter().any(|a| a == "optnone") && !all.iter().any(|a| a == "noinline") {
        all.push("noinline".to_owned());
    }
    all.extend(op.attr("memory_effects").and_then(|effects| memory(m, effects)));
    for (name, key) in STRINGS {
        let value = match op.attr(name) {
            Some(Attr::TRUE) => "true",
            Some(Attr::FALSE) => "false",
            Some(attr) => match attr.as_str(ctx) {
                Some(text) => text,
                None => continue,
            },
            None => continue,
        };
        all.push(format!("\"{key}\"={}", quoted(value.as_bytes())));
    }
    all
}

/// `memory(…)` of `#llvm.memory_effects<other = none, argMem = read, …>`.
fn memory(m: &Module, attr: Attr) -> Option<String> {
    let effects: Vec<(String, String)> = match attr.kind(&m.ctx) {
        AttrKind::Opaque { body, .. } => {
            let inside = body.strip_prefix("memory_effects<")?.strip_suffix('>')?;
            let pair = |p: &str| p.split_once('=').map(|(k, v)| (k.trim().to_owned(), v.trim().to_owned()));
            inside.split(',').filter_map(pair).collect()
        }
        AttrKind::Dialect { params, .. } => {
            let text = |(name, attr): &(loomir_ir::Name, Attr)| {
                Some((m.ctx.str(*name).to_owned(), attr.as_str(&m.ctx)?.to_owned()))
            };
            params.entries(&m.ctx).iter().filter_map(text).collect()
        }
        _ => return None,
    };
    let effect = |place: &str| effects.iter().find(|(name, _)| name == place).map_or("readwrite", |(_, e)| e);
    let default = effect("other");
    let mut parts = Vec::new();
    for (place, word) in PLACES {
        if word.is_empty() || effect(place) != default {
            parts.push(if word.is_empty() {
                default.to_owned()
            } else {
                format!("{word}: {}", effect(place))
            });
        }
    }
    // Nothing but places with effects of their own: `none` is the default for the rest.
    if parts.len() > 1 && default == "none" {
        parts.remove(0);
    }
    Some(format!("memory({})", parts.join(", ")))
}

/// Returns the attributes of parameter or result `index`, as text.
pub(super) fn of_values(
    m: &mut Module,
    op: OpRef<'_>,
    list: &str,
    index: usize,
) -> Result<Vec<String>, Diagnostic> {
    let ctx = m.ctx.clone();
    let dictionary = op.attr(list).and_then(|all| all.as_array(&ctx)).and_then(|all| all.get(index));
    let Some(AttrKind::Dictionary(dictionary)) = dictionary.map(|d| d.kind(&ctx)) else {
        return Ok(Vec::new());
    };
    let mut all = Vec::new();
    for (name, attr) in dictionary.entries(&ctx) {
        let Some(name) = ctx.str(*name).strip_prefix("llvm.") else { continue };
        all.extend(match (name, attr.as_int(&ctx), attr.as_type(&ctx)) {
            // Kept as it was written.
            _ if attr.as_str(&ctx).is_some() => attr.as_str(&ctx).map(str::to_owned),
            ("align", Some(n), _) => Some(format!("align {n}")),
            (word, Some(n), _) if NUMBERS.contains(&word) => Some(format!("{word}({})", n.cast_unsigned())),
            (word, _, Some(ty)) if TYPES.contains(&word) => {
                Some(format!("{word}({})", type_text(m, op, ty)?))
            }
            ("nocapture", ..) => Some("captures(none)".to_owned()),
            (word, ..) if is_word_of_parameter(word) => Some(word.to_owned()),
            _ => None,
        });
    }
    Ok(all)
}
