"""The pictures of the site: small arrays as SVG, photographs side by side as WebP."""

import colorsys
import io

import numpy as np

CELL, GAP, PANEL_GAP, CAPTION = 34, 3, 26, 20
INK, FAINT, FILL = "#1b1f2a", "#8a8f98", "#d4d8de"


def before_after(inputs, outputs):
    """An SVG of the arrays `inputs`, an arrow, and the arrays `outputs`. A value has the colour of its place in the inputs."""
    colors = color_of_each_value(inputs)
    left, width, tallest = [], 0, 0
    for arrays, arrow in ((inputs, True), (outputs, False)):
        for array in arrays:
            body, wide, high = one_array(array, colors)
            left.append((body, width, high))
            width, tallest = width + wide + PANEL_GAP, max(tallest, high)
        if arrow:
            left.append((ARROW, width, 30))
            width += 44 + PANEL_GAP
    parts = [f'<g transform="translate({x},{(tallest - high) / 2:.0f})">{body}</g>' for body, x, high in left]
    size = f'width="{width - PANEL_GAP}" height="{tallest}" viewBox="0 0 {width - PANEL_GAP} {tallest}"'
    style = 'font-family="ui-monospace,DejaVu Sans Mono,monospace" text-anchor="middle"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>{"".join(parts)}</svg>\n'


ARROW = f'<path d="M2 15H34" stroke="{FAINT}" stroke-width="4"/><path d="M44 15L30 6V24Z" fill="{FAINT}"/>'


def color_of_each_value(arrays):
    values = list(dict.fromkeys(value for array in arrays for value in array.ravel().tolist()))
    hues = np.linspace(0, 0.86, max(2, len(values)))
    return {value: color(hue) for value, hue in zip(values, hues)}


def color(hue):
    red, green, blue = colorsys.hls_to_rgb(hue, 0.78, 0.72)
    return f"#{round(255 * red):02x}{round(255 * green):02x}{round(255 * blue):02x}"


def one_array(array, colors):
    """An SVG group: the last two axes as a grid; a panel for each place on the axes before them, with its index above."""
    grid = array.reshape((-1, *array.shape[-2:])) if array.ndim > 2 else np.atleast_2d(array)[None]
    indices = list(np.ndindex(array.shape[:-2]))
    rows, columns = grid.shape[1:]
    step, parts = CELL + GAP, []
    wide, high = columns * step - GAP, rows * step - GAP
    across = -(-len(grid) // 2) if len(grid) > 4 else len(grid)
    named = len(grid) > 1
    for number, panel in enumerate(grid):
        x, y = number % across * (wide + 16), number // across * (high + CAPTION + 12)
        if named:
            index = ",".join(map(str, indices[number]))
            parts.append(f'<text x="{x + wide / 2:.0f}" y="{y + 13}" font-size="12" fill="{FAINT}">[{index}]</text>')
            y += CAPTION
        parts += cells(panel, x, y, colors)
    height = -(-len(grid) // across) * (high + CAPTION * named + 12) - 12
    return "".join(parts), max(1, across * (wide + 16) - 16), max(1, height)


def cells(panel, left, top, colors):
    for (row, column), value in np.ndenumerate(panel):
        x, y = left + column * (CELL + GAP), top + row * (CELL + GAP)
        value = value.item()
        yield f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL}" rx="4" fill="{colors.get(value, FILL)}"/>'
        text = f"{value:g}" if isinstance(value, float) else str(value)
        yield f'<text x="{x + CELL / 2:g}" y="{y + CELL / 2 + 5:g}" font-size="14" fill="{INK}">{text}</text>'


def side_by_side(pictures, height=220):
    """Bytes of a WebP picture: uint8 images of shape (rows, columns, 3), scaled to one height, in a row."""
    from PIL import Image

    scaled = []
    for picture in pictures:
        picture = Image.fromarray(np.ascontiguousarray(picture))
        scaled.append(picture.resize((round(picture.width * height / picture.height), height), Image.Resampling.LANCZOS))
    sheet = Image.new("RGBA", (sum(one.width for one in scaled) + 20 * (len(scaled) - 1), height))
    left = 0
    for one in scaled:
        sheet.paste(one, (left, 0))
        left += one.width + 20
    encoded = io.BytesIO()
    sheet.save(encoded, "WEBP", quality=82)
    return encoded.getvalue()
