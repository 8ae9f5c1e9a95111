#!/usr/bin/env python3
"""The running time of programs after Loomir and after its peers. `cargo xtask bench code` starts it.

    LOOMIR_LLVM=/usr/lib/llvm-22 benches/native/code.py PATH/TO/loomir FOLDER [OPTION...] [NAME...]

A name is that of a group (polybench, kernels, linalg) or of a kernel; without names all are
measured. Options: --runs=N (11), --small for sizes that take seconds in all, --again to measure
what is measured already. The results of each kernel are a file in FOLDER, so that a run that was
ended goes on where it was. At the end FOLDER has a table and a chart for each group.

All programs of a kernel run in turns in one process, on the same memory with the same numbers; a
time is the processor time of a call. A figure is the median of the ratios of neighbouring calls,
with its interval of 95 %. All bytes that a program leaves are compared with what clang's leaves. With
functions that may be approximate, numbers may differ in the sixth digit.
C is compiled without contraction, so that these can be equal.
"""
import ctypes
import json
import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import chart

LLVM = os.path.join(os.environ["LOOMIR_LLVM"], "bin")
HERE = os.path.dirname(os.path.abspath(__file__))
POLYBENCH = os.path.join(HERE, "..", "..", "tests", "inputs", "c", "polybench")
FLAGS = ["-O3", "-march=native", "-fno-math-errno", "-ffp-contract=off", "-w", "-fPIC"]
# The passes that loop fusion of LLVM needs before it.
FUSION = ("function(sroa,early-cse,simplifycfg,instcombine,loop-simplify,lcssa,loop(loop-rotate),"
          "indvars,loop-fusion)")
AFFINE = ("--pass-pipeline=builtin.module(func.func(convert-linalg-to-affine-loops,affine-loop-fusion,"
          "affine-scalrep,affine-loop-tile,affine-loop-invariant-code-motion,affine-loop-unroll-jam,"
          "affine-scalrep),lower-affine)")
NUMBERS = {"f32": ctypes.c_float, "float": ctypes.c_float, "f64": ctypes.c_double, "double": ctypes.c_double,
           "i8": ctypes.c_int8, "char": ctypes.c_int8, "i32": ctypes.c_int32, "int": ctypes.c_int32}
# About PolyBench's data set LARGE, halved for cubic kernels, with fewer time steps.
CUBES = dict(N=500, M=450, K=400, L=100, T=2)
SQUARES = dict(N=2100, M=1900, K=800, L=100, T=2)
SIZES = {
    **dict.fromkeys(["atax", "bicg", "gemver", "gesummv", "mvt", "trisolv", "durbin"], SQUARES),
    "doitgen": dict(N=1000, M=160, K=150, L=140, T=2), "deriche": dict(N=4096, M=2160, K=800, L=100, T=2),
    "adi": dict(N=1000, M=900, K=800, L=100, T=4), "fdtd_2d": dict(N=1000, M=1200, K=800, L=100, T=20),
    "jacobi_1d": dict(N=2000, M=900, K=800, L=100, T=500), "heat_3d": dict(N=1000, M=900, K=800, L=120, T=10),
    "jacobi_2d": dict(N=1300, M=900, K=800, L=100, T=20), "seidel_2d": dict(N=2000, M=900, K=800, L=100, T=5),
}
# Sums and products of kernels that compute more than they move.
FLOPS = {
    "gemm": lambda s: 2 * s["N"] * s["M"] * s["K"],
    "two_mm": lambda s: 2 * s["N"] * s["M"] * (s["K"] + s["L"]),
    "matmul": lambda s: 2 * 768**3,
}


class Missing(Exception):
    """A peer that is not on this machine, or that cannot compile a kernel."""


def run(*words, **options):
    try:
        return subprocess.run(words, check=True, capture_output=True, text=True, timeout=600, **options).stdout
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", "") or str(error)).strip()
        raise Missing(said.splitlines()[-1] if said else "it fails") from error


class Kernel:
    """A function, its parameters (a type and a count, or a number), and how each way makes it."""

    def __init__(self, group, name, parameters, text, sizes, by_hand=None):
        self.group, self.name, self.parameters = group, name, parameters
        self.text, self.sizes, self.by_hand = text, sizes, by_hand

    def arguments(self):
        """Returns the arguments of a call, the memory behind them, and its first contents."""
        arguments, memory = [], []
        for number, (ty, extents) in enumerate(self.parameters):
            one = NUMBERS[ty]
            if extents is None:
                arguments.append(one(0.25 if ty == "float" else 1.5))
                continue
            count = math.prod(extents)
            raw = (ctypes.c_char * (count * ctypes.sizeof(one) + 64))()
            data = (one * count).from_buffer(raw, -ctypes.addressof(raw) % 64)
            self.fill(data, count, ty, number)
            pointer = ctypes.c_void_p(ctypes.addressof(data))
            if self.group == "linalg":
                strides = [math.prod(extents[at + 1:]) for at in range(len(extents))]
                arguments += [pointer, pointer, *(ctypes.c_long(own) for own in [0, *extents, *strides])]
            else:
                arguments.append(pointer)
            memory.append(data)
        return arguments, memory, [bytes(own) for own in memory]

    def is_near(self, left, right):
        """Returns true if a kernel with approximate functions leaves nearly the same numbers."""
        if "afn" not in self.text or any(ty != "f32" for ty, _ in self.parameters):
            return False
        numbers = lambda all: (number for own in all for number in memoryview(own).cast("f"))
        return all(abs(a - b) <= 1e-5 * abs(b) for a, b in zip(numbers(left), numbers(right)))

    def fill(self, data, count, ty, number):
        if self.group == "linalg":
            period = [(i * 2654435761 + number * 97) % 1000 for i in range(1000)]
            period = [own / 997 - 0.5 if ty[0] == "f" else own % 255 - 127 for own in period]
        elif ty in ("char", "int"):
            period = [i * 7 % 4 for i in range(4)] if ty == "char" else [i * 37 % 101 for i in range(101)]
        else:
            period = [((i * 37 + number) % 101) / 50 for i in range(101)]
        one = (NUMBERS[ty] * len(period))(*period)
        whole = bytes(one) * (count // len(period) + 1)
        ctypes.memmove(data, whole, ctypes.sizeof(data))
        # A heavy diagonal keeps systems solvable.
        if self.group == "polybench" and ty in ("float", "double"):
            for at in range(0, count, self.sizes["N"] + 1):
                data[at] += 4000


def c_kernels(group, text, sizes_of, hand=None):
    head = re.findall(r"^#include <.*", text, re.M)
    helpers = re.findall(r"^static .*?^\}", text, re.M | re.S)
    for name, parameters in re.findall(r"^void (\w+)\(([^{]*)\) \{", text, re.M):
        sizes = sizes_of(name)
        found = []
        for own in re.sub(r"\s+", " ", parameters).split(", "):
            ty, extents = re.match(r"(\w+) \w+(\[.*)?$", own).groups()
            extents = extents and extents.replace("restrict ", "")
            found.append((ty, extents and [eval(e, {}, sizes) for e in re.findall(r"\[(.*?)\]", extents)]))
        body = re.compile(r"^void %s\(.*?^\}" % name, re.M | re.S)
        enum = "enum { %s };" % ", ".join(f"{own} = {number}" for own, number in sizes.items())
        own = lambda text: "\n".join([*head, enum, *helpers, body.search(text).group(0)]) + "\n"
        yield Kernel(group, name, found, own(text), sizes, hand and own(hand))


def kernels(small):
    """Yields all kernels."""
    part = 8 if small else 1
    less = lambda sizes: {own: max(number // part, 2) if own != "T" else 2 for own, number in sizes.items()}
    sizes = (lambda name: less(SIZES.get(name, CUBES))) if small else lambda name: SIZES.get(name, CUBES)
    for file in sorted(own for own in os.listdir(POLYBENCH) if own.endswith(".c")):
        yield from c_kernels("polybench", open(os.path.join(POLYBENCH, file)).read(), sizes)
    read = lambda name: open(os.path.join(HERE, "code", name)).read()
    plane = dict(H=256, W=256, P=65536) if small else dict(H=2048, W=2048, P=4194304)
    yield from c_kernels("kernels", read("kernels.c"), lambda _: plane, read("kernels_by_hand.c"))
    for file in sorted(os.listdir(os.path.join(HERE, "linalg"))):
        text = open(os.path.join(HERE, "linalg", file)).read()
        name, parameters = re.search(r"func\.func @(\w+)\((.*?)\) \{", text, re.S).groups()
        found = re.findall(r"memref<((?:\d+x)+)(\w+)>", parameters)
        found = [(ty, [int(own) for own in extents.split("x")[:-1]]) for extents, ty in found]
        yield Kernel("linalg", name, found, text, {})


class Ways:
    """The compilers. Each method makes the object of a kernel, or says why not."""

    def __init__(self, loomir, folder):
        self.loomir, self.folder = loomir, folder

    def at(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        open(self.at(name), "w").write(text)
        return self.at(name)

    def library(self, way, object):
        path = self.at(way.replace(" ", "-") + ".so")
        run(f"{LLVM}/clang", "-shared", object, "-o", path, "-lm", *(["-lmvec"] if way == "fveclib" else []))
        return path

    def of_c(self, kernel):
        source = self.write("kernel.c", kernel.text)
        object = self.at("kernel.o")
        clang = lambda source, *more: run(f"{LLVM}/clang", *FLAGS, *more, "-c", source, "-o", object)

        def fusion():
            plain = ["-Xclang", "-disable-llvm-passes", "-S", "-emit-llvm", "-o", self.at("a.ll")]
            run(f"{LLVM}/clang", *FLAGS, *plain, source)
            run(f"{LLVM}/opt", "-S", f"-passes={FUSION}", self.at("a.ll"), "-o", self.at("b.ll"))
            clang(self.at("b.ll"))

        def gcc():
            if not shutil.which("gcc"):
                raise Missing("gcc is not installed")
            run("gcc", *FLAGS, "-c", source, "-o", object)

        cc = lambda *more: run(self.loomir, "cc", *more, *FLAGS, "-c", source, "-o", object)
        ways = {
            "clang": lambda: clang(source),
            "polly": lambda: clang(source, "-mllvm", "-polly"),
            "loop-fusion": fusion,
            "gcc": gcc,
            "fuse": cc,
            "optimize": lambda: cc("--loomir-optimize"),
            "for this machine": lambda: cc("--loomir-optimize", "--loomir-machine=host"),
        }
        if kernel.by_hand:
            ways["by hand"] = lambda: clang(self.write("hand.c", kernel.by_hand))
        return ways, object

    def of_mlir(self, kernel):
        source = self.write("kernel.mlir", kernel.text)
        object, changed, ll = self.at("kernel.o"), self.at("changed.mlir"), self.at("changed.ll")
        def lowered(file, *more):
            run(self.loomir, "opt", file, "--emit=ll", "-o", ll)
            run(f"{LLVM}/clang", *FLAGS, *more, "-c", ll, "-o", object)

        def changed_by(*words):
            run(*words, source, "-o", changed)
            lowered(changed)

        def fusion():
            run(self.loomir, "opt", source, "--emit=ll", "-o", ll)
            run(f"{LLVM}/opt", "-S", f"-passes={FUSION}", ll, "-o", self.at("b.ll"))
            run(f"{LLVM}/clang", *FLAGS, "-c", self.at("b.ll"), "-o", object)

        ours = ["--alias=distinct", "--remarks=none"]
        optimize = [self.loomir, "optimize", *ours]
        # Functions that may be approximate are those of vectors with this option.
        fveclib = {"fveclib": lambda: lowered(source, "-fveclib=libmvec")}
        return {
            "clang": lambda: lowered(source),
            **(fveclib if "afn" in kernel.text else {}),
            "polly": lambda: lowered(source, "-mllvm", "-polly"),
            "loop-fusion": fusion,
            "mlir-opt": lambda: changed_by(f"{LLVM}/mlir-opt", AFFINE),
            "fuse": lambda: changed_by(self.loomir, "fuse", *ours),
            "optimize": lambda: changed_by(*optimize),
            "for this machine": lambda: changed_by(*optimize, "--machine=host"),
        }, object

    def functions(self, kernel):
        """Returns the functions of a kernel by the names of the ways, why others are missing, and how
        long each took to compile."""
        ways, object = self.of_mlir(kernel) if kernel.group == "linalg" else self.of_c(kernel)
        made, missing, seconds = {}, {}, {}
        for way, make in ways.items():
            try:
                seconds[way] = min(compiling(make) for _ in range(2))
                function = getattr(ctypes.CDLL(self.library(way, object)), kernel.name)
                function.restype = None
                made[way] = function
            except Missing as why:
                missing[way] = str(why)
        if kernel.name == "matmul":
            try:
                made["OpenBLAS"] = blas()
            except OSError:
                missing["OpenBLAS"] = "it is not installed"
        return made, missing, seconds


def compiling(make):
    """Returns the processor time of the commands that make an object, in seconds."""
    used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    before = used()
    make()
    return used() - before


def blas():
    """Returns OpenBLAS's product, with the arguments of the kernel `matmul`."""
    library = ctypes.CDLL("libopenblas.so.0")
    one, zero, n = ctypes.c_float(1), ctypes.c_float(0), ctypes.c_int(768)
    return lambda *words: library.cblas_sgemm(101, 111, 111, n, n, n, one, words[0], n, words[7], n, zero,
                                              words[14], n)


def measured(kernel, loomir, runs):
    """Returns what is known of a kernel after so many runs."""
    with tempfile.TemporaryDirectory() as folder:
        made, missing, seconds = Ways(loomir, folder).functions(kernel)
        if "clang" not in made:
            return {"group": kernel.group, "name": kernel.name, "missing": missing, "ways": {}}
        arguments, memory, first = kernel.arguments()

        def refill():
            for own, content in zip(memory, first):
                ctypes.memmove(own, content, len(content))

        left, took = {}, {way: [] for way in made}
        for way, function in made.items():
            refill()
            function(*arguments)
            left[way] = [bytes(own) for own in memory]
        for turn in range(runs):
            for way in (list(made) if turn % 2 == 0 else reversed(made)):
                refill()
                start = time.thread_time()
                made[way](*arguments)
                took[way].append(time.thread_time() - start)
    ways = {}
    for way in made:
        ratio, low, high = median([a / b for a, b in zip(took["clang"], took[way])])
        ways[way] = {"ms": statistics.median(took[way]) * 1e3, "ratio": ratio, "low": low, "high": high,
                     "same": left[way] == left["clang"] or kernel.is_near(left[way], left["clang"])}
    flops = FLOPS[kernel.name](kernel.sizes) if kernel.name in FLOPS else None
    wide = any(ty in ("double", "f64") for ty, _ in kernel.parameters)
    return {"group": kernel.group, "name": kernel.name, "runs": runs, "ways": ways, "missing": missing,
            "seconds": seconds, "bytes": sum(map(len, first)), "flops": flops, "type": "f64" if wide else "f32"}


def median(all):
    """Returns the median of some numbers, and its interval of 95 %, from their order."""
    all, reach = sorted(all), 0.98 * len(all) ** 0.5
    low, high = math.floor(len(all) / 2 - reach), math.ceil(len(all) / 2 + reach)
    return statistics.median(all), all[max(low, 0)], all[min(high, len(all) - 1)]


PEAK = """
typedef TYPE vector __attribute__((vector_size(BYTES)));
void compute(long n, TYPE *to) {
  vector a[12], x = {1}, y = {2};
  for (int k = 0; k < 12; k++) a[k] = x * (TYPE)k;
  for (long i = 0; i < n; i++) {
    asm volatile("" : "+v"(x), "+v"(y));
    for (int k = 0; k < 12; k++) a[k] = a[k] * x + y;
  }
  for (int k = 0; k < 12; k++) *to += a[k][0];
}
void move(long n, TYPE *restrict a, TYPE *restrict b, TYPE *restrict c) {
  for (long i = 0; i < n; i++) a[i] = b[i] + 3 * c[i];
}
"""


def peaks():
    """Returns the measured GFLOP/s of vectors by type, and the GB/s of a triad of 96 MiB."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for ty, word in [("f32", "float"), ("f64", "double")]:
            at = os.path.join(folder, ty)
            open(at + ".c", "w").write(PEAK.replace("TYPE", word))
            compile = lambda width: run(f"{LLVM}/clang", "-O3", "-march=native", "-ffp-contract=fast", "-shared",
                                        "-fPIC", f"-DBYTES={width}", at + ".c", "-o", at + ".so")
            try:
                width = 64
                compile(width)
            except Missing:
                width = 32
                compile(width)
            library, one, n = ctypes.CDLL(at + ".so"), NUMBERS[ty], 10**6

            def best(work, *arguments):
                took = []
                for _ in range(7):
                    start = time.thread_time()
                    work(*arguments)
                    took.append(time.thread_time() - start)
                return min(took)

            lanes = width // ctypes.sizeof(one)
            seconds = best(library.compute, ctypes.c_long(n), ctypes.byref(one()))
            found[ty] = 2 * 12 * lanes * n / seconds / 1e9
    count = 4 << 20
    a, b, c = ((ctypes.c_double * count)() for _ in range(3))
    found["GB/s"] = 3 * 8 * count / best(library.move, ctypes.c_long(count), a, b, c) / 1e9
    return found


def share(row, peak):
    """Returns the share of the measured peak that the best of our ways reaches, in words."""
    ours = [own["ms"] for way, own in row["ways"].items() if way in ("fuse", "optimize", "for this machine")]
    if not ours:
        return ""
    seconds = min(ours) / 1e3
    if row["flops"]:
        return f"{row['flops'] / seconds / 1e7 / peak[row['type']]:.0f} % of compute"
    return f"{row['bytes'] / seconds / 1e7 / peak['GB/s']:.0f} % of bandwidth"


def compile_times(rows):
    """Returns a table of the time that it takes to compile each kernel."""
    ways = ("clang", "polly", "fuse", "optimize")
    out = ["Seconds of processor time to compile it, the lesser of two:", "",
           f"| kernel | {' | '.join(ways)} | optimize to polly |", "| --- |" + " --- |" * (len(ways) + 1)]
    times = [(row["name"], [row.get("seconds", {}).get(way) for way in ways]) for row in rows]
    times = [(name, own) for name, own in times if None not in own]
    if not times:
        return []
    for name, own in times:
        out.append(f"| {name} | {' | '.join(f'{one:.2f}' for one in own)} | {own[3] / own[1]:.2f} |")
    mean = statistics.geometric_mean([own[3] / own[1] for _, own in times])
    return [*out, f"| geometric mean | | | | | {mean:.2f} |"]


def report(folder, rows, peak):
    """Writes the tables and the charts."""
    out = [f"Measured peak: {peak['f32']:.0f} GFLOP/s in f32, {peak['f64']:.0f} in f64, {peak['GB/s']:.0f} GB/s."]
    for group in dict.fromkeys(row["group"] for row in rows):
        own = [row for row in rows if row["group"] == group and row["ways"]]
        columns = [way for way in dict.fromkeys(way for row in own for way in row["ways"]) if way != "clang"]
        out += ["", f"## {group}", "", f"| kernel | clang, ms | {' | '.join(columns)} | best of ours |",
                "| --- |" + " --- |" * (len(columns) + 2)]
        for row in own:
            def cell(way):
                if way not in row["ways"]:
                    return "-"
                found = row["ways"][way]
                text = f"{found['ratio']:.2f} ({found['low']:.2f} to {found['high']:.2f})"
                return text if found["same"] else text + ", other result"
            cells = [f"{row['ways']['clang']['ms']:.2f}", *map(cell, columns), share(row, peak)]
            out.append(f"| {row['name']} | {' | '.join(cells)} |")
        means = [[row["ways"][way]["ratio"] for row in own if way in row["ways"]] for way in columns]
        cells = [f"{statistics.geometric_mean(all):.2f}" for all in means]
        out.append(f"| geometric mean | | {' | '.join(cells)} | |")
        peers = [way for way in columns if way in ("polly", "loop-fusion", "gcc", "mlir-opt", "fveclib")]
        best = [max([1.0, *(row["ways"][way]["ratio"] for way in peers if way in row["ways"])]) for row in own]
        out += ["", f"The best peer of each kernel, clang too: {statistics.geometric_mean(best):.2f}."]
        out += ["", *compile_times(own)]
        reasons = {f"{row['name']} has no {way}: {why}" for row in own for way, why in row["missing"].items()}
        out += [f"- {reason}" for reason in sorted(reasons)]
        open(os.path.join(folder, f"code-{group}.svg"), "w").write(chart.bars(group, own, columns))
    text = "\n".join(out) + "\n"
    open(os.path.join(folder, "code.md"), "w").write(text)
    print(text)


def main():
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    loomir, folder, *words = sys.argv[1:]
    options = [own for own in words if own.startswith("--")]
    names = [own for own in words if not own.startswith("--")]
    known = ("--small", "--again", "--runs=")
    if any(not own.startswith(known) for own in options):
        sys.exit(f"options are {', '.join(known)}")
    small, again = "--small" in options, "--again" in options
    runs = next((int(own[len("--runs="):]) for own in options if own.startswith("--runs=")), 11)
    os.makedirs(folder, exist_ok=True)

    def kept(name, make):
        path = os.path.join(folder, name + ".json")
        if again or not os.path.exists(path):
            found = make()
            with open(path + ".new", "w") as file:
                json.dump(found, file, indent=1)
            os.replace(path + ".new", path)
        return json.load(open(path))

    peak = kept("peak", peaks)
    rows = []
    for kernel in kernels(small):
        if names and kernel.group not in names and kernel.name not in names:
            continue
        print(f"{kernel.group}: {kernel.name}", file=sys.stderr, flush=True)
        size = "small-" if small else ""
        rows.append(kept(f"{size}{kernel.group}-{kernel.name}", lambda: measured(kernel, loomir, runs)))
    if not rows:
        sys.exit("there is no kernel and no group of this name")
    report(folder, rows, peak)


if __name__ == "__main__":
    main()
