//! The project's files.

use std::fs;
use std::path::{Path, PathBuf};

/// One text file of the project.
pub(crate) struct Source {
    /// Path from the project's top, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the project").to_path_buf()
}

/// Reads every file of the project with one of these extensions, sorted by path.
pub(crate) fn sources(extensions: &[&str]) -> Vec<Source> {
    let root = root();
    let (mut found, mut folders) = (Vec::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder can be listed").flatten() {
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if path.is_dir() {
                if !["target", ".git"].contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|found| extensions.iter().any(|wanted| found == *wanted)) {
                let text =
                    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let path =
                    path.strip_prefix(&root).expect("it is below").to_string_lossy().replace('\\', "/");
                found.push(Source { path, text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

pub(crate) fn rust() -> Vec<Source> {
    sources(&["rs"])
}
