// The palette: Ctrl-K, or the box of the bar, opens a list of what has a name; arrows choose, Enter opens, Escape
// closes and gives the focus back. Without this script the box leads to the page of results.
"use strict";
(() => {
  const PAUSE_MS = 120;
  const TITLES = { job: "Jobs", schedule: "Schedules", task: "Tasks", dataset: "Datasets", code: "Codes", page: "Pages" };
  const box = document.getElementById("find");
  if (!box) return;

  const made = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };

  const input = made("input", {
    type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "found", "aria-autocomplete": "list",
    "aria-label": "Find a page, schedule, job, dataset or code", placeholder: "Schedule, dataset, job id or code",
    autocomplete: "off", spellcheck: "false", maxlength: "100",
  });
  const list = made("div", { role: "listbox", id: "found", "aria-label": "Found" });
  const keys = made("p", { class: "keys" }, "↑ ↓ choose · Enter opens · Esc closes");
  const palette = made("dialog", { class: "palette", "aria-label": "Find anything" }, input, list, keys);
  document.body.append(palette);

  let found = [];
  let chosen = 0;
  let asked = 0;
  let before = null;

  const choose = (place) => {
    chosen = found.length ? (place + found.length) % found.length : 0;
    list.querySelectorAll("[role=option]").forEach((each, n) => each.setAttribute("aria-selected", n === chosen));
    const option = document.getElementById(`found-${chosen}`);
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  };

  const optionOf = (each, n) => {
    const state = each.state ? made("span", { class: `pill s-${each.shape}` }, each.word) : "";
    return made("div", { role: "option", id: `found-${n}`, "data-page": each.page }, made("span", {}, each.name), made("small", {}, each.note), state);
  };

  const show = () => {
    const rows = found.flatMap((each, n) => {
      const option = optionOf(each, n);
      return each.kind === found[n - 1]?.kind ? [option] : [made("div", { class: "h", role: "presentation" }, TITLES[each.kind]), option];
    });
    list.replaceChildren(...(rows.length ? rows : [made("div", { class: "h", role: "option", "aria-selected": "false" }, "Nothing has this name. Try a part of it, or a code such as W-WINDOW.")]));
    choose(0);
  };

  const search = async () => {
    const mine = ++asked;
    const answer = await fetch(`${box.form.dataset.search}?q=${encodeURIComponent(input.value)}`, { headers: { Accept: "application/json" } });
    if (!answer.ok || mine !== asked) return;
    found = (await answer.json()).items.map((each) => ({ ...each, ...shapeOf(each.state) }));
    show();
  };

  // The shapes and words of states are those of the page: the server has them in the form.
  const shapes = JSON.parse(box.form.dataset.shapes);
  const shapeOf = (state) => ({ shape: shapes[state]?.[0] ?? "waiting", word: shapes[state]?.[1] ?? String(state).toLowerCase() });

  const open = (text) => {
    if (palette.open) return;
    before = document.activeElement;
    input.value = text;
    palette.showModal();
    input.focus();
    search().catch(() => {});
  };
  palette.addEventListener("close", () => {
    box.value = "";
    (before === box || before === document.body ? document.getElementById("find") : before)?.focus();
  });

  let pause;
  input.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(() => search().catch(() => {}), PAUSE_MS);
  });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      choose(chosen + step);
    } else if (event.key === "Enter" && found[chosen]) {
      event.preventDefault();
      location.href = found[chosen].page;
    }
  });
  list.addEventListener("click", (event) => {
    const page = event.target.closest("[data-page]")?.dataset.page;
    if (page) location.href = page;
  });

  box.addEventListener("pointerdown", (event) => { event.preventDefault(); open(""); });
  box.addEventListener("input", () => open(box.value));
  document.getElementById("more")?.addEventListener("click", (event) => { event.preventDefault(); open(""); });
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      open("");
    } else if (event.key === "/" && !event.target.closest("input, textarea, select, dialog")) {
      event.preventDefault();
      (document.querySelector("[data-filter], main form.filter input, main details.filters summary") ?? box).focus();
    }
  });
})();
