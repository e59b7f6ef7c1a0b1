globalThis.arenaTexts = {
"Network error; try again.": "Erreur du réseau ; réessayez.",
"The analysis could not be requested.": "L’analyse n’a pas pu être demandée."
};
