// Reads the page again every few seconds and replaces the parts marked data-live, in place: the focus, open details,
// scrolled tables and what is typed in forms stay. Without this script a page has its link to refresh.
"use strict";
(() => {
  const SECONDS = 5;
  const FOCUSABLE = "a[href], summary, [tabindex]";
  const parts = () => document.querySelectorAll("[data-live]");
  const control = document.getElementById("live");
  if (!control || !parts().length) return;
  let paused = false;

  const say = () => {
    control.hidden = false;
    control.textContent = paused ? "Resume refreshing" : "Pause refreshing";
  };
  control.addEventListener("click", () => { paused = !paused; say(); });
  say();

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
  };
  setInterval(() => refresh().catch(() => {}), SECONDS * 1000);
})();
