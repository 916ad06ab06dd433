"""Triangulate the plate of data/plate.poly from Python, and audit the result."""

from barrio import delaunay

graph = delaunay.read_poly("data/plate.poly")
mesh = delaunay.triangulate(graph, min_angle=25, max_area=0.01)
found = delaunay.audit(mesh, graph, min_angle=25, max_area=0.01)
print(len(mesh.triangles), "triangles,", "audited" if found.passes else found.checks)
