"""Reads a query of an SQL program: its tables, its parameters, and why it is refused.

    text ─► tokens ─► one statement? a query? ─► tree ─► tables, CTEs, parameters, refused parts

`sqlglot` parses, in the dialect of Spark. It accepts some of what Spark refuses, which then fails the run;
what this module refuses is refused by `lint`, and again by the run before Spark sees the text. It is imported
only where an app has a program with `sql`.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from tidegate.domain.sql.fault import Fault
from tidegate.domain.sql.refused import (
    does_something,
    not_a_query,
    refused_relations,
    refused_tokens,
    tables_in,
)
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.value import Value
from tidegate.domain.wording import shown

DIALECT = "spark"


class Use(Value, kw_only=True):
    """A name in a query: of a table, of a CTE, or of a parameter. `start` and `end` as in `Fault`."""

    name: str
    start: int
    end: int

    def fault(self, code: str, summary: str, hint: str) -> Fault:
        """Return a fault at this name."""
        return Fault(code=code, start=self.start, end=self.end, summary=summary, hint=hint)


class Query(Value, kw_only=True):
    """What a query names.

    Attributes:
        faults: why it is refused, whatever tables there are; then the rest may be empty.
        tables: each use of a table that is not one of its CTEs.
        ctes: the names that it gives itself.
        parameters: each use of `:NAME`.
        alone_in: parameters in `IN (…)`, where a list has no effect.
    """

    faults: tuple[Fault, ...] = ()
    tables: tuple[Use, ...] = ()
    ctes: tuple[Use, ...] = ()
    parameters: tuple[Use, ...] = ()
    alone_in: tuple[Use, ...] = ()


@lru_cache(maxsize=256)
def read_query(text: str) -> Query:
    """Return what a query names, or why it is refused."""
    try:
        return _read(text)
    except RecursionError:
        hint = "name its parts in a WITH, one after the other"
        return Query(
            faults=(_whole(text, "the query is nested too deeply, got more than can be read", hint),)
        )


def read_tree(text: str) -> exp.Expr:
    """Return the tree of a query that is not refused; it belongs to the caller.

    Raises:
        SqlglotError: the text is not a query.
    """
    (statement,) = _statements(list(sqlglot.tokenize(text, read=DIALECT)))
    found = sqlglot.parse(_without_table(text, statement), read=DIALECT)
    return next(tree for tree in found if tree is not None)


def judge_names(query: Query, tables: Collection[str]) -> Iterator[Fault]:
    """Yield the faults of the names in a query: unknown tables, and CTEs that would hide one.

    Args:
        tables: what it may read; names are compared without case.
    """
    known = {name.lower() for name in tables}
    for cte in query.ctes:
        if cte.name.lower() in known:
            summary = f"the name of a CTE is none of the tables, got {shown(cte.name)}, which it would hide"
            yield cte.fault("Q110", summary, "give the CTE another name")
    for table in query.tables:
        if table.name.lower() in known:
            continue
        summary = f"a table is a dataset under `reads`, got {shown(table.name)}"
        same = [name for name in tables if name.rpartition("/")[2] == table.name.rpartition("/")[2].lower()]
        if same:
            hint = f"write {quoted(same[0])}"
        elif known:
            hint = did_you_mean(table.name, sorted(tables), "tables")
        else:
            hint = "add it to `reads` of the program"
        yield table.fault("Q105", summary, hint)


def quoted(name: str) -> str:
    """Return the name of a dataset as a query has it: one of another app is in backticks."""
    return f"`{name}`" if "/" in name else name


def _read(text: str) -> Query:
    try:
        tokens: list[Token] = list(sqlglot.tokenize(text, read=DIALECT))
    except SqlglotError as error:
        return Query(faults=(_not_tokens(text, str(error)),))
    statements = _statements(tokens)
    if not statements:
        empty = Fault(
            code="Q101", start=0, end=1, summary=f"{_HOLDS}, got an empty file", hint="write a SELECT"
        )
        return Query(faults=(empty,))
    first = statements[0]
    if len(statements) > 1:
        summary = f"{_HOLDS}, got {len(statements)} statements"
        hint = "delete what is behind the semicolon; a program with several outputs has a file for each"
        return Query(faults=(Fault.at(statements[1][0], "Q103", summary, hint),))
    wrong = not_a_query(first) or _from_alone(first)
    if wrong is not None:
        return Query(faults=(wrong,))
    refused = tuple(refused_tokens(first))
    try:
        trees = [
            tree for tree in sqlglot.parse(_without_table(text, first), read=DIALECT) if tree is not None
        ]
    except ParseError as error:
        return Query(faults=refused or (_not_parsed(text, error, first),))
    except SqlglotError as error:
        return Query(
            faults=refused or (_whole(text, f"the query must be SQL of Spark, got {error}"[:300], _SPARK),)
        )
    tree = trees[0]
    wrong = does_something(tree, first) or _nothing_selected(tree, first)
    if wrong is not None:
        return Query(faults=(*refused, wrong))
    return Query(
        faults=(*refused, *refused_relations(tree, text)),
        tables=tuple(_use(t.this) for t in tables_in(tree) if _is_table(t) and not _is_cte(t)),
        ctes=tuple(_use(cte.args["alias"].this) for cte in tree.find_all(exp.CTE)),
        **_parameters(tree, first),
    )


_HOLDS = "the file holds one query"
_AFTER_FROM = ("select", "map", "reduce", "insert")
_SPARK = "see the SQL reference of Spark 3.5"


def _statements(tokens: Sequence[Token]) -> list[list[Token]]:
    found: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type is TokenType.SEMICOLON:
            found.append([])
        else:
            found[-1].append(token)
    return [statement for statement in found if statement]


def _without_table(text: str, tokens: Sequence[Token]) -> str:
    """Return the text with `FROM name` for each query `TABLE name`, which sqlglot does not know."""
    for token, after in pairwise(tokens):
        if token.text.lower() == "table" and after.token_type in (TokenType.VAR, TokenType.IDENTIFIER):
            text = f"{text[: token.start]}FROM {text[token.end + 1 :]}"
    return text


def _nothing_selected(tree: exp.Expr, tokens: Sequence[Token]) -> Fault | None:
    if all(select.expressions for select in tree.find_all(exp.Select)):
        return None
    place = tokens[-1]
    return Fault.at(place, "Q102", "a SELECT has columns, got one without", "write SELECT * for all columns")


def _from_alone(tokens: Sequence[Token]) -> Fault | None:
    """Find a query that begins with FROM and has no SELECT: sqlglot reads `SELECT *`, Spark refuses it."""
    begun: list[Token | None] = [None]  # the FROM of each query that is open, the innermost last
    for index, token in enumerate(tokens):
        kind = token.token_type
        if kind is TokenType.FROM and (index == 0 or tokens[index - 1].token_type is TokenType.L_PAREN):
            begun[-1] = token
        elif token.text.lower() in _AFTER_FROM:
            begun[-1] = None
        elif kind is TokenType.L_PAREN:
            begun.append(None)
        elif kind is TokenType.R_PAREN and begun[-1] is None and len(begun) > 1:
            begun.pop()
        elif kind is TokenType.R_PAREN:
            break
    if begun[-1] is None:
        return None
    summary = "a query that begins with FROM selects something, got no SELECT"
    return Fault.at(begun[-1], "Q102", summary, "write SELECT * FROM …")


def _is_table(table: exp.Table) -> bool:
    return isinstance(table.this, exp.Identifier) and table.args.get("db") is None


def _is_cte(table: exp.Table) -> bool:
    """Whether a name is one of the CTEs that are known at its place: those before it, or further out."""
    name, node = table.name.lower(), table
    while node.parent is not None:
        inner, node = node, node.parent
        with_: Any = node if isinstance(node, exp.With) else node.args.get("with_")
        if not isinstance(with_, exp.With) or inner is with_:
            continue
        ctes = list(with_.expressions)
        before = ctes[: ctes.index(inner)] if with_ is node else ctes
        if any(cte.alias.lower() == name for cte in before):
            return True
    return False


def _use(node: Any) -> Use:
    return Use(name=node.name, start=node.meta["start"], end=node.meta["end"] + 1)


def _parameters(tree: exp.Expr, tokens: Sequence[Token]) -> dict[str, tuple[Use, ...]]:
    placed: dict[str, Use] = {}
    for token, after in pairwise(tokens):
        if token.token_type is TokenType.COLON:
            placed.setdefault(after.text, Use(name=after.text, start=token.start, end=after.end + 1))
    nameless = next((t for t in tokens if t.text == "?"), tokens[0])
    unnamed = Use(name="?", start=nameless.start, end=nameless.end + 1)

    def uses(found: Iterator[Any]) -> tuple[Use, ...]:
        return tuple(dict.fromkeys(placed.get(str(each.this), unnamed) for each in found))

    inside = (each for node in tree.find_all(exp.In) for each in node.expressions)
    return {
        "parameters": uses(tree.find_all(exp.Placeholder)),
        "alone_in": uses(each for each in inside if isinstance(each, exp.Placeholder)),
    }


def _not_parsed(text: str, error: ParseError, tokens: Sequence[Token]) -> Fault:
    """Return the fault of a text that does not parse, at the token at which it stopped."""
    found: dict[str, Any] = error.errors[0] if error.errors else {}
    # The column that it names is that of the end of the token.
    place = next((t for t in tokens if (t.line, t.col) == (found.get("line"), found.get("col"))), tokens[-1])
    why = str(found.get("description") or "Invalid expression")
    wrong = text[place.start : place.end + 1][:40]
    return Fault.at(place, "Q102", f"the query must be SQL of Spark, got {shown(wrong)}: {why}", _SPARK)


def _not_tokens(text: str, message: str) -> Fault:
    """Return the fault of a text with a quote or a comment without an end, at its beginning."""
    opened, start = "", 0
    for found in _OPENERS.finditer(text):
        word = found[0]
        if not opened and word in _CLOSERS:
            opened, start = _CLOSERS[word], found.start()
        elif opened and word == opened:
            opened = ""
    got = text[start : start + 20].split("\n")[0] if opened else message.split("\n")[0][:120]
    summary = f"the query must be SQL of Spark, got {shown(got)} without an end"
    hint = "close each quote and each comment"
    return Fault(code="Q102", start=start, end=start + 1, summary=summary, hint=hint)


_CLOSERS = {"'": "'", '"': '"', "`": "`", "/*": "*/", "--": "\n"}
_OPENERS = re.compile(r"""\\.|['"`]|/\*|\*/|--|\n""", re.DOTALL)


def _whole(text: str, summary: str, hint: str) -> Fault:
    start = len(text) - len(text.lstrip())
    return Fault(code="Q102", start=min(start, len(text)), end=start + 1, summary=summary, hint=hint)
