//! The language server, asked as an editor asks: the real command, through its standard streams.

mod client;
mod grammar;
mod latency;
mod malformed;
#[allow(dead_code, unreachable_pub)]
#[path = "../../../testing/src/peers.rs"]
mod peers;
mod replay;

use client::{Client, shown};
use insta::assert_snapshot;
use serde_json::{Value, json};

const TWICE: &str = "\
#map = affine_map<(d0) -> (d0 + 1)>
func.func @scale(%a: memref<8xf32>, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2.0 : f32
  affine.for %i = 0 to 7 {
    %x = affine.load %a[%i] : memref<8xf32>
    affine.store %x, %a[%i + 1] : memref<8xf32>
  }
  // Doubles all elements.
  affine.for %i = 0 to 7 {
    %y = affine.load %a[%i] : memref<8xf32>
    %z = arith.mulf %y, %two : f32
    affine.store %z, %a[%i] : memref<8xf32>
  }
  scf.for %k = %c0 to %n step %c1 {
    %next = affine.apply #map(%k)
  }
  return %two : f32
}
func.func @caller(%a: memref<8xf32>, %n: index) {
  %r = call @scale(%a, %n) : (memref<8xf32>, index) -> f32
  cf.br ^end
^end:
  return
}
";

const LL: &str = "\
@table = external global [100 x i32]

define void @twice(ptr noalias %a, ptr noalias %b) {
entry:
  br label %first
first:
  %i = phi i64 [ 0, %entry ], [ %i.next, %first ]
  %p = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %p
  %q = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %x, ptr %q
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i64 %i.next, 100
  br i1 %done, label %between, label %first
between:
  br label %second
second:
  %j = phi i64 [ 0, %between ], [ %j.next, %second ]
  %r = getelementptr inbounds i32, ptr %b, i64 %j
  %y = load i32, ptr %r
  %z = add i32 %y, 1
  store i32 %z, ptr %r
  %j.next = add nuw nsw i64 %j, 1
  %end = icmp eq i64 %j.next, 100
  br i1 %end, label %exit, label %second
exit:
  ret void
}
";

fn hover(client: &mut Client, place: &str) -> String {
    client.at("hover", place)["contents"]["value"].as_str().unwrap_or("nothing").to_owned()
}

/// Locations, or ranges, a line each.
fn places(answer: &Value) -> String {
    let all = match answer {
        Value::Array(all) => all.clone(),
        one => vec![one.clone()],
    };
    all.iter().map(|own| shown(&own["range"]) + "\n").collect()
}

#[test]
fn all_errors_are_shown_as_the_user_types() {
    let (mut client, found) = Client::open(TWICE);
    assert_eq!(found, "");
    let found = client.replace("arith.mulf", "arith.mulff")
        + "---\n"
        + &client.replace("%r = call @scale", "%r = call @sale");
    let found = found + "---\n" + &client.replace("arith.mulff", "arith.mulf");
    assert_snapshot!(found);
    assert_eq!(client.replace("@sale", "@scale"), "");
    assert_eq!(client.end(), Some(0));
}

#[test]
fn errors_of_one_function_leave_the_others_known() {
    let (mut client, _) = Client::open(&(TWICE.to_owned() + "func.func @bad() {\n  %q = arith.addi %\n}\n"));
    assert!(hover(&mut client, "affine.|for").contains("trip count: 7"));
    assert_eq!(places(&client.at("definition", "call @sc|ale")), "2:11-2:17\n");
}

#[test]
fn hover_tells_types_documentation_and_dependences() {
    let (mut client, _) = Client::open(TWICE);
    let places =
        ["%x, |%a", "@sc|ale(%a, %n) :", "#ma|p(%k)", "br ^e|nd", "arith.mu|lf", "affine.f|or", "scf.f|or"];
    let all: Vec<String> = places.iter().map(|at| format!("{at}\n{}", hover(&mut client, at))).collect();
    assert_snapshot!(all.join("=====\n"));
    assert_eq!(hover(&mut client, "0 t|o 7"), "nothing");
}

#[test]
fn hover_in_llvm_ir() {
    let (mut client, found) = Client::open(LL);
    assert_eq!(found, "");
    let places = ["store i32 |%x", "label %fi|rst", "%z = a|dd", "b|r i1 %done", "sec|ond:\n"];
    let all: Vec<String> = places.iter().map(|at| format!("{at}\n{}", hover(&mut client, at))).collect();
    assert_snapshot!(all.join("=====\n"));
}

#[test]
fn definitions_and_uses_are_found() {
    let (mut client, _) = Client::open(TWICE);
    let mut all = String::new();
    for place in ["%tw|o : f32", "%i|] : memref<8xf32>\n    %z", "@sca|le(%a, %n) :", "^en|d\n", "#m|ap("] {
        all += &format!("{place:?}\ndefinition\n{}", places(&client.at("definition", place)));
        all += &format!("uses\n{}", places(&client.at("references", place)));
    }
    assert_snapshot!(all);
    assert_eq!(client.at("definition", "= 0 |to 7"), Value::Null);
}

#[test]
fn definitions_in_llvm_ir_are_found() {
    let (mut client, _) = Client::open(LL);
    let mut all = String::new();
    for place in ["%i|.next, %first", "label %se|cond\nsec", "ptr |%b, i64 %i"] {
        all += &format!("{place:?}\n{}---\n", places(&client.at("definition", place)));
        all += &places(&client.at("references", place));
    }
    assert_snapshot!(all);
}

#[test]
fn operations_attributes_and_names_are_completed() {
    let (mut client, _) = Client::open(TWICE);
    let labels = |client: &mut Client, place: &str| {
        let items = client.at("completion", place);
        let line = |own: &Value| {
            let detail = own["detail"].as_str().map(|text| format!(": {text}")).unwrap_or_default();
            format!("{}{detail}\n", own["label"].as_str().unwrap_or_default())
        };
        items.as_array().expect("a list").iter().map(line).collect::<String>()
    };
    client.replace("%y = affine.load", "%y = affine.l");
    let mut all = format!("operations\n{}", labels(&mut client, "%y = affine.l|"));
    client.replace("%z = arith.mulf %y, %two", "%z = arith.mulf %y, %");
    all += &format!("values\n{}", labels(&mut client, "%y, %|"));
    client.replace("call @scale(", "call @");
    all += &format!("symbols\n{}", labels(&mut client, "call @|"));
    client.replace("cf.br ^end", "cf.br ^");
    all += &format!("blocks\n{}", labels(&mut client, "cf.br ^|"));
    client.replace("affine.apply #map(%k)", "memref.alloc() {");
    all += &format!("attributes\n{}", labels(&mut client, "memref.alloc() {|"));
    assert_snapshot!(all);
}

#[test]
fn instructions_are_completed() {
    let (mut client, _) = Client::open(LL);
    client.replace("%z = add i32 %y, 1", "%z = fm");
    let items = client.at("completion", "%z = fm|");
    let labels: Vec<&str> =
        items.as_array().expect("a list").iter().filter_map(|own| own["label"].as_str()).collect();
    assert_eq!(labels, ["fmul"]);
}

#[test]
fn trip_counts_are_hints() {
    for text in [TWICE, LL] {
        let (mut client, _) = Client::open(text);
        let hints = client.about("inlayHint");
        let line = |own: &Value| {
            format!("line {}: {}\n", own["position"]["line"].as_u64().unwrap_or_default() + 1, own["label"])
        };
        let lines: String = hints.as_array().expect("a list").iter().map(line).collect();
        assert_snapshot!(lines);
    }
}

#[test]
fn symbols_and_folds_follow_the_structure() {
    for text in [TWICE, LL] {
        let (mut client, _) = Client::open(text);
        let mut all = String::new();
        let symbols = client.about("documentSymbol");
        let mut open: Vec<(usize, Value)> =
            symbols.as_array().expect("a list").iter().rev().map(|own| (0, own.clone())).collect();
        while let Some((depth, own)) = open.pop() {
            all += &format!("{}{}\n", "  ".repeat(depth), own["name"].as_str().unwrap_or_default());
            open.extend(
                own["children"].as_array().into_iter().flatten().rev().map(|own| (depth + 1, own.clone())),
            );
        }
        for fold in client.about("foldingRange").as_array().expect("a list") {
            all += &format!(
                "fold {}-{}\n",
                fold["startLine"].as_u64().unwrap_or_default() + 1,
                fold["endLine"].as_u64().unwrap_or_default() + 1
            );
        }
        assert_snapshot!(all);
    }
}

#[test]
fn formatting_changes_blanks_alone() {
    let messy = "func.func @f(%n: index,\n      %b: i1) {\n\t\t// Keeps %n.\n %c = arith.constant 1 : index   \n\n\n  scf.for %i = %n to %n\n    step %c {\n        func.call @g() : () -> ()\n    }\n    cf.cond_br %b,\n  ^next, ^next\n    ^next:\n return\n}\nfunc.func private @g()\n";
    let (mut client, found) = Client::open(messy);
    assert_eq!(found, "");
    let edits = client.about("formatting");
    let once = client.edited(&edits);
    assert_snapshot!(once);
    let (mut client, _) = Client::open(&once);
    assert_eq!(client.about("formatting"), json!([]));
    let (mut client, _) = Client::open(TWICE);
    assert_eq!(client.about("formatting"), json!([]));
    let (mut client, _) = Client::open(&format!("{TWICE}junk"));
    assert_eq!(client.about("formatting"), Value::Null);
}

/// The actions at a place: their titles, and the text with the first one's edit.
fn actions(client: &mut Client, place: &str) -> String {
    let mut text = String::new();
    for own in client.at("codeAction", place).as_array().expect("a list") {
        text += &format!("{}\n", own["title"].as_str().unwrap_or_default());
        if let Some(reason) = own["disabled"]["reason"].as_str() {
            text += &format!("  disabled: {reason}\n");
        }
        if let Some(edits) = own["edit"].pointer("/documentChanges/0/edits") {
            text += &client.edited(edits);
        }
    }
    text
}

const FUSIBLE: &str = "\
func.func @f(%a: memref<8xf32>, %b: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %x = affine.load %a[%i] : memref<8xf32>
    affine.store %x, %b[%i] : memref<8xf32>
  }
  // Squares what was copied.
  affine.for %j = 0 to 8 {
    %y = affine.load %b[%j] : memref<8xf32>
    %square = arith.mulf %y, %y : f32
    affine.store %square, %b[%j] : memref<8xf32>
  }
  return
}
";

#[test]
fn a_loop_is_fused_with_the_one_above() {
    let (mut client, _) = Client::open(FUSIBLE);
    assert_snapshot!(actions(&mut client, "affine.f|or %j"));
    assert_eq!(actions(&mut client, "affine.f|or %i"), "");
    assert_eq!(actions(&mut client, "retu|rn"), "");
}

#[test]
fn a_loop_in_llvm_ir_is_fused_with_the_one_above() {
    let (mut client, _) = Client::open(LL);
    assert_snapshot!(actions(&mut client, "sec|ond:\n"));
}

const BRANCHES: &str = "\
llvm.func @twice(%a: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr {llvm.noalias}) {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %end = llvm.mlir.constant(100 : i64) : i64
  llvm.br ^first(%zero : i64)
^first(%i: i64):
  %p = llvm.getelementptr inbounds %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %i, %p : i64, !llvm.ptr
  %i.next = llvm.add %i, %one overflow<nsw, nuw> : i64
  %i.done = llvm.icmp \"eq\" %i.next, %end : i64
  llvm.cond_br %i.done, ^between, ^first(%i.next : i64)
^between:
  llvm.br ^second(%zero : i64)
^second(%j: i64):
  %q = llvm.getelementptr inbounds %b[%j] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  llvm.store %j, %q : i64, !llvm.ptr
  %j.next = llvm.add %j, %one overflow<nsw, nuw> : i64
  %j.done = llvm.icmp \"eq\" %j.next, %end : i64
  llvm.cond_br %j.done, ^exit, ^second(%j.next : i64)
^exit:
  llvm.return
}
";

#[test]
fn loops_of_branches_are_known_by_their_labels() {
    let (mut client, found) = Client::open(BRANCHES);
    assert_eq!(found, "");
    assert!(hover(&mut client, "^fir|st(%i: ").contains("trip count: 100"));
    assert_snapshot!(actions(&mut client, "^sec|ond(%j: "));
}

#[test]
fn the_reason_against_fusion_is_told() {
    let (mut client, _) = Client::open(&FUSIBLE.replace("%b[%j]", "%b[-%j + 7]"));
    assert_snapshot!(actions(&mut client, "affine.f|or %j"));
    let (mut client, _) = Client::open(&FUSIBLE.replace("%b", "%a").replace(", %a: memref<8xf32>)", ")"));
    assert_snapshot!(actions(&mut client, "affine.f|or %j"));
}

#[test]
fn a_misspelt_word_is_replaced() {
    let (mut client, _) = Client::open(TWICE);
    client.replace("arith.mulf", "arith.mulff");
    let range = json!({ "start": { "line": 12, "character": 9 }, "end": { "line": 12, "character": 20 } });
    let own = json!({ "range": range, "message": "unknown\nhelp: did you mean 'arith.mulf'?" });
    let params = json!({ "textDocument": { "uri": client::URI }, "range": range, "context": { "diagnostics": [own] } });
    let answer = client.request("textDocument/codeAction", &params);
    assert_eq!(answer[0]["title"], "Write 'arith.mulf'");
    assert!(client.edited(&answer[0]["edit"]["documentChanges"][0]["edits"]).contains("%z = arith.mulf %y"));
}

#[test]
fn programs_of_one_file_are_apart() {
    let text = "func.func @f(%a: i8) {\n  return\n}\n// -----\nfunc.func @f(%a: i16) {\n  call @g() : () -> ()\n  return\n}\n";
    let (mut client, found) = Client::open(text);
    assert_eq!(found, "6:3-6:7: 'func.call' op 'g' does not reference a valid function\n");
    assert_eq!(places(&client.at("references", "@f(|%a: i16")), "5:14-5:16\n");
}

/// Each access to an array may conflict with each other one, so that few enough are compared.
#[test]
fn dependences_of_large_loops_are_not_listed() {
    let shown = |accesses: usize| {
        let store = |at| format!("    affine.store %x, %a[%i + {at}] : memref<999xf32>\n");
        let body: String = (0..accesses).map(store).collect();
        let head = "func.func @f(%a: memref<999xf32>, %x: f32) {\n  affine.for %i = 0 to 9 {\n";
        let (mut client, found) = Client::open(&format!("{head}{body}  }}\n  return\n}}\n"));
        assert_eq!(found, "");
        hover(&mut client, "affine.f|or")
    };
    assert!(shown(20).contains("- and 112 more\n"), "{}", shown(20));
    assert!(shown(200).contains("too many accesses to list them"));
}
