//! The memrefs of a random program: a few buffers, and aliases of them.

use super::Generator;
use crate::program::{Element, MemRef, MemRefId, Source, row_major};

impl Generator<'_> {
    pub(super) fn memrefs(&mut self) {
        let line = vec![2 * self.extent + 2];
        let plane = vec![self.extent + 2, self.extent + 2];
        let two = self.random.chance(45);
        let noalias = self.random.chance(35);
        for i in 0..self.random.range(2, 5) {
            let shape = if two && self.random.chance(60) { plane.clone() } else { line.clone() };
            let source = match self.random.weighted(&[55, 27, 18]) {
                0 => Source::Argument { noalias: noalias || self.random.chance(15) },
                1 => Source::Allocation,
                _ => Source::Global(i as usize),
            };
            self.base(source, shape);
        }
        for _ in 0..self.random.weighted(&[50, 30, 20]) {
            self.view();
        }
        // A favourite makes dependences likely.
        if self.random.chance(40) {
            let favourite = *self.random.pick(&self.pool.clone());
            self.pool.push(favourite);
        }
    }

    pub(super) fn base(&mut self, source: Source, shape: Vec<i64>) -> MemRefId {
        self.add(MemRef { source, strides: row_major(&shape), shape, offset: 0, dynamic: false })
    }

    fn add(&mut self, memref: MemRef) -> MemRefId {
        self.program.memrefs.push(memref);
        let id = self.program.memrefs.len() - 1;
        self.pool.push(id);
        id
    }

    fn view(&mut self) {
        let of = self.random.below(self.program.memrefs.len());
        let source = self.program.memrefs[of].clone();
        if source.dynamic {
            return;
        }
        let view = match self.random.weighted(&[27, 22, 21, 15, 8, 7]) {
            0 if source.is_identity() => MemRef { source: Source::Cast(of), dynamic: true, ..source },
            1 => self.subview(of, &source),
            2 => self.reinterpretation(of, &source),
            3 => match self.program.memrefs.iter().find_map(|m| match m.source {
                Source::Global(_) => Some(m.clone()),
                _ => None,
            }) {
                Some(global) => global,
                None => return,
            },
            4 => {
                let same: Vec<MemRefId> = (0..self.program.memrefs.len())
                    .filter(|m| {
                        let other = &self.program.memrefs[*m];
                        other.type_text(Element::I32) == source.type_text(Element::I32) && *m != of
                    })
                    .collect();
                if same.is_empty() {
                    return;
                }
                let other = *self.random.pick(&same);
                MemRef { source: Source::Select(of, other), ..source }
            }
            5 => MemRef { source: Source::Returned(of), ..source },
            _ => return,
        };
        self.add(view);
    }

    fn subview(&mut self, of: MemRefId, source: &MemRef) -> MemRef {
        let dropped = source.shape.len() == 2 && self.random.chance(40);
        let (mut offsets, mut steps, mut shape, mut strides) = (vec![], vec![], vec![], vec![]);
        let mut offset = source.offset;
        for (d, (size, stride)) in source.shape.iter().zip(&source.strides).enumerate() {
            let first = self.random.range(0, (size / 2).min(3));
            let step = if size - first >= 8 && self.random.chance(25) { 2 } else { 1 };
            offsets.push(first);
            offset += first * stride;
            if dropped && d == 0 {
                steps.push(1);
                continue;
            }
            steps.push(step);
            shape.push((size - first + step - 1) / step);
            strides.push(stride * step);
        }
        MemRef {
            source: Source::SubView { of, offsets, steps, dropped },
            shape,
            strides,
            offset,
            dynamic: false,
        }
    }

    fn reinterpretation(&mut self, of: MemRefId, source: &MemRef) -> MemRef {
        let elements: i64 = source.shape.iter().product::<i64>().max(1);
        // The least size of the object: reinterpret_cast counts from its start.
        let held = if source.is_identity() { elements } else { elements.min(source.shape[0]) };
        let (offset, shape, strides) = match self.random.weighted(&[30, 25, 45]) {
            0 => (0, vec![held], vec![1]),
            1 => {
                let offset = self.random.range(0, 2).min(held - 1);
                (offset, vec![held - offset], vec![1])
            }
            // Rows that overlap.
            _ if held >= 6 => {
                let size = held / 2;
                (0, vec![held - size, size], vec![1, 1])
            }
            _ => (0, vec![held], vec![1]),
        };
        MemRef { source: Source::Reinterpret(of), shape, strides, offset, dynamic: false }
    }
}
