#!/usr/bin/env python3
"""Writes tests/model/fixtures: tiny Marian models as transformers saves them and what it makes of
them when it loads them again. Needs torch, transformers and safetensors (made with 2.13, 5.24 and
0.8); run from anywhere, the result is the same each time."""
import pathlib
import shutil

import torch
from safetensors.torch import load_file, save_file
from transformers import MarianConfig, MarianModel, MarianMTModel
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

FIXTURES = pathlib.Path(__file__).parent / "fixtures"

SHAPE = dict(vocab_size=12, d_model=8, encoder_layers=1, decoder_layers=2,
             encoder_attention_heads=2, decoder_attention_heads=4, encoder_ffn_dim=16,
             decoder_ffn_dim=12, max_position_embeddings=16, pad_token_id=11,
             decoder_start_token_id=11, scale_embedding=True, activation_function="swish")


def save(name, dtype=torch.float32, bare=False, **options):
    """One model directory and expected.safetensors, its weights as transformers uses them."""
    torch.manual_seed(sum(name.encode()))
    model = MarianMTModel(MarianConfig(**SHAPE, **options))
    torch.nn.init.normal_(model.final_logits_bias)
    folder = FIXTURES / name
    (model.model if bare else model.to(dtype)).save_pretrained(folder)
    model = MarianMTModel.from_pretrained(folder, dtype=torch.float32)
    model.generation_config.save_pretrained(folder)
    body = model.model
    save_file({
        "source": body.encoder.embed_tokens.weight.detach().clone(),
        "target": body.decoder.embed_tokens.weight.detach().clone(),
        "output": model.lm_head.weight.detach().clone(),
        "output_bias": model.final_logits_bias.clone(),
        "positions": body.encoder.embed_positions.weight.detach().clone(),
        "cross_query": body.decoder.layers[1].encoder_attn.q_proj.weight.detach().clone(),
        "cross_norm": body.decoder.layers[1].encoder_attn_layer_norm.weight.detach().clone(),
        "encoder_fc2": body.encoder.layers[0].fc2.weight.detach().clone(),
    }, folder / "expected.safetensors")


def add_tensors(name, source, extra):
    """A variation of a saved model that holds more tensors."""
    shutil.copytree(FIXTURES / source, FIXTURES / name)
    path = FIXTURES / name / "model.safetensors"
    tensors = load_file(path)
    tensors.update(extra(tensors))
    save_file(tensors, path, metadata={"format": "pt"})


def positions(count, width):
    module = MarianSinusoidalPositionalEmbedding(count, width)
    return module.create_weight()


def main():
    shutil.rmtree(FIXTURES, ignore_errors=True)
    FIXTURES.mkdir()
    save("tied")
    save("untied", tie_word_embeddings=False)
    save("unshared", share_encoder_decoder_embeddings=False, decoder_vocab_size=14)
    save("unshared_untied", share_encoder_decoder_embeddings=False, decoder_vocab_size=14,
         tie_word_embeddings=False)
    save("float16", dtype=torch.float16)
    save("bfloat16", dtype=torch.bfloat16)
    save("bare", bare=True)
    # What versions before 5 wrote: every name of the one table, and the positions.
    add_tensors("copies", "tied", lambda tensors: {
        "lm_head.weight": tensors["model.shared.weight"].clone(),
        "model.encoder.embed_tokens.weight": tensors["model.shared.weight"].clone(),
        "model.decoder.embed_tokens.weight": tensors["model.shared.weight"].clone(),
        "model.encoder.embed_positions.weight": positions(16, 8),
        "model.decoder.embed_positions.weight": positions(16, 8),
    })
    big = positions(512, 256)
    save_file({
        "wide": big[[0, 1, 2, 3, 100, 255, 511]].contiguous(),
        "odd": positions(70, 7),
    }, FIXTURES / "positions.safetensors")
    # Every exponent of both 16-bit types, with subnormals, zeros of both signs and infinities.
    bits = torch.arange(0, 65536, 131, dtype=torch.int32)
    bits = torch.cat([bits, torch.tensor([0, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0x8000, 0x8001,
                                          0xFC00, 0x7F80, 0xFF80], dtype=torch.int32)])
    half = bits.to(torch.int16).view(torch.float16)
    bfloat = bits.to(torch.int16).view(torch.bfloat16)
    half = half[~half.isnan()].clone()
    bfloat = bfloat[~bfloat.isnan()].clone()
    save_file({"f16": half, "f16_as_f32": half.float(), "bf16": bfloat,
               "bf16_as_f32": bfloat.float()}, FIXTURES / "halves.safetensors")


if __name__ == "__main__":
    main()
