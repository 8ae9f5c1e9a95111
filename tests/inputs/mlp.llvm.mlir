module {
  llvm.func @mlp_layer(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64, %arg3: i64, %arg4: i64, %arg5: i64, %arg6: i64, %arg7: !llvm.ptr, %arg8: !llvm.ptr, %arg9: i64, %arg10: i64, %arg11: i64, %arg12: i64, %arg13: i64, %arg14: !llvm.ptr, %arg15: !llvm.ptr, %arg16: i64, %arg17: i64, %arg18: i64, %arg19: !llvm.ptr, %arg20: !llvm.ptr, %arg21: i64, %arg22: i64, %arg23: i64, %arg24: i64, %arg25: i64, %arg26: !llvm.ptr, %arg27: !llvm.ptr, %arg28: i64, %arg29: i64, %arg30: i64) {
    %0 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %1 = llvm.insertvalue %arg26, %0[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %2 = llvm.insertvalue %arg27, %1[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %3 = llvm.insertvalue %arg28, %2[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %4 = llvm.insertvalue %arg29, %3[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %5 = llvm.insertvalue %arg30, %4[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %6 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %7 = llvm.insertvalue %arg19, %6[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %8 = llvm.insertvalue %arg20, %7[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %9 = llvm.insertvalue %arg21, %8[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %10 = llvm.insertvalue %arg22, %9[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %11 = llvm.insertvalue %arg24, %10[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %12 = llvm.insertvalue %arg23, %11[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %13 = llvm.insertvalue %arg25, %12[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %14 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
    %15 = llvm.insertvalue %arg14, %14[0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %16 = llvm.insertvalue %arg15, %15[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %17 = llvm.insertvalue %arg16, %16[2] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %18 = llvm.insertvalue %arg17, %17[3, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %19 = llvm.insertvalue %arg18, %18[4, 0] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %20 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %21 = llvm.insertvalue %arg7, %20[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %22 = llvm.insertvalue %arg8, %21[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %23 = llvm.insertvalue %arg9, %22[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %24 = llvm.insertvalue %arg10, %23[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %25 = llvm.insertvalue %arg12, %24[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %26 = llvm.insertvalue %arg11, %25[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %27 = llvm.insertvalue %arg13, %26[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %28 = llvm.mlir.poison : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
    %29 = llvm.insertvalue %arg0, %28[0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %30 = llvm.insertvalue %arg1, %29[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %31 = llvm.insertvalue %arg2, %30[2] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %32 = llvm.insertvalue %arg3, %31[3, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %33 = llvm.insertvalue %arg5, %32[4, 0] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %34 = llvm.insertvalue %arg4, %33[3, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %35 = llvm.insertvalue %arg6, %34[4, 1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %36 = llvm.mlir.constant(128 : index) : i64
    %37 = llvm.mlir.constant(0.000000e+00 : f32) : f32
    %38 = llvm.mlir.constant(0 : index) : i64
    %39 = llvm.mlir.constant(64 : index) : i64
    %40 = llvm.mlir.constant(1 : index) : i64
    %41 = llvm.mlir.constant(256 : index) : i64
    llvm.br ^bb1(%38 : i64)
  ^bb1(%42: i64):  // 2 preds: ^bb0, ^bb5
    %43 = llvm.icmp "slt" %42, %39 : i64
    llvm.cond_br %43, ^bb2, ^bb6
  ^bb2:  // pred: ^bb1
    llvm.br ^bb3(%38 : i64)
  ^bb3(%44: i64):  // 2 preds: ^bb2, ^bb4
    %45 = llvm.icmp "slt" %44, %41 : i64
    llvm.cond_br %45, ^bb4, ^bb5
  ^bb4:  // pred: ^bb3
    %46 = llvm.extractvalue %13[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %47 = llvm.mlir.constant(256 : index) : i64
    %48 = llvm.mul %42, %47 overflow<nsw, nuw> : i64
    %49 = llvm.add %48, %44 overflow<nsw, nuw> : i64
    %50 = llvm.getelementptr inbounds|nuw %46[%49] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %37, %50 : f32, !llvm.ptr
    %51 = llvm.add %44, %40 : i64
    llvm.br ^bb3(%51 : i64)
  ^bb5:  // pred: ^bb3
    %52 = llvm.add %42, %40 : i64
    llvm.br ^bb1(%52 : i64)
  ^bb6:  // pred: ^bb1
    llvm.br ^bb7(%38 : i64)
  ^bb7(%53: i64):  // 2 preds: ^bb6, ^bb14
    %54 = llvm.icmp "slt" %53, %39 : i64
    llvm.cond_br %54, ^bb8, ^bb15
  ^bb8:  // pred: ^bb7
    llvm.br ^bb9(%38 : i64)
  ^bb9(%55: i64):  // 2 preds: ^bb8, ^bb13
    %56 = llvm.icmp "slt" %55, %41 : i64
    llvm.cond_br %56, ^bb10, ^bb14
  ^bb10:  // pred: ^bb9
    llvm.br ^bb11(%38 : i64)
  ^bb11(%57: i64):  // 2 preds: ^bb10, ^bb12
    %58 = llvm.icmp "slt" %57, %36 : i64
    llvm.cond_br %58, ^bb12, ^bb13
  ^bb12:  // pred: ^bb11
    %59 = llvm.extractvalue %35[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %60 = llvm.mlir.constant(128 : index) : i64
    %61 = llvm.mul %53, %60 overflow<nsw, nuw> : i64
    %62 = llvm.add %61, %57 overflow<nsw, nuw> : i64
    %63 = llvm.getelementptr inbounds|nuw %59[%62] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %64 = llvm.load %63 : !llvm.ptr -> f32
    %65 = llvm.extractvalue %27[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %66 = llvm.mlir.constant(256 : index) : i64
    %67 = llvm.mul %57, %66 overflow<nsw, nuw> : i64
    %68 = llvm.add %67, %55 overflow<nsw, nuw> : i64
    %69 = llvm.getelementptr inbounds|nuw %65[%68] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %70 = llvm.load %69 : !llvm.ptr -> f32
    %71 = llvm.extractvalue %13[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %72 = llvm.mlir.constant(256 : index) : i64
    %73 = llvm.mul %53, %72 overflow<nsw, nuw> : i64
    %74 = llvm.add %73, %55 overflow<nsw, nuw> : i64
    %75 = llvm.getelementptr inbounds|nuw %71[%74] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %76 = llvm.load %75 : !llvm.ptr -> f32
    %77 = llvm.fmul %64, %70 : f32
    %78 = llvm.fadd %76, %77 : f32
    %79 = llvm.extractvalue %13[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %80 = llvm.mlir.constant(256 : index) : i64
    %81 = llvm.mul %53, %80 overflow<nsw, nuw> : i64
    %82 = llvm.add %81, %55 overflow<nsw, nuw> : i64
    %83 = llvm.getelementptr inbounds|nuw %79[%82] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %78, %83 : f32, !llvm.ptr
    %84 = llvm.add %57, %40 : i64
    llvm.br ^bb11(%84 : i64)
  ^bb13:  // pred: ^bb11
    %85 = llvm.add %55, %40 : i64
    llvm.br ^bb9(%85 : i64)
  ^bb14:  // pred: ^bb9
    %86 = llvm.add %53, %40 : i64
    llvm.br ^bb7(%86 : i64)
  ^bb15:  // pred: ^bb7
    llvm.br ^bb16(%38 : i64)
  ^bb16(%87: i64):  // 2 preds: ^bb15, ^bb20
    %88 = llvm.icmp "slt" %87, %39 : i64
    llvm.cond_br %88, ^bb17, ^bb21
  ^bb17:  // pred: ^bb16
    llvm.br ^bb18(%38 : i64)
  ^bb18(%89: i64):  // 2 preds: ^bb17, ^bb19
    %90 = llvm.icmp "slt" %89, %41 : i64
    llvm.cond_br %90, ^bb19, ^bb20
  ^bb19:  // pred: ^bb18
    %91 = llvm.extractvalue %19[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %92 = llvm.getelementptr inbounds|nuw %91[%89] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %93 = llvm.load %92 : !llvm.ptr -> f32
    %94 = llvm.extractvalue %13[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %95 = llvm.mlir.constant(256 : index) : i64
    %96 = llvm.mul %87, %95 overflow<nsw, nuw> : i64
    %97 = llvm.add %96, %89 overflow<nsw, nuw> : i64
    %98 = llvm.getelementptr inbounds|nuw %94[%97] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %99 = llvm.load %98 : !llvm.ptr -> f32
    %100 = llvm.fadd %93, %99 : f32
    %101 = llvm.extractvalue %13[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %102 = llvm.mlir.constant(256 : index) : i64
    %103 = llvm.mul %87, %102 overflow<nsw, nuw> : i64
    %104 = llvm.add %103, %89 overflow<nsw, nuw> : i64
    %105 = llvm.getelementptr inbounds|nuw %101[%104] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %100, %105 : f32, !llvm.ptr
    %106 = llvm.add %89, %40 : i64
    llvm.br ^bb18(%106 : i64)
  ^bb20:  // pred: ^bb18
    %107 = llvm.add %87, %40 : i64
    llvm.br ^bb16(%107 : i64)
  ^bb21:  // pred: ^bb16
    llvm.br ^bb22(%38 : i64)
  ^bb22(%108: i64):  // 2 preds: ^bb21, ^bb26
    %109 = llvm.icmp "slt" %108, %39 : i64
    llvm.cond_br %109, ^bb23, ^bb27
  ^bb23:  // pred: ^bb22
    llvm.br ^bb24(%38 : i64)
  ^bb24(%110: i64):  // 2 preds: ^bb23, ^bb25
    %111 = llvm.icmp "slt" %110, %41 : i64
    llvm.cond_br %111, ^bb25, ^bb26
  ^bb25:  // pred: ^bb24
    %112 = llvm.extractvalue %13[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %113 = llvm.mlir.constant(256 : index) : i64
    %114 = llvm.mul %108, %113 overflow<nsw, nuw> : i64
    %115 = llvm.add %114, %110 overflow<nsw, nuw> : i64
    %116 = llvm.getelementptr inbounds|nuw %112[%115] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %117 = llvm.load %116 : !llvm.ptr -> f32
    %118 = llvm.intr.maximum(%117, %37) : (f32, f32) -> f32
    %119 = llvm.extractvalue %13[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %120 = llvm.mlir.constant(256 : index) : i64
    %121 = llvm.mul %108, %120 overflow<nsw, nuw> : i64
    %122 = llvm.add %121, %110 overflow<nsw, nuw> : i64
    %123 = llvm.getelementptr inbounds|nuw %119[%122] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %118, %123 : f32, !llvm.ptr
    %124 = llvm.add %110, %40 : i64
    llvm.br ^bb24(%124 : i64)
  ^bb26:  // pred: ^bb24
    %125 = llvm.add %108, %40 : i64
    llvm.br ^bb22(%125 : i64)
  ^bb27:  // pred: ^bb22
    llvm.br ^bb28(%38 : i64)
  ^bb28(%126: i64):  // 2 preds: ^bb27, ^bb29
    %127 = llvm.icmp "slt" %126, %39 : i64
    llvm.cond_br %127, ^bb29, ^bb30
  ^bb29:  // pred: ^bb28
    %128 = llvm.extractvalue %5[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %129 = llvm.getelementptr inbounds|nuw %128[%126] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %37, %129 : f32, !llvm.ptr
    %130 = llvm.add %126, %40 : i64
    llvm.br ^bb28(%130 : i64)
  ^bb30:  // pred: ^bb28
    llvm.br ^bb31(%38 : i64)
  ^bb31(%131: i64):  // 2 preds: ^bb30, ^bb35
    %132 = llvm.icmp "slt" %131, %39 : i64
    llvm.cond_br %132, ^bb32, ^bb36
  ^bb32:  // pred: ^bb31
    llvm.br ^bb33(%38 : i64)
  ^bb33(%133: i64):  // 2 preds: ^bb32, ^bb34
    %134 = llvm.icmp "slt" %133, %41 : i64
    llvm.cond_br %134, ^bb34, ^bb35
  ^bb34:  // pred: ^bb33
    %135 = llvm.extractvalue %13[1] : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)> 
    %136 = llvm.mlir.constant(256 : index) : i64
    %137 = llvm.mul %131, %136 overflow<nsw, nuw> : i64
    %138 = llvm.add %137, %133 overflow<nsw, nuw> : i64
    %139 = llvm.getelementptr inbounds|nuw %135[%138] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %140 = llvm.load %139 : !llvm.ptr -> f32
    %141 = llvm.extractvalue %5[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %142 = llvm.getelementptr inbounds|nuw %141[%131] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %143 = llvm.load %142 : !llvm.ptr -> f32
    %144 = llvm.fadd %140, %143 : f32
    %145 = llvm.extractvalue %5[1] : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)> 
    %146 = llvm.getelementptr inbounds|nuw %145[%131] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %144, %146 : f32, !llvm.ptr
    %147 = llvm.add %133, %40 : i64
    llvm.br ^bb33(%147 : i64)
  ^bb35:  // pred: ^bb33
    %148 = llvm.add %131, %40 : i64
    llvm.br ^bb31(%148 : i64)
  ^bb36:  // pred: ^bb31
    llvm.return
  }
}

