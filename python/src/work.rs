//! Long work: on a thread of its own with a large stack, without Python's lock, until Ctrl-C.
//!
//! Work that is interrupted cannot be stopped inside. Its thread goes on and its result is
//! dropped, so nothing that Python sees depends on it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::error;

/// The stack of a thread for work, in bytes. Only what is used of it takes memory.
const STACK_SIZE: usize = 64 << 20;

/// The time between two looks for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs `f` and waits for its result.
///
/// # Errors
/// `KeyboardInterrupt`, or `loomir.Error` if there is no thread or the work panicked.
pub(crate) fn on_thread<T: Send + 'static>(
    py: Python<'_>,
    f: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = sync_channel(1);
    let job = move || {
        // Nobody may wait for the result any more.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(f)));
    };
    if thread::Builder::new().name("loomir".into()).stack_size(STACK_SIZE).spawn(job).is_err() {
        return Err(error::plain(py, "the system has no thread left for this work"));
    }
    loop {
        let received;
        (receiver, received) = py.detach(move || {
            let received = receiver.recv_timeout(PATIENCE);
            (receiver, received)
        });
        match received {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => return Err(error::defect(py)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
        }
    }
}
