"""Turn the page that `python -m barrio.reference` prints into objects of Sphinx's Python domain."""

from __future__ import annotations

import re

ITEM = re.compile(r"- `([^`]+)`(?:: (.*))?")


def with_directives(text: str) -> str:
    """Give each class, function and attribute its directive, so that the index and the search know it."""
    out: list[str] = []
    module, owner = "barrio", ""
    seen: set[str] = set()
    for line in text.splitlines():
        if heading := re.fullmatch(r"(##+) (Module )?(?:\w+\.)?(\w+)", line):
            if heading[2]:
                module, owner = f"barrio.{heading[3]}", ""
                out += [line, "", f"```{{py:module}} {module}", "```"]
                continue
            owner = "" if heading[3] == "Functions" else heading[3]
            out += [line, ""]
            if owner:
                out += [f"```{{py:class}} {module}.{owner}", "```"]
            continue
        item = ITEM.fullmatch(line)
        if not item:
            out.append(line)
            continue
        signature, about = item[1], item[2] or ""
        name = re.match(r"\w+", signature)[0]
        if name == owner:  # how an object is made
            out += [
                "",
                f":::{{py:method}} {module}.{owner}.__init__{signature[len(name) :]}",
                "",
                about,
                ":::",
                "",
            ]
            continue
        full = ".".join(part for part in (module, owner, name) if part)
        again = [":no-index:"] if full in seen else []
        seen.add(full)
        if "(" in signature.split(":")[0]:
            kind = "method" if owner else "function"
            out += [
                "",
                f":::{{py:{kind}}} {full}{signature[len(name) :]}",
                *again,
                "",
                about,
                ":::",
                "",
            ]
        else:
            kind = "attribute" if owner else "data"
            out += [
                "",
                f":::{{py:{kind}}} {full}",
                f":type: {signature.partition(': ')[2]}",
                *again,
                "",
                about,
                ":::",
                "",
            ]
    return "\n".join(out) + "\n"


def without_text(text: str) -> list[str]:
    """List the entities that say nothing. How an object is made is said by the text of its class."""
    faults, owner, has_text = [], "", True
    for line in text.splitlines():
        if heading := re.fullmatch(r"##+ (?:Module )?(?:\w+\.)?(\w+)", line):
            if not has_text:
                faults.append(f"docs/reference/python.md: {owner} has no docstring")
            owner, has_text = heading[1], False
        elif item := ITEM.fullmatch(line):
            if not item[2] and not item[1].startswith(f"{owner}("):
                faults.append(f"docs/reference/python.md: {owner}.{item[1]} has no docstring")
            has_text = has_text or owner == "Functions"
        elif line and not line.startswith(("Values:", "- Fields:")):
            has_text = True
    return faults
