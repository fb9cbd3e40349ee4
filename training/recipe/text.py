"""Text of parallel corpora: normal form, keys for comparing, and what is not worth learning from."""
import re
import unicodedata

from . import normaliser

HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
LATIN = re.compile(r"[A-Za-z]+")
DEBRIS = re.compile(r"[\u0000-\u001f\ufffd]|‚Ä|â€|Ã[\u0080-\u00bf]|&[a-z]+;|\{\{|\}\}|</|<[a-z]+ |https?://\S{40,}")
SIMPLIFIED = str.maketrans(normaliser.simplified())
LONGEST = 220, 800  # characters of a Chinese, an English side


def normal(text):
    """Composed characters, single spaces."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFC", text)).strip()


def key(text):
    """Equal for sentences that differ in punctuation, case, width, spaces or script only."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text)).lower().translate(SIMPLIFIED)


def _scripts_fit(zh, en):
    return bool(HAN.search(zh)) and not HAN.search(en) and bool(LATIN.search(en))


def _lengths_fit(zh, en):
    """English words for each Chinese character (a Latin word counts 1.7, a number half)."""
    characters, words = len(HAN.findall(zh)), len(en.split())
    if characters <= 4:
        return words <= 14
    size = characters + 1.7 * len(LATIN.findall(zh)) + 0.5 * len(re.findall(r"\d+", zh))
    return 0.25 <= words / size <= 1.6


def _numbers_fit(zh, en):
    """Some number of two digits or more is on both sides, unless the Chinese one may have been multiplied out."""
    there = set(re.findall(r"\d{2,}", unicodedata.normalize("NFKC", zh)))
    here = set(re.findall(r"\d{2,}", en.replace(",", "")))
    return not there or bool(there & here) or bool(re.search(r"[万亿百千]", zh))


def _names_fit(zh, en):
    """Half of the Latin words in the Chinese are in the English too."""
    names = [x for x in LATIN.findall(zh) if len(x) > 3]
    if not names or len(en.split()) <= 3:
        return True
    return sum(x.lower() in en.lower() for x in names) >= 0.5 * len(names)


def worth_learning(zh, en):
    """Whether a pair in normal form looks like a sentence and its translation."""
    if len(zh) > LONGEST[0] or len(en) > LONGEST[1] or DEBRIS.search(zh) or DEBRIS.search(en):
        return False
    return _scripts_fit(zh, en) and _lengths_fit(zh, en) and _numbers_fit(zh, en) and _names_fit(zh, en)
