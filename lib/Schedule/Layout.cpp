// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Layout.cpp - how a row lies on the threads of a block -------------===//

#include "RMSNorm/Schedule/Layout.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <numeric>

using namespace mlir::rmsnorm;

int64_t Layout::getPart() const {
  const int64_t vectors = llvm::divideCeil(shape.columns, shape.vectorWidth);
  if (shape.cluster == 1)
    return shape.columns;
  return llvm::divideCeil(vectors, shape.cluster) * shape.vectorWidth;
}

int64_t Layout::getNumVectors() const {
  return shape.strips ? 1 : llvm::divideCeil(getPart(), getColumnStep());
}

int64_t Layout::getNumFullVectors() const {
  if (shape.dynamicColumns)
    return 0;
  const int64_t lastPart = shape.columns - (shape.cluster - 1) * getPart();
  return std::max<int64_t>(0, lastPart) / getColumnStep();
}

int64_t Layout::getAccessBytes(int64_t elementBytes, bool partial,
                               bool packed) const {
  int64_t bytes = std::min(
      {shape.alignment, shape.vectorWidth * elementBytes, shape.accessBytes});
  if (!shape.dynamicColumns && partial)
    bytes = std::min(bytes,
                     std::gcd(shape.vectorWidth, shape.columns) * elementBytes);
  if (!shape.dynamicColumns && packed)
    bytes = std::min(bytes,
                     std::gcd(shape.accessBytes, shape.columns * elementBytes));
  return std::max(bytes, elementBytes);
}

int64_t Layout::getGroupThreads(int64_t columns) const {
  const int64_t width = shape.vectorWidth;
  if (width % columns == 0 && shape.columns % width == 0)
    return 1;
  const int64_t threads = columns / width;
  const bool fits = columns % width == 0 && (threads & (threads - 1)) == 0 &&
                    getSubgroupThreads() % threads == 0 &&
                    getPart() % columns == 0;
  return fits ? threads : 0;
}

int64_t Layout::getSubgroupThreads() const {
  return std::min(shape.threadsPerRow, shape.subgroupSize);
}

bool mlir::rmsnorm::isWalkedInLoop(const ScheduleFields &schedule,
                                   int64_t columns, bool dynamicColumns) {
  const Layout layout = getLayout(schedule, columns, /*dynamicColumns=*/false,
                                  /*subgroupSize=*/1);
  return dynamicColumns || (layout.getNumFullVectors() > schedule.unrolled &&
                            layout.getNumVectors() != schedule.vectorsInFlight);
}

Layout mlir::rmsnorm::getLayout(const ScheduleFields &schedule, int64_t columns,
                                bool dynamicColumns, int64_t subgroupSize) {
  Layout::Shape shape;
  shape.rowGroups = schedule.rowGroups;
  shape.rowsPerGroup = schedule.rowsPerGroup;
  shape.threadsPerRow = schedule.threadsPerRow;
  shape.vectorWidth = schedule.vectorWidth;
  shape.cluster = schedule.cluster;
  shape.alignment = schedule.alignment;
  shape.subgroupSize = subgroupSize;
  shape.columns = columns;
  shape.dynamicColumns = dynamicColumns;
  shape.strips = schedule.hasStrips();
  return Layout(shape);
}
