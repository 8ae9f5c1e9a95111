//! Types of C in generated functions.

/// An integer type. `packed` ones may lie at any address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Type {
    /// The bytes of a value: 1, 2, 4 or 8.
    pub(super) bytes: i64,
    pub(super) is_signed: bool,
    pub(super) is_packed: bool,
}

impl Type {
    /// Returns its name in the text.
    pub(super) fn name(self) -> String {
        let sign = if self.is_signed { 's' } else { 'u' };
        format!("{sign}{}{}", self.bytes, if self.is_packed { "p" } else { "" })
    }

    /// Returns the least value.
    pub(super) fn least(self) -> i64 {
        if self.is_signed { -1 << (8 * self.bytes - 1) } else { 0 }
    }

    /// Returns the greatest value, for the greatest type without a sign -1.
    pub(super) fn greatest(self) -> i64 {
        match (self.is_signed, self.bytes) {
            (true, _) => !self.least(),
            (false, 8) => -1,
            (false, bytes) => (1 << (8 * bytes)) - 1,
        }
    }
}

/// All types that need their alignment.
pub(super) const TYPES: [Type; 8] = [
    plain(1, true),
    plain(1, false),
    plain(2, true),
    plain(2, false),
    plain(4, true),
    plain(4, false),
    plain(8, true),
    plain(8, false),
];

const fn plain(bytes: i64, is_signed: bool) -> Type {
    Type { bytes, is_signed, is_packed: false }
}

/// The types of the global variables, arrays that each file defines.
pub(super) const VARIABLES: [Type; 5] =
    [plain(1, false), plain(2, true), plain(4, true), plain(4, false), plain(8, false)];

/// The bytes of each global variable. Pointers point to the middle, and nothing guards its ends.
pub(super) const BYTES: i64 = 1 << 15;

/// Returns the declarations that every file begins with.
pub(super) fn declarations() -> String {
    let mut text = String::new();
    for ty in TYPES {
        let sign = if ty.is_signed { "signed" } else { "unsigned" };
        let kind = match ty.bytes {
            1 => "char",
            2 => "short",
            4 => "int",
            _ => "long",
        };
        let name = ty.name();
        text += &format!("typedef {sign} {kind} {name};\n");
        text += &format!("typedef {sign} {kind} {name}p __attribute__((aligned(1)));\n");
    }
    for ty in VARIABLES {
        let name = ty.name();
        text += &format!("extern {name} g{name}[{}];\n", BYTES / ty.bytes);
    }
    text + "void note(long), tell(long), maybe(long);\nvoid leave(long) __attribute__((noreturn));\n"
}

/// Returns the definitions of the global variables.
pub(super) fn variables() -> String {
    let definition = |ty: &Type| format!("{0} g{0}[{1}];\n", ty.name(), BYTES / ty.bytes);
    VARIABLES.iter().map(definition).collect()
}
