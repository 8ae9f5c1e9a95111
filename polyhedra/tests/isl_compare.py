"""Compares answers with isl's. Each line of the input: operation, operands and answer, separated by tabs.
Prints a line for each disagreement and a summary last. With the argument "patient" isl gets as many operations for a
comparison that takes long as it gets for a question of its own."""
import sys
import time

import islpy as isl


# isl is not interrupted by signals, but counts its operations; this many take it about ten seconds.
OPERATIONS = 3_000_000
# A comparison gets less at first.
QUOTAS = [300_000] + [OPERATIONS] * ("patient" in sys.argv)
context = isl.DEFAULT_CONTEXT
quota = QUOTAS[0]


def read(text):
    """Reads without a limit: the parser would call a text wrong that took too many operations."""
    context.set_max_operations(0)
    read = parsed(text)
    context.reset_operations()
    context.set_max_operations(quota)
    return read


def parsed(text):
    return isl.Map(text) if "->" in text.split("{", 1)[1] else isl.Set(text)


def answer(operation, operands):
    a = read(operands[0])
    b = read(operands[1]) if len(operands) > 1 else None
    if operation == "same":
        return a
    if operation == "empty":
        return a.is_empty()
    if operation == "subset":
        return a.is_subset(b)
    if operation == "lexmin":
        return a.lexmin()
    if operation == "lexmax":
        return a.lexmax()
    if operation == "subtract":
        return a.subtract(b)
    if operation == "intersect":
        return a.intersect(b)
    if operation == "union":
        return a.union(b)
    if operation == "complement":
        return a.complement()
    if operation == "then":
        return a.apply_range(b)
    if operation == "inverse":
        return a.reverse()
    if operation == "domain":
        return a.domain()
    if operation == "range":
        return a.range()
    if operation == "deltas":
        return a.deltas()
    if operation == "coalesce":
        return a
    if operation == "gist":
        # Equal on the context is all a gist promises.
        return a.intersect(b)
    if operation == "count":
        return a.count_val()
    raise ValueError(operation)


def agrees(operation, operands, found):
    expected = answer(operation, operands)
    if isinstance(expected, bool):
        return (found == "true") == expected
    if isinstance(expected, isl.Val):
        return expected.to_str() == found
    ours = read(found)
    if operation == "gist":
        ours = ours.intersect(read(operands[1]))
    return ours.is_equal(expected)


def compare(operation, operands, found):
    """How an answer compares, and what to say about it."""
    global quota
    if found.startswith("error"):
        quota = OPERATIONS
        start = time.process_time()
        try:
            answer(operation, operands)
        except isl.Error as error:
            if beyond_quota(error):
                return "slow", None
            if found == "error: unbounded":
                return "agree", None
            return "wrong", f"REFUSED by isl: {operation} {operands} gave {found}: {error}"
        spent = time.process_time() - start
        return "unknown", f"NO ANSWER ({found}): {operation} {operands}, isl took {spent:.2f} s"
    for quota in QUOTAS:
        try:
            if agrees(operation, operands, found):
                return "agree", None
            return "wrong", f"WRONG: {operation} {operands} gave {found}, isl {answer(operation, operands)}"
        except isl.Error as error:
            if not beyond_quota(error):
                return "wrong", f"REFUSED by isl: {operation} {operands} gave {found}: {error}"
    return "slow", None


def beyond_quota(error):
    return "maximal number of operations" in str(error)


counts = {"agree": 0, "wrong": 0, "slow": 0, "unknown": 0}
kinds = {}
for line in sys.stdin:
    operation, *operands, found = line.rstrip("\n").split("\t")
    outcome, message = compare(operation, operands, found)
    counts[outcome] += 1
    if outcome == "agree":
        kinds[operation] = kinds.get(operation, 0) + 1
    if message:
        print(message, flush=True)
share = ", ".join(f"{operation} {count}" for operation, count in sorted(kinds.items()))
print(
    f"agree {counts['agree']} ({share}); wrong {counts['wrong']}; "
    f"isl beyond its quota {counts['slow']}; without answer {counts['unknown']}"
)
sys.exit(1 if counts["wrong"] or counts["unknown"] else 0)
