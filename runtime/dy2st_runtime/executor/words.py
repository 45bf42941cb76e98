"""Routines on words that are anywhere in memory: whether they are as they were, and what they are now.

A record is four words: how many there are, where their addresses are, where they are noted, and where the next record is, or 0. Words of
an object that may be gone are in a record behind the one that tells whether it is.
"""

from __future__ import annotations

from typing import Any

from .runs import put_words, word


def changed_words(record: int) -> int:
    """How many words are not as noted, in the first record of a chain that has such. No branch depends on the words of one, so the machine
    waits for many at a time."""
    changed = 0
    while record != 0 and changed == 0:
        places, noted = word(record, 1), word(record, 2)
        for i in range(word(record, 0)):
            changed += 0 if word(word(places, i), 0) == word(noted, i) else 1
        record = word(record, 3)
    return changed


def note_words(record: int) -> int:
    """Notes those of one record as they are."""
    places, noted = word(record, 1), word(record, 2)
    for i in range(word(record, 0)):
        put_words(noted, i, word(word(places, i), 0))
    return 0


def differing_items(place: int, noted: int, count: int) -> int:
    """How many of the words that another word is the address of are not as noted."""
    items = word(place, 0)
    differing = 0
    for i in range(count):
        differing += 0 if word(items, i) == word(noted, i) else 1
    return differing


FUNCTIONS: dict[str, Any] = {f.__name__: f for f in (changed_words, differing_items, note_words)}
