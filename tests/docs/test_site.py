"""The built site in a browser: every page at the width of a desktop and of a phone, the search, links, pictures, the console.

`make check-docs` builds the site and runs this. DMLOPS_SITE_PICTURES names a folder to keep a screenshot of each page in.
"""

import base64
import functools
import http.server
import os
import pathlib
import shutil
import threading
import urllib.parse
from html.parser import HTMLParser

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SITE = ROOT / "build" / "docs"
PAGES = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html") if "_static" not in path.parts)
WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
# What scrolls sideways by itself is meant to; the page is not.
BROKEN_PICTURES = "return [...document.images].filter(i => i.complete && !i.naturalWidth && i.offsetParent).map(i => i.src)"
LOAD_PICTURES = "for (const i of document.images) i.loading = 'eager'"
PICTURES_ARE_LOADED = "return [...document.images].every(i => i.complete)"
OVERHANG = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
WIDEST = """
const room = document.documentElement.clientWidth;
return [...document.querySelectorAll('body *')].filter(e => e.getBoundingClientRect().right > room + 1)
    .slice(0, 5).map(e => e.tagName + '.' + e.className + ' ' + (e.textContent || '').slice(0, 60));
"""


# Code whose lines have 90 columns at most, and that scrolls sideways all the same.
CODE_THAT_SCROLLS = """
return [...document.querySelectorAll('.bd-article pre')].filter(pre => pre.scrollWidth > pre.clientWidth + 1)
    .map(pre => pre.innerText).filter(text => text.split('\\n').every(line => line.length <= 90));
"""
# Names in the code of tables, and of headings, that stand on two lines.
BROKEN_NAMES = """
const broken = [];
for (const code of document.querySelectorAll('.bd-article :is(td, th) code, .bd-article h1')) {
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode())
        for (const match of node.data.matchAll(/[A-Za-z_]\\w*/g)) {
            const range = document.createRange();
            range.setStart(node, match.index);
            range.setEnd(node, match.index + match[0].length);
            if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) broken.push(match[0]);
        }
}
return broken;
"""
# Text of which the contrast to what is behind it is below 4.5, as WCAG counts it.
FAINT_TEXT = """
const parts = colour => (colour.match(/[\\d.]+/g) || []).map(Number);
const linear = value => value <= 10.31475 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4;
const light = colour => { const [r, g, b] = parts(colour).map(linear); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const behind = e => {
    for (; e; e = e.parentElement) {
        const colour = getComputedStyle(e).backgroundColor, [, , , opacity = 1] = parts(colour);
        if (opacity > 0.99) return colour;
    }
    return 'rgb(255, 255, 255)';
};
const faint = new Map(), article = document.querySelector('.bd-article');
const walker = document.createTreeWalker(article || document.createElement('p'), NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || !e.getClientRects().length || e.closest('svg, button, .headerlink')) continue;
    const pair = [light(getComputedStyle(e).color), light(behind(e))].sort((a, b) => b - a);
    const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (contrast < 4.5) faint.set(e.className + ' ' + node.data.trim().slice(0, 30), contrast.toFixed(1));
}
return [...faint].slice(0, 8);
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def address():
    """The site, served on this machine only."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


@pytest.fixture(scope="module")
def browser():
    program, driver = shutil.which("chromium") or shutil.which("chromium-browser"), shutil.which("chromedriver")
    if not program or not driver:
        pytest.skip("no browser: install the packages chromium and chromium-driver, or run `make check-docs` where apt can")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
    yield chrome
    chrome.quit()


def open_page(browser, url, width):
    columns, rows = WIDTHS[width]
    metrics = {"width": columns, "height": rows, "deviceScaleFactor": 1, "mobile": width == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(url)


def wait(browser, condition):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, 120).until(condition)


def console(browser):
    """The errors on the console. The site has no icon of its own for the browser's tab."""
    return [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE" and "favicon" not in entry["message"]]


def keep_picture(browser, page, width):
    folder = os.environ.get("DMLOPS_SITE_PICTURES")
    if folder:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        whole = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "format": "png"})
        pathlib.Path(folder, f"{page.replace('/', '-')}-{width}.png").write_bytes(base64.b64decode(whole["data"]))


def test_the_site_is_whole():
    """A page for each subject, whatever the build said."""
    assert len(PAGES) >= 20
    for page in (
        "index",
        "why",
        "install",
        "coming_from",
        "operators/index",
        "arrays",
        "performance",
        "api",
        "changelog",
        "tour/index",
    ):
        assert f"{page}.html" in PAGES


class Links(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.targets, self.names = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.names.add(attributes.get("id"))
        target = attributes.get("href" if tag == "a" else "src")
        if target:
            self.targets.append(target)


@functools.cache
def links(page):
    return Links((SITE / page).read_text())


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in links(page).targets:
        parts = urllib.parse.urlsplit(target)
        if parts.scheme or target in ("#", ""):
            continue
        path = os.path.normpath(pathlib.PurePosixPath(page).parent / urllib.parse.unquote(parts.path)) if parts.path else page
        assert (SITE / path).exists(), target
        if parts.fragment and path.endswith(".html") and page not in ("search.html",):
            assert urllib.parse.unquote(parts.fragment) in links(path).names, target


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_pages_look_right(address, browser, page, width):
    open_page(browser, address + page, width)
    browser.execute_script(LOAD_PICTURES)
    wait(browser, lambda chrome: chrome.execute_script(PICTURES_ARE_LOADED))
    keep_picture(browser, page, width)
    assert browser.execute_script(BROKEN_PICTURES) == []
    assert browser.execute_script(OVERHANG) <= 0, browser.execute_script(WIDEST)
    assert browser.execute_script(BROKEN_NAMES) == []
    if width == "desktop":
        assert browser.execute_script(CODE_THAT_SCROLLS) == []
        assert browser.execute_script(FAINT_TEXT) == []
    assert console(browser) == []


TASKS = ("letterbox", "centre crop", "patchify", "unfold", "normalise", "rot90", "HWC to CHW", "BGR", "colab")


@pytest.mark.parametrize(
    ("words", "page"),
    [("pixel_shuffle", "coming_from"), ("space_to_depth", "operators/space_to_depth"), *((task, ".html") for task in TASKS)],
)
def test_the_search_finds(address, browser, words, page):
    open_page(browser, address + "search.html?" + urllib.parse.urlencode({"q": words}), "desktop")
    targets = "return [...document.querySelectorAll('#search-results li a')].map(a => a.getAttribute('href'))"
    wait(browser, lambda chrome: any(page in target for target in chrome.execute_script(targets)))  # one comes after another
    assert console(browser) == []


def test_the_search_is_reached_from_a_page(address, browser):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    open_page(browser, address + "index.html", "desktop")
    wait(
        browser,
        lambda chrome: [
            button
            for button in chrome.find_elements(By.CSS_SELECTOR, ".search-button, .search-button-field")
            if button.is_displayed()
        ],
    )[0].click()
    field = wait(
        browser,
        lambda chrome: [field for field in chrome.find_elements(By.CSS_SELECTOR, "input[name=q]") if field.is_displayed()],
    )[0]
    field.send_keys("clamped" + Keys.ENTER)
    wait(browser, lambda chrome: chrome.execute_script("return document.querySelectorAll('#search-results li a').length"))
    assert "search.html" in browser.current_url


def test_dark_mode(address, browser):
    """The button changes the theme, and the page says so."""
    open_page(browser, address + "index.html", "desktop")
    browser.execute_script("localStorage.setItem('mode', 'dark'); localStorage.setItem('theme', 'dark')")
    browser.refresh()
    assert browser.execute_script("return document.documentElement.dataset.theme") == "dark"
    background = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert sum(map(int, background[background.index("(") + 1 : -1].split(",")[:3])) < 200, background
    keep_picture(browser, "index-dark", "desktop")
    browser.execute_script("localStorage.clear()")


def test_code_can_be_copied(address, browser):
    open_page(browser, address + "operators/slice.html", "desktop")
    assert browser.execute_script("return document.querySelectorAll('button.copybtn').length") >= 2
