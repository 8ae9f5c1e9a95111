irdl.dialect @cmath {
  irdl.type @complex {
    %f32 = irdl.is f32
    %f64 = irdl.is f64
    %any = irdl.any_of(%f32, %f64)
    irdl.parameters(elem: %any)
  }
  irdl.operation @mul {
    %x = irdl.any
    %r = irdl.region(%x) with size 1
    %t = irdl.parametric @cmath::@complex<%x>
    %a = irdl.is "text"
    irdl.operands(lhs: variadic %t, rhs: optional %t)
    irdl.results(res: %t)
    irdl.attributes {"mode" = %a}
    irdl.regions(body: %r)
  }
}
