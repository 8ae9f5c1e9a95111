//! Carrying out a command: front ends, Loomir, back ends, and clang for the rest.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::arguments::{CommandLine, Last};
use super::clang::{Clang, colors};
use super::pages::Pages;
use super::program::{Changed, Goal, shown, transformed};
use super::report::Report;
use super::{Failure, Tools, directed, plan, source};

/// Carries out a command with inputs in C. `words` are the command as it was given.
///
/// # Errors
/// Clang's errors, which it has printed.
pub(super) fn run(
    tools: &Tools,
    (clang, line): (&Clang, &CommandLine),
    goal: &Goal,
    words: &[OsString],
    report: &Report,
    pages: Option<&Pages>,
) -> Result<(), Failure> {
    let folder = Folder::new(line)?;
    let mut changed = Vec::new();
    for input in line.c_inputs() {
        let name = line.arguments[input].words[0].to_string_lossy().into_owned();
        let written = folder.object(line, input);
        if let Some(pages) = pages
            && let Err(why) = write_page((tools, goal), clang, line, (input, &name, pages))
        {
            tools.console.say(&format!("loomir: {name}: no page: {why}\n"));
        }
        match compile((tools, goal), clang, line, (input, &name, &written)) {
            Ok(said) => {
                report.line(&tools.console, &name, &said);
                changed.push((input, written));
            }
            Err(Not::Changed(why)) => report.line(&tools.console, &name, &why),
            Err(Not::Compiled(failure)) => return Err(failure),
        }
    }
    if changed.is_empty() {
        drop(folder);
        return clang.become_it(words);
    }
    match plan::rest(line, &changed) {
        Some(rest) => clang.run(&rest),
        None => Ok(()),
    }
}

/// The outcome of an input that Loomir did not compile.
enum Not {
    /// Clang compiles the input from C, for this reason. Nothing is printed: clang will.
    Changed(String),
    /// The command fails.
    Compiled(Failure),
}

impl From<String> for Not {
    fn from(why: String) -> Not {
        Not::Changed(why)
    }
}

/// Compiles an input through Loomir, if it changes something. Returns what it changed.
///
/// # Errors
/// The input was not compiled.
fn compile(
    (tools, goal): (&Tools, &Goal),
    clang: &Clang,
    line: &CommandLine,
    (input, name, written): (usize, &str, &Path),
) -> Result<String, Not> {
    if let Some(said) =
        directed::compile((tools, goal), (clang, line), (input, name, written)).map_err(Not::Compiled)?
    {
        return Ok(said);
    }
    if !source::may_have_loops(Path::new(&line.arguments[input].words[0])) {
        return Err("left to clang: it has fewer than two loops".to_owned().into());
    }
    if line.has_debug_information() {
        // It is most of the text, and no change depends on it. Few files change.
        transformed(tools, goal, &read(clang, line, input, &["-g0"])?.0, name)?;
    }
    let (source, warnings) = read(clang, line, input, &[])?;
    let Changed { text, said } = transformed(tools, goal, &source, name)?;
    drop(source);
    let made = clang.fed(&plan::back_end(line, written), text).map_err(in_words)?;
    // What the back end says lacks the places in C.
    if !made.status.success() || !made.stderr.is_empty() {
        let first = String::from_utf8_lossy(&made.stderr).lines().next().unwrap_or_default().to_owned();
        return Err(format!("left to clang: the back end says \"{first}\"").into());
    }
    tools.console.say(&warnings);
    tools.console.print(&String::from_utf8_lossy(&made.stdout)).map_err(Not::Compiled)?;
    Ok(said)
}

/// Writes the page of an input.
///
/// # Errors
/// The reason why there is none.
fn write_page(
    (tools, goal): (&Tools, &Goal),
    clang: &Clang,
    line: &CommandLine,
    (input, name, pages): (usize, &str, &Pages),
) -> Result<(), String> {
    let (source, _) = read(clang, line, input, &["-g"])?;
    pages.write(Path::new(&line.arguments[input].words[0]), &shown(tools, goal, &source, name)?)
}

/// Runs the front end, with these options at the end. Returns its LLVM IR and what it printed.
///
/// # Errors
/// The reason why there is none.
fn read(
    clang: &Clang,
    line: &CommandLine,
    input: usize,
    options: &[&str],
) -> Result<(String, String), String> {
    let mut front = plan::front_end(line, input, plan::Source::Input);
    front.extend(colors(line));
    front.extend(options.iter().map(OsString::from));
    let read = clang.printed(&front).map_err(in_words)?;
    if !read.status.success() {
        return Err("left to clang: the front end fails".to_owned());
    }
    let source =
        String::from_utf8(read.stdout).map_err(|_| "left to clang: its LLVM IR is not UTF-8".to_owned())?;
    Ok((source, String::from_utf8_lossy(&read.stderr).into_owned()))
}

/// Returns a failure in words.
fn in_words(failure: Failure) -> String {
    match failure {
        Failure::Input(text) | Failure::Usage(text) => text.trim_end().to_owned(),
        Failure::Status(status) => format!("status {status}"),
    }
}

/// A folder for objects that are linked. It is removed at the end, with its contents.
struct Folder(Option<PathBuf>);

impl Folder {
    /// Makes a folder, if the command links.
    fn new(line: &CommandLine) -> Result<Folder, Failure> {
        if line.last != Last::Link {
            return Ok(Folder(None));
        }
        let process = std::process::id();
        for number in 0..=MAX_FOLDERS {
            let path = std::env::temp_dir().join(format!("loomir-cc-{process}-{number}"));
            match std::fs::create_dir(&path) {
                Err(error) if number == MAX_FOLDERS || error.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(Failure::input(format!(
                        "cannot make the folder '{}': {error}",
                        path.display()
                    )));
                }
                Err(_) => {}
                Ok(()) => return Ok(Folder(Some(path))),
            }
        }
        Ok(Folder(None))
    }

    /// Returns the file that the back end writes for an input.
    fn object(&self, line: &CommandLine, input: usize) -> PathBuf {
        let path = plan::output(line, input, self.0.as_deref().unwrap_or(Path::new("")));
        if let (Some(_), Some(folder)) = (&self.0, path.parent()) {
            // Inputs of equal names have folders of their own. Clang says so if it cannot write.
            let _ = std::fs::create_dir(folder);
        }
        path
    }
}

/// The number of folders of this name that may be there already.
const MAX_FOLDERS: u32 = 100;

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = std::fs::remove_dir_all(path);
        }
    }
}
