"""`barrio probe` as users run it: its results, its stored profiles and its messages."""

import contextlib
import json
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path

from barrio_case import ALL, COMMAND, MPIEXEC, Case, barrio, execute, other_work

LIMIT = 200.0  # `barrio probe` itself ends after 60


def children_of(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def ranks_below(pid: int) -> list[int]:
    """Find the processes of the command that a launcher below this one started."""
    found = []
    for child in children_of(pid):
        found += ranks_below(child)
        try:
            is_ours = os.readlink(f"/proc/{child}/exe") == os.path.realpath(COMMAND)
        except OSError:
            continue
        if is_ours and not children_of(child):
            found.append(child)
    return found


def stop_a_rank(process: subprocess.Popen[str]) -> int | None:
    """Stop a rank in the middle of its experiments; None if it has ended before."""
    give_up = time.monotonic() + 10
    while process.poll() is None and time.monotonic() < give_up:
        ranks = ranks_below(process.pid)
        if len(ranks) == 2:
            time.sleep(0.7)
            try:
                os.kill(max(ranks), signal.SIGSTOP)
            except ProcessLookupError:
                return None
            return max(ranks)
        time.sleep(0.02)
    return None


class Probe(Case):
    def setUp(self) -> None:
        super().setUp()
        self.profiles = self.folder / "cache" / "profiles.json"
        self.environment = {"BARRIO_PROFILE": str(self.profiles)}

    def probe(self, *words: object, ranks: int = 0, **options):
        environment = {**self.environment, **options.pop("environment", {})}
        return barrio("probe", *words, ranks=ranks, environment=environment, limit=LIMIT, **options)

    def undisturbed(self, transports: str):
        """Probe limits until the host was idle: a busy host stores no profile, and reports that."""
        for _ in range(3):
            outcome = self.probe("--json", "--depth", "limits", "--transport", transports, ranks=2)
            self.assert_code(outcome, 0)
            if not any(one["is_disturbed"] for one in outcome.json()["transports"]):
                return outcome
        self.skipTest("other work disturbs every probe on this host")

    def test_limits_of_shared_memory_and_sockets(self) -> None:
        for _ in range(3):
            outcome = self.undisturbed("shm,tcp")
            found = outcome.json()
            if found["seconds"] < 20:
                break
        self.assertEqual(found["schema"], "barrio.probe")
        self.assertLess(found["seconds"], 20)
        transports = {one["name"]: one for one in found["transports"]}
        self.assertEqual(set(transports), {"shm", "tcp"}, outcome)
        for name, one in transports.items():
            self.assertEqual(one["platform"]["transport"], name)
            self.assertGreaterEqual(one["limits"]["eager_bytes"], 64)
            self.assertGreater(one["latencies"][0]["seconds"], 0)
        kept = json.loads(self.profiles.read_text())["profiles"]
        self.assertEqual([one["platform"]["transport"] for one in kept], ["shm", "tcp"])
        # A job over shared memory finds and uses its own profile.
        for _ in range(3):
            check = self.probe("--json", "--depth", "check", ranks=2)
            self.assert_code(check, 0)
            one = check.json()["transports"][0]
            self.assertTrue(one["check"]["has_profile"], str(check))
            if one["seconds"] < 1:
                break
        self.assertLess(one["seconds"], 1)
        self.assertEqual(len(one["check"]["rows"]), 3)
        self.assertNotIn("no profile", check.err)

    @unittest.skipUnless(ALL, "measures for long: in a nightly slice")
    def test_settings_move_the_limits_of_sockets(self) -> None:
        result = self.folder / "probe.json"
        for _ in range(2):
            outcome = self.probe("--result", result, "--transport", "tcp", "--no-store", ranks=2)
            self.assert_code(outcome, 0)
            found = json.loads(result.read_text())
            settings = found["settings"]
            if not any(one.get("is_disturbed") for one in found["transports"] + settings):
                break
        else:
            self.skipTest("other work disturbs every probe on this host")
        self.assertEqual({one["transport"] for one in settings}, {"tcp"})
        eager = [one for one in settings if one["quantity"] == "eager limit"]
        self.assertEqual(len(eager), 3, outcome)
        for one in eager:
            self.assertNotIn("reason", one)
            kept = one["limits"]["eager_bytes"]
            self.assertTrue(0.9 * one["value"] <= kept <= one["value"], f"{one['how']}: {kept}")
            self.assertEqual(one["memory_of_a_rank"][2]["bytes"], 4096 * one["value"])
            self.assertIn(one["how"].replace(str(one["value"]), "BYTES"), outcome.out)
        self.assertEqual(len([one for one in settings if one["quantity"] == "socket buffers"]), 3)

    @unittest.skipUnless(ALL, "measures for long: in a nightly slice")
    def test_between_nodes_and_within_one(self) -> None:
        script = self.folder / "other_node.sh"
        script.write_text(
            "#!/bin/sh\n"
            'if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 2 ]; then\n'
            '  exec unshare --uts sh -c \'hostname other && exec "$@"\' sh "$@"\n'
            "fi\n"
            'exec "$@"\n'
        )
        script.chmod(0o755)
        if subprocess.run(["unshare", "--uts", "true"], check=False).returncode != 0:
            self.skipTest("this user may not give a process another host name")
        words = ["probe", "--depth", "limits", "--json"]
        outcome = execute(
            [*MPIEXEC, "-n", "3", str(script), COMMAND, *words], environment=self.environment
        )
        self.assert_code(outcome, 0)
        transports = outcome.json()["transports"]
        self.assertEqual([one["name"] for one in transports], ["network", "shm"])
        self.assertEqual([one["is_between_nodes"] for one in transports], [True, False])
        near_cost = transports[0]["profile"]["near_cost"]
        self.assertTrue(0 < near_cost <= 1)
        if not any(one["is_disturbed"] for one in transports):
            kept = json.loads(self.profiles.read_text())["profiles"]
            self.assertEqual([one["platform"]["transport"] for one in kept], ["network", "shm"])

    @unittest.skipUnless(ALL, "measures for long: in a nightly slice")
    def test_all_of_shared_memory_as_a_table(self) -> None:
        result = self.folder / "probe.json"
        outcome = self.probe(
            "--result", result, "--transport", "shm", "--no-settings", "--no-store", ranks=2
        )
        self.assert_code(outcome, 0)
        for text in ("wait after computing", "8 tests", "sends first", "Wait (matching)"):
            self.assertIn(text, outcome.out)
        self.assertFalse(self.profiles.exists())
        one = json.loads(result.read_text())["transports"][0]
        figures = [figure["figure"] for figure in one["figures"]]
        self.assertEqual(figures[:8], ["3.2", "3.3", "3.4", "3.5", "3.6", "3.11", "3.12", "3.13"])
        model = one["programs"]["delayed_waits"]
        self.assertGreaterEqual(model["after_seconds"], 0.9 * model["t2_seconds"])

    def test_it_says_before_what_it_measures_and_how_long_that_takes(self) -> None:
        outcome = self.probe("--depth", "check", "--no-store", ranks=2)
        self.assertRegex(
            outcome.err, r"measuring messages .* over 1 transport: about \d+ s .*, at most 60 s"
        )
        quiet = self.probe(
            *("--depth", "check", "--no-store"), ranks=2, environment={"BARRIO_LOG": "warning"}
        )
        self.assertNotIn("measuring", quiet.err)

    def test_a_limit_must_be_a_time(self) -> None:
        for limit in ("0", "-1", "nan", "inf", "x"):
            self.assert_error(self.probe(f"--limit={limit}", ranks=2), 2, "--limit")

    def test_nothing_begins_after_the_limit(self) -> None:
        limit, ending = 6.0, 8.0
        outcome = self.probe("--limit", limit, "--json", "--no-store", ranks=2)
        self.assertLess(outcome.seconds, limit + ending, outcome)
        if outcome.code == 1:  # a busy host: no run ended
            self.assert_error(outcome, 1, "--limit 300")
            return
        self.assert_code(outcome, 0)
        found = outcome.json()
        self.assertEqual(found["limit_seconds"], limit)
        names = [one["name"] for one in found["not_tried"]]
        measured = {one["name"] for one in found["transports"]}
        self.assertEqual(len(names), len(set(names)))
        self.assertFalse(measured & set(names), outcome)
        # Settings, which come last, are left out, or the host is fast enough for all of them.
        self.assertTrue(found["settings"] or any("," in name for name in names), outcome)
        if not names:
            self.assertLess(found["seconds"], limit, outcome)

    def test_beside_other_work_it_ends_in_time_and_names_what_it_left_out(self) -> None:
        limit, ending = 20.0, 10.0
        result = self.folder / "probe.json"
        with other_work():
            outcome = self.probe("--limit", limit, "--result", result, ranks=2)
        self.assertLess(outcome.seconds, limit + ending, outcome)
        self.assertNotIn("WRONG", outcome.out)
        self.assertFalse(self.profiles.exists(), outcome)
        if outcome.code == 1:
            self.assert_error(outcome, 1, "end other work on this host")
            return
        self.assert_code(outcome, 0)
        found = json.loads(result.read_text())
        self.assertTrue(found["not_tried"], outcome)
        for one in found["not_tried"]:
            self.assertIn(one["name"], outcome.out)
            self.assertRegex(one["reason"], "other work|the limit")
        self.assertIn("not tried, as ", outcome.out)

    def test_under_a_launcher_it_measures_the_transport_of_the_job(self) -> None:
        words = [*MPIEXEC, "-n", "2", COMMAND, "probe", "--depth", "limits", "--json"]
        outcome = execute(words, environment=self.environment)
        self.assert_code(outcome, 0)
        self.assertEqual(len(outcome.json()["transports"]), 1)

    def test_one_rank_is_refused(self) -> None:
        self.assert_error(self.probe(ranks=1), 2, "needs at least two ranks", "barrio --ranks 2")
        alone = execute([*MPIEXEC, "-n", "1", COMMAND, "probe"], environment=self.environment)
        self.assert_error(alone, 2, "needs at least two ranks")

    def test_a_transport_that_nobody_knows_is_refused(self) -> None:
        self.assert_error(
            self.probe("--transport", "tpc", ranks=2), 2, "--transport tpc", "Did you mean 'tcp'?"
        )

    def test_a_transport_that_is_not_there_is_named(self) -> None:
        # Request a network that this host lacks, from either MPI.
        nowhere = {"OMPI_MCA_btl_tcp_if_include": "nowhere0", "UCX_NET_DEVICES": "nowhere0"}
        outcome = self.probe(
            "--transport", "tcp", "--depth", "limits", ranks=2, environment=nowhere
        )
        self.assert_error(outcome, 1, "no transport works")

    def test_transports_that_the_shell_sets_are_left_aside(self) -> None:
        sockets = {
            "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl": "tcp,self",
            "MPIR_CVAR_NOLOCAL": "1",
            "UCX_TLS": "tcp,self",
        }
        result = self.folder / "probe.json"
        outcome = self.probe(
            *("--transport", "shm", "--depth", "limits", "--result", result),
            ranks=2,
            environment=sockets,
        )
        self.assert_code(outcome, 0)
        one = json.loads(result.read_text())["transports"][0]
        self.assertEqual((one["name"], one["platform"]["transport"]), ("shm", "shm"))
        self.assertIn("UCX_TLS", outcome.out)
        self.assertIn("left aside", outcome.out)

    def test_a_profile_of_another_machine_is_named_and_ignored(self) -> None:
        self.undisturbed("shm")
        document = json.loads(self.profiles.read_text())
        document["profiles"][0]["platform"]["host_kind"] = "Abacus, 10 cores"
        self.profiles.write_text(json.dumps(document))
        outcome = self.probe("--depth", "check", "--json", ranks=2)
        self.assert_code(outcome, 0)
        self.assertFalse(outcome.json()["transports"][0]["check"]["has_profile"])
        box = self.folder / "box.h5m"
        job = barrio(
            *("generate", "box", "--cells", 3, 3, 3, "-o", box),
            ranks=2,
            environment=self.environment,
        )
        self.assert_code(job, 0)
        self.assertIn("Abacus, 10 cores", job.err)
        self.assertIn("barrio --ranks 2 probe", job.err)

    def test_a_place_that_cannot_be_written_is_named_and_the_findings_stay(self) -> None:
        outcome = self.probe(
            *("--depth", "limits", "--transport", "shm", "--json"),
            ranks=2,
            environment={"BARRIO_PROFILE": "/proc/nowhere/profiles.json"},
        )
        self.assert_code(outcome, 0)
        self.assertEqual(len(outcome.json()["transports"]), 1)

    def test_a_pair_that_stalls_is_a_finding_and_no_hang(self) -> None:
        stopped = None
        for _ in range(5):  # a run may end before it can be stopped
            process = subprocess.Popen(
                [COMMAND, "--ranks", "2", "probe", "--transport", "shm", "--no-settings"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **self.environment},
                text=True,
            )
            stopped = stop_a_rank(process)
            if stopped is not None:
                break
            process.communicate(timeout=LIMIT)
        self.assertIsNotNone(stopped, "no rank was stopped")
        try:
            out, err = process.communicate(timeout=LIMIT)
        finally:
            process.kill()
            with contextlib.suppress(ProcessLookupError):
                os.kill(stopped, signal.SIGKILL)
        self.assertEqual(process.returncode, 1, out + err)
        self.assertIn("barrio: error: probe: ", err)


if __name__ == "__main__":
    unittest.main()
