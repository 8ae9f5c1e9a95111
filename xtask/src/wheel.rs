//! `cargo xtask wheel`: builds the Python wheel as users get it, and tests it in a fresh
//! environment.
//!
//! Both environments are under `target/`: one keeps `maturin`, the other is made anew and gets the
//! wheel alone, with NumPy and xDSL beside it for their tests. The size of the wheel and the time
//! of its import are kept in `benches/results/`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Failure;
use crate::process::{command, execute, output, root};
use crate::record::{self, Heading};

/// Prints the milliseconds of an import.
const IMPORT: &str = "import time; start = time.perf_counter(); import loomir; \
                      print(1000 * (time.perf_counter() - start))";

/// The number of imports that are timed.
const IMPORTS: usize = 10;

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
    keep(&wheel, &fresh)
}

/// Keeps the size of a wheel, and the time of its import in an environment.
fn keep(wheel: &Path, environment: &Path) -> Result<(), Failure> {
    let size = fs::metadata(wheel).map_err(|error| format!("{}: {error}", wheel.display()))?.len();
    let mut times = Vec::new();
    for _ in 0..IMPORTS {
        let mut import = command(environment.join("bin/python"));
        let time = output(import.args(["-c", IMPORT]).current_dir(environment))?;
        times.push(time.parse::<f64>().map_err(|error| format!("the time of an import, '{time}': {error}"))?);
    }
    times.sort_by(f64::total_cmp);
    let heading = Heading {
        title: "The Python wheel".into(),
        does: "The wheel as users get it, in a fresh environment",
        command: "cargo xtask wheel".into(),
    };
    let values = [
        ("size of the wheel, MB", format!("{:.1}", size as f64 / 1e6)),
        ("import in a new process, ms (median)", format!("{:.1}", times[IMPORTS / 2])),
    ];
    record::keep("wheel", &heading, &values.map(|(key, value)| (key.to_owned(), value)))
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
