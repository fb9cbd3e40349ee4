#!/usr/bin/env python3
"""Writes tests/text/repair.tsv: byte strings and what Python's decoder makes of them, in hex.

Python follows The Unicode Standard, section 3.9 ("U+FFFD Substitution of Maximal Subparts").
The strings join bytes at both ends of every range of table 3-7 in every order that matters.
"""
import itertools
import pathlib

EDGES = bytes.fromhex("00 41 7f 80 8f 90 9f a0 bf c0 c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 ff")
LEADS = bytes.fromhex("e0 e1 ed ef f0 f1 f4")
TRAILS = bytes.fromhex("41 80 8f 90 9f a0 bf")


def strings():
    yield from (bytes([a]) for a in EDGES)
    yield from map(bytes, itertools.product(EDGES, EDGES))
    yield from map(bytes, itertools.product(LEADS, TRAILS, bytes.fromhex("41 80 bf c2")))
    yield from map(bytes, itertools.product(bytes.fromhex("f0 f1 f4"), bytes.fromhex("80 8f 90 bf"),
                                            bytes.fromhex("41 80 c2"), bytes.fromhex("41 80 bf")))
    yield "我爱水课。".encode()[:-1] + "\ufffd𠀀😀".encode()[:-1]


def main():
    path = pathlib.Path(__file__).with_name("repair.tsv")
    with path.open("w", encoding="ascii") as file:
        for raw in strings():
            repaired = raw.decode("utf-8", errors="replace").encode()
            print(raw.hex(), repaired.hex(), sep="\t", file=file)


if __name__ == "__main__":
    main()
