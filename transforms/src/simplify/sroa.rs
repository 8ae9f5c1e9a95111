//! Scalar replacement of aggregates: stack memory of several elements becomes one allocation for
//! each element that is used.
//!
//! Every use must name one element by constants: `llvm.getelementptr` into structs and arrays,
//! accesses to the first element at the address itself, `memref.load` and `memref.store`. Nested
//! aggregates are split again. `mem2reg` then makes values of the elements.
//!
//! Dialects declare what can be split: [`SplittableAllocation`] and [`SplittableUse`]. Memory stays
//! whole if its address has any other use, such as a copy of bytes, a call, an atomic or volatile
//! access, or an access of a type that may reach into the next element.
//!
//! **Cost.** Linear in the allocations and their uses, for each level of nesting.

use hashbrown::HashMap;
use loomir_dialects::interfaces::{PartIndex, PartUse, SplittableAllocation, SplittableUse};
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Body, Diagnostics, Op, Trait};

/// The pass `sroa`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "sroa",
    anchor: None,
    summary: "Split stack memory of several elements that constants name into its elements",
    options: &[],
    make: |_| Ok(Box::new(Sroa)),
};

struct Sroa;

impl Pass for Sroa {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| cx.count("Allocations split", sroa(body) as u64));
        Ok(())
    }
}

/// Splits the allocations of a body, without the bodies nested in it. Returns their number.
pub fn sroa(body: &mut Body) -> usize {
    let mut allocations: Vec<Op> = body.all_ops().filter(|op| is_splittable(body, *op)).collect();
    let mut count = 0;
    while let Some(op) = allocations.pop() {
        if let Some(uses) = uses(body, op) {
            allocations.extend(split(body, op, uses));
            count += 1;
        }
    }
    count
}

fn is_splittable(body: &Body, op: Op) -> bool {
    let view = body.op_ref(op);
    view.info().interface::<dyn SplittableAllocation>().is_some_and(|model| model.has_parts(view))
        && body.num_results(op) == 1
        && body.parent_op(op).is_some_and(|around| !body.has_trait(around, Trait::GraphRegion))
}

/// Returns the uses of an allocation, if each uses one part.
fn uses(body: &Body, op: Op) -> Option<Vec<(Op, PartUse)>> {
    let memory = body.result(op, 0);
    let mut uses: Vec<(Op, PartUse)> = Vec::new();
    for used in body.uses(memory) {
        let user = body.op_ref(used.op);
        let model = user.info().interface::<dyn SplittableUse>()?;
        uses.push((used.op, model.part(user, memory, body.op_ref(op))?));
    }
    // The latest use comes first in the list of uses.
    uses.reverse();
    uses.iter().any(|(_, own)| matches!(own, PartUse::Part(_))).then_some(uses)
}

/// Splits an allocation. Returns the new ones that may be split again.
fn split(body: &mut Body, op: Op, uses: Vec<(Op, PartUse)>) -> Vec<Op> {
    let ctx = body.ctx().clone();
    let mut indices: Vec<&PartIndex> = uses
        .iter()
        .filter_map(|(_, own)| match own {
            PartUse::Part(index) => Some(index),
            PartUse::Marker => None,
        })
        .collect();
    indices.sort_unstable();
    indices.dedup();
    let mut parts: HashMap<PartIndex, Op> = HashMap::new();
    let mut made = Vec::new();
    for index in indices {
        let view = body.op_ref(op);
        let model = view.info().interface::<dyn SplittableAllocation>();
        let Some(state) = model.and_then(|model| model.allocate(view, index)) else { return Vec::new() };
        let part = body.create(state);
        body.insert_before(op, part);
        parts.insert(index.clone(), part);
        made.push(part);
    }
    for (user, own) in &uses {
        let Some(model) = ctx.op_info(body.op_name(*user)).interface::<dyn SplittableUse>() else { continue };
        let part = match own {
            PartUse::Part(index) => parts.get(index).map(|part| body.result(*part, 0)),
            PartUse::Marker => Some(body.result(op, 0)),
        };
        if let Some(part) = part {
            model.redirect(body, *user, part);
        }
    }
    body.erase(op);
    made.retain(|part| is_splittable(body, *part));
    made
}
