"""The section `[spark]` as values: the masters, properties and history server of Spark, and its clusters."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from tidegate.domain.spark_conf import MASTER, Cluster
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import shown
from tidegate.project.settings.addresses import webserver
from tidegate.project.settings.decode import flat
from tidegate.project.settings.language import SettingsError, SparkSection

CLUSTER_NAME = re.compile(r"[a-z][a-z0-9_-]{0,62}")
DEPLOY_MODE = "spark.submit.deployMode"
_KEYS = tuple(field.name for field in msgspec.structs.fields(SparkSection) if field.name != "clusters")
_PLACE = r"[^\s/?#@,]+:\d+"
_MASTERS = (
    r"local|local\[(?:[1-9]\d*|\*)(?: *, *\d+)?\]|local-cluster\[\d+, *\d+, *\d+\]|yarn"
    rf"|spark://{_PLACE}(?:,{_PLACE})*|k8s://(?:https?://)?[^\s/?#@]+(?:/\S*)?"
)
"""The masters that Spark takes. A standalone one has no port of its own that Spark would know."""

_PORT = re.compile(r":(\d+)(?=[,/]|$)")
_MAX_PORT = 65_535
_CONNECT = "sc://"


def check_spark(file: Path, section: SparkSection) -> SparkSection:
    """Return the section with its properties as texts and its clusters as values, each checked as it is.

    Raises:
        SettingsError: for the first mistake.
    """
    own = _cluster(file, "spark", msgspec.structs.asdict(section))
    clusters = _clusters(file, section)
    return msgspec.structs.replace(section, conf=own.conf, history_url=own.history_url, clusters=clusters)


def _clusters(file: Path, section: SparkSection) -> dict[str, Cluster]:
    found: dict[str, Cluster] = {}
    for name, given in section.clusters.items():
        place = f"{file}: spark.clusters.{name:.100}"
        if not CLUSTER_NAME.fullmatch(name):
            raise SettingsError(
                f"{place}: the name of a cluster has lower-case letters, digits, `_` and `-`, and begins with"
                " a letter",
                "write for example [spark.clusters.large]",
            )
        if not isinstance(given, dict):
            raise SettingsError(f"{place} must be a section", f"write [spark.clusters.{name}] and its keys")
        for key in given:
            if key not in _KEYS:
                raise SettingsError(f"{place} has no key {shown(key)}", did_you_mean(key, _KEYS, "keys"))
        found[name] = _cluster(file, f"spark.clusters.{name}", given)
    return found


def _cluster(file: Path, section: str, given: Mapping[str, Any]) -> Cluster:
    place = f"{file}: {section}"
    for key, kind, remedy in (
        ("master", str, 'write for example master = "spark://host:7077"'),
        ("history_url", str, 'write for example history_url = "https://history.example.com"'),
        ("conf", dict, f"write [{section}.conf] and the settings below it"),
    ):
        if not isinstance(given.get(key, kind()), kind):
            what = "a table" if kind is dict else "a text in quotes"
            raise SettingsError(f"{place}.{key} must be {what}, got {shown(given[key])}", remedy)
    conf = flat(f"{place}.conf", given.get("conf", {}))
    if MASTER in conf:
        raise SettingsError(
            f"{place}.conf sets {MASTER}", "write it as `master`, beside `conf`, which is checked"
        )
    if conf.get(DEPLOY_MODE, "client") != "client":
        raise SettingsError(
            f"{place}.conf {DEPLOY_MODE} is {shown(conf[DEPLOY_MODE])}: the driver is the process of the run",
            f"delete {DEPLOY_MODE}",
        )
    return Cluster(
        master=_master(f"{place}.master", given["master"]) if "master" in given else "",
        conf=conf,
        history_url=webserver(file, given.get("history_url", ""), f"{section}.history_url"),
    )


def _master(place: str, master: str) -> str:
    """Check the master URL of Spark and return it."""
    if master.startswith(_CONNECT):
        raise SettingsError(
            f"{place} is the address of a Spark Connect server, got {shown(master)}: what publishes tables"
            " is a driver, whose JVM is in the process of the run",
            'write the master that this server uses, such as "spark://host:7077", "yarn" or'
            ' "k8s://https://host:port"',
        )
    ports = map(int, _PORT.findall(master))
    if not re.fullmatch(_MASTERS, master) or any(port > _MAX_PORT for port in ports):
        raise SettingsError(
            f"{place} must be a Spark master URL, got {master!r:.100}",
            'write "local[*]", "spark://host:7077", "yarn", "k8s://https://host:port" or '
            '"local-cluster[workers,cores,megabytes]"',
        )
    return master
