#!/usr/bin/env python3
"""The running time of PolyBench's kernels: clang -O3, the same in two steps, and `loomir cc -O3`.

    LOOMIR_LLVM=/usr/lib/llvm-22 benches/native/polybench_time.py PATH/TO/loomir [RUNS [KERNEL...]]

Prints the rows of benches/results/polybench.md. With OPTIMIZE=1 in the environment it prints those
of benches/results/optimize.md: `loomir cc --loomir-optimize` beside clang, for the host's
processor. "Two steps" is the front end and the back end of
`loomir cc` without Loomir, "all anew" the same with `loomir fuse --regenerate=all --limit=0`.
Sizes are those of PolyBench's data set LARGE, halved for cubic kernels, with fewer time steps. The
programs run in turns; a ratio is the mean of the ratios of neighbouring runs, with its interval of
95 %. A kernel that Loomir does not change has clang's own object.
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile

LLVM = os.path.join(os.environ["LOOMIR_LLVM"], "bin")
HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "..", "tests", "inputs", "c", "polybench")
PLAN = open(os.path.join(HERE, "..", "..", "loomir", "src", "cli", "cc", "plan.rs")).read()
FRONT = re.findall(r'"([^"]+)"', re.search(r"const FRONT_END.*?\[\n(.*?)\];", PLAN, re.S).group(1))
FRONT = ["-Xclang", "-O1", "-funroll-loops", *FRONT, "-S", "-emit-llvm"]
CUBES = dict(N=500, M=450, K=400, L=100, T=2)
SQUARES = dict(N=2100, M=1900, K=800, L=100, T=2)
SIZES = {
    "atax": SQUARES, "bicg": SQUARES, "gemver": SQUARES, "gesummv": SQUARES, "mvt": SQUARES,
    "trisolv": SQUARES, "durbin": SQUARES, "doitgen": dict(N=1000, M=160, K=150, L=140, T=2),
    "deriche": dict(N=4096, M=2160, K=800, L=100, T=2), "adi": dict(N=1000, M=900, K=800, L=100, T=4),
    "fdtd_2d": dict(N=1000, M=1200, K=800, L=100, T=20), "jacobi_1d": dict(N=2000, M=900, K=800, L=100, T=500),
    "heat_3d": dict(N=1000, M=900, K=800, L=120, T=10), "jacobi_2d": dict(N=1300, M=900, K=800, L=100, T=20),
    "seidel_2d": dict(N=2000, M=900, K=800, L=100, T=5),
}
OPTIMIZE = "OPTIMIZE" in os.environ
# The least seconds of a run.
LEAST = 0.15


def run(*words, **options):
    return subprocess.run(words, check=True, **options)


def value(ty, number, n):
    if ty == "char":
        return "(char)(i * 7 % 4)"
    if ty == "int":
        return "(int)(i * 37 % 101)"
    # A heavy diagonal keeps systems solvable.
    return f"({ty})((i * 37 + {number}) % 101) / 50 + (i % {n + 1} == 0 ? 4000 : 0)"


def driver(name, parameters, sizes):
    """Returns a program that fills the arrays of a kernel, and times some calls."""
    lines = ["#include <stdio.h>", "#include <stdlib.h>", "#include <time.h>"]
    lines.append("enum { %s };" % ", ".join(f"{own} = {number}" for own, number in sizes.items()))
    prototype, call, fill = [], [], []
    for number, parameter in enumerate(re.sub(r"\s+", " ", parameters).split(", ")):
        ty, own, extents = re.match(r"(\w+) (\w+)(\[.*)?$", parameter).groups()
        prototype.append(f"{ty} {own}" + (extents or "").replace("restrict ", ""))
        if not extents:
            call.append("0.25f" if ty == "float" else "1.5")
            continue
        lines.append(f"static {ty} the_{own}{extents.replace('restrict ', '')};")
        fill.append(f"for (int i = 0; i < (int)(sizeof the_{own} / sizeof({ty})); i++)")
        fill.append(f"  (({ty} *)the_{own})[i] = {value(ty, number, sizes['N'])};")
        call.append(f"the_{own}")
    lines.append(f"void {name}({', '.join(prototype)});")
    lines += [
        "static double now(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);",
        "  return t.tv_sec + t.tv_nsec * 1e-9; }",
        "int main(int argc, char **argv) { double all = 0;",
        "for (int r = 0; r < atoi(argv[1]); r++) {",
        *fill,
        f"double start = now(); {name}({', '.join(call)}); all += now() - start; }}",
        'printf("%.9f\\n", all); }',
    ]
    return "\n".join(lines)


def programs(loomir, folder, name, source):
    """Compiles the kernel in each way. Returns the programs by name."""
    at = lambda own: os.path.join(folder, own)
    flags = ["-O3", "-w", "-fno-math-errno", *(["-march=native"] if OPTIMIZE else [])]
    environment = dict(os.environ, LOOMIR_REPORT=at("report"))
    run(f"{LLVM}/clang", *flags, "-c", source, "-o", at("clang.o"))
    run(f"{LLVM}/clang", *flags, *FRONT, source, "-o", at("front.ll"))
    run(f"{LLVM}/clang", *flags, "-c", at("front.ll"), "-o", at("split.o"))
    anew = ["--remarks=none", "--regenerate=all", "--limit=0"]
    run(loomir, "fuse", *anew, at("front.ll"), "-o", at("anew.ll"), stderr=subprocess.DEVNULL)
    run(f"{LLVM}/clang", *flags, "-c", at("anew.ll"), "-o", at("anew.o"))
    own = ["--loomir-optimize"] if OPTIMIZE else []
    run(loomir, "cc", *own, *flags, "-c", source, "-o", at("loomir.o"), env=environment)
    made = {}
    for own in ["clang", "split", "anew", "loomir"]:
        made[own] = at(f"{name}.{own}")
        run(f"{LLVM}/clang", *flags, at("driver.c"), at(f"{own}.o"), "-o", made[own], "-lm")
    report = open(at("report")).read()
    os.remove(at("report"))
    if open(at("loomir.o"), "rb").read() == open(at("clang.o"), "rb").read():
        del made["loomir"]
    return made, int((re.findall(r"(\d+) fused", report) or ["0"])[-1])


def timed(program, times):
    done = run(program, str(times), capture_output=True, text=True)
    return float(done.stdout)


def main():
    loomir, runs, only = sys.argv[1], int((sys.argv[2:] or ["11"])[0]), sys.argv[3:]
    print("| kernel | fused | clang, s | two steps | all anew | loomir cc | loomir cc to two steps |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    means = {}
    for file in sorted(name for name in os.listdir(KERNELS) if name.endswith(".c")):
        text = open(os.path.join(KERNELS, file)).read()
        head = text[: text.index("void ")]
        # A kernel begins with its comment.
        for name, parameters in re.findall(r"^void (\w+)\(([^{]*)\) \{", text, re.M):
            if only and name not in only:
                continue
            sizes = SIZES.get(name, CUBES)
            body = re.search(r"^void %s\(.*?^\}" % name, text, re.M | re.S).group(0)
            with tempfile.TemporaryDirectory() as folder:
                enum = "enum { %s };\n" % ", ".join(f"{own} = {number}" for own, number in sizes.items())
                source = os.path.join(folder, "kernel.c")
                headers = re.findall(r"^#include <.*", head, re.M)
                helpers = "" if name != "nussinov" else "\n".join(re.findall(r"^static .*?^\}", text, re.M | re.S))
                open(source, "w").write("\n".join(headers) + "\n" + enum + helpers + "\n" + body)
                open(os.path.join(folder, "driver.c"), "w").write(driver(name, parameters, sizes))
                made, fused = programs(loomir, folder, name, source)
                times = max(1, int(LEAST / max(timed(made["clang"], 1), 1e-7)))
                took = {own: [] for own in made}
                for turn in range(runs):
                    for own in (list(made) if turn % 2 == 0 else reversed(made)):
                        took[own].append(timed(made[own], times))
                def ratio(own, base):
                    if own not in took:
                        means.setdefault((own, base), [])
                        return "own object"
                    all = [a / b for a, b in zip(took[own], took[base])]
                    error = 1.96 * statistics.stdev(all) / len(all) ** 0.5 if len(all) > 1 else 0
                    means.setdefault((own, base), []).append(statistics.median(all))
                    return f"{statistics.mean(all):.3f} ± {error:.3f}"
                best = statistics.median(took["clang"])
                cells = [ratio(own, base) for own, base in
                         [("split", "clang"), ("anew", "clang"), ("loomir", "clang"), ("loomir", "split")]]
                print(f"| {name} | {fused} | {best / times:.4f} | {' | '.join(cells)} |", flush=True)
    cells = [f"{statistics.geometric_mean(all or [1]):.3f}" for all in means.values()]
    print(f"| geometric mean | | | {' | '.join(cells)} |")


main()
