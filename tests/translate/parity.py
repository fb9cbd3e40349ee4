#!/usr/bin/env python3
"""Compares whole translations with transformers, text to text, on real sentences.

    parity.py MODEL SENTENCES REFERENCE.jsonl DUMP_PROGRAM

MODEL is a directory that transformers can load (fp32), SENTENCES a TSV whose first column is
translated, REFERENCE.jsonl what `tests/search/parity.py reference` wrote for these two, and
DUMP_PROGRAM translate_dump of the build tree. A line that holds several sentences, or one that is cut
for its length, says nothing here, since transformers does neither. A text may differ only where transformers itself was
undecided (see tests/search/parity.py) and by our tidying of spaces. Exits with 1 if another differs.
"""

import json
import subprocess
import sys

import transformers

UNDECIDED = 1e-4
PIECE_TOKENS = 80  # in src/translate/plan.c


def translations(program, directory, beams, lines):
    """[(sentences, text)] of the dump program."""
    done = subprocess.run([program, directory, str(beams)], input="".join(line + "\n" for line in lines),
                          stdout=subprocess.PIPE, text=True, check=True)
    rows = [line.split("\t", 1) for line in done.stdout.split("\n")[:-1]]
    if len(rows) != len(lines):
        sys.exit(f"parity.py: {program} wrote {len(rows)} lines for {len(lines)}")
    return [(int(sentences), text) for sentences, text in rows]


def main(directory, sentences, stored, program):
    tokenizer = transformers.MarianTokenizer.from_pretrained(directory)
    with open(sentences, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t")[0] for line in file]
    with open(stored, encoding="utf-8") as file:
        references = [json.loads(line) for line in file]
    lines = lines[: len(references)]
    wrong = 0
    for name, beams in (("greedy", 1), ("beam 4", 4)):
        compared = same = 0
        for i, (count, text) in enumerate(translations(program, directory, beams, lines)):
            reference = references[i]
            if count != 1 or len(reference["source"]) > PIECE_TOKENS + 1:
                continue
            ids = reference["greedy"] if beams == 1 else reference["beam"][0]
            expected = " ".join(tokenizer.decode(ids, skip_special_tokens=True).split())
            compared += 1
            if text == expected:
                same += 1
                continue
            gap = reference["gap"] if beams == 1 else reference["scores"][0] - reference["scores"][1]
            wrong += gap >= UNDECIDED
            print(f"{name}, line {i + 1}: two best {gap:.2e} apart"
                  + ("" if gap < UNDECIDED else " (NOT EXCUSED)"))
            print(f"    expected {expected}\n    found    {text}")
        print(f"{name}: {same} of {compared} lines of one sentence are the same text")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
