//! End-to-end tests of contraction: a comparison with MLIR's scalar replacement, and the temporary
//! of the MLP.

use loomir::ir::text::{SPLIT_MARKER, split_source};
use loomir::{AliasMode, ContractionOptions, FuseOptions};
use loomir_tests::behaviour::{inputs, same_behaviour};
use loomir_tests::generate::generate;
use loomir_tests::peers::Peer;
use loomir_tests::random::Random;

/// Returns the program after contraction.
fn contracted(text: &str) -> String {
    let ctx = loomir::context();
    let mut module =
        loomir::parse(&ctx, text, "input.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    loomir::contract(&mut module, &ContractionOptions::default());
    loomir::print(&module)
}

/// Returns the number of loads of one element.
fn loads(text: &str) -> usize {
    text.matches("affine.load ").count() + text.matches("memref.load ").count()
}

/// Returns, for each of these programs, the number of loads of one element after MLIR's scalar
/// replacement and after contraction.
fn compare(peer: &Peer, programs: &[String]) -> Vec<(usize, usize)> {
    let replaced = peer
        .run(&programs.join("\n// -----\n"), &["--split-input-file", "--affine-scalrep", "-o", "-"])
        .unwrap_or_else(|e| panic!("mlir-opt: {e}"));
    let replaced: Vec<&str> = replaced.split("// -----").collect();
    assert_eq!(replaced.len(), programs.len());
    programs.iter().zip(replaced).map(|(text, theirs)| (loads(theirs), loads(&contracted(text)))).collect()
}

#[test]
fn as_many_loads_go_as_with_affine_scalrep() {
    let Some(peer) = Peer::find("mlir-opt") else { return };
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/contraction");
    let mut programs = Vec::new();
    for file in std::fs::read_dir(folder).expect("the fixtures are there").flatten().map(|entry| entry.path())
    {
        if file.extension().is_some_and(|extension| extension == "mlir") {
            let source = std::fs::read_to_string(file).expect("a fixture can be read");
            programs
                .extend(split_source(&source, SPLIT_MARKER).into_iter().map(|chunk| chunk.text.to_owned()));
        }
    }
    let fixtures = programs.len();
    programs.extend((0..200).map(|index| generate(&mut Random::of_case(9, index)).to_mlir().mlir));
    let counts = compare(&peer, &programs);
    for ((theirs, ours), text) in counts.iter().zip(&programs) {
        assert!(ours <= theirs, "{theirs} loads are left by affine-scalrep, {ours} by contraction:\n{text}");
    }
    let fewer = |counts: &[(usize, usize)]| counts.iter().filter(|(theirs, ours)| ours < theirs).count();
    assert!(fewer(&counts[..fixtures]) >= 5 && fewer(&counts[fixtures..]) >= 20, "{counts:?}");
}

/// Returns the MLP with the array between its layers allocated in the function.
fn mlp(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("inputs").join(name);
    let text = std::fs::read_to_string(path).expect("the input is there");
    let (before, after) = text.split_once("%arg3: memref<64x256xf32>, ").expect("it is the fourth argument");
    let (signature, body) = after.split_once("{\n").expect("a body begins");
    format!("{before}{signature}{{\n    %arg3 = memref.alloc() : memref<64x256xf32>\n{body}")
}

#[test]
fn the_temporary_of_the_mlp_is_one_element() {
    for name in ["mlp.affine.mlir", "mlp.scf.mlir"] {
        let ctx = loomir::context();
        let source = mlp(name);
        let read = || loomir::parse(&ctx, &source, name).unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
        let (before, mut after) = (read(), read());
        loomir::fuse(&mut after, &FuseOptions { alias: AliasMode::Distinct, ..FuseOptions::default() });
        let report = loomir::contract(&mut after, &ContractionOptions::default());
        let mut calls = inputs(&before, "mlp_layer", &mut Random::new(1)).unwrap_or_default();
        calls.truncate(1);
        let agreement = same_behaviour(&before, &after, "mlp_layer", &calls, &Default::default());
        assert_eq!(agreement.map(|a| a.compared), Ok(1));
        let text = loomir::print(&after);
        assert!(text.contains("memref.alloc() : memref<f32>"), "{text}");
        let remarks: String =
            report.remarks.to_text(&ctx).lines().map(|line| format!("// {line}\n")).collect();
        let mut settings = insta::Settings::clone_current();
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.bind(|| insta::assert_snapshot!(format!("{name}.contracted"), text + &remarks));
    }
}
