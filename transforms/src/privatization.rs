//! Privatization: a buffer that each iteration of a loop fills before it reads becomes one for each
//! iteration.
//!
//! ```text
//!     t = alloc(n)                      for i {
//!     for i {                             t = alloc(n)
//!       for j { t[j] = f(i, j) }   ──>    for j { t[j] = f(i, j) }
//!       for j { b[i][j] = g(t[j]) }       for j { b[i][j] = g(t[j]) }
//!     }                                   dealloc t
//!     dealloc t                         }
//! ```
//!
//! Iterations that share a buffer have to run one after the other, although none uses what another
//! one left there. With buffers of their own they may run at the same time:
//! [`loop-parallelize`](crate::transform::parallelize) comes next. The judge of storage decides
//! (`legality/storage/private.rs`).
//!
//! Reference: Tu and Padua, *Automatic Array Privatization*, LCPC 1993.
//!
//! **Cost.** The data flow of each local buffer; linear in the operations otherwise.
//!
//! # Limits
//!
//! - A buffer is on the heap: one on the stack would fill the stack, one iteration after the other.
//! - A buffer moves into one loop. A second run moves it further in, if that is legal.
//!
//! **Never conditional.** Only buffers that the function allocates are moved, and nothing overlaps
//! these.
//!
//! **Not in `.ll`.** The buffers are allocations of memrefs.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%b: memref<4x6xf32>, %x: f32) {
//!   %t = memref.alloc() : memref<6xf32>
//!   affine.for %i = 0 to 4 {
//!     affine.for %j = 0 to 6 {
//!       affine.store %x, %t[%j] : memref<6xf32>
//!     }
//!     affine.for %j = 0 to 6 {
//!       %0 = affine.load %t[%j] : memref<6xf32>
//!       affine.store %0, %b[%i, %j] : memref<4x6xf32>
//!     }
//!   }
//!   memref.dealloc %t : memref<6xf32>
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --array-privatization --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=1 --order=images/array-privatization-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=1 --order=images/array-privatization-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/array-privatization-0.svg)
//! ![The order of stores after](images/array-privatization-1.svg)

use loomir_dialects::interfaces::LoopLike;
use loomir_dialects::memref;
use loomir_ir::pass::{Pass, PassContext, PassInfo, Survey};
use loomir_ir::{Body, Builder, Diagnostics};
use loomir_polyhedra::Limits;

use crate::access::base::AliasMode;
use crate::access::callees::Callees;
use crate::access::locals::Locals;
use crate::access::{Analyses, survey};
use crate::flow::Flow;
use crate::flow::timeline::{self, Timeline};
use crate::legality::storage::{NotPrivate, Private, StorageJudge};
use crate::remark::{self, Remarks};

/// The steps of one question about integers.
const STEPS: u64 = 400_000;

/// Gives each iteration buffers of its own. Returns their number, and a remark for each buffer that
/// only one loop uses. The result is well formed if `body` was, and computes the same.
pub fn privatize(body: &mut Body, analyses: &Analyses, alias: AliasMode) -> (usize, Diagnostics) {
    let (mut made, mut said) = (0, Diagnostics::default());
    for block in timeline::roots(body) {
        let locals = Locals::of(body);
        let timeline = Timeline::assuming(body, block, &locals, analyses, alias.untested());
        let flow = Flow::new(body, &timeline, Limits::steps(STEPS));
        let judge = StorageJudge::new(body, &timeline, &flow);
        let judged: Vec<_> =
            locals.local_allocations().filter_map(|own| Some((own, judge.private(own)?))).collect();
        for (allocation, judged) in judged {
            let remarks = Remarks { body, pass: PASS.name };
            let loc = body.loc(body.defining_op(allocation).unwrap_or(body.root()));
            match judged {
                Ok(private) => {
                    said.push(remarks.passed("Privatized", loc, "Each iteration has a buffer of its own"));
                    write(body, &private);
                    made += 1;
                }
                Err(why) => {
                    let missed = remarks.missed("NotPrivatized", loc, "Buffer not privatized", why.text());
                    said.push(match why {
                        NotPrivate::HandsOn(op) | NotPrivate::Used(op) => missed.note(body.loc(op), "here"),
                        NotPrivate::Stack | NotPrivate::TooHard => missed,
                    });
                }
            }
        }
    }
    (made, said)
}

impl NotPrivate {
    fn text(self) -> &'static str {
        match self {
            NotPrivate::HandsOn(_) => "an iteration may read what another one wrote",
            NotPrivate::Used(_) => "an operation uses it that is no load, store or free",
            NotPrivate::Stack => "it is on the stack, which a loop would fill; use memref.alloc",
            NotPrivate::TooHard => "it has too many accesses, or a limit was reached",
        }
    }
}

/// Moves an allocation into the loop, and frees it at the end of each iteration.
fn write(body: &mut Body, private: &Private) {
    let (op, loop_op) = (private.allocation(), private.loop_op());
    let view = body.op_ref(loop_op);
    let Some(model) = view.info().interface::<dyn LoopLike>() else { return };
    let Some(block) = body.single_block(model.body(view)) else { return };
    let (Some(first), Some(end)) = (body.first_op(block), body.terminator(block)) else { return };
    private.frees().iter().for_each(|free| body.erase(*free));
    body.move_before(op, first);
    let buffer = body.result(op, 0);
    Builder::before(body, end).build(memref::DeallocOp::DEF, &[&[buffer]], &[], &[]);
}

/// The pass `array-privatization` on `func.func`.
pub const PASS: PassInfo = PassInfo {
    name: "array-privatization",
    anchor: Some("func.func"),
    summary: "Give each iteration of a loop a buffer of its own",
    options: &[AliasMode::UNTESTED],
    make: |options| Ok(Box::new(Privatization { alias: AliasMode::untested_of(options)? })),
};

struct Privatization {
    alias: AliasMode,
}

impl Pass for Privatization {
    fn name(&self) -> &str {
        PASS.name
    }

    fn surveys(&self) -> &[&'static Survey] {
        survey::SURVEYS
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        if !cx.edits.allows_more() {
            return Ok(());
        }
        let analyses = Analyses::default().with_callees(&Callees::around(cx.surveys));
        let (made, said) = privatize(body, &analyses, self.alias);
        cx.count("Buffers privatized", made as u64);
        remark::tell(cx, PASS.name, body, made > 0, said);
        Ok(())
    }
}
