//! `contract` as a list of products: the interpreter and the lowering read it from here.

use loomir_ir::OpRef;

use super::rearrange::{fixed_sizes, for_each_place};
use super::shape::{VectorShape, strides};
use super::verify::product::{indexing_maps, is_uniform, iteration_space, named_dims, reduced_dims};

/// A contraction of vectors of fixed length and one element type.
#[derive(Clone, Debug)]
pub struct Contraction {
    /// The dimensions of the iteration space that each operand names.
    dims: Vec<Vec<usize>>,
    space: Vec<usize>,
    reduced: Vec<bool>,
}

/// The maximal number of products.
const MAX_PRODUCTS: usize = 1 << 22;

impl Contraction {
    /// Returns the contraction. `None` for scalable vectors, elements of several types, or too many
    /// products.
    pub fn of(op: OpRef<'_>) -> Option<Contraction> {
        let ctx = op.ctx();
        if !is_uniform(op) {
            return None;
        }
        let dims: Option<Vec<Vec<usize>>> =
            indexing_maps(op).into_iter().map(|map| named_dims(ctx, map)).collect();
        let dims = dims.filter(|dims| dims.len() == 3)?;
        for (i, own) in dims.iter().enumerate() {
            if fixed_sizes(ctx, op.operand_type(i))?.len() != own.len() {
                return None;
            }
        }
        let space = iteration_space(op, &dims)?;
        let space: Vec<usize> =
            space.iter().map(|(size, _)| usize::try_from(*size).ok()).collect::<Option<_>>()?;
        let products = space.iter().try_fold(1usize, |all, size| all.checked_mul(*size))?;
        let reduced = reduced_dims(op);
        let fits = products <= MAX_PRODUCTS && reduced.len() == space.len();
        let is_vector = VectorShape::of(ctx, op.result_type(0)).is_some() || dims[2].is_empty();
        (fits && is_vector).then_some(Contraction { dims, space, reduced })
    }

    /// True if a dimension is the last one of an operand.
    pub fn runs_along(&self, operand: usize, dimension: usize) -> bool {
        self.dims[operand].last() == Some(&dimension)
    }

    /// Returns the last dimension of the result, if each factor runs along it or does not name it.
    pub fn row_dimension(&self) -> Option<usize> {
        let last = *self.dims[2].last()?;
        let fits = |i: usize| self.runs_along(i, last) || !self.dims[i].contains(&last);
        (fits(0) && fits(1)).then_some(last)
    }

    /// Returns for each product the numbers of the two factors and of the element that it is
    /// combined with. Reduced dimensions vary fastest. Dimension `rows` is left out. `None` if an
    /// iteration space has no size.
    pub fn iterations(&self, rows: Option<usize>) -> Option<Vec<[usize; 3]>> {
        let mut order: Vec<usize> = (0..self.space.len()).filter(|d| Some(*d) != rows).collect();
        order.sort_by_key(|d| self.reduced[*d]);
        let sizes: Vec<usize> = order.iter().map(|d| self.space[*d]).collect();
        let steps: Vec<Vec<usize>> = self.dims.iter().map(|dims| self.steps(dims, &order)).collect();
        let mut all = Vec::new();
        for_each_place(&sizes, |place| {
            let at = |i: usize| place.iter().zip(&steps[i]).map(|(at, step)| at * step).sum::<usize>();
            all.push([at(0), at(1), at(2)]);
        });
        if all.is_empty() { None } else { Some(all) }
    }

    /// Returns the distance of the elements of an operand along each dimension.
    fn steps(&self, dims: &[usize], order: &[usize]) -> Vec<usize> {
        let own = strides(&dims.iter().map(|d| self.space[*d]).collect::<Vec<_>>());
        let step = |d: &usize| dims.iter().position(|own| own == d).map_or(0, |place| own[place]);
        order.iter().map(step).collect()
    }
}
