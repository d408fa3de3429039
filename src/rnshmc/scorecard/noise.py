"""Standard errors of published numbers, estimated from our chains because the papers print none.

A mean over c chains has the error of one chain over sqrt(c). The spread of one chain is taken to be that of ours:
sqrt(k) times the standard error of the mean over k of them.

An effective sample size is itself an estimate, and its relative error is larger for fewer effective draws. Cut off at a
window of W lags, the estimated autocorrelation time tau of n draws has the relative variance 2 (2 W + 1) / n (Madras
and Sokal 1988, appendix C). W is a few tau, and n / tau is the effective sample size e, so that the relative variance
is V / e with a V that does not depend on the length of the chain. On autoregressive chains V is between 3 and 15 for
both definitions of `rnshmc.diagnostics.ess`; for a single chain it is taken to be `ONE_CHAIN`. From k chains with mean
e and a relative variance r^2, V is e r^2, with k - 1 degrees of freedom; it is averaged with `ONE_CHAIN`, which counts
for `DEGREES` of them. Our mean has the relative variance V / (k e), and a published one of P effective draws in each of
c chains V / (c P). A published number larger than ours is therefore the more accurate one.
"""

import math

from rnshmc.results.estimates import Estimate
from rnshmc.scorecard.measured import Measured
from rnshmc.scorecard.rules import OF_SECONDS, Rule

ONE_CHAIN = 8.0
"""V of an effective sample size for a single chain."""
DEGREES = 4.0
"""Degrees of freedom that `ONE_CHAIN` counts for."""
BETWEEN_RUNS = 0.042
"""Relative standard deviation, between full runs, of seconds relative to HMC: root mean square over 37 samplers, timed
in both ways, of the two runs that commits 1563c19 and 5a9ca4e published (docs/results/results.csv)."""


def errors(printed: float, chains: float, rule: Rule, ours: Measured) -> tuple[Estimate, float]:
    """Our number with its standard error, and the standard error of the published one; NaN if unknown.

    ``chains`` are those behind the published number; errors of seconds include their spread between runs. For an
    effective sample size, `Measured.effective` is that of one of our chains before scaling.
    """
    if not math.isnan(ours.effective):
        return size_with_error(ours), printed * math.sqrt(_variance(ours) / (printed * chains))
    value, error = ours.estimate
    if rule.kind in OF_SECONDS:
        return Estimate(value, math.hypot(0.0 if math.isnan(error) else error, BETWEEN_RUNS * value)), math.nan
    return ours.estimate, error * math.sqrt(ours.samples / chains)


def size_with_error(ours: Measured) -> Estimate:
    """An effective sample size with its standard error, which a single chain has as well."""
    value = ours.estimate.value
    return Estimate(value, value * math.sqrt(_variance(ours) / (ours.samples * ours.effective)))


def _variance(ours: Measured) -> float:
    """V: the relative variance of the effective sample size of one chain, times that size."""
    value, error = ours.estimate
    if ours.samples < 2 or math.isnan(error):
        return ONE_CHAIN
    observed = ours.samples * (error / value) ** 2 * ours.effective
    known = ours.samples - 1
    return (known * observed + DEGREES * ONE_CHAIN) / (known + DEGREES)
