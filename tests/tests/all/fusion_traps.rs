//! Traps: programs that a careless fusion of control flow graphs breaks, each beside one that may
//! be fused: `tests/fixtures/loop_fusion_traps/`.
//!
//! A line `; CALL: function arguments` states a call to run before and after. A line
//! `; OPTIONS: options` states how to fuse. Loomir's remarks are in the snapshot beside the file.
//! One table for all files shows the results of `opt`, their correctness, and the functions in
//! which the strategies of dependence differ.

#![allow(clippy::print_stderr, reason = "it says what it skips")]

use std::fmt::Write;
use std::path::{Path, PathBuf};

use loomir::ir::{Body, Diagnostics};
use loomir::lowering::cfg::loop_fusion::Strategy;
use loomir_tests::Checker;
use loomir_tests::behaviour::{Input, same_behaviour};
use loomir_tests::pairs::{Theirs, ours};
use loomir_tests::peers::Peer;

#[test]
fn traps_of_loop_fusion() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/loop_fusion_traps");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(&folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _bound = settings.bind_to_scope();
    let opt = Peer::find("opt");
    let mut table = format!("{:<28} {:<9} {:<18} opt peels 3\n", "function", "Loomir", "opt");
    let mut strategies = format!("{:<28}", "function");
    Strategy::ALL.iter().for_each(|own| strategies += &format!(" {:<10}", own.name()));
    strategies.push('\n');
    for file in files(&folder) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let trap = Trap::read(&file, Strategy::default());
        insta::assert_snapshot!(name.as_str(), trap.said());
        let _ = write!(strategies, "\n{name}\n{}", by_strategy(&file));
        if let Some(opt) = &opt {
            let _ = write!(table, "\n{name}\n{}", trap.beside(opt));
        }
    }
    insta::assert_snapshot!("by_strategy", strategies);
    match opt {
        Some(_) => insta::assert_snapshot!("beside_opt", table),
        None => eprintln!("LOOMIR_LLVM names no folder with bin/opt: what it does is not looked at"),
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "ll"));
    files.sort();
    files
}

/// Returns, for each function of a file, the strategies that fuse it.
fn by_strategy(file: &Path) -> String {
    let all = Strategy::ALL.map(|strategy| Trap::read(file, strategy));
    let mut lines = String::new();
    for (name, _) in &all[0].calls {
        let fused = all.each_ref().map(|trap| {
            let mut own = trap.remarks.iter().filter_map(|remark| remark.remark.as_deref());
            own.any(|remark| remark.function == *name && remark.name == "Fused")
        });
        let _ = write!(lines, "{name:<28}");
        for (strategy, fuses) in Strategy::ALL.iter().zip(fused) {
            assert!(!fuses || fused[3], "@{name}: {} fuses what may not be fused", strategy.name());
            let _ = write!(lines, " {:<10}", if fuses { "fuses" } else { "leaves" });
        }
        lines.push('\n');
    }
    lines
}

/// A file before and after Loomir's fusion.
struct Trap {
    checker: Checker,
    text: String,
    before: Body,
    remarks: Diagnostics,
    calls: Vec<(String, Vec<Input>)>,
}

impl Trap {
    /// Reads and fuses a file and runs both programs.
    fn read(file: &Path, strategy: Strategy) -> Trap {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let checker = Checker::default();
        let read = || {
            loomir::lowering::from_ll(&checker.ctx, &text, "input.mlir")
                .unwrap_or_else(|errors| panic!("{}: {}", file.display(), checker.lines(&errors)))
        };
        let (before, mut after) = (read(), read());
        let name = strategy.name();
        let options = text.lines().find_map(|line| line.strip_prefix("; OPTIONS: ")).unwrap_or_default();
        let pipeline =
            format!("builtin.module(llvm.func(loop-fusion{{dependence-analysis={name} {options}}}))");
        let remarks = checker
            .run(&pipeline, &mut after)
            .unwrap_or_else(|errors| panic!("{}: {}", file.display(), checker.lines(&errors)));
        let calls = calls(&text);
        for (entry, inputs) in &calls {
            match same_behaviour(&before, &after, entry, inputs, &Default::default()) {
                Ok(agreement) => assert_eq!(agreement.compared, inputs.len(), "@{entry} is not defined"),
                Err(difference) => panic!("{difference}\n{}", loomir::print(&after)),
            }
        }
        Trap { checker, text, before, remarks, calls }
    }

    /// Returns Loomir's remarks, function by function.
    fn said(&self) -> String {
        let mut said = String::new();
        for (name, _) in &self.calls {
            let own = self
                .remarks
                .iter()
                .filter(|remark| remark.remark.as_deref().is_some_and(|remark| remark.function == *name));
            let mut all = Diagnostics::new();
            own.cloned().for_each(|remark| all.push(remark));
            let _ = write!(said, "@{name}\n{}\n", self.checker.lines(&all));
        }
        said
    }

    /// Returns, for each function, its fusion by Loomir and by `opt`, and the correctness of the
    /// results.
    fn beside(&self, opt: &Peer) -> String {
        let theirs = [0, 3]
            .map(|peel| Theirs::of(&self.text, opt, peel).unwrap_or_else(|refusal| panic!("opt: {refusal}")));
        let ours = ours(&theirs[0].loops, &self.checker.ctx, &self.remarks);
        let mut lines = String::new();
        for (name, inputs) in &self.calls {
            let fuses = |fused: bool| if fused { "fuses" } else { "leaves" };
            let own = ours.get(name).is_some_and(|groups| !groups.pairs().is_empty());
            let others = theirs.each_ref().map(|theirs| {
                let fused = theirs.groups.get(name).is_some_and(|groups| !groups.pairs().is_empty());
                let after = loomir::lowering::from_ll(&self.checker.ctx, &theirs.text, "input.mlir")
                    .unwrap_or_else(|errors| panic!("{}", self.checker.lines(&errors)));
                let is_right =
                    same_behaviour(&self.before, &after, name, inputs, &Default::default()).is_ok();
                format!("{}{}", fuses(fused), if is_right { "" } else { ", wrong" })
            });
            let _ = writeln!(lines, "{name:<28} {:<9} {:<18} {}", fuses(own), others[0], others[1]);
        }
        lines
    }
}

/// Returns the calls stated in a text, for each function in order.
fn calls(text: &str) -> Vec<(String, Vec<Input>)> {
    let mut calls: Vec<(String, Vec<Input>)> = Vec::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("; CALL: ")) {
        let mut words = line.split_whitespace().map(str::to_owned);
        let Some(entry) = words.next() else { continue };
        match calls.last_mut().filter(|(name, _)| *name == entry) {
            Some((_, inputs)) => inputs.push(words.collect()),
            None => calls.push((entry, vec![words.collect()])),
        }
    }
    calls
}
