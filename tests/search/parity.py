#!/usr/bin/env python3
"""Compares the search with transformers, token by token, on real sentences and a real model.

    parity.py reference MODEL SENTENCES OUT.jsonl
        translates the first column of a TSV with transformers (greedy and beam 4, float32, the
        model's own generation_config.json) and stores the ids; a few minutes for 1,000 sentences.
    parity.py compare MODEL OUT.jsonl DUMP_PROGRAM [LIMIT]
        runs DUMP_PROGRAM (search_dump of the build tree) on the same ids and reports the share
        of identical outputs. An output may differ only where transformers itself was undecided:
        where the two best scores, or for greedy search the two best logits of some step, are less
        than 1e-4 apart. Exits with 1 if another one differs, or if scores differ by more than 1e-3.

Needs torch, sentencepiece and transformers 5.24.0, the version whose semantics the search follows.
"""

import json
import subprocess
import sys
import time

TRANSFORMERS = "5.24.0"
BATCH = 32
UNDECIDED = 1e-4


def load(directory):
    import torch
    import transformers

    if transformers.__version__ != TRANSFORMERS:
        sys.exit(f"parity.py: needs transformers {TRANSFORMERS}, not {transformers.__version__}")
    torch.manual_seed(0)
    model = transformers.MarianMTModel.from_pretrained(directory, dtype=torch.float32).eval()
    tokenizer = transformers.MarianTokenizer.from_pretrained(directory)
    return torch, transformers, model, tokenizer


def without_special(ids, start, end, pad):
    """The tokens between the start token and </s> or padding."""
    ids = ids[1:] if ids and ids[0] == start else ids
    for position, token in enumerate(ids):
        if token in (end, pad):
            return ids[:position]
    return ids


def reference(directory, sentences, out):
    torch, transformers, model, tokenizer = load(directory)
    config = model.generation_config

    class Gaps(transformers.LogitsProcessor):
        """Keeps the difference of the two best logits of every step."""

        def __init__(self):
            self.gaps = []

        def __call__(self, input_ids, scores):
            best = scores.topk(2, dim=-1).values
            self.gaps.append((best[:, 0] - best[:, 1]).tolist())
            return scores

    with open(sentences, encoding="utf-8") as file:
        sources = [tokenizer(line.split("\t")[0])["input_ids"] for line in file]
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    results = [None] * len(sources)
    seconds = {"greedy": 0.0, "beam": 0.0}
    for first in range(0, len(order), BATCH):
        batch = order[first : first + BATCH]
        width = max(len(sources[i]) for i in batch)
        ids = torch.tensor([sources[i] + [config.pad_token_id] * (width - len(sources[i])) for i in batch])
        mask = torch.tensor([[1] * len(sources[i]) + [0] * (width - len(sources[i])) for i in batch])
        special = (config.decoder_start_token_id, config.eos_token_id, config.pad_token_id)
        gaps = Gaps()
        began = time.time()
        with torch.no_grad():
            greedy = model.generate(ids, attention_mask=mask, num_beams=1, logits_processor=[gaps])
            seconds["greedy"] += time.time() - began
            began = time.time()
            beam = model.generate(ids, attention_mask=mask, num_beams=4, num_return_sequences=4,
                                  return_dict_in_generate=True, output_scores=True)
            seconds["beam"] += time.time() - began
        for row, i in enumerate(batch):
            tokens = without_special(greedy[row].tolist(), *special)
            results[i] = {
                "source": sources[i],
                "greedy": tokens,
                "gap": min(step[row] for step in gaps.gaps[: len(tokens) + 1]),
                "beam": [without_special(beam.sequences[4 * row + n].tolist(), *special) for n in range(4)],
                "scores": [float(beam.sequences_scores[4 * row + n]) for n in range(4)],
            }
        print(f"{first + len(batch)} of {len(order)}", file=sys.stderr)
    with open(out, "w", encoding="utf-8") as file:
        for result in results:
            file.write(json.dumps(result) + "\n")
    print(f"greedy {seconds['greedy']:.1f} s, beam 4 {seconds['beam']:.1f} s", file=sys.stderr)


def dump(program, directory, beams, sources):
    """[(score, ids)] of the dump program for each source."""
    text = "".join(" ".join(map(str, source)) + "\n" for source in sources)
    done = subprocess.run([program, directory, str(beams)], input=text, capture_output=True, text=True, check=True)
    sys.stderr.write(done.stderr)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    if len(rows) != len(sources):
        sys.exit(f"parity.py: {program} wrote {len(rows)} lines for {len(sources)} sentences")
    return [(float(score), [int(token) for token in ids.split()]) for score, ids in rows]


def compare(directory, stored, program, limit=None):
    with open(stored, encoding="utf-8") as file:
        references = [json.loads(line) for line in file][: int(limit) if limit else None]
    sources = [reference["source"] for reference in references]
    wrong = 0
    for name, beams in (("greedy", 1), ("beam 4", 4)):
        same = 0
        worst = 0.0
        for i, (score, ids) in enumerate(dump(program, directory, beams, sources)):
            reference = references[i]
            expected = reference["greedy"] if beams == 1 else reference["beam"][0]
            if ids == expected:
                same += 1
                if beams > 1:
                    worst = max(worst, abs(score - reference["scores"][0]))
                continue
            gap = reference["gap"] if beams == 1 else reference["scores"][0] - reference["scores"][1]
            excused = gap < UNDECIDED
            wrong += not excused
            print(f"{name}, sentence {i + 1}: differs; two best {gap:.2e} apart"
                  + ("" if excused else " (NOT EXCUSED)"))
            if beams > 1:
                print(f"    scores {[round(s, 6) for s in reference['scores']]}, ours {score:.6f}")
        print(f"{name}: {same} of {len(sources)} token-identical"
              + (f", scores within {worst:.1e}" if beams > 1 else ""))
        wrong += worst > 1e-3
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "reference":
        reference(*sys.argv[2:])
    elif len(sys.argv) in (5, 6) and sys.argv[1] == "compare":
        sys.exit(compare(*sys.argv[2:]))
    else:
        sys.exit(__doc__)
