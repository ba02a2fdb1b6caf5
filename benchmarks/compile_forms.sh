#!/bin/bash
# compile_forms.sh FOLDER [N...]: compiles what neighbours.py times, for sm_90 and each N (4096 and 7168), as FOLDER/FORM_N.rmsn.
# `models` for N: only forms that have the width of a model.
# Options of norm-compile can be given in FLAGS.
set -eu
folder=$1
shift
widths=${*:-4096 7168}
cd "$(dirname "$0")/.."
mkdir -p "$folder"

# compile FORM N SED < program: with 4096 columns, made N.
compile() { sed -E "s/4096/$2/g; $3" | norm-compile - --target=sm_90 ${FLAGS:-} -o "$folder/$1_$2.rmsn"; }
# groups G: by how many of G columns a row of 4096 is divided, and one of N.
groups() { echo "s/([x ])$((4096 / $1))x/\1$((n / $1))x/g; s/, $((4096 / $1)), $1\]/, $((n / $1)), $1]/; s/<$((4096 / $1))x\?/<$((n / $1))x?/g"; }

for n in ${widths/models/}; do
  for form in examples/llama3_8b examples/residual_add examples/quantised/{fp8_static,fp8_row,int8_row} \
    benchmarks/forms/{adaln,add_fp8_row,add_fp8_static,add_int8_row,bias_gelu,gated_silu,mamba_gated,silu,silu_fp8}; do
    compile "$(basename "$form")" "$n" "" < $form.mlir
  done
  sed 's/3584/4096/g' examples/gemma2_9b.mlir | compile gemma2_9b "$n" ""
  compile grouped "$n" "s/8x512/8x$((n / 8))/g" < benchmarks/forms/grouped.mlir
  for form in examples/quantised/fp8_block benchmarks/forms/{fp8_block_t,add_fp8_block,e8m0_block_y}; do
    compile "$(basename "$form")" "$n" "$(groups 128)" < $form.mlir
  done
  for form in examples/quantised/fp8_block benchmarks/forms/fp8_block_t; do  # of 64 columns
    name=$(basename "$form")64
    sed "s/32x128/64x64/g; s/x32x/x64x/g; s/<32x/<64x/g; s/, 32, 128\]/, 64, 64]/; s/@fp8_block[_t]*/@$name/" $form.mlir |
      compile "$name" "$n" "$(groups 64)"
  done
  for form in examples/quantised/mxfp8 benchmarks/forms/mxfp8_y; do
    compile "$(basename "$form")" "$n" "$(groups 32)" < $form.mlir
  done
  compile nvfp4 "$n" "$(groups 16)" < examples/quantised/nvfp4.mlir
done
for form in append_6144 latent_576 indexer_key_128; do
  norm-compile "examples/caches/${form%_*}.mlir" --target=sm_90 ${FLAGS:-} -o "$folder/$form.rmsn"
done
for head in 80 96 112 192; do
  sed -E "s/([x<, ])128/\\1$head/g; s/([x, ])64([]x])/\\1$((head / 2))\\2/g; s/@qk_rope/&$head/" \
    benchmarks/forms/qk_rope.mlir | compile "qk_rope$head" $((48 * head)) ""
done
for form in benchmarks/forms/{rope_sections_5120,heads_rope_9216,heads_rope_fp8_9216} \
  benchmarks/forms/{qk_rope_6144,rope_mxfp8_4096,dit_ln_3072,gemma3_sandwich_3584,qwen3_hf_rope_5120,adaln_zero_3584,zamba2_gated_7168} \
  benchmarks/forms/layer_norm_modulated_3584 examples/models/qwen3_8b_rope_6144; do
  norm-compile "${form%_*}.mlir" --target=sm_90 ${FLAGS:-} -o "$folder/$(basename "$form").rmsn"
done
