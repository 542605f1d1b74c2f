"""Reading a page back: a small tree of its elements, as a browser would build it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "input", "hr", "img"}


@dataclass
class Node:
    tag: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Node | str] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def all(self, tag: str, **wanted: str) -> list[Node]:
        """Every element of a tag; ``class_`` matches one of its classes."""
        return [node for node in self.walk() if node.tag == tag and node.has(wanted)]

    def one(self, tag: str, **wanted: str) -> Node:
        (found,) = self.all(tag, **wanted)
        return found

    def has(self, wanted: dict[str, str]) -> bool:
        classes = self.attributes.get("class", "").split()
        return all(
            value in classes if key == "class_" else self.attributes.get(key) == value for key, value in wanted.items()
        )

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def rows(self) -> list[list[str]]:
        """The body of a table as text."""
        body = self if self.tag == "tbody" else self.one("tbody")
        return [[cell.text for cell in row.walk() if cell.tag in {"th", "td"}] for row in body.all("tr")]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("document")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Node(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read(page: str) -> Node:
    """The tree of a page; fails when an element is not closed in order."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert [node.tag for node in reader.open] == ["document"]
    return reader.root
