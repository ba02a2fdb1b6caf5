// RUN: norm-opt %s --rmsnorm-expand-oracle-math --verify-diagnostics

func.func @f64_function(%a: f64) -> f64 {
  // expected-error @below {{expected math that the oracle can do without a maths library, got 'math.erf' of 'f64' (see rmsnorm-expand-oracle-math)}}
  %b = math.erf %a : f64
  return %b : f64
}
