//! Functions that are written alike: the same operations on the same operands.
//!
//! Nothing has to be known of what the operations do, so this covers calls, volatile accesses and
//! operations of any dialect. It is one walk over both functions.

use loomir_ir::{Block, Body, Op, OpRef, Region, Value};

/// Corresponding values and blocks of two bodies.
struct Pairing {
    values: Vec<Option<Value>>,
    blocks: Vec<Option<Block>>,
}

/// True if two functions consist of the same operations, names of values and places aside.
pub(super) fn alike(functions: [OpRef<'_>; 2]) -> bool {
    let bodies = functions.map(|function| function.body());
    let mut pairing = Pairing {
        values: vec![None; bodies[0].num_value_slots()],
        blocks: vec![None; bodies[0].num_block_slots()],
    };
    let [a, b] = functions;
    if a.name() != b.name() || a.properties() != b.properties() || a.attributes() != b.attributes() {
        return false;
    }
    // Regions still to be compared: an explicit stack, for nests may be deep. A value is defined
    // before an operation that uses it is met, except along branches backwards.
    let mut todo: Vec<[Region; 2]> = a.regions().zip(b.regions()).map(|(x, y)| [x, y]).collect();
    let mut operations: Vec<[Op; 2]> = Vec::new();
    if a.regions().len() != b.regions().len() {
        return false;
    }
    while let Some([x, y]) = todo.pop() {
        let blocks = [bodies[0].blocks(x).collect::<Vec<_>>(), bodies[1].blocks(y).collect()];
        if blocks[0].len() != blocks[1].len() {
            return false;
        }
        for (x, y) in blocks[0].iter().zip(&blocks[1]) {
            pairing.blocks[x.index()] = Some(*y);
            let arguments =
                [bodies[0].arguments(*x), bodies[1].arguments(*y)].map(|all| all.collect::<Vec<_>>());
            if !pairing.pair(bodies, &arguments[0], &arguments[1]) {
                return false;
            }
            let ops = [bodies[0].ops(*x).collect::<Vec<_>>(), bodies[1].ops(*y).collect()];
            if ops[0].len() != ops[1].len() {
                return false;
            }
            for (x, y) in ops[0].iter().zip(&ops[1]) {
                let (p, q) = (bodies[0].op_ref(*x), bodies[1].op_ref(*y));
                let has_own = bodies[0].nested(*x).is_some() || bodies[1].nested(*y).is_some();
                if has_own || p.regions().len() != q.regions().len() || !same_operation(p, q) {
                    return false;
                }
                let results = [p.results().collect::<Vec<_>>(), q.results().collect()];
                if !pairing.pair(bodies, &results[0], &results[1]) {
                    return false;
                }
                todo.extend(p.regions().zip(q.regions()).map(|(x, y)| [x, y]));
                operations.push([*x, *y]);
            }
        }
    }
    // All values and blocks are known now.
    operations.iter().all(|[x, y]| {
        let (p, q) = (bodies[0].op_ref(*x), bodies[1].op_ref(*y));
        p.operands().len() == q.operands().len()
            && p.operands().zip(q.operands()).all(|(x, y)| pairing.values[x.index()] == Some(y))
            && p.successors().len() == q.successors().len()
            && p.successors().zip(q.successors()).all(|(x, y)| pairing.blocks[x.index()] == Some(y))
    })
}

fn same_operation(a: OpRef<'_>, b: OpRef<'_>) -> bool {
    a.name() == b.name() && a.properties() == b.properties() && a.attributes() == b.attributes()
}

impl Pairing {
    /// Pairs values of one type; false if types or numbers differ.
    fn pair(&mut self, bodies: [&Body; 2], first: &[Value], second: &[Value]) -> bool {
        if first.len() != second.len() {
            return false;
        }
        first.iter().zip(second).all(|(x, y)| {
            self.values[x.index()] = Some(*y);
            bodies[0].value_type(*x) == bodies[1].value_type(*y)
        })
    }
}
