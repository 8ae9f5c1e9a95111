//! Remarks as data: what a pass did, or did not do, under a name, with what there is to know about
//! it as fields.
//!
//! It has what a remark of LLVM has in YAML: a kind, a pass, a name, a function and arguments; the
//! place is the diagnostic's. Its message says the same to people.

use crate::location::Loc;

/// The kind of a remark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RemarkKind {
    /// Something was done.
    Passed,
    /// Something was not done that might have been.
    Missed,
    /// Something was found out.
    Analysis,
}

impl RemarkKind {
    /// `passed`, `missed` or `analysis`.
    pub fn name(self) -> &'static str {
        match self {
            RemarkKind::Passed => "passed",
            RemarkKind::Missed => "missed",
            RemarkKind::Analysis => "analysis",
        }
    }
}

/// The content of a remark, as data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remark {
    /// Its kind.
    pub kind: RemarkKind,
    /// The pass.
    pub pass: &'static str,
    /// Its subject: one name for each thing that a pass reports.
    pub name: &'static str,
    /// The function.
    pub function: String,
    /// Further facts, each under a key of its own.
    pub args: Fields,
}

/// Values by their keys, in order.
pub type Fields = Vec<(&'static str, Arg)>;

/// A value in a remark.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arg {
    /// A number.
    Number(i64),
    /// A text.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// A place.
    Place(Loc),
    /// Several values.
    List(Vec<Arg>),
    /// Several values by their keys.
    Fields(Fields),
    /// Nothing is known.
    Unknown,
}

impl From<i64> for Arg {
    fn from(number: i64) -> Arg {
        Arg::Number(number)
    }
}

impl From<usize> for Arg {
    fn from(number: usize) -> Arg {
        Arg::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<&str> for Arg {
    fn from(text: &str) -> Arg {
        Arg::Text(text.to_owned())
    }
}

impl From<String> for Arg {
    fn from(text: String) -> Arg {
        Arg::Text(text)
    }
}

impl From<bool> for Arg {
    fn from(is: bool) -> Arg {
        Arg::Flag(is)
    }
}

impl From<Loc> for Arg {
    fn from(place: Loc) -> Arg {
        Arg::Place(place)
    }
}

impl From<Fields> for Arg {
    fn from(fields: Fields) -> Arg {
        Arg::Fields(fields)
    }
}

impl<T: Into<Arg>> From<Option<T>> for Arg {
    fn from(value: Option<T>) -> Arg {
        value.map_or(Arg::Unknown, Into::into)
    }
}

impl<T: Into<Arg>> FromIterator<T> for Arg {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Arg {
        Arg::List(values.into_iter().map(Into::into).collect())
    }
}
