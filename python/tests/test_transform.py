"""Modules are rewritten, fused, explained, compared and run."""

import unittest

import loomir
from loomir import InsertionPoint, Pattern
from programs import CHAIN, REVERSED, SQUARE


def double_once(operation):
    """Writes x * x as x + x, which is wrong for most x."""
    new = InsertionPoint.before(operation).create("arith.addi", operation.operands)
    operation.replace_with(new)
    return True


class Passes(unittest.TestCase):
    def test_passes_of_loomir_and_of_python_run_in_turn(self):
        module = loomir.parse(SQUARE)
        names = []
        module.run("canonicalize", lambda own: names.extend(op.name for op in own.walk()), "cse")
        self.assertIn("arith.muli", names)

    def test_a_pattern_rewrites(self):
        module = loomir.parse(SQUARE)
        count = loomir.apply_patterns(module, [Pattern("arith.muli", double_once)])
        self.assertEqual((count, module.interpret("square", 5).results), (1, [10]))

    def test_a_pattern_that_matches_for_ever_is_stopped(self):
        module = loomir.parse(SQUARE)
        again = Pattern("arith.muli", lambda own: own.set_attribute("mark", "unit") or True)
        with self.assertRaisesRegex(loomir.Error, "still match after 4 rounds"):
            loomir.apply_patterns(module, [again], max_rounds=4)

    def test_a_failed_run_changes_nothing(self):
        module = loomir.parse(SQUARE)
        text = str(module)

        def spoil(own):
            product = own.function("square").body.operations[0]
            product.set_operand(0, product.result)

        with self.assertRaisesRegex(loomir.Error, "does not dominate"):
            module.run("canonicalize", spoil)
        self.assertEqual(str(module), text)
        with self.assertRaises(ZeroDivisionError):
            module.run("canonicalize", lambda own: 1 // 0)
        self.assertEqual(str(module), text)

    def test_a_pass_that_is_unknown_is_named(self):
        with self.assertRaisesRegex(loomir.Error, "no-such-pass"):
            loomir.parse(SQUARE).run("no-such-pass")

    def test_a_schedule_interchanges(self):
        module = loomir.parse(
            """func.func @f(%a: memref<8x8xf32>, %x: f32) {
              affine.for %i = 0 to 8 {
                affine.for %j = 0 to 8 { affine.store %x, %a[%j, %i] : memref<8x8xf32> }
              } {loomir.name = "columns"}
              return
            }"""
        )
        module.schedule(
            """module attributes {transform.with_named_sequence} {
              transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
                %loop = loomir.find name "columns" in %root : (!transform.any_op) -> !transform.any_op
                %new:2 = loomir.interchange %loop permutation [1, 0]
                  : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
                transform.yield
              }
            }"""
        )
        self.assertIn("affine.store %arg1, %arg0[%arg2, %arg3]", str(module))


class Fusion(unittest.TestCase):
    def test_loops_are_fused(self):
        module = loomir.parse(CHAIN, "chain.mlir")
        done = module.fuse(alias="distinct")
        self.assertEqual((done.fused, done.refused), (1, 0))
        self.assertEqual(str(module).count("affine.for"), 1)
        fused = [own for own in done.remarks if own.kind == "passed"]
        self.assertEqual(fused[0].location.file, "chain.mlir")

    def test_a_refusal_has_a_witness_with_fields(self):
        module = loomir.parse(REVERSED)
        text = str(module)
        (refused,) = [
            own for own in module.explain(alias="distinct", max_shift=0) if own.kind == "missed"
        ]
        self.assertEqual((refused.pass_name, refused.function), ("loop-fusion", "reversed"))
        self.assertEqual(len(refused.notes), 3)
        (witness,) = refused.witnesses
        self.assertEqual(
            (witness.kind, witness.is_certain, witness.memref), ("order", True, "argument #1")
        )
        self.assertEqual(
            (witness.element, witness.first.iteration, witness.second.iteration), ((7,), (7,), (0,))
        )
        self.assertEqual((witness.first.writes, witness.second.operation), (True, "affine.load"))
        self.assertEqual(str(module), text)

    def test_optimize_keeps_the_meaning(self):
        before = loomir.parse(CHAIN)
        after = before.clone()
        after.optimize(alias="distinct")
        self.assertEqual(loomir.check(before, after, distinct=True).answer, "equal")

    def test_options_that_do_not_exist_are_refused(self):
        module = loomir.parse(CHAIN)
        for wrong in [
            {"alias": "never"},
            {"cost": "guess"},
            {"max_shift": -1},
            {"analyses": {"a": "b"}},
        ]:
            with self.assertRaises(loomir.Error):
                module.fuse(**wrong)
        with self.assertRaises(TypeError):
            module.fuse(alais="may")


class Comparing(unittest.TestCase):
    def test_a_difference_comes_with_an_input(self):
        before, after = loomir.parse(SQUARE), loomir.parse(SQUARE)
        loomir.apply_patterns(after, [Pattern("arith.muli", double_once)])
        compared = loomir.check(before, after)
        self.assertEqual((compared.answer, compared.is_equal), ("different", False))
        example = compared.functions[0].counterexample
        results = [
            own.interpret("square", *example.arguments).results[0] for own in (before, after)
        ]
        self.assertEqual([example.before, example.after], [str(own) for own in results])

    def test_the_iteration_that_goes_wrong_is_named(self):
        before = loomir.parse(CHAIN)
        after = loomir.parse(CHAIN.replace("arith.addf %0, %0", "arith.mulf %0, %0"))
        example = loomir.check(before, after).functions[0].counterexample
        self.assertEqual(example.written_after.operation, "affine.store")
        self.assertEqual(len(example.written_after.iteration), 1)

    def test_a_missing_function_is_named(self):
        with self.assertRaisesRegex(loomir.Error, "no symbol `@other`"):
            loomir.check(loomir.parse(SQUARE), loomir.parse(SQUARE), function="other")

    def test_a_lowered_program_is_compared(self):
        before, after = loomir.parse(SQUARE), loomir.parse(SQUARE)
        after.run("lower-to-llvm")
        self.assertEqual(loomir.check(before, after).answer, "equal")


class Running(unittest.TestCase):
    def test_the_interpreter_returns_values(self):
        module = loomir.parse(CHAIN)
        outcome = module.interpret("chain", [float(own) for own in range(8)], "zeros")
        self.assertEqual(outcome.buffers[1], [2.0 * own * own for own in range(8)])
        self.assertIn("argument 1:", str(outcome))

    def test_sizes_come_from_the_argument(self):
        text = """func.func @size(%x: memref<?x?xi64>) -> (index, index, i64) {
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %0 = memref.dim %x, %c0 : memref<?x?xi64>
          %1 = memref.dim %x, %c1 : memref<?x?xi64>
          %2 = memref.load %x[%c1, %c0] : memref<?x?xi64>
          return %0, %1, %2 : index, index, i64
        }"""
        outcome = loomir.parse(text).interpret("size", [[1, 2, 3], [-4, 5, 6]])
        self.assertEqual(outcome.results, [2, 3, -4])
        self.assertEqual(outcome.buffers[0], [[1, 2, 3], [-4, 5, 6]])

    def test_undefined_behaviour_is_reported_with_its_place(self):
        text = "func.func @f(%x: i32, %y: i32) -> i32 {\n  %0 = arith.divsi %x, %y : i32\n  return %0 : i32\n}"
        with self.assertRaises(loomir.Error) as caught:
            loomir.parse(text, "f.mlir").interpret("f", 1, 0)
        self.assertEqual(caught.exception.diagnostics[0].location.line, 2)
        self.assertIn("--> f.mlir:2:8", str(caught.exception))

    def test_a_run_that_does_not_end_is_stopped(self):
        text = "func.func @f() {\n  cf.br ^a\n^a:\n  cf.br ^a\n}"
        with self.assertRaisesRegex(loomir.Error, "step limit"):
            loomir.parse(text).interpret("f", max_steps=1000)


if __name__ == "__main__":
    unittest.main()
