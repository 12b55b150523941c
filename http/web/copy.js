// Gives every element with data-copy a button that copies its text. Pages are
// complete without it (docs/widget.md, "The guide in the panel").
"use strict";

for (const text of document.querySelectorAll("[data-copy]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = text.dataset.copy;
  if (text.dataset.copyName) button.setAttribute("aria-label", `${text.dataset.copy}: ${text.dataset.copyName}`);
  const said = document.createElement("span");
  said.className = "unseen";
  said.setAttribute("role", "status");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text.value ?? text.textContent);
    } catch { // an old browser, or a page without https
      getSelection().selectAllChildren(text);
      text.select?.();
      if (!document.execCommand("copy")) return;
    }
    said.textContent = button.textContent = text.dataset.copied;
    setTimeout(() => {
      button.textContent = text.dataset.copy;
      said.textContent = "";
    }, 2000);
  });
  text.before(button, said);
}
