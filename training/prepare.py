#!/usr/bin/env python3
"""From corpora to packed ids: prepare.py CORPUS DEV.tsv DATA

CORPUS: directory of *.tsv or *.tsv.xz files, `zh TAB en` a line. DEV.tsv: pairs for the dev loss; they, and the pairs of
every --hold-out file, stay out of training. DATA receives the pieces, the packed splits and the word alignments, as
recipe/data.py describes them. With --pieces the SentencePiece models of a model directory are taken, as they must be
when its training shall go on; without, new ones are learnt. Corpora that the mixture wants fresh give only pairs whose
translation is in none of the --seen DATA.
"""
import argparse
import os
from pathlib import Path
import random
import subprocess

import numpy as np
import opencc

from recipe import corpora, data, marian, pieces, text

HERE = Path(__file__).resolve().parent
LONGEST = 160  # pieces of a side


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("corpus", type=Path)
    p.add_argument("dev", type=Path)
    p.add_argument("data", type=Path)
    p.add_argument("--mixture", type=Path, default=HERE / "mixture.toml")
    p.add_argument("--hold-out", type=Path, nargs="*", default=[], metavar="TSV")
    p.add_argument("--pieces", type=Path, metavar="MODEL", help="take the pieces of this directory")
    p.add_argument("--seen", type=Path, nargs="*", default=[], metavar="DATA", help="what was trained on before")
    p.add_argument("--source-pieces", type=int, default=16000)
    p.add_argument("--target-pieces", type=int, default=10000)
    p.add_argument("--align-rounds", type=int, default=4)
    return p.parse_args()


def seen_translations(directories):
    """The keys of all translations in packed data."""
    keys = set()
    for directory in directories:
        vocabulary = pieces.Pieces(directory)
        pairs = data.Pairs(directory, "train", len(vocabulary.ids) - 1)
        keys.update(map(text.key, vocabulary.translations(pairs)))
    return keys


def pack(directory, split, encoded):
    """Write a split as recipe/data.py reads it."""
    for side, name in ((0, "src"), (1, "tgt")):
        ids = [pair[side] for pair in encoded]
        index = np.concatenate([[0], np.cumsum([len(x) for x in ids])]).astype(np.int64)
        np.save(directory / f"{split}.{name}.npy", np.concatenate(ids))
        np.save(directory / f"{split}.{name}.index.npy", index)


def align(directory, rounds):
    program = HERE / "native" / "build" / "align"
    program.parent.mkdir(exist_ok=True)
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-O3", "-march=native", str(HERE / "native" / "align.c"),
                    "-o", str(program), "-lm"], check=True)
    subprocess.run([str(program), str(directory), str(rounds)], check=True)


def main():
    o = arguments()
    o.data.mkdir(parents=True, exist_ok=True)
    mixture = corpora.read_mixture(o.mixture)
    chance = random.Random(mixture.seed)
    dev = list(corpora.rows(o.dev))
    held_out = [side for f in (o.dev, *o.hold_out) for row in corpora.rows(f) for side in row[:2]]
    pairs, counts = corpora.mix(o.corpus, mixture, held_out, seen_translations(o.seen))
    simplify = opencc.OpenCC("t2s").convert  # the pieces do it too, but a character at a time
    pairs = [(simplify(zh), *rest) for zh, *rest in pairs]
    if o.pieces:
        pieces.bring(o.pieces, o.data)
    else:
        pieces.learn(pairs, o.data, o.source_pieces, o.target_pieces, chance)
    vocabulary = pieces.Pieces(o.data)
    vocabulary.write(o.data)
    encoded = vocabulary.encode(pairs, mixture.sampled, mixture.seed)
    encoded = [p for p in encoded if all(0 < len(side) <= LONGEST for side in p)]
    pack(o.data, "train", encoded)
    pack(o.data, "dev", vocabulary.encode(dev))
    marian.write_json(o.data / "meta.json", dict(vocabulary=len(vocabulary.ids), targets=vocabulary.targets,
                                                 pairs=len(encoded), corpora=counts))
    align(o.data, o.align_rounds)
    tokens = sum(len(t) + 1 for _, t in encoded)
    print(f"{len(encoded)} pairs, {tokens / 1e6:.1f} M target tokens")


if __name__ == "__main__":
    main()
