//! A strict reader of the pages: known elements and attributes only, closed in order.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Elements without an end.
const VOID: [&str; 2] = ["meta", "input"];

/// All elements that a page may have.
const ELEMENTS: &[&str] = &[
    "a",
    "article",
    "aside",
    "body",
    "circle",
    "code",
    "dd",
    "defs",
    "details",
    "div",
    "dl",
    "dt",
    "figcaption",
    "figure",
    "footer",
    "g",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "head",
    "header",
    "html",
    "input",
    "kbd",
    "label",
    "li",
    "main",
    "marker",
    "meta",
    "nav",
    "ol",
    "p",
    "path",
    "rect",
    "script",
    "section",
    "span",
    "strong",
    "style",
    "summary",
    "svg",
    "table",
    "tbody",
    "td",
    "text",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
];

/// A page that was read.
pub(super) struct Markup {
    ids: BTreeMap<String, String>,
    links: BTreeSet<String>,
    scripts: Vec<(String, String)>,
}

impl Markup {
    /// Reads a page.
    pub(super) fn read(page: &str) -> Result<Markup, String> {
        let mut markup = Markup { ids: BTreeMap::new(), links: BTreeSet::new(), scripts: Vec::new() };
        let mut open: Vec<(String, Option<String>)> = Vec::new();
        let mut rest = page.strip_prefix("<!DOCTYPE html>\n").ok_or("no doctype")?;
        while !rest.is_empty() {
            let Some(tag) = rest.strip_prefix('<') else {
                let end = rest.find('<').unwrap_or(rest.len());
                if rest[..end].contains('>') {
                    return Err(format!("a sign that is not escaped: {}", &rest[..end]));
                }
                let text = unescaped(&rest[..end])?;
                for (_, id) in &open {
                    if let Some(own) = id.as_ref().and_then(|id| markup.ids.get_mut(id)) {
                        own.push_str(&text);
                    }
                }
                rest = &rest[end..];
                continue;
            };
            let end = tag_end(tag).ok_or("an element does not end")?;
            let (tag, behind) = (&tag[..end], &tag[end + 1..]);
            rest = behind;
            if let Some(name) = tag.strip_prefix('/') {
                let (own, _) = open.pop().ok_or("an end without a start")?;
                if own != name {
                    return Err(format!("<{own}> ends as </{name}>"));
                }
                continue;
            }
            let (name, attributes) = attributes(tag.trim_end_matches('/'))?;
            if !ELEMENTS.contains(&name) {
                return Err(format!("an unknown element: {name}"));
            }
            let id = markup.start(&attributes)?;
            if name == "script" || name == "style" {
                let (content, behind) = rest.split_once(&format!("</{name}>")).ok_or("no end")?;
                if name == "script" {
                    let kind = attributes.get("type").cloned().unwrap_or_default();
                    markup.scripts.push((kind, content.to_owned()));
                }
                rest = behind;
            } else if !VOID.contains(&name) && !tag.ends_with('/') {
                open.push((name.to_owned(), id));
            }
        }
        if open.is_empty() { Ok(markup) } else { Err(format!("not closed: {open:?}")) }
    }

    fn start(&mut self, attributes: &BTreeMap<String, String>) -> Result<Option<String>, String> {
        for (name, value) in attributes {
            if name.starts_with("on") || name == "style" || name == "src" {
                return Err(format!("attribute {name}"));
            }
            if name == "href" && !value.starts_with('#') {
                return Err(format!("a link out of the page: {value}"));
            }
            if matches!(&**name, "href" | "aria-labelledby") {
                self.links.insert(value.trim_start_matches('#').to_owned());
            }
        }
        let id = attributes.get("id").cloned();
        if let Some(id) = &id
            && self.ids.insert(id.clone(), String::new()).is_some()
        {
            return Err(format!("two elements are {id}"));
        }
        Ok(id)
    }

    /// Links to nothing.
    pub(super) fn dangling(&self) -> Vec<&str> {
        self.links.iter().filter(|link| !self.ids.contains_key(*link)).map(String::as_str).collect()
    }

    /// The text inside of an element.
    pub(super) fn text_of(&self, id: &str) -> Option<String> {
        self.ids.get(id).cloned()
    }

    /// The number of scripts.
    pub(super) fn scripts(&self) -> usize {
        self.scripts.len()
    }

    /// The data of a script.
    pub(super) fn script(&self, kind: &str) -> Value {
        let (_, content) = self.scripts.iter().find(|(own, _)| own == kind).expect("a script");
        serde_json::from_str(content).expect("JSON")
    }
}

/// Finds the end of a tag, outside of quotes.
fn tag_end(tag: &str) -> Option<usize> {
    let mut is_quoted = false;
    tag.bytes().position(|byte| {
        is_quoted ^= byte == b'"';
        byte == b'>' && !is_quoted
    })
}

/// Returns the name of a start tag, and its attributes.
fn attributes(tag: &str) -> Result<(&str, BTreeMap<String, String>), String> {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    let mut all = BTreeMap::new();
    while !rest.trim().is_empty() {
        rest = rest.trim_start();
        let end = rest.find([' ', '=']).unwrap_or(rest.len());
        let key = &rest[..end];
        if !key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":-".contains(&byte)) {
            return Err(format!("an odd attribute: {key}"));
        }
        rest = &rest[end..];
        let value = match rest.strip_prefix("=\"") {
            Some(quoted) => {
                let (value, behind) = quoted.split_once('"').ok_or("an open quote")?;
                rest = behind;
                unescaped(value)?
            }
            None => String::new(),
        };
        all.insert(key.to_owned(), value);
    }
    Ok((name, all))
}

/// Replaces the references to characters.
fn unescaped(text: &str) -> Result<String, String> {
    let mut parts = text.split('&');
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(';').ok_or_else(|| format!("an odd reference: {part}"))?;
        all.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            _ => return Err(format!("an odd reference: {name}")),
        });
        all.push_str(rest);
    }
    Ok(all)
}
