#!/usr/bin/env python3
"""Loops that become counted, beside those that LLVM's scalar evolution counts.

    LOOMIR_LLVM=/usr/lib/llvm-22 benches/native/raised_functions.py PATH/TO/loomir [-v] FILES

Prints the rows of benches/results/raised-functions.md. A C file is compiled at three levels, a file
of LLVM IR is taken as it is. With -v, names each function with a loop that LLVM counts and Loomir
does not, and each reason.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

LLVM = os.path.join(os.environ["LOOMIR_LLVM"], "bin")
PLAIN = ["-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-S", "-emit-llvm", "-w"]
LEVELS = {"-O0": ["-O0", "-Xclang", "-disable-O0-optnone"], "-O1": ["-O1"], "-O2": ["-O2"]}
# Code that no optimizer saw is in memory; Loomir does the same by itself.
CLEAN = "sroa,simplifycfg,instcombine,"


def run(command):
    return subprocess.run(command, capture_output=True, text=True)


def counted_by_llvm(path, level):
    """Returns the numbers of loops, and of loops with an exact count, of each function."""
    passes = (CLEAN if level == "-O0" else "") + "print<scalar-evolution>"
    told = run([f"{LLVM}/opt", "-disable-output", f"-passes=function({passes})", path]).stderr
    loops, counts = collections.Counter(), collections.Counter()
    function = None
    for line in told.splitlines():
        if found := re.match(r"Determining loop execution counts for: @(.*)", line):
            function = found[1].strip('"')
        elif re.match(r"Loop %.*: (<multiple exits> )?(backedge-taken count is|Unpredictable backedge)", line):
            loops[function] += 1
            is_known = "Unpredictable" not in line and "COULDNOTCOMPUTE" not in line
            counts[function] += is_known
    return loops, counts


class Tally:
    def __init__(self):
        self.files = self.functions = self.loops = self.llvm = self.counted = self.both = 0
        self.kept = self.accesses = self.affine = self.tested = 0
        self.reasons, self.notes = collections.Counter(), collections.Counter()

    def add(self, loomir, path, level, verbose):
        loops, llvm = counted_by_llvm(path, level)
        explained = run([loomir, "explain", "--remarks=json", path])
        if explained.returncode != 0:
            print(f"{path} is left out: {explained.stderr.splitlines()[:1]}", file=sys.stderr)
            return
        remarks = [json.loads(line) for line in explained.stdout.splitlines() if line.startswith("{")]
        own = [remark for remark in remarks if remark["pass"] == "lift-cf-to-scf"]
        others = collections.Counter(r["function"] for r in own if r["name"] != "NotAffine")
        kept = {r["function"] for r in own if r["name"] == "FunctionKept"}
        summary = run([loomir, "explain", path]).stdout.splitlines()[-2:]
        for line in summary:
            if found := re.match(r"(\d+) loops?, (\d+) on the loop tree, (\d+) counted", line):
                self.counted += int(found[3])
            if found := re.match(r"(\d+) access(?:es)? in counted loops, (\d+) affine", line):
                self.accesses, self.affine = self.accesses + int(found[1]), self.affine + int(found[2])
            if found := re.search(r"affine, (\d+) of them if a test", line):
                self.tested += int(found[1])
        self.files += 1
        self.functions += len(loops)
        self.kept += len(kept)
        for function, number in loops.items():
            counted = max(number - others[function], 0)
            self.loops += number
            self.llvm += llvm[function]
            self.both += min(counted, llvm[function])
            if counted < llvm[function]:
                why = [r["name"] for r in own if r["function"] == function and r["name"] != "NotAffine"]
                self.reasons.update(why)
                if verbose:
                    print(f"{path} {level} {function}: {counted} of {llvm[function]}: {', '.join(why)}")
        for remark in own:
            if remark["name"] == "NotAffine":
                self.notes.update(note["message"] for note in remark["notes"])
                if verbose:
                    whys = collections.Counter(note["message"] for note in remark["notes"])
                    print(f"{path} {level} {remark['function']}: {dict(whys)}")

    def row(self, name):
        share = lambda part, whole: f"{100 * part / whole:.1f} %" if whole else "-"
        print(f"| {name} | {self.functions} | {self.kept} | {self.loops} | {self.llvm} | {self.both} "
              f"| {share(self.both, self.llvm)} | {self.accesses} | {share(self.affine, self.accesses)} "
              f"| {share(self.tested, self.accesses)} |")


def main():
    arguments = sys.argv[1:]
    verbose = "-v" in arguments
    loomir, *files = [argument for argument in arguments if argument != "-v"]
    print("| input | functions with loops | opaque | loops | LLVM counts | both | share | accesses | affine | of these tested |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    tallies = collections.defaultdict(Tally)
    with tempfile.TemporaryDirectory() as folder:
        for path in files:
            if path.endswith(".ll"):
                tallies["as given"].add(loomir, path, "", verbose)
                continue
            for level, flags in LEVELS.items():
                stem = os.path.splitext(os.path.basename(path))[0]
                ll = os.path.join(folder, f"{stem}{level}.ll")
                subprocess.run([f"{LLVM}/clang", *flags, *PLAIN, path, "-o", ll], check=True)
                tallies[level].add(loomir, ll, level, verbose)
    for name, tally in tallies.items():
        tally.row(name)
        if verbose:
            print(dict(tally.reasons), dict(tally.notes))


main()
