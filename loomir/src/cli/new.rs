//! `loomir new`: writes a crate on top of Loomir, or a file in such a crate or in Loomir's own
//! tree.
//!
//! The written code compiles, and has a fixture that passes. It is an example of its kind, to be
//! changed. Files that exist stay as they are.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command};

use super::{Failure, Tools};
use names::Names;
use pieces::{KINDS, Kind};
use plan::Plan;

mod names;
mod pieces;
mod plan;

/// The option that names the folder.
const FOLDER: &str = "in";

pub(super) fn command() -> Command {
    let folder = || {
        let help = "The folder to write in; the current one by default";
        Arg::new(FOLDER).long(FOLDER).value_name("FOLDER").help(help)
    };
    let name = |help| Arg::new("name").value_name("NAME").required(true).help(help);
    let kinds = KINDS.iter().map(|kind| {
        let command = Command::new(kind.name).about(kind.about);
        command.arg(name(kind.help)).arg(folder())
    });
    let path = Arg::new("path").long("path").value_name("FOLDER");
    Command::new("new")
        .about("Writes a crate with a compiler of one's own, or a file in it")
        .args_conflicts_with_subcommands(true)
        .subcommand_negates_reqs(true)
        .disable_help_subcommand(true)
        .arg(name("The name of the crate"))
        .arg(path.help("The folder of Loomir's repository; found by itself if this command was built in it"))
        .arg(folder())
        .subcommands(kinds)
}

pub(super) fn main(tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
    let given =
        |matches: &ArgMatches, name: &str| matches.get_one::<String>(name).cloned().unwrap_or_default();
    let start = |matches: &ArgMatches| PathBuf::from(given(matches, FOLDER));
    let plan = match matches.subcommand() {
        Some((kind, matches)) => {
            let kind = KINDS.iter().find(|own| own.name == kind);
            let kind = kind.ok_or_else(|| Failure::usage("there is no such kind of file"))?;
            piece(tools, kind, &start(matches), &given(matches, "name"))?
        }
        None => {
            let path = matches.get_one::<String>("path").map(String::as_str);
            package(&start(matches), &given(matches, "name"), path)?
        }
    };
    tools.console.print(&plan.carry_out()?)
}

/// A place for files.
enum Place {
    /// The folder of a crate on top of Loomir.
    Crate(PathBuf),
    /// The folder of Loomir's own repository.
    Tree(PathBuf),
}

/// Plans a file of a kind in the crate around a folder.
fn piece(tools: &Tools, kind: &Kind, start: &Path, name: &str) -> Result<Plan, Failure> {
    let names = Names::of(name, kind.separator)?;
    if let Some(taken) = kind.taken(tools, &names) {
        let help = "choose another name";
        return Err(Failure::input(format!("there is {taken} '{name}' already\nhelp: {help}")));
    }
    match place(start)? {
        Place::Crate(root) => {
            let mut plan = Plan::new(root);
            kind.in_crate(&names, &mut plan);
            plan.next("cargo test");
            Ok(plan)
        }
        Place::Tree(root) => {
            let mut plan = Plan::new(root);
            kind.in_tree(&names, &mut plan);
            Ok(plan)
        }
    }
}

/// Finds the crate around a folder.
fn place(start: &Path) -> Result<Place, Failure> {
    let start = match start.as_os_str().is_empty() {
        true => Path::new("."),
        false => start,
    };
    let start = std::fs::canonicalize(start)
        .map_err(|error| Failure::input(format!("cannot enter '{}': {error}", start.display())))?;
    for folder in start.ancestors() {
        if is_loomir(folder) {
            return Ok(Place::Tree(folder.to_owned()));
        }
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        let is_dependency = |line: &str| {
            let rest = line.trim_start().strip_prefix("loomir");
            rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
        };
        if manifest.lines().any(is_dependency) {
            return Ok(Place::Crate(folder.to_owned()));
        }
    }
    let help = "make one with 'loomir new my-compiler', or name its folder with --in";
    Err(Failure::input(format!("no crate that uses Loomir is around '{}'\nhelp: {help}", start.display())))
}

/// True if a folder is Loomir's repository.
fn is_loomir(folder: &Path) -> bool {
    ["loomir/Cargo.toml", "dialects/src/lib.rs", "testing/Cargo.toml"]
        .iter()
        .all(|file| folder.join(file).is_file())
}

/// Plans a crate.
fn package(start: &Path, name: &str, path: Option<&str>) -> Result<Plan, Failure> {
    let names = Names::of_package(name)?;
    let repository = match path {
        Some(path) => Some(repository(path)?),
        None => running_from(),
    };
    let mut plan = Plan::new(start.join(name));
    plan.only_new_folder();
    pieces::package(&names, repository.as_deref(), &mut plan)?;
    match repository {
        Some(_) => plan.next(&format!("cd {} && cargo test", start.join(name).display())),
        None => plan.next("name Loomir's repository in Cargo.toml: loomir = { path = \"…/loomir\" }"),
    }
    Ok(plan)
}

/// Returns Loomir's repository, which the option `--path` names.
fn repository(path: &str) -> Result<PathBuf, Failure> {
    match std::fs::canonicalize(path) {
        Ok(folder) if is_loomir(&folder) => Ok(folder),
        _ => {
            let help = "name the folder of its repository, which holds 'loomir/Cargo.toml'";
            Err(Failure::input(format!("'{path}' does not hold Loomir\nhelp: {help}")))
        }
    }
}

/// Returns the repository that this program was built in.
fn running_from() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    program.ancestors().find(|folder| is_loomir(folder)).map(Path::to_owned)
}
