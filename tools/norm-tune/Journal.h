// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Journal.h - results so far, kept in a file ------------------------===//
//
// Text, a line a result, replaced as a whole with each new one: the file is
// complete however the program ends.
//
//===----------------------------------------------------------------------===//

#ifndef NORM_TUNE_JOURNAL_H
#define NORM_TUNE_JOURNAL_H

#include <map>
#include <string>
#include <tuple>

namespace norm_tune {

class Journal {
public:
  /// `identity`: of module, device and method; results of another are not
  /// taken over.
  Journal(std::string path, std::string identity)
      : path(std::move(path)), identity(std::move(identity)) {}

  /// Instead of the number of a round: why a candidate was left out, that it
  /// computes what it should, which variant the compiler's choice is, how often
  /// a candidate was begun.
  static constexpr int leftOut = -1, right = -2, chosen = -3, begun = -4;

  enum class Found { nothing, results, others };
  /// Reads the file if there is one.
  Found open();
  /// Measurements, and candidates that were left out.
  size_t countResults() const;

  /// The text of an earlier result, or null. `round`: 0 for the first, brief
  /// measurement, or one of the above; `rows` 0 for what holds for any.
  const std::string *find(const std::string &name, long long rows,
                          int round) const;
  /// Returns "" or why the file cannot be written.
  std::string add(const std::string &name, long long rows, int round,
                  std::string text);
  /// Writes all results. Returns "" or an error.
  std::string save() const;
  void remove();

private:
  using Key = std::tuple<std::string, long long, int>;
  std::string path, identity;
  std::map<Key, std::string> entries;
};

} // namespace norm_tune

#endif // NORM_TUNE_JOURNAL_H
