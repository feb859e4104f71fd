// The graph of *Datasets* as nodes and edges, of what the page answers in JSON: folded apps are one node, and
// programs are left out unless they are asked for: then rows flow from what one reads to what it writes.

const CARD = { width: 196, height: 46 };
const APP_CARD = { width: 196, height: 54 };
const PROGRAM = { height: 28, margin: 34, letter: 6.6 };
const MOST_PAIRS = 100;
const MOST_ALONE = 12;

const appOf = (node) => node.slice(node.indexOf(":") + 1).split("/")[0];
const nameOf = (node) => node.slice(node.indexOf("/") + 1);
const refOf = (node) => node.slice(node.indexOf(":") + 1);

/**
 * Returns the graph of a page.
 *
 * @param page - what `/board/datasets?format=json` answers
 * @param folded - the names of open apps that are one node nevertheless
 * @param programs - whether programs are nodes
 * @returns {nodes, edges, lineage}: nodes by id, which is the name of a dataset; `lineage(id)` is the set of all
 *   that leads to a node or from it
 */
export function graphOf(page, { folded, programs }) {
  const nodes = nodesOf(page, folded);
  const edges = new Map();
  const join = (from, to, starts = []) => {
    if (from === to || !nodes.has(from) || !nodes.has(to)) return;
    const edge = edges.get(`${from} ${to}`) ?? { from, to, starts: [] };
    edge.starts = [...new Set([...edge.starts, ...starts])];
    edges.set(`${from} ${to}`, edge);
  };
  const { ins, outs } = endsOf(page.edges);
  const kept = (program) => programs || !outs.get(program)?.length || (ins.get(program)?.length ?? 0) * outs.get(program).length > MOST_PAIRS;
  const idOf = (node) => {
    const app = appOf(node);
    if (nodes.has(`app:${app}`)) return `app:${app}`;
    return node.startsWith("dataset:") ? refOf(node) : node;
  };
  for (const program of new Set([...ins.keys(), ...outs.keys()])) {
    if (kept(program) && !nodes.has(idOf(program))) nodes.set(program, programNode(program));
  }
  // A hidden program stands for what it writes.
  const shownFor = (node) => (node.startsWith("dataset:") || kept(node) ? [idOf(node)] : outs.get(node).map(idOf));
  for (const [program, written] of outs) {
    if (kept(program)) written.forEach((each) => join(idOf(program), idOf(each)));
  }
  for (const [program, read] of ins) {
    for (const { source, starts } of read) {
      for (const from of shownFor(source)) shownFor(program).forEach((to) => join(from, to, starts));
    }
  }
  const found = [...edges.values()];
  const joined = new Set(found.flatMap((edge) => [edge.from, edge.to]));
  const apps = [...nodes.values()].filter((node) => node.kind === "app").length;
  const alone = apps > MOST_ALONE ? ["program", "outside", "app"] : ["program", "outside"];
  for (const [id, node] of nodes) if (!joined.has(id) && alone.includes(node.kind)) nodes.delete(id);
  return { nodes, edges: found, lineage: (id) => lineageOf(found, id) };
}

function nodesOf(page, folded) {
  const nodes = new Map();
  for (const app of page.apps) {
    if (!app.open || folded.has(app.name)) nodes.set(`app:${app.name}`, appNode(page, app));
  }
  for (const each of page.datasets) {
    if (!folded.has(each.app)) nodes.set(each.name, datasetNode(each));
  }
  if (page.search) return nodes;
  // What another app has that the reader does not see.
  const known = new Set(page.apps.map((app) => app.name));
  for (const node of page.edges.flatMap((edge) => [edge.source, edge.target])) {
    if (!known.has(appOf(node)) && node.startsWith("dataset:")) nodes.set(refOf(node), outsideNode(refOf(node)));
  }
  return nodes;
}

function endsOf(edges) {
  const ins = new Map();
  const outs = new Map();
  const add = (map, key, value) => map.set(key, [...(map.get(key) ?? []), value]);
  for (const edge of edges) {
    if (edge.target.startsWith("program:")) add(ins, edge.target, { source: edge.source, starts: edge.schedules });
    else add(outs, edge.source, edge.target);
  }
  return { ins, outs };
}

const hrefOf = (ref) => `/board/datasets/${ref.split("/").map(encodeURIComponent).join("/")}`;

function datasetNode(each) {
  const label = nameOf(each.name);
  return { id: each.name, kind: "dataset", app: each.app, label, state: each.state, says: each.says, href: hrefOf(each.name), name: `${label}: ${each.state}, ${each.says}`, ...CARD };
}

function outsideNode(ref) {
  return { id: ref, kind: "outside", app: ref.split("/")[0], label: ref, state: null, says: "of another app", href: hrefOf(ref), name: `${ref}, of another app`, ...CARD };
}

export const WORST = ["failed", "late", "running", "waiting", "fresh", "never"];

function appNode(page, app) {
  const own = page.datasets.filter((each) => each.app === app.name).map((each) => each.state);
  const state = app.open ? WORST.find((each) => own.includes(each)) ?? null : app.state;
  const href = `/board/datasets?app=${encodeURIComponent(app.name)}`;
  return { id: `app:${app.name}`, kind: "app", app: app.name, label: app.name, state, says: app.says, href, name: `${app.name}, app: ${app.says}`, ...APP_CARD };
}

function programNode(node) {
  const label = nameOf(node);
  const href = `/board/schedules?app=${encodeURIComponent(appOf(node))}&program=${encodeURIComponent(label)}`;
  return { id: node, kind: "program", app: appOf(node), label, state: null, says: "", href, name: `${label}, program`, width: PROGRAM.margin + label.length * PROGRAM.letter, height: PROGRAM.height };
}

function lineageOf(edges, id) {
  const found = new Set([id]);
  for (const [from, to] of [["from", "to"], ["to", "from"]]) {
    const seen = new Set([id]);
    for (const node of seen) edges.filter((edge) => edge[from] === node).forEach((edge) => seen.add(edge[to]));
    seen.forEach((node) => found.add(node));
  }
  return found;
}
