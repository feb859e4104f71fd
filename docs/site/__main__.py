"""`python -m docs.site [FOLDER]`: build the site; default: `build/site`."""

import sys
import tempfile
from pathlib import Path

from docs.site.build import build
from docs.site.pages import ROOT

target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
with tempfile.TemporaryDirectory() as staged:
    found = build(Path(staged), target)
for each in found:
    print(f"error: {each}", file=sys.stderr)
if found:
    sys.exit(1)
print(f"wrote {target}/index.html")
