"""The loop: decide, settle, reflect. The only module that knows every room."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memtrial.content import Content
from memtrial.errors import DecisionError, InputError, PricesError, TimeError, WeightsError
from memtrial.models.embedders import Embedder, WordLlamaEmbedder
from memtrial.policy.contract import Policy, draft_all, policy_identity
from memtrial.portfolio import TRADING_COST, Mandate, check_returns, check_weights, drift, equal_weight, utilities
from memtrial.recall import Recaller, SimilarityRecall
from memtrial.records import (
    Decision,
    Draft,
    Experience,
    Outcome,
    Recall,
    State,
    Usage,
    Verdict,
    Weights,
    as_weights,
    fingerprint,
    utc,
)
from memtrial.reflect import Reflector, Settled, write_record
from memtrial.restart import Replay, replayed
from memtrial.standings import standings
from memtrial.store import Store
from memtrial.trial import MAX_RECALLED, Design, Settings, Standing, Trial, Value, act_on, blends

T = TypeVar("T")


def system_clock() -> datetime:
    """The present time (UTC): the one clock memtrial reads, and only where no other is given."""
    return datetime.now(UTC)


class Agent:
    """An agent whose memory is on trial.

    >>> agent = Agent(memory="agent.db", policy=my_policy, assets=["stocks", "bonds", "cash"])   # doctest: +SKIP
    >>> decision = agent.decide("Stocks fell for three months; yields are rising.")               # doctest: +SKIP
    >>> agent.settle(decision.id, [0.012, -0.003, 0.001])                                         # doctest: +SKIP

    Parameters
    ----------
    memory
        The store: a path, a URL (``sqlite:///agent.db``) or an open :class:`~memtrial.store.Store`.
    policy
        Who drafts: any sync or async callable ``(state, experiences) -> weights``.
    assets
        Names of the assets, in the order of every weight vector.
    mandate
        What every action must satisfy, and the risk aversion that scores it; by default long-only and fully invested
        with risk aversion 5.
    reference
        The conservative portfolio to stay near until memory is trusted, fractions; by default equal weight. It is
        projected to the mandate.
    k
        How many experiences are recalled, 0 to 6.
    settings
        Settings of the trial; by default ``Settings.guarded()``. ``Settings.paper()`` is the paper's.
    shadow
        Everything is measured and learned, and memory never moves the action.
    recall
        Any callable ``(state, k) -> Recall``; by default similarity over ``embedder``.
    embedder
        Used by the default recall and for content features.
    reflector
        Turns a settled decision into an experience; ``None`` leaves the pool as it is. By default a record written
        by template.
    scope, name
        Whose memory this is, and which of its agents.
    cost
        Proportional trading cost, a fraction of the L1 distance traded.
    clock
        Gives the time where none is passed.

    Raises
    ------
    StoreError
        When the memory cannot be opened.
    InputError
        When settings contradict each other.
    """

    def __init__(
        self,
        *,
        memory: Store | Path | str,
        policy: Policy,
        assets: Sequence[str],
        mandate: Mandate | None = None,
        reference: ArrayLike | None = None,
        k: int = 4,
        settings: Settings | None = None,
        shadow: bool = False,
        recall: Recaller | None = None,
        embedder: Embedder | None = None,
        reflector: Reflector | None = write_record,
        scope: str = "default",
        name: str = "agent",
        cost: float = TRADING_COST,
        clock: Callable[[], datetime] = system_clock,
    ) -> None:
        self.assets = tuple(assets)
        if len(set(self.assets)) != len(self.assets) or not self.assets:
            raise InputError(f"assets must be distinct names, at least one; got {list(assets)}")
        self.mandate = mandate or _long_only(self.assets)
        if k not in range(MAX_RECALLED + 1):
            raise InputError(f"k = {k} experiences cannot be recalled; choose 0 to {MAX_RECALLED}")
        if not (math.isfinite(cost) and cost >= 0):
            raise InputError(f"cost = {cost} must be a finite fraction of what is traded, at least 0")
        if self.mandate.n_assets != len(self.assets):
            raise InputError(f"the mandate is for {self.mandate.n_assets} assets, the agent has {len(self.assets)}")
        raw = equal_weight(len(self.assets)) if reference is None else check_weights(reference, self.assets)
        self.reference: Weights = as_weights(self.mandate.project(raw).tolist())
        self.settings = replace(settings or Settings.guarded(), hold=shadow or (settings is not None and settings.hold))
        self.k = k
        self.scope, self.name, self.cost = scope, name, cost
        self._policy, self._clock, self._reflector = policy, clock, reflector
        self._owns_store = not isinstance(memory, Store)
        self.store = memory if isinstance(memory, Store) else Store(memory)
        embedder = embedder or WordLlamaEmbedder()
        self._embedder = embedder
        self._recall: Recaller = recall or SimilarityRecall(self.store, embedder, scope=scope)
        self._recall_is_ours = recall is None
        self._trial: Trial | None = None
        self._content = Content(self.store, scope, embedder, self.settings.dimensions)
        self._last: Decision | None = None
        self._events = 0
        self._unreflected: dict[str, None] = {}

    # ---------------------------------------------------------------- decide

    def decide(
        self, state: State | str, *, at: datetime | None = None, holdings: ArrayLike | Mapping[str, float] | None = None
    ) -> Decision:
        """Recall, draft, judge and act; the decision is durable before it is returned.

        Asking again for the same time and state returns the stored decision without a call. Settled decisions whose
        experience is still missing, because a run was cut off, are reflected on first.

        Parameters
        ----------
        state
            What the policy sees; a plain text is both what is shown and what is compared with past situations.
        at
            When the decision is taken (aware); by default the clock's time. A ``State`` carries its own.
        holdings
            Weights held just before, (n_assets,) or by asset; by default the last action, drifted by its outcome once
            that is known, and the reference before the first decision.

        Raises
        ------
        TimeError
            When ``at`` has no time zone or lies before what was already decided or learned.
        WeightsError
            When ``holdings`` are not an allocation.
        DecisionError
            When something else was already decided at this time.
        OutageError, ProviderError, RecordingError
            When the model cannot be asked; nothing is stored, and what was paid stays in its recording.
        """
        return _run(self.adecide(state, at=at, holdings=holdings))

    async def adecide(
        self, state: State | str, *, at: datetime | None = None, holdings: ArrayLike | Mapping[str, float] | None = None
    ) -> Decision:
        """:meth:`decide` for code that runs in an event loop."""
        self._opened()
        await self._catch_up()
        seen = self._seen(state, at, holdings)
        known = self._already(seen)
        if known is not None:
            return known
        recall = self._recalled(seen)
        drafts = await self._drafted(seen, recall)
        return self._guarded(lambda: self._judge(seen, recall, drafts))

    async def _drafted(self, state: State, recall: Recall) -> tuple[Draft, ...]:
        subsets = self._guarded(lambda: self._subsets(state, recall))
        before = self._events
        try:
            drafts = await draft_all(self._policy, state, recall.experiences, subsets)
        except BaseException:
            if self.settings.extra_draft:
                self._trial = None
            raise
        if self.settings.extra_draft and self._events != before:
            # Asking for an extra draft learned what was known; with an outcome that came meanwhile, start afresh.
            self._trial = None
        return drafts

    def _subsets(self, state: State, recall: Recall) -> tuple[tuple[int, ...], ...]:
        """The subsets to draft: those of the design, and the one that the trial asks for beyond them."""
        trial = self._opened()
        designed = trial.plan(len(recall.shown)).subsets
        if not self.settings.extra_draft:
            return designed
        _, features = self._content.at(recall, trial)
        ids = [experience.id for experience in recall.experiences]
        extra = trial.foresee(retrieved=ids, features=features, at=state.decided_at)
        return designed if extra is None else (*designed, extra)

    def _recalled(self, state: State) -> Recall:
        recall = self._recall(state, self.k)
        late = [item.experience for item in recall.shown if item.experience.known_at > state.decided_at]
        if late:
            raise TimeError(f"the recall shows experience {late[0].id}, known only at {late[0].known_at.isoformat()}")
        if [item.rank for item in recall.shown] != list(range(len(recall.shown))) or len(recall.shown) > MAX_RECALLED:
            raise InputError(f"a recall shows at most {MAX_RECALLED} experiences, ranked 0, 1, …")
        if not self._recall_is_ours:
            # Credit is kept per experience, so what another memory recalled is kept beside the decision.
            self.remember(*recall.experiences)
        return recall

    def _judge(self, state: State, recall: Recall, drafts: tuple[Draft, ...]) -> Decision:
        # Drafting took time: outcomes may have been delivered meanwhile, by this process or another.
        trial = self._opened()
        known = self._already(state)
        if known is not None:
            return known
        identity = self._decision_id(state.decided_at)
        plan = trial.plan(len(recall.shown))
        projected = _projected(self.mandate, drafts)
        mean = _mean(projected[: plan.n_drafts])
        further = list(zip(drafts, projected, strict=True))[plan.n_drafts :]
        basis, features = self._content.at(recall, trial)
        verdict = trial.act(
            identity,
            retrieved=[experience.id for experience in recall.experiences],
            features=features,
            valid=np.array([weights is not None for weights in projected[: plan.n_drafts]]),
            at=state.decided_at,
            extra=next((draft.subset for draft, held in further if held is not None), None),
        )
        if mean is None:
            verdict = replace(verdict, reason=f"{verdict.reason} (first problem: {drafts[0].problem})")
        decision = Decision(
            id=identity,
            scope=self.scope,
            agent=self.name,
            sequence=0 if self._last is None else self._last.sequence + 1,
            decided_at=state.decided_at,
            assets=self.assets,
            situation=state.situation,
            state_text=state.text,
            holdings=state.holdings or self.reference,
            mandate=str(self.mandate),
            risk_aversion=self.mandate.risk_aversion,
            cost=self.cost,
            recall=recall,
            design=plan.kind,
            features=tuple(as_weights(row) for row in features.tolist()),
            basis=basis,
            drafts=drafts,
            projected=projected,
            reference=self.reference,
            mean_draft=mean,
            verdict=verdict,
            action=as_weights(self._acted(verdict, plan, projected).tolist()),
            policy=policy_identity(self._policy),
            prompt=_prompt(state, recall.experiences),
            usage=sum((draft.usage for draft in drafts), Usage()),
        )
        self.store.add_decision(decision)
        self._last = decision
        self._events += 1
        return decision

    def _acted(self, verdict: Verdict, plan: Design, projected: tuple[Weights | None, ...]) -> NDArray[np.float64]:
        rows = _rows(projected, self.assets)
        extra = rows[-1] if len(rows) > plan.n_drafts else None
        return act_on(verdict, plan, rows[: plan.n_drafts], np.array(self.reference), extra=extra)

    # ---------------------------------------------------------------- settle

    def settle(
        self, decision_id: str, returns: ArrayLike | Mapping[str, float], *, known_at: datetime | None = None
    ) -> Outcome:
        """Deliver what came of a decision; then reflect on it.

        The outcome is used only by decisions at or after ``known_at``. Outcomes may come late and in any order.

        Parameters
        ----------
        decision_id
            A decision of this agent that waits for its outcome.
        returns
            Simple returns of the holding period: daily, (n_days, n_assets), or one period, (n_assets,). What is
            labelled by asset (a mapping, a series, a frame) is read by its labels.
        known_at
            When the outcome was known (aware); by default the clock's time.

        Raises
        ------
        DecisionError
            When the decision is unknown or already settled; nothing is changed.
        PricesError
            When a return is missing or impossible.
        TimeError
            When the outcome is dated before its decision.
        """
        return _run(self.asettle(decision_id, returns, known_at=known_at))

    async def asettle(
        self, decision_id: str, returns: ArrayLike | Mapping[str, float], *, known_at: datetime | None = None
    ) -> Outcome:
        """:meth:`settle` for code that runs in an event loop."""
        trial = self._opened()
        known = utc(known_at or self._clock(), "known_at")
        decision = self._waiting(decision_id, trial)
        if known < decision.decided_at:
            raise TimeError(
                f"the outcome of {decision_id} is dated {known.isoformat()}, before its decision at "
                f"{decision.decided_at.isoformat()}; check known_at"
            )
        daily = self._daily(returns)
        outcome = self._guarded(lambda: self._learn(trial, decision, daily, known))
        await self._catch_up()
        return outcome

    def _learn(self, trial: Trial, decision: Decision, daily: NDArray[np.float64], known: datetime) -> Outcome:
        own, drafts, mixes = self._earned(decision, daily)
        designed = drafts[: trial.drafts_of(decision.id)]
        learned = trial.settle(decision.id, utilities=designed, blend_utilities=mixes, known_at=known)
        outcome = Outcome(
            decision_id=decision.id,
            known_at=known,
            returns=tuple(as_weights(row) for row in daily.tolist()),
            utility=own,
            draft_utilities=tuple(None if np.isnan(value) else float(value) for value in drafts),
            blend_utilities=None if mixes is None else as_weights(mixes.tolist()),
            contributions=learned.contributions,
            scores=learned.scores,
        )
        self.store.add_outcome(outcome)
        self._unreflected[decision.id] = None
        self._events += 1
        return outcome

    def _earned(
        self, decision: Decision, daily: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64] | None]:
        """Utility of the action, of every draft (NaN where missing) and of every blend, from the same holdings."""
        valid = np.array([weights is not None for weights in decision.projected])
        rows = [np.array(decision.action)[None]]
        made = [weights for weights in decision.projected if weights is not None]
        rows.append(np.array(made).reshape(-1, len(self.assets)))
        if decision.mean_draft is not None:
            rows.append(blends(np.array(decision.reference), np.array(decision.mean_draft)))
        earned = utilities(
            np.concatenate(rows),
            daily,
            holdings=np.array(decision.holdings),
            risk_aversion=decision.risk_aversion,
            cost=decision.cost,
        )
        drafts = np.full(len(valid), np.nan)
        drafts[valid] = earned[1 : 1 + int(valid.sum())]
        mixes = earned[1 + int(valid.sum()) :] if decision.mean_draft is not None else None
        return float(earned[0]), drafts, mixes

    def expire(self, decision_id: str) -> None:
        """Give up on a decision whose outcome will never come: nothing is learned from it."""
        trial = self._opened()
        self._waiting(decision_id, trial)
        self._guarded(lambda: (trial.expire(decision_id), self.store.expire(decision_id)))
        self._events += 1

    # --------------------------------------------------------------- reflect

    async def areflect(self, decision: Decision, outcome: Outcome) -> None:
        """Turn a settled decision into an experience that can be recalled from ``outcome.known_at`` on."""
        if self._reflector is None:
            return
        moves = np.prod(1.0 + np.array(outcome.returns), axis=0) - 1.0
        made = self._reflector(
            Settled(
                decision_id=decision.id,
                decided_at=decision.decided_at,
                situation=decision.situation,
                state_text=decision.state_text,
                assets=decision.assets,
                weights=decision.action,
                asset_returns=as_weights(moves.tolist()),
                known_at=outcome.known_at,
                reference_return=float(np.dot(decision.reference, moves)),
            )
        )
        experience = await made if inspect.isawaitable(made) else made
        if not isinstance(experience, Experience):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(
                f"the reflector returned {type(experience).__name__} for decision {decision.id}, not an Experience; "
                f"the outcome is kept, and is reflected on again at the next call"
            )
        if experience.known_at < outcome.known_at:
            raise TimeError(
                f"the reflector dates its experience of decision {decision.id} {experience.known_at.isoformat()}, "
                f"before the outcome was known at {outcome.known_at.isoformat()}; it would be seen too early"
            )
        self.remember(replace(experience, decision_id=decision.id))

    async def _catch_up(self) -> None:
        """Reflect on every settled decision that has no experience yet, also after a run was cut off in between."""
        if self._reflector is None or not self._unreflected:
            return
        done = self.store.remembered(self.scope)
        for identity in list(self._unreflected):
            decision, outcome = self.store.decision(identity, as_of=_END), self.store.outcome(identity, as_of=_END)
            if identity not in done and decision is not None and outcome is not None:
                await self.areflect(decision, outcome)
            self._unreflected.pop(identity, None)

    def remember(self, *experiences: Experience) -> None:
        """Put experiences into the memory; one that is already there stays as it is."""
        vectors = self._embedder.embed([experience.situation for experience in experiences])
        items = zip(experiences, vectors, strict=True)
        self.store.add_experiences(self.scope, items, embedder=self._embedder.identity)

    # --------------------------------------------------------------- reading

    @property
    def trial(self) -> Trial:
        """The trial in its present state, for reading."""
        return self._opened()

    def values(self, as_of: datetime) -> tuple[Value, ...]:
        """What every experience was known to be worth at a time: only decisions and outcomes known by then count."""
        moment = utc(as_of, "as_of")
        replay = self._replayed(until=moment)
        return replay.trial.values(at=moment)

    def standings(self, as_of: datetime, *, alpha: float = 0.05) -> tuple[Standing, ...]:
        """Which memories were shown to help, which to harm (they are proposed for retirement), which are not known.

        Parameters
        ----------
        as_of
            Only decisions and outcomes known by then count (aware).
        alpha
            Largest expected share of false verdicts among those given, whenever one looks.
        """
        return standings(
            self.store,
            scope=self.scope,
            agent=self.name,
            as_of=as_of,
            alpha=alpha,
            holding=self.settings.holding if self.settings.holding > 1 else None,
        )

    def close(self) -> None:
        """Close the memory if this agent opened it."""
        if self._owns_store:
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -------------------------------------------------------------- internal

    def _opened(self) -> Trial:
        """The trial, rebuilt from the journal when it is not in step with it.

        That is so on first use, after a write that failed, and when another process has written.
        """
        events = self.store.count_events(self.scope, self.name)
        if self._trial is None or self._events != events:
            replay = self._replayed(until=_END)
            self._trial, self._content, self._last = replay.trial, replay.content, replay.last
            self._unreflected = replay.settled
            if self._reflector is not None and self._unreflected:
                for identity in self.store.remembered(self.scope):
                    self._unreflected.pop(identity, None)
            self._events = events
        return self._trial

    def _replayed(self, until: datetime) -> Replay:
        return replayed(
            self.store,
            scope=self.scope,
            agent=self.name,
            assets=self.assets,
            settings=self.settings,
            embedder=self._embedder,
            until=until,
        )

    def _guarded(self, step: Callable[[], T]) -> T:
        """Run a step that changes trial and store together; if it fails, the next use starts from the store."""
        try:
            return step()
        except BaseException:  # also an interrupt leaves the two out of step
            self._trial = None
            raise

    def _seen(self, state: State | str, at: datetime | None, holdings: ArrayLike | Mapping[str, float] | None) -> State:
        if not isinstance(state, State | str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"a state is a text or a memtrial.State, not {type(state).__name__}")
        if isinstance(state, str):
            moment = utc(at or self._clock(), "at")
            state = State(decided_at=moment, text=state, situation=state, assets=self.assets)
        elif at is not None and utc(at, "at") != state.decided_at:
            raise TimeError(f"at is {at.isoformat()} but the state was taken at {state.decided_at.isoformat()}")
        if state.assets != self.assets:
            raise InputError(f"the state is about {list(state.assets)}, the agent about {list(self.assets)}")
        given = state.holdings if holdings is None else holdings
        held = self._held(state.decided_at) if given is None else self._allocation(given)
        return replace(state, holdings=as_weights(held.tolist()))

    def _allocation(self, given: ArrayLike | Mapping[str, float]) -> NDArray[np.float64]:
        try:
            listed = _listed(given, self.assets)
        except ValueError as error:
            raise WeightsError(f"the holdings do not fit the assets: {error}") from error
        return check_weights(listed, self.assets)

    def _in_order(self, at: datetime) -> None:
        if self._last is not None and at <= self._last.decided_at:
            raise TimeError(
                f"a decision at {at.isoformat()} comes after one at {self._last.decided_at.isoformat()} was taken; "
                f"take decisions in the order of time, or use another agent name"
            )

    def _held(self, at: datetime) -> NDArray[np.float64]:
        earlier = self._last
        if earlier is None:
            return np.array(self.reference)
        outcome = self.store.outcome(earlier.id, as_of=at)
        if outcome is None:
            return np.array(earlier.action)
        return drift(np.array(earlier.action), np.array(outcome.returns))

    def _decision_id(self, at: datetime) -> str:
        return f"{at:%Y%m%dT%H%M}-{fingerprint([self.scope, self.name, at.isoformat()])[:8]}"

    def _already(self, state: State) -> Decision | None:
        """The decision that was taken at this time, if it is the one that is asked for."""
        known = self.store.decision(self._decision_id(state.decided_at), as_of=state.decided_at)
        if known is None:
            self._in_order(state.decided_at)
            return None
        mine = (state.text, state.situation, str(self.mandate), policy_identity(self._policy))
        if (known.state_text, known.situation, known.mandate, known.policy) != mine:
            raise DecisionError(
                f"decision {known.id} was already taken at {state.decided_at.isoformat()} on another state, or under "
                f"another mandate or policy; decide at a later time, or use another agent name"
            )
        return known

    def _waiting(self, decision_id: str, trial: Trial) -> Decision:
        decision = self.store.decision(decision_id, as_of=_END)
        if decision is None or (decision.scope, decision.agent) != (self.scope, self.name):
            raise DecisionError(
                f"decision {decision_id} is unknown to agent {self.name!r} in scope {self.scope!r}; "
                f"pass the id of one of its decisions"
            )
        if decision_id not in trial.pending:
            raise DecisionError(f"decision {decision_id} was already settled or expired; its outcome stays as it was")
        return decision

    def _daily(self, returns: ArrayLike | Mapping[str, float]) -> NDArray[np.float64]:
        try:
            values = np.asarray(_listed(returns, self.assets), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise PricesError(f"returns are not a table of numbers ({error})") from error
        return check_returns(values[None] if values.ndim == 1 else values, len(self.assets))


_END = datetime.max.replace(tzinfo=UTC)


def _listed(given: object, assets: tuple[str, ...]) -> ArrayLike:
    """What is labelled by asset (a mapping, a series, a frame) in the order of ``assets``; anything else as it is."""
    labels: object = getattr(given, "columns", None)
    if labels is None:
        keys = getattr(given, "keys", None)
        if keys is None:
            return cast("ArrayLike", given)
        labels = keys()
    names = list(cast("Iterable[object]", labels))
    if names == list(range(len(names))):  # a series or frame without labels of its own
        return np.asarray(given)
    if set(names) != set(assets) or len(names) != len(assets):
        raise ValueError(f"they name {', '.join(map(str, names))}; give one for each of {', '.join(assets)}")
    return np.array([np.asarray(cast("Any", given)[asset], dtype=np.float64) for asset in assets]).T


def _long_only(assets: tuple[str, ...]) -> Mandate:
    nothing = (False,) * len(assets)
    return Mandate(
        name="long-only",
        risky_cap=1.0,
        defensive_floor=0.0,
        risk_aversion=5.0,
        risky=nothing,
        defensive=nothing,
        assets=assets,
    )


def _projected(mandate: Mandate, drafts: tuple[Draft, ...]) -> tuple[Weights | None, ...]:
    """Each draft projected first (averaging comes later: both ends of the blend then satisfy the mandate)."""
    raw = [draft.weights for draft in drafts if draft.weights is not None]
    done = iter(mandate.project(np.array(raw)).tolist() if raw else ())
    return tuple(None if draft.weights is None else as_weights(next(done)) for draft in drafts)


def _mean(projected: tuple[Weights | None, ...]) -> Weights | None:
    rows = [weights for weights in projected if weights is not None]
    return as_weights(np.mean(np.array(rows), axis=0).tolist()) if rows else None


def _rows(projected: tuple[Weights | None, ...], assets: tuple[str, ...]) -> NDArray[np.float64]:
    """The drafts as (n_drafts, n_assets), a row of NaN where one is missing."""
    missing = (np.nan,) * len(assets)
    return np.array([weights or missing for weights in projected])


def _prompt(state: State, experiences: Sequence[Experience]) -> str:
    return fingerprint([state.text, [experience.text for experience in experiences]])


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run ``coroutine`` to its end, also from inside a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
