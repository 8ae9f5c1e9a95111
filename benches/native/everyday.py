#!/usr/bin/env python3
"""Processor time of everyday passes on 100,000 operations, beside mlir-opt with threads off.

    LOOMIR_LLVM=/usr/lib/llvm-22 benches/native/everyday.py PATH/TO/loomir

Prints the rows of benches/results/everyday-speed.md: milliseconds and MiB of the whole command, the
least time of 9 runs that alternate.
"""
import os
import sys
import tempfile

RUNS = 9
NAMES = ["addi", "muli", "subi", "xori", "andi"]


def one(count):
    lines = ["func.func @f(%a: i32, %b: i32) -> i32 {", "  %0 = arith.addi %a, %b : i32"]
    for i in range(1, count - 1):
        lines.append(f"  %{i} = arith.{NAMES[i % 5]} %{i - 1}, %{max(i - 7, 0)} : i32")
    return "\n".join(lines + [f"  return %{count - 2} : i32", "}", ""])


def functions(count):
    lines = []
    for k in range(count // 10):
        lines += [f"func.func @f{k}(%a: i32, %b: i32) -> i32 {{", "  %0 = arith.addi %a, %b : i32"]
        for i in range(1, 9):
            lines.append(f"  %{i} = arith.{NAMES[(i + k) % 5]} %{i - 1}, %{max(i - 3, 0)} : i32")
        lines += ["  return %8 : i32", "}"]
    return "\n".join(lines + [""])


def calls(count):
    """Pairs of functions of 10 operations; one calls the other, which is private."""
    lines = []
    for k in range(count // 20):
        for name, callee in [(f"private @g{k}", None), (f"@f{k}", f"@g{k}")]:
            lines += [f"func.func {name}(%a: i32, %b: i32) -> i32 {{", "  %0 = arith.addi %a, %b : i32"]
            lines += [f"  %{i} = arith.{NAMES[i % 5]} %{i - 1}, %{max(i - 3, 0)} : i32" for i in range(1, 8)]
            last = "arith.addi %7, %6 : i32"
            if callee:
                last = f"func.call {callee}(%7, %6) : (i32, i32) -> i32"
            lines += [f"  %8 = {last}", "  return %8 : i32", "}"]
    return "\n".join(lines + [""])


def loops(count, head, access, constants, size):
    ty = "memref<1024xf32>"
    lines = []
    for k in range(count // size):
        lines += [f"func.func @f{k}(%a: {ty}, %b: {ty}) {{", "  %x = arith.constant 1.5 : f32"]
        lines += constants + [f"  %t = memref.alloc() : {ty}"]
        for source, target in [("%a", "%t"), ("%t", "%b")]:
            lines += [head, f"    %v = {access}.load {source}[%i] : {ty}"]
            lines += ["    %r = arith.addf %v, %x : f32", f"    {access}.store %r, {target}[%i] : {ty}", "  }"]
        lines += ["  return", "}"]
    return "\n".join(lines + [""])


def affine(count):
    return loops(count, "  affine.for %i = 0 to 1024 {", "affine", [], 14)


def scf(count):
    numbers = [("c0", 0), ("c1", 1), ("cn", 1024)]
    constants = [f"  %{name} = arith.constant {number} : index" for name, number in numbers]
    return loops(count, "  scf.for %i = %c0 to %cn step %c1 {", "memref", constants, 17)


def measure(command):
    """Returns the milliseconds and the MiB of a command."""
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execv(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"failed: {command}")
    return (usage.ru_utime + usage.ru_stime) * 1e3, usage.ru_maxrss / 1024


def main():
    ours = [sys.argv[1], "opt", "--mlir-disable-threading"]
    theirs = [os.path.join(os.environ["LOOMIR_LLVM"], "bin/mlir-opt"), "--mlir-disable-threading"]
    passes = ["", "canonicalize", "cse", "loop-invariant-code-motion"]
    shapes = {
        "one function": one,
        "functions of 10": functions,
        "calls": calls,
        "affine loops": affine,
        "scf loops": scf,
    }
    more = {
        "functions of 10": ["sccp", "remove-dead-values", "symbol-dce", "convert-to-llvm"],
        "calls": ["inline"],
        "affine loops": ["lower-affine"],
        "scf loops": ["convert-scf-to-cf", "convert-scf-to-cf convert-to-llvm"],
    }
    with tempfile.TemporaryDirectory() as folder:
        for shape, make in shapes.items():
            files = []
            for count in [100_000, 200_000]:
                files.append(os.path.join(folder, f"{count}.mlir"))
                with open(files[-1], "w", encoding="utf-8") as file:
                    file.write(make(count))
            for name in passes + more.get(shape, []):
                flags = [f"--{flag}" for flag in name.split()]
                runs = [[], [], []]
                for _ in range(RUNS):
                    for at, command in enumerate([ours + [files[0]], ours + [files[1]], theirs + [files[0]]]):
                        runs[at].append(measure(command + flags))
                (a, mine), (twice, more_memory), (b, other) = [
                    (min(time for time, _ in own), max(memory for _, memory in own)) for own in runs
                ]
                print(
                    f"| {shape} | {name or 'none'} | {a:.0f}, {mine:.0f} | {twice / a:.2f}, "
                    f"{more_memory / mine:.2f} | {b:.0f}, {other:.0f} | {b / a:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
