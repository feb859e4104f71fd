"""The seeds that have failed once. They are played in every run, each with the steps it failed with."""

from pathlib import Path

SEEDS_FILE = Path(__file__).parent / "seeds.txt"


def kept_seeds() -> list[tuple[int, int]]:
    """Seed and steps of each."""
    lines = [line.split("#")[0].split() for line in SEEDS_FILE.read_text().splitlines()]
    return [(int(words[0]), int(words[1])) for words in lines if words]
