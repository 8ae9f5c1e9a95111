#!/usr/bin/env python3
"""The kernels of PolyBench before and after fusion: loops, verdicts of the checker, and results.

    LOOMIR_LLVM=/usr/lib/llvm-22 benches/native/polybench.py PATH/TO/loomir

Prints the rows of benches/results/polybench.md. Each file of tests/inputs/c/polybench is compiled at
several levels, fused, compiled by clang -O3, and executed beside clang -O3 of the unfused text, once
with all functions written anew, and once optimised. All bytes of all arrays must be equal.
"""
import os
import re
import subprocess
import sys
import tempfile

LLVM = os.path.join(os.environ["LOOMIR_LLVM"], "bin")
HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "..", "tests", "inputs", "c", "polybench")
SIZES = dict(re.findall(r"(\w) = (\d+)", open(os.path.join(KERNELS, "sizes.h")).read()))
# A fused product and sum would round once; results are compared to the last bit.
STRICT = ["-ffp-contract=off", "-fno-math-errno", "-w"]
PLAIN = ["-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-S", "-emit-llvm"]
LEVELS = {"-O0": ["-O0", "-Xclang", "-disable-O0-optnone"], "-O1": ["-O1"], "-O2": ["-O2"],
          "-O1, sums in memory": ["-O1", "-mllvm", "-disable-licm-promotion"]}
WAYS = [["fuse"], ["fuse", "--regenerate=all"], ["optimize"]]
# The checker does not follow variables in memory.
CLEAN = "function(sroa,simplifycfg,instcombine)"
HASH = """
static unsigned long hash(const void *p, unsigned long n) {
  const unsigned char *c = p;
  unsigned long h = 1469598103934665603ul;
  while (n--)
    h = (h ^ *c++) * 1099511628211ul;
  return h;
}
"""


def clang(*arguments):
    subprocess.run([f"{LLVM}/clang", *STRICT, *arguments], check=True)


def value(ty, number):
    if ty == "char":
        return "(char)(i * 7 % 4)"
    if ty == "int":
        return "(int)(i * 37 % 101)"
    # A heavy diagonal keeps systems solvable.
    return f"({ty})((i * 37 + {number}) % 101) / 50 + (i % {int(SIZES['N']) + 1} == 0 ? 40 : 0)"


def driver(text):
    """Returns a program that fills the arrays of each kernel, calls it, and prints their hashes."""
    sizes = ", ".join(f"{name} = {number}" for name, number in SIZES.items())
    lines, main = ["#include <stdio.h>", f"enum {{ {sizes} }};", HASH], ["int main(void) {"]
    for name, parameters in re.findall(r"^void (\w+)\(([^{]*)\) \{", text, re.M):
        prototype, call, fill, tell = [], [], [], []
        for number, parameter in enumerate(re.sub(r"\s+", " ", parameters).split(", ")):
            ty, own, sizes = re.match(r"(\w+) (\w+)(\[.*)?$", parameter).groups()
            if not sizes:
                call.append("0.25f" if ty == "float" else "1.5")
                prototype.append(f"{ty} {own}")
                continue
            array, sizes = f"{name}_{own}", sizes.replace("restrict ", "")
            lines.append(f"static {ty} {array}{sizes};")
            fill.append(f"for (int i = 0; i < (int)(sizeof {array} / sizeof({ty})); i++)")
            fill.append(f"  (({ty} *){array})[i] = {value(ty, number)};")
            tell.append(f'printf("{name} {own} %lx\\n", hash({array}, sizeof {array}));')
            call.append(array)
            prototype.append(f"{ty} {own}{sizes}")
        lines.append(f"void {name}({', '.join(prototype)});")
        main += fill + [f"{name}({', '.join(call)});"] + tell
    return "\n".join(lines + main + ["return 0;", "}"])


def results(folder, driver_path, ll):
    program = os.path.join(folder, "program")
    clang("-O3", driver_path, ll, "-o", program, "-lm")
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout


def main():
    loomir = sys.argv[1]
    run = lambda *words: subprocess.run([loomir, *words], capture_output=True, text=True)
    print("| file | level | loops | counted | fused | refused | results, fused | results, all anew | transformed | results, optimised |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    verdicts = []
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)
        for file in sorted(name for name in os.listdir(KERNELS) if name.endswith(".c")):
            source = os.path.join(KERNELS, file)
            open(at("driver.c"), "w").write(driver(open(source).read()))
            for level, flags in LEVELS.items():
                clang(*flags, *PLAIN, source, "-o", at("a.ll"))
                before = results(folder, at("driver.c"), at("a.ll"))
                equal, told = [], []
                for words in WAYS:
                    told.append(run(*words, at("a.ll"), "-o", at("b.ll")).stderr)
                    equal.append(results(folder, at("driver.c"), at("b.ll")) == before)
                found = re.search(r"(\d+) loops?, .*?(\d+) counted; (\d+) fused, (\d+) refused", told[0])
                edits = re.search(r"(\d+) transformed otherwise", told[2])
                words = ["equal" if own else "DIFFERENT" for own in equal]
                words.insert(2, edits.group(1) if edits else "0")
                print(f"| {file} | {level} | {' | '.join(found.groups())} | {' | '.join(words)} |")
                if level == "-O0":
                    clean = [f"{LLVM}/opt", "-S", f"-passes={CLEAN}", at("a.ll"), "-o", at("c.ll")]
                    subprocess.run(clean, check=True)
                    run("fuse", at("c.ll"), "-o", at("d.ll"))
                    said = run("check", at("c.ll"), at("d.ll"))
                    text = said.stdout + said.stderr
                    verdicts += re.findall(r"@(\w+) (is equal|is not decided|differs)", text)
    for name, verdict in verdicts:
        print(f"check: {name} {verdict}")


main()
