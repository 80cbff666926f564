"""Makes inter.woff2, the page's face: of Inter 4.1 the characters that the page writes, from regular to bold.

Characters that it lacks come from the reader's own fonts. Digits keep their tabular forms, since numbers that
change must not move what stands beside them; hyphens, spaces and other signs lose theirs, which tear words apart.
Inter is under the SIL Open Font License (inter-license.txt).

    python -m venv /tmp/font && /tmp/font/bin/pip install fonttools==4.68.0 brotli==1.2.1
    (cd /tmp/font && npm pack inter-ui@4.1.1 && tar xzf inter-ui-4.1.1.tgz)
    /tmp/font/bin/python assets/fonts/inter.py /tmp/font/package/variable/InterVariable.woff2 assets/fonts/inter.woff2
"""

import sys

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

ASCII = "".join(map(chr, range(0x20, 0x7F)))
LATIN = "\u00a0·×÷±°½éèäëïöüßçñ"
GREEK = "αβγδεηθλμπρσφωΔΣΦΩ"
SCRIPTS = "₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹₊₋⁺⁻"
SIGNS = "‘’“”–—…•−√∑∞∂∈≈≤≥‖←→↑↓▲▶▼◀✓✗€"

source, target = sys.argv[1:]
font = TTFont(source)
digits = {font.getBestCmap()[ord(digit)] for digit in "0123456789"}
gsub = font["GSUB"].table
for feature in gsub.FeatureList.FeatureRecord:
    for lookup in feature.Feature.LookupListIndex if feature.FeatureTag == "tnum" else []:
        for table in gsub.LookupList.Lookup[lookup].SubTable:
            table = getattr(table, "ExtSubTable", table)
            table.mapping = {of: to for of, to in table.mapping.items() if of in digits}
options = subset.Options()
options.layout_features = ["kern", "tnum"]
options.hinting = False
options.name_IDs = [0, 1, 2, 13, 14]
options.drop_tables += ["STAT", "MVAR", "meta"]
subsetter = subset.Subsetter(options)
subsetter.populate(text=ASCII + LATIN + GREEK + SCRIPTS + SIGNS)
subsetter.subset(font)
font = instancer.instantiateVariableFont(font, {"opsz": 14, "wght": (400, 700)})
font.flavor = "woff2"
font.save(target)
