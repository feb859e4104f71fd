"""What the checks of a run's outputs have found, as evaluations of asset checks in Dagster.

The run judges its rows before it publishes them. Of a publish that is withheld there is no materialization,
so its evaluations have none as their target.
"""

from collections.abc import Iterable, Iterator

from dagster import (
    AssetCheckEvaluation,
    AssetCheckKey,
    AssetCheckResult,
    AssetCheckSeverity,
    AssetExecutionContext,
    AssetKey,
    MetadataValue,
)

from tidegate.dagster_defs.deployed.names import asset_key
from tidegate.domain.commits import CheckVerdict
from tidegate.domain.part_name import Ref

SEVERITIES = {"block": AssetCheckSeverity.ERROR, "warn": AssetCheckSeverity.WARN}


def evaluation(verdict: CheckVerdict, key: AssetKey | None = None) -> AssetCheckEvaluation:
    """Return what a check has found as Dagster's log has it.

    Args:
        key: of the asset; None for that of a dataset of ours.
    """
    return AssetCheckEvaluation(
        asset_key=key or _key(verdict),
        check_name=verdict.name,
        passed=verdict.passed,
        severity=SEVERITIES[verdict.severity],
        description=verdict.found,
        metadata=_metadata(verdict),
    )


def results(
    context: AssetExecutionContext, verdicts: Iterable[CheckVerdict]
) -> Iterator[AssetCheckResult | AssetCheckEvaluation]:
    """Yield what the checks of published outputs have found: results of the checks that the run was to make.

    A check of a dataset that another program owns in Dagster is none of these.
    """
    planned = context.op_execution_context.selected_asset_check_keys
    for verdict in verdicts:
        key = _key(verdict)
        if AssetCheckKey(key, verdict.name) in planned:
            yield AssetCheckResult(
                asset_key=key,
                check_name=verdict.name,
                passed=verdict.passed,
                severity=SEVERITIES[verdict.severity],
                description=verdict.found,
                metadata=_metadata(verdict),
            )
        else:
            yield evaluation(verdict)


def _key(verdict: CheckVerdict) -> AssetKey:
    app, name = Ref.of(verdict.dataset)
    return asset_key(app, name)


def _metadata(verdict: CheckVerdict) -> dict[str, str | int | MetadataValue]:
    return {
        "kind": verdict.kind,
        "rows": verdict.rows,
        "bad": verdict.bad,
        **({"partitions": ", ".join(verdict.partitions)} if verdict.partitions else {}),
        **({"samples": MetadataValue.json(list(verdict.samples))} if verdict.samples else {}),
    }
