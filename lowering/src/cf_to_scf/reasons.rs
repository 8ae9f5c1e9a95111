//! The reasons why a function stays as it is, or a loop has no known number of iterations.

use loomir_dialects::interfaces::LoopLike;
use loomir_ir::{Body, Loc, Op};

use loomir_dialects::scf;

/// The reason why a function stays as it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Opaque {
    /// Its attributes say that it stays as it is.
    Untouchable,
    /// A call in it is bound to the control flow around it.
    Bound,
    /// It branches in a way that structured control flow does not have.
    Branch,
    /// A call in it may unwind to a landing pad.
    Unwinding,
    /// Its regions would nest too deep.
    Deep,
    /// Its regions would pass on too many values.
    Large,
    /// It has one loop only, and only several were asked for.
    Alone,
}

impl Opaque {
    /// Returns the reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Opaque::Untouchable => "it says optnone",
            Opaque::Bound => "a call in it is bound to the branches around it",
            Opaque::Branch => "it branches in a way that structured control flow does not have",
            Opaque::Unwinding => "a call in it may unwind to a landing pad",
            Opaque::Deep => "its structured control flow would nest too deep",
            Opaque::Large => "its regions would pass on too many values",
            Opaque::Alone => "it has no other loop",
        }
    }
}

/// The reason why a loop is not counted: its number of iterations is unknown when it begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Uncounted {
    /// The function around it stays as it is.
    Kept(Opaque),
    /// Nothing leaves it.
    Endless,
    /// It leaves at several places, and not all of them are counted.
    SeveralExits,
    /// It leaves in the middle of an iteration, and not at its end too.
    Middle,
    /// Its test depends on data: memory, the result of a call, or a recurrence without fixed step.
    Data,
    /// Its test compares two numbers that both change in the loop.
    Bound,
    /// Its counter may wrap around before the test fails.
    Wraps,
    /// It may have two to the power of 64 iterations or more.
    Long,
    /// The number of its iterations has no expression in values from before the loop.
    Unwritten,
    /// It was read as a loop without a counter.
    Structured,
}

impl Uncounted {
    /// Returns the name of the reason, as remarks give it.
    pub fn name(self) -> &'static str {
        match self {
            Uncounted::Kept(_) => "FunctionKept",
            Uncounted::Endless => "Endless",
            Uncounted::SeveralExits => "SeveralExits",
            Uncounted::Middle => "LeavesInTheMiddle",
            Uncounted::Data => "DependsOnData",
            Uncounted::Bound => "BoundChanges",
            Uncounted::Wraps => "CounterMayWrap",
            Uncounted::Long => "TooLong",
            Uncounted::Unwritten => "NoExpression",
            Uncounted::Structured => "NoCounter",
        }
    }

    /// Returns the reason as a sentence about the loop.
    pub fn reason(self) -> &'static str {
        match self {
            Uncounted::Kept(why) => why.reason(),
            Uncounted::Endless => "nothing leaves it",
            Uncounted::SeveralExits => "it leaves at several places",
            Uncounted::Middle => "it leaves in the middle of an iteration",
            Uncounted::Data => "its test depends on data",
            Uncounted::Bound => "its test compares two numbers that both change",
            Uncounted::Wraps => "its counter may wrap around before the test fails",
            Uncounted::Long => "it may have 2^64 iterations or more",
            Uncounted::Unwritten => "the number of iterations has no expression before it",
            Uncounted::Structured => "it has no counter",
        }
    }

    /// Returns the reason as the end of a sentence about this many loops.
    pub fn of_several(self, one: bool) -> &'static str {
        let (single, many) = match self {
            Uncounted::Kept(_) => ("is in a function that stays", "are in functions that stay"),
            Uncounted::Endless => ("is never left", "are never left"),
            Uncounted::SeveralExits => ("leaves at several places", "leave at several places"),
            Uncounted::Middle => ("leaves in the middle", "leave in the middle"),
            Uncounted::Data => ("depends on data", "depend on data"),
            Uncounted::Bound => ("with a bound that changes", "with bounds that change"),
            Uncounted::Wraps => ("with a counter that may wrap", "with counters that may wrap"),
            Uncounted::Long => ("may run 2^64 times", "may run 2^64 times"),
            Uncounted::Unwritten => ("without an expression", "without an expression"),
            Uncounted::Structured => ("without a counter", "without a counter"),
        };
        if one { single } else { many }
    }
}

/// The loops of a function with structured control flow.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Lifted {
    /// The number of loops that count.
    pub counted: usize,
    /// The place of each other loop, and why it does not count. Outer loops come first.
    pub uncounted: Vec<(Loc, Uncounted)>,
}

impl Lifted {
    /// Returns the number of loops.
    pub fn loops(&self) -> usize {
        self.counted + self.uncounted.len()
    }

    /// Returns the loops of a function that was read with structured control flow. Linear.
    pub(super) fn as_read(function: &Body) -> Lifted {
        let is_loop = |op: &Op| function.info(*op).interface::<dyn LoopLike>().is_some();
        let uncounted = function.all_ops().filter(|op| function.is(*op, scf::WhileOp::DEF));
        Lifted {
            counted: function.all_ops().filter(is_loop).count(),
            uncounted: uncounted.map(|op| (function.loc(op), Uncounted::Structured)).collect(),
        }
    }
}
