"""Add the sea around an island to a GeoJSON file, as an ellipse in degrees: sea.py ISLAND.geojson SEA.geojson."""

import json
import math
import sys
from pathlib import Path

MIDDLE = (-19, 65)
RADII = (16, 6)  # of longitude and latitude
N_POINTS = 60

island = json.loads(Path(sys.argv[1]).read_text())
angles = [2 * math.pi * i / N_POINTS for i in range(N_POINTS)]
ring = [[MIDDLE[0] + RADII[0] * math.cos(a), MIDDLE[1] + RADII[1] * math.sin(a)] for a in angles]
sea = {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}
island["features"].append({"type": "Feature", "properties": {"name": "sea"}, "geometry": sea})
Path(sys.argv[2]).write_text(json.dumps(island))
