"""Calibration of emulated forward models: squared errors over squared standard errors, and runs.

    scripts/in-env.sh python benchmarks/emulation.py --seeds 20

Each seed draws a model of `DIMS` parameters and 16 outputs, a quadratic plus waves in random directions, and data.
Exact moments are from importance sampling of the exact density. Columns for each dimension: median and maximum of the
runs, mean squared z of means and of variances (1 if standard errors are right), and the number of independent draws
with the same errors; last, the verdicts other than good.
"""

import argparse
from dataclasses import dataclass

import numpy as np

import rnshmc
from rnshmc.random import stream
from rnshmc.types import Array

DIMS, OUTPUTS, SD = (3, 6, 12), 16, 0.3
SAMPLES = 200_000
HEAVY = 8.0
"""Degrees of freedom of the proposals of the importance sampling."""


@dataclass(frozen=True, eq=False)
class Waves:
    """f_i(x) = a_i'x + (b_i'x)^2 / 4 + sin(c_i'x) / 2, with rows of norm about 1."""

    linear: Array
    bent: Array
    waves: Array

    def __call__(self, x: Array) -> Array:
        """Outputs at the rows of x, or at one point."""
        return np.asarray(x @ self.linear.T + 0.25 * (x @ self.bent.T) ** 2 + 0.5 * np.sin(x @ self.waves.T))


def problem(dim: int, seed: int) -> tuple[Waves, Array]:
    """A model and its data, for a prior that is standard normal."""
    rng = stream(seed, "emulation", str(dim))
    model = Waves(*rng.standard_normal((3, OUTPUTS, dim)) / np.sqrt(dim))
    return model, model(rng.standard_normal(dim)) + SD * rng.standard_normal(OUTPUTS)


def exact_moments(model: Waves, data: Array, result: rnshmc.Result, seed: int) -> tuple[Array, Array, float]:
    """Means, variances, and the effective number of the weighted samples."""
    rng = stream(seed, "emulation", "exact")
    centre, root = result.draws.mean(axis=0), 1.2 * np.linalg.cholesky(np.cov(result.draws.T))
    normal = rng.standard_normal((SAMPLES, len(centre)))
    z = normal * np.sqrt(HEAVY / rng.chisquare(HEAVY, SAMPLES))[:, None]
    x = centre + z @ root.T
    potential = 0.5 * ((model(x) - data) ** 2).sum(axis=1) / SD**2 + 0.5 * (x**2).sum(axis=1)
    proposal = -0.5 * (HEAVY + len(centre)) * np.log1p((z**2).sum(axis=1) / HEAVY)
    logarithms = -potential - proposal
    weights = np.exp(logarithms - logarithms.max())
    weights /= weights.sum()
    mean = weights @ x
    return mean, weights @ (x - mean) ** 2, float(1.0 / (weights**2).sum())


def main() -> None:
    """Print a line for each dimension."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--dims", type=int, nargs="+", default=list(DIMS))
    arguments = parser.parse_args()
    for dim in arguments.dims:
        runs, squares, errors, other = [], [], [], 0
        for seed in range(arguments.seeds):
            model, data = problem(dim, seed)
            posterior = rnshmc.Model(
                model, data, likelihood=rnshmc.Gaussian(sd=SD), prior=rnshmc.Normal(np.zeros(dim), np.ones(dim))
            )
            result = rnshmc.sample(posterior, np.zeros(dim), seed=seed, progress_bar=False)
            mean, variance, effective = exact_moments(model, data, result, seed)
            found = result.outcome.mean, result.outcome.variance
            off = found[0].value - mean, found[1].value - variance
            floor = variance / effective, 2.0 * variance**2 / effective
            claimed = (one.standard_error**2 + rest for one, rest in zip(found, floor, strict=True))
            squares.append([np.mean(one**2 / square) for one, square in zip(off, claimed, strict=True)])
            errors.append([np.mean(off[0] ** 2 / variance), np.mean(off[1] ** 2 / variance**2) / 2.0])
            runs.append(result.spent.units)
            other += result.verdict.level != "good"
            print(dim, seed, runs[-1], np.round(squares[-1], 2), np.round(1 / np.array(errors[-1])), flush=True)
        z, draws = np.mean(squares, axis=0), 1.0 / np.mean(errors, axis=0)
        print(
            f"d = {dim}: runs {np.median(runs):.0f} ({max(runs)}), z^2 {z[0]:.2f} {z[1]:.2f}, draws {draws[0]:.0f} "
            f"{draws[1]:.0f}, not good {other} of {len(runs)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
