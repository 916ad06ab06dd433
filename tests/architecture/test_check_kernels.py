"""check_kernels.py, on written symbol tables."""

import unittest

from check_kernels import foreign

OWN = "0000000000000000 W barrio::amr::detail::kernels_avx2::load(double const*)"
LOCAL = "0000000000000010 t std::max(double, double)"
SHARED = "0000000000000020 W double const& std::max<double>(double const&, double const&)"


class Foreign(unittest.TestCase):
    def test_what_is_shared_is_found(self) -> None:
        self.assertEqual(foreign(f"{OWN}\n{LOCAL}\n", "kernels_avx2"), [])
        self.assertEqual(
            foreign(f"{OWN}\n{SHARED}\n", "kernels_avx2"),
            ["double const& std::max<double>(double const&, double const&)"],
        )
        self.assertEqual(len(foreign(OWN, "kernels_avx512")), 1)


if __name__ == "__main__":
    unittest.main()
