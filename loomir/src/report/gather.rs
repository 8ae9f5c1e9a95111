//! The contents of a page, from a program, its remarks and the transformed program.

use hashbrown::HashMap;
use loomir_ir::Body;
use serde_json::Value;

use super::html::ControlFlowDrawing;
use super::outline::{Outline, Stage};
use super::source::Source;
use super::{Function, Seen, Shown, dependences, listing, picture};

/// The most edits whose trees are shown.
const MAX_STEPS: u64 = 12;

/// Trees after each edit are shown of programs with at most so many operations.
const MAX_STEPPED_OPS: usize = 3000;

/// The most nodes of all these trees.
const MAX_STEPPED_NODES: usize = 1500;

/// Programs with more operations are shown without dependences.
const MAX_EXAMINED_OPS: usize = 20_000;

/// The most remarks on one function.
const MAX_REMARKS_OF_ONE: usize = 600;

/// The most remarks of a page.
const MAX_REMARKS: usize = 2000;

/// Returns the contents of a page.
pub(super) fn shown(seen: Seen<'_>) -> Shown<'_> {
    let Seen { ctx, source: (name, text), command, json, remarks, read, after, options, repeat } = seen;
    let source = Source::new(name, text);
    let mut remarks: Vec<Value> = remarks.iter().map(|own| json(ctx, own)).collect();
    let left_out = cut(&mut remarks);
    let mut functions: Vec<Function> = Vec::new();
    let before = read();
    let control_flow = before.as_ref().filter(|_| source.is_ll).and_then(ControlFlowDrawing::of);
    if let Some(mut before) = before {
        outlines(&mut before, &source, Stage::Before, &mut |outline| {
            let names = listing::argument_names(&source, &outline);
            functions.push(Function { before: outline, names, ..Function::default() });
        });
        // Functions of one name are those of modules in each other; remarks do not tell which.
        let mut by_name: HashMap<String, usize> = HashMap::new();
        for (at, function) in functions.iter().enumerate() {
            by_name.entry(function.before.name.clone()).or_insert(at);
        }
        for (at, remark) in remarks.iter().enumerate() {
            let of = remark["function"].as_str().and_then(|name| by_name.get(name));
            if let Some(function) = of.and_then(|of| functions.get_mut(*of)) {
                function.remarks.push(at);
                function.is_tested |= remark["name"] == "Versioned";
            }
        }
        let ops: usize = functions.iter().map(|function| function.before.ops).sum();
        if ops <= MAX_EXAMINED_OPS {
            examine(&mut before, &source, &remarks, options, &mut functions);
        }
    }
    let ops = functions.iter().map(|function| function.before.ops).sum();
    let mut next = 0;
    outlines(after, &source, Stage::After, &mut |outline| {
        if let Some(function) = functions.get_mut(next) {
            function.after = outline;
        }
        next += 1;
    });
    if let Some(repeat) = repeat.filter(|_| ops <= MAX_STEPPED_OPS) {
        steps(&source, repeat, &mut functions);
    }
    Shown { source, command, functions, remarks, left_out, control_flow, ops }
}

/// Leaves out remarks beyond the limits. Returns their number.
fn cut(remarks: &mut Vec<Value>) -> usize {
    let all = remarks.len();
    let mut of_function: HashMap<String, usize> = HashMap::new();
    remarks.retain(|remark| {
        let function = remark["function"].as_str().unwrap_or_default();
        let count = of_function.entry_ref(function).or_default();
        *count += 1;
        *count <= MAX_REMARKS_OF_ONE
    });
    remarks.truncate(MAX_REMARKS);
    all - remarks.len()
}

/// True if a function is more than a declaration.
fn has_code(function: &Body) -> bool {
    let region = function.own_regions(function.root()).next();
    region.is_some_and(|region| function.entry_block(region).is_some())
}

/// Calls `f` with the outline of each function that has a body.
fn outlines(module: &mut Body, source: &Source<'_>, stage: Stage, f: &mut dyn FnMut(Outline)) {
    crate::for_each_function(module, &mut |body, _| {
        if has_code(body) {
            f(Outline::of(body, source, stage));
        }
        false
    });
}

/// Adds pictures and dependences to functions, which are in the order of the program.
fn examine(
    module: &mut Body,
    source: &Source<'_>,
    remarks: &[Value],
    options: &loomir_transforms::fusion::Options,
    functions: &mut [Function],
) {
    let mut next = 0;
    crate::for_each_function(module, &mut |body, around| {
        let Some(function) = functions.get_mut(next).filter(|_| has_code(body)) else { return false };
        next += 1;
        let analyses = around.known_to(&options.analyses).for_one_function();
        let own: Vec<&Value> = function.remarks.iter().map(|at| &remarks[*at]).collect();
        let programs = picture::Programs::of(body, &analyses, options.alias, source);
        function.pictures = own.iter().map(|remark| programs.pair(source, remark)).collect();
        function.nests = programs.nests(source);
        function.dependences = dependences::Listed::of(&programs, source);
        false
    });
}

/// Adds the outlines after each edit, if there are few.
fn steps(source: &Source<'_>, repeat: &dyn Fn(u64) -> Option<super::Repeated>, functions: &mut [Function]) {
    let mut nodes = 0;
    // Printed as the later ones are. Names of the source would be differences.
    let mut last: Vec<Vec<String>> = Vec::new();
    match repeat(0) {
        Some(mut untouched) => {
            outlines(&mut untouched.program, source, Stage::After, &mut |outline| last.push(texts(&outline)));
        }
        None => return,
    }
    for edit in 1..=MAX_STEPS {
        let Some(mut repeated) = repeat(edit) else { return };
        if repeated.edits < edit {
            return;
        }
        let mut next = 0;
        outlines(&mut repeated.program, source, Stage::After, &mut |outline| {
            let own = texts(&outline);
            if let Some((function, last)) = functions.get_mut(next).zip(last.get_mut(next))
                && *last != own
                && nodes + own.len() <= MAX_STEPPED_NODES
            {
                nodes += own.len();
                function.steps.push((edit, repeated.pass.clone(), outline));
                *last = own;
            }
            next += 1;
        });
    }
}

fn texts(outline: &Outline) -> Vec<String> {
    outline.nodes.iter().map(|node| format!("{} {}", node.depth, node.text)).collect()
}
