module {
  wasmssa.import_func "add" from "env" as @imported {type = (i32, i32) -> i32}
  wasmssa.global @g i32 mutable : {
    %c = wasmssa.const 17 : i32
    wasmssa.return %c : i32
  }
  wasmssa.func exported @f(%a: !wasmssa<local ref to i32>) -> i32 {
    %x = wasmssa.local_get %a : !wasmssa<local ref to i32>
    %y = wasmssa.const 3 : i32
    %s = wasmssa.add %x %y : i32
    wasmssa.return %s : i32
  }
  wasmssa.memory @m !wasmssa<limit[2:65536]>
}
