"""Misuse raises an exception; the process never dies."""

import _thread
import gc
import random
import signal
import threading
import time
import unittest

import loomir
from loomir import InsertionPoint, Pattern
from programs import BRANCHES, CHAIN, SQUARE


class Handles(unittest.TestCase):
    def check_dead(self, operation):
        self.assertFalse(operation.is_alive)
        self.assertIn("erased", repr(operation))
        uses = [
            lambda: operation.name,
            lambda: operation.operands,
            lambda: operation.results,
            lambda: operation.attributes,
            lambda: operation.location,
            lambda: operation.block,
            lambda: operation.erase(),
            lambda: operation.set_attribute("a", "unit"),
            lambda: operation.set_operand(0, operation.operands[0]),
            lambda: InsertionPoint.before(operation).create("a.b", results=[]),
            lambda: str(operation),
        ]
        for use in uses:
            with self.assertRaisesRegex(loomir.Error, "no longer there"):
                use()

    def test_a_handle_ends_with_its_operation(self):
        module = loomir.parse(CHAIN)
        function = module.function("chain")
        loop = function.body.operations[0]
        inside = loop.body.operations
        block, argument = loop.body, loop.body.arguments[0]
        loop.erase()
        for own in [loop, *inside]:
            self.check_dead(own)
        for use in [lambda: block.operations, lambda: argument.type, lambda: argument.uses]:
            with self.assertRaises(loomir.Error):
                use()
        self.assertTrue(function.is_alive)
        function.erase()
        self.check_dead(function)

    def test_a_new_operation_is_no_old_one(self):
        module = loomir.parse(SQUARE)
        end = module.function("square").body.operations[1]
        old = InsertionPoint.before(end).create("a.b", results=["i32"])
        value = old.result
        old.erase()
        new = InsertionPoint.before(end).create("c.d", results=["i32"])
        self.assertNotEqual(old, new)
        self.check_dead(old)
        with self.assertRaises(loomir.Error):
            end.set_operand(0, value)

    def test_a_pass_ends_all_handles(self):
        module = loomir.parse(CHAIN)
        everything = list(module.walk())
        module.run("canonicalize")
        for own in everything:
            self.check_dead(own)

    def test_handles_stay_in_their_module(self):
        one, other = loomir.parse(SQUARE), loomir.parse(SQUARE)
        own, foreign = (module.function("square").body.operations[0] for module in (one, other))
        for use in [
            lambda: own.set_operand(0, foreign.result),
            lambda: own.replace_with(foreign),
            lambda: own.result.replace_all_uses_with(foreign.result),
            lambda: own.move(InsertionPoint.before(foreign)),
            lambda: InsertionPoint.before(own).create("a.b", [foreign], results=[]),
        ]:
            with self.assertRaisesRegex(loomir.Error, "another module"):
                use()

    def test_functions_do_not_share_values(self):
        module = loomir.parse(SQUARE + SQUARE.replace("@square", "@other"))
        one, other = (module.function(name).body.operations for name in ("square", "other"))
        for use in [
            lambda: one[0].set_operand(0, other[0].result),
            lambda: one[0].move(InsertionPoint.before(other[0])),
        ]:
            with self.assertRaisesRegex(loomir.Error, "function"):
                use()


class Edits(unittest.TestCase):
    def test_wrong_steps_are_refused(self):
        module = loomir.parse(BRANCHES)
        text = str(module)
        function = module.function("larger")
        entry, one, _, end = function.regions[0].blocks
        compare, branch = entry.operations
        other_type = compare.result
        steps = [
            compare.erase,
            module.operation.erase,
            lambda: module.operation.move(InsertionPoint.before(function)),
            lambda: function.move(InsertionPoint.at_end(entry)),
            lambda: function.move(InsertionPoint.before(function)),
            lambda: InsertionPoint.after(module.operation).create("a.b"),
            lambda: compare.replace_with(),
            lambda: compare.replace_with(compare),
            lambda: compare.replace_with(entry.arguments[0]),
            lambda: end.arguments[0].replace_all_uses_with(other_type),
            lambda: compare.set_operand(2, other_type),
            lambda: compare.set_attribute("a", "#"),
            lambda: compare.remove_attribute("a"),
            lambda: InsertionPoint.before(branch).create("no name"),
            lambda: InsertionPoint.before(branch).create("a.b"),
            lambda: InsertionPoint.before(branch).create("a.b", results=["i32 i32"]),
            lambda: InsertionPoint.before(branch).create("a.b", results=[], regions=1 << 40),
            lambda: InsertionPoint.before(branch).create("func.func", [other_type]),
            lambda: InsertionPoint("beside", entry).create("a.b", results=[]),
            lambda: module.function("none"),
        ]
        for number, step in enumerate(steps):
            with self.assertRaises(loomir.Error, msg=number):
                step()
            self.assertEqual(str(module), text, number)
        with self.assertRaises(ValueError):
            branch.result
        for step in [
            lambda: compare.set_attribute("a", object()),
            lambda: InsertionPoint.before(branch).create("a.b", [1], results=[]),
            lambda: InsertionPoint.before(branch).create(7, results=[]),
            lambda: compare.set_operand("0", other_type),
            lambda: loomir.parse(7),
        ]:
            with self.assertRaises(TypeError):
                step()
        for step in [
            lambda: compare.set_operand(-1, other_type),
            lambda: compare.set_operand(1 << 80, other_type),
        ]:
            with self.assertRaises(OverflowError):
                step()

    def test_random_edits_never_break_the_process(self):
        for seed in range(30):
            self.edit_at_random(random.Random(seed))

    def edit_at_random(self, choose):
        module = loomir.parse(choose.choice([CHAIN, BRANCHES, SQUARE]))
        known = list(module.walk())
        for _ in range(60):
            one, other = choose.choice(known), choose.choice(known)
            try:
                values = [
                    *one.results,
                    *(own for region in one.regions for own in region.blocks[0].arguments),
                ]
                step = choose.choice(
                    ["erase", "move", "operand", "replace", "create", "attribute", "uses"]
                )
                if step == "erase":
                    one.erase()
                elif step == "move":
                    one.move(InsertionPoint(choose.choice(["before", "after"]), other))
                elif step == "operand":
                    other.set_operand(choose.randrange(3), choose.choice(values))
                elif step == "replace":
                    other.replace_with(*values)
                elif step == "uses":
                    choose.choice(values).replace_all_uses_with(choose.choice(other.results))
                elif step == "attribute":
                    names = list(other.attributes)
                    other.remove_attribute(choose.choice(names))
                else:
                    known.append(
                        InsertionPoint.after(one).create("a.b", values, results=["i32"], regions=1)
                    )
            except (loomir.Error, IndexError):
                pass
            if choose.random() < 0.3:
                str(module)
                module.verify()
        try:
            module.run("canonicalize", "cse")
            module.fuse()
            module.to_ll()
        except loomir.Error:
            pass
        self.assertIn("module", str(module))


class Inputs(unittest.TestCase):
    def test_an_error_has_place_cause_and_way_out(self):
        with self.assertRaises(loomir.Error) as caught:
            loomir.parse(
                "func.func @f(%x: i32) {\n  arith.adi %x, %x : i32\n  return\n}", "wrong.mlir"
            )
        self.assertIn("error: ", str(caught.exception))
        self.assertIn("--> wrong.mlir:2:3", str(caught.exception))
        self.assertIn("2 |   arith.adi %x, %x : i32", str(caught.exception))
        (said,) = caught.exception.diagnostics
        self.assertEqual((said.severity, said.location.line), ("error", 2))

    def test_a_wrong_dialect_file_is_shown(self):
        with self.assertRaisesRegex(loomir.Error, "dialect1.irdl:1"):
            loomir.load_dialect("irdl.dialect @a { irdl.operation @b { irdl.operands(x: %t) } }")

    def test_deep_and_odd_texts_are_refused(self):
        deep = 100_000
        texts = [
            "{" * deep,
            "module {" * deep,
            "func.func @f() { " + "scf.execute_region { " * deep,
            '"' * deep,
            "\x00",
            "é" * 100,
            "func.func @f(%x: " + "tuple<" * deep,
        ]
        for text in texts:
            with self.assertRaises(loomir.Error):
                loomir.parse(text)
        context = loomir.Context()
        for text in ["tuple<" * deep, "", "i32 i32", "[" * deep]:
            with self.assertRaises(loomir.Error):
                context.type(text)
            with self.assertRaises(loomir.Error):
                context.attribute(text)

    def test_a_surrogate_is_no_text(self):
        with self.assertRaises(UnicodeEncodeError):
            loomir.parse("\ud800")

    def test_nests_as_deep_as_can_be_read_work(self):
        depth = 200
        text = "func.func @f(%c: i1) {" + "scf.if %c {" * depth + "}" * depth + "return }"
        module = loomir.parse(text)
        module.run("canonicalize")
        self.assertEqual(module.interpret("f", True).results, [])


class Threads(unittest.TestCase):
    def run_all(self, jobs):
        failures = []

        def guarded(job):
            try:
                job()
            except loomir.Error:
                pass
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=guarded, args=(job,)) for job in jobs]
        [own.start() for own in threads]
        [own.join() for own in threads]
        self.assertEqual(failures, [])

    def test_one_module_is_used_by_many_threads(self):
        module = loomir.parse(CHAIN)

        def work():
            for number in range(10):
                module.run("canonicalize")
                list(module.walk())
                str(module)
                module.function("chain").set_attribute("number", number)
                module.fuse()

        self.run_all([work] * 8)
        self.assertEqual(module.verify(), [])

    def test_a_module_that_changes_under_a_pass_is_kept(self):
        module = loomir.parse(CHAIN * 1)

        def spoil(own):
            own.function("chain").set_attribute("mark", "unit")

        self.run_all([lambda: module.run(spoil, "cse")] * 8)
        self.assertEqual(module.verify(), [])

    def test_modules_go_away_while_handles_stay(self):
        operation = loomir.parse(CHAIN).function("chain")
        gc.collect()
        self.assertEqual(operation.name, "func.func")

    def test_ctrl_c_interrupts_long_work(self):
        # A shell starts processes in the background with interrupts ignored.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        text = "func.func @f() {\n  cf.br ^a\n^a:\n  cf.br ^a\n}"
        module = loomir.parse(text)
        timer = threading.Timer(0.3, _thread.interrupt_main)
        timer.start()
        started = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            module.interpret("f", max_steps=200_000_000)
        timer.join()
        self.assertGreater(time.monotonic(), started)
        self.assertIn("cf.br", str(module))

    def test_a_pattern_may_erase_what_a_walk_has_not_met(self):
        module = loomir.parse(CHAIN)

        def erase_loops(function):
            loops = [own for own in function.body if own.name == "affine.for"]
            [own.erase() for own in loops]
            return bool(loops)

        self.assertEqual(loomir.apply_patterns(module, [Pattern("func.func", erase_loops)]), 1)
        self.assertNotIn("affine.for", str(module))


if __name__ == "__main__":
    unittest.main()
