// Upstream's gpu-module-to-binary compiles our kernels: the same code as
// norm-compile, in objects that name a target of upstream's.
// DEFINE: %{chip} = sm_90
// DEFINE: %{format} = isa
// DEFINE: %{object} = norm-opt %s --pass-pipeline='builtin.module(rmsnorm-tensor-half,rmsnorm-embed-memrefs{target=%{chip} variants=fixed},gpu-module-to-binary{format=%{format}})'
// DEFINE: %{text} = %python -c "import re, sys; t = re.search(r'assembly = \"(.*?)\">', sys.stdin.read())[1]; sys.stdout.write(re.sub(r'\\\\([0-9A-F]{2})', lambda m: chr(int(m[1], 16)), t))"

// RUN: %{object} | %{text} > %t.text
// RUN: norm-compile %s --target=sm_90 --emit=ptx -o %t.ptx && diff %t.text %t.ptx
// REDEFINE: %{chip} = gfx942
// RUN: %{object} | %{text} > %t.text
// RUN: norm-compile %s --target=gfx942 --emit=asm -o %t.asm && diff %t.text %t.asm
// RUN: %{object} | FileCheck %s --check-prefix=AMD-TEXT
// AMD-TEXT: gpu.binary @rmsnorm_kernels [#gpu.object<#rocdl.target<O = 3, chip = "gfx942", abi = "500">, assembly = "
// REDEFINE: %{format} = fatbin
// RUN: %{object} | FileCheck %s --check-prefix=AMD
// AMD: gpu.binary @rmsnorm_kernels [#gpu.object<#rocdl.target<O = 3, chip = "gfx942", abi = "500">, bin = "\7FELF
// REDEFINE: %{chip} = sim:gfx942
// RUN: %{object} | FileCheck %s --check-prefix=SIM
// SIM: gpu.binary @rmsnorm_kernels [#gpu.object<#nvvm.target, bin = "\7FELF
// REDEFINE: %{format} = llvm
// RUN: not %{object} 2>&1 | FileCheck %s --check-prefix=LLVM
// LLVM: error: expected the format isa, bin or fatbin for kernels of 'sim:gfx942', got 'offload'

func.func @norm(%x: tensor<?x1024xbf16>, %w: tensor<1024xbf16>) -> tensor<?x1024xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1024xbf16>
  %y = tensor.empty(%m) : tensor<?x1024xbf16>
  %n = rmsnorm.forward input(%x : tensor<?x1024xbf16>) weight(%w : tensor<1024xbf16>) output(%y : tensor<?x1024xbf16>) eps = 1.0e-05 -> tensor<?x1024xbf16>
  return %n : tensor<?x1024xbf16>
}
