"""Time a solver's halo exchanges on simulated clusters (SimGrid SMPI), in the given order and in better orders.

    python3 benchmarks/rankmap/simulate.py
    python3 benchmarks/rankmap/simulate.py --parts cycles --ranks 8 64 --json out.json

The same program runs each time; only the host file differs. A rank computes for 2 ms per iteration, and sends 40 bytes
per halo point. `In step`: all ranks start an iteration together, as after the reduction of a residual. `Free`: ranks
drift apart, and the computing of some hides the messages of others. Times have no noise, so goals are judged here, in
step, on each mesh. Exit code 1 if a goal that was met is missed, or a missed goal is further away than before.

`goals` is run by a test: parts numbered breadth first by bisection (scattered) or by METIS, of two meshes (a structured
one around a wing and a cloud of random points around a plate). `cycles` is like the paper's tables 6 and 7: multigrid
cycles of the same mesh on more and more nodes, with computing in proportion.
Needs the program in build/smpi (make check-smpi builds it).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from simulated import run_on  # noqa: E402

ORDERS = ["given", "construction", "improvement", "ours"]
MESHES = ["wing", "cloud"]


@dataclass(frozen=True)
class Network:
    """Links of nodes, and the nodes and uplinks of each switch; 0: all nodes share one switch."""

    name: str
    bandwidth: str
    latency: str
    nodes_per_leaf: int = 0
    links_up: int = 0


FAST = Network("flat, 1.4 GB/s", "1.4GBps", "3us")
SLOW = Network("flat, 125 MB/s", "125MBps", "20us")
BLOCKED_2 = Network("fat tree 2:1, 1.4 GB/s", "1.4GBps", "3us", nodes_per_leaf=4, links_up=2)
BLOCKED_4 = Network("fat tree 4:1, 1.4 GB/s", "1.4GBps", "3us", nodes_per_leaf=8, links_up=2)


@dataclass(frozen=True)
class Case:
    mesh: str
    cut: str
    n_ranks: int
    cores: int
    network: Network
    cycle: str = "none"
    compute_ms: float = 2.0
    orders: tuple[str, ...] = tuple(ORDERS)
    goal: float | None = None  # time relative to the given order
    reached: float | None = (
        None  # for a missed goal: the last measured value, which must be reached again
    )

    @property
    def n_nodes(self) -> int:
        return self.n_ranks // self.cores

    @property
    def machine(self) -> str:
        """Return the machine for `barrio map`.

        A byte costs 10 on a node's link, and 40 above a switch blocked 4:1, since four nodes share a link.
        """
        leaf = self.network.nodes_per_leaf
        return (
            f"{self.cores}:{leaf}:{self.n_nodes // leaf};1:10:{10 * leaf // self.network.links_up}"
            if leaf
            else f"{self.n_nodes}x{self.cores}"
        )

    def platform(self) -> str:
        """Return the machine for the simulator: ranks of a node share its link, and memory inside the node."""
        net = self.network
        shape = ""
        if net.nodes_per_leaf:
            leaf, up = net.nodes_per_leaf, net.links_up
            shape = (
                f'topology="FAT_TREE" topo_parameters="2;{leaf},{self.n_nodes // leaf};1,{up};1,1"'
            )
        return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node" suffix="" radical="0-{self.n_nodes - 1}" speed="10Gf" core="{self.cores}"
           bw="{net.bandwidth}" lat="{net.latency}" loopback_bw="20GBps" loopback_lat="100ns" {shape}/>
</platform>
"""


def goal_cases() -> Iterator[Case]:
    two = ("given", "ours")
    for mesh in MESHES:
        reached = 0.39 if mesh == "wing" else None
        yield Case(mesh, "scattered", 64, 8, FAST, orders=two, goal=0.70)
        yield Case(mesh, "scattered", 64, 8, SLOW, orders=two, goal=0.36, reached=reached)
        yield Case(mesh, "scattered", 256, 8, BLOCKED_4, orders=two, goal=0.60)
        yield Case(mesh, "metis", 256, 8, BLOCKED_4, orders=two, goal=1.00)


def cycle_cases() -> Iterator[Case]:
    for cores, cycles, ranks in (
        (8, ("none", "3v"), (8, 16, 32, 64, 128, 256)),
        (12, ("3v", "4w"), (12, 48, 96, 240)),
    ):
        for cut in ("scattered", "metis"):
            for cycle in cycles:
                for n in ranks:
                    yield Case("cloud", cut, n, cores, FAST, cycle, 2.0 * 64 / n)
    for cut in ("scattered", "metis"):
        yield Case("cloud", cut, 128, 8, BLOCKED_2, "3v", 1.0)
        yield Case("cloud", cut, 256, 8, BLOCKED_4, "3v", 0.5)


def run(program: Path, case: Case) -> dict[str, Any]:
    """Return the plan of a case, with the seconds of an iteration in each order."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        platform, one = folder / "platform.xml", folder / "one.hosts"
        platform.write_text(case.platform(), encoding="utf-8")
        one.write_text("node0\n", encoding="utf-8")
        words = ["--cycle", case.cycle, "--folder", name]
        planned = ["--cut", case.cut, "--ranks", str(case.n_ranks), "--machine", case.machine]
        mesh = ["--structured"] if case.mesh == "wing" else []
        row: dict[str, Any] = {
            **asdict(case),
            "plan": run_on(platform, one, program, ["plan", *words, *planned, *mesh], 1),
            "times": {},
        }
        # On one node all orders are equivalent.
        for order in case.orders if case.n_nodes > 1 else ("given",):
            words_of_run = ["run", *words, "--compute-ms", str(case.compute_ms)]
            row["times"][order] = run_on(
                platform, folder / f"{order}.hosts", program, words_of_run, case.n_ranks
            )
    return row


def ratio(row: dict[str, Any], order: str, which: str = "seconds_in_step") -> float:
    return float(row["times"][order][which] / row["times"]["given"][which])


def line(row: dict[str, Any], of_node: dict[tuple[Any, ...], float]) -> str:
    """Format a case: milliseconds in step, ratios to the given order in step and free, speed-up over one node."""
    key = (row["mesh"], row["cut"], row["cores"], row["cycle"])
    given = row["times"]["given"]["seconds_in_step"]
    if row["n_ranks"] == row["cores"]:
        of_node[key] = given
    text = (
        f"{row['mesh']} {row['cut']} {row['n_ranks']} on {row['cores']} a node, {row['network']['name']}, "
        f"cycle {row['cycle']}\n"
    )
    for order, times in row["times"].items():
        seconds = times["seconds_in_step"]
        text += f"  {order:<13}{1e3 * seconds:>8.3f} ms, x {ratio(row, order):.3f}"
        text += f"; free {1e3 * times['seconds_free']:>8.3f} ms, x {ratio(row, order, 'seconds_free'):.3f}"
        text += f"; speed-up {of_node[key] / seconds:.2f}\n" if key in of_node else "\n"
    return text.rstrip()


def judge(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the goals: time of a case in step in our order, relative to the given order."""
    goals = []
    for row in rows:
        if row["goal"] is None:
            continue
        value = ratio(row, "ours")
        goals.append(
            {
                "id": f"{row['cut']} {row['n_ranks']}, {row['network']['name']}, {row['mesh']}",
                "value": value,
                "goal": row["goal"],
                "met": value <= row["goal"],
                "as_before": value <= (row["reached"] or row["goal"]),
            }
        )
    return goals


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="simulate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", choices=["goals", "cycles"], default=["goals"])
    parser.add_argument(
        "--cuts", nargs="+", choices=["scattered", "metis"], default=["scattered", "metis"]
    )
    parser.add_argument("--ranks", type=int, nargs="+", help="only cases with these rank counts")
    parser.add_argument(
        "--json", type=Path, help="write one document with all results to this file"
    )
    parser.add_argument(
        "--program",
        type=Path,
        default=HERE.parents[1] / "build" / "smpi" / "bin" / "barrio-bench-rankmap-halo",
        help="the benchmark (default: %(default)s)",
    )
    options = parser.parse_args()

    cases = [*(goal_cases() if "goals" in options.parts else ())]
    cases += cycle_cases() if "cycles" in options.parts else ()
    rows: list[dict[str, Any]] = []
    of_node: dict[tuple[Any, ...], float] = {}
    for case in cases:
        if case.cut in options.cuts and (not options.ranks or case.n_ranks in options.ranks):
            rows.append(run(options.program, case))
            print(line(rows[-1], of_node), flush=True)
    goals = judge(rows)
    for goal in goals:
        print(
            f"{'met' if goal['met'] else 'NOT MET':<9}{goal['id']:<50}{goal['value']:.3f} of the given order "
            f"(goal <= {goal['goal']:.2f}){'' if goal['as_before'] else '; worse than before'}"
        )
    if options.json:
        document = {
            "schema": "barrio.bench.rankmap_simulated",
            "schema_version": 1,
            "cases": rows,
            "goals": goals,
        }
        options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0 if all(goal["as_before"] for goal in goals) else 1


if __name__ == "__main__":
    sys.exit(main())
