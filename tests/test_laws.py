"""Laws 1, 2, 3 and 6 over every problem, and a sabotaged twin for each that must break it."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

import laws
from physrank import compute
from physrank.physics import Problem, Tangent
from problems import CASES, LINEAR_CASES, burgers, reaction_diffusion

every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


@every_case
def test_adjoint(case):
    for seed in range(3):
        laws.adjoint_identity(case.problem, case.state(seed), seed, case.accuracy)


@every_case
def test_tangent_is_derivative(case):
    for seed in range(3):
        laws.taylor_slope(case.problem, case.state(seed), seed, case.scale)


@pytest.mark.parametrize("case", LINEAR_CASES.values(), ids=LINEAR_CASES.keys())
def test_linear_equation_is_solved_exactly_from_any_anchor(case):
    for seed in range(3):
        laws.linear_is_exact(case.problem, case.state(seed))


@every_case
def test_solution_is_fixed(case):
    laws.solution_is_fixed(case.problem, case.state(0))


@every_case
def test_response_error_is_quadratic(case):
    laws.quadratic_response(case.problem, case.state(0), scale=case.scale)


@every_case
def test_what_a_response_misses_is_known_exactly(case):
    laws.response_error_is_exact(case.problem, case.state(0), scale=case.scale, accuracy=max(1e-7, 10 * case.against))


@every_case
def test_solvers_match_dense(case):
    laws.matches_dense(case.problem, case.state(1), accuracy=case.against)


@every_case
def test_fused_correction_equals_linearise_then_solve(case):
    laws.fused_equals_plain(case.problem, case.state(2))


FAULTS = ("derivative", "adjoint", "solve", "defect", "adjoint solve", "row dropped")


class Skewed(Tangent):
    """A tangent with one thing wrong; which one is data, so that one compilation serves all faults."""

    honest: Tangent
    fault: jax.Array

    def _if(self, fault, wrong, right):
        return jnp.where(self.fault == FAULTS.index(fault), wrong, right)

    def apply(self, direction):
        pushed = self.honest.apply(direction)
        return self._if("derivative", pushed * 1.001, pushed)

    def apply_adjoint(self, covector):
        pulled = self.honest.apply_adjoint(covector)
        return self._if("adjoint", jnp.roll(pulled, 1), pulled)

    def solve(self, rhs):
        solve = self.honest.solve(rhs)
        value = self._if("solve", solve.value * 1.0001, solve.value)
        return replace(solve, value=value, defect=self._if("defect", solve.defect + 1e-6, solve.defect))

    def solve_adjoint(self, rhs):
        solve = self.honest.solve_adjoint(rhs)
        return replace(solve, value=self._if("adjoint solve", solve.value * 1.0001, solve.value))

    def magnitude(self):
        return self.honest.magnitude()


class Sabotaged(Problem):
    honest: Problem
    fault: jax.Array

    def defect(self, state):
        defect = self.honest.defect(state)
        return jnp.where(self.fault == FAULTS.index("row dropped"), jnp.asarray(defect).at[0].set(0.0), defect)

    def linearise(self, at):
        _, tangent = self.honest.linearise(at)
        return self.defect(at), Skewed(tangent, self.fault)

    def residual_energy(self, defect):
        return self.honest.residual_energy(defect)

    def solve(self, guess):
        return self.honest.solve(guess)

    @property
    def state_shape(self):
        return self.honest.state_shape

    @property
    def host(self):
        return compute.on_host(self.honest)


@pytest.mark.parametrize("honest", ["burgers", "reaction-diffusion 2-D", "assembled", "stationary, host"])
@pytest.mark.parametrize(
    "law, fault",
    [
        (laws.adjoint_identity, "adjoint"),
        (laws.taylor_slope, "derivative"),
        (laws.taylor_slope, "row dropped"),
        (laws.quadratic_response, "solve"),
        (laws.response_error_is_exact, "solve"),
        (laws.response_error_is_exact, "derivative"),
        (laws.matches_dense, "solve"),
        (laws.matches_dense, "defect"),
        (laws.matches_dense, "adjoint solve"),
    ],
)
def test_sabotage_breaks_the_law(honest, law, fault):
    case = CASES[honest]
    tolerated = {
        laws.adjoint_identity: {"accuracy": case.accuracy},
        laws.matches_dense: {"accuracy": case.against},
    }.get(law, {})
    with pytest.raises(AssertionError):
        law(Sabotaged(case.problem, jnp.asarray(FAULTS.index(fault))), case.state(0), **tolerated)
    law(Sabotaged(case.problem, jnp.asarray(-1)), case.state(0), **tolerated)  # it is the fault that breaks it


def test_nonlinear_equation_breaks_linear_exactness():
    with pytest.raises(AssertionError):
        laws.linear_is_exact(reaction_diffusion(2, 6, cubic=0.7), CASES["reaction-diffusion 2-D"].state(0))


def test_dropped_initial_row_moves_the_solution():
    case = CASES["burgers"]
    with pytest.raises(AssertionError):
        laws.solution_is_fixed(
            eqx.tree_at(lambda p: p.honest.initial, Shifted(case.problem), case.problem.initial + 1), case.state(0)
        )


OTHER = burgers()


class Shifted(Problem):
    """Solves one problem, responds with another: the solution is not a fixed point any more."""

    honest: Problem

    def defect(self, state):
        return self.honest.defect(state)

    def linearise(self, at):
        return self.honest.linearise(at)

    def residual_energy(self, defect):
        return self.honest.residual_energy(defect)

    def solve(self, guess):
        return OTHER.solve(guess)

    @property
    def state_shape(self):
        return self.honest.state_shape
