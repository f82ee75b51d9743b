"""The question that physics is asked: candidates' outputs y_i, and what any change of the proxy does to their gaps.

    ⟨change, y_i − c⟩ for a centre c  ─►  ⟨change, y_i − y_j⟩ for every pair

Everything that is decided needs the candidates in these products only; all changes of a rung go through them together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from physrank.geometry import TaskSpace
from physrank.geometry.space import Array
from physrank.tasks import Task

MANY = 64  # candidates up to which every distance between two of them is computed
FAR = 100.0  # times as far from the middle of the candidates as half of them: no place to measure differences from
CANCELLED = 1e-3  # of its terms: a squared distance below is computed from differences
BLOCK = 1 << 16  # numbers that are worked on at a time: they stay in the cache, and no new memory is asked for


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of the physics: candidates' outputs y_i under a task, in the space where they are compared."""

    task: Task
    outputs: Array  # (N, *output); NaN for excluded candidates
    space: TaskSpace

    @classmethod
    def of(cls, task: Task, states: Array, valid: np.ndarray) -> "Question":
        outputs = task.outputs(states)
        shown = outputs if valid.all() else np.where(valid.reshape(-1, *[1] * (outputs.ndim - 1)), outputs, np.nan)
        return cls(task, shown, task.space(shown))

    @property
    def many(self) -> bool:
        return len(self.outputs) > MANY

    @cached_property
    def unit(self) -> float:
        """A power of two in which outputs are measured before anything is squared: 1e-300 ranks like 1."""
        if _ordinary(self.outputs):
            return 1.0
        size = max((_largest(block) for _, block in _blocks(self.outputs)), default=0.0)
        return 1.0 if size == 0 or 1e-120 < size < 1e120 else float(2.0 ** np.floor(np.log2(size)))

    def measured(self, values: Array) -> Array:
        """Outputs, or changes of them, in that unit."""
        return values if self.unit == 1.0 else values / self.unit

    @cached_property
    def centre(self) -> Array:
        """c: the first candidate that counts and is not far from all others, whose differences that would hide. A few places
        of some candidates tell."""
        counts = np.flatnonzero(~np.isnan(self.outputs[(slice(None), *[0] * (self.outputs.ndim - 1))]))
        counts = counts[:: max(len(counts) // MANY, 1)] if len(counts) else np.zeros(1, int)
        strides = (slice(None, None, max(n // 8, 1)) for n in self.outputs.shape[1:])
        seen = self.outputs[(slice(None), *strides)][counts]
        with np.errstate(over="ignore", invalid="ignore"):
            middle = median(seen.real) + 1j * median(seen.imag) if np.iscomplexobj(seen) else median(seen)
            apart = np.abs(seen - middle).reshape(len(seen), -1).max(axis=1, initial=0.0)
            near = apart <= FAR * median(apart)
        return self.outputs[counts[int(near.argmax())]]

    def _rows(self, outputs: Array, room: Array | None = None) -> Array:
        """√M (y_i − c) as rows, in units."""
        return self.space.coordinates(self._apart(outputs, room), overwrite=True)

    def _apart(self, outputs: Array, room: Array | None = None) -> Array:
        """y_i − c, in units: differences first, so that large common parts do not cancel."""
        apart = np.subtract(outputs, self.centre, out=None if room is None else room[: len(outputs)])
        return apart if self.unit == 1.0 else apart / self.unit

    @cached_property
    def _known(self) -> dict[str, Array]:
        """What the first reading of the candidates found: `squares`, and for few of them the products of all pairs."""
        return {}

    @property
    def squares(self) -> Array:
        """‖y_i − c‖², in units²."""
        if not self._known:
            self.products([self.centre])
        return self._known["squares"]

    def products(self, changes: Sequence[Array]) -> Array:
        """⟨change, y_i − c⟩ of every change (first axis) and candidate, in units²."""
        return self.weighed(changes)[0]

    def weighed(self, changes: Sequence[Array]) -> tuple[Array, Array]:
        """These products, and ‖change‖ in units: the candidates are read once."""
        few, first, given = not self.many, not self._known, len(changes)
        separable = self.space.separable and not np.iscomplexobj(self.outputs)
        with np.errstate(invalid="ignore", over="ignore"):
            if few and separable:
                found, sizes = self._in_parts(changes, first)
                products, squares = found[:given], found[given:]
            else:
                across = self.space.coordinates(self.measured(np.stack(changes)))  # √M of every change
                sizes = np.vecdot(across, across)
                if few:
                    rows = self._rows(self.outputs)
                    products, squares = across @ rows.T, rows @ rows.T
                else:
                    products, squares = self._in_blocks(across, first, separable)
        if first:
            self._known.update(squares=squares.diagonal() if few else squares, all=squares)
        return products, np.sqrt(sizes)

    def _in_blocks(self, across: Array, first: bool, separable: bool) -> tuple[Array, Array]:
        """⟨x, y_i − c⟩ for every row √M x, and the `first` time ‖y_i − c‖², some candidates at a time. Where the metric is a
        weight of every entry, it is put on the few changes instead of the many candidates."""
        products, squares = np.zeros((len(self.outputs), len(across))), np.zeros(len(self.outputs))
        blocks = _blocks(self.outputs)
        room = np.empty_like(blocks[0][1])
        weights = self.space.weights.ravel() if separable else np.ones(across.shape[1])
        across = across * np.sqrt(weights)
        for part, block in blocks:
            rows = self._apart(block, room).reshape(len(block), -1) if separable else self._rows(block, room)
            products[part] = rows @ across.T
            if first:
                squares[part] = np.square(rows, out=rows) @ weights
        return products.T, squares

    def _in_parts(self, changes: Sequence[Array], first: bool) -> tuple[Array, Array]:
        """⟨x, y_i − c⟩ for every change x, and the `first` time for every x = y_j − c as well; ‖x‖² of the changes. All in
        the same memory: some entries of changes and candidates side by side, weighted, and one product."""
        number, given = len(self.outputs), len(changes)
        flat, centre, roots = self.outputs.reshape(number, -1), self.centre.ravel(), self.space.roots.ravel()
        scale = roots if self.unit == 1.0 else roots / self.unit
        lines, width = [change.ravel() for change in changes], max(BLOCK // (given + number), 1)
        room, found = np.empty((given + number, min(width, len(roots)))), np.zeros((given + first * number, number))
        sizes = np.zeros(len(found))
        for start in range(0, len(roots), width):
            part = slice(start, start + width)
            rows = room[:, : len(roots[part])]
            for row, line in zip(rows, lines, strict=False):
                row[:] = line[part]
            np.subtract(flat[:, part], centre[part], out=rows[given:])
            rows *= scale[part]
            some = rows[: len(found)]
            found += some @ rows[given:].T
            sizes += np.vecdot(some, some)
        # A sum in the same order wherever a candidate stands: what it is apart from the centre depends on no other one.
        found[given:].flat[:: number + 1] = sizes[given:]
        return found, sizes[:given]

    @cached_property
    def distances(self) -> Array:
        """‖y_i − y_j‖, in units; for very many candidates the way over their centre, which is no shorter."""
        squares = self.squares
        with np.errstate(invalid="ignore", over="ignore"):
            if self.many:
                return np.add.outer(np.sqrt(squares), np.sqrt(squares))
            terms = squares[:, None] + squares[None, :]
            found = terms - 2 * self._known["all"]
            apart = found > CANCELLED * terms
            if np.count_nonzero(apart) < found.size - len(found):  # nobody is apart from himself
                for i, j in np.argwhere(np.triu(~apart, 1)):
                    rows = self._rows(self.outputs[[i, j]])
                    found[i, j] = found[j, i] = np.sum((rows[0] - rows[1]) ** 2)
            found.flat[:: len(found) + 1] = np.where(np.isnan(squares), np.nan, 0.0)
            return np.sqrt(found)

    def distances_of(self, row: int | None) -> Array:
        """Between all pairs, or of one candidate to the others."""
        if row is None or not self.many:
            return self.distances if row is None else self.distances[row]
        roots = np.sqrt(self.squares)
        return roots[row] + roots

    @cached_property
    def _same(self) -> np.ndarray | None:
        """Pairs of candidates that are the same; None where nobody looks."""
        same = None if self.many else self.distances == 0
        if same is None:
            return None
        themselves = np.count_nonzero(same.diagonal())  # those excluded are not even that
        return same if np.count_nonzero(same) > themselves else None

    @property
    def all_equal(self) -> bool:
        """Whether the candidates have one and the same output."""
        return not np.any(np.nan_to_num(self.squares))

    def along(self, change: Array) -> Array:
        """⟨change, y_i − y_j⟩ for all pairs, in units²."""
        return self.of_pairs(self.products([change])[0])

    def of_pairs(self, values: Array, row: int | None = None) -> Array:
        """values_i − values_j for all pairs, or those of one candidate; zero between candidates that are the same: a sum in
        another order is not a difference."""
        if row is not None:
            return values[row] - values if self._same is None else np.where(self._same[row], 0.0, values[row] - values)
        apart = np.subtract.outer(values, values)
        return apart if self._same is None else np.where(self._same, 0.0, apart)

    def scores(self, proxy: Array, products: Array, size: float) -> Array:
        """S_i = ‖q − y_i‖², in units², from the products with q − c and its size, and from the difference itself where those
        cancel."""
        with np.errstate(invalid="ignore", over="ignore"):
            terms = self.squares + size * size
            found = terms - 2 * products
            near = np.flatnonzero(~(found > CANCELLED * terms))
            for i in near:
                apart = self.space.coordinates(self.measured(self.outputs[i] - proxy))
                found[i] = np.sum(apart**2)
        # a product may depend on the place of a row among the others: candidates that are the same have one score
        return found if self._same is None else found[np.argmax(self._same | np.eye(len(found), dtype=bool), axis=1)]


def median(values: Array) -> Array:
    """Along the first axis: as NumPy's, which takes longer to begin than a few candidates to be sorted."""
    ordered, half = values.copy(), len(values) // 2
    ordered.sort(axis=0)
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _blocks(outputs: Array) -> list[tuple[slice, Array]]:
    """Some candidates at a time, a few more than fit: a product with two or three takes as long as one with ten."""
    size = max(4 * BLOCK // max(outputs[0].size, 1), 1)
    parts = (slice(k, k + size) for k in range(0, len(outputs), size))
    return [(part, outputs[part]) for part in parts]


def _ordinary(values: Array) -> bool:
    """Whether squares and their sum are ordinary numbers: one reading, where it tells."""
    with np.errstate(over="ignore"):
        return bool(1e-200 < np.vdot(values, values).real < 1e200)


def _largest(values: Array) -> float:
    """max |value|, real or imaginary part; NaN does not count."""
    if np.iscomplexobj(values):
        return max(_largest(values.real), _largest(values.imag))
    high, low = float(values.max(initial=0.0)), float(values.min(initial=0.0))
    if np.isnan(high + low):
        high, low = float(np.fmax.reduce(values, axis=None, initial=0.0)), float(np.fmin.reduce(values, axis=None))
    return max(high, -low)
