//! `loomir fuse`: the main job.

use crate::directives::obey_all;
use crate::ir::pass::{EditLimit, Progress};
use crate::ir::{Body, Context, Diagnostics, Name};
use crate::lowering::raising::Facts;
use crate::{ContractionOptions, CostSource, FuseOptions, Fused, ProgramOptions};
use clap::{Arg, ArgMatches, Command};

use super::console::Stream;
use super::grouped::{self, Nests};
use super::input::{self, Input};
use super::progress::{self, Line};
use super::{Failure, Tools, analyses, limit, machine, missed, output, raised, remarks, report};

/// A command that transforms all loops of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Task {
    Fuse,
    Optimize,
}

impl Task {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Task::Fuse => "fuse",
            Task::Optimize => "optimize",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Task::Fuse => {
                "Fuses every loop that may be fused and contracts arrays; prints the program, remarks on standard error"
            }
            Task::Optimize => {
                "Fuses, distributes, interchanges, unrolls and jams loops, as is estimated to be fastest; prints the program"
            }
        }
    }
}

pub(super) fn command(task: Task) -> Command {
    Command::new(task.name())
        .about(task.about())
        .args(input::args())
        .arg(output::arg())
        .arg(alias_arg())
        .args(choice_args())
        .arg(contract_arg())
        .args(analyses::args())
        .arg(remarks::arg())
        .arg(regenerate_arg())
        .arg(check_metadata_arg())
        .args((task == Task::Optimize).then(parallel_arg))
        .arg(quiet_arg())
        .arg(report::arg())
        .arg(missed::arg())
        .arg(limit::arg())
}

/// The argument that says what to assume of memrefs.
pub(super) fn alias_arg() -> Arg {
    Arg::new("alias")
        .long("alias")
        .value_name("MODE")
        .default_value("version")
        .value_parser(["version", "may", "distinct"])
        .help("What to assume of memrefs nothing is known of: tested when run, may overlap, or two arguments are distinct")
}

/// The arguments that say which of the loops that may be fused are.
pub(super) fn choice_args() -> [Arg; 7] {
    [
        Arg::new("fusion-profitability")
            .long("fusion-profitability")
            .value_name("MODE")
            .default_value("cost")
            .value_parser(["cost", "always"])
            .help("How to choose among legal fusions: the largest saving, or always the nearest loop"),
        Arg::new("cost")
            .long("cost")
            .value_name("SOURCE")
            .default_value("static")
            .value_parser(["static", "profile"])
            .help("Trip counts for the cost: from the program alone, or measured by 'loomir run --profile'"),
        machine::arg(),
        number(
            "max-shift",
            "8",
            "By how many iterations the second of two loops may be shifted to keep a dependence, blocks not counted",
        ),
        number(
            "shift-multiple",
            "1",
            "Of which number a shift is a multiple, if it can be; with 1, costs choose between the least and a block more",
        ),
        number("max-tests", "8", "The most assumptions that one run-time check may test"),
        Arg::new("unroll-and-jam")
            .long("unroll-and-jam")
            .value_name("BOOL")
            .default_value("true")
            .value_parser(clap::value_parser!(bool))
            .help("Whether a fused loop may take two iterations at a time, if its sums wait for each other"),
    ]
}

/// An argument that is a number, not negative.
fn number(name: &'static str, default: &'static str, help: &'static str) -> Arg {
    let arg = Arg::new(name).long(name).value_name("N").default_value(default);
    arg.value_parser(clap::value_parser!(i64).range(0..)).help(help)
}

/// The argument that says whether to contract arrays.
pub(super) fn contract_arg() -> Arg {
    Arg::new("contract")
        .long("contract")
        .value_name("BOOL")
        .default_value("true")
        .value_parser(clap::value_parser!(bool))
        .help("Replace arrays that fusion made unnecessary by values or smaller arrays")
}

fn regenerate_arg() -> Arg {
    Arg::new("regenerate")
        .long("regenerate")
        .value_name("WHICH")
        .value_parser(["changed", "all"])
        .default_value("changed")
        .help("Which functions in LLVM IR to write anew from their loops: changed ones, or all, to test it")
}

fn check_metadata_arg() -> Arg {
    Arg::new("check-metadata")
        .long("check-metadata")
        .action(clap::ArgAction::SetTrue)
        .help("Makes new code in LLVM IR trap where a fact does not hold that LLVM would be told")
}

fn parallel_arg() -> Arg {
    Arg::new("parallel")
        .long("parallel")
        .action(clap::ArgAction::SetTrue)
        .help("Makes loops of MLIR with independent iterations parallel in the end")
}

fn quiet_arg() -> Arg {
    Arg::new("quiet")
        .short('q')
        .long("quiet")
        .action(clap::ArgAction::SetTrue)
        .help("No remarks, as with --remarks=none")
}

/// Returns the options that the argument of [`alias_arg`] gives.
pub(super) fn alias(matches: &ArgMatches) -> Result<FuseOptions, Failure> {
    let word = matches.get_one::<String>("alias").map_or("version", String::as_str);
    Ok(FuseOptions { alias: word.parse().map_err(Failure::usage)?, ..FuseOptions::default() })
}

/// Returns the options that the arguments of [`alias_arg`] and [`choice_args`] give.
pub(super) fn options(matches: &ArgMatches) -> Result<FuseOptions, Failure> {
    let word =
        |name: &str, default: &'static str| matches.get_one::<String>(name).map_or(default, String::as_str);
    let number = |name: &str, default: i64| matches.get_one::<i64>(name).copied().unwrap_or(default);
    let cost: CostSource = word("cost", "static").parse().map_err(Failure::usage)?;
    Ok(FuseOptions {
        alias: word("alias", "version").parse().map_err(Failure::usage)?,
        profitability: word("fusion-profitability", "cost").parse().map_err(Failure::usage)?,
        cost: cost.cost(machine::chosen(matches)?),
        analyses: analyses::chosen(matches)?,
        max_shift: number("max-shift", 8),
        shift_multiple: number("shift-multiple", 1),
        max_tests: usize::try_from(number("max-tests", 8)).unwrap_or(usize::MAX),
        unroll_and_jam: matches.get_one::<bool>("unroll-and-jam") != Some(&false),
        ..FuseOptions::default()
    })
}

pub(super) fn main(tools: &Tools, matches: &ArgMatches, task: Task) -> Result<(), Failure> {
    let source = input::read(tools, matches)?;
    let ctx = &tools.ctx;
    let says = !matches.get_flag("quiet");
    let edits = limit::of(matches);
    let is_shown = report::file(matches).is_some();
    let progress = progress::of(&tools.console);
    let options = FuseOptions {
        remarks: says || is_shown,
        edits: edits.clone(),
        progress: progress.clone(),
        ..options(matches)?
    };
    let job = Job { tools, matches, source: &source, options: &options, task };
    let (module, unread) = job.read()?;
    if says {
        tools.console.say(&remarks::say(ctx, &unread, &source, Stream::Err));
    }
    tools.console.say(&remarks::say(ctx, &missed::foreign(&module), &source, Stream::Err));
    let nests = (says && remarks::are_grouped(matches)).then(|| Nests::of(&module));
    progress.number(&module);
    let line = Line::show(&progress);
    let mut done = job.run_on(module, unread, &options)?;
    let page = report::file(matches).map(|file| (file, job.page(task.name(), &mut done)));
    drop(line);
    if let Some((file, page)) = page {
        output::to_file(file, &page)?;
    }
    let Done { module, fused, .. } = done;
    let refused = fused.fusion.refused;
    let raised = raised::summary(&fused.raised, &fused.fusion, fused.edits);
    let mut said = fused.fusion.remarks;
    said.append(fused.contraction.remarks);
    said.append(fused.remarks);
    if says {
        let summary = nests.map_or(String::new(), |nests| nests.summary(&said));
        let said = if remarks::are_grouped(matches) { grouped::by_loop(said) } else { said };
        tools.console.say(&(remarks::say(ctx, &said, &source, Stream::Err) + &summary + &raised));
    }
    if let Some(last) = limit::said(&edits) {
        tools.console.say(&remarks::say(ctx, &last.into(), &source, Stream::Err));
    }
    output::write(tools, matches, &written(ctx, &module, &source, &fused.changed)?)?;
    missed::fail(matches, ctx, refused, &source)?;
    tools.console.forget(module);
    Ok(())
}

/// A program to fuse the loops of.
pub(super) struct Job<'j> {
    pub(super) tools: &'j Tools,
    pub(super) matches: &'j ArgMatches,
    pub(super) source: &'j Input,
    pub(super) options: &'j FuseOptions,
    pub(super) task: Task,
}

/// The results of a job.
pub(super) struct Done {
    /// The transformed program.
    pub(super) module: Body,
    /// The remarks on functions that could not be read.
    pub(super) unread: Diagnostics,
    pub(super) fused: Fused,
}

impl Job<'_> {
    fn read(&self) -> Result<(Body, Diagnostics), Failure> {
        read(&self.tools.ctx, self.source, self.matches)
    }

    /// Reads the program, and fuses and contracts with these options.
    pub(super) fn run(&self, options: &FuseOptions) -> Result<Done, Failure> {
        let (module, unread) = self.read()?;
        options.progress.number(&module);
        self.run_on(module, unread, options)
    }

    /// Obeys the directives of a program, then fuses and contracts.
    fn run_on(&self, mut module: Body, unread: Diagnostics, options: &FuseOptions) -> Result<Done, Failure> {
        let word = |name: &str| self.matches.try_get_one::<String>(name).ok().flatten();
        let is_set = |name: &str| self.matches.try_get_one::<bool>(name).ok().flatten() == Some(&true);
        let is_checked = is_set("check-metadata");
        let contraction = ContractionOptions::after(options);
        let contracts = self.matches.get_one::<bool>("contract") == Some(&true);
        let program = ProgramOptions {
            contraction: contracts.then_some(&contraction),
            optimizes: self.task == Task::Optimize,
            parallel: is_set("parallel"),
            facts: match (is_checked, crate::lowering::is_ll(&self.source.text)) {
                (true, _) => Facts::Checked,
                (false, true) => Facts::Told,
                (false, false) => Facts::Omitted,
            },
            regenerate_all: word("regenerate").is_some_and(|which| which == "all"),
            ..ProgramOptions::of(options)
        };
        let source = (&*self.source.text, &unread);
        let obeyed = obey_all(&mut module, source, (options.alias.untested(), program.facts));
        let obeyed = obeyed.map_err(|errors| self.source.failure(&self.tools.ctx, &errors))?;
        let mut fused = crate::fuse_program(&mut module, &program);
        fused.changed.extend(obeyed.changed);
        let later = std::mem::replace(&mut fused.fusion.remarks, obeyed.remarks);
        fused.fusion.remarks.append(later);
        Ok(Done { module, unread, fused })
    }

    /// Returns the page on the results.
    pub(super) fn page(&self, command: &str, done: &mut Done) -> String {
        self.options.progress.tell("writing the page");
        let is_ll = crate::lowering::is_ll(&self.source.text);
        let read = is_ll.then(|| self.read().ok()).flatten().map(|(module, _)| module);
        let all = report::remarks(done.unread.clone(), read, self.options, &done.fused);
        let again = |edits: EditLimit| {
            let progress = Progress::default();
            let options = FuseOptions { remarks: false, edits, progress, ..self.options.clone() };
            Some(self.run(&options).ok()?.module)
        };
        let repeat = |edits: u64| report::repeated(edits, &self.options.edits, again);
        let subject = report::Subject {
            input: self.source,
            command,
            remarks: &all,
            after: &mut done.module,
            options: self.options,
            repeat: Some(&repeat),
        };
        report::text(self.tools, self.matches, subject)
    }
}

/// Reads the program. What cannot be read of LLVM IR stays as it is, with remarks.
fn read(ctx: &Context, source: &Input, matches: &ArgMatches) -> Result<(Body, Diagnostics), Failure> {
    match crate::lowering::is_ll(&source.text) {
        false => Ok((source.parse(ctx, matches)?, Diagnostics::new())),
        true => crate::parse_ll_in_part(ctx, &source.text, &source.name)
            .map_err(|errors| source.failure(ctx, &errors)),
    }
}

/// Returns the program in the language it was read in. In LLVM IR, everything but the changed
/// functions is the text that was read.
fn written(ctx: &Context, module: &Body, source: &Input, changed: &[Name]) -> Result<String, Failure> {
    match crate::lowering::is_ll(&source.text) {
        false => Ok(crate::print(module)),
        true if changed.is_empty() => Ok(source.text.clone()),
        true => crate::lowering::splice(&source.text, module, changed)
            .map_err(|errors| source.failure(ctx, &errors)),
    }
}
