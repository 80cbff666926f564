"""Makes the font "cells": every character of Unicode is one glyph without ink, as wide as a token with its gap.

The field in which a sentence is edited lies over its row of tokens (app/src/figures/editor.rs). Its
text is not seen, only its caret and its selection. In this font the caret stands between the tokens,
for Chinese characters and emoji are no wider than letters. Not so with marks that browsers combine with
the letter before (a vowel in Hebrew), and with joiners: they have no width in any font.

    python -m venv /tmp/font && /tmp/font/bin/pip install fonttools brotli
    /tmp/font/bin/python assets/fonts/cells.py

prints the font as the address that assets/styles/figures.css holds.
"""

import base64
import io

from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import newTable
from fontTools.ttLib.tables._c_m_a_p import cmap_format_13

# The width is that from one token to the next, in thousandths of the size (app/src/figures/row.rs).
EM, WIDTH, ASCENT, DESCENT = 1000, 1160, 930, 240

font = FontBuilder(EM, isTTF=True)
font.setupGlyphOrder([".notdef", "cell"])
# Browsers refuse a font without any outline.
pen = TTGlyphPen(None)
for point in [pen.moveTo, pen.lineTo, pen.lineTo]:
    point((0, 0))
pen.closePath()
font.setupGlyf({".notdef": TTGlyphPen(None).glyph(), "cell": pen.glyph()})
# Format 13: a whole range of characters is one glyph.
every = cmap_format_13(13)
every.platformID, every.platEncID, every.language = 3, 10, 0
every.cmap = dict.fromkeys(range(0x20, 0x110000), "cell")
font.font["cmap"] = table = newTable("cmap")
table.tableVersion, table.tables = 0, [every]
font.setupHorizontalMetrics({".notdef": (WIDTH, 0), "cell": (WIDTH, 0)})
font.setupHorizontalHeader(ascent=ASCENT, descent=-DESCENT)
font.setupOS2(sTypoAscender=ASCENT, sTypoDescender=-DESCENT, usWinAscent=ASCENT, usWinDescent=DESCENT)
font.setupNameTable({"familyName": "cells", "styleName": "Regular"})
font.setupPost(keepGlyphNames=False)
font.font.flavor = "woff2"
file = io.BytesIO()
font.font.save(file)
print(f"data:font/woff2;base64,{base64.b64encode(file.getvalue()).decode()}")
