"""Make a page of each public header from the XML of Doxygen, in the C++ domain of Sphinx."""

from __future__ import annotations

import collections
import collections.abc
import dataclasses
import pathlib
import re
import xml.etree.ElementTree as ET

# Entities whose meaning is that of the language or of the standard library.
STANDARD = re.compile(
    r"operator(=|==|!=|<=>|<|>|\+|\+\+|--|->|\*|\[\])|~.*|begin|end"
    r"|value_type|pointer|reference|difference_type|iterator_category|iterator_concept|iterator"
)
KINDS = {"class", "struct", "union", "concept"}
SPECIAL = re.compile(r"([\\`*_{}\[\]<>$~|#^@])")
SECTIONS = {
    "return": "Returns",
    "pre": "Requires",
    "post": "Ensures",
    "note": "Note",
    "see": "See",
    "invariant": "Invariant",
}


@dataclasses.dataclass
class Entity:
    """A class, function, variable, enumeration, alias or concept of a public header."""

    node: ET.Element
    scope: str
    members: list[Entity] = dataclasses.field(default_factory=list)

    @property
    def name(self) -> str:
        return (self.node.findtext("name") or self.node.findtext("compoundname")).split("::")[-1]

    @property
    def kind(self) -> str:
        return self.node.get("kind")

    @property
    def file(self) -> str:
        return self.node.find("location").get("file")

    @property
    def line(self) -> int:
        return int(self.node.find("location").get("line"))

    @property
    def has_text(self) -> bool:
        return any(
            "".join(self.node.find(part).itertext()).strip()
            for part in ("briefdescription", "detaileddescription")
        )


def plain(node: ET.Element | None) -> str:
    """Return C++ text, spaced as barrio spaces it."""
    text = " ".join("".join(node.itertext()).split()) if node is not None else ""
    return re.sub(r"< (?=[\w:(])|(?<=[\w>*&\])]) (?=>)", lambda m: m[0].strip(), text)


def is_standard(entity: Entity, owner: str) -> bool:
    """Tell whether the language says all of a member: copying, comparing, iterating, destroying."""
    if STANDARD.fullmatch(entity.name):
        return True
    arguments = entity.node.findtext("argsstring") or ""
    return entity.name == owner and bool(
        arguments.startswith("()")
        or re.match(rf"\((const )?{re.escape(owner)}\b[^,]*&&?[^,]*\)", arguments)
    )


def is_instance(entity: Entity) -> bool:
    """Tell whether an entity is an instantiation or a specialisation of a template that has a text of its own."""
    parameters = entity.node.find("templateparamlist")
    return plain(entity.node.find("type")).startswith("template ") or (
        parameters is not None and len(parameters) == 0
    )


def members_of(compound: ET.Element, scope: str) -> list[Entity]:
    return [
        Entity(node, scope)
        for node in compound.iter("memberdef")
        if node.get("prot") == "public" and node.get("kind") != "friend"
    ]


def read(folder: pathlib.Path) -> dict[str, list[Entity]]:
    """Return the entities of each header, in the order of the header."""
    compounds: dict[str, ET.Element] = {}
    by_file: dict[str, list[Entity]] = collections.defaultdict(list)
    for path in sorted(folder.glob("*.xml")):
        for compound in ET.parse(path).getroot().iter("compounddef"):
            compounds[compound.get("id")] = compound

    def class_of(compound: ET.Element) -> Entity:
        name = compound.findtext("compoundname")
        entity = Entity(compound, name.rpartition("::")[0])
        entity.members = [
            m
            for m in members_of(compound, name)
            if not is_standard(m, entity.name.split("<")[0]) and not is_instance(m)
        ]
        entity.members += [
            class_of(compounds[inner.get("refid")])
            for inner in compound.findall("innerclass")
            if inner.get("prot") == "public" and inner.get("refid") in compounds
        ]
        entity.members.sort(key=lambda member: member.line)
        return entity

    inner = {
        inner.get("refid")
        for compound in compounds.values()
        if compound.get("kind") in KINDS
        for inner in compound.findall("innerclass")
    }
    seen = set()
    for key, compound in compounds.items():
        if "detail" in (compound.findtext("compoundname") or "").split("::"):
            continue
        if compound.get("kind") == "namespace":
            found = members_of(compound, compound.findtext("compoundname"))
        elif compound.get("kind") in KINDS and key not in inner:
            found = [class_of(compound)]
        else:
            continue
        for entity in found:
            if (
                entity.node.get("id") not in seen
                and not STANDARD.fullmatch(entity.name)
                and not is_instance(entity)
            ):
                seen.add(entity.node.get("id"))
                by_file[entity.file].append(entity)
    for entities in by_file.values():
        entities.sort(key=lambda entity: entity.line)
    return by_file


def without_text(entities: list[Entity]) -> list[str]:
    """List the entities that have no doc comment."""
    lines = []
    for entity in entities:
        if not entity.has_text:
            lines.append(
                f"{entity.file}:{entity.line}: {entity.scope}::{entity.name} has no doc comment"
            )
        lines += [
            f"{entity.file}:{entity.line}: {entity.name}::{value.findtext('name')} has no doc comment"
            for value in entity.node.findall("enumvalue")
            if not Entity(value, "").has_text
        ]
        lines += without_text(entity.members)
    return lines


def count(entities: list[Entity]) -> int:
    return sum(
        1 + len(entity.node.findall("enumvalue")) + count(entity.members) for entity in entities
    )


class Writer:
    """Text of pages. `known`: ids of entities that some page has, which references may lead to."""

    def __init__(self, known: set[str]) -> None:
        self.known = known

    def inline(self, node: ET.Element) -> str:
        """Return the text of a description in Markdown."""
        text = SPECIAL.sub(r"\\\1", node.text or "")
        for child in node:
            text += self.child(child) + SPECIAL.sub(r"\\\1", child.tail or "")
        return text

    def child(self, node: ET.Element) -> str:
        tag = node.tag
        if tag == "computeroutput":
            return f"`{''.join(node.itertext())}`"
        if tag == "ref":
            return (
                f"[{self.inline(node)}](#{node.get('refid')})"
                if node.get("refid") in self.known
                else self.inline(node)
            )
        if tag == "ulink":
            return f"[{self.inline(node)}]({node.get('url')})"
        if tag == "emphasis":
            return f"*{self.inline(node)}*"
        if tag == "bold":
            return f"**{self.inline(node)}**"
        if tag == "simplesect":
            return f"\n\n**{SECTIONS.get(node.get('kind'), node.get('kind'))}:** {self.inline(node).strip()}\n\n"
        if tag == "parameterlist":
            return "\n\n" + "".join(self.parameter(node.get("kind"), item) for item in node) + "\n"
        if tag in ("itemizedlist", "orderedlist"):
            return (
                "\n\n"
                + "".join(
                    "- " + " ".join(self.inline(item).split()) + "\n"
                    for item in node.findall("listitem")
                )
                + "\n"
            )
        if tag == "programlisting":
            return "\n\n```cpp\n" + "\n".join(self.code(line) for line in node) + "\n```\n\n"
        if tag in ("verbatim", "preformatted"):
            return "\n\n```text\n" + (node.text or "").strip("\n") + "\n```\n\n"
        if tag == "linebreak":
            return "\\\n"
        if tag == "para":
            return self.inline(node) + "\n\n"
        if tag in ("ndash", "mdash"):
            return "–"
        if tag in ("lsquo", "rsquo"):
            return "'"
        return self.inline(node)

    def code(self, node: ET.Element) -> str:
        text = node.text or ""
        for child in node:
            text += (" " if child.tag == "sp" else self.code(child)) + (child.tail or "")
        return text

    def parameter(self, kind: str, item: ET.Element) -> str:
        names = ", ".join("".join(name.itertext()) for name in item.iter("parametername"))
        text = " ".join(self.inline(item.find("parameterdescription")).split())
        return f"- {'throws ' if kind == 'exception' else ''}`{names}`: {text}\n"

    def description(self, node: ET.Element) -> str:
        parts = [
            self.inline(node.find(part)).strip()
            for part in ("briefdescription", "detaileddescription")
        ]
        brief, rest = parts
        is_list = rest.startswith(("-", "*", "`", "1."))
        return (brief + ("\n\n" if is_list else " ") + rest).strip() + "\n"

    def template(self, node: ET.Element) -> str:
        parameters = node.find("templateparamlist")
        if parameters is None:
            return ""
        words = []
        for parameter in parameters.findall("param"):
            word = " ".join(
                part
                for part in (plain(parameter.find("type")), parameter.findtext("declname"))
                if part
            )
            default = plain(parameter.find("defval"))
            words.append(word + (f" = {default}" if default else ""))
        requires = plain(node.find("requiresclause"))
        is_name = requires and "{" not in requires  # Sphinx reads no requires expression
        return f"template<{', '.join(words)}> " + (f"requires {requires} " if is_name else "")

    def directive(self, entity: Entity) -> tuple[str, str]:
        """Return the directive of an entity and its argument."""
        node = entity.node
        name = entity.name
        if entity.kind in ("class", "struct", "union"):
            bases = [plain(base) for base in node.findall("basecompoundref")]
            return entity.kind, self.template(node) + name + (
                f" : public {', '.join(bases)}" if bases else ""
            )
        if entity.kind == "concept":
            return "concept", self.template(node) + name
        if entity.kind == "enum":
            return ("enum-class" if node.get("strong") == "yes" else "enum"), name
        if entity.kind == "typedef":
            return (
                "type",
                f"{self.template(node)}{name} = {plain(node.find('type')).removeprefix('using ')}",
            )
        kind = plain(node.find("type")).removeprefix("constexpr ").removeprefix("static ")
        if entity.kind == "variable":
            arguments = node.findtext("argsstring") or ""
            value = plain(node.find("initializer"))
            static = "static " if node.get("static") == "yes" else ""
            value = value if len(value) < 60 and "\n" not in value else ""
            return (
                "member",
                f"{self.template(node)}{static}{kind} {name}{arguments}{' ' + value if value else ''}",
            )
        arguments = re.sub(
            r"< (?=[\w:(])|(?<=[\w>*&\])]) (?=>)",
            lambda m: m[0].strip(),
            node.findtext("argsstring") or "",
        )
        arguments = re.sub(r"\s*=\s*default$| override| final", "", arguments)
        words = [word for word in ("static", "explicit") if node.get(word) == "yes"]
        if node.get("virt") in ("virtual", "pure-virtual"):
            words.append("virtual")
        return "function", self.template(node) + " ".join(
            [*words, *([kind] if kind else []), name + arguments]
        )

    def text(self, entity: Entity) -> tuple[str, int]:
        """Return the text of an entity with its members, and the length of its fence."""
        kind, argument = self.directive(entity)
        body = self.description(entity.node)
        if entity.kind == "enum":
            for value in entity.node.findall("enumvalue"):
                about = " ".join(self.description(value).split())
                body += f"\n- `{value.findtext('name')}`: {about}\n"
        fence = 3
        for member in entity.members:
            text, length = self.text(member)
            fence = max(fence, length + 1)
            body += "\n" + text
        marks = ":" * max(fence, 4)
        return (
            f"({entity.node.get('id')})=\n{marks}{{cpp:{kind}}} {argument}\n\n{body}\n{marks}\n",
            len(marks),
        )

    def page(self, header: str, purpose: str, entities: list[Entity]) -> str:
        text = (
            f'# {pathlib.PurePath(header).name}\n\n{purpose}\n\n```cpp\n#include "{header}"\n```\n'
        )
        scope = None
        for entity in entities:
            if entity.scope != scope:
                scope = entity.scope
                text += f"\n```{{cpp:namespace}} {scope}\n```\n"
            text += "\n" + self.text(entity)[0]
        return text


def ids(by_file: collections.abc.Iterable[list[Entity]]) -> set[str]:
    """Return the ids of entities and members, to which references may lead."""
    found = set()
    for entities in by_file:
        found |= {entity.node.get("id") for entity in entities} | ids(
            [entity.members for entity in entities]
        )
    return found
