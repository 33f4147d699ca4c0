"""How the documentation is built: `make docs`."""

import re

from pushrank import __version__

project = "pushrank"
author = "The pushrank developers"
copyright = "the pushrank developers"
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["_build", "decisions/README.md"]
myst_heading_anchors = 3

# Signatures carry the kinds of arrays by name; what they hold stands in the numpydoc sections.
autodoc_type_aliases = {"Array": "Array", "Vector": "Vector"}
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "pushrank"
html_show_sourcelink = False
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 8,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
# Pages that are read from start to end have no list of their neighbours beside them.
html_sidebars = {"*": []}


def setup(app):
    """Sphinx writes an alias inside a compound type as TypeAliasForwardRef('Array'): show the alias."""
    app.connect("autodoc-process-signature", _with_plain_aliases)


def _with_plain_aliases(app, what, name, obj, options, signature, returns):
    return tuple(
        text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in (signature, returns)
    )
