#!/usr/bin/env python3
"""LLVM's own tests, read by loomir and written again: files read, valid, and equal.

    LOOMIR_LLVM=/usr/lib/llvm-22 benches/native/round_trips.py PATH/TO/loomir FOLDER...

Each FOLDER is one of llvm/test/Transforms of LLVM's sources, with all of its `.ll` files that
`opt` accepts. A file is equal if `opt -passes=strip,instsimplify` prints the same for it and for
what `loomir opt --emit=ll` writes, except for the order of a phi's edges, of declarations and of
named metadata, and the width of constant indices. So names of values and debug information are left
out, and aggregates of constants may be built by `insertvalue`. A file is "folded" if both are only
equal after `instcombine`, which also folds addresses in constants.

`loomir fuse` keeps functions that it cannot read. A refused file is "kept" if it comes out of
`loomir fuse --limit=0` as it was.

Prints a row for each folder, the reasons of refusals, and on standard error each file that is
refused, invalid or different.
"""
import collections
import os
import re
import subprocess
import sys

LOOMIR, FOLDERS = sys.argv[1], sys.argv[2:]
LLVM = os.path.join(os.environ["LOOMIR_LLVM"], "bin")


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, timeout=120)


def canonical(text, simplify="instsimplify"):
    """Returns a module as `opt` prints it without names, or None if `opt` refuses it."""
    passes = f"strip,function({simplify})"
    out = run(f"{LLVM}/opt", "-S", f"-passes={passes}", "-", "-o", "-", text=text)
    if out.returncode:
        return None
    lines, declared, named, attributes, nodes = [], [], [], {}, {}
    for line in out.stdout.decode(errors="replace").splitlines():
        if line.startswith(("; ModuleID = ", "source_filename = ")):
            continue
        # Comments list predecessors and uses.
        line = re.sub(r" *; (preds|No pred|\[#uses|uselistorder|Function Attrs).*|^; .*", "", line)
        group = re.match(r"attributes #(\d+) = (.*)", line)
        node = re.match(r"!(\d+) = (.*)", line)
        if group:
            attributes[group[1]] = group[2]
        elif node:
            nodes[node[1]] = node[2]
        elif line.startswith("!"):
            named.append(line)
        elif line.startswith("declare"):
            declared.append(line)
        elif line:
            if "getelementptr" in line:
                line = re.sub(r", i\d+ (-?\d+)", r", \1", line)
            if " = phi " in line:
                head, _, edges = line.partition("[")
                line = head + " ".join(sorted(re.findall(r"[^][]+, %[\w.]+(?= \])", edges)))
            lines.append(line)
    return numbered(lines + sorted(declared) + sorted(named), attributes, nodes)


def numbered(lines, attributes, nodes):
    """Returns a module with attributes in place and nodes of metadata in the order of their use."""
    order = {}

    def own(match):
        if match[1] not in order:
            order[match[1]] = len(order)
            used.append(match[1])
        return f"!{order[match[1]]}"

    used, text = [], []
    for line in lines:
        line = re.sub(r" #(\d+)", lambda group: " " + attributes.get(group[1], group[0]), line)
        text.append(re.sub(r"!(\d+)\b", own, line))
    for node in used:
        text.append(re.sub(r"!(\d+)\b", own, nodes.get(node, "none")))
    return "\n".join(text)


def outcome(path):
    with open(path, "rb") as file:
        text = file.read()
    before = canonical(text)
    if before is None:
        return "foreign", ""
    out = run(LOOMIR, "opt", path, "--emit=ll")
    if out.returncode == 1:
        errors = out.stderr.decode(errors="replace")
        first = next((l for l in errors.splitlines() if l.startswith("error: ")), "no diagnostic")
        first = re.sub(r"'[^']*'", "…", first.removeprefix("error: "))
        first = " ".join(w for w in first.split() if not re.search(r"\d", w))
        part = run(LOOMIR, "fuse", path, "--limit=0", "--remarks=none")
        is_kept = part.returncode == 0 and canonical(part.stdout) == before
        return "kept" if is_kept else "refused", first
    if out.returncode:
        return "crashed", str(out.returncode)
    after = canonical(out.stdout)
    if after is None:
        return "invalid", ""
    if after == before:
        return "equal", ""
    deeper = "instcombine<no-verify-fixpoint>"
    is_folded = canonical(out.stdout, deeper) == canonical(text, deeper)
    return ("folded", "") if is_folded else ("different", "")


def main():
    total, reasons = collections.Counter(), collections.Counter()
    print("| folder | files | read | equal | folded | different | invalid | kept | refused |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")

    def row(name, own):
        written = ["equal", "folded", "different", "invalid"]
        read = sum(own[kind] for kind in written)
        files = read + own["kept"] + own["refused"] + own["crashed"]
        columns = [name, files, read, *(own[kind] for kind in written), own["kept"], own["refused"]]
        print("| " + " | ".join(str(column) for column in columns) + " |", flush=True)

    for folder in FOLDERS:
        own = collections.Counter()
        for base, _, files in sorted(os.walk(folder)):
            for file in sorted(files):
                if not file.endswith(".ll"):
                    continue
                path = os.path.join(base, file)
                what, why = outcome(path)
                own[what] += 1
                if what in ("kept", "refused"):
                    reasons[why] += 1
                if what not in ("foreign", "equal", "folded"):
                    print(f"{what} {path} {why}", file=sys.stderr, flush=True)
        row(os.path.basename(folder), own)
        total += own
    row("all", total)
    print(f"\nnot accepted by `opt`: {total['foreign']}; crashed: {total['crashed']}")
    for why, count in reasons.most_common():
        print(f"refused, {count}: {why}")


main()
