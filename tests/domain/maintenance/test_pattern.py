"""Patterns of tables: docs/language.md, "Policies", one row for each sentence."""

import pytest

from tidegate.domain.maintenance.pattern import (
    MAX_PATTERN_CHARACTERS,
    PatternError,
    Specificity,
    best_match,
    parse_pattern,
)

MATCHES = [
    ("three parts are catalog, namespace and table", "w.a.orders", "w.a.orders"),
    ("two parts: any catalog", "a.orders", "w.a.orders"),
    ("one part: the table alone", "orders", "w.a.orders"),
    ("further dots belong to the table", "w.a.orders.2024", "w.a.orders.2024"),
    ("also under a glob", "w.a.orders.*", "w.a.orders.2024.q1"),
    ("a glob of a table goes over dots", "w.a.*4", "w.a.orders.2024"),
    ("any component", "*.*.*", "w.a.orders"),
    ("any table", "w.a.*", "w.a.orders"),
    ("a glob of several characters", "w.a.ord*", "w.a.orders"),
    ("of none", "w.a.orders*", "w.a.orders"),
    ("in the middle", "w.a.o*s", "w.a.orders"),
    ("several in one component", "w.a.*_tmp_*_v?", "w.a.x_tmp_y_tmp_z_v2"),
    ("two beside each other are one", "w.a.o**s", "w.a.orders"),
    ("a glob of one character", "w.a.order?", "w.a.orders"),
    ("a bracket is plain", "w.a.[ab]*", "w.a.[ab]c"),
    ("a component as a regex", "w./a|b/.orders", "w.b.orders"),
    ("of a table, over dots", "w.a./o.*4/", "w.a.orders.2024"),
    ("in front", "/w+/.a.orders", "www.a.orders"),
    ("three of them", "/w/./a/./o.*/", "w.a.orders"),
    ("with dots of its own", r"w./a\.?/.orders", "w.a.orders"),
    ("with an escaped slash", r"w./a\/b/.orders", "w.a/b.orders"),
    ("a regex of the whole name", r"/w\.(a|b)\..*/", "w.b.orders"),
    ("also with an escaped slash", r"/w\.a\/b\..*/", "w.a/b.orders"),
    ("a backslash that is escaped escapes nothing", r"w./a\\/.orders", "w.a\\.orders"),
    ("a name with spaces inside", "w.a.my table", "w.a.my table"),
]

OTHERS = [
    ("names are case-sensitive", "w.a.orders", "w.a.Orders"),
    ("another catalog", "w.a.orders", "v.a.orders"),
    ("another namespace", "a.orders", "w.b.orders"),
    ("another table", "orders", "w.a.order"),
    ("a name is not the beginning of one", "w.a.order", "w.a.orders"),
    ("namespaces are single components", "w.a.b.orders", "w.a.orders"),
    ("a glob of a namespace does not reach the table", "w.*.orders", "w.a.b.orders"),
    ("one character is not none", "w.a.orders?", "w.a.orders"),
    ("what comes last comes last", "w.a.*_tmp", "w.a.x_tmp_y"),
    ("each part of a glob needs its own characters", "w.a.*aa*aa", "w.a.aaa"),
    ("a regex is about the whole component", "w./a/.orders", "w.ab.orders"),
    ("a regex of the whole name is about all of it", "/orders/", "w.a.orders"),
    ("a dataset is not a table of that name", "flights/delays", "w.flights.delays"),
    ("a dataset in no catalog has no catalog name", "*", ""),
    ("nor for a regex", "/.*/", ""),
]


@pytest.mark.parametrize(("sentence", "pattern", "name"), MATCHES, ids=[row[0] for row in MATCHES])
def test_a_pattern_matches(sentence: str, pattern: str, name: str) -> None:
    assert best_match([pattern], name) is not None


@pytest.mark.parametrize(("sentence", "pattern", "name"), OTHERS, ids=[row[0] for row in OTHERS])
def test_a_pattern_does_not_match(sentence: str, pattern: str, name: str) -> None:
    assert best_match([pattern], name) is None


@pytest.mark.parametrize("name", ["orders", "a.orders"])
def test_a_name_with_fewer_parts_has_them_empty(name: str) -> None:
    assert best_match(["*.*.orders"], name) is not None
    assert best_match(["w.*.orders"], name) is None


@pytest.mark.parametrize(
    ("pattern", "specificity", "exact"),
    [
        ("w.a.orders", (2, 2, 2), True),
        ("a.orders", (0, 2, 2), True),
        ("orders", (0, 0, 2), True),
        ("*.a.orders", (0, 2, 2), False),
        ("w.*.orders", (2, 0, 2), False),
        ("*", (0, 0, 0), False),
        ("**", (0, 0, 1), False),
        ("?", (0, 0, 1), False),
        ("w.a*.*", (2, 1, 0), False),
        ("w./a/.o*", (2, 1, 1), False),
        (r"/w\.a\.orders/", (1, 1, 1), False),
        ("flights/delays", (2, 2, 2), True),
    ],
)
def test_how_specific_a_pattern_is(pattern: str, specificity: Specificity, exact: bool) -> None:
    found = parse_pattern(pattern)
    assert (found.specificity, found.exact) == (specificity, exact)


def test_the_catalog_counts_before_the_namespace_and_that_before_the_table() -> None:
    falling = ["w.a.t", "w.a.t*", "w.a.*", "w.a*.t", "w.*.t", "w*.a.t", "*.a.t", "*.a*.t", "t", "t*", "*"]
    found = [parse_pattern(text).specificity for text in falling]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("patterns", "name", "dataset", "found"),
    [
        (["*", "w.*.*", "w.b.*"], "w.a.orders", None, (2, 0, 0)),
        (["w.*.*", "*"], "w.a.orders", None, (2, 0, 0)),
        (["*", "w.a.orders"], "w.a.orders", None, (2, 2, 2)),
        (["x.*.*"], "w.a.orders", None, None),
        ([], "w.a.orders", None, None),
        (["flights/delays", "*"], "w.flights.delays", "flights/delays", (2, 2, 2)),
        (["*"], "w.flights.delays", "flights/delays", (0, 0, 0)),
        (["flights/delays"], "", "flights/delays", (2, 2, 2)),
        (["flights/delays", "*"], "", "flights/other", None),
    ],
)
def test_the_most_specific_pattern_of_a_list_counts(
    patterns: list[str], name: str, dataset: str | None, found: Specificity | None
) -> None:
    assert best_match(patterns, name, dataset) == found


def test_a_dataset_is_matched_by_its_own_name_and_by_that_of_its_table() -> None:
    for pattern in ("flights/delays", "w.flights.delays", "delays"):
        assert best_match([pattern], "w.flights.delays", "flights/delays") is not None
    assert best_match(["flights/delays"], "w.flights.delays") is None


REFUSED = [
    ("", "no component of a pattern is empty"),
    ("w.", "no component of a pattern is empty"),
    (".a", "no component of a pattern is empty"),
    ("w..orders", "no component of a pattern is empty"),
    ("w.a.orders.", "no component of a pattern is empty"),
    ("w.a.b..c", "no component of a pattern is empty"),
    (" orders", "no component of a pattern begins or ends with a space"),
    ("w.a .orders", "no component of a pattern begins or ends with a space"),
    ("/orders", "a regex of a pattern ends with a slash"),
    ("/", "a regex of a pattern ends with a slash"),
    (r"/orders\/", "a regex of a pattern ends with a slash"),
    ("w./a.orders", "a regex of a pattern ends with a slash"),
    ("/a/b.orders", "a regex is a whole component"),
    ("w./a/b.orders", "a regex is a whole component"),
    ("w.a./b/c", "a slash encloses a regex"),
    ("w.a.b/c/", "a slash encloses a regex"),
    ("w.a/b.c", "a slash encloses a regex"),
    ("flights/de*", "a slash encloses a regex"),
    ("Flights/delays", "a slash encloses a regex"),
    ("flights/", "a slash encloses a regex"),
    ("//", "a regex is not empty"),
    ("w.//.orders", "a regex is not empty"),
    ("/(a+)+/", "a regex repeats nothing that itself repeats"),
    ("w./[a/.orders", 'each "[" of a regex is closed'),
    ("o" * (MAX_PATTERN_CHARACTERS + 1), "a pattern has at most 256 characters, got 257"),
    ("/" + "o" * 129 + "/", "a regex has at most 128 characters, got 129"),
]


@pytest.mark.parametrize(("pattern", "message"), REFUSED, ids=[row[0][:20] for row in REFUSED])
def test_anything_else_is_refused_with_what_is_wrong_and_a_hint(pattern: str, message: str) -> None:
    with pytest.raises(PatternError) as refused:
        parse_pattern(pattern)
    assert refused.value.message.startswith(message)
    assert ", got " in refused.value.message
    assert refused.value.hint


def test_the_longest_patterns_are_read() -> None:
    assert parse_pattern("o" * MAX_PATTERN_CHARACTERS).exact
    assert best_match(["/" + "o" * 128 + "/"], "o" * 128) is not None


def test_a_pattern_that_is_looked_at_again_and_again_is_parsed_once() -> None:
    assert parse_pattern("w./(raw|clean)_.*/.*") is parse_pattern("w./(raw|clean)_.*/.*")


def test_a_glob_takes_no_longer_than_the_name_is_long() -> None:
    assert best_match(["*_a" * 80 + "b"], "w.a." + "_a" * 2_000) is None
