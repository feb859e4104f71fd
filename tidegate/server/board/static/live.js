// Shows which edges of a graph belong to what is selected. Asks every two seconds whether the page is another
// one, and replaces the parts marked data-live, in place: the focus, open details, scrolled tables and what is
// typed in forms stay. Without this script a page has its link to refresh.
"use strict";
(() => {
  // What was selected in a graph, by the name of its details in the address: its edges stand out.
  const choose = () => document.querySelectorAll("[data-from], a[href^='#c']").forEach((each) => {
    const names = [each.dataset.from, each.dataset.to, each.getAttribute("href")?.slice(1)];
    each.classList.toggle("chosen", names.includes(location.hash.slice(1)));
  });
  addEventListener("hashchange", choose);
  choose();

  const SECONDS = 2;
  const FOCUSABLE = "a[href], button, summary, [tabindex]";
  const parts = () => document.querySelectorAll("[data-live]");
  const live = document.getElementById("live");
  const pause = document.getElementById("pause");
  if (!pause || !parts().length) return;
  let paused = false;
  let tag = document.documentElement.dataset.tag ?? "";

  const show = () => {
    pause.setAttribute("aria-pressed", paused);
    pause.title = paused ? "Updates are paused" : "Pause updates";
    live.classList.toggle("off", paused);
    live.querySelector(".w").textContent = paused ? "Paused" : "Live";
    live.hidden = pause.hidden = false;
  };
  pause.addEventListener("click", () => { paused = !paused; show(); });
  show();

  // What an element is called, so that the same one is found again in the fresh part.
  const nameOf = (each) => each.id || each.getAttribute("href") || each.getAttribute("aria-label") || each.textContent;
  const isTyped = (field) => field === document.activeElement || (field.value !== field.defaultValue && field.type !== "hidden");

  const replaceOne = (old, fresh) => {
    if (old.innerHTML === fresh.innerHTML || [...old.querySelectorAll("input, textarea")].some(isTyped)) return;
    const before = [...old.querySelectorAll(FOCUSABLE)];
    const place = before.indexOf(document.activeElement);
    const name = place < 0 ? "" : nameOf(before[place]);
    const open = [...old.querySelectorAll("details")].map((each) => each.open);
    const scrolled = [...old.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
    old.replaceChildren(...fresh.childNodes);
    old.querySelectorAll("details").forEach((each, n) => { each.open = open[n] ?? each.open; });
    old.querySelectorAll(".scroll").forEach((each, n) => { each.scrollLeft = scrolled[n] || 0; });
    if (place < 0) return;
    const after = [...old.querySelectorAll(FOCUSABLE)];
    (after.find((each) => nameOf(each) === name) ?? after[Math.min(place, after.length - 1)])?.focus({ preventScroll: true });
  };

  const refresh = async () => {
    if (paused || document.hidden || !getSelection().isCollapsed) return;
    const answer = await fetch(location.href, { headers: { Accept: "text/html", "If-None-Match": tag } });
    if (!answer.ok) return;
    tag = answer.headers.get("ETag") ?? "";
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const old of parts()) {
      const found = fresh.querySelector(`[data-live="${CSS.escape(old.dataset.live)}"]`);
      if (found) replaceOne(old, found);
    }
    dispatchEvent(new Event("refreshed"));
  };
  setInterval(() => refresh().catch(() => {}), SECONDS * 1000);
})();
