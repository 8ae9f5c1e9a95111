//! A recording of edits, replayed through Neovim.

use std::process::Command;

use crate::peers;

#[test]
fn a_user_of_neovim_sees_what_is_wrong_after_each_edit() {
    let Some(editor) = peers::neovim() else { return };
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lsp");
    let output = Command::new(editor)
        .args(["--headless", "-u", "NONE", "-i", "NONE", "-n", "-c"])
        .arg(format!("luafile {here}/replay.lua"))
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .env("LOOMIR_SERVER", env!("CARGO_BIN_EXE_loomir"))
        .env("LOOMIR_RECORDING", format!("{here}/recording.json"))
        .output()
        .expect("the editor starts");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{shown}{}", String::from_utf8_lossy(&output.stderr));
    insta::assert_snapshot!(shown);
}
