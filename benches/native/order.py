#!/usr/bin/env python3
"""Does the cost model put programs in the order in which they run? `cargo xtask bench order` asks.

    LOOMIR_LLVM=/usr/lib/llvm-22 benches/native/order.py LOOMIR VARIANTS FOLDER [--count=N]
        [--seed=N] [--runs=N] [--again] [KERNEL...]

VARIANTS is the program `tests/examples/legal_variants.rs`. It writes N (25) random legal variants
of each kernel of `code.py` and the cycles that are estimated for them. Each is compiled by
`clang -O3 -march=native` and runs in turns with the others on the same memory. Variants that become
the same instructions are one program with one time. The order of the least times is compared with
that of the cycles: Kendall's tau-b, from 1 (the same order) to -1.
Times that are closer than the noise count as equal: 3 %, or more where the times of the same
instructions differ by more. Two further numbers leave out pairs whose times are that close, and
those whose estimates are closer than 3 %: these say that nothing changes. What a kernel gave is a
file in FOLDER, and a table is printed at the end.
"""
import ctypes
import hashlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import code as kernels

# Of clang's front end, as `loomir cc` asks for it.
FRONT_END = ["-funroll-loops", "-Xclang", "-O1", "-fno-vectorize", "-fno-slp-vectorize", "-Wno-pass-failed",
             *(word for flag in ["unroll-threshold=0", "unroll-partial-threshold=0", "unroll-full-max-count=0",
                                 "unroll-max-upperbound=0", "unroll-allow-partial=false",
                                 "unroll-runtime=false", "unroll-allow-peeling=false",
                                 "disable-loop-idiom-all", "disable-licm-promotion"]
               for word in ("-mllvm", "-" + flag))]
NEAR = 1.03
# A variant that takes longer than so many seconds runs a few times.
LONG = 0.3
FEW = 3


def noise(found):
    """Returns the ratio up to which times say nothing: that of the same instructions, measured several
    times, but at least NEAR."""
    by_code = {}
    for own in found:
        by_code.setdefault(own["code"], []).append(own["alone"])
    return max([NEAR, *(max(times) / min(times) for times in by_code.values())])


def tau(pairs, near_times):
    """Returns Kendall's tau of pairs of estimated cycles and measured times: tau-b, that of pairs
    whose times are apart, and that of those whose estimates are apart too."""
    agree = differ = equal_cycles = equal_times = 0
    apart = []
    for at, (cycles, took) in enumerate(pairs):
        for other_cycles, other_took in pairs[:at]:
            by_cycles = (cycles > other_cycles) - (cycles < other_cycles)
            near = max(took, other_took) < near_times * min(took, other_took)
            by_time = 0 if near else (took > other_took) - (took < other_took)
            if max(cycles, other_cycles) >= NEAR * min(cycles, other_cycles) and by_time != 0:
                apart.append(by_cycles * by_time)
            agree += by_cycles * by_time > 0
            differ += by_cycles * by_time < 0
            equal_cycles += by_cycles == 0 and by_time != 0
            equal_times += by_time == 0 and by_cycles != 0
    known = agree + differ
    below = ((known + equal_cycles) * (known + equal_times)) ** 0.5
    of_apart = sum(apart) / len(apart) if apart else None
    return (agree - differ) / below if below else None, (agree - differ) / known if known else None, of_apart


def code_of(library):
    """Returns the instructions and constants of a library. Those with equal ones are one program."""
    parts = []
    for section in (".text", ".rodata"):
        to = library + section
        kernels.run(f"{kernels.LLVM}/llvm-objcopy", "-O", "binary", f"--only-section={section}", library, to)
        parts.append(open(to, "rb").read())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


class Kernel:
    """The variants of a kernel, measured."""

    def __init__(self, kernel, tools, options, folder):
        self.kernel, self.tools, self.options, self.folder = kernel, tools, options, folder

    def source(self):
        if self.kernel.group == "linalg":
            path = os.path.join(self.folder, "kernel.mlir")
            open(path, "w").write(self.kernel.text)
            return path
        path = os.path.join(self.folder, "kernel.c")
        open(path, "w").write(self.kernel.text)
        to = os.path.join(self.folder, "kernel.ll")
        kernels.run(f"{kernels.LLVM}/clang", *kernels.FLAGS, *FRONT_END, "-S", "-emit-llvm", path, "-o", to)
        return to

    def variants(self):
        """Returns the file, the cycles and the edits of each variant."""
        machine = os.path.join(self.folder, "machine")
        open(machine, "w").write(kernels.run(self.tools[0], "machine", "host"))
        words = [self.source(), machine, str(self.options["count"]), str(self.options["seed"]), self.folder]
        for line in kernels.run(self.tools[1], *words).splitlines():
            name, cycles, edits = line.split("\t")
            yield os.path.join(self.folder, name), float(cycles), edits

    def measured(self):
        found = []
        for path, cycles, edits in self.variants():
            library = path[:-3] + ".so"
            kernels.run(f"{kernels.LLVM}/clang", *kernels.FLAGS, "-shared", path, "-o", library, "-lm")
            function = getattr(ctypes.CDLL(library), self.kernel.name)
            function.restype = None
            found.append({"cycles": cycles, "edits": edits, "call": function, "took": [], "code": code_of(library)})
        arguments, memory, first = self.kernel.arguments()
        left = None
        for turn in range(self.options["runs"]):
            for own in found:
                if turn >= FEW and own["took"][0] > LONG:
                    continue
                for to, content in zip(memory, first):
                    ctypes.memmove(to, content, len(content))
                start = time.thread_time()
                own["call"](*arguments)
                own["took"].append(time.thread_time() - start)
                if turn == 0:
                    now = [bytes(to) for to in memory]
                    left = left or now
                    own["same"] = now == left
        least = {}
        for own in found:
            del own["call"]
            own["alone"] = min(own["took"])
            least[own["code"]] = min(least.get(own["code"], math.inf), own["alone"])
        for own in found:
            own["took"] = least[own["code"]]
        return found


def main():
    loomir, variants, folder, *words = sys.argv[1:]
    options = {"count": 25, "seed": 1, "runs": 5}
    for word in [own for own in words if own.startswith("--") and own != "--again"]:
        name, _, number = word[2:].partition("=")
        if name not in options or not number.isdigit():
            sys.exit(f"options are --again, {', '.join(f'--{own}=N' for own in options)}")
        options[name] = int(number)
    names = [own for own in words if not own.startswith("--")]
    os.makedirs(folder, exist_ok=True)
    rows = []
    for kernel in kernels.kernels(small=False):
        if names and not {kernel.name, kernel.group} & set(names):
            continue
        path = os.path.join(folder, f"{kernel.group}-{kernel.name}.json")
        if "--again" in words or not os.path.exists(path):
            print(f"{kernel.group}: {kernel.name}", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory() as own:
                try:
                    found = Kernel(kernel, (loomir, variants), options, own).measured()
                except kernels.Missing as why:
                    print(f"{kernel.name}: {why}", file=sys.stderr)
                    found = []
            json.dump(found, open(path, "w"), indent=1)
        rows.append((kernel.group, kernel.name, json.load(open(path))))
    print("| kernel | variants | noise | fastest, ms | slowest, ms | tau-b | of pairs apart | in estimates too "
          "| other results |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    taus = []
    for group, name, found in rows:
        near = noise(found)
        both = tau([(own["cycles"], own["took"]) for own in found], near)
        if both[0] is None:
            print(f"| {name} | {len(found)} | {(near - 1) * 100:.0f} % | | | | | | |")
            continue
        taus.append((both, len(found)))
        took = [own["took"] * 1e3 for own in found]
        others = sum(not own["same"] for own in found)
        last = "" if both[2] is None else f"{both[2]:.2f}"
        print(f"| {name} | {len(found)} | {(near - 1) * 100:.0f} % | {min(took):.2f} | {max(took):.2f} | {both[0]:.2f} | {both[1]:.2f} "
              f"| {last} | {others} |")
    if taus:
        count = sum(count for _, count in taus)
        columns = [[own[at] for own, _ in taus if own[at] is not None] for at in range(3)]
        medians = ", ".join(f"{statistics.median(own):.2f}" for own in columns if own)
        means = ", ".join(f"{statistics.mean(own):.2f}" for own in columns if own)
        print(f"\n{count} variants of {len(taus)} kernels. Medians of the three: {medians}. Means: {means}.")


if __name__ == "__main__":
    main()
