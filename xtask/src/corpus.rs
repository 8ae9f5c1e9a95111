//! `cargo xtask corpus FOLDER NAME`: reads and writes every program of a folder that somebody else
//! wrote.
//!
//! An `.ll` file that `llvm-as` accepts must come out as one that it accepts, or be refused with a
//! diagnostic. An `.mlir` file, which is what `mlir-opt` prints in generic form, must come out as
//! it went in. Anything else than status 0 or 1 is a failure, as is text that the peer refuses. The
//! counts are kept in `benches/results/`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::Failure;
use crate::process::root;
use crate::record::{self, Heading};
use crate::setup::cargo_with;
use crate::setup::{self, Tools};

/// The fate of a file.
enum Outcome {
    /// The peer's own text is not for it.
    NotAccepted,
    /// It comes out as it went in, or as a text that the peer accepts.
    Kept,
    /// It comes out as something else.
    Differs,
    /// It is refused, with the diagnostic.
    Refused(String),
    /// It makes the command fail, or come to a text that the peer refuses.
    Failed(String),
}

/// `FOLDER NAME`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let [folder, name] = arguments else {
        return Err("FOLDER NAME, where the result is kept under NAME".into());
    };
    let tools = setup::run()?;
    let llvm = tools.llvm.clone()?;
    let loomir = build(&tools)?;
    let mut files = Vec::new();
    collect(Path::new(folder), &mut files)?;
    files.sort();
    let (mut counts, mut reasons) = (BTreeMap::<&str, u64>::new(), BTreeMap::<String, u64>::new());
    let mut failed = Vec::new();
    for (done, file) in files.iter().enumerate() {
        let is_ll = file.extension().is_some_and(|extension| extension == "ll");
        let outcome = if is_ll { ll(&loomir, &llvm, file)? } else { mlir(&loomir, file)? };
        let what = match outcome {
            Outcome::NotAccepted => "not_accepted_by_the_peer",
            Outcome::Kept => "kept",
            Outcome::Differs => {
                println!("differs: {}", file.display());
                "differs"
            }
            Outcome::Refused(why) => {
                *reasons.entry(why).or_default() += 1;
                "refused"
            }
            Outcome::Failed(why) => {
                failed.push(format!("{}: {why}", file.display()));
                "failed"
            }
        };
        *counts.entry(what).or_default() += 1;
        if done % 1000 == 999 {
            eprintln!("{} of {} files", done + 1, files.len());
        }
    }
    let mut values = vec![("files".to_owned(), files.len().to_string())];
    values.extend(counts.iter().map(|(what, count)| ((*what).to_owned(), count.to_string())));
    values.extend(reasons.iter().map(|(why, count)| (format!("refused: {why}"), count.to_string())));
    let heading = Heading {
        title: format!("Corpus {name}"),
        does: "programs that others wrote, read and written again",
        command: format!("cargo xtask corpus FOLDER {name}"),
    };
    record::keep(&format!("corpus-{name}"), &heading, &values)?;
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// The command, built for speed.
fn build(tools: &Tools) -> Result<PathBuf, Failure> {
    let status = cargo_with(tools).args(["build", "--quiet", "--release", "--package", "loomir"]).status();
    if !status.map_err(|error| error.to_string())?.success() {
        return Err("the command does not build".into());
    }
    Ok(root().join("target/release/loomir"))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "ll" || extension == "mlir") {
            files.push(path);
        }
    }
    Ok(())
}

fn ll(loomir: &Path, llvm: &Path, file: &Path) -> Result<Outcome, Failure> {
    let assembler = llvm.join("bin/llvm-as");
    let accepts = |input: Stdio| {
        let mut child = std::process::Command::new(&assembler);
        child.args(["-o", "/dev/null", "-"]).stdin(input).stdout(Stdio::null()).stderr(Stdio::null());
        child.status().map(|status| status.success()).map_err(|error| error.to_string())
    };
    let open = |file: &Path| std::fs::File::open(file).map(Stdio::from).map_err(|error| error.to_string());
    if !accepts(open(file)?)? {
        return Ok(Outcome::NotAccepted);
    }
    let written = std::env::temp_dir().join(format!("loomir-corpus-{}.ll", std::process::id()));
    let mut child = std::process::Command::new(loomir);
    child.arg("opt").arg(file).arg("--emit=ll").arg("-o").arg(&written);
    let output = child.output().map_err(|error| error.to_string())?;
    let outcome = match output.status.code() {
        Some(0) if accepts(open(&written)?)? => Outcome::Kept,
        Some(0) => Outcome::Failed("LLVM refuses what is written".into()),
        Some(1) => Outcome::Refused(reason(&output.stderr)),
        _ => Outcome::Failed(output.status.to_string()),
    };
    // It is not there if the file was refused.
    let _ = std::fs::remove_file(&written);
    Ok(outcome)
}

fn mlir(loomir: &Path, file: &Path) -> Result<Outcome, Failure> {
    let mut child = std::process::Command::new(loomir);
    child.arg("opt").arg(file).args(["--allow-unregistered-dialect", "--emit=generic"]);
    let output = child.output().map_err(|error| error.to_string())?;
    let text = std::fs::read(file).map_err(|error| error.to_string())?;
    Ok(match output.status.code() {
        Some(0) if output.stdout == text => Outcome::Kept,
        Some(0) => Outcome::Differs,
        Some(1) => Outcome::Refused(reason(&output.stderr)),
        _ => Outcome::Failed(output.status.to_string()),
    })
}

/// The first error without what is in quotes and without numbers, so that equal reasons are counted
/// as one.
fn reason(errors: &[u8]) -> String {
    let errors = String::from_utf8_lossy(errors);
    let first = errors.lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or("no diagnostic");
    let mut text = String::new();
    for (part, piece) in first.split('\'').enumerate() {
        text.push_str(if part % 2 == 1 { "…" } else { piece });
    }
    text.split(' ')
        .filter(|word| !word.bytes().any(|byte| byte.is_ascii_digit()))
        .collect::<Vec<_>>()
        .join(" ")
}
