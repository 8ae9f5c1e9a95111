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
    let text = match random.below(10) {
        0 => format!("{new}, {more} = loomir.strip_mine {loop_} size {size} : {both}"),
        1 => format!("{new}, {more} = loomir.split {loop_} at {small} : {both}"),
        2 => format!("{new}, {more} = loomir.skew {loop_} by {} : {both}", random.range(-2, 2)),
        3 => format!("{new}, {more} = loomir.interchange {loop_} permutation [1, 0] : {both}"),
        4 => format!(
            "{new}, {more}, {new}_2, {new}_3 = loomir.tile {loop_} sizes [{size}, {}] : {four}",
            2 + random.below(3)
        ),
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
