//! Facts that `loomir fuse` tells LLVM about new code in LLVM IR, and their checks.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::peers;
use crate::support::loomir;

/// Two loops behind two pointers.
const LOOPS: &str = "first:
  %i = phi i32 [ 0, %entry ], [ %i.next, %first ]
  %p = getelementptr inbounds i32, ptr %a, i32 %i
  store i32 %i, ptr %p
  %i.next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %i.next, %n
  br i1 %more, label %first, label %between
between:
  br label %second
second:
  %j = phi i32 [ 0, %between ], [ %j.next, %second ]
  %q = getelementptr inbounds i32, ptr %a, i32 %j
  %z = load i32, ptr %q
  %r = getelementptr inbounds i32, ptr %b, i32 %j
  store i32 %z, ptr %r
  %j.next = add nuw nsw i32 %j, 1
  %also = icmp slt i32 %j.next, %n
  br i1 %also, label %second, label %end
";

fn once() -> String {
    format!(
        "define void @once(i32 %n, ptr %a, ptr %b) {{
entry:
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %first, label %end
{LOOPS}end:
  ret void
}}
"
    )
}

/// The same loops inside of a loop.
fn again() -> String {
    let loops = LOOPS.replace("%entry", "%outer").replace("%end", "%latch");
    format!(
        "define void @again(i32 %n, ptr %a, ptr %b) {{
entry:
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %outer, label %end
outer:
  %k = phi i32 [ 0, %entry ], [ %k.next, %latch ]
  br label %first
{loops}latch:
  %k.next = add nuw nsw i32 %k, 1
  %further = icmp slt i32 %k.next, %n
  br i1 %further, label %outer, label %end
end:
  ret void
}}
"
    )
}

/// Returns the text that `loomir fuse` writes. LLVM verifies it.
fn fused(source: &[u8], options: &[&str]) -> String {
    let output = loomir(&[&["fuse", "-q", "-"], options].concat(), source);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    if let Some(opt) = peers::Peer::find("opt") {
        opt.run(&text, &["-passes=verify", "-disable-output"]).expect("LLVM accepts it");
    }
    text
}

#[test]
fn a_tested_arm_has_alias_scopes() {
    insta::assert_snapshot!(fused(once().as_bytes(), &[]));
}

/// Scopes speak of all iterations, so the check and their declarations must stand around all loops.
#[test]
fn scopes_are_declared_outside_of_loops() {
    let text = fused(again().as_bytes(), &["--fusion-profitability=always"]);
    let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in {text}"));
    assert!(at("!loomir.check") < at("noalias.scope.decl"), "{text}");
    assert!(at("noalias.scope.decl") < at(" = phi "), "{text}");
    assert!(text.contains("!alias.scope"), "{text}");
}

#[test]
fn checked_facts_trap_and_tell_nothing() {
    let text = fused(once().as_bytes(), &["--check-metadata"]);
    assert!(text.contains("call void @llvm.trap()"), "{text}");
    assert!(!text.contains("alias.scope") && !text.contains("mustprogress"), "{text}");
}

#[test]
fn a_program_in_mlir_says_nothing_of_it() {
    let mlir = loomir(&["opt", "-"], once().as_bytes()).stdout;
    let output = loomir(&["fuse", "-q", "-"], &mlir);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("cond_br") && !text.contains("loomir.apart"), "{text}");
}

#[test]
fn bitcode_is_read_through_llvm_dis() {
    let Some(assembler) = peers::tool("llvm-as") else { return };
    let bitcode = assembled(&assembler, &once());
    assert_eq!(bitcode[..2], *b"BC");
    let text = fused(&bitcode, &[]);
    assert!(text.contains("!alias.scope"), "{text}");
    for command in ["explain", "opt", "fuse"] {
        assert!(loomir(&[command, "-"], &bitcode).status.success(), "{command}");
    }
}

fn assembled(assembler: &Path, text: &str) -> Vec<u8> {
    let mut command = Command::new(assembler);
    let mut child = command
        .args(["-", "-o", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(text.as_bytes()).expect("it reads");
    drop(input);
    child.wait_with_output().expect("it ends").stdout
}
