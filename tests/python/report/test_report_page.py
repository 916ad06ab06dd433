"""Test the page: sections, numbers, escaping, and that it is self-contained."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import barrio.report
import numpy as np
import pytest
import report_samples as made
from barrio.report.__main__ import main
from barrio.report.colours import colours
from PIL import Image
from report_form import check

Write = Callable[..., str]


def report(tmp_path: Path, *runs: str) -> str:
    """Make the page of some results, and return it with plain spaces."""
    output = tmp_path / "report.html"
    assert main(["-o", str(output), *runs]) == 0
    return output.read_text(encoding="utf-8").replace("\u202f", " ").replace("\u00a0", " ")


@pytest.fixture(scope="module")
def full_page(tmp_path_factory: pytest.TempPathFactory, vtkhdf: dict[str, str]) -> str:
    """Make the page of all kinds of results, with pictures, once."""
    folder = tmp_path_factory.mktemp("full")
    files = []
    for document in (
        made.partition(), made.load(), made.heat(), made.traffic(), made.mapped(),
    ):  # fmt: skip
        path = folder / f"{document['schema']}.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        files.append(str(path))
    return report(folder, *files, vtkhdf["heat"], vtkhdf["ghosts"])


def test_goals_of_benchmarks_stand_missed_ones_first(tmp_path: Path, write: Write) -> None:
    page = report(tmp_path, write(made.bench_all()))
    assert "Goals of the benchmarks" in check(page).headings
    assert "1 of 2 goals are met" in page
    assert page.index("ring.late") < page.index("tets.load")
    assert "7.125 M/s" in page
    assert "Not run: rankmap: is not there (make bench)" in page


def test_full_page_has_all_sections_in_order(full_page: str) -> None:
    assert check(full_page).headings == [
        "Parts",
        "Ghosts",
        "Temperature",
        "Time per phase and rank",
        "Traffic and mapping",
        "Files",
        "What to try next",
        "Documents",
    ]


def test_full_page_has_all_pictures(full_page: str) -> None:
    images = check(full_page).images
    # Parts, exploded view and the cells behind a cut, ghosts, frames of the outside and of a cut.
    assert len(images) == 3 + 1 + 4 + 4
    assert "could not be rendered" not in full_page
    assert all(float(image["width"] or 0) > 300 for image in images)
    # Pictures with axes but for the exploded view and ghosts; bars and curve; matrices, costs, heaviest links before
    # and after, bytes that leave nodes.
    assert full_page.count("<svg") == (len(images) - 2) + 2 + 1 + 2 + 1 + 2 + 1
    assert len(full_page) < 6_000_000


def test_every_part_is_seen(tmp_path: Path) -> None:
    """Draw an exploded view of eight blocks: it has the colour of each, even of the hidden one."""
    script = tmp_path / "draw.py"
    script.write_text(
        "import os, sys\n"
        "os.environ.setdefault('VTK_DEFAULT_OPENGL_WINDOW', 'vtkEGLRenderWindow')\n"
        "import numpy as np, pyvista as pv\n"
        "from pathlib import Path\n"
        "from barrio.report.drawing.scenes import draw_exploded\n"
        "grid = pv.ImageData(dimensions=(9, 9, 9)).cast_to_unstructured_grid()\n"
        "side = (grid.cell_centers().points > 4).astype(int)\n"
        "grid.cell_data['part'] = side @ [1, 2, 4]\n"
        "draw_exploded(grid, 8, Path(sys.argv[1]))\n",
        encoding="utf-8",
    )
    path = tmp_path / "exploded.png"
    environment = os.environ | {"PYTHONPATH": str(Path(barrio.report.__file__).parents[2])}
    subprocess.run(
        [sys.executable, str(script), str(path)], env=environment, check=True, timeout=60
    )
    pixels = np.asarray(Image.open(path).convert("RGBA"), dtype=int)
    seen = pixels[pixels[..., 3] > 0][:, :3]
    lit = seen / np.maximum(seen.max(axis=1, keepdims=True), 1)
    for name in colours(8):
        rgb = np.array([int(name[i : i + 2], 16) for i in (1, 3, 5)])
        assert (np.abs(lit - rgb / rgb.max()).max(axis=1) < 0.08).mean() > 0.02, name


def test_summary_has_the_key_numbers(full_page: str) -> None:
    lead = re.search(r'<p class="lead">(.*?)</p>', full_page, re.DOTALL)
    assert lead
    for text in (
        "80 326 cells", "16 270 vertices", "8 parts", "4 ranks", "3.54 × 10⁻⁹ K", "passes",
        "97.1 % (order: block) to 2.9 %", "two nodes of two cores",
    ):  # fmt: skip
        assert text in lead[1]


def lead_of(page: str) -> str:
    """Return the first paragraph of the page."""
    found = re.search(r'<p class="lead">(.*?)</p>', page, re.DOTALL)
    assert found
    return html.unescape(found[1])


def cards_of(page: str) -> list[str]:
    """Return the key numbers, each as 'value name'."""
    found = re.search(r'<ul class="cards">(.*?)</ul>', page, re.DOTALL)
    return re.findall(r"<li><b>(.*?)</b><span>.*?</span></li>", found[1]) if found else []


def test_headline_is_of_one_mesh(tmp_path: Path, write: Write) -> None:
    """Give results in any order: the headline has no number of another mesh."""
    other = made.load() | {"input": "cube.h5m", "seconds": 77.0, "parts": 3, "ranks": 16}
    other["owned_cells"] = made.spread(1, 2, 3)
    other["counts"] = {"vertices": 123, "volumes": 8}
    cut = made.partition() | {"output": "elsewhere/wing64.h5m", "parts": 64}
    files = [
        write(other, "1.json"), write(cut, "2.json"), write(made.load(), "3.json"),
        write(made.heat() | {"mesh": "run/wing8.h5m"}, "4.json"),
    ]  # fmt: skip
    for order in (files, files[::-1]):
        page = report(tmp_path, *order)
        lead = lead_of(page)
        for text in ("wing8.h5m has 80 326 cells and 16 270 vertices in 8 parts",
                     "4 ranks loaded it in 389.0 ms; each exchange of ghosts sends 13.3 KiB"):  # fmt: skip
            assert text in lead, lead
        for text in ("77", "16 ranks", "64 parts", "123"):
            assert text not in lead, lead
        assert re.search(r"Results of other meshes are below: .*cube\.h5m", lead)
        assert "wing64.h5m" in lead
        assert cards_of(page) == ["80 326", "16 270", "8", "4", "3.54 × 10⁻⁹ K"]
        assert "cube.h5m on 16 ranks" in page  # it is not lost
    alone = report(tmp_path, files[0], files[1])
    assert "The mesh cube.h5m has 8 cells and 123 vertices in 3 parts" in lead_of(alone)


def test_headline_tells_runs_on_several_numbers_of_ranks_apart(
    tmp_path: Path, write: Write
) -> None:
    loads = [made.load() | {"ranks": n, "seconds": 8.0 / n} for n in (4, 1, 2)]
    loads.append(loads[0] | {"seconds": 2.5})
    heats = [made.heat(n) | {"seconds": 40.0 / n} for n in (2, 1)]
    heats[0]["max_error"] = 2e-6  # fails
    files = [write(d, f"{i}.json") for i, d in enumerate([*loads, *heats])]
    page = report(tmp_path, *files)
    lead = lead_of(page)
    for text in (
        "1 rank loaded it in 8.00 s, 2 ranks in 4.00 s and 4 ranks in 2.00 s to 2.50 s in 2 runs",
        "each exchange of ghosts of 4 ranks sends",
        "Heat took 4 252 stages in 40.00 s on 1 rank and 20.00 s on 2 ranks",
        "steady state is 2.00 × 10⁻⁶ K (tolerance 1.00 × 10⁻⁶ K), which fails",
    ):
        assert text in lead, lead
    assert cards_of(page)[3:] == ["1 and 2", "2.00 × 10⁻⁶ K"]
    many = [made.load() | {"ranks": 2**i, "seconds": 2.0**-i} for i in range(8)]
    page = report(tmp_path, *[write(d, f"many{i}.json") for i, d in enumerate(many)])
    assert "1 rank loaded it in 1.00 s and 128 ranks in 7.8 ms" in lead_of(page)
    assert "1 to 128" in cards_of(page)


def test_headline_names_the_mapping_it_is_about(tmp_path: Path, write: Write) -> None:
    page = report(
        tmp_path,
        write(made.mapped(), "a.json"),
        write(made.mapped(), "b.json"),
        write(made.traffic()),
    )
    assert "two nodes of two cores (a.json, the first of 2 mappings)" in lead_of(page)
    assert "of the traffic between nodes" not in page


def test_provenance_says_where_results_come_from(full_page: str) -> None:
    line = re.search(r'<p class="provenance">(.*?)</p>', full_page)
    assert line
    for text in ("barrio 0.1.0", "c0ffee123456", "GNU 12.2.0 Release", "Open MPI v4.1.4", "node7",
                 "2026-01-02 03:04 UTC", "ranks 4"):  # fmt: skip
        assert text in line[1]


def test_ghosts_are_counted_by_owner(full_page: str, vtkhdf: dict[str, str]) -> None:
    n_ghosts = vtkhdf["n_ghosts"]
    assert f"{n_ghosts} owned by rank 0" in full_page
    assert "11.8 KiB" in full_page and "13.3 KiB" in full_page and "15.0 KiB" in full_page
    assert not re.search(r"\d (kB|MB|GB)\b", full_page)


def test_phases_are_grouped_and_waiting_is_said(full_page: str) -> None:
    assert "25.0 % of the solve is waiting" in full_page
    assert "4 ranks share 2 cores" in full_page
    names = re.findall(r'<th scope="row">([a-z]+(?:\.[a-z]+)?)</th>', full_page)
    assert [n for n in names if n in ("heat.solve", "heat.wait", "io.read", "load")] == [
        "heat.solve", "heat.wait", "io.read", "load",
    ]  # fmt: skip


def test_traffic_is_drawn_in_core_order(full_page: str) -> None:
    assert full_page.count("in the order of their cores") == 1
    assert full_page.count("in the order of the new cores") == 1
    assert "left" in full_page and "right" in full_page
    for text in ("341", "−87.1 %", "pair exchange", "32.4 MiB", "976.6 KiB", "−94.29 points",
                 "two nodes of two cores (2x2), distance 1 in a node, 10 between nodes",
                 "before (block)", "&#x27;Before&#x27; is the given order: block, rank i on core i"):  # fmt: skip
        assert text in full_page


def test_parts_are_not_called_ranks(tmp_path: Path, write: Write) -> None:
    traffic = made.traffic() | {"recorded_on_ranks": 2}
    page = report(tmp_path, write(made.heat(2)), write(traffic), write(made.mapped()))
    cells = re.findall(r"<td>([^<]*)</td></tr>", page[page.index("ranks or parts") :])
    assert cells == ["2 ranks", "4 parts, recorded on 2 ranks", "4 parts placed"]
    assert "4 parts on two nodes" in page and "placing 4 parts by their traffic" in page
    same = report(tmp_path, write(made.traffic()), write(made.mapped()))
    assert "4 ranks placed" in same and ">4 ranks<" in same


def test_calls_are_per_rank(tmp_path: Path, write: Write) -> None:
    load = made.load()
    load["phases"] = [
        made.phase("load", [0.1] * 4) | {"entries": 17008},
        made.phase("io.read", [0.1] * 4) | {"entries": 6},
        made.phase("io.open", [0.1]) | {"entries": 3, "ranks": 1},
    ]
    page = report(tmp_path, write(load))
    assert "calls per rank" in page and "17 008" not in page
    assert re.findall(r'<td class="n">(4 252|mean 1\.5|3)</td>', page)[-3:] == [
        "3", "mean 1.5", "4 252",
    ]  # fmt: skip
    assert "how often a rank entered the phase" in page and "the sum over ranks" in page


def test_one_row_is_a_list(tmp_path: Path, write: Write) -> None:
    one = report(tmp_path, write(made.heat()))
    assert '<th scope="row">checksum of the mesh</th>' in one
    two = report(tmp_path, write(made.heat(1), "a.json"), write(made.heat(2), "b.json"))
    assert '<th class="n" scope="col">checksum of the mesh</th>' in two


def test_time_and_distance_are_labelled(full_page: str) -> None:
    assert "Time has no unit here: the diffusivity is 1" in full_page
    assert "time 2.00 (no unit), frame 3 of 3" in full_page
    assert "|temperature − its last frame| in K" in full_page
    assert "the last frame against the known steady state is 3.54 × 10⁻⁹ K" in full_page


def commands(page: str) -> list[str]:
    """Return the commands that the page suggests."""
    section = page[page.index('id="next"') : page.index('id="documents"')]
    return [html.unescape(line) for line in re.findall(r"<code>(.*?)</code>", section)]


def place_program(monkeypatch: pytest.MonkeyPatch, folder: Path, *names: str) -> None:
    """Pretend that the package is in a build in folder, which is the current folder."""
    for name in names:
        program = folder / "build" / "release" / "bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("")
    module = folder / "build" / "release" / "python" / "barrio" / "report" / "sections" / "next.py"
    monkeypatch.setattr("barrio.report.sections.next.__file__", str(module))
    monkeypatch.chdir(folder)


def test_commands_name_the_built_program(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    place_program(monkeypatch, tmp_path, "barrio", "heat")
    names = {"mesh": "build/demo/wing8.h5m", "input": "build/demo/wing8.h5m"}
    cyclic = made.mapped() | {"given": [0, 2, 1, 3], "placement": [0, 1, 2, 3]}
    partition = made.partition() | {"output": "build/demo/wing8.h5m"}
    write(made.load() | names)
    runs = [write(d) for d in (partition, made.heat() | names, made.traffic(), cyclic)]
    page = report(tmp_path, *(str(Path(run).relative_to(tmp_path)) for run in runs))
    barrio = "build/release/bin/barrio"
    assert commands(page) == [
        f"{barrio} info build/demo/wing8.h5m",
        f"{barrio} --ranks 8 load build/demo/wing8.h5m --ghosts 1 --validate",
        f"{barrio} --ranks 2 partition wing.msh -n 8 -m ptscotch -o build/demo/wing8_ptscotch.h5m",
        f"{barrio} --ranks 1 exec build/release/bin/heat build/demo/wing8.h5m --end-time 20 "
        "--result heat1.json",
        f"{barrio} map traffic.json --machine 2x2 --given cyclic -o ranks.txt",
    ]
    assert "'barrio' stands for" not in page and "mpiexec" not in page
    assert "must be the same, 967acb7d88257f05 for the temperature" in page


def test_commands_without_a_built_program(
    tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    place_program(monkeypatch, tmp_path)
    named = made.mapped() | {"given": [3, 2, 1, 0], "weight": "bytes", "machine": "2:2;1:5"}
    page = report(tmp_path, write(made.heat(1)), write(made.traffic()), write(named))
    lines = commands(page)
    assert lines[0] == "barrio info wing8.h5m"
    assert lines[3].startswith("barrio --ranks 2 exec ./heat wing8.h5m ")
    assert "--machine '2:2;1:5' -o " in lines[4] and "add --given with your file" in page
    assert "'barrio' stands for the program; in the source folder it is build/release" in (
        html.unescape(page)
    )


def test_commands_need_a_mesh(tmp_path: Path, write: Write) -> None:
    error = made.HEADER | {"schema": "barrio.error", "error": {"code": 1, "subject": "a"}}
    (line,) = commands(report(tmp_path, write(error)))
    assert line.endswith("barrio --help")


def test_texts_are_escaped(tmp_path: Path, write: Write) -> None:
    name = "<b>&\"'$x_1$\u0000.h5m"
    heat = made.heat() | {"mesh": name, "host": "<script>alert(1)</script>"}
    heat["phases"] = [made.phase("<i>.$\\frac$", [1.0] * 20)]
    mapped = made.mapped() | {"node_names": ["<u>", "$\\bad{"], "method": "</table>"}
    page = report(tmp_path, write(heat), write(mapped), write(made.traffic()))
    check(page)
    assert "<b>&" not in page and "<script" not in page and "<u>" not in page and "<i>." not in page
    assert "&lt;b&gt;&amp;&quot;&#x27;$x_1$.h5m" in page


def test_checksums_of_several_rank_counts_are_compared(tmp_path: Path, write: Write) -> None:
    runs = [write(made.heat(n), f"heat{n}.json") for n in (1, 2, 4)]
    assert "the same temperatures to the last bit on 1, 2 and 4 ranks" in report(tmp_path, *runs)
    runs.append(write(made.heat(8, "0000000000000bad"), "heat8.json"))
    assert "2 different checksums on 1, 2, 4 and 8 ranks" in report(tmp_path, *runs)


def test_failed_check_is_said(tmp_path: Path, write: Write) -> None:
    page = report(tmp_path, write(made.heat() | {"max_error": 0.146}))
    assert "0.146 K" in page and ">failed<" in page and "which fails" in page


def test_map_that_gains_nothing_draws_one_matrix(tmp_path: Path, write: Write) -> None:
    mapped = made.mapped() | {"placement": [0, 1, 2, 3]}
    page = report(tmp_path, write(mapped), write(made.traffic()))
    assert (
        "The given order (block, rank i on core i) is kept, since no better one was found" in page
    )
    said = re.findall(r'<svg role="img" aria-label="([^"]*)"', page)
    assert said == [
        "Matrix of bytes from rank to rank, given order (block)", "Costs",
        "Heaviest links, given order", "Bytes that leave each node",
    ]  # fmt: skip


def test_many_ranks_without_times_of_ranks(tmp_path: Path, write: Write) -> None:
    load = made.load() | {"ranks": 1024}
    load["phases"] = [made.phase("load", [0.5, 1.5], has_ranks=False)]
    page = report(tmp_path, write(load))
    assert "500.0 ms" in page and "1.50 s" in page and "rank 0<" not in page


def test_many_ranks_are_drawn_as_a_map(tmp_path: Path, write: Write) -> None:
    load = made.load() | {"phases": [made.phase("load", [0.1 * i for i in range(1, 41)])]}
    assert "Seconds per phase and rank, on a logarithmic scale" in report(tmp_path, write(load))


def test_error_document_is_shown_first(tmp_path: Path, write: Write) -> None:
    error = {"code": 3, "subject": "a.h5m", "cause": "is truncated", "remedy": "copy it again"}
    page = report(tmp_path, write(made.HEADER | {"schema": "barrio.error", "error": error}))
    assert "a.h5m" in page and "is truncated" in page and "Remedy: copy it again" in page


def test_info_and_generate_are_shown(tmp_path: Path, write: Write) -> None:
    info = made.HEADER | {
        "schema": "barrio.info", "format": "h5m", "vertices": 12, "entities": {"tets": 11},
        "sets": {"total": 4, "parts": 2}, "box": {"low": [0, 0, 0], "high": [1, 2, 1]},
        "file_bytes": 32008, "unsupported": ["2 polyhedra"],
    }  # fmt: skip
    box = made.HEADER | {"schema": "barrio.generate", "output": "box.h5m", "cells": 48000}
    page = report(tmp_path, write(info), write(box))
    assert "[0, 1] × [0, 2] × [0, 1]" in page and "31.3 KiB" in page and "48 000" in page


@pytest.mark.parametrize(
    "kind",
    [
        "partition",
        "load",
        "heat",
        "info",
        "generate",
        "error",
        "adapt",
        "delaunay",
        "bench.adapt",
        "bench.delaunay",
        "bench.all",
    ],
)
def test_bare_document_makes_a_page(tmp_path: Path, write: Write, kind: str) -> None:
    check(report(tmp_path, write({"schema": f"barrio.{kind}", "schema_version": 1})))


@pytest.mark.parametrize("junk", [None, "x", -1, 1e308, [], {}, [None], {"min": "x"}, True])
def test_junk_in_any_field_is_no_crash(tmp_path: Path, write: Write, junk: Any) -> None:
    files = []
    for document in (
        made.partition(), made.load(), made.heat(), made.adapt(), made.bench_adapt(),
        made.bench_delaunay(), made.delaunay(),
    ):  # fmt: skip
        kept = ("schema", "schema_version")
        changed = {key: value if key in kept else junk for key, value in document.items()}
        files.append(write(changed))
    mapped = made.mapped()
    for key in ("weight", "node_names", "before", "after", "total_weight", "machine"):
        mapped[key] = junk
    check(report(tmp_path, *files, write(mapped), write(made.traffic())))
