# Configuration of the lit suite; lit.site.cfg.py in the build tree loads it.
import ctypes
import glob
import os
import shutil
import subprocess

import lit.formats

config.name = "RMSNORM"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
# Long is what `ninja check-rmsnorm-long` names.
config.excludes = ["Inputs", "Long", "toyc", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.rmsnorm_build_dir, "test")

# The tools under test first, then FileCheck, not, split-file, llvm-objdump.
path = [config.rmsnorm_tools_dir, config.llvm_tools_dir, os.environ["PATH"]]
# `python3` of scripts and pages is the interpreter, not what starts it.
if os.path.realpath(shutil.which("python3") or "") != os.path.realpath(config.python):
    path.insert(2, os.path.dirname(config.python))
if config.ptxas:
    path.insert(2, os.path.dirname(config.ptxas))
config.environment["PATH"] = os.pathsep.join(path)
# A capture cannot leak past the next CHECK-LABEL, and an unused prefix is an
# error: both hide tests that check nothing.
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --allow-unused-prefixes=false"
# What simulates a kernel runs once or twice: not worth optimising. `lit
# --param host-optimization=3` runs tests as users run kernels.
config.environment["RMSNORM_HOST_OPTIMIZATION"] = lit_config.params.get("host-optimization", "0")
for name in ("AMDEMU_PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "HOME", "CCACHE_DIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Tools that scripts run many times are loaded once: test/forks.
forks = os.path.join(config.rmsnorm_library_dir, "librmsnorm_forks.so")
if os.path.exists(forks):
    config.environment["RMSNORM_FORKS"] = forks

config.substitutions += [
    ("%examples", os.path.join(config.rmsnorm_source_dir, "examples")),
    ("%source", config.rmsnorm_source_dir),
    # Without site-packages, which no test of this one needs, it starts in a fraction of the time.
    ("%python", config.python + " -S"),
    ("%ptxas", config.ptxas or "ptxas"),
    ("%plugin", "--load-dialect-plugin={0} --load-pass-plugin={0}".format(
        os.path.join(config.rmsnorm_library_dir, "RMSNormPlugin.so"))),
    ("%build", config.rmsnorm_build_dir),
    ("%launcher", "-DCMAKE_CXX_COMPILER_LAUNCHER=" + config.compiler_launcher),
    ("%libdir", config.rmsnorm_library_dir),
    ("%llvm_libdir", os.path.join(os.path.dirname(config.llvm_tools_dir), "lib")),
]


def driver_has_device(names, initialise, count):
    """True if one of the driver's libraries loads and it sees a device."""
    for name in names:
        try:
            driver = ctypes.CDLL(name)
            devices = ctypes.c_int(0)
            if getattr(driver, initialise)(0) == 0:
                getattr(driver, count)(ctypes.byref(devices))
            return devices.value > 0
        except (OSError, AttributeError):
            continue
    return False


# nvdisasm is also on PyPI: nvidia-cuda-nvdisasm puts it beside the modules.
packages = subprocess.run([config.python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'], end='')"],
                          capture_output=True, text=True).stdout
wheels = glob.glob(os.path.join(packages, "nvidia", "*", "bin"))
config.environment["PATH"] = os.pathsep.join([config.environment["PATH"], *wheels])

# An interpreter that has the Python package: RMSNORM_PYTHON, or what scripts/test.sh made.
package_python = os.environ.get("RMSNORM_PYTHON") or os.path.join(config.rmsnorm_build_dir, "python", "bin", "python")


def has_module(name):
    """Whether that interpreter has a module."""
    return os.path.exists(package_python) and subprocess.run(
        [package_python, "-c", f"import importlib.util, sys; sys.exit(not importlib.util.find_spec('{name}'))"]).returncode == 0


for feature, name in (("python-package", "rmsnorm"), ("torch", "torch"), ("transformers", "transformers"), ("jax", "jax"), ("jax-tvm-ffi", "jax_tvm_ffi")):
    if has_module(name):
        config.available_features.add(feature)
config.substitutions.append(("%package_python", package_python))
# docs/python.md, docs/pytorch.md and docs/jax.md run it by this name.
config.environment["PACKAGE_PYTHON"] = package_python

# What this machine has; tests ask for it with REQUIRES and are otherwise
# reported as unsupported.
if config.ptxas:
    config.available_features.add("ptxas")
if config.help2man and not config.help2man.endswith("-NOTFOUND"):
    config.available_features.add("help2man")
for tool in ("nvdisasm", "cuobjdump"):
    if shutil.which(tool, path=config.environment["PATH"]):
        config.available_features.add(tool)
if driver_has_device(["libcuda.so.1"], "cuInit", "cuDeviceGetCount"):
    config.available_features.add("cuda")
if driver_has_device(["libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so"], "hipInit", "hipGetDeviceCount"):
    config.available_features.add("hip")
# The emulator of AMD code objects is no part of this repository. AMDEMU_TOOL is
# the folder of its amd_emulate.py, AMDEMU_PATH the tinygrad checkout that it
# imports. It needs Debian's numpy.
amdemu_tool = os.environ.get("AMDEMU_TOOL", "")
if os.path.isdir(os.environ.get("AMDEMU_PATH", "")) and os.path.isdir(amdemu_tool):
    config.available_features.add("amdemu")
config.substitutions += [("%amdemu_python", "/usr/bin/python3"), ("%amdemu_tool", os.path.realpath(amdemu_tool))]
config.available_features.add(config.host_processor)
