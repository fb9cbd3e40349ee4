#!/usr/bin/env python3
"""Compares the tokeniser with the SentencePiece library on real text.

    pip install sentencepiece==0.2.3
    tests/tokenizer/parity.py --dump BUILD/tests/tokenizer/tok_dump --model models/zh-en FILE.tsv...

Each FILE holds source text, or source and target text separated by a tab, in each line; the lines of
lines.py are always compared, too. Compared are: pieces and their offsets, both models; source ids;
the text of target ids. Prints a count for each and the first differences; exits with 1 if there are any.
"""
import argparse
import json
import subprocess
import sys

import sentencepiece as sp

import lines
from make_fixtures import pieces_with_bytes

UNKNOWN = "<unk>"


def run(dump, mode, path, texts):
    done = subprocess.run([dump, mode, path], input="".join(t + "\n" for t in texts).encode("utf-8"),
                          stdout=subprocess.PIPE, check=True)
    return done.stdout.decode("utf-8").split("\n")[:-1]


def join(sequence):
    return " ".join(map(str, sequence))


def compare(what, texts, got, expected):
    if len(got) != len(expected):
        sys.exit("%s: %d lines instead of %d" % (what, len(got), len(expected)))
    different = [i for i in range(len(texts)) if got[i] != expected[i]]
    print("%-32s %7d lines, %d differ" % (what, len(texts), len(different)))
    for i in different[:5]:
        print("  text     %r\n  got      %s\n  expected %s" % (texts[i], got[i], expected[i]))
    return len(different)


def compare_pieces(arguments, side, texts):
    path = "%s/%s.spm" % (arguments.model, side)
    processor = sp.SentencePieceProcessor(model_file=path)
    expected = [" ".join("%d:%d:%d" % tuple(p) for p in pieces_with_bytes(processor, t)) for t in texts]
    return compare(side + " pieces and offsets", texts, run(arguments.dump, "pieces", path, texts), expected)


def load(arguments, side, file):
    processor = sp.SentencePieceProcessor(model_file="%s/%s.spm" % (arguments.model, side))
    with open("%s/%s" % (arguments.model, file), encoding="utf-8") as f:
        return processor, json.load(f)


def compare_ids(arguments, texts):
    processor, vocabulary = load(arguments, "source", "vocab.json")
    texts = [t for t in texts if not t.startswith(">>")]  # language codes are Marian's affair
    expected = [join(vocabulary.get(p, vocabulary[UNKNOWN]) for p in processor.encode(t, out_type=str)) for t in texts]
    return compare("source ids", texts, run(arguments.dump, "encode", arguments.model, texts), expected)


def compare_texts(arguments, texts):
    processor, vocabulary = load(arguments, "target", arguments.target_vocabulary)
    pieces = [processor.encode(t, out_type=str) for t in texts]
    # Unknown and special pieces write nothing; a line feed would end the line.
    pieces = [[p for p in line if p in vocabulary and p not in (UNKNOWN, "</s>", "<pad>")] for line in pieces]
    expected = [processor.decode_pieces(line) if line else "" for line in pieces]
    ids = [join(vocabulary[p] for p in line) for line in pieces]
    return compare("texts of target ids", ids, run(arguments.dump, "decode", arguments.model, ids), expected)


def read(files, limit):
    """Every n-th line of each file, so that all files have a part in the limit."""
    sources, targets = [], []
    for file in files:
        with open(file, encoding="utf-8", newline="\n") as f:
            rows = [row.rstrip("\n").split("\t") for row in f]
        step = max(1, len(rows) // max(1, limit // len(files))) if limit else 1
        for row in rows[::step]:
            sources.append(row[0])
            if len(row) > 1:
                targets.append(row[1])
    return sources, targets


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dump", required=True, help="the program tok_dump")
    parser.add_argument("--model", required=True, help="a model directory")
    parser.add_argument("--target-vocabulary", default="vocab.json", help="target_vocab.json for separate ones")
    parser.add_argument("--limit", type=int, default=0, help="lines in all, spread over the files; 0: all")
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    sources, targets = read(arguments.files, arguments.limit)
    sources, targets = sources + lines.ALL, targets + lines.ALL
    mixed = sources + targets
    differences = sum([
        compare_pieces(arguments, "source", mixed),
        compare_pieces(arguments, "target", mixed),
        compare_ids(arguments, mixed),
        compare_texts(arguments, mixed),
    ])
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
