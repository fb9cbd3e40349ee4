"""Model directories in the MarianMT layout of Hugging Face transformers: reading (fp32, or int8 with a scale for each
row) and writing."""
import json
from pathlib import Path
import shutil

from safetensors.torch import load_file, save_file
import torch

from . import parameters as P

PIECE_FILES = ("source.spm", "target.spm", "vocab.json")
NEVER = -1e4  # output bias of a word that cannot be produced


def read_json(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def write_json(path, value):
    Path(path).write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def expand(tensors):
    """int8 matrices times their `<name>.scale`, one for each row; anything else as fp32."""
    scales = {k for k in tensors if k.endswith(".scale")}
    def value(name, t):
        t = t.float()
        return t * tensors[name + ".scale"].float()[:, None] if name + ".scale" in scales else t
    return {k: value(k, t) for k, t in tensors.items() if k not in scales}


def read_model(directory):
    """(Architecture, flat parameters) of a directory that this recipe, or `zhen quantize`, has written."""
    directory = Path(directory)
    c = read_json(directory / "config.json")
    if c.get("activation_function") != "relu" or not c.get("share_encoder_decoder_embeddings", True):
        raise ValueError(f"{directory}: only relu networks with one shared embedding can be trained on")
    tensors = expand(load_file(directory / "model.safetensors"))
    bias = tensors[P.OUTPUT_BIAS].flatten()
    allowed = bias > NEVER / 10
    targets = int(allowed.sum())
    if not bool(allowed[:targets].all()):
        raise ValueError(f"{directory}: the words that can be produced are not the first ids")
    a = P.Architecture(vocabulary=c["vocab_size"], targets=targets, d=c["d_model"], heads=c["encoder_attention_heads"],
                       ff=c["encoder_ffn_dim"], encoder_layers=c["encoder_layers"], decoder_layers=c["decoder_layers"])
    tensors[P.OUTPUT_BIAS] = bias[:targets]
    flat = torch.zeros(P.values(a))
    for name, view in P.views(a, flat).items():
        view.copy_(tensors[name])
    P.views(a, flat)[P.SHARED][a.pad].zero_()
    return a, flat


def config(a):
    return dict(
        architectures=["MarianMTModel"], model_type="marian", vocab_size=a.vocabulary, decoder_vocab_size=a.vocabulary,
        d_model=a.d, encoder_layers=a.encoder_layers, decoder_layers=a.decoder_layers,
        encoder_attention_heads=a.heads, decoder_attention_heads=a.heads, encoder_ffn_dim=a.ff, decoder_ffn_dim=a.ff,
        activation_function="relu", dropout=0.0, attention_dropout=0.0, activation_dropout=0.0, scale_embedding=True,
        static_position_embeddings=True, max_position_embeddings=512, share_encoder_decoder_embeddings=True,
        tie_word_embeddings=True, is_encoder_decoder=True, pad_token_id=a.pad, eos_token_id=P.END, bos_token_id=P.END,
        decoder_start_token_id=a.pad, forced_eos_token_id=P.END, use_cache=True, num_beams=4, max_length=512,
        init_std=0.02, encoder_layerdrop=0.0, decoder_layerdrop=0.0, torch_dtype="float32")


def generation_config(a, guided):
    c = dict(bad_words_ids=[[a.pad]], bos_token_id=P.END, decoder_start_token_id=a.pad, eos_token_id=P.END,
             forced_eos_token_id=P.END, max_length=512, num_beams=4, pad_token_id=a.pad, renormalize_logits=True)
    if guided:  # the cross-attention head that was trained on word alignments: the last layer's first
        c["alignment_heads"] = [[a.decoder_layers - 1, 0]]
    return c


TOKENIZER = dict(source_lang="zho", target_lang="eng", model_max_length=512, separate_vocabs=False,
                 tokenizer_class="MarianTokenizer", eos_token="</s>", unk_token="<unk>", pad_token="<pad>")


def write_model(directory, a, flat, pieces, guided=True):
    """An fp32 model directory. pieces: the directory with the SentencePiece models and vocab.json."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    tensors = {name: view.detach().float().clone() for name, view in P.views(a, flat).items()}
    bias = torch.full((1, a.vocabulary), NEVER)
    bias[0, :a.targets] = tensors[P.OUTPUT_BIAS]
    tensors[P.OUTPUT_BIAS] = bias
    save_file(tensors, directory / "model.safetensors", metadata={"format": "pt"})
    write_json(directory / "config.json", config(a))
    write_json(directory / "generation_config.json", generation_config(a, guided))
    write_json(directory / "tokenizer_config.json", TOKENIZER)
    for name in PIECE_FILES:
        shutil.copy(Path(pieces) / name, directory)
