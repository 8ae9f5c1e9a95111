; ModuleID = 'three.c'
source_filename = "three.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

%0 = type { i32, ptr }
%"a pair" = type { float, float }

@0 = private unnamed_addr constant [4 x i8] c"%d\0A\00", align 1
@1 = internal global %0 zeroinitializer, align 8

; Function Attrs: nofree noinline nounwind
define dso_local i32 @walk(ptr noundef readonly %first) local_unnamed_addr #0 !dbg !8 {
    #dbg_value(ptr %first, !13, !DIExpression(), !14)
  %none = icmp eq ptr %first, null, !dbg !15
  br i1 %none, label %end, label %loop, !dbg !15, !prof !20

loop:                                             ; preds = %loop, %0
  %n = phi i32 [ %sum, %loop ], [ 0, %0 ]
  %p = phi ptr [ %next, %loop ], [ %first, %0 ]
  %a = load i32, ptr %p, align 8, !dbg !16
  %sum = add nsw i32 %a, %n, !dbg !16
  %at = getelementptr inbounds nuw %0, ptr %p, i64 0, i32 1
  %next = load ptr, ptr %at, align 8, !dbg !16
  %last = icmp eq ptr %next, null, !dbg !15
  br i1 %last, label %end, label %loop, !dbg !15, !llvm.loop !17

end:                                              ; preds = %loop, %0
  %all = phi i32 [ 0, %0 ], [ %sum, %loop ]
  ret i32 %all, !dbg !15
}

define void @scale(i64 noundef %n, ptr noalias noundef %a, ptr noalias noundef %b) #1 {
entry:
  br label %first

first:                                            ; preds = %first, %entry
  %i = phi i64 [ 0, %entry ], [ %i.next, %first ]
  %p = getelementptr inbounds %"a pair", ptr %a, i64 %i, i32 1
  store float 2.0, ptr %p, align 4
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %i.next, 20
  br i1 %more, label %first, label %between, !llvm.loop !21

between:                                          ; preds = %first
  store i64 %n, ptr @1
  br label %second

second:                                           ; preds = %second, %between
  %j = phi i64 [ 0, %between ], [ %j.next, %second ]
  %q = getelementptr inbounds %"a pair", ptr %a, i64 %j, i32 1
  %x = load float, ptr %q, align 4
  %r = getelementptr inbounds %0, ptr %b, i64 %j
  store float %x, ptr %r, align 4
  %j.next = add nuw nsw i64 %j, 1
  %also = icmp ult i64 %j.next, 20
  br i1 %also, label %second, label %end, !llvm.loop !21

end:                                              ; preds = %second
  ret void
}

declare i32 @printf(ptr, ...) #2

define internal void @2(ptr %p) #1 comdat($scale) {
  %1 = call i32 (ptr, ...) @printf(ptr @0, i32 7)
  %2 = call i32 @walk(ptr null)
  %3 = call i32 @walk(ptr %p), !note !22
  ret void
}

$scale = comdat any

; Uses are counted.
uselistorder ptr @walk, { 1, 0 }

attributes #0 = { nofree noinline nounwind "target-cpu"="x86-64" }
attributes #1 = { mustprogress nounwind willreturn "target-features"="+sse2" }
attributes #2 = { nofree nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3}

!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, producer: "none", isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug)
!1 = !DIFile(filename: "three.c", directory: "/")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!8 = distinct !DISubprogram(name: "walk", scope: !1, file: !1, line: 4, type: !9, scopeLine: 4, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !12)
!9 = !DISubroutineType(types: !10)
!10 = !{!11, null}
!11 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!12 = !{!13}
!13 = !DILocalVariable(name: "first", arg: 1, scope: !8, file: !1, line: 4, type: null)
!14 = !DILocation(line: 0, scope: !8)
!15 = !DILocation(line: 5, column: 3, scope: !8)
!16 = !DILocation(line: 6, column: 3, scope: !8)
!17 = distinct !{!17, !15, !16, !18}
!18 = !{!"llvm.loop.mustprogress"}
!20 = !{!"branch_weights", i32 1, i32 2000}
!21 = distinct !{!21, !18}
!22 = !{!"kept"}
