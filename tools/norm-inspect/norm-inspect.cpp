// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-inspect.cpp - prints what a compiled module holds ------------===//

#include "../trial/Files.h"
#include "../trial/Memory.h"
#include "../trial/Options.h"
#include "Extract.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

using namespace norm_inspect;

static const char helpText[] =
    R"(usage: norm-inspect [options] FILE.rmsn

Prints the entries of a compiled module, their arguments and error bounds, the
variants for each target with guards, schedules and launches, and the images.
Nothing in the module is run.

  --entry=NAME        only this entry
  --target=TARGET     only programs for this target: sm_90, sim:gfx942, oracle
  --json              a JSON object instead of text
  --extract=FORMAT    write code instead: the ptx, cubin, hsaco (AMD code object)
                      or elf (simulator, oracle) of the one image that
                      --entry, --target, --variant and --image leave
  --variant=NAME      --extract: only images of such variants, e.g. align16
  --image=K           --extract: only the image of this number
  -o FILE             --extract: the file to write; - is the standard output,
                      the default
  -f                  --extract: write machine code to a terminal, too
  --version           print the version

Exit status: 0, 1 if the module cannot be read or has no such thing, 2 for a
wrong command line.
)";

static void complain(const std::string &text) {
  std::fflush(stdout);
  std::fprintf(stderr, "norm-inspect: error: %s\n", text.c_str());
}

static bool readImage(const std::string &text, Options &options) {
  char *end = nullptr;
  errno = 0;
  options.image = std::strtoll(text.c_str(), &end, 10);
  return !text.empty() && !*end && !errno && options.image >= 0;
}

static bool takeOption(const std::string &name, const std::string &value,
                       std::string &expected, Options &o) {
  if (name == "--image") {
    expected = readImage(value, o) ? "" : "a number";
    return true;
  }
  std::string *text = name == "--entry"     ? &o.entry
                      : name == "--target"  ? &o.target
                      : name == "--extract" ? &o.format
                      : name == "--variant" ? &o.variant
                      : name == "-o"        ? &o.output
                                            : nullptr;
  if (!text)
    return false;
  *text = value;
  if (text == &o.format && value != "ptx" && value != "cubin" &&
      value != "hsaco" && value != "elf")
    expected = "ptx, cubin, hsaco or elf";
  else if (value.empty())
    expected = "some text";
  return true;
}

/// Returns "" or an error.
static std::string readCommandLine(int argc, char **argv, Options &o) {
  bool forCode = false;
  std::vector<std::string> files;
  std::string error;
  auto take = [&](const std::string &name, const std::string &value,
                  std::string &expected) {
    forCode |= name == "--variant" || name == "--image" || name == "-o";
    return takeOption(name, value, expected, o);
  };
  if (!trial::readCommandLine(argc, argv, "norm-inspect",
                              {{"--json", &o.json},
                               {"-f", &o.force},
                               {"--help", &o.help},
                               {"--version", &o.version}},
                              take, files, error))
    return error;
  if (o.help || o.version)
    return "";
  if (files.size() > 1)
    return "expected one file, got " + files[0] + " and " + files[1];
  if (files.empty())
    return "expected a file, got none; see norm-inspect --help";
  o.file = files[0];
  if ((forCode || o.force) && o.format.empty())
    return "--variant, --image, -o and -f say which code is written, and "
           "where: "
           "expected --extract with them";
  if (o.json && !o.format.empty())
    return "expected one of --json and --extract, got both";
  return "";
}

/// Returns "" or why the code cannot be written.
static std::string writeCode(const rmsnorm_binary_info &code,
                             const Options &options) {
  const std::string text(static_cast<const char *>(code.bytes), code.size);
  struct stat there;
  const bool isFile =
      options.output != "-" &&
      (stat(options.output.c_str(), &there) != 0 || S_ISREG(there.st_mode));
  if (isFile)
    return trial::isSameFile(options.output, options.file)
               ? "-o: expected another file than the input, got " +
                     options.output
               : trial::writeFile(options.output, text);
  // A pipe or a device is written to, never replaced.
  std::FILE *file =
      options.output == "-" ? stdout : std::fopen(options.output.c_str(), "wb");
  const std::string why = "cannot write " + options.output;
  if (!file)
    return why;
  if (options.format != "ptx" && !options.force && isatty(fileno(file)))
    return "expected -o FILE for machine code, got a terminal; -f writes it "
           "there";
  bool good = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  good &= (file == stdout ? std::fflush(file) : std::fclose(file)) == 0;
  return good ? "" : why;
}

static std::string inspect(const rmsnorm_module *module,
                           const Options &options) {
  rmsnorm_describe_options wanted = {};
  wanted.entry = options.entry.empty() ? nullptr : options.entry.c_str();
  wanted.target = options.target.empty() ? nullptr : options.target.c_str();
  wanted.json = options.json;
  char *text = nullptr;
  // Code, too, is only of entries and targets that there are.
  if (rmsnorm_module_describe_with(module, &wanted, &text))
    return rmsnorm_last_error();
  if (options.format.empty())
    std::fputs(text, stdout);
  rmsnorm_free(text);
  if (options.format.empty())
    return "";
  rmsnorm_binary_info code = {};
  std::string why = findCode(module, options, code);
  return why.empty() ? writeCode(code, options) : why;
}

int main(int argc, char **argv) {
  trial::endWithoutMemory("norm-inspect");
  Options options;
  std::string why = readCommandLine(argc, argv, options);
  if (!why.empty()) {
    complain(why);
    return 2;
  }
  if (options.help)
    std::fputs(helpText, stdout);
  else if (options.version)
    std::printf("norm-inspect %s\n", rmsnorm_version());
  if (options.help || options.version)
    return 0;
  rmsnorm_module *module = nullptr;
  if (rmsnorm_module_open_file(options.file.c_str(), &module))
    why = rmsnorm_last_error();
  else
    why = inspect(module, options);
  rmsnorm_module_close(module);
  if (why.empty())
    trial::flushOutput(why);
  if (!why.empty())
    complain(why);
  return why.empty() ? 0 : 1;
}
