//! LLVM behind feature `llvm`: accepted and refused modules, compilation and results.

// Another crate's file, whole.
#[allow(dead_code, unreachable_pub)]
#[path = "../../testing/src/peers.rs"]
mod peers;

use std::fmt::Write as _;
use std::process::Command;

use loomir_lowering::jit::{
    JitEngine, JitError, JitType, JitValue, OptLevel, Severity, memref_arguments, object_file,
    translate_to_llvm_ir, verify_module,
};

const TWICE: &str =
    "llvm.func @twice(%x: i64) -> i64 {\n  %y = llvm.add %x, %x : i64\n  llvm.return %y : i64\n}\n";

fn engine(text: &str) -> JitEngine {
    JitEngine::new(text, OptLevel::O2).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs `function` of `text` at every level; all must agree.
fn run(text: &str, function: &str, arguments: &[JitValue]) -> Vec<JitValue> {
    let at =
        |level| JitEngine::new(text, level).expect("it compiles").call(function, arguments).expect("it runs");
    let result = at(OptLevel::O0);
    for level in [OptLevel::O1, OptLevel::O2, OptLevel::O3] {
        assert_eq!(at(level), result, "{level:?}");
    }
    result
}

#[test]
fn a_valid_module_is_accepted() {
    assert_eq!(verify_module(TWICE), Ok(()));
    assert_eq!(verify_module(""), Ok(()));
    assert_eq!(verify_module("func.func private @f(memref<?xf32, strided<[2]>>)"), Ok(()));
}

#[test]
fn errors_come_back_with_their_place() {
    let syntax =
        verify_module("llvm.func @f() {\n  llvm.nonsense\n}").expect_err("there is no such operation");
    assert_eq!(syntax[0].severity, Severity::Error);
    let place = syntax[0].place.as_ref().expect("it has a place");
    assert_eq!((place.line, place.column), (2, 3));
    assert_eq!(syntax[0].to_string(), "-:2:3: error: custom op 'llvm.nonsense' is unknown");

    let twice =
        "llvm.func @f(%x: i64, %y: i32) -> i64 {\n  %z = llvm.add %x, %y : i64\n  llvm.return %z : i64\n}";
    let types = verify_module(twice).expect_err("the types differ");
    assert!(
        types[0].to_string().contains("expects different type than prior uses: 'i64' vs 'i32'"),
        "{}",
        types[0]
    );
    assert_eq!(types[0].notes.len(), 1);

    let unresolved = "llvm.func @f() {\n  llvm.call @missing() : () -> ()\n  llvm.return\n}";
    let diagnostics = verify_module(unresolved).expect_err("no such symbol");
    assert!(diagnostics[0].message.contains("'missing' does not reference a symbol"), "{}", diagnostics[0]);
}

#[test]
fn strange_text_is_an_error_not_a_crash() {
    for text in
        ["\0", "llvm.func @f() {\0}", "é", "llvm.func @\u{1F600}()", "module {", "\"", "!x = i", "\u{FEFF}"]
    {
        assert!(verify_module(text).is_err(), "{text:?}");
        assert!(matches!(JitEngine::new(text, OptLevel::O0), Err(JitError::Rejected(_))), "{text:?}");
        assert!(matches!(object_file(text, OptLevel::O0), Err(JitError::Rejected(_))), "{text:?}");
    }
}

#[test]
fn llvm_prints_the_translation() {
    let text = translate_to_llvm_ir(TWICE).expect("it translates");
    assert!(text.contains("define i64 @twice(i64 %0) {\n  %2 = add i64 %0, %0\n  ret i64 %2\n}"), "{text}");
}

#[test]
fn what_has_no_llvm_ir_is_refused() {
    let text = "func.func @f() { return }";
    assert_eq!(verify_module(text), Ok(()));
    for result in [
        translate_to_llvm_ir(text).map(drop),
        object_file(text, OptLevel::O0).map(drop),
        JitEngine::new(text, OptLevel::O0).map(drop),
    ] {
        let error = result.expect_err("func is not the llvm dialect");
        assert!(error.to_string().contains("cannot be converted to LLVM IR"), "{error}");
    }
}

#[test]
fn scalars_of_every_type_go_in_and_out() {
    for (ty, value) in [
        ("i1", JitValue::int(1, 1)),
        ("i7", JitValue::int(7, -3)),
        ("i8", JitValue::int(8, -128)),
        ("i16", JitValue::int(16, 12345)),
        ("i24", JitValue::int(24, -2)),
        ("i32", JitValue::int(32, i64::from(i32::MIN))),
        ("i48", JitValue::int(48, -1)),
        ("i64", JitValue::int(64, i64::MIN)),
        ("f32", JitValue::F32(-0.1)),
        ("f64", JitValue::F64(f64::MAX)),
        ("!llvm.ptr", JitValue::Pointer(std::ptr::dangling_mut())),
    ] {
        let text = format!("llvm.func @same(%a: i8, %x: {ty}) -> {ty} {{ llvm.return %x : {ty} }}");
        assert_eq!(run(&text, "same", &[JitValue::int(8, 0), value]), [value], "{ty}");
    }
}

#[test]
fn structs_are_taken_apart() {
    let text = "llvm.func @swap(%s: !llvm.struct<(i8, struct<(f64, i1)>)>, %a: !llvm.array<2 x i16>)
        -> !llvm.struct<(i16, f64, i8)> {
      %0 = llvm.mlir.poison : !llvm.struct<(i16, f64, i8)>
      %1 = llvm.extractvalue %s[0] : !llvm.struct<(i8, struct<(f64, i1)>)>
      %2 = llvm.extractvalue %s[1, 0] : !llvm.struct<(i8, struct<(f64, i1)>)>
      %3 = llvm.extractvalue %a[1] : !llvm.array<2 x i16>
      %4 = llvm.insertvalue %3, %0[0] : !llvm.struct<(i16, f64, i8)>
      %5 = llvm.insertvalue %2, %4[1] : !llvm.struct<(i16, f64, i8)>
      %6 = llvm.insertvalue %1, %5[2] : !llvm.struct<(i16, f64, i8)>
      llvm.return %6 : !llvm.struct<(i16, f64, i8)>
    }";
    let arguments = [
        JitValue::int(8, 5),
        JitValue::F64(2.5),
        JitValue::int(1, 0),
        JitValue::int(16, 6),
        JitValue::int(16, 7),
    ];
    assert_eq!(
        run(text, "swap", &arguments),
        [JitValue::int(16, 7), JitValue::F64(2.5), JitValue::int(8, 5)]
    );
}

#[test]
fn a_call_that_does_not_fit_is_refused() {
    let mut engine = engine(TWICE);
    assert_eq!(engine.call("thrice", &[]), Err(JitError::NoSuchFunction("thrice".into())));
    let error = engine.call("twice", &[JitValue::int(32, 1)]).expect_err("too narrow");
    assert_eq!(error.to_string(), "`twice` takes (i64), given (i32)");
    assert!(engine.call("twice", &[]).is_err());
    assert!(engine.call("twice", &[JitValue::int(64, 1); 2]).is_err());
    assert_eq!(
        engine.signature("twice").map(|signature| signature.arguments.clone()),
        Ok(vec![JitType::Int(64)])
    );
}

#[test]
fn functions_that_plain_values_do_not_reach_say_why() {
    let text = "llvm.func @vector(%x: vector<4xf32>) { llvm.return }
        llvm.func @wide(%x: i128) { llvm.return }
        llvm.func fastcc @fast() { llvm.return }
        llvm.func @extended(%x: i8 {llvm.signext}) { llvm.return }
        llvm.func @good() { llvm.return }";
    let mut shown = String::new();
    let mut engine = engine(text);
    for (name, signature) in engine.functions() {
        writeln!(shown, "{name}: {}", signature.err().unwrap_or("callable")).expect("a string takes all");
    }
    assert_eq!(
        shown,
        "vector: argument 0: type <4 x float> can't be passed as plain scalars\n\
         wide: argument 0: i128 is wider than 64 bits\n\
         fast: it has a calling convention of its own\n\
         extended: argument 0 is passed as `signext`\n\
         good: callable\n"
    );
    assert!(matches!(engine.call("fast", &[]), Err(JitError::NotCallable { .. })));
    assert_eq!(engine.call("good", &[]), Ok(vec![]));
}

#[test]
fn undefined_symbols_are_named() {
    let text = "llvm.func @surely_nowhere()
        llvm.func @unused_and_nowhere()
        llvm.mlir.global external @no_variable() : i32
        llvm.func @malloc(i64) -> !llvm.ptr
        llvm.func @f() -> !llvm.ptr {
          llvm.call @surely_nowhere() : () -> ()
          %size = llvm.mlir.constant(8 : i64) : i64
          %0 = llvm.call @malloc(%size) : (i64) -> !llvm.ptr
          %1 = llvm.mlir.addressof @no_variable : !llvm.ptr
          llvm.return %1 : !llvm.ptr
        }";
    let error = JitEngine::new(text, OptLevel::O0).expect_err("two are undefined");
    assert_eq!(error, JitError::UndefinedSymbols(vec!["surely_nowhere".into(), "no_variable".into()]));
}

#[test]
fn a_function_may_not_take_the_name_of_a_wrapper() {
    let text = "llvm.func @_mlir_f() { llvm.return } llvm.func @f() { llvm.return }";
    let error = JitEngine::new(text, OptLevel::O0).expect_err("the names clash");
    assert_eq!(error, JitError::ReservedName("_mlir_f".into()));
}

#[test]
fn globals_live_as_long_as_the_engine_and_constructors_run() {
    let text = "llvm.mlir.global internal @counter(0 : i64) : i64
        llvm.mlir.global_ctors ctors = [@start], priorities = [0 : i32], data = [#llvm.zero]
        llvm.func @start() {
          %0 = llvm.mlir.addressof @counter : !llvm.ptr
          %1 = llvm.mlir.constant(40 : i64) : i64
          llvm.store %1, %0 : i64, !llvm.ptr
          llvm.return
        }
        llvm.func @next() -> i64 {
          %0 = llvm.mlir.addressof @counter : !llvm.ptr
          %1 = llvm.load %0 : !llvm.ptr -> i64
          %2 = llvm.mlir.constant(1 : i64) : i64
          %3 = llvm.add %1, %2 : i64
          llvm.store %3, %0 : i64, !llvm.ptr
          llvm.return %3 : i64
        }";
    let mut first = engine(text);
    let mut second = engine(text);
    assert_eq!(first.call("next", &[]), Ok(vec![JitValue::int(64, 41)]));
    assert_eq!(first.call("next", &[]), Ok(vec![JitValue::int(64, 42)]));
    assert_eq!(second.call("next", &[]), Ok(vec![JitValue::int(64, 41)]));
}

#[test]
fn engines_work_side_by_side_on_threads() {
    let work = || (0..4).all(|n| run(TWICE, "twice", &[JitValue::int(64, n)]) == [JitValue::int(64, 2 * n)]);
    let good = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        threads.into_iter().all(|thread| thread.join().is_ok_and(|good| good))
    });
    assert!(good);
}

/// Compares the dense layer of `tests/inputs`, lowered by MLIR's own passes, with the same sums in
/// Rust.
#[test]
fn the_dense_layer_computes_what_rust_computes() {
    const TEXT: &str = include_str!("../../tests/inputs/mlp.llvm.mlir");
    let (rows, inner, columns) = (64usize, 128usize, 256usize);
    let wave = |n: usize| (0..n).map(|i| ((i * 7919) % 61) as f32 / 8.0 - 3.5).collect::<Vec<f32>>();
    let (mut x, mut w, mut bias) = (wave(rows * inner), wave(inner * columns), wave(columns));
    let mut expected = (vec![0.0f32; rows * columns], vec![0.0f32; rows]);
    for i in 0..rows {
        for j in 0..columns {
            let sum = (0..inner).fold(0.0f32, |sum, k| sum + x[i * inner + k] * w[k * columns + j]);
            let cell = (bias[j] + sum).max(0.0);
            expected.0[i * columns + j] = cell;
            expected.1[i] += cell;
        }
    }
    for level in [OptLevel::O0, OptLevel::O3] {
        let (mut y, mut sums) = (vec![f32::NAN; rows * columns], vec![f32::NAN; rows]);
        let [r, k, c] = [rows, inner, columns].map(|n| n as i64);
        let arguments = [
            memref_arguments(x.as_mut_ptr().cast(), 0, &[r, k], &[k, 1]),
            memref_arguments(w.as_mut_ptr().cast(), 0, &[k, c], &[c, 1]),
            memref_arguments(bias.as_mut_ptr().cast(), 0, &[c], &[1]),
            memref_arguments(y.as_mut_ptr().cast(), 0, &[r, c], &[c, 1]),
            memref_arguments(sums.as_mut_ptr().cast(), 0, &[r], &[1]),
        ]
        .concat();
        let mut engine = JitEngine::new(TEXT, level).expect("it compiles");
        assert_eq!(engine.call("mlp_layer", &arguments), Ok(vec![]));
        assert_eq!((y, sums), expected, "{level:?}");
    }
}

#[test]
fn an_object_file_links_into_a_c_program() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    for level in [OptLevel::O0, OptLevel::O3] {
        let object = object_file(TWICE, level).expect("it compiles");
        assert_eq!(object_file(TWICE, level).as_ref(), Ok(&object), "equal input, equal bytes");
        let stem = folder.join(format!("twice{}", level.number()));
        let (main, compiled) = (stem.with_extension("c"), stem.with_extension("o"));
        let source = "long long twice(long long);\nint main(void) { return (int)twice(21); }\n";
        std::fs::write(&main, source)
            .and_then(|()| std::fs::write(&compiled, object))
            .expect("the folder is there");
        let linked =
            Command::new("cc").args([&main, &compiled]).arg("-o").arg(&stem).status().expect("cc is there");
        assert!(linked.success());
        assert_eq!(Command::new(&stem).status().expect("it starts").code(), Some(42), "{level:?}");
    }
}

#[test]
fn bad_inline_assembly_and_foreign_targets_are_errors_of_code_generation() {
    let foreign =
        format!("module attributes {{llvm.target_triple = \"nonsense-unknown-none\"}} {{\n{TWICE}}}");
    let error = object_file(&foreign, OptLevel::O0).expect_err("no such target");
    assert!(matches!(error, JitError::CodeGeneration(_)), "{error}");

    let assembly = "llvm.func @f() {\n  llvm.inline_asm has_side_effects \"no such instruction\", \"\" : () -> ()\n  llvm.return\n}";
    let error = object_file(assembly, OptLevel::O0).expect_err("no such instruction");
    assert!(matches!(error, JitError::CodeGeneration(_)), "{error}");
}

/// The steps that the book's chapter on melior shows.
#[test]
fn a_melior_program_takes_the_text_and_gives_it_back() {
    use melior::Context;
    use melior::dialect::DialectRegistry;
    use melior::ir::Module;
    use melior::ir::operation::OperationLike;
    use melior::pass::{PassManager, conversion};
    use melior::utility::register_all_dialects;

    let ctx = {
        let mut own = loomir_ir::Registry::new();
        loomir_dialects::register_all(&mut own);
        loomir_ir::Context::new(own)
    };
    let read = |text: &str| {
        let read = loomir_ir::text::parse(&ctx, text, "sum.mlir");
        read.unwrap_or_else(|errors| panic!("{}", errors.to_text(&ctx)))
    };
    let source = "func.func @sum(%n: index) -> index {\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %r = scf.for %i = %c0 to %n step %c1 iter_args(%all = %c0) -> (index) {\n    %next = arith.addi %all, %i : index\n    scf.yield %next : index\n  }\n  return %r : index\n}";
    let text = loomir_ir::text::print(&read(source), &loomir_ir::text::PrintOptions::default());

    let registry = DialectRegistry::new();
    register_all_dialects(&registry);
    let context = Context::new_with_registry(&registry, false);
    let mut module = Module::parse(&context, &text).expect("MLIR reads it");
    assert!(module.as_operation().verify());
    let passes = PassManager::new(&context);
    passes.add_pass(conversion::create_scf_to_control_flow());
    passes.run(&mut module).expect("the pass succeeds");

    let back = read(&module.as_operation().to_string());
    let text = loomir_ir::text::print(&back, &loomir_ir::text::PrintOptions::default());
    assert!(text.contains("cf.cond_br") && !text.contains("scf.for"), "{text}");
}

/// A sum over 1,000 numbers, and their squares, on threads.
const THREADED: &str = "
    func.func @squares(%a: memref<1000xi64>, %b: memref<1000xi64>) -> i64 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c1000 = arith.constant 1000 : index
      %zero = arith.constant 0 : i64
      scf.parallel (%i) = (%c0) to (%c1000) step (%c1) {
        %x = memref.load %a[%i] : memref<1000xi64>
        %y = arith.muli %x, %x : i64
        memref.store %y, %b[%i] : memref<1000xi64>
        scf.reduce
      }
      %sum = scf.parallel (%i) = (%c0) to (%c1000) step (%c1) init (%zero) -> i64 {
        %x = memref.load %b[%i] : memref<1000xi64>
        scf.reduce(%x : i64) {
        ^bb0(%p: i64, %q: i64):
          %s = arith.addi %p, %q : i64
          scf.reduce.return %s : i64
        }
      }
      return %sum : i64
    }";

#[test]
fn parallel_loops_run_on_threads() {
    let mut registry = loomir_ir::Registry::new();
    loomir_dialects::register_all(&mut registry);
    loomir_lowering::register(&mut registry);
    let ctx = loomir_ir::Context::new(registry);
    let mut module = loomir_ir::text::parse(&ctx, THREADED, "threaded.mlir").expect("it reads");
    loomir_lowering::scf_to_threads::parallel_to_threads(&mut module);
    loomir_lowering::lower_to_llvm(&mut module).expect("it lowers");
    let text = loomir_ir::text::print(&module, &loomir_ir::text::PrintOptions::default());
    assert!(text.contains("GOMP_parallel"), "{text}");
    if peers::openmp().is_none() {
        return;
    }
    let mut engine = engine(&text);
    let mut numbers: Vec<i64> = (0..1000).collect();
    let mut squares = vec![0_i64; 1000];
    let arguments = [
        memref_arguments(numbers.as_mut_ptr().cast(), 0, &[1000], &[1]),
        memref_arguments(squares.as_mut_ptr().cast(), 0, &[1000], &[1]),
    ];
    let sum = engine.call("squares", &arguments.concat()).expect("it runs");
    assert_eq!(sum, [JitValue::int(64, (0..1000).map(|n| n * n).sum())]);
    assert!(squares.iter().enumerate().all(|(n, square)| *square == (n * n) as i64));
}
