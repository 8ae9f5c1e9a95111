//! Cases in parts, at the same time.

/// Works on `count` cases from `first` on, in as many parts as there are cores. `work` gets the
/// first case of a part and their number. Returns the results in order.
///
/// ```
/// # use loomir_tests::parts::in_parts;
/// let sums = in_parts(3, 10, |first, count| (first..first + count).sum::<u64>());
/// assert_eq!(sums.into_iter().sum::<u64>(), (3..13).sum::<u64>());
/// ```
///
/// # Panics
/// If `work` does.
pub fn in_parts<T: Send>(first: u64, count: u64, work: impl Fn(u64, u64) -> T + Sync) -> Vec<T> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let starts: Vec<u64> = (0..=cores).map(|part| first + count * part / cores).collect();
    std::thread::scope(|scope| {
        let work = &work;
        let parts: Vec<_> = starts
            .windows(2)
            .map(|part| (part[0], part[1] - part[0]))
            .map(|(at, count)| scope.spawn(move || work(at, count)))
            .collect();
        parts
            .into_iter()
            .map(|part| part.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)))
            .collect()
    })
}
