"""Checks without references."""
import pytest

import evaluate
from recipe import scores, text


@pytest.mark.parametrize("chinese, english, expected", [
    ("他有25只猫。", "He has 25 cats.", []),
    ("他有25只猫。", "He has some cats.", ["numbers"]),
    ("人口3.5亿。", "The population is 350 million.", []),
    ("总计1,200人。", "1200 people in total.", []),
    ("有１２人。", "There are 12 people.", []),
    ("他叫Dilokrit，写bug。", "He is Dilokrit, who writes bugs.", []),
    ("他叫Dilokrit。", "He is Dilkullkull.", ["names"]),
    ("你好。", "", ["empty"]),
    ("他走了。", "He went to the house, then he went to the house.", ["repeated", "length"]),
    ("这是一个非常非常非常非常长的句子。", "Long.", ["length"]),
])
def test_faults(chinese, english, expected):
    assert scores.faults(chinese, english) == expected


def test_shares():
    assert scores.shares([[], ["empty"], ["numbers", "length"], []]) == \
        dict(repeated=0.0, empty=25.0, numbers=25.0, names=0.0, length=25.0)


def test_scores_have_signatures():
    got = scores.against(["The cat sat on the mat."], ["The cat sat on the mat."])
    assert got["bleu"] == pytest.approx(100) and got["chrf"] == pytest.approx(100)
    assert "tok:13a" in got["bleu_signature"] and "nc:6" in got["chrf_signature"]


def test_only_line_feeds_end_lines(tmp_path):
    (tmp_path / "set.tsv").write_text("我喜欢\u2028看书。\tI like to read.\n他来了。\tHe came.\n", encoding="utf-8")
    test = evaluate.read_test(tmp_path / "set.tsv")
    assert test.sources == ["我喜欢\u2028看书。", "他来了。"] and test.references == ["I like to read.", "He came."]


@pytest.mark.parametrize("chinese, english, good", [
    ("我昨天买了一本书。", "I bought a book yesterday.", True),
    ("我昨天买了一本书。", "Yes.", False),                        # too short
    ("我昨天买了一本书。", "I bought 一本书 yesterday.", False),   # Chinese on the English side
    ("二〇二四年有365天和52周。", "There are 366 days in this one year.", False),
    ("请安装 Python 和 Docker 软件。", "Please install the software first.", False),
    ("共有3万人参加了比赛。", "30,000 people took part in the race.", True),
])
def test_what_is_worth_learning(chinese, english, good):
    assert text.worth_learning(text.normal(chinese), text.normal(english)) == good
