"""The checkpoint that is kept is the best by true error, raced or not, and what it took is told."""

import json

import numpy as np
import pytest
import torch

import physrank as pr
from surrogates import Network, network, problem_of, starts, true_errors

INPUTS = starts(24, seed=5)


def truly_best(models):
    errors = true_errors(pr.models.predict(models, INPUTS), INPUTS)
    return min(errors, key=errors.get)


def test_the_best_checkpoint_is_chosen_and_found_again(library, tmp_path):
    for name, model in library.items():
        pr.models.save(tmp_path / f"{name}.safetensors", model)
    stored = pr.models.checkpoints(tmp_path / "*.safetensors", Network)
    choice = pr.choose(problem_of, stored, INPUTS)
    assert choice.best == truly_best(library) and choice.path == tmp_path / f"{choice.best}.safetensors"
    assert torch.equal(choice.load().last.weight, library[choice.best].last.weight)
    assert choice.spent.runs == 24 * 4 and choice.spent.runs_saved == 0 and choice.stability == 1.0
    errors = true_errors(pr.models.predict(library, INPUTS), INPUTS)
    np.testing.assert_allclose(choice.found.mean_scores, np.square(list(errors.values())), rtol=0.1)
    assert f"keep {choice.best} ({choice.path})" in str(choice) and "96 model runs" in str(choice)
    stored = json.loads(choice.to_json(tmp_path / "choice.json").read_text())
    assert stored["best"] == choice.best and stored["path"].endswith(".safetensors")


def test_a_race_keeps_the_same_and_runs_less(library):
    asked = []

    class Counted(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, batch):
            asked.append(len(batch))
            return self.model(batch)

    counted = {name: Counted(model) for name, model in library.items()}
    choice = pr.choose([problem_of(start) for start in INPUTS], counted, INPUTS, until="settled", batch=4, check=False)
    assert choice.best == truly_best(library) and choice.settled and choice.stability is None
    assert choice.spent.runs == sum(asked) < 96 and choice.spent.runs + choice.spent.runs_saved == 96
    assert max(asked) == 4 and isinstance(choice.found, pr.Race)
    again = pr.choose(problem_of, library, INPUTS, until=pr.Settled(tolerance=0.05), batch=1)
    assert again.best == choice.best and again.spent.runs <= choice.spent.runs
    assert again.spent.runs == again.found.runs  # nothing is run ahead


def test_features_and_normalisers(library):
    scale = 3.0
    choice = pr.choose(
        lambda case: problem_of(case["start"]),
        library,
        [{"start": start, "scaled": start * scale} for start in INPUTS[:6]],
        encode=lambda cases: np.stack([case["scaled"] for case in cases]) / scale,
        decode=lambda rows, cases: rows,
    )
    assert choice.best == "m0"


class Broken(Network):
    def forward(self, batch):
        return super().forward(batch) * torch.nan


@pytest.mark.parametrize("until", [None, "settled"])
def test_a_model_that_yields_nan_stops_the_choice_or_is_left_out(library, until):
    models = library | {"broken": Broken()}
    with pytest.raises((ValueError, RuntimeError), match=r"Model 'broken'.*NaN"):
        pr.choose(problem_of, models, INPUTS[:4], until=until)
    choice = pr.choose(problem_of, models, INPUTS[:8], until=until, invalid="exclude")
    assert choice.best == "m0"


def test_inputs_without_an_answer_decide_nothing(library):
    def stated(start):
        problem = problem_of(start)
        lost = np.array_equal(start, INPUTS[2])
        return pr.Marching(problem.step, start, problem.data * (np.nan if lost else 1.0))

    choice = pr.choose(stated, library, INPUTS[:4])
    assert choice.best == "m0" and list(choice.unresolved) == [2] and "left out" in str(choice)
    with pytest.raises(pr.UnresolvedError, match="all 1 are unresolved"):
        pr.choose(stated, library, INPUTS[2:3])


def test_what_cannot_be_asked_is_refused(library):
    with pytest.raises(ValueError, match="until must be"):
        pr.choose(problem_of, library, INPUTS, until="certified")
    with pytest.raises(ValueError, match="3 problems for 24 inputs"):
        pr.choose([problem_of(INPUTS[0])] * 3, library, INPUTS)
    with pytest.raises(ValueError, match="single model"):
        pr.choose(problem_of, network(), INPUTS)
