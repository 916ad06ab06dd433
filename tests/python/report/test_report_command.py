"""The command: what it reads, what it refuses and how it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import barrio.report
import pytest
import report_samples as made
from barrio.report.__main__ import main

Write = Callable[..., str]


def refuse(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    """Run the command, expect it to end with a code, and return its one line on stderr."""
    assert main(list(arguments)) == code
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("barrio: error: ")
    return lines[0].removeprefix("barrio: error: ")


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        ("", "is empty"),
        ("{\"schema\": \"barrio.load\",", "is not JSON"),
        ("[1, 2]", "has no schema that barrio writes"),
        ('{"schema": "other.thing"}', "has no schema that barrio writes"),
        ('{"schema": "barrio.cake", "schema_version": 1}', "has the unknown schema 'barrio.cake'"),
        ('{"schema": "barrio.load"}', "has no schema version"),
        ('{"schema": "barrio.load", "schema_version": 2}', "has schema version 2, newer than 1"),
        ('{"schema": "barrio.traffic", "schema_version": 1}', "has no whole number 'ranks'"),
        ('{"schema": "barrio.traffic", "schema_version": 1, "ranks": 2, '
         '"entries": [[0, 2, 1, 8, 1]]}', "entry 0 has a rank outside 0..1"),
        ('{"schema": "barrio.map", "schema_version": 1, "cores": 2, "nodes": 1, "given": [0, 0]}',
         "'given' puts two ranks on one core"),
    ],
)  # fmt: skip
def test_broken_document_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, write: Write, content: str, cause: str
) -> None:
    path = write(content, "bad.json")
    output = tmp_path / "out.html"
    said = refuse(capsys, 3, "-o", str(output), path)
    assert said.startswith(f"{path}: ") and cause in said
    assert not output.exists()


def test_missing_file_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    said = refuse(capsys, 1, str(tmp_path / "none.json"))
    assert said.endswith("none.json: cannot be read: there is no such file or folder")


def test_empty_folder_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "holds no results" in refuse(capsys, 3, str(tmp_path))


def test_unwritable_output_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, write: Write
) -> None:
    output = tmp_path / "no" / "folder" / "out.html"
    said = refuse(capsys, 1, "-o", str(output), write(made.load()))
    assert "cannot be written: No such file or directory" in said


def test_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["-o", "x.html"])
    assert end.value.code == 2
    assert "RUN" in capsys.readouterr().err


def test_help_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    assert "python -m barrio.report -o report.html" in capsys.readouterr().out


def test_folder_stands_for_its_results(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, write: Write
) -> None:
    write(made.load())
    write(made.heat())
    write({"schema": "other", "traceEvents": []}, "trace.json")
    write("text", "notes.txt")
    output = tmp_path / "sub.html"
    assert main(["-o", str(output), str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert said.out.strip() == str(output)
    assert "trace.json: is not a result of barrio; left out" in said.err
    page = output.read_text(encoding="utf-8")
    assert "load.json" in page and "heat.json" in page and "trace.json" not in page


@pytest.mark.parametrize("kept", [0, 100, 2000])
def test_truncated_vtkhdf_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, vtkhdf: dict[str, str], kept: int
) -> None:
    path = tmp_path / "cut.vtkhdf"
    path.write_bytes(Path(vtkhdf["heat"]).read_bytes()[:kept])
    said = refuse(capsys, 3, "-o", str(tmp_path / "out.html"), str(path))
    assert said.startswith(f"{path}: ")


def test_without_opengl_all_but_pictures_is_there(
    tmp_path: Path, write: Write, vtkhdf: dict[str, str]
) -> None:
    output = tmp_path / "out.html"
    runs = [vtkhdf["heat"], vtkhdf["ghosts"], write(made.heat()), write(made.load())]
    nowhere = str(tmp_path / "nowhere")
    environment = os.environ | {
        "VTK_DEFAULT_OPENGL_WINDOW": "vtkEGLRenderWindow",
        "__EGL_VENDOR_LIBRARY_DIRS": nowhere,
        "__EGL_VENDOR_LIBRARY_FILENAMES": nowhere,
    }
    root = str(Path(barrio.report.__file__).parents[2])
    environment["PYTHONPATH"] = os.pathsep.join([root, environment.get("PYTHONPATH", "")])
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "barrio.report", "-o", str(output), *runs]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "warning" in done.stderr and "pictures could not be rendered" in done.stderr
    page = output.read_text(encoding="utf-8")
    assert "pictures could not be rendered: " in page
    assert "apt install libegl1 libgl1-mesa-dri" in page
    assert "<img" not in page and "How far the temperature is from its last step" in page
    assert f"{vtkhdf['n_ghosts']} from rank 0" in page.replace("\u202f", " ")


def test_pictures_can_be_left_out(tmp_path: Path, vtkhdf: dict[str, str]) -> None:
    output = tmp_path / "out.html"
    assert main(["--no-pictures", "-o", str(output), vtkhdf["heat"]]) == 0
    page = output.read_text(encoding="utf-8")
    assert "Pictures were left out" in page and "<img" not in page
    assert vtkhdf["n_cells"] in page
