//! Rules of the prose: width, openings, names.

use crate::assert_none;
use crate::sources::{Source, rust, sources};

/// The widest comment, in characters.
const MAX_COLUMNS: usize = 100;

/// Where comments may be wider still, by how paths begin.
const WIDE_COMMENTS: &[&str] = &["lowering/src/cfg/loop_fusion"];

/// The words that no doc comment should begin with.
const BAD_WORDS: &[&str] = &["What", "Whether", "How", "That", "Those"];

/// Names that were replaced by the field's own.
const OLD_NAMES: [&str; 10] = [
    "Means",
    "Forest",
    "Unsaid",
    "Rests",
    "clear_way",
    "told_by",
    "knowing",
    "take_in",
    "put_off",
    "max_delay",
];

/// The text of a line that is a comment alone, and true if it is one of documentation.
fn comment(line: &str) -> Option<(&str, bool)> {
    let text = line.trim_start().strip_prefix("//")?;
    let documented = text.strip_prefix('/').or_else(|| text.strip_prefix('!'));
    Some((documented.unwrap_or(text).trim_start(), documented.is_some()))
}

/// Returns the files whose comments are held to the rules.
fn held() -> Vec<Source> {
    let mut files = rust();
    files.retain(|source| !WIDE_COMMENTS.iter().any(|start| source.path.starts_with(start)));
    files
}

#[test]
fn comments_are_narrow() {
    let mut complaints = Vec::new();
    for source in &held() {
        // Tables, code and what has no space cannot be broken.
        let mut is_code = false;
        for (i, line) in source.text.lines().enumerate() {
            let Some((text, _)) = comment(line) else {
                is_code = false;
                continue;
            };
            is_code ^= text.starts_with("```");
            let is_whole = is_code || text.starts_with('|') || !text.contains(' ') || text.starts_with('`');
            if line.chars().count() > MAX_COLUMNS && !is_whole {
                complaints.push(format!("{}:{}: {}", source.path, i + 1, line.chars().count()));
            }
        }
    }
    assert_none(&format!("comments end within {MAX_COLUMNS} columns"), complaints);
}

#[test]
fn comments_begin_with_the_thing() {
    let mut complaints = Vec::new();
    for source in &held() {
        let mut is_first = true;
        for (i, line) in source.text.lines().enumerate() {
            let text = comment(line).and_then(|(text, documented)| documented.then_some(text));
            let word = text.and_then(|text| text.split_whitespace().next());
            if is_first && word.is_some_and(|word| BAD_WORDS.contains(&word)) {
                complaints.push(format!("{}:{}: {}", source.path, i + 1, text.unwrap_or_default()));
            }
            is_first = text.is_none();
        }
    }
    assert_none(&format!("a doc comment begins with the thing, not with {BAD_WORDS:?}"), complaints);
}

#[test]
fn old_names_are_gone() {
    let mut complaints = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for source in rust().iter().filter(|source| source.path != "xtask/tests/tidy/prose.rs") {
        for (i, line) in source.text.lines().enumerate().filter(|(_, line)| comment(line).is_none()) {
            for word in line.split(|c| !is_word(c)).filter(|word| OLD_NAMES.contains(word)) {
                complaints.push(format!("{}:{}: {word}", source.path, i + 1));
            }
        }
    }
    assert_none("code uses the field's names", complaints);
}

#[test]
fn pages_are_narrow() {
    let mut complaints = Vec::new();
    for source in sources(&["md"]).iter().filter(|source| !source.path.starts_with("benches/results/")) {
        let mut is_code = false;
        for (i, line) in source.text.lines().enumerate() {
            is_code ^= line.trim_start().starts_with("```");
            // Tables, code and what has no space cannot be broken.
            let is_whole = is_code || line.starts_with(['|', '[', '!']) || line.starts_with("    ");
            if line.chars().count() > MAX_COLUMNS && !is_whole {
                complaints.push(format!("{}:{}: {}", source.path, i + 1, line.chars().count()));
            }
        }
    }
    assert_none(&format!("pages end within {MAX_COLUMNS} columns"), complaints);
}

#[test]
fn the_map_is_short() {
    let map = std::fs::read_to_string(crate::sources::root().join("ARCHITECTURE.md")).unwrap_or_default();
    let words = map.split_whitespace().count();
    assert!((1..=1500).contains(&words), "ARCHITECTURE.md has {words} words, of 1500");
}
