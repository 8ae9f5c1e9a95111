// A type that contains itself by reference.
irdl.dialect @cyc {
  irdl.type @list {
    %0 = irdl.is i32
    %1 = irdl.base @cyc::@list
    %2 = irdl.any_of(%0, %1)
    irdl.parameters(rest: %2)
  }
  irdl.type @deep {
    %0 = irdl.any
    %1 = irdl.parametric @cyc::@deep<%0>
    %2 = irdl.is i32
    %3 = irdl.any_of(%1, %2)
    irdl.parameters(rest: %3)
  }
}
// -----
func.func private @right(!cyc.list<!cyc.list<!cyc.list<i32>>>, !cyc.deep<!cyc.deep<i32>>)
// -----
func.func private @wrong(!cyc.list<!cyc.list<i64>>)
// -----
func.func private @outer(!cyc.list<i64>)
// -----
func.func private @deep(!cyc.deep<i8>)
