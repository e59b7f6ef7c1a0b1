// The heat map of many bots: a tap on a cell shows its pair, whose cell is too small for a link.
document.addEventListener("click", (event) => {
  const cell = event.target.closest(".dense td[data-against]");
  if (!cell) return;
  const table = cell.closest("table");
  for (const one of table.querySelectorAll(".chosen")) one.classList.remove("chosen");
  const [row, column] = [cell.parentElement.cells[0], table.tHead.rows[0].cells[cell.cellIndex]];
  for (const one of [cell, row, column]) one.classList.add("chosen");
  const link = document.createElement("a");
  const names = [row.querySelector(".name").textContent, column.querySelector("abbr").title];
  link.textContent = `${names[0]} – ${names[1]}: ${cell.textContent}–${cell.dataset.against}`;
  link.href = `/bots/${row.dataset.bot}/vs/${column.dataset.bot}?mine=${row.dataset.version}&theirs=${column.dataset.version}`;
  document.getElementById("pair").replaceChildren(link);
});
