#!/usr/bin/env python3
"""Train, or go on training: train.py DATA RUN --until TIME|--minutes M

DATA is what prepare.py wrote; RUN, created where missing, receives last.pt, the checkpoint that the next call goes
on from by itself and that export.py reads, and log.jsonl, the curves. A new run begins with fresh parameters or, with
--init, with those of a model directory (fp32 or int8).

Kill it as you like: -9 loses what came after the last checkpoint, a plain kill makes one first.

The learning rates rise over --warmup steps, stay, and with --decay-minutes M fall to 0 over the last M minutes. A run
that shall go on later is trained without decay; the decay is trained in a copy of it (--from RUN/last.pt).
"""
import argparse
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
import json
import math
import signal
import sys
import time

import torch

from recipe import checkpoint, engines, marian, parameters as P
from recipe.data import Order, Pairs, in_order
from recipe.optimiser import Optimiser

AVERAGE_EVERY = 10  # steps
LOG_EVERY = 20


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("data", type=Path)
    p.add_argument("run", type=Path)
    p.add_argument("--init", type=Path, metavar="MODEL", help="model directory to begin from")
    p.add_argument("--from", dest="source", type=Path, metavar="FILE", help="checkpoint of another run to go on from")
    p.add_argument("--minutes", type=float, help="stop after so many minutes")
    p.add_argument("--until", metavar="HH:MM", help="stop at this time of day (the next one)")
    p.add_argument("--steps", type=int, help="stop when the run has made so many steps")
    p.add_argument("--decay-minutes", type=float, default=0)
    p.add_argument("--warmup", type=int, default=300, help="steps; a resumed run takes a sixth of them")
    p.add_argument("--save-minutes", type=float, default=10)
    p.add_argument("--adam-rate", type=float, default=1e-3)
    p.add_argument("--muon-rate", type=float, default=0.01)
    p.add_argument("--smooth", type=float, default=0.1, help="label smoothing")
    p.add_argument("--guide", type=float, default=0.3, help="weight of the word alignments; 0 without")
    p.add_argument("--tokens", type=int, help="tokens in a batch (512; on a GPU 16384)")
    p.add_argument("--step-tokens", type=int, help="target tokens in a step (8192; on a GPU 16384)")
    p.add_argument("--longest", type=int, default=100, help="pairs with more tokens on a side are left out")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--engine", choices=("auto", "native", "torch"), default="auto")
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--threads", type=int, help="of the native engine")
    for name, default in (("d", 256), ("heads", 4), ("ff", 1024), ("encoder-layers", 6), ("decoder-layers", 2)):
        p.add_argument("--" + name, type=int, default=default, help="of a fresh network")
    options = p.parse_args()
    gpu = options.device != "cpu"
    options.tokens = options.tokens or (16384 if gpu else 512)
    options.step_tokens = options.step_tokens or (16384 if gpu else 8192)
    return options


def end_time(options):
    """Seconds since the epoch, or infinity."""
    if options.until:
        hour, minute = map(int, options.until.split(":"))
        end = datetime.now().replace(hour=hour, minute=minute, second=0)
        return (end if end > datetime.now() else end + timedelta(days=1)).timestamp()
    return time.time() + 60 * options.minutes if options.minutes else float("inf")


class Run:
    """A training run: parameters, optimiser, place in the data, counts."""

    def __init__(self, options):
        self.options = options
        options.run.mkdir(parents=True, exist_ok=True)
        self.file = options.run / "last.pt"
        self.log_file = options.run / "log.jsonl"
        if options.source and not options.source.exists():
            sys.exit(f"{options.source}: no such checkpoint")
        state = self._state()
        self.a, flat = (state["architecture"], state["flat"]) if state else self._fresh()
        self.flat = flat.to(options.device)
        self.train = Pairs(options.data, "train", self.a.pad, aligned=options.guide > 0)
        self.order = Order(self.train, options.seed, options.tokens, options.longest)
        if not len(self.order.rows):
            sys.exit(f"{options.data}: no training pair of at most {options.longest} pieces")
        dev = Pairs(options.data, "dev", self.a.pad)
        longest = max(options.longest, dev.source_length.max(initial=0), dev.target_length.max(initial=0))
        self.engine = engines.choose(options.engine, self.a, self.flat, options.smooth, options.guide,
                                     longest=int(longest), threads=options.threads)
        self.optimiser = Optimiser(self.a, self.flat, self.engine.gradient, options.adam_rate, options.muon_rate)
        self.counts = dict(step=0, tokens=0, pairs=0, seconds=0.0)
        if state:
            self._take(state)
        self.first_step = self.counts["step"]
        self.dev = in_order(dev, options.tokens)
        self.end = end_time(options)
        signal.signal(signal.SIGTERM, self._stop)

    def _stop(self, *_):
        """kill PID: finish the step, save, leave."""
        self.end = 0

    def _state(self):
        for path in (self.file, self.options.source):
            if path and path.exists():
                return checkpoint.load(path)
        return None

    def _fresh(self):
        o = self.options
        if o.init:
            return marian.read_model(o.init)
        sizes = marian.read_json(o.data / "meta.json")
        a = P.Architecture(sizes["vocabulary"], sizes["targets"], o.d, o.heads, o.ff, o.encoder_layers,
                           o.decoder_layers)
        return a, P.initialise(a, o.seed)

    def _take(self, state):
        self.counts = state["counts"]
        if state["optimiser"]:
            self.optimiser.resume(state["optimiser"])
        if state["order"] and not self.order.resume(state["order"]):
            print("the data have changed since the checkpoint: a new pass over them begins", flush=True)

    def save(self, place):
        checkpoint.save(self.file, self.a, self.flat, self.optimiser.state(), place, self.counts)

    def log(self, **row):
        with open(self.log_file, "a", encoding="utf-8") as f:
            f.write(json.dumps({"time": round(time.time(), 1), **self.counts, **row}) + "\n")
        print(" ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in row.items()), flush=True)

    def measure(self):
        """Dev loss per token of the parameters and of their average."""
        plain = self.engine.measure(self.dev, self.flat).per_token()["nll"]
        average = self.engine.measure(self.dev, self.optimiser.average).per_token()["nll"]
        self.log(dev=round(plain, 4), dev_average=round(average, 4), Mtok=round(self.counts["tokens"] / 1e6, 2))

    def take_batches(self):
        """Batches of one step, and the place in the order after them."""
        batches, tokens = [], 0
        while tokens < self.options.step_tokens:
            batches.append(self.train.batch(self.order.next()))
            tokens += int((batches[-1].output >= 0).sum())
        return batches, self.order.state()

    def factor(self):
        """What the learning rates are multiplied with at this moment."""
        step, o = self.counts["step"], self.options
        f = min(1.0, (step + 1) / o.warmup)
        if self.first_step:
            f = min(f, (step - self.first_step + 1) / (o.warmup / 6))
        if o.decay_minutes:
            f *= max(0.0, min(1.0, (self.end - time.time()) / (60 * o.decay_minutes)))
        return f

    def left(self, now):
        """What the log says of the time that is left; nothing where no end is set."""
        return dict(left_min=round((self.end - now) / 60, 1)) if math.isfinite(self.end) else {}

    def finished(self):
        return time.time() >= self.end or (self.options.steps and self.counts["step"] >= self.options.steps)


def train(run):
    """Steps until the end. The next step's batches are put together while this one's gradient is made; the place that
    is saved is that of the batches that have been used."""
    o = run.options
    ahead = ThreadPoolExecutor(1)
    coming = ahead.submit(run.take_batches)
    place = run.order.state()
    sums, last_log, last_save = engines.Stats(), time.time(), time.time()
    while not run.finished():
        batches, after = coming.result()
        coming = ahead.submit(run.take_batches)
        stats = run.engine.run(batches)
        factor = run.factor()
        run.optimiser.step(stats.tokens, factor)
        place, sums = after, sums + stats
        run.counts["step"] += 1
        run.counts["tokens"] += stats.tokens
        run.counts["pairs"] += sum(len(b.source) for b in batches)
        if run.counts["step"] % AVERAGE_EVERY == 0:
            run.optimiser.average_in(run.counts["step"], AVERAGE_EVERY)
        if run.counts["step"] % LOG_EVERY == 0:
            now = time.time()
            run.counts["seconds"] += now - last_log
            run.log(step=run.counts["step"], Mtok=round(run.counts["tokens"] / 1e6, 2),
                    **{k: round(v, 3) for k, v in sums.per_token().items()}, rate=round(factor, 3),
                    tokens_per_s=round(sums.tokens / (now - last_log)), **run.left(now))
            sums, last_log = engines.Stats(), now
        if time.time() - last_save > 60 * o.save_minutes:
            begin = time.time()
            run.save(place)
            run.measure()
            last_save = time.time()
            last_log += last_save - begin  # this is no training time
    run.save(place)
    run.measure()


if __name__ == "__main__":
    train(Run(arguments()))
