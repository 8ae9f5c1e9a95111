//! `loomir fuse` on LLVM IR writes only changed functions anew. The rest is the text that was read.

use std::collections::BTreeMap;
use std::path::Path;

use support::{loomir, shown};

mod support;

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
        let file = support::scratch("spliced.ll");
        std::fs::write(&file, &text).expect("the file is written");
        let opt = Path::new(&folder).join("bin/opt");
        let verified = std::process::Command::new(opt)
            .args(["-passes=verify", "-disable-output"])
            .arg(&file)
            .output()
            .expect("opt starts");
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
