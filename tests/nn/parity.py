#!/usr/bin/env python3
"""Compares encoder output and decoder logits with transformers on the same weights and real sentences.

    python3 tests/nn/parity.py MODEL FILE [--dump BUILD/tests/nn/nn_dump] [--count 60]

FILE: source TAB target lines. Sentences are joined or cut so that source lengths 1 to 200 occur. Prints the
largest differences relative to the range of the numbers of a sentence; fails above 1e-4. Build the program
with `make nn_dump`. Needs torch, transformers, sentencepiece.
"""
import argparse
import struct
import subprocess
import sys

import numpy as np
import torch
from transformers import MarianMTModel, MarianTokenizer


def pairs_of_length(lengths, path, tokenizer):
    """Runs of real sentences, cut to the wanted numbers of source and target tokens."""
    source, target = [], []
    for line in open(path, encoding="utf-8"):
        zh, en = line.rstrip("\n").split("\t")[:2]
        source += tokenizer(zh).input_ids[:-1]
        target += tokenizer(text_target=en).input_ids[:-1]
    s = t = 0
    for length in lengths:
        yield source[s:s + length - 1] + [tokenizer.eos_token_id], target[t:t + length]
        s, t = s + length, t + length


def difference(got, expected):
    return np.abs(got - expected).max() / (expected.max() - expected.min())


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("model")
    arguments.add_argument("file")
    arguments.add_argument("--dump", default="build/tests/nn/nn_dump")
    arguments.add_argument("--count", type=int, default=60)
    options = arguments.parse_args()
    model = MarianMTModel.from_pretrained(options.model, dtype=torch.float32, attn_implementation="eager").eval()
    tokenizer = MarianTokenizer.from_pretrained(options.model)
    lengths = sorted(set(np.linspace(1, 200, options.count).astype(int).tolist()))
    pairs = [(s, [model.config.decoder_start_token_id] + t[:-1]) for s, t in pairs_of_length(lengths, options.file, tokenizer)]
    words = b"".join(struct.pack(f"<{2 + len(s) + len(t)}i", len(s), len(t), *s, *t) for s, t in pairs)
    allowed = (model.final_logits_bias[0] > -1e4).numpy()
    d, outputs, worst = model.config.d_model, int(allowed.sum()), {}
    for beams in (1, 3):
        numbers = np.frombuffer(subprocess.run([options.dump, options.model, str(beams)], input=words,
                                               stdout=subprocess.PIPE, check=True).stdout, dtype="<f4")
        at = 0
        for source, target in pairs:
            with torch.no_grad():
                result = model(input_ids=torch.tensor([source]), decoder_input_ids=torch.tensor([target]))
            expected = {"encoder": result.encoder_last_hidden_state[0].numpy(), "logits": result.logits[0].numpy()[:, allowed]}
            for name, width, rows in (("encoder", d, len(source)), ("logits", outputs, len(target))):
                got = numbers[at:at + rows * width].reshape(rows, width)
                at += rows * width
                key = (name, beams)
                worst[key] = max(worst.get(key, 0.0), difference(got, expected[name]))
        assert at == len(numbers)
    for (name, beams), value in worst.items():
        print(f"{name}, {beams} beam(s): largest difference {value:.2e} of the range, "
              f"{len(pairs)} sentences of {lengths[0]} to {lengths[-1]} tokens")
    return 0 if max(worst.values()) < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
