"""Triangulate a planar graph from Python, data/plate.poly for instance, and audit the result."""

import sys

from barrio import delaunay

graph = delaunay.read_poly(sys.argv[1])
mesh = delaunay.triangulate(graph, min_angle=25, max_area=0.01)
found = delaunay.audit(mesh, graph, min_angle=25, max_area=0.01)
print(len(mesh.triangles), "triangles,", "audited" if found.passes else found.checks)

# marker 5 is the hole: fine triangles around it
sizes = [delaunay.size_near(graph, 5, min_size=0.02, growth=0.3), 0.2]
mesh = delaunay.triangulate(graph, size=sizes)
mesh.save("plate.msh")
print(len(mesh.triangles), "triangles in plate.msh")
