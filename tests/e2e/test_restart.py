"""A server that ends and begins again while somebody has a file of theirs on the page."""

from tests.e2e.steps import columns_of, visit
from tests.servers import Server


def test_after_a_restart_the_page_says_that_the_file_is_gone_and_gets_its_roles_back(page, own_server, tmp_path):
    page.goto(f"{own_server.url}/data?data=upload&columns=confidential..:rent")
    page.get_by_text("Upload the same file again").wait_for()
    page.set_input_files("input[type=file]", "sample_data/survey.csv")
    page.get_by_text("300 records").first.wait_for()
    own_server.stop()
    page.get_by_text("Connection error").wait_for()
    again = Server(tmp_path, port=own_server.port).wait()
    try:
        # The page finds the new server by itself; what is chosen next is asked of that one.
        page.get_by_text("Connection error").wait_for(state="detached")
        visit(page, "Release")
        page.get_by_text("This session has no file: the server was restarted").wait_for()
        assert "Census" not in page.get_by_test_id("stMain").inner_text()
        visit(page, "Data")
        page.get_by_text("Upload the same file again").wait_for()
        page.set_input_files("input[type=file]", "sample_data/survey.csv")
        page.get_by_text("300 records").first.wait_for()
        assert columns_of(page)["rent"]["Role"] == "Confidential"
    finally:
        again.stop()
