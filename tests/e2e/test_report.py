"""The report that is signed is downloaded on the page Release and opens without a network."""

from tests.conftest import load_benchmark
from tests.e2e.steps import wait_until_idle


def test_the_report_is_downloaded_and_opens_offline(page, server, browser, tmp_path):
    load_benchmark("wine")
    page.goto(f"{server.url}/release?data=wine&k=5&diversity=target%3D2")
    page.get_by_role("heading", name="Data quality").wait_for()
    wait_until_idle(page)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Report", exact=True).click()
    assert waiting.value.suggested_filename == "Wine_report.html"
    waiting.value.save_as(tmp_path / "report.html")
    context = browser.new_context(viewport={"width": 390, "height": 844}, offline=True, java_script_enabled=False)
    report, said, asked = context.new_page(), [], []
    report.on("console", lambda message: said.append(message.text))
    report.on("pageerror", lambda error: said.append(str(error)))
    report.on("request", lambda request: asked.append(request.url))
    report.goto((tmp_path / "report.html").as_uri())
    assert report.title() == "Release of Wine_protected.csv"
    assert "each class has at least 2 distinct values of 'target'" in report.locator("body").inner_text()
    headings = report.get_by_role("heading", level=2).all_inner_texts()
    assert [heading.split(".")[0] for heading in headings] == list("12345678")
    for drawn in report.get_by_role("img").all():
        assert drawn.bounding_box()["width"] > 300
    # Nothing is wider than a phone, the table that scrolls by itself apart.
    parts = report.locator("section, h1, svg, pre").all()
    width = max(part.bounding_box()["width"] for part in parts if part.is_visible())
    assert width <= 390
    assert report.pdf(format="A4").startswith(b"%PDF")
    # On paper the signature stands below words on the file, and says which it is.
    report.emulate_media(media="print")
    drawn = "box => [(how = getComputedStyle(box)).breakBefore, how.breakInside, box.firstElementChild.innerText]"
    says = "Decision of the data protection officer on Wine_protected.csv"
    assert report.locator(".decision").evaluate(drawn) == ["avoid", "avoid", says]
    assert said == []
    assert asked == [(tmp_path / "report.html").as_uri()]
    context.close()
