//! `loomir reduce`: shrinks a program while a command keeps succeeding on it.

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use crate::check::reduce::{Options, reduce};
use crate::ir::Body;
use clap::{Arg, ArgMatches, Command, value_parser};

use super::progress::{self, Line};
use super::{Failure, Tools, input, output};

pub(super) fn command() -> Command {
    Command::new("reduce")
        .about("Shrinks a program while a command keeps succeeding on it; prints the smallest program found")
        .after_help(
            "The command runs in a shell, with the file of each candidate in the place of {}, or as its last \
             word. It succeeds if it ends with status 0. A command that may not end needs a limit of its own: \
             'timeout 10 …'.",
        )
        .args(input::args())
        .arg(output::arg())
        .arg(
            Arg::new("test")
                .long("test")
                .value_name("CMD")
                .required(true)
                .allow_hyphen_values(true)
                .help("The command that has to keep succeeding"),
        )
        .arg(
            Arg::new("max-tests")
                .long("max-tests")
                .value_name("N")
                .default_value("2000")
                .value_parser(value_parser!(usize))
                .help("The most times that the command is run"),
        )
}

pub(super) fn main(tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
    let source = input::read(tools, matches)?;
    let ctx = &tools.ctx;
    let module = source.parse(ctx, matches)?;
    let is_ll = crate::lowering::is_ll(&source.text);
    let test = matches.get_one::<String>("test").map_or("", String::as_str);
    let candidates = Candidates::new(is_ll, test)?;
    if !candidates.holds(&source.text) {
        return Err(Failure::input(format!(
            "the test does not succeed on the program: {test}\nhelp: it has to end with status 0 on the programs to keep"
        )));
    }
    let tests = matches.get_one::<usize>("max-tests").copied().unwrap_or(Options::default().tests);
    let text = |module: &Body| match is_ll {
        true => crate::lowering::to_ll(module).ok(),
        false => Some(crate::print(module)),
    };
    let progress = progress::of(&tools.console);
    let mut tried = 0;
    let mut holds = |module: &Body| {
        tried += 1;
        progress.tell(&format!("reducing: test {tried} of at most {tests}"));
        text(module).is_some_and(|text| candidates.holds(&text))
    };
    if !text(&module).is_some_and(|text| candidates.holds(&text)) {
        return Err(Failure::input(format!(
            "the test does not succeed on the program as it is printed: {test}\nhelp: comments and names of values are not \
             kept; test for what 'loomir opt' prints of the program"
        )));
    }
    let line = Line::show(&progress);
    let reduced = reduce(&module, &Options { tests }, &mut holds);
    drop(line);
    let why = if reduced.stopped { "the limit" } else { "nothing smaller succeeds" };
    tools.console.say(&format!(
        "reduced from {} operations to {}, after {} test{}: {why}\n",
        operations(&module),
        operations(&reduced.module),
        reduced.tests,
        if reduced.tests == 1 { "" } else { "s" }
    ));
    match text(&reduced.module) {
        Some(text) => output::write(tools, matches, &text),
        None => output::write(tools, matches, &source.text),
    }
}

fn operations(module: &Body) -> usize {
    let mut count = 0;
    module.walk(&mut |_, _| count += 1);
    count
}

/// The file that candidates are written to, and the command that judges them.
struct Candidates {
    folder: PathBuf,
    file: PathBuf,
    command: String,
}

impl Candidates {
    fn new(is_ll: bool, test: &str) -> Result<Candidates, Failure> {
        let folder = std::env::temp_dir().join(format!("loomir-reduce-{}", std::process::id()));
        std::fs::create_dir_all(&folder)
            .map_err(|error| Failure::input(format!("cannot make the folder of candidates: {error}")))?;
        let file = folder.join(if is_ll { "candidate.ll" } else { "candidate.mlir" });
        let shown = quoted(&file);
        let command = match test.contains("{}") {
            true => test.replace("{}", &shown),
            false => format!("{test} {shown}"),
        };
        Ok(Candidates { folder, file, command })
    }

    /// True if the command succeeds on a text.
    fn holds(&self, text: &str) -> bool {
        let written = std::fs::write(&self.file, text);
        let mut shell = Process::new("sh");
        shell.args(["-c", &self.command]);
        shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        written.is_ok() && shell.status().is_ok_and(|status| status.success())
    }
}

impl Drop for Candidates {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever cleans the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}
