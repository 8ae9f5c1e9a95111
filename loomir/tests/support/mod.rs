//! Running the command as a shell would.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// Runs `loomir ARGS` with `input` on standard input.
pub(crate) fn loomir(args: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_loomir"))
        .args(args)
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // Written beside the reading, for either pipe may fill up. A command that does not read its
    // input closes the pipe early; that is its right.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the command ends");
    writer.join().expect("writing doesn't panic");
    output
}

/// Exit status, standard output and standard error as one text.
#[allow(dead_code, reason = "not every test needs it")]
pub(crate) fn shown(args: &[&str], input: &str) -> String {
    let output = loomir(args, input.as_bytes());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = output.status.code().unwrap_or(-1);
    format!("exit {status}\n--- stdout\n{}--- stderr\n{}", text(&output.stdout), text(&output.stderr))
}

/// A place for a file that a test writes.
#[allow(dead_code, reason = "not every test needs it")]
pub(crate) fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}
