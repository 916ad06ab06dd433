"""Map a METIS graph with SharedMap (chszlablib from PyPI). Prints one JSON line per mode with the core of each vertex.

Usage: sharedmap.py GRAPH ARITIES DISTANCES MODES. Lists are separated by ':', from the inside out.
"""

import json
import sys
import time

import chszlablib

graph = chszlablib.read_metis(sys.argv[1])
arities, distances = ([int(word) for word in text.split(":")] for text in sys.argv[2:4])
for mode in sys.argv[4].split(":"):
    start = time.process_time()
    found = chszlablib.Decomposition.process_map(
        graph, arities, distances, mode=mode, imbalance=0.0, threads=1, seed=1
    )
    seconds = time.process_time() - start
    print(
        json.dumps(
            {"mode": mode, "seconds": seconds, "cores": [int(core) for core in found.assignment]}
        )
    )
