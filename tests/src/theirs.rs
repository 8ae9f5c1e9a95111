//! Test programs of MLIR's own, after a pass of Loomir and after the same pass of `mlir-opt`.
//!
//! A suite is a pass with the files of `mlir/test` that are about it. Each function of a file is a
//! case if all its operations belong to dialects that Loomir has. Both results are canonicalized by
//! `mlir-opt`, unless canonicalization is the pass. Constants at the start of a block are sorted.
//! Then both texts must be equal.
//!
//! **Assumptions.**
//! - Functions that call a function with foreign operations are no cases, as the text without it
//!   does not verify.

use std::collections::BTreeMap;
use std::path::Path;

use loomir::ir::text::{self, PrintOptions, SPLIT_MARKER, split_source};
use loomir::ir::{Body, Op};

use crate::check::Checker;
use crate::fixtures::sort_constants;
use crate::peers::Peer;

/// A pass, and files about it.
pub struct Suite {
    /// The name of the pass, and of the suite.
    pub name: &'static str,
    /// Options of `mlir-opt`.
    options: &'static [&'static str],
    /// The pipeline.
    pipeline: &'static str,
    /// Files in `mlir/test`.
    files: &'static [&'static str],
}

/// All suites.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "canonicalize",
        options: &["--canonicalize"],
        pipeline: "builtin.module(canonicalize)",
        files: &[
            "Transforms/canonicalize.mlir",
            "Transforms/canonicalize-block-merge.mlir",
            "Transforms/canonicalize-dce.mlir",
            "Transforms/constant-fold.mlir",
            "Transforms/test-canonicalize.mlir",
            "Dialect/Affine/canonicalize.mlir",
            "Dialect/Affine/constant-fold.mlir",
            "Dialect/Arith/canonicalize.mlir",
            "Dialect/ControlFlow/canonicalize.mlir",
            "Dialect/LLVMIR/canonicalize.mlir",
            "Dialect/LLVMIR/constant-folding.mlir",
            "Dialect/Math/canonicalize.mlir",
            "Dialect/Math/canonicalize_ipowi.mlir",
            "Dialect/MemRef/canonicalize.mlir",
            "Dialect/SCF/canonicalize.mlir",
        ],
    },
    Suite {
        name: "cse",
        options: &["--cse"],
        pipeline: "builtin.module(cse)",
        files: &["Transforms/cse.mlir"],
    },
    Suite {
        name: "loop-invariant-code-motion",
        options: &["--loop-invariant-code-motion"],
        pipeline: "builtin.module(loop-invariant-code-motion)",
        files: &["Transforms/loop-invariant-code-motion.mlir"],
    },
    Suite {
        name: "control-flow-sink",
        options: &["--control-flow-sink"],
        pipeline: "builtin.module(control-flow-sink)",
        files: &["Transforms/control-flow-sink.mlir"],
    },
    Suite {
        name: "inline",
        options: &["--inline"],
        pipeline: "builtin.module(inline)",
        files: &[
            "Transforms/inlining.mlir",
            "Transforms/inlining-dce.mlir",
            "Transforms/inlining-recursive.mlir",
            "Transforms/inlining-recursive-self.mlir",
            "Transforms/inlining-repeated-use.mlir",
            "Dialect/LLVMIR/inlining.mlir",
        ],
    },
    Suite {
        name: "int-range-optimizations",
        options: &["--int-range-optimizations"],
        pipeline: "builtin.module(int-range-optimizations)",
        files: &["Dialect/Arith/int-range-opts.mlir", "Dialect/Arith/int-range-interface.mlir"],
    },
    Suite {
        name: "remove-dead-values",
        options: &["--remove-dead-values"],
        pipeline: "builtin.module(remove-dead-values)",
        files: &["Transforms/remove-dead-values.mlir"],
    },
    Suite {
        name: "sccp",
        options: &["--sccp"],
        pipeline: "builtin.module(sccp)",
        files: &["Transforms/sccp.mlir", "Transforms/sccp-callgraph.mlir", "Transforms/sccp-structured.mlir"],
    },
    Suite {
        name: "sroa",
        options: &["--sroa"],
        pipeline: "builtin.module(sroa)",
        files: &[
            "Transforms/sroa.mlir",
            "Dialect/LLVMIR/sroa.mlir",
            "Dialect/LLVMIR/sroa-intrinsics.mlir",
            "Dialect/MemRef/sroa.mlir",
        ],
    },
    Suite {
        name: "symbol-dce",
        options: &["--symbol-dce"],
        pipeline: "builtin.module(symbol-dce)",
        files: &["Transforms/test-symbol-dce.mlir"],
    },
    Suite {
        name: "mem2reg",
        options: &["--mem2reg"],
        pipeline: "builtin.module(mem2reg)",
        files: &[
            "Transforms/mem2reg.mlir",
            "Dialect/LLVMIR/mem2reg.mlir",
            "Dialect/LLVMIR/mem2reg-intrinsics.mlir",
            "Dialect/MemRef/mem2reg.mlir",
        ],
    },
];

/// The number of functions with each outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Both print the same.
    pub equal: usize,
    /// They do not.
    pub different: usize,
    /// Some operation belongs to a dialect that Loomir has not.
    pub foreign: usize,
    /// Programs that `mlir-opt` does not accept.
    pub not_accepted: usize,
}

/// Runs a suite on the files in a copy of `mlir/test`. Returns the tally and a text for each
/// difference.
///
/// # Errors
/// If a file or `mlir-opt` can't be run.
pub fn run(suite: &Suite, folder: &Path, peer: &Peer) -> Result<(Tally, Vec<String>), String> {
    let (mut tally, mut differences) = (Tally::default(), Vec::new());
    let checker = Checker::default();
    for name in suite.files {
        let file = folder.join(name);
        let source = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        for chunk in split_source(&source, SPLIT_MARKER) {
            let place = format!("{name}:{}", chunk.first_line);
            let generic = ["--allow-unregistered-dialect", "--mlir-print-op-generic"];
            let Ok(generic) = peer.run(chunk.text, &generic) else {
                tally.not_accepted += 1;
                continue;
            };
            let text = known_part(&checker, &generic, &mut tally)
                .map_err(|error| format!("{place}: can't read what mlir-opt prints: {error}"))?;
            match compared(suite, &checker, peer, &text) {
                Ok(pairs) => {
                    for (symbol, ours, theirs) in pairs {
                        if ours == theirs {
                            tally.equal += 1;
                        } else {
                            tally.different += 1;
                            differences.push(format!(
                                "{} {place} {symbol}\n--- theirs\n{theirs}\n--- ours\n{ours}\n",
                                suite.name
                            ));
                        }
                    }
                }
                Err(Failed::Theirs) => tally.not_accepted += 1,
                Err(Failed::Ours(error)) => {
                    tally.different += 1;
                    differences.push(format!("{} {place}: {error}\n{text}\n", suite.name));
                }
            }
        }
    }
    Ok((tally, differences))
}

/// The tool that refused a program.
enum Failed {
    Theirs,
    Ours(String),
}

/// Returns the text of a module without the operations at its top that hold foreign operations.
fn known_part(checker: &Checker, generic: &str, tally: &mut Tally) -> Result<String, String> {
    let parsed = text::parse(&checker.ctx, generic, "input");
    let mut module = parsed.map_err(|errors| checker.lines(&errors))?;
    let Some(block) = module.own_regions(module.root()).next().and_then(|region| module.entry_block(region))
    else {
        return Ok(String::new());
    };
    let tops: Vec<Op> = module.ops(block).collect();
    for top in tops {
        if is_foreign(&module, top) {
            tally.foreign += 1;
            module.erase(top);
        }
    }
    Ok(printed(&module))
}

/// True if an operation, or one inside of it, is of a dialect that `mlir-opt` has and Loomir has
/// not.
fn is_foreign(body: &Body, op: Op) -> bool {
    const UNKNOWN_TO_BOTH: [&str; 3] = ["foo", "dialect", "some"];
    let own = |body: &Body, op: Op| {
        let name = body.ctx().op_str(body.op_name(op));
        let dialect = name.split_once('.').map_or("", |(dialect, _)| dialect);
        let is_known = body.ctx().registered_op(name).is_some();
        !is_known && !dialect.is_empty() && !UNKNOWN_TO_BOTH.contains(&dialect)
    };
    body.preorder(op).any(|inner| {
        let nested = body.nested(inner);
        own(body, inner) || nested.is_some_and(|nested| is_foreign(nested, nested.root()))
    })
}

/// Returns each operation at the top of the module, after both passes: its name, then ours, then
/// theirs.
fn compared(
    suite: &Suite,
    checker: &Checker,
    peer: &Peer,
    text: &str,
) -> Result<Vec<(String, String, String)>, Failed> {
    let peer = |text: &str, options: &[&str]| {
        let options: Vec<&str> = options.iter().copied().chain(["--allow-unregistered-dialect"]).collect();
        peer.run(text, &options)
    };
    let names: Vec<String> = tops(text).into_keys().collect();
    let mut theirs = peer(text, suite.options).map_err(|_| Failed::Theirs)?;
    let own = |errors| Failed::Ours(checker.lines(&errors));
    let (module, _) = checker.transformed(suite.pipeline, text).map_err(own)?;
    let mut ours = printed(&module);
    if suite.name != "canonicalize" {
        theirs = peer(&theirs, &["--canonicalize"]).map_err(|_| Failed::Theirs)?;
        ours = peer(&ours, &["--canonicalize"]).map_err(Failed::Ours)?;
    }
    let mut both = [ours, theirs].into_iter().map(|text| {
        let mut module = checker.read(&text).map_err(own)?;
        module.for_each_body(&mut sort_constants);
        Ok(tops(&printed(&module)))
    });
    let (Some(ours), Some(theirs)) = (both.next(), both.next()) else { return Ok(Vec::new()) };
    let (mut ours, mut theirs) = (ours?, theirs?);
    let mut of = |name: String| {
        let (own, other) = (ours.remove(&name), theirs.remove(&name));
        (name, own.unwrap_or_default(), other.unwrap_or_default())
    };
    Ok(names.into_iter().map(&mut of).collect())
}

fn printed(module: &Body) -> String {
    text::print(module, &PrintOptions { local_scope: true, ..PrintOptions::default() })
}

/// Returns the texts of the operations at the top of a module, by the symbols they define.
fn tops(printed: &str) -> BTreeMap<String, String> {
    let mut tops: BTreeMap<String, String> = BTreeMap::new();
    let mut name = String::new();
    for line in printed.lines() {
        let starts = line.starts_with("  ") && !line[2..].starts_with([' ', '}', '^']);
        if starts {
            let symbol = line.split_once('@').map_or(line, |(_, rest)| rest);
            let end = symbol.find(|c: char| !(c.is_alphanumeric() || "_$.-".contains(c)));
            name = symbol[..end.unwrap_or(symbol.len())].to_owned();
        }
        if line.starts_with("  ") {
            let text = tops.entry(name.clone()).or_default();
            text.push_str(line);
            text.push('\n');
        }
    }
    tops
}
