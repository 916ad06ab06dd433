"""Check the form that every page of the report must have."""

from __future__ import annotations

from html.parser import HTMLParser

_VOID = {"img", "input", "meta", "br", "hr", "col"}


class Form(HTMLParser):
    """Collect text and attributes, and check that elements close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.images: list[dict[str, str | None]] = []
        self.links: list[str] = []
        self.headings: list[str] = []
        self._svg = ""  # alternative text of the present one

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        self.links += [v for k, v in attrs if k in ("src", "href", "xlink:href", "data") and v]
        if "id" in said:
            self.ids.append(said["id"] or "")
        if tag == "svg":
            self._svg = said.get("aria-label") or ""
        if tag == "img":
            self.images.append(said)
        if tag == "image" and said.get("class") == "shot":  # a picture with axes
            self.images.append(said | {"alt": self._svg})
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> in {self.open}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["h2"]:
            self.headings.append(data)


def check(page: str, files: set[str] | None = None) -> Form:
    """Check the form: elements close, ids are unique, and nothing is fetched from outside.

    files: the other pages that it may link to.
    """
    checker = Form()
    checker.feed(page)
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids))
    for link in checker.links:
        if link in (files or set()):
            continue
        assert link.startswith(("data:image/png;base64,", "#")), link
        if link.startswith("#"):
            assert link[1:] in checker.ids
    assert all(image.get("alt") for image in checker.images)
    assert "@import" not in page
    assert page.count("<script") == (1 if 'class="film"' in page else 0)
    return checker
