#!/bin/sh
# Layer normalisation with buffers, before and after `loomir fuse`, compiled by clang -O3.
#
#   LOOMIR_LLVM=/usr/lib/llvm-22 benches/native/layer_norm.sh PATH/TO/loomir
#
# Prints the rows of benches/results/layer-norm.md: milliseconds of processor time, medians of 61
# runs that alternate.
set -e
loomir=${1:-loomir}
here=$(dirname "$0")
program=$here/../../tests/tests/all/promotion/layer_norm.mlir
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for sums in ordered reassociated; do
  for size in 256x512 256x768 2048x1024 8192x1024; do
    rows=${size%x*} columns=${size#*x}
    flags=
    [ $sums = ordered ] || flags="fastmath<reassoc> "
    sed -e "s/256/$rows/g" -e "s/512/$columns/g" \
      -e "s/addf %0, %1 :/addf %0, %1 $flags:/" -e "s/addf %0, %4 :/addf %0, %4 $flags:/" \
      "$program" > "$folder/before.mlir"
    "$loomir" fuse --remarks=none "$folder/before.mlir" > "$folder/after.mlir"
    for side in before after; do
      "$loomir" opt "$folder/$side.mlir" --emit=ll | sed "s/@layer_norm/@$side/" > "$folder/$side.ll"
    done
    "${LOOMIR_LLVM:?names the folder of LLVM}/bin/clang" -O3 -march=native -w -DROWS="$rows" \
      -DCOLUMNS="$columns" "$folder/before.ll" "$folder/after.ll" "$here/layer_norm.c" \
      -o "$folder/bench"
    printf '| %s | %s | ' "$sums" "$size"
    "$folder/bench"
  done
done
