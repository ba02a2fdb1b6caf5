# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs tools many times that are loaded once: forks.c says how."""

import atexit
import os
import signal
import subprocess
import tempfile
import threading

# None: a process each time, as by hand.
LIBRARY = os.environ.get("RMSNORM_FORKS")
loaded = threading.local()


class Tool:
    """Not for several threads."""

    def __init__(self, name):
        self.folder = tempfile.TemporaryDirectory()
        self.paths = [os.path.join(self.folder.name, path) for path in ("input", "output", "errors")]
        self.process = subprocess.Popen([name, *self.paths], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "LD_PRELOAD": LIBRARY, "LD_BIND_NOW": "1"})
        atexit.register(self.end)

    def end(self):
        self.process.stdin.close()
        self.process.wait()

    def run(self, arguments, text, seconds):
        with open(self.paths[0], "w") as file:
            file.write(text)
        self.process.stdin.write("\t".join([str(seconds), *arguments]) + "\n")
        self.process.stdin.flush()
        status = int(self.process.stdout.readline())
        return status, *(open(path, errors="replace").read() for path in self.paths[1:])


def call(name, *arguments, text="", seconds=600):
    """The exit status of a tool in the PATH that reads `text`, its output, its errors; after so many seconds it is ended."""
    arguments = list(map(str, arguments))
    if LIBRARY and os.sep not in name and all(arguments) and not set("".join(arguments)) & set("\t\n"):
        if name not in loaded.__dict__:
            loaded.__dict__[name] = Tool(name)
        status, output, errors = loaded.__dict__[name].run(arguments, text, seconds)
    else:
        try:
            done = subprocess.run([name, *arguments], input=text, capture_output=True, text=True, timeout=seconds)
            status, output, errors = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            status, output, errors = -signal.SIGALRM, "", ""
    return status, output, errors + f"took more than {seconds} seconds" * (status == -signal.SIGALRM)
