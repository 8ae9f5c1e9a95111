//! Remarks as data: what each kind has, as the command prints it with `--remarks=json`.

use crate::peers;
use crate::support;
use crate::support::loomir;
use insta::assert_snapshot;

/// The kind, pass, name, function and arguments of each remark, a line each, places as
/// `line:column`.
fn data(args: &[&str], input: &str) -> String {
    let output = loomir(args, input.as_bytes());
    let text = if args[0] == "explain" { output.stdout } else { output.stderr };
    let text = String::from_utf8(text).expect("text");
    let lines = text.lines().map(|line| {
        let remark: serde_json::Value = serde_json::from_str(line).expect("an object");
        let word = |key: &str| remark[key].as_str().expect("a text").to_owned();
        let mut said = [word("kind"), word("pass"), word("name"), word("function")].join(" ");
        said += &format!(" at {}:{}\n", remark["line"], remark["column"]);
        for (key, value) in remark["args"].as_object().expect("arguments") {
            said += &format!("  {key}: {value}\n");
        }
        said
    });
    lines.collect()
}

const FUSED: &str = "\
func.func @late(%a: memref<20xi32> {llvm.noalias}, %b: memref<20xi32> {llvm.noalias}, %v: i32) {
  affine.for %i = 0 to 16 { affine.store %v, %a[%i] : memref<20xi32> }
  affine.for %i = 0 to 16 {
    %x = affine.load %a[%i + 2] : memref<20xi32>
    affine.store %x, %b[%i] : memref<20xi32>
  }
  return
}
func.func @tested(%a: memref<8xi32>, %b: memref<8xi32>, %v: i32) {
  affine.for %i = 0 to 8 { affine.store %v, %a[%i] : memref<8xi32> }
  affine.for %i = 0 to 8 { affine.store %v, %b[%i] : memref<8xi32> }
  return
}
";

#[test]
fn of_what_is_fused() {
    assert_snapshot!(data(&["explain", "--remarks=json", "-"], FUSED));
}

const REFUSED: &str = "\
func.func private @unknown()
func.func @order(%a: memref<64xi32>, %n: index, %v: i32, %b: memref<64xi32> {llvm.noalias}) {
  affine.for %i = 5 to 21 step 2 { affine.store %v, %a[%i] : memref<64xi32> }
  affine.for %i = 5 to 21 step 2 {
    %x = affine.load %a[26 - %i] : memref<64xi32>
    %y = affine.load %a[%i + 2] : memref<64xi32>
    %z = arith.addi %x, %y : i32 affine.store %z, %b[%i] : memref<64xi32> }
  return
}
func.func @symbol(%a: memref<?xi32>, %m: index, %n: index, %v: i32, %b: memref<?xi32> {llvm.noalias}) {
  affine.for %i = %m to %n { affine.store %v, %a[%i] : memref<?xi32> }
  affine.for %i = %m to %n { %x = affine.load %a[20 - %i] : memref<?xi32> affine.store %x, %b[%i] : memref<?xi32> }
  return
}
func.func @overlap(%a: memref<8xi32>, %b: memref<8xi32>, %v: i32) {
  affine.for %i = 0 to 8 { affine.store %v, %a[%i] : memref<8xi32> }
  affine.for %i = 0 to 8 { affine.store %v, %b[%i] : memref<8xi32> }
  return
}
func.func @world(%a: memref<8xi32>) {
  affine.for %i = 0 to 8 { func.call @unknown() : () -> () }
  affine.for %i = 0 to 8 { func.call @unknown() : () -> () }
  return
}
func.func @between(%a: memref<8xi32>, %v: i32) {
  affine.for %i = 0 to 8 { affine.store %v, %a[%i] : memref<8xi32> }
  func.call @unknown() : () -> ()
  affine.for %i = 0 to 8 { affine.store %v, %a[%i] : memref<8xi32> }
  return
}
func.func @steps(%a: memref<8xi32>, %v: i32) {
  affine.for %i = 0 to 8 step 2 { affine.store %v, %a[%i] : memref<8xi32> }
  affine.for %i = 0 to 8 step 3 { affine.store %v, %a[%i] : memref<8xi32> }
  return
}
";

#[test]
fn of_what_is_refused() {
    let args = ["explain", "--remarks=json", "--alias=may", "--fusion-profitability=always", "-"];
    assert_snapshot!(data(&args, REFUSED));
}

const ARRAYS: &str = "\
func.func private @use(memref<8xi32>)
func.func @arrays(%out: memref<8xi32>, %v: i32) {
  %t = memref.alloc() : memref<8xi32>
  %s = memref.alloc() : memref<8xi32>
  affine.for %i = 0 to 8 {
    affine.store %v, %t[%i] : memref<8xi32>
    %x = affine.load %t[%i] : memref<8xi32>
    affine.store %x, %s[%i] : memref<8xi32>
    %y = affine.load %s[%i] : memref<8xi32>
    affine.store %y, %out[%i] : memref<8xi32>
  }
  func.call @use(%s) : (memref<8xi32>) -> ()
  return
}
";

#[test]
fn of_arrays() {
    assert_snapshot!(data(&["opt", "--array-contraction", "--remarks=json", "-o", "/dev/null", "-"], ARRAYS));
}

const DISTRIBUTED: &str = "\
func.func @cut(%a: memref<9xi32> {llvm.noalias}, %b: memref<9xi32> {llvm.noalias}, %v: i32) {
  affine.for %i = 0 to 8 {
    affine.store %v, %a[%i] : memref<9xi32>
    affine.store %v, %b[%i] : memref<9xi32>
  }
  affine.for %i = 0 to 8 {
    %x = affine.load %a[%i] : memref<9xi32>
    affine.store %x, %b[%i] : memref<9xi32>
    %y = affine.load %b[%i] : memref<9xi32>
    affine.store %y, %a[%i + 1] : memref<9xi32>
  }
  return
}
";

#[test]
fn of_what_is_distributed() {
    assert_snapshot!(data(
        &["opt", "--loop-distribute", "--remarks=json", "-o", "/dev/null", "-"],
        DISTRIBUTED
    ));
}

#[test]
fn of_graphs() {
    let args = ["opt", "--remarks=json", "-o", "/dev/null", "-"];
    let pipeline = "--pass-pipeline=builtin.module(lower-to-llvm,llvm.func(loop-fusion))";
    assert_snapshot!(data(&[&args[..1], &[pipeline], &args[1..]].concat(), REFUSED));
}

const CHAIN: &str = "\
func.func @chain(%a: memref<18xi32>, %v: i32) {
  affine.for %i = 0 to 16 { affine.store %v, %a[%i] : memref<18xi32> }
  affine.for %i = 0 to 16 { affine.store %v, %a[%i] : memref<18xi32> }
  affine.for %i = 0 to 16 { affine.store %v, %a[%i] : memref<18xi32> }
  return
}
";

#[test]
fn loops_that_become_one_are_one_remark() {
    let said = |args: &[&str]| {
        let args = [&["fuse", "--contract=false"], args].concat();
        String::from_utf8(loomir(&args, CHAIN.as_bytes()).stderr).expect("text")
    };
    assert_snapshot!(said(&[]));
    assert_eq!(said(&["--remarks=all"]).matches("remark: ").count(), 2);
    assert_eq!(said(&["--remarks=json"]).lines().count(), 2);
    assert_eq!(said(&["-q"]), "");
}

#[test]
fn as_llvm_writes_them() {
    let text = |input: &str| {
        let output = loomir(&["explain", "--remarks=yaml", "-"], input.as_bytes());
        String::from_utf8(output.stdout).expect("text")
    };
    let all = text(FUSED) + &text(REFUSED);
    assert_snapshot!(all);
    let Some(tool) = peers::tool("llvm-remarkutil") else { return };
    let file = support::scratch("remarks.opt.yaml");
    std::fs::write(&file, &all).expect("a file can be written");
    let counted = std::process::Command::new(tool)
        .args(["count", "--parser=yaml", "--count-by=remark-name", "--group-by=total"])
        .arg(&file)
        .output()
        .expect("the tool runs");
    let shown = String::from_utf8_lossy(&counted.stdout).into_owned();
    assert!(counted.status.success(), "{}", String::from_utf8_lossy(&counted.stderr));
    assert!(shown.contains(&all.matches("--- !").count().to_string()), "{shown}");
}

#[test]
fn estimates_are_data_too() {
    let source = "\
func.func @f(%a: memref<64xf32>) {
  affine.for %i = 0 to 64 { %x = affine.load %a[%i] : memref<64xf32> }
  return
}
";
    assert_snapshot!(data(&["explain", "--estimate", "--remarks=json", "-"], source));
    let none = loomir(&["explain", "--estimate", "-"], b"func.func @f() { return }");
    assert_eq!(none.stdout, b"no loop to estimate\n");
}
