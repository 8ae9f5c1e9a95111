//! `cargo xtask scaffold`: writes a crate with `loomir new`, with a file of each kind, and runs its
//! tests. Then it makes the program of the chapter "A language of your own" from an empty folder,
//! and runs the chapter's commands. Last it writes a file of each kind into a copy of this tree,
//! and compiles it.
//!
//! The times of the command's build, of the first test, and of a test after a change are kept in
//! `benches/results/`. The network is used for crates that are not there yet.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::Failure;
use crate::process::{cargo, command, execute, output, root};
use crate::record::{self, Heading};
use crate::session::{Session, file_blocks, first_difference};

/// The kinds of files, each with a name.
const PIECES: [[&str; 2]; 4] = [
    ["dialect", "vec"],
    ["pass", "add-to-shift"],
    ["transform", "loop-blocks"],
    ["analysis", "from-constants"],
];

pub(crate) fn run(_: &[String]) -> Result<(), Failure> {
    let folder = root().join("target/scaffold");
    let cannot = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(cannot)?;
    }
    fs::create_dir_all(&folder).map_err(cannot)?;
    // All of Loomir is compiled anew, as in a fresh clone.
    let tree = folder.join("tree");
    copy_tree(&tree)?;
    let target = folder.join("command");
    let command = timed(elsewhere(&tree, &target).args(["build", "--package", "loomir"]))?;
    execute(loomir(&target).args(["new", "my-compiler"]).arg(inside(&folder)).arg(from(&root())))?;
    let package = folder.join("my-compiler");
    for words in PIECES {
        execute(loomir(&target).arg("new").args(words).arg(inside(&package)))?;
    }
    let compiled = folder.join("target");
    let first = timed(&mut test(&package, &compiled))?;
    let changed = package.join("src/vec.rs");
    let text = fs::read_to_string(&changed).map_err(cannot)?;
    fs::write(&changed, text + "\n/// A change.\npub const CHANGED: bool = true;\n").map_err(cannot)?;
    let again = timed(&mut test(&package, &compiled))?;
    language(&folder.join("arrays"), &compiled).map_err(|error| format!("a language: {error}"))?;
    in_tree(&tree, &target).map_err(|error| format!("in a copy of the tree: {error}"))?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let heading = Heading {
        title: "A crate by `loomir new`".into(),
        does: "A crate with two dialects, two passes, a transformation and an analysis: seconds by \
               the clock, and of processors. Other work on the machine lengthens the former",
        command: "cargo xtask scaffold".into(),
    };
    let values = [
        ("build of the command in a fresh clone", command),
        ("first test, with all of Loomir to compile", first),
        ("test after a change of one file", again),
        ("cores", cores.to_string()),
    ];
    record::keep("scaffold", &heading, &values.map(|(key, value)| (key.to_owned(), value)))
}

/// Runs a command. Returns its seconds, and those of processors if the system says so.
fn timed(command: &mut Command) -> Result<String, Failure> {
    let (start, before) = (Instant::now(), processors());
    execute(command)?;
    let seconds = start.elapsed().as_secs_f64();
    let used =
        processors().zip(before).map(|(after, before)| format!(", {:.1} of processors", after - before));
    Ok(format!("{seconds:.1}{}", used.unwrap_or_default()))
}

/// Returns the seconds of processors that finished child processes took, as Linux tells them.
fn processors() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/stat").ok()?;
    // Behind the name, which may hold spaces: fields 3 and on. Times are in hundredths.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(13);
    let mut next = || fields.next()?.parse::<f64>().ok();
    Some((next()? + next()?) / 100.0)
}

/// The command that was built.
fn loomir(target: &Path) -> Command {
    command(target.join("debug/loomir"))
}

fn inside(folder: &Path) -> String {
    format!("--in={}", folder.display())
}

fn from(repository: &Path) -> String {
    format!("--path={}", repository.display())
}

/// Cargo in another crate, with a folder for what is compiled.
fn elsewhere(folder: &Path, target: &Path) -> Command {
    let mut cargo = cargo();
    cargo.current_dir(folder).env("CARGO_TARGET_DIR", target).env("INSTA_UPDATE", "no");
    cargo
}

fn test(package: &Path, target: &Path) -> Command {
    let mut cargo = elsewhere(package, target);
    cargo.args(["test", "--quiet", "--offline"]);
    cargo
}

/// Makes the program of the chapter in an empty folder, and compares what its commands print.
fn language(folder: &Path, target: &Path) -> Result<(), Failure> {
    let chapter = root().join("book/src/own-language.md");
    let text = fs::read_to_string(&chapter).map_err(|error| format!("{}: {error}", chapter.display()))?;
    let session = Session::new(folder.to_owned(), &target.join("debug"), false);
    let cannot = |error: std::io::Error| format!("{}: {error}", folder.display());
    for (name, block) in file_blocks(&text) {
        let file = folder.join(&name);
        let loomir = root().join("loomir");
        let block = match &*name {
            "Cargo.toml" => block.replace("\"../loomir/loomir\"", &format!("{loomir:?}")),
            _ => block,
        };
        let made = file.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&file, block)).map_err(cannot)?;
    }
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).map_err(cannot)?;
    execute(elsewhere(folder, target).args(["build", "--quiet", "--offline"]))?;
    let shown = session.replay(&text);
    if shown == text { Ok(()) } else { Err(first_difference(&text, &shown)) }
}

/// Copies the files of this tree that belong to it, with their changes.
fn copy_tree(tree: &Path) -> Result<(), Failure> {
    let listed = output(command("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    for file in listed.lines().map(PathBuf::from).filter(|file| root().join(file).is_file()) {
        let to = tree.join(&file);
        let folder = to.parent().map_or(Ok(()), fs::create_dir_all);
        let copied = folder.and_then(|()| fs::copy(root().join(&file), &to).map(drop));
        copied.map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(())
}

/// Compiles a file of each kind in a copy of the tree.
fn in_tree(tree: &Path, target: &Path) -> Result<(), Failure> {
    for words in PIECES {
        execute(loomir(target).arg("new").args(words).arg(inside(tree)))?;
    }
    let packages = ["--package", "loomir-dialects", "--package", "loomir-transforms"];
    execute(elsewhere(tree, target).args(["check", "--quiet", "--offline"]).args(packages))
}
