// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RMSNorm.h - the rmsnorm dialect: all its ops and attributes -------===//

#ifndef RMSNORM_IR_RMSNORM_H
#define RMSNORM_IR_RMSNORM_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/IndexingMapOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

#include "RMSNorm/Target/Targets.h"

namespace mlir::rmsnorm {

class AccessMap;

/// The elements of the widest vector that a thread may hold.
constexpr int64_t kMaxFragmentElements = 64;

/// Whether a thread may hold a vector: few elements of 1, 2, 4 or 8 bytes.
bool isFragment(VectorType type);

} // namespace mlir::rmsnorm

#include "RMSNorm/IR/RMSNormDialect.h.inc"

#include "RMSNorm/IR/ScheduleFields.h"

#define GET_ATTRDEF_CLASSES
#include "RMSNorm/IR/RMSNormAttrs.h.inc"

#define GET_OP_CLASSES
#include "RMSNorm/IR/RMSNormOps.h.inc"

#define GET_TYPEDEF_CLASSES
#include "RMSNorm/IR/RMSNormTypes.h.inc"

#define GET_OP_CLASSES
#include "RMSNorm/IR/RMSNormTileOps.h.inc"

#define GET_OP_CLASSES
#include "RMSNorm/IR/RMSNormRowsOps.h.inc"

#define GET_OP_CLASSES
#include "RMSNorm/IR/RMSNormThreadOps.h.inc"

namespace mlir::rmsnorm {

/// The static number of columns that stands for "not known until run time" in
/// the types of a tile program. The live number is the `columns` operand.
constexpr int64_t kDynamicColumns = int64_t(1) << 30;

/// The most columns of a row that the kernels take: threads count bytes in a
/// row in 32 bits, those of columns past the last one included.
constexpr int64_t kMaxColumns = int64_t(1) << 29;

} // namespace mlir::rmsnorm

#endif // RMSNORM_IR_RMSNORM_H
