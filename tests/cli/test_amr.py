"""barrio amr: the cases of examples/15-amr, their exact solutions, and refused input."""

import math
import struct
import unittest
import zlib
from pathlib import Path

from barrio_case import SOURCE, Case, Outcome, barrio

CASES = SOURCE / "examples" / "15-amr"


class AmrCase(Case):
    def run_case(
        self, name: str | Path, *settings: str, ranks: int = 0, code: int = 0, **options
    ) -> dict:
        outcome = self.try_case(name, *settings, ranks=ranks, **options)
        self.assert_code(outcome, code)
        return outcome.json()

    def try_case(
        self,
        name: str | Path,
        *settings: str,
        ranks: int = 0,
        words: tuple = (),
        limit: float = 300.0,
    ) -> Outcome:
        path = CASES / f"{name}.toml" if isinstance(name, str) else name
        sets = [word for setting in settings for word in ("--set", setting)]
        return barrio(
            "--json", "amr", path, *sets, *words, ranks=ranks, cwd=self.folder, limit=limit
        )

    def error(self, result: dict, quantity: str = "together") -> float:
        return next(one["error"] for one in result["errors"] if one["quantity"] == quantity)


class Exact(AmrCase):
    def test_sods_tube_converges(self) -> None:
        errors = [
            self.error(self.run_case("sod", f"grid.cells=[{n},16]", f"grid.high=[1,{16 / n}]"))
            for n in (128, 256)
        ]
        self.assertLessEqual(errors[0], 0.011)
        self.assertLessEqual(errors[1], 0.6 * errors[0])

    def test_levels_are_as_good_as_a_fine_grid(self) -> None:
        fine = self.run_case("sod", "grid.cells=[512,64]")
        adapted = self.run_case("sod", "grid.levels=3")
        self.assertLessEqual(self.error(adapted), 1.02 * self.error(fine))
        self.assertLess(adapted["updates"], 0.6 * fine["updates"])

    def test_waves_converge(self) -> None:
        coarse = self.error(
            self.run_case("waves", "grid.cells=[32,16,16]", "grid.levels=1", code=4)
        )
        fine = self.error(self.run_case("waves", "grid.levels=1"))
        self.assertLessEqual(fine, 3.7e-8)
        self.assertLessEqual(fine, 0.33 * coarse)

    def test_a_vortex_converges_on_levels_that_move(self) -> None:
        coarse, fine, adapted = (
            self.error(self.run_case("vortex", *settings))
            for settings in (["grid.levels=1"], ["grid.cells=[128,128]", "grid.levels=1"], [])
        )
        self.assertGreaterEqual(math.log2(coarse / fine), 1.9)
        self.assertLessEqual(adapted, 1.2 * fine)

    def test_a_missed_limit_is_a_difference(self) -> None:
        result = self.run_case("sod", "exact.max_error.together=0.001", code=4)
        self.assertFalse(result["is_met"])
        self.assertFalse(result["errors"][-1]["is_met"])


class Sources(AmrCase):
    def test_add_what_they_say(self) -> None:
        case = self.folder / "case.toml"
        case.write_text(
            """
            [grid]
            cells = [32, 16]
            high = [2.0, 1.0]
            [boundary]
            x = "periodic"
            y = "periodic"
            [gas]
            species = 1
            [initial]
            density = 2.0
            velocity = [0.5, 0]
            pressure = 1.0
            species_1 = 0.25
            [source]
            acceleration = ["0.25 * density", "-t"]
            heating = "x < 1 ? 3 : 3 + 0 * pressure"
            species_1 = 0.5
            [run]
            end_time = 0.4
            """
        )
        result = self.run_case(case, ranks=2)
        end = {one["variable"]: one["end"] / 2.0 for one in result["totals"]}  # the area is 2
        time, along = 0.4, 0.5 + 0.5 * 0.4
        self.assertAlmostEqual(end["density"], 2.0, delta=1e-13)
        self.assertAlmostEqual(end["momentum_x"], 2.0 * along, delta=1e-13)
        self.assertAlmostEqual(end["momentum_y"], -2.0 * time**2 / 2.0, delta=1e-13)
        self.assertAlmostEqual(end["species_1"], 0.5 + 0.5 * time, delta=1e-13)
        # Work grows with the cube of time, so its error is of second order.
        energy = 1.0 / 0.4 + along**2 + (time**2 / 2.0) ** 2 + 3.0 * time
        self.assertAlmostEqual(end["energy"], energy, delta=1e-4)

    def test_gravity_lets_dense_gas_fall(self) -> None:
        settings = ["grid.cells=[16,48]", "grid.block=8", "grid.levels=2", "run.end_time=5"]
        result = self.run_case("rayleigh-taylor", *settings, ranks=2)
        series = result["series"]
        mass = next(one for one in result["totals"] if one["variable"] == "density")
        self.assertAlmostEqual(mass["end"], mass["begin"], delta=1e-13)
        self.assertAlmostEqual(series["energy"][-1], series["energy"][0], delta=1e-4)
        self.assertGreater(series["kinetic"][-1], 20 * series["kinetic"][0])
        again = self.run_case("rayleigh-taylor", *settings, "run.weigh_by_time=true", ranks=3)
        self.assertEqual(again["checksum"], result["checksum"])


class SameResult(AmrCase):
    def test_on_any_number_of_ranks(self) -> None:
        settings = ["grid.levels=3", "run.steps=40", "run.end_time=1"]
        checksums = {
            ranks: self.run_case("sod", *settings, ranks=ranks)["checksum"] for ranks in (1, 2, 3)
        }
        self.assertEqual(len(set(checksums.values())), 1, checksums)

    def test_after_a_restart(self) -> None:
        settings = ["grid.levels=3", 'checkpoint.file="state.h5"']
        whole = self.run_case("sod", *settings, "run.steps=30")
        self.run_case("sod", *settings, "run.steps=13", ranks=2)
        again = self.run_case("sod", *settings, "run.steps=30", words=("--restart", "state.h5"))
        self.assertEqual(again["steps"], 30)
        self.assertEqual(again["checksum"], whole["checksum"])

    def test_a_checkpoint_of_other_gas_is_refused(self) -> None:
        self.run_case("sod", 'checkpoint.file="state.h5"', "run.steps=1")
        outcome = self.try_case("sod", "gas.gamma=1.6", words=("--restart", "state.h5"))
        self.assert_error(outcome, 3, "state.h5", "gamma")


class Output(AmrCase):
    def test_states_come_at_their_times(self) -> None:
        result = self.run_case(
            "sod", 'output.file="sod.vtkhdf"', "output.every=0.05", "grid.levels=2"
        )
        self.assertEqual(result["output"], {"file": "sod.vtkhdf", "states": 5})
        self.assertEqual(result["simulated_time"], 0.2)
        self.assertRegex(result["time"], r"^\d{4}-\d\d-\d\dT")
        self.assert_no_leftovers()
        try:
            import h5py
        except ImportError:
            self.skipTest("no h5py")
        with h5py.File(self.folder / "sod.vtkhdf") as file:
            times = file["VTKHDF/Steps/Values"][:]
        self.assertEqual([round(float(time), 12) for time in times], [0.0, 0.05, 0.1, 0.15, 0.2])

    def test_a_slice_shows_the_cells(self) -> None:
        result = self.run_case(
            "sod",
            'slice=[{file="a-{}.png", every_steps=50, boxes=false, range=[0.1, 1.0]}]',
            "grid.levels=2",
            ranks=2,
        )
        names = [one["file"] for one in result["slices"]]
        self.assertEqual(names, [f"a-{i:04}.png" for i in range(len(names))])
        self.assertGreater(len(names), 3)
        width, height, rows = read_png((self.folder / names[0]).read_bytes())
        self.assertEqual(height, 128)
        self.assertGreater(width, 1024 + 50, "a bar of colours is beside the picture")
        self.assertGreater(len({tuple(rows[j][1024 + 20]) for j in range(10, 118)}), 50)
        left, right = rows[64][20], rows[64][1000]
        self.assertGreater(sum(left), sum(right), "dense gas is lighter")
        self.assertEqual({tuple(pixel) for pixel in rows[64][:510]}, {tuple(left)})
        self.assertEqual({tuple(pixel) for pixel in rows[64][514:1024]}, {tuple(right)})

    def test_integrals_follow_the_run(self) -> None:
        result = self.run_case(
            "sod",
            "series.every=0.1",
            'series.integrals={ mass="density", right="x > 0.5 ? density : 0" }',
            ranks=2,
        )
        series = result["series"]
        self.assertEqual([round(time, 12) for time in series["time"]], [0.0, 0.1, 0.2])
        for mass in series["mass"]:
            self.assertAlmostEqual(mass, 0.125 * 0.5625, delta=1e-13)
        self.assertLess(series["right"][0], series["right"][1])


def read_png(data: bytes) -> tuple[int, int, list[list[bytes]]]:
    """Decode rows of RGB pixels, the top row first."""
    at, compressed = 8, b""
    while at < len(data):
        n = struct.unpack(">I", data[at : at + 4])[0]
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + n]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack(">IIBB", body[:10])
            assert (depth, color) == (8, 2)
        if kind == b"IDAT":
            compressed += body
        at += 12 + n
    raw, before, rows = zlib.decompress(compressed), bytes(3 * width), []
    for j in range(height):
        line = raw[j * (3 * width + 1) : (j + 1) * (3 * width + 1)]
        row = bytearray(line[1:])
        for i in range(len(row)):
            left, up, corner = (
                (row[i - 3], before[i], before[i - 3]) if i >= 3 else (0, before[i], 0)
            )
            guess = left + up - corner
            nearest = min((left, up, corner), key=lambda value: abs(guess - value))
            row[i] = (row[i] + (0, left, up, (left + up) // 2, nearest)[line[0]]) % 256
        before = bytes(row)
        rows.append([before[i : i + 3] for i in range(0, 3 * width, 3)])
    return width, height, rows


class Refused(AmrCase):
    def refuse(
        self,
        code: int,
        *texts: str,
        setting: str = "",
        change: tuple[str, str] = ("", ""),
        ranks: int = 0,
    ) -> None:
        text = (CASES / "sod.toml").read_text()
        self.assertIn(change[0], text)
        path = self.folder / "case.toml"
        path.write_text(text.replace(*change, 1))
        outcome = self.try_case(path, *([setting] if setting else []), ranks=ranks)
        self.assert_error(outcome, code, *texts)

    def test_keys(self) -> None:
        self.refuse(
            3, "case.toml, line 4, grid.cels", "Did you mean 'cells'?", change=("cells =", "cels =")
        )
        self.refuse(
            3,
            "case.toml, line 6",
            "grid.levelss",
            "Did you mean 'levels'?",
            change=("levels =", "levelss ="),
            ranks=2,
        )
        self.refuse(
            3, "end_tme", "Did you mean 'end_time'?", change=("end_time =", "steps = 3\nend_tme =")
        )
        self.refuse(
            3, "initial.pressure", "is missing", change=('pressure = "x < 0.5 ? 1 : 0.1"', "")
        )

    def test_values(self) -> None:
        self.refuse(
            3, "grid.cells", "must be a multiple of the 8 cells", setting="grid.cells=[100, 16]"
        )
        self.refuse(3, "boundary.x", "Did you mean 'outflow'?", setting='boundary.x="outflw"')
        self.refuse(3, "boundary.x", "'given' is spelt 'inflow'", setting='boundary.x="given"')
        self.refuse(3, "ends", "is spelt boundary", setting='ends.x="wall"')
        self.refuse(3, "given", "is spelt inflow", setting="given.density=1.0")
        self.refuse(3, "refine.most_cells", "is spelt max_cells", setting="refine.most_cells=10")
        self.refuse(3, "exact.at_most", "is spelt max_error", setting="exact.at_most.together=1.0")
        self.refuse(3, "let.x", "is a name that formulas have", setting='let.x="y"')
        self.refuse(3, "let.pressure", "is a name that formulas have", setting='let.pressure="1"')
        self.refuse(3, "boundary.z", "the grid has two axes", setting='boundary.z="wall"')
        self.refuse(3, "output.file", "must end in .vtkhdf", setting='output.file=""')
        self.refuse(3, "checkpoint.file", "is empty", setting='checkpoint.file=""')
        self.refuse(
            3,
            "checkpoint.file",
            "is written by [output] too",
            setting='checkpoint.file="a.vtkhdf"\noutput.file="a.vtkhdf"',
        )
        self.refuse(
            3,
            "slice.file",
            "is written by another slice too",
            setting='slice=[{ file="a.png" }, { file="a.png" }]',
        )
        self.refuse(3, "run.cfl", "above 1", setting="run.cfl=1.5")
        self.refuse(
            3, "refine.jump.densty", "Did you mean 'density'?", setting="refine.jump={ densty=0.1 }"
        )
        self.refuse(3, "grid.levels", "is a text", setting='grid.levels="3"')
        self.refuse(3, "gas.gamma", "must be above 1", setting="gas.gamma=1.0")
        self.refuse(3, "a time step of 0.1", "passes more than a cell", setting="run.time_step=0.1")
        self.refuse(3, "run.end_time", "is missing", change=("end_time = 0.2", ""))
        self.refuse(
            3,
            "refine.jump",
            "is missing",
            setting="grid.levels=2",
            change=("jump = { density = 0.005 }", ""),
        )

    def test_formulas(self) -> None:
        self.refuse(
            3,
            "initial.density",
            "'xx', which is not known here",
            setting='initial.density="xx + 1"',
        )
        self.refuse(3, "initial.density", "cannot be read", setting='initial.density="1 +"')
        self.refuse(3, "exact.density", "Did you mean 'sound'?", setting='exact.density="sund"')

    def test_what_is_no_case(self) -> None:
        self.refuse(3, "case.toml, line 3", "is not TOML", change=("[grid]", "[grid"))
        self.refuse(2, "--set 'grid.levels'", "is not TOML", setting="grid.levels")
        self.assert_error(
            self.try_case(self.folder / "none.toml"), 1, "none.toml", "cannot be read"
        )
        self.refuse(3, "output.file", ".vtkhdf", setting='output.file="a.vtk"')

    def test_choices_and_sources(self) -> None:
        self.refuse(3, "gas.riemann", "give hllc, hlle or hybrid", setting='gas.riemann="roe"')
        nowhere = 'refine.where="sqrt(0.5 - x)"\ngrid.levels=2'
        self.refuse(3, "refine.where: cell", "is not a number", setting=nowhere)
        self.refuse(
            1, "a grid of 1e+12 cells", "max_bytes", setting="grid.cells=[1000000, 1000000]"
        )
        self.refuse(3, "run.partition", "give by_level or composite", setting='run.partition="rcb"')
        self.refuse(
            3,
            "source.acceleration",
            "has 3 formulas, but must have one for each of 2 axes",
            setting="source.acceleration=[0,0,1]",
        )
        self.refuse(3, "source.heatin", "Did you mean 'heating'?", setting="source.heatin=1")
        self.refuse(3, "source.heating", "", setting='source.heating="nothing * 2"')
        self.refuse(3, "refine.max_bytes", "must be above 0", setting="refine.max_bytes=0")

    def test_states_that_cannot_be(self) -> None:
        self.refuse(
            3,
            "cell 0, 0 of level 0, step 0",
            "pressure is -1",
            setting="initial.pressure=-1",
            ranks=2,
        )

    def test_more_cells_than_allowed(self) -> None:
        outcome = self.try_case("sod", "grid.levels=3", "refine.max_cells=3000")
        self.assert_error(outcome, 1, "more than the 3 000")
        outcome = self.try_case("sod", "grid.levels=3", "refine.max_bytes=3000", ranks=2)
        self.assert_error(outcome, 1, "for the values of a rank, more than the")

    def test_a_full_disk_at_a_checkpoint(self) -> None:
        with self.small_disk("200k") as disk:
            state = disk / "state.h5"
            settings = ["grid.levels=2", "checkpoint.every_steps=5", f'checkpoint.file="{state}"']
            self.run_case("sod", *settings, "grid.levels=1", "run.steps=5")
            before = state.read_bytes()
            outcome = self.try_case("sod", *settings, "run.steps=20", ranks=2)
            self.assert_error(outcome, 1, "state.h5")
            self.assertEqual(state.read_bytes(), before)
            self.assert_no_leftovers(disk)


class Long(AmrCase):
    """Cases that take minutes each."""

    def test_shu_and_osher(self) -> None:
        import h5py

        def density(*settings: str) -> list[float]:
            """Return the density along the tube, on the cells of the output's coarsest level."""
            result = self.run_case(
                "shu-osher", *settings, 'output.quantities=["density"]', limit=1200
            )
            with h5py.File(self.folder / "shu-osher.vtkhdf") as file:
                level = file["VTKHDF/Level0"]
                boxes = level["AMRBox"][-result["levels"][0]["blocks"] :]
                values = level["CellData/density"][-result["levels"][0]["cells"] :]
            line, at = {}, 0
            for low_x, high_x, low_y, high_y, *_ in boxes:
                n = int(high_x - low_x + 1), int(high_y - low_y + 1)
                if low_y == 0:
                    for i in range(n[0]):
                        line[int(low_x) + i] = float(values[at + i])
                at += n[0] * n[1]
            return [line[i] for i in sorted(line)], result["updates"]

        reference, _ = density(
            "grid.cells=[8192,8]", "grid.block=8", "grid.high=[5,0.009765625]", "grid.levels=1"
        )
        adapted, n_adapted = density()
        _, n_fine = density("grid.cells=[512,64]", "grid.levels=1")
        part = len(reference) // len(adapted)
        means = [sum(reference[i * part : (i + 1) * part]) / part for i in range(len(adapted))]
        error = sum(abs(a - b) for a, b in zip(adapted, means, strict=True)) / len(adapted) * 10.0
        self.assertLessEqual(error, 0.06 * 10.0)
        print(
            f"Shu and Osher: mean error {error / 10.0:.4f}, {n_adapted / n_fine:.2f} of the cell steps"
        )
        self.assertLessEqual(n_adapted, 0.6 * n_fine)

    def test_sedovs_blast(self) -> None:
        result = self.run_case("sedov")
        radius = (6.0 * result["series"]["shocked"][-1] / math.pi) ** (1.0 / 3.0)
        print(f"Sedov: radius {radius:.4f}")
        self.assertAlmostEqual(radius, 1.0, delta=0.01)
        energy = next(one for one in result["totals"] if one["variable"] == "energy")
        self.assertAlmostEqual(energy["end"], energy["begin"], delta=1e-12)
        momentum = [
            one["end"] for one in result["totals"] if one["variable"].startswith("momentum")
        ]
        self.assertEqual(len({round(one, 12) for one in momentum}), 1, "the axes are alike")

    def test_nohs_implosion(self) -> None:
        series = self.run_case("noh")["series"]
        plateau = series["plateau"][-1] / series["ring"][-1]
        shock = (6.0 * series["shocked"][-1] / math.pi) ** (1.0 / 3.0)
        print(f"Noh: density {plateau:.2f} behind the shock, which stands at {shock:.4f}")
        self.assertAlmostEqual(plateau, 64.0, delta=0.05 * 64.0)
        self.assertAlmostEqual(shock, 2.0 / 3.0, delta=0.02)

    def test_double_mach_reflection(self) -> None:
        # Along the wall: in the lowest row of coarse cells, whose border cuts no cell of any level.
        wall = 'series.integrals={ dense="density", ahead="density > 1.5 && y < 0.015625 ? 1 : 0" }'
        output = f'output.file="{self.folder}/mach.vtkhdf"'
        adapted = self.run_case("double-mach", wall, output)
        fine = self.run_case(
            "double-mach",
            wall,
            output,
            "grid.cells=[1024,256]",
            "grid.levels=1",
            limit=1200,
        )
        print(
            f"Double Mach: {adapted['updates'] / fine['updates']:.3f} of the cell steps of a fine grid"
        )
        self.assertLessEqual(adapted["updates"], 0.35 * fine["updates"])
        for name in ("dense", "ahead"):
            self.assertAlmostEqual(
                adapted["series"][name][-1],
                fine["series"][name][-1],
                delta=0.01 * fine["series"][name][-1],
            )

    def test_growth_of_a_wavy_interface(self) -> None:
        """Compare with linear theory of the Richtmyer-Meshkov instability: mean growth 0.2245 k a0 for 5 < k t < 14."""
        growth = []
        for levels in (3, 4):
            text = (
                (CASES / "rm-linear.toml")
                .read_text()
                .replace("128 *", f"{32 * 2 ** (levels - 1)} *")
            )
            path = self.folder / "case.toml"
            path.write_text(text)
            series = self.run_case(path, f"grid.levels={levels}")["series"]
            self.assertAlmostEqual(2.0 * math.pi * series["amplitude"][0], 0.05, delta=1e-6)
            growth.append(mean_growth(series))
        print(
            f"Richtmyer-Meshkov: growth {growth[0]:.4f} and {growth[1]:.4f} with 128 and 256 cells, theory 0.2245"
        )
        self.assertAlmostEqual(growth[0], 0.2245, delta=0.03 * 0.2245)
        self.assertAlmostEqual(growth[1], 0.2245, delta=0.02 * 0.2245)


def mean_growth(series: dict) -> float:
    """Return the mean growth rate of the amplitude, over k a0, for 5 < k t < 14 after the shock hits the interface."""
    k, begin = 2.0 * math.pi, 0.2 / 1.77482

    def amplitude(kt: float) -> float:
        time = begin + kt / k
        i = next(i for i, one in enumerate(series["time"]) if one > time)
        part = (time - series["time"][i - 1]) / (series["time"][i] - series["time"][i - 1])
        return (1.0 - part) * series["amplitude"][i - 1] + part * series["amplitude"][i]

    return (amplitude(14.0) - amplitude(5.0)) / (9.0 / k) / 0.05


if __name__ == "__main__":
    unittest.main()
