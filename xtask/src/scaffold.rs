//! `cargo xtask scaffold`: writes a crate with `loomir new`, with a file of each kind, and runs its
//! tests. Then it writes a file of each kind into a copy of this tree, and compiles it.
//!
//! It says how long the first test takes, and how long it takes after a change. No network is used.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::Failure;
use crate::process::{cargo, command, execute, output, root};

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
    let start = Instant::now();
    execute(loomir(&target).args(["new", "my-compiler"]).arg(inside(&folder)))?;
    let package = folder.join("my-compiler");
    for words in PIECES {
        execute(loomir(&target).arg("new").args(words).arg(inside(&package)))?;
    }
    execute(&mut test(&package, &target))?;
    println!("from nothing to the first test: {:.1} s", start.elapsed().as_secs_f64());
    let changed = package.join("src/vec.rs");
    let text = fs::read_to_string(&changed).map_err(cannot)?;
    fs::write(&changed, text + "\n// A change.\n").map_err(cannot)?;
    let start = Instant::now();
    execute(&mut test(&package, &target))?;
    println!("from a change to the test: {:.1} s", start.elapsed().as_secs_f64());
    in_tree(&folder.join("tree"), &target).map_err(|error| format!("in a copy of the tree: {error}"))
}

/// The command that was built.
fn loomir(target: &Path) -> Command {
    command(target.join("debug/loomir"))
}

fn inside(folder: &Path) -> String {
    format!("--in={}", folder.display())
}

/// Cargo in another crate, with what is compiled here.
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
