"""Trained libraries against the equation itself, where its inputs are functions: what is decided, and at what price."""

from typing import Any

import numpy as np

from physrank import certificates, ranking
from physrank.geometry import gap_matrix
from physrank.geometry.space import Array
from physrank.lab.libraries import GROUPS, Library, equations_of
from physrank.lab.studies._kit.cases import Context, problems_and_candidates, references_of

TIE = 1e-6
ARITHMETIC = 1  # of the certificate: raised when what it computes changes
COLUMNS = ("pairs", "certified", "non_ties", "non_ties_certified", "wrong", "solves", "state_bound", "responses")


def coverage(context: Context) -> dict[str, dict[str, Any]]:
    """Per equation, over all inputs of its primary libraries."""
    found = {}
    for equation in equations_of(GROUPS["primary"]):
        if equation.certified.against_equation:
            libraries = [library for library in GROUPS["primary"] if library.declared is equation]
            found[equation.name] = _row(np.concatenate([_measure(context, library) for library in libraries]))
    return found


def _measure(context: Context, library: Library) -> Array:
    def make() -> dict[str, Array]:
        cases = list(problems_and_candidates(context, library, "evaluation"))
        inputs = library.declared.population("evaluation", len(cases))
        references = references_of(context, library, "evaluation")
        given = (
            (library, drawn, *case, reference) for drawn, case, reference in zip(inputs, cases, references, strict=True)
        )
        rows = context.each(f"{library.name} against the equation", _case, given, len(cases))
        return {"table": np.array(list(rows), float)}

    key = context.content(library, "evaluation") | {"arithmetic": ARITHMETIC}
    return context.cached("continuum", key, make)["table"]


def _case(library: Library, case: Any, problem: Any, candidates: dict[str, Array], reference: Any) -> tuple[float, ...]:
    method = library.declared.certified.against_equation
    assert method is not None
    found = ranking.rank(problem, candidates, anchor="mean", allow_unresolved=True)
    proof = certificates.certify(problem, found, by=method(case), tolerance=TIE)
    upper = np.triu_indices(len(candidates), 1)
    losses, changes = reference.losses(found.space, found.outputs)
    gaps, signs = gap_matrix(losses)[upper], proof.signs[upper]
    doubt, real = (changes[:, None] + changes[None, :])[upper], np.abs(gaps) > TIE
    return (
        len(signs),
        np.sum(signs != 0),
        real.sum(),
        np.sum((signs != 0) & real),
        np.sum((signs != 0) & (signs != np.sign(gaps)) & (np.abs(gaps) > doubt)),
        proof.enclosure.solves,
        proof.enclosure.state_bound,
        proof.seconds / found.scoring.seconds,
    )


def _row(table: Array) -> dict[str, Any]:
    column = dict(zip(COLUMNS, table.T, strict=True))
    return {
        "cases": len(table),
        **{name: int(column[name].sum()) for name in COLUMNS[:5]},
        "corrections": int(column["solves"].max()),
        "median_state_bound": float(np.median(column["state_bound"])),
        "median_responses": float(np.median(column["responses"])),
    }
