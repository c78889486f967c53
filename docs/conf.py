"""Sphinx's settings for the site. assemble.py writes the sources that it reads; `make docs` runs both."""

import os
import sys
from pathlib import Path

import dmlops

sys.path.insert(0, str(Path(__file__).parent))

# Kernels for the executed pages: without the user's own settings, and without ipykernel's warning of loopback traffic.
profile = Path(__file__).parent.parent / "build" / "ipython" / "profile_default"
profile.mkdir(parents=True, exist_ok=True)
(profile / "ipython_kernel_config.py").write_text('c.IPKernelApp.log_level = "ERROR"\n')
os.environ["IPYTHONDIR"] = os.fspath(profile.parent)

project = "dmlops"
author = "the authors of dmlops"
project_copyright = author
release = version = dmlops.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["**/.ipynb_checkpoints"]
default_role = "literal"  # docstrings have single backticks around parameters
templates_path = []

myst_enable_extensions = ["deflist", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True

autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"dmlops {release}"
html_static_path = [os.fspath(Path(__file__).parent / "static")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_use_index = True
html_theme_options = {
    "show_prev_next": True,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}  # else the theme complains on the console of a first visit
html_sidebars = {name: [] for name in ("index", "why", "install", "recipes", "coming_from", "search", "genindex")}
