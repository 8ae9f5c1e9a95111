//! Random schedules: each finds all loops of a program and tries one step on every loop.
//!
//! A refused step is left out. The judge refuses many, and what it lets pass must compute the same.

use std::fmt::Write;

use crate::random::Random;

const ANY: &str = "!transform.any_op";

/// Returns the text of a random schedule.
pub fn schedule(random: &mut Random) -> String {
    let mut text = format!(
        "module attributes {{transform.with_named_sequence}} {{\n  \
         transform.named_sequence @__transform_main(%root: {ANY} {{transform.readonly}}) {{\n"
    );
    for round in 0..1 + random.below(3) {
        let together = random.chance(20);
        let steps: String = match together {
            true => {
                format!("loomir.together {{\n{}{}}}\n", step("%x", "%y", random), step("%y", "%z", random))
            }
            false => step("%x", "%y", random),
        };
        let _ = write!(
            text,
            "    %l{round} = transform.structured.match interface{{LoopLikeInterface}} in %root : ({ANY}) -> {ANY}\n    \
             transform.foreach %l{round} : {ANY} {{\n    ^bb0(%each: {ANY}):\n    \
             transform.sequence %each : {ANY} failures(suppress) {{\n    ^bb0(%x: {ANY}):\n{steps}    }}\n    }}\n"
        );
        if random.chance(30) {
            let _ = writeln!(
                text,
                "    %f{round} = transform.structured.match ops{{[\"func.func\"]}} in %root : ({ANY}) -> {ANY}\n    \
                 transform.apply_cse to %f{round} : {ANY}"
            );
        }
    }
    text + "    transform.yield\n  }\n}\n"
}

/// Returns a step that transforms the loop `loop_`. It yields a loop `new`.
fn step(loop_: &str, new: &str, random: &mut Random) -> String {
    let more = format!("{new}_more");
    let small = 1 + random.below(4);
    let size = 2 + random.below(3);
    let both = format!("({ANY}) -> ({ANY}, {ANY})");
    let four = format!("({ANY}) -> ({ANY}, {ANY}, {ANY}, {ANY})");
    let text = match random.below(14) {
        0 => format!("{new}, {more} = loomir.strip_mine {loop_} size {size} : {both}"),
        1 => format!("{new}, {more} = loomir.split {loop_} at {small} : {both}"),
        2 => format!("{new}, {more} = loomir.skew {loop_} by {} : {both}", random.range(-2, 2)),
        3 => format!("{new}, {more} = loomir.interchange {loop_} permutation [1, 0] : {both}"),
        4 => format!(
            "{new}, {more}, {new}_2, {new}_3 = loomir.tile {loop_} sizes [{size}, {}] : {four}",
            2 + random.below(3)
        ),
        10 => format!(
            "{new}, {more}, {new}_2, {new}_3 = loomir.tile {loop_} sizes [{size}, {}] {{separate}} : {four}",
            2 + random.below(3)
        ),
        11 => format!(
            "{new} = loomir.morton {loop_} {{depth = {} : i64, levels = {} : i64}} : ({ANY}) -> {ANY}",
            2 + random.below(2),
            1 + random.below(2)
        ),
        13 => format!(
            "{new} = loomir.hilbert {loop_} {{levels = {} : i64}} : ({ANY}) -> {ANY}",
            1 + random.below(3)
        ),
        12 => format!("{new}, {more} = loomir.separate {loop_} depth 1 : {both}"),
        5 => format!("{new} = loomir.peel {loop_} {{first = {small} : i64}} : ({ANY}) -> {ANY}"),
        6 => format!("{new} = loomir.reverse {loop_} : ({ANY}) -> {ANY}"),
        7 => format!("{new} = transform.loop.coalesce {loop_} : ({ANY}) -> {ANY}"),
        8 => format!(
            "{new} = transform.merge_handles {loop_} : {ANY}\ntransform.loop.unroll {loop_} {{factor = {size} : i64}} : {ANY}"
        ),
        _ => format!(
            "{new} = transform.merge_handles {loop_} : {ANY}\n\
             transform.loop.unroll_and_jam {loop_} {{factor = {size} : i64}} : {ANY}"
        ),
    };
    text + "\n"
}

/// The operations that are loops for `transform.structured.match`.
const LOOPS: [&str; 5] = ["affine.for %", "scf.for %", "affine.parallel (", "scf.parallel (", "scf.forall ("];

/// Stores, before which a body is cut.
const STORES: [&str; 2] = ["affine.store %", "memref.store %"];

/// Returns a schedule of `steps` steps for a printed program, one after the other on one of its
/// loops. A step may also cut the loop at a store, or fuse it with another one.
pub fn composition(program: &str, steps: usize, random: &mut Random) -> String {
    let count = |names: &[&str]| names.iter().map(|name| program.matches(name).count()).sum::<usize>();
    let (loops, stores) = (count(&LOOPS), count(&STORES));
    let mut text = format!(
        "module attributes {{transform.with_named_sequence}} {{\n  \
         transform.named_sequence @__transform_main(%root: {ANY} {{transform.readonly}}) {{\n"
    );
    split("%l", "interface{LoopLikeInterface}", loops, &mut text);
    split("%s", "ops{[\"affine.store\", \"memref.store\"]}", stores, &mut text);
    if loops > 0 {
        let chain: String = (0..steps)
            .map(|at| {
                let (own, new) = (format!("%x{at}"), format!("%x{}", at + 1));
                match random.below(5) {
                    0 => pair(&own, &new, (loops, stores), random),
                    _ => step(&own, &new, random),
                }
            })
            .collect();
        let chain = if random.chance(40) { format!("loomir.together {{\n{chain}}}\n") } else { chain };
        let _ = write!(
            text,
            "    transform.sequence %l{} : {ANY} failures(suppress) {{\n    ^bb0(%x0: {ANY}):\n{chain}    }}\n",
            member(loops, random)
        );
    }
    text + "    transform.yield\n  }\n}\n"
}

/// Writes a handle to each of `count` operations.
fn split(name: &str, what: &str, count: usize, text: &mut String) {
    let results = vec![ANY; count].join(", ");
    if count > 0 {
        let _ = writeln!(
            text,
            "    {name}_all = transform.structured.match {what} in %root : ({ANY}) -> {ANY}\n    \
             {name}:{count} = transform.split_handle {name}_all : ({ANY}) -> ({results})"
        );
    }
}

/// Returns the end of the name of one of `count` handles.
fn member(count: usize, random: &mut Random) -> String {
    if count == 1 { String::new() } else { format!("#{}", random.below(count)) }
}

/// Returns a step with a second handle: a loop to fuse with, or a store to cut at.
fn pair(own: &str, new: &str, (loops, stores): (usize, usize), random: &mut Random) -> String {
    let (other, store) = (member(loops, random), member(stores.max(1), random));
    let text = match random.below(if stores == 0 { 2 } else { 4 }) {
        0 => format!("{new} = loomir.fuse {own} with %l{other} : ({ANY}, {ANY}) -> {ANY}"),
        1 => format!(
            "{new} = loomir.fuse {own} with %l{other} shift {} : ({ANY}, {ANY}) -> {ANY}",
            random.range(0, 2)
        ),
        2 => format!(
            "{new}, {new}_more = loomir.distribute {own} before %s{store} : ({ANY}, {ANY}) -> ({ANY}, {ANY})"
        ),
        _ => format!(
            "{new} = loomir.shift {own} from %s{store} by {} : ({ANY}, {ANY}) -> {ANY}",
            random.range(0, 2)
        ),
    };
    text + "\n"
}
