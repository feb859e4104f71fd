"""The style and the script of the page of a day."""

STYLE = """
:root { --bg: #fff; --fg: #1c2024; --soft: #667; --line: #d5d9de; --panel: #f5f6f8; }
.s-F { --c: #c62828; --t: #fff; } .s-P { --c: #8e24aa; --t: #fff; } .s-R { --c: #1565c0; --t: #fff; }
.s-W { --c: #f6c344; --t: #222; } .s-N { --c: #e3e6ea; --t: #444; } .s-M { --c: #00838f; --t: #fff; }
.s-S { --c: #2e7d32; --t: #fff; } .s-E { --c: #fff; --t: #888; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #14171a; --fg: #e6e8ea; --soft: #9aa3ad; --line: #333a41; --panel: #1c2126; }
  .s-N { --c: #30373e; --t: #cdd3d9; } .s-E { --c: #14171a; --t: #8a929a; } .s-S { --c: #388e3c; }
}
* { box-sizing: border-box; }
body { margin: 0; display: flex; background: var(--bg); color: var(--fg);
  font: 14px/1.45 system-ui, sans-serif; }
main { flex: 1; min-width: 0; padding: 1rem 1.25rem; }
aside { width: 21rem; flex: none; padding: 1rem; background: var(--panel); border-left: 1px solid var(--line);
  position: sticky; top: 0; height: 100vh; overflow: auto; overflow-wrap: anywhere; }
@media (max-width: 60rem) { body { display: block; } aside { width: auto; height: auto; position: static; } }
h1 { font-size: 1.3rem; margin: 0; } h2 { font-size: 1rem; margin: 1rem 0 .4rem; }
aside h2:first-child { margin-top: 0; } h3 { font-size: .95rem; margin: .9rem 0 .2rem; }
.note { color: var(--soft); } .scroll { overflow-x: auto; }
.legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .3rem 1rem; }
table { border-collapse: collapse; } td { padding: 1px; }
th { font-weight: 500; padding: 1px 4px; color: var(--soft); }
th[scope=row] { text-align: left; color: var(--fg); white-space: nowrap; position: sticky; left: 0;
  background: var(--bg); }
.cell { display: inline-block; width: 26px; height: 24px; padding: 0; text-align: center; line-height: 22px;
  font: 600 12px/22px ui-monospace, monospace; color: var(--t); background: var(--c);
  border: 1px solid var(--line); border-radius: 4px; }
button.cell { cursor: pointer; } sub { font-size: 8px; line-height: 0; }
.cell.chosen, .cell:focus-visible { outline: 2px solid var(--fg); outline-offset: 1px; }
svg text { font: 12px system-ui, sans-serif; fill: var(--fg); }
svg .hour { text-anchor: middle; fill: var(--soft); }
.node { cursor: pointer; } .node circle { fill: var(--c); stroke: var(--line); }
.node text { fill: var(--t); text-anchor: middle; font-weight: 600; font-size: 11px; }
.node.chosen circle, .node:focus-visible circle { stroke: var(--fg); stroke-width: 2.5; }
.node:focus { outline: none; }
.edge { fill: none; stroke: var(--soft); stroke-width: 1; opacity: .45; } #tip path { fill: var(--soft); }
.edge.chosen { stroke: var(--fg); stroke-width: 2; opacity: 1; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .1rem .6rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; } code { font-size: 12px; }
ul { margin: .2rem 0; padding-left: 1.1rem; }
"""

SCRIPT = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const panel = document.getElementById("details");
function add(parent, tag, text) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}
function list(parent, title, lines) {
  if (!lines.length) return;
  add(parent, "strong", title);
  const items = add(parent, "ul");
  for (const line of lines) add(items, "li", line);
}
function show(id) {
  const cell = data.cells[id];
  if (!cell) return;
  for (const each of document.querySelectorAll(".chosen")) each.classList.remove("chosen");
  for (const each of document.querySelectorAll("[data-cell]"))
    if (each.dataset.cell === id) each.classList.add("chosen");
  for (const each of document.querySelectorAll(".edge"))
    if (each.dataset.from === id || each.dataset.to === id) each.classList.add("chosen");
  panel.replaceChildren();
  add(panel, "h2", cell.task);
  for (const one of cell.instances) {
    add(panel, "h3", one.key);
    const fields = add(panel, "dl");
    for (const [name, value] of one.fields) { add(fields, "dt", name); add(fields, "dd", value); }
    list(panel, "Upstream", one.upstream);
    add(panel, "code", one.command);
  }
  if (cell.more) add(panel, "p", "and " + cell.more + " more of this hour");
  const name = (other) => data.cells[other].task + " " + data.cells[other].instances[0].key;
  const consumers = data.edges.filter((edge) => edge[0] === id).map((edge) => name(edge[1]));
  list(panel, "Consumers", consumers);
}
document.addEventListener("click", (event) => {
  const found = event.target.closest("[data-cell]");
  if (found) show(found.dataset.cell);
});
document.addEventListener("keydown", (event) => {
  const found = event.target.closest("g[data-cell]");
  if (!found || (event.key !== "Enter" && event.key !== " ")) return;
  event.preventDefault();
  show(found.dataset.cell);
});
"""
