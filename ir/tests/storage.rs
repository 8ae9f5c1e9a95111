//! The arena against a model: random edits, and after each the use lists, block order and handles
//! say what a plain list of operations says.

use loomir_ir::{Block, Body, Context, Loc, Op, OperationState, Registry, Type, Value};

/// A deterministic stream of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % n.max(1) as u64) as usize
    }
}

/// One operation as the model knows it.
struct Known {
    op: Op,
    operands: Vec<Value>,
}

fn empty_module(ctx: &Context) -> (Body, Block) {
    let mut body = Body::new(ctx, OperationState::new(ctx, "test.module", Loc::UNKNOWN).regions(1));
    let region = body.region(body.root(), 0);
    let block = body.append_block(region, &[Type::I32, Type::I32]);
    (body, block)
}

fn check(body: &Body, block: Block, model: &[Known]) {
    let order: Vec<Op> = body.ops(block).collect();
    assert_eq!(order, model.iter().map(|k| k.op).collect::<Vec<_>>(), "operations in order");
    for pair in order.windows(2) {
        assert!(body.is_before_in_block(pair[0], pair[1]) && !body.is_before_in_block(pair[1], pair[0]));
        assert_eq!((body.next_op(pair[0]), body.prev_op(pair[1])), (Some(pair[1]), Some(pair[0])));
    }
    let mut uses: Vec<(Value, Op, usize)> = Vec::new();
    for known in model {
        assert_eq!(body.operands(known.op).collect::<Vec<_>>(), known.operands, "operands of {:?}", known.op);
        uses.extend(known.operands.iter().enumerate().map(|(i, v)| (*v, known.op, i)));
    }
    let values = body.arguments(block).chain(order.iter().flat_map(|op| body.results(*op)));
    for value in values {
        let mut expected: Vec<_> =
            uses.iter().filter(|(v, ..)| *v == value).map(|(_, op, i)| (*op, *i)).collect();
        let mut found: Vec<_> = body.uses(value).map(|u| (u.op, u.index)).collect();
        expected.sort_by_key(|(op, i)| (op.index(), *i));
        found.sort_by_key(|(op, i)| (op.index(), *i));
        assert_eq!(found, expected, "uses of {value:?}");
        assert_eq!(body.is_used(value), !expected.is_empty());
        assert_eq!(body.has_one_use(value), expected.len() == 1);
    }
}

#[test]
fn random_edits_leave_lists_and_order_whole() {
    let ctx = Context::new(Registry::new());
    for seed in 0..40 {
        let mut random = Random(seed);
        let (mut body, block) = empty_module(&ctx);
        let mut model: Vec<Known> = Vec::new();
        for _ in 0..120 {
            let values: Vec<Value> =
                body.arguments(block).chain(model.iter().flat_map(|k| body.results(k.op))).collect();
            let pick = random.below(model.len());
            match random.below(6) {
                0..=2 => {
                    let operands: Vec<Value> =
                        (0..random.below(12)).map(|_| values[random.below(values.len())]).collect();
                    let types = vec![Type::I32; random.below(4)];
                    let state = OperationState::new(&ctx, "test.op", Loc::UNKNOWN);
                    let op = body.create(state.operands(&operands).results(&types));
                    let at = random.below(model.len() + 1);
                    match model.get(at) {
                        Some(next) => body.insert_before(next.op, op),
                        None => body.append_op(block, op),
                    }
                    model.insert(at, Known { op, operands });
                }
                3 if !model.is_empty() && !body.has_used_results(model[pick].op) => {
                    body.erase(model.remove(pick).op);
                }
                4 if !model.is_empty() => {
                    let to = random.below(model.len());
                    let known = model.remove(pick);
                    body.detach(known.op);
                    match model.get(to) {
                        Some(next) => body.insert_before(next.op, known.op),
                        None => body.append_op(block, known.op),
                    }
                    let to = to.min(model.len());
                    model.insert(to, known);
                }
                5 if !values.is_empty() => {
                    let (from, to) = (values[random.below(values.len())], values[random.below(values.len())]);
                    body.replace_all_uses(from, to);
                    for known in &mut model {
                        for operand in &mut known.operands {
                            if *operand == from {
                                *operand = to;
                            }
                        }
                    }
                }
                _ => {}
            }
            check(&body, block, &model);
        }
    }
}

#[test]
fn insertion_at_one_place_keeps_the_order_without_running_out_of_numbers() {
    let ctx = Context::new(Registry::new());
    let (mut body, block) = empty_module(&ctx);
    let new = |body: &mut Body| body.create(OperationState::new(&ctx, "test.op", Loc::UNKNOWN));
    let last = new(&mut body);
    body.append_op(block, last);
    let mut expected = vec![last];
    for i in 0..5000 {
        let op = new(&mut body);
        if i % 2 == 0 {
            body.prepend_op(block, op);
            expected.insert(0, op);
        } else {
            body.insert_before(last, op);
            expected.insert(expected.len() - 1, op);
        }
    }
    assert_eq!(body.ops(block).collect::<Vec<_>>(), expected);
    assert!(expected.windows(2).all(|pair| body.is_before_in_block(pair[0], pair[1])));
}

#[test]
fn erasing_a_nest_frees_everything_in_it() {
    let ctx = Context::new(Registry::new());
    let (mut body, block) = empty_module(&ctx);
    let before = (body.num_op_slots(), body.num_value_slots(), body.num_block_slots());
    let mut slots = None;
    for _ in 0..10 {
        let outer = body.create(OperationState::new(&ctx, "test.outer", Loc::UNKNOWN).regions(2));
        body.append_op(block, outer);
        for region in body.own_regions(outer) {
            let first = body.append_block(region, &[Type::INDEX]);
            let second = body.append_block(region, &[]);
            let argument = body.argument(first, 0);
            let state = OperationState::new(&ctx, "test.use", Loc::UNKNOWN).operands(&[argument]);
            let user = body.create(state.results(&[Type::I1]));
            body.append_op(first, user);
            let result = body.result(user, 0);
            let branch = OperationState::new(&ctx, "test.branch", Loc::UNKNOWN);
            let branch = body.create(branch.operands(&[result]).successors(&[second, second]));
            body.append_op(first, branch);
            assert_eq!(body.predecessors(second).count(), 2);
        }
        assert_eq!(body.all_ops().count(), 5);
        assert_eq!(body.postorder(body.root()).len(), 6);
        body.erase(outer);
        assert_eq!(body.all_ops().count(), 0);
        let now = (body.num_op_slots(), body.num_value_slots(), body.num_block_slots());
        assert_eq!(*slots.get_or_insert(now), now, "slots are used again");
    }
    assert!(slots.is_some_and(|slots| slots.0 > before.0));
}

#[test]
fn an_isolated_operation_owns_an_arena() {
    loomir_ir::dialect! {
        /// One operation that owns an arena.
        pub OWNER = "owner" {}

        /// Isolated from above, with one region.
        FnOp = "fn" {
            regions { body: Any }
            traits [IsolatedFromAbove]
        }
    }
    let mut registry = Registry::new();
    registry.dialect(&OWNER);
    let ctx = Context::new(registry);
    let (mut body, block) = empty_module(&ctx);
    let op = body.create(OperationState::of(&ctx, FnOp::DEF, Loc::UNKNOWN));
    body.append_op(block, op);
    body.set_attr(op, "sym_name", ctx.string_attr("f"));

    // The shell lives in the child: changing it there is seen from outside, and the other way
    // round.
    let nested = body.nested_mut(op).expect("a body of its own");
    assert_eq!(nested.attr(nested.root(), "sym_name"), Some(ctx.string_attr("f")));
    nested.set_attr(nested.root(), "sym_name", ctx.string_attr("g"));
    assert_eq!(body.attr(op, "sym_name"), Some(ctx.string_attr("g")));
    assert_eq!(body.op_ref(op).regions().len(), 1);
    assert_eq!(body.own_regions(op).len(), 0);
    assert!(body.take_nested(op).is_some());
    assert_eq!(body.ops(block).count(), 0);
}
