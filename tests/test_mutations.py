"""The mutation audit: defects are what claims say they notice, are put in and taken out again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from verification import Settings, mutations
from verification.defects import DEFECTS

from restive.learners.paper.rules import Optimism
from restive.paper import audits
from restive.paper.catalogue import CLAIMS
from restive.paper.claim import Claim, Finding, Measurement


def test_claims_and_defects_name_each_other():
    promised = {name for claim in CLAIMS for name in claim.notices}
    assert promised <= DEFECTS.keys()
    assert all(mutations.notices(name) or DEFECTS[name].tests for name in DEFECTS)
    assert len(DEFECTS) >= 25
    by_name = {claim.name: claim for claim in CLAIMS}
    assert [name for name in mutations.LEARNING if not by_name[name].notices] == []
    assert set(mutations.QUICK) <= DEFECTS.keys()


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_replaces_something_and_leaves_nothing_behind(name):
    patches = DEFECTS[name].patches()
    before = [getattr(owner, attribute) for owner, attribute, _ in patches]
    with DEFECTS[name].applied():
        for (owner, attribute, _), honest in zip(patches, before, strict=True):
            assert getattr(owner, attribute) is not honest
    assert [getattr(owner, attribute) for owner, attribute, _ in patches] == before
    assert patches


def told(verdict, expected="holds"):
    def judge(scale, results):
        if verdict == "error":
            raise ValueError("broken")
        return Finding("", "", "", verdict)

    return Claim("one", "", "", Measurement("m", lambda scale: [1], lambda cell: cell), judge,
                 expected)  # fmt: skip


@pytest.mark.parametrize(
    ("verdict", "noticed"),
    [("holds", False), ("fails", True), ("not decided", True), ("error", True)],
)
def test_any_other_verdict_and_any_error_is_noticed(verdict, noticed):
    (answer,) = mutations.audit("radii-3", [told(verdict)])
    assert answer.noticed is noticed
    assert not mutations.audit("radii-3", [told("fails", "fails")])[0].noticed


def test_tests_that_fail_notice_too():
    answers = mutations.audit("certificate-without-aggregation", [])
    assert [answer.noticed for answer in answers] == [True]


def test_a_claim_that_misses_what_it_promised_fails_the_audit(monkeypatch):
    claim = replace(told("holds"), notices=("radii-3",))
    monkeypatch.setattr(mutations, "CLAIMS", (claim,))
    monkeypatch.setattr(mutations, "QUICK", ("radii-3",))
    (finding,) = mutations.check_mutations(Settings(quick=True))
    assert finding.verdict == "FAIL"
    monkeypatch.setattr(mutations, "CLAIMS", (replace(claim, judge=told("fails").judge),))
    (finding,) = mutations.check_mutations(Settings(quick=True))
    assert (finding.verdict, "one: fails" in finding.measured) == ("pass", True)


def test_an_audit_goes_on_where_it_was_unless_the_code_is_another(tmp_path, monkeypatch):
    asked = []
    answer = mutations.Noticed("radii-3", "one", True, "fails", 1.0)
    monkeypatch.setattr(mutations, "audit", lambda name: asked.append(name) or [answer])
    assert mutations.Answers(tmp_path).of("radii-3") == [answer]
    assert mutations.Answers(tmp_path).of("radii-3") == [answer]
    assert asked == ["radii-3"]
    mutations.Answers(tmp_path).of("myopic")
    monkeypatch.setattr(mutations, "_code", lambda: "another")
    assert mutations.Answers(tmp_path).of("radii-3") == [answer]
    assert asked == ["radii-3", "myopic", "radii-3"]
    mutations.Answers(None).of("radii-3")
    assert len(asked) == 4


def test_the_table_has_a_row_for_every_defect_and_learning_claim():
    answers = [mutations.Noticed("myopic", "ucrl2", True, "fails", 1.0),
               mutations.Noticed("myopic", "logarithm", False, "holds", 1.0)]  # fmt: skip
    text = mutations.table(answers)
    assert "| ucrl2 (fails) | logarithm |" in text
    assert "| ucrl2 | myopic |" in text
    assert "| logarithm |  |" in text


def test_radii_are_back_after_the_audit():
    honest = Optimism.radii
    mutations.audit("radii-0.3", [told("fails")])
    assert Optimism.radii is honest


@pytest.mark.parametrize(("defect", "claim"), [("bound-constant", "simplification"),
                                               ("delta-not-shared", "algorithm-2"),
                                               ("cover-constant", "cover-time")])  # fmt: skip
def test_some_defects_are_noticed(defect, claim):
    (asked,) = (entry for entry in CLAIMS if entry.name == claim)
    (answer,) = mutations.audit(defect, [asked])
    assert (answer.noticed, answer.words) == (True, "fails")


def test_an_mdp_s_samples_are_counted_once_more():
    """Outcomes by where they lead, and episodes that only unknown colors end."""
    honest = audits.audit_mdp(0, 500, known=True)
    assert honest.off < 1e-12
    assert honest.early == 0
    with DEFECTS["outcomes-mixed-up"].applied():
        assert audits.audit_mdp(0, 500).off > 0.01
    with DEFECTS["known-colors-end-episodes"].applied():
        assert audits.audit_mdp(0, 500, known=True).early > 0


PAGES = Path(__file__).resolve().parents[1] / "docs"


def test_the_pages_have_a_row_for_every_defect_and_claim():
    audit = (PAGES / "verification" / "mutations.md").read_text("utf-8")
    assert [name for name in DEFECTS if f"| {name} |" not in audit] == []
    assert [name for name in mutations.LEARNING if f"| {name} |" not in audit] == []
    claims = (PAGES / "paper.md").read_text("utf-8")
    assert [claim.name for claim in CLAIMS if f"| {claim.name} |" not in claims] == []
    assert f"{len(CLAIMS)} claims:" in claims
    assert f"in {len(DEFECTS)} ways" in audit.replace("\n", " ")
