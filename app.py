"""The dashboard: ``streamlit run app.py``.

Beside a folder pages/ Streamlit answers the first visitor of a process by itself, and does not find the page that a
link asks for. So the script that is run for each visitor stands elsewhere: pages/router/script.py.
"""

import streamlit as st
from starlette.middleware import Middleware

from pages.router.hosts import HostCheck

app = st.App("pages/router/script.py", middleware=[Middleware(HostCheck)])
