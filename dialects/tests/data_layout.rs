//! Strings and attributes that say how data is laid out.

use loomir_dialects::interp::layout::{DataLayout, PointerLayout};

#[test]
fn strings_are_read_as_llvm_does() {
    let i386 = "e-m:e-p:32:32-p270:32:32-p271:32:32-p272:64:64-i128:128-f64:32:64-f80:32-n8:16:32-S128";
    let layout = DataLayout::parse(i386).unwrap_or_default();
    assert_eq!(layout.pointer(0), PointerLayout { bits: 32, index_bits: 32, align: 4 });
    assert_eq!(layout.pointer(272).bits, 64);
    // An address space without a specification is like space 0.
    assert_eq!(layout.pointer(5).bits, 32);
    assert_eq!([8, 24, 64, 128].map(|bits| layout.integer_align(bits)), [1, 4, 4, 16]);
    assert_eq!([64, 80, 128].map(|bits| layout.float_align(bits)), [4, 4, 16]);
    let fat = DataLayout::parse("e-p7:160:256:256:32-ni:7:8").unwrap_or_default();
    assert_eq!(fat.pointer(7), PointerLayout { bits: 160, index_bits: 32, align: 32 });
    assert!(!fat.is_integral(7) && !fat.is_integral(8) && fat.is_integral(0));
    let spec = "#dlti.dl_spec<!llvm.ptr<270> = dense<32> : vector<4xi64>, \
                !llvm.ptr = dense<[32, 32, 64, 32]> : vector<4xi64>, i64 = dense<[32, 64]> : vector<2xi64>, \
                f80 = dense<128> : vector<2xi64>, \"dlti.endianness\" = \"big\">";
    let layout = DataLayout::parse_specification(spec).unwrap_or_default();
    assert_eq!(layout.pointer(0), PointerLayout { bits: 32, index_bits: 32, align: 4 });
    assert_eq!((layout.integer_align(64), layout.float_align(80)), (4, 16));
    assert!(layout.is_big_endian() && DataLayout::parse_specification("#dlti.dl_spec<x>").is_none());
    let index = |bits| DataLayout::parse_specification(&format!("#dlti.dl_spec<index = {bits} : i64>"));
    assert!(index(64).is_some() && index(32).is_none());
    assert!(DataLayout::parse("E").is_some_and(|layout| layout.is_big_endian()));
    assert!(["p:32", "i64:7", "p:0:8", "i64:x"].into_iter().all(|s| DataLayout::parse(s).is_none()));
}
