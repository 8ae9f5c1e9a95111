//! Parts of a function's text without a place in the dialect: names of values and blocks, flags and
//! locations of phi nodes, debug records, and which operations are constant expressions.
//!
//! One attribute of the function keeps them, by places in the text, with a [`stamp`] of the
//! function. They are valid as long as the function still has that stamp. No pass therefore sees
//! them or depends on them. A record keeps no value alive and never refers to another one. A
//! function that a pass has changed is written without them.
//!
//! **Cost.** Linear in the function, if there is something to keep.

use hashbrown::HashMap;
use loomir_dialects::llvm;
use loomir_ir::{Attr, AttrKind, Block, Body, Context, Op, OpDef, OpRef, Type, Value};

/// An attribute of a function: the additional parts of its text.
const AS_READ: &str = "llvm.as_read";
/// The key of the stamp in it.
const STAMP: &str = "stamp";

/// An item with a name or a number in a text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Named {
    Value(Value),
    Block(Block),
}

/// Returns everything with a name or number, in LLVM's order of numbering.
pub(super) fn named(body: &Body) -> Vec<Named> {
    let mut all = Vec::new();
    for_each_named(body, |named| all.push(named));
    all
}

/// Calls `f` for everything with a name or number, in LLVM's order of numbering.
fn for_each_named(body: &Body, mut f: impl FnMut(Named)) {
    let region = body.region(body.root(), 0);
    if let Some(entry) = body.entry_block(region) {
        body.arguments(entry).for_each(|argument| f(Named::Value(argument)));
    }
    for block in body.blocks(region) {
        f(Named::Block(block));
        if !body.is_entry(block) {
            body.arguments(block).for_each(|argument| f(Named::Value(argument)));
        }
        for op in body.ops(block).filter(|op| !is_literal(body, *op)) {
            body.results(op).for_each(|result| f(Named::Value(result)));
        }
    }
}

/// The additional parts of a function's text. Places of names, flags and attachments are those of
/// [`named`]. Places of records count the lines before them.
#[derive(Clone, Default, Debug)]
pub(super) struct AsRead {
    /// Names of values and blocks.
    pub(super) names: Vec<(usize, String)>,
    /// Flags of phi nodes.
    pub(super) flags: Vec<(usize, String)>,
    /// Attachments of phi nodes.
    pub(super) attached: Vec<(usize, String)>,
    /// Debug records, in order. `%5` in a record is the value with place 5.
    pub(super) records: Vec<(usize, String)>,
    /// Constant expressions, each with an empty text.
    pub(super) expressions: Vec<(usize, String)>,
}

impl AsRead {
    fn lists(&self) -> [(&'static str, &Vec<(usize, String)>); 5] {
        let AsRead { names, flags, attached, records, expressions } = self;
        let expressions = ("expressions", expressions);
        [("names", names), ("flags", flags), ("attached", attached), ("records", records), expressions]
    }

    /// Attaches the names and attachments to a function in its current state.
    pub(super) fn keep(&self, function: &mut Body) {
        if self.lists().iter().all(|(_, list)| list.is_empty()) {
            return;
        }
        let ctx = function.ctx().clone();
        let mut entries = vec![(ctx.name(STAMP), stamp_attr(function))];
        for (name, list) in self.lists() {
            let texts: Vec<Attr> =
                list.iter().map(|(place, text)| ctx.string_attr(&format!("{place} {text}"))).collect();
            if !texts.is_empty() {
                entries.push((ctx.name(name), ctx.array_attr(&texts)));
            }
        }
        let dict = ctx.attr(AttrKind::Dictionary(ctx.dict(entries)));
        function.set_attr(function.root(), AS_READ, dict);
    }

    /// Renews the stamp for the current function, whose text has the same lines.
    pub(super) fn renew(function: &mut Body) {
        let ctx = function.ctx().clone();
        let kept = function.attr(function.root(), AS_READ);
        if let Some(AttrKind::Dictionary(dict)) = kept.map(|kept| kept.kind(&ctx)) {
            let dict = dict.with(&ctx, STAMP, stamp_attr(function));
            function.set_attr(function.root(), AS_READ, ctx.attr(AttrKind::Dictionary(dict)));
        }
    }

    /// Returns the parts kept with a function, if it is unchanged since it was read.
    pub(super) fn of(function: &Body) -> AsRead {
        let ctx = function.ctx();
        let Some(AttrKind::Dictionary(dict)) =
            function.attr(function.root(), AS_READ).map(|kept| kept.kind(ctx))
        else {
            return AsRead::default();
        };
        if dict.get(ctx, STAMP) != Some(stamp_attr(function)) {
            return AsRead::default();
        }
        let list = |name: &str| {
            let texts = dict.get(ctx, name).and_then(|texts| texts.as_array(ctx)).unwrap_or_default();
            texts.iter().filter_map(|text| placed(ctx, *text)).collect()
        };
        AsRead {
            names: list("names"),
            flags: list("flags"),
            attached: list("attached"),
            records: list("records"),
            expressions: list("expressions"),
        }
    }
}

/// `5 text`.
fn placed(ctx: &Context, attr: Attr) -> Option<(usize, String)> {
    let (place, text) = attr.as_str(ctx)?.split_once(' ')?;
    Some((place.parse().ok()?, text.to_owned()))
}

fn stamp_attr(function: &Body) -> Attr {
    function.ctx().int_attr(Type::I64, i128::from(stamp(function).cast_signed()))
}

/// Returns a hash of operations, their order, operands and targets. Of literals only their number
/// counts. The same on all machines.
fn stamp(body: &Body) -> u64 {
    // The places of values and blocks, from 1.
    let (mut values, mut blocks) = (vec![0u32; body.num_value_slots()], vec![0u32; body.num_block_slots()]);
    let mut place = 0;
    for_each_named(body, |named| {
        place += 1;
        match named {
            Named::Value(value) => values[value.index()] = place,
            Named::Block(block) => blocks[block.index()] = place,
        }
    });
    // Literals have a result, and no place.
    let is_literal = |op: Op| body.results(op).next().is_some_and(|result| values[result.index()] == 0);
    let mut hash = Fnv::default();
    let region = body.region(body.root(), 0);
    for block in body.blocks(region) {
        hash.number(body.arguments(block).len() as u64);
        for op in body.ops(block).filter(|op| !is_literal(*op)) {
            hash.bytes(body.op_ref(op).name().as_bytes());
            hash.number(body.results(op).len() as u64);
            for operand in body.operands(op) {
                hash.number(values[operand.index()].into());
            }
            for successor in body.successors(op) {
                hash.number(blocks[successor.index()].into());
            }
        }
    }
    hash.0
}

/// The hash of Fowler, Noll and Vo (FNV-1a) of 64 bits.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    const PRIME: u64 = 0x0100_0000_01b3;

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(Fnv::PRIME);
        }
    }

    /// Adds eight bytes, the lowest first. Most numbers are small: bytes that are zero only
    /// multiply, all at once.
    fn number(&mut self, number: u64) {
        const POWERS: [u64; 9] = {
            let mut powers = [1u64; 9];
            let mut i = 1;
            while i < powers.len() {
                powers[i] = powers[i - 1].wrapping_mul(Fnv::PRIME);
                i += 1;
            }
            powers
        };
        let zeros = number.leading_zeros() as usize / 8;
        self.bytes(&number.to_le_bytes()[..8 - zeros]);
        self.0 = self.0.wrapping_mul(POWERS[zeros]);
    }
}

/// Returns, for each operation, the number of lines of the text before its own.
pub(super) fn lines(body: &Body) -> HashMap<Op, usize> {
    let mut next = 0;
    let mut lines = HashMap::new();
    for block in body.blocks(body.region(body.root(), 0)) {
        for op in body.ops(block) {
            lines.insert(op, next);
            next += usize::from(!is_literal(body, op));
        }
    }
    lines
}

/// The most operations between a part of a clause and its landing pad.
const MAX_CLAUSE: usize = 64;

/// True if an operation is written as a literal at its uses: a constant, or a part of a clause of a
/// landing pad.
pub(super) fn is_literal(body: &Body, op: Op) -> bool {
    is_constant_op(body.op_ref(op)) || is_clause(body, op)
}

/// True for a part of an aggregate or an expression that nothing but a landing pad uses.
fn is_clause(body: &Body, op: Op) -> bool {
    let is_part = |op: Op| {
        let parts = [llvm::InsertValueOp::DEF, llvm::GEPOp::DEF, llvm::AddrSpaceCastOp::DEF];
        parts.into_iter().any(|def| body.is(op, def))
    };
    let mut at = op;
    for _ in 0..MAX_CLAUSE {
        if !is_part(at) || !body.has_one_use(body.result(at, 0)) {
            return false;
        }
        let Some(user) = body.uses(body.result(at, 0)).next() else { return false };
        if body.is(user.op, llvm::LandingpadOp::DEF) {
            return true;
        }
        at = user.op;
    }
    false
}

/// The maximal number of operations that a constant expression consists of.
pub(super) const MAX_OPERATIONS: usize = 1 << 12;

/// The number of operations of an expression that is written at its uses: it has these operands,
/// and `known` returns the number for an earlier one. `None` for anything else.
pub(super) fn expression_size(body: &Body, op: Op, known: impl Fn(Value) -> Option<usize>) -> Option<usize> {
    let is_insertion =
        |op: Op| body.is(op, llvm::InsertValueOp::DEF) || body.is(op, llvm::InsertElementOp::DEF);
    if !is_insertion(op) && !EXPRESSIONS.iter().any(|def| body.is(op, def)) {
        return None;
    }
    let mut size = 1usize;
    for operand in body.operands(op) {
        let of = body.defining_op(operand)?;
        size += match is_constant_op(body.op_ref(of)) {
            true => 1,
            // Only insertions take parts one by one.
            false => known(operand).filter(|_| is_insertion(op) || !is_insertion(of))?,
        };
    }
    (size < MAX_OPERATIONS).then_some(size)
}

/// The instructions that are constant expressions too.
const EXPRESSIONS: [&OpDef; 9] = [
    llvm::GEPOp::DEF,
    llvm::PtrToIntOp::DEF,
    llvm::IntToPtrOp::DEF,
    llvm::BitcastOp::DEF,
    llvm::AddrSpaceCastOp::DEF,
    llvm::TruncOp::DEF,
    llvm::AddOp::DEF,
    llvm::SubOp::DEF,
    llvm::XOrOp::DEF,
];

/// True if an operation is a constant by itself.
pub(super) fn is_constant_op(op: OpRef<'_>) -> bool {
    let info = op.info();
    [
        llvm::ConstantOp::DEF,
        llvm::AddressOfOp::DEF,
        llvm::BlockAddressOp::DEF,
        llvm::ZeroOp::DEF,
        llvm::UndefOp::DEF,
        llvm::PoisonOp::DEF,
        llvm::NoneTokenOp::DEF,
    ]
    .into_iter()
    .any(|def| info.is(def))
}
