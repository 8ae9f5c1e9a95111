//! [`Space`]: what the visible variables of a conjunction mean.
//!
//! The variables are numbered parameters first, then the dimensions of the tuple of a set, or of
//! the input and then the output tuple of a relation. Two tuples are alike if they have the same
//! name and arity; the names of dimensions are for readers. Parameters are identified by name, and
//! operations on two sets bring them together.

use std::fmt;
use std::sync::Arc;

use crate::affine::Var;
use crate::error::Error;

/// A named tuple such as `S[i, j]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tuple {
    /// The tuple's name; none for `[i, j]`.
    pub name: Option<Arc<str>>,
    /// The dimensions; one without a name gets a made-up one in print.
    pub dims: Vec<Option<Arc<str>>>,
}

impl Tuple {
    /// A tuple with named dimensions; an empty `name` is none.
    pub fn new(name: &str, dims: &[&str]) -> Tuple {
        Tuple { name: optional(name), dims: dims.iter().map(|dim| optional(dim)).collect() }
    }

    /// A tuple of `arity` unnamed dimensions.
    pub fn unnamed(name: &str, arity: usize) -> Tuple {
        Tuple { name: optional(name), dims: vec![None; arity] }
    }

    /// Number of dimensions.
    pub fn arity(&self) -> usize {
        self.dims.len()
    }

    /// True if name and arity are equal.
    pub fn is_like(&self, other: &Tuple) -> bool {
        self.name == other.name && self.arity() == other.arity()
    }
}

fn optional(name: &str) -> Option<Arc<str>> {
    (!name.is_empty()).then(|| Arc::from(name))
}

impl fmt::Display for Tuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.name.as_deref().unwrap_or(""))?;
        for (index, dim) in self.dims.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { ", " }, dim.as_deref().unwrap_or("_"))?;
        }
        f.write_str("]")
    }
}

/// The parameters and tuples of a set (one tuple) or a relation (input and output).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Space {
    pub(crate) params: Vec<Arc<str>>,
    pub(crate) tuples: Vec<Tuple>,
}

impl Space {
    /// The space of sets of `tuple`.
    pub fn set(params: &[&str], tuple: Tuple) -> Space {
        Space { params: params.iter().map(|name| Arc::from(*name)).collect(), tuples: vec![tuple] }
    }

    /// The space of relations from `input` to `output`.
    pub fn relation(params: &[&str], input: Tuple, output: Tuple) -> Space {
        Space { params: params.iter().map(|name| Arc::from(*name)).collect(), tuples: vec![input, output] }
    }

    /// The parameters' names.
    pub fn params(&self) -> &[Arc<str>] {
        &self.params
    }

    /// The tuple of a set, or input and output of a relation.
    pub fn tuples(&self) -> &[Tuple] {
        &self.tuples
    }

    /// Number of visible variables.
    pub fn vars(&self) -> usize {
        self.params.len() + self.dims()
    }

    /// Number of dimensions, without parameters.
    pub fn dims(&self) -> usize {
        self.tuples.iter().map(Tuple::arity).sum()
    }

    /// The variable of a parameter.
    pub fn param(&self, name: &str) -> Option<Var> {
        self.params.iter().position(|param| **param == *name).map(|index| Var(index as u32))
    }

    /// The variable of dimension `index` of the set's tuple or the relation's input.
    pub fn dim(&self, index: usize) -> Var {
        Var((self.params.len() + index) as u32)
    }

    /// The variable of dimension `index` of the relation's output.
    pub fn out(&self, index: usize) -> Var {
        Var((self.params.len() + self.tuples[0].arity() + index) as u32)
    }

    /// A name for each visible variable, made up and made unique where needed.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.params.iter().map(|name| name.to_string()).collect();
        let prefixes = if self.tuples.len() == 1 { ["i", "i"] } else { ["i", "o"] };
        for (tuple, prefix) in self.tuples.iter().zip(prefixes) {
            for (index, dim) in tuple.dims.iter().enumerate() {
                let wanted = dim.as_deref().map_or_else(|| format!("{prefix}{index}"), str::to_string);
                let mut name = wanted.clone();
                while names.contains(&name) {
                    name.push('\'');
                }
                names.push(name);
            }
        }
        names
    }

    /// The same parameters with other tuples.
    pub(crate) fn with_tuples(&self, tuples: Vec<Tuple>) -> Space {
        Space { params: self.params.clone(), tuples }
    }

    pub(crate) fn mismatch(&self, other: &Space) -> Error {
        Error::SpaceMismatch(self.to_string(), other.to_string())
    }

    /// The parameters of both spaces, and where the variables of each space go: first those of
    /// `self`, then the new ones of `other`.
    pub(crate) fn align(&self, other: &Space) -> Alignment {
        let mut params = self.params.clone();
        for name in &other.params {
            if !params.contains(name) {
                params.push(name.clone());
            }
        }
        let place = |space: &Space| {
            let count = params.len();
            space
                .params
                .iter()
                .filter_map(|name| params.iter().position(|param| param == name))
                .chain(count..count + space.dims())
                .collect::<Vec<usize>>()
        };
        Alignment { left: place(self), right: place(other), params }
    }
}

/// The parameters of two spaces, matched.
pub(crate) struct Alignment {
    pub(crate) params: Vec<Arc<str>>,
    /// New position of each variable of the left space.
    pub(crate) left: Vec<usize>,
    pub(crate) right: Vec<usize>,
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.params.is_empty() {
            write!(f, "[{}] -> ", self.params.join(", "))?;
        }
        f.write_str("{ ")?;
        for (index, tuple) in self.tuples.iter().enumerate() {
            write!(f, "{}{tuple}", if index == 0 { "" } else { " -> " })?;
        }
        f.write_str(" }")
    }
}
