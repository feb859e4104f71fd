"""A process of a run: it builds its definitions of what was shipped with the run, without the store."""

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
