"""Machine code runs on arrays without a copy, and refuses what does not fit."""

import ctypes
import threading
import unittest
from array import array

import loomir
from programs import CHAIN

try:
    import numpy
except ImportError:
    numpy = None

try:
    loomir.Toolchain().path()
    HAS_CLANG = True
except loomir.Error:
    HAS_CLANG = False

NUMBERS = """
func.func @add(%a: i8, %b: i8) -> i8 { %0 = arith.addi %a, %b : i8  return %0 : i8 }
func.func @not(%a: i1) -> i1 { %c = arith.constant true  %0 = arith.xori %a, %c : i1  return %0 : i1 }
func.func @both(%a: f32, %b: f64) -> (f64, f32, i1) {
  %c = arith.constant true
  return %b, %a, %c : f64, f32, i1
}
func.func @far(%a: index) -> index { return %a : index }
"""

SCALE = """
func.func @scale(%x: memref<?x?xf64, strided<[?, ?]>>, %s: f64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?x?xf64, strided<[?, ?]>>
  %m = memref.dim %x, %c1 : memref<?x?xf64, strided<[?, ?]>>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %m step %c1 {
      %0 = memref.load %x[%i, %j] : memref<?x?xf64, strided<[?, ?]>>
      %1 = arith.mulf %0, %s : f64
      memref.store %1, %x[%i, %j] : memref<?x?xf64, strided<[?, ?]>>
    }
  }
  return
}
func.func @sum(%x: memref<3xi32>, %out: memref<i64>) {
  %zero = arith.constant 0 : i64
  %0 = affine.for %i = 0 to 3 iter_args(%s = %zero) -> (i64) {
    %1 = affine.load %x[%i] : memref<3xi32>
    %2 = arith.extsi %1 : i32 to i64
    %3 = arith.addi %s, %2 : i64
    affine.yield %3 : i64
  }
  memref.store %0, %out[] : memref<i64>
  return
}
func.func @flip(%x: memref<2xi1>) {
  %c0 = arith.constant 0 : index
  %c = arith.constant true
  %0 = memref.load %x[%c0] : memref<2xi1>
  %1 = arith.xori %0, %c : i1
  memref.store %1, %x[%c0] : memref<2xi1>
  return
}
func.func @behind(%x: memref<2xf32, strided<[1], offset: 3>>) -> f32 {
  %c1 = arith.constant 1 : index
  %0 = memref.load %x[%c1] : memref<2xf32, strided<[1], offset: 3>>
  return %0 : f32
}
"""


@unittest.skipUnless(HAS_CLANG, "no clang")
class Calling(unittest.TestCase):
    def test_numbers_go_in_and_out(self):
        code = loomir.parse(NUMBERS).compile()
        self.assertEqual(code.functions, ["add", "not", "both", "far"])
        self.assertEqual(code.add(100, 100), -56)
        self.assertEqual((code["not"](True), code["not"](0)), (False, True))
        self.assertEqual(code.both(0.5, 1e300), (1e300, 0.5, True))
        self.assertEqual(code.far(-1), -1)

    def test_numbers_that_do_not_fit_are_refused(self):
        code = loomir.parse(NUMBERS).compile()
        for arguments in [(300, 1), (1.5, 1), ("1", 1), (None, 1), (1,), (1, 2, 3), (-129, 0)]:
            with self.assertRaises(loomir.Error, msg=arguments):
                code.add(*arguments)
        for arguments in [("1", 1.0), (1.0, None), (True, 1.0), (1.0, 10**400)]:
            with self.assertRaises(loomir.Error, msg=arguments):
                code.both(*arguments)
        with self.assertRaisesRegex(AttributeError, "no compiled function `@gone`"):
            code.gone

    def test_the_fused_program_runs_on_the_memory_of_arrays(self):
        module = loomir.parse(CHAIN)
        module.fuse(alias="distinct")
        x, y = array("f", range(8)), array("f", [0] * 8)
        module.compile().chain(x, y)
        self.assertEqual(y.tolist(), [2.0 * own * own for own in range(8)])

    def test_compiled_code_and_interpreter_agree(self):
        module = loomir.parse(SCALE)
        out, numbers = array("q", [0]), array("i", [1, -2, 7])
        total = memoryview(out).cast("b").cast("q", ())
        module.compile().sum(numbers, total)
        self.assertEqual(out[0], module.interpret("sum", [1, -2, 7], 0).buffers[1])

    def test_a_constant_offset_is_behind_the_pointer(self):
        memory = array("f", [1, 2])
        self.assertEqual(loomir.parse(SCALE).compile().behind(memory), 2.0)

    def test_buffers_of_other_kinds_are_refused(self):
        code = loomir.parse(SCALE).compile()
        out = (ctypes.c_int64 * 1)()
        wrong = [
            array("f", [1, 2, 3]),
            array("i", [1, 2]),
            b"123456789012",
            [1, 2, 3],
            None,
            7,
            object(),
        ]
        for own in wrong:
            with self.assertRaises(loomir.Error, msg=own):
                code.sum(own, out)
        with self.assertRaisesRegex(loomir.Error, "argument 0 of @sum: the array has the shape"):
            code.sum(array("i", [1, 2]), out)

    def test_an_interface_that_is_none_is_refused(self):
        class Liar:
            __array_interface__ = None

        code = loomir.parse(SCALE).compile()
        interfaces = [
            {},
            {"typestr": "<i4"},
            {"typestr": "<i4", "shape": (3,), "data": None},
            {"typestr": "<i4", "shape": "abc", "data": (0, False)},
            {"typestr": "<i4", "shape": (3,), "data": (0, False)},
            {"typestr": "<i4", "shape": (3,), "data": (64, False), "strides": (1, 2)},
            {"typestr": 5, "shape": (3,), "data": (64, False)},
            {"typestr": ">i4", "shape": (3,), "data": (64, False)},
        ]
        for own in interfaces:
            Liar.__array_interface__ = own
            with self.assertRaises(loomir.Error, msg=own):
                code.sum(Liar(), Liar())

    def test_functions_that_cannot_be_called_are_refused(self):
        returns = "func.func @f() -> memref<4xf32> { %0 = memref.alloc() : memref<4xf32> return %0 : memref<4xf32> }"
        with self.assertRaisesRegex(loomir.Error, "let the function write to an argument"):
            loomir.parse(returns).compile()
        takes = "func.func @f(%v: vector<4xf32>) { return }"
        with self.assertRaisesRegex(loomir.Error, "argument 0 of @f has the type vector<4xf32>"):
            loomir.parse(takes).compile()
        mixed = loomir.parse(NUMBERS + takes).compile()
        self.assertEqual(mixed.add(1, 2), 3)
        with self.assertRaisesRegex(loomir.Error, "vector<4xf32>"):
            mixed["f"](1)
        for own in [
            "memref<*xf32>",
            "memref<4xf32, 3>",
            "memref<4xbf16>",
            "memref<4xindex, affine_map<(d0) -> (d0 floordiv 2)>>",
        ]:
            with self.assertRaises(loomir.Error, msg=own):
                loomir.parse(f"func.func @f(%x: {own}) {{ return }}").compile()
        with self.assertRaisesRegex(loomir.Error, "pointers of 'llvm.func' have no sizes"):
            loomir.parse("define void @f(ptr %x) {\n  ret void\n}\n").compile()

    def test_a_clang_that_is_missing_or_fails_is_named(self):
        module = loomir.parse(CHAIN)
        with self.assertRaisesRegex(loomir.Error, "'/no/clang' is no program"):
            module.compile(loomir.Toolchain("/no/clang"))
        with self.assertRaisesRegex(loomir.Error, "cannot compile the program"):
            module.compile(loomir.Toolchain(flags=("-no-such-flag",)))

    def test_threads_call_at_the_same_time(self):
        code = loomir.parse(CHAIN).compile()
        x = array("f", range(8))
        results = [array("f", [0] * 8) for _ in range(16)]
        threads = [threading.Thread(target=code.chain, args=(x, own)) for own in results]
        [own.start() for own in threads]
        [own.join() for own in threads]
        self.assertEqual(
            {tuple(own) for own in results}, {tuple(2.0 * own * own for own in range(8))}
        )


@unittest.skipUnless(HAS_CLANG and numpy, "no clang or no NumPy")
class WithNumPy(unittest.TestCase):
    def setUp(self):
        self.code = loomir.parse(SCALE).compile()

    def test_views_are_changed_in_place(self):
        base = numpy.arange(48.0).reshape(6, 8)
        expected = base.copy()
        expected[::2, 1::3] *= 2
        self.code.scale(base[::2, 1::3], 2.0)
        numpy.testing.assert_array_equal(base, expected)
        self.code.scale(base.T, 0.5)
        numpy.testing.assert_array_equal(base, expected * 0.5)
        self.code.scale(base[:0], 3.0)

    def test_truths_and_numbers_without_dimensions(self):
        truths, total = numpy.array([False, True]), numpy.zeros((), "int64")
        self.code.flip(truths)
        self.assertEqual(truths.tolist(), [True, True])
        self.code.sum(numpy.array([1, 2, -4], "int32"), total)
        self.assertEqual(total, -1)

    def test_what_is_only_read_may_be_read_only(self):
        numbers = numpy.array([1, 2, 3], "int32")
        numbers.flags.writeable = False
        total = numpy.zeros((), "int64")
        self.code.sum(numbers, total)
        self.assertEqual(total, 6)
        total.flags.writeable = False
        with self.assertRaisesRegex(loomir.Error, "argument 1 of @sum: the array is read-only"):
            self.code.sum(numbers, total)

    def test_arrays_that_do_not_fit_are_refused(self):
        total, numbers = numpy.zeros((), "int64"), numpy.arange(6, dtype="int32")
        wrong = {
            "float32": numpy.zeros(3, "float32"),
            r"shape \(4,\)": numpy.zeros(4, "int32"),
            r"shape \(3, 1\)": numpy.zeros((3, 1), "int32"),
            r"strides \(2,\)": numpy.arange(6, dtype="int32")[::2],
            r"strides \(-1,\)": numbers[2::-1],
            r"strides \(0,\)": numpy.broadcast_to(numbers[0], (3,)),
            "byte order": numbers[:3].astype(">i4"),
            "not aligned": numpy.frombuffer(bytearray(16), "uint8")[1:13].view("int32"),
            "elements of type object": numpy.array([1, 2, 3], object),
        }
        for text, own in wrong.items():
            with self.assertRaisesRegex(loomir.Error, text):
                self.code.sum(own, total)
        for own in [numpy.zeros((2, 3))[::-1], numpy.broadcast_to(numpy.zeros(3), (2, 3))]:
            with self.assertRaisesRegex(
                loomir.Error, "negative, or its elements overlap|read-only"
            ):
                self.code.scale(own, 1.0)
        overlapping = numpy.lib.stride_tricks.as_strided(numpy.zeros(4), (3, 2), (8, 8))
        with self.assertRaisesRegex(loomir.Error, "elements overlap"):
            self.code.scale(overlapping, 1.0)

    def test_the_interpreter_takes_arrays_too(self):
        outcome = loomir.parse(SCALE).interpret("scale", numpy.arange(4.0).reshape(2, 2), 3.0)
        self.assertEqual(outcome.buffers[0], [[0.0, 3.0], [6.0, 9.0]])


if __name__ == "__main__":
    unittest.main()
