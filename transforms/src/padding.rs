//! Padding: rows of a local array become longer, so that columns do not share a few lines of a
//! cache.
//!
//! Elements below each other lie a whole row apart. If that is a multiple of a large power of two,
//! they compete for the same lines of a cache, although most of it is unused. A row of 512 numbers
//! of eight bytes, made eight numbers longer, moves each row on by a line.
//!
//! Only the type of the allocation changes: subscripts stay, and the new elements are never used.
//! The judge of storage decides (`legality/storage/padded.rs`).
//!
//! Reference: Rivera and Tseng, *Data Transformations for Eliminating Conflict Misses*, PLDI 1998.
//!
//! **Cost.** Linear in the uses of local arrays.
//!
//! # Limits
//!
//! - Arrays have constant sizes. Those that are arguments, or that a call or a view uses, stay.
//!
//! **Never illegal.** The order of iterations stays. Arrays with other uses stay, with a remark.
//!
//! **Never conditional.** Only arrays that the function allocates are padded.
//!
//! **Not in `.ll`.** The arrays are allocations of memrefs.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%b: memref<4xf64>, %x: f64) {
//!   %t = memref.alloc() : memref<4x64xf64>
//!   affine.for %i = 0 to 4 {
//!     affine.store %x, %t[%i, 0] : memref<4x64xf64>
//!   }
//!   affine.for %i = 0 to 4 {
//!     %0 = affine.load %t[%i, 0] : memref<4x64xf64>
//!     affine.store %0, %b[%i] : memref<4xf64>
//!   }
//!   memref.dealloc %t : memref<4x64xf64>
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --array-padding --remarks=text -o new.mlir
//! $ cat new.mlir
//! ```
//!
//! No iteration moves, so there is nothing to draw.

use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Body, Builder, Diagnostics, OperationState, TypeKind};

use crate::access::base::bytes_of_element;
use crate::access::locals::Locals;
use crate::legality::storage::{NotPadded, Padded};
use crate::remark::{self, Remarks};

/// The sizes that decide about padding, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Padding {
    /// Rows become longer if their size is a multiple of this. Positive.
    pub multiple: i64,
    /// The bytes that a row becomes longer by. Positive.
    pub by: i64,
}

/// Pads local arrays. Returns their number, and a remark for each array whose rows compete. The
/// result is well formed if `body` was, and computes the same.
pub fn pad(body: &mut Body, padding: Padding) -> (usize, Diagnostics) {
    let (mut made, mut said) = (0, Diagnostics::default());
    let locals = Locals::of(body);
    for array in locals.local_allocations().collect::<Vec<_>>() {
        let Some(op) = body.defining_op(array) else { continue };
        let (loc, remarks) = (body.loc(op), Remarks { body, pass: PASS.name });
        let missed = |why| remarks.missed("NotPadded", loc, "Array not padded", why);
        match Padded::of(body, &locals, array) {
            Ok(padded) => {
                if let Some(lengths) = write(body, &padded, padding) {
                    let text = format!("Rows padded from {} to {} elements", lengths.0, lengths.1);
                    said.push(Remarks { body, pass: PASS.name }.passed("Padded", loc, &text));
                    made += 1;
                }
            }
            Err(Some(NotPadded::Used(user))) => {
                let missed = missed("an operation uses it that is no load, store or free");
                said.push(missed.note(body.loc(user), "here"));
            }
            Err(Some(NotPadded::Shape)) => said.push(missed("it has no rows of constant size")),
            Err(None) => {}
        }
    }
    (made, said)
}

/// Makes the rows of an array longer. Returns the old and the new length. `None` if rows do not
/// compete.
fn write(body: &mut Body, padded: &Padded, Padding { multiple, by }: Padding) -> Option<(i64, i64)> {
    let (ctx, old) = (body.ctx().clone(), padded.allocation());
    let array = body.result(old, 0);
    let TypeKind::MemRef { shape: Some(shape), element, layout, memory_space } =
        body.value_type(array).kind(&ctx)
    else {
        return None;
    };
    let size = bytes_of_element(&ctx, *element).filter(|size| *size > 0)?;
    let length = *shape.last()?;
    if length == 0 || length.checked_mul(size)? % multiple != 0 {
        return None;
    }
    let longer = length.checked_add(by / size + i64::from(by % size != 0))?;
    let mut sizes = shape.to_vec();
    *sizes.last_mut()? = longer;
    // The whole array stays as large as numbers of 64 bits count.
    sizes.iter().try_fold(size, |all, own| all.checked_mul(*own))?;
    let kind = TypeKind::MemRef {
        shape: Some(sizes.into()),
        element: *element,
        layout: *layout,
        memory_space: *memory_space,
    };
    let ty = ctx.ty(kind);
    let operands: Vec<_> = body.operands(old).collect();
    let mut state =
        OperationState::named(body.op_name(old), body.loc(old)).operands(&operands).results(&[ty]);
    state.properties = body.properties(old);
    state.attributes = body.attributes(old);
    let new = Builder::before(body, old).value(state);
    body.replace_all_uses(array, new);
    // Alignments were stated for other addresses.
    padded.accesses().iter().for_each(|op| body.remove_attr(*op, "alignment"));
    body.erase(old);
    Some((length, longer))
}

/// The pass `array-padding` on `func.func`.
pub const PASS: PassInfo = PassInfo {
    name: "array-padding",
    anchor: Some("func.func"),
    summary: "Make rows of local arrays longer, so that columns do not compete for a cache",
    options: &[
        ("multiple", "512", "rows become longer if their bytes are a multiple of this number"),
        ("bytes", "64", "the bytes that rows become longer by"),
    ],
    make: |options| {
        let (multiple, by) = (options.parse("multiple", 512)?, options.parse("bytes", 64)?);
        match multiple > 0 && (1..=MAX_BYTES).contains(&by) {
            true => Ok(Box::new(ArrayPadding(Padding { multiple, by }))),
            false => Err(format!("'multiple' is 1 or more, and 'bytes' is from 1 to {MAX_BYTES}")),
        }
    },
};

/// The most bytes that a row becomes longer by.
const MAX_BYTES: i64 = 4096;

struct ArrayPadding(Padding);

impl Pass for ArrayPadding {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        if !cx.edits.allows_more() {
            return Ok(());
        }
        let (made, said) = pad(body, self.0);
        cx.count("Arrays padded", made as u64);
        remark::tell(cx, PASS.name, body, made > 0, said);
        Ok(())
    }
}
