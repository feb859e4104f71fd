"""What a query of an SQL program must not have: found in its tokens and in its tree.

A query can only read its tables. Statements that do something are refused, since Spark carries them out as
soon as it sees them. So are names that lead past the tables (files, catalogs, `IDENTIFIER`), and functions
that run code or show where the files are. Tokens are asked where the tree could hide what Spark would see: a
function is refused however its name is quoted.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from tidegate.domain.sql.fault import Fault
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import shown

FUNCTIONS = ("identifier", "input_file_name", "java_method", "reflect", "try_reflect")
"""Functions that are refused: they read other things than tables, run code, or show where the files are."""

TABLE_FUNCTIONS = (
    "explode",
    "explode_outer",
    "inline",
    "inline_outer",
    "json_tuple",
    "posexplode",
    "posexplode_outer",
    "range",
    "stack",
)
"""The functions that may be in place of a table: they make rows of their arguments alone."""

BEGINNINGS = ("select", "with", "values", "table", "from", "(")
"""The first words of a query."""

STATEMENTS = frozenset(
    (
        *(
            "add",
            "alter",
            "analyze",
            "begin",
            "cache",
            "call",
            "clear",
            "comment",
            "commit",
            "copy",
            "create",
        ),
        *("declare", "delete", "desc", "describe", "dfs", "drop", "execute", "explain", "export", "grant"),
        *(
            "import",
            "insert",
            "list",
            "load",
            "lock",
            "map",
            "merge",
            "msck",
            "optimize",
            "reduce",
            "refresh",
        ),
        *("repair", "replace", "reset", "revoke", "rollback", "set", "show", "start", "truncate", "uncache"),
        *("unlock", "unset", "update", "use", "vacuum"),
    )
)
"""The first words of what does something."""

_NAMES = (TokenType.VAR, TokenType.IDENTIFIER)
_DOES = ("insert", "update", "delete", "merge", "create", "drop")
_ONLY = "name a dataset under `reads`: the query reads nothing else"
_NO_FUNCTION = "compute it without: a query reads its tables and makes rows, and does nothing else"


def refused_tokens(tokens: Sequence[Token]) -> Iterator[Fault]:
    """Yield the faults that the tokens of one statement show."""
    for index, token in enumerate(tokens):
        after = tokens[index + 1] if index + 1 < len(tokens) else None
        if after is None:
            continue
        word = token.text.lower()
        if after.token_type is TokenType.L_PAREN and token.token_type is not TokenType.STRING:
            first = _first_part(tokens, index)
            if word in FUNCTIONS:
                name = word.upper() if word == "identifier" else word
                yield Fault.at(token, "Q109", f"a query must not call {name}, got it here", _NO_FUNCTION)
            elif first is not token and token.token_type in _NAMES:
                summary = f"a function has a name of one part, got {first.text}.{token.text}"
                yield Fault.at(first, "Q109", summary, "write the name of a function of Spark")
        if word == "using" and after.token_type is TokenType.STRING:
            place = next((t for t in reversed(tokens[:index]) if t.text.lower() in _SCRIPTS), token)
            summary = f"a query must not run a command, got {place.text.upper()} … USING"
            yield Fault.at(place, "Q109", summary, _NO_FUNCTION)


_SCRIPTS = ("transform", "map", "reduce")


def _first_part(tokens: Sequence[Token], index: int) -> Token:
    """Return the first part of the name whose last part is a token."""
    while index >= 2 and tokens[index - 1].token_type is TokenType.DOT:
        index -= 2
    return tokens[index]


def not_a_query(tokens: Sequence[Token]) -> Fault | None:
    """Return the fault of a text that does not begin like a query."""
    first = tokens[0]
    word = first.text.lower().partition(" ")[0]
    if word in BEGINNINGS and first.token_type is not TokenType.STRING:
        return None
    if word not in STATEMENTS:
        summary = f"the query must be SQL of Spark, got {shown(first.text[:40])} at its beginning"
        return Fault.at(first, "Q102", summary, did_you_mean(word, BEGINNINGS[:-1], "first words"))
    summary = f"the file holds a query, got {word.upper()}, which does something"
    return Fault.at(first, "Q104", summary, "begin with SELECT, WITH, VALUES, TABLE or FROM … SELECT")


def does_something(tree: exp.Expr, tokens: Sequence[Token]) -> Fault | None:
    """Return the fault of a statement that begins like a query and is none."""
    if isinstance(tree, exp.Query | exp.Values):
        return None
    place = next((token for token in tokens if token.text.lower() in _DOES), tokens[0])
    summary = f"the file holds a query, got {place.text.upper()}, which does something"
    return Fault.at(place, "Q104", summary, "write the SELECT alone: Tidegate writes its rows to the output")


def refused_relations(tree: exp.Expr, text: str) -> Iterator[Fault]:
    """Yield the faults of what is in place of tables."""
    for table in tables_in(tree):
        name: Any = table.this
        if table.args.get("db") is not None:
            parts = [part for part in table.parts if isinstance(part, exp.Identifier)]
            whole = ".".join(part.name for part in parts)
            summary = f"a table has a name of one part, got {whole[:80]}"
            yield Fault.of(parts[0], "Q109", summary, _ONLY)
        elif isinstance(name, exp.Func):
            yield from _table_function(name, text)
        elif not isinstance(name, exp.Identifier):
            summary = f"a table is named, got {name.sql('spark')[:80]}"
            yield Fault.of(name, "Q109", summary, _ONLY)
    for lateral in tree.find_all(exp.Lateral):
        if isinstance(lateral.this, exp.Func):
            yield from _table_function(lateral.this, text)


def tables_in(tree: exp.Expr) -> list[exp.Table]:
    """Return what is in place of tables, without the names in hints."""
    return [table for table in tree.find_all(exp.Table) if table.find_ancestor(exp.Hint) is None]


def _table_function(function: exp.Func, text: str) -> Iterator[Fault]:
    start, end = function.meta.get("start"), function.meta.get("end")
    name = function.name if start is None or end is None else text[start : end + 1].strip("`")
    if name.lower() not in (*TABLE_FUNCTIONS, *FUNCTIONS):
        summary = f"a table function is one of {', '.join(TABLE_FUNCTIONS)}, got {name[:80]}"
        yield Fault.of(function, "Q109", summary, _ONLY)
