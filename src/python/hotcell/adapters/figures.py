"""Permissions to draw with the caller's own matplotlib, and to save figures."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any, FrozenSet, Mapping, Optional, Sequence

from .allow import AllowPolicy, Dests, PosAllowPolicy, allow

FORMATS = ("png", "jpg", "jpeg", "svg", "pdf", "webp", "tif", "tiff")  # not pgf, whose texts TeX reads


def _names(text: str) -> FrozenSet[str]:
    return frozenset(text.split())


# What draws the same way of pyplot and of axes. Not here is what calls functions, reads files, or waits for a user.
PLOTS = _names("""
    acorr angle_spectrum annotate arrow autoscale axhline axhspan axis axline axvline axvspan bar bar_label barbs barh boxplot broken_barh
    cla clabel cohere contour contourf csd errorbar eventplot fill fill_between fill_betweenx grid hexbin hist hist2d hlines imshow legend
    locator_params loglog magnitude_spectrum margins matshow minorticks_off minorticks_on pcolor pcolormesh phase_spectrum pie plot
    plot_date psd quiver quiverkey scatter semilogx semilogy specgram spy stackplot stairs stem step streamplot table text tick_params
    ticklabel_format tricontour tricontourf tripcolor triplot twinx twiny violinplot vlines xcorr
""")
PYPLOT = PLOTS | _names("""
    axes box clf clim close colorbar delaxes draw fignum_exists figlegend figtext figure gca gcf gci get_fignums get_figlabels ioff ion
    isinteractive polar rgrids sca sci show subplot subplot2grid subplot_mosaic subplots subplots_adjust suptitle thetagrids
    tight_layout title xlabel xlim xscale xticks ylabel ylim yscale yticks
""")
AXES = PLOTS | _names("""
    autoscale_view clear bxp figure get_aspect get_facecolor get_figure get_label get_legend get_legend_handles_labels get_lines
    get_position get_title get_visible get_xaxis get_xbound get_xlabel get_xlim get_xscale get_xticks get_yaxis get_ybound get_ylabel
    get_ylim get_yscale get_yticks get_zorder has_data indicate_inset indicate_inset_zoom inset_axes invert_xaxis invert_yaxis
    pcolorfast relim remove secondary_xaxis secondary_yaxis set set_adjustable set_alpha set_anchor set_aspect set_autoscale_on
    set_autoscalex_on set_autoscaley_on set_axis_off set_axis_on set_axisbelow set_box_aspect set_facecolor set_frame_on set_label
    set_position set_prop_cycle set_title set_visible set_xbound set_xlabel set_xlim set_xmargin set_xscale set_xticklabels set_xticks
    set_ybound set_ylabel set_ylim set_ymargin set_yscale set_yticklabels set_yticks set_zorder sharex sharey transAxes transData violin
    xaxis xaxis_date xaxis_inverted yaxis yaxis_date yaxis_inverted
""")
FIGURE = _names("""
    add_axes add_gridspec add_subfigure add_subplot align_labels align_xlabels align_ylabels autofmt_xdate axes clear clf colorbar delaxes
    gca get_axes get_dpi get_edgecolor get_facecolor get_figheight get_figwidth get_label get_size_inches get_visible legend sca
    set_alpha set_constrained_layout set_dpi set_edgecolor set_facecolor set_figheight set_figwidth set_frameon set_label
    set_layout_engine set_linewidth set_size_inches set_tight_layout set_visible subfigures subplot_mosaic subplots subplots_adjust
    suptitle supxlabel supylabel text tight_layout
""")
AXIS = _names("""
    axis_date get_data_interval get_inverted get_label_position get_label_text get_scale get_ticklocs get_view_interval get_visible grid
    reset_ticks set_alpha set_data_interval set_inverted set_label_coords set_label_position set_label_text set_tick_params
    set_ticklabels set_ticks set_ticks_position set_view_interval set_visible set_zorder tick_bottom tick_left tick_right tick_top
""")
SPINE = _names("""
    get_bounds get_edgecolor get_linestyle get_linewidth get_position get_visible set_alpha set_bounds set_capstyle set_color
    set_edgecolor set_facecolor set_linestyle set_linewidth set_ls set_lw set_position set_visible set_zorder
""")
# Arguments that name a module or class to load, a file to read, or a text that TeX runs; also as keys within an argument.
BANNED = _names("""
    FigureClass axes_class backend canvas fname font font_properties fontproperties handler_map pil_kwargs title_fontproperties usetex
""")


class DrawPolicy(AllowPolicy):
    """No argument is a function, class or module, or has a name of BANNED."""

    def __call__(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: Dests) -> None:
        _check([list(args), dict(kwargs)])


def _check(value: Any) -> None:
    """PermissionError for what is not allowed in an argument, or in a list or dict in it."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key in BANNED or key == "prop" and isinstance(each, str):
                raise PermissionError(f"the argument {key!r} is not allowed")
            _check(each)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for each in value:
            _check(each)
    elif isinstance(value, ModuleType) or callable(value):
        raise PermissionError(f"{type(value).__name__} is not allowed as an argument: only data and what was drawn is")


class SavePolicy(DrawPolicy):
    """For savefig and imsave: the first argument, or the keyword `fname`, is a path below ok_dests whose ending, or `format`, is of FORMATS."""

    def __call__(self, obj: Any, args: Sequence[Any], kwargs: Mapping[str, Any], ok_dests: Dests) -> None:
        _check([list(args), {name: value for name, value in kwargs.items() if name != "fname"}])
        if len(args) > 2:
            raise PermissionError("options have to be given by their names")
        path = args[0] if args else kwargs.get("fname")
        if not isinstance(path, (str, os.PathLike)):
            raise PermissionError(f"Dest {type(path).__name__} not allowed: only a path is")
        form = _format_of(os.fspath(path), kwargs.get("format"))
        if form not in FORMATS:
            raise PermissionError(f"the format {form!r} is not allowed; permitted: {', '.join(FORMATS)}")
        PosAllowPolicy(0, "fname")(obj, args, kwargs, ok_dests)


def _format_of(path: Any, given: Any) -> Optional[str]:
    """The format of a file, None if nothing says so: then matplotlib adds an ending, and writes to another path than was asked for."""
    form = given if given is not None else os.path.splitext(path)[1][1:]
    return form.lower() if isinstance(form, str) and form else None


def allow_matplotlib() -> None:
    """Let code draw with the caller's matplotlib, by functions that draw alone, and save figures below ok_dests. What code draws in the
    cell needs no permission."""
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.spines import Spine

    draw, save = DrawPolicy(), SavePolicy()
    for owner, names in ((plt, PYPLOT), (Axes, AXES), (Figure, FIGURE), (Axis, AXIS), (Spine, SPINE)):
        allow({owner: [(name, draw) for name in sorted(names)]})
    allow({plt: [("savefig", save), ("imsave", save)], Figure: [("savefig", save)]})
