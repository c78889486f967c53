"""Draws the demo's picture: one card a call, each with its input and its result side by side."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

PAPER, CARD, INK, FAINT, ACCENT = (238, 240, 243), (255, 255, 255), (25, 30, 40), (110, 118, 130), (200, 40, 60)
# Pages show the sheet some 800 pixels wide: the smallest letters are 12 pixels high there.
WIDTH, MARGIN, PADDING, GAP = 1200, 20, 16, 18
PICTURE_HEIGHT = 190
TITLE, CODE, CAPTION = 26, 19, 18  # sizes of letters


def font(size):
    return ImageFont.load_default(size)


def to_bytes(image):
    return (image * 255 + 0.5).astype(np.uint8)


def outlined(image, left, top, width, height):
    """The picture with a frame drawn around what will be cut out."""
    picture = Image.fromarray(image)
    ImageDraw.Draw(picture).rectangle((left, top, left + width - 1, top + height - 1), outline=ACCENT, width=5)
    return np.asarray(picture)


def enlarged(image, factor):
    return image.repeat(factor, axis=0).repeat(factor, axis=1)


def stepped(image, lengths):
    """The picture with each row's length marked."""
    picture = Image.fromarray(image)
    ImageDraw.Draw(picture).line([(int(n), row) for row, n in enumerate(lengths)], fill=ACCENT, width=4)
    return np.asarray(picture)


def tiled(tiles, gap, names=()):
    """Rows x columns of small pictures, pulled apart so that each can be seen."""
    rows, columns, height, width = tiles.shape[:4]
    canvas = Image.new("RGB", (columns * (width + gap) - gap, rows * (height + gap) - gap), CARD)
    for k, tile in enumerate(tiles.reshape(-1, height, width, 3)):
        place = (k % columns * (width + gap), k // columns * (height + gap))
        canvas.paste(Image.fromarray(np.ascontiguousarray(tile)), place)
        if k < len(names):
            draw = ImageDraw.Draw(canvas)
            box = draw.textbbox((place[0] + 12, place[1] + 10), names[k], font=font(26))
            draw.rectangle((box[0] - 6, box[1] - 6, box[2] + 6, box[3] + 6), fill=INK)
            draw.text((place[0] + 12, place[1] + 10), names[k], font=font(26), fill=CARD)
    return np.asarray(canvas)


def text(batch, cell=(14, 25)):
    """A batch of single bytes, one cell each; the cells of padding are shaded."""
    rows, columns = batch.shape
    canvas = Image.new("RGB", (columns * cell[0], rows * cell[1]), CARD)
    draw = ImageDraw.Draw(canvas)
    letters = font(19)
    for row in range(rows):
        for column in range(columns):
            x, y = column * cell[0], row * cell[1]
            if batch[row, column]:
                draw.text((x + cell[0] / 2, y + 19), batch[row, column].decode(), font=letters, fill=INK, anchor="ms")
            else:
                draw.rectangle((x, y + 1, x + cell[0] - 1, y + cell[1] - 2), fill=(222, 226, 232))
    return np.asarray(canvas)


def scaled(image, width, height):
    """The picture as large as fits, never larger than life."""
    picture = Image.fromarray(np.ascontiguousarray(image))
    factor = min(1, width / picture.width, height / picture.height)
    size = max(1, round(picture.width * factor)), max(1, round(picture.height * factor))
    return picture.resize(size, Image.Resampling.LANCZOS) if factor < 1 else picture


def wrapped(words, letters, width):
    """The words in lines that fit, broken at spaces."""
    lines = []
    for word in words.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and letters.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return "\n".join(lines)


def card(step, width):
    """One call: its title, how it is written, the input, an arrow, the result."""
    arrow = 50
    room = (width - 2 * PADDING - arrow) // 2
    limit = 2 * PICTURE_HEIGHT if width > WIDTH / 2 else PICTURE_HEIGHT
    shown = [
        (wrapped(caption, font(CAPTION), room), scaled(image, room, limit))
        for caption, image in step.show(step.input, step.result)
    ]
    code = wrapped(step.code, font(CODE), width - 2 * PADDING)
    top = PADDING + 38 + 24 * len(code.splitlines()) + 12
    tallest = max(picture.height for _, picture in shown)
    height = top + max(picture.height + 10 + 23 * len(caption.splitlines()) for caption, picture in shown) + PADDING
    canvas = Image.new("RGB", (width, height), CARD)
    draw = ImageDraw.Draw(canvas)
    draw.text((PADDING, PADDING), step.title, font=font(TITLE), fill=INK)
    draw.multiline_text((PADDING, PADDING + 38), code, font=font(CODE), fill=FAINT)
    for k, (caption, picture) in enumerate(shown):
        left = PADDING + k * (room + arrow)
        canvas.paste(picture, (left, top))
        draw.multiline_text((left, top + picture.height + 8), caption, font=font(CAPTION), fill=FAINT)
    x, y = PADDING + (shown[0][1].width + room + arrow) // 2 - 18, top + tallest // 2
    draw.line((x, y, x + 30, y), fill=FAINT, width=4)
    draw.polygon([(x + 36, y), (x + 24, y - 9), (x + 24, y + 9)], fill=FAINT)
    return canvas


def draw(steps, heading):
    """All cards, two in a row; if one is left over, it takes a row of its own."""
    half = (WIDTH - 2 * MARGIN - GAP) // 2
    pairs = [steps[k : k + 2] for k in range(0, len(steps), 2)]
    rows = [[card(step, half if len(pair) == 2 else WIDTH - 2 * MARGIN) for step in pair] for pair in pairs]
    heights = [max(one.height for one in row) for row in rows]
    sheet = Image.new("RGB", (WIDTH, MARGIN + 44 + sum(heights) + GAP * (len(rows) - 1) + MARGIN), PAPER)
    ImageDraw.Draw(sheet).text((MARGIN, MARGIN), heading, font=font(TITLE), fill=INK)
    y = MARGIN + 44
    for row, height in zip(rows, heights):
        for k, one in enumerate(row):
            backing = Image.new("RGB", (one.width, height), CARD)
            backing.paste(one, (0, 0))
            sheet.paste(backing, (MARGIN + k * (half + GAP), y))
        y += height + GAP
    return sheet
