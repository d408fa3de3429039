"""Hierarchies that independent draws can be made of: eight schools, twelve hospitals, normals of unknown precision."""

import numpy as np
from peers.known_laws import LOG_ROOT, KnownMoments, Law
from scipy.special import digamma, gammaln, logsumexp, polygamma, softmax

from rnshmc.errors import NumericalError
from rnshmc.types import Array

EFFECTS = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERRORS = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
"""Of coaching in eight schools, and their standard errors (Rubin 1981)."""
DEATHS = np.array([0, 18, 8, 46, 8, 13, 9, 31, 14, 8, 29, 24])
OPERATIONS = np.array([47, 148, 119, 810, 211, 196, 148, 215, 207, 97, 256, 360])
"""Cardiac surgery on babies ("Surgical: institutional ranking" of the examples of BUGS, volume 1)."""
SCORES = np.linspace(-8.0, 8.0, 401)
"""Of a hospital: (logit of its probability of death - mu) / tau, standard normal a priori."""


class NormalGamma(KnownMoments):
    """exp(v) ~ Gamma(shape, rate shape - 1), x_k ~ N(0, exp(-v)) given v: effects and their log precision."""

    shape = 5.0

    def __init__(self, effects: int = 3) -> None:
        self.dim, rate = 1 + effects, self.shape - 1.0
        self.mean = np.array([digamma(self.shape) - np.log(rate), *[0.0] * effects])
        self.variance = np.array([polygamma(1, self.shape), *[1.0] * effects])
        self.log_evidence = float(gammaln(self.shape) - self.shape * np.log(rate)) + effects * LOG_ROOT

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        v, x = q[0], q[1:]
        if abs(v) > 300.0:
            raise NumericalError("the precision overflows")
        precision, power = np.exp(v), self.shape + 0.5 * len(x)
        of_v = precision * (self.shape - 1.0 + 0.5 * (x @ x))
        return float(of_v - power * v), np.append(of_v - power, precision * x)

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        precision = rng.gamma(self.shape, 1.0 / (self.shape - 1.0), size=(n, 1))
        effects = rng.standard_normal((n, self.dim - 1)) / np.sqrt(precision)
        return np.concatenate((np.log(precision), effects), axis=1)


class EightSchools(Law):
    """Effects theta_j ~ N(mu, tau^2) seen with known errors; mu ~ N(0, 25), tau half-Cauchy(0, 5) (posteriordb).

    Coordinates: theta_j, or (theta_j - mu) / tau where not ``centred``; then mu and log tau.
    """

    dim = 10

    def __init__(self, *, centred: bool) -> None:
        self._centred = centred

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        effects, mu, log_tau = q[:8], q[8], q[9]
        if abs(log_tau) > 300.0:
            raise NumericalError("tau overflows")
        tau = np.exp(log_tau)
        theta = effects if self._centred else mu + tau * effects
        scores = (effects - mu) / tau if self._centred else effects
        data = (theta - EFFECTS) / ERRORS**2
        if self._centred:
            slopes = data + scores / tau
            of_mu, of_tau, constant = -scores.sum() / tau, 8.0 - scores @ scores, 8.0 * log_tau
        else:
            slopes = tau * data + scores
            of_mu, of_tau, constant = data.sum(), tau * (data @ effects), 0.0
        ratio = tau**2 / 25.0
        value = 0.5 * (((theta - EFFECTS) / ERRORS) @ ((theta - EFFECTS) / ERRORS) + scores @ scores + mu**2 / 25.0)
        gradient = np.concatenate((slopes, [of_mu + mu / 25.0, of_tau + 2.0 * ratio / (1.0 + ratio) - 1.0]))
        return float(value + constant + np.log1p(ratio) - log_tau), gradient

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """tau by its density given the data on a fine grid, then mu and the effects, which are normal given tau."""
        grid = np.linspace(-15.0, 8.0, 20001)
        spread = ERRORS**2 + np.exp(2.0 * grid)[:, None]
        precision, weighted = (1.0 / spread).sum(axis=1) + 0.04, (EFFECTS / spread).sum(axis=1)
        logs = 0.5 * (weighted**2 / precision - np.log(precision) - (np.log(spread) + EFFECTS**2 / spread).sum(axis=1))
        cells = rng.choice(len(grid), size=n, p=softmax(logs + grid - np.log1p(np.exp(2.0 * grid) / 25.0)))
        log_tau = grid[cells] + (grid[1] - grid[0]) * (rng.random(n) - 0.5)
        mu = weighted[cells] / precision[cells] + rng.standard_normal(n) / np.sqrt(precision[cells])
        tau = np.exp(log_tau)[:, None]
        shrunk = 1.0 / (1.0 / ERRORS**2 + tau**-2)
        theta = shrunk * (EFFECTS / ERRORS**2 + mu[:, None] / tau**2) + np.sqrt(shrunk) * rng.standard_normal((n, 8))
        effects = theta if self._centred else (theta - mu[:, None]) / tau
        return np.column_stack((effects, mu, log_tau))


class Hospitals(Law):
    """Logits mu + tau z_k of the probabilities of death, z_k ~ N(0, 1); mu ~ N(0, 2^2), log tau ~ N(0, 1).

    Coordinates: z_k, mu and log tau; with ``centred``, the logits in place of z_k.
    """

    dim = len(DEATHS) + 2

    def __init__(self, *, centred: bool) -> None:
        self._centred = centred

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        effects, mu, log_tau = q[:-2], q[-2], q[-1]
        if abs(log_tau) > 300.0:
            raise NumericalError("tau overflows")
        tau = np.exp(log_tau)
        logits = effects if self._centred else mu + tau * effects
        scores = (effects - mu) / tau if self._centred else effects
        with np.errstate(over="ignore"):
            excess = OPERATIONS / (1.0 + np.exp(-logits)) - DEATHS
        value = (OPERATIONS * np.logaddexp(0.0, logits) - DEATHS * logits).sum() + 0.5 * scores @ scores
        value += 0.125 * mu**2 + 0.5 * log_tau**2
        if self._centred:
            slopes, of_mu, of_tau = excess + scores / tau, -scores.sum() / tau, len(DEATHS) - scores @ scores
            value += len(DEATHS) * log_tau
        else:
            slopes, of_mu, of_tau = tau * excess + scores, excess.sum(), tau * (excess @ effects)
        return float(value), np.concatenate((slopes, [of_mu + 0.25 * mu, of_tau + log_tau]))

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """mu and log tau by their density on a fine grid, then each score by its own given these."""
        mu, log_tau = (each.ravel() for each in np.meshgrid(np.linspace(-4.5, -1.0, 141), np.linspace(-5.0, 1.5, 131)))
        logs = -0.125 * mu**2 - 0.5 * log_tau**2
        for k in range(len(DEATHS)):
            logs += logsumexp(_by_score(k, mu, log_tau), axis=1)
        cells = rng.choice(len(logs), size=n, p=softmax(logs))
        mu = mu[cells] + (3.5 / 140.0) * (rng.random(n) - 0.5)
        log_tau = log_tau[cells] + (6.5 / 130.0) * (rng.random(n) - 0.5)
        # A few at once: each takes a row of as many densities as there are scores.
        parts = np.array_split(np.column_stack((mu, log_tau)), 1 + n // 20000)
        scores = np.concatenate([_scores(part[:, 0], part[:, 1], rng) for part in parts])
        effects = mu[:, None] + np.exp(log_tau)[:, None] * scores if self._centred else scores
        return np.column_stack((effects, mu, log_tau))


def _scores(mu: Array, log_tau: Array, rng: np.random.Generator) -> Array:
    """A draw of all scores for each mu and log tau, (n, 12)."""
    return np.stack([_drawn(_by_score(k, mu, log_tau), rng) for k in range(len(DEATHS))], axis=1)


def _by_score(k: int, mu: Array, log_tau: Array) -> Array:
    """Log densities of hospital k's deaths and score, at all `SCORES`, (n, 401)."""
    logits = mu[:, None] + np.exp(log_tau)[:, None] * SCORES
    return np.asarray(DEATHS[k] * logits - OPERATIONS[k] * np.logaddexp(0.0, logits) - 0.5 * SCORES**2)


def _drawn(logs: Array, rng: np.random.Generator) -> Array:
    """One of `SCORES` for each row of log densities, and a place within its cell."""
    shares = np.cumsum(softmax(logs, axis=1), axis=1)
    cells = np.minimum((shares < rng.random((len(logs), 1))).sum(axis=1), len(SCORES) - 1)
    return np.asarray(SCORES[cells] + (SCORES[1] - SCORES[0]) * (rng.random(len(logs)) - 0.5))
