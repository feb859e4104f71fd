// The drawer of *Datasets*: one dataset with its state, its way to the calendar, and what is next to it.
import { element, icon, shapeOf } from "./elements.js";

/** Returns the button that closes the drawer. */
export const closeButton = () => element("button", { class: "btn icon quiet", type: "button", "aria-label": "Close" }, icon("close"));

/**
 * Returns what the drawer has.
 *
 * @param dataset - one of `datasets` in the page's JSON
 * @param graph - see `graphOf`, without programs and folded apps
 */
export function drawerOf(dataset, graph, close) {
  const title = element("h2", { id: "drawer-title" }, dataset.name.slice(dataset.app.length + 1));
  return [
    element("header", {}, element("div", {}, title, note(dataset)), close),
    element("p", { class: "chips" }, pill(dataset.state), element("span", {}, dataset.says)),
    element("p", { class: "chips" }, element("a", { class: "btn main", href: graph.nodes.get(dataset.name).href }, "Calendar and partitions")),
    lineage("Comes from", graph, dataset.name, "from", "it lands from outside"),
    lineage("Goes to", graph, dataset.name, "to", "nothing reads it"),
    section("Facts", facts(dataset)),
  ];
}

const pill = (state) => element("span", { class: `pill s-${shapeOf(state)}` }, icon(shapeOf(state)), state);
const section = (title, content) => element("section", {}, element("h3", {}, title), content);

function note(dataset) {
  const by = dataset.written_by.length ? `written by ${dataset.written_by.join(", ")}` : "from outside";
  return element("p", { class: "note" }, `${dataset.app} · ${dataset.format}, ${by}`);
}

function lineage(title, graph, name, side, none) {
  const other = side === "from" ? "to" : "from";
  const near = graph.edges.filter((edge) => edge[other] === name).map((edge) => [graph.nodes.get(edge[side]), edge.starts]);
  const items = near.map(([node, starts]) => element("li", { class: `s-${shapeOf(node.state)}` },
    icon(node.state ? shapeOf(node.state) : "datasets"),
    element("a", { class: "name", href: node.href, "data-open": node.id }, node.label),
    starts.length ? element("span", { class: "note" }, `starts ${starts.join(", ")}`) : null));
  return section(title, items.length ? element("ul", { class: "lineage" }, ...items) : element("p", { class: "note" }, none));
}

function facts(dataset) {
  const landed = dataset.last === null ? "nothing yet" : `${dataset.last || "the whole dataset"}, ${new Date(dataset.landed_at).toLocaleString()}`;
  const rows = [["Landed last", landed], ["Partitions", dataset.partitions], ["Read by", dataset.read_by.join(", ")], ["Starts", dataset.starts.join(", ")]];
  return element("dl", { class: "facts" }, ...rows.filter(([, text]) => text).flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
}
