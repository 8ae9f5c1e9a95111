//! No two modules of a crate use each other, directly or through others.
//!
//! Modules with one parent are compared: what stands in a module or below it uses what stands in
//! another one or below that. A module and its own children may use each other. Imports and paths
//! are read off the text, re-exports are followed, tests inside of files are not looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates, as folders.
const CRATES: &[&str] = &[
    "polyhedra",
    "ir",
    "dialects",
    "check",
    "transforms",
    "lowering",
    "loomir",
    "testing",
    "tests",
    "xtask",
];

/// Circles that are still there: the crate, the modules' parent, and how many modules are in it.
/// A number that falls is lowered here; nothing is added.
const LEFT: &[(&str, &str, usize)] = &[
    ("dialects", "interp", 17),
    ("dialects", "llvm", 2),
    ("ir", "", 13),
    ("ir", "text", 5),
    ("loomir", "cli", 3),
    ("lowering", "cfg::loop_fusion", 7),
    ("lowering", "ll::read", 5),
    ("lowering", "to_llvm", 2),
    ("tests", "ll", 2),
];

/// A module, as the names on the way to it.
type Name = Vec<String>;

#[test]
fn modules_use_each_other_in_one_direction() {
    let mut found = BTreeSet::new();
    let mut told = String::new();
    for folder in CRATES {
        let modules = Modules::read(&root().join(folder).join("src"));
        for circle in modules.circles() {
            let parent = circle.parent.join("::");
            told += &format!("{folder}: {parent}: {}\n", circle.members.join(", "));
            found.insert((*folder, parent, circle.members.len()));
        }
    }
    let left = LEFT.iter().map(|(folder, parent, size)| (*folder, (*parent).to_owned(), *size)).collect();
    assert_eq!(found, left, "circles between modules:\n{told}");
}

#[test]
fn circles_are_found() {
    let texts = [
        ("", "pub use a::Thing; mod a; mod b; mod c;"),
        ("a", "use crate::b::{self, inner::Part};\nmod own;\nuse own::Own;"),
        ("a::own", "use super::Thing;"),
        ("b", "fn f() -> crate::Thing {}"),
        ("c", "// use crate::a::Thing;\nuse super::b;"),
    ];
    let circles = Modules::of(texts.map(|(name, text)| (name, text.to_owned()))).circles();
    assert_eq!(circles.len(), 1);
    assert_eq!(circles[0].members, ["a", "b"]);
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")).to_owned()
}

/// Modules with one parent that use each other.
struct Circle {
    parent: Name,
    members: Vec<String>,
}

/// The modules of a crate, with what they say.
struct Modules {
    texts: BTreeMap<Name, String>,
}

impl Modules {
    /// Reads all files below a folder.
    fn read(folder: &Path) -> Modules {
        let mut texts = Vec::new();
        let mut open = vec![(folder.to_owned(), String::new())];
        while let Some((folder, name)) = open.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let below = if name.is_empty() { stem.clone() } else { format!("{name}::{stem}") };
                if path.is_dir() {
                    open.push((path, below));
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let is_root = name.is_empty() && (stem == "lib" || stem == "main");
                    let text = fs::read_to_string(&path).unwrap_or_default();
                    texts.push((if is_root { String::new() } else { below }, text));
                }
            }
        }
        Modules::of(texts)
    }

    fn of(texts: impl IntoIterator<Item = (impl AsRef<str>, String)>) -> Modules {
        let name = |text: &str| text.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let mut all: BTreeMap<Name, String> = BTreeMap::new();
        for (of, text) in texts {
            // A library and its command share the root.
            all.entry(name(of.as_ref())).or_default().push_str(&without_tests_and_comments(&text));
        }
        Modules { texts: all }
    }

    fn circles(&self) -> Vec<Circle> {
        let mut uses: BTreeMap<Name, BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
        let known: BTreeMap<&Name, &Name> = self.texts.keys().map(|name| (name, name)).collect();
        for (user, text) in &self.texts {
            for path in paths(text) {
                let Some(used) = self.resolve(user, &path, 0) else { continue };
                let Some(used) = known.get(&used) else { continue };
                let common = user.iter().zip(used.iter()).take_while(|(a, b)| a == b).count();
                if let (Some(own), Some(other)) = (user.get(common), used.get(common)) {
                    uses.entry(user[..common].to_vec()).or_default().entry(own).or_default().insert(other);
                }
            }
        }
        let of_one_parent = |(parent, uses): (&Name, &BTreeMap<&str, BTreeSet<&str>>)| {
            let circles = among(uses).into_iter();
            circles.map(|members| Circle { parent: parent.clone(), members }).collect::<Vec<_>>()
        };
        uses.iter().flat_map(of_one_parent).collect()
    }

    /// The module that a path of another one leads to, re-exports followed.
    fn resolve(&self, user: &Name, path: &str, depth: u32) -> Option<Name> {
        let mut parts = path.split("::").peekable();
        let mut at = match *parts.peek()? {
            "crate" => Name::new(),
            "self" => user.clone(),
            "super" => user[..user.len().checked_sub(1)?].to_vec(),
            _ => return None,
        };
        parts.next();
        while parts.peek() == Some(&"super") {
            parts.next();
            at.pop()?;
        }
        while let Some(part) = parts.peek() {
            let below = [&at[..], &[(*part).to_owned()]].concat();
            if !self.texts.contains_key(&below) {
                break;
            }
            at = below;
            parts.next();
        }
        let Some(item) = parts.next().filter(|_| depth < 8) else { return Some(at) };
        let exported = exports(&self.texts[&at]).find_map(|path| {
            let leads = path.rsplit("::").next() == Some(item);
            let begins = ["crate::", "self::", "super::"].iter().any(|start| path.starts_with(start));
            let path = if begins { path } else { format!("self::{path}") };
            let home = leads.then(|| self.resolve(&at, &path, depth + 1)).flatten();
            home.filter(|home| *home != at)
        });
        Some(exported.unwrap_or(at))
    }
}

/// The names that one leads to.
fn reached<'n>(uses: &BTreeMap<&str, BTreeSet<&'n str>>, from: &str) -> BTreeSet<&'n str> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&str> = uses.get(from).into_iter().flatten().copied().collect();
    while let Some(at) = open.pop() {
        if seen.insert(at) {
            open.extend(uses.get(at).into_iter().flatten());
        }
    }
    seen
}

/// The names of each circle in a graph. Two are in one if each leads to the other.
fn among(uses: &BTreeMap<&str, BTreeSet<&str>>) -> Vec<Vec<String>> {
    let reached: BTreeMap<&str, _> = uses.keys().map(|name| (*name, reached(uses, name))).collect();
    let leads = |from: &str, to: &str| reached.get(from).is_some_and(|all| all.contains(to));
    let circle = |name: &&str| -> Vec<String> {
        uses.keys()
            .filter(|other| leads(name, other) && leads(other, name))
            .map(|&own| own.to_owned())
            .collect()
    };
    let circles: BTreeSet<Vec<String>> = uses.keys().map(circle).filter(|circle| circle.len() > 1).collect();
    circles.into_iter().collect()
}

fn without_tests_and_comments(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The paths from the crate, the module or its parent in a text, in imports and elsewhere.
fn paths(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let is_start = |at: usize| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|before| !before.is_alphanumeric() && before != '_' && before != ':')
    };
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in text.match_indices(start).filter(|(at, _)| is_start(*at)) {
            expand(&text[at..], "", &mut found);
        }
    }
    found
}

/// The paths that are exported from a module, as they are written there.
fn exports(text: &str) -> impl Iterator<Item = String> {
    let visible = ["pub use ", "pub(crate) use ", "pub(super) use "];
    let places = visible.into_iter().flat_map(|start| text.match_indices(start));
    places.flat_map(|(at, start)| {
        let mut found = Vec::new();
        expand(&text[at + start.len()..], "", &mut found);
        found
    })
}

/// Reads one path off the beginning of a text, with all that is in its braces.
fn expand<'t>(text: &'t str, before: &str, found: &mut Vec<String>) -> &'t str {
    let end =
        text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | ':' | '*')).unwrap_or(text.len());
    let path = format!("{before}{}", &text[..end]);
    let Some(mut rest) = text[end..].strip_prefix('{').filter(|_| path.ends_with("::")) else {
        // What an import is renamed to is of no interest.
        found.push(path.trim_end_matches("::self").to_owned());
        let rest = &text[end..];
        return rest
            .find([',', '}', ';'])
            .filter(|_| rest.starts_with(" as "))
            .map_or(rest, |end| &rest[end..]);
    };
    loop {
        rest = rest.trim_start();
        match rest.chars().next() {
            Some('}') => return &rest[1..],
            Some(',') => rest = &rest[1..],
            Some(c) if c.is_alphanumeric() || c == '_' => rest = expand(rest, &path, found),
            _ => return rest,
        }
    }
}
