"""What the source pieces make of Traditional characters and rare marks."""
import shutil

import pytest
import sentencepiece

from recipe import normaliser
from recipe.pieces import SOURCE


@pytest.fixture
def normalise(toy):
    """Learnt pieces have the rules."""
    return sentencepiece.SentencePieceProcessor(str(toy / "data" / SOURCE)).normalize


def expect(normalise, cases):
    for given, wanted in cases.items():
        assert normalise(given).removeprefix("▁") == wanted


def test_traditional_becomes_simplified(normalise):
    expect(normalise, {"老師說我們學習": "老师说我们学习", "葡萄乾很乾淨": "葡萄干很干净", "瞭解與瞭望": "了解与瞭望",
                       "戴著項鍊鍛鍊": "戴著项链锻炼"})


def test_what_is_simplified_stays(normalise):
    expect(normalise, {text: text for text in ("乾隆皇帝和哪吒", "著名的瞭望塔", "干净的后面")})


def test_marks_of_other_typographies(normalise):
    expect(normalise, {"国发〔2023〕1号": "国发[2023]1号", "「你好」他說": "“你好”他说", "〈文〉⋯⋯½": "《文》......1/2"})


def test_what_nfkc_does_is_kept(normalise):
    expect(normalise, {"ＡＢＣ①㎡": "ABC1m2", "金": "金"})


def test_once_is_enough(toy, tmp_path):
    path = shutil.copy(toy / "data" / SOURCE, tmp_path)
    normaliser.install(path)
    assert (tmp_path / SOURCE).read_bytes() == (toy / "data" / SOURCE).read_bytes()
