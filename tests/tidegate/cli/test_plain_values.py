"""What the command line takes without typer's converters is what these would make of it."""

from enum import Enum
from pathlib import Path
from typing import Any, get_args

import typer.core
from typer._coercion import build_runtime_param

from tests.tidegate.cli.walk import every_command
from tidegate.cli.plain_values import CONVERTER, UNKNOWN, plain_value

WORDS = ("word", "", "5", "-3", "0007", "5.0", "9" * 30, "٣", "yes", ".", "/no/such/file", "/etc/shadow")
OTHERS = (None, True, False, 5, -1, 2**40, Path(), (), [], ("word",), ["5", "6"], ("text", "json"))


def values(parameter: Any) -> list[Any]:
    """Values of a parameter: words, its default, and what is in its list of words."""
    kinds = (parameter.type_descriptor.annotation, *get_args(parameter.type_descriptor.annotation))
    members = [each for kind in kinds if isinstance(kind, type) and issubclass(kind, Enum) for each in kind]
    return [*WORDS, *OTHERS, parameter.default, *members, *(each.value for each in members)]


def test_typer_has_the_converter_whose_place_is_taken() -> None:
    assert callable(typer.core.__dict__[CONVERTER])


def test_a_value_that_is_taken_as_it_is_is_what_typer_makes_of_it() -> None:
    parameters: dict[Any, Any] = {
        (str(each.type_descriptor), each.multiple, each.nargs): each
        for _, command in every_command()
        for each in list[Any](command.params)
        if hasattr(each, "type_descriptor")
    }
    taken = 0
    for each in parameters.values():
        wanted, several = each.type_descriptor, each.multiple or each.nargs == -1
        converter = build_runtime_param(wanted)
        for value in values(each):
            plain = plain_value(value, wanted, several=several)
            if plain is not UNKNOWN:
                made = converter.coerce(value, param=each, ctx=typer.Context(typer.core.TyperCommand("x")))
                assert (type(plain), plain) == (type(made), made), (each.name, value)
                taken += 1
    assert taken > len(parameters)
