//! Types and attributes as immutable objects with their text.

use std::sync::Arc;

use loomir::ir::text::{attr_to_string, type_to_string};
use loomir::ir::{self, AttrKind, DYNAMIC, FloatKind, Signedness, TypeKind};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::context::Shared;

/// A type.
#[pyclass(frozen, module = "loomir._loomir")]
pub(crate) struct Type {
    shared: Arc<Shared>,
    pub(crate) ty: ir::Type,
}

impl Type {
    pub(crate) fn new(shared: Arc<Shared>, ty: ir::Type) -> Type {
        Type { shared, ty }
    }

    fn with(&self, ty: ir::Type) -> Type {
        Type { shared: self.shared.clone(), ty }
    }

    fn kind_of(&self) -> &TypeKind {
        self.ty.kind(&self.shared.ctx)
    }
}

/// Returns sizes, `None` for those that are not known.
fn sizes(shape: &[i64]) -> Vec<Option<i64>> {
    shape.iter().map(|size| (*size != DYNAMIC).then_some(*size)).collect()
}

#[pymethods]
impl Type {
    fn __str__(&self) -> String {
        type_to_string(&self.shared.ctx, self.ty)
    }

    fn __repr__(&self) -> String {
        format!("Type({:?})", self.__str__())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        equals(&self.__str__(), other, |own: &Type| own.__str__())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, &self.__str__()).hash()
    }

    /// The kind: `memref`, `integer`, `index`, a float's name, or a dialect type's name.
    #[getter]
    fn kind(&self) -> String {
        match self.kind_of() {
            TypeKind::None => "none".into(),
            TypeKind::Index => "index".into(),
            TypeKind::Integer { .. } => "integer".into(),
            TypeKind::Float(kind) => kind.name().into(),
            TypeKind::Complex(_) => "complex".into(),
            TypeKind::Function { .. } => "function".into(),
            TypeKind::Tuple(_) => "tuple".into(),
            TypeKind::Vector { .. } => "vector".into(),
            TypeKind::Tensor { .. } => "tensor".into(),
            TypeKind::MemRef { .. } => "memref".into(),
            TypeKind::Dialect { name, .. } => self.shared.ctx.str(*name).into(),
            TypeKind::Opaque { dialect, .. } => self.shared.ctx.str(*dialect).into(),
        }
    }

    /// The sizes of a shaped type, `None` for each that is not known. `None` without a rank.
    #[getter]
    fn shape(&self) -> Option<Vec<Option<i64>>> {
        self.ty.shape(&self.shared.ctx).map(sizes)
    }

    /// The type of an element of a shaped or complex type.
    #[getter]
    fn element(&self) -> Option<Type> {
        match self.kind_of() {
            TypeKind::Complex(part) => Some(self.with(*part)),
            _ => self.ty.element(&self.shared.ctx).map(|ty| self.with(ty)),
        }
    }

    /// The bits of an integer or float.
    #[getter]
    fn width(&self) -> Option<u32> {
        match self.kind_of() {
            TypeKind::Integer { width, .. } => Some(*width),
            TypeKind::Float(kind) => Some(kind.width()),
            _ => None,
        }
    }

    /// `signless`, `signed` or `unsigned`, for an integer.
    #[getter]
    fn signedness(&self) -> Option<&'static str> {
        match self.kind_of() {
            TypeKind::Integer { signedness: Signedness::Signless, .. } => Some("signless"),
            TypeKind::Integer { signedness: Signedness::Signed, .. } => Some("signed"),
            TypeKind::Integer { signedness: Signedness::Unsigned, .. } => Some("unsigned"),
            _ => None,
        }
    }

    /// The strides and the offset of a memref in elements, `None` for each that is not known.
    /// `None` if its layout is not strided.
    #[getter]
    fn layout(&self) -> Option<(Vec<Option<i64>>, Option<i64>)> {
        let (strides, offset) = self.ty.strides_and_offset(&self.shared.ctx)?;
        Some((sizes(&strides), (offset != DYNAMIC).then_some(offset)))
    }

    /// True for a memref with the default layout: without gaps, the last dimension fastest.
    #[getter]
    fn is_contiguous(&self) -> bool {
        matches!(self.kind_of(), TypeKind::MemRef { layout: None, .. })
    }

    /// The memory space of a memref.
    #[getter]
    fn memory_space(&self) -> Option<Attribute> {
        match self.kind_of() {
            TypeKind::MemRef { memory_space: Some(space), .. } => {
                Some(Attribute::new(self.shared.clone(), *space))
            }
            _ => None,
        }
    }

    /// The inputs and the results of a function type.
    #[getter]
    fn function(&self) -> Option<(Vec<Type>, Vec<Type>)> {
        let (inputs, results) = self.ty.function(&self.shared.ctx)?;
        let all = |types: &[ir::Type]| types.iter().map(|ty| self.with(*ty)).collect();
        Some((all(inputs), all(results)))
    }
}

/// An attribute.
#[pyclass(frozen, module = "loomir._loomir")]
pub(crate) struct Attribute {
    shared: Arc<Shared>,
    attr: ir::Attr,
}

impl Attribute {
    pub(crate) fn new(shared: Arc<Shared>, attr: ir::Attr) -> Attribute {
        Attribute { shared, attr }
    }
}

#[pymethods]
impl Attribute {
    fn __str__(&self) -> String {
        attr_to_string(&self.shared.ctx, self.attr)
    }

    fn __repr__(&self) -> String {
        format!("Attribute({:?})", self.__str__())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        equals(&self.__str__(), other, |own: &Attribute| own.__str__())
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, &self.__str__()).hash()
    }

    /// The type, if the attribute has one.
    #[getter]
    fn r#type(&self) -> Option<Type> {
        self.attr.ty(&self.shared.ctx).map(|ty| Type::new(self.shared.clone(), ty))
    }

    /// The value as `bool`, `int`, `float`, `str`, `list` or `Type`. `None` for other attributes.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let ctx = &self.shared.ctx;
        Ok(match self.attr.kind(ctx) {
            AttrKind::Unit => true.into_pyobject(py)?.to_owned().into_any(),
            AttrKind::Integer { value, ty } if ty.integer_width(ctx) == Some(1) => {
                (*value != 0).into_pyobject(py)?.to_owned().into_any()
            }
            AttrKind::Integer { value, .. } => value.into_pyobject(py)?.into_any(),
            AttrKind::Float { bits, ty } => match ty.kind(ctx) {
                TypeKind::Float(FloatKind::F64) => f64::from_bits(*bits as u64).into_pyobject(py)?.into_any(),
                TypeKind::Float(FloatKind::F32) => {
                    f64::from(f32::from_bits(*bits as u32)).into_pyobject(py)?.into_any()
                }
                _ => py.None().into_bound(py),
            },
            AttrKind::String(bytes) => String::from_utf8_lossy(bytes).into_pyobject(py)?.into_any(),
            AttrKind::Type(ty) => Bound::new(py, Type::new(self.shared.clone(), *ty))?.into_any(),
            AttrKind::Symbol { root, nested } if nested.is_empty() => {
                ctx.str(*root).into_pyobject(py)?.into_any()
            }
            AttrKind::Array(all) => {
                let list = PyList::empty(py);
                for own in all {
                    list.append(Attribute::new(self.shared.clone(), *own))?;
                }
                list.into_any()
            }
            _ => match self.attr.as_dense_ints(ctx) {
                Some(numbers) => numbers.into_pyobject(py)?.into_any(),
                None => py.None().into_bound(py),
            },
        })
    }
}

/// True if an object is of the same class and has the same text, or is the text.
fn equals<T: pyo3::PyClass<Frozen = pyo3::pyclass::boolean_struct::True> + Sync>(
    own: &str,
    other: &Bound<'_, PyAny>,
    text: impl Fn(&T) -> String,
) -> bool {
    match other.cast::<T>() {
        Ok(other) => text(other.get()) == own,
        Err(_) => other.extract::<String>().is_ok_and(|other| other == own),
    }
}
