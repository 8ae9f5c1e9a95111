#!/bin/sh
# A product of matrices with unroll-and-jam by Loomir, by LLVM, and without, compiled by clang -O3.
#
#   LOOMIR_LLVM=/usr/lib/llvm-22 benches/native/matrix_product.sh PATH/TO/loomir
#
# Prints the rows of benches/results/matrix-product.md: milliseconds of processor time.
set -e
loomir=${1:-loomir}
clang=${LOOMIR_LLVM:?names the folder of LLVM}/bin/clang
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
lower() {
  "$loomir" opt --remarks=none --lower-to-llvm=use-bare-ptr-memref-call-conv=true --emit=ll "$1"
}
run() {
  "$clang" -O3 -march=native -w -ffp-contract=off "$@" "$here/matrix_product.c" -o "$folder/bench"
  "$folder/bench"
}
lower "$here/matrix_product.mlir" > "$folder/plain.ll"
printf '| none | 1 | '
run "$folder/plain.ll"
for count in 2 4 8; do
  "$loomir" opt --remarks=none "$here/matrix_product.mlir" -o "$folder/jammed.mlir" \
    --loop-unroll-and-jam=unroll-and-jam-count=$count
  lower "$folder/jammed.mlir" > "$folder/jammed.ll"
  printf '| Loomir | %s | ' $count
  run "$folder/jammed.ll"
  printf '| LLVM | %s | ' $count
  run "$folder/plain.ll" -mllvm -enable-unroll-and-jam -mllvm -allow-unroll-and-jam \
    -mllvm -unroll-and-jam-count=$count
done
