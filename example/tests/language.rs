//! The chapter "A language of your own": its program is the program `arrays`, and its commands
//! print what it says.
//!
//! `cargo xtask scaffold` compiles the chapter's program from an empty folder.

use std::fs;
use std::path::Path;

#[allow(dead_code, unreachable_pub)]
#[path = "../../testing/src/peers.rs"]
mod peers;
#[allow(dead_code)]
#[path = "../../loomir/tests/book/session.rs"]
mod session;

use session::{Session, file_blocks, first_difference};

/// Replaces the blocks that are files of `arrays/` by those files.
fn with_files(text: &str) -> String {
    let mut text = text.to_owned();
    for (name, block) in file_blocks(&text.clone()) {
        if let Some(name) = name.strip_prefix("src/") {
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("arrays").join(name);
            let own = fs::read_to_string(file).expect("the chapter's file is in 'arrays'");
            text = text.replace(&block, &own);
        }
    }
    text
}

#[test]
fn the_chapter_is_the_program_and_its_commands() {
    let chapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/own-language.md");
    let text = fs::read_to_string(&chapter).expect("the chapter can be read");
    let files = file_blocks(&text);
    for name in ["Cargo.toml", "src/main.rs", "src/lexer.rs", "src/parser.rs", "src/lower.rs"] {
        assert!(files.iter().any(|(own, _)| own == name), "the chapter has no '{name}'");
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_arrays")).parent().expect("it is in a folder");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("language");
    let shown = Session::new(folder, programs, false).replay(&with_files(&text));
    if shown == text {
        return;
    }
    if std::env::var_os("LOOMIR_BLESS").is_some() {
        fs::write(&chapter, &shown).expect("the chapter can be written");
    } else {
        panic!("own-language.md:{}", first_difference(&text, &shown));
    }
}
