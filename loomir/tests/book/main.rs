//! The book's commands, run as the reader would run them ([`session`]).
//!
//! With `LOOMIR_BLESS` set the blocks are rewritten to what the commands now show. Pages of the
//! [catalogue] are written anew, and their pictures.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

mod catalogue;
#[allow(dead_code, unreachable_pub)]
#[path = "../../../testing/src/peers.rs"]
mod peers;
#[allow(dead_code)]
mod session;

use session::{Session, first_difference};

/// The chapter whose commands are the reader's own: the crate `example` runs it.
const LANGUAGE: &str = "own-language";

#[test]
fn the_book_shows_what_the_commands_print() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src");
    let mut chapters: Vec<PathBuf> = fs::read_dir(&book)
        .expect("the book is there")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .filter(|path| path.file_stem().is_some_and(|name| name != LANGUAGE))
        .collect();
    chapters.push(book.join("../../ARCHITECTURE.md"));
    chapters.sort();
    let programs = Path::new(env!("CARGO_BIN_EXE_loomir")).parent().expect("it is in a folder");
    let folders = Path::new(env!("CARGO_TARGET_TMPDIR")).join("book");
    let mut wrong = String::new();
    for chapter in chapters {
        let text = fs::read_to_string(&chapter).expect("a chapter can be read");
        let name = chapter.file_stem().expect("it has a name");
        let session = Session::new(folders.join(name), programs, cfg!(feature = "llvm"));
        let replayed = session.replay(&text);
        let pictures = session.pictures().map(|(name, drawn)| (book.join("images").join(name), drawn));
        for (file, shown) in pictures.chain([(chapter, replayed)]) {
            hold(&book, &file, &shown, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{STALE}:{wrong}");
}

/// The message about a file that is not what it should be.
const STALE: &str = "the book is out of date (`cargo xtask bless --test book` rewrites it)";

/// Writes a file of the book if it is to be blessed. Otherwise adds its first wrong line.
fn hold(book: &Path, file: &Path, shown: &str, wrong: &mut String) {
    let known = fs::read_to_string(file).unwrap_or_default();
    if known == shown {
        return;
    }
    if std::env::var_os("LOOMIR_BLESS").is_some() {
        fs::write(file, shown).expect("a file of the book can be written");
    } else {
        let file = file.strip_prefix(book).unwrap_or(file).display();
        let _ = writeln!(wrong, "\n{file}:{}", first_difference(&known, shown));
    }
}
