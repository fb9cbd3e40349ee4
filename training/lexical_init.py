#!/usr/bin/env python3
"""Start the source embeddings of a young run from word translations: lexical_init.py DATA RUN

Each Chinese piece receives the mean of the (tied) output embeddings of the English pieces that it is aligned with, so
that rare words are translated long before the model has seen enough of them to learn them one by one. Once, after the
first five million tokens or so, when the English embeddings have taken shape.
"""
import argparse
from pathlib import Path

import numpy as np
import torch

from recipe import checkpoint, parameters as P
from recipe.data import Pairs

NO_LINK = 255
RARE = 0.02  # translations with a smaller share are noise


def translation_table(pairs, a):
    """Sparse (vocabulary, targets): share of each English piece in the links of a Chinese one; and links of each."""
    sentence = np.repeat(np.arange(len(pairs)), np.diff(pairs.target_index))
    links = np.asarray(pairs.align)
    linked = links != NO_LINK
    source = np.asarray(pairs.source)[pairs.source_index[sentence[linked]] + links[linked]].astype(np.int64)
    target = np.asarray(pairs.target)[linked].astype(np.int64)
    cell, count = np.unique(source * a.targets + target, return_counts=True)
    source, target = cell // a.targets, cell % a.targets
    own = (source >= a.targets) & (count >= 2)  # pieces of both languages keep what they have
    source, target, count = source[own], target[own], count[own].astype(np.float32)
    total = np.bincount(source, count, minlength=a.vocabulary)
    share = (count / total[source]).astype(np.float32)
    often = share > RARE
    place = torch.tensor(np.stack([source[often], target[often]]))
    return torch.sparse_coo_tensor(place, torch.tensor(share[often]), (a.vocabulary, a.targets)), torch.tensor(total)


def start_from(table, total, a, embedding):
    """Set the rows with translations, in the length that source rows have."""
    english = embedding[:a.targets] - embedding[:a.targets].mean(0)
    mean = torch.sparse.mm(table, english)
    length = mean.norm(dim=1, keepdim=True)
    known = (total >= 3) & (length[:, 0] > 1e-3)
    usual = embedding[a.targets:a.pad].norm(dim=1).mean()
    embedding[known] = (mean / length.clamp_min(1e-6) * usual)[known]
    return int(known.sum())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("data", type=Path)
    p.add_argument("run", type=Path)
    o = p.parse_args()
    state = checkpoint.load(o.run / "last.pt")
    a = state["architecture"]
    table, total = translation_table(Pairs(o.data, "train", a.pad, aligned=True), a)
    vectors = [state["flat"]] + ([state["optimiser"]["average"]] if state["optimiser"] else [])
    for flat in vectors:
        rows = start_from(table, total, a, P.views(a, flat)[P.SHARED])
    checkpoint.save(o.run / "last.pt", a, *(state[k] for k in ("flat", "optimiser", "order", "counts")))
    print(f"{rows} of {a.vocabulary - a.targets} source pieces start from their translations")


if __name__ == "__main__":
    main()
