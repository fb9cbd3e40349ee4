"""Packed pairs and the order in which training sees them.

A split is four arrays beside one another, written by prepare.py: train.src.npy, train.tgt.npy hold the ids of all
sentences end to end (uint16, without </s>), train.src.index.npy, train.tgt.index.npy where each begins; train.align.npy
has for each target token the position of its source token, or 255.
"""
from dataclasses import dataclass
from pathlib import Path
import zlib

import numpy as np
import torch

from .parameters import END


@dataclass
class Batch:
    """Pairs with sources of one length S, targets padded to T. source (B, S), input, output, guide (B, T): input
    begins with <pad>; output is -1 where padded; guide is the aligned source position or -1, or None."""
    source: object
    input: object
    output: object
    guide: object = None

    def arrays(self):
        return self.source, self.input, self.output, self.guide

    def to(self, device):
        move = lambda x: None if x is None else torch.as_tensor(x, dtype=torch.long).to(device)
        return Batch(*map(move, self.arrays()))


class Pairs:
    """A split of the packed data; with `aligned`, its word alignments too."""

    def __init__(self, directory, split, pad, aligned=False):
        load = lambda name: np.load(Path(directory) / f"{split}.{name}.npy", mmap_mode="r")
        self.pad = pad
        self.source, self.target = load("src"), load("tgt")
        self.source_index, self.target_index = np.asarray(load("src.index")), np.asarray(load("tgt.index"))
        self.align = load("align") if aligned else None
        self.source_length = np.diff(self.source_index).astype(np.int32) + 1  # with </s>
        self.target_length = np.diff(self.target_index).astype(np.int32) + 1

    def __len__(self):
        return len(self.source_length)

    def fingerprint(self):
        """Changes with the data: a checkpoint's place in the order is good for the same data only."""
        return zlib.crc32(self.source_index.tobytes() + self.target_index.tobytes())

    def batch(self, rows):
        """rows: numbers of pairs with equal source lengths."""
        s, t = int(self.source_length[rows[0]]), int(self.target_length[rows].max())
        source = np.full((len(rows), s), END, np.int32)
        column = np.arange(s - 1)
        source[:, :s - 1] = self.source[self.source_index[rows][:, None] + column]
        column = np.arange(t)
        length = self.target_length[rows][:, None]
        place = np.minimum(self.target_index[rows][:, None] + column, len(self.target) - 1)
        output = np.where(column < length - 1, self.target[place].astype(np.int32), np.where(column < length, END, -1))
        shifted = np.full_like(output, self.pad)
        shifted[:, 1:] = np.where(output[:, :-1] >= 0, output[:, :-1], self.pad)
        return Batch(source, shifted, output.astype(np.int32), self._guide(place, column, length, s))

    def _guide(self, place, column, length, s):
        if self.align is None:
            return None
        key = self.align[place].astype(np.int32)
        key = np.where((key == 255) | (column >= length), -1, key)
        return np.where(column == length - 1, s - 1, key).astype(np.int32)  # end of sentence looks at end of sentence


def cut_batches(pairs, rows, tokens, random):
    """Arrays of pair numbers: sources of one length, targets of nearly one, about `tokens` tokens on the longer side."""
    s, t = pairs.source_length[rows], pairs.target_length[rows]
    rows = rows[np.lexsort((random.random(len(rows)), t, s))]
    s, t = pairs.source_length[rows], pairs.target_length[rows]
    batches, i = [], 0
    end_of_length = np.searchsorted(s, s, side="right")
    while i < len(rows):
        count = max(1, tokens // max(s[i], t[i]))
        j = min(i + count, end_of_length[i])
        j = i + max(1, int(np.searchsorted(t[i:j], t[i] + 2 + t[i] // 4, side="right")))  # little padding
        longest = max(s[i], t[j - 1])
        j = min(j, i + max(1, tokens // longest))
        batches.append(rows[i:j])
        i = j
    return batches


class Order:
    """An endless, reproducible sequence of batches: epoch after epoch, each in its own random order.

    The place in it is (epoch, batch): with the seed and the data that is all a resumed run needs to go on."""

    WINDOW = 300000  # pairs sorted by length together

    def __init__(self, pairs, seed, tokens, longest):
        self.pairs, self.seed, self.tokens = pairs, seed, tokens
        self.rows = np.flatnonzero((pairs.source_length <= longest) & (pairs.target_length <= longest))
        self.key = [int(pairs.fingerprint()), seed, tokens, longest]
        self.epoch = self.place = 0
        self.batches = None

    def state(self):
        return dict(key=self.key, epoch=self.epoch, place=self.place)

    def resume(self, state):
        """True if the place of `state` could be taken up; otherwise (other data) a fresh epoch begins."""
        same = state["key"] == self.key
        self.epoch, self.place = (state["epoch"], state["place"]) if same else (state["epoch"] + 1, 0)
        self.batches = None
        return same

    def _shuffle(self):
        random = np.random.default_rng([self.seed, self.epoch])
        rows = random.permutation(self.rows)
        self.batches = []
        for start in range(0, len(rows), self.WINDOW):
            window = cut_batches(self.pairs, rows[start:start + self.WINDOW], self.tokens, random)
            self.batches += [window[i] for i in random.permutation(len(window))]

    def next(self):
        """Pair numbers of the next batch."""
        if self.batches is None:
            self._shuffle()
        if self.place >= len(self.batches):
            self.epoch, self.place = self.epoch + 1, 0
            self._shuffle()
        self.place += 1
        return self.batches[self.place - 1]


def in_order(pairs, tokens):
    """All pairs once, for measuring."""
    random = np.random.default_rng(0)
    return [pairs.batch(rows) for rows in cut_batches(pairs, np.arange(len(pairs)), tokens, random)]
