#!/usr/bin/env python3
"""LLVM's own tests of loop fusion: pairs that `opt` fuses, beside those that `loomir fuse` does.

    LOOMIR_LLVM=/usr/lib/llvm-22 benches/native/fusion_tests.py PATH/TO/loomir FOLDER

FOLDER is llvm/test/Transforms/LoopFusion of LLVM's sources. `opt` runs with the options of each
test's first RUN line. Functions that `opt` leaves are listed only if loomir fuses more.

Prints, for each function that either fuses, the number of fused pairs; then the functions that
neither fuses and about which neither `loomir fuse` nor `loomir explain` has a remark; and at the end
the functions in which loomir fuses fewer, with its remarks about them.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys

LOOMIR, FOLDER = sys.argv[1], sys.argv[2]
OPT = os.path.join(os.environ["LOOMIR_LLVM"], "bin", "opt")


def by_opt(path):
    text = open(path).read()
    run = next((l for l in text.splitlines() if "RUN:" in l), "")
    options = re.findall(r"-loop-fusion[-\w]*=\S+", run)
    passes = re.search(r"-passes='?([^' ]+)'?", run)
    passes = passes.group(1) if passes else "loop-fusion"
    passes = f"print<loops>,{passes},print<loops>"
    out = subprocess.run(
        [OPT, "-S", path, "-o", "/dev/null", "-passes=" + passes, *options],
        capture_output=True, text=True, timeout=60,
    )
    # Loops that are gone, by function: once counted before, once after.
    loops, function = collections.defaultdict(list), None
    for line in out.stderr.splitlines():
        found = re.search(r"Loop info for function '([^']+)'", line)
        if found:
            function = found.group(1)
            loops[function].append(0)
        elif "Loop at depth" in line and function:
            loops[function][-1] += 1
    fused = collections.Counter({name: all[0] - all[-1] for name, all in loops.items()})
    return None if out.returncode else fused


def by_loomir(path):
    options = ["--remarks=json", "--fusion-profitability=always"]
    out = subprocess.run(
        [LOOMIR, "fuse", path, "-o", "/dev/null", *options],
        capture_output=True, text=True, timeout=60,
    )
    more = subprocess.run(
        [LOOMIR, "explain", path, *options], capture_output=True, text=True, timeout=60
    )
    fused, said = collections.Counter(), collections.defaultdict(list)
    for line in out.stderr.splitlines() + [l for l in more.stdout.splitlines() if "lift-cf-to-scf" in l]:
        try:
            remark = json.loads(line)
        except ValueError:
            continue
        text, name = remark.get("message", ""), remark.get("function", "?")
        if remark.get("name") == "Fused":
            fused[name] += 1
        elif remark.get("kind") in ("missed", "analysis") and text not in said[name]:
            said[name].append(text)
    return (None, out.stderr) if out.returncode else (fused, said)


def main():
    tests = equal = more = 0
    fewer, silent = [], []
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.ll"))):
        name = os.path.basename(path)
        theirs, (ours, said) = by_opt(path), by_loomir(path)
        functions = re.findall(r"^define .*?@([\w.]+)\(", open(path).read(), re.M)
        tests += len(functions)
        if theirs is None or ours is None:
            print(f"{name}: {'opt' if theirs is None else 'loomir'} refuses the file")
            if ours is None:
                fewer += [(name, function, "?", 0, [said.strip()[:200]]) for function in functions]
            continue
        for function in functions:
            a, b = theirs[function], ours[function]
            if a or b:
                print(f"{name:<40} {function:<40} opt {a} loomir {b}")
            elif not said[function]:
                silent.append(f"{name} {function}")
            equal += a == b
            more += b > a
            if b < a:
                fewer.append((name, function, a, b, said[function]))
    print(f"\n{tests} functions: {equal} alike, in {more} loomir fuses more, in {len(fewer)} fewer")
    print(f"neither fuses, and no remark of loomir: {', '.join(silent) or 'none'}")
    for name, function, a, b, said in fewer:
        print(f"{name} {function}: opt {a}, loomir {b}: {'; '.join(said) or 'no remark'}")


main()
