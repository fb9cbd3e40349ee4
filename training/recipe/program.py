"""The program `zhen`, as the training commands call it."""
import os
from pathlib import Path
import shutil
import subprocess
import time

ROOT = Path(__file__).resolve().parents[2]


def find():
    """ZHEN from the environment, else of a build directory of this repository, else of the PATH."""
    built = sorted(ROOT.glob("build*/**/zhen"))
    built = [str(b) for b in built if b.is_file() and os.access(b, os.X_OK)]
    return os.environ.get("ZHEN") or (built[0] if built else shutil.which("zhen") or "zhen")


def translate(zhen, model, sources, beam, options=()):
    """Translations of single lines, and the seconds they took."""
    start = time.time()
    done = subprocess.run([zhen, "-m", str(model), "-b", str(beam), *options], input="\n".join(sources) + "\n",
                          stdout=subprocess.PIPE, check=True, encoding="utf-8")
    lines = done.stdout.split("\n")[:-1]
    if len(lines) != len(sources):
        raise RuntimeError(f"{zhen} wrote {len(lines)} lines for {len(sources)}")
    return lines, time.time() - start


def quantise(zhen, model, out):
    subprocess.run([zhen, "quantize", str(model), str(out)], check=True)
