"""Run a command that is meant to fail, and check how it fails.

    expect.py --exit 3 --within 20 --text "is truncated" --once "barrio: error" --forbid destructor -- COMMAND...

The command must end by itself within the limit, with the exit code, and its output (stdout and stderr together) must
hold each --text, hold each --once text exactly once and each --count text so many times, and hold no --forbid text.
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
    """End the command and what it started: a launcher told to terminate takes its ranks with it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            return process.communicate(timeout=5)[0]
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    return ""


def main(arguments: list[str]) -> int:
    wanted, command = parse(arguments)
    begin = time.monotonic()
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    faults = []
    try:
        output = process.communicate(timeout=wanted.within)[0]
    except subprocess.TimeoutExpired:
        faults.append(f"it did not end within {wanted.within:g} s")
        output = end_group(process)
    seconds = time.monotonic() - begin

    if not faults and process.returncode != wanted.exit:
        faults.append(f"exit code {process.returncode}, expected {wanted.exit}")
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
