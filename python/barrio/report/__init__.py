"""Show results of barrio as one self-contained HTML page with pictures, plots and tables.

    python -m barrio.report -o report.html load.json heat.json heat.vtkhdf

If all documents are of barrio probe, it makes an overview and a page for each MPI and transport.

Needs numpy, matplotlib, pyvista and VTK, but neither MPI nor barrio's compiled core.
"""

from __future__ import annotations

__all__: list[str] = []
