//! Locations: where in the source an operation comes from.
//!
//! Nearly all are a line and a column of one of a few files. Such a place is the handle itself
//! (`Packed`) and takes no room in the context; all others are uniqued there. Which of the two a
//! location is follows from what it is, so equal locations have equal handles.

use std::borrow::Cow;

use crate::attributes::Attr;
use crate::context::{Context, Name};

/// A uniqued location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Loc(pub(crate) u32);

/// The content of a [`Loc`].
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

    /// Returns the content of the location.
    pub fn kind(self, ctx: &Context) -> Cow<'_, LocKind> {
        ctx.loc_kind(self)
    }

    /// The first name inside: a location before those in it, callees before callers, the metadata
    /// of a fusion last. Linear.
    pub fn first_name(self, ctx: &Context) -> Option<&str> {
        let mut pending = vec![self];
        while let Some(loc) = pending.pop() {
            match &*loc.kind(ctx) {
                LocKind::Unknown | LocKind::File { .. } | LocKind::FileRange { .. } => {}
                LocKind::Name { name, .. } => return Some(ctx.str(*name)),
                LocKind::CallSite { callee, caller } => pending.extend([*caller, *callee]),
                LocKind::Fused { metadata, children } => {
                    let metadata = metadata.and_then(|attr| attr.as_loc(ctx));
                    pending.extend(metadata.into_iter().chain(children.iter().rev().copied()));
                }
            }
        }
        None
    }

    /// File, line and column of the first file location inside, looking through names, calls and
    /// fusions.
    pub fn file_line_col(self, ctx: &Context) -> Option<(&str, u32, u32)> {
        let mut loc = self;
        loop {
            loc = match &*loc.kind(ctx) {
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

/// A place in a file as a handle: one bit that says so, then file, line and column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Packed {
    /// Which of the context's first files.
    pub(crate) file: usize,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

impl Packed {
    /// The number of files there is room for.
    pub(crate) const FILES: usize = 8;
    const IS_PACKED: u32 = 1 << 31;
    const LINE_BITS: u32 = 20;
    const COLUMN_BITS: u32 = 8;

    /// The handle, if line and column fit.
    pub(crate) fn pack(self) -> Option<Loc> {
        debug_assert!(self.file < Self::FILES);
        let fits = self.line < 1 << Self::LINE_BITS && self.column < 1 << Self::COLUMN_BITS;
        let place = ((self.file as u32) << Self::LINE_BITS | self.line) << Self::COLUMN_BITS | self.column;
        fits.then_some(Loc(Self::IS_PACKED | place))
    }

    /// Returns the place that a handle holds, if it is the place itself.
    pub(crate) fn unpack(loc: Loc) -> Option<Packed> {
        let place = loc.0 & !Self::IS_PACKED;
        (loc.0 != place).then_some(Packed {
            file: (place >> (Self::LINE_BITS + Self::COLUMN_BITS)) as usize,
            line: place >> Self::COLUMN_BITS & ((1 << Self::LINE_BITS) - 1),
            column: place & ((1 << Self::COLUMN_BITS) - 1),
        })
    }
}
