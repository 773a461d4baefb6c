"""The page in a real browser: at a phone's and a desk's width, in the dark, and on paper."""

import re
from dataclasses import replace

import pytest

import bayescale as bs
from bayescale.inference.gate import Gate, Problem
from tests.report.conftest import reported

# all that is seen, and sticks out on the right of the page, outside of what scrolls by itself
STICKING_OUT = """() => [...document.querySelectorAll('main *, header *')]
  .filter(e => !e.closest('thead, .scroll, .equation span'))
  .filter(e => e.getBoundingClientRect().right > innerWidth + 1)
  .map(e => e.tagName + ': ' + e.textContent.slice(0, 60))"""
CONTRAST = """() => {
  const channel = c => (c /= 255) <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  const light = text => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number);
    return .2126 * channel(r) + .7152 * channel(g) + .0722 * channel(b); };
  const behind = e => { for (; e; e = e.parentElement) {
      const c = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$|transparent/.test(c)) return c; } return 'rgb(255,255,255)'; };
  const ratio = e => { const [a, b] = [light(getComputedStyle(e).color), light(behind(e))];
    return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); };
  return Math.min(...[...document.querySelectorAll('p, li, td, th, dd, dt, a, h1, h2, h3, caption')]
    .filter(e => e.textContent.trim()).map(ratio)); }"""


@pytest.fixture(scope="module")
def pages(whole, tmp_path_factory):
    """A report of a fit that passed, and one of a failed fit, a long equation and a long word."""
    path = tmp_path_factory.mktemp("pages") / "failed.html"
    problem = Problem("rhat", "R-hat is not below 1.01: E 1.2.", "more draws")
    gate = Gate((problem,), 1.2, 90.0, 80.0, 0, 0.9)
    bs.report(replace(reported("repetition"), gate=gate), path, title="x" * 90)
    return {"passed": whole.path, "failed": path}


def opened(browser, path, width, **options):
    """The page at a width, with what the console said and what was asked of the network."""
    context = browser.new_context(viewport={"width": width, "height": 844}, **options)
    page, said, asked = context.new_page(), [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda problem: said.append(str(problem)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    loaded = [url for url in asked if not url.startswith("data:") and url != path.as_uri()]
    return context, page, said, loaded


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["passed", "failed"])
def test_fits_its_width_and_loads_nothing(browser, pages, name, width):
    context, page, said, loaded = opened(browser, pages[name], width)
    assert said == []
    assert loaded == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(STICKING_OUT) == []
    sizes = page.evaluate("[...document.images].map(i => [i.naturalWidth, i.complete, i.width])")
    assert len(sizes) >= 6
    assert all(natural > 0 and complete and shown > 250 for natural, complete, shown in sizes)
    assert page.evaluate("[...document.querySelectorAll('math')].every(m => m.clientWidth > 5)")
    context.close()


def test_answer_or_alarm_is_on_the_first_screen_of_a_phone(browser, pages):
    context, page, _, _ = opened(browser, pages["passed"], 390)
    top = page.evaluate("document.querySelector('.lead').getBoundingClientRect().top")
    assert top < 844
    context.close()
    context, page, _, _ = opened(browser, pages["failed"], 390)
    box = page.evaluate(
        "(r => [r.top, r.width])(document.querySelector('.alarm').getBoundingClientRect())"
    )
    assert box[0] < 400
    assert box[1] > 300
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(browser, pages, scheme):
    context, page, _, _ = opened(browser, pages["failed"], 390, color_scheme=scheme)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")
    assert page.evaluate(CONTRAST) >= 4.5
    context.close()


def test_prints_without_cut_figures(browser, pages):
    context, page, _, _ = opened(browser, pages["passed"], 1280)
    page.emulate_media(media="print", color_scheme="dark")
    rules = page.evaluate(
        "[...document.querySelectorAll('figure, tr')].map(e => getComputedStyle(e).breakInside)"
    )
    assert set(rules) == {"avoid"}
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    printed = page.pdf(format="A4", print_background=True)
    assert 3 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 12
    context.close()
