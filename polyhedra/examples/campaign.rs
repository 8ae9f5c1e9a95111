//! The brute-force campaign at any size: `cargo run --release --example campaign -- [CASES] [SEED]`.
#![allow(clippy::print_stdout, reason = "the campaign reports to the terminal")]

#[path = "../tests/campaign/mod.rs"]
mod campaign;

fn main() -> std::process::ExitCode {
    let mut numbers = std::env::args().skip(1).map(|argument| argument.parse::<u64>());
    let (Ok(cases), Ok(seed)) = (numbers.next().unwrap_or(Ok(1_000_000)), numbers.next().unwrap_or(Ok(1)))
    else {
        println!("usage: campaign [CASES] [SEED]");
        return std::process::ExitCode::from(2);
    };
    let mut report = campaign::Report::default();
    let step = (cases / 20).max(1);
    let mut done = 0;
    while done < cases {
        let count = step.min(cases - done);
        campaign::run(seed, done, count, &mut report);
        done += count;
        println!("{done} of {cases} cases, {} disagreements", report.failures.len());
    }
    println!("\nseed                                     {seed}\n{report}");
    for failure in report.failures.iter().take(20) {
        println!("{failure}");
    }
    std::process::ExitCode::from(u8::from(!report.failures.is_empty()))
}
