"""Run a command that must fail, and check how it fails.

    expect.py --exit 3 --within 20 --text "is truncated" --once "barrio: error" --forbid destructor -- COMMAND...

The command must end by itself within the limit, with the exit code. Its output (stdout and stderr together) must contain
each --text, each --once text exactly once, each --count text N times, and no --forbid text.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time


def parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    if "--" not in arguments:
        sys.exit("expect.py: the command to run follows '--'")
    split = arguments.index("--")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--exit", type=int, required=True, help="exit code the command must have")
    parser.add_argument("--within", type=float, default=30.0, help="seconds the command may take")
    parser.add_argument("--text", action="append", default=[], help="must be in the output")
    parser.add_argument(
        "--once", action="append", default=[], help="must be in the output exactly once"
    )
    parser.add_argument(
        "--count",
        action="append",
        default=[],
        nargs=2,
        metavar=("N", "TEXT"),
        help="must be in the output N times",
    )
    parser.add_argument("--forbid", action="append", default=[], help="must not be in the output")
    return parser.parse_args(arguments[:split]), arguments[split + 1 :]


def end_group(process: subprocess.Popen[str]) -> str:
    """End the command and its children: a launcher ends its ranks when it is terminated."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            return process.communicate(timeout=5)[0]
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    return ""


# Message of MPICH 4.0's mpiexec after it has lost an exit code: it records 1 for a rank whose connection closes only
# after the wait for the rank, and takes that for signal 1, which nobody sent.
LOST_EXIT_CODE = "EXIT STRING: Hangup (signal 1)"


def run(command: list[str], within: float) -> tuple[int | None, str]:
    """Run a command. Return its exit code (None if it did not end in time) and its output."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output = process.communicate(timeout=within)[0]
        return process.returncode, output
    except subprocess.TimeoutExpired:
        return None, end_group(process)


def main(arguments: list[str]) -> int:
    wanted, command = parse(arguments)
    for _ in range(3):
        begin = time.monotonic()
        code, output = run(command, wanted.within)
        seconds = time.monotonic() - begin
        if code != 1 or wanted.exit == 1 or LOST_EXIT_CODE not in output:
            break
        print("the launcher lost the exit code; trying again")

    faults = []
    if code is None:
        faults.append(f"it did not end within {wanted.within:g} s")
    elif code != wanted.exit:
        faults.append(f"exit code {code}, expected {wanted.exit}")
    counts = [(text, 1) for text in wanted.once] + [(text, int(n)) for n, text in wanted.count]
    for text, n in counts:
        if output.count(text) != n:
            faults.append(f"{text!r} is in the output {output.count(text)} times, expected {n}")
    faults += [f"{text!r} is not in the output" for text in wanted.text if text not in output]
    faults += [f"{text!r} is in the output" for text in wanted.forbid if text in output]

    print(f"{'FAILED' if faults else 'as expected'} after {seconds:.1f} s: {' '.join(command)}")
    for fault in faults:
        print(f"  {fault}")
    print("--- output\n" + output, end="")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
