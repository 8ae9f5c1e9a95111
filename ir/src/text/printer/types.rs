//! Types.

use std::fmt::Write;

use crate::opdef::runtime::ParametricDef;
use crate::text::OpPrinter;
use crate::types::{DYNAMIC, Signedness, Type, TypeKind};

impl OpPrinter<'_> {
    /// Writes a type, whatever its alias.
    pub(crate) fn type_itself(&mut self, ty: Type) {
        let ctx = self.ctx;
        match ty.kind(ctx) {
            TypeKind::None => self.write("none"),
            TypeKind::Index => self.write("index"),
            TypeKind::Integer { width, signedness } => {
                self.write(match signedness {
                    Signedness::Signless => "i",
                    Signedness::Signed => "si",
                    Signedness::Unsigned => "ui",
                });
                self.number(*width);
            }
            TypeKind::Float(kind) => self.write(kind.name()),
            TypeKind::Complex(element) => {
                self.write("complex<");
                self.ty(*element);
                self.write(">");
            }
            TypeKind::Function { inputs, results } => {
                self.nested(|p| p.functional_type(inputs.iter().copied(), results.iter().copied()));
            }
            TypeKind::Tuple(types) => {
                self.write("tuple<");
                self.nested(|p| p.types(types.iter().copied()));
                self.write(">");
            }
            TypeKind::Vector { shape, scalable, element } => {
                self.write("vector<");
                for (size, scalable) in shape.iter().zip(scalable) {
                    let _ =
                        if *scalable { write!(self.out, "[{size}]x") } else { write!(self.out, "{size}x") };
                }
                self.ty(*element);
                self.write(">");
            }
            TypeKind::Tensor { shape, element, encoding } => {
                self.write("tensor<");
                self.shape(shape.as_deref());
                self.ty(*element);
                if let Some(encoding) = encoding {
                    self.write(", ");
                    self.attr(*encoding);
                }
                self.write(">");
            }
            TypeKind::MemRef { shape, element, layout, memory_space } => {
                self.write("memref<");
                self.shape(shape.as_deref());
                self.nested(|p| p.ty(*element));
                if let Some(layout) = layout {
                    self.write(", ");
                    self.attr(*layout);
                }
                if let Some(space) = memory_space {
                    self.write(", ");
                    self.attr_eliding_default(*space);
                }
                self.write(">");
            }
            TypeKind::Dialect { name, params } => {
                self.write("!");
                self.write(ctx.str(*name));
                self.nested(|p| match ctx.type_def(*name) {
                    Some(def) => (def.print)(p, params),
                    None => ParametricDef::print(p, params.iter().copied()),
                });
            }
            TypeKind::Opaque { dialect, body, pretty } => self.opaque("!", *dialect, body, *pretty),
        }
    }

    fn shape(&mut self, shape: Option<&[i64]>) {
        match shape {
            None => self.write("*x"),
            Some(shape) => {
                for size in shape {
                    self.size(*size);
                    self.write("x");
                }
            }
        }
    }

    /// Writes a number, or a question mark for one that is not known.
    pub(crate) fn size(&mut self, size: i64) {
        if size == DYNAMIC {
            self.write("?");
        } else {
            self.signed(size.into());
        }
    }
}
