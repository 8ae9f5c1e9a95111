//! `cargo xtask wheel`: builds the Python wheel as users get it, and tests it in a fresh
//! environment.
//!
//! Both environments are under `target/`: one keeps `maturin`, the other is made anew and gets the
//! wheel alone, with NumPy and xDSL beside it for their tests.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Failure;
use crate::process::{command, execute, root};

pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    if let Some(unknown) = arguments.first() {
        return Err(format!("'{unknown}' is not expected: the command takes no arguments"));
    }
    let tools = environment("wheel-tools", false)?;
    install(&tools, &["maturin>=1.9,<2"])?;
    let wheels = root().join("target/wheels");
    let _ = fs::remove_dir_all(&wheels);
    let mut build = command(tools.join("bin/maturin"));
    build.args(["build", "--release", "--manifest-path", "python/Cargo.toml", "--out"]).arg(&wheels);
    execute(&mut build)?;
    let wheel = fs::read_dir(&wheels)
        .map_err(|error| format!("{}: {error}", wheels.display()))?
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|own| own == "whl"))
        .ok_or("maturin left no wheel")?;
    let fresh = environment("wheel-test", true)?;
    install(&fresh, &[&wheel.to_string_lossy(), "numpy", "xdsl", "mypy"])?;
    let mut test = command(fresh.join("bin/python"));
    test.args(["-m", "unittest", "discover", "--start-directory"]).arg(root().join("python/tests"));
    // Python looks for packages in its working folder first.
    execute(test.current_dir(&wheels).env("LOOMIR_PROJECT", root()))?;
    println!("{}", wheel.display());
    Ok(())
}

/// Returns the folder of an environment of Python, made if it is not there or `is_new`.
fn environment(name: &str, is_new: bool) -> Result<PathBuf, Failure> {
    let folder = root().join("target").join(name);
    if is_new || !folder.join("bin/python").exists() {
        execute(command("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    }
    Ok(folder)
}

fn install(environment: &Path, packages: &[&str]) -> Result<(), Failure> {
    execute(command(environment.join("bin/python")).args(["-m", "pip", "install", "--quiet"]).args(packages))
}
