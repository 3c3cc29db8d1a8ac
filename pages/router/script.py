"""What is run for each visitor: the navigation, the header of every page, and the page itself.

It stands in a folder of its own because Streamlit lets the files beside it be imported by their bare names. A process
that loads it under another name, as those of multiprocessing do, has no visitor.
"""

if __name__ == "__main__":
    import os
    import sys
    from pathlib import Path

    import streamlit as st

    from pages.shared import compiling

    compiling.start_ahead()
    # A page waits this long for the interpreter each time that a thread of a search holds it; usually it is ten times as long.
    sys.setswitchinterval(0.0005)
    # The browser loads what draws charts, its largest file, while the server still imports what computes them.
    static = Path(st.__file__).parent / "static" / "static" / "js"
    for path in static.glob("PlotlyChart.*.js"):
        st.html(f'<script>import("./static/js/{path.name}")</script>', unsafe_allow_javascript=True)

    from pages.shared import certificate, shell, state

    shell.free_at_end()
    page = shell.navigation()
    shell.require_login()
    began = state.load()
    if began and state.FILE in os.environ and state.current().data == state.UPLOAD and shell.name_of(page) != "data":
        shell.go("data")  # where the file is read with which the server was started
    shell.follow(page)
    if shell.name_of(page) != "choose_k":
        certificate.end_search()
    # Another page's address begins empty: without the choices it would lead elsewhere if the server went away meanwhile.
    state.publish()
    shell.draw_header(page)
    shell.in_tab(page, began=began)
    page.run()
    state.publish()
    shell.collect_garbage()
