// Comfort only: without it every chart has its table and every decision can be unfolded.
(() => {
  "use strict";

  // Charts: hovering, touching or the arrow keys show the row of the table behind the chart.
  const tip = document.querySelector(".tip");

  const show = (figure, row, x, y) => {
    const head = figure.querySelectorAll("thead th");
    const line = figure.querySelectorAll("tbody tr")[row];
    if (!line) return;
    const table = document.createElement("table");
    [...line.cells].forEach((cell, column) => {
      const tr = table.insertRow();
      const name = tr.insertCell();
      const unit = head[column].querySelector(".unit");
      name.textContent = head[column].firstChild.textContent + (unit ? ", " + unit.textContent : "");
      const value = tr.insertCell();
      value.className = "n";
      value.textContent = cell.textContent;
    });
    tip.replaceChildren(table);
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const left = x + 16 + box.width > innerWidth ? x - 16 - box.width : x + 16;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = Math.max(4, Math.min(y - box.height / 2, innerHeight - box.height - 4)) + "px";
    figure.querySelectorAll(".on").forEach((mark) => mark.classList.remove("on"));
    figure.querySelectorAll(`[data-row="${row}"]`).forEach((mark) => mark.classList.add("on"));
  };

  const hide = (figure) => {
    tip.hidden = true;
    figure.querySelectorAll(".on").forEach((mark) => mark.classList.remove("on"));
  };

  document.querySelectorAll(".figure").forEach((figure) => {
    const views = figure.querySelector(".views");
    const last = figure.querySelectorAll("tbody tr").length - 1;
    let row = -1;
    views.addEventListener("pointermove", (event) => {
      const mark = event.target.closest("[data-row]");
      if (!mark) return hide(figure);
      row = Number(mark.dataset.row);
      show(figure, row, event.clientX, event.clientY);
    });
    views.addEventListener("pointerleave", () => hide(figure));
    views.addEventListener("blur", () => hide(figure));
    views.addEventListener("keydown", (event) => {
      if (event.key === "Escape") return hide(figure);
      const goal = { ArrowRight: row + 1, ArrowLeft: row < 0 ? last : row - 1, Home: 0, End: last }[event.key];
      if (goal === undefined) return;
      event.preventDefault();
      row = Math.max(0, Math.min(last, goal));
      const marks = [...figure.querySelectorAll(`[data-row="${row}"]`)];
      const box = (marks.find((mark) => mark.getClientRects().length) || views).getBoundingClientRect();
      show(figure, row, box.right, box.top + box.height / 2);
    });
  });

  // Decisions: one at a time, chosen by month, by step or by link.
  const picker = document.querySelector(".picker");
  if (!picker) return;
  const decisions = [...document.querySelectorAll(".decision")];
  const article = (decision) => decision.querySelector("article");
  const select = picker.querySelector("select");
  const steps = [...picker.querySelectorAll("[data-step]")];
  const output = picker.querySelector("output");
  let chosen = -1;

  const choose = (index, link) => {
    if (index < 0 || index >= decisions.length) return;
    chosen = index;
    decisions.forEach((decision, position) => {
      decision.classList.toggle("chosen", position === index);
      decision.open = position === index;
    });
    select.selectedIndex = index;
    steps.forEach((button) => {
      const goal = index + Number(button.dataset.step);
      button.disabled = goal < 0 || goal >= decisions.length;
    });
    output.textContent = `${index + 1} of ${decisions.length}`;
    if (link) history.replaceState(null, "", "#" + encodeURIComponent(article(decisions[index]).id));
  };

  const linked = () => {
    let name = location.hash.slice(1);
    try { name = decodeURIComponent(name); } catch { /* not an encoded name: take it as it is */ }
    return decisions.findIndex((decision) => article(decision).id === name);
  };

  const follow = () => {
    const index = linked();
    if (index < 0) return false;
    choose(index, false);
    picker.scrollIntoView();
    return true;
  };

  decisions.forEach((decision) => select.add(new Option(decision.dataset.label)));
  document.querySelector("#decisions").classList.add("one-at-a-time");
  picker.hidden = false;
  picker.addEventListener("submit", (event) => event.preventDefault());
  select.addEventListener("change", () => choose(select.selectedIndex, true));
  steps.forEach((button) => button.addEventListener("click", () => choose(chosen + Number(button.dataset.step), true)));
  picker.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step || event.target === select) return;
    event.preventDefault();
    choose(chosen + step, true);
  });
  // A chosen decision stays open: closing it would leave an empty place.
  decisions.forEach((decision) =>
    decision.querySelector("summary").addEventListener("click", (event) => event.preventDefault()));
  addEventListener("hashchange", follow);
  const first = decisions.findIndex((decision) => article(decision).id === picker.dataset.first);
  if (!follow()) choose(Math.max(first, 0), false);
})();
