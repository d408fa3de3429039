"""Deaths after operations in twelve hospitals: a hierarchy of counts, of which independent draws can be made."""

import numpy as np
from peers.known_laws import Law
from scipy.special import logsumexp, softmax

from rnshmc.errors import NumericalError
from rnshmc.types import Array

DEATHS = np.array([0, 18, 8, 46, 8, 13, 9, 31, 14, 8, 29, 24])
OPERATIONS = np.array([47, 148, 119, 810, 211, 196, 148, 215, 207, 97, 256, 360])
"""Cardiac surgery on babies ("Surgical: institutional ranking" of the examples of BUGS, volume 1)."""
SCORES = np.linspace(-8.0, 8.0, 401)
"""Of a hospital: (logit of its probability of death - mu) / tau, standard normal a priori."""


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
