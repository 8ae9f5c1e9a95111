//! Reproducers: a program with the pipeline to run on it, in one file that `mlir-opt` reads too.
//!
//! The pipeline stands in the external resources, in the group `mlir_reproducer`. The program is
//! the one before the passes, whatever they did to it.

use crate::ir::pass::PassManager;
use crate::ir::resources::ResourceValue;
use crate::ir::text::{PrintOptions, SPLIT_MARKER};
use crate::ir::{Body, Diagnostic, Diagnostics};
use clap::{Arg, ArgMatches};

use super::input::ALLOW_UNREGISTERED;
use super::{Failure, Tools, flag, is_on, output, string};

const GROUP: &str = "mlir_reproducer";
const PIPELINE: &str = "pipeline";
const DISABLE_THREADING: &str = "disable_threading";
const VERIFY_EACH: &str = "verify_each";

const ON_FAILURE: &str = "mlir-pass-pipeline-crash-reproducer";
const ALWAYS: &str = "mlir-generate-reproducer";

pub(super) fn args() -> [Arg; 3] {
    let file = |name| Arg::new(name).long(name).value_name("FILE");
    [
        file(ON_FAILURE).help("Write the program and the pipeline there if a pass fails"),
        file(ALWAYS).help("Write the program and the pipeline there"),
        flag("run-reproducer", "Run the pipeline that the file holds").conflicts_with("pass-pipeline"),
    ]
}

/// The way in which passes run: as the arguments say, or the file itself.
pub(super) struct Setup {
    /// The file's pipeline.
    pub(super) pipeline: Option<PassManager>,
    pub(super) disable_threading: bool,
    pub(super) verify_each: bool,
}

impl Setup {
    /// With `--run-reproducer` takes out of `body` what it says.
    pub(super) fn of(tools: &Tools, matches: &ArgMatches, body: &mut Body) -> Result<Setup, Diagnostics> {
        let mut setup = Setup {
            pipeline: None,
            disable_threading: is_on(matches, "mlir-disable-threading"),
            verify_each: is_on(matches, "verify-each"),
        };
        if !is_on(matches, "run-reproducer") {
            return Ok(setup);
        }
        let loc = body.root_ref().loc();
        let error = |message: String| Diagnostics::from(Diagnostic::error(loc, message));
        let Some(entries) = body.external_resources_mut().remove(GROUP) else {
            return Err(error(format!("this is no reproducer: its external resources have no '{GROUP}'")));
        };
        for (key, value) in entries {
            match (key.as_str(), value) {
                (PIPELINE, ResourceValue::String(text)) => {
                    let text = String::from_utf8_lossy(&text).into_owned();
                    let read = tools.passes.parse(&text);
                    setup.pipeline =
                        Some(read.map_err(|e| {
                            error(format!("in the reproducer's pipeline: {}", e.to_text(&text)))
                        })?);
                }
                (DISABLE_THREADING, ResourceValue::Bool(value)) => setup.disable_threading |= value,
                (VERIFY_EACH, ResourceValue::Bool(value)) => setup.verify_each = value,
                _ => return Err(error(format!("the reproducer's entry '{key}' is not understood"))),
            }
        }
        Ok(setup)
    }
}

/// The reproducers of all pieces of the input that were asked for.
#[derive(Default)]
pub(super) struct Reproducers {
    of_all: Vec<String>,
    of_failed: Vec<String>,
}

impl Reproducers {
    /// Keeps the reproducer of a piece whose passes have run.
    pub(super) fn push(&mut self, text: String, failed: bool) {
        if failed {
            self.of_failed.push(text.clone());
        }
        self.of_all.push(text);
    }

    /// Writes them where the arguments say.
    pub(super) fn write(&self, tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
        for (flag, texts) in [(ALWAYS, &self.of_all), (ON_FAILURE, &self.of_failed)] {
            let Some(path) = string(matches, flag).filter(|_| !texts.is_empty()) else { continue };
            output::to_file(path, &texts.join(&format!("{SPLIT_MARKER}\n")))?;
            if flag == ON_FAILURE {
                let mut command = format!("loomir opt {path} --run-reproducer");
                if texts.len() > 1 {
                    command += " --split-input-file";
                }
                if is_on(matches, ALLOW_UNREGISTERED) {
                    command += &format!(" --{ALLOW_UNREGISTERED}");
                }
                tools.console.say(&format!("note: a reproducer has been written: {command}\n"));
            }
        }
        Ok(())
    }
}

/// The program before its passes run, with the pipeline, if a reproducer is asked for.
pub(super) fn text(
    matches: &ArgMatches,
    body: &mut Body,
    pipeline: &PassManager,
    setup: &Setup,
) -> Option<String> {
    string(matches, ALWAYS).or(string(matches, ON_FAILURE))?;
    let resources = body.external_resources_mut();
    let of_file = resources.remove(GROUP);
    let text = ResourceValue::String(pipeline.to_string().into_bytes().into());
    resources.push(GROUP, PIPELINE, text);
    resources.push(GROUP, DISABLE_THREADING, ResourceValue::Bool(setup.disable_threading));
    resources.push(GROUP, VERIFY_EACH, ResourceValue::Bool(setup.verify_each));
    let text = crate::ir::text::print(body, &PrintOptions::default());
    let resources = body.external_resources_mut();
    resources.remove(GROUP);
    for (key, value) in of_file.into_iter().flatten() {
        resources.push(GROUP, &key, value);
    }
    Some(text)
}
