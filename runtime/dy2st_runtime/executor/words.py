"""Routines on words that are anywhere in memory: whether they are as they were, and what they are now.

A record is three words: how many there are, where their addresses are, and where they are noted.
"""

from __future__ import annotations

from typing import Any

from .runs import put_words, word


def changed_words(record: int) -> int:
    """How many words are not as noted. No branch depends on them, so the machine waits for many at a time."""
    places, noted = word(record, 1), word(record, 2)
    changed = 0
    for i in range(word(record, 0)):
        changed += 0 if word(word(places, i), 0) == word(noted, i) else 1
    return changed


def note_words(record: int) -> int:
    """Notes them as they are."""
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
