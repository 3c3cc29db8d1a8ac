"""The dashboard's router: ``streamlit run app.py``. Pages live in pages/, what they share in pages/ui/."""

from pages.ui import shell, sidebar, state

page = shell.navigation()
shell.require_login()
state.load()
# Another page's address begins empty: without the choices it would lead elsewhere if the server went away meanwhile.
state.publish()
if shell.uses_partition(page):
    sidebar.show()
shell.run(page)
state.publish()
shell.collect_garbage()
