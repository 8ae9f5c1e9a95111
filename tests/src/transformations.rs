//! Random programs before and after each registered
//! [transformation](loomir::transforms::transform), with each of its named options, alone and
//! before fusion, and before and after packing.
//!
//! Both programs are executed, and the checker proves them equal or executes them on its own
//! inputs.
//!
//! Half of the programs are regular nests. The other half have operations that some operands make
//! undefined.

use std::collections::BTreeMap;

use loomir::check::proof::ProofOptions;
use loomir::transforms::transform::ALL;

use crate::check::Checker;
use crate::pipelines::{Case, scheduled};
use crate::random::Random;
use crate::schedules::schedule;

/// The checker is asked about one program in this many.
const CHECKED: u64 = 5;

/// The numbers of compared programs and runs.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Programs.
    pub cases: u64,
    /// Programs that a pipeline changed, counted once for each pipeline.
    pub changed: usize,
    /// Programs that a schedule changed.
    pub scheduled: usize,
    /// Schedules that failed.
    pub unfinished: usize,
    /// Defined calls that were compared before and after a pipeline.
    pub compared: usize,
    /// Calls that are not.
    pub skipped: usize,
    /// Changed programs that the checker was asked about.
    pub asked: usize,
    /// Changed programs that the checker proves equal.
    pub proved: usize,
    /// The numbers of changed programs, asked and proved ones, by transformation alone.
    pub by_name: BTreeMap<&'static str, [usize; 3]>,
}

/// Runs the programs of these numbers before and after each transformation.
///
/// # Errors
/// The first call that behaves differently afterwards, with the program.
pub fn run(seed: u64, (first, count): (u64, u64), tally: &mut Tally) -> Result<(), String> {
    let checker = Checker::default();
    let pipelines = pipelines();
    for index in first..first + count {
        let mut random = Random::of_case(seed, index);
        let case = match index % 2 {
            0 => Case::regular(&checker, &mut random),
            _ => Case::hazardous(&checker, &mut random),
        };
        let failed = |error: String| format!("case {index}: {error}");
        let case = case.map_err(failed)?;
        for (name, pipeline) in &pipelines {
            let changed = case.transformed(&checker, pipeline).map_err(failed)?;
            let is_changed = changed != case.printed;
            let proves = (is_changed && index % CHECKED == 0).then(ProofOptions::default);
            let comparison = case.compare(&checker, pipeline, &changed, proves).map_err(failed)?;
            tally.changed += usize::from(is_changed);
            tally.compared += comparison.compared;
            tally.skipped += comparison.skipped;
            tally.asked += usize::from(comparison.proved.is_some());
            tally.proved += usize::from(comparison.proved == Some(true));
            if let Some(own) = name.map(|name| tally.by_name.entry(name).or_default()) {
                own[0] += usize::from(is_changed);
                own[1] += usize::from(comparison.proved.is_some());
                own[2] += usize::from(comparison.proved == Some(true));
            }
        }
        let schedule = schedule(&mut random);
        let (changed, succeeded) = scheduled(&checker, &case.text, &schedule).map_err(failed)?;
        let comparison = case.compare(&checker, &schedule, &changed, None).map_err(failed)?;
        tally.scheduled += usize::from(changed != case.printed);
        tally.unfinished += usize::from(!succeeded);
        tally.compared += comparison.compared;
        tally.skipped += comparison.skipped;
        tally.cases += 1;
    }
    Ok(())
}

/// Returns each transformation with each of its samples, and its name. The last sample also runs
/// before fusion, without a name.
fn pipelines() -> Vec<(Option<&'static str>, String)> {
    let mut all = Vec::new();
    for (_, info) in ALL {
        let mut passes = info.samples.iter().map(|sample| format!("{}{{{sample}}}", info.name));
        let alone = passes.clone().map(|pass| format!("builtin.module(func.func({pass}))"));
        all.extend(alone.map(|passes| (Some(info.name), passes)));
        let before_fusion =
            passes.next_back().map(|pass| format!("{pass},loop-fusion{{fusion-profitability=always}}"));
        all.extend(before_fusion.map(|passes| (None, format!("builtin.module(func.func({passes}))"))));
    }
    let pack = loomir::transforms::packing::PASS.name;
    let private = loomir::transforms::privatization::PASS.name;
    let pad = loomir::transforms::padding::PASS.name;
    for name in [pack, private, pad] {
        let options = if name == pad { "{multiple=1}" } else { "" };
        all.push((Some(name), format!("builtin.module(func.func({name}{options}))")));
    }
    all.push((Some(pack), format!("builtin.module(func.func({pack}{{transposed=true}}))")));
    all.push((None, format!("builtin.module(func.func(loop-tile{{tile-size=3}},{pack},loop-unroll))")));
    all
}
