//! Functions of many loops as LLVM IR, for fusion on control flow graphs.

use std::fmt::Write;

/// The way in which the loops of a function depend on each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Graphs {
    /// Each writes an array of its own.
    Distinct,
    /// Each reads what the one before wrote.
    Chain,
    /// All update one array in place.
    Same,
    /// Each writes an array of its own, behind a guard.
    Guarded,
    /// Each reads one element ahead in the array that all write: no two may be fused.
    Ahead,
    /// Each writes an array of its own, and a call that anything may happen in stands between.
    Apart,
}

impl Graphs {
    /// All kinds.
    pub const ALL: [Graphs; 6] =
        [Graphs::Distinct, Graphs::Chain, Graphs::Same, Graphs::Guarded, Graphs::Ahead, Graphs::Apart];

    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Graphs::Distinct => "distinct arrays",
            Graphs::Chain => "chain",
            Graphs::Same => "one array",
            Graphs::Guarded => "guarded",
            Graphs::Ahead => "read ahead",
            Graphs::Apart => "calls between",
        }
    }

    /// A function of `count` loops.
    pub fn program(self, count: usize) -> String {
        let mut text = String::new();
        let arrays = if matches!(self, Graphs::Same | Graphs::Ahead) { 1 } else { count + 1 };
        for k in 0..arrays {
            let _ = writeln!(text, "@A{k} = global [1024 x i32] zeroinitializer, align 16");
        }
        if self == Graphs::Apart {
            text.push_str("declare void @called()\n");
        }
        text.push_str("define void @f(i64 %n) {\n  br label %l0.in\n");
        for k in 0..count {
            self.one(k, &mut text);
        }
        let _ = writeln!(text, "l{count}.in:\n  ret void\n}}");
        text
    }

    /// Loop `k`, from where it is entered to where the next one is.
    fn one(self, k: usize, text: &mut String) {
        let next = k + 1;
        let is_guarded = self == Graphs::Guarded;
        let (before, exit) = match is_guarded {
            true => (format!("l{k}.ph"), format!("l{k}.out")),
            false => (format!("l{k}.in"), format!("l{next}.in")),
        };
        let _ = writeln!(text, "l{k}.in:");
        if is_guarded {
            let _ = writeln!(text, "  %g{k} = icmp slt i64 0, %n");
            let _ = writeln!(text, "  br i1 %g{k}, label %l{k}.ph, label %l{next}.in\nl{k}.ph:");
        }
        if self == Graphs::Apart {
            text.push_str("  call void @called()\n");
        }
        let _ = writeln!(text, "  br label %l{k}\nl{k}:");
        let _ = writeln!(text, "  %i{k} = phi i64 [ 0, %{before} ], [ %i{k}.n, %l{k} ]");
        let own = match self {
            Graphs::Same | Graphs::Ahead => 0,
            Graphs::Chain => next,
            _ => k,
        };
        let place = |name: &str, array: usize, at: &str| {
            format!("  %{name}{k} = getelementptr inbounds [1024 x i32], ptr @A{array}, i64 0, i64 {at}\n")
        };
        let variable = format!("%i{k}");
        let read = match self {
            Graphs::Chain => Some(place("q", k, &variable)),
            Graphs::Same => Some(place("q", 0, &variable)),
            Graphs::Ahead => {
                let _ = writeln!(text, "  %a{k} = add nuw nsw i64 %i{k}, 1");
                Some(place("q", 0, &format!("%a{k}")))
            }
            _ => None,
        };
        match read {
            Some(read) => {
                text.push_str(&read);
                let _ = writeln!(text, "  %v{k} = load i32, ptr %q{k}, align 4");
                let _ = writeln!(text, "  %w{k} = add i32 %v{k}, {next}");
            }
            None => {
                let _ = writeln!(text, "  %w{k} = trunc i64 %i{k} to i32");
            }
        }
        text.push_str(&place("p", own, &variable));
        let _ = writeln!(text, "  store i32 %w{k}, ptr %p{k}, align 4");
        let _ = writeln!(text, "  %i{k}.n = add nuw nsw i64 %i{k}, 1");
        let test = if is_guarded { "slt i64 %i{k}.n, %n" } else { "ne i64 %i{k}.n, 1000" };
        let _ = writeln!(text, "  %c{k} = icmp {}", test.replace("{k}", &k.to_string()));
        let _ = writeln!(text, "  br i1 %c{k}, label %l{k}, label %{exit}");
        if is_guarded {
            let _ = writeln!(text, "l{k}.out:\n  br label %l{next}.in");
        }
    }
}
