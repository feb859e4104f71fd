"""The section `[spark]` of tidegate.toml: its clusters, and what is refused when it is read."""

from pathlib import Path

import pytest

from tidegate.domain.spark_conf import Cluster
from tidegate.project.settings.language import SettingsError
from tidegate.project.settings.settings import load_settings
from tidegate.project.spark import spark_settings

CLUSTERS = """
[spark]
history_url = "https://history.example.com/"
[spark.clusters.large]
master = "spark://host:7077"
history_url = "https://large.example.com"
[spark.clusters.large.conf]
"spark.executor.memory" = "8g"
[spark.clusters.more_memory.conf]
spark.driver.memory = "4g"
[env.prod.spark.clusters.nightly]
master = "yarn"
"""


def write(project: Path, text: str) -> None:
    (project / "tidegate.toml").write_text(text)


def test_clusters_are_read_and_say_what_differs_from_spark(project_folder: Path) -> None:
    write(project_folder, CLUSTERS)
    settings = load_settings()
    assert settings.spark_clusters == {
        "large": Cluster(
            master="spark://host:7077",
            conf={"spark.executor.memory": "8g"},
            history_url="https://large.example.com",
        ),
        "more_memory": Cluster(conf={"spark.driver.memory": "4g"}),
    }
    # The YAML is the same in every environment, so lint knows the names of all.
    assert settings.clusters == {"large", "more_memory", "nightly"}
    spark = spark_settings(settings)
    assert spark.cluster("large").over({"spark.executor.memory": "1g"}) == {
        "spark.executor.memory": "1g",
        "spark.master": "spark://host:7077",
    }
    assert spark.cluster("nightly") == spark.cluster("") == Cluster()
    assert spark.history_of("large") == "https://large.example.com"
    assert spark.history_of("more_memory") == "https://history.example.com"


@pytest.mark.parametrize(
    "master",
    [
        *(
            "local",
            "local[4]",
            "local[*, 3]",
            "local-cluster[2,1,1024]",
            "yarn",
            "spark://a-b.c:7077,[::1]:7078",
        ),
        *("k8s://https://host:6443", "k8s://host", "k8s://https://rancher.example.com/k8s/clusters/c-1"),
    ],
)
def test_each_master_of_spark_is_taken(project_folder: Path, master: str) -> None:
    write(project_folder, f'[spark]\nmaster = "{master}"\n')
    assert load_settings().spark_master == master


def test_an_environment_adds_a_cluster(project_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project_folder, CLUSTERS)
    monkeypatch.setenv("TIDEGATE_ENV", "prod")
    assert load_settings().spark_clusters["nightly"].master == "yarn"


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ('[spark]\nmaster = "sc://host:15002"\n', "spark.master is the address of a Spark Connect", "yarn"),
        ('[spark]\nmaster = "flink://host"\n', "spark.master must be a Spark master URL", "k8s://"),
        *(
            (
                f'[spark]\nmaster = "{master}"\n',
                "spark.master must be a Spark master URL",
                "spark://host:7077",
            )
            for master in (
                *(
                    "",
                    "local[x]",
                    "local[0]",
                    "local[]",
                    "yarn-client",
                    " yarn",
                    "YARN",
                    "spark://",
                    "spark://h",
                ),
                *("spark://h:70770", "spark://a:1,b", "spark://u@h:1", "k8s://", "k8s://https://h:99999/c"),
            )
        ),
        (
            '[spark.clusters.a]\nmaster = "sc://host"\n',
            "spark.clusters.a.master is the address of a Spark Connect server",
            '"spark://host:7077"',
        ),
        ('[spark.clusters.a]\nmaster = "mesos://h"\n', "spark.clusters.a.master must be a Spark", "yarn"),
        ("[spark.clusters.a]\nmaster = 5\n", "spark.clusters.a.master must be a text", "spark://host:7077"),
        ("[spark.clusters.a]\nconf = 5\n", "spark.clusters.a.conf must be a table", "spark.clusters.a.conf]"),
        ('[spark.clusters.a.conf]\n"spark.x" = []\n', "spark.clusters.a.conf spark.x is []", '"spark.x" ='),
        ("[spark.clusters.a]\nmastr = 5\n", 'spark.clusters.a has no key "mastr"', 'did you mean "master"?'),
        ("[spark.clusters]\na = 5\n", "spark.clusters.a must be a section", "[spark.clusters.a]"),
        ("[spark.clusters.A]\n", "the name of a cluster has lower-case letters", "[spark.clusters.large]"),
        ('[spark.clusters.a]\nhistory_url = "h"\n', "spark.clusters.a.history_url must be a URL", "http"),
        ('[spark.conf]\n"spark.master" = "yarn"\n', "spark.conf sets spark.master", "as `master`"),
        (
            '[spark.conf]\n"spark.submit.deployMode" = "cluster"\n',
            "the driver is the process of the run",
            "delete spark.submit.deployMode",
        ),
    ],
)
def test_what_spark_could_not_do_is_refused_when_the_settings_are_read(
    project_folder: Path, text: str, says: str, hint: str
) -> None:
    write(project_folder, text)
    with pytest.raises(SettingsError) as refused:
        load_settings()
    assert refused.value.message.startswith(f"{project_folder}/tidegate.toml: ")
    assert says in refused.value.message
    assert hint in refused.value.hint
