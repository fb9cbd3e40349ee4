#!/usr/bin/env python3
"""Picture of a run's curves: curves.py RUN [RUN ...] OUT.png

Loss in training and on the dev set over target tokens seen, and the speed, from RUN/log.jsonl.
"""
import argparse
import json
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt


def read(run):
    """The rows of a run, without those that a kill has undone: more was logged than the checkpoint held."""
    with open(run / "log.jsonl", encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    kept = []
    for row in reversed(rows):
        if not kept or row["tokens"] <= kept[-1]["tokens"]:
            kept.append(row)
    return kept[::-1]


def draw(axis, rows, key, label, **style):
    points = [(r["tokens"] / 1e6, r[key]) for r in rows if key in r]
    if points:
        axis.plot(*zip(*points), label=label, **style)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("runs", type=Path, nargs="+")
    p.add_argument("out", type=Path)
    o = p.parse_args()
    figure, (loss, speed) = plt.subplots(2, 1, sharex=True, figsize=(8, 7), height_ratios=(3, 1))
    for run in o.runs:
        rows = read(run)
        draw(loss, rows, "nll", f"{run.name}: training", linewidth=0.7, alpha=0.6)
        draw(loss, rows, "dev", f"{run.name}: dev", marker=".")
        draw(loss, rows, "dev_average", f"{run.name}: dev, moving average", marker=".")
        draw(speed, rows, "tokens_per_s", run.name, linewidth=0.7)
    loss.set_ylabel("negative log-likelihood per token")
    loss.legend()
    speed.set_ylabel("tokens/s")
    speed.set_xlabel("million target tokens")
    for axis in (loss, speed):
        axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(o.out, dpi=120)


if __name__ == "__main__":
    main()
