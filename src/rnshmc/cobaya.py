"""A sampler of cobaya: ``sampler: {rnshmc.cobaya.RNSHMC: {draws: 1000}}``.

It needs the extra ``cobaya``: ``pip install ".[cobaya]"`` in a clone of the repository.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from cobaya.collection import SampleCollection
from cobaya.conventions import Extension
from cobaya.model import LogPosterior
from cobaya.mpi import is_main_process, share_mpi
from cobaya.sampler import Sampler
from cobaya.yaml import yaml_dump_file

from rnshmc.inference.call import sample
from rnshmc.inference.result.converting import carried
from rnshmc.inference.result.result import Result
from rnshmc.inference.stages.starts import Candidates, middle_of, moved_inside
from rnshmc.types import Array

REFERENCES = 400
"""Draws of the reference distributions from which start and scale are computed."""
_EVALUATIONS = "rnshmc.jsonl"


class RNSHMC(Sampler):  # type: ignore[misc]
    """`rnshmc.sample` as a cobaya sampler, with bounds from the priors, and start and scale from the references.

    With an output, evaluations are stored next to it, and ``resume`` continues from them. Of several MPI processes, the
    first one samples.
    """

    draws: int = 2000
    budget: int | None = None
    """See `rnshmc.sample`."""
    evaluate_draws: bool = False
    """Whether to evaluate the model at the draws, for likelihoods and derived parameters in the collection: as many
    evaluations as draws, which are not kept beside the output. If not, these columns are NaN."""
    seed: int | Sequence[int] | None = None
    """Of all that is random, a number or several; None: always the same."""
    _result: Result | None = None
    _collection: SampleCollection | None = None

    @property
    def result(self) -> Result | None:
        """The `rnshmc.Result`, with corrected expectations and the verdict.

        None before `run`, and in all MPI processes but the first.
        """
        return self._result

    def run(self) -> None:
        """Sample and fill in cobaya's collection."""
        if not is_main_process():
            return
        seed = 1 if self.seed is None else int(np.random.SeedSequence(self.seed).generate_state(1)[0])
        starts, scale = self._expected(np.random.default_rng(seed))
        self._result = sample(
            self._log_posterior,
            Candidates(starts, "ref"),
            gradient=False,
            draws=self.draws,
            seed=seed,
            scale=scale,
            bounds=list(map(tuple, self.model.prior.bounds())),
            names=list(self.model.parameterization.sampled_params()),
            filepath=self.output.add_suffix(_EVALUATIONS, separator=".") if self.output else None,
            budget=self.budget,
        )
        level = self.log.info if self._result.verdict.level == "good" else self.log.warning
        level("%s", self._result.verdict)
        with carried(self._result):
            self._collection = self._collected(self._result.draws)
            if self.output:
                path = self.output.add_suffix(Extension.evidence.removeprefix("."), separator=".")
                yaml_dump_file(path, self._evidence(), comment="log-evidence", error_if_exists=False)

    def samples(self, combined: bool = False, skip_samples: float = 0, to_getdist: bool = False) -> Any:
        """The draws, each of weight 1, or GetDist samples of them.

        Only the first MPI process has them, unless they are ``combined`` or GetDist samples. A ``skip_samples`` is
        ignored with a warning: the draws contain no warm-up.
        """
        if skip_samples:
            self.mpi_warning("The draws contain no warm-up; 'skip_samples' is ignored.")
        found = self._collection
        if to_getdist and found is not None:
            found = found.to_getdist()
        return share_mpi(found) if combined or to_getdist else found

    def products(self, combined: bool = False, skip_samples: float = 0, to_getdist: bool = False) -> dict[str, Any]:
        """``sample``, ``logZ`` and ``logZstd`` as from cobaya's nested samplers, and the `rnshmc.Result` as ``result``.

        The evidence uses cobaya's likelihoods, its one-dimensional priors, which are normalised, and external priors,
        which need not be. The parameters are those of `samples`.
        """
        chosen = self.samples(combined, skip_samples, to_getdist)
        if self._result is None:  # the other processes have draws only if these are combined
            return {} if chosen is None else {"sample": chosen}
        return {"sample": chosen, **self._evidence(), "result": self._result}

    @classmethod
    def output_files_regexps(cls, output: Any, *, minimal: bool = False, **_: Any) -> list[Any]:
        """Files of a run that cobaya looks for or deletes."""
        kept = output.add_suffix(_EVALUATIONS, separator=".").removeprefix(output.folder).lstrip("/")
        left = [(re.compile(re.escape(kept) + "$"), None)]
        if minimal:
            return left
        evidence = re.escape(output.prefix + Extension.evidence) + "$"
        return [*left, (output.collection_regexp(name=None), None), (re.compile(evidence), None)]

    def _expected(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """Starts, the medians first, and draws, (n, d), from the references, or from the prior for a point
        reference."""
        prior = self.model.prior
        rows = np.array([prior.reference(random_state=rng, warn_if_no_ref=False) for _ in range(REFERENCES)])
        of_prior = prior.sample(REFERENCES, ignore_external=True, random_state=rng)
        # An external prior may be zero at the medians.
        start = middle_of(rows, lambda theta: bool(np.isfinite(prior.logp(theta))))
        low, high = np.transpose(prior.bounds())
        starts = moved_inside(np.vstack([start, rows]), low, high, of_prior.std(axis=0))
        return starts, np.where(np.ptp(rows, axis=0) > 0, rows, of_prior)

    def _log_posterior(self, x: Array) -> float:
        return float(self.model.logpost(x))

    def _collected(self, draws: Array) -> SampleCollection:
        """The draws as a cobaya collection, written to its output."""
        collection = SampleCollection(self.model, self.output, name="1")
        for x in draws:
            collection.add(x, logpost=self.model.logposterior(x) if self.evaluate_draws else self._unknown(x))
        collection.out_update()
        return collection

    def _unknown(self, x: Array) -> LogPosterior:
        """The log prior at x, which is cheap; NaN for the rest."""
        model = self.model
        derived = np.full(len(model.parameterization.derived_params()), np.nan)
        return LogPosterior(
            logpriors=model.logpriors(x), loglikes=np.full(len(model.likelihood), np.nan), derived=derived
        )

    def _evidence(self) -> dict[str, float]:
        assert self._result is not None
        found = self._result.log_evidence
        return {"logZ": float(found.value), "logZstd": float(found.standard_error)}
