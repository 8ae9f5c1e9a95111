"""The examples and the book's chapter run, and stubs and code have the types they say."""

import doctest
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from pathlib import Path

import loomir

PROJECT = Path(os.environ.get("LOOMIR_PROJECT", Path(__file__).parents[2]))

try:
    loomir.Toolchain().path()
    HAS_CLANG = True
except loomir.Error:
    HAS_CLANG = False


def has(module):
    """True if Python has a module."""
    return (
        subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode
        == 0
    )


class Examples(unittest.TestCase):
    @unittest.skipUnless(HAS_CLANG, "no clang")
    def test_a_dialect_a_pass_and_a_fused_program_take_forty_lines(self):
        example = PROJECT / "python" / "examples" / "activation.py"
        source = example.read_text()
        self.assertLessEqual(len(source.splitlines()), 40)
        done = subprocess.run([sys.executable, example], capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        fused, *program, interpreted, compiled = done.stdout.splitlines()
        text = "\n".join(program)
        self.assertEqual((text.count("affine.for"), text.count("act.abs")), (1, 0), text)
        self.assertEqual(fused, "1 fused, equal")
        self.assertEqual([interpreted, compiled], ["[0.5, 2.0, 4.5]"] * 2)


class Book(unittest.TestCase):
    @unittest.skipUnless(HAS_CLANG, "no clang")
    def test_the_chapter_shows_what_python_prints(self):
        text = (PROJECT / "book" / "src" / "python.md").read_text()
        blocks = re.findall(
            r"^```(\S+)(?: file=(\S+))?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
        )
        self.assertTrue(blocks)
        parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
        names, before, said = {}, os.getcwd(), io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for language, file, block in blocks:
                    if file:
                        Path(file).write_text(block)
                    elif language == "python":
                        test = parser.get_doctest(block, names, "python.md", "python.md", 0)
                        with redirect_stdout(said):
                            runner.run(test, out=said.write, clear_globs=False)
                        names = test.globs
            finally:
                os.chdir(before)
        self.assertEqual(runner.failures, 0, said.getvalue())
        self.assertGreater(runner.tries, 0)


class Types(unittest.TestCase):
    @unittest.skipUnless(has("mypy"), "no mypy")
    def test_the_package_has_the_types_it_says(self):
        # Beside other installed packages, mypy would take those for part of it.
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder) / "loomir"
            shutil.copytree(Path(loomir.__file__).parent, package)
            command = [
                sys.executable,
                "-m",
                "mypy",
                "--strict",
                "--cache-dir",
                os.devnull,
                str(package),
            ]
            done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(has("mypy"), "no mypy")
    def test_the_stubs_are_those_of_the_native_module(self):
        command = [
            sys.executable,
            "-m",
            "mypy.stubtest",
            "loomir._loomir",
            "--ignore-disjoint-bases",
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
