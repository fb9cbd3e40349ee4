#!/usr/bin/env python3
"""Picture of a run's curves: curves.py RUN [RUN ...] OUT.png

Loss in training and on the dev set over target tokens seen, and the speed, from RUN/log.jsonl.
"""
import argparse
import json
from pathlib import Path

import matplotlib
matplotlib.use("Agg")
from matplotlib.lines import Line2D
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


# What is drawn of a run, in its colour: key, name, style.
CURVES = (("nll", "training", dict(linewidth=0.7, alpha=0.5)),
          ("dev", "dev", dict(marker=".", linestyle=":")),
          ("dev_average", "dev, moving average", dict(marker=".")))


def draw(axis, rows, key, **style):
    points = [(r["tokens"] / 1e6, r[key]) for r in rows if key in r]
    if points:
        axis.plot(*zip(*points), **style)


def explain(axis, runs):
    """The legend: a line for each colour and for each style."""
    lines = [Line2D([], [], color=f"C{i}", label=run.name) for i, run in enumerate(runs)]
    lines += [Line2D([], [], color="grey", label=name, **style) for _, name, style in CURVES]
    axis.legend(handles=lines, fontsize="small", ncols=2)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("runs", type=Path, nargs="+")
    p.add_argument("out", type=Path)
    o = p.parse_args()
    figure, (loss, speed) = plt.subplots(2, 1, sharex=True, figsize=(8, 7), height_ratios=(3, 1))
    speeds = []
    for i, run in enumerate(o.runs):
        rows = read(run)
        for key, _, style in CURVES:
            draw(loss, rows, key, color=f"C{i}", **style)
        draw(speed, rows, "tokens_per_s", color=f"C{i}", linewidth=0.7)
        speeds += [r["tokens_per_s"] for r in rows if "tokens_per_s" in r]
    explain(loss, o.runs)
    loss.set_ylabel("negative log-likelihood per token")
    speed.set_ylabel("tokens/s")
    speed.set_xlabel("million target tokens")
    if speeds:  # a process that stood still makes up for it in a step
        speed.set_ylim(0, 1.3 * sorted(speeds)[len(speeds) * 99 // 100])
    for axis in (loss, speed):
        axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(o.out, dpi=100)


if __name__ == "__main__":
    main()
