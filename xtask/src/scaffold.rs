//! `cargo xtask scaffold`: writes a crate with `loomir new`, with a file of each kind, and runs its
//! tests. Then it writes a file of each kind into a copy of this tree, and compiles it.
//!
//! The time of the first test, and of a test after a change, is kept in `benches/results/`. No
//! network is used.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::Failure;
use crate::process::{cargo, command, execute, output, root};
use crate::record::{self, Heading};

/// The kinds of files, each with a name.
const PIECES: [[&str; 2]; 4] = [
    ["dialect", "vec"],
    ["pass", "add-to-shift"],
    ["transform", "loop-blocks"],
    ["analysis", "from-constants"],
];

pub(crate) fn run(_: &[String]) -> Result<(), Failure> {
    let target = root().join("target");
    let folder = target.join("scaffold");
    let cannot = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(cannot)?;
    }
    fs::create_dir_all(&folder).map_err(cannot)?;
    execute(cargo().args(["build", "--package", "loomir"]))?;
    execute(loomir(&target).args(["new", "my-compiler"]).arg(inside(&folder)))?;
    let package = folder.join("my-compiler");
    for words in PIECES {
        execute(loomir(&target).arg("new").args(words).arg(inside(&package)))?;
    }
    // All of Loomir is compiled anew, as after the first `loomir new` of a user.
    let first = timed(&mut test(&package, &folder.join("target")))?;
    let changed = package.join("src/vec.rs");
    let text = fs::read_to_string(&changed).map_err(cannot)?;
    fs::write(&changed, text + "\n/// A change.\npub const CHANGED: bool = true;\n").map_err(cannot)?;
    let again = timed(&mut test(&package, &folder.join("target")))?;
    in_tree(&folder.join("tree"), &target).map_err(|error| format!("in a copy of the tree: {error}"))?;
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let heading = Heading {
        title: "A crate by `loomir new`".into(),
        does: "A crate with two dialects, two passes, a transformation and an analysis: seconds of \
               `cargo test`",
        command: "cargo xtask scaffold".into(),
    };
    let values = [
        ("first test, with all of Loomir to compile", format!("{first:.1}")),
        ("test after a change of one file", format!("{again:.1}")),
        ("cores", cores.to_string()),
    ];
    record::keep("scaffold", &heading, &values.map(|(key, value)| (key.to_owned(), value)))
}

/// Runs a command, and returns its time in seconds.
fn timed(command: &mut Command) -> Result<f64, Failure> {
    let start = Instant::now();
    execute(command)?;
    Ok(start.elapsed().as_secs_f64())
}

/// The command that was built.
fn loomir(target: &Path) -> Command {
    command(target.join("debug/loomir"))
}

fn inside(folder: &Path) -> String {
    format!("--in={}", folder.display())
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

/// Compiles a file of each kind in a copy of the tree.
fn in_tree(tree: &Path, target: &Path) -> Result<(), Failure> {
    let listed = output(command("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    for file in listed.lines().map(PathBuf::from).filter(|file| root().join(file).is_file()) {
        let to = tree.join(&file);
        let folder = to.parent().map_or(Ok(()), fs::create_dir_all);
        let copied = folder.and_then(|()| fs::copy(root().join(&file), &to).map(drop));
        copied.map_err(|error| format!("{}: {error}", file.display()))?;
    }
    for words in PIECES {
        execute(loomir(target).arg("new").args(words).arg(inside(tree)))?;
    }
    let packages = ["--package", "loomir-dialects", "--package", "loomir-transforms"];
    execute(elsewhere(tree, target).args(["check", "--quiet", "--offline"]).args(packages))
}
