//! The printer: a [`Body`] to text, byte for byte what MLIR prints.
//!
//! Three steps. Every value and block gets its name ([`names`]). If any attribute or type of the
//! program has an alias ([`survey`]), or locations are printed, the operations are gone through
//! once as if they were printed, to see what is printed in which order ([`aliases`]); of those that
//! look alike, the first. Then the text is written. [`OpPrinter`] is the state of all three and
//! what the hooks of operations write to: which attributes and types a hook prints must follow from
//! those of its operation and of its values.
//!
//! Cost: linear in the text, which is written once.

use hashbrown::HashMap;

use crate::attributes::{Attr, Dict};
use crate::body::{Body, OpRef, Signatures};
use crate::context::Context;
use crate::text::{OpPrinter, PrintOptions};
use crate::types::Type;
use aliases::Aliases;
use names::Names;

mod affine;
pub(crate) mod aliases;
pub(crate) mod attributes;
mod locations;
pub(crate) mod names;
mod operations;
mod resources;
mod survey;
mod types;

/// Levels of nesting on one stack.
const STACK_STEP: u32 = 48;

/// The bytes that are reserved for the text of an operation. Reserved memory costs nothing until it
/// is written; a text that outgrows it is copied.
const BYTES_PER_OPERATION: usize = 64;

/// The use of what the hooks write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It is the text.
    Print,
    /// It is thrown away: attributes and types are noted for their aliases.
    Collect,
}

impl<'p> OpPrinter<'p> {
    /// A printer of attributes and types alone.
    pub(crate) fn new(ctx: &'p Context, options: &'p PrintOptions) -> Self {
        OpPrinter {
            ctx,
            options,
            out: String::new(),
            mode: Mode::Print,
            written_types: Default::default(),
            collected: Signatures::default(),
            names: Names::default(),
            aliases: Aliases::default(),
            deferrable: false,
            distinct: None,
            resources: Vec::new(),
            current: 0,
            indent: 0,
            depth: 0,
            default_dialects: vec!["builtin"],
        }
    }

    /// Prints an operation with all it holds. Values have the names of the whole body around it.
    pub(crate) fn run(mut self, op: OpRef<'p>) -> String {
        let survey;
        (self.names, survey) = Names::of(op.body().root_ref(), self.options);
        self.current = self.names.index_of(op.body());
        self.out.reserve(survey.operations.saturating_mul(BYTES_PER_OPERATION));
        let aliases_may_occur = || self.options.debug_info || aliases::may_occur(self.ctx, &survey);
        let may_have_aliases = !self.options.local_scope && aliases_may_occur();
        if may_have_aliases {
            self.mode = Mode::Collect;
            self.operation(op);
            self.out.clear();
            self.aliases.number();
            self.mode = Mode::Print;
        }
        self.distinct = Some(HashMap::new());
        self.alias_definitions(false);
        self.full_operation(op);
        self.out.push('\n');
        self.alias_definitions(true);
        if !self.options.local_scope {
            self.file_metadata(op);
        }
        self.out
    }

    /// Notes what would be written, if the text is thrown away; whether it is.
    pub(crate) fn note(&mut self, note: impl FnOnce(&mut Self)) -> bool {
        let is_noted = self.mode == Mode::Collect;
        if is_noted {
            note(self);
        }
        is_noted
    }

    /// Goes one level deeper, on another stack where this one may end.
    pub(crate) fn nested(&mut self, f: impl FnOnce(&mut Self) + Send) {
        self.depth += 1;
        let mut f = Some(f);
        if self.depth.is_multiple_of(STACK_STEP) {
            super::parser::on_new_stack(|| f.take().map(|f| f(self)));
        }
        // Without a further stack there is only this one.
        if let Some(f) = f {
            f(self);
        }
        self.depth -= 1;
    }

    pub(crate) fn comma_separated<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T),
    ) {
        for (i, item) in items.into_iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            each(self, item);
        }
    }
}

/// Returns the text that `write` writes without names and aliases.
pub(crate) fn with_printer(ctx: &Context, write: impl FnOnce(&mut OpPrinter<'_>)) -> String {
    let options = PrintOptions::default();
    let mut printer = OpPrinter::new(ctx, &options);
    write(&mut printer);
    printer.out
}

/// A type's text.
pub(crate) fn type_text(ctx: &Context, ty: Type) -> String {
    with_printer(ctx, |p| p.ty(ty))
}

/// An attribute's text.
pub(crate) fn attr_text(ctx: &Context, attr: Attr) -> String {
    with_printer(ctx, |p| p.attr(attr))
}

/// The inherent and discardable attributes of an operation together, sorted by name.
pub(crate) fn all_attributes(op: OpRef<'_>) -> Dict {
    let (properties, attributes) = (op.properties(), op.attributes());
    if properties.is_empty() {
        return attributes;
    }
    if attributes.is_empty() {
        return properties;
    }
    let ctx = op.ctx();
    ctx.dict(attributes.entries(ctx).iter().chain(properties.entries(ctx)).copied().collect())
}

/// The printer of the body's root.
pub(crate) fn print(body: &Body, options: &PrintOptions) -> String {
    print_op(body.root_ref(), options)
}

/// The printer of an operation.
pub(crate) fn print_op(op: OpRef<'_>, options: &PrintOptions) -> String {
    OpPrinter::new(op.ctx(), options).run(op)
}
