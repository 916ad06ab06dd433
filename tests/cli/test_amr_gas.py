"""barrio amr, options left alone: shock tubes, pistons and blasts end with physical states and the right plateaus."""

import itertools
import math
import os
import unittest

from test_amr import AmrCase

GAMMA = 1.4
LEVELS = ((2, 1), (2, 2), (2, 3), (2, 4), (4, 2), (4, 3))  # ratio, number of levels
if "BARRIO_QUICK" in os.environ:
    LEVELS = ((2, 1), (4, 2))
KINDS = [(*levels, cfl) for levels in LEVELS for cfl in (0.4, 0.8)]

# Toro 2009, table 4.1: states on the left and right, place of the jump, end time.
TUBES = (
    ((1, 0.75, 1), (0.125, 0, 0.1), 0.3, 0.2),
    ((1, -2, 0.4), (1, 2, 0.4), 0.5, 0.15),
    ((1, 0, 1000), (1, 0, 0.01), 0.5, 0.012),
    ((5.99924, 19.5975, 460.894), (5.99242, -6.19633, 46.095), 0.4, 0.035),
    ((1, -19.59745, 1000), (1, -19.59745, 0.01), 0.8, 0.012),
)


def shocked(speed: float) -> tuple[float, float]:
    """Density between two shocks where gas of density 1 and pressure 1 meets itself, and their speed there."""
    low, high = 1.0, 2.0 + 2.0 * speed**2
    for _ in range(200):
        pressure = 0.5 * (low + high)
        a, b = 2 / (GAMMA + 1), (GAMMA - 1) / (GAMMA + 1)
        jump = (pressure - 1) * math.sqrt(a / (pressure + b))
        low, high = (pressure, high) if jump < 0.5 * speed else (low, pressure)
    density = (pressure + b) / (b * pressure + 1)
    return density, 0.5 * speed / (density - 1)


class Gas(AmrCase):
    def compute(self, text: str, ratio: int, levels: int, cfl: float) -> dict:
        path = self.folder / "case.toml"
        path.write_text(
            "[grid]\ncells = [64, 8]\nhigh = [1.0, 0.125]\nblock = 8\n"
            f"levels = {levels}\nratio = {ratio}\n"
            "[refine]\nrelative_jump = { density = 0.05, pressure = 0.1 }\ninterval = 2\n" + text
        )
        negative = 'series.integrals.negative="density > 0 && pressure > 0 ? 0 : 1"'
        result = self.run_case(path, f"run.cfl={cfl}", negative)
        self.assertEqual(set(result["series"]["negative"]), {0.0})
        return result

    def test_toros_tubes(self) -> None:
        for kind, (left, right, at, end) in itertools.product(KINDS, TUBES):
            pairs = zip(left, right, strict=True)
            density, speed, pressure = (f'"x < {at} ? {a} : {b}"' for a, b in pairs)
            with self.subTest(kind=kind, left=left):
                self.compute(
                    f'[boundary]\ny = "periodic"\n[run]\nend_time = {end}\n[initial]\n'
                    f"density = {density}\nvelocity = [{speed}, 0]\npressure = {pressure}\n",
                    *kind,
                )

    def test_pistons(self) -> None:
        n_plateaus = 0
        for kind, mach in itertools.product(KINDS, (1.5, 8, 30, 100, 300, 1000)):
            speed = mach * math.sqrt(GAMMA)
            end = 0.5 / speed
            density, shock = shocked(speed)
            # Between the contact, which is at half of the speed, and the shock ahead of it.
            first, last = 0.5 * speed * end, (0.5 * speed + shock) * end
            margin = 0.3 * (last - first)
            inside = f"x > {first + margin} && x < {last - margin}"
            with self.subTest(kind=kind, mach=mach):
                result = self.compute(
                    f"[run]\nend_time = {end}\n[initial]\ndensity = 1\npressure = 1\n"
                    f"[inflow]\ndensity = 1\nvelocity = [{speed}, 0]\npressure = 1\n"
                    '[boundary]\nx = ["inflow", "outflow"]\ny = "periodic"\n[series.integrals]\n'
                    f'mass = "{inside} ? density : 0"\nvolume = "{inside} ? 1 : 0"\n',
                    *kind,
                )
                ratio, levels, _ = kind
                if 64 * ratio ** (levels - 1) * (last - first) < 12:
                    continue  # so few cells are no plateau
                n_plateaus += 1
                plateau = result["series"]["mass"][-1] / result["series"]["volume"][-1]
                self.assertAlmostEqual(plateau, density, delta=0.02 * density)
        self.assertGreater(n_plateaus, 4 * len(KINDS) // 3)

    def test_blasts(self) -> None:
        for kind, power in itertools.product(KINDS, range(1, 7)):
            with self.subTest(kind=kind, power=power):
                self.compute(
                    f"[run]\nend_time = {0.4 / math.sqrt(10**power)}\n"
                    '[boundary]\nx = "periodic"\ny = "periodic"\n[initial]\ndensity = 1\n'
                    f'pressure = "(x-0.5)^2 + (y-0.0625)^2 < 0.01 ? {10.0**power} : 1"\n',
                    *kind,
                )


if __name__ == "__main__":
    unittest.main()
