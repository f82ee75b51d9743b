"""`certify`: which decisions of a ranking are proved, and against which target."""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from numbers import Real
from typing import Any

import equinox as eqx
import jax
import numpy as np

from physrank import _division, equations
from physrank.certificates._functions import check_method, said_by
from physrank.certificates.burgers import BurgersEnergy
from physrank.certificates.certificate import MEANING, Assumption, Certificate, Enclosure
from physrank.certificates.diffusion_reaction import DiffusionReactionEnergy
from physrank.certificates.enclosures.programs import said_to_be
from physrank.certificates.monotone import StronglyMonotone
from physrank.certificates.own_marching import EnclosedMarch
from physrank.certificates.own_stationary import EnclosedZero
from physrank.certificates.paths.trigonometric import scaled_nyquist
from physrank.certificates.ranked import Ranked
from physrank.certificates.reaction_diffusion import ValidatedReactionDiffusion
from physrank.certificates.sine_gordon import SineGordonEnergy
from physrank.geometry import (
    Ball,
    Box,
    Ellipsoid,
    FiniteSet,
    GapIntervals,
    InconsistentBounds,
    Sum,
    TaskSpace,
    UncertaintySet,
    pair_supports,
)
from physrank.geometry import intersect as bounds_of_all
from physrank.geometry.space import Array
from physrank.physics import Marching, Problem, Stationary, stated

ROUND_OFF = 64 * float(np.finfo(np.float64).eps)
UNDERFLOW = 2.0**-1020  # what a product may lose below the smallest normal number, with a margin

Method = Callable[[Problem, Ranked], Enclosure]

KNOWN: dict[type[Problem], Any] = {
    equations.Burgers: BurgersEnergy(),
    equations.DiffusionReaction: DiffusionReactionEnergy(),
    equations.ReactionDiffusion: ValidatedReactionDiffusion(),
    equations.SineGordon: SineGordonEnergy(),
}


@_division.over(None)  # bounds of round-off are for programs that are not divided
def certify(
    problem: Problem,
    ranking: Ranked,
    *,
    tolerance: float = 0.0,
    by: Method | None = None,
    discrepancy: UncertaintySet | float | None = None,
) -> Certificate:
    """What is proved about a ranking: pairs, the best candidate, candidates within `tolerance` of the best loss.

    Main arguments: `problem` and a `ranking` of candidates for it; `tolerance`, an excess of squared loss that would not
    matter to you.

    Other arguments: `by`, the method (default: the one known for the equation; for your own `Stationary` and `Marching`
    problems `EnclosedZero()` and `EnclosedMarch()`; for your own strongly monotone problem
    `physrank.certificates.StronglyMonotone(metric=…, coercivity=…)`); `discrepancy`, a set from `physrank.geometry` that
    contains (dataset truth − solution of this problem) in the task space, or the radius of a ball in the task norm: the
    decisions then hold for the dataset.

    A failed assumption leaves everything open: look at `certificate.failed`.

    ```python
    certificate = pr.certify(problem, pr.rank(problem, candidates), tolerance=1e-6)
    print(certificate.kind, certificate.failed)
    ```
    """
    if not (np.isfinite(tolerance) and tolerance >= 0):
        raise ValueError(f"tolerance must be a finite number ≥ 0; got {tolerance}.")
    if not (isinstance(problem, Problem) and isinstance(ranking, Ranked)):
        raise ValueError(
            f"Expected certify(problem, ranking, …); got {type(problem).__name__} and {type(ranking).__name__}."
        )
    check_method(by)
    method = by or method_for(problem)
    started = time.perf_counter()
    known, (said, again) = None if discrepancy is None else _as_set(discrepancy), said_by(problem, ranking, method)
    with said_to_be(said):
        enclosure = method(problem, ranking)
    if said:
        steady = Assumption("the functions are the same each time they are read", said == again, "read twice")
        enclosure = replace(enclosure, assumptions=(*enclosure.assumptions, steady))
    if enclosure.kind != "validated":
        enclosure = replace(enclosure, gaps=enclosure.gaps.widened(_round_off(ranking)))
    enclosure = _as_stated(enclosure, problem, ranking)
    if known is not None:
        enclosure = _transfer(enclosure, ranking, known)
    enclosure = replace(enclosure, gaps=_with_ties(enclosure.gaps, ranking))
    return Certificate(
        ranking.names,
        np.asarray(ranking.gaps),
        enclosure,
        float(tolerance),
        time.perf_counter() - started,
        fingerprint=_fingerprint(problem, ranking, known, said),
        excluded=tuple(ranking.candidates.excluded),
    )


def _as_stated(enclosure: Enclosure, problem: Problem, ranking: Ranked) -> Enclosure:
    """What the problem states is an assumption like any other. Data stated as uncertain make an estimate of the proof, unless
    its bound covers them."""
    said = Assumption(f"the equation is the one stated: {stated.in_words(problem)}", True, "stated by you")
    enclosure = replace(enclosure, assumptions=(*enclosure.assumptions, said))
    doubt = ranking.data_uncertainty
    if doubt is None:
        return enclosure
    if enclosure.covers_data:
        covered = Assumption("its data are off by no more than you stated", True, "stated by you")
        return replace(enclosure, assumptions=(*enclosure.assumptions, covered))
    widened = Assumption("its data are off by no more than you stated, to first order", True, "stated by you")
    return replace(
        enclosure,
        kind="estimate",
        gaps=enclosure.gaps.widened(doubt),
        assumptions=(*enclosure.assumptions, widened),
    )


def _with_ties(gaps: GapIntervals, ranking: Ranked) -> GapIntervals:
    """Equal outputs have equal losses, whatever the target: their gap is zero."""
    flat = np.reshape(ranking.outputs, (len(ranking.outputs), -1))
    equal = np.stack([np.all(flat == row, axis=1) for row in flat])  # not so for NaN
    return GapIntervals(np.where(equal, 0.0, gaps.low), np.where(equal, 0.0, gaps.high))


def _round_off(ranking: Ranked) -> Array:
    """How far a computed gap Σ w (y_i − y_j)(2q − y_i − y_j) can be from its exact value.

    A term has a handful of roundings and passes through fewer than 100 additions (NumPy adds pairwise), so that the sum errs
    by at most γ_128 Σ w |y_i − y_j| (2|q| + |y_i| + |y_j|), to which Cauchy and Schwarz are applied, or by underflow.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        norm = ranking.space.norm
        sizes, distances = norm(ranking.outputs) + norm(ranking.proxy), norm(ranking.outputs - ranking.proxy)
        lost = np.sqrt(UNDERFLOW * ranking.space.weights.size)  # of a norm whose squares fall below the smallest number
        sizes, distances = sizes + lost, distances + lost
        return ROUND_OFF * (sizes[:, None] + sizes[None, :]) * (distances[:, None] + distances[None, :])


def _fingerprint(problem: Problem, ranking: Ranked, discrepancy: UncertaintySet | None, said: str) -> str:
    """What a certificate is about: the problem with its data, the candidates, the task, the discrepancy, and what functions
    said when they were read: their names stay the same where an array changes that they close over."""
    found = hashlib.sha256(said.encode())
    about = (ranking.task.map, ranking.data_half_widths, ranking.outputs, ranking.space.hashed)
    for thing in (problem, *about, _leaves(discrepancy)):
        arrays, rest = eqx.partition(thing, eqx.is_array)
        found.update(str(jax.tree.structure(thing)).encode() + str(jax.tree.leaves(rest)).encode())
        sparse = [leaf.data for leaf in jax.tree.leaves(rest) if hasattr(leaf, "indptr")]
        for leaf in [*jax.tree.leaves(arrays), *sparse]:
            found.update(np.ascontiguousarray(leaf).tobytes())
    return found.hexdigest()[:16]


def _leaves(discrepancy: UncertaintySet | None) -> Any:
    """Its type and what it is made of, down to arrays."""
    if not is_dataclass(discrepancy):
        return discrepancy
    inside = [getattr(discrepancy, field.name) for field in fields(discrepancy)]
    parts = [[_leaves(x) for x in value] if isinstance(value, tuple | list) else _leaves(value) for value in inside]
    return [type(discrepancy).__name__, parts]


def intersect(named: Mapping[str, Certificate]) -> Certificate:
    """What certificates of one library from several anchors prove together: every gap lies in all of their intervals.

    They must be for the same problem, candidates and target. Bounds that exclude each other raise
    `physrank.geometry.InconsistentBounds`, which names them. A certificate with a failed assumption adds nothing.
    """
    if not named:
        raise ValueError("Nothing to intersect: got no certificates; expected at least one, by name.")
    first = next(iter(named.values()))
    for name, other in named.items():
        for what in ("names", "target", "excluded"):
            if getattr(other, what) != getattr(first, what):
                raise ValueError(
                    f"Certificates must agree in their {what}; {name!r} has {getattr(other, what)}, expected "
                    f"{getattr(first, what)}."
                )
        if other.fingerprint != first.fingerprint:
            raise ValueError(
                f"{name!r} is about another problem, other candidates, another task or another discrepancy than "
                f"{next(iter(named))!r}, although the names agree: certificates can be joined only for one and the same."
            )
    held = {name: c for name, c in named.items() if not c.failed}
    if not held:
        return first
    _check_one_target(held)
    try:
        gaps = bounds_of_all({name: c.gaps for name, c in held.items()})
    except InconsistentBounds as problem:
        raise InconsistentBounds(f"{problem} Candidates, in order: {', '.join(first.names)}.") from None
    weakest = max((c.enclosure for c in held.values()), key=lambda e: list(MEANING).index(e.kind))
    bases = [replace(a, statement=f"{n}: {a.statement}") for n, c in held.items() for a in c.enclosure.assumptions]
    tightest = min((c.enclosure for c in held.values()), key=lambda e: e.state_bound)
    joined = replace(
        weakest,
        gaps=gaps,
        state_bound=tightest.state_bound,
        norm=f"{tightest.norm}, for the closest of {len(held)} corrected states",
        assumptions=tuple(bases),
        solves=sum(c.enclosure.solves for c in held.values()),
    )
    return replace(first, enclosure=joined, seconds=sum(c.seconds for c in held.values()))


def _check_one_target(held: Mapping[str, Certificate]) -> None:
    """A zero next to an anchor is one of several: that two of them are the same must be proved, not hoped."""
    (name, first), *others = ((name, c.enclosure.zero) for name, c in held.items())
    for other, zero in others:
        if zero is not first and (zero is None or first is None or not zero.is_surely(first)):
            raise ValueError(
                f"{other!r} may be about another zero than {name!r}: neither lies surely where the other is the only one. "
                "Join certificates whose anchors are closer to each other, or keep them apart."
            )


def _as_set(discrepancy: Any) -> UncertaintySet:
    if isinstance(discrepancy, Real) and not isinstance(discrepancy, bool):
        return Ball(float(discrepancy))
    if not hasattr(discrepancy, "support"):
        raise ValueError(
            "discrepancy must be a radius or a set from physrank.geometry (Ball, Ellipsoid, Box, FiniteSet, Sum); "
            f"got {discrepancy!r}."
        )
    return discrepancy


def method_for(problem: Problem) -> Method:
    """The method known for a problem's equation."""
    if type(problem) in KNOWN:
        return KNOWN[type(problem)]
    if "secant_metric" in vars(type(problem)):  # inherited, it may belong to another defect
        return StronglyMonotone()
    if type(problem) is Marching and not problem.implicit:
        return EnclosedMarch()
    if type(problem) in (Stationary, Marching):
        return EnclosedZero()
    known = ", ".join(sorted(kind.__name__ for kind in KNOWN))
    raise ValueError(
        f"No certificate is known for {type(problem).__name__}; there is one for {known}, not for classes derived from them. "
        "For a strongly monotone problem of your own, define secant_metric in its class, or pass "
        "by=physrank.certificates.StronglyMonotone(metric=…, coercivity=…); for any other that is close to its solution, "
        "by=physrank.certificates.LocalNewton(…)."
    )


def _transfer(enclosure: Enclosure, ranking: Ranked, discrepancy: UncertaintySet) -> Enclosure:
    """G_ij(t + ξ) for ξ in the stated set; its support function is evaluated in double precision, and widened by that."""
    valid = ranking.candidates.valid
    supports = np.full((len(valid), len(valid)), np.nan)
    # ⟨z, d⟩ of functions is the product on the grid with the last mode of d halved: that mode's square counts half.
    outputs = scaled_nyquist(ranking.outputs, 0.5) if enclosure.as_functions else ranking.outputs
    with np.errstate(over="ignore", invalid="ignore"):
        found = pair_supports(ranking.space, outputs[valid], discrepancy)
        largest = np.abs(ranking.outputs[valid]).reshape(valid.sum(), -1).max(axis=1)  # entries err relative to it
        sizes = largest * np.sqrt(np.sum(ranking.space.weights)) + np.sqrt(UNDERFLOW * ranking.space.weights.size)
        extent = _extent(discrepancy, ranking.space)
        doubt = 4 * ROUND_OFF * extent * (sizes[:, None] + sizes) + 2.0**-40 * np.abs(found)
    supports[np.ix_(valid, valid)] = found + doubt
    said = f"ball of radius {discrepancy.radius:g}" if isinstance(discrepancy, Ball) else type(discrepancy).__name__
    return replace(
        enclosure,
        kind="theorem" if enclosure.kind == "validated" else enclosure.kind,
        target=f"any dataset whose difference to {enclosure.target} lies in a {said}",
        bounded="the solution of this problem (not of the dataset)",
        assumptions=(
            *enclosure.assumptions,
            Assumption(f"the dataset differs from it by an element of the {said}", True, "stated by the caller"),
        ),
        gaps=enclosure.gaps.transferred(supports, supports.T),
    )


def _extent(discrepancy: UncertaintySet, space: TaskSpace) -> float:
    """max ‖z‖ over a set from `physrank.geometry`; of another, what its supports say is all that is known."""
    match discrepancy:
        case Ball(radius):
            return radius
        case Ellipsoid(axes):
            return float(np.sqrt(np.sum(space.norm_squared(axes))))
        case Box(half_widths):
            return float(space.norm(np.broadcast_to(half_widths, space.shape)))
        case FiniteSet(points):
            return float(np.max(space.norm(points)))
        case Sum(parts):
            return sum(_extent(part, space) for part in parts)
    return 0.0
