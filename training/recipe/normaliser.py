"""The normaliser of the source pieces: what the text is turned into before it is cut.

SentencePiece's own nmt_nfkc, and on top of it Traditional characters to Simplified (OpenCC's table, Apache-2.0) and the
brackets, dashes and signs of other typographies to those that the corpora have. The rules are part of the SentencePiece
model, so that every program that reads it follows them.
"""
from pathlib import Path

import opencc
import sentencepiece
from sentencepiece import sentencepiece_model_pb2

HAN = range(0x3400, 0xA000)
KEPT = "乾吒"  # Simplified as well: 乾隆, 哪吒
# Where a character by itself stays or becomes another than it does in these words. The longest rule counts.
WORDS = ("乾淨 乾燥 乾旱 乾脆 乾杯 乾枯 乾涸 乾糧 乾洗 乾癟 乾爹 乾媽 乾貨 乾草 乾電池 乾濕 乾咳 乾果 乾冰 乾裂 乾瘦 乾笑 "
         "餅乾 晾乾 曬乾 烘乾 擦乾 吹乾 風乾 葡萄乾 豆乾 肉乾 果乾 喝乾 口乾 弄乾 抽乾 榨乾 晒乾 中乾 未乾 叱吒 錢鍾書 畢昇 "
         "瞭解 明瞭 反覆 答覆 回覆 憑藉 藉此 藉助 藉由 藉口 傢俱 復甦 甦醒 彷彿 項鍊 資金鍊 計畫").split()
MARKS = {"〔": "[", "〕": "]", "〖": "[", "〗": "]", "「": "“", "」": "”", "『": "“", "』": "”", "〈": "《", "〉": "》",
         "⋯": "...", "‧": "·", "・": "·", "〜": "~", "―": "—", "─": "—", "⁄": "/", "′": "'", "″": '"', "≈": "~"}


def simplified():
    """{Traditional character: its Simplified one}"""
    simplify = opencc.OpenCC("t2s").convert
    characters = {c: simplify(c) for c in map(chr, HAN) if c not in KEPT}
    return {c: s for c, s in characters.items() if s != c and len(s) == 1}


def rules(model):
    """{text: what becomes of it} for a ModelProto of nmt_nfkc, with or without these rules already."""
    simplify = opencc.OpenCC("t2s").convert
    ours = {**simplified(), **MARKS, **{word: simplify(word) for word in WORDS}}
    given = dict(sentencepiece.SentencePieceNormalizer(model_proto=model).Decompile())
    turned = {text: "".join(ours.get(c, c) for c in value) for text, value in given.items()}
    return {**turned, **ours}


def install(path):
    """Gives the SentencePiece model in the file `path` these rules."""
    model = sentencepiece_model_pb2.ModelProto.FromString(Path(path).read_bytes())
    made = sentencepiece.SentencePieceNormalizer(norm_map=list(rules(model).items()))
    spec = sentencepiece_model_pb2.NormalizerSpec.FromString(made.serialized_normalizer_spec())
    model.normalizer_spec.precompiled_charsmap = spec.precompiled_charsmap
    Path(path).write_bytes(model.SerializeToString())
