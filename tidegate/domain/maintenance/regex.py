"""The regexes of patterns: matched against a whole text, in time linear in its length.

The syntax is the common part of all dialects, and each text means what it means in `re`:

    a  .  \\.  \\d  \\w  \\s  \\D  \\W  \\S  [a-z_]  [^0-9]        one character
    (ab)  (?:ab)  a|b  a*  a+  a?  a{2}  a{2,}  a{2,5}         groups, alternatives, repetitions

`^` at the beginning and `$` at the end change nothing. The module `re` goes back and tries again: on some
names a regex such as `.*_.*_.*_tmp` takes the cube of their length, and a project may have 10,000. Here
a regex becomes a program of steps (`regex_program`), and a match follows all ways through it at once,
character by character. Where each character leads is kept, so that a further name costs a lookup for each.
"""

import re
from collections.abc import Iterable

from tidegate.domain.maintenance.regex_program import program_of

MAX_KEPT_MOVES = 20_000
"""Of a regex; when there are more, all are dropped, and computed again where they are needed."""


class _State:
    """A place in the match: what the next character may be, and where the known ones lead.

    Attributes:
        takers: the characters that continue, each with the number of the step behind it.
        accepts: whether the text may end here.
    """

    __slots__ = ("accepts", "moves", "takers")

    def __init__(self, takers: tuple[tuple[re.Pattern[str], int], ...], accepts: bool) -> None:
        self.takers = takers
        self.accepts = accepts
        self.moves: dict[str, _State] = {}


class Regex:
    """One regex.

    Raises:
        RegexError: the text is not a regex of this dialect, or is too long or too large.
    """

    def __init__(self, text: str) -> None:
        self._program = program_of(text)
        self._start = self._forget()

    def matches(self, text: str) -> bool:
        """Return whether the whole text matches."""
        state = self._start
        for character in text:
            if not state.takers:
                return False
            following = state.moves.get(character)
            state = self._move(state, character) if following is None else following
        return state.accepts

    def _forget(self) -> _State:
        """Drop what is kept; return the state before the first character."""
        self._kept: dict[frozenset[int], _State] = {}
        self._moves = 0
        return self._state([0])

    def _move(self, state: _State, character: str) -> _State:
        if self._moves >= MAX_KEPT_MOVES:
            self._start = self._forget()
        after = self._state(step for characters, step in state.takers if characters.fullmatch(character))
        state.moves[character] = after
        self._moves += 1
        return after

    def _state(self, reached: Iterable[int]) -> _State:
        """Return the state of some steps, and of all that follow from them without a character."""
        waiting = list(reached)
        found = set(waiting)
        takers: list[tuple[re.Pattern[str], int]] = []
        while waiting:
            number = waiting.pop()
            step = self._program[number] if number < len(self._program) else ()
            if isinstance(step, re.Pattern):
                takers.append((step, number + 1))
                continue
            new = {number + distance for distance in step} - found
            found |= new
            waiting.extend(new)
        accepts = len(self._program) in found
        return self._kept.setdefault(frozenset(found), _State(tuple(takers), accepts))
