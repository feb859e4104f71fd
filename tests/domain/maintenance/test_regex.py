"""Regexes of patterns: each means what it means in `re`, and takes time that is linear in the name."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.domain.maintenance import regex
from tidegate.domain.maintenance.regex import Regex
from tidegate.domain.maintenance.regex_program import RegexError

ROWS = [
    ("abc", ["abc"], ["ab", "abcd", ""]),
    ("a.c", ["abc", "a.c", "a\nc"], ["ac"]),
    (r"a\.c", ["a.c"], ["abc"]),
    (r"a\/c", ["a/c"], ["a\\/c"]),
    (r"\_\ü", ["_ü"], ["ü"]),
    (r"\\", ["\\"], [""]),
    ("a*", ["", "a", "aaa"], ["b", "ab"]),
    ("a+", ["a", "aaa"], [""]),
    ("a?", ["", "a"], ["aa"]),
    ("a*?b", ["b", "aab"], ["a"]),
    ("a??", ["", "a"], ["aa"]),
    ("a{2}", ["aa"], ["a", "aaa"]),
    ("a{2,}", ["aa", "aaaa"], ["a"]),
    ("a{0,}", ["", "aa"], ["b"]),
    ("a{1,3}", ["a", "aaa"], ["", "aaaa"]),
    ("a{0,2}b", ["b", "aab"], ["aaab"]),
    ("a{0}b", ["b"], ["ab"]),
    ("a{0,0}b", ["b"], ["ab"]),
    ("a|bc", ["a", "bc"], ["ac", "b"]),
    ("a|b|", ["a", "b", ""], ["ab"]),
    ("(a|b)c", ["ac", "bc"], ["abc"]),
    ("(?:ab)+", ["ab", "abab"], ["aba"]),
    ("(a{2}_)+", ["aa_", "aa_aa_"], ["aa_a_"]),
    ("(raw_[a-z]+)?x", ["x", "raw_abx"], ["raw_x_"]),
    ("(a?b)*", ["", "bab"], ["a"]),
    ("()*a", ["a"], ["b"]),
    ("[a-c_]+", ["ab_c"], ["d"]),
    ("[^a-c]", ["d"], ["a", ""]),
    ("[]a]", ["]", "a"], ["[]a]"]),
    ("[^]a]", ["b"], ["]"]),
    ("[a-]", ["a", "-"], ["b"]),
    ("[-a]", ["a", "-"], ["b"]),
    (r"[\]\-x]", ["]", "-", "x"], ["\\"]),
    (r"[\d_-]+", ["1_-"], ["a"]),
    (r"\d\w\s", ["1a ", "٣_\t"], ["aa ", "1- ", "1aa"]),
    (r"\D\W\S", ["a-x"], ["1-x", "aax", "a- "]),
    ("^abc$", ["abc"], ["xabc"]),
    ("^a|b$", ["a", "b"], ["ab"]),
    (r"a\$", ["a$"], ["a"]),
    (r"a\\$", ["a\\"], ["a$"]),
]

REFUSED = [
    ("", "a regex is not empty"),
    ("a" * 129, "a regex has at most 128 characters"),
    ("a)", 'each ")" of a regex closes a "("'),
    ("(a", 'each "(" of a regex is closed'),
    ("[a", 'each "[" of a regex is closed'),
    ("[", 'each "[" of a regex is closed'),
    ("[a-", 'each "[" of a regex is closed'),
    ("[z-a]", "a range of a class goes up"),
    (r"[a-\d]", "a range of a class goes up"),
    ("*a", "a repetition follows what it repeats"),
    ("a|+", "a repetition follows what it repeats"),
    ("{2}", "a repetition follows what it repeats"),
    ("a**", "an item of a regex is repeated once"),
    ("a*+", "an item of a regex is repeated once"),
    ("a{2}{3}", "an item of a regex is repeated once"),
    ("a{", "a counted repetition has numbers"),
    ("a{}", "a counted repetition has numbers"),
    ("a{,3}", "a counted repetition has numbers"),
    ("a{1,b}", "a counted repetition has numbers"),
    ("a{٣}", "a counted repetition has numbers"),
    ("a{3,2}", "a counted repetition goes up"),
    ("a{1,0}", "a counted repetition goes up"),
    ("a{5,0}", "a counted repetition goes up"),
    ("a{256}", "a counted repetition goes up"),
    ("a{256,}", "a counted repetition goes up"),
    ("(a+)+", "a regex repeats nothing that itself repeats"),
    ("(a*b)*", "a regex repeats nothing that itself repeats"),
    ("((a|b+)c){2,3}", "a regex repeats nothing that itself repeats"),
    ("(a{1,5}){4}", "a regex repeats nothing that itself repeats"),
    ("(.*)*", "a regex repeats nothing that itself repeats"),
    ("(a{99}){99}", "a regex has at most 2000 steps"),
    ("a{200}" * 20, "a regex has at most 2000 steps"),
    ("a^b", "a regex matches the whole text"),
    ("(a$)", "a regex matches the whole text"),
    ("(?=a)", "a regex has groups ( ) and (?: ) only"),
    ("(?!a)", "a regex has groups ( ) and (?: ) only"),
    ("(?<=a)", "a regex has groups ( ) and (?: ) only"),
    ("(?P<n>a)", "a regex has groups ( ) and (?: ) only"),
    ("(?i)a", "a regex has groups ( ) and (?: ) only"),
    ("(?", "a regex has groups ( ) and (?: ) only"),
    (r"(a)\1", "a regex has the escapes"),
    (r"\ba", "a regex has the escapes"),
    (r"[\x41]", "a regex has the escapes"),
    ("a\\", "a backslash has a character behind it"),
]


@pytest.mark.parametrize(("text", "matching", "others"), ROWS, ids=[row[0] for row in ROWS])
def test_what_a_regex_matches(text: str, matching: list[str], others: list[str]) -> None:
    found, known = Regex(text), re.compile(text, re.DOTALL)
    for name in matching:
        assert found.matches(name) and known.fullmatch(name), name
    for name in others:
        assert not found.matches(name) and not known.fullmatch(name), name


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[row[0][:20] for row in REFUSED])
def test_anything_else_is_refused_with_the_value_and_a_hint(text: str, message: str) -> None:
    with pytest.raises(RegexError) as refused:
        Regex(text)
    assert refused.value.message.startswith(message)
    assert ", got " in refused.value.message
    assert refused.value.hint


@given(st.text("ab(|)*+?{02,}[]^-.\\d$1_", max_size=9), st.text("ab1]^-_$", max_size=6))
def test_each_regex_means_what_it_means_in_re(text: str, name: str) -> None:
    try:
        found = Regex(text)
    except RegexError:
        return
    assert found.matches(name) == bool(re.fullmatch(text, name, re.DOTALL))


def test_many_wildcards_take_linear_time() -> None:
    assert not Regex(".*_" * 40 + "x").matches("_" * 20_000)


def test_what_is_kept_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regex, "MAX_KEPT_MOVES", 3)
    found = Regex("(a|b|c)+d?e")
    for name in ("abce", "cbade", "e", "aade", "abc", "abcde"):
        assert found.matches(name) == bool(re.fullmatch("(a|b|c)+d?e", name))
