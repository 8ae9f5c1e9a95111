; SYNTAX TEST "source.llvm" "a function with a loop"
@table = external global [100 x i32], align 16
; <------ entity.name.function.llvm
;        ^^^^^^^^ keyword.other.llvm
;                         ^^^ constant.numeric.llvm
;                               ^^^ storage.type.llvm
define void @f(ptr noalias %a) #0 {
; <------ keyword.other.llvm
;      ^^^^ storage.type.llvm
;           ^^ entity.name.function.llvm
;                          ^^ variable.other.llvm
;                              ^^ variable.other.constant.llvm
entry:
; <----- entity.name.label.llvm
  %x = load i32, ptr %a, !tbaa !3 ; A comment.
; ^^ variable.other.llvm
;      ^^^^ support.function.llvm
;                        ^^^^^ variable.other.metadata.llvm
;                                 ^^^^^^^^^^^^ comment.line.semicolon.llvm
  br i1 true, label %entry, label %exit
; ^^ keyword.control.llvm
;       ^^^^ constant.language.llvm
exit:
  ret void
}
!3 = !{!"a\22", i64 -1, double 1.5e+00}
;       ^^^^^^ string.quoted.double.llvm
