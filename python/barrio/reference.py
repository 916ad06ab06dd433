"""Print the reference page of the Python package, from its type stub: `python -m barrio.reference`."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

HEAD = """# Python

The package `barrio`: C++ names, mpi4py communicators, numpy arrays without a copy. This page is printed by
`python -m barrio.reference`. After `make demo`: `PYTHONPATH=build/release/python build/venv/bin/python`. To install it
elsewhere: [python/README](../../python/README.md).

Collective calls say so; all others are local. Long calls release the GIL. Errors are `barrio.UsageError`,
`barrio.BadInputError` and `barrio.FailedError`, all derived from `barrio.Error`, with `subject`, `cause`, `remedy` and
`code` (the exit code of the command). Every rank raises the same error of a collective call.
"""

ORDER = (
    "Mesh",
    "Field",
    "MeshSet",
    "StructuredMesh",
    "VtkhdfWriter",
    "Exchange",
    "Round",
    "Context",
    "SharedIds",
    "GatherScatter",
)  # all others follow


def tidy_types(text: str) -> str:
    """Remove module paths from types."""
    text = re.sub(
        r"\b(?:barrio\._core|collections\.abc|numpy\.typing|mpi4py\.MPI|typing)\.", "", text
    )
    shape = r", dict\([^()]*(?:\([^()]*\)[^()]*)*\)"
    return re.sub(rf"Annotated\[(NDArray\[[\w.]+\]){shape}\]", r"\1", text)


def first_docstring(node: ast.ClassDef | ast.FunctionDef) -> str:
    return " ".join(inspect.cleandoc(ast.get_docstring(node) or "").split("\n\n")[0].split())


def rest_of_docstring(node: ast.ClassDef | ast.FunctionDef) -> list[str]:
    paragraphs = inspect.cleandoc(ast.get_docstring(node) or "").split("\n\n")[1:]
    return [" ".join(paragraph.split()) for paragraph in paragraphs]


def signature(function: ast.FunctionDef) -> str:
    arguments = ast.unparse(function.args).removeprefix("self").removeprefix(", ")
    arguments = re.sub(r"(?<=[\w\]])=(?=[\w'\[])", " = ", arguments)
    result = "" if function.returns is None else f" -> {ast.unparse(function.returns)}"
    name = "" if function.name == "__init__" else function.name
    return tidy_types(f"{name}({arguments}){'' if not name else result}")


def is_property(function: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "property" for d in function.decorator_list)


def member(function: ast.FunctionDef) -> str:
    if is_property(function):
        words = (
            f"`{function.name}: {tidy_types(ast.unparse(function.returns or ast.Constant(None)))}`"
        )
    else:
        words = f"`{signature(function)}`"
    said = " ".join([first_docstring(function), *rest_of_docstring(function)]).strip()
    return f"- {words}" + (f": {said}" if said else "")


def describe_class(node: ast.ClassDef) -> list[str]:
    lines = [f"\n## {node.name}\n"]
    paragraphs = [first_docstring(node), *rest_of_docstring(node)]
    if any(paragraphs):
        lines += ["\n\n".join(paragraphs), ""]
    if any(ast.unparse(base).endswith("Enum") for base in node.bases):
        names = [
            t.id
            for s in node.body
            if isinstance(s, ast.Assign)
            for t in s.targets
            if isinstance(t, ast.Name)
        ]
        return [
            *lines,
            "Values: " + ", ".join(f"`{n}`" for n in names if not n.startswith("_")) + ".",
        ]
    functions = [f for f in node.body if isinstance(f, ast.FunctionDef)]
    for function in functions:
        if function.name == "__init__" and function.args.args[1:]:
            said = " ".join([first_docstring(function), *rest_of_docstring(function)]).strip()
            lines.append(f"- `{node.name}{signature(function)}`" + (f": {said}" if said else ""))
        elif not function.name.startswith("_"):
            lines.append(member(function))
    return lines


def page(stub: str) -> str:
    """Return the page, in Markdown, for a stub's text."""
    body = ast.parse(stub).body
    lines = [HEAD, "## Functions\n"]
    lines += [member(node) for node in body if isinstance(node, ast.FunctionDef)]
    classes = [node for node in body if isinstance(node, ast.ClassDef)]
    order = {name: i for i, name in enumerate(ORDER)}
    for node in sorted(classes, key=lambda c: order.get(c.name, len(order))):
        lines += describe_class(node)
    return "\n".join(lines) + "\n"


def module_section(name: str, source: str) -> str:
    """Return the section on a module of the package, in Markdown."""
    tree = ast.parse(source)
    words = inspect.cleandoc(ast.get_docstring(tree) or "").split("\n\n")
    lines = [f"\n## Module {name}\n", words[0], ""]
    lines += [
        member(node)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]
    for node in (n for n in tree.body if isinstance(n, ast.ClassDef)):
        fields = [
            f"`{part.target.id}: {tidy_types(ast.unparse(part.annotation))}`"
            for part in node.body
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
        ]
        described = describe_class(node)
        described[0] = f"\n### {name}.{node.name}\n"
        lines += [*described, *([f"- Fields: {', '.join(fields)}."] if fields else [])]
    return "\n".join(lines) + "\n"


def main() -> None:
    here = Path(__file__).parent
    print(page((here / "_core.pyi").read_text()), end="")
    for name in ("amr", "delaunay", "rankmap"):
        print(module_section(name, (here / f"{name}.py").read_text()), end="")


if __name__ == "__main__":
    main()
