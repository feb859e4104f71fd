"""Each planted bug applies to the code as it is: a change of the code moves its patch in the same step."""

import re
import shutil
from pathlib import Path

import pytest

from tests.simulation.patch import apply_patch

PROJECT = Path(__file__).parents[2]
PATCHES = sorted((Path(__file__).parent / "planted").glob("*.patch"))


@pytest.mark.parametrize("patch", PATCHES, ids=lambda patch: patch.stem)
def test_a_patch_applies(patch: Path, tmp_path: Path) -> None:
    text = patch.read_text()
    for name in re.findall(r"^--- a/(\S+)", text, re.MULTILINE):
        copied = tmp_path / name
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, copied)
    apply_patch(text, tmp_path)
