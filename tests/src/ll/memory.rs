//! Random accesses to memory, all within objects whose bytes are written.
//!
//! Some objects are bytes: any integer is read and written anywhere in them. Others are of a type,
//! and are read as they were written, part by part. Padding, and the unused bits of odd integers,
//! are unspecified.

use super::function::Function;
use super::types::Ty;

/// An object of bytes.
#[derive(Clone, Debug)]
pub(super) struct Bytes {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) writable: bool,
}

/// An object of a type.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) writable: bool,
}

/// The number of accessible bytes behind every pointer in scope.
pub(super) const REACH: u64 = 16;
/// The alignment of objects of bytes.
pub(super) const ALIGN: u64 = 16;

impl Function<'_> {
    /// One statement.
    pub(super) fn memory(&mut self) {
        match self.random.weighted(&[24, 24, 14, 26, 14, 14, 10, 4, 6, 8]) {
            0 => self.load_bytes(),
            1 => self.store_bytes(),
            2 => self.move_bytes(),
            3 => self.part(),
            4 => {
                if self.random.chance(50) {
                    self.new_bytes();
                } else {
                    self.new_slot();
                }
            }
            5 => self.pointers(),
            6 => self.atomic(),
            7 => self.assumption(),
            8 => self.temporary(),
            _ => {
                let name = self.pointer();
                let table = self.make("alloca [2 x ptr], align 8");
                self.line(&format!("store ptr {name}, ptr {table}, align 8"));
                let second =
                    self.make(&format!("getelementptr inbounds [2 x ptr], ptr {table}, i64 0, i64 1"));
                let other = self.value(&Ty::Ptr);
                self.line(&format!("store ptr {other}, ptr {second}, align 8"));
                let index = self.index(2);
                let place = self.make(&format!("getelementptr [2 x ptr], ptr {table}, i64 0, i64 {index}"));
                self.keep(&Ty::Ptr, &format!("load ptr, ptr {place}, align 8"));
            }
        }
    }

    // Objects.

    /// Returns an object on the stack or heap, filled.
    pub(super) fn new_bytes(&mut self) -> Bytes {
        let size = REACH + self.random.below(32) as u64;
        let name = match self.random.below(8) {
            0 => self.make(&format!("call ptr @malloc(i64 {size})")),
            1 => self.make(&format!("call ptr @calloc(i64 {size}, i64 1)")),
            2 => self.make(&format!("alloca i8, i64 {size}, align {ALIGN}")),
            _ => self.make(&format!("alloca [{size} x i8], align {ALIGN}")),
        };
        let byte = self.value(&Ty::Int(8));
        self.line(&format!("call void @llvm.memset.p0.i64(ptr {name}, i8 {byte}, i64 {size}, i1 false)"));
        let bytes = Bytes { name, size, writable: true };
        self.bytes.push(bytes.clone());
        bytes
    }

    fn new_slot(&mut self) -> Slot {
        let ty = Ty::any(self.random, 3);
        let value = self.value(&ty);
        let name = self.make(&format!("alloca {ty}"));
        self.line(&format!("store {ty} {value}, ptr {name}"));
        let slot = Slot { name, ty, writable: true };
        self.slots.push(slot.clone());
        slot
    }

    /// Returns an object of bytes, a writable one if `write` is set.
    fn some_bytes(&mut self, write: bool) -> Bytes {
        let fitting: Vec<&Bytes> = self.bytes.iter().filter(|bytes| bytes.writable || !write).collect();
        match fitting.is_empty() {
            true => self.new_bytes(),
            false => (*self.random.pick(&fitting)).clone(),
        }
    }

    /// Returns a pointer into some object that leads as far as the visible pointers do.
    pub(super) fn pointer(&mut self) -> String {
        let bytes = self.some_bytes(true);
        let index = self.index(bytes.size - REACH + 1);
        self.make(&format!("getelementptr inbounds nuw i8, ptr {}, i64 {index}", bytes.name))
    }

    /// Returns an address with room for `size` bytes, and its alignment.
    fn place(&mut self, size: u64, write: bool) -> (String, u64) {
        if self.random.chance(25) && size <= REACH {
            return (self.value(&Ty::Ptr), 1);
        }
        let bytes = self.some_bytes(write);
        let (base, room) = (bytes.name, bytes.size - size);
        match self.random.below(4) {
            0 => {
                let at = self.random.below(room as usize + 1) as u64;
                let align = 1 << at.trailing_zeros().min(ALIGN.trailing_zeros());
                (self.make(&format!("getelementptr i8, ptr {base}, i64 {at}")), align)
            }
            1 => {
                // In steps of four bytes.
                let index = self.index(room / 4 + 1);
                (self.make(&format!("getelementptr nusw i32, ptr {base}, i64 {index}")), 4)
            }
            2 => {
                // Backwards from the end.
                let end = self.make(&format!("getelementptr inbounds i8, ptr {base}, i64 {}", bytes.size));
                let index = self.index(room + 1);
                let back = self.make(&format!("sub i64 -{size}, {index}"));
                (self.make(&format!("getelementptr inbounds i8, ptr {end}, i64 {back}")), 1)
            }
            _ => {
                let index = self.index(room + 1);
                let ty = Ty::Array(bytes.size as u32, Box::new(Ty::Int(8)));
                (self.make(&format!("getelementptr inbounds {ty}, ptr {base}, i64 0, i64 {index}")), 1)
            }
        }
    }

    // Bytes.

    /// Returns a type without unused bits, of at most [`REACH`] bytes.
    fn bytes_type(&mut self) -> Ty {
        let types = [
            Ty::Int(8),
            Ty::Int(16),
            Ty::Int(24),
            Ty::Int(32),
            Ty::Int(40),
            Ty::Int(64),
            Ty::Int(96),
            Ty::Int(128),
            Ty::vector(4, Ty::Int(8)),
            Ty::vector(2, Ty::Int(64)),
            Ty::vector(3, Ty::Int(16)),
            Ty::vector(4, Ty::Int(32)),
            Ty::vector(8, Ty::Int(1)),
            Ty::Array(3, Box::new(Ty::Int(16))),
            Ty::Float,
            Ty::Double,
            Ty::vector(2, Ty::Float),
        ];
        self.random.pick(&types).clone()
    }

    /// Returns the number of bytes of a type of [`Function::bytes_type`].
    fn byte_count(ty: &Ty) -> u64 {
        if let Ty::Array(..) = ty { ty.layout().0 } else { u64::from(ty.bits().div_ceil(8)) }
    }

    fn volatile(&mut self) -> &'static str {
        if self.random.chance(10) { "volatile " } else { "" }
    }

    fn load_bytes(&mut self) {
        let ty = self.bytes_type();
        let (place, align) = self.place(Self::byte_count(&ty), false);
        let volatile = self.volatile();
        let load = format!("load {volatile}{ty}, ptr {place}, align {align}");
        if ty.is_float() {
            let any = self.make(&load);
            let number = self.without_nan(&ty, &any);
            self.keep(&ty, &format!("freeze {ty} {number}"));
        } else {
            self.keep(&ty, &load);
        }
    }

    fn store_bytes(&mut self) {
        let ty = self.bytes_type();
        let mut value = self.value(&ty);
        if ty.is_float() {
            value = self.without_nan(&ty, &value);
        }
        let (place, align) = self.place(Self::byte_count(&ty), true);
        let volatile = self.volatile();
        self.line(&format!("store {volatile}{ty} {value}, ptr {place}, align {align}"));
    }

    fn move_bytes(&mut self) {
        let size = 1 + self.random.below(REACH as usize) as u64;
        let length = if self.random.chance(50) { size.to_string() } else { self.index(size + 1) };
        match self.random.below(3) {
            0 => {
                let ((to, align), byte) = (self.place(size, true), self.value(&Ty::Int(8)));
                self.line(&format!(
                    "call void @llvm.memset.p0.i64(ptr align {align} {to}, i8 {byte}, i64 {length}, i1 false)"
                ));
            }
            1 => {
                let ((to, _), (from, _)) = (self.place(size, true), self.place(size, false));
                self.line(&format!(
                    "call void @llvm.memmove.p0.p0.i64(ptr {to}, ptr {from}, i64 {length}, i1 false)"
                ));
            }
            _ => {
                let from = self.some_bytes(false);
                let to = self.new_bytes();
                let length = if self.random.chance(50) { from.size.min(to.size).to_string() } else { length };
                self.line(&format!(
                    "call void @llvm.memcpy.p0.p0.i64(ptr align 1 {}, ptr {}, i64 {length}, i1 false)",
                    to.name, from.name
                ));
            }
        }
    }

    // Parts of objects of a type.

    fn part(&mut self) {
        let fitting = self.slots.len();
        let slot = match fitting {
            0 => self.new_slot(),
            _ => self.slots[self.random.below(fitting)].clone(),
        };
        if self.random.chance(15) && slot.writable {
            // As a whole, from another.
            let other = self.new_slot_of(&slot.ty);
            let size = slot.ty.layout().0;
            self.line(&format!(
                "call void @llvm.memcpy.p0.p0.i64(ptr {}, ptr {other}, i64 {size}, i1 false)",
                slot.name
            ));
            return;
        }
        let (mut path, mut ty) = (String::new(), slot.ty.clone());
        loop {
            let parts = ty.parts();
            if parts.is_empty() || self.random.chance(20) {
                break;
            }
            match &ty {
                Ty::Array(count, element) => {
                    path += &format!(", i64 {}", self.index((*count).into()));
                    ty = (**element).clone();
                }
                _ => {
                    let at = self.random.below(parts.len());
                    path += &format!(", i32 {at}");
                    ty = parts[at].clone();
                }
            }
        }
        let flags = *self.random.pick(&["", "inbounds ", "nuw ", "inbounds nuw "]);
        let place = self.make(&format!("getelementptr {flags}{}, ptr {}, i64 0{path}", slot.ty, slot.name));
        if slot.writable && self.random.chance(50) {
            let value = self.value(&ty);
            self.line(&format!("store {ty} {value}, ptr {place}"));
        } else {
            self.keep(&ty, &format!("load {ty}, ptr {place}"));
        }
    }

    fn new_slot_of(&mut self, ty: &Ty) -> String {
        let value = self.value(ty);
        let name = self.make(&format!("alloca {ty}"));
        self.line(&format!("store {ty} {value}, ptr {name}"));
        name
    }

    // Pointers.

    fn pointers(&mut self) {
        let bytes = self.some_bytes(true);
        let within = |function: &mut Self| {
            let index = function.index(bytes.size - REACH + 1);
            function.make(&format!("getelementptr i8, ptr {}, i64 {index}", bytes.name))
        };
        let (a, b) = (within(self), within(self));
        match self.random.below(6) {
            0 => {
                let predicate = *self.random.pick(&["eq", "ne", "ult", "uge", "slt"]);
                // The signs of addresses are unspecified; their equality is not.
                let predicate = if predicate == "slt" { "ule" } else { predicate };
                self.keep(&Ty::Int(1), &format!("icmp {predicate} ptr {a}, {b}"));
            }
            1 => {
                let (x, y) = (
                    self.make(&format!("ptrtoint ptr {a} to i64")),
                    self.make(&format!("ptrtoint ptr {b} to i64")),
                );
                self.keep(&Ty::Int(64), &format!("sub i64 {x}, {y}"));
            }
            2 => {
                let (x, y) = (
                    self.make(&format!("ptrtoint ptr {a} to i64")),
                    self.make(&format!("ptrtoint ptr {} to i64", bytes.name)),
                );
                let distance = self.make(&format!("sub i64 {x}, {y}"));
                let sum = self.make(&format!("add i64 {y}, {distance}"));
                self.keep(&Ty::Ptr, &format!("inttoptr i64 {sum} to ptr"));
            }
            3 => {
                let (condition, other) = (self.value(&Ty::Int(1)), self.value(&Ty::Ptr));
                self.keep(&Ty::Ptr, &format!("select i1 {condition}, ptr {a}, ptr {other}"));
            }
            4 => {
                let predicate = *self.random.pick(&["eq", "ne"]);
                self.keep(&Ty::Int(1), &format!("icmp {predicate} ptr {a}, null"));
            }
            _ => {
                // A vector of addresses.
                let index = Ty::vector(2, Ty::Int(64));
                let any = self.value(&index);
                let most = bytes.size - REACH + 1;
                let indices = self.make(&format!("urem {index} {any}, <i64 {most}, i64 {most}>"));
                let both =
                    self.make(&format!("getelementptr inbounds i8, ptr {}, {index} {indices}", bytes.name));
                self.keep(&Ty::Ptr, &format!("extractelement <2 x ptr> {both}, i32 0"));
                self.keep(&Ty::Ptr, &format!("extractelement <2 x ptr> {both}, i32 1"));
            }
        }
    }

    // Others.

    /// Writes an atomic access to its own variable.
    fn atomic(&mut self) {
        let ty = match self.random.chance(80) {
            true => Ty::Int(*self.random.pick(&[8, 16, 32, 64])),
            false => [Ty::Float, Ty::Double][self.random.below(2)].clone(),
        };
        let name = self.new_slot_of(&ty);
        let value = self.value(&ty);
        let order = *self.random.pick(&["monotonic", "acq_rel", "seq_cst"]);
        if ty.is_float() {
            let op = *self.random.pick(&["fadd", "fsub", "xchg"]);
            self.keep(&ty, &format!("atomicrmw {op} ptr {name}, {ty} {value} {order}"));
        } else if self.random.chance(30) {
            let expected = self.value(&ty);
            let call = format!("cmpxchg ptr {name}, {ty} {expected}, {ty} {value} {order} monotonic");
            let pair = self.make(&call);
            self.keep(&ty, &format!("extractvalue {{ {ty}, i1 }} {pair}, 0"));
            self.keep(&Ty::Int(1), &format!("extractvalue {{ {ty}, i1 }} {pair}, 1"));
        } else {
            let ops = [
                "xchg",
                "add",
                "sub",
                "and",
                "nand",
                "or",
                "xor",
                "max",
                "min",
                "umax",
                "umin",
                "uinc_wrap",
                "udec_wrap",
                "usub_cond",
                "usub_sat",
            ];
            let op = *self.random.pick(&ops);
            self.keep(&ty, &format!("atomicrmw {op} ptr {name}, {ty} {value} {order}"));
        }
        let size = ty.layout().0;
        self.keep(&ty, &format!("load atomic {ty}, ptr {name} acquire, align {size}"));
        if self.random.chance(20) {
            self.line("fence seq_cst");
        }
    }

    /// Writes an object with a short life.
    fn temporary(&mut self) {
        let scope = self.enter();
        if self.random.chance(50) {
            let name = self.make("alloca [24 x i8], align 16");
            self.line(&format!("call void @llvm.lifetime.start.p0(ptr {name})"));
            self.line(&format!("call void @llvm.memset.p0.i64(ptr {name}, i8 7, i64 24, i1 false)"));
            self.bytes.push(Bytes { name: name.clone(), size: 24, writable: true });
            self.store_bytes();
            self.load_bytes();
            // The remaining values contain no pointer into an ended object.
            let last = self.values.last().map(|value| value.ty.clone());
            let sum = last.filter(|ty| *ty != Ty::Ptr).unwrap_or(Ty::Int(64));
            let kept = self.value(&sum);
            let slot = self.make(&format!("alloca {sum}"));
            self.line(&format!("store {sum} {kept}, ptr {slot}"));
            self.line(&format!("call void @llvm.lifetime.end.p0(ptr {name})"));
            self.leave(scope);
            self.keep(&sum, &format!("load {sum}, ptr {slot}"));
            return;
        }
        let saved = self.make("call ptr @llvm.stacksave.p0()");
        let count = self.index(8);
        let name = self.make(&format!("alloca i64, i64 {count}, align 8"));
        self.line(&format!("call void @llvm.memset.p0.i64(ptr {name}, i8 1, i64 0, i1 false)"));
        self.new_bytes();
        self.store_bytes();
        self.leave(scope);
        self.line(&format!("call void @llvm.stackrestore.p0(ptr {saved})"));
    }
}
