"""Rules on names: functions that write are verbs; a whole name, "app/name", is taken apart in one place."""

import ast
from collections.abc import Iterator

from tests.tidy.finding import Finding, Source

PRODUCT = "tidegate"
PARTS = "tidegate/domain/part_name.py"
WHOLE_NAMES = frozenset(
    {"ref", "schedule", "task", "dataset", "program", "policy", "consumer", "whole", "stored_as"}
)
"""Variables and attributes that hold "app/name"."""


def check_names(source: Source) -> Iterator[Finding]:
    """Every breach of these rules in one file of the product."""
    for node in source.nodes if source.package == PRODUCT else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if writes(node) and is_participle(node.name):
                yield source.finding(node.lineno, f"{node.name}() writes; name it by a verb: what it does")
        elif isinstance(node, ast.Call) and _splits(node) and source.path != PARTS:
            text = ast.unparse(node.func)
            yield source.finding(node.lineno, f"{text} of a whole name; Ref.of, app_of and name_of do that")


def writes(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a public function writes: it returns nothing, or is given a transaction."""
    if node.name.startswith("_") or any(
        ast.unparse(each).endswith("property") for each in node.decorator_list
    ):
        return False
    given = [each.annotation for each in (*node.args.args, *node.args.kwonlyargs) if each.annotation]
    returns = None if node.returns is None else ast.unparse(node.returns)
    return returns == "None" or any("Transaction" in ast.unparse(each) for each in given)


def is_participle(name: str) -> bool:
    """Return whether the first word of a name is a regular past participle."""
    word = name.partition("_")[0]
    return word.endswith("ed") and word not in ("feed", "seed", "need", "embed")


def _splits(node: ast.Call) -> bool:
    if not (isinstance(node.func, ast.Attribute) and node.func.attr in ("partition", "split")):
        return False
    of = node.func.value
    name = of.attr if isinstance(of, ast.Attribute) else of.id if isinstance(of, ast.Name) else ""
    separators = [each.value for each in node.args if isinstance(each, ast.Constant)]
    return name in WHOLE_NAMES and separators[:1] == ["/"]
