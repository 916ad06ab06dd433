"""Draw a core from above: fuel coloured by kind of assembly, absorbers dark, coolant pale.

build/venv/bin/python examples/04-lattice/picture.py core.vtkhdf core.png
"""

import sys

import numpy as np
import pyvista as pv
from vtkmodules.vtkIOHDF import vtkHDFReader

reader = vtkHDFReader()
reader.SetFileName(sys.argv[1])
reader.Update()
pieces = reader.GetOutputDataObject(0)  # one for each assembly
core = pv.merge([pv.wrap(pieces.GetPartition(i)) for i in range(pieces.GetNumberOfPartitions())])

# Materials are numbered 10 x kind, + 0 for fuel, 1 for absorber, 2 for coolant.
material = np.asarray(core["material"])
kinds = np.unique(material // 10)
hue = np.arange(len(kinds))[:, None] / len(kinds)
palette = 0.55 + 0.45 * np.cos(2 * np.pi * (hue + np.array([0.0, 0.33, 0.67])))
colours = palette[np.searchsorted(kinds, material // 10)]
colours[material % 10 == 1] = 0.15
coolant = material % 10 == 2
colours[coolant] = 0.75 + 0.2 * colours[coolant]
core["colour"] = (255 * np.clip(colours, 0, 1)).astype(np.uint8)

plotter = pv.Plotter(off_screen=True, window_size=(1000, 700))
skin = core.extract_surface(algorithm="dataset_surface")
plotter.add_mesh(skin, scalars="colour", rgb=True, show_edges=True, edge_opacity=0.25)
plotter.camera_position = "xy"
plotter.camera.elevation = -35.0
plotter.reset_camera()
plotter.camera.zoom(1.35)
plotter.screenshot(sys.argv[2])
