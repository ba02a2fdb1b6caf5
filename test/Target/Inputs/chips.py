"""Compiles examples for the chips of the table and looks for kernels that spill.

Usage: chips.py NORM_COMPILE PTXAS EXAMPLES FOLDER [--all] [CHIP...]

All variants of an example are compiled. NVIDIA: ptxas says what each kernel spills; with
an empty PTXAS nobody looks. AMD: the metadata of each kernel says it. Each chip has one
of the examples, the next chip another; with --all it has all of them. EXAMPLES: a folder,
or one file. With CHIP, which may have wildcards ("gfx*"), those chips alone.
"""
import fnmatch, pathlib, re, sys

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "forks"))
import forks

# What runs in the place of ptxas: a line for each kernel, with the bytes of stack, spill
# stores and spill loads. A kernel that spills is assembled once more.
LOGGING_PTXAS = """#!{python} -S
import re, subprocess, sys, zlib
done = subprocess.run([{ptxas!r}, *sys.argv[1:]], capture_output=True, text=True)
numbers = "(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads"
ptx = next(open(a, 'rb').read() for a in sys.argv if a.endswith(".ptx"))
for part in done.stderr.split("Compiling entry function")[1:]:
    open({log!r}, "a").write(" ".join([re.search("'(\\w+)'", part)[1], str(zlib.crc32(ptx)), *re.search(numbers, part).groups()]) + "\\n")
sys.stdout.write(done.stdout)
sys.stderr.write(done.stderr)
sys.exit(done.returncode)
"""


class Failure(Exception):
    pass


class Checker:
    def __init__(self, compiler, ptxas, folder):
        self.compiler, self.ptxas = compiler, ""
        self.module, self.log = folder / "chips.rmsn", folder / "kernels.log"
        if ptxas:
            self.ptxas = folder / "logging-ptxas"
            self.ptxas.write_text(LOGGING_PTXAS.format(python=sys.executable, ptxas=ptxas, log=str(self.log)))
            self.ptxas.chmod(0o755)

    def run(self, *options):
        """The status, the output, the errors."""
        return forks.call(self.compiler, *options)

    def chips(self, example):
        message = self.run("--target=?", example, "-o", self.module)[2]
        names = re.search(r"a chip \(([^)]*)\)", message)[1].split(", ")
        return [name for name in names if not name.startswith("sim")]

    def check(self, chip, example):
        """What there is to say of the example's kernels."""
        self.log.write_text("")
        status, _, errors = self.run(example, f"--target={chip}", f"--ptxas={self.ptxas}", "-o", self.module)
        if status:
            raise Failure(errors)
        code = self.module.read_bytes()
        if not chip.startswith("sm_"):
            return self.check_amd(code)
        if not self.ptxas:
            return f"{code.count(b'.visible .entry')} kernels, no ptxas to look for spills"
        kernels = {(name, ptx): sizes for name, ptx, *sizes in map(str.split, self.log.read_text().splitlines())}
        for (name, _), sizes in kernels.items():
            if sizes != ["0", "0", "0"]:
                raise Failure(f"expected no stack and no spills, got {', '.join(sizes)} bytes in {name}")
        return f"{len(kernels)} kernels, no spills"

    @staticmethod
    def check_amd(code):
        """In the metadata, a MessagePack, a number below 128 is the byte after its name.
        Scalar registers are spilt to a vector register, not to memory."""
        for what in (b".private_segment_fixed_size", b".vgpr_spill_count"):
            numbers = [rest[0] for rest in code.split(what)[1:]]
            if not numbers or any(numbers):
                raise Failure(f"expected kernels with a {what.decode()} of 0, got {numbers}")
        return f"{len(numbers)} kernels, no spills"


def main():
    every = "--all" in sys.argv
    compiler, ptxas, examples, folder, *wanted = [a for a in sys.argv[1:] if a != "--all"]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    examples = pathlib.Path(examples)
    sources = [examples] if examples.is_file() else sorted(
        path for path in examples.rglob("*.mlir") if path.parent.name not in ("linalg", "caches"))
    checker = Checker(compiler, ptxas, folder)
    chips = [(number, chip) for number, chip in enumerate(checker.chips(sources[0]))
             if not wanted or any(fnmatch.fnmatch(chip, name) for name in wanted)]
    errors = 0
    for number, chip in chips:
        for example in sources if every else [sources[5 * number % len(sources)]]:
            try:
                print(f"{chip}, {example.name}: {checker.check(chip, example)}", flush=True)
            except Failure as failure:
                errors += 1
                print(f"{chip}, {example.name}: error: {failure}", flush=True)
    print(f"{len(chips)} chips, {errors} errors")
    sys.exit(1 if errors or not chips else 0)


main()
