//! The decision: how often a loop is unrolled, or how many iterations are peeled.
//!
//! ```text
//!  peel count asked for ─ count asked for ─ directive ─ full ─ full by an upper bound
//!                                 ─ peel ─ partial (constant trip count) ─ at run time
//! ```
//!
//! The first step with an answer decides. Each step is recorded with its figures, so that
//! `loomir explain --unroll` can print the way to a decision.

use super::Preferences;

/// Facts about one loop. Trip counts are those of one run of the loop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The number of operations, as LLVM counts them: constants and arguments are free.
    pub size: u64,
    /// The constant trip count, at the smallest of the loop's exits with one.
    pub trip_count: Option<u64>,
    /// An upper bound of the trip count.
    pub max_trip_count: Option<u64>,
    /// True if the trip count is that upper bound, or no iteration runs behind the first test.
    pub max_or_zero: bool,
    /// A divisor of the trip count.
    pub trip_multiple: u64,
    /// The number of iterations that a profile estimates.
    pub estimated_trip_count: Option<u64>,
    /// The number of iterations that are peeled already.
    pub already_peeled: u64,
    /// True if no loop is inside.
    pub is_innermost: bool,
    /// True if the function is to be small.
    pub for_size: bool,
    /// Why no copies can be made, if that is so.
    pub fixed: Option<&'static str>,
    /// True if a remainder would bring operations apart that threads reach together.
    pub no_remainder: bool,
}

/// Directives at a loop: pragmas, or LLVM's metadata.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// `llvm.loop.unroll.disable`: not to be unrolled.
    pub disable: bool,
    /// `llvm.loop.unroll.enable`: to be unrolled, as much as fits.
    pub enable: bool,
    /// `llvm.loop.unroll.full`: to be unrolled completely.
    pub full: bool,
    /// `llvm.loop.unroll.count`.
    pub count: Option<u64>,
    /// `llvm.loop.unroll.runtime.disable`.
    pub runtime_disable: bool,
    /// `llvm.loop.disable_nonforced`: only what another directive asks for.
    pub disable_nonforced: bool,
    /// True if this loop or the one around it is to be unrolled and jammed, which comes first.
    pub left_to_jam: bool,
}

impl Directives {
    /// True if a directive asks for unrolling.
    pub fn forces(&self) -> bool {
        self.enable || self.full || self.count.is_some_and(|count| count > 1)
    }

    /// True if unrolling is forbidden.
    pub fn forbids(&self) -> bool {
        self.disable || self.count == Some(1) || (self.disable_nonforced && !self.forces())
    }
}

/// The cost of a loop unrolled completely, simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Operations that are left.
    pub unrolled: u64,
    /// Operations that the rolled loop executes.
    pub rolled: u64,
}

/// Answers about a loop that cost something. Each is asked at most once or twice.
pub trait Questions {
    /// Simulates a full unrolling. `None` if nothing is saved, or if the cost exceeds `budget`.
    fn full_unroll_cost(&mut self, trip_count: u64, budget: u64) -> Option<Cost>;

    /// Returns the number of first iterations, at most `max`, whose peeling makes values carried
    /// around the loop invariant, conditions known, or loads safe to hoist. Zero if there is none.
    fn peel_count(&mut self, max: u64) -> u64;
}

/// One step of a decision: what was asked, with its figures, and the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The name of the step.
    pub name: &'static str,
    /// The figures and the answer.
    pub text: String,
}

/// The change of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// None.
    Keep,
    /// Peels iterations.
    Peel {
        /// The number of first iterations.
        first: u64,
        /// True if a profile or a request decided. The loop is then not looked at again.
        profiled: bool,
    },
    /// Unrolls the loop completely.
    Full {
        /// The trip count, or an upper bound of it.
        count: u64,
    },
    /// Unrolls the loop by a count, with tests in some copies if it doesn't divide the trip count.
    Partial {
        /// The count. At least two.
        count: u64,
    },
    /// Unrolls the loop by a count, with a remainder.
    Runtime {
        /// The count. At least two.
        count: u64,
        /// True if the number of iterations may be expensive to compute.
        expensive: bool,
        /// True if a request or a directive names the count. If there can't be a remainder, every
        /// copy tests whether the loop ends.
        forced: bool,
    },
}

/// A missed remark: its name, which is LLVM's, and its text.
pub type Missed = (&'static str, String);

/// A decision about one loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The change.
    pub action: Action,
    /// True if a request or a directive decided. The loop is then marked as unrolled.
    pub is_explicit: bool,
    /// The way to the decision.
    pub steps: Vec<Step>,
    /// Directives that could not be obeyed.
    pub missed: Vec<Missed>,
}

/// Decides about one loop. Constant time, apart from the questions.
pub fn decide(
    facts: &Facts,
    directives: &Directives,
    preferences: &Preferences,
    ask: &mut dyn Questions,
) -> Decision {
    let mut wanted = preferences.clone();
    if facts.for_size && !directives.forces() {
        (wanted.threshold, wanted.partial_threshold) = (0, 0);
        wanted.max_percent_threshold_boost = 100;
    }
    if facts.for_size {
        wanted.threshold = wanted.threshold.max(facts.size + 1);
    }
    wanted.allow_remainder &= !facts.no_remainder;
    let mut deciding = Deciding {
        facts,
        directives,
        wanted,
        asked: preferences,
        is_explicit: directives.forces() || preferences.count.is_some(),
        steps: Vec::new(),
        missed: Vec::new(),
    };
    let action = deciding.run(ask);
    let Deciding { is_explicit, steps, missed, .. } = deciding;
    Decision { action, is_explicit: is_explicit && action != Action::Keep, steps, missed }
}

struct Deciding<'a> {
    facts: &'a Facts,
    directives: &'a Directives,
    /// The preferences, as directives and sizes change them.
    wanted: Preferences,
    asked: &'a Preferences,
    is_explicit: bool,
    steps: Vec<Step>,
    missed: Vec<Missed>,
}

impl Deciding<'_> {
    fn say(&mut self, name: &'static str, text: String) {
        self.steps.push(Step { name, text });
    }

    /// Returns the size of the loop unrolled `count` times.
    fn unrolled_size(&self, count: u64) -> u64 {
        let test = self.wanted.backedge_size;
        self.size().saturating_sub(test).saturating_mul(count).saturating_add(test)
    }

    /// Returns the size of the loop, which is greater than that of its test.
    fn size(&self) -> u64 {
        self.facts.size.max(self.wanted.backedge_size + 1)
    }

    fn run(&mut self, ask: &mut dyn Questions) -> Action {
        if let Some(why) = self.blocked() {
            self.say("eligible", format!("no: {why}"));
            return Action::Keep;
        }
        self.say("eligible", format!("yes: {} operations", self.size()));
        let action = self.by_request().or_else(|| self.by_directive());
        let action = action.or_else(|| self.full(ask)).or_else(|| self.full_by_bound(ask));
        let action = action.or_else(|| self.peel(ask));
        let action = action.unwrap_or_else(|| match self.facts.trip_count {
            Some(trip_count) => self.partial(trip_count),
            None => self.at_run_time(),
        });
        let copies = match action {
            Action::Keep => 0,
            Action::Peel { first, .. } => first,
            Action::Full { count } | Action::Partial { count } | Action::Runtime { count, .. } => count,
        };
        match action {
            _ if copies.saturating_mul(self.size()) > MOST_OPERATIONS => {
                self.say("limit", format!("{copies} copies are too many"));
                Action::Keep
            }
            Action::Partial { .. } | Action::Runtime { .. } if self.wanted.only_full => {
                self.say("only full", "partial unrolling is left to a later pass".to_owned());
                Action::Keep
            }
            _ => action,
        }
    }

    fn blocked(&self) -> Option<&'static str> {
        let (own, wanted) = (self.directives, &self.wanted);
        let is_off = wanted.threshold == 0 && (!wanted.allow_partial || wanted.partial_threshold == 0);
        if own.forbids() {
            Some("a directive forbids it")
        } else if own.left_to_jam && !own.forces() {
            Some("a directive asks for unroll-and-jam")
        } else if wanted.only_forced && !own.forces() {
            Some("only loops with a directive are unrolled")
        } else if is_off && !self.facts.for_size {
            Some("the threshold is 0")
        } else {
            self.facts.fixed
        }
    }

    /// Obeys options about counts.
    fn by_request(&mut self) -> Option<Action> {
        if let Some(first) = self.asked.peel_count {
            self.say("request", format!("peel {first} iterations"));
            return Some(if first == 0 { Action::Keep } else { self.peeled(first, true) });
        }
        let count = self.asked.count?;
        let size = self.unrolled_size(count);
        if !self.wanted.allow_remainder || size >= self.wanted.threshold {
            let threshold = self.wanted.threshold;
            self.say("request", format!("count {count} not possible: size {size}, threshold {threshold}"));
            return None;
        }
        self.say("request", format!("count {count}: size {size}"));
        self.wanted.runtime = true;
        Some(self.by_count(count, true))
    }

    /// Obeys directives with a count, and those for full unrolling.
    fn by_directive(&mut self) -> Option<Action> {
        let trip_count = self.facts.trip_count;
        let mut decided = None;
        if let Some(count) = self.directives.count
            && (self.wanted.allow_remainder || self.facts.trip_multiple.is_multiple_of(count.max(1)))
        {
            self.wanted.runtime = true;
            decided = Some((count, true));
        } else if self.directives.full
            && let Some(count) = trip_count
        {
            if count <= self.wanted.pragma_full_max_iterations {
                decided = Some((count, false));
            }
        } else if self.directives.enable
            && trip_count.is_none()
            && let Some(most) = self.facts.max_trip_count.filter(|most| *most <= self.wanted.max_upperbound)
        {
            decided = Some((most, false));
        }
        match decided {
            Some((count, expensive)) => {
                self.say("directive", format!("count {count}"));
                Some(self.by_count(count, expensive))
            }
            None => {
                if self.is_explicit && trip_count.is_some() {
                    let pragma = self.wanted.pragma_threshold;
                    self.wanted.threshold = self.wanted.threshold.max(pragma);
                    self.wanted.partial_threshold = self.wanted.partial_threshold.max(pragma);
                    self.say("directive", format!("threshold {pragma}"));
                }
                None
            }
        }
    }

    /// Returns the action for a fixed count.
    fn by_count(&self, count: u64, expensive: bool) -> Action {
        match self.facts.trip_count.or(self.facts.max_trip_count) {
            _ if count == 0 => Action::Keep,
            Some(most) if count >= most => Action::Full { count: most },
            _ if count == 1 => Action::Keep,
            _ => self.repeated(count, expensive, expensive),
        }
    }

    /// Returns the action of unrolling by a count less than the trip count.
    fn repeated(&self, count: u64, expensive: bool, forced: bool) -> Action {
        let needs_remainder = self.facts.trip_count.is_none()
            && !self.facts.trip_multiple.is_multiple_of(count)
            && self.wanted.runtime;
        if needs_remainder { Action::Runtime { count, expensive, forced } } else { Action::Partial { count } }
    }

    fn full(&mut self, ask: &mut dyn Questions) -> Option<Action> {
        let Some(count) = self.facts.trip_count else {
            self.say("full", "no: the trip count is not constant".to_owned());
            return None;
        };
        self.fits_fully("full", count, ask).then_some(Action::Full { count })
    }

    fn full_by_bound(&mut self, ask: &mut dyn Questions) -> Option<Action> {
        let most = self.facts.max_trip_count.filter(|_| self.facts.trip_count.is_none())?;
        let is_wanted = self.wanted.upperbound && self.wanted.max_upperbound > 0 || self.facts.max_or_zero;
        if !is_wanted || most > self.wanted.max_upperbound {
            self.say("upper bound", format!("no: at most {most} iterations"));
            return None;
        }
        self.fits_fully("upper bound", most, ask).then_some(Action::Full { count: most })
    }

    fn fits_fully(&mut self, step: &'static str, count: u64, ask: &mut dyn Questions) -> bool {
        let (size, threshold) = (self.unrolled_size(count), self.wanted.threshold);
        if count > self.wanted.full_max_count {
            self.say(step, format!("no: {count} iterations, more than {}", self.wanted.full_max_count));
            return false;
        }
        if size < threshold {
            self.say(step, format!("yes: {count} iterations, size {size} below {threshold}"));
            return true;
        }
        let most = self.wanted.max_percent_threshold_boost;
        let is_simulated = count <= self.wanted.max_iteration_count_to_analyze && self.facts.is_innermost;
        let budget = threshold.saturating_mul(most) / 100;
        let cost = if is_simulated { ask.full_unroll_cost(count, budget) } else { None };
        let Some(Cost { unrolled, rolled }) = cost else {
            self.say(step, format!("no: {count} iterations, size {size} not below {threshold}"));
            return false;
        };
        let boost = rolled.saturating_mul(100).checked_div(unrolled).map_or(most, |boost| boost.min(most));
        let boosted = threshold.saturating_mul(boost) / 100;
        let answer = if unrolled < boosted { "yes" } else { "no" };
        self.say(
            step,
            format!(
                "{answer}: {count} iterations, {unrolled} of {rolled} operations left, \
                 threshold {threshold} times {boost} %"
            ),
        );
        unrolled < boosted
    }

    fn peeled(&self, first: u64, profiled: bool) -> Action {
        Action::Peel { first, profiled }
    }

    fn peel(&mut self, ask: &mut dyn Questions) -> Option<Action> {
        if !self.facts.is_innermost && !self.wanted.allow_loop_nests_peeling {
            self.say("peel", "no: there is a loop inside".to_owned());
            return None;
        }
        if let Some(first) = self.asked.force_peel_count {
            self.say("peel", format!("{first} iterations asked for"));
            return (first > 0).then(|| self.peeled(first, true));
        }
        let (size, threshold, most) = (self.size(), self.wanted.threshold, self.wanted.peel_max_count);
        let already = self.facts.already_peeled;
        if !self.wanted.allow_peeling || size.saturating_mul(2) > threshold || already >= most {
            let text = format!("no: size {size}, threshold {threshold}, {already} of {most} peeled");
            self.say("peel", text);
            return None;
        }
        let max = most.min(threshold / size - 1);
        let first = ask.peel_count(max).min(max);
        if first > 0 && first.saturating_add(already) <= most {
            self.say("peel", format!("{first} first iterations, at most {max}"));
            return Some(self.peeled(first, false));
        }
        if let Some(estimated) = self.facts.estimated_trip_count
            && self.facts.trip_count.is_none()
            && self.wanted.allow_profile_peeling
            && estimated > 0
            && estimated.saturating_add(already) <= max
        {
            self.say("peel", format!("{estimated} iterations by the profile"));
            return Some(self.peeled(estimated, true));
        }
        self.say("peel", "no: nothing becomes simpler".to_owned());
        None
    }

    /// Unrolls a loop of constant trip count by a divisor, or by a power of two with a remainder.
    fn partial(&mut self, trip_count: u64) -> Action {
        if !self.wanted.allow_partial && !self.is_explicit {
            self.say("partial", "no: not allowed".to_owned());
            return Action::Keep;
        }
        let most = self.wanted.partial_threshold;
        let test = self.wanted.backedge_size;
        let mut count = trip_count;
        if self.unrolled_size(count) > most {
            count = (most.max(test + 1) - test) / (self.size() - test);
        }
        count = count.min(self.wanted.max_count);
        count = divisor_at_most(trip_count, count);
        if self.wanted.allow_remainder && count <= 1 {
            count = self.wanted.default_runtime_count;
            while count != 0 && self.unrolled_size(count) > most {
                count /= 2;
            }
        }
        count = if count < 2 { 0 } else { count.min(self.wanted.max_count) };
        let own = self.directives;
        if (own.full || own.enable) && count != trip_count {
            let text = "loop not fully unrolled, although a directive asks for it: too large";
            self.missed.push(("FullUnrollAsDirectedTooLarge", text.to_owned()));
        }
        if count == 0 && own.enable {
            let text = "loop not unrolled, although a directive asks for it: too large";
            self.missed.push(("UnrollAsDirectedTooLarge", text.to_owned()));
        }
        self.say("partial", format!("count {count}: size {}, at most {most}", self.unrolled_size(count)));
        if count >= 2 { self.by_count(count, false) } else { Action::Keep }
    }

    /// Unrolls a loop whose trip count is not constant.
    fn at_run_time(&mut self) -> Action {
        let own = self.directives;
        if own.full {
            let text = "loop not fully unrolled, although a directive asks for it: its trip count is not \
                        constant";
            self.missed.push(("CantFullUnrollAsDirectedRuntimeTripCount", text.to_owned()));
        }
        if own.runtime_disable {
            self.say("run time", "no: a directive forbids it".to_owned());
            return Action::Keep;
        }
        if let Some(most) = self.facts.max_trip_count.filter(|most| *most < self.wanted.max_upperbound) {
            self.say("run time", format!("no: at most {most} iterations"));
            return Action::Keep;
        }
        let mut expensive = own.count.is_some();
        if let Some(estimated) = self.facts.estimated_trip_count {
            if estimated < self.wanted.flat_loop_tripcount_threshold {
                self.say("run time", format!("no: {estimated} iterations by the profile"));
                return Action::Keep;
            }
            expensive = true;
        }
        if !(self.wanted.runtime || own.enable || self.is_explicit && self.asked.count.is_some()) {
            self.say("run time", "no: not allowed".to_owned());
            return Action::Keep;
        }
        let mut count = self.wanted.default_runtime_count;
        self.wanted.runtime = true;
        while count != 0 && self.unrolled_size(count) > self.wanted.partial_threshold {
            count /= 2;
        }
        if !self.wanted.allow_remainder {
            while count != 0 && !self.facts.trip_multiple.is_multiple_of(count) {
                count /= 2;
            }
            if own.count.is_some() {
                self.missed.push(("DifferentUnrollCountFromDirected", different_count(self.facts, count)));
            }
        }
        count = count.min(self.wanted.max_count);
        count = self.facts.max_trip_count.map_or(count, |most| count.min(most));
        let text = format!("count {count}: size {}", self.unrolled_size(count));
        self.say("run time", text);
        match self.facts.max_trip_count {
            _ if count < 2 => Action::Keep,
            Some(most) if count == most => Action::Full { count },
            _ => self.repeated(count, expensive, false),
        }
    }
}

fn different_count(facts: &Facts, count: u64) -> String {
    let multiple = facts.trip_multiple;
    format!(
        "loop unrolled {count} times, not as a directive asks for: without a remainder, the count must \
         divide the trip count, a multiple of {multiple}"
    )
}

/// The maximal number of operations that one loop becomes.
const MOST_OPERATIONS: u64 = 1 << 22;

/// The maximal number of copies that are looked for.
const MOST_COPIES: u64 = 1 << 20;

/// Returns the greatest divisor of a number that is at most `most`.
fn divisor_at_most(number: u64, most: u64) -> u64 {
    (1..=most.min(number).min(MOST_COPIES)).rev().find(|divisor| number.is_multiple_of(*divisor)).unwrap_or(0)
}
