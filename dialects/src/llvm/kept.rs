//! Attributes that are kept as written: facts about memory, about loops, and about the data layout.

use loomir_ir::Registry;

/// Places of memory in `#llvm.memory_effects`.
const PLACES: [&str; 6] = ["other", "argMem", "inaccessibleMem", "errnoMem", "targetMem0", "targetMem1"];

/// The effects that a memory location may be subject to.
const EFFECTS: [&str; 4] = ["none", "read", "write", "readwrite"];

/// Fields of `#llvm.loop_annotation` and of the groups in it.
const ANNOTATIONS: [(&str, &[&str]); 10] = [
    (
        "",
        &[
            "disableNonforced",
            "vectorize",
            "interleave",
            "unroll",
            "unrollAndJam",
            "licm",
            "distribute",
            "pipeline",
            "peeled",
            "unswitch",
            "mustProgress",
            "isVectorized",
            "startLoc",
            "endLoc",
            "parallelAccesses",
        ],
    ),
    (
        "vectorize",
        &[
            "disable",
            "predicateEnable",
            "scalableEnable",
            "width",
            "followupVectorized",
            "followupEpilogue",
            "followupAll",
        ],
    ),
    ("interleave", &["count"]),
    (
        "unroll",
        &[
            "disable",
            "count",
            "runtimeDisable",
            "full",
            "followupUnrolled",
            "followupRemainder",
            "followupAll",
        ],
    ),
    (
        "unrollAndJam",
        &[
            "disable",
            "count",
            "followupOuter",
            "followupInner",
            "followupRemainderOuter",
            "followupRemainderInner",
            "followupAll",
        ],
    ),
    ("licm", &["disable", "versioningDisable"]),
    (
        "distribute",
        &["disable", "followupCoincident", "followupSequential", "followupFallback", "followupAll"],
    ),
    ("pipeline", &["disable", "initiationinterval"]),
    ("peeled", &["count"]),
    ("unswitch", &["partialDisable"]),
];

pub(super) fn register(registry: &mut Registry) {
    registry.kept_attribute("llvm.memory_effects", are_effects);
    registry.kept_attribute("llvm.loop_annotation", is_annotation);
    registry.kept_attribute("dlti.dl_spec", is_layout);
    // The groups alone, as MLIR's aliases name them.
    registry.kept_attribute("llvm.loop_vectorize", |text| are_fields("vectorize", text, false));
    registry.kept_attribute("llvm.loop_interleave", |text| are_fields("interleave", text, false));
    registry.kept_attribute("llvm.loop_unroll", |text| are_fields("unroll", text, false));
    registry.kept_attribute("llvm.loop_unroll_and_jam", |text| are_fields("unrollAndJam", text, false));
    registry.kept_attribute("llvm.loop_licm", |text| are_fields("licm", text, false));
    registry.kept_attribute("llvm.loop_distribute", |text| are_fields("distribute", text, false));
    registry.kept_attribute("llvm.loop_pipeline", |text| are_fields("pipeline", text, false));
    registry.kept_attribute("llvm.loop_peeled", |text| are_fields("peeled", text, false));
    registry.kept_attribute("llvm.loop_unswitch", |text| are_fields("unswitch", text, false));
}

/// Returns the parts between the top-level commas inside a pair of angle brackets.
fn parts(text: &str) -> Option<Vec<&str>> {
    let inside = text.trim().strip_prefix('<')?.strip_suffix('>')?;
    let (mut depth, mut start, mut parts) = (0u32, 0, Vec::new());
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'<' | b'[' | b'(' => depth += 1,
            b'>' | b']' | b')' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                parts.push(inside[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(inside[start..].trim());
    (depth == 0).then_some(parts)
}

fn are_effects(text: &str) -> bool {
    let is_effect = |part: &&str| {
        part.split_once('=')
            .is_some_and(|(place, effect)| PLACES.contains(&place.trim()) && EFFECTS.contains(&effect.trim()))
    };
    parts(text).is_some_and(|parts| parts.iter().all(is_effect))
}

fn is_layout(text: &str) -> bool {
    let is_entry = |part: &str| part.contains('=') || part.is_empty();
    parts(text).is_some_and(|parts| parts.into_iter().all(is_entry))
}

fn is_annotation(text: &str) -> bool {
    are_fields("", text, true)
}

/// Returns true if a group has only permitted fields.
fn are_fields(group: &str, text: &str, may_have_groups: bool) -> bool {
    let Some((_, known)) = ANNOTATIONS.iter().find(|(name, _)| *name == group) else { return false };
    let Some(parts) = parts(text) else { return false };
    let mut last = "";
    parts.into_iter().all(|part| {
        let Some((field, value)) = part.split_once('=').filter(|(field, _)| !field.contains('<')) else {
            // The list continues, or the text is empty.
            return part.is_empty() || last == "parallelAccesses";
        };
        last = field.trim();
        let value = value.trim();
        let is_group = may_have_groups && value.starts_with('<') && last != "parallelAccesses";
        known.contains(&last) && (!is_group || are_fields(last, value, false))
    })
}
