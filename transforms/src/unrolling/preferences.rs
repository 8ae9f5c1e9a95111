//! Limits of peeling and unrolling, and what is allowed.

use loomir_ir::pass::Options;

/// Limits and permissions. Sizes and costs count operations, as [`Facts::size`](super::Facts) does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Preferences {
    /// The unroll count that is asked for.
    pub count: Option<u64>,
    /// The number of iterations to peel that is asked for.
    pub peel_count: Option<u64>,
    /// A number of iterations that is peeled regardless of everything.
    pub force_peel_count: Option<u64>,
    /// The size of a completely unrolled loop must be smaller.
    pub threshold: u64,
    /// The size of a partially unrolled loop is at most this.
    pub partial_threshold: u64,
    /// The maximal factor on `threshold`, in percent, if full unrolling saves that much work.
    pub max_percent_threshold_boost: u64,
    /// The maximal number of iterations that are simulated.
    pub max_iteration_count_to_analyze: u64,
    /// The threshold for loops with a directive.
    pub pragma_threshold: u64,
    /// The maximal trip count that a directive to unroll completely is obeyed for.
    pub pragma_full_max_iterations: u64,
    /// The maximal count of full unrolling.
    pub full_max_count: u64,
    /// The maximal count of partial unrolling.
    pub max_count: u64,
    /// The maximal upper bound of a trip count that a loop is unrolled completely by.
    pub max_upperbound: u64,
    /// Loops that run fewer iterations, by a profile, keep a run-time trip count.
    pub flat_loop_tripcount_threshold: u64,
    /// The count of run-time unrolling, where nothing else says one.
    pub default_runtime_count: u64,
    /// The operations of the test at a loop's end, which unrolling removes.
    pub backedge_size: u64,
    /// The maximal number of peeled iterations.
    pub peel_max_count: u64,
    /// True if loops may be unrolled partially.
    pub allow_partial: bool,
    /// True if a partially unrolled loop may have a remainder.
    pub allow_remainder: bool,
    /// True if loops may be unrolled whose trip count is known at run time only.
    pub runtime: bool,
    /// True if loops may be unrolled completely by an upper bound of their trip count.
    pub upperbound: bool,
    /// True if iterations may be peeled.
    pub allow_peeling: bool,
    /// True if iterations may be peeled because a profile says that there are few.
    pub allow_profile_peeling: bool,
    /// True if loops with inner loops may be peeled.
    pub allow_loop_nests_peeling: bool,
    /// True if the remainder of a run-time unrolled loop is unrolled too.
    pub unroll_remainder: bool,
    /// The place of the remainder: behind the loop if true, before it if false.
    pub runtime_epilog: Option<bool>,
    /// True if loops with several exits may be unrolled at run time.
    pub runtime_multi_exit: Option<bool>,
    /// True if an exit other than the latch is taken to be predictable.
    pub runtime_other_exit_predictable: bool,
    /// True if each copy may combine numbers with an accumulator of its own.
    pub add_parallel_reductions: bool,
    /// True if only full unrolling is wanted.
    pub only_full: bool,
    /// True if only loops with a directive are unrolled.
    pub only_forced: bool,
    /// True if a remark for each loop lists the steps of its decision.
    pub explain: bool,
}

/// The options, with their defaults and meanings, in the order of their importance.
pub const OPTIONS: &[(&str, &str, &str)] = &[
    ("unroll-count", "", "the unroll count of all loops, whatever directives say"),
    ("unroll-peel-count", "", "the number of iterations to peel off all loops"),
    ("unroll-force-peel-count", "", "the same, regardless of limits"),
    ("unroll-threshold", "150", "the size below which a completely unrolled loop must be"),
    ("unroll-partial-threshold", "150", "the maximal size of a partially unrolled loop"),
    ("unroll-allow-partial", "false", "unroll partially, up to that size"),
    ("unroll-runtime", "false", "unroll loops whose trip count is known at run time only"),
    ("unroll-allow-remainder", "true", "let a remainder loop run the iterations left over"),
    ("unroll-remainder", "false", "unroll the remainder loop too"),
    ("unroll-runtime-epilog", "", "put the remainder behind the loop (true) or before it (false)"),
    ("unroll-runtime-multi-exit", "", "unroll loops with several exits at run time"),
    ("unroll-runtime-other-exit-predictable", "false", "take exits but the latch for predictable"),
    ("unroll-add-parallel-reductions", "false", "on graphs, give each copy accumulators of its own"),
    ("unroll-upperbound", "false", "unroll completely by an upper bound of the trip count"),
    ("unroll-max-upperbound", "8", "the maximal upper bound to unroll completely by"),
    ("unroll-full-max-count", "", "the maximal count of full unrolling"),
    ("unroll-max-count", "", "the maximal count of partial unrolling"),
    ("unroll-max-percent-threshold-boost", "400", "the maximal factor on the threshold, by saved work"),
    ("unroll-max-iteration-count-to-analyze", "10", "the maximal number of iterations to simulate"),
    ("unroll-allow-peeling", "true", "peel iterations where that simplifies the rest"),
    ("unroll-allow-profile-peeling", "true", "peel loops that run few iterations, by a profile"),
    ("unroll-allow-loop-nests-peeling", "false", "peel loops with inner loops"),
    ("unroll-peel-max-count", "7", "the maximal number of peeled iterations"),
    ("flat-loop-tripcount-threshold", "5", "loops with fewer iterations, by a profile, stay"),
    ("pragma-unroll-threshold", "16384", "the threshold for loops with a directive"),
    ("pragma-unroll-full-max-iterations", "1000000", "the maximal trip count of a full directive"),
    ("opt-level", "2", "the level of optimization; from 3 on, the threshold is 300"),
    ("explain", "false", "print the steps of each decision as a remark"),
    ("only-when-forced", "false", "unroll only loops with a directive"),
];

impl Default for Preferences {
    fn default() -> Preferences {
        Preferences {
            count: None,
            peel_count: None,
            force_peel_count: None,
            threshold: 150,
            partial_threshold: 150,
            max_percent_threshold_boost: 400,
            max_iteration_count_to_analyze: 10,
            pragma_threshold: 16384,
            pragma_full_max_iterations: 1_000_000,
            full_max_count: u64::MAX,
            max_count: u64::MAX,
            max_upperbound: 8,
            flat_loop_tripcount_threshold: 5,
            default_runtime_count: 8,
            backedge_size: 2,
            peel_max_count: 7,
            allow_partial: false,
            allow_remainder: true,
            runtime: false,
            upperbound: false,
            allow_peeling: true,
            allow_profile_peeling: true,
            allow_loop_nests_peeling: false,
            unroll_remainder: false,
            runtime_epilog: None,
            runtime_multi_exit: None,
            runtime_other_exit_predictable: false,
            add_parallel_reductions: false,
            only_full: false,
            only_forced: false,
            explain: false,
        }
    }
}

impl Preferences {
    /// Reads preferences from the options of a pass.
    ///
    /// # Errors
    ///
    /// The option that is wrong, and why.
    pub fn of(options: &Options) -> Result<Preferences, String> {
        let known = Preferences::default();
        let level: u32 = options.parse("opt-level", 2)?;
        let given = |name: &str| options.get(name).map(|_| options.parse(name, 0)).transpose();
        let flag = |name: &str| options.get(name).map(|_| options.parse(name, false)).transpose();
        let usual = if level > 2 { 300 } else { known.threshold };
        let preferences = Preferences {
            count: given("unroll-count")?,
            peel_count: given("unroll-peel-count")?,
            force_peel_count: given("unroll-force-peel-count")?,
            threshold: options.parse("unroll-threshold", usual)?,
            partial_threshold: options.parse("unroll-partial-threshold", known.partial_threshold)?,
            max_percent_threshold_boost: options
                .parse("unroll-max-percent-threshold-boost", known.max_percent_threshold_boost)?,
            max_iteration_count_to_analyze: options
                .parse("unroll-max-iteration-count-to-analyze", known.max_iteration_count_to_analyze)?,
            pragma_threshold: options.parse("pragma-unroll-threshold", known.pragma_threshold)?,
            pragma_full_max_iterations: options
                .parse("pragma-unroll-full-max-iterations", known.pragma_full_max_iterations)?,
            full_max_count: options.parse("unroll-full-max-count", known.full_max_count)?,
            max_count: options.parse("unroll-max-count", known.max_count)?,
            max_upperbound: options.parse("unroll-max-upperbound", known.max_upperbound)?,
            flat_loop_tripcount_threshold: options
                .parse("flat-loop-tripcount-threshold", known.flat_loop_tripcount_threshold)?,
            peel_max_count: options.parse("unroll-peel-max-count", known.peel_max_count)?,
            allow_partial: options.parse("unroll-allow-partial", known.allow_partial)?,
            allow_remainder: options.parse("unroll-allow-remainder", known.allow_remainder)?,
            runtime: options.parse("unroll-runtime", known.runtime)?,
            upperbound: options.parse("unroll-upperbound", known.upperbound)?,
            allow_peeling: options.parse("unroll-allow-peeling", known.allow_peeling)?,
            allow_profile_peeling: options
                .parse("unroll-allow-profile-peeling", known.allow_profile_peeling)?,
            allow_loop_nests_peeling: options
                .parse("unroll-allow-loop-nests-peeling", known.allow_loop_nests_peeling)?,
            unroll_remainder: options.parse("unroll-remainder", known.unroll_remainder)?,
            runtime_epilog: flag("unroll-runtime-epilog")?,
            runtime_multi_exit: flag("unroll-runtime-multi-exit")?,
            runtime_other_exit_predictable: options
                .parse("unroll-runtime-other-exit-predictable", known.runtime_other_exit_predictable)?,
            add_parallel_reductions: options
                .parse("unroll-add-parallel-reductions", known.add_parallel_reductions)?,
            only_forced: options.parse("only-when-forced", known.only_forced)?,
            explain: options.parse("explain", known.explain)?,
            ..known
        };
        if preferences.count.is_some() && preferences.peel_count.is_some() {
            return Err("'unroll-count' and 'unroll-peel-count' exclude each other".to_owned());
        }
        Ok(preferences)
    }

    /// The preferences of full unrolling alone, as before inlining.
    #[must_use]
    pub fn only_full(self) -> Preferences {
        Preferences {
            allow_partial: false,
            runtime: false,
            upperbound: false,
            allow_profile_peeling: false,
            only_full: true,
            ..self
        }
    }
}
