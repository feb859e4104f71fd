// Where each card of the graph is: dagre places them from left to right. What it finds depends on the order of
// its input, so of several orders the one with the fewest crossings is taken, the same one each time.
import dagre from "./vendor/dagre.esm.js";

const GAP = { nodesep: 14, ranksep: 72, marginx: 16, marginy: 16 };
const CLUSTER = { side: 8, top: 14, height: 20 };
const ORDERS = [[60, 12], [150, 4]];
const ROOT = "root";
const ROOT_WEIGHT = 9;
const STRAIGHT = 150;
const CLEAR = 8;

/**
 * Places the cards of a graph.
 *
 * @param nodes - {id, app, width, height}, with whatever else they have
 * @param edges - {from, to}
 * @returns {nodes, edges, clusters, width, height}: each node with the middle of its card, x and y; each edge with
 *   its points; the box of each app, if there are several
 */
export function layOut(nodes, edges) {
  const rounds = ORDERS.find(([most]) => nodes.length <= most)?.[1] ?? 1;
  let best = null;
  for (const order of shuffles(nodes, rounds)) {
    const graph = place(order, edges);
    const crossings = rounds > 1 ? countCrossings(graph, edges) : 0;
    if (!best || crossings < best.crossings) best = { graph, crossings };
  }
  return read(best.graph, nodes, edges);
}

function* shuffles(nodes, rounds) {
  let seed = 7;
  yield nodes;
  for (let round = 1; round < rounds; round += 1) {
    const keyed = nodes.map((node) => {
      seed = (seed * 1664525 + 1013904223) >>> 0;
      return [seed, node];
    });
    yield keyed.sort((a, b) => a[0] - b[0]).map(([, node]) => node);
  }
}

const clusterOf = (node) => `in:${node.app}`;

const appsOf = (nodes) => [...new Set(nodes.filter((node) => node.kind !== "app").map((node) => node.app))];

function place(nodes, edges) {
  const graph = new dagre.graphlib.Graph({ compound: true });
  graph.setGraph({ rankdir: "LR", ...GAP }).setDefaultEdgeLabel(() => ({}));
  const apps = appsOf(nodes);
  const clustered = apps.length > 1;
  if (clustered) apps.forEach((app) => graph.setNode(`in:${app}`, {}));
  for (const node of nodes) {
    graph.setNode(node.id, { width: node.width, height: node.height });
    if (clustered && node.kind !== "app") graph.setParent(node.id, clusterOf(node));
  }
  edges.forEach((edge) => graph.setEdge(edge.from, edge.to, {}));
  if (!clustered) pullToTheLeft(graph, nodes);
  dagre.layout(graph);
  return graph;
}

// What nothing leads to stands in the first column, not beside what it leads to.
function pullToTheLeft(graph, nodes) {
  const first = nodes.filter((node) => !graph.predecessors(node.id).length);
  graph.setNode(ROOT, { width: 1, height: 1 });
  first.forEach((node) => graph.setEdge(ROOT, node.id, { weight: ROOT_WEIGHT }));
}

function countCrossings(graph, edges) {
  const lines = edges.map((edge) => [graph.node(edge.from), graph.node(edge.to)]);
  let count = 0;
  for (let i = 0; i < lines.length; i += 1) {
    for (let j = i + 1; j < lines.length; j += 1) {
      if (lines[i][0] !== lines[j][0] && lines[i][1] !== lines[j][1] && cross(lines[i], lines[j])) count += 1;
    }
  }
  return count;
}

const sideOf = (a, b, c) => Math.sign((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));

const cross = ([a, b], [c, d]) => sideOf(a, b, c) * sideOf(a, b, d) < 0 && sideOf(c, d, a) * sideOf(c, d, b) < 0;

function read(graph, nodes, edges) {
  const left = graph.hasNode(ROOT) ? Math.min(...nodes.map((node) => graph.node(node.id).x - node.width / 2)) - GAP.marginx : 0;
  const placed = new Map(nodes.map((node) => {
    const { x, y } = graph.node(node.id);
    return [node.id, { ...node, x: x - left, y }];
  }));
  const moved = (point) => ({ x: point.x - left, y: point.y });
  const { width, height } = graph.graph();
  return {
    nodes: placed,
    edges: edges.map((edge) => {
      const points = graph.edge(edge.from, edge.to).points.map(moved);
      return { ...edge, points: ends(placed.get(edge.from), placed.get(edge.to), points) };
    }),
    clusters: graph.nodes().filter((id) => id.startsWith("in:") && graph.children(id).length).map((id) => box(id, graph.node(id))),
    width: (width || 0) - left,
    height: height || 0,
  };
}

const box = (id, { x, y, width, height }) => ({
  app: id.slice(3),
  x: x - width / 2 - CLUSTER.side,
  y: y - height / 2 - CLUSTER.top,
  width: width + 2 * CLUSTER.side,
  height: height + CLUSTER.height,
});

// An edge leaves a card on its right side and arrives on the left one; what is between them of a long edge stays.
function ends(from, to, points) {
  const start = { x: from.x + from.width / 2, y: from.y };
  const end = { x: to.x - to.width / 2, y: to.y };
  const between = end.x - start.x < STRAIGHT ? [] : points.slice(1, -1);
  return [start, ...between.filter((point) => point.x > start.x + CLEAR && point.x < end.x - CLEAR), end];
}
