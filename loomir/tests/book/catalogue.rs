//! The pages of loop transformations: what `loomir doc` prints of each, with the output and the
//! pictures of its commands.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::session::Session;
use super::{STALE, hold};

/// The line of the summary that the pages stand below.
const CHAPTER: &str = "- [Transformations of loops](transformations.md)";

fn doc(arguments: &str) -> String {
    let done = loomir::run_command(loomir::registry(), loomir::passes(), &format!("doc {arguments}"), "");
    assert_eq!(done.status, 0, "{}", done.err);
    done.out.trim_end().to_owned() + "\n"
}

#[test]
fn the_catalogue_is_what_the_files_say() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src");
    let programs = Path::new(env!("CARGO_BIN_EXE_loomir")).parent().expect("it is in a folder");
    let folders = Path::new(env!("CARGO_TARGET_TMPDIR")).join("catalogue");
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut list = format!("{CHAPTER}\n");
    for line in doc("--catalogue").lines() {
        let name = line.split_whitespace().next().unwrap_or_default();
        let page = doc(name);
        let title = page.lines().next().unwrap_or_default().trim_start_matches("# ");
        list += &format!("  - [{title}](catalogue/{name}.md)\n");
        let session = Session::new(folders.join(name), programs, cfg!(feature = "llvm"));
        // The output of a command that cannot run is not known.
        if !session.is_complete() {
            return;
        }
        files.insert(format!("{name}.md"), session.replay(&page));
        files.extend(session.pictures().map(|(name, drawn)| (format!("images/{name}"), drawn)));
    }
    let folder = book.join("catalogue");
    fs::create_dir_all(folder.join("images")).expect("the folder can be made");
    let mut wrong = String::new();
    for own in [folder.clone(), folder.join("images")] {
        for file in fs::read_dir(own).expect("a folder can be read").flatten().map(|own| own.path()) {
            let name = file.strip_prefix(&folder).expect("it is inside").to_string_lossy().into_owned();
            if file.is_file() && !files.contains_key(&name) {
                match std::env::var_os("LOOMIR_BLESS") {
                    Some(_) => fs::remove_file(&file).expect("a page can be removed"),
                    None => wrong += &format!("\n{name} is the page of no transformation"),
                }
            }
        }
    }
    for (name, text) in &files {
        hold(&book, &folder.join(name), text, &mut wrong);
    }
    assert!(wrong.is_empty(), "{STALE}:{wrong}");
    let summary = fs::read_to_string(book.join("SUMMARY.md")).expect("there is a summary");
    assert!(summary.contains(&list), "the summary lists the pages:\n{list}");
}

/// The levels of programs, and the files that are fixtures of each.
const LEVELS: [(&str, &str); 3] = [("scf", "scf.mlir"), ("affine", "affine.mlir"), (".ll", "ll.ll")];

/// The kinds of programs.
const KINDS: [&str; 3] = ["LEGAL", "ILLEGAL", "CONDITIONAL"];

/// Each transformation has a fixture at each level with a program of each kind, or says in its page
/// why it has not. A fixture names the kind of each program in a comment.
#[test]
fn the_catalogue_has_a_program_of_each_kind() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/catalogue");
    let mut wrong = String::new();
    for line in doc("--catalogue").lines() {
        let name = line.split_whitespace().next().unwrap_or_default();
        let page = doc(name);
        for (level, file) in LEVELS {
            let file = fixtures.join(name).join(file);
            let is_excused = page.contains(&format!("**Not in `{level}`.**"));
            let text = fs::read_to_string(&file).ok();
            if is_excused == text.is_some() {
                wrong +=
                    &format!("\n{name} in {level}: a fixture, or a reason in the page, not both or none");
            }
            let Some(text) = text else { continue };
            let snapshot = fs::read_to_string(file.with_extension("snap")).unwrap_or_default();
            for kind in KINDS {
                let is_excused = page.contains(&format!("**Never {}.**", kind.to_lowercase()));
                match outcomes(&text, &snapshot, kind) {
                    Some(_) if is_excused => {
                        wrong += &format!("\n{name} in {level}: never {kind}, yet it is")
                    }
                    None if !is_excused => wrong += &format!("\n{name} in {level}: no {kind} program"),
                    Some(outcomes) if !is_as_named(kind, &outcomes) => {
                        wrong += &format!("\n{name} in {level}: the {kind} program is none");
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(wrong.is_empty(), "tests/fixtures/catalogue:{wrong}");
}

/// Returns the outcomes of the first program of a kind, one for each run. `None` if there is none.
fn outcomes(text: &str, snapshot: &str, kind: &str) -> Option<Vec<String>> {
    let mark = format!("{kind}: ");
    let is_mark = |line: &str| line.trim_start_matches(['/', ';', ' ']).starts_with(&mark);
    let is_named = |program: &str| program.lines().any(is_mark);
    let number = text.split("-----\n").position(is_named)?;
    let runs = snapshot.split("// RUN: ").skip(1);
    Some(runs.map(|run| run.split("// -----\n").nth(number).unwrap_or_default().to_owned()).collect())
}

/// True if the outcomes of a program are those of its kind: done, refused with a witness, or not
/// the same in all runs.
fn is_as_named(kind: &str, outcomes: &[String]) -> bool {
    let has_witness = |own: &String| own.contains(": note: ");
    // A refusal is an error, or a remark with its name in brackets behind the text.
    let refuses = |line: &str| {
        let remark = line.split_once(": remark: ").and_then(|(_, text)| text.split_once("]: "));
        line.contains(": error: ") || remark.is_some_and(|(_, text)| text.contains(" ["))
    };
    let is_refused = |own: &String| own.lines().any(refuses);
    match kind {
        "LEGAL" => !outcomes.iter().any(is_refused),
        "ILLEGAL" => outcomes.iter().all(has_witness),
        _ => outcomes.windows(2).any(|pair| without_run(&pair[0]) != without_run(&pair[1])),
    }
}

/// Returns an outcome without the line of its run.
fn without_run(outcome: &str) -> &str {
    if outcome.starts_with(|own: char| own.is_alphabetic()) {
        outcome.split_once('\n').map_or(outcome, |(_, rest)| rest)
    } else {
        outcome
    }
}
