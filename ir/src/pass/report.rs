//! The record of running passes.
//!
//! Every run is measured and its counts are kept, as a tree in the shape of the pipeline; who asks
//! for neither doesn't look. The cost is a clock's reading before and after each pass.

use std::time::Duration;

use crate::diagnostics::Diagnostics;

/// The record of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// Remarks and warnings of the passes and, behind them, the errors of the one that failed.
    pub diagnostics: Diagnostics,
    /// Title and text of each dump.
    pub dumps: Vec<(String, String)>,
    /// The passes that ran, in order.
    pub records: Vec<Record>,
    /// True if the last of them left its body as it was.
    pub unchanged: bool,
}

/// Time and counts of one element of a pipeline, over all bodies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The pass's name, or `'func.func' Pipeline`.
    pub name: String,
    /// The time spent, summed over all threads.
    pub user: Duration,
    /// The time it took. Of work on several bodies at a time: its share of that.
    pub wall: Duration,
    /// Counts by name.
    pub statistics: Vec<(&'static str, u64)>,
    /// The elements of a pipeline.
    pub children: Vec<Record>,
}

impl Record {
    /// A record of something that took so long.
    pub fn new(name: impl Into<String>, time: Duration) -> Record {
        Record { name: name.into(), user: time, wall: time, statistics: Vec::new(), children: Vec::new() }
    }

    pub(super) fn of_pass(name: &str, time: Duration, statistics: Vec<(&'static str, u64)>) -> Record {
        Record { statistics, ..Record::new(name, time) }
    }

    /// Adds what the same element did elsewhere, without its elements.
    pub fn add(&mut self, other: &Record) {
        self.user += other.user;
        self.wall += other.wall;
        for (name, count) in &other.statistics {
            add_count(&mut self.statistics, name, *count);
        }
    }

    /// Makes the share of time smaller that it and its elements have.
    fn scale(&mut self, factor: f64) {
        self.wall = self.wall.mul_f64(factor);
        self.children.iter_mut().for_each(|child| child.scale(factor));
    }
}

/// Adds the records of another run of the same pipeline, which may have ended earlier or later.
/// From where it was another pipeline its records stand behind.
pub fn add_records(records: &mut Vec<Record>, others: Vec<Record>) {
    let same = records.iter().zip(&others).take_while(|(record, other)| record.name == other.name).count();
    let mut others = others.into_iter();
    for (record, other) in records[..same].iter_mut().zip(&mut others) {
        record.add(&other);
        add_records(&mut record.children, other.children);
    }
    records.extend(others);
}

pub(super) fn add_count(counts: &mut Vec<(&'static str, u64)>, name: &'static str, by: u64) {
    match counts.iter_mut().find(|(own, _)| *own == name) {
        Some((_, count)) => *count += by,
        None => counts.push((name, by)),
    }
}

impl Report {
    /// True if every pass did its work and what it left is well formed.
    pub fn succeeded(&self) -> bool {
        !self.diagnostics.has_errors()
    }

    /// Adds what came later.
    pub(super) fn append(&mut self, later: Report) {
        self.diagnostics.append(later.diagnostics);
        self.dumps.extend(later.dumps);
        self.records.extend(later.records);
    }

    /// The report of a nested pipeline: those of its bodies, each with its time, and the time it
    /// took.
    pub(super) fn of_pipeline(anchor: &str, bodies: Vec<(Report, Duration)>, wall: Duration) -> Report {
        let mut report = Report::default();
        let mut record = Record::new(format!("'{anchor}' Pipeline"), Duration::ZERO);
        for (body, time) in bodies {
            report.diagnostics.append(body.diagnostics);
            report.dumps.extend(body.dumps);
            record.user += time;
            add_records(&mut record.children, body.records);
        }
        if record.user > wall {
            let factor = wall.as_secs_f64() / record.user.as_secs_f64();
            record.children.iter_mut().for_each(|child| child.scale(factor));
        }
        record.wall = wall;
        record.user = record.user.max(wall);
        report.records.push(record);
        report
    }
}
