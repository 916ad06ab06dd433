"""Test the command: accepted and refused input, and exit codes."""

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
    """Run the command, expect an exit code, and return its message without the remedy."""
    return refuse_with_remedy(capsys, code, *arguments)[0]


def refuse_with_remedy(
    capsys: pytest.CaptureFixture[str], code: int, *arguments: str
) -> tuple[str, str]:
    """Run the command, expect an error of two lines on stderr, and return both without prefixes."""
    assert main(list(arguments)) == code
    lines = capsys.readouterr().err.rstrip().splitlines()
    assert len(lines) == 2, lines
    assert lines[0].startswith("barrio: error: ") and lines[1].startswith("  remedy: ")
    return lines[0].removeprefix("barrio: error: "), lines[1].removeprefix("  remedy: ")


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        ("", "is empty"),
        ("{\"schema\": \"barrio.load\",", "is not JSON"),
        ("[1, 2]", "has no schema of barrio"),
        ('{"schema": "other.thing"}', "has no schema of barrio"),
        ('{"schema": "barrio.cake", "schema_version": 1}', "has the unknown schema 'barrio.cake'"),
        ('{"schema": "barrio.load"}', "has no schema version"),
        ('{"schema": "barrio.load", "schema_version": 2}', "has schema version 2, newer than 1"),
        ('{"schema": "barrio.traffic", "schema_version": 1}', "must have an integer 'ranks' of at least 1"),
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


@pytest.mark.parametrize(
    ("name", "content", "cause", "remedy"),
    [
        ("bad.json", "{", "is not JSON: ", "report reads JSON documents"),
        ("notes.txt", "words", "is neither JSON nor VTKHDF", "report reads JSON documents"),
        ("wing.msh", "$MeshFormat", "is a mesh, not a result", "and .vtkhdf files; try barrio info"),
        ("wing.h5m", "\x89HDF\r\n\x1a\n", "is a mesh, not a result", "try barrio info"),
        ("a.json", "{}", "has no schema of barrio", "give one of barrio.info, barrio."),
        ("a.json", '{"schema": "barrio.load", "schema_version": 9}', "newer than 1", "use a newer"),
        ("a.vtkhdf", "", "is not an HDF5 file", "run the command that wrote it again"),
    ],
)  # fmt: skip
def test_input_error_has_a_remedy(
    capsys: pytest.CaptureFixture[str],
    write: Write,
    name: str,
    content: str,
    cause: str,
    remedy: str,
) -> None:
    path = write(content, name)
    said, way_out = refuse_with_remedy(capsys, 3, path)
    assert said.startswith(f"{path}: ") and cause in said
    assert remedy in way_out


def test_missing_file_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    said = refuse(capsys, 1, str(tmp_path / "none.json"))
    assert said.endswith("none.json: cannot be read: no such file or folder")


def test_empty_folder_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "has no results" in refuse(capsys, 3, str(tmp_path))


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
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("barrio: error: barrio report: ") and "RUN" in lines[0]
    assert lines[1:] == ["  remedy: see barrio report --help"]


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
    write("{cut", "bad.json")
    write("", "empty.json")
    write("no", "bad.vtkhdf")
    output = tmp_path / "sub.html"
    assert main(["-o", str(output), str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert said.out.strip() == str(output)
    lines = said.err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("barrio: warning: 4 files skipped: ")
    for text in (
        "trace.json: has no schema of barrio", "bad.json: is not JSON", "empty.json: is empty",
        "bad.vtkhdf: is not an HDF5 file",
    ):  # fmt: skip
        assert text in lines[0]
    page = output.read_text(encoding="utf-8")
    assert "load.json" in page and "heat.json" in page and "trace.json" not in page


def test_folder_of_other_files_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, write: Write
) -> None:
    write("{cut", "bad.json")
    said, remedy = refuse_with_remedy(capsys, 3, str(tmp_path))
    assert "has no results of barrio (*.json, *.vtkhdf or *.series); skipped: " in said
    assert "bad.json: is not JSON" in said and "report reads JSON documents" in remedy


@pytest.mark.parametrize("is_terminal", [True, False])
def test_drawing_is_announced_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    vtkhdf: dict[str, str],
    is_terminal: bool,
) -> None:
    monkeypatch.setattr("barrio.report.pictures.draw_all", lambda *_: [])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    assert main(["-o", str(tmp_path / "out.html"), vtkhdf["heat"], vtkhdf["ghosts"]]) == 0
    said = capsys.readouterr().err
    assert said == ("barrio: drawing pictures of 2 VTKHDF files\n" if is_terminal else "")


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
    assert (
        "<img" not in page
        and 'class="shot"' not in page
        and "Distance of the temperature from the last frame" in page
    )
    assert f"{vtkhdf['n_ghosts']} from rank 0" in page.replace("\u202f", " ")


def test_pictures_can_be_left_out(tmp_path: Path, vtkhdf: dict[str, str]) -> None:
    output = tmp_path / "out.html"
    assert main(["--no-pictures", "-o", str(output), vtkhdf["heat"]]) == 0
    page = output.read_text(encoding="utf-8")
    assert "Pictures were omitted" in page and "<img" not in page
    assert 'class="shot"' not in page
    assert vtkhdf["n_cells"] in page
