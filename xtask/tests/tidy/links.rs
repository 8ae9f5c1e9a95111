//! Links between pages: each goes to a file that is there, and to a heading that it has.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::assert_none;
use crate::sources::{Source, root, sources};

#[test]
fn links_lead_somewhere() {
    let pages = sources(&["md"]);
    let mut complaints = Vec::new();
    for page in &pages {
        for link in links(&page.text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let path = match path.is_empty() {
                true => page.path.clone(),
                false => beside(&page.path, path),
            };
            let target = pages.iter().find(|own| own.path == path);
            if target.is_none() && !root().join(&path).exists() {
                complaints.push(format!("{}: {link}: no such file", page.path));
            }
            let has = |page: &Source| headings(&page.text).contains(heading);
            if !heading.is_empty() && !target.is_some_and(has) {
                complaints.push(format!("{}: {link}: no such heading", page.path));
            }
        }
    }
    assert_none("links lead to files and headings", complaints);
}

#[test]
fn every_chapter_is_in_the_summary() {
    let pages = sources(&["md"]);
    let summary = pages.iter().find(|page| page.path == "book/src/SUMMARY.md").expect("there is a summary");
    let listed: BTreeSet<String> =
        links(&summary.text).iter().map(|link| format!("book/src/{link}")).collect();
    let is_lost = |page: &&Source| {
        page.path.starts_with("book/src/") && page.path != summary.path && !listed.contains(&page.path)
    };
    let lost = pages.iter().filter(is_lost).map(|page| page.path.clone()).collect();
    assert_none("the summary lists every chapter", lost);
}

/// Returns the targets of a page's links, those in code left out.
fn links(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        if is_code {
            continue;
        }
        // What stands between backticks is code: every second piece.
        for piece in line.split('`').step_by(2).flat_map(|piece| piece.split("](").skip(1)) {
            found.extend(piece.split_once(')').map(|(target, _)| target));
        }
    }
    found
}

/// Returns the anchors of a page's headings, as GitHub and mdbook make them.
fn headings(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
        title.chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

/// Returns the path of a link on a page, from the project's top.
fn beside(page: &str, link: &str) -> String {
    let folder = Path::new(page).parent().unwrap_or(Path::new(""));
    let mut path = PathBuf::new();
    for part in folder.join(link).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    path.to_string_lossy().replace('\\', "/")
}
