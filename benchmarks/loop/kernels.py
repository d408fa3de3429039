"""sd(U - V) of processes with the kernel of `rnshmc.inference`, and with additive and radial parts: medians of seeds.

    PYTHONPATH=benchmarks scripts/in-env.sh python -m loop.kernels --points 40 --seeds 1 2 3

The training points are independent draws of known laws, with gradients. Laws are rotated at random: what is a sum over
the coordinates of a law is none over the principal axes in which it is learnt.
"""

import argparse
from dataclasses import replace

import numpy as np
from loop.density import DensityEmulator, fit_density
from loop.trial import LAWS
from loop.tuning import COVARIANCES
from peers.known_laws import KnownMoments, LogGamma, close_normals
from scipy.stats import ortho_group

from rnshmc.inference.tuning import DEFAULT
from rnshmc.surrogates.gradient_kernel import GradientKernel
from rnshmc.types import Array

ROTATED: dict[str, KnownMoments] = {**LAWS, "log-gamma": LogGamma(), "two close normals": close_normals()}
HELD_OUT = 400
REFERENCE = 20000
"""Draws of which the principal axes are."""


def whitening(law: KnownMoments, rotation: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """The mean, and L of x = mean + L z with z along the principal axes of the rotated law."""
    draws = law.sample(rng, REFERENCE)
    variances, axes = np.linalg.eigh(np.cov(rotation @ draws.T))
    return draws.mean(axis=0), rotation.T @ axes * np.sqrt(variances)


def errors(law: KnownMoments, points: int, seed: int) -> list[float]:
    """sd(U - V) at draws, with the kernel of `rnshmc.inference`, an isotropic one, and one of all parts."""
    rng = np.random.default_rng(seed)
    mean, root = whitening(law, ortho_group.rvs(law.dim, random_state=rng), rng)
    draws, tests = law.sample(rng, points), law.sample(rng, HELD_OUT)
    values, exact = (np.array([law.value(q) for q in x]) for x in (draws, tests))
    lowest = values.min()
    values, exact = values - lowest, exact - lowest
    slopes = np.array([law.gradient(q) for q in draws]) @ root
    z, aside = (np.linalg.solve(root, (x - mean).T).T for x in (draws, tests))
    prior, most = DEFAULT.fitting.prior, DEFAULT.fitting.most_amplitude
    none, every, reach = np.zeros((points, 2)), (np.eye(law.dim), 0.0), float(np.abs(aside).max()) * law.dim
    kernels: list[GradientKernel | DensityEmulator] = [
        GradientKernel.fit(z, values, rng=rng, grad=slopes, prior=prior, most_amplitude=most),
        *(
            fit_density(z, values, slopes, none, rng, tuning, basis=every, extent=reach)
            for tuning in (replace(COVARIANCES, weights=()), COVARIANCES)
        ),
    ]
    return [float(np.std(exact - kernel.values_and_gradients(aside)[0])) for kernel in kernels]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=40)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    arguments = parser.parse_args()
    print(f"{'law':22}{'in use':>9}{'isotropic':>11}{'all parts':>11}")
    for name, law in ROTATED.items():
        now, isotropic, all_parts = np.median([errors(law, arguments.points, s) for s in arguments.seeds], axis=0)
        print(f"{name:22}{now:9.2f}{isotropic:11.2f}{all_parts:11.2f}", flush=True)


if __name__ == "__main__":
    main()
