"""MLIR's own tests of its transform dialect, by Loomir and by `mlir-opt`.

    LOOMIR_LLVM=/usr/lib/llvm-22 python3 benches/native/transform_tests.py PATH/TO/loomir MLIR/test

Each program with a schedule is transformed by both, then canonicalized and cleaned up by both, and
compared as `mlir-opt` prints it. A program is a case if it has operations of our dialects alone.
Prints the table of benches/results/, and one row for each program that differs.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

LOOMIR, FOLDER = sys.argv[1], Path(sys.argv[2])
MLIR_OPT = os.path.join(os.environ["LOOMIR_LLVM"], "bin", "mlir-opt")
CLEAN = ["--canonicalize", "--cse", "--canonicalize"]
OURS = {
    "affine", "arith", "builtin", "cf", "func", "index", "linalg", "llvm", "loomir", "math",
    "memref", "pdl", "scf", "transform", "ub",
}
# What becomes of programs that are no cases.
NO_CASES = ("of other dialects", "not read by mlir-opt 22")


def run(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def programs(file):
    text = file.read_text(errors="replace")
    command = " ".join(line for line in text.splitlines() if "RUN:" in line)
    # Options choose another entry point, or another file of schedules.
    if "transform-interpreter" not in command or re.search(r"interpreter[={]|preload", command):
        return
    for number, program in enumerate(re.split(r"^// ?-----.*$", text, flags=re.M)):
        if "transform." in program:
            yield number, program


def dialects(text):
    """Returns the dialects of the operations in the generic form."""
    return set(re.findall(r'"([a-z_0-9]+)\.[a-z_0-9.]+"[(<]', text))


def outcome(program):
    """Returns what became of a program, with a reason."""
    generic = [MLIR_OPT, "--mlir-print-op-generic", "--allow-unregistered-dialect"]
    status, generic, error = run(generic, program)
    if status != 0:
        return "not read by mlir-opt 22", first_error(error)
    others = dialects(generic) - OURS
    if others:
        return "of other dialects", ", ".join(sorted(others))
    if re.search(r"tensor<|vector<|!transform\.test|transform\.test_", program):
        return "of other dialects", "tensors, vectors or operations for tests"
    peer = [MLIR_OPT, "--transform-interpreter", "--test-transform-dialect-erase-schedule"]
    status, theirs, error = run(peer + CLEAN, program)
    ours = [LOOMIR, "opt", "--transform-interpreter=erase-schedule=true", *CLEAN]
    own_status, own, own_error = run(ours, program)
    if own_status != 0 and re.search(r"custom op '.*' is unknown", own_error):
        return "of other dialects", first_error(own_error)
    if status != 0 and own_status != 0:
        return "refused by both", first_error(own_error)
    if status != 0:
        return "refused by mlir-opt alone", first_error(error)
    if own_status != 0:
        return "refused by Loomir alone", first_error(own_error)
    status, own, error = run([MLIR_OPT, *CLEAN], own)
    if status != 0:
        return "not read again", first_error(error)
    return ("equal", "") if without_schedules(own) == without_schedules(theirs) else ("different", "")


def without_schedules(text):
    """Removes the modules that `mlir-opt` leaves where schedules were."""
    text = text.replace(" attributes {transform.with_named_sequence}", "")
    return re.sub(r"^ *module (@\w+ )?\{\n *\}\n", "", text, flags=re.M)


def first_error(text):
    for line in text.splitlines():
        if "error" in line:
            return line.split("error: ", 1)[-1].strip()
    return text.strip()[:80]


def main():
    counts, rows = Counter(), []
    for file in sorted(FOLDER.rglob("*.mlir")):
        for number, program in programs(file):
            name = f"{file.relative_to(FOLDER)}, {number + 1}"
            try:
                what, why = outcome(program)
            except subprocess.TimeoutExpired:
                what, why = "no answer", ""
            counts[what] += 1
            rows.append((what, name, why))
    print("| what | programs |\n| --- | ---: |")
    for what, count in counts.most_common():
        print(f"| {what} | {count} |")
    print("\n| program | what | reason |\n| --- | --- | --- |")
    for what, name, why in rows:
        if what != "equal" and what not in NO_CASES:
            print(f"| {name} | {what} | {why} |")


main()
