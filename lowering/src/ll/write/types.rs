//! The text of types, each computed once. Named structs are collected and defined at the top of the
//! module.

use std::rc::Rc;

use hashbrown::HashMap;
use loomir_dialects::llvm::types::{LlvmType, Struct};
use loomir_ir::{Context, FloatKind, Name, Type, TypeKind};

use super::names::{quoted, symbol};

/// The maximal nesting of types.
const MAX_DEPTH: usize = 256;

/// The text of types.
pub(super) struct TypeText {
    ctx: Context,
    known: HashMap<Type, Option<Rc<str>>>,
    /// Named structs that are defined elsewhere, as they are written there.
    given: HashMap<String, Rc<str>>,
    defined: HashMap<Name, ()>,
    definitions: String,
}

impl TypeText {
    pub(super) fn new(ctx: &Context) -> Self {
        TypeText::behind(ctx, HashMap::new())
    }

    /// Returns the text of types behind a text that defines these structs.
    pub(super) fn behind(ctx: &Context, given: HashMap<String, Rc<str>>) -> Self {
        TypeText {
            ctx: ctx.clone(),
            known: HashMap::new(),
            given,
            defined: HashMap::new(),
            definitions: String::new(),
        }
    }

    /// Returns the text of a type. `None` if it is no type of LLVM IR.
    pub(super) fn get(&mut self, ty: Type) -> Option<Rc<str>> {
        self.get_nested(ty, 0)
    }

    /// Returns the definitions of the named structs so far, one line each.
    pub(super) fn definitions(&self) -> &str {
        &self.definitions
    }

    fn get_nested(&mut self, ty: Type, depth: usize) -> Option<Rc<str>> {
        if let Some(known) = self.known.get(&ty) {
            return known.clone();
        }
        if depth > MAX_DEPTH {
            return None;
        }
        let text: Option<Rc<str>> = self.make(ty, depth).map(Rc::from);
        self.known.insert(ty, text.clone());
        text
    }

    fn make(&mut self, ty: Type, depth: usize) -> Option<String> {
        let ctx = self.ctx.clone();
        Some(match ty.kind(&ctx) {
            TypeKind::Integer { width, .. } => format!("i{width}"),
            TypeKind::Float(kind) => match kind {
                FloatKind::F16 => "half",
                FloatKind::BF16 => "bfloat",
                FloatKind::F32 => "float",
                FloatKind::F64 => "double",
                FloatKind::F80 => "x86_fp80",
                FloatKind::F128 => "fp128",
                _ => return None,
            }
            .to_owned(),
            TypeKind::Vector { shape, scalable, element } => {
                let ([size], [scales]) = (&**shape, &**scalable) else { return None };
                let element = self.get_nested(*element, depth + 1)?;
                let vscale = if *scales { "vscale x " } else { "" };
                format!("<{vscale}{size} x {element}>")
            }
            TypeKind::Dialect { name, params } if ctx.str(*name) == "llvm.target" => {
                let mut parts = Vec::with_capacity(params.len());
                for param in params {
                    parts.push(match (param.as_str(&ctx), param.as_type(&ctx)) {
                        (Some(name), _) => quoted(name.as_bytes()),
                        (_, Some(ty)) => self.get_nested(ty, depth + 1)?.to_string(),
                        _ => param.as_int(&ctx)?.to_string(),
                    });
                }
                format!("target({})", parts.join(", "))
            }
            _ => self.make_dialect_type(LlvmType::of(&ctx, ty)?, depth)?,
        })
    }

    fn make_dialect_type(&mut self, ty: LlvmType, depth: usize) -> Option<String> {
        Some(match ty {
            LlvmType::Pointer { space: 0 } => "ptr".to_owned(),
            LlvmType::Pointer { space } => format!("ptr addrspace({space})"),
            LlvmType::Array { length, element } => {
                let element = self.get_nested(element, depth + 1)?;
                format!("[{length} x {element}]")
            }
            LlvmType::Struct(s) => self.make_struct(&s, depth)?,
            LlvmType::Function { result, params, variadic } => {
                let result = self.get_nested(result, depth + 1)?;
                let mut parts = Vec::with_capacity(params.len());
                for param in params {
                    parts.push(self.get_nested(param, depth + 1)?.to_string());
                }
                if variadic {
                    parts.push("...".to_owned());
                }
                format!("{result} ({})", parts.join(", "))
            }
            LlvmType::Void => "void".to_owned(),
            LlvmType::Token => "token".to_owned(),
            LlvmType::Label => "label".to_owned(),
            LlvmType::Metadata => "metadata".to_owned(),
            LlvmType::X86Amx => "x86_amx".to_owned(),
            LlvmType::PpcFp128 => "ppc_fp128".to_owned(),
            LlvmType::Target => return None,
        })
    }

    fn make_struct(&mut self, s: &Struct, depth: usize) -> Option<String> {
        let Some(name) = s.name else { return self.struct_body(s, depth) };
        if let Some(given) = self.given.get(self.ctx.str(name)) {
            return Some(given.to_string());
        }
        let text = symbol('%', self.ctx.str(name));
        // A recursive mention of the struct has no body, and comes after its name is known.
        if (s.body.is_some() || s.opaque) && self.defined.insert(name, ()).is_none() {
            let body = if s.opaque { "opaque".to_owned() } else { self.struct_body(s, depth)? };
            self.definitions.push_str(&format!("{text} = type {body}\n"));
        }
        Some(text)
    }

    fn struct_body(&mut self, s: &Struct, depth: usize) -> Option<String> {
        let mut parts = Vec::new();
        for element in s.body.as_ref()? {
            parts.push(self.get_nested(*element, depth + 1)?.to_string());
        }
        let body = if parts.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", parts.join(", ")) };
        Some(if s.packed { format!("<{body}>") } else { body })
    }

    /// Returns the part of an intrinsic's name for a type that it is overloaded on.
    pub(super) fn mangled(&mut self, ty: Type) -> Option<String> {
        self.mangled_nested(ty, 0)
    }

    fn mangled_nested(&mut self, ty: Type, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH {
            return None;
        }
        let ctx = self.ctx.clone();
        Some(match ty.kind(&ctx) {
            TypeKind::Integer { width, .. } => format!("i{width}"),
            TypeKind::Float(kind) => kind.name().to_owned(),
            TypeKind::Vector { shape, scalable, element } => {
                let ([size], [scales]) = (&**shape, &**scalable) else { return None };
                let element = self.mangled_nested(*element, depth + 1)?;
                format!("{}v{size}{element}", if *scales { "nx" } else { "" })
            }
            _ => match LlvmType::of(&ctx, ty)? {
                LlvmType::Pointer { space } => format!("p{space}"),
                LlvmType::Array { length, element } => {
                    format!("a{length}{}", self.mangled_nested(element, depth + 1)?)
                }
                LlvmType::Struct(s) => match s.name {
                    Some(name) => format!("s_{}s", ctx.str(name)),
                    None => {
                        let mut text = "sl_".to_owned();
                        for element in s.body? {
                            text.push_str(&self.mangled_nested(element, depth + 1)?);
                        }
                        text.push('s');
                        text
                    }
                },
                LlvmType::Metadata => "Metadata".to_owned(),
                LlvmType::Token => "token".to_owned(),
                _ => return None,
            },
        })
    }
}
