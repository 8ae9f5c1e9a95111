#!/bin/sh
# A matrix product and a triad, sequential and on threads, compiled by clang -O3.
#
#   LOOMIR_LLVM=/usr/lib/llvm-22 benches/native/parallel.sh PATH/TO/loomir
#
# Prints the rows of benches/results/parallel.md: milliseconds, the least of nine runs.
set -e
loomir=${1:-loomir}
clang=${LOOMIR_LLVM:?names the folder of LLVM}/bin/clang
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
lower() {
  "$loomir" opt --remarks=none --lower-affine "$@" --emit=ll \
    --lower-to-llvm=use-bare-ptr-memref-call-conv=true
}
build() {
  "$clang" -O3 -march=native -w -fopenmp "$folder/$1.ll" "$here/parallel.c" -o "$folder/$1"
}
lower "$here/parallel.mlir" > "$folder/plain.ll"
"$loomir" opt --remarks=none --loop-parallelize=alias=distinct "$here/parallel.mlir" \
  -o "$folder/parallel.mlir"
lower --scf-parallel-to-threads "$folder/parallel.mlir" > "$folder/threads.ll"
build plain
build threads
for processes in 1 2; do
  printf '| sequential | %s process(es) |' $processes
  "$folder/plain" $processes
done
for threads in 1 2; do
  printf '| parallel | %s threads |' $threads
  OMP_NUM_THREADS=$threads "$folder/threads"
done
