// @ts-check
// The chosen theme, before the first paint: the one script that is no module, since modules run too late for that.
(() => {
  try {
    const theme = JSON.parse(localStorage.getItem("diagnostics.theme") ?? "null");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Without storage the system's theme holds.
  }
})();
