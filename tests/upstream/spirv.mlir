spirv.module Logical GLSL450 requires #spirv.vce<v1.3, [Shader, Int64], [SPV_KHR_storage_buffer_storage_class]> {
  spirv.GlobalVariable @out bind(0, 1) : !spirv.ptr<!spirv.struct<(!spirv.array<16 x f32, stride=4> [0])>, StorageBuffer>
  spirv.SpecConstant @size spec_id(3) = 128 : i32
  spirv.func @main() "None" {
    %p = spirv.mlir.addressof @out : !spirv.ptr<!spirv.struct<(!spirv.array<16 x f32, stride=4> [0])>, StorageBuffer>
    %i = spirv.Constant 0 : i32
    %f = spirv.Constant 0.5 : f32
    %e = spirv.AccessChain %p[%i, %i] : !spirv.ptr<!spirv.struct<(!spirv.array<16 x f32, stride=4> [0])>, StorageBuffer>, i32, i32 -> !spirv.ptr<f32, StorageBuffer>
    spirv.Store "StorageBuffer" %e, %f ["Aligned", 4] : f32
    spirv.Return
  }
  spirv.EntryPoint "GLCompute" @main, @out
  spirv.ExecutionMode @main "LocalSize", 32, 1, 1
}
// -----
spirv.func @loop(%n: i32) -> i32 "Inline|Pure" {
  %z = spirv.Constant 0 : i32
  %one = spirv.Constant 1 : i32
  %v = spirv.Variable init(%z) : !spirv.ptr<i32, Function>
  spirv.mlir.loop control(Unroll) {
    spirv.Branch ^header
  ^header:
    %x = spirv.Load "Function" %v : i32
    %c = spirv.SLessThan %x, %n : i32
    spirv.BranchConditional %c [3, 1], ^body, ^merge
  ^body:
    %y = spirv.IAdd %x, %one : i32
    spirv.Store "Function" %v, %y : i32
    spirv.Branch ^continue
  ^continue:
    spirv.Branch ^header
  ^merge:
    spirv.mlir.merge
  }
  %r = spirv.Load "Function" %v : i32
  spirv.ReturnValue %r : i32
}
// -----
func.func private @types(!spirv.image<f32, Dim2D, NoDepth, NonArrayed, SingleSampled, NeedSampler, Rgba8>, !spirv.coopmatrix<8x16xf32, Subgroup, MatrixA>,
  !spirv.rtarray<i32>, !spirv.matrix<3 x vector<4xf32>>, !spirv.sampled_image<!spirv.image<f32, Dim1D, IsDepth, Arrayed, MultiSampled, NoSampler, Unknown>>,
  !spirv.struct<node, (!spirv.ptr<!spirv.struct<node>, Generic> [0], f32 [8, NonWritable])>)
  attributes {env = #spirv.target_env<#spirv.vce<v1.0, [Kernel], []>, Apple, #spirv.resource_limits<max_compute_workgroup_size = [8, 4, 4]>>}
