// Draws the graph of *Datasets* from the JSON of the same page: cards that are links, edges, a map. It pans, zooms,
// folds apps, dims what was not chosen, and opens a drawer beside it. Without it the page has its lists.
import { closeButton, drawerOf } from "./dataset_drawer.js";
import { graphOf, WORST } from "./dataset_graph.js";
import { element, icon, iconAddress, link, shapeOf } from "./elements.js";
import { layOut } from "./layout.js";

const LETTER = 6.1;
const STEP = 60;
const ZOOM = 1.25;
const SCALES = { least: 0.2, readable: 0.74, natural: 1.15, most: 2.5 };
const EDGE = { x: 90, y: 40 };

const find = (id) => document.getElementById(id);
const figure = find("figure");
const canvas = find("canvas");
const world = find("world");
const map = find("map");
const drawer = find("drawer");
const search = find("search-datasets");

let page = null;
let drawn = null;
let open = new URLSearchParams(location.search).get("at");
let view = { x: 0, y: 0, scale: 1 };
const chosen = { states: new Set(), folded: new Set(), programs: false, triggers: true };

const fitted = (text, width) => {
  const most = Math.floor(width / LETTER);
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
};

// Drawing

function draw() {
  const focused = document.activeElement?.closest?.(".node")?.dataset.id;
  const lit = drawn.nodes.has(open) ? drawn.lineage(open) : null;
  const words = search.value.trim().toLowerCase();
  const isDim = (node) => (lit && !lit.has(node.id)) || !node.label.toLowerCase().includes(words)
    || (chosen.states.size > 0 && node.kind !== "program" && !chosen.states.has(node.state));
  world.replaceChildren(
    ...drawn.clusters.flatMap(clusterShapes),
    ...drawn.edges.map((edge) => edgeShape(edge, lit, isDim)),
    ...[...drawn.nodes.values()].map((node) => card(node, isDim(node))),
  );
  map.setAttribute("viewBox", `-20 -20 ${drawn.width + 40} ${drawn.height + 40}`);
  move();
  if (focused) world.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

const clusterShapes = ({ app, x, y, width, height }) => [
  element("rect", { class: "cluster", x, y, width, height, rx: 10 }),
  element("text", { class: "cluster-name", x: x + 10, y: y + 16 }, app),
];

function edgeShape(edge, lit, isDim) {
  const isLit = lit && lit.has(edge.from) && lit.has(edge.to);
  const dim = isDim(drawn.nodes.get(edge.from)) || isDim(drawn.nodes.get(edge.to));
  const names = ["edge-line", edge.starts.length && chosen.triggers && "trig", isLit ? "on" : dim && "dim"];
  const title = edge.starts.length ? element("title", {}, `starts ${edge.starts.join(", ")}`) : null;
  return element("path", { class: names.filter(Boolean).join(" "), d: curve(edge.points), "marker-end": "url(#arrow)" }, title);
}

function curve([first, ...rest]) {
  let last = first;
  const parts = rest.map((point) => {
    const middle = (last.x + point.x) / 2;
    const part = `C${middle},${last.y} ${middle},${point.y} ${point.x},${point.y}`;
    last = point;
    return part;
  });
  return `M${first.x},${first.y}${parts.join("")}`;
}

function card(node, dim) {
  const { width, height, label, says } = node;
  const names = ["node", node.kind, `s-${shapeOf(node.state)}`, dim && "dim", node.id === open && "on"];
  const attributes = {
    class: names.filter(Boolean).join(" "),
    href: node.href,
    "data-id": node.id,
    transform: `translate(${node.x - width / 2},${node.y - height / 2})`,
    "aria-label": node.name,
  };
  if (node.kind === "program") {
    return link(attributes,
      element("rect", { class: "box", width, height, rx: 14 }),
      element("use", { href: iconAddress("program"), x: 10, y: 8, width: 12, height: 12 }),
      element("text", { x: 27, y: 18.5 }, label));
  }
  const middle = height / 2;
  return link(attributes,
    element("rect", { class: "box", width, height, rx: 8 }),
    element("path", { class: "edge", d: `M0 8a8 8 0 0 1 4-7v${height - 2}a8 8 0 0 1-4-7z` }),
    element("use", { href: iconAddress(node.state ? shapeOf(node.state) : "datasets"), x: 13, y: middle - 16, width: 14, height: 14 }),
    element("text", { x: 33, y: middle - 4 }, fitted(label, width - 40)),
    element("text", { class: "sub", x: 33, y: middle + 12.5 }, fitted(says, width - 34)));
}

// The view

const room = () => canvas.getBoundingClientRect();

function move() {
  world.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.scale})`);
  const { width, height } = room();
  const whole = view.x >= 0 && view.y >= 0
    && view.x + drawn.width * view.scale <= width && view.y + drawn.height * view.scale <= height;
  map.classList.toggle("whole", whole);
  map.replaceChildren(
    ...[...drawn.nodes.values()].map((node) => element("rect", {
      class: ["failed", "late", "running"].includes(node.state) ? `s s-${node.state}` : "",
      x: node.x - node.width / 2, y: node.y - node.height / 2, width: node.width, height: node.height, rx: 8,
    })),
    element("rect", { class: "view", x: -view.x / view.scale, y: -view.y / view.scale, width: width / view.scale, height: height / view.scale }),
  );
}

const bounded = (value, least, most) => Math.min(most, Math.max(least, value));

// Fits the graph into its frame, as far as its texts stay readable; `all` fits it whole, however small.
function fit(all = false) {
  const { width, height } = room();
  const whole = Math.min((width - 24) / drawn.width, (height - 24) / drawn.height);
  const scale = bounded(whole, all ? SCALES.least : SCALES.readable, SCALES.natural);
  const extent = { x: drawn.width * scale, y: drawn.height * scale };
  view = { scale, x: Math.max(8, (width - extent.x) / 2), y: (height - extent.y) / 2 };
  const node = all ? null : drawn.nodes.get(open);
  if (node && extent.x > width) view.x = bounded(width / 2 - node.x * scale, width - 8 - extent.x, 8);
  if (extent.y > height) view.y = node ? height / 2 - node.y * scale : 8;
  move();
}

function zoom(factor, at = { x: room().width / 2, y: room().height / 2 }) {
  const scale = bounded(view.scale * factor, SCALES.least, SCALES.most);
  const kept = (middle, place) => middle - ((middle - place) * scale) / view.scale;
  view = { scale, x: kept(at.x, view.x), y: kept(at.y, view.y) };
  move();
}

function show(node) {
  const { width, height } = room();
  const x = node.x * view.scale + view.x;
  const y = node.y * view.scale + view.y;
  if (x < EDGE.x || x > width - EDGE.x) view.x += width / 2 - x;
  if (y < EDGE.y || y > height - EDGE.y) view.y += height / 2 - y;
  move();
}

// The drawer

function openDrawer(name) {
  const dataset = page.datasets.find((each) => each.name === name);
  if (!dataset) return closeDrawer();
  if (chosen.folded.delete(dataset.app)) build();
  open = name;
  document.body.classList.add("drawn");
  const close = closeButton();
  close.addEventListener("click", closeDrawer);
  drawer.replaceChildren(...drawerOf(dataset, page.graph, close));
  drawer.hidden = false;
  draw();
  fit();
  remember();
  return close.focus();
}

function closeDrawer() {
  const was = open;
  open = null;
  drawer.hidden = true;
  document.body.classList.remove("drawn");
  draw();
  fit();
  remember();
  world.querySelector(`[data-id="${CSS.escape(was ?? "")}"]`)?.focus();
}

function remember() {
  const asked = new URLSearchParams(location.search);
  if (open) asked.set("at", open);
  else asked.delete("at");
  history.replaceState(null, "", `${location.pathname}${asked.size ? `?${asked}` : ""}`);
}

// The controls

function chip(text, pressed, press, state) {
  const made = element("button", { type: "button", class: `chip ${state ? `s-${shapeOf(state)}` : ""}`, "aria-pressed": pressed }, ...(state ? [icon(shapeOf(state))] : []), text);
  made.addEventListener("click", () => { made.setAttribute("aria-pressed", press()); });
  return made;
}

const toggle = (set, value) => {
  if (!set.delete(value)) set.add(value);
  return set.has(value);
};

function controls() {
  const count = (state) => page.datasets.filter((each) => each.state === state).length;
  find("states").replaceChildren(...WORST.filter(count).map((state) => chip(
    `${state} ${count(state)}`, chosen.states.has(state),
    () => { const on = toggle(chosen.states, state); draw(); return on; }, state)));
  const apps = page.apps.filter((app) => app.open).map((app) => app.name);
  find("folds").replaceChildren(
    chip("Programs", chosen.programs, () => { chosen.programs = !chosen.programs; build(); return chosen.programs; }),
    chip("Triggers", chosen.triggers, () => { chosen.triggers = !chosen.triggers; draw(); return chosen.triggers; }),
    ...(page.apps.length > 1 ? apps.map((app) => chip(app, !chosen.folded.has(app),
      () => { const folded = toggle(chosen.folded, app); build(); return !folded; })) : []));
}

function build() {
  const graph = graphOf(page, chosen);
  drawn = { ...layOut([...graph.nodes.values()], graph.edges), lineage: graph.lineage };
  draw();
  fit();
}

async function load() {
  const asked = new URLSearchParams(location.search);
  asked.set("format", "json");
  const answer = await fetch(`${location.pathname}?${asked}`);
  if (!answer.ok) return;
  const first = page === null;
  page = await answer.json();
  page.graph = graphOf(page, { folded: new Set(), programs: false });
  find("graph").hidden = page.datasets.length + page.apps.length === 0;
  controls();
  if (first && open) {
    build();
    openDrawer(open);
  } else {
    const before = view;
    build();
    if (!first) { view = before; move(); }
  }
}

// What people do

document.addEventListener("click", (event) => {
  const node = event.target.closest(".node, [data-open]");
  if (!node || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const id = node.dataset.open ?? node.dataset.id;
  if (chosen.folded.has(id.replace("app:", ""))) {
    event.preventDefault();
    chosen.folded.delete(id.slice("app:".length));
    controls();
    build();
  } else if (page.datasets.some((each) => each.name === id)) {
    event.preventDefault();
    openDrawer(id);
  }
});
search.addEventListener("input", draw);
find("zoom-in").addEventListener("click", () => zoom(ZOOM));
find("zoom-out").addEventListener("click", () => zoom(1 / ZOOM));
find("fit-all").addEventListener("click", () => fit(true));

const PANS = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] };
const KEYS = { "+": () => zoom(ZOOM), "=": () => zoom(ZOOM), "-": () => zoom(1 / ZOOM), 0: () => fit(true) };
figure.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const by = PANS[event.key];
  if (by) {
    view = { ...view, x: view.x + by[0], y: view.y + by[1] };
    move();
  } else if (KEYS[event.key]) KEYS[event.key]();
  else return;
  event.preventDefault();
});

let dragged = null;
canvas.addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  const { left, top } = room();
  zoom(event.deltaY > 0 ? 1 / ZOOM : ZOOM, { x: event.clientX - left, y: event.clientY - top });
}, { passive: false });
canvas.addEventListener("pointerdown", (event) => {
  if (!event.target.closest(".node")) dragged = { x: event.clientX - view.x, y: event.clientY - view.y };
});
addEventListener("pointermove", (event) => {
  if (!dragged) return;
  view = { ...view, x: event.clientX - dragged.x, y: event.clientY - dragged.y };
  move();
});
addEventListener("pointerup", () => { dragged = null; });
// A card that gets the focus by keyboard comes into view.
world.addEventListener("focusin", (event) => {
  const node = drawn.nodes.get(event.target.closest(".node")?.dataset.id);
  if (node && event.target.matches(":focus-visible")) show(node);
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && open && !document.querySelector("dialog[open]")) closeDrawer();
});
addEventListener("resize", () => drawn && fit());
addEventListener("refreshed", () => load());
// The page is painted first: to lay out a large graph takes longer.
requestAnimationFrame(() => setTimeout(load));
