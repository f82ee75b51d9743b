"""Are the references right? Some inputs solved again in another way altogether, and every decision taken anew by that."""

from typing import Any

import numpy as np

from physrank import geometry, tasks
from physrank.geometry.space import Array
from physrank.lab.equations import Equation
from physrank.lab.evaluation.recovery import pair_gaps
from physrank.lab.libraries import Library
from physrank.lab.studies._kit.cases import Cases, Context, evaluate, problems_and_candidates
from physrank.ranking.candidates import Candidates

CHECKED = 12  # inputs of each equation: half by refinement, half by error


def suspects(many: list[Cases], count: int) -> list[int]:
    """A fixed rule: half by the largest relative changes of losses from coarse to fine, half by the largest best loss."""
    refined = np.max([(c.changes / c.losses).max(axis=1) for c in many], axis=0)
    wrong = np.max([c.losses.min(axis=1) for c in many], axis=0)
    first = np.argsort(-refined, kind="stable")[: count - count // 2]
    rest = [k for k in np.argsort(-wrong, kind="stable") if k not in first]
    return [*map(int, first), *map(int, rest[: count // 2])]


def second_method(context: Context, equation: Equation, libraries: list[Library]) -> dict[str, Any]:
    """Decisions of all libraries of an equation on the suspects, by the reference and by the second method."""
    assert equation.second_method is not None, f"{equation.name} declares no second method"
    many = [evaluate(context, library) for library in libraries]
    chosen = suspects(many, min(CHECKED, context.profile.evaluation))
    cases = equation.population("evaluation", context.profile.evaluation)
    key = {"equation": equation.name, "law": equation.input_fingerprint, "inputs": chosen}

    def make() -> dict[str, Array]:
        rows = []
        for k, place in enumerate(chosen):
            rows.append(equation.second_method(cases[place]))  # pyright: ignore[reportOptionalCall]
            context.progress(f"{equation.title}: second method", k + 1, len(chosen))
        return {"truth": np.stack(rows)}

    again = context.cached("second-truth", key, make)["truth"]
    pairs = changed = top = decided = 0
    largest = 0.0
    for library, known in zip(libraries, many, strict=True):
        stored = dict(enumerate(problems_and_candidates(context, library, "evaluation", limit=max(chosen) + 1)))
        for place, truth in zip(chosen, again, strict=True):
            problem, candidates = stored[place]
            task = tasks.resolve(None, problem)
            outputs = task.outputs(Candidates.of(candidates, problem).states)
            losses = geometry.scores_of(task.space(outputs), outputs, truth)
            before, after = (np.sign(pair_gaps(row[None])) for row in (known.losses[place], losses))
            ours = np.sign(pair_gaps(known.scores["shared"][place][None]))
            pairs, changed = pairs + before.size, changed + int(np.sum(before != after))
            decided += int(np.sum((before == ours) != (after == ours)))
            top += int(losses.argmin() != known.losses[place].argmin())
            largest = max(largest, float(np.max(np.abs(losses - known.losses[place]) / losses)))
    return {
        "inputs": len(chosen),
        "pairs": pairs,
        "pairs_changed": changed,  # the reference and the second method order them differently
        "outcomes_changed": decided,  # and the shared response is right by one and wrong by the other
        "winners_changed": top,
        "largest_relative_loss_change": largest,
    }
