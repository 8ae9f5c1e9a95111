//! The body of a neighbouring loop: loads, stores, arithmetic, conditions, an inner loop, and
//! sometimes an operation that orders others or may not return.

use super::{Between, Writer};

/// Types of elements, repeated by frequency.
pub(super) const TYPES: [&str; 8] = ["i8", "i16", "i32", "i32", "i32", "i64", "i64", "i64"];

impl Writer<'_> {
    /// Writes the statements of an iteration with this counter, and with a moving pointer if there
    /// is one. Returns a value of the last block.
    pub(super) fn iteration(&mut self, label: &str, variable: &str, pointer: Option<&str>) -> String {
        if let Some(pointer) = pointer {
            self.at_pointer(pointer);
        }
        match self.random.weighted(&[70, 18, 12]) {
            0 => self.statements(variable),
            1 => self.condition(label, variable),
            _ => self.inner(label, variable),
        }
    }

    /// Writes a load or a store at a pointer.
    fn at_pointer(&mut self, pointer: &str) {
        if self.one_in(2) {
            let value = self.fresh("%v");
            self.line(&format!("{value} = load i32, ptr {pointer}, align 1"));
        } else {
            self.line(&format!("store i32 99, ptr {pointer}, align 1"));
        }
    }

    /// Writes a part that runs in some iterations.
    fn condition(&mut self, label: &str, variable: &str) -> String {
        let last = self.statements(variable);
        let condition = self.fresh("%if");
        let compare = match self.random.below(4) {
            0 => format!("ult i64 {variable}, 2"),
            1 => format!("eq i64 {variable}, %k"),
            2 => format!("sgt i64 {last}, 40"),
            _ => "sgt i64 %m, 0".to_owned(),
        };
        self.line(&format!("{condition} = icmp {compare}"));
        self.line(&format!("br i1 {condition}, label %{label}.then, label %{label}.t"));
        self.start_block(&format!("{label}.then"));
        self.statements(variable);
        last
    }

    /// Writes an inner loop.
    fn inner(&mut self, label: &str, variable: &str) -> String {
        let last = self.statements(variable);
        let counter = format!("%{label}.j");
        self.line(&format!("br label %{label}.q"));
        self.start_block(&format!("{label}.q"));
        self.line(&format!("{counter} = phi i64 [ 0, %{label}.h ], [ {counter}.n, %{label}.q ]"));
        if self.one_in(2) {
            self.statements(&counter);
        } else {
            // Rows of four.
            let row = self.fresh("%row");
            let element = self.fresh("%flat");
            self.line(&format!("{row} = shl nuw nsw i64 {variable}, 2"));
            self.line(&format!("{element} = add nuw nsw i64 {row}, {counter}"));
            self.access(&element, "5");
        }
        let most = 2 + self.random.below(2);
        self.line(&format!("{counter}.n = add nuw nsw i64 {counter}, 1"));
        self.line(&format!("{counter}.c = icmp ult i64 {counter}.n, {most}"));
        self.line(&format!("br i1 {counter}.c, label %{label}.q, label %{label}.t"));
        self.start_block(&format!("{label}.t"));
        last
    }

    /// Writes some consecutive statements. Returns a value of the last.
    fn statements(&mut self, variable: &str) -> String {
        let mut last = variable.to_owned();
        if let (Between::FirstElements, Some(other)) = (self.between, self.handed.last().cloned()) {
            last = self.fresh("%y");
            self.line(&format!("{last} = add i64 {other}, {variable}"));
        }
        for _ in 0..1 + self.random.below(2) {
            if self.is_odd && self.one_in(4) {
                last = self.odd_statement(&last);
                continue;
            }
            last = match self.random.weighted(&[58, 12, 14, 4, 2, 1, 3]) {
                0 => {
                    let index = self.index(variable);
                    self.access(&index, &last)
                }
                // An update.
                1 => {
                    let index = self.index(variable);
                    let (array, ty) = self.array();
                    let value = self.load_of(array, ty, &index);
                    let next = self.fresh("%y");
                    self.line(&format!("{next} = add i64 {value}, {last}"));
                    self.store_of(array, ty, &index, &next);
                    next
                }
                2 => {
                    let value = self.fresh("%y");
                    let mut how = self.random.pick(&["mul i64 3,", "xor i64 %n,", "sub i64 %k,"]).to_string();
                    // What another loop has computed.
                    if let Some(other) = self.handed.last().filter(|_| self.random.below(2) == 0) {
                        how = format!("add i64 {other},");
                    }
                    self.line(&format!("{value} = {how} {last}"));
                    value
                }
                3 => {
                    let value = self.fresh("%y");
                    self.line(&format!("{value} = call i64 @mixed(i64 {last})"));
                    value
                }
                4 => {
                    let value = self.fresh("%y");
                    self.line(&format!("{value} = sdiv i64 {last}, %m"));
                    value
                }
                5 => {
                    self.line(&format!("call void @ends_at(i64 {last}, i64 %k)"));
                    last
                }
                _ => self.ordering(variable, &last),
            };
        }
        last
    }

    /// Loads, or stores something.
    fn access(&mut self, index: &str, value: &str) -> String {
        let (array, ty) = self.array();
        if self.one_in(2) {
            return self.load_of(array, ty, index);
        }
        // Sometimes the value is the same in every iteration.
        let value = if self.one_in(4) { "9" } else { value };
        self.store_of(array, ty, index, value);
        value.to_owned()
    }

    /// Writes an atomic or volatile access.
    fn ordering(&mut self, variable: &str, value: &str) -> String {
        let place = self.place("%a", "i64", variable);
        let orders = ["unordered", "monotonic", "acquire", "release", "volatile"];
        let order = orders[self.random.weighted(&[10, 8, 1, 1, 1])];
        let is_store = match order {
            "acquire" => false,
            "release" | "volatile" => true,
            _ => self.one_in(2),
        };
        if is_store {
            self.line(&match order {
                "volatile" => format!("store volatile i64 {value}, ptr {place}, align 8"),
                _ => format!("store atomic i64 {value}, ptr {place} {order}, align 8"),
            });
            return value.to_owned();
        }
        let loaded = self.fresh("%v");
        let text = match order {
            "monotonic" if self.one_in(2) => {
                format!("atomicrmw add ptr {place}, i64 {value} monotonic, align 8")
            }
            _ => format!("load atomic i64, ptr {place} {order}, align 8"),
        };
        self.line(&format!("{loaded} = {text}"));
        loaded
    }

    /// Returns a subscript from 0 to 15.
    fn index(&mut self, variable: &str) -> String {
        let value = self.fresh("%e");
        let text = match self.random.weighted(&[76, 5, 3, 4, 2, 2, 2, 6]) {
            0 => return variable.to_owned(),
            1 => format!("add nuw nsw i64 {variable}, {}", 1 + self.random.below(3)),
            2 => format!("sub nsw i64 10, {variable}"),
            3 => format!("mul nsw i64 {variable}, 2"),
            4 => format!("and i64 {variable}, 1"),
            5 => format!("lshr i64 {variable}, 1"),
            6 => format!("mul nsw i64 {variable}, %k"),
            _ => return self.random.below(4).to_string(),
        };
        self.line(&format!("{value} = {text}"));
        value
    }

    /// Returns an array and the type of its elements, or sometimes another type.
    fn array(&mut self) -> (&'static str, &'static str) {
        let at = self.random.weighted(&[45, 30, 25]);
        let types = if self.is_odd { &super::odd::TYPES } else { &TYPES };
        let ty = if self.one_in(12) { *self.random.pick(types) } else { self.types[at] };
        (["%a", "%b", "%c"][at], ty)
    }

    fn place(&mut self, array: &str, ty: &str, index: &str) -> String {
        let place = self.fresh("%p");
        self.line(&format!("{place} = getelementptr inbounds {ty}, ptr {array}, i64 {index}"));
        place
    }

    /// Loads a number from some array and returns it as a number of 64 bits.
    pub(super) fn load(&mut self, index: &str) -> String {
        let (array, ty) = self.array();
        self.load_of(array, ty, index)
    }

    fn load_of(&mut self, array: &str, ty: &str, index: &str) -> String {
        let place = self.place(array, ty, index);
        if self.is_odd {
            return self.odd_load(&place, ty);
        }
        let value = self.fresh("%v");
        self.line(&format!("{value} = load {ty}, ptr {place}, align 1"));
        if ty == "i64" {
            return value;
        }
        let wide = self.fresh("%w");
        self.line(&format!("{wide} = zext {ty} {value} to i64"));
        wide
    }

    /// Stores a number in some array.
    pub(super) fn store(&mut self, index: &str, value: &str) {
        let (array, ty) = self.array();
        self.store_of(array, ty, index, value);
    }

    fn store_of(&mut self, array: &str, ty: &str, index: &str, value: &str) {
        let place = self.place(array, ty, index);
        if self.is_odd {
            return self.odd_store(&place, ty, value);
        }
        let narrow = match ty {
            "i64" => value.to_owned(),
            _ if value.starts_with('%') => {
                let narrow = self.fresh("%t");
                self.line(&format!("{narrow} = trunc i64 {value} to {ty}"));
                narrow
            }
            _ => value.to_owned(),
        };
        self.line(&format!("store {ty} {narrow}, ptr {place}, align 1"));
    }
}
