//! Commands that take over a second show what they do, on a terminal and nowhere else.

use crate::peers;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A command whose input takes over a second to come.
const SLOW: &str = "(sleep 1.2; printf 'func.func @f() { return }') | LOOMIR opt -o /dev/null";

/// Goes back to the start of the line, and clears it.
const CLEAR: &str = "\r\u{1b}[K";

fn shell(program: PathBuf, arguments: &[&str], line: &str, terminal: &str) -> Output {
    let line = line.replace("LOOMIR", env!("CARGO_BIN_EXE_loomir"));
    Command::new(program)
        .args(arguments)
        .arg(line)
        .arg("/dev/null")
        .env("TERM", terminal)
        .stdin(Stdio::null())
        .output()
        .expect("the command starts")
}

#[test]
fn a_line_appears_on_a_terminal_and_goes() {
    let Some(script) = peers::script() else { return };
    let typescript = |terminal| {
        let output = shell(script.clone(), &["-qec"], SLOW, terminal);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let (shown, dumb) = std::thread::scope(|scope| {
        let dumb = scope.spawn(|| typescript("dumb"));
        (typescript("xterm"), dumb.join().expect("no panic"))
    });
    assert!(shown.starts_with(&format!("{CLEAR}reading standard input")), "{shown:?}");
    assert!(shown.ends_with(CLEAR), "{shown:?}");
    assert_eq!(dumb, "");
}

#[test]
fn nothing_is_written_to_a_file() {
    let output = shell("sh".into(), &["-c"], SLOW, "xterm");
    assert!(output.status.success() && output.stderr.is_empty() && output.stdout.is_empty(), "{output:?}");
}
