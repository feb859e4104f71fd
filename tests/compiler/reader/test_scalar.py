"""Plain scalars mean what YAML 1.2 says, and nothing that YAML 1.1 made of them."""

import pytest

from tidegate.compiler.reader import MappingNode, plain, read
from tidegate.compiler.reader.scalar import ScalarError, resolve

MEANINGS = [
    ("no", "no"),
    ("yes", "yes"),
    ("on", "on"),
    ("off", "off"),
    ("n", "n"),
    ("true", True),
    ("True", True),
    ("TRUE", True),
    ("tRue", "tRue"),
    ("false", False),
    ("null", None),
    ("Null", None),
    ("~", None),
    ("", None),
    ("nil", "nil"),
    ("0", 0),
    ("-0", 0),
    ("010", 10),
    ("0010", 10),
    ("+7", 7),
    ("-12", -12),
    ("0o17", 15),
    ("0x1F", 31),
    ("0b11", "0b11"),
    ("1_000", "1_000"),
    ("22:30", "22:30"),
    ("1:30:00", "1:30:00"),
    ("2013-01-01", "2013-01-01"),
    ("2013-01-01T00:00:00Z", "2013-01-01T00:00:00Z"),
    ("1.5", 1.5),
    ("-.5", -0.5),
    ("1.", 1.0),
    ("1e3", 1000.0),
    ("1e", "1e"),
    ("1.2.3", "1.2.3"),
    ("+", "+"),
    ("-", "-"),
    (".", "."),
    ("=", "="),
    ("999999999999999999", 999_999_999_999_999_999),
    ("000000000000000000000000000001", 1),
    ("５", "５"),
]


@pytest.mark.parametrize(("text", "meaning"), MEANINGS)
def test_a_plain_scalar_means(text: str, meaning: object) -> None:
    found = resolve(text)
    assert found == meaning
    assert type(found) is type(meaning)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1000000000000000000", "R117"),
        ("9" * 5_000, "R117"),
        ("0x" + "f" * 5_000, "R117"),
        ("0xffffffffffffffff", "R117"),
        ("0o" + "7" * 30, "R117"),
        ("1." + "0" * 100, "R117"),
        (".inf", "R118"),
        ("-.INF", "R118"),
        (".nan", "R118"),
        ("1e400", "R118"),
    ],
)
def test_a_number_that_cannot_be_kept_is_refused(text: str, code: str) -> None:
    with pytest.raises(ScalarError) as refused:
        resolve(text)
    assert refused.value.code == code
    assert refused.value.hint


@pytest.mark.parametrize("quoted", ['"010"', "'true'", '"null"', '"1.5"', "|-\n  no"])
def test_a_quoted_scalar_is_a_string(quoted: str) -> None:
    root, findings = read("f.yaml", f"a: {quoted}\n".encode())
    assert not findings.failed
    assert isinstance(root, MappingNode)
    assert isinstance(plain(root)["a"], str)
