irdl.dialect @a {
  irdl.type @"x y"
}
// -----
irdl.dialect @a {
  irdl.type @Upper
}
// -----
irdl.dialect @a {
  irdl.operation @x__y
}
// -----
irdl.dialect @"a b" {}
// -----
irdl.dialect @a {
  irdl.operation @x {
    irdl.operands()
    irdl.operands()
  }
}
// -----
irdl.dialect @a {
  irdl.type @x {
    %0 = irdl.any
    irdl.parameters(foo: %0, bar: %0, foo: %0)
  }
}
// -----
irdl.dialect @a {
  irdl.operation @x {
    %0 = irdl.any
    irdl.operands(foo: %0)
    irdl.results(foo: %0)
  }
}
// -----
irdl.dialect @a {
  irdl.operation @x {
    %0 = irdl.any
    irdl.operands(%0)
  }
}
// -----
irdl.dialect @a {
  irdl.operation @x {
    %0 = irdl.base @y
  }
}
// -----
irdl.dialect @a {
  irdl.operation @x {
    %0 = irdl.base @a::@x
  }
}
// -----
irdl.dialect @a {
  irdl.operation @x {
    %0 = irdl.base @b::@y
  }
}
// -----
irdl.dialect @a {
  irdl.operation @x {
    %0 = irdl.base "builtin.integer"
  }
}
// -----
irdl.dialect @a {
  irdl.operation @x {
    %0 = irdl.base "!foo.bar"
  }
}
// -----
irdl.dialect @a {
  irdl.operation @x {
    %0 = irdl.base
  }
}
// -----
irdl.dialect @a {
  irdl.operation @x {
    %0 = irdl.any_of()
  }
}
// -----
irdl.dialect @a {
  irdl.operation @x {
    %0 = irdl.region with size 0
  }
}
// -----
irdl.dialect @a {
  %0 = irdl.any
}
// -----
irdl.operation @x
// -----
irdl.dialect @a {
  irdl.type @x {
    irdl.operands()
  }
}
// -----
irdl.dialect @a {
  irdl.type @x {
    irdl.parameters(y: %0)
    %0 = irdl.any
  }
}
// -----
irdl.dialect @a {
  irdl.operation @x {
    %0 = irdl.any
    "irdl.operands"(%0) <{names = ["a", "b"], variadicity = #irdl<variadicity_array[single]>}> : (!irdl.attribute) -> ()
  }
}
// -----
irdl.dialect @a {
  irdl.operation @x {
    %0 = irdl.any
    "irdl.operands"(%0) <{names = ["a"], variadicity = #irdl<variadicity_array[single, single]>}> : (!irdl.attribute) -> ()
  }
}
// -----
irdl.dialect @a {
  irdl.operation @x {
    // DIFFERS: mlir-opt does not check the predicate.
    %0 = irdl.c_pred "::llvm::isa<::mlir::IntegerAttr>($_self)"
    irdl.attributes {"y" = %0}
  }
}
// -----
irdl.dialect @func {
  irdl.operation @x
}
// -----
irdl.dialect @a {
  irdl.operation @x
}
irdl.dialect @a {
  irdl.operation @y
}
// -----
irdl.dialect @a {
  irdl.operation @x
  irdl.operation @x
}
// -----
irdl.dialect @a {
  irdl.operation @x {
    %0 = irdl.any
// -----
irdl.dialect @a {
  irdl.type @two {
    %0 = irdl.any
    irdl.parameters(x: %0)
  }
  irdl.operation @x {
    %0 = irdl.is i32
    %1 = irdl.parametric @a::@two<%0>
    %4 = irdl.any
    %2 = irdl.parametric @a::@two<%4>
    %3 = irdl.any_of(%1, %2)
    irdl.operands(x: %3)
  }
}
// -----
irdl.dialect @a {
  irdl.operation @x {
    %0 = irdl.is i32
    %1 = irdl.any
    %2 = irdl.any_of(%0, %1)
    irdl.operands(x: %2)
  }
}
// -----
// A name that is not declared.
irdl.dialect @undeclared {
  irdl.operation @op {
    %0 = irdl.any
    irdl.operands(in: %1)
  }
}
