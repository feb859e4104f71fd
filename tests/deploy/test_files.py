"""The files of deploy/ by the tools of those who read them: image, Compose, Kubernetes, systemd, Grafana."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tidegate.scheduler.explain.metrics import METRICS

pytestmark = pytest.mark.slow

DEPLOY = Path(__file__).parents[2] / "deploy"
IMAGE_LINES = 20
UNITS = sorted(path.name for path in (DEPLOY / "systemd").iterdir() if path.suffix in (".service", ".target"))
MANIFESTS = sorted((DEPLOY / "kubernetes").iterdir())
REMEDY = "the units are verified by systemd-analyze: apt-get install systemd, or run the tests as root"


def tool(name: str) -> str:
    """A command of the environment that runs the tests."""
    return str(Path(sys.prefix, "bin", name))


def test_the_image_is_short_has_no_logic_and_is_not_root() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    checked = subprocess.run([tool("hadolint"), str(DEPLOY / "Dockerfile")], capture_output=True, text=True)

    assert (checked.returncode, checked.stdout) == (0, "")
    assert len(text.splitlines()) <= IMAGE_LINES
    assert re.findall(r"^USER (.*)", text, re.MULTILINE) == ["10001"]


def test_compose_accepts_the_services() -> None:
    from compose_spec import ComposeSpecification

    content: Any = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    content.pop("x-process")

    read = ComposeSpecification.model_validate(content)

    assert read.services is not None
    assert set(read.services) == {"postgres", "deploy", "code", "host", "daemon", "serve", "webserver"}
    ready = content["services"]["postgres"]["healthcheck"]["test"]
    assert ready[1:4] == ["pg_isready", "--host", "127.0.0.1"], (
        "its first start answers on a socket, and ends"
    )


@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda path: path.name)
def test_kubernetes_accepts_the_manifests(manifest: Path) -> None:
    command = [tool("kubernetes-validate"), "--strict", str(manifest)]
    checked = subprocess.run(command, capture_output=True, text=True)

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_folder_can_be_applied_and_leaves_the_secret_as_it_is() -> None:
    """`kubectl apply -f FOLDER` takes every file with one of these endings."""
    applied = [path for path in MANIFESTS if path.suffix in (".yaml", ".yml", ".json")]
    kinds = {each["kind"] for path in applied for each in yaml.safe_load_all(path.read_text())}

    assert "Secret" not in kinds and {"Deployment", "ConfigMap"} <= kinds


def test_each_pod_is_one_of_the_services_of_compose() -> None:
    services: Any = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    documents = list(yaml.safe_load_all((DEPLOY / "kubernetes/processes.yaml").read_text()))
    pods = {
        each["metadata"]["name"]: each["spec"]["template"]["spec"]
        for each in documents
        if each["kind"] == "Deployment"
    }

    commands = {name: pod["containers"][0]["command"] for name, pod in pods.items()}
    kept = ("code", "host", "daemon", "serve", "webserver")
    assert commands == {f"tidegate-{name}": services[name]["command"] for name in kept}
    assert all(pod["securityContext"]["runAsNonRoot"] for pod in pods.values())
    # Kubernetes would set TIDEGATE_SERVE_PORT and the like for each service, beside our own variables.
    assert not any(pod["enableServiceLinks"] for pod in pods.values())


class Cluster:
    """In place of Kubernetes: it keeps the job that is made."""

    job: Any = None

    def create_namespaced_job_with_retries(self, body: Any, namespace: str) -> None:
        """Keep a job as Kubernetes would read it."""
        from kubernetes.client import ApiClient

        assert namespace == "default"
        self.job = ApiClient().sanitize_for_serialization(body)


@pytest.mark.dagster
def test_a_run_is_a_pod_with_the_image_the_variables_and_the_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import kubernetes_validate
    from dagster import DagsterInstance, job
    from dagster._core.instance.config import dagster_instance_config
    from dagster._core.origin import JobPythonOrigin, RepositoryPythonOrigin
    from dagster_k8s import K8sRunLauncher

    from tidegate.dagster_defs.internals.instance import ConfigurableClassData
    from tidegate.dagster_defs.internals.launching import LaunchRunContext
    from tidegate.dagster_defs.internals.origins import ModuleCodePointer

    settings = list(yaml.safe_load_all((DEPLOY / "kubernetes/config.yaml").read_text()))[1]["data"]
    (tmp_path / "settings").mkdir()
    (tmp_path / "settings" / "dagster.yaml").write_text(settings["dagster.yaml"])
    monkeypatch.setenv("TIDEGATE_DAGSTER_POSTGRES_URL", "postgresql+psycopg2://u@h/d")
    monkeypatch.setattr("dagster_k8s.launcher.load_kubernetes_config", lambda **_: None)
    config, _ = dagster_instance_config(str(tmp_path / "settings"))
    named = config["run_launcher"]
    data = ConfigurableClassData(named["module"], named["class"], yaml.safe_dump(named["config"]))
    launcher, cluster = data.rehydrate(as_type=K8sRunLauncher), Cluster()
    launcher._api_client = cluster

    @job
    def publish() -> None: ...

    with DagsterInstance.local_temp(str(tmp_path)) as instance:
        pointer = ModuleCodePointer("tidegate.definitions", "defs", None)
        code = JobPythonOrigin("publish", RepositoryPythonOrigin(sys.executable, pointer))
        run = instance.create_run_for_job(publish, job_code_origin=code)
        launcher.register_instance(instance)
        launcher.launch_run(LaunchRunContext(run, None))

    kubernetes_validate.validate(cluster.job, "1.37", strict=True)
    pod = cluster.job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    *command, what = container["args"]
    assert command[-3:] == ["dagster", "api", "execute_run"] and run.run_id in what
    assert (container["image"], pod["serviceAccountName"]) == ("tidegate", "tidegate")
    assert {next(iter(each)) for each in container["envFrom"]} == {"configMapRef", "secretRef"}
    # The settings of Dagster travel with the command.
    assert [each["mountPath"] for each in container["volumeMounts"]] == ["/project/warehouse"]
    assert config["run_coordinator"]["class"] == "LaunchingCoordinator"


def systemd_analyze() -> str:
    """`systemd-analyze`, installed where the tests may; a machine without it fails the test."""
    if shutil.which("systemd-analyze") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "systemd"]
        for command in (["apt-get", "update", "-qq"], install):
            subprocess.run(command, capture_output=True, check=False)
    found = shutil.which("systemd-analyze")
    assert found is not None, REMEDY
    return found


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    environment = tmp_path / "bin"
    environment.mkdir()
    for name in UNITS:
        text = (DEPLOY / "systemd" / name).read_text()
        for program in re.findall(r"^ExecStart=/opt/tidegate/bin/(\S+)", text, re.MULTILINE):
            assert Path(tool(program)).is_file(), "it comes with the package"
            shutil.copy("/bin/true", environment / program)
        (tmp_path / name).write_text(text.replace("/opt/tidegate", str(tmp_path)))

    command = [systemd_analyze(), "verify", *(str(tmp_path / name) for name in UNITS)]
    checked = subprocess.run(command, capture_output=True, text=True)

    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


def test_each_unit_is_one_of_the_services_of_compose() -> None:
    services: Any = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    units = {name for name in UNITS if name.endswith(".service")}

    assert units == {f"tidegate-{name}.service" for name in services if name not in ("postgres", "deploy")}
    assert units <= set((DEPLOY / "systemd/tidegate.target").read_text().split("Wants=")[1].split())


def test_the_dashboard_shows_the_metrics_that_exist() -> None:
    text = (DEPLOY / "grafana/tidegate.json").read_text()
    known = {metric.name: set(metric.labels) for metric in METRICS}
    panels = json.loads(text)["panels"]
    queries = [target["expr"] for panel in panels for target in panel["targets"]]

    # The others are in the one beside them: deployments are drawn, and the age of the last tick.
    beside = {"tidegate_schedules", "tidegate_deployments_total", "tidegate_last_tick_timestamp_seconds"}
    assert set(re.findall(r"\btidegate_\w+", text)) == known.keys() - beside
    for query in queries:
        (name,) = re.findall(r"\btidegate_\w+", query)
        labels = {label for by in re.findall(r"by \(([^)]*)\)", query) for label in by.split(", ")}
        labels |= set(re.findall(r"(\w+)=~?\"", query))
        assert labels <= known[name], query
    legends = {label for panel in panels for label in re.findall(r"{{(\w+)}}", json.dumps(panel["targets"]))}
    assert legends <= set().union(*known.values())
