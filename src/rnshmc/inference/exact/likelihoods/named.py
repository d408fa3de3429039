"""Public constructors of likelihoods of independent data."""

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.likelihoods.base import Given, scale_argument
from rnshmc.inference.exact.likelihoods.independent import Flags, Independent
from rnshmc.inference.exact.likelihoods.links import checked_covariance


class Gaussian(Independent):
    """Gaussian errors: y ~ N(F, sd^2) independently, or y ~ N(F, covariance).

    Parameters
    ----------
    sd
        Standard deviation of the errors: a number, an array that broadcasts to the data, the name of an unknown
        parameter, or names, one for each index of the last axis of the data.
    covariance
        Covariance of the errors, shape (M, M), over the data raveled in C order (arrays of a mapping one after the
        other); rows and columns of missing data are left out. Give either ``sd`` or ``covariance``.
    scale
        Name of an unknown factor of known standard deviations; a covariance is multiplied by its square.
    censored
        Flags that broadcast to the data: "left" or -1 where the true value lies below the datum, "right" or 1 where it
        lies above, 0 otherwise. Not with a covariance.
    """

    def __init__(
        self,
        sd: Given | None = None,
        *,
        covariance: npt.ArrayLike | None = None,
        scale: str | None = None,
        censored: Flags = None,
    ) -> None:
        if (sd is None) == (covariance is None):
            raise ParameterError(f"sd, covariance: expected one of them, got {'none' if sd is None else 'both'}")
        if covariance is not None and censored is not None:
            raise ParameterError("censored: expected none with a covariance, got flags")
        numbers = (scale_argument("sd", 1.0 if sd is None else sd, factor=scale),)
        if covariance is None:
            super().__init__("gaussian", numbers, flags=censored)
        else:
            super().__init__("correlated", numbers, (checked_covariance("covariance", covariance),))


class LogNormal(Independent):
    """Log-normal errors: log y ~ N(log F, sd^2).

    Predictors are log F. An output below 1e-8 times its datum is set to that value, as is a negative one down to -1e-6
    times the largest datum, which solvers may return for zero. Below that, the model run has failed.

    Parameters
    ----------
    sd
        Standard deviation of log y, as for `Gaussian`.
    scale, censored
        As for `Gaussian`.
    """

    def __init__(self, sd: Given, *, scale: str | None = None, censored: Flags = None) -> None:
        super().__init__("lognormal", (scale_argument("sd", sd, factor=scale),), flags=censored)


class Relative(Independent):
    """Relative errors: y ~ N(F, (sd F)^2).

    Predictors are log |F|: all outputs must have the sign of most data. Outputs near zero are treated as by
    `LogNormal`. For outputs of both signs, use `Gaussian` with a standard deviation for each datum.

    Parameters
    ----------
    sd
        Standard deviation of the error relative to the output, as for `Gaussian`.
    scale
        As for `Gaussian`.
    """

    def __init__(self, sd: Given, *, scale: str | None = None) -> None:
        super().__init__("relative", (scale_argument("sd", sd, factor=scale),))


class StudentT(Independent):
    """Errors of Student's t distribution: y = F + scale t.

    Predictors are F.

    Parameters
    ----------
    df
        Degrees of freedom: a positive number, or the name of an unknown parameter.
    scale
        Scale of the errors, as the standard deviation of `Gaussian`.
    censored
        As for `Gaussian`.
    """

    def __init__(self, df: Given, scale: Given, *, censored: Flags = None) -> None:
        numbers = (scale_argument("df", df), scale_argument("scale", scale))
        super().__init__("student_t", numbers, flags=censored)


class Poisson(Independent):
    """Counts: y ~ Poisson(F).

    Predictors are log F. A mean below 1e-8 is set to 1e-8, as is a negative one down to -1e-6 times the largest count,
    which solvers may return for zero. Below that, the model run has failed.
    """

    def __init__(self) -> None:
        super().__init__("poisson")


class NegativeBinomial(Independent):
    """Overdispersed counts: mean F and variance F + F^2 / dispersion (``neg_binomial_2`` of Stan).

    Predictors are log F, with the floor of `Poisson`.

    Parameters
    ----------
    dispersion
        As the standard deviation of `Gaussian`. The larger, the closer to Poisson.
    """

    def __init__(self, dispersion: Given) -> None:
        super().__init__("negative_binomial", (scale_argument("dispersion", dispersion),))


class Binomial(Independent):
    """Successes among n trials: y ~ Binomial(n, F), with the probability F as output.

    Predictors are logit F. A probability is moved to a distance of 1e-8 from 0 and 1 if it is closer, or beyond them by
    up to 1e-6. Further out, the model run has failed.

    Parameters
    ----------
    n
        Number of trials: a positive whole number, or an array of them that broadcasts to the data.
    """

    def __init__(self, n: npt.ArrayLike) -> None:
        trials = scale_argument("n", n)
        if trials.names or (trials.known != np.round(trials.known)).any():
            raise ParameterError(f"n: expected positive whole numbers, got {n!r:.80}")
        super().__init__("binomial", known=(trials.known,))
