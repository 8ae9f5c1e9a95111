func.func @wide(%a: i128) -> i128 {
  %0 = sat.add %a, %a : i128
  return %0 : i128
}
