// Opens the page of an action as a dialog: the form of that page, with the same words and the same hash. Without
// this script its link leads to the page. Escape and the safe button close it, and the focus goes back.
"use strict";
(() => {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", "dialog-title");
  document.body.append(dialog);
  let opener = null;

  // Shows the page of an address in the dialog; where that is impossible, as a page.
  const show = async (address) => {
    const answer = await fetch(address, { headers: { Accept: "text/html" } }).catch(() => null);
    // A page that cannot say now what happens says so in the dialog, too.
    const page = answer && (answer.ok || answer.status === 503) && new DOMParser().parseFromString(await answer.text(), "text/html");
    const doing = page && page.querySelector("[data-doing]");
    if (!doing) {
      location.href = address;
      return;
    }
    const title = document.createElement("h2");
    title.id = "dialog-title";
    title.textContent = page.querySelector("h1").textContent;
    doing.prepend(title);
    dialog.replaceChildren(doing);
    if (!dialog.open) dialog.showModal();
    (doing.querySelector(".field") ?? doing.querySelector("a, button")).focus();
  };

  addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const link = event.target.closest("a[data-action]");
    if (link) {
      event.preventDefault();
      if (!dialog.contains(link)) opener = link.closest("details.menu")?.querySelector("summary") ?? link;
      const menu = link.closest("details.menu");
      if (menu) menu.open = false;
      show(link.href);
    } else if (event.target.closest("dialog a[data-close]") || event.target === dialog) {
      event.preventDefault();
      dialog.close();
    }
  });

  // What an action asks for before it says what it does is asked in the dialog, too.
  dialog.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "get") return;
    event.preventDefault();
    const address = new URL(form.action);
    address.search = new URLSearchParams(new FormData(form));
    show(address);
  });
  dialog.addEventListener("close", () => {
    dialog.replaceChildren();
    opener?.focus();
  });

  // Arrows walk through the items of an open menu, as they do in menus of a desktop.
  addEventListener("keydown", (event) => {
    const menu = event.target.closest?.("details.menu[open]");
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!menu || !step) return;
    event.preventDefault();
    const items = [...menu.querySelectorAll("ul a")];
    const at = items.indexOf(document.activeElement);
    items[(at + step + items.length) % items.length]?.focus();
  });
})();
