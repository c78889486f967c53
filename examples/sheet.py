"""Draws the demo's picture: one card a call, each with its input and its result side by side."""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

PAPER, CARD, INK, FAINT, ACCENT = (238, 240, 243), (255, 255, 255), (25, 30, 40), (110, 118, 130), (200, 40, 60)
WIDTH, MARGIN, PADDING, GAP = 1760, 28, 20, 24
PICTURE_HEIGHT = 250


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


def text(batch, cell=(12, 21)):
    """A batch of single bytes, one cell each; the cells of padding are shaded."""
    rows, columns = batch.shape
    canvas = Image.new("RGB", (columns * cell[0], rows * cell[1]), CARD)
    draw = ImageDraw.Draw(canvas)
    letters = font(16)
    for row in range(rows):
        for column in range(columns):
            x, y = column * cell[0], row * cell[1]
            if batch[row, column]:
                draw.text((x + cell[0] / 2, y + 16), batch[row, column].decode(), font=letters, fill=INK, anchor="ms")
            else:
                draw.rectangle((x, y + 1, x + cell[0] - 1, y + cell[1] - 2), fill=(222, 226, 232))
    return np.asarray(canvas)


def scaled(image, width, height):
    """The picture as large as fits, never larger than life."""
    picture = Image.fromarray(np.ascontiguousarray(image))
    factor = min(1, width / picture.width, height / picture.height)
    size = max(1, round(picture.width * factor)), max(1, round(picture.height * factor))
    return picture.resize(size, Image.Resampling.LANCZOS) if factor < 1 else picture


def card(step, width):
    """One call: its title, how it is written, the input, an arrow, the result."""
    wide = width > WIDTH / 2
    room = (width - 2 * PADDING - 64) // 2
    limit = 520 if wide else PICTURE_HEIGHT
    shown = [(caption, scaled(image, room, limit)) for caption, image in step.show(step.input, step.result)]
    height = PADDING + 70 + max(picture.height for _, picture in shown) + 34 + PADDING - 8
    canvas = Image.new("RGB", (width, height), CARD)
    draw = ImageDraw.Draw(canvas)
    draw.text((PADDING, PADDING), step.title, font=font(22), fill=INK)
    draw.text((PADDING, PADDING + 32), step.code, font=font(16), fill=FAINT)
    top = PADDING + 70
    tallest = height - top - 34 - PADDING + 8
    for k, (caption, picture) in enumerate(shown):
        left = PADDING + k * (room + 64)
        canvas.paste(picture, (left, top))
        draw.text((left, top + picture.height + 8), caption, font=font(15), fill=FAINT)
    x, y = PADDING + room + 14, top + tallest // 2
    if not wide:
        x = min(x, PADDING + shown[0][1].width + (room + 64 - shown[0][1].width) // 2 - 18)
    draw.line((x, y, x + 30, y), fill=FAINT, width=4)
    draw.polygon([(x + 36, y), (x + 24, y - 9), (x + 24, y + 9)], fill=FAINT)
    return canvas


def draw(steps, heading):
    """All cards, two in a row; the last takes a row of its own."""
    half = (WIDTH - 2 * MARGIN - GAP) // 2
    rows = [[card(step, half) for step in steps[k : k + 2]] for k in range(0, len(steps) - 1, 2)]
    rows.append([card(steps[-1], WIDTH - 2 * MARGIN)])
    heights = [max(one.height for one in row) for row in rows]
    sheet = Image.new("RGB", (WIDTH, MARGIN + 52 + sum(heights) + GAP * (len(rows) - 1) + MARGIN), PAPER)
    ImageDraw.Draw(sheet).text((MARGIN, MARGIN), heading, font=font(26), fill=INK)
    y = MARGIN + 52
    for row, height in zip(rows, heights):
        for k, one in enumerate(row):
            backing = Image.new("RGB", (one.width, height), CARD)
            backing.paste(one, (0, 0))
            sheet.paste(backing, (MARGIN + k * (half + GAP), y))
        y += height + GAP
    return sheet
