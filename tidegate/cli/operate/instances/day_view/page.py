"""The page of a day: one HTML file with the matrix, the graph of instances and the details of each cell.

It needs nothing from elsewhere: style and script are inside, and its policy forbids every request. All names
are escaped; the script shows them as text, never as markup.
"""

import json
from datetime import datetime
from html import escape
from typing import Any

from tidegate.cli.operate.instances.day_view.graph import NODES_MAX, graph_edges, node_id, svg
from tidegate.cli.operate.instances.day_view.page_parts import SCRIPT, STYLE
from tidegate.cli.printing import instant
from tidegate.domain.wording import plural
from tidegate.scheduler.explain.instances.day_matrix import HOURS, Entry, Matrix, Row, Sign, worst
from tidegate.scheduler.explain.instances.facts import notes, reason_text
from tidegate.scheduler.explain.instances.no_edge import no_edge_help, no_edge_line

DETAILED_MAX = 20
"""So many instances of a cell have their details in the page, the worst first."""

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def page(matrix: Matrix, now: datetime) -> str:
    """Return the page."""
    title = f"Tasks of {matrix.day.isoformat()}"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{escape(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
<p class="note">As of {instant(now)}; hours are those of each task's own zone.</p>
{_legend(matrix)}
<h2>Matrix</h2>
{_table(matrix)}
<h2>Graph of instances</h2>
{_graph(matrix)}
</main>
<aside id="details" aria-live="polite"><h2>Details</h2><p>Click a cell or a node.</p></aside>
<script type="application/json" id="data">{_data(matrix)}</script>
<script>{SCRIPT}</script>
</body>
</html>
"""


def _legend(matrix: Matrix) -> str:
    counts = matrix.counts
    items = (
        f'<li><span class="cell s-{sign}">{sign}</span> {sign.label} {counts.get(sign, 0)}</li>'
        for sign in Sign
    )
    return f'<ul class="legend">{"".join(items)}</ul>'


def _table(matrix: Matrix) -> str:
    if not matrix.rows:
        return "<p>No task has an instance on this day.</p>"
    hours = "".join(f'<th scope="col">{hour}</th>' for hour in range(HOURS))
    rows = "\n".join(_row(number, row) for number, row in enumerate(matrix.rows))
    return (
        f'<div class="scroll"><table><thead><tr><th scope="col">task</th>{hours}</tr></thead>'
        f"<tbody>\n{rows}\n</tbody></table></div>"
    )


def _row(number: int, row: Row) -> str:
    suspended = "" if row.status == "active" else f' <em class="note">{escape(row.status)}</em>'
    cells = "".join(_cell(number, hour, row) for hour in range(HOURS))
    return (
        f'<tr><th scope="row" title="{escape(row.timezone)}">{escape(row.task)}{suspended}</th>{cells}</tr>'
    )


def _cell(number: int, hour: int, row: Row) -> str:
    cell = row.cells.get(hour, ())
    if not cell:
        return "<td></td>"
    sign = worst(cell)
    label = escape(f"{row.task} {cell[0].instance.key}: {sign.label}")
    count = f"<sub>{len(cell)}</sub>" if len(cell) > 1 else ""
    return (
        f'<td><button type="button" class="cell s-{sign}" data-cell="{node_id(number, hour)}" '
        f'title="{label}" aria-label="{label}">{sign}{count}</button></td>'
    )


def _graph(matrix: Matrix) -> str:
    nodes = sum(len(row.cells) for row in matrix.rows)
    if not nodes:
        return "<p>Nothing to draw.</p>"
    if nodes > NODES_MAX:
        return f"<p>{plural(nodes, 'node')} are too many to draw; choose an app with --app.</p>"
    missing = "" if matrix.edges_whole else '<p class="note">Only recorded edges are drawn.</p>'
    return f'{missing}<div class="scroll">{svg(matrix)}</div>'


# --- details ----------------------------------------------------------------------------


def _data(matrix: Matrix) -> str:
    """Return the details of the cells as JSON that cannot end its script element."""
    cells = {
        node_id(number, hour): _details(row, cell)
        for number, row in enumerate(matrix.rows)
        for hour, cell in row.cells.items()
    }
    found = {"cells": cells, "edges": graph_edges(matrix)}
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _details(row: Row, cell: tuple[Entry, ...]) -> dict[str, Any]:
    signs = list(Sign)
    ordered = sorted(cell, key=lambda entry: (signs.index(entry.sign), entry.instance.scheduled))
    return {
        "task": row.task,
        "more": max(0, len(cell) - DETAILED_MAX),
        "instances": [_instance(entry) for entry in ordered[:DETAILED_MAX]],
    }


def _instance(entry: Entry) -> dict[str, Any]:
    job, instance = entry.job, entry.instance
    reason = reason_text(job)
    summary = f"{reason}: {job.reason.summary}" if reason and job.reason is not None else ""
    fields = {
        "status": f"{entry.sign.label} since {instant(entry.since)}",
        "reason": summary,
        "detail": job.detail,
        "start": instant(instance.start),
        "business date": instance.business_date,
        "kind": ", ".join((str(instance.kind), *(each for each in notes(instance) if each != "outside"))),
        "attempt": str(instance.attempt) if instance.attempt else "",
        "run": job.run_id or "",
    }
    return {
        "key": instance.key,
        "sign": str(entry.sign),
        "fields": [[name, value] for name, value in fields.items() if value],
        "upstream": [f"{edge.task} {edge.key}, {edge.rule}" for edge in entry.upstream]
        + [f"{no_edge_line(each)}; {no_edge_help(each, job)}" for each in entry.diagnostics],
        "command": f"tidegate why {job.schedule} {instance.key}",
    }
