#!/usr/bin/env python3
"""Makes the tiny random Marian models under tests/nn/fixtures and what transformers computes with them.

    python3 tests/nn/make_fixtures.py        # needs torch, transformers, sentencepiece, safetensors

Each directory is a complete MarianMT model directory (as transformers writes it, with a vocabulary of
a few dozen pieces) and expected.bin, little-endian 32-bit words:

    "ZHNN" sentence_count d_model vocabulary
    for each sentence: source_count target_count
        source ids, target ids (what the decoder reads, start token first)
        encoder output (source_count, d_model) float
        logits (target_count, vocabulary) float, final_logits_bias included
        alignment (target_count): source position with the highest mean attention over the alignment
        heads (without alignment_heads: over the last decoder layer)

Written with transformers 5.x; any version that knows Marian gives the same numbers.
"""
import io
import json
import pathlib
import struct

import sentencepiece
import torch
from safetensors.torch import load_file, save_file
from transformers import MarianConfig, MarianMTModel

HERE = pathlib.Path(__file__).parent / "fixtures"
SOURCE_TEXT = ["我爱水课。", "他不爱水。", "课是我的。", "你好，我是水。", "他的课好不好？"] * 4
TARGET_TEXT = ["I love easy courses.", "He does not love water.", "The course is mine.", "Is it?"] * 4

# d_model 24 with heads of 8, 20 with heads of 10 and 5, 32 with heads of 8: no multiple of a vector.
MODELS = {
    "relu-tied": dict(
        d_model=24, encoder_layers=2, decoder_layers=1, encoder_attention_heads=3, decoder_attention_heads=3,
        encoder_ffn_dim=40, decoder_ffn_dim=40, activation_function="relu", scale_embedding=True,
        dtype=torch.float32, banned="tail", alignment_heads=[[0, 2]]),
    "swish-untied": dict(
        d_model=20, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=4,
        encoder_ffn_dim=36, decoder_ffn_dim=28, activation_function="swish", scale_embedding=False,
        separate=True, dtype=torch.float16, banned="none", alignment_heads=[[0, 1], [1, 3]]),
    "gelu-scattered": dict(
        d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=2,
        encoder_ffn_dim=44, decoder_ffn_dim=50, activation_function="gelu", scale_embedding=True,
        dtype=torch.bfloat16, banned="scattered"),
}
SENTENCES = [(1, 4), (2, 1), (5, 9), (17, 12), (23, 20)]  # tokens of source and target


def train_pieces(text, path):
    """A unigram model of a few dozen pieces without normalisation rules (their table is large)."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text), model_writer=model, model_type="unigram", vocab_size=40,
        hard_vocab_limit=False, normalization_rule_name="identity", num_threads=1, minloglevel=2)
    path.write_bytes(model.getvalue())
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [pieces.id_to_piece(i) for i in range(pieces.get_piece_size())]


def vocabulary(*lists):
    words = ["</s>", "<unk>"]
    for pieces in lists:
        words += [p for p in pieces if p not in words and p != "<s>"]
    return {w: i for i, w in enumerate(words + ["<pad>"])}


def banned_pieces(kind, size, generator):
    if kind == "tail":
        return list(range(size * 2 // 3, size))
    if kind == "scattered":
        return sorted(set(torch.randint(2, size, (size // 3,), generator=generator).tolist()) | {size - 1})
    return []


def randomise(model, banned, generator):
    for name, parameter in model.named_parameters():
        if "embed_positions" in name:
            continue
        noise = torch.randn(parameter.shape, generator=generator)
        parameter.data = 1 + 0.2 * noise if "norm.weight" in name else 0.2 * noise
    model.final_logits_bias.copy_(0.5 * torch.randn(model.final_logits_bias.shape, generator=generator))
    model.final_logits_bias[0, banned] = -2e4
    model.get_decoder().embed_tokens.weight.data[model.config.pad_token_id] = 0


def expect(model, heads, generator):
    config = model.config
    heads = heads or [[config.decoder_layers - 1, h] for h in range(config.decoder_attention_heads)]
    out = [b"ZHNN", struct.pack("<3i", len(SENTENCES), config.d_model, config.decoder_vocab_size)]
    for source_count, target_count in SENTENCES:
        source = torch.randint(0, config.vocab_size, (1, source_count), generator=generator)
        target = torch.randint(0, config.decoder_vocab_size, (1, target_count), generator=generator)
        source[0, -1] = config.eos_token_id
        target[0, 0] = config.decoder_start_token_id
        with torch.no_grad():
            result = model(input_ids=source, decoder_input_ids=target, output_attentions=True)
        looked = sum(result.cross_attentions[layer][0, head] for layer, head in heads)
        out.append(struct.pack("<2i", source_count, target_count))
        out += [t.to(torch.int32).numpy().tobytes() for t in (source, target)]
        out += [t.contiguous().numpy().astype("<f4").tobytes() for t in (result.encoder_last_hidden_state, result.logits)]
        out.append(looked.argmax(dim=-1).to(torch.int32).numpy().tobytes())
    return b"".join(out)


def make(name, spec, seed):
    spec = dict(spec)
    generator = torch.Generator().manual_seed(seed)
    dtype, banned, heads = spec.pop("dtype"), spec.pop("banned"), spec.pop("alignment_heads", None)
    separate = spec.pop("separate", False)
    directory = HERE / name
    directory.mkdir(parents=True, exist_ok=True)
    source, target = (train_pieces(t, directory / f) for t, f in ((SOURCE_TEXT, "source.spm"), (TARGET_TEXT, "target.spm")))
    vocab = vocabulary(source) if separate else vocabulary(target, source)
    target_vocab = vocabulary(target) if separate else vocab
    # With separate vocabularies transformers wants one id of <pad> for both sides.
    pad = min(len(vocab), len(target_vocab)) - 1
    if separate:
        vocab, target_vocab = ({w: i if i < pad else i + 1 for w, i in v.items() if w != "<pad>"} | {"<pad>": pad}
                               for v in (vocab, target_vocab))
    config = MarianConfig(
        vocab_size=len(vocab), decoder_vocab_size=len(target_vocab), share_encoder_decoder_embeddings=not separate,
        tie_word_embeddings=not separate, max_position_embeddings=64, pad_token_id=pad, eos_token_id=0,
        bos_token_id=0, forced_eos_token_id=0, decoder_start_token_id=pad, dropout=0.0, attn_implementation="eager", **spec)
    model = MarianMTModel(config).eval()
    randomise(model, banned_pieces(banned, len(target_vocab), generator), generator)
    model.generation_config.max_length = 64
    model.generation_config.num_beams = 2
    model.to(dtype).save_pretrained(directory)
    weights = load_file(directory / "model.safetensors")
    weights = {k: v.contiguous() for k, v in weights.items() if "embed_positions" not in k}
    save_file(weights, directory / "model.safetensors", metadata={"format": "pt"})
    (directory / "model.safetensors").chmod(0o644)
    if heads:
        path = directory / "generation_config.json"
        generation = json.loads(path.read_text())
        generation["alignment_heads"] = heads
        path.write_text(json.dumps(generation, indent=2) + "\n")
    (directory / "vocab.json").write_text(json.dumps(vocab, ensure_ascii=False, indent=0) + "\n")
    if separate:
        (directory / "target_vocab.json").write_text(json.dumps(target_vocab, ensure_ascii=False, indent=0) + "\n")
    (directory / "tokenizer_config.json").write_text(json.dumps(dict(
        source_lang="zho", target_lang="eng", model_max_length=64, separate_vocabs=separate,
        tokenizer_class="MarianTokenizer", eos_token="</s>", unk_token="<unk>", pad_token="<pad>"), indent=2) + "\n")
    # The stored weights, not those before rounding to `dtype`, are the ones to agree with.
    stored = MarianMTModel.from_pretrained(directory, dtype=torch.float32, attn_implementation="eager").eval()
    (directory / "expected.bin").write_bytes(expect(stored, heads, generator))


if __name__ == "__main__":
    for seed, (name, spec) in enumerate(MODELS.items()):
        make(name, spec, seed + 1)
