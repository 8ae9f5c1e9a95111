//! Memory accesses: the elements that operations touch, and dependences between them.
//!
//! An operation becomes access [classes](Class): an object ([`base`]), affine subscripts and an
//! iteration domain ([`Reader`]). A call has the effects of the called function ([`callees`],
//! [`survey`]). Two classes become one integer conjunction. A [`Dependence`] test decides if the
//! conjunction has a point.
//!
//! Transformations ask through interfaces, each with several implementations ([`Analyses`]):
//!
//! | interface | question | implementations here |
//! | --- | --- | --- |
//! | [`Dependence`] | are there instances of two accesses that conflict in a given order | none, flat, directions, polyhedral |
//! | [`ClosedForms`] | which values are followed as affine forms | none, affine, polyhedral |
//! | [`Accesses`] | which element of its object an access touches | alias, linear, delinearized |
//! | [`ControlFlow`] | under which condition the body of a conditional runs | cfg, predicates |
//! | [`Statements`] | which operations are moved together | op, tied, block |
//!
//! An implementation answers for itself only. If it cannot decide, it says so, and callers assume
//! the worst case. Any combination is therefore sound; a less precise one is cheaper and refuses
//! more. Each interface can be implemented in another crate. The defaults are the most precise.

use std::sync::{Arc, OnceLock};

use hashbrown::HashSet;
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::llvm;
use loomir_ir::pass;
use loomir_ir::symbols::{Symbol, SymbolTable};
use loomir_ir::{Body, Context, Name, Op};

use crate::affine::closed_forms;
pub use crate::affine::closed_forms::ClosedForms;
use crate::affine::saturation::Saturation;
use callees::Callees;
pub use class::{Class, ConditionalElements, Domain, Effects, Space};
pub use control_flow::ControlFlow;
pub use dependence::{Answer, Dependence, Example, Order, Question, Relation};
pub use elements::{Accesses, Elements, Site};
pub use loop_context::LoopContext;
pub use not_affine::{Entered, IsAffine, NotAffine};
pub use pointers::Bytes;
use pointers::Units;
pub use reader::{Reader, header_may_be_undefined};
pub use statements::Statements;
use structure::Structure;

pub mod base;
pub mod callees;
mod class;
pub mod control_flow;
pub mod dependence;
pub mod elements;
pub mod locals;
pub(crate) mod loop_bounds;
mod loop_context;
mod not_affine;
pub mod objects;
pub(crate) mod pointers;
mod reader;
pub mod statements;
pub mod structure;
mod supposed;
pub mod survey;
pub mod updates;

/// Returns the names of a module's variables in the `llvm` dialect. Linear in its symbols.
pub fn variables_of(ctx: &Context, symbols: &SymbolTable) -> HashSet<Name> {
    let variable =
        |(name, symbol): (Name, &Symbol)| ctx.op_info(symbol.name).is(llvm::GlobalOp::DEF).then_some(name);
    symbols.iter().filter_map(variable).collect()
}

/// The implementations of all interfaces in use.
#[derive(Clone, Debug)]
pub struct Analyses {
    /// Decides if accesses conflict.
    pub dependence: Arc<dyn Dependence>,
    /// Decides which values are followed.
    pub closed_forms: Arc<dyn ClosedForms>,
    /// Locates accesses.
    pub accesses: Arc<dyn Accesses>,
    /// When something runs.
    pub control_flow: Arc<dyn ControlFlow>,
    /// Decides which operations are moved together.
    pub statements: Arc<dyn Statements>,
    /// The summaries of called functions. By default none is known. This is no interface, because
    /// there is only one implementation.
    pub callees: Arc<Callees>,
    /// The data layout of the module. Without one, an access through a pointer touches the whole
    /// object.
    pub layout: Option<Arc<DataLayout>>,
    /// The names of the module's variables in the `llvm` dialect.
    pub variables: Arc<HashSet<Name>>,
    /// The work that the blocks of a function share.
    pub shared: Shared,
}

/// Work that is done once for all blocks of a function: see [`Analyses::for_one_function`].
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// The widths of accesses in the function, once needed. `None` if blocks of several functions
    /// are read.
    units: Option<Arc<OnceLock<Units>>>,
    /// Proves expressions equal. Its rules are parsed once.
    saturation: Arc<Saturation>,
}

impl Default for Analyses {
    fn default() -> Analyses {
        Analyses {
            dependence: Arc::new(dependence::Polyhedral),
            closed_forms: Arc::new(closed_forms::Polyhedral),
            accesses: Arc::new(elements::Delinearized),
            control_flow: Arc::new(control_flow::Predicates),
            statements: Arc::new(statements::Single),
            callees: Arc::default(),
            layout: None,
            variables: Arc::default(),
            shared: Shared::default(),
        }
    }
}

/// An interface, as options and flags name it.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    /// Its name.
    pub name: &'static str,
    /// The names of its implementations, from the least precise to the most; the last one is the
    /// default.
    pub implementations: &'static [&'static str],
    /// The default.
    pub default: &'static str,
    /// The help text, with the names of the implementations.
    pub help: &'static str,
}

/// The interface [`Dependence`].
pub const DEPENDENCE: Interface = Interface {
    name: "dependence",
    implementations: &["none", "flat", "directions", "polyhedral"],
    default: "polyhedral",
    help: "how to test dependences: none (all accesses depend on each other), flat (by objects), directions (bounds and divisibility), polyhedral (exactly)",
};

/// The interface [`ClosedForms`].
pub const CLOSED_FORMS: Interface = Interface {
    name: "closed-forms",
    implementations: &["none", "affine", "polyhedral"],
    default: "polyhedral",
    help: "which index values are followed: none (numbers and variables themselves), affine (sums of multiples), polyhedral (quotients and remainders too)",
};

/// The interface [`Accesses`].
pub const ACCESSES: Interface = Interface {
    name: "accesses",
    implementations: &["alias", "linear", "delinearized"],
    default: "delinearized",
    help: "where in an object an access is: alias (anywhere), linear (at an address, where strides are numbers), delinearized (at a subscript for each dimension)",
};

/// The interface [`ControlFlow`].
pub const CONTROL_FLOW: Interface = Interface {
    name: "control-flow",
    implementations: &["cfg", "predicates"],
    default: "predicates",
    help: "how to read conditions: cfg (the inside may run), predicates (it runs if the condition holds)",
};

/// The interface [`Statements`].
pub const STATEMENTS: Interface = Interface {
    name: "statements",
    implementations: &["block", "tied", "op"],
    default: "op",
    help: "which operations move together: block (neighbours), tied (the definition of a value and its uses), op (none)",
};

/// The interfaces.
pub const INTERFACES: [Interface; 5] = [DEPENDENCE, CLOSED_FORMS, ACCESSES, CONTROL_FLOW, STATEMENTS];

impl Interface {
    /// Returns the option of a pass: its name, its default, its help text.
    pub const fn option(self) -> (&'static str, &'static str, &'static str) {
        (self.name, self.default, self.help)
    }
}

impl Analyses {
    /// Returns the same analyses for the blocks of one function: what concerns all of it is
    /// collected once, when a block first needs it. It may be changed; of new objects less is known
    /// then.
    #[must_use]
    pub fn for_one_function(&self) -> Analyses {
        let shared = Shared { units: Some(Arc::default()), ..self.shared.clone() };
        Analyses { shared, ..self.clone() }
    }

    /// Selects an implementation of this crate for an interface, both by name.
    ///
    /// # Errors
    /// A message, if there is no such interface, or no such implementation of it.
    pub fn choose(&mut self, interface: &str, implementation: &str) -> Result<(), String> {
        let found = match interface {
            "dependence" => dependence::named(implementation).map(|own| self.dependence = own),
            "closed-forms" => closed_forms::named(implementation).map(|own| self.closed_forms = own),
            "accesses" => elements::named(implementation).map(|own| self.accesses = own),
            "control-flow" => control_flow::named(implementation).map(|own| self.control_flow = own),
            "statements" => statements::named(implementation).map(|own| self.statements = own),
            _ => return Err(format!("there is no interface '{interface}'")),
        };
        let known =
            INTERFACES.iter().find(|own| own.name == interface).map_or(&[][..], |own| own.implementations);
        found.ok_or_else(|| format!("'{implementation}' is none of {}", known.join(", ")))
    }

    /// Returns the same analyses with these summaries of called functions.
    #[must_use]
    pub fn with_callees(&self, callees: &Arc<Callees>) -> Analyses {
        Analyses { callees: callees.clone(), ..self.clone() }
    }

    /// Returns the same analyses for functions of a module with this data layout and these
    /// [variables](variables_of). Constant.
    #[must_use]
    pub fn with_module(&self, layout: &Arc<DataLayout>, variables: &Arc<HashSet<Name>>) -> Analyses {
        Analyses { layout: Some(layout.clone()), variables: variables.clone(), ..self.clone() }
    }

    /// Returns the analyses that the options of a pass choose.
    ///
    /// # Errors
    /// A message, if an option names no implementation.
    pub fn of_options(options: &pass::Options) -> Result<Analyses, String> {
        let mut analyses = Analyses::default();
        for interface in INTERFACES {
            if let Some(name) = options.get(interface.name) {
                analyses.choose(interface.name, name)?;
            }
        }
        Ok(analyses)
    }

    /// Returns the loop or guard that an operation is. `None` for a statement.
    pub fn structure<'b>(&self, body: &'b Body, op: Op) -> Option<Structure<'b>> {
        let is_one = |structure: &Structure<'_>| match structure {
            Structure::If { .. } => self.control_flow.is_guard(body.op_ref(op)),
            Structure::Loop { .. } | Structure::Parallel { .. } => true,
        };
        Structure::of(body, op).filter(is_one)
    }
}
