; Two loops that are fused behind a test, and one that searches.
define void @copy(ptr %a, ptr %b, ptr %c) {
entry:
  br label %first

first:
  %i = phi i64 [ 0, %entry ], [ %i.next, %first ]
  %from = getelementptr float, ptr %a, i64 %i
  %x = load float, ptr %from, align 4
  %to = getelementptr float, ptr %b, i64 %i
  store float %x, ptr %to, align 4
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, 64
  br i1 %i.done, label %between, label %first

between:
  br label %second

second:
  %j = phi i64 [ 0, %between ], [ %j.next, %second ]
  %read = getelementptr float, ptr %b, i64 %j
  %y = load float, ptr %read, align 4
  %write = getelementptr float, ptr %c, i64 %j
  store float %y, ptr %write, align 4
  %j.next = add nuw nsw i64 %j, 1
  %j.done = icmp eq i64 %j.next, 64
  br i1 %j.done, label %end, label %second

end:
  ret void
}

define i64 @length(ptr %text) {
entry:
  br label %loop

loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %at = getelementptr i8, ptr %text, i64 %i
  %c = load i8, ptr %at, align 1
  %i.next = add nuw nsw i64 %i, 1
  %done = icmp eq i8 %c, 0
  br i1 %done, label %end, label %loop

end:
  ret i64 %i
}
