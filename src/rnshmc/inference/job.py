"""What exact chains cost a run."""

from rnshmc.inference.result.state import State
from rnshmc.inference.stages import adapted, ensemble


def suffices(state: State) -> bool:
    """Whether the budget does for exact chains worth beginning: the fewest draws of them, or states that teach."""
    enough = price(state, min(state.draws, state.tuning.fewest_draws))
    if teachable(state):
        enough = min(enough, adapted.price_of_teaching(state.archive.dim, state.tuning.adapted))
    return state.archive.units_left >= enough


def teachable(state: State) -> bool:
    """Whether states of exact chains may teach a surrogate what it did not find by itself."""
    return state.archive.has_gradient and state.archive.noise <= state.tuning.judging.noisy


def price(state: State, draws: int) -> int:
    """Evaluation units of exact chains."""
    if state.archive.has_gradient:
        return adapted.price(state.archive.dim, draws, state.tuning.adapted)
    return ensemble.price(state.archive.dim, draws, state.tuning.ensemble)
