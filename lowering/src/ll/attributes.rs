//! Attributes of functions, parameters and results.

use loomir_ir::{Attr, AttrKind, Diagnostic, OpRef};

use super::Module;
use super::function::type_text;
use super::names::quoted;

/// Attributes that are a word alone, of functions, parameters or results.
const WORDS: &[&str] = &[
    "allocalign",
    "allocptr",
    "alwaysinline",
    "builtin",
    "cold",
    "convergent",
    "disable_sanitizer_instrumentation",
    "fn_ret_thunk_extern",
    "hot",
    "hybrid_patchable",
    "immarg",
    "inlinehint",
    "inreg",
    "jumptable",
    "minsize",
    "mustprogress",
    "naked",
    "nest",
    "noalias",
    "nobuiltin",
    "nocallback",
    "nocf_check",
    "nodivergencesource",
    "noduplicate",
    "nofree",
    "noimplicitfloat",
    "noinline",
    "nomerge",
    "nonlazybind",
    "nonnull",
    "noprofile",
    "norecurse",
    "noredzone",
    "noreturn",
    "nosanitize_bounds",
    "nosanitize_coverage",
    "nosync",
    "noundef",
    "nounwind",
    "null_pointer_is_valid",
    "optdebug",
    "optforfuzzing",
    "optnone",
    "optsize",
    "presplitcoroutine",
    "readnone",
    "readonly",
    "returned",
    "returns_twice",
    "safestack",
    "sanitize_address",
    "sanitize_hwaddress",
    "sanitize_memory",
    "sanitize_memtag",
    "sanitize_thread",
    "shadowcallstack",
    "signext",
    "skipprofile",
    "speculatable",
    "speculative_load_hardening",
    "ssp",
    "sspreq",
    "sspstrong",
    "strictfp",
    "swiftasync",
    "swifterror",
    "swiftself",
    "willreturn",
    "writable",
    "writeonly",
    "zeroext",
];

/// Attributes of the dialect that are a word of LLVM.
const FLAGS: &[(&str, &str)] = &[
    ("no_inline", "noinline"),
    ("always_inline", "alwaysinline"),
    ("inline_hint", "inlinehint"),
    ("no_unwind", "nounwind"),
    ("will_return", "willreturn"),
    ("convergent", "convergent"),
    ("optimize_none", "optnone"),
];

/// Attributes of the dialect that are a string attribute of LLVM.
const STRINGS: &[(&str, &str)] = &[
    ("target_cpu", "target-cpu"),
    ("tune_cpu", "tune-cpu"),
    ("reciprocal_estimates", "reciprocal-estimates"),
    ("prefer_vector_width", "prefer-vector-width"),
    ("no_infs_fp_math", "no-infs-fp-math"),
    ("no_nans_fp_math", "no-nans-fp-math"),
    ("no_signed_zeros_fp_math", "no-signed-zeros-fp-math"),
    ("denormal_fp_math", "denormal-fp-math"),
    ("denormal_fp_math_f32", "denormal-fp-math-f32"),
    ("fp_contract", "fp-contract"),
    ("instrument_function_entry", "instrument-function-entry"),
    ("instrument_function_exit", "instrument-function-exit"),
];

/// Attributes of a function, or of a call, as text.
pub(super) fn of_function(m: &Module, op: OpRef<'_>) -> Vec<String> {
    let ctx = &m.ctx;
    let mut all = Vec::new();
    for attr in op.attr("passthrough").and_then(|p| p.as_array(ctx)).unwrap_or_default() {
        let pair = attr.as_array(ctx).map(|p| p.iter().filter_map(|a| a.as_str(ctx)).collect::<Vec<_>>());
        all.extend(match (attr.as_str(ctx), pair.as_deref()) {
            (Some(word), _) if WORDS.contains(&word) => Some(word.to_owned()),
            (Some(word), _) => Some(quoted(word.as_bytes())),
            (_, Some([key, value])) => {
                Some(format!("{}={}", quoted(key.as_bytes()), quoted(value.as_bytes())))
            }
            _ => None,
        });
    }
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
    const PLACES: [(&str, &str); 6] = [
        ("other", ""),
        ("argMem", "argmem: "),
        ("inaccessibleMem", "inaccessiblemem: "),
        ("errnoMem", "errnomem: "),
        ("targetMem0", "target_mem0: "),
        ("targetMem1", "target_mem1: "),
    ];
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
            parts.push(format!("{word}{}", effect(place)));
        }
    }
    // Nothing but places with effects of their own: `none` for the rest goes without saying.
    if parts.len() > 1 && default == "none" {
        parts.remove(0);
    }
    Some(format!("memory({})", parts.join(", ")))
}

/// The attributes of parameter or result `index`, as text.
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
            ("align", Some(n), _) => Some(format!("align {n}")),
            ("dereferenceable" | "dereferenceable_or_null" | "alignstack", Some(n), _) => {
                Some(format!("{name}({n})"))
            }
            ("byval" | "sret" | "byref" | "preallocated" | "inalloca" | "elementtype", _, Some(ty)) => {
                Some(format!("{name}({})", type_text(m, op, ty)?))
            }
            ("nocapture", ..) => Some("captures(none)".to_owned()),
            (word, ..) if WORDS.contains(&word) => Some(word.to_owned()),
            _ => None,
        });
    }
    Ok(all)
}
