// RUN: norm-opt %s --split-input-file --verify-diagnostics

func.func @first() {
  // expected-error @below {{'rmsnorm.launch_dependents' op expected rmsnorm.grid_wait on every path in front of it}}
  rmsnorm.launch_dependents
  rmsnorm.grid_wait
  return
}

// -----

func.func @without_a_wait() {
  // expected-error @below {{expected rmsnorm.grid_wait on every path in front of it}}
  rmsnorm.launch_dependents
  return
}

// -----

// A thread that does not wait comes by, too.
func.func @on_one_path(%waits: i1) {
  scf.if %waits {
    rmsnorm.grid_wait
  }
  // expected-error @below {{expected rmsnorm.grid_wait on every path in front of it}}
  rmsnorm.launch_dependents
  return
}

// -----

// Of a loop there may be no trip.
func.func @behind_a_loop(%m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %m step %c1 {
    rmsnorm.grid_wait
  }
  // expected-error @below {{expected rmsnorm.grid_wait on every path in front of it}}
  rmsnorm.launch_dependents
  return
}

// -----

func.func @in_the_other_branch(%is_first: i1) {
  cf.cond_br %is_first, ^first, ^second
^first:
  rmsnorm.grid_wait
  cf.br ^second
^second:
  // expected-error @below {{expected rmsnorm.grid_wait on every path in front of it}}
  rmsnorm.launch_dependents
  return
}
