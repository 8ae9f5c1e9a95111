#!/usr/bin/env python3
"""The running time of programs in `linalg`: as they are, and after Loomir and its peers.

    LOOMIR_LLVM=/usr/lib/llvm-22 benches/native/linalg.py PATH/TO/loomir [RUNS [PROGRAM...]]

Prints the rows of benches/results/linalg.md. All programs become LLVM IR by `loomir opt --emit=ll`
and are compiled by `clang -O3 -march=native`; the first column is the program without any change.
They run in turns in one process, on the same numbers; a time is the processor time of the median
run. What a program leaves in its buffers is compared byte by byte with what the first one leaves.
OpenBLAS is measured for the product, if it is there.
"""
import ctypes
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

LLVM = os.path.join(os.environ["LOOMIR_LLVM"], "bin")
PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "linalg")
FLAGS = ["-O3", "-march=native", "-fno-math-errno", "-w", "-shared", "-fPIC"]
AFFINE = ("--pass-pipeline=builtin.module(func.func(convert-linalg-to-affine-loops,affine-loop-fusion,"
          "affine-scalrep,affine-loop-tile,affine-loop-invariant-code-motion,affine-loop-unroll-jam,"
          "affine-scalrep),lower-affine)")
NUMBERS = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i8": ctypes.c_int8, "i32": ctypes.c_int32}


def run(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ways(loomir):
    """Returns how each column makes a program: words for the command line, and flags for clang."""
    ours = ["--alias=distinct", "--remarks=none"]
    return {
        "clang": ([loomir, "opt"], []),
        "polly": ([loomir, "opt"], ["-mllvm", "-polly"]),
        "mlir-opt": ([f"{LLVM}/mlir-opt", AFFINE], []),
        "fuse": ([loomir, "fuse", *ours], []),
        "optimize": ([loomir, "optimize", *ours], []),
        "for this machine": ([loomir, "optimize", "--machine=host", *ours], []),
    }


def compiled(loomir, folder, source, name, number, words, flags):
    """Compiles a program after a command. Returns its function."""
    at = os.path.join(folder, str(number))
    run(*words, source, "-o", at + ".mlir")
    run(loomir, "opt", at + ".mlir", "--emit=ll", "-o", at + ".ll")
    run(f"{LLVM}/clang", *FLAGS, *flags, at + ".ll", "-o", at + ".so", "-lm")
    return getattr(ctypes.CDLL(at + ".so"), name)


def buffers(parameters):
    """Returns the arguments of a call, and the memory behind them."""
    arguments, memory = [], []
    for number, (extents, ty) in enumerate(parameters):
        count, one = math.prod(extents), NUMBERS[ty]
        raw = (ctypes.c_char * (count * ctypes.sizeof(one) + 64))()
        data = (one * count).from_buffer(raw, -ctypes.addressof(raw) % 64)
        for i in range(count):
            value = (i * 2654435761 + number * 97) % 1000
            data[i] = value / 997 - 0.5 if ty[0] == "f" else value % 255 - 127
        strides = [math.prod(extents[at + 1:]) for at in range(len(extents))]
        pointer = ctypes.c_void_p(ctypes.addressof(data))
        arguments += [pointer, pointer, *(ctypes.c_long(own) for own in [0, *extents, *strides])]
        memory.append(data)
    return arguments, memory


def measured(loomir, source, runs):
    """Returns the milliseconds of each way, and if it computes the same."""
    text = open(source).read()
    name, parameters = re.search(r"func\.func @(\w+)\((.*?)\) \{", text, re.S).groups()
    found = re.findall(r"memref<((?:\d+x)+)(\w+)>", parameters)
    parameters = [([int(own) for own in extents.split("x")[:-1]], ty) for extents, ty in found]
    with tempfile.TemporaryDirectory() as folder:
        calls = {}
        for number, (way, (words, flags)) in enumerate(ways(loomir).items()):
            function = compiled(loomir, folder, source, name, number, words, flags)
            calls[way] = (function, *buffers(parameters))
        left = {}
        for way, (function, arguments, memory) in calls.items():
            function(*arguments)
            left[way] = [bytes(own) for own in memory]
        took = {way: [] for way in calls}
        for turn in range(runs):
            for way in (list(calls) if turn % 2 == 0 else reversed(calls)):
                function, arguments, _ = calls[way]
                start = time.thread_time()
                function(*arguments)
                took[way].append(time.thread_time() - start)
    return {way: (statistics.median(took[way]) * 1e3, left[way] == left["clang"]) for way in calls}


def blas(size, runs):
    """Returns the milliseconds of OpenBLAS for a product. None if it is not installed."""
    try:
        function = ctypes.CDLL("libopenblas.so.0").cblas_sgemm
    except OSError:
        return None
    (_, (a, b, c)) = buffers([([size, size], "f32")] * 3)
    one, zero, n = ctypes.c_float(1), ctypes.c_float(0), ctypes.c_int(size)
    took = []
    for _ in range(runs):
        start = time.thread_time()
        function(101, 111, 111, n, n, n, one, a, n, b, n, zero, c, n)
        took.append(time.thread_time() - start)
    return statistics.median(took) * 1e3


def main():
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    loomir, runs, only = sys.argv[1], int((sys.argv[2:] or ["11"])[0]), sys.argv[3:]
    columns = list(ways(loomir))
    print("| program |", " | ".join(["clang, ms", *columns[1:]]), "|")
    print("| --- |", " | ".join("---" for _ in columns), "|")
    for file in sorted(os.listdir(PROGRAMS)):
        if only and file[: -len(".mlir")] not in only:
            continue
        times = measured(loomir, os.path.join(PROGRAMS, file), runs)
        base = times["clang"][0]
        cells = [f"{base:.2f}"]
        cells += [f"{base / own:.2f}{'' if same else ', other result'}" for own, same in list(times.values())[1:]]
        print(f"| {file[: -len('.mlir')]} |", " | ".join(cells), "|", flush=True)
    if not only or "matmul" in only:
        own = blas(768, runs)
        print("OpenBLAS is not installed" if own is None else f"OpenBLAS takes {own:.2f} ms for the product.")


main()
