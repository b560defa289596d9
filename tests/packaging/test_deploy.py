"""What is in `deploy/` is accepted by the tools that read it, and gives no more away.

`make manifests` installs the schemas of Kubernetes. Without them, without systemd or
without kubectl, the parts that need those are skipped.
"""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped] # it ships no types

Manifest = dict[str, Any]


@pytest.fixture
def kubernetes(root: Path) -> Path:
    return root / "deploy" / "kubernetes"


@pytest.fixture
def manifests(kubernetes: Path) -> list[Manifest]:
    return [
        one
        for name in ("agents.yaml", "network-policy.yaml")
        for one in yaml.safe_load_all((kubernetes / name).read_text(encoding="utf-8"))
    ]


def one_of(manifests: list[Manifest], kind: str) -> Manifest:
    (found,) = (one for one in manifests if one["kind"] == kind)
    return found


@pytest.mark.parametrize("version", ["1.30", "1.34", "1.37"])
def test_the_manifests_are_valid_by_the_schemas_of_kubernetes(
    manifests: list[Manifest], version: str
) -> None:
    validator = pytest.importorskip("kubernetes_validate", reason="`make manifests`")

    for one in manifests:
        validator.validate(one, version, strict=True)


def test_kubectl_puts_them_together(kubernetes: Path) -> None:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("there is no kubectl")

    done = subprocess.run(  # noqa: S603 - found above
        [kubectl, "kustomize", str(kubernetes)],
        check=False,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    made = list(yaml.safe_load_all(done.stdout))
    agents = one_of(made, "StatefulSet")
    (container,) = agents["spec"]["template"]["spec"]["containers"]
    assert agents["spec"]["replicas"] == 3
    assert container["image"].startswith("registry.example/journeyman:")
    settings = one_of(made, "ConfigMap")["metadata"]["name"]
    assert container["envFrom"] == [{"configMapRef": {"name": settings}}]


def test_each_agent_keeps_a_volume_of_its_own_whatever_becomes_of_the_set(
    manifests: list[Manifest],
) -> None:
    agents = one_of(manifests, "StatefulSet")["spec"]
    (claim,) = agents["volumeClaimTemplates"]
    (container,) = agents["template"]["spec"]["containers"]

    assert claim["spec"]["accessModes"] == ["ReadWriteOncePod"]
    assert set(agents["persistentVolumeClaimRetentionPolicy"].values()) == {"Retain"}
    mounted = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    (directory,) = (one["value"] for one in container["env"])
    assert directory.startswith(f"{mounted[claim['metadata']['name']]}/")


def test_an_agent_has_no_rights_no_open_port_and_no_account(
    manifests: list[Manifest],
) -> None:
    pod = one_of(manifests, "StatefulSet")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    policy = one_of(manifests, "NetworkPolicy")["spec"]
    rights = container["securityContext"]

    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert rights["readOnlyRootFilesystem"] is True
    assert rights["allowPrivilegeEscalation"] is False
    assert rights["capabilities"] == {"drop": ["ALL"]}
    assert "ports" not in container
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy["ingress"] == []


@pytest.mark.parametrize("name", ["journeyman.service", "journeyman@7.service"])
def test_systemd_accepts_the_unit_for_one_agent_and_for_several(
    root: Path, tmp_path: Path, name: str
) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("there is no systemd")
    unit = (root / "deploy" / "journeyman.service").read_text(encoding="utf-8")
    # The program that it starts is not installed here.
    there = unit.replace("/opt/journeyman/bin/journeyman", "/bin/true")
    (tmp_path / name.replace("@7", "@")).write_text(there)

    done = subprocess.run(  # noqa: S603 - found above
        [analyze, "verify", "--man=no", str(tmp_path / name)],
        check=False,
        capture_output=True,
        text=True,
    )

    # It exits with 0 where it ignores a line.
    complaints = [line for line in done.stderr.splitlines() if str(tmp_path) in line]
    assert (done.returncode, complaints) == (0, [])
