// Elements of a page, made one by one: no text of the store is ever read as markup.
const SVG = document.querySelector("svg").namespaceURI;
const SVG_NAMES = new Set(["svg", "path", "rect", "text", "title", "use"]);
const ICONS = new URL("icons.svg", import.meta.url).pathname;
const SHAPES = { fresh: "succeeded", never: "discarded" };

/** Returns the shape of a state of a dataset; one without a state is suspended. */
export const shapeOf = (state) => SHAPES[state] ?? state ?? "suspended";

/** Returns the address of an icon. */
export const iconAddress = (name) => `${ICONS}#${name}`;

/** Returns an element; attributes that are undefined and children that are null are left out. */
export function element(name, attributes = {}, ...children) {
  return fill(SVG_NAMES.has(name) ? document.createElementNS(SVG, name) : document.createElement(name), attributes, children);
}

/** Returns a link within a picture. */
export const link = (attributes, ...children) => fill(document.createElementNS(SVG, "a"), attributes, children);

/** Returns an icon, which says nothing to who cannot see it. */
export const icon = (name) => element("svg", { class: "i", "aria-hidden": "true" }, element("use", { href: iconAddress(name) }));

function fill(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}
