//! Attributes of the dialect: enumerations, kept as attributes (`#llvm.linkage<internal>`) or
//! numbers (`ordering = 4 : i64`), and structured ones (`#llvm.dereferenceable<bytes = 8>`).
//!
//! Other structured attributes (loop annotations, debug information) are kept as text.

use loomir_ir::opdef::{EnumStorage, StructAttrDef};
use loomir_ir::text::{Delimiter, OpParser, OpPrinter, ParseResult};
use loomir_ir::{Attr, AttrKind, Context, EnumDef, Name, Type};

use crate::arith;

/// The fast-math flags: assumptions about floating-point operands and the allowed changes of
/// results.
pub static FASTMATH: EnumDef = EnumDef {
    name: "llvm.fastmath",
    cases: &[
        ("none", 0),
        ("nnan", 1),
        ("ninf", 2),
        ("nsz", 4),
        ("arcp", 8),
        ("contract", 16),
        ("afn", 32),
        ("reassoc", 64),
        ("fast", 127),
    ],
    flags: true,
    separator: ", ",
    storage: EnumStorage::Attribute,
};

/// `nsw` and `nuw`: overflow as a signed or unsigned number makes the result poison.
pub static OVERFLOW: EnumDef =
    EnumDef { name: "llvm.overflow", storage: EnumStorage::Integer(32), ..arith::OVERFLOW };

/// The no-wrap flags of an address computation. `inbounds` contains `nusw`.
pub static GEP_NO_WRAP: EnumDef = EnumDef {
    name: "llvm.gep_no_wrap",
    cases: &[("none", 0), ("inbounds_flag", 1), ("nusw", 2), ("nuw", 4), ("inbounds", 3)],
    flags: true,
    separator: "|",
    storage: EnumStorage::Integer(32),
};

/// The linkage of a symbol.
pub static LINKAGE: EnumDef = EnumDef {
    name: "llvm.linkage",
    cases: &[
        ("external", 0),
        ("available_externally", 1),
        ("linkonce", 2),
        ("linkonce_odr", 3),
        ("weak", 4),
        ("weak_odr", 5),
        ("appending", 6),
        ("internal", 7),
        ("private", 8),
        ("extern_weak", 9),
        ("common", 10),
    ],
    flags: false,
    separator: "",
    storage: EnumStorage::Attribute,
};

/// Calling conventions.
pub static CCONV: EnumDef = EnumDef {
    name: "llvm.cconv",
    cases: &[
        ("ccc", 0),
        ("fastcc", 8),
        ("coldcc", 9),
        ("cc_10", 10),
        ("cc_11", 11),
        ("anyregcc", 13),
        ("preserve_mostcc", 14),
        ("preserve_allcc", 15),
        ("swiftcc", 16),
        ("cxx_fast_tlscc", 17),
        ("tailcc", 18),
        ("cfguard_checkcc", 19),
        ("swifttailcc", 20),
        ("x86_stdcallcc", 64),
        ("x86_fastcallcc", 65),
        ("arm_apcscc", 66),
        ("arm_aapcscc", 67),
        ("arm_aapcs_vfpcc", 68),
        ("msp430_intrcc", 69),
        ("x86_thiscallcc", 70),
        ("ptx_kernelcc", 71),
        ("ptx_devicecc", 72),
        ("spir_funccc", 75),
        ("spir_kernelcc", 76),
        ("intel_ocl_bicc", 77),
        ("x86_64_sysvcc", 78),
        ("win64cc", 79),
        ("x86_vectorcallcc", 80),
        ("hhvmcc", 81),
        ("hhvm_ccc", 82),
        ("x86_intrcc", 83),
        ("avr_intrcc", 84),
        ("avr_builtincc", 86),
        ("amdgpu_vscc", 87),
        ("amdgpu_gscc", 88),
        ("amdgpu_cscc", 90),
        ("amdgpu_kernelcc", 91),
        ("x86_regcallcc", 92),
        ("amdgpu_hscc", 93),
        ("msp430_builtincc", 94),
        ("amdgpu_lscc", 95),
        ("amdgpu_escc", 96),
        ("aarch64_vectorcallcc", 97),
        ("aarch64_sve_vectorcallcc", 98),
        ("wasm_emscripten_invokecc", 99),
        ("amdgpu_gfxcc", 100),
        ("m68k_intrcc", 101),
    ],
    flags: false,
    separator: "",
    storage: EnumStorage::Attribute,
};

/// The kinds of tail calls: a call may, must or must not be one.
pub static TAIL_CALL_KIND: EnumDef = EnumDef {
    name: "llvm.tailcallkind",
    cases: &[("none", 0), ("tail", 1), ("musttail", 2), ("notail", 3)],
    flags: false,
    separator: "",
    storage: EnumStorage::Attribute,
};

/// Orderings of atomic accesses.
pub static ATOMIC_ORDERING: EnumDef = EnumDef {
    name: "llvm.ordering",
    cases: &[
        ("not_atomic", 0),
        ("unordered", 1),
        ("monotonic", 2),
        ("acquire", 4),
        ("release", 5),
        ("acq_rel", 6),
        ("seq_cst", 7),
    ],
    flags: false,
    separator: "",
    storage: EnumStorage::Integer(64),
};

/// The operations of an atomic read-modify-write.
pub static ATOMIC_BIN_OP: EnumDef = EnumDef {
    name: "llvm.atomic_bin_op",
    cases: &[
        ("xchg", 0),
        ("add", 1),
        ("sub", 2),
        ("_and", 3),
        ("nand", 4),
        ("_or", 5),
        ("_xor", 6),
        ("max", 7),
        ("min", 8),
        ("umax", 9),
        ("umin", 10),
        ("fadd", 11),
        ("fsub", 12),
        ("fmax", 13),
        ("fmin", 14),
        ("uinc_wrap", 15),
        ("udec_wrap", 16),
        ("usub_cond", 17),
        ("usub_sat", 18),
        ("fmaximum", 19),
        ("fminimum", 20),
    ],
    flags: false,
    separator: "",
    storage: EnumStorage::Integer(64),
};

/// Predicates of integer comparison.
pub static ICMP_PREDICATE: EnumDef = EnumDef { name: "llvm.icmp_predicate", ..arith::CMPI_PREDICATE };

/// Predicates of floating-point comparison: `o…` is false and `u…` true if an operand is no number.
pub static FCMP_PREDICATE: EnumDef = EnumDef {
    name: "llvm.fcmp_predicate",
    cases: &[
        ("_false", 0),
        ("oeq", 1),
        ("ogt", 2),
        ("oge", 3),
        ("olt", 4),
        ("ole", 5),
        ("one", 6),
        ("ord", 7),
        ("ueq", 8),
        ("ugt", 9),
        ("uge", 10),
        ("ult", 11),
        ("ule", 12),
        ("une", 13),
        ("uno", 14),
        ("_true", 15),
    ],
    flags: false,
    separator: "",
    storage: EnumStorage::Integer(64),
};

/// The significance of a symbol's address.
pub static UNNAMED_ADDR: EnumDef = EnumDef {
    name: "llvm.unnamed_addr",
    cases: &[("", 0), ("local_unnamed_addr", 1), ("unnamed_addr", 2)],
    flags: false,
    separator: "",
    storage: EnumStorage::Integer(64),
};

/// The visibility of a symbol.
pub static VISIBILITY: EnumDef = EnumDef {
    name: "llvm.visibility",
    cases: &[("", 0), ("hidden", 1), ("protected", 2)],
    flags: false,
    separator: "",
    storage: EnumStorage::Integer(64),
};

/// The rules for selecting among symbols of equal name.
pub static COMDAT: EnumDef = EnumDef {
    name: "llvm.comdat_kind",
    cases: &[("any", 0), ("exactmatch", 1), ("largest", 2), ("nodeduplicate", 3), ("samesize", 4)],
    flags: false,
    separator: "",
    storage: EnumStorage::Integer(64),
};

/// Dialects of inline assembly.
pub static ASM_DIALECT: EnumDef = EnumDef {
    name: "llvm.asm_dialect",
    cases: &[("att", 0), ("intel", 1)],
    flags: false,
    separator: "",
    storage: EnumStorage::Integer(64),
};

/// The enumerations that are attributes.
pub(super) static ENUMS: &[&EnumDef] = &[&FASTMATH, &LINKAGE, &CCONV, &TAIL_CALL_KIND];

/// The structured attributes.
pub(super) static STRUCTS: &[StructAttrDef] = &[
    StructAttrDef {
        name: "llvm.blockaddress",
        alias: None,
        parse: parse_address_params,
        print: print_address_params,
    },
    StructAttrDef { name: "llvm.blocktag", alias: None, parse: parse_tag_params, print: print_tag_params },
    StructAttrDef {
        name: "llvm.dereferenceable",
        alias: None,
        parse: |p| parse_fields(p, &["bytes", "mayBeNull"], Some(Type::I64)),
        print: |p, params| print_fields(p, &["bytes", "mayBeNull"], params, false),
    },
    StructAttrDef {
        name: "llvm.vscale_range",
        alias: None,
        parse: |p| parse_fields(p, &["minRange", "maxRange"], None),
        print: |p, params| print_fields(p, &["minRange", "maxRange"], params, true),
    },
];

/// Reads `<bytes = 8, mayBeNull = true>`; numbers are of type `ty`, or have their types written.
fn parse_fields(
    p: &mut OpParser<'_, '_>,
    names: &[&str],
    ty: Option<Type>,
) -> ParseResult<Vec<(Name, Attr)>> {
    p.parse_list(Delimiter::LessGreater, |p| {
        let loc = p.loc();
        let name = p.parse_keyword()?;
        if !names.contains(&name) {
            return Err(p.error(loc, format!("expected one of {}", names.join(", "))));
        }
        p.expect("=")?;
        let value = if p.is_keyword("true") || p.is_keyword("false") { None } else { ty };
        Ok((p.ctx().name(name), p.parse_attr(value)?))
    })
}

/// Writes the fields there are in the order of `names`, with the types of numbers or without.
fn print_fields(p: &mut OpPrinter<'_>, names: &[&str], params: &[(Name, Attr)], typed: bool) {
    let ctx = p.ctx();
    let mut separator = "<";
    for name in names {
        if let Some((_, attr)) = params.iter().find(|(own, _)| ctx.str(*own) == *name) {
            p.write(&format!("{separator}{name} = "));
            if typed {
                p.attr(*attr)
            } else {
                p.attr_without_type(*attr)
            }
            separator = ", ";
        }
    }
    p.write(">");
}

/// Returns `#llvm.blocktag<id = 1>`.
pub fn block_tag(ctx: &Context, id: i64) -> Attr {
    let params = ctx.dict(vec![(ctx.name("id"), ctx.int_attr(Type::I32, id))]);
    ctx.attr(AttrKind::Dialect { name: ctx.name("llvm.blocktag"), params })
}

/// Returns the number of a tag.
pub(crate) fn tag_number(ctx: &Context, tag: Attr) -> Option<i64> {
    let AttrKind::Dialect { params, .. } = tag.kind(ctx) else { return None };
    params.get(ctx, "id")?.as_int(ctx)
}

/// Reads `<id = 1>`.
fn parse_tag_params(p: &mut OpParser<'_, '_>) -> ParseResult<Vec<(Name, Attr)>> {
    p.expect("<")?;
    p.expect_keyword("id")?;
    p.expect("=")?;
    let id = p.parse_integer()?;
    p.expect(">")?;
    Ok(vec![(p.ctx().name("id"), p.ctx().int_attr(Type::I32, id))])
}

fn print_tag_params(p: &mut OpPrinter<'_>, params: &[(Name, Attr)]) {
    let ctx = p.ctx();
    let id = params.first().and_then(|(_, id)| id.as_int(ctx)).unwrap_or_default();
    p.write(&format!("<id = {id}>"));
}

/// Reads `<function = @f, tag = <id = 1>>`.
fn parse_address_params(p: &mut OpParser<'_, '_>) -> ParseResult<Vec<(Name, Attr)>> {
    p.expect("<")?;
    p.expect_keyword("function")?;
    p.expect("=")?;
    let function = p.parse_attr(None)?;
    p.expect(",")?;
    p.expect_keyword("tag")?;
    p.expect("=")?;
    let tag = parse_tag_params(p)?;
    p.expect(">")?;
    let ctx = p.ctx();
    let id = tag.first().and_then(|(_, id)| id.as_int(ctx)).unwrap_or_default();
    Ok(vec![(ctx.name("function"), function), (ctx.name("tag"), block_tag(ctx, id))])
}

fn print_address_params(p: &mut OpPrinter<'_>, params: &[(Name, Attr)]) {
    let ctx = p.ctx();
    let get = |name: &str| params.iter().find(|(own, _)| ctx.str(*own) == name).map(|(_, attr)| *attr);
    p.write("<function = ");
    if let Some(function) = get("function") {
        p.attr(function);
    }
    let id = get("tag").and_then(|tag| tag_number(ctx, tag)).unwrap_or_default();
    p.write(&format!(", tag = <id = {id}>>"));
}
