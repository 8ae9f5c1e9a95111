#!/usr/bin/env python3
"""Processor time of unrolling on graphs of blocks, beside opt.

    LOOMIR_LLVM=/usr/lib/llvm-22 benches/native/unroll_speed.py PATH/TO/loomir

Prints the rows of benches/results/unroll-speed.md: milliseconds of the whole command, the least time
of 15 runs that alternate.
"""
import os
import sys
import tempfile

from everyday import measure

RUNS = 15
OPERATIONS = ["add", "mul", "xor", "sub", "and"]


def body(count):
    """A loop with so many operations in its body, to be unrolled 64 times."""
    lines = [
        "define void @f(ptr noalias %p) {\nentry:\n  br label %loop\nloop:",
        "  %i = phi i64 [ 0, %entry ], [ %i1, %loop ]",
        "  %q = getelementptr inbounds i32, ptr %p, i64 %i\n  %v0 = load i32, ptr %q",
    ]
    for k in range(count):
        other = f"%v{k - 3}" if k > 2 else str(k + 3)
        lines.append(f"  %v{k + 1} = {OPERATIONS[k % 5]} i32 %v{k}, {other}")
    lines += [
        f"  store i32 %v{count}, ptr %q\n  %i1 = add nuw nsw i64 %i, 1",
        "  %c = icmp ult i64 %i1, 6400\n  br i1 %c, label %loop, label %exit, !llvm.loop !0",
        'exit:\n  ret void\n}\n!0 = distinct !{!0, !1}\n!1 = !{!"llvm.loop.unroll.count", i32 64}\n',
    ]
    return "\n".join(lines)


def nest(size):
    """A nest of two loops of so many iterations each, to be unrolled completely."""
    return f"""define void @g(ptr noalias %p) {{
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i1, %latch ]
  %row = getelementptr inbounds [{size} x i32], ptr %p, i64 %i
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j1, %inner ]
  %q = getelementptr inbounds i32, ptr %row, i64 %j
  %v = load i32, ptr %q
  %w = mul i32 %v, %v
  %x = xor i32 %w, 5
  %y = add i32 %x, %v
  %z = sub i32 %y, %w
  %t = and i32 %z, %x
  store i32 %t, ptr %q
  %j1 = add nuw nsw i64 %j, 1
  %c = icmp ult i64 %j1, {size}
  br i1 %c, label %inner, label %latch, !llvm.loop !0
latch:
  %i1 = add nuw nsw i64 %i, 1
  %d = icmp ult i64 %i1, {size}
  br i1 %d, label %outer, label %exit, !llvm.loop !2
exit:
  ret void
}}
!0 = distinct !{{!0, !1}}
!1 = !{{!"llvm.loop.unroll.full"}}
!2 = distinct !{{!2, !1}}
"""


def main():
    ours = [sys.argv[1], "opt", "--mlir-disable-threading", "--loop-unroll", "--emit=ll"]
    theirs = [os.path.join(os.environ["LOOMIR_LLVM"], "bin/opt"), "-S", "-passes=loop-unroll"]
    cases = [(f"body of {count:,} operations, 64 times", body(count)) for count in (500, 1000, 2000, 4000)]
    cases += [(f"nest of {size} by {size}, completely", nest(size)) for size in (50, 100, 140)]
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "input.ll")
        for name, text in cases:
            with open(file, "w", encoding="utf-8") as out:
                out.write(text)
            times = [[], []]
            for _ in range(RUNS):
                for at, command in enumerate([ours, theirs]):
                    times[at].append(measure(command + [file])[0])
            mine, other = min(times[0]), min(times[1])
            print(f"| {name} | {mine:.0f} | {other:.0f} | {other / mine:.2f} |", flush=True)


main()
