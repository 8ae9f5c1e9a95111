#root = #llvm.tbaa_root<id = "C">
#int = #llvm.tbaa_type_desc<id = "int", members = {<#root, 0>}>
#tag = #llvm.tbaa_tag<base_type = #int, access_type = #int, offset = 0>
#domain = #llvm.alias_scope_domain<id = distinct[0]<>, description = "d">
#scope = #llvm.alias_scope<id = distinct[1]<>, domain = #domain>
#group = #llvm.access_group<id = distinct[2]<>>
llvm.mlir.global internal constant @text("hello\00\FF") {addr_space = 4 : i32, alignment = 8 : i64} : !llvm.array<7 x i8>
llvm.mlir.global external @s() : !llvm.struct<"node", packed (i32, ptr<3>, array<4 x vector<2xf16>>)>
llvm.func @f(%p: !llvm.ptr {llvm.noalias, llvm.align = 16 : i64}, ...) -> i32 attributes {passthrough = ["noinline", ["k", "v"]], memory_effects = #llvm.memory_effects<other = none, argMem = read, inaccessibleMem = none, errnoMem = none, targetMem0 = none, targetMem1 = none>} {
  %v = llvm.load volatile %p {alignment = 4 : i64, tbaa = [#tag], alias_scopes = [#scope], access_groups = [#group]} : !llvm.ptr -> i32
  %c = llvm.icmp "eq" %v, %v : i32
  llvm.cond_br %c weights([1, 2]), ^bb1, ^bb2 {loop_annotation = #llvm.loop_annotation<vectorize = <disable = false, width = 8 : i32>, mustProgress = true, parallelAccesses = #group>}
^bb1:
  llvm.br ^bb2
^bb2:
  %x = llvm.cmpxchg %p, %v, %v acq_rel monotonic : !llvm.ptr, i32
  %y = llvm.inline_asm asm_dialect = att operand_attrs = [] "bswap $0", "=r,r" %v : (i32) -> i32
  llvm.return %y : i32
}
// -----
#file = #llvm.di_file<"f.c" in "/src">
#unit = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C, file = #file, producer = "p", isOptimized = true, emissionKind = Full>
#i32 = #llvm.di_basic_type<tag = DW_TAG_base_type, name = "int", sizeInBits = 32, encoding = DW_ATE_signed>
#void = #llvm.di_null_type
#type = #llvm.di_subroutine_type<callingConvention = DW_CC_normal, types = #void, #i32>
#sp = #llvm.di_subprogram<id = distinct[1]<>, compileUnit = #unit, scope = #file, name = "f", file = #file, line = 3, scopeLine = 3, subprogramFlags = "Definition|Optimized", type = #type>
#var = #llvm.di_local_variable<scope = #sp, name = "x", file = #file, line = 4, arg = 1, type = #i32>
llvm.func @f(%x: i32) {
  llvm.intr.dbg.value #var #llvm.di_expression<[DW_OP_deref, DW_OP_constu(4)]> = %x : i32 loc(#l)
  llvm.return loc(#l)
} loc(#f)
#l = loc(fused<#sp>["f.c":4:5])
#f = loc(fused<#sp>["f.c":3:1])
// -----
#file = #llvm.di_file<"g.c" in "/src">
#unit = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C11, file = #file, isOptimized = false, emissionKind = LineTablesOnly>
#sp = #llvm.di_subprogram<compileUnit = #unit, scope = #file, name = "g", file = #file>
#inner = #llvm.di_lexical_block_file<scope = #sp, file = #file, discriminator = 2>
func.func @only_in_locations() {
  "func.return"() : () -> () loc(#in)
} loc(#out)
#in = loc(callsite(fused<#inner>["g.c":4:5] at fused<loc("tag")>["g.c":6:7]))
#out = loc(fused<#sp>["g.c":3:1])
