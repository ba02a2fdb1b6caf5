// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexExpressions.h - index arithmetic of a host function ----------===//

#ifndef RMSNORM_LIB_MODULE_INDEXEXPRESSIONS_H
#define RMSNORM_LIB_MODULE_INDEXEXPRESSIONS_H

#include "Limits.h"
#include "module_generated.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <memory>
#include <vector>

namespace mlir::rmsnorm {

/// A postfix program; empty: absent, the format's default value.
using Expression = std::vector<rmsn::ExpressionOp>;

Expression constantExpression(int64_t value);
Expression sizeExpression(unsigned argument, unsigned dimension);
Expression strideExpression(unsigned argument, unsigned dimension);
/// `lhs` `opcode` `rhs`.
Expression binaryExpression(rmsn::ExpressionOpcode opcode, Expression lhs,
                            const Expression &rhs);

/// `expr`, with its dimensions and symbols given by `leaf`.
FailureOr<Expression>
affineExpression(AffineExpr expr,
                 function_ref<FailureOr<Expression>(AffineExpr)> leaf);

/// As part of a module; null if absent.
std::unique_ptr<rmsn::ExpressionT> pack(Expression expression);

/// That the runtime has room for an expression.
LogicalResult checkExpression(const Expression &expression, Location loc);

/// The index values of a host function, in terms of its arguments.
class IndexExpressions {
public:
  explicit IndexExpressions(func::FuncOp function) : function(function) {}

  /// Whether values of `op` may have an expression.
  static bool isKnown(Operation *op);

  FailureOr<Expression> evaluate(Value value);
  /// The number of the function's argument that is `buffer`, or that it is a
  /// view of: a memref.reinterpret_cast of its base.
  FailureOr<unsigned> getArgument(Value buffer, Operation *user);
  /// Where a view begins in it, in bytes; absent at the beginning.
  FailureOr<Expression> getByteOffset(Value buffer);

  /// Says which launch `clusters` is about; false if it was another one.
  bool bindClusters(ResidentClustersOp clusters, unsigned launch);

private:
  FailureOr<Expression> evaluateUncached(Value value);
  FailureOr<Expression> evaluateAffineList(AffineMap map, ValueRange operands,
                                           rmsn::ExpressionOpcode combine);
  /// `value` is a size or a stride.
  FailureOr<Expression> evaluate(OpFoldResult value);
  FailureOr<Expression> getSize(Value buffer, int64_t dim, Operation *user);
  FailureOr<Expression> getStride(Value buffer, int64_t dim, Operation *user);

  func::FuncOp function;
  DenseMap<Value, Expression> known;
  DenseMap<Operation *, unsigned> launchOfClusters;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_MODULE_INDEXEXPRESSIONS_H
