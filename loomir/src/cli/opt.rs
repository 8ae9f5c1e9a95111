//! `loomir opt`: runs passes, as `mlir-opt` does, under its flags' names.

use std::time::Instant;

use crate::ir::pass::report::add_records;
use crate::ir::pass::{
    EditLimit, PassInstrumentor, PassSelection, PrintIr, Record, VerifyAnalyses, VerifyEach,
};
use crate::ir::text::{Chunk, ParseOptions, PrintOptions, SPLIT_MARKER, split_source};
use crate::ir::{Body, Context, Diagnostic, Diagnostics, verifier};
use crate::lowering::cfg::picture::{Format, picture};
use crate::lowering::cfg::{self, print::Printed};
use crate::report::Repeated;
use crate::{ExpectedLevel, FuseOptions, verify_diagnostics};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};

use super::console::Stream;
use super::flags::{flag, flag_on, is_on};
use super::input::{self, Input};
use super::progress::{self, Begins, Line};
use super::remarks::RemarkFormat;
use super::{Failure, Tools, limit, output, remarks, report};
use reproducer::Reproducers;
use schedule::Schedule;

mod logs;
mod pipeline;
mod reproducer;
mod schedule;

pub(super) fn command(tools: &Tools) -> Command {
    let [input, allow] = input::args();
    Command::new("opt")
        .about("Runs passes and prints the program")
        .arg(input)
        .arg(output::arg())
        .arg(emit_arg())
        .arg(remarks::arg())
        .arg(report::arg())
        .next_help_heading("Reading")
        .arg(allow)
        .args(reading_args())
        .next_help_heading("Printing")
        .args(printing_args())
        .next_help_heading("Running")
        .args(pipeline::args())
        .args(schedule::args())
        .arg(flag_on("verify-each", "Verify after each pass"))
        .arg(flag("verify-analyses", "Compare kept analyses of graphs with fresh ones, step by step"))
        .arg(flag("mlir-disable-threading", "Run everything in one thread"))
        .arg(limit::arg())
        .args(reproducer::args())
        .next_help_heading("Looking at passes")
        .args(watching_args(tools))
        .args(logs::args())
        .args(pipeline::pass_args(tools))
}

fn emit_arg() -> Arg {
    let forms = [
        "mlir",
        "generic",
        "ll",
        "loops",
        "cycles",
        "domtree",
        "postdomtree",
        "scev",
        "accesses",
        "dot",
        "svg",
    ];
    Arg::new("emit").long("emit").value_name("FORM").value_parser(forms).default_value("mlir").help(
        "The form to print: MLIR; its generic form; LLVM IR, after lowering the rest; or a report on \
         graphs of blocks: loops, cycles, dominators, post-dominators, scalar evolution, memory \
         accesses, or a picture of the control flow",
    )
}

fn reading_args() -> [Arg; 4] {
    let split = "Read the parts between lines of the marker as files of their own [marker: // -----]";
    let expected = "Compare diagnostics with expected-… comments";
    [
        flag("no-implicit-module", "Make no module around a single operation"),
        Arg::new("split-input-file")
            .long("split-input-file")
            .value_name("MARKER")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value(SPLIT_MARKER)
            .help(split),
        Arg::new("output-split-marker")
            .long("output-split-marker")
            .value_name("MARKER")
            .default_value(SPLIT_MARKER)
            .help("The line to print between the results of split input"),
        choice("verify-diagnostics", &["all", "only-expected"], "all", expected)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("all")
            .default_value(None),
    ]
}

fn printing_args() -> [Arg; 9] {
    let elements = "Leave out the elements of attributes with more than N";
    let resources = "Leave out resources whose text is longer than N";
    [
        flag("mlir-print-op-generic", "The same as --emit=generic"),
        flag("mlir-print-debuginfo", "Print locations"),
        flag("mlir-pretty-debuginfo", "Print locations in a form for readers"),
        flag("mlir-print-local-scope", "Print without aliases"),
        flag("mlir-print-skip-regions", "Print operations without their regions"),
        flag("mlir-print-unique-ssa-ids", "Number values through all regions"),
        flag("mlir-use-nameloc-as-prefix", "Name values as their locations do"),
        number("mlir-elide-elementsattrs-if-larger", elements),
        number("mlir-elide-resource-strings-if-larger", resources),
    ]
}

fn watching_args(tools: &Tools) -> [Arg; 7] {
    let scope = "Print the whole module, not the operation of the pass; no threads";
    [
        names(tools, "mlir-print-ir-before", "Print the program before these passes, on standard error"),
        names(tools, "mlir-print-ir-after", "Print the program after these passes, on standard error"),
        flag("mlir-print-ir-before-all", "Print the program before each pass").alias("print-ir-before-all"),
        flag("mlir-print-ir-after-all", "Print the program after each pass").alias("print-ir-after-all"),
        flag("mlir-print-ir-after-change", "Print the program after a pass only if it changed"),
        flag("mlir-print-ir-after-failure", "Print the program after a pass only if the pass failed"),
        flag("mlir-print-ir-module-scope", scope),
    ]
}

fn choice(
    name: &'static str,
    values: &'static [&'static str],
    default: &'static str,
    help: &'static str,
) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("HOW")
        .value_parser(PossibleValuesParser::new(values))
        .default_value(default)
        .help(help)
}

fn number(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name("N").value_parser(value_parser!(usize)).help(help)
}

fn names(tools: &Tools, name: &'static str, help: &'static str) -> Arg {
    let known: Vec<&str> = tools.passes.infos().iter().map(|info| info.name).collect();
    Arg::new(name)
        .long(name)
        .value_name("PASSES")
        .value_delimiter(',')
        .action(clap::ArgAction::Append)
        .value_parser(PossibleValuesParser::new(known))
        .hide_possible_values(true)
        .help(help)
}

fn string<'m>(matches: &'m ArgMatches, name: &str) -> Option<&'m str> {
    matches.get_one::<String>(name).map(String::as_str)
}

pub(super) fn main(tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
    if let Some(list) = logs::lists(tools, matches) {
        return tools.console.print(&list);
    }
    let start = Instant::now();
    let ctx = &tools.ctx;
    let edits = limit::of(matches);
    let (input, pipeline) = (&input::read(tools, matches)?, &pipeline::text(tools, matches)?);
    let schedule = &schedule::read(tools, matches)?;
    let run = Run { matches, tools, ctx, input, pipeline, schedule, edits: edits.clone() };
    // A mistake in the pipeline is one whatever the program is.
    let nothing = Input { name: String::new(), text: String::new(), form: RemarkFormat::default() };
    let read = pipeline::read(tools, run.pipeline, &nothing.parse(ctx, matches)?);
    read.map_err(|error| Failure::usage(error.to_text(run.pipeline)))?;
    if report::file(matches).is_some() && string(matches, "split-input-file").is_some() {
        return Err(Failure::usage("'--report' shows one program, and '--split-input-file' reads several"));
    }
    let chunks = match string(matches, "split-input-file") {
        Some(marker) => split_source(&run.input.text, marker),
        None => vec![Chunk { text: &run.input.text, first_line: 1 }],
    };
    let mut done = Done::default();
    for chunk in chunks {
        run.chunk(chunk, &mut done)?;
    }
    if let Some(last) = limit::said(&edits) {
        tools.console.say(&remarks::say(ctx, &last.into(), run.input, Stream::Err));
    }
    let marker = string(matches, "output-split-marker").unwrap_or(SPLIT_MARKER);
    done.reproducers.write(tools, matches)?;
    match done.texts.as_slice() {
        [text] => output::write(tools, matches, text)?,
        texts => output::write(tools, matches, &texts.join(&format!("{marker}\n")))?,
    }
    tools.console.say(&logs::statistics(matches, &done.records));
    tools.console.say(&logs::timing(matches, &done.records, start.elapsed()));
    tools.console.forget(done.last);
    if done.failed { Err(Failure::Input(String::new())) } else { Ok(()) }
}

/// The results of all pieces of the input.
#[derive(Default)]
struct Done {
    /// Empty where a piece failed.
    texts: Vec<String>,
    reproducers: Reproducers,
    records: Vec<Record>,
    failed: bool,
    /// The last piece behind its passes.
    last: Option<Body>,
}

/// The settings of a run, the same for all pieces of the input.
struct Run<'r> {
    matches: &'r ArgMatches,
    tools: &'r Tools,
    ctx: &'r Context,
    input: &'r Input,
    /// As text; which operations a bare list of passes runs on is up to the program.
    pipeline: &'r str,
    /// The schedule that runs before the passes.
    schedule: &'r Option<Schedule>,
    /// The bound on edits of all pieces together.
    edits: EditLimit,
}

/// A piece on its way: what is known of it so far.
#[derive(Default)]
struct Piece {
    text: String,
    body: Option<Body>,
    diagnostics: Diagnostics,
    records: Vec<Record>,
}

impl Run<'_> {
    /// Reads, transforms and prints a piece; says what there is to say about it.
    fn chunk(&self, chunk: Chunk<'_>, done: &mut Done) -> Result<(), Failure> {
        let mut piece = Piece::default();
        if let Err(errors) = self.transform(chunk, &mut piece, &mut done.reproducers) {
            piece.diagnostics.append(errors);
        }
        add_records(&mut done.records, piece.records);
        if let Some(after) = &mut piece.body {
            let options = FuseOptions::default();
            let (input, remarks) = (self.input, &piece.diagnostics);
            let command = "opt";
            let repeat =
                |edits: u64| report::repeated(edits, &self.edits, |limit| self.repeated(chunk, &limit));
            let repeat: Option<&dyn Fn(u64) -> Option<Repeated>> = Some(&repeat);
            let subject = report::Subject { input, command, remarks, after, options: &options, repeat };
            report::write(self.tools, self.matches, subject)?;
        }
        done.texts.push(piece.text);
        done.last = piece.body;
        let diagnostics = match string(self.matches, "verify-diagnostics") {
            None => piece.diagnostics,
            Some(level) => {
                let level = match level {
                    "only-expected" => ExpectedLevel::OnlyExpected,
                    _ => ExpectedLevel::All,
                };
                let (name, line) = (&self.input.name, chunk.first_line);
                verify_diagnostics(self.ctx, chunk.text, name, line, &piece.diagnostics, level)
            }
        };
        done.failed |= diagnostics.has_errors();
        let schedule = self.schedule.as_ref().map(Schedule::input);
        let inputs: Vec<&Input> = [Some(self.input), schedule].into_iter().flatten().collect();
        self.tools.console.say(&remarks::say_of(self.ctx, &diagnostics, &inputs, Stream::Err));
        Ok(())
    }

    fn transform(
        &self,
        chunk: Chunk<'_>,
        piece: &mut Piece,
        reproducers: &mut Reproducers,
    ) -> Result<(), Diagnostics> {
        let matches = self.matches;
        let start = Instant::now();
        let parsed = self.parsed(chunk);
        piece.records.push(Record::new("Parser", start.elapsed()));
        let mut body = parsed?;

        if let Some(schedule) = self.schedule {
            let report = schedule.run(&mut body)?;
            piece.diagnostics.append(report.remarks);
            self.tools.console.say(&logs::dumps(&report.dumps));
        }
        let own = reproducer::Setup::of(self.tools, matches, &mut body)?;
        let loc = body.root_ref().loc();
        let given = pipeline::read(self.tools, self.pipeline, &body);
        let given = given.map_err(|error| Diagnostic::error(loc, error.to_text(self.pipeline)))?;
        let pipeline = own.pipeline.as_ref().unwrap_or(&given);
        if is_on(matches, "dump-pass-pipeline") {
            self.tools.console.say(&logs::pipeline(pipeline));
        }
        let reproducer = reproducer::text(matches, &mut body, pipeline, &own);
        let progress = progress::of(&self.tools.console);
        progress.number(&body);
        let line = Line::show(&progress);
        let instrumentor = self.instrumentor(&own, &self.edits).with(Begins(progress));
        let report = pipeline.run(&mut body, &instrumentor);
        drop(line);
        let failed = !report.succeeded();
        piece.diagnostics.append(report.diagnostics);
        piece.records.extend(report.records);
        self.tools.console.say(&logs::dumps(&report.dumps));
        if let Some(text) = reproducer {
            reproducers.push(text, failed);
        }
        if failed {
            return Ok(());
        }
        // What was read was verified then.
        if (!own.verify_each && !pipeline.is_empty()) || self.schedule.is_some() {
            let errors = verifier::verify(&body);
            if errors.has_errors() {
                return Err(errors);
            }
        }
        let start = Instant::now();
        piece.text = self.emit(&mut body)?;
        piece.records.push(Record::new("Output", start.elapsed()));
        piece.body = Some(body);
        Ok(())
    }

    fn parsed(&self, chunk: Chunk<'_>) -> Result<Body, Diagnostics> {
        let options = ParseOptions {
            implicit_module: !is_on(self.matches, "no-implicit-module"),
            ..input::options(self.matches)
        };
        self.input.parse_chunk(self.ctx, chunk, options)
    }

    /// Transforms a piece once more, within a limit on edits. Says nothing.
    fn repeated(&self, chunk: Chunk<'_>, edits: &EditLimit) -> Option<Body> {
        let mut body = self.parsed(chunk).ok()?;
        if let Some(schedule) = self.schedule {
            schedule.run(&mut body).ok()?;
        }
        let own = reproducer::Setup::of(self.tools, self.matches, &mut body).ok()?;
        let given = pipeline::read(self.tools, self.pipeline, &body).ok()?;
        let pipeline = own.pipeline.as_ref().unwrap_or(&given);
        let how = PassInstrumentor::new().with_edit_limit(edits.clone());
        pipeline.run(&mut body, &how).succeeded().then_some(body)
    }

    fn instrumentor(&self, setup: &reproducer::Setup, edits: &EditLimit) -> PassInstrumentor {
        let matches = self.matches;
        let selection = |all: bool, names: &str| match matches.get_many::<String>(names) {
            _ if all => PassSelection::All,
            Some(names) => PassSelection::Named(names.cloned().collect()),
            None => PassSelection::None,
        };
        let only_on_change = is_on(matches, "mlir-print-ir-after-change");
        let only_on_failure = is_on(matches, "mlir-print-ir-after-failure");
        let named = matches.contains_id("mlir-print-ir-after");
        let all_after =
            is_on(matches, "mlir-print-ir-after-all") || ((only_on_change || only_on_failure) && !named);
        let print = PrintIr {
            before: selection(is_on(matches, "mlir-print-ir-before-all"), "mlir-print-ir-before"),
            after: selection(all_after, "mlir-print-ir-after"),
            only_on_change,
            only_on_failure,
            module_scope: is_on(matches, "mlir-print-ir-module-scope"),
            options: self.print_options(),
        };
        let mut how = PassInstrumentor::new().with_edit_limit(edits.clone());
        if setup.disable_threading || print.module_scope {
            how = how.without_threads();
        }
        how = how.with(print);
        if is_on(matches, "verify-analyses") {
            how = how.with(VerifyAnalyses);
        }
        if setup.verify_each { how.with(VerifyEach) } else { how }
    }

    fn print_options(&self) -> PrintOptions {
        let matches = self.matches;
        let pretty_debug_info = is_on(matches, "mlir-pretty-debuginfo");
        PrintOptions {
            generic: is_on(matches, "mlir-print-op-generic") || string(matches, "emit") == Some("generic"),
            debug_info: is_on(matches, "mlir-print-debuginfo") || pretty_debug_info,
            pretty_debug_info,
            local_scope: is_on(matches, "mlir-print-local-scope"),
            skip_regions: is_on(matches, "mlir-print-skip-regions"),
            unique_ssa_ids: is_on(matches, "mlir-print-unique-ssa-ids"),
            nameloc_as_prefix: is_on(matches, "mlir-use-nameloc-as-prefix"),
            elide_elements_larger_than: matches.get_one("mlir-elide-elementsattrs-if-larger").copied(),
            elide_resources_longer_than: matches.get_one("mlir-elide-resource-strings-if-larger").copied(),
        }
    }

    fn emit(&self, module: &mut Body) -> Result<String, Diagnostics> {
        let show: fn(&Body) -> Result<String, Diagnostics> = match string(self.matches, "emit") {
            Some("ll") => crate::lowering::to_ll,
            Some("loops") => |module| cfg::print::print(module, Printed::Loops),
            Some("cycles") => |module| cfg::print::print(module, Printed::Cycles),
            Some("domtree") => |module| cfg::print::print(module, Printed::Dominators),
            Some("postdomtree") => |module| cfg::print::print(module, Printed::PostDominators),
            Some("scev") => |module| cfg::print::print(module, Printed::ScalarEvolution),
            Some("accesses") => |module| cfg::print::print(module, Printed::Accesses),
            Some("dot") => |module| picture(module, Format::Dot),
            Some("svg") => |module| picture(module, Format::Svg),
            _ => return Ok(self.as_mlir(module)),
        };
        crate::lowering::lower_to_llvm(module)?;
        show(module)
    }

    fn as_mlir(&self, module: &Body) -> String {
        let options = self.print_options();
        let mut text = crate::ir::text::print(module, &options);
        // As mlir-opt does, so that what both print can be compared.
        if !options.local_scope {
            text.push('\n');
        }
        text
    }
}
