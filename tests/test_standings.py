"""A verdict on every memory, from an agent's journal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from agent_worlds import ASSETS, EMBEDDER, run, tilting
from typer.testing import CliRunner

from memtrial import Store
from memtrial.agent import Agent
from memtrial.serve.cli import app
from memtrial.standings import _betting, _usual_wait
from memtrial.trial import Standings, centre

END = datetime(2100, 1, 1, tzinfo=UTC)


def deployed(path: Path, weeks: int = 60) -> Agent:
    agent = Agent(memory=path, policy=tilting, assets=ASSETS, embedder=EMBEDDER)
    run(agent, weeks)
    return agent


def test_standings_are_those_of_the_contributions_in_the_order_of_time(tmp_path: Path) -> None:
    with deployed(tmp_path / "a.db") as agent:
        found = agent.standings(END)
        outcomes = agent.store.outcomes("default", "agent", as_of=END)
        decisions = {item.id: item for item in agent.store.decisions("default", "agent", as_of=END)}
    alone = Standings()
    for outcome in outcomes:
        if outcome.contributions:
            ids = [experience.id for experience in decisions[outcome.decision_id].recall.experiences]
            alone.observe(ids, centre(np.array(outcome.contributions)))
    assert {item.id: item.n for item in found} == {item.id: item.n for item in alone.standing()}
    assert any(item.n > 3 for item in found)


def test_nothing_known_later_counts(tmp_path: Path) -> None:
    with deployed(tmp_path / "a.db") as agent:
        middle = agent.store.decisions("default", "agent", as_of=END)[30].decided_at
        early = agent.standings(middle)
    with deployed(tmp_path / "b.db", 31) as agent:
        assert agent.standings(middle) == early


def test_an_outcome_that_comes_late_is_not_bet_on_by_the_decisions_before_it(tmp_path: Path) -> None:
    """One that never comes closes nothing: later decisions of its turn measure, but do not bet."""
    with deployed(tmp_path / "a.db", 12) as agent:
        at = agent.store.decisions("default", "agent", as_of=END)[-1].decided_at
        waiting = agent.decide("An outcome that is late.", at=at + timedelta(days=7))
        for week in range(2, 12):
            decision = agent.decide(f"Week {week} after it.", at=at + timedelta(days=7 * week))
            returns = np.linspace(-0.02, 0.02, len(ASSETS)) * (1 if week % 2 else -1)
            agent.settle(decision.id, returns, known_at=at + timedelta(days=7 * week + 3))
        decisions = agent.store.decisions("default", "agent", as_of=END)
        outcomes = agent.store.outcomes("default", "agent", as_of=END)
    sequence = {decision.id: decision.sequence for decision in decisions}
    late = sequence[waiting.id]
    bets = {turns: {sequence[name] for name in _betting(decisions, outcomes, (), turns)} for turns in (1, 2)}
    assert bets[1] == set(range(late + 1))
    assert bets[2] == set(range(late + 1)) | {late + 1 + 2 * step for step in range(5)}
    assert _usual_wait(decisions, outcomes) == 1


def test_the_command_names_the_agents_it_knows(tmp_path: Path) -> None:
    with deployed(tmp_path / "a.db", 12):
        pass
    url = f"sqlite:///{tmp_path / 'a.db'}"
    shown = CliRunner().invoke(app, ["memories", "--db", url])
    assert shown.exit_code == 0
    assert "are not known" in shown.output.replace("\n", " ")
    wrong = CliRunner().invoke(app, ["memories", "--db", url, "--agent", "nobody"])
    assert "agent agent in scope default" in str(wrong.exception)


def test_agents_are_listed_in_the_order_of_their_first_decisions(tmp_path: Path) -> None:
    with deployed(tmp_path / "a.db", 2) as agent:
        Agent(memory=agent.store, policy=tilting, assets=ASSETS, embedder=EMBEDDER, name="b").decide("x", at=END)
    with Store(tmp_path / "a.db", create=False) as store:
        assert store.agents() == (("default", "agent"), ("default", "b"))
