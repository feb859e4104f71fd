"""What each deployment wrote: the apps and schedules that are deployed now are those of the last one."""

import json
import zlib
from base64 import b64encode
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0024"

NAME = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the table, with what is deployed."""
    table = op.create_table(
        "specifications",
        sa.Column("ref", NAME, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("app", NAME, nullable=False),
        sa.PrimaryKeyConstraint("ref", "number", name="pk_specifications"),
    )
    op.create_index("ix_specifications_app", "specifications", ["app", "number"])
    op.create_index("ix_specifications_number", "specifications", ["number"])
    bind = op.get_bind()
    number = bind.execute(sa.text("SELECT max(number) FROM journal WHERE kind = 'deploy'")).scalar() or 0
    rows = [_app(row, number) for row in bind.execute(sa.text("SELECT * FROM apps")).mappings()]
    for row in bind.execute(sa.text("SELECT ref, spec FROM schedules")).mappings():
        app = row["ref"].partition("/")[0]
        content = _content(row["spec"])
        rows.append({"ref": row["ref"], "number": number, "content": content, "app": app})
    if rows:
        op.bulk_insert(table, rows)


def _app(row: sa.RowMapping, number: int) -> dict[str, object]:
    deployed = {
        "app": json.loads(row["spec"]),
        "revision": row["revision"],
        "deployed_at": _instant(row["deployed_at"]),
        "project": row["project"],
    }
    content = _content(json.dumps(deployed))
    return {"ref": row["name"], "number": number, "content": content, "app": row["name"]}


def _content(text: str) -> str:
    return b64encode(zlib.compress(text.encode())).decode()


def _instant(microseconds: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)).isoformat()
