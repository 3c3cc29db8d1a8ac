"""What is run for each visitor: the navigation, the line above every page, and the page itself.

It stands in a folder of its own because Streamlit lets the files beside it be imported by their bare names.
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
