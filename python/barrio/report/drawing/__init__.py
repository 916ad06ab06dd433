"""Pictures and facts of one file, in a process of its own: VTK, without the page."""
