"""Suggestions: which known word an unknown one was most likely meant to be."""

from tidegate.domain.suggest import MAX_COMPARED_CHARACTERS, closest


def test_a_word_that_is_too_long_is_not_compared():
    word = "x" * (MAX_COMPARED_CHARACTERS + 1)
    assert closest(word, [word]) is None
