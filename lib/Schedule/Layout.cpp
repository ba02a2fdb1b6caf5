// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Layout.cpp - how a row lies on the threads of a block -------------===//

#include "RMSNorm/Schedule/Layout.h"

#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir::rmsnorm;

int64_t mlir::rmsnorm::countVectors(const ScheduleFields &schedule,
                                    int64_t columns) {
  return llvm::divideCeil(schedule.getPartColumns(columns),
                          schedule.getStripColumns());
}

int64_t Layout::getNumFullVectors() const {
  if (dynamicColumns)
    return 0;
  const int64_t lastPart = columns - (schedule.cluster - 1) * getPart();
  return std::max<int64_t>(0, lastPart) / getColumnStep();
}

int64_t Layout::getAccessBytes(int64_t elementBytes, bool partial,
                               bool packed) const {
  int64_t bytes =
      std::min(schedule.alignment, schedule.vectorWidth * elementBytes);
  if (!dynamicColumns && partial)
    bytes =
        std::min(bytes, std::gcd(schedule.vectorWidth, columns) * elementBytes);
  if (!dynamicColumns && packed)
    bytes =
        std::min(bytes, std::gcd(schedule.alignment, columns * elementBytes));
  return std::max(bytes, elementBytes);
}

int64_t Layout::getGroupThreads(int64_t group) const {
  const int64_t width = schedule.vectorWidth;
  if (width % group == 0 && columns % width == 0)
    return 1;
  const int64_t threads = group / width;
  const bool fits = group % width == 0 && (threads & (threads - 1)) == 0 &&
                    getSubgroupThreads() % threads == 0 &&
                    getPart() % group == 0;
  return fits ? threads : 0;
}

bool mlir::rmsnorm::isWalkedInLoop(const ScheduleFields &schedule,
                                   int64_t columns, bool dynamicColumns) {
  const Layout layout(schedule, columns, /*dynamicColumns=*/false,
                      /*subgroupSize=*/1);
  return dynamicColumns || (layout.getNumFullVectors() > schedule.unrolled &&
                            layout.getNumVectors() != schedule.vectorsInFlight);
}
