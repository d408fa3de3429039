"""Threads of linear algebra within `sample`: one for its own, the caller's number for the target, and after it."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import rnshmc
from rnshmc.errors import ParameterError
from rnshmc.inference.exact.pools import Threads
from rnshmc.types import Array
from tests.inference.conftest import evaluations_of

SEED = 4


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def quartic(x: Array) -> tuple[float, Array]:
    return -float((x**4).sum()) - 0.5 * float(x @ x), -4.0 * x**3 - x


@pytest.mark.parametrize("pooled", [False, True])
def test_the_target_has_the_callers_threads_and_the_surrogate_one(pooled: bool) -> None:
    at_target, at_callback = set[int](), set[int]()

    def target(x: Array) -> tuple[float, Array]:
        at_target.update(blas_threads())
        return quartic(x)

    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as pool:
        rnshmc.sample(
            target,
            np.full(3, 0.2),
            seed=SEED,
            budget=60,
            pool=pool if pooled else None,
            callback=lambda _: at_callback.update(blas_threads()),
            progress_bar=False,
        )
        after = blas_threads()
    assert at_target == {2}
    assert at_callback == {1}
    assert after == {2}


def test_workers_have_the_callers_threads_until_their_last_task_is_done() -> None:
    """A pool of threads continues with the others while the first answer is processed."""
    seen: list[set[int]] = []

    def target(x: Array) -> tuple[float, Array]:
        seen.append(blas_threads())
        return quartic(x)

    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(2) as pool:
        threads = Threads()
        exact = evaluations_of(target, pool=pool, threads=threads)
        with threads.one():
            arriving = exact.evaluate(np.full((3, 3), [[0.1], [0.2], [0.3]]))
            next(arriving)
            assert blas_threads() == {2}
            assert len(list(arriving)) == 2
            assert blas_threads() == {1}
            assert seen == [{2}] * 3
            for _ in exact.evaluate(np.full((2, 3), [[0.4], [0.5]])):
                break
            assert blas_threads() == {1}  # the other one is abandoned
        assert blas_threads() == {2}


def test_the_callers_threads_are_back_after_an_error() -> None:
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(ParameterError, match="gradient"):
            rnshmc.sample(lambda x: (-0.5 * float(x @ x), x), np.full(3, 0.2), seed=SEED, progress_bar=False)
        assert blas_threads() == {2}


def test_draws_do_not_depend_on_the_number_of_threads() -> None:
    """In ten dimensions products of matrices have other last digits on two threads, and other draws in the end."""
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            results.append(rnshmc.sample(quartic, np.full(10, 0.2), seed=SEED, draws=200, progress_bar=False))
    assert results[0].spent.units == results[1].spent.units
    assert np.array_equal(results[0].draws, results[1].draws)
