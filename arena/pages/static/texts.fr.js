globalThis.arenaTexts = {};
