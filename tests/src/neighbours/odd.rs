//! Neighbouring loops with rare constructs: odd widths, vectors of three, another address space,
//! stack memory that is released, functions whose attributes are only at their definition, and a
//! function named like one of the C library.

use super::Writer;

/// Types of elements. For most of them a store touches fewer bytes than the array stride.
pub(super) const TYPES: [&str; 8] = ["i24", "i24", "i40", "i56", VECTOR, "i16", "i32", "i64"];

/// A vector of three.
const VECTOR: &str = "<3 x i32>";

/// Additional functions that the test functions call, and the memory that they share. The memory
/// begins with zeros in each run.
pub const CALLED: &str = "
@pool = global [40 x i64] zeroinitializer
declare ptr @llvm.stacksave.p0()
declare void @llvm.stackrestore.p0(ptr)
define internal ptr @calloc(i64 %n, i64 %m) noinline nounwind willreturn memory(none) {
  ret ptr @pool
}
define i64 @once(i64 %x) noduplicate noinline nounwind willreturn memory(none) {
  %y = xor i64 %x, 77
  ret i64 %y
}
define i64 @together(i64 %x) convergent noinline nounwind willreturn memory(none) {
  %y = add i64 %x, 77
  ret i64 %y
}
";

impl Writer<'_> {
    /// Writes straight-line code between loops that computes a value.
    pub(super) fn odd_between(&mut self) -> String {
        let place = self.fresh("%stack");
        self.line(&format!("{place} = alloca i64, i64 2"));
        let at = if self.one_in(2) { place } else { self.pool() };
        self.line(&format!("store i64 %n, ptr {at}, align 8"));
        let value = self.fresh("%v");
        self.line(&format!("{value} = load i64, ptr {at}, align 8"));
        value
    }

    /// Writes a statement of an iteration. Returns the value that it computes.
    pub(super) fn odd_statement(&mut self, last: &str) -> String {
        let value = self.fresh("%v");
        match self.random.weighted(&[30, 20, 20, 20, 10]) {
            0 => {
                let (saved, place) = (self.fresh("%saved"), self.fresh("%stack"));
                self.line(&format!("{saved} = call ptr @llvm.stacksave.p0()"));
                self.line(&format!("{place} = alloca i64, i64 2"));
                self.line(&format!("store i64 {last}, ptr {place}, align 8"));
                self.line(&format!("{value} = load i64, ptr {place}, align 8"));
                self.line(&format!("call void @llvm.stackrestore.p0(ptr {saved})"));
            }
            1 => self.line(&format!("{value} = call i64 @once(i64 {last})")),
            2 => {
                let at = self.pool();
                self.line(&format!("store i64 {last}, ptr {at}, align 8"));
                return last.to_owned();
            }
            3 => {
                let at = self.pool();
                self.line(&format!("{value} = load i64, ptr {at}, align 8"));
            }
            _ => self.line(&format!("{value} = call i64 @together(i64 {last})")),
        }
        value
    }

    /// Returns the address of one of three numbers of the pool.
    fn pool(&mut self) -> String {
        let (pool, place) = (self.fresh("%pool"), self.fresh("%p"));
        let at = self.random.below(3);
        self.line(&format!("{pool} = call ptr @calloc(i64 40, i64 8)"));
        self.line(&format!("{place} = getelementptr inbounds i64, ptr {pool}, i64 {at}"));
        place
    }

    /// Returns an address with its type, in the address space in which it is used.
    fn in_some_space(&mut self, place: &str) -> String {
        if !self.one_in(6) {
            return format!("ptr {place}");
        }
        let other = self.fresh("%q");
        self.line(&format!("{other} = addrspacecast ptr {place} to ptr addrspace(1)"));
        format!("ptr addrspace(1) {other}")
    }

    pub(super) fn odd_load(&mut self, place: &str, ty: &str) -> String {
        let place = self.in_some_space(place);
        let value = self.fresh("%v");
        self.line(&format!("{value} = load {ty}, {place}, align 1"));
        let (number, ty) = match ty {
            "i64" => return value,
            VECTOR => {
                let lane = self.fresh("%lane");
                self.line(&format!("{lane} = extractelement {VECTOR} {value}, i64 1"));
                (lane, "i32")
            }
            _ => (value, ty),
        };
        let wide = self.fresh("%w");
        self.line(&format!("{wide} = zext {ty} {number} to i64"));
        wide
    }

    pub(super) fn odd_store(&mut self, place: &str, ty: &str, value: &str) {
        let element = if ty == VECTOR { "i32" } else { ty };
        let mut stored = value.to_owned();
        if element != "i64" && value.starts_with('%') {
            stored = self.fresh("%t");
            self.line(&format!("{stored} = trunc i64 {value} to {element}"));
        }
        if ty == VECTOR {
            let all = self.fresh("%all");
            let others = "<i32 11, i32 12, i32 13>";
            self.line(&format!("{all} = insertelement {VECTOR} {others}, i32 {stored}, i64 1"));
            stored = all;
        }
        let place = self.in_some_space(place);
        self.line(&format!("store {ty} {stored}, {place}, align 1"));
    }
}
