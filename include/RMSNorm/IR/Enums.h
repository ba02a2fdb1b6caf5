// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Enums.h - the enums of the rmsnorm dialect ------------------------===//

#ifndef RMSNORM_IR_ENUMS_H
#define RMSNORM_IR_ENUMS_H

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

#include "RMSNorm/IR/RMSNormEnums.h.inc"

#endif // RMSNORM_IR_ENUMS_H
