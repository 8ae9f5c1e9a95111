//! Memory: objects of bytes, each with a life, a size and a state for every byte.
//!
//! An object is a run of bytes at an address of its own. Addresses are made up, ascend, keep gaps
//! between objects and are never used twice, so a pointer is checked against the one object it may
//! reach and a stale pointer is always found out. Each byte has a state: never written, written,
//! written with poison, or outside of its object's lifetime. Pointers stored to memory keep their
//! object in a side table of the object they are stored in.
//!
//! Reading a scalar with an unwritten or poisoned byte gives poison with that cause. The operation
//! decides if this is a fault (`memref.load`) or if the poison is passed on (`llvm.load`). Stores
//! of such poison restore the state, so copies of half-written structs are faithful.
//!
//! Cost: O(bytes touched); the side table costs nothing while an object holds no pointer.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use loomir_ir::Loc;

use super::datum::{Cause, Datum, ObjectId, Pointer};
use super::fault::{Fault, FaultKind};
use super::layout::Repr;
use super::packed;

/// The kind of an object. It decides how the object may end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectKind {
    /// Created by an allocation and ended by a deallocation.
    Heap,
    /// Ends with its scope.
    Stack,
    /// A global variable; never ends.
    Global {
        /// True if it must not be written.
        constant: bool,
    },
    /// An argument of the entry.
    Argument,
    /// A function; it has no bytes.
    Function(u32),
    /// A block of a function; it has no bytes.
    Block {
        /// The number of the function.
        function: u32,
        /// The tag of the block.
        tag: i64,
    },
}

/// An object of memory.
#[derive(Debug)]
struct Object {
    base: u64,
    size: u64,
    bytes: Vec<u8>,
    states: Vec<u8>,
    /// The object of each stored pointer, by its offset.
    pointers: BTreeMap<u64, ObjectId>,
    kind: ObjectKind,
    alive: bool,
    /// True if the object must not be written: its life has not begun or is over, but its memory is
    /// still reserved.
    dormant: bool,
    /// The watched bytes, if any.
    watch: Option<Watch>,
}

/// A watched range of bytes, and a flag for writes since the last query.
#[derive(Clone, Copy, Debug)]
struct Watch {
    start: usize,
    end: usize,
    written: bool,
}

const UNWRITTEN: u8 = 0;
const WRITTEN: u8 = 1;
const POISON: u8 = 2;
const DORMANT: u8 = 3;

/// The first address of objects, so that small integers are no addresses.
const FIRST_ADDRESS: u64 = 1 << 16;
/// The number of unused bytes between two objects.
const GAP: u64 = 64;
/// The overhead of an object besides its bytes, counted against the limit.
const OVERHEAD: u64 = 128;

/// All objects of a run. See the [module](self).
#[derive(Debug)]
pub struct Memory {
    objects: Vec<Object>,
    /// The addresses of blocks, by the numbers of their functions and their tags.
    blocks: HashMap<(u32, i64), Pointer>,
    /// The lowest and the highest address of a block, by the numbers of their functions.
    code: HashMap<u32, (u64, u64)>,
    next_address: u64,
    left: u64,
}

impl Memory {
    /// Creates memory for about `limit` bytes.
    pub fn new(limit: u64) -> Memory {
        let (blocks, code) = (HashMap::new(), HashMap::new());
        Memory { objects: Vec::new(), blocks, code, next_address: FIRST_ADDRESS, left: limit }
    }

    /// Creates an object with uninitialized bytes.
    pub fn allocate(&mut self, size: u64, align: u64, kind: ObjectKind) -> Result<Pointer, Box<Fault>> {
        if !align.is_power_of_two() {
            return Err(Fault::undefined(format!("the alignment {align} is not a power of two")));
        }
        let cost = size.saturating_mul(2).saturating_add(OVERHEAD);
        if cost > self.left || self.objects.len() >= u32::MAX as usize - 1 {
            return Err(Fault::new(FaultKind::Limit, format!("memory limit reached: no {size} bytes left")));
        }
        self.left -= cost;
        let base = self.next_address.checked_next_multiple_of(align);
        let next = base.and_then(|b| b.checked_add(size)?.checked_add(GAP));
        let (Some(base), Some(next)) = (base, next.filter(|n| *n < 1 << 63)) else {
            return Err(Fault::new(FaultKind::Limit, "the address space is exhausted"));
        };
        self.next_address = next;
        let object = ObjectId(self.objects.len() as u32);
        self.objects.push(Object {
            base,
            size,
            bytes: vec![0; size as usize],
            states: vec![UNWRITTEN; size as usize],
            pointers: BTreeMap::new(),
            kind,
            alive: true,
            dormant: false,
            watch: None,
        });
        Ok(Pointer { object, address: base })
    }

    /// Creates an object with the contents `bytes`.
    pub fn allocate_bytes(
        &mut self,
        bytes: &[u8],
        align: u64,
        kind: ObjectKind,
    ) -> Result<Pointer, Box<Fault>> {
        let pointer = self.allocate(bytes.len() as u64, align, kind)?;
        let object = &mut self.objects[pointer.object.0 as usize];
        object.bytes.copy_from_slice(bytes);
        object.states.fill(WRITTEN);
        Ok(pointer)
    }

    /// Returns the address of the block of a function with a tag. It is the same each time.
    pub(super) fn block(&mut self, function: u32, tag: i64) -> Result<Pointer, Box<Fault>> {
        if let Some(known) = self.blocks.get(&(function, tag)) {
            return Ok(*known);
        }
        let pointer = self.allocate(0, 1, ObjectKind::Block { function, tag })?;
        self.blocks.insert((function, tag), pointer);
        // Addresses ascend.
        self.code.entry(function).or_insert((pointer.address, 0)).1 = pointer.address;
        Ok(pointer)
    }

    /// Returns the function and the tag of the block at an address. The pointer may come from
    /// another block of the function.
    pub(super) fn block_at(&self, pointer: Pointer) -> Option<(u32, i64)> {
        let block = |object: ObjectId| match self.kind(object) {
            Some(ObjectKind::Block { function, tag }) => Some((function, tag)),
            _ => None,
        };
        let (from, _) = block(pointer.object)?;
        let found = block(self.pointer_at(pointer.address).object)?;
        (found.0 == from).then_some(found)
    }

    /// Ends a heap object, given the pointer from its allocation. Null is ignored.
    pub fn free(&mut self, pointer: Pointer) -> Result<(), Box<Fault>> {
        if pointer.address == 0 {
            return Ok(());
        }
        let Some(object) = self.objects.get_mut(pointer.object.0 as usize) else {
            return Err(Fault::undefined(format!(
                "frees address {:#x}, which no object has",
                pointer.address
            )));
        };
        if !object.alive {
            return Err(Fault::undefined(format!("frees {} for a second time", object.describe())));
        }
        if !matches!(object.kind, ObjectKind::Heap | ObjectKind::Argument) {
            return Err(Fault::undefined(format!("frees {}, which was not allocated", object.describe())));
        }
        if object.base != pointer.address {
            return Err(Fault::undefined(format!(
                "frees an address {} bytes into {}",
                pointer.address.wrapping_sub(object.base) as i64,
                object.describe()
            )));
        }
        self.end(pointer.object);
        Ok(())
    }

    /// Ends an object of any kind, if it is alive.
    pub fn end(&mut self, object: ObjectId) {
        if let Some(object) = self.objects.get_mut(object.0 as usize)
            && object.alive
        {
            object.alive = false;
            (object.bytes, object.states) = (Vec::new(), Vec::new());
            object.pointers = BTreeMap::new();
            self.left = self.left.saturating_add(object.size.saturating_mul(2));
        }
    }

    /// Restarts the life of a stack object with uninitialized bytes, or ends it and keeps its
    /// memory. Any pointer other than to the start of such an object is ignored. Returns the number
    /// of bytes.
    pub fn set_alive(&mut self, pointer: Pointer, begins: bool) -> u64 {
        if let Some(object) = self.objects.get_mut(pointer.object.0 as usize)
            && object.alive
            && object.kind == ObjectKind::Stack
            && object.base == pointer.address
        {
            object.dormant = !begins;
            object.states.fill(if begins { UNWRITTEN } else { DORMANT });
            object.pointers = BTreeMap::new();
            return object.size;
        }
        0
    }

    /// Returns the kind of an object, if it is alive.
    pub fn kind(&self, object: ObjectId) -> Option<ObjectKind> {
        self.objects.get(object.0 as usize).filter(|o| o.alive).map(|o| o.kind)
    }

    /// True if an object ended.
    pub fn has_ended(&self, object: ObjectId) -> bool {
        self.objects.get(object.0 as usize).is_some_and(|o| !o.alive)
    }

    /// Makes a constant global writable, or seals it again.
    pub fn set_constant(&mut self, object: ObjectId, constant: bool) {
        if let Some(object) = self.objects.get_mut(object.0 as usize)
            && let ObjectKind::Global { constant: own } = &mut object.kind
        {
            *own = constant;
        }
    }

    /// Returns the pointer for an address converted from an integer. It belongs to the object that
    /// covers the address, or that ends there.
    pub fn pointer_at(&self, address: u64) -> Pointer {
        let after = self.objects.partition_point(|o| o.base <= address);
        let object =
            after.checked_sub(1).filter(|i| address - self.objects[*i].base <= self.objects[*i].size);
        Pointer { object: object.map_or(ObjectId::NONE, |i| ObjectId(i as u32)), address }
    }

    /// True if `pointer` is in its object or one past its end. The blocks of a function are in one
    /// object.
    pub fn in_bounds(&self, pointer: Pointer) -> bool {
        match self.objects.get(pointer.object.0 as usize) {
            Some(Object { kind: ObjectKind::Block { function, .. }, .. }) => {
                let code = self.code.get(function);
                code.is_some_and(|(low, high)| (*low..=*high).contains(&pointer.address))
            }
            Some(object) => pointer.address.wrapping_sub(object.base) <= object.size,
            None => false,
        }
    }

    /// Returns the object of an access of `size` bytes and the offset in it, after all checks.
    #[inline]
    fn locate(&self, pointer: Pointer, size: u64, verb: &str) -> Result<(usize, usize), Box<Fault>> {
        let index = pointer.object.0 as usize;
        if let Some(object) = self.objects.get(index) {
            let offset = pointer.address.wrapping_sub(object.base);
            if object.alive && size <= object.size && offset <= object.size - size {
                return Ok((index, offset as usize));
            }
        }
        Err(self.misplaced(pointer, size, verb))
    }

    #[cold]
    fn misplaced(&self, pointer: Pointer, size: u64, verb: &str) -> Box<Fault> {
        let Some(object) = self.objects.get(pointer.object.0 as usize) else {
            return Fault::undefined(match pointer.address {
                0 => format!("{verb} {size} bytes at the null pointer"),
                address => format!("{verb} {size} bytes at address {address:#x}, which no object has"),
            });
        };
        let offset = pointer.address.wrapping_sub(object.base) as i64;
        if !object.alive {
            return Fault::undefined(format!("{verb} {}, whose life has ended", object.describe()));
        }
        Fault::undefined(format!("{verb} {size} bytes at offset {offset} of {}", object.describe()))
    }

    fn locate_writable(&self, pointer: Pointer, size: u64) -> Result<(usize, usize), Box<Fault>> {
        let found = self.locate(pointer, size, "writes")?;
        match self.objects[found.0].kind {
            ObjectKind::Global { constant: true } => Err(Fault::undefined("writes a constant global")),
            _ if self.objects[found.0].dormant => {
                let object = self.objects[found.0].describe();
                Err(Fault::undefined(format!("writes {object} outside of its lifetime")))
            }
            _ => Ok(found),
        }
    }

    /// Faults unless `size` bytes may be read (with `write`, also written) at `pointer`.
    pub fn check(&self, pointer: Pointer, size: u64, write: bool) -> Result<(), Box<Fault>> {
        if write {
            self.locate_writable(pointer, size).map(drop)
        } else {
            self.locate(pointer, size, "reads").map(drop)
        }
    }

    /// Reads a value. `loc` is the location of the reader, for poison.
    #[inline]
    pub fn load(&self, pointer: Pointer, repr: &Repr, loc: Loc) -> Result<Datum, Box<Fault>> {
        match *repr {
            Repr::Scalar { bits, bytes: 4 } => self.load_bytes::<4>(pointer, bits, loc),
            Repr::Scalar { bits, bytes: 8 } => self.load_bytes::<8>(pointer, bits, loc),
            Repr::Scalar { bits, bytes } => self.load_any(pointer, bits, bytes, loc),
            Repr::Pointer { .. } => self.load_pointer(pointer, loc),
            Repr::Sequence { count, stride, ref element } => {
                self.check(pointer, count.saturating_mul(stride), false)?;
                let elements = (0..count)
                    .map(|i| self.load(pointer.offset((i * stride) as i64), element, loc))
                    .collect::<Result<_, _>>()?;
                Ok(Datum::aggregate(elements))
            }
            Repr::Packed { count, bits } => {
                let size = (count * u64::from(bits)).div_ceil(8);
                let (index, offset) = self.locate(pointer, size, "reads")?;
                let range = offset..offset + size as usize;
                let object = &self.objects[index];
                let states = &object.states[range.clone()];
                let poison = |part: std::ops::Range<usize>, loc| {
                    let part = &states[part];
                    part.iter().any(|s| *s != WRITTEN).then(|| unusable(part, loc))
                };
                Ok(packed::unpack(count, bits, &object.bytes[range], poison, loc))
            }
            Repr::Struct(ref fields) => {
                let elements = fields
                    .iter()
                    .map(|(offset, repr)| self.load(pointer.offset(*offset as i64), repr, loc))
                    .collect::<Result<_, _>>()?;
                Ok(Datum::aggregate(elements))
            }
        }
    }

    #[inline]
    fn load_bytes<const N: usize>(&self, pointer: Pointer, bits: u32, loc: Loc) -> Result<Datum, Box<Fault>> {
        let (index, offset) = self.locate(pointer, N as u64, "reads")?;
        let object = &self.objects[index];
        let states = &object.states[offset..offset + N];
        if states.iter().any(|s| *s != WRITTEN) {
            return Ok(unusable(states, loc));
        }
        let mut wide = [0; 8];
        wide[..N].copy_from_slice(&object.bytes[offset..offset + N]);
        let wide = u64::from_le_bytes(wide);
        match bits < 64 && wide >> bits != 0 {
            true => Ok(Datum::poison(Cause::BitsOutside, loc)),
            false => Ok(Datum::bits(bits, wide.into())),
        }
    }

    fn load_any(&self, pointer: Pointer, bits: u32, bytes: u32, loc: Loc) -> Result<Datum, Box<Fault>> {
        let (index, offset) = self.locate(pointer, bytes.into(), "reads")?;
        let (object, bytes) = (&self.objects[index], bytes as usize);
        let states = &object.states[offset..offset + bytes];
        if states.iter().any(|s| *s != WRITTEN) {
            return Ok(unusable(states, loc));
        }
        let mut wide = [0; 16];
        wide[..bytes].copy_from_slice(&object.bytes[offset..offset + bytes]);
        let wide = u128::from_le_bytes(wide);
        match bits < 128 && wide >> bits != 0 {
            true => Ok(Datum::poison(Cause::BitsOutside, loc)),
            false => Ok(Datum::bits(bits, wide)),
        }
    }

    fn load_pointer(&self, pointer: Pointer, loc: Loc) -> Result<Datum, Box<Fault>> {
        let address = self.load_bytes::<8>(pointer, 64, loc)?;
        let Datum::Bits(address) = address else { return Ok(address) };
        let (index, offset) = self.locate(pointer, 8, "reads")?;
        Ok(match self.objects[index].pointers.get(&(offset as u64)) {
            Some(object) => Pointer { object: *object, address }.into(),
            // The bytes of an integer, or of a pointer copied byte by byte.
            None => self.pointer_at(address).into(),
        })
    }

    /// Writes a value.
    #[inline]
    pub fn store(&mut self, pointer: Pointer, repr: &Repr, datum: &Datum) -> Result<(), Box<Fault>> {
        match (repr, datum) {
            (Repr::Scalar { bytes: 4, .. }, Datum::Bits(bits)) => {
                self.put(pointer, (*bits as u32).to_le_bytes())
            }
            (Repr::Scalar { bytes: 8, .. }, Datum::Bits(bits)) => self.put(pointer, bits.to_le_bytes()),
            _ => self.store_any(pointer, repr, datum),
        }
    }

    #[inline]
    fn put<const N: usize>(&mut self, pointer: Pointer, bytes: [u8; N]) -> Result<(), Box<Fault>> {
        let (index, offset) = self.locate_writable(pointer, N as u64)?;
        let object = &mut self.objects[index];
        object.bytes[offset..offset + N].copy_from_slice(&bytes);
        object.states[offset..offset + N].copy_from_slice(&[WRITTEN; N]);
        object.note_write(offset, N);
        Ok(())
    }

    fn store_any(&mut self, pointer: Pointer, repr: &Repr, datum: &Datum) -> Result<(), Box<Fault>> {
        match (repr, datum) {
            (Repr::Sequence { count, stride, element }, _) => {
                self.check(pointer, count.saturating_mul(*stride), true)?;
                (0..*count).try_for_each(|i| {
                    self.store(pointer.offset((i * stride) as i64), element, part(datum, i as usize)?)
                })
            }
            (Repr::Packed { count, bits }, Datum::Poison(_)) => {
                self.fill(pointer, None, (count * u64::from(*bits)).div_ceil(8))
            }
            (Repr::Packed { bits, .. }, Datum::Aggregate(elements)) => {
                let bytes = packed::pack(*bits, elements)?;
                let (index, offset) = self.locate_writable(pointer, bytes.len() as u64)?;
                let object = &mut self.objects[index];
                for (at, byte) in (offset..).zip(&bytes) {
                    object.bytes[at] = byte.unwrap_or(0);
                    object.states[at] = if byte.is_some() { WRITTEN } else { POISON };
                }
                object.note_write(offset, bytes.len());
                Ok(())
            }
            (Repr::Struct(fields), _) => fields.iter().enumerate().try_for_each(|(i, (offset, repr))| {
                self.store(pointer.offset(*offset as i64), repr, part(datum, i)?)
            }),
            (Repr::Scalar { .. } | Repr::Pointer { .. }, Datum::Poison(poison)) => {
                let bytes = if let Repr::Scalar { bytes, .. } = repr { *bytes as usize } else { 8 };
                let (index, offset) = self.locate_writable(pointer, bytes as u64)?;
                let object = &mut self.objects[index];
                let state = if poison.cause == Cause::Uninitialised { UNWRITTEN } else { POISON };
                object.states[offset..offset + bytes].fill(state);
                object.note_write(offset, bytes);
                Ok(())
            }
            (Repr::Pointer { .. }, Datum::Pointer { object: target, address }) => {
                self.put(pointer, address.to_le_bytes())?;
                let (index, offset) = self.locate(pointer, 8, "writes")?;
                self.objects[index].pointers.insert(offset as u64, *target);
                Ok(())
            }
            (Repr::Scalar { bytes, .. }, Datum::Bits(_) | Datum::Wide(_)) => {
                let bytes = (*bytes).min(16) as usize;
                let (index, offset) = self.locate_writable(pointer, bytes as u64)?;
                let object = &mut self.objects[index];
                let value = datum.as_bits().unwrap_or(0).to_le_bytes();
                object.bytes[offset..offset + bytes].copy_from_slice(&value[..bytes]);
                object.states[offset..offset + bytes].fill(WRITTEN);
                object.note_write(offset, bytes);
                Ok(())
            }
            _ => Err(Fault::unsupported(format!("a store of {} as another kind of value", datum.kind()))),
        }
    }

    /// Copies bytes with their states and pointers. The ranges may overlap.
    pub fn copy(&mut self, to: Pointer, from: Pointer, size: u64) -> Result<(), Box<Fault>> {
        if size == 0 {
            return Ok(());
        }
        let (source, start) = self.locate(from, size, "reads")?;
        let (target, offset) = self.locate_writable(to, size)?;
        let (len, object) = (size as usize, &self.objects[source]);
        let moved: Vec<(u64, ObjectId)> = if object.pointers.is_empty() {
            Vec::new()
        } else {
            let range = start as u64..(start as u64 + size).saturating_sub(7);
            let moved = if range.is_empty() { Vec::new() } else { object.pointers.range(range).collect() };
            moved.into_iter().map(|(at, o)| (at - start as u64 + offset as u64, *o)).collect()
        };
        if source == target {
            let object = &mut self.objects[source];
            object.bytes.copy_within(start..start + len, offset);
            object.states.copy_within(start..start + len, offset);
        } else {
            let [a, b] = match self.objects.get_disjoint_mut([source, target]) {
                Ok(both) => both,
                Err(_) => return Err(Fault::undefined("copies between objects that do not exist")),
            };
            b.bytes[offset..offset + len].copy_from_slice(&a.bytes[start..start + len]);
            b.states[offset..offset + len].copy_from_slice(&a.states[start..start + len]);
        }
        let object = &mut self.objects[target];
        object.note_write(offset, len);
        object.pointers.extend(moved);
        Ok(())
    }

    /// Writes one byte `size` times; `None` writes poison.
    pub fn fill(&mut self, to: Pointer, byte: Option<u8>, size: u64) -> Result<(), Box<Fault>> {
        if size == 0 {
            return Ok(());
        }
        let (index, offset) = self.locate_writable(to, size)?;
        let (object, len) = (&mut self.objects[index], size as usize);
        object.bytes[offset..offset + len].fill(byte.unwrap_or(0));
        object.states[offset..offset + len].fill(if byte.is_some() { WRITTEN } else { POISON });
        object.note_write(offset, len);
        Ok(())
    }

    /// Reads bytes, which must be initialized and free of poison.
    pub fn bytes(&self, from: Pointer, size: u64) -> Result<&[u8], Box<Fault>> {
        let (index, offset) = self.locate(from, size, "reads")?;
        let (object, len) = (&self.objects[index], size as usize);
        let states = &object.states[offset..offset + len];
        if states.contains(&POISON) {
            return Err(Fault::undefined("it holds poison"));
        }
        if states.iter().any(|state| *state != WRITTEN) {
            return Err(Fault::undefined("it was never written"));
        }
        Ok(&object.bytes[offset..offset + len])
    }

    /// Watches `size` bytes from `pointer` on: [`Memory::was_written`] reports writes there.
    pub fn watch(&mut self, pointer: Pointer, size: u64) -> Result<(), Box<Fault>> {
        let (index, start) = self.locate(pointer, size, "watches")?;
        self.objects[index].watch = Some(Watch { start, end: start + size as usize, written: false });
        Ok(())
    }

    /// Returns true if watched bytes of `object` were written since the last call.
    pub fn was_written(&mut self, object: ObjectId) -> bool {
        let watch = self.objects.get_mut(object.0 as usize).and_then(|object| object.watch.as_mut());
        watch.is_some_and(|watch| std::mem::take(&mut watch.written))
    }

    /// Describes the object at a pointer for messages: `a heap object of 16 bytes`.
    pub fn describe(&self, object: ObjectId) -> String {
        self.objects.get(object.0 as usize).map_or("no object".into(), Object::describe)
    }
}

impl Object {
    fn describe(&self) -> String {
        let kind = match self.kind {
            ObjectKind::Heap => "an allocated object",
            ObjectKind::Stack => "a stack object",
            ObjectKind::Global { constant: true } => "a constant global",
            ObjectKind::Global { .. } => "a global",
            ObjectKind::Argument => "an argument's buffer",
            ObjectKind::Function(_) => "a function",
            ObjectKind::Block { .. } => "a block",
        };
        format!("{kind} of {} bytes", self.size)
    }

    /// Records a write of bytes: the side effects common to all writes.
    #[inline]
    fn note_write(&mut self, offset: usize, len: usize) {
        self.forget_pointers(offset, len);
        if let Some(watch) = &mut self.watch {
            watch.written |= offset < watch.end && watch.start < offset + len;
        }
    }

    /// Drops the stored pointers that overlap the range.
    #[inline]
    fn forget_pointers(&mut self, offset: usize, len: usize) {
        if !self.pointers.is_empty() {
            let (start, end) = ((offset as u64).saturating_sub(7), (offset + len) as u64);
            while let Some(at) = self.pointers.range(start..end).next().map(|(at, _)| *at) {
                self.pointers.remove(&at);
            }
        }
    }
}

/// Returns the poison for a scalar with a byte that is not properly written.
#[cold]
fn unusable(states: &[u8], loc: Loc) -> Datum {
    let cause = match states {
        _ if states.contains(&DORMANT) => Cause::OutsideLifetime,
        _ if states.contains(&POISON) => Cause::Stored,
        _ => Cause::Uninitialised,
    };
    Datum::poison(cause, loc)
}

/// Returns element `index` of an aggregate. The elements of poison are poison.
fn part(datum: &Datum, index: usize) -> Result<&Datum, Box<Fault>> {
    match datum {
        Datum::Poison(_) => Ok(datum),
        Datum::Aggregate(elements) if index < elements.len() => Ok(&elements[index]),
        _ => Err(Fault::unsupported(format!("a store of {} as an aggregate", datum.kind()))),
    }
}
