"""Each public header is compiled alone: one that lacks an include breaks the build.

    test_alone.py --build BUILD [--all]

Looks up in the build's list of commands how each header is compiled, and runs some of these commands on headers from
which an include was taken that they need. With --all every include of every header is tried, and those that a header
gets from another one are counted.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Headers that do not compile without the include beside them.
NEEDED = {
    "barrio/base/error.hpp": "<optional>",
    "barrio/geometry/index_box.hpp": "<vector>",
    "barrio/mesh/mesh.hpp": "<variant>",
    "barrio/amr/simulation.hpp": "barrio/exchange/strategy.hpp",
}


def commands_by_header(build: pathlib.Path) -> dict[str, list[str]]:
    """The command that compiles each header alone."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        inside = re.search(r"/alone/(barrio/.+\.hpp)\.cpp$", entry["file"])
        if inside:
            found[inside[1]] = [entry["directory"], *shlex.split(entry["command"])]
    return found


def compiles(command: list[str], header: str, text: str) -> bool:
    """Run the command on another text of the header, without making an object."""
    directory, *words = command
    with tempfile.TemporaryDirectory(prefix="barrio-alone-") as folder:
        changed = pathlib.Path(folder) / header
        changed.parent.mkdir(parents=True)
        changed.write_text(text)
        source = pathlib.Path(folder) / "alone.cpp"
        source.write_text(f'#include "{header}"\n#include "{header}"  // again\n')
        compiler = next(i for i, word in enumerate(words) if re.search(r"(\+\+|cc|cxx)$", word))
        words = words[compiler:]
        words[words.index("-o") : words.index("-o") + 2] = ["-fsyntax-only"]
        words[words.index("-c") : words.index("-c") + 2] = [str(source)]
        words.insert(1, f"-I{folder}")
        run = subprocess.run(words, cwd=directory, capture_output=True, text=True)
    return run.returncode == 0


def without(text: str, name: str) -> str:
    lines = [
        line for line in text.splitlines() if not (line.startswith("#include") and name in line)
    ]
    assert len(lines) < len(text.splitlines()), f"nothing includes {name}"
    return "\n".join(lines) + "\n"


def try_all(commands: dict[str, list[str]]) -> list[str]:
    def lacks(pair: tuple[str, str]) -> tuple[str, str, bool]:
        header, name = pair
        text = (SOURCE / header).read_text()
        return header, name, compiles(commands[header], header, without(text, name))

    pairs = [
        (header, name)
        for header in sorted(commands)
        for name in re.findall(
            r'^#include ([<"].+[>"])', (SOURCE / header).read_text(), re.MULTILINE
        )
    ]
    with ThreadPoolExecutor() as pool:
        results = list(pool.map(lacks, pairs))
    refused = sum(not passed for _, _, passed in results)
    print(
        f"{len(pairs)} includes of {len(commands)} headers taken out, one at a time: {refused} refused,"
    )
    print(f"{len(pairs) - refused} that other headers of the same one bring too")
    return [] if refused else ["no include is needed: is a header compiled at all?"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    commands = commands_by_header(options.build)
    public = {
        path.relative_to(SOURCE).as_posix()
        for pattern in ("barrio/*/*.hpp", "barrio/*.hpp")
        for path in SOURCE.glob(pattern)
    }
    faults = [f"{header} is not compiled alone" for header in sorted(public - commands.keys())]
    if not faults:
        for header, name in NEEDED.items():
            text = (SOURCE / header).read_text()
            if not compiles(commands[header], header, text):
                faults.append(f"{header} does not compile alone as it is")
            if compiles(commands[header], header, without(text, name)):
                faults.append(f"{header} compiles without {name}")
    if not faults and options.all:
        faults = try_all(commands)
    print("\n".join(faults) if faults else f"{len(commands)} public headers are compiled alone")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
