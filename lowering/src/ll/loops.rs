//! Annotations of loops: LLVM's metadata and the dialect's attribute.
//!
//! In the text a latch's branch has a node (`!llvm.loop`) that lists properties, each a node of a
//! name and maybe a value. In the dialect it has `#llvm.loop_annotation<…>`, with a field for each
//! property, some in groups. [`PROPERTIES`] maps one to the other. Properties without a field
//! (source locations, follow-ups after a transformation, parallel accesses) stay metadata.

use std::fmt::Write;

use loomir_ir::{Attr, AttrKind, Context};

/// The name of the attribute.
pub(crate) const ANNOTATION: &str = "loop_annotation";

/// The form of a property's value in the text, and its meaning in the attribute.
#[derive(Clone, Copy)]
enum Value {
    /// No value: `true`.
    Present,
    /// No value: `true`; under another name: `false`.
    OneOf(&'static str),
    /// `i1`.
    Flag,
    /// `i1`, of the opposite.
    Opposite,
    /// `i32 1`: `true`.
    One,
    /// `i32`.
    Number,
}

use Value::{Flag, Number, One, OneOf, Opposite, Present};

/// The group and field of the attribute, the property's name in the text, and its value. In the
/// order of the attribute.
const PROPERTIES: &[(&str, &str, &str, Value)] = &[
    ("", "disableNonforced", "llvm.loop.disable_nonforced", Present),
    ("vectorize", "disable", "llvm.loop.vectorize.enable", Opposite),
    ("vectorize", "predicateEnable", "llvm.loop.vectorize.predicate.enable", Flag),
    ("vectorize", "scalableEnable", "llvm.loop.vectorize.scalable.enable", Flag),
    ("vectorize", "width", "llvm.loop.vectorize.width", Number),
    ("interleave", "count", "llvm.loop.interleave.count", Number),
    ("unroll", "disable", "llvm.loop.unroll.disable", OneOf("llvm.loop.unroll.enable")),
    ("unroll", "count", "llvm.loop.unroll.count", Number),
    ("unroll", "runtimeDisable", "llvm.loop.unroll.runtime.disable", Present),
    ("unroll", "full", "llvm.loop.unroll.full", Present),
    ("unrollAndJam", "disable", "llvm.loop.unroll_and_jam.disable", OneOf("llvm.loop.unroll_and_jam.enable")),
    ("unrollAndJam", "count", "llvm.loop.unroll_and_jam.count", Number),
    ("licm", "disable", "llvm.licm.disable", Present),
    ("licm", "versioningDisable", "llvm.loop.licm_versioning.disable", Present),
    ("distribute", "disable", "llvm.loop.distribute.enable", Opposite),
    ("pipeline", "disable", "llvm.loop.pipeline.disable", Flag),
    ("pipeline", "initiationinterval", "llvm.loop.pipeline.initiationinterval", Number),
    ("peeled", "count", "llvm.loop.peeled.count", Number),
    ("unswitch", "partialDisable", "llvm.loop.unswitch.partial.disable", Present),
    ("", "mustProgress", "llvm.loop.mustprogress", Present),
    ("", "isVectorized", "llvm.loop.isvectorized", One),
];

/// Returns the body of the attribute of a loop with these properties. Each has a name, and
/// optionally a value with its type. `None` if there is no field for one, or it occurs twice.
pub(super) fn annotation(properties: &[(&str, Option<(&str, &str)>)]) -> Option<String> {
    let mut fields: Vec<Option<String>> = vec![None; PROPERTIES.len()];
    for (name, value) in properties {
        let (index, said) = PROPERTIES.iter().enumerate().find_map(|(index, (_, _, own, kind))| {
            let said = match (kind, value) {
                (Present | OneOf(_), None) if own == name => "true".to_owned(),
                (OneOf(other), None) if other == name => "false".to_owned(),
                _ if own != name => return None,
                (Flag, Some(("i1", value @ ("true" | "false")))) => (*value).to_owned(),
                (Opposite, Some(("i1", "true"))) => "false".to_owned(),
                (Opposite, Some(("i1", "false"))) => "true".to_owned(),
                (One, Some(("i32", "1"))) => "true".to_owned(),
                (Number, Some(("i32", value))) => format!("{} : i32", value.parse::<i32>().ok()?),
                _ => return None,
            };
            Some((index, said))
        })?;
        if fields[index].replace(said).is_some() {
            return None;
        }
    }
    let mut body = format!("{ANNOTATION}<");
    let mut open = "";
    let mut separator = "";
    for ((group, field, ..), said) in PROPERTIES.iter().zip(fields) {
        let Some(said) = said else { continue };
        if *group != open {
            body.push_str(if open.is_empty() { "" } else { ">" });
            let _ = match *group {
                "" => write!(body, "{separator}"),
                group => write!(body, "{separator}{group} = <"),
            };
            open = group;
        } else {
            body.push_str(separator);
        }
        let _ = write!(body, "{field} = {said}");
        separator = ", ";
    }
    body.push_str(if open.is_empty() { ">" } else { ">>" });
    Some(body)
}

/// Returns the properties of an attribute with this body, as nodes of metadata. `None` if a
/// property has no node here.
pub(super) fn nodes(body: &str) -> Option<Vec<String>> {
    let mut nodes = Vec::new();
    for (field, said) in fields(body.strip_prefix(ANNOTATION)?)? {
        // A group may carry its name, `#llvm.loop_unroll<…>`.
        let said = match said.strip_prefix("#llvm.loop_") {
            Some(named) => &named[named.find('<')?..],
            None => said,
        };
        match said.strip_prefix('<') {
            Some(_) => {
                for (inner, said) in fields(said)? {
                    nodes.extend(node(field, inner, said)?);
                }
            }
            None => nodes.extend(node("", field, said)?),
        }
    }
    Some(nodes)
}

/// Returns the node of one field; an empty list if there is nothing to write.
fn node(group: &str, field: &str, said: &str) -> Option<Option<String>> {
    let (_, _, name, value) = PROPERTIES.iter().find(|(own, f, ..)| *own == group && *f == field)?;
    let is_true = match said {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    };
    Some(match (value, is_true) {
        (Present, Some(false)) | (One, Some(false)) => None,
        (Present | OneOf(_), Some(true)) => Some(format!("!{{!\"{name}\"}}")),
        (OneOf(other), Some(false)) => Some(format!("!{{!\"{other}\"}}")),
        (Flag, Some(flag)) => Some(format!("!{{!\"{name}\", i1 {flag}}}")),
        (Opposite, Some(flag)) => Some(format!("!{{!\"{name}\", i1 {}}}", !flag)),
        (One, Some(true)) => Some(format!("!{{!\"{name}\", i32 1}}")),
        (Number, None) => {
            let number: i32 = said.strip_suffix(": i32")?.trim().parse().ok()?;
            Some(format!("!{{!\"{name}\", i32 {number}}}"))
        }
        _ => return None,
    })
}

/// The properties of a loop, by LLVM's names, each with a typed value if it has one.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Properties(Vec<(String, Option<(String, String)>)>);

impl Properties {
    /// Reads the annotation of a branch. `None` if it has properties that have no name here.
    pub(crate) fn of(ctx: &Context, annotation: Attr) -> Option<Properties> {
        let AttrKind::Opaque { body, .. } = annotation.kind(ctx) else { return None };
        let node = |node: String| {
            let inside = node.strip_prefix("!{!\"")?.strip_suffix('}')?;
            let (name, rest) = inside.split_once('"')?;
            let value = rest.strip_prefix(", ").and_then(|value| value.split_once(' '));
            let owned = |(ty, value): (&str, &str)| (ty.to_owned(), value.to_owned());
            Some((name.to_owned(), value.map(owned)))
        };
        nodes(body)?.into_iter().map(node).collect::<Option<Vec<_>>>().map(Properties)
    }

    /// True if a property is there, and its value is not false.
    pub(crate) fn has(&self, name: &str) -> bool {
        let is_false = |value: &(String, String)| value.1 == "false";
        self.0.iter().any(|(own, value)| own == name && !value.as_ref().is_some_and(is_false))
    }

    /// True if a property has a name that begins like this.
    pub(crate) fn has_some(&self, prefix: &str) -> bool {
        self.0.iter().any(|(own, _)| own.starts_with(prefix))
    }

    /// Returns the number that a property has.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.0.iter().find(|(own, _)| own == name)?.1.as_ref()?.1.parse().ok()
    }

    /// Removes the properties whose names begin like this.
    pub(crate) fn remove(&mut self, prefix: &str) {
        self.0.retain(|(own, _)| !own.starts_with(prefix));
    }

    /// Sets a property, with a number of 32 bits if there is one.
    pub(crate) fn set(&mut self, name: &str, number: Option<u64>) {
        self.0.retain(|(own, _)| own != name);
        self.0.push((name.to_owned(), number.map(|number| ("i32".to_owned(), number.to_string()))));
    }

    /// Returns the annotation with these properties; `None` if it can't be written.
    pub(crate) fn annotation(&self, ctx: &Context) -> Option<Attr> {
        let borrowed: Vec<(&str, Option<(&str, &str)>)> = self
            .0
            .iter()
            .map(|(name, value)| (&**name, value.as_ref().map(|(ty, value)| (&**ty, &**value))))
            .collect();
        let body = annotation(&borrowed)?;
        let dialect = ctx.name("llvm");
        Some(ctx.attr(AttrKind::Opaque { dialect, body: body.into(), pretty: true, ty: None }))
    }
}

/// Returns the fields of `<a = b, c = <…>>`, one level of them.
fn fields(text: &str) -> Option<Vec<(&str, &str)>> {
    let inside = text.strip_prefix('<')?.strip_suffix('>')?;
    let mut fields = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (at, c) in inside.char_indices().chain([(inside.len(), ',')]) {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                if !inside[start..at].trim().is_empty() {
                    let (name, said) = inside[start..at].split_once('=')?;
                    fields.push((name.trim(), said.trim()));
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_property_has_a_field_and_comes_back() {
        for (.., name, value) in PROPERTIES {
            let values: &[Option<(&str, &str)>] = match value {
                Present | OneOf(_) => &[None],
                Flag | Opposite => &[Some(("i1", "true")), Some(("i1", "false"))],
                One => &[Some(("i32", "1"))],
                Number => &[Some(("i32", "4"))],
            };
            for value in values {
                let body = annotation(&[(name, *value)]).expect("a field");
                let text = match value {
                    None => format!("!{{!\"{name}\"}}"),
                    Some((ty, value)) => format!("!{{!\"{name}\", {ty} {value}}}"),
                };
                assert_eq!(nodes(&body), Some(vec![text]), "{body}");
            }
        }
    }

    #[test]
    fn fields_are_in_groups_and_in_order() {
        let properties = [
            ("llvm.loop.mustprogress", None),
            ("llvm.loop.unroll.enable", None),
            ("llvm.loop.vectorize.width", Some(("i32", "4"))),
            ("llvm.loop.vectorize.enable", Some(("i1", "true"))),
        ];
        let body = "loop_annotation<vectorize = <disable = false, width = 4 : i32>, unroll = <disable = false>, mustProgress = true>";
        assert_eq!(annotation(&properties).as_deref(), Some(body));
        assert_eq!(annotation(&[("llvm.loop.other", None)]), None);
        let named = body.replace("vectorize = <", "vectorize = #llvm.loop_vectorize<");
        assert_eq!(nodes(&named), nodes(body));
        assert_eq!(nodes("loop_annotation<startLoc = loc(1)>"), None);
        assert_eq!(annotation(&[]).as_deref(), Some("loop_annotation<>"));
    }
}
