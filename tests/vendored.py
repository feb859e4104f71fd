"""`make vendor`: what the board has of others, fetched from the npm registry, with the licences.

The files are committed, so neither a build nor a test needs the network: a test compares their hashes with
those written here. A new version is a new line of `PACKAGES` with the hashes that this module then prints.
"""

import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parents[1] / "tidegate" / "server" / "board" / "static" / "vendor"
FETCH_SECONDS = 120


class Package(NamedTuple):
    """A package of the registry in its exact version.

    Attributes:
        files: what is taken of it: the path in the package, the name here, the sha256 of its content.
    """

    name: str
    version: str
    files: tuple[tuple[str, str, str], ...]


PACKAGES = (
    Package(
        "@fontsource-variable/inter",
        "5.3.0",
        (
            (
                "files/inter-latin-wght-normal.woff2",
                "inter.woff2",
                "3100e775e8616cd2611beecfa23a4263d7037586789b43f035236a2e6fbd4c62",
            ),
            (
                "LICENSE",
                "inter-LICENSE",
                "3b0a5fca3d17942cde889069889dedbbbd075e9b599968c82a95f4d944e9b345",
            ),
        ),
    ),
    Package(
        "@fontsource-variable/jetbrains-mono",
        "5.3.0",
        (
            (
                "files/jetbrains-mono-latin-wght-normal.woff2",
                "jetbrains-mono.woff2",
                "18be452724bfdc236c074ca94a249a7f41a86752c7d04ab258ce9ed5651f6a7e",
            ),
            (
                "LICENSE",
                "jetbrains-mono-LICENSE",
                "403581b69dac5cff4079205e01c6b467e56af449ecbd7247693ddb1baafa005b",
            ),
        ),
    ),
    Package(
        "@dagrejs/dagre",
        "3.1.3",
        (
            (
                "dist/dagre.esm.js",
                "dagre.esm.js",
                "b0ddaf4af1417bec9bd89373a3a3987f081727d6cc6d95fc40dbf85a19bdf3b0",
            ),
            (
                "LICENSE",
                "dagre-LICENSE",
                "6a349742a6cb219d5a2fc8d0844f6d89a6efc62e20c664450d884fc7ff2d6015",
            ),
        ),
    ),
)


def hashes() -> dict[str, str]:
    """Return the hash of each vendored file, as written here."""
    return {name: sha256 for package in PACKAGES for _, name, sha256 in package.files}


def fetch(package: Package, folder: Path) -> list[str]:
    """Write the files of a package, and return those whose content is not the one that is written here."""
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as kept:
        command = ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
        subprocess.run(command, cwd=kept, check=True, timeout=FETCH_SECONDS, stdin=subprocess.DEVNULL)
        (archive,) = Path(kept).glob("*.tgz")
        with tarfile.open(archive) as packed:
            for path, name, sha256 in package.files:
                member = packed.extractfile(f"package/{path}")
                assert member is not None, path
                content = member.read()
                found = hashlib.sha256(content).hexdigest()
                if found == sha256:
                    (folder / name).write_bytes(content)
                else:
                    wrong.append(f"{name}: {found}")
    return wrong


def main() -> int:
    """Fetch all, and return the exit code."""
    wrong = [line for package in PACKAGES for line in fetch(package, FOLDER)]
    for line in wrong:
        print(f"error: another content than the one in {__file__}: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
