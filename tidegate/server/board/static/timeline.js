// Draws the time line of *Now* in place of its table: a lane for each schedule, task and policy.
//
//   the address ──► the span, the text and the states ──► GET …/timeline ──► lanes as SVG
//
// Zoom, pan, filter and states change the address and ask again; until the answer is there, what is known is
// drawn in the new span. One tab stop: arrows walk through the marks of a lane and to the lanes beside it, and
// the name of a mark says all that its tip says. Without this script the page has the table.
"use strict";
(() => {
  const root = document.getElementById("time-line");
  if (!root) return;
  const HOUR = 3600000, MINUTE = 60000;
  const LANE = 30, BAR_TOP = 8, BAR_HEIGHT = 14, MIDDLE = 17, LEAST_WIDTH = 6;
  const WIDEST = 36 * HOUR, CLOSEST = HOUR, FARTHEST = 6 * 24 * HOUR;
  const SETTLED_MS = 250;

  const body = root.querySelector(".tl-body");
  const field = root.querySelector("[name=q]");
  const asked = new URLSearchParams(location.search);
  const states = new Set(asked.getAll("state").filter(Boolean));
  const folded = new Set();
  const narrow = matchMedia("(max-width: 720px)");
  let data = null;
  let domain = null;
  let settling = 0;
  let loads = 0;

  const escaped = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  const at = (text) => Date.parse(text);
  const icon = (name) => `<svg class="i" aria-hidden="true"><use href="${root.dataset.icons}#${name}"/></svg>`;

  // --- words ---------------------------------------------------------------------------

  const form = (options) => new Intl.DateTimeFormat("en-GB", { timeZone: data.zone, hourCycle: "h23", ...options });
  const clock = (ms) => form({ hour: "2-digit", minute: "2-digit" }).format(ms);
  const day = (ms) => form({ weekday: "short", day: "numeric", month: "short" }).format(ms);
  const utc = (ms) => `${new Date(ms).toISOString().slice(0, 16).replace("T", " ")}Z`;
  const exact = (ms) => `${day(ms)} ${clock(ms)} (${utc(ms)})`;
  const zone = () => data.zone.split("/").at(-1).replaceAll("_", " ");
  const took = (ms) => {
    const minutes = Math.round(Math.abs(ms) / MINUTE);
    if (minutes < 1) return `${Math.round(Math.abs(ms) / 1000)} s`;
    return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
  };

  // --- geometry ------------------------------------------------------------------------

  const width = () => Math.max(100, body.querySelector(".tl-scale")?.clientWidth ?? body.clientWidth);
  const place = (ms) => ((ms - domain[0]) / (domain[1] - domain[0])) * width();
  const inside = (from, to) => to >= domain[0] && from <= domain[1];
  const cut = (x) => Math.max(-8, Math.min(width() + 8, x)).toFixed(1);

  const link = (kind, x, href, tip, shapes) => `<a class="${kind}" href="${escaped(href)}" tabindex="-1"
    data-x="${cut(x)}" data-tip="${escaped(tip.join("|"))}" aria-label="${escaped(tip.join(", "))}">${shapes}</a>`;
  const box = (kind, from, to, top, height, round) => {
    const left = Number(cut(place(from))), right = Number(cut(place(to)));
    const wide = Math.max(LEAST_WIDTH, right - left);
    return `<rect class="${kind}" x="${left}" width="${wide.toFixed(1)}" y="${top}" height="${height}" rx="${round}"/>`;
  };
  const sign = (name, ms, size, top) =>
    `<use href="${root.dataset.icons}#${name}" x="${(place(ms) - size / 2).toFixed(1)}" y="${top}" width="${size}" height="${size}"/>`;

  // --- lanes ---------------------------------------------------------------------------

  const page = (ref) => `${ref.includes("/policy:") ? "/board/jobs?schedule=" : "/board/schedules/"}${encodeURIComponent(ref).replaceAll("%2F", "/")}`;
  const job = (id) => `/board/jobs/${encodeURIComponent(id)}`;
  const short = (ref) => ref.slice(ref.indexOf("/") + 1);

  function bar(lane, each) {
    const now = at(data.at), waits = each.waits && at(each.waits), start = each.start && at(each.start);
    const end = each.end ? at(each.end) : now;
    const name = `${short(lane.ref)} ${each.key ?? ""}`.trim();
    const attempt = each.attempt > 1 ? [`attempt ${each.attempt}`] : [];
    const out = [];
    if (waits && inside(waits, start ?? end) && (start ?? end) > waits) {
      const line = `<line class="wait" x1="${cut(place(waits))}" x2="${cut(place(start ?? end))}" y1="${MIDDLE}" y2="${MIDDLE}" stroke-dashoffset="${(Number(cut(place(waits))) % 6).toFixed(1)}"/>`;
      const hit = box("hit", waits, start ?? end, 3, 24, 0);
      const tip = [name, `${each.state} since ${clock(waits)}`, ...attempt, each.reason ?? ""].filter(Boolean);
      out.push(start ? line : link(`wait-of s-${each.state}`, Math.max(0, place(waits)), job(each.job), tip, hit + line));
    }
    if (!start && each.end && inside(end, end)) {
      out.push(link(`bar-of s-${each.state}`, place(end), job(each.job), [name, `${each.state} at ${clock(end)}`, each.reason ?? ""].filter(Boolean), box("bar", end, end, BAR_TOP, BAR_HEIGHT, 3)));
    }
    if (!start || !inside(start, Math.max(end, each.usual_end ? at(each.usual_end) : 0))) return out;
    const done = each.end ? `${each.state} after ${took(end - start)}` : `${each.state} for ${took(now - start)}`;
    const usual = each.usual_end ? [`usually ends about ${clock(at(each.usual_end))}, as its last 14 runs took`] : [];
    const tip = [name, done, `${clock(start)} to ${each.end ? clock(end) : "now"}`, ...attempt, ...usual, each.reason ?? ""].filter(Boolean);
    if (each.usual_end && at(each.usual_end) > now) out.push(box("usual", now, at(each.usual_end), BAR_TOP, BAR_HEIGHT, 3));
    out.push(link(`bar-of s-${each.state}`, place(start), job(each.job), tip, box("hit", start, end, 3, 24, 0) + box("bar", start, end, BAR_TOP, BAR_HEIGHT, 3)));
    return out;
  }

  function marks(lane) {
    const now = at(data.at), name = short(lane.ref), out = [];
    for (const ms of (lane.times ?? []).map(at)) {
      if (!inside(ms, ms)) continue;
      const words = lane.kind === "task" ? ["started", "starts"] : ["fired", "fires"];
      out.push(link("mk fire", place(ms), page(lane.ref), [`${name} ${words[ms > now ? 1 : 0]}`, exact(ms)], sign(ms > now ? "m-fire-next" : "m-fire", ms, 8, 0)));
    }
    for (const each of lane.marks ?? []) {
      const ms = at(each.at), state = each.state ?? "to_come";
      if (!inside(ms, ms)) continue;
      const ends = { wait_at_most: "wait_at_most ends: then it no longer waits for the rest", timeout: "its timeout ends: then it waits no longer", deadline: `deadline${each.dataset ? " of the dataset" : ""}, ${state.replace("_", " ")}` }[each.kind];
      out.push(link(`mk ${each.kind} ${state}`, place(ms), page(lane.ref), [`${short(each.dataset ?? lane.ref)} ${each.key ?? ""}`.trim(), ends, exact(ms)], sign(each.kind === "deadline" ? "m-deadline" : "m-patience", ms, 12, 10)));
    }
    return out;
  }

  function track(lane) {
    const name = short(lane.ref), out = [];
    for (const each of lane.windows ?? []) {
      const from = at(each.start), to = at(each.end);
      if (inside(from, to)) out.push(link("open-of", Math.max(0, place(from)), page(lane.ref), [`Window of ${name}`, `open from ${clock(from)} to ${clock(to)}`], box("open", from, to, 0, LANE, 0)));
    }
    for (const each of lane.arrivals ?? []) {
      const from = at(each.start), to = at(each.end);
      if (inside(from, to)) out.push(link("usual-of", Math.max(0, place(from)), page(lane.ref), [each.says, `next about ${clock(from)} to ${clock(to)}`], box("usual spread", from, to, 13, 7, 3.5)));
    }
    for (const each of lane.bars ?? []) out.push(...bar(lane, each));
    out.push(...marks(lane));
    return `<svg class="tl-track" height="${LANE}" role="group" aria-label="${escaped(name)}">${out.join("")}</svg>`;
  }

  const shape = (state) => (state === "ahead" ? "waiting" : state);
  const row = (lane) => `<div class="tl-lane${lane.state === "suspended" ? " off" : ""}"><a class="tl-name s-${shape(lane.state)}" href="${escaped(page(lane.ref))}" title="${escaped(lane.says)}">${icon(shape(lane.state))}<span class="t">${escaped(short(lane.ref))}</span><span class="visually-hidden">: ${escaped(lane.says)}</span></a>${track(lane)}</div>`;

  function section(app) {
    const shut = folded.has(app.app);
    const sums = Object.entries(app.states).filter(([state]) => state !== "ahead" && state !== "succeeded");
    const counts = sums.map(([state, n]) => `<span class="s-${shape(state)}">${icon(shape(state))}${n}<span class="visually-hidden"> ${state}</span></span>`).join("");
    const all = Object.values(app.states).reduce((sum, n) => sum + n, 0);
    return `<section class="tl-app" aria-label="${escaped(app.app)}"><h3><button type="button" class="tl-fold" data-app="${escaped(app.app)}" aria-expanded="${!shut}">${icon("chevron")}${escaped(app.app)} <span class="note">${all}</span><span class="sum">${counts}</span></button></h3>${shut ? "" : app.lanes.map(row).join("")}</section>`;
  }

  // --- the axis ------------------------------------------------------------------------

  function ticks() {
    const hours = (domain[1] - domain[0]) / HOUR;
    const step = hours > 30 ? (narrow.matches ? 6 : 3) : hours > 10 ? (narrow.matches ? 3 : 1) : 1;
    const found = [];
    for (let ms = Math.ceil(domain[0] / HOUR) * HOUR; ms <= domain[1]; ms += HOUR) {
      const hour = Number(clock(ms).slice(0, 2));
      if (hour % step === 0) found.push([ms, hour === 0]);
    }
    return found;
  }

  function axis() {
    const here = place(at(data.at)), out = [];
    for (const [ms, midnight] of ticks()) {
      const x = place(ms);
      if (midnight || x > width() - 20) out.push(midnight ? `<text class="day" x="${(x + 4).toFixed(1)}" y="13">${day(ms)}</text>` : "");
      if (Math.abs(x - here) > 40 && x > 16 && x < width() - 16) out.push(`<text x="${x.toFixed(1)}" y="31" text-anchor="middle">${clock(ms)}</text>`);
    }
    const first = ticks().find(([, midnight]) => midnight);
    if (!first || place(first[0]) > 110) out.push(`<text class="day" x="4" y="13">${day(domain[0])}</text>`);
    if (here > 0 && here < width()) out.push(`<rect class="here" x="${(here - 21).toFixed(1)}" y="5" width="42" height="18" rx="4"/><text class="here" x="${here.toFixed(1)}" y="18" text-anchor="middle">${clock(at(data.at))}</text>`);
    return `<svg width="100%" height="36" aria-hidden="true">${out.join("")}</svg>`;
  }

  function overlay() {
    const here = place(at(data.at));
    const lines = ticks().map(([ms, midnight]) => `<line class="${midnight ? "day" : ""}" x1="${cut(place(ms))}" x2="${cut(place(ms))}" y1="0" y2="100%"/>`);
    const now = here > 0 && here < width() ? `<line class="now" x1="${here.toFixed(1)}" x2="${here.toFixed(1)}" y1="0" y2="100%"/>` : "";
    return `<rect class="ahead" x="${cut(Math.max(0, here))}" width="${Math.max(0, width() - here).toFixed(1)}" height="100%"/>${lines.join("")}${now}`;
  }

  function mark(choice, chosen) {
    if (chosen) choice.setAttribute("aria-current", "true");
    else choice.removeAttribute("aria-current");
  }

  function draw() {
    const active = body.contains(document.activeElement) ? document.activeElement : null;
    const heldMark = active?.closest(".tl-track") && active.getAttribute("aria-label");
    const heldApp = active?.dataset.app;
    root.classList.toggle("dead", Boolean(document.querySelector("main .banner")));
    if (!body.querySelector(".tl-scale")) {
      body.innerHTML = `<div class="tl-axis"><span class="corner"></span><div class="tl-scale"></div></div><svg class="tl-overlay" aria-hidden="true"></svg><div class="tl-lanes"></div>`;
    }
    body.querySelector(".corner").textContent = zone();
    body.querySelector(".tl-scale").innerHTML = axis();
    body.querySelector(".tl-overlay").innerHTML = overlay();
    body.querySelector(".tl-lanes").innerHTML = data.apps.map(section).join("") || `<p class="none">No lane matches. <button class="btn small" type="button" data-clear>Show all</button></p>`;
    root.querySelector("#tl-count").textContent = data.lanes === 1 ? "1 lane" : `${data.lanes} lanes`;
    for (const each of root.querySelectorAll("[data-state]")) mark(each, states.has(each.dataset.state));
    const hours = (domain[1] - domain[0]) / HOUR;
    for (const each of root.querySelectorAll("[data-span]")) {
      mark(each, Math.abs(parseInt(each.textContent, 10) - hours) < 0.1);
    }
    const links = [...body.querySelectorAll(".tl-track a")];
    const again = heldMark && links.find((each) => each.getAttribute("aria-label") === heldMark);
    const first = again || links[0];
    if (first) first.tabIndex = 0;
    const held = again || (heldApp && body.querySelector(`[data-app="${CSS.escape(heldApp)}"]`));
    if (held) held.focus({ preventScroll: true });
  }

  // --- the address ---------------------------------------------------------------------

  function offset(ms) {
    const minutes = Math.round((ms - at(data.at)) / MINUTE), size = Math.abs(minutes);
    const text = size % 60 === 0 && size ? `${size / 60}h` : `${size}m`;
    return size ? `${minutes < 0 ? "-" : "+"}${text}` : "now";
  }

  function remember() {
    asked.set("from", offset(domain[0]));
    asked.set("to", offset(domain[1]));
    asked.delete("page");
    asked.delete("state");
    states.forEach((each) => asked.append("state", each));
    if (field.value.trim()) asked.set("q", field.value.trim());
    else asked.delete("q");
    history.replaceState(null, "", `/?${asked}`);
  }

  async function load() {
    const number = ++loads;
    const answer = await fetch(`${root.dataset.source}?${asked}`, { headers: { Accept: "application/json" } });
    const found = answer.ok && (await answer.json());
    if (!found || number !== loads) return; // a later question has been asked
    // What was moved while the answer was under way stays moved.
    const before = data && domain.map((ms) => ms - at(data.at));
    data = found;
    const near = narrow.matches && !asked.has("from");
    domain = before ? before.map((ms) => ms + at(data.at)) : near ? [at(data.at) - 5 * HOUR, at(data.at) + 7 * HOUR] : [at(data.start), at(data.end)];
    root.querySelector(".tl-legend").hidden = root.querySelector("#tl-move").hidden = false;
    draw();
  }

  function settle() {
    clearTimeout(settling);
    settling = setTimeout(() => { remember(); load().catch(() => {}); }, SETTLED_MS);
  }

  // --- zoom, pan, filters --------------------------------------------------------------

  function show(from, to) {
    const now = at(data.at), wide = Math.max(CLOSEST, Math.min(WIDEST, to - from));
    const start = Math.max(now - FARTHEST, Math.min(now + FARTHEST - wide, from));
    domain = [start, start + wide];
    draw();
    settle();
  }

  function zoom(factor, around = at(data.at)) {
    const wide = (domain[1] - domain[0]) * factor;
    const share = Math.max(0, Math.min(1, (around - domain[0]) / (domain[1] - domain[0])));
    show(around - wide * share, around + wide * (1 - share));
  }

  const around = (wide) => show(at(data.at) - wide / 3, at(data.at) + (wide * 2) / 3);

  root.addEventListener("click", (event) => {
    const hit = event.target.closest("button, a[data-state], a[data-span]");
    if (!hit || !data) return;
    if (hit.dataset.state) states[states.has(hit.dataset.state) ? "delete" : "add"](hit.dataset.state), settle(), draw();
    else if ("span" in hit.dataset) around(parseInt(hit.textContent, 10) * HOUR);
    else if (hit.dataset.move) {
      const wide = domain[1] - domain[0], by = Number(hit.dataset.move);
      if (by) show(domain[0] + (by * wide) / 2, domain[1] + (by * wide) / 2);
      else around(wide);
    } else if (hit.dataset.app) {
      folded[folded.has(hit.dataset.app) ? "delete" : "add"](hit.dataset.app);
      draw();
    } else if ("clear" in hit.dataset) field.value = "", states.clear(), settle();
    else return;
    event.preventDefault();
  });
  field.addEventListener("input", settle);
  field.form.addEventListener("submit", (event) => { event.preventDefault(); settle(); });

  const timeAt = (x) => domain[0] + ((x - body.querySelector(".tl-scale").getBoundingClientRect().left) / width()) * (domain[1] - domain[0]);
  body.addEventListener("wheel", (event) => {
    if (!event.ctrlKey || !data) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event.clientX));
  }, { passive: false });
  let drag = null;
  body.addEventListener("pointerdown", (event) => {
    if (data && event.target.closest(".tl-axis")) drag = { x: event.clientX, domain };
  });
  addEventListener("pointermove", (event) => {
    if (!drag) return;
    const by = ((drag.x - event.clientX) / width()) * (drag.domain[1] - drag.domain[0]);
    show(drag.domain[0] + by, drag.domain[1] + by);
  });
  addEventListener("pointerup", () => { drag = null; });

  // --- the keyboard --------------------------------------------------------------------

  const ordered = (svg) => [...svg.querySelectorAll("a")].sort((a, b) => a.dataset.x - b.dataset.x);
  body.addEventListener("keydown", (event) => {
    const from = event.target.closest(".tl-track a");
    if (!from || event.ctrlKey || event.metaKey || event.altKey) return;
    if (["+", "=", "-"].includes(event.key)) {
      event.preventDefault();
      zoom(event.key === "-" ? 1.4 : 0.7, timeAt(Number(from.dataset.x) + body.querySelector(".tl-scale").getBoundingClientRect().left));
      return;
    }
    const tracks = [...body.querySelectorAll(".tl-track")].filter((each) => each.querySelector("a"));
    const lane = tracks.indexOf(from.closest(".tl-track")), own = ordered(tracks[lane]), n = own.indexOf(from);
    const distance = (each) => Math.abs(each.dataset.x - from.dataset.x);
    const near = (svg) => svg && ordered(svg).reduce((best, each) => (distance(each) < distance(best) ? each : best));
    const to = { ArrowRight: own[n + 1], ArrowLeft: own[n - 1], ArrowDown: near(tracks[lane + 1]), ArrowUp: near(tracks[lane - 1]), Home: own[0], End: own.at(-1) }[event.key];
    if (!to) return;
    event.preventDefault();
    from.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  });

  // --- tips ----------------------------------------------------------------------------

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true"); // the name of a mark says the same
  document.body.append(tip);
  function showTip(event) {
    const mark = event.target.closest?.("#time-line [data-tip]");
    tip.hidden = !mark;
    if (!mark) return;
    tip.replaceChildren(...mark.dataset.tip.split("|").map((line, n) => Object.assign(document.createElement(n ? "span" : "b"), { textContent: line })));
    const where = mark.getBoundingClientRect(), x = event.clientX || where.left;
    tip.style.left = `${Math.max(8, Math.min(innerWidth - tip.offsetWidth - 8, x))}px`;
    tip.style.top = `${where.top > tip.offsetHeight + 16 ? where.top - tip.offsetHeight - 8 : where.bottom + 8}px`;
  }
  for (const kind of ["pointerover", "focusin"]) document.addEventListener(kind, showTip);
  document.addEventListener("focusout", () => { tip.hidden = true; });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hidden = true; });

  new ResizeObserver(() => { if (data) draw(); }).observe(root);
  addEventListener("refreshed", () => load().catch(() => {}));
  load().catch(() => {});
})();
