"""What certificates that enclose every number decide on trained libraries, and what they cost, in responses."""

import time
from typing import Any

import numpy as np

from physrank import geometry, ranking
from physrank.geometry.space import Array
from physrank.lab.libraries import GROUPS, Library, equations_of
from physrank.lab.references.reference import Reference
from physrank.lab.studies._kit.cases import Context, problems_and_candidates, references_of

INPUTS, TIE = 24, 1e-6  # per library; the paper's tolerance
SHARE = 0.95  # of non-tie pairs, claimed within the corrections that its declaration grants
ARITHMETIC = 1  # of the certificate: raised when what it computes changes
COLUMNS = ("non_ties", "non_ties_certified", "wrong", "radius", "seconds", "response_seconds")


def coverage(context: Context, libraries: list[Library]) -> list[dict[str, Any]]:
    """A row for each number of corrections, over the first inputs of every library whose equation declares one."""
    rows = np.concatenate([_measure(context, library) for library in libraries if library.declared.certified.validated])
    return [_row(rows[:, k], k + 1) for k in range(rows.shape[1])]


def _measure(context: Context, library: Library) -> Array:
    most, by = library.declared.certified.corrections, library.declared.certified.validated
    key = context.content(library, "evaluation") | {"most": most, "inputs": INPUTS, "arithmetic": ARITHMETIC}

    def make() -> dict[str, Array]:
        references = references_of(context, library, "evaluation")
        cases = problems_and_candidates(context, library, "evaluation", limit=INPUTS)
        given = ((*case, most, reference, by) for case, reference in zip(cases, references, strict=False))
        rows = context.each(f"{library.name} validated", _case, given, min(INPUTS, len(references)))
        return {"rows": np.array(list(rows), float)}

    return context.cached("validated", key, make)["rows"]


def _case(
    problem: Any, candidates: dict[str, Array], most: int, reference: Reference, by: Any
) -> list[tuple[float, ...]]:
    started = time.process_time()
    current = ranking.rank(problem, candidates, anchor="mean", allow_unresolved=True)
    response, upper, rows = time.process_time() - started, np.triu_indices(len(candidates), 1), []
    losses, changes = reference.losses(current.space, current.outputs)
    gaps, doubt = geometry.gap_matrix(losses)[upper], (changes[:, None] + changes[None, :])[upper]
    real = np.abs(gaps) > TIE
    for k in range(most):
        current = current.corrected() if k else current
        started = time.process_time()
        found = by()(problem, current)
        seconds, signs = time.process_time() - started, found.gaps.signs[upper]
        wrong = (signs != 0) & (signs != np.sign(gaps)) & (np.abs(gaps) > doubt)
        rows.append((real.sum(), np.sum(signs[real] != 0), wrong.sum(), found.state_bound, seconds, response))
    return rows


def _row(table: Array, corrections: int) -> dict[str, Any]:
    column = dict(zip(COLUMNS, table.T, strict=True))
    return {
        "corrections": corrections,
        "cases": len(table),
        **{name: int(column[name].sum()) for name in COLUMNS[:3]},
        "median_radius": float(np.median(column["radius"])),
        "median_seconds": float(np.median(column["seconds"])),
        "responses": float(np.median(column["seconds"] / column["response_seconds"])),
    }


def claim(rows: list[dict[str, Any]]) -> tuple[str, bool]:
    last = rows[-1]
    titles = " and ".join(e.title for e in equations_of(GROUPS["primary"]) if e.certified.validated)
    return (
        f"{titles}, for the continuum, validated: at least {SHARE:.0%} of the non-tie pairs of {last['cases']} inputs within "
        f"{last['corrections']} corrections ({last['non_ties_certified']:,}/{last['non_ties']:,}), none wrong",
        last["non_ties_certified"] >= SHARE * last["non_ties"] and not any(row["wrong"] for row in rows),
    )
