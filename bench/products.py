"""Where candidates meet the physics: their products with a proxy and its doubts, in NumPy or in a compiled program."""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import physrank as pr
from physrank.rungs.question import Question


@jax.jit
def in_a_program(outputs: Any, centre: Any, roots: Any, changes: Any) -> Any:
    """⟨change, y_i − c⟩, ⟨y_i − c, y_j − c⟩ and ‖change‖², as `Question.weighed` finds them."""
    rows = ((outputs - centre) * roots).reshape(len(outputs), -1)
    across = (changes * roots).reshape(len(changes), -1)
    return jnp.concatenate([across, rows]) @ rows.T, jnp.sum(across * across, axis=1)


def measure_products(
    cases: dict[str, tuple[pr.Problem, np.ndarray]],
    record: Callable[..., None],
    median_seconds: Callable[..., dict[str, float]],
) -> None:
    """Eight candidates, a proxy and two doubts: what a single program, from arrays to labels, would gain or lose."""
    for key, (problem, states) in cases.items():
        task = pr.tasks.default(problem)
        question = Question.of(task, states, np.ones(len(states), dtype=bool))
        changes = np.random.default_rng(0).standard_normal((3, *question.outputs.shape[1:]))
        centre, roots = question.centre, question.space.roots

        def host(question: Question = question, changes: np.ndarray = changes) -> Any:
            question._known.clear()
            return question.weighed([*changes])

        with pr.double():
            placed = jnp.asarray(changes)  # they would be there already

            def program(
                outputs: np.ndarray = question.outputs, centre: Any = centre, roots: Any = roots, placed: Any = placed
            ) -> Any:
                return [np.asarray(found) for found in in_a_program(outputs, centre, roots, placed)]

            there = partial(program, jnp.asarray(question.outputs), jnp.asarray(centre), jnp.asarray(roots))
            np.testing.assert_allclose(program()[0][:3], host()[0], rtol=1e-9, atol=1e-9)
            times = median_seconds({"program": program, "candidates there": there, "NumPy": host}, 201)
        what = f"{key}: products with eight candidates, compiled program ÷ NumPy"
        record(f"products_{key}", what, times, "program", "NumPy", "")
        record(f"products_there_{key}", f"{what}, candidates in JAX's memory", times, "candidates there", "NumPy", "")
