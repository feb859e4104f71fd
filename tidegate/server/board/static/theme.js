// Before the first paint: the scheme that was chosen by hand, "light" or "dark"; without one the system's.
"use strict";
try {
  const scheme = localStorage.getItem("tidegate.scheme");
  if (scheme) document.documentElement.dataset.theme = scheme;
} catch {
  // A browser that keeps nothing shows the system's scheme.
}
