//! The files that `loomir new` writes, and the lines that it adds to files that exist.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use crate::cli::Failure;

/// Files to write and lines to add in a folder.
pub(super) struct Plan {
    root: PathBuf,
    is_new: bool,
    files: Vec<(String, String)>,
    lines: Vec<Line>,
    next: Vec<String>,
}

/// A line for a file that exists.
struct Line {
    file: String,
    /// The line of the file that it goes below, without spaces around. It occurs once.
    below: &'static str,
    text: String,
}

impl Plan {
    pub(super) fn new(root: PathBuf) -> Plan {
        Plan { root, is_new: false, files: Vec::new(), lines: Vec::new(), next: Vec::new() }
    }

    /// Refuses a folder that exists.
    pub(super) fn only_new_folder(&mut self) {
        self.is_new = true;
    }

    /// Adds a file, by its path below the folder.
    pub(super) fn file(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.files.push((path.into(), text.into()));
    }

    /// Adds a line to a file, below another. A file of this plan gets it too.
    pub(super) fn line(&mut self, file: &str, below: &'static str, text: impl Into<String>) {
        let text = text.into();
        match self.files.iter_mut().find(|(path, _)| path == file) {
            Some((_, own)) => _ = insert(own, below, &text),
            None => self.lines.push(Line { file: file.to_owned(), below, text }),
        }
    }

    /// Adds what is left to do for the user.
    pub(super) fn next(&mut self, text: &str) {
        self.next.push(text.to_owned());
    }

    /// Writes all files. Returns the report for the user.
    ///
    /// # Errors
    /// A file that exists, before anything is written, or that cannot be written.
    pub(super) fn carry_out(&self) -> Result<String, Failure> {
        let shown = |path: &str| self.root.join(path).display().to_string();
        let exists = |path: String| {
            let help = "nothing is written; choose another name, or move the file away";
            Failure::input(format!("'{path}' exists\nhelp: {help}"))
        };
        if self.is_new && self.root.exists() {
            return Err(exists(self.root.display().to_string()));
        }
        if let Some((path, _)) = self.files.iter().find(|(path, _)| self.root.join(path).exists()) {
            return Err(exists(shown(path)));
        }
        let (changed, by_hand) = self.changed();
        let mut report = String::new();
        let cannot = |path: &str, error: std::io::Error| {
            Failure::input(format!("cannot write '{}': {error}", shown(path)))
        };
        for (path, text) in &self.files {
            let file = self.root.join(path);
            let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
            let created = folder.and_then(|()| std::fs::File::create_new(&file));
            let written = created.and_then(|mut file| file.write_all(text.as_bytes()));
            written.map_err(|error| cannot(path, error))?;
            let _ = writeln!(report, "wrote {}", shown(path));
        }
        for (path, text) in changed {
            std::fs::write(self.root.join(path), text).map_err(|error| cannot(path, error))?;
            let _ = writeln!(report, "changed {}", shown(path));
        }
        for line in by_hand {
            let _ = writeln!(report, "next: add to {}: {}", shown(&line.file), line.text.trim());
        }
        for text in &self.next {
            let _ = writeln!(report, "next: {text}");
        }
        Ok(report)
    }

    /// Returns the new texts of files that exist, and the lines that have no place in them.
    fn changed(&self) -> (BTreeMap<&str, String>, Vec<&Line>) {
        let mut texts: BTreeMap<&str, String> = BTreeMap::new();
        let mut by_hand = Vec::new();
        for line in &self.lines {
            let text = match texts.remove(line.file.as_str()) {
                Some(text) => Ok(text),
                None => std::fs::read_to_string(self.root.join(&line.file)),
            };
            let Ok(mut text) = text else {
                by_hand.push(line);
                continue;
            };
            if !insert(&mut text, line.below, &line.text) {
                by_hand.push(line);
            }
            texts.insert(&line.file, text);
        }
        texts.retain(|file, text| {
            std::fs::read_to_string(self.root.join(file)).is_ok_and(|before| before != *text)
        });
        (texts, by_hand)
    }
}

/// The start of a line that names a module.
const MODULE: &str = "pub mod ";

/// Inserts a line below another, a module among the modules there by its name. False if the other
/// line does not occur exactly once.
fn insert(text: &mut String, below: &str, line: &str) -> bool {
    let mut places = text.lines().enumerate().filter(|(_, own)| own.trim() == below).map(|(at, _)| at);
    let (Some(at), None) = (places.next(), places.next()) else { return false };
    let mut lines: Vec<&str> = text.lines().collect();
    let is_before = |own: &&&str| line.starts_with(MODULE) && own.starts_with(MODULE) && ***own < *line;
    let before = lines[at + 1..].iter().take_while(is_before).count();
    lines.insert(at + 1 + before, line);
    *text = lines.join("\n") + "\n";
    true
}
