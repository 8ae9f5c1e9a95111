//! The command as a shell sees it: exit status, standard output, standard error.

use crate::support;
use crate::support::loomir;

/// Exit status and standard error of a run that prints nothing on standard output.
fn refused(args: &[&str], input: &str) -> String {
    refused_bytes(args, input.as_bytes())
}

fn refused_bytes(args: &[&str], input: &[u8]) -> String {
    let output = loomir(args, input);
    assert!(output.stdout.is_empty(), "nothing is printed of a program that is refused");
    format!("exit {}\n{}", output.status.code().unwrap_or(-1), String::from_utf8_lossy(&output.stderr))
}

const LOOP: &str = "\
func.func @f(%a: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %a[%i] : memref<8xf32>
    %1 = arith.addf %0, %0 : f32
    affine.store %1, %a[%i] : memref<8xf32>
  }
  return
}
";

#[test]
fn a_truncated_file() {
    insta::assert_snapshot!(refused(&["fuse", "-"], &LOOP[..LOOP.len() - 13]));
}

#[test]
fn every_truncation_is_refused_or_read() {
    for end in 0..LOOP.len() {
        let output = loomir(&["fuse", "-"], &LOOP.as_bytes()[..end]);
        assert!(matches!(output.status.code(), Some(0 | 1)), "cut at {end}: {output:?}");
    }
}

#[test]
fn an_undefined_value() {
    insta::assert_snapshot!(refused(&["fuse", "-"], &LOOP.replace("%1, %a", "%2, %a")));
}

#[test]
fn a_wrong_type() {
    insta::assert_snapshot!(refused(&["fuse", "-"], &LOOP.replace("%0, %0 : f32", "%0, %0 : f64")));
}

#[test]
fn an_operation_that_does_not_verify() {
    insta::assert_snapshot!(refused(&["fuse", "-"], &LOOP.replace("arith.addf", "arith.addi")));
}

#[test]
fn an_unknown_operation_in_custom_form() {
    insta::assert_snapshot!(refused(&["fuse", "-"], &LOOP.replace("arith.addf", "arith.addx")));
}

#[test]
fn several_errors_are_reported_in_one_run() {
    let wrong = LOOP.replace("%0, %0 : f32", "%7, %0 : f32").replace("%1, %a", "%2, %a");
    insta::assert_snapshot!(refused(&["fuse", "-"], &wrong));
}

#[test]
fn a_missing_file() {
    insta::assert_snapshot!(refused(&["fuse", "no/such/file.mlir"], ""));
}

#[test]
fn bytes_that_are_no_text() {
    insta::assert_snapshot!(refused_bytes(&["fuse", "-"], b"func.func @f() {\n  return \xff\n}\n"));
}

#[test]
fn a_mistake_in_the_command_line() {
    for args in [
        &["no-such-command"][..],
        &["fuse", "-", "--alias=sometimes"],
        &["fuse", "-", "--cost=guess"],
        &["fuse", "-", "--fusion-profitability=never"],
        &["run", "-", "--entry=f", "--engine=jit", "--profile=counts.mlir"],
        &["opt", "-", "--no-such-pass"],
    ] {
        assert_eq!(loomir(args, b"").status.code(), Some(2), "{args:?}");
    }
    insta::assert_snapshot!(refused(&["opt", "-", "--pass-pipeline=func.func(loop-fusion{speed=9})"], LOOP));
}

#[test]
fn help_is_no_mistake() {
    for args in [&["--help"][..], &["fuse", "--help"], &["opt", "--help"], &["run", "--help"], &["--version"]]
    {
        let output = loomir(args, b"");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert!(!output.stdout.is_empty());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    for args in [&["help"][..], &["fuse", "--help"], &["--version"], &["opt", "-"], &["man"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_loomir"));
        let output = command.args(args).stdin(std::process::Stdio::null()).stdout(full).output();
        let output = output.expect("the command ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(said.contains("cannot write to standard output"), "{args:?}: {said}");
    }
}

#[test]
fn passes_run_in_the_order_they_are_given() {
    let output = loomir(
        &["opt", "-", "--canonicalize", "--loop-fusion=alias=distinct", "--print-ir-after-all"],
        LOOP.as_bytes(),
    );
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let log = String::from_utf8_lossy(&output.stderr);
    let titles: Vec<&str> = log.lines().filter(|line| line.starts_with("// -----//")).collect();
    assert_eq!(
        titles,
        [
            "// -----// IR Dump After canonicalize //----- //",
            "// -----// IR Dump After loop-fusion //----- //"
        ]
    );
}

/// Two loops on arguments that may overlap.
const PAIR: &str = "\
func.func @f(%a: memref<8xf32>, %b: memref<8xf32>, %v: f32) {
  affine.for %i = 0 to 8 { affine.store %v, %a[%i] : memref<8xf32> }
  affine.for %i = 0 to 8 { affine.store %v, %b[%i] : memref<8xf32> }
  return
}
";

#[test]
fn every_command_reads_standard_input_if_no_file_is_named() {
    let main = "func.func @f() { return }";
    for args in [&["opt"][..], &["fuse"], &["explain"], &["run", "--entry=f"], &["check", "--rewiring"]] {
        assert_eq!(loomir(args, main.as_bytes()).status.code(), Some(0), "{args:?}");
    }
}

#[test]
fn the_check_compares_what_is_fused_as_told() {
    let check = |alias: &str| {
        let output = loomir(&["check", "--rewiring", alias], PAIR.as_bytes());
        let text = String::from_utf8(output.stdout).expect("text");
        text.lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(check("--alias=distinct"), "1 equal, 0 different, 0 not compared");
    let apart = "nothing to compare: the tree does not fuse the one pair of neighbouring loops as they are";
    assert_eq!(check("--alias=may"), apart);
    let output = loomir(&["check", "--rewiring"], LOOP.as_bytes());
    assert_eq!(output.stdout, b"nothing to compare: the program has no two neighbouring loops\n");
}

#[test]
fn misspelt_names_are_answered_with_the_nearest() {
    let helps = |args: &[&str], input: &str, help: &str| {
        let output = loomir(args, input.as_bytes());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(help), "{args:?}: {text}");
    };
    helps(&["fuse"], &LOOP.replace("arith.addf", "arith.adff"), "help: did you mean 'arith.addf'?");
    helps(&["fuse"], &LOOP.replace("arith.addf", "arth.addf"), "help: did you mean 'arith'?");
    helps(&["run", "--entry=mian"], "func.func @main() { return }", "help: did you mean 'main'?");
    helps(
        &["opt", "-p", "loop-fuson"],
        LOOP,
        "there is no pass called 'loop-fuson'; did you mean 'loop-fusion'?",
    );
    helps(&["fuse", "--alias=distint"], LOOP, "'distinct'");
}

#[test]
fn what_other_tools_have_to_turn_into_text_or_loops_first() {
    assert_eq!(
        refused_bytes(&["fuse"], b"ML\xefR\x0d\x01"),
        "exit 1\nerror: '<stdin>' is MLIR bytecode, and only text is read\n |\nhelp: write it as text first: mlir-opt IN -o OUT.mlir\n\n"
    );
    for broken in [b"BC\xc0\xde\xff\xff\xff\xff", b"\xde\xc0\x17\x0b\xff\xff\xff\xff"] {
        let said = refused_bytes(&["opt"], broken);
        assert!(said.contains("LLVM bitcode") && said.contains("llvm-dis IN -o OUT.ll"), "{said}");
    }
    let fill = "func.func @f(%v: f32, %a: memref<8xf32>) {\n  linalg.fill ins(%v : f32) outs(%a : memref<8xf32>)\n  return\n}\n";
    insta::assert_snapshot!(support::shown(&["fuse"], fill));
    insta::assert_snapshot!(refused(&["fuse"], &fill.replace("memref", "tensor")));
    let other =
        "func.func @f(%a: memref<8xf32>) {\n  \"tensor.other\"(%a) : (memref<8xf32>) -> ()\n  return\n}\n";
    insta::assert_snapshot!(refused(&["fuse"], &other.replace("tensor", "linalg")));
    insta::assert_snapshot!(support::shown(&["fuse", "--allow-unregistered-dialect"], other));
}

#[test]
fn a_machine_has_a_name_or_a_file() {
    assert!(support::shown(&["machine", "sapphirerapids"], "").contains("cache L2 2097152 2"));
    for machine in ["host", "znver3"] {
        let arguments = ["optimize", "--machine", machine];
        assert!(!support::shown(&arguments, PAIR).contains("error"), "{machine}");
    }
    insta::assert_snapshot!(refused(&["fuse", "--machine=sapphirerapds"], PAIR));
    // What was printed for this machine is read again.
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("here.machine");
    let printed = support::shown(&["machine"], "");
    let text = printed.split("--- stdout\n").nth(1).and_then(|text| text.split("--- stderr").next());
    std::fs::write(&file, text.expect("a description")).expect("a file");
    let named = format!("--machine={}", file.display());
    assert!(!support::shown(&["optimize", &named], PAIR).contains("error"));
}

#[test]
fn everything_said_is_json_if_remarks_are() {
    for input in [PAIR, &LOOP.replace("%1, %a", "%2, %a"), "func.func", &PAIR.replace("[%i]", "[%i, %i]")] {
        let output = loomir(&["fuse", "--remarks=json"], input.as_bytes());
        let text = String::from_utf8(output.stderr).expect("text");
        assert!(!text.is_empty());
        for line in text.lines() {
            let object: serde_json::Value = serde_json::from_str(line).expect("an object a line");
            assert!(object["severity"].is_string() && object["message"].is_string(), "{line}");
        }
    }
    let missing = loomir(&["fuse", "--remarks=json", "no/such/file.mlir"], b"");
    assert_eq!(missing.stderr[0], b'{');
}

#[test]
fn colours_are_for_terminals_or_whoever_asks() {
    let wrong = LOOP.replace("%1, %a", "%2, %a");
    let says = |args: &[&str]| String::from_utf8(loomir(args, wrong.as_bytes()).stderr).expect("text");
    assert!(!says(&["fuse"]).contains('\x1b'));
    assert!(!says(&["fuse", "--color=never"]).contains('\x1b'));
    assert!(says(&["fuse", "--color=always"]).contains("\x1b["));
    assert!(says(&["--color=always", "fuse"]).contains("\x1b["));
}

#[test]
fn loops_left_apart_may_be_a_failure() {
    for command in ["fuse", "explain"] {
        let status =
            |alias: &str| loomir(&[command, alias, "--fail-on-missed"], PAIR.as_bytes()).status.code();
        assert_eq!(status("--alias=distinct"), Some(0));
        assert_eq!(status("--alias=may"), Some(1));
    }
    let output = loomir(&["fuse", "-q", "--alias=may", "--fail-on-missed"], PAIR.as_bytes());
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: 1 pair of neighbouring loops stayed apart\n\n"
    );
    assert!(!output.stdout.is_empty(), "the program is printed all the same");
}

/// Functions that say `optnone` stay as they are.
#[test]
fn what_is_not_to_be_optimised_is_left_alone() {
    let two_loops = "\
define void @f(ptr noalias %a, ptr noalias %b) {
entry:
  br label %first
first:
  %i = phi i64 [ 0, %entry ], [ %i.next, %first ]
  %p = getelementptr inbounds i64, ptr %a, i64 %i
  store i64 %i, ptr %p
  %i.next = add nuw nsw i64 %i, 1
  %i.more = icmp ult i64 %i.next, 4
  br i1 %i.more, label %first, label %between
between:
  br label %second
second:
  %j = phi i64 [ 0, %between ], [ %j.next, %second ]
  %q = getelementptr inbounds i64, ptr %b, i64 %j
  store i64 %j, ptr %q
  %j.next = add nuw nsw i64 %j, 1
  %j.more = icmp ult i64 %j.next, 4
  br i1 %j.more, label %second, label %end
end:
  ret void
}
";
    let said = |input: &str| {
        let output = loomir(&["opt", "--loop-fusion", "-o", "/dev/null"], input.as_bytes());
        String::from_utf8(output.stderr).expect("text").lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(said(two_loops), "remark: [f]: Loops fused");
    assert_eq!(said(&two_loops.replace("ptr noalias %b) {", "ptr noalias %b) optnone noinline {")), "");
}

/// Completions and manual are made from the command's table, so each names every subcommand.
#[test]
fn completions_and_manual_know_all_subcommands() {
    let printed = |args: &[&str]| {
        let output = loomir(args, b"");
        assert!(output.status.success() && output.stderr.is_empty(), "{args:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let names = [
        "opt",
        "fuse",
        "explain",
        "run",
        "view",
        "check",
        "reduce",
        "lsp",
        "cc",
        "doc",
        "new",
        "completions",
        "man",
    ];
    let page = printed(&["man"]);
    assert!(page.contains(".TH loomir 1"), "{page}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&["completions", shell]);
        for name in names {
            assert!(script.contains(name) && page.contains(&format!("loomir\\-{name}(1)")), "{shell} {name}");
        }
    }
    let page = printed(&["man", "fuse"]);
    assert!(page.contains(".TH loomir-fuse 1") && page.contains("\\-\\-max\\-shift"), "{page}");
    insta::assert_snapshot!(refused(&["man", "fly"], ""), @r"
    exit 2
    error: 'fly' is no subcommand

    For more information, try '--help'.
    ");
}
