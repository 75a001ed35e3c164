"""fontcache - writes matplotlib's list of fonts for a tree, so that the first plot in a cell need not look for them.

A program of its own: `python -I -S fontcache.py ROOT SITE TARGET`. It imports matplotlib from SITE, the tree's
dist-packages, and sees no font of the host but the tree's. MPLCONFIGDIR must name an empty folder.
"""

import ast
import dataclasses
import glob
import json
import os
import sys


def cache_version(site):
    """matplotlib's number for the format of its list, read without importing it."""
    with open(os.path.join(site, "matplotlib/font_manager.py"), encoding="utf-8") as source:
        module = ast.parse(source.read())
    manager = next(node for node in module.body if isinstance(node, ast.ClassDef) and node.name == "FontManager")
    for node in manager.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__version__":
            return ast.literal_eval(node.value)
    raise ValueError("matplotlib.font_manager.FontManager has no __version__")


def font_files(folder, extensions):
    """Every font below FOLDER, in one order."""
    found = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
    return sorted(path for path in found if os.path.splitext(path)[1].lower().lstrip(".") in extensions)


def in_cell(entry, root):
    """The entry of a font, with its path in a cell."""
    return dataclasses.replace(entry, fname=entry.fname[len(root):]) if entry.fname.startswith(root + "/usr/share/fonts") else entry


def main():
    """Makes the list and writes it below the folder TARGET."""
    root, site, target = sys.argv[1:]
    fonts = sorted(glob.glob(os.path.join(glob.escape(root), "usr/share/fonts*")))
    sys.path.append(site)
    name = f"fontlist-v{cache_version(site)}.json"
    # An empty list that matplotlib accepts keeps the import from searching the host.
    with open(os.path.join(os.environ["MPLCONFIGDIR"], name), "w", encoding="utf-8") as stub:
        json.dump({"__class__": "FontManager", "_version": cache_version(site)}, stub)
    from matplotlib import font_manager

    extensions = {"ttf": {"ttf", "ttc", "otf"}, "afm": {"afm"}}

    def find(fontpaths=None, fontext="ttf"):
        folders = fonts if fontpaths is None else fontpaths
        folders = [folders] if isinstance(folders, str) else folders
        return [path for folder in folders for path in font_files(folder, extensions[fontext])]

    font_manager.findSystemFonts = find
    manager = font_manager.FontManager()
    for entries in (manager.ttflist, manager.afmlist):
        entries[:] = [in_cell(entry, root) for entry in entries]
    os.makedirs(target, exist_ok=True)
    font_manager.json_dump(manager, os.path.join(target, name))


if __name__ == "__main__":
    main()
