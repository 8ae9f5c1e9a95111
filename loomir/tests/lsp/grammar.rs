//! The grammars for highlighting, by the engine of the editor that uses them.

use std::path::Path;
use std::process::Command;

use crate::peers;

#[test]
fn grammars_know_every_program_of_the_tests() {
    let Some(modules) = peers::grammar() else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let run = |program: &str, args: &[&str]| {
        let output = Command::new(program)
            .args(args)
            .current_dir(root.join("editors/vscode"))
            .env("NODE_PATH", &modules)
            .output()
            .expect("the program starts");
        let shown = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{args:?}:\n{}", String::from_utf8_lossy(&shown));
    };
    let tester = modules.join(".bin/vscode-tmgrammar-test").to_string_lossy().into_owned();
    run(&tester, &["test/*.mlir"]);
    run(&tester, &["test/*.ll"]);
    run("node", &["test/all.mjs", "../.."]);
}
