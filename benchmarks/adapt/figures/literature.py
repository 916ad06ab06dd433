"""The paper's own numbers: tables 1 and 2 of Ovcharenko et al. 2012, shown in figures 14 and 15."""

from __future__ import annotations

CRAY, BLUE_GENE = "Cray XE6", "Blue Gene/P"
CORES = (1024, 2048, 4096, 8192, 16384, 32768)

# Seconds of adaptation. CUBE: 136 million tets become 10 million. BUBBLE: 165 million become 188 million.
SECONDS = {
    "cube": {
        BLUE_GENE: (470.06, 262.57, 164.59, 93.91, 63.36, 44.38),
        CRAY: (126.30, 76.38, 47.55, 26.97, 17.99, 12.52),
    },
    "bubble": {
        BLUE_GENE: (368.22, 188.10, 109.98, 79.36, 40.08, 26.57),
        CRAY: (138.36, 56.59, 34.40, 22.65, 16.82, 7.27),
    },
}

# (n0 t0) / (n t), as printed.
SCALING = {
    "cube": {
        BLUE_GENE: (1, 0.90, 0.71, 0.63, 0.46, 0.33),
        CRAY: (1, 0.83, 0.66, 0.59, 0.44, 0.32),
    },
    "bubble": {
        BLUE_GENE: (1, 0.98, 0.84, 0.58, 0.57, 0.43),
        CRAY: (1, 1.22, 1.01, 0.76, 0.55, 0.59),
    },
}

MIGRATION_OF_COARSENING = 0.75  # section 6: migration takes up to this share of the time
