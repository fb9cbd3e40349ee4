"""What is measured of translations: BLEU and chrF2 against references, and faults that show without any."""
from collections import Counter
import re
import unicodedata

from sacrebleu.metrics import BLEU, CHRF

CHECKS = ("repeated", "empty", "numbers", "names", "length")
USUAL_LENGTH = 0.8, 8.0  # characters of English for each of Chinese
UNITS = re.compile(r"[万亿千百十兆点％%折倍成]|分之")


def against(hypotheses, references):
    """BLEU and chrF2 with their signatures."""
    bleu, chrf = BLEU(), CHRF()
    b, c = bleu.corpus_score(hypotheses, [references]), chrf.corpus_score(hypotheses, [references])
    return dict(bleu=round(b.score, 2), chrf=round(c.score, 2), bleu_signature=str(bleu.get_signature()),
                chrf_signature=str(chrf.get_signature()))


def sentence_chrf(hypotheses, references):
    chrf = CHRF()
    return [chrf.sentence_score(h, [r]).score for h, r in zip(hypotheses, references)]


def repeats(english):
    """Whether some four words in a row come again: the mark of a decoder that has lost its way."""
    words = english.lower().split()
    grams = Counter(tuple(words[i:i + 4]) for i in range(len(words) - 3))
    return any(n > 1 for n in grams.values())


def missing_numbers(chinese, english):
    """Whether a number of the source, written in digits and not scaled by a unit, is nowhere in the translation."""
    def plain(text):
        return unicodedata.normalize("NFKC", text).replace(",", "")
    zh, here = plain(chinese), set(re.findall(r"\d+(?:\.\d+)?", plain(english)))
    for match in re.finditer(r"\d+(?:\.\d+)?", zh):
        scaled = UNITS.match(zh[match.end():].lstrip()[:2])
        if not scaled and len(match.group()) > 1 and match.group() not in here:
            return True
    return False


def missing_names(chinese, english):
    """Whether a word in Latin letters is nowhere in the translation."""
    def words(text):
        return re.findall(r"[A-Za-z]{2,}", unicodedata.normalize("NFKC", text))
    here = {w.lower().removesuffix("s") for w in words(english)}
    return any(w.lower().removesuffix("s") not in here for w in words(chinese))


def odd_length(chinese, english):
    ratio = len(english) / max(1, len(chinese))
    return not USUAL_LENGTH[0] <= ratio <= USUAL_LENGTH[1]


def faults(chinese, english):
    """Names of the checks that a translation fails."""
    if not english.strip():
        return ["empty"]
    found = (("repeated", repeats(english)), ("numbers", missing_numbers(chinese, english)),
             ("names", missing_names(chinese, english)), ("length", odd_length(chinese, english)))
    return [name for name, bad in found if bad]


def shares(all_faults):
    """{check: percentage of sentences that fail it}."""
    n = max(1, len(all_faults))
    return {check: round(100 * sum(check in f for f in all_faults) / n, 2) for check in CHECKS}
