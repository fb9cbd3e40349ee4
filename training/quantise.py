#!/usr/bin/env python3
"""int8 form of a model directory, by the program itself: quantise.py MODEL OUT [--zhen PROGRAM]"""
import argparse
from pathlib import Path

from recipe import program


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("model", type=Path)
    p.add_argument("out", type=Path)
    p.add_argument("--zhen", default=program.find(), help="the program (default: %(default)s)")
    o = p.parse_args()
    program.quantise(o.zhen, o.model, o.out)
    sizes = [(d / "model.safetensors").stat().st_size / 1e6 for d in (o.model, o.out)]
    print(f"{sizes[0]:.1f} MB -> {sizes[1]:.1f} MB in {o.out}")


if __name__ == "__main__":
    main()
