"""Steps of a VTKHDF file, as read by the vtk wheel."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import vtk


def steps_of(path: Path) -> Iterator[tuple[float, Any]]:
    """Yield the time and data of each step."""
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    key = vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS()
    for time in reader.GetOutputInformation(0).Get(key):
        reader.UpdateTimeStep(time)
        yield time, reader.GetOutputDataObject(0)
