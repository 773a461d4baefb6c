"""What a report's page holds, read by an HTML parser."""

import re

import html5lib

HTML = "{http://www.w3.org/1999/xhtml}"
MATHML = "{http://www.w3.org/1998/Math/MathML}"
LOADING = ("script", "iframe", "object", "embed", "audio", "video", "source", "base", "form")


def parsed(path):
    """The page as a tree; anything that the HTML standard calls an error fails."""
    return html5lib.HTMLParser(strict=True).parse(path.read_text(encoding="utf-8"))


def all_of(tree, name, space=HTML):
    return list(tree.iter(f"{space}{name}"))


def text_of(element):
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def section(tree, name):
    """The section of this anchor."""
    return next(s for s in all_of(tree, "section") if s.get("id") == name)


def external(tree):
    """All that the page would load or run: elements, attributes, style rules."""
    found = [e.tag for name in LOADING for e in all_of(tree, name)]
    for e in tree.iter():
        for key, value in e.attrib.items():
            loads = key in ("src", "srcset", "data", "poster", "background", "href")
            inside = value.startswith(("data:", "#"))
            if key.startswith("on") or (loads and not inside):
                found.append(f"{e.tag} {key}={value[:60]}")
    for style in all_of(tree, "style"):
        found += re.findall(r"@import[^;]*|url\([^)]*\)|@font-face", style.text or "")
    return found


def levels(tree):
    """Levels of the headings, in order."""
    return [int(e.tag[-1]) for e in tree.iter() if re.fullmatch(r"\{.*\}h[1-6]", str(e.tag))]
