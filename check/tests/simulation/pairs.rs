//! Pairs of programs between which a run may differ: a function, and edits of it.

/// A function, and edits that make another one of it. Between them a run may differ.
pub(crate) struct Pair {
    pub(crate) title: &'static str,
    /// Arguments and results.
    pub(crate) head: &'static str,
    /// The blocks of the first function, without the constants.
    pub(crate) body: &'static str,
    /// Each edit replaces the first place of a text.
    pub(crate) edits: &'static [(&'static str, &'static str)],
}

/// A value as it leaves a loop, the first number of which may be poison.
const COUNTED: &str = "%x = llvm.load %p : !llvm.ptr -> i32
  %xx = llvm.add %x, %x overflow<nsw> : i32
  %y = llvm.load %q : !llvm.ptr -> i32
  %w0 = llvm.load %r : !llvm.ptr -> i32
  %z = llvm.add %y, %zero : i32
  llvm.br ^h(%z, %zero, %w0 : i32, i32, i32)
^h(%i: i32, %k: i32, %w: i32):
  %i1 = llvm.add %i, %one : i32
  %k1 = llvm.add %k, %one : i32
  %w1 = llvm.mul %w, %ten : i32
  %c = llvm.icmp \"slt\" %k1, %ten : i32
  llvm.cond_br %c, ^h(%i1, %k1, %w1 : i32, i32, i32), ^e
^e:
  llvm.return %i1 : i32";

/// A branch on an argument.
const BRANCH_ON_Y: &str = "%x = llvm.load %p : !llvm.ptr -> i32
  %xx = llvm.add %x, %x overflow<nsw> : i32
  %c = llvm.icmp \"eq\" %y, %zero : i32
  llvm.cond_br %c, ^a, ^b
^a:
  llvm.br ^e
^e:
  llvm.return %one : i32
^b:
  llvm.return %zero : i32";

/// A branch behind a call.
const CALL_THEN_BRANCH: &str = "%v = llvm.load %p : !llvm.ptr -> i32
  %x = llvm.add %v, %v overflow<nsw> : i32
  %c = llvm.icmp \"eq\" %x, %v : i32
  llvm.call @h() : () -> ()
  llvm.cond_br %c, ^a, ^b
^a:
  llvm.return %one : i32
^b:
  llvm.return %two : i32";

/// Two loops, one of which ends.
const TWO_LOOPS: &str = "llvm.br ^h(%zero : i32)
^h(%i: i32):
  %i1 = llvm.add %i, %one : i32
  %t = llvm.icmp \"slt\" %i1, %n : i32
  llvm.cond_br %t, ^h(%i1 : i32), ^m
^m:
  llvm.br ^k
^k:
  llvm.cond_br %c, ^k, ^e
^e:
  llvm.return %zero : i32";

/// The end of a branch that promises an end of its loop.
const PROMISED: &str = "^k, ^e {loop_annotation = #llvm.loop_annotation<mustProgress = true>}\n";

/// A loop with two counters that agree at first, and a value that it hands on.
const COUNTERS: &str = "llvm.br ^h(%zero, %zero, %zero : i32, i32, i32)
^h(%i: i32, %j: i32, %s: i32):
  %k = llvm.mul %j, %ten : i32
  %t = llvm.xor %s, %i : i32
  llvm.call @g(%t) : (i32) -> ()
  %i1 = llvm.add %i, %one : i32
  %j1 = llvm.add %k, %one : i32
  %c = llvm.icmp \"slt\" %i1, %n : i32
  llvm.cond_br %c, ^h(%i1, %j1, %t : i32, i32, i32), ^e
^e:
  llvm.return %t : i32";

/// Three writes and two reads, two of them of one place.
const WRITES: &str = "llvm.store %n, %p {alignment = 4 : i64} : i32, !llvm.ptr
  %x = llvm.load %q {alignment = 4 : i64} : !llvm.ptr -> i32
  llvm.store %x, %q : i32, !llvm.ptr
  llvm.call @g(%x) : (i32) -> ()
  llvm.store volatile %x, %p : i32, !llvm.ptr
  %y = llvm.load %p atomic acquire {alignment = 4 : i64} : !llvm.ptr -> i32
  llvm.call @g(%n) : (i32) -> ()
  llvm.return %y : i32";

/// Operations without flags.
const PLAIN: &str = "%a = llvm.add %n, %m : i32
  %b = llvm.or %a, %ten : i32
  %d = llvm.lshr %b, %two : i32
  %w = llvm.zext %d : i32 to i64
  %u = llvm.trunc %w : i64 to i32
  %q = llvm.getelementptr %p[%w] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  llvm.store %u, %q : i32, !llvm.ptr
  %l = llvm.icmp \"slt\" %u, %m : i32
  %s = llvm.select %l, %a, %b : i1, i32
  %x = llvm.intr.smin(%s, %n) : (i32, i32) -> i32
  llvm.return %x : i32";

/// A loop without effects that may not end, before an undefined place.
const WAITS: &str = "llvm.br ^h
^h:
  llvm.cond_br %c, ^h, ^e
^e:
  llvm.unreachable";

/// A loop without effects that may not end.
const SPINS: &str = "llvm.br ^h
^h:
  llvm.cond_br %c, ^h, ^e
^e:
  llvm.br ^r
^r:
  llvm.return";

/// A choice among several values.
const CHOICE: &str = "llvm.switch %n : i32, ^o [
    1: ^a(%m : i32),
    2: ^a(%two : i32),
    3: ^b
  ]
^a(%x: i32):
  llvm.call @g(%x) : (i32) -> ()
  llvm.br ^o
^b:
  llvm.call @h() : () -> ()
  llvm.br ^o
^o:
  llvm.return";

const INTS: &str = "(%n: i32 {llvm.noundef}) -> i32";
const TWO_INTS: &str = "(%n: i32 {llvm.noundef}, %m: i32 {llvm.noundef})";
const POINTERS: &str = "(%p: !llvm.ptr, %q: !llvm.ptr, %n: i32 {llvm.noundef}) -> i32";
const MIXED: &str = "(%p: !llvm.ptr, %n: i32 {llvm.noundef}, %m: i32 {llvm.noundef}) -> i32";
const FLAG: &str = "(%c: i1 {llvm.noundef})";
const FLOATS: &str = "(%x: f32 {llvm.noundef}, %y: f32 {llvm.noundef}) -> f32";
const SUM: &str = "%s = llvm.fadd %x, %y : f32
  %t = llvm.fmul %s, %y : f32
  llvm.return %t : f32";

const POINTER: &str = "(%p: !llvm.ptr)";
const POINTER_TO_INT: &str = "(%p: !llvm.ptr) -> i32";

/// Pairs that were once proved.
pub(crate) const PAIRS: &[Pair] = &[
    Pair {
        title: "a number is less than itself",
        head: POINTER_TO_INT,
        body: "%x = llvm.load %p : !llvm.ptr -> i32
  %c = llvm.icmp \"slt\" %x, %x : i32
  llvm.cond_br %c, ^a, ^b
^a:
  llvm.return %one : i32
^b:
  llvm.return %two : i32",
        edits: &[("cond_br %c, ^a, ^b", "br ^a"), ("^b:\n  llvm.return %two : i32", "")],
    },
    Pair {
        title: "a number is less than itself, unsigned",
        head: POINTER_TO_INT,
        body: "%v = llvm.load %p : !llvm.ptr -> i32
  %c = llvm.icmp \"ult\" %v, %v : i32
  %s = llvm.select %c, %zero, %one : i1, i32
  llvm.return %s : i32",
        edits: &[("return %s", "return %zero")],
    },
    Pair {
        title: "a call before an undefined place exits",
        head: "(%x: i32)",
        body: "llvm.call @exit(%one) : (i32) -> ()\n  llvm.unreachable",
        edits: &[("%one", "%two")],
    },
    Pair {
        title: "a call before an undefined place disappears",
        head: "(%x: i32)",
        body: "llvm.call @exit(%one) : (i32) -> ()\n  llvm.unreachable",
        edits: &[("llvm.call @exit(%one) : (i32) -> ()", ""), ("unreachable", "return")],
    },
    Pair {
        title: "a branch to a call that does not return disappears",
        head: "(%x: i32) -> i32",
        body: "%c = llvm.icmp \"slt\" %x, %zero : i32
  llvm.cond_br %c, ^bad, ^good
^bad:
  llvm.call @exit(%one) : (i32) -> ()
  llvm.unreachable
^good:
  llvm.call @h() : () -> ()
  llvm.return %x : i32",
        edits: &[
            ("cond_br %c, ^bad, ^good", "br ^good"),
            ("^bad:\n  llvm.call @exit(%one) : (i32) -> ()\n  llvm.unreachable", ""),
        ],
    },
    Pair {
        title: "a volatile read of another width",
        head: POINTER,
        body: "%x = llvm.load volatile %p : !llvm.ptr -> i8\n  llvm.return",
        edits: &[("i8", "i64")],
    },
    Pair {
        title: "a read of another width",
        head: POINTER,
        body: "%x = llvm.load %p : !llvm.ptr -> i8\n  llvm.return",
        edits: &[("i8", "i64")],
    },
    Pair {
        title: "a variadic argument of another type",
        head: POINTER_TO_INT,
        body: "%x = llvm.va_arg %p : (!llvm.ptr) -> i32
  %y = llvm.va_arg %p : (!llvm.ptr) -> i32
  llvm.return %y : i32",
        edits: &[("-> i32", "-> f64")],
    },
    Pair {
        title: "an indirect call of another type",
        head: POINTER,
        body: "%x = llvm.call %p() : !llvm.ptr, () -> i32\n  llvm.return",
        edits: &[("-> i32", "-> f64")],
    },
    Pair {
        title: "a branch on what is read, before a call",
        head: POINTER_TO_INT,
        body: "%c = llvm.load %p : !llvm.ptr -> i1
  llvm.call @h() : () -> ()
  llvm.cond_br %c, ^a, ^b
^a:
  llvm.return %one : i32
^b:
  llvm.return %two : i32",
        edits: &[
            ("  llvm.call @h() : () -> ()\n", ""),
            ("^a:\n", "^a:\n  llvm.call @h() : () -> ()\n"),
            ("^b:\n", "^b:\n  llvm.call @h() : () -> ()\n"),
        ],
    },
    Pair {
        title: "a branch on what may be poison, before a call",
        head: POINTER_TO_INT,
        body: CALL_THEN_BRANCH,
        edits: &[
            ("  llvm.call @h() : () -> ()\n", ""),
            ("^a:\n", "^a:\n  llvm.call @h() : () -> ()\n"),
            ("^b:\n", "^b:\n  llvm.call @h() : () -> ()\n"),
        ],
    },
    Pair {
        title: "a branch that another one decides, unless a value is undefined",
        head: "(%p: !llvm.ptr, %y: i32) -> i32",
        body: BRANCH_ON_Y,
        edits: &[(
            "llvm.br ^e",
            "%t = llvm.sub %x, %x : i32
  %u = llvm.add %t, %y : i32
  %v = llvm.add %u, %one : i32
  %d = llvm.icmp \"eq\" %v, %zero : i32
  llvm.cond_br %d, ^b, ^e",
        )],
    },
    Pair {
        title: "a branch that another one decides, unless a value is poison",
        head: "(%p: !llvm.ptr, %y: i32) -> i32",
        body: BRANCH_ON_Y,
        edits: &[(
            "llvm.br ^e",
            "%t = llvm.sub %xx, %xx : i32
  %u = llvm.add %t, %y : i32
  %v = llvm.add %u, %one : i32
  %d = llvm.icmp \"eq\" %v, %zero : i32
  llvm.cond_br %d, ^b, ^e",
        )],
    },
    Pair {
        title: "a counter that begins with what may be undefined",
        head: "(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr) -> i32",
        body: COUNTED,
        edits: &[("%z = llvm.add %y, %zero", "%t = llvm.sub %x, %x : i32\n  %z = llvm.add %y, %t")],
    },
    Pair {
        title: "a counter that begins with what may be poison",
        head: "(%p: !llvm.ptr, %q: !llvm.ptr, %r: !llvm.ptr) -> i32",
        body: COUNTED,
        edits: &[("%z = llvm.add %y, %zero", "%t = llvm.sub %xx, %xx : i32\n  %z = llvm.add %y, %t")],
    },
    Pair {
        title: "an address whose scaling may wrap",
        head: "(%p: !llvm.ptr, %i: i64, %v: i32)",
        body: "%four = llvm.mlir.constant(4 : i64) : i64
  %k = llvm.mul %i, %four : i64
  %q = llvm.getelementptr inbounds %p[%k] : (!llvm.ptr, i64) -> !llvm.ptr, i8
  llvm.store %v, %q : i32, !llvm.ptr
  llvm.return",
        edits: &[("%p[%k]", "%p[%i]"), ("!llvm.ptr, i8", "!llvm.ptr, i32")],
    },
    Pair {
        title: "a switch without cases",
        head: POINTER_TO_INT,
        body: "%x = llvm.load %p : !llvm.ptr -> i32\n  llvm.br ^a\n^a:\n  llvm.return %zero : i32",
        edits: &[("llvm.br ^a", "llvm.switch %x : i32, ^a []")],
    },
    Pair {
        title: "a loop that has to end",
        head: "(%n: i32, %c: i1) -> i32",
        body: TWO_LOOPS,
        edits: &[("^k, ^e\n", PROMISED)],
    },
    Pair {
        title: "a value that is no longer frozen",
        head: "(%x: i32) -> i32",
        body: "%y = llvm.freeze %x : i32\n  llvm.return %y : i32",
        edits: &[("%y = llvm.freeze %x : i32", ""), ("%y", "%x")],
    },
    Pair {
        title: "a branch on an argument",
        head: "(%x: i1) -> i1",
        body: "llvm.br ^a\n^a:\n  llvm.return %x : i1",
        edits: &[("br ^a", "cond_br %x, ^a, ^b"), ("%x : i1", "%x : i1\n^b:\n  llvm.return %x : i1")],
    },
    Pair {
        title: "a counter that agrees twice",
        head: INTS,
        body: COUNTERS,
        edits: &[("xor %s, %i", "xor %s, %j")],
    },
    Pair {
        title: "a counter in place of another at the exit",
        head: INTS,
        body: COUNTERS,
        edits: &[("%i1, %n", "%j1, %n")],
    },
    Pair {
        title: "two values change places",
        head: INTS,
        body: COUNTERS,
        edits: &[("^h(%i1, %j1, %t", "^h(%t, %j1, %i1")],
    },
    Pair {
        title: "a value is not handed on",
        head: INTS,
        body: COUNTERS,
        edits: &[("^h(%i1, %j1, %t", "^h(%i1, %j1, %s")],
    },
    Pair { title: "one iteration more", head: INTS, body: COUNTERS, edits: &[("slt", "sle")] },
    Pair {
        title: "another start",
        head: INTS,
        body: COUNTERS,
        edits: &[("^h(%zero, %zero, %zero", "^h(%one, %zero, %zero")],
    },
    Pair {
        title: "what was known in the first iteration",
        head: INTS,
        body: COUNTERS,
        edits: &[("xor %s, %i", "xor %zero, %i")],
    },
    Pair {
        title: "a call of the first iteration only",
        head: INTS,
        body: COUNTERS,
        edits: &[(
            "br ^h(%zero, %zero, %zero : i32, i32, i32)\n",
            "call @g(%zero) : (i32) -> ()\n  llvm.br ^h(%zero, %zero, %zero : i32, i32, i32)\n",
        )],
    },
    Pair {
        title: "no further iteration",
        head: INTS,
        body: COUNTERS,
        edits: &[("llvm.cond_br %c, ^h(%i1, %j1, %t : i32, i32, i32), ^e", "llvm.br ^e")],
    },
    Pair {
        title: "no end",
        head: INTS,
        body: COUNTERS,
        edits: &[
            (
                "llvm.cond_br %c, ^h(%i1, %j1, %t : i32, i32, i32), ^e",
                "llvm.br ^h(%i1, %j1, %t : i32, i32, i32)",
            ),
            ("^e:\n  llvm.return %t : i32", ""),
        ],
    },
    Pair {
        title: "a flag of the counter",
        head: INTS,
        body: COUNTERS,
        edits: &[("%i1 = llvm.add %i, %one", "%i1 = llvm.add %i, %one overflow<nsw>")],
    },
    Pair {
        title: "a write less",
        head: POINTERS,
        body: WRITES,
        edits: &[("llvm.store %x, %q : i32, !llvm.ptr\n", "")],
    },
    Pair {
        title: "a write more",
        head: POINTERS,
        body: WRITES,
        edits: &[(
            "llvm.call @g(%n) : (i32) -> ()",
            "llvm.call @g(%n) : (i32) -> ()\n  llvm.store %n, %p : i32, !llvm.ptr",
        )],
    },
    Pair {
        title: "a larger alignment",
        head: POINTERS,
        body: WRITES,
        edits: &[("store %n, %p {alignment = 4", "store %n, %p {alignment = 8")],
    },
    Pair {
        title: "a larger alignment of a read",
        head: POINTERS,
        body: WRITES,
        edits: &[("load %q {alignment = 4", "load %q {alignment = 8")],
    },
    Pair {
        title: "a volatile write is an usual one",
        head: POINTERS,
        body: WRITES,
        edits: &[("store volatile", "store")],
    },
    Pair { title: "a weaker order", head: POINTERS, body: WRITES, edits: &[("acquire", "monotonic")] },
    Pair {
        title: "calls change places",
        head: POINTERS,
        body: WRITES,
        edits: &[("@g(%x)", "@g(%m0)"), ("@g(%n)", "@g(%x)"), ("@g(%m0)", "@g(%n)")],
    },
    Pair {
        title: "a call less",
        head: POINTERS,
        body: WRITES,
        edits: &[("  llvm.call @g(%n) : (i32) -> ()\n", "")],
    },
    Pair {
        title: "a read moves over a write",
        head: POINTERS,
        body: WRITES,
        edits: &[
            ("  %x = llvm.load %q {alignment = 4 : i64} : !llvm.ptr -> i32\n", ""),
            (
                "llvm.store %n, %p {al",
                "%x = llvm.load %q {alignment = 4 : i64} : !llvm.ptr -> i32\n  llvm.store %n, %p {al",
            ),
        ],
    },
    Pair {
        title: "a read moves over a call",
        head: POINTERS,
        body: WRITES,
        edits: &[
            ("  llvm.call @g(%n) : (i32) -> ()\n", ""),
            ("%y = llvm.load %p atomic", "llvm.call @g(%n) : (i32) -> ()\n  %y = llvm.load %p atomic"),
        ],
    },
    Pair {
        title: "a write through another pointer",
        head: POINTERS,
        body: WRITES,
        edits: &[("store %n, %p", "store %n, %q")],
    },
    Pair {
        title: "a read that never changes",
        head: POINTERS,
        body: WRITES,
        edits: &[("load %q {", "load %q invariant {")],
    },
    Pair {
        title: "no signed wrap",
        head: MIXED,
        body: PLAIN,
        edits: &[("add %n, %m", "add %n, %m overflow<nsw>")],
    },
    Pair { title: "disjoint bits", head: MIXED, body: PLAIN, edits: &[("or %a", "or disjoint %a")] },
    Pair {
        title: "an exact shift",
        head: MIXED,
        body: PLAIN,
        edits: &[("lshr %b, %two", "lshr exact %b, %two")],
    },
    Pair { title: "no sign", head: MIXED, body: PLAIN, edits: &[("zext %d", "zext nneg %d")] },
    Pair {
        title: "nothing is cut",
        head: MIXED,
        body: PLAIN,
        edits: &[("trunc %w", "trunc %w overflow<nuw>")],
    },
    Pair {
        title: "an address in bounds",
        head: MIXED,
        body: PLAIN,
        edits: &[("getelementptr %p", "getelementptr inbounds %p")],
    },
    Pair {
        title: "an address that does not wrap",
        head: MIXED,
        body: PLAIN,
        edits: &[("getelementptr %p", "getelementptr nuw %p")],
    },
    Pair { title: "an arithmetic shift", head: MIXED, body: PLAIN, edits: &[("lshr", "ashr")] },
    Pair { title: "a sign is copied", head: MIXED, body: PLAIN, edits: &[("zext", "sext")] },
    Pair { title: "operands of a choice", head: MIXED, body: PLAIN, edits: &[("%l, %a, %b", "%l, %b, %a")] },
    Pair { title: "an unsigned comparison", head: MIXED, body: PLAIN, edits: &[("slt", "ult")] },
    Pair { title: "a maximum", head: MIXED, body: PLAIN, edits: &[("smin", "smax")] },
    Pair {
        title: "elements of another size",
        head: MIXED,
        body: PLAIN,
        edits: &[("!llvm.ptr, i32\n", "!llvm.ptr, i16\n")],
    },
    Pair { title: "another operand", head: MIXED, body: PLAIN, edits: &[("add %n, %m", "add %n, %n")] },
    Pair { title: "another constant", head: MIXED, body: PLAIN, edits: &[("%ten", "%two")] },
    Pair {
        title: "a comparison of one sign",
        head: MIXED,
        body: PLAIN,
        edits: &[("slt\" %u, %m", "slt\" %u, %m {llvm.samesign}")],
    },
    Pair {
        title: "an endless loop before an undefined place",
        head: FLAG,
        body: WAITS,
        edits: &[("br ^h\n^h:\n  llvm.cond_br %c, ^h, ^e\n^e:\n", "br ^e\n^e:\n")],
    },
    Pair {
        title: "a loop ends that may not end",
        head: FLAG,
        body: SPINS,
        edits: &[("cond_br %c, ^h, ^e", "br ^e")],
    },
    Pair {
        title: "a loop that never ends",
        head: FLAG,
        body: SPINS,
        edits: &[("^r:\n  llvm.return", "^r:\n  llvm.br ^r")],
    },
    Pair {
        title: "a loop that ends at the other value",
        head: FLAG,
        body: SPINS,
        edits: &[("^h, ^e", "^e, ^h")],
    },
    Pair {
        title: "a loop in which the first program would wait",
        head: FLAG,
        body: SPINS,
        edits: &[("^e:\n  llvm.br ^r", "^e:\n  llvm.cond_br %c, ^r, ^e")],
    },
    Pair {
        title: "an undefined end",
        head: FLAG,
        body: SPINS,
        edits: &[("llvm.return", "llvm.unreachable")],
    },
    Pair {
        title: "an endless loop with effects",
        head: FLAG,
        body: "llvm.br ^h
^h:
  llvm.call @h() : () -> ()
  llvm.br ^h",
        edits: &[("  llvm.call @h() : () -> ()\n", "")],
    },
    Pair {
        title: "cases change places",
        head: TWO_INTS,
        body: CHOICE,
        edits: &[("1: ^a", "9: ^a"), ("3: ^b", "1: ^b"), ("9: ^a", "3: ^a")],
    },
    Pair { title: "a case less", head: TWO_INTS, body: CHOICE, edits: &[("    2: ^a(%two : i32),\n", "")] },
    Pair { title: "a case of another number", head: TWO_INTS, body: CHOICE, edits: &[("3: ^b", "4: ^b")] },
    Pair { title: "a value of a case", head: TWO_INTS, body: CHOICE, edits: &[("^a(%m", "^a(%n")] },
    Pair {
        title: "the case of all others",
        head: TWO_INTS,
        body: CHOICE,
        edits: &[("i32, ^o [", "i32, ^b [")],
    },
    Pair {
        title: "a sum in any order",
        head: FLOATS,
        body: SUM,
        edits: &[("fadd %x, %y", "fadd %x, %y {fastmathFlags = #llvm.fastmath<reassoc>}")],
    },
    Pair {
        title: "a sum whose zero may have any sign",
        head: FLOATS,
        body: SUM,
        edits: &[("fadd %x, %y", "fadd %x, %y {fastmathFlags = #llvm.fastmath<nsz>}")],
    },
    Pair {
        title: "no numbers that are none",
        head: FLOATS,
        body: SUM,
        edits: &[("fadd %x, %y", "fadd %x, %y {fastmathFlags = #llvm.fastmath<nnan>}")],
    },
    Pair {
        title: "operands of a sum of floats",
        head: FLOATS,
        body: SUM,
        edits: &[("fadd %x, %y", "fadd %x, %x")],
    },
    Pair {
        title: "a sum of floats in another order",
        head: FLOATS,
        body: SUM,
        edits: &[("fmul %s, %y", "fmul %y, %s")],
    },
    Pair {
        title: "a choice that hides poison",
        head: MIXED,
        body: "%l = llvm.icmp \"slt\" %n, %m : i32
  %a = llvm.add %n, %m overflow<nsw> : i32
  %k = llvm.icmp \"eq\" %a, %n : i32
  %o = llvm.mlir.constant(false) : i1
  %s = llvm.select %l, %k, %o : i1, i1
  %x = llvm.select %s, %n, %m : i1, i32
  llvm.return %x : i32",
        edits: &[("%s = llvm.select %l, %k, %o : i1, i1", "%s = llvm.and %l, %k : i1")],
    },
    Pair {
        title: "two objects are one",
        head: FLAG,
        body: "%a = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  %b = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.call @two(%a, %b) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.return",
        edits: &[("@two(%a, %b)", "@two(%a, %a)")],
    },
    Pair {
        title: "an object is made in each iteration",
        head: FLAG,
        body: "%a = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
  llvm.br ^h
^h:
  llvm.call @two(%a, %a) : (!llvm.ptr, !llvm.ptr) -> ()
  llvm.cond_br %c, ^h, ^e
^e:
  llvm.return",
        edits: &[
            ("%a = llvm.alloca %one x i32 : (i32) -> !llvm.ptr\n", ""),
            ("^h:\n", "^h:\n  %a = llvm.alloca %one x i32 : (i32) -> !llvm.ptr\n"),
        ],
    },
    Pair {
        title: "a division before a call",
        head: MIXED,
        body: "llvm.call @h() : () -> ()
  %x = llvm.udiv %n, %m : i32
  llvm.return %x : i32",
        edits: &[(
            "llvm.call @h() : () -> ()\n  %x = llvm.udiv %n, %m : i32\n",
            "%x = llvm.udiv %n, %m : i32\n  llvm.call @h() : () -> ()\n",
        )],
    },
    Pair {
        title: "a division before a branch",
        head: MIXED,
        body: "%c = llvm.icmp \"eq\" %m, %zero : i32
  llvm.cond_br %c, ^a, ^b
^a:
  llvm.return %zero : i32
^b:
  %x = llvm.udiv %n, %m : i32
  llvm.return %x : i32",
        edits: &[
            ("%c =", "%x = llvm.udiv %n, %m : i32\n  %c ="),
            ("^b:\n  %x = llvm.udiv %n, %m : i32\n", "^b:\n"),
        ],
    },
    Pair {
        title: "a result that may be poison",
        head: MIXED,
        body: "llvm.return %n : i32",
        edits: &[(
            "llvm.return %n",
            "%y = llvm.load %p : !llvm.ptr -> i32\n  %z = llvm.mul %y, %zero : i32\n  %x = llvm.add %n, %z : i32\n  llvm.return %x",
        )],
    },
    Pair {
        title: "a write before a call",
        head: MIXED,
        body: "llvm.call @h() : () -> ()
  llvm.store %n, %p : i32, !llvm.ptr
  llvm.return %n : i32",
        edits: &[(
            "llvm.call @h() : () -> ()\n  llvm.store %n, %p : i32, !llvm.ptr\n",
            "llvm.store %n, %p : i32, !llvm.ptr\n  llvm.call @h() : () -> ()\n",
        )],
    },
];
