module attributes {dlti.dl_spec = #dlti.dl_spec<i32 = dense<[32, 64]> : vector<2xi64>, "dlti.endianness" = "little", index = 32 : i64, "dlti.stack_alignment" = 128 : i64>,
  dlti.target_system_spec = #dlti.target_system_spec<"CPU" = #dlti.target_device_spec<"L1_cache_size_in_bytes" = 4096 : ui32>, "GPU" = #dlti.target_device_spec<"max_vector_width" = 128 : i64>>} {
  func.func @q(%m: !transform.any_op) {
    %p = transform.dlti.query ["CPU", "L1_cache_size_in_bytes"] at %m : (!transform.any_op) -> !transform.any_param
    return
  }
}
// -----
module attributes {dlti.map = #dlti.map<"a" = 1 : i32, i8 = #dlti.map<"b" = [1.5, @f]>>} {
}
