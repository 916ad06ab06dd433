"""Simulated hosts on one machine: each has its own name, /dev/shm and System V memory.

Launchers reach them through a script instead of ssh. Needs permission to create namespaces, like root.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

_AGENT = """#!/bin/sh
# Called like ssh: options, a host, a command.
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
target=$(cat "$(dirname "$0")/$host.pid") || exit 255
exec nsenter --target "$target" @NAMESPACES@ sh -c '
  cd "$0"
  TMPDIR=$1
  export TMPDIR
  eval "$2"' "$PWD" "$(dirname "$0")/$host.tmp" "$*"
"""
_NAMESPACES = ["--uts", "--mount"]


class FakeHosts:
    """Hosts during a `with` block."""

    def __init__(self, folder: Path, names: list[str]) -> None:
        self.folder = folder
        self.names = names
        self.agent = folder / "agent"
        self._hosts: list[subprocess.Popen] = []

    @staticmethod
    def why_not() -> str:
        """Return why there can be no such hosts, or ""."""
        if not shutil.which("unshare") or not shutil.which("nsenter"):
            return "unshare and nsenter are not installed"
        tried = subprocess.run(
            ["unshare", *_NAMESPACES, "sh", "-c", "hostname a && mount -t tmpfs shm /dev/shm"],
            capture_output=True,
        )
        return "" if tried.returncode == 0 else "this account may not make namespaces"

    def __enter__(self) -> FakeHosts:
        self.agent.write_text(_AGENT.replace("@NAMESPACES@", " ".join(_NAMESPACES)))
        self.agent.chmod(0o755)
        for name in self.names:
            (self.folder / f"{name}.tmp").mkdir()
            lives = f"hostname {name} && mount -t tmpfs shm /dev/shm && echo ready && exec cat"
            host = subprocess.Popen(
                ["unshare", *_NAMESPACES, "sh", "-c", lives],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            self._hosts.append(host)
            assert host.stdout is not None
            assert host.stdout.readline() == b"ready\n"
            (self.folder / f"{name}.pid").write_text(str(host.pid))
        return self

    def __exit__(self, *_: object) -> None:
        for host in self._hosts:
            host.communicate()  # the end of its input ends it

    def launcher(self, mpi: str) -> list[str]:
        """Return the launcher of an MPI, which reaches these hosts with `environment`."""
        return ["mpiexec.openmpi", "-q"] if mpi == "openmpi" else ["mpiexec.mpich"]

    def environment(self, mpi: str) -> dict[str, str]:
        """Return the environment of a launcher."""
        if mpi == "openmpi":
            return {
                "OMPI_MCA_plm_rsh_agent": str(self.agent),
                "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
                "OMPI_MCA_hwloc_base_binding_policy": "none",
                "OMPI_MCA_mpi_yield_when_idle": "1",  # it assumes that each host has its own cores
                "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            }
        # UCX detects one machine as one host, but finds the /dev/shm of another simulated host empty.
        return {
            "HYDRA_LAUNCHER": "rsh",
            "HYDRA_LAUNCHER_EXEC": str(self.agent),
            "UCX_TLS": "sysv,cma,self",
        }
