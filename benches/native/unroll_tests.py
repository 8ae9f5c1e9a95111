#!/usr/bin/env python3
"""LLVM's own tests of loop unrolling: kinds and counts of `opt`, beside those of loomir.

    LOOMIR_LLVM=/usr/lib/llvm-22 benches/native/unroll_tests.py PATH/TO/loomir FOLDER

FOLDER is llvm/test/Transforms/LoopUnroll or LoopUnrollAndJam of LLVM's sources. Tests with a target triple are left
out, and RUN lines with options that loomir does not have. Passes before the unroller are run by
`opt`. A function that loomir can't read counts as different.

Prints the functions that differ, and the share of equal ones.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

LOOMIR, FOLDER = sys.argv[1], sys.argv[2]
BIN = os.path.join(os.environ["LOOMIR_LLVM"], "bin")
WORK = tempfile.mkdtemp()

SHARED = set(
    """unroll-count unroll-threshold unroll-partial-threshold unroll-allow-partial unroll-runtime
    unroll-allow-remainder unroll-remainder unroll-runtime-epilog unroll-runtime-multi-exit
    unroll-runtime-other-exit-predictable unroll-max-upperbound unroll-full-max-count
    unroll-max-count unroll-max-percent-threshold-boost unroll-max-iteration-count-to-analyze
    unroll-allow-peeling unroll-allow-loop-nests-peeling unroll-peel-max-count unroll-peel-count
    unroll-force-peel-count flat-loop-tripcount-threshold pragma-unroll-threshold
    pragma-unroll-full-max-iterations allow-unroll-and-jam unroll-and-jam-count
    unroll-and-jam-threshold pragma-unroll-and-jam-threshold""".split()
)
IGNORED = set(
    """S o verify-loop-info verify-dom-info verify-loop-lcssa unroll-verify-domtree verify-scev
    verify-memoryssa unroll-verify-loopinfo disable-output stats debug-only verify-each
    verify-analysis-invalidation scev-cheap-expansion-budget enable-unroll-and-jam
    da-disable-delinearization-checks aa-pipeline""".split()
)
# The passes, the names of their remarks in `opt`, and their options here. Unrolling also peels.
PASSES = {
    "loop-unroll": ("loop-unroll|loop-peel", "--loop-unroll"),
    "loop-unroll-full": ("loop-unroll|loop-peel", "--loop-unroll-full"),
    "loop-unroll-and-jam": ("loop-unroll-and-jam", "--loop-unroll-and-jam"),
}
PARAMETERS = {
    "partial": "unroll-allow-partial",
    "peeling": "unroll-allow-peeling",
    "profile-peeling": "unroll-allow-profile-peeling",
    "runtime": "unroll-runtime",
    "upperbound": "unroll-upperbound",
}


def elements(passes):
    """The passes of a pipeline, without their managers."""
    parts, depth, part = [], 0, ""
    for char in passes:
        depth += (char in "<(") - (char in ">)")
        if char == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += char
    flat = []
    for part in parts + [part]:
        inner = re.match(r"^(?:function|loop|loop-mssa|module)(?:<[^>]*>)?\((.*)\)$", part)
        flat += elements(inner.group(1)) if inner else [part]
    return flat


def options_of(command):
    """The pipeline of a RUN line, and its options; None if one is not shared."""
    passes, options = None, []
    for word in command.replace('"', "").replace("'", "").split():
        option = re.match(r"^-?-([\w-]+)(?:=(.*))?$", word)
        if not option:
            continue
        name, value = option.groups()
        if name == "passes":
            passes = value
        elif name in SHARED:
            flags = ("unroll-allow-partial", "unroll-runtime", "allow-unroll-and-jam")
            is_flag = value is None or (value == "1" and name in flags)
            options.append((name, "true" if is_flag else value))
        elif name not in IGNORED and not name.startswith("pass-remarks"):
            return None
    return passes and (passes, options)


def parameters(element):
    """The options that a pass of `opt` has in angle brackets."""
    found = re.match(r"loop-unroll(?:-full)?<(.*)>$", element)
    for word in found.group(1).split(";") if found else []:
        if re.match(r"O\d", word):
            yield "opt-level", word[1:]
        elif word.startswith("full-unroll-max="):
            yield "unroll-full-max-count", word.split("=")[1]
        else:
            is_on = not word.startswith("no-")
            yield PARAMETERS[word.removeprefix("no-")], "true" if is_on else "false"


def of_opt(source, element, options):
    """Kinds and counts by function, from the remarks of `opt`."""
    remarks = os.path.join(WORK, "remarks.yaml")
    if os.path.exists(remarks):
        os.remove(remarks)
    name = element.split("<")[0]
    passes = f"loop({element})" if name != "loop-unroll" else element
    flags = [f"-{name}={value}" for name, value in options]
    command = [os.path.join(BIN, "opt"), source, "-disable-output", f"-passes={passes}"]
    command += [f"-pass-remarks-output={remarks}", f"-pass-remarks-filter=^({PASSES[name][0]})$"] + flags
    if subprocess.run(command, capture_output=True).returncode:
        return None
    found = collections.defaultdict(list)
    text = open(remarks).read() if os.path.exists(remarks) else ""
    for remark in text.split("--- ")[1:]:
        if remark.split()[0] == "!Passed":
            name = re.search(r"^Name: +(.*)$", remark, re.M).group(1)
            function = re.search(r"^Function: +'?([^'\n]*)", remark, re.M).group(1).strip('"')
            count = re.search(r"(?:PeelCount|UnrollCount|TripCount): +'(\d+)'", remark)
            found[function].append((name, int(count.group(1)) if count else 0))
    return found


def of_loomir(source, element, options, found):
    """Adds kinds and counts by function, from the remarks of loomir; returns false on errors."""
    name = PASSES[element.split("<")[0]][1]
    given = " ".join(f"{name}={value}" for name, value in options)
    command = [LOOMIR, "opt", source, f"{name}={given}" if given else name, "--remarks=json"]
    run = subprocess.run(command + ["-o", os.devnull], capture_output=True, text=True)
    for line in (run.stdout + "\n" + run.stderr).splitlines():
        remark = json.loads(line) if line.startswith("{") else {}
        if remark.get("kind") == "passed":
            found[remark["function"]].append((remark["name"], int(remark["args"]["count"])))
    return run.returncode == 0


def commands():
    """Each test, with the command of one of its RUN lines."""
    for path in sorted(glob.glob(FOLDER + "/**/*.ll", recursive=True)):
        text = open(path, errors="replace").read()
        if re.search(r"^\s*target triple", text, re.M) or "-mtriple" in text or "-mcpu" in text:
            continue
        for run in re.findall(r"^; *RUN: *(.*(?:\\\n; *RUN: *.*)*)", text, re.M):
            for command in re.sub(r"\\\n; *RUN:", "", run).split("|"):
                if re.match(r"^(not\s+)?opt\b", command.strip()) and "unroll" in command:
                    yield path, text, command.strip()


def main():
    seen, equal = set(), 0
    for path, text, command in commands():
        known = options_of(command)
        passes = elements(known[0]) if known else []
        passes = [name for name in passes if not name.startswith(("require", "verify", "print"))]
        places = [at for at, name in enumerate(passes) if name.startswith("loop-unroll")]
        if len(places) != 1:
            continue
        element, before = passes[places[0]], passes[: places[0]]
        source, one = os.path.join(WORK, "in.ll"), os.path.join(WORK, "one.ll")
        prefix = [os.path.join(BIN, "opt"), "-S", path, "-o", source, "-passes=" + (",".join(before) or "verify")]
        if subprocess.run(prefix, capture_output=True).returncode:
            continue
        theirs = of_opt(source, element, known[1])
        if theirs is None:
            continue
        options = known[1] + list(parameters(element))
        functions = re.findall(r'^define[^@]*@"?([\w.$-]+)"?\(', text, re.M)
        ours, unread = collections.defaultdict(list), set()
        if not of_loomir(source, element, options, ours):
            ours.clear()
            for function in functions:
                subprocess.run([os.path.join(BIN, "llvm-extract"), "-S", f"--func={function}", source, "-o", one])
                if not of_loomir(one, element, options, ours):
                    unread.add(function)
        for function in functions:
            key = (path, function, str(options), element)
            if key in seen:
                continue
            seen.add(key)
            wanted, got = sorted(theirs[function]), sorted(ours[function])
            if wanted == got and function not in unread:
                equal += 1
            else:
                print(os.path.relpath(path, FOLDER), function, wanted, got)
    print(f"{equal} of {len(seen)} are equal: {100 * equal / max(len(seen), 1):.1f} %")


main()
