"""SVG as escaped text. Colours are classes, so that one picture serves light, dark and print."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup, escape


@dataclass(frozen=True, slots=True)
class Size:
    """A canvas in CSS pixels; ``name`` is the class the stylesheet shows or hides it by."""

    name: str
    width: int
    height: int
    narrow: bool = False


WIDE = Size("wide", 1040, 360)
MIDDLE = Size("middle", 680, 340)
NARROW = Size("narrow", 340, 320, narrow=True)

LETTER = 7.1
"""Mean width of a letter of a chart's text, generously, in pixels."""


def element(name: str, content: str | Markup = "", **attributes: str | float | None) -> Markup:
    """An element; ``None`` is left out, ``class_`` stands for ``class`` and ``stroke_width`` for ``stroke-width``."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_short(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = escape(content)
    return Markup(f"<{name}{given}>{inside}</{name}>") if inside else Markup(f"<{name}{given}/>")


def text(words: str, x: float, y: float, *, anchor: str | None = None, kind: str | None = None) -> Markup:
    """A line of text."""
    return element("text", words, x=x, y=y, text_anchor=anchor, class_=kind)


def canvas(size: Size, label: str, *parts: Markup) -> Markup:
    """The whole picture, described to those who cannot see it by ``label`` and the table behind it."""
    return element(
        "svg",
        Markup("").join(parts),
        viewBox=f"0 0 {size.width} {size.height}",
        class_=f"chart {size.name}",
        role="img",
        aria_label=label,
    )


def diamond(x: float, y: float, tone: str) -> Markup:
    """A hollow mark: what somebody else found."""
    return element("path", d=f"M{x - 4.5:.1f} {y:.1f}l4.5 -4.5l4.5 4.5l-4.5 4.5z", class_=f"hollow {tone}")


def polyline(points: list[tuple[float, float]]) -> str:
    """Path data through ``points``."""
    return "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in points)


def _short(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")
