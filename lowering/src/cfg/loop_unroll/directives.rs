//! Directives about unrolling at a loop: LLVM's metadata, as the annotation of the latch's branch.

use loomir_ir::{Body, Op};
use loomir_transforms::unrolling::Directives;

use crate::cfg::branch::LOOP_ANNOTATION;
use crate::ll::{Properties, kept_metadata};

const UNROLL: &str = "llvm.loop.unroll.";
const JAM: &str = "llvm.loop.unroll_and_jam.";
const PEELED: &str = "llvm.loop.peeled.count";

/// Returns the properties at a latch's branch. `None` if it has some that can't be read.
fn properties(function: &Body, branch: Op) -> Option<Properties> {
    match function.attr(branch, LOOP_ANNOTATION) {
        Some(own) => Properties::of(function.ctx(), own),
        None => kept_metadata(function.op_ref(branch), "llvm.loop").is_none().then(Properties::default),
    }
}

/// Returns the directives at the branch of a latch, and the number of iterations peeled already.
/// `None` if there may be some that can't be read.
pub(in crate::cfg) fn read(function: &Body, branch: Op) -> Option<(Directives, u64)> {
    let own = properties(function, branch)?;
    let has = |name: &str| own.has(&format!("{UNROLL}{name}"));
    let directives = Directives {
        disable: has("disable"),
        enable: has("enable"),
        full: has("full"),
        count: own.number(&format!("{UNROLL}count")),
        runtime_disable: has("runtime.disable"),
        disable_nonforced: own.has("llvm.loop.disable_nonforced"),
        left_to_jam: jams(&own),
    };
    Some((directives, own.number(PEELED).unwrap_or(0)))
}

/// Directives about unroll-and-jam, and about unrolling of the outer loop.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cfg) struct JamDirectives {
    /// `llvm.loop.unroll_and_jam.disable`.
    pub(in crate::cfg) disable: bool,
    /// `llvm.loop.unroll_and_jam.enable`.
    pub(in crate::cfg) enable: bool,
    /// `llvm.loop.unroll_and_jam.count`.
    pub(in crate::cfg) count: Option<u64>,
    /// True if a directive speaks of unrolling alone. The loop is then left to the unroller.
    pub(in crate::cfg) only_unrolls: bool,
    /// `llvm.loop.disable_nonforced`.
    pub(in crate::cfg) disable_nonforced: bool,
    /// The directives about unrolling.
    pub(in crate::cfg) unroll: Directives,
}

impl JamDirectives {
    /// True if a directive asks for unroll-and-jam.
    pub(in crate::cfg) fn forces(&self) -> bool {
        !self.disable && (self.enable || self.count.is_some_and(|count| count != 1))
    }

    /// True if a directive forbids it, or nothing asks for it where only that is done.
    pub(in crate::cfg) fn forbids(&self) -> bool {
        let is_named = self.enable || self.count.is_some();
        self.disable || self.count == Some(1) || self.only_unrolls || self.disable_nonforced && !is_named
    }
}

/// Returns the directives about unroll-and-jam at the branch of an outer loop's latch. `None` if
/// there may be some that can't be read.
pub(in crate::cfg) fn read_jam(function: &Body, branch: Op) -> Option<JamDirectives> {
    let own = properties(function, branch)?;
    let has = |name: &str| own.has(&format!("{JAM}{name}"));
    let (unroll, _) = read(function, branch)?;
    Some(JamDirectives {
        disable: has("disable"),
        enable: has("enable"),
        count: own.number(&format!("{JAM}count")),
        only_unrolls: own.has_some(UNROLL) && !own.has_some(JAM),
        disable_nonforced: unroll.disable_nonforced,
        // Unroll-and-jam comes first.
        unroll: Directives { left_to_jam: false, disable: false, disable_nonforced: false, ..unroll },
    })
}

/// Takes the directives about unroll-and-jam away. An outer loop that was unrolled as asked for is
/// not unrolled again.
pub(in crate::cfg) fn obey_jam(function: &mut Body, branch: Op, is_unrolled: bool) {
    let Some(mut own) = properties(function, branch) else { return };
    own.remove(JAM);
    write(function, branch, &own);
    if is_unrolled {
        mark_unrolled(function, branch);
    }
}

/// True if a directive at a latch's branch asks for unroll-and-jam.
pub(in crate::cfg) fn asks_for_jam(function: &Body, branch: Op) -> bool {
    properties(function, branch).is_some_and(|own| jams(&own))
}

fn jams(own: &Properties) -> bool {
    let count = own.number(&format!("{JAM}count"));
    let is_disabled = own.has(&format!("{JAM}disable")) || count == Some(1);
    !is_disabled && (own.has(&format!("{JAM}enable")) || count.is_some())
}

/// A loop that unrolling or jamming makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::cfg) enum Made {
    /// The unrolled loop.
    Unrolled,
    /// The remainder.
    Remainder,
    /// The outer loop, unrolled and jammed.
    Outer,
    /// The jammed inner loop.
    Inner,
    /// The outer loop of the remainder.
    RemainderOuter,
    /// The inner loop of the remainder.
    RemainderInner,
}

impl Made {
    /// Returns the prefix of the follow-ups of this transformation, and the name of its own.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Made::Unrolled => (UNROLL, "unrolled"),
            Made::Remainder => (UNROLL, "remainder"),
            Made::Outer => (JAM, "outer"),
            Made::Inner => (JAM, "inner"),
            Made::RemainderOuter => (JAM, "remainder_outer"),
            Made::RemainderInner => (JAM, "remainder_inner"),
        }
    }
}

/// The properties of a loop before it changes, which say what follows.
pub(in crate::cfg) struct Before(Option<Properties>);

impl Before {
    /// Reads the properties at the branch of a latch.
    pub(in crate::cfg) fn of(function: &Body, branch: Op) -> Before {
        Before(properties(function, branch))
    }

    /// Gives a loop that was made the properties of its follow-ups, in place of all others. Returns
    /// false if there are no follow-ups.
    pub(in crate::cfg) fn follow(&self, function: &mut Body, branch: Op, made: Made) -> bool {
        let (prefix, own) = made.names();
        let names = [format!("{prefix}followup_all"), format!("{prefix}followup_{own}")];
        let names = names.each_ref().map(String::as_str);
        let Some(all) = self.0.as_ref().and_then(|before| before.followed(&names)) else { return false };
        write(function, branch, &all);
        true
    }
}

/// The properties of a loop that two loops become.
pub(in crate::cfg) struct Flattened(Properties);

const MUST_PROGRESS: &str = "llvm.loop.mustprogress";

/// Returns the properties of the loop that a nest of two becomes: those of the loop that has some.
/// The branches are those of the latches, the outer one first.
///
/// # Errors
///
/// Why there is no such loop.
pub(in crate::cfg) fn flattened(function: &Body, branches: [Op; 2]) -> Result<Flattened, &'static str> {
    let all = branches.map(|branch| properties(function, branch));
    let [Some(mut outer), Some(mut inner)] = all else { return Err("it has metadata that can't be read") };
    if [&outer, &inner].into_iter().any(|own| own.has("llvm.loop.disable_nonforced")) {
        return Err("a directive forbids it");
    }
    if inner.has(&format!("{UNROLL}full")) {
        return Err("a directive asks for its inner loop to be unrolled completely");
    }
    // The new loop ends if both do. If one may not run for ever without effect, nor may it.
    let progresses = [&outer, &inner].into_iter().any(|own| own.has(MUST_PROGRESS));
    [&mut outer, &mut inner].into_iter().for_each(|own| own.remove(MUST_PROGRESS));
    let nothing = Properties::default();
    if outer == nothing {
        outer = inner;
    } else if inner != nothing && inner != outer {
        return Err("its loops have different directives");
    }
    if progresses {
        outer.set(MUST_PROGRESS, None);
    }
    Ok(Flattened(outer))
}

impl Flattened {
    /// Gives these properties to the loop with this latch's branch.
    pub(in crate::cfg) fn write(&self, function: &mut Body, branch: Op) {
        write(function, branch, &self.0);
    }
}

/// Marks a loop as unrolled: other directives about unrolling are gone, and none may follow.
pub(in crate::cfg) fn mark_unrolled(function: &mut Body, branch: Op) {
    let Some(mut own) = properties(function, branch) else { return };
    own.remove(UNROLL);
    own.set(&format!("{UNROLL}disable"), None);
    write(function, branch, &own);
}

/// Adds to the number of iterations that are peeled.
pub(in crate::cfg) fn mark_peeled(function: &mut Body, branch: Op, count: u64) {
    let Some(mut own) = properties(function, branch) else { return };
    let before = own.number(PEELED).unwrap_or(0);
    own.set(PEELED, Some(before.saturating_add(count)));
    write(function, branch, &own);
}

fn write(function: &mut Body, branch: Op, own: &Properties) {
    let ctx = function.ctx().clone();
    if *own == Properties::default() {
        function.remove_attr(branch, LOOP_ANNOTATION);
    } else if let Some(annotation) = own.annotation(&ctx) {
        function.set_attr(branch, LOOP_ANNOTATION, annotation);
    }
}
