"""The dashboard's router: ``streamlit run app.py``. Pages live in pages/, what they share in pages/ui/."""

from pages.ui import navigation
from pages.ui.runs import ahead

ahead.begin()
navigation.fetch_charts()

from pages.ui import chosen, shell, state

page = navigation.navigation()
shell.require_login()
began = state.load()
shell.follow(page)
# Another page's address begins empty: without the choices it would lead elsewhere if the server went away meanwhile.
state.publish()
with chosen.line(shell.heading(page)):
    ahead.say()
shell.in_tab(page, began=began)
navigation.run(page)
state.publish()
shell.collect_garbage()
