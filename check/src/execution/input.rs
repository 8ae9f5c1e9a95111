//! One input of a function: its arguments, and their text.

/// The arguments of one call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// One for each parameter.
    pub arguments: Vec<Argument>,
}

/// One argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Argument {
    /// A number, as text.
    Number(String),
    /// A buffer.
    Buffer(Buffer),
}

/// A buffer as an argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// Its type, with a `?` for each size that `sizes` fills in.
    pub ty: String,
    /// The sizes of the dimensions that the type leaves open.
    pub sizes: Vec<i64>,
    /// The sizes of all dimensions, those that the type gives included; `None` stands for the next
    /// of `sizes`.
    pub shape: Vec<Option<i64>>,
    /// Its first contents.
    pub contents: Contents,
    /// True if the text must name the type even if it leaves no size open.
    pub typed: bool,
}

/// The first contents of a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contents {
    /// Zero everywhere.
    Zeros,
    /// Consecutive numbers, beginning with this one.
    Iota(u32),
    /// Pseudo-random numbers of this seed.
    Random(u64),
    /// These numbers, again and again, beginning with the one of this place.
    Repeated(&'static [&'static str], usize),
    /// The buffer of another argument, so many elements further.
    Shared(usize, u32),
}

/// Buffers with more elements than this are never given as lists.
const LONGEST_LIST: i64 = 64;

impl Input {
    /// Returns the arguments as `loomir run` takes them.
    pub fn to_texts(&self) -> Vec<String> {
        let text = |argument: &Argument| match argument {
            Argument::Number(number) => number.clone(),
            Argument::Buffer(buffer) => buffer.to_text(),
        };
        self.arguments.iter().map(text).collect()
    }
}

impl Buffer {
    /// Returns the sizes of all dimensions.
    pub fn all_sizes(&self) -> Vec<i64> {
        let mut open = self.sizes.iter().copied();
        self.shape.iter().map(|size| size.unwrap_or_else(|| open.next().unwrap_or(0))).collect()
    }

    fn to_text(&self) -> String {
        let contents = match &self.contents {
            Contents::Zeros => "zeros".into(),
            Contents::Iota(0) => "iota".into(),
            Contents::Iota(first) => format!("iota+{first}"),
            Contents::Random(seed) => format!("random:{seed}"),
            Contents::Repeated(numbers, first) => self.list(numbers, *first),
            Contents::Shared(of, 0) => format!("@{of}"),
            Contents::Shared(of, shift) => format!("@{of}+{shift}"),
        };
        if self.sizes.is_empty() && !self.typed {
            return contents;
        }
        let mut ty = self.ty.clone();
        for size in &self.sizes {
            ty = ty.replacen('?', &size.to_string(), 1);
        }
        format!("{contents} : {ty}")
    }

    /// Writes nested lists of the buffer's shape.
    fn list(&self, numbers: &[&str], first: usize) -> String {
        let sizes = self.all_sizes();
        let count = sizes.iter().try_fold(1i64, |count, size| count.checked_mul(*size));
        if count.is_none_or(|count| count > LONGEST_LIST) || sizes.is_empty() {
            let number = numbers.get(first % numbers.len().max(1));
            return number.map_or("zeros".into(), |number| (*number).into());
        }
        let mut next = first;
        nested(&sizes, numbers, &mut next)
    }
}

/// Writes the lists of some dimensions. Recursion is as deep as the type has dimensions, of which a
/// short list has few.
fn nested(sizes: &[i64], numbers: &[&str], next: &mut usize) -> String {
    let Some((size, inner)) = sizes.split_first() else {
        *next += 1;
        return numbers.get((*next - 1) % numbers.len().max(1)).copied().unwrap_or("0").into();
    };
    let parts: Vec<String> = (0..*size).map(|_| nested(inner, numbers, next)).collect();
    format!("[{}]", parts.join(", "))
}
