// The bars of runs are one stop of the tab key, and arrows walk through them; without this script each is one.
"use strict";
(() => {
  const bars = () => [...document.querySelectorAll(".bars a")];
  const reach = (chosen) => bars().forEach((each) => each.setAttribute("tabindex", each === chosen ? "0" : "-1"));
  const begin = () => reach(bars().at(-1));
  addEventListener("refreshed", () => { if (!document.activeElement.closest(".bars")) begin(); });
  begin();

  addEventListener("keydown", (event) => {
    const at = bars().indexOf(event.target.closest?.(".bars a"));
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const next = at < 0 || !step ? undefined : bars()[at + step];
    if (!next) return;
    event.preventDefault();
    reach(next);
    next.focus();
  });
})();
