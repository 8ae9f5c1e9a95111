//! Annotations of loops: LLVM's metadata and the dialect's attribute.
//!
//! In the text a latch's branch has a node (`!llvm.loop`) that lists properties, each a node of a
//! name and maybe a value. In the dialect it has `#llvm.loop_annotation<…>`, with a field for each
//! property, some in groups. [`PROPERTIES`] maps one to the other. A follow-up lists the properties
//! of a loop that a transformation makes. Loomir's own marks are attributes beside it, and
//! properties in the text, so that a later run finds them. The places of a loop in its source stand
//! among its properties in the text, and are [metadata](PLACES) of the branch. A loop with other
//! properties that have no field (parallel accesses) keeps all of them as metadata.

use std::fmt::Write;

use hashbrown::{HashMap, HashSet};
use loomir_ir::{Attr, AttrKind, Context};
use loomir_transforms::directive::DIRECTIVE;

/// The name of the attribute.
pub(crate) const ANNOTATION: &str = "loop_annotation";

/// The metadata of a branch with the places of its loop in the source, as they are listed.
pub(super) const PLACES: &str = "llvm.loop.places";

/// The start of the names of Loomir's own marks. Each is a property of that name without a value,
/// and an attribute of the branch.
pub(super) const MARK: &str = "loomir.";

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
    /// Properties of another loop.
    Follow,
}

use Value::{Flag, Follow, Number, One, OneOf, Opposite, Present};

/// The group and field of the attribute, the property's name in the text, and its value. In the
/// order of the attribute.
const PROPERTIES: &[(&str, &str, &str, Value)] = &[
    ("", "disableNonforced", "llvm.loop.disable_nonforced", Present),
    ("vectorize", "disable", "llvm.loop.vectorize.enable", Opposite),
    ("vectorize", "predicateEnable", "llvm.loop.vectorize.predicate.enable", Flag),
    ("vectorize", "scalableEnable", "llvm.loop.vectorize.scalable.enable", Flag),
    ("vectorize", "width", "llvm.loop.vectorize.width", Number),
    ("vectorize", "followupVectorized", "llvm.loop.vectorize.followup_vectorized", Follow),
    ("vectorize", "followupEpilogue", "llvm.loop.vectorize.followup_epilogue", Follow),
    ("vectorize", "followupAll", "llvm.loop.vectorize.followup_all", Follow),
    ("interleave", "count", "llvm.loop.interleave.count", Number),
    ("unroll", "disable", "llvm.loop.unroll.disable", OneOf("llvm.loop.unroll.enable")),
    ("unroll", "count", "llvm.loop.unroll.count", Number),
    ("unroll", "runtimeDisable", "llvm.loop.unroll.runtime.disable", Present),
    ("unroll", "full", "llvm.loop.unroll.full", Present),
    ("unroll", "followupUnrolled", "llvm.loop.unroll.followup_unrolled", Follow),
    ("unroll", "followupRemainder", "llvm.loop.unroll.followup_remainder", Follow),
    ("unroll", "followupAll", "llvm.loop.unroll.followup_all", Follow),
    ("unrollAndJam", "disable", "llvm.loop.unroll_and_jam.disable", OneOf("llvm.loop.unroll_and_jam.enable")),
    ("unrollAndJam", "count", "llvm.loop.unroll_and_jam.count", Number),
    ("unrollAndJam", "followupOuter", "llvm.loop.unroll_and_jam.followup_outer", Follow),
    ("unrollAndJam", "followupInner", "llvm.loop.unroll_and_jam.followup_inner", Follow),
    ("unrollAndJam", "followupRemainderOuter", "llvm.loop.unroll_and_jam.followup_remainder_outer", Follow),
    ("unrollAndJam", "followupRemainderInner", "llvm.loop.unroll_and_jam.followup_remainder_inner", Follow),
    ("unrollAndJam", "followupAll", "llvm.loop.unroll_and_jam.followup_all", Follow),
    ("licm", "disable", "llvm.licm.disable", Present),
    ("licm", "versioningDisable", "llvm.loop.licm_versioning.disable", Present),
    ("distribute", "disable", "llvm.loop.distribute.enable", Opposite),
    ("distribute", "followupCoincident", "llvm.loop.distribute.followup_coincident", Follow),
    ("distribute", "followupSequential", "llvm.loop.distribute.followup_sequential", Follow),
    ("distribute", "followupFallback", "llvm.loop.distribute.followup_fallback", Follow),
    ("distribute", "followupAll", "llvm.loop.distribute.followup_all", Follow),
    ("pipeline", "disable", "llvm.loop.pipeline.disable", Flag),
    ("pipeline", "initiationinterval", "llvm.loop.pipeline.initiationinterval", Number),
    ("peeled", "count", "llvm.loop.peeled.count", Number),
    ("unswitch", "partialDisable", "llvm.loop.unswitch.partial.disable", Present),
    ("", "mustProgress", "llvm.loop.mustprogress", Present),
    ("", "isVectorized", "llvm.loop.isvectorized", One),
];

/// The deepest nesting of follow-ups.
pub(super) const MAX_FOLLOWED: usize = 8;

/// The value of a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    Nothing,
    /// A type and a value.
    Typed(String, String),
    /// The properties of a loop that a transformation makes.
    Follow(Properties),
    /// A string, as it is written between quotes.
    Text(String),
}

/// The properties of a loop, by LLVM's names.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Properties(Vec<(String, Said)>);

/// Returns the properties of an attribute with this body, as nodes of metadata. `None` if a
/// property has no node here.
pub(super) fn nodes(body: &str) -> Option<Vec<String>> {
    Some(Properties::read(body.strip_prefix(ANNOTATION)?, MAX_FOLLOWED)?.nodes())
}

/// Returns the number of branches in a text that have directives, in follow-ups too. Linear.
pub fn directed_branches(text: &str) -> usize {
    let property = format!("!{{!\"{DIRECTIVE}\"");
    let lines = text.lines().filter(|line| line.starts_with('!'));
    let definitions = lines.filter_map(|line| line.split_once(" = "));
    // The nodes with directives, and for each node those that name it.
    let (mut found, mut users): (Vec<&str>, HashMap<&str, Vec<&str>>) = Default::default();
    for (name, node) in definitions {
        if node.contains(&property) {
            found.push(name);
        }
        let inside = node.split_once('{').map_or("", |(_, inside)| inside).trim_end_matches('}');
        for used in inside.split(", ").filter(|used| used.starts_with('!') && *used != name) {
            users.entry(used).or_default().push(name);
        }
    }
    let mut nodes: HashSet<&str> = found.iter().copied().collect();
    while let Some(node) = found.pop() {
        let more = users.get(node).into_iter().flatten();
        found.extend(more.filter(|own| nodes.insert(own)));
    }
    if nodes.is_empty() {
        return 0;
    }
    let attached = text.split("!llvm.loop ").skip(1);
    let numbers = attached.filter_map(|rest| rest.split([',', '\n', '\r', ' ']).next());
    numbers.filter(|number| nodes.contains(number)).count()
}

impl Properties {
    /// Returns the properties of these names.
    pub(super) fn new(all: Vec<(String, Said)>) -> Properties {
        Properties(all)
    }

    /// Reads the annotation of a branch. `None` if it has properties that have no name here.
    pub(crate) fn of(ctx: &Context, annotation: Attr) -> Option<Properties> {
        let AttrKind::Opaque { body, .. } = annotation.kind(ctx) else { return None };
        Properties::read(body.strip_prefix(ANNOTATION)?, MAX_FOLLOWED)
    }

    /// Reads `<field = value, …>`. `None` if a field is not known.
    fn read(text: &str, depth: usize) -> Option<Properties> {
        let mut all = Vec::new();
        for (field, said) in fields(text)? {
            match unnamed(said).starts_with('<') {
                true => {
                    for (inner, said) in fields(unnamed(said))? {
                        all.extend(property(field, inner, said, depth)?);
                    }
                }
                false => all.extend(property("", field, said, depth)?),
            }
        }
        Some(Properties(all))
    }

    /// Returns the body of the attribute: `<field = value, …>`. `None` if there is no field for a
    /// property, or it occurs twice.
    pub(super) fn body(&self) -> Option<String> {
        let mut fields: Vec<Option<String>> = vec![None; PROPERTIES.len()];
        for (name, value) in &self.0 {
            let (index, said) = PROPERTIES
                .iter()
                .enumerate()
                .find_map(|(index, (_, _, own, kind))| Some((index, field(name, value, own, *kind)?)))?;
            if fields[index].replace(said).is_some() {
                return None;
            }
        }
        let mut body = "<".to_owned();
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

    /// Returns the properties as nodes of metadata.
    fn nodes(&self) -> Vec<String> {
        let node = |(name, said): &(String, Said)| match said {
            Said::Nothing => format!("!{{!\"{name}\"}}"),
            Said::Typed(ty, value) => format!("!{{!\"{name}\", {ty} {value}}}"),
            Said::Text(text) => format!("!{{!\"{name}\", !\"{text}\"}}"),
            Said::Follow(all) => {
                let nodes = all.nodes().into_iter().map(|node| format!(", {node}"));
                format!("!{{!\"{name}\"{}}}", nodes.collect::<String>())
            }
        };
        self.0.iter().map(node).collect()
    }

    fn get(&self, name: &str) -> Option<&Said> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, said)| said)
    }

    /// True if a property is there, and its value is not false.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some_and(|said| !matches!(said, Said::Typed(_, value) if value == "false"))
    }

    /// True if a property has a name that begins like this.
    pub(crate) fn has_some(&self, prefix: &str) -> bool {
        self.0.iter().any(|(own, _)| own.starts_with(prefix))
    }

    /// Returns the number that a property has.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            Said::Typed(_, value) => value.parse().ok(),
            _ => None,
        }
    }

    /// Returns the properties of a loop that a transformation makes: those of all follow-ups with
    /// these names, each once. `None` if there is no such follow-up.
    pub(crate) fn followed(&self, names: &[&str]) -> Option<Properties> {
        let mut found: Option<Properties> = None;
        for said in names.iter().filter_map(|name| self.get(name)) {
            let Said::Follow(own) = said else { continue };
            let all = found.get_or_insert_default();
            for (name, said) in &own.0 {
                if all.get(name).is_none() {
                    all.0.push((name.clone(), said.clone()));
                }
            }
        }
        found
    }

    /// Removes the properties whose names begin like this.
    pub(crate) fn remove(&mut self, prefix: &str) {
        self.0.retain(|(own, _)| !own.starts_with(prefix));
    }

    /// Sets a property, with a number of 32 bits if there is one.
    pub(crate) fn set(&mut self, name: &str, number: Option<u64>) {
        self.0.retain(|(own, _)| own != name);
        let typed = |number: u64| Said::Typed("i32".to_owned(), number.to_string());
        self.0.push((name.to_owned(), number.map_or(Said::Nothing, typed)));
    }

    /// Returns the annotation with these properties; `None` if it can't be written.
    pub(crate) fn annotation(&self, ctx: &Context) -> Option<Attr> {
        let body = ANNOTATION.to_owned() + &self.body()?;
        let dialect = ctx.name("llvm");
        Some(ctx.attr(AttrKind::Opaque { dialect, body: body.into(), pretty: true, ty: None }))
    }
}

/// Returns the text of a value in the field of the property `own`, if the property `name` belongs
/// there.
fn field(name: &str, said: &Said, own: &str, kind: Value) -> Option<String> {
    if let (OneOf(other), Said::Nothing) = (kind, said)
        && other == name
    {
        return Some("false".to_owned());
    }
    if own != name {
        return None;
    }
    Some(match (kind, said) {
        (Present | OneOf(_), Said::Nothing) => "true".to_owned(),
        (Follow, Said::Nothing) => "<>".to_owned(),
        (Follow, Said::Follow(all)) => all.body()?,
        (kind, Said::Typed(ty, value)) => match (kind, &**ty, &**value) {
            (Flag, "i1", "true" | "false") => value.clone(),
            (Opposite, "i1", "true") => "false".to_owned(),
            (Opposite, "i1", "false") => "true".to_owned(),
            (One, "i32", "1") => "true".to_owned(),
            (Number, "i32", value) => format!("{} : i32", value.parse::<i32>().ok()?),
            _ => return None,
        },
        _ => return None,
    })
}

/// Returns an attribute's text without its name: `<…>` of `#llvm.loop_unroll<…>`.
fn unnamed(said: &str) -> &str {
    let named = said.strip_prefix("#llvm.loop_").and_then(|named| Some(&named[named.find('<')?..]));
    named.unwrap_or(said)
}

/// Returns the property of one field; an empty list if there is nothing to write.
fn property(group: &str, field: &str, said: &str, depth: usize) -> Option<Option<(String, Said)>> {
    let (_, _, name, value) = PROPERTIES.iter().find(|(own, f, ..)| *own == group && *f == field)?;
    let is_true = match said {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    };
    let flag = |flag: bool| Said::Typed("i1".to_owned(), flag.to_string());
    let (name, said) = match (value, is_true) {
        (Present, Some(false)) | (One, Some(false)) => return Some(None),
        (Present | OneOf(_), Some(true)) => (*name, Said::Nothing),
        (OneOf(other), Some(false)) => (*other, Said::Nothing),
        (Flag, Some(value)) => (*name, flag(value)),
        (Opposite, Some(value)) => (*name, flag(!value)),
        (One, Some(true)) => (*name, Said::Typed("i32".to_owned(), "1".to_owned())),
        (Number, None) => {
            let number: i32 = said.strip_suffix(": i32")?.trim().parse().ok()?;
            (*name, Said::Typed("i32".to_owned(), number.to_string()))
        }
        (Follow, None) => (*name, Said::Follow(Properties::read(unnamed(said), depth.checked_sub(1)?)?)),
        _ => return None,
    };
    Some(Some((name.to_owned(), said)))
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

    fn typed(ty: &str, value: &str) -> Said {
        Said::Typed(ty.to_owned(), value.to_owned())
    }

    fn body(properties: &[(&str, Said)]) -> Option<String> {
        let owned = properties.iter().map(|(name, said)| ((*name).to_owned(), said.clone()));
        Some(ANNOTATION.to_owned() + &Properties::new(owned.collect()).body()?)
    }

    #[test]
    fn every_property_has_a_field_and_comes_back() {
        for (.., name, value) in PROPERTIES {
            let inner = ("llvm.loop.unroll.count".to_owned(), typed("i32", "3"));
            let values = match value {
                Present | OneOf(_) => vec![Said::Nothing],
                Flag | Opposite => vec![typed("i1", "true"), typed("i1", "false")],
                One => vec![typed("i32", "1")],
                Number => vec![typed("i32", "4")],
                Follow => {
                    vec![Said::Follow(Properties::new(vec![inner])), Said::Follow(Properties::default())]
                }
            };
            for value in values {
                let body = body(&[(name, value.clone())]).expect("a field");
                let text = match value {
                    Said::Nothing => format!("!{{!\"{name}\"}}"),
                    Said::Typed(ty, value) => format!("!{{!\"{name}\", {ty} {value}}}"),
                    Said::Follow(own) if own == Properties::default() => format!("!{{!\"{name}\"}}"),
                    Said::Follow(_) => format!("!{{!\"{name}\", !{{!\"llvm.loop.unroll.count\", i32 3}}}}"),
                    Said::Text(text) => unreachable!("no property has a text: {text}"),
                };
                assert_eq!(nodes(&body), Some(vec![text]), "{body}");
            }
        }
    }

    #[test]
    fn fields_are_in_groups_and_in_order() {
        let properties = [
            ("llvm.loop.mustprogress", Said::Nothing),
            ("llvm.loop.unroll.enable", Said::Nothing),
            ("llvm.loop.vectorize.width", typed("i32", "4")),
            ("llvm.loop.vectorize.enable", typed("i1", "true")),
        ];
        let text = "loop_annotation<vectorize = <disable = false, width = 4 : i32>, unroll = <disable = false>, mustProgress = true>";
        assert_eq!(body(&properties).as_deref(), Some(text));
        assert_eq!(body(&[("llvm.loop.other", Said::Nothing)]), None);
        let named = text.replace("vectorize = <", "vectorize = #llvm.loop_vectorize<");
        assert_eq!(nodes(&named), nodes(text));
        assert_eq!(nodes("loop_annotation<startLoc = loc(1)>"), None);
        assert_eq!(body(&[]).as_deref(), Some("loop_annotation<>"));
    }

    #[test]
    fn branches_with_directives_are_counted() {
        let text = "  br i1 %0, label %1, label %2, !llvm.loop !0\n  br label %3, !llvm.loop !1, !dbg !9\n  br label %4, !llvm.loop !4\n!0 = distinct !{!0, !2}\n!1 = distinct !{!1, !3}\n!2 = !{!\"loomir.directive\", !\"reverse\"}\n!3 = !{!\"llvm.loop.vectorize.followup_all\", !2}\n!4 = distinct !{!4, !5}\n!5 = !{!\"llvm.loop.mustprogress\"}\n";
        assert_eq!(directed_branches(text), 2);
        assert_eq!(directed_branches(&text.replace("loomir.directive", "loomir.other")), 0);
        assert_eq!(directed_branches("!1 = !{!1, !2}\n!2 = !{!1, !\"loomir.directive\"}"), 0);
    }

    #[test]
    fn follow_ups_do_not_nest_without_end() {
        let deep = "<unroll = <followupAll = ".repeat(40) + "<>" + &">>".repeat(40);
        assert_eq!(nodes(&(ANNOTATION.to_owned() + &deep)), None);
    }
}
