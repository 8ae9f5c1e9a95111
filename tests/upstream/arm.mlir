func.func @neon(%a: vector<8xi8>, %b: vector<16xi8>, %c: vector<4xi32>) -> vector<4xi32> {
  %0 = arm_neon.intr.smull %a, %a : vector<8xi8> to vector<8xi16>
  %1 = arm_neon.intr.sdot %c, %b, %b : vector<16xi8>, vector<16xi8> to vector<4xi32>
  return %1 : vector<4xi32>
}
// -----
func.func @sve(%a: vector<[16]xi8>, %c: vector<[4]xi32>, %m: vector<[4]xi1>, %f: vector<[4]xf32>) -> vector<[4]xi32> {
  %0 = arm_sve.sdot %c, %a, %a : vector<[16]xi8> to vector<[4]xi32>
  %1 = arm_sve.masked.addf %m, %f, %f : vector<[4]xi1>, vector<[4]xf32>
  %2 = arm_sve.convert_to_svbool %m : vector<[4]xi1>
  return %0 : vector<[4]xi32>
}
// -----
func.func @sme(%v: vector<[4]xf32>, %i: index, %p: memref<?x?xf32>) attributes {arm_sme.tiles_in_use} {
  %z = arm_sme.zero : vector<[4]x[4]xf32>
  %o = arm_sme.outerproduct %v, %v acc(%z) : vector<[4]xf32>, vector<[4]xf32>
  %l = arm_sme.tile_load %p[%i, %i] layout<vertical> : memref<?x?xf32>, vector<[4]x[4]xf32>
  %s = arm_sme.extract_tile_slice %o[%i] layout<vertical> : vector<[4]xf32> from vector<[4]x[4]xf32>
  return
}
