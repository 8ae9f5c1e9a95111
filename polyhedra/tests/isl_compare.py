"""Compares answers with isl's. Each line of the input: operation, operands and answer, separated by tabs.
Prints a line for each disagreement and a summary last."""
import sys
import time

import islpy as isl


# isl is not interrupted by signals, but counts its operations; this many take it about ten seconds.
OPERATIONS = 3_000_000
# Where there is an answer to compare, isl gets less.
FEWER_OPERATIONS = 300_000
context = isl.DEFAULT_CONTEXT


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


checked, wrong, slow = 0, 0, 0
unknown = 0
kinds = {}
for line in sys.stdin:
    operation, *operands, found = line.rstrip("\n").split("\t")
    quota = OPERATIONS if found.startswith("error") else FEWER_OPERATIONS
    try:
        start = time.process_time()
        if found.startswith("error"):
            answer(operation, operands)
            unknown += 1
            print(f"NO ANSWER ({found}): {operation} {operands}, isl took {time.process_time() - start:.2f} s")
            continue
        if agrees(operation, operands, found):
            checked += 1
            kinds[operation] = kinds.get(operation, 0) + 1
        else:
            wrong += 1
            print(f"WRONG: {operation} {operands} gave {found}, isl {answer(operation, operands)}")
    except isl.Error as error:
        if "maximal number of operations" in str(error):
            slow += 1
        elif found == "error: unbounded":
            checked += 1
        else:
            wrong += 1
            print(f"REFUSED by isl: {operation} {operands} gave {found}: {error}")
share = ", ".join(f"{operation} {count}" for operation, count in sorted(kinds.items()))
print(f"agree {checked} ({share}); wrong {wrong}; isl beyond its quota {slow}; without answer {unknown}")
sys.exit(1 if wrong or unknown else 0)
