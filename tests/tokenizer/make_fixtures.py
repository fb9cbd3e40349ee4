#!/usr/bin/env python3
"""Makes tests/tokenizer/fixtures: tiny SentencePiece models and what the library makes of text.

    pip install sentencepiece==0.2.3 protobuf transformers==5.24.0
    tests/tokenizer/make_fixtures.py [models/zh-en]

For each variant: NAME.spm; NAME.pieces, for each line of lines.bin the pieces as id:begin:end in
bytes of the line; NAME.texts, sequences of ids and the hexadecimal text that the library decodes
from them. marian/ and separate/ are model directories with what transformers' MarianTokenizer makes
of text, zh-en.* is what it makes of flores.tsv (every tenth sentence of FLORES-200 dev, CC BY-SA 4.0)
with the default model: NAME.sources and their NAME.ids; target ids and their text, NAME.texts.
"""
import io
import json
import os
import random
import shutil
import sys
import tempfile

import sentencepiece as sp
from sentencepiece import sentencepiece_model_pb2 as proto

import lines

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = os.path.join(HERE, "fixtures")

# A small character map with every kind of rule: one to one, one to many, many to one, deletion,
# white space, rules that are prefixes of others.
RULES = """\
3000\t20
A0\t20
9\t20
D\t20
200B\t
FEFF\t
1\t
2\t
FF01\t21
FF1F\t3F
FF0C\t2C
FF11\t31
FF12\t32
FF21\t41
FF22\t42
FF23\t43
FB01\t66 69
BD\t31 2044 32
FDFA\t635 644 649 20 627 644 644 647
65 301\tE9
61 30A\tE5
61 61 61\t78
61 61 61 20 62\t79 20
2E 2E 2E\t2026
53F0\t81FA
31 FE0F 20E3\t2460
2003\t20 20
"""


BASE = dict(vocab_size=560, character_coverage=0.98, num_threads=1, minloglevel=2, max_sentence_length=10000)
RULED = dict(normalization_rule_tsv=RULES)  # train() puts them into a file
USER = dict(user_defined_symbols=["<sep>", "ab", "abc", "你好", "foo bar", "▁x", "，", "aaa"], control_symbols=["<ctl>"])
VARIANTS = {
    "unigram": dict(model_type="unigram", **RULED),
    "unigram_bytes": dict(model_type="unigram", byte_fallback=True, vocab_size=820, **RULED),
    "unigram_user": dict(model_type="unigram", **USER, **RULED),
    "unigram_suffix": dict(model_type="unigram", treat_whitespace_as_suffix=True, **RULED),
    "unigram_identity": dict(model_type="unigram", normalization_rule_name="identity"),
    "unigram_plain": dict(
        model_type="unigram", normalization_rule_name="identity", add_dummy_prefix=False,
        remove_extra_whitespaces=False, allow_whitespace_only_pieces=True, unk_piece="<UNK>", unk_surface="??"),
    "unigram_unused": dict(model_type="unigram", **RULED),
    "bpe": dict(model_type="bpe", **RULED),
    "bpe_bytes": dict(model_type="bpe", byte_fallback=True, vocab_size=820, **RULED),
    "bpe_user": dict(model_type="bpe", **USER, **RULED),
    "bpe_suffix": dict(model_type="bpe", treat_whitespace_as_suffix=True, remove_extra_whitespaces=False, **RULED),
    "bpe_unused": dict(model_type="bpe", normalization_rule_name="identity"),
}


def flores():
    with open(os.path.join(OUT, "flores.tsv"), encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t") for line in f]


def train(name, options):
    writer = io.BytesIO()
    sentences = [side for pair in flores()[:25] for side in pair]
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".tsv") as rules:
        options = {**BASE, **options}
        if "normalization_rule_tsv" in options:
            rules.write(options["normalization_rule_tsv"])
            rules.flush()
            options["normalization_rule_tsv"] = rules.name
        sp.SentencePieceTrainer.train(sentence_iterator=iter(sentences), model_writer=writer, **options)
    model = proto.ModelProto.FromString(writer.getvalue())
    if name == "unigram":
        add_tight_choice(model)
    if name == "unigram_identity":
        add_great_scores(model)
    if name.endswith("_unused"):
        normal = [p for p in model.pieces if p.type == p.NORMAL and len(p.piece) > 1]
        for piece in normal[::3]:
            piece.type = piece.UNUSED
    # Paths of this machine do not belong into a fixture.
    del model.trainer_spec.input[:]
    model.normalizer_spec.normalization_rule_tsv = ""
    return model


def add_tight_choice(model):
    """ⅰⅱ+ⅲⅳ must win against the unknown ⅰ, 10 worse than the worst piece, and ⅱⅲⅳ, but only just."""
    worst = min(p.score for p in model.pieces if p.type == p.NORMAL)
    for piece, score in (("ⅰⅱ", worst), ("ⅲⅳ", worst), ("ⅱⅲⅳ", worst + 9.5)):
        model.pieces.add(piece=piece, score=score)


def add_great_scores(model):
    """ⅴ+ⅴ is better than ⅴⅴ by less than the rounding of a long sum, unless that is cut in time."""
    for piece, score in (("ⅴ", -40000.0), ("ⅴⅴ", -80000.0234375)):
        model.pieces.add(piece=piece, score=score)


def write(path, data):
    with open(os.path.join(OUT, path), "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode("utf-8"))


def pieces_with_bytes(processor, text):
    """[(id, begin, end)], offsets in bytes. Pieces that spell one character share its span."""
    pieces = [[p.id, p.begin, p.end] for p in processor.encode(text, return_type="proto").pieces]
    for i in range(len(pieces) - 2, -1, -1):
        if processor.is_byte(pieces[i][0]) and is_continuation(processor, pieces[i + 1][0]):
            pieces[i][2] = pieces[i + 1][2]
    return pieces


def is_continuation(processor, piece):
    return processor.is_byte(piece) and 0x80 <= int(processor.id_to_piece(piece)[3:5], 16) < 0xC0


def decoded(processor, rng):
    """Sequences of ids and their texts: sentences, and noise that no model should produce."""
    ids = list(range(processor.get_piece_size()))
    # The piece <unk> gives nothing in Marian; under another name it is a piece like any other.
    ids = [i for i in ids if processor.id_to_piece(i) != "<unk>"]
    special = [i for i in ids if processor.is_control(i) or processor.is_unknown(i) or "▁" in processor.id_to_piece(i)]
    # </s> would be special to Marian, too, and does not end a run of bytes there
    special = [i for i in special if processor.id_to_piece(i) != "</s>"]
    ids = [i for i in ids if processor.id_to_piece(i) != "</s>"]
    byte_ids = [i for i in ids if processor.is_byte(i)]
    result = [[i for i in processor.encode(pair[1]) if i in ids] for pair in flores()[:10]]
    space = processor.piece_to_id("▁")
    for first in ([space], [space, space], [special[0], space], [rng.choice(byte_ids or special), space]):
        result += [first + [rng.choice(special)] for _ in range(4)]
    for _ in range(60):
        result.append([rng.choice(rng.choice([ids, special, byte_ids or ids])) for _ in range(rng.randrange(1, 12))])
    for text in ["你", "𠮷野", "é", "😀😀"]:
        spelled = [byte_ids[b] for b in text.encode("utf-8")] if byte_ids else []
        result += [spelled, spelled[:-1], spelled[1:], spelled[:-1] + spelled]
    return [(sequence, processor.decode(sequence)) for sequence in result]


def join(sequence):
    return " ".join(map(str, sequence))


def make_variant(name, options):
    model = train(name, options)
    write(name + ".spm", model.SerializeToString())
    processor = sp.SentencePieceProcessor(model_proto=model.SerializeToString())
    encoded = [" ".join("%d:%d:%d" % tuple(p) for p in pieces_with_bytes(processor, line)) for line in all_lines()]
    write(name + ".pieces", "".join(line + "\n" for line in encoded))
    texts = decoded(processor, random.Random(name))
    write(name + ".texts", "".join(join(ids) + "\t" + text.encode("utf-8").hex() + "\n" for ids, text in texts))


def all_lines():
    return lines.ALL + [side for pair in flores()[:6] for side in pair]


def long_text():
    """Long enough for sums of scores to pass the library's limit of 100000 many times."""
    return "".join(pair[1] for pair in flores()) * 12


def fingerprint(ids):
    """FNV-1a over the ids as little-endian 32 bits."""
    h = 0xCBF29CE484222325
    for i in ids:
        for byte in i.to_bytes(4, "little"):
            h = (h ^ byte) * 0x100000001B3 % 2**64
    return h


def make_long():
    result = ""
    for name in ["unigram", "bpe"]:
        processor = sp.SentencePieceProcessor(model_file=os.path.join(OUT, name + ".spm"))
        ids = processor.encode(long_text())
        result += "%s %d %016x\n" % (name, len(ids), fingerprint(ids))
    write("long.txt", result)


def marian_ids(tokenizer, text):
    """Special tokens that are spelled out in the text are text."""
    tokens = tokenizer._tokenize(text)
    return [tokenizer._convert_token_to_id(token) for token in tokens]


def known_language(tokenizer, text):
    code, _ = tokenizer.remove_language_code(text)
    return not code or code[0] in tokenizer.encoder


def write_marian(name, tokenizer, sources, targets):
    """`sources` to ids; target texts to ids and back."""
    ids = [marian_ids(tokenizer, text) for text in sources if known_language(tokenizer, text)]
    write(name + ".sources", "".join(text + "\n" for text in sources if known_language(tokenizer, text)))
    write(name + ".ids", "".join(join(sequence) + "\n" for sequence in ids))
    tokenizer._switch_to_target_mode()
    texts = []
    for text in targets:
        sequence = marian_ids(tokenizer, text) + [tokenizer.eos_token_id]
        texts.append((sequence, tokenizer.decode(sequence, skip_special_tokens=True)))
    tokenizer._switch_to_input_mode()
    write(name + ".texts", "".join(join(ids) + "\t" + text.encode("utf-8").hex() + "\n" for ids, text in texts))


def make_directory(name, source, target, separate):
    """A model directory whose vocabulary is in another order than the pieces and lacks some."""
    from transformers import MarianTokenizer

    directory = os.path.join(OUT, name)
    os.makedirs(directory, exist_ok=True)
    sides = []
    for side, variant in (("source", source), ("target", target)):
        shutil.copy(os.path.join(OUT, variant + ".spm"), os.path.join(directory, side + ".spm"))
        processor = sp.SentencePieceProcessor(model_file=os.path.join(OUT, variant + ".spm"))
        names = [processor.id_to_piece(i) for i in range(processor.get_piece_size()) if not processor.is_control(i)]
        names = [n for n in names if n not in ("<unk>", "<UNK>")]
        sides.append([n for i, n in enumerate(names) if i % 17 or n.startswith("<0x")][::-1])
    first = ["</s>", "<unk>"]
    if separate:
        vocabularies = [first + [">>eng<<", "№"] + sides[0] + ["<pad>"], first + sides[1] + ["<pad>"]]
    else:
        joint = list(dict.fromkeys(sides[1] + sides[0]))
        vocabularies = [first + joint + [">>eng<<", ">>fra<<", "<pad>"]]
    for file, names in zip(("vocab.json", "target_vocab.json"), vocabularies):
        # ASCII on one side: \\u escapes, surrogate pairs
        text = json.dumps({n: i for i, n in enumerate(names)}, ensure_ascii=separate, indent=2)
        write(os.path.join(name, file), text)
    config = dict(separate_vocabs=separate, source_lang="zho", target_lang="eng", eos_token="</s>", unk_token="<unk>",
                  pad_token="<pad>", tokenizer_class="MarianTokenizer")
    write(os.path.join(name, "tokenizer_config.json"), json.dumps(config, indent=2))
    tokenizer = MarianTokenizer.from_pretrained(directory)
    write_marian(name + "/expected", tokenizer, all_lines(), [pair[1] for pair in flores()[:40]])


def make_default(directory):
    from transformers import MarianTokenizer

    tokenizer = MarianTokenizer.from_pretrained(directory)
    write_marian("zh-en", tokenizer, lines.ALL + [pair[0] for pair in flores()], [pair[1] for pair in flores()])


def main():
    write("lines.bin", "".join(line + "\n" for line in all_lines()))
    for name, options in VARIANTS.items():
        make_variant(name, options)
    make_long()
    make_directory("marian", "unigram_bytes", "unigram_bytes", False)
    make_directory("separate", "unigram", "bpe_user", True)
    if len(sys.argv) > 1:
        make_default(sys.argv[1])


if __name__ == "__main__":
    main()
