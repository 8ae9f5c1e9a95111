//! The correspondence of the dialect's attributes and LLVM's words for functions, parameters and
//! results.

/// Attributes without a value, of functions; some also of parameters or results. LLVM before 16
/// said `argmemonly` and the like for `memory(argmem: readwrite)`; newer versions read them too.
pub(super) const WORDS: &[&str] = &[
    "alwaysinline",
    "argmemonly",
    "builtin",
    "cold",
    "convergent",
    "coro_elide_safe",
    "coro_only_destroy_when_complete",
    "disable_sanitizer_instrumentation",
    "fn_ret_thunk_extern",
    "hot",
    "hybrid_patchable",
    "inaccessiblemem_or_argmemonly",
    "inaccessiblememonly",
    "inlinehint",
    "jumptable",
    "minsize",
    "mustprogress",
    "naked",
    "nobuiltin",
    "nocallback",
    "nocf_check",
    "nocreateundeforpoison",
    "nodivergencesource",
    "noduplicate",
    "nofree",
    "noimplicitfloat",
    "noinline",
    "nomerge",
    "nonlazybind",
    "noprofile",
    "norecurse",
    "noredzone",
    "noreturn",
    "nosanitize_bounds",
    "nosanitize_coverage",
    "nosync",
    "nounwind",
    "null_pointer_is_valid",
    "optdebug",
    "optforfuzzing",
    "optnone",
    "optsize",
    "presplitcoroutine",
    "readnone",
    "readonly",
    "returns_twice",
    "safestack",
    "sanitize_address",
    "sanitize_alloc_token",
    "sanitize_hwaddress",
    "sanitize_memory",
    "sanitize_memtag",
    "sanitize_numerical_stability",
    "sanitize_realtime",
    "sanitize_realtime_blocking",
    "sanitize_thread",
    "sanitize_type",
    "shadowcallstack",
    "skipprofile",
    "speculatable",
    "speculative_load_hardening",
    "ssp",
    "sspreq",
    "sspstrong",
    "strictfp",
    "uwtable",
    "willreturn",
    "writeonly",
];

/// Attributes without a value, of parameters or results alone.
const PARAMETER_WORDS: &[&str] = &[
    "allocalign",
    "allocptr",
    "dead_on_return",
    "dead_on_unwind",
    "immarg",
    "inreg",
    "nest",
    "noalias",
    "noext",
    "nonnull",
    "noundef",
    "returned",
    "signext",
    "swiftasync",
    "swifterror",
    "swiftself",
    "writable",
    "zeroext",
];

/// Attributes of parameters or results alone that are kept as they are written.
const PARAMETER_TEXTS: &[&str] = &["captures", "initializes", "nocapture", "nofpclass", "range"];

/// Attributes of the dialect that correspond to a keyword of LLVM.
pub(super) const FLAGS: &[(&str, &str)] = &[
    ("no_inline", "noinline"),
    ("always_inline", "alwaysinline"),
    ("inline_hint", "inlinehint"),
    ("no_unwind", "nounwind"),
    ("will_return", "willreturn"),
    ("convergent", "convergent"),
    ("optimize_none", "optnone"),
];

/// Attributes of the dialect that correspond to a string attribute of LLVM.
pub(super) const STRINGS: &[(&str, &str)] = &[
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

/// Parameter attributes with a number in parentheses.
pub(super) const NUMBERS: &[&str] = &["dereferenceable", "dereferenceable_or_null", "alignstack"];

/// Parameter attributes with a type in parentheses.
pub(super) const TYPES: &[&str] = &["byval", "sret", "byref", "preallocated", "inalloca", "elementtype"];

/// Memory locations: the dialect's name and LLVM's keyword.
pub(super) const PLACES: [(&str, &str); 6] = [
    ("other", ""),
    ("argMem", "argmem"),
    ("inaccessibleMem", "inaccessiblemem"),
    ("errnoMem", "errnomem"),
    ("targetMem0", "target_mem0"),
    ("targetMem1", "target_mem1"),
];

/// True if a word without a value may be an attribute of a parameter or result.
pub(super) fn is_word_of_parameter(word: &str) -> bool {
    WORDS.contains(&word) || PARAMETER_WORDS.contains(&word)
}

/// True if an attribute belongs to parameters or results, and never to functions or calls.
pub(super) fn is_of_parameters(word: &str) -> bool {
    let has_value = NUMBERS.iter().chain(TYPES).any(|own| *own == word);
    let is_of_both = matches!(word, "alignstack" | "preallocated");
    PARAMETER_WORDS.contains(&word) || PARAMETER_TEXTS.contains(&word) || (has_value && !is_of_both)
}
