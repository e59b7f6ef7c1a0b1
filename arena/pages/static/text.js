// Texts of scripts in the language of the page. `texts.LANGUAGE.js` holds those that are not English; it is made from the
// catalogue. In a text, `{name}` stands for a value.
const known = globalThis.arenaTexts ?? {};
const rules = new Intl.PluralRules(document.documentElement.lang);

function fill(form, values) {
  return form.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

export function message(english, values = {}) {
  return fill(known[english] ?? english, values);
}

export function messages(one, many, count, values = {}) {
  const forms = known[one] ?? [one, many];
  return fill(forms[rules.select(count) === "one" ? 0 : 1], { count, ...values });
}
