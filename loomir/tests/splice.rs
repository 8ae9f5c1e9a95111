//! `loomir fuse` on LLVM IR writes only changed functions anew. The rest is the text that was read.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{loomir, shown};

const THREE: &str = include_str!("splice/three.ll");

/// Returns the definitions of functions by name, from `define` to the closing brace.
fn definitions(text: &str) -> BTreeMap<&str, &str> {
    let mut all = BTreeMap::new();
    let mut rest = text;
    while let Some(start) = rest.find("\ndefine ") {
        let end = rest[start..].find("\n}").map_or(rest.len(), |end| start + end + 2);
        let definition = &rest[start + 1..end];
        let name = definition.split('@').nth(1).and_then(|name| name.split('(').next()).unwrap_or_default();
        all.insert(name, definition);
        rest = &rest[end..];
    }
    all
}

/// Fuses a program in LLVM IR, and lets LLVM verify the result.
fn fused(source: &str) -> String {
    let output = loomir(&["fuse", "-q", "-"], source.as_bytes());
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    if let Some(folder) = std::env::var_os("LOOMIR_LLVM") {
        let opt = Path::new(&folder).join("bin/opt");
        let mut child = Command::new(opt)
            .args(["-passes=verify", "-disable-output"])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("opt starts");
        child.stdin.take().expect("it reads").write_all(text.as_bytes()).expect("it reads all");
        let verified = child.wait_with_output().expect("opt ends");
        assert!(verified.status.success(), "{}\n{text}", String::from_utf8_lossy(&verified.stderr));
    }
    text
}

#[test]
fn one_function_of_three_changes() {
    let output = fused(THREE);
    let (before, after) = (definitions(THREE), definitions(&output));
    assert_eq!(before.len(), 3);
    let changed: Vec<&str> = before.keys().copied().filter(|name| before[name] != after[name]).collect();
    assert_eq!(changed, ["scale"]);
    insta::assert_snapshot!(shown(&["fuse", "-"], THREE));
}

#[test]
fn unchanged_functions_are_found_verbatim() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests");
    let (mut kept, mut changed) = (0, 0);
    for folder in ["inputs", "fixtures/raising"] {
        let files = std::fs::read_dir(Path::new(root).join(folder)).expect("the folder is there");
        for file in files.map(|file| file.expect("a file").path()) {
            if file.extension().is_none_or(|extension| extension != "ll") {
                continue;
            }
            for source in std::fs::read_to_string(&file).expect("text").split("; -----\n") {
                let source = format!("; ModuleID = 'it'\n{source}");
                let output = fused(&source);
                let (before, after) = (definitions(&source), definitions(&output));
                assert!(before.keys().eq(after.keys()), "{}", file.display());
                let same = before.iter().filter(|(name, text)| after[*name] == **text).count();
                // Nothing but changed functions and additions at the end differs.
                if same == before.len() {
                    assert_eq!(source, output);
                }
                kept += same;
                changed += before.len() - same;
            }
        }
    }
    assert!(kept >= 8 && changed >= 5, "{kept} kept, {changed} changed");
}

/// Assembly that may unwind, which is not read, a computed goto, the table of its targets, and
/// exceptions, beside loops that fuse.
const UNREAD: &str = "\
@table = internal constant [2 x ptr] [ptr blockaddress(@jump, %one), ptr blockaddress(@jump, %two)], align 16
define internal i32 @jump(i64 %i, ptr noalias %p) #0 {
  %at = getelementptr inbounds [2 x ptr], ptr @table, i64 0, i64 %i
  %to = load ptr, ptr %at, align 8
  indirectbr ptr %to, [label %one, label %two]
one:
  ret i32 1
two:
  ret i32 2
}
define void @throws() personality ptr @handler {
  invoke void @call() to label %end unwind label %caught
end:
  ret void
caught:
  %x = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %x
}
define void @unread() {
  call void asm sideeffect unwind \"\", \"\"()
  ret void
}
declare void @call()
declare i32 @handler(...)
define i32 @fuses(ptr noalias %a) {
entry:
  br label %first
first:
  %i = phi i64 [ 0, %entry ], [ %i.next, %first ]
  %p = getelementptr inbounds i32, ptr %a, i64 %i
  store i32 7, ptr %p, align 4
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %i.next, 20
  br i1 %more, label %first, label %second
second:
  %j = phi i64 [ 0, %first ], [ %j.next, %second ]
  %s = phi i32 [ 0, %first ], [ %s.next, %second ]
  %q = getelementptr inbounds i32, ptr %a, i64 %j
  %x = load i32, ptr %q, align 4
  %s.next = add i32 %s, %x
  %j.next = add nuw nsw i64 %j, 1
  %also = icmp ult i64 %j.next, 20
  br i1 %also, label %second, label %end
end:
  %r = call i32 @jump(i64 1, ptr %a)
  %t = add i32 %r, %s.next
  ret i32 %t
}
attributes #0 = { noinline nounwind memory(read) }
";

#[test]
fn functions_that_cannot_be_read_stay() {
    let output = fused(UNREAD);
    let (before, after) = (definitions(&output), definitions(UNREAD));
    let changed: Vec<&str> = before.keys().copied().filter(|name| before[name] != after[name]).collect();
    assert_eq!(changed, ["fuses"]);
    insta::assert_snapshot!(shown(&["fuse", "-"], UNREAD));
}

#[test]
fn truncated_programs_are_read_in_part_or_refused() {
    let ctx = loomir::context();
    for end in 0..UNREAD.len() {
        if let Ok((module, _)) = loomir::parse_ll_in_part(&ctx, &UNREAD[..end], "it.ll") {
            let spliced = loomir::lowering::splice(&UNREAD[..end], &module, &[]).expect("nothing is new");
            assert_eq!(spliced.trim_end(), UNREAD[..end].trim_end());
        }
    }
}

/// LLVM declares an intrinsic for each type that its calls have, if the text does not.
#[test]
fn undeclared_intrinsics_stay_undeclared() {
    let call = |ty: &str| format!("call i32 @llvm.experimental.get.vector.length({ty} 9, i32 4, i1 true)");
    let ends = format!("  %v = {}\n  %w = add i32 %t, %v\n  ret i32 %w\n", call("i64"));
    let other = format!("define i32 @other() {{\n  %v = {}\n  ret i32 %v\n}}\n", call("i32"));
    let output = fused(&(other + &UNREAD.replace("  ret i32 %t\n", &ends)));
    assert!(output.contains(&call("i32")) && output.contains(&call("i64")), "{output}");
    assert!(!output.contains("declare i32 @llvm.experimental"), "{output}");
}
