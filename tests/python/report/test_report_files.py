"""Test VTKHDF files of any shape: their facts, their pictures, and damage."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import report_samples as made
import report_shapes as shapes
from barrio.report.__main__ import main
from barrio.report.drawing.facts import find_facts
from barrio.report.drawing.read import Unreadable, open_file
from barrio.report.pictures import Drawing, draw_all
from PIL import Image
from report_form import check
from test_report_adapt import rows_of
from test_report_command import refuse

Write = Callable[..., str]


def facts_of(path: Path) -> dict[str, Any]:
    """Return the facts of a file, as the page gets them."""
    facts: dict[str, Any] = json.loads(json.dumps(find_facts(open_file(path)), allow_nan=False))
    return facts


def report(output: Path, *runs: Path | str) -> str:
    """Make the page of some results without pictures, and return it with plain spaces."""
    assert main(["--no-pictures", "-o", str(output), *map(str, runs)]) == 0
    page = output.read_text(encoding="utf-8")
    check(page)
    return page.replace("\u202f", " ").replace("\u00a0", " ")


def film(folder: Path) -> Path:
    """Write a block that loses cells from step to step, with a field on points and one on cells."""
    steps = []
    for step in range(3):
        block = shapes.hexes([np.linspace(0, 1, 5)] * 3)
        mesh = block.kept(block.centres()[:, 0] > 0.25 * step)
        mesh.of_points = {"heat": mesh.points[:, 2] + step}
        mesh.of_cells = {"load": np.arange(len(mesh.cells)) + 0.5}
        mesh.n_pieces = 1 + step
        steps.append(mesh)
    return shapes.write_mesh(folder / "film.vtkhdf", steps, [0.0, 0.5, 1.0])


def flow(folder: Path) -> Path:
    """Write a static mesh with a vector, an array with gaps, and whole numbers."""
    mesh = shapes.hexes([np.linspace(0, 1, 5)] * 3)
    x = mesh.points[:, 0]
    gaps = np.where(x > 0.6, np.nan, x)
    mesh.of_points = {"flow": mesh.points * [3.0, 4.0, 0.0], "gaps": gaps}
    mesh.of_cells = {"kind": (mesh.centres()[:, 0] > 0.5).astype(np.int32) + 4}
    mesh.n_pieces = 2
    return shapes.write_mesh(folder / "flow.vtkhdf", [mesh])


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Drawing]:
    """Draw one file of each kind, once."""
    folder = tmp_path_factory.mktemp("drawn")
    upright = shapes.quads(4, 2, lambda p: np.stack([0 * p[:, 0], p[:, 0], 0.5 * p[:, 1]], -1))
    files = [
        shapes.write_mesh(folder / "elbow.vtkhdf", [shapes.elbow()]),
        shapes.write_mesh(folder / "tunnel.vtkhdf", [shapes.tunnel(is_on_wall=True)]),
        shapes.write_mesh(folder / "upright.vtkhdf", [upright]),
        film(folder),
        flow(folder),
        shapes.write_amr(folder / "amr.vtkhdf", 2, [0.0, 1.0]),
    ]
    return {drawing.path.stem: drawing for drawing in draw_all(files)}


def pixels_of(image: bytes) -> np.ndarray:
    """Return the pixels of a picture: red, green, blue and opacity."""
    return np.asarray(Image.open(io.BytesIO(image)).convert("RGBA"), dtype=int)


def test_every_kind_has_pictures_that_are_not_blank(drawn: dict[str, Drawing]) -> None:
    wanted = {
        "elbow": {"parts", "inside"},
        "tunnel": {"parts", "outside", "inside"},
        "upright": {"parts"},
        "film": {f"{name}{i}" for name in ("mesh", "field0-", "cut-") for i in range(3)} | {"field1-2"},
        "flow": {"parts", "inside", "field0-0", "field1-0", "field2-0", "cut-0"},
        "amr": {"field0-0", "field0-1"},
    }  # fmt: skip
    for name, images in wanted.items():
        drawing = drawn[name]
        assert drawing.fault == ""
        assert set(drawing.images) == images, name
        for image in drawing.images.values():
            pixels = pixels_of(image)
            assert (pixels[..., 3] > 0).mean() > 0.05
            colours = (pixels @ [1, 2**8, 2**16, 2**24])[pixels[..., 3] > 0]
            assert len(np.unique(colours)) > 1


def test_a_solid_is_no_hollow_tube(drawn: dict[str, Drawing]) -> None:
    """Look at the end of the elbow: its faces fill the outline, since it is closed."""
    facts = drawn["elbow"].facts
    assert not facts["has_body"] and not facts["has_wall"] and facts["n_cells"] == 128
    opacity = pixels_of(drawn["elbow"].images["parts"])[..., 3] > 0
    for column in opacity.T[:: opacity.shape[1] // 40]:
        rows = np.flatnonzero(column)
        assert len(rows) == 0 or column[rows[0] : rows[-1] + 1].all()


def test_a_flat_mesh_is_seen_along_its_normal(drawn: dict[str, Drawing]) -> None:
    assert drawn["upright"].facts["normal"] == [1.0, 0.0, 0.0]
    pixels = pixels_of(drawn["upright"].images["parts"])
    assert (pixels[..., 3] > 0).mean() > 0.99  # a rectangle without distortion
    assert pixels.shape[1] / pixels.shape[0] == pytest.approx(2.0, abs=0.02)


def test_frames_have_one_border_and_one_scale(drawn: dict[str, Drawing]) -> None:
    images = drawn["film"].images
    sizes = {pixels_of(images[f"field0-{i}"]).shape for i in range(3)}
    assert len(sizes) == 1
    assert [field["name"] for field in drawn["film"].facts["fields"]] == ["heat", "load"]
    low, high, _ = drawn["film"].facts["fields"][0]["bands"]
    assert (low, high) == (0.0, 3.0)  # of all steps


def test_a_cut_through_boxes_shows_the_finest_values(drawn: dict[str, Drawing]) -> None:
    facts = drawn["amr"].facts
    assert facts["levels"] == [{"blocks": 4, "cells": 256}, {"blocks": 4, "cells": 256}]
    assert facts["dimension"] == 2 and facts["time"] == [0.0, 1.0]
    low, high = facts["fields"][0]["range"]
    assert low == pytest.approx(0.5 / 32) and high == pytest.approx(1.0 - 0.5 / 16 + 1.0)
    first = pixels_of(drawn["amr"].images["field0-0"])
    last = pixels_of(drawn["amr"].images["field0-1"])
    assert first.shape == last.shape and (first != last).any()


@pytest.mark.parametrize(
    ("mesh", "has_body", "has_wall"),
    [
        (shapes.tunnel(), True, False),
        (shapes.tunnel(is_on_wall=True), True, True),
        (shapes.tunnel(is_fine=False), False, False),  # a hollow block
        (shapes.hexes([np.linspace(0, 1, 4)] * 3), False, False),
        (shapes.elbow(), False, False),
        (shapes.quads(3, 3), False, False),
    ],
)  # fmt: skip
def test_only_a_box_around_a_body_is_one(
    tmp_path: Path, mesh: shapes.Mesh, has_body: bool, has_wall: bool
) -> None:
    facts = facts_of(shapes.write_mesh(tmp_path / "a.vtkhdf", [mesh]))
    assert (facts["has_body"], facts["has_wall"]) == (has_body, has_wall)


@pytest.mark.parametrize(
    ("place", "normal"),
    [
        (lambda p: p, [0, 0, 1]),
        (lambda p: p[:, [0, 2, 1]], [0, -1, 0]),
        (lambda p: p[:, [2, 0, 1]], [1, 0, 0]),
        (lambda p: np.stack([p[:, 0], p[:, 1], p[:, 0] / 2], -1), [-(0.2**0.5), 0, 0.8**0.5]),
        (lambda p: np.stack([p[:, 0], p[:, 1], p[:, 0] * p[:, 1]], -1), None),
        (lambda p: p * 1e-9 + 5.0, [0, 0, 1]),
    ],
)  # fmt: skip
def test_normals_of_flat_meshes(tmp_path: Path, place: shapes.Map, normal: Any) -> None:
    path = shapes.write_mesh(tmp_path / "a.vtkhdf", [shapes.quads(3, 2, place)])
    found = facts_of(path)["normal"]
    assert found is None if normal is None else found == pytest.approx(normal, abs=1e-6)


def test_facts_of_arrays(tmp_path: Path) -> None:
    facts = facts_of(flow(tmp_path))
    arrays = {array["name"]: array for array in facts["arrays"]}
    assert (arrays["flow"]["high"], arrays["flow"]["components"]) == (5.0, 3)  # |(3, 4, 0)|
    assert (arrays["gaps"]["high"], arrays["gaps"]["n_missing"]) == (0.5, 50)
    fields = {field["name"]: field for field in facts["fields"]}
    assert list(fields) == ["gaps", "flow", "kind"]
    assert fields["kind"]["numbers"] == [4, 5]
    page = report(tmp_path / "a.html", tmp_path / "flow.vtkhdf")
    assert rows_of(page)["gaps"] == ["vertices", "1", "0", "0.5000", "50"]
    assert "The mesh has 64 cells and 125 vertices." in page


def test_a_mesh_that_changes_is_told(tmp_path: Path) -> None:
    facts = facts_of(film(tmp_path))
    assert facts["is_changing"] and facts["cells_of_step"] == [64, 48, 32]
    assert facts["box"] == [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    page = report(tmp_path / "a.html", tmp_path / "film.vtkhdf")
    assert "film.vtkhdf has 3 steps of a mesh that changes, with 32 to 64 cells." in page
    assert "The mesh has" not in page  # no count holds for all steps
    assert re.search(r'aria-label="cells over time"', page)
    assert rows_of(page)["contents"] == [
        "a mesh, 3 steps from time 0 to 1.00; the mesh changes, with 32 to 64 cells"
    ]


def test_a_series_of_one_mesh_does_not_change(tmp_path: Path) -> None:
    mesh = shapes.quads(2, 2)
    mesh.of_points = {"wave": mesh.points[:, 0]}
    path = shapes.write_mesh(tmp_path / "a.vtkhdf", [mesh, mesh, mesh], [0.0, 1.0, 2.0])
    assert facts_of(path)["is_changing"] is False
    assert "Min, mean and max of wave over all vertices" in report(tmp_path / "a.html", path)


def test_points_of_one_piece_stay_apart(tmp_path: Path) -> None:
    """Two squares touch without shared points: pieces share theirs, bodies do not."""
    one, two = shapes.quads(1, 1), shapes.quads(1, 1, lambda p: p + np.eye(3)[0])
    both = shapes.Mesh(np.concatenate([one.points, two.points]), np.concatenate([one.cells, two.cells + 4]), 9)  # fmt: skip
    assert facts_of(shapes.write_mesh(tmp_path / "a.vtkhdf", [both]))["n_vertices"] == 8
    whole = shapes.quads(2, 1)
    whole.n_pieces = 2
    assert facts_of(shapes.write_mesh(tmp_path / "b.vtkhdf", [whole]))["n_vertices"] == 6


def test_ghosts_count_once_in_a_series(tmp_path: Path) -> None:
    mesh = shapes.quads(2, 1)
    both = shapes.Mesh(
        mesh.points, np.concatenate([mesh.cells, mesh.cells[::-1]]), mesh.kind, n_pieces=2
    )
    both.of_cells = {
        "owner": np.array([0, 1, 1, 0]), "rank": np.array([0, 0, 1, 1]), "load": np.array([1.0, 9.0, 2.0, 9.0]),
        "vtkGhostType": np.array([0, 1, 0, 1], dtype=np.uint8),
    }  # fmt: skip
    facts = facts_of(shapes.write_mesh(tmp_path / "a.vtkhdf", [both, both], [0.0, 1.0]))
    assert facts["kind"] == "series" and facts["n_cells"] == 2 and facts["n_vertices"] == 6
    assert facts["fields"][0]["range"] == [1.0, 2.0]
    still = facts_of(shapes.write_mesh(tmp_path / "b.vtkhdf", [both]))
    assert still["kind"] == "ghosts" and still["ghosts_of_rank"] == [1, 1]


@pytest.mark.parametrize(("kind", "name"), [(1, "vertices as cells"), (3, "edges"), (10, "tets")])
def test_other_cells_are_counted(tmp_path: Path, kind: int, name: str) -> None:
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    mesh = shapes.Mesh(points, np.arange(shapes.N_NODES[kind])[None], kind)
    facts = facts_of(shapes.write_mesh(tmp_path / "a.vtkhdf", [mesh]))
    assert facts["cells"] == {name: 1} and facts["n_cells"] == 1


def test_pieces_without_cells(tmp_path: Path) -> None:
    mesh = shapes.quads(1, 1)
    mesh.n_pieces = 3
    assert facts_of(shapes.write_mesh(tmp_path / "a.vtkhdf", [mesh]))["n_cells"] == 1
    empty = mesh.kept(np.zeros(1, dtype=bool))
    page = report(tmp_path / "a.html", shapes.write_mesh(tmp_path / "b.vtkhdf", [empty]))
    assert "The mesh has no cells: there is nothing to draw." in page
    steps = shapes.write_mesh(tmp_path / "c.vtkhdf", [shapes.quads(1, 1), empty], [0.0, 1.0])
    assert facts_of(steps)["cells_of_step"] == [1, 0]


def test_boxes_in_space(tmp_path: Path) -> None:
    facts = facts_of(shapes.write_amr(tmp_path / "a.vtkhdf", 3))
    assert facts["dimension"] == 3 and facts["n_steps"] == 1
    assert facts["levels"] == [{"blocks": 8, "cells": 4096}, {"blocks": 8, "cells": 4096}]
    assert facts["at"] == [0.25, 0.25, 0.25]
    page = report(tmp_path / "a.html", tmp_path / "a.vtkhdf")
    assert "a.vtkhdf has 1 state of structured AMR, 2 levels with 8 192 cells." in page


def write_list(path: Path, names: list[str]) -> Path:
    """Write a list of files, at times 0, 1, ..."""
    files = [{"name": name, "time": float(time)} for time, name in enumerate(names)]
    path.write_text(json.dumps({"file-series-version": "1.0", "files": files}), encoding="utf-8")
    return path


def test_a_list_of_files_is_one_series(tmp_path: Path) -> None:
    for name in ("run.0.vtkhdf", "run.1.vtkhdf"):
        shapes.write_amr(tmp_path / name, 2)
    path = write_list(tmp_path / "run.vtkhdf.series", ["run.0.vtkhdf", "run.1.vtkhdf"])
    assert facts_of(path)["n_steps"] == 2
    page = report(tmp_path / "a.html", tmp_path)  # of the folder: its files are not counted twice
    assert rows_of(page)["contents"] == ["structured AMR in 2-D, 2 steps from time 0 to 1.00"]
    assert "<h3>run.0.vtkhdf" not in page


def test_a_broken_list_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shapes.write_amr(tmp_path / "boxes.vtkhdf", 2)
    shapes.write_mesh(tmp_path / "mesh.vtkhdf", [shapes.quads(1, 1)])
    (tmp_path / "cut.vtkhdf").write_bytes((tmp_path / "mesh.vtkhdf").read_bytes()[:900])
    path = tmp_path / "run.vtkhdf.series"
    for names, cause in (
        (["none.vtkhdf"], "lists none.vtkhdf, which cannot be found"),
        ([], "is no list of files, or an empty one"),
        (["mesh.vtkhdf", "boxes.vtkhdf"], "lists files of meshes and files of AMR"),
        (["cut.vtkhdf"], "lists cut.vtkhdf, which is not a VTKHDF file, or is truncated"),
    ):
        with pytest.raises(Unreadable, match=cause):
            facts_of(write_list(path, names))
    path.write_text("{", encoding="utf-8")
    assert "is no list of files: it is not JSON" in refuse(capsys, 3, str(path))


@pytest.mark.parametrize(
    ("name", "change", "cause"),
    [
        ("Connectivity", lambda a: a + 10**6, "a cell has a point that is not there"),
        ("Offsets", lambda a: a[::-1], "is damaged|cannot be read"),
        ("Points", lambda a: a * np.nan, "has points whose coordinates are no numbers"),
        ("Types", lambda a: a[:2], "is damaged|cannot be read"),
        ("PointData/flow", lambda a: a[:7], "is damaged|cannot be read"),
    ],
)  # fmt: skip
def test_damaged_arrays_are_refused(
    tmp_path: Path, name: str, change: Callable[[np.ndarray], np.ndarray], cause: str
) -> None:
    path = flow(tmp_path)
    with h5py.File(path, "r+") as file:
        values = change(file[f"VTKHDF/{name}"][()])
        del file[f"VTKHDF/{name}"]
        file[f"VTKHDF/{name}"] = values
    with pytest.raises(Unreadable, match=cause):
        facts_of(path)


def test_other_types_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "image.vtkhdf"
    with h5py.File(path, "w") as file:
        root = file.create_group("VTKHDF")
        root.attrs["Version"] = [1, 0]
        root.attrs.create("Type", np.bytes_("ImageData"))
        root.attrs["WholeExtent"] = [0, 3, 0, 3, 0, 3]
        root.attrs["Origin"], root.attrs["Spacing"] = [0.0] * 3, [1.0] * 3
        root.attrs["Direction"] = np.eye(3).ravel()
        root["PointData/a"] = np.zeros((4, 4, 4))
    said = refuse(capsys, 3, "--no-pictures", "-o", str(tmp_path / "a.html"), str(path))
    assert said == f"{path}: is of type ImageData, not an unstructured grid or AMR"


def test_every_file_of_several_is_listed(tmp_path: Path) -> None:
    files = [shapes.write_mesh(tmp_path / f"{i}.vtkhdf", [shapes.quads(1, i)]) for i in (1, 2, 3)]
    page = report(tmp_path / "a.html", *files)
    for name in ("1", "2", "3"):
        assert f"<h3>{name}.vtkhdf</h3>" in page


DOCUMENTS: dict[str, dict[str, Any]] = {
    "convert": {"input": "a.msh", "output": "b.h5m", "cells": 8, "vertices": 27},
    "join": {
        "pieces": ["l.h5m", "r.h5m"], "output": "w.h5m", "seconds": 0.002, "cells": 16,
        "report": {"joints": [{"a": 0, "b": 1, "matched": 9, "nearest_miss": None, "joined": True}],
                   "vertices_before": 54, "vertices": 45},
    },
    "record": {"command": ["mpirun", "./solver"], "exit_code": 0,
               "jobs": [{"path": "t.json", "ranks": 4, "messages": 12.0, "bytes": 4096.0,
                         "missing_ranks": [], "ended_early": False}]},
    "verification": {"as_planned": False, "elsewhere": 2, "faults": ["rank 1 is on n02"]},
    "bench.exchange": {
        "schema_version": 2, "pattern": "ring", "reference": {"name": "persistent"},
        "cases": [{"iterations": 64, "left_out": [],
                   "contenders": [{"name": "barrio", "seconds": 2e-6, "of_reference": 1.25}]}],
        "goals": [{"id": "ring.late", "value": 2.25, "unit": "x", "goal": 1.5, "better": "lower",
                   "met": False}],
    },
    "bench.amr": {"parts": [{"part": "uniform", "bytes_per_cell": 140.5}], "goals": []},
    "bench.mesh": {"meshes": [{"name": "tets", "cells": 1000, "change": {"adopt_seconds": 0.5}}]},
    "bench.rankmap": {"cases": [{"name": "wing", "methods": [{"name": "ours", "seconds": 0.1}]}]},
    "bench.strategies": {"overlap": {"rows": [{"bytes": 2048, "hidden": 0.5}]}, "goals": []},
    "doctor": {"ok": True, "items": [{"name": "cmake", "found": True, "version": "3.25"}]},
}  # fmt: skip


def document(kind: str) -> dict[str, Any]:
    """Make a document of a kind without a section of its own."""
    return made.HEADER | {"schema": f"barrio.{kind}"} | DOCUMENTS[kind]


def test_documents_of_all_commands_have_tables(tmp_path: Path, write: Write) -> None:
    page = report(tmp_path / "a.html", *[write(document(kind)) for kind in DOCUMENTS])
    for text in (
        "a.msh was written as b.h5m: 8 cells and 27 vertices.",
        "2 pieces became w.h5m: 16 cells, after merging 9 vertices.",
        "1 MPI job of &#x27;mpirun ./solver&#x27; recorded.",
        "The ranks are not placed as planned.",
        "0 of 1 goals are met (bench.exchange.json)",
    ):
        assert text in page
    rows = rows_of(page)
    assert rows["t.json"] == ["4", "12", "4.0 KiB", "none", "no"]
    assert rows["barrio"] == ["2.0 µs", "1.250"]
    assert rows["uniform"] == ["140.5"]
    assert rows["tets"] == ["1 000", "500.0 ms"]
    assert rows["cmake"] == ["yes", "3.25"]


@pytest.mark.parametrize("junk", [None, "x", -1, 1e308, [], {}, [None], [{}], {"min": "x"}, True])
def test_junk_in_tables_is_no_crash(tmp_path: Path, write: Write, junk: Any) -> None:
    files = []
    for kind, values in DOCUMENTS.items():
        kept = {"schema_version": values.get("schema_version", 1)}
        files.append(write(document(kind) | dict.fromkeys(values, junk) | kept))
    report(tmp_path / "a.html", *files)


@pytest.mark.parametrize(("version", "cause"), [(3, "version 3, newer than 2"), (0, "unknown schema version 0"), (True, "has no schema version")])  # fmt: skip
def test_unknown_versions_are_told(
    capsys: pytest.CaptureFixture[str], write: Write, version: Any, cause: str
) -> None:
    path = write(document("bench.exchange") | {"schema_version": version})
    assert cause in refuse(capsys, 3, path)
