"""Modules are read, walked, built, verified and printed."""

import unittest

import loomir
from loomir import InsertionPoint
from programs import BRANCHES, CHAIN, SQUARE


class Reading(unittest.TestCase):
    def test_a_walk_meets_everything_in_order(self):
        module = loomir.parse(CHAIN)
        names = [operation.name for operation in module.walk()]
        self.assertEqual(names[:3], ["builtin.module", "func.func", "affine.for"])
        self.assertEqual(names.count("affine.store"), 2)

    def test_an_operation_shows_its_parts(self):
        module = loomir.parse(SQUARE, "square.mlir")
        function = module.function("square")
        argument = function.body.arguments[0]
        product = function.body.operations[0]
        self.assertEqual(str(product), "%0 = arith.muli %arg0, %arg0 : i32")
        self.assertEqual(product.operands, [argument, argument])
        self.assertEqual([str(own.type) for own in product.results], ["i32"])
        self.assertEqual(product.location, ("square.mlir", 1, 42))
        self.assertEqual(product.parent, function)
        self.assertEqual(function.parent, module.operation)
        self.assertIsNone(module.operation.parent)
        self.assertEqual(argument.uses, [(product, 1), (product, 0)])
        self.assertTrue(argument.is_argument)
        self.assertEqual(product.result.uses[0][0].name, "func.return")
        self.assertEqual(function.symbol_name, "square")
        self.assertEqual(str(function.attributes["function_type"]), "(i32) -> i32")

    def test_branches_have_successors(self):
        module = loomir.parse(BRANCHES)
        region = module.function("larger").regions[0]
        entry, one, other, end = region.blocks
        self.assertEqual(entry.operations[-1].successors, [one, other])
        self.assertEqual([str(own.type) for own in end.arguments], ["i32"])
        self.assertEqual(one.region, region)

    def test_types_have_fields(self):
        context = loomir.Context()
        memref = context.type("memref<4x?xf32, strided<[?, 1], offset: 2>>")
        self.assertEqual((memref.kind, memref.shape), ("memref", [4, None]))
        self.assertEqual(memref.layout, ([None, 1], 2))
        self.assertEqual((memref.element, memref.element.width), ("f32", 32))
        self.assertEqual(context.type("ui8").signedness, "unsigned")
        inputs, results = context.type("(i32, index) -> f64").function
        self.assertEqual([*inputs, *results], ["i32", "index", "f64"])
        self.assertEqual({memref, context.type(str(memref))}, {memref})

    def test_attributes_have_values(self):
        context = loomir.Context()
        values = {
            "true": True,
            "7 : i16": 7,
            "2.5 : f32": 2.5,
            '"text"': "text",
            "@f": "f",
            "array<i64: 1, 2>": [1, 2],
            "f32": context.type("f32"),
            "affine_map<(d0) -> (d0)>": None,
        }
        for text, value in values.items():
            self.assertEqual(context.attribute(text).value, value, text)
        self.assertEqual(str(context.attribute("7 : i16").type), "i16")

    def test_llvm_ir_is_read_too(self):
        module = loomir.parse("define i32 @f(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n")
        self.assertEqual(module.function("f").name, "llvm.func")
        self.assertIn("define i32 @f", module.to_ll())


class Building(unittest.TestCase):
    def test_a_function_is_built_from_nothing(self):
        module = loomir.parse("")
        function = InsertionPoint.at_end(module.body).create(
            "func.func", attributes={"sym_name": '"double"', "function_type": "(i32) -> i32"}
        )
        block = function.regions[0].add_block(["i32"])
        end = InsertionPoint.at_end(block)
        total = end.create("arith.addi", [block.arguments[0], block.arguments[0]])
        end.create("func.return", [total])
        self.assertEqual(module.verify(), [])
        self.assertEqual(module.interpret("double", 21).results, [42])

    def test_groups_of_operands_have_sizes(self):
        module = loomir.parse(BRANCHES)
        entry = module.function("larger").regions[0].blocks[0]
        old = entry.operations[-1]
        InsertionPoint.before(old).create(
            "cf.cond_br", [old.operands[0], [], []], results=[], successors=old.successors
        )
        old.erase()
        self.assertEqual(module.verify(), [])
        self.assertEqual(module.interpret("larger", 3, 5).results, [5])

    def test_operations_are_replaced_moved_and_erased(self):
        module = loomir.parse(SQUARE)
        product = module.function("square").body.operations[0]
        zero = InsertionPoint.before(product).create(
            "arith.constant", results=["i32"], attributes={"value": "0 : i32"}
        )
        total = InsertionPoint.after(product).create("arith.addi", [product, zero])
        zero.move(InsertionPoint.before(total))
        product.result.replace_all_uses_with(total.result)
        total.set_operand(0, product.result)
        self.assertEqual(module.interpret("square", 5).results, [25])
        total.replace_with(zero)
        self.assertFalse(total.is_alive)
        product.erase()
        self.assertEqual(module.interpret("square", 5).results, [0])

    def test_attributes_are_set_and_removed(self):
        module = loomir.parse(SQUARE)
        function = module.function("square")
        function.set_attribute("count", 3)
        function.set_attribute("share", 0.5)
        function.set_attribute("is_hot", True)
        values = {name: own.value for name, own in function.attributes.items()}
        self.assertEqual((values["count"], values["share"], values["is_hot"]), (3, 0.5, True))
        function.remove_attribute("count")
        self.assertNotIn("count", function.attributes)

    def test_a_malformed_module_is_shown_in_generic_form(self):
        module = loomir.parse(SQUARE)
        product = module.function("square").body.operations[0]
        product.set_operand(0, product.result)
        self.assertIn("operand #0 does not dominate this use", str(module.verify()[0]))
        self.assertIn('"arith.muli"(%0, %arg0)', str(module))
        with self.assertRaisesRegex(loomir.Error, "dominate"):
            module.run("cse")

    def test_a_copy_is_independent(self):
        module = loomir.parse(SQUARE)
        text, copy = str(module), module.clone()
        copy.function("square").set_attribute("mark", "unit")
        self.assertEqual(str(module), text)
        self.assertNotEqual(str(copy), text)


if __name__ == "__main__":
    unittest.main()
