//! The `loomir` dialect: operations of schedules that MLIR's `transform` dialect lacks.
//!
//! They stand in a `transform.named_sequence` and have its handles and parameters as operands. A
//! loop that an operation replaces is consumed; the results are the new loops, from the outside
//! inwards or in the order in which they run. Handles to loops inside stay valid as long as there
//! is one copy of them.
//!
//! Iterations are counted from zero, whatever the first value of the induction variable is.

use loomir_ir::text::AsmNames;
use loomir_ir::{Registry, Type, dialect};

use crate::names::AsDefined;
use crate::transform::YieldOp;
use crate::transform::consumed::{Consumes, First};
use crate::transform::types::{HANDLE, HANDLE_OR_PARAM, PARAM, PARAM_OR_VALUE, VALUE};

mod directives;
mod verify;

dialect! {
    /// Transformations of loops for schedules of the `transform` dialect.
    pub LOOMIR = "loomir" {
        directives [directives::NUMBER, directives::NUMBERS]
    }

    /// Yields an argument of a function, such as the size of tiles.
    ArgumentOp = "argument" {
        operands { target: One HANDLE }
        results { value: One VALUE }
        attrs { number: Required Integer(64) }
        format "$number `of` $target attr-dict `:` functional-type(operands, results)"
    }

    /// Distributes a loop over two. The second one runs the body from an operation on.
    DistributeOp = "distribute" {
        operands { target: One HANDLE, before: One HANDLE }
        results { first: One HANDLE, second: One HANDLE }
        format "$target `before` $before attr-dict `:` functional-type(operands, results)"
        interfaces { dyn AsmNames = AsDefined, dyn Consumes = First(1) }
    }

    /// Yields the loops that have a name, or stand in a line of the text. The name is the attribute
    /// `loomir.name`.
    FindOp = "find" {
        operands { root: One HANDLE }
        results { loops: One HANDLE }
        attrs { name: Optional String, line: Optional Integer(64) }
        format "(`name` $name^)? (`line` $line^)? `in` $root attr-dict `:` functional-type(operands, results)"
        verify verify::find;
    }

    /// Fuses two loops. The second one runs `shift` iterations later than the first. Iterations of
    /// only one of them run in loops before and behind.
    FuseOp = "fuse" {
        operands { first: One HANDLE, second: One HANDLE, dynamic: Optional PARAM }
        results { fused: One HANDLE }
        attrs { shift: Optional Integer(64) }
        format "$first `with` $second (`shift` custom<Number>($dynamic, $shift)^)? attr-dict `:` functional-type(operands, results)"
        verify verify::fuse;
        interfaces { dyn Consumes = First(2) }
    }

    /// Runs a perfect nest of two loops along Hilbert's curve: in squares of two to the power of
    /// `levels` rows, and the iterations of a square one beside the other. The result is the
    /// outermost loop.
    HilbertOp = "hilbert" {
        operands { target: One HANDLE }
        results { squares: One HANDLE }
        attrs { levels: Default = "3 : i64" Integer(64) }
        format "$target attr-dict `:` functional-type(operands, results)"
        verify verify::hilbert;
        interfaces { dyn Consumes = First(1) }
    }

    /// Writes nests inside of operations that fill or copy whole memrefs as one operation.
    IdiomsOp = "idioms" {
        operands { target: One HANDLE }
        format "$target attr-dict `:` type($target)"
    }

    /// Permutes the loops of a perfect nest. The list has the former number of each loop, from the
    /// outside.
    InterchangeOp = "interchange" {
        operands { target: One HANDLE }
        results { loops: Variadic HANDLE }
        attrs { permutation: Required DenseArray(Type::I64) }
        format "$target `permutation` $permutation attr-dict `:` functional-type(operands, results)"
        verify verify::interchange;
        interfaces { dyn Consumes = First(1) }
    }

    /// Runs a perfect nest of `depth` loops in Morton order: in tiles of two to the power of
    /// `levels`, which are halved again and again. The result is the outermost loop.
    MortonOp = "morton" {
        operands { target: One HANDLE }
        results { tiles: One HANDLE }
        attrs { depth: Default = "2 : i64" Integer(64), levels: Default = "3 : i64" Integer(64) }
        format "$target attr-dict `:` functional-type(operands, results)"
        verify verify::morton;
        interfaces { dyn Consumes = First(1) }
    }

    /// Moves a loop in front of an operation of the same body.
    MoveBeforeOp = "move_before",
    /// Moves a loop behind an operation of the same body.
    MoveAfterOp = "move_after" {
        operands { target: One HANDLE, other: One HANDLE }
        format "$target `,` $other attr-dict `:` type($target) `,` type($other)"
    }

    /// Copies what loops read again and again to local arrays before them. `max_bytes` is the most
    /// bytes of one array. Loops inside of the operation are meant, or the loop itself.
    PackOp = "pack" {
        operands { target: One HANDLE }
        attrs { max_bytes: Optional Integer(64) }
        format "$target attr-dict `:` type($target)"
    }

    /// Runs the iterations of a loop in any order, or at the same time.
    ParallelizeOp = "parallelize" {
        operands { target: One HANDLE }
        results { parallel: One HANDLE }
        format "$target attr-dict `:` functional-type(operands, results)"
        interfaces { dyn Consumes = First(1) }
    }

    /// Moves first and last iterations of a loop out of it.
    PeelOp = "peel" {
        operands { target: One HANDLE }
        results { remaining: One HANDLE }
        attrs { first: Default = "0 : i64" Integer(64), last: Default = "0 : i64" Integer(64) }
        format "$target attr-dict `:` functional-type(operands, results)"
        verify verify::peel;
        interfaces { dyn Consumes = First(1) }
    }

    /// Lets innermost loops ask ahead, by `distance` iterations, for memory that they read in
    /// strides of at least `min_stride` bytes. Loops inside of the operation are meant, or the loop
    /// itself.
    PrefetchOp = "prefetch" {
        operands { target: One HANDLE }
        attrs { distance: Default = "8 : i64" Integer(64), min_stride: Default = "64 : i64" Integer(64) }
        format "$target attr-dict `:` type($target)"
        verify verify::prefetch;
    }

    /// Runs a loop from its last iteration to its first.
    ReverseOp = "reverse" {
        operands { target: One HANDLE }
        results { reversed: One HANDLE }
        format "$target attr-dict `:` functional-type(operands, results)"
        interfaces { dyn Consumes = First(1) }
    }

    /// Runs the body of a loop from an operation on `by` iterations later than what stands before.
    ShiftOp = "shift" {
        operands { target: One HANDLE, from: One HANDLE, dynamic: Optional PARAM }
        results { shifted: One HANDLE }
        attrs { by: Optional Integer(64) }
        format "$target `from` $from `by` custom<Number>($dynamic, $by) attr-dict `:` functional-type(operands, results)"
        verify verify::shift;
        interfaces { dyn Consumes = First(1) }
    }

    /// Skews the only loop inside of a loop: iteration `i` of the outer loop runs the inner one
    /// `by · i` iterations later. The order stays the same until the loops are interchanged.
    SkewOp = "skew" {
        operands { target: One HANDLE, dynamic: Optional PARAM }
        results { outer: One HANDLE, inner: One HANDLE }
        attrs { by: Optional Integer(64) }
        format "$target `by` custom<Number>($dynamic, $by) attr-dict `:` functional-type(operands, results)"
        verify verify::skew;
        interfaces { dyn AsmNames = AsDefined, dyn Consumes = First(1) }
    }

    /// Splits the range of a loop. The first loop runs the iterations below `at`.
    SplitOp = "split" {
        operands { target: One HANDLE, dynamic: Optional PARAM }
        results { first: One HANDLE, second: One HANDLE }
        attrs { at: Optional Integer(64) }
        format "$target `at` custom<Number>($dynamic, $at) attr-dict `:` functional-type(operands, results)"
        verify verify::split;
        interfaces { dyn AsmNames = AsDefined, dyn Consumes = First(1) }
    }

    /// Splits a loop into a loop over blocks of iterations and a loop over one block.
    StripMineOp = "strip_mine" {
        operands { target: One HANDLE, dynamic: Optional PARAM }
        results { blocks: One HANDLE, points: One HANDLE }
        attrs { size: Optional Integer(64) }
        format "$target `size` custom<Number>($dynamic, $size) attr-dict `:` functional-type(operands, results)"
        verify verify::strip_mine;
        interfaces { dyn AsmNames = AsDefined, dyn Consumes = First(1) }
    }

    /// Separates full tiles from partial ones in a perfect nest whose `depth` outermost loops are
    /// over tiles. The results are the loops of the full tiles: those over tiles, and as many of
    /// those inside as are wanted, at least one. With `all`, tiles inside of partial ones are
    /// separated too.
    SeparateOp = "separate" {
        operands { target: One HANDLE }
        results { loops: Variadic HANDLE }
        attrs { depth: Required Integer(64), all: Optional Unit }
        format "$target `depth` $depth attr-dict `:` functional-type(operands, results)"
        verify verify::separate;
        interfaces { dyn Consumes = First(1) }
    }

    /// Tiles a perfect nest of as many loops as there are sizes. The results are the loops over
    /// tiles, then those inside a tile. A size of zero leaves a loop untiled, inside. With
    /// `separate`, full tiles and partial ones run in loops of their own, and the results are the
    /// loops of the full tiles. A size may be a value of the program, computed before the nest.
    TileOp = "tile" {
        operands { target: One HANDLE, dynamic: Variadic PARAM_OR_VALUE }
        results { loops: Variadic HANDLE }
        attrs { sizes: Required DenseArray(Type::I64), separate: Optional Unit }
        format "$target `sizes` custom<Numbers>($dynamic, $sizes) attr-dict `:` functional-type(operands, results)"
        verify verify::tile;
        interfaces { dyn Consumes = First(1) }
    }

    /// Runs its body, and judges its steps once, at the end. Trees on the way may be illegal. If
    /// the last one is, none of the steps is made.
    TogetherOp = "together" {
        results { results: Variadic HANDLE_OR_PARAM }
        regions { body: SingleBlock = YieldOp }
        format "(`:` type($results)^)? $body attr-dict"
        verify verify::together;
    }

    /// Decides up to `conditions` conditions before a loop that do not depend on it. The loop is
    /// copied for each outcome.
    UnswitchOp = "unswitch" {
        operands { target: One HANDLE }
        attrs { conditions: Default = "1 : i64" Integer(64) }
        format "$target attr-dict `:` type($target)"
        verify verify::unswitch;
        interfaces { dyn Consumes = First(1) }
    }
}

/// The attribute that names a loop.
pub const NAME: &str = "loomir.name";

/// Registers the dialect.
pub fn register(registry: &mut Registry) {
    registry.dialect(&LOOMIR);
}
