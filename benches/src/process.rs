//! The cost of a command as a process: processor time of all its threads, and the most memory it
//! had.
//!
//! The system counts both for children that have ended, memory as the largest of them all. So each
//! command is run by a process of its own, which is this one again, called with `FLAG`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::resource::{Usage, UsageWho, getrusage};

/// The argument in front of a command to measure.
const FLAG: &str = "--measure-command";

/// Time and memory that a process used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cost {
    /// Processor time, the system's on its behalf included.
    pub time: Duration,
    /// The most memory that was resident, in bytes.
    pub memory: u64,
}

/// Returns what `command` (the program and its arguments) used; `None` if it can't be run or fails.
pub fn cost(command: &[&str]) -> Option<Cost> {
    let helper = std::env::current_exe().ok()?;
    let output = Command::new(helper).arg(FLAG).args(command).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut numbers = text.split_whitespace().map(str::parse);
    let (Some(Ok(microseconds)), Some(Ok(memory))) = (numbers.next(), numbers.next()) else { return None };
    Some(Cost { time: Duration::from_micros(microseconds), memory })
}

/// The command of this workspace, built beside the benchmark.
pub fn own_command() -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    own.ancestors().nth(2).map(|folder| folder.join("loomir")).unwrap_or_default()
}

/// The least time, in seconds, that a command takes in so many runs with a program, given by what
/// its file's name ends with and its text; what it writes is lost.
pub fn least(command: &Path, words: &[&str], (ending, text): (&str, &str), runs: usize) -> Option<f64> {
    let input = std::env::temp_dir().join(format!("loomir-bench-{}.{ending}", std::process::id()));
    std::fs::write(&input, text).ok()?;
    let (command, file) = (command.display().to_string(), input.display().to_string());
    let all: Vec<&str> = [&[command.as_str()], words, &[&file, "-o", "/dev/null"]].concat();
    let costs = (0..runs).filter_map(|_| cost(&all)).map(|cost| cost.time.as_secs_f64());
    let least = costs.reduce(f64::min);
    let _ = std::fs::remove_file(&input);
    least
}

/// Runs the command that follows `FLAG` among the arguments and prints what it used. Returns
/// whether there was one: then this process is done.
#[allow(clippy::print_stdout)]
pub fn measured_command() -> bool {
    let mut arguments = std::env::args().skip_while(|argument| argument != FLAG).skip(1);
    let Some(program) = arguments.next() else { return false };
    let status = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if let (Ok(true), Ok(usage)) =
        (status.map(|status| status.success()), getrusage(UsageWho::RUSAGE_CHILDREN))
    {
        println!("{} {}", processor_time(&usage).as_micros(), usage.max_rss() as u64 * 1024);
    }
    true
}

fn processor_time(usage: &Usage) -> Duration {
    let both = [usage.user_time(), usage.system_time()];
    both.iter().map(|t| Duration::from_micros(t.tv_sec() as u64 * 1_000_000 + t.tv_usec() as u64)).sum()
}
