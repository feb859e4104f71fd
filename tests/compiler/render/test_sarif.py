"""SARIF of diagnostics that the catalogue does not have: those of the rules of a house."""

from tidegate.compiler.diagnostics.diagnostic import Diagnostic
from tidegate.compiler.render.diagnostics.sarif import diagnostics_sarif
from tidegate.domain.model import At


def test_a_code_of_a_house_is_a_rule_without_a_text_and_an_unknown_version_is_left_out() -> None:
    found = Diagnostic(
        at=At(file="a.yaml", line=2, column=3),
        code="owners",
        severity="warning",
        end_column=8,
        summary="a schedule has an owner",
        hint="",
    )
    for version, named in ((None, {}), ("1.2", {"version": "1.2"})):
        (run,) = diagnostics_sarif([found], version)["runs"]
        assert run["tool"]["driver"] == {"name": "tidegate", "rules": [{"id": "owners"}], **named}
        (result,) = run["results"]
        assert (result["ruleIndex"], result["level"]) == (0, "warning")
        assert result["message"] == {"text": "a schedule has an owner"}
