# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the modules of generate.py, runs them on the simulator and checks

- that every element of every output lies in the oracle's interval, and that
  hardly any of these is too wide to tell roundings apart;
- that thread order and memory layout do not change a bit;
- that every value of every dimension of the dispatch occurred, as norm-trials
  reports the variant that was launched and norm-inspect what that is, also of
  those the sources name but this does not.

and the same of generate_backward.py for the suite "backward". Of more than two
dimensions that go together all combinations must occur with --long, which takes
three times as long; else every two of their values.

    check.py OUTPUT_FOLDER SOURCE_FOLDER [--suite=backward] [--long] [MODULE...]

norm-compile, norm-inspect and norm-trials are taken from the PATH.
"""

import concurrent.futures
import csv
import io
import itertools
import math
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "forks"))
import forks
import generate
import generate_backward

SUITES = {"forward": generate, "backward": generate_backward}

# Share of the elements whose interval may hold several values of their type: what
# is uncertain in f32 is 2^-17 of a value, and often lies around a boundary where
# steps are of 2^-11.
UNDECIDED = {"bf16": 0.03, "f16": 0.15, "f32": 0.03}


def chips_and_modes(output):
    """What norm-compile says it has, by asking for what it has not."""
    path = os.path.join(output, "ask.mlir")
    with open(path, "w") as file:
        file.write(generate.emit(generate.case(), "ask"))
    ask = ["norm-compile", path, "-o", os.path.join(output, "ask.rmsn")]
    chips = re.search(r"a chip \(([^)]*)\)", forks.call(*ask, "--target=nothing")[2])
    modes = re.search(r"a mode \(([^)]*)\) or a field of the schedule \(([^)]*)\)",
                      forks.call(*ask, "--target=sim", "--schedule=nothing")[2])
    if not chips or not modes:
        raise SystemExit("norm-compile no longer lists chips, modes and fields in its errors")
    return [text.split(", ") for text in (chips.group(1), *modes.groups())]


def enum_values(source, name):
    """The cases of an enum in RMSNormAttrs.td."""
    with open(os.path.join(source, "include/RMSNorm/IR/RMSNormAttrs.td")) as file:
        text = re.search(rf'RMSNorm_I32Enum<"{name}".*?\]>;', file.read(), re.DOTALL).group(0)
    return re.findall(r'I32EnumAttrCase<"(\w+)"', text)


class Checker:
    def __init__(self, module, output):
        self.module, self.output = module, output
        self.errors, self.seen, self.hashes, self.kernels, self.schedules = [], set(), {}, {}, {}
        self.launches = 0

    def fail(self, text):
        self.errors.append(f"{self.module.name}: {text}")

    @property
    def path(self):
        return os.path.join(self.output, self.module.name) + ".rmsn"

    def compile(self, oracle):
        module = self.module
        source = os.path.join(self.output, module.name) + ".mlir"
        with open(source, "w") as file:
            file.write(module.text())
        targets = [f"--target=sim:{chip}" for chip in module.chips] + ["--target=oracle"] * oracle
        schedule = [f"--schedule={module.schedule}"] if module.schedule else []
        rows = "--rows=" + ",".join(map(str, self.row_counts()))
        status, _, error = forks.call("norm-compile", source, *targets, *schedule, *module.options, rows,
                                      "-o", self.path)
        if status:
            self.fail(f"norm-compile {' '.join(schedule)}: {error}")
            return False
        self.inspect(self.path)
        return True

    def row_counts(self):
        """The numbers of rows that the runs give norm-trials, which spreads them over the sizes that are not static: the
        first of several are 2, the last has what is nearest."""
        counts = set()
        for case, run in itertools.product(self.module.cases, self.module.runs):
            open_sizes = case["rows"].count("?")
            step = math.prod(size for size in case["rows"] if size != "?") * 2 ** max(open_sizes - 1, 0)
            least = run["rows"] // step
            counts |= {max(least, 1) * step, (least + 1) * step} if open_sizes and run["rows"] else {0 if open_sizes else step}
        return sorted(counts)

    def inspect(self, path):
        """The kernels and the schedules of each entry, target and variant."""
        for line in forks.call("norm-inspect", path)[1].splitlines():
            word = line.split()
            if line.startswith("entry "):
                entry = word[1]
            elif line.startswith("  program "):
                target = word[1]
            elif line.startswith("    variant "):
                kernels = self.kernels[entry, target, word[2]] = []
                schedules = self.schedules[entry, target, word[2]] = []
            elif line.startswith("      schedule "):
                # The schedule of strips is a field of the one of their rows.
                schedules += re.findall(r"#rmsnorm.schedule<([^>]*)>", re.sub(r"sums = <[^>]*>(, )?", "", line))
            elif line.startswith("      launch "):
                kernels.append(word[2])

    def rows_schedule(self, entry, target, variant):
        """The fields of the schedule of the first norm's rows."""
        for schedule in self.schedules[entry, target, variant]:
            return dict(f.split(" = ") for f in schedule.split(", ") if f)
        raise SystemExit(f"{self.module.name}: no schedule of rows for {entry}, {target}, {variant}")

    def trials(self):
        """Chips, runs, and the lines for norm-trials."""
        for chip, run in itertools.product(self.module.chips, self.module.runs):
            options = [self.path, f"--device=sim:{chip}", f"--rows={run['rows']}", f"--order={run['order']}",
                       f"--seed={run.get('seed', 1)}", *generate.LAYOUTS[run["layout"]]]
            if run["dim"]:
                symbol = 0 if self.module.cases[0]["rows"] == () else 1
                options.append(f"--dim=s{symbol}={run['dim']}")
            if "persistent" in self.module.schedule or "blocks_per_sm" in self.module.schedule:
                # Few blocks, so that each has several tiles.
                options.append("--multiprocessors=3")
            yield chip, run, " ".join(options)

    def check(self, chip, run, options, rows, status):
        if len(rows) != len(self.module.cases):
            self.fail(f"{options}: status {status}, {len(rows)} of {len(self.module.cases)} entries")
        bad = False
        for row in rows:
            case = self.module.cases[int(row["entry"][1:])]
            problem = self.judge(case, run, row)
            if problem:
                bad = True
                self.fail(f"@{row['entry']} ({self.module.suite.describe(case)}) {options}: {problem}")
            self.record(case, chip, run, row)
        if status and not bad:
            self.fail(f"{options}: status {status}")

    def judge(self, case, run, row):
        if row["result"] != "ok":
            return f"{row['result']}: {row['ulp']} ulp, {row['undecided']} undecided"
        # A rounding on the way, of the input's type, moves what is computed of it.
        kinds = set(row["types"].replace(" -> ", " ").split()) & set(UNDECIDED)
        elements = max(run["rows"], 1) * (run["dim"] or (1000 if case["n"] == "?" else case["n"]))
        if elements >= 1000 and float(row["undecided"]) > max(UNDECIDED[k] for k in kinds):
            return f"{row['undecided']} of the elements are undecided"
        # Order and layout must not show in the bits.
        key = (row["entry"], run["rows"], run["dim"], row["device"])
        first = self.hashes.setdefault(key, (row["hash"], run))
        if first[0] != row["hash"]:
            return f"other bits than with {first[1]}"
        return None

    def record(self, case, chip, run, row):
        self.launches += 1
        fields = self.rows_schedule(row["entry"], f"sim:{chip}", row["variant"])
        groups, per_group, threads, vector, cluster, persistent, stages = (
            int(fields.get(name, default)) for name, default in (
                ("row_groups", 1), ("rows_per_group", 1), ("threads_per_row", 1), ("vector_width", 1), ("cluster", 1),
                ("blocks_per_sm", 0), ("stages", 0)))
        cache = fields.get("cache", "registers")
        n = case["n"]
        subgroup = 64 if chip in ("gfx90a", "gfx942", "gfx950", "sim64") else 32
        subgroups = threads // subgroup
        dynamic = n == "?"
        n = (run["dim"] or 1000) if dynamic else n
        if threads < subgroup:
            sharing = "part of a subgroup"
        elif subgroups == 1:
            sharing = "one subgroup"
        else:
            sharing = "2^k subgroups" if subgroups & (subgroups - 1) == 0 else "other number of subgroups"
        tail = ("one column" if n == 1 else "less than a vector" if n < vector else
                "none" if n % (cluster * threads * vector) == 0 else "whole vectors" if n % vector == 0 else "part of a vector")
        mode = ("static_persistent" if persistent else
                "multi_wave_reload" if cache == "reload" else "multi_wave_cached")
        kernels = self.kernels.get((row["entry"], f"sim:{chip}", row["variant"]), [])
        # The bounds between classes of N of this entry, and where N is among them.
        # Rows of whole vectors have classes of N of their own.
        is_narrow = row["variant"].startswith("narrow")
        bounds = sorted({int(bound) for entry, target, variant in self.kernels if (entry, target) == (row["entry"], f"sim:{chip}")
                         and variant.startswith("narrow") == is_narrow for bound in re.findall(r"_columns_le_(\d+)", variant)})
        edge = next((f"{i}{n - bound:+}" for i, bound in enumerate(bounds) if -1 <= n - bound <= 8), "none")
        if bounds and [int(b) for b in re.findall(r"_columns_le_(\d+)", row["variant"])] != [b for b in bounds if n <= b][:1]:
            self.fail(f"@{row['entry']}: {n} columns took variant {row['variant']}")
        several = any(size != 1 for size in case["rows"])
        sums = ("none" if case.get("dweight", "none") == "none" or not several else
                "strips" if any("_column_strips_" in k for k in kernels) else
                "all_rows" if fields.get("column_sums") == "strips" else "registers")
        self.seen.add(tuple({
            "sums": sums,
            "mode": mode, "chosen": "by the selector" if not self.module.schedule else "given", "subgroup": subgroup,
            "sharing": sharing, "tail": "dynamic, " + tail if dynamic else tail, "variant": re.split("_rows_|_columns_", row["variant"])[0],
            "column class": "few" if "_columns_le_" in row["variant"] else "any",
            "column edge": edge,
            "row class": "few" if "_rows_le_" in row["variant"] else "any",
            "rows of a group": min(per_group, 3), "row groups": "several" if groups > 1 else "one",
            "order": run["order"], "layout": run["layout"], "row count": run["rows"], "chip": chip,
            "cache": cache, "columns": n, "cluster": cluster,
            "width": vector, "stages": stages, "copy": fields.get("copy", "ca"),
            **{k: case[k] for k in self.module.suite.RECORDED},
        }.items()))


def run(checkers):
    """Compiles and launches modules of one program, for which there is one oracle."""
    first, *others = checkers
    if not first.compile(oracle=True):
        return
    compiled = [first] + [c for c in others if c.compile(oracle=False)]
    # What the oracle says is kept from one line to the next where rows and sizes are the same; `first` comes first.
    trials = sorted(((c, *trial) for c in compiled for trial in c.trials()), key=lambda t: (t[2]["rows"], t[2]["dim"] or 0))
    done = subprocess.run(["norm-trials"], input="\n".join(line for _, _, _, line in trials), capture_output=True, text=True)
    status, text, error = done.returncode, done.stdout, done.stderr
    tables = re.findall(r"((?:.*\n)*?)status (\d)\n", text)
    if status or len(tables) != len(trials):
        first.fail(f"norm-trials: status {status}, {len(tables)} of {len(trials)} trials")
    errors = sum(len(c.errors) for c in checkers)
    for (checker, chip, run, options), (table, status) in zip(trials, tables):
        checker.check(chip, run, options, list(csv.DictReader(io.StringIO(table))), int(status))
    if sum(len(c.errors) for c in checkers) > errors:
        first.errors.append(error.rstrip())


def coverage(suite, checkers, chips, modes, fields, source, long):
    """What was not launched, of what must have been."""
    seen = [dict(s) for c in checkers for s in c.seen]
    missing = set()

    def need(*dims):
        """dims: (name, values); all combinations must occur, or those of every two. For a tuple of names the values are tuples."""
        for some in [dims] if long or len(dims) < 3 else itertools.combinations(dims, 2):
            need_product(*some)

    def need_product(*dims):
        def split(value, name):
            return value if isinstance(name, tuple) else (value,)

        names = [part for name, _ in dims for part in split(name, name)]
        met = {tuple(s[name] for name in names) for s in seen}
        for combination in itertools.product(*([split(v, name) for v in values] for name, values in dims)):
            wanted = tuple(itertools.chain(*combination))
            if wanted not in met:
                missing.add(", ".join(f"{k} = {v}" for k, v in zip(names, wanted)))

    suite.coverage(need, lambda name: enum_values(source, name), modes)
    need(("chip", chips))
    schedules = ",".join(c.module.schedule for c in checkers)
    missing = sorted(missing)
    missing += [f"schedule field {f}" for f in fields if f + "=" not in schedules and f not in suite.WITHOUT]
    if suite is generate:
        ir = "".join(c.module.text() for c in checkers)
        ops = {"add": "arith.addf", "maximumf": "arith.maximumf", "minimumf": "arith.minimumf",
               "maxnumf": "arith.maxnumf", "minnumf": "arith.minnumf", "mul": "arith.mulf"}
        missing += [f"reduction {kind}" for kind in enum_values(source, "ReduceKind")
                    if f"%r = {ops.get(kind, '?')} %a" not in ir]
    return missing


def differing_modules(checkers):
    """What differs between modules that must give the same bits."""
    first = {}
    for checker in checkers:
        if not checker.module.same_bits:
            continue
        for key, (bits, _) in sorted(checker.hashes.items(), key=str):
            found, name = first.setdefault((checker.module.same_bits, key), (bits, checker.module.name))
            if found != bits:
                yield f"{checker.module.name}: other bits than {name} at {key}"


def main():
    output, source, *wanted = sys.argv[1:]
    suite = SUITES["forward"]
    if wanted and wanted[0].startswith("--suite="):
        suite = SUITES[wanted.pop(0).split("=")[1]]
    long = wanted[:1] == ["--long"]
    wanted = wanted[long:]
    os.makedirs(output, exist_ok=True)
    chips, modes, fields = chips_and_modes(output)
    checkers = [Checker(m, output) for m in suite.modules(chips, long or bool(wanted)) if not wanted or m.name in wanted]
    programs = {}
    for checker in checkers:
        # Whose rows and sizes differ would not share what the oracle says.
        runs = sorted({(r["rows"], r["dim"] or 0) for r in checker.module.runs})
        programs.setdefault((checker.module.text(), str(runs)), []).append(checker)
    # lit has the other cores busy with other tests; the programs do the work.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run, programs.values()))
    errors = [e for c in checkers for e in c.errors] + list(differing_modules(checkers))
    for error in errors:
        print(error)
    missing = [] if wanted else coverage(suite, checkers, chips, modes, fields, source, long)
    for text in missing:
        print(f"no case covers {text}")
    print(f"{len(checkers)} modules, {sum(len(c.module.cases) for c in checkers)} entries, "
          f"{sum(c.launches for c in checkers)} launches, {len(errors)} errors, {len(missing)} not covered")
    sys.exit(1 if errors or missing else 0)


if __name__ == "__main__":
    main()
