"""The component of `dg`: the project of a `defs.yaml` in the code location of its `dg` project.

    type: tidegate.components.TidegateProject
    attributes:
      project: ../../../..

    dg list components, dg scaffold defs     know it by the entry point of `dagster_dg_cli.registry_modules`
    dg check yaml                            checks its attributes
    dg check defs                            checks the YAML of the project as well

Nothing else imports this module, since it loads Dagster: no command of ours does so for it.
"""

from typing import Annotated

from dagster import Component, ComponentLoadContext, Definitions, Model, Resolvable, Resolver

from tidegate.definitions import project_definitions

__all__ = ["TidegateProject"]


class TidegateProject(Component, Model, Resolvable):
    """A project of Tidegate: its schedules, programs and datasets, as they are deployed.

    `dg check defs` also checks the YAML of the project.
    """

    project: Annotated[
        str,
        Resolver.default(
            description="The folder of `tidegate.toml`, or the file; a relative one begins in the folder of"
            " `defs.yaml`. Default: that folder, or the nearest one above it with a `tidegate.toml`.",
            examples=["../../../.."],
        ),
    ] = "."

    def build_defs(self, context: ComponentLoadContext) -> Definitions:
        """Return the definitions of the project."""
        return project_definitions(context.path / self.project)
