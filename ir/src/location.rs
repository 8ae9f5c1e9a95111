//! Locations: where in the source an operation comes from.

use crate::attributes::Attr;
use crate::context::{Context, Name};

/// A uniqued location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Loc(pub(crate) u32);

/// What a [`Loc`] is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LocKind {
    /// `loc(unknown)`.
    Unknown,
    /// `loc("file":line:column)`; lines and columns count from 1, columns in bytes.
    File {
        /// The file's name.
        file: Name,
        /// The line.
        line: u32,
        /// The column.
        column: u32,
    },
    /// `loc("file":line:column to end_line:end_column)`.
    FileRange {
        /// The file's name.
        file: Name,
        /// First line.
        line: u32,
        /// First column.
        column: u32,
        /// Last line.
        end_line: u32,
        /// The column after the last.
        end_column: u32,
    },
    /// `loc("name"(child))`.
    Name {
        /// The name.
        name: Name,
        /// Where the named thing is.
        child: Loc,
    },
    /// `loc(callsite(callee at caller))`.
    CallSite {
        /// The place in the callee.
        callee: Loc,
        /// The place of the call.
        caller: Loc,
    },
    /// `loc(fused<metadata>[…])`.
    Fused {
        /// Why they were fused.
        metadata: Option<Attr>,
        /// The places.
        children: Box<[Loc]>,
    },
}

impl Loc {
    /// `loc(unknown)`.
    pub const UNKNOWN: Loc = Loc(0);

    /// What the location is.
    pub fn kind(self, ctx: &Context) -> &LocKind {
        ctx.loc_kind(self)
    }

    /// File, line and column of the first file location inside, looking through names, calls and fusions.
    pub fn file_line_col(self, ctx: &Context) -> Option<(&str, u32, u32)> {
        let mut loc = self;
        loop {
            loc = match loc.kind(ctx) {
                LocKind::Unknown => return None,
                LocKind::File { file, line, column } | LocKind::FileRange { file, line, column, .. } => {
                    return Some((ctx.str(*file), *line, *column));
                }
                LocKind::Name { child, .. } => *child,
                LocKind::CallSite { callee, .. } => *callee,
                LocKind::Fused { children, .. } => *children.first()?,
            };
        }
    }
}
