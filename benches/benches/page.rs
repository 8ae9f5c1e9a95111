//! Pages of `loomir view` on programs of 1,000, 10,000 and 100,000 operations: their size, the time
//! to write them, and the time to open them in headless Chromium. `cargo xtask bench` keeps the
//! report in `results/page.md`.
//!
//! Writing is processor time of the whole command. Opening is processor time of the page's main
//! thread, which is the time that a machine of one's own takes, and beside it what a clock shows,
//! which grows with whatever else runs.
#![allow(clippy::print_stdout)]

use std::path::Path;

use chromium::Browser;
use loomir_benches::process::{cost, measured_command, own_command};
use serde_json::json;

#[allow(dead_code, unreachable_pub)]
#[path = "../../loomir/tests/view/chromium.rs"]
mod chromium;
#[allow(dead_code, unreachable_pub)]
#[path = "../../testing/src/peers.rs"]
mod peers;

const RUNS: usize = 5;

/// The most seconds to open a page on 10,000 operations, and the most bytes of one on 1,000.
const AIMS: (f64, u64) = (1.0, 1_000_000);

/// A function of 26 operations: four loops that stay apart.
fn function(number: usize) -> String {
    let body = "  affine.for %i = 0 to 64 {
    %0 = affine.load %a[63 - %i] : memref<64xf32>
    %1 = arith.addf %0, %0 : f32
    affine.store %1, %b[%i] : memref<64xf32>
    affine.store %1, %a[%i] : memref<64xf32>
  }\n";
    let start = format!("func.func @f{number}(%a: memref<64xf32>, %b: memref<64xf32>) {{\n");
    format!("{start}{}  return\n}}\n", body.repeat(4))
}

fn main() {
    if measured_command() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("loomir-page-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    println!("Milliseconds, the least of {RUNS} runs.\n");
    println!("| operations | page, bytes | write | open: main thread | open: clock | first paint |");
    println!("| --- | --- | --- | --- | --- | --- |");
    let browser = peers::chromium();
    let mut met = Vec::new();
    for operations in [1_000, 10_000, 100_000] {
        let (source, page) = (folder.join(format!("{operations}.mlir")), folder.join("page.html"));
        let program: String = (0..operations / 26).map(function).collect();
        std::fs::write(&source, program).expect("a program");
        let write = written(&source, &page);
        let size = std::fs::metadata(&page).map_or(0, |page| page.len());
        let opened = browser.as_deref().map(|program| opened(program, &folder, &page));
        let shown = opened.map_or("– | – | –".to_owned(), |times| {
            times.map(|time| format!("{:.0}", time * 1e3)).join(" | ")
        });
        println!("| {operations} | {size} | {:.0} | {shown} |", write * 1e3);
        met.extend((operations == 1_000).then_some(size < AIMS.1));
        met.extend(opened.filter(|_| operations == 10_000).map(|[thread, ..]| thread < AIMS.0));
    }
    let is_met = met.iter().all(|met| *met);
    println!(
        "\n1,000 operations under 1 MB, 10,000 open within 1 s: {}.",
        if is_met { "met" } else { "NOT MET" }
    );
    let _ = std::fs::remove_dir_all(&folder);
}

/// Writes a page. Returns the least processor time, in seconds.
fn written(source: &Path, page: &Path) -> f64 {
    let [command, source, page] = [&own_command(), source, page].map(|path| path.display().to_string());
    let all = [command.as_str(), "view", &source, "-o", &page];
    let times = (0..RUNS).filter_map(|_| cost(&all)).map(|cost| cost.time.as_secs_f64());
    times.fold(f64::INFINITY, f64::min)
}

/// Opens a page. Returns the least times of its main thread, until it is loaded, and until the
/// first paint, in seconds.
fn opened(program: &Path, folder: &Path, page: &Path) -> [f64; 3] {
    let mut least = [f64::INFINITY; 3];
    let mut browser = Browser::open(program, &folder.join("profile"), page);
    for _ in 0..RUNS {
        browser.send("Page.navigate", json!({ "url": "about:blank" }));
        browser.send("Performance.disable", json!({}));
        browser.send("Performance.enable", json!({ "timeDomain": "threadTicks" }));
        browser.show(page);
        let shown = browser.run(
            "new Promise(done => requestAnimationFrame(() => setTimeout(() => done([
               performance.getEntriesByType('navigation')[0].loadEventEnd,
               performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0]))))",
        );
        let metrics = browser.send("Performance.getMetrics", json!({}));
        let metrics = metrics["metrics"].as_array().cloned().unwrap_or_default();
        let thread = metrics.iter().find(|own| own["name"] == "TaskDuration");
        let times = [
            thread.and_then(|own| own["value"].as_f64()).unwrap_or_default(),
            shown[0].as_f64().unwrap_or_default() / 1e3,
            shown[1].as_f64().unwrap_or_default() / 1e3,
        ];
        least = [0, 1, 2].map(|at| least[at].min(times[at]));
    }
    browser.close();
    least
}
