//! Directives at loops of the tree: `#llvm.loop_annotation`, as MLIR attaches it to `scf.for` and
//! `affine.for`.

use std::fmt::Write;

use loomir_ir::{Attr, AttrKind, Body, Context, Op};

use super::{Directives, JamDirectives};

/// The name of the attribute.
pub const ANNOTATION: &str = "llvm.loop_annotation";

/// The start of the attribute's text.
const BODY: &str = "loop_annotation";

/// The group of fields about unrolling.
pub(crate) const UNROLL: &str = "unroll";

/// The group of fields about unroll-and-jam.
pub(crate) const JAM: &str = "unrollAndJam";

/// Reads the directives about unrolling at a loop.
pub fn directives(body: &Body, op: Op) -> Directives {
    let ctx = body.ctx();
    let text = body.attr(op, ANNOTATION).and_then(|own| text(ctx, own)).unwrap_or_default();
    let own = group(text, UNROLL);
    let jam = jam(text);
    Directives {
        disable: own.flag("disable") == Some(true),
        enable: own.flag("disable") == Some(false),
        full: own.flag("full") == Some(true),
        count: own.number("count"),
        runtime_disable: own.flag("runtimeDisable") == Some(true),
        disable_nonforced: Group(fields(text)).flag("disableNonforced") == Some(true),
        left_to_jam: jam.forces(),
    }
}

/// Reads the directives about unroll-and-jam at a loop.
pub fn jam_directives(body: &Body, op: Op) -> JamDirectives {
    let ctx = body.ctx();
    let own = body.attr(op, ANNOTATION).and_then(|own| text(ctx, own)).map(jam).unwrap_or_default();
    JamDirectives { left_to_unrolling: directives(body, op).forces() && !own.forces(), ..own }
}

fn jam(text: &str) -> JamDirectives {
    let own = group(text, JAM);
    JamDirectives {
        disable: own.flag("disable") == Some(true)
            || Group(fields(text)).flag("disableNonforced") == Some(true)
                && own.flag("disable") != Some(false)
                && own.number("count").is_none(),
        enable: own.flag("disable") == Some(false),
        count: own.number("count"),
        left_to_unrolling: false,
    }
}

/// Returns an annotation whose group `changed` only says that the transformation is not to be
/// repeated. `None` if the annotation can't be read.
pub(crate) fn done(ctx: &Context, annotation: Attr, changed: &str) -> Option<Attr> {
    let own = text(ctx, annotation)?;
    let mut body = format!("{BODY}<");
    let mut is_written = false;
    let mut separator = "";
    for (name, said) in fields(own) {
        let _ = match name == changed {
            true => write!(body, "{separator}{name} = <disable = true>"),
            false => write!(body, "{separator}{name} = {said}"),
        };
        is_written |= name == changed;
        separator = ", ";
    }
    if !is_written {
        let _ = write!(body, "{separator}{changed} = <disable = true>");
    }
    body.push('>');
    let dialect = ctx.name("llvm");
    Some(ctx.attr(AttrKind::Opaque { dialect, body: body.into(), pretty: true, ty: None }))
}

/// The fields of one group.
struct Group<'a>(Vec<(&'a str, &'a str)>);

impl Group<'_> {
    fn field(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, said)| *said)
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.field(name)?.parse().ok()
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.field(name)?.strip_suffix(": i32")?.trim().parse().ok()
    }
}

/// Returns the text between and with the angle brackets of an annotation.
fn text(ctx: &Context, annotation: Attr) -> Option<&str> {
    match annotation.kind(ctx) {
        AttrKind::Opaque { body, .. } => body.strip_prefix(BODY),
        _ => None,
    }
}

/// Returns a group of an annotation, whose text may carry its name, `#llvm.loop_unroll<…>`.
fn group<'a>(text: &'a str, name: &str) -> Group<'a> {
    let said = fields(text).into_iter().find(|(own, _)| *own == name).map_or("", |(_, said)| said);
    Group(fields(said.find('<').map_or("", |at| &said[at..])))
}

/// Returns the fields of `<a = b, c = <…>>`, one level of them. Linear.
fn fields(text: &str) -> Vec<(&str, &str)> {
    let Some(inside) = text.strip_prefix('<').and_then(|text| text.strip_suffix('>')) else {
        return Vec::new();
    };
    let mut depth = 0usize;
    let part = |c: char| {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    let parts = inside.split(part).filter_map(|own| own.split_once('='));
    parts.map(|(name, said)| (name.trim(), said.trim())).collect()
}
