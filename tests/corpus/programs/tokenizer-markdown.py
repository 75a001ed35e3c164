# A small Markdown converter and a template engine with regular expressions.
import html
import re
def convert(text):
    out, listed = [], False
    for line in text.splitlines():
        item = re.match(r"[-*] (.*)", line)
        if listed and not item:
            out.append("</ul>")
            listed = False
        if heading := re.match(r"(#+) (.*)", line):
            out.append(f"<h{len(heading[1])}>{html.escape(heading[2])}</h{len(heading[1])}>")
        elif item:
            if not listed:
                out.append("<ul>")
                listed = True
            out.append(f"<li>{item[1]}</li>")
        elif line:
            out.append("<p>" + re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", html.escape(line)) + "</p>")
    return "\n".join(out + ["</ul>"] * listed)
print(convert("# Title & more\n\nSome **bold** text\n- one\n- two\n\nend"))
def render(template, **values):
    return re.sub(r"\{\{\s*(\w+)(?:\|(\w+))?\s*\}\}", lambda m: getattr(str(values[m[1]]), m[2] or "strip")(), template)
print(render("Hi {{ name|upper }}, {{count}} new", name="ann", count=3))
