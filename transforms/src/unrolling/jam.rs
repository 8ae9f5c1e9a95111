//! The decision about unroll-and-jam: the number of copies of an outer loop that share an inner
//! loop. Its order of steps, limits and names follow LLVM's `LoopUnrollAndJam`.

use loomir_ir::pass::Options;

/// Facts about a loop around inner loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JamFacts {
    /// The number of operations of the outer loop with everything inside.
    pub size: u64,
    /// The number of operations of the largest innermost loop.
    pub inner_size: u64,
    /// The constant trip count of the outer loop.
    pub trip_count: Option<u64>,
    /// The constant trip count of that innermost loop.
    pub inner_trip_count: Option<u64>,
    /// True if an innermost loop loads what is the same in all iterations of the outer loop.
    pub shares_loads: bool,
    /// True if there is a condition in an inner loop.
    pub branches: bool,
}

/// Directives about unroll-and-jam at a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JamDirectives {
    /// `llvm.loop.unroll_and_jam.disable`.
    pub disable: bool,
    /// `llvm.loop.unroll_and_jam.enable`.
    pub enable: bool,
    /// `llvm.loop.unroll_and_jam.count`.
    pub count: Option<u64>,
    /// True if another directive asks for unrolling alone.
    pub left_to_unrolling: bool,
}

impl JamDirectives {
    /// True if a directive asks for unroll-and-jam.
    pub fn forces(&self) -> bool {
        !self.forbids() && (self.enable || self.count.is_some())
    }

    /// True if unroll-and-jam is forbidden.
    pub fn forbids(&self) -> bool {
        self.disable || self.count == Some(1) || self.left_to_unrolling
    }
}

/// Limits and permissions. Sizes count operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JamPreferences {
    /// The count that is asked for.
    pub count: Option<u64>,
    /// True if loops may be changed without a directive or a count.
    pub allow: bool,
    /// The size of the jammed inner loop must be smaller.
    pub inner_threshold: u64,
    /// The same for loops with a directive or a count.
    pub pragma_threshold: u64,
    /// The size that an inner loop must reach, unrolled completely, not to be left to unrolling.
    pub threshold: u64,
}

/// The options, with their defaults and meanings.
pub const JAM_OPTIONS: &[(&str, &str, &str)] = &[
    ("unroll-and-jam-count", "", "the count of loops around innermost loops, at most 64"),
    ("allow-unroll-and-jam", "false", "unroll and jam without a count or directive, if loads are shared"),
    ("unroll-and-jam-threshold", "60", "the size below which a jammed inner loop must be"),
    ("pragma-unroll-and-jam-threshold", "1024", "the same for loops with a count or a directive"),
    ("unroll-threshold", "150", "inner loops that are smaller, unrolled completely, stay"),
];

/// The operations of a loop's test, which copies share.
const TEST: u64 = 2;

/// The count that the decision begins with if none is asked for.
const USUAL: u64 = 4;

/// The maximal count. Each copy of a body is compared with each other one.
pub const MOST_JAMMED: u64 = 64;

impl JamPreferences {
    /// Reads preferences from the options of a pass.
    ///
    /// # Errors
    ///
    /// The option that is wrong, and why.
    pub fn of(options: &Options) -> Result<JamPreferences, String> {
        let count: Option<u64> = match options.get("unroll-and-jam-count") {
            Some(_) => Some(options.parse("unroll-and-jam-count", 0)?),
            None => None,
        };
        if let Some(count) = count.filter(|count| !(1..=MOST_JAMMED).contains(count)) {
            return Err(format!("'unroll-and-jam-count' is from 1 to {MOST_JAMMED}, not '{count}'"));
        }
        Ok(JamPreferences {
            count,
            allow: options.parse("allow-unroll-and-jam", false)?,
            inner_threshold: options.parse("unroll-and-jam-threshold", 60)?,
            pragma_threshold: options.parse("pragma-unroll-and-jam-threshold", 1024)?,
            threshold: options.parse("unroll-threshold", 150)?,
        })
    }
}

/// Returns the number of copies, at least two. `Ok(None)` if nothing asks for any. Constant time.
///
/// # Errors
///
/// The reason why a loop stays that was asked for, or that is a candidate.
pub fn decide_jam(
    facts: &JamFacts,
    directives: &JamDirectives,
    preferences: &JamPreferences,
) -> Result<Option<u64>, &'static str> {
    if directives.forbids() {
        return if preferences.count.is_some() { Err("a directive forbids it") } else { Ok(None) };
    }
    let asked = preferences.count.or(directives.count);
    let is_explicit = asked.is_some() || directives.enable;
    if !is_explicit && !preferences.allow || asked == Some(1) {
        return Ok(None);
    }
    let most = if is_explicit { preferences.pragma_threshold } else { preferences.inner_threshold };
    let per_copy = facts.inner_size.saturating_sub(TEST).max(1);
    let fitting = most.saturating_sub(TEST + 1) / per_copy;
    let count = asked.unwrap_or(USUAL).min(fitting).min(MOST_JAMMED);
    let count = facts.trip_count.map_or(count, |most| count.min(most));
    if facts.trip_count.is_some_and(|own| own < 2) {
        return Err("it runs at most once");
    }
    if count < 2 {
        return Err("its inner loop is too large");
    }
    if is_explicit {
        return Ok(Some(count));
    }
    let unrolled = facts.inner_trip_count.map(|count| count.saturating_mul(facts.inner_size));
    if unrolled.is_some_and(|size| size < preferences.threshold) {
        return Err("its inner loop is small enough to be unrolled completely");
    }
    if facts.branches {
        return Err("there is a condition in an inner loop");
    }
    if !facts.shares_loads {
        return Err("its iterations load nothing in common");
    }
    Ok(Some(count))
}
