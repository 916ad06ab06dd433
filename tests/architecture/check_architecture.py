"""Check the architecture of docs/explanation/architecture.md: which room includes which, and which files are private.

    check_architecture.py --source TREE --edges base: "mpi: base" "exchange: base mpi" "apps: base mpi exchange"

Each edge list is "room: rooms it may include". `apps` and `python` are folders next to `barrio/`; all other rooms are
folders in it. A header directly in `barrio/` is an umbrella: it may include every room, and no room may include it.
An umbrella with the name of a room includes all public headers of that room.

A header that is a direct child of its room is public. Files in a folder of a room are private to the room: no other
room and no public header includes them, and no other room names its `detail`. Only `detail/` holds code that public
templates need. The folders of a room, except `detail`, have no include cycle. They hold at most 30 files, as do those of
apps, python, benchmarks and tests; MORE_FILES has two exceptions, until these are split. No function has more than 100
lines.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys

ENDINGS = {".hpp", ".cpp", ".h", ".c", ".hxx", ".cxx", ".cc", ".hh", ".ipp", ".inl", ".in"}
OUTSIDE = ("apps", "python")  # rooms next to barrio/
UMBRELLA = "(umbrella)"
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
FOREIGN_DETAIL = re.compile(r"\b(\w+)::detail\b")
LINE_COMMENT = re.compile(r"//[^\n]*")
MAX_FILES = 30  # in a folder
# Two folders that must still be split. Lower these limits, never raise them.
MORE_FILES = {"barrio/mesh": 38, "barrio/mesh/tables": 40}
WITH_FOLDERS = ("barrio", *OUTSIDE, "benchmarks", "tests")
MAX_LINES = 100  # of a function
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#[^\n]*',
    re.DOTALL | re.MULTILINE,
)
SCOPE = re.compile(
    r"(^|\n)\s*(inline )?namespace\b[^;()]*$|\b(class|struct|enum|union)\b[^()]*$|\bextern\b\s*$"
)
BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)

File = pathlib.PurePosixPath  # a path inside the tree


def read_edges(texts: list[str]) -> dict[str, set[str]]:
    edges: dict[str, set[str]] = {}
    for text in texts:
        room, colon, known = text.partition(":")
        if not colon or not room.strip():
            sys.exit(f"check_architecture.py: '{text}' is not 'room: rooms it may include'")
        edges[room.strip()] = set(known.split())
    return edges


def source_files(tree: pathlib.Path) -> list[File]:
    found = []
    for top in ("barrio", *OUTSIDE):
        for path in sorted((tree / top).rglob("*")):
            inside = path.relative_to(tree)
            if (
                path.is_file()
                and path.suffix in ENDINGS
                and not any(p.startswith(".") for p in inside.parts)
            ):
                found.append(File(inside.as_posix()))
    return found


def room_of(path: File) -> str:
    if path.parts[0] in OUTSIDE:
        return path.parts[0]
    return path.parts[1] if len(path.parts) > 2 else UMBRELLA


def squeeze(path: File) -> File:
    """Take '..' and '.' out of a path."""
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part not in ("..", "."):
            parts.append(part)
    return File(*parts)


def folder_of(path: File) -> str:
    """Return a file's folder inside its room, or "" for a file directly in the room or outside all rooms."""
    return path.parts[2] if path.parts[0] == "barrio" and len(path.parts) > 3 else ""


def text_of(tree: pathlib.Path, path: File) -> str:
    """Return a file without its block comments. Their line breaks are kept, so line numbers remain right."""
    text = (tree / path).read_text(encoding="utf-8", errors="replace")
    return BLOCK_COMMENT.sub(lambda comment: "\n" * comment.group().count("\n"), text)


def foreign_details(text: str, room: str, rooms: set[str]) -> list[tuple[int, str]]:
    """Find uses of another room's `detail` in a file, with the line of each."""
    text = LINE_COMMENT.sub("", text)
    named = {"barrio": "base"}  # whose names are barrio's own
    found = []
    for match in FOREIGN_DETAIL.finditer(text):
        other = named.get(match.group(1), match.group(1))
        if other in rooms and other != room:
            found.append((text.count("\n", 0, match.start()) + 1, match.group(1) + "::detail"))
    return found


def long_functions(text: str) -> list[tuple[int, int]]:
    """Find C++ functions with too long bodies, in namespaces and classes: first line and number of lines of each."""
    text = NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    found = []
    inside: list[
        int | None
    ] = []  # for each open brace the line its function begins in, or 0: a scope; None: a block
    begin = 0  # of the statement
    for place in re.finditer(r"[;{}]", text):
        at = place.start()
        if place.group() == "{":
            head = text[begin:at]
            if SCOPE.search(head) and not re.search(
                r"\)\s*(const|noexcept|override|->[^()]*)?\s*$", head
            ):
                inside.append(0)
            elif ")" in head and all(line == 0 for line in inside):
                inside.append(text.count("\n", 0, begin + len(head) - len(head.lstrip())) + 1)
            else:
                inside.append(None)
        elif place.group() == "}" and inside:
            first = inside.pop()
            n_lines = text.count("\n", 0, at) + 2 - first if first else 0
            if first and n_lines > MAX_LINES:
                found.append((first, n_lines))
        begin = at + 1
    return found


def faults_of_folders(tree: pathlib.Path) -> list[str]:
    """Find folders with too many files, and umbrellas that lack a header of their room."""
    faults = []
    for folder in sorted(p for top in WITH_FOLDERS for p in (tree / top, *(tree / top).rglob("*"))):
        inside = folder.relative_to(tree)
        if not folder.is_dir() or any(p.startswith((".", "__")) for p in inside.parts):
            continue
        n = sum(1 for p in folder.iterdir() if p.is_file())
        limit = MORE_FILES.get(inside.as_posix(), MAX_FILES)
        if n > limit:
            faults.append(
                f"{inside.as_posix()}/ holds {n} files, more than {limit}: which belong together?"
            )
    for umbrella in sorted((tree / "barrio").glob("*.hpp")):
        room = umbrella.with_suffix("")
        if not room.is_dir():
            continue
        included = {str(path) for _, path in includes_of(tree, File("barrio", umbrella.name))}
        for header in sorted(room.glob("*.hpp")):
            name = header.relative_to(tree).as_posix()
            if name not in included:
                faults.append(f"barrio/{umbrella.name} does not include {name}")
    return faults


def includes_of(tree: pathlib.Path, path: File) -> list[tuple[int, File]]:
    """Find the files of this tree that a file includes, with the line of each. Skips headers of other projects."""
    text = text_of(tree, path)
    found = []
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(1)) + 1
        beside = squeeze(path.parent / match.group(1))
        from_top = squeeze(File(match.group(1)))
        if len(from_top.parts) > 1 and from_top.parts[0] in ("barrio", *OUTSIDE):
            found.append((line, from_top))
        elif (tree / beside).is_file() and beside.parts[0] in ("barrio", *OUTSIDE):
            found.append((line, beside))
    return found


def faults_of_edges(edges: dict[str, set[str]]) -> list[str]:
    """Check the edge list itself: it names only rooms that it has, and has no cycle."""
    faults = [
        f"the list lets '{room}' include '{name}', which is no room"
        for room, known in edges.items()
        for name in sorted(known - edges.keys())
    ]
    circle = find_circle({room: sorted(known & edges.keys()) for room, known in edges.items()})
    if circle:
        faults.append("the list has a circle: " + " -> ".join(circle))
    return faults


def find_circle(graph: dict[str, list[str]]) -> list[str]:
    """Find a cycle of a directed graph, its first node repeated at the end; empty for an acyclic graph."""
    done: set[str] = set()
    for start in graph:
        path: list[str] = []
        on_path: set[str] = set()
        work = [(start, False)]
        while work:
            node, leave = work.pop()
            if leave:
                path.pop()
                on_path.discard(node)
                done.add(node)
                continue
            if node in on_path:
                return [*path[path.index(node) :], node]
            if node in done:
                continue
            path.append(node)
            on_path.add(node)
            work.append((node, True))
            work.extend((next_node, False) for next_node in reversed(graph.get(node, [])))
    return []


def check(tree: pathlib.Path, edges: dict[str, set[str]]) -> tuple[list[str], int]:
    """Find all faults of a tree. Return them and the number of checked includes."""
    faults = faults_of_edges(edges)
    if (tree / "barrio").is_dir():
        for folder in sorted((tree / "barrio").iterdir()):
            if folder.is_dir() and folder.name not in edges and not folder.name.startswith("."):
                faults.append(f"barrio/{folder.name}/ is not in the list of rooms")
        faults += faults_of_folders(tree)
    graph: dict[str, list[str]] = {}
    folders: dict[str, list[str]] = {}
    n_includes = 0
    for path in source_files(tree):
        room = room_of(path)
        graph[str(path)] = []
        folder = folder_of(path)
        if room not in OUTSIDE and path.suffix in (".hpp", ".cpp"):
            for line, n_lines in long_functions(text_of(tree, path)):
                faults.append(
                    f"{path}:{line}: a function has {n_lines} lines, more than {MAX_LINES}"
                )
        for line, name in foreign_details(text_of(tree, path), room, set(edges)):
            faults.append(f"{path}:{line}: '{room}' names {name}, which is private")
        for line, included in includes_of(tree, path):
            n_includes += 1
            other = room_of(included)
            place = f"{path}:{line}"
            if not (tree / included).is_file():
                faults.append(f"{place}: includes {included}, which does not exist")
                continue
            graph[str(path)].append(str(included))
            private = folder_of(included)
            if private and room != other:
                faults.append(
                    f"{place}: '{room}' includes {included}, which is private to '{other}'"
                )
            elif private and private != "detail":
                if folder in ("", "detail") and path.suffix == ".hpp":
                    faults.append(f"{place}: a public header includes {included}, which is private")
                elif folder not in ("", "detail", private):
                    known = folders.setdefault(f"{room}/{folder}", [])
                    known.append(f"{room}/{private}")
            if room in (UMBRELLA, other):
                continue
            if other == UMBRELLA and room not in OUTSIDE:
                faults.append(f"{place}: '{room}' includes the umbrella header {included}")
            elif other != UMBRELLA and other not in edges.get(room, set()):
                faults.append(f"{place}: '{room}' may not include '{other}' ({included})")
    circle = find_circle(graph)
    if circle:
        faults.append("files include in a circle: " + " -> ".join(circle))
    circle = find_circle(folders)
    if circle:
        faults.append("folders include each other in a circle: " + " -> ".join(circle))
    return faults, n_includes


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--source", type=pathlib.Path, required=True, help="the tree that holds barrio/"
    )
    parser.add_argument(
        "--edges",
        nargs="+",
        required=True,
        metavar="ROOM:KNOWN",
        help="'room: rooms it may include'",
    )
    options = parser.parse_args()
    edges = read_edges(options.edges)
    faults, n_includes = check(options.source, edges)
    for fault in faults:
        print(fault)
    if n_includes == 0:
        faults.append("")
        print(f"no include was found below {options.source}: is it the right tree?")
    print(f"{n_includes} includes between files of barrio, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
