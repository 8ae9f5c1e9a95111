//! MLIR's own tests of passes, beside `mlir-opt`: `theirs FOLDER [SUITE]`, where FOLDER is a copy
//! of `mlir/test`.

use std::path::Path;
use std::process::ExitCode;

use loomir_tests::peers::Peer;
use loomir_tests::theirs::{SUITES, Tally, run};

pub(crate) fn main() -> ExitCode {
    let mut arguments = crate::arguments();
    let (Some(folder), Some(peer)) = (arguments.next(), Peer::find("mlir-opt")) else {
        eprintln!("needs a copy of mlir/test, and LLVM's folder in LOOMIR_LLVM");
        return ExitCode::from(2);
    };
    let wanted = arguments.next();
    for suite in SUITES.iter().filter(|suite| wanted.as_deref().is_none_or(|wanted| wanted == suite.name)) {
        match run(suite, Path::new(&folder), &peer) {
            Ok((Tally { equal, different, foreign, not_accepted }, differences)) => {
                differences.iter().for_each(|difference| println!("{difference}"));
                let name = suite.name;
                eprintln!(
                    "{name}: equal={equal} different={different} foreign={foreign} not_accepted={not_accepted}"
                );
            }
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
