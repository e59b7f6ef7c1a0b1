// Fields that filter a list of checkboxes: what is ticked stays in sight. Without scripts the whole list is shown.
for (const field of document.querySelectorAll("[data-filters]")) {
  const list = document.getElementById(field.dataset.filters);
  const show = () => {
    for (const label of list.querySelectorAll("label")) {
      label.hidden = !label.querySelector("input").checked && !label.textContent.toLowerCase().includes(field.value.trim().toLowerCase());
    }
  };
  field.addEventListener("input", show);
  field.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
}
