// Eases what the frame of a page has anyway: the scheme, menus that close, ids that are copied. The palette and
// the refresh have files of their own.
"use strict";
(() => {
  const SCHEMES = ["", "light", "dark"];
  const WORDS = { "": "as the system", light: "light", dark: "dark" };
  const SAID_MS = 2600;

  // Chooses the scheme of the next press: the system's, light, dark.
  const scheme = document.getElementById("scheme");
  const name = () => document.documentElement.dataset.theme ?? "";
  const nameScheme = () => {
    scheme.setAttribute("aria-label", `Scheme: ${WORDS[name()]}`);
    scheme.title = scheme.getAttribute("aria-label");
  };
  scheme.addEventListener("click", () => {
    const next = SCHEMES[(SCHEMES.indexOf(name()) + 1) % SCHEMES.length];
    if (next) document.documentElement.dataset.theme = next;
    else delete document.documentElement.dataset.theme;
    try {
      localStorage.setItem("tidegate.scheme", next);
    } catch {
      // A browser that keeps nothing asks again on the next page.
    }
    nameScheme();
  });
  nameScheme();
  scheme.hidden = false;

  // Says what was done, in the region that is read out, and for a moment over the page.
  const region = document.getElementById("done");
  const say = (text) => {
    region.textContent = text;
    region.classList.add("toast");
    setTimeout(() => {
      region.textContent = "";
      region.classList.remove("toast");
    }, SAID_MS);
  };

  const showCopies = () => document.querySelectorAll("[data-copy][hidden]").forEach((each) => { each.hidden = false; });
  addEventListener("refreshed", showCopies);
  showCopies();
  addEventListener("click", (event) => {
    const copy = event.target.closest("[data-copy]");
    if (copy) navigator.clipboard?.writeText(copy.dataset.copy).then(() => say(`Copied ${copy.dataset.copy}`), () => {});
    document.querySelectorAll("details.menu[open]").forEach((menu) => { menu.open = menu.contains(event.target); });
  });

  // A menu closes by Escape, which gives the focus back to its button.
  addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" && document.querySelector("details.menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
})();
