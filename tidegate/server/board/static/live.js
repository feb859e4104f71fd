// Shows which edges of a graph belong to what is selected. Reads the page again every few seconds and replaces
// the parts marked data-live, in place: the focus, open details, scrolled tables and what is typed in forms
// stay. Without this script a page has its link to refresh.
"use strict";
(() => {
  // What was selected in a graph, by the name of its details in the address: its edges stand out.
  const choose = () => document.querySelectorAll("[data-from], a[href^='#c']").forEach((each) => {
    const names = [each.dataset.from, each.dataset.to, each.getAttribute("href")?.slice(1)];
    each.classList.toggle("chosen", names.includes(location.hash.slice(1)));
  });
  addEventListener("hashchange", choose);
  choose();

  const SECONDS = 5;
  const FOCUSABLE = "a[href], button, summary, [tabindex]";
  const parts = () => document.querySelectorAll("[data-live]");
  const live = document.getElementById("live");
  const pause = document.getElementById("pause");
  if (!pause || !parts().length) return;
  let paused = false;

  const show = () => {
    pause.setAttribute("aria-pressed", paused);
    pause.title = paused ? "Updates are paused" : "Pause updates";
    live.classList.toggle("off", paused);
    live.querySelector(".w").textContent = paused ? "Paused" : "Live";
    live.hidden = pause.hidden = false;
  };
  pause.addEventListener("click", () => { paused = !paused; show(); });
  show();

  const replaceOne = (old, fresh) => {
    if (old.innerHTML === fresh.innerHTML) return;
    const focus = [...old.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
    const open = [...old.querySelectorAll("details")].map((each) => each.open);
    const scrolled = [...old.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
    old.replaceChildren(...fresh.childNodes);
    old.querySelectorAll("details").forEach((each, n) => { each.open = open[n] || false; });
    old.querySelectorAll(".scroll").forEach((each, n) => { each.scrollLeft = scrolled[n] || 0; });
    if (focus >= 0) old.querySelectorAll(FOCUSABLE)[focus]?.focus({ preventScroll: true });
  };

  const refresh = async () => {
    if (paused || document.hidden || !getSelection().isCollapsed) return;
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const old of parts()) {
      const found = fresh.querySelector(`[data-live="${CSS.escape(old.dataset.live)}"]`);
      if (found) replaceOne(old, found);
    }
    dispatchEvent(new Event("refreshed"));
  };
  setInterval(() => refresh().catch(() => {}), SECONDS * 1000);
})();
