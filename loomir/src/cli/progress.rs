//! The work under way as one line on the terminal, of commands that take over a second.
//!
//! A thread waits for a second, and then writes the line anew until the work ends. Nothing is
//! written unless a person looks at standard error. The line is gone before anything else is
//! printed.

use std::io::Write;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::ir::Diagnostics;
use crate::ir::pass::progress::Work;
use crate::ir::pass::{Pass, PassInstrumentation, Progress, Report, Scope};

use super::console::{Console, Stream};

/// The time before the line appears.
const SILENT: Duration = Duration::from_secs(1);

/// The time between two lines.
const BETWEEN: Duration = Duration::from_millis(120);

/// The most characters of a line, for a narrow terminal.
const WIDTH: usize = 78;

/// Goes back to the start of the line, and clears it.
const CLEAR: &str = "\r\x1b[K";

/// Returns progress that is watched if a person looks at standard error.
pub(super) fn of(console: &Console) -> Progress {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if console.is_terminal(Stream::Err) && !is_dumb { Progress::watched() } else { Progress::default() }
}

/// A line on the terminal. Dropping it removes the line.
#[must_use]
pub(super) struct Line(Option<(Sender<()>, JoinHandle<()>)>);

impl Line {
    /// Shows the work under way until the result is dropped.
    pub(super) fn show(progress: &Progress) -> Line {
        if !progress.is_watched() {
            return Line(None);
        }
        let (sender, ended) = channel::<()>();
        let progress = progress.clone();
        let thread = std::thread::spawn(move || {
            let mut wait = SILENT;
            let mut is_shown = false;
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let line = text(&progress.now());
                let written = write!(std::io::stderr().lock(), "{CLEAR}{line}");
                if written.is_err() {
                    return;
                }
                (wait, is_shown) = (BETWEEN, true);
            }
            if is_shown {
                let _ = write!(std::io::stderr().lock(), "{CLEAR}");
            }
        });
        Line(Some((sender, thread)))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            // A thread that panicked has no line to remove.
            let _ = thread.join();
        }
    }
}

/// Returns the line of some work. No character of a name controls the terminal.
fn text(work: &Work) -> String {
    let mut line = if work.pass.is_empty() { "working".to_owned() } else { work.pass.clone() };
    if let Some(number) = work.number {
        line += &format!(", function {number} of {}", work.of);
    }
    if !work.function.is_empty() {
        line += &format!(": @{}", work.function);
    }
    let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut short: String = line.chars().take(WIDTH).map(shown).collect();
    if line.chars().nth(WIDTH).is_some() {
        short.pop();
        short.push('…');
    }
    short
}

/// Says of each pass that it begins.
pub(super) struct Begins(pub(super) Progress);

impl PassInstrumentation for Begins {
    fn around(
        &self,
        pass: &dyn Pass,
        scope: &mut Scope<'_>,
        report: &mut Report,
        run: &mut crate::ir::pass::instrumentation::RunPass<'_>,
    ) -> Result<(), Diagnostics> {
        self.0.begin(pass.name(), scope.body(), scope.body().root());
        run(pass, scope, report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_short_and_harmless() {
        let work = |function: &str, number| Work {
            pass: "loop-fusion".to_owned(),
            function: function.to_owned(),
            number,
            of: 12,
        };
        assert_eq!(text(&work("f", Some(3))), "loop-fusion, function 3 of 12: @f");
        assert_eq!(text(&work("", None)), "loop-fusion");
        assert_eq!(text(&work("a\x1b[2Jb\n", None)), "loop-fusion: @a\u{fffd}[2Jb\u{fffd}");
        let long = text(&work(&"é".repeat(200), Some(3)));
        assert_eq!((long.chars().count(), long.chars().last()), (WIDTH, Some('…')));
    }
}
