"""The dashboard's router: ``streamlit run app.py``. Pages live in pages/, a folder each, what they share in
pages/shared/.
"""

from pages.shared import ahead, navigation

ahead.begin()
navigation.fetch_charts()

from pages.shared import chosen, shell, state

page = navigation.navigation()
shell.require_login()
began = state.load()
shell.follow(page)
# Another page's address begins empty: without the choices it would lead elsewhere if the server went away meanwhile.
state.publish()
with chosen.line(shell.heading(page)):
    ahead.say()
shell.in_tab(page, began=began)
page.run()
state.publish()
shell.collect_garbage()
