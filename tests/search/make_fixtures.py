#!/usr/bin/env python3
"""Writes toy.txt and marian.txt: what transformers' own generate finds, whatever the options.

toy.txt: the model is toy_network.c's formula, written once more in torch and given to
GenerationMixin as an encoder-decoder model. Every logit is the same on both sides, so that the search
must agree in every token and, to rounding, in every score.
marian.txt: the models are the random ones under tests/nn/fixtures.

    python3 tests/search/make_fixtures.py

Needs torch and transformers 5.24.0, the version whose semantics the search follows.
"""

import pathlib
import sys
import warnings

import torch
import transformers
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput

TRANSFORMERS = "5.24.0"
EOS, VOCABULARY = 0, 62
PAD = VOCABULARY - 1
MASK = 0xFFFFFFFF
HERE = pathlib.Path(__file__).parent


def mix(x):
    """A 32-bit hash, of an int or of an int64 tensor."""
    x = x & MASK
    x = x ^ (x >> 16)
    x = (x * 0x7FEB352D) & MASK
    x = x ^ (x >> 15)
    x = (x * 0x846CA68B) & MASK
    return x ^ (x >> 16)


class ToyConfig(transformers.PretrainedConfig):
    model_type = "toy"


class ToyEncoder(torch.nn.Module):
    """Its output is the seed of each sentence."""

    main_input_name = "input_ids"

    def forward(self, input_ids, attention_mask=None, **_):
        seeds = []
        for row, mask in zip(input_ids.tolist(), attention_mask.tolist()):
            seed = 1
            for token, real in zip(row, mask):
                seed = mix(seed + token) if real else seed
            seeds.append([[seed]])
        return BaseModelOutput(last_hidden_state=torch.tensor(seeds))


class ToyModel(transformers.PreTrainedModel, transformers.GenerationMixin):
    config_class = ToyConfig
    main_input_name = "input_ids"

    def __init__(self, config):
        super().__init__(config)
        self.encoder = ToyEncoder()
        self.parameter = torch.nn.Parameter(torch.zeros(1))
        self.post_init()

    def get_encoder(self, *_, **__):
        return self.encoder

    def forward(self, input_ids=None, encoder_outputs=None, decoder_input_ids=None, **_):
        seed = encoder_outputs.last_hidden_state[:, 0, 0]
        steps = decoder_input_ids.shape[1] - 1
        before = decoder_input_ids[:, -2] if steps > 0 else torch.zeros_like(seed)
        key = mix(mix(seed + before) + decoder_input_ids[:, -1])
        tokens = torch.arange(VOCABULARY)
        logits = (mix(key[:, None] + tokens) >> 12).float() / 131072 - 4
        logits[:, EOS] += steps / 16
        logits[:, (tokens >= 2) & (tokens % 3 == 2)] = -1e4
        return Seq2SeqLMOutput(logits=logits[:, None, :])


SOURCES = [[7, 0], [3, 5, 9, 0], [12, 12, 4, 31, 8, 0], [40, 2, 0], [22, 0], [17, 3, 3, 3, 50, 6, 1, 0]]

NAMES = {"bad_words_ids": "bad_words", "no_repeat_ngram_size": "no_repeat_ngram",
         "forced_eos_token_id": "forced_eos", "forced_bos_token_id": "forced_bos",
         "num_beams": "beams", "num_return_sequences": "returns"}


def cases():
    """(number of sources, options of generate)"""
    for beams in (2, 3, 4, 6):
        for penalty in (-1.0, 0.0, 0.5, 1.0, 2.0):
            for early in (False, True, "never"):
                few = 6 if beams == 4 else 2
                yield few, dict(num_beams=beams, num_return_sequences=beams if beams == 3 else 1,
                                length_penalty=penalty, early_stopping=early, max_new_tokens=14)
    yield 1, dict(num_beams=24, num_return_sequences=24, max_new_tokens=10)
    yield 2, dict(num_beams=12, num_return_sequences=3, max_new_tokens=30, early_stopping="never")
    single = [[4], [13], [15], [PAD]]
    several = [[4], [7, 9], [12, 3, 6], [0], [10, 0], [PAD, 1], [5]]
    options = [
        dict(max_new_tokens=60),
        dict(max_new_tokens=1),
        dict(max_new_tokens=2),
        dict(max_new_tokens=1, forced_eos_token_id=EOS),
        dict(max_new_tokens=1, forced_bos_token_id=9, forced_eos_token_id=EOS),
        dict(max_new_tokens=6, forced_eos_token_id=EOS),
        dict(max_new_tokens=6, forced_eos_token_id=21),
        dict(max_new_tokens=9, forced_bos_token_id=9),
        dict(max_new_tokens=9, forced_bos_token_id=8),
        dict(max_new_tokens=9, forced_bos_token_id=9, forced_eos_token_id=EOS, min_new_tokens=9),
        dict(max_new_tokens=14, min_new_tokens=1),
        dict(max_new_tokens=14, min_new_tokens=7),
        dict(max_new_tokens=14, min_new_tokens=7, renormalize_logits=True),
        dict(max_new_tokens=14, min_new_tokens=20),
        dict(max_new_tokens=30, no_repeat_ngram_size=1),
        dict(max_new_tokens=60, no_repeat_ngram_size=2),
        dict(max_new_tokens=60, no_repeat_ngram_size=3),
        dict(max_new_tokens=30, no_repeat_ngram_size=2, renormalize_logits=True),
        dict(max_new_tokens=14, repetition_penalty=1.3),
        dict(max_new_tokens=14, repetition_penalty=0.7),
        dict(max_new_tokens=14, repetition_penalty=1.3, renormalize_logits=True),
        dict(max_new_tokens=14, renormalize_logits=True),
        dict(max_new_tokens=14, bad_words_ids=single),
        dict(max_new_tokens=14, bad_words_ids=single, renormalize_logits=True),
        dict(max_new_tokens=14, bad_words_ids=several),
        dict(max_new_tokens=14, bad_words_ids=several, renormalize_logits=True),
        dict(max_new_tokens=20, bad_words_ids=[[a, b] for a in range(1, 20) for b in (0, 21, 33)]),
        dict(max_new_tokens=20, min_new_tokens=3, bad_words_ids=several, repetition_penalty=1.1,
             no_repeat_ngram_size=2, renormalize_logits=True, forced_eos_token_id=EOS),
    ]
    for option in options:
        yield 6, dict(num_beams=1, num_return_sequences=1, **option)
        yield 4, dict(num_beams=4, num_return_sequences=2, **option)


MARIAN = [
    dict(num_beams=1, num_return_sequences=1, max_new_tokens=25),
    dict(num_beams=1, num_return_sequences=1, max_new_tokens=25, repetition_penalty=1.5,
         no_repeat_ngram_size=2, min_new_tokens=5, forced_eos_token_id=EOS),
    dict(num_beams=4, num_return_sequences=4, max_new_tokens=25),
    dict(num_beams=4, num_return_sequences=1, max_new_tokens=25, length_penalty=2.0,
         early_stopping="never", no_repeat_ngram_size=2, forced_eos_token_id=EOS),
    dict(num_beams=5, num_return_sequences=2, max_new_tokens=20, length_penalty=0.5,
         early_stopping=True, renormalize_logits=True, bad_words_ids=[[3], [5, 6], [4]]),
    dict(num_beams=3, num_return_sequences=3, max_new_tokens=20, repetition_penalty=1.3,
         min_new_tokens=4, length_penalty=-1.0),
]


def generate(model, sources, options):
    """[(source, [(score, complete, tokens)])] of one batch"""
    special = model.generation_config
    width = max(map(len, sources))
    ids = torch.tensor([source + [special.pad_token_id] * (width - len(source)) for source in sources])
    mask = torch.tensor([[1] * len(source) + [0] * (width - len(source)) for source in sources])
    result = model.generate(ids, attention_mask=mask, do_sample=False, return_dict_in_generate=True,
                            output_scores=True, **options)
    returns = options["num_return_sequences"]
    found = [(source, []) for source in sources]
    for row, sequence in enumerate(result.sequences.tolist()):
        tokens = sequence[1:]
        complete = EOS in tokens
        length = tokens.index(EOS) + 1 if complete else options["max_new_tokens"]
        if options["num_beams"] == 1:
            # compute_transition_scores(normalize_logits=True), which mistakes separate vocabularies
            steps = [result.scores[t][row].log_softmax(-1)[tokens[t]].item() for t in range(length)]
            score = sum(steps) / length ** options.get("length_penalty", 1.0)
        else:
            score = result.sequences_scores[row].item()
        # Such a score fills up the list where everything but one token is forbidden.
        if score > -1e8:
            found[row // returns][1].append((score, complete, tokens[: length - complete]))
    return found


def write_case(out, name, options, found):
    words = [f"case model={name}"]
    for key, value in options.items():
        if key == "bad_words_ids":
            value = ";".join(",".join(map(str, word)) for word in value)
        words.append(f"{NAMES.get(key, key)}={str(value).lower()}")
    print(" ".join(words), file=out)
    for source, hypotheses in found:
        print("source", *source, file=out)
        for score, complete, tokens in hypotheses:
            print(f"hypothesis {score:.9g} {int(complete)}", *tokens, file=out)


def plain_generation(pad, start):
    return transformers.GenerationConfig(eos_token_id=EOS, pad_token_id=pad,
                                         decoder_start_token_id=start, bos_token_id=EOS)


def write_toy(out):
    model = ToyModel(ToyConfig(is_encoder_decoder=True, vocab_size=VOCABULARY)).eval()
    model.generation_config = plain_generation(PAD, PAD)
    for few, options in cases():
        found = generate(model, SOURCES[:few], dict(use_cache=False, **options))
        write_case(out, "toy", options, found)


def write_marian(out):
    """Random models know many near-ties, which fall one way or the other with the last digits: only
    sources on which padding and double precision change nothing are kept."""
    for directory in sorted((HERE.parent / "nn" / "fixtures").iterdir()):
        models = [transformers.MarianMTModel.from_pretrained(directory, dtype=dtype).eval()
                  for dtype in (torch.float32, torch.float64)]
        for model in models:
            model.generation_config = plain_generation(
                model.config.pad_token_id, model.config.decoder_start_token_id)
        sources = [[3, 5, 9, 0], [0], [12, 7, 7, 4, 10, 11, 3, 0], [6, 0], [9, 8, 7, 6, 5, 0]]
        for options in MARIAN:
            alone = [generate(models[0], [source], options)[0] for source in sources]
            double = [generate(models[1], [source], options)[0] for source in sources]
            padded = generate(models[0], sources, options)
            same = [a for a, b, c in zip(alone, double, padded)
                    if [h[2] for h in a[1]] == [h[2] for h in b[1]] == [h[2] for h in c[1]]]
            write_case(out, directory.name, options, same)


def main():
    if transformers.__version__ != TRANSFORMERS:
        sys.exit(f"make_fixtures.py: needs transformers {TRANSFORMERS}, not {transformers.__version__}")
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    with torch.no_grad():
        for name, write in (("toy", write_toy), ("marian", write_marian)):
            with open(HERE / f"{name}.txt", "w", encoding="ascii") as out:
                print(f"# Written by make_fixtures.py with transformers {transformers.__version__}.", file=out)
                write(out)


if __name__ == "__main__":
    main()
