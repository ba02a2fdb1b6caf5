# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a chain of blocks, each a norm of what the last one left.

    chain.py BLOCKS matmul | residual | nest    what stands between two norms
"""

import sys

n, kind = int(sys.argv[1]), sys.argv[2]
out = []
L = out.append
L('''#id = affine_map<(d0, d1) -> (d0, d1)>
#r = affine_map<(d0, d1) -> (d0)>
#c = affine_map<(d0, d1) -> (d1)>
#p = affine_map<(d0) -> (d0)>
func.func @chain(%h0: tensor<8x96xbf16>, %w: tensor<96xbf16>, %m: tensor<96x96xbf16>) -> tensor<8x96xbf16> {
%zero = arith.constant 0.0 : f32
%eps = arith.constant 1.0e-05 : f32
%n = arith.constant 96.0 : f32
%zb = arith.constant 0.0 : bf16
%e8 = tensor.empty() : tensor<8xf32>
%ef = tensor.empty() : tensor<8x96xf32>
%eb = tensor.empty() : tensor<8x96xbf16>
%z8 = linalg.fill ins(%zero : f32) outs(%e8 : tensor<8xf32>) -> tensor<8xf32>
%zm = linalg.fill ins(%zb : bf16) outs(%eb : tensor<8x96xbf16>) -> tensor<8x96xbf16>
''')
for i in range(n):
    L(f'''%x{i} = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}} ins(%h{i} : tensor<8x96xbf16>) outs(%ef : tensor<8x96xf32>) {{
^bb0(%a: bf16, %o: f32):
%r = arith.extf %a : bf16 to f32
linalg.yield %r : f32 }} -> tensor<8x96xf32>
%s{i} = linalg.generic {{indexing_maps = [#id, #r], iterator_types = ["parallel", "reduction"]}} ins(%x{i} : tensor<8x96xf32>) outs(%z8 : tensor<8xf32>) {{
^bb0(%a: f32, %o: f32):
%q = arith.mulf %a, %a : f32
%r = arith.addf %o, %q : f32
linalg.yield %r : f32 }} -> tensor<8xf32>
%r{i} = linalg.generic {{indexing_maps = [#p, #p], iterator_types = ["parallel"]}} ins(%s{i} : tensor<8xf32>) outs(%e8 : tensor<8xf32>) {{
^bb0(%a: f32, %o: f32):
%q = arith.divf %a, %n : f32
%t = arith.addf %q, %eps : f32
%r = math.rsqrt %t : f32
linalg.yield %r : f32 }} -> tensor<8xf32>
%y{i} = linalg.generic {{indexing_maps = [#id, #r, #c, #id], iterator_types = ["parallel", "parallel"]}} ins(%x{i}, %r{i}, %w : tensor<8x96xf32>, tensor<8xf32>, tensor<96xbf16>) outs(%eb : tensor<8x96xbf16>) {{
^bb0(%a: f32, %b: f32, %c: bf16, %o: bf16):
%q = arith.mulf %a, %b : f32
%ce = arith.extf %c : bf16 to f32
%t = arith.mulf %q, %ce : f32
%r = arith.truncf %t : f32 to bf16
linalg.yield %r : bf16 }} -> tensor<8x96xbf16>''')
    src=f'%y{i}'
    if kind=='matmul':
        L(f'%g{i} = linalg.matmul ins(%y{i}, %m : tensor<8x96xbf16>, tensor<96x96xbf16>) outs(%zm : tensor<8x96xbf16>) -> tensor<8x96xbf16>'); src=f'%g{i}'
    if kind=='nest':
        L(f'%h{i+1} = tensor.cast %y{i} : tensor<8x96xbf16> to tensor<8x96xbf16>'); continue
    L(f'''%h{i+1} = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}} ins(%h{i}, {src} : tensor<8x96xbf16>, tensor<8x96xbf16>) outs(%eb : tensor<8x96xbf16>) {{
^bb0(%a: bf16, %b: bf16, %o: bf16):
%r = arith.addf %a, %b : bf16
linalg.yield %r : bf16 }} -> tensor<8x96xbf16>''')
L(f'return %h{n} : tensor<8x96xbf16> }}')
print('\n'.join(out))
