//! Each transformation preserves the behaviour of random programs.

use loomir::dialects::interp::Limits;
use loomir_tests::behaviour::same_behaviour;
use loomir_tests::check::Checker;
use loomir_tests::parts::in_parts;
use loomir_tests::transformations::{Tally, run};

#[test]
fn transformed_programs_do_the_same() {
    let parts = in_parts(0, 24, |first, count| {
        let mut tally = Tally::default();
        run(3, (first, count), &mut tally).unwrap_or_else(|error| panic!("{error}"));
        tally
    });
    let sum = |of: fn(&Tally) -> usize| parts.iter().map(of).sum::<usize>();
    assert!(sum(|own| own.compared) > sum(|own| own.skipped) && sum(|own| own.changed) > 150, "{parts:?}");
}

/// Morton order keeps all distances up to two rows and two columns, at sizes from 1 to 9. It is
/// allowed if no distance is negative in a loop.
#[test]
fn morton_order_keeps_dependences() {
    let checker = Checker::default();
    let distances: Vec<(i64, i64)> =
        (0..=2).flat_map(|rows| (-2..=2).map(move |columns| (rows, columns))).collect();
    for rows in 1..=9_i64 {
        for columns in [1, 3, 4, 8, 9_i64] {
            let text: String = distances.iter().map(|own| grid((rows, columns), *own)).collect();
            let before = checker.read(&text).unwrap_or_else(|error| panic!("{}", checker.lines(&error)));
            let done = checker.transformed("builtin.module(func.func(loop-morton))", &text);
            let (after, said) = done.unwrap_or_else(|error| panic!("{}", checker.lines(&error)));
            let said = checker.lines(&said);
            for (number, distance) in distances.iter().enumerate() {
                let entry = format!("grid{}", name(*distance));
                let arguments = vec!["iota".to_owned()];
                let same = same_behaviour(&before, &after, &entry, &[arguments], &Limits::default());
                same.unwrap_or_else(|error| panic!("{rows} x {columns}, {number}: {error}"));
                let is_refused = said.contains(&format!("[{entry}]: Loops not run in Morton order"));
                assert!(
                    !is_refused || distance.1 < 0 || rows.max(columns) <= 2,
                    "{rows} x {columns}: {said}"
                );
            }
        }
    }
}

/// Hilbert order keeps all distances up to two rows and two columns, at sizes from 1 to 9, of one
/// level to three. With squares that have all iterations, it is allowed if and only if no iteration
/// depends on another one.
#[test]
fn hilbert_order_keeps_dependences() {
    let checker = Checker::default();
    let distances: Vec<(i64, i64)> =
        (0..=2).flat_map(|rows| (-2..=2).map(move |columns| (rows, columns))).collect();
    let sizes = (1..=9_i64).flat_map(|rows| [1, 2, 3, 4, 8, 9_i64].map(move |columns| (rows, columns)));
    for ((rows, columns), levels) in sizes.flat_map(|sizes| (1..=3).map(move |levels| (sizes, levels))) {
        let text: String = distances.iter().map(|own| grid((rows, columns), *own)).collect();
        let before = checker.read(&text).unwrap_or_else(|error| panic!("{}", checker.lines(&error)));
        let pipeline = format!("builtin.module(func.func(loop-hilbert{{levels={levels}}}))");
        let done = checker.transformed(&pipeline, &text);
        let (after, said) = done.unwrap_or_else(|error| panic!("{}", checker.lines(&error)));
        let said = checker.lines(&said);
        for distance in &distances {
            let entry = format!("grid{}", name(*distance));
            let same =
                same_behaviour(&before, &after, &entry, &[vec!["iota".to_owned()]], &Limits::default());
            same.unwrap_or_else(|error| panic!("{rows} x {columns}, {levels}, {distance:?}: {error}"));
            let is_done = said.contains(&format!("[{entry}]: Loops run in Hilbert order"));
            // The first iterations are in one square; the distance is between two of them.
            let needed = |trips: i64| (64 - (trips - 1).leading_zeros()).min(levels);
            let size = 1 << needed(rows).min(needed(columns));
            let is_carried =
                *distance != (0, 0) && distance.0 < rows.min(size) && distance.1.abs() < columns.min(size);
            let is_whole = rows.max(columns) <= size;
            if rows.min(columns) > 1 {
                assert!(!(is_done && is_carried), "{rows} x {columns}, {levels}, {distance:?}: {said}");
                assert!(is_done || is_carried || !is_whole, "{rows} x {columns}, {levels}: {said}");
            }
        }
    }
}

/// Hilbert order runs each iteration once, in squares of all sizes, full or cut short, in loops of
/// all kinds.
#[test]
fn hilbert_order_runs_each_iteration_once() {
    let checker = Checker::default();
    for levels in 1..=8_u32 {
        let size = 1_i64 << levels;
        for [rows, columns] in [[size, size], [size + 1, size]] {
            let bounds = format!("{rows} {columns}");
            let text = ["index", "i32", "affine"].map(|kind| updates(kind, [rows, columns])).concat();
            let before = checker.read(&text).unwrap_or_else(|error| panic!("{}", checker.lines(&error)));
            let pipeline = format!("builtin.module(func.func(loop-hilbert{{levels={levels}}}))");
            let done = checker.transformed(&pipeline, &text);
            let (after, said) = done.unwrap_or_else(|error| panic!("{}", checker.lines(&error)));
            let said = checker.lines(&said);
            assert_eq!(said.matches("Loops run in Hilbert order").count(), 3, "{levels}, {bounds}: {said}");
            for entry in ["index", "i32", "affine"] {
                let calls = [vec!["iota".to_owned()]];
                let same = same_behaviour(&before, &after, entry, &calls, &Limits::default());
                same.unwrap_or_else(|error| panic!("{levels}, {bounds}, {entry}: {error}"));
            }
        }
    }
}

/// Returns a function that adds a number of each iteration to its element.
fn updates(kind: &str, [rows, columns]: [i64; 2]) -> String {
    let ty = if kind == "i32" { "i32" } else { "index" };
    let cast = |name: &str| match kind {
        "i32" => format!("%{name}.at = arith.index_cast %{name} : i32 to index\n"),
        _ => format!("%{name}.at = arith.addi %{name}, %zero : index\n"),
    };
    let loops = match kind {
        "affine" => format!("affine.for %i = 0 to {rows} {{\naffine.for %j = 0 to {columns} {{\n"),
        _ => format!(
            "scf.for %i = %c0 to %rows step %c1 : {ty} {{\nscf.for %j = %c0 to %columns step %c1 : {ty} {{\n"
        ),
    };
    format!(
        "func.func @{kind}(%a: memref<{rows}x{columns}xi32>) {{
           %zero = arith.constant 0 : index
           %c0 = arith.constant 0 : {ty}
           %c1 = arith.constant 1 : {ty}
           %rows = arith.constant {rows} : {ty}
           %columns = arith.constant {columns} : {ty}
           {loops}{}{}
               %k = arith.muli %i.at, %j.at : index
               %l = arith.addi %k, %i.at : index
               %m = arith.index_cast %l : index to i32
               %x = memref.load %a[%i.at, %j.at] : memref<{rows}x{columns}xi32>
               %y = arith.addi %x, %m : i32
               memref.store %y, %a[%i.at, %j.at] : memref<{rows}x{columns}xi32>
             }}
           }}
           return
         }}\n",
        cast("i"),
        cast("j"),
    )
}

/// Tiles of sizes that are arguments keep all distances up to two rows and two columns, with sizes
/// from -1 to 9. They are allowed if and only if no distance is negative in a tiled loop. What is
/// refused is wrong for some sizes.
#[test]
fn tiles_of_any_size_keep_dependences() {
    let checker = Checker::default();
    let (rows, columns) = (7, 6);
    let calls = calls();
    for distance in (0..=2).flat_map(|down| (-2..=2).map(move |right| (down, right))) {
        for tiled in [[true, true], [false, true], [true, false]] {
            let text = sized_grid((rows, columns), distance);
            let before = checker.read(&text).unwrap_or_else(|error| panic!("{}", checker.lines(&error)));
            let [first, second] =
                [1, 2].map(|at| if tiled[at - 1] { format!("arg{at}") } else { "0".to_owned() });
            let pipeline = format!("builtin.module(func.func(loop-tile-by{{sizes={first},{second}}}))");
            let done = checker.transformed(&pipeline, &text);
            let (after, said) = done.unwrap_or_else(|error| panic!("{}", checker.lines(&error)));
            let said = checker.lines(&said);
            let is_legal = distance.1 >= 0 || distance.0 == 0 || !tiled[1];
            assert_eq!(said.contains("Loops tiled by"), is_legal, "{distance:?}, {tiled:?}: {said}");
            let same = same_behaviour(&before, &after, "grid", &calls, &Limits::default());
            same.unwrap_or_else(|error| panic!("{distance:?}, {tiled:?}: {error}"));
        }
    }
}

/// Full tiles in loops of their own, and partial ones behind them, do the same for all trip counts
/// from -1 to 9 and sizes from 1 to 4.
#[test]
fn separate_tiles_do_the_same() {
    let checker = Checker::default();
    let text = "func.func @grid(%a: memref<13x13xi32>, %n: index, %m: index) {
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %c2 = arith.constant 2 : index
           scf.for %i = %c0 to %n step %c1 {
             scf.for %j = %c0 to %m step %c1 {
               %k = arith.addi %i, %c1 : index
               %l = arith.addi %j, %c2 : index
               %x = memref.load %a[%i, %j] : memref<13x13xi32>
               %y = memref.load %a[%k, %l] : memref<13x13xi32>
               %z = arith.subi %y, %x : i32
               memref.store %z, %a[%k, %l] : memref<13x13xi32>
             }
           }
           return
         }\n";
    let before = checker.read(text).unwrap_or_else(|error| panic!("{}", checker.lines(&error)));
    let calls = calls();
    let sizes = (1..=4).flat_map(|s| (1..=4).map(move |t| (s, t)));
    let all = sizes.flat_map(|sizes| ["true", "all"].map(|how| (sizes, how)));
    // With larger tiles inside of partial ones, the solver reaches its limit, and nothing is tiled.
    for ((s, t), how) in all.filter(|((_, t), how)| *t <= 2 || *how == "true") {
        let pipeline = format!("builtin.module(func.func(loop-tile{{tile-sizes={s},{t} separate={how}}}))");
        let done = checker.transformed(&pipeline, text);
        let (after, said) = done.unwrap_or_else(|error| panic!("{}", checker.lines(&error)));
        assert!(checker.lines(&said).contains("full tiles apart"), "{}", checker.lines(&said));
        let same = same_behaviour(&before, &after, "grid", &calls, &Limits::default());
        same.unwrap_or_else(|error| panic!("{s} x {t}, {how}: {error}"));
    }
}

/// Returns the arguments of calls with each two numbers from -1 to 9.
fn calls() -> Vec<Vec<String>> {
    let all = (-1..=9).flat_map(|first| (-1..=9).map(move |second| (first, second)));
    all.map(|(first, second)| vec!["iota".to_owned(), first.to_string(), second.to_string()]).collect()
}

/// Returns a function in which each element needs the one at a distance, and two arguments are
/// sizes.
fn sized_grid((rows, columns): (i64, i64), (down, right): (i64, i64)) -> String {
    format!(
        "func.func @grid(%a: memref<13x13xi32>, %s: index, %t: index) {{
           %c1 = arith.constant 1 : index
           %c2 = arith.constant 2 : index
           %up = arith.constant {} : index
           %left = arith.constant {} : index
           %n = arith.constant {} : index
           %m = arith.constant {} : index
           scf.for %i = %c2 to %n step %c1 {{
             scf.for %j = %c2 to %m step %c1 {{
               %k = arith.addi %i, %up : index
               %l = arith.addi %j, %left : index
               %x = memref.load %a[%k, %l] : memref<13x13xi32>
               %y = memref.load %a[%i, %j] : memref<13x13xi32>
               %z = arith.subi %y, %x : i32
               memref.store %z, %a[%i, %j] : memref<13x13xi32>
             }}
           }}
           return
         }}\n",
        -down,
        -right,
        rows + 2,
        columns + 2
    )
}

/// Returns a function in which each element needs the one at a distance.
fn grid((rows, columns): (i64, i64), (down, right): (i64, i64)) -> String {
    format!(
        "func.func @grid{}(%a: memref<13x13xi32>) {{
           affine.for %i = 2 to {} {{
             affine.for %j = 2 to {} {{
               %x = affine.load %a[%i - {down}, %j + {}] : memref<13x13xi32>
               %y = affine.load %a[%i, %j] : memref<13x13xi32>
               %z = arith.subi %y, %x : i32
               affine.store %z, %a[%i, %j] : memref<13x13xi32>
             }}
           }}
           return
         }}\n",
        name((down, right)),
        rows + 2,
        columns + 2,
        -right
    )
}

/// Returns a distance as a part of a name.
fn name((down, right): (i64, i64)) -> String {
    format!("_{down}_{}", right + 2)
}
