// The order of search results. Sphinx counts only whether a page has a word, so hundreds of pages are equal: those
// written for readers come before those to look things up in, and reports and history come last. Titles that contain
// the question and entries of the index stand above all, since they have more points.
const POINTS_BY_FOLDER = {
  tutorials: 8,
  "how-to": 8,
  players: 8,
  contributing: 5,
  explanation: 5,
  reference: 2,
  reports: -6,
};
const GENERATED = /^reference\/(command-line|json-|events|metrics|rooms|settings)/;

var Scorer = {
  score: ([page, , , , points]) =>
    points + (POINTS_BY_FOLDER[page.split("/")[0]] ?? 0) - (GENERATED.test(page) ? 4 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
