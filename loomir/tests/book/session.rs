//! One chapter as a session in a folder of its own.
//!
//! - a ```` ```mlir file=NAME ```` block (or `c`, or any language) is a file of that name;
//! - a ```` ```console ```` block is typed line by line: `$ COMMAND`, then what the terminal shows,
//!   standard output and error as they come, and `[exit N]` if the command does not end with 0;
//! - a file that a command writes into `images` is the book's picture of that name.
//!
//! Commands go through `sh`, with the chapter's own program and LLVM's tools found first. A command
//! that needs LLVM is left unchecked where there is none.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::peers;

/// Tools of LLVM that a chapter may call.
const LLVM_TOOLS: [&str; 6] = ["mlir-opt", "mlir-translate", "opt", "lli", "llc", "clang"];

/// Options of the command that call such a tool.
const LLVM_FLAGS: [&str; 2] = ["--mlir-opt=", "--opt="];

/// One chapter's folder.
pub(crate) struct Session {
    folder: PathBuf,
    path: std::ffi::OsString,
    has_llvm: bool,
    /// True if the programs have the engine `jit`.
    compiles: bool,
}

impl Session {
    /// Makes an empty folder for a chapter whose programs are in another folder.
    pub(crate) fn new(folder: PathBuf, programs: &Path, compiles: bool) -> Session {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("images")).expect("a folder can be made");
        let llvm = peers::llvm().unwrap_or_default().join("bin");
        let has_llvm = LLVM_TOOLS.iter().all(|tool| peers::tool(tool).is_some());
        let rest = std::env::var_os("PATH").unwrap_or_default();
        let folders = [programs.to_path_buf(), llvm].into_iter().chain(std::env::split_paths(&rest));
        let path = std::env::join_paths(folders).expect("no folder has a colon");
        Session { folder, path, has_llvm, compiles }
    }

    /// True if all that commands may need is here.
    pub(crate) fn is_complete(&self) -> bool {
        self.has_llvm
    }

    /// The pictures that commands drew, by name.
    pub(crate) fn pictures(&self) -> impl Iterator<Item = (String, String)> {
        let files = fs::read_dir(self.folder.join("images")).into_iter().flatten().flatten();
        files.map(|file| {
            let drawn = fs::read_to_string(file.path()).expect("a picture can be read");
            (file.file_name().to_string_lossy().into_owned(), drawn)
        })
    }

    /// `text` with every console block as the commands fill it now.
    pub(crate) fn replay(&self, text: &str) -> String {
        let mut out = String::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let _ = writeln!(out, "{line}");
            let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            if info == "console" {
                self.replay_console(&block, &mut out);
            } else {
                let body: String = block.iter().flat_map(|line| [line, "\n"]).collect();
                if let Some(name) = file_name(info) {
                    let file = self.folder.join(name);
                    fs::create_dir_all(file.parent().unwrap_or(&self.folder)).expect("a folder can be made");
                    fs::write(file, &body).expect("a file can be written");
                }
                out.push_str(&body);
            }
            out.push_str("```\n");
        }
        out
    }

    fn replay_console(&self, block: &[&str], out: &mut String) {
        for step in block.chunk_by(|_, next| !next.starts_with("$ ")) {
            let Some(command) = step[0].strip_prefix("$ ") else {
                panic!("a console block begins with `$ COMMAND`, not with `{}`", step[0]);
            };
            let _ = writeln!(out, "$ {command}");
            if self.can_run(command) {
                out.push_str(&self.run(command));
            } else {
                out.extend(step[1..].iter().flat_map(|line| [line, "\n"]));
            }
        }
    }

    /// True if what `command` needs is here.
    fn can_run(&self, command: &str) -> bool {
        let named =
            |word: &str| LLVM_TOOLS.contains(&word) || LLVM_FLAGS.iter().any(|flag| word.starts_with(flag));
        let calls_llvm = command.split_whitespace().any(named) || command.contains("loomir cc");
        let compiles = command.contains("--engine=jit") || command.contains("--engine jit");
        (!calls_llvm || self.has_llvm) && (!compiles || self.compiles)
    }

    /// Returns what the terminal shows of `command`.
    fn run(&self, command: &str) -> String {
        let finished = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(&self.folder)
            .env("PATH", &self.path)
            .stdin(Stdio::null())
            .output()
            .expect("there is a shell");
        let mut shown = String::from_utf8_lossy(&finished.stdout).into_owned();
        if !shown.is_empty() && !shown.ends_with('\n') {
            shown.push('\n');
        }
        match finished.status.code() {
            Some(0) => {}
            Some(code) => shown.push_str(&format!("[exit {code}]\n")),
            None => shown.push_str("[killed]\n"),
        }
        shown
    }
}

/// Returns the blocks of a chapter that are files, each with its name.
pub(crate) fn file_blocks(text: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let block = lines.by_ref().take_while(|line| *line != "```");
        let block: String = block.flat_map(|line| [line, "\n"]).collect();
        blocks.extend(file_name(info).map(|name| (name.to_owned(), block)));
    }
    blocks
}

/// Returns the name of the file that a block is.
fn file_name(info: &str) -> Option<&str> {
    info.split(' ').find_map(|word| word.strip_prefix("file="))
}

/// `LINE`, what the book says there, and what the command says.
pub(crate) fn first_difference(book: &str, shown: &str) -> String {
    let (mut book, mut shown) = (book.lines(), shown.lines());
    for line in 1.. {
        let (left, right) = (book.next(), shown.next());
        if left != right || left.is_none() {
            let end = "(nothing more)";
            return format!("{line}:\n  book:  {}\n  shown: {}", left.unwrap_or(end), right.unwrap_or(end));
        }
    }
    unreachable!("both texts end")
}
