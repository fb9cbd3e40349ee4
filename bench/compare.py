"""Measure zhen against CTranslate2 and transformers; called by bench/run, see there.

Sides take turns (ours, theirs, ours, theirs, ...), so that a machine whose speed drifts is fair to
both. Every peer gets the same weights (the int8 model turned back into float, then converted by the
peer's own converter), the same sentences (cut by zhen, so that nobody is slowed by longer lines;
each once, so that zhen's memory of what it has translated is of no use) and the same number of
threads. CTranslate2's batch size and the way it shares out the threads are tuned first, for each
number of threads and each beam, on a part of the text.
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
PARTS = ["files", "cold", "warm", "pairs"]
TUNING_SENTENCES = 192
COLD_RUNS = 20
WARM_SENTENCES, WARM_BLOCK = 100, 20
PAIR_SENTENCES, PAIR_RUNS = 500, 5


def say(*what):
    print(f"[{time.perf_counter() - say.start:5.0f} s]", *what, file=sys.stderr, flush=True)


say.start = time.perf_counter()


def run(command, text=""):
    """Output, standard error and wall seconds of a process."""
    start = time.perf_counter()
    process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(text.encode())
    seconds = time.perf_counter() - start
    if process.returncode:
        sys.exit(f"{command}: exit {process.returncode}\n{err.decode()}")
    return out.decode(), err.decode(), seconds


class Server:
    """A process that answers each line with its translation."""

    def __init__(self, command):
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def latency(self, line):
        start = time.perf_counter()
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        if not self.process.stdout.readline():
            sys.exit(f"{self.process.args}: no answer")
        return time.perf_counter() - start

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Zhen:
    name = "zhen"

    def __init__(self, program, model):
        self.command = [program, "-m", model]

    def file(self, text, beam, threads):
        """Tokens, seconds and MB. The whole process: start, model, reading, translating, writing."""
        _, err, wall = run(self.command + ["-v", "-b", beam, "-t", threads], text)
        found = re.search(r"and (\d+) target tokens in ([\d.]+) s.*peak memory (\d+) MB", err)
        return {"tokens": int(found.group(1)), "seconds": wall, "rss": float(found.group(3))}

    def cold(self):
        return run(self.command + [SENTENCE])[2]

    def serve(self, beam, threads, sample):
        return Server(self.command + ["-b", beam, "-t", threads])


class Peer:
    def __init__(self, name, model):
        self.name, self.model = name, model
        self.tuned = {}  # (beam, threads): inter, intra, batch

    def command(self, beam, settings, mode):
        return [sys.executable, BENCH / "peer.py", self.name, self.model, beam, *settings, mode]

    def figures(self, beam, settings, mode, text):
        _, err, seconds = run(self.command(beam, settings, mode), text)
        return json.loads(err.strip().splitlines()[-1]) | {"wall": seconds}

    def tune(self, text, beam, threads):
        """Finds the best of the ways to share out the threads, each with the best batch size."""
        best = None
        for inter, intra in sorted({(1, threads), (threads, 1)}):
            seconds = self.figures(beam, (inter, intra, 64), "tune", text)["seconds"]
            for batch, took in seconds.items():
                if best is None or took < best:
                    best, self.tuned[beam, threads] = took, (inter, intra, batch)
        inter, intra, batch = self.tuned[beam, threads]
        say(f"{self.name}, beam {beam}, {threads} threads: best with {inter} x {intra}, "
            f"batches of {batch}")

    def file(self, text, beam, threads):
        """Tokens, seconds and MB. Loading does not count."""
        return self.figures(beam, self.tuned.get((beam, threads), (1, threads, 64)), "file", text)

    def cold(self):
        return self.figures(4, (1, 2, 64), "file", SENTENCE + "\n")["wall"]

    def serve(self, beam, threads, sample):
        """With one thread or all, whichever answers a few lines sooner."""
        servers = {}
        for intra in sorted({1, threads}):
            server = Server(self.command(beam, (1, intra, 64), "serve"))
            server.latency(sample[0])
            servers[statistics.median(server.latency(line) for line in sample)] = server
        best = servers.pop(min(servers))
        for server in servers.values():
            server.close()
        return best


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
    lines = [line.split("\t")[0] for line in args.flores.read_text().split("\n") if line]
    others = []
    for path in args.corpus:
        with open(path, encoding="utf8") as file:
            others += [line.split("\t")[0].strip() for line in file]
    step = max(1, len(others) // args.lines)
    lines += [line for line in others[::step] if line][:args.lines]
    if args.quick:
        lines = lines[:300]
    out, _, _ = run([args.zhen, "-m", args.model, "--greedy", "--json"], "\n".join(lines) + "\n")
    cut = [s["source"] for line in out.split("\n") if line for s in json.loads(line)["sentences"]]
    return list(dict.fromkeys(re.sub(r"\s+", " ", s) for s in cut))


def as_text(lines):
    return "\n".join(lines) + "\n"


def cpu():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


# ---- Files ---------------------------------------------------------------------------------------


def rate(runs):
    return sum(r["tokens"] for r in runs) / sum(r["seconds"] for r in runs)


def bench_files(sides, lines, args):
    """Rows of beam, threads and, for each side, its runs. Each run gets another part of the text."""
    ours, theirs = sides
    parts = [as_text(lines[i::args.runs]) for i in range(args.runs)]
    sample = as_text(lines[::max(1, len(lines) // TUNING_SENTENCES)][:TUNING_SENTENCES])
    rows = []
    for beam in args.beams:
        for threads in args.threads:
            theirs.tune(sample, beam, threads)
            runs = {ours.name: [], theirs.name: []}
            for part in parts:
                for side in sides:
                    runs[side.name].append(side.file(part, beam, threads))
                    say(f"{side.name}, beam {beam}, {threads} threads:",
                        f"{rate(runs[side.name][-1:]):.0f} tokens/s")
            rows.append((beam, threads, runs))
    return rows


def report_files(rows, theirs, count, runs):
    lines = ["", f"## Files: {count} sentences, target tokens per second (peak memory, MB)", "",
             f"Each side translates the text once, in {runs} turns. zhen is timed as a whole "
             "process; for CTranslate2 loading does not count.", "",
             "| beam | threads | zhen | CTranslate2 int8 | its threads and batches | ratio |",
             "|---|---|---|---|---|---|"]
    for beam, threads, sides in rows:
        figures = {name: (rate(r), max(x["rss"] for x in r)) for name, r in sides.items()}
        (a, a_rss), (b, b_rss) = figures["zhen"], figures["ctranslate2"]
        inter, intra, batch = theirs.tuned[beam, threads]
        unit = "tokens" if batch.endswith("t") else "sentences"
        lines.append(f"| {beam} | {threads} | {a:.0f} ({a_rss:.0f}) | {b:.0f} ({b_rss:.0f}) | "
                     f"{inter} × {intra}, {batch.rstrip('t')} {unit} | "
                     f"{a / b:.2f}× (memory {a_rss / b_rss:.2f}×) |")
    return lines


# ---- One sentence --------------------------------------------------------------------------------


def bench_cold(sides):
    runs = {side.name: [] for side in sides}
    for _ in range(COLD_RUNS):
        for side in sides:
            runs[side.name].append(1e3 * side.cold())
    return {name: statistics.median(times) for name, times in runs.items()}


def report_cold(cold):
    return ["", "## One sentence, cold process, milliseconds", "",
            f"Medians of {COLD_RUNS} runs in turn.", "",
            "| zhen | CTranslate2 in Python | ratio |", "|---|---|---|",
            f"| {cold['zhen']:.1f} | {cold['ctranslate2']:.0f} | "
            f"{cold['ctranslate2'] / cold['zhen']:.1f}× |"]


def bench_warm(sides, lines, args):
    """Rows of threads and, for each side, median and 95th percentile in milliseconds."""
    rows = []
    for threads in args.threads:
        servers = {side.name: side.serve(4, threads, lines[:WARM_BLOCK]) for side in sides}
        latencies = {name: [] for name in servers}
        for begin in range(0, len(lines), WARM_BLOCK):
            for name, server in servers.items():
                server.latency(lines[0])
                latencies[name] += [1e3 * server.latency(line)
                                    for line in lines[begin:begin + WARM_BLOCK]]
        for server in servers.values():
            server.close()
        rows.append((threads, {name: (statistics.median(l), sorted(l)[int(0.95 * (len(l) - 1))])
                               for name, l in latencies.items()}))
    return rows


def report_warm(rows):
    lines = ["", "## One sentence at a time, warm, beam 4, milliseconds p50 / p95", "",
             "| threads | zhen | CTranslate2 int8 | ratio of p50 |", "|---|---|---|---|"]
    for threads, sides in rows:
        (a, b), (c, d) = sides["zhen"], sides["ctranslate2"]
        lines.append(f"| {threads} | {a:.1f} / {b:.1f} | {c:.1f} / {d:.1f} | {c / a:.2f}× |")
    return lines


# ---- Two processes side by side ------------------------------------------------------------------


def seconds_together(commands, text):
    """Wall time from the start of the first to the end of the last of several processes."""
    start = time.perf_counter()
    processes = []
    for command in commands:
        with open(text, "rb") as source:
            processes.append(subprocess.Popen([str(c) for c in command], stdin=source,
                                              stdout=subprocess.DEVNULL))
    if any([process.wait() for process in processes]):
        sys.exit(f"{commands[0]}: failed")
    return time.perf_counter() - start


def bench_pairs(zhen, lines, args):
    """Rows of a description, the seconds of each run not side by side, and side by side."""
    text = args.work / "pairs.txt"
    text.write_text(as_text(lines))
    one, two = ([*zhen.command, "-t", str(t)] for t in (1, 2))
    times = {name: [] for name in ("one", "both", "in turn", "together")}
    for _ in range(PAIR_RUNS):
        times["one"].append(seconds_together([one], text))
        times["both"].append(seconds_together([one, one], text))
        times["in turn"].append(sum(seconds_together([two], text) for _ in range(2)))
        times["together"].append(seconds_together([two, two], text))
    return [("two of one thread; one alone", times["one"], times["both"]),
            ("two of two threads; one after the other", times["in turn"], times["together"])]


def report_pairs(rows, count):
    lines = ["", "## Two zhen processes side by side on two cores", "",
             f"Each translates {count} sentences, beam 4; seconds, medians of {PAIR_RUNS} runs. Two "
             "that share nothing but the cores would have a ratio of 1.", "",
             "| | not side by side | side by side | ratio |", "|---|---|---|---|"]
    for name, apart, together in rows:
        ratio = statistics.median(b / a for a, b in zip(apart, together))
        lines.append(f"| {name} | {statistics.median(apart):.2f} | "
                     f"{statistics.median(together):.2f} | {ratio:.2f} |")
    return lines


# ---- transformers, memory ------------------------------------------------------------------------


def report_transformers(zhen, peer, lines):
    text = as_text(lines)
    say(f"transformers: {len(lines)} sentences, some minutes")
    result = ["", f"## transformers (float32), {len(lines)} sentences, 2 threads", "",
              "| | zhen int8 | transformers | ratio |", "|---|---|---|---|"]
    for beam in (1, 4):
        a, b = zhen.file(text, beam, 2), peer.file(text, beam, 2)
        result.append(f"| beam {beam}, tokens/s (MB) | {rate([a]):.0f} ({a['rss']:.0f}) | "
                      f"{rate([b]):.0f} ({b['rss']:.0f}) | {rate([a]) / rate([b]):.0f}× |")
    a, b = zhen.file(SENTENCE + "\n", 4, 2), peer.figures(4, (1, 2, 64), "file", SENTENCE + "\n")
    return result + [f"| cold process to the first translation, s (MB) | {a['seconds']:.3f} "
                     f"({a['rss']:.0f}) | {b['wall']:.2f} ({b['rss']:.0f}) | "
                     f"{b['wall'] / a['seconds']:.0f}× |"]


def bandwidth(args):
    """Memory bandwidth in GB/s by the kernels' own benchmark, if it was built."""
    program = args.zhen.parents[1] / "bench/bench_kernels"
    if not program.exists():
        return None
    figures = re.findall(r"([\d.]+) GB/s", run([program, "bandwidth"])[0])
    return float(figures[-1])  # of the largest block, which no cache holds


def report_roofline(args, files):
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
        best = max(rate(sides["zhen"]) for beam, threads, sides in files)
        lines.append(f"Memory bandwidth of one core: {measured:.1f} GB/s, so a batch of one could "
                     f"not exceed {measured * 1e9 / step:.0f} tokens/s on one core if the weights "
                     f"came from memory; batched, zhen makes {best:.0f} tokens/s: "
                     f"{best * step / 1e9:.1f} GB/s of weights if they were not reused.")
    return lines


# ---- All of it -----------------------------------------------------------------------------------


def heading(args):
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in
                         ("ctranslate2", "transformers", "torch", "sentencepiece"))
    return ["# Results", "",
            f"Written by `bench/run` on {datetime.date.today()}: {cpu()}, {os.cpu_count()} cores, "
            f"Linux {platform.release()}.",
            f"Versions: zhen {run([args.zhen, '--version'])[0].split()[1]}, {versions}.",
            "OPENBLAS_CORETYPE is " + os.environ.get("OPENBLAS_CORETYPE", "not set") + "."]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zhen", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--model", type=Path, default=BENCH.parent / "models/zh-en",
                        help="int8 model directory (default: %(default)s)")
    parser.add_argument("--flores", type=Path, default=BENCH.parent / "data/flores_dev.tsv")
    parser.add_argument("--corpus", type=Path, nargs="*", default=[])
    parser.add_argument("--lines", type=int, default=10000, help="of --corpus (default: 10000)")
    parser.add_argument("--runs", type=int, default=3,
                        help="turns that the files are dealt out to (default: %(default)s)")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--beams", type=int, nargs="*", default=[1, 4])
    parser.add_argument("--quick", action="store_true", help="300 lines, to try it out")
    parser.add_argument("--only", choices=PARTS, nargs="*",
                        help="these parts alone; prints, and writes --output only if it is given")
    parser.add_argument("--transformers", action="store_true", help="measure transformers too (slow)")
    parser.add_argument("--output", type=Path, help="default: RESULTS.md here, unless --only")
    args = parser.parse_args()
    if not args.output and not args.only:
        args.output = BENCH / "RESULTS.md"
    args.only = args.only or PARTS
    return args


def main():
    args = arguments()
    floats, converted = prepare(args)
    lines = sentences(args)
    say(f"{len(lines)} sentences")
    zhen, theirs = Zhen(args.zhen, args.model), Peer("ctranslate2", converted)
    result = heading(args)
    files = []
    if "files" in args.only:
        files = bench_files((zhen, theirs), lines, args)
        result += report_files(files, theirs, len(lines), args.runs)
    if "cold" in args.only:
        result += report_cold(bench_cold((zhen, theirs)))
    if "warm" in args.only:
        result += report_warm(bench_warm((zhen, theirs), lines[:WARM_SENTENCES], args))
    if "pairs" in args.only:
        result += report_pairs(bench_pairs(zhen, lines[:PAIR_SENTENCES], args),
                               len(lines[:PAIR_SENTENCES]))
    if args.transformers:
        result += report_transformers(zhen, Peer("transformers", floats), lines[:1000])
    if files:
        result += report_roofline(args, files)
    say("done")
    print("\n".join(result))
    if args.output:
        args.output.write_text("\n".join(result) + "\n")


if __name__ == "__main__":
    main()
