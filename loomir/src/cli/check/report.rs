//! The report of a check: text for people, or JSON.

use crate::check::execution::difference::Place;
use crate::check::execution::instance::Instance;
use crate::check::execution::{Counterexample, Tried};
use crate::check::functions::{self, Function, Verdict};
use crate::ir::diagnostics::suggest::did_you_mean;
use crate::ir::{Body, Context, Diagnostic, Diagnostics, Loc, Op, Severity};
use clap::ArgMatches;
use serde_json::{Value, json};

use super::super::console::Stream;
use super::super::flags::is_on;
use super::super::input::Input;
use super::super::progress::{self, Line};
use super::super::render::render_of;
use super::programs::{Program, on_one_level};
use super::{DIFFERENT, Failure, JSON, Tools, UNDECIDED};
use crate::SameLevel;

/// The findings, in both forms.
#[derive(Default)]
pub(super) struct Report {
    text: String,
    json: Vec<Value>,
}

impl Report {
    /// Returns the report in the form that the arguments ask for.
    pub(super) fn text(&self, matches: &ArgMatches) -> String {
        if !is_on(matches, JSON) {
            return self.text.clone();
        }
        let all = match self.json.as_slice() {
            [one] => one.clone(),
            several => Value::from(several.to_vec()),
        };
        all.to_string() + "\n"
    }

    /// Adds another report behind this one.
    pub(super) fn append(&mut self, other: Report) {
        self.text += &other.text;
        self.json.extend(other.json);
    }
}

/// Compares two programs. Returns the report, under a title if there is one, and the status.
///
/// # Errors
/// The programs cannot be brought to one level, or have no function to compare.
pub(super) fn of(
    tools: &Tools,
    before: &Program,
    after: &Program,
    matches: &ArgMatches,
    title: Option<String>,
) -> Result<(Report, u8), Failure> {
    let ctx = &tools.ctx;
    let only = matches.get_one::<String>("function").map(String::as_str);
    let progress = progress::of(&tools.console);
    progress.number(&before.module);
    let line = Line::show(&progress);
    let functions = on_one_level(ctx, before, after, |level: SameLevel<'_>| {
        let options = super::options(matches);
        let prover = functions::prover(options.distinct);
        let told = |one: &Body, function: Op, other: &Body, partner: Op| {
            progress.begin("check", one, function);
            prover(one, function, other, partner)
        };
        functions::check(level.before, level.after, only, level.originals, &options, Some(&told))
    })?;
    drop(line);
    if let (Some(name), true) = (only, functions.is_empty()) {
        return Err(missing(ctx, before, name));
    }
    if functions.is_empty() && crate::print(&before.module) != crate::print(&after.module) {
        let error = Diagnostic::error(Loc::UNKNOWN, "the first program defines no function to compare");
        let error = error.help("is it the right file? The second program is not the same text");
        return Err(before.input.failure(ctx, &error.into()));
    }
    let status = status(&functions);
    let mut report = Report::default();
    if let Some(title) = &title {
        report.text += &format!("{title}: {}{}\n", word(status), assumed(&functions));
    }
    let mut said = Diagnostics::new();
    let show_equal = title.is_none();
    for function in &functions {
        said.extend_with(ctx, function, (before, after), show_equal);
    }
    report.text += &render_of(ctx, &said, &[&before.input, &after.input], Stream::Out);
    if title.is_none() {
        report.text += &summary(&functions);
    }
    report.json.push(json!({
        "step": title,
        "answer": word(status),
        "functions": functions.iter().map(|own| object(ctx, own)).collect::<Vec<Value>>(),
    }));
    Ok((report, status))
}

/// Says what the answers *equal* about functions assume, each once.
fn assumed(functions: &[Function]) -> String {
    let mut all: Vec<&str> = Vec::new();
    for function in functions {
        let Verdict::Proved(under) = &function.verdict else { continue };
        all.extend(under.iter().map(String::as_str).filter(|own| !all.contains(own)).collect::<Vec<_>>());
    }
    if all.is_empty() { String::new() } else { format!(", assuming that {}", all.join(" and ")) }
}

/// Refuses a function that the program does not have.
fn missing(ctx: &Context, program: &Program, name: &str) -> Failure {
    let module = &program.module;
    let top = module.own_regions(module.root()).flat_map(|region| module.blocks(region));
    let names = top
        .flat_map(|block| module.ops(block))
        .filter_map(|op| crate::ir::symbols::symbol_name(module, op).map(|name| ctx.str(name)));
    let names: Vec<&str> = names.collect();
    let error = Diagnostic::error(Loc::UNKNOWN, format!("the first program has no function `@{name}`"));
    let error = match did_you_mean(name, names.clone()) {
        Some(help) => error.help(help),
        None => error.help(format!("it has: {}", names.join(", "))),
    };
    program.input.failure(ctx, &error.into())
}

fn status(functions: &[Function]) -> u8 {
    let any = |which: fn(&Verdict) -> bool| functions.iter().any(|own| which(&own.verdict));
    if any(|own| matches!(own, Verdict::Different(_))) {
        DIFFERENT
    } else if any(|own| matches!(own, Verdict::Unfit(..))) {
        1
    } else if any(|own| matches!(own, Verdict::Undecided(..))) {
        UNDECIDED
    } else {
        0
    }
}

fn word(status: u8) -> &'static str {
    match status {
        0 => "equal",
        DIFFERENT => "different",
        UNDECIDED => "not decided",
        _ => "not comparable",
    }
}

fn summary(functions: &[Function]) -> String {
    let count = |which: fn(&Verdict) -> bool| functions.iter().filter(|own| which(&own.verdict)).count();
    let equal = count(|own| matches!(own, Verdict::Identical | Verdict::Proved(_)));
    let different = count(|own| matches!(own, Verdict::Different(_)));
    let undecided = count(|own| matches!(own, Verdict::Undecided(..)));
    let unfit = functions.len() - equal - different - undecided;
    let mut text = format!("{equal} equal, {different} different, {undecided} not decided");
    if unfit > 0 {
        text += &format!(", {unfit} not comparable");
    }
    text + "\n"
}

/// The words of reasons that buffers among the arguments give.
const OVERLAP: &str = "may overlap";

/// Adds the answers about functions as diagnostics.
trait Say {
    fn extend_with(
        &mut self,
        ctx: &Context,
        function: &Function,
        programs: (&Program, &Program),
        show_equal: bool,
    );
}

impl Say for Diagnostics {
    fn extend_with(
        &mut self,
        ctx: &Context,
        function: &Function,
        (before, after): (&Program, &Program),
        show_equal: bool,
    ) {
        let name = &function.name;
        let new = |severity, message: String| Diagnostic::new(severity, function.loc, message);
        self.push(match &function.verdict {
            Verdict::Identical | Verdict::Proved(_) if !show_equal => return,
            Verdict::Identical => return,
            Verdict::Proved(under) => {
                let start = new(Severity::Remark, format!("@{name} is equal, for all sizes and inputs"));
                under.iter().fold(start, |said, own| said.note(Loc::UNKNOWN, format!("assuming that {own}")))
            }
            Verdict::Different(example) => different(ctx, function, example, (&before.input, &after.input)),
            Verdict::Undecided(reasons, tried) => {
                let start = new(Severity::Warning, format!("@{name} is not decided"));
                let said = reasons.iter().fold(start, |said, own| said.note(Loc::UNKNOWN, own.clone()));
                let said = said.note(Loc::UNKNOWN, executions(tried));
                match reasons.iter().any(|own| own.contains(OVERLAP)) {
                    true => said.help("if no two buffers among the arguments overlap, say '--distinct'"),
                    false => said,
                }
            }
            Verdict::Unfit(unfit) => {
                let said = new(Severity::Error, format!("@{name} cannot be compared: {}", unfit.reason));
                let notes = unfit.notes.iter();
                notes.fold(said, |said, (loc, note)| said.note(*loc, note.clone())).help(unfit.help)
            }
        });
    }
}

/// Says how many inputs were executed.
fn executions(tried: &Tried) -> String {
    let mut text = match tried.executed {
        0 => "no input was executed".to_owned(),
        1 => "1 input was executed, without a difference".to_owned(),
        many => format!("{many} inputs were executed, without a difference"),
    };
    if tried.undefined > 0 {
        text += &format!("; on {} the first program is undefined", tried.undefined);
    }
    if tried.limited > 0 {
        text += &format!("; on {} it takes too long", tried.limited);
    }
    text
}

fn different(
    ctx: &Context,
    function: &Function,
    example: &Counterexample,
    (before, after): (&Input, &Input),
) -> Diagnostic {
    let (name, found) = (&function.name, &example.difference);
    let message = match &found.place {
        Place::Ending => {
            format!("@{name} is different: it {} before, and after it {}", found.before, found.after)
        }
        place => format!("@{name} is different: {place} is {} before, {} after", found.before, found.after),
    };
    let mut said = Diagnostic::error(function.loc, message);
    for (instance, when) in example.writers.iter().zip(["before", "after"]) {
        let Some(instance) = instance else {
            if let Place::Element { .. } = found.place {
                said = said.note(Loc::UNKNOWN, format!("{when}: nothing writes this element"));
            }
            continue;
        };
        said = said.note(instance.loc, format!("{when}: {} writes this element last", whence(ctx, instance)));
    }
    let arguments: Vec<String> = example.arguments.iter().map(|text| quoted(text)).collect();
    let arguments = arguments.iter().map(|text| format!(" --arg={text}")).collect::<String>();
    let files: Vec<&str> = [before, after]
        .iter()
        .map(|input| input.name.as_str())
        .filter(|name| !name.starts_with('<'))
        .collect();
    let files = if files.is_empty() { vec!["FILE"] } else { files };
    let commands: Vec<String> =
        files.iter().map(|file| format!("loomir run {file} --entry={name}{arguments}")).collect();
    said.help(format!("run it: {}", commands.join("\n        ")))
}

fn whence(ctx: &Context, instance: &Instance) -> String {
    let lines: Vec<String> = instance
        .loops
        .iter()
        .filter_map(|own| own.loc.file_line_col(ctx).map(|(_, line, _)| line.to_string()))
        .collect();
    match (instance.iteration().as_str(), lines.as_slice()) {
        ("", _) => "this statement".into(),
        (iteration, []) => format!("iteration {iteration}"),
        (iteration, [line]) => format!("iteration {iteration} of the loop of line {line}"),
        (iteration, lines) => format!("iteration {iteration} of the loops of lines {}", lines.join(" and ")),
    }
}

/// Writes a text so that a shell reads it as one word.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "+-.:@_".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) { text.into() } else { format!("'{text}'") }
}

fn object(ctx: &Context, function: &Function) -> Value {
    let (answer, reasons, tried, example) = match &function.verdict {
        Verdict::Identical => ("equal", Vec::new(), None, None),
        Verdict::Proved(under) => ("equal", under.clone(), None, None),
        Verdict::Different(example) => ("different", Vec::new(), None, Some(&**example)),
        Verdict::Undecided(reasons, tried) => ("not decided", reasons.clone(), Some(*tried), None),
        Verdict::Unfit(unfit) => ("not comparable", vec![unfit.reason.clone()], None, None),
    };
    json!({
        "name": function.name,
        "answer": answer,
        "place": place(ctx, function.loc),
        "reasons": reasons,
        "tried": tried.map(|own| json!({
            "executed": own.executed, "undefined": own.undefined, "limited": own.limited,
        })),
        "counterexample": example.map(|own| json!({
            "arguments": own.arguments,
            "differs": own.difference.place.to_string(),
            "before": own.difference.before,
            "after": own.difference.after,
            "written_before": own.writers[0].as_ref().map(|writer| written(ctx, writer)),
            "written_after": own.writers[1].as_ref().map(|writer| written(ctx, writer)),
        })),
    })
}

fn written(ctx: &Context, instance: &Instance) -> Value {
    let loops = instance.loops.iter().map(|own| {
        json!({
            "place": place(ctx, own.loc), "variables": own.variables,
        })
    });
    json!({
        "operation": instance.operation,
        "function": instance.function,
        "place": place(ctx, instance.loc),
        "loops": loops.collect::<Vec<Value>>(),
    })
}

fn place(ctx: &Context, loc: Loc) -> Value {
    match loc.file_line_col(ctx) {
        Some((file, line, column)) => json!({"file": file, "line": line, "column": column}),
        None => Value::Null,
    }
}
