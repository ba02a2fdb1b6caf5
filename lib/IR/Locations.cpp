// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Locations.cpp - locations for other programs -----------------------===//

#include "RMSNorm/IR/Locations.h"

using namespace mlir;

llvm::json::Array rmsnorm::toJSON(Location location) {
  llvm::json::Array names;
  location->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      names.push_back(name.getName().str());
    else if (auto place = dyn_cast<FileLineColLoc>(part))
      names.push_back((place.getFilename().getValue() + ":" +
                       Twine(place.getLine()) + ":" + Twine(place.getColumn()))
                          .str());
    return WalkResult::advance();
  });
  return names;
}
