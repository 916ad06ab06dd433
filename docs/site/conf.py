"""Configuration of Sphinx for the site that `make docs` builds."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import glossary

project = "barrio"
author = "the authors of barrio"
copyright = "the authors of barrio, under the license of the sources"
root_doc = "index"
extensions = ["myst_parser", "glossary"]
barrio_words = glossary.words_of(
    (pathlib.Path(__file__).parents[1] / "reference" / "glossary.md").read_text()
)
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
# a list of shell commands may have output in it
suppress_warnings = ["misc.highlighting_failure"]
exclude_patterns = ["docs/site"]
add_module_names = False
toc_object_entries_show_parents = "hide"
maximum_signature_line_length = 100

html_theme = "pydata_sphinx_theme"
html_title = "barrio"
html_show_sourcelink = False
html_css_files = ["barrio.css"]
html_static_path = ["_static"]
html_theme_options = {
    "show_prev_next": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navbar_end": ["version", "theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "navigation_with_keys": False,
}
templates_path = ["_templates"]
