//! Fates of operations behind a change.

use loomir_ir::body::Fate;
use loomir_ir::{Body, Context, Mapping, Op, Registry, text};

const PROGRAM: &str = r#"
    %a = "x.a"() : () -> i32
    %b = "x.b"() : () -> i32
    %p:2 = "x.pair"() : () -> (i32, i32)
    "x.use"(%a, %p#0, %p#1) : (i32, i32, i32) -> ()
    "#;

/// Returns the names of what the operations of the program are behind a change.
fn followed(change: impl FnOnce(&mut Body, &[Op])) -> Vec<String> {
    let ctx = Context::new(Registry::new());
    let mut body = text::parse(&ctx, PROGRAM, "input").expect("it reads");
    let ops: Vec<_> = body.all_ops().collect();
    body.follow(&ops);
    change(&mut body, &ops);
    let fates = body.take_followed();
    let name = |fate: Fate| match fate {
        Fate::Is(op) => body.op_ref(op).name().to_owned(),
        other => format!("{other:?}"),
    };
    fates.into_iter().map(name).collect()
}

#[test]
fn replaced_by_one_operation() {
    let found = followed(|body, ops| {
        let (old, new) = (body.result(ops[0], 0), body.result(ops[1], 0));
        body.replace_all_uses(old, new);
        body.erase(ops[0]);
    });
    assert_eq!(found, ["x.b", "x.b", "x.pair", "x.use"]);
}

#[test]
fn replaced_by_two_operations_and_erased() {
    let found = followed(|body, ops| {
        let (a, b) = (body.result(ops[0], 0), body.result(ops[1], 0));
        body.replace_all_uses(body.result(ops[2], 0), a);
        body.replace_all_uses(body.result(ops[2], 1), b);
        body.erase(ops[2]);
        body.erase(ops[3]);
    });
    assert_eq!(found, ["x.a", "x.b", "Split", "Erased"]);
}

#[test]
fn copies() {
    let found = followed(|body, ops| {
        for at in [3, 3] {
            let copy = body.copy_op(ops[at], &mut Mapping::default());
            body.insert_before(ops[3], copy);
        }
        let copy = body.copy_op(ops[1], &mut Mapping::default());
        body.insert_before(ops[1], copy);
        body.erase(ops[1]);
    });
    assert_eq!(found, ["x.a", "x.b", "x.pair", "Copied"]);
}

#[test]
fn slots_are_free_again_afterwards() {
    let ctx = Context::new(Registry::new());
    let mut body = text::parse(&ctx, PROGRAM, "input").expect("it reads");
    let ops: Vec<_> = body.all_ops().collect();
    let slots = body.num_op_slots();
    let mut turn = |follows: bool| {
        if follows {
            body.follow(&ops[..1]);
        }
        let last = body.all_ops().last().expect("there are some");
        let copy = body.copy_op(last, &mut Mapping::default());
        body.insert_before(last, copy);
        body.erase(last);
        drop(body.take_followed());
        body.num_op_slots()
    };
    assert_eq!(turn(true), slots + 1);
    assert_eq!(turn(false), slots + 1);
}
