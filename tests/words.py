"""Check the language of the project: `python -m tests.words [PATH ...]` lists what breaks a rule and exits with 1.

Rules: a function's docstring starts with an imperative verb, other docstrings do not start with a clause; the phrases
of `BANNED` and `SYNONYMS` occur in no docstring, comment, message, template or Markdown page; a public class name is
used once in the product; no name in a function longer than 8 lines is one of `RIDDLES`; every term of the glossary has
one meaning. It also lists sentences of more than 30 words in Markdown, which are allowed.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise, takewhile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = ("protocol", "referee", "bots", "arena")
"""Only these folders are held to the rules for docstrings and class names."""

RIDDLES = frozenset(("found", "one", "it", "each", "what"))
"""Names of variables that do not say what they hold."""

MAX_RIDDLE_LINES = 8
"""A name of `RIDDLES` is clear in functions up to this length: its origin is in view."""

MAX_SENTENCE_WORDS = 30

VERBS = frozenset((ROOT / "tests" / "data" / "verbs.txt").read_text("utf-8").split())
"""Verbs that may open a docstring."""

CLAUSES = frozenset(
    re.findall(
        r"\w+",
        "what who whom whose whoever whatever whether how why where which that when those these it they he she of",
    )
)
"""Words that open a clause and therefore no noun phrase."""

BANNED = {
    r"refus\w+ to know": "say what the module does; import contracts say what it may not know",
    r"\bwhoever\b|\bwhomever\b": "name the actor",
    r"(?<!-)\banew\b": "again",
    r"\bbesides?\b": "next to, together with",
    r"(?<!there )\b(?:is|are) (?-i:none)\b(?! %| else)": "is not a valid …",
    r"\b(?:some|no)body\b": "name the actor",
    r"\btold\b|\btells? of\b": "send, report, publish, return",
    r"\bwho are you\b": "authentication required",
    r"\bby lot\b": "at random",
    r"\bso many\b": "name the number",
    r"\bgaffes?\b": "blunder",
    r"\bshuts? out\b|\bshutting out\b": "quarantine",
    r"\bmends?\b|\bmended\b|\bmending\b": "fix, repair",
    r"\bstands? (?:in|on|with|behind|by) (?!for\b)": "is in, has",
    r"\bgoes on\b|\bgo on\b|\bwent on\b": "continue",
    r"\bunless named\b": "by default",
    r"\bhundredths\b": "centipawns",
    r"(?<!there )\bis no (?!longer\b|more\b|less\b|other\b|room\b|need\b|such\b|\w+er\b)": "is not a valid …",
    r"\bput aside\b|\bput away\b": "store, discard",
    r"\bas it were\b|\bso to speak\b": "delete",
    r"\bbehind (?:its|their|the) (?:readers|backs?)\b": "stale-while-revalidate",
}
"""Regular expressions that may not occur, with what to write for them."""

SYNONYMS = {
    r"\bcompetitors?\b|\bcontestants?\b": "bot, entry",
    r"\bcontests?\b": "tournament",
    r"\bhash tables?\b": "transposition table",
    r"\btime-controls?\b": "time control",
    r"\bmonte-carlo\b": "Monte Carlo",
    r"\bleader boards?\b": "leaderboard",
    r"\bsub-commands?\b": "subcommand",
    r"\bpuzzles?\b": "problem",
    r"\brandom games? to the end\b": "playout",
}
"""Other words for terms of the glossary, as regular expressions, with the terms."""

GLOSSARY = "docs/reference/glossary.md"
PLACES = "docs/contributing/words.md"
"""The meanings of all terms, and the table of those that name something in the code."""

EXEMPT = (
    *("CHANGELOG.md", "docs/how-to/upgrade.md", "docs/fr/", "LICENSE", "tests/", "arena/pages/static/", ".ci/"),
    "docs/reference/command-line.md",
)
"""Paths that are not read: history, legal text, scripts, and a page made from texts that are read in the code."""


class Fault(NamedTuple):
    """A place that breaks a rule."""

    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def main(arguments: list[str]) -> int:
    """Print the faults of these paths (all by default); 1 when there are any."""
    files = tracked()
    chosen = [path for path in files if _is_chosen(path, arguments)]
    broken = [fault for path in chosen for fault in faults(path)]
    of_all = class_faults(files) + glossary_faults(glossary(), placed_terms())
    broken += [fault for fault in of_all if fault.path in set(chosen)]
    broken += [fault for path in named() if _is_chosen(path, arguments) for fault in name_faults(path)]
    long = [fault for path in chosen if path.endswith(".md") for fault in long_sentences(path)]
    for fault in (*long, *broken):
        print(fault)
    print(f"{len(broken)} faults in {len(chosen)} files; {len(long)} sentences of more than {MAX_SENTENCE_WORDS} words")
    return 1 if broken else 0


def tracked() -> list[str]:
    """List the files of the project that git knows and that are not exempt."""
    return [path for path in listed() if not path.startswith(EXEMPT)]


def listed() -> list[str]:
    """List all files of the project that git knows."""
    paths = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [path for path in paths.split("\n") if path and (ROOT / path).is_file()]


def named() -> list[str]:
    """List the modules, whose names in functions are held to the rule."""
    return [path for path in listed() if path.endswith(".py")]


def faults(path: str) -> Iterator[Fault]:
    """Yield the faults of one file."""
    if path.endswith(".py"):
        yield from _python_faults(path)
    elif path.endswith((".md", ".html", ".toml", ".yaml", ".service", ".conf")):
        for number, line in enumerate(_lines(path), 1):
            yield from _banned(path, number, line)


def class_faults(files: list[str]) -> list[Fault]:
    """Return the public classes of the product whose name another one has."""
    places: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for path in files:
        if path.endswith(".py") and path.startswith(PRODUCT):
            for node in ast.parse("\n".join(_lines(path))).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    places[node.name].append((path, node.lineno))
    return [
        Fault(path, line, f"class {name} is also in {', '.join(other for other, _ in uses if other != path)}")
        for name, uses in places.items()
        if len(uses) > 1
        for path, line in uses
    ]


def glossary() -> list[tuple[int, str, str]]:
    """Return the entries of the glossary: line, term, meaning. Names that share a meaning are separate entries."""
    found, lines = [], _lines(GLOSSARY)
    for number, line in enumerate(lines, 1):
        if line.startswith("  ") and not lines[number - 2].startswith("  "):
            meaning = " ".join(one.strip() for one in takewhile(str.strip, lines[number - 1 :]))
            found += [(number - 1, term, meaning) for term in lines[number - 2].split(", ")]
    return found


def placed_terms() -> list[tuple[int, str]]:
    """Return the terms of the table of places in the code, with their lines."""
    rows = [(number, line.strip("| ").split(" | ")) for number, line in enumerate(_lines(PLACES), 1)]
    begin = next(number for number, cells in rows if cells == ["word", "where"]) + 1
    return [(number, cells[0]) for number, cells in takewhile(lambda row: len(row[1]) == 2, rows[begin:])]


def glossary_faults(entries: list[tuple[int, str, str]], placed: list[tuple[int, str]]) -> list[Fault]:
    """Return the terms with no, two or several meanings, the meanings of two terms, and those out of order."""
    terms, wrong = [term for _, term, _ in entries], []
    for number, term, meaning in entries:
        if terms.count(term) > 1:
            wrong.append(Fault(GLOSSARY, number, f"{term!r} has several meanings"))
        if any(other == meaning and line != number for line, _, other in entries):
            wrong.append(Fault(GLOSSARY, number, f"the meaning of {term!r} is also that of another term"))
        if re.search(r"\bin (?:a|the) \w+: .*\bin (?:a|the) \w+: ", meaning, re.I):
            wrong.append(Fault(GLOSSARY, number, f"{term!r} has a meaning for each of several contexts; split it"))
    first = {number: term for number, term, _ in reversed(entries)}
    wrong += [
        Fault(GLOSSARY, after, f"{first[after]!r} is out of alphabetical order")
        for before, after in pairwise(sorted(first))
        if first[after].lower() < first[before].lower()
    ]
    return wrong + [Fault(PLACES, line, f"{term!r} is not in {GLOSSARY}") for line, term in placed if term not in terms]


def long_sentences(path: str) -> Iterator[Fault]:
    """Yield the sentences of a Markdown page that are longer than a reader holds."""
    text = re.sub(r"```.*?```|^\|.*?$|^ {4}.*?$", "", "\n".join(_lines(path)), flags=re.S | re.M)
    for sentence in re.split(r"(?<=[.!?:])\s+|\n\n+|\n[-*#] ", text):
        if len(sentence.split()) > MAX_SENTENCE_WORDS:
            yield Fault(path, 0, f"{len(sentence.split())} words: {' '.join(sentence.split())[:80]}…")


def _python_faults(path: str) -> Iterator[Fault]:
    source = "\n".join(_lines(path))
    tree = ast.parse(source)
    if path.startswith(PRODUCT):
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                yield from _opening_faults(path, node)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            for offset, line in enumerate(node.value.split("\n")):
                yield from _banned(path, node.lineno + offset, line)
    for token in tokenize.generate_tokens(io.StringIO(source + "\n").readline):
        if token.type == tokenize.COMMENT:
            yield from _banned(path, token.start[0], token.string)


def name_faults(path: str) -> list[Fault]:
    """Return the variables and parameters of a module that do not say what they hold."""
    tree = ast.parse("\n".join(_lines(path)))
    return [Fault(path, line, f"the variable {name!r}: use the noun") for line, name in sorted(riddles(tree))]


def riddles(tree: ast.Module) -> set[tuple[int, str]]:
    """Return the variables and parameters of longer functions that have a name of `RIDDLES`, by line."""
    return {
        (node.lineno, name)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        if (function.end_lineno or 0) - function.lineno >= MAX_RIDDLE_LINES
        for node in ast.walk(function)
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        if (name := node.arg if isinstance(node, ast.arg) else node.id) in RIDDLES
    }


def _opening_faults(
    path: str, node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[Fault]:
    text = ast.get_docstring(node)
    if text is None:
        return
    word = (text.split() or [""])[0].strip(",.;:").lower()
    line = node.body[0].lineno
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    if is_function and not _is_property(node):
        if word not in VERBS:
            yield Fault(path, line, f"docstring of {node.name} starts with {word!r}, not with an imperative verb")
    elif word in CLAUSES:
        yield Fault(path, line, f"docstring starts with the clause word {word!r}")


def _is_property(node: ast.AST) -> bool:
    decorators = getattr(node, "decorator_list", [])
    return any("property" in ast.unparse(one) or "validator" in ast.unparse(one) for one in decorators)


def _banned(path: str, number: int, line: str) -> Iterator[Fault]:
    for pattern, better in (BANNED | SYNONYMS).items():
        if found := re.search(pattern, line, re.I):
            yield Fault(path, number, f"{found.group(0)!r}: {better}: {line.strip()[:90]}")


def _lines(path: str) -> list[str]:
    return (ROOT / path).read_text("utf-8").split("\n")


def _is_chosen(path: str, arguments: list[str]) -> bool:
    return not arguments or any(path == place or path.startswith(place.rstrip("/") + "/") for place in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
