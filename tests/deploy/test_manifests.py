"""The Kubernetes manifests: by the schemas of Kubernetes, and by what they promise."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest

from arena.cluster.worker import Heartbeat
from tests.deploy.sources import DEPLOY, MANIFESTS, documents, pods, resources

VERSIONS = ("1.29", kubernetes_validate.latest_version())
"""The oldest they are for, and the newest whose schemas the package has."""
ALL = [(f"{file}-{one['kind']}-{one['metadata']['name']}", one) for file, one in resources()]
PODS = list(pods())


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_they_are_valid(version: str) -> None:
    for _, resource in ALL:
        kubernetes_validate.validate(resource, version, strict=True)


def test_all_are_applied() -> None:
    listed = documents(DEPLOY / "k8s" / "kustomization.yaml")[0]["resources"]
    assert {name.replace("secrets.yaml", "secrets.example.yaml") for name in listed} == {one.name for one in MANIFESTS}


@pytest.mark.parametrize(("name", "pod"), PODS, ids=[name for name, _ in PODS])
def test_every_pod_keeps_to_the_strictest_standard(name: str, pod: dict[str, Any]) -> None:
    around = pod["securityContext"]
    assert around["runAsNonRoot"] is True
    assert around["runAsUser"] > 0
    assert around["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    for container in pod["containers"]:
        held = container["securityContext"]
        assert held["allowPrivilegeEscalation"] is False
        assert held["readOnlyRootFilesystem"] is True
        assert held["capabilities"] == {"drop": ["ALL"]}
        assert "memory" in container["resources"]["limits"]
        assert {"cpu", "memory"} <= set(container["resources"]["requests"])


@pytest.mark.parametrize(("name", "pod"), PODS, ids=[name for name, _ in PODS])
def test_volumes_and_secrets_are_there(name: str, pod: dict[str, Any]) -> None:
    known = {manifest["metadata"]["name"] for _, manifest in ALL if manifest["kind"] in ("Secret", "ConfigMap")}
    claims = {manifest["metadata"]["name"] for _, manifest in ALL if manifest["kind"] == "PersistentVolumeClaim"}
    volumes = {volume["name"] for volume in pod["volumes"]} | ({"data"} if name == "database" else set())
    for container in pod["containers"]:
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes
        for source in container.get("envFrom", []):
            assert source["configMapRef"]["name"] in known
    for volume in pod["volumes"]:
        if "secret" in volume:
            assert volume["secret"]["secretName"] in known
        if "persistentVolumeClaim" in volume:
            assert volume["persistentVolumeClaim"]["claimName"] in claims


def of_kind(kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for _, one in ALL if one["kind"] == kind}


def test_services_disruptions_and_policies_mean_pods_that_exist() -> None:
    apps = {
        manifest["spec"]["template"]["metadata"]["labels"]["app"]
        for _, manifest in ALL
        if "template" in manifest.get("spec", {})
    }
    assert apps == {"arena", "referee", "scheduler", "worker", "database", "broker", "migrate"}
    for service in of_kind("Service").values():
        assert service["spec"]["selector"]["app"] in apps
    for budget in of_kind("PodDisruptionBudget").values():
        assert budget["spec"]["selector"]["matchLabels"]["app"] in apps
    policies = of_kind("NetworkPolicy")
    assert {name for name in policies if name not in ("default-deny", "names")} == apps
    for name in apps:
        assert policies[name]["spec"]["podSelector"] == {"matchLabels": {"app": name}}


def test_workers_reach_scheduler_and_pages_only() -> None:
    spec = of_kind("NetworkPolicy")["worker"]["spec"]
    reached = [peer["podSelector"]["matchLabels"]["app"] for rule in spec["egress"] for peer in rule["to"]]
    assert reached == ["scheduler", "arena"]
    assert of_kind("NetworkPolicy")["default-deny"]["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    for name in ("database", "broker"):
        source = of_kind("NetworkPolicy")[name]["spec"]["ingress"][0]["from"][0]["podSelector"]
        assert "worker" not in source["matchExpressions"][0]["values"]


def test_how_many_workers_there_are_is_the_autoscalers_word() -> None:
    scaler = of_kind("HorizontalPodAutoscaler")["worker"]["spec"]
    assert scaler["scaleTargetRef"] == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "worker"}
    assert scaler["minReplicas"] >= 2
    assert "replicas" not in of_kind("Deployment")["worker"]["spec"]


def test_a_workers_token_may_be_changed_while_it_runs() -> None:
    pod = of_kind("Deployment")["worker"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    named = {one["name"]: one.get("value", "") for one in container["env"]}
    (mount,) = [one for one in container["volumeMounts"] if one["name"] == "token"]
    assert named["ARENA_WORKER_TOKEN_FILE"] == f"{mount['mountPath']}/token"
    assert "subPath" not in mount, "a single file would never be renewed"
    assert "ARENA_WORKER_TOKEN" not in named


@pytest.mark.parametrize(
    ("word", "age_s", "started", "ready", "alive"),
    [
        ("warming", 0, False, False, True),
        ("waiting", 0, True, False, True),
        ("ready", 0, True, True, True),
        ("leaving", 0, True, False, True),
        ("ready", 600, True, True, False),
        (None, 0, False, False, False),
    ],
)
def test_probes_read_what_a_worker_says(
    tmp_path: Path, word: str | None, age_s: int, started: bool, ready: bool, alive: bool
) -> None:
    pulse = Heartbeat(tmp_path)
    if word is not None:
        pulse.become(word)
        at = time.time() - age_s
        os.utime(pulse.path, (at, at))
    (container,) = of_kind("Deployment")["worker"]["spec"]["template"]["spec"]["containers"]
    for kind, expected in (("startup", started), ("readiness", ready), ("liveness", alive)):
        command = container[f"{kind}Probe"]["exec"]["command"]
        line = [part.replace("/data/worker/state", str(pulse.path)) for part in command]
        done = subprocess.run(line, capture_output=True, check=False)
        assert (done.returncode == 0) is expected, kind


def test_a_second_referee_stands_by() -> None:
    assert of_kind("Deployment")["referee"]["spec"]["replicas"] == 2
    assert of_kind("PodDisruptionBudget")["referee"]["spec"]["minAvailable"] == 1


def test_the_broker_has_the_configuration_of_the_other_ways() -> None:
    held = of_kind("ConfigMap")["broker"]["data"]
    assert held["mosquitto.conf"].rstrip() == (DEPLOY / "mosquitto.conf").read_text(encoding="utf-8").rstrip()
    assert held["arena.acl"].rstrip() == (DEPLOY / "mosquitto.acl").read_text(encoding="utf-8").rstrip()
