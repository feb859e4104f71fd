"""The child process that loads locations: `python -m tidegate.dagster_defs.compare.process FILE`.

It reads a `Request` from the standard input and writes `Answers` to the file: the code of the locations may
print. It ends at once then, without waiting for locations that hang; who started it ends the code servers.
"""

import os
import sys
import traceback
from pathlib import Path

import msgspec

from tidegate.dagster_defs.compare.answers import answer_all
from tidegate.dagster_defs.compare.loading import load_locations
from tidegate.dagster_defs.compare.question import Request


def main() -> None:
    """Load and compare, as the standard input asks."""
    answer_file = Path(sys.argv[1])
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    answers = answer_all(request, load_locations(request))
    answer_file.write_bytes(msgspec.json.encode(answers))


if __name__ == "__main__":
    code = 1
    try:
        main()
        code = 0
    except Exception:  # noqa: BLE001 -- the process ends by `_exit`, which prints nothing
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
