"""The sections at the end: next steps, and the raw documents."""

from __future__ import annotations

import json
import shlex
from pathlib import Path, PurePath

from .. import words
from ..documents import Document
from ..machines import given_order, machine_option
from ..markup import Html, paragraph, table, tag
from ..message_times import are_distances_known, message_bytes
from ..story import Section, Story
from ..traffic import who_talks
from ..triangulations import audits, is_refined, is_whole, triangulations

_MAX_RAW = 150_000  # characters of one document
_MAX_ALL_RAW = 1_500_000
_LEAST_ROW = 30  # min characters of a row of traffic


def next_section(story: Story) -> Section:
    """Suggest commands to run next."""
    barrio = find_program("barrio")
    where = "Run these in the folder in which the results and this report were made."
    if not barrio:
        where += (
            " 'barrio' stands for the program; in the source folder it is build/release/bin/barrio."
        )
    lines = _suggestions(story, barrio or "barrio")
    listed = [[tag("dt", why), tag("dd", tag("pre", tag("code", line)))] for why, line in lines]
    body = [paragraph(where, class_="soft"), tag("dl", listed, class_="try")]
    return Section("next", "What to try next", body)


def find_program(name: str) -> str:
    """Return the shell command of a program built with this package; empty if there is no such program.

    The package is in BUILD/python, next to BUILD/bin, or in python/ of the sources.
    """
    root = Path(__file__).absolute().parents[3]
    for folder in (root.parent / "bin", root.parent / "build" / "release" / "bin"):
        if (folder / name).is_file():
            path = folder / name
            here = Path.cwd()
            shown = path.relative_to(here) if path.is_relative_to(here) else path
            said = str(shown) if "/" in str(shown) else f"./{shown}"
            return shlex.quote(said)
    return ""


def _suggestions(story: Story, barrio: str) -> list[tuple[str, str]]:
    # barrio does not read .vtkhdf, which is for pictures, nor .ele, which is for other programs.
    is_read = story.mesh_name and PurePath(story.mesh_name).suffix not in (".vtkhdf", ".ele")
    lines = [line for run in story.results.of("adapt") for line in _on_the_adapted(run, barrio)]
    for run in story.results.of("amr"):
        lines += _on_the_flow(run, barrio)
    lines += _on_the_mesh(story, barrio) if is_read else []
    made = triangulations(story.of_mesh("delaunay"))
    if made:
        lines += _on_the_triangulation(story, made[0], barrio)
    runs = story.of_mesh("heat")
    if runs:
        lines.append(_run_again(story, runs[0], barrio))
    traffics = story.results.of("traffic")
    if traffics:
        lines.append(_map_again(story, traffics[0], barrio))
    machines = story.results.of("machine")
    if machines:
        lines.append(_map_on_measured(traffics, machines[0], barrio))
    series = story.drawing("series", "ghosts", "mesh", "plane")
    if series is not None:
        how = "in detail" if series.kind == "plane" else "from all sides"
        lines.append(
            (
                f"View it {how}, with ParaView 5.12 or newer",
                f"paraview {shlex.quote(str(series.path))}",
            )
        )
    return lines or [("List the commands of barrio", f"{barrio} --help")]


def _on_the_adapted(run: Document, barrio: str) -> list[tuple[str, str]]:
    """Suggest a look at the adapted mesh, and the same adaptation on other ranks."""
    q = shlex.quote
    output, source = run.text("output"), run.text("input")
    lines = []
    if output:
        why = "Look into the adapted mesh: its sets, a cut through its cells, sizes and quality"
        page = q(str(PurePath(output).with_suffix(".html")))
        lines.append((why, f"{barrio} show {q(output)} -o {page}"))
    wanted = [f" --size {q(str(size))}" for size in run.items("size")]
    wanted += [
        f" --{option} {q(run.text(key))}"
        for option, key in (("size-field", "size_field"), ("error-field", "error_field"))
        if run.text(key)
    ]
    if not source or not wanted or not output:
        return lines
    options = run.table("options")
    usual = {"error_order": 1.0, "feature_angle": 40.0, "min_quality": 0.3}
    for key, value in options.items():
        if isinstance(value, float) and value != usual.get(key, 0.0):
            wanted.append(f" --{key.replace('_', '-')} {repr(value).removesuffix('.0')}")
    wanted += [f" --frozen {q(str(name))}" for name in options.get("frozen") or []]
    wanted += [" --leave-out"] if run.items("left_out") else []
    ranks = 2 if run.number("ranks") == 1 else 1
    other = q(str(PurePath(output).with_name(f"{PurePath(output).stem}_again.h5m")))
    why = f"Adapt it on {words.spelled(ranks, 'rank')}: the checksum must be the same"
    if run.text("checksum"):
        why += f", {run.text('checksum')}"
    lines.append((why, f"{barrio} --ranks {ranks} adapt {q(source)}{''.join(wanted)} -o {other}"))
    return lines


def _on_the_flow(run: Document, barrio: str) -> list[tuple[str, str]]:
    """Suggest a look at the states, and the case with another level."""
    q = shlex.quote
    lines = []
    output, case = run.table("output").get("file"), run.text("case")
    if output:
        page = q(str(PurePath(str(output)).with_suffix(".html")))
        why = "Look at all fields of the flow, its states as a film"
        lines.append((why, f"{barrio} show {q(str(output))} -o {page}"))
    n_levels = len(run.items("levels"))
    if case and n_levels:
        ranks = int(run.number("ranks") or 1)
        option = f"--set grid.levels={n_levels + 1}"
        why = f"Compute {PurePath(case).name} with another level of finer blocks"
        lines.append((why, f"{barrio} --ranks {ranks} amr {q(case)} {option}"))
    return lines


def _on_the_mesh(story: Story, barrio: str) -> list[tuple[str, str]]:
    q = shlex.quote
    mesh = story.mesh_name
    ranks, parts = max(story.rank_counts(), default=4), int(story.n_parts() or 8)
    partitions = story.of_mesh("partition")
    source = (partitions[0].text("input") if partitions else "") or mesh
    method = partitions[0].text("method") if partitions else "rcb"
    other = "rcb" if method != "rcb" else "ptscotch"
    recut = str(PurePath(mesh).with_name(f"{PurePath(mesh).stem}_{other}.h5m"))
    return [
        ("Describe the mesh file: counts, sets, tags, quality", f"{barrio} info {q(mesh)}"),
        (
            "Load it on another number of ranks, and check all invariants",
            f"{barrio} --ranks {2 * ranks} load {q(mesh)} --ghosts 1 --validate",
        ),
        (
            "Partition it by another method, and compare the cut sides",
            f"{barrio} --ranks 2 partition {q(source)} -n {parts} -m {other} -o {q(recut)}",
        ),
    ]


def _on_the_triangulation(story: Story, made: Document, barrio: str) -> list[tuple[str, str]]:
    """Suggest an audit and a picture if they are missing; both need a complete triangulation."""
    source, output = made.text("input"), PurePath(made.text("output"))
    if not source or output.suffix == ".vtkhdf" or not is_whole(made):
        return []
    command = f"{barrio} delaunay {shlex.quote(source)}{_bounds(made)}"
    has_hull = (
        made.table("options").get("hull") is True
    )  # an audit expects the boundary at the segments
    lines = []
    if not has_hull and not audits(story.of_mesh("delaunay")):
        why = "Audit the triangulation; the exit code is 4 if it has faults"
        lines.append((why, f"{command} --audit {shlex.quote(str(output))}"))
    if story.drawing("plane") is None:
        flags = " --hull" if has_hull else ""
        if made.table("options").get("region_areas") is False:
            flags += " --no-region-areas"
        picture = shlex.quote(str(output.with_suffix(".vtkhdf")))
        why = "Write it for ParaView, or for pictures in this report"
        lines.append((why, f"{command}{flags} -o {picture}"))
    return lines


def _bounds(made: Document) -> str:
    """Return the options for the same bounds."""
    if not is_refined(made):
        return " --no-refinement"
    known = [(key, made.number("options", key)) for key in ("min_angle", "max_area")]
    texts = [
        (key.replace("_", "-"), repr(bound).removesuffix(".0")) for key, bound in known if bound
    ]
    return "".join(f" --{option} {text}" for option, text in texts)


def _run_again(story: Story, run: Document, barrio: str) -> tuple[str, str]:
    q = shlex.quote
    ranks = 2 if run.number("ranks") == 1 else 1
    heat = find_program("heat")
    options = ""
    time, series = run.number("end_time"), story.drawing("series")
    if time:
        options += f" --end-time {time:.17g}"
    if series is not None:  # frames cut the solver's time steps, which changes the last bits
        options += f" --frames {series.facts['n_steps'] - 1}"
    result = run.path.with_name(f"heat{ranks}.json")
    why = f"Run again on {words.spelled(ranks, 'rank')}: the checksums must be the same"
    if run.text("temperature_checksum"):
        why += f", {run.text('temperature_checksum')} for the temperature"
    if not heat:
        why += "; './heat' stands for the example's program"
    program = heat or "./heat"
    mesh = run.text("mesh")
    command = (
        f"{barrio} --ranks {ranks} exec {program} {q(mesh)}{options} --result {q(str(result))}"
    )
    return why, command


def _map_again(story: Story, traffic: Document, barrio: str) -> tuple[str, str]:
    """Suggest a mapping with the machine and order of the results, so that the numbers agree."""
    q = shlex.quote
    n = int(traffic.data["ranks"])
    mapped, files = None, [traffic]
    for document in story.results.of("map"):
        found = story.traffic_of(document)
        if mapped is None and found is not None and found.documents[0] is traffic:
            mapped, files = document, found.documents
    machine = (machine_option(mapped) if mapped else "") or f"2x{(n + 1) // 2}"
    options = f" --machine {q(machine)}"
    why = f"Place the {who_talks(traffic)}s on your own machine, instead of {machine}"
    if mapped:
        weight, order = mapped.text("weight"), given_order(mapped)
        if weight and weight != "bytes":
            options += f" --weight {q(weight)}"
        if order == "cyclic":
            options += " --given cyclic"
        elif order == "file":
            why += "; add --given with your file, to compare with the order above"
    output = traffic.path.with_name("ranks.txt")
    names = " ".join(q(str(file.path)) for file in files)
    return why, f"{barrio} map {names}{options} -o {q(str(output))}"


def _map_on_measured(traffics: list[Document], machine: Document, barrio: str) -> tuple[str, str]:
    """Suggest a mapping on the measured machine; a new measurement if it is incomplete."""
    q = shlex.quote
    file = q(str(machine.path))
    if not are_distances_known(machine):
        why = (
            "Measure both inside a node and between nodes; 'hosts' stands for a file of two nodes with "
            "two slots each"
        )
        return why, f"mpirun -n 4 --hostfile hosts {barrio} map --measure --result {file}"
    why = "Place ranks on the measured hosts, by the measured costs of a byte and a message"
    if not traffics:
        why += "; traffic.json stands for the output of barrio record"
    traffic = q(str(traffics[0].path)) if traffics else "traffic.json"
    options = f"--machine {file} --message-bytes {message_bytes(machine)}"
    n_ranks = int(traffics[0].data["ranks"]) if traffics else 0
    if n_ranks > sum(n for _, n in machine.items("hosts")):
        why = why.replace("the measured hosts", "hosts like the measured ones")
        why += f"; 'hosts' stands for a file of hosts with room for {words.count(n_ranks)} ranks"
        options += " --hosts hosts"
    return why, f"{barrio} map {traffic} {options}"


def raw_section(story: Story) -> Section | None:
    """Show every document, folded."""
    documents = story.results.documents
    if not documents:
        return None
    body: list[Html] = [_origin_table(story, documents)]
    room = _MAX_ALL_RAW
    for document in documents:
        limit = min(_MAX_RAW, max(room, 0))
        shown = {
            name: rows[: limit // _LEAST_ROW + 1].tolist() for name, rows in document.rows.items()
        }
        text = json.dumps(document.data | shown, indent=1, ensure_ascii=False)
        room -= min(len(text), limit)
        if len(text) > limit:
            text = f"{text[:limit]}\n… truncated; the full document is {document.path.name}"
        title = f"{document.path.name} (barrio.{document.kind})"
        body.append(tag("details", tag("summary", title), tag("pre", tag("code", text))))
    return Section("documents", "Documents", body)


def _origin_table(story: Story, documents: list[Document]) -> Html:
    rows = [
        [
            d.path.name,
            f"barrio.{d.kind}",
            d.text("time") or words.NOTHING,
            d.text("barrio") or words.NOTHING,
            d.text("commit") or words.NOTHING,
            _size(story, d),
        ]
        for d in documents
    ]
    return table(["file", "schema", "time", "barrio", "commit", "ranks or parts"], rows, n_left=6)


def _size(story: Story, document: Document) -> str:
    """Write the number of ranks that ran; for traffic and a mapping, the ranks or parts they describe."""
    n = document.number("ranks")
    if n is None:
        return words.NOTHING
    if document.kind == "traffic":
        recorded = document.number("recorded_on_ranks")
        said = words.plural(n, who_talks(document))
        return f"{said}, recorded on {words.plural(recorded, 'rank')}" if recorded else said
    if document.kind == "map":
        traffic = story.traffic_of(document)
        return f"{words.plural(n, traffic.who if traffic else 'rank')} placed"
    return words.plural(n, "rank")


def errors_section(story: Story) -> list[Html]:
    """Show errors at the top of the page."""
    notes = []
    for document in story.results.of("error"):
        subject, cause, remedy = (
            document.text("error", key) for key in ("subject", "cause", "remedy")
        )
        notes.append(
            tag(
                "div",
                tag("b", f"{document.path.name}: {subject}"),
                paragraph(cause),
                paragraph(f"Remedy: {remedy}") if remedy else None,
                class_="note error",
            )
        )
    return notes
