#!/usr/bin/env python3
"""Scores of models, through the program: evaluate.py OUT --model DIR [DIR ...] --set TSV [TSV ...]

Every model (fp32 and int8 directories alike) translates every set with every --beam. A set is `zh [TAB en [TAB
register]]` a line; without references only the checks that need none are made. OUT receives report.md (tables, worst
sentences), report.json (all figures) and the translations.
"""
import argparse
from dataclasses import dataclass, field
from pathlib import Path

from recipe import marian, program, scores

WORST = 30


@dataclass
class Test:
    """A test set: its columns."""
    name: str
    sources: list
    references: list = field(default_factory=list)
    registers: list = field(default_factory=list)


@dataclass
class Result:
    """What one model made of one set."""
    model: str
    form: str
    test: Test
    beam: int
    hypotheses: list
    seconds: float

    def __post_init__(self):
        self.faults = [scores.faults(s, h) for s, h in zip(self.test.sources, self.hypotheses)]
        self.scores = scores.against(self.hypotheses, self.test.references) if self.test.references else {}

    def row(self):
        return dict(model=self.model, form=self.form, set=self.test.name, sentences=len(self.hypotheses),
                    beam=self.beam, **self.scores, seconds=round(self.seconds, 1), **scores.shares(self.faults))


def read_test(path):
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    column = lambda i: [r[i] for r in rows] if all(len(r) > i for r in rows) else []
    return Test(path.stem, column(0), column(1), column(2))


def form_of(model):
    return "int8" if "quantization_config" in marian.read_json(model / "config.json") else "fp32"


def table(rows, columns):
    """A Markdown table of dictionaries."""
    lines = [columns, ["---"] * len(columns)] + [[str(r.get(c, "")) for c in columns] for r in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def by_register(result):
    """Rows of scores for each register with references, the largest first."""
    test, places = result.test, {}
    for i, name in enumerate(test.registers):
        places.setdefault(name, []).append(i)
    pick = lambda values, where: [values[i] for i in where]
    return [dict(register=name, sentences=len(where),
                 **scores.against(pick(result.hypotheses, where), pick(test.references, where)),
                 **scores.shares(pick(result.faults, where)))
            for name, where in sorted(places.items(), key=lambda x: -len(x[1]))]


def worst(result):
    """The sentences with the lowest chrF, or, without references, with most faults."""
    test = result.test
    if test.references:
        badness = [-c for c in scores.sentence_chrf(result.hypotheses, test.references)]
    else:
        badness = [len(f) for f in result.faults]
    order = sorted(range(len(badness)), key=lambda i: -badness[i])[:WORST]
    lines = []
    for i in order:
        lines.append(f"{i + 1}. {test.sources[i]}  \n   {result.hypotheses[i]}")
        if test.references:
            lines[-1] += f"  \n   *{test.references[i]}* (chrF {-badness[i]:.0f})"
        if result.faults[i]:
            lines[-1] += f" — {', '.join(result.faults[i])}"
    return "\n".join(lines)


def report(results):
    figures = ["model", "form", "set", "sentences", "beam", "bleu", "chrf", "seconds", *scores.CHECKS]
    parts = ["# Scores", table([r.row() for r in results], figures),
             "repeated, empty, numbers, names, length: percentage of translations with some four words twice, without "
             "any word, without a number of the source, without one of its words in Latin letters, of unusual length."]
    signatures = {r.scores[k] for r in results for k in ("bleu_signature", "chrf_signature") if r.scores}
    parts += [f"- `{s}`" for s in sorted(signatures)]
    for r in results:
        title = f"{r.model}, {r.form}, {r.test.name}, beam {r.beam}"
        if len(set(r.test.registers)) > 1 and r.test.references:
            parts += [f"## Registers: {title}",
                      table(by_register(r), ["register", "sentences", "bleu", "chrf", *scores.CHECKS])]
    last = {r.test.name: r for r in results}
    for r in last.values():
        parts += [f"## Worst sentences: {r.model}, {r.form}, {r.test.name}, beam {r.beam}", worst(r)]
    return "\n\n".join(parts) + "\n"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("out", type=Path)
    p.add_argument("--model", type=Path, nargs="+", required=True)
    p.add_argument("--set", dest="sets", type=Path, nargs="+", required=True, metavar="TSV")
    p.add_argument("--beam", type=int, nargs="+", default=[1, 4])
    p.add_argument("--zhen", default=program.find(), help="the program (default: %(default)s)")
    o = p.parse_args()
    o.out.mkdir(parents=True, exist_ok=True)
    results = []
    for model in o.model:
        for test in map(read_test, o.sets):
            for beam in o.beam:
                lines, seconds = program.translate(o.zhen, model, test.sources, beam)
                results.append(Result(model.name, form_of(model), test, beam, lines, seconds))
                name = f"{model.name}.{test.name}.beam{beam}.txt"
                (o.out / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
                print(results[-1].row(), flush=True)
    marian.write_json(o.out / "report.json", [r.row() for r in results])
    (o.out / "report.md").write_text(report(results), encoding="utf-8")


if __name__ == "__main__":
    main()
