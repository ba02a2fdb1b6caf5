// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Table.cpp - the results of trials ---------------------------------===//

#include "Table.h"

#include <algorithm>
#include <cstdio>

namespace trial {

std::string number(const char *format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

void printAligned(const std::vector<std::vector<std::string>> &lines,
                  const std::vector<size_t> &words) {
  std::vector<int> widths;
  for (const auto &line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], int(line[i].size()));
  }
  for (const auto &line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      const bool left = std::find(words.begin(), words.end(), i) != words.end();
      std::printf(left ? "%s%-*s" : "%s%*s", i ? "  " : "", widths[i],
                  line[i].c_str());
    }
    std::printf("\n");
  }
}

std::string shapeText(const Plan &plan) {
  std::string text;
  if (plan.widest < plan.shapes.size())
    for (int64_t size : plan.shapes[plan.widest])
      text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "-" : text;
}

std::string typesText(const Plan &plan) {
  std::string inputs, outputs;
  for (const rmsnorm_argument_info &argument : plan.arguments) {
    std::string &side = argument.role == RMSNORM_INPUT ? inputs : outputs;
    side += (side.empty() ? "" : " ") + std::string(argument.dtype_name);
  }
  return inputs + " -> " + outputs;
}

std::string deviceText(const rmsnorm_device_info &device, const char *target) {
  return device.backend == RMSNORM_SIM
             ? target
             : std::string(device.name) + " (" + target + ")";
}

/// The value of `key` in "#rmsnorm.schedule<a = 1, b = 2>", or `otherwise`.
static std::string field(const std::string &schedule, const std::string &key,
                         const std::string &otherwise) {
  size_t at = schedule.find(key + " = ");
  while (at != std::string::npos && at > 0 && schedule[at - 1] != '<' &&
         schedule[at - 1] != ' ')
    at = schedule.find(key + " = ", at + 1);
  if (at == std::string::npos)
    return otherwise;
  at += key.size() + 3;
  return schedule.substr(at, schedule.find_first_of(",>", at) - at);
}

std::string scheduleText(const std::string &all) {
  if (all.find('<') == std::string::npos)
    return all.empty() ? "-" : all;
  // Of several the first, without the nested schedule of its sums.
  std::string schedule = all.substr(0, all.find("; "));
  size_t nested = schedule.find("sums = <");
  if (nested != std::string::npos)
    schedule.erase(nested, schedule.find('>', nested) + 1 - nested);
  std::string text = field(schedule, "row_groups", "1") + "x" +
                     field(schedule, "rows_per_group", "1") + " rows, " +
                     field(schedule, "threads_per_row", "?") + "x" +
                     field(schedule, "vector_width", "?") + ", " +
                     field(schedule, "cache", "registers");
  std::string cluster = field(schedule, "cluster", "1");
  if (cluster != "1")
    text += ", cluster " + cluster;
  std::string persistent = field(schedule, "blocks_per_sm", "0");
  if (persistent != "0")
    text += ", " + persistent + " per SM";
  std::string stages = field(schedule, "stages", "0");
  if (stages != "0")
    text += ", " + stages + " stages";
  return text;
}

/// The same of all launches.
static std::string launchesText(const std::string &schedule, size_t launches) {
  std::string text = scheduleText(schedule);
  return launches > 1 ? text + ", " + std::to_string(launches) + " launches"
                      : text;
}

static const char *const headers[] = {
    "entry",  "shape", "types",     "variant", "schedule (rows, threads)",
    "device", "ulp",   "undecided", "ms",      "GB/s",
    "result"};

Table::Table(const std::vector<Plan> &plans, rmsnorm_device *device,
             ResultFormat format)
    : format(format) {
  if (format == ResultFormat::json) {
    json.beginObject();
    json.key("results");
    json.beginArray();
    return;
  }
  // Columns of results: as printed below.
  widths = {0, 0, 0, 0, 0, 0, 8, 9, 9, 6, 0};
  for (size_t i = 0; i < widths.size(); ++i)
    fit(i, headers[i]);
  rmsnorm_device_info info;
  bool known = !rmsnorm_device_get_info(device, &info);
  for (const Plan &plan : plans) {
    fit(0, plan.name);
    fit(1, shapeText(plan));
    fit(2, typesText(plan));
    if (known)
      fitVariants(plan, info);
  }
  std::vector<std::string> names(std::begin(headers), std::end(headers));
  if (format == ResultFormat::csv)
    names.insert(names.end() - 1, {"hash"});
  printLine(names);
}

Table::~Table() {
  if (format != ResultFormat::json)
    return;
  json.endArray();
  json.endObject();
  std::fputs(json.take().c_str(), stdout);
}

void Table::fit(size_t column, const std::string &text) {
  widths[column] = std::max(widths[column], int(text.size()));
}

void Table::fitVariants(const Plan &plan, const rmsnorm_device_info &device) {
  rmsnorm_program_info program;
  rmsnorm_variant_info variant;
  for (size_t p = 0;
       !rmsnorm_module_get_program(plan.module, plan.entry, p, &program); ++p) {
    if (program.backend != device.backend)
      continue;
    fit(5, deviceText(device, program.target));
    for (size_t v = 0; v < program.variant_count; ++v)
      if (!rmsnorm_module_get_variant(plan.module, plan.entry, p, v,
                                      &variant)) {
        fit(3, variant.name);
        fit(4, launchesText(variant.schedule, variant.launch_count));
      }
  }
}

void Table::printLine(const std::vector<std::string> &cells) {
  for (size_t i = 0; i < cells.size(); ++i) {
    if (format == ResultFormat::csv) {
      bool quote = cells[i].find(',') != std::string::npos;
      std::printf("%s%s%s%s", i ? "," : "", quote ? "\"" : "", cells[i].c_str(),
                  quote ? "\"" : "");
      continue;
    }
    // Figures to the right, words to the left.
    bool right = i >= 6 && i <= 9;
    std::printf(right ? "%s%*s" : "%s%-*s", i ? "  " : "",
                i + 1 == cells.size() ? 0 : widths[i], cells[i].c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
}

/// In GB/s, 0 if nothing was timed.
static double getRate(const Result &result) {
  return result.milliseconds > 0 ? result.bytes / result.milliseconds / 1e6 : 0;
}

static std::string hashText(const Result &result) {
  char text[24];
  std::snprintf(text, sizeof text, "%016llx", (unsigned long long)result.hash);
  return text;
}

void Table::printJson(const Plan &plan, const Result &result) {
  json.beginObject();
  json.field("file", plan.file);
  json.field("entry", plan.name);
  json.key("arguments");
  json.beginArray();
  static const char *const roles[] = {"input", "output", "inout"};
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    json.beginObject();
    json.field("name", plan.arguments[i].name);
    json.field("role", roles[int(plan.arguments[i].role)]);
    json.field("dtype", plan.arguments[i].dtype_name);
    json.key("shape");
    json.beginRow();
    for (int64_t size : plan.shapes[i])
      json.value(size);
    json.endRow();
    json.endObject();
  }
  json.endArray();
  if (result.error.empty()) {
    static const char *const verdicts[] = {"ok", "wrong", "undecided"};
    json.field("variant", result.variant);
    json.field("schedule", result.schedule);
    json.field("launches", uint64_t(result.launches));
    json.field("device", result.device);
    json.field("ulps", result.ulps);
    json.field("undecided", result.undecided);
    json.field("undefined", uint64_t(result.undefined));
    json.field("milliseconds", result.milliseconds);
    json.field("bytes", uint64_t(result.bytes));
    json.field("gigabytes_per_second", getRate(result));
    json.field("hash", hashText(result));
    json.field("result", verdicts[int(result.verdict)]);
  } else {
    json.field("result", "failed");
  }
  json.field("message", result.error.empty() ? result.note : result.error);
  json.endObject();
  std::fputs(json.take().c_str(), stdout);
  std::fflush(stdout);
}

void Table::print(const Plan &plan, const Result &result) {
  if (format == ResultFormat::json)
    return printJson(plan, result);
  const bool csv = format == ResultFormat::csv;
  std::vector<std::string> cells = {plan.name, shapeText(plan),
                                    typesText(plan)};
  if (!result.error.empty()) {
    cells.insert(cells.end(), {"-", "-", "-", "-", "-", "-", "-"});
    if (csv)
      cells.push_back("-");
    cells.push_back("failed");
  } else {
    double gigabytes = getRate(result);
    cells.insert(cells.end(),
                 {result.variant,
                  launchesText(result.schedule, result.launches), result.device,
                  number("%.3g", result.ulps), number("%.4f", result.undecided),
                  number("%.4f", result.milliseconds),
                  number(gigabytes < 10 ? "%.2f" : "%.0f", gigabytes)});
    if (csv)
      cells.push_back(hashText(result));
    const char *const verdicts[] = {"ok", "WRONG", "UNDECIDED"};
    cells.push_back(verdicts[int(result.verdict)]);
  }
  printLine(cells);
}

} // namespace trial
