//! `--report=PLACE`: a page on each input in C that goes through Loomir.
//!
//! A name that ends in `.html` is the page of the one input. Any other name is a folder, as a whole
//! build needs it: the page of `src/image.c` is `PLACE/src/image.c.html`. Names in it are those of
//! the inputs below the folder that `PLACE` is in, so that files of one name have pages of their
//! own wherever a makefile compiles them.
//!
//! A page is made from a run of its own of the front end, with lines of C. The object is the same
//! with and without a page.

use std::path::{Component, Path, PathBuf};

use super::Failure;
use super::arguments::CommandLine;

/// The place of the pages of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Pages {
    /// One page.
    File(PathBuf),
    /// A folder, and the folder that it is in.
    Folder(PathBuf, PathBuf),
}

impl Pages {
    /// Returns the place that a command names, if it names one.
    ///
    /// # Errors
    /// One page of several inputs, and an empty name.
    pub(super) fn of(line: &CommandLine) -> Result<Option<Pages>, Failure> {
        let Some(name) = line.page.as_deref() else { return Ok(None) };
        if name.is_empty() {
            return Err(Failure::usage("'--report=' names no page: give it a file.html, or a folder"));
        }
        let inputs = line.c_inputs().count();
        let is_page = Path::new(name).extension().is_some_and(|own| own.eq_ignore_ascii_case("html"));
        match (is_page, inputs) {
            (true, 2..) => Err(Failure::usage(format!(
                "'--report={name}' is one page, and {inputs} files are compiled: name a folder"
            ))),
            (true, _) => Ok(Some(Pages::File(name.into()))),
            (false, _) => {
                let folder = absolute(Path::new(name));
                let around = folder.parent().map_or_else(PathBuf::new, Path::to_path_buf);
                Ok(Some(Pages::Folder(folder, around)))
            }
        }
    }

    /// Returns the page of an input.
    fn file(&self, input: &Path) -> PathBuf {
        match self {
            Pages::File(file) => file.clone(),
            Pages::Folder(folder, around) => {
                let input = absolute(input);
                let below = input.strip_prefix(around).unwrap_or(&input);
                let names = below.components().filter(|part| matches!(part, Component::Normal(_)));
                let mut page = folder.join(names.collect::<PathBuf>()).into_os_string();
                page.push(".html");
                page.into()
            }
        }
    }

    /// Writes the page of an input.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn write(&self, input: &Path, page: &str) -> Result<(), String> {
        let file = self.file(input);
        let made = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = made.and_then(|()| std::fs::write(&file, page));
        written.map_err(|error| format!("cannot write '{}': {error}", file.display()))
    }
}

/// Returns a path from the root, without steps upwards.
fn absolute(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).components() {
        match part {
            Component::ParentDir => _ = whole.pop(),
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn of(command: &str) -> Result<Option<Pages>, Failure> {
        Pages::of(&CommandLine::of(command.split_whitespace().map(OsString::from)))
    }

    #[test]
    fn pages_stand_where_the_sources_do() {
        let folder = of("-c a.c --report=/p/pages/").expect("fine").expect("pages");
        let page = |input: &str| folder.file(Path::new(input)).display().to_string();
        assert_eq!(page("/p/src/image.c"), "/p/pages/src/image.c.html");
        assert_eq!(page("/p/lib/../src/image.c"), "/p/pages/src/image.c.html");
        assert_eq!(page("/usr/src/image.c"), "/p/pages/usr/src/image.c.html");
        let file = of("-c a.c --report=a.html").expect("fine").expect("a page");
        assert_eq!(file.file(Path::new("a.c")), Path::new("a.html"));
        assert_eq!(of("-c a.c").expect("fine"), None);
        for wrong in ["a.c b.c --report=a.html", "a.c --report="] {
            assert!(matches!(of(wrong), Err(Failure::Usage(_))), "{wrong}");
        }
    }
}
