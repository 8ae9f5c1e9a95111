"""Programs go to xDSL and come back the same."""

import io
import os
import re
import unittest
from pathlib import Path

import loomir

try:
    from xdsl.context import Context
    from xdsl.dialects import get_all_dialects
    from xdsl.parser import Parser
    from xdsl.printer import Printer
    from xdsl.utils.exceptions import ParseError, VerifyException
except ImportError:
    Context = None

PROJECT = Path(os.environ.get("LOOMIR_PROJECT", Path(__file__).parents[2]))
DIALECTS = {"builtin", "func", "arith", "scf", "memref", "affine"}


def programs():
    """Yields the programs of the fixtures that have only operations of `DIALECTS`."""
    folders = ["fusion", "interchange", "contraction", "distribution", "conditionals"]
    for folder in folders:
        for path in sorted((PROJECT / "tests" / "fixtures" / folder).glob("*.mlir")):
            for number, part in enumerate(
                re.split(r"^// -----.*$", path.read_text(), flags=re.MULTILINE)
            ):
                try:
                    module = loomir.parse(part, path.name)
                except loomir.Error:
                    continue
                if {own.name.split(".")[0] for own in module.walk()} <= DIALECTS:
                    yield f"{folder}/{path.name} {number}", module


def through_xdsl(text):
    """Reads a program in xDSL, and prints it in generic form."""
    context = Context(allow_unregistered=True)
    for name, make in get_all_dialects().items():
        context.register_dialect(name, make)
    module = Parser(context, text).parse_module()
    out = io.StringIO()
    Printer(stream=out, print_generic_format=True).print_op(module)
    return out.getvalue()


@unittest.skipIf(Context is None, "no xDSL: install it with pip install xdsl")
class RoundTrip(unittest.TestCase):
    def test_programs_come_back_the_same(self):
        same, unknown, wrong = 0, [], []
        for name, module in programs():
            try:
                text = through_xdsl(module.to_mlir(generic=True))
            except NotImplementedError as error:
                unknown.append(f"{name}: {error}")
                continue
            except (ParseError, VerifyException) as error:
                # Maps with a division by a symbol, which xDSL's parser leaves out.
                (unknown if "not supported yet" in str(error) else wrong).append(f"{name}: {error}")
                continue
            back = str(module.context.parse(text))
            if back == str(module):
                same += 1
            else:
                wrong.append(f"{name}: {back}")
        self.assertEqual(wrong, [])
        self.assertGreater(same, 400)
        self.assertLess(len(unknown), 10, unknown)


if __name__ == "__main__":
    unittest.main()
