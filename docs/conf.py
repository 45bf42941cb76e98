"""The settings of Sphinx: `make docs` builds the site into build/docs. Nothing is fetched, neither by the build nor by the pages."""

import sys
from pathlib import Path

import dy2st

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "dy2st"
author = "the authors of dy2st"
version = release = dy2st.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "api_pages"]
exclude_patterns = ["_*"]

# pages: MyST; those that are notebooks are executed
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_execution_in_temp = True  # what the tutorial writes is none of the sources

# the reference: docstrings in Google style, in which `x` is code
default_role = "code"
autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
napoleon_numpy_docstring = False
napoleon_use_rtype = False
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = "dy2st"
pygments_dark_style = "github-dark"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
