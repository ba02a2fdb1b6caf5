# A compiled norm on the simulator, with NumPy's arrays.
import pathlib
import pickle

import ml_dtypes
import numpy

import rmsnorm

module = rmsnorm.compile(pathlib.Path("examples/llama3_8b.mlir"), target=["sim:sm_90", "oracle"])
print(module)
random = numpy.random.default_rng(1)
x = random.standard_normal((5, 4096)).astype(ml_dtypes.bfloat16)
weight = random.random(4096).astype(ml_dtypes.bfloat16)
y = module["llama3_8b"](x, weight)
print(type(y).__name__, y.dtype, y.shape)
for wrong in (weight[:100], None):
    try:
        module["llama3_8b"](x, wrong)
    except ValueError as error:
        print(error)
again = pickle.loads(pickle.dumps(module["llama3_8b"]))
print(numpy.array_equal(again(x, weight), y))
