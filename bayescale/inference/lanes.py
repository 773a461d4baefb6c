"""Fits side by side on one device: a lane each, in lock-step, stragglers apart.

All lanes of a batch wait for the longest trajectory among them at every iteration. What that
wastes is kept low by three rules: a batch first runs with trajectories of limited length, and lanes
that want longer ones start again in a batch of their own; after warm-up the lanes of several
batches are sorted by the length of their trajectories; and lanes that need more draws, or smaller
steps, go on together while the others are done. A batch of one lane has nothing to wait for: on a
CPU that is the fastest way, one lane for each core.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from bayescale.errors import FitError
from bayescale.inference.batch import pad, padded_size
from bayescale.inference.chains import LOOKS
from bayescale.inference.climb import prepare_function, wake_lapack
from bayescale.inference.engine import Engine, chain_starts
from bayescale.inference.lane import Lane
from bayescale.inference.levels import as_offsets
from bayescale.inference.mode import NEWTON_ALONE, NO_START, Mode
from bayescale.inference.nuts import ROOM, advance_function, side_by_side, state_size, statistics
from bayescale.inference.packing import Packing
from bayescale.inference.sample import RETRIES, Draws, locate, prior_candidates

SHORT = 5  # doublings of a trajectory in the first batch (31 steps); all that are asked for alone
THOROUGH = 300  # warm-up of lanes that diverged or mixed badly at first, and of pooled models
SATURATED = 0.01  # share of kept transitions at that length from which a lane starts again

# told of a lane's draws, and whether it may start again: what is to be done
Verdict = Literal["enough", "more", "again"]
Judge = Callable[[int, Draws, bool], Verdict]


class Lanes:
    """Compiled functions for fits of one model, `width` side by side.

    Parameters
    ----------
    engine : Engine
    packing : Packing
    width : int
        Fits side by side.
    """

    def __init__(self, engine: Engine, packing: Packing, width: int) -> None:
        self.engine, self.packing, self.width = engine, packing, width

    def sample(
        self,
        batches: Sequence[dict[str, Any]],
        seeds: Sequence[int],
        judge: Judge,
    ) -> list[Exception | None]:
        """Sample fits; their draws are handed to ``judge`` as soon as a lane is done.

        Parameters
        ----------
        batches : sequence of dict
            Data of each fit (from `make_batch`), all of one padded size.
        seeds : sequence of int
            Seed of each fit; the draws do not depend on the lanes beside it.
        judge : callable
            Told (index, draws, whether the lane may start again); may ask for more draws, or for
            a new start with what these draws have taught.

        Returns
        -------
        list
            None for each fit that was sampled, else why it was not.
        """
        wake_lapack()
        errors: list[Exception | None] = [None] * len(batches)
        lanes = []
        for k, (batch, seed) in enumerate(zip(batches, seeds, strict=True)):
            try:
                lanes.append(self._lane(k, batch, seed))
            except FitError as problem:
                errors[k] = problem
        lanes = self._prepare([x for x in lanes if x.mode is None]) + [x for x in lanes if x.mode]
        for lane in lanes:
            if lane.mode is None or not np.isfinite(lane.mode.log_density):
                errors[lane.index] = FitError(NO_START)
        lanes = [lane for lane in lanes if errors[lane.index] is None]
        while lanes:
            lanes = self._forward(lanes)
            lanes = [n for lane in lanes if (n := self._next(lane, judge)) is not None]
        return errors

    def _lane(self, index: int, batch: dict[str, Any], seed: int) -> Lane:
        engine, packing = self.engine, self.packing
        s, size = engine.settings, packing.size
        starts, chains = (np.random.default_rng(q) for q in np.random.SeedSequence(seed).spawn(2))
        keys = chains.integers(0, 2**32, size=(s.chains, 2), dtype=np.uint32)
        lane = Lane(
            index=index,
            batch=pad(batch, padded_size(len(batch["response"]))) | {"centring": {}},
            z=2.0 * chains.standard_normal((s.chains, size)),
            keys=keys,
            candidates=prior_candidates(packing, starts),
            target=s.target_accept,
            deep=self.width == 1 or s.max_tree_depth <= SHORT,
        )
        if not packing.centred and not engine.model.drift and size <= NEWTON_ALONE:
            return lane
        # a centring is chosen, and a mode of many dimensions climbed to, in Python
        place = locate(engine, packing, batch, starts)
        z = chain_starts(place.gradient, place.mode, s.chains, chains)
        data = lane.batch | {"centring": dict(place.centring)}
        return replace(lane, batch=data, z=z, mode=place.mode)

    def _prepare(self, lanes: list[Lane]) -> list[Lane]:
        """Find each lane's mode and whitening."""
        build = lambda: prepare_function(self.engine.density)  # noqa: E731
        ready = []
        for group in _groups(lanes, self.width):
            args = (
                self._stack([lane.candidates for lane in group]),
                self._stack([lane.z for lane in group]),
                self._data(group),
            )
            prepare = self._compile("prepare", build, args, (0, 0, 0))
            with self.engine.clock.phase("mode"):
                found = [self._unstack(a) for a in prepare(*args)]
            for lane, vector, whitening, height, z in zip(group, *found, strict=False):
                ready.append(replace(lane, mode=Mode(vector, whitening, float(height), 0), z=z))
        return ready

    def _forward(self, lanes: list[Lane]) -> list[Lane]:
        """Warm up those that have not begun, then draw from all."""
        s = self.engine.settings
        moved, going = [], [lane for lane in lanes if lane.state is not None]
        for group in self._alike([lane for lane in lanes if lane.state is None]):
            going += self._run(group, self._warmup(group[0]), keep=False)
        # sorted, so that short trajectories don't wait for long ones
        going.sort(key=lambda lane: lane.steps)
        for again, draws in ((False, s.draws), (True, max(1, s.draws // 2))):
            for group in self._alike([lane for lane in going if bool(lane.traces) == again]):
                moved += self._run(group, draws, keep=True)
        return moved

    def _alike(self, lanes: list[Lane]) -> list[list[Lane]]:
        """Groups of lanes that one compiled function serves, in the order given."""
        kinds: dict[tuple[int, int, bool], list[Lane]] = {}
        for lane in lanes:
            kind = (
                self._depth(lane),
                self._warmup(lane),
                lane.mode is not None and lane.mode.bend is not None,
            )
            kinds.setdefault(kind, []).append(lane)
        return [group for kind in kinds.values() for group in _groups(kind, self.width)]

    def _run(self, group: list[Lane], iterations: int, keep: bool) -> list[Lane]:
        """Carry a group of lanes on by some iterations, in lock-step."""
        advance, first, fixed, state, where = self._ready(group)
        kept: list[list[tuple[np.ndarray, ...]]] = [[] for _ in group]
        steps = [lane.steps for lane in group]
        trace: Any = ()
        count = 0
        with self.engine.clock.phase("sample"):
            for done in range(0, iterations, ROOM):
                count = min(ROOM, iterations - done)
                state, trace = advance(first, np.asarray(count), *fixed, state, *where)
                first = np.asarray(False)
                if not keep:
                    continue
                arrays = [self._unstack(a)[:, :, :count] for a in trace]
                for k, chunks in enumerate(kept):
                    chunks.append(tuple(a[k] for a in arrays))
            states = self._unstack(state)
            if not keep:
                steps = list(self._unstack(trace[3])[:, :, :count].mean(axis=(1, 2)))
        return [
            replace(x, state=states[k], traces=(*x.traces, *kept[k]), steps=float(steps[k]))
            for k, x in enumerate(group)
        ]

    def _ready(self, group: list[Lane]) -> tuple[Any, ...]:
        """The compiled function for a group, and its arguments on the device."""
        s, put = self.engine.settings, self.engine.put
        depth, warmup = self._depth(group[0]), self._warmup(group[0])
        modes = [lane.mode for lane in group if lane.mode is not None]
        rest = np.zeros((s.chains, state_size(self.packing.size)))
        first = np.asarray(group[0].state is None)
        fixed = self._stack([x.z for x in group]), self._stack([x.keys for x in group])
        state = self._stack([rest if x.state is None else x.state for x in group])
        where = (
            put(self._stack([np.asarray(x.target) for x in group])),
            put(tuple(map(self._stack, zip(*(m.place for m in modes), strict=True)))),
            self._data(group),
        )
        args = (first, np.asarray(ROOM), *fixed, state, *where)
        if self.width == 1:
            return self.engine.advance(depth, warmup, args), first, fixed, state, where
        advance = self._compile(
            f"advance to depth {depth} after {warmup}",
            lambda: side_by_side(advance_function(self.engine.density, warmup, depth)),
            args,
            (None, None, 0, 0, 0, 0, 0, 0),
        )
        return advance, first, fixed, state, where

    def _depth(self, lane: Lane) -> int:
        """How often a trajectory of this lane may double."""
        most = self.engine.settings.max_tree_depth
        return most if lane.deep else min(SHORT, most)

    def _warmup(self, lane: Lane) -> int:
        """Adapting iterations: few at first, since whitening leaves little to learn."""
        s = self.engine.settings
        easy = lane.target == s.target_accept and not self.packing.centred
        return s.warmup if easy else max(s.warmup, THOROUGH)

    def _next(self, lane: Lane, judge: Judge) -> Lane | None:
        """What is left to do for a lane that has drawn: nothing, more, or all again."""
        s = self.engine.settings
        depth = self._depth(lane)
        trace = [np.concatenate(parts, axis=1) for parts in zip(*lane.traces, strict=True)]
        stats = statistics(trace, s.max_tree_depth)
        if not lane.deep and np.mean(stats["n_steps"] >= 2**depth - 1) > SATURATED:
            return lane.restarted(lane.target, deep=True)
        smaller = [t for t in RETRIES if t > lane.target] if s.retry else []
        if stats["diverging"].any() and smaller:
            return lane.restarted(smaller[0], deep=lane.deep)
        mode = lane.mode
        assert mode is not None
        vectors, centring = mode.vectors(trace[0]), lane.batch["centring"]
        draws = Draws(
            vectors=as_offsets(self.engine.model, self.packing, vectors, lane.batch, centring),
            stats=stats,
            mode=mode,
            gradients=int(stats["n_steps"].sum()),
            target_accept=lane.target,
            centring=centring,
        )
        fresh = s.retry and lane.looks < LOOKS and bool(np.isfinite(trace[0]).all())
        verdict = judge(lane.index, draws, fresh)
        if verdict == "again":
            return lane.relearnt(trace[0])
        return lane if verdict == "more" else None

    def _data(self, group: list[Lane]) -> Any:
        import jax

        batches = [lane.batch for lane in group]
        return self.engine.put(jax.tree.map(lambda *leaves: self._stack(leaves), *batches))

    def _compile(
        self,
        name: str,
        build: Callable[[], Callable[..., Any]],
        args: tuple[Any, ...],
        axes: tuple[int | None, ...],
    ) -> Callable[..., Any]:
        """A compiled function of one lane, or of several side by side."""
        import jax

        if self.width == 1:
            return self.engine.compile(name, build, args)
        wide = lambda: jax.vmap(build(), axes)  # noqa: E731
        return self.engine.compile(f"{name} in {self.width} lanes", wide, args)

    def _stack(self, arrays: Sequence[Any]) -> np.ndarray:
        """Arrays of lanes in one, filled up with copies of the first; one lane has no axis."""
        if self.width == 1:
            return np.asarray(arrays[0])
        return np.stack([*arrays, *([arrays[0]] * (self.width - len(arrays)))])

    def _unstack(self, array: Any) -> np.ndarray:
        """An array with an axis of lanes, on the host."""
        return np.asarray(array) if self.width > 1 else np.asarray(array)[None]


def _groups(lanes: list[Lane], width: int) -> list[list[Lane]]:
    return [lanes[k : k + width] for k in range(0, len(lanes), width)]
