"""Compare signs of determinants with those of exact fractions.

    test_signs.py PROGRAM [SEED]

PROGRAM is print_signs. Points are hard: on lines, planes and circles, an ulp off them, on lattices that doubles
cannot represent, far from the origin, and of the smallest and largest documented sizes.
"""

from __future__ import annotations

import itertools
import math
import random
import subprocess
import sys
from fractions import Fraction

Point = tuple[float, ...]


def determinant(rows: list[list[Fraction]]) -> Fraction:
    """Compute a determinant by its definition, with permutations."""
    total = Fraction(0)
    n = len(rows)
    for order in itertools.permutations(range(n)):
        inversions = sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))
        product = Fraction(-1 if inversions % 2 else 1)
        for i, column in enumerate(order):
            product *= rows[i][column]
        total += product
    return total


def sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


def wanted(name: str, points: list[Point]) -> int:
    exact = [[Fraction(x) for x in p] for p in points]
    if name.startswith("orient"):
        sides = [[x - y for x, y in zip(p, exact[0], strict=True)] for p in exact[1:]]
        return sign(determinant(sides))
    rows = [[*p, sum(x * x for x in p), Fraction(1)] for p in exact]
    if name == "incircle_unique":  # lifts: the last point by coordinates the most
        order = sorted(range(len(points)), key=lambda i: points[i], reverse=True)
        for place, i in enumerate(order):
            rows[i][-2] += Fraction(1, 2 ** (2000 * (place + 1)))
    return sign(determinant(rows))


def beside(rng: random.Random, x: float) -> float:
    """Return the number or an adjacent one; 0 remains, because its adjacent numbers are below the documented range."""
    if x == 0:
        return x
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        x = math.nextafter(x, rng.choice((-math.inf, math.inf)))
    return x


def make(rng: random.Random, name: str) -> list[Point]:
    n_points, dim = {
        "orient2d": (3, 2),
        "orient3d": (4, 3),
        "incircle": (4, 2),
        "incircle_unique": (4, 2),
    }[name]
    kind = rng.randrange(6)
    if kind == 0:
        return [tuple(rng.uniform(-1, 1) for _ in range(dim)) for _ in range(n_points)]
    if kind == 1:  # a lattice of thirds, far away
        shift = rng.choice((0.0, 1.0, 1e6, -12345.678))
        step = rng.choice((1 / 3, 0.1, 1.0, 2.0**-30))
        return [
            tuple(beside(rng, shift + step * rng.randrange(4)) for _ in range(dim))
            for _ in range(n_points)
        ]
    if kind == 2:  # on a line or in a plane, except for rounding
        base = [[rng.uniform(-1, 1) for _ in range(dim)] for _ in range(dim)]
        points = []
        for _ in range(n_points):
            weights = [rng.uniform(-2, 2) for _ in range(dim - 1)]
            weights.append(1 - sum(weights))
            points.append(
                tuple(
                    beside(rng, sum(w * b[k] for w, b in zip(weights, base, strict=True)))
                    for k in range(dim)
                )
            )
        return points
    if kind == 3:  # on a circle, or a sphere in space, except for rounding
        centre = [rng.uniform(-3, 3) for _ in range(dim)]
        points = []
        for _ in range(n_points):
            way = [rng.gauss(0, 1) for _ in range(dim)]
            length = math.hypot(*way)
            points.append(
                tuple(beside(rng, c + w / length) for c, w in zip(centre, way, strict=True))
            )
        return points
    if kind == 4:  # the corners of a box, in any order: exactly on one circle or sphere
        corners = list(itertools.product((0.0, 1.0), repeat=dim))
        scale = rng.choice((1.0, 0.1, 3e59, 1e-45))
        return [tuple(scale * x for x in rng.choice(corners)) for _ in range(n_points)]
    small, large = 1e-45, 1e60  # of any magnitude
    return [
        tuple(
            rng.choice((-1, 1)) * math.exp(rng.uniform(math.log(small), math.log(large)))
            for _ in range(dim)
        )
        for _ in range(n_points)
    ]


def is_degenerate(points: list[Point]) -> bool:
    return wanted("orient2d", points[:3]) == 0 or len(set(points)) < len(points)


def main(program: str, seed: int) -> int:
    print(f"seed {seed}")
    rng = random.Random(seed)
    cases = []
    names = ("orient2d", "orient3d", "incircle", "incircle_unique")
    for name in names:
        n = 0
        while n < 400:
            points = make(rng, name)
            if name == "incircle_unique" and is_degenerate(points):
                continue
            n += 1
            cases.append((name, points))
    lines = [" ".join([name, *(x.hex() for p in points for x in p)]) for name, points in cases]
    done = subprocess.run(
        [program], input="\n".join(lines), capture_output=True, text=True, check=True, timeout=100
    )
    answers = [int(word) for word in done.stdout.split()]
    assert len(answers) == len(cases)
    counts: dict[tuple[str, int], int] = {}
    n_wrong = 0
    for (name, points), answer in zip(cases, answers, strict=True):
        right = wanted(name, points)
        counts[name, right] = counts.get((name, right), 0) + 1
        if answer != right:
            n_wrong += 1
            print(f"{name} {points}: {answer}, not {right}")
    print(counts)
    assert all(counts[name, s] > 20 for name in names for s in (-1, 1))
    assert all(counts[name, 0] > 20 for name in names[:3])
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(2**32)))
