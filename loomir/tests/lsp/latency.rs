//! The time between a change and its answers: about linear in the text.
//!
//! `cargo test --release -p loomir --test lsp -- latency --nocapture` prints the times of a file of
//! 10,000 lines.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::{Client, URI};

/// A function of 20 lines.
fn function(number: usize) -> String {
    format!(
        "\
func.func @f{number}(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %n: index) -> f32 {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %init = arith.constant 0.0 : f32
  affine.for %i = 0 to 64 {{
    affine.for %j = 0 to 63 {{
      %x = affine.load %a[%i, %j] : memref<64x64xf32>
      %y = arith.addf %x, %x : f32
      affine.store %y, %b[%i, %j + 1] : memref<64x64xf32>
    }}
  }}
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %init) -> (f32) {{
    %v = memref.load %b[%k, %k] : memref<64x64xf32>
    %w = arith.mulf %v, %acc : f32
    %u = arith.addf %w, %v : f32
    scf.yield %u : f32
  }}
  return %s : f32
}}

"
    )
}

/// The least time of several tries for each request behind a change, in a file of so many lines.
fn times(lines: usize) -> Vec<(&'static str, Duration)> {
    let text: String = (0..lines / 20).map(function).collect();
    let (mut client, found) = Client::open(&text);
    assert_eq!(found, "");
    let line = lines / 40 * 20 + 5;
    let at = json!({ "line": line, "character": 6 });
    let near = json!({ "start": { "line": line - 20, "character": 0 }, "end": { "line": line + 40, "character": 0 } });
    let params = json!({
        "textDocument": { "uri": URI },
        "position": at,
        "range": near,
        "context": { "diagnostics": [], "triggerKind": 1 },
        "options": { "tabSize": 2, "insertSpaces": true },
    });
    let requests = [
        "hover",
        "completion",
        "definition",
        "inlayHint",
        "codeAction",
        "documentSymbol",
        "foldingRange",
        "formatting",
    ];
    let mut version = 0;
    let mut change = |client: &mut Client| {
        version += 1;
        let document = json!({ "uri": URI, "version": version });
        let change = json!({ "range": { "start": at, "end": at }, "text": " " });
        client.notify(
            "textDocument/didChange",
            &json!({ "textDocument": document, "contentChanges": [change] }),
        );
        version
    };
    let mut least = vec![("diagnostics", Duration::MAX)];
    least.extend(requests.map(|request| (request, Duration::MAX)));
    for _ in 0..4 {
        for (request, least) in &mut least {
            let start = Instant::now();
            let version = change(&mut client);
            match *request {
                "diagnostics" => while client.read()["params"]["version"] != version {},
                _ => _ = client.request(&format!("textDocument/{request}"), &params),
            }
            *least = start.elapsed().min(*least);
        }
    }
    least
}

/// Eight times the lines would cost sixty-four times as much if anything were quadratic.
#[test]
#[allow(clippy::print_stdout, reason = "prints the times that are kept in benches/results")]
fn latency_grows_linearly_with_the_text() {
    let mut failure = None;
    // Where something else ran in between, another try.
    for _ in 0..4 {
        let (some, more) = (times(1240), times(10_000));
        for (request, time) in &more {
            println!("{request}: {:.1} ms", time.as_secs_f64() * 1e3);
        }
        let grows =
            some.iter().zip(&more).map(|((name, a), (_, b))| (*name, b.as_secs_f64() / a.as_secs_f64()));
        failure = grows.into_iter().find(|(_, factor)| *factor > 32.0);
        if failure.is_none() {
            return;
        }
    }
    panic!("eight times the lines cost more than 32 times the time: {failure:?}");
}
