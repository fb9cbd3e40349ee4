"""Measure zhen against CTranslate2 and transformers; called by bench/run, see there.

All measurements of one kind run in turn (ours, theirs, ours, theirs, ...), so that a machine whose
speed drifts is fair to both; the table gives medians. Every peer gets the same weights (the int8
model turned back into float, then converted by the peer's own converter), the same sentences (cut
by zhen, so that nobody is slowed by longer lines) and the same number of threads.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent
SENTENCE = "我爱水课。"


def run(command, text=""):
    """Output, standard error, wall seconds and peak memory (MB) of a process."""
    start = time.perf_counter()
    process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(text.encode())
    seconds = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"{command}: exit {process.returncode}\n{err.decode()}")
    return out.decode(), err.decode(), seconds


class Zhen:
    name = "zhen"

    def __init__(self, program, model):
        self.command = [program, "-m", model]

    def file(self, text, beam, threads):
        _, err, wall = run(self.command + ["-v", "-b", beam, "-t", threads], text)
        found = re.search(r"and (\d+) target tokens in ([\d.]+) s.*peak memory (\d+) MB", err)
        tokens, _, rss = found.groups()
        # Whole process: start, model, reading, translating, writing.
        return {"tokens/s": int(tokens) / wall, "rss": float(rss)}

    def cold(self):
        return run(self.command + [SENTENCE])[2]

    def warm(self, lines, beam, threads):
        process = subprocess.Popen(
            [str(c) for c in self.command + ["-b", beam, "-t", threads]],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        latencies = []
        for line in [lines[0], *lines]:
            start = time.perf_counter()
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()
            process.stdout.readline()
            latencies.append(time.perf_counter() - start)
        process.stdin.close()
        process.wait()
        return latencies[1:]


class Peer:
    def __init__(self, name, model):
        self.name, self.model = name, model

    def figures(self, mode, text, beam, split):
        inter, intra = split
        _, err, _ = run([sys.executable, BENCH / "peer.py", self.name, self.model, beam, inter,
                         intra, mode], text)
        return json.loads(err.strip().splitlines()[-1])

    def file(self, text, beam, threads):
        """The best of the ways to share out the threads; loading does not count."""
        splits = {(1, threads), (threads, 1)} if self.name == "ctranslate2" else {(1, threads)}
        results = [self.figures("file", text, beam, split) for split in splits]
        best = min(results, key=lambda r: r["seconds"])
        return {"tokens/s": best["tokens"] / best["seconds"], "rss": best["rss"]}

    def cold(self):
        return run([sys.executable, BENCH / "peer.py", self.name, self.model, 4, 1, 2, "file"],
                   SENTENCE + "\n")[2]

    def warm(self, lines, beam, threads):
        return self.figures("warm", "\n".join(lines), beam, (1, threads))["latencies"]


def prepare(args):
    """The same weights in the form that each side wants."""
    floats, converted = args.work / "float", args.work / "ctranslate2"
    stamp = args.work / "model.stamp"
    state = f"{args.model.resolve()} {os.stat(args.model / 'model.safetensors').st_mtime}"
    if stamp.exists() and stamp.read_text() == state:
        return floats, converted
    subprocess.run([sys.executable, BENCH / "dequantize.py", args.model, floats], check=True)
    # A process of its own: what this one has in memory would count as its children's peak.
    subprocess.run([Path(sys.executable).with_name("ct2-transformers-converter"), "--model", floats,
                    "--output_dir", converted, "--quantization", "int8", "--force",
                    "--copy_files", "source.spm", "target.spm"], check=True)
    stamp.write_text(state)
    return floats, converted


def sentences(args):
    """All of flores_dev and --lines lines of other text, cut into sentences by zhen."""
    lines = [line.split("\t")[0] for line in args.flores.read_text().splitlines()]
    others = []
    for path in args.corpus:
        with open(path, encoding="utf8") as file:
            others += [line.split("\t")[0].strip() for line in file]
    step = max(1, len(others) // args.lines)
    lines += [line for line in others[::step] if line][:args.lines]
    if args.quick:
        lines = lines[:300]
    out, _, _ = run([args.zhen, "-m", args.model, "--greedy", "--json"], "\n".join(lines) + "\n")
    cut = [s["source"] for line in out.splitlines() for s in json.loads(line)["sentences"]]
    return [re.sub(r"\s+", " ", s) for s in cut]


def bandwidth(args):
    """Memory bandwidth in GB/s by the kernels' own benchmark, if it was built."""
    program = args.zhen.parents[1] / "bench/bench_kernels"
    if not program.exists():
        return None
    figures = re.findall(r"([\d.]+) GB/s", run([program, "bandwidth"])[0])
    return float(figures[-1])  # of the largest block, which no cache holds


def cpu():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def median_of(runs, key):
    return statistics.median(r[key] for r in runs)


def bench_files(sides, text, args):
    rows = []
    for beam in (1, 4):
        for threads in args.threads:
            runs = {side.name: [] for side in sides}
            for _ in range(args.runs):
                for side in sides:
                    runs[side.name].append(side.file(text, beam, threads))
                    print(beam, threads, side.name, runs[side.name][-1], file=sys.stderr)
            rows.append((beam, threads, {name: (median_of(r, "tokens/s"), median_of(r, "rss"))
                                         for name, r in runs.items()}))
    return rows


def bench_cold(sides, args):
    runs = {side.name: [] for side in sides}
    for _ in range(3 * args.runs):
        for side in sides:
            runs[side.name].append(side.cold())
    return {name: statistics.median(seconds) for name, seconds in runs.items()}


def bench_warm(sides, lines, args):
    rows = []
    for threads in args.threads:
        result = {}
        for side in sides:
            latencies = sorted(side.warm(lines, 4, threads))
            result[side.name] = (statistics.median(latencies),
                                 latencies[int(0.95 * (len(latencies) - 1))])
        rows.append((threads, result))
    return rows


def report(files, cold, warm, args, count):
    ratio = "| {} | {} | {} | {} | {} |"
    lines = [
        "# Results", "",
        f"Written by `bench/run` on {datetime.date.today()}: {cpu()}, {os.cpu_count()} cores, "
        f"Linux {platform.release()}.",
        "Versions: zhen " + run([args.zhen, "--version"])[0].split()[1] + ", " + ", ".join(
            f"{name} {importlib.metadata.version(name)}"
            for name in ("ctranslate2", "transformers", "torch", "sentencepiece")) + ".",
        "OPENBLAS_CORETYPE is " + os.environ.get("OPENBLAS_CORETYPE", "not set") + ".",
        f"Medians of {args.runs} alternating runs. zhen is timed as a whole process; for the peers "
        "loading does not count.", "",
        f"## Files: {count} sentences, target tokens per second (peak memory, MB)", "",
        "| beam | threads | zhen | CTranslate2 int8 | ratio |", "|---|---|---|---|---|",
    ]
    for beam, threads, sides in files:
        ours, theirs = sides["zhen"], sides["ctranslate2"]
        lines.append(ratio.format(beam, threads, f"{ours[0]:.0f} ({ours[1]:.0f})",
                                  f"{theirs[0]:.0f} ({theirs[1]:.0f})",
                                  f"{ours[0] / theirs[0]:.2f}× (memory {ours[1] / theirs[1]:.2f}×)"))
    lines += ["", "## One sentence, cold process, milliseconds", "",
              "| zhen | CTranslate2 in Python | ratio |", "|---|---|---|",
              f"| {1e3 * cold['zhen']:.1f} | {1e3 * cold['ctranslate2']:.0f} | "
              f"{cold['ctranslate2'] / cold['zhen']:.1f}× |", "",
              "## One sentence at a time, warm, beam 4, milliseconds p50 / p95", "",
              "| threads | zhen | CTranslate2 int8 | ratio of p50 |", "|---|---|---|---|"]
    for threads, sides in warm:
        (a, b), (c, d) = sides["zhen"], sides["ctranslate2"]
        lines.append(f"| {threads} | {1e3 * a:.1f} / {1e3 * b:.1f} | {1e3 * c:.1f} / "
                     f"{1e3 * d:.1f} | {c / a:.2f}× |")
    return lines


def roofline(args, files):
    """Bytes of weights that one decoding step of a batch reads, and what memory could deliver."""
    config = json.loads((args.model / "config.json").read_text())
    d, ffn, layers = config["d_model"], config["decoder_ffn_dim"], config["decoder_layers"]
    info = run([args.zhen, "info", args.model])[0]
    outputs = int(re.search(r"(\d+) can be produced", info).group(1))
    step = layers * (6 * d * d + 2 * d * ffn) + outputs * d
    lines = ["", "## Roofline", "",
             f"A decoding step reads {step / 1e6:.2f} MB of int8 weights, whatever the batch."]
    measured = bandwidth(args)
    if measured:
        best = max(sides["zhen"][0] for beam, threads, sides in files if beam == 1)
        lines.append(f"Memory bandwidth of one core: {measured:.1f} GB/s, so a batch of one could "
                     f"not exceed {measured * 1e9 / step:.0f} tokens/s on one core if the weights "
                     f"came from memory; batched, zhen makes {best:.0f} tokens/s: "
                     f"{best * step / 1e9:.1f} GB/s of weights if they were not reused.")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--zhen", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=BENCH.parent / "models/zh-en",
                        help="int8 model directory (default: %(default)s)")
    parser.add_argument("--flores", type=Path, default=BENCH.parent / "data/flores_dev.tsv")
    parser.add_argument("--corpus", type=Path, nargs="*", default=[])
    parser.add_argument("--lines", type=int, default=10000, help="of --corpus (default: 10000)")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--quick", action="store_true", help="300 lines, to try it out")
    parser.add_argument("--transformers", action="store_true", help="measure transformers too (slow)")
    parser.add_argument("--output", type=Path, default=BENCH / "RESULTS.md")
    args = parser.parse_args()
    floats, converted = prepare(args)
    lines = sentences(args)
    text = "\n".join(lines) + "\n"
    sides = [Zhen(args.zhen, args.model), Peer("ctranslate2", converted)]
    files = bench_files(sides, text, args)
    cold = bench_cold(sides, args)
    warm = bench_warm(sides, lines[:100], args)
    result = report(files, cold, warm, args, len(lines))
    if args.transformers:
        flores = "\n".join(lines[:1000]) + "\n"
        result += ["", "## transformers (float32), the first 1,000 sentences, 2 threads", "",
                   "| beam | zhen | transformers | ratio |", "|---|---|---|---|"]
        for beam in (1, 4):
            a = sides[0].file(flores, beam, 2)
            b = Peer("transformers", floats).file(flores, beam, 2)
            result.append(f"| {beam} | {a['tokens/s']:.0f} ({a['rss']:.0f} MB) | "
                          f"{b['tokens/s']:.0f} ({b['rss']:.0f} MB) | "
                          f"{a['tokens/s'] / b['tokens/s']:.1f}× |")
    result += roofline(args, files)
    args.output.write_text("\n".join(result) + "\n")
    print(args.output.read_text())


if __name__ == "__main__":
    main()
