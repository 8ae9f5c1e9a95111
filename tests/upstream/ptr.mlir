func.func @walk(%p: !ptr.ptr<#ptr.generic_space>, %o: index, %m: memref<4xf32, #ptr.generic_space>) -> !ptr.ptr<#ptr.generic_space> {
  %s = ptr.type_offset vector<4xf32> : index
  %q = ptr.ptr_add inbounds %p, %s : !ptr.ptr<#ptr.generic_space>, index
  %r = ptr.to_ptr %m : memref<4xf32, #ptr.generic_space> -> !ptr.ptr<#ptr.generic_space>
  %l = ptr.load volatile %q :  !ptr.ptr<#ptr.generic_space> -> f32
  ptr.store %l, %r atomic release alignment = 4 : f32, !ptr.ptr<#ptr.generic_space>
  return %q : !ptr.ptr<#ptr.generic_space>
}
