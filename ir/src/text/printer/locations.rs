//! Locations.

use std::fmt::Write;

use super::Mode;
use crate::attributes::AttrKind;
use crate::location::{Loc, LocKind};
use crate::text::OpPrinter;

impl OpPrinter<'_> {
    /// Writes ` loc(…)` if locations are printed.
    pub(crate) fn trailing_loc(&mut self, loc: Loc, with_alias: bool) {
        if !self.options.debug_info || self.mode == Mode::Collect {
            return;
        }
        self.write(" ");
        if self.options.pretty_debug_info {
            return self.location(loc, true, true);
        }
        self.write("loc(");
        if !(with_alias && self.loc_alias(loc)) {
            self.location(loc, false, true);
        }
        self.write(")");
    }

    fn loc_alias(&mut self, loc: Loc) -> bool {
        !self.aliases.is_empty() && {
            let attr = self.ctx.attr(AttrKind::Location(loc));
            self.attr_alias(attr)
        }
    }

    /// Writes a location without `loc(` and `)`. `pretty` is for readers, not for parsers; what is
    /// not `outermost` may be an alias.
    pub(crate) fn location(&mut self, loc: Loc, pretty: bool, outermost: bool) {
        if !outermost && !pretty && self.loc_alias(loc) {
            return;
        }
        let ctx = self.ctx;
        match &*loc.kind(ctx) {
            LocKind::Unknown => self.write(if pretty { "[unknown]" } else { "unknown" }),
            LocKind::File { file, line, column } => {
                self.file_name(ctx.str(*file), pretty);
                let _ = write!(self.out, ":{line}:{column}");
            }
            LocKind::FileRange { file, line, column, end_line, end_column } => {
                self.file_name(ctx.str(*file), pretty);
                let _ = write!(self.out, ":{line}:{column} to ");
                let _ = if line == end_line {
                    write!(self.out, ":{end_column}")
                } else {
                    write!(self.out, "{end_line}:{end_column}")
                };
            }
            LocKind::Name { name, child } => {
                self.file_name(ctx.str(*name), pretty);
                if *child != Loc::UNKNOWN {
                    self.write("(");
                    self.nested(|p| p.location(*child, pretty, false));
                    self.write(")");
                }
            }
            LocKind::CallSite { callee, caller } => self.nested(|p| {
                p.write(if pretty { "" } else { "callsite(" });
                p.location(*callee, pretty, false);
                p.write(" at ");
                p.location(*caller, pretty, false);
                p.write(if pretty { "" } else { ")" });
            }),
            LocKind::Fused { metadata, children } => self.nested(|p| {
                if !pretty {
                    p.write("fused");
                }
                if let Some(metadata) = metadata {
                    p.write("<");
                    p.attr(*metadata);
                    p.write(">");
                }
                p.write("[");
                p.comma_separated(children.iter(), |p, loc| p.location(*loc, pretty, false));
                p.write("]");
            }),
        }
    }

    fn file_name(&mut self, name: &str, pretty: bool) {
        if pretty {
            self.write(name);
        } else {
            self.string(name.as_bytes());
        }
    }
}
