// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Options.cpp - the options of a trial -----------------------------===//

#include "Options.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace trial {

static bool parseInteger(const std::string &text, int64_t &value) {
  if (text.empty())
    return false;
  char *end = nullptr;
  errno = 0;
  value = std::strtoll(text.c_str(), &end, 10);
  return errno == 0 && *end == 0 && value >= 0;
}

bool printAbout(const Options &options, const char *program, const char *help) {
  if (options.help)
    std::fputs(help, stdout);
  else if (options.version)
    std::printf("%s %s\n", program, rmsnorm_version());
  return options.help || options.version;
}

bool parseNumber(const std::string &text, double &value) {
  char *rest = nullptr;
  value = std::strtod(text.c_str(), &rest);
  return !text.empty() && !*rest && std::isfinite(value) && value >= 0;
}

bool RowLists::add(const std::string &value) {
  const size_t colon = value.rfind(':');
  std::vector<int64_t> &rows =
      colon == std::string::npos ? others : named[value.substr(0, colon)];
  size_t at = colon == std::string::npos ? 0 : colon + 1;
  while (at <= value.size()) {
    const size_t end = std::min(value.find(',', at), value.size());
    int64_t number;
    if (!parseInteger(value.substr(at, end - at), number) || number < 1)
      return false;
    rows.push_back(number);
    at = end + 1;
  }
  return true;
}

const std::vector<int64_t> &RowLists::find(const std::string &entry) const {
  auto found = named.find(entry);
  return found == named.end() ? others : found->second;
}

static bool parseDevice(const std::string &text, Options &options) {
  options.deviceText = text;
  if (text == "cuda")
    options.backend = RMSNORM_CUDA;
  else if (text == "hip")
    options.backend = RMSNORM_HIP;
  else if (text == "sim" ||
           (text.rfind("sim:", 0) == 0 && text.find(',') == std::string::npos))
    options.backend = RMSNORM_SIM;
  else
    return false;
  if (text.rfind("sim:", 0) == 0 && options.target.empty())
    options.target = text;
  return true;
}

static bool parseOrder(const std::string &text, Options &options) {
  static const char *const names[] = {"forward", "reverse", "shuffled"};
  for (int i = 0; i < 3; ++i)
    if (text == names[i]) {
      options.order = rmsnorm_thread_order(i);
      return true;
    }
  return false;
}

/// sK=VALUE.
static bool parseDim(const std::string &text, Options &options) {
  size_t equals = text.find('=');
  int64_t symbol, size;
  if (text.empty() || text[0] != 's' || equals == std::string::npos ||
      !parseInteger(text.substr(1, equals - 1), symbol) || symbol >= 64 ||
      !parseInteger(text.substr(equals + 1), size))
    return false;
  options.dims[int(symbol)] = size;
  return true;
}

static bool parseOption(const std::string &name, const std::string &value,
                        Options &o, std::string &expected) {
  expected = "a number";
  int64_t number = 0;
  auto integer = [&](auto &field, int64_t largest, int64_t smallest = 0) {
    if (smallest > 0)
      expected = "a number >= " + std::to_string(smallest);
    if (!parseInteger(value, number) || number < smallest || number > largest)
      return false;
    field = number;
    return true;
  };
  if (name == "--rows")
    return integer(o.rows, INT64_MAX);
  if (name == "--seed")
    return integer(o.seed, INT64_MAX);
  if (name == "--repeat")
    return integer(o.repeat, 1000000, 1);
  if (name == "--ordinal")
    return integer(o.ordinal, 1000);
  if (name == "--multiprocessors")
    return integer(o.multiprocessors, 1000000, 1);
  if (name == "--device") {
    expected = "sim, sim:CHIP, cuda or hip";
    return parseDevice(value, o);
  }
  if (name == "--order") {
    expected = "forward, reverse or shuffled";
    return parseOrder(value, o);
  }
  if (name == "--dim") {
    expected = "sK=VALUE, e.g. s0=17";
    return parseDim(value, o);
  }
  expected = "some text";
  std::string *text = name == "--entry"               ? &o.entry
                      : name == "--target"            ? &o.target
                      : name == "--schedule"          ? &o.schedule
                      : name == "--host-optimization" ? &o.hostOptimization
                                                      : nullptr;
  if (!text) {
    expected.clear();
    return false;
  }
  *text = value;
  return !value.empty();
}

/// Whether the back end that the target's spelling names is the device's.
static bool fitsDevice(const Options &o) {
  const std::string &target = o.target;
  auto begins = [&](const char *text) { return target.rfind(text, 0) == 0; };
  if (target.empty())
    return true;
  switch (o.backend) {
  case RMSNORM_CUDA:
    return begins("sm_");
  case RMSNORM_HIP:
    return begins("gfx");
  default:
    return target == "sim" || begins("sim:");
  }
}

bool readCommandLine(int argc, char **argv, const std::string &program,
                     const std::map<std::string, bool *> &flags,
                     const OwnOptions &take, std::vector<std::string> &inputs,
                     std::string &error) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    // A dash alone names the standard input or output, where there is one.
    if (argument.size() < 2 || argument[0] != '-') {
      inputs.push_back(argument);
      continue;
    }
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    std::string value =
        equals == std::string::npos ? "" : argument.substr(equals + 1);
    std::string expected;
    if (auto flag = flags.find(name); flag != flags.end()) {
      *flag->second = true;
      if (equals == std::string::npos)
        continue;
      error = name + ": expected no value, got '" + value + "'";
      return false;
    }
    // "--rows 5" is the same as "--rows=5".
    const bool isMissing = equals == std::string::npos && i + 1 == argc;
    if (equals == std::string::npos && !isMissing)
      value = argv[++i];
    if (!take(name, value, expected))
      error = "unknown option " + name + "; " + program +
              " --help lists the options";
    else if (isMissing)
      error = name + ": expected " + (expected.empty() ? "a value" : expected) +
              ", got none";
    else if (!expected.empty())
      error = name + ": expected " + expected + ", got '" + value + "'";
    else
      continue;
    return false;
  }
  return true;
}

/// Reads a command line of the options in `shared`, null: all there are, and of
/// a tool's own.
static bool parse(int argc, char **argv, const std::string &program,
                  const std::vector<std::string> *shared, const OwnOptions &own,
                  Options &o, std::string &error) {
  auto isShared = [&](const std::string &name) {
    return !shared ||
           std::find(shared->begin(), shared->end(), name) != shared->end();
  };
  bool csv = false, json = false;
  std::map<std::string, bool *> flags;
  for (auto [name, flag] :
       std::map<std::string, bool *>{{"--strided", &o.strided},
                                     {"--unaligned", &o.unaligned},
                                     {"--csv", &csv},
                                     {"--json", &json},
                                     {"--help", &o.help},
                                     {"--version", &o.version}})
    if (isShared(name))
      flags[name] = flag;
  auto take = [&](const std::string &name, const std::string &value,
                  std::string &expected) {
    if (own && own(name, value, expected))
      return true;
    expected.clear();
    const bool isGood = isShared(name) && parseOption(name, value, o, expected);
    const bool isKnown = isGood || !expected.empty();
    if (isGood)
      expected.clear();
    return isKnown;
  };
  if (!readCommandLine(argc, argv, program, flags, take, o.inputs, error))
    return false;
  if (o.help || o.version)
    return true;
  if (csv && json) {
    error = "expected one of --csv and --json, got both";
    return false;
  }
  o.format = csv    ? ResultFormat::csv
             : json ? ResultFormat::json
                    : ResultFormat::table;
  if (o.inputs.empty()) {
    error =
        "expected at least one .mlir or .rmsn file; see " + program + " --help";
    return false;
  }
  if (!fitsDevice(o)) {
    error = "--target: expected a target that --device=" + o.deviceText +
            " runs, got '" + o.target + "'";
    return false;
  }
  return true;
}

bool parseOptions(int argc, char **argv, const std::string &program, Options &o,
                  std::string &error, const OwnOptions &own) {
  return parse(argc, argv, program, nullptr, own, o, error);
}

bool parseOptions(int argc, char **argv, const std::string &program,
                  const std::vector<std::string> &shared, const OwnOptions &own,
                  Options &o, std::string &error) {
  return parse(argc, argv, program, &shared, own, o, error);
}

} // namespace trial
