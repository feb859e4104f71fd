"""A process of a run: it builds its definitions of what was shipped with the run, without the store."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from dagster._core.definitions.repository_definition import RepositoryLoadData

from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.internals.load_context import DefinitionsLoadContext, DefinitionsLoadType


class Unreachable(ReferenceStore):
    """A store that is down."""

    def reading(self):
        raise AssertionError("the store was touched")

    transaction = reading


def reconstructing(context: DefinitionsLoadContext) -> DefinitionsLoadContext:
    """The context in which a process loads what `context` has shipped."""
    shipped = RepositoryLoadData(reconstruction_metadata=dict(context.get_pending_reconstruction_metadata()))
    return DefinitionsLoadContext(DefinitionsLoadType.RECONSTRUCTION, repository_load_data=shipped)


@contextmanager
def loading(context: DefinitionsLoadContext) -> Iterator[None]:
    """Load in a context, and then in what was there before: Dagster keeps one for the whole process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DefinitionsLoadContext, "_instance", context)
        yield
